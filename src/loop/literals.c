/* Finds operations that are alike but for literals, by a hash of their functions that leaves literals out, and makes
 * inputs of those in which they differ. */
#include "loop/literals.h"

#include "opt/remake.h"

/* A literal is known by the place of its use among the program's arguments. */
typedef VEC(uint32_t) places;

typedef struct alike {
    VEC(ir_id) member;
    places *place; /* per member, in step with `member`: of its literals */
    uint32_t room;
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
    places found;
    map64 group_of; /* hash -> 1 + group */
    VEC(alike) group;
    map64 read; /* place -> the term to be used there */
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

static void mix_array(sharing *s, ir_id array)
{
    const ir_array *info = ir_info(s->p, array);
    if (!meet(s, array))
        return;
    mix(s, hash_bytes(info->shape, info->rank * sizeof(ir_id), info->rank));
    mix(s, hash_bytes(info->type, info->components * sizeof(ir_type), info->components));
}

/* May literals among its operands be read from elsewhere? */
static bool may_vary(const sharing *s, const ir_node *user)
{
    if (!user->scope || (user->kind != IR_OP && user->kind != IR_READ))
        return false;
    ir_type type = (ir_type)ir_at(s->p, s->p->arg.at[user->args])->type;
    return user->kind == IR_READ || !ir_op_partial((ir_op)user->op, type);
}

static void mix_operand(sharing *s, ir_id id)
{
    const ir_node *n = ir_at(s->p, id);
    if (n->kind == IR_CONST) {
        mix(s, n->type);
        mix(s, n->u.literal);
    } else if (id && meet(s, id)) {
        vec_push(s->arena, &s->stack, id);
    }
}

static void mix_loop(sharing *s, const ir_loop *loop)
{
    mix(s, loop->states);
    for (uint32_t i = 0; i < loop->states; i++) {
        mix_operand(s, loop->init[i]);
        mix_operand(s, loop->var[i]);
        mix_operand(s, loop->next[i]);
    }
    mix_operand(s, loop->cond);
    mix_operand(s, loop->count);
    mix_operand(s, loop->index);
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
    for (uint32_t k = 0; k < n->n; k++) {
        ir_id operand = s->p->arg.at[n->args + k];
        if (ir_at(s->p, operand)->kind == IR_CONST && may_vary(s, n)) {
            mix(s, ir_at(s->p, operand)->type);
            vec_push(s->arena, &s->found, n->args + k);
        } else {
            mix_operand(s, operand);
        }
    }
}

static void mix_function(sharing *s, const ir_fn *fn)
{
    for (uint32_t i = 0; i < fn->params; i++)
        meet(s, fn->param[i]);
    for (uint32_t i = 0; i < fn->results; i++)
        mix_operand(s, fn->result[i]);
    while (s->stack.n)
        mix_term(s, s->stack.at[--s->stack.n]);
}

static void mix_operation(sharing *s, ir_id id)
{
    const ir_array *info = ir_info(s->p, id);
    s->walk++;
    s->met = 0;
    s->hash = 0;
    s->found = (places){0};
    mix(s, (uint64_t)ir_at(s->p, id)->kind << 8 | ir_at(s->p, id)->flags);
    mix_array(s, id);
    for (uint32_t i = 0; i < info->inputs; i++) {
        mix_array(s, info->input[i]);
        if (info->stencil)
            mix(s, hash_bytes(info->stencil[i].extent, sizeof(info->stencil[i].extent), info->stencil[i].boundary));
    }
    mix_function(s, info->fn);
}

/* --- groups --- */

/* The loop an operation is computed in: its own, or that of whoever uses it. */
static uint32_t *find_homes(const sharing *s)
{
    const l_program *l = s->l;
    uint32_t *home = arena_alloc(s->arena, l->nodes * sizeof(*home));
    memcpy(home, l->cluster_of, l->nodes * sizeof(*home));
    for (uint32_t i = l->edge.n; i-- > 0;) { /* edges are in the order of users, which come after what they use */
        const l_edge *e = &l->edge.at[i];
        if (e->why == L_FUSED_DELAYED && !home[e->from])
            home[e->from] = home[e->to];
    }
    return home;
}

static void add_member(sharing *s, ir_id id, uint32_t home)
{
    uint32_t at = map64_get(&s->group_of, s->hash);
    if (!at) {
        vec_push(s->arena, &s->group, ((alike){0}));
        at = s->group.n;
        map64_put(s->arena, &s->group_of, s->hash, at);
    }
    alike *g = &s->group.at[at - 1];
    if (g->member.n == g->room) {
        places *old = g->place;
        g->room = g->room ? 2 * g->room : L_LEAST_ALIKE;
        g->place = arena_alloc(s->arena, g->room * sizeof(*g->place));
        if (old)
            memcpy(g->place, old, g->member.n * sizeof(*old));
    }
    if (g->member.n && g->place[0].n != s->found.n) /* hashes are equal by chance */
        return;
    g->place[g->member.n] = s->found;
    vec_push(s->arena, &g->member, id);
    g->clusters += home && home != g->last;
    g->last = home;
}

static bool find_groups(sharing *s)
{
    const uint32_t *home = find_homes(s);
    bool any = false;
    for (ir_id id = 1; id < s->l->nodes; id++) {
        if (!ir_is_array(s->p, id) || !home[id] || !ir_info(s->p, id)->fn || ir_at(s->p, id)->kind == IR_FOLD)
            continue;
        mix_operation(s, id);
        if (s->found.n)
            add_member(s, id, home[id]);
    }
    for (uint32_t i = 0; i < s->group.n; i++)
        any |= s->group.at[i].clusters >= L_LEAST_ALIKE;
    return any;
}

/* --- inputs --- */

static ir_id literal(const sharing *s, const alike *g, uint32_t member, uint32_t k)
{
    return s->p->arg.at[g->place[member].at[k]];
}

/* Are literals j and k the same number in each member? */
static bool same_literals(const sharing *s, const alike *g, uint32_t j, uint32_t k)
{
    bool same = true;
    for (uint32_t m = 0; m < g->member.n && same; m++)
        same = literal(s, g, m, j) == literal(s, g, m, k);
    return same;
}

static bool varies(const sharing *s, const alike *g, uint32_t k)
{
    bool same = true;
    for (uint32_t m = 1; m < g->member.n && same; m++)
        same = literal(s, g, m, k) == literal(s, g, 0, k);
    return !same;
}

static ir_id read_input(sharing *s, ir_id constant, l_literals *out)
{
    ir_node n = *ir_at(s->p, constant);
    ir_type type = (ir_type)n.type;
    ir_bits *bits = arena_copy(s->p->arena, &n.u.literal, sizeof(n.u.literal));
    ir_id input = ir_input_data(s->p, 0, type, 0, NULL, bits);
    vec_push(s->arena, out, ((l_literal){input, type, n.u.literal}));
    return ir_read(s->p, 0, input, 0, IR_SAFE, 0, NULL);
}

/* Few literals vary: they are compared with each other. */
enum { MOST_VARYING = 16 };

static void make_inputs(sharing *s, const alike *g, l_literals *out)
{
    uint32_t varying[MOST_VARYING], like[MOST_VARYING], n = 0; /* like: the first one that is always the same number */
    for (uint32_t k = 0; k < g->place[0].n; k++) {
        if (!varies(s, g, k))
            continue;
        if (n == MOST_VARYING)
            return;
        varying[n] = k;
        like[n] = 0;
        while (!same_literals(s, g, varying[like[n]], k))
            like[n]++;
        n++;
    }
    for (uint32_t m = 0; m < g->member.n; m++)
        for (uint32_t i = 0; i < n; i++) {
            const uint32_t *place = g->place[m].at;
            ir_id read = like[i] < i ? map64_get(&s->read, place[varying[like[i]]])
                                     : read_input(s, literal(s, g, m, varying[i]), out);
            map64_put(s->arena, &s->read, place[varying[i]], read);
        }
}

/* --- rewriting --- */

/* Puts what replaces literals among the operands; false if nothing does. */
static bool replace(const sharing *s, uint32_t args, uint32_t n, const ir_id *operand, ir_id *now)
{
    bool any = false;
    for (uint32_t k = 0; k < n; k++) {
        ir_id other = map64_get(&s->read, args + k);
        now[k] = other ? other : operand[k];
        any |= other != 0;
    }
    return any;
}

static ir_id replace_in_op(void *env, ir_id id, const ir_id *operand)
{
    sharing *s = env;
    ir_node n = *ir_at(s->p, id);
    ir_id now[3];
    if (!replace(s, n.args, n.n, operand, now))
        return 0;
    if (ir_ops[n.op].signature == SIGNATURE_CONVERT)
        return ir_convert(s->p, n.site, (ir_op)n.op, (ir_type)n.type, now[0]);
    if (n.n == 3)
        return ir_op3(s->p, n.site, (ir_op)n.op, now[0], now[1], now[2]);
    return n.n == 2 ? ir_op2(s->p, n.site, (ir_op)n.op, now[0], now[1]) : ir_op1(s->p, n.site, (ir_op)n.op, now[0]);
}

static ir_id replace_in_read(void *env, const ir_node *read, const ir_id *index)
{
    sharing *s = env;
    ir_id now[IR_MAX_RANK], other = s->remake.array[read->array];
    if (!replace(s, read->args, read->n, index, now) && !other)
        return 0;
    return ir_read(s->p, read->site, other ? other : read->array, (uint32_t)read->u.literal, read->flags, read->n, now);
}

static ir_fn *replace_in_function(void *env, ir_id array, ir_fn *fn)
{
    sharing *s = env;
    (void)array;
    ir_fn *copy = arena_copy(s->arena, fn, sizeof(*fn));
    copy->result = arena_alloc(s->arena, (fn->results + 1) * sizeof(ir_id));
    opt_rewrite_ops(s->p, s->arena, replace_in_op, replace_in_read, s, fn->results, fn->result, copy->result);
    return memcmp(copy->result, fn->result, fn->results * sizeof(ir_id)) ? copy : fn;
}

void l_share_literals(const l_program *l, l_literals *out)
{
    sharing s = {.l = l, .p = l->ir, .arena = l->ir->arena};
    s.stamp = arena_alloc(s.arena, s.p->node.n * sizeof(*s.stamp));
    s.number = arena_alloc(s.arena, s.p->node.n * sizeof(*s.number));
    if (!find_groups(&s))
        return;
    for (uint32_t i = 0; i < s.group.n; i++)
        if (s.group.at[i].clusters >= L_LEAST_ALIKE)
            make_inputs(&s, &s.group.at[i], out);
    if (!out->n)
        return;
    opt_remake_begin(&s.remake, s.p);
    s.remake.function = replace_in_function;
    s.remake.env = &s;
    for (ir_id id = 1; id < s.remake.nodes; id++)
        if (ir_is_array(s.p, id) && ir_at(s.p, id)->kind != IR_INPUT)
            opt_remake_array(&s.remake, id);
    opt_remake_end(&s.remake);
}
