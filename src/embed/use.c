/* Arrays of the user's as part of a program: copied while it is built, passed to it as inputs that no call mentions, so
 * that kernels do not depend on the data. */
#include "base/size.h"
#include "embed/value.h"

static bool good_type(sn_type t)
{
    return (int)t > T_NONE && (int)t < T_COUNT;
}

/* Extents, and bytes of the data. */
static bool measure(const op *o, const sn_arg *from, embed_constant *c)
{
    *c = (embed_constant){.type = (ir_type)from->type, .rank = (uint8_t)from->rank, .from = from->u.from};
    for (int d = 0; d < from->rank; d++) {
        if (from->extent[d] < 0)
            return op_fail(o, "the extent of dimension %d is negative: %lld; an extent is 0 or more", d,
                           (long long)from->extent[d]);
        c->extent[d] = from->extent[d];
    }
    if (!size_of_array(ir_type_size(c->type), c->rank, c->extent, &c->bytes))
        return op_fail(o, "the data are larger than memory can be; check their extents");
    if (!c->from && c->bytes)
        return op_fail(o, "the data are NULL; they are copied now, while the program is built");
    return true;
}

static bool take(const op *o, const sn_arg *from, embed_constant *c)
{
    if ((from->kind != SN_ARG_IN && from->kind != SN_ARG_VALUE) || !good_type(from->type) || from->stride)
        return op_fail(o, "expects a pointer to contiguous numbers and their extents; write sn_use(pointer, n)");
    if (from->rank < 0 || from->rank > IR_MAX_RANK)
        return op_fail(o, "an array of rank %d; %d is the largest possible", from->rank, IR_MAX_RANK);
    return measure(o, from, c);
}

/* The same memory with the same elements is one array, however often it is used. */
static ir_id known(const embed_constants *list, const embed_constant *c)
{
    for (uint32_t i = 0; i < list->n; i++) {
        const embed_constant *k = &list->at[i];
        if (k->from == c->from && k->type == c->type && k->rank == c->rank &&
            !memcmp(k->extent, c->extent, sizeof(k->extent)) && (!c->bytes || !memcmp(k->data, c->from, c->bytes)))
            return k->array;
    }
    return 0;
}

/* Data belong to the program as a whole, also if a region uses them: the same operation, there. */
static op outermost(op o)
{
    while (o.b->around)
        o.b = o.b->around;
    o.p = o.b->program;
    return o;
}

sn_acc sn_use_at(sn_site at, sn_arg from)
{
    op o;
    embed_constant c = {0};
    if (!op_start_array(&o, at, "use") || !take(&o, &from, &c))
        return op_bad_array(&o);
    o = outermost(o);
    c.array = known(o.b->constants, &c);
    if (c.array)
        return op_give_array(&o, tree_leaf(o.b), c.array);
    ir_id shape[IR_MAX_RANK];
    for (unsigned d = 0; d < c.rank; d++)
        shape[d] = ir_i64(o.p, c.extent[d]);
    void *data = arena_alloc(o.b->arena, c.bytes + 1);
    if (c.bytes)
        memcpy(data, c.from, c.bytes);
    c.data = data;
    c.array = ir_input_data(o.p, o.site, c.type, c.rank, shape, data);
    if (!c.array)
        return op_bad_array(&o);
    vec_push(o.b->arena, o.b->constants, c);
    return op_give_array(&o, tree_leaf(o.b), c.array);
}
