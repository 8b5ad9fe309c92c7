/* Profiles while many threads call: every launch is counted once, and the profile may be asked for, begun anew and
 * ended meanwhile. */
#include "both.h"
#include "support/json.h"

#include <stdlib.h>

enum { THREADS = 4, CALLS = 300, EXTENTS = 5 };

static sn_acc negated(sn_acc x)
{
    return sn_map(sn_neg, x);
}

typedef struct worker {
    pthread_t thread;
    sn_program *p;
    bool good, switches; /* switches: begins and ends the recording, too */
} worker;

static void *work(void *env)
{
    worker *w = env;
    float x[100] = {0}, z[100];
    w->good = true;
    for (int i = 0; i < CALLS && w->good; i++) {
        int64_t n = 20 * (1 + i % EXTENTS);
        w->good = sn_call(w->p, sn_in(x, n), sn_into(z, n)) == SN_OK;
        if (w->switches && i % 50 == 10)
            sn_profile(w->p, i % 100 == 10);
        if (i % 100 == 99)
            w->good = w->good && is_json(sn_explain(w->p, "profile-json")) && sn_explain(w->p, "profile");
    }
    return NULL;
}

static void run_all(sn_program *p, bool switches)
{
    worker w[THREADS];
    for (int i = 0; i < THREADS; i++) {
        w[i] = (worker){.p = p, .switches = switches && i == 0};
        assert_int_equal(pthread_create(&w[i].thread, NULL, work, &w[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(w[i].thread, NULL);
        assert_true(w[i].good);
    }
}

static uint64_t sum_of(const char *json, const char *key)
{
    uint64_t sum = 0;
    for (const char *at = json; (at = strstr(at, key)); at++)
        sum += strtoull(at + strlen(key), NULL, 10);
    return sum;
}

static void every_launch_counts_once(void **state)
{
    (void)state;
    sn_options o = {.size = sizeof(o), .device = "cpu"};
    sn_context *cx = sn_open(&o);
    if (!cx || !cx->engine.device)
        skip();
    sn_program *p = sn_compile(cx, "[n]f32 -> [n]f32", negated);
    assert_non_null(p);
    sn_profile(p, true);
    run_all(p, false);
    const char *json = sn_explain(p, "profile-json");
    assert_int_equal(sum_of(json, "\"launches\": "), THREADS * CALLS);
    assert_int_equal(sum_of(json, "\"calls\": {\"count\": "), THREADS * CALLS);
    assert_int_equal(sum_of(json, "\"over\": [20], \"partials\": 0, \"bytes_read\": "), 80);
    run_all(p, true);
    sn_drop(p);
    sn_close(cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_launch_counts_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
