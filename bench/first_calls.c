/* First calls of single operations. A case is a child that opens a context, compiles and calls once, with no cache on
 * disk; what counts is its processor time, to which other work on the machine adds least. */
#include "first_calls.h"

#include <sinter/sinter.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_RANK = 4, TRIES = 5 };

struct type {
    const char *name;
    sn_type type;
    size_t bytes;
};

static const struct type types[] = {{"bool", SN_BOOL, 1}, {"i8", SN_I8, 1},   {"u8", SN_U8, 1},   {"i16", SN_I16, 2},
                                    {"u16", SN_U16, 2},   {"i32", SN_I32, 4}, {"u32", SN_U32, 4}, {"char", SN_CHAR, 4},
                                    {"f32", SN_F32, 4},   {"i64", SN_I64, 8}, {"u64", SN_U64, 8}, {"f64", SN_F64, 8}};

struct shape {
    int rank;
    size_t extent[MOST_RANK];
};

/* Rows that are longer than a gang, and rows that are shorter. */
static const struct shape shapes[] = {{1, {10007}},     {2, {61, 157}},     {2, {1009, 7}},     {3, {5, 17, 103}},
                                      {3, {13, 31, 6}}, {4, {3, 5, 7, 91}}, {4, {3, 11, 13, 5}}};

struct subject { /* what an operation is applied to */
    const struct type *type;
    int rank;
};

/* --- the operations --- */

static int is(const struct subject *s, const char *type)
{
    return strcmp(s->type->name, type) == 0;
}

static sn_scalar next_value(void *env, sn_scalar x)
{
    const struct subject *s = env;
    if (is(s, "bool"))
        return sn_not(x);
    return is(s, "char") ? sn_if(sn_eq(x, sn_char('a')), sn_char('b'), x) : sn_add(x, 1);
}

static sn_scalar combined(void *env, sn_scalar x, sn_scalar y)
{
    const struct subject *s = env;
    if (is(s, "bool"))
        return sn_lor(x, y);
    return is(s, "char") ? sn_if(sn_lt(x, y), x, y) : sn_add(x, y);
}

static sn_acc mapped(void *env, int count, const sn_acc *in)
{
    (void)count;
    return sn_map(sn_closure(next_value, env), in[0]);
}

static sn_acc zipped(void *env, int count, const sn_acc *in)
{
    (void)count;
    return sn_zip_with(sn_closure(combined, env), in[0], in[1]);
}

static sn_acc folded(void *env, int count, const sn_acc *in)
{
    (void)count;
    return sn_fold1(sn_commutative(sn_closure(combined, env)), in[0]);
}

static sn_acc repeated(const struct subject *s, sn_acc in, int place)
{
    sn_scalar dimension[MOST_RANK + 1];
    for (int d = 0; d <= s->rank; d++)
        dimension[d] = d == place ? sn_i64(3) : SN_ALL;
    return sn_replicate_at(SN_HERE, in, s->rank + 1, dimension);
}

static sn_acc repeated_rows(void *env, int count, const sn_acc *in)
{
    (void)count;
    return repeated(env, in[0], 0);
}

static sn_acc repeated_elements(void *env, int count, const sn_acc *in)
{
    const struct subject *s = env;
    (void)count;
    return repeated(s, in[0], s->rank);
}

static sn_acc transposed(void *env, int count, const sn_acc *in)
{
    (void)env, (void)count;
    return sn_transpose(in[0]);
}

static sn_acc reversed(void *env, int count, const sn_acc *in)
{
    (void)env, (void)count;
    return sn_reverse(in[0]);
}

static sn_acc rotated(void *env, int count, const sn_acc *in)
{
    (void)env, (void)count;
    return sn_rotate(3, in[0]);
}

static sn_acc taken(void *env, int count, const sn_acc *in)
{
    (void)env, (void)count;
    return sn_take(4, in[0]);
}

static sn_acc skipped(void *env, int count, const sn_acc *in)
{
    (void)env, (void)count;
    return sn_skip(2, in[0]);
}

static sn_acc sliced(const struct subject *s, sn_acc in, int place)
{
    sn_scalar dimension[MOST_RANK];
    for (int d = 0; d < s->rank; d++)
        dimension[d] = d == place ? sn_i64(1) : SN_ALL;
    return sn_slice_at(SN_HERE, in, s->rank, dimension);
}

static sn_acc a_row(void *env, int count, const sn_acc *in)
{
    (void)count;
    return sliced(env, in[0], 0);
}

static sn_acc a_column(void *env, int count, const sn_acc *in)
{
    const struct subject *s = env;
    (void)count;
    return sliced(s, in[0], s->rank - 1);
}

/* The outermost extent becomes the innermost one. */
static sn_acc reshaped(void *env, int count, const sn_acc *in)
{
    const struct subject *s = env;
    sn_scalar extent[MOST_RANK];
    (void)count;
    for (int d = 0; d < s->rank; d++)
        extent[d] = sn_extent(in[0], (d + 1) % s->rank);
    return sn_map(sn_closure(next_value, env), sn_reshape(sn_shape_at(SN_HERE, s->rank, extent), in[0]));
}

static sn_acc gathered(void *env, int count, const sn_acc *in)
{
    (void)env, (void)count;
    return sn_gather(in[1], sn_flatten(in[0]));
}

/* The sum of an element and its neighbours along each dimension. */
static sn_scalar around(void *env, sn_scalar neighbours)
{
    const struct subject *s = env;
    sn_scalar sum = sn_neighbour_at(SN_HERE, neighbours, s->rank, (int[3]){0});
    for (int k = 0; k < 2 * s->rank; k++) {
        int offset[3] = {0};
        offset[k / 2] = k % 2 ? 1 : -1;
        sum = combined(env, sum, sn_neighbour_at(SN_HERE, neighbours, s->rank, offset));
    }
    return sum;
}

static sn_acc stencil(const struct subject *s, sn_acc in, sn_boundary boundary)
{
    sn_pattern p = {s->rank, {3, 3, 3}};
    return sn_stencil(sn_closure(around, (void *)s), p, boundary, in);
}

static sn_acc clamped(void *env, int count, const sn_acc *in)
{
    (void)count;
    return stencil(env, in[0], sn_clamp);
}

static sn_acc mirrored(void *env, int count, const sn_acc *in)
{
    (void)count;
    return stencil(env, in[0], sn_mirror);
}

static sn_acc wrapped(void *env, int count, const sn_acc *in)
{
    (void)count;
    return stencil(env, in[0], sn_wrap);
}

static sn_acc scanned(void *env, int count, const sn_acc *in)
{
    (void)count;
    return sn_scanl1(sn_closure(combined, env), in[0]);
}

static sn_acc scanned_from_right(void *env, int count, const sn_acc *in)
{
    (void)count;
    return sn_prescanr(sn_closure(combined, env), 1, in[0]);
}

/* An affine map after another: keeps order. */
static sn_scalar after(sn_scalar f, sn_scalar g)
{
    return sn_tuple(sn_mul(sn_fst(f), sn_fst(g)), sn_add(sn_mul(sn_snd(f), sn_fst(g)), sn_snd(g)));
}

static sn_scalar pair_of(sn_scalar x)
{
    return sn_tuple(x, sn_add(x, 1));
}

static sn_scalar second_of(sn_scalar x)
{
    return sn_snd(x);
}

static sn_acc scanned_pairs(void *env, int count, const sn_acc *in)
{
    (void)env, (void)count;
    return sn_map(second_of, sn_scanl1(after, sn_map(pair_of, in[0])));
}

static sn_scalar is_positive(sn_scalar x)
{
    return sn_gt(x, 0);
}

static sn_acc kept(void *env, int count, const sn_acc *in)
{
    (void)env, (void)count;
    return sn_filter(is_positive, in[0]);
}

/* What is kept, and what is made of it in the same loop. */
static sn_acc kept_and_scanned(void *env, int count, const sn_acc *in)
{
    (void)count;
    return sn_scanl1(sn_closure(combined, env), sn_filter(is_positive, in[0]));
}

struct operation {
    const char *name;
    sn_acc (*body)(void *env, int count, const sn_acc *in);
    int least, most; /* ranks of its operand */
    int change;      /* of the rank */
    char second;     /* operand: 's' the same type, 'i' indices */
    int group;       /* FIRST_SCANS: of a few types only */
};

static const struct operation operations[] = {
    {"map", mapped, 1, 4, 0, 0, FIRST_SINGLE},
    {"zip", zipped, 1, 4, 0, 's', FIRST_SINGLE},
    {"fold", folded, 1, 4, -1, 0, FIRST_SINGLE},
    {"replicate rows", repeated_rows, 1, 3, 1, 0, FIRST_SINGLE},
    {"replicate elements", repeated_elements, 1, 3, 1, 0, FIRST_SINGLE},
    {"transpose", transposed, 2, 4, 0, 0, FIRST_SINGLE},
    {"reverse", reversed, 1, 4, 0, 0, FIRST_SINGLE},
    {"rotate", rotated, 1, 4, 0, 0, FIRST_SINGLE},
    {"take", taken, 1, 4, 0, 0, FIRST_SINGLE},
    {"skip", skipped, 1, 4, 0, 0, FIRST_SINGLE},
    {"slice row", a_row, 1, 4, -1, 0, FIRST_SINGLE},
    {"slice column", a_column, 2, 4, -1, 0, FIRST_SINGLE},
    {"reshape", reshaped, 1, 4, 0, 0, FIRST_SINGLE},
    {"gather", gathered, 1, 4, 0, 'i', FIRST_SINGLE},
    {"stencil, clamped", clamped, 1, 3, 0, 0, FIRST_SINGLE},
    {"stencil, mirrored", mirrored, 1, 3, 0, 0, FIRST_SINGLE},
    {"stencil, wrapped", wrapped, 1, 3, 0, 0, FIRST_SINGLE},
    {"scan", scanned, 1, 2, 0, 0, FIRST_SCANS},
    {"scan from the right", scanned_from_right, 1, 1, 0, 0, FIRST_SCANS},
    {"scan of pairs", scanned_pairs, 1, 1, 0, 0, FIRST_SCANS},
    {"filter", kept, 1, 1, 0, 0, FIRST_SCANS},
    {"scan of a filter", kept_and_scanned, 1, 1, 0, 0, FIRST_SCANS},
};

/* --- a case --- */

struct one_case {
    const struct operation *operation;
    const struct shape *shape;
    struct subject subject;
};

static size_t size_of(const struct shape *s)
{
    size_t n = 1;
    for (int d = 0; d < s->rank; d++)
        n *= s->extent[d];
    return n;
}

static void add_type(char *to, size_t room, int rank, char first, const char *type)
{
    size_t n = strlen(to);
    for (int d = 0; d < rank; d++)
        n += (size_t)snprintf(to + n, room - n, "%c%c", d ? ',' : '[', first + d);
    snprintf(to + n, room - n, "%s%s", rank ? "]" : "", type);
}

static void signature_of(const struct one_case *c, char *to, size_t room)
{
    const struct operation *o = c->operation;
    const char *type = c->subject.type->name;
    to[0] = '\0';
    add_type(to, room, c->shape->rank, 'a', type);
    if (o->second) {
        strncat(to, ", ", room - strlen(to) - 1);
        add_type(to, room, c->shape->rank, 'a', o->second == 'i' ? "i64" : type);
    }
    strncat(to, " -> ", room - strlen(to) - 1);
    add_type(to, room, c->shape->rank + o->change, 'p', type);
}

static sn_arg argument(const void *data, sn_type type, const struct shape *s)
{
    sn_arg a = {.kind = SN_ARG_IN, .type = type, .rank = s->rank, .u = {.from = data}};
    for (int d = 0; d < s->rank; d++)
        a.extent[d] = (int64_t)s->extent[d];
    return a;
}

static double processor_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* In the child: the time of opening, compiling and calling; 0 after a message. */
static double timed(struct one_case *c)
{
    size_t n = size_of(c->shape);
    char signature[128];
    void *data = calloc(n, c->subject.type->bytes), *indices = calloc(n, sizeof(int64_t));
    sn_array *result = NULL;
    signature_of(c, signature, sizeof(signature));
    double start = processor_ms();
    sn_context *cx = sn_open(&(sn_options){.size = sizeof(sn_options), .device = "cpu"});
    sn_program *p = cx ? sn_compile_env(cx, signature, c->operation->body, &c->subject) : NULL;
    sn_arg arguments[3] = {argument(data, c->subject.type->type, c->shape)};
    int count = 1;
    if (c->operation->second == 's')
        arguments[count++] = arguments[0];
    if (c->operation->second == 'i')
        arguments[count++] = argument(indices, SN_I64, c->shape);
    arguments[count++] = sn_keep(&result);
    sn_status status = p && data && indices ? sn_call_n(p, count, arguments) : SN_NO_MEMORY;
    double took = processor_ms() - start;
    if (status != SN_OK)
        fprintf(stderr, "latency: %s, %s: %.300s\n", c->operation->name, signature, cx ? sn_message(cx) : "no context");
    sn_free(result);
    sn_drop(p);
    sn_close(cx);
    free(data);
    free(indices);
    return status == SN_OK ? took : 0;
}

/* In milliseconds; 0 after a message. */
static double run_case(struct one_case *c)
{
    int ends[2];
    double ms = 0;
    fflush(stdout);
    if (pipe(ends))
        return 0;
    pid_t pid = fork();
    if (pid == 0) {
        setenv("SINTER_CACHE", "off", 1);
        ms = timed(c);
        _exit(write(ends[1], &ms, sizeof(ms)) != (ssize_t)sizeof(ms));
    }
    close(ends[1]);
    if (pid < 0 || read(ends[0], &ms, sizeof(ms)) != (ssize_t)sizeof(ms))
        ms = 0;
    close(ends[0]);
    if (pid > 0)
        waitpid(pid, NULL, 0);
    return ms;
}

static void name_of(const struct one_case *c, char *to, size_t room)
{
    const struct shape *s = c->shape;
    int n = snprintf(to, room, "%s, [", c->operation->name);
    for (int d = 0; d < s->rank; d++)
        n += snprintf(to + n, room - (size_t)n, "%s%zu", d ? "," : "", s->extent[d]);
    snprintf(to + n, room - (size_t)n, "]%s", c->subject.type->name);
}

/* Of scans and filters some types tell of all others. */
static int is_measured(const struct operation *o, const struct shape *s, const struct type *t)
{
    static const char *const few[] = {"f32", "i32", "u8", "f64"};
    int listed = o->group != FIRST_SCANS;
    for (size_t i = 0; i < sizeof(few) / sizeof(*few); i++)
        listed |= strcmp(t->name, few[i]) == 0;
    return listed && s->rank >= o->least && s->rank <= o->most;
}

static int measure(const char *only, double budget_ms, struct one_case *c, struct first_call *to)
{
    name_of(c, to->name, sizeof(to->name));
    if (only && !strstr(to->name, only))
        return 0;
    to->group = c->operation->group;
    to->ms = run_case(c);
    for (int i = 1; i < TRIES && to->ms > budget_ms; i++) {
        double again = run_case(c);
        to->ms = again > 0 && again < to->ms ? again : to->ms;
    }
    return to->ms > 0 ? 1 : -1;
}

enum {
    TYPES = sizeof(types) / sizeof(*types),
    SHAPES = sizeof(shapes) / sizeof(*shapes),
    OPERATIONS = sizeof(operations) / sizeof(*operations)
};

int first_calls(const char *only, double budget_ms, struct first_call **list)
{
    int n = 0;
    *list = calloc(OPERATIONS * TYPES * SHAPES, sizeof(**list));
    for (int o = 0; *list && o < OPERATIONS; o++)
        for (int t = 0; t < TYPES; t++)
            for (int k = 0; k < SHAPES; k++) {
                struct one_case c = {&operations[o], &shapes[k], {&types[t], shapes[k].rank}};
                if (!is_measured(c.operation, c.shape, &types[t]))
                    continue;
                int measured = measure(only, budget_ms, &c, &(*list)[n]);
                if (measured < 0)
                    return -1;
                n += measured;
            }
    return *list ? n : -1;
}
