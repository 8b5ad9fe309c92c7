/* Recognises operators that choose an operand by a comparison, however they are written: they are evaluated in each
 * case that comparing the two keys may have, and the table of which operand comes out says what they choose. */
#include "opt/choice.h"

typedef enum { LESS, EQUAL, GREATER, NUMBERS, LEFT_NAN = NUMBERS, RIGHT_NAN, BOTH_NAN, CASES } relation;

typedef enum { UNKNOWN, FALSE, TRUE, LEFT, RIGHT, EITHER } sort; /* EITHER: the two have the same bits */

typedef struct value {
    sort is;
    uint32_t of; /* LEFT, RIGHT, EITHER: the component */
} value;

enum { MOST_TERMS = 256 };

typedef struct table {
    ir_program *p;
    const ir_fn *fn;
    const opt_order *order;
    uint32_t n;   /* components */
    uint32_t key; /* n: none yet */
    relation at;  /* the case at hand */
    uint32_t terms;
    ir_id *term;  /* ascending */
    value *value; /* of each */
} table;

static const value unknown = {.is = UNKNOWN};

static value truth(bool holds)
{
    return (value){.is = holds ? TRUE : FALSE};
}

static bool is_side(value v)
{
    return v.is >= LEFT;
}

static value parameter(const table *t, ir_id id)
{
    for (uint32_t c = 0; c < t->n; c++)
        if (id == t->fn->param[c] || id == t->fn->param[t->n + c])
            return (value){.is = id == t->fn->param[c] ? LEFT : RIGHT, .of = c};
    return unknown;
}

static value value_of(const table *t, ir_id id)
{
    uint32_t low = 0, high = t->terms;
    while (low + 1 < high) {
        uint32_t middle = (low + high) / 2;
        *(t->term[middle] <= id ? &low : &high) = middle;
    }
    return t->value[low];
}

static bool is_float(const table *t, uint32_t component)
{
    return ir_type_float((ir_type)ir_at(t->p, t->fn->param[component])->type);
}

/* How the left operand's component relates to the right one's, in the case at hand. */
static bool relation_of(const table *t, uint32_t component, relation *out)
{
    opt_order order = t->order ? t->order[component] : OPT_UNORDERED;
    *out = order == OPT_ASCENDS ? LESS : order == OPT_DESCENDS ? GREATER : t->at;
    return order != OPT_UNORDERED || component == t->key;
}

static relation exchanged(relation r)
{
    static const uint8_t other[CASES] = {GREATER, EQUAL, LESS, RIGHT_NAN, LEFT_NAN, BOTH_NAN};
    return (relation)other[r];
}

/* How x relates to y, which are sides of one component. */
static bool relate(const table *t, value x, value y, relation *out)
{
    if (!is_side(x) || !is_side(y) || x.of != y.of || !relation_of(t, x.of, out))
        return false;
    if (x.is == EITHER || y.is == EITHER)
        return *out == EQUAL;
    if (x.is == y.is) {
        relation nan = x.is == LEFT ? LEFT_NAN : RIGHT_NAN;
        *out = *out == nan || *out == BOTH_NAN ? BOTH_NAN : EQUAL;
    } else if (x.is == RIGHT) {
        *out = exchanged(*out);
    }
    return true;
}

static value compared(const table *t, ir_op op, value x, value y)
{
    relation r;
    if ((x.is == TRUE || x.is == FALSE) && (y.is == TRUE || y.is == FALSE))
        return op == OP_EQ ? truth(x.is == y.is) : op == OP_NE ? truth(x.is != y.is) : unknown;
    if (!relate(t, x, y, &r))
        return unknown;
    switch (op) {
    case OP_EQ:
        return truth(r == EQUAL);
    case OP_NE:
        return truth(r != EQUAL);
    case OP_LT:
        return truth(r == LESS);
    case OP_LE:
        return truth(r == LESS || r == EQUAL);
    case OP_GT:
        return truth(r == GREATER);
    default:
        return truth(r == GREATER || r == EQUAL);
    }
}

/* The less or the greater one of x and y, where that is one of the two for sure: of two zeros, or NaNs, it is not. */
static value extreme(const table *t, bool least, value x, value y)
{
    relation r;
    if (!relate(t, x, y, &r) || r == BOTH_NAN)
        return unknown;
    if (r == EQUAL)
        return x.is == y.is ? x : is_float(t, x.of) ? unknown : (value){.is = EITHER, .of = x.of};
    if (r == LEFT_NAN || r == RIGHT_NAN)
        return r == LEFT_NAN ? y : x;
    return (r == LESS) == least ? x : y;
}

static value is_nan(const table *t, value x)
{
    relation r;
    return relate(t, x, x, &r) ? truth(r == BOTH_NAN) : unknown;
}

static value both(value x, value y)
{
    return x.is == FALSE || y.is == FALSE ? truth(false) : x.is == TRUE && y.is == TRUE ? truth(true) : unknown;
}

static value negated(value x)
{
    return x.is == TRUE || x.is == FALSE ? truth(x.is == FALSE) : unknown;
}

static value operation(const table *t, const ir_node *n, const ir_id *arg)
{
    value x = value_of(t, arg[0]), y = n->n > 1 ? value_of(t, arg[1]) : unknown;
    switch ((ir_op)n->op) {
    case OP_EQ:
    case OP_NE:
    case OP_LT:
    case OP_LE:
    case OP_GT:
    case OP_GE:
        return compared(t, (ir_op)n->op, x, y);
    case OP_MIN:
    case OP_MAX:
        return extreme(t, n->op == OP_MIN, x, y);
    case OP_IS_NAN:
        return is_nan(t, x);
    case OP_NOT:
        return negated(x);
    case OP_AND:
        return both(x, y);
    case OP_OR:
        return negated(both(negated(x), negated(y)));
    default:
        return unknown;
    }
}

static value condition(const table *t, const ir_id *arg)
{
    value test = value_of(t, arg[0]), x = value_of(t, arg[1]), y = value_of(t, arg[2]);
    if (test.is == TRUE || test.is == FALSE)
        return test.is == TRUE ? x : y;
    return x.is == y.is && x.of == y.of ? x : unknown;
}

static value look(const table *t, ir_id id)
{
    const ir_node *n = ir_at(t->p, id);
    if (n->kind == IR_CONST && n->type == T_BOOL)
        return truth(n->u.literal != 0);
    if (n->kind == IR_COND)
        return condition(t, ir_args(t->p, id));
    return n->kind == IR_OP ? operation(t, n, ir_args(t->p, id)) : parameter(t, id);
}

/* The operand that comes out in this case, all of it; UNKNOWN if that is not plain to see. */
static sort outcome(table *t, relation at)
{
    sort all = EITHER;
    t->at = at;
    for (uint32_t i = 0; i < t->terms; i++)
        t->value[i] = look(t, t->term[i]);
    for (uint32_t c = 0; c < t->n; c++) {
        value v = value_of(t, t->fn->result[c]);
        if (!is_side(v) || v.of != c || (v.is != EITHER && all != EITHER && v.is != all))
            return UNKNOWN;
        all = v.is == EITHER ? all : v.is;
    }
    return all;
}

/* The one component that is compared and whose order is not known. */
static bool find_key(table *t)
{
    for (uint32_t i = 0; i < t->terms; i++) {
        const ir_node *n = ir_at(t->p, t->term[i]);
        if (n->kind != IR_OP)
            continue;
        for (uint32_t k = 0; k < n->n; k++) {
            value v = parameter(t, ir_args(t->p, t->term[i])[k]);
            if (!is_side(v) || (t->order && t->order[v.of] != OPT_UNORDERED))
                continue;
            if (t->key < t->n && t->key != v.of)
                return false;
            t->key = v.of;
        }
    }
    ir_type type = t->key < t->n ? (ir_type)ir_at(t->p, t->fn->param[t->key])->type : T_NONE;
    return ir_type_class(type) == CLASS_INT || ir_type_float(type);
}

static bool choose_among_nans(table *t, opt_choice *out)
{
    sort left = outcome(t, LEFT_NAN), right = outcome(t, RIGHT_NAN), two = outcome(t, BOTH_NAN);
    out->last_nan = two == RIGHT;
    if (left == RIGHT && right == LEFT)
        out->nan = OPT_NAN_LOSES;
    else
        out->nan = two == LEFT ? OPT_NAN_STAYS : OPT_NAN_TAKES;
    return (two == LEFT || two == RIGHT) && (out->nan == OPT_NAN_LOSES || (left == two && right == two));
}

bool opt_find_choice(ir_program *p, arena *a, const ir_fn *fn, const opt_order *order, opt_choice *out)
{
    table t = {.p = p, .fn = fn, .order = order, .n = fn->results, .key = fn->results};
    if (fn->params != 2 * t.n)
        return false;
    t.terms = ir_terms(p, a, fn->results, fn->result, &t.term);
    if (!t.terms || t.terms > MOST_TERMS || !find_key(&t))
        return false;
    t.value = arena_array(a, *t.value, t.terms);
    sort less = outcome(&t, LESS), equal = outcome(&t, EQUAL), greater = outcome(&t, GREATER);
    bool chooses = (less == LEFT && greater == RIGHT) || (less == RIGHT && greater == LEFT);
    *out = (opt_choice){.key = t.key, .greatest = less == RIGHT, .last = equal == RIGHT};
    return chooses && equal != UNKNOWN && (!is_float(&t, t.key) || choose_among_nans(&t, out));
}
