/* Programs and scalar terms without simplification: nodes, interning, constants, variables, reads, errors, walks. */
#include "ir/intern.h"
#include <stdio.h>

ir_program *ir_program_new(arena *a)
{
    ir_program *p = arena_new(a, *p);
    p->arena = a;
    p->state = arena_new(a, *p->state);
    ir_site unknown = {0};
    ir_node none = {0};
    vec_push(a, &p->site, unknown);
    vec_push(a, &p->node, none);
    return p;
}

ir_program *ir_program_like(const ir_program *p)
{
    ir_program *to = ir_program_new(p->arena);
    to->outer = p->outer;
    to->plain = p->plain;
    to->contracted = p->contracted;
    ir_follow_sites(to);
    for (uint32_t k = 0; k < p->dim.n; k++)
        ir_dim(to, p->dim.at[k]);
    for (uint32_t i = 0; i < p->number.n; i++)
        vec_push(to->arena, &to->number, p->number.at[i]);
    return to;
}

/* --- places and mistakes --- */

typedef struct site_key {
    const ir_program *p;
    ir_site site;
} site_key;

static bool same_name(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_site(const void *env, uint32_t id)
{
    const site_key *key = env;
    const ir_site *s = &key->p->site.at[id];
    return s->line == key->site.line && s->wide == key->site.wide && same_name(s->file, key->site.file) &&
           same_name(s->operation, key->site.operation);
}

static uint64_t hash_name(uint64_t h, const char *name)
{
    return name ? hash_bytes(name, strlen(name), h) : hash_mix(h, 1);
}

static uint32_t find_own_site(ir_program *p, ir_site site)
{
    uint64_t hash = hash_name(hash_name(hash_mix(site.line, site.wide), site.file), site.operation);
    site_key key = {p, site};
    uint32_t id = intern_find(&p->state->sites, hash, same_site, &key);
    if (id)
        return id;
    id = p->site.n;
    site.file = site.file ? arena_string(p->arena, site.file) : NULL;
    site.operation = site.operation ? arena_string(p->arena, site.operation) : NULL;
    vec_push(p->arena, &p->site, site);
    intern_add(p->arena, &p->state->sites, hash, id);
    return id;
}

void ir_follow_sites(ir_program *p)
{
    for (uint32_t i = p->site.n; p->outer && i < p->outer->site.n; i++)
        vec_push(p->arena, &p->site, p->outer->site.at[i]);
}

/* In the outermost program's table, of which those of regions are copies. */
static uint32_t find_site(ir_program *p, ir_site site)
{
    ir_program *around[IR_MOST_CONTROLS + 1];
    uint32_t n = 0;
    for (; p->outer && n <= IR_MOST_CONTROLS; p = p->outer)
        around[n++] = p;
    uint32_t id = find_own_site(p, site);
    while (n-- > 0)
        ir_follow_sites(around[n]);
    return id;
}

uint32_t ir_site_at(ir_program *p, const char *file, uint32_t line, const char *operation)
{
    return file || line || operation ? find_site(p, (ir_site){file, line, operation, 0}) : 0;
}

uint32_t ir_site_wide(ir_program *p, uint32_t site, unsigned wide)
{
    ir_site copy = p->site.at[site];
    copy.wide |= (uint8_t)wide;
    return !site || copy.wide == p->site.at[site].wide ? site : find_site(p, copy);
}

uint32_t ir_site_of_indices(ir_program *p, uint32_t site, uint32_t n, const ir_id *index)
{
    unsigned wide = 0;
    for (uint32_t d = 0; d < n; d++) {
        const ir_node *i = ir_at(p, index[d]);
        if (i->kind == IR_OP && i->op == OP_CONVERT && ir_at(p, p->arg.at[i->args])->type == T_U64)
            wide |= 1u << d;
    }
    return ir_site_wide(p, site, wide);
}

static ir_error said(ir_program *p, uint32_t site, const char *format, va_list args)
{
    text t;
    text_init(&t, p->arena);
    text_vprintf(&t, format, args);
    return (ir_error){site, t.at};
}

ir_id ir_fail(ir_program *p, uint32_t site, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    ir_error error = said(p, site, format, args);
    va_end(args);
    vec_push(p->arena, &p->error, error);
    return 0;
}

void ir_warn(ir_program *p, uint32_t site, const char *format, ...)
{
    if (map64_get(&p->state->warned, site + 1ull))
        return;
    map64_put(p->arena, &p->state->warned, site + 1ull, 1);
    va_list args;
    va_start(args, format);
    ir_error warning = said(p, site, format, args);
    va_end(args);
    vec_push(p->arena, &p->warning, warning);
}

const char *ir_operation(const ir_program *p, uint32_t site, const char *otherwise)
{
    const char *name = site < p->site.n ? p->site.at[site].operation : NULL;
    return name ? name : otherwise;
}

bool ir_expect_scalar(ir_program *p, uint32_t site, const char *what, ir_id id)
{
    if (id >= p->node.n)
        return ir_fail(p, site, "%s: an operand is no term of this program; terms belong to one program", what);
    if (ir_is_array(p, id))
        return ir_fail(p, site, "%s: expected a scalar, found an array", what);
    if (p->node.at[id].type == T_NONE)
        return ir_fail(p, site, "%s: expected a scalar, found a loop", what);
    return true;
}

/* --- interning --- */

typedef struct term_key {
    const ir_program *p;
    const ir_node *node;
    const ir_id *args;
} term_key;

static bool swaps(const ir_node *n)
{
    return n->kind == IR_OP && n->n == 2 && (ir_ops[n->op].flags & OP_COMMUTES);
}

static bool same_term(const void *env, uint32_t id)
{
    const term_key *key = env;
    const ir_node *a = key->node, *b = &key->p->node.at[id];
    if (a->kind != b->kind || a->type != b->type || a->flags != b->flags || a->op != b->op || a->n != b->n ||
        a->array != b->array || a->u.literal != b->u.literal)
        return false;
    const ir_id *args = key->p->arg.at + b->args;
    if (swaps(a) && key->args[0] == args[1] && key->args[1] == args[0])
        return true;
    for (uint32_t i = 0; i < a->n; i++)
        if (key->args[i] != args[i])
            return false;
    return true;
}

static uint64_t hash_term(const ir_node *key, const ir_id *args)
{
    uint64_t h = hash_mix(key->kind | (uint64_t)key->type << 8 | (uint64_t)key->flags << 16 | (uint64_t)key->op << 24,
                          key->u.literal);
    h = hash_mix(h, key->array);
    if (swaps(key))
        return hash_mix(hash_mix(h, args[0] < args[1] ? args[0] : args[1]), args[0] < args[1] ? args[1] : args[0]);
    for (uint32_t i = 0; i < key->n; i++)
        h = hash_mix(h, args[i]);
    return h;
}

/* Can this node fail, all operands given? */
static bool fails_itself(const ir_program *p, const ir_node *n, const ir_id *args)
{
    if (n->kind == IR_READ)
        return !(n->flags & IR_SAFE);
    if (n->kind == IR_WITHIN)
        return true;
    if (n->kind != IR_OP)
        return false;
    ir_type t = (ir_type)p->node.at[args[0]].type;
    if (!ir_op_guarded((ir_op)n->op, t))
        return false;
    if (ir_ops[n->op].flags & OP_TRACES)
        return true;
    const ir_node *divisor = &p->node.at[args[1]];
    if (divisor->kind == IR_OP && divisor->op == OP_MAX) { /* max(x, c) with c > 0 is neither 0 nor -1 */
        for (uint32_t i = 0; i < divisor->n; i++) {
            const ir_node *bound = &p->node.at[p->arg.at[divisor->args + i]];
            if (bound->kind == IR_CONST && bound->u.literal &&
                (!ir_type_signed(t) || ir_i64_bits(t, bound->u.literal) > 0))
                return false;
        }
    }
    if (divisor->kind != IR_CONST || divisor->u.literal == 0)
        return true;
    return ir_type_signed(t) && ir_i64_bits(t, divisor->u.literal) == -1;
}

ir_id ir_intern(ir_program *p, uint32_t site, const ir_node *key, uint32_t n, const ir_id *args)
{
    ir_node node = *key;
    node.n = n;
    uint64_t hash = hash_term(&node, args);
    term_key wanted = {p, &node, args};
    ir_id id = intern_find(&p->scalars, hash, same_term, &wanted);
    if (id)
        return id;
    node.site = site;
    node.scope = 0;
    node.partial = fails_itself(p, &node, args);
    for (uint32_t i = 0; i < n; i++) {
        const ir_node *arg = &p->node.at[args[i]];
        node.scope = arg->scope > node.scope ? arg->scope : node.scope;
        node.partial |= arg->partial;
    }
    node.args = p->arg.n;
    for (uint32_t i = 0; i < n; i++)
        vec_push(p->arena, &p->arg, args[i]);
    id = p->node.n;
    vec_push(p->arena, &p->node, node);
    intern_add(p->arena, &p->scalars, hash, id);
    return id;
}

/* --- leaves --- */

ir_id ir_const(ir_program *p, ir_type t, ir_bits bits)
{
    unsigned width = ir_type_bits(t);
    if (!width)
        return ir_fail(p, 0, "a constant of no type; it needs one");
    ir_node key = {.kind = IR_CONST, .type = (uint8_t)t};
    key.u.literal = width < 64 ? bits & (((uint64_t)1 << width) - 1) : bits;
    return ir_intern(p, 0, &key, 0, NULL);
}

ir_id ir_i64(ir_program *p, int64_t value)
{
    return ir_const(p, T_I64, (ir_bits)value);
}

ir_id ir_bool(ir_program *p, bool value)
{
    return ir_const(p, T_BOOL, value);
}

ir_id ir_var(ir_program *p, ir_type t)
{
    ir_id id = p->node.n;
    ir_node node = {.kind = IR_VAR, .type = (uint8_t)t, .scope = id};
    vec_push(p->arena, &p->node, node);
    return id;
}

static ir_id dim_term(ir_program *p, uint32_t k)
{
    ir_node key = {.kind = IR_DIM, .type = T_I64};
    key.u.literal = k;
    return ir_intern(p, 0, &key, 0, NULL);
}

ir_id ir_dim(ir_program *p, const char *name)
{
    uint32_t k = 0;
    while (k < p->dim.n && strcmp(p->dim.at[k], name) != 0)
        k++;
    if (k == p->dim.n)
        vec_push(p->arena, &p->dim, arena_string(p->arena, name));
    return dim_term(p, k);
}

bool ir_number_of(const ir_program *p, uint32_t k, int64_t *value)
{
    uint32_t low = 0, high = p->number.n; /* ascending */
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (p->number.at[middle].dim < k)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == p->number.n || p->number.at[low].dim != k)
        return false;
    *value = p->number.at[low].value;
    return true;
}

ir_id ir_named_number(ir_program *p, int64_t value)
{
    char name[32];
    uint32_t names = p->number.n ? p->number.at[0].dim : p->dim.n, try = p->number.n;
    bool taken;
    do {
        snprintf(name, sizeof(name), "number%u", (unsigned)++try);
        taken = false;
        for (uint32_t k = 0; k < names; k++) /* of the signature: few */
            taken |= strcmp(p->dim.at[k], name) == 0;
    } while (taken);
    vec_push(p->arena, &p->number, ((ir_number){p->dim.n, value}));
    vec_push(p->arena, &p->dim, arena_string(p->arena, name));
    return dim_term(p, p->dim.n - 1);
}

/* --- reads of arrays --- */

static bool index_inside(const ir_program *p, const ir_array *a, const ir_id *index)
{
    for (unsigned d = 0; d < a->rank; d++) {
        const ir_node *i = ir_at(p, index[d]);
        int64_t extent;
        if (i->kind != IR_CONST || !ir_extent_constant(p, a->shape[d], &extent))
            return false;
        if ((int64_t)i->u.literal < 0 || (int64_t)i->u.literal >= extent)
            return false;
    }
    return true;
}

/* A few operators over literals, extents and elements at literal places, which cannot fail: no more to compute than an
 * element is to read. */
static bool is_short(const ir_program *p, ir_id id, unsigned depth)
{
    const ir_node *n = ir_at(p, id);
    bool good = !n->scope && !n->partial &&
                (n->kind == IR_CONST || n->kind == IR_DIM || n->kind == IR_READ || n->kind == IR_OP);
    for (uint32_t i = 0; i < n->n && good; i++)
        good = depth > 0 && is_short(p, p->arg.at[n->args + i], depth - 1);
    return good && !(n->kind == IR_OP && ir_ops[n->op].flags & OP_MATH);
}

/* The element of an array of which it is plain to see: the same short term everywhere, or its index. 0: it is not. */
static ir_id plain_element(const ir_program *p, const ir_node *read, uint32_t n, const ir_id *index)
{
    enum { MOST_DEPTH = 3 };
    const ir_node *a = ir_at(p, read->array);
    if (p->plain || a->kind != IR_GENERATE || !(read->flags & IR_SAFE))
        return 0;
    const ir_fn *fn = a->u.info->fn;
    ir_id element = fn->result[read->u.literal];
    for (uint32_t i = 0; i < n; i++)
        if (ir_at(p, index[i])->partial) /* its failure is not to be lost */
            return 0;
    for (uint32_t i = 0; i < fn->params && !(read->flags & IR_LINEAR); i++)
        if (fn->param[i] == element)
            return index[i];
    return is_short(p, element, MOST_DEPTH) ? element : 0;
}

ir_id ir_read(ir_program *p, uint32_t site, ir_id array, uint32_t component, unsigned flags, uint32_t n,
              const ir_id *index)
{
    const char *name = ir_operation(p, site, "index");
    if (!array)
        return 0;
    if (array >= p->node.n || !ir_is_array(p, array))
        return ir_fail(p, site, "%s: something else than an array is indexed; only arrays have elements", name);
    const ir_array *a = ir_info(p, array);
    uint32_t wanted = flags & IR_LINEAR ? 1 : a->rank;
    if (component >= a->components)
        return ir_fail(p, site, "%s: there is no component %u; the array has %u, from 0 on", name, component,
                       (unsigned)a->components);
    if (n != wanted)
        return ir_fail(p, site, "%s: %u indices, but the array is of rank %u", name, n, (unsigned)a->rank);
    for (uint32_t i = 0; i < n; i++) {
        if (!index[i])
            return 0;
        if (!ir_expect_scalar(p, site, name, index[i]))
            return 0;
        if (ir_at(p, index[i])->type != T_I64)
            return ir_fail(p, site, "%s: an index is of type %s, not i64", name,
                           ir_type_name((ir_type)ir_at(p, index[i])->type));
    }
    if (!(flags & IR_LINEAR) && index_inside(p, a, index))
        flags |= IR_SAFE;
    if (!(flags & IR_SAFE))
        site = ir_site_of_indices(p, site, n, index);
    ir_node key = {.kind = IR_READ,
                   .type = (uint8_t)a->type[component],
                   .flags = (uint8_t)(flags & (IR_SAFE | IR_LINEAR | IR_ALWAYS)),
                   .array = array};
    key.u.literal = component;
    ir_id element = flags & IR_STORED ? 0 : plain_element(p, &key, n, index);
    return element ? element : ir_intern(p, site, &key, n, index);
}

ir_id ir_within(ir_program *p, uint32_t site, ir_id array, unsigned dimension, ir_id index, ir_id element)
{
    ir_node key = {.kind = IR_WITHIN, .type = T_I64, .array = array};
    ir_id args[2] = {index, element};
    key.u.literal = (ir_bits)site << 4 | dimension; /* what is reported is part of what it is */
    return ir_intern(p, site, &key, element ? 2 : 1, args);
}

ir_id ir_after(ir_program *p, ir_id value, uint32_t n, const ir_id *term)
{
    ir_node key = {.kind = IR_AFTER, .type = ir_at(p, value)->type};
    ir_id args[IR_MAX_RANK + 1] = {value};
    memcpy(args + 1, term, n * sizeof *term);
    return n ? ir_intern(p, 0, &key, n + 1, args) : value;
}

ir_id ir_call(ir_program *p, uint32_t site, const ir_code *code, uint32_t n, const ir_id *args)
{
    for (uint32_t i = 0; i < n; i++)
        if (!args[i] || !ir_expect_scalar(p, site, "foreign", args[i]))
            return 0;
    if (n < 2 || n > IR_MOST_CALLED + 1)
        return ir_fail(p, site, "foreign: %u operands; functions take 1 to %d", n ? n - 1 : 0, IR_MOST_CALLED);
    ir_node key = {.kind = IR_CALL, .type = ir_at(p, args[0])->type};
    key.u.code = code;
    return ir_intern(p, site, &key, n, args);
}

/* --- walks --- */

void ir_each_operand(const ir_program *p, ir_id id, void (*visit)(void *env, ir_id operand), void *env)
{
    const ir_node *node = ir_at(p, id);
    if (node->kind != IR_LOOP) {
        for (uint32_t i = 0; i < node->n; i++)
            visit(env, p->arg.at[node->args + i]);
        return;
    }
    const ir_loop *loop = node->u.loop;
    for (uint32_t i = 0; i < loop->states; i++) {
        visit(env, loop->init[i]);
        visit(env, loop->var[i]);
        visit(env, loop->next[i]);
    }
    if (loop->cond)
        visit(env, loop->cond);
    if (loop->count) {
        visit(env, loop->count);
        visit(env, loop->index);
    }
}

typedef struct walk {
    ir_program *p;
    ir_id least, skipped;
} walk;

static void meet(void *env, ir_id id)
{
    walk *w = env;
    ir_state *s = w->p->state;
    ir_id scope = w->p->node.at[id].scope;
    if (!id)
        return;
    if (scope < w->least) {
        w->skipped = scope > w->skipped ? scope : w->skipped;
        return;
    }
    if (s->mark.at[id] == s->walk)
        return;
    s->mark.at[id] = s->walk;
    vec_push(w->p->arena, &s->stack, id);
}

/* Ids in order: a sweep over the marks where many stand close, as those of one function do; else a sort. */
static void put_in_order(ir_program *p, uint32_t n, ir_id *id)
{
    enum { FEW = 32, CLOSE = 4 };
    ir_id least = UINT32_MAX, most = 0;
    for (uint32_t i = 0; i < n; i++) {
        least = id[i] < least ? id[i] : least;
        most = id[i] > most ? id[i] : most;
    }
    if (n < 2)
        return;
    if (n <= FEW || (most - least) / CLOSE > n) {
        ir_ids *stack = &p->state->stack; /* empty by now */
        vec_reserve(p->arena, stack, n);
        sort_u32(id, n, stack->at);
        return;
    }
    n = 0;
    for (ir_id k = least; k <= most; k++)
        if (ir_reached(p, k))
            id[n++] = k;
}

ir_id ir_reach(ir_program *p, uint32_t n, const ir_id *root, ir_id least, ir_ids *out)
{
    ir_state *s = p->state;
    walk w = {p, least, 0};
    vec_resize(p->arena, &s->mark, p->node.n);
    vec_resize(p->arena, &s->slot, p->node.n);
    s->walk++;
    s->stack.n = 0;
    uint32_t first = out->n;
    for (uint32_t i = 0; i < n; i++)
        meet(&w, root[i]);
    while (s->stack.n) {
        ir_id id = s->stack.at[--s->stack.n];
        vec_push(p->arena, out, id);
        ir_each_operand(p, id, meet, &w);
    }
    put_in_order(p, out->n - first, out->at + first);
    return w.skipped;
}

uint32_t ir_terms(ir_program *p, arena *a, uint32_t n, const ir_id *root, ir_id **out)
{
    ir_ids *list = &p->state->reached;
    list->n = 0;
    ir_reach(p, n, root, 0, list);
    *out = arena_copy(a, list->at, list->n * sizeof(ir_id));
    return list->n;
}
