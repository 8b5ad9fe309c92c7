/* Components that are read. Maps read those that their functions mention; all other operations take whole elements. */
#include "loop/wanted.h"

#include "opt/rewrite.h"

typedef struct finder {
    const ir_program *p;
    uint64_t *wanted;
    bool *seen;
    VEC(ir_id) open; /* arrays whose operands are still to be looked at */
} finder;

_Static_assert(IR_MAX_COMPONENTS <= 64, "a set of components is a number of 64 bits");

static void want(finder *f, ir_id array, uint64_t components)
{
    f->wanted[array] |= components;
    if (f->seen[array])
        return;
    f->seen[array] = true;
    vec_push(f->p->arena, &f->open, array);
}

static void want_reads(finder *f, const opt_ids *ids)
{
    for (uint32_t i = 0; i < ids->n; i++) {
        const ir_node *n = ir_at(f->p, ids->at[i]);
        if (n->kind == IR_READ)
            want(f, n->array, (uint64_t)1 << n->u.literal);
    }
}

static void reach(finder *f, uint32_t n, const ir_id *term, opt_ids *ids)
{
    if (term && n)
        opt_reach((ir_program *)f->p, f->p->arena, n, term, ids);
}

static void of_terms(finder *f, uint32_t n, const ir_id *term)
{
    opt_ids ids = {0};
    reach(f, n, term, &ids);
    want_reads(f, &ids);
    vec_free(f->p->arena, &ids);
}

static void look_at(finder *f, ir_id id)
{
    const ir_program *p = f->p;
    const ir_array *info = ir_info(p, id);
    const bool map = ir_at(p, id)->kind == IR_MAP;
    opt_ids ids = {0};
    of_terms(f, info->rank, info->shape);
    of_terms(f, info->components, info->seed);
    if (info->control)
        of_terms(f, info->control->values, info->control->value);
    if (info->fn)
        reach(f, info->fn->results, info->fn->result, &ids);
    want_reads(f, &ids);
    map64 used = {0};
    for (uint32_t i = 0; map && i < ids.n; i++)
        map64_put(p->arena, &used, ids.at[i], 1);
    uint32_t param = ir_at(p, id)->flags & IR_INDEXED ? info->rank : 0; /* behind the indices */
    for (uint32_t i = 0; i < info->inputs; i++) {
        const uint32_t n = ir_info(p, info->input[i])->components;
        uint64_t components = map ? 0 : UINT64_MAX;
        for (uint32_t c = 0; c < n && map; c++, param++)
            components |= (uint64_t)(map64_get(&used, info->fn->param[param]) != 0) << c;
        want(f, info->input[i], components);
        if (info->stencil) {
            of_terms(f, n, info->stencil[i].constant);
            if (info->stencil[i].function)
                of_terms(f, info->stencil[i].function->results, info->stencil[i].function->result);
        }
    }
    vec_free(p->arena, &ids);
    map64_free(p->arena, &used);
}

uint64_t *l_wanted(const ir_program *p, const l_part *part)
{
    finder f = {.p = p};
    f.wanted = arena_array(p->arena, uint64_t, p->node.n);
    f.seen = arena_alloc(p->arena, p->node.n);
    uint32_t parts = 0;
    for (uint32_t k = 0; k < p->output.n; k++)
        parts += ir_info(p, p->output.at[k])->components;
    for (uint32_t k = 0; k < parts; k++)
        want(&f, part[k].array, (uint64_t)1 << part[k].component);
    for (uint32_t k = 0; k < p->check.n; k++)
        of_terms(&f, 2, (ir_id[]){p->check.at[k].left, p->check.at[k].right});
    while (f.open.n)
        look_at(&f, f.open.at[--f.open.n]);
    vec_free(p->arena, &f.open);
    arena_release(p->arena, f.seen, p->node.n);
    return f.wanted;
}
