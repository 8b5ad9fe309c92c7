/* A program in which some names of extents are numbers. */
#include "ir/specialise.h"

#include "ir/graft.h"

typedef struct specialising {
    ir_graft graft;
    const ir_number *known;
    uint32_t n;
} specialising;

static ir_id leaf(void *env, ir_id id)
{
    const specialising *s = env;
    const ir_node *node = ir_at(s->graft.from, id);
    if (node->kind != IR_DIM)
        return 0;
    for (uint32_t i = 0; i < s->n; i++)
        if (s->known[i].dim == node->u.literal)
            return ir_i64(s->graft.to, s->known[i].value);
    return ir_dim(s->graft.to, s->graft.from->dim.at[node->u.literal]);
}

/* `outer`: that it is a region's program of; NULL: none. */
static ir_program *empty_like(const ir_program *from, arena *a, ir_program *outer)
{
    ir_program *to = ir_program_new(a);
    to->outer = outer;
    to->plain = from->plain;
    to->code = from->code;
    for (uint32_t i = 1; i < from->site.n; i++) /* the first one is there */
        vec_push(a, &to->site, from->site.at[i]);
    for (uint32_t k = 0; k < from->dim.n; k++)
        ir_dim(to, from->dim.at[k]);
    for (uint32_t i = 0; i < from->number.n; i++)
        vec_push(a, &to->number, from->number.at[i]);
    return to;
}

static ir_program *specialise(ir_program *from, arena *a, ir_program *outer, uint32_t n, const ir_number *known);

/* Numbers that come into a region from outside are known where their terms are constants. */
static bool specialise_region(ir_program *to, const ir_control *c, ir_region *r)
{
    ir_number *known = arena_array(to->arena, *known, r->values + 1);
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->values; i++) {
        const ir_node *value = ir_at(to, c->value[r->value[i]]);
        if (value->kind == IR_CONST && value->type == T_I64)
            known[n++] = (ir_number){r->dim[i], (int64_t)value->u.literal};
    }
    r->program = specialise(r->program, to->arena, to, n, known);
    return r->program;
}

static bool specialise_regions(ir_program *to)
{
    for (ir_id id = 1; id < to->node.n; id++) {
        ir_control *c = ir_at(to, id)->kind == IR_CONTROL ? ir_info(to, id)->control : NULL;
        if (!c)
            continue;
        c->region = arena_copy(to->arena, c->region, c->regions * sizeof(*c->region));
        for (uint32_t i = 0; i < c->regions; i++)
            if (!specialise_region(to, c, &c->region[i]))
                return false;
    }
    return true;
}

static ir_program *specialise(ir_program *from, arena *a, ir_program *outer, uint32_t n, const ir_number *known)
{
    specialising s = {.graft = {.from = from, .to = empty_like(from, a, outer), .leaf = leaf}, .known = known, .n = n};
    s.graft.env = &s;
    ir_program *to = s.graft.to;
    for (uint32_t i = 0; i < from->input.n; i++) {
        ir_id input = ir_graft_array(&s.graft, from->input.at[i]);
        if (!input)
            return NULL;
        vec_push(a, &to->input, input);
    }
    ir_graft_program(&s.graft);
    for (uint32_t i = 0; i < from->output.n; i++) {
        ir_id made = ir_graft_made(&s.graft, from->output.at[i]);
        if (!made)
            return NULL;
        ir_output(to, made);
    }
    return !to->error.n && specialise_regions(to) ? to : NULL;
}

ir_program *ir_specialise(ir_program *from, arena *a, uint32_t n, const ir_number *known)
{
    return specialise(from, a, NULL, n, known);
}
