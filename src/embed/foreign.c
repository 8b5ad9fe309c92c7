/* Functions of scalars that are not ours: source for each kind of device, and what they compute said in the language.
 */
#include "embed/value.h"

static bool is_name(const char *s)
{
    bool good = s && *s && !(*s >= '0' && *s <= '9');
    for (; good && *s; s++)
        good = *s == '_' || (*s >= '0' && *s <= '9') || (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z');
    return good;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

static bool same_host(const ir_native *a, const ir_native *b)
{
    return a == b || (a && b && a->call == b->call && a->env == b->env);
}

static bool same_code(const ir_code *a, const ir_code *b)
{
    bool same = !strcmp(a->name, b->name) && same_host(a->host, b->host) && a->results == b->results &&
                a->part == b->part && !memcmp(a->type, b->type, sizeof(a->type));
    for (unsigned k = 0; k < IR_CODES; k++)
        same = same && same_text(a->source[k], b->source[k]);
    return same;
}

/* The code as the program keeps it: equal ones are one, so that equal calls are one term. */
static const ir_code *keep_code(const op *o, const ir_code *given)
{
    build *b = o->b;
    while (b->around)
        b = b->around;
    for (uint32_t i = 0; i < b->codes.n; i++)
        if (same_code(b->codes.at[i], given))
            return b->codes.at[i];
    ir_code *c = arena_copy(b->arena, given, sizeof *given);
    c->name = arena_string(b->arena, given->name);
    for (unsigned k = 0; k < IR_CODES; k++)
        c->source[k] = given->source[k] ? arena_string(b->arena, given->source[k]) : NULL;
    if (given->host)
        c->host = arena_copy(b->arena, given->host, sizeof *given->host);
    vec_push(b->arena, &b->codes, c);
    return c;
}

/* Of several results each is a call of its own, which differ in what they take. */
static bool call_parts(const op *o, const sn_foreign_function *given, const value *v, ir_id *args, uint32_t n,
                       ir_id *out)
{
    const uint32_t results = v->tree->leaves;
    const ir_native host = {given->cpu, given->env};
    ir_code code = {
        .name = given->name,
        .source = {[IR_CODE_LLVM] = given->llvm, [IR_CODE_OPENCL] = given->opencl, [IR_CODE_CUDA] = given->cuda},
        .host = given->cpu ? &host : NULL,
        .results = results > 1 ? (uint8_t)results : 0};
    for (uint32_t i = 0; i < results && results > 1; i++)
        code.type[i] = ir_at(o->p, v->term[i])->type;
    for (uint32_t i = 0; i < results; i++) {
        code.part = (uint8_t)i;
        args[0] = v->term[i];
        out[i] = ir_call(o->p, o->site, keep_code(o, &code), n + 1, args);
        if (!out[i])
            return false;
    }
    return true;
}

static sn_scalar call(const op *o, const sn_foreign_function *code, sn_fn fallback, uint32_t n, const sn_scalar *x)
{
    value operand[IR_MOST_CALLED];
    ir_id args[IR_MOST_CALLED + 1], term[IR_MOST_CALLED], id[IR_MOST_GIVEN];
    for (uint32_t i = 0; i < n; i++) {
        term[i] = op_take_leaf(o, x[i], arena_printf(o->b->arena, "operand %u", i), T_NONE);
        if (!term[i])
            return op_bad_scalar(o);
        operand[i] = (value){.kind = VALUE_SCALAR, .tree = tree_leaf(o->b), .term = &term[i]};
    }
    const value *v = embed_call(o, fallback, n, operand, 1, 0);
    if (!v)
        return op_bad_scalar(o);
    if (v->tree->leaves < 1 || v->tree->leaves > IR_MOST_GIVEN) {
        op_fail(o, "the fallback returns %s; a function gives 1 to %d numbers", value_text(o, v), IR_MOST_GIVEN);
        return op_bad_scalar(o);
    }
    memcpy(args + 1, term, n * sizeof *term);
    return call_parts(o, code, v, args, n, id) ? op_give_scalar(o, v->tree, id, NULL) : op_bad_scalar(o);
}

sn_scalar sn_foreign_scalar_at(sn_site at, const sn_foreign_function *code, sn_fn fallback, int count,
                               const sn_scalar *x)
{
    op o;
    if (!op_start(&o, at, "foreign_scalar") || !op_check_list(&o, count, x, "operands"))
        return op_bad_scalar(&o);
    if (!code || code->size < offsetof(sn_foreign_function, llvm) || code->size > sizeof *code)
        op_fail(&o, "the size of sn_foreign_function is not set; set it to sizeof(sn_foreign_function)");
    else if (!is_name(code->name))
        op_fail(&o, "the function has no name; it is that of the function in the sources, a name of C's");
    else if (count < 1 || count > IR_MOST_CALLED)
        op_fail(&o, "%d operands; a function takes 1 to %d numbers", count, IR_MOST_CALLED);
    else {
        sn_foreign_function whole = {0};
        memcpy(&whole, code, code->size);
        return call(&o, &whole, fallback, (uint32_t)count, x);
    }
    return op_bad_scalar(&o);
}
