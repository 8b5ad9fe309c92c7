/* Integers in as few bits as they need, for devices whose registers hold more of shorter elements. Numbers made of
 * bytes are computed in 32 bits, as programs say it; where intervals show that 16 or 8 bits hold them, or only so many
 * low bits are looked at, they are computed in as many.
 *
 * Values that are computed from each other form a group, and a group is shortened as a whole or not at all: all that
 * comes in was widened from something short, or is a literal, and all that goes out is made short again, or compared.
 * So nothing is ever made longer or shorter for the sake of this pass.
 *
 * Sums, products and bits have the same low bits in any width. Comparisons, minima, shifts to the right and the like
 * look at the whole number: their operands must fit, in one type for all of them. */
#include "kernel/edit.h"
#include "kernel/passes.h"
#include "kernel/ranges.h"

enum { FULL_BITS = 32 }; /* more than any group that is shortened has */

typedef struct shortening {
    k_edit e;
    k_builder b;
    uint32_t values;  /* the kernel's when the pass began: the length of what is per value */
    k_range *of;      /* per value: its interval, if it is an integer of at most 32 bits */
    k_val *leader;    /* per value: another one of its group, or itself */
    uint8_t *bits;    /* per value that leads its group: that the group needs */
    bool *member;     /* per value: what a statement computes that may be shortened */
    bool *whole;      /* per value: not only its low bits are looked at */
    k_val *shorter;   /* per value and short type: the widened value in this type; 0: not made yet */
    VEC(k_ref) stmts; /* those that may be shortened, in the order of the text */
    VEC(k_ref) taken; /* conversions of what they compute */
} shortening;

/* --- intervals --- */

static bool is_short_integer(const kernel *k, k_val v)
{
    ir_type t = (ir_type)k->value.at[v].type;
    return ir_type_class(t) == CLASS_INT && ir_type_size(t) <= 4;
}

static k_range of_bits(unsigned bits, bool is_signed)
{
    int64_t end = INT64_C(1) << (bits - is_signed);
    return (k_range){is_signed ? -end : 0, end - 1};
}

static k_range of_type(ir_type t)
{
    return of_bits(ir_type_bits(t), ir_type_signed(t));
}

static k_range hull(k_range x, k_range y)
{
    return (k_range){x.low < y.low ? x.low : y.low, x.high > y.high ? x.high : y.high};
}

static bool within(k_range x, k_range y)
{
    return x.low >= y.low && x.high <= y.high;
}

/* All numbers that have no more bits than these. */
static k_range of_as_many_bits(k_range x)
{
    k_range r = of_bits(2, x.low < 0);
    for (unsigned bits = 3; bits <= FULL_BITS + 1 && !within(x, r); bits++)
        r = of_bits(bits, x.low < 0);
    return r;
}

static bool literal_of(const shortening *s, k_val v, int64_t *out)
{
    const k_value *x = &s->e.k->value.at[v];
    if (x->kind == KV_LITERAL)
        *out = ir_i64_bits((ir_type)x->type, x->bits);
    return x->kind == KV_LITERAL;
}

static k_range product(k_range x, k_range y, k_range otherwise)
{
    const int64_t most = INT64_C(1) << 31;
    if (k_range_magnitude(x) > most || k_range_magnitude(y) > most)
        return otherwise;
    k_range r = {x.low * y.low, x.low * y.low};
    for (int i = 1; i < 4; i++) {
        int64_t p = (i & 1 ? x.high : x.low) * (i & 2 ? y.high : y.low);
        r = hull(r, (k_range){p, p});
    }
    return r;
}

static k_range of_and(k_range x, k_range y, k_range any)
{
    if (x.low >= 0 && y.low >= 0)
        return (k_range){0, x.high < y.high ? x.high : y.high};
    return x.low >= 0 ? (k_range){0, x.high} : y.low >= 0 ? (k_range){0, y.high} : any;
}

static bool is_division(const k_stmt *x)
{
    return x->op == K_LET && (x->sub == OP_QUOT || x->sub == OP_REM || x->sub == OP_DIV || x->sub == OP_MOD);
}

/* By a number of at least two. */
static k_range of_division(ir_op op, k_range p, int64_t by)
{
    k_range quotient = {p.low / by, p.high / by};
    if (op == OP_QUOT)
        return quotient;
    if (op == OP_DIV) /* rounded down */
        return (k_range){quotient.low - (p.low < 0), quotient.high};
    return (k_range){op == OP_MOD || p.low >= 0 ? 0 : 1 - by, by - 1};
}

/* Before it wraps. */
static k_range of_let(const shortening *s, const k_stmt *x, k_range any)
{
    k_range p = s->of[x->in[0]], q = s->of[x->in[1]];
    int64_t by = 0;
    switch ((ir_op)x->sub) {
    case OP_ADD:
        return (k_range){p.low + q.low, p.high + q.high};
    case OP_SUB:
        return (k_range){p.low - q.high, p.high - q.low};
    case OP_MUL:
        return product(p, q, any);
    case OP_NEG:
        return (k_range){-p.high, -p.low};
    case OP_ABS:
        return (k_range){0, k_range_magnitude(p)};
    case OP_MIN:
        return (k_range){p.low < q.low ? p.low : q.low, p.high < q.high ? p.high : q.high};
    case OP_MAX:
        return (k_range){p.low > q.low ? p.low : q.low, p.high > q.high ? p.high : q.high};
    case OP_BIT_AND:
        return of_and(p, q, any);
    case OP_BIT_OR:
    case OP_BIT_XOR:
        return of_as_many_bits(hull(p, q));
    case OP_SHR:
    case OP_SHL:
        if (!literal_of(s, x->in[1], &by) || by < 0 || by >= 31)
            return any;
        return x->sub == OP_SHR ? (k_range){p.low >> by, p.high >> by}
                                : product(p, (k_range){INT64_C(1) << by, INT64_C(1) << by}, any);
    case OP_QUOT:
    case OP_REM:
    case OP_DIV:
    case OP_MOD:
        return literal_of(s, x->in[1], &by) && by > 1 ? of_division((ir_op)x->sub, p, by) : any;
    default:
        return any;
    }
}

static k_range of_convert(const shortening *s, const k_stmt *x, k_range any)
{
    if (s->e.k->value.at[x->in[0]].type == T_BOOL)
        return (k_range){0, 1};
    return is_short_integer(s->e.k, x->in[0]) ? s->of[x->in[0]] : any;
}

static k_range range_of(const shortening *s, const k_stmt *x)
{
    k_range any = of_type((ir_type)s->e.k->value.at[x->dst].type), r = any;
    if (x->op == K_SELECT)
        r = hull(s->of[x->in[1]], s->of[x->in[2]]);
    else if (x->op == K_LET && x->sub == OP_CONVERT)
        r = of_convert(s, x, any);
    else if (x->op == K_LET)
        r = of_let(s, x, any);
    return within(r, any) ? r : any;
}

/* --- groups --- */

static k_val leader_of(const shortening *s, k_val v)
{
    while (s->leader[v] != v)
        v = s->leader[v] = s->leader[s->leader[v]];
    return v;
}

static void need(shortening *s, k_val v, unsigned bits)
{
    uint8_t *n = &s->bits[leader_of(s, v)];
    *n = bits > *n ? (uint8_t)bits : *n;
}

static void unite(shortening *s, k_val v, k_val w)
{
    v = leader_of(s, v);
    w = leader_of(s, w);
    s->leader[w] = v;
    need(s, v, s->bits[w]);
}

static bool is_comparison(const k_stmt *x)
{
    return x->op == K_LET && ir_ops[x->sub].signature == SIGNATURE_TEST;
}

/* Does it give the same low bits in any width, whatever the others are? */
static bool is_modular(const k_stmt *x)
{
    if (x->op == K_SELECT)
        return true;
    switch ((ir_op)x->sub) {
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
    case OP_NEG:
    case OP_BIT_AND:
    case OP_BIT_OR:
    case OP_BIT_XOR:
    case OP_BIT_NOT:
    case OP_SHL:
        return true;
    default:
        return false;
    }
}

static bool may_shorten(const shortening *s, const k_stmt *x)
{
    const kernel *k = s->e.k;
    int64_t by = 0;
    if ((x->op != K_LET && x->op != K_SELECT) || k->value.at[x->dst].kind != KV_RESULT)
        return false;
    if (is_comparison(x))
        return is_short_integer(k, x->in[0]) && ir_type_size((ir_type)k->value.at[x->in[0]].type) > 1;
    if (!is_short_integer(k, x->dst) || ir_type_size((ir_type)k->value.at[x->dst].type) == 1)
        return false;
    if (x->op == K_LET && (x->sub == OP_SHR || x->sub == OP_SHL))
        return literal_of(s, x->in[1], &by) && by >= 0 && by < FULL_BITS;
    if (is_division(x))
        return literal_of(s, x->in[1], &by) && by > 1;
    return is_modular(x) || x->sub == OP_ABS || x->sub == OP_MIN || x->sub == OP_MAX;
}

/* The short value that this one was widened from, or 0. */
static k_val widened_from(const kernel *k, k_val v)
{
    const k_value *x = &k->value.at[v];
    const k_stmt *s = &k->stmt.at[x->def];
    if (x->kind != KV_RESULT || s->op != K_LET || s->sub != OP_CONVERT || k->value.at[s->in[0]].kind == KV_VARIABLE)
        return 0;
    ir_type from = (ir_type)k->value.at[s->in[0]].type, to = (ir_type)x->type;
    bool is_integer = ir_type_class(from) == CLASS_INT || from == T_BOOL;
    return is_integer && ir_type_size(from) < ir_type_size(to) && ir_type_size(from) <= 2 ? s->in[0] : 0;
}

/* Operands that are shortened with the statement: neither conditions nor counts of a shift. */
static bool is_shortened_operand(const k_stmt *x, unsigned i)
{
    return x->op == K_SELECT ? i > 0 : i == 0 || (x->sub != OP_SHL && x->sub != OP_SHR);
}

static void join_operand(shortening *s, const k_stmt *x, k_val v)
{
    const kernel *k = s->e.k;
    if (s->member[v] && k->value.at[v].type != T_BOOL)
        unite(s, x->dst, v);
    else if (k->value.at[v].kind != KV_LITERAL && !widened_from(k, v))
        need(s, x->dst, FULL_BITS);
    s->whole[v] |= !is_modular(x);
}

/* What else is done with a value: that its low bits are taken, or something that wants it as it is. */
static void meet_use(shortening *s, const k_stmt *x, k_val v)
{
    const kernel *k = s->e.k;
    if (!s->member[v] || k->value.at[v].type == T_BOOL)
        return;
    ir_type to = (ir_type)k->value.at[x->dst].type;
    bool taken = x->op == K_LET && x->sub == OP_CONVERT && ir_type_class(to) == CLASS_INT;
    need(s, v, taken ? ir_type_bits(to) : FULL_BITS);
}

/* --- widths --- */

/* Operands and result of what looks at whole numbers; of anything else the result, if somebody does. */
static k_range must_fit(const shortening *s, const k_stmt *x)
{
    k_range r = {0, 0};
    if (!is_comparison(x) && (!is_modular(x) || s->whole[x->dst]))
        r = hull(r, s->of[x->dst]);
    for (unsigned i = 0; !is_modular(x) && i < k_operands(x); i++)
        r = is_shortened_operand(x, i) ? hull(r, s->of[x->in[i]]) : r;
    return r;
}

static bool fits_signed(k_range x, unsigned bits)
{
    return within(x, of_bits(bits, true));
}

static unsigned bits_for(const shortening *s, const k_stmt *x)
{
    /* there are no products and shifts of bytes in vectors; divisions by literals are made of these */
    bool short_of_none =
        is_division(x) || (x->op == K_LET && (x->sub == OP_MUL || x->sub == OP_SHL || x->sub == OP_SHR));
    k_range r = must_fit(s, x);
    for (unsigned bits = short_of_none ? 16 : 8; bits < FULL_BITS; bits *= 2)
        if (fits_signed(r, bits) || within(r, of_bits(bits, false)))
            return bits;
    return FULL_BITS;
}

static ir_type type_of(unsigned bits, bool is_signed)
{
    return bits == 8 ? (is_signed ? T_I8 : T_U8) : is_signed ? T_I16 : T_U16;
}

/* --- the change --- */

static k_val insert_convert(shortening *s, k_ref at, k_val from, ir_type to)
{
    kernel *k = s->e.k;
    vec_push(k->arena, &k->value, ((k_value){.kind = KV_RESULT, .type = (uint8_t)to}));
    ir_op op = ir_type_size((ir_type)k->value.at[from].type) == ir_type_size(to) && k->value.at[from].type != T_BOOL
                   ? OP_BITCAST
                   : OP_CONVERT;
    k_insert(&s->e, at, &(k_stmt){.op = K_LET, .sub = (uint8_t)op, .dst = k->value.n - 1, .in = {from}});
    return k->value.n - 1;
}

/* The operand in the statement's type. What was widened is made once for each type, where it was widened. */
static k_val in_type(shortening *s, k_ref at, k_val v, ir_type t)
{
    kernel *k = s->e.k;
    int64_t n = 0;
    if (literal_of(s, v, &n))
        return k_literal(&s->b, t, ir_bits_i64(t, n));
    if (s->member[v])
        return k->value.at[v].type == t ? v : insert_convert(s, at, v, t);
    k_val from = widened_from(k, v), *made = &s->shorter[v * T_COUNT + t];
    if (k->value.at[from].type == t)
        return from;
    if (!*made)
        *made = insert_convert(s, k->value.at[v].def, from, t);
    return *made;
}

static bool gains(const shortening *s, k_ref r)
{
    const k_stmt *x = &s->e.k->stmt.at[r];
    ir_type own = (ir_type)s->e.k->value.at[is_comparison(x) ? x->in[0] : x->dst].type;
    return s->bits[leader_of(s, x->dst)] < ir_type_bits(own);
}

static void change(shortening *s, k_ref r)
{
    kernel *k = s->e.k;
    k_stmt x = k->stmt.at[r];
    unsigned bits = s->bits[leader_of(s, x.dst)];
    ir_type t = type_of(bits, fits_signed(must_fit(s, &x), bits));
    for (unsigned i = 0; i < k_operands(&x); i++) {
        int64_t by = 0;
        if (is_shortened_operand(&x, i))
            x.in[i] = in_type(s, r, x.in[i], t);
        else if (x.op == K_LET && literal_of(s, x.in[i], &by))
            x.in[i] = k_literal(&s->b, t, ir_bits_i64(t, by));
    }
    memcpy(k->stmt.at[r].in, x.in, sizeof(x.in));
    if (!is_comparison(&x))
        k->value.at[x.dst].type = (uint8_t)t;
}

/* --- limits ---
 * A sum of a byte and a number that is limited again, as bytes that saturate are written, takes more bits than its
 * operands and what becomes of it: min(x + c, d) is min(x, d - c) + c, and of the other way round the same holds, where
 * the sum does not wrap. */

typedef struct limit {
    k_ref at;
    k_val x, c; /* the sum's operands, the second a literal */
    uint8_t op; /* of the sum */
    int64_t to; /* what x is limited to */
} limit;

static unsigned bits_of_range(k_range r)
{
    unsigned bits = 8;
    while (bits < FULL_BITS && !fits_signed(r, bits) && !within(r, of_bits(bits, false)))
        bits *= 2;
    return bits;
}

/* The statement that makes v, if it is a sum of something and a literal: these, and what is added. */
static bool is_moved(const shortening *s, k_val v, limit *out, int64_t *by)
{
    const k_value *x = &s->e.k->value.at[v];
    const k_stmt *sum = x->kind == KV_RESULT ? &s->e.k->stmt.at[x->def] : NULL;
    if (!sum || sum->op != K_LET || (sum->sub != OP_ADD && sum->sub != OP_SUB))
        return false;
    unsigned second = literal_of(s, sum->in[1], by);
    if (!second && (sum->sub == OP_SUB || !literal_of(s, sum->in[0], by)))
        return false;
    out->x = sum->in[!second];
    out->c = sum->in[second];
    out->op = sum->sub;
    *by = sum->sub == OP_SUB ? -*by : *by;
    return true;
}

static bool find_limit(const shortening *s, k_ref r, limit *out)
{
    const kernel *k = s->e.k;
    const k_stmt *x = &k->stmt.at[r];
    int64_t by = 0, most = 0;
    if (x->op != K_LET || (x->sub != OP_MIN && x->sub != OP_MAX) || !is_short_integer(k, x->dst))
        return false;
    unsigned second = literal_of(s, x->in[1], &most);
    if ((!second && !literal_of(s, x->in[0], &most)) || !is_moved(s, x->in[!second], out, &by))
        return false;
    out->at = r;
    out->to = most - by;
    k_range any = of_type((ir_type)k->value.at[x->dst].type), own = s->of[out->x], end = {most, most};
    k_range sum = {own.low + by, own.high + by}, result = s->of[x->dst], to = {out->to, out->to};
    return within(sum, any) && within(to, any) &&
           bits_of_range(hull(hull(own, to), result)) < bits_of_range(hull(hull(sum, end), result));
}

static void limit_first(shortening *s, const limit *l)
{
    kernel *k = s->e.k;
    const k_stmt old = k->stmt.at[l->at];
    const uint8_t type = k->value.at[old.dst].type;
    vec_push(k->arena, &k->value, ((k_value){.kind = KV_RESULT, .type = type}));
    const k_val limited = k->value.n - 1;
    const k_val to = k_literal(&s->b, (ir_type)type, ir_bits_i64((ir_type)type, l->to));
    k_insert(&s->e, l->at, &(k_stmt){.op = K_LET, .sub = old.sub, .dst = limited, .in = {l->x, to}});
    k->stmt.at[l->at].sub = l->op;
    k->stmt.at[l->at].in[0] = limited;
    k->stmt.at[l->at].in[1] = l->c;
}

static bool has_limits(const kernel *k)
{
    for (k_ref r = 1; r < k->stmt.n; r++) {
        const k_stmt *x = &k->stmt.at[r];
        if (x->op == K_LET && (x->sub == OP_MIN || x->sub == OP_MAX) && is_short_integer(k, x->dst) &&
            (k->value.at[x->in[0]].kind == KV_LITERAL || k->value.at[x->in[1]].kind == KV_LITERAL))
            return true;
    }
    return false;
}

/* --- the pass --- */

static void meet(shortening *s, const k_walk *w)
{
    kernel *k = s->e.k;
    const k_stmt *x = &k->stmt.at[w->at];
    bool member = may_shorten(s, x);
    if (x->dst && x->op != K_SET && k->value.at[x->dst].kind == KV_RESULT && is_short_integer(k, x->dst))
        s->of[x->dst] = range_of(s, x);
    for (unsigned i = 0; i < k_operands(x); i++) {
        if (member && is_shortened_operand(x, i))
            join_operand(s, x, x->in[i]);
        else
            meet_use(s, x, x->in[i]);
    }
    if (!member) {
        if (x->op == K_LET && x->sub == OP_CONVERT && s->member[x->in[0]])
            vec_push(s->e.arena, &s->taken, w->at);
        return;
    }
    s->member[x->dst] = true;
    vec_push(s->e.arena, &s->stmts, w->at);
}

static void use_whole(void *env, k_val *v)
{
    shortening *s = env;
    if (*v < s->values && s->member[*v])
        need(s, *v, FULL_BITS);
}

static void begin(shortening *s, kernel *k, arena *a)
{
    k_edit_begin(&s->e, k, a);
    k_begin(&s->b, k);
    s->values = k->value.n;
    s->of = arena_array(a, *s->of, s->values);
    s->leader = arena_array(a, *s->leader, s->values);
    s->bits = arena_alloc(a, s->values);
    s->member = arena_array(a, *s->member, s->values);
    s->whole = arena_array(a, *s->whole, s->values);
    s->shorter = arena_array(a, *s->shorter, (size_t)s->values * T_COUNT);
    for (k_val v = 0; v < s->values; v++) {
        int64_t n = 0;
        s->leader[v] = v;
        if (literal_of(s, v, &n))
            s->of[v] = (k_range){n, n};
        else if (is_short_integer(k, v))
            s->of[v] = of_type((ir_type)k->value.at[v].type);
    }
}

/* A conversion between types of one size is a copy of bits. */
static void note_copies(const shortening *s)
{
    kernel *k = s->e.k;
    for (uint32_t i = 0; i < s->taken.n; i++) {
        k_stmt *x = &k->stmt.at[s->taken.at[i]];
        if (k->value.at[x->in[0]].type == k->value.at[x->dst].type)
            x->sub = OP_BITCAST;
    }
}

static void move_limits(kernel *k, arena *a)
{
    shortening s = {0};
    VEC(limit) all = {0};
    k_walk w;
    begin(&s, k, a);
    k_walk_begin(&w, k, a);
    while (k_walk_next(&w)) {
        const k_stmt *x = &k->stmt.at[w.at];
        limit found;
        if (w.event != K_WALK_AT)
            continue;
        if (x->dst && x->op != K_SET && k->value.at[x->dst].kind == KV_RESULT && is_short_integer(k, x->dst))
            s.of[x->dst] = range_of(&s, x);
        if (find_limit(&s, w.at, &found))
            vec_push(a, &all, found);
    }
    for (uint32_t i = 0; i < all.n; i++)
        limit_first(&s, &all.at[i]);
}

void k_shorten(kernel *k, arena *a)
{
    shortening s = {0};
    if (has_limits(k))
        move_limits(k, a);
    begin(&s, k, a);
    k_walk w;
    k_walk_begin(&w, k, a);
    while (k_walk_next(&w)) {
        if (w.event == K_WALK_AT)
            meet(&s, &w);
        const k_stmt *x = &k->stmt.at[w.at];
        for (unsigned j = 0; x->op == K_CHAIN && w.event == K_WALK_LEAVE && j < x->chain->arity; j++)
            use_whole(&s, &x->chain->result[j]);
        if (x->op == K_CHAIN && w.event == K_WALK_AT)
            k_each_operand(k, w.at, use_whole, &s);
    }
    for (uint32_t i = 0; i < s.stmts.n; i++) {
        const k_stmt *x = &k->stmt.at[s.stmts.at[i]];
        need(&s, x->dst, bits_for(&s, x));
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i < s.stmts.n; i++)
        if (gains(&s, s.stmts.at[i]))
            s.stmts.at[n++] = s.stmts.at[i];
    for (uint32_t i = 0; i < n; i++)
        change(&s, s.stmts.at[i]);
    note_copies(&s);
}
