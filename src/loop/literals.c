/* Finds operations that are alike but for literals, by a hash that leaves literals out, and names the numbers in which
 * they differ.
 *
 * A literal is known by its place. Places in terms of variables, and results of functions, belong to one operation:
 * what stands there is a number of that operation's own. Closed terms are extents, and compared with each other: a
 * literal in them is the same number wherever it stands in a closed term, so that equal extents stay equal. */
#include "loop/literals.h"

#include "opt/remake.h"

typedef struct place {
    opt_slot slot;
    ir_id literal;
} place;

typedef VEC(place) places;

typedef struct member {
    places own, closed;
} member;

typedef struct alike {
    VEC(member) member;
    uint32_t clusters, last; /* in which members are computed; the last one counted */
} alike;

typedef struct sharing {
    const l_program *l;
    ir_program *p;
    arena *arena;
    uint32_t *stamp, *number; /* per node: the walk that met it, and as how many-th */
    uint32_t walk, met;
    opt_ids stack;
    uint64_t hash;
    member found;
    bool fixed;     /* literals of the function at hand stay what they are */
    map64 group_of; /* hash -> 1 + group */
    VEC(alike) group;
    map64 own;    /* place -> the term to be used there */
    map64 closed; /* literal -> the term to be used in closed terms */
    opt_remake remake;
} sharing;

/* --- what an operation is, but for its literals --- */

static void mix(sharing *s, uint64_t v)
{
    s->hash = hash_mix(s->hash, v);
}

/* True the first time. */
static bool meet(sharing *s, ir_id id)
{
    bool first = s->stamp[id] != s->walk;
    if (first) {
        s->stamp[id] = s->walk;
        s->number[id] = s->met++;
    }
    mix(s, s->number[id]);
    return first;
}

static void mix_literal(sharing *s, opt_slot slot, ir_id id, bool closed)
{
    const ir_node *n = ir_at(s->p, id);
    mix(s, n->type);
    if (s->fixed && !closed)
        mix(s, n->u.literal);
    else if (closed)
        vec_push(s->arena, &s->found.closed, ((place){slot, id}));
    else
        vec_push(s->arena, &s->found.own, ((place){slot, id}));
}

static void mix_place(sharing *s, opt_slot slot, ir_id id, bool closed)
{
    if (id && ir_at(s->p, id)->kind == IR_CONST)
        mix_literal(s, slot, id, closed);
    else if (id && meet(s, id))
        vec_push(s->arena, &s->stack, id);
}

static void mix_list(sharing *s, uint32_t n, const ir_id *term, bool closed)
{
    for (uint32_t i = 0; i < n; i++)
        mix_place(s, opt_slot_at(&term[i]), term[i], closed);
}

static void mix_array(sharing *s, ir_id array)
{
    const ir_array *info = ir_info(s->p, array);
    if (!meet(s, array))
        return;
    mix(s, hash_bytes(info->type, info->components * sizeof(ir_type), info->components));
    mix(s, info->rank);
    mix_list(s, info->rank, info->shape, true);
}

static void mix_loop(sharing *s, const ir_loop *loop)
{
    mix(s, loop->states);
    mix_list(s, loop->states, loop->init, false);
    mix_list(s, loop->states, loop->var, false);
    mix_list(s, loop->states, loop->next, false);
    mix_place(s, 0, loop->cond, false);
    mix_place(s, opt_slot_at(&loop->count), loop->count, false);
    mix_place(s, 0, loop->index, false);
}

static void mix_term(sharing *s, ir_id id)
{
    const ir_node *n = ir_at(s->p, id);
    mix(s, (uint64_t)n->kind << 24 | (uint64_t)n->type << 16 | (uint64_t)n->flags << 8 | n->op);
    if (n->kind == IR_DIM || n->kind == IR_PROJ || n->kind == IR_READ)
        mix(s, n->u.literal);
    if (n->kind == IR_READ)
        mix_array(s, n->array);
    if (n->kind == IR_LOOP)
        mix_loop(s, n->u.loop);
    for (uint32_t k = 0; k < n->n; k++)
        mix_place(s, n->args + k, s->p->arg.at[n->args + k], !n->scope);
}

static void mix_reached(sharing *s)
{
    while (s->stack.n)
        mix_term(s, s->stack.at[--s->stack.n]);
}

static void mix_function(sharing *s, const ir_fn *fn)
{
    if (!fn)
        return;
    for (uint32_t i = 0; i < fn->params; i++)
        meet(s, fn->param[i]);
    mix_list(s, fn->results, fn->result, false);
    mix_reached(s);
}

static void mix_operation(sharing *s, ir_id id)
{
    const ir_array *info = ir_info(s->p, id);
    s->walk++;
    s->met = 0;
    s->hash = 0;
    s->found = (member){0};
    ir_kind kind = (ir_kind)ir_at(s->p, id)->kind;
    bool folds = kind == IR_FOLD || kind == IR_FOLD_SEG || kind == IR_SCAN || kind == IR_SCAN_SEG;
    s->fixed = folds || kind == IR_PERMUTE; /* how it is folded depends on the operator */
    mix(s, (uint64_t)ir_at(s->p, id)->kind << 8 | ir_at(s->p, id)->flags);
    mix(s, info->keys);
    mix(s, info->behind);
    mix_array(s, id);
    if (info->seed)
        mix_list(s, info->components, info->seed, true);
    for (uint32_t i = 0; i < info->inputs; i++) {
        const ir_stencil *stencil = info->stencil ? &info->stencil[i] : NULL;
        mix_array(s, info->input[i]);
        if (!stencil)
            continue;
        mix(s, hash_bytes(stencil->extent, sizeof(stencil->extent), stencil->boundary));
        if (stencil->constant)
            mix_list(s, ir_info(s->p, info->input[i])->components, stencil->constant, true);
        mix_function(s, stencil->function);
    }
    mix_reached(s); /* closed terms before those of the function: what both have counts as closed */
    mix_function(s, info->fn);
}

/* --- groups --- */

/* The loop an operation is computed in: its own, or that of whoever uses it. */
static uint32_t *find_homes(const sharing *s)
{
    const l_program *l = s->l;
    uint32_t *home = arena_array(s->arena, *home, l->nodes);
    memcpy(home, l->cluster_of, l->nodes * sizeof(*home));
    for (uint32_t i = l->edge.n; i-- > 0;) { /* edges are in the order of users, which come after what they use */
        const l_edge *e = &l->edge.at[i];
        if (e->why == L_FUSED_DELAYED && !home[e->from])
            home[e->from] = home[e->to];
    }
    return home;
}

static void add_member(sharing *s, uint32_t home)
{
    uint32_t at = map64_get(&s->group_of, s->hash);
    if (!at) {
        vec_push(s->arena, &s->group, ((alike){0}));
        at = s->group.n;
        map64_put(s->arena, &s->group_of, s->hash, at);
    }
    alike *g = &s->group.at[at - 1];
    const member *first = g->member.at;
    if (first && (first->own.n != s->found.own.n || first->closed.n != s->found.closed.n))
        return; /* hashes are equal by chance */
    vec_push(s->arena, &g->member, s->found);
    g->clusters += home != g->last;
    g->last = home;
}

static bool find_groups(sharing *s)
{
    const uint32_t *home = find_homes(s);
    bool any = false;
    for (ir_id id = 1; id < s->l->nodes; id++) {
        if (!ir_is_array(s->p, id) || !home[id] || ir_at(s->p, id)->kind == IR_INPUT)
            continue;
        mix_operation(s, id);
        if (s->found.own.n || s->found.closed.n)
            add_member(s, home[id]);
    }
    for (uint32_t i = 0; i < s->group.n; i++)
        any |= s->group.at[i].clusters >= L_LEAST_ALIKE;
    return any;
}

/* --- numbers with names --- */

/* A term of this type and these bits that is no literal. */
static ir_id name_number(sharing *s, ir_id literal)
{
    ir_program *p = s->p;
    ir_type type = (ir_type)ir_at(p, literal)->type;
    ir_bits bits = ir_at(p, literal)->u.literal;
    bool is_integer = !ir_type_float(type);
    ir_id number = ir_named_number(p, is_integer ? ir_i64_bits(type, bits) : (int64_t)bits);
    if (type == T_I64)
        return number;
    if (type == T_F32)
        number = ir_convert(p, 0, OP_CONVERT, T_U32, number);
    return ir_convert(p, 0, is_integer ? OP_CONVERT : OP_BITCAST, type, number);
}

static ir_id own_literal(const alike *g, uint32_t m, uint32_t k)
{
    return g->member.at[m].own.at[k].literal;
}

static uint64_t column_hash(const alike *g, uint32_t k, bool *varies)
{
    uint64_t hash = 0;
    *varies = false;
    for (uint32_t m = 0; m < g->member.n; m++) {
        hash = hash_mix(hash, own_literal(g, m, k));
        *varies |= own_literal(g, m, k) != own_literal(g, 0, k);
    }
    return hash ? hash : 1;
}

static bool same_columns(const alike *g, uint32_t j, uint32_t k)
{
    bool same = true;
    for (uint32_t m = 0; m < g->member.n && same; m++)
        same = own_literal(g, m, j) == own_literal(g, m, k);
    return same;
}

/* A kernel does not take any number of arguments. */
enum { MOST_VARYING = 64 };

/* Places that always have the same number share its name. */
static void name_own(sharing *s, const alike *g)
{
    uint32_t columns = g->member.at[0].own.n, varying = 0;
    uint32_t *like = arena_array(s->arena, *like, columns + 1); /* 0: does not vary; 1 + the first alike */
    map64 first = {0};
    for (uint32_t k = 0; k < columns; k++) {
        bool varies;
        uint64_t hash = column_hash(g, k, &varies);
        if (!varies)
            continue;
        uint32_t other = map64_get(&first, hash);
        like[k] = other && same_columns(g, other - 1, k) ? other : k + 1;
        if (like[k] == k + 1) {
            map64_put(s->arena, &first, hash, k + 1);
            varying++;
        }
    }
    if (varying > MOST_VARYING)
        return;
    for (uint32_t m = 0; m < g->member.n; m++) {
        const place *at = g->member.at[m].own.at;
        for (uint32_t k = 0; k < columns; k++) {
            if (!like[k])
                continue;
            ir_id term = like[k] == k + 1 ? name_number(s, at[k].literal) : map64_get(&s->own, at[like[k] - 1].slot);
            map64_put(s->arena, &s->own, at[k].slot, term);
        }
    }
}

static void name_closed(sharing *s, const alike *g)
{
    for (uint32_t k = 0; k < g->member.at[0].closed.n; k++) {
        bool varies = false;
        for (uint32_t m = 1; m < g->member.n && !varies; m++)
            varies = g->member.at[m].closed.at[k].literal != g->member.at[0].closed.at[k].literal;
        for (uint32_t m = 0; m < g->member.n && varies; m++) {
            ir_id literal = g->member.at[m].closed.at[k].literal;
            if (!map64_get(&s->closed, literal))
                map64_put(s->arena, &s->closed, literal, name_number(s, literal));
        }
    }
}

/* --- rewriting --- */

static ir_id in_closed_term(void *env, opt_slot slot, ir_id user, ir_id literal)
{
    const sharing *s = env;
    (void)slot, (void)user;
    return map64_get(&s->closed, literal);
}

static ir_id in_function(void *env, opt_slot slot, ir_id user, ir_id literal)
{
    sharing *s = env;
    if (user && !ir_at(s->p, user)->scope)
        return in_closed_term(env, slot, user, literal);
    return map64_get(&s->own, slot);
}

static ir_id replaced_read(void *env, const ir_node *read, const ir_id *index)
{
    sharing *s = env;
    ir_id other = s->remake.array[read->array];
    if (!other)
        return 0;
    return ir_read(s->p, read->site, other, (uint32_t)read->u.literal, read->flags, read->n, index);
}

static ir_id *replace_terms(sharing *s, opt_slot_hook hook, uint32_t n, ir_id *term)
{
    ir_id *out = arena_array(s->arena, ir_id, n + 1);
    opt_rewrite_slots(s->p, s->arena, hook, replaced_read, s, n, term, out);
    if (memcmp(out, term, n * sizeof(ir_id)))
        return out;
    arena_release(s->arena, out, (n + 1) * sizeof(ir_id));
    return term;
}

static ir_fn *replace_in_function(void *env, ir_id array, ir_fn *fn)
{
    sharing *s = env;
    (void)array;
    ir_id *result = replace_terms(s, in_function, fn->results, fn->result);
    if (result == fn->result)
        return fn;
    ir_fn *copy = arena_copy(s->arena, fn, sizeof(*fn));
    copy->result = result;
    return copy;
}

static ir_id *replace_in_closed(void *env, uint32_t n, ir_id *term)
{
    return replace_terms(env, in_closed_term, n, term);
}

/* False if no literal varies. */
static bool name_literals(sharing *s)
{
    uint32_t numbers = s->p->number.n;
    for (uint32_t i = 0; i < s->group.n; i++)
        if (s->group.at[i].clusters >= L_LEAST_ALIKE) {
            name_own(s, &s->group.at[i]);
            name_closed(s, &s->group.at[i]);
        }
    return s->p->number.n != numbers;
}

static void replace_literals(sharing *s)
{
    opt_remake_begin(&s->remake, s->p);
    s->remake.function = replace_in_function;
    s->remake.closed = replace_in_closed;
    s->remake.env = s;
    for (ir_id id = 1; id < s->remake.nodes; id++)
        if (ir_is_array(s->p, id) && ir_at(s->p, id)->kind != IR_INPUT)
            opt_remake_array(&s->remake, id);
    opt_remake_end(&s->remake);
}

bool l_share_literals(const l_program *l)
{
    sharing s = {.l = l, .p = l->ir, .arena = l->ir->arena};
    uint32_t nodes = s.p->node.n;
    s.stamp = arena_array(s.arena, *s.stamp, nodes);
    s.number = arena_array(s.arena, *s.number, nodes);
    bool shares = find_groups(&s) && name_literals(&s);
    if (shares)
        replace_literals(&s);
    arena_release(s.arena, s.stamp, nodes * sizeof(*s.stamp));
    arena_release(s.arena, s.number, nodes * sizeof(*s.number));
    for (uint32_t i = 0; i < s.group.n; i++)
        vec_free(s.arena, &s.group.at[i].member);
    vec_free(s.arena, &s.group);
    map64_free(s.arena, &s.group_of);
    map64_free(s.arena, &s.own);
    map64_free(s.arena, &s.closed);
    return shares;
}
