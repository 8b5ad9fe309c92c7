/* Printing, first half: reaches what is to be printed and decides which terms get names and lines of their own: those
 * used more than once, loops, and parts of expressions that would nest too deep. So the text is linear in the term. */
#include "ir/printer.h"
#include <stdlib.h>

void printer_init(printer *pr, const ir_program *p, text *out)
{
    *pr = (printer){.p = p, .arena = out->arena, .out = out};
    block program = {0};
    vec_push(pr->arena, &pr->block, program);
}

item *printer_item(printer *pr, ir_id id)
{
    uint32_t at = map64_get(&pr->index, id);
    return at ? &pr->item.at[at - 1] : NULL;
}

uint32_t printer_fn_block(printer *pr, const ir_fn *fn)
{
    return map64_get(&pr->fn, (uint64_t)(uintptr_t)fn) - 1;
}

/* --- reaching: pr->item is also the queue --- */

static void reach(void *env, ir_id id)
{
    printer *pr = env;
    if (!id)
        return;
    item *it = printer_item(pr, id);
    if (it) {
        it->uses++;
        return;
    }
    item fresh = {.id = id, .uses = 1};
    vec_push(pr->arena, &pr->item, fresh);
    map64_put(pr->arena, &pr->index, id, pr->item.n);
}

static void reach_all(printer *pr, uint32_t n, const ir_id *id)
{
    for (uint32_t i = 0; id && i < n; i++)
        reach(pr, id[i]);
}

static void reach_fn(printer *pr, const ir_fn *fn)
{
    uint64_t key = (uint64_t)(uintptr_t)fn;
    if (!fn || map64_get(&pr->fn, key))
        return; /* a function used by two operations is one */
    block b = {.fn = fn};
    vec_push(pr->arena, &pr->block, b);
    map64_put(pr->arena, &pr->fn, key, pr->block.n);
    reach_all(pr, fn->params, fn->param);
    reach_all(pr, fn->results, fn->result);
}

bool printer_has_shape(ir_kind kind)
{
    return kind == IR_INPUT || kind == IR_GENERATE || kind == IR_BACKPERMUTE || kind == IR_RESHAPE || kind == IR_PACK ||
           kind == IR_PART || kind == IR_SEGMENT_OF;
}

static void reach_array(printer *pr, ir_id id)
{
    const ir_array *a = ir_info(pr->p, id);
    if (printer_has_shape((ir_kind)ir_at(pr->p, id)->kind))
        reach_all(pr, a->rank, a->shape);
    reach_all(pr, a->inputs, a->input);
    reach_fn(pr, a->fn);
    reach_all(pr, a->components, a->seed);
    if (a->control)
        reach_all(pr, a->control->values, a->control->value);
    for (uint32_t i = 0; a->stencil && i < a->inputs; i++) {
        reach_all(pr, ir_info(pr->p, a->input[i])->components, a->stencil[i].constant);
        reach_fn(pr, a->stencil[i].function);
    }
}

static void reach_program(printer *pr)
{
    const ir_program *p = pr->p;
    reach_all(pr, p->input.n, p->input.at);
    reach_all(pr, p->output.n, p->output.at);
    for (uint32_t i = 0; i < p->check.n; i++) {
        reach(pr, p->check.at[i].left);
        reach(pr, p->check.at[i].right);
    }
}

static int by_id(const void *a, const void *b)
{
    const item *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

static void sort_items(printer *pr)
{
    if (pr->item.n)
        qsort(pr->item.at, pr->item.n, sizeof *pr->item.at, by_id);
    for (uint32_t k = 0; k < pr->item.n; k++)
        map64_put(pr->arena, &pr->index, pr->item.at[k].id, k + 1);
}

/* --- lines and blocks --- */

typedef struct tallest {
    printer *pr;
    unsigned height;
    bool small;
} tallest;

static void measure(void *env, ir_id id)
{
    tallest *t = env;
    const item *it = printer_item(t->pr, id);
    ir_kind kind = (ir_kind)ir_at(t->pr->p, id)->kind;
    unsigned height = it->line ? 0 : it->height;
    t->height = height > t->height ? height : t->height;
    t->small &= it->small || kind == IR_DIM || kind == IR_CONST;
}

static void decide(printer *pr, item *it)
{
    const ir_node *n = ir_at(pr->p, it->id);
    if (n->kind >= IR_INPUT || n->kind == IR_LOOP) {
        it->line = true;
        return;
    }
    if (n->kind == IR_CONST || n->kind == IR_VAR || n->kind == IR_DIM || n->kind == IR_PROJ)
        return;
    tallest t = {pr, 0, n->kind == IR_OP && !n->scope};
    ir_each_operand(pr->p, it->id, measure, &t);
    it->small = t.small && t.height < 3;
    it->height = (uint8_t)(t.height + 1);
    it->line = !it->small && (it->uses > 1 || it->height >= HIGHEST);
}

static void bind(printer *pr, uint32_t b, uint32_t n, const ir_id *var)
{
    for (uint32_t i = 0; i < n; i++) {
        item *it = printer_item(pr, var[i]);
        if (it)
            it->block = b;
    }
}

static void make_loop_block(printer *pr, ir_id id)
{
    block b = {.loop = ir_at(pr->p, id)->u.loop};
    uint32_t at = pr->block.n;
    vec_push(pr->arena, &pr->block, b);
    bind(pr, at, b.loop->states, b.loop->var);
    bind(pr, at, b.loop->count ? 1 : 0, &b.loop->index);
    map64_put(pr->arena, &pr->fn, (uint64_t)(uintptr_t)b.loop, at + 1);
}

void printer_collect(printer *pr, uint32_t n, const ir_id *root, bool whole)
{
    const ir_program *p = pr->p;
    reach_all(pr, n, root);
    if (whole)
        reach_program(pr);
    for (uint32_t k = 0; k < pr->item.n; k++) {
        ir_id id = pr->item.at[k].id;
        if (ir_is_array(p, id) && whole)
            reach_array(pr, id);
        if (ir_is_array(p, id))
            continue;
        ir_each_operand(p, id, reach, pr);
        if (ir_at(p, id)->kind == IR_READ)
            reach(pr, ir_at(p, id)->array);
    }
    sort_items(pr);
    for (uint32_t b = 1; b < pr->block.n; b++)
        bind(pr, b, pr->block.at[b].fn->params, pr->block.at[b].fn->param);
    for (uint32_t k = 0; k < pr->item.n; k++) {
        item *it = &pr->item.at[k];
        decide(pr, it);
        if (ir_at(p, it->id)->kind == IR_LOOP)
            make_loop_block(pr, it->id);
    }
    for (uint32_t k = 0; k < pr->item.n; k++) {
        item *it = &pr->item.at[k];
        if (!it->line || (!whole && ir_is_array(p, it->id)))
            continue;
        const item *binder = ir_at(p, it->id)->scope ? printer_item(pr, ir_at(p, it->id)->scope) : NULL;
        it->block = binder ? binder->block : 0;
        vec_push(pr->arena, &pr->block.at[it->block].line, k);
    }
}
