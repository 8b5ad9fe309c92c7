/* How loops are launched: tiles, gangs, blocks, threads and shared memory, for tables of extents and devices, as the
 * comments in the sources say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "run_clusters.h"
#include "skeleton/extents.h"
#include "skeleton/fold/fold.h"
#include "skeleton/map/map.h"
#include "skeleton/permute/permute.h"
#include "skeleton/sort/sort.h"

static const l_options options = {.fuse = true, .cost_model = true, .rows = true};
static const sk_options vectors = {.vector_bytes = 64, .workers = 1};

static arena memory;

static int setup(void **state)
{
    (void)state;
    arena_init(&memory, NULL);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_free(&memory);
    return 0;
}

/* The one cluster of a program. */
static const sk_cluster *cluster_of(const char *source)
{
    const char *message = "";
    ir_program *p = ir_parse(&memory, source, &message);
    if (!p)
        fail_msg("%s\n%s", message, source);
    l_program *l = l_clusters(p, &options);
    assert_int_equal(l->cluster.n, 1);
    return &sk_prepare(l)->cluster[0];
}

static sk_geometry launch(const sk_cluster *c, const sk_options *o, sk_round round, int64_t x, int64_t y, int64_t z)
{
    sk_geometry g;
    assert_true(sk_plan_launch(c, o, (int64_t[]){x, y, z}, round, 1 << 25, &g));
    return g;
}

static sk_geometry planned(const sk_cluster *c, const sk_options *o, int64_t x, int64_t y, int64_t z)
{
    return launch(c, o, (sk_round){.pass = SK_PASS_LOOP}, x, y, z);
}

static const kernel *built(const sk_cluster *c, const sk_options *o, sk_variant variant, sk_pass pass, int64_t row)
{
    sk_options all = *o;
    sk_reason reason = {0};
    const char *why = NULL;
    all.row = row;
    sk_kernel *k = sk_build(c, variant, pass, &all, &memory, &reason);
    if (!k || !k_verify(k->k, &memory, &why))
        fail_msg("%s", why ? why : reason.text);
    return k->k;
}

/* Shared memories of so many elements. */
static unsigned shared_of(const kernel *k, int64_t count)
{
    unsigned n = 0;
    for (k_mem m = 1; m < k->mem.n; m++)
        n += k->mem.at[m].space == K_SHARED && k->mem.at[m].count == count;
    return n;
}

/* --- maps --- */

static const char plain[] = "extents n\nx = input [n]f32\ny = map x {v: f32 -> v * 3.0f32}\noutput y\n";

/* Blocks have the threads that the device has, and not more than 256. */
static void threads_of_maps(void **state)
{
    static const uint32_t group[] = {32, 64, 255, 256, 257, 1024};
    const sk_cluster *c = cluster_of(plain);
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(group); i++) {
        const sk_options o = {.group = group[i], .scratch = 16 << 10};
        sk_geometry g = planned(c, &o, 100000, 0, 0);
        assert_int_equal(built(c, &o, g.variant, g.pass, g.row)->group, smaller(256, group[i]));
    }
}

/* Rows of more than four registers that are cut at one place have gangs of one register that need not be whole; shorter
 * ones, and others, have a gang at their end that overlaps. */
static void gangs_of_short_rows(void **state)
{
    const sk_cluster *cut =
        cluster_of("extents n, m\nx = input [n, m]f32\n"
                   "y = backpermute safe [n, m] x {i: i64, j: i64 -> i, min(j + 1, m - 1)}\noutput y\n");
    const sk_cluster *whole = cluster_of("extents n, m\nx = input [n, m]f32\n"
                                         "y = map indexed x {i: i64, j: i64, v: f32 -> v + f32(j)}\noutput y\n");
    (void)state;
    for (int64_t columns = 17; columns < 32; columns += 2) {
        sk_row_gangs gangs = sk_row_gangs_of(planned(cut, &vectors, 4000, columns, 0).row);
        assert_true(!gangs.cut && gangs.last >= columns % gangs.lanes && gangs.last > 0);
        gangs = sk_row_gangs_of(planned(cut, &vectors, 4000, columns + 4 * 64 / cut->row_bytes - 16, 0).row);
        assert_true(gangs.cut);
        assert_int_equal(gangs.lanes, 64 / cut->row_bytes);
        assert_int_equal(gangs.last, 0);
        sk_geometry g = planned(whole, &vectors, 4000, columns, 0);
        assert_int_equal(g.variant, SK_MAP_ROWS);
        gangs = sk_row_gangs_of(g.row);
        assert_true(gangs.last >= columns % gangs.lanes && gangs.last > 0);
    }
}

static int64_t up(int64_t n, int64_t by)
{
    return (n + by - 1) / by;
}

/* What a row costs with gangs of so many lanes, and the one at its end of as many as what is left needs, four at least:
 * each gang three operations, and each register two besides those of the elements. */
static double cost_of_row(const sk_cluster *c, int64_t in_register, int64_t columns, int64_t lanes, int64_t *last)
{
    const double each = 2 + c->loop->flops;
    *last = columns % lanes ? 4 : 0;
    while (*last < columns % lanes)
        *last *= 2;
    double all = (3 + each * (double)up(lanes, in_register)) * (double)(columns / lanes);
    return all + (*last ? 3 + each * (double)up(*last, in_register) : 0);
}

/* Of gangs of up to four registers the cheapest ones are taken, of those that cost the same the widest. */
static void cheapest_gangs(void **state)
{
    static const char *const sources[] = {
        "extents n, m\nx = input [n, m]f32\ny = map indexed x {i: i64, j: i64, v: f32 -> v + f32(j)}\noutput y\n",
        "extents n, m\nx = input [n, m]f64\ny = map indexed x {i: i64, j: i64, v: f64 -> v * v + f64(j) * v}\noutput "
        "y\n",
        "extents n, m\nx = input [n, m]u8\ny = map indexed x {i: i64, j: i64, v: u8 -> v + u8(j)}\noutput y\n"};
    static const sk_options few = {.vector_bytes = 16, .workers = 1};
    (void)state;
    unsigned compared = 0;
    for (size_t i = 0; i < ARRAY_LENGTH(sources); i++)
        for (int64_t columns = 5; columns < 300; columns++) {
            const sk_cluster *c = cluster_of(sources[i]);
            const sk_options *o = columns % 3 ? &vectors : &few;
            const int64_t in_register = o->vector_bytes / c->row_bytes;
            sk_geometry g = planned(c, o, 4000, columns, 0);
            if (g.variant != SK_MAP_ROWS || columns >= 16 * in_register)
                continue;
            double least = 0;
            sk_row_gangs best = {0};
            for (int64_t lanes = 4, last; lanes <= columns && lanes <= 256 && lanes <= 4 * in_register; lanes *= 2) {
                double cost = cost_of_row(c, in_register, columns, lanes, &last);
                if (!best.lanes || cost <= least)
                    best = (sk_row_gangs){.lanes = lanes, .last = last}, least = cost;
            }
            sk_row_gangs got = sk_row_gangs_of(g.row);
            assert_int_equal(got.lanes, best.lanes);
            assert_int_equal(got.last, best.last);
            compared++;
        }
    assert_true(compared > 300);
}

/* Lanes along columns that lie across what is read: as many as fill registers, or twice as many, if that is one gang
 * of which no more than a quarter has nothing to do. */
static void gangs_across(void **state)
{
    static const struct {
        const char *type;
        uint32_t bytes;
        int64_t columns, lanes;
    } gang[] = {{"f32", 64, 64, 64}, {"f32", 64, 65, 128}, {"f32", 64, 96, 128}, {"f32", 64, 97, 64},
                {"f32", 64, 33, 64}, {"f64", 64, 32, 32},  {"f64", 64, 33, 64},  {"f64", 64, 49, 32},
                {"f64", 32, 17, 32}, {"f64", 32, 25, 16},  {"u8", 64, 64, 64},   {"u8", 64, 70, 128}};
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(gang); i++) {
        const sk_cluster *c = cluster_of(arena_printf(&memory,
                                                      "extents n, m\nx = input [m, n]%s\n"
                                                      "y = backpermute safe [n, m] x {i: i64, j: i64 -> j, i}\n"
                                                      "output y\n",
                                                      gang[i].type));
        const sk_options o = {.vector_bytes = gang[i].bytes, .workers = 1};
        sk_geometry g = planned(c, &o, 3000, gang[i].columns, 0);
        assert_int_equal(g.variant, SK_MAP_ACROSS);
        assert_int_equal(built(c, &o, g.variant, g.pass, g.row)->lanes, gang[i].lanes);
    }
}

static unsigned fetches(const kernel *k)
{
    unsigned n = 0;
    for (k_ref r = 1; r < k->stmt.n; r++)
        n += k->stmt.at[r].op == K_FETCH;
    return n;
}

/* Gangs that store a line or more fetch what they store, but for what goes past the caches. */
static void rows_that_are_fetched(void **state)
{
    static const struct {
        int64_t columns;
        bool stream;
        unsigned fetches;
    } row[] = {{33, false, 1}, {33, true, 0}, {7, false, 0}, {1000, true, 0}};
    const sk_cluster *c = cluster_of("extents n, m\nx = input [n, m]f32\ny = input [m]f32\n"
                                     "z = map indexed x {i: i64, j: i64, v: f32 -> v + y[safe j]}\noutput z\n");
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(row); i++) {
        sk_options o = vectors;
        sk_geometry g = planned(c, &o, 4000, row[i].columns, 0);
        assert_int_equal(g.variant, SK_MAP_ROWS);
        o.stream = row[i].stream;
        assert_int_equal(fetches(built(c, &o, g.variant, g.pass, g.row)), row[i].fetches);
    }
    sk_geometry g = planned(c, &vectors, 4000, 1000, 0);
    assert_in_range(fetches(built(c, &vectors, g.variant, g.pass, g.row)), 1, 4);
}

/* Reads lie together along an axis if neighbours are at most four elements apart, either way. */
static void reads_that_lie_together(void **state)
{
    (void)state;
    for (int step = -6; step <= 6; step++) {
        ir_program *p = ir_program_new(&memory);
        const ir_id n = ir_dim(p, "n"), m = ir_dim(p, "m");
        const ir_type type = T_F32, index[] = {T_I64, T_I64};
        ir_id x = ir_input(p, 1, &type, 2, (ir_id[]){m, ir_op2(p, 0, OP_MUL, n, ir_i64(p, 20))});
        ir_fn *fn = ir_fn_new(p, 2, index);
        ir_id at = ir_op2(p, 0, OP_ADD, ir_op2(p, 0, OP_MUL, fn->param[0], ir_i64(p, step)),
                          ir_op2(p, 0, OP_MUL, n, ir_i64(p, 8)));
        ir_fn_close(p, fn, 2, (ir_id[]){fn->param[1], at});
        ir_output(p, ir_backpermute(p, 0, 2, (ir_id[]){n, m}, fn, x, IR_SAFE));
        const sk_cluster *c = &sk_prepare(l_clusters(p, &options))->cluster[0];
        if (c->across != (step && abs(step) <= 4))
            fail_msg("step %d", step);
    }
}

/* Four registers a state, or two, or one, as many as there are columns for. */
static void tiles_of_shared_loops(void **state)
{
    static const struct {
        uint32_t bytes;
        int64_t columns, lanes;
    } tile[] = {{64, 1000, 64}, {64, 64, 64}, {64, 63, 32}, {64, 32, 32}, {64, 31, 16}, {64, 16, 16},
                {32, 1000, 16}, {32, 16, 16}, {32, 15, 8},  {32, 8, 8},   {16, 8, 8},   {16, 7, 4}};
    const sk_cluster *c = cluster_of("extents n, m, k\nx = input [n, k]f32\ny = input [k, m]f32\n"
                                     "z = generate [n, m] {i: i64, j: i64\n"
                                     "  l = for (h < k; s = 0.0f32) { next s + x[safe i, h] * y[safe h, j] }\n"
                                     "  -> l.0}\noutput z\n");
    (void)state;
    assert_int_equal(c->shared, 1);
    for (size_t i = 0; i < ARRAY_LENGTH(tile); i++) {
        const sk_options o = {.vector_bytes = tile[i].bytes, .workers = 1};
        sk_geometry g = planned(c, &o, 3000, tile[i].columns, 0);
        assert_int_equal(g.variant, SK_MAP_SHARED);
        assert_int_equal(g.row >> 8, tile[i].lanes);
        assert_in_range(g.row & 255, 3, 12);
    }
}

static unsigned variables(const kernel *k, const char *name)
{
    unsigned n = 0;
    for (k_ref r = 1; r < k->stmt.n; r++) {
        const k_stmt *x = &k->stmt.at[r];
        const char *own = x->op == K_DECL ? k->value.at[x->dst].name : NULL;
        n += own && !strcmp(own, name);
    }
    return n;
}

/* States of loops that start the same and depend on nothing else are the same in all lanes: there is one of each. */
static void states_that_lanes_share(void **state)
{
    static const char *const start[] = {"0", "i"};
    (void)state;
    for (unsigned own = 0; own < 2; own++) {
        const sk_cluster *c =
            cluster_of(arena_printf(&memory,
                                    "extents n\nx = input [n]f32\n"
                                    "y = generate [n] {i: i64\n  v = x[safe i]\n"
                                    "  l = while (k = %s, s = v) {\n    test s * s < 1000.0f32 && k < 100\n"
                                    "    next k + 1, s * s + v\n  }\n"
                                    "  -> l.1}\noutput y\n",
                                    start[own]));
        sk_geometry g = planned(c, &vectors, 100000, 0, 0);
        const kernel *k = built(c, &vectors, g.variant, g.pass, g.row);
        assert_int_equal(variables(k, "shared"), 1 - own);
        assert_int_equal(variables(k, "state"), 1 + own);
    }
}

/* --- folds --- */

static const char *product_of(const char *type, const char *zero)
{
    return arena_printf(&memory,
                        "extents n, m, k\nx = input [n, k]%s\ny = input [k, m]%s\n"
                        "p = backpermute safe [n, m, k] x {i: i64, j: i64, h: i64 -> i, h}\n"
                        "q = backpermute safe [n, m, k] y {i: i64, j: i64, h: i64 -> h, j}\n"
                        "e = map p, q {a: %s, b: %s -> a * b}\n"
                        "s = fold commutes e seed %s {a: %s, b: %s -> a + b}\noutput s\n",
                        type, type, type, type, zero, type, type);
}

/* Tiles are no narrower than a vector, and no wider than there are columns, or rows where these are lanes; where there
 * are few of both they may be a quarter as wide. */
static void narrow_contractions(void **state)
{
    static const char *const type[] = {"f32", "f64"}, *const zero[] = {"0.0f32", "0.0f64"};
    (void)state;
    for (unsigned t = 0; t < 2; t++) {
        const sk_cluster *c = cluster_of(product_of(type[t], zero[t]));
        for (uint32_t bytes = 16; bytes <= 64; bytes *= 2)
            for (int64_t columns = 1; columns <= 40; columns++) {
                const sk_options o = {.vector_bytes = bytes, .workers = 1};
                const int64_t vector = bytes / (t ? 8 : 4), least = larger(4, vector / 4);
                if (vector < 4)
                    continue;
                const sk_geometry many = planned(c, &o, 500, columns, 640), few = planned(c, &o, 4, columns, 6400);
                const bool turned = columns < vector;
                if (many.variant != SK_CONTRACT || (many.row >> 23 & 1) != turned)
                    fail_msg("%s, %u bytes, %ld columns of many rows", type[t], bytes, (long)columns);
                if ((few.variant == SK_CONTRACT) != (columns >= least || vector == 4))
                    fail_msg("%s, %u bytes, %ld columns of four rows", type[t], bytes, (long)columns);
            }
    }
}

/* Several workers have four blocks each where there are rows enough; for one they are as large as they can be. */
static void blocks_of_contractions(void **state)
{
    const sk_cluster *c = cluster_of(product_of("f32", "0.0f32"));
    (void)state;
    for (uint32_t workers = 1; workers <= 16; workers++) {
        const sk_options o = {.vector_bytes = 32, .workers = workers};
        sk_geometry g = planned(c, &o, 4800, 64, 128);
        assert_int_equal(g.variant, SK_CONTRACT);
        const int64_t fit = planned(c, &vectors, 4800, 64, 128).pieces;
        assert_in_range(g.pieces, workers > 1 ? larger(fit, 4 * workers) : fit, larger(2 * fit, 4 * workers));
        if (workers == 1)
            assert_true(g.pieces < 8);
    }
}

/* One worker chooses along lines as wide as there is room for; several have tiles of lines, none too narrow. */
static void tiles_of_choices(void **state)
{
    enum { WIDTH = 3 };
    const sk_cluster *c =
        cluster_of("extents n, m\nx = input [n, m]i32\ny = backpermute safe [m, n] x {i: i64, j: i64 -> j, i}\n"
                   "p = map indexed y {i: i64, j: i64, v: i32 -> v, j}\n"
                   "s = fold p {a: i32, c: i64, b: i32, d: i64 -> if b > a then b else a, if b > a then d else c}\n"
                   "output s\n");
    static const struct {
        uint32_t workers;
        int64_t columns, width;
    } tile[] = {{1, 2048, 2048}, {1, 2049, 1088}, {1, 4096, 2048}, {1, 8192, 2048},
                {2, 2048, 1024}, {2, 4096, 1024}, {8, 4096, 1024}, {8, 2049, 1088}};
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(tile); i++) {
        const sk_options o = {.vector_bytes = 64, .workers = tile[i].workers};
        sk_geometry g = planned(c, &o, tile[i].columns, 1000, 0);
        assert_int_equal(g.variant, SK_CHOOSE_COLUMNS);
        assert_int_equal(g.slot[WIDTH], tile[i].width);
        assert_int_equal(g.pieces, pieces_of(tile[i].columns, tile[i].width) * g.partials);
    }
}

/* Where there are fewer pieces than workers, these share the lines: as many parts as there are workers if that is a
 * power of two, else several for each, but none so small that combining them would take as long. */
static void parts_of_lines(void **state)
{
    enum { TOGETHER = 5, PARTS = 7 };
    const sk_cluster *c = cluster_of("extents n, m\nx = input [n, m]f32\n"
                                     "y = backpermute safe [m, n] x {i: i64, j: i64 -> j, i}\n"
                                     "s = fold commutes y seed 0.0f32 {a: f32, b: f32 -> a + b}\noutput s\n");
    static const struct {
        uint32_t workers;
        int64_t lines, columns, parts, together;
    } call[] = {{1, 1000, 1000, 1, 2},  {2, 1000, 1000, 2, 2},   {2, 1000, 200, 1, 64},  {2, 1000, 250, 2, 8},
                {8, 4000, 1000, 8, 2},  {3, 4000, 1000, 16, 2},  {3, 1000, 1000, 8, 2},  {2, 10000, 100, 1, 64},
                {2, 5000, 100, 2, 16},  {64, 4000, 4000, 64, 1}, {64, 1000, 1000, 8, 2}, {2, 128, 10000, 1, 1},
                {2, 1000, 100000, 2, 1}};
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(call); i++) {
        const sk_options o = {.vector_bytes = 64, .workers = call[i].workers};
        int64_t n = call[i].lines, m = call[i].columns, pieces = pieces_of(n, 4096);
        sk_geometry g = planned(c, &o, m, n, 0);
        assert_int_equal(g.variant, SK_FOLD_COLUMNS);
        if (g.slot[PARTS] != call[i].parts || g.slot[TOGETHER] != call[i].together)
            fail_msg("%ld x %ld: %ld parts, %ld together", (long)n, (long)m, (long)g.slot[PARTS],
                     (long)g.slot[TOGETHER]);
        int64_t totals = call[i].parts > 1 ? call[i].parts * call[i].together : 1;
        assert_int_equal(g.partials, pieces * totals);
        sk_round combine = {.pass = SK_PASS_COMBINE, .partials = g.partials};
        if (g.partials == 1)
            continue;
        g = launch(c, &o, combine, m, n, 0);
        assert_int_equal(g.variant == SK_FOLD_PARTS, totals > 1);
        if (totals > 1)
            assert_int_equal(g.partials, pieces);
    }
}

/* --- scans, sorts --- */

/* Prefixes wait in shared memory, a piece of them, if more than four operators find them. */
static void prefixes_that_wait(void **state)
{
    const sk_options o = {.vector_bytes = 64, .workers = 2, .chains = true};
    (void)state;
    for (unsigned operators = 0; operators <= 8; operators++) {
        text source;
        text_init(&source, &memory);
        text_add(&source, "extents n\nx = input [n]i32\ny = map x {v: i32 -> ");
        for (unsigned i = 0; i < operators; i++)
            text_add(&source, "(");
        text_add(&source, "v");
        for (unsigned i = 0; i < operators; i++)
            text_add(&source, i % 2 ? " * v)" : " + 3i32)");
        text_add(&source, "}\ns = scan y seed 0i32 {a: i32, b: i32 -> a + b}\noutput s\n");
        const sk_cluster *c = cluster_of(text_close(&source));
        sk_geometry g = planned(c, &o, 100000, 0, 0);
        assert_int_equal(g.variant, SK_ROW_PIECES);
        assert_int_equal(shared_of(built(c, &o, g.variant, g.pass, g.row), 4096), operators > 4);
    }
}

/* Rows are cut into pieces where some worker would have none, and they are long enough. */
static void rows_that_are_cut(void **state)
{
    enum { PIECE = 4096, BRIEF = 8 * PIECE };
    static const struct {
        int64_t rows, columns, workers;
        bool cut;
    } calls[] = {
        {1, BRIEF, 4, false},     {1, BRIEF + 1, 4, true},    {7, BRIEF + 1, 4, true},
        {8, BRIEF + 1, 4, false}, {1, 100 * BRIEF, 1, false}, {3, 100 * BRIEF, 2, true},
    };
    const sk_cluster *c = cluster_of("extents n, m\nx = input [n, m]f32\n"
                                     "s = scan x seed 0.0f32 {a: f32, b: f32 -> a + b}\noutput s\n");
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(calls); i++) {
        const sk_options o = {.vector_bytes = 64, .workers = (uint32_t)calls[i].workers, .chains = true};
        sk_geometry g = planned(c, &o, calls[i].rows, calls[i].columns, 0);
        assert_int_equal(g.variant == SK_ROW_PIECES, calls[i].cut);
        assert_int_equal(g.pieces >= pieces_of(calls[i].columns, PIECE) * calls[i].rows, calls[i].cut);
    }
}

/* A line of the widest elements, or of words: what is gathered before it is written. */
static void lines_of_sorts(void **state)
{
    static const struct {
        uint8_t components;
        ir_type type[2];
        int64_t elements;
    } cases[] = {
        {1, {T_U32, T_NONE}, 16}, {1, {T_U8, T_NONE}, 16}, {1, {T_U64, T_NONE}, 8},
        {2, {T_F64, T_I64}, 8},   {2, {T_F64, T_I8}, 16},  {2, {T_U32, T_U64}, 16},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        ir_type type[] = {cases[i].type[0], cases[i].type[1]};
        const ir_array info = {.components = cases[i].components, .type = type};
        assert_int_equal(sk_line_elements(&info), cases[i].elements);
    }
}

static void threads_of_sorts(void **state)
{
    static const uint32_t group[] = {1, 64, 256, 1024};
    const sk_cluster *c = cluster_of("extents n\nx = input [n]u32\ns = sort keys 1 x\noutput s\n");
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(group); i++) {
        const sk_options o = {.group = group[i], .scratch = 48 << 10, .workers = 2};
        sk_geometry g = launch(c, &o, (sk_round){.pass = SK_PASS_PLACES}, 100000, 0, 0);
        const kernel *k = built(c, &o, g.variant, g.pass, g.row);
        assert_int_equal(k->group, smaller(256, group[i]));
        g = launch(c, &o, (sk_round){.pass = SK_PASS_PLACES}, 1000000, 0, 0); /* more pieces than a thread adds up */
        k = built(c, &o, g.variant, g.pass, g.row);
        assert_int_equal(k->group, smaller(256, group[i]));
        assert_int_equal(shared_of(k, 256), 2); /* sums of as many threads, and their sums */
    }
    for (size_t scratch = 2 << 10; scratch <= 96 << 10; scratch += 1 << 10) {
        const sk_options o = {.group = 256, .scratch = scratch, .workers = 2};
        for (sk_pass pass = SK_PASS_COUNT; pass <= SK_PASS_SCATTER; pass++) {
            sk_geometry g = launch(c, &o, (sk_round){.pass = pass, .digit = {.first = true}}, 1000000, 0, 0);
            kernel *k = k_clone(built(c, &o, g.variant, g.pass, g.row), &memory);
            k_layout(k, 128);
            assert_true(k_shared_bytes(k) <= scratch);
        }
    }
    sk_geometry g = launch(c, &vectors, (sk_round){.pass = SK_PASS_PLACES}, 100000, 0, 0);
    assert_int_equal(built(c, &vectors, g.variant, g.pass, g.row)->group, 0);
}

/* --- permutes --- */

/* `components` sums of 64-bit integers, which have tables of totals where there are many elements. */
static const char *sums(unsigned components)
{
    text source;
    text_init(&source, &memory);
    text_add(&source, "extents n, k\nx = input [n]i64\nt = input [n]i64\nz = input [k]i64\n");
    for (unsigned i = 0; i < 2; i++) { /* more than an element that is combined from memory may take */
        text_add(&source, i ? "d = map z {v: i64 -> " : "e = map x {v: i64 -> ");
        for (unsigned c = 0; c < components; c++)
            text_printf(&source, "%sv * v + %u", c ? ", " : "", c + 1);
        text_add(&source, "}\n");
    }
    text_add(&source, "p = permute d, t, e {");
    for (unsigned c = 0; c < 2 * components; c++)
        text_printf(&source, "%sa%u: i64", c ? ", " : "", c);
    for (unsigned c = 0; c < components; c++)
        text_printf(&source, "%s a%u + a%u", c ? "," : " ->", c, c + components);
    text_add(&source, "}\noutput p\n");
    return text_close(&source);
}

/* The cluster of a permute, which is the last one. */
static const sk_cluster *permute_of(const char *source)
{
    const char *message = "";
    ir_program *p = ir_parse(&memory, source, &message);
    if (!p)
        fail_msg("%s\n%s", message, source);
    l_program *l = l_clusters(p, &options);
    const sk_cluster *c = &sk_prepare(l)->cluster[l->cluster.n - 1];
    assert_int_equal(c->loop->class, L_CLASS_PERMUTE);
    return c;
}

/* Stretches are the largest power of two whose places, values and marks, a bit for each thread of a block, have room,
 * 1024 at most and 16 at least; tables have a record of all components for each place. */
static void memory_of_permutes(void **state)
{
    enum { PLACES = 1000, ELEMENTS = 1 << 20 };
    (void)state;
    for (unsigned components = 1; components <= 8; components++) {
        const sk_cluster *c = permute_of(sums(components));
        static const size_t scratch[] = {0, 48 << 10, 16 << 10, 4 << 10};
        for (size_t s = 0; s < ARRAY_LENGTH(scratch); s++) {
            const sk_options o = {.vector_bytes = scratch[s] ? 0 : 64,
                                  .group = scratch[s] ? 256 : 0,
                                  .scratch = scratch[s],
                                  .workers = 4};
            int64_t stretch = 1024, room = scratch[s] ? smaller(24 << 10, (int64_t)scratch[s] / 2) : 24 << 10;
            const int64_t marks = scratch[s] ? SK_PERMUTE_THREADS / 8 : 0;
            while (stretch > 16 && stretch * (8 * components + 8 + marks) > room)
                stretch /= 2;
            const kernel *k = built(c, &o, SK_PERMUTE, SK_PASS_LOOP, SK_PERMUTE_FEW);
            /* some elements go nowhere, and gangs that move the others together write beyond these */
            assert_int_equal(shared_of(k, stretch + (scratch[s] ? 0 : k->lanes)), 1 + components);
        }
        const sk_options o = {.vector_bytes = 64, .workers = 4};
        sk_geometry g = launch(c, &o, (sk_round){.pass = SK_PASS_LOOP, .places = PLACES}, ELEMENTS, 0, 0);
        int64_t blocks = g.slot[SK_PERMUTE_BLOCKS];
        assert_true(blocks > 1 && g.row & SK_PERMUTE_TABLES);
        int64_t lanes = 1; /* of several components it is a vector */
        while (lanes < components)
            lanes *= 2;
        assert_int_equal((g.row & SK_PERMUTE_VECTOR) != 0, components > 1);
        int64_t records = PLACES + (components > 1), apart = g.slot[SK_PERMUTE_APART];
        assert_true((apart - records) * 8 * lanes >= 2 * SK_LINE); /* no pair of lines has some of two tables */
        assert_true((apart - records) * 8 * lanes < 4 * SK_LINE + 8 * lanes);
        assert_int_equal(g.state_words, lanes * blocks * apart);
        for (unsigned k = components; k < 9; k++) /* what lies behind the components does not count */
            ((sk_permuted *)(uintptr_t)c->permuted)->type[k] = T_I64;
        sk_geometry again = launch(c, &o, (sk_round){.pass = SK_PASS_LOOP, .places = PLACES}, ELEMENTS, 0, 0);
        assert_int_equal(again.state_words, g.state_words);
    }
}

/* Where blocks are many threads the last of several elements is found by a word for each place, which holds small
 * elements, too; few elements go straight to their places. */
static void words_of_last(void **state)
{
    static const struct {
        const char *value;
        int64_t elements, places, words;
    } cases[] = {
        {"f32(v)", 5000, 301, 301},        {"i8(v)", 5000, 301, 301},          {"f64(v)", 5000, 301, 151},
        {"f32(v), i8(v)", 5000, 302, 151}, {"f32(v)", 5000, 1 << 28, 1 << 27}, {"f32(v)", (int64_t)1 << 33, 301, 301},
        {"v", (int64_t)1 << 33, 301, 301}, {"f32(v)", 1000, 301, 0},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        const sk_options o = {.group = 1024, .gang = 32, .scratch = 48 << 10, .workers = 132};
        const sk_cluster *c = permute_of(arena_printf(&memory,
                                                      "extents n, k\nx = input [n]i64\nt = input [n]i64\n"
                                                      "z = input [k]i64\nd = map z {v: i64 -> %s}\n"
                                                      "e = map x {v: i64 -> %s}\np = permute last d, t, e\noutput p\n",
                                                      cases[i].value, cases[i].value));
        const int64_t n = cases[i].elements;
        for (unsigned second = 0; second < 2; second++) {
            const sk_pass pass = second ? SK_PASS_TOTALS : SK_PASS_LOOP;
            sk_geometry g = launch(c, &o, (sk_round){.pass = pass, .places = cases[i].places}, n, 0, 0);
            assert_int_equal(g.variant, cases[i].words ? SK_PERMUTE_LAST : SK_PERMUTE);
            assert_int_equal(g.state_words, cases[i].words);
            if (cases[i].words)
                assert_int_equal(g.pieces, pieces_of(second ? cases[i].places : n, 1024));
        }
        assert_true(sk_carries_zeros(c, &o));
        assert_false(sk_carries_zeros(c, &(sk_options){.vector_bytes = 64, .workers = 2}));
    }
    assert_false(sk_carries_zeros(permute_of(sums(1)), &(sk_options){.group = 256, .scratch = 48 << 10}));
}

/* Blocks of many threads have copies of few places in shared memory: so many that they fit, of odd distances, and no
 * more blocks than keep the device busy. */
static void places_in_shared_memory(void **state)
{
    static const struct {
        int64_t elements, places, copies;
        bool near, far;
    } cases[] = {
        {1 << 26, 1, 32, true, false},    {1 << 26, 16, 32, true, false},  {1 << 26, 256, 4, true, false},
        {1 << 26, 2047, 1, true, false},  {1 << 26, 2048, 2, false, true}, {1 << 26, 6015, 1, false, true},
        {1 << 26, 6016, 0, false, false}, {100, 101, 0, false, false},     {100, 100, 16, true, false},
        {1 << 20, 6000, 1, false, true},  {200000, 6000, 0, false, false}, {0, 0, 0, false, false},
    };
    const sk_cluster *c = permute_of(sums(1));
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        const sk_options o = {.group = 1024, .gang = 32, .scratch = 48 << 10, .workers = 132};
        const int64_t n = cases[i].elements;
        sk_geometry g = launch(c, &o, (sk_round){.pass = SK_PASS_LOOP, .places = cases[i].places}, n, 0, 0);
        assert_int_equal(g.variant, SK_PERMUTE_ATOMIC);
        assert_int_equal(g.row, cases[i].near ? 16 << 10 : cases[i].far ? 47 << 10 : 0);
        assert_true(g.pieces * g.slot[SK_PERMUTE_LENGTH] >= n);
        if (!g.row)
            continue;
        assert_int_equal(g.slot[SK_PERMUTE_COPIES], cases[i].copies);
        assert_int_equal(g.slot[SK_PERMUTE_APART], cases[i].places | 1);
        assert_true(g.slot[SK_PERMUTE_COPIES] * g.slot[SK_PERMUTE_APART] * 8 <= g.row);
        assert_true(g.pieces <= 132 * (cases[i].near ? 8 : 4) && g.slot[SK_PERMUTE_LENGTH] % 4 == 0);
        kernel *k = k_clone(built(c, &o, g.variant, g.pass, g.row), &memory);
        k_layout(k, 128);
        assert_true(k_shared_bytes(k) <= o.scratch);
    }
}

/* Operators that give the new element or the old one change little where elements are many. */
static void choosing_permutes(void **state)
{
    static const struct {
        const char *operator;
        bool chooses;
    } program[] = {
        {"if a > c then a else c, if a > c then b else d", true},
        {"if a < c then c else a, if a < c then d else b", true},
        {"if a < c then c else a, if a < c then b else d", false},
        {"if a < c then c else a, if a > c then b else d", false},
        {"if a > c then a else b, if a > c then b else d", false},
        {"a + c, if a > c then b else d", false},
    };
    const sk_options o = {.vector_bytes = 64, .workers = 1};
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(program); i++) {
        const sk_cluster *c =
            permute_of(arena_printf(&memory,
                                    "extents n, k\nx = input [n](i32, i32)\nt = input [n]i64\nd = input [k](i32, i32)\n"
                                    "p = permute d, t, x {a: i32, b: i32, c: i32, d: i32 -> %s}\noutput p\n",
                                    program[i].operator));
        assert_int_equal(c->chooses, program[i].chooses);
        for (int64_t elements = 1600; elements <= 160000; elements *= 10) {
            sk_geometry g = launch(c, &o, (sk_round){.pass = SK_PASS_LOOP, .places = 1000}, elements, 0, 0);
            assert_int_equal((g.row & SK_PERMUTE_RARELY) != 0, program[i].chooses && elements / 16 >= 1000);
        }
    }
}

/* Indices that are converted from numbers of 64 bits may say that an element goes nowhere. */
static void converted_indices_drop(void **state)
{
    static const sk_options device[] = {
        {.vector_bytes = 64, .workers = 2}, {.group = 64, .scratch = 16 << 10}, {.workers = 1}};
    enum { ELEMENTS = 100, PLACES = 10 };
    uint64_t target[ELEMENTS];
    int32_t defaults[PLACES] = {0}, source[ELEMENTS];
    (void)state;
    for (int i = 0; i < ELEMENTS; i++) {
        target[i] = i % 3 ? (uint64_t)i % PLACES : UINT64_C(1) << 63;
        source[i] = i * i;
    }
    const char *message = "";
    ir_program *p = ir_parse(&memory,
                             "extents n, k\nd = input [k]i32\nu = input [n]u64\nx = input [n]i32\n"
                             "t = map u {v: u64 -> i64(v)}\n"
                             "p = permute d, t, x {a: i32, b: i32 -> a + b}\noutput p\n",
                             &message);
    if (!p)
        fail_msg("%s", message);
    const ir_value input[] = {
        {.rank = 1, .components = 1, .type = {T_I32}, .extent = {PLACES}, .data = {defaults}},
        {.rank = 1, .components = 1, .type = {T_U64}, .extent = {ELEMENTS}, .data = {target}},
        {.rank = 1, .components = 1, .type = {T_I32}, .extent = {ELEMENTS}, .data = {source}},
    };
    ir_value wanted;
    ir_failure failure = {0};
    assert_true(ir_interpret(p, &memory, input, &wanted, &failure));
    for (size_t i = 0; i < ARRAY_LENGTH(device); i++) {
        sk_options o = device[i];
        o.checks = true;
        run_result got = run_clusters(p, &options, &o, &memory, input);
        if (got.why)
            fail_msg("%s", got.why);
        assert_int_equal(got.error.site, 0);
        assert_memory_equal(got.output[0].data[0], wanted.data[0], sizeof(defaults));
    }
}

/* The first of the greatest of a row by a tie's position, which is given by a term of j: in rows of up to so many
 * elements positions go up or down from each to the next. 0: they are not seen to. */
static void positions_that_do_not_wrap(void **state)
{
    static const struct {
        const char *type, *position;
        int64_t longest;
    } row[] = {
        {"i64", "j", INT64_C(1) << 48},
        {"i64", "7 - j", INT64_C(1) << 48},
        {"i32", "i32(j)", INT64_C(1) << 31},
        {"i32", "i32(j) + 5i32", (INT64_C(1) << 31) - 5},
        {"i32", "i32(j) - 5i32", INT64_C(1) << 31},
        {"i32", "5i32 - i32(j)", INT64_C(1) << 31},
        {"i32", "-i32(j)", INT64_C(1) << 31},
        {"i8", "i8(j)", 128},
        {"i8", "i8(j) + 27i8", 101},
        {"i8", "-(i8(j) + 27i8)", 101},
        {"i8", "-i8(j) - 100i8", 29},
        {"u8", "u8(j) + 3u8", 253},
        {"u8", "200u8 - (u8(j) + 3u8)", 198},
        {"u8", "200u8 - u8(j)", 201},
        {"u8", "250u8 - (100u8 - u8(j))", 101},
        {"u8", "u8(j) - 1u8", 1}, /* 255 more */
        {"i8", "i8(j) * 2i8", 0},
        {"i64", "j + 281474976710656", 1}, /* as far off as is followed */
        {"i64", "j + 281474976710657", 0},
        {"i64", "j - 281474976710657", 0},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(row); i++) {
        const char *t = row[i].type, *taken = "b > a || (b == a && d < c)";
        const sk_cluster *c = cluster_of(arena_printf(
            &memory,
            "extents n, m\nx = input [n, m]i32\np = map indexed x {i: i64, j: i64, v: i32 -> v, %s}\n"
            "s = fold p {a: i32, c: %s, b: i32, d: %s -> if %s then b else a, if %s then d else c}\noutput s\n",
            row[i].position, t, t, taken, taken));
        int64_t longest = c->choice == SK_NO_CHOICE ? 0 : c->choice_longest;
        if (longest != row[i].longest)
            fail_msg("%s: %lld and not %lld", row[i].position, (long long)longest, (long long)row[i].longest);
    }
}

/* Rows of light stencils over a large array come one after the other, also of two in a chain; a longer chain, in which
 * a stage has nothing to do with memory, computes several at once. */
static void rows_of_chains(void **state)
{
    static const char single[] = "extents n, m x = input [n, m]f32 "
                                 "y = stencil x pattern 3 x 1 clamp {a: f32, b: f32, c: f32 -> a + b + c} output y";
    static const char chain[] = "extents n, m x = input [n, m]f32 "
                                "y = stencil x pattern 3 x 1 clamp {a: f32, b: f32, c: f32 -> a + b + c} "
                                "z = stencil y pattern 3 x 1 clamp {a: f32, b: f32, c: f32 -> a + b + c} "
                                "u = stencil z pattern 3 x 1 clamp {a: f32, b: f32, c: f32 -> a + b + c} output u";
    static const char two[] = "extents n, m x = input [n, m]f32 "
                              "y = stencil x pattern 3 x 1 clamp {a: f32, b: f32, c: f32 -> a + b + c} "
                              "z = stencil y pattern 3 x 1 clamp {a: f32, b: f32, c: f32 -> a + b + c} output z";
    (void)state;
    assert_true(planned(cluster_of(two), &vectors, 1000, 2000, 0).row & SK_STENCIL_BY_ROW);
    assert_true(planned(cluster_of(single), &vectors, 1000, 2000, 0).row & SK_STENCIL_BY_ROW);
    assert_false(planned(cluster_of(single), &vectors, 100, 200, 0).row & SK_STENCIL_BY_ROW);
    assert_false(planned(cluster_of(chain), &vectors, 1000, 2000, 0).row & SK_STENCIL_BY_ROW);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(threads_of_maps),        TEST(gangs_of_short_rows),
        TEST(cheapest_gangs),         TEST(gangs_across),
        TEST(rows_that_are_fetched),  TEST(reads_that_lie_together),
        TEST(tiles_of_shared_loops),  TEST(states_that_lanes_share),
        TEST(narrow_contractions),    TEST(blocks_of_contractions),
        TEST(tiles_of_choices),       TEST(parts_of_lines),
        TEST(prefixes_that_wait),     TEST(threads_of_sorts),
        TEST(rows_that_are_cut),      TEST(lines_of_sorts),
        TEST(memory_of_permutes),     TEST(places_in_shared_memory),
        TEST(words_of_last),          TEST(choosing_permutes),
        TEST(converted_indices_drop), TEST(positions_that_do_not_wrap),
        TEST(rows_of_chains),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
