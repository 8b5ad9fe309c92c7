/* The rounds of a sort by digits are those of bits in which keys differ; the first round finds them out. */
#include "run/sort.h"

#include "run/transfer.h"

enum { KEY_BITS = 64 };

static const sk_cluster *code_of(const run *c, const plan_launch *l)
{
    return &c->r->code[l->cluster];
}

static const ir_array *sorted(const run *c, const plan_launch *l)
{
    return ir_info(c->r->l->ir, code_of(c, l)->loop->op.at[0].term);
}

/* Before anything is known: the last key's least significant one. */
static sk_digit guess(const run *c, const plan_launch *l)
{
    return (sk_digit){(uint8_t)(sorted(c, l)->keys - 1), 0, true};
}

sk_round run_sort_round(run *c, uint32_t launch)
{
    const plan_launch *l = &c->plan->launch.at[launch];
    const run_sort *s = &c->sort[l->cluster];
    sk_round round = {.pass = l->pass};
    if (l->pass == SK_PASS_SPLITS || l->pass == SK_PASS_MERGE)
        round.partials = c->left[l->cluster];
    if (l->pass == SK_PASS_COUNT || l->pass == SK_PASS_PLACES || l->pass == SK_PASS_SCATTER)
        round.digit = s->rounds ? s->digit[s->next] : guess(c, l);
    if (l->pass == SK_PASS_PLACES) /* one kernel for all */
        round.digit = (sk_digit){0};
    return round;
}

/* The bits in which the numbers of each key differ: those that some have and not all. */
static bool find_bits(run *c, const plan_launch *l, const sk_sort_words *w, uint64_t *differs)
{
    const int64_t n = w->pieces * 2 * w->keys;
    uint64_t *word = arena_alloc(c->arena, (size_t)n * sizeof(uint64_t) + 1);
    uint64_t *all = arena_alloc(c->arena, w->keys * sizeof(uint64_t));
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

/* Digits that have all these bits, least significant first. Keys that are all equal still have to move once. */
static void list_rounds(run *c, const plan_launch *l, const sk_sort_words *w, const uint64_t *differs)
{
    run_sort *s = &c->sort[l->cluster];
    s->digit = arena_alloc(c->arena, (w->keys * (KEY_BITS / (size_t)w->digit_bits + 1) + 1) * sizeof(sk_digit));
    for (uint32_t k = w->keys; k-- > 0;)
        for (uint64_t rest = differs[k]; rest; s->rounds++) {
            unsigned shift = (unsigned)__builtin_ctzll(rest);
            if (!s->rounds && k + 1 == w->keys && shift < w->digit_bits)
                shift = 0; /* it has been counted already */
            s->digit[s->rounds] = (sk_digit){(uint8_t)k, (uint8_t)shift, false};
            rest = shift + w->digit_bits < KEY_BITS ? rest >> (shift + w->digit_bits) << (shift + w->digit_bits) : 0;
        }
    if (!s->rounds)
        s->digit[s->rounds++] = guess(c, l);
    s->digit[0].first = true;
}

/* Where elements go must not depend on what a launch that failed left undone. */
static bool settled(run *c)
{
    return !c->unsettled || run_settle(c);
}

static bool plan_rounds(run *c, uint32_t launch, bool *skip)
{
    const plan_launch *l = &c->plan->launch.at[launch];
    run_sort *s = &c->sort[l->cluster];
    const sk_digit counted = guess(c, l);
    const sk_sort_words w = sk_words_of_sort(code_of(c, l), &c->sized[launch].found->geometry);
    uint64_t *differs = arena_alloc(c->arena, w.keys * sizeof(uint64_t));
    if (!settled(c) || !find_bits(c, l, &w, differs))
        return false;
    list_rounds(c, l, &w, differs);
    *skip = s->digit[0].component != counted.component || s->digit[0].shift != counted.shift;
    return true;
}

bool run_sort_sized(run *c, uint32_t launch, bool *skip)
{
    const plan_launch *l = &c->plan->launch.at[launch];
    run_sort *s = &c->sort[l->cluster];
    int64_t left = c->left[l->cluster]; /* 1 + rounds from this one on */
    *skip = false;
    if (l->pass == SK_PASS_LOOP) {
        *s = (run_sort){0};
        left = c->sized[launch].found->geometry.partials + 1;
    } else if (!settled(c)) {
        return false;
    }
    if (l->pass == SK_PASS_SCATTER) {
        if (!s->rounds && !plan_rounds(c, launch, skip))
            return false;
        left = 1 + s->rounds - s->next;
    }
    s->to_result = left % 2 == 0;
    return true;
}

void run_sort_launched(run *c, uint32_t launch)
{
    const plan_launch *l = &c->plan->launch.at[launch];
    run_sort *s = &c->sort[l->cluster];
    int64_t *left = &c->left[l->cluster];
    if (l->pass == SK_PASS_LOOP)
        *left = c->sized[launch].found->geometry.partials;
    if (l->pass == SK_PASS_MERGE)
        --*left;
    if (l->pass == SK_PASS_SCATTER)
        *left = 1 + s->rounds - ++s->next;
}

uint32_t run_sort_buffer(const run *c, uint32_t launch, uint32_t component, bool to)
{
    const plan_launch *l = &c->plan->launch.at[launch];
    uint32_t buffer = l->spare + component;
    if (to == c->sort[l->cluster].to_result)
        plan_find(c->plan, code_of(c, l)->loop->op.at[0].term, component, &buffer);
    return buffer;
}
