/* Powers with a constant exponent: products, square roots, quotients, where these are as accurate as the function. The
 * program itself holds them, so every device and the interpreter compute the same bits. */
#include "embed/value.h"

#include <math.h>

enum { MOST = 8 }; /* the largest integer n for which x^n of every f32 is an f64 */

typedef struct power {
    const op *o;
    ir_type type;
    ir_id x;
} power;

static ir_id real(const power *w, double v)
{
    return ir_const(w->o->p, w->type, w->type == T_F32 ? ir_bits_f32((float)v) : ir_bits_f64(v));
}

static ir_id op1(const power *w, ir_op which, ir_id a)
{
    return ir_op1(w->o->p, w->o->site, which, a);
}

static ir_id op2(const power *w, ir_op which, ir_id a, ir_id b)
{
    return ir_op2(w->o->p, w->o->site, which, a, b);
}

/* x^0.5: unlike sqrt, 0 of -0 and infinity of -infinity (C17 F.10.4.4) */
static ir_id root(const power *w)
{
    ir_id r = op1(w, OP_SQRT, op2(w, OP_ADD, w->x, real(w, 0)));
    ir_id least = op2(w, OP_EQ, w->x, real(w, -INFINITY));
    return ir_cond(w->o->p, w->o->site, least, real(w, INFINITY), r);
}

static ir_id reciprocal(const power *w, ir_id a)
{
    return op2(w, OP_DIV, real(w, 1), a);
}

/* n > 0; x * x * x for 3 */
static ir_id product(const power *w, unsigned n)
{
    ir_id out = 0;
    for (ir_id square = w->x;; square = op2(w, OP_MUL, square, square)) {
        if (n & 1)
            out = out ? op2(w, OP_MUL, square, out) : square;
        n >>= 1;
        if (!n)
            return out;
    }
}

/* The exponents for which at most three operations are rounded: a product of two factors, each half a unit in the last
 * place off, is at most two off. None of the steps overflows or underflows where the result does not. 0: another. */
static ir_id in_few_steps(const power *w, double y)
{
    if (y == 1 || y == 2 || y == 3 || y == 4)
        return product(w, (unsigned)y);
    if (y == 0.5)
        return root(w);
    if (y == 1.5) /* the root is not a number where x < 0 */
        return op2(w, OP_MUL, op1(w, OP_ABS, w->x), root(w));
    if (y == 2.5)
        return op2(w, OP_MUL, product(w, 2), root(w));
    if (y == -0.5)
        return reciprocal(w, root(w));
    if (y == -1 || y == -2) {
        power inverse = {w->o, w->type, reciprocal(w, w->x)};
        return product(&inverse, (unsigned)-y);
    }
    return 0;
}

/* All steps in f64, and one rounding to f32. */
static ir_id in_double(const power *w, double y)
{
    const op *o = w->o;
    power wide = {o, T_F64, ir_convert(o->p, o->site, OP_CONVERT, T_F64, w->x)};
    ir_id out = product(&wide, (unsigned)fabs(y));
    return ir_convert(o->p, o->site, OP_CONVERT, T_F32, y < 0 ? reciprocal(&wide, out) : out);
}

ir_id embed_power(const op *o, ir_id x, ir_id y)
{
    const ir_node *n = ir_at(o->p, y);
    power w = {o, (ir_type)n->type, x};
    ir_id out = 0;
    if (n->kind == IR_CONST && ir_at(o->p, x)->type == n->type && ir_type_float(w.type)) {
        double c = w.type == T_F32 ? (double)ir_f32_bits(n->u.literal) : ir_f64_bits(n->u.literal);
        out = in_few_steps(&w, c);
        if (!out && w.type == T_F32 && fabs(c) <= MOST && c == floor(c) && c != 0)
            out = in_double(&w, c);
    }
    return out ? out : ir_op2(o->p, o->site, OP_POW, x, y);
}
