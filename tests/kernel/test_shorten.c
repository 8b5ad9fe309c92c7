/* Integers in fewer bits: which groups of values are computed in 8 or 16 of them, which are not, and that results stay.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel/launch.h"
#include "kernel/passes_text.h"

static const pass_case cases[] = {
    /* Three products of bytes, of which eight bits are taken: unsigned numbers of 16 bits hold their sum. */
    {"for_all %9:i64 < 8 { %10:i64 = load @2[%9] %11:u8 = convert %10 %12:i32 = convert %11 %13:i32 = mul %12, 77:i32 "
     "%14:i32 = mul %12, 150:i32 %15:i32 = add %13, %14 %16:i32 = shr %15, 8:i32 %17:u8 = convert %16 "
     "%18:i64 = convert %17 store @4[%9] = %18 }",
     "for_all %9:i64 < 8 { %10:i64 = load @2[%9] %11:u8 = convert %10 %21:i16 = convert %11 %12:i32 = convert %11 "
     "%13:i16 = mul %21, 77:i16 %14:i16 = mul %21, 150:i16 %22:u16 = bitcast %13 "
     "%23:u16 = bitcast %14 %15:u16 = add %22, %23 %16:u16 = shr %15, 8:u16 %17:u8 = convert %16 %18:i64 = convert %17 "
     "store @4[%9] = %18 }"},
    /* A comparison of the sum of two bytes. */
    {"for_all %9:i64 < 8 { %10:i64 = load @2[%9] %11:i8 = convert %10 %12:i32 = convert %11 %13:i32 = add %12, %12 "
     "%14:bool = gt %13, 100:i32 %18:i64 = select %14, 1, 2 store @4[%9] = %18 }",
     "for_all %9:i64 < 8 { %10:i64 = load @2[%9] %11:i8 = convert %10 %20:i16 = convert %11 %12:i32 = convert %11 "
     "%13:i16 = add %20, %20 %14:bool = gt %13, 100:i16 %18:i64 = select %14, 1, 2 store @4[%9] = %18 }"},
    /* Only the low eight bits of a product are looked at, but in vectors there are no products of bytes. */
    {"for_all %9:i64 < 8 { %10:i64 = load @2[%9] %11:u16 = convert %10 %12:i32 = convert %11 %13:i32 = mul %12, %12 "
     "%14:i32 = add %13, 70000:i32 %15:u8 = convert %14 %18:i64 = convert %15 store @4[%9] = %18 }",
     "for_all %9:i64 < 8 { %10:i64 = load @2[%9] %11:u16 = convert %10 %20:i16 = bitcast %11 %12:i32 = convert %11 "
     "%13:i16 = mul %20, %20 %14:i16 = add %13, 4464:i16 %15:u8 = convert %14 %18:i64 = convert %15 "
     "store @4[%9] = %18 }"},
    /* Too large for 16 bits where the whole number counts: to the right, compared, as an element. */
    {"for_all %9:i64 < 8 { %10:i64 = load @2[%9] %11:u16 = convert %10 %12:i32 = convert %11 %13:i32 = add %12, %12 "
     "%14:i32 = shr %13, 1:i32 %15:u8 = convert %14 %18:i64 = convert %15 store @4[%9] = %18 }",
     NULL},
    {"for_all %9:i64 < 8 { %10:i64 = load @2[%9] %11:u16 = convert %10 %12:i32 = convert %11 %13:i32 = mul %12, 3:i32 "
     "%14:bool = gt %13, 9:i32 %18:i64 = select %14, 1, 2 store @4[%9] = %18 }",
     NULL},
    {"for_all %9:i64 < 8 { %10:i64 = load @2[%9] %11:u8 = convert %10 %12:i32 = convert %11 %13:i32 = add %12, 1:i32 "
     "%14:f32 = convert %13 store @3[%9] = %14 }",
     NULL},
    /* A byte that saturates. */
    {"for_all %9:i64 < 8 { %10:i64 = load @2[%9] %11:u8 = convert %10 %12:i32 = convert %11 %13:i32 = add %12, 40:i32 "
     "%14:i32 = min %13, 255:i32 %15:u8 = convert %14 %18:i64 = convert %15 store @4[%9] = %18 }",
     "for_all %9:i64 < 8 { %10:i64 = load @2[%9] %11:u8 = convert %10 %20:i8 = bitcast %11 %12:i32 = convert %11 "
     "%13:i8 = add %20, 40:i8 %21:u8 = min %11, 215:u8 %22:i8 = bitcast %21 %14:i8 = add %22, 40:i8 "
     "%15:u8 = convert %14 %18:i64 = convert %15 store @4[%9] = %18 }"},
    {"for_all %9:i64 < 8 { %10:i64 = load @2[%9] %11:u8 = convert %10 %12:i32 = convert %11 %13:i32 = sub %12, 40:i32 "
     "%14:i32 = max 0:i32, %13 %15:u8 = convert %14 %18:i64 = convert %15 store @4[%9] = %18 }",
     "for_all %9:i64 < 8 { %10:i64 = load @2[%9] %11:u8 = convert %10 %20:i8 = bitcast %11 %12:i32 = convert %11 "
     "%13:i8 = sub %20, 40:i8 %21:u8 = max %11, 40:u8 %22:i8 = bitcast %21 %14:i8 = sub %22, 40:i8 "
     "%15:u8 = convert %14 %18:i64 = convert %15 store @4[%9] = %18 }"},
    /* Limits that take as many bits, and sums that are limited to more. */
    {"for_all %9:i64 < 8 { %10:i64 = load @2[%9] %11:u8 = convert %10 %12:i32 = convert %11 %13:i32 = add %12, 40:i32 "
     "%14:i32 = min %13, 300:i32 %15:u8 = convert %14 %18:i64 = convert %15 store @4[%9] = %18 }",
     "for_all %9:i64 < 8 { %10:i64 = load @2[%9] %11:u8 = convert %10 %20:i16 = convert %11 %12:i32 = convert %11 "
     "%13:i16 = add %20, 40:i16 %14:i16 = min %13, 300:i16 %15:u8 = convert %14 %18:i64 = convert %15 "
     "store @4[%9] = %18 }"},
    /* The mean of three bytes, by a division that looks at the whole sum; one of a sum that is too large; by a number
     * that is not known. */
    {"for_all %9:i64 < 8 { %10:i64 = load @2[%9] %11:u8 = convert %10 %12:i32 = convert %11 %13:i32 = add %12, %12 "
     "%14:i32 = add %13, %12 %15:i32 = quot %14, 3:i32 %16:u8 = convert %15 %18:i64 = convert %16 store @4[%9] = %18 }",
     "for_all %9:i64 < 8 { %10:i64 = load @2[%9] %11:u8 = convert %10 %21:i16 = convert %11 %12:i32 = convert %11 "
     "%13:i16 = add %21, %21 %14:i16 = add %13, %21 %15:i16 = quot %14, 3:i16 %16:u8 = convert %15 "
     "%18:i64 = convert %16 store @4[%9] = %18 }"},
    {"for_all %9:i64 < 8 { %10:i64 = load @2[%9] %11:u16 = convert %10 %12:i32 = convert %11 %13:i32 = add %12, %12 "
     "%14:i32 = mod %13, 10:i32 %15:u8 = convert %14 %18:i64 = convert %15 store @4[%9] = %18 }",
     NULL},
    {"for_all %9:i64 < 8 { %10:i64 = load @2[%9] %11:u8 = convert %10 %12:i32 = convert %11 %13:i32 = add %12, %12 "
     "%14:i32 = quot %13, %12 %15:u8 = convert %14 %18:i64 = convert %15 store @4[%9] = %18 }",
     NULL},
    /* What comes in is not short. */
    {"for_all %9:i64 < 8 { %10:i64 = load @2[%9] %11:i32 = convert %10 %12:i32 = add %11, 1:i32 %13:u8 = convert %12 "
     "%18:i64 = convert %13 store @4[%9] = %18 }",
     NULL},
    /* A variable holds the sum. */
    {"for_all %9:i64 < 8 { %8:i32 = var 0:i32 %10:i64 = load @2[%9] %11:u8 = convert %10 %12:i32 = convert %11 "
     "set %8 = %12 %13:i32 = bitcast %8 %14:i32 = add %13, %12 %15:u8 = convert %14 %18:i64 = convert %15 "
     "store @4[%9] = %18 }",
     NULL},
    /* What the code of a chain yields is a whole number. */
    {"%20:i32 = convert %1 chain @5 before %10:i32 initial 0:i32 aggregate %20 left %11:i32 right %12:i32 { "
     "%13:u8 = convert %11 %14:u8 = convert %12 %15:i32 = convert %13 %16:i32 = convert %14 %17:i32 = add %15, %16 } "
     "yield %17 %18:i64 = convert %10 store @4[0] = %18",
     NULL},
};

static void test_cases(void **state)
{
    (void)state;
    pass_cases(k_shorten, cases, ARRAY_LENGTH(cases));
}

static void test_random(void **state)
{
    (void)state;
    pass_random(k_shorten, 600);
}

/* --- random arithmetic of short numbers, for all pairs of bytes of some --- */

enum { ELEMENTS = 256 };

static const char *const between[] = {"add", "sub", "mul", "min", "max", "bit_and", "bit_or", "bit_xor"};
static const char *const compared[] = {"lt", "le", "eq", "ne", "gt", "ge"};

typedef uint64_t random_state;

static random_state random_start(uint64_t seed)
{
    return hash_mix(seed, 1);
}

static unsigned random_below(random_state *r, unsigned below)
{
    *r = hash_mix(*r, 0x2545f4914f6cdd1du);
    return (unsigned)(*r >> 11) % below;
}

/* One operation of earlier ones: %1000 and on. */
static void operation(text *t, random_state *r, const char *type, unsigned at)
{
    unsigned x = 1000 + random_below(r, at), y = 1000 + random_below(r, at);
    unsigned literal = random_below(r, 3) ? random_below(r, 12) : random_below(r, 70000);
    static const char *const divisions[] = {"quot", "rem", "div", "mod"};
    switch (random_below(r, 9)) {
    case 8:
        text_printf(t, "%%%u:%s = %s %%%u, %u:%s ", 1000 + at, type, divisions[random_below(r, 4)], x, 1 + literal,
                    type);
        break;
    case 0:
        text_printf(t, "%%%u:%s = %s %%%u, %u:%s ", 1000 + at, type, random_below(r, 2) ? "shr" : "shl", x,
                    random_below(r, 20), type);
        break;
    case 1:
        text_printf(t, "%%%u:%s = %s %%%u ", 1000 + at, type, random_below(r, 2) ? "abs" : "bit_not", x);
        break;
    case 2:
        text_printf(t, "%%%u:bool = %s %%%u, %%%u %%%u:%s = select %%%u, %%%u, %%%u ", 2000 + at,
                    compared[random_below(r, ARRAY_LENGTH(compared))], x, y, 1000 + at, type, 2000 + at, y, x);
        break;
    case 3:
    case 4:
        text_printf(t, "%%%u:%s = %s %%%u, %u:%s ", 1000 + at, type, between[random_below(r, ARRAY_LENGTH(between))], x,
                    literal, type);
        break;
    default:
        text_printf(t, "%%%u:%s = %s %%%u, %%%u ", 1000 + at, type, between[random_below(r, ARRAY_LENGTH(between))], x,
                    y);
    }
}

static const char *random_text(arena *a, uint64_t seed)
{
    static const char *const in[] = {"u8", "i8", "u16", "i16"}, *const out[] = {"u8", "i8", "u16", "i16", "bool"};
    random_state r = random_start(seed);
    const char *type = random_below(&r, 3) ? "i32" : "u32", *from = in[random_below(&r, 3)];
    unsigned n = 2 + random_below(&r, 7);
    text t;
    text_init(&t, a);
    text_printf(
        &t, "kernel k lanes 8 { global @1:i64 global @2:i64 written for_all %%1:i64 < 256 { %%2:i64 = load @1[%%1] ");
    text_printf(&t, "%%3:%s = convert %%2 %%4:%s = convert %%1 %%1000:%s = convert %%3 %%1001:%s = convert %%4 ", from,
                in[random_below(&r, 2)], type, type);
    for (unsigned i = 2; i < 2 + n; i++)
        operation(&t, &r, type, i);
    text_printf(&t, "%%5:%s = convert %%%u %%6:i64 = convert %%5 store @2[%%1] = %%6 } }", out[random_below(&r, 5)],
                1001 + n);
    return t.at;
}

static bool has_short_arithmetic(const kernel *k)
{
    for (k_ref r = 1; r < k->stmt.n; r++) {
        const k_stmt *s = &k->stmt.at[r];
        if (s->op == K_LET && s->sub != OP_CONVERT && s->sub != OP_BITCAST && s->dst &&
            ir_type_size((ir_type)k->value.at[s->dst].type) == 2)
            return true;
    }
    return false;
}

static void test_arithmetic(void **state)
{
    (void)state;
    unsigned changed = 0;
    for (uint64_t seed = 0; seed < 4000; seed++) {
        arena a;
        arena_init(&a, NULL);
        const char *message = "", *source = random_text(&a, seed);
        kernel *k = k_parse(&a, source, &message);
        if (!k)
            fail_msg("%s\n%s", message, source);
        kernel *shorter = k_clone(k, &a);
        k_shorten(shorter, &a);
        if (!k_verify(shorter, &a, &message))
            fail_msg("%s\n%s", message, source);
        changed += has_short_arithmetic(shorter);
        int64_t in[ELEMENTS], expected[ELEMENTS] = {0}, got[ELEMENTS] = {0};
        random_state r = random_start(seed + 1);
        for (unsigned i = 0; i < ELEMENTS; i++)
            in[i] = (int64_t)random_below(&r, 65536);
        k_error error = {0};
        k_interpret(k, &a, (void *[]){in, expected}, NULL, 0, 1, &error);
        k_interpret(shorter, &a, (void *[]){in, got}, NULL, 0, 1, &error);
        if (memcmp(expected, got, sizeof(got)) != 0)
            fail_msg("seed %lu\n%s", (unsigned long)seed, source);
        arena_free(&a);
    }
    assert_true(changed > 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_arithmetic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
