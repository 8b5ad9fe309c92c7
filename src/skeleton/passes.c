/* Which passes the launches of a cluster are. */
#include "skeleton/skeleton.h"

static bool has(const sk_cluster *c, l_kind kind)
{
    for (uint32_t i = 0; i < c->loop->op.n; i++)
        if (c->loop->op.at[i].kind == kind)
            return true;
    return false;
}

bool sk_carries(const sk_cluster *c)
{
    return has(c, L_SCAN) || has(c, L_PACK);
}

uint32_t sk_passes(const sk_cluster *c, const sk_options *o, sk_pass out[SK_PASSES])
{
    static const sk_pass at_once[] = {SK_PASS_LOOP, SK_PASS_COMBINE};
    static const sk_pass around_states[] = {SK_PASS_SUMS, SK_PASS_STATES, SK_PASS_APPLY, SK_PASS_COMBINE};
    bool apart = sk_carries(c) && !o->chains;
    uint32_t n = apart ? sizeof(around_states) / sizeof(sk_pass) : sizeof(at_once) / sizeof(sk_pass);
    memcpy(out, apart ? around_states : at_once, n * sizeof(sk_pass));
    return has(c, L_FOLD) && (c->loop->class != L_CLASS_ROW || c->joins) ? n : n - 1;
}
