/* Every operation on arrays x every scalar type it allows x ranks 0 to 4 x extents around the vector widths and large
 * ones, by itself and fused on both sides, on the CPU with and without fusion, against the interpreter: same status,
 * same bits. Inputs and results lie between pages that cannot be touched, aligned to an element only.
 *
 * Sums of floats are compared within n * eps * sum |x|, twice (two orders of n - 1 additions, each within
 * (n - 1) eps / 2 * sum |x|), where n is the number of elements summed; everything else bit for bit, all NaNs alike.
 *
 * The plain run is a seeded sample, the long one the full product; with SINTER_TEST_SAMPLE, for devices whose compiler
 * is slow, a third of the operations is sampled. SINTER_TEST_OP="fold sum" runs one operation only.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "ir/interpret.h"
#include "support/array_ops.h"
#include "support/guarded.h"

enum { SAMPLE = 1 /* combinations of an operation in the plain run */, MOST_ELEMENTS = 150000, RESULTS = 6 };
#ifdef __SANITIZE_ADDRESS__
enum { RARELY = 60 }; /* the interpreter is slow then */
#else
enum { RARELY = 8 };
#endif

static struct {
    sn_context *interpreter, *fused, *unfused;
    bool complete, sample;
    uint64_t random;
    unsigned failures;
} matrix;

static const int64_t extents[] = {0, 1, 2, 3, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 1000, 4097, 70001};
enum { EXTENTS = sizeof(extents) / sizeof(extents[0]) };

static uint32_t pick(uint32_t n)
{
    matrix.random = matrix.random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((matrix.random >> 33) % n);
}

static size_t width_of(sn_type t)
{
    static const uint8_t width[] = {0, 1, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 4};
    return width[t];
}

/* --- operands --- */

static double real_value(const op_case *c)
{
    static const double special[] = {0.0, -0.0, 1.0, -1.0, INFINITY, -INFINITY, NAN, 1e-40, -1e-310, 3e38, -2.5};
    if (c->op->exact_powers)
        return (pick(2) ? 1 : -1) * (pick(60) ? 1 : pick(2) ? 2 : 0.5);
    if (c->op->rounds)
        return ((double)pick(2000001) - 1000000) / 977;
    return pick(6) ? (double)pick(4001) / 16 - 125 : special[pick(sizeof(special) / sizeof(special[0]))];
}

static uint64_t whole_value(sn_type t)
{
    static const uint64_t special[] = {0,          1,         UINT64_MAX, 0x8080808080808080u, 0x7f7f7f7f7f7f7f7fu,
                                       1ull << 63, INT64_MAX, 1ull << 31};
    uint64_t v = pick(4) ? pick(200) - 50 : special[pick(8)];
    return t == SN_BOOL ? v & 1 : t == SN_CHAR ? v % 0x110000 : v;
}

static void fill_operand(const op_case *c, void *to, size_t n)
{
    size_t width = width_of(c->type);
    for (size_t i = 0; i < n; i++) {
        double d = 0;
        float f = 0;
        uint64_t v = 0;
        const void *from = &v;
        if (c->type == SN_F64 || c->type == SN_F32) {
            d = real_value(c);
            f = (float)d;
            from = c->type == SN_F64 ? (const void *)&d : (const void *)&f;
        } else {
            v = whole_value(c->type);
        }
        memcpy((char *)to + i * width, from, width);
    }
}

static double magnitude(const op_case *c, const void *at, size_t n)
{
    double sum = 2; /* the seed */
    for (size_t i = 0; i < n; i++)
        sum += fabs(c->type == SN_F32 ? (double)((const float *)at)[i] : ((const double *)at)[i]);
    return sum;
}

/* --- calls --- */

typedef struct shape {
    int rank;
    int64_t extent[4];
    size_t size;
} shape;

typedef struct operands {
    int n;
    sn_arg arg[3];
    guarded memory[3];
    double sum; /* of the first operand's magnitudes, for bounds */
    double n_summed;
} operands;

static operands make_operands(const op_case *c, const shape *s, bool at_end)
{
    operands o = {.n = c->op->operands};
    size_t bytes = s->size * width_of(c->type);
    for (int k = 0; k < o.n; k++) {
        o.memory[k] = guarded_new(bytes, at_end);
        assert_non_null(o.memory[k].at);
        fill_operand(c, o.memory[k].at, s->size);
        o.arg[k] = (sn_arg){.kind = SN_ARG_IN, .type = c->type, .rank = s->rank, .u = {.from = o.memory[k].at}};
        memcpy(o.arg[k].extent, s->extent, sizeof(s->extent));
    }
    if (c->op->rounds && (c->type == SN_F32 || c->type == SN_F64)) {
        o.sum = magnitude(c, o.memory[0].at, s->size);
        o.n_summed = 1 + (double)(c->op->rank == TO_RANK(0) ? (int64_t)s->size : s->extent[s->rank - 1]);
    }
    return o;
}

typedef struct answer {
    sn_status status;
    char message[512];
    int n;
    sn_array *result[RESULTS];
} answer;

static answer ask(sn_context *cx, sn_program *p, const operands *o, int results)
{
    answer a = {.n = results};
    sn_arg arg[3 + RESULTS];
    memcpy(arg, o->arg, sizeof(o->arg));
    for (int k = 0; k < results; k++)
        arg[o->n + k] = sn_keep(&a.result[k]);
    a.status = sn_call_n(p, o->n + results, arg);
    snprintf(a.message, sizeof(a.message), "%s", a.status == SN_OK ? "" : sn_message(cx));
    return a;
}

static void drop_answer(answer *a)
{
    for (int k = 0; k < a->n; k++)
        sn_free(a->result[k]);
}

static bool close_enough(sn_type t, const char *x, const char *y, double bound)
{
    if (!memcmp(x, y, width_of(t)))
        return true;
    if (t != SN_F32 && t != SN_F64)
        return false;
    float f[2];
    double d[2];
    memcpy(t == SN_F32 ? (void *)&f[0] : (void *)&d[0], x, width_of(t));
    memcpy(t == SN_F32 ? (void *)&f[1] : (void *)&d[1], y, width_of(t));
    double a = t == SN_F32 ? (double)f[0] : d[0], b = t == SN_F32 ? (double)f[1] : d[1];
    return (isnan(a) && isnan(b)) || fabs(a - b) <= bound;
}

/* --- one call on all three --- */

static void say_where(const op_case *c, const shape *s, const char *how, char *out, size_t room)
{
    static const char *const uses[] = {"alone", "between", "consumed"};
    int n = snprintf(out, room, "%s of %s, rank %d [", c->op->name, op_type_name(c->type), s->rank);
    for (int d = 0; d < s->rank; d++)
        n += snprintf(out + n, room - (size_t)n, d ? ",%lld" : "%lld", (long long)s->extent[d]);
    snprintf(out + n, room - (size_t)n, "], %s, %s", uses[c->use], how);
}

/* Every difference is told, none stops the test. */
static void complain(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    matrix.failures++;
}

static void compare_result(const sn_array *w, const char *fast, double bound, const char *where, int number)
{
    size_t bytes = sn_bytes(w), width = width_of(sn_array_type(w)), i = 0;
    char *slow = malloc(bytes + 1);
    assert_non_null(slow);
    assert_int_equal(sn_read(w, slow, bytes), SN_OK);
    while (i < bytes && close_enough(sn_array_type(w), fast + i, slow + i, bound))
        i += width;
    if (i < bytes)
        complain("%s: result %d differs at element %zu of %zu", where, number, i / width, bytes / width);
    free(slow);
}

/* The interpreter's results, in memory of exactly their sizes, from the device. */
static void compare_results(const op_case *c, sn_context *cx, sn_program *p, const operands *o, const answer *wanted,
                            const char *where)
{
    sn_arg arg[3 + RESULTS];
    guarded memory[RESULTS];
    memcpy(arg, o->arg, sizeof(o->arg));
    for (int k = 0; k < wanted->n; k++) {
        const sn_array *w = wanted->result[k];
        memory[k] = guarded_new(sn_bytes(w), k % 2 == 0);
        assert_non_null(memory[k].at);
        arg[o->n + k] = (sn_arg){
            .kind = SN_ARG_INTO, .type = sn_array_type(w), .rank = sn_array_rank(w), .u = {.to = memory[k].at}};
        for (int d = 0; d < sn_array_rank(w); d++)
            arg[o->n + k].extent[d] = sn_array_extent(w, d);
    }
    sn_status status = sn_call_n(p, o->n + wanted->n, arg);
    if (status != SN_OK)
        complain("%s: %s: %s", where, sn_status_name(status), sn_message(cx));
    double eps = c->type == SN_F32 ? (double)FLT_EPSILON : DBL_EPSILON, bound = o->n_summed * eps * o->sum;
    for (int k = 0; k < wanted->n; k++) {
        if (status == SN_OK)
            compare_result(wanted->result[k], memory[k].at, bound, where, k);
        guarded_free(&memory[k]);
    }
}

/* Does a result need an element that fails? If not, a fused program may leave it out. */
static bool is_needed(const sn_program *p, const operands *o)
{
    arena a;
    arena_init(&a, NULL);
    ir_value in[3] = {{0}}, out[RESULTS];
    ir_faults faults;
    assert_int_equal(p->ir->input.n, o->n);
    for (int k = 0; k < o->n; k++) {
        in[k] = (ir_value){.rank = (uint8_t)o->arg[k].rank, .components = 1, .type = {(ir_type)o->arg[k].type}};
        in[k].data[0] = o->memory[k].at;
        memcpy(in[k].extent, o->arg[k].extent, sizeof(in[k].extent));
    }
    bool needed = !ir_interpret_lazily(p->ir, &a, in, out, &faults);
    arena_free(&a);
    return needed;
}

static void check_call(const op_case *c, const shape *s, sn_program *const program[3], int results)
{
    operands o = make_operands(c, s, pick(4) != 0);
    answer wanted = ask(matrix.interpreter, program[0], &o, results);
    sn_context *const context[3] = {matrix.interpreter, matrix.fused, matrix.unfused};
    for (int k = 1; k < 3; k++) {
        char where[256];
        say_where(c, s, k == 1 ? "fused" : "unfused", where, sizeof(where));
        if (wanted.status == SN_OK) {
            compare_results(c, context[k], program[k], &o, &wanted, where);
            continue;
        }
        answer got = ask(context[k], program[k], &o, results);
        bool not_needed =
            k == 1 && wanted.status == SN_OUT_OF_RANGE && got.status == SN_OK && !is_needed(program[0], &o);
        if (got.status != wanted.status && !not_needed)
            complain("%s: %s (%s), but the interpreter says %s (%s)", where, sn_status_name(got.status), got.message,
                     sn_status_name(wanted.status), wanted.message);
        drop_answer(&got);
    }
    drop_answer(&wanted);
    for (int k = 0; k < o.n; k++)
        guarded_free(&o.memory[k]);
}

/* A large extent stands in any dimension, the others are small. */
static shape make_shape(int rank, int64_t extent)
{
    static const int64_t others[] = {3, 1, 2, 5, 17, 33, 0, 4, 2, 1};
    shape s = {.rank = rank, .size = rank ? (size_t)extent : 1};
    int at = rank ? (int)(pick(2) ? (uint32_t)rank - 1 : pick((uint32_t)rank)) : 0;
    for (int d = 0; d < rank; d++) {
        s.extent[d] = d == at ? extent : others[pick(10)];
        if (d != at && s.size * (size_t)s.extent[d] > MOST_ELEMENTS)
            s.extent[d] = 1;
        if (d != at)
            s.size *= (size_t)s.extent[d];
    }
    return s;
}

/* --- combinations --- */

static void check_combination(op_case *c)
{
    char signature[256];
    op_signature(c, signature, sizeof(signature));
    sn_context *const context[3] = {matrix.interpreter, matrix.fused, matrix.unfused};
    sn_program *program[3];
    for (int k = 0; k < 3; k++) {
        program[k] = sn_compile_env(context[k], signature, op_body, c);
        if (!program[k])
            fail_msg("%s of %s, rank %d: \"%s\": %s", c->op->name, op_type_name(c->type), c->rank, signature,
                     sn_message(context[k]));
    }
    int parts = c->op->result == OF_PAIRS ? 2 : 1, results = (c->use == CONSUMED ? 3 : 1) * parts;
    for (int e = 0; e < EXTENTS && (c->rank || e < 2); e++) {
        if (!matrix.complete && extents[e] && pick(extents[e] >= 1000 ? RARELY : 3))
            continue;
        shape s = make_shape(c->rank, extents[e]);
        check_call(c, &s, program, results);
    }
    for (int k = 0; k < 3; k++)
        sn_drop(program[k]);
}

static void check_all_of(const array_op *op)
{
    op_case c = {.op = op};
    for (c.type = SN_BOOL; c.type <= SN_CHAR; c.type++)
        for (c.rank = op->least; c.rank <= op->most; c.rank++)
            for (c.use = ALONE; c.use < USES && op->types >> c.type & 1; c.use++)
                check_combination(&c);
}

static void check_sample_of(const array_op *op)
{
    for (int k = 0; k < SAMPLE; k++) {
        op_case c = {
            .op = op, .use = (op_use)pick(USES), .rank = op->least + (int)pick((uint32_t)(op->most - op->least + 1))};
        do
            c.type = (sn_type)(SN_BOOL + pick(SN_CHAR));
        while (!(op->types >> c.type & 1));
        check_combination(&c);
    }
}

static void every_operation(void **state)
{
    (void)state;
    if (!matrix.fused)
        skip();
    const char *only = getenv("SINTER_TEST_OP");
    for (int k = 0; k < array_ops_count; k++) {
        if (only ? strcmp(only, array_ops[k].name) != 0 : matrix.sample && pick(3))
            continue;
        if (matrix.complete)
            check_all_of(&array_ops[k]);
        else
            check_sample_of(&array_ops[k]);
    }
    assert_int_equal(matrix.failures, 0);
}

static void drop_message(void *env, const char *said)
{
    (void)env, (void)said;
}

static int open_all(void **state)
{
    (void)state;
    sn_options o = {.size = sizeof(o), .contract = SN_OFF, .device = "interpreter"};
    matrix.interpreter = sn_open(&o);
    o.device = "cpu";
    o.message = drop_message;
    matrix.fused = sn_open(&o);
    o.fusion = SN_OFF;
    matrix.unfused = sn_open(&o);
    matrix.complete = getenv("SINTER_TEST_LONG") != NULL;
    matrix.sample = getenv("SINTER_TEST_SAMPLE") != NULL;
    matrix.random = getenv("SINTER_TEST_SEED") ? strtoull(getenv("SINTER_TEST_SEED"), NULL, 10) : 1;
    return matrix.interpreter ? 0 : -1;
}

static int close_all(void **state)
{
    (void)state;
    sn_close(matrix.interpreter);
    sn_close(matrix.fused);
    sn_close(matrix.unfused);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_operation)};
    return cmocka_run_group_tests(tests, open_all, close_all);
}
