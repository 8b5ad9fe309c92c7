/* Functions of arrays that become programs within the program: a build of its own for each, in which arrays and numbers
 * of the programs around may be used. An array from outside becomes an input of the region, a number an extent or a
 * term over elements, when it is first used. */
#include "embed/value.h"
#include "ir/graft.h"

/* --- what comes from outside --- */

static build *outermost(build *b)
{
    while (b->around)
        b = b->around;
    return b;
}

static ir_id fresh_extent(build *b, const char *what, uint32_t *dim)
{
    ir_id id = ir_dim(b->program, arena_printf(b->arena, "%s#%u", what, ++outermost(b)->fresh));
    *dim = (uint32_t)ir_at(b->program, id)->u.literal;
    return id;
}

/* A number from outside as an extent of this program. */
static ir_id take_number(build *b, ir_id term, const char *name)
{
    uint32_t dim;
    ir_id id = name ? ir_dim(b->program, name) : fresh_extent(b, "extent", &dim);
    dim = (uint32_t)ir_at(b->program, id)->u.literal;
    vec_push(b->arena, &b->uses.number, term);
    vec_push(b->arena, &b->uses.dim, dim);
    return id;
}

static ir_id take_array(build *b, ir_id array)
{
    const ir_array *a = ir_info(b->around->program, array);
    ir_id shape[IR_MAX_RANK];
    ir_graft_terms(b->uses.graft, a->rank, a->shape, shape);
    ir_id id = ir_input(b->program, a->components, a->type, a->rank, shape);
    if (id)
        vec_push(b->arena, &b->uses.array, array);
    return id;
}

/* What becomes of a leaf of the program around. */
static ir_id take_leaf(void *env, ir_id id)
{
    build *b = env;
    const ir_program *p = b->around->program;
    const ir_node *n = ir_at(p, id);
    if (n->kind == IR_DIM)
        return take_number(b, id, p->dim.at[n->u.literal]);
    if (n->kind == IR_READ)
        return ir_counted(p, id) || ir_is_part_extent(p, id) ? take_number(b, id, NULL) : 0;
    return ir_is_array(p, id) ? take_array(b, id) : 0;
}

ir_id region_take(region *r, ir_id term)
{
    return ir_graft_term(r->b->uses.graft, term);
}

static bool import_terms(build *b, value *v)
{
    uint32_t n = v->tree->leaves;
    ir_id *term = arena_array(b->arena, *term, n + 1);
    for (uint32_t i = 0; i < n; i++)
        if (ir_at(b->around->program, v->term[i])->scope)
            return false;
    ir_graft_terms(b->uses.graft, n, v->term, term);
    v->weak = v->weak ? arena_copy(b->arena, v->weak, n) : NULL;
    v->term = term;
    for (uint32_t i = 0; i < n; i++)
        if (!term[i])
            return false;
    return true;
}

static ir_id import_array(build *b, ir_id array)
{
    ir_id made = ir_graft_made(b->uses.graft, array);
    if (!made) {
        made = take_array(b, array);
        ir_graft_note(b->uses.graft, array, made);
    }
    return made;
}

/* A value of the program around, in this one. */
static const value *import(const op *o, build *b, uint32_t id, const char *what)
{
    uint32_t known = map64_get(&b->uses.value, id);
    if (known)
        return &b->value.at[known];
    value v = b->around->value.at[id];
    bool good = v.kind != VALUE_NEIGHBOURS;
    if (v.kind == VALUE_SCALAR)
        good = import_terms(b, &v);
    if (v.kind == VALUE_ARRAY)
        v.array = import_array(b, v.array);
    if (v.kind == VALUE_RESULTS) {
        const value **part = arena_array(b->arena, *part, v.n + 1);
        for (uint32_t i = 0; i < v.n; i++) {
            value *copy = arena_copy(b->arena, v.part[i], sizeof *copy);
            copy->array = import_array(b, copy->array);
            part[i] = copy;
        }
        v.part = part;
    }
    if (!good)
        return op_fail(o,
                       "%s depends on a parameter of a scalar function, and is used outside of it; it leaves the "
                       "function only as its result",
                       what);
    vec_push(b->arena, &b->value, v);
    map64_put(b->arena, &b->uses.value, id, b->value.n - 1);
    return &b->value.at[b->value.n - 1];
}

const value *region_import(const op *o, uint32_t number, uint32_t id, const char *what, bool *known)
{
    build *chain[IR_MOST_CONTROLS + 1], *b = o->b;
    uint32_t n = 0;
    while (b->around && b->number != number && n < ARRAY_LENGTH(chain)) {
        chain[n++] = b;
        b = b->around;
    }
    if (b->number != number) {
        for (uint32_t i = 0; i < b->closed.n; i++)
            if (b->closed.at[i].number == number) {
                const ir_site *site = &b->program->site.at[b->closed.at[i].site];
                *known = true;
                return op_fail(o,
                               "%s was made in the function given to %s in %s:%u, and is used outside of it; it leaves "
                               "the function only as its result",
                               what, site->operation, site->file ? site->file : "an unknown file", site->line);
            }
        return NULL;
    }
    *known = true;
    if (!id || id >= b->value.n)
        return b->program->error.n ? NULL
                                   : op_fail(o, "%s is no value of this program; only operations make values", what);
    const value *v = NULL;
    while (n-- > 0) {
        v = import(o, chain[n], id, what);
        if (!v)
            return NULL;
        id = (uint32_t)(v - chain[n]->value.at);
    }
    return v;
}

/* --- a region's build --- */

bool region_open(const op *o, region *r, uintptr_t frame)
{
    arena *a = o->b->arena;
    uint32_t depth = 0;
    for (const build *b = o->b; b; b = b->around)
        depth++;
    if (depth > IR_MOST_CONTROLS)
        return op_fail(o, "loops and choices of arrays within each other; they can be %d deep", IR_MOST_CONTROLS);
    *r = (region){.b = arena_new(a, build)};
    build *b = r->b;
    *b = (build){.arena = a, .around = o->b, .at = o->b->at, .constants = o->b->constants};
    b->program = ir_program_new(a);
    b->program->plain = o->p->plain;
    b->program->outer = o->p;
    ir_follow_sites(b->program);
    b->uses.graft = arena_new(a, ir_graft);
    *b->uses.graft = (ir_graft){.from = o->p, .to = b->program, .leaf = take_leaf, .env = b};
    r->ir.program = b->program;
    r->ir.rounds = 1;
    build_enter(b, frame, &r->mark);
    r->inside = *o;
    r->inside.b = b;
    r->inside.p = b->program;
    r->inside.bad = (uint64_t)b->number << 32;
    return true;
}

void region_close(const op *o, region *r, bool keep)
{
    build *b = r->b;
    build_leave(b);
    vec_push(b->arena, &outermost(b)->closed, ((closed_region){b->number, o->site}));
    for (uint32_t i = 0; i < b->program->error.n && keep; i++)
        vec_push(o->p->arena, &o->p->error, b->program->error.at[i]);
    for (uint32_t i = 0; i < b->program->warning.n && keep; i++) {
        const ir_error *w = &b->program->warning.at[i];
        ir_warn(o->p, w->site, "%s", w->message);
    }
    o->b->at = b->at;
}

ir_id region_extent(region *r, const char *what, uint32_t *dim)
{
    return fresh_extent(r->b, what, dim);
}

typedef struct way_out {
    const build *b;
} way_out;

static ir_id leaf_around(void *env, ir_id id)
{
    const build *b = ((way_out *)env)->b;
    const ir_node *n = ir_at(b->program, id);
    for (uint32_t i = 0; n->kind == IR_DIM && i < b->uses.dim.n; i++)
        if (b->uses.dim.at[i] == n->u.literal)
            return b->uses.number.at[i];
    return 0;
}

ir_id region_around(region *r, ir_id extent)
{
    way_out out = {r->b};
    ir_graft g = {.from = r->b->program, .to = r->b->around->program, .leaf = leaf_around, .env = &out};
    ir_id term = ir_graft_term(&g, extent);
    return term ? ir_extent_add(g.to, term, ir_i64(g.to, 0)) : 0; /* in normal form */
}

uint32_t region_result(region *r, ir_id array)
{
    ir_program *p = r->b->program;
    if (ir_at(p, array)->kind == IR_INPUT)
        return ir_at(p, array)->args | IR_PASSED;
    for (uint32_t i = 0; i < p->output.n; i++)
        if (p->output.at[i] == array)
            return i;
    ir_output(p, array);
    return p->output.n - 1;
}

ir_id embed_unit(const op *o, ir_id term)
{
    ir_fn *fn = ir_fn_close(o->p, ir_fn_new(o->p, 0, NULL), 1, &term);
    return fn ? ir_mark_step(o->p, ir_generate(o->p, o->site, 0, NULL, fn)) : 0;
}

const value *const *region_call(const op *o, sn_body f, uint32_t n, const sn_acc *argument, uint32_t *results)
{
    uint32_t errors = o->p->error.n;
    if (!f.call)
        return op_fail(o, "a function is NULL; here belongs a function of arrays");
    if (f.parameters >= 0 && (uint32_t)f.parameters != n)
        return op_fail(o, "the function has %d parameter%s, but is given %u array%s", f.parameters,
                       f.parameters == 1 ? "" : "s", n, n == 1 ? "" : "s");
    sn_acc returned = embed_run_body(f, n, argument);
    const value *v = o->p->error.n == errors ? op_take(o, returned.bits, "what the function returns") : NULL;
    if (!v)
        return NULL;
    if (v->kind == VALUE_RESULTS) {
        *results = v->n;
        return v->part;
    }
    if (v->kind != VALUE_ARRAY)
        return op_take_array(o, returned), NULL; /* reports it */
    const value **one = arena_new(o->b->arena, *one);
    one[0] = v;
    *results = 1;
    return one;
}
