/* Operators that give the same bits in every tree. The third kind, f(a, b) = if P(b) then b else a, associates: both
 * f(f(a, b), c) and f(a, f(b, c)) are c if P(c), else b if P(b), else a. So does the same with b and a exchanged, and
 * with P(a). Such a condition may be made of components that are chosen by this condition only. */
#include "opt/any_tree.h"

#include "opt/choice.h"
#include "opt/identity.h"

typedef enum { NEITHER, OWN, CHOSEN } kind;

typedef struct component {
    kind is;
    ir_id condition; /* CHOSEN: by this, */
    bool right;      /* the right operand where it holds, else the left one */
} component;

/* The component's own two values combined by a primitive that gives the same in every tree. */
static bool is_own(const ir_program *p, const ir_fn *fn, uint32_t c)
{
    switch (opt_primitive_of(p, fn, c)) {
    case OP_MIN:
    case OP_MAX:
    case OP_BIT_AND:
    case OP_BIT_OR:
    case OP_BIT_XOR:
    case OP_AND:
    case OP_OR:
        return true;
    case OP_ADD:
    case OP_MUL:
        return !ir_type_float((ir_type)ir_at(p, fn->result[c])->type);
    default:
        return false;
    }
}

static component find_component(const ir_program *p, const ir_fn *fn, uint32_t c)
{
    const ir_node *r = ir_at(p, fn->result[c]);
    const ir_id *arg = ir_args(p, fn->result[c]), left = fn->param[c], right = fn->param[fn->results + c];
    if (is_own(p, fn, c))
        return (component){.is = OWN};
    if (r->kind == IR_COND && ((arg[1] == left && arg[2] == right) || (arg[1] == right && arg[2] == left)))
        return (component){CHOSEN, arg[0], arg[1] == right};
    return (component){NEITHER};
}

/* Is the component, which is its own, a flag that the condition is, on the side that is taken where it holds? `or` of
 * flags is then the flag of what is chosen, and `and` is where the other side is taken. */
static bool is_flag(const ir_program *p, const ir_fn *fn, uint32_t c, const component *by)
{
    ir_op op = (ir_op)ir_at(p, fn->result[c])->op;
    const bool of_right = by->condition == fn->param[fn->results + c];
    if (!of_right && by->condition != fn->param[c])
        return false;
    return op == (of_right == by->right ? OP_OR : OP_AND);
}

/* Is the condition one of the right operand alone, or of the left one, and of components that it chooses? */
static bool is_of_one_side(ir_program *p, arena *a, const ir_fn *fn, const component *all, const component *by)
{
    ir_id *term;
    uint32_t n = ir_terms(p, a, 1, &by->condition, &term), sides = 0;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t c = 0; c < fn->results; c++) {
            const bool left = term[i] == fn->param[c], right = term[i] == fn->param[fn->results + c];
            if (!left && !right)
                continue;
            const component *x = &all[c];
            const bool with = x->is == CHOSEN && x->condition == by->condition && x->right == by->right;
            if (!with && !(x->is == OWN && is_flag(p, fn, c, by)))
                return false;
            sides |= left ? 1 : 2;
        }
    return sides != 3;
}

bool opt_any_tree(ir_program *p, arena *a, const ir_fn *fn)
{
    opt_choice of;
    component all[IR_MAX_COMPONENTS];
    if (opt_find_choice(p, a, fn, NULL, &of) && of.nan == OPT_NAN_LOSES)
        return true;
    for (uint32_t c = 0; c < fn->results; c++)
        all[c] = find_component(p, fn, c);
    for (uint32_t c = 0; c < fn->results; c++)
        if (all[c].is == NEITHER || (all[c].is == CHOSEN && !is_of_one_side(p, a, fn, all, &all[c])))
            return false;
    return true;
}
