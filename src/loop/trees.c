/* The trees by which folds combine. */
#include "loop/trees.h"

#include "opt/choice.h"
#include "opt/identity.h"

bool l_keeps_order(const ir_program *p, ir_id fold)
{
    return !(ir_at(p, fold)->flags & IR_COMMUTES);
}

/* Does each component of the operator combine its own two values, so that every tree gives the same? */
static bool in_every_tree(const ir_program *p, ir_id fold)
{
    const ir_array *info = ir_info(p, fold);
    for (uint32_t k = 0; k < info->components; k++) {
        const ir_op op = opt_primitive_of(p, info->fn, k);
        bool exact = op == OP_ADD || op == OP_MUL || op == OP_MIN || op == OP_MAX;
        if (!exact || ir_type_float((ir_type)info->type[k]))
            return false;
    }
    return true;
}

l_tree l_tree_of(ir_program *p, ir_id fold, bool chooses)
{
    opt_choice of;
    if (!l_keeps_order(p, fold))
        return ir_at(p, fold)->kind == IR_FOLD_SEG && in_every_tree(p, fold) ? L_EXACT : L_COMMUTES;
    bool free = chooses && opt_find_choice(p, p->arena, ir_info(p, fold)->fn, NULL, &of) && of.nan == OPT_NAN_LOSES;
    return free ? L_CHOOSES : L_IN_ORDER;
}

bool l_trees_share(unsigned trees)
{
    return (trees & (L_COMMUTES | L_IN_ORDER)) != (L_COMMUTES | L_IN_ORDER);
}

bool l_trees_differ(const ir_program *p, uint32_t n, const ir_id *anchor)
{
    bool ordered = false, balanced = false;
    for (uint32_t i = 0; i < n; i++)
        if (ir_at(p, anchor[i])->kind == IR_FOLD_SEG) {
            ordered |= l_keeps_order(p, anchor[i]);
            balanced |= !l_keeps_order(p, anchor[i]) && !in_every_tree(p, anchor[i]);
        }
    return ordered && balanced;
}
