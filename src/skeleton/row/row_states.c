/* States of scans and counts of packs: before a piece, behind it, and as what goes from piece to piece. */
#include "skeleton/row/row.h"

/* What the first window begins with: the seed, or what changes nothing; NULL: nothing. */
k_val *row_first_state(row_loop *r, const row_part *p)
{
    sk_lower *lw = r->lw;
    const ir_array *info = p->fold.info;
    if (!info->seed && !p->fold.identity)
        return NULL;
    k_val *x = row_values(r, p);
    for (uint32_t c = 0; c < p->n; c++)
        x[c] = info->seed ? sk_closed(lw, info->seed[c]) : k_literal(&lw->b, info->type[c], p->fold.identity[c]);
    return x;
}

static void set_combined(row_loop *r, const row_part *p, const k_val *variable, const k_val *first, const k_val *second)
{
    k_val *out = row_values(r, p);
    row_apply(r, p, first, second, out);
    row_set(r, p, variable, out);
}

/* The state before piece number `piece` of the row, from that of its window and what follows in it. */
void row_state_before(row_loop *r, row_part *p, k_val piece, const k_val *window, const k_val *in_window)
{
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    bool base = p->fold.info->seed || p->fold.identity;
    k_val zero = k_i64(b, 0), within = k_let(b, OP_REM, piece, k_i64(b, ROW_WINDOW), 0);
    k_val *v = row_variables(r, p, window, "state");
    k_if(b, k_let(b, OP_GT, within, zero, 0));
    if (!base)
        k_if(b, k_let(b, OP_GE, piece, k_i64(b, ROW_WINDOW), 0));
    set_combined(r, p, v, window, in_window);
    if (!base) {
        k_else(b);
        row_set(r, p, v, in_window);
        k_end(b);
    }
    k_end(b);
    p->state = row_values(r, p);
    row_get(r, p, v, p->state);
    p->has_state = base ? 0 : k_let(b, OP_GT, piece, zero, 0);
}

/* Both after a piece whose total is known. */
void row_state_after(row_loop *r, const row_part *p, k_val piece, k_val *window, k_val *in_window, const k_val *total)
{
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    bool base = p->fold.info->seed || p->fold.identity;
    k_val size = k_i64(b, ROW_WINDOW), within = k_let(b, OP_REM, piece, size, 0);
    k_val *next = row_variables(r, p, total, "state"), *far = row_variables(r, p, window, "state");
    k_if(b, k_let(b, OP_GT, within, k_i64(b, 0), 0));
    set_combined(r, p, next, in_window, total);
    k_end(b);
    row_get(r, p, next, in_window);
    k_if(b, k_let(b, OP_EQ, within, k_i64(b, ROW_WINDOW - 1), 0));
    if (!base)
        k_if(b, k_let(b, OP_GE, piece, size, 0));
    set_combined(r, p, far, window, in_window);
    if (!base) {
        k_else(b);
        row_set(r, p, far, in_window);
        k_end(b);
    }
    k_end(b);
    row_get(r, p, far, window);
}

/* --- what goes from piece to piece --- */

static void carry_scan(row_loop *r, const row_part *p, k_val count, row_carried *x)
{
    k_val *total = row_values(r, p), *first = row_first_state(r, p);
    row_piece_total(r, p, count, total);
    for (unsigned twice = 0; twice < 2; twice++)
        for (uint32_t c = 0; c < p->n; c++) {
            x->initial[x->n] = !twice && first ? first[c] : k_literal(&r->lw->b, p->fold.info->type[c], 0);
            x->aggregate[x->n++] = total[c];
        }
}

/* The window's state, which is that of the row's beginning in its first piece. */
static k_val *window_of(row_loop *r, const row_part *p, k_val piece, const k_val *left)
{
    k_builder *b = &r->lw->b;
    k_val *window = row_values(r, p), *first = row_first_state(r, p);
    k_val begins = k_let(b, OP_EQ, piece, k_i64(b, 0), 0);
    for (uint32_t c = 0; c < p->n; c++) {
        window[c] = k_get(b, left[c]);
        if (first)
            window[c] = k_select(b, begins, first[c], window[c]);
    }
    return window;
}

/* Packs of which the states of scans decide how much they keep come after these, in a chain of their own. */
static bool carries(const row_loop *r, const row_part *p, bool late)
{
    return p->late_keep == late && (row_counts(r, p) || p->op->kind == L_SCAN);
}

void row_find_carried(row_loop *r, bool late, k_val count, row_carried *x)
{
    k_builder *b = &r->lw->b;
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i];
        if (!carries(r, p, late))
            continue;
        if (p->op->kind == L_SCAN) {
            carry_scan(r, p, count, x);
        } else {
            x->initial[x->n] = k_i64(b, 0);
            x->aggregate[x->n++] = k_load(b, p->count, k_i64(b, 0));
        }
    }
}

/* result = left (+) what piece number `piece` adds: left and right are variables. */
void row_combine_carried(row_loop *r, bool late, k_val piece, const k_val *left, const k_val *right, k_val *result)
{
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    uint8_t at = 0;
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i];
        if (!carries(r, p, late))
            continue;
        if (p->op->kind != L_SCAN) {
            result[at] = sk_add(lw, k_get(b, left[at]), k_get(b, right[at]));
            at++;
            continue;
        }
        k_val *window = window_of(r, p, piece, left + at), *in_window = row_values(r, p), *total = row_values(r, p);
        for (uint32_t c = 0; c < p->n; c++) {
            in_window[c] = k_get(b, left[at + p->n + c]);
            total[c] = k_get(b, right[at + c]);
        }
        row_state_after(r, p, piece, window, in_window, total);
        memcpy(result + at, window, p->n * sizeof(k_val));
        memcpy(result + at + p->n, in_window, p->n * sizeof(k_val));
        at = (uint8_t)(at + 2 * p->n);
    }
}

void row_use_carried(row_loop *r, bool late, k_val piece, const k_val *before)
{
    uint8_t at = 0;
    for (uint32_t i = 0; i < r->part.n; i++) {
        row_part *p = &r->part.at[i];
        if (!carries(r, p, late))
            continue;
        if (p->op->kind != L_SCAN) {
            p->before = before[at++];
            continue;
        }
        row_state_before(r, p, piece, window_of(r, p, piece, before + at), before + at + p->n);
        at = (uint8_t)(at + 2 * p->n);
    }
}

/* The types of what is carried, in its order. */
uint8_t row_carried_types(const row_loop *r, ir_type *type)
{
    uint8_t n = 0;
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i];
        if (row_counts(r, p))
            type[n++] = T_I64;
        for (uint32_t c = 0; c < 2 * p->n && p->op->kind == L_SCAN; c++)
            type[n++] = p->fold.info->type[c % p->n];
    }
    return n;
}
