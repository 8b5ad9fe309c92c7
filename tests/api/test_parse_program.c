/* Programs from texts: what sn_explain(program, "term") gives is the same program again, for examples, chosen programs
 * and random ones; and whatever else a text says, memory stays whole and the message has a place. */
#include "../../examples/programs/blackscholes.h"
#include "../../examples/programs/canny.h"
#include "../../examples/programs/mandelbrot.h"
#include "../../examples/programs/nbody.h"
#include "../../examples/programs/rowstats.h"
#include "../../examples/programs/unsharp.h"

#include "api/api.h"
#include "counts.h"
#include "ir/interpret.h"
#include "support/random_program.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Contraction is off, so that the interpreter's bits are expected. */
static int open_context(void **state)
{
    sn_options options = {.size = sizeof(options), .contract = SN_OFF};
    *state = sn_open(&options);
    return *state ? 0 : -1;
}

static int close_context(void **state)
{
    sn_close(*state);
    return 0;
}

static sn_context *open_interpreter(void)
{
    sn_options options = {.size = sizeof(options), .device = "interpreter", .contract = SN_OFF};
    sn_context *cx = sn_open(&options);
    assert_non_null(cx);
    return cx;
}

static sn_program *parsed(sn_context *cx, const char *terms)
{
    sn_program *p = sn_parse_program(cx, terms);
    if (!p)
        fail_msg("%s, in\n%s", sn_message(cx), terms);
    return p;
}

/* --- calls with made-up arguments --- */

enum { MOST_ARGUMENTS = 64 };

typedef struct answers {
    sn_status status;
    sn_array *result[MOST_ARGUMENTS];
} answers;

static int64_t extent_of(const sn_program *p, ir_id shape)
{
    int64_t constant;
    if (ir_extent_constant(p->ir, shape, &constant))
        return constant;
    return 9 + 2 * (int64_t)ir_at(p->ir, shape)->u.literal;
}

/* Small numbers, the same for the same place. */
static void fill(ir_type type, void *to, size_t n, uint32_t number)
{
    size_t size = ir_type_size(type);
    for (size_t i = 0; i < n; i++) {
        uint64_t x = hash_mix(number, i) % 5;
        ir_bits bits = type == T_F32   ? ir_bits_f32(0.25f + (float)x)
                       : type == T_F64 ? ir_bits_f64(0.25 + (double)x)
                                       : ir_bits_i64(type, (int64_t)x);
        memcpy((char *)to + i * size, &bits, size);
    }
}

static answers answer(sn_program *p)
{
    answers out = {0};
    sn_arg arg[MOST_ARGUMENTS];
    void *memory[MOST_ARGUMENTS] = {0};
    int n = 0;
    assert_true(p->params + p->results <= MOST_ARGUMENTS);
    for (uint32_t k = 0; k < p->ports.params; k++)
        for (unsigned c = 0; c < p->ports.param[k].components; c++, n++) {
            const embed_port *port = &p->ports.param[k];
            size_t elements = 1;
            arg[n] = (sn_arg){.kind = SN_ARG_IN, .type = (sn_type)port->type[c], .rank = port->rank};
            for (unsigned d = 0; d < port->rank; d++) {
                arg[n].extent[d] = extent_of(p, port->shape[d]);
                elements *= (size_t)arg[n].extent[d];
            }
            memory[n] = calloc(elements + 1, 8);
            assert_non_null(memory[n]);
            fill(port->type[c], memory[n], elements, (uint32_t)n);
            arg[n].u.from = memory[n];
        }
    for (uint32_t k = 0; k < p->results; k++)
        arg[n++] = sn_keep(&out.result[k]);
    out.status = sn_call_n(p, n, arg);
    for (int i = 0; i < n; i++)
        free(memory[i]);
    return out;
}

static void expect_same_answers(sn_program *p, sn_program *q)
{
    answers a = answer(p), b = answer(q);
    assert_int_equal(a.status, b.status);
    for (uint32_t k = 0; k < p->results && a.status == SN_OK; k++) {
        size_t bytes = sn_bytes(a.result[k]);
        char *x = malloc(bytes + 1), *y = malloc(bytes + 1);
        assert_int_equal(bytes, sn_bytes(b.result[k]));
        assert_int_equal(sn_read(a.result[k], x, bytes), SN_OK);
        assert_int_equal(sn_read(b.result[k], y, bytes), SN_OK);
        assert_memory_equal(x, y, bytes);
        free(x);
        free(y);
        sn_free(a.result[k]);
        sn_free(b.result[k]);
    }
}

/* --- the same text, the same kernels --- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Kernels without the numbers of values and places, their lines sorted: statements stand in the order in which terms
 * were made, and a text may have another. */
static char *without_order(const char *kernels)
{
    size_t n = strlen(kernels), lines = 0;
    char *plain = malloc(n + 2), *to = plain, **line = calloc(n + 1, sizeof(*line)), *out = calloc(n + 2, 1);
    for (const char *at = kernels; *at;) {
        bool value = *at == '%' || *at == '@' || !strncmp(at, "check ", 6) || !strncmp(at, "cluster ", 8);
        *to++ = *at++;
        if (!value)
            continue;
        while (*at == '.' || *at == '_' || *at == ' ' || (*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'z'))
            at++;
    }
    *to = 0;
    for (char *at = strtok(plain, "\n"); at; at = strtok(NULL, "\n"))
        line[lines++] = at;
    qsort(line, lines, sizeof(*line), by_text);
    for (size_t i = 0; i < lines; i++) {
        strcat(out, line[i]);
        strcat(out, "\n");
    }
    free(plain);
    free(line);
    return out;
}

static void expect_same_kernels(sn_program *p, sn_program *q)
{
    if (!p->context->engine.device)
        return;
    const char *a = sn_explain(p, "kernels"), *b = sn_explain(q, "kernels");
    char *x = without_order(a), *y = without_order(b);
    if (strcmp(x, y) != 0)
        fail_msg("other kernels:\n%s\nand\n%s", a, b);
    free(x);
    free(y);
    counts m = count(p), n = count(q);
    assert_true(m.clusters == n.clusters && m.kernels == n.kernels && m.launches == n.launches &&
                m.buffers == n.buffers);
}

/* The program again, from its text: all that can be compared is. */
static sn_program *again(sn_program *p)
{
    char *terms = strdup(sn_explain(p, "term"));
    sn_program *q = parsed(p->context, terms);
    assert_string_equal(sn_explain(q, "term"), terms);
    char *x = without_order(sn_explain(p, "edges")), *y = without_order(sn_explain(q, "edges"));
    assert_string_equal(x, y);
    free(x);
    free(y);
    free(terms);
    return q;
}

static void check_program(sn_context *cx, sn_program *p)
{
    if (!p)
        fail_msg("%s", sn_message(cx));
    sn_program *q = again(p);
    expect_same_kernels(p, q);
    expect_same_answers(p, q);
    sn_drop(p); /* the other one keeps nothing of it */
    expect_same_answers(q, q);
    sn_drop(q);
}

/* --- programs --- */

static void test_examples(void **state)
{
    sn_context *cx = *state;
    check_program(cx, sn_compile(cx, CANNY_SIGNATURE, canny));
    check_program(cx, sn_compile(cx, UNSHARP_SIGNATURE, unsharp));
    check_program(cx, sn_compile(cx, BLACKSCHOLES_SIGNATURE, blackscholes));
    struct mandelbrot_pixel view = {.height = 7, .width = 9};
    check_program(cx, sn_compile_env(cx, "f32, f32, f32, i32 -> [7,9]i32", mandelbrot, &view));
    check_program(cx, sn_compile(cx, NBODY_F64, nbody_loops));
    check_program(cx, sn_compile(cx, NBODY_F64, nbody_replicates));
    check_program(cx, sn_compile(cx, "[n,m]f32 -> [n]f64, [n]f32, [n]f32, [n]i64", rowstats));
}

static sn_acc views(sn_acc xs, sn_acc m)
{
    return sn_results(sn_take(3, xs), sn_skip(2, xs), sn_init(xs), sn_tail(xs), sn_rotate(5, xs),
                      sn_rotate(sn_i64(-7), m), sn_reverse(m), sn_transpose(m), sn_replicate(xs, 4, SN_ALL),
                      sn_slice(m, SN_ALL, 3), sn_zip_min_with(sn_add, xs, sn_slice(m, 2, SN_ALL)),
                      sn_reverse(sn_flatten(m)), sn_argmin(m), sn_rotate(sn_size(xs), xs));
}

static const char views_signature[] = "[n]f32, [n,m]f32 -> [a]f32, [b]f32, [c]f32, [d]f32, [n]f32, [n,m]f32, [n,m]f32, "
                                      "[m,n]f32, [4,n]f32, [n]f32, [k]f32, [l]f32, [n]i64, [n]f32";

static sn_scalar drift(sn_scalar b)
{
    return sn_with(b, x, sn_add(sn_field(b, x), sn_field(b, speed)));
}

static sn_acc drifts(sn_acc bodies)
{
    return sn_map(drift, bodies);
}

static sn_acc with_data(sn_acc xs)
{
    static const uint8_t bytes[] = {0, 1, 200, 255};
    static const double reals[] = {0.1, -0.0, 1e300, INFINITY, -INFINITY, 5e-324};
    static const int64_t ends[] = {INT64_MIN, INT64_MAX, -1};
    static const bool truth[] = {true, false};
    static const float none[1] = {0};
    static const float nans[] = {NAN};
    sn_scalar nan_value = sn_index(sn_use(nans, 1), 0);
    return sn_results(sn_map(sn_neg, sn_use(bytes, 4)), sn_map(sn_sqrt, sn_use(reals, 2, 3)),
                      sn_map(sn_abs, sn_use(ends, 3)), sn_map(sn_not, sn_use(truth, 2)),
                      sn_map(sn_neg, sn_use(none, 0)), sn_zip_with(sn_add, xs, sn_fill(sn_shape_of(xs), nan_value)));
}

static sn_scalar shortest(void *env, sn_scalar i, sn_scalar j)
{
    const void *const *e = env;
    const sn_acc *d = e[0];
    const int *k = e[1];
    return sn_min(sn_index(*d, i, j), sn_add(sn_index(*d, i, *k), sn_index(*d, *k, j)));
}

/* numbers become inputs */
static sn_acc floyd(sn_acc distance)
{
    for (int k = 0; k < 6; k++) {
        const void *env[] = {&distance, &k};
        distance = sn_generate(sn_shape_of(distance), sn_closure(shortest, env));
    }
    return distance;
}

static sn_scalar plus(sn_scalar sum, sn_scalar x)
{
    return sn_add(sum, x);
}

static sn_acc rows(sn_acc xs, sn_acc ys)
{
    return sn_fill(sn_shape_of(ys), sn_sfold(plus, 0, xs));
}

static sn_acc checked(sn_acc xs, sn_acc ys) /* a check of extents that is left for the call */
{
    return sn_zip_with(sn_add, xs, ys);
}

static void test_chosen(void **state)
{
    sn_context *cx = *state;
    check_program(cx, sn_compile(cx, views_signature, views));
    check_program(cx, sn_compile(cx, "[n]f32 -> [4]u8, [2,3]f64, [3]i64, [2]bool, [0]f32, [n]f32", with_data));
    check_program(cx, sn_compile(cx, "[n,n]f32 -> [n,n]f32", floyd));
    check_program(cx, sn_compile(cx, "[n]f32, [m]f32 -> [m]f32", rows));
    check_program(cx, sn_compile(cx, "[n]f32, [m]f32 -> [n]f32", checked));
    check_program(cx, sn_compile(cx, "[input]f32, [a1]f32 -> [a1]f32", rows)); /* extents named as words of texts are */
}

/* Structs keep their layout: the signature is part of the text. */
static void test_structs(void **state)
{
    struct body {
        int8_t id;
        double x, speed;
    } b[] = {{1, 2, 3}, {4, 5, 6}}, out[2];
    const char *signature = "[n]{id: i8, x: f64, speed: f64} -> [n]{id: i8, x: f64, speed: f64}";
    sn_program *p = sn_compile(*state, signature, drifts), *q = again(p);
    assert_int_equal(sn_call(q, sn_structs(b, 2), sn_structs(out, 2)), SN_OK);
    assert_true(out[1].id == 4 && out[1].x == 11 && out[1].speed == 6);
    sn_drop(p);
    sn_drop(q);
}

/* Without simplification, texts are not simplified either. */
static void test_switches(void **state)
{
    (void)state;
    for (unsigned k = 0; k < 4; k++) {
        sn_options o = {.size = sizeof(o), .simplify = k & 1 ? SN_OFF : SN_ON, .fusion = k & 2 ? SN_OFF : SN_ON};
        sn_context *cx = sn_open(&o);
        assert_non_null(cx);
        check_program(cx, sn_compile(cx, views_signature, views));
        sn_close(cx);
    }
}

/* --- random programs --- */

static void expect_values(sn_program *p, const random_case *c, const ir_value *wanted, bool good)
{
    sn_arg arg[MOST_ARGUMENTS];
    sn_array *result[MOST_ARGUMENTS] = {0};
    int n = 0;
    for (uint32_t k = 0; k < c->program->input.n; k++)
        for (uint32_t i = 0; i < c->input[k].components; i++, n++) {
            const ir_value *v = &c->input[k];
            arg[n] =
                (sn_arg){.kind = SN_ARG_IN, .type = (sn_type)v->type[i], .rank = v->rank, .u = {.from = v->data[i]}};
            memcpy(arg[n].extent, v->extent, sizeof(v->extent));
        }
    for (uint32_t k = 0; k < p->results; k++)
        arg[n++] = sn_keep(&result[k]);
    sn_status status = sn_call_n(p, n, arg);
    if (good && status != SN_OK)
        fail_msg("%s, in\n%s", sn_message(p->context), sn_explain(p, "term"));
    for (uint32_t k = 0, r = 0; k < c->program->output.n && good; k++)
        for (uint32_t i = 0; i < wanted[k].components; i++, r++) {
            size_t bytes = sn_bytes(result[r]);
            char *got = malloc(bytes + 1);
            assert_int_equal(sn_read(result[r], got, bytes), SN_OK);
            if (memcmp(got, wanted[k].data[i], bytes) && !ir_type_float(wanted[k].type[i])) /* NaNs differ */
                fail_msg("other results, in\n%s", sn_explain(p, "term"));
            free(got);
        }
    for (uint32_t k = 0; k < p->results; k++)
        sn_free(result[k]);
}

static void test_random(void **state)
{
    uint32_t taken = 0, total = getenv("SINTER_TEST_LONG") ? 3000 : 40;
    sn_context *slow = open_interpreter();
    for (uint32_t seed = 0; seed < total; seed++) {
        arena a;
        text t;
        const char *message;
        arena_init(&a, NULL);
        random_options o = random_everything();
        o.failures = seed % 4 == 3;
        o.rows = seed % 5 > 2;
        random_case c = random_program(&a, &o, seed);
        text_init(&t, &a);
        ir_print(c.program, &t);
        ir_value *wanted = arena_array(&a, *wanted, c.program->output.n + 1);
        ir_failure failure = {0};
        bool good = ir_interpret(c.program, &a, c.input, wanted, &failure);
        sn_context *cx = seed % 4 ? *state : slow;
        sn_program *p = sn_parse_program(cx, t.at), *q = p ? again(p) : NULL;
        message = p ? "" : sn_message(cx);
        if (!p && !strstr(message, "is of no parameter") && !strstr(message, "an extent depends on"))
            fail_msg("%s, in\n%s", message, t.at);
        if (p) {
            taken++;
            expect_values(p, &c, wanted, good);
            expect_values(q, &c, wanted, good);
            if (p->context->engine.device)
                expect_same_kernels(p, q);
        }
        sn_drop(p);
        sn_drop(q);
        arena_free(&a);
    }
    if (taken < total / 2)
        fail_msg("%u of %u random programs are programs of a user", taken, total);
    sn_close(slow);
}

/* --- what must not be believed --- */

static sn_status call_with(sn_program *p, int64_t n, int64_t m)
{
    float *x = calloc((size_t)n + 1, sizeof(*x)), *y = calloc((size_t)m + 1, sizeof(*y));
    sn_array *out = NULL;
    sn_status status = sn_call(p, sn_in(x, n), sn_in(y, m), sn_keep(&out));
    sn_free(out);
    free(x);
    free(y);
    return status;
}

/* Indices that are said to be safe, and are not. */
static void test_false_claims(void **state)
{
    static const char *const claims[] = {
        "c = backpermute safe [n] a {i: i64 -> i + 1}",
        "c = backpermute safe [n] a {i: i64 -> i - 1}",
        "c = backpermute safe [n] a {i: i64 -> i + 1000000000000}",
        "c = backpermute safe [n] a {i: i64 -> i * 2}",
        "c = backpermute safe [n] a {i: i64 -> n - i}",
        "c = backpermute safe [n] a {i: i64 -> -i}",
        "c = backpermute safe [n + 1] a {i: i64 -> i}",
        "c = backpermute safe [m] a {i: i64 -> i}",
        "c = backpermute safe [max(n, m)] a {i: i64 -> min(i, m)}",
        "c = backpermute safe [n] a {i: i64 -> if i < n then i + 1 else i}",
        "c = backpermute safe [n] a {i: i64 -> if i >= 1 then i else i - 1}",
        "c = backpermute safe [n] a {i: i64 -> mod(i - 1, m)}",
        "c = backpermute safe [n] a {i: i64 -> rem(i - n, n)}",
        "c = backpermute safe [n] a {i: i64 -> i + 4611686018427387904 + 4611686018427387904}",
        "c = backpermute safe [n] a {i: i64 -> 9223372036854775807 + i - 9223372036854775806}",
        "extents minus = -3 c = backpermute safe [n] a {i: i64 -> max(i, minus) + minus}",
        "extents large = 9223372036854775807 c = backpermute safe [n] a {i: i64 -> min(i, large) + large}",
        "c = map a {x: f32 -> a[safe n]}",
        "c = map a {x: f32 -> a[safe linear n]}",
        "c = map a {x: f32 -> a[safe i64(x) - 1]}",
        "c = map b {x: f32 l = for (k < m; s = 0f32) {next s + a[safe k]} -> l.0}",
        "c = map a {x: f32 l = for (k < n; s = 0f32) {next s + a[safe k + 1]} -> l.0}",
        "c = map a {x: f32 l = while (k = 0, s = 0f32) {test k <= n next k + 1, s + a[safe k]} -> l.1}",
    };
    for (size_t i = 0; i < ARRAY_LENGTH(claims); i++) {
        char terms[512];
        snprintf(terms, sizeof(terms), "extents n, m\na = input [n]f32\nb = input [m]f32\n%s\noutput c\n", claims[i]);
        sn_program *p = parsed(*state, terms);
        sn_status status = call_with(p, 5, 9);
        if (status != SN_OUT_OF_RANGE)
            fail_msg("%s: %s", claims[i], sn_status_name(status));
        if (strstr(sn_explain(p, "term"), "safe"))
            fail_msg("%s is believed", claims[i]);
        sn_drop(p);
    }
}

static unsigned pick(uint64_t *random, unsigned n)
{
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)((*random >> 33) % n);
}

/* An index made of an index, extents and small numbers. */
static void random_index(uint64_t *random, unsigned deep, text *out)
{
    static const char *const leaves[] = {"i", "i", "i", "n", "m", "0", "1", "2", "-1", "n - 1"};
    static const char *const pairs[] = {"(%) + (%)",
                                        "(%) - (%)",
                                        "min(%, %)",
                                        "max(%, %)",
                                        "mod(%, max(%, 1))",
                                        "quot(%, max(%, 1))",
                                        "rem(%, max(%, 1))",
                                        "(%) * 2",
                                        "if (%) < (%) then % else %",
                                        "if (%) >= (%) then % else %"};
    if (!deep || !pick(random, 3)) {
        text_add(out, leaves[pick(random, ARRAY_LENGTH(leaves))]);
        return;
    }
    for (const char *at = pairs[pick(random, ARRAY_LENGTH(pairs))]; *at; at++)
        if (*at == '%')
            random_index(random, deep - 1, out);
        else
            text_add_n(out, at, 1);
}

/* What is believed is true: for all small extents, the interpreter, which checks everything, finds no index outside. */
static void test_believed(void **state)
{
    static const char *const shapes[] = {"n", "m", "min(n, m)", "n - min(n, m)", "max(n - 1, 0)", "n - min(2, n)", "3"};
    uint32_t believed = 0, total = getenv("SINTER_TEST_LONG") ? 100000 : 3000;
    uint64_t random = 1;
    sn_context *cx = open_interpreter();
    (void)state;
    for (uint32_t k = 0; k < total; k++) {
        arena a;
        text t;
        arena_init(&a, NULL);
        text_init(&t, &a);
        text_printf(&t, "extents n, m\na = input [n]f32\nb = input [m]f32\nc = backpermute safe [%s] %s {i: i64 -> ",
                    shapes[pick(&random, ARRAY_LENGTH(shapes))], pick(&random, 4) ? "a" : "b");
        random_index(&random, 3, &t);
        text_add(&t, "}\noutput c\n");
        sn_program *p = parsed(cx, t.at);
        bool safe = strstr(sn_explain(p, "term"), "safe") != NULL;
        believed += safe;
        for (int64_t n = 0; n < 5 && safe; n++)
            for (int64_t m = 0; m < 5; m++)
                if (call_with(p, n, m) != SN_OK)
                    fail_msg("believed, but wrong for %d, %d: %s, in\n%s", (int)n, (int)m, sn_message(cx), t.at);
        sn_drop(p);
        arena_free(&a);
    }
    sn_close(cx);
    assert_true(believed > total / 50);
}

/* Extents so large that sums of them wrap are not taken. */
static void test_large_extents(void **state)
{
    static const char terms[] = "extents n\na = input [n, 0]f32\nf = generate [4 * n + 5] {i: i64 -> f32(i)}\n"
                                "g = force f\nc = backpermute safe [5] g {i: i64 -> i + 2 * n}\noutput c\n";
    sn_program *p = parsed(*state, terms);
    float none = 0;
    sn_array *out = NULL;
    sn_status status = sn_call(p, sn_in(&none, INT64_C(1) << 62, 0), sn_keep(&out));
    assert_int_equal(status, SN_TOO_LARGE);
    sn_drop(p);
}

/* --- mistakes --- */

static void test_messages(void **state)
{
    static const struct {
        const char *text, *message;
    } mistakes[] = {
        {"", "there is no output"},
        {"output", "line 1, column 7: expected the name of an array at the end"},
        {"a = input [n]f32\noutput a", "line 1, column 13: `n` is not known"},
        {"extents n\na = input [n]f32\n  b = map a {x: f32 -> x + 1}\noutput b",
         "line 3, column 28: add: the operands have different types"},
        {"extents n, k\na = input [n]f32\noutput a", "the extent \"k\" is of no parameter"},
        {"extents n, k\na = input [n]f32\nb = generate [k] {i: i64 -> i}\noutput b",
         "the extent \"k\" is of no parameter"},
        {"extents n\na = input [n * 2]f32\noutput a", "input 1 is not parameter 1 of the signature"},
        {"extents k = 3\na = input [k]f32\noutput a", "input 1 is not parameter 1 of the signature"},
        {"extents n\na = input [n]i64\nb = generate [a[0]] {i: i64 -> i}\noutput b",
         "an extent depends on an element of an array"},
        {"l = for (i < 3; x = 1) {next x + 1}\nb = generate [l.0] {i: i64 -> i}\noutput b",
         "an extent depends on a loop"},
        {"signature \"[n]f32 -> [n]f64\"\nextents n\na = input [n]f32\noutput a",
         "result 1 is [n]f32, but the signature has [n]f64"},
        {"signature \"[n]f32 -> [n]f32, f32\"\nextents n\na = input [n]f32\noutput a",
         "1 result, but the signature has 2"},
        {"signature \"[m]f32 -> [m]f32\"\nextents n\na = input [n]f32\noutput a", "input 1 is not parameter 1"},
        {"signature \"f32, [n]f32 -> [n]f32\"\nextents n\na = input [n]f32\noutput a", "input 1 is not parameter 1"},
        {"signature \"[n]f32, f32 -> [n]f32\"\nextents n\na = input [n]f32\noutput a",
         "1 inputs, but the signature has 2 parameters"},
        {"signature \"[n]f32 [\"\nextents n\na = input [n]f32\noutput a", "signature: "},
        {"a = input [2]u8 data (1u8)\noutput a", "1 numbers, but an array of 2 elements"},
        {"a = input [2]u8 data (1u8, 256u8)\noutput a", "expected a number of type u8 at `256u8`"},
        {"a = input [2]u8 data (1u8, 2i8)\noutput a", "expected numbers of the type u8"},
        {"a = input [2](u8, u8) data (1u8, 2u8)\noutput a", "expected data of one component"},
        {"extents n\na = input [n]u8 data ()\noutput a", "expected data of constant extents"},
        {"extents n\na = input [n]i64\nb = fold a seed 0 {x: i64, y: i64 -> x + y}\nc = input [b[]]u8\noutput c",
         "line 4, column 16: input: an extent is read of what the program computes; inputs are there before"},
        {"a = input [9223372036854775807, 9223372036854775807]u8 data ()\noutput a", "exceeds 64 bits"},
        {"a = input [1]u8 data (1u8)\nb = input [1]u8\noutput a", "those with data stand behind all others"},
        {"a = input [-1]f32\noutput a", "negative"},
        {"extents n\na = input [n]i32\nl = control repeat 1 (a) values (3, n) region rounds 1 index 2 inputs (0) values (1) extents (0) "
         "results (0) {\nextents n, \"round#1\"\na = input [n]i32\nb = generate [n + 1] {i: i64 -> a[safe 0]}\noutput b\n}\n"
         "b = part 0 [n] l\noutput b",
         "it is not seen that dimension 0 of result 0 has this extent"},
        {"extents n\na = input [n]i32\nl = control repeat 1 (a) values (3, n) region rounds 1 index 2 inputs (0) values (1) extents (0) "
         "results (0) {\nextents n, \"round#1\"\na = input [n]i32\nb = map a {x: i32 -> x + 1i32}\noutput b\n}\n"
         "b = part 0 [n + 1] l\noutput b",
         "it is not seen that dimension 0 of result 0 has this extent"},
        {"\x1b[31m", "at `?`"},
    };
    sn_context *cx = *state;
    for (size_t i = 0; i < ARRAY_LENGTH(mistakes); i++) {
        sn_program *p = sn_parse_program(cx, mistakes[i].text);
        if (p || !strstr(sn_message(cx), mistakes[i].message))
            fail_msg("\"%s\" gives %s", mistakes[i].text, p ? "a program" : sn_message(cx));
        assert_non_null(strstr(sn_message(cx), "test_parse_program.c:"));
        sn_drop(p);
    }
    assert_null(sn_parse_program(cx, NULL));
    assert_null(sn_parse_program(NULL, ""));
}

static char *repeated(const char *before, const char *what, size_t n, const char *after)
{
    size_t length = strlen(what), at = strlen(before);
    char *s = malloc(at + n * length + strlen(after) + 1);
    assert_non_null(s);
    memcpy(s, before, at);
    for (size_t i = 0; i < n; i++, at += length)
        memcpy(s + at, what, length);
    strcpy(s + at, after);
    return s;
}

/* Long and deep texts end in a message or a program, soon. */
static void test_sizes(void **state)
{
    static const struct {
        const char *before, *what, *after;
        bool good;
    } texts[] = {
        {"c = ", "(", "1", false},
        {"c = ", "if true then ", "1", false},
        {"c = ", "-", "1", false},
        {"a = input [1]f32\nb = map a {x: f32 -> ", "sqrt(", "x", false},
        {"", "l = while (x = 1) { ", "", false},
        {"signature \"", "(", "\"\na = input [1]f32\noutput a", false},
        {"a = input [1]f32\n", "site 1000000 \"f\":1 ", "output a", true},
        {"a = input [1]f32\n", "a = map a {x: f32 -> -x}\n", "output a", true},
        {"a = input [50000]u8 data (", "7u8, ", ") output a", true},
        {"a = input [1]f32\noutput a", ", a", "", true},
        {"a = input [", "1, ", "1]f32 output a", false},
        {"a = input [1](f32", ", f32", ") output a", false},
    };
    sn_context *cx = open_interpreter();
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
        char *s = repeated(texts[i].before, texts[i].what, 50000, texts[i].after);
        sn_program *p = sn_parse_program(cx, s);
        if (!p == texts[i].good)
            fail_msg("%s%s...: %s", texts[i].before, texts[i].what, p ? "a program" : sn_message(cx));
        sn_drop(p);
        free(s);
    }
    sn_close(cx);
}

/* Sites name a file, or none; every form of a program can be shown. */
static void test_sites_without_files(void **state)
{
    static const char *const forms[] = {"edges", "unfused", "clusters", "fused", "term", "kernels", "plan"};
    sn_program *p = parsed(*state, "site 1 ?:0 \"map\"\nsite 2 \"a.c\":7 \"sum\"\nextents n\na1 = input [n]f32\n"
                                   "a2 = map@1 a1 {x1: f32 -> x1 * 2.0f32}\na3 = force@1 a2\n"
                                   "a4 = fold@2 a3 seed 0.0f32 {x1: f32, x2: f32 -> x1 + x2}\noutput a2, a4\n");
    for (size_t i = 0; i < ARRAY_LENGTH(forms); i++)
        if (!sn_explain(p, forms[i]))
            fail_msg("%s: %s", forms[i], sn_message(*state));
    sn_drop(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples),
        cmocka_unit_test(test_chosen),
        cmocka_unit_test(test_structs),
        cmocka_unit_test(test_switches),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_false_claims),
        cmocka_unit_test(test_believed),
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_large_extents),
        cmocka_unit_test(test_sites_without_files),
    };
    return cmocka_run_group_tests_name("programs from texts", tests, open_context, close_context);
}
