/* Scalar functions: made, applied to arguments, substituted into, tested for commutativity, checked to be closed. */
#include "ir/intern.h"

ir_fn *ir_fn_new(ir_program *p, uint32_t params, const ir_type *type)
{
    ir_fn *fn = arena_new(p->arena, *fn);
    fn->params = params;
    fn->param = arena_array(p->arena, ir_id, params + 1);
    for (uint32_t i = 0; i < params; i++)
        fn->param[i] = ir_var(p, type[i]);
    return fn;
}

ir_fn *ir_fn_close(ir_program *p, ir_fn *fn, uint32_t results, const ir_id *result)
{
    if (!fn)
        return NULL;
    for (uint32_t i = 0; i < results; i++) {
        if (!result[i] && !p->error.n)
            ir_fail(p, 0, "a function without result; it gives one or more");
        if (!result[i] || !ir_expect_scalar(p, 0, "a function's result", result[i]))
            return NULL;
    }
    fn->results = results;
    fn->result = arena_copy(p->arena, result, results * sizeof(ir_id));
    return fn;
}

static void bind(ir_program *p, uint32_t n, const ir_id *var)
{
    for (uint32_t i = 0; i < n; i++)
        if (ir_reached(p, var[i]))
            p->state->slot.at[var[i]] = 1;
}

ir_id ir_free_variable(ir_program *p, const ir_fn *fn)
{
    ir_ids list = {0};
    ir_reach(p, fn->results, fn->result, 1, &list);
    for (uint32_t k = 0; k < list.n; k++)
        p->state->slot.at[list.at[k]] = 0;
    bind(p, fn->params, fn->param);
    for (uint32_t k = 0; k < list.n; k++) {
        if (ir_at(p, list.at[k])->kind != IR_LOOP)
            continue;
        const ir_loop *loop = ir_at(p, list.at[k])->u.loop;
        bind(p, loop->states, loop->var);
        bind(p, loop->count ? 1 : 0, &loop->index);
    }
    ir_id found = 0;
    for (uint32_t k = 0; k < list.n && !found; k++)
        if (ir_at(p, list.at[k])->kind == IR_VAR && !p->state->slot.at[list.at[k]])
            found = list.at[k];
    vec_free(p->arena, &list);
    return found;
}

/* --- substitution --- */

static ir_id replaced(const ir_program *p, ir_id id)
{
    const ir_state *s = p->state;
    return s->stamp.at[id] == s->substitution ? s->to.at[id] : id;
}

static void replace(ir_program *p, ir_id id, ir_id by)
{
    ir_state *s = p->state;
    s->stamp.at[id] = s->substitution;
    s->to.at[id] = by;
}

/* Does a node have to be made anew? slot 1 of the walk: yes. */
typedef struct dependence {
    const ir_program *p;
    bool found;
} dependence;

static void see(void *env, ir_id id)
{
    dependence *d = env;
    d->found |= ir_reached(d->p, id) && d->p->state->slot.at[id];
}

static bool renew_variable(ir_program *p, ir_id var)
{
    if (!ir_reached(p, var) || p->state->slot.at[var])
        return false;
    p->state->slot.at[var] = 1;
    return true;
}

/* Marks what depends on the replaced variables, in one pass upwards. A loop that does gets fresh variables, on which
 * more may depend: passes are repeated until no loop is added, at most once a nesting level. */
static bool mark_pass(ir_program *p, const ir_ids *list)
{
    ir_state *s = p->state;
    bool more = false;
    for (uint32_t k = 0; k < list->n; k++) {
        ir_id id = list->at[k];
        if (!s->slot.at[id]) {
            dependence d = {p, false};
            ir_each_operand(p, id, see, &d);
            s->slot.at[id] = d.found;
        }
        if (!s->slot.at[id] || ir_at(p, id)->kind != IR_LOOP)
            continue;
        const ir_loop *loop = ir_at(p, id)->u.loop;
        for (uint32_t i = 0; i < loop->states; i++)
            more |= renew_variable(p, loop->var[i]);
        if (loop->count)
            more |= renew_variable(p, loop->index);
    }
    return more;
}

static ir_id rebuild_loop(ir_program *p, ir_id id)
{
    ir_node node = *ir_at(p, id);
    ir_loop loop = *node.u.loop;
    ir_id *part[3] = {loop.init, loop.var, loop.next};
    for (unsigned k = 0; k < 3; k++) {
        ir_id *copy = arena_array(p->arena, ir_id, loop.states + 1);
        for (uint32_t i = 0; i < loop.states; i++)
            copy[i] = replaced(p, part[k][i]);
        part[k] = copy;
    }
    loop.init = part[0];
    loop.var = part[1];
    loop.next = part[2];
    loop.cond = loop.cond ? replaced(p, loop.cond) : 0;
    loop.count = loop.count ? replaced(p, loop.count) : 0;
    loop.index = loop.index ? replaced(p, loop.index) : 0;
    return ir_loop_new(p, node.site, &loop);
}

static ir_id rebuild(ir_program *p, ir_id id)
{
    ir_node n = *ir_at(p, id);
    if (n.kind == IR_LOOP)
        return rebuild_loop(p, id);
    ir_id few[3], *args = n.n <= 3 ? few : arena_array(p->arena, *args, n.n);
    for (uint32_t i = 0; i < n.n; i++)
        args[i] = replaced(p, p->arg.at[n.args + i]);
    switch ((ir_kind)n.kind) {
    case IR_OP:
        if (ir_ops[n.op].signature == SIGNATURE_CONVERT)
            return ir_convert(p, n.site, (ir_op)n.op, (ir_type)n.type, args[0]);
        if (n.n == 3)
            return ir_op3(p, n.site, (ir_op)n.op, args[0], args[1], args[2]);
        return n.n == 2 ? ir_op2(p, n.site, (ir_op)n.op, args[0], args[1]) : ir_op1(p, n.site, (ir_op)n.op, args[0]);
    case IR_COND:
        return ir_cond(p, n.site, args[0], args[1], args[2]);
    case IR_PROJ:
        return ir_proj(p, args[0], (uint32_t)n.u.literal);
    case IR_READ:
        return ir_read(p, n.site, n.array, (uint32_t)n.u.literal, n.flags, n.n, args);
    case IR_WITHIN:
        return ir_within(p, n.site, n.array, ir_within_dimension(&n), args[0], n.n > 1 ? args[1] : 0);
    case IR_CALL:
        return ir_call(p, n.site, n.u.code, n.n, args);
    case IR_AFTER:
        return ir_after(p, args[0], n.n - 1, args + 1);
    default:
        return id;
    }
}

/* Fresh variables for the loops that are copied, from the outermost in: the scope of a term is its largest variable, so
 * variables must be numbered above those of the loops around them. A loop has a larger id than those inside it. */
static void renew_loops(ir_program *p, const ir_ids *list)
{
    ir_state *s = p->state;
    for (uint32_t k = list->n; k-- > 0;) {
        ir_id id = list->at[k];
        if (ir_at(p, id)->kind != IR_LOOP || !s->slot.at[id])
            continue;
        const ir_loop *loop = ir_at(p, id)->u.loop;
        for (uint32_t i = 0; i < loop->states; i++)
            replace(p, loop->var[i], ir_var(p, (ir_type)ir_at(p, loop->var[i])->type));
        if (loop->count)
            replace(p, loop->index, ir_var(p, T_I64));
    }
}

/* `all`: what depends on nothing replaced is made anew, too: simplified, if the program was plain when it was made. */
static void substitute(ir_program *p, uint32_t count, const ir_id *from, const ir_id *to, uint32_t n, ir_id *term,
                       bool all)
{
    ir_state *s = p->state;
    ir_ids list = {0}, copied = {0};
    ir_id least = all ? 0 : UINT32_MAX;
    for (uint32_t i = 0; i < count; i++)
        least = ir_at(p, from[i])->scope < least ? ir_at(p, from[i])->scope : least;
    ir_reach(p, n, term, least, &list);
    vec_resize(p->arena, &s->to, p->node.n);
    vec_resize(p->arena, &s->stamp, p->node.n);
    s->substitution++;
    for (uint32_t k = 0; k < list.n; k++)
        s->slot.at[list.at[k]] = all;
    for (uint32_t i = 0; i < count; i++)
        if (ir_reached(p, from[i]) && (all || from[i] != to[i])) {
            s->slot.at[from[i]] = 1;
            replace(p, from[i], to[i]);
        }
    while (mark_pass(p, &list)) {
    }
    for (uint32_t k = 0; k < list.n; k++)
        if (s->slot.at[list.at[k]])
            vec_push(p->arena, &copied, list.at[k]);
    renew_loops(p, &copied);
    for (uint32_t k = 0; k < copied.n; k++)
        if (s->stamp.at[copied.at[k]] != s->substitution)
            replace(p, copied.at[k], rebuild(p, copied.at[k]));
    for (uint32_t i = 0; i < n; i++)
        term[i] = term[i] < s->stamp.n ? replaced(p, term[i]) : term[i];
    vec_free(p->arena, &copied);
    vec_free(p->arena, &list);
}

void ir_substitute(ir_program *p, uint32_t count, const ir_id *from, const ir_id *to, uint32_t n, ir_id *term)
{
    if (count)
        substitute(p, count, from, to, n, term, false);
}

void ir_instantiate(ir_program *p, const ir_fn *fn, const ir_id *argument, ir_id *out)
{
    memcpy(out, fn->result, fn->results * sizeof(ir_id));
    ir_substitute(p, fn->params, fn->param, argument, fn->results, out);
}

/* Whether terms were simplified when they were built must not matter: folds that commute have another combination
 * tree. */
bool ir_commutes(ir_program *p, const ir_fn *fn)
{
    uint32_t k = fn->results;
    bool plain = p->plain;
    if (fn->params != 2 * k)
        return false;
    ir_id *result = arena_copy(p->arena, fn->result, k * sizeof *result);
    ir_id *other = arena_array(p->arena, *other, 3 * k), *swapped = other + k;
    for (uint32_t i = 0; i < k; i++) {
        swapped[i] = fn->param[k + i];
        swapped[k + i] = fn->param[i];
        if (ir_at(p, swapped[i])->type != ir_at(p, swapped[k + i])->type)
            return false;
    }
    p->plain = false;
    if (plain)
        substitute(p, fn->params, fn->param, fn->param, k, result, true);
    memcpy(other, result, k * sizeof *other);
    ir_substitute(p, fn->params, fn->param, swapped, k, other);
    p->plain = plain;
    return memcmp(result, other, k * sizeof *other) == 0;
}
