/* explain for machines: JSON is well-formed whatever names occur, agrees with the text for people, and the graph has
 * the clusters. */
#include <sinter/sinter.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <string.h>

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

/* --- a reader of JSON that says only whether it is JSON --- */

static const char *value(const char *at, int depth);

static const char *blanks(const char *at)
{
    return at + strspn(at, " \n");
}

static const char *string(const char *at)
{
    if (*at++ != '"')
        return NULL;
    for (; *at != '"'; at++) {
        if ((unsigned char)*at < 0x20)
            return NULL;
        if (*at != '\\')
            continue;
        at++;
        if (*at == 'u' && strspn(at + 1, "0123456789abcdef") >= 4)
            at += 4;
        else if (!*at || !strchr("\"\\nrt", *at))
            return NULL;
    }
    return at + 1;
}

static const char *items(const char *at, char end, bool keys, int depth)
{
    at = blanks(at + 1);
    if (*at == end)
        return at + 1;
    for (;; at++) {
        if (keys) {
            at = string(blanks(at));
            if (!at || *at++ != ':')
                return NULL;
        }
        at = value(at, depth + 1);
        if (!at)
            return NULL;
        at = blanks(at);
        if (*at == end)
            return at + 1;
        if (*at != ',')
            return NULL;
    }
}

static const char *value(const char *at, int depth)
{
    at = blanks(at);
    if (depth > 8)
        return NULL;
    if (*at == '{')
        return items(at, '}', true, depth);
    if (*at == '[')
        return items(at, ']', false, depth);
    if (*at == '"')
        return string(at);
    if (!strncmp(at, "true", 4))
        return at + 4;
    if (!strncmp(at, "false", 5))
        return at + 5;
    size_t digits = strspn(at, "0123456789");
    return digits ? at + digits : NULL;
}

static bool is_json(const char *text)
{
    const char *end = value(text, 0);
    return end && !*blanks(end);
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

static unsigned occurrences(const char *text, const char *part)
{
    unsigned n = 0;
    for (const char *at = strstr(text, part); at; at = strstr(at + 1, part))
        n++;
    return n;
}

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
    assert_true(strstr(dot, "label=\"zip_with") < first);  /* of two clusters: outside */
    assert_true(strstr(dot, "label=\"replicate") > first); /* of one: inside */
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reader), cmocka_unit_test(test_forms),
                                       cmocka_unit_test(test_strange_names)};
    return cmocka_run_group_tests_name("explain for machines", tests, open_context, close_context);
}
