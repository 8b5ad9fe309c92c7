/* Arrays as text, as NumPy prints them: all elements shown have one width; what does not fit into a line goes on in the
 * next, indented. tests/api/exchange_numpy.py compares. */
#include "api/api.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_SHOWN = 1000, EDGE = 3, LINE = 75, PRECISION = 8 };

typedef struct printing {
    const sn_array *a;
    api_who who;
    arena *arena;
    text out;
    bool shortened;         /* only the edges of each dimension are shown */
    int64_t shown;          /* elements that are */
    unsigned char *element; /* those, one after the other */
    int64_t next;           /* the first of them that is not printed yet */
    /* floats */
    bool scientific;
    int left, right; /* places in front of the point, sign included, and behind it */
    int exponent;    /* digits of it */
    sn_status status;
} printing;

/* --- which elements --- */

/* Of a dimension with n elements, how many are shown, and which is number k of them. */
static int64_t shown_of(const printing *p, int64_t n)
{
    return p->shortened && n > 2 * EDGE ? 2 * EDGE : n;
}

static int64_t index_of(const printing *p, int64_t n, int64_t k)
{
    return shown_of(p, n) == n || k < EDGE ? k : n - 2 * EDGE + k;
}

/* Fetches the elements shown, a run of neighbours at a time. */
static bool fetch(printing *p)
{
    const sn_array *a = p->a;
    size_t size = ir_type_size(a->type);
    int64_t k[IR_MAX_RANK] = {0}, done = 0;
    int last = a->rank - 1;
    int64_t columns = last >= 0 ? a->extent[last] : 1, beside = shown_of(p, columns);
    int64_t halves = beside < columns ? 2 : 1;
    while (done < p->shown) {
        int64_t row = 0;
        for (int d = 0; d < last; d++)
            row = row * a->extent[d] + index_of(p, a->extent[d], k[d]);
        for (int64_t half = 0; half < halves; half++) {
            int64_t first = row * columns + (half ? columns - EDGE : 0), n = beside / halves;
            p->status = api_get_part(a, p->who, (size_t)first * size, (size_t)n * size,
                                     p->element + (size_t)done * size);
            if (p->status != SN_OK)
                return false;
            done += n;
        }
        for (int d = last - 1; d >= 0 && ++k[d] == shown_of(p, a->extent[d]); d--)
            k[d] = 0;
    }
    return true;
}

/* --- elements --- */

static double real_at(const printing *p, int64_t k)
{
    if (p->a->type == T_F64)
        return ((const double *)(const void *)p->element)[k];
    return (double)((const float *)(const void *)p->element)[k];
}

/* The fewest digits that tell the number from its neighbours, and zeros up to the point; at most so many behind it. */
static void positional(double value, bool single, int most, char digits[REAL_TEXT])
{
    int precision = real_precision(value, single);
    real_text(digits, 'e', precision, value);
    char *e = strchr(digits, 'e'), *point = strchr(digits, '.');
    int exponent = atoi(e + 1), behind = precision - exponent;
    if (behind > 0) {
        real_text(digits, 'f', behind < most ? behind : most, value);
        return;
    }
    *e = 0;
    if (point)
        memmove(point, point + 1, strlen(point));
    size_t n = strlen(digits);
    memset(digits + n, '0', (size_t)-behind);
    digits[n + (size_t)-behind] = 0;
}

/* The digits of a finite number, without the zeros at the end; "1." keeps its point. */
static void digits_of(const printing *p, double value, char digits[REAL_TEXT])
{
    bool single = p->a->type == T_F32;
    int precision = real_precision(value, single);
    if (p->scientific)
        real_text(digits, 'e', precision < PRECISION ? precision : PRECISION, value);
    else
        positional(value, single, PRECISION, digits);
    char *e = strchr(digits, 'e'), *zero = e ? e : digits + strlen(digits), tail[8] = "";
    if (e)
        snprintf(tail, sizeof(tail), "%s", e);
    char *point = strchr(digits, '.');
    while (point && zero > point + 1 && zero[-1] == '0')
        zero--;
    if (!point)
        *zero++ = '.';
    memcpy(zero, tail, strlen(tail) + 1);
}

static void widen(int *most, long places)
{
    if (places > *most)
        *most = (int)places;
}

/* One form for all: scientific where numbers are large, small or far apart. */
static void choose_form(printing *p)
{
    double most = 0, least = INFINITY;
    bool single = p->a->type == T_F32;
    for (int64_t k = 0; k < p->shown; k++) {
        double v = fabs(real_at(p, k));
        if (!isfinite(v) || v == 0)
            continue;
        most = v > most ? v : most;
        least = v < least ? v : least;
    }
    if (most > 0) {
        double ratio = single ? (double)((float)most / (float)least) : most / least;
        p->scientific = most >= 1e8 || least < 0.0001 || ratio > 1000;
    }
    bool finite = false;
    int infinite = 0;
    char digits[REAL_TEXT];
    for (int64_t k = 0; k < p->shown; k++) {
        double v = real_at(p, k);
        if (!isfinite(v)) {
            widen(&infinite, isnan(v) || v > 0 ? 3 : 4);
            continue;
        }
        finite = true;
        digits_of(p, v, digits);
        const char *point = strchr(digits, '.'), *e = strchr(digits, 'e');
        widen(&p->left, point - digits);
        widen(&p->right, e ? e - point - 1 : (long)strlen(point + 1));
        widen(&p->exponent, e ? (long)strlen(e + 2) : 0);
    }
    int beside = 1 + p->right + (p->scientific && finite ? p->exponent + 2 : 0);
    widen(&p->left, infinite - beside);
}

static const char *format_real(printing *p, double v)
{
    int width = p->left + 1 + p->right + (p->scientific ? p->exponent + 2 : 0);
    if (!isfinite(v))
        return arena_printf(p->arena, "%*s", width, isnan(v) ? "nan" : v < 0 ? "-inf" : "inf");
    char digits[REAL_TEXT];
    if (!p->scientific) {
        digits_of(p, v, digits);
        int left = p->left - (int)(strchr(digits, '.') - digits);
        return arena_printf(p->arena, "%*s%-*s", left, "", width - left, digits);
    }
    real_text(digits, 'e', p->right, v); /* all have as many digits as the one that needs most */
    char *e = strchr(digits, 'e');
    int mantissa = (int)(e - digits), left = p->left + 1 + p->right - mantissa - (p->right == 0);
    return arena_printf(p->arena, "%*s%.*s%se%c%0*d", left, "", mantissa, digits, p->right ? "" : ".", e[1],
                        p->exponent, atoi(e + 2));
}

/* A single number, as Python prints it: 1.0, 0.1, 1e+16. */
static const char *format_single(printing *p, double v)
{
    char digits[REAL_TEXT];
    if (!isfinite(v))
        return isnan(v) ? "nan" : v < 0 ? "-inf" : "inf";
    bool single = p->a->type == T_F32;
    real_text(digits, 'e', real_precision(v, single), v);
    int exponent = atoi(strchr(digits, 'e') + 1);
    if (exponent < -4 || exponent >= 16)
        return arena_string(p->arena, digits);
    positional(v, single, REAL_TEXT, digits);
    return arena_printf(p->arena, "%s%s", digits, strchr(digits, '.') ? "" : ".0");
}

static int64_t signed_at(const printing *p, int64_t k)
{
    const void *e = p->element;
    switch (ir_type_size(p->a->type)) {
    case 1:
        return ((const int8_t *)e)[k];
    case 2:
        return ((const int16_t *)e)[k];
    case 4:
        return ((const int32_t *)e)[k];
    default:
        return ((const int64_t *)e)[k];
    }
}

static uint64_t unsigned_at(const printing *p, int64_t k)
{
    unsigned bits = ir_type_bits(p->a->type);
    uint64_t v = (uint64_t)signed_at(p, k);
    return bits < 64 ? v & (((uint64_t)1 << bits) - 1) : v;
}

/* A character between quotes, as UTF-8; what cannot be seen by its number. */
static const char *format_char(printing *p, uint32_t c)
{
    const char *quote = c == '\'' ? "\"" : "'";
    const char *escape = c == '\n' ? "\\n" : c == '\r' ? "\\r" : c == '\t' ? "\\t" : c == '\\' ? "\\\\" : NULL;
    char u[5] = {0};
    if (escape)
        return arena_printf(p->arena, "'%s'", escape);
    if (!c)
        return "''";
    if (c < 32 || (c >= 127 && c < 161) || c == 0xad)
        return arena_printf(p->arena, "'\\x%02" PRIx32 "'", c);
    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        return arena_printf(p->arena, "'\\U%08" PRIx32 "'", c);
    if (c < 0x80) {
        u[0] = (char)c;
    } else if (c < 0x800) {
        u[0] = (char)(0xc0 | c >> 6), u[1] = (char)(0x80 | (c & 63));
    } else if (c < 0x10000) {
        u[0] = (char)(0xe0 | c >> 12), u[1] = (char)(0x80 | (c >> 6 & 63)), u[2] = (char)(0x80 | (c & 63));
    } else {
        u[0] = (char)(0xf0 | c >> 18), u[1] = (char)(0x80 | (c >> 12 & 63));
        u[2] = (char)(0x80 | (c >> 6 & 63)), u[3] = (char)(0x80 | (c & 63));
    }
    return arena_printf(p->arena, "%s%s%s", quote, u, quote);
}

static void choose_width(printing *p)
{
    char digits[REAL_TEXT];
    for (int64_t k = 0; k < p->shown; k++) {
        int n = ir_type_signed(p->a->type) ? snprintf(digits, sizeof(digits), "%" PRId64, signed_at(p, k))
                                           : snprintf(digits, sizeof(digits), "%" PRIu64, unsigned_at(p, k));
        widen(&p->left, n);
    }
}

static const char *format_next(printing *p)
{
    int64_t k = p->next++;
    if (ir_type_float(p->a->type))
        return p->a->rank ? format_real(p, real_at(p, k)) : format_single(p, real_at(p, k));
    if (p->a->type == T_CHAR)
        return format_char(p, (uint32_t)unsigned_at(p, k));
    if (p->a->type == T_BOOL)
        return p->element[k] ? (p->a->rank ? " True" : "True") : "False";
    if (ir_type_signed(p->a->type))
        return arena_printf(p->arena, "%*" PRId64, p->left, signed_at(p, k));
    return arena_printf(p->arena, "%*" PRIu64, p->left, unsigned_at(p, k));
}

/* --- lines --- */

/* Characters, not bytes, of UTF-8. */
static int places(const char *word)
{
    int n = 0;
    for (; *word; word++)
        n += (*word & 0xc0) != 0x80;
    return n;
}

/* A word at the end of a line that has `column` characters, or in a new line if `width` are too few for it. */
static void put_word(printing *p, const char *word, int indent, int width, int *column)
{
    if (*column + places(word) > width && *column > indent) {
        while (p->out.n && p->out.at[p->out.n - 1] == ' ')
            p->out.at[--p->out.n] = 0;
        text_printf(&p->out, "\n%*s", indent, "");
        *column = indent;
    }
    text_add(&p->out, word);
    *column += places(word);
}

/* A row, behind its opening bracket; `closing`: brackets that end behind it. */
static void put_row(printing *p, int indent, int closing)
{
    int64_t n = p->a->extent[p->a->rank - 1], shown = shown_of(p, n);
    int column = indent, width = LINE - closing;
    for (int64_t k = 0; k < shown; k++) {
        if (shown < n && k == EDGE) {
            put_word(p, "...", indent, width, &column);
            text_add(&p->out, " ");
            column++;
        }
        put_word(p, format_next(p), indent, width, &column);
        if (k + 1 < shown) {
            text_add(&p->out, " ");
            column++;
        }
    }
}

/* All of one dimension. Nested at most as deeply as arrays have ranks. */
static void put_dimension(printing *p, int dimension)
{
    int left = p->a->rank - dimension;
    int64_t n = p->a->extent[dimension], shown = shown_of(p, n);
    text_add(&p->out, "[");
    if (left == 1) {
        put_row(p, dimension + 1, p->a->rank);
    } else {
        for (int64_t k = 0; k < shown; k++) {
            if (shown < n && k == EDGE)
                text_printf(&p->out, "%*s...%.*s", dimension + 1, "", left - 1, "\n\n\n\n\n\n\n\n");
            if (k)
                text_printf(&p->out, "%*s", dimension + 1, "");
            put_dimension(p, dimension + 1);
            if (k + 1 < shown)
                text_printf(&p->out, "%.*s", left - 1, "\n\n\n\n\n\n\n\n");
        }
    }
    text_add(&p->out, "]");
}

static void put_array(printing *p)
{
    const sn_array *a = p->a;
    size_t size = ir_type_size(a->type);
    p->shortened = a->bytes / size > MOST_SHOWN;
    p->shown = 1;
    for (int d = 0; d < a->rank; d++)
        p->shown *= shown_of(p, a->extent[d]);
    if (!p->shown) {
        text_add(&p->out, "[]");
        return;
    }
    p->element = arena_alloc(p->arena, (size_t)p->shown * size);
    if (!fetch(p))
        return;
    if (ir_type_float(a->type))
        choose_form(p);
    else if (a->type != T_BOOL && a->type != T_CHAR)
        choose_width(p);
    if (a->rank)
        put_dimension(p, 0);
    else
        text_add(&p->out, format_next(p));
}

/* The text, in the arena; NULL, reported, after an error. */
static const char *array_text(const sn_array *a, api_who who, arena *room, sn_status *status)
{
    sn_context *cx = a->context;
    jmp_buf failure;
    printing p = {.a = a, .who = who, .arena = room};
    arena_init(room, &cx->heap);
    volatile sn_status made = SN_NO_MEMORY;
    const char *volatile said = NULL;
    if (!setjmp(failure)) {
        arena_on_failure(room, &failure);
        text_init(&p.out, room);
        put_array(&p);
        made = p.status;
        said = p.status == SN_OK ? p.out.at : NULL;
    } else {
        api_fail_at(cx, who, SN_NO_MEMORY, "no memory for the text of an array");
    }
    arena_on_failure(room, NULL);
    *status = made;
    return said;
}

int64_t sn_format_at(sn_site at, const sn_array *array, char *to, size_t size)
{
    const api_who who = api_function_at(at, "sn_format");
    if (!array || handle_stale(array, HANDLE_ARRAY, "sn_format"))
        return -1;
    if (!to && size) {
        api_fail_at(array->context, who, SN_BAD_ARGUMENT,
                    "there is no memory for %zu bytes: the pointer is NULL; NULL and 0 ask for the length", size);
        return -1;
    }
    arena room;
    sn_status status;
    const char *said = array_text(array, who, &room, &status);
    int64_t length = said ? (int64_t)strlen(said) : -1;
    if (said && size)
        snprintf(to, size, "%s", said);
    arena_free(&room);
    return length;
}

int64_t(sn_format)(const sn_array *array, char *to, size_t size)
{
    return sn_format_at((sn_site){NULL, 0}, array, to, size);
}

sn_status sn_print_at(sn_site at, const sn_array *array)
{
    const api_who who = api_function_at(at, "sn_print");
    if (array && handle_stale(array, HANDLE_ARRAY, "sn_print"))
        return SN_BAD_HANDLE;
    if (!array)
        return SN_BAD_ARGUMENT;
    arena room;
    sn_status status;
    char why[128];
    const char *said = array_text(array, who, &room, &status);
    if (said && printf("%s\n", said) < 0)
        status = api_fail_at(array->context, who, SN_FILE, "stdout cannot be written: %s",
                             strerror_r(errno, why, sizeof(why)));
    arena_free(&room);
    return status;
}

sn_status(sn_print)(const sn_array *array)
{
    return sn_print_at((sn_site){NULL, 0}, array);
}
