/* Bounds of index arithmetic by its text: own indices, clamps, remainders, mirrored positions, narrow types. Extents
 * are not negative, and far from the largest number, so that one less, or a constant more, does not wrap. */
#include "skeleton/element/bounds.h"

#include "ir/inside.h"

enum { DEEP = 6 };

typedef struct prover {
    const ir_program *p;
    const sk_facts *facts;
} prover;

static uint64_t fact(ir_id term, ir_id extent)
{
    return (uint64_t)term << 32 | extent;
}

/* What has quotients by a number that are not 0 is not 0 itself. */
static ir_id divided_by_number(const ir_program *p, ir_id extent)
{
    const ir_node *n = ir_at(p, extent);
    int64_t by;
    const bool divides = n->kind == IR_OP && (n->op == OP_QUOT || n->op == OP_DIV) &&
                         ir_extent_constant(p, ir_args(p, extent)[1], &by) && by > 0;
    return divides && ir_at(p, ir_args(p, extent)[0])->kind == IR_DIM ? ir_args(p, extent)[0] : 0;
}

void sk_note_inside(const ir_program *p, sk_facts *f, arena *a, ir_id term, ir_id extent)
{
    const ir_id whole = divided_by_number(p, extent);
    if (whole)
        map64_put(a, &f->inside, fact(0, whole), 1);
    map64_put(a, &f->inside, fact(term, extent), 1);
    map64_put(a, &f->inside, fact(term, 0), 1);
    map64_put(a, &f->inside, fact(0, extent), 1); /* something is inside, so 0 is */
    if (!map64_get(&f->below, term))
        map64_put(a, &f->below, term, extent);
}

static bool is_constant(const prover *v, ir_id term, int64_t *out)
{
    const ir_node *n = ir_at(v->p, term);
    if (n->kind != IR_CONST || n->type != T_I64)
        return false;
    *out = ir_i64_bits(T_I64, n->u.literal);
    return true;
}

/* A closed term and what is added to it, if it is an extent of the program's, one more or a few less. */
static bool split(const prover *v, ir_id term, ir_id *base, int64_t *more)
{
    const ir_node *n = ir_at(v->p, term);
    *base = term;
    *more = 0;
    if (n->kind != IR_OP || n->op != OP_ADD || !is_constant(v, ir_args(v->p, term)[1], more))
        return n->kind == IR_DIM;
    *base = ir_args(v->p, term)[0];
    return ir_at(v->p, *base)->kind == IR_DIM && *more > INT32_MIN && *more < INT32_MAX;
}

/* Is a closed term surely smaller than the extent? */
static bool closed_below(const prover *v, ir_id term, ir_id extent)
{
    ir_id base[2];
    int64_t x, y;
    if (is_constant(v, term, &x) && is_constant(v, extent, &y))
        return x < y;
    if (is_constant(v, term, &x) && x == 0 && map64_get(&v->facts->inside, fact(0, extent)))
        return true;
    const ir_node *n = ir_at(v->p, term);
    if (n->kind == IR_OP && n->op == OP_ADD && ir_args(v->p, term)[0] == extent &&
        is_constant(v, ir_args(v->p, term)[1], &x))
        return x < 0;
    return split(v, term, &base[0], &x) && split(v, extent, &base[1], &y) && base[0] == base[1] && x < y;
}

/* Every value of the operand's type is one of i64. */
static bool narrow(const prover *v, ir_id term, ir_type *type)
{
    const ir_node *n = ir_at(v->p, term);
    if (n->kind != IR_OP || n->op != OP_CONVERT)
        return false;
    *type = (ir_type)ir_at(v->p, ir_args(v->p, term)[0])->type;
    return *type == T_BOOL || *type == T_CHAR || *type == T_U8 || *type == T_U16 || *type == T_U32;
}

/* One less than an extent that something is inside of. */
static bool is_last(const prover *v, ir_id term)
{
    const ir_node *n = ir_at(v->p, term);
    int64_t more;
    return n->kind == IR_OP && n->op == OP_ADD && is_constant(v, ir_args(v->p, term)[1], &more) && more == -1 &&
           map64_get(&v->facts->inside, fact(0, ir_args(v->p, term)[0]));
}

static bool at_least_0(const prover *v, ir_id term, unsigned deep)
{
    const ir_node *n = ir_at(v->p, term);
    const ir_id *arg = n->kind == IR_OP || n->kind == IR_COND ? ir_args(v->p, term) : NULL;
    int64_t x;
    ir_type t;
    if (is_constant(v, term, &x))
        return x >= 0;
    if (n->kind == IR_DIM || n->kind == IR_WITHIN || map64_get(&v->facts->inside, fact(term, 0)) ||
        narrow(v, term, &t) || is_last(v, term))
        return true;
    if (!arg || !deep)
        return false;
    if (n->kind == IR_COND)
        return at_least_0(v, arg[1], deep - 1) && at_least_0(v, arg[2], deep - 1);
    switch ((ir_op)n->op) {
    case OP_MIN:
    case OP_QUOT:
    case OP_DIV:
        return at_least_0(v, arg[0], deep - 1) && at_least_0(v, arg[1], deep - 1);
    case OP_MAX:
    case OP_BIT_AND:
        return at_least_0(v, arg[0], deep - 1) || at_least_0(v, arg[1], deep - 1);
    case OP_REM:
        return at_least_0(v, arg[0], deep - 1);
    case OP_ADD: /* a little more than what is inside of something */
        return map64_get(&v->facts->inside, fact(arg[0], 0)) && is_constant(v, arg[1], &x) && x >= 0 && x < INT32_MAX;
    case OP_MOD: /* has the sign of the divisor */
        return at_least_0(v, arg[1], deep - 1);
    default:
        return false;
    }
}

static bool is_below(const prover *v, ir_id term, ir_id extent, unsigned deep);

/* (extent - 1) - x, for an x inside the extent. */
static bool mirrors(const prover *v, ir_id term, ir_id extent, unsigned deep)
{
    const ir_node *n = ir_at(v->p, term);
    if (n->kind != IR_OP || n->op != OP_SUB)
        return false;
    const ir_id *arg = ir_args(v->p, term);
    const ir_node *last = ir_at(v->p, arg[0]);
    int64_t x, y;
    bool is_last = is_constant(v, arg[0], &x) && is_constant(v, extent, &y) && x == y - 1;
    is_last |= last->kind == IR_OP && last->op == OP_ADD && ir_args(v->p, arg[0])[0] == extent &&
               is_constant(v, ir_args(v->p, arg[0])[1], &x) && x == -1;
    return is_last && at_least_0(v, arg[1], deep) && is_below(v, arg[1], extent, deep);
}

static bool is_below(const prover *v, ir_id term, ir_id extent, unsigned deep)
{
    const ir_node *n = ir_at(v->p, term);
    const ir_id *arg = n->kind == IR_OP || n->kind == IR_COND ? ir_args(v->p, term) : NULL;
    int64_t x, y;
    ir_type t;
    if (map64_get(&v->facts->inside, fact(term, extent)) || closed_below(v, term, extent))
        return true;
    if (n->kind == IR_WITHIN && ir_within_dimension(n) != IR_WHOLE)
        return ir_info(v->p, n->array)->shape[ir_within_dimension(n)] == extent;
    if (narrow(v, term, &t) && is_constant(v, extent, &x))
        return x > (int64_t)(UINT64_MAX >> (64 - (t == T_BOOL ? 1 : ir_type_bits(t))));
    if (!arg || !deep)
        return false;
    deep--;
    if (n->kind == IR_COND)
        return is_below(v, arg[1], extent, deep) && is_below(v, arg[2], extent, deep);
    switch ((ir_op)n->op) {
    case OP_MIN:
        return is_below(v, arg[0], extent, deep) || is_below(v, arg[1], extent, deep);
    case OP_MAX:
        return is_below(v, arg[0], extent, deep) && is_below(v, arg[1], extent, deep);
    case OP_ADD: /* less than what is inside */
        return is_constant(v, arg[1], &x) && x <= 0 && at_least_0(v, arg[0], deep) && is_below(v, arg[0], extent, deep);
    case OP_MOD:
    case OP_REM: /* by 0 there is no value */
        return arg[1] == extent || (is_constant(v, arg[1], &x) && is_constant(v, extent, &y) && x > 0 && x <= y);
    case OP_BIT_AND:
        return is_constant(v, arg[1], &x) && x >= 0 && closed_below(v, arg[1], extent);
    case OP_QUOT:
    case OP_DIV:
        return is_constant(v, arg[1], &x) && x > 0 && at_least_0(v, arg[0], deep) && is_below(v, arg[0], extent, deep);
    default:
        return mirrors(v, term, extent, deep);
    }
}

static bool inside(const prover *v, ir_id term, ir_id extent)
{
    return mirrors(v, term, extent, DEEP) || (at_least_0(v, term, DEEP) && is_below(v, term, extent, DEEP));
}

bool sk_surely_inside(const ir_program *p, const sk_facts *f, ir_id term, ir_id extent)
{
    enum { MOST_CHECKS = 64 };
    const prover v = {p, f};
    bool sure = inside(&v, term, extent) || ir_surely_inside(p, &f->below, term, extent);
    for (uint32_t i = 0; i < p->check.n && i < MOST_CHECKS && !sure; i++) {
        const ir_check *c = &p->check.at[i];
        sure = (c->left == extent && inside(&v, term, c->right)) || (c->right == extent && inside(&v, term, c->left));
    }
    return sure;
}
