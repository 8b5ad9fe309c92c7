/* Greatest and least floats, on the way by one comparison each. What min and max say of NaNs and of zeros of both signs
 * takes six operations; but it matters only if the result is a zero, or no better than the worst: then the elements are
 * looked through once more, for the zero or the infinity that counts.
 *
 * Zeros are often the least of what is not negative. So where many elements are taken one behind the other it is
 * watched whether the zero that counts is among them: -0 has the least bits of all as a signed integer, 0 as an
 * unsigned one. */
#include "opt/rewrite.h"
#include "skeleton/fold/fold.h"
#include <math.h>
#include <string.h>

enum { MOST_WORK = 8, SIGN_32 = 31, SIGN_64 = 63 };

static bool greatest(const sk_folds *s, const sk_fold *f, uint32_t c)
{
    return ir_at(s->lw->l->ir, f->info->fn->result[c])->op == OP_MAX;
}

static bool is_extreme(const sk_folds *s, const sk_fold *f, uint32_t c)
{
    const ir_program *p = s->lw->l->ir;
    ir_op op = (ir_op)ir_at(p, f->info->fn->result[c])->op;
    /* a lane that a CHECK has taken away has no part in what lanes exchange */
    bool may_fail = ir_at(p, f->element[c])->partial && !s->alone;
    return (op == OP_MIN || op == OP_MAX) && ir_type_float(f->info->type[c]) && !may_fail;
}

/* Elements that take long are not to be computed twice, and what says what it computes says so once. */
static bool only_once(const sk_folds *s, const sk_fold *f)
{
    opt_ids ids = {0};
    opt_reach(s->lw->l->ir, s->lw->arena, f->n, f->element, &ids);
    for (uint32_t i = 0; i < ids.n; i++) {
        const ir_node *n = ir_at(s->lw->l->ir, ids.at[i]);
        if (n->kind == IR_LOOP || (n->kind == IR_OP && ir_ops[n->op].flags & OP_TRACES))
            return true;
    }
    return false;
}

void sk_find_extremes(sk_folds *s)
{
    const sk_options *o = s->lw->options;
    if (!o->vector_bytes || o->group || s->combine || (s->lw->cluster->loop->ordered && !s->lw->cluster->loop->mixed) ||
        sk_fold_flops(s->lw->cluster, o) > MOST_WORK)
        return;
    for (uint32_t i = 0; i < s->fold.n; i++)
        if (!s->fold.at[i].identity || !sk_fold_harmless(s->lw, &s->fold.at[i]))
            return;
    for (uint32_t i = 0; i < s->fold.n; i++) {
        sk_fold *f = &s->fold.at[i];
        for (uint32_t c = 0; c < f->n && !only_once(s, f); c++) {
            if (!is_extreme(s, f, c))
                continue;
            if (!f->zeros) {
                f->zeros = arena_array(s->lw->arena, k_val, f->n);
                memset(f->zeros, 0, f->n * sizeof *f->zeros);
            }
            double worst = greatest(s, f, c) ? -INFINITY : INFINITY;
            f->extreme |= (uint64_t)1 << c;
            f->identity[c] = f->info->type[c] == T_F32 ? ir_bits_f32((float)worst) : ir_bits_f64(worst);
        }
    }
}

void sk_fold_accumulate(sk_folds *s, const sk_fold *f, const k_val *acc, const k_val *with, k_val *out)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    if (!f->extreme) {
        sk_fold_apply(lw, f, acc, with, out);
        return;
    }
    uint32_t mark = sk_scope(lw);
    for (uint32_t c = 0; c < f->n; c++) {
        if (f->extreme >> c & 1) {
            k_val better = k_let(b, greatest(s, f, c) ? OP_GT : OP_LT, with[c], acc[c], 0);
            out[c] = k_select(b, better, with[c], acc[c]); /* the accumulator where the element is a NaN */
            continue;
        }
        sk_bind(lw, f->info->fn->param[c], acc[c]);
        sk_bind(lw, f->info->fn->param[f->n + c], with[c]);
        sk_emit(lw, 1, &f->info->fn->result[c], &out[c]);
    }
    sk_scope_end(lw, mark);
}

/* --- zeros --- */

/* Integers of which the zero that counts has the least bits. */
static ir_type bits_type(const sk_folds *s, const sk_fold *f, uint32_t c)
{
    bool wide = f->info->type[c] == T_F64;
    return greatest(s, f, c) ? (wide ? T_U64 : T_U32) : wide ? T_I64 : T_I32;
}

static ir_bits least_bits(ir_type t)
{
    return t == T_I32 ? (ir_bits)1 << SIGN_32 : t == T_I64 ? (ir_bits)1 << SIGN_64 : 0;
}

static ir_bits most_bits(ir_type t)
{
    return t == T_I32 ? INT32_MAX : t == T_I64 ? INT64_MAX : t == T_U32 ? UINT32_MAX : UINT64_MAX;
}

void sk_fold_watch(sk_folds *s)
{
    for (uint32_t i = 0; i < s->fold.n; i++) {
        sk_fold *f = &s->fold.at[i];
        for (uint32_t c = 0; c < f->n; c++)
            if (f->extreme >> c & 1) {
                ir_type t = bits_type(s, f, c);
                f->zeros[c] = k_decl(&s->lw->b, k_literal(&s->lw->b, t, most_bits(t)), "zeros");
            }
    }
}

void sk_fold_watch_element(sk_folds *s, const sk_fold *f, const k_val *value)
{
    k_builder *b = &s->lw->b;
    for (uint32_t c = 0; c < f->n; c++)
        if (f->extreme >> c & 1 && f->zeros && f->zeros[c]) {
            k_val bits = k_convert(b, OP_BITCAST, bits_type(s, f, c), value[c]);
            k_set(b, f->zeros[c], k_let(b, OP_MIN, bits, k_get(b, f->zeros[c]), 0));
        }
}

/* --- the rare cases --- */

k_val sk_fold_is_unsettled(sk_folds *s, const sk_fold *f, uint32_t c, k_val total)
{
    k_builder *b = &s->lw->b;
    ir_type t = f->info->type[c];
    k_val is_zero = k_let(b, OP_EQ, total, k_literal(b, t, 0), 0);
    return k_let(b, OP_OR, is_zero, k_let(b, OP_EQ, total, k_literal(b, t, f->identity[c]), 0), 0);
}

typedef struct look {
    sk_folds *s;
    const sk_fold *f;
    uint32_t c;
    k_val row, begin, wanted, found; /* bits that are looked for; variable: they were there */
} look;

static k_val bits_of(k_builder *b, ir_type t, k_val x)
{
    return k_convert(b, OP_BITCAST, t == T_F32 ? T_U32 : T_U64, x);
}

static void look_at(look *l, k_val k)
{
    sk_folds *s = l->s;
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    uint32_t mark = sk_scope(lw);
    k_val around = lw->element, x;
    sk_fold_bind(s, l->row, sk_add(lw, l->begin, s->every ? sk_mul(lw, k, s->every) : k));
    sk_emit(lw, 1, &l->f->element[l->c], &x);
    lw->element = around;
    sk_scope_end(lw, mark);
    k_val is = k_let(b, OP_EQ, bits_of(b, l->f->info->type[l->c], x), l->wanted, 0);
    k_set(b, l->found, k_let(b, OP_OR, k_get(b, l->found), is, 0));
}

/* `count` elements by the lanes of a gang; or by each lane for itself, where there is no `lane` */
static void look_through(look *l, k_val lane, k_val count)
{
    sk_lower *lw = l->s->lw;
    k_builder *b = &lw->b;
    k_val zero = k_i64(b, 0), lanes = k_i64(b, l->s->tree.lanes);
    if (!lane) {
        look_at(l, k_for(b, zero, count, false));
        k_end(b);
        return;
    }
    k_val whole = k_let(b, OP_QUOT, count, lanes, 0);
    look_at(l, sk_add(lw, sk_mul(lw, k_for(b, zero, whole, false), lanes), lane));
    k_end(b);
    k_val rest = sk_add(lw, sk_mul(lw, whole, lanes), lane);
    k_if(b, k_let(b, OP_LT, rest, count, 0));
    look_at(l, rest);
    k_end(b);
}

/* Are there elements with these bits? */
static k_val is_among(look *l, k_val lane, k_val count)
{
    k_builder *b = &l->s->lw->b;
    l->found = k_decl(b, k_literal(b, T_BOOL, 0), "found");
    look_through(l, lane, count);
    k_val found = k_get(b, l->found);
    return lane ? k_let(b, OP_GT, k_count(b, found), k_i64(b, 0), 0) : found;
}

/* The same where zeros were watched: only where a total is no better than the worst, as `lost` says, something is
 * looked for. */
static k_val is_among_watched(look *l, k_val lane, k_val count, k_val is_zero, k_val lost)
{
    k_builder *b = &l->s->lw->b;
    ir_type t = bits_type(l->s, l->f, l->c);
    k_val least = k_let(b, OP_EQ, k_get(b, l->f->zeros[l->c]), k_literal(b, t, least_bits(t)), 0);
    least = lane ? k_let(b, OP_GT, k_count(b, least), k_i64(b, 0), 0) : least;
    k_val there = k_decl(b, least, "there");
    k_if(b, k_let(b, OP_NOT, k_all(b, k_let(b, OP_NOT, lost, 0, 0)), 0, 0));
    k_set(b, there, k_select(b, is_zero, least, is_among(l, lane, count)));
    k_end(b);
    return k_get(b, there);
}

/* The result: the bits that were looked for, or what is left if they are not there: the other zero, or a NaN. Where
 * lanes share a row, only the first one's total is looked at: the others' need not be combined. */
static void settle(sk_folds *s, const sk_fold *f, uint32_t c, k_val acc, k_val row, k_val begin, k_val lane,
                   k_val count)
{
    k_builder *b = &s->lw->b;
    ir_type t = f->info->type[c], u = t == T_F32 ? T_U32 : T_U64;
    ir_bits minus = (ir_bits)1 << (t == T_F32 ? SIGN_32 : SIGN_64);
    ir_bits nan = t == T_F32 ? 0x7fc00000u : 0x7ff8000000000000u;
    bool max = greatest(s, f, c);
    k_val total = k_get(b, acc), none = k_literal(b, t, 0), zero = k_i64(b, 0);
    k_val is_zero = k_let(b, OP_EQ, total, none, 0), worst = k_literal(b, t, f->identity[c]);
    k_val lost = k_let(b, OP_EQ, total, worst, 0), unknown = k_let(b, OP_OR, is_zero, lost, 0);
    k_val first = lane ? k_let(b, OP_LT, lane, k_i64(b, 1), 0) : 0;
    if (first) {
        unknown = k_let(b, OP_AND, unknown, first, 0);
        lost = k_let(b, OP_AND, lost, first, 0);
    }
    k_if(b, k_let(b, OP_NOT, k_all(b, k_let(b, OP_NOT, unknown, 0, 0)), 0, 0));
    if (first)
        is_zero = k_let(b, OP_GT, k_count(b, k_let(b, OP_AND, is_zero, first, 0)), zero, 0);
    look l = {.s = s, .f = f, .c = c, .row = row, .begin = begin};
    l.wanted = k_select(b, is_zero, k_literal(b, u, max ? 0 : minus), k_literal(b, u, f->identity[c]));
    k_val found = f->zeros[c] ? is_among_watched(&l, lane, count, is_zero, lost) : is_among(&l, lane, count);
    k_val left = k_select(b, is_zero, k_literal(b, u, max ? minus : 0), k_literal(b, u, nan));
    k_val value = k_convert(b, OP_BITCAST, t, k_select(b, found, l.wanted, left));
    k_set(b, acc, first ? value : k_select(b, unknown, value, total));
    k_end(b);
}

void sk_fold_settle(sk_folds *s, k_val row, k_val begin, k_val lane, k_val count, k_val *const *acc)
{
    for (uint32_t i = 0; i < s->fold.n; i++)
        for (uint32_t c = 0; c < s->fold.at[i].n; c++)
            if (s->fold.at[i].extreme >> c & 1) {
                settle(s, &s->fold.at[i], c, acc[i][c], row, begin, lane, count);
                s->fold.at[i].zeros[c] = 0;
            }
}
