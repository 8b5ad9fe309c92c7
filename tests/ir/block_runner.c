/* Runs scheduled code block by block. Recursive: test programs are not deep. */
#include "block_runner.h"

void block_run_init(block_run *r, const ir_program *p, arena *a, const scalar_world *world)
{
    *r = (block_run){.p = p, .world = world};
    r->value = arena_array(a, ir_bits, p->node.n);
    r->known = arena_array(a, bool, p->node.n);
    r->final = arena_array(a, ir_bits *, p->node.n);
}

void block_run_set(block_run *r, ir_id variable, ir_bits value)
{
    r->value[variable] = value;
    r->known[variable] = true;
}

static run_outcome operand(block_run *r, ir_id term, ir_bits *out)
{
    const ir_node *node = ir_at(r->p, term);
    ir_id needed = node->kind == IR_PROJ ? ir_args(r->p, term)[0] : term;
    int64_t extent = 0;
    if (node->kind == IR_CONST) {
        *out = node->u.literal;
        return RUN_GOOD;
    }
    if (node->kind == IR_DIM) {
        bool good = r->world->dim(r->world->env, (uint32_t)node->u.literal, &extent);
        *out = ir_bits_i64(T_I64, extent);
        return good ? RUN_GOOD : RUN_FAILS;
    }
    if (!r->known[needed]) {
        r->missing = needed;
        return RUN_BROKEN;
    }
    *out = node->kind == IR_PROJ ? r->final[needed][node->u.literal] : r->value[term];
    return RUN_GOOD;
}

static run_outcome operands(block_run *r, uint32_t n, const ir_id *term, ir_bits *out)
{
    for (uint32_t k = 0; k < n; k++) {
        run_outcome got = operand(r, term[k], &out[k]);
        if (got != RUN_GOOD)
            return got;
    }
    return RUN_GOOD;
}

static void forget(block_run *r, const ir_block *code)
{
    for (uint32_t k = 0; k < code->step.n; k++) {
        const ir_step *s = &code->step.at[k];
        r->known[s->term] = false;
        for (uint32_t c = 0; s->cond && c < s->group; c++)
            r->known[s->cond[c]] = false;
    }
}

static run_outcome run_block(block_run *r, arena *a, const ir_block *code);

static run_outcome run_branch(block_run *r, arena *a, const ir_step *s)
{
    ir_bits test = 0;
    run_outcome got = operand(r, ir_args(r->p, s->term)[0], &test);
    const ir_block *chosen = test ? s->then : s->orelse;
    if (got == RUN_GOOD)
        got = run_block(r, a, chosen);
    for (uint32_t c = 0; got == RUN_GOOD && c < s->group; c++) {
        if (ir_args(r->p, s->cond[c])[0] != ir_args(r->p, s->term)[0])
            return RUN_BROKEN;
        got = operand(r, ir_args(r->p, s->cond[c])[test ? 1 : 2], &r->value[s->cond[c]]);
    }
    forget(r, chosen);
    for (uint32_t c = 0; c < s->group; c++)
        r->known[s->cond[c]] = true;
    return got;
}

static run_outcome run_select(block_run *r, ir_id term)
{
    ir_bits in[3] = {0};
    run_outcome got = operands(r, 3, ir_args(r->p, term), in);
    r->value[term] = in[0] ? in[1] : in[2];
    return got;
}

static run_outcome run_round(block_run *r, arena *a, const ir_step *s, bool *goes_on)
{
    const ir_loop *loop = ir_at(r->p, s->term)->u.loop;
    run_outcome got = RUN_GOOD;
    ir_bits test = *goes_on;
    if (s->test) {
        got = run_block(r, a, s->test);
        if (got == RUN_GOOD)
            got = operand(r, loop->cond, &test);
    }
    *goes_on = test != 0;
    if (got == RUN_GOOD && *goes_on) {
        got = run_block(r, a, s->body);
        if (got == RUN_GOOD)
            got = operands(r, loop->states, loop->next, r->final[s->term]);
        forget(r, s->body);
    }
    if (s->test)
        forget(r, s->test);
    return got;
}

static run_outcome run_loop(block_run *r, arena *a, const ir_step *s)
{
    const ir_loop *loop = ir_at(r->p, s->term)->u.loop;
    ir_bits count = 0;
    r->final[s->term] = arena_array(a, ir_bits, loop->states + 1);
    run_outcome got = operands(r, loop->states, loop->init, r->final[s->term]);
    if (got == RUN_GOOD && !loop->cond)
        got = operand(r, loop->count, &count);
    bool goes_on = true;
    for (int64_t round = 0; got == RUN_GOOD && goes_on; round++) {
        for (uint32_t k = 0; k < loop->states; k++)
            block_run_set(r, loop->var[k], r->final[s->term][k]);
        if (!loop->cond) {
            block_run_set(r, loop->index, ir_bits_i64(T_I64, round));
            goes_on = round < ir_i64_bits(T_I64, count);
        }
        if (goes_on)
            got = run_round(r, a, s, &goes_on);
    }
    for (uint32_t k = 0; k < loop->states; k++)
        r->known[loop->var[k]] = false;
    if (!loop->cond)
        r->known[loop->index] = false;
    return got;
}

static run_outcome run_step(block_run *r, arena *a, const ir_step *s)
{
    const ir_node *node = ir_at(r->p, s->term);
    ir_bits in[IR_MAX_RANK] = {0};
    if (node->kind == IR_COND)
        return s->then ? run_branch(r, a, s) : run_select(r, s->term);
    if (node->kind == IR_LOOP)
        return run_loop(r, a, s);
    if (node->kind == IR_CALL) /* of no code: the fallback, which alone is scheduled */
        return operand(r, ir_args(r->p, s->term)[0], &r->value[s->term]);
    run_outcome got = operands(r, node->n, ir_args(r->p, s->term), in);
    if (got != RUN_GOOD)
        return got;
    ir_type type = node->n ? (ir_type)ir_at(r->p, ir_args(r->p, s->term)[0])->type : T_I64;
    if (node->kind == IR_OP)
        return ir_op_apply((ir_op)node->op, type, (ir_type)node->type, in, &r->value[s->term]) ? RUN_GOOD : RUN_FAILS;
    if (node->kind != IR_READ)
        return RUN_BROKEN;
    int64_t index[IR_MAX_RANK] = {0};
    scalar_failure failure;
    for (uint32_t k = 0; k < node->n; k++)
        index[k] = ir_i64_bits(T_I64, in[k]);
    return r->world->read(r->world->env, node, index, &r->value[s->term], &failure) ? RUN_GOOD : RUN_FAILS;
}

static run_outcome run_block(block_run *r, arena *a, const ir_block *code)
{
    for (uint32_t k = 0; k < code->step.n; k++) {
        const ir_step *s = &code->step.at[k];
        r->steps++;
        if (r->known[s->term])
            return RUN_BROKEN; /* computed already: no sharing */
        run_outcome got = run_step(r, a, s);
        if (got != RUN_GOOD)
            return got;
        r->known[s->term] = true;
    }
    return RUN_GOOD;
}

run_outcome block_run_results(block_run *r, arena *a, const ir_block *code, uint32_t n, const ir_id *result,
                              ir_bits *out)
{
    run_outcome got = run_block(r, a, code);
    return got == RUN_GOOD ? operands(r, n, result, out) : got;
}

/* --- counting --- */

static const ir_block *const *children(const ir_step *s, const ir_block *child[4])
{
    child[0] = s->then;
    child[1] = s->orelse;
    child[2] = s->test;
    child[3] = s->body;
    return child;
}

size_t block_count_steps(const ir_block *code)
{
    size_t n = code->step.n;
    for (uint32_t k = 0; k < code->step.n; k++) {
        const ir_block *child[4];
        for (unsigned c = 0; c < 4; c++)
            n += children(&code->step.at[k], child)[c] ? block_count_steps(child[c]) : 0;
    }
    return n;
}

static bool decides(const ir_step *s, ir_id term)
{
    for (uint32_t c = 0; s->cond && c < s->group; c++)
        if (s->cond[c] == term)
            return true;
    return s->term == term;
}

size_t block_count_term(const ir_block *code, ir_id term)
{
    size_t n = 0;
    for (uint32_t k = 0; k < code->step.n; k++) {
        const ir_block *child[4];
        n += decides(&code->step.at[k], term);
        for (unsigned c = 0; c < 4; c++)
            n += children(&code->step.at[k], child)[c] ? block_count_term(child[c], term) : 0;
    }
    return n;
}

const ir_step *block_find(const ir_block *code, ir_id term)
{
    for (uint32_t k = 0; k < code->step.n; k++)
        if (decides(&code->step.at[k], term))
            return &code->step.at[k];
    return NULL;
}
