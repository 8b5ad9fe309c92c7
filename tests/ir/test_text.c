/* The text form of terms: golden texts, printed and parsed back to the same text and the same meaning, messages with
 * lines, hostile input, and size: linear on chains and on terms that would unfold exponentially. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "ir/interpret.h"
#include "support/guarded.h"
#include "support/program_text.h"
#include "support/random_program.h"

/* --- golden texts: printed exactly as written here --- */

static const char *const golden[] = {
    /* everything an array operation can carry */
    "site 1 \"dot.c\":3 \"zip_with\"\n"
    "site 2 ?:0 \"say \\\"hi\\\"\\x0a\"\n"
    "extents n, m, \"x1\", \"map\", _under, \"2nd\", \"a-b\"\n"
    "a1 = input [n, \"x1\"]f32\n"
    "a2 = input@1 [m, \"map\"](f32, i32)\n"
    "a3 = zip_with: map@1 a1, a2 {x1: f32, x2: f32, x3: i32 -> x1 * x2, x3}\n"
    "a4 = map indexed a1 {x1: i64, x2: i64, x3: f32 -> x1 - x2, x3}\n"
    "a5 = fold commutes a3 seed 0.0f32, -1i32 {x1: f32, x2: i32, x3: f32, x4: i32 -> x1 + x3, max(x2, x4)}\n"
    "a6 = fold a1 {x1: f32, x2: f32 -> x1 - x2}\n"
    "a7 = \"Reverse!\": backpermute safe [n, \"x1\"] a1 {x1: i64, x2: i64 -> n - x1 + -1, x2}\n"
    "a8 = backpermute@2 [5] a6 {x1: i64 -> x1 * 2}\n"
    "a9 = reshape [n * m, \"x1\" * m] a1\n"
    "a10 = stencil a1 pattern 1 x 3 mirror, a4 pattern 1 x 1 function {x1: i64, x2: i64 -> x1, f32(x2)} "
    "{x3: f32, x4: f32, x5: f32, x6: i64, x7: f32 -> x3 + x5}\n"
    "a11 = force a10\n"
    "a12 = generate [] {-> true, 5i32}\n"
    "check@1 n == m \"zip_with: the operands' extents differ in dimension 0\"\n"
    "check@2 \"x1\" == \"map\" \"zip_with: the operands' extents differ in dimension 1\"\n"
    "check n * \"x1\" == n * m * m * \"x1\" \"reshape: the numbers of elements before and after differ\"\n"
    "output a5, a7, a8, a9, a11, a12, a1\n",
    /* every literal */
    "a1 = generate [] {-> true, false, 0, -9223372036854775808, 255u8, -128i8, 18446744073709551615u64, 97char, "
    "0.1f32, 1e+30f32, 1e-45f32, -0.0f64, 0.1f64, 3.0f64, 5e-324f64, inf_f32, -inf_f64, nan_f32(0x7fc00000)}\n"
    "output a1\n",
    /* precedence, brackets, words */
    "a1 = generate [3] {x1: i64 -> (x1 + 1) * x1, x1 + 1 * x1, x1 - (x1 - 1), x1 - x1 - 1, -x1, -(x1 + 2), neg(5), "
    "bit_and(x1, 3), if x1 < 2 then x1 else 7, (if x1 < 3 then x1 else 7) + 1, -2 * x1}\n"
    "a2 = generate [3] {x1: i64 -> x1 < 1 && x1 > 2 || !(x1 == 1), (x1 < 4) == (x1 < 2), i8(x1), bitcast_f64(x1), "
    "fma(f32(x1), 2.0f32, 1.0f32), foreign \"bump\"(x1 * 2, x1, 3) + 1, foreign \"half\"(0.5f32, 2.0f32)}\n"
    "output a1, a2\n",
    /* shared terms, loops, reads, places of what may fail */
    "site 1 \"a.c\":7 \"index\"\n"
    "extents n\n"
    "a1 = input [n](f32, i32)\n"
    "a2 = generate [n] {x1: i64\n"
    "    t1 = a1[x1].0@1\n"
    "    l1 = while (x2 = t1, x3 = 0) {\n"
    "        t2 = x2 * x2\n"
    "        l2 = for (x4 < x3; x5 = t2) {\n"
    "            next x5 + f32(x4) * t1\n"
    "        }\n"
    "        test t2 < 4.0f32 && x3 < 100\n"
    "        next t2 + l2.0, x3 + 1\n"
    "    }\n"
    "    -> l1.0, l1.1 /@1 x1, a1[linear x1].1 + a1[safe 0].1, t1}\n"
    "output a2\n",
    /* extents whose values are known */
    "extents n, number1 = 5, \"a b\" = -9223372036854775808\n"
    "a1 = input [n]f32\n"
    "a2 = generate [number1] {x1: i64 -> x1 + \"a b\"}\n"
    "output a2\n",
    /* closed terms used by several functions stand outside */
    "a1 = input [4]f32\n"
    "l1 = for (x1 < 10; x2 = 1.0f32) {\n"
    "    next x2 * 1.5f32\n"
    "}\n"
    "c1 = a1[safe 0] + l1.0\n"
    "a2 = map a1 {x1: f32 -> x1 + c1}\n"
    "a3 = map a2 {x1: f32 -> x1 * c1 + l1.0}\n"
    "output a3\n",
    ""};

static void golden_texts(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(golden); i++) {
        arena a;
        arena_init(&a, NULL);
        assert_string_equal(print(&a, parse(&a, golden[i])), golden[i]);
        arena_free(&a);
    }
}

/* Names, comments and spaces are the writer's; printing gives them the usual form. */
static void free_form(void **state)
{
    (void)state;
    arena a;
    arena_init(&a, NULL);
    const char *source = "extents n # one name, one extent\n"
                         "xs = input[n]f32 ys=input [ n ] f32\n"
                         "dot=fold (map)";
    const char *message = NULL;
    assert_null(ir_parse(&a, source, &message));
    source = "extents n # one name, one extent\n"
             "xs = input[n]f32 ys=input [ n ] f32\n"
             "products = zip_with: map xs, ys {x: f32, y: f32 \n   p = x*y q = p+p -> q*q}\n"
             "dot=fold products seed 0f32 {l:f32,r:f32->l+r} output dot";
    assert_string_equal(print(&a, parse(&a, source)),
                        "extents n\n"
                        "a1 = input [n]f32\n"
                        "a2 = input [n]f32\n"
                        "a3 = zip_with: map a1, a2 {x1: f32, x2: f32\n"
                        "    t1 = x1 * x2\n"
                        "    t2 = t1 + t1\n"
                        "    -> t2 * t2}\n"
                        "a4 = fold commutes a3 seed 0.0f32 {x1: f32, x2: f32 -> x1 + x2}\n"
                        "output a4\n");
    arena_free(&a);
}

/* Words of the language stand in quotes where they are names, and so does what the printer makes up; what only looks
 * like one of these does not. */
static void names(void **state)
{
    static const char *const quoted[] = {"if",   "wide",    "right", "f32",         "bool",      "u8", "sin",
                                         "land", "convert", "max",   "bitcast_f32", "bitcast_x", "n1", "x25",
                                         "1n",   "a b",     "a-b",   "a\\\\\\\"b",  "",          "é"};
    static const char *const plain[] = {"n",    "x",      "width",    "iff", "f33", "if_",
                                        "sine", "bitcas", "bitcast_", "_1",  "n1a", "A_b2"};
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(quoted) + ARRAY_LENGTH(plain); i++) {
        arena a;
        arena_init(&a, NULL);
        bool is_plain = i >= ARRAY_LENGTH(quoted);
        const char *name = is_plain ? plain[i - ARRAY_LENGTH(quoted)] : quoted[i], *quote = is_plain ? "" : "\"";
        const char *in = arena_printf(&a, "extents \"%s\" a = input [\"%s\"]f32 output a", name, name);
        assert_string_equal(print(&a, parse(&a, in)),
                            arena_printf(&a, "extents %s%s%s\na1 = input [%s%s%s]f32\noutput a1\n", quote, name, quote,
                                         quote, name, quote));
        arena_free(&a);
    }
}

/* A text may end anywhere; nothing behind its end is looked at. */
static void texts_end(void **state)
{
    static const char *const cut[] = {"output \"",
                                      "output \"\\",
                                      "output \"a\\",
                                      "extents n = 1e",
                                      "extents n = 1e-",
                                      "output a1.",
                                      "extents n = 5.",
                                      "a = gen",
                                      "a = input [3]f3",
                                      "#",
                                      "a1 <",
                                      "-",
                                      ""};
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(cut); i++) {
        arena a;
        arena_init(&a, NULL);
        guarded g = guarded_new(strlen(cut[i]) + 1, true);
        const char *message = NULL;
        memcpy(g.at, cut[i], strlen(cut[i]));
        if (!ir_parse(&a, g.at, &message))
            assert_non_null(message);
        guarded_free(&g);
        arena_free(&a);
    }
}

/* Numbers as people write them; a word behind one is its type, or nothing that belongs to it. */
static void written_numbers(void **state)
{
    static const struct {
        const char *written, *printed;
    } numbers[] = {
        {"1e-5f32", "1e-05f32"},
        {"1e5f64", "1e+05f64"},
        {"2.5e+1f32", "25.0f32"},
        {"1e-05f64", "1e-05f64"},
        {"1e+10f32", "1e+10f32"},
        {"0.5e3f64", "5e+02f64"},
        {"007", "7"},
        {"12i8", "12i8"},
        {"1.5e-3f32", "0.0015f32"},
        {"00.25f32", "0.25f32"},
        {"1e0f32", "1.0f32"},
        {"255u8", "255u8"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(numbers); i++) {
        arena a;
        arena_init(&a, NULL);
        assert_string_equal(
            print(&a, parse(&a, arena_printf(&a, "a = generate [] {-> %s} output a", numbers[i].written))),
            arena_printf(&a, "a1 = generate [] {-> %s}\noutput a1\n", numbers[i].printed));
        arena_free(&a);
    }
}

/* What a text from outside says to be safe stays so where it is seen to be, and only there. */
static void claims_are_looked_at(void **state)
{
    static const struct {
        const char *statement;
        bool believed;
    } claims[] = {
        {"c = backpermute safe [n] a {i: i64 -> i}", true},
        {"c = backpermute safe [n] a {i: i64 -> n - 1 - i}", true},
        {"c = backpermute safe [n] a {i: i64 -> i + 1}", false},
        {"c = backpermute safe [m] a {i: i64 -> i}", false},
        {"c = backpermute safe [n, m] a {i: i64, j: i64 -> i}", true},
        {"c = backpermute safe [m, n] a {i: i64, j: i64 -> j}", true},
        {"c = backpermute safe [m, n] a {i: i64, j: i64 -> i}", false},
        {"c = backpermute safe [m, n] b {i: i64, j: i64 -> j, i}", true},
        {"c = backpermute safe [n, m] b {i: i64, j: i64 -> j, i}", false},
        {"c = backpermute safe [n, m] b {i: i64, j: i64 -> i, i}", false},
        {"c = backpermute safe [n, m] b {i: i64, j: i64 -> j, j}", false},
        {"c = generate [n] {i: i64 -> a[safe i]}", false},
        {"c = generate [m] {i: i64 -> a[safe min(0, i)]}", false},
        {"c = generate [n] {i: i64 l = for (k < n; s = 0.0f32) { next s + a[safe k] } -> l.0}", true},
        {"c = generate [n] {i: i64 l = for (k < n; s = 0.0f32) { next s + a[safe linear k] } -> l.0}", false},
        {"c = generate [n] {i: i64 l = for (k < m; s = 0.0f32) { next s + a[safe k] } -> l.0}", false},
        {"c = generate [n] {i: i64 l = for (k < n; s = 0.0f32) { l2 = for (q < m; t = s) { next t + b[safe k, q] } "
         "next l2.0 } -> l.0}",
         true},
        {"c = generate [n] {i: i64 l = for (k < n; s = 0.0f32) { l2 = for (q < m; t = s) { next t + b[safe q, k] } "
         "next l2.0 } -> l.0}",
         false},
        {"c = generate [n] {i: i64 l = for (k < n; s = 0.0f32) { l2 = for (q < m; t = s) { next t + b[safe k, k] } "
         "next l2.0 } -> l.0}",
         false},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(claims); i++) {
        arena a;
        arena_init(&a, NULL);
        const char *message = NULL;
        const char *source =
            arena_printf(&a, "extents n, m a = input [n]f32 b = input [n, m]f32 %s output c", claims[i].statement);
        ir_program *p = ir_parse_doubtful(&a, source, &message);
        if (!p)
            fail_msg("%s\n%s", message, source);
        if ((strstr(print(&a, p), "safe") != NULL) != claims[i].believed)
            fail_msg("%s\n%s", source, print(&a, p));
        assert_non_null(strstr(print(&a, parse(&a, source)), "safe")); /* our own texts are believed */
        arena_free(&a);
    }
}

/* --- single terms, for messages --- */

static void scalar_texts(void **state)
{
    (void)state;
    arena a;
    arena_init(&a, NULL);
    ir_program *p = ir_program_new(&a);
    ir_id n = ir_dim(p, "n"), one = ir_i64(p, 1), e = ir_op2(p, 0, OP_SUB, n, one);
    text t;
    text_init(&t, &a);
    ir_print_scalar(p, e, &t);
    assert_string_equal(t.at, "n - 1");
    ir_id v = ir_var(p, T_I64), shared = ir_op2(p, 0, OP_MUL, v, n);
    text_init(&t, &a);
    ir_print_scalar(p, ir_op2(p, 0, OP_ADD, ir_op2(p, 0, OP_QUOT, shared, v), shared), &t);
    char want[64];
    snprintf(want, sizeof want, "quot(t1, v%u) + t1 where t1 = v%u * n", v, v);
    assert_string_equal(t.at, want);
    text_init(&t, &a);
    ir_print_scalar(p, 0, &t);
    ir_print_scalar(p, 12345, &t);
    assert_string_equal(t.at, "??");
    arena_free(&a);
}

/* --- random programs --- */

static bool same_values(const ir_value *x, const ir_value *y)
{
    size_t count = 1;
    if (x->rank != y->rank || x->components != y->components)
        return false;
    for (unsigned d = 0; d < x->rank; d++) {
        if (x->extent[d] != y->extent[d])
            return false;
        count *= (size_t)x->extent[d];
    }
    for (unsigned c = 0; c < x->components; c++)
        if (x->type[c] != y->type[c] ||
            (count && memcmp(x->data[c], y->data[c], count * ir_type_size(x->type[c])) != 0))
            return false;
    return true;
}

static void compare_runs(arena *a, const random_case *c, const ir_program *q)
{
    const ir_program *p = c->program;
    ir_failure first = {0}, second = {0};
    ir_value *x = arena_array(a, *x, p->output.n + 1), *y = arena_array(a, *y, p->output.n + 1);
    bool good = ir_interpret(p, a, c->input, x, &first);
    assert_int_equal(ir_interpret(q, a, c->input, y, &second), good);
    if (!good) {
        assert_string_equal(first.message, second.message);
        assert_int_equal(first.element, second.element);
        return;
    }
    for (uint32_t k = 0; k < p->output.n; k++)
        assert_true(same_values(&x[k], &y[k]));
}

static void random_programs(void **state)
{
    (void)state;
    random_options o = random_everything();
    o.failures = o.math = true;
    uint64_t seeds = getenv("SINTER_TEST_LONG") ? 20000 : 400;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        arena a;
        arena_init(&a, NULL);
        o.rows = seed % 2;
        random_case c = random_program(&a, &o, seed);
        const char *why = NULL;
        if (!ir_check_program(c.program, &a, &why))
            fail_msg("seed %llu: %s", (unsigned long long)seed, why);
        const char *first = print(&a, c.program);
        ir_program *q = parse(&a, first);
        const char *second = print(&a, q);
        if (strcmp(first, second) != 0)
            fail_msg("seed %llu:\n%s\nbecame\n%s", (unsigned long long)seed, first, second);
        compare_runs(&a, &c, q);
        arena_free(&a);
    }
}

/* --- mistakes --- */

static const struct mistake {
    const char *source, *message;
} mistakes[] = {
    {"a = map", "line 1, column 8: expected the name of an array at the end"},
    {"a = input [3]f32\nb = fold a {x: f32, y: f32 -> x ** y}", "line 2, column 34: expected a term at `*`"},
    {"a = input [3]f32\nb = force a, a", "line 2, column 15: force takes one array, not 2 at the end"},
    {"a = input [k]f32", "line 1, column 13: `k` is not known; expected a name that is declared at `]`"},
    {"a = input [3]f33", "line 1, column 14: expected a type at `f33`"},
    {"a = input [3]f32\n\nb = map a {x: f32 -> x + 1}",
     "line 3, column 26: add: the operands have different types: f32 and i64; convert one"},
    {"a = generate [3] {i: i64 -> 300u8}", "line 1, column 29: expected a number of type u8 at `300u8`"},
    {"a = generate [3] {i: i64 -> -1u8}", "line 1, column 30: expected a number of type u8 at `1u8`"},
    {"a = generate [3] {i: i64 -> 9223372036854775808}",
     "line 1, column 29: expected a number of type i64 at `9223372036854775808`"},
    {"a = generate [3] {i: i64 -> a[i]}",
     "line 1, column 30: `a` is not known; expected a name that is declared at `[`"},
    {"a = input [3]f32 b = input [4]f32\nc = map a, b {x: f32, y: f32 -> x}",
     "line 2, column 34: map: the operands' extents differ in dimension 0: 3 and 4; they have to be equal"},
    {"check 3 == 4@1 \"what\"", "line 1, column 13: expected a string at `@`"},
    {"check@1 3 == 4 \"what\"", "line 1, column 9: site 1 is not declared; expected one that is at `3`"},
    {"a = input [3]f32 output a, if", "line 1, column 28: expected the name of an array at `if`"},
    {"a = input [3]\"", "line 1, column 14: expected a type at `\"`"},
    {"a = generate [3] {map: i64 -> 3}", "line 1, column 19: expected a name at `map`"},
    {"l = for (i < 3; x = 1f32) { next x, x }", "line 1, column 40: 2 next values, but 1 states at the end"},
    {"c = nan_f32(12x)", "line 1, column 13: expected the bits of a NaN at `12x`"},
    {"extents n, n = 3", "line 1, column 17: this extent has been named before; expected a new name at the end"},
    {"extents n = x", "line 1, column 13: expected a number at `x`"},
    {"$", "line 1, column 1: expected a statement at `$`"},
};

static void messages(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(mistakes); i++) {
        arena a;
        arena_init(&a, NULL);
        const char *message = NULL;
        assert_null(ir_parse(&a, mistakes[i].source, &message));
        assert_string_equal(message, mistakes[i].message);
        arena_free(&a);
    }
}

/* Damaged texts are refused or make well-formed programs, and always leave memory alone (run under sanitizers). */
static void damaged_texts(void **state)
{
    (void)state;
    static const char noise[] = "(){}[]<>=+-*/!.,:;@?\"#0129xafn \n\\\x80";
    uint64_t s = 7;
    unsigned refused = 0, kept = 0;
    for (int round = 0; round < 4000; round++) {
        arena a;
        arena_init(&a, NULL);
        char *source = arena_string(&a, golden[(size_t)round % (ARRAY_LENGTH(golden) - 1)]);
        size_t n = strlen(source);
        for (int hits = 1 + round % 3; hits; hits--) {
            s = s * 6364136223846793005u + 1442695040888963407u;
            source[(s >> 20) % n] = noise[(s >> 50) % (sizeof noise - 1)];
        }
        const char *message = NULL, *why = NULL;
        ir_program *p = ir_parse(&a, source, &message);
        assert_true((p == NULL) == (message != NULL));
        if (p && !ir_check_program(p, &a, &why))
            fail_msg("%s\n%s", why, source);
        p ? kept++ : refused++;
        arena_free(&a);
    }
    assert_true(refused > 1000 && kept > 100);
}

static char *repeat(arena *a, const char *head, const char *part, unsigned times, const char *tail)
{
    text t;
    text_init(&t, a);
    text_add(&t, head);
    for (unsigned k = 0; k < times; k++)
        text_add(&t, part);
    text_add(&t, tail);
    return t.at;
}

static void deep_texts_are_refused(void **state)
{
    (void)state;
    arena a;
    arena_init(&a, NULL);
    const char *message = NULL;
    assert_null(ir_parse(&a, repeat(&a, "c = ", "(", 100000, "1"), &message));
    assert_non_null(strstr(message, "nested too deep"));
    assert_null(ir_parse(&a, repeat(&a, "c = ", "if ", 100000, "1"), &message));
    assert_non_null(strstr(message, "nested too deep"));
    assert_null(ir_parse(&a, repeat(&a, "c = ", "--!", 100000, "1"), &message));
    assert_non_null(strstr(message, "nested too deep"));
    assert_null(ir_parse(&a, repeat(&a, "", "l = for (i < 3; x = 1) { ", 100000, "1"), &message));
    assert_non_null(strstr(message, "nested too deep"));
    arena_free(&a);
}

/* Numbers of as many digits as anybody writes are read; of more, none. */
static void long_numbers_are_refused(void **state)
{
    (void)state;
    const char *head = "extents n\na1 = input [n]f64\na2 = map a1 {x1: f64 -> x1 * 0.", *tail = "1f64}\noutput a2\n";
    for (unsigned digits = 380; digits < 420; digits++) {
        arena a;
        arena_init(&a, NULL);
        const char *message = NULL;
        ir_program *p = ir_parse(&a, repeat(&a, head, "3", digits, tail), &message);
        if ((p != NULL) != (digits + 3 <= 398)) /* and "0." and "1" */
            fail_msg("%u digits: %s", digits, p ? "read" : message);
        if (!p)
            assert_non_null(strstr(message, "expected a number of fewer digits"));
        else
            assert_int_equal(ir_check_program(p, &a, &message), true);
        arena_free(&a);
    }
}

/* Conditions that are written down are not asked for once more, whichever side comes first. */
static void conditions_are_asked_for_once(void **state)
{
    (void)state;
    arena a;
    arena_init(&a, NULL);
    const char *message = "";
    unsigned before = 0, behind = 0;
    ir_program *p = ir_parse(&a,
                             "extents n, m, k\na1 = input [n, m, k]f32\ncheck n == m \"one\"\ncheck k == n \"two\"\n"
                             "check n * k == m \"three\"\ncheck m == k * k \"four\"\noutput a1\n",
                             &message);
    if (!p)
        fail_msg("%s", message);
    assert_int_equal(p->check.n, 4);
    for (uint32_t i = 0; i < 4; i++) {
        ir_id left = p->check.at[i].left, right = p->check.at[i].right;
        before += left < right;
        behind += left > right;
        ir_check_equal(p, 0, left, right, "again");
        ir_check_equal(p, 0, right, left, "the other way round");
    }
    assert_int_equal(p->check.n, 4);
    assert_true(before && behind);
    arena_free(&a);
}

/* --- size and surroundings --- */

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* not of others that use the machine */
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

enum { LENGTH = 100000 };

static void long_programs_are_linear(void **state)
{
    (void)state;
    arena a;
    arena_init(&a, NULL);
    double start = seconds();
    ir_program *p = ir_program_new(&a);
    ir_type t = T_F32;
    ir_id n = ir_dim(p, "n"), in = ir_input(p, 1, &t, 1, &n);
    ir_fn *fn = ir_fn_new(p, 1, &t);
    ir_id chain = fn->param[0], doubled = chain;
    for (int k = 0; k < LENGTH; k++) {
        chain = ir_op2(p, 0, k % 2 ? OP_DIV : OP_SUB, chain, fn->param[0]);
        doubled = ir_op2(p, 0, OP_ADD, doubled, doubled);
    }
    ir_id both[2] = {chain, doubled};
    ir_id out = ir_map(p, 0, 1, &in, ir_fn_close(p, fn, 2, both), 0);
    for (int k = 0; k < LENGTH; k++)
        out = ir_force(p, 0, out);
    ir_output(p, out);
    const char *first = print(&a, p);
    assert_true(strlen(first) < (size_t)LENGTH * 100);
    assert_string_equal(print(&a, parse(&a, first)), first);
    text scalar;
    text_init(&scalar, &a);
    ir_print_scalar(p, doubled, &scalar);
    assert_true(scalar.n < (size_t)LENGTH * 40);
    assert_true(seconds() - start < 30);
    arena_free(&a);
}

static void decimal_comma(void **state)
{
    (void)state;
    static const char *const places[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8", "ps_AF.UTF-8"};
    size_t i = 0;
    while (i < ARRAY_LENGTH(places) && !setlocale(LC_NUMERIC, places[i]))
        i++;
    if (i == ARRAY_LENGTH(places))
        skip();
    golden_texts(state);
    setlocale(LC_NUMERIC, "C");
}

/* The example of the documentation is right and in the form in which it is printed. */
static void the_documented_program_round_trips(void **state)
{
    (void)state;
    arena a;
    arena_init(&a, NULL);
    char *page = arena_alloc(&a, 1 << 16);
    FILE *f = fopen("docs/text-forms.md", "r");
    assert_non_null(f);
    page[fread(page, 1, (1 << 16) - 1, f)] = 0;
    fclose(f);
    char *source = strstr(page, "\nsite "), *end = source ? strstr(source, "```") : NULL;
    assert_non_null(end);
    *end = 0;
    assert_string_equal(print(&a, parse(&a, source + 1)), source + 1);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_texts),
        cmocka_unit_test(names),
        cmocka_unit_test(texts_end),
        cmocka_unit_test(written_numbers),
        cmocka_unit_test(claims_are_looked_at),
        cmocka_unit_test(free_form),
        cmocka_unit_test(scalar_texts),
        cmocka_unit_test(the_documented_program_round_trips),
        cmocka_unit_test(random_programs),
        cmocka_unit_test(messages),
        cmocka_unit_test(long_numbers_are_refused),
        cmocka_unit_test(conditions_are_asked_for_once),
        cmocka_unit_test(damaged_texts),
        cmocka_unit_test(deep_texts_are_refused),
        cmocka_unit_test(long_programs_are_linear),
        cmocka_unit_test(decimal_comma),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
