/* The profile of a program: how often and over what each kernel ran, what it had to move and to compute, and the words
 * that explain its time, against programs for which all this is known. Times and rates are only looked at for being
 * there. */
#include "both.h"
#include "support/json.h"
#include "support/occurrences.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static sn_context *cx; /* on the CPU */

/* --- reading the JSON form --- */

static const char *json_of(sn_program *p)
{
    const char *json = sn_explain(p, "profile-json");
    if (!json || !is_json(json))
        fail_msg("no JSON: %s", json ? json : sn_message(cx));
    return json;
}

/* What stands behind a key, from the n-th place on that has this text. */
static uint64_t number(const char *json, const char *place, const char *key)
{
    char quoted[64];
    const char *at = strstr(json, place);
    if (!at)
        fail_msg("no %s in %s", place, json);
    snprintf(quoted, sizeof(quoted), "\"%s\": ", key);
    at = strstr(at, quoted);
    if (!at)
        fail_msg("no %s behind %s in %s", key, place, json);
    return strtoull(at + strlen(quoted), NULL, 10);
}

/* The words of the only kernel over these extents. */
static void has_word(const char *json, const char *over, const char *word, bool wanted)
{
    char quoted[64], said[256];
    const char *at = strstr(json, over), *from = at ? strstr(at, "\"why\": [") : NULL;
    if (!from)
        fail_msg("no %s in %s", over, json);
    snprintf(said, sizeof(said), "%.*s", (int)strcspn(from, "]"), from);
    snprintf(quoted, sizeof(quoted), "\"%s\"", word);
    if ((strstr(said, quoted) != NULL) != wanted)
        fail_msg("%s is %s", word, said);
}

static void says(sn_program *p, const char *part)
{
    const char *said = sn_explain(p, "profile");
    if (!said || !strstr(said, part))
        fail_msg("no \"%s\" in\n%s", part, said ? said : sn_message(cx));
}

/* The first share of each line is that of the time: together they are all of it, but for what rounding leaves. */
static void shares_add_up(sn_program *p)
{
    const char *said = sn_explain(p, "profile");
    long sum = 0, lines = 0;
    assert_non_null(said);
    for (const char *line = said; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        const size_t length = strcspn(line, "\n");
        const char *percent = memchr(line, '%', length), *digits = percent;
        while (digits && digits > line && digits[-1] >= '0' && digits[-1] <= '9')
            digits--;
        if (!percent || digits == percent || *line != ' ')
            continue;
        sum += strtol(digits, NULL, 10);
        lines++;
    }
    if (!lines || sum < 100 - lines || sum > 100 + lines)
        fail_msg("shares of %ld lines make %ld%% in\n%s", lines, sum, said);
}

/* Where there is no code generator there is nothing to see. */
/* Three digits are enough: hundreds have none behind the point, tens one. The line of the launch over these extents
 * says how large its share of the time is, and of the roof. */
static void table_is_tidy(sn_program *p, const char *over, unsigned shares)
{
    const char *said = sn_explain(p, "profile");
    assert_non_null(said);
    for (const char *at = said; *at; at++) {
        const size_t digits = strspn(at, "0123456789");
        const size_t behind = digits && at[digits] == '.' ? strspn(at + digits + 1, "0123456789") : 0;
        if (behind && digits + behind != 3)
            fail_msg("a number of %zu digits before the point and %zu behind it in\n%s", digits, behind, said);
        at += digits ? digits + behind + (behind != 0) - 1 : 0;
    }
    const char *there = strstr(said, over), *line = there;
    if (!there)
        fail_msg("no %s in\n%s", over, said);
    while (line > said && line[-1] != '\n')
        line--;
    for (; *line && *line != '\n'; line++)
        shares -= *line == '%';
    if (shares)
        fail_msg("another number of shares behind %s in\n%s", over, said);
}

static void need_kernels(void)
{
    if (!cx || !cx->engine.device)
        skip();
}

static sn_program *recorded(const char *signature, sn_body body)
{
    need_kernels();
    sn_program *p = sn_compile_at(SN_HERE, cx, signature, body);
    if (!p)
        fail_msg("%s", sn_message(cx));
    sn_profile(p, true);
    return p;
}

static void *room(int64_t bytes)
{
    char *r = malloc((size_t)bytes + 1);
    assert_non_null(r);
    memset(r, 1, (size_t)bytes);
    return r;
}

/* --- programs --- */

static sn_scalar twice_and(sn_scalar x, sn_scalar y)
{
    return sn_add(sn_mul(x, 2), y);
}

static sn_acc saxpy(sn_acc x, sn_acc y)
{
    return sn_zip_with(twice_and, x, y);
}

static sn_scalar quotient(sn_scalar x)
{
    return sn_quot(1000, x);
}

static sn_acc row_sums_of_quotients(sn_acc x)
{
    return sn_sum(sn_map(quotient, x));
}

static sn_acc row_sums(sn_acc m)
{
    return sn_sum(m);
}

static sn_acc looked_up(sn_acc index, sn_acc table)
{
    return sn_gather(index, table);
}

static sn_scalar between(sn_scalar s)
{
    return sn_add(sn_at(s, -1), sn_at(s, 1));
}

static sn_acc smooth(sn_acc x)
{
    return sn_stencil(between, sn_pattern(3), sn_clamp, x);
}

static sn_acc negated(sn_acc x)
{
    return sn_map(sn_neg, x);
}

static sn_acc first_part(sn_acc x)
{
    return sn_map(sn_neg, sn_take(100, x));
}

static sn_acc product(sn_acc m, sn_acc v)
{
    return sn_sum(sn_zip_with(sn_mul, m, sn_replicate(v, sn_extent(m, 0), SN_ALL)));
}

static sn_scalar is_small(sn_scalar x)
{
    return sn_lt(x, 100);
}

static sn_scalar doubled(sn_scalar x)
{
    return sn_add(x, x);
}

static sn_scalar until_large(sn_scalar x)
{
    return sn_while(is_small, doubled, x);
}

static sn_acc grown(sn_acc x)
{
    return sn_map(until_large, x);
}

static sn_acc identity(sn_acc x)
{
    return x;
}

/* --- tests --- */

static void nothing_unless_asked(void **state)
{
    (void)state;
    float x[100] = {0}, y[100] = {0}, z[100];
    need_kernels();
    sn_program *p = sn_compile(cx, "[n]f32, [n]f32 -> [n]f32", saxpy);
    assert_int_equal(sn_call(p, sn_in(x, 100), sn_in(y, 100), sn_into(z, 100)), SN_OK);
    says(p, "sn_profile(program, true)");
    const char *json = json_of(p);
    assert_non_null(strstr(json, "\"recording\": false"));
    assert_int_equal(number(json, "\"calls\"", "count"), 0);
    assert_null(strstr(json, "\"kernel\":"));
    sn_profile(p, true);
    assert_non_null(strstr(json_of(p), "\"recording\": true"));
    assert_int_equal(sn_call(p, sn_in(x, 100), sn_in(y, 100), sn_into(z, 100)), SN_OK);
    assert_int_equal(number(json_of(p), "\"calls\"", "count"), 1);
    sn_profile(p, false); /* what there is stays */
    assert_int_equal(sn_call(p, sn_in(x, 100), sn_in(y, 100), sn_into(z, 100)), SN_OK);
    assert_int_equal(number(json_of(p), "\"calls\"", "count"), 1);
    assert_int_equal(number(json_of(p), "\"kernels\"", "launches"), 1);
    sn_profile(p, true); /* and is forgotten here */
    assert_int_equal(number(json_of(p), "\"calls\"", "count"), 0);
    assert_null(strstr(json_of(p), "\"kernel\":"));
    sn_drop(p);
    sn_profile(NULL, true);
}

static void counts_are_exact(void **state)
{
    (void)state;
    enum { N = 5000, M = 300 };
    float *x = room(4 * N), *y = room(4 * N), *z = room(4 * N);
    sn_program *p = recorded("[n]f32, [n]f32 -> [n]f32", SN_BODY(saxpy));
    for (int i = 0; i < 7; i++)
        assert_int_equal(sn_call(p, sn_in(x, N), sn_in(y, N), sn_into(z, N)), SN_OK);
    for (int i = 0; i < 3; i++)
        assert_int_equal(sn_call(p, sn_in(x, M), sn_in(y, M), sn_into(z, M)), SN_OK);
    const char *json = json_of(p);
    assert_int_equal(number(json, "\"calls\"", "count"), 10);
    assert_int_equal(occurrences(json, "\"kernel\":"), 2);
    assert_int_equal(number(json, "\"over\": [5000]", "launches"), 7);
    assert_int_equal(number(json, "\"over\": [300]", "launches"), 3);
    assert_int_equal(number(json, "\"over\": [5000]", "bytes_read"), 8 * N);
    assert_int_equal(number(json, "\"over\": [5000]", "bytes_written"), 4 * N);
    assert_int_equal(number(json, "\"over\": [5000]", "operations"), 2 * N); /* an fma is two */
    assert_int_equal(number(json, "\"over\": [300]", "bytes_read"), 8 * M);
    assert_true(number(json, "\"over\": [5000]", "total_ns") >= 7 * number(json, "\"over\": [5000]", "least_ns"));
    assert_true(number(json, "\"calls\"", "total_ns") > number(json, "\"over\": [5000]", "total_ns"));
    assert_true(number(json, "\"roof\"", "f32") > 1000000);
    assert_true(number(json, "\"over\": [5000]", "roof_ns") > 0);
    assert_int_equal(number(json, "\"step\": \"compile\"", "count"), 1);
    assert_int_equal(number(json, "\"step\": \"plan\"", "count"), 2);
    assert_int_equal(number(json, "\"step\": \"plan\"", "bytes"), 0);
    says(p, "over [5000]");
    says(p, "calls: 10, ");
    says(p, "compiling kernels");
    says(p, " GB/s read");
    free(x);
    free(y);
    free(z);
    sn_drop(p);
}

static void rows_are_read_once(void **state)
{
    (void)state;
    enum { N = 50, M = 3000 };
    float *x = room(4 * N * M), *v = room(4 * M), *z = room(4 * N);
    sn_program *p = recorded("[n,m]f32 -> [n]f32", SN_BODY(row_sums));
    assert_int_equal(sn_call(p, sn_in(x, N, M), sn_into(z, N)), SN_OK);
    const char *json = json_of(p);
    assert_int_equal(number(json, "\"over\": [50, 3000]", "bytes_read"), 4 * N * M);
    assert_int_equal(number(json, "\"over\": [50, 3000]", "bytes_written"), 4 * N);
    assert_true(number(json, "\"over\": [50, 3000]", "operations") >= N * (M - 1));
    assert_int_equal(number(json, "\"over\": [50, 3000]", "launches"), 1);
    sn_drop(p);
    p = recorded("[n,m]f32, [m]f32 -> [n]f32", SN_BODY(product)); /* the vector is read once, however often */
    assert_int_equal(sn_call(p, sn_in(x, N, M), sn_in(v, M), sn_into(z, N)), SN_OK);
    assert_int_equal(number(json_of(p), "\"over\": [50, 3000]", "bytes_read"), 4 * N * M + 4 * M);
    sn_drop(p);
    free(x);
    free(v);
    free(z);
}

/* A second launch makes one result of those of several pieces. */
static void partial_results_are_launches(void **state)
{
    (void)state;
    enum { N = 300000 };
    float *x = room(4 * N), r;
    sn_program *p = recorded("[n]f32 -> f32", SN_BODY(row_sums));
    for (int i = 0; i < 4; i++)
        assert_int_equal(sn_call(p, sn_in(x, N), sn_value(&r)), SN_OK);
    const char *json = json_of(p);
    assert_int_equal(occurrences(json, "\"kernel\":"), 2);
    assert_int_equal(number(json, "\"partials\": 0", "bytes_read"), 4 * N);
    uint64_t partials = number(json, "\"partials\": 0", "bytes_written") / 4;
    char combining[64];
    snprintf(combining, sizeof(combining), "\"partials\": %" PRIu64, partials);
    assert_true(partials > 1);
    assert_int_equal(number(json, combining, "bytes_read"), 4 * partials);
    assert_int_equal(number(json, combining, "bytes_written"), 4);
    assert_int_equal(number(json, combining, "launches"), 4);
    free(x);
    sn_drop(p);
}

static void neighbours_and_parts(void **state)
{
    (void)state;
    enum { N = 10000 };
    float *x = room(4 * N), *z = room(4 * N);
    sn_program *p = recorded("[n]f32 -> [n]f32", SN_BODY(smooth));
    assert_int_equal(sn_call(p, sn_in(x, N), sn_into(z, N)), SN_OK);
    const char *json = json_of(p);
    assert_int_equal(number(json, "\"over\": [10000]", "bytes_read"), 4 * N);
    assert_int_equal(number(json, "\"over\": [10000]", "bytes_written"), 4 * N);
    assert_int_equal(number(json, "\"over\": [10000]", "operations"), N);
    has_word(json, "\"over\": [10000]", "gathered", false);
    sn_drop(p);
    p = recorded("[n]f32 -> [100]f32", SN_BODY(first_part));
    assert_int_equal(sn_call(p, sn_in(x, N), sn_into(z, 100)), SN_OK);
    assert_int_equal(number(json_of(p), "\"over\": [100]", "bytes_read"), 400);
    sn_drop(p);
    free(x);
    free(z);
}

static void words_explain(void **state)
{
    (void)state;
    enum { N = 1 << 20 }; /* no launch takes as little as that on any machine */
    int64_t *index = room(8 * N);
    float *table = room(4 * N), *z = room(4 * N);
    for (int i = 0; i < N; i++)
        index[i] = (int64_t)i * 7 % N;
    sn_program *p = recorded("[n]i64, [m]f32 -> [n]f32", SN_BODY(looked_up));
    assert_int_equal(sn_call(p, sn_in(index, N), sn_in(table, N), sn_into(z, N)), SN_OK);
    assert_int_equal(sn_call(p, sn_in(index, N), sn_in(table, N), sn_into(z, N)), SN_OK);
    const char *json = json_of(p);
    assert_int_equal(number(json, "\"over\": [1048576]", "gathered_percent"), 50);
    assert_int_equal(number(json, "\"over\": [1048576]", "bytes_read"), 12 * N);
    has_word(json, "\"over\": [1048576]", "gathered", true);
    has_word(json, "\"over\": [1048576]", "stream", false);
    says(p, "gathered (50% of what is loaded)");
    table_is_tidy(p, "over [1048576]", 3); /* the third: what is gathered */
    sn_drop(p);

    p = recorded("[n]f32, [n]f32 -> [n]f32", SN_BODY(saxpy)); /* three elements are no work */
    assert_int_equal(sn_call(p, sn_in(table, 3), sn_in(table, 3), sn_into(z, 3)), SN_OK);
    json = json_of(p);
    has_word(json, "\"over\": [3]", "small", true);
    has_word(json, "\"over\": [3]", "masked", false); /* as if that mattered */
    assert_true(number(json, "\"over\": [3]", "masked_percent") > 20);
    has_word(json, "\"over\": [3]", "gathered", false);
    says(p, "launch too small\n");
    sn_drop(p);

    p = recorded("[n,m]f32 -> [n]f32", SN_BODY(row_sums)); /* rows a little longer than a vector */
    assert_int_equal(sn_call(p, sn_in(table, 25000, 40), sn_into(z, 25000)), SN_OK);
    json = json_of(p);
    has_word(json, "\"over\": [25000, 40]", "short_rows", false); /* several are folded at a time */
    has_word(json, "\"over\": [25000, 40]", "masked", true);
    assert_int_equal(sn_call(p, sn_in(table, 2, 2000), sn_into(z, 2)), SN_OK);
    has_word(json_of(p), "\"over\": [2, 2000]", "short_rows", false);
    has_word(json_of(p), "\"over\": [2, 2000]", "masked", false);
    sn_drop(p);

    int32_t *whole = room(4 * N), *sums = room(4L * 25000); /* rows whose elements may fail go one by one */
    for (int i = 0; i < N; i++)
        whole[i] = 3;
    p = recorded("[n,m]i32 -> [n]i32", SN_BODY(row_sums_of_quotients));
    assert_int_equal(sn_call(p, sn_in(whole, 25000, 40), sn_into(sums, 25000)), SN_OK);
    json = json_of(p);
    has_word(json, "\"over\": [25000, 40]", "short_rows", true);
    has_word(json, "\"over\": [25000, 40]", "masked", true);
    sn_drop(p);
    free(index);
    free(table);
    free(z);
    free(whole);
    free(sums);
}

static void large_results_pass_the_caches(void **state)
{
    (void)state;
    enum { N = 5 << 20 };
    double *x = room(8L * N), *z = room(8L * N);
    sn_program *p = recorded("[n]f64 -> [n]f64", SN_BODY(negated));
    assert_int_equal(sn_call(p, sn_in(x, N), sn_into(z, N)), SN_OK);
    assert_int_equal(sn_call(p, sn_in(x, 1000), sn_into(z, 1000)), SN_OK);
    const char *json = json_of(p);
    assert_int_equal(number(json, "\"over\": [5242880]", "bytes_read"), 8L * N);
    has_word(json, "\"over\": [5242880]", "stream", true);
    has_word(json, "\"over\": [1000]", "stream", false);
    says(p, "written past the caches");
    free(x);
    free(z);
    sn_drop(p);
}

static void loops_have_a_least_roof(void **state)
{
    (void)state;
    float x[100], z[100];
    for (int i = 0; i < 100; i++)
        x[i] = (float)(i + 1);
    sn_program *p = recorded("[n]f32 -> [n]f32", SN_BODY(grown));
    assert_int_equal(sn_call(p, sn_in(x, 100), sn_into(z, 100)), SN_OK);
    const char *json = json_of(p);
    has_word(json, "\"over\": [100]", "open_ended", true);
    says(p, "data decide how long its loops run");
    sn_drop(p);
}

typedef struct pair {
    float a;
    double b;
} pair;

static sn_acc reversed_seconds(sn_acc pairs)
{
    return sn_reverse(sn_map(sn_neg, sn_snd(pairs)));
}

static void host_steps_are_told(void **state)
{
    (void)state;
    enum { N = 1000 };
    static pair pairs[N];
    static float x[2 * N], z[N];
    static double d[N];
    sn_program *p = recorded("[n]{a: f32, b: f64} -> [n]f64", SN_BODY(reversed_seconds));
    assert_int_equal(sn_call(p, sn_structs(pairs, N), sn_into(d, N)), SN_OK);
    assert_int_equal(number(json_of(p), "\"step\": \"convert\"", "bytes"), 8 * N); /* a is not looked at */
    assert_int_equal(number(json_of(p), "\"step\": \"convert\"", "count"), 1);
    sn_drop(p);

    int64_t n = N, stride = 8;
    p = recorded("[n]f32 -> [n]f32", SN_BODY(negated));
    assert_int_equal(sn_call(p, sn_strided(x, 1, &n, &stride), sn_into(z, N)), SN_OK);
    assert_int_equal(number(json_of(p), "\"step\": \"strided\"", "bytes"), 4 * N);
    says(p, "copies of strided arguments");
    says(p, "4.00 kB");
    shares_add_up(p);
    sn_drop(p);

    sn_array *kept = NULL;
    p = recorded("[n]f32 -> [n]f32", SN_BODY(identity));
    assert_int_equal(sn_call(p, sn_in(x, N), sn_keep(&kept)), SN_OK);
    assert_int_equal(number(json_of(p), "\"step\": \"copy\"", "bytes"), 4 * N);
    assert_true(number(json_of(p), "\"step\": \"allocate\"", "count") >= 1);
    sn_free(kept);
    sn_drop(p);
}

/* Extents beyond a number share a line, in which all launches count. */
static void many_extents(void **state)
{
    (void)state;
    float x[100] = {0}, y[100] = {0}, z[100];
    sn_program *p = recorded("[n]f32, [n]f32 -> [n]f32", SN_BODY(saxpy));
    for (int turn = 0; turn < 2; turn++)
        for (int n = 1; n <= 100; n++)
            assert_int_equal(sn_call(p, sn_in(x, n), sn_in(y, n), sn_into(z, n)), SN_OK);
    uint64_t launches = 0;
    const char *json = json_of(p);
    for (const char *at = json; (at = strstr(at, "\"launches\": ")); at++)
        launches += strtoull(at + strlen("\"launches\": "), NULL, 10);
    assert_int_equal(launches, 200);
    assert_int_equal(occurrences(json, "\"kernel\":"), 32);
    says(p, "over further extents");
    assert_int_equal(occurrences(sn_explain(p, "profile"), "over further extents"), 1);
    sn_drop(p);
}

static sn_acc rounds(sn_acc x)
{
    for (int i = 0; i < 5; i++)
        x = sn_force(sn_map(sn_neg, x));
    return x;
}

static void alike_is_said_once(void **state)
{
    (void)state;
    float x[100] = {0}, z[100];
    sn_program *p = recorded("[n]f32 -> [n]f32", SN_BODY(rounds));
    assert_int_equal(sn_call(p, sn_in(x, 100), sn_into(z, 100)), SN_OK);
    assert_int_equal(occurrences(json_of(p), "\"kernel\":"), 5);
    assert_int_equal(occurrences(sn_explain(p, "profile"), "over [100]"), 1);
    says(p, " and 4 like it");
    sn_drop(p);
}

static void the_interpreter_says_so(void **state)
{
    (void)state;
    float x[100] = {0}, z[100];
    sn_options o = {.size = sizeof(o), .device = "interpreter"};
    sn_context *slow = sn_open(&o);
    sn_program *p = sn_compile(slow, "[n]f32 -> [n]f32", negated);
    sn_profile(p, true);
    assert_int_equal(sn_call(p, sn_in(x, 100), sn_into(z, 100)), SN_OK);
    says(p, "interpreted");
    const char *json = json_of(p);
    assert_int_equal(number(json, "\"step\": \"interpret\"", "count"), 1);
    assert_null(strstr(json, "\"roof\""));
    sn_drop(p);
    sn_close(slow);
}

static void the_environment_switches_it_on(void **state)
{
    (void)state;
    static const struct {
        const char *value;
        bool on;
    } rows[] = {{"1", true}, {"0", false}, {"", false}};
    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
        setenv("SINTER_PROFILE", rows[i].value, 1);
        sn_options o = {.size = sizeof(o), .device = "cpu"};
        sn_context *own = sn_open(&o);
        unsetenv("SINTER_PROFILE");
        float x[10] = {0}, z[10];
        sn_program *p = sn_compile(own, "[n]f32 -> [n]f32", negated);
        assert_int_equal(sn_call(p, sn_in(x, 10), sn_into(z, 10)), SN_OK);
        assert_int_equal(number(json_of(p), "\"calls\"", "count"), rows[i].on);
        sn_drop(p);
        sn_close(own);
    }
}

/* Launches in flight on devices with queues are waited for, and copies told. */
static void devices_with_memory(void **state)
{
    (void)state;
    float x[1000] = {0}, z[1000];
    sn_options o = {.size = sizeof(o), .device = "opencl"};
    sn_context *other = sn_open(&o);
    if (!other)
        skip();
    sn_program *p = sn_compile(other, "[n]f32 -> [n]f32", negated);
    sn_profile(p, true);
    for (int i = 0; i < 3; i++)
        assert_int_equal(sn_call(p, sn_in(x, 1000), sn_into(z, 1000)), SN_OK);
    const char *json = json_of(p);
    assert_int_equal(number(json, "\"over\": [1000]", "launches"), 3);
    assert_int_equal(number(json, "\"over\": [1000]", "bytes_read"), 4000);
    assert_int_equal(number(json, "\"step\": \"upload\"", "bytes"), 12000);
    assert_int_equal(number(json, "\"step\": \"download\"", "count"), 3);
    assert_true(number(json, "\"roof\"", "f32") > 0);
    says(p, "waited for while this is recorded");
    sn_drop(p);
    sn_close(other);
}

/* --- memory that runs out --- */

static int64_t left, held; /* blocks: until there is no memory, and not given back */

static void *failing_alloc(void *env, size_t bytes)
{
    (void)env;
    void *block = __atomic_fetch_sub(&left, 1, __ATOMIC_RELAXED) == 0 ? NULL : malloc(bytes);
    __atomic_fetch_add(&held, !!block, __ATOMIC_RELAXED);
    return block;
}

static void failing_release(void *env, void *block)
{
    (void)env;
    __atomic_fetch_sub(&held, !!block, __ATOMIC_RELAXED);
    free(block);
}

static void drop_message(void *env, const char *said)
{
    (void)env, (void)said;
}

static void memory_runs_out(void **state)
{
    (void)state;
    float x[100] = {0}, z[100];
    base_heap heap = {.alloc = failing_alloc, .release = failing_release};
    sn_options o = {.size = sizeof(o), .device = "cpu", .message = drop_message};
    need_kernels();
    left = INT64_MAX;
    sn_context *own = api_open(&o, &heap);
    assert_non_null(own);
    bool measured = false;
    for (int64_t after = 0, done = 0; after < 400 && done < 2; after++) {
        sn_program *p = sn_compile(own, "[n]f32 -> [n]f32", negated);
        sn_profile(p, true);
        __atomic_store_n(&left, measured ? after : 3 * after, __ATOMIC_RELAXED);
        sn_status status = sn_call(p, sn_in(x, 100), sn_into(z, 100));
        const char *table = status == SN_OK ? sn_explain(p, "profile") : NULL;
        const char *json = table ? sn_explain(p, "profile-json") : NULL;
        bool whole = __atomic_load_n(&left, __ATOMIC_RELAXED) >= 0;
        __atomic_store_n(&left, INT64_MAX, __ATOMIC_RELAXED);
        if (json)
            assert_true(is_json(json));
        if (whole)
            assert_non_null(json);
        done += whole;
        if (!measured && after > 4) { /* measuring takes time: from now on it is known */
            assert_int_equal(sn_call(p, sn_in(x, 100), sn_into(z, 100)), SN_OK);
            assert_non_null(strstr(json_of(p), "\"roof\""));
            measured = true;
            after = 0;
        }
        sn_drop(p);
    }
    sn_close(own);
    assert_int_equal(held, 0);
}

static int open_cpu(void **state)
{
    (void)state;
    sn_options o = {.size = sizeof(o), .device = "cpu"};
    unsetenv("SINTER_DEVICE");
    cx = sn_open(&o);
    return 0;
}

static int close_cpu(void **state)
{
    (void)state;
    sn_close(cx);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_unless_asked),
        cmocka_unit_test(counts_are_exact),
        cmocka_unit_test(rows_are_read_once),
        cmocka_unit_test(partial_results_are_launches),
        cmocka_unit_test(neighbours_and_parts),
        cmocka_unit_test(words_explain),
        cmocka_unit_test(large_results_pass_the_caches),
        cmocka_unit_test(loops_have_a_least_roof),
        cmocka_unit_test(host_steps_are_told),
        cmocka_unit_test(many_extents),
        cmocka_unit_test(alike_is_said_once),
        cmocka_unit_test(the_interpreter_says_so),
        cmocka_unit_test(the_environment_switches_it_on),
        cmocka_unit_test(devices_with_memory),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, open_cpu, close_cpu);
}
