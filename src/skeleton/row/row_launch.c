/* How row loops are launched: what launches must know of their code, and what a block takes. */
#include "opt/any_tree.h"
#include "skeleton/extents.h"
#include "skeleton/row/row.h"

/* The same loop as devices with a `group` have it. */
static void find_threads(sk_cluster *c, arena *a)
{
    const sk_options group = {.vector_bytes = 64, .group = 256, .final = true};
    sk_lower lw = {.l = c->l, .cluster = c, .options = &group, .arena = a, .name = "probe"};
    row_loop r = {.lw = &lw};
    row_begin(&r, ROW_GANG);
    row_find_threads(&r, c);
}

void sk_row_prepare(sk_cluster *c, arena *a)
{
    const sk_options none = {.vector_bytes = 64, .final = true};
    sk_lower lw = {.l = c->l, .cluster = c, .options = &none, .arena = a, .name = "probe"};
    row_loop r = {.lw = &lw};
    row_begin(&r, ROW_GANG);
    uint32_t early = 0, late = 0;
    c->chains = c->loop->sweeps <= 1;
    c->lines = c->any_tree = c->loop->behind != 0;
    for (uint32_t i = 0; i < r.part.n; i++) {
        const row_part *p = &r.part.at[i];
        *(p->late_keep ? &late : &early) += p->op->kind == L_SCAN ? 2 * p->n : row_counts(&r, p);
        if (p->op->kind == L_FOLD)
            c->counted[p->op - c->loop->op.at] = p->keep != 0;
        c->joins |= p->op->kind == L_FOLD && !p->keep;
        c->far |= !p->op->outer && sk_reads_far(&lw, row_terms(p), p->element);
        if (c->any_tree && p->op->kind == L_SCAN)
            c->any_tree = opt_any_tree(c->l->ir, a, p->fold.info->fn);
        c->lines &= p->op->kind == L_ELEMENT || (p->op->kind == L_SCAN && p->harmless);
        c->chains &= !p->op->outer && (p->op->kind != L_SCAN || p->harmless); /* its code only computes */
        c->chains &= p->op->kind != L_SCAN || !p->behind; /* the sums of its pieces are known once states are */
    }
    c->chains &= early <= K_MOST_CARRIED && late <= K_MOST_CARRIED && early > 0;
    c->kept_bytes = row_find_kept(&r);
    find_threads(c, a);
    c->late_words = late ? 1 + late : 0;
    c->state_words = 1 + early + c->late_words;
}

/* Would some worker have no row? Then blocks take pieces of rows, if these can. */
static bool is_apart(const sk_call *x)
{
    enum { BRIEF = 8 * ROW_PIECE };
    const sk_cluster *c = x->c;
    int64_t workers = larger(x->o->workers, 1);
    bool rounds = x->pass == SK_PASS_SUMS || x->pass == SK_PASS_STATES || x->pass == SK_PASS_APPLY;
    return c->chains && workers > 1 && x->columns > BRIEF && x->rows < 2 * workers && x->pass != SK_PASS_COMBINE &&
           !(rounds && c->late_words);
}

/* Where rows stay whole, nothing is to be done for them. */
bool sk_launch_row_states(const sk_call *x, sk_geometry *g)
{
    if (x->pass != SK_PASS_STATES)
        return false;
    bool apart = is_apart(x);
    g->slot[0] = pieces_of(x->columns, ROW_PIECE);
    g->pieces = apart ? x->rows : 0;
    g->state_words = apart ? x->rows * g->slot[0] * x->c->state_words : 0;
    return true;
}

bool sk_launch_row_pieces(const sk_call *x, sk_geometry *g)
{
    bool apart = is_apart(x);
    if (!apart && x->pass != SK_PASS_SUMS)
        return false;
    g->slot[0] = x->columns;
    g->slot[1] = pieces_of(x->columns, ROW_PIECE);
    g->pieces = apart ? x->rows * g->slot[1] : 0;
    g->state_words = g->pieces * x->c->state_words;
    g->partials = apart && x->c->joins && x->pass != SK_PASS_SUMS ? g->slot[1] : 1;
    return true;
}

bool sk_launch_row_block(const sk_call *x, sk_geometry *g)
{
    enum { SOME = 65536, NEAR = 32768 }; /* elements of a row that stay in the second cache from sweep to sweep */
    int64_t near = x->c->kept_bytes ? row_kept_length(x->c->kept_bytes) : x->c->loop->sweeps > 1 ? NEAR : 0;
    int64_t share = x->rows / (larger(x->o->workers, 1) * 8), most = larger(1, SOME / larger(x->columns, 1));
    g->slot[0] = x->columns;
    g->slot[1] = x->rows;
    g->slot[2] = larger(1, smaller(share, most));
    g->row = x->pass != SK_PASS_COMBINE && x->o->vector_bytes && !x->o->group && x->columns <= near;
    g->pieces = pieces_of(x->rows, g->slot[2]);
    return true;
}
