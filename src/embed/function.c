/* Functions of the user's: how they are stored, called, and turned into functions of terms. */
#include "embed/value.h"

enum { WITH_ENV = 1, COMMUTES = 2, LISTED = 4 /* parameters come as a list */, ASSOCIATES = 8 };

/* --- constructors: a function pointer of any type, and how many parameters it has --- */

static sn_fn plain(void (*call)(void), int parameters)
{
    return (sn_fn){.call = call, .parameters = parameters};
}

static sn_fn with_env(void (*call)(void), int parameters, void *env)
{
    return (sn_fn){.call = call, .env = env, .parameters = parameters, .flags = WITH_ENV};
}

typedef sn_scalar fn1(sn_scalar), fn2(sn_scalar, sn_scalar), fn3(sn_scalar, sn_scalar, sn_scalar),
    fn4(sn_scalar, sn_scalar, sn_scalar, sn_scalar), fn5(sn_scalar, sn_scalar, sn_scalar, sn_scalar, sn_scalar),
    fn6(sn_scalar, sn_scalar, sn_scalar, sn_scalar, sn_scalar, sn_scalar),
    fn7(sn_scalar, sn_scalar, sn_scalar, sn_scalar, sn_scalar, sn_scalar, sn_scalar),
    fn8(sn_scalar, sn_scalar, sn_scalar, sn_scalar, sn_scalar, sn_scalar, sn_scalar, sn_scalar),
    fn9(sn_scalar, sn_scalar, sn_scalar, sn_scalar, sn_scalar, sn_scalar, sn_scalar, sn_scalar, sn_scalar);
typedef sn_scalar env1(void *, sn_scalar), env2(void *, sn_scalar, sn_scalar),
    env3(void *, sn_scalar, sn_scalar, sn_scalar), env4(void *, sn_scalar, sn_scalar, sn_scalar, sn_scalar),
    env_any(void *, int, const sn_scalar *);

sn_fn sn_fn_of(sn_fn f)
{
    return f;
}

sn_fn sn_fn_1(fn1 *f)
{
    return plain((void (*)(void))f, 1);
}

sn_fn sn_fn_2(fn2 *f)
{
    return plain((void (*)(void))f, 2);
}

sn_fn sn_fn_3(fn3 *f)
{
    return plain((void (*)(void))f, 3);
}

sn_fn sn_fn_4(fn4 *f)
{
    return plain((void (*)(void))f, 4);
}

sn_fn sn_fn_5(fn5 *f)
{
    return plain((void (*)(void))f, 5);
}

sn_fn sn_fn_6(fn6 *f)
{
    return plain((void (*)(void))f, 6);
}

sn_fn sn_fn_7(fn7 *f)
{
    return plain((void (*)(void))f, 7);
}

sn_fn sn_fn_8(fn8 *f)
{
    return plain((void (*)(void))f, 8);
}

sn_fn sn_fn_9(fn9 *f)
{
    return plain((void (*)(void))f, 9);
}

sn_fn sn_closure_1(env1 *f, void *env)
{
    return with_env((void (*)(void))f, 1, env);
}

sn_fn sn_closure_2(env2 *f, void *env)
{
    return with_env((void (*)(void))f, 2, env);
}

sn_fn sn_closure_3(env3 *f, void *env)
{
    return with_env((void (*)(void))f, 3, env);
}

sn_fn sn_closure_4(env4 *f, void *env)
{
    return with_env((void (*)(void))f, 4, env);
}

sn_fn sn_closure_of(env_any *f, void *env, int parameters)
{
    sn_fn listed = with_env((void (*)(void))f, parameters, env);
    listed.flags |= LISTED;
    return listed;
}

sn_fn sn_closure_n(env_any *f, void *env)
{
    return sn_closure_of(f, env, -1);
}

sn_fn sn_commutative_of(sn_fn f)
{
    f.flags |= COMMUTES;
    return f;
}

bool embed_declared_to_commute(sn_fn f)
{
    return f.flags & COMMUTES;
}

sn_fn sn_associative_of(sn_fn f)
{
    f.flags |= ASSOCIATES;
    return f;
}

void embed_expect_associative(const op *o, sn_fn f, const ir_fn *fn, const char *in_order)
{
    uint32_t component = 0;
    const char *what = f.flags & ASSOCIATES ? NULL : ir_visibly_not_associative(o->p, fn, &component);
    if (!what)
        return;
    const char *where =
        fn->results > 1 ? arena_printf(o->b->arena, "component %u of the function", component) : "the function";
    ir_warn(
        o->p, o->site,
        "%s: %s is %s, which is not associative: elements are combined in groups, f(f(a, b), f(c, d)), so the result "
        "is not that of a loop; %ssn_associative(f) says that this is meant",
        o->name, where, what, in_order);
}

/* --- calls --- */

static sn_scalar invoke(sn_fn f, int n, const sn_scalar *x)
{
    if (f.flags & LISTED)
        return ((env_any *)f.call)(f.env, n, x);
    switch (f.flags & WITH_ENV ? -n : n) {
    case 1:
        return ((fn1 *)f.call)(x[0]);
    case 2:
        return ((fn2 *)f.call)(x[0], x[1]);
    case 3:
        return ((fn3 *)f.call)(x[0], x[1], x[2]);
    case 4:
        return ((fn4 *)f.call)(x[0], x[1], x[2], x[3]);
    case 5:
        return ((fn5 *)f.call)(x[0], x[1], x[2], x[3], x[4]);
    case 6:
        return ((fn6 *)f.call)(x[0], x[1], x[2], x[3], x[4], x[5]);
    case 7:
        return ((fn7 *)f.call)(x[0], x[1], x[2], x[3], x[4], x[5], x[6]);
    case 8:
        return ((fn8 *)f.call)(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]);
    case 9:
        return ((fn9 *)f.call)(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8]);
    case -1:
        return ((env1 *)f.call)(f.env, x[0]);
    case -2:
        return ((env2 *)f.call)(f.env, x[0], x[1]);
    case -3:
        return ((env3 *)f.call)(f.env, x[0], x[1], x[2]);
    case -4:
        return ((env4 *)f.call)(f.env, x[0], x[1], x[2], x[3]);
    default:
        return (sn_scalar){0};
    }
}

/* The argument to be passed as its components, so that n arguments become f.parameters; n if none: they already are. -1
 * if the numbers cannot be made to agree. */
static int argument_to_spread(sn_fn f, uint32_t n, const value *argument)
{
    if (f.parameters < 0 || (uint32_t)f.parameters == n)
        return (int)n;
    for (uint32_t i = 0; i < n; i++) {
        const value *v = &argument[i];
        if (v->kind == VALUE_SCALAR && !v->tree->leaf && v->tree->n + n - 1 == (uint32_t)f.parameters)
            return (int)i;
    }
    return -1;
}

static void wrong_count(const op *o, sn_fn f, uint32_t n, const value *argument)
{
    text t;
    text_init(&t, o->b->arena);
    for (uint32_t i = 0; i < n; i++) {
        text_add(&t, i ? ", " : "");
        text_add(&t, argument[i].kind == VALUE_NEIGHBOURS ? "neighbours" : value_text(o, &argument[i]));
    }
    op_fail(o,
            "the function has %d parameter%s, but is called with %u: %s; it takes one for each, or for each component "
            "of one",
            f.parameters, f.parameters == 1 ? "" : "s", n, t.at);
}

static sn_scalar give(const op *o, const value *v)
{
    return v->kind == VALUE_SCALAR ? op_give_scalar(o, v->tree, v->term, v->weak) : op_give_neighbours(o, v);
}

const value *embed_call(const op *o, sn_fn f, uint32_t n, const value *argument, ir_id first, ir_id last)
{
    build *b = o->b;
    if (!f.call)
        return op_fail(o, "the function is NULL; write a function of scalars, or sn_closure(f, env)");
    int spread = argument_to_spread(f, n, argument);
    if (spread < 0) {
        wrong_count(o, f, n, argument);
        return NULL;
    }
    uint32_t count = spread == (int)n ? n : n - 1 + argument[spread].tree->n, next = 0;
    sn_scalar few[9], *x = count <= ARRAY_LENGTH(few) ? few : arena_array(b->arena, *x, count);
    for (uint32_t i = 0; i < n; i++) {
        const value *v = &argument[i];
        if ((int)i != spread) {
            x[next++] = give(o, v);
            continue;
        }
        for (uint32_t k = 0; k < v->tree->n; k++) {
            uint32_t leaf = tree_offset(v->tree, k);
            x[next++] = op_give_scalar(o, v->tree->child[k], v->term + leaf, v->weak ? v->weak + leaf : NULL);
        }
    }
    sn_site at = b->at;
    uint32_t number = scope_open(o, first, last);
    const bool misplaced = b->misplaced;
    b->misplaced = false;
    b->functions++;
    sn_scalar result = invoke(f, (int)count, x);
    const value *v = op_take_scalar(o, result, "what the function returns");
    b->functions--;
    b->misplaced = misplaced;
    scope_close(o, number);
    b->at = at;
    return v;
}

/* --- functions of terms --- */

const ir_type *embed_i64_types(void)
{
    static const ir_type type[IR_MAX_RANK] = {T_I64, T_I64, T_I64, T_I64, T_I64, T_I64, T_I64, T_I64};
    return type;
}

bool embed_close_lambda(const op *o, ir_fn *fn, const value *result, const tree *wanted, const ir_type *type,
                        lambda *out)
{
    if (!result)
        return false;
    const ir_id *term = result->term;
    if (wanted && tree_equal(result->tree, wanted))
        term = embed_settle(o, result, type, "what the function returns");
    if (!term)
        return false;
    bool same = !wanted || tree_equal(result->tree, wanted);
    for (uint32_t i = 0; wanted && same && i < wanted->leaves; i++)
        same = ir_at(o->p, term[i])->type == (uint8_t)type[i];
    if (!same)
        return op_fail(o, "the function must return %s, but returns %s; convert what it returns",
                       type_text(o, wanted, type), value_text(o, result));
    out->tree = result->tree;
    out->fn = ir_fn_close(o->p, fn, result->tree->leaves, term);
    return out->fn != NULL;
}

bool embed_lambda(const op *o, sn_fn f, uint32_t n, const tree *const *parameter, const ir_type *type,
                  const tree *wanted, const ir_type *wanted_type, lambda *out)
{
    uint32_t leaves = 0;
    for (uint32_t i = 0; i < n; i++)
        leaves += parameter[i]->leaves;
    ir_fn *fn = ir_fn_new(o->p, leaves, type);
    value few[9], *argument = n <= ARRAY_LENGTH(few) ? few : arena_array(o->b->arena, *argument, n);
    for (uint32_t i = 0, at = 0; i < n; at += parameter[i++]->leaves)
        argument[i] = (value){.kind = VALUE_SCALAR, .tree = parameter[i], .term = fn->param + at};
    ir_id first = leaves ? fn->param[0] : 1, last = leaves ? fn->param[leaves - 1] : 0;
    return embed_close_lambda(o, fn, embed_call(o, f, n, argument, first, last), wanted, wanted_type, out);
}

ir_fn *embed_index_fn(const op *o, unsigned rank)
{
    return ir_fn_new(o->p, rank, embed_i64_types());
}

ir_fn *embed_index_lambda(const op *o, sn_fn f, unsigned rank, unsigned result_rank)
{
    ir_fn *fn = embed_index_fn(o, rank);
    value index = {.kind = VALUE_SCALAR, .tree = tree_flat(o->b, rank), .term = fn->param};
    const value *v = embed_call(o, f, 1, &index, rank ? fn->param[0] : 1, rank ? fn->param[rank - 1] : 0);
    id_list result = {0};
    if (!v)
        return NULL;
    if (v->tree->leaves != result_rank)
        return op_fail(o,
                       "the function must return an index into the array, of %u integer%s, but returns %s; of several, "
                       "sn_tuple(i, j)",
                       result_rank, result_rank == 1 ? "" : "s", value_text(o, v));
    if (!op_index_leaves(o, v, "what the function returns", &result))
        return NULL;
    return ir_fn_close(o->p, fn, result.n, result.at);
}
