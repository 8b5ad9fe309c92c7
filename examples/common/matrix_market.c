#include "common/matrix_market.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 1024 };

typedef struct reader {
    const char *path;
    FILE *file;
    int64_t line;
    char text[LONGEST + 2];
    bool pattern;
} reader;

typedef struct entry {
    int64_t row, column;
    double value;
} entry;

static bool wrong(const reader *r, const char *what)
{
    fprintf(stderr, "%s:%lld: %s\n", r->path, (long long)r->line, what);
    return false;
}

static bool next_line(reader *r)
{
    r->line++;
    if (!fgets(r->text, sizeof(r->text), r->file))
        return wrong(r, "the file ends too early");
    return strlen(r->text) <= LONGEST || wrong(r, "a line is too long");
}

/* The next line that is no comment, and not empty. */
static bool next_data(reader *r)
{
    do {
        if (!next_line(r))
            return false;
    } while (r->text[0] == '%' || !r->text[strspn(r->text, " \t\r\n")]);
    return true;
}

static bool read_whole(const reader *r, char **at, int64_t low, int64_t high, int64_t *out)
{
    char *end;
    errno = 0;
    long long n = strtoll(*at, &end, 10);
    if (end == *at || errno || n < low || n > high)
        return wrong(r, "expected a whole number that the matrix has room for");
    *at = end;
    *out = n;
    return true;
}

static bool read_head(reader *r, matrix_market *out)
{
    char field[16], kind[16], *word = r->text;
    if (!next_line(r))
        return false;
    for (char *c = r->text; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    if (sscanf(word, "%%%%matrixmarket matrix coordinate %15s %15s", field, kind) != 2)
        return wrong(r, "expected \"%%MatrixMarket matrix coordinate\", a type and a symmetry");
    r->pattern = !strcmp(field, "pattern");
    out->symmetric = !strcmp(kind, "symmetric");
    if (!r->pattern && strcmp(field, "real") != 0 && strcmp(field, "integer") != 0)
        return wrong(r, "expected numbers that are real or integer, or pattern");
    return out->symmetric || !strcmp(kind, "general") || wrong(r, "expected a general or a symmetric matrix");
}

static bool read_entry(reader *r, const matrix_market *m, entry *out)
{
    char *at = r->text, *end;
    if (!next_data(r) || !read_whole(r, &at, 1, m->rows, &out->row) || !read_whole(r, &at, 1, m->columns, &out->column))
        return false;
    out->row--;
    out->column--;
    out->value = 1;
    if (r->pattern)
        return true;
    out->value = strtod(at, &end);
    return end != at || wrong(r, "expected a value behind row and column");
}

/* Entries in the order of the file become rows, in which they keep that order. */
static bool by_rows(const reader *r, matrix_market *m, const entry *e, int64_t entries)
{
    m->elements = entries;
    for (int64_t i = 0; i < entries; i++)
        m->elements += m->symmetric && e[i].row != e[i].column;
    m->row = calloc((size_t)m->rows + 2, sizeof(*m->row));
    m->column = malloc(((size_t)m->elements + 1) * sizeof(*m->column));
    m->value = malloc(((size_t)m->elements + 1) * sizeof(*m->value));
    if (!m->row || !m->column || !m->value)
        return wrong(r, "no memory for the matrix");
    int64_t *next = m->row + 1; /* of each row; in the end the beginning of the one behind */
    for (int64_t i = 0; i < entries; i++) {
        next[e[i].row + 1]++;
        if (m->symmetric && e[i].row != e[i].column)
            next[e[i].column + 1]++;
    }
    for (int64_t k = 1; k <= m->rows; k++)
        next[k] += next[k - 1];
    for (int64_t i = 0; i < entries; i++) {
        int64_t at = next[e[i].row]++;
        m->column[at] = (int32_t)e[i].column;
        m->value[at] = e[i].value;
        if (!m->symmetric || e[i].row == e[i].column)
            continue;
        at = next[e[i].column]++;
        m->column[at] = (int32_t)e[i].row;
        m->value[at] = e[i].value;
    }
    return true;
}

static bool read_all(reader *r, matrix_market *out)
{
    int64_t entries = 0;
    char *at = r->text;
    if (!read_head(r, out) || !next_data(r) || !read_whole(r, &at, 0, INT32_MAX, &out->rows) ||
        !read_whole(r, &at, 0, INT32_MAX, &out->columns) || !read_whole(r, &at, 0, INT32_MAX, &entries))
        return false;
    if (out->symmetric && out->rows != out->columns)
        return wrong(r, "a symmetric matrix has as many rows as columns");
    entry *all = malloc(((size_t)entries + 1) * sizeof(*all));
    bool good = all || wrong(r, "no memory for the entries");
    for (int64_t i = 0; i < entries && good; i++)
        good = read_entry(r, out, &all[i]);
    good = good && by_rows(r, out, all, entries);
    free(all);
    return good;
}

bool matrix_market_read(const char *path, matrix_market *out)
{
    reader r = {.path = path, .file = fopen(path, "r")};
    *out = (matrix_market){0};
    if (!r.file) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return false;
    }
    bool good = read_all(&r, out);
    fclose(r.file);
    return good;
}

void matrix_market_free(matrix_market *m)
{
    free(m->row);
    free(m->column);
    free(m->value);
    *m = (matrix_market){0};
}
