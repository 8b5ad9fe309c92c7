/* Reads and writes the dictionary in front of the elements of an .npy file (NumPy's NEP 1). */
#include "api/npy_header.h"

#include <stdio.h>

enum { MOST_WORD = 24 };

typedef struct reader {
    const char *at, *end; /* *end is 0 */
    npy_header *out;
    char *why;
    bool descr, order, shape; /* entries seen */
} reader;

static const struct {
    const char *name; /* without the byte order */
    ir_type type;
} known[] = {{"b1", T_BOOL}, {"i1", T_I8},  {"i2", T_I16}, {"i4", T_I32}, {"i8", T_I64}, {"u1", T_U8},
             {"u2", T_U16},  {"u4", T_U32}, {"u8", T_U64}, {"f4", T_F32}, {"f8", T_F64}, {"U1", T_CHAR}};

static bool fail(const reader *r, const char *why)
{
    snprintf(r->why, NPY_WHY, "%s", why);
    return false;
}

static bool damaged(const reader *r, const char *how)
{
    snprintf(r->why, NPY_WHY, "the header is damaged: %s; copy the file again, or save it with numpy.save", how);
    return false;
}

static void blanks(reader *r)
{
    while (*r->at == ' ' || *r->at == '\n' || *r->at == '\t')
        r->at++;
}

static bool is_next(reader *r, const char *word)
{
    blanks(r);
    size_t n = strlen(word);
    if (strncmp(r->at, word, n) != 0)
        return false;
    r->at += n;
    return true;
}

static bool quoted(reader *r, char out[MOST_WORD])
{
    blanks(r);
    char quote = *r->at;
    if (quote != '\'' && quote != '"')
        return false;
    const char *end = strchr(++r->at, quote);
    if (!end || end - r->at >= MOST_WORD)
        return false;
    memcpy(out, r->at, (size_t)(end - r->at));
    out[end - r->at] = 0;
    r->at = end + 1;
    return true;
}

/* A file may hold any bytes; messages show text. */
static bool printable(const char *s)
{
    for (; *s; s++)
        if (*s < ' ' || *s > '~')
            return false;
    return true;
}

static bool little_endian(void)
{
    const uint16_t one = 1;
    char first;
    memcpy(&first, &one, 1);
    return first == 1;
}

static bool read_type(reader *r)
{
    char word[MOST_WORD];
    blanks(r);
    if (*r->at == '[')
        return fail(r, "the elements are structures; save each field as an array of its own");
    if (!quoted(r, word) || !printable(word))
        return damaged(r, "descr is no type");
    const char *name = word + (*word && strchr("<>=|", *word) != NULL);
    for (size_t i = 0; i < ARRAY_LENGTH(known); i++)
        if (!strcmp(name, known[i].name) || (known[i].type == T_BOOL && !strcmp(name, "?"))) {
            r->out->type = known[i].type;
            r->out->swapped = ir_type_size(known[i].type) > 1 && *word == (little_endian() ? '>' : '<');
            return true;
        }
    snprintf(r->why, NPY_WHY, "elements of type %s are not read; those of bool, i1 to i8, u1 to u8, f4, f8 and U1 are",
             word);
    return false;
}

static bool read_order(reader *r)
{
    r->out->fortran = is_next(r, "True");
    return r->out->fortran || is_next(r, "False") || damaged(r, "fortran_order is neither True nor False");
}

static bool read_extent(reader *r, int64_t *extent)
{
    blanks(r);
    if (*r->at < '0' || *r->at > '9')
        return damaged(r, "an extent is no number");
    for (*extent = 0; *r->at >= '0' && *r->at <= '9'; r->at++)
        if (__builtin_mul_overflow(*extent, 10, extent) || __builtin_add_overflow(*extent, *r->at - '0', extent))
            return fail(r, "an extent does not fit into 63 bits; no array has it");
    r->at += *r->at == 'L'; /* of Python 2 */
    return true;
}

static bool read_shape(reader *r)
{
    if (!is_next(r, "("))
        return damaged(r, "the shape is no tuple");
    while (!is_next(r, ")")) {
        if (r->out->rank == IR_MAX_RANK)
            return fail(r, "the array has more than 8 dimensions; merge some before saving it");
        if (!read_extent(r, &r->out->extent[r->out->rank++]))
            return false;
        if (is_next(r, ","))
            continue;
        if (!is_next(r, ")"))
            return damaged(r, "the shape does not end");
        break;
    }
    return true;
}

static bool read_entry(reader *r)
{
    char key[MOST_WORD];
    if (!quoted(r, key) || !is_next(r, ":"))
        return damaged(r, "no key where one is expected");
    bool *seen = !strcmp(key, "descr")           ? &r->descr
                 : !strcmp(key, "fortran_order") ? &r->order
                 : !strcmp(key, "shape")         ? &r->shape
                                                 : NULL;
    if (!seen || *seen)
        return damaged(r, "an unknown key, or one twice");
    *seen = true;
    return seen == &r->descr ? read_type(r) : seen == &r->order ? read_order(r) : read_shape(r);
}

bool npy_parse(const char *at, size_t n, npy_header *out, char why[NPY_WHY])
{
    reader r = {.at = at, .end = at + n, .out = out, .why = why};
    *out = (npy_header){0};
    if (!is_next(&r, "{"))
        return damaged(&r, "no dictionary");
    while (!is_next(&r, "}")) {
        if (!read_entry(&r))
            return false;
        if (is_next(&r, ","))
            continue;
        if (!is_next(&r, "}"))
            return damaged(&r, "the dictionary does not end");
        break;
    }
    blanks(&r);
    if (r.at != r.end)
        return damaged(&r, "something stands behind the dictionary");
    if (!r.descr || !r.order || !r.shape)
        return damaged(&r, "descr, fortran_order or shape is missing");
    return true;
}

static const char *name_of(ir_type type)
{
    size_t i = 0;
    while (known[i].type != type)
        i++;
    return known[i].name;
}

size_t npy_compose(ir_type type, int rank, const int64_t *extent, char out[NPY_MOST_WRITTEN])
{
    const size_t room = NPY_MOST_WRITTEN;
    const char order = ir_type_size(type) == 1 ? '|' : little_endian() ? '<' : '>';
    size_t n = 10;
    memcpy(out, "\x93NUMPY\x01", 8);
    n += (size_t)snprintf(out + n, room - n, "{'descr': '%c%s', 'fortran_order': False, 'shape': (", order,
                          name_of(type));
    for (int d = 0; d < rank; d++)
        n += (size_t)snprintf(out + n, room - n, "%lld%s", (long long)extent[d],
                              d + 1 < rank ? ", "
                              : rank == 1  ? ","
                                           : "");
    n += (size_t)snprintf(out + n, room - n, "), }");
    while (n % 64 != 63)
        out[n++] = ' ';
    out[n++] = '\n';
    out[8] = (char)((n - 10) & 255);
    out[9] = (char)((n - 10) >> 8);
    return n;
}
