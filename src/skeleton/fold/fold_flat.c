/* Folds of all elements of several dimensions: the position in the row is row-major, and elements use the quotient and
 * the rest by the innermost extent, which is the same for all. To divide each lane's position, and to read one by one
 * at what that gives, would take most of the time. So only the first position of a round is divided: where a group of
 * lanes ends before its line does, the quotient is one for all of them, and the rest is a run. Where it goes on in the
 * next line, lanes behind the end add one and start again; lines that are shorter than a round have divisions. */
#include "opt/rewrite.h"
#include "skeleton/fold/fold.h"

enum { MOST_WORK = 48 }; /* operations of an element whose code may be there several times */

typedef struct sk_flat {
    ir_id divisor;        /* a closed term */
    ir_id quotient, rest; /* of at.linear, or 0 where elements do not use it */
    k_val extent;         /* the divisor's value */
    k_val line, first;    /* quotient and rest of the round's first position */
    k_val lane;
    bool crosses;
} sk_flat;

/* Is the term op(position, something that does not change)? */
static bool divides(const sk_lower *lw, ir_id term, ir_op op)
{
    const ir_node *n = ir_at(lw->l->ir, term);
    if (n->kind != IR_OP || n->op != op || n->type != T_I64)
        return false;
    const ir_id *arg = ir_args(lw->l->ir, term);
    return arg[0] == lw->at.linear && !ir_at(lw->l->ir, arg[1])->scope;
}

void sk_find_flat(sk_folds *s)
{
    sk_lower *lw = s->lw;
    ir_program *p = lw->l->ir;
    opt_ids ids = {0};
    VEC(ir_id) all = {0};
    sk_flat found = {0};
    int64_t known;
    if (s->combine || lw->cluster->loop->ordered || lw->cluster->loop->rank != 1 || !lw->options->vector_bytes ||
        s->staged || s->stored.term.n || sk_fold_flops(lw->cluster, lw->options) > MOST_WORK)
        return;
    for (uint32_t i = 0; i < s->fold.n; i++)
        for (uint32_t c = 0; c < s->fold.at[i].n; c++)
            vec_push(lw->arena, &all, s->fold.at[i].element[c]);
    opt_reach(p, lw->arena, all.n, all.at, &ids);
    for (uint32_t i = 0; i < ids.n; i++) {
        bool quotient = divides(lw, ids.at[i], OP_QUOT);
        if (ir_at(p, ids.at[i])->kind == IR_LOOP || (!quotient && !divides(lw, ids.at[i], OP_REM)))
            continue;
        ir_id divisor = ir_args(p, ids.at[i])[1];
        if (found.divisor && found.divisor != divisor)
            continue;
        found.divisor = divisor;
        *(quotient ? &found.quotient : &found.rest) = ids.at[i];
    }
    if (!found.divisor || (ir_extent_constant(p, found.divisor, &known) && known < SK_ACCUMULATORS))
        return;
    s->flats = arena_copy(lw->arena, &found, sizeof found);
}

void sk_flat_begin(sk_folds *s)
{
    sk_emit(s->lw, 1, &s->flats->divisor, &s->flats->extent);
}

void sk_flat_bind(sk_folds *s)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    const sk_flat *f = s->flat;
    k_val line = f->line, place = sk_add(lw, f->first, k_i64(b, s->offset));
    if (f->crosses) { /* one by one: what lies beside a line need not be memory */
        k_val next = k_let(b, OP_GE, f->lane, sk_sub(lw, f->extent, place), 0);
        next = k_convert(b, OP_CONVERT, T_I64, next);
        line = sk_add(lw, line, next);
        place = sk_sub(lw, place, sk_mul(lw, next, f->extent));
    }
    if (f->quotient)
        sk_bind(lw, f->quotient, line);
    if (f->rest)
        sk_bind(lw, f->rest, sk_add(lw, place, f->lane));
}

/* A group of a round that goes on in the next line, where `first` is the round's place in its line. */
static void take_group(sk_folds *s, sk_flat *f, k_val line, k_val first, int64_t group, sk_flat_take *take, void *env)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    k_val offset = k_i64(b, group * s->tree.lanes), lanes = k_i64(b, s->tree.lanes);
    k_val place = sk_add(lw, first, offset), beyond = k_let(b, OP_GE, place, f->extent, 0);
    f->line = k_select(b, beyond, sk_add(lw, line, k_i64(b, 1)), line);
    f->first = k_select(b, beyond, sk_sub(lw, first, f->extent), first);
    place = sk_add(lw, f->first, offset);
    k_if(b, k_let(b, OP_LE, sk_add(lw, place, lanes), f->extent, 0));
    f->crosses = false;
    take(env, group);
    k_else(b);
    f->crosses = true;
    take(env, group);
    k_end(b);
}

void sk_flat_round(sk_folds *s, k_val lane, k_val first, sk_flat_take *take, void *env)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    sk_flat *f = s->flat = s->flats;
    k_val round = k_i64(b, SK_ACCUMULATORS);
    k_val line = k_let(b, OP_QUOT, first, f->extent, 0), place = sk_sub(lw, first, sk_mul(lw, line, f->extent));
    *f = (sk_flat){f->divisor, f->quotient, f->rest, f->extent, line, place, lane, false};
    k_if(b, k_let(b, OP_LE, sk_add(lw, place, round), f->extent, 0));
    for (int64_t t = 0; t < s->tree.streams; t++)
        take(env, t);
    k_else(b);
    k_if(b, k_let(b, OP_GE, f->extent, round, 0));
    for (int64_t t = 0; t < s->tree.streams; t++)
        take_group(s, f, line, place, t, take, env);
    k_else(b);
    s->flat = NULL;
    for (int64_t t = 0; t < s->tree.streams; t++)
        take(env, t);
    k_end(b);
    k_end(b);
}
