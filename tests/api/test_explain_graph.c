/* explain for machines: JSON is well-formed whatever names occur, agrees with the text for people, and the graph has
 * the clusters. */
#include <sinter/sinter.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/json.h"
#include "support/occurrences.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int open_context(void **state)
{
    *state = sn_open(NULL);
    return *state ? 0 : -1;
}

static int close_context(void **state)
{
    sn_close(*state);
    return 0;
}

static void test_reader(void **state)
{
    (void)state;
    assert_true(is_json("{\"a\": [1, {\"b\": \"x\\\"\\u0001\"}], \"c\": true}\n"));
    assert_false(is_json("{\"a\": [1, ], \"c\": true}"));
    assert_false(is_json("{\"a\": 1"));
    assert_false(is_json("{\"a\": \"\n\"}"));
}

/* --- programs --- */

static sn_scalar distance(sn_scalar x, sn_scalar y)
{
    return sn_abs(sn_sub(x, y));
}

/* two clusters: the fold, and what follows it; the difference is delayed into both, the product into the second alone
 */
static sn_acc program(sn_acc xs, sn_acc ys)
{
    sn_acc apart = sn_zip_with(distance, xs, ys);
    sn_acc most = sn_maximum(apart);
    return sn_zip_with(sn_mul, apart, sn_replicate(most, sn_size(xs)));
}

static void test_forms(void **state)
{
    sn_program *p = sn_compile(*state, "[n]f32, [n]f32 -> [n]f32", program);
    assert_non_null(p);
    const char *edges = sn_explain(p, "edges"), *json = sn_explain(p, "json"), *dot = sn_explain(p, "dot");
    assert_non_null(json);
    assert_non_null(dot);
    assert_true(is_json(json));
    unsigned count = occurrences(edges, "\n");
    assert_int_equal(occurrences(json, "\"answer\""), count);
    assert_int_equal(occurrences(dot, " -> "), count);
    assert_int_equal(occurrences(json, "\"fused\": true"), occurrences(edges, ": fused: "));
    assert_int_equal(occurrences(json, "\"answer\": \"after\""), occurrences(edges, "a fold must be complete"));
    assert_int_equal(occurrences(json, "\"answer\": \"input\""), occurrences(edges, "read: an argument"));
    assert_int_equal(occurrences(json, "\"kind\""), 2);
    assert_int_equal(occurrences(json, "\"over\": [\"n\"]"), 2);
    assert_non_null(strstr(json, "\"file\": \"")); /* the whole path */
    assert_int_equal(occurrences(dot, "subgraph cluster_"), 2);
    assert_non_null(strstr(dot, "label=\"0: fold loop over [n]\""));
    assert_non_null(strstr(dot, "color=red, label=\"after\""));
    const char *first = strstr(dot, "subgraph");
    assert_true(strstr(dot, " zip_with (") < first);       /* of two clusters: outside */
    assert_true(strstr(dot, " replicate (") > first);      /* of one: inside */
    assert_ptr_equal(sn_explain(p, "json"), json);         /* unchanged: the same text */
    sn_drop(p);
}

static sn_acc strange(sn_acc xs)
{
    return sn_map_at((sn_site){"a\"b\\c\nd/\x01\xc3\xa9.c", 3}, SN_FN(sn_neg), xs);
}

static void test_strange_names(void **state)
{
    sn_program *p = sn_compile(*state, "[n]f32 -> [n]f32", strange);
    assert_non_null(p);
    const char *json = sn_explain(p, "json");
    assert_true(is_json(json));
    assert_non_null(strstr(json, "\"a\\\"b\\\\c\\u000ad/\\u0001\xc3\xa9.c\""));
    assert_non_null(strstr(sn_explain(p, "dot"), "(\\u0001\xc3\xa9.c:3)\""));
    sn_drop(p);
}

/* --- what the user sees --- */

static sn_scalar square(sn_scalar x)
{
    return sn_mul(x, x);
}

static sn_scalar positive(sn_scalar x)
{
    return sn_gt(x, 0);
}

/* the named reductions have steps of their own: pairs with an index, wider types, corners, rows put one after the other
 */
static sn_acc steps(sn_acc xs, sn_acc pairs)
{
    static const uint8_t table[] = {1, 2, 3, 4};
    sn_acc y = sn_map(square, xs);
    return sn_results(sn_argmin(y), sn_count(sn_map(positive, y)), sn_sum(sn_map(sn_to_i16, y)),
                      sn_zip_min_with(sn_add, y, sn_fst(pairs)), sn_map(sn_neg, sn_use(table, 4)),
                      sn_fold_all(sn_add, 0, sn_replicate(xs, 5, SN_ALL)));
}

static const char steps_signature[] = "[n]f32, [m](f32, i32) -> i64, i64, i32, [k]f32, [4]u8, f32";

static void lacks(const char *text, const char *part)
{
    if (strstr(text, part))
        fail_msg("\"%s\" is in:\n%s", part, text);
}

static void has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("\"%s\" is not in:\n%s", part, text);
}

static void test_steps(void **state)
{
    static const char *const operations[] = {"argmin", "count", "sum", "zip_min_with", "fold_all"};
    sn_program *p = sn_compile(*state, steps_signature, steps);
    assert_non_null(p);
    const char *edges = sn_explain(p, "edges"), *dot = sn_explain(p, "dot"), *clusters = sn_explain(p, "clusters");
    for (size_t i = 0; i < sizeof(operations) / sizeof(*operations); i++) {
        char out[64], in[64];
        snprintf(out, sizeof(out), " %s (test_explain_graph.c:", operations[i]);
        assert_int_equal(occurrences(clusters, out), 1);
        assert_int_equal(occurrences(dot, out), 1);                               /* one node */
        for (const char *at = strstr(edges, out); at; at = strstr(at + 1, out)) { /* never in front of an arrow */
            const char *arrow = strstr(at, " -> ");
            assert_true(!arrow || memchr(at, '\n', (size_t)(arrow - at)));
        }
        snprintf(in, sizeof(in), "\"operation\": \"%s\"", operations[i]);
        assert_true(occurrences(sn_explain(p, "json"), in) > 1); /* machines see all of it, */
    }
    assert_int_equal(occurrences(sn_explain(p, "json"), "\"step_of\""), 7); /* argmin and zip_min_with have two */
    sn_drop(p);
}

static void test_inputs(void **state)
{
    sn_program *p = sn_compile(*state, steps_signature, steps);
    assert_non_null(p);
    const char *edges = sn_explain(p, "edges"), *json = sn_explain(p, "json");
    has(edges, "\nargument 1 ([n]f32) -> " + 1);
    has(edges, "\narguments 2 to 3 ([m](f32, i32)) -> ");
    has(edges, "\ndata ([4]u8) (test_explain_graph.c:");
    has(edges, "read: data of the program");
    has(json, "\"origin\": \"argument\", \"argument\": 2");
    has(json, "\"origin\": \"data\"");
    sn_drop(p);
}

/* --- loops in C --- */

typedef struct around {
    sn_acc distance;
    int k;
} around;

static sn_scalar shorter(void *env, sn_scalar i, sn_scalar j)
{
    const around *a = env;
    return sn_min(sn_index(a->distance, i, j), sn_add(sn_index(a->distance, i, a->k), sn_index(a->distance, a->k, j)));
}

enum { ROUNDS = 40 };

/* k becomes an argument of each launch, which nobody passed to the program */
static sn_acc floyd(sn_acc distance)
{
    for (int k = 0; k < ROUNDS; k++) {
        around a = {distance, k};
        distance = sn_generate(sn_shape_of(distance), sn_closure(shorter, &a));
    }
    return distance;
}

static sn_scalar three(sn_scalar s)
{
    return sn_add(sn_add(sn_at(s, -1), sn_at(s, 0)), sn_at(s, 1));
}

static sn_acc rounds(sn_acc xs)
{
    for (int i = 0; i < ROUNDS; i++)
        xs = sn_stencil(three, sn_pattern(3), sn_wrap, sn_map(square, xs));
    return xs;
}

/* How many things lines beginning with `head` say something about: one each, and so many more alike. */
static long told(const char *said, const char *head)
{
    long n = 0;
    for (const char *line = said; *line; line += strcspn(line, "\n") + 1) {
        if (strncmp(line, "    and ", 8) == 0)
            n += strtol(line + 8, NULL, 10);
        else if (strncmp(line, head, strlen(head)) == 0 && *line != ' ')
            n++;
    }
    return n;
}

static void test_alike(void **state)
{
    static const char *const forms[] = {"edges", "unfused", "clusters"};
    for (unsigned i = 0; i < 2; i++) {
        sn_program *p =
            i ? sn_compile(*state, "[n]f32 -> [n]f32", rounds) : sn_compile(*state, "[n,n]f32 -> [n,n]f32", floyd);
        assert_non_null(p);
        assert_true(occurrences(sn_explain(p, "json"), "\"kind\"") >= ROUNDS - 1);
        for (size_t f = 0; f < sizeof(forms) / sizeof(*forms); f++) {
            const char *said = sn_explain(p, forms[f]);
            if (occurrences(said, "\n") > 16)
                fail_msg("%s of alike rounds:\n%s", forms[f], said);
            has(said, " more like this one, the last is ");
        }
        assert_int_equal(told(sn_explain(p, "edges"), ""), occurrences(sn_explain(p, "json"), "\"answer\""));
        assert_int_equal(told(sn_explain(p, "clusters"), "cluster "), ROUNDS);
        assert_int_equal(occurrences(sn_explain(p, "edges"), "argument 1"), 1);
        lacks(sn_explain(p, "edges"), "argument 2");
        lacks(sn_explain(p, "unfused"), ": fused: ");
        lacks(sn_explain(p, "unfused"), "read: ");
        sn_drop(p);
    }
}

static void test_unfused(void **state)
{
    sn_program *p = sn_compile(*state, "[n]f32, [n]f32 -> [n]f32", program);
    assert_int_equal(occurrences(sn_explain(p, "unfused"), "\n"), 1);
    has(sn_explain(p, "unfused"), "a fold must be complete");
    sn_drop(p);
    p = sn_compile(*state, steps_signature, steps);
    has(sn_explain(p, "unfused"), "nothing: ");
    sn_drop(p);
    sn_options o = {.size = sizeof(o), .fusion = SN_OFF};
    sn_context *cx = sn_open(&o);
    assert_non_null(cx);
    p = sn_compile(cx, steps_signature, steps); /* then steps are loops of their own */
    has(sn_explain(p, "unfused"), "inside a");
    sn_drop(p);
    sn_close(cx);
}

/* --- extents --- */

/* an extent whose parts have names where it is printed */
static sn_acc odd_extent(sn_acc xs)
{
    sn_scalar e = sn_size(xs);
    for (int i = 2; i < 20; i++)
        e = sn_max(sn_quot(sn_mul(e, e), i), sn_rem(e, i + 40));
    return sn_iota(e);
}

static void test_extents(void **state)
{
    sn_program *p = sn_compile(*state, "[n]f32 -> [m]i64", odd_extent);
    assert_non_null(p);
    const char *json = sn_explain(p, "json");
    assert_true(is_json(json));
    has(json, " where t");
    lacks(json, "\\u000a");
    assert_int_equal(occurrences(sn_explain(p, "clusters"), "\n"), 2);
    sn_drop(p);
}

/* Another reader of JSON: Python's, where there is one. */
static void test_python(void **state)
{
    const char *dir = getenv("SINTER_TEST_DIR");
    char path[512], command[1200];
    if (system("python3 -c 'import json' 2>/dev/null"))
        skip();
    snprintf(path, sizeof(path), "%s/explain-%d.json", dir ? dir : "/tmp", (int)getpid());
    sn_program *p[] = {sn_compile(*state, steps_signature, steps), sn_compile(*state, "[n,n]f32 -> [n,n]f32", floyd),
                       sn_compile(*state, "[n]f32 -> [n]f32", strange),
                       sn_compile(*state, "[n]f32 -> [m]i64", odd_extent)};
    for (size_t i = 0; i < sizeof(p) / sizeof(*p); i++) {
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        assert_true(fputs(sn_explain(p[i], "json"), f) >= 0 && !fclose(f));
        snprintf(command, sizeof(command),
                 "python3 -c '\nimport json, sys\ng = json.load(open(sys.argv[1]))\n"
                 "ids = [a[\"id\"] for a in g[\"arrays\"]]\n"
                 "assert len(ids) == len(set(ids)) and g[\"clusters\"]\n"
                 "for e in g[\"edges\"]: assert e[\"from\"] in ids and e[\"to\"] in ids\n"
                 "for a in g[\"arrays\"]: assert a.get(\"step_of\", ids[0]) in ids\n"
                 "for c in g[\"clusters\"]: assert set(c[\"computes\"] + c[\"reads\"]) <= set(ids)\n' '%s'",
                 path);
        if (system(command))
            fail_msg("Python finds mistakes in:\n%s", sn_explain(p[i], "json"));
        sn_drop(p[i]);
    }
    remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reader),  cmocka_unit_test(test_forms),   cmocka_unit_test(test_strange_names),
        cmocka_unit_test(test_steps),   cmocka_unit_test(test_inputs),  cmocka_unit_test(test_alike),
        cmocka_unit_test(test_unfused), cmocka_unit_test(test_extents), cmocka_unit_test(test_python)};
    return cmocka_run_group_tests_name("explain for machines", tests, open_context, close_context);
}
