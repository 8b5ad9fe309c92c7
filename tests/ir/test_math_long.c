/* The elementary functions over all f32, and over many f64 and pairs of f32, against MPFR. Prints the largest error of
   each function.

   Of 4 thousand million values the exact result is needed only where that of the C library's f64 function leaves a
   doubt; how good that one is, is itself compared with MPFR throughout. All cores together take one to two minutes a
   function. SINTER_MATH_STEP=n takes every n-th float only; SINTER_MATH_ONLY=name restricts to one function. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "math/math_reference.h"

#include <math.h>
#include <mpfr.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool wanted(sn_math_id id)
{
    const char *only = getenv("SINTER_MATH_ONLY");
    return !only || strcmp(only, sn_math_lookup(id)->name) == 0;
}

static uint64_t number(const char *variable, uint64_t otherwise)
{
    const char *text = getenv(variable);
    return text && atoll(text) > 0 ? (uint64_t)atoll(text) : otherwise;
}

/* ---- all f32 ---- */

/* What the C library's f64 functions may be off by, in their ulp (2^-29 of ours): far below the doubt allowed for. */
static const double library_bound = 16, doubt = 0x1p-20;

enum { BLOCK = 1 << 20, CHECK_EVERY = 4099, MOST_THREADS = 64 };

/* In ulp of f32; 1e9 where one is a NaN and the other not, or a zero has the wrong sign. */
static double error_f32(float got, double want)
{
    if (isnan(want) || isnan(got)) {
        return isnan(want) && isnan(got) ? 0 : 1e9;
    }
    if (!signbit(got) != !signbit(want) && (got == 0 || want == 0)) {
        return 1e9;
    }
    if (fabs(want) >= 0x1p128) {
        double excess = fabs(want) > 0x1.00001p128 ? 1e9 : 0; /* an infinity is due, its neighbour nearly right */
        return isinf(got) && !signbit(got) == !signbit(want) ? 0
                                                             : excess + fabs(fabs((double)got) - 0x1p128) * 0x1p-104;
    }
    double value = isinf(got) ? copysign(0x1p128, (double)got) : (double)got;
    uint64_t bits;
    double size = fabs(want);
    memcpy(&bits, &size, sizeof bits);
    int exponent = (int)(bits >> 52) - 1023;
    exponent = exponent < -126 ? -126 : exponent;
    uint64_t scale_bits = (uint64_t)(1023 + 23 - exponent) << 52;
    double scale;
    memcpy(&scale, &scale_bits, sizeof scale);
    return fabs(value - want) * scale;
}

/* The interval of floats at hand, its results and what the library says. */
typedef struct {
    float x[BLOCK], got[BLOCK];
    double want[BLOCK];
    uint32_t n;
} block;

typedef struct {
    sn_math_id id;
    uint64_t step;
    pthread_mutex_t lock; /* over what follows */
    uint64_t next;        /* first float of the next block */
    double worst, worst_library;
    float worst_at, library_at;
    bool no_memory;
} sweep;

static void evaluate(sn_math_id id, block *b)
{
    switch (id) {
#define EVALUATE_1(name)                                                                                               \
    for (uint32_t i = 0; i < b->n; i++) {                                                                              \
        b->got[i] = sn_math_##name##_f32(b->x[i]);                                                                     \
        b->want[i] = name((double)b->x[i]);                                                                            \
    }
#define EVALUATE_2(name)
#define SN_MATH(ID, name, arity)                                                                                       \
    case SN_MATH_##ID:                                                                                                 \
        EVALUATE_##arity(name) break;
#include "ir/math/functions.def"
#undef SN_MATH
    case SN_MATH_COUNT:
        break;
    }
}

static bool take_block(sweep *s, block *b, uint64_t *first)
{
    pthread_mutex_lock(&s->lock);
    *first = s->next;
    s->next += BLOCK * s->step;
    pthread_mutex_unlock(&s->lock);
    b->n = 0;
    for (uint64_t i = *first; i < (uint64_t)1 << 32 && b->n < BLOCK; i += s->step) {
        uint32_t bits = (uint32_t)i;
        memcpy(&b->x[b->n++], &bits, sizeof bits);
    }
    return b->n > 0;
}

static void judge(sweep *s, const block *b, uint64_t first)
{
    double worst = 0, worst_library = 0;
    uint32_t at = 0, library_at = 0;
    for (uint32_t i = 0; i < b->n; i++) {
        double error = error_f32(b->got[i], b->want[i]);
        if (error > 2 - doubt)
            error = reference_error(s->id, &reference_f32, (double)b->x[i], 0, (double)b->got[i]);
        if (error > worst) {
            worst = error;
            at = i;
        }
        if ((first + i) % CHECK_EVERY)
            continue;
        error = reference_error(s->id, &reference_f64, (double)b->x[i], 0, b->want[i]);
        if (error > worst_library) {
            worst_library = error;
            library_at = i;
        }
    }
    pthread_mutex_lock(&s->lock);
    if (worst > s->worst) {
        s->worst = worst;
        s->worst_at = b->x[at];
    }
    if (worst_library > s->worst_library) {
        s->worst_library = worst_library;
        s->library_at = b->x[library_at];
    }
    pthread_mutex_unlock(&s->lock);
}

static void *sweep_thread(void *argument)
{
    sweep *s = argument;
    block *b = malloc(sizeof *b);
    uint64_t first;
    s->no_memory |= !b;
    while (b && take_block(s, b, &first)) {
        evaluate(s->id, b);
        judge(s, b, first);
    }
    free(b);
    mpfr_free_cache();
    return NULL;
}

static void sweep_all(sweep *s)
{
    pthread_t thread[MOST_THREADS];
    long cores = sysconf(_SC_NPROCESSORS_ONLN), threads = 0;
    pthread_mutex_init(&s->lock, NULL);
    while (threads < cores - 1 && threads < MOST_THREADS && !pthread_create(&thread[threads], NULL, sweep_thread, s))
        threads++;
    sweep_thread(s);
    while (threads-- > 0)
        pthread_join(thread[threads], NULL);
    pthread_mutex_destroy(&s->lock);
}

static void test_all_f32(void **state)
{
    (void)state;
    int failed = 0;
    uint64_t step = number("SINTER_MATH_STEP", 1);
    for (int id = 0; id < SN_MATH_COUNT; id++) {
        const char *name = sn_math_lookup((sn_math_id)id)->name;
        if (sn_math_lookup((sn_math_id)id)->arity != 1 || !wanted((sn_math_id)id)) {
            continue;
        }
        /* neighbouring even steps share their low bits, odd ones do not */
        sweep s = {.id = (sn_math_id)id, .step = step | (step > 1)};
        sweep_all(&s);
        assert_false(s.no_memory);
        print_message("%-6s f32 %.4f ulp at %a; reference f64 %.2f ulp at %a\n", name, s.worst, (double)s.worst_at,
                      s.worst_library, (double)s.library_at);
        failed += s.worst > 2 || s.worst_library > library_bound;
    }
    assert_int_equal(failed, 0);
}

/* ---- f64, and f32 of two arguments, against MPFR ---- */

static uint64_t random_bits(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state * 0x9E3779B97F4A7C15u;
}

static double uniform(uint64_t *state)
{
    return (double)(random_bits(state) >> 11) * 0x2p-53 - 1;
}

static double sample(uint64_t *state, uint64_t kind, bool f32)
{
    uint64_t bits = random_bits(state);
    double u = uniform(state), any;
    uint32_t half = (uint32_t)bits;
    float any32;
    memcpy(&any, &bits, sizeof any);
    memcpy(&any32, &half, sizeof any32);
    switch (kind) {
    case 0:
        return f32 ? (double)any32 : any;
    case 1:
        return u;
    case 2:
        return u * 10;
    case 3:
        return u * (f32 ? 110 : 760);
    case 4:
        return ldexp(u, (int)(bits % 60) - 40);
    case 5:
        return 1 + ldexp(u, -(int)(bits % 50));
    case 6: /* the doubles next to a multiple of pi/2 */
        return nextafter(trunc(u * 0x1p31) * 1.5707963267948966, bits & 1 ? 1e300 : -1e300);
    default:
        return ldexp(u, f32 ? (int)(bits % 250) - 125 : (int)(bits % 2000) - 1000);
    }
}

static double exponent_for(uint64_t *state, double x, bool f32)
{
    return uniform(state) * (f32 ? 160 : 1100) / log2(fabs(x));
}

static double sampled(sn_math_id id, bool f32, uint64_t count, double at[2])
{
    const sn_math_function *f = sn_math_lookup(id);
    uint64_t state = 0x853c49e6748fea9bu + (uint64_t)id;
    double worst = 0;
    for (uint64_t i = 0; i < count; i++) {
        double x = sample(&state, i % 8, f32);
        double y = f->arity == 1 ? 0 : sample(&state, i / 8 % 8, f32);
        if (id == SN_MATH_POW && i / 64 % 4 > 0) {
            x = fabs(x);
            y = exponent_for(&state, f32 ? (double)(float)x : x, f32);
        } else if (f->arity == 2 && i / 64 % 4 > 0) {
            y = x * uniform(&state) * 3;
        }
        x = f32 ? (double)(float)x : x;
        y = f32 ? (double)(float)y : y;
        double got = f->arity == 1 ? (f32 ? (double)f->f32_1((float)x) : f->f64_1(x))
                                   : (f32 ? (double)f->f32_2((float)x, (float)y) : f->f64_2(x, y));
        double error = reference_error(id, f32 ? &reference_f32 : &reference_f64, x, y, got);
        if (error > worst) {
            worst = error;
            at[0] = x;
            at[1] = y;
        }
    }
    return worst;
}

static void test_many_f64(void **state)
{
    (void)state;
    int failed = 0;
    uint64_t count = number("SINTER_MATH_SAMPLES", 1000000);
    for (int f32 = 0; f32 < 2; f32++) {
        for (int id = 0; id < SN_MATH_COUNT; id++) {
            const sn_math_function *f = sn_math_lookup((sn_math_id)id);
            if ((f32 && f->arity == 1) || !wanted((sn_math_id)id)) {
                continue;
            }
            double at[2] = {0, 0};
            double worst = sampled((sn_math_id)id, f32, count, at);
            print_message("%-6s %s %.3f ulp at %a %a\n", f->name, f32 ? "f32" : "f64", worst, at[0], at[1]);
            failed += worst > 2;
        }
    }
    assert_int_equal(failed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_f32), cmocka_unit_test(test_many_f64)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
