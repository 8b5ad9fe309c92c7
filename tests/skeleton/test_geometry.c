/* How all loops of the programs that there is code for are launched, whatever extents and devices: variants, pieces,
 * slots, and what else the host computes. Results do not tell when a piece has become larger or a kernel is not taken
 * any more. Of each loop and kind of device one number stands in tests/skeleton/geometry.txt, a digest of all launches.
 * Where a change is meant to launch loops otherwise,
 *
 *     SINTER_TEST_WRITE=1 build/release/tests/test_geometry
 *
 * writes the file anew, and its difference says which loops the change concerns. SINTER_TEST_LAUNCHES="program 17, loop
 * 0" prints the launches of that loop, for a comparison with those before the change. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "ir/evaluate.h"
#include "skeleton/extents.h"
#include "skeleton/skeleton.h"
#include "support/code_loops.h"
#include "support/code_programs.h"
#include "support/written.h"

static const char digests[] = "tests/skeleton/geometry.txt"; /* tests run at the top of the repository */

static const struct {
    const char *name;
    sk_options options;
} devices[] = {
    {"a thread", {.vector_bytes = 16, .workers = 1, .chains = true, .scratch = 32 << 10}},
    {"two threads", {.vector_bytes = 32, .workers = 2, .chains = true, .contract = true, .scratch = 256 << 10}},
    {"eight threads", {.vector_bytes = 64, .workers = 8, .chains = true, .scratch = 256 << 10}},
    {"many threads", {.vector_bytes = 64, .workers = 64, .chains = true, .narrow = true, .scratch = 1 << 20}},
    {"no gangs", {.workers = 2, .scratch = 64 << 10}},
    {"OpenCL", {.group = 256, .workers = 30, .scratch = 32 << 10}},
    {"small groups", {.group = 64, .gang = 16, .workers = 4, .scratch = 16 << 10}},
    {"CUDA", {.group = 1024, .gang = 32, .workers = 132, .scratch = 48 << 10}},
};

/* Extents: where schedules change are powers of two and some others; and numbers that nothing divides. */
static const int64_t some[] = {0,    1,     2,     3,     4,     5,     7,      8,      15,      16,      17,   24,
                               31,   32,    33,    47,    63,    64,    65,     100,    127,     128,     129,  240,
                               256,  257,   399,   400,   512,   513,   999,    1024,   2048,    2049,    4096, 4097,
                               8192, 10007, 16384, 30000, 65536, 70001, 131072, 262145, 1048576, 10000000};

/* What a program's other extents are, one at a time. */
static const int64_t others[] = {0, 1, 3, 4, 8, 16, 17, 32, 33, 64, 100, 128, 256, 1000, 4096, 5000, 70001, 1000000};

enum { CACHE = 1 << 18, DIMS = 64, SHARE = 4 /* of the pairs of extents */ };

/* More elements are not launched at all. */
#define MOST 1e12

static bool dim(void *env, uint32_t number, int64_t *out)
{
    *out = ((const int64_t *)env)[number % DIMS];
    return true;
}

/* What a program reads to know its extents. */
static bool read_value(void *env, const ir_node *read, const int64_t *index, ir_bits *out, scalar_failure *failure)
{
    (void)env, (void)read, (void)index, (void)failure;
    *out = 3;
    return true;
}

/* The extents of a loop. */
typedef struct shape {
    evaluator *term;
    unsigned rank;
    int64_t extent[IR_MAX_RANK + 1]; /* and the segments of a row */
} shape;

static void shape_init(shape *s, const sk_cluster *c, arena *a)
{
    ir_id term[IR_MAX_RANK + 1];
    s->rank = c->loop->rank;
    for (unsigned d = 0; d < s->rank; d++)
        term[d] = c->loop->shape[d];
    term[s->rank] = c->loop->segments ? c->loop->segment_count : ir_i64(c->l->ir, 0);
    s->term = evaluator_new(c->l->ir, a, s->rank + 1, term);
}

/* Sets the extents. False: they are no extents, or the same as before. */
static bool shape_changes(shape *s, int64_t *dims)
{
    scalar_world world = {dim, read_value, dims, NULL};
    scalar_failure failure;
    double elements = 1;
    bool changes = false;
    evaluator_restart(s->term);
    for (unsigned d = 0; d <= s->rank; d++) {
        ir_bits value = 0;
        if (!evaluator_value(s->term, d, &world, &value, &failure) || (int64_t)value < 0)
            return false;
        changes |= s->extent[d] != (int64_t)value;
        s->extent[d] = (int64_t)value;
        elements *= value > 1 ? (double)value : 1;
    }
    return changes && elements < MOST;
}

typedef struct digest {
    uint64_t bits;
    bool prints;
} digest;

static void mix(digest *x, uint64_t word)
{
    x->bits = (x->bits ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    x->bits ^= x->bits >> 29;
}

static void note(digest *x, const sk_geometry *g)
{
    mix(x, (uint64_t)g->variant << 32 | (uint64_t)g->pass << 8 | (uint64_t)g->stream << 1 | (uint64_t)g->ahead);
    mix(x, (uint64_t)g->pieces);
    mix(x, (uint64_t)g->partials);
    mix(x, (uint64_t)g->state_words);
    assert_in_range(g->row + ((int64_t)1 << (SK_ROW_BITS - 1)), 0, ((int64_t)1 << SK_ROW_BITS) - 1); /* it has a sign */
    mix(x, (uint64_t)g->row);
    mix(x, (uint64_t)g->work);
    for (unsigned i = 0; i < SK_SLOTS; i++)
        mix(x, (uint64_t)g->slot[i]);
    if (!x->prints)
        return;
    printf(" variant %u, pieces %" PRId64 ", partials %" PRId64 ", state %" PRId64 ", row %" PRId64
           "%s%s, work %.0f, slots",
           (unsigned)g->variant, g->pieces, g->partials, g->state_words, g->row, g->stream ? ", stream" : "",
           g->ahead ? ", ahead" : "", g->work);
    for (unsigned i = 0; i < SK_SLOTS; i++)
        printf(" %" PRId64, g->slot[i]);
}

/* The launch, and those that are taken where that one's variant is not to be. */
static sk_geometry note_launch(digest *x, const sk_cluster *c, const sk_options *o, const shape *s, sk_round round)
{
    sk_options rest = *o;
    sk_geometry first = {.partials = 1}, g;
    if (x->prints) {
        printf("pass %u, [", (unsigned)round.pass);
        for (unsigned d = 0; d < s->rank; d++)
            printf("%s%" PRId64, d ? ", " : "", s->extent[d]);
        printf("], partials %" PRId64 ", places %" PRId64 ", segments %" PRId64 ":", round.partials, round.places,
               round.segments);
    }
    for (unsigned found = 0; sk_plan_launch(c, &rest, s->extent, round, CACHE, &g); found++) {
        const sk_geometry general = sk_general(&g);
        mix(x, (uint64_t)general.row << 2 | (uint64_t)general.stream << 1 | general.ahead);
        note(x, &g);
        first = found ? first : g;
        rest.without |= UINT64_C(1) << g.variant;
    }
    if (x->prints)
        printf("\n");
    return first;
}

/* A sort by digits: the first round of each key and a later one, of a digit that makes buckets and of others. */
static void note_digits(digest *x, const sk_cluster *c, const sk_options *o, const shape *s, sk_round round)
{
    for (unsigned way = 0; way < 4; way++) {
        round.digit = (sk_digit){.shift = way & 1 ? 0 : 8, .first = way & 1, .top = way >> 1};
        const sk_geometry g = note_launch(x, c, o, s, round);
        if (round.pass != SK_PASS_COUNT)
            continue;
        const sk_sort_words w = sk_words_of_sort(c, o, &g);
        mix(x, (uint64_t)w.places);
        mix(x, (uint64_t)w.pieces << 32 | w.keys);
        mix(x, (uint64_t)(w.digit_bits << 16 | w.other_bits << 8 | w.top_bits));
        mix(x, (uint64_t)w.room);
        mix(x, (uint64_t)w.pieces_a_row);
        mix(x, (uint64_t)w.row_length);
    }
}

/* All launches of a call. */
static void note_passes(digest *x, const sk_cluster *c, const sk_options *o, const shape *s, int64_t places)
{
    sk_pass pass[SK_PASSES];
    int64_t partials = 1;
    const uint32_t passes = sk_passes(c, o, pass);
    mix(x, passes);
    if (c->loop->class == L_CLASS_TILES)
        mix(x, sk_tiles_suit(c, o, s->extent));
    for (uint32_t i = 0; i < passes; i++) {
        sk_round round = {.pass = pass[i], .segments = s->extent[s->rank]};
        round.places = c->loop->class == L_CLASS_PERMUTE ? places : 0;
        if (pass[i] == SK_PASS_COMBINE)
            for (int64_t left = partials; left > 1 && round.partials != left;) {
                round.partials = left;
                left = note_launch(x, c, o, s, round).partials;
            }
        else if (pass[i] == SK_PASS_SPLITS || pass[i] == SK_PASS_MERGE)
            for (round.partials = 1; round.partials <= partials; round.partials++)
                note_launch(x, c, o, s, round);
        else if (sk_sorts(c) && pass[i] != SK_PASS_LOOP)
            note_digits(x, c, o, s, round);
        else {
            sk_geometry g = note_launch(x, c, o, s, round);
            partials = larger(partials, g.partials);
        }
    }
}

/* Launches of one call where the device has more or less of what it has. */
static void note_devices(digest *x, const sk_cluster *c, const sk_options *o, shape *s)
{
    int64_t dims[DIMS];
    for (unsigned large = 0; large < 2; large++) {
        for (unsigned d = 0; d < DIMS; d++)
            dims[d] = d % 2 ? 100 : large ? 20000 : 600;
        if (!shape_changes(s, dims))
            continue;
        sk_options other = *o;
        for (other.scratch = 512; other.scratch <= 1 << 20; other.scratch += other.scratch / 2)
            note_passes(x, c, &other, s, 100);
        other = *o;
        for (other.workers = 1; other.workers <= 60; other.workers += 1 + other.workers / 4)
            note_passes(x, c, &other, s, 100);
    }
}

static void write_device(digest *x, const sk_cluster *c, const sk_options *o, arena *a)
{
    shape s = {.extent = {-1}};
    shape_init(&s, c, a);
    for (unsigned i = 0; i < ARRAY_LENGTH(some); i++)
        for (unsigned j = i % SHARE; j < ARRAY_LENGTH(others); j += SHARE)
            for (unsigned order = 0; order < 2; order++) {
                const int64_t one[] = {some[i], others[j], some[(i + j) % ARRAY_LENGTH(some)],
                                       others[(i + 2 * j) % ARRAY_LENGTH(others)]};
                int64_t dims[DIMS];
                for (unsigned d = 0; d < DIMS; d++)
                    dims[d] = one[(d + order) % ARRAY_LENGTH(one)];
                if (shape_changes(&s, dims) || c->loop->class == L_CLASS_PERMUTE)
                    note_passes(x, c, o, &s, one[2]);
            }
    note_devices(x, c, o, &s);
}

static void write_loops(const char *name, const sk_program *s, loops_kind kind, arena *a, text *out)
{
    const char *printed = getenv("SINTER_TEST_LAUNCHES");
    for (uint32_t i = 0; i < s->l->cluster.n; i++) {
        const char *loop = arena_printf(a, "%s, loop %u", name, i);
        text_printf(out, "%s\n", loop);
        for (unsigned d = 0; d < ARRAY_LENGTH(devices) && s->cluster[i].loop->class != L_CLASS_CONTROL; d++) {
            const sk_options *o = &devices[d].options;
            digest x = {.prints = printed && !strcmp(printed, loop)};
            if ((kind == LOOPS_TILES && !o->vector_bytes) || (kind == LOOPS_THREADS && !o->group))
                continue;
            if (x.prints)
                printf("%s\n", devices[d].name);
            write_device(&x, &s->cluster[i], o, a);
            text_printf(out, "    %s: %016" PRIx64 "\n", devices[d].name, x.bits);
        }
    }
}

static void write_program(const char *name, const char *source, text *out)
{
    static const char *const kinds[LOOPS_KINDS] = {"", " with tiles", " for threads"};
    const char *message = "";
    arena a;
    arena_init(&a, NULL);
    ir_program *p = ir_parse(&a, source, &message);
    if (!p)
        fail_msg("%s: %s", name, message);
    write_loops(name, code_loops(p, LOOPS_PLAIN), LOOPS_PLAIN, &a, out);
    for (loops_kind kind = LOOPS_TILES; kind < LOOPS_KINDS; kind++) {
        const sk_program *other = code_other_loops(source, kind, &a);
        if (other)
            write_loops(arena_printf(&a, "%s%s", name, kinds[kind]), other, kind, &a, out);
    }
    arena_free(&a);
}

static void geometry(void **state)
{
    (void)state;
    arena a;
    text t;
    arena_init(&a, NULL);
    text_init(&t, &a);
    for (unsigned i = 0; i < code_programs_n; i++)
        if (written_takes(i))
            write_program(code_programs[i].name, code_programs[i].source, &t);
    const char *at = written_read("tests/run/code_programs.txt", &a), *source;
    for (unsigned number = 1; (source = written_line(&at, &a)); number++)
        if (written_takes(number))
            write_program(arena_printf(&a, "program %u", number), source, &t);
    written_compare(digests, &t, &a);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(geometry)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
