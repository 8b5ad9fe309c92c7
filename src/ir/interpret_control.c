/* Controls in the reference interpreter: a region is a program like any other, run on the values that come in. */
#include "ir/interpreter.h"

#include <inttypes.h>

typedef struct controlled {
    interpreter *in;
    ir_id id;
    const ir_control *c;
    const function *values;
    operation *state; /* loops: of the round to come */
} controlled;

/* Runs a region; *out gets its results, of which there are so many. */
static bool run_region(const controlled *k, uint32_t number, int64_t round, uint32_t results, operation *out)
{
    interpreter *in = k->in;
    const ir_region *r = &k->c->region[number];
    const ir_program *q = r->program;
    arena *a = in->arena;
    interpret_call_of call = {.in = in, .dim = arena_array(a, int64_t, q->dim.n + 1)};
    call.known = arena_alloc(a, q->dim.n + 1);
    call.input = arena_array(a, ir_value, q->input.n + 1);
    call.missing = arena_array(a, bool **, q->input.n + 1);
    call.output = arena_array(a, operation, q->output.n + 1);
    for (uint32_t i = 0; i < q->input.n; i++) {
        const operation *from =
            i < k->c->states ? &k->state[i] : in->operation[ir_info(in->p, k->id)->input[r->source[i]]];
        call.input[i] = from->value;
        call.missing[i] = from->missing;
    }
    for (uint32_t i = 0; i < r->values; i++) {
        if (k->values->failed[r->value[i]])
            return false;
        call.dim[r->dim[i]] = ir_i64_bits(T_I64, k->values->out[r->value[i]]);
        call.known[r->dim[i]] = true;
    }
    if (r->index) {
        call.dim[r->index - 1] = round;
        call.known[r->index - 1] = true;
    }
    if (!interpret_program(q, &call))
        return false;
    for (uint32_t i = 0; i < results; i++) {
        const uint32_t at = r->result[i], input = at & ~(uint32_t)IR_PASSED;
        out[i] =
            at & IR_PASSED ? (operation){.value = call.input[input], .missing = call.missing[input]} : call.output[at];
    }
    return true;
}

/* The only element of an array of bool; *good: it has a value. */
static bool holds(const controlled *k, const operation *flag, bool *good)
{
    *good = !interpret_missing(flag, 0, 0);
    if (!*good)
        k->in->ends = true; /* what decides has failed */
    return *good && interpret_load(&flag->value, 0, 0);
}

static bool run_while(controlled *k)
{
    const uint32_t n = k->c->parts;
    operation *next = arena_array(k->in->arena, *next, n + 1);
    bool good = run_region(k, 0, 0, 1, next), more = good && holds(k, &next[0], &good);
    while (good && more) {
        good = run_region(k, 1, 0, n + 1, next);
        for (uint32_t i = 0; i < n && good; i++)
            k->state[i] = next[i];
        more = good && holds(k, &next[n], &good);
    }
    return good;
}

static bool run_repeat(controlled *k)
{
    const uint32_t n = k->c->parts;
    operation *next = arena_array(k->in->arena, *next, n + 1);
    const int64_t count = ir_i64_bits(T_I64, k->values->out[0]);
    for (int64_t round = 0; round < count; round++) {
        if (!run_region(k, 0, round, n, next))
            return false;
        for (uint32_t i = 0; i < n; i++)
            k->state[i] = next[i];
    }
    return true;
}

bool interpret_control(interpreter *in, ir_id id)
{
    operation *op = in->operation[id];
    const ir_array *info = ir_info(in->p, id);
    const ir_control *c = info->control;
    controlled k = {in, id, c, &op->seed, NULL};
    if (c->values && !interpret_call(in, &op->seed, ir_at(in->p, id)->site, 0)) {
        if (!in->faults)
            return false;
        if (c->form != IR_WHILE && c->form != IR_FOREIGN && op->seed.failed[0]) { /* what decides */
            in->ends = true;
            return false;
        }
    }
    k.state = op->part = arena_array(in->arena, *op->part, c->parts + 1);
    for (uint32_t i = 0; i < c->states; i++) {
        const operation *from = in->operation[info->input[i]];
        k.state[i] = (operation){.value = from->value, .missing = from->missing};
    }
    if (c->form == IR_FOREIGN)
        return run_region(&k, 0, 0, c->parts, op->part);
    if (c->form == IR_CHOICE)
        return run_region(&k, op->seed.out[0] ? 0 : 1, 0, c->parts, op->part);
    return c->form == IR_WHILE ? run_while(&k) : run_repeat(&k);
}
