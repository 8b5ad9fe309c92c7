/* Texts as sn_parse_program takes them, from anybody: what is taken has the text of a program that is taken again, with
 * the same text, and can be explained and planned; what is not has a message. */
#include "fuzz.h"
#include "ir/term.h"
#include "support/random_program.h"

const char *fuzz_seed(arena *a, uint32_t number, size_t *n)
{
    static const char *const seeds[] = {
        "signature \"[n]{x: f32, id: (i8, u64)}, f32 -> [n]f32\"\nextents n\na1 = input [n](f32, i8, u64)\n"
        "a2 = input []f32\na3 = map a1 {x1: f32, x2: i8, x3: u64 -> x1 + a2[safe]}\noutput a3\n",
        "extents n, m\na1 = input [n]f32\na2 = use: input [2, 3]u8 data (1u8, 2u8, 3u8, 4u8, 5u8, 6u8)\n"
        "a3 = rotate: backpermute safe [n] a1 {x1: i64 -> if x1 < n - mod(5, max(n, 1)) then x1 + mod(5, max(n, 1)) "
        "else x1 - (n - mod(5, max(n, 1)))}\na4 = backpermute safe [n - min(2, n)] a1 {x1: i64 -> x1 + min(2, n)}\n"
        "a5 = input [m]f64\ncheck n == m \"what\"\noutput a3, a4, a2\n",
        "extents n\na1 = input [n]i64\na2 = map a1 {x1: i64 l1 = for (l2 < n; l3 = 0) {next l3 + a1[safe l2]} -> "
        "l1.0}\n"
        "output a2, a1\n"};
    if (number % 2) {
        *n = strlen(seeds[number / 2 % ARRAY_LENGTH(seeds)]);
        return seeds[number / 2 % ARRAY_LENGTH(seeds)];
    }
    random_options o = random_everything();
    o.failures = number % 3 == 0;
    o.rows = number % 2;
    o.controls = number % 3 > 0 ? 3 : 0;
    random_case c = random_program(a, &o, number);
    text t;
    text_init(&t, a);
    ir_print(c.program, &t);
    *n = t.n;
    return t.at;
}

static void check_in(sn_context *cx, const char *source)
{
    sn_program *p = sn_parse_program(cx, source);
    fuzz_promise(p || *sn_message(cx), "an error has a message", source);
    if (!p)
        return;
    const char *term = sn_explain(p, "term");
    fuzz_promise(term && sn_explain(p, "fused") && sn_explain(p, "json") && sn_explain(p, "plan"), "it is explained",
                 source);
    sn_program *q = sn_parse_program(cx, term);
    fuzz_promise(q != NULL, sn_message(cx), term);
    fuzz_promise(!strcmp(sn_explain(q, "term"), term), "the text of a program is that of the same program", source);
    sn_drop(q);
    sn_drop(p);
}

static void check(arena *a, const char *source)
{
    sn_context *cx = fuzz_context();
    (void)a;
    check_in(cx, source);
    sn_close(cx);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    return fuzz_text(bytes, n, check);
}
