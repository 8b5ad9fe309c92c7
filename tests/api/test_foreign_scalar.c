/* Functions of scalars that are not ours, as source for each kind of device: called in all kinds of loops, with the
 * results of their fallbacks; what is wrong with a source is said with its place; without one the fallback is computed.
 */
#include "counts.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ELEMENTS = 5003, ROWS = 40, COLUMNS = 70 };

/* x * y + 3 */
static const char llvm_text[] =
    "define internal float @plus(float %a) {\n  %r = fadd float %a, 3.0\n  ret float %r\n}\n"
    "define float @product(float %x, float %y) {\n  %p = fmul float %x, %y\n"
    "  %r = call float @plus(float %p)\n  ret float %r\n}\n";
static const char opencl_text[] = "float plus(float a)\n{\n    return a + 3.0f;\n}\n"
                                  "float product(float x, float y)\n{\n    return plus(x * y);\n}\n";
static const char cuda_text[] = "static __device__ float plus(float a)\n{\n    return a + 3.0f;\n}\n"
                                "static __device__ float product(float x, float y)\n{\n    return plus(x * y);\n}\n";

static const sn_foreign_function product = {
    .size = sizeof(product), .name = "product", .llvm = llvm_text, .opencl = opencl_text, .cuda = cuda_text};

/* The same, as a function of this process. */
static void host_product(void *env, int64_t n, const void *const *in, void *const *out)
{
    const float *x = in[0], *y = in[1];
    float *z = out[0];
    for (int64_t i = 0; i < n; i++)
        z[i] = x[i] * y[i] + 3;
    atomic_fetch_add((atomic_long *)env, n);
}

static atomic_long products;
static const sn_foreign_function of_the_host = {.size = sizeof(of_the_host),
                                                .name = "product",
                                                .opencl = opencl_text,
                                                .cuda = cuda_text,
                                                .cpu = host_product,
                                                .env = &products};
static const sn_foreign_function *product_used = &product;

static sn_scalar plain_product(sn_scalar x, sn_scalar y)
{
    return sn_add(sn_mul(x, y), 3);
}

static sn_scalar called(sn_scalar x, sn_scalar y)
{
    return sn_foreign_scalar(product_used, plain_product, x, y);
}

static sn_scalar root(void *env, sn_scalar k, sn_scalar s)
{
    (void)k;
    return sn_mul(called(s, *(const sn_scalar *)env), 0.125f);
}

static sn_scalar looped(sn_scalar x)
{
    return sn_loop(3, sn_closure(root, &x), x);
}

static sn_scalar chosen(sn_scalar x)
{
    return sn_if(sn_gt(x, 0), called(x, sn_f32(2)), x);
}

static sn_scalar larger_product(sn_scalar x, sn_scalar y)
{
    return sn_max(sn_min(called(x, sn_f32(0)), x), sn_min(called(y, sn_f32(0)), y));
}

/* Maps, a fold of them, a loop, a condition, rows, and a fold whose operator calls. */
static sn_acc everywhere(sn_acc x, sn_acc m)
{
    sn_acc z = sn_zip_with(called, x, x);
    return sn_results(z, sn_sum(z), sn_map(looped, x), sn_map(chosen, x), sn_scanl1(sn_add, sn_map(looped, m)),
                      sn_fold1(sn_associative(larger_product), m));
}

#define SIGNATURE "[n]f32, [r,c]f32 -> [n]f32, f32, [n]f32, [n]f32, [r,c]f32, [r]f32"

typedef struct results {
    float z[ELEMENTS], sum, looped[ELEMENTS], chosen[ELEMENTS], scans[ROWS][COLUMNS], most[ROWS];
} results;

static float all_x[ELEMENTS], all_m[ROWS][COLUMNS];

static sn_status call_it(sn_program *p, results *r)
{
    return sn_call(p, sn_in(all_x, ELEMENTS), sn_in(&all_m[0][0], ROWS, COLUMNS), sn_into(r->z, ELEMENTS),
                   sn_value(&r->sum), sn_into(r->looped, ELEMENTS), sn_into(r->chosen, ELEMENTS),
                   sn_into(&r->scans[0][0], ROWS, COLUMNS), sn_into(r->most, ROWS));
}

static void call_everywhere(void)
{
    static results r[3];
    sn_context *contexts[2] = {both_cpu(), both_interpreter()};
    memset(r, 0, sizeof r);
    for (int i = 0; i < 2; i++) {
        sn_program *p = sn_compile(contexts[i], SIGNATURE, everywhere);
        if (!p)
            fail_msg("%s", sn_message(contexts[i]));
        if (call_it(p, &r[i]) != SN_OK)
            fail_msg("%s", sn_message(contexts[i]));
        says(p, "term", "foreign \"product\"(");
        if (i == 0) {
            says(p, "kernels", "call product, ");
            /* a text has the fallback, and the name */
            sn_program *q = sn_parse_program(contexts[i], sn_explain(p, "term"));
            if (!q || call_it(q, &r[2]) != SN_OK)
                fail_msg("%s", sn_message(contexts[i]));
            says(q, "term", "foreign \"product\"(");
            assert_null(strstr(sn_explain(q, "kernels"), "call product"));
            sn_drop(q);
        }
        sn_drop(p);
    }
    assert_memory_equal(&r[0], &r[1], sizeof r[0]); /* small numbers, but for rounding that is the same */
    assert_memory_equal(&r[0], &r[2], sizeof r[0]);
}

static void same_as_the_fallback(void **state)
{
    (void)state;
    call_everywhere();
}

static void functions_of_the_host(void **state)
{
    (void)state;
    product_used = &of_the_host;
    call_everywhere();
    product_used = &product;
    assert_true(!on_cpu() == !atomic_load(&products));
}

/* --- many operands, bool, several results --- */

static const char wide_llvm[] =
    "define { float, i1, i32 } @wide(float %a, i32 %b, i1 zeroext %c, i16 signext %d, i8 zeroext %e, i64 %f, float %g, "
    "i1 zeroext %h) {\n"
    "  %s = fadd float %a, %g\n  %m = fsub float %a, %g\n  %x = select i1 %c, float %s, float %m\n"
    "  %y = xor i1 %c, %h\n"
    "  %d2 = sext i16 %d to i32\n  %e2 = zext i8 %e to i32\n  %f2 = trunc i64 %f to i32\n"
    "  %t = add i32 %b, %d2\n  %u = add i32 %t, %e2\n  %v = add i32 %u, %f2\n  %z = add i32 %v, 1\n"
    "  %o = insertvalue { float, i1, i32 } poison, float %x, 0\n"
    "  %p = insertvalue { float, i1, i32 } %o, i1 %y, 1\n"
    "  %q = insertvalue { float, i1, i32 } %p, i32 %z, 2\n"
    "  ret { float, i1, i32 } %q\n}\n";
#define WIDE_C                                                                                                         \
    "void wide(float a, int b, bool c, short d, unsigned char e, long f, float g, bool h, float *x, bool *y, int "     \
    "*z)\n"                                                                                                            \
    "{\n    *x = c ? a + g : a - g;\n    *y = c != h;\n    *z = b + d + e + (int)f + 1;\n}\n"

static void host_wide(void *env, int64_t n, const void *const *in, void *const *out)
{
    const float *a = in[0], *g = in[6];
    const int32_t *b = in[1];
    const unsigned char *c = in[2], *e = in[4], *h = in[7];
    const int16_t *d = in[3];
    const int64_t *f = in[5];
    float *x = out[0];
    unsigned char *y = out[1];
    int32_t *z = out[2];
    for (int64_t i = 0; i < n; i++) {
        x[i] = c[i] ? a[i] + g[i] : a[i] - g[i];
        y[i] = c[i] != h[i];
        z[i] = (int32_t)((uint32_t)b[i] + (uint32_t)d[i] + e[i] + (uint32_t)f[i] + (uint32_t) * (const int *)env);
    }
}

static int one = 1;
static const sn_foreign_function wides[2] = {{.size = sizeof(wides[0]),
                                              .name = "wide",
                                              .llvm = wide_llvm,
                                              .opencl = WIDE_C,
                                              .cuda = "static __device__ " WIDE_C},
                                             {.size = sizeof(wides[0]), .name = "wide", .cpu = host_wide, .env = &one}};
static const sn_foreign_function *wide = wides;

/* 1 less in its last result, which shows which of them was computed. */
static sn_scalar plain_wide(void *env, int count, const sn_scalar *in)
{
    (void)env, (void)count;
    return sn_tuple(sn_if(in[2], sn_add(in[0], in[6]), sn_sub(in[0], in[6])), sn_ne(in[2], in[7]),
                    sn_add(sn_add(in[1], sn_to_i32(in[3])), sn_add(sn_to_i32(in[4]), sn_to_i32(in[5]))));
}

static sn_scalar wide_of(sn_scalar x)
{
    sn_scalar t = sn_foreign_scalar(wide, sn_closure_of(plain_wide, NULL, 8), sn_to_f32(x), sn_mul(x, 3), sn_gt(x, 10),
                                    sn_to_i16(sn_sub(5, x)), sn_to_u8(x), sn_mul(sn_to_i64(x), 7), sn_f32(0.5f),
                                    sn_eq(sn_rem(x, 3), 0));
    return sn_add(sn_to_i32(sn_mul(sn_get(t, 0), 2)),
                  sn_add(sn_if(sn_get(t, 1), sn_i32(100000), sn_i32(0)), sn_get(t, 2)));
}

static sn_scalar wide_is_even(sn_scalar x)
{
    return sn_eq(sn_bit_and(wide_of(x), 1), 0);
}

static sn_acc wide_results(sn_acc x, sn_acc m)
{
    return sn_results(sn_map(wide_of, x), sn_sum(sn_map(wide_of, m)), sn_scanl1(sn_add, sn_map(wide_of, m)),
                      sn_filter(wide_is_even, x));
}

static void many_operands_and_results(void **state)
{
    static int32_t x[1003], m[20][33], z[2][1003], sums[2][20], scans[2][20][33], even[2][1003];
    (void)state;
    for (int i = 0; i < 1003; i++)
        x[i] = i * 7 % 301 - 100;
    for (int i = 0; i < 20 * 33; i++)
        (&m[0][0])[i] = i * 11 % 251 - 90;
    for (int which = 0; which < 2; which++) {
        int64_t n[2] = {0, 0};
        wide = &wides[which];
        for (int i = 0; i < 2; i++) {
            sn_context *cx = i ? both_interpreter() : both_cpu();
            sn_program *p = sn_compile(cx, "[n]i32, [r,c]i32 -> [n]i32, [r]i32, [r,c]i32, [k]i32", wide_results);
            if (!p || sn_call(p, sn_in(x, 1003), sn_in(&m[0][0], 20, 33), sn_into(z[i], 1003), sn_into(sums[i], 20),
                              sn_into(&scans[i][0][0], 20, 33), sn_upto(even[i], 1003, &n[i])) != SN_OK)
                fail_msg("%s", sn_message(cx));
            sn_drop(p);
        }
        const int by = which == 0 || on_cpu(); /* devices have the fallback of a function of the host's */
        for (int i = 0; i < 1003; i++)
            assert_int_equal(z[0][i], z[1][i] + by);
        for (int i = 0; i < 20; i++) {
            assert_int_equal(sums[0][i], sums[1][i] + 33 * by);
            for (int j = 0; j < 33; j++)
                assert_int_equal(scans[0][i][j], scans[1][i][j] + (j + 1) * by);
        }
        assert_int_equal(n[0] + (by ? n[1] : 1003 - n[1]), 1003);
    }
}

/* --- the source, and not the fallback --- */

static const sn_foreign_function other = {
    .size = sizeof(other),
    .name = "other",
    .llvm =
        "define i32 @other(i32 %x) {\n  %r = add i32 %x, 100\n  ret i32 %r\n}\n"
        "define <8 x i32> @other_v8(<8 x i32> %x) {\n  %r = add <8 x i32> %x, splat (i32 200)\n  ret <8 x i32> %r\n}\n",
    .opencl = "int other(int x)\n{\n    return x + 100;\n}\n",
    .cuda = "static __device__ int other(int x)\n{\n    return x + 100;\n}\n"};

static sn_scalar one_more(sn_scalar a)
{
    return sn_add(a, 1);
}

static sn_scalar other_of(sn_scalar a)
{
    return sn_foreign_scalar(&other, one_more, a);
}

static sn_acc others(sn_acc a)
{
    return sn_map(other_of, a);
}

/* Calls that differ from the fallback show which of the two was computed; vectors are taken by their version. */
static void sources_run(void **state)
{
    int32_t a[300], z[2][300];
    sn_context *contexts[2] = {both_cpu(), both_interpreter()};
    (void)state;
    for (int i = 0; i < 300; i++)
        a[i] = i;
    for (int i = 0; i < 2; i++) {
        sn_program *p = sn_compile(contexts[i], "[n]i32 -> [n]i32", others);
        assert_non_null(p);
        if (sn_call(p, sn_in(a, 300), sn_into(z[i], 300)) != SN_OK)
            fail_msg("%s", sn_message(contexts[i]));
        sn_drop(p);
    }
    for (int i = 0; i < 300; i++) {
        assert_int_equal(z[1][i], i + 1);
        assert_int_equal(z[0][i], i + (on_cpu() ? 200 : 100));
    }
}

/* The example of docs/devices.md: an instruction that no operation stands for. */
static const sn_foreign_function ceil_log2 = {
    .size = sizeof ceil_log2,
    .name = "ceil_log2",
    .llvm = "define i32 @ceil_log2(i32 %x) {\n"
            "  %y = sub i32 %x, 1\n"
            "  %z = call i32 @llvm.ctlz.i32(i32 %y, i1 false)\n"
            "  %r = sub i32 32, %z\n"
            "  ret i32 %r\n"
            "}\n"
            "declare i32 @llvm.ctlz.i32(i32, i1)\n",
    .opencl = "int ceil_log2(int x) { return 32 - clz(x - 1); }\n",
    .cuda = "static __device__ int ceil_log2(int x) { return 32 - __clz(x - 1); }\n"};

static sn_scalar doubled(void *env, sn_scalar s)
{
    (void)env;
    return sn_tuple(sn_mul(sn_fst(s), 2), sn_add(sn_snd(s), 1));
}

static sn_scalar is_below(void *env, sn_scalar s)
{
    return sn_lt(sn_fst(s), sn_to_i64(*(const sn_scalar *)env));
}

static sn_scalar plain_log2(sn_scalar x)
{
    return sn_snd(sn_while(sn_closure(is_below, &x), sn_closure(doubled, &x), sn_tuple(sn_i64(1), sn_i32(0))));
}

static sn_scalar log2_of(sn_scalar x)
{
    return sn_foreign_scalar(&ceil_log2, plain_log2, x);
}

static sn_acc logs(sn_acc a)
{
    return sn_map(log2_of, a);
}

static void instructions(void **state)
{
    int32_t a[100], z[2][100];
    sn_context *contexts[2] = {both_cpu(), both_interpreter()};
    (void)state;
    for (int i = 0; i < 100; i++)
        a[i] = 1 + i * i * i * 13;
    for (int i = 0; i < 2; i++) {
        sn_program *p = sn_compile(contexts[i], "[n]i32 -> [n]i32", logs);
        if (!p || sn_call(p, sn_in(a, 100), sn_into(z[i], 100)) != SN_OK)
            fail_msg("%s", sn_message(contexts[i]));
        sn_drop(p);
    }
    assert_memory_equal(z[0], z[1], sizeof z[0]);
}

/* Sources are part of what kernels are known by: of two functions of one name each program calls its own, in loops of
 * arrays, too. */
static sn_foreign_function named;

static sn_scalar named_of(sn_scalar a)
{
    return sn_foreign_scalar(&named, one_more, a);
}

static sn_acc named_once(sn_acc a)
{
    return sn_map(named_of, a);
}

static sn_acc named_twice(sn_acc a)
{
    return sn_aiterate(2, named_once, a);
}

static void names_are_not_all(void **state)
{
    (void)state;
    for (int by = 10; by <= 20; by += 10) {
        char llvm[200], opencl[200], cuda[200];
        int32_t a[40] = {0}, z[40];
        snprintf(llvm, sizeof llvm, "define i32 @named(i32 %%x) {\n  %%r = add i32 %%x, %d\n  ret i32 %%r\n}\n", by);
        snprintf(opencl, sizeof opencl, "int named(int x)\n{\n    return x + %d;\n}\n", by);
        snprintf(cuda, sizeof cuda, "static __device__ int named(int x)\n{\n    return x + %d;\n}\n", by);
        named =
            (sn_foreign_function){.size = sizeof(named), .name = "named", .llvm = llvm, .opencl = opencl, .cuda = cuda};
        sn_program *p = sn_compile(both_cpu(), "[n]i32 -> [n]i32", named_twice);
        assert_non_null(p);
        memset(llvm, ' ', sizeof llvm - 1); /* they are copied */
        memset(opencl, ' ', sizeof opencl - 1);
        memset(cuda, ' ', sizeof cuda - 1);
        if (sn_call(p, sn_in(a, 40), sn_into(z, 40)) != SN_OK)
            fail_msg("%s", sn_message(both_cpu()));
        for (int i = 0; i < 40; i++)
            assert_int_equal(z[i], 2 * by);
        sn_drop(p);
    }
}

/* What a text defines besides is its own, whatever it is called, and so is how its functions are to be called. */
static sn_foreign_function pair[2];

static sn_scalar pair_of(sn_scalar a)
{
    return sn_add(sn_foreign_scalar(&pair[0], one_more, a), sn_foreign_scalar(&pair[1], one_more, sn_add(a, 5)));
}

static sn_acc pairs(sn_acc a)
{
    return sn_map(pair_of, a);
}

static void texts_keep_to_themselves(void **state)
{
#define ONE_MORE(name) "@" name "(i32 %x) {\n  %r = add i32 %x, 1\n  ret i32 %r\n}\n"
#define BY_HELPER(name, helper)                                                                                        \
    "@table = constant [1 x i32] [i32 1]\n"                                                                            \
    "define i32 @" helper "(i32 %x) {\n  %t = load i32, ptr @table\n  %r = add i32 %x, %t\n  ret i32 %r\n}\n"          \
    "define i32 @" name "(i32 %x) {\n  %r = call i32 @" helper "(i32 %x)\n  ret i32 %r\n}\n"
    static const struct {
        const char *first, *second;
    } cases[] = {
        {BY_HELPER("first", "helper"), BY_HELPER("second", "helper")},
        {BY_HELPER("first", "sn_code_0"), BY_HELPER("second", "sn_code_0")},
        {BY_HELPER("first", "sn_code_1"), BY_HELPER("second", "sn_code_1")},
        {BY_HELPER("first", "sn_code_0_v16"), "define coldcc i32 " ONE_MORE("second")},
        {"define internal i32 " ONE_MORE("first"), "define linkonce_odr i32 " ONE_MORE("second")},
        {"$first = comdat any\ndefine linkonce_odr i32 @first(i32 %x) comdat {\n  %r = add i32 %x, 1\n  ret i32 "
         "%r\n}\n",
         "define available_externally i32 " ONE_MORE("second")},
        {"define dllexport fastcc i32 " ONE_MORE("first"), "define hidden i32 " ONE_MORE("second")},
        {"@sn_code_0 = constant i32 1\ndefine i32 @first(i32 %x) {\n  %t = load i32, ptr @sn_code_0\n"
         "  %r = add i32 %x, %t\n  ret i32 %r\n}\n",
         "define private i32 " ONE_MORE("second")},
    };
    int32_t a[40], z[40];
    (void)state;
    for (int i = 0; i < 40; i++)
        a[i] = 3 * i;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0] && on_cpu(); i++) {
        pair[0] = (sn_foreign_function){.size = sizeof pair[0], .name = "first", .llvm = cases[i].first};
        pair[1] = (sn_foreign_function){.size = sizeof pair[1], .name = "second", .llvm = cases[i].second};
        sn_program *p = sn_compile(both_cpu(), "[n]i32 -> [n]i32", pairs);
        assert_non_null(p);
        if (sn_call(p, sn_in(a, 40), sn_into(z, 40)) != SN_OK)
            fail_msg("case %zu: %s", i, sn_message(both_cpu()));
        for (int k = 0; k < 40; k++)
            assert_int_equal(z[k], 2 * a[k] + 7);
        sn_drop(p);
    }
}

/* Functions may have any names: those of the text around them on devices, one for two. */
static void names_are_their_own(void **state)
{
    static const char *const names[][2] = {
        {"piece", "div_i32"}, {"same", "same"}, {"sinter", "max"}, {"v_3", "min_i32"}};
    int32_t a[40], z[40];
    (void)state;
    for (int i = 0; i < 40; i++)
        a[i] = 3 * i;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char source[2][3][200];
        for (int k = 0; k < 2; k++) {
            const char *name = names[i][k];
            snprintf(source[k][0], sizeof source[k][0],
                     "define i32 @%s(i32 %%x) {\n  %%r = add i32 %%x, %d\n  ret i32 %%r\n}\n", name, k + 1);
            snprintf(source[k][1], sizeof source[k][1], "int %s(int x) { return x + %d; } /* %s */ // \\", name, k + 1,
                     name);
            snprintf(source[k][2], sizeof source[k][2], "static __device__ int %s(int x) { return x + %d; } // \\",
                     name, k + 1);
            pair[k] = (sn_foreign_function){.size = sizeof pair[k],
                                            .name = name,
                                            .llvm = source[k][0],
                                            .opencl = source[k][1],
                                            .cuda = source[k][2]};
        }
        sn_program *p = sn_compile(both_cpu(), "[n]i32 -> [n]i32", pairs);
        assert_non_null(p);
        if (sn_call(p, sn_in(a, 40), sn_into(z, 40)) != SN_OK)
            fail_msg("%s and %s: %s", names[i][0], names[i][1], sn_message(both_cpu()));
        for (int k = 0; k < 40; k++)
            assert_int_equal(z[k], 2 * a[k] + 8);
        sn_drop(p);
    }
}

/* --- sources that do not compile --- */

static sn_foreign_function wrong;

static sn_scalar wrong_of(sn_scalar a)
{
    return sn_foreign_scalar(&wrong, one_more, a);
}

static sn_acc wrongs(sn_acc a)
{
    return sn_map(wrong_of, a);
}

static void mistakes_in_sources(void **state)
{
    static const struct {
        const char *llvm, *says;
    } cases[] = {
        {"define i32 @wrong(i32 %x) {\n  %r = nonsense i32 %x\n  ret i32 %r\n}\n", "expected instruction opcode"},
        {"define i32 @right(i32 %x) {\n  ret i32 %x\n}\n", "the text for the CPU does not define @wrong"},
        {"define i32 @wrong(i32 %x) {\n  br label %a\na:\n  %r = add i32 %y, 1\n  br label %b\nb:\n  %y = add i32 %r, "
         "1\n  ret i32 %y\n}\n",
         "does not dominate"},
        {"define i64 @wrong(i64 %x) {\n  ret i64 %x\n}\n",
         "@wrong is i64 (i64); of what it is called with it has to be i32 (i32)"},
        {"declare i32 @outside(i32)\ndefine i32 @wrong(i32 %x) {\n  %r = call i32 @outside(i32 %x)\n  ret i32 %r\n}\n",
         "it calls \"outside\", which it does not define"},
        {"@count = internal global i32 0\ndefine i32 @wrong(i32 %x) {\n  %r = load i32, ptr @count\n"
         "  store i32 %x, ptr @count\n  ret i32 %r\n}\n",
         "it has variables"},
    };
    int32_t a[3] = {1, 2, 3}, z[3];
    (void)state;
    sn_context *cx = both_cpu();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0] && (i == 0 || on_cpu()); i++) {
        wrong = (sn_foreign_function){.size = sizeof(wrong),
                                      .name = "wrong",
                                      .llvm = cases[i].llvm,
                                      .opencl = "int wrong(int x)\n{\n    return nonsense;\n}\n",
                                      .cuda = "__device__ int wrong(int x)\n{\n    return nonsense;\n}\n"};
        sn_program *p = sn_compile(cx, "[n]i32 -> [n]i32", wrongs);
        assert_non_null(p);
        assert_int_equal(sn_call(p, sn_in(a, 3), sn_into(z, 3)), SN_FOREIGN_FAILED);
        const char *said = sn_message(cx);
        if (!strstr(said, "test_foreign_scalar.c:") || !strstr(said, "foreign_scalar: the source of wrong") ||
            !strstr(said, on_cpu() ? cases[i].says : "nonsense"))
            fail_msg("not \"%s\": %s", cases[i].says, said);
        sn_drop(p);
    }
}

/* --- mistakes in programs --- */

static sn_scalar five_results(sn_scalar a)
{
    return sn_tuple(a, a, a, a, a);
}

static sn_scalar not_sized(sn_scalar a)
{
    return sn_foreign_scalar(&(sn_foreign_function){0}, one_more, a);
}

static sn_scalar no_name(sn_scalar a)
{
    const sn_foreign_function unnamed = {.size = sizeof unnamed, .name = "a b"};
    return sn_foreign_scalar(&unnamed, one_more, a);
}

static sn_scalar a_tuple(sn_scalar a)
{
    return sn_foreign_scalar(&other, five_results, a);
}

static sn_scalar any(void *env, int count, const sn_scalar *a)
{
    (void)env, (void)count;
    return a[0];
}

static sn_scalar too_many(sn_scalar a)
{
    return sn_foreign_scalar(&other, sn_closure_of(any, NULL, 9), a, a, a, a, a, a, a, a, a);
}

static sn_scalar (*body)(sn_scalar);

static sn_acc mapped(sn_acc a)
{
    return sn_map(body, a);
}

static void mistakes_are_explained(void **state)
{
    static const struct {
        sn_scalar (*body)(sn_scalar);
        const char *says;
    } cases[] = {
        {not_sized, "foreign_scalar: the size of sn_foreign_function is not set"},
        {no_name, "foreign_scalar: the function has no name; it is that of the function in the sources"},
        {a_tuple, "foreign_scalar: the fallback returns (i32, i32, i32, i32, i32); a function gives 1 to 4 numbers"},
        {too_many, "foreign_scalar: 9 operands; a function takes 1 to 8 numbers"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        body = cases[i].body;
        assert_null(sn_compile(both_interpreter(), "[n]i32 -> [n]i32", mapped));
        if (!strstr(sn_message(both_interpreter()), cases[i].says))
            fail_msg("not \"%s\":\n%s", cases[i].says, sn_message(both_interpreter()));
    }
}

static int open_all(void **state)
{
    for (int i = 0; i < ELEMENTS; i++)
        all_x[i] = (float)(i % 13 - 6);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        (&all_m[0][0])[i] = (float)(i % 11 - 5);
    return both_open(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_as_the_fallback),
        cmocka_unit_test(functions_of_the_host),
        cmocka_unit_test(many_operands_and_results),
        cmocka_unit_test(sources_run),
        cmocka_unit_test(instructions),
        cmocka_unit_test(names_are_not_all),
        cmocka_unit_test(texts_keep_to_themselves),
        cmocka_unit_test(names_are_their_own),
        cmocka_unit_test(mistakes_in_sources),
        cmocka_unit_test(mistakes_are_explained),
    };
    return cmocka_run_group_tests(tests, open_all, both_close);
}
