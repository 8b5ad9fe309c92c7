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

enum { LIMITS = 3, MOST_SUMMARIES = 32 };
static const double limits[LIMITS] = {1.3, 3, 10};

/* Of the lines of a group, or of several. */
struct summary {
    const char *name;
    int lines;
    int above[LIMITS];
    int slower; /* than the opponent, by more than noise */
    double logarithms;
};

static void count_in(struct summary *s, double ratio)
{
    s->lines++;
    s->logarithms += log(ratio);
    s->slower += ratio > 1.05;
    for (int k = 0; k < LIMITS; k++)
        s->above[k] += ratio > limits[k];
}

static void print_summary(FILE *out, const struct summary *s)
{
    if (s->lines > 0)
        fprintf(out, "%-22s %4d lines, geometric mean %6.3f, above 1.3: %3d, above 3: %3d, above 10: %3d\n", s->name,
                s->lines, exp(s->logarithms / s->lines), s->above[0], s->above[1], s->above[2]);
}

static struct summary *summary_of(struct summary *list, const char *name)
{
    int i = 0;
    while (i < MOST_SUMMARIES - 1 && list[i].name && strcmp(list[i].name, name) != 0)
        i++;
    list[i].name = name;
    return &list[i];
}

void nb_report(FILE *out, struct nb_result *results, size_t count)
{
    struct summary all = {.name = "all against C"}, group[MOST_SUMMARIES] = {{.name = NULL}};
    int failed = 0;
    qsort(results, count, sizeof *results, worse);
    fprintf(out, "%-52s %10s %10s %10s %8s\n", "program", "n", "sinter ms", "other ms", "ratio");
    for (size_t i = 0; i < count; i++) {
        const struct nb_result *r = &results[i];
        fprintf(out, "%-52s %10" PRId64 " %10.4f %10.4f %8.3f%s%s\n", r->name, r->n, r->sinter * 1e3, r->opponent * 1e3,
                nb_ratio(r), r->good ? "" : "  FAILED: ", r->good ? "" : r->text);
        failed += !r->good;
        if (nb_ratio(r) == 0)
            continue;
        count_in(summary_of(group, r->group), nb_ratio(r));
        if (strcmp(r->group, "equal") != 0 && strcmp(r->group, "fusion") != 0)
            count_in(&all, nb_ratio(r));
    }
    for (int i = 0; i < MOST_SUMMARIES && group[i].name; i++)
        print_summary(out, &group[i]);
    print_summary(out, &all);
    int slower = summary_of(group, "fusion")->slower;
    if (slower > 0)
        fprintf(out, "fusion makes %d slower\n", slower);
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
