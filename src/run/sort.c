/* The rounds of a sort by digits are those of bits in which keys differ, which the first count finds out. Where there
 * would be several, and elements fit, one round by the most significant digit makes buckets that are sorted in the
 * caches. */
#include "run/sort.h"

#include "run/transfer.h"

enum { KEY_BITS = 64, FEW_ROUNDS = 2 /* take no longer than buckets */ };

static const sk_cluster *code_of(const run *c, const plan_launch *l)
{
    return &c->r->code[l->cluster];
}

static const ir_array *sorted(const run *c, const plan_launch *l)
{
    return ir_info(c->r->l->ir, code_of(c, l)->loop->op.at[0].term);
}

static unsigned width_of(ir_type t)
{
    return t == T_BOOL ? 1 : (unsigned)ir_type_size(t) * 8;
}

/* Before anything is known: the first key's most significant digit where that may be all, and the last one's least
 * significant one where it is not. */
static sk_digit guess(const run *c, const plan_launch *l, const sk_sort_words *w)
{
    const ir_array *info = sorted(c, l);
    unsigned bits = 0;
    for (uint32_t k = 0; k < info->keys; k++)
        bits += width_of(info->type[k]);
    if (!w->room || bits <= FEW_ROUNDS * w->other_bits)
        return (sk_digit){(uint8_t)(info->keys - 1), 0, .first = true};
    unsigned width = width_of(info->type[0]);
    return (sk_digit){0, (uint8_t)(width > w->top_bits ? width - w->top_bits : 0), .first = true, .top = true};
}

/* The bits in which the numbers of each key differ: those that some have and not all. */
static bool find_bits(run *c, const plan_launch *l, const sk_sort_words *w, uint64_t *differs)
{
    const int64_t n = w->pieces * 2 * w->keys;
    uint64_t *word = arena_alloc(c->arena, (size_t)n * sizeof(uint64_t) + 1);
    uint64_t *all = arena_array(c->arena, uint64_t, w->keys);
    if (!run_read_words(c, l->state, w->places, n, word))
        return false;
    for (uint32_t k = 0; k < w->keys; k++)
        all[k] = UINT64_MAX;
    for (int64_t i = 0; i < n; i += 2) {
        differs[i / 2 % w->keys] |= word[i];
        all[i / 2 % w->keys] &= word[i + 1];
    }
    for (uint32_t k = 0; k < w->keys; k++)
        differs[k] &= ~all[k];
    return true;
}

/* Does the digit that has been counted have all bits in which keys differ? */
static bool is_enough(const sk_digit *counted, const sk_sort_words *w, const uint64_t *differs)
{
    uint64_t others = 0;
    for (uint32_t k = 0; k < w->keys; k++) {
        uint64_t moved = differs[k] >> counted->shift;
        bool here = k == counted->component && moved >> w->digit_bits == 0 && moved << counted->shift == differs[k];
        others |= here ? 0 : differs[k];
    }
    return !others;
}

/* Digits that have all these bits, least significant first. Keys that are all equal still have to move once. */
static void list_rounds(run *c, run_sort *s, const sk_sort_words *w, const uint64_t *differs)
{
    const unsigned bits = w->other_bits;
    s->digit = arena_array(c->arena, sk_digit, w->keys * (KEY_BITS / (size_t)bits + 1) + 1);
    for (uint32_t k = w->keys; k-- > 0;)
        for (uint64_t rest = differs[k]; rest; s->rounds++) {
            unsigned shift = (unsigned)__builtin_ctzll(rest);
            if (!s->rounds && k == s->ask.component && shift >= s->ask.shift && shift < s->ask.shift + bits &&
                !s->ask.top)
                shift = s->ask.shift; /* it has been counted already, and has these bits, too */
            s->digit[s->rounds] = (sk_digit){(uint8_t)k, (uint8_t)shift, .first = false};
            rest = shift + bits < KEY_BITS ? rest >> (shift + bits) << (shift + bits) : 0;
        }
    if (is_enough(&s->ask, w, differs)) {
        s->digit[0] = s->ask;
        s->rounds = 1;
    }
    s->digit[0].first = true;
}

/* The digit of the most significant bits in which keys differ: there are some. */
static sk_digit most_significant(const sk_sort_words *w, const uint64_t *differs)
{
    uint32_t k = 0;
    while (!differs[k])
        k++;
    unsigned end = KEY_BITS - (unsigned)__builtin_clzll(differs[k]);
    unsigned shift = end > w->top_bits ? end - w->top_bits : 0;
    return (sk_digit){(uint8_t)k, (uint8_t)shift, .first = true, .top = true};
}

/* Do the elements of each digit fit where they are to be sorted? */
static bool find_buckets(run *c, const plan_launch *l, const sk_sort_words *w, bool *fit)
{
    const int64_t buckets = (int64_t)1 << w->digit_bits, words = w->pieces_a_row * buckets;
    uint64_t *place = arena_alloc(c->arena, (size_t)w->places * sizeof(uint64_t) + 1);
    if (!run_read_words(c, l->state, 0, w->places, place))
        return false;
    *fit = true;
    for (int64_t row = 0; row < w->places; row += words)
        for (int64_t d = 0; d < buckets; d++) {
            int64_t first = (int64_t)place[row + d * w->pieces_a_row];
            int64_t end = d + 1 < buckets ? (int64_t)place[row + (d + 1) * w->pieces_a_row] : w->row_length;
            *fit &= end - first <= w->room;
        }
    return true;
}

static bool same(sk_digit x, sk_digit y)
{
    return x.component == y.component && x.shift == y.shift && x.top == y.top;
}

/* What has been counted is looked at: is it what elements are to be moved by? Else `ask` is what to count next. */
static bool plan_rounds(run *c, uint32_t launch, bool *move)
{
    const plan_launch *l = &c->plan->launch.at[launch];
    run_sort *s = &c->sort[l->cluster];
    const sk_digit counted = s->ask;
    const run_geometry *g = c->sized[launch - 2].found; /* of the count */
    const sk_sort_words w = sk_words_of_sort(code_of(c, l), &c->r->options, &g->geometry);
    uint64_t *differs = arena_array(c->arena, uint64_t, w.keys);
    bool fit = false;
    if (s->way == RUN_SORT_UNKNOWN) {
        if (!find_bits(c, l, &w, differs))
            return false;
        list_rounds(c, s, &w, differs);
        s->way = w.room && s->rounds > FEW_ROUNDS ? RUN_SORT_TRIES : RUN_SORT_DIGITS;
        s->ask = s->way == RUN_SORT_TRIES ? most_significant(&w, differs) : s->digit[0];
    }
    if (s->way == RUN_SORT_TRIES && same(s->ask, counted)) {
        if (!find_buckets(c, l, &w, &fit))
            return false;
        s->way = fit ? RUN_SORT_BUCKETS : RUN_SORT_DIGITS;
        s->ask = fit ? s->ask : s->digit[0];
    }
    *move = same(s->ask, counted);
    return true;
}

/* How many elements fall, all pieces taken together, and where the last one is: of two sorted rows one, if any. */
static bool find_runs(run *c, uint32_t launch, run_sort *s)
{
    const plan_launch *l = &c->plan->launch.at[launch];
    const sk_geometry *g = &c->sized[c->plan->cluster.at[l->cluster].launch + 1].found->geometry; /* of SK_PASS_RUNS */
    uint64_t *word = arena_alloc(c->arena, (size_t)g->pieces * 2 * sizeof(uint64_t) + 1);
    uint64_t falls = 0, last = 0;
    if (!run_read_words(c, l->state, 0, 2 * g->pieces, word))
        return false;
    for (int64_t i = 0; i < g->pieces; i++) {
        falls += word[2 * i];
        last = word[2 * i] ? word[2 * i + 1] : last;
    }
    s->looked = true;
    s->merges = falls <= 1;
    s->run = falls ? (int64_t)last : g->slot[0];
    return true;
}

/* Has this pass of a row that may be two sorted ones something to do? */
static bool wants_of_runs(const run_sort *s, sk_pass pass, bool by_digits)
{
    switch (pass) {
    case SK_PASS_RUNS:
    case SK_PASS_CHUNKS: /* once, unless it is two */
        return pass == SK_PASS_RUNS ? !s->looked : !s->merges && !s->chunks;
    case SK_PASS_SPLITS:
    case SK_PASS_MERGE:
        return s->merges || !by_digits;
    default:
        return !s->merges;
    }
}

/* Where elements go must not depend on what a launch that failed left undone. */
static bool settled(run *c)
{
    return !c->unsettled || run_settle(c);
}

bool run_sort_wants(run *c, uint32_t launch, sk_round *round, bool *good)
{
    const plan_launch *l = &c->plan->launch.at[launch];
    run_sort *s = &c->sort[l->cluster];
    const bool planned = s->way == RUN_SORT_BUCKETS || s->way == RUN_SORT_DIGITS;
    bool wants = true;
    *round = (sk_round){.pass = l->pass};
    *good = l->pass == SK_PASS_LOOP || settled(c);
    if (!*good)
        return false;
    if (l->pass == SK_PASS_LOOP)
        *s = (run_sort){0};
    if (l->pass != SK_PASS_LOOP && sk_sorts_runs(code_of(c, l))) {
        if (l->pass != SK_PASS_RUNS && !s->looked && !(*good = find_runs(c, launch, s)))
            return false;
        if (!wants_of_runs(s, l->pass, sk_sorts_by_digits(code_of(c, l))))
            return false;
        round->digit.first = s->merges && (l->pass == SK_PASS_SPLITS || l->pass == SK_PASS_MERGE);
    }
    if ((l->pass == SK_PASS_SPLITS || l->pass == SK_PASS_MERGE) && !s->merges)
        round->partials = c->left[l->cluster];
    if (l->pass == SK_PASS_COUNT && s->way == RUN_SORT_UNKNOWN) {
        const plan_cluster *pc = &c->plan->cluster.at[l->cluster];
        const sk_sort_words w = sk_words_of_sort(code_of(c, l), &c->r->options, &c->sized[pc->launch].found->geometry);
        s->ask = guess(c, l, &w);
    }
    if (l->pass == SK_PASS_SCATTER && !planned)
        *good = plan_rounds(c, launch, &wants);
    if (l->pass == SK_PASS_BUCKETS)
        wants = s->way == RUN_SORT_BUCKETS;
    if (l->pass == SK_PASS_COUNT || l->pass == SK_PASS_SCATTER || l->pass == SK_PASS_BUCKETS)
        round->digit = s->ask;
    if (l->pass == SK_PASS_PLACES) /* one kernel for all digits of as many bits */
        round->digit.top = s->ask.top;
    return *good && wants;
}

void run_sort_sized(run *c, uint32_t launch)
{
    const plan_launch *l = &c->plan->launch.at[launch];
    run_sort *s = &c->sort[l->cluster];
    int64_t left = c->left[l->cluster]; /* 1 + rounds from this one on */
    if (l->pass == SK_PASS_LOOP)
        left = c->sized[launch].found->geometry.partials + 1;
    if (l->pass == SK_PASS_CHUNKS)
        left = c->sized[launch].found->geometry.partials + 1;
    if (l->pass == SK_PASS_RUNS || s->merges)
        left = l->pass == SK_PASS_RUNS ? 1 : 2; /* to the memory beside the result, and from there to it */
    if (s->way == RUN_SORT_DIGITS)
        left = 1 + s->rounds - s->next;
    s->to_result = s->way == RUN_SORT_BUCKETS ? l->pass == SK_PASS_BUCKETS : left % 2 == 0;
}

void run_sort_launched(run *c, uint32_t launch)
{
    const plan_launch *l = &c->plan->launch.at[launch];
    run_sort *s = &c->sort[l->cluster];
    int64_t *left = &c->left[l->cluster];
    if (l->pass == SK_PASS_LOOP || l->pass == SK_PASS_CHUNKS)
        *left = c->sized[launch].found->geometry.partials;
    s->chunks |= l->pass == SK_PASS_CHUNKS;
    if (l->pass == SK_PASS_MERGE)
        *left = s->merges ? 1 : *left - 1;
    if (l->pass == SK_PASS_BUCKETS)
        *left = 1;
    if (l->pass != SK_PASS_SCATTER || s->way != RUN_SORT_DIGITS)
        return;
    *left = 1 + s->rounds - ++s->next;
    if (s->next < s->rounds)
        s->ask = s->digit[s->next];
}

uint32_t run_sort_buffer(const run *c, uint32_t launch, uint32_t component, bool to)
{
    const plan_launch *l = &c->plan->launch.at[launch];
    uint32_t buffer = l->spare + component;
    if (to == c->sort[l->cluster].to_result)
        plan_find(c->plan, code_of(c, l)->loop->op.at[0].term, component, &buffer);
    return buffer;
}
