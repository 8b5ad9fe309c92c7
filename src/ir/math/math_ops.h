/* The contract of the texts f32.inc and f64.inc, in which the elementary functions are written once for everybody: the
   interpreter's C functions (math_c.c) and the code generators (one operation of a builder per primitive).

   Before including the texts define:

   Types     F32 F64 I32 I64 BOOL     a value of that type. In C: float, double, uint32_t, uint64_t, bool. In a builder
                                      all five are its handle type. Integers are bit patterns: they wrap, and each
                                      operation says whether it reads them signed or unsigned.
   Functions MATH_FN(T, name, ...)    head of a function with result T and the parameters `...` ("F32 x, F32 y").
             CALL(name, ...)          calls one. A builder's MATH_FN adds its own first parameter and CALL passes it;
                                      the texts use no variable named `b`, so that name is free for it. Their other
                                      names are plain words: functions that the macros call should have a prefix.
   Constants CF32(c) CF64(c) CI32(c) CI64(c)          c is a C constant expression of float, double, uint32_t, uint64_t.
   Floats (both operands of one type, F32 or F64; all round to nearest even, subnormals kept, none traps)
             ADD SUB MUL DIV (a, b)   SQRT(a)   NEG(a)   ABS(a)   the last two change the sign bit only
             FMA(a, b, c)             a * b + c, rounded once
             TRUNC(a)                 toward zero to an integral value
   Compares  LT(a, b) LE(a, b) EQ(a, b)               false if an operand is a NaN
             IEQ(a, b)  ILT(a, b) signed  ULT(a, b) unsigned
   Booleans  BAND(p, q) BOR(p, q) BNOT(p)
   Choice    SELECT(p, a, b)          a where p holds, else b; both are always evaluated
   Integers  IADD ISUB IMUL AND OR XOR (a, b)         modulo 2^32 or 2^64
             SHL(a, n) SHR(a, n) SAR(a, n)            n: a C constant, 0 < n < width; SHR shifts in 0, SAR the sign
             SHLV(a, v) SHRV(a, v)                    v: a value of a's type, 0 <= v < width
   Bits      BITS(a) F32 -> I32, F64 -> I64;  FLOAT(i) back: the same bits
   Convert   I32_TO_F32(i)            signed, rounded
             F32_TO_F64(a)            exact                  F64_TO_F32(a)    rounded, overflows to infinity
             U32_TO_I64(i)            upper half 0           I64_TO_I32(i)    lower half
   Parts     SCALE(a, b) EXPONENT(a) SIGNIFICAND(a)   ir/math/primitives.h; SCALE in its promised range only
   Tables    LOOK(ID, name, a)                        the entry of sn_table_<name>, chosen by the lowest bits of a
   Rare case MUT(T, name, value)      declares a variable that a rare case may set
             RARE_BEGIN(p) ... RARE_END                begins and ends statements that matter only where p holds
             SET(name, value)         inside: sets the variable where p holds, leaves it elsewhere
             GET(name)                its value
             In C a plain `if`. In a builder either a branch taken if p holds in any lane, with SET blending, or no
             branch at all and SET(name, v) meaning name = SELECT(p, v, name).
             A builder that branches and interns must not reuse, after the block, what it first computed inside.

   What the texts promise in return: only the primitives above touch values (no C operator, no C control flow); every
   variable but those of MUT and members of a struct is assigned once; nothing outside constants and tables lies in memory;
   nothing is partial: any operand is allowed for every operation but SCALE. Results are the same bits in every instantiation,
   except the sign and payload of a NaN, provided that an instantiation performs the operations as written: no
   contraction (-ffp-contract=off in C), no reassociation, no approximate division, no flush to zero.
   SELECT(LT(x, y), x, y) may become a minimum only of the kind that gives y for a NaN. The order in which a C compiler
   evaluates the arguments of one operation is open, so the numbering of a builder's operations may depend on the
   compiler; values do not. */
#ifndef SINTER_IR_MATH_MATH_OPS_H
#define SINTER_IR_MATH_MATH_OPS_H

#include "ir/math/coefficients.h"

#endif
