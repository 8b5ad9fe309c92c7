/* The data of rows, and comparing. */
#include "rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { QUICK = 512 }; /* data of --quick is smaller by */

static size_t size_of(sn_type type)
{
    switch (type) {
    case SN_BOOL:
    case SN_I8:
    case SN_U8:
        return 1;
    case SN_I16:
    case SN_U16:
        return 2;
    case SN_I64:
    case SN_U64:
    case SN_F64:
        return 8;
    default:
        return 4;
    }
}

/* --- inputs --- */

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

double data_unit(int64_t element, int number)
{
    return (double)(mix((uint64_t)element * MOST_ARRAYS + (unsigned)number) >> 11) * 0x1p-53;
}

static int64_t elements_of(const struct data *d)
{
    return d->rank == 2 ? d->extent[0] * d->extent[1] : d->extent[0];
}

bool data_alloc(struct data *to, sn_type type, int64_t n, int64_t m)
{
    *to = (struct data){.type = type, .rank = m > 0 ? 2 : 1, .extent = {n, m}};
    to->at = malloc((size_t)elements_of(to) * size_of(type));
    return to->at != NULL;
}

/* Evenly spread. */
static bool fill_evenly(const struct work *w, int number, struct data *to)
{
    const struct row *row = w->row;
    bool good = row->height > 1 ? data_alloc(to, row->input ? row->input : SN_F32, w->height, w->width)
                                : data_alloc(to, row->input ? row->input : SN_F32, w->n, 0);
    for (int64_t i = 0; good && i < w->n; i++) {
        double value = row->low + data_unit(i, number) * (row->high - row->low);
        switch (to->type) {
        case SN_U8:
            ((uint8_t *)to->at)[i] = (uint8_t)value;
            break;
        case SN_U32:
            ((uint32_t *)to->at)[i] = (uint32_t)value;
            break;
        case SN_I32:
            ((int32_t *)to->at)[i] = (int32_t)floor(value);
            break;
        default:
            ((float *)to->at)[i] = (float)value;
        }
    }
    return good;
}

static bool add_input(struct work *w, struct gpu *g, int number)
{
    struct data d = {0};
    bool good = (w->row->fill ? w->row->fill : fill_evenly)(w, number, &d);
    if (good) {
        size_t bytes = (size_t)elements_of(&d) * size_of(d.type);
        sn_arg from = {.kind = SN_ARG_IN, .type = d.type, .rank = d.rank, .u = {.from = d.at}};
        memcpy(from.extent, d.extent, sizeof(d.extent));
        w->held[number] = sn_upload(w->context, from);
        good = w->held[number] != NULL;
        if (good && w->row->cuda)
            good = gpu_alloc(g, bytes, &w->in[number]) && gpu_upload(g, w->in[number], d.at, bytes);
    }
    free(d.at);
    return good;
}

/* --- opening --- */

static size_t output_bytes(const struct work *w, int number)
{
    const struct row *row = w->row;
    int64_t n = row->elements ? row->elements : row->shape == SCALAR ? 1 : row->shape == A_ROW_EACH ? w->height : w->n;
    return (size_t)n * size_of(row->output[number]);
}

static bool add_other_side(struct work *w, struct gpu *g)
{
    bool good = true;
    for (int i = 0; good && i < w->row->outputs; i++)
        good = gpu_alloc(g, output_bytes(w, i), &w->out[i]);
    size_t least = 4 * PARTIALS * sizeof(float), scratch = (size_t)w->row->scratch * (size_t)w->n;
    return good && gpu_alloc(g, scratch > least ? scratch : least, &w->partial);
}

/* Extents of results that no input has stand in the signature as numbers. */
static sn_program *compile(struct work *w)
{
    char signature[160];
    sn_body body = w->row->body(w);
    if (w->row->inputs)
        snprintf(signature, sizeof(signature), "%s", w->row->signature);
    else
        snprintf(signature, sizeof(signature), w->row->signature, (long long)w->height, (long long)w->width);
    sn_program *p = sn_compile_at(SN_HERE, w->context, signature, body);
    if (!p)
        fprintf(stderr, "%s: %s\n", w->row->name, sn_message(w->context));
    return p;
}

bool work_open(struct work *w, struct gpu *g, sn_context *cx, const struct row *row, bool quick)
{
    int64_t by = quick ? QUICK : 1;
    *w = (struct work){.row = row, .context = cx, .scalar = {1.5f}};
    w->height = row->height == 1 ? 1 : row->height / (by > 8 ? by / 8 : 1);
    w->width = row->height == 1     ? row->width / by
               : row->width >= 1024 ? row->width / (by > 8 ? by / 8 : 1)
                                    : row->width;
    w->n = w->height * w->width;
    bool good = true;
    for (int i = 0; good && i < row->inputs; i++)
        good = add_input(w, g, i);
    if (!good)
        fprintf(stderr, "%s: the inputs: %s\n", row->name, sn_message(cx));
    good = good && (!row->cuda || add_other_side(w, g));
    w->program = good ? compile(w) : NULL;
    return w->program != NULL;
}

static void free_results(struct work *w)
{
    for (int i = 0; i < MOST_ARRAYS; i++) {
        sn_free(w->result[i]);
        w->result[i] = NULL;
    }
}

sn_status work_call(struct work *w)
{
    free_results(w);
    if (w->row->sinter)
        return w->row->sinter(w);
    sn_arg a[2 * MOST_ARRAYS];
    int count = 0;
    for (int i = 0; i < w->row->inputs; i++)
        a[count++] = sn_held(w->held[i]);
    for (int i = 0; i < w->row->outputs; i++)
        a[count++] = sn_keep(&w->result[i]);
    return sn_call_n(w->program, count, a);
}

void work_close(struct work *w, struct gpu *g)
{
    free_results(w);
    for (int i = 0; i < MOST_ARRAYS; i++) {
        sn_free(w->held[i]);
        gpu_free(g, w->in[i]);
        gpu_free(g, w->out[i]);
    }
    gpu_free(g, w->partial);
    sn_drop(w->program);
}

/* --- comparing --- */

static double value_of(sn_type type, const void *at, size_t i)
{
    switch (type) {
    case SN_U8:
        return ((const uint8_t *)at)[i];
    case SN_I32:
        return ((const int32_t *)at)[i];
    case SN_U32:
        return ((const uint32_t *)at)[i];
    case SN_I64:
        return (double)((const int64_t *)at)[i];
    default:
        return (double)((const float *)at)[i];
    }
}

static bool compare(const struct row *row, sn_type type, const void *ours, const void *theirs, size_t n, double *worst,
                    int64_t *different)
{
    double largest = 0;
    int64_t apart = 0;
    for (size_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(value_of(type, theirs, i)));
    for (size_t i = 0; i < n; i++) {
        double off = fabs(value_of(type, ours, i) - value_of(type, theirs, i)) / (largest > 0 ? largest : 1);
        if (!(off <= row->tolerance))
            apart++;
        else
            *worst = fmax(*worst, off);
    }
    *different += apart;
    return (double)apart <= row->may_differ * (double)n;
}

static bool agrees_with_cuda(struct work *w, struct gpu *g, char *text, size_t size)
{
    double worst = 0;
    int64_t different = 0;
    bool good = true;
    for (int i = 0; good && i < w->row->outputs; i++) {
        size_t bytes = output_bytes(w, i), n = bytes / size_of(w->row->output[i]);
        void *ours = malloc(bytes), *theirs = malloc(bytes);
        good = ours && theirs && sn_read(w->result[i], ours, bytes) == SN_OK &&
               gpu_download(g, theirs, w->out[i], bytes) &&
               compare(w->row, w->row->output[i], ours, theirs, n, &worst, &different);
        free(ours);
        free(theirs);
    }
    snprintf(text, size, "within %.1e; %lld elements further apart", worst, (long long)different);
    return good;
}

/* What a held array holds, in another context. */
static sn_array *copy_to(sn_context *cx, const sn_array *of)
{
    sn_arg from = {.kind = SN_ARG_IN, .type = sn_array_type(of), .rank = sn_array_rank(of)};
    size_t bytes = sn_bytes(of);
    void *at = malloc(bytes ? bytes : 1);
    for (int i = 0; i < from.rank; i++)
        from.extent[i] = sn_array_extent(of, i);
    from.u.from = at;
    sn_array *copy = at && sn_read(of, at, bytes) == SN_OK ? sn_upload(cx, from) : NULL;
    free(at);
    return copy;
}

static bool equal(const sn_array *a, const sn_array *b)
{
    size_t bytes = sn_bytes(a);
    void *of_a = malloc(bytes ? bytes : 1), *of_b = malloc(bytes ? bytes : 1);
    bool same = of_a && of_b && sn_bytes(b) == bytes && sn_read(a, of_a, bytes) == SN_OK &&
                sn_read(b, of_b, bytes) == SN_OK && memcmp(of_a, of_b, bytes) == 0;
    free(of_a);
    free(of_b);
    return same;
}

static bool agrees_with_cpu(struct work *w, sn_context *cpu, char *text, size_t size)
{
    struct work c = *w;
    c.context = cpu;
    memset(c.held, 0, sizeof(c.held));
    memset(c.result, 0, sizeof(c.result));
    bool same = true;
    for (int i = 0; same && i < w->row->inputs; i++)
        same = (c.held[i] = copy_to(cpu, w->held[i])) != NULL;
    c.program = same ? compile(&c) : NULL;
    same = c.program && work_call(&c) == SN_OK;
    if (!same)
        fprintf(stderr, "%s on the CPU: %s\n", w->row->name, sn_message(cpu));
    for (int i = 0; same && i < w->row->outputs; i++)
        same = equal(w->result[i], c.result[i]);
    free_results(&c);
    for (int i = 0; i < MOST_ARRAYS; i++)
        sn_free(c.held[i]);
    sn_drop(c.program);
    snprintf(text, size, same ? "the bits of the CPU" : "not the bits of the CPU");
    return same;
}

bool work_agrees(struct work *w, struct gpu *g, sn_context *cpu, char *text, size_t size)
{
    return w->row->cuda ? agrees_with_cuda(w, g, text, size) : agrees_with_cpu(w, cpu, text, size);
}
