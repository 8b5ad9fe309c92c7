/* Builders of operators and conditions: type checks, then the algebra that holds always. No rule changes a NaN, a
 * signed zero or an error: rules that drop an operand ask that it cannot fail, rules on floats are exact for every
 * value. */
#include "ir/intern.h"

typedef struct operand {
    ir_id id;
    const ir_node *node;
    ir_type type;
    bool is_const;
    ir_bits bits;  /* of a constant */
    int64_t value; /* of a constant that is no float */
} operand;

static operand look(const ir_program *p, ir_id id)
{
    const ir_node *n = ir_at(p, id);
    operand o = {.id = id, .node = n, .type = (ir_type)n->type, .is_const = n->kind == IR_CONST};
    if (o.is_const) {
        o.bits = n->u.literal;
        o.value = ir_i64_bits(o.type, o.bits);
    }
    return o;
}

static operand argument(const ir_program *p, const operand *o, uint32_t k)
{
    return look(p, p->arg.at[o->node->args + k]);
}

static bool is_op(const operand *o, ir_op op)
{
    return o->node->kind == IR_OP && o->node->op == op;
}

static bool is_float(const operand *o)
{
    return ir_type_float(o->type);
}

static bool is_int(const operand *o)
{
    return ir_type_class(o->type) == CLASS_INT;
}

static bool is_value(const operand *o, int64_t v) /* of an integer or bool */
{
    return o->is_const && !is_float(o) && o->bits == ir_bits_i64(o->type, v);
}

static bool is_real(const operand *o, double v) /* tells +0 from -0 */
{
    if (!o->is_const || !is_float(o))
        return false;
    return o->bits == (o->type == T_F32 ? ir_bits_f32((float)v) : ir_bits_f64(v));
}

static bool is_one(const operand *o)
{
    return is_value(o, 1) || is_real(o, 1);
}

static ir_id raw(ir_program *p, uint32_t site, ir_op op, ir_type type, uint32_t n, const ir_id *args)
{
    ir_node key = {.kind = IR_OP, .type = (uint8_t)type, .op = (uint8_t)op};
    return ir_intern(p, site, &key, n, args);
}

static ir_id integer(ir_program *p, ir_type t, int64_t v)
{
    return ir_const(p, t, ir_bits_i64(t, v));
}

/* The operator on constants; 0 if one is no constant or it fails. */
static ir_id fold_constants(ir_program *p, ir_op op, ir_type result, uint32_t n, const operand *o)
{
    ir_bits in[3], out;
    for (uint32_t i = 0; i < n; i++) {
        if (!o[i].is_const || ir_ops[op].flags & OP_TRACES)
            return 0;
        in[i] = o[i].bits;
    }
    return ir_op_apply(op, o[0].type, result, in, &out) ? ir_const(p, result, out) : 0;
}

/* What to do with an operand of a type that the operator is not defined on. */
static const char *advice(const ir_op_row *row)
{
    switch (row->classes) {
    case CLASS_FLOAT:
        return "convert with sn_to_f32 or sn_to_f64";
    case CLASS_INT:
        return "convert to an integer, as with sn_to_i32";
    case CLASS_NUM:
        return "convert to a number, as with sn_to_i32";
    case CLASS_BOOL:
        return "compare it, as in sn_ne(x, 0)";
    default:
        return "convert it";
    }
}

static bool well_typed(ir_program *p, uint32_t site, ir_op op, uint32_t n, const ir_id *args, ir_type *result)
{
    if (op <= OP_NONE || op >= OP_COUNT)
        return ir_fail(p, site, "unknown operator; ir/ops.def lists them");
    const ir_op_row *row = &ir_ops[op];
    for (uint32_t i = 0; i < n; i++)
        if (!args[i])
            return false;
    if (row->arity != n)
        return ir_fail(p, site, "%s: takes %u operands, not %u", row->name, (unsigned)row->arity, n);
    for (uint32_t i = 0; i < n; i++)
        if (!ir_expect_scalar(p, site, row->name, args[i]))
            return false;
    ir_type t = (ir_type)ir_at(p, args[0])->type;
    for (uint32_t i = 1; i < n; i++) {
        ir_type other = (ir_type)ir_at(p, args[i])->type;
        if (other != t)
            return ir_fail(p, site, "%s: the operands have different types: %s and %s; convert one", row->name,
                           ir_type_name(t), ir_type_name(other));
    }
    ir_type wanted = *result;
    *result = ir_op_result(op, t, wanted);
    if (*result != T_NONE)
        return true;
    if (row->signature == SIGNATURE_CONVERT)
        return ir_fail(p, site, "%s: no %s can be made from %s; %s", row->name, ir_type_name(wanted), ir_type_name(t),
                       op == OP_BITCAST ? "bits go between types of one width" : "convert to another type");
    return ir_fail(p, site, "%s: not defined on %s; %s", row->name, ir_type_name(t), advice(row));
}

ir_id ir_op_plain(ir_program *p, uint32_t site, ir_op op, ir_type to, uint32_t n, const ir_id *args)
{
    ir_type result = to;
    return well_typed(p, site, op, n, args, &result) ? raw(p, site, op, result, n, args) : 0;
}

/* --- one operand --- */

static ir_id negate_test(ir_program *p, uint32_t site, const operand *a)
{
    static const uint8_t opposite[][2] = {{OP_EQ, OP_NE}, {OP_LT, OP_GE}, {OP_GT, OP_LE}};
    if (a->node->kind != IR_OP)
        return 0;
    bool exact = !ir_type_float((ir_type)ir_at(p, p->arg.at[a->node->args])->type);
    for (size_t i = 0; i < ARRAY_LENGTH(opposite); i++) {
        if (i > 0 && !exact) /* a NaN makes both lt and ge false */
            break;
        for (unsigned side = 0; side < 2; side++)
            if (a->node->op == opposite[i][side]) {
                ir_id args[2] = {p->arg.at[a->node->args], p->arg.at[a->node->args + 1]};
                return ir_op2(p, site, (ir_op)opposite[i][1 - side], args[0], args[1]);
            }
    }
    return 0;
}

static ir_id simplify1(ir_program *p, uint32_t site, ir_op op, const operand *a)
{
    bool self_inverse = op == OP_NEG || op == OP_BIT_NOT || op == OP_NOT;
    if (self_inverse && is_op(a, op))
        return p->arg.at[a->node->args];
    bool is_rounding = op == OP_FLOOR || op == OP_CEIL || op == OP_TRUNC || op == OP_ROUND || op == OP_RINT;
    bool is_whole =
        is_op(a, OP_FLOOR) || is_op(a, OP_CEIL) || is_op(a, OP_TRUNC) || is_op(a, OP_ROUND) || is_op(a, OP_RINT);
    if (is_rounding && is_whole)
        return a->id;
    if (op == OP_ABS && (is_op(a, OP_ABS) || (is_int(a) && !ir_type_signed(a->type))))
        return a->id;
    if (op == OP_ABS && is_op(a, OP_NEG))
        return ir_op1(p, site, OP_ABS, p->arg.at[a->node->args]);
    if (op == OP_NOT)
        return negate_test(p, site, a);
    return 0;
}

ir_id ir_op1(ir_program *p, uint32_t site, ir_op op, ir_id a)
{
    ir_type result = T_NONE;
    if (!well_typed(p, site, op, 1, &a, &result))
        return 0;
    if (p->plain)
        return raw(p, site, op, result, 1, &a);
    operand o = look(p, a);
    ir_id id = fold_constants(p, op, result, 1, &o);
    if (!id)
        id = simplify1(p, site, op, &o);
    return id ? id : raw(p, site, op, result, 1, &a);
}

/* Does every value of `from` stand for itself in `to`? */
static bool keeps_value(ir_type from, ir_type to)
{
    if (from == to || from == T_BOOL)
        return true;
    if (ir_type_float(from))
        return from == T_F32 && to == T_F64;
    unsigned bits = ir_type_bits(from);
    if (ir_type_float(to))
        return bits < (to == T_F32 ? 25u : 54u);
    if (to == T_BOOL)
        return false;
    if (ir_type_signed(from))
        return ir_type_signed(to) && bits <= ir_type_bits(to);
    return bits + (ir_type_signed(to) ? 1 : 0) <= ir_type_bits(to);
}

/* from -> middle -> to is the same as from -> to */
static bool conversion_skips(ir_type from, ir_type middle, ir_type to)
{
    bool clamps = ir_type_float(middle) && !ir_type_float(from) && !ir_type_float(to) && to != T_BOOL;
    if (keeps_value(from, middle)) /* out of range, a float is clamped where an integer wraps */
        return !clamps || keeps_value(from, to);
    bool whole = !ir_type_float(from) && !ir_type_float(middle) && !ir_type_float(to);
    return whole && middle != T_BOOL && to != T_BOOL && ir_type_bits(to) <= ir_type_bits(middle);
}

ir_id ir_convert(ir_program *p, uint32_t site, ir_op op, ir_type to, ir_id a)
{
    ir_type result = to;
    if (op != OP_CONVERT && op != OP_BITCAST)
        return ir_fail(p, site, "%s is no conversion; convert and bitcast are", op < OP_COUNT ? ir_ops[op].name : "?");
    if (!well_typed(p, site, op, 1, &a, &result))
        return 0;
    operand o = look(p, a);
    if (o.type == to)
        return a;
    if (p->plain)
        return raw(p, site, op, result, 1, &a);
    ir_id id = fold_constants(p, op, to, 1, &o);
    if (id)
        return id;
    if (is_op(&o, op)) {
        operand inner = argument(p, &o, 0);
        if (op == OP_BITCAST || conversion_skips(inner.type, o.type, to))
            return ir_convert(p, site, op, to, inner.id);
    }
    return raw(p, site, op, result, 1, &a);
}

/* --- two operands --- */

static bool exact_algebra(ir_op op, const operand *a) /* associative, bit for bit, on this type */
{
    return (ir_ops[op].flags & OP_ASSOCIATES) && (!is_float(a) || (ir_ops[op].flags & OP_FASSOC));
}

/* (x op c) op d -> x op (c op d) */
static ir_id join_constants(ir_program *p, uint32_t site, ir_op op, const operand *a, const operand *b)
{
    if (!b->is_const || !is_op(a, op) || !exact_algebra(op, a))
        return 0;
    operand inner = argument(p, a, 1);
    if (!inner.is_const)
        return 0;
    return ir_op2(p, site, op, p->arg.at[a->node->args], ir_op2(p, site, op, inner.id, b->id));
}

/* x op x */
static ir_id same_operands(ir_program *p, ir_op op, const operand *a)
{
    switch (op) {
    case OP_MIN:
    case OP_MAX:
    case OP_BIT_AND:
    case OP_BIT_OR:
    case OP_AND:
    case OP_OR:
        return a->id;
    case OP_SUB:
    case OP_BIT_XOR:
        return a->node->partial || is_float(a) ? 0 : integer(p, a->type, 0);
    case OP_LT:
    case OP_GT:
        return a->node->partial ? 0 : ir_bool(p, false);
    case OP_EQ:
    case OP_LE:
    case OP_GE:
        return a->node->partial || is_float(a) ? 0 : ir_bool(p, true);
    case OP_NE:
        return a->node->partial || is_float(a) ? 0 : ir_bool(p, false);
    default:
        return 0;
    }
}

/* A constant on the right that changes nothing. */
static bool is_neutral(ir_op op, const operand *b)
{
    switch (op) {
    case OP_ADD:
        return is_value(b, 0) || is_real(b, -0.0);
    case OP_SUB:
        return is_value(b, 0) || is_real(b, 0.0);
    case OP_MUL:
    case OP_DIV:
    case OP_QUOT:
        return is_one(b);
    case OP_BIT_OR:
    case OP_BIT_XOR:
    case OP_SHL:
    case OP_SHR:
    case OP_ROTL:
    case OP_ROTR:
    case OP_OR:
    case OP_NE:
        return is_value(b, 0) && (op != OP_NE || b->type == T_BOOL);
    case OP_BIT_AND:
    case OP_AND:
        return is_value(b, -1);
    case OP_EQ:
        return b->type == T_BOOL && is_value(b, 1);
    default:
        return false;
    }
}

/* A constant on the right that decides the result, which goes to *out. */
static bool is_absorbing(ir_op op, const operand *b, int64_t *out)
{
    bool is_least = !ir_type_signed(b->type) && is_value(b, 0);
    *out = 0;
    switch (op) {
    case OP_MUL:
    case OP_BIT_AND:
    case OP_AND:
        return is_value(b, 0);
    case OP_BIT_OR:
    case OP_OR:
        *out = -1;
        return is_value(b, -1);
    case OP_MOD:
    case OP_REM:
        return is_value(b, 1);
    case OP_LT:
        return is_least;
    case OP_GE:
        *out = 1;
        return is_least;
    case OP_SHL:
        return b->is_const && (uint64_t)b->bits >= ir_type_bits(b->type);
    case OP_SHR:
        return b->is_const && !ir_type_signed(b->type) && (uint64_t)b->bits >= ir_type_bits(b->type);
    default:
        return false;
    }
}

/* x / c -> x * (1 / c) where 1 / c is exact and normal: both round the same real number */
static ir_id divide_by_power(ir_program *p, uint32_t site, const operand *a, const operand *b)
{
    if (!b->is_const || !is_float(b))
        return 0;
    bool is_f32 = b->type == T_F32;
    unsigned fraction = is_f32 ? 23 : 52, top = is_f32 ? 255 : 2047;
    uint64_t exponent = (b->bits >> fraction) & top;
    if ((b->bits & (((uint64_t)1 << fraction) - 1)) || exponent < 2 || exponent > top - 2)
        return 0;
    uint64_t sign = b->bits >> (fraction + (is_f32 ? 8 : 11));
    uint64_t bits = (sign << (is_f32 ? 8 : 11) | (top - 1 - exponent)) << fraction;
    return ir_op2(p, site, OP_MUL, a->id, ir_const(p, b->type, bits));
}

static ir_id simplify_integer(ir_program *p, uint32_t site, ir_op op, const operand *a, const operand *b)
{
    if (op == OP_SUB && b->is_const)
        return ir_op2(p, site, OP_ADD, a->id, integer(p, b->type, (int64_t)(0 - (uint64_t)b->value)));
    if (op == OP_SUB && is_value(a, 0))
        return ir_op1(p, site, OP_NEG, b->id);
    if (op == OP_ADD && is_op(b, OP_NEG))
        return ir_op2(p, site, OP_SUB, a->id, p->arg.at[b->node->args]);
    if (op == OP_SUB && is_op(b, OP_NEG))
        return ir_op2(p, site, OP_ADD, a->id, p->arg.at[b->node->args]);
    if ((op == OP_EQ || op == OP_NE) && b->is_const && is_op(a, OP_ADD)) {
        operand c = argument(p, a, 1);
        if (c.is_const)
            return ir_op2(p, site, op, p->arg.at[a->node->args],
                          integer(p, b->type, (int64_t)((uint64_t)b->value - (uint64_t)c.value)));
    }
    return 0;
}

/* Is it op(v, v)? */
static bool compares_itself(const ir_program *p, const operand *o, ir_op op, ir_id v)
{
    return is_op(o, op) && p->arg.at[o->node->args] == v && p->arg.at[o->node->args + 1] == v;
}

/* x < y || (one of them is a NaN && the other one is not) -> the other one is none && !(y <= x); likewise x > y.
 * `better` is the comparison, `rescue` what stands behind it. Operators that let any number win over a NaN look like
 * this. Whether what is new is a number comes first, since the rest waits for what was best so far. */
static ir_id better_than_nan(ir_program *p, uint32_t site, const operand *better, const operand *rescue)
{
    if ((!is_op(better, OP_LT) && !is_op(better, OP_GT)) || !is_op(rescue, OP_AND))
        return 0;
    const ir_op reverse = is_op(better, OP_LT) ? OP_LE : OP_GE;
    ir_id x = p->arg.at[better->node->args], y = p->arg.at[better->node->args + 1];
    if (!ir_type_float((ir_type)ir_at(p, x)->type))
        return 0;
    for (uint32_t k = 0; k < 2; k++) {
        operand nan = argument(p, rescue, k), number = argument(p, rescue, 1 - k);
        bool of_y = compares_itself(p, &nan, OP_NE, y) && compares_itself(p, &number, OP_EQ, x),
             of_x = compares_itself(p, &nan, OP_NE, x) && compares_itself(p, &number, OP_EQ, y);
        if (of_x || of_y)
            return ir_op2(p, site, OP_AND, number.id, ir_op1(p, site, OP_NOT, ir_op2(p, site, reverse, y, x)));
    }
    return 0;
}

static ir_id simplify2(ir_program *p, uint32_t site, ir_op op, ir_type result, const operand *a, const operand *b)
{
    int64_t decided;
    if (is_neutral(op, b))
        return a->id;
    if (is_absorbing(op, b, &decided) && !a->node->partial)
        return integer(p, result, decided);
    ir_id id = a->id == b->id ? same_operands(p, op, a) : 0;
    if (!id)
        id = join_constants(p, site, op, a, b);
    if (!id && op == OP_DIV)
        id = divide_by_power(p, site, a, b);
    if (!id && b->type == T_BOOL && ((op == OP_EQ && is_value(b, 0)) || (op == OP_NE && is_value(b, 1))))
        id = ir_op1(p, site, OP_NOT, a->id);
    if (!id && op == OP_OR)
        id = better_than_nan(p, site, a, b);
    if (!id && op == OP_OR)
        id = better_than_nan(p, site, b, a);
    if (!id && is_int(a))
        id = simplify_integer(p, site, op, a, b);
    return id;
}

ir_id ir_op2(ir_program *p, uint32_t site, ir_op op, ir_id a, ir_id b)
{
    ir_id args[2] = {a, b};
    ir_type result = T_NONE;
    if (!well_typed(p, site, op, 2, args, &result))
        return 0;
    if (p->plain)
        return raw(p, site, op, result, 2, args);
    if ((ir_ops[op].flags & OP_COMMUTES) && ir_at(p, a)->kind == IR_CONST && ir_at(p, b)->kind != IR_CONST) {
        args[0] = b;
        args[1] = a;
    }
    operand o[2] = {look(p, args[0]), look(p, args[1])};
    ir_id id = fold_constants(p, op, result, 2, o);
    if (!id)
        id = simplify2(p, site, op, result, &o[0], &o[1]);
    return id ? id : raw(p, site, op, result, 2, args);
}

ir_id ir_op3(ir_program *p, uint32_t site, ir_op op, ir_id a, ir_id b, ir_id c)
{
    ir_id args[3] = {a, b, c};
    ir_type result = T_NONE;
    if (!well_typed(p, site, op, 3, args, &result))
        return 0;
    if (p->plain)
        return raw(p, site, op, result, 3, args);
    operand o[3] = {look(p, a), look(p, b), look(p, c)};
    ir_id id = fold_constants(p, op, result, 3, o);
    if (!id && op == OP_FMA && is_one(&o[0])) /* a product by 1 is exact: one rounding either way */
        id = ir_op2(p, site, OP_ADD, b, c);
    if (!id && op == OP_FMA && is_one(&o[1]))
        id = ir_op2(p, site, OP_ADD, a, c);
    return id ? id : raw(p, site, op, result, 3, args);
}

/* --- conditions --- */

static ir_id simplify_cond(ir_program *p, uint32_t site, ir_id c, ir_id then, ir_id otherwise)
{
    operand test = look(p, c), a = look(p, then), b = look(p, otherwise);
    if (test.is_const)
        return test.bits ? then : otherwise;
    if (then == otherwise && !test.node->partial)
        return then;
    if (a.type == T_BOOL && is_value(&a, 1) && is_value(&b, 0))
        return c;
    if (a.type == T_BOOL && is_value(&a, 0) && is_value(&b, 1))
        return ir_op1(p, site, OP_NOT, c);
    if (is_op(&test, OP_NOT))
        return ir_cond(p, site, p->arg.at[test.node->args], otherwise, then);
    /* the same condition again inside a branch is decided there */
    if (a.node->kind == IR_COND && p->arg.at[a.node->args] == c)
        return ir_cond(p, site, c, p->arg.at[a.node->args + 1], otherwise);
    if (b.node->kind == IR_COND && p->arg.at[b.node->args] == c)
        return ir_cond(p, site, c, then, p->arg.at[b.node->args + 2]);
    return 0;
}

static bool check_cond(ir_program *p, uint32_t site, const ir_id *args)
{
    for (unsigned i = 0; i < 3; i++)
        if (!args[i] || !ir_expect_scalar(p, site, "if", args[i]))
            return false;
    ir_type test = (ir_type)ir_at(p, args[0])->type;
    ir_type a = (ir_type)ir_at(p, args[1])->type, b = (ir_type)ir_at(p, args[2])->type;
    if (test != T_BOOL)
        return ir_fail(p, site, "if: the condition is of type %s, not bool; compare it, as in sn_ne(x, 0)",
                       ir_type_name(test));
    if (a != b)
        return ir_fail(p, site, "if: the branches have different types: %s and %s; convert one", ir_type_name(a),
                       ir_type_name(b));
    return true;
}

static ir_id raw_cond(ir_program *p, uint32_t site, const ir_id *args)
{
    ir_node key = {.kind = IR_COND, .type = ir_at(p, args[1])->type};
    return ir_intern(p, site, &key, 3, args);
}

ir_id ir_cond_plain(ir_program *p, uint32_t site, ir_id c, ir_id then, ir_id otherwise)
{
    ir_id args[3] = {c, then, otherwise};
    return check_cond(p, site, args) ? raw_cond(p, site, args) : 0;
}

ir_id ir_cond(ir_program *p, uint32_t site, ir_id c, ir_id then, ir_id otherwise)
{
    ir_id args[3] = {c, then, otherwise};
    if (!check_cond(p, site, args))
        return 0;
    ir_id id = p->plain ? 0 : simplify_cond(p, site, c, then, otherwise);
    return id ? id : raw_cond(p, site, args);
}
