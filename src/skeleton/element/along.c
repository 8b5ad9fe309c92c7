/* Loops along rows of their own: what a row has is known when it is met, so all is decided there, one row at a time. */
#include "skeleton/element/along.h"

#include "skeleton/element/row_reads.h"

#include "opt/identity.h"
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
    opt_ids within; /* checks of indices that go along the row */
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
    k_val *next = arena_array(lw->arena, k_val, a->loop->states);
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

/* The indices of what the row reads, in round number `round`. */
static k_val *indices_at(along *a, k_val round)
{
    sk_lower *lw = a->lw;
    k_val *out = arena_array(lw->arena, k_val, a->within.n + 1);
    ir_id *index = arena_array(lw->arena, ir_id, a->within.n + 1);
    for (uint32_t i = 0; i < a->within.n; i++)
        index[i] = ir_args(lw->l->ir, a->within.at[i])[0];
    uint32_t mark = sk_scope(lw);
    sk_bind(lw, a->loop->index, round);
    sk_emit(lw, a->within.n, index, out);
    sk_scope_end(lw, mark);
    return out;
}

/* --- long rows --- */

static void new_accumulators(along *a)
{
    k_builder *b = &a->lw->b;
    for (int64_t t = 0; t < a->tree.streams; t++) {
        a->acc[t] = arena_array(a->lw->arena, k_val, a->loop->states);
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

/* --- a thread for itself --- */

/* for (round = 0; round < count; round++), where each thread has a count of its own; k_end ends it, behind next_round.
 */
static k_val open_rounds(along *a, k_val from, k_val to, k_val *round)
{
    k_builder *b = &a->lw->b;
    *round = k_decl(b, from, "round");
    k_loop(b);
    k_val k = k_get(b, *round);
    k_break_if(b, k_let(b, OP_GE, k, to, 0));
    return k;
}

static void next_round(along *a, k_val round, k_val by)
{
    k_builder *b = &a->lw->b;
    k_set(b, round, sk_add(a->lw, k_get(b, round), by));
    k_end(b);
}

static void row_in_order(along *a)
{
    k_val round;
    k_val k = open_rounds(a, k_i64(&a->lw->b, 0), a->count, &round);
    take(a, k, a->total);
    next_round(a, round, k_i64(&a->lw->b, 1));
}

/* Memory for accumulators of each state. */
static k_mem *own_accumulators(along *a)
{
    sk_lower *lw = a->lw;
    const kernel *k = lw->out->k;
    k_mem *out = arena_array(lw->arena, k_mem, a->loop->states);
    for (uint32_t i = 0; i < a->loop->states; i++) {
        const ir_type type = (ir_type)ir_at(lw->l->ir, a->loop->var[i])->type;
        for (uint32_t m = 0; m < lw->along->accumulators.n && !out[i]; m++) {
            const k_mem known = lw->along->accumulators.at[m];
            bool taken = k->mem.at[known].type != type;
            for (uint32_t j = 0; j < i; j++)
                taken |= out[j] == known;
            out[i] = taken ? 0 : known;
        }
        if (out[i])
            continue;
        out[i] = k_private(&lw->b, type, SK_ACCUMULATORS, "sums");
        vec_push(lw->arena, &lw->along->accumulators, out[i]);
    }
    return out;
}

/* Element k of the row into accumulator number `at`. */
static void take_into(along *a, k_val k, const k_mem *sums, k_val at)
{
    sk_lower *lw = a->lw;
    uint32_t mark = sk_scope(lw);
    k_val *next = arena_array(lw->arena, k_val, a->loop->states);
    sk_bind(lw, a->loop->index, k);
    for (uint32_t i = 0; i < a->loop->states; i++)
        sk_bind(lw, a->loop->var[i], k_load(&lw->b, sums[i], at));
    sk_emit(lw, a->loop->states, a->loop->next, next);
    for (uint32_t i = 0; i < a->loop->states; i++)
        k_store(&lw->b, sums[i], at, next[i]);
    sk_scope_end(lw, mark);
}

/* The tree of gangs, one element after the other: reads go along the row. */
static void row_by_itself(along *a)
{
    sk_lower *lw = a->lw;
    k_builder *b = &lw->b;
    const k_mem *sums = own_accumulators(a);
    sk_along *gang = lw->along;
    k_val zero = k_i64(b, 0), all = k_i64(b, SK_ACCUMULATORS), piece_round, round;
    lw->along = NULL; /* loops inside are ones of a thread's */
    k_val begin = open_rounds(a, zero, a->count, &piece_round);
    k_val end = sk_min(lw, a->count, sk_add(lw, begin, k_i64(b, SK_PIECE)));
    k_val j = k_for(b, zero, all, false);
    for (uint32_t i = 0; i < a->loop->states; i++)
        k_store(b, sums[i], j, k_literal(b, (ir_type)ir_at(lw->l->ir, a->loop->var[i])->type, a->identity[i]));
    k_end(b);
    k_val k = open_rounds(a, begin, end, &round);
    take_into(a, k, sums, k_let(b, OP_BIT_AND, k, k_i64(b, SK_ACCUMULATORS - 1), 0));
    next_round(a, round, k_i64(b, 1));
    for (int64_t half = SK_ACCUMULATORS / 2; half > 0; half /= 2) {
        j = k_for(b, zero, k_i64(b, half), false);
        k_val other = sk_add(lw, j, k_i64(b, half));
        for (uint32_t i = 0; i < a->loop->states; i++)
            k_store(b, sums[i], j, k_let(b, a->op[i], k_load(b, sums[i], j), k_load(b, sums[i], other), 0));
        k_end(b);
    }
    for (uint32_t i = 0; i < a->loop->states; i++)
        k_set(b, a->total[i], k_let(b, a->op[i], k_get(b, a->total[i]), k_load(b, sums[i], zero), 0));
    next_round(a, piece_round, k_i64(b, SK_PIECE));
    lw->along = gang;
}

static void loop_alone(along *a)
{
    sk_lower *lw = a->lw;
    k_builder *b = &lw->b;
    sk_along *gang = lw->along;
    lw->along = NULL;
    sk_find_row_reads(lw, a->loop->states, a->loop->next, a->loop->index, a->loop->states, a->loop->var, &a->within);
    k_val several = k_let(b, OP_GT, a->count, k_i64(b, SK_SHORT), 0);
    k_val *from = indices_at(a, k_i64(b, 0)), *to = indices_at(a, sk_sub(lw, a->count, k_i64(b, 1)));
    k_if(b, k_let(b, OP_AND, several, sk_row_is_there(lw, &a->within, from, to), 0));
    uint32_t mark = sk_scope(lw);
    sk_note_row_reads(lw, &a->within);
    lw->along = gang;
    row_by_itself(a);
    lw->along = NULL;
    sk_scope_end(lw, mark);
    k_else(b);
    row_in_order(a);
    k_end(b);
    lw->along = gang;
}

void sk_along_loop(sk_lower *lw, const ir_step *s)
{
    ir_program *p = lw->l->ir;
    sk_along *gang = lw->along;
    const ir_loop *loop = ir_at(p, s->term)->u.loop;
    k_builder *b = &lw->b;
    along a = {.lw = lw, .id = s->term, .loop = loop, .tree = gang->tree, .lane = gang->lane};
    a.op = arena_array(lw->arena, ir_op, loop->states);
    a.identity = arena_array(lw->arena, ir_bits, loop->states);
    a.total = arena_array(lw->arena, k_val, loop->states);
    a.count = sk_value(lw, loop->count);
    for (uint32_t i = 0; i < loop->states; i++) {
        ir_id with[2];
        ir_type type = (ir_type)ir_at(p, loop->var[i])->type;
        a.op[i] = opt_combines(p, loop, i, with);
        identity_of(lw, a.op[i], type, &a.identity[i]);
        a.total[i] = k_decl(b, k_literal(b, type, a.identity[i]), "total");
    }
    if (gang->alone) {
        loop_alone(&a);
        for (uint32_t i = 0; i < loop->states; i++) {
            k_val init = sk_value(lw, loop->init[i]);
            sk_bind(lw, ir_proj(p, s->term, i), k_let(b, a.op[i], init, k_get(b, a.total[i]), 0));
        }
        return;
    }
    lw->along = NULL; /* loops inside are ones of lanes */
    sk_find_row_reads(lw, loop->states, loop->next, loop->index, loop->states, loop->var, &a.within);
    if (gang->first || gang->loops > 1) {
        k_val several = k_let(b, OP_GT, a.count, k_i64(b, SK_SHORT), 0);
        k_val *from = indices_at(&a, k_i64(b, 0)), *to = indices_at(&a, sk_sub(lw, a.count, k_i64(b, 1)));
        k_if(b, k_let(b, OP_AND, several, sk_row_is_there(lw, &a.within, from, to), 0));
    }
    uint32_t mark = sk_scope(lw);
    if (gang->first) {
        gang->loops++;
        k_set(b, gang->some_long, k_literal(b, T_BOOL, 1));
    } else {
        sk_note_row_reads(lw, &a.within);
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
    if (gang->first) /* what follows may depend on what is not known yet */
        k_if(b, k_let(b, OP_NOT, k_get(b, gang->some_long), 0, 0));
}
