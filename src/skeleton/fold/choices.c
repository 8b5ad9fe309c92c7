/* What the folds of a cluster choose that choose an element by its key (opt/choice.h). Components that count the
 * elements of a row, as an index does, are known to ascend or to descend: where an operator compares these, too, the
 * comparison is decided beforehand. */
#include "opt/rewrite.h"
#include "skeleton/fold/fold.h"

/* --- the order of components --- */

enum { MOST_STEPS = 8 };
static const int64_t far_off = (int64_t)1 << 48; /* offsets up to here */

typedef struct line { /* sign * position + offset */
    int64_t sign, offset;
    int64_t longest; /* in rows that are no longer */
} line;

static bool constant(const ir_program *p, ir_id id, int64_t *out)
{
    const ir_node *n = ir_at(p, id);
    if (n->kind != IR_CONST || ir_type_class((ir_type)n->type) != CLASS_INT)
        return false;
    *out = ir_i64_bits((ir_type)n->type, n->u.literal);
    return *out >= -far_off && *out <= far_off;
}

/* Does the term take off where the segment begins, as the number within it does? */
static bool from_begin(const ir_program *p, ir_id id, ir_id begins)
{
    const ir_node *n = ir_at(p, id);
    if (!begins || n->op != OP_SUB || n->type != T_I64)
        return false;
    const ir_node *by = ir_at(p, ir_args(p, id)[1]);
    return by->kind == IR_READ && by->array == begins;
}

/* The operand of a step that is passed over, as in x + 1, 5 - x or the conversion of x; 0: it is no such step. */
static ir_id inside(const ir_program *p, ir_id id, ir_id begins)
{
    const ir_node *n = ir_at(p, id);
    int64_t c;
    if (n->kind != IR_OP || ir_type_class((ir_type)n->type) != CLASS_INT)
        return 0;
    const ir_id *arg = ir_args(p, id);
    if (n->op == OP_NEG || (n->op == OP_CONVERT && ir_type_class((ir_type)ir_at(p, arg[0])->type) == CLASS_INT))
        return arg[0];
    if (n->op != OP_ADD && n->op != OP_SUB)
        return 0;
    if (from_begin(p, id, begins))
        return arg[0];
    return constant(p, arg[1], &c) ? arg[0] : constant(p, arg[0], &c) ? arg[1] : 0;
}

static bool step(const ir_program *p, ir_id id, ir_id begins, line *of)
{
    const ir_node *n = ir_at(p, id);
    const ir_id *arg = ir_args(p, id);
    ir_type t = (ir_type)n->type;
    int64_t c;
    if (from_begin(p, id, begins)) /* which is inside of the row */
        return true;
    bool flips = n->op == OP_NEG || (n->op == OP_SUB && !constant(p, arg[1], &c));
    if (flips) {
        of->sign = -of->sign;
        of->offset = -of->offset;
    }
    if (n->op == OP_ADD || n->op == OP_SUB)
        of->offset += !constant(p, arg[1], &c) ? (constant(p, arg[0], &c) ? c : 0) : n->op == OP_SUB ? -c : c;
    unsigned bits = ir_type_bits(t);
    int64_t most = bits > 48 ? far_off : ((int64_t)1 << (bits - ir_type_signed(t))) - 1;
    int64_t least = !ir_type_signed(t) ? 0 : bits > 48 ? -far_off : -most - 1;
    int64_t room = of->sign > 0 ? most - of->offset : of->offset - least;
    of->longest = room + 1 < of->longest ? room + 1 : of->longest;
    return of->offset >= least && of->offset <= most;
}

/* Does the term count the positions of a row, up or down? */
static opt_order order_of(const ir_program *p, ir_id term, ir_id position, ir_id begins, int64_t *longest)
{
    ir_id chain[MOST_STEPS];
    unsigned n = 0;
    line l = {.sign = 1, .longest = far_off};
    for (; term && term != position && n < MOST_STEPS; term = inside(p, term, begins))
        chain[n++] = term;
    if (term != position)
        return OPT_UNORDERED;
    while (n)
        if (!step(p, chain[--n], begins, &l))
            return OPT_UNORDERED;
    *longest = l.longest < *longest ? l.longest : *longest;
    return l.sign > 0 ? OPT_ASCENDS : OPT_DESCENDS;
}

bool sk_find_choice(const l_program *l, arena *a, const ir_fn *fn, const ir_id *element, ir_id position, ir_id begins,
                    int64_t *longest, opt_choice *out)
{
    opt_order *order = arena_array(a, *order, fn->results);
    if (opt_find_choice(l->ir, a, fn, NULL, out)) {
        *longest = INT64_MAX;
        return true;
    }
    *longest = far_off;
    for (uint32_t c = 0; c < fn->results; c++)
        order[c] = order_of(l->ir, element[c], position, begins, longest);
    return opt_find_choice(l->ir, a, fn, order, out);
}

opt_choice sk_choice_of(const sk_folds *s, const sk_fold *f)
{
    const sk_lower *lw = s->lw;
    opt_choice of = {0};
    int64_t longest;
    sk_find_choice(lw->l, lw->arena, f->info->fn, f->element, lw->at.at[lw->cluster->loop->rank - 1], s->begins,
                   &longest, &of);
    return of;
}

/* --- which clusters --- */

bool sk_commutes(const sk_cluster *c, const l_op *op)
{
    return op->kind == L_FOLD && (ir_at(c->l->ir, op->term)->flags & IR_COMMUTES) != 0;
}

/* May the terms be computed anywhere and twice? */
static bool repeatable(const l_program *l, arena *a, uint32_t n, const ir_id *term)
{
    for (uint32_t i = 0; i < n; i++)
        if (ir_at(l->ir, term[i])->partial)
            return false;
    opt_ids ids = {0};
    opt_reach(l->ir, a, n, term, &ids);
    for (uint32_t i = 0; i < ids.n; i++)
        if (ir_at(l->ir, ids.at[i])->kind == IR_LOOP)
            return false;
    return true;
}

bool sk_folds_choose(const sk_folds *s)
{
    enum { MOST_WORK = 16 };
    const int64_t any = (int64_t)1 << 40; /* no row is longer */
    const sk_lower *lw = s->lw;
    uint32_t choices = 0;
    for (uint32_t i = 0; i < s->fold.n; i++) {
        const sk_fold *f = &s->fold.at[i];
        opt_choice of;
        int64_t longest;
        if (sk_fold_in_any_order(lw, f))
            continue;
        if (!repeatable(lw->l, lw->arena, f->n, f->element) ||
            !sk_find_choice(lw->l, lw->arena, f->info->fn, f->element, lw->at.at[lw->cluster->loop->rank - 1],
                            s->begins, &longest, &of) ||
            longest < any)
            return false;
        choices++;
    }
    return choices && lw->cluster->loop->flops <= MOST_WORK * (double)s->fold.n;
}

typedef struct looking {
    const sk_cluster *c;
    arena *a;
    int64_t longest;
    size_t bytes; /* of the widest key */
    bool free;
} looking;

/* Is the member a choice, or an element that is stored? */
static bool suits(looking *k, const l_op *op)
{
    const sk_cluster *c = k->c;
    const l_program *l = c->l;
    const ir_array *info = ir_info(l->ir, op->term);
    if (op->kind != L_FOLD && op->kind != L_ELEMENT)
        return false;
    if (sk_commutes(c, op))
        return true; /* folded beside the choice */
    sk_lower lw = {.l = l, .cluster = c, .arena = k->a, .name = "probe"};
    sk_open(&lw, 1);
    for (uint32_t i = 0; i < c->loop->staged.n && c->staged_pieces; i++)
        sk_keep(&lw.body, c->loop->staged.at[i]);
    const ir_id *element = sk_define(&lw.body, op->term, &lw.at);
    if (!repeatable(l, k->a, info->components, element))
        return false;
    if (op->kind == L_ELEMENT)
        return true;
    opt_choice of;
    int64_t most;
    if (!sk_find_choice(l, k->a, info->fn, element, lw.at.at[c->loop->rank - 1], 0, &most, &of))
        return false;
    size_t bytes = ir_type_size(info->type[of.key]);
    k->bytes = bytes > k->bytes ? bytes : k->bytes;
    k->longest = most < k->longest ? most : k->longest;
    k->free &= of.nan == OPT_NAN_LOSES;
    return true;
}

void sk_choice_prepare(sk_cluster *c, arena *a)
{
    enum { MOST_WORK = 16 };
    looking k = {.c = c, .a = a, .longest = INT64_MAX, .free = true};
    uint32_t n = 0;
    double flops = -c->loop->staged_flops;
    for (uint32_t i = 0; i < c->loop->op.n; i++)
        if (!sk_commutes(c, &c->loop->op.at[i])) {
            flops += c->loop->op.at[i].flops;
            n++;
        }
    if (!c->loop->ordered || flops > MOST_WORK * (double)n)
        return;
    for (uint32_t i = 0; i < c->loop->op.n; i++)
        if (!suits(&k, &c->loop->op.at[i]))
            return;
    c->choice = k.free ? SK_CHOICE_FREE : SK_CHOICE;
    c->choice_bytes = (uint8_t)k.bytes;
    c->choice_longest = k.longest;
}
