/* Rewrites operations over packed arrays to operations over what these are packed from. */
#include "opt/packs.h"

#include "opt/identity.h"
#include "opt/remake.h"

/* A function of so few simple operations is computed for all elements: cheaper than asking. */
enum { FEW_OPERATIONS = 8 };

/* An array that is another one's elements, packed. */
typedef struct form {
    ir_id keep, parent; /* as they are now; 0: it is no such array */
} form;

typedef struct mover {
    ir_program *p;
    opt_remake remake;
    form *form;   /* per array of the old program */
    ir_id *joint; /* per packed array of bool: what is kept of its parent where it holds */
} mover;

static ir_id now(const mover *m, ir_id id)
{
    return m->remake.array[id] ? m->remake.array[id] : id;
}

static void replace(mover *m, ir_id old, ir_id by)
{
    m->remake.array[old] = by;
    m->remake.replaces = true;
}

static ir_fn *function_of(mover *m, ir_id id)
{
    return opt_remake_function(&m->remake, NULL, NULL, ir_info(m->p, id)->fn);
}

static ir_id *seed_of(mover *m, ir_id id)
{
    const ir_array *info = ir_info(m->p, id);
    return opt_remake_terms(&m->remake, NULL, NULL, info->components, info->seed);
}

/* What is made for `old` is called as it is. */
static ir_id named(mover *m, ir_id old, ir_id made, bool step)
{
    if (!made)
        return 0;
    m->p->node.at[made].u.info->name = ir_info(m->p, old)->name;
    if (ir_at(m->p, old)->flags & IR_FUSED)
        ir_fuse(m->p, made);
    return step || ir_at(m->p, old)->flags & IR_STEP ? ir_mark_step(m->p, made) : made;
}

/* `old` becomes the pack of `parent` by what its operand `like` is packed by. */
static void pack_again(mover *m, ir_id old, ir_id like, ir_id parent)
{
    if (!parent)
        return;
    ir_id keep = m->form[like].keep, extent = ir_extent(m->p, now(m, like), 0);
    ir_id pack = ir_pack_counted(m->p, ir_at(m->p, old)->site, extent, keep, parent);
    if (!pack)
        return;
    named(m, old, pack, false);
    m->form[old] = (form){keep, parent};
    replace(m, old, pack);
}

/* --- functions --- */

static void zeros(mover *m, uint32_t n, const ir_id *like, ir_id *out)
{
    for (uint32_t k = 0; k < n; k++)
        out[k] = ir_const(m->p, (ir_type)ir_at(m->p, like[k])->type, 0);
}

/* May it be computed for elements that are dropped, and is that cheap? A read that is safe is so where it was written.
 */
static bool is_harmless(mover *m, const ir_fn *fn)
{
    ir_program *p = m->p;
    ir_id *term;
    uint32_t n = ir_terms(p, p->arena, fn->results, fn->result, &term), operations = 0;
    for (uint32_t i = 0; i < n; i++) {
        const ir_node *t = ir_at(p, term[i]);
        bool heavy = t->kind == IR_OP && ir_ops[t->op].flags & (OP_MATH | OP_TRACES);
        bool read = t->kind == IR_READ && t->n > 0;
        if (t->partial || t->kind == IR_LOOP || read || heavy)
            return false;
        operations += t->kind == IR_OP || t->kind == IR_COND;
    }
    return operations <= FEW_OPERATIONS;
}

/* A function of (kept, parameters of fn...); its results have `nothing` where not kept, unless that is NULL. */
static ir_fn *guarded(mover *m, uint32_t site, const ir_fn *fn, const ir_id *nothing)
{
    ir_program *p = m->p;
    ir_type *type = arena_array(p->arena, ir_type, fn->params + 1);
    ir_id result[IR_MAX_COMPONENTS];
    type[0] = T_BOOL;
    for (uint32_t k = 0; k < fn->params; k++)
        type[k + 1] = (ir_type)ir_at(p, fn->param[k])->type;
    ir_fn *made = ir_fn_new(p, fn->params + 1, type);
    ir_instantiate(p, fn, made->param + 1, result);
    for (uint32_t k = 0; k < fn->results && nothing; k++)
        result[k] = ir_cond(p, site, made->param[0], result[k], nothing[k]);
    return ir_fn_close(p, made, fn->results, result);
}

/* The elements of a form's parent where they are kept, and elsewhere these. */
static ir_id or_else(mover *m, uint32_t site, const form *f, const ir_id *otherwise)
{
    ir_program *p = m->p;
    const ir_array *x = ir_info(p, f->parent);
    ir_id operand[2] = {f->keep, f->parent};
    ir_fn *same = ir_fn_new(p, x->components, x->type);
    same = ir_fn_close(p, same, same->params, same->param);
    return ir_mark_step(p, ir_map(p, site, 2, operand, guarded(m, site, same, otherwise), 0));
}

/* Whether it is kept, and the element. */
static ir_id with_flag(mover *m, uint32_t site, const form *f)
{
    ir_program *p = m->p;
    const ir_array *x = ir_info(p, f->parent);
    ir_id operand[2] = {f->keep, f->parent};
    ir_type type[IR_MAX_COMPONENTS + 1] = {T_BOOL};
    memcpy(type + 1, x->type, x->components * sizeof *type);
    ir_fn *fn = ir_fn_new(p, x->components + 1u, type);
    fn = ir_fn_close(p, fn, fn->params, fn->param);
    return ir_mark_step(p, ir_map(p, site, 2, operand, fn, 0));
}

static ir_id without_flag(mover *m, uint32_t site, ir_id array)
{
    ir_program *p = m->p;
    const ir_array *x = ir_info(p, array);
    ir_fn *fn = ir_fn_new(p, x->components, x->type);
    fn = ir_fn_close(p, fn, fn->params - 1, fn->param + 1);
    return ir_map(p, site, 1, &array, fn, 0);
}

/* fn on (has a value, value...): one that has none changes nothing. */
static ir_fn *lifted(mover *m, uint32_t site, const ir_fn *fn)
{
    ir_program *p = m->p;
    uint32_t n = fn->results;
    ir_type type[2 * IR_MAX_COMPONENTS];
    ir_id operand[2 * IR_MAX_COMPONENTS], result[IR_MAX_COMPONENTS];
    type[0] = type[n + 1] = T_BOOL;
    for (uint32_t k = 0; k < n; k++)
        type[1 + k] = type[n + 2 + k] = (ir_type)ir_at(p, fn->param[k])->type;
    ir_fn *made = ir_fn_new(p, 2 * n + 2, type);
    ir_id left = made->param[0], right = made->param[n + 1];
    ir_id both = ir_op2(p, site, OP_AND, left, right);
    memcpy(operand, made->param + 1, n * sizeof *operand);
    memcpy(operand + n, made->param + n + 2, n * sizeof *operand);
    ir_instantiate(p, fn, operand, result + 1);
    result[0] = ir_op2(p, site, OP_OR, left, right);
    for (uint32_t k = 0; k < n; k++)
        result[k + 1] = ir_cond(p, site, both, result[k + 1], ir_cond(p, site, left, operand[k], operand[n + k]));
    return ir_fn_close(p, made, n + 1, result);
}

static ir_id *lifted_seed(mover *m, uint32_t n, const ir_id *seed)
{
    ir_id *out = seed ? arena_array(m->p->arena, ir_id, n + 1) : NULL;
    if (!out)
        return NULL;
    out[0] = ir_bool(m->p, true);
    memcpy(out + 1, seed, n * sizeof *out);
    return out;
}

/* --- operations --- */

/* The form that all inputs of an array have alike but for their parents, in *out; false if there is none. */
static bool common_form(const mover *m, const ir_array *info, form *out)
{
    *out = info->inputs ? m->form[info->input[0]] : (form){0};
    for (uint32_t i = 1; i < info->inputs; i++)
        if (m->form[info->input[i]].keep != out->keep)
            return false;
    return out->keep != 0;
}

static void move_map(mover *m, ir_id id)
{
    ir_program *p = m->p;
    ir_array info = *ir_info(p, id);
    uint32_t site = ir_at(p, id)->site;
    ir_id nothing[IR_MAX_COMPONENTS];
    form common;
    if (ir_at(p, id)->flags & IR_INDEXED || !common_form(m, &info, &common))
        return;
    ir_id *operand = arena_array(p->arena, ir_id, info.inputs + 1);
    operand[0] = common.keep;
    for (uint32_t i = 0; i < info.inputs; i++)
        operand[i + 1] = m->form[info.input[i]].parent;
    ir_fn *fn = function_of(m, id);
    zeros(m, fn->results, fn->result, nothing);
    bool harmless = is_harmless(m, fn);
    ir_fn *made = harmless ? fn : guarded(m, site, fn, nothing);
    ir_id parent = harmless ? ir_map(p, site, info.inputs, operand + 1, made, 0)
                            : ir_map(p, site, info.inputs + 1, operand, made, 0);
    pack_again(m, id, info.input[0], named(m, id, parent, true));
}

/* What is kept of the parent where a packed array of bool holds. */
static ir_id joint_keep(mover *m, ir_id keep)
{
    ir_program *p = m->p;
    const form *f = &m->form[keep];
    if (!m->joint[keep]) {
        ir_id nothing = ir_bool(p, false);
        m->joint[keep] = or_else(m, ir_at(p, keep)->site, f, &nothing);
    }
    return m->joint[keep];
}

static void move_pack(mover *m, ir_id id)
{
    ir_program *p = m->p;
    const ir_array *info = ir_info(p, id);
    form common;
    if (common_form(m, info, &common)) {
        ir_id keep = joint_keep(m, info->input[0]), parent = m->form[ir_info(p, id)->input[1]].parent;
        ir_id pack = keep ? ir_pack(p, ir_at(p, id)->site, keep, parent) : 0;
        if (!pack)
            return;
        named(m, id, pack, false);
        m->form[id] = (form){keep, parent};
        replace(m, id, pack);
        return;
    }
    opt_remake_array(&m->remake, id);
    ir_id keep = now(m, info->input[0]), source = now(m, ir_info(p, id)->input[1]);
    if (ir_counted(p, ir_extent(p, now(m, id), 0)) != keep) { /* its count has moved, but it stays */
        ir_id pack = named(m, id, ir_pack(p, ir_at(p, id)->site, keep, source), false);
        if (pack)
            replace(m, id, pack);
    }
    m->form[id] = (form){keep, source};
}

/* A count of what is kept of what is kept. */
static bool move_count(mover *m, ir_id id)
{
    ir_program *p = m->p;
    const ir_array *info = ir_info(p, id);
    if (info->rank || info->components != 1 || info->type[0] != T_I64)
        return false;
    ir_id keep = ir_counted(p, ir_read(p, 0, id, 0, IR_SAFE, 0, NULL));
    if (!keep || !m->form[keep].keep)
        return false;
    ir_id joint = joint_keep(m, keep), count = joint ? ir_count(p, ir_at(p, id)->site, joint) : 0;
    if (count)
        replace(m, id, count);
    return count != 0;
}

/* The fold or scan `id` of the elements of a form's parent that are kept. */
static ir_id combined(mover *m, ir_id id, const form *f)
{
    ir_program *p = m->p;
    ir_node node = *ir_at(p, id);
    uint32_t n = ir_info(p, id)->components;
    ir_bits bits[IR_MAX_COMPONENTS];
    ir_id identity[IR_MAX_COMPONENTS], *seed = seed_of(m, id), from;
    ir_fn *fn = function_of(m, id);
    bool known = opt_find_identity(p, fn, bits);
    if (!known && n == IR_MAX_COMPONENTS)
        return 0;
    for (uint32_t k = 0; k < n && known; k++)
        identity[k] = ir_const(p, (ir_type)ir_at(p, fn->result[k])->type, bits[k]);
    from = known ? or_else(m, node.site, f, identity) : with_flag(m, node.site, f);
    if (!known) {
        fn = lifted(m, node.site, fn);
        seed = lifted_seed(m, n, seed);
    }
    ir_id made = node.kind == IR_FOLD ? ir_fold(p, node.site, fn, seed, from, node.flags & IR_COMMUTES)
                                      : ir_scan(p, node.site, fn, seed, from, node.flags & (IR_EXCLUSIVE | IR_RIGHT));
    if (known)
        return made;
    made = named(m, id, made, true);
    return made ? without_flag(m, node.site, made) : 0;
}

static void move_fold(mover *m, ir_id id)
{
    form f = m->form[ir_info(m->p, id)->input[0]];
    if (move_count(m, id) || !f.keep || !ir_info(m->p, id)->seed)
        return;
    ir_id made = named(m, id, combined(m, id, &f), false);
    if (made)
        replace(m, id, made);
}

static void move_scan(mover *m, ir_id id)
{
    ir_id like = ir_info(m->p, id)->input[0];
    form f = m->form[like];
    if (f.keep)
        pack_again(m, id, like, named(m, id, combined(m, id, &f), true));
}

static void move(mover *m, ir_id id)
{
    ir_kind kind = (ir_kind)ir_at(m->p, id)->kind;
    if (kind == IR_MAP)
        move_map(m, id);
    else if (kind == IR_PACK)
        move_pack(m, id);
    else if (kind == IR_FOLD)
        move_fold(m, id);
    else if (kind == IR_SCAN)
        move_scan(m, id);
    if (!m->remake.array[id])
        opt_remake_array(&m->remake, id);
}

void opt_move_packs(ir_program *p)
{
    bool any = false;
    for (ir_id id = 1; id < p->node.n && !any; id++)
        any = ir_at(p, id)->kind == IR_PACK;
    if (!any)
        return;
    const uint32_t nodes = p->node.n;
    mover m = {.p = p};
    opt_remake_begin(&m.remake, p);
    m.form = arena_array(p->arena, *m.form, nodes);
    m.joint = arena_array(p->arena, *m.joint, nodes);
    for (ir_id id = 1; id < nodes; id++)
        if (ir_is_array(p, id) && ir_at(p, id)->kind != IR_INPUT)
            move(&m, id);
    opt_remake_end(&m.remake);
    arena_release(p->arena, m.form, nodes * sizeof(*m.form));
    arena_release(p->arena, m.joint, nodes * sizeof(*m.joint));
}
