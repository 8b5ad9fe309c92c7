/* Memory for the arguments of a program, what is drawn for its inputs, and the comparison of its results. */
#include "arguments.h"

#include "../harness.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static size_t type_size(sn_type type)
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

/* Where C puts the component of a struct; of the number of components: its size. */
static size_t offset_of(const struct nb_port *port, int component)
{
    size_t offset = 0, widest = 1;
    for (int k = 0; k < port->components; k++) {
        size_t size = type_size(port->type[k]);
        offset = (offset + size - 1) / size * size;
        if (k == component)
            return offset;
        offset += size;
        widest = size > widest ? size : widest;
    }
    return (offset + widest - 1) / widest * widest;
}

/* --- what is drawn ---
 *
 *     q  floats that are multiples of 1/16 in [-2, 2): sums of a million products of these are exact in any order, so
 *        that results are compared exactly; integers in [-100, 100), of unsigned ones [0, 200). What NULL stands for.
 *     t  the same floats in [-0.25, 0.25): also sums of a million squares are exact
 *     u  floats in [0, 1), nearly all distinct; integers of all values
 *     s  the same in [-1, 1)
 *     p  floats in [0.5, 1.5); integers 1 to 15
 *     o  multiples of 1/64 so near 1 that long products stay finite
 *     k  indices below the first extent */
static double drawn(char how, uint64_t bits)
{
    double unit = (double)(bits >> 40) * 0x1p-24;
    switch (how) {
    case 'u':
        return unit;
    case 's':
        return unit * 2 - 1;
    case 'p':
        return unit + 0.5;
    case 't':
        return (double)((int64_t)(bits >> 61) - 4) / 16;
    case 'o':
        return 1 + (double)((int64_t)(bits >> 60) - 8) / 1024;
    default:
        return (double)((int64_t)(bits >> 58) - 32) / 16;
    }
}

static int64_t drawn_integer(char how, uint64_t bits, bool is_signed, int64_t below)
{
    switch (how) {
    case 'u':
        return (int64_t)bits;
    case 'p':
        return 1 + (int64_t)((bits >> 32) % 15);
    case 'k':
        return (int64_t)((bits >> 16) % (uint64_t)below);
    default:
        return (int64_t)((bits >> 32) % 200) - (is_signed ? 100 : 0);
    }
}

static void put(sn_type type, char how, uint64_t bits, int64_t below, char *to)
{
    int64_t integer = drawn_integer(how, bits, type >= SN_I8 && type <= SN_I64, below);
    switch (type) {
    case SN_F32:
        *(float *)(void *)to = (float)drawn(how, bits);
        break;
    case SN_F64:
        *(double *)(void *)to = drawn(how, bits);
        break;
    case SN_BOOL:
        *to = (char)(bits >> 63);
        break;
    default:
        memcpy(to, &integer, type_size(type)); /* little endian */
    }
}

static void draw(const struct nb_memory *m, int component, char how, int64_t below, uint64_t seed)
{
    const struct nb_port *port = m->port;
    char *to = (char *)m->at + (m->component < 0 ? offset_of(port, component) : 0);
    for (int64_t i = 0; i < m->count; i++, to += m->size)
        put(port->type[component], how, bench_hash((uint64_t)i, seed), below, to);
}

static void draw_all(const struct nb_program *program, const struct nb_arguments *a)
{
    const char *how = program->draw ? program->draw : "q";
    uint64_t seed = 1;
    for (int i = 0; i < a->ins; i++) {
        const struct nb_memory *m = &a->memory[i];
        int first = m->component < 0 ? 0 : m->component;
        int last = m->component < 0 ? m->port->components : first + 1;
        for (int k = first; k < last; k++) {
            draw(m, k, *how, a->call.extent[0], seed++);
            how += how[1] ? 1 : 0;
        }
    }
}

/* --- making them --- */

/* found: NULL where the result has as many elements as there is memory for. */
static sn_arg arg_of(const struct nb_memory *m, void *at, bool result, int64_t *found)
{
    const struct nb_port *port = m->port;
    bool structs = m->component < 0;
    if (found)
        return sn_upto_of(port->type[m->component], at, m->count, found);
    sn_arg arg = {.kind = structs ? SN_ARG_STRUCTS : result ? SN_ARG_INTO : SN_ARG_IN, .rank = port->rank};
    if (!structs)
        arg.type = port->type[m->component];
    else
        arg.size = m->size;
    if (!structs && port->rank == 0)
        arg.kind = SN_ARG_VALUE;
    for (int d = 0; d < port->rank; d++)
        arg.extent[d] = port->extent[d];
    arg.u.to = at;
    return arg;
}

static bool add_memory(struct nb_arguments *a, const struct nb_port *port, int component, bool result, bool kept)
{
    int index = a->ins + a->outs;
    if ((result ? a->outs : a->ins) == NB_MEMORY) {
        fputs("more arguments than there is room for\n", stderr);
        return false;
    }
    struct nb_memory *m = &a->memory[index];
    *m = (struct nb_memory){.port = port, .component = component, .count = 1};
    for (int d = 0; d < port->rank; d++)
        m->count *= port->extent[d];
    m->size = component < 0 ? offset_of(port, port->components) : type_size(port->type[component]);
    m->bytes = (size_t)m->count * m->size;
    a->n = m->count > a->n ? m->count : a->n;
    if (result)
        a->outs++;
    else
        a->ins++;
    m->at = nb_alloc(m->bytes);
    m->opponent = result ? nb_alloc(m->bytes) : NULL;
    if (!m->at || (result && !m->opponent)) {
        fputs("no memory\n", stderr);
        return false;
    }
    bool fewer = result && kept && port->rank == 1;
    m->found = m->opponent_found = m->count;
    a->sinter[index] = arg_of(m, m->at, result, fewer ? &m->found : NULL);
    a->opponent[index] = arg_of(m, result ? m->opponent : m->at, result, fewer ? &m->opponent_found : NULL);
    if (result) {
        a->call.out[a->outs - 1] = m->opponent;
        a->call.kept[a->outs - 1] = &m->opponent_found;
    } else {
        a->call.in[a->ins - 1] = m->at;
    }
    return true;
}

bool nb_arguments_make(const struct nb_program *program, const int64_t *extents, struct nb_arguments *a)
{
    *a = (struct nb_arguments){.call = {.size = 1}};
    struct nb_signature *s = &a->signature;
    for (int i = 0; i < NB_EXTENTS; i++) {
        a->call.extent[i] = extents[i];
        a->call.size *= extents[i] ? extents[i] : 1;
    }
    if (!nb_parse(program->signature, extents, s))
        return false;
    for (int p = 0; p < s->parameters + s->results; p++) {
        const struct nb_port *port = &s->port[p];
        bool structs = program->structs && port->tuple;
        for (int k = structs ? -1 : 0; k < (structs ? 0 : port->components); k++)
            if (!add_memory(a, port, k, p >= s->parameters, program->kept))
                return false;
    }
    draw_all(program, a);
    if (program->make)
        program->make(&a->call);
    return true;
}

void nb_arguments_free(struct nb_arguments *a)
{
    for (int i = 0; i < a->ins + a->outs; i++) {
        nb_release(a->memory[i].at, a->memory[i].bytes);
        nb_release(a->memory[i].opponent, a->memory[i].bytes);
    }
}

/* --- comparing --- */

static double read_float(sn_type type, const void *at)
{
    return type == SN_F32 ? (double)*(const float *)at : *(const double *)at;
}

static bool is_float(sn_type type)
{
    return type == SN_F32 || type == SN_F64;
}

/* What an array's floats may differ by. */
static double allowed(const struct nb_program *program, sn_type type, const char *at, int64_t count, size_t stride)
{
    double largest = 0;
    for (int64_t i = 0; i < count; i++) {
        double x = fabs(read_float(type, at + (size_t)i * stride));
        if (isfinite(x) && x > largest)
            largest = x;
    }
    double share = program->tolerance > 0 ? program->tolerance : type == SN_F32 ? 4e-6 : 1e-13;
    return share * largest;
}

static int64_t read_integer(sn_type type, const void *at)
{
    int64_t x = 0;
    memcpy(&x, at, type_size(type));
    return x;
}

static bool component_agrees(const struct nb_program *program, const struct nb_memory *m, int component, char *text,
                             size_t size)
{
    size_t offset = m->component < 0 ? offset_of(m->port, component) : 0;
    const char *x = (const char *)m->at + offset, *y = (const char *)m->opponent + offset;
    sn_type type = m->port->type[component];
    if (m->found != m->opponent_found) {
        snprintf(text, size, "component %d: %" PRId64 " elements, not %" PRId64, component, m->found,
                 m->opponent_found);
        return false;
    }
    double most = is_float(type) ? allowed(program, type, y, m->found, m->size) : 0;
    int64_t differing = (int64_t)(program->differ * (double)m->found);
    for (int64_t i = 0; i < m->found; i++, x += m->size, y += m->size) {
        if (memcmp(x, y, type_size(type)) == 0)
            continue;
        if (!is_float(type)) {
            if (differing-- > 0)
                continue;
            snprintf(text, size, "component %d, element %" PRId64 ": bits %" PRIx64 ", not %" PRIx64, component, i,
                     read_integer(type, x), read_integer(type, y));
            return false;
        }
        double a = read_float(type, x), b = read_float(type, y);
        if (fabs(a - b) <= most || (isnan(a) && isnan(b)))
            continue;
        snprintf(text, size, "component %d, element %" PRId64 ": %.9g, not %.9g", component, i, a, b);
        return false;
    }
    return true;
}

bool nb_arguments_agree(const struct nb_program *program, const struct nb_arguments *a, char *text, size_t size)
{
    for (int i = a->ins; i < a->ins + a->outs; i++) {
        const struct nb_memory *m = &a->memory[i];
        int first = m->component < 0 ? 0 : m->component;
        int last = m->component < 0 ? m->port->components : first + 1;
        for (int k = first; k < last; k++)
            if (!component_agrees(program, m, k, text, size))
                return false;
    }
    return true;
}
