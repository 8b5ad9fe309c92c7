/* Names and edges as the user knows them. */
#include "loop/show.h"

#include <string.h>

bool l_is_fused(l_why why)
{
    return why == L_FUSED_DELAYED || why == L_FUSED_REGISTER || why == L_FUSED_ROWS || why == L_FUSED_SWEEP ||
           why == L_FUSED_SEGMENT || why == L_FUSED_TILE;
}

l_origin l_origin_of(const l_shown *s, ir_id input)
{
    return ir_info(s->l->ir, input)->data ? L_DATA : L_ARGUMENT;
}

static void take_step(l_shown *s, ir_id step, ir_id reader)
{
    if (step && ir_at(s->l->ir, step)->flags & IR_STEP && !s->whole[step])
        s->whole[step] = s->whole[reader];
}

/* Backwards, what reads a step is known before the step. */
static void find_wholes(l_shown *s)
{
    const ir_program *p = s->l->ir;
    for (ir_id id = s->l->nodes; id-- > 1;) {
        if (!ir_is_array(p, id))
            continue;
        if (!s->whole[id])
            s->whole[id] = id;
        const ir_array *info = ir_info(p, id);
        for (uint32_t i = 0; i < info->inputs && s->l->number[id]; i++)
            take_step(s, info->input[i], id);
        if (ir_at(p, id)->kind == IR_PACK && s->l->number[id])
            take_step(s, ir_count_of_pack(p, info->shape[0], info->input[0]), id);
    }
}

static void number_arguments(l_shown *s)
{
    const ir_program *p = s->l->ir;
    uint32_t next = 1;
    for (uint32_t k = 0; k < p->input.n; k++) {
        ir_id id = p->input.at[k];
        if (id >= s->l->nodes || l_origin_of(s, id) != L_ARGUMENT)
            continue;
        s->argument[id] = next;
        next += ir_info(p, id)->components;
    }
}

static void list_edges(l_shown *s, arena *a)
{
    map64 met = {0};
    for (uint32_t i = 0; i < s->l->edge.n; i++) {
        l_edge e = s->l->edge.at[i];
        e.from = s->whole[e.from];
        e.to = s->whole[e.to];
        uint64_t key = hash_mix((uint64_t)e.from << 32 | e.to, (uint64_t)e.why);
        if (e.from == e.to && (l_is_fused(e.why) || e.why == L_NOT_DEFAULTS))
            continue;
        uint32_t same = map64_get(&met, key);
        const l_edge *old = same ? &s->edge.at[same - 1] : NULL;
        if (old && old->from == e.from && old->to == e.to && old->why == e.why)
            continue;
        vec_push(a, &s->edge, e);
        map64_put(a, &met, key, s->edge.n);
    }
}

l_shown *l_show(const l_program *l, arena *a)
{
    l_shown *s = arena_new(a, *s);
    *s = (l_shown){.l = l};
    s->whole = arena_array(a, *s->whole, l->nodes);
    s->argument = arena_array(a, *s->argument, l->nodes);
    find_wholes(s);
    number_arguments(s);
    list_edges(s, a);
    return s;
}

/* --- names --- */

void l_print_extent(const l_program *l, ir_id extent, text *out)
{
    const ir_node *n = ir_at(l->ir, extent);
    if (n->kind == IR_READ && !n->n) /* a number that the program computes: how many elements a filter keeps */
        text_printf(out, "a%u[]", l->number[n->array]);
    else
        ir_print_scalar(l->ir, extent, out);
}

static void print_type(const l_program *l, const ir_array *info, text *out)
{
    for (unsigned d = 0; d < info->rank; d++) {
        text_add(out, d ? "," : "[");
        l_print_extent(l, info->shape[d], out);
    }
    text_add(out, info->rank ? "]" : "");
    for (uint32_t c = 0; c < info->components; c++)
        text_printf(out, "%s%s", c ? ", " : info->components > 1 ? "(" : "", ir_type_name(info->type[c]));
    text_add(out, info->components > 1 ? ")" : "");
}

static void print_input(const l_shown *s, ir_id id, text *out)
{
    const ir_array *info = ir_info(s->l->ir, id);
    uint32_t first = s->argument[id], last = first + info->components - 1;
    switch (l_origin_of(s, id)) {
    case L_DATA:
        text_add(out, "data");
        break;
    case L_ARGUMENT:
        if (last > first)
            text_printf(out, "arguments %u to %u", first, last);
        else
            text_printf(out, "argument %u", first);
    }
    text_add(out, " (");
    print_type(s->l, info, out);
    text_add(out, ")");
}

static void print_place(const l_shown *s, ir_id id, text *out)
{
    uint32_t at = ir_at(s->l->ir, id)->site;
    const ir_site *site = &s->l->ir->site.at[at];
    if (!at || !site->file)
        return;
    const char *slash = strrchr(site->file, '/');
    text_printf(out, " (%s:%u)", slash ? slash + 1 : site->file, site->line);
}

void l_print_name(const l_shown *s, ir_id id, bool numbered, text *out)
{
    const ir_array *info = ir_info(s->l->ir, id);
    if (ir_at(s->l->ir, id)->kind == IR_INPUT) {
        print_input(s, id, out);
    } else {
        if (numbered)
            text_printf(out, "a%u ", s->l->number[id]);
        text_add(out, info->name ? info->name : "array");
    }
    print_place(s, id, out);
}

void l_print_edge_name(const l_shown *s, const l_edge *e, bool numbered, text *out)
{
    if (e->from == e->to) {
        text_add(out, "inside ");
    } else {
        l_print_name(s, e->from, numbered, out);
        text_add(out, " -> ");
    }
    l_print_name(s, e->to, numbered, out);
}

void l_print_rate(const l_program *l, const l_cluster *c, text *out)
{
    text_add(out, "[");
    for (unsigned d = 0; d < c->rank; d++) {
        text_add(out, d ? ", " : "");
        l_print_extent(l, c->shape[d], out);
    }
    text_add(out, "]");
}
