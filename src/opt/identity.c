/* Identities of operators that are primitives of each component. */
#include "opt/identity.h"

static bool identity_of(ir_op op, ir_type t, ir_bits *out)
{
    bool f32 = t == T_F32, is_float = ir_type_float(t);
    switch (op) {
    case OP_ADD: /* -0: a sum of nothing but -0 stays -0 */
        *out = f32 ? ir_bits_f32(-0.0f) : t == T_F64 ? ir_bits_f64(-0.0) : 0;
        return true;
    case OP_MUL:
        *out = f32 ? ir_bits_f32(1) : t == T_F64 ? ir_bits_f64(1) : ir_bits_i64(t, 1);
        return true;
    case OP_MIN:
    case OP_MAX:
        if (is_float) { /* a NaN operand gives the other one */
            *out = f32 ? 0x7fc00000u : 0x7ff8000000000000u;
            return true;
        }
        if (t == T_BOOL || t == T_CHAR)
            return false;
        if (ir_type_signed(t))
            *out = ir_bits_i64(t, op == OP_MIN ? (int64_t)(UINT64_MAX >> (65 - ir_type_bits(t)))
                                               : INT64_MIN >> (64 - ir_type_bits(t)));
        else
            *out = op == OP_MIN ? UINT64_MAX >> (64 - ir_type_bits(t)) : 0;
        return true;
    case OP_BIT_AND:
        *out = UINT64_MAX >> (64 - ir_type_bits(t));
        return true;
    case OP_AND:
        *out = 1;
        return true;
    case OP_BIT_OR:
    case OP_BIT_XOR:
    case OP_OR:
        *out = 0;
        return true;
    default:
        return false;
    }
}

ir_op opt_primitive_of(const ir_program *p, const ir_fn *fn, uint32_t c)
{
    const ir_node *r = ir_at(p, fn->result[c]);
    const ir_id *arg = r->kind == IR_OP && r->n == 2 ? ir_args(p, fn->result[c]) : NULL;
    const ir_id left = fn->param[c], right = fn->param[fn->results + c];
    const bool own = arg && ((arg[0] == left && arg[1] == right) || (arg[0] == right && arg[1] == left));
    return own ? (ir_op)r->op : OP_COUNT;
}

bool opt_find_identity(const ir_program *p, const ir_fn *fn, ir_bits *out)
{
    for (uint32_t c = 0; c < fn->results; c++)
        if (!identity_of(opt_primitive_of(p, fn, c), (ir_type)ir_at(p, fn->result[c])->type, &out[c]))
            return false;
    return true;
}

bool opt_any_order(const ir_program *p, const ir_fn *fn)
{
    ir_bits identity[IR_MAX_COMPONENTS];
    bool any = opt_find_identity(p, fn, identity);
    for (uint32_t c = 0; c < fn->results && any; c++)
        any = !ir_type_float((ir_type)ir_at(p, fn->result[c])->type);
    return any;
}

bool opt_atomic(const ir_program *p, const ir_fn *fn)
{
    bool good = true;
    for (uint32_t c = 0; c < fn->results && good; c++) {
        unsigned op = ir_at(p, fn->result[c])->op;
        ir_type type = (ir_type)ir_at(p, fn->result[c])->type;
        good =
            ir_type_size(type) >= 4 && ir_type_class(type) == CLASS_INT &&
            (op == OP_ADD || op == OP_MIN || op == OP_MAX || op == OP_BIT_AND || op == OP_BIT_OR || op == OP_BIT_XOR);
    }
    return good;
}
