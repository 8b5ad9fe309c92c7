/* Whether an element changes the total at its place, for operators that choose. Where most elements change nothing it
 * is asked before anything is computed or stored: processors guess the answer, and totals wait for no store. */
#include "skeleton/permute/permute_parts.h"

#include "skeleton/extents.h"

bool sk_permute_extreme(const ir_program *p, const sk_permute_part *part)
{
    const ir_node *n = ir_at(p, part->fn->result[part->of[0]]);
    return part->n == 1 && n->kind == IR_OP && (n->op == OP_MIN || n->op == OP_MAX);
}

/* Is each component of the result that of the new element or that of the old one, by one condition? Gives this
 * condition, and whether the new one is taken where it holds. */
bool sk_permute_choice(const ir_program *p, const ir_fn *fn, const sk_permute_part *part, ir_id *condition, bool *new)
{
    *condition = 0;
    for (uint32_t i = 0; i < part->n; i++) {
        uint32_t c = part->of[i];
        const ir_node *n = ir_at(p, fn->result[c]);
        if (n->kind != IR_COND || n->partial)
            return false;
        const ir_id *arg = ir_args(p, fn->result[c]);
        bool straight = arg[1] == fn->param[c] && arg[2] == fn->param[fn->results + c],
             other = arg[2] == fn->param[c] && arg[1] == fn->param[fn->results + c];
        if ((!straight && !other) || (i && (arg[0] != *condition || straight != *new)))
            return false;
        *condition = arg[0];
        *new = straight;
    }
    return part->n > 0;
}

/* --- a question that is asked before a condition --- */

/* What must hold, if a condition does: a comparison, or that it does not hold. */
enum { LESS = 1, EQUAL = 2, GREATER = 4 };
typedef struct question {
    ir_id left, right; /* 0: nothing is known */
    unsigned holds;    /* any of these, */
    bool not ;         /* or none of them */
} question;

static bool is_constant(const ir_program *p, ir_id term, ir_bits value)
{
    const ir_node *n = ir_at(p, term);
    return n->kind == IR_CONST && n->type == T_BOOL && n->u.literal == value;
}

/* Is it `x and y`, or, if `any`, `x or y`? */
static bool is_pair(const ir_program *p, ir_id term, bool any, ir_id *x, ir_id *y)
{
    const ir_node *n = ir_at(p, term);
    const ir_id *arg = ir_args(p, term);
    bool op = n->kind == IR_OP && n->op == (any ? OP_OR : OP_AND);
    bool choice = n->kind == IR_COND && is_constant(p, arg[any ? 1 : 2], any);
    if (op || choice) {
        *x = arg[0];
        *y = arg[op ? 1 : any ? 2 : 1];
    }
    return op || choice;
}

static unsigned relations(ir_op op)
{
    switch (op) {
    case OP_LT:
        return LESS;
    case OP_LE:
        return LESS | EQUAL;
    case OP_GT:
        return GREATER;
    case OP_GE:
        return GREATER | EQUAL;
    case OP_EQ:
        return EQUAL;
    default:
        return 0;
    }
}

static unsigned turned(unsigned holds)
{
    return (holds & EQUAL) | (holds & LESS ? GREATER : 0) | (holds & GREATER ? LESS : 0);
}

/* Of the condition, or of its contrary. */
static question question_of(const ir_program *p, ir_id term, bool not )
{
    const ir_node *n = ir_at(p, term);
    ir_id x, y;
    if (n->kind == IR_OP && n->op == OP_NOT)
        return question_of(p, ir_args(p, term)[0], !not );
    if (n->kind == IR_OP && relations((ir_op)n->op))
        return (question){ir_args(p, term)[0], ir_args(p, term)[1], relations((ir_op)n->op), not };
    if (is_pair(p, term, not, &x, &y)) { /* both hold: what is known of one of them is enough */
        question q = question_of(p, x, not );
        return q.left ? q : question_of(p, y, not );
    }
    if (!is_pair(p, term, !not, &x, &y)) /* or at least one: one comparison that says no less than both */
        return (question){0};
    question q = question_of(p, x, not ), r = question_of(p, y, not );
    bool other_way = q.left == r.right && q.right == r.left;
    if (!q.left || !r.left || q.not || r.not || (!other_way && (q.left != r.left || q.right != r.right)))
        return (question){0};
    q.holds |= other_way ? turned(r.holds) : r.holds;
    return q.holds == (LESS | EQUAL) || q.holds == (GREATER | EQUAL) ? q : (question){0};
}

/* Is there more in the condition than in what is asked first? */
static bool is_all(const ir_program *p, ir_id condition)
{
    const ir_node *n = ir_at(p, condition);
    return n->kind == IR_OP && (relations((ir_op)n->op) || n->op == OP_NOT);
}

static k_val ask_first(sk_permute *m, const question *q)
{
    static const ir_op ops[] = {
        [LESS] = OP_LT, [EQUAL] = OP_EQ, [GREATER] = OP_GT, [LESS | EQUAL] = OP_LE, [GREATER | EQUAL] = OP_GE};
    k_builder *b = &m->lw->b;
    ir_id side[] = {q->left, q->right};
    k_val value[2];
    sk_emit(m->lw, 2, side, value);
    k_val holds = k_let(b, ops[q->holds], value[0], value[1], 0);
    return q->not ? k_let(b, OP_NOT, holds, 0, 0) : holds;
}

unsigned sk_permute_ask(sk_permute *m, const sk_permute_part *part, const k_val *new, const k_val *old)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    const ir_program *p = lw->l->ir;
    ir_id condition;
    bool takes_new;
    unsigned asked = 0;
    if (!sk_permute_choice(p, m->fn[part->op], part, &condition, &takes_new)) {
        uint32_t c = part->first + part->of[0];
        bool least = ir_at(p, part->fn->result[part->of[0]])->op == OP_MIN;
        k_if(b, k_let(b, least ? OP_LT : OP_GT, new[c], old[c], 0));
        return 1;
    }
    question q = is_all(p, condition) ? (question){0} : question_of(p, condition, !takes_new);
    if (q.left) {
        k_if(b, ask_first(m, &q));
        asked++;
    }
    k_val holds;
    sk_emit(lw, 1, &condition, &holds);
    k_if(b, takes_new ? holds : k_let(b, OP_NOT, holds, 0, 0));
    return asked + 1;
}
