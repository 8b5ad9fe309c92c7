/* Arrays of C structs whose fields are read and written where they are: every program once with structs and once with
 * an array a component, the same bits. Structs begin or end where memory begins that cannot be touched, at any
 * alignment; bytes between fields stay as they were. And that nothing is copied where that is promised. */
#include "both.h"
#include "counts.h"
#include "support/guarded.h"
#include "support/share.h"

#include <stdio.h>
#include <stdlib.h>

/* --- programs over structs of fields a, b, c --- */

static sn_scalar changed(sn_scalar p)
{
    sn_scalar a = sn_field(p, a), b = sn_field(p, b), c = sn_field(p, c);
    return sn_record("a b c", sn_add(a, a), sn_mul(b, b), sn_max(c, 1));
}

static sn_acc map(sn_acc ps)
{
    return sn_map(changed, ps);
}

static sn_acc map_and_fold(sn_acc ps)
{
    sn_acc all = sn_map(changed, ps);
    return sn_results(all, sn_fold1(sn_max, sn_field(all, a)), sn_fold1(sn_max, sn_field(ps, c)));
}

static sn_scalar changed_alike(sn_scalar p)
{
    sn_scalar a = sn_field(p, a), b = sn_field(p, b), c = sn_field(p, c);
    return sn_record("a b c", sn_max(sn_mul(a, 3), 7), sn_max(sn_mul(b, 3), 7), sn_max(sn_mul(c, 3), 7));
}

/* The same operations, with other numbers for one of the fields. */
static sn_scalar changed_nearly_alike(sn_scalar p)
{
    sn_scalar a = sn_field(p, a), b = sn_field(p, b), c = sn_field(p, c);
    return sn_record("a b c", sn_max(sn_mul(a, 3), 7), sn_max(sn_mul(b, 3), 7), sn_max(sn_mul(c, 3), 9));
}

static sn_acc map_nearly_alike(sn_acc ps)
{
    return sn_map(changed_nearly_alike, ps);
}

static sn_acc map_alike(sn_acc ps)
{
    return sn_map(changed_alike, ps);
}

static sn_acc one_field(sn_acc ps)
{
    return sn_fold1(sn_max, sn_field(ps, b));
}

static sn_scalar larger(sn_scalar x, sn_scalar y)
{
    return sn_if(sn_gt(sn_field(y, b), sn_field(x, b)), y, x);
}

static sn_acc choice(sn_acc ps)
{
    return sn_fold1(larger, ps);
}

static sn_acc scan(sn_acc ps)
{
    sn_acc sums = sn_scanl1(sn_add, sn_field(ps, a));
    return sn_results(sn_zip(sums, sn_field(ps, b), sn_field(ps, c)), sn_scanl1(sn_max, sn_field(ps, b)));
}

static sn_scalar is_large(sn_scalar p)
{
    return sn_gt(sn_field(p, c), 2);
}

static sn_acc filter(sn_acc ps)
{
    return sn_filter(is_large, ps);
}

static sn_scalar difference(sn_scalar s)
{
    return sn_sub(sn_at(s, 1), sn_at(s, 0));
}

static sn_acc stencil(sn_acc ps)
{
    return sn_zip(sn_stencil(difference, sn_pattern(3), sn_clamp, sn_field(ps, a)), sn_field(ps, b), sn_field(ps, c));
}

static sn_acc reversed(sn_acc ps)
{
    return sn_results(sn_reverse(ps), ps);
}

static sn_acc apart(sn_acc ps)
{
    return sn_results(sn_field(sn_map(changed, ps), a), sn_field(sn_map(changed, ps), b), sn_field(ps, c));
}

static sn_acc rows(sn_acc ps)
{
    return sn_results(sn_fold1(sn_max, sn_field(sn_map(changed, ps), a)), sn_map(changed, ps));
}

static sn_acc turned(sn_acc ps)
{
    return sn_transpose(ps);
}

static const struct {
    const char *name, *signature; /* S: the struct; A, B, C: types of its fields */
    sn_acc (*f)(sn_acc);
    const char *results; /* s, t: structs of the parameter's extents, or turned; u: at most so many; a, b, c: arrays;
                            A, B, C: single values; r: one of A a row; o: one struct */
    int rank;
    bool in_place; /* nothing is copied */
} programs[] = {
    {"map", "[n]S -> [n]S", map, "s", 1, true},
    {"map, rank 3", "[n,m,k]S -> [n,m,k]S", map, "s", 3, true},
    {"map of fields alike", "[n]S -> [n]S", map_alike, "s", 1, true},
    {"map of fields nearly alike", "[n]S -> [n]S", map_nearly_alike, "s", 1, true},
    {"map and fold", "[n]S -> [n]S, A, C", map_and_fold, "sAC", 1, true},
    {"a field", "[n]S -> B", one_field, "B", 1, true},
    {"choice", "[n]S -> S", choice, "o", 1, false},
    {"scan", "[n]S -> [n]S, [n]B", scan, "sb", 1, false},
    {"filter", "[n]S -> [m]S", filter, "u", 1, false},
    {"stencil", "[n]S -> [n]S", stencil, "s", 1, false},
    {"reverse", "[n]S -> [n]S, [n]S", reversed, "ss", 1, false},
    {"apart", "[n]S -> [n]A, [n]B, [n]C", apart, "abc", 1, false},
    {"rows", "[n,m]S -> [n]A, [n,m]S", rows, "rs", 2, false},
    {"transpose", "[n,m]S -> [m,n]S", turned, "t", 2, false},
};

static const char *const kinds[][3] = {{"f32", "f32", "f32"}, {"u8", "u8", "u8"},    {"f64", "i32", "u8"},
                                       {"u8", "f64", "i16"},  {"i16", "i16", "i16"}, {"f32", "i64", "f32"},
                                       {"i64", "f64", "u64"}, {"u8", "i16", "i8"}};

/* --- structs --- */

typedef struct shape {
    sn_type type[3];
    size_t size[3], at[3], bytes;
} shape;

static sn_type type_of(const char *name)
{
    for (int t = SN_BOOL; t <= SN_CHAR; t++)
        if (!strcmp(ir_type_name((ir_type)t), name))
            return (sn_type)t;
    fail_msg("no type %s", name);
    return SN_BOOL;
}

static shape shape_of(const char *const *types)
{
    shape s = {.bytes = 0};
    size_t widest = 1;
    for (unsigned f = 0; f < 3; f++) {
        s.type[f] = type_of(types[f]);
        s.size[f] = ir_type_size((ir_type)s.type[f]);
        widest = s.size[f] > widest ? s.size[f] : widest;
        s.at[f] = (s.bytes + s.size[f] - 1) / s.size[f] * s.size[f];
        s.bytes = s.at[f] + s.size[f];
    }
    s.bytes = (s.bytes + widest - 1) / widest * widest;
    return s;
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state >> 11;
}

static void put_number(void *to, sn_type t, int64_t v)
{
    ir_bits bits = t == SN_F32   ? ir_bits_f32((float)v)
                   : t == SN_F64 ? ir_bits_f64((double)v)
                                 : ir_bits_i64((ir_type)t, v);
    memcpy(to, &bits, ir_type_size((ir_type)t));
}

/* --- one call with structs, one with arrays --- */

enum { MOST_ARGUMENTS = 24, PADDING = 0x5a };

typedef struct call_pair {
    shape s;
    int64_t n;
    int rank;
    int64_t extent[3];
    sn_arg one[MOST_ARGUMENTS], each[MOST_ARGUMENTS];
    int ones, eachs;
    guarded wholes[MOST_ARGUMENTS]; /* structs of results */
    void *parts[MOST_ARGUMENTS][3], *single[MOST_ARGUMENTS], *other[MOST_ARGUMENTS];
    size_t bytes[MOST_ARGUMENTS];
    int64_t found[2];
    int results;
} call_pair;

static sn_arg argument(const call_pair *c, sn_arg_kind kind, sn_type t, int rank, const void *from)
{
    sn_arg a = {.kind = kind, .type = t, .rank = rank, .u = {.from = from}};
    memcpy(a.extent, c->extent, sizeof(c->extent));
    return a;
}

static void add_result(call_pair *c, char kind, bool at_end)
{
    const shape *s = &c->s;
    int k = c->results++;
    bool structs = strchr("stuo", kind) != NULL;
    size_t n = kind == 'o' ? 1 : (size_t)c->n;
    if (structs) {
        c->bytes[k] = n * s->bytes;
        c->wholes[k] = guarded_new(c->bytes[k] ? c->bytes[k] : 1, at_end);
        memset(c->wholes[k].at, PADDING, c->bytes[k]);
        sn_arg a = argument(c, SN_ARG_STRUCTS, SN_BOOL, kind == 'o' ? 0 : c->rank, c->wholes[k].at);
        a.size = s->bytes;
        if (kind == 'u')
            a = sn_structs_upto_of(s->bytes, c->wholes[k].at, c->n, &c->found[0]);
        if (kind == 't')
            a.extent[0] = c->extent[1], a.extent[1] = c->extent[0];
        c->one[c->ones++] = a;
        for (unsigned f = 0; f < 3; f++) {
            c->parts[k][f] = calloc(n + 1, s->size[f]);
            sn_arg e = argument(c, kind == 'o' ? SN_ARG_VALUE : SN_ARG_INTO, s->type[f], a.rank, c->parts[k][f]);
            memcpy(e.extent, a.extent, sizeof(e.extent));
            c->each[c->eachs++] = kind == 'u' ? sn_upto_of(s->type[f], c->parts[k][f], c->n, &c->found[1]) : e;
        }
        return;
    }
    unsigned f = kind == 'r' ? 0 : (unsigned)((kind | 32) - 'a');
    bool one = kind >= 'A' && kind <= 'C';
    c->bytes[k] = (one ? 1 : kind == 'r' ? (size_t)c->extent[0] : n) * s->size[f];
    c->single[k] = calloc(c->bytes[k] + 8, 1);
    c->other[k] = calloc(c->bytes[k] + 8, 1);
    int rank = one ? 0 : kind == 'r' ? c->rank - 1 : c->rank;
    c->one[c->ones++] = argument(c, one ? SN_ARG_VALUE : SN_ARG_INTO, s->type[f], rank, c->single[k]);
    c->each[c->eachs++] = argument(c, one ? SN_ARG_VALUE : SN_ARG_INTO, s->type[f], rank, c->other[k]);
}

static void compare_result(const call_pair *c, int k, char kind)
{
    const shape *s = &c->s;
    if (!c->wholes[k].at) {
        assert_memory_equal(c->single[k], c->other[k], c->bytes[k]);
        return;
    }
    size_t n = c->bytes[k] / s->bytes, there = kind == 'u' ? (size_t)c->found[1] : n;
    unsigned char *wanted = malloc(c->bytes[k] + 1);
    memset(wanted, PADDING, c->bytes[k]);
    for (size_t i = 0; i < there; i++)
        for (unsigned f = 0; f < 3; f++)
            memcpy(wanted + i * s->bytes + s->at[f], (char *)c->parts[k][f] + i * s->size[f], s->size[f]);
    assert_memory_equal(c->wholes[k].at, wanted, c->bytes[k]);
    free(wanted);
}

static void free_results(call_pair *c)
{
    for (int k = 0; k < c->results; k++) {
        guarded_free(&c->wholes[k]);
        for (unsigned f = 0; f < 3; f++)
            free(c->parts[k][f]);
        free(c->single[k]);
        free(c->other[k]);
    }
}

static void signature_of(const char *pattern, const char *const *types, char *out, size_t room)
{
    size_t at = 0;
    for (; *pattern; pattern++) {
        if (*pattern == 'S')
            at += (size_t)snprintf(out + at, room - at, "{a: %s, b: %s, c: %s}", types[0], types[1], types[2]);
        else if (*pattern >= 'A' && *pattern <= 'C')
            at += (size_t)snprintf(out + at, room - at, "%s", types[*pattern - 'A']);
        else
            at += (size_t)snprintf(out + at, room - at, "%c", *pattern);
        assert_true(at < room);
    }
}

static void try_once(sn_context *cx, sn_program *program, unsigned p, const char *const *types, int64_t n, bool at_end)
{
    call_pair c = {.s = shape_of(types), .rank = programs[p].rank, .extent = {n}};
    const shape *s = &c.s;
    uint64_t random = (uint64_t)n * 77 + p + 1;
    if (c.rank > 1) {
        c.extent[0] = n / 7 + 1;
        c.extent[1] = c.rank > 2 ? 3 : 7;
        c.extent[2] = 2;
    }
    c.n = c.extent[0] * (c.rank > 1 ? c.extent[1] : 1) * (c.rank > 2 ? c.extent[2] : 1);
    size_t bytes = (size_t)c.n * s->bytes;
    guarded in = guarded_new(bytes ? bytes : 1, at_end);
    void *part[3];
    for (unsigned f = 0; f < 3; f++) {
        part[f] = calloc((size_t)c.n + 1, s->size[f]);
        for (int64_t i = 0; i < c.n; i++) {
            char *to = (char *)part[f] + (size_t)i * s->size[f];
            put_number(to, s->type[f], (int64_t)(next_random(&random) % 6));
            memcpy((char *)in.at + (size_t)i * s->bytes + s->at[f], to, s->size[f]);
        }
        c.each[c.eachs++] = argument(&c, SN_ARG_IN, s->type[f], c.rank, part[f]);
    }
    c.one[c.ones] = argument(&c, SN_ARG_STRUCTS, SN_BOOL, c.rank, in.at);
    c.one[c.ones++].size = s->bytes;
    for (const char *r = programs[p].results; *r; r++)
        add_result(&c, *r, at_end);
    sn_counters before = sn_counts(cx);
    sn_status one = sn_call_n(program, c.ones, c.one);
    sn_counters after = sn_counts(cx);
    if (programs[p].in_place && cx == both_cpu() && cx->engine.device->limits->fields && n > SK_SHORT)
        assert_int_equal(after.copies, before.copies);
    assert_int_equal(sn_call_n(program, c.eachs, c.each), one);
    assert_int_equal(c.found[0], c.found[1]);
    for (int k = 0; k < c.results && one == SN_OK; k++)
        compare_result(&c, k, programs[p].results[k]);
    free_results(&c);
    guarded_free(&in);
    for (unsigned f = 0; f < 3; f++)
        free(part[f]);
}

static void try_all(sn_context *cx)
{
    static const int64_t sizes[] = {0, 1, 3, 7, 16, 31, 64, 65, 129, 1000, 4099, 70001};
    if (!cx)
        return;
    /* other devices get arrays, whatever the structs are, and their compilers are slow */
    bool slow = cx->engine.device && !cx->engine.device->limits->fields;
    for (unsigned p = 0; p < ARRAY_LENGTH(programs); p++)
        for (unsigned k = slow ? 2 : 0; k < (slow ? 3 : ARRAY_LENGTH(kinds)); k++) {
            char signature[200];
            if (!slow && (p + k) % test_share())
                continue;
            signature_of(programs[p].signature, kinds[k], signature, sizeof(signature));
            sn_program *program = sn_compile_at(SN_HERE, cx, signature, SN_BODY(programs[p].f));
            if (!program)
                fail_msg("%s: %s", programs[p].name, sn_message(cx));
            unsigned most = cx == both_cpu() && !slow ? ARRAY_LENGTH(sizes) : 9;
            for (unsigned i = 0; i < most; i++)
                try_once(cx, program, p, kinds[k], sizes[i], (i + k + p) % 2);
            sn_drop(program);
        }
}

static void structs_and_arrays_give_the_same(void **state)
{
    (void)state;
    try_all(both_cpu());
}

static void interpreted(void **state)
{
    (void)state;
    try_all(both_interpreter());
}

/* --- memory --- */

typedef struct point {
    float x, y, z;
} point;

static sn_scalar doubled(sn_scalar p)
{
    return sn_record("x y z", sn_add(sn_field(p, x), sn_field(p, x)), sn_field(p, z), sn_field(p, y));
}

static sn_acc double_all(sn_acc ps)
{
    return sn_map(doubled, ps);
}

#define POINTS "[n]{x: f32, y: f32, z: f32}"

static void set(point *p, int n)
{
    for (int i = 0; i < n; i++)
        p[i] = (point){(float)i, (float)(2 * i), (float)(3 * i)};
}

static void check(const point *p, int n)
{
    for (int i = 0; i < n; i++)
        assert_true(p[i].x == (float)(2 * i) && p[i].y == (float)(3 * i) && p[i].z == (float)(2 * i));
}

static sn_scalar farther(void *env, sn_scalar p, sn_scalar v)
{
    const sn_scalar *t = env;
    return sn_record("x y z", sn_add(sn_field(p, x), sn_mul(sn_field(v, x), *t)),
                     sn_add(sn_field(p, y), sn_mul(sn_field(v, y), *t)),
                     sn_add(sn_field(p, z), sn_mul(sn_field(v, z), *t)));
}

static sn_acc move_all(sn_acc ps, sn_acc vs, sn_acc t)
{
    sn_scalar time = sn_the(t);
    return sn_zip_with(sn_closure(farther, &time), ps, vs);
}

static sn_scalar exchanged(sn_scalar p)
{
    return sn_record("x y z", sn_field(p, y), sn_field(p, z), sn_field(p, x));
}

static sn_acc exchange_all(sn_acc ps)
{
    return sn_map(exchanged, ps);
}

static unsigned shuffles(sn_program *p)
{
    unsigned n = 0;
    for (const char *at = sn_explain(p, "llvm"); (at = strstr(at, "shufflevector")) != NULL; at++)
        n++;
    return n;
}

/* All fields by the same operations: of the same fields, and of others. */
static void fields_alike(void **state)
{
    enum { N = 1001 };
    static point p[N], v[N], q[N];
    const float t = 2;
    sn_context *cx = both_cpu();
    (void)state;
    if (!cx)
        skip();
    sn_program *move = sn_compile(cx, POINTS ", " POINTS ", f32 -> " POINTS, move_all);
    sn_program *exchange = sn_compile(cx, POINTS " -> " POINTS, exchange_all);
    assert_non_null(move);
    assert_non_null(exchange);
    set(p, N);
    for (int i = 0; i < N; i++)
        v[i] = (point){(float)(i + 1), (float)(5 * i), (float)(7 * i + 3)};
    for (int n = 1; n <= N; n += n < 200 ? 1 : 89) {
        memset(q, 0, sizeof q);
        assert_int_equal(sn_call(move, sn_structs(p, n), sn_structs(v, n), sn_value(&t), sn_structs(q, n)), SN_OK);
        for (int i = 0; i < N; i++)
            assert_true(i < n ? q[i].x == p[i].x + 2 * v[i].x && q[i].y == p[i].y + 2 * v[i].y &&
                                    q[i].z == p[i].z + 2 * v[i].z
                              : q[i].x == 0 && q[i].y == 0 && q[i].z == 0);
        assert_int_equal(sn_call(exchange, sn_structs(v, n), sn_structs(q, n)), SN_OK);
        for (int i = 0; i < n; i++)
            assert_true(q[i].x == v[i].y && q[i].y == v[i].z && q[i].z == v[i].x);
    }
    if (on_cpu()) /* what is alike is not taken apart */
        assert_true(2 * shuffles(move) < shuffles(exchange));
    sn_drop(move);
    sn_drop(exchange);
}

/* Results over parameters: the same structs, some of them, or arrays in their memory. */
static void overlapping(void **state)
{
    enum { N = 1001 };
    static point p[2 * N], q[N];
    sn_context *cx = both_cpu();
    (void)state;
    if (!cx)
        skip();
    sn_program *program = sn_compile(cx, POINTS " -> " POINTS, double_all);
    assert_non_null(program);
    for (int by = -5; by <= 5; by++) {
        set(p + 10, N - 20);
        assert_int_equal(sn_call(program, sn_structs(p + 10, N - 20), sn_structs(p + 10 + by, N - 20)), SN_OK);
        check(p + 10 + by, N - 20);
    }
    set(p, N);
    assert_int_equal(sn_call(program, sn_structs(p, N), sn_structs(q, N)), SN_OK);
    check(q, N);
    float *x = &p[3].x, *y = calloc(N, sizeof(float)), *z = calloc(N, sizeof(float));
    assert_int_equal(sn_call(program, sn_structs(p, N), sn_into(x, N), sn_into(y, N), sn_into(z, N)), SN_OK);
    for (int i = 0; i < N; i++)
        assert_true(x[i] == (float)(2 * i) && y[i] == (float)(3 * i) && z[i] == (float)(2 * i));
    set(p, N); /* and the other way round */
    float *in = &q[1].y;
    for (int i = 0; i < N; i++)
        y[i] = (float)(2 * i), z[i] = (float)(3 * i);
    for (int i = 0; i < 2 * N; i++)
        in[i] = (float)i;
    assert_int_equal(sn_call(program, sn_in(in, N), sn_in(y, N), sn_in(z, N), sn_structs(q, N)), SN_OK);
    check(q, N);
    free(y);
    free(z);
    sn_drop(program);
}

/* Structs at any address. */
static void unaligned(void **state)
{
    enum { N = 300 };
    sn_context *cx = both_cpu();
    (void)state;
    if (!cx)
        skip();
    sn_program *program = sn_compile(cx, POINTS " -> " POINTS, double_all);
    assert_non_null(program);
    char *from = calloc(N + 1, sizeof(point)), *to = calloc(N + 1, sizeof(point));
    point p[N];
    set(p, N);
    for (size_t by = 0; by < sizeof(point); by++) {
        memcpy(from + by, p, sizeof(p));
        memset(to, PADDING, (N + 1) * sizeof(point));
        sn_arg a[2] = {
            {.kind = SN_ARG_STRUCTS, .rank = 1, .extent = {N}, .size = sizeof(point), .u = {.to = from + by}},
            {.kind = SN_ARG_STRUCTS, .rank = 1, .extent = {N}, .size = sizeof(point), .u = {.to = to + by}}};
        assert_int_equal(sn_call_n(program, 2, a), SN_OK);
        point q[N];
        memcpy(q, to + by, sizeof(q));
        check(q, N);
        for (size_t i = 0; i < by; i++)
            assert_int_equal(to[i], PADDING);
        for (size_t i = by; i < sizeof(point); i++)
            assert_int_equal(to[N * sizeof(point) + i], PADDING);
    }
    free(from);
    free(to);
    sn_drop(program);
}

/* One program, called with structs here and arrays there: kernels of both kinds live side by side. */
static void mixed_calls(void **state)
{
    enum { N = 100 };
    sn_context *cx = both_cpu();
    (void)state;
    if (!cx)
        skip();
    sn_program *program = sn_compile(cx, POINTS " -> " POINTS, double_all);
    assert_non_null(program);
    point p[N], q[N];
    float x[N], y[N], z[N];
    set(p, N);
    for (int turn = 0; turn < 4; turn++) {
        memset(q, 0, sizeof(q));
        assert_int_equal(sn_call(program, sn_structs(p, N), sn_structs(q, N)), SN_OK);
        check(q, N);
        assert_int_equal(sn_call(program, sn_structs(p, N), sn_into(x, N), sn_into(y, N), sn_into(z, N)), SN_OK);
        assert_true(x[9] == 18 && y[9] == 27 && z[9] == 18);
        for (int i = 0; i < N; i++)
            x[i] = p[i].x, y[i] = p[i].y, z[i] = p[i].z;
        memset(q, 0, sizeof(q));
        assert_int_equal(sn_call(program, sn_in(x, N), sn_in(y, N), sn_in(z, N), sn_structs(q, N)), SN_OK);
        check(q, N);
    }
    sn_drop(program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(structs_and_arrays_give_the_same),
        cmocka_unit_test(interpreted),
        cmocka_unit_test(fields_alike),
        cmocka_unit_test(overlapping),
        cmocka_unit_test(unaligned),
        cmocka_unit_test(mixed_calls),
    };
    return cmocka_run_group_tests(tests, both_open, both_close);
}
