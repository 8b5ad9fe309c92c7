/* Parts of an array along its innermost dimension: take, skip, init, tail, rotate. */
#include "embed/value.h"

/* One of these operations under way: index and extent of the innermost dimension are what it changes. */
typedef struct part {
    op o;
    const value *v;
    const ir_array *from;
    unsigned last; /* the innermost dimension */
} part;

static bool begin(part *p, sn_site at, const char *name, sn_acc a)
{
    if (!op_start_array(&p->o, at, name) || !(p->v = op_take_array(&p->o, a)))
        return false;
    p->from = ir_info(p->o.p, p->v->array);
    if (!p->from->rank)
        return op_fail(&p->o, "%s has no dimension to take a part of; an array of rank 1 or more has",
                       value_text(&p->o, p->v));
    p->last = p->from->rank - 1u;
    return true;
}

static ir_id binary(const part *p, ir_op which, ir_id a, ir_id b)
{
    return ir_op2(p->o.p, p->o.site, which, a, b);
}

/* The array whose element at i is the old one's at the index `of_last` makes of the innermost one. */
static sn_acc moved(const part *p, ir_id extent, ir_fn *fn, ir_id of_last)
{
    ir_id shape[IR_MAX_RANK], source[IR_MAX_RANK];
    memcpy(shape, p->from->shape, p->from->rank * sizeof *shape);
    memcpy(source, fn->param, p->from->rank * sizeof *source);
    shape[p->last] = extent;
    source[p->last] = of_last;
    fn = ir_fn_close(p->o.p, fn, p->from->rank, source);
    ir_id id = fn ? ir_backpermute(p->o.p, p->o.site, p->from->rank, shape, fn, p->v->array, IR_SAFE) : 0;
    return op_give_array(&p->o, p->v->tree, id);
}

/* A number of elements, at least 0; 0 after a mistake. */
static ir_id take_count(const part *p, sn_scalar n)
{
    ir_id count = op_take_i64(&p->o, n, "the number of elements");
    if (!count || !op_check_extent(&p->o, count))
        return 0;
    return binary(p, OP_MAX, count, ir_i64(p->o.p, 0));
}

static sn_acc first(const part *p, ir_id count)
{
    ir_fn *fn = embed_index_fn(&p->o, p->from->rank);
    return moved(p, binary(p, OP_MIN, count, p->from->shape[p->last]), fn, fn->param[p->last]);
}

static sn_acc without_first(const part *p, ir_id count)
{
    ir_fn *fn = embed_index_fn(&p->o, p->from->rank);
    ir_id extent = p->from->shape[p->last], skipped = binary(p, OP_MIN, count, extent);
    return moved(p, binary(p, OP_SUB, extent, skipped), fn, binary(p, OP_ADD, fn->param[p->last], skipped));
}

sn_acc sn_take_at(sn_site at, sn_scalar n, sn_acc a)
{
    part p;
    ir_id count = begin(&p, at, "take", a) ? take_count(&p, n) : 0;
    return count ? first(&p, count) : op_bad_array(&p.o);
}

sn_acc sn_skip_at(sn_site at, sn_scalar n, sn_acc a)
{
    part p;
    ir_id count = begin(&p, at, "skip", a) ? take_count(&p, n) : 0;
    return count ? without_first(&p, count) : op_bad_array(&p.o);
}

sn_acc sn_init_at(sn_site at, sn_acc a)
{
    part p;
    if (!begin(&p, at, "init", a))
        return op_bad_array(&p.o);
    ir_id one = ir_i64(p.o.p, 1), extent = p.from->shape[p.last];
    return first(&p, binary(&p, OP_SUB, extent, binary(&p, OP_MIN, one, extent)));
}

sn_acc sn_tail_at(sn_site at, sn_acc a)
{
    part p;
    return begin(&p, at, "tail", a) ? without_first(&p, ir_i64(p.o.p, 1)) : op_bad_array(&p.o);
}

/* The shift is brought into the row once, on the host; an element's index needs a comparison instead of a division. */
sn_acc sn_rotate_at(sn_site at, sn_scalar n, sn_acc a)
{
    part p;
    ir_id by = begin(&p, at, "rotate", a) ? op_take_i64(&p.o, n, "the number of places") : 0;
    if (!by)
        return op_bad_array(&p.o);
    ir_fn *fn = embed_index_fn(&p.o, p.from->rank);
    ir_id extent = p.from->shape[p.last], i = fn->param[p.last];
    by = binary(&p, OP_MOD, by, binary(&p, OP_MAX, extent, ir_i64(p.o.p, 1)));
    ir_id left = binary(&p, OP_SUB, extent, by), inside = binary(&p, OP_LT, i, left);
    ir_id source = ir_cond(p.o.p, p.o.site, inside, binary(&p, OP_ADD, i, by), binary(&p, OP_SUB, i, left));
    return moved(&p, extent, fn, source);
}
