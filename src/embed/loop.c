/* Scalar loops: while, iterate, counted loops, sequential folds over a row. */
#include "embed/value.h"

/* A loop under construction: its state as variables, followed, for counted loops, by the index.
 *
 * A state begun with a C number has the type of what it meets, like the number itself. That is known only when the
 * function has been run, so it is run again, with other variables, when a state meets a type other than its variable's;
 * each run settles one state at least. */
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
    uint32_t errors; /* before the run */
} looping;

/* `like`: the types to begin with where the numbers have them; NULL: their own. */
static bool begin_loop(const op *o, const value *init, const ir_type *like, bool counted, looping *l)
{
    arena *a = o->b->arena;
    uint32_t n = init->tree->leaves;
    if (n == 0)
        return op_fail(o, "the state is (), which holds nothing; begin with what changes");
    *l = (looping){.init = init, .tree = init->tree, .counted = counted};
    l->type = arena_alloc(a, n * sizeof *l->type);
    l->open = arena_alloc(a, n * sizeof *l->open);
    for (uint32_t i = 0; i < n; i++) {
        l->open[i] = init->weak && init->weak[i];
        bool taken = l->open[i] && like && embed_literal_fits(o, init->term[i], like[i]);
        l->type[i] = taken ? like[i] : (ir_type)ir_at(o->p, init->term[i])->type;
    }
    return true;
}

/* Before the functions are run: fresh variables. */
static void enter(const op *o, looping *l)
{
    arena *a = o->b->arena;
    uint32_t n = l->tree->leaves;
    ir_id *var = arena_alloc(a, (n + 1) * sizeof *var);
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
    l->trial.type = arena_alloc(a, n * sizeof *l->trial.type);
    l->errors = o->p->error.n;
    o->b->trial = &l->trial;
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

/* After that: must they be run again? Then nothing of this run counts, nor its mistakes. */
static bool leave(const op *o, looping *l, const value *next)
{
    meet_next(o, l, next);
    o->b->trial = l->trial.outer;
    if (!l->trial.again || (l->trial.outer && l->trial.outer->again)) /* else a loop outside is run again */
        return false;
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
    ir_id at[IR_MAX_RANK], *term = arena_alloc(o->b->arena, a->tree->leaves * sizeof *term);
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
    if (!op_start(&o, at, "sfold"))
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
