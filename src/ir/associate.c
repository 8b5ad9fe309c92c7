/* Operators that visibly do not associate: f(f(a, b), c) is another term than f(a, f(b, c)).
 *
 * Looked at is each component of the result that depends on nothing but the same component of the two parameters, l and
 * r. It does not associate if it is
 * - linear, x l + y r + z with x or y neither 0 nor 1 (a difference, a mean, Horner's rule), or with x != y and z other
 *   than 0 (counting the calls),
 * - a division, a power, a shift or the like of just l and r, in any order.
 * Conversions are passed over, so a function may be associative all the same where they lose something, or where a
 * factor that is not known here happens to be 1. What this calls associative may be anything. */
#include "ir/term.h"
#include <math.h>

typedef enum { CLOSED, LINEAR, OTHER } form_kind;

typedef struct form {
    form_kind kind;
    double left, right; /* LINEAR: the factors x and y; NaN: not known */
    bool rest;          /* LINEAR: z, which is not 0 */
    double value;       /* CLOSED: NaN if it is no constant */
} form;

typedef struct looking {
    ir_program *p;
    ir_id left, right;
    uint32_t n;
    ir_id *term; /* ascending */
    form *form;  /* of each */
} looking;

static const form other = {.kind = OTHER};

static form closed(double value)
{
    return (form){.kind = CLOSED, .value = value};
}

static form form_of(const looking *l, ir_id id)
{
    uint32_t low = 0, high = l->n;
    while (low + 1 < high) {
        uint32_t middle = (low + high) / 2;
        if (l->term[middle] <= id)
            low = middle;
        else
            high = middle;
    }
    return l->form[low];
}

static double times(double a, double b)
{
    return a == 0 || b == 0 ? 0 : a * b;
}

static form scaled(form f, double by)
{
    if (f.kind == CLOSED)
        return closed(times(f.value, by));
    f.left = times(f.left, by);
    f.right = times(f.right, by);
    f.rest = f.rest && by != 0;
    return f;
}

static form sum(form a, form b)
{
    if (a.kind == OTHER || b.kind == OTHER)
        return other;
    if (a.kind == CLOSED && b.kind == CLOSED)
        return closed(a.value + b.value);
    if (a.kind == CLOSED)
        return sum(b, a);
    if (b.kind == CLOSED) {
        a.rest = a.rest || b.value != 0;
        return a;
    }
    return (form){.kind = LINEAR, .left = a.left + b.left, .right = a.right + b.right, .rest = a.rest || b.rest};
}

static form product(form a, form b)
{
    if (a.kind == CLOSED)
        return b.kind == OTHER ? other : scaled(b, a.value);
    return b.kind == CLOSED && a.kind == LINEAR ? scaled(a, b.value) : other;
}

static form quotient(form a, form b)
{
    return a.kind != OTHER && b.kind == CLOSED ? scaled(a, 1 / b.value) : other;
}

static form of_op(const looking *l, const ir_node *n, const ir_id *arg)
{
    form a = form_of(l, arg[0]), b = n->n > 1 ? form_of(l, arg[1]) : other;
    switch ((ir_op)n->op) {
    case OP_ADD:
        return sum(a, b);
    case OP_SUB:
        return b.kind == OTHER ? other : sum(a, scaled(b, -1));
    case OP_NEG:
        return a.kind == OTHER ? other : scaled(a, -1);
    case OP_MUL:
        return product(a, b);
    case OP_DIV:
    case OP_QUOT:
        return quotient(a, b);
    case OP_SHL:
        return a.kind != OTHER && b.kind == CLOSED ? scaled(a, exp2(b.value)) : other;
    case OP_FMA:
        return sum(product(a, b), form_of(l, arg[2]));
    case OP_CONVERT:
        return a;
    default:
        return other;
    }
}

static double number(const ir_node *n)
{
    ir_type t = (ir_type)n->type;
    return t == T_F32   ? (double)ir_f32_bits(n->u.literal)
           : t == T_F64 ? ir_f64_bits(n->u.literal)
                        : (double)ir_i64_bits(t, n->u.literal);
}

static form look(const looking *l, ir_id id)
{
    const ir_node *n = ir_at(l->p, id);
    if (id == l->left || id == l->right)
        return (form){.kind = LINEAR, .left = id == l->left, .right = id == l->right};
    if (n->kind == IR_CONST)
        return closed(number(n));
    if (!n->scope && n->kind != IR_LOOP)
        return closed(NAN);
    return n->kind == IR_OP ? of_op(l, n, ir_args(l->p, id)) : other;
}

static bool is_0_or_1(double x)
{
    return x == 0 || x == 1;
}

static bool linear_associates(form f)
{
    return is_0_or_1(f.left) && is_0_or_1(f.right) && (f.left == f.right || !f.rest);
}

static ir_id unconverted(const ir_program *p, ir_id id)
{
    const ir_node *n = ir_at(p, id);
    while (n->kind == IR_OP && n->op == OP_CONVERT) {
        id = ir_args(p, id)[0];
        n = ir_at(p, id);
    }
    return id;
}

/* None of these associates. */
static bool is_one_sided(ir_op op)
{
    switch (op) {
    case OP_DIV:
    case OP_MOD:
    case OP_QUOT:
    case OP_REM:
    case OP_SHL:
    case OP_SHR:
    case OP_ROTL:
    case OP_ROTR:
    case OP_LT:
    case OP_LE:
    case OP_GT:
    case OP_GE:
    case OP_ATAN2:
    case OP_POW:
        return true;
    default:
        return false;
    }
}

static const char *why_not(ir_program *p, ir_id left, ir_id right, ir_id result)
{
    ir_id top = unconverted(p, result);
    const ir_node *n = ir_at(p, top);
    if (n->kind == IR_OP && n->n == 2 && is_one_sided((ir_op)n->op)) {
        ir_id a = unconverted(p, ir_args(p, top)[0]), b = unconverted(p, ir_args(p, top)[1]);
        if ((a == left && b == right) || (a == right && b == left))
            return ir_ops[n->op].name;
    }
    looking l = {.p = p, .left = left, .right = right};
    l.n = ir_terms(p, p->arena, 1, &result, &l.term);
    l.form = arena_array(p->arena, *l.form, l.n);
    for (uint32_t i = 0; i < l.n; i++)
        l.form[i] = look(&l, l.term[i]);
    form f = l.form[l.n - 1];
    if (f.kind != LINEAR || linear_associates(f))
        return NULL;
    if (f.left != 0 && f.right != 0)
        return f.left == -f.right ? "sub" : "a weighted sum";
    return "a function of one parameter";
}

const char *ir_visibly_not_associative(ir_program *p, const ir_fn *fn, uint32_t *component)
{
    uint32_t k = fn->results;
    for (*component = 0; fn->params == 2 * k && *component < k; ++*component) {
        const char *why = why_not(p, fn->param[*component], fn->param[k + *component], fn->result[*component]);
        if (why)
            return why;
    }
    return NULL;
}
