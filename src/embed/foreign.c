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

/* The code as the program keeps it: equal ones are one, so that equal calls are one term. */
static const ir_code *keep_code(const op *o, const sn_foreign_function *given)
{
    const char *const source[IR_CODES] = {
        [IR_CODE_LLVM] = given->llvm, [IR_CODE_OPENCL] = given->opencl, [IR_CODE_CUDA] = given->cuda};
    build *b = o->b;
    while (b->around)
        b = b->around;
    for (uint32_t i = 0; i < b->codes.n; i++) {
        const ir_code *c = b->codes.at[i];
        bool same = !strcmp(c->name, given->name);
        for (unsigned k = 0; k < IR_CODES; k++)
            same = same && same_text(c->source[k], source[k]);
        if (same)
            return c;
    }
    ir_code *c = arena_alloc(b->arena, sizeof *c);
    c->name = arena_string(b->arena, given->name);
    for (unsigned k = 0; k < IR_CODES; k++)
        c->source[k] = source[k] ? arena_string(b->arena, source[k]) : NULL;
    vec_push(b->arena, &b->codes, c);
    return c;
}

static sn_scalar call(const op *o, const sn_foreign_function *code, sn_fn fallback, uint32_t n, const sn_scalar *x)
{
    value operand[IR_MOST_CALLED];
    ir_id args[IR_MOST_CALLED + 1], term[IR_MOST_CALLED];
    for (uint32_t i = 0; i < n; i++) {
        term[i] = op_take_leaf(o, x[i], arena_printf(o->b->arena, "operand %u", i), T_NONE);
        if (!term[i])
            return op_bad_scalar(o);
        operand[i] = (value){.kind = VALUE_SCALAR, .tree = tree_leaf(o->b), .term = &term[i]};
    }
    const value *v = embed_call(o, fallback, n, operand, 1, 0);
    if (!v)
        return op_bad_scalar(o);
    if (v->tree->leaves != 1) {
        op_fail(o, "the fallback returns %s; it returns one number", value_text(o, v));
        return op_bad_scalar(o);
    }
    args[0] = v->term[0];
    memcpy(args + 1, term, n * sizeof *term);
    ir_id id = ir_call(o->p, o->site, keep_code(o, code), n + 1, args);
    return op_give_scalar(o, tree_leaf(o->b), &id, NULL);
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
