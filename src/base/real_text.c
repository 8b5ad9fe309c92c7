/* Floating-point numbers as text, as in the "C" locale whatever the program that uses the library has set: texts are
 * keys of caches, sources of other compilers, and read back on other machines. */
#include "base/base.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LONGEST = 48 };

/* The calling thread's locale becomes "C" until leave. Nothing that may jump away stands between the two. */
typedef struct borrowed_locale {
    locale_t own, before;
} borrowed_locale;

static borrowed_locale enter(void)
{
    borrowed_locale b = {.own =
                             newlocale(LC_ALL_MASK, "C", (locale_t)0)}; /* a constant of the C library: it is there */
    b.before = uselocale(b.own);
    return b;
}

static void leave(borrowed_locale b)
{
    uselocale(b.before);
    if (b.own)
        freelocale(b.own);
}

double text_read_f64(const char *at, char **end)
{
    borrowed_locale b = enter();
    double v = strtod(at, end);
    leave(b);
    return v;
}

float text_read_f32(const char *at, char **end)
{
    borrowed_locale b = enter();
    float v = strtof(at, end);
    leave(b);
    return v;
}

void text_f64(text *t, double value)
{
    char digits[LONGEST];
    if (isnan(value)) {
        uint64_t bits;
        memcpy(&bits, &value, 8);
        text_printf(t, "nan(0x%llx)", (unsigned long long)bits);
        return;
    }
    if (isinf(value)) {
        text_add(t, value < 0 ? "-inf" : "inf");
        return;
    }
    borrowed_locale b = enter();
    snprintf(digits, sizeof(digits), value == floor(value) && fabs(value) < 1e15 ? "%.1f" : "%a", value);
    leave(b);
    text_add(t, digits);
}

void text_f32(text *t, float value)
{
    if (!isnan(value)) {
        text_f64(t, (double)value);
        return;
    }
    uint32_t bits;
    memcpy(&bits, &value, 4);
    text_printf(t, "nan(0x%lx)", (unsigned long)bits);
}

void text_shortest(text *t, double value, bool single, int least)
{
    char digits[LONGEST];
    borrowed_locale b = enter();
    for (int precision = least; precision <= 17; precision++) {
        snprintf(digits, sizeof(digits), "%.*g", precision, value);
        if (single ? (double)strtof(digits, NULL) == value : strtod(digits, NULL) == value)
            break;
    }
    leave(b);
    text_add(t, digits);
}

void real_text(char digits[REAL_TEXT], char form, int precision, double value)
{
    borrowed_locale b = enter();
    snprintf(digits, REAL_TEXT, form == 'e' ? "%.*e" : "%.*f", precision, value);
    leave(b);
}

int real_precision(double value, bool single)
{
    char digits[REAL_TEXT];
    int precision = 0;
    borrowed_locale b = enter();
    for (; precision < 16; precision++) {
        snprintf(digits, sizeof(digits), "%.*e", precision, value);
        if (single ? (double)strtof(digits, NULL) == value : strtod(digits, NULL) == value)
            break;
    }
    leave(b);
    return precision;
}
