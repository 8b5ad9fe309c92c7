/* Loops and choices of arrays. */
#include "support/random_regions.h"
#include "support/random_arrays.h"
#include "support/random_operation.h"

/* What regions of a control are of: arrays like `state` and, from outside, `other`; the values of the control from
 * number `first` on are the state's extents. Of a while loop the state begins with the number of the round, which ends
 * it. */
typedef struct frame {
    ir_id state, other;
    uint32_t first;
    bool counted;
    int64_t rounds;
} frame;

/* The program of a region, with its inputs. False if there can be none. */
static bool open_region(random_maker *m, const frame *f, bool with_other, random_maker *n, ir_region *r)
{
    const ir_array *a = random_info(m, f->state), *b = random_info(m, f->other);
    const ir_type number = T_I64;
    random_options *o = arena_copy(m->arena, m->options, sizeof *o);
    ir_id shape[3];
    o->controls = m->options->controls - 1;
    *n = (random_maker){.p = ir_program_new(m->arena), .arena = m->arena, .options = o, .c = m->c, .types = m->types};
    n->line = m->line;
    n->p->plain = m->p->plain;
    n->p->outer = m->p;
    ir_follow_sites(n->p);
    *r = (ir_region){.program = n->p, .values = a->rank ? a->rank : 1u, .rounds = 1};
    r->value = arena_array(m->arena, uint32_t, r->values);
    r->dim = arena_array(m->arena, uint32_t, r->values);
    r->source = arena_array(m->arena, uint32_t, 3);
    r->result = arena_array(m->arena, uint32_t, 3);
    for (uint32_t d = 0; d < r->values; d++) {
        int64_t extent = a->rank ? random_extent_value(m, a->shape[d]) : m->dim.at[0];
        if (extent < 0)
            return false;
        ir_id name = ir_dim(n->p, arena_printf(m->arena, "e%u", d));
        vec_push(m->arena, &n->dim, extent);
        r->value[d] = f->first + d;
        r->dim[d] = d;
        if (a->rank)
            shape[d] = name;
    }
    if (f->counted)
        vec_push(m->arena, &n->array, ir_input(n->p, 1, &number, 0, NULL));
    vec_push(m->arena, &n->array, ir_input(n->p, a->components, a->type, a->rank, shape));
    if (with_other)
        vec_push(m->arena, &n->array, ir_input(n->p, b->components, b->type, b->rank, shape));
    for (uint32_t k = 0; k < n->array.n; k++)
        r->source[k] = k;
    return true;
}

static void add_result(random_maker *n, ir_region *r, uint32_t number, ir_id array)
{
    if (ir_at(n->p, array)->kind == IR_INPUT) {
        r->result[number] = ir_at(n->p, array)->args | IR_PASSED;
        return;
    }
    r->result[number] = n->p->output.n;
    ir_output(n->p, array);
}

static void close_region(random_maker *m, const random_maker *n)
{
    m->c = n->c;
    m->line = n->line;
}

/* The number of the round and `more`; is it still below the number of rounds? */
static ir_id counted(random_maker *n, int64_t more, int64_t rounds)
{
    ir_id number = ir_read(n->p, 0, n->array.at[0], 0, IR_SAFE, 0, NULL), result;
    ir_fn *fn = random_fn(n, 0, 0, NULL);
    result = ir_op2(n->p, 0, OP_ADD, number, ir_i64(n->p, more));
    if (rounds >= 0)
        result = ir_op2(n->p, 0, OP_LT, result, ir_i64(n->p, rounds));
    return ir_generate(n->p, 0, 0, NULL, ir_fn_close(n->p, fn, 1, &result));
}

/* A few operations, and, as its result, an array of the state's extents and types. */
static bool make_region(random_maker *m, const frame *f, ir_region *r)
{
    random_maker n;
    ir_id result = 0, state;
    if (!open_region(m, f, true, &n, r))
        return false;
    state = n.array.at[f->counted];
    for (uint32_t k = 0; k < 3; k++) {
        ir_id made = random_operation(&n);
        if (made && random_is_small(&n, made))
            vec_push(m->arena, &n.array, made);
    }
    for (uint32_t k = n.array.n; k-- > 0 && !result;) {
        const ir_array *x = random_info(&n, n.array.at[k]), *s = random_info(&n, state);
        if (x->rank == s->rank && x->components == s->components &&
            !memcmp(x->type, s->type, s->components * sizeof *s->type) &&
            !memcmp(x->shape, s->shape, s->rank * sizeof(ir_id)))
            result = n.array.at[k];
    }
    if (f->counted)
        add_result(&n, r, 0, counted(&n, 1, -1));
    add_result(&n, r, f->counted, result);
    if (f->counted)
        add_result(&n, r, 2, counted(&n, 1, f->rounds));
    close_region(m, &n);
    return true;
}

static bool make_condition(random_maker *m, const frame *f, ir_region *r)
{
    random_maker n;
    if (!open_region(m, f, false, &n, r))
        return false;
    add_result(&n, r, 0, counted(&n, 0, f->rounds));
    close_region(m, &n);
    return true;
}

ir_id random_control(random_maker *m)
{
    ir_id state = random_array(m, 0, 3), shape[3], input[3];
    if (!state || !m->dim.n)
        return 0;
    const uint32_t how = choose(&m->c, 10);
    const ir_control_form form = how < 5 ? IR_REPEAT : how < 8 ? IR_CHOICE : IR_WHILE;
    const bool repeats = form == IR_REPEAT, counts = form == IR_WHILE;
    const unsigned rank = random_info(m, state)->rank;
    ir_id value[1 + 3] = {repeats ? ir_i64(m->p, choose(&m->c, 4)) : ir_bool(m->p, chance(&m->c, 50))},
                    other = random_like(m, state);
    for (unsigned d = 0; d < rank; d++)
        if (ir_extent(m->p, other, d) != ir_extent(m->p, state, d))
            other = state;
    ir_id extent = ir_dim(m->p, m->p->dim.at[0]);
    if (form == IR_CHOICE && chance(&m->c, 60))
        value[0] = ir_op2(m->p, 0, OP_LT, extent, ir_i64(m->p, choose(&m->c, 9)));
    for (unsigned d = 0; d < rank; d++)
        value[1 + d] = ir_extent(m->p, state, d);
    if (!rank)
        value[1] = extent;
    ir_region region[2];
    ir_control c = {.form = form, .parts = 1u + counts, .regions = repeats ? 1 : 2, .region = region};
    frame f = {state, other, !counts, counts, counts ? choose(&m->c, 4) : 0};
    c.states = form == IR_CHOICE ? 0 : c.parts;
    c.values = !counts + (rank ? rank : 1);
    c.value = value + counts;
    for (uint32_t i = 0; i < c.regions; i++)
        if (!(counts && i == 0 ? make_condition(m, &f, &region[i]) : make_region(m, &f, &region[i])))
            return 0;
    if (counts) {
        ir_id zero = ir_i64(m->p, 0);
        input[0] = ir_generate(m->p, 0, 0, NULL, ir_fn_close(m->p, random_fn(m, 0, 0, NULL), 1, &zero));
    }
    input[counts] = state;
    input[counts + 1] = other;
    ir_id control = ir_control_new(m->p, 0, &c, counts + 2u, input);
    for (unsigned d = 0; d < rank; d++)
        shape[d] = ir_extent(m->p, state, d);
    return control ? ir_part(m->p, 0, control, counts, rank, shape, 0) : 0;
}
