/* Is a program well-formed? For tests and after passes: types, order of ids, shapes, and that every variable is used
 * only inside the function or loop that binds it. Looks at what the inputs, outputs and checks reach. */
#include "ir/intern.h"

typedef struct checker {
    const ir_program *p;
    arena *arena;
    const char *why;
    /* regions are functions and loops, where variables live; 0 is the program */
    VEC(uint32_t) outer;  /* the region around each */
    VEC(uint32_t) newest; /* the largest variable in it and around it */
    uint32_t *binder;     /* by id: region that binds a variable, or that was made for a loop; 0: none */
    uint32_t *seen;       /* by id: the region in which a scalar was last met, plus 1 */
    bool *known;          /* by id: the node itself is checked */
    ir_ids todo;
    VEC(uint32_t) place; /* region of todo.at[k] */
} checker;

static bool wrong(checker *c, ir_id id, const char *format, ...) SN_PRINTF(3, 4);

static bool wrong(checker *c, ir_id id, const char *format, ...)
{
    if (c->why)
        return false;
    text t;
    text_init(&t, c->arena);
    text_printf(&t, "node %u: ", id);
    va_list args;
    va_start(args, format);
    text_vprintf(&t, format, args);
    va_end(args);
    c->why = t.at;
    return false;
}

/* --- single scalar nodes --- */

static bool is_value(checker *c, ir_id user, ir_id id)
{
    if (!id || id >= c->p->node.n)
        return wrong(c, user, "an operand is missing");
    const ir_node *n = ir_at(c->p, id);
    if (n->kind == IR_NONE || n->kind == IR_LOOP || n->kind >= IR_INPUT || n->type == T_NONE || n->type >= T_COUNT)
        return wrong(c, user, "operand %u is no scalar", id);
    return id < user || wrong(c, user, "operand %u is made later", id);
}

static bool has_type(checker *c, ir_id user, ir_id id, ir_type t)
{
    ir_type found = (ir_type)ir_at(c->p, id)->type;
    return found == t || wrong(c, user, "operand %u is of type %s, not %s", id, ir_type_name(found), ir_type_name(t));
}

static bool check_op(checker *c, ir_id id, const ir_node *n, const ir_id *arg)
{
    if (n->op == OP_NONE || n->op >= OP_COUNT || n->n != ir_ops[n->op].arity)
        return wrong(c, id, "operator %u with %u operands", (unsigned)n->op, n->n);
    ir_type t = (ir_type)ir_at(c->p, arg[0])->type;
    for (uint32_t i = 1; i < n->n; i++)
        if (!has_type(c, id, arg[i], t))
            return false;
    return ir_op_result((ir_op)n->op, t, (ir_type)n->type) == (ir_type)n->type ||
           wrong(c, id, "%s of %s gives no %s", ir_ops[n->op].name, ir_type_name(t), ir_type_name((ir_type)n->type));
}

static bool check_read(checker *c, ir_id id, const ir_node *n, const ir_id *arg)
{
    if (!n->array || n->array >= id || !ir_is_array(c->p, n->array))
        return wrong(c, id, "reads no array");
    const ir_array *a = ir_info(c->p, n->array);
    if (n->u.literal >= a->components || a->type[n->u.literal] != (ir_type)n->type)
        return wrong(c, id, "reads a component that is not there");
    if (n->n != (n->flags & IR_LINEAR ? 1u : a->rank))
        return wrong(c, id, "%u indices for rank %u", n->n, (unsigned)a->rank);
    for (uint32_t i = 0; i < n->n; i++)
        if (!has_type(c, id, arg[i], T_I64))
            return false;
    return true;
}

static bool check_proj(checker *c, ir_id id, const ir_node *n)
{
    ir_id loop = n->n == 1 ? ir_args(c->p, id)[0] : 0;
    if (!loop || loop >= id || ir_at(c->p, loop)->kind != IR_LOOP)
        return wrong(c, id, "reads the state of no loop");
    const ir_loop *l = ir_at(c->p, loop)->u.loop;
    return (n->u.literal < l->states && ir_at(c->p, l->var[n->u.literal])->type == n->type) ||
           wrong(c, id, "reads a state that is not there");
}

static bool check_loop(checker *c, ir_id id, const ir_loop *l)
{
    if (!l->cond == !l->count)
        return wrong(c, id, "a loop needs either a condition or a count");
    for (uint32_t i = 0; i < l->states; i++) {
        if (!is_value(c, id, l->init[i]) || !is_value(c, id, l->var[i]) || !is_value(c, id, l->next[i]))
            return false;
        const ir_node *var = ir_at(c->p, l->var[i]);
        if (var->kind != IR_VAR)
            return wrong(c, id, "state %u has no variable", i);
        if (!has_type(c, id, l->init[i], (ir_type)var->type) || !has_type(c, id, l->next[i], (ir_type)var->type))
            return false;
    }
    if (l->cond)
        return is_value(c, id, l->cond) && has_type(c, id, l->cond, T_BOOL);
    return is_value(c, id, l->count) && has_type(c, id, l->count, T_I64) && is_value(c, id, l->index) &&
           (ir_at(c->p, l->index)->kind == IR_VAR || wrong(c, id, "the index is no variable")) &&
           has_type(c, id, l->index, T_I64);
}

static bool check_scalar(checker *c, ir_id id)
{
    const ir_node *n = ir_at(c->p, id);
    const ir_id *arg = ir_args(c->p, id);
    ir_id scope = n->kind == IR_VAR ? id : 0;
    if (n->kind == IR_LOOP)
        return check_loop(c, id, n->u.loop);
    if (n->kind == IR_PROJ)
        return check_proj(c, id, n);
    for (uint32_t i = 0; i < n->n; i++) {
        if (!is_value(c, id, arg[i]))
            return false;
        scope = ir_at(c->p, arg[i])->scope > scope ? ir_at(c->p, arg[i])->scope : scope;
        if (ir_at(c->p, arg[i])->partial && !n->partial)
            return wrong(c, id, "operand %u may fail, but the node is said to be total", arg[i]);
    }
    if (scope != n->scope)
        return wrong(c, id, "scope %u, but it depends on variable %u", n->scope, scope);
    switch ((ir_kind)n->kind) {
    case IR_CONST:
    case IR_VAR:
        return true;
    case IR_DIM:
        return (n->type == T_I64 && n->u.literal < c->p->dim.n) || wrong(c, id, "an extent without name");
    case IR_OP:
        return check_op(c, id, n, arg);
    case IR_COND:
        return n->n == 3 ? has_type(c, id, arg[0], T_BOOL) && has_type(c, id, arg[1], (ir_type)n->type) &&
                               has_type(c, id, arg[2], (ir_type)n->type)
                         : wrong(c, id, "a condition with %u operands", n->n);
    case IR_READ:
        return check_read(c, id, n, arg);
    case IR_CALL:
        return n->n >= 2 && n->n <= IR_MOST_CALLED + 1 && n->u.code ? has_type(c, id, arg[0], (ir_type)n->type)
                                                                    : wrong(c, id, "a call with %u operands", n->n);
    default:
        return wrong(c, id, "unknown kind %u", (unsigned)n->kind);
    }
}

/* --- variables and where they may be used --- */

static bool encloses(const checker *c, uint32_t outer, uint32_t inner)
{
    while (inner && inner != outer)
        inner = c->outer.at[inner];
    return inner == outer;
}

static void visit(checker *c, ir_id id, uint32_t where)
{
    uint32_t last = c->seen[id];
    if (last && encloses(c, last - 1, where))
        return;
    c->seen[id] = where + 1;
    vec_push(c->arena, &c->todo, id);
    vec_push(c->arena, &c->place, where);
}

static bool bind(checker *c, uint32_t where, ir_id var)
{
    if (c->binder[var])
        return wrong(c, var, "a variable is bound twice");
    if (var < c->newest.at[c->outer.at[where]])
        return wrong(c, var, "a variable is older than one of the loop around it");
    if (var > c->newest.at[where])
        c->newest.at[where] = var;
    c->binder[var] = where;
    return true;
}

static uint32_t add_region(checker *c, uint32_t around)
{
    vec_push(c->arena, &c->outer, around);
    ir_id newest = c->newest.n ? c->newest.at[around] : 0;
    vec_push(c->arena, &c->newest, newest);
    return c->outer.n - 1;
}

static bool enter_loop(checker *c, ir_id id, uint32_t where)
{
    const ir_loop *l = ir_at(c->p, id)->u.loop;
    for (uint32_t i = 0; i < l->states; i++)
        visit(c, l->init[i], where);
    if (l->count)
        visit(c, l->count, where);
    ir_id scope = ir_at(c->p, id)->scope;
    if (scope)
        visit(c, scope, where);
    if (c->binder[id])
        return true; /* met before: what stands inside is checked, and its innermost free variable once more here */
    /* The loop belongs where its innermost free variable is bound, wherever it was met first. */
    uint32_t inside = c->binder[id] = add_region(c, scope ? c->binder[scope] : 0);
    for (uint32_t i = 0; i < l->states; i++)
        if (!bind(c, inside, l->var[i]))
            return false;
    if (l->count && !bind(c, inside, l->index))
        return false;
    for (uint32_t i = 0; i < l->states; i++)
        visit(c, l->next[i], inside);
    if (l->cond)
        visit(c, l->cond, inside);
    return true;
}

static bool walk(checker *c)
{
    while (c->todo.n) {
        ir_id id = c->todo.at[--c->todo.n];
        uint32_t where = c->place.at[--c->place.n];
        const ir_node *n = ir_at(c->p, id);
        if (!c->known[id] && !check_scalar(c, id))
            return false;
        c->known[id] = true;
        if (n->kind == IR_VAR && !(c->binder[id] && encloses(c, c->binder[id], where)))
            return wrong(c, id, "a variable is used outside of what binds it");
        if (n->kind == IR_LOOP && !enter_loop(c, id, where))
            return false;
        if (n->kind == IR_READ)
            c->seen[n->array] = 1;
        for (uint32_t i = 0; n->kind != IR_LOOP && i < n->n; i++)
            visit(c, ir_args(c->p, id)[i], where);
    }
    return true;
}

/* --- arrays --- */

static bool check_closed(checker *c, ir_id user, ir_id id, ir_type t)
{
    if (!is_value(c, user, id) || !has_type(c, user, id, t))
        return false;
    if (ir_at(c->p, id)->scope)
        return wrong(c, user, "operand %u is not closed", id);
    visit(c, id, 0);
    return walk(c);
}

static bool check_fn(checker *c, ir_id user, const ir_fn *fn, map64 *done)
{
    uint64_t key = (uint64_t)(uintptr_t)fn;
    if (map64_get(done, key))
        return true; /* one function used by two operations */
    map64_put(c->arena, done, key, 1);
    uint32_t where = add_region(c, 0);
    for (uint32_t i = 0; i < fn->params; i++)
        if (!is_value(c, user, fn->param[i]) || ir_at(c->p, fn->param[i])->kind != IR_VAR ||
            !bind(c, where, fn->param[i]))
            return wrong(c, user, "parameter %u is no variable of its own", i);
    for (uint32_t i = 0; i < fn->results; i++) {
        if (!is_value(c, user, fn->result[i]))
            return false;
        visit(c, fn->result[i], where);
    }
    return walk(c);
}

/* The types a function takes, piece by piece, against its parameters. */
typedef struct matcher {
    checker *c;
    ir_id user;
    const ir_fn *fn;
    uint32_t at;
    bool good;
} matcher;

static void takes(matcher *m, uint32_t times, uint32_t n, const ir_type *type)
{
    for (uint32_t k = 0; m->good && k < times; k++)
        for (uint32_t i = 0; m->good && i < n; i++, m->at++)
            m->good =
                m->at < m->fn->params && ir_at(m->c->p, m->fn->param[m->at])->type == (uint8_t)(type ? type[i] : T_I64);
}

static bool takes_all(matcher *m)
{
    return (m->good && m->at == m->fn->params) || wrong(m->c, m->user, "the function takes other operands");
}

static bool gives(checker *c, ir_id user, const ir_fn *fn, uint32_t n, const ir_type *type)
{
    bool good = fn->results == n;
    for (uint32_t i = 0; good && i < n; i++)
        good = ir_at(c->p, fn->result[i])->type == (uint8_t)(type ? type[i] : T_I64);
    return good || wrong(c, user, "the function gives other types");
}

static bool same_shape(checker *c, ir_id user, const ir_array *a, const ir_array *from, unsigned rank)
{
    bool good = a->rank == rank && from->rank >= rank;
    for (unsigned d = 0; good && d < rank; d++)
        good = a->shape[d] == from->shape[d];
    return good || wrong(c, user, "the shape does not follow from the operand's");
}

static bool same_types(checker *c, ir_id user, const ir_array *a, const ir_array *from)
{
    bool good = a->components == from->components && memcmp(a->type, from->type, a->components * sizeof *a->type) == 0;
    return good || wrong(c, user, "the elements are of other types than the operand's");
}

static bool check_stencil(checker *c, ir_id id, const ir_array *a, map64 *done)
{
    matcher m = {.c = c, .user = id, .fn = a->fn, .good = true};
    for (uint32_t i = 0; i < a->inputs; i++) {
        const ir_array *in = ir_info(c->p, a->input[i]);
        const ir_stencil *s = &a->stencil[i];
        uint32_t positions = 1;
        if (in->rank != a->rank || a->rank < 1 || a->rank > 3 || s->boundary > IR_FUNCTION)
            return wrong(c, id, "a stencil of another rank");
        for (unsigned d = 0; d < in->rank; d++) {
            if (s->extent[d] % 2 == 0 || s->extent[d] > IR_MAX_PATTERN)
                return wrong(c, id, "a pattern of extent %u", (unsigned)s->extent[d]);
            positions *= s->extent[d];
        }
        takes(&m, positions, in->components, in->type);
        for (uint32_t k = 0; s->boundary == IR_CONSTANT && k < in->components; k++)
            if (!check_closed(c, id, s->constant[k], in->type[k]))
                return false;
        if (s->boundary != IR_FUNCTION)
            continue;
        matcher outside = {.c = c, .user = id, .fn = s->function, .good = true};
        takes(&outside, 1, in->rank, NULL);
        if (!takes_all(&outside) || !gives(c, id, s->function, in->components, in->type) ||
            !check_fn(c, id, s->function, done))
            return false;
    }
    return takes_all(&m);
}

static bool are_offsets(const ir_array *a)
{
    return a->rank == 1 && a->components == 1 && a->type[0] == T_I64;
}

/* Inputs are there before anything is computed: so is what their extents are made of. */
static bool check_input(checker *c, ir_id id)
{
    const ir_array *a = ir_info(c->p, id);
    const uint32_t number = ir_at(c->p, id)->args;
    if (number >= c->p->input.n || c->p->input.at[number] != id)
        return wrong(c, id, "an input without number");
    return ir_known_before((ir_program *)c->p, a->rank, a->shape) ||
           wrong(c, id, "an extent is read of what the program computes");
}

/* What the operation asks of its function, shape and types. */
static bool check_operation(checker *c, ir_id id, map64 *done)
{
    const ir_node *n = ir_at(c->p, id);
    const ir_array *a = n->u.info;
    const ir_array *from = a->inputs ? ir_info(c->p, a->input[0]) : NULL;
    matcher m = {.c = c, .user = id, .fn = a->fn, .good = true};
    switch ((ir_kind)n->kind) {
    case IR_INPUT:
        return check_input(c, id);
    case IR_GENERATE:
        takes(&m, 1, a->rank, NULL);
        return takes_all(&m);
    case IR_MAP:
        takes(&m, n->flags & IR_INDEXED ? 1 : 0, a->rank, NULL);
        for (uint32_t i = 0; i < a->inputs; i++)
            takes(&m, 1, ir_info(c->p, a->input[i])->components, ir_info(c->p, a->input[i])->type);
        return same_shape(c, id, a, from, from->rank) && takes_all(&m);
    case IR_BACKPERMUTE:
        takes(&m, 1, a->rank, NULL);
        return takes_all(&m) && gives(c, id, a->fn, from->rank, NULL) && same_types(c, id, a, from);
    case IR_RESHAPE:
        return same_types(c, id, a, from);
    case IR_FORCE:
        return same_types(c, id, a, from) && same_shape(c, id, a, from, from->rank);
    case IR_FOLD:
        takes(&m, 2, from->components, from->type);
        for (uint32_t i = 0; a->seed && i < a->components; i++)
            if (!check_closed(c, id, a->seed[i], a->type[i]))
                return false;
        return from->rank ? takes_all(&m) && same_types(c, id, a, from) && same_shape(c, id, a, from, from->rank - 1u)
                          : wrong(c, id, "folds rank 0");
    case IR_FOLD_SEG:
        takes(&m, 2, from->components, from->type);
        for (uint32_t i = 0; a->seed && i < a->components; i++)
            if (!check_closed(c, id, a->seed[i], a->type[i]))
                return false;
        if (a->inputs != 2 || !from->rank || a->rank != from->rank || !are_offsets(ir_info(c->p, a->input[1])))
            return wrong(c, id, "folds segments of something else than an array with offsets");
        if (memcmp(a->shape, from->shape, (a->rank - 1u) * sizeof(ir_id)) != 0)
            return wrong(c, id, "the shape does not follow from the operand's");
        return takes_all(&m) && same_types(c, id, a, from);
    case IR_SEGMENT_OF:
        return (a->inputs == 1 && a->rank == 1 && a->components == 1 && a->type[0] == T_I64 && are_offsets(from)) ||
               wrong(c, id, "segments of something else than offsets");
    case IR_SCAN:
    case IR_SCAN_SEG:
        takes(&m, 2, from->components, from->type);
        for (uint32_t i = 0; a->seed && i < a->components; i++)
            if (!check_closed(c, id, a->seed[i], a->type[i]))
                return false;
        if (!from->rank || (n->flags & IR_EXCLUSIVE && !a->seed))
            return wrong(c, id, from->rank ? "an exclusive scan without initial value" : "scans rank 0");
        if (n->kind == IR_SCAN && a->behind >= from->rank)
            return wrong(c, id, "scans a dimension that is not there");
        if (n->kind == IR_SCAN_SEG && (a->inputs != 2 || !are_offsets(ir_info(c->p, a->input[1]))))
            return wrong(c, id, "scans segments without offsets");
        return takes_all(&m) && same_types(c, id, a, from) && same_shape(c, id, a, from, from->rank);
    case IR_PACK:
        if (a->inputs != 2 || a->rank != 1 || from->rank != 1 || ir_info(c->p, a->input[1])->rank != 1 ||
            from->components != 1 || from->type[0] != T_BOOL)
            return wrong(c, id, "packs other than one row by bools");
        return same_types(c, id, a, ir_info(c->p, a->input[1])) &&
               (ir_counted(c->p, a->shape[0]) == a->input[0] || wrong(c, id, "the extent does not count"));
    case IR_SORT:
        if (!from->rank || a->keys > from->components || (a->keys == 0) != (a->fn != NULL))
            return wrong(c, id, "sorts rank 0, or by no keys");
        if (a->fn) {
            const ir_type holds = T_BOOL;
            takes(&m, 2, from->components, from->type);
            if (!takes_all(&m) || !gives(c, id, a->fn, 1, &holds))
                return false;
        }
        return same_types(c, id, a, from) && same_shape(c, id, a, from, from->rank);
    case IR_PERMUTE: {
        if (a->inputs != 3 || !from->rank)
            return wrong(c, id, "a permute of other than three arrays, or of rank 0");
        const ir_array *targets = ir_info(c->p, a->input[1]), *source = ir_info(c->p, a->input[2]);
        bool index = targets->components == from->rank && targets->rank == source->rank;
        for (uint32_t i = 0; i < targets->components; i++)
            index &= targets->type[i] == T_I64;
        if (!index)
            return wrong(c, id, "targets that are no indices");
        if (a->fn)
            takes(&m, 2, from->components, from->type);
        return (!a->fn || takes_all(&m)) && same_types(c, id, a, from) && same_types(c, id, a, source) &&
               same_shape(c, id, a, from, from->rank);
    }
    case IR_STENCIL:
        return same_shape(c, id, a, from, from->rank) && check_stencil(c, id, a, done);
    case IR_PART:
        return ir_at(c->p, a->input[0])->kind == IR_CONTROL && n->args < from->control->parts
                   ? true
                   : wrong(c, id, "a result of what has none");
    default:
        return wrong(c, id, "unknown kind %u", (unsigned)n->kind);
    }
}

static bool check_control(checker *c, ir_id id)
{
    const ir_control *k = ir_info(c->p, id)->control;
    for (uint32_t i = 0; i < k->values; i++)
        if (!check_closed(c, id, k->value[i], k->form == IR_CHOICE && i == 0 ? T_BOOL : T_I64))
            return false;
    for (uint32_t i = 0; i < k->regions; i++) {
        const char *why = NULL;
        if (!ir_check_program(k->region[i].program, c->arena, &why))
            return wrong(c, id, "region %u: %s", i, why);
    }
    return true;
}

static bool check_array(checker *c, ir_id id, map64 *done)
{
    const ir_node *n = ir_at(c->p, id);
    const ir_array *a = n->u.info;
    bool has_fn = n->kind == IR_GENERATE || n->kind == IR_MAP || n->kind == IR_BACKPERMUTE || n->kind == IR_FOLD ||
                  n->kind == IR_FOLD_SEG || n->kind == IR_SCAN || n->kind == IR_SCAN_SEG || n->kind == IR_STENCIL ||
                  (n->kind == IR_SORT && !a->keys) || (n->kind == IR_PERMUTE && a->fn);
    bool is_source = n->kind == IR_INPUT || n->kind == IR_GENERATE, is_control = n->kind == IR_CONTROL;
    if (a->rank > IR_MAX_RANK || !a->components != is_control || a->components > IR_MAX_COMPONENTS)
        return wrong(c, id, "rank %u with %u components", (unsigned)a->rank, (unsigned)a->components);
    if ((is_source != (a->inputs == 0) && !is_control) || has_fn != (a->fn != NULL) ||
        (n->kind == IR_STENCIL) != (a->stencil != NULL))
        return wrong(c, id, "parts are missing or too many");
    for (uint32_t i = 0; i < a->inputs; i++) {
        if (!a->input[i] || a->input[i] >= id || !ir_is_array(c->p, a->input[i]))
            return wrong(c, id, "operand %u is no earlier array", a->input[i]);
        c->seen[a->input[i]] = 1;
    }
    for (unsigned d = 0; d < a->rank; d++)
        if (!check_closed(c, id, a->shape[d], T_I64))
            return false;
    if (is_control)
        return check_control(c, id);
    if (has_fn && !check_fn(c, id, a->fn, done))
        return false;
    bool own_types = n->kind == IR_GENERATE || n->kind == IR_MAP || n->kind == IR_FOLD || n->kind == IR_FOLD_SEG ||
                     n->kind == IR_SCAN || n->kind == IR_SCAN_SEG || n->kind == IR_STENCIL ||
                     (n->kind == IR_PERMUTE && a->fn);
    if (own_types && !gives(c, id, a->fn, a->components, a->type))
        return false;
    return check_operation(c, id, done);
}

bool ir_check_program(const ir_program *p, arena *a, const char **why)
{
    checker c = {.p = p, .arena = a};
    map64 done = {0};
    c.binder = arena_array(a, *c.binder, p->node.n + 1);
    c.seen = arena_array(a, *c.seen, p->node.n + 1);
    c.known = arena_array(a, *c.known, p->node.n + 1);
    add_region(&c, 0);
    for (uint32_t k = 0; k < p->input.n + p->output.n; k++) {
        ir_id id = k < p->input.n ? p->input.at[k] : p->output.at[k - p->input.n];
        if (!id || id >= p->node.n || !ir_is_array(p, id))
            wrong(&c, id, "an input or result that is no array");
        else
            c.seen[id] = 1;
    }
    for (uint32_t k = 0; k < p->check.n && !c.why; k++)
        if (check_closed(&c, p->node.n, p->check.at[k].left, T_I64))
            check_closed(&c, p->node.n, p->check.at[k].right, T_I64);
    for (ir_id id = p->node.n; id-- > 1 && !c.why;) /* users before what they use */
        if (ir_is_array(p, id) && c.seen[id])
            check_array(&c, id, &done);
    *why = c.why;
    return !c.why;
}
