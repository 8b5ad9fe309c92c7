#include "support/written.h"

#include "support/share.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

const char *written_read(const char *name, arena *a)
{
    text t;
    text_init(&t, a);
    FILE *f = fopen(name, "r");
    char some[4096];
    for (size_t n = 1; f && n;) {
        n = fread(some, 1, sizeof(some), f);
        text_add_n(&t, some, n);
    }
    if (f)
        fclose(f);
    return t.at;
}

const char *written_line(const char **at, arena *a)
{
    if (!**at)
        return NULL;
    size_t n = strcspn(*at, "\n");
    char *line = arena_copy(a, *at, n + 1);
    line[n] = 0;
    *at += n + ((*at)[n] != 0);
    return line;
}

void written_indented(text *out, const char *all)
{
    for (const char *s = all; *s;) {
        const size_t n = strcspn(s, "\n");
        text_printf(out, "%s%.*s\n", s > all ? " " : "", (int)n, s);
        s += n + (s[n] != 0);
    }
}

unsigned written_entries(const char *s)
{
    unsigned n = 0;
    for (; *s; s += strcspn(s, "\n"), s += *s != 0)
        n += *s != ' ';
    return n;
}

static void write_all(const char *name, const char *s)
{
    FILE *f = fopen(name, "w");
    assert_non_null(f);
    assert_true(fputs(s, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

/* One of so many is taken: of the two and five of other tests all and one of three. */
static unsigned share(void)
{
    return getenv("SINTER_TEST_WRITE") ? 1 : (test_share() + 1) / 2;
}

static unsigned part, parts = 1;

void written_part(unsigned at, unsigned of)
{
    part = at;
    parts = of;
}

bool written_takes(unsigned number)
{
    return number % share() == 0 && number / share() % parts == part;
}

/* Behind what begins with this line, if it is not that of the other text. */
static const char *behind_missing(const char *wanted, const char *got)
{
    size_t n = strcspn(got, "\n");
    while (*wanted && (strcspn(wanted, "\n") != n || memcmp(wanted, got, n) != 0))
        do
            wanted += strcspn(wanted, "\n") + (wanted[strcspn(wanted, "\n")] != 0);
        while (*wanted == ' ');
    return wanted;
}

static void compare(const char *name, const char *wanted, const char *got)
{
    const char *program = got;
    for (unsigned line = 1; *got || *wanted; line++) {
        if (*got != ' ' && *wanted != ' ' && share() * parts > 1) /* else more is wanted of what is before it */
            wanted = behind_missing(wanted, got);
        size_t n = strcspn(got, "\n"), m = strcspn(wanted, "\n");
        if (n && *got != ' ')
            program = got;
        if (n != m || memcmp(got, wanted, n) != 0)
            fail_msg(
                "%s:%u (%.*s) is to be\n%.*s\nand not\n%.*s\nIf this is meant to be so: SINTER_TEST_WRITE=1 writes "
                "the file anew.",
                name, line, (int)strcspn(program, "\n"), program, (int)m, wanted, (int)n, got);
        got += n + (got[n] != 0);
        wanted += m + (wanted[m] != 0);
    }
}

void written_compare(const char *name, const text *t, arena *a)
{
    if (getenv("SINTER_TEST_WRITE"))
        write_all(name, t->at);
    compare(name, written_read(name, a), t->at);
}
