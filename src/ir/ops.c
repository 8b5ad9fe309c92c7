/* The operator table and the scalar types as data: names, sizes, classes, result types, and values as words of bits. */
#include "ir/ops.h"

enum {
    /* the abbreviations used in ops.def */
    COMMUTES = OP_COMMUTES,
    ASSOCIATES = OP_ASSOCIATES,
    FASSOC = OP_FASSOC,
    PARTIAL = OP_PARTIAL,
    MATH = OP_MATH,
    TRACES = OP_TRACES,
    SAME = SIGNATURE_SAME,
    TEST = SIGNATURE_TEST,
    CONVERT = SIGNATURE_CONVERT,
    COUNT = SIGNATURE_COUNT,
    OWN = SIGNATURE_OWN,
    BOOL = CLASS_BOOL,
    INT = CLASS_INT,
    FLOAT = CLASS_FLOAT,
    NUM = CLASS_NUM,
    ANY = CLASS_ANY
};

const ir_op_row ir_ops[OP_COUNT] = {
    {"?", 0, 0, 0, 0, ""},
#define OP(ENUM, name, arity, signature, classes, flags, doc) {#name, arity, signature, classes, flags, doc},
#include "ir/ops.def"
#undef OP
};

typedef struct type_row {
    const char *name;
    uint8_t bytes, bits, class, is_signed;
} type_row;

static const type_row types[T_COUNT] = {
    [T_NONE] = {"?", 0, 0, 0, 0},
    [T_BOOL] = {"bool", 1, 1, CLASS_BOOL, 0},
    [T_I8] = {"i8", 1, 8, CLASS_INT, 1},
    [T_I16] = {"i16", 2, 16, CLASS_INT, 1},
    [T_I32] = {"i32", 4, 32, CLASS_INT, 1},
    [T_I64] = {"i64", 8, 64, CLASS_INT, 1},
    [T_U8] = {"u8", 1, 8, CLASS_INT, 0},
    [T_U16] = {"u16", 2, 16, CLASS_INT, 0},
    [T_U32] = {"u32", 4, 32, CLASS_INT, 0},
    [T_U64] = {"u64", 8, 64, CLASS_INT, 0},
    [T_F32] = {"f32", 4, 32, CLASS_FLOAT, 0},
    [T_F64] = {"f64", 8, 64, CLASS_FLOAT, 0},
    [T_CHAR] = {"char", 4, 32, CLASS_CHAR, 0},
};

static bool same_text(const char *row, const char *name, size_t n)
{
    return strlen(row) == n && memcmp(row, name, n) == 0;
}

static const type_row *row_of(ir_type t)
{
    return &types[(unsigned)t < T_COUNT ? t : T_NONE];
}

const char *ir_type_name(ir_type t)
{
    return row_of(t)->name;
}

ir_type ir_type_named(const char *name, size_t n)
{
    for (unsigned t = 1; t < T_COUNT; t++)
        if (same_text(types[t].name, name, n))
            return (ir_type)t;
    return T_NONE;
}

ir_op ir_op_named(const char *name, size_t n)
{
    for (unsigned op = 1; op < OP_COUNT; op++)
        if (same_text(ir_ops[op].name, name, n))
            return (ir_op)op;
    return OP_NONE;
}

size_t ir_type_size(ir_type t)
{
    return row_of(t)->bytes;
}

ir_type ir_type_unsigned(size_t bytes)
{
    return bytes == 1 ? T_U8 : bytes == 2 ? T_U16 : bytes == 4 ? T_U32 : T_U64;
}

unsigned ir_type_bits(ir_type t)
{
    return row_of(t)->bits;
}

unsigned ir_type_class(ir_type t)
{
    return row_of(t)->class;
}

bool ir_type_signed(ir_type t)
{
    return row_of(t)->is_signed;
}

/* Elementary functions exist once ir/math has a text for them. */
static bool has_meaning(ir_op op)
{
    switch (op) {
#define SN_MATH(ID, name, arity) case OP_##ID:
#include "ir/math/functions.def"
#undef SN_MATH
        return true;
    default:
        return !(ir_ops[op].flags & OP_MATH);
    }
}

ir_type ir_op_result(ir_op op, ir_type t, ir_type result)
{
    if (op == OP_NONE || op >= OP_COUNT || !(ir_ops[op].classes & ir_type_class(t)) || !has_meaning(op))
        return T_NONE;
    switch ((ir_signature)ir_ops[op].signature) {
    case SIGNATURE_SAME:
    case SIGNATURE_OWN:
        return t;
    case SIGNATURE_TEST:
        return T_BOOL;
    case SIGNATURE_COUNT:
        return T_I32;
    case SIGNATURE_CONVERT:
        break;
    }
    if (!ir_type_class(result))
        return T_NONE;
    if (op == OP_BITCAST && ir_type_bits(t) != ir_type_bits(result))
        return T_NONE;
    return result;
}

bool ir_op_partial(ir_op op, ir_type t)
{
    return (ir_ops[op].flags & OP_PARTIAL) && ir_type_class(t) == CLASS_INT;
}

bool ir_op_guarded(ir_op op, ir_type t)
{
    return ir_op_partial(op, t) || (ir_ops[op].flags & OP_TRACES);
}

unsigned ir_op_cost(ir_op op)
{
    if (ir_ops[op].flags & OP_MATH)
        return IR_COST_MATH;
    bool divides = op == OP_DIV || op == OP_MOD || op == OP_QUOT || op == OP_REM || op == OP_SQRT;
    return divides ? IR_COST_DIVISION : IR_COST_SIMPLE;
}

ir_bits ir_bits_load(ir_type t, const void *element)
{
    uint8_t byte = 0;
    uint16_t half = 0;
    uint32_t word = 0;
    ir_bits bits = 0;
    switch (ir_type_size(t)) {
    case 1:
        memcpy(&byte, element, 1);
        return t == T_BOOL ? byte != 0 : byte;
    case 2:
        memcpy(&half, element, 2);
        return half;
    case 4:
        memcpy(&word, element, 4);
        return word;
    default:
        memcpy(&bits, element, 8);
        return bits;
    }
}

ir_bits ir_bits_f32(float v)
{
    uint32_t b;
    memcpy(&b, &v, sizeof b);
    return b;
}

ir_bits ir_bits_f64(double v)
{
    uint64_t b;
    memcpy(&b, &v, sizeof b);
    return b;
}

ir_bits ir_bits_i64(ir_type t, int64_t v)
{
    unsigned bits = ir_type_bits(t);
    return bits < 64 ? (uint64_t)v & (((uint64_t)1 << bits) - 1) : (uint64_t)v;
}

float ir_f32_bits(ir_bits b)
{
    uint32_t low = (uint32_t)b;
    float v;
    memcpy(&v, &low, sizeof v);
    return v;
}

double ir_f64_bits(ir_bits b)
{
    double v;
    memcpy(&v, &b, sizeof v);
    return v;
}

int64_t ir_i64_bits(ir_type t, ir_bits b)
{
    unsigned bits = ir_type_bits(t);
    if (!ir_type_signed(t) || bits == 64)
        return (int64_t)b;
    uint64_t sign = (uint64_t)1 << (bits - 1);
    return (int64_t)((b ^ sign) - sign);
}
