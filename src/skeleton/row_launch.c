/* How row loops are launched: what launches must know of their code, and what a block takes. */
#include "skeleton/extents.h"
#include "skeleton/row.h"

void sk_row_prepare(sk_cluster *c, arena *a)
{
    const sk_options none = {.vector_bytes = 64, .final = true};
    sk_lower lw = {.l = c->l, .cluster = c, .options = &none, .arena = a};
    row_loop r = {.lw = &lw};
    c->counted = arena_alloc(a, c->loop->op.n + 1);
    row_begin(&r, "probe", false, ROW_GANG);
    uint32_t early = 0, late = 0;
    c->chains = c->loop->sweeps <= 1;
    for (uint32_t i = 0; i < r.part.n; i++) {
        const row_part *p = &r.part.at[i];
        *(p->late_keep ? &late : &early) += p->op->kind == L_SCAN ? 2 * p->n : row_counts(&r, p);
        if (p->op->kind == L_FOLD)
            c->counted[p->op - c->loop->op.at] = p->keep != 0;
        c->joins |= p->op->kind == L_FOLD && !p->keep;
        c->chains &= !p->op->outer && (p->op->kind != L_SCAN || p->harmless); /* its code only computes */
    }
    c->chains &= early <= K_MOST_CARRIED && late <= K_MOST_CARRIED && early > 0;
    c->late_words = late ? 1 + late : 0;
    c->state_words = 1 + early + c->late_words;
}

void sk_launch_row(const sk_cluster *c, const sk_options *o, sk_pass pass, int64_t rows, int64_t length, sk_geometry *g)
{
    enum { BRIEF = 8 * ROW_PIECE, FEW = 1024, SOME = 65536 };
    int64_t workers = o->workers > 1 ? o->workers : 1, share = rows / (workers * 8);
    int64_t most = length > SOME ? 1 : SOME / (length > 0 ? length : 1), pieces = pieces_of(length, ROW_PIECE);
    bool idle = workers > 1 && length > BRIEF && rows < 2 * workers; /* some worker would have no row */
    bool rounds = pass == SK_PASS_SUMS || pass == SK_PASS_STATES || pass == SK_PASS_APPLY;
    bool apart = c->chains && idle && pass != SK_PASS_COMBINE && !(rounds && c->late_words);
    g->slot[0] = length;
    g->slot[1] = apart ? pieces : rows;
    g->slot[2] = share < 1 ? 1 : share < most ? share : most;
    g->pieces = apart ? rows * pieces : pieces_of(rows, g->slot[2]);
    g->state_words = apart ? rows * pieces * c->state_words : 0;
    g->partials = apart && c->joins && pass != SK_PASS_SUMS && pass != SK_PASS_STATES ? pieces : 1;
    switch (pass) {
    case SK_PASS_COMBINE:
        g->variant = SK_ROW_COMBINE;
        return;
    case SK_PASS_STATES:
        g->slot[0] = pieces;
        g->pieces = rows; /* falls through */
    case SK_PASS_SUMS:
        g->variant = pass == SK_PASS_SUMS ? SK_ROW_SUMS : SK_ROW_STATES;
        g->pieces = apart ? g->pieces : 0;
        return;
    default:
        g->variant = apart ? (pass == SK_PASS_APPLY ? SK_ROW_APPLY : SK_ROW_CHAIN) : SK_ROW_BLOCK;
    }
    if (apart || length > SK_SHORT)
        return;
    g->variant = SK_ROW_LANES;
    g->slot[2] = FEW;
    g->pieces = pieces_of(rows, FEW);
}
