/* Looks for sorts of which only the first elements are read, and sorts only what may be among them. */
#include "opt/firsts.h"

#include "opt/needed.h"
#include "opt/remake.h"

typedef struct firsts {
    ir_program *p;
    ir_id source, n, key; /* key: the source's first component, as an array */
    uint32_t site;
    const char *name;
    ir_type type;
    bool descending;
    int64_t many;
} firsts;

static ir_id step(const firsts *f, ir_id array)
{
    if (array)
        f->p->node.at[array].u.info->name = f->name;
    return array ? ir_mark_step(f->p, array) : 0;
}

/* The extent is no more than a small number. */
static bool is_few(const ir_program *p, ir_id extent, int64_t *many)
{
    const ir_node *n = ir_at(p, extent);
    if (n->kind == IR_OP && n->op == OP_MIN)
        for (uint32_t i = 0; i < 2; i++)
            if (ir_at(p, ir_args(p, extent)[i])->kind == IR_CONST)
                n = ir_at(p, ir_args(p, extent)[i]);
    *many = n->kind == IR_CONST ? (int64_t)n->u.literal : 0;
    return *many > 0 && *many <= OPT_MOST_FIRSTS;
}

static bool takes_firsts(ir_program *p, ir_id take, const uint32_t *readers, firsts *f)
{
    const ir_array *info = ir_info(p, take);
    if (ir_at(p, take)->kind != IR_BACKPERMUTE || info->rank != 1 || info->fn->result[0] != info->fn->param[0])
        return false;
    const ir_id sort = info->input[0];
    const ir_node *n = ir_at(p, sort);
    const ir_array *sorted = ir_info(p, sort);
    bool plain = n->kind == IR_SORT && sorted->rank == 1 && sorted->keys == 1 && !(n->flags & IR_RUNS);
    if (plain && ir_at(p, sorted->input[0])->kind == IR_PACK && ir_at(p, sorted->input[0])->flags & IR_STEP)
        return false; /* these are the firsts */
    if (!plain || readers[sort] != 1 || !is_few(p, info->shape[0], &f->many) ||
        !(ir_type_class((ir_type)sorted->type[0]) & CLASS_NUM))
        return false;
    *f = (firsts){.p = p,
                  .source = sorted->input[0],
                  .n = sorted->shape[0],
                  .site = n->site,
                  .name = sorted->name,
                  .type = (ir_type)sorted->type[0],
                  .descending = n->flags & IR_DESCENDING,
                  .many = f->many};
    return true;
}

/* --- what is made --- */

static ir_id key_of(const firsts *f)
{
    ir_program *p = f->p;
    const ir_array *from = ir_info(p, f->source);
    if (from->components == 1)
        return f->source;
    ir_fn *fn = ir_fn_new(p, from->components, from->type);
    fn = ir_fn_close(p, fn, 1, fn->param);
    return fn ? step(f, ir_map(p, f->site, 1, &f->source, fn, 0)) : 0;
}

/* The best of each block, in order. */
static ir_id best_of_blocks(const firsts *f, ir_id blocks)
{
    ir_program *p = f->p;
    const ir_type index = T_I64, both[2] = {f->type, f->type};
    ir_id length = ir_i64(p, OPT_FIRSTS_BLOCK), whole = ir_op2(p, f->site, OP_MUL, blocks, length);
    ir_fn *same = ir_fn_new(p, 1, &index), *best = ir_fn_new(p, 2, both);
    same = ir_fn_close(p, same, 1, same->param);
    ir_id better = ir_op2(p, f->site, f->descending ? OP_MAX : OP_MIN, best->param[0], best->param[1]);
    best = ir_fn_close(p, best, 1, &better);
    ir_id cut = same && best ? step(f, ir_backpermute(p, f->site, 1, &whole, same, f->key, IR_SAFE)) : 0;
    ir_id rows = cut ? step(f, ir_reshape(p, f->site, 2, (ir_id[]){blocks, length}, cut)) : 0;
    ir_id of_rows = rows ? step(f, ir_fold(p, f->site, best, NULL, rows, IR_COMMUTES)) : 0;
    return of_rows ? step(f, ir_sort(p, f->site, 1, NULL, of_rows, f->descending ? IR_DESCENDING : 0)) : 0;
}

/* Which elements are no worse than number `many` of the blocks' best. NaNs stay, as do all where blocks are too few. */
static ir_id may_be_first(const firsts *f, ir_id blocks, ir_id best)
{
    ir_program *p = f->p;
    ir_fn *fn = ir_fn_new(p, 1, &f->type);
    ir_id last = ir_i64(p, f->many - 1), limit = ir_read(p, f->site, best, 0, IR_SAFE, 1, &last);
    ir_id worse = ir_op2(p, f->site, f->descending ? OP_LT : OP_GT, fn->param[0], limit);
    ir_id few = ir_op2(p, f->site, OP_LT, blocks, ir_i64(p, f->many));
    ir_id keep = ir_cond(p, f->site, few, ir_const(p, T_BOOL, 1), ir_op1(p, f->site, OP_NOT, worse));
    fn = ir_fn_close(p, fn, 1, &keep);
    return fn ? step(f, ir_map(p, f->site, 1, &f->key, fn, 0)) : 0;
}

static ir_id sorted_firsts(firsts *f, ir_id take)
{
    ir_program *p = f->p;
    const ir_array *info = ir_info(p, take);
    const ir_node n = *ir_at(p, take);
    ir_id blocks = ir_op2(p, f->site, OP_QUOT, f->n, ir_i64(p, OPT_FIRSTS_BLOCK));
    f->key = key_of(f);
    ir_id best = f->key ? best_of_blocks(f, blocks) : 0, keep = best ? may_be_first(f, blocks, best) : 0;
    ir_id packed = keep ? step(f, ir_pack(p, f->site, keep, f->source)) : 0;
    ir_id sort = packed ? ir_sort(p, f->site, 1, NULL, packed, f->descending ? IR_DESCENDING : 0) : 0;
    if (!sort)
        return 0;
    p->node.at[sort].u.info->name = f->name;
    ir_id made = ir_backpermute(p, n.site, 1, info->shape, info->fn, sort, n.flags);
    if (made)
        p->node.at[made].u.info->name = info->name;
    return made;
}

void opt_take_firsts(ir_program *p)
{
    bool any = false;
    for (ir_id id = 1; id < p->node.n && !any; id++)
        any = ir_at(p, id)->kind == IR_SORT;
    if (!any)
        return;
    const uint32_t *readers = opt_count_readers(p), nodes = p->node.n;
    opt_remake remake = {0};
    opt_remake_begin(&remake, p);
    for (ir_id id = 1; id < nodes; id++) {
        firsts f;
        if (!ir_is_array(p, id) || ir_at(p, id)->kind == IR_INPUT)
            continue;
        ir_id made = takes_firsts(p, id, readers, &f) && !remake.array[f.source] ? sorted_firsts(&f, id) : 0;
        if (made) {
            remake.array[id] = made;
            remake.replaces = true;
        } else {
            opt_remake_array(&remake, id);
        }
    }
    opt_remake_end(&remake);
}
