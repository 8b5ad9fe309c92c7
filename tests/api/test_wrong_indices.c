/* Every operation that makes an array x every way to read an array at an index x every kind of wrong index, in each
 * dimension and at several elements: the interpreter, the device with fusion and the device without it give the same
 * status and the same message. With a right index they give the same results.
 *
 * The plain run is a seeded sample, the long one the full product of operations, ranks and readers, with the types of
 * elements and of indices each at one rank; with SINTER_TEST_SAMPLE, for devices whose compiler is slow, both are
 * smaller samples. SINTER_TEST_OP="take" takes one operation only, SINTER_TEST_READER="gather" one reader. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/array_ops.h"

enum { LOOKUPS = 5, SKIPPED = 2 /* the lookup that guarded readers leave out */, MOST_RANK = 8, WAYS = 3 };

static struct {
    sn_context *way[WAYS]; /* the interpreter, fused, unfused */
    uint64_t random;
    unsigned failures, tried, wrong;
} test;

static const char *const way_name[WAYS] = {"interpreted", "fused", "unfused"};

static uint32_t pick(uint32_t n)
{
    test.random = test.random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((test.random >> 33) % n);
}

/* --- programs: an array, and lookups in it --- */

typedef struct trial {
    op_case c;
    const struct reader *reader;
    sn_type index;        /* type of the indices */
    int rank, components; /* of the array that is read; indices of a lookup */
    sn_acc array, at[MOST_RANK];
} trial;

typedef struct reader {
    const char *name;
    sn_acc (*build)(trial *t);
    int least;    /* rank of the array */
    bool linear;  /* one index, a row-major position */
    bool single;  /* only the first lookup, to one number */
    bool guarded; /* the lookup SKIPPED is not made */
    bool outer;   /* indices of all dimensions but the last */
} reader;

static sn_scalar number(const trial *t, sn_scalar x)
{
    sn_type type = t->c.op->result == OF_BOOL ? SN_BOOL : t->c.op->result == OF_OPERANDS ? t->c.type : SN_I64;
    if (t->c.op->result == OF_PAIRS) {
        x = sn_fst(x);
        type = t->c.type;
    }
    if (type == SN_BOOL)
        return sn_if(x, sn_i64(1), sn_i64(0));
    return type == SN_CHAR ? sn_to(SN_I64, sn_to_u32(x)) : sn_to(SN_I64, x);
}

/* The indices of lookup i. */
static void indices(const trial *t, sn_scalar i, sn_scalar *out)
{
    for (int d = 0; d < t->components; d++)
        out[d] = sn_index(t->at[d], i);
}

static sn_scalar read_at(const trial *t, sn_scalar i)
{
    sn_scalar at[MOST_RANK];
    indices(t, i, at);
    if (t->reader->linear)
        return number(t, sn_linear_index(t->array, at[0]));
    return number(t, sn_index_at(SN_HERE, t->array, t->rank, at));
}

static sn_scalar lookups(const trial *t)
{
    return sn_extent(t->at[0], 0);
}

static sn_scalar in_a_function(void *env, sn_scalar i)
{
    return read_at(env, i);
}

static sn_acc by_function(trial *t)
{
    return sn_generate(lookups(t), sn_closure(in_a_function, t));
}

static sn_scalar as_number(void *env, sn_scalar x)
{
    return number(env, x);
}

static sn_acc by_gather(trial *t)
{
    sn_acc where = t->components == 1 ? t->at[0] : sn_zip_at(SN_HERE, t->components, t->at);
    return sn_map(sn_closure(as_number, t), sn_gather(where, t->array));
}

static sn_scalar where_from(void *env, sn_scalar i)
{
    const trial *t = env;
    sn_scalar at[MOST_RANK];
    indices(t, i, at);
    return t->components == 1 ? at[0] : sn_tuple_at(SN_HERE, t->components, at);
}

static sn_acc by_backpermute(trial *t)
{
    return sn_map(sn_closure(as_number, t), sn_backpermute(lookups(t), sn_closure(where_from, t), t->array));
}

static sn_acc by_slice(trial *t)
{
    sn_scalar at[MOST_RANK];
    indices(t, sn_i64(0), at);
    return sn_map(sn_closure(as_number, t), sn_slice_at(SN_HERE, t->array, t->rank, at));
}

static sn_acc by_slice_of_rows(trial *t)
{
    sn_scalar at[MOST_RANK];
    indices(t, sn_i64(0), at);
    at[t->rank - 1] = SN_ALL;
    return sn_fold_all(sn_add, sn_i64(0),
                       sn_map(sn_closure(as_number, t), sn_slice_at(SN_HERE, t->array, t->rank, at)));
}

static sn_scalar add_element(void *env, sn_scalar sum, sn_scalar x)
{
    return sn_add(sum, number(env, x));
}

static sn_scalar folded_row(void *env, sn_scalar i)
{
    trial *t = env;
    sn_scalar at[MOST_RANK];
    indices(t, i, at);
    return sn_sfold_at(SN_HERE, sn_closure(add_element, t), sn_i64(0), t->array, t->rank - 1, at);
}

static sn_acc by_sequential_fold(trial *t)
{
    return sn_generate(lookups(t), sn_closure(folded_row, t));
}

typedef struct place {
    const trial *t;
    sn_scalar i;
} place;

static sn_scalar add_read(void *env, sn_scalar round, sn_scalar sum)
{
    const place *at = env;
    return sn_add(sum, sn_mul(round, read_at(at->t, at->i)));
}

static sn_scalar looped(void *env, sn_scalar i)
{
    place at = {env, i};
    return sn_loop(3, sn_closure(add_read, &at), sn_i64(1));
}

static sn_acc in_a_loop(trial *t)
{
    return sn_generate(lookups(t), sn_closure(looped, t));
}

static sn_scalar small(void *env, sn_scalar round, sn_scalar sum)
{
    (void)env, (void)sum;
    return sn_lt(round, 2);
}

static sn_scalar add_read_next(void *env, sn_scalar round, sn_scalar sum)
{
    const place *at = env;
    return sn_tuple(sn_add(round, 1), sn_add(sum, read_at(at->t, at->i)));
}

static sn_scalar while_small(void *env, sn_scalar i)
{
    place at = {env, i};
    sn_fn next = sn_closure(add_read_next, &at);
    return sn_snd(sn_while(sn_closure(small, &at), next, sn_tuple(sn_i64(0), sn_i64(5))));
}

static sn_acc in_a_while_loop(trial *t)
{
    return sn_generate(lookups(t), sn_closure(while_small, t));
}

static sn_scalar unless_skipped(void *env, sn_scalar i)
{
    return sn_if(sn_eq(i, SKIPPED), sn_i64(7), read_at(env, i));
}

static sn_acc behind_a_condition(trial *t)
{
    return sn_generate(lookups(t), sn_closure(unless_skipped, t));
}

static sn_scalar not_zero(void *env, sn_scalar i)
{
    return sn_if(sn_and(sn_ne(i, SKIPPED), sn_ne(read_at(env, i), 0)), sn_i64(1), sn_i64(2));
}

static sn_acc in_a_condition(trial *t)
{
    return sn_generate(lookups(t), sn_closure(not_zero, t));
}

static sn_acc in_a_fold(trial *t)
{
    return sn_sum(sn_generate(lookups(t), sn_closure(in_a_function, t)));
}

static sn_acc in_reverse(trial *t)
{
    return sn_reverse(sn_generate(lookups(t), sn_closure(in_a_function, t)));
}

static sn_acc turned(trial *t)
{
    sn_acc column = sn_replicate(sn_generate(lookups(t), sn_closure(in_a_function, t)), SN_ALL, 2);
    return sn_sum(sn_transpose(column));
}

static sn_acc as_seed(trial *t)
{
    return sn_fold(sn_add, read_at(t, sn_i64(0)), sn_iota(7));
}

static sn_scalar larger(void *env, sn_scalar x, sn_scalar y)
{
    return sn_max(sn_max(x, y), read_at(env, sn_i64(0)));
}

static sn_acc in_an_operator(trial *t)
{
    return sn_fold(sn_closure(larger, t), sn_i64(-5), sn_iota(70));
}

static sn_scalar same_index(void *env, sn_scalar index)
{
    (void)env;
    return sn_fst(index);
}

static sn_scalar with_the_left(void *env, sn_scalar around)
{
    (void)env;
    return sn_add(sn_at(around, 0, -1), sn_at(around, 0, 0));
}

static sn_scalar left_of_the_row(void *env, sn_scalar index)
{
    return read_at(env, sn_fst(index));
}

/* Rows of one element: what is left of each is outside. */
static sn_acc by_boundary(trial *t)
{
    sn_acc rows = sn_generate(sn_shape(lookups(t), 1), sn_closure(same_index, t));
    sn_boundary outside = sn_outside(sn_closure(left_of_the_row, t));
    return sn_reshape(lookups(t), sn_stencil(sn_closure(with_the_left, t), sn_pattern(1, 3), outside, rows));
}

static sn_scalar with_both(void *env, sn_scalar around)
{
    (void)env;
    return sn_add(sn_at(around, -1), sn_at(around, 1));
}

static sn_acc as_boundary(trial *t)
{
    sn_boundary value = sn_constant(read_at(t, sn_i64(0)));
    return sn_sum(sn_stencil(sn_closure(with_both, t), sn_pattern(3), value, sn_iota(7)));
}

static sn_scalar at_the_centre(void *env, sn_scalar around)
{
    return sn_add(sn_at(around, 1), read_at(env, sn_at(around, 0)));
}

static sn_acc in_a_stencil(trial *t)
{
    return sn_stencil(sn_closure(at_the_centre, t), sn_pattern(3), sn_clamp, sn_iota(lookups(t)));
}

static const reader readers[] = {
    {"index", by_function, 1, false, false, false, false},
    {"linear_index", by_function, 0, true, false, false, false},
    {"gather", by_gather, 1, false, false, false, false},
    {"backpermute", by_backpermute, 1, false, false, false, false},
    {"slice", by_slice, 1, false, true, false, false},
    {"slice of rows", by_slice_of_rows, 2, false, true, false, true},
    {"sfold", by_sequential_fold, 2, false, false, false, true},
    {"loop", in_a_loop, 1, false, false, false, false},
    {"while", in_a_while_loop, 1, false, false, false, false},
    {"behind a condition", behind_a_condition, 1, false, false, true, false},
    {"in a condition", in_a_condition, 1, false, false, true, false},
    {"fold", in_a_fold, 1, false, false, false, false},
    {"fold, linear", in_a_fold, 0, true, false, false, false},
    {"reverse", in_reverse, 1, false, false, false, false},
    {"transpose", turned, 1, false, false, false, false},
    {"seed", as_seed, 1, false, true, false, false},
    {"operator", in_an_operator, 1, false, true, false, false},
    {"operator, linear", in_an_operator, 0, true, true, false, false},
    {"stencil", in_a_stencil, 1, false, false, false, false},
    {"boundary", by_boundary, 1, false, false, false, false},
    {"boundary, linear", by_boundary, 0, true, false, false, false},
    {"boundary's value", as_boundary, 1, false, true, false, false},
};
enum { READERS = sizeof(readers) / sizeof(readers[0]) };

static bool to_one_number(const reader *r)
{
    return r->single || r->build == in_a_fold;
}

static sn_acc lookup_body(void *env, int count, const sn_acc *parameter)
{
    trial *t = env;
    int operands = t->c.op->operands;
    t->array = t->c.op->build(&t->c, parameter);
    for (int d = 0; d < count - operands; d++)
        t->at[d] = parameter[operands + d];
    return t->reader->build(t);
}

static sn_scalar extent_number(void *env, sn_scalar i)
{
    const trial *t = env;
    sn_scalar extent = sn_i64(1);
    for (int d = t->rank; d-- > 0;)
        extent = sn_if(sn_eq(i, d), sn_extent(t->array, d), extent);
    return extent;
}

static sn_acc extents_body(void *env, int count, const sn_acc *parameter)
{
    trial *t = env;
    (void)count;
    t->array = t->c.op->build(&t->c, parameter);
    return sn_generate(MOST_RANK, sn_closure(extent_number, t));
}

static int add_operands(const trial *t, char *out, size_t room)
{
    int n = 0;
    for (int k = 0; k < t->c.op->operands; k++) {
        n += snprintf(out + n, room - (size_t)n, k ? ", " : "");
        for (int d = 0; d < t->c.rank; d++)
            n += snprintf(out + n, room - (size_t)n, "%s%c", d ? "," : "[", "abcd"[d]);
        n += snprintf(out + n, room - (size_t)n, t->c.rank ? "]%s" : "%s", op_type_name(t->c.type));
    }
    return n;
}

static sn_program *compile(sn_context *cx, const char *signature, sn_acc (*body)(void *, int, const sn_acc *), trial *t)
{
    sn_program *p = sn_compile_env(cx, signature, body, t);
    if (!p)
        fail_msg("%s read by %s: \"%s\": %s", t->c.op->name, t->reader->name, signature, sn_message(cx));
    return p;
}

/* --- calls --- */

static const int64_t operand_extent[] = {3, 2, 4, 20}; /* the last ones, the longest innermost */

static size_t width_of(sn_type t)
{
    static const uint8_t width[] = {0, 1, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 4};
    return width[t];
}

typedef struct arguments {
    int n;
    sn_arg arg[3 + MOST_RANK + 1];
    void *data[3];
} arguments;

static void make_operands(const trial *t, arguments *a)
{
    *a = (arguments){.n = t->c.op->operands};
    for (int k = 0; k < a->n; k++) {
        size_t size = 1, width = width_of(t->c.type);
        a->arg[k] = (sn_arg){.kind = SN_ARG_IN, .type = t->c.type, .rank = t->c.rank};
        for (int d = 0; d < t->c.rank; d++) {
            a->arg[k].extent[d] = operand_extent[4 - t->c.rank + d];
            size *= (size_t)a->arg[k].extent[d];
        }
        unsigned char *data = a->data[k] = calloc(size, width);
        assert_non_null(data);
        for (size_t i = 0; i < size; i++)
            data[i * width] = (unsigned char)(t->c.type == SN_BOOL ? pick(2) : pick(100));
        a->arg[k].u.from = data;
    }
}

static void drop_operands(arguments *a)
{
    for (int k = 0; k < 3; k++)
        free(a->data[k]);
}

typedef struct answer {
    sn_status status;
    char message[512];
    int64_t value[LOOKUPS];
} answer;

static answer ask(int way, sn_program *p, const trial *t, const arguments *a)
{
    answer r = {.status = SN_OK};
    arguments all = *a;
    sn_arg *into = &all.arg[all.n];
    bool one = to_one_number(t->reader);
    *into = (sn_arg){.kind = SN_ARG_INTO, .type = SN_I64, .rank = 1, .u = {.to = r.value}};
    into->extent[0] = LOOKUPS;
    if (one)
        *into = (sn_arg){.kind = SN_ARG_VALUE, .type = SN_I64, .u = {.to = r.value}};
    else if (t->reader->build == turned)
        into->extent[0] = 2;
    r.status = sn_call_n(p, all.n + 1, all.arg);
    snprintf(r.message, sizeof(r.message), "%s", r.status == SN_OK ? "" : sn_message(test.way[way]));
    return r;
}

typedef struct wrong_index {
    int lookup, dimension;
    uint64_t bits;
} wrong_index;

static void complain(const trial *t, const wrong_index *w, int way, const answer *got, const answer *wanted)
{
    fprintf(stderr, "%s of %s, rank %d, read by %s, indices of %s", t->c.op->name, op_type_name(t->c.type), t->c.rank,
            t->reader->name, op_type_name(t->index));
    if (w)
        fprintf(stderr, ", %lld in dimension %d of lookup %d", (long long)w->bits, w->dimension, w->lookup);
    fprintf(stderr, ", %s:\n  %s %s\n  wanted: %s %s\n", way_name[way], sn_status_name(got->status), got->message,
            sn_status_name(wanted->status), wanted->message);
    for (int i = 0; i < LOOKUPS && got->status == SN_OK && wanted->status == SN_OK; i++)
        fprintf(stderr, "  %lld, wanted %lld\n", (long long)got->value[i], (long long)wanted->value[i]);
    test.failures++;
}

/* Calls the program in all ways, with one wrong index or none. */
static void compare(const trial *t, sn_program *const *program, const arguments *a, const wrong_index *w)
{
    bool left_out = w && t->reader->guarded && w->lookup == SKIPPED;
    answer wanted = ask(0, program[0], t, a);
    bool sane = (wanted.status == SN_OUT_OF_RANGE) == (w && !left_out);
    if (!sane || (wanted.status != SN_OK && wanted.status != SN_OUT_OF_RANGE))
        complain(t, w, 0, &wanted, &(answer){.status = w && !left_out ? SN_OUT_OF_RANGE : SN_OK});
    for (int k = 1; k < WAYS; k++) {
        answer got = ask(k, program[k], t, a);
        bool same = got.status == wanted.status && !strcmp(got.message, wanted.message) &&
                    (got.status != SN_OK || !memcmp(got.value, wanted.value, sizeof(got.value)));
        if (!same)
            complain(t, w, k, &got, &wanted);
    }
    test.wrong += w != NULL;
}

/* --- wrong indices --- */

static unsigned bits_of(sn_type t)
{
    return (unsigned)width_of(t) * 8;
}

static bool is_signed(sn_type t)
{
    return t <= SN_I64;
}

/* Is a number (of 64 bits, signed or not as the type is) one of the type's, and outside the extent? */
static bool fits(sn_type t, int64_t extent, uint64_t v)
{
    unsigned unused = 64 - bits_of(t);
    uint64_t back = is_signed(t) ? (uint64_t)((int64_t)(v << unused) >> unused) : v << unused >> unused;
    bool inside = is_signed(t) ? (int64_t)v >= 0 && (int64_t)v < extent : v < (uint64_t)extent;
    return back == v && !inside;
}

enum { KINDS = 12 };

/* The k-th wrong index into an extent. */
static uint64_t wrong_value(sn_type t, int64_t extent, int k)
{
    unsigned bits = bits_of(t);
    uint64_t n = (uint64_t)extent, half = 1ull << (bits - 1), inside = n ? n - 1 : 0;
    const uint64_t value[KINDS] = {is_signed(t) ? UINT64_MAX : half + half - 1,
                                   n,
                                   n + 1000003,
                                   is_signed(t) ? 0 - half : half,
                                   is_signed(t) ? half - 1 : half + 1,
                                   (1ull << 32) + inside,
                                   0 - (1ull << 32) + inside,
                                   (1ull << 32) + n,
                                   (1ull << 31) + inside,
                                   0 - n,
                                   0 - (1ull << 31),
                                   (1ull << 63) + inside};
    return value[k];
}

/* Right indices of all lookups, but for one. */
static void make_indices(const trial *t, const int64_t *extent, const wrong_index *w, arguments *a,
                         uint64_t (*data)[LOOKUPS])
{
    size_t width = width_of(t->index);
    a->n = t->c.op->operands;
    for (int d = 0; d < t->components; d++, a->n++) {
        char *at = (char *)data[d];
        for (int i = 0; i < LOOKUPS; i++) {
            uint64_t v = extent[d] ? (uint64_t)((d + 3 * i) % (extent[d] > 100 ? 100 : extent[d])) : 0;
            if (w && w->lookup == i && w->dimension == d)
                v = w->bits;
            memcpy(at + (size_t)i * width, &v, width); /* the low bytes */
        }
        a->arg[a->n] = (sn_arg){.kind = SN_ARG_IN, .type = t->index, .rank = 1, .u = {.from = at}};
        a->arg[a->n].extent[0] = LOOKUPS;
    }
}

static void check_indices(const trial *t, const int64_t *extent, sn_program *const *program, arguments *a)
{
    uint64_t data[MOST_RANK][LOOKUPS];
    bool empty = false;
    for (int d = 0; d < t->components; d++)
        empty |= extent[d] == 0;
    make_indices(t, extent, NULL, a, data);
    if (!empty)
        compare(t, program, a, NULL);
    static const int lookup[] = {0, SKIPPED, LOOKUPS - 1};
    for (int d = 0; d < t->components; d++)
        for (int k = 0; k < KINDS; k++)
            for (int i = 0; i < (t->reader->single ? 1 : 3); i++) {
                wrong_index w = {lookup[i], d, wrong_value(t->index, extent[d], k)};
                if (!fits(t->index, extent[d], w.bits) || (empty && (t->components > 1 || i)))
                    continue;
                make_indices(t, extent, &w, a, data);
                compare(t, program, a, &w);
            }
}

/* --- trials --- */

/* Extents of the array that is read; of linear readers, its size. False if there is nothing to choose from. */
static bool find_extents(trial *t, arguments *a, int64_t *extent)
{
    char signature[256];
    int n = add_operands(t, signature, sizeof(signature));
    snprintf(signature + n, sizeof(signature) - (size_t)n, " -> [x]i64");
    sn_program *p = compile(test.way[0], signature, extents_body, t);
    arguments all = *a;
    all.arg[all.n] = (sn_arg){.kind = SN_ARG_INTO, .type = SN_I64, .rank = 1, .u = {.to = extent}};
    all.arg[all.n].extent[0] = MOST_RANK;
    assert_int_equal(sn_call_n(p, all.n + 1, all.arg), SN_OK);
    sn_drop(p);
    for (int d = 1; d < t->rank && t->reader->linear; d++)
        extent[0] *= extent[d];
    return !t->reader->outer || extent[t->rank - 1] > 0; /* of an empty row no element is read */
}

static void check_trial(trial *t)
{
    char signature[512];
    arguments a;
    int64_t extent[MOST_RANK];
    sn_program *program[WAYS];
    make_operands(t, &a);
    if (find_extents(t, &a, extent)) {
        int n = add_operands(t, signature, sizeof(signature));
        for (int d = 0; d < t->components; d++)
            n += snprintf(signature + n, sizeof(signature) - (size_t)n, ", [k]%s", op_type_name(t->index));
        snprintf(signature + n, sizeof(signature) - (size_t)n, to_one_number(t->reader) ? " -> i64" : " -> [r]i64");
        for (int k = 0; k < WAYS; k++)
            program[k] = compile(test.way[k], signature, lookup_body, t);
        check_indices(t, extent, program, &a);
        for (int k = 0; k < WAYS; k++)
            sn_drop(program[k]);
        test.tried++;
    }
    drop_operands(&a);
}

/* False if the reader does not suit the rank. */
static bool set_reader(trial *t, const reader *r)
{
    t->reader = r;
    t->rank = t->c.op->rank >= TO_RANK(0) ? t->c.op->rank - TO_RANK(0) : t->c.rank + t->c.op->rank;
    t->components = r->linear ? 1 : r->outer ? t->rank - 1 : t->rank;
    return t->rank >= r->least;
}

/* Sums of floats may differ in their last bits: whole numbers will do. */
static bool set_type(trial *t, sn_type type)
{
    t->c.type = type;
    return type != SN_F32 && type != SN_F64 && t->c.op->types >> type & 1;
}

static void check_all_of(const array_op *op, const reader *r)
{
    trial t = {.c = {.op = op}};
    for (int type = SN_BOOL; type <= SN_CHAR; type++)
        for (t.c.rank = op->least; t.c.rank <= op->most; t.c.rank++)
            for (t.index = SN_I8; t.index <= SN_U64; t.index++) {
                bool usual = type == SN_I32 || type == SN_BOOL, wide = t.index == SN_I64 || t.index == SN_U64;
                bool simple = t.c.rank == (op->least > 1 ? op->least : 1);
                if ((usual && wide) || (type == SN_I32 && simple) || (t.index == SN_I64 && simple))
                    if (set_type(&t, (sn_type)type) && set_reader(&t, r))
                        check_trial(&t);
            }
}

static void check_one_of(const array_op *op, const reader *r)
{
    trial t = {.c = {.op = op}};
    do
        t.c.rank = op->least + (int)pick((uint32_t)(op->most - op->least + 1));
    while (t.c.rank == 4 && pick(2));
    t.index = pick(2) ? SN_I64 : (sn_type)(SN_I8 + pick(SN_U64 - SN_I8 + 1));
    if (!pick(2) && set_type(&t, SN_I32)) {
        if (set_reader(&t, r))
            check_trial(&t);
        return;
    }
    while (!set_type(&t, (sn_type)(SN_BOOL + pick(SN_CHAR))))
        ;
    if (set_reader(&t, r))
        check_trial(&t);
}

static bool is_wanted(const char *variable, const char *name)
{
    const char *only = getenv(variable);
    return !only || !strcmp(only, name);
}

static void wrong_indices(void **state)
{
    (void)state;
    if (!test.way[1])
        skip();
    bool sample = getenv("SINTER_TEST_SAMPLE") != NULL, takes_long = getenv("SINTER_TEST_LONG") != NULL;
    bool complete = takes_long && !sample;
    uint32_t one_in = !sample || takes_long ? 30 : 600;
    if (getenv("SINTER_TEST_OP") || getenv("SINTER_TEST_READER"))
        one_in = 1;
    for (int k = 0; k < array_ops_count; k++)
        for (int r = 0; r < READERS; r++) {
            if (!is_wanted("SINTER_TEST_OP", array_ops[k].name) || !is_wanted("SINTER_TEST_READER", readers[r].name))
                continue;
            if (complete)
                check_all_of(&array_ops[k], &readers[r]);
            else if (!pick(one_in))
                check_one_of(&array_ops[k], &readers[r]);
        }
    print_message("%u programs, %u wrong indices\n", test.tried, test.wrong);
    assert_int_equal(test.failures, 0);
}

/* --- arithmetic in 32 bits: indices that are 0 to 2^32 more than what is inside --- */

static sn_scalar by_literals(void *env, sn_scalar i)
{
    return sn_index(*(const sn_acc *)env, sn_add(sn_mul(sn_mul(i, 65536), 65536), 3));
}

static sn_scalar by_extents(void *env, sn_scalar i)
{
    sn_scalar n = sn_size(*(const sn_acc *)env), square = sn_mul(n, n);
    return sn_linear_index(*(const sn_acc *)env, sn_add(sn_mul(sn_mul(i, square), square), 3));
}

static sn_scalar below(void *env, sn_scalar i)
{
    return sn_index(*(const sn_acc *)env, sn_sub(sn_mul(sn_mul(i, -65536), 65536), -3));
}

typedef sn_scalar (*far_read)(void *env, sn_scalar i);

static sn_acc far_away(void *env, int count, const sn_acc *parameter)
{
    sn_acc a = parameter[0];
    (void)count;
    return sn_generate(sn_extent(a, 0), sn_closure(*(far_read *)env, &a));
}

static void indices_do_not_wrap(void **state)
{
    far_read f[] = {by_literals, by_extents, below};
    static const char *const said[] = {"index 4294967299 is outside the extent 256, at element 1",
                                       "index 4294967299 is outside the extent 256, at element 1",
                                       "index -4294967293 is outside the extent 256, at element 1"};
    float a[256] = {0}, r[256];
    (void)state;
    if (!test.way[1])
        skip();
    for (size_t k = 0; k < sizeof(f) / sizeof(f[0]); k++)
        for (int way = 0; way < WAYS; way++) {
            sn_program *p = sn_compile_env(test.way[way], "[n]f32 -> [n]f32", far_away, &f[k]);
            if (!p)
                fail_msg("%s", sn_message(test.way[way]));
            assert_int_equal(sn_call(p, sn_in(a, 256), sn_into(r, 256)), SN_OUT_OF_RANGE);
            if (!strstr(sn_message(test.way[way]), said[k]))
                fail_msg("%s: \"%s\" is not in \"%s\"", way_name[way], said[k], sn_message(test.way[way]));
            sn_drop(p);
        }
}

/* An unsigned constant that is no number of 64 bits with a sign. */
static sn_acc at_the_largest_place(sn_acc a)
{
    return sn_unit(sn_index(sn_map(sn_sqrt, a), sn_u64(UINT64_MAX)));
}

static void unsigned_indices_are_reported_so(void **state)
{
    float a[2] = {1, 2}, r;
    (void)state;
    for (int way = 0; way < WAYS && test.way[way]; way++) {
        sn_program *p = sn_compile(test.way[way], "[n]f32 -> f32", at_the_largest_place);
        if (!p)
            fail_msg("%s", sn_message(test.way[way]));
        assert_int_equal(sn_call(p, sn_in(a, 2), sn_value(&r)), SN_OUT_OF_RANGE);
        assert_non_null(strstr(sn_message(test.way[way]), "index 18446744073709551615 is outside the extent 2"));
        sn_drop(p);
    }
}

static void drop_message(void *env, const char *said)
{
    (void)env, (void)said;
}

static int open_all(void **state)
{
    (void)state;
    sn_options o = {.size = sizeof(o), .contract = SN_OFF, .device = "interpreter"};
    test.way[0] = sn_open(&o);
    o.device = "cpu";
    o.message = drop_message;
    test.way[1] = sn_open(&o);
    o.fusion = SN_OFF;
    test.way[2] = sn_open(&o);
    test.random = getenv("SINTER_TEST_SEED") ? strtoull(getenv("SINTER_TEST_SEED"), NULL, 10) : 1;
    return test.way[0] ? 0 : -1;
}

static int close_all(void **state)
{
    (void)state;
    for (int k = 0; k < WAYS; k++)
        sn_close(test.way[k]);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(wrong_indices), cmocka_unit_test(indices_do_not_wrap),
                                       cmocka_unit_test(unsigned_indices_are_reported_so)};
    return cmocka_run_group_tests(tests, open_all, close_all);
}
