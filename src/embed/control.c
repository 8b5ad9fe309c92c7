/* Choices and loops over arrays. Their functions become regions (region.c). Where a loop's function visibly gives an
 * array the extents it had, they stay what they are outside; other extents are numbers that the rounds hand on, in
 * arrays of rank 0 beside those of the state. Which are which is found by building the function on the assumption that
 * all stay, and again wherever that is found wrong. */
#include "embed/value.h"

typedef VEC(uint32_t) numbers;

/* The arrays that a handle stands for: one or several. False after a mistake. */
static bool take_arrays(const op *o, sn_acc from, const char *what, uint32_t *n, const value *const **part)
{
    const value *v = op_take(o, from.bits, what);
    if (!v)
        return false;
    if (v->kind == VALUE_RESULTS) {
        *n = v->n;
        *part = v->part;
        return true;
    }
    if (v->kind != VALUE_ARRAY)
        return op_take_array(o, from) != NULL; /* reports it */
    const value **one = arena_new(o->b->arena, *one);
    one[0] = v;
    *n = 1;
    *part = one;
    return true;
}

/* A region and what it has become, next to others of one control. */
typedef struct assembly {
    const op *o;
    ir_control c;
    ir_region region[2];
    id_list input, value;
} assembly;

static uint32_t number_of(arena *a, id_list *list, uint32_t from, ir_id id)
{
    for (uint32_t i = from; i < list->n; i++)
        if (list->at[i] == id)
            return i;
    vec_push(a, list, id);
    return list->n - 1;
}

/* Adds a region that is built, with what it takes from outside. */
static void add_region(assembly *as, region *r, const numbers *result)
{
    arena *a = as->o->b->arena;
    ir_region *ir = &r->ir;
    const uses *u = &r->b->uses;
    ir->source = arena_array(a, uint32_t, as->c.states + u->array.n + 1);
    for (uint32_t i = 0; i < as->c.states; i++)
        ir->source[i] = i;
    for (uint32_t i = 0; i < u->array.n; i++)
        ir->source[as->c.states + i] = number_of(a, &as->input, as->c.states, u->array.at[i]);
    ir->values = u->number.n;
    ir->value = arena_array(a, uint32_t, u->number.n + 1);
    ir->dim = u->dim.at;
    for (uint32_t i = 0; i < u->number.n; i++)
        ir->value[i] = number_of(a, &as->value, as->c.form == IR_CHOICE, u->number.at[i]);
    ir->result = result->at;
    as->region[as->c.regions++] = *ir;
}

static ir_id finish(assembly *as)
{
    as->c.region = as->region;
    as->c.values = as->value.n;
    as->c.value = as->value.at;
    return ir_control_new(as->o->p, as->o->site, &as->c, as->input.n, as->input.at);
}

/* Handles for the results: one array, or several. */
static sn_acc give(const op *o, uint32_t n, const tree *const *t, const ir_id *array)
{
    const value **part = arena_array(o->b->arena, *part, n + 1);
    for (uint32_t k = 0; k < n; k++) {
        value *v = arena_new(o->b->arena, *v);
        if (!array[k])
            return op_bad_array(o);
        *v = (value){.kind = VALUE_ARRAY, .tree = t[k], .array = array[k]};
        part[k] = v;
    }
    return n == 1 ? op_give_array(o, t[0], array[0]) : op_give_results(o, n, part);
}

static bool same_element(const op *o, const op *inside, const value *a, const value *b)
{
    const ir_array *x = ir_info(o->p, a->array), *y = ir_info(inside->p, b->array);
    return tree_equal(a->tree, b->tree) && x->rank == y->rank && x->components == y->components &&
           !memcmp(x->type, y->type, x->components * sizeof *x->type);
}

/* --- loops --- */

typedef struct loop {
    const op *o;
    ir_control_form form;
    sn_body condition, next;
    bool indexed;
    ir_id count;
    uint32_t n;               /* arrays of the state */
    const value *const *init; /* there are so many */
    uint32_t *class;          /* per array and dimension: 0: the extent stays; equal numbers: extents that stay equal */
    uint32_t classes;
    ir_id *first; /* per class but 0: the extent at the beginning */
} loop;

static uint32_t *class_of(const loop *l, uint32_t k, unsigned d)
{
    return &l->class[k * IR_MAX_RANK + d];
}

static unsigned rank_of(const loop *l, uint32_t k)
{
    return ir_info(l->o->p, l->init[k]->array)->rank;
}

static ir_id first_extent(const loop *l, uint32_t k, unsigned d)
{
    return ir_extent(l->o->p, l->init[k]->array, d);
}

/* The state as a region's inputs: the arrays, and the extents that change. */
static sn_acc *open_state(const loop *l, region *r)
{
    arena *a = l->o->b->arena;
    ir_program *p = r->inside.p;
    sn_acc *state = arena_array(a, *state, l->n + 2);
    ir_id *extent = arena_array(a, *extent, l->classes + 1), shape[IR_MAX_RANK];
    const ir_type i64 = T_I64;
    uint32_t dim;
    for (uint32_t i = 1; i <= l->classes; i++)
        extent[i] = region_extent(r, "extent", &dim);
    for (uint32_t k = 0; k < l->n; k++) {
        const ir_array *from = ir_info(l->o->p, l->init[k]->array);
        for (unsigned d = 0; d < from->rank; d++)
            shape[d] = *class_of(l, k, d) ? extent[*class_of(l, k, d)] : region_take(r, from->shape[d]);
        state[k] =
            op_give_array(&r->inside, l->init[k]->tree, ir_input(p, from->components, from->type, from->rank, shape));
    }
    for (uint32_t i = 1; i <= l->classes; i++)
        ir_input(p, 1, &i64, 0, NULL);
    return state;
}

static bool call_condition(const loop *l, region *r, const sn_acc *state, numbers *result)
{
    uint32_t n;
    const value *const *c = region_call(&r->inside, l->condition, l->n, state, &n);
    if (!c)
        return false;
    const ir_array *a = ir_info(r->inside.p, c[0]->array);
    if (n != 1 || a->rank || a->components != 1 || a->type[0] != T_BOOL)
        return op_fail(&r->inside,
                       "the condition must be one bool, an array of rank 0, but is %s; sn_any, sn_all and "
                       "sn_unit give such arrays",
                       n == 1 ? value_text(&r->inside, c[0]) : "several arrays");
    vec_push(l->o->b->arena, result, region_result(r, c[0]->array));
    return true;
}

/* Must the function be built again, as extents change that seemed to stay? */
static bool learn(loop *l, const region *r, const value *const *next)
{
    arena *a = l->o->b->arena;
    bool changed = false;
    uint32_t before = l->classes;
    ir_id *leader = arena_array(a, *leader, before + 1); /* per class: what its first extent becomes */
    VEC(ir_id) out = {0};                                /* per new class: what its extents become */
    VEC(uint32_t) old = {0};
    VEC(ir_id) first = {0};
    for (uint32_t k = 0; k < l->n; k++)
        for (unsigned d = 0; d < rank_of(l, k); d++) {
            uint32_t *class = class_of(l, k, d), was = *class;
            ir_id becomes = ir_extent(r->inside.p, next[k]->array, d), begins = first_extent(l, k, d);
            ir_id had = ir_extent(r->inside.p, r->inside.p->input.at[k], d);
            if (!was && becomes == had)
                continue;
            if (was && !leader[was])
                leader[was] = becomes;
            if (was && leader[was] == becomes)
                continue;
            uint32_t i = 0;
            while (i < out.n && (out.at[i] != becomes || old.at[i] != was || first.at[i] != begins))
                i++;
            if (i == out.n) {
                vec_push(a, &out, becomes);
                vec_push(a, &old, was);
                vec_push(a, &first, begins);
            }
            *class = before + 1 + i;
            changed = true;
        }
    ir_id *begin = arena_array(a, *begin, before + out.n + 1);
    for (uint32_t i = 1; i <= before; i++)
        begin[i] = l->first[i];
    for (uint32_t i = 0; i < out.n; i++)
        begin[before + 1 + i] = first.at[i];
    l->first = begin;
    l->classes = before + out.n;
    return changed;
}

/* What the extents of a class become, as a result. */
static void add_extents(const loop *l, region *r, const value *const *next, numbers *result)
{
    for (uint32_t i = 1; i <= l->classes; i++) {
        ir_id becomes = 0;
        for (uint32_t k = 0; k < l->n && !becomes; k++)
            for (unsigned d = 0; d < rank_of(l, k) && !becomes; d++)
                if (*class_of(l, k, d) == i)
                    becomes = ir_extent(r->inside.p, next[k]->array, d);
        vec_push(l->o->b->arena, result, region_result(r, embed_unit(&r->inside, becomes)));
    }
}

static bool check_next(const loop *l, region *r, uint32_t n, const value *const *next)
{
    if (n != l->n)
        return op_fail(&r->inside, "the function must return the next state, %u array%s, but returns %u", l->n,
                       l->n == 1 ? "" : "s", n);
    for (uint32_t k = 0; k < n; k++)
        if (!same_element(l->o, &r->inside, l->init[k], next[k]))
            return op_fail(&r->inside,
                           "the function must return the next state, but array %u of it is %s, and of the state %s; "
                           "types and ranks stay",
                           k + 1, value_text(&r->inside, next[k]), value_text(l->o, l->init[k]));
    return true;
}

typedef enum { BUILT, AGAIN, WRONG } outcome;

/* Builds the function of one round. */
static outcome build_next(loop *l, assembly *as)
{
    region r;
    numbers result = {0};
    uint32_t n = 0, dim;
    const value *const *next;
    if (!region_open(l->o, &r, (uintptr_t)__builtin_frame_address(0)))
        return WRONG;
    sn_acc *state = open_state(l, &r), *argument = state;
    if (l->indexed) {
        ir_id index = embed_unit(&r.inside, region_extent(&r, "round", &dim));
        r.ir.index = dim + 1;
        argument = arena_array(l->o->b->arena, *argument, l->n + 1);
        argument[0] = op_give_array(&r.inside, tree_leaf(r.b), index);
        memcpy(argument + 1, state, l->n * sizeof *state);
    }
    next = region_call(&r.inside, l->next, l->n + l->indexed, argument, &n);
    if (!next || !check_next(l, &r, n, next)) {
        region_close(l->o, &r, true);
        return WRONG;
    }
    if (learn(l, &r, next)) {
        region_close(l->o, &r, false);
        return AGAIN;
    }
    sn_acc *after = arena_array(l->o->b->arena, *after, l->n + 1);
    for (uint32_t k = 0; k < n; k++) {
        vec_push(l->o->b->arena, &result, region_result(&r, next[k]->array));
        after[k] = op_give_array(&r.inside, next[k]->tree, next[k]->array);
    }
    add_extents(l, &r, next, &result);
    bool good = l->form != IR_WHILE || call_condition(l, &r, after, &result);
    region_close(l->o, &r, true);
    if (good && !r.inside.p->error.n)
        add_region(as, &r, &result);
    return good && !r.inside.p->error.n ? BUILT : WRONG;
}

static bool build_condition(const loop *l, assembly *as)
{
    region r;
    numbers result = {0};
    if (!region_open(l->o, &r, (uintptr_t)__builtin_frame_address(0)))
        return false;
    bool good = call_condition(l, &r, open_state(l, &r), &result);
    region_close(l->o, &r, true);
    good = good && !r.inside.p->error.n;
    if (good)
        add_region(as, &r, &result);
    return good;
}

static sn_acc end_loop(const loop *l, assembly *as)
{
    const op *o = l->o;
    arena *a = o->b->arena;
    ir_id control = finish(as), *extent = arena_array(a, *extent, l->classes + 1), shape[IR_MAX_RANK];
    ir_id *part = arena_array(a, *part, l->n + 1);
    const tree **t = arena_array(a, *t, l->n + 1);
    if (!control)
        return op_bad_array(o);
    for (uint32_t i = 1; i <= l->classes; i++) {
        ir_id array = ir_mark_step(o->p, ir_part(o->p, o->site, control, l->n + i - 1, 0, NULL, IR_EXTENT));
        extent[i] = array ? ir_read(o->p, o->site, array, 0, IR_SAFE, 0, NULL) : 0;
    }
    for (uint32_t k = 0; k < l->n; k++) {
        for (unsigned d = 0; d < rank_of(l, k); d++)
            shape[d] = *class_of(l, k, d) ? extent[*class_of(l, k, d)] : first_extent(l, k, d);
        part[k] = ir_part(o->p, o->site, control, k, rank_of(l, k), shape, 0);
        t[k] = l->init[k]->tree;
    }
    return give(o, l->n, t, part);
}

static sn_acc run_loop(loop *l, sn_acc init)
{
    const op *o = l->o;
    assembly as;
    outcome made;
    if (!take_arrays(o, init, "the initial state", &l->n, &l->init))
        return op_bad_array(o);
    l->class = arena_array(o->b->arena, *l->class, l->n * IR_MAX_RANK + 1);
    l->first = arena_new(o->b->arena, *l->first);
    do {
        as = (assembly){.o = o, .c = {.form = (uint8_t)l->form}};
        as.c.states = as.c.parts = l->n + l->classes;
        for (uint32_t k = 0; k < l->n; k++)
            vec_push(o->b->arena, &as.input, l->init[k]->array);
        for (uint32_t i = 1; i <= l->classes; i++)
            vec_push(o->b->arena, &as.input, embed_unit(o, l->first[i]));
        if (l->count)
            vec_push(o->b->arena, &as.value, l->count);
        made = build_next(l, &as);
    } while (made == AGAIN);
    if (made == BUILT && l->form == IR_WHILE) {
        if (!build_condition(l, &as))
            return op_bad_array(o);
        ir_region next = as.region[0]; /* the condition comes first */
        as.region[0] = as.region[1];
        as.region[1] = next;
    }
    return made == BUILT ? end_loop(l, &as) : op_bad_array(o);
}

sn_acc sn_awhile_at(sn_site at, sn_body condition, sn_body next, sn_acc init)
{
    op o;
    if (!op_start_array(&o, at, "awhile"))
        return op_bad_array(&o);
    return run_loop(&(loop){.o = &o, .form = IR_WHILE, .condition = condition, .next = next}, init);
}

static sn_acc counted(const op *o, sn_scalar n, sn_body f, sn_acc init, bool indexed)
{
    ir_id count = op_take_i64(o, n, "the number of rounds");
    loop l = {.o = o, .form = IR_REPEAT, .next = f, .indexed = indexed, .count = count};
    return count ? run_loop(&l, init) : op_bad_array(o);
}

sn_acc sn_aiterate_at(sn_site at, sn_scalar n, sn_body f, sn_acc init)
{
    op o;
    return op_start_array(&o, at, "aiterate") ? counted(&o, n, f, init, false) : op_bad_array(&o);
}

sn_acc sn_aloop_at(sn_site at, sn_scalar n, sn_body f, sn_acc init)
{
    op o;
    return op_start_array(&o, at, "aloop") ? counted(&o, n, f, init, true) : op_bad_array(&o);
}

/* --- choices --- */

typedef struct branch {
    region r;
    uint32_t n;
    const value *const *result;
} branch;

static bool build_branch(branch *b, sn_body f, uint32_t n, const sn_acc *argument)
{
    b->result = region_call(&b->r.inside, f, n, argument, &b->n);
    return b->result && !b->r.inside.p->error.n;
}

static bool same_results(const op *o, branch *b)
{
    if (b[0].n != b[1].n)
        return op_fail(o, "the functions must return arrays of the same types, but one returns %u, the other %u",
                       b[0].n, b[1].n);
    for (uint32_t k = 0; k < b[0].n; k++)
        if (!same_element(&b[0].r.inside, &b[1].r.inside, b[0].result[k], b[1].result[k]))
            return op_fail(o, "the functions must return arrays of the same types and ranks, but array %u is %s or %s",
                           k + 1, value_text(&b[0].r.inside, b[0].result[k]),
                           value_text(&b[1].r.inside, b[1].result[k]));
    return true;
}

/* The extents of the results: as they are outside, if both functions give the same, else numbers that are results, too.
 */
static void choose_extents(const op *o, branch *b, numbers *result, ir_id *known, uint32_t *number)
{
    arena *a = o->b->arena;
    id_list first = {0}, second = {0};
    uint32_t n = b[0].n;
    for (uint32_t k = 0; k < n; k++)
        for (unsigned d = 0; d < ir_info(b[0].r.inside.p, b[0].result[k]->array)->rank; d++) {
            ir_id x = ir_extent(b[0].r.inside.p, b[0].result[k]->array, d);
            ir_id y = ir_extent(b[1].r.inside.p, b[1].result[k]->array, d);
            ir_id one = region_around(&b[0].r, x), other = region_around(&b[1].r, y);
            if (one && one == other) {
                known[k * IR_MAX_RANK + d] = one;
                continue;
            }
            uint32_t i = 0;
            while (i < first.n && (first.at[i] != x || second.at[i] != y))
                i++;
            number[k * IR_MAX_RANK + d] = n + i;
            if (i < first.n)
                continue;
            vec_push(a, &first, x);
            vec_push(a, &second, y);
            vec_push(a, &result[0], region_result(&b[0].r, embed_unit(&b[0].r.inside, x)));
            vec_push(a, &result[1], region_result(&b[1].r, embed_unit(&b[1].r.inside, y)));
        }
}

static sn_acc end_choice(const op *o, branch *b, ir_id condition)
{
    arena *a = o->b->arena;
    uint32_t n = b[0].n;
    numbers result[2] = {{0}, {0}};
    ir_id *known = arena_array(a, *known, n * IR_MAX_RANK + 1);
    uint32_t *number = arena_array(a, *number, n * IR_MAX_RANK + 1);
    for (uint32_t k = 0; k < n; k++)
        for (unsigned i = 0; i < 2; i++)
            vec_push(a, &result[i], region_result(&b[i].r, b[i].result[k]->array));
    choose_extents(o, b, result, known, number);
    assembly as = {.o = o, .c = {.form = IR_CHOICE, .parts = result[0].n}};
    vec_push(a, &as.value, condition);
    for (unsigned i = 0; i < 2; i++)
        add_region(&as, &b[i].r, &result[i]);
    ir_id control = finish(&as), shape[IR_MAX_RANK];
    ir_id *extent = arena_array(a, *extent, result[0].n + 1), *part = arena_array(a, *part, n + 1);
    const tree **t = arena_array(a, *t, n + 1);
    for (uint32_t i = n; i < result[0].n && control; i++) {
        ir_id array = ir_mark_step(o->p, ir_part(o->p, o->site, control, i, 0, NULL, IR_EXTENT));
        extent[i] = array ? ir_read(o->p, o->site, array, 0, IR_SAFE, 0, NULL) : 0;
    }
    for (uint32_t k = 0; k < n && control; k++) {
        unsigned rank = ir_info(b[0].r.inside.p, b[0].result[k]->array)->rank;
        for (unsigned d = 0; d < rank; d++)
            shape[d] = known[k * IR_MAX_RANK + d] ? known[k * IR_MAX_RANK + d] : extent[number[k * IR_MAX_RANK + d]];
        part[k] = ir_part(o->p, o->site, control, k, rank, shape, 0);
        t[k] = b[0].result[k]->tree;
    }
    return control ? give(o, n, t, part) : op_bad_array(o);
}

sn_acc sn_acond_at(sn_site at, sn_scalar condition, sn_body then, sn_body otherwise, sn_acc arrays)
{
    op o;
    branch b[2];
    uint32_t n = 0;
    const value *const *part = NULL;
    if (!op_start_array(&o, at, "acond"))
        return op_bad_array(&o);
    ir_id c = op_take_leaf(&o, condition, "the condition", T_NONE);
    if (!take_arrays(&o, arrays, "what the functions are given", &n, &part) || !c)
        return op_bad_array(&o);
    if (ir_at(o.p, c)->type != T_BOOL) {
        op_fail(&o, "the condition must be bool, but is %s; compare it, as in sn_ne(x, 0)",
                ir_type_name((ir_type)ir_at(o.p, c)->type));
        return op_bad_array(&o);
    }
    sn_acc *argument = arena_array(o.b->arena, *argument, n + 1);
    for (uint32_t k = 0; k < n; k++)
        argument[k] = op_give_array(&o, part[k]->tree, part[k]->array);
    bool good = true;
    for (unsigned i = 0; i < 2 && good; i++) {
        good = region_open(&o, &b[i].r, (uintptr_t)__builtin_frame_address(0));
        if (!good)
            break;
        good = build_branch(&b[i], i ? otherwise : then, n, argument);
        region_close(&o, &b[i].r, true);
    }
    return good && same_results(&o, b) ? end_choice(&o, b, c) : op_bad_array(&o);
}

/* --- functions that are not ours --- */

static const ir_foreign *foreign_of(assembly *as, const sn_foreign_code *code, uint32_t n, const value *const *operand)
{
    arena *a = as->o->b->arena;
    ir_foreign *f = arena_new(a, *f);
    sn_foreign_code *copy = arena_new(a, *copy);
    memcpy(copy, code, code->size);
    f->name = copy->name ? arena_string(a, copy->name) : "a foreign function";
    copy->name = f->name;
    f->code = copy;
    f->operands = n;
    f->operand = arena_array(a, *f->operand, n + 1);
    for (uint32_t k = 0; k < n; k++)
        f->operand[k] = number_of(a, &as->input, 0, operand[k]->array);
    return f;
}

/* Its extents must be known before it is computed, as the function gets memory for it. */
static bool shape_around(const op *o, branch *b, ir_id *shape)
{
    const ir_array *a = ir_info(b->r.inside.p, b->result[0]->array);
    for (unsigned d = 0; d < a->rank; d++) {
        shape[d] = region_around(&b->r, a->shape[d]);
        if (!shape[d])
            return op_fail(o,
                           "dimension %u of the result is known only when it has been computed; the fallback gives an "
                           "array whose extents are made of those that it is given",
                           d);
    }
    return true;
}

static sn_acc end_foreign(const op *o, const sn_foreign_code *code, branch *b, uint32_t n, const value *const *operand)
{
    assembly as = {.o = o, .c = {.form = IR_FOREIGN, .parts = 1}};
    numbers result = {0};
    ir_id shape[IR_MAX_RANK];
    vec_push(o->b->arena, &result, region_result(&b->r, b->result[0]->array));
    if (!shape_around(o, b, shape))
        return op_bad_array(o);
    add_region(&as, &b->r, &result);
    as.c.foreign = foreign_of(&as, code, n, operand);
    ir_id control = finish(&as);
    unsigned rank = ir_info(b->r.inside.p, b->result[0]->array)->rank;
    return op_give_array(o, b->result[0]->tree, control ? ir_part(o->p, o->site, control, 0, rank, shape, 0) : 0);
}

sn_acc sn_foreign_at(sn_site at, const sn_foreign_code *code, sn_body fallback, int count, const sn_acc *operand)
{
    op o;
    branch b;
    if (!op_start_array(&o, at, "foreign"))
        return op_bad_array(&o);
    bool good = op_check_list(&o, count, operand, "arrays");
    if (!code || code->size < offsetof(sn_foreign_code, cpu) || code->size > sizeof *code)
        good = op_fail(&o, "the size of sn_foreign_code is not set; set it to sizeof(sn_foreign_code)");
    const value **v = arena_array(o.b->arena, *v, (size_t)(count > 0 ? count : 0) + 1);
    for (int k = 0; good && k < count; k++)
        good = (v[k] = op_take_array(&o, operand[k])) != NULL;
    if (!good || !region_open(&o, &b.r, (uintptr_t)__builtin_frame_address(0)))
        return op_bad_array(&o);
    good = build_branch(&b, fallback, (uint32_t)count, operand);
    region_close(&o, &b.r, true);
    if (good && b.n != 1)
        good = op_fail(&o, "the fallback returns %u arrays; it returns one, perhaps of tuples", b.n);
    return good ? end_foreign(&o, code, &b, (uint32_t)count, v) : op_bad_array(&o);
}

/* --- one of several results --- */

sn_acc sn_result_at(sn_site at, sn_acc several, int number)
{
    op o;
    uint32_t n = 0;
    const value *const *part = NULL;
    if (!op_start_array(&o, at, "result") || !take_arrays(&o, several, "the results", &n, &part))
        return op_bad_array(&o);
    if (number >= 0 && (uint32_t)number < n)
        return op_give_array(&o, part[number]->tree, part[number]->array);
    op_fail(&o, "there is no result %d; there are %u, from 0 on", number, n);
    return op_bad_array(&o);
}
