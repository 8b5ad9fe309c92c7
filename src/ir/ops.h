/* Scalar types and the operator table (ops.def). Everything here is constant data: safe from any thread. */
#ifndef SN_IR_OPS_H
#define SN_IR_OPS_H

#include "base/base.h"

typedef enum {
    T_NONE,
    T_BOOL, /* one byte, 0 or 1 */
    T_I8,
    T_I16,
    T_I32,
    T_I64,
    T_U8,
    T_U16,
    T_U32,
    T_U64,
    T_F32,
    T_F64,
    T_CHAR, /* a code point, 32 bits, unsigned */
    T_COUNT
} ir_type;

/* classes of types, for the operator table */
enum { CLASS_BOOL = 1, CLASS_INT = 2, CLASS_FLOAT = 4, CLASS_CHAR = 8, CLASS_NUM = 6, CLASS_ANY = 15 };

typedef enum { SIGNATURE_SAME, SIGNATURE_TEST, SIGNATURE_CONVERT, SIGNATURE_COUNT, SIGNATURE_OWN } ir_signature;

enum { OP_COMMUTES = 1, OP_ASSOCIATES = 2, OP_FASSOC = 4, OP_PARTIAL = 8, OP_MATH = 16, OP_TRACES = 32 };

typedef enum {
    OP_NONE,
#define OP(ENUM, name, arity, signature, classes, flags, doc) OP_##ENUM,
#include "ir/ops.def"
#undef OP
    OP_COUNT
} ir_op;

typedef struct ir_op_row {
    const char *name;
    uint8_t arity, signature, classes, flags;
    const char *doc;
} ir_op_row;

extern const ir_op_row ir_ops[OP_COUNT]; /* [0] is unused */

const char *ir_type_name(ir_type t);             /* "f32"; "?" for T_NONE */
ir_type ir_type_named(const char *name, size_t n); /* T_NONE if there is none */
ir_op ir_op_named(const char *name, size_t n);   /* OP_NONE if there is none */
size_t ir_type_size(ir_type t);                  /* bytes in memory */
unsigned ir_type_bits(ir_type t);                /* 1 for bool */
unsigned ir_type_class(ir_type t);               /* CLASS_... */
bool ir_type_signed(ir_type t);                  /* signed integers only */
ir_type ir_type_unsigned(size_t bytes);          /* of so many bytes: 1, 2, 4 or 8 */
static inline bool ir_type_float(ir_type t)
{
    return t == T_F32 || t == T_F64;
}
/* The result type of op on operands of type t (result: the wanted type, for CONVERT); T_NONE if ill-typed, or if op is an
 * elementary function that ir/math/functions.def lacks. */
ir_type ir_op_result(ir_op op, ir_type t, ir_type result);
/* May this operator fail on operands of this type? */
bool ir_op_partial(ir_op op, ir_type t);
bool ir_op_guarded(ir_op op, ir_type t); /* ... or is evaluated for more than its result: it stays behind its guard */

/* What computing one element takes, as a multiple of an addition. */
enum { IR_COST_SIMPLE = 1, IR_COST_DIVISION = 6 /* and square roots */, IR_COST_MATH = 12 };
unsigned ir_op_cost(ir_op op);

/* A scalar value: the bits of the type in the low end, upper bits zero (so equal values are equal words). */
typedef uint64_t ir_bits;
ir_bits ir_bits_load(ir_type t, const void *element); /* from memory, where a bool is false if its byte is 0 */
ir_bits ir_bits_f32(float v);
ir_bits ir_bits_f64(double v);
ir_bits ir_bits_i64(ir_type t, int64_t v); /* wraps to t (integers, bool, char) */
float ir_f32_bits(ir_bits b);
double ir_f64_bits(ir_bits b);
int64_t ir_i64_bits(ir_type t, ir_bits b); /* sign- or zero-extended by t */

/* Applies an operator to values (SIGNATURE_CONVERT: `type` operand type, `result` wanted type). The one definition of
 * what every primitive means: used by the folder, the interpreter and the tests of every emitter.
 * Returns false, leaving *out 0, where a PARTIAL operator fails: div, mod, quot and rem of integers by zero, and of the
 * least value of a signed type by -1 (all four alike, as in C). Also false if ill-typed. */
bool ir_op_apply(ir_op op, ir_type type, ir_type result, const ir_bits *in, ir_bits *out);

/* Is it open what this operator gives for these operands? Only for operators of the elementary functions' own, outside
 * what their rows in the table say; ir_op_apply still gives one of the possible answers. */
bool ir_op_open(ir_op op, ir_type type, const ir_bits *in);

#endif
