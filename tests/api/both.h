/* Programs run through the public functions twice, on the CPU and by the interpreter, on the same arguments. */
#ifndef SN_TESTS_BOTH_H
#define SN_TESTS_BOTH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/api.h"

/* Opens the two contexts, contraction off: for cmocka's group setup and teardown. If there is no code generator, the
 * tests are skipped. */
int both_open(void **state);
int both_close(void **state);

/* What arguments hold. */
typedef enum {
    SMALL,    /* whole numbers -4 to 5: sums and products of floats are exact */
    MIXED,    /* any bits, with zeros, infinities, NaNs and extreme integers among them */
    SIGNALS,  /* MIXED, with signalling NaNs besides */
    POSITIVE, /* floats 0.5 to 2, integers 1 to 9 */
    INDICES   /* integers 0 .. first extent - 1 (0 if it is 0) */
} contents;

/* Compiles the program for each of the types that stand for T in the signature ("f32 i64", NULL: there is no T) and
 * calls it for every choice of extents: `extents` is a list of tuples, one number for each name in the signature, ended
 * by -1. Results must have the same bits (all NaNs alike), and failures the same status. */
void both_at(const char *file, int line, const char *signature, sn_body body, const char *types, contents what,
             const int64_t *extents);
#define both(signature, f, types, what, ...)                                                                           \
    both_at(__FILE__, __LINE__, signature, SN_BODY(f), types, what, (const int64_t[]){__VA_ARGS__, -1})

/* The same of a program whose parameters are twice as many as it needs: the second half gets the arguments of the
 * first, and the second half of the results must have the bits of the first, on the device alone: the interpreter keeps
 * the order of loops in scalar code, which devices may combine as folds. */
void both_halves_at(const char *file, int line, const char *signature, sn_body body, const char *types, contents what,
                    const int64_t *extents);

/* The two contexts. */
sn_context *both_cpu(void);
sn_context *both_interpreter(void);
void both_in_turn(void (*test)(sn_context *cx)); /* runs a test in each of them */

#define ALL_TYPES "bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char"
#define INTEGERS "i8 i16 i32 i64 u8 u16 u32 u64"
#define FLOATS "f32 f64"
#define SIZES 0, 1, 2, 3, 31, 32, 33, 63, 64, 65, 100, 127, 129, 1000, 4099, 70001
#define MATRICES 0, 0, 0, 5, 5, 0, 1, 1, 1, 33, 33, 1, 3, 17, 17, 3, 33, 65, 64, 64, 5, 300, 300, 5, 40, 1025

#endif
