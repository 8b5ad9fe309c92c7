/* Sweeps that only fold, by operators that commute, and store elements: accumulators of a piece stay in registers, as
 * those of loops that are folds. The tree is the same: position i of a piece goes to accumulator i mod ROW_SUMS. */
#include "skeleton/row/row.h"

typedef struct sweep_of {
    row_loop *r;
    uint8_t sweep;
} sweep_of;

static bool is_fold(const row_part *p)
{
    return p->op->kind == L_FOLD && !p->ordered && !p->keep && !p->late;
}

bool row_only_folds(const row_loop *r, uint8_t sweep)
{
    bool folds = false;
    if (r->lw->options->group || r->combine || r->right || r->stride)
        return false;
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i];
        if (p->op->outer || p->op->sweep != sweep)
            continue;
        if (!is_fold(p) && (p->op->kind != L_ELEMENT || p->late))
            return false;
        if (is_fold(p) && !p->fold.identity && r->lw->options->row)
            return false; /* the last piece of rows of a known length may be less than a gang */
        folds |= is_fold(p);
    }
    return folds;
}

static void bind_position(void *env, k_val j)
{
    const sweep_of *of = env;
    row_bind(of->r, j);
    row_use_kept(of->r, of->sweep, j);
}

static void add_stored(sk_folds *s, ir_id term, ir_id array, uint32_t component)
{
    arena *a = s->lw->arena;
    vec_push(a, &s->stored.term, term);
    vec_push(a, &s->stored.array, array);
    vec_push(a, &s->stored.component, component);
}

static sk_folds folds_of(sweep_of *of)
{
    row_loop *r = of->r;
    sk_folds s = {.lw = r->lw, .bind = bind_position, .bind_env = of, .neutral = true, .stage = r->row_base};
    s.tree = (sk_tree){.lanes = ROW_GANG, .streams = ROW_SUMS / ROW_GANG};
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i];
        if (p->op->outer || p->op->sweep != of->sweep)
            continue;
        for (uint32_t c = 0; c < p->n && p->op->kind == L_ELEMENT; c++)
            add_stored(&s, p->element[c], p->op->term, c);
        if (p->op->kind == L_FOLD) {
            sk_fold f = p->fold;
            if (f.identity) /* looking for extremes changes it */
                f.identity = arena_copy(r->lw->arena, f.identity, f.n * sizeof *f.identity);
            vec_push(r->lw->arena, &s.fold, f);
            s.neutral &= f.identity != NULL;
        }
    }
    for (uint32_t i = 0; i < r->keeps.n && r->keeping; i++)
        if (r->keeps.at[i].sweep == of->sweep)
            add_stored(&s, r->keeps.at[i].term, 0, r->keeps.at[i].memory);
    s.mixes = s.neutral;
    return s;
}

void row_fold_registers(row_loop *r, uint8_t sweep, k_val begin, k_val count)
{
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    sweep_of of = {r, sweep};
    sk_folds s = folds_of(&of);
    sk_fold_part part = {.row = r->row, .begin = begin, .count = count};
    k_val lane = k_for_all(b, k_i64(b, ROW_GANG)), **acc[SK_MOST_STREAMS];
    sk_find_extremes(&s);
    sk_fold_piece(&s, &part, lane, acc);
    k_if(b, k_let(b, OP_LT, lane, k_i64(b, 1), 0));
    for (uint32_t i = 0, k = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i];
        if (p->op->outer || p->op->sweep != sweep || p->op->kind != L_FOLD)
            continue;
        row_store(r, p, p->sums, k_i64(b, 0), row_get(r, p, acc[0][k++], NULL));
    }
    k_end(b);
    k_end(b);
}
