#include "large.h"

#include <sinter/sinter.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { ELEMENTS = 4, ALIVE = 200, LEAVES_FROM = 4, TABLE = 97, MOST_PARAMETERS = 16384 };

const large_program large_programs[] = {
    {"scalar chain", 40000, 4000, 2},   {"scalar wide", 40000, 4000, 2},      {"scalar tree", 40000, 4000, 2},
    {"dependent reads", 1000, 4000, 0}, {"zip of parameters", 1000, 2000, 0}, {"zip of parameters", 3000, 2000, 2},
    {"chain of maps", 100000, 2000, 2}, {"tree of leaves", 100000, 2000, 2},
};
const int large_count = sizeof(large_programs) / sizeof(large_programs[0]);

/* --- one scalar function --- */

/* Operations that keep values between -64 and 64; which one and its constant depend on its number. */
static float constant(int i)
{
    return (float)(i % 29) * 0.125f - 1.5f;
}

static sn_scalar operation(int i, sn_scalar x, sn_scalar y)
{
    switch (i & 3) {
    case 0:
        return sn_add(x, y);
    case 1:
        return sn_mul(x, 0.5f);
    case 2:
        return sn_sub(y, x);
    default:
        return sn_min(x, y);
    }
}

static float operation_in_c(int i, float x, float y)
{
    switch (i & 3) {
    case 0:
        return x + y;
    case 1:
        return x * 0.5f;
    case 2:
        return y - x;
    default:
        return fminf(x, y);
    }
}

static sn_scalar chain(void *env, sn_scalar x)
{
    const int *n = env;
    for (int i = 0; i < *n; i++)
        x = operation(i, x, sn_f32(constant(i)));
    return x;
}

static float chain_in_c(int n, float x)
{
    for (int i = 0; i < n; i++)
        x = operation_in_c(i, x, constant(i));
    return x;
}

/* Rows of values of which each depends on two of the row before: so many are alive at a time. */
static sn_scalar wide(void *env, sn_scalar x)
{
    const int *n = env;
    sn_scalar row[2][ALIVE], sum;
    for (int i = 0; i < ALIVE; i++)
        row[0][i] = row[1][i] = sn_add(x, constant(i));
    for (int i = 0; i < *n; i++) {
        sn_scalar *to = row[i / ALIVE % 2], *from = row[1 - i / ALIVE % 2];
        to[i % ALIVE] = operation(i / ALIVE, from[i % ALIVE], from[(i + 7) % ALIVE]);
    }
    sum = row[0][0];
    for (int i = 1; i < ALIVE; i++)
        sum = sn_max(sum, row[0][i]);
    return sum;
}

static float wide_in_c(int n, float x)
{
    float row[2][ALIVE], sum;
    for (int i = 0; i < ALIVE; i++)
        row[0][i] = row[1][i] = x + constant(i);
    for (int i = 0; i < n; i++) {
        float *to = row[i / ALIVE % 2], *from = row[1 - i / ALIVE % 2];
        to[i % ALIVE] = operation_in_c(i / ALIVE, from[i % ALIVE], from[(i + 7) % ALIVE]);
    }
    sum = row[0][0];
    for (int i = 1; i < ALIVE; i++)
        sum = fmaxf(sum, row[0][i]);
    return sum;
}

/* A balanced tree; what its leaves are depends on their number. */
static sn_scalar tree(void *env, sn_scalar x)
{
    const int *n = env;
    int leaves = *n / 2;
    sn_scalar *at = malloc((size_t)leaves * sizeof(*at)), root = x;
    for (int i = 0; at && i < leaves; i++)
        at[i] = sn_add(x, (float)i * 0.25f);
    for (; at && leaves > 1; leaves = (leaves + 1) / 2)
        for (int i = 0; i < leaves; i += 2)
            at[i / 2] = i + 1 < leaves ? sn_max(at[i], at[i + 1]) : at[i];
    if (at)
        root = at[0];
    free(at);
    return root;
}

static float tree_in_c(int n, float x)
{
    return x + (float)(n / 2 - 1) * 0.25f;
}

static sn_acc map_chain(void *env, int count, const sn_acc *in)
{
    (void)count;
    return sn_map(sn_closure(chain, env), in[0]);
}

static sn_acc map_wide(void *env, int count, const sn_acc *in)
{
    (void)count;
    return sn_map(sn_closure(wide, env), in[0]);
}

static sn_acc map_tree(void *env, int count, const sn_acc *in)
{
    (void)count;
    return sn_map(sn_closure(tree, env), in[0]);
}

/* --- reads --- */

typedef struct follow {
    sn_acc table;
    int n;
} follow;

static sn_scalar follow_reads(void *env, sn_scalar x)
{
    const follow *f = env;
    for (int i = 0; i < f->n; i++)
        x = sn_linear_index(f->table, x);
    return x;
}

static sn_acc reads(void *env, int count, const sn_acc *in)
{
    (void)count;
    follow f = {in[1], *(int *)env};
    return sn_map(sn_closure(follow_reads, &f), in[0]);
}

/* --- arrays --- */

static sn_scalar sum_of(void *env, int count, const sn_scalar *x)
{
    (void)env;
    sn_scalar sum = x[0];
    for (int i = 1; i < count; i++)
        sum = sn_add(sum, x[i]);
    return sum;
}

static sn_acc zip(void *env, int count, const sn_acc *in)
{
    sn_acc *at = malloc((size_t)count * sizeof(*at)), root = in[0];
    (void)env;
    for (int i = 0; at && i < count; i++)
        at[i] = in[i];
    for (int left = count; at && left > 1;) {
        int made = 0;
        for (int i = 0; i < left; i += 9, made++) {
            int n = left - i < 9 ? left - i : 9;
            at[made] = n == 1 ? at[i] : sn_zip_with_at(SN_HERE, SN_FN(sn_closure(sum_of, NULL)), n, at + i);
        }
        left = made;
    }
    if (at)
        root = at[0];
    free(at);
    return root;
}

static sn_scalar one_operation(void *env, sn_scalar x)
{
    int i = *(int *)env;
    return operation(i, x, sn_f32(constant(i)));
}

static sn_acc maps(void *env, int count, const sn_acc *in)
{
    sn_acc x = in[0];
    (void)count;
    for (int i = 0; i < *(int *)env; i++)
        x = sn_map(sn_closure(one_operation, &i), x);
    return x;
}

/* Which parameter a leaf is: no two branches are alike. */
static int leaf(int i)
{
    return (int)((unsigned)i * 2654435761u >> 16) % LEAVES_FROM;
}

static sn_acc leaves(void *env, int count, const sn_acc *in)
{
    int left = *(int *)env;
    sn_acc *at = malloc((size_t)left * sizeof(*at)), root = in[0];
    (void)count;
    for (int i = 0; at && i < left; i++)
        at[i] = in[leaf(i)];
    for (; at && left > 1; left = (left + 1) / 2)
        for (int i = 0; i < left; i += 2)
            at[i / 2] = i + 1 < left ? sn_zip_with(sn_add, at[i], at[i + 1]) : at[i];
    if (at)
        root = at[0];
    free(at);
    return root;
}

static float leaves_in_c(int n, float x)
{
    float sum = 0;
    for (int i = 0; i < n; i++)
        sum += x + (float)leaf(i);
    return sum;
}

/* --- each in its process --- */

static double processor_us(void)
{
    struct rusage r;
    getrusage(RUSAGE_SELF, &r);
    return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1e6 + (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec);
}

typedef struct floats_program {
    const char *name;
    sn_acc (*body)(void *env, int count, const sn_acc *in);
    float (*in_c)(int n, float x);
    int parameters; /* 0: as many as operations; the k-th is x + k */
} floats_program;

static float zip_in_c(int n, float x)
{
    return (float)n * x + (float)n * (float)(n - 1) * 0.5f;
}

static const floats_program of_floats[] = {
    {"scalar chain", map_chain, chain_in_c, 1}, {"scalar wide", map_wide, wide_in_c, 1},
    {"scalar tree", map_tree, tree_in_c, 1},    {"zip of parameters", zip, zip_in_c, 0},
    {"chain of maps", maps, chain_in_c, 1},     {"tree of leaves", leaves, leaves_in_c, LEAVES_FROM},
};

static char *signature_of(int parameters)
{
    char *s = malloc((size_t)parameters * 9 + 16), *to = s;
    for (int i = 0; s && i < parameters; i++)
        to += sprintf(to, i ? ", [n]f32" : "[n]f32");
    if (s)
        strcpy(to, " -> [n]f32");
    return s;
}

static int call_floats(const floats_program *f, sn_program *p, int n, int parameters)
{
    static float in[MOST_PARAMETERS][ELEMENTS];
    static sn_arg arg[MOST_PARAMETERS + 1];
    float out[ELEMENTS];
    for (int k = 0; k < parameters; k++) {
        for (int i = 0; i < ELEMENTS; i++)
            in[k][i] = (float)(i + k);
        arg[k] = sn_in(in[k], ELEMENTS);
    }
    arg[parameters] = sn_into(out, ELEMENTS);
    if (sn_call_n(p, parameters + 1, arg) != SN_OK)
        return 1;
    for (int i = 0; i < ELEMENTS; i++) {
        float want = f->in_c(n, (float)i);
        if (fabsf(out[i] - want) <= 1e-3f * fabsf(want) + 1e-3f)
            continue;
        fprintf(stderr, "large: %s: %g instead of %g\n", f->name, (double)out[i], (double)want);
        return 1;
    }
    return 0;
}

static int run_floats(const floats_program *f, sn_context *cx, int n)
{
    int parameters = f->parameters ? f->parameters : n;
    char *signature = parameters <= MOST_PARAMETERS ? signature_of(parameters) : NULL;
    sn_program *p = signature ? sn_compile_env(cx, signature, f->body, &n) : NULL;
    int failed = !p || call_floats(f, p, n, parameters);
    free(signature);
    sn_drop(p);
    return failed;
}

static int run_reads(sn_context *cx, int n)
{
    int64_t at[ELEMENTS], table[TABLE], out[ELEMENTS];
    sn_program *p = sn_compile_env(cx, "[n]i64, [m]i64 -> [n]i64", reads, &n);
    for (int i = 0; i < TABLE; i++)
        table[i] = (i * 31 + 7) % TABLE;
    for (int i = 0; i < ELEMENTS; i++)
        at[i] = i;
    int failed = !p || sn_call(p, sn_in(at, ELEMENTS), sn_in(table, TABLE), sn_into(out, ELEMENTS)) != SN_OK;
    for (int i = 0; i < ELEMENTS && !failed; i++) {
        int64_t want = i;
        for (int k = 0; k < n; k++)
            want = table[want];
        failed = out[i] != want;
    }
    sn_drop(p);
    return failed;
}

int large_child(const char *name, int operations)
{
    sn_context *cx = sn_open(NULL);
    struct rusage r;
    int failed = 1;
    double start = processor_us();
    if (cx && strcmp(name, "dependent reads") == 0)
        failed = run_reads(cx, operations);
    for (size_t i = 0; cx && i < sizeof(of_floats) / sizeof(of_floats[0]); i++)
        if (strcmp(name, of_floats[i].name) == 0)
            failed = run_floats(&of_floats[i], cx, operations);
    double took = processor_us() - start;
    getrusage(RUSAGE_SELF, &r);
    if (failed)
        fprintf(stderr, "large: %s, %d: %.400s\n", name, operations, cx ? sn_message(cx) : "no context");
    else
        printf("%.1f %ld\n", took, r.ru_maxrss);
    sn_close(cx);
    return failed;
}
