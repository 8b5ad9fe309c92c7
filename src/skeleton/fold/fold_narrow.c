/* Sums of small numbers, counts above all, of folds whose operators commute. Of conditions and bytes that are added up
 * in 64 bits the elements of a block are too few to overflow 32: half as many registers and additions, and a conversion
 * at the end. What is 1 or 0 is counted in as few bits as the elements have that are compared: an accumulator of a
 * piece receives SK_PIECE / SK_ACCUMULATORS of them, and all streams of a lane together have at most SK_ACCUMULATORS at
 * the least number of lanes here. A register of bytes then gives a register of counters. */
#include "opt/rewrite.h"
#include "skeleton/fold/fold.h"

enum { LEAST_LANES = 32 };
_Static_assert(SK_PIECE / LEAST_LANES <= UINT8_MAX, "counters of a byte overflow");

typedef enum { NOT_SMALL, SMALL, COUNT } size;

/* What the term is made of, where it is a number of at most eight bits and a sign: a byte, or a condition. */
static size size_of_term(ir_program *p, ir_id term, ir_id *of)
{
    const ir_node *n = ir_at(p, term);
    if (n->kind == IR_OP && n->op == OP_CONVERT) {
        *of = ir_args(p, term)[0];
        ir_type from = (ir_type)ir_at(p, *of)->type;
        return from == T_BOOL ? COUNT : from == T_U8 || from == T_I8 ? SMALL : NOT_SMALL;
    }
    if (n->kind != IR_CONST)
        return NOT_SMALL;
    *of = term;
    int64_t value = ir_i64_bits((ir_type)n->type, n->u.literal);
    return value == 0 || value == 1 ? COUNT : value >= -255 && value <= 255 ? SMALL : NOT_SMALL;
}

/* The same number in another type that it fits into. */
static ir_id in_type(ir_program *p, ir_id term, ir_type t)
{
    const ir_node *n = ir_at(p, term);
    if (n->kind == IR_CONST)
        return ir_const(p, t, ir_bits_i64(t, ir_i64_bits((ir_type)n->type, n->u.literal)));
    return ir_convert(p, 0, OP_CONVERT, t, ir_args(p, term)[0]);
}

typedef struct element {
    size size;
    uint32_t n;
    ir_id of[3]; /* what is computed in the types that it has */
} element;

static element element_of(ir_program *p, ir_id term)
{
    const ir_node *n = ir_at(p, term);
    element e = {.n = 1};
    if (n->kind != IR_COND) {
        e.size = n->kind == IR_CONST ? NOT_SMALL : size_of_term(p, term, &e.of[0]);
        return e;
    }
    const ir_id *arg = ir_args(p, term);
    e.of[0] = arg[0];
    size then = size_of_term(p, arg[1], &e.of[1]), otherwise = size_of_term(p, arg[2], &e.of[2]);
    e.size = then < otherwise ? then : otherwise;
    e.n = 3;
    return e;
}

static bool is_narrowed(const sk_lower *lw, const sk_fold *f, size s)
{
    return s != NOT_SMALL && sk_fold_adds_integers(lw, f) && ir_type_size(f->info->type[0]) >= (s == COUNT ? 4 : 8);
}

/* --- how many lanes --- */

void sk_narrow_prepare(sk_cluster *c, arena *a)
{
    const l_program *l = c->l;
    sk_lower lw = {.l = l, .cluster = c, .arena = a, .name = "probe"};
    VEC(ir_id) term = {0}, keys = {0}; /* of accumulators; of choices beside them, which are read, too */
    uint32_t widest = c->loop->mixed && c->choice ? c->choice_bytes : 1;
    c->rows_together = !c->loop->ordered;
    sk_open(&lw, 1);
    for (uint32_t i = 0; i < c->loop->staged.n && c->staged_pieces; i++)
        sk_keep(&lw.body, c->loop->staged.at[i]);
    for (uint32_t i = 0; i < c->loop->op.n; i++) {
        const l_op *op = &c->loop->op.at[i];
        const ir_array *info = ir_info(l->ir, op->term);
        if (op->outer || (op->kind != L_FOLD && !(op->kind == L_ELEMENT && op->stored)))
            continue;
        if (c->loop->mixed && op->kind == L_FOLD && !sk_commutes(c, op)) {
            const ir_id *chosen = sk_define(&lw.body, op->term, &lw.at);
            for (uint32_t k = 0; k < info->components; k++)
                vec_push(a, &keys, chosen[k]);
            continue;
        }
        const ir_id *value = sk_define(&lw.body, op->term, &lw.at);
        sk_fold f = {.op = op, .info = info, .n = info->components};
        if (op->kind == L_FOLD)
            f.identity = sk_fold_identity(&lw, info->fn, f.n);
        c->rows_together &= op->kind == L_FOLD && sk_fold_harmless(&lw, &f);
        element e = element_of(l->ir, value[0]);
        bool narrowed = op->kind == L_FOLD && is_narrowed(&lw, &f, e.size);
        for (uint32_t k = 0; k < (narrowed ? e.n : f.n); k++)
            vec_push(a, &term, narrowed ? e.of[k] : value[k]);
        for (uint32_t k = 0; k < f.n; k++) {
            uint32_t bytes = narrowed ? (e.size == COUNT ? 1 : 4) : (uint32_t)ir_type_size(info->type[k]);
            widest = bytes > widest ? bytes : widest;
        }
    }
    opt_ids ids = {0};
    opt_reach(l->ir, a, term.n, term.at, &ids);
    uint32_t reached = sk_widest(l, &ids, 0, NULL);
    c->fold_bytes = (uint8_t)(c->loop->ordered && !c->loop->mixed ? 0 : reached > widest ? reached : widest);
    for (uint32_t i = 0; i < keys.n; i++)
        vec_push(a, &term, keys.at[i]);
    if (keys.n)
        opt_reach(l->ir, a, term.n, term.at, &ids);
    sk_find_spans(&lw, c, ids.n, ids.at);
    c->rows_together &= c->loop->rank > 1 && !c->loop->staged.n && c->loop->flops <= SK_SMALL;
    for (uint32_t i = 0; i < ids.n && c->rows_together; i++) {
        const ir_node *n = ir_at(l->ir, ids.at[i]);
        c->rows_together = !n->partial && n->kind != IR_LOOP && !(n->kind == IR_OP && ir_ops[n->op].flags & OP_TRACES);
    }
}

bool sk_narrows(const sk_cluster *c, const sk_options *o)
{
    return c->fold_bytes && o->vector_bytes && !o->group;
}

sk_tree sk_tree_of_fold(const sk_cluster *c, const sk_options *o)
{
    if (!sk_narrows(c, o))
        return sk_tree_of(c->wide);
    int64_t lanes = c->fold_bytes == 8 ? 16 : c->fold_bytes == 1 ? 64 : LEAST_LANES;
    return (sk_tree){.lanes = lanes, .streams = SK_ACCUMULATORS / lanes};
}

/* --- kernels --- */

/* A sum in another type. */
static const ir_array *sum_in(const sk_folds *s, const ir_array *sum, ir_type t)
{
    ir_program *p = s->lw->l->ir;
    ir_array *narrow = arena_copy(s->lw->arena, sum, sizeof *sum);
    ir_fn *fn = arena_copy(s->lw->arena, sum->fn, sizeof *sum->fn);
    fn->param = arena_array(s->lw->arena, ir_id, 2);
    fn->result = arena_new(s->lw->arena, ir_id);
    fn->param[0] = ir_var(p, t);
    fn->param[1] = ir_var(p, t);
    fn->result[0] = ir_op2(p, 0, OP_ADD, fn->param[0], fn->param[1]);
    narrow->fn = fn;
    narrow->type = arena_new(s->lw->arena, ir_type);
    narrow->type[0] = t;
    return narrow;
}

void sk_fold_narrow(const sk_folds *s, sk_fold *f)
{
    ir_program *p = s->lw->l->ir;
    const element e = f->n == 1 ? element_of(p, f->element[0]) : (element){0};
    const uint8_t bytes = s->lw->cluster->fold_bytes;
    if (!is_narrowed(s->lw, f, e.size))
        return;
    ir_type t = s->counts && e.size == COUNT && bytes <= 2 ? (bytes == 1 ? T_U8 : T_U16) : T_I32;
    const ir_id *arg = e.n == 3 ? ir_args(p, f->element[0]) : NULL;
    if (arg) {
        ir_id c = arg[0], then = in_type(p, arg[1], t), otherwise = in_type(p, ir_args(p, f->element[0])[2], t);
        f->element[0] = ir_cond(p, 0, c, then, otherwise);
    } else {
        f->element[0] = in_type(p, f->element[0], t);
    }
    f->wide = f->info;
    f->info = sum_in(s, f->wide, T_I32);
    f->count = t == T_I32 ? NULL : sum_in(s, f->wide, t);
}

static void swap(sk_fold *f)
{
    const ir_array *info = f->info;
    f->info = f->count;
    f->count = info;
}

void sk_fold_begin_counts(sk_folds *s, int64_t streams, k_val **const *acc, k_val ***own)
{
    sk_lower *lw = s->lw;
    for (int64_t t = 0; t < streams; t++)
        own[t] = arena_copy(lw->arena, acc[t], s->fold.n * sizeof(k_val *));
    for (uint32_t i = 0; i < s->fold.n; i++) {
        sk_fold *f = &s->fold.at[i];
        if (!f->count)
            continue;
        swap(f);
        for (int64_t t = 0; t < streams; t++) {
            k_val none = k_decl(&lw->b, k_literal(&lw->b, f->info->type[0], 0), "count");
            own[t][i] = arena_copy(lw->arena, &none, sizeof none);
        }
    }
}

void sk_fold_end_counts(sk_folds *s, k_val *const *own, k_val *const *acc)
{
    k_builder *b = &s->lw->b;
    for (uint32_t i = 0; i < s->fold.n; i++) {
        sk_fold *f = &s->fold.at[i];
        if (!f->count)
            continue;
        swap(f);
        k_set(b, acc[i][0], k_convert(b, OP_CONVERT, f->info->type[0], k_get(b, own[i][0])));
    }
}
