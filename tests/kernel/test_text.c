/* The text form: what it looks like, that it parses back to itself, and what mistakes are answered with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "kernel/kernel.h"
#include "kernel/launch.h"
#include "kernel/walk.h"

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

/* Every kind of statement once, in the form in which it is printed. */
static const char everything[] =
    "kernel everything lanes 8 threads 64 narrow {\n"
    "    global @in.1:f32\n"
    "    global @out.2:f32 written stream\n"
    "    global @3:u64 written\n"
    "    shared @tile.4:i64[16]\n"
    "    private @own.5:f32[2]\n"
    "    arg %n.1:i64 natural\n"
    "    arg %2:f64\n"
    "    %total.3:i64 = var 0\n"
    "    if true {\n"
    "        set %total.3 = 1\n"
    "    } else {\n"
    "        set %total.3 = piece\n"
    "    }\n"
    "    if either false {\n"
    "    }\n"
    "    for %j.4:i64 = 0 to 4 pack {\n"
    "        store @tile.4[%j.4] = %total.3\n"
    "    }\n"
    "    for_all %i.5:i64 < 8 {\n"
    "        %6:f32 = load ahead @in.1[%i.5]\n"
    "        %7:f32 = fma %6, 2.0:f32, -0x1.99999ap-4:f32\n"
    "        %8:bool = lt %7, inf:f32\n"
    "        %9:f32 = select %8, %7, nan(0x7fc00001):f32\n"
    "        %10:i32 = bitcast %9\n"
    "        %11:i64 = convert %10\n"
    "        check 7: %8, %i.5, %11, %n.1\n"
    "        note 8: %8, %i.5, %11, 10\n"
    "        store @own.5[1] = %9\n"
    "        %12:i64 = atomic add @tile.4[3], %11\n"
    "        loop {\n"
    "            break_if %8\n"
    "        }\n"
    "        compact @out.2[%total.3] = %9 where %8\n"
    "        compact_over @out.2[%total.3] = %9 where %8\n"
    "        %13:i64 = count %8\n"
    "        set %total.3 = %13\n"
    "        %14:f32 = shuffle %9, -3\n"
    "        %15:bool = all %8\n"
    "        %16:f32 = var %14\n"
    "        relax %16 = %9\n"
    "        %17:i64 = var %11\n"
    "        %18:i64 = bitcast %17\n"
    "        %19:i64 = add %18, %11\n"
    "        mix %17 = %19\n"
    "        %20:f32 = shuffle left %9, 4\n"
    "        %21:f32 = shuffle lane %9, 7\n"
    "        %22:f32 = shuffle pair %9, 1\n"
    "        fetch @in.1[%i.5] step 4096\n"
    "        fetch @in.1[%i.5] rows 4 apart %n.1\n"
    "        fetch_near @in.1[%n.1] step 0\n"
    "        %23:f32 = call bump, %9\n"
    "        %24:i32 = call other_1, %9, %10, 1.0:f32, %i.5\n"
    "        %25:f32 = call bump, %23\n"
    "    }\n"
    "    for_all %26:i64 < 3 few {\n"
    "    }\n"
    "    for_all %27:i64 < 32 whole {\n"
    "    }\n"
    "    chain @3 before %b.28:i64, %c.29:f64 initial 0, 0x1p-1:f64 aggregate %total.3, %2 left "
    "%30:i64, %31:f64 right %32:i64, %33:f64 {\n"
    "        %34:i64 = add %30, %32\n"
    "        %35:f64 = mul %31, %33\n"
    "    } yield %34, %35\n"
    "    store @tile.4[0] = %b.28\n"
    "}\n";

/* Foreign code takes one to four numbers, which are operands like others. */
static void operands_of_calls(void **state)
{
    static const char source[] = "kernel k lanes 4 { arg %1:f32 for_all %2:i64 < 4 { %3:f32 = call f, %1 "
                                 "%4:f32 = call f, %1, %3 %5:f32 = call f, %1, %3, %4 "
                                 "%6:f32 = call f, %1, %3, %4, %5 } }";
    (void)state;
    arena a;
    const char *message = "";
    arena_init(&a, NULL);
    kernel *k = k_parse(&a, source, &message);
    if (!k)
        fail_msg("%s", message);
    unsigned calls = 0;
    for (k_ref r = 1; r < k->stmt.n; r++)
        if (k->stmt.at[r].op == K_CALL)
            assert_int_equal(k_operands(&k->stmt.at[r]), ++calls);
    assert_int_equal(calls, 4);
    arena_free(&a);
}

static void printed(arena *a, const char *source, text *out)
{
    const char *message = "";
    kernel *k = k_parse(a, source, &message);
    if (!k)
        fail_msg("%s", message);
    text_init(out, a);
    k_print(k, out);
}

static void every_statement_round_trips(void **state)
{
    text t;
    printed(*state, everything, &t);
    assert_string_equal(t.at, everything);
}

static void parsed_kernels_verify(void **state)
{
    const char *message = "", *why = "";
    kernel *k = k_parse(*state, everything, &message);
    assert_non_null(k);
    if (!k_verify(k, *state, &why))
        fail_msg("%s", why);
    assert_true(k->chained);
    assert_int_equal(k->threads, 64);
}

/* Numbers, comments and space of the source do not matter. */
static void text_is_normalised(void **state)
{
    text t;
    printed(*state,
            "kernel k lanes 4 { # a comment\n global @9:i64 written arg %aAzZ09_.30:i64\n"
            "for_all %7:i64 < %30 { %8:i64 = add %7, -5:i64 store @9[%7] = %x.8 } }",
            &t);
    assert_string_equal(t.at, "kernel k lanes 4 {\n"
                              "    global @1:i64 written\n"
                              "    arg %aAzZ09_.1:i64\n"
                              "    for_all %2:i64 < %aAzZ09_.1 {\n"
                              "        %3:i64 = add %2, -5\n"
                              "        store @1[%2] = %3\n"
                              "    }\n"
                              "}\n");
}

/* The example of the documentation is right and in the form in which it is printed. */
static void the_documented_kernel_round_trips(void **state)
{
    char *document = arena_alloc(*state, 1 << 16);
    FILE *f = fopen("docs/text-forms.md", "r");
    assert_non_null(f);
    fread(document, 1, (1 << 16) - 1, f);
    fclose(f);
    char *source = strstr(document, "\nkernel "), *end = source ? strstr(source, "```") : NULL;
    assert_non_null(end);
    *end = 0;
    text t;
    const char *message = "", *why = "";
    printed(*state, source + 1, &t);
    assert_string_equal(t.at, source + 1);
    if (!k_verify(k_parse(*state, source + 1, &message), *state, &why))
        fail_msg("%s", why);
}

static void odd_names_are_made_plain(void **state)
{
    k_builder b;
    text t, again;
    kernel *k = k_new(*state, "f(x) \"y\"\n", 4);
    k_begin(&b, k);
    k_mem m = k_global(&b, T_F32, true, "a b.1");
    k_val n = k_arg(&b, T_I64, "\xc3\xa9t\xc3\xa9");
    k_store(&b, m, n, k_literal(&b, T_F32, 0));
    text_init(&t, *state);
    k_print(k, &t);
    printed(*state, t.at, &again);
    assert_string_equal(t.at, again.at);
}

/* Every literal reads back as the same bits. */
static void literals_keep_their_bits(void **state)
{
    static const struct {
        ir_type t;
        ir_bits bits;
    } cases[] = {{T_BOOL, 1},
                 {T_I8, 0x80},
                 {T_I64, UINT64_C(1) << 63},
                 {T_I64, INT64_MAX},
                 {T_U64, UINT64_MAX},
                 {T_U8, 255},
                 {T_CHAR, 0x1f600},
                 {T_F32, 0x80000000},
                 {T_F32, 1},
                 {T_F32, 0x7f7fffff},
                 {T_F32, 0xff800000},
                 {T_F32, 0xffc12345},
                 {T_F64, 0x3fb999999999999a},
                 {T_F64, UINT64_C(0x8000000000000001)},
                 {T_F64, UINT64_C(0x7ff8000000000000)},
                 {T_F64, UINT64_C(0x4340000000000001)}};
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        k_builder b;
        text t;
        const char *message = "";
        kernel *k = k_new(*state, "k", 1);
        k_begin(&b, k);
        k_store(&b, k_global(&b, cases[i].t, true, "m"), k_i64(&b, 0), k_literal(&b, cases[i].t, cases[i].bits));
        text_init(&t, *state);
        k_print(k, &t);
        kernel *back = k_parse(*state, t.at, &message);
        if (!back)
            fail_msg("%s in %s", message, t.at);
        const k_value *v = &back->value.at[back->stmt.at[back->body].in[1]];
        assert_int_equal(v->type, cases[i].t);
        assert_true(v->bits == cases[i].bits);
    }
}

static void mistakes_have_lines(void **state)
{
    static const struct {
        const char *source, *message;
    } cases[] = {
        {"kernel k lanes 4 {\n  store @1[0] = 1\n}", "line 2: there is no memory @1"},
        {"kernel k lanes 4 {\n\n  %1:i64 = add %2, 1\n}", "line 3: %2 is not defined before"},
        {"kernel k lanes 4 {\n  %1:i64 = var 1\n %1:i64 = var 2\n}", "line 3: %1 is defined twice"},
        {"kernel k lanes 4 {\n  %1:f16 = var 1\n}", "line 2: a type expected before `f16 = var 1\n`"},
        {"kernel k lanes 4 {\n  %1:i64 = frobnicate 1\n}", "line 2: an operator expected before `frobnicate 1`"},
        {"kernel k lanes 4 {\n  %1:u8 = var 256:u8\n}", "line 2: a u8 has no such value"},
        {"kernel k lanes 4 {\n  %1:i64 = var 1.5:i64\n}", "line 2: a i64 has no such value"},
        {"kernel k lanes 4 {\n  halt\n}", "line 2: a statement expected before `halt\n}`"},
        {"kernel k lanes 4 {\n  loop {\n", "line 3: a statement expected before ``"},
        {"kernel k lanes 4 {\n}\n}", "line 3: text behind the kernel"},
        {"kernel k lanes -4 {\n}", "line 1: a number from 0 to 2^32 - 1 expected"},
        {"colonel k", "line 1: `kernel` expected before `colonel k`"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        const char *message = "none";
        assert_null(k_parse(*state, cases[i].source, &message));
        assert_string_equal(message, cases[i].message);
    }
}

/* Texts cut short or with one character changed: an answer, never a crash. */
static void damaged_texts_are_survived(void **state)
{
    arena a;
    size_t n = strlen(everything), answered = 0;
    (void)state;
    for (size_t i = 0; i < n; i++) {
        arena_init(&a, NULL);
        char *copy = arena_copy(&a, everything, n + 1);
        const char *message = NULL, *why = NULL;
        copy[i] = i % 3 ? (char)(33 + i * 7 % 90) : 0;
        kernel *k = k_parse(&a, copy, &message);
        assert_true(k || message);
        if (k)
            answered += k_verify(k, &a, &why) || why;
        arena_free(&a);
    }
    assert_true(answered > 0);
}

static void deep_nesting_needs_no_stack(void **state)
{
    enum { DEPTH = 100000 };
    text t, again;
    text_init(&t, *state);
    text_add(&t, "kernel k lanes 4 {\n");
    for (int i = 0; i < DEPTH; i++)
        text_add(&t, "if true {");
    for (int i = 0; i < DEPTH; i++)
        text_add(&t, "}");
    text_add(&t, "}\n");
    const char *message = "", *why = "";
    kernel *k = k_parse(*state, t.at, &message);
    assert_non_null(k);
    assert_true(k_verify(k, *state, &why));
    k_analyse(k);
    k_layout(k, 64);
    text_init(&again, *state);
    k_key(k, &again);
    assert_true(again.n > DEPTH);
}

/* --- keys --- */

static text key_of(arena *a, const char *source)
{
    const char *message = "";
    text t;
    kernel *k = k_parse(a, source, &message);
    if (!k)
        fail_msg("%s", message);
    text_init(&t, a);
    k_key(k, &t);
    return t;
}

static bool same_key(arena *a, const char *x, const char *y)
{
    text kx = key_of(a, x), ky = key_of(a, y);
    return kx.n == ky.n && memcmp(kx.at, ky.at, kx.n) == 0;
}

static void keys_ignore_names_only(void **state)
{
    static const char base[] =
        "kernel k lanes 4 { global @1:f32 written arg %n.1:i64 for_all %2:i64 < %1 { store @1[%2] = 1.0:f32 } }";
    static const char *const different[] = {
        "kernel k lanes 8 { global @1:f32 written arg %n.1:i64 for_all %2:i64 < %1 { store @1[%2] = 1.0:f32 } }",
        "kernel k lanes 4 { global @1:f32 written stream arg %n.1:i64 for_all %2:i64 < %1 { store @1[%2] = 1.0:f32 } }",
        "kernel k lanes 4 { global @1:f32 written arg %n.1:i64 for_all %2:i64 < %1 { store @1[%2] = 2.0:f32 } }",
        "kernel k lanes 4 { global @1:f32 written arg %n.1:i64 for_all %2:i64 < 4 { store @1[%2] = 1.0:f32 } }",
        "kernel k lanes 4 { global @1:f32 written arg %n.1:i64 for_all %2:i64 < %1 { store @1[%1] = 1.0:f32 } }",
        "kernel k lanes 4 { global @1:f32 written arg %n.1:i64 for_all %2:i64 < %1 { } store @1[%1] = 1.0:f32 }",
        "kernel k lanes 4 { global @1:f32 written arg %n.1:i64 natural for_all %2:i64 < %1 { store @1[%2] = 1.0:f32 } "
        "}",
        "kernel k lanes 4 { global @1:f32 written arg %n.1:i64 arg %3:i64 for_all %2:i64 < %1 { store @1[%2] = 1.0:f32 "
        "} }",
    };
    assert_true(
        same_key(*state, base,
                 "kernel other lanes 4 { global @x.1:f32 written arg %7:i64 for_all %i.2:i64 < %7 { store @1[%2] = "
                 "1.0:f32 } }"));
    for (size_t i = 0; i < ARRAY_LENGTH(different); i++)
        assert_false(same_key(*state, base, different[i]));
}

/* Whatever a device compiles otherwise is told apart; every property that a kernel declares is changed once. */
static void keys_hold_what_is_declared(void **state)
{
    static const char source[] =
        "kernel k lanes 4 { global @1:f32 written arg %1:i64 shared @2:i32[8] store @2[%1] = 1:i32 "
        "store @1[%1] = 1.0:f32 }";
    enum { CHANGES = 15 };
    for (int change = 0; change < CHANGES; change++) {
        const char *message = "";
        kernel *k = k_parse(*state, source, &message);
        assert_non_null(k);
        text before = key_of(*state, source), after;
        k_stmt *store = &k->stmt.at[1];
        for (k_ref r = 1; r < k->stmt.n; r++)
            store = k->stmt.at[r].op == K_STORE ? &k->stmt.at[r] : store;
        switch (change) {
        case 0:
            k->arg_type.n = 0;
            break;
        case 1:
            k->threads++;
            break;
        case 2:
            k->narrow = !k->narrow;
            break;
        case 3:
            k->lanes *= 2;
            break;
        case 4:
            k->mem.at[1].once = !k->mem.at[1].once;
            break;
        case 14:
            k->mem.at[1].one = !k->mem.at[1].one;
            break;
        case 5:
            k->mem.at[1].stream = !k->mem.at[1].stream;
            break;
        case 6:
            k->mem.at[1].written = !k->mem.at[1].written;
            break;
        case 7:
            k->mem.at[1].type = T_I32;
            break;
        case 8:
            k->mem.at[2].space = K_PRIVATE;
            break;
        case 9:
            k->mem.at[2].count++;
            break;
        case 10:
            k->arg_type.at[0] = T_U64;
            break;
        case 11:
            store->site++;
            break;
        case 12:
            store->sub++;
            break;
        default:
            store->mem = 2;
            break;
        }
        text_init(&after, *state);
        k_key(k, &after);
        if (after.n == before.n && !memcmp(after.at, before.at, after.n))
            fail_msg("change %d leaves the key as it was", change);
    }
}

static const kernel *parsed(arena *a, const char *source)
{
    const char *message = NULL;
    const kernel *k = k_parse(a, source, &message);
    if (!k)
        fail_msg("%s", message);
    return k;
}

/* A copy that shares with another kernel is the same text, and the other one stays as it was. */
static void assert_copied(arena *a, const kernel *k, const kernel *like, bool values, bool statements)
{
    text before, after, copied, original;
    text *const all[] = {&before, &after, &copied, &original};
    for (unsigned i = 0; i < ARRAY_LENGTH(all); i++)
        text_init(all[i], a);
    k_print(like, &before);
    const kernel *c = k_clone_like(k, like, a);
    k_print(c, &copied);
    k_print(k, &original);
    k_print(like, &after);
    assert_string_equal(copied.at, original.at);
    assert_string_equal(after.at, before.at);
    assert_int_equal(c->value.at == like->value.at, values);
    assert_int_equal(c->stmt.at == like->stmt.at, statements);
    assert_ptr_not_equal(c->stmt.at, k->stmt.at);
    assert_ptr_not_equal(c->mem.at, like->mem.at);
}

static void copies_share_what_is_the_same(void **state)
{
    arena *a = *state;
    static const char form[] = "kernel %s lanes 8 {\n"
                               "    global @%s.1:f32 written\n"
                               "    arg %%n.1:i64\n"
                               "    for_all %%i.2:i64 < %%n.1 {\n"
                               "        %%%s3:f32 = load @%s.1[%%i.2]\n"
                               "        %%4:f32 = %s %%%s3, %s:f32\n"
                               "        store @%s.1[%%i.2] = %%4\n"
                               "    }\n"
                               "}\n";
    const kernel *k = parsed(a, arena_printf(a, form, "k", "x", "", "x", "add", "", "1.0", "x")),
                 *renamed = parsed(a, arena_printf(a, form, "other", "y", "", "y", "add", "", "1.0", "y")),
                 *value_named = parsed(a, arena_printf(a, form, "k", "x", "v.", "x", "add", "v.", "1.0", "x")),
                 *literal = parsed(a, arena_printf(a, form, "k", "x", "", "x", "add", "", "2.0", "x")),
                 *op = parsed(a, arena_printf(a, form, "k", "x", "", "x", "sub", "", "1.0", "x"));
    assert_copied(a, renamed, k, true, true);
    assert_copied(a, value_named, k, false, true);
    assert_copied(a, literal, k, false, true);
    assert_copied(a, op, k, true, false);
    assert_copied(a, parsed(a, everything), k, false, false);
    assert_copied(a, parsed(a, everything), parsed(a, everything), true, false); /* a CHAIN is each one's own */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_statement_round_trips, setup, teardown),
        cmocka_unit_test_setup_teardown(parsed_kernels_verify, setup, teardown),
        cmocka_unit_test_setup_teardown(text_is_normalised, setup, teardown),
        cmocka_unit_test_setup_teardown(the_documented_kernel_round_trips, setup, teardown),
        cmocka_unit_test_setup_teardown(odd_names_are_made_plain, setup, teardown),
        cmocka_unit_test_setup_teardown(literals_keep_their_bits, setup, teardown),
        cmocka_unit_test_setup_teardown(mistakes_have_lines, setup, teardown),
        cmocka_unit_test_setup_teardown(damaged_texts_are_survived, setup, teardown),
        cmocka_unit_test_setup_teardown(deep_nesting_needs_no_stack, setup, teardown),
        cmocka_unit_test(operands_of_calls),
        cmocka_unit_test_setup_teardown(copies_share_what_is_the_same, setup, teardown),
        cmocka_unit_test_setup_teardown(keys_ignore_names_only, setup, teardown),
        cmocka_unit_test_setup_teardown(keys_hold_what_is_declared, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
