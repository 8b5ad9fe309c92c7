/* Reaching and rebuilding sets of scalar terms. */
#include "opt/rewrite.h"

void opt_reach(ir_program *p, arena *a, uint32_t n, const ir_id *root, opt_ids *out)
{
    *out = (opt_ids){0};
    out->n = out->cap = ir_terms(p, a, n, root, &out->at);
}

/* What terms become: a table where their ids stand close, else a map. */
typedef struct rewriter {
    ir_program *p;
    arena *arena;
    ir_id first, ids; /* the table's */
    ir_id *table;     /* NULL: none */
    map64 to;
    opt_read_hook hook;
    opt_op_hook op_hook;
    opt_slot_hook slot_hook;
    void *env;
} rewriter;

static ir_id mapped(const rewriter *r, ir_id id)
{
    uint32_t to = 0;
    if (!r->table)
        to = map64_get(&r->to, id);
    else if (id >= r->first && id - r->first < r->ids)
        to = r->table[id - r->first];
    return to ? to : id;
}

/* What stands at a place: what the hook puts there, else what the term has become. */
static ir_id placed(const rewriter *r, opt_slot slot, ir_id user, ir_id id)
{
    bool asks = r->slot_hook && id && ir_at(r->p, id)->kind == IR_CONST;
    ir_id other = asks ? r->slot_hook(r->env, slot, user, id) : 0;
    return other ? other : mapped(r, id);
}

static void map(rewriter *r, ir_id id, ir_id to)
{
    if (!r->table)
        map64_put(r->arena, &r->to, id, to);
    else if (id >= r->first && id - r->first < r->ids) /* what lies outside is not reached */
        r->table[id - r->first] = to;
}

static bool is_mapped(const rewriter *r, ir_id id)
{
    return r->table ? r->table[id - r->first] != 0 : map64_get(&r->to, id) != 0;
}

static ir_id *mapped_list(rewriter *r, uint32_t n, const ir_id *from)
{
    ir_id *to = arena_array(r->arena, ir_id, n);
    for (uint32_t i = 0; i < n; i++)
        to[i] = placed(r, opt_slot_at(&from[i]), 0, from[i]);
    return to;
}

static void freshen(rewriter *r, const ir_loop *loop)
{
    for (uint32_t i = 0; i < loop->states; i++)
        map(r, loop->var[i], ir_var(r->p, (ir_type)ir_at(r->p, loop->var[i])->type));
    if (loop->index)
        map(r, loop->index, ir_var(r->p, T_I64));
}

static ir_id rebuild_loop(rewriter *r, uint32_t site, const ir_loop *loop)
{
    ir_loop copy = {
        .states = loop->states,
        .init = mapped_list(r, loop->states, loop->init),
        .var = mapped_list(r, loop->states, loop->var),
        .next = mapped_list(r, loop->states, loop->next),
        .cond = mapped(r, loop->cond),
        .count = placed(r, opt_slot_at(&loop->count), 0, loop->count),
        .index = mapped(r, loop->index),
    };
    return ir_loop_new(r->p, site, &copy);
}

static ir_id rebuild(rewriter *r, ir_id id)
{
    ir_node node = *ir_at(r->p, id); /* a copy: building moves the table */
    ir_id arg[IR_MAX_RANK + 1] = {0};
    bool same = true;
    for (uint32_t i = 0; i < node.n; i++) {
        ir_id old = r->p->arg.at[node.args + i];
        arg[i] = placed(r, node.args + i, id, old);
        same &= arg[i] == old;
    }
    switch (node.kind) {
    case IR_OP: {
        ir_id other = r->op_hook ? r->op_hook(r->env, id, arg) : 0;
        if (other || same)
            return other ? other : id;
        if (ir_ops[node.op].signature == SIGNATURE_CONVERT)
            return ir_convert(r->p, node.site, (ir_op)node.op, (ir_type)node.type, arg[0]);
        if (node.n == 1)
            return ir_op1(r->p, node.site, (ir_op)node.op, arg[0]);
        if (node.n == 2)
            return ir_op2(r->p, node.site, (ir_op)node.op, arg[0], arg[1]);
        return ir_op3(r->p, node.site, (ir_op)node.op, arg[0], arg[1], arg[2]);
    }
    case IR_COND:
        return same ? id : ir_cond(r->p, node.site, arg[0], arg[1], arg[2]);
    case IR_PROJ:
        return same ? id : ir_proj(r->p, arg[0], (uint32_t)node.u.literal);
    case IR_READ: {
        ir_id other = r->hook ? r->hook(r->env, &node, arg) : 0;
        if (other || same)
            return other ? other : id;
        return ir_read(r->p, node.site, node.array, (uint32_t)node.u.literal, node.flags, node.n, arg);
    }
    case IR_WITHIN:
        return same ? id : ir_within(r->p, node.site, node.array, ir_within_dimension(&node), arg[0], arg[1]);
    case IR_CALL:
        return same ? id : ir_call(r->p, node.site, node.u.code, node.n, arg);
    case IR_AFTER:
        return same ? id : ir_after(r->p, arg[0], node.n - 1, arg + 1);
    case IR_LOOP:
        return rebuild_loop(r, node.site, node.u.loop);
    default:
        return id;
    }
}

static void rewrite(rewriter *r, uint32_t count, const ir_id *from, const ir_id *to, uint32_t n, const ir_id *term,
                    ir_id *out)
{
    ir_program *p = r->p;
    opt_ids ids = {0};
    opt_reach(p, r->arena, n, term, &ids);
    if (ids.n && (ids.at[ids.n - 1] - ids.at[0]) / 8 <= ids.n) {
        r->first = ids.at[0];
        r->ids = ids.at[ids.n - 1] - ids.at[0] + 1;
        r->table = arena_array(r->arena, ir_id, r->ids);
    }
    for (uint32_t i = 0; i < count; i++)
        map(r, from[i], to[i]);
    for (uint32_t i = ids.n; i-- > 0;) /* outer loops first: their variables are older than those inside */
        if (ir_at(p, ids.at[i])->kind == IR_LOOP)
            freshen(r, ir_at(p, ids.at[i])->u.loop);
    for (uint32_t i = 0; i < ids.n; i++) {
        ir_id id = ids.at[i];
        if (is_mapped(r, id))
            continue;
        ir_id other = rebuild(r, id);
        if (other != id)
            map(r, id, other);
    }
    for (uint32_t i = 0; i < n; i++)
        out[i] = placed(r, opt_slot_at(&term[i]), 0, term[i]);
    if (r->table)
        arena_release(r->arena, r->table, r->ids * sizeof(*r->table));
    map64_free(r->arena, &r->to);
    vec_free(r->arena, &ids);
}

void opt_rewrite(ir_program *p, arena *a, uint32_t count, const ir_id *from, const ir_id *to, opt_read_hook hook,
                 void *env, uint32_t n, const ir_id *term, ir_id *out)
{
    rewriter r = {.p = p, .arena = a, .hook = hook, .env = env};
    rewrite(&r, count, from, to, n, term, out);
}

void opt_rewrite_ops(ir_program *p, arena *a, opt_op_hook op_hook, opt_read_hook read_hook, void *env, uint32_t n,
                     const ir_id *term, ir_id *out)
{
    rewriter r = {.p = p, .arena = a, .hook = read_hook, .op_hook = op_hook, .env = env};
    rewrite(&r, 0, NULL, NULL, n, term, out);
}

void opt_rewrite_slots(ir_program *p, arena *a, opt_slot_hook slot_hook, opt_read_hook read_hook, void *env, uint32_t n,
                       const ir_id *term, ir_id *out)
{
    rewriter r = {.p = p, .arena = a, .hook = read_hook, .slot_hook = slot_hook, .env = env};
    rewrite(&r, 0, NULL, NULL, n, term, out);
}
