/* Recognises operators that choose an operand by a comparison. */
#include "opt/choice.h"

typedef struct pattern {
    const ir_program *p;
    const ir_fn *fn;
    uint32_t n; /* components */
    ir_id test; /* of all components */
    bool right; /* holds: the right operand is taken */
    opt_choice out;
} pattern;

/* Every component is picked by the same test, all from the same side. */
static bool picks_one_side(pattern *m)
{
    for (uint32_t c = 0; c < m->n; c++) {
        const ir_node *r = ir_at(m->p, m->fn->result[c]);
        if (r->kind != IR_COND)
            return false;
        const ir_id *arg = ir_args(m->p, m->fn->result[c]);
        ir_id left = m->fn->param[c], right = m->fn->param[m->n + c];
        bool takes_right = arg[1] == right && arg[2] == left;
        if (!takes_right && !(arg[1] == left && arg[2] == right))
            return false;
        if (c > 0 && (arg[0] != m->test || takes_right != m->right))
            return false;
        m->test = arg[0];
        m->right = takes_right;
    }
    return m->n > 0;
}

static ir_op exchanged(ir_op op)
{
    return op == OP_LT ? OP_GT : op == OP_GT ? OP_LT : op == OP_LE ? OP_GE : OP_LE;
}

static ir_op negated(ir_op op)
{
    return op == OP_LT ? OP_GE : op == OP_GE ? OP_LT : op == OP_LE ? OP_GT : OP_LE;
}

/* The test compares the operands' keys. */
static bool compares_keys(pattern *m, ir_id test)
{
    const ir_node *t = ir_at(m->p, test);
    if (t->kind != IR_OP || t->op < OP_LT || t->op > OP_GE)
        return false;
    const ir_id *arg = ir_args(m->p, test);
    for (uint32_t c = 0; c < m->n; c++) {
        ir_id left = m->fn->param[c], right = m->fn->param[m->n + c];
        bool straight = arg[0] == right && arg[1] == left;
        if (!straight && !(arg[0] == left && arg[1] == right))
            continue;
        ir_type type = (ir_type)ir_at(m->p, left)->type;
        if (type == T_BOOL || type == T_CHAR || (ir_type_float(type) && !m->right))
            return false;
        ir_op op = straight ? (ir_op)t->op : exchanged((ir_op)t->op);
        op = m->right ? op : negated(op);
        m->out = (opt_choice){.key = c, .greatest = op == OP_GT || op == OP_GE, .last = op == OP_GE || op == OP_LE};
        m->out.total = !ir_type_float(type);
        return true;
    }
    return false;
}

static bool is_test(const pattern *m, ir_id test, ir_op op, ir_id of)
{
    const ir_node *t = ir_at(m->p, test);
    return t->kind == IR_OP && t->op == op && ir_args(m->p, test)[0] == of && ir_args(m->p, test)[1] == of;
}

/* left is a NaN and right is none */
static bool rescues(const pattern *m, ir_id test)
{
    const ir_node *t = ir_at(m->p, test);
    if (t->kind != IR_OP || t->op != OP_AND)
        return false;
    ir_id left = m->fn->param[m->out.key], right = m->fn->param[m->n + m->out.key];
    const ir_id *arg = ir_args(m->p, test);
    return (is_test(m, arg[0], OP_NE, left) && is_test(m, arg[1], OP_EQ, right)) ||
           (is_test(m, arg[1], OP_NE, left) && is_test(m, arg[0], OP_EQ, right));
}

bool opt_find_choice(const ir_program *p, const ir_fn *fn, opt_choice *out)
{
    pattern m = {.p = p, .fn = fn, .n = fn->results};
    if (fn->params != 2 * m.n || !picks_one_side(&m))
        return false;
    const ir_node *t = ir_at(p, m.test);
    bool found = compares_keys(&m, m.test);
    for (unsigned i = 0; i < 2 && !found && t->kind == IR_OP && t->op == OP_OR; i++) {
        const ir_id *arg = ir_args(p, m.test);
        found = compares_keys(&m, arg[i]) && ir_type_float((ir_type)ir_at(p, fn->param[m.out.key])->type) &&
                rescues(&m, arg[1 - i]);
        m.out.total = found;
    }
    *out = m.out;
    return found;
}
