/* Permutes that name the same places: arrays that are the same operations of the same arrays are found by numbering
 * them from their inputs on. */
#include "loop/places.h"

#include "opt/identity.h"

l_permute_kind l_permute_kind_of(const ir_program *p, const ir_array *permute, bool threads)
{
    if (!permute->fn)
        return L_PERMUTE_LAST;
    if (opt_any_order(p, permute->fn))
        return threads && opt_atomic(p, permute->fn) ? L_PERMUTE_ATOMIC : L_PERMUTE_FREE;
    return ir_permute_chooses(p, permute->fn) ? L_PERMUTE_CHOSEN : L_PERMUTE_FLOATS;
}

/* Operations that are looked at before one is taken for new. */
enum { MOST_TRIED = 8 };

typedef struct alike {
    ir_program *p;
    ir_id *first; /* per array */
    ir_id *next;  /* per array: one of the same hash before it */
    map64 of;     /* hash -> the last of these */
} alike;

static bool is_element(const ir_program *p, ir_id id)
{
    ir_kind kind = (ir_kind)ir_at(p, id)->kind;
    return kind == IR_MAP || kind == IR_GENERATE || kind == IR_BACKPERMUTE || kind == IR_RESHAPE;
}

static uint64_t hash_of(const alike *a, ir_id id)
{
    const ir_node *n = ir_at(a->p, id);
    const ir_array *info = ir_info(a->p, id);
    uint64_t h = hash_bytes(info->shape, info->rank * sizeof(ir_id), n->kind);
    for (uint32_t i = 0; i < info->inputs; i++)
        h = hash_mix(h, a->first[info->input[i]]);
    for (uint32_t r = 0; info->fn && r < info->fn->results; r++) {
        const ir_node *t = ir_at(a->p, info->fn->result[r]);
        h = hash_mix(hash_mix(h, t->kind), hash_mix(t->op, t->type));
    }
    return h;
}

static bool same_function(const alike *a, const ir_fn *x, const ir_fn *y)
{
    if (x == y || !x || !y)
        return x == y;
    if (x->params != y->params || x->results != y->results)
        return false;
    for (uint32_t i = 0; i < x->params; i++)
        if (ir_at(a->p, x->param[i])->type != ir_at(a->p, y->param[i])->type)
            return false;
    ir_id *result = arena_array(a->p->arena, ir_id, x->results + 1);
    ir_instantiate(a->p, y, x->param, result);
    return !memcmp(result, x->result, x->results * sizeof(ir_id));
}

static bool same(const alike *a, ir_id x, ir_id y)
{
    const ir_node *n = ir_at(a->p, x), *m = ir_at(a->p, y);
    const ir_array *i = ir_info(a->p, x), *k = ir_info(a->p, y);
    if (n->kind != m->kind || n->flags != m->flags || i->inputs != k->inputs || i->components != k->components ||
        !l_same_shape(i, k))
        return false;
    for (uint32_t c = 0; c < i->inputs; c++)
        if (a->first[i->input[c]] != a->first[k->input[c]])
            return false;
    return same_function(a, i->fn, k->fn);
}

ir_id *l_alike(ir_program *p, uint32_t nodes)
{
    alike a = {.p = p};
    a.first = arena_array(p->arena, ir_id, nodes);
    a.next = arena_array(p->arena, ir_id, nodes);
    for (ir_id id = 1; id < nodes; id++) {
        a.first[id] = id;
        if (!ir_is_array(p, id) || !is_element(p, id))
            continue;
        uint64_t h = hash_of(&a, id);
        ir_id other = a.next[id] = map64_get(&a.of, h);
        for (unsigned tried = 0; other && tried < MOST_TRIED && a.first[id] == id; tried++, other = a.next[other])
            if (same(&a, other, id))
                a.first[id] = a.first[other];
        map64_put(p->arena, &a.of, h, id);
    }
    arena_release(p->arena, a.next, nodes * sizeof(*a.next));
    map64_free(p->arena, &a.of);
    return a.first;
}
