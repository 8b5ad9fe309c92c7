/* What the folds of a loop have come to: in variables, in memory, combined, finished. */
#include "skeleton/fold/fold.h"

k_val **sk_fold_accumulators(sk_folds *s)
{
    sk_lower *lw = s->lw;
    k_val **acc = arena_array(lw->arena, k_val *, s->fold.n);
    for (uint32_t i = 0; i < s->fold.n; i++) {
        const sk_fold *f = &s->fold.at[i];
        acc[i] = arena_array(lw->arena, k_val, f->n);
        for (uint32_t c = 0; c < f->n; c++)
            acc[i][c] = k_decl(&lw->b, k_literal(&lw->b, f->info->type[c], f->identity ? f->identity[c] : 0), "acc");
    }
    return acc;
}

k_mem **sk_fold_memory(sk_folds *s, bool shared, int64_t count, const char *name)
{
    k_builder *b = &s->lw->b;
    k_mem **m = arena_array(s->lw->arena, k_mem *, s->fold.n);
    for (uint32_t i = 0; i < s->fold.n; i++) {
        const sk_fold *f = &s->fold.at[i];
        m[i] = arena_array(s->lw->arena, k_mem, f->n);
        for (uint32_t c = 0; c < f->n; c++)
            m[i][c] = (shared ? k_shared : k_private)(b, f->info->type[c], count, name);
    }
    return m;
}

void sk_fold_keep(sk_folds *s, k_mem *const *m, k_val at, k_val *const *acc)
{
    k_builder *b = &s->lw->b;
    for (uint32_t i = 0; i < s->fold.n; i++)
        for (uint32_t c = 0; c < s->fold.at[i].n; c++)
            k_store(b, m[i][c], at, k_get(b, acc[i][c]));
}

void sk_fold_take_kept(sk_folds *s, k_mem *const *m, k_val at, k_val *const *acc)
{
    k_builder *b = &s->lw->b;
    for (uint32_t i = 0; i < s->fold.n; i++)
        for (uint32_t c = 0; c < s->fold.at[i].n; c++)
            k_set(b, acc[i][c], k_load(b, m[i][c], at));
}

k_val **sk_fold_kept(sk_folds *s, k_mem *const *m, k_val at)
{
    k_val **acc = sk_fold_accumulators(s);
    sk_fold_take_kept(s, m, at, acc);
    return acc;
}

static void combine(sk_folds *s, k_val *const *left, k_val *const *right, k_val *const *into, bool settled)
{
    k_builder *b = &s->lw->b;
    for (uint32_t i = 0; i < s->fold.n; i++) {
        const sk_fold *f = &s->fold.at[i];
        k_val one[IR_MAX_COMPONENTS], two[IR_MAX_COMPONENTS], out[IR_MAX_COMPONENTS];
        for (uint32_t c = 0; c < f->n; c++) {
            one[c] = k_get(b, left[i][c]);
            two[c] = k_get(b, right[i][c]);
        }
        if (settled)
            sk_fold_apply(s->lw, f, one, two, out);
        else
            sk_fold_accumulate(s, f, one, two, out);
        for (uint32_t c = 0; c < f->n; c++)
            k_set(b, into[i][c], out[c]);
    }
}

void sk_fold_combine(sk_folds *s, k_val *const *left, k_val *const *right, k_val *const *into)
{
    combine(s, left, right, into, true);
}

void sk_fold_merge(sk_folds *s, k_val *const *into, k_val *const *from, k_val has)
{
    k_builder *b = &s->lw->b;
    if (has)
        k_if(b, has);
    combine(s, into, from, into, false);
    if (has)
        k_end(b);
}

void sk_fold_merge_behind(sk_folds *s, k_val *const *from, k_val *const *into)
{
    combine(s, from, into, into, false);
}

/* out = seed (+) total, or the seed alone where there is no total */
static void behind_seed(sk_folds *s, const sk_fold *f, const k_val *total, k_val empty, k_val *out)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    k_val seed[IR_MAX_COMPONENTS], chosen[IR_MAX_COMPONENTS];
    for (uint32_t c = 0; c < f->n; c++)
        seed[c] = sk_closed(lw, f->info->seed[c]);
    for (uint32_t c = 0; c < f->n && empty; c++)
        chosen[c] = k_decl(b, seed[c], "total");
    if (empty)
        k_if(b, k_let(b, OP_NOT, empty, 0, 0));
    sk_fold_apply(lw, f, seed, total, out);
    for (uint32_t c = 0; c < f->n && empty; c++)
        k_set(b, chosen[c], out[c]);
    if (empty)
        k_end(b);
    for (uint32_t c = 0; c < f->n && empty; c++)
        out[c] = k_get(b, chosen[c]);
}

void sk_fold_finish(sk_folds *s, const sk_fold *f, k_val row, k_val position, const k_val *total, k_val empty,
                    k_val *out)
{
    sk_lower *lw = s->lw;
    k_val own[IR_MAX_COMPONENTS], given[IR_MAX_COMPONENTS];
    sk_fold whole = *f;
    out = out ? out : own;
    memcpy(given, total, f->n * sizeof(k_val));
    if (f->wide) {
        whole.info = f->wide;
        given[0] = k_convert(&lw->b, OP_CONVERT, f->wide->type[0], total[0]);
    }
    memcpy(out, given, f->n * sizeof(k_val));
    if (lw->options->final && f->info->seed)
        behind_seed(s, &whole, given, empty, out);
    for (uint32_t c = 0; c < f->n && (f->op->stored || !lw->options->final); c++) {
        k_mem m = lw->options->final ? sk_array_memory(lw, f->op->term, c, true)
                                     : (k_mem)map64_get(&lw->memory, ((uint64_t)1 << 48) | (f->first + c));
        k_store(&lw->b, m, lw->options->final ? row : position, out[c]);
    }
}

void sk_fold_finish_all(sk_folds *s, k_val row, k_val position, k_val *const *acc, k_val empty)
{
    for (uint32_t i = 0; i < s->fold.n; i++) {
        const sk_fold *f = &s->fold.at[i];
        k_val total[IR_MAX_COMPONENTS];
        for (uint32_t c = 0; c < f->n; c++)
            total[c] = k_get(&s->lw->b, acc[i][c]);
        sk_fold_finish(s, f, row, position, total, empty, NULL);
    }
}
