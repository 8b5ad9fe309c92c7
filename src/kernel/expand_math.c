/* Replaces elementary functions by the primitive statements they are made of: the instantiation of the mathematical
 * texts (ir/math/math_ops.h) on a kernel builder. A function added there needs nothing here. */
#include "ir/math/math_ops.h"
#include "kernel/kernel.h"

static k_val op_binary(k_builder *b, ir_op op, k_val x, k_val y)
{
    return k_let(b, op, x, y, 0);
}

static k_val op_unary(k_builder *b, ir_op op, k_val x)
{
    return k_let(b, op, x, 0, 0);
}

static ir_type type_of(const k_builder *b, k_val x)
{
    return (ir_type)b->k->value.at[x].type;
}

/* The same bits, read as signed or unsigned. The texts' integers are i32 and i64 here. */
static k_val op_as_unsigned(k_builder *b, k_val x)
{
    return k_convert(b, OP_BITCAST, type_of(b, x) == T_I32 ? T_U32 : T_U64, x);
}

static k_val op_as_signed(k_builder *b, k_val x)
{
    return k_convert(b, OP_BITCAST, type_of(b, x) == T_U32 ? T_I32 : T_I64, x);
}

static k_val op_unsigned_less(k_builder *b, k_val x, k_val y)
{
    k_val ux = op_as_unsigned(b, x), uy = op_as_unsigned(b, y);
    return op_binary(b, OP_LT, ux, uy);
}

static k_val op_shift(k_builder *b, ir_op op, k_val x, unsigned count)
{
    return op_binary(b, op, x, k_literal(b, type_of(b, x), count));
}

static k_val op_shift_logical(k_builder *b, k_val x, unsigned count)
{
    return op_as_signed(b, op_shift(b, OP_SHR, op_as_unsigned(b, x), count));
}

static k_val op_shift_logical_by(k_builder *b, k_val x, k_val count)
{
    k_val ux = op_as_unsigned(b, x), un = op_as_unsigned(b, count);
    return op_as_signed(b, op_binary(b, OP_SHR, ux, un));
}

static k_val op_bits_of(k_builder *b, k_val x)
{
    return k_convert(b, OP_BITCAST, type_of(b, x) == T_F32 ? T_I32 : T_I64, x);
}

static k_val op_float_of(k_builder *b, k_val x)
{
    return k_convert(b, OP_BITCAST, type_of(b, x) == T_I32 ? T_F32 : T_F64, x);
}

#define F32 k_val
#define F64 k_val
#define I32 k_val
#define I64 k_val
#define BOOL k_val
#define MATH_FN(T, name, ...) static T math_##name(k_builder *kb, __VA_ARGS__)
#define CALL(name, ...) math_##name(kb, __VA_ARGS__)
#define CF32(c) k_literal(kb, T_F32, ir_bits_f32(c))
#define CF64(c) k_literal(kb, T_F64, ir_bits_f64(c))
#define CI32(c) k_literal(kb, T_I32, (uint32_t)(c))
#define CI64(c) k_literal(kb, T_I64, (uint64_t)(c))
#define ADD(x, y) op_binary(kb, OP_ADD, x, y)
#define SUB(x, y) op_binary(kb, OP_SUB, x, y)
#define MUL(x, y) op_binary(kb, OP_MUL, x, y)
#define DIV(x, y) op_binary(kb, OP_DIV, x, y)
#define SQRT(x) op_unary(kb, OP_SQRT, x)
#define NEG(x) op_unary(kb, OP_NEG, x)
#define ABS(x) op_unary(kb, OP_ABS, x)
#define FMA(x, y, z) k_let(kb, OP_FMA, x, y, z)
#define TRUNC(x) op_unary(kb, OP_TRUNC, x)
#define LT(x, y) op_binary(kb, OP_LT, x, y)
#define LE(x, y) op_binary(kb, OP_LE, x, y)
#define EQ(x, y) op_binary(kb, OP_EQ, x, y)
#define IEQ(x, y) op_binary(kb, OP_EQ, x, y)
#define ILT(x, y) op_binary(kb, OP_LT, x, y)
#define ULT(x, y) op_unsigned_less(kb, x, y)
#define BAND(x, y) op_binary(kb, OP_AND, x, y)
#define BOR(x, y) op_binary(kb, OP_OR, x, y)
#define BNOT(x) op_unary(kb, OP_NOT, x)
#define SELECT(p, x, y) k_select(kb, p, x, y)
#define IADD(x, y) op_binary(kb, OP_ADD, x, y)
#define ISUB(x, y) op_binary(kb, OP_SUB, x, y)
#define IMUL(x, y) op_binary(kb, OP_MUL, x, y)
#define AND(x, y) op_binary(kb, OP_BIT_AND, x, y)
#define OR(x, y) op_binary(kb, OP_BIT_OR, x, y)
#define XOR(x, y) op_binary(kb, OP_BIT_XOR, x, y)
#define SHL(x, n) op_shift(kb, OP_SHL, x, n)
#define SHR(x, n) op_shift_logical(kb, x, n)
#define SAR(x, n) op_shift(kb, OP_SHR, x, n)
#define SHLV(x, v) op_binary(kb, OP_SHL, x, v)
#define SHRV(x, v) op_shift_logical_by(kb, x, v)
#define BITS(x) op_bits_of(kb, x)
#define FLOAT(x) op_float_of(kb, x)
#define I32_TO_F32(x) k_convert(kb, OP_CONVERT, T_F32, x)
#define F32_TO_F64(x) k_convert(kb, OP_CONVERT, T_F64, x)
#define F64_TO_F32(x) k_convert(kb, OP_CONVERT, T_F32, x)
#define U32_TO_I64(x) k_convert(kb, OP_CONVERT, T_I64, op_as_unsigned(kb, x))
#define I64_TO_I32(x) k_convert(kb, OP_CONVERT, T_I32, x)
#define SCALE(x, y) op_binary(kb, OP_SCALE, x, y)
#define EXPONENT(x) op_unary(kb, OP_EXPONENT, x)
#define SIGNIFICAND(x) op_unary(kb, OP_SIGNIFICAND, x)
#define LOOK(ID, name, x) op_unary(kb, OP_LOOK_##ID, x)
#define MUT(T, name, value) T name = k_decl(kb, value, NULL)
#define RARE_BEGIN(p)                                                                                                  \
    do {                                                                                                               \
    k_if(kb, p)
#define RARE_END                                                                                                       \
    k_end(kb);                                                                                                         \
    }                                                                                                                  \
    while (0)
#define SET(name, value) k_set(kb, name, value)
#define GET(name) k_get(kb, name)

#include "ir/math/f32.inc"
#include "ir/math/f64.inc"

#define ARGUMENTS_1 (b, in[0])
#define ARGUMENTS_2 (b, in[0], in[1])

/* The value of op; 0 where the texts have no such function. */
static k_val expansion(k_builder *b, ir_op op, ir_type t, const k_val *in)
{
    switch (op) {
#define SN_MATH(ID, name, arity)                                                                                       \
    case OP_##ID:                                                                                                      \
        return t == T_F32 ? math_##name##_f32 ARGUMENTS_##arity : math_##name##_f64 ARGUMENTS_##arity;
#include "ir/math/functions.def"
#undef SN_MATH
    default:
        return 0;
    }
}

/* Puts the expansion behind the statement, which is left without effect, and a copy into its value behind that. */
static void expand(kernel *k, k_ref id)
{
    k_stmt old = k->stmt.at[id];
    k_builder b;
    k_begin(&b, k);
    b.last = id;
    k->stmt.at[id].next = 0;
    k_val result = expansion(&b, (ir_op)old.sub, (ir_type)k->value.at[old.dst].type, old.in);
    if (!result) {
        k->stmt.at[id].next = old.next;
        return;
    }
    k_stmt copy = {.op = K_LET, .sub = OP_BITCAST, .dst = old.dst, .in = {result}, .next = old.next};
    vec_push(k->arena, &k->stmt, copy);
    k->stmt.at[b.last].next = k->stmt.n - 1;
    k->value.at[old.dst].def = k->stmt.n - 1;
    k->stmt.at[id] = (k_stmt){.op = K_NOP, .next = k->stmt.at[id].next};
}

void k_expand_math(kernel *k)
{
    uint32_t n = k->stmt.n;
    for (k_ref id = 1; id < n; id++) {
        const k_stmt *s = &k->stmt.at[id];
        if (s->op == K_LET && ir_ops[s->sub].flags & OP_MATH)
            expand(k, id);
    }
}
