/* Lowers scheduled scalar terms to kernel statements: checks in front of what may fail, branches, loops, reads. */
#include "skeleton/element/lower.h"

#include "ir/schedule.h"
#include "kernel/launch.h"
#include "opt/rewrite.h"
#include "skeleton/element/along.h"
#include "skeleton/element/eager.h"
#include "skeleton/element/contents.h"
#include "skeleton/element/runs.h"
#include "skeleton/element/spans.h"
#include "skeleton/extents.h"

static sk_index own_index(ir_program *p, uint8_t rank)
{
    sk_index at = {.rank = rank, .linear = ir_var(p, T_I64)};
    at.at[0] = at.linear;
    for (unsigned d = 0; d < rank && rank > 1; d++)
        at.at[d] = ir_var(p, T_I64);
    return at;
}

void sk_open(sk_lower *lw, uint16_t lanes)
{
    *lw = (sk_lower){.l = lw->l,
                     .cluster = lw->cluster,
                     .options = lw->options,
                     .arena = lw->arena,
                     .name = lw->name,
                     .pass = lw->pass};
    lw->out = arena_new(lw->arena, *lw->out);
    lw->out->k = k_new(lw->arena, lw->name, lanes);
    k_begin(&lw->b, lw->out->k);
    sk_body_init(&lw->body, lw->cluster, SK_GENERIC, lw->arena);
    lw->at = own_index(lw->l->ir, lw->cluster->loop->rank);
}

k_mem sk_array_memory(sk_lower *lw, ir_id array, uint32_t component, bool written)
{
    bool over = false;
    for (uint32_t i = 0; i < lw->options->overs; i++) {
        const sk_over *o = &lw->options->over[i];
        if (o->from != array || o->from_component != component)
            continue;
        array = o->to;
        component = o->to_component;
        written = over = true;
        break;
    }
    uint64_t key = ((uint64_t)array << 32) | component;
    k_mem m = map64_get(&lw->memory, key);
    if (m)
        return m;
    ir_type type = ir_info(lw->l->ir, array)->type[component];
    const ir_array *info = ir_info(lw->l->ir, array);
    const char *part = info->components > 1 ? arena_printf(lw->arena, "_%u", component) : "";
    const char *name = arena_printf(lw->arena, "%s%sa%u%s", info->name ? info->name : "", info->name ? "_" : "",
                                    lw->l->number[array], part);
    m = k_global(&lw->b, type, written, name);
    lw->out->k->mem.at[m].stream = written && lw->options->stream;
    lw->out->k->mem.at[m].once = written;
    lw->out->k->mem.at[m].unread = written && !over && array < lw->l->nodes && !(lw->l->wanted[array] >> component & 1);
    lw->out->k->mem.at[m].near = !written && sk_holds_near_places(lw->l->ir, lw->arena, array, component);
    lw->out->k->mem.at[m].one = !written && !info->rank;
    lw->out->k->mem.at[m].few = written ? 0 : sk_few_elements(lw->l->ir, info);
    vec_push(lw->arena, &lw->out->memory, ((sk_binding){SK_ARRAY, array, component, type}));
    map64_put(lw->arena, &lw->memory, key, m);
    return m;
}

k_mem sk_partial_memory(sk_lower *lw, sk_role role, uint32_t component, ir_type type)
{
    static const char *const name[] = {[SK_PARTIAL_IN] = "partial_in",
                                       [SK_PARTIAL_OUT] = "partial_out",
                                       [SK_SORTED_FROM] = "from",
                                       [SK_SORTED_TO] = "to"};
    bool written = role == SK_PARTIAL_OUT || role == SK_SORTED_TO;
    k_mem m = k_global(&lw->b, type, written, arena_printf(lw->arena, "%s%u", name[role], component));
    lw->out->k->mem.at[m].once = written;
    vec_push(lw->arena, &lw->out->memory, ((sk_binding){role, 0, component, type}));
    return m;
}

/* Extents are those of arrays, but for the numbers that a program's text brings along. */
static bool is_natural(const ir_program *p, uint32_t dim)
{
    int64_t value;
    return !ir_number_of(p, dim, &value) || value >= 0;
}

k_val sk_closed(sk_lower *lw, ir_id term)
{
    const ir_node *n = ir_at(lw->l->ir, term);
    if (n->kind == IR_CONST)
        return k_literal(&lw->b, (ir_type)n->type, n->u.literal);
    k_val v = map64_get(&lw->argument, term);
    if (v)
        return v;
    v = k_arg(&lw->b, (ir_type)n->type, n->kind == IR_DIM ? lw->l->ir->dim.at[n->u.literal] : "extent");
    lw->out->k->value.at[v].natural = n->kind == IR_DIM && is_natural(lw->l->ir, (uint32_t)n->u.literal);
    vec_push(lw->arena, &lw->out->argument, ((sk_argument){.term = term}));
    map64_put(lw->arena, &lw->argument, term, v);
    return v;
}

k_val sk_slot(sk_lower *lw, uint32_t slot, const char *name)
{
    uint64_t key = ((uint64_t)1 << 40) | slot;
    k_val v = map64_get(&lw->argument, key);
    if (v)
        return v;
    v = k_arg(&lw->b, T_I64, name);
    vec_push(lw->arena, &lw->out->argument, ((sk_argument){.slot = slot}));
    map64_put(lw->arena, &lw->argument, key, v);
    return v;
}

/* --- scopes --- */

/* value holds 1 + index into this stack of versions would cost a lookup more; forgetting is storing "none": map64 keeps
 * value > 0, so none is UINT32_MAX */
#define FORGOTTEN UINT32_MAX

uint32_t sk_scope(sk_lower *lw)
{
    return lw->undo.n;
}

void sk_scope_end(sk_lower *lw, uint32_t mark)
{
    while (lw->undo.n > mark)
        map64_put(lw->arena, &lw->value, lw->undo.at[--lw->undo.n], FORGOTTEN);
}

void sk_bind(sk_lower *lw, ir_id variable, k_val value)
{
    map64_put(lw->arena, &lw->value, variable, value);
    vec_push(lw->arena, &lw->undo, variable);
}

k_val sk_known(const sk_lower *lw, ir_id term)
{
    k_val v = map64_get(&lw->value, term);
    return v == FORGOTTEN ? 0 : v;
}

static uint64_t key_of_other(ir_id term)
{
    return UINT64_C(1) << 63 | term; /* no extent is so large a term */
}

static uint64_t key_of_less(ir_id term)
{
    return UINT64_C(3) << 62 | term;
}

void sk_stand_for(sk_lower *lw, ir_id term, ir_id other, k_val less)
{
    map64_put(lw->arena, &lw->value, key_of_other(term), other);
    vec_push(lw->arena, &lw->undo, key_of_other(term));
    map64_put(lw->arena, &lw->value, key_of_less(term), less);
    vec_push(lw->arena, &lw->undo, key_of_less(term));
}

ir_id sk_stands_for(const sk_lower *lw, ir_id term, k_val *less)
{
    const uint32_t other = map64_get(&lw->value, key_of_other(term)), by = map64_get(&lw->value, key_of_less(term));
    *less = by == FORGOTTEN ? 0 : by;
    return other == FORGOTTEN ? 0 : other;
}

k_val sk_value(sk_lower *lw, ir_id term)
{
    k_val v = sk_known(lw, term);
    if (v)
        return v;
    const ir_node *n = ir_at(lw->l->ir, term);
    if (n->kind == IR_CONST)
        return k_literal(&lw->b, (ir_type)n->type, n->u.literal);
    if (n->kind == IR_DIM)
        return sk_closed(lw, term);
    lw->why.text = "a scalar term is used before it is computed";
    return k_literal(&lw->b, n->type ? (ir_type)n->type : T_I64, 0);
}

/* --- one step --- */

static k_val as_i64(sk_lower *lw, k_val v)
{
    return lw->out->k->value.at[v].type == T_I64 ? v : k_convert(&lw->b, OP_CONVERT, T_I64, v);
}

/* Is a divisor known, and neither 0 nor -1? */
static bool divides_safely(const k_value *divisor)
{
    ir_type t = (ir_type)divisor->type;
    if (divisor->kind != KV_LITERAL)
        return false;
    return divisor->bits && !(ir_type_signed(t) && ir_i64_bits(t, divisor->bits) == -1);
}

/* integer division: the divisor is not 0, and the quotient of the smallest number by -1 is not asked for */
static void check_division(sk_lower *lw, const ir_node *n, k_val x, k_val y)
{
    ir_type t = (ir_type)n->type;
    if (!lw->options->checks || !ir_op_partial((ir_op)n->op, t) || divides_safely(&lw->out->k->value.at[y]))
        return;
    k_builder *b = &lw->b;
    k_val ok = k_let(b, OP_NE, y, k_literal(b, t, 0), 0);
    if (ir_type_signed(t)) { /* div, mod, quot and rem alike */
        k_val lowest = k_literal(b, t, ir_bits_i64(t, INT64_MIN >> (64 - ir_type_bits(t))));
        k_val minus = k_literal(b, t, ir_bits_i64(t, -1));
        k_val fine = k_let(b, OP_OR, k_let(b, OP_NE, x, lowest, 0), k_let(b, OP_NE, y, minus, 0), 0);
        ok = k_let(b, OP_AND, ok, fine, 0);
    }
    k_check(b, k_place(n->site, 0), ok, lw->element, as_i64(lw, y), k_i64(b, 0));
}

static k_val lower_op(sk_lower *lw, const ir_node *n)
{
    const ir_id *arg = lw->l->ir->arg.at + n->args;
    k_val in[3] = {0};
    for (uint32_t i = 0; i < n->n; i++)
        in[i] = sk_value(lw, arg[i]);
    if (ir_ops[n->op].signature == SIGNATURE_CONVERT)
        return k_convert(&lw->b, (ir_op)n->op, (ir_type)n->type, in[0]);
    if (ir_ops[n->op].flags & OP_TRACES) {
        k_note(&lw->b, n->site, lw->element, in[0]);
        return in[0];
    }
    if (n->partial)
        check_division(lw, n, in[0], in[1]);
    return k_let(&lw->b, (ir_op)n->op, in[0], in[1], in[2]);
}

/* Does this read take each element of a list in turn, in a loop over all of them? */
static bool reads_all(const sk_lower *lw, const ir_node *n)
{
    const ir_array *info = ir_info(lw->l->ir, n->array);
    return info->rank == 1 && n->n == 1 && n->flags & IR_SAFE &&
           map64_get(&lw->counted, lw->l->ir->arg.at[n->args]) == info->shape[0];
}

static k_val load_global(sk_lower *lw, const ir_node *n, k_val position)
{
    k_mem m = sk_array_memory(lw, n->array, (uint32_t)n->u.literal, false);
    if (reads_all(lw, n))
        return k_load_total(&lw->b, m, position);
    bool ahead =
        lw->ahead && lw->behind * (int64_t)ir_type_size((ir_type)n->type) % K_AHEAD_BYTES == 0 && sk_reads_most(lw, n);
    return ahead ? k_load_ahead(&lw->b, m, position) : k_load(&lw->b, m, position);
}

/* Has this index been checked against this extent already, where the open lists run? Notes that it is from now on. */
static bool is_checked(sk_lower *lw, ir_id index, ir_id extent)
{
    uint64_t key = (uint64_t)extent << 32 | index; /* no term's, as extents are not 0 */
    if (map64_get(&lw->counted, index) == extent)
        return true;
    k_val known = map64_get(&lw->value, key);
    if (known && known != FORGOTTEN)
        return true;
    map64_put(lw->arena, &lw->value, key, 1);
    vec_push(lw->arena, &lw->undo, key);
    return false;
}

k_val sk_extent_within(sk_lower *lw, const ir_node *n)
{
    const ir_array *info = ir_info(lw->l->ir, n->array);
    unsigned dimension = ir_within_dimension(n);
    return dimension == IR_WHOLE ? sk_product(lw, info->rank, info->shape) : sk_closed(lw, info->shape[dimension]);
}

void sk_note_extent(sk_lower *lw, ir_id index, ir_id extent)
{
    is_checked(lw, index, extent);
}

/* Is the index inside? One that was loaded as 32 bits is compared as such: vectors hold twice as many, and a negative
 * one is a large number without a sign. */
static k_val is_inside(sk_lower *lw, k_val index, k_val extent)
{
    k_builder *b = &lw->b;
    const k_value *value = b->k->value.at;
    const k_stmt *s = &b->k->stmt.at[value[index].def];
    bool widened = value[index].kind == KV_RESULT && s->op == K_LET && s->sub == OP_CONVERT;
    k_val from = widened ? s->in[0] : 0;
    if (from && value[from].type == T_I32 && value[from].kind == KV_RESULT &&
        b->k->stmt.at[value[from].def].op == K_LOAD) {
        k_val end = k_let(b, OP_MIN, extent, k_i64(b, (int64_t)1 << 31), 0);
        return k_let(b, OP_LT, k_convert(b, OP_BITCAST, T_U32, from), k_convert(b, OP_CONVERT, T_U32, end), 0);
    }
    return k_let(b, OP_AND, k_let(b, OP_GE, index, k_i64(b, 0), 0), k_let(b, OP_LT, index, extent, 0), 0);
}

/* The index itself, which must be inside. */
static k_val lower_within(sk_lower *lw, const ir_node *n)
{
    k_builder *b = &lw->b;
    const ir_array *info = ir_info(lw->l->ir, n->array);
    ir_id index = lw->l->ir->arg.at[n->args];
    k_val element = n->n > 1 ? sk_value(lw, lw->l->ir->arg.at[n->args + 1]) : lw->element, value = sk_value(lw, index);
    unsigned dimension = ir_within_dimension(n), component = info->rank > 1 ? dimension + 1 : 0;
    bool whole = dimension == IR_WHOLE;
    if (!lw->options->checks || is_checked(lw, index, whole ? ir_size(lw->l->ir, n->array) : info->shape[dimension]))
        return value;
    k_val extent = sk_extent_within(lw, n);
    if (lw->along && lw->along->first && !lw->along->loops) {
        vec_push(lw->arena, &lw->along->checked, index);
        vec_push(lw->arena, &lw->along->extent, whole ? ir_size(lw->l->ir, n->array) : info->shape[dimension]);
    }
    const k_val by_position = whole ? 0 : sk_run_inside(lw, index, extent);
    const k_val ok = by_position ? by_position : is_inside(lw, value, extent);
    k_check(b, k_place(n->site, whole ? 0 : component), ok, element, value, extent);
    return value;
}

/* The number of an element in its array; run: how many dimensions each index is of. */
static k_val position_of(sk_lower *lw, const ir_node *n, const k_val *index, const unsigned *run)
{
    const ir_array *info = ir_info(lw->l->ir, n->array);
    k_val position = 0;
    if (n->flags & IR_LINEAR)
        return index[0];
    for (uint32_t d = 0; d < n->n; d += run[d]) {
        k_val extent = run[d] > 1 ? sk_product(lw, run[d], info->shape + d) : sk_closed(lw, info->shape[d]);
        position = d ? sk_add(lw, sk_mul(lw, position, extent), index[d]) : index[d];
    }
    return n->n ? position : k_i64(&lw->b, 0);
}

static k_val lower_read(sk_lower *lw, const ir_node *n)
{
    k_builder *b = &lw->b;
    const ir_id *arg = lw->l->ir->arg.at + n->args;
    k_val index[IR_MAX_RANK] = {0}, position = 0;
    unsigned run[IR_MAX_RANK] = {0};
    for (uint32_t i = 0; i < n->n; i += run[i]) {
        run[i] = n->flags & IR_LINEAR ? 1 : sk_run_at(lw, n, i, &index[i]);
        if (run[i] == 1)
            index[i] = sk_value(lw, arg[i]);
    }
    if (lw->place) {
        k_mem m = lw->place(lw->place_env, lw, n, index, &position);
        if (m)
            return k_load(b, m, position);
    }
    return load_global(lw, n, position_of(lw, n, index, run));
}

typedef struct work { /* an open block: the lowering is iterative, as terms may nest deeply */
    const ir_block *block;
    uint32_t next;
    const ir_step *step; /* whose part this block is; NULL for the root */
    uint8_t part;        /* 0 then or test, 1 orelse or body; ALWAYS and 0 or 1: the condition is known */
    uint32_t scope;
    k_val *variable; /* results of the step */
} work;

typedef VEC(work) works;

enum { ALWAYS = 2 };

static void open_cond(sk_lower *lw, works *w, const ir_step *s)
{
    const ir_program *p = lw->l->ir;
    const k_value *condition = &lw->b.k->value.at[sk_value(lw, ir_args(p, s->cond[0])[0])];
    if (condition->kind == KV_LITERAL) {
        const uint8_t branch = !condition->bits;
        vec_push(lw->arena, w, ((work){branch ? s->orelse : s->then, 0, s, ALWAYS + branch, 0, NULL}));
        return;
    }
    k_val *variable = arena_array(lw->arena, k_val, s->group);
    for (uint32_t i = 0; i < s->group; i++)
        variable[i] = k_decl(&lw->b, k_literal(&lw->b, (ir_type)ir_at(p, s->cond[i])->type, 0), "chosen");
    k_if(&lw->b, sk_value(lw, ir_args(p, s->cond[0])[0]));
    vec_push(lw->arena, w, ((work){s->then, 0, s, 0, sk_scope(lw), variable}));
}

static void set_cond(sk_lower *lw, const work *open, unsigned branch)
{
    for (uint32_t i = 0; i < open->step->group; i++)
        k_set(&lw->b, open->variable[i], sk_value(lw, ir_args(lw->l->ir, open->step->cond[i])[1 + branch]));
}

static void open_loop(sk_lower *lw, works *w, const ir_step *s)
{
    const ir_loop *loop = ir_at(lw->l->ir, s->term)->u.loop;
    k_builder *b = &lw->b;
    k_val *variable = arena_array(lw->arena, k_val, loop->states + 1u);
    for (uint32_t i = 0; i < loop->states; i++)
        variable[i] = k_decl(b, sk_value(lw, loop->init[i]), "state");
    k_val count = 0, index = 0;
    if (loop->count) {
        count = sk_value(lw, loop->count);
        variable[loop->states] = k_decl(b, k_i64(b, 0), "round");
    }
    k_loop(b);
    uint32_t scope = sk_scope(lw);
    for (uint32_t i = 0; i < loop->states; i++)
        sk_bind(lw, loop->var[i], k_get(b, variable[i]));
    if (loop->count) {
        index = k_get(b, variable[loop->states]);
        sk_bind(lw, loop->index, index);
        k_break_if(b, k_let(b, OP_GE, index, count, 0));
    }
    bool test = !loop->count;
    vec_push(lw->arena, w, ((work){test ? s->test : s->body, 0, s, !test, scope, variable}));
}

/* A counted loop whose count is the same for all lanes needs no masks. */
static bool uniform_count(const sk_lower *lw, const ir_loop *loop)
{
    return loop->count && ir_at(lw->l->ir, loop->count)->scope == 0;
}

static void open_for(sk_lower *lw, works *w, const ir_step *s)
{
    const ir_loop *loop = ir_at(lw->l->ir, s->term)->u.loop;
    k_builder *b = &lw->b;
    k_val *variable = arena_array(lw->arena, k_val, loop->states + 1u);
    for (uint32_t i = 0; i < loop->states; i++)
        variable[i] = k_decl(b, sk_value(lw, loop->init[i]), "state");
    k_val count = sk_value(lw, loop->count);
    k_val index = k_for(b, k_i64(b, 0), count, false);
    uint32_t scope = sk_scope(lw);
    sk_bind(lw, loop->index, index);
    map64_put(lw->arena, &lw->counted, loop->index, loop->count);
    for (uint32_t i = 0; i < loop->states; i++)
        sk_bind(lw, loop->var[i], k_get(b, variable[i]));
    vec_push(lw->arena, w, ((work){s->body, 0, s, 1, scope, variable}));
}

static void close_loop_body(sk_lower *lw, const work *open)
{
    const ir_loop *loop = ir_at(lw->l->ir, open->step->term)->u.loop;
    k_builder *b = &lw->b;
    k_val *next = arena_array(lw->arena, k_val, loop->states + 1u);
    for (uint32_t i = 0; i < loop->states; i++)
        next[i] = sk_value(lw, loop->next[i]);
    for (uint32_t i = 0; i < loop->states; i++) {
        /* lanes that have left the loop keep the states that are read after it; the others may run on */
        if (map64_get(&lw->projected, ((uint64_t)open->step->term << 32) | i))
            k_set(b, open->variable[i], next[i]);
        else
            k_relax(b, open->variable[i], next[i]);
    }
    if (loop->count && !uniform_count(lw, loop))
        k_set(b, open->variable[loop->states], sk_add(lw, k_get(b, open->variable[loop->states]), k_i64(b, 1)));
}

/* the values after a loop, for its projections */
static void bind_projections(sk_lower *lw, ir_id id, const k_val *variable)
{
    const ir_loop *loop = ir_at(lw->l->ir, id)->u.loop;
    for (uint32_t i = 0; i < loop->states; i++) {
        if (!map64_get(&lw->projected, ((uint64_t)id << 32) | i))
            continue;
        k_val v = k_get(&lw->b, variable[i]);
        sk_bind(lw, ir_proj(lw->l->ir, id, i), v);
    }
}

/* An address is another one in each process: the launch brings it along, and kernels stay the same. */
static k_val address_of(sk_lower *lw, const ir_native *host)
{
    const ir_id term = ir_const(lw->l->ir, T_I64, (ir_bits)(uintptr_t)host);
    const uint64_t key = (uint64_t)UINT32_MAX << 32 | term;
    k_val v = map64_get(&lw->argument, key);
    if (v)
        return v;
    v = k_arg(&lw->b, T_I64, "function");
    vec_push(lw->arena, &lw->out->argument, ((sk_argument){.term = term}));
    map64_put(lw->arena, &lw->argument, key, v);
    return v;
}

_Static_assert((int)IR_MOST_GIVEN == (int)K_MOST_GIVEN && (int)IR_MOST_CALLED < (int)K_MOST_OPERANDS,
               "an address goes before them");

static k_val lower_call(sk_lower *lw, const ir_node *n)
{
    const ir_program *p = lw->l->ir;
    const ir_code *from = n->u.code;
    k_code code = {
        .name = from->name, .source = ir_called(p, n), .site = n->site, .results = from->results, .part = from->part};
    k_val in[K_MOST_OPERANDS];
    if (!code.source)
        return sk_value(lw, p->arg.at[n->args]);
    memcpy(code.type, from->type, sizeof(code.type));
    code.host = p->code == IR_CODE_LLVM && !from->source[IR_CODE_LLVM];
    const unsigned before = code.host;
    if (code.host)
        in[0] = address_of(lw, from->host);
    const ir_id *arg = p->arg.at + n->args;
    if (lw->b.k->code.n > UINT8_MAX)
        lw->why = (sk_reason){"a loop calls more than 256 foreign functions; sn_force(a) makes it several", true};
    for (uint32_t i = 1; i < n->n; i++)
        in[before + i - 1] = sk_value(lw, arg[i]);
    return k_call(&lw->b, &code, (ir_type)n->type, before + n->n - 1, in);
}

static void step(sk_lower *lw, works *w, const ir_step *s)
{
    ir_node n = *ir_at(lw->l->ir, s->term);
    switch (n.kind) {
    case IR_OP:
        sk_bind(lw, s->term, lower_op(lw, &n));
        break;
    case IR_READ:
        sk_bind(lw, s->term, lower_read(lw, &n));
        break;
    case IR_WITHIN:
        sk_bind(lw, s->term, lower_within(lw, &n));
        break;
    case IR_AFTER:
        sk_bind(lw, s->term, sk_value(lw, lw->l->ir->arg.at[n.args]));
        break;
    case IR_CALL:
        sk_bind(lw, s->term, lower_call(lw, &n));
        break;
    case IR_COND:
        if (s->then) {
            open_cond(lw, w, s);
        } else {
            const ir_id *arg = lw->l->ir->arg.at + n.args;
            sk_bind(lw, s->term, k_select(&lw->b, sk_value(lw, arg[0]), sk_value(lw, arg[1]), sk_value(lw, arg[2])));
        }
        break;
    case IR_LOOP:
        if (lw->along && w->n == 1 && sk_goes_along(lw, s))
            sk_along_loop(lw, s);
        else if (uniform_count(lw, n.u.loop))
            open_for(lw, w, s);
        else if (sk_may_run_eagerly(lw, s))
            sk_eager_loop(lw, s);
        else
            open_loop(lw, w, s);
        break;
    default:
        lw->why.text = "a term of unknown kind in scalar code";
    }
}

/* The end of a block: back to the step it is part of. The entry is replaced by the step's next part, or popped. */
static void close_block(sk_lower *lw, works *w)
{
    work open = w->at[w->n - 1];
    const ir_step *s = open.step;
    w->n--;
    if (!s)
        return;
    if (s->then && open.part >= ALWAYS) {
        for (uint32_t i = 0; i < s->group; i++)
            sk_bind(lw, s->cond[i], sk_value(lw, ir_args(lw->l->ir, s->cond[i])[1 + open.part - ALWAYS]));
        return;
    }
    if (s->then) {
        set_cond(lw, &open, open.part);
        sk_scope_end(lw, open.scope);
        if (open.part == 0) {
            k_else(&lw->b);
            vec_push(lw->arena, w, ((work){s->orelse, 0, s, 1, sk_scope(lw), open.variable}));
            return;
        }
        k_end(&lw->b);
        for (uint32_t i = 0; i < s->group; i++)
            sk_bind(lw, s->cond[i], k_get(&lw->b, open.variable[i]));
        return;
    }
    const ir_loop *loop = ir_at(lw->l->ir, s->term)->u.loop;
    if (open.part == 0) {
        k_break_if(&lw->b, k_let(&lw->b, OP_NOT, sk_value(lw, loop->cond), 0, 0));
        vec_push(lw->arena, w, ((work){s->body, 0, s, 1, open.scope, open.variable}));
        return;
    }
    close_loop_body(lw, &open);
    sk_scope_end(lw, open.scope);
    k_end(&lw->b);
    bind_projections(lw, s->term, open.variable);
}

/* which states of which loops are read after them */
static void find_projections(sk_lower *lw, uint32_t n, const ir_id *term)
{
    opt_ids ids = {0};
    opt_reach(lw->l->ir, lw->scratch, n, term, &ids);
    for (uint32_t i = 0; i < ids.n; i++) {
        const ir_node *t = ir_at(lw->l->ir, ids.at[i]);
        if (t->kind == IR_PROJ)
            map64_put(lw->arena, &lw->projected, ((uint64_t)ir_args(lw->l->ir, ids.at[i])[0] << 32) | t->u.literal, 1);
    }
}

void sk_run_step(sk_lower *lw, const ir_step *s)
{
    works none = {0};
    if (!sk_known(lw, s->term))
        step(lw, &none, s);
}

void sk_emit(sk_lower *lw, uint32_t n, const ir_id *term, k_val *out)
{
    if (!lw->scratch)
        lw->scratch = arena_beside(lw->arena);
    find_projections(lw, n, term);
    ir_block *root = ir_schedule(lw->l->ir, lw->arena, lw->scratch, n, term);
    arena_free(lw->scratch);
    works w = {0};
    if (!root) {
        lw->why = (sk_reason){"the conditions of a function are nested too deeply around operations that may fail; "
                              "compute some of them in an array of their own",
                              .unsupported = true};
        for (uint32_t i = 0; i < n; i++)
            out[i] = k_literal(&lw->b, (ir_type)ir_at(lw->l->ir, term[i])->type, 0);
        return;
    }
    vec_push(lw->arena, &w, ((work){.block = root}));
    while (w.n) {
        work *open = &w.at[w.n - 1];
        if (open->block && open->next < open->block->step.n) {
            const ir_step *s = &open->block->step.at[open->next++];
            if (s->then || !sk_known(lw, s->term))
                step(lw, &w, s);
        } else {
            close_block(lw, &w);
        }
    }
    for (uint32_t i = 0; i < n; i++)
        out[i] = sk_value(lw, term[i]);
}

/* --- what skeletons share --- */

k_val sk_product(sk_lower *lw, unsigned n, const ir_id *shape)
{
    ir_id product = ir_i64(lw->l->ir, 1);
    for (unsigned d = 0; d < n; d++)
        product = ir_extent_mul(lw->l->ir, product, shape[d]);
    return sk_closed(lw, product);
}

void sk_row_indices(sk_lower *lw, unsigned rank, const ir_id *shape, k_val row, k_val *index)
{
    k_builder *b = &lw->b;
    for (unsigned d = rank - 1; d-- > 1;) {
        k_val extent = sk_max(lw, sk_closed(lw, shape[d]), k_i64(b, 1));
        index[d] = k_let(b, OP_REM, row, extent, 0);
        row = k_let(b, OP_QUOT, row, extent, 0);
    }
    if (rank > 1)
        index[0] = row;
}

bool sk_mentions(sk_lower *lw, uint32_t n, const ir_id *term, ir_id variable)
{
    opt_ids ids = {0};
    opt_reach(lw->l->ir, lw->arena, n, term, &ids);
    for (uint32_t i = 0; i < ids.n; i++)
        if (ids.at[i] == variable)
            return true;
    return false;
}

bool sk_is_direct(sk_lower *lw, ir_id term, ir_id outer)
{
    enum { CHEAP = 4 };
    const ir_program *p = lw->l->ir;
    opt_ids ids = {0};
    uint32_t operators = 0;
    bool direct = true;
    opt_reach(lw->l->ir, lw->arena, 1, &term, &ids);
    for (uint32_t i = 0; i < ids.n; i++) {
        const ir_node *n = ir_at(p, ids.at[i]);
        if (!n->scope)
            continue;
        bool one = n->kind == IR_READ && n->n == 1 && n->flags & IR_SAFE;
        bool own = one && (p->arg.at[n->args] == lw->at.linear || (outer && p->arg.at[n->args] == outer));
        operators += n->kind == IR_OP;
        direct &= !n->partial && (own || n->kind == IR_OP || n->kind == IR_VAR);
    }
    return direct && operators <= CHEAP;
}

/* The lines of the result are asked for before they are written: else each store waits for its own, and whatever is
 * stored next behind it. */
void sk_copy_packed(sk_lower *lw, ir_id array, uint32_t components, const k_mem *kept, k_val offset, k_val count)
{
    enum { AHEAD = 1024 }; /* bytes */
    k_builder *b = &lw->b;
    k_val i = k_for_all(b, count), to = sk_add(lw, offset, i);
    for (uint32_t c = 0; c < components; c++) {
        k_mem m = sk_array_memory(lw, array, c, true);
        int64_t ahead = AHEAD / (int64_t)ir_type_size((ir_type)lw->out->k->mem.at[m].type);
        if (!lw->out->k->mem.at[m].stream)
            k_fetch(b, m, sk_add(lw, to, k_i64(b, ahead)), k_i64(b, 0));
        k_store(b, m, to, k_load(b, kept[c], i));
    }
    k_end(b);
}

/* --- what is read soon --- */

static bool reads_own_element(const ir_program *p, const ir_node *n, const sk_index *at)
{
    const ir_id *arg = p->arg.at + n->args;
    if (n->kind != IR_READ || !n->n)
        return false;
    if (n->flags & IR_LINEAR)
        return arg[0] == at->linear;
    for (uint32_t d = 0; d < n->n; d++)
        if (arg[d] != at->at[d])
            return false;
    return n->n == at->rank;
}

typedef struct own_read {
    k_mem memory;
    k_val position;
} own_read;

/* What the terms read at `at` as it is, each memory once; gives how many. */
static uint32_t find_own_reads(sk_lower *lw, uint32_t n, const ir_id *term, const sk_index *at, own_read **out)
{
    opt_ids ids = {0};
    map64 seen = {0};
    uint32_t reads = 0;
    opt_reach(lw->l->ir, lw->arena, n, term, &ids);
    *out = arena_alloc(lw->arena, (ids.n + 1) * sizeof **out);
    for (uint32_t i = 0; i < ids.n; i++) {
        const ir_node *t = ir_at(lw->l->ir, ids.at[i]);
        k_val index[IR_MAX_RANK] = {0};
        unsigned run[IR_MAX_RANK] = {0};
        if (!reads_own_element(lw->l->ir, t, at))
            continue;
        k_mem m = sk_array_memory(lw, t->array, (uint32_t)t->u.literal, false);
        if (map64_get(&seen, m))
            continue;
        map64_put(lw->arena, &seen, m, 1);
        for (uint32_t d = 0; d < t->n; d++) {
            index[d] = sk_value(lw, lw->l->ir->arg.at[t->args + d]);
            run[d] = 1;
        }
        (*out)[reads++] = (own_read){m, position_of(lw, t, index, run)};
    }
    return reads;
}

void sk_fetch(sk_lower *lw, uint32_t n, const ir_id *term, const sk_index *at, k_val further, k_val a_piece)
{
    own_read *read;
    uint32_t reads = find_own_reads(lw, n, term, at, &read);
    for (uint32_t i = 0; i < reads; i++)
        k_fetch(&lw->b, read[i].memory, sk_add(lw, read[i].position, further), a_piece);
}

void sk_fetch_lines(sk_lower *lw, uint32_t n, const ir_id *term, const sk_index *at, int64_t count)
{
    own_read *read;
    uint32_t reads = find_own_reads(lw, n, term, at, &read);
    for (uint32_t i = 0; i < reads; i++) {
        k_memory m = lw->out->k->mem.at[read[i].memory];
        int64_t bytes = m.every ? m.every : (int64_t)ir_type_size((ir_type)m.type);
        for (int64_t j = 0; j < count; j += larger(1, SK_LINE / bytes))
            k_fetch_near(&lw->b, read[i].memory, sk_add(lw, read[i].position, k_i64(&lw->b, j)));
    }
}

/* Small loops are chains of arithmetic: four registers a value keep the pipes full, and their states fit. */
enum { EAGER_STATES = 4, COUNTED_STATES = 1 };

enum { MANY = 16 /* operations of an element: fewer cannot need many values at once */ };

uint32_t sk_widest(const l_program *l, const opt_ids *ids, uint32_t n, const ir_id *term)
{
    size_t widest = 1;
    for (uint32_t i = 0; i < ids->n; i++) {
        const ir_node *t = ir_at(l->ir, ids->at[i]);
        /* index arithmetic is scalar most of the time: i64 counts only where it is stored or read */
        if ((t->kind == IR_READ || t->type != T_I64) && t->type && ir_type_size((ir_type)t->type) > widest)
            widest = ir_type_size((ir_type)t->type);
    }
    for (uint32_t i = 0; i < n; i++)
        if (ir_type_size((ir_type)ir_at(l->ir, term[i])->type) > widest)
            widest = ir_type_size((ir_type)ir_at(l->ir, term[i])->type);
    return (uint32_t)widest;
}

/* --- lanes --- */

typedef struct alive { /* terms of one element, from the last back to the first */
    const ir_program *p;
    const opt_ids *ids;
    bool *wanted; /* by a term behind it */
    uint32_t now;
} alive;

static uint32_t place_of(const opt_ids *ids, ir_id id)
{
    uint32_t low = 0, end = ids->n;
    while (low < end) {
        uint32_t middle = (low + end) / 2;
        if (ids->at[middle] < id)
            low = middle + 1;
        else
            end = middle;
    }
    return low;
}

/* What is made of elements and constants alone is computed where it is needed. */
static bool stays(const ir_program *p, const ir_node *t)
{
    bool deep = false;
    for (uint32_t k = 0; t->scope && t->kind == IR_OP && k < t->n; k++) {
        const ir_node *of = ir_at(p, p->arg.at[t->args + k]);
        deep |= of->scope && of->kind == IR_OP;
    }
    return deep;
}

static void want(alive *w, ir_id id)
{
    if (!stays(w->p, ir_at(w->p, id)))
        return;
    uint32_t at = place_of(w->ids, id);
    if (at == w->ids->n || w->ids->at[at] != id || w->wanted[at])
        return;
    w->wanted[at] = true;
    w->now++;
}

/* How many values of an element there are at once, at most, where terms are computed in the order of their ids. */
static uint32_t most_alive(const l_program *l, arena *a, const opt_ids *ids, uint32_t n, const ir_id *term)
{
    alive w = {.p = l->ir, .ids = ids, .wanted = arena_alloc(a, ids->n)};
    uint32_t most = 0;
    for (uint32_t i = 0; i < n; i++)
        want(&w, term[i]);
    for (uint32_t i = ids->n; i-- > 0;) {
        const ir_node *t = ir_at(l->ir, ids->at[i]);
        most = w.now > most ? w.now : most;
        w.now -= w.wanted[i];
        for (uint32_t k = 0; t->scope && k < t->n; k++)
            want(&w, l->ir->arg.at[t->args + k]);
    }
    arena_release(a, w.wanted, ids->n);
    return most;
}

/* So many registers a value that those which there are at once do not spill much: what is spilled takes longer than a
 * few long chains of arithmetic wait, and far longer to compile. */
static uint32_t registers_that_fit(uint32_t registers, uint32_t values, uint32_t vector_bytes)
{
    const uint32_t there = vector_bytes < 64 ? 16 : 32;
    while (registers > 1 && registers * values > 2 * there)
        registers /= 2;
    return registers;
}

uint16_t sk_lanes_for(const l_program *l, arena *a, uint32_t n, const ir_id *term, uint32_t vector_bytes)
{
    return sk_lanes_stored(l, a, 0, n, term, vector_bytes);
}

uint16_t sk_lanes_stored(const l_program *l, arena *a, uint32_t inner, uint32_t n, const ir_id *term,
                         uint32_t vector_bytes)
{
    opt_ids ids = {0};
    opt_reach(l->ir, a, n, term, &ids);
    uint32_t cost = 0;
    bool loop = false, heavy_loop = false;
    for (uint32_t i = 0; i < ids.n; i++) {
        const ir_node *t = ir_at(l->ir, ids.at[i]);
        if (t->kind == IR_OP)
            cost += ir_ops[t->op].flags & OP_MATH ? 20 : 1;
        loop |= t->kind == IR_LOOP;
        if (t->kind == IR_LOOP)
            heavy_loop |= t->u.loop->states > (t->u.loop->cond ? EAGER_STATES : COUNTED_STATES);
    }
    uint32_t lanes = vector_bytes / sk_widest(l, &ids, n - inner, term + inner);
    uint32_t registers = heavy_loop || (loop && cost > 64) ? 2 : cost <= 250 ? 4 : cost <= 600 ? 2 : 1;
    if (cost > MANY && registers > 1)
        registers = registers_that_fit(registers, most_alive(l, a, &ids, n, term), vector_bytes);
    lanes *= registers;
    return (uint16_t)(lanes > 256 ? 256 : lanes < 4 ? 4 : lanes);
}
