/* Looks for short sorted rows of which single places are read, and finds these places without the others. */
#include "opt/picks.h"

#include "opt/apart.h"
#include "opt/needed.h"

typedef struct picks {
    ir_program *p;
    opt_remake remake;
    const uint32_t *readers; /* per array */
    uint32_t *found;         /* per sort: operations that pick one place of its rows */
} picks;

/* The sort whose rows an operation picks one place of, or 0. */
static ir_id sort_of_pick(const ir_program *p, ir_id pick, int64_t *place, int64_t *length)
{
    const ir_array *info = ir_info(p, pick);
    if (ir_at(p, pick)->kind != IR_BACKPERMUTE)
        return 0;
    const ir_id sort = info->input[0];
    const ir_array *sorted = ir_info(p, sort);
    const bool plain = ir_at(p, sort)->kind == IR_SORT && sorted->keys == 1 && sorted->components == 1 &&
                       !(ir_at(p, sort)->flags & IR_RUNS) && ir_type_class((ir_type)sorted->type[0]) & CLASS_NUM;
    if (!plain || !ir_extent_constant(p, sorted->shape[sorted->rank - 1], length) || *length < 2 ||
        *length > OPT_MOST_PICKED_FROM)
        return 0;
    const ir_node *last = ir_at(p, info->fn->result[sorted->rank - 1]);
    *place = last->kind == IR_CONST ? (int64_t)last->u.literal : -1;
    return *place >= 0 && *place < *length ? sort : 0;
}

/* --- the order of keys --- */

typedef struct keys {
    ir_program *p;
    uint32_t site;
    ir_type type, as; /* of elements, and of what is compared */
    bool descending;
} keys;

static ir_id sign(const keys *k)
{
    return ir_const(k->p, k->as, k->as == T_I64 ? (ir_bits)1 << 63 : (ir_bits)1 << 31);
}

static ir_id number(const keys *k, ir_id bits)
{
    ir_id negative = ir_op2(k->p, k->site, OP_LT, bits, ir_const(k->p, k->as, 0));
    ir_id turned = ir_op2(k->p, k->site, OP_BIT_XOR, bits, ir_op1(k->p, k->site, OP_BIT_NOT, sign(k)));
    return ir_cond(k->p, k->site, negative, turned, bits);
}

/* An integer that grows as the element's place does; of NaNs, which come last, it is greater than all others. */
static ir_id key_of(const keys *k, ir_id element)
{
    ir_program *p = k->p;
    if (!ir_type_float(k->type))
        return element;
    ir_id bits = ir_convert(p, k->site, OP_BITCAST, k->as, element), key = number(k, bits);
    if (k->descending)
        key = ir_op1(p, k->site, OP_BIT_NOT, key);
    ir_id size = ir_op2(p, k->site, OP_BIT_AND, bits, ir_op1(p, k->site, OP_BIT_NOT, sign(k)));
    return ir_cond(p, k->site, ir_op2(p, k->site, OP_NE, element, element), size, key);
}

static ir_id element_of(const keys *k, ir_id key)
{
    ir_program *p = k->p;
    if (!ir_type_float(k->type))
        return key;
    ir_id bits = number(k, key);
    if (k->descending) {
        const ir_bits infinity = k->as == T_I64 ? (ir_bits)0x7ff << 52 : (ir_bits)0xff << 23;
        ir_id is_nan = ir_op2(p, k->site, OP_GT, key, ir_const(p, k->as, infinity));
        bits = ir_cond(p, k->site, is_nan, key, number(k, ir_op1(p, k->site, OP_BIT_NOT, key)));
    }
    return ir_convert(p, k->site, OP_BITCAST, k->type, bits);
}

/* --- the exchanges --- */

static void exchange(const keys *k, ir_id *left, ir_id *right)
{
    const bool turned = k->descending && !ir_type_float(k->type);
    const ir_id a = *left, b = *right;
    *left = ir_op2(k->p, k->site, turned ? OP_MAX : OP_MIN, a, b);
    *right = ir_op2(k->p, k->site, turned ? OP_MIN : OP_MAX, a, b);
}

/* Algorithm M; its names. */
static void merge_exchange(const keys *k, int64_t n, ir_id *key)
{
    int64_t top = 1;
    while (2 * top < n)
        top *= 2;
    for (int64_t p = top; p > 0; p /= 2) {
        int64_t q = top, r = 0, d = p;
        for (;;) {
            for (int64_t i = 0; i + d < n; i++)
                if ((i & p) == r)
                    exchange(k, &key[i], &key[i + d]);
            if (q == p)
                break;
            d = q - p;
            q /= 2;
            r = p;
        }
    }
}

/* --- what is made --- */

/* The same elements of the rows that are not sorted, at place `which`. */
static ir_id elements_at(const picks *s, ir_id pick, ir_id source, int64_t which)
{
    ir_program *p = s->p;
    const ir_fn *to = ir_info(p, pick)->fn;
    ir_type index[IR_MAX_RANK];
    ir_id result[IR_MAX_RANK];
    for (unsigned d = 0; d < to->params; d++)
        index[d] = T_I64;
    ir_fn *fn = ir_fn_new(p, to->params, index);
    ir_instantiate(p, to, fn->param, result);
    result[to->results - 1] = ir_i64(p, which);
    fn = ir_fn_close(p, fn, to->results, result);
    const opt_apart apart = {p, &s->remake, s->readers, pick, false};
    return fn ? opt_elements_of(&apart, fn, source, ir_at(p, pick)->flags) : 0;
}

static ir_id picked(const picks *s, ir_id pick, ir_id sort, int64_t place, int64_t length)
{
    ir_program *p = s->p;
    const char *name = ir_info(p, pick)->name;
    const ir_type type = (ir_type)ir_info(p, sort)->type[0];
    const ir_id source = ir_info(p, sort)->input[0];
    const keys k = {p, ir_at(p, sort)->site, type, ir_type_size(type) == 8 ? T_I64 : T_I32,
                    ir_at(p, sort)->flags & IR_DESCENDING};
    ir_id input[OPT_MOST_PICKED_FROM], key[OPT_MOST_PICKED_FROM];
    ir_type of[OPT_MOST_PICKED_FROM];
    for (int64_t i = 0; i < length; i++) {
        input[i] = elements_at(s, pick, source, i);
        of[i] = type;
        if (!input[i])
            return 0;
    }
    ir_fn *fn = ir_fn_new(p, (uint32_t)length, of);
    for (int64_t i = 0; i < length; i++)
        key[i] = key_of(&k, fn->param[i]);
    merge_exchange(&k, length, key);
    const ir_id result = element_of(&k, key[place]);
    fn = ir_fn_close(p, fn, 1, &result);
    ir_id made = fn ? ir_map(p, ir_at(p, pick)->site, (uint32_t)length, input, fn, 0) : 0;
    if (made)
        p->node.at[made].u.info->name = name;
    return made;
}

void opt_pick_sorted(ir_program *p)
{
    picks s = {.p = p, .readers = opt_count_readers(p)};
    const uint32_t nodes = p->node.n;
    int64_t place, length;
    bool any = false;
    s.found = arena_array(p->arena, uint32_t, nodes);
    for (ir_id id = 1; id < nodes; id++) {
        const ir_id sort = ir_is_array(p, id) && s.readers[id] ? sort_of_pick(p, id, &place, &length) : 0;
        s.found[sort]++;
        any |= sort != 0;
    }
    if (!any)
        return;
    opt_remake_begin(&s.remake, p);
    for (ir_id id = 1; id < nodes; id++) {
        if (!ir_is_array(p, id) || ir_at(p, id)->kind == IR_INPUT)
            continue;
        const ir_id sort = s.readers[id] ? sort_of_pick(p, id, &place, &length) : 0;
        const bool all = sort && s.found[sort] == s.readers[sort] && s.found[sort] <= OPT_MOST_PICKS;
        const ir_id made = all ? picked(&s, id, sort, place, length) : 0;
        if (made) {
            s.remake.array[id] = made;
            s.remake.replaces = true;
        } else {
            opt_remake_array(&s.remake, id);
        }
    }
    opt_remake_end(&s.remake);
}
