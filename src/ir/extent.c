/* Extents in normal form: polynomials with integer coefficients over dimensions and other atoms, so that equal sums and
 * products of extents are one node. A sum of more than MAX_TERMS products, or a product of more than MAX_FACTORS atoms,
 * is left as written and counts as an atom itself; so the work for one node is bounded. */
#include "ir/intern.h"

enum { MAX_TERMS = 24, MAX_FACTORS = 12 };

typedef struct product {
    int64_t coefficient;
    uint32_t n;
    ir_id atom[MAX_FACTORS]; /* sorted */
} product;

typedef struct polynomial {
    uint32_t n;
    product term[MAX_TERMS]; /* sorted: more factors first, the constant last; no coefficient is 0 */
} polynomial;

typedef enum { FITS, TOO_LARGE, OVERFLOWS } outcome;

/* --- polynomials --- */

/* Dimensions first, in the order of their numbers: an order that survives printing and parsing. */
static int compare_atoms(const ir_program *p, ir_id a, ir_id b)
{
    bool dim_a = ir_at(p, a)->kind == IR_DIM, dim_b = ir_at(p, b)->kind == IR_DIM;
    if (dim_a != dim_b)
        return dim_a ? -1 : 1;
    if (dim_a && ir_at(p, a)->u.literal != ir_at(p, b)->u.literal)
        return ir_at(p, a)->u.literal < ir_at(p, b)->u.literal ? -1 : 1;
    return (a > b) - (a < b);
}

static int compare_products(const ir_program *p, const product *a, const product *b)
{
    if (a->n != b->n)
        return a->n > b->n ? -1 : 1;
    for (uint32_t i = 0; i < a->n; i++) {
        int c = compare_atoms(p, a->atom[i], b->atom[i]);
        if (c)
            return c;
    }
    return 0;
}

static outcome add_product(const ir_program *p, polynomial *sum, const product *add)
{
    uint32_t k = 0;
    if (!add->coefficient)
        return FITS;
    while (k < sum->n && compare_products(p, &sum->term[k], add) < 0)
        k++;
    product *at = &sum->term[k];
    if (k < sum->n && compare_products(p, at, add) == 0) {
        if (__builtin_add_overflow(at->coefficient, add->coefficient, &at->coefficient))
            return OVERFLOWS;
        if (!at->coefficient)
            memmove(at, at + 1, (--sum->n - k) * sizeof *at);
        return FITS;
    }
    if (sum->n == MAX_TERMS)
        return TOO_LARGE;
    memmove(at + 1, at, (sum->n++ - k) * sizeof *at);
    *at = *add;
    return FITS;
}

static outcome multiply(const ir_program *p, const product *a, const product *b, product *out)
{
    if (a->n + b->n > MAX_FACTORS)
        return TOO_LARGE;
    if (__builtin_mul_overflow(a->coefficient, b->coefficient, &out->coefficient))
        return OVERFLOWS;
    out->n = 0;
    for (uint32_t i = 0, j = 0; i < a->n || j < b->n;) {
        bool left = j == b->n || (i < a->n && compare_atoms(p, a->atom[i], b->atom[j]) <= 0);
        out->atom[out->n++] = left ? a->atom[i++] : b->atom[j++];
    }
    return FITS;
}

static outcome combine(const ir_program *p, ir_op op, const polynomial *a, const polynomial *b, polynomial *out)
{
    outcome result = FITS;
    out->n = 0;
    if (op == OP_MUL) {
        for (uint32_t i = 0; i < a->n && result == FITS; i++)
            for (uint32_t j = 0; j < b->n && result == FITS; j++) {
                product ab;
                result = multiply(p, &a->term[i], &b->term[j], &ab);
                if (result == FITS)
                    result = add_product(p, out, &ab);
            }
        return result;
    }
    *out = *a;
    for (uint32_t j = 0; j < b->n && result == FITS; j++) {
        product term = b->term[j];
        if (op == OP_SUB && __builtin_sub_overflow((int64_t)0, term.coefficient, &term.coefficient))
            return OVERFLOWS;
        result = add_product(p, out, &term);
    }
    return result;
}

/* --- terms to polynomials and back --- */

static bool is_sum(const ir_program *p, ir_id id, ir_op op)
{
    const ir_node *n = ir_at(p, id);
    return n->kind == IR_OP && n->op == op && n->type == T_I64 && !map64_get(&p->state->opaque, id);
}

/* The operands of nested uses of op below id, at most `most`; false if there are more. */
static bool flatten(const ir_program *p, ir_id id, ir_op op, uint32_t most, ir_id *leaf, uint32_t *n)
{
    ir_id stack[MAX_TERMS + 2];
    uint32_t depth = 0;
    *n = 0;
    stack[depth++] = id;
    while (depth) {
        ir_id at = stack[--depth];
        if (!is_sum(p, at, op)) {
            if (*n == most)
                return false;
            leaf[(*n)++] = at;
            continue;
        }
        if (depth + 2 + *n > most)
            return false;
        stack[depth++] = ir_args(p, at)[1];
        stack[depth++] = ir_args(p, at)[0];
    }
    return true;
}

static bool read_product(const ir_program *p, ir_id id, product *out)
{
    ir_id factor[MAX_FACTORS + 1];
    uint32_t n;
    *out = (product){.coefficient = 1};
    if (!flatten(p, id, OP_MUL, MAX_FACTORS + 1, factor, &n))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        const ir_node *f = ir_at(p, factor[i]);
        product one = {.coefficient = 1, .n = 1, .atom = {factor[i]}}, old = *out;
        if (f->kind == IR_CONST)
            one = (product){.coefficient = (int64_t)f->u.literal};
        if (multiply(p, &old, &one, out) != FITS)
            return false;
    }
    return true;
}

/* Reads a term in normal form; what is too large is an atom. */
static void read_polynomial(const ir_program *p, ir_id id, polynomial *out)
{
    ir_id leaf[MAX_TERMS];
    uint32_t n;
    bool fits = flatten(p, id, OP_ADD, MAX_TERMS, leaf, &n);
    out->n = 0;
    for (uint32_t i = 0; fits && i < n; i++) {
        product term;
        if (!read_product(p, leaf[i], &term))
            term = (product){.coefficient = 1, .n = 1, .atom = {leaf[i]}};
        fits = add_product(p, out, &term) == FITS;
    }
    if (!fits) {
        out->n = 1;
        out->term[0] = (product){.coefficient = 1, .n = 1, .atom = {id}};
    }
}

static ir_id write_op(ir_program *p, uint32_t site, ir_op op, ir_id a, ir_id b)
{
    ir_node key = {.kind = IR_OP, .type = T_I64, .op = (uint8_t)op};
    ir_id args[2] = {a, b};
    return ir_intern(p, site, &key, 2, args);
}

static ir_id write_product(ir_program *p, uint32_t site, const product *t)
{
    if (!t->n)
        return ir_i64(p, t->coefficient);
    ir_id id = t->atom[0];
    for (uint32_t i = 1; i < t->n; i++)
        id = write_op(p, site, OP_MUL, id, t->atom[i]);
    return t->coefficient == 1 ? id : write_op(p, site, OP_MUL, id, ir_i64(p, t->coefficient));
}

static ir_id write_polynomial(ir_program *p, uint32_t site, const polynomial *sum)
{
    if (!sum->n)
        return ir_i64(p, 0);
    ir_id id = write_product(p, site, &sum->term[0]);
    for (uint32_t i = 1; i < sum->n; i++)
        id = write_op(p, site, OP_ADD, id, write_product(p, site, &sum->term[i]));
    return id;
}

/* a op b for operands in normal form */
static ir_id combine_terms(ir_program *p, uint32_t site, ir_op op, ir_id a, ir_id b)
{
    polynomial left, right, out;
    read_polynomial(p, a, &left);
    read_polynomial(p, b, &right);
    switch (combine(p, op, &left, &right, &out)) {
    case FITS:
        return write_polynomial(p, site, &out);
    case OVERFLOWS:
        return ir_fail(p, site, "%s: an extent exceeds 64 bits; make it smaller", ir_operation(p, site, "shape"));
    case TOO_LARGE:
        break;
    }
    ir_id whole = write_op(p, site, op, a, b);
    map64_put(p->arena, &p->state->opaque, whole, 1);
    return whole;
}

/* --- normalisation --- */

static ir_id known_normal(const ir_program *p, ir_id id)
{
    const ir_node *n = ir_at(p, id);
    bool arithmetic = n->kind == IR_OP && n->type == T_I64 &&
                      (n->op == OP_ADD || n->op == OP_SUB || n->op == OP_MUL || n->op == OP_NEG);
    return arithmetic ? map64_get(&p->state->extents, id) : id;
}

/* The normal form of a node whose operands have theirs. */
static ir_id normalise(ir_program *p, uint32_t site, ir_id id)
{
    ir_node n = *ir_at(p, id);
    ir_id a = known_normal(p, ir_args(p, id)[0]), b = n.n > 1 ? known_normal(p, ir_args(p, id)[1]) : 0, normal;
    if (n.op == OP_NEG)
        normal = combine_terms(p, site, OP_SUB, ir_i64(p, 0), a);
    else
        normal = combine_terms(p, site, (ir_op)n.op, a, b);
    if (!normal)
        return 0;
    map64_put(p->arena, &p->state->extents, id, normal);
    map64_put(p->arena, &p->state->extents, normal, normal);
    return normal;
}

/* Depth-first over what has no normal form yet: a node is done when both its operands are. */
static ir_id normal_form(ir_program *p, uint32_t site, ir_id e)
{
    ir_ids todo = {0};
    vec_push(p->arena, &todo, e);
    while (todo.n) {
        ir_id id = todo.at[todo.n - 1];
        bool ready = true;
        if (known_normal(p, id)) {
            todo.n--;
            continue;
        }
        for (uint32_t i = 0; i < ir_at(p, id)->n; i++) {
            ir_id operand = p->arg.at[ir_at(p, id)->args + i];
            if (!known_normal(p, operand)) {
                vec_push(p->arena, &todo, operand);
                ready = false;
            }
        }
        if (ready && !normalise(p, site, id))
            return 0;
    }
    return known_normal(p, e);
}

ir_id ir_extent_normal(ir_program *p, uint32_t site, ir_id e)
{
    const char *name = ir_operation(p, site, "shape");
    if (!e || !ir_expect_scalar(p, site, name, e))
        return 0;
    if (ir_at(p, e)->type != T_I64)
        return ir_fail(p, site, "%s: an extent is of type %s, not i64", name, ir_type_name((ir_type)ir_at(p, e)->type));
    if (ir_at(p, e)->scope)
        return ir_fail(p, site,
                       "%s: an extent depends on a variable of a scalar function; it may depend on extents and arrays",
                       name);
    return known_normal(p, e) ? known_normal(p, e) : normal_form(p, site, e);
}

static ir_id combine_extents(ir_program *p, ir_op op, ir_id a, ir_id b)
{
    a = ir_extent_normal(p, 0, a);
    b = ir_extent_normal(p, 0, b);
    if (!a || !b)
        return 0;
    ir_id id = combine_terms(p, 0, op, a, b);
    return id ? ir_extent_normal(p, 0, id) : 0;
}

ir_id ir_extent_add(ir_program *p, ir_id a, ir_id b)
{
    return combine_extents(p, OP_ADD, a, b);
}

ir_id ir_extent_mul(ir_program *p, ir_id a, ir_id b)
{
    return combine_extents(p, OP_MUL, a, b);
}

ir_id ir_extent_product(ir_program *p, uint32_t site, unsigned n, const ir_id *e)
{
    ir_id size = ir_i64(p, 1);
    for (unsigned d = 0; d < n && size; d++)
        size = combine_terms(p, site, OP_MUL, size, e[d]);
    return size ? ir_extent_normal(p, site, size) : 0;
}

bool ir_extent_constant(const ir_program *p, ir_id e, int64_t *value)
{
    const ir_node *n = ir_at(p, e);
    if (n->kind != IR_CONST || n->type != T_I64)
        return false;
    *value = (int64_t)n->u.literal;
    return true;
}

void ir_check_equal(ir_program *p, uint32_t site, ir_id left, ir_id right, const char *what)
{
    int64_t l, r;
    if (!left || !right || left == right)
        return;
    if (ir_extent_constant(p, left, &l) && ir_extent_constant(p, right, &r)) {
        ir_fail(p, site, "%s: %lld and %lld; they have to be equal", what, (long long)l, (long long)r);
        return;
    }
    uint64_t low = left < right ? left : right, high = left < right ? right : left;
    if (map64_get(&p->state->checks, low << 32 | high))
        return; /* a condition already asked for is found violated there */
    ir_check check = {left, right, site, arena_string(p->arena, what)};
    vec_push(p->arena, &p->check, check);
    map64_put(p->arena, &p->state->checks, low << 32 | high, 1);
}
