/* What the host computes during a call, as C: for drivers of exported programs. */
#include "api/export_driver.h"

#include <inttypes.h>

/* --- operators --- */

static const char *integer_of(ir_type t)
{
    static const char *const name[] = {[1] = "int8_t", [2] = "int16_t", [4] = "int32_t", [8] = "int64_t"};
    return name[ir_type_size(t)];
}

/* An operand as the type has it: with its sign. */
static void operand(text *out, ir_type t, uint32_t v)
{
    if (ir_type_float(t))
        text_printf(out, "%s(v%u)", t == T_F32 ? "f32" : "f64", v);
    else if (ir_type_signed(t))
        text_printf(out, "(int64_t)(%s)v%u", integer_of(t), v);
    else
        text_printf(out, "v%u", v);
}

/* What is put around a value of the type to make bits of it. */
static const char *bits_of(ir_type t)
{
    static const char *const wrap[] = {
        [1] = "(uint8_t)(", [2] = "(uint16_t)(", [4] = "(uint32_t)(", [8] = "(uint64_t)("};
    return t == T_F32 ? "b32(" : t == T_F64 ? "b64(" : wrap[ir_type_size(t)];
}

static const char *infix_of(ir_op op)
{
    switch (op) {
    case OP_ADD:
        return "+";
    case OP_SUB:
        return "-";
    case OP_MUL:
        return "*";
    case OP_BIT_AND:
    case OP_AND:
        return "&";
    case OP_BIT_OR:
    case OP_OR:
        return "|";
    case OP_BIT_XOR:
        return "^";
    case OP_EQ:
        return "==";
    case OP_NE:
        return "!=";
    case OP_LT:
        return "<";
    case OP_LE:
        return "<=";
    case OP_GT:
        return ">";
    case OP_GE:
        return ">=";
    default:
        return NULL;
    }
}

static bool is_test(ir_op op)
{
    return op >= OP_EQ && op <= OP_GE;
}

/* Bits of words are added and multiplied without signs, which wraps; others are compared with them. */
static void infix(text *out, const host_step *s, const char *sign)
{
    const ir_type t = (ir_type)s->type;
    const bool words = !ir_type_float(t) && !is_test((ir_op)s->op);
    text_add(out, is_test((ir_op)s->op) ? "(uint64_t)(" : bits_of(t));
    if (words) {
        text_printf(out, "v%u %s v%u)", s->in[0], sign, s->in[1]);
        return;
    }
    operand(out, t, s->in[0]);
    text_printf(out, " %s ", sign);
    operand(out, t, s->in[1]);
    text_add(out, ")");
}

static bool convert(text *out, const host_step *s)
{
    const ir_type from = (ir_type)s->type, to = (ir_type)s->result;
    if (ir_type_float(from) && !ir_type_float(to) && to != T_BOOL)
        return false; /* it saturates */
    if (to == T_BOOL) {
        text_add(out, "(uint64_t)(");
        operand(out, from, s->in[0]);
        text_add(out, " != 0)");
        return true;
    }
    text_add(out, bits_of(to));
    if (ir_type_float(to))
        text_add(out, to == T_F32 ? "(float)(" : "(double)(");
    operand(out, from, s->in[0]);
    text_add(out, ir_type_float(to) ? "))" : ")");
    return true;
}

/* The value of an operator, as bits. False: there is no C for it here. */
static bool apply(text *out, const host_step *s)
{
    const ir_op op = (ir_op)s->op;
    const ir_type t = (ir_type)s->type;
    const bool real = ir_type_float(t);
    const char *sign = infix_of(op);
    if (sign) {
        infix(out, s, sign);
        return true;
    }
    switch (op) {
    case OP_DIV:
    case OP_MOD:
    case OP_QUOT:
    case OP_REM:
        if (real) {
            infix(out, s, "/");
            return true;
        }
        text_printf(out, "%sdivide(%d, %d, (uint64_t)(", bits_of(t), op == OP_DIV || op == OP_QUOT,
                    op == OP_DIV || op == OP_MOD);
        operand(out, t, s->in[0]);
        text_add(out, "), (uint64_t)(");
        operand(out, t, s->in[1]);
        text_printf(out, "), %d, %zu, &bad))", ir_type_signed(t), 8 * ir_type_size(t));
        return true;
    case OP_NEG:
        text_printf(out, real ? "%s-%s(v%u))" : "%s0 - %sv%u)", bits_of(t), real ? (t == T_F32 ? "f32" : "f64") : "",
                    s->in[0]);
        return true;
    case OP_BIT_NOT:
        text_printf(out, "%s~v%u)", bits_of(t), s->in[0]);
        return true;
    case OP_NOT:
        text_printf(out, "(uint64_t)!v%u", s->in[0]);
        return true;
    case OP_MIN:
    case OP_MAX:
        if (real)
            return false;
        operand(out, t, s->in[0]);
        text_add(out, op == OP_MIN ? " < " : " > ");
        operand(out, t, s->in[1]);
        text_printf(out, " ? v%u : v%u", s->in[0], s->in[1]);
        return true;
    case OP_CONVERT:
        return convert(out, s);
    case OP_BITCAST:
        text_printf(out, "v%u", s->in[0]);
        return true;
    default:
        return false;
    }
}

/* --- steps --- */

/* The element that is read: a row-major position, checked against the extents. */
static bool read_element(const driven *d, text *out, uint32_t k, const host_step *s)
{
    uint32_t buffer;
    if (!plan_find(d->tape->r->plan, s->array, s->number, &buffer))
        return false;
    text_printf(out, "    int64_t at%u = 0;\n", k);
    for (unsigned i = 0; i < s->n; i++) {
        text_printf(out, "    at%u = place(at%u, (int64_t)v%u, ", k, k, s->in[i]);
        if (s->linear)
            for (unsigned e = 0; e < s->rank; e++)
                text_printf(out, "%s(int64_t)v%u", e ? " * " : "", s->in[s->n + e]);
        else
            text_printf(out, "(int64_t)v%u", s->in[s->n + i]);
        text_add(out, s->linear && !s->rank ? "1, &bad);\n" : ", &bad);\n");
    }
    text_printf(out, "    if (!bad && !fetch(s, b[%u], at%u * %zu, %zu, &v%u))\n        goto end;\n", buffer, k,
                ir_type_size((ir_type)s->type), ir_type_size((ir_type)s->type), k);
    if (s->type == T_BOOL)
        text_printf(out, "    v%u = v%u != 0;\n", k, k);
    return true;
}

static bool emit_step(driven *d, text *out, const host_code *code, uint32_t k)
{
    const host_step *s = &code->step.at[k];
    text_printf(out, "    uint64_t v%u = 0;\n    { int bad = 0", k);
    const uint32_t operands = s->kind == HOST_READ ? (uint32_t)s->n + s->rank : s->kind == HOST_OP ? s->n : 0;
    for (uint32_t i = 0; i < operands; i++)
        text_printf(out, "%s x%u", i ? " |" : ";\n    bad =", s->in[i]);
    text_add(out, ";\n");
    switch (s->kind) {
    case HOST_LITERAL:
        text_printf(out, "    v%u = UINT64_C(%" PRIu64 ");\n", k, s->literal);
        break;
    case HOST_DIM:
        text_printf(out, "    v%u = (uint64_t)dim[%u];\n", k, s->number);
        break;
    case HOST_READ:
        if (!read_element(d, out, k, s))
            return false;
        break;
    case HOST_COND:
        text_printf(out, "    v%u = v%u ? v%u : v%u;\n    bad = x%u | (v%u ? x%u : x%u);\n", k, s->in[0], s->in[1],
                    s->in[2], s->in[0], s->in[0], s->in[1], s->in[2]);
        break;
    case HOST_OP:
        text_printf(out, "    v%u = ", k);
        if (!apply(out, s)) {
            d->why =
                arena_printf(d->arena, "the host computes %s of %s, of which drivers have no C; compute it in an array",
                             ir_ops[s->op].name, ir_type_name((ir_type)s->type));
            return false;
        }
        text_add(out, ";\n");
        break;
    default:
        d->why =
            "the host computes a loop of numbers, of which drivers have no C; compute it in an array of one element";
        return false;
    }
    text_printf(out, "    x%u = bad; }\n", k);
    return true;
}

bool driven_varies(const driven *d, const host_code *code, uint32_t step, bool *varies)
{
    for (uint32_t i = 0; i <= step; i++) {
        const host_step *s = &code->step.at[i];
        const uint32_t operands = s->kind == HOST_READ   ? (uint32_t)s->n + s->rank
                                  : s->kind == HOST_COND ? 3
                                  : s->kind == HOST_OP   ? s->n
                                                         : 0;
        varies[i] = s->kind == HOST_READ || s->kind == HOST_TERM || (s->kind == HOST_DIM && d->dim_varies[s->number]);
        for (uint32_t k = 0; k < operands; k++)
            varies[i] |= varies[s->in[k]];
    }
    return varies[step];
}

bool driven_value(driven *d, text *out, const host_code *code, uint32_t step, const char *to)
{
    bool *needed = arena_alloc(d->arena, step + 1);
    needed[step] = true;
    for (uint32_t i = step + 1; i-- > 0;) {
        const host_step *s = &code->step.at[i];
        const uint32_t operands = s->kind == HOST_READ   ? (uint32_t)s->n + s->rank
                                  : s->kind == HOST_COND ? 3
                                  : s->kind == HOST_OP   ? s->n
                                                         : 0;
        for (uint32_t k = 0; k < operands && needed[i]; k++)
            needed[s->in[k]] = true;
    }
    text_add(out, "    {\n");
    for (uint32_t i = 0; i <= step; i++)
        if (needed[i])
            text_printf(out, "    int x%u = 0;\n", i);
    for (uint32_t i = 0; i <= step; i++)
        if (needed[i] && !emit_step(d, out, code, i))
            return false;
    text_printf(
        out,
        "    if (x%u) {\n        said(s, \"a number that the host computes fails\", 0);\n        goto end;\n    }\n"
        "    %s = v%u;\n    }\n",
        step, to, step);
    return true;
}
