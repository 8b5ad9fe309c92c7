/* sinter-export: a program's text becomes an object and a header, for programs that have no compiler with them. */
#include <sinter/sinter.h>

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: sinter-export [--for SETS] [--] TEXT PREFIX\n"
    "       sinter-export --help | --version\n\n"
    "Reads a program from the file TEXT (\"-\": standard input), which is what sn_explain(program, \"term\")\n"
    "gives, and writes PREFIX.o and PREFIX.h, with code for sets of instructions: --for all, or some of\n"
    "x86-64-v2, x86-64-v3, x86-64-v4, separated by commas; without it that of this processor.\n";

static int refuse(const char *what, const char *which)
{
    fprintf(stderr, "sinter-export: %s%s\n%s", what, which, usage);
    return 2;
}

static int print(const char *what)
{
    if (fputs(what, stdout) >= 0 && fflush(stdout) == 0)
        return 0;
    fprintf(stderr, "sinter-export: the output cannot be written: %s\n", strerror(errno));
    return 1;
}

/* The whole file, ended by a 0, which may be in it elsewhere, too; NULL and errno: it cannot be read. */
static char *read_all(FILE *f, size_t *bytes)
{
    size_t n = 0, room = 0;
    char *text = NULL;
    do {
        if (room - n < 4096) {
            room = 2 * room + 8192;
            char *more = realloc(text, room);
            if (!more) {
                free(text);
                return NULL;
            }
            text = more;
        }
        n += fread(text + n, 1, room - n - 1, f);
    } while (!feof(f) && !ferror(f));
    text[n] = 0;
    *bytes = n;
    if (!ferror(f))
        return text;
    const int error = errno;
    free(text);
    errno = error;
    return NULL;
}

/* NULL: it is said why. */
static char *read_file(const char *path)
{
    FILE *f = strcmp(path, "-") ? fopen(path, "rbe") : stdin;
    size_t bytes = 0;
    char *text = f ? read_all(f, &bytes) : NULL;
    if (!text)
        fprintf(stderr, "sinter-export: %s cannot be read: %s\n", path, strerror(errno));
    if (f && f != stdin)
        fclose(f);
    if (!text || strlen(text) == bytes)
        return text;
    fprintf(stderr, "sinter-export: %s is no text: there is a zero byte in it\n", path);
    free(text);
    return NULL;
}

static void say(void *path, const char *said)
{
    fprintf(stderr, "sinter-export: %s: %s\n", (const char *)path, said);
}

static int export_it(char *path, const char *prefix, const char *sets)
{
    const sn_site nowhere = {NULL, 0}; /* mistakes are in the text, and have its lines */
    char *text = read_file(path);
    if (!text)
        return 1;
    unsetenv("SINTER_DEVICE"); /* which is for programs that run */
    const sn_options options = {.size = sizeof options, .device = "cpu", .message = say, .env = path};
    sn_context *cx = sn_open(&options);
    sn_program *p = cx ? sn_parse_program_at(nowhere, cx, text) : NULL;
    const sn_status status =
        p ? sn_export_for_at(nowhere, p, prefix, sets) : SN_NO_PROGRAM; /* what is wrong has been said */
    sn_drop(p);
    sn_close(cx);
    free(text);
    return status == SN_OK ? 0 : 1;
}

int main(int n, char **argument)
{
    const char *sets = NULL;
    char *operand[2] = {NULL};
    int operands = 0;
    bool options = true; /* until "--" */
    for (int i = 1; i < n; i++) {
        if (options && !strcmp(argument[i], "--help"))
            return print(usage);
        if (options && !strcmp(argument[i], "--version")) {
            char version[64];
            int v = sn_version();
            snprintf(version, sizeof version, "sinter-export %d.%d.%d\n", v / 10000, v / 100 % 100, v % 100);
            return print(version);
        }
        if (options && !strcmp(argument[i], "--")) {
            options = false;
        } else if (options && !strcmp(argument[i], "--for")) {
            if (++i == n || !argument[i][strspn(argument[i], " ,")])
                return refuse("--for wants sets of instructions", "");
            sets = argument[i];
        } else if (options && argument[i][0] == '-' && argument[i][1]) {
            return refuse("unknown argument ", argument[i]);
        } else if (operands == 2) {
            return refuse("one argument too many: ", argument[i]);
        } else {
            operand[operands++] = argument[i];
        }
    }
    return operands < 2 ? refuse("a text and a prefix are wanted", "") : export_it(operand[0], operand[1], sets);
}
