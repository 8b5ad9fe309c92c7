/* Scalar loops: while, iterate, counted loops, sequential folds over a row. */
#include "embed/value.h"

/* A loop under construction: its state as variables, followed, for counted loops, by the index.
 *
 * A state begun with a C number has the type of what it meets, like the number itself. That is known only when the
 * function has been run, so it is run again, with other variables, when a state meets a type other than its variable's;
 * each run settles one state at least. If a loop around it is run again for the same reason, it begins with what it
 * found the last time, on trust: a mistake that is new then counts only if it is made without that, too. So loops in
 * loops are run a number of times that grows with the square of their depth, not by a factor a level. */
typedef struct looping {
    const value *init;
    const tree *tree;
    ir_type *type; /* per leaf of the state */
    bool *open;    /* per leaf: begun with a number, and has met no other type yet */
    bool counted;
    ir_loop loop;
    ir_id first, last; /* all variables */
    value state, index;
    trial trial;
    uint32_t errors;     /* before the run */
    const ir_type *like; /* types to begin with where the numbers have them; NULL: their own */
    settled *known;
    bool trusted; /* this run begins with what is known */
    settled *around;
} looping;

/* What is known of the loop that begins here. */
static settled *next_settled(const op *o)
{
    arena *a = o->b->arena;
    settled *around = o->b->within;
    if (around && around->next < around->inside.n)
        return around->inside.at[around->next++];
    settled *s = arena_new(a, *s);
    if (around) {
        vec_push(a, &around->inside, s);
        around->next = around->inside.n;
    }
    return s;
}

/* Types to begin with, nothing being known. */
static void forget(const op *o, looping *l)
{
    for (uint32_t i = 0; i < l->tree->leaves; i++) {
        l->open[i] = l->init->weak && l->init->weak[i];
        bool taken = l->open[i] && l->like && embed_literal_fits(o, l->init->term[i], l->like[i]);
        l->type[i] = taken ? l->like[i] : (ir_type)ir_at(o->p, l->init->term[i])->type;
    }
    l->trusted = false;
}

/* What was found the last time, where the state begins with a number as it did then. */
static void trust(const op *o, looping *l)
{
    const settled *s = l->known;
    if (!s->type || s->site != o->site || s->n != l->tree->leaves)
        return;
    for (uint32_t i = 0; i < s->n; i++) {
        if (!l->open[i] || s->open[i])
            continue;
        l->open[i] = false;
        l->type[i] = s->type[i];
        l->trusted = true;
    }
}

static bool begin_loop(const op *o, const value *init, const ir_type *like, bool counted, looping *l)
{
    arena *a = o->b->arena;
    uint32_t n = init->tree->leaves;
    if (n == 0)
        return op_fail(o, "the state is (), which holds nothing; begin with what changes");
    *l = (looping){.init = init, .tree = init->tree, .like = like, .counted = counted, .known = next_settled(o)};
    l->type = arena_array(a, *l->type, n);
    l->open = arena_array(a, *l->open, n);
    forget(o, l);
    trust(o, l);
    return true;
}

/* Before the functions are run: fresh variables. */
static void enter(const op *o, looping *l)
{
    arena *a = o->b->arena;
    uint32_t n = l->tree->leaves;
    ir_id *var = arena_array(a, *var, n + 1);
    for (uint32_t i = 0; i < n; i++)
        var[i] = ir_var(o->p, l->type[i]);
    if (l->counted)
        var[n] = ir_var(o->p, T_I64);
    l->first = var[0];
    l->last = var[l->counted ? n : n - 1];
    l->loop = (ir_loop){.states = n, .var = var, .index = l->counted ? var[n] : 0};
    l->state = (value){.kind = VALUE_SCALAR, .tree = l->tree, .term = var};
    l->state.weak = arena_copy(a, l->open, n * sizeof *l->open);
    l->index = (value){.kind = VALUE_SCALAR, .tree = tree_leaf(o->b), .term = var + n};
    l->trial = (trial){.outer = o->b->trial, .n = n, .var = var};
    l->trial.type = arena_array(a, *l->trial.type, n);
    l->errors = o->p->error.n;
    o->b->trial = &l->trial;
    l->around = o->b->within;
    l->known->next = 0;
    o->b->within = l->known;
}

/* What comes back as the next state is met, too. */
static void meet_next(const op *o, looping *l, const value *next)
{
    for (uint32_t i = 0; next && tree_equal(next->tree, l->tree) && i < l->tree->leaves; i++) {
        ir_id both[2] = {l->loop.var[i], next->term[i]};
        bool weak[2] = {l->open[i], next->weak && next->weak[i]};
        if (weak[0] && !l->trial.again)
            embed_literal_as(o, both[0], embed_common_type(o, 2, both, weak), "the state");
    }
}

/* Would the next state be accepted? */
static bool is_next(const op *o, const looping *l, const value *next)
{
    bool good = next && tree_equal(next->tree, l->tree);
    for (uint32_t i = 0; good && i < l->tree->leaves; i++)
        good = next->weak && next->weak[i] ? embed_literal_fits(o, next->term[i], l->type[i])
                                           : ir_at(o->p, next->term[i])->type == (uint8_t)l->type[i];
    return good;
}

static void remember(const op *o, looping *l, bool accepted)
{
    arena *a = o->b->arena;
    settled *s = l->known;
    s->site = o->site;
    s->n = l->tree->leaves;
    s->type = arena_copy(a, l->type, s->n * sizeof *l->type);
    s->open = arena_copy(a, l->open, s->n * sizeof *l->open);
    s->mistakes = o->p->error.n - l->errors;
    s->mistake = s->mistakes ? arena_copy(a, o->p->error.at + l->errors, s->mistakes * sizeof(ir_error)) : NULL;
    s->accepted = accepted;
}

/* With the types that were found the last time, did the same come of it? Then it is no wonder that mistakes are made.
 */
static bool as_before(const op *o, const looping *l, bool accepted)
{
    const settled *s = l->known;
    const ir_error *mistake = o->p->error.at + l->errors;
    bool same = !l->trial.again && s->accepted == accepted && s->mistakes == o->p->error.n - l->errors;
    for (uint32_t i = 0; same && i < s->mistakes; i++)
        same = mistake[i].site == s->mistake[i].site && !strcmp(mistake[i].message, s->mistake[i].message);
    return same;
}

/* After that: must they be run again? Then nothing of this run counts, nor its mistakes. */
static bool leave(const op *o, looping *l, const value *next)
{
    meet_next(o, l, next);
    o->b->trial = l->trial.outer;
    o->b->within = l->around;
    if (l->trial.outer && l->trial.outer->again) /* a loop outside is run again */
        return false;
    const bool accepted = is_next(o, l, next);
    if (l->trusted && !as_before(o, l, accepted)) {
        o->p->error.n = l->errors;
        forget(o, l);
        return true;
    }
    if (!l->trial.again) {
        remember(o, l, accepted);
        return false;
    }
    o->p->error.n = l->errors;
    for (uint32_t i = 0; i < l->tree->leaves; i++)
        if (l->trial.type[i] != T_NONE) {
            l->type[i] = l->trial.type[i];
            l->open[i] = false;
        }
    return true;
}

/* The next state must be like the state; its literals take the state's types, and so do those of the initial one. */
static bool set_next(const op *o, looping *l, const value *next)
{
    if (!next)
        return false;
    bool same = tree_equal(next->tree, l->tree);
    const ir_id *term = same ? embed_settle(o, next, l->type, "the next state") : NULL;
    if (same && !term)
        return false;
    for (uint32_t i = 0; same && i < l->tree->leaves; i++)
        same = ir_at(o->p, term[i])->type == (uint8_t)l->type[i];
    if (!same)
        return op_fail(
            o, "the function must return the next state, %s, but returns %s; convert it, or what the loop begins with",
            type_text(o, l->tree, l->type), value_text(o, next));
    l->loop.next = arena_copy(o->b->arena, term, l->tree->leaves * sizeof *term);
    const ir_id *init = embed_settle(o, l->init, l->type, "the initial value");
    l->loop.init = init ? arena_copy(o->b->arena, init, l->tree->leaves * sizeof *init) : NULL;
    return init != NULL;
}

static sn_scalar end_loop(const op *o, const looping *l)
{
    ir_id loop = ir_loop_new(o->p, o->site, &l->loop), term[IR_MAX_COMPONENTS];
    if (!loop)
        return op_bad_scalar(o);
    for (uint32_t i = 0; i < l->tree->leaves; i++)
        term[i] = ir_proj(o->p, loop, i);
    return op_give_scalar(o, l->tree, term, NULL);
}

sn_scalar sn_while_at(sn_site at, sn_fn condition, sn_fn next, sn_scalar init)
{
    op o;
    looping l;
    if (!op_start(&o, at, "while"))
        return op_bad_scalar(&o);
    const value *v = op_take_scalar(&o, init, "the initial state");
    const value *c, *n;
    if (!v || !begin_loop(&o, v, NULL, false, &l))
        return op_bad_scalar(&o);
    do {
        enter(&o, &l);
        c = embed_call(&o, condition, 1, &l.state, l.first, l.last);
        n = embed_call(&o, next, 1, &l.state, l.first, l.last);
    } while (leave(&o, &l, n));
    if (!c || !set_next(&o, &l, n))
        return op_bad_scalar(&o);
    if (!c->tree->leaf || ir_at(o.p, c->term[0])->type != T_BOOL) {
        op_fail(&o, "the condition must be bool, but is %s; compare it, as in sn_ne(x, 0)", value_text(&o, c));
        return op_bad_scalar(&o);
    }
    l.loop.cond = c->term[0];
    return end_loop(&o, &l);
}

static sn_scalar counted_loop(const op *o, sn_scalar n, sn_fn f, sn_scalar init, bool indexed)
{
    looping l;
    ir_id count = op_take_i64(o, n, "the number of iterations");
    const value *v = op_take_scalar(o, init, "the initial value");
    if (!v || !count || !begin_loop(o, v, NULL, true, &l))
        return op_bad_scalar(o);
    const value *next;
    do {
        enter(o, &l);
        value both[2] = {l.index, l.state};
        next = embed_call(o, f, indexed ? 2 : 1, indexed ? both : &l.state, l.first, l.last);
    } while (leave(o, &l, next));
    l.loop.count = count;
    return set_next(o, &l, next) ? end_loop(o, &l) : op_bad_scalar(o);
}

sn_scalar sn_iterate_at(sn_site at, sn_scalar n, sn_fn f, sn_scalar x)
{
    op o;
    return op_start(&o, at, "iterate") ? counted_loop(&o, n, f, x, false) : op_bad_scalar(&o);
}

sn_scalar sn_loop_at(sn_site at, sn_scalar n, sn_fn f, sn_scalar init)
{
    op o;
    return op_start(&o, at, "loop") ? counted_loop(&o, n, f, init, true) : op_bad_scalar(&o);
}

/* --- the sequential fold --- */

/* The element at (outer..., index of the loop). In a row of an array of rank 1 the index is always inside. */
static value element_of_row(const op *o, const value *a, const id_list *outer, ir_id index)
{
    ir_id at[IR_MAX_RANK], *term = arena_array(o->b->arena, *term, a->tree->leaves);
    for (uint32_t d = 0; d < outer->n; d++)
        at[d] = outer->at[d];
    at[outer->n] = index;
    for (uint32_t c = 0; c < a->tree->leaves; c++)
        term[c] = ir_read(o->p, o->site, a->array, c, outer->n ? 0 : IR_SAFE, outer->n + 1, at);
    return (value){.kind = VALUE_SCALAR, .tree = a->tree, .term = term};
}

sn_scalar sn_sfold_at(sn_site at, sn_fn f, sn_scalar z, sn_acc array, int outer, const sn_scalar *index)
{
    op o;
    looping l;
    id_list row = {0};
    if (!op_start(&o, at, "sfold") || !op_check_list(&o, outer, index, "indices"))
        return op_bad_scalar(&o);
    const value *init = op_take_scalar(&o, z, "the initial value"), *a = op_take_array(&o, array);
    if (!op_take_indices(&o, (uint32_t)outer, index, "an index", &row) || !init || !a)
        return op_bad_scalar(&o);
    const ir_array *info = ir_info(o.p, a->array);
    if (info->rank != row.n + 1) {
        op_fail(&o, "%u outer indices choose no row of %s; write one for each dimension but the innermost", row.n,
                value_text(&o, a));
        return op_bad_scalar(&o);
    }
    bool alike = tree_equal(init->tree, a->tree);
    if (!begin_loop(&o, init, alike ? info->type : NULL, true, &l))
        return op_bad_scalar(&o);
    const value *next;
    do {
        enter(&o, &l);
        value both[2] = {l.state, element_of_row(&o, a, &row, l.loop.index)};
        next = embed_call(&o, f, 2, both, l.first, l.last);
    } while (leave(&o, &l, next));
    l.loop.count = ir_extent(o.p, a->array, row.n);
    return set_next(&o, &l, next) ? end_loop(&o, &l) : op_bad_scalar(&o);
}
