#include "skeleton/element/forms.h"

sk_form sk_form_of(const sk_forms *f, ir_id term)
{
    return f->form[map64_get(&f->number, term)];
}

static sk_form moving(int64_t step)
{
    return (sk_form){.kind = step ? SK_MOVING : SK_FIXED, .step = step};
}

bool sk_small_literal(const ir_program *p, ir_id term, int64_t *value)
{
    enum { FARTHEST = 1 << 20 };
    const ir_node *n = ir_at(p, term);
    *value = n->kind == IR_CONST && n->type == T_I64 ? ir_i64_bits(T_I64, n->u.literal) : FARTHEST;
    return *value > -FARTHEST && *value < FARTHEST;
}

static sk_form of_sum(sk_form x, sk_form y, int64_t sign)
{
    enum { MOST_STEP = 1 << 30 };
    int64_t step = x.step + sign * y.step;
    bool known = x.kind != SK_UNKNOWN && y.kind != SK_UNKNOWN && step > -MOST_STEP && step < MOST_STEP;
    return known ? moving(step) : (sk_form){0};
}

static sk_form of_product(const sk_forms *f, ir_id x, ir_id y)
{
    int64_t by;
    if (sk_form_of(f, x).kind == SK_MOVING && sk_small_literal(f->p, y, &by))
        return moving(sk_form_of(f, x).step * by);
    if (sk_form_of(f, y).kind == SK_MOVING && sk_small_literal(f->p, x, &by))
        return moving(sk_form_of(f, y).step * by);
    return (sk_form){0};
}

/* A minimum or maximum of what moves by one and what stands still, or what moves by one without its sign: where it is
 * what moves. */
static bool is_cut(const sk_forms *f, const ir_node *n, sk_form x, sk_form y)
{
    const ir_id *arg = f->p->arg.at + n->args;
    const int64_t step = x.step + y.step;
    if (n->op == OP_ABS)
        return x.kind == SK_MOVING && (x.step == 1 || x.step == -1) && !ir_at(f->p, arg[0])->partial;
    if (n->op != OP_MIN && n->op != OP_MAX)
        return false;
    return (x.kind == SK_MOVING && y.kind == SK_FIXED) != (x.kind == SK_FIXED && y.kind == SK_MOVING) &&
           (step == 1 || step == -1) && !ir_at(f->p, arg[0])->partial && !ir_at(f->p, arg[1])->partial;
}

/* Operators that may fail stay where the program has them. */
static sk_form of_operator(const sk_forms *f, const ir_node *n, const sk_directions *d)
{
    const ir_id *arg = f->p->arg.at + n->args;
    sk_form x = sk_form_of(f, arg[0]), y = n->n > 1 ? sk_form_of(f, arg[1]) : x;
    bool fixed = true;
    for (uint32_t i = 0; i < n->n; i++)
        fixed &= sk_form_of(f, arg[i]).kind == SK_FIXED;
    if (fixed && !n->partial)
        return moving(0);
    if (n->type != T_I64 || ir_at(f->p, arg[0])->type != T_I64)
        return (sk_form){0};
    if (n->op == OP_ADD || n->op == OP_SUB)
        return of_sum(x, y, n->op == OP_ADD ? 1 : -1);
    if (d->roughly && n->op == OP_ABS)
        return x;
    if (d->roughly && (n->op == OP_MIN || n->op == OP_MAX) && (x.kind == SK_FIXED || y.kind == SK_FIXED))
        return x.kind == SK_FIXED ? y : x;
    if (d->between && is_cut(f, n, x, y))
        return x.kind == SK_FIXED ? y : x;
    return n->op == OP_MUL ? of_product(f, arg[0], arg[1]) : (sk_form){0};
}

static sk_form of_term(const sk_forms *f, const sk_directions *d, ir_id id)
{
    const ir_node *n = ir_at(f->p, id);
    switch (n->kind) {
    case IR_CONST:
    case IR_DIM:
        return moving(0);
    case IR_WITHIN:
        return sk_form_of(f, f->p->arg.at[n->args]);
    case IR_VAR:
        for (uint32_t i = 0; i < d->along; i++)
            if (d->moving[i] == id)
                return moving(1);
        for (uint32_t i = 0; i < d->still; i++)
            if (d->fixed[i] == id)
                return moving(0);
        return (sk_form){0};
    case IR_OP:
        return of_operator(f, n, d);
    default:
        return (sk_form){0};
    }
}

/* Their indices come before the terms in which they stand, as all variables do. */
static void note_rounds(sk_forms *f)
{
    for (uint32_t i = 0; i < f->ids.n; i++) {
        const ir_node *n = ir_at(f->p, f->ids.at[i]);
        if (n->kind == IR_LOOP && n->u.loop->index)
            f->form[map64_get(&f->number, n->u.loop->index)] = moving(0);
    }
}

sk_forms sk_find_forms(const sk_lower *lw, uint32_t n, const ir_id *term, const sk_directions *d)
{
    sk_forms f = {.p = lw->l->ir};
    opt_reach(lw->l->ir, lw->arena, n, term, &f.ids);
    f.form = arena_array(lw->arena, sk_form, f.ids.n + 1);
    for (uint32_t i = 0; i < f.ids.n; i++)
        map64_put(lw->arena, &f.number, f.ids.at[i], i + 1);
    if (d->roughly)
        note_rounds(&f);
    for (uint32_t i = 0; i < f.ids.n; i++) {
        const ir_node *t = ir_at(f.p, f.ids.at[i]);
        sk_form form = t->kind == IR_VAR && f.form[i + 1].kind ? f.form[i + 1] : of_term(&f, d, f.ids.at[i]);
        form.reads = t->kind == IR_READ || t->kind == IR_LOOP;
        for (uint32_t k = 0; k < t->n; k++)
            form.reads |= sk_form_of(&f, f.p->arg.at[t->args + k]).reads;
        f.form[i + 1] = form;
    }
    f.form[0] = (sk_form){0};
    return f;
}
