#include "report.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

double nb_ratio(const struct nb_result *r)
{
    return r->opponent > 0 ? r->sinter / r->opponent : 0;
}

/* What failed stands first. */
static int worse(const void *a, const void *b)
{
    const struct nb_result *x = a, *y = b;
    if (x->good != y->good)
        return x->good ? 1 : -1;
    double difference = nb_ratio(y) - nb_ratio(x);
    return difference > 0 ? 1 : difference < 0 ? -1 : strcmp(x->name, y->name);
}

struct summary {
    int lines;
    int above[3];
    int slower;
    double logarithms;
};

static const double limits[] = {1.3, 3, 10};

static void count_in(struct summary *s, double ratio)
{
    s->lines++;
    s->logarithms += log(ratio);
    for (int k = 0; k < 3; k++)
        s->above[k] += ratio > limits[k];
    s->slower += ratio > 1.05;
}

static void print_summary(FILE *out, const char *what, const struct summary *s)
{
    if (s->lines > 0)
        fprintf(out, "%-26s %4d lines, geometric mean %.3f, above 1.3: %d, above 3: %d, above 10: %d\n", what, s->lines,
                exp(s->logarithms / s->lines), s->above[0], s->above[1], s->above[2]);
}

void nb_report(FILE *out, struct nb_result *results, size_t count)
{
    struct summary c = {0}, equal = {0}, fusion = {0};
    int failed = 0;
    qsort(results, count, sizeof *results, worse);
    fprintf(out, "%-52s %10s %10s %10s %8s\n", "program", "n", "sinter ms", "other ms", "ratio");
    for (size_t i = 0; i < count; i++) {
        const struct nb_result *r = &results[i];
        fprintf(out, "%-52s %10" PRId64 " %10.4f %10.4f %8.3f%s%s\n", r->name, r->n, r->sinter * 1e3, r->opponent * 1e3,
                nb_ratio(r), r->good ? "" : "  FAILED: ", r->good ? "" : r->text);
        failed += !r->good;
        if (nb_ratio(r) > 0)
            count_in(strcmp(r->group, "equal") == 0    ? &equal
                     : strcmp(r->group, "fusion") == 0 ? &fusion
                                                       : &c,
                     nb_ratio(r));
    }
    print_summary(out, "against C:", &c);
    print_summary(out, "equal formulations:", &equal);
    print_summary(out, "fused against unfused:", &fusion);
    if (fusion.slower > 0)
        fprintf(out, "fusion makes %d slower\n", fusion.slower);
    if (failed > 0)
        fprintf(out, "%d failed\n", failed);
}

bool nb_write_json(const char *path, const struct nb_result *results, size_t count)
{
    FILE *out = fopen(path, "w");
    if (out) {
        fputs("[", out);
        for (size_t i = 0; i < count; i++) {
            const struct nb_result *r = &results[i];
            fprintf(out, "%s\n  {\"program\": \"%s\", \"group\": \"%s\", \"n\": %" PRId64, i > 0 ? "," : "", r->name,
                    r->group, r->n);
            if (r->good)
                fprintf(out, ", \"sinter_ms\": %.5f, \"c_ms\": %.5f, \"ratio\": %.4f}", r->sinter * 1e3,
                        r->opponent * 1e3, nb_ratio(r));
            else
                fputs(", \"sinter_ms\": null, \"c_ms\": null, \"ratio\": null}", out);
        }
        fputs("\n]\n", out);
    }
    bool written = out && !ferror(out);
    if (out)
        written &= fclose(out) == 0;
    if (!written)
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
    return written;
}
