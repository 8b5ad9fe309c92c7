/* Every rule of kernels, broken once, and what the checker says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel/kernel.h"

static int setup(void **state)
{
    static arena a;
    arena_init(&a, NULL);
    *state = &a;
    return 0;
}

static int teardown(void **state)
{
    arena_free(*state);
    return 0;
}

typedef struct {
    const char *body, *why; /* why NULL: it is right */
} rule;

/* The memory and arguments that all cases share. */
static const char *const head =
    "kernel k lanes 8 threads 16 {\n"
    "global @1:f32 global @2:f32 written global @3:u64 written shared @4:i64[16] private @5:f32[2]\n"
    "arg %1:i64 arg %2:f32 arg %3:bool\n";

static kernel *parsed(arena *a, const char *body)
{
    const char *message = "";
    kernel *k = k_parse(a, arena_printf(a, "%s%s}", head, body), &message);
    if (!k)
        fail_msg("%s: %s", body, message);
    return k;
}

static void check(arena *a, const rule *rules, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *why = NULL;
        bool fine = k_verify(parsed(a, rules[i].body), a, &why);
        if (fine != !rules[i].why)
            fail_msg("%s: %s", rules[i].body, fine ? "passes" : why);
        if (!fine)
            assert_string_equal(why, rules[i].why);
    }
}
#define CHECK(rules) check(*state, rules, ARRAY_LENGTH(rules))

static void types_agree(void **state)
{
    static const rule rules[] = {
        {"%9:i64 = add %1, 1", NULL},
        {"for_all %8:i64 < 9 { for %9:i64 = 0 to %1 { if %3 { %10:f32 = load total @1[%9] } } }", NULL},
        {"for_all %8:i64 < 9 { for %9:i64 = 0 to 4 pack { %10:f32 = load @1[%9] } }", NULL},
        {"for %9:i64 = 0 to 5 pack { }", "statement 1 (for): a pack has 4 rounds"},
        {"for %9:i64 = 1 to 4 pack { }", "statement 1 (for): a pack has 4 rounds"},
        {"for_all %8:i64 < 9 { %10:f32 = load total @1[%8] }",
         "statement 2 (load): a total load reads at the index of a loop"},
        {"%9:i64 = add %1, %2", "statement 1 (let): value 2 is a f32, not a i64"},
        {"%9:f32 = add %1, %1", "statement 1 (let): value 4 is a f32, not a i64"},
        {"%9:bool = land %1, %1", "statement 1 (let): land does not take a i64"},
        {"%9:i32 = bitcast %1", "statement 1 (let): bitcast does not take a i64"},
        {"%9:i64 = bitcast %1", NULL},
        {"%9:i64 = select %1, 1, 2", "statement 1 (select): value 1 is a i64, not a bool"},
        {"%9:i64 = select %3, 1, %2", "statement 1 (select): value 2 is a f32, not a i64"},
        {"%9:f32 = call f, %1, %2", NULL},
        {"%9:f32 = call f, %3", NULL},
        {"%9:f32 = var %1", "statement 1 (var): value 4 is a f32, not a i64"},
        {"for_all %8:i64 < 8 { %9:i64 = var 0 %10:i64 = bitcast %9 %11:i64 = add %10, %8 mix %9 = %11 }", NULL},
        {"for_all %8:i64 < 8 { %9:i64 = var 0 %10:i64 = bitcast %9 %11:i64 = add %8, %10 mix %9 = %11 }", NULL},
        {"for_all %8:i64 < 8 { %9:i64 = var 0 mix %9 = %8 }",
         "statement 3 (set): only a sum of integers, made just before, may be mixed"},
        {"for_all %8:i64 < 8 { %9:f32 = var %2 %10:f32 = bitcast %9 %11:f32 = add %10, %2 mix %9 = %11 }",
         "statement 5 (set): only a sum of integers, made just before, may be mixed"},
        {"for_all %8:i64 < 8 { %9:i64 = var 0 %10:i64 = bitcast %9 set %9 = 3 %11:i64 = add %10, %8 mix %9 = %11 }",
         "statement 6 (set): value 10 is no sum with a copy of the variable made just before it"},
        {"%9:f32 = var %2 set %9 = %1", "statement 2 (set): value 1 is a i64, not a f32"},
        {"%9:i64 = load @1[%1]", "statement 1 (load): value 4 is a i64, not a f32"},
        {"%9:f32 = load @1[%2]", "statement 1 (load): value 2 is a f32, not a i64"},
        {"store @2[%1] = %1", "statement 1 (store): value 1 is a i64, not a f32"},
        {"check 1: %1, 0, 0, 0", "statement 1 (check): value 1 is a i64, not a bool"},
        {"check 1: %3, 0, %2, 0", "statement 1 (check): value 2 is a f32, not a i64"},
        {"if %1 { }", "statement 1 (if): value 1 is a i64, not a bool"},
        {"loop { break_if %1 }", "statement 2 (break_if): value 1 is a i64, not a bool"},
        {"for %9:i64 = 0 to %2 { }", "statement 1 (for): value 2 is a f32, not a i64"},
        {"for_all %9:i64 < %2 { }", "statement 1 (for_all): value 2 is a f32, not a i64"},
        {"for_all %9:i32 < 4 { }", "statement 1 (for_all): value 4 is a i32, not a i64"},
    };
    CHECK(rules);
}

static void scopes_are_kept(void **state)
{
    static const rule rules[] = {
        {"for_all %8:i64 < 4 { %9:i64 = add %8, 1 } store @4[0] = %9",
         "statement 3 (store): value 6 is used where it is not visible"},
        {"for_all %8:i64 < 4 { } store @4[0] = %8", "statement 2 (store): value 4 is used where it is not visible"},
        {"if %3 { %9:i64 = add %1, 1 } else { %10:i64 = add %9, 1 }",
         "statement 3 (let): value 4 is used where it is not visible"},
        {"set %1 = 3", "statement 1 (set): value 1 is no variable that may be set"},
        {"%9:i64 = add %1, 2 set %9 = 3", "statement 2 (set): value 4 is no variable that may be set"},
        {"for_all %8:i64 < 4 { %9:i64 = var 1 set %9 = 2 }", NULL},
    };
    CHECK(rules);
}

static void levels_are_kept(void **state)
{
    static const rule rules[] = {
        {"for_all %8:i64 < 4 { for_all %9:i64 < 4 { } }", "statement 2 (for_all): one FOR_ALL inside another"},
        {"store @5[0] = %2", "statement 1 (store): memory 5 is private to threads and there is none at piece level"},
        {"for_all %8:i64 < 16 { store @5[0] = %2 }", NULL},
        {"for_all %8:i64 < 17 { store @5[0] = %2 }",
         "statement 2 (store): more threads than the kernel's 16 use private memory"},
        {"%9:i64 = count %3", "statement 1 (count): only threads have a gang"},
        {"compact @2[0] = %2 where %3", "statement 1 (compact): only threads have a gang"},
        {"for_all %8:i64 < 9 { %9:i64 = count %3 }",
         "statement 2 (count): the FOR_ALL may have more threads than a gang; its count must be at most 8"},
        {"for_all %8:i64 < %1 { %9:i64 = count %3 }",
         "statement 2 (count): the FOR_ALL may have more threads than a gang; its count must be at most 8"},
        {"%7:i64 = min %1, 8 for_all %8:i64 < %7 { %9:i64 = count %3 }", NULL},
        {"break_if %3", "statement 1 (break_if): it must stand directly in a loop"},
        {"loop { if %3 { break_if %3 } }", "statement 3 (break_if): it must stand directly in a loop"},
        {"loop { }", "statement 1 (loop): it has no way out"},
        {"loop { loop { break_if %3 } }", "statement 1 (loop): it has no way out"},
    };
    CHECK(rules);
}

static void memory_is_used_as_declared(void **state)
{
    static const rule rules[] = {
        {"store @1[0] = %2", "statement 1 (store): memory 1 is not an output"},
        {"for_all %8:i64 < 8 { fetch @1[%8] rows 4 apart %1 }", NULL},
        {"fetch @1[%1] rows 4 apart %1", "statement 1 (fetch): only threads share rows"},
        {"fetch_near @1[%1] step 0", NULL},
        {"%9:f32 = load @2[0]", NULL},
        {"%9:f32 = atomic add @1[0], %2", "statement 1 (atomic): memory 1 is not an output"},
        {"%9:f32 = atomic add @2[0], %2", NULL},
        {"%9:f32 = atomic min @2[0], %2", "statement 1 (atomic): no atomic of this kind on f32"},
        {"%9:i64 = atomic mul @4[0], 1", "statement 1 (atomic): no atomic of this kind on i64"},
        {"%9:i64 = atomic bit_or @4[0], 1", NULL},
        {"for_all %8:i64 < 4 { %9:f32 = atomic add @5[0], %2 }",
         "statement 2 (atomic): no atomics on private memory and on elements of less than 4 bytes"},
        {"for_all %8:i64 < 4 { compact @1[0] = %2 where %3 }", "statement 2 (compact): memory 1 is not an output"},
    };
    CHECK(rules);
}

static void gangs_stay_together(void **state)
{
    static const rule rules[] = {
        {"for_all %8:i64 < 8 { %9:bool = lt %8, 3 if %9 { %10:i64 = count %3 } }",
         "statement 4 (count): lanes may arrive here one by one; a whole gang is needed"},
        {"for_all %8:i64 < 8 { if %3 { %10:i64 = count %3 } }", NULL},
        {"for_all %8:i64 < 8 { loop { %9:bool = lt %8, 3 break_if %9 %10:i64 = count %3 } }",
         "statement 5 (count): lanes may arrive here one by one; a whole gang is needed"},
        {"for_all %8:i64 < 8 { loop { break_if %3 %10:i64 = count %3 } }", NULL},
        {"for_all %8:i64 < 8 { compact @2[%8] = %2 where %3 }",
         "statement 2 (compact): value 4 must be the same in all lanes"},
        {"for_all %8:i64 < 8 { for %9:i64 = 0 to %8 { } }", "statement 2 (for): value 4 must be the same in all lanes"},
        {"%7:i64 = var 0 for_all %8:i64 < 8 { set %7 = %8 }",
         "statement 3 (set): value 6 must be the same in all lanes"},
        {"%7:i64 = var 0 for_all %8:i64 < 9 { set %7 = 1 }",
         "statement 3 (set): a variable of the piece may be set only by a whole single gang"},
        {"%7:i64 = var 0 for_all %8:i64 < 8 { %9:bool = lt %8, 3 if %9 { set %7 = 1 } }",
         "statement 5 (set): a variable of the piece may be set only by a whole single gang"},
        {"%7:i64 = var 0 for_all %8:i64 < 8 { %9:i64 = count %3 set %7 = %9 }", NULL},
        {"%9:i64 = count %3", "statement 1 (count): only threads have a gang"},
        {"%9:bool = all %3", "statement 1 (all): only threads have a gang"},
        {"%9:f32 = shuffle %2, 1", "statement 1 (shuffle): only threads have a gang"},
        {"for_all %8:i64 < 8 { %9:f32 = shuffle %2, 1 }", NULL},
        {"for_all %8:i64 < 9 { %9:f32 = shuffle %2, 1 }",
         "statement 2 (shuffle): the FOR_ALL may have more threads than a gang; its count must be at most 8"},
        {"for_all %8:i64 < %1 { %9:i64 = count %3 }",
         "statement 2 (count): the FOR_ALL may have more threads than a gang; its count must be at most 8"},
        {"%7:i64 = min %1, 8 for_all %8:i64 < %7 { %9:i64 = count %3 }", NULL},
        {"%7:i64 = min 8, %1 for_all %8:i64 < %7 { %9:i64 = count %3 }", NULL},
        {"%7:i64 = min %1, 9 for_all %8:i64 < %7 { %9:i64 = count %3 }",
         "statement 3 (count): the FOR_ALL may have more threads than a gang; its count must be at most 8"},
        {"%7:i64 = atomic min @4[0], 4 for_all %8:i64 < %7 { %9:i64 = count %3 }",
         "statement 3 (count): the FOR_ALL may have more threads than a gang; its count must be at most 8"},
        {"%7:i64 = max %1, 8 for_all %8:i64 < %7 { %9:i64 = count %3 }",
         "statement 3 (count): the FOR_ALL may have more threads than a gang; its count must be at most 8"},
        {"for_all %8:i64 < 8 { %9:f32 = shuffle %2, %1 }",
         "statement 2 (shuffle): the distance of a shuffle must be a literal"},
        {"for_all %8:i64 < 8 { %9:f32 = shuffle %2, %2 }", "statement 2 (shuffle): value 2 is a f32, not a i64"},
        {"for_all %8:i64 < 8 { %9:i64 = shuffle %2, 1 }", "statement 2 (shuffle): value 6 is a i64, not a f32"},
        {"for_all %8:i64 < 8 { %9:i64 = count %1 }", "statement 2 (count): value 1 is a i64, not a bool"},
        {"for_all %8:i64 < 8 { %9:bool = all %1 }", "statement 2 (all): value 1 is a i64, not a bool"},
        {"for_all %8:i64 < 8 { compact @2[0] = %1 where %3 }", "statement 2 (compact): value 1 is a i64, not a f32"},
        {"for_all %8:i64 < 8 { compact @2[0] = %2 where %1 }", "statement 2 (compact): value 1 is a i64, not a bool"},
    };
    CHECK(rules);
}

static void chains_are_well_formed(void **state)
{
#define CHAIN(state, initial, code, yield)                                                                             \
    "chain " state " before %10:i64 initial " initial " aggregate %1 left %11:i64 right %12:i64 { " code               \
    " } yield " yield
    static const rule rules[] = {
        {CHAIN("@3", "0", "%13:i64 = add %11, %12", "%13") " store @4[0] = %10", NULL},
        {CHAIN("@4", "0", "", "%11"), "statement 1 (chain): its state must be a global output of u64"},
        {CHAIN("@2", "0", "", "%11"), "statement 1 (chain): its state must be a global output of u64"},
        {CHAIN("@3", "%2", "", "%11"), "statement 1 (chain): value 2 is a f32, not a i64"},
        {CHAIN("@3", "0", "", "%2"), "statement 1 (chain): value 2 is a f32, not a i64"},
        {CHAIN("@3", "0", "", "%10"), "statement 1 (chain): value 4 is used where it is not visible"},
        {CHAIN("@3", "0", "", "%11") " store @4[0] = %11",
         "statement 2 (store): value 6 is used where it is not visible"},
        {CHAIN("@3", "0", "store @4[0] = 1", "%11"), "statement 2 (store): the code of a chain only computes"},
        {CHAIN("@3", "0", "set %11 = 1", "%11"), "statement 2 (set): value 6 is no variable that may be set"},
        {"if %3 { " CHAIN("@3", "0", "", "%11") " }",
         "statement 2 (chain): it must stand at the outermost level and carry 1 to 128 values"},
    };
    CHECK(rules);
}

static void declarations_make_sense(void **state)
{
    static const struct {
        const char *source, *why;
    } cases[] = {
        {"kernel k lanes 3 { }", "3 lanes; a power of two from 1 to 256 is possible"},
        {"kernel k lanes 512 { }", "512 lanes; a power of two from 1 to 256 is possible"},
        {"kernel k lanes 4 { shared @1:f32[0] }", "memory 1 has 0 elements; 1 to 2^31 are possible"},
        {"kernel k lanes 4 { private @1:f32[1] }", "memory 1 is private, but the kernel says no number of threads"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        const char *why = "", *message = "";
        kernel *k = k_parse(*state, cases[i].source, &message);
        assert_non_null(k);
        assert_false(k_verify(k, *state, &why));
        assert_string_equal(why, cases[i].why);
    }
}

/* What no text can say: broken references. */
static void broken_structure_is_found(void **state)
{
    const char *why = "";
    kernel *k = parsed(*state, "%9:i64 = add %1, 1 %10:i64 = add %1, 2");
    k->stmt.at[2].next = 1;
    assert_false(k_verify(k, *state, &why));
    assert_string_equal(why, "statement 1 (let): value 4 is not its own to define");

    k = parsed(*state, "if %3 { }");
    k->stmt.at[1].next = 1;
    assert_false(k_verify(k, *state, &why));
    assert_string_equal(why, "statement 1 (if): a list that comes back to itself");

    k = parsed(*state, "if %3 { }");
    k->stmt.at[1].orelse = 77;
    assert_false(k_verify(k, *state, &why));
    assert_string_equal(why, "statement 1 (if): a list leads nowhere");

    k = parsed(*state, "store @2[0] = %2");
    k->stmt.at[1].mem = 9;
    assert_false(k_verify(k, *state, &why));
    assert_string_equal(why, "statement 1 (store): there is no memory 9");

    k = parsed(*state, "store @2[0] = %2");
    k->stmt.at[1].in[1] = 0;
    assert_false(k_verify(k, *state, &why));
    assert_string_equal(why, "statement 1 (store): an operand is missing");

    k = parsed(*state, "store @2[0] = %2");
    k->stmt.at[1].in[2] = 1;
    assert_false(k_verify(k, *state, &why));
    assert_string_equal(why, "statement 1 (store): an operand too many");

    k = parsed(*state, "store @2[0] = %2");
    k->value.at[2].bits = 7;
    assert_false(k_verify(k, *state, &why));
    assert_string_equal(why, "value 2 is no argument of the launch");

    k = parsed(*state, CHAIN("@3", "0", "", "%11"));
    k->stmt.at[1].chain->initial[0] = 6; /* its own */
    assert_false(k_verify(k, *state, &why));
    assert_string_equal(why, "statement 1 (chain): value 6 is used where it is not visible");

    k = parsed(*state, CHAIN("@3", "0", "", "%11"));
    k->stmt.at[1].chain->aggregate[0] = 0;
    assert_false(k_verify(k, *state, &why));
    assert_string_equal(why, "statement 1 (chain): an operand is missing");

    k = parsed(*state, "%9:u8 = var 1:u8");
    for (k_val v = 1; v < k->value.n; v++)
        if (k->value.at[v].kind == KV_LITERAL)
            k->value.at[v].bits = 256;
    assert_false(k_verify(k, *state, &why));
    assert_string_equal(why, "value 5 has bits outside its type");
}

/* --- what no text says --- */

static void no_type(kernel *k)
{
    k->mem.at[2].type = T_NONE;
}

static void type_beyond(kernel *k)
{
    k->mem.at[2].type = T_COUNT;
}

static void space_beyond(kernel *k)
{
    k->mem.at[4].space = K_PRIVATE + 1;
}

static void no_elements(kernel *k)
{
    k->mem.at[4].count = 0;
}

static void most_elements(kernel *k)
{
    k->mem.at[4].count = INT64_C(1) << 31;
}

static void more_elements(kernel *k)
{
    k->mem.at[4].count = (INT64_C(1) << 31) + 1;
}

static void no_threads(kernel *k)
{
    k->threads = 0;
}

static void no_lanes(kernel *k)
{
    k->lanes = 0;
}

static void three_lanes(kernel *k)
{
    k->lanes = 3;
}

static void most_lanes(kernel *k)
{
    k->lanes = 256;
}

static void more_lanes(kernel *k)
{
    k->lanes = 512;
}

static void no_kind(kernel *k)
{
    k->value.at[2].kind = KV_NONE;
}

static void kind_beyond(kernel *k)
{
    k->value.at[2].kind = KV_VARIABLE + 1;
}

static void value_of_no_type(kernel *k)
{
    k->value.at[2].type = T_NONE;
}

static void small_piece(kernel *k)
{
    for (k_val v = 1; v < k->value.n; v++)
        if (k->value.at[v].kind == KV_PIECE)
            k->value.at[v].type = T_I32;
}

static void other_argument(kernel *k)
{
    k->value.at[2].bits = 0; /* which is an i64 */
}

static void body_beyond(kernel *k)
{
    k->body = k->stmt.n;
}

static void defines_none(kernel *k)
{
    k->stmt.at[1].dst = 0;
}

static void defines_beyond(kernel *k)
{
    k->stmt.at[1].dst = k->value.n;
}

static void no_operator(kernel *k)
{
    k->stmt.at[1].sub = OP_NONE;
}

static void operator_beyond(kernel *k)
{
    k->stmt.at[1].sub = OP_COUNT;
}

static void statement_beyond(kernel *k)
{
    k->stmt.at[1].op = K_CHAIN + 1;
}

static void operand_beyond(kernel *k)
{
    k->stmt.at[1].in[1] = k->value.n;
}

static void memory_beyond(kernel *k)
{
    k->stmt.at[1].mem = k->mem.n;
}

static void stateless(kernel *k)
{
    k->stmt.at[1].chain->state = 0;
}

static void state_beyond(kernel *k)
{
    k->stmt.at[1].chain->state = k->mem.n;
}

static void carries_none(kernel *k)
{
    k->stmt.at[1].chain->arity = 0;
}

static void carries_nine(kernel *k)
{
    k->stmt.at[1].chain->arity = K_MOST_CARRIED + 1;
}

static void before_none(kernel *k)
{
    k->stmt.at[1].chain->before[0] = 0;
}

static void left_none(kernel *k)
{
    k->stmt.at[1].chain->left[0] = 0;
}

static void right_none(kernel *k)
{
    k->stmt.at[1].chain->right[0] = 0;
}

static void yields_none(kernel *k)
{
    k->stmt.at[1].chain->result[0] = 0;
}

static void broken_tables_are_found(void **state)
{
    static const char add[] = "%9:i64 = add %1, piece", store[] = "store @2[0] = %2",
                      chain[] = CHAIN("@3", "0", "", "%11");
    static const struct {
        const char *body;
        void (*spoil)(kernel *k);
        const char *why; /* NULL: it is right */
    } cases[] = {
        {add, no_type, "memory 2 has no such space or type"},
        {add, type_beyond, "memory 2 has no such space or type"},
        {add, space_beyond, "memory 4 has no such space or type"},
        {add, no_elements, "memory 4 has 0 elements; 1 to 2^31 are possible"},
        {add, most_elements, NULL},
        {add, more_elements, "memory 4 has 2147483649 elements; 1 to 2^31 are possible"},
        {add, no_threads, "memory 5 is private, but the kernel says no number of threads"},
        {add, no_lanes, "0 lanes; a power of two from 1 to 256 is possible"},
        {add, three_lanes, "3 lanes; a power of two from 1 to 256 is possible"},
        {add, most_lanes, NULL},
        {add, more_lanes, "512 lanes; a power of two from 1 to 256 is possible"},
        {add, no_kind, "value 2 has no such kind or type"},
        {add, kind_beyond, "value 2 has no such kind or type"},
        {add, value_of_no_type, "value 2 has no such kind or type"},
        {add, small_piece, "value 5: the number of a piece is an i64"},
        {add, other_argument, "value 2 is no argument of the launch"},
        {add, body_beyond, "the body leads nowhere"},
        {add, defines_none, "statement 1 (let): it defines no value"},
        {add, defines_beyond, "statement 1 (let): it defines no value"},
        {add, no_operator, "statement 1 (let): there is no such statement"},
        {add, operator_beyond, "statement 1 (let): there is no such statement"},
        {add, statement_beyond, "there is no such statement"},
        {add, operand_beyond, "statement 1 (let): an operand is missing"},
        {store, memory_beyond, "statement 1 (store): there is no memory 6"},
        {chain, stateless, "statement 1 (chain): it has no state"},
        {chain, state_beyond, "statement 1 (chain): it has no state"},
        {chain, carries_none, "statement 1 (chain): it must stand at the outermost level and carry 1 to 128 values"},
        {chain, carries_nine, "statement 1 (chain): it must stand at the outermost level and carry 1 to 128 values"},
        {chain, before_none, "statement 1 (chain): it defines no value"},
        {chain, left_none, "statement 1 (chain): it defines no value"},
        {chain, right_none, "statement 1 (chain): it defines no value"},
        {chain, yields_none, "statement 1 (chain): an operand is missing"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        const char *why = "";
        kernel *k = parsed(*state, cases[i].body);
        if (!k_verify(k, *state, &why))
            fail_msg("%s: %s", cases[i].body, why);
        cases[i].spoil(k);
        if (k_verify(k, *state, &why) != !cases[i].why)
            fail_msg("case %zu: %s", i, cases[i].why ? "passes" : why);
        if (cases[i].why && !strstr(why, cases[i].why))
            fail_msg("case %zu: %s", i, why);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(broken_tables_are_found, setup, teardown),
        cmocka_unit_test_setup_teardown(types_agree, setup, teardown),
        cmocka_unit_test_setup_teardown(scopes_are_kept, setup, teardown),
        cmocka_unit_test_setup_teardown(levels_are_kept, setup, teardown),
        cmocka_unit_test_setup_teardown(memory_is_used_as_declared, setup, teardown),
        cmocka_unit_test_setup_teardown(gangs_stay_together, setup, teardown),
        cmocka_unit_test_setup_teardown(chains_are_well_formed, setup, teardown),
        cmocka_unit_test_setup_teardown(declarations_make_sense, setup, teardown),
        cmocka_unit_test_setup_teardown(broken_structure_is_found, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
