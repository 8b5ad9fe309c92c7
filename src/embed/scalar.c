/* Scalar operations: literals, primitives, conditions, tuples, conversions. */
#include "embed/value.h"

#define SAME_TYPE(SN, T) _Static_assert((int)SN == (int)T, "sn_type and ir_type number types alike")
SAME_TYPE(SN_BOOL, T_BOOL);
SAME_TYPE(SN_I8, T_I8);
SAME_TYPE(SN_I64, T_I64);
SAME_TYPE(SN_U8, T_U8);
SAME_TYPE(SN_U64, T_U64);
SAME_TYPE(SN_F32, T_F32);
SAME_TYPE(SN_F64, T_F64);
SAME_TYPE(SN_CHAR, T_CHAR);

/* --- literals of a given type --- */

static sn_scalar literal(ir_type type, ir_bits bits)
{
    op o;
    if (!op_start_here(&o, ir_type_name(type)))
        return op_bad_scalar(&o);
    ir_id term = ir_const(o.p, type, bits);
    return op_give_scalar(&o, tree_leaf(o.b), &term, NULL);
}

sn_scalar sn_bool(bool x)
{
    return literal(T_BOOL, x);
}

sn_scalar sn_i8(int8_t x)
{
    return literal(T_I8, ir_bits_i64(T_I8, x));
}

sn_scalar sn_i16(int16_t x)
{
    return literal(T_I16, ir_bits_i64(T_I16, x));
}

sn_scalar sn_i32(int32_t x)
{
    return literal(T_I32, ir_bits_i64(T_I32, x));
}

sn_scalar sn_i64(int64_t x)
{
    return literal(T_I64, (ir_bits)x);
}

sn_scalar sn_u8(uint8_t x)
{
    return literal(T_U8, x);
}

sn_scalar sn_u16(uint16_t x)
{
    return literal(T_U16, x);
}

sn_scalar sn_u32(uint32_t x)
{
    return literal(T_U32, x);
}

sn_scalar sn_u64(uint64_t x)
{
    return literal(T_U64, x);
}

sn_scalar sn_f32(float x)
{
    return literal(T_F32, ir_bits_f32(x));
}

sn_scalar sn_f64(double x)
{
    return literal(T_F64, ir_bits_f64(x));
}

sn_scalar sn_char(uint32_t code_point)
{
    return literal(T_CHAR, code_point);
}

/* --- primitives: one function per row of the operator table --- */

sn_scalar sn_call1_at(sn_site at, sn_scalar (*f)(sn_scalar), sn_scalar a)
{
    op o;
    return op_start(&o, at, "call") ? f(a) : op_bad_scalar(&o);
}

sn_scalar sn_call2_at(sn_site at, sn_scalar (*f)(sn_scalar, sn_scalar), sn_scalar a, sn_scalar b)
{
    op o;
    return op_start(&o, at, "call") ? f(a, b) : op_bad_scalar(&o);
}

sn_scalar sn_call3_at(sn_site at, sn_scalar (*f)(sn_scalar, sn_scalar, sn_scalar), sn_scalar a, sn_scalar b,
                      sn_scalar c)
{
    op o;
    return op_start(&o, at, "call") ? f(a, b, c) : op_bad_scalar(&o);
}

/* The operand of a scalar operation; false if it is bad or a tuple. */
static bool take_operand(const op *o, sn_scalar x, const char *what, ir_id *term, bool *weak)
{
    const value *v = op_take_scalar(o, x, what);
    if (!v)
        return false;
    if (!v->tree->leaf)
        return op_fail(o, "%s is the tuple %s; operators work on its components", what, value_text(o, v));
    *term = v->term[0];
    *weak = v->weak && v->weak[0];
    return true;
}

static bool same_types(const op *o, uint32_t n, const ir_id *in)
{
    ir_type first = (ir_type)ir_at(o->p, in[0])->type;
    for (uint32_t i = 1; i < n; i++) {
        ir_type other = (ir_type)ir_at(o->p, in[i])->type;
        if (other != first)
            return op_fail(o, "the operands have different types: %s and %s; convert one (sn_to_%s, sn_to_%s)",
                           ir_type_name(first), ir_type_name(other), ir_type_name(first), ir_type_name(other));
    }
    return true;
}

/* `integral`: the operator if the operands are integers. */
static sn_scalar primitive(ir_op which, ir_op integral, uint32_t n, const sn_scalar *x)
{
    static const char *const names[3] = {"operand 1", "operand 2", "operand 3"};
    op o;
    ir_id in[3], out;
    bool weak[3], good = true;
    if (!op_start_here(&o, ir_ops[which].name))
        return op_bad_scalar(&o);
    for (uint32_t i = 0; i < n; i++)
        good &= take_operand(&o, x[i], names[i], &in[i], &weak[i]);
    if (!good || !embed_unify(&o, n, in, weak) || !same_types(&o, n, in))
        return op_bad_scalar(&o);
    if (ir_type_class((ir_type)ir_at(o.p, in[0])->type) == CLASS_INT)
        which = integral;
    if (n == 1)
        out = ir_op1(o.p, o.site, which, in[0]);
    else if (n == 2)
        out = which == OP_POW ? embed_power(&o, in[0], in[1]) : ir_op2(o.p, o.site, which, in[0], in[1]);
    else
        out = ir_op3(o.p, o.site, which, in[0], in[1], in[2]);
    return op_give_scalar(&o, tree_leaf(o.b), &out, NULL);
}

#define DEFINE_1(ENUM, name)                                                                                           \
    sn_scalar(sn_##name)(sn_scalar a)                                                                                  \
    {                                                                                                                  \
        return primitive(OP_##ENUM, OP_##ENUM, 1, &a);                                                                 \
    }
#define DEFINE_2(ENUM, name)                                                                                           \
    sn_scalar(sn_##name)(sn_scalar a, sn_scalar b)                                                                     \
    {                                                                                                                  \
        return primitive(OP_##ENUM, OP_##ENUM, 2, (sn_scalar[]){a, b});                                                \
    }
#define DEFINE_3(ENUM, name)                                                                                           \
    sn_scalar(sn_##name)(sn_scalar a, sn_scalar b, sn_scalar c)                                                        \
    {                                                                                                                  \
        return primitive(OP_##ENUM, OP_##ENUM, 3, (sn_scalar[]){a, b, c});                                             \
    }
#define DEFINE_SAME(arity, ENUM, name) DEFINE_##arity(ENUM, name)
#define DEFINE_TEST(arity, ENUM, name) DEFINE_##arity(ENUM, name)
#define DEFINE_COUNT(arity, ENUM, name) DEFINE_##arity(ENUM, name)
#define DEFINE_CONVERT(arity, ENUM, name) /* sn_to and sn_bitcast */
#define DEFINE_OWN(arity, ENUM, name)
#define OP(ENUM, name, arity, signature, classes, flags, doc) DEFINE_##signature(arity, ENUM, name)
#include "ir/ops.def"
#undef OP

sn_scalar sn_c_div(sn_scalar a, sn_scalar b)
{
    return primitive(OP_DIV, OP_QUOT, 2, (sn_scalar[]){a, b});
}

/* --- conditions --- */

/* Two values of one structure, literals given the type of their counterparts. */
static bool unify_values(const op *o, const value *x, const value *y, ir_id *left, ir_id *right)
{
    for (uint32_t i = 0; i < x->tree->leaves; i++) {
        ir_id pair[2] = {x->term[i], y->term[i]};
        bool weak[2] = {x->weak && x->weak[i], y->weak && y->weak[i]};
        if (!embed_unify(o, 2, pair, weak))
            return false;
        if (ir_at(o->p, pair[0])->type != ir_at(o->p, pair[1])->type)
            return op_fail(o, "the branches have different types: %s and %s; convert one, so that both are of one type",
                           value_text(o, x), value_text(o, y));
        left[i] = pair[0];
        right[i] = pair[1];
    }
    return true;
}

sn_scalar(sn_if)(sn_scalar c, sn_scalar x, sn_scalar y)
{
    op o;
    if (!op_start_here(&o, "if"))
        return op_bad_scalar(&o);
    ir_id condition = op_take_leaf(&o, c, "the condition", T_BOOL);
    const value *then = op_take_scalar(&o, x, "the first branch"),
                *otherwise = op_take_scalar(&o, y, "the second branch");
    if (!condition || !then || !otherwise)
        return op_bad_scalar(&o);
    if (!tree_equal(then->tree, otherwise->tree)) {
        op_fail(&o, "the branches have different types: %s and %s; convert one, so that both are of one type",
                value_text(&o, then), value_text(&o, otherwise));
        return op_bad_scalar(&o);
    }
    ir_id left[IR_MAX_COMPONENTS], right[IR_MAX_COMPONENTS];
    if (!unify_values(&o, then, otherwise, left, right))
        return op_bad_scalar(&o);
    for (uint32_t i = 0; i < then->tree->leaves; i++)
        left[i] = ir_cond(o.p, o.site, condition, left[i], right[i]);
    return op_give_scalar(&o, then->tree, left, NULL);
}

/* x decides or y does: if x == decisive then x else y */
static sn_scalar short_circuit(const char *name, bool decisive, sn_scalar x, sn_scalar y)
{
    op o;
    if (!op_start_here(&o, name))
        return op_bad_scalar(&o);
    ir_id a = op_take_leaf(&o, x, "operand 1", T_BOOL), b = op_take_leaf(&o, y, "operand 2", T_BOOL);
    if (!a || !b)
        return op_bad_scalar(&o);
    for (unsigned i = 0; i < 2; i++)
        if (ir_at(o.p, i ? b : a)->type != T_BOOL) {
            op_fail(&o, "operand %u is of type %s, not bool; compare it, as in sn_ne(x, 0)", i + 1,
                    ir_type_name((ir_type)ir_at(o.p, i ? b : a)->type));
            return op_bad_scalar(&o);
        }
    ir_id decided = ir_bool(o.p, decisive);
    ir_id term = decisive ? ir_cond(o.p, o.site, a, decided, b) : ir_cond(o.p, o.site, a, b, decided);
    return op_give_scalar(&o, tree_leaf(o.b), &term, NULL);
}

sn_scalar(sn_and)(sn_scalar x, sn_scalar y)
{
    return short_circuit("and", false, x, y);
}

sn_scalar(sn_or)(sn_scalar x, sn_scalar y)
{
    return short_circuit("or", true, x, y);
}

/* --- tuples --- */

sn_scalar sn_tuple_at(sn_site at, int count, const sn_scalar *component)
{
    op o;
    if (!op_start(&o, at, "tuple") || !op_check_list(&o, count, component, "components"))
        return op_bad_scalar(&o);
    if (count < 1 || count > 16) {
        op_fail(&o, "%d components; a tuple has 1 to 16", count);
        return op_bad_scalar(&o);
    }
    const tree *child[16];
    id_list term = {0};
    VEC(bool) weak = {0};
    bool good = true;
    for (int i = 0; good && i < count; i++) {
        const value *v = op_take_scalar(&o, component[i], arena_printf(o.b->arena, "component %d", i));
        good = v != NULL;
        for (uint32_t k = 0; v && k < v->tree->leaves; k++) {
            vec_push(o.b->arena, &term, v->term[k]);
            vec_push(o.b->arena, &weak, v->weak && v->weak[k]);
        }
        child[i] = v ? v->tree : NULL;
    }
    const tree *t = good ? tree_tuple(&o, (uint32_t)count, child) : NULL;
    return t ? op_give_scalar(&o, t, term.at, weak.at) : op_bad_scalar(&o);
}

sn_scalar sn_get_at(sn_site at, sn_scalar tuple, int component)
{
    op o;
    if (!op_start(&o, at, "get"))
        return op_bad_scalar(&o);
    const value *v = op_take_scalar(&o, tuple, "the tuple");
    if (!v)
        return op_bad_scalar(&o);
    if (v->tree->leaf || component < 0 || (uint32_t)component >= v->tree->n) {
        op_fail(&o, "%s has no component %d; a tuple's are counted from 0", value_text(&o, v), component);
        return op_bad_scalar(&o);
    }
    uint32_t first = tree_offset(v->tree, (uint32_t)component);
    return op_give_scalar(&o, v->tree->child[component], v->term + first, v->weak ? v->weak + first : NULL);
}

sn_scalar(sn_fst)(sn_scalar tuple)
{
    return sn_get_at((sn_site){0}, tuple, 0);
}

sn_scalar(sn_snd)(sn_scalar tuple)
{
    return sn_get_at((sn_site){0}, tuple, 1);
}

/* --- conversions --- */

static sn_scalar convert(sn_site at, const char *name, ir_op which, int type, sn_scalar x)
{
    op o;
    if (!op_start(&o, at, name))
        return op_bad_scalar(&o);
    ir_id term;
    bool weak;
    if (type <= T_NONE || type >= T_COUNT) {
        op_fail(&o, "%d is no type; SN_BOOL, SN_I8 to SN_I64, SN_U8 to SN_U64, SN_F32, SN_F64 and SN_CHAR are", type);
        return op_bad_scalar(&o);
    }
    if (!take_operand(&o, x, "the operand", &term, &weak))
        return op_bad_scalar(&o);
    term = ir_convert(o.p, o.site, which, (ir_type)type, term);
    return op_give_scalar(&o, tree_leaf(o.b), &term, NULL);
}

sn_scalar sn_to_at(sn_site at, sn_type type, sn_scalar x)
{
    return convert(at, "to", OP_CONVERT, (int)type, x);
}

sn_scalar sn_bitcast_at(sn_site at, sn_type type, sn_scalar x)
{
    return convert(at, "bitcast", OP_BITCAST, (int)type, x);
}

#define DEFINE_TO(name, TYPE)                                                                                          \
    sn_scalar(sn_to_##name)(sn_scalar x)                                                                               \
    {                                                                                                                  \
        return convert((sn_site){0}, "to_" #name, OP_CONVERT, TYPE, x);                                                \
    }
DEFINE_TO(bool, T_BOOL)
DEFINE_TO(i8, T_I8)
DEFINE_TO(i16, T_I16)
DEFINE_TO(i32, T_I32)
DEFINE_TO(i64, T_I64)
DEFINE_TO(u8, T_U8)
DEFINE_TO(u16, T_U16)
DEFINE_TO(u32, T_U32)
DEFINE_TO(u64, T_U64)
DEFINE_TO(f32, T_F32)
DEFINE_TO(f64, T_F64)
DEFINE_TO(char, T_CHAR)
