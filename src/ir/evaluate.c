/* Evaluates scalar terms: every term is a cell that has a value or not; a stack holds the cells being evaluated. A loop
 * clears the cells that depend on its variables before each iteration. */
#include "ir/evaluate.h"

#include <stdlib.h>

typedef enum { PHASE_START, PHASE_TEST, PHASE_NEXT } loop_phase;

typedef struct loop_run {
    uint32_t states, *var, index; /* cells; index NO_SLOT in a while loop */
    uint32_t inside, *cell;       /* cells that depend on its variables */
    loop_phase phase;
    uint32_t cursor; /* next operand to look at in this phase */
    int64_t round;
    ir_bits *final;
} loop_run;

typedef struct cell {
    ir_id id;
    uint32_t operands, *operand; /* cells; of a loop: init, next, then condition or count */
    loop_run *loop;
    ir_bits value;
    bool known, fixed; /* fixed: a literal, never cleared */
} cell;

struct evaluator {
    const ir_program *p;
    arena *arena;
    uint32_t cells, results;
    cell *cell; /* ascending ids */
    uint32_t *result, *stack;
    map64 slot; /* term -> cell + 1 */
};

/* --- preparation --- */

typedef VEC(ir_id) id_list;

static void find(arena *a, map64 *seen, id_list *list, ir_id term)
{
    if (map64_get(seen, term))
        return;
    map64_put(a, seen, term, 1);
    vec_push(a, list, term);
}

static void find_operands(arena *a, map64 *seen, id_list *list, const ir_program *p, ir_id term)
{
    const ir_node *node = ir_at(p, term);
    if (node->kind != IR_LOOP) {
        for (uint32_t k = 0; k < node->n; k++)
            find(a, seen, list, ir_args(p, term)[k]);
        return;
    }
    const ir_loop *loop = node->u.loop;
    for (uint32_t k = 0; k < loop->states; k++) {
        find(a, seen, list, loop->init[k]);
        find(a, seen, list, loop->var[k]);
        find(a, seen, list, loop->next[k]);
    }
    find(a, seen, list, loop->cond ? loop->cond : loop->count);
    if (!loop->cond)
        find(a, seen, list, loop->index);
}

static int by_id(const void *x, const void *y)
{
    ir_id a = *(const ir_id *)x, b = *(const ir_id *)y;
    return (a > b) - (a < b);
}

static void link_loop(evaluator *e, cell *c)
{
    const ir_loop *loop = ir_at(e->p, c->id)->u.loop;
    uint32_t n = loop->states;
    loop_run *run = arena_new(e->arena, *run);
    run->states = n;
    run->var = arena_array(e->arena, uint32_t, n);
    run->final = arena_array(e->arena, ir_bits, n);
    c->operands = 2 * n + 1;
    c->operand = arena_array(e->arena, uint32_t, c->operands);
    for (uint32_t k = 0; k < n; k++) {
        run->var[k] = evaluator_slot(e, loop->var[k]);
        c->operand[k] = evaluator_slot(e, loop->init[k]);
        c->operand[n + k] = evaluator_slot(e, loop->next[k]);
    }
    c->operand[2 * n] = evaluator_slot(e, loop->cond ? loop->cond : loop->count);
    run->index = loop->cond ? NO_SLOT : evaluator_slot(e, loop->index);
    c->loop = run;
}

static void link(evaluator *e, cell *c)
{
    const ir_node *node = ir_at(e->p, c->id);
    if (node->kind == IR_CONST) {
        c->value = node->u.literal;
        c->known = c->fixed = true;
    }
    if (node->kind == IR_LOOP) {
        link_loop(e, c);
        return;
    }
    c->operands = node->n;
    c->operand = arena_array(e->arena, uint32_t, node->n + 1);
    for (uint32_t k = 0; k < node->n; k++)
        c->operand[k] = evaluator_slot(e, ir_args(e->p, c->id)[k]);
}

/* Which cells depend on the variables of this loop? Operands stand before their users. */
static void find_inside(evaluator *e, uint32_t at, bool *depends)
{
    loop_run *run = e->cell[at].loop;
    memset(depends, 0, e->cells * sizeof(bool));
    for (uint32_t k = 0; k < run->states; k++)
        depends[run->var[k]] = true;
    if (run->index != NO_SLOT)
        depends[run->index] = true;
    VEC(uint32_t) inside = {0};
    for (uint32_t c = 0; c < at; c++) {
        if (depends[c])
            continue;
        for (uint32_t k = 0; k < e->cell[c].operands && !depends[c]; k++)
            depends[c] = depends[e->cell[c].operand[k]];
        if (depends[c])
            vec_push(e->arena, &inside, c);
    }
    run->inside = inside.n;
    run->cell = inside.at;
}

evaluator *evaluator_new(const ir_program *p, arena *a, uint32_t n, const ir_id *term)
{
    evaluator *e = arena_new(a, *e);
    *e = (evaluator){.p = p, .arena = a, .results = n};
    id_list list = {0};
    for (uint32_t k = 0; k < n; k++)
        find(a, &e->slot, &list, term[k]);
    for (uint32_t k = 0; k < list.n; k++)
        find_operands(a, &e->slot, &list, p, list.at[k]);
    if (list.n)
        qsort(list.at, list.n, sizeof(ir_id), by_id);

    e->cells = list.n;
    e->cell = arena_array(a, cell, list.n + 1);
    e->stack = arena_array(a, uint32_t, list.n + 1);
    e->result = arena_array(a, uint32_t, n + 1);
    for (uint32_t c = 0; c < list.n; c++) {
        e->cell[c].id = list.at[c];
        map64_put(a, &e->slot, list.at[c], c + 1);
    }
    for (uint32_t c = 0; c < list.n; c++)
        link(e, &e->cell[c]);
    bool *depends = NULL;
    for (uint32_t c = 0; c < list.n; c++) {
        if (!e->cell[c].loop)
            continue;
        if (!depends)
            depends = arena_array(a, bool, list.n);
        find_inside(e, c, depends);
    }
    for (uint32_t k = 0; k < n; k++)
        e->result[k] = evaluator_slot(e, term[k]);
    return e;
}

uint32_t evaluator_slot(const evaluator *e, ir_id variable)
{
    return map64_get(&e->slot, variable) - 1u; /* absent: 0 - 1 is NO_SLOT */
}

void evaluator_arrays(const evaluator *e, void (*visit)(void *env, ir_id array), void *env)
{
    for (uint32_t c = 0; c < e->cells; c++)
        if (ir_at(e->p, e->cell[c].id)->kind == IR_READ)
            visit(env, ir_at(e->p, e->cell[c].id)->array);
}

void evaluator_restart(evaluator *e)
{
    for (uint32_t c = 0; c < e->cells; c++) {
        e->cell[c].known = e->cell[c].fixed;
        if (e->cell[c].loop)
            e->cell[c].loop->phase = PHASE_START;
    }
}

void evaluator_set(evaluator *e, uint32_t slot, ir_bits value)
{
    if (slot == NO_SLOT)
        return;
    e->cell[slot].value = value;
    e->cell[slot].known = true;
}

/* --- evaluation. A step function looks at the cell on top of the stack: it names an operand to be evaluated first, or
 *     gives the cell its value, or fails. --- */

typedef enum { STEP_DONE, STEP_NEEDS, STEP_FAILS } step_outcome;

typedef struct step {
    evaluator *e;
    const scalar_world *world;
    uint32_t needs; /* STEP_NEEDS: cell */
    scalar_failure *failure;
} step;

static bool needs(step *s, uint32_t operand)
{
    s->needs = operand;
    return !s->e->cell[operand].known;
}

static ir_bits operand_value(const evaluator *e, const cell *c, uint32_t k)
{
    return e->cell[c->operand[k]].value;
}

static step_outcome evaluate_op(step *s, cell *c)
{
    ir_bits in[3] = {0};
    for (uint32_t k = 0; k < c->operands; k++) {
        if (needs(s, c->operand[k]))
            return STEP_NEEDS;
        in[k] = operand_value(s->e, c, k);
    }
    const ir_node *node = ir_at(s->e->p, c->id), *first = ir_at(s->e->p, s->e->cell[c->operand[0]].id);
    if (ir_ops[node->op].flags & OP_TRACES && s->world->trace)
        s->world->trace(s->world->env, node, in[0]);
    if (ir_op_apply((ir_op)node->op, (ir_type)first->type, (ir_type)node->type, in, &c->value))
        return STEP_DONE;
    uint32_t last = c->operands - 1;
    *s->failure = (scalar_failure){.mistake = FAILS_ARITHMETIC, .value = ir_i64_bits((ir_type)first->type, in[last])};
    return STEP_FAILS;
}

static step_outcome evaluate_read(step *s, cell *c)
{
    int64_t index[IR_MAX_RANK] = {0};
    for (uint32_t k = 0; k < c->operands; k++) {
        if (needs(s, c->operand[k]))
            return STEP_NEEDS;
        ir_type type = (ir_type)ir_at(s->e->p, s->e->cell[c->operand[k]].id)->type;
        index[k] = ir_i64_bits(type, operand_value(s->e, c, k));
    }
    bool good = s->world->read(s->world->env, ir_at(s->e->p, c->id), index, &c->value, s->failure);
    return good ? STEP_DONE : STEP_FAILS;
}

static step_outcome evaluate_cond(step *s, cell *c)
{
    if (needs(s, c->operand[0]))
        return STEP_NEEDS;
    uint32_t chosen = operand_value(s->e, c, 0) ? 1 : 2;
    if (needs(s, c->operand[chosen]))
        return STEP_NEEDS;
    c->value = operand_value(s->e, c, chosen);
    return STEP_DONE;
}

/* Begins a round with the values of operands `from`, from + 1, ... (the initial or the next state). */
static void begin_round(evaluator *e, cell *c, uint32_t from)
{
    loop_run *run = c->loop;
    for (uint32_t k = 0; k < run->states; k++)
        run->final[k] = operand_value(e, c, from + k); /* all before any is replaced */
    for (uint32_t k = 0; k < run->inside; k++)
        e->cell[run->cell[k]].known = false;
    for (uint32_t k = 0; k < run->states; k++)
        evaluator_set(e, run->var[k], run->final[k]);
    evaluator_set(e, run->index, ir_bits_i64(T_I64, run->round));
    run->phase = PHASE_TEST;
}

static step_outcome start_loop(step *s, cell *c)
{
    loop_run *run = c->loop;
    for (uint32_t k = 0; k < run->states; k++)
        if (needs(s, c->operand[k]))
            return STEP_NEEDS;
    if (run->index != NO_SLOT && needs(s, c->operand[2 * run->states]))
        return STEP_NEEDS;
    run->round = 0;
    begin_round(s->e, c, 0);
    return STEP_DONE;
}

static step_outcome test_loop(step *s, cell *c, bool *goes_on)
{
    loop_run *run = c->loop;
    uint32_t control = c->operand[2 * run->states];
    if (needs(s, control))
        return STEP_NEEDS;
    ir_bits value = s->e->cell[control].value;
    *goes_on = run->index == NO_SLOT ? value != 0 : run->round < ir_i64_bits(T_I64, value);
    run->phase = *goes_on ? PHASE_NEXT : PHASE_START;
    run->cursor = 0;
    return STEP_DONE;
}

static step_outcome end_round(step *s, cell *c)
{
    loop_run *run = c->loop;
    for (; run->cursor < run->states; run->cursor++)
        if (needs(s, c->operand[run->states + run->cursor]))
            return STEP_NEEDS;
    run->round++;
    begin_round(s->e, c, run->states);
    return STEP_DONE;
}

static step_outcome evaluate_loop(step *s, cell *c)
{
    bool goes_on = true;
    while (goes_on) {
        loop_phase phase = c->loop->phase;
        step_outcome outcome = phase == PHASE_START  ? start_loop(s, c)
                               : phase == PHASE_TEST ? test_loop(s, c, &goes_on)
                                                     : end_round(s, c);
        if (outcome != STEP_DONE)
            return outcome;
    }
    return STEP_DONE;
}

static step_outcome evaluate_proj(step *s, cell *c)
{
    if (needs(s, c->operand[0]))
        return STEP_NEEDS;
    c->value = s->e->cell[c->operand[0]].loop->final[ir_at(s->e->p, c->id)->u.literal];
    return STEP_DONE;
}

static step_outcome evaluate_call(step *s, cell *c)
{
    if (needs(s, c->operand[0])) /* the fallback */
        return STEP_NEEDS;
    c->value = s->e->cell[c->operand[0]].value;
    return STEP_DONE;
}

static step_outcome evaluate_dim(step *s, cell *c)
{
    int64_t value = 0;
    if (!s->world->dim(s->world->env, (uint32_t)ir_at(s->e->p, c->id)->u.literal, &value)) {
        *s->failure = (scalar_failure){.mistake = FAILS_EXTENT};
        return STEP_FAILS;
    }
    c->value = ir_bits_i64(T_I64, value);
    return STEP_DONE;
}

static step_outcome evaluate_cell(step *s, cell *c)
{
    switch (ir_at(s->e->p, c->id)->kind) {
    case IR_OP:
        return evaluate_op(s, c);
    case IR_COND:
        return evaluate_cond(s, c);
    case IR_READ:
        return evaluate_read(s, c);
    case IR_LOOP:
        return evaluate_loop(s, c);
    case IR_CALL:
        return evaluate_call(s, c);
    case IR_PROJ:
        return evaluate_proj(s, c);
    case IR_DIM:
        return evaluate_dim(s, c);
    default: /* a variable nobody has set: not a closed term */
        *s->failure = (scalar_failure){.mistake = FAILS_EXTENT};
        return STEP_FAILS;
    }
}

bool evaluator_value(evaluator *e, uint32_t term, const scalar_world *world, ir_bits *out, scalar_failure *failure)
{
    step s = {.e = e, .world = world, .failure = failure};
    uint32_t n = 0;
    if (!e->cell[e->result[term]].known)
        e->stack[n++] = e->result[term];
    while (n) {
        cell *c = &e->cell[e->stack[n - 1]];
        step_outcome outcome = evaluate_cell(&s, c);
        if (outcome == STEP_FAILS) {
            failure->term = c->id;
            return false;
        }
        if (outcome == STEP_NEEDS) {
            e->stack[n++] = s.needs;
            continue;
        }
        c->known = true;
        n--;
    }
    *out = e->cell[e->result[term]].value;
    return true;
}

bool evaluator_run(evaluator *e, const scalar_world *world, ir_bits *out, scalar_failure *failure)
{
    for (uint32_t r = 0; r < e->results; r++)
        if (!evaluator_value(e, r, world, &out[r], failure))
            return false;
    return true;
}
