/* Which passes the launches of a cluster are. */
#include "skeleton/permute/permute.h"
#include "skeleton/segment/segment.h"

static bool has(const sk_cluster *c, l_kind kind)
{
    for (uint32_t i = 0; i < c->loop->op.n; i++)
        if (c->loop->op.at[i].kind == kind)
            return true;
    return false;
}

bool sk_carries(const sk_cluster *c)
{
    return has(c, L_SCAN) || has(c, L_PACK) || has(c, L_PERMUTE) || has(c, L_FOLD_SEG);
}

/* Tables of totals are cleared by those who use them, words of which elements stay are not. */
bool sk_carries_zeros(const sk_cluster *c, const sk_options *o)
{
    return sk_carries(c) && (c->loop->class != L_CLASS_PERMUTE || (o->group && c->permuted->last));
}

bool sk_sorts(const sk_cluster *c)
{
    return c->loop->class == L_CLASS_SORT;
}

bool sk_sorts_by_digits(const sk_cluster *c)
{
    return sk_sorts(c) && ir_info(c->l->ir, c->loop->op.at[0].term)->keys;
}

bool sk_sorts_runs(const sk_cluster *c)
{
    return c->loop->rank == 1 && ir_at(c->l->ir, c->loop->op.at[0].term)->flags & IR_RUNS;
}

uint32_t sk_passes(const sk_cluster *c, const sk_options *o, sk_pass out[SK_PASSES])
{
    static const sk_pass at_once[] = {SK_PASS_LOOP, SK_PASS_COMBINE};
    static const sk_pass around_states[] = {SK_PASS_SUMS, SK_PASS_STATES, SK_PASS_APPLY, SK_PASS_COMBINE};
    static const sk_pass by_digits[] = {SK_PASS_LOOP, SK_PASS_COUNT, SK_PASS_PLACES, SK_PASS_SCATTER, SK_PASS_BUCKETS};
    static const sk_pass by_comparison[] = {SK_PASS_LOOP, SK_PASS_SPLITS, SK_PASS_MERGE};
    static const sk_pass of_runs_by_digits[] = {SK_PASS_LOOP,  SK_PASS_RUNS,   SK_PASS_SPLITS,  SK_PASS_MERGE,
                                                SK_PASS_COUNT, SK_PASS_PLACES, SK_PASS_SCATTER, SK_PASS_BUCKETS};
    static const sk_pass of_runs[] = {SK_PASS_LOOP, SK_PASS_RUNS, SK_PASS_CHUNKS, SK_PASS_SPLITS, SK_PASS_MERGE};
    if (sk_sorts(c) && sk_sorts_runs(c)) {
        uint32_t passes = sk_sorts_by_digits(c) ? ARRAY_LENGTH(of_runs_by_digits) : ARRAY_LENGTH(of_runs);
        memcpy(out, sk_sorts_by_digits(c) ? of_runs_by_digits : of_runs, passes * sizeof(sk_pass));
        return passes;
    }
    if (sk_sorts(c)) {
        uint32_t passes = sk_sorts_by_digits(c) ? ARRAY_LENGTH(by_digits) : ARRAY_LENGTH(by_comparison);
        memcpy(out, sk_sorts_by_digits(c) ? by_digits : by_comparison, passes * sizeof(sk_pass));
        return passes;
    }
    static const sk_pass of_permutes[] = {SK_PASS_LOOP, SK_PASS_TOTALS};
    if (c->loop->class == L_CLASS_PERMUTE) {
        memcpy(out, of_permutes, sizeof(of_permutes));
        return ARRAY_LENGTH(of_permutes);
    }
    if (c->loop->class == L_CLASS_SEGMENT && sk_segments_are_rows(c))
        return sk_segment_passes(c, out);
    if (c->loop->class == L_CLASS_SEGMENT) {
        out[0] = SK_PASS_LOOP;
        out[1] = SK_PASS_JOIN;
        return has(c, L_FOLD_SEG) ? 2 : 1;
    }
    if (c->loop->class == L_CLASS_TILES) {
        out[0] = SK_PASS_LOOP;
        return 1;
    }
    bool apart = sk_carries(c) && !o->chains;
    uint32_t n = apart ? sizeof(around_states) / sizeof(sk_pass) : sizeof(at_once) / sizeof(sk_pass);
    memcpy(out, apart ? around_states : at_once, n * sizeof(sk_pass));
    return has(c, L_FOLD) && (c->loop->class != L_CLASS_ROW || c->joins) ? n : n - 1;
}
