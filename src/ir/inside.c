/* Proves that sums of variables, extents, and their minima, maxima, quotients and remainders are not negative:
 * variables are replaced by their worst values, minima, maxima and quotients by their operands, until a number is left
 * (Fourier and Motzkin, without the search for coefficients). Numbers are whole ones here and wrap in the program: so
 * only sums of few atoms count, each known to be small. */
#include "ir/inside.h"

enum {
    MOST_ATOMS = 6,
    MOST_TIMES = 256, /* an atom in a sum */
    MOST_BITS = 52,   /* of an atom, and of the constant */
    MOST_FACTS = 4,   /* conditions around the index */
    MOST_STEPS = 800, /* of one proof */
    DEEPEST = 12
};

typedef struct sum {
    uint32_t n;
    ir_id atom[MOST_ATOMS];
    int64_t times[MOST_ATOMS];
    int64_t constant;
    bool lost; /* too large to say anything */
} sum;

typedef struct prover {
    const ir_program *p;
    const map64 *below;
    sum fact[MOST_FACTS]; /* not negative */
    uint32_t facts, steps;
} prover;

static const ir_id *operands(const prover *v, ir_id id)
{
    return ir_args(v->p, id);
}

static bool is_op(const prover *v, ir_id id, ir_op op)
{
    return ir_at(v->p, id)->kind == IR_OP && ir_at(v->p, id)->op == op;
}

static bool is_constant(const prover *v, ir_id id, int64_t *value)
{
    const ir_node *n = ir_at(v->p, id);
    return n->kind == IR_DIM ? ir_number_of(v->p, (uint32_t)n->u.literal, value) : ir_extent_constant(v->p, id, value);
}

static ir_id bound_of(const prover *v, ir_id id)
{
    return ir_at(v->p, id)->kind == IR_VAR ? map64_get(v->below, id) : 0;
}

/* --- how large --- */

static unsigned most(unsigned a, unsigned b)
{
    return a > b ? a : b;
}

static unsigned bits_of_constant(int64_t x)
{
    unsigned n = 0;
    for (uint64_t u = x < 0 ? (uint64_t)0 - (uint64_t)x : (uint64_t)x; u; u >>= 1)
        n++;
    return n;
}

/* The term's value is below 2 to this power, and above minus that; 64: nothing is known. */
static unsigned bits(prover *v, ir_id id, unsigned deep)
{
    const ir_node *n = ir_at(v->p, id);
    int64_t x;
    if (!deep || v->steps >= MOST_STEPS)
        return 64;
    v->steps++;
    deep--;
    if (is_constant(v, id, &x))
        return bits_of_constant(x);
    if (n->kind == IR_DIM)
        return 49;
    if (n->kind == IR_VAR)
        return bound_of(v, id) ? bits(v, bound_of(v, id), deep) : 64;
    if (n->kind == IR_COND)
        return most(bits(v, operands(v, id)[1], deep), bits(v, operands(v, id)[2], deep));
    if (n->kind != IR_OP || n->type != T_I64)
        return 64;
    const ir_id *arg = operands(v, id);
    unsigned a, b;
    switch ((ir_op)n->op) {
    case OP_CONVERT: {
        ir_type from = (ir_type)ir_at(v->p, arg[0])->type;
        return ir_type_float(from) || ir_type_bits(from) > 32 ? 64 : 33;
    }
    case OP_MIN:
    case OP_MAX:
        return most(bits(v, arg[0], deep), bits(v, arg[1], deep));
    case OP_ADD:
    case OP_SUB:
        a = most(bits(v, arg[0], deep), bits(v, arg[1], deep)) + 1;
        return a > 60 ? 64 : a;
    case OP_MUL:
        a = bits(v, arg[0], deep);
        b = bits(v, arg[1], deep);
        return a + b > 60 ? 64 : a + b;
    case OP_MOD:
    case OP_REM:
        return bits(v, arg[1], deep);
    case OP_QUOT:
    case OP_DIV:
        a = bits(v, arg[0], deep);
        return a > 60 ? 64 : a;
    default:
        return 64;
    }
}

/* --- sums --- */

static void add_constant(sum *s, int64_t x)
{
    s->lost |= bits_of_constant(x) > MOST_BITS;
    if (!s->lost)
        s->constant += x;
    s->lost |= bits_of_constant(s->constant) > MOST_BITS;
}

static void add_atom(prover *v, sum *s, ir_id atom, int64_t times)
{
    uint32_t k = 0;
    while (k < s->n && s->atom[k] != atom)
        k++;
    if (k == MOST_ATOMS || (k == s->n && bits(v, atom, DEEPEST) > MOST_BITS)) {
        s->lost = true;
        return;
    }
    if (k == s->n) {
        s->atom[s->n] = atom;
        s->times[s->n++] = 0;
    }
    s->times[k] += times;
    s->lost |= s->times[k] > MOST_TIMES || s->times[k] < -MOST_TIMES;
    if (!s->times[k]) {
        s->n--;
        s->atom[k] = s->atom[s->n];
        s->times[k] = s->times[s->n];
    }
}

static void add_term(prover *v, sum *s, ir_id id, int64_t times, unsigned deep)
{
    int64_t x;
    if (s->lost || !deep || v->steps++ >= MOST_STEPS || ir_at(v->p, id)->type != T_I64) {
        s->lost = true;
        return;
    }
    const ir_id *arg = operands(v, id);
    if (is_constant(v, id, &x)) {
        s->lost |= bits_of_constant(x) > MOST_BITS - 4;
        add_constant(s, s->lost ? 0 : x * times);
    } else if (is_op(v, id, OP_ADD) || is_op(v, id, OP_SUB)) {
        add_term(v, s, arg[0], times, deep - 1);
        add_term(v, s, arg[1], is_op(v, id, OP_ADD) ? times : -times, deep - 1);
    } else if (is_op(v, id, OP_MUL) && is_constant(v, arg[1], &x) && x >= -MOST_TIMES && x <= MOST_TIMES) {
        if (x * times > MOST_TIMES || x * times < -MOST_TIMES)
            s->lost = true;
        else if (x)
            add_term(v, s, arg[0], x * times, deep - 1);
    } else {
        add_atom(v, s, id, times);
    }
}

static sum sum_of(prover *v, ir_id id, int64_t times)
{
    sum s = {0};
    add_term(v, &s, id, times, DEEPEST);
    return s;
}

/* s + times * t */
static sum add_sums(prover *v, const sum *s, const sum *t, int64_t times)
{
    sum out = *s;
    out.lost |= t->lost;
    for (uint32_t k = 0; k < t->n && !out.lost; k++)
        add_atom(v, &out, t->atom[k], t->times[k] * times);
    if (!out.lost)
        add_constant(&out, t->constant * times);
    return out;
}

/* The sum with atom k replaced by a term and a number. */
static sum replace(prover *v, const sum *s, uint32_t k, ir_id term, int64_t more)
{
    sum out = *s;
    int64_t times = s->times[k];
    add_atom(v, &out, s->atom[k], -times);
    if (term)
        add_term(v, &out, term, times, DEEPEST);
    if (!out.lost)
        add_constant(&out, more * times);
    return out;
}

/* --- proofs --- */

static bool prove(prover *v, const sum *s, unsigned used, unsigned deep);

static bool not_negative(prover *v, ir_id id, int64_t least, unsigned deep)
{
    sum s = sum_of(v, id, 1);
    if (!s.lost)
        add_constant(&s, -least);
    return prove(v, &s, 0, deep);
}

/* Is an atom that is no sum itself surely 0 or more? */
static bool atom_not_negative(prover *v, ir_id id, unsigned deep)
{
    const ir_node *n = ir_at(v->p, id);
    if (n->kind == IR_DIM || bound_of(v, id))
        return true;
    if (n->kind != IR_OP || !deep || v->steps++ >= MOST_STEPS)
        return false;
    const ir_id *arg = operands(v, id);
    ir_type from = (ir_type)ir_at(v->p, arg[0])->type;
    switch ((ir_op)n->op) {
    case OP_CONVERT:
        return from == T_BOOL || from == T_CHAR || from == T_U8 || from == T_U16 || from == T_U32;
    case OP_MIN:
        return not_negative(v, arg[0], 0, deep - 1) && not_negative(v, arg[1], 0, deep - 1);
    case OP_MAX:
        return not_negative(v, arg[0], 0, deep - 1) || not_negative(v, arg[1], 0, deep - 1);
    case OP_MOD: /* has the sign of the divisor */
        return not_negative(v, arg[1], 1, deep - 1);
    case OP_REM:
        return not_negative(v, arg[0], 0, deep - 1);
    case OP_QUOT:
    case OP_DIV:
        return not_negative(v, arg[0], 0, deep - 1) && not_negative(v, arg[1], 0, deep - 1);
    default:
        return false;
    }
}

/* The sum with a quotient by a number, atom k, replaced by what it divides: x - (by - 1) <= by quot(x, by) <= x, if x
 * is not negative. A whole number s is not negative if by s + (by - 1) is not, of which all quotients are taken `by`
 * times. */
static bool without_quotient(prover *v, const sum *s, uint32_t k, unsigned used, unsigned deep)
{
    const ir_id id = s->atom[k], *arg = operands(v, id);
    const bool more = s->times[k] > 0;
    int64_t by;
    if (!is_constant(v, arg[1], &by) || by < 1 || by > MOST_TIMES ||
        !(is_op(v, id, OP_DIV) || not_negative(v, arg[0], 0, deep)))
        return false;
    sum all = *s;
    if (s->times[k] % by) {
        const sum none = {.constant = by - 1};
        all = add_sums(v, &none, s, by);
    }
    if (all.lost)
        return false;
    const int64_t times = all.times[k] / by;
    add_atom(v, &all, id, -all.times[k]);
    add_term(v, &all, arg[0], times, DEEPEST);
    if (!all.lost && more)
        add_constant(&all, -times * (by - 1));
    return prove(v, &all, used, deep);
}

/* Tries to get rid of atom k by what bounds it. */
static bool without(prover *v, const sum *s, uint32_t k, unsigned used, unsigned deep)
{
    ir_id id = s->atom[k];
    bool more = s->times[k] > 0;
    const ir_id *arg = operands(v, id);
    if (more && atom_not_negative(v, id, deep)) {
        sum dropped = replace(v, s, k, 0, 0);
        if (prove(v, &dropped, used, deep))
            return true;
    }
    if (!more && bound_of(v, id)) {
        sum last = replace(v, s, k, bound_of(v, id), -1);
        return prove(v, &last, used, deep);
    }
    if (is_op(v, id, OP_MIN) || is_op(v, id, OP_MAX)) {
        sum a = replace(v, s, k, arg[0], 0), b = replace(v, s, k, arg[1], 0);
        bool either = is_op(v, id, OP_MAX) == more;
        return either ? prove(v, &a, used, deep) || prove(v, &b, used, deep)
                      : prove(v, &a, used, deep) && prove(v, &b, used, deep);
    }
    if (!more && (is_op(v, id, OP_MOD) || is_op(v, id, OP_REM)) && not_negative(v, arg[1], 1, deep)) {
        sum last = replace(v, s, k, arg[1], -1);
        return prove(v, &last, used, deep);
    }
    return (is_op(v, id, OP_QUOT) || is_op(v, id, OP_DIV)) && without_quotient(v, s, k, used, deep);
}

/* Is the sum 0 or more? `used`: facts that were taken off it. */
static bool prove(prover *v, const sum *s, unsigned used, unsigned deep)
{
    if (s->lost || !deep || v->steps++ >= MOST_STEPS)
        return false;
    if (!s->n)
        return s->constant >= 0;
    for (uint32_t f = 0; f < v->facts; f++) {
        if (used & 1u << f)
            continue;
        sum rest = add_sums(v, s, &v->fact[f], -1);
        if (rest.n < s->n && prove(v, &rest, used | 1u << f, deep - 1))
            return true;
    }
    for (uint32_t k = 0; k < s->n; k++)
        if (without(v, s, k, used, deep - 1))
            return true;
    return false;
}

/* --- indices --- */

/* Is this variable below the extent by what is known of it, without any arithmetic? */
static bool own_index(const prover *v, ir_id id, ir_id extent, unsigned deep)
{
    ir_id bound = ir_at(v->p, id)->kind == IR_VAR ? bound_of(v, id) : id;
    if (!bound || bound == extent || !deep)
        return bound == extent && extent;
    if (!is_op(v, bound, OP_MIN))
        return false;
    const ir_id *arg = operands(v, bound);
    return own_index(v, arg[0], extent, deep - 1) || own_index(v, arg[1], extent, deep - 1);
}

/* (extent - 1) - x, whatever the extent is made of: it is no negative number. */
static bool mirrored(const prover *v, ir_id id, ir_id extent)
{
    int64_t x;
    if (!is_op(v, id, OP_SUB))
        return false;
    const ir_id *arg = operands(v, id);
    bool plus = is_op(v, arg[0], OP_ADD), minus = is_op(v, arg[0], OP_SUB);
    if (!(plus || minus) || ir_at(v->p, arg[1])->kind != IR_VAR)
        return false;
    const ir_id *last = operands(v, arg[0]);
    return last[0] == extent && is_constant(v, last[1], &x) && x == (plus ? -1 : 1) &&
           own_index(v, arg[1], extent, DEEPEST);
}

/* Remembers a condition, or that it does not hold. */
static void assume(prover *v, ir_id condition, bool holds)
{
    const ir_node *n = ir_at(v->p, condition);
    if (n->kind != IR_OP || v->facts == MOST_FACTS || ir_at(v->p, operands(v, condition)[0])->type != T_I64)
        return;
    bool less = n->op == OP_LT || n->op == OP_LE, greater = n->op == OP_GT || n->op == OP_GE;
    if (!less && !greater)
        return;
    bool strict = n->op == OP_LT || n->op == OP_GT;
    const ir_id *arg = operands(v, condition);
    ir_id small = less == holds ? arg[0] : arg[1], large = less == holds ? arg[1] : arg[0];
    sum low = sum_of(v, small, 1), high = sum_of(v, large, 1), fact = add_sums(v, &high, &low, -1);
    if (strict == holds && !fact.lost)
        add_constant(&fact, -1);
    if (!fact.lost)
        v->fact[v->facts++] = fact;
}

static bool inside(prover *v, ir_id id, ir_id extent, unsigned deep)
{
    if (!deep || ir_at(v->p, id)->type != T_I64)
        return false;
    if ((ir_at(v->p, id)->kind == IR_VAR && own_index(v, id, extent, DEEPEST)) || mirrored(v, id, extent))
        return true;
    if (ir_at(v->p, id)->kind == IR_COND) {
        const ir_id *arg = operands(v, id);
        uint32_t facts = v->facts;
        assume(v, arg[0], true);
        bool good = inside(v, arg[1], extent, deep - 1);
        v->facts = facts;
        assume(v, arg[0], false);
        good = good && inside(v, arg[2], extent, deep - 1);
        v->facts = facts;
        return good;
    }
    v->steps = 0;
    sum low = sum_of(v, id, 1), all = sum_of(v, extent, 1), high = add_sums(v, &all, &low, -1);
    if (!high.lost)
        add_constant(&high, -1);
    if (!prove(v, &low, 0, DEEPEST))
        return false;
    v->steps = 0;
    return prove(v, &high, 0, DEEPEST);
}

bool ir_surely_inside(const ir_program *p, const map64 *below, ir_id index, ir_id extent)
{
    prover v = {.p = p, .below = below};
    return index && extent && inside(&v, index, extent, 4);
}

bool ir_read_surely_inside(const ir_program *p, const map64 *below, const ir_node *read)
{
    return ir_read_surely_inside_of(p, below, 0, NULL, read);
}

bool ir_read_surely_inside_of(const ir_program *p, const map64 *below, unsigned rank, const ir_id *extent,
                              const ir_node *read)
{
    bool all = !(read->flags & IR_LINEAR);
    prover v = {.p = p, .below = below};
    for (unsigned d = 0; d < rank && v.facts < MOST_FACTS; d++) {
        sum some = sum_of(&v, extent[d], 1);
        if (some.lost || !some.n)
            continue;
        add_constant(&some, -1);
        v.fact[v.facts++] = some;
    }
    for (uint32_t d = 0; d < read->n && all; d++)
        all = inside(&v, p->arg.at[read->args + d], ir_info(p, read->array)->shape[d], 4);
    return all;
}
