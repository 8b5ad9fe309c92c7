/* Random scalar code: a pool of terms grows by operators, conditions, bounded loops, guarded partial operators and
 * reads over what is in it. */
#include "support/random_scalar.h"

enum { LOOP_DEPTH = 2, FEW = 6 };

bool random_allows(const random_maker *m, ir_kind kind)
{
    return m->options->kinds >> kind & 1;
}

int64_t random_extent_value(const random_maker *m, ir_id extent)
{
    ir_host host = {.dims = m->dim.at};
    ir_bits bits = 0;
    arena a;
    arena_init(&a, NULL);
    bool good = ir_evaluate(m->p, &a, extent, &host, &bits);
    arena_free(&a);
    return good ? ir_i64_bits(T_I64, bits) : -1;
}

static bool is_usable(const random_maker *m, ir_type t)
{
    return t == T_BOOL || t == T_I64 || (m->types >> t & 1);
}

ir_type random_type(random_maker *m)
{
    ir_type set[T_COUNT];
    uint32_t n = 0;
    for (ir_type t = T_BOOL; t < T_COUNT; t++)
        if (m->types >> t & 1)
            set[n++] = t;
    return set[choose(&m->c, n)];
}

ir_id random_constant(random_maker *m, ir_type t)
{
    static const int64_t whole[] = {0, 1, 2, 3, -1, 5, 7, -4, 100, INT64_MAX, INT64_MIN, 0x7fffffff, 255};
    static const double real[] = {0, 1, 2, 0.5, -1, 3.25, 1000, -0.0, -7.75, 1e30, 1e-40};
    if (t == T_BOOL)
        return ir_bool(m->p, choose(&m->c, 2));
    if (t == T_CHAR)
        return ir_const(m->p, t, 'a' + choose(&m->c, 26));
    if (!ir_type_float(t))
        return ir_const(m->p, t, ir_bits_i64(t, whole[choose(&m->c, ARRAY_LENGTH(whole))]));
    double v = real[choose(&m->c, ARRAY_LENGTH(real))];
    return ir_const(m->p, t, t == T_F32 ? ir_bits_f32((float)v) : ir_bits_f64(v));
}

static ir_type type_of(const random_maker *m, ir_id term)
{
    return (ir_type)ir_at(m->p, term)->type;
}

/* A term whose type is in the classes; 0 if a few tries find none. */
static ir_id pick_class(random_maker *m, const term_pool *pool, unsigned classes)
{
    for (unsigned k = 0; k < 4 && pool->term.n; k++) {
        ir_id term = pool->term.at[pool->term.n - 1 - choose(&m->c, pool->term.n)];
        if (ir_type_class(type_of(m, term)) & classes)
            return term;
    }
    return 0;
}

ir_id random_pick(random_maker *m, const term_pool *pool, ir_type t)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < pool->term.n; k++)
        n += type_of(m, pool->term.at[k]) == t;
    uint32_t chosen = choose(&m->c, n + 1);
    for (uint32_t k = pool->term.n; k-- > 0;) /* new terms first */
        if (type_of(m, pool->term.at[k]) == t && chosen-- == 0)
            return pool->term.at[k];
    ir_id other = chance(&m->c, n ? 0 : 60) ? pick_class(m, pool, CLASS_ANY) : 0;
    if (other && ir_op_result(OP_CONVERT, type_of(m, other), t) == t)
        return ir_convert(m->p, 0, OP_CONVERT, t, other);
    return random_constant(m, t);
}

static void add(random_maker *m, term_pool *pool, ir_id term)
{
    if (term)
        vec_push(m->arena, &pool->term, term);
}

/* --- terms --- */

/* Left out are operators that show the sign or the bits of a NaN, which IEEE 754 does not determine. */
static bool is_random_op(const random_maker *m, ir_op op)
{
    if (ir_ops[op].flags & OP_MATH)
        return m->options->math;
    return ir_ops[op].signature != SIGNATURE_OWN && op != OP_SIGN_BIT && op != OP_COPY_SIGN && op != OP_BITCAST &&
           op != OP_CONVERT;
}

uint32_t random_site(random_maker *m, const char *operation)
{
    return m->options->failures ? ir_site_at(m->p, "random", ++m->line, operation) : 0;
}

static ir_id operator_term(random_maker *m, const term_pool *pool)
{
    ir_op op = (ir_op)(1 + choose(&m->c, OP_COUNT - 1));
    ir_id first = pick_class(m, pool, ir_ops[op].classes);
    if (!first || !is_random_op(m, op))
        return 0;
    ir_type t = type_of(m, first), result = ir_op_result(op, t, T_NONE);
    if (!is_usable(m, result) || ir_op_partial(op, t))
        return 0;
    ir_id second = ir_ops[op].arity > 1 ? random_pick(m, pool, t) : 0;
    switch (ir_ops[op].arity) {
    case 1:
        return ir_op1(m->p, 0, op, first);
    case 2:
        return ir_op2(m->p, 0, op, first, second);
    default:
        return ir_op3(m->p, 0, op, first, second, random_pick(m, pool, t));
    }
}

static ir_id conversion(random_maker *m, const term_pool *pool)
{
    ir_id from = pick_class(m, pool, CLASS_ANY);
    ir_type to = random_type(m);
    if (!from || ir_op_result(OP_CONVERT, type_of(m, from), to) != to)
        return 0;
    return ir_convert(m->p, 0, OP_CONVERT, to, from);
}

static ir_id test(random_maker *m, const term_pool *pool)
{
    static const ir_op tests[] = {OP_LT, OP_EQ, OP_GE, OP_NE};
    ir_id a = pick_class(m, pool, CLASS_ANY);
    if (!a || chance(&m->c, 20))
        return random_pick(m, pool, T_BOOL);
    ir_op op = tests[choose(&m->c, ARRAY_LENGTH(tests))];
    return ir_op2(m->p, 0, op, a, random_pick(m, pool, type_of(m, a)));
}

/* One condition for one or two values. */
static void add_condition(random_maker *m, term_pool *pool)
{
    ir_id c = test(m, pool), a = pick_class(m, pool, CLASS_ANY);
    if (!a)
        return;
    ir_id b = random_pick(m, pool, type_of(m, a)), two = chance(&m->c, 30) ? pick_class(m, pool, CLASS_ANY) : 0;
    add(m, pool, ir_cond(m->p, 0, c, a, b));
    if (two)
        add(m, pool, ir_cond(m->p, 0, c, two, random_pick(m, pool, type_of(m, two))));
}

/* A quotient behind one or two guards, by a constant, or (where failures are wanted) without guard. */
static void add_quotient(random_maker *m, term_pool *pool)
{
    static const ir_op quotients[] = {OP_QUOT, OP_REM, OP_DIV, OP_MOD};
    ir_program *p = m->p;
    ir_op op = quotients[choose(&m->c, ARRAY_LENGTH(quotients))];
    ir_id a = pick_class(m, pool, CLASS_INT);
    if (!a)
        return;
    ir_type t = type_of(m, a);
    ir_id d = random_pick(m, pool, t), zero = ir_const(p, t, 0), minus = ir_const(p, t, ir_bits_i64(t, -1));
    ir_id q = ir_op2(p, random_site(m, ir_ops[op].name), op, a, d);
    if (m->options->failures && chance(&m->c, 20)) {
        add(m, pool, q);
        return;
    }
    ir_id guard = ir_op2(p, 0, OP_NE, d, zero);
    if (ir_type_signed(t))
        guard = ir_op2(p, 0, OP_AND, guard, ir_op2(p, 0, OP_NE, d, minus));
    add(m, pool, ir_cond(p, 0, guard, q, random_pick(m, pool, t)));
    if (!chance(&m->c, 40))
        return;
    ir_id both = ir_op2(p, 0, OP_AND, guard, test(m, pool)), more = ir_op2(p, 0, OP_ADD, q, a);
    add(m, pool, ir_cond(p, 0, both, more, random_pick(m, pool, t)));
}

/* --- reads --- */

static bool has_elements(const random_maker *m, ir_id array)
{
    const ir_array *info = ir_info(m->p, array);
    for (unsigned d = 0; d < info->rank; d++)
        if (random_extent_value(m, info->shape[d]) <= 0)
            return false;
    return true;
}

static void add_read(random_maker *m, term_pool *pool)
{
    ir_program *p = m->p;
    if (!m->array.n)
        return;
    ir_id array = m->array.at[choose(&m->c, m->array.n)], index[IR_MAX_RANK], inside = ir_bool(p, true);
    const ir_array *info = ir_info(p, array);
    uint32_t component = choose(&m->c, info->components);
    ir_type t = info->type[component];
    bool linear = chance(&m->c, 20), wraps = chance(&m->c, 50), filled = has_elements(m, array);
    unsigned n = linear ? 1 : info->rank;
    for (unsigned d = 0; d < n; d++) {
        ir_id e = random_pick(m, pool, T_I64), extent = linear ? ir_size(p, array) : info->shape[d];
        index[d] = wraps && filled ? ir_op2(p, 0, OP_MOD, e, extent) : e;
        ir_id low = ir_op2(p, 0, OP_GE, e, ir_i64(p, 0)), high = ir_op2(p, 0, OP_LT, e, extent);
        inside = ir_op2(p, 0, OP_AND, inside, ir_op2(p, 0, OP_AND, low, high));
    }
    unsigned flags = linear ? IR_LINEAR : 0;
    if (wraps && filled) {
        flags |= chance(&m->c, 50) ? IR_SAFE : 0;
        add(m, pool, ir_read(p, random_site(m, "index"), array, component, flags, n, index));
        return;
    }
    ir_id read = ir_read(p, random_site(m, "index"), array, component, flags, n, index);
    if ((m->options->failures && chance(&m->c, 20)) || (n == 0 && filled))
        add(m, pool, read);
    else if (n)
        add(m, pool, ir_cond(p, 0, inside, read, random_pick(m, pool, t)));
}

/* --- loops --- */

/* Without a source it is its fallback, everywhere. */
static ir_id foreign_call(random_maker *m, term_pool *pool)
{
    static const ir_code none = {.name = "foreign_code"};
    static const ir_type types[] = {T_I32, T_I64, T_F32, T_F64};
    ir_id args[IR_MOST_CALLED + 1];
    const uint32_t n = 2 + choose(&m->c, IR_MOST_CALLED);
    for (uint32_t i = 0; i < n; i++) {
        args[i] = random_pick(m, pool, types[choose(&m->c, 4)]);
    }
    return ir_call(m->p, 0, &none, n, args);
}

static void grow(random_maker *m, term_pool *pool, uint32_t count, unsigned depth);

static term_pool copy_pool(random_maker *m, const term_pool *pool)
{
    term_pool copy = {0};
    for (uint32_t k = 0; k < pool->term.n; k++)
        vec_push(m->arena, &copy.term, pool->term.at[k]);
    return copy;
}

static void add_loop(random_maker *m, term_pool *pool, unsigned depth)
{
    ir_program *p = m->p;
    ir_id init[3], var[3], next[3];
    uint32_t n = 1 + choose(&m->c, 2);
    bool is_while = chance(&m->c, 40);
    ir_id rounds = ir_i64(p, 1 + choose(&m->c, 4)), varied = random_pick(m, pool, T_I64);
    ir_loop loop = {.states = n, .init = init, .var = var, .next = next};
    for (uint32_t k = 0; k < n; k++) {
        ir_type t = k == 0 && pool->term.n ? type_of(m, pool->term.at[choose(&m->c, pool->term.n)]) : random_type(m);
        init[k] = random_pick(m, pool, t);
        var[k] = ir_var(p, t);
    }
    ir_id index = ir_var(p, T_I64);
    term_pool inside = copy_pool(m, pool);
    for (uint32_t k = 0; k < n; k++)
        add(m, &inside, var[k]);
    add(m, &inside, index);
    grow(m, &inside, 6, depth + 1);
    for (uint32_t k = 0; k < n; k++)
        next[k] = random_pick(m, &inside, type_of(m, var[k]));
    if (is_while) { /* the index is one more state, which bounds the rounds */
        init[n] = ir_i64(p, 0);
        var[n] = index;
        next[n] = ir_op2(p, 0, OP_ADD, index, ir_i64(p, 1));
        loop.states = n + 1;
        loop.cond = ir_op2(p, 0, OP_AND, ir_op2(p, 0, OP_LT, index, rounds), test(m, &inside));
    } else {
        loop.count = chance(&m->c, 50) ? ir_op2(p, 0, OP_MOD, varied, ir_i64(p, 5)) : rounds;
        loop.index = index;
    }
    ir_id id = ir_loop_new(p, 0, &loop);
    for (uint32_t k = 0; k < loop.states; k++)
        add(m, pool, ir_proj(p, id, k));
}

static void grow(random_maker *m, term_pool *pool, uint32_t count, unsigned depth)
{
    uint32_t span;
    for (uint32_t k = 0; k < count && choices_more(&m->c, 97, &span); k++) {
        uint32_t what = choose(&m->c, 21);
        if (what < 11)
            add(m, pool, operator_term(m, pool));
        else if (what < 13)
            add(m, pool, conversion(m, pool));
        else if (what < 15 && random_allows(m, IR_COND))
            add_condition(m, pool);
        else if (what < 17 && random_allows(m, IR_COND))
            add_quotient(m, pool);
        else if (what < 18 && random_allows(m, IR_READ))
            add_read(m, pool);
        else if (what < 19 && random_allows(m, IR_LOOP) && depth < LOOP_DEPTH)
            add_loop(m, pool, depth);
        else if (what == 20)
            add(m, pool, foreign_call(m, pool));
        else if (m->dim.n)
            add(m, pool, ir_dim(m->p, m->p->dim.at[choose(&m->c, m->dim.n)]));
        choices_end(&m->c, span);
    }
}

void random_grow(random_maker *m, term_pool *pool, uint32_t count)
{
    grow(m, pool, count, 0);
}

term_pool random_body(random_maker *m, const ir_fn *fn)
{
    term_pool pool = {0};
    bool all = fn->params <= FEW;
    for (uint32_t k = 0; k < (all ? fn->params : FEW); k++)
        add(m, &pool, fn->param[all ? k : choose(&m->c, fn->params)]);
    random_grow(m, &pool, m->options->terms);
    return pool;
}
