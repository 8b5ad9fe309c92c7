/* Sorts in drivers: the rounds that run/sort.c decides on from what has been counted. By digits they are those of bits
 * in which keys differ; of rows that may be two sorted ones one round merges them, if they are. The first digit is
 * always one of the last key, even if these are all alike: of a stable sort there is one result, and only elements of
 * the first round are computed. */
#include "api/export_driver.h"

typedef struct sort {
    writer *w;
    uint32_t cluster;
    const ir_array *info;
    const sk_cluster *code;
} sort;

/* The cluster's launch in a pass, of a digit of the key. */
static bool size(const sort *s, sk_pass pass, sizing_of how, sized_launch *out)
{
    const plan_cluster *pc = &s->w->p->cluster.at[s->cluster];
    for (uint32_t i = pc->launch; i < pc->launch + pc->launches; i++)
        if (s->w->p->launch.at[i].pass == pass)
            return driven_size(s->w, i, &how, out);
    return driven_refuse(s->w->d, "internal error: a sort has no such launch");
}

static bool size_digit(const sort *s, sk_pass pass, uint32_t key, bool first, sized_launch *out)
{
    return size(s, pass, (sizing_of){.behind = -1, .round.digit = {.component = (uint8_t)key, .first = first}}, out);
}

/* Sizes in a variable of their own, and the launch. `set`: statements between the two. */
static bool launch(const sort *s, const sized_launch *l, const char *set, const char *to)
{
    text_add(&s->w->body, "    {\n    sizes g = {0};\n");
    driven_sizes(s->w, l, "g");
    text_add(&s->w->body, set);
    if (!driven_launch(s->w, l, "g", to))
        return false;
    text_add(&s->w->body, "    }\n");
    return true;
}

/* --- by digits --- */

/* The launches of a pass: of elements of the program, then of each key. */
static bool digit_pass(const sort *s, sk_pass pass, const char *to)
{
    const uint32_t keys = s->info->keys;
    const char *set = arena_printf(s->w->d->arena, "    g.slot[%d] = digit.shift[i];\n", SK_SHIFT);
    for (uint32_t k = 0; k <= keys; k++) {
        sized_launch l;
        const bool first = k == keys;
        if (!size_digit(s, pass, first ? keys - 1 : k, first, &l))
            return false;
        if (first)
            text_add(&s->w->body, "    if (!i)\n");
        else
            text_printf(&s->w->body, "    if (i && digit.key[i] == %u)\n", k);
        if (!launch(s, &l, set, to))
            return false;
    }
    return true;
}

static bool by_digits(const sort *s)
{
    writer *w = s->w;
    const uint32_t keys = s->info->keys;
    const uint32_t state = w->p->launch.at[w->p->cluster.at[s->cluster].launch].state;
    sized_launch count, places;
    if (!size_digit(s, SK_PASS_COUNT, keys - 1, true, &count) || !size_digit(s, SK_PASS_PLACES, 0, false, &places))
        return false;
    text_printf(&w->body, "    {\n    digits digit = {0};\n    sizes c = {0};\n");
    driven_sizes(w, &count, "c");
    if (!driven_launch(w, &count, "c", "0"))
        return false;
    text_printf(
        &w->body,
        "    if (!find_digits(s, b[%u], c.slot[1] * c.slot[4], (int)c.slot[5], %u, &digit))\n        goto end;\n"
        "    for (unsigned i = 0; i < digit.n; i++) {\n    const int to = (digit.n - i) %% 2;\n"
        "    if (i && !settled(s))\n        goto end;\n    if (i || digit.shift[0]) {\n",
        state, keys);
    if (!digit_pass(s, SK_PASS_COUNT, "to"))
        return false;
    text_add(&w->body, "    }\n");
    if (!launch(s, &places, "", "0") || !digit_pass(s, SK_PASS_SCATTER, "to"))
        return false;
    text_add(&w->body, "    }\n    }\n");
    return true;
}

/* --- by comparison --- */

/* How many rounds a number of elements takes, and one more. */
static int64_t partials_of(const sized_launch *l, int64_t n)
{
    uint32_t i = 0;
    while (i + 1 < l->n && l->at[i].last < n)
        i++;
    int64_t number[RUN_NUMBERS];
    run_numbers_at(&l->at[i], n, number);
    return number[RUN_PARTIALS];
}

/* The least number of elements for which there is a round behind so many; more than the most: there is none. */
static int64_t least_of(const sized_launch *l, int64_t done)
{
    int64_t low = l->least, high = l->most + 1;
    while (low < high) {
        const int64_t n = low + (high - low) / 2;
        if (partials_of(l, n) - done >= 2)
            high = n;
        else
            low = n + 1;
    }
    return low;
}

/* Each round is made for runs of a length of its own. `left`: 1 + the rounds that are left. */
static bool by_comparison(const sort *s, const sized_launch *loop)
{
    writer *w = s->w;
    text_printf(&w->body, "    {\n    int64_t left = left%u;\n", s->cluster);
    for (int64_t done = 0; least_of(loop, done) <= loop->most; done++) {
        const sizing_of how = {.behind = done, .least = least_of(loop, done)};
        sized_launch splits, merge;
        if (!size(s, SK_PASS_SPLITS, how, &splits) || !size(s, SK_PASS_MERGE, how, &merge))
            return false;
        text_add(&w->body, "    if (left > 1) {\n    if (!settled(s))\n        goto end;\n");
        if (!launch(s, &splits, "", "left % 2 == 0") || !launch(s, &merge, "", "left % 2 == 0"))
            return false;
        text_add(&w->body, "    left--;\n    }\n");
    }
    text_add(&w->body, "    }\n");
    return true;
}

static bool sort_all(const sort *s, const sized_launch *loop)
{
    sized_launch chunks;
    if (s->info->keys)
        return by_digits(s);
    if (sk_sorts_runs(s->code) && /* LOOP has left them to this one */
        (!size(s, SK_PASS_CHUNKS, (sizing_of){.behind = -1}, &chunks) || !launch(s, &chunks, "", "g.partials % 2")))
        return false;
    return by_comparison(s, loop);
}

/* A row that may be two sorted ones goes to the memory beside the result; if it is, they are merged from there. */
static bool runs(const sort *s, const sized_launch *loop)
{
    writer *w = s->w;
    const uint32_t state = w->p->launch.at[w->p->cluster.at[s->cluster].launch].state;
    const sizing_of one = {.behind = -1, .round.digit.first = true};
    const char *set = arena_printf(w->d->arena, "    g.slot[%d] = run;\n", SK_RUN);
    sized_launch found, splits, merge;
    if (!size(s, SK_PASS_RUNS, (sizing_of){.behind = -1}, &found) || !size(s, SK_PASS_SPLITS, one, &splits) ||
        !size(s, SK_PASS_MERGE, one, &merge))
        return false;
    text_add(&w->body, "    {\n    int64_t run = 0;\n    sizes f = {0};\n");
    driven_sizes(w, &found, "f");
    if (!driven_launch(w, &found, "f", "0"))
        return false;
    text_printf(&w->body,
                "    if (!find_runs(s, b[%u], f.pieces, f.slot[0], &run))\n        goto end;\n    if (run) {\n", state);
    if (!launch(s, &splits, set, "1") || !launch(s, &merge, set, "1"))
        return false;
    text_add(&w->body, "    } else {\n");
    if (!sort_all(s, loop))
        return false;
    text_add(&w->body, "    }\n    }\n");
    return true;
}

bool driven_sort(writer *w, uint32_t cluster)
{
    const run_program *r = w->d->tape->r;
    const sort s = {.w = w,
                    .cluster = cluster,
                    .info = ir_info(r->l->ir, r->code[cluster].loop->op.at[0].term),
                    .code = &r->code[cluster]};
    sized_launch loop;
    if (!size(&s, SK_PASS_LOOP, (sizing_of){.behind = -1}, &loop))
        return false;
    text_printf(&w->body, "    if (left%u > 1) {\n    if (!settled(s))\n        goto end;\n", cluster);
    if (!(sk_sorts_runs(s.code) ? runs(&s, &loop) : sort_all(&s, &loop)))
        return false;
    text_add(&w->body, "    }\n");
    return true;
}
