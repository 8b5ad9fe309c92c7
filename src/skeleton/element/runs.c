/* Runs of dimensions whose indices are only ever used side by side, to read arrays that have the same extents there. */
#include "skeleton/element/runs.h"

typedef struct joints {
    const ir_program *p;
    const sk_cluster *c;
    const sk_index *at;
    bool joined[IR_MAX_RANK]; /* with the next dimension */
    bool used[IR_MAX_RANK];
} joints;

static void part(joints *j, unsigned d)
{
    j->joined[d] = false;
    if (d)
        j->joined[d - 1] = false;
}

static void use_alone(joints *j, ir_id operand)
{
    unsigned d = sk_component(j->at, operand);
    if (!d)
        return;
    j->used[d - 1] = true;
    part(j, d - 1);
}

static void use_all(joints *j, uint32_t n, const ir_id *operand)
{
    for (uint32_t i = 0; i < n; i++)
        use_alone(j, operand[i]);
}

static void use_in_loop(joints *j, const ir_loop *loop)
{
    use_all(j, loop->states, loop->init);
    use_all(j, loop->states, loop->next);
    use_alone(j, loop->cond);
    use_alone(j, loop->count);
}

/* Is index k of the read the one behind index k - 1, in the loop as in the array? */
static bool adjoins(const joints *j, const ir_node *read, const ir_id *index, uint32_t k)
{
    unsigned d = k && k < read->n ? sk_component(j->at, index[k]) : 0;
    return d > 1 && sk_component(j->at, index[k - 1]) == d - 1 &&
           ir_info(j->p, read->array)->shape[k] == j->c->loop->shape[d - 1];
}

static void use_in_read(joints *j, const ir_node *n)
{
    const ir_id *index = j->p->arg.at + n->args;
    for (uint32_t k = 0; k < n->n; k++) {
        unsigned d = sk_component(j->at, index[k]);
        if (!d--)
            continue;
        j->used[d] = true;
        bool inside = n->flags & IR_SAFE || ir_info(j->p, n->array)->shape[k] == j->c->loop->shape[d];
        if (n->flags & IR_LINEAR || !inside) {
            part(j, d);
            continue;
        }
        j->joined[d] &= adjoins(j, n, index, k + 1);
        if (d)
            j->joined[d - 1] &= adjoins(j, n, index, k);
    }
}

void sk_find_runs(ir_program *p, sk_cluster *c, arena *a, uint32_t n, const ir_id *term, const sk_index *at)
{
    joints j = {.p = p, .c = c, .at = at};
    opt_ids ids = {0};
    for (unsigned d = 0; d + 1 < c->loop->rank; d++)
        j.joined[d] = true;
    opt_reach(p, a, n, term, &ids);
    for (uint32_t i = 0; i < ids.n; i++) {
        const ir_node *t = ir_at(p, ids.at[i]);
        if (t->kind == IR_READ)
            use_in_read(&j, t);
        else if (t->kind == IR_LOOP)
            use_in_loop(&j, t->u.loop);
        else
            use_all(&j, t->n, p->arg.at + t->args);
    }
    use_all(&j, n, term);
    for (unsigned d = 0, first = 0; d < c->loop->rank; d++) {
        c->run[d] = 0;
        c->run[first]++;
        c->used[first] |= j.used[d];
        c->uses_index |= j.used[d];
        if (!j.joined[d])
            first = d + 1;
    }
    for (unsigned d = 0; d < c->loop->rank; d++)
        c->inner = c->run[d] ? c->run[d] : c->inner;
    c->uses_index &= c->inner < c->loop->rank;
}

void sk_open_space(sk_lower *lw)
{
    const sk_cluster *c = lw->cluster;
    sk_space *s = &lw->space;
    bool found = c->inner > 0; /* else each dimension stands for itself */
    s->rank = c->loop->rank;
    for (unsigned d = 0; d < c->loop->rank; d++) {
        s->var[d] = lw->at.at[d];
        s->extent[d] = c->loop->shape[d];
        s->run[d] = found ? c->run[d] : 1;
        s->used[d] = !found || c->used[d];
    }
}

void sk_bind_run(sk_lower *lw, unsigned d, k_val index)
{
    if (lw->space.run[d] > 1)
        lw->space.position[d] = index;
    else
        sk_bind(lw, lw->space.var[d], index);
}

static const k_stmt *defined_by(const sk_lower *lw, k_val v, ir_op op)
{
    const k_value *x = &lw->b.k->value.at[v];
    const k_stmt *s = &lw->b.k->stmt.at[x->def];
    return x->kind == KV_RESULT && s->op == K_LET && s->sub == op ? s : NULL;
}

/* Is it 0 to extent - 1, the number of a thread or of a round? */
static bool counts_to(const sk_lower *lw, k_val v, k_val extent)
{
    const k_value *x = &lw->b.k->value.at[v];
    const k_stmt *s = &lw->b.k->stmt.at[x->def];
    return x->kind == KV_RESULT && s->op == K_FOR_ALL && s->in[0] == extent;
}

/* position = number * extent + rest: what is asked for. Of elements of rows that is plain to see. */
static void take_apart(sk_lower *lw, k_val position, k_val extent, k_val *number, k_val *rest)
{
    k_builder *b = &lw->b;
    const k_stmt *sum = defined_by(lw, position, OP_ADD);
    bool along = sum && counts_to(lw, sum->in[1], extent);
    const k_stmt *row = defined_by(lw, along ? sum->in[0] : position, OP_MUL);
    bool known = row && row->in[1] == extent;
    const k_val of_row = known ? row->in[0] : 0, of_sum = along ? sum->in[1] : 0;
    if (rest)
        *rest = !known ? k_let(b, OP_REM, position, extent, 0) : along ? of_sum : k_i64(b, 0);
    if (number)
        *number = known ? of_row : k_let(b, OP_QUOT, position, extent, 0);
}

/* The outermost of the dimensions whose index matters. */
static unsigned outermost_used(const sk_space *s, unsigned first, unsigned end)
{
    while (first < end && !(s->run[first] && s->used[first]))
        first++;
    return first;
}

/* Of the run that begins at dimension d; at least 1. */
static k_val extent_of_run(sk_lower *lw, unsigned d)
{
    return sk_max(lw, sk_product(lw, lw->space.run[d], lw->cluster->loop->shape + d), k_i64(&lw->b, 1));
}

void sk_bind_runs(sk_lower *lw, unsigned first, unsigned end, k_val position)
{
    const sk_space *s = &lw->space;
    unsigned outermost = outermost_used(s, first, end);
    for (unsigned d = end; d-- > outermost;) {
        if (!s->run[d])
            continue;
        if (d == first) {
            sk_bind_run(lw, d, position);
            break;
        }
        k_val number = position, rest = 0;
        take_apart(lw, position, extent_of_run(lw, d), d > outermost ? &number : NULL, s->used[d] ? &rest : NULL);
        if (s->used[d])
            sk_bind_run(lw, d, rest);
        position = number;
    }
}

void sk_open_columns(sk_lower *lw, const sk_index *at, unsigned first)
{
    if (first + 1u == at->rank)
        return;
    lw->space.rank = at->rank;
    for (unsigned d = 0; d < at->rank; d++) {
        lw->space.var[d] = at->at[d];
        lw->space.extent[d] = lw->cluster->loop->shape[d];
        if (d >= first)
            lw->space.run[d] = d == first ? (uint8_t)(at->rank - first) : 0;
        lw->space.used[d] |= d == first;
    }
}

void sk_bind_column(sk_lower *lw, const sk_index *at, unsigned first, k_val column, k_val index)
{
    if (first + 1u == at->rank) {
        sk_bind(lw, at->at[first], column);
        return;
    }
    const ir_id *shape = lw->cluster->loop->shape;
    k_val one = k_i64(&lw->b, 1);
    lw->space.position[first] = column;
    if (index)
        column = sk_sub(lw, column, sk_mul(lw, index, sk_product(lw, at->rank - 1u - first, shape + first + 1u)));
    for (unsigned d = at->rank - 1u; d > first; d--) {
        bool whole = index && d == first + 1u;
        sk_bind(lw, at->at[d], whole ? column : sk_take_digit(lw, &column, sk_max(lw, sk_closed(lw, shape[d]), one)));
    }
    sk_bind(lw, at->at[first], index ? index : column);
}

void sk_begin_odometer(sk_lower *lw, sk_odometer *o, unsigned first, unsigned end, k_val position)
{
    k_builder *b = &lw->b;
    unsigned outermost = outermost_used(&lw->space, first, end);
    unsigned runs = 0;
    for (unsigned d = outermost; d < end; d++)
        runs += lw->space.run[d] > 0;
    o->n = 0;
    if (runs < 2 && outermost == first)
        return;
    for (unsigned d = end; d-- > outermost;) {
        if (!lw->space.run[d])
            continue;
        k_val number = 0, index = position;
        o->dimension[o->n] = d;
        o->extent[o->n] = 0;
        if (d > first) {
            o->extent[o->n] = extent_of_run(lw, d);
            take_apart(lw, position, o->extent[o->n], &number, &index);
        }
        o->index[o->n++] = k_decl(b, index, "index");
        position = number;
    }
}

void sk_bind_odometer(sk_lower *lw, const sk_odometer *o)
{
    for (uint32_t i = 0; i < o->n; i++)
        if (lw->space.used[o->dimension[i]])
            sk_bind_run(lw, o->dimension[i], k_get(&lw->b, o->index[i]));
}

void sk_move_odometer(sk_lower *lw, const sk_odometer *o)
{
    k_builder *b = &lw->b;
    k_val carry = k_i64(b, 1), zero = k_i64(b, 0), one = carry;
    for (uint32_t i = 0; i < o->n; i++) {
        k_val next = sk_add(lw, k_get(b, o->index[i]), carry);
        if (!o->extent[i]) {
            k_set(b, o->index[i], next);
            break;
        }
        k_val wraps = k_let(b, OP_EQ, next, o->extent[i], 0);
        k_set(b, o->index[i], k_select(b, wraps, zero, next));
        carry = k_select(b, wraps, one, zero);
    }
}
