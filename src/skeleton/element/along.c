/* Loops along rows of their own: what a row has is known when it is met, so all is decided there, one row at a time. */
#include "skeleton/element/along.h"

#include "opt/identity.h"
#include "opt/rewrite.h"
#include "opt/row_loops.h"

enum { MOST_STREAMS = 8 };

typedef struct along {
    sk_lower *lw;
    ir_id id;
    const ir_loop *loop;
    sk_tree tree;
    k_val lane, count;
    ir_op *op; /* per state */
    ir_bits *identity;
    k_val *total; /* variables */
    k_val *acc[MOST_STREAMS];
} along;

/* --- which loops --- */

static bool mentions_state(const sk_lower *lw, const ir_loop *loop, uint32_t n, const ir_id *term)
{
    opt_ids ids = {0};
    bool found = false;
    opt_reach(lw->l->ir, lw->arena, n, term, &ids);
    for (uint32_t i = 0; i < ids.n && !found; i++)
        for (uint32_t k = 0; k < loop->states && !found; k++)
            found = ids.at[i] == loop->var[k];
    return found;
}

static bool identity_of(const sk_lower *lw, ir_op op, ir_type t, ir_bits *out)
{
    ir_program *p = lw->l->ir;
    ir_type types[2] = {t, t};
    ir_fn *fn = ir_fn_new(p, 2, types);
    ir_id result = ir_op2(p, 0, op, fn->param[0], fn->param[1]);
    fn = ir_fn_close(p, fn, 1, &result);
    return fn && opt_find_identity(p, fn, out);
}

bool sk_goes_along(const sk_lower *lw, const ir_step *s)
{
    const ir_loop *loop = ir_at(lw->l->ir, s->term)->u.loop;
    if (!loop->count || !s->body)
        return false;
    for (uint32_t k = 0; k < loop->states; k++) {
        ir_id with[2];
        ir_bits identity;
        ir_op op = opt_combines(lw->l->ir, loop, k, with);
        if (op == OP_COUNT || mentions_state(lw, loop, with[1] ? 2 : 1, with) ||
            !identity_of(lw, op, (ir_type)ir_at(lw->l->ir, loop->var[k])->type, &identity))
            return false;
    }
    return true;
}

/* --- what a round does --- */

/* Element k goes into these variables, one per state. */
static void take(along *a, k_val k, k_val *const acc)
{
    sk_lower *lw = a->lw;
    uint32_t mark = sk_scope(lw);
    k_val *next = arena_alloc(lw->arena, a->loop->states * sizeof(k_val));
    sk_bind(lw, a->loop->index, k);
    for (uint32_t i = 0; i < a->loop->states; i++)
        sk_bind(lw, a->loop->var[i], k_get(&lw->b, acc[i]));
    sk_emit(lw, a->loop->states, a->loop->next, next);
    for (uint32_t i = 0; i < a->loop->states; i++)
        k_set(&lw->b, acc[i], next[i]);
    sk_scope_end(lw, mark);
}

static void combine(along *a, k_val *const into, k_val *const from)
{
    k_builder *b = &a->lw->b;
    for (uint32_t i = 0; i < a->loop->states; i++)
        k_set(b, into[i], k_let(b, a->op[i], k_get(b, into[i]), k_get(b, from[i]), 0));
}

/* --- what rows read at once ---
 * An index that grows by one from round to round is inside of its array if it is in the first and in the last round. */

typedef struct steps { /* of terms: 1 + by how much they grow, 0 or 1; 0: that is not known */
    along *a;
    map64 of;
} steps;

static unsigned step_of(const steps *s, ir_id term)
{
    unsigned known = map64_get(&s->of, term);
    return known == 3 ? 0 : known ? known : 1; /* what is not of the loop stands still */
}

static void find_steps(steps *s)
{
    const ir_program *p = s->a->lw->l->ir;
    opt_ids ids = {0};
    opt_reach(s->a->lw->l->ir, s->a->lw->arena, s->a->loop->states, s->a->loop->next, &ids);
    map64_put(s->a->lw->arena, &s->of, s->a->loop->index, 2);
    for (uint32_t k = 0; k < s->a->loop->states; k++)
        map64_put(s->a->lw->arena, &s->of, s->a->loop->var[k], 3);
    for (uint32_t i = 0; i < ids.n; i++) {
        const ir_node *n = ir_at(p, ids.at[i]);
        const ir_id *arg = p->arg.at + n->args;
        unsigned step = n->kind == IR_LOOP ? 3 : 0;
        bool moves = false;
        for (uint32_t k = 0; k < n->n; k++)
            moves |= step_of(s, arg[k]) != 1;
        if (moves) {
            unsigned x = step_of(s, arg[0]), y = n->n > 1 ? step_of(s, arg[1]) : 1;
            bool plain = n->kind == IR_WITHIN || (n->kind == IR_OP && n->op == OP_CONVERT && n->type == T_I64 &&
                                                  ir_at(p, arg[0])->type == T_I64);
            bool adds = n->kind == IR_OP && n->op == OP_ADD && n->type == T_I64;
            bool takes = n->kind == IR_OP && n->op == OP_SUB && n->type == T_I64;
            step = plain ? (x ? x : 3) : adds && x && y && x + y <= 3 ? x + y - 1 : takes && x && y == 1 ? x : 3;
        }
        if (step)
            map64_put(s->a->lw->arena, &s->of, ids.at[i], step);
    }
    vec_free(s->a->lw->arena, &ids);
}

static k_val value_at(along *a, ir_id term, k_val round)
{
    sk_lower *lw = a->lw;
    uint32_t mark = sk_scope(lw);
    k_val out = 0;
    sk_bind(lw, a->loop->index, round);
    sk_emit(lw, 1, &term, &out);
    sk_scope_end(lw, mark);
    return out;
}

/* Does the index need no check of its own where all of the row is there? */
static bool whole_row(const steps *s, const ir_node *within)
{
    const ir_program *p = s->a->lw->l->ir;
    return within->kind == IR_WITHIN && within->n == 1 && step_of(s, p->arg.at[within->args]) == 2;
}

/* The indices are known to be inside from here on, to the end of the scope. */
static void note_rows(along *a, const steps *s, const ir_step *step)
{
    const ir_program *p = a->lw->l->ir;
    for (uint32_t i = 0; i < step->body->step.n; i++) {
        const ir_node *n = ir_at(p, step->body->step.at[i].term);
        unsigned dimension = ir_within_dimension(n);
        if (whole_row(s, n))
            sk_note_extent(a->lw, p->arg.at[n->args],
                           dimension == IR_WHOLE ? ir_size(a->lw->l->ir, n->array)
                                                 : ir_info(p, n->array)->shape[dimension]);
    }
}

/* Is all that the row reads there? */
static k_val look_at_rows(along *a, const steps *s, const ir_step *step)
{
    sk_lower *lw = a->lw;
    k_builder *b = &lw->b;
    k_val good = k_literal(b, T_BOOL, 1), first = k_i64(b, 0), last = sk_sub(lw, a->count, k_i64(b, 1));
    for (uint32_t i = 0; i < step->body->step.n; i++) {
        const ir_node n = *ir_at(lw->l->ir, step->body->step.at[i].term);
        if (!whole_row(s, &n))
            continue;
        ir_id index = lw->l->ir->arg.at[n.args];
        k_val from = value_at(a, index, first), to = value_at(a, index, last);
        k_val inside =
            k_let(b, OP_AND, k_let(b, OP_GE, from, first, 0), k_let(b, OP_LT, to, sk_extent_within(lw, &n), 0), 0);
        good = k_let(b, OP_AND, good, k_let(b, OP_AND, inside, k_let(b, OP_GE, to, from, 0), 0), 0);
    }
    return good;
}

/* --- long rows --- */

static void new_accumulators(along *a)
{
    k_builder *b = &a->lw->b;
    for (int64_t t = 0; t < a->tree.streams; t++) {
        a->acc[t] = arena_alloc(a->lw->arena, a->loop->states * sizeof(k_val));
        for (uint32_t i = 0; i < a->loop->states; i++) {
            ir_type type = (ir_type)ir_at(a->lw->l->ir, a->loop->var[i])->type;
            a->acc[t][i] = k_decl(b, k_literal(b, type, a->identity[i]), "sum");
        }
    }
}

static void piece(along *a, k_val begin, k_val end)
{
    sk_lower *lw = a->lw;
    k_builder *b = &lw->b;
    k_val turn = k_i64(b, SK_ACCUMULATORS);
    k_val rounds = k_let(b, OP_QUOT, sk_sub(lw, end, begin), turn, 0);
    new_accumulators(a);
    k_val round = k_for(b, k_i64(b, 0), rounds, false);
    k_val at = sk_add(lw, begin, sk_mul(lw, round, turn));
    for (int64_t t = 0; t < a->tree.streams; t++)
        take(a, sk_add(lw, sk_add(lw, at, k_i64(b, t * a->tree.lanes)), a->lane), a->acc[t]);
    k_end(b);
    k_val rest = sk_add(lw, begin, sk_mul(lw, rounds, turn));
    for (int64_t t = 0; t < a->tree.streams; t++) {
        k_val from = sk_add(lw, rest, k_i64(b, t * a->tree.lanes)), k = sk_add(lw, from, a->lane);
        k_if(b, k_let(b, OP_LT, from, end, 0));
        k_if(b, k_let(b, OP_LT, k, end, 0));
        take(a, k, a->acc[t]);
        k_end(b);
        k_end(b);
    }
    for (int64_t half = a->tree.streams / 2; half > 0; half /= 2)
        for (int64_t t = 0; t < half; t++)
            combine(a, a->acc[t], a->acc[t + half]);
    for (uint32_t i = 0; i < a->loop->states; i++) {
        k_val v = k_get(b, a->acc[0][i]);
        for (int64_t half = a->tree.lanes / 2; half > 0; half /= 2)
            v = k_let(b, a->op[i], v, k_shuffle(b, v, half), 0);
        v = k_take_lane(b, v, 0);
        k_set(b, a->total[i], k_let(b, a->op[i], k_get(b, a->total[i]), v, 0));
    }
}

static void long_row(along *a)
{
    sk_lower *lw = a->lw;
    k_builder *b = &lw->b;
    k_val size = k_i64(b, SK_PIECE);
    k_val pieces = k_let(b, OP_QUOT, sk_add(lw, a->count, k_i64(b, SK_PIECE - 1)), size, 0);
    k_val number = k_for(b, k_i64(b, 0), pieces, false);
    k_val begin = sk_mul(lw, number, size);
    piece(a, begin, sk_min(lw, a->count, sk_add(lw, begin, size)));
    k_end(b);
}

void sk_along_loop(sk_lower *lw, const ir_step *s)
{
    ir_program *p = lw->l->ir;
    sk_along *gang = lw->along;
    const ir_loop *loop = ir_at(p, s->term)->u.loop;
    k_builder *b = &lw->b;
    along a = {.lw = lw, .id = s->term, .loop = loop, .tree = gang->tree, .lane = gang->lane};
    a.op = arena_alloc(lw->arena, loop->states * sizeof(ir_op));
    a.identity = arena_alloc(lw->arena, loop->states * sizeof(ir_bits));
    a.total = arena_alloc(lw->arena, loop->states * sizeof(k_val));
    a.count = sk_value(lw, loop->count);
    for (uint32_t i = 0; i < loop->states; i++) {
        ir_id with[2];
        ir_type type = (ir_type)ir_at(p, loop->var[i])->type;
        a.op[i] = opt_combines(p, loop, i, with);
        identity_of(lw, a.op[i], type, &a.identity[i]);
        a.total[i] = k_decl(b, k_literal(b, type, a.identity[i]), "total");
    }
    lw->along = NULL; /* loops inside are ones of lanes */
    steps st = {.a = &a};
    find_steps(&st);
    if (gang->first || gang->loops > 1) {
        k_val several = k_let(b, OP_GT, a.count, k_i64(b, SK_SHORT), 0);
        k_if(b, k_let(b, OP_AND, several, look_at_rows(&a, &st, s), 0));
    }
    uint32_t mark = sk_scope(lw);
    if (gang->first) {
        gang->loops++;
        k_set(b, gang->some_long, k_literal(b, T_BOOL, 1));
    } else {
        note_rows(&a, &st, s);
        long_row(&a);
    }
    sk_scope_end(lw, mark);
    if (gang->first || gang->loops > 1) {
        k_else(b);
        take(&a, k_for(b, k_i64(b, 0), a.count, false), a.total);
        k_end(b);
        k_end(b);
    }
    lw->along = gang;
    for (uint32_t i = 0; i < loop->states; i++) {
        k_val init = sk_value(lw, loop->init[i]);
        sk_bind(lw, ir_proj(p, s->term, i), k_let(b, a.op[i], init, k_get(b, a.total[i]), 0));
    }
    map64_free(lw->arena, &st.of);
}
