/* Operations of the build in progress: handles and their values, places in the user's code, mistakes. */
#include "embed/value.h"

enum { BAD = 0 };     /* the id of handles that stand for a mistake, which was reported: the value 0 is unused */
enum { OUTSIDE = 0 }; /* the build number of handles made while no build was in progress; their id is a line */

/* --- operations --- */

bool op_start(op *o, sn_site at, const char *name)
{
    build *b = build_current((uintptr_t)__builtin_frame_address(0));
    *o = (op){.b = b, .name = name};
    if (!b) {
        o->bad = (uint64_t)OUTSIDE << 32 | (uint32_t)(at.line > 0 ? at.line : INT32_MAX);
        return false;
    }
    if (at.file)
        b->at = at;
    o->bad = (uint64_t)b->number << 32 | BAD;
    o->p = b->program;
    o->site = ir_site_at(b->program, b->at.file, (uint32_t)b->at.line, name);
    return true;
}

bool op_start_here(op *o, const char *name)
{
    return op_start(o, (sn_site){0}, name);
}

bool op_start_array(op *o, sn_site at, const char *name)
{
    if (!op_start(o, at, name))
        return false;
    if (!o->b->functions)
        return true;
    if (!o->b->misplaced)
        op_fail(o, "an array operation inside a scalar function; compute the array outside and read it there with "
                   "sn_index, or fold a row with sn_sfold");
    o->b->misplaced = true;
    return false;
}

void *op_fail(const op *o, const char *format, ...)
{
    text t;
    text_init(&t, o->b->arena);
    va_list args;
    va_start(args, format);
    text_vprintf(&t, format, args);
    va_end(args);
    ir_fail(o->p, o->site, "%s: %s", o->name, t.at);
    return NULL;
}

/* --- handles to values --- */

/* What to do with a value of this kind where another is expected. */
static const char *kind_advice(const value *v)
{
    switch (v->kind) {
    case VALUE_ARRAY:
        return "sn_the and sn_index read an element, sn_map reaches all";
    case VALUE_RESULTS:
        return "these are for the end of a program: use the arrays themselves";
    case VALUE_NEIGHBOURS:
        return "sn_at reads one of them";
    case VALUE_SCALAR:
        break;
    }
    return "sn_unit makes an array of it";
}

static const char *kind_text(const op *o, const value *v)
{
    switch (v->kind) {
    case VALUE_ARRAY:
        return arena_printf(o->b->arena, "an array, %s", value_text(o, v));
    case VALUE_RESULTS:
        return "several results";
    case VALUE_NEIGHBOURS:
        return "the neighbours of a stencil";
    case VALUE_SCALAR:
        break;
    }
    return arena_printf(o->b->arena, "a scalar, %s", value_text(o, v));
}

const value *op_take(const op *o, uint64_t bits, const char *what)
{
    uint32_t number = (uint32_t)(bits >> 32), id = (uint32_t)bits;
    if (!bits)
        return op_fail(
            o,
            "%s is no value: a variable that was never set, or a function that returned nothing; give it a value first",
            what);
    if (bits == UINT64_MAX)
        return op_fail(
            o,
            "%s is SN_ALL, which stands for a dimension in sn_slice and sn_replicate only; write an extent or an index",
            what);
    if (number == OUTSIDE && id == INT32_MAX)
        return op_fail(
            o, "%s was made while nothing was being compiled; values are made by the function given to sn_compile",
            what);
    if (number == OUTSIDE)
        return op_fail(o,
                       "%s was made while nothing was being compiled, in line %u; values are made by the function "
                       "given to sn_compile",
                       what, (unsigned)id);
    bool known = false;
    if (number != o->b->number) {
        const value *imported = region_import(o, number, id, what, &known);
        if (known)
            return imported;
    }
    if (number != o->b->number)
        return op_fail(
            o, "%s belongs to another program: values live only while sn_compile runs their function; make it again",
            what);
    if (id == BAD) /* reported, but where it was made up */
        return o->p->error.n ? NULL : op_fail(o, "%s is no value of this program; only operations make values", what);
    if (id >= o->b->value.n)
        return op_fail(o, "%s is no value of this program; only operations make values", what);
    return &o->b->value.at[id];
}

/* The number of scopes that start at or before this variable. Scopes are ascending: each is opened for the first time
 * right after its variables were made. */
static uint32_t scopes_before(const build *b, ir_id var)
{
    uint32_t low = 0, high = b->scope.n;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (b->scope.at[middle].first <= var)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t scope_open(const op *o, ir_id first, ir_id last)
{
    build *b = o->b;
    scope opened = {first, last, o->site, true};
    if (last < first)
        return 0;
    uint32_t n = scopes_before(b, first);
    if (n && b->scope.at[n - 1].first == first) /* the second function over the variables of a loop */
        b->scope.at[n - 1].open = true;
    else
        vec_push(b->arena, &b->scope, opened);
    return scopes_before(b, first);
}

void scope_close(const op *o, uint32_t number)
{
    if (number)
        o->b->scope.at[number - 1].open = false;
}

/* The function that bound a variable, if it is no longer open. */
static const scope *closed_scope(const build *b, ir_id var)
{
    uint32_t n = scopes_before(b, var);
    return n && b->scope.at[n - 1].last >= var && !b->scope.at[n - 1].open ? &b->scope.at[n - 1] : NULL;
}

/* It suffices to look at the largest variable a term depends on: one with an older closed variable cannot have been
 * made, because that was not open either. */
static bool in_scope(const op *o, uint32_t n, const ir_id *term, const char *what)
{
    for (uint32_t i = 0; i < n; i++) {
        ir_id var = ir_at(o->p, term[i])->scope;
        const scope *s = var ? closed_scope(o->b, var) : NULL;
        if (!s)
            continue;
        const ir_site *site = &o->p->site.at[s->site];
        return op_fail(o,
                       "%s depends on a parameter of the function given to %s in %s:%u, and is used outside of it; it "
                       "leaves the function only as its result",
                       what, site->operation, site->file ? site->file : "an unknown file", (unsigned)site->line);
    }
    return true;
}

const value *op_take_scalar(const op *o, sn_scalar x, const char *what)
{
    const value *v = op_take(o, x.bits, what);
    if (!v)
        return NULL;
    if (v->kind != VALUE_SCALAR)
        return op_fail(o, "%s must be a scalar, but is %s; %s", what, kind_text(o, v), kind_advice(v));
    return in_scope(o, v->tree->leaves, v->term, what) ? v : NULL;
}

const value *op_take_array(const op *o, sn_acc a)
{
    const value *v = op_take(o, a.bits, "the array");
    if (!v || v->kind == VALUE_ARRAY)
        return v;
    return op_fail(o, "expects an array, but is given %s; %s", kind_text(o, v), kind_advice(v));
}

ir_id op_take_leaf(const op *o, sn_scalar x, const char *what, ir_type type)
{
    const value *v = op_take_scalar(o, x, what);
    if (!v)
        return 0;
    if (!v->tree->leaf) {
        op_fail(o, "%s must be a single value, but is the tuple %s; sn_get takes one of its components", what,
                value_text(o, v));
        return 0;
    }
    if (type == T_NONE || !v->weak || !v->weak[0])
        return v->term[0];
    return embed_literal_as(o, v->term[0], type, what);
}

/* An integer term or literal as i64. */
static ir_id as_i64(const op *o, ir_id term, bool weak, const char *what)
{
    ir_type t = (ir_type)ir_at(o->p, term)->type;
    if (weak)
        return embed_literal_as(o, term, T_I64, what);
    if (ir_type_class(t) != CLASS_INT) {
        op_fail(o, "%s must be an integer, but is of type %s; convert it (sn_to_i64)", what, ir_type_name(t));
        return 0;
    }
    if (t == T_I64)
        return term;
    /* A constant beyond i64 would become a negative one, and be reported as such: it stays as written. */
    const ir_node *n = ir_at(o->p, term);
    bool plain = o->p->plain, beyond = n->kind == IR_CONST && t == T_U64 && n->u.literal >> 63;
    o->p->plain |= beyond;
    ir_id converted = ir_convert(o->p, o->site, OP_CONVERT, T_I64, term);
    o->p->plain = plain;
    return converted;
}

ir_id op_take_i64(const op *o, sn_scalar x, const char *what)
{
    id_list one = {0};
    if (!op_take_indices(o, 1, &x, what, &one))
        return 0;
    if (one.n == 1)
        return one.at[0];
    op_fail(o, "%s must be a single integer, but is a tuple of %u; sn_get takes one of its components", what, one.n);
    return 0;
}

bool op_index_leaves(const op *o, const value *v, const char *what, id_list *out)
{
    bool good = true;
    for (uint32_t k = 0; k < v->tree->leaves; k++) {
        ir_id term = as_i64(o, v->term[k], v->weak && v->weak[k], what);
        good &= term != 0;
        vec_push(o->b->arena, out, term);
    }
    return good;
}

bool op_take_indices(const op *o, uint32_t n, const sn_scalar *x, const char *what, id_list *out)
{
    bool good = true;
    for (uint32_t i = 0; i < n; i++) {
        const value *v = op_take_scalar(o, x[i], what);
        good &= v && op_index_leaves(o, v, what, out);
    }
    return good;
}

/* Extents are made of constants, other extents, and counts of what is kept. What is found good is remembered,
 * so that a term is walked once in a build. */
bool op_check_extent(const op *o, ir_id term)
{
    id_list todo = {0}, met = {0};
    map64 seen = {0};
    vec_push(o->b->arena, &todo, term);
    while (todo.n) {
        ir_id id = todo.at[--todo.n];
        const ir_node *node = ir_at(o->p, id);
        if (map64_get(&o->b->extents, id) || map64_get(&seen, id))
            continue;
        if (node->kind == IR_VAR)
            return op_fail(o, "an extent depends on a parameter of a scalar function; extents are made of other "
                              "extents and constants");
        if (node->kind == IR_READ && ir_info(o->p, node->array)->rank == 0) /* known when that has been computed */
            continue;
        if (node->kind == IR_READ || node->kind == IR_PROJ)
            return op_fail(o,
                           "an extent depends on %s; extents are made of other extents, constants and single values "
                           "(sn_the)",
                           node->kind == IR_READ ? "an element of an array" : "a loop");
        map64_put(o->b->arena, &seen, id, 1);
        vec_push(o->b->arena, &met, id);
        for (uint32_t i = 0; i < node->n; i++)
            vec_push(o->b->arena, &todo, ir_args(o->p, id)[i]);
    }
    for (uint32_t i = 0; i < met.n; i++)
        map64_put(o->b->arena, &o->b->extents, met.at[i], 1);
    return true;
}

bool op_take_shape(const op *o, sn_scalar x, unsigned *rank, ir_id extent[IR_MAX_RANK])
{
    id_list list = {0};
    if (!op_take_indices(o, 1, &x, "an extent", &list))
        return false;
    if (list.n > IR_MAX_RANK)
        return op_fail(o, "a shape of rank %u; %d is the largest possible", list.n, IR_MAX_RANK);
    for (uint32_t d = 0; d < list.n; d++) {
        if (!op_check_extent(o, list.at[d]))
            return false;
        extent[d] = list.at[d];
    }
    *rank = list.n;
    return true;
}

bool op_check_list(const op *o, int n, const void *list, const char *what)
{
    if (n < 0)
        return op_fail(o, "%d %s; give a number from 0 on", n, what);
    return list || !n || op_fail(o, "the list of %s is NULL; give %d of them", what, n);
}

/* --- values to handles --- */

static uint64_t handle(const op *o, const value *v)
{
    vec_push(o->b->arena, &o->b->value, *v);
    return (uint64_t)o->b->number << 32 | (o->b->value.n - 1);
}

/* What is pointed to stays where it is when the list grows, as all values do while a program is built. */
static sn_scalar give_leaf(const op *o, const tree *t, ir_id term, const bool *weak)
{
    value v = {.kind = VALUE_SCALAR, .tree = t, .only = term, .only_weak = weak && weak[0]};
    sn_scalar given = {handle(o, &v)};
    value *kept = &o->b->value.at[o->b->value.n - 1];
    kept->term = &kept->only;
    kept->weak = weak ? &kept->only_weak : NULL;
    return given;
}

sn_scalar op_give_scalar(const op *o, const tree *t, const ir_id *term, const bool *weak)
{
    for (uint32_t i = 0; i < t->leaves; i++)
        if (!term[i])
            return op_bad_scalar(o);
    value v = {.kind = VALUE_SCALAR, .tree = t};
    if (t->leaves == 1)
        return give_leaf(o, t, term[0], weak);
    v.term = arena_copy(o->b->arena, term, t->leaves * sizeof *term);
    if (weak)
        v.weak = arena_copy(o->b->arena, weak, t->leaves * sizeof *weak);
    return (sn_scalar){handle(o, &v)};
}

sn_acc op_give_array(const op *o, const tree *t, ir_id array)
{
    value v = {.kind = VALUE_ARRAY, .tree = t, .array = array};
    return array ? (sn_acc){handle(o, &v)} : op_bad_array(o);
}

sn_scalar op_give_neighbours(const op *o, const value *neighbours)
{
    return (sn_scalar){handle(o, neighbours)};
}

sn_acc op_give_results(const op *o, uint32_t n, const value **part)
{
    value v = {.kind = VALUE_RESULTS, .n = n, .part = part};
    return (sn_acc){handle(o, &v)};
}
