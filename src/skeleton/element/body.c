/* Composes the element of an array at an index, through everything delayed, down to reads of memory.
 *
 * An index is checked where the user wrote it, against the array that the user indexes, whatever that array is made of:
 * the check is a term (IR_WITHIN) whose value is the index. The index maps of operations (take, transpose, reshape ...)
 * are applied to what has been checked, and cannot leave the arrays they lead to. */
#include "skeleton/element/body.h"

#include "opt/rewrite.h"

unsigned sk_component(const sk_index *at, ir_id term)
{
    for (unsigned d = 0; d < at->rank; d++)
        if (at->at[d] == term)
            return d + 1;
    return 0;
}

void sk_body_init(sk_body *b, const sk_cluster *c, sk_columns columns, arena *a)
{
    *b = (sk_body){.l = c->l, .cluster = c, .arena = a, .columns = columns};
}

static ir_program *program(const sk_body *b)
{
    return b->l->ir;
}

/* --- the memo: one array at one index is one set of terms --- */

static bool same_index(const sk_index *x, const sk_index *y)
{
    return x->rank == y->rank && x->linear == y->linear && x->guarded == y->guarded &&
           !memcmp(x->at, y->at, x->rank * sizeof(ir_id));
}

static uint64_t index_hash(ir_id array, bool define, const sk_index *i)
{
    uint64_t h = hash_mix(hash_mix(array, define), i->linear);
    return hash_bytes(i->at, i->rank * sizeof(ir_id), h);
}

static ir_id *memo_find(const sk_body *b, ir_id array, bool define, const sk_index *at)
{
    for (uint32_t i = map64_get(&b->memo_of, index_hash(array, define, at)); i; i = b->memo.at[i - 1].next) {
        const sk_pulled *m = &b->memo.at[i - 1];
        if (m->array == array && m->define == define && same_index(&m->index, at))
            return m->value;
    }
    return NULL;
}

static void memo_add(sk_body *b, ir_id array, bool define, const sk_index *at, ir_id *value)
{
    uint64_t h = index_hash(array, define, at);
    vec_push(b->arena, &b->memo, ((sk_pulled){array, *at, define, value, map64_get(&b->memo_of, h)}));
    map64_put(b->arena, &b->memo_of, h, b->memo.n);
}

/* --- indices --- */

static ir_id at_least_one(ir_program *p, ir_id extent)
{
    int64_t v;
    if (ir_extent_constant(p, extent, &v) && v > 0)
        return extent;
    return ir_op2(p, 0, OP_MAX, extent, ir_i64(p, 1));
}

/* index components from the row-major position, by division; no division by zero where there is no element */
static void unflatten(ir_program *p, const ir_array *info, sk_index *i)
{
    ir_id rest = i->linear;
    for (unsigned d = info->rank; d-- > 1;) {
        ir_id extent = at_least_one(p, info->shape[d]);
        i->at[d] = ir_op2(p, 0, OP_REM, rest, extent);
        rest = ir_op2(p, 0, OP_QUOT, rest, extent);
    }
    i->at[0] = rest;
}

static sk_index with_components(sk_body *b, ir_id array, const sk_index *at)
{
    sk_index i = *at;
    if (i.rank && !i.at[0])
        unflatten(program(b), ir_info(program(b), array), &i);
    return i;
}

/* The position in dimensions first .. end - 1 alone, of which there are some. */
static ir_id flatten_part(ir_program *p, const ir_array *info, const sk_index *i, unsigned first, unsigned end)
{
    ir_id sum = i->at[first];
    for (unsigned d = first + 1; d < end; d++)
        sum = ir_op2(p, 0, OP_ADD, ir_op2(p, 0, OP_MUL, sum, info->shape[d]), i->at[d]);
    return sum;
}

static ir_id flatten(ir_program *p, const ir_array *info, const sk_index *i)
{
    if (i->linear)
        return i->linear;
    return info->rank ? flatten_part(p, info, i, 0, info->rank) : ir_i64(p, 0);
}

/* What an operation's own indices belong to. */
static const ir_array *indexed_by(const sk_body *b, ir_id id)
{
    const ir_program *p = b->l->ir;
    return ir_info(p, ir_is_along(p, id) ? ir_info(p, id)->input[0] : id);
}

/* --- checks --- */

/* The element of the operation being composed that a failure belongs to; 0: the one that the kernel computes. */
static ir_id failing_element(const sk_body *b)
{
    const ir_array *info = b->op ? indexed_by(b, b->op) : NULL;
    const sk_index *at = b->at, *own = &b->own;
    if (!info || (at->linear && at->linear == own->linear && !b->several))
        return 0;
    bool same = !b->several && at->rank == own->rank && info->rank == own->rank;
    for (unsigned d = 0; d < at->rank && same; d++)
        same = at->at[d] && at->at[d] == own->at[d] && info->shape[d] == b->cluster->loop->shape[d];
    return same ? 0 : flatten(program(b), info, at);
}

typedef struct checks {
    uint32_t n;
    ir_id at[IR_MAX_RANK];
} checks;

static ir_id check_index(sk_body *b, uint32_t site, ir_id array, unsigned dimension, ir_id index, checks *all)
{
    ir_program *p = program(b);
    const ir_array *info = ir_info(p, array);
    ir_id extent = dimension == IR_WHOLE ? ir_size(p, array) : info->shape[dimension];
    if (sk_surely_inside(p, &b->facts, index, extent))
        return index;
    return all->at[all->n++] = ir_within(p, site, array, dimension, index, failing_element(b));
}

enum { SEARCHED = 32 };

/* Is the check made whenever the value is computed? If a short search does not see it, no. */
static bool includes(const ir_program *p, ir_id value, ir_id check)
{
    ir_id left[SEARCHED] = {value};
    uint32_t n = 1;
    for (uint32_t searched = 0; n && searched < SEARCHED; searched++) {
        ir_id term = left[--n];
        if (term == check)
            return true;
        const ir_node *node = ir_at(p, term);
        uint32_t now = node->kind == IR_COND ? 1 : node->kind == IR_LOOP || node->kind == IR_PROJ ? 0 : node->n;
        for (uint32_t i = 0; i < now && n < SEARCHED; i++)
            left[n++] = ir_args(p, term)[i];
    }
    return false;
}

/* The value of an element that is there if the checks hold, though it may not depend on the index at all. */
static ir_id after_checks(const sk_body *b, ir_id value, const checks *all)
{
    checks missing = {0};
    for (uint32_t i = 0; i < all->n; i++)
        if (!includes(program(b), value, all->at[i]))
            missing.at[missing.n++] = all->at[i];
    return ir_after(program(b), value, missing.n, missing.at);
}

/* --- reads --- */

static const ir_id *given(const sk_body *b, ir_id array)
{
    uint32_t number = map64_get(&b->given_of, array);
    return number ? b->given.at[number - 1] : NULL;
}

void sk_give(sk_body *b, ir_id array, const ir_id *value)
{
    vec_push(b->arena, &b->given, value);
    map64_put(b->arena, &b->given_of, array, b->given.n);
}

void sk_keep(sk_body *b, ir_id array)
{
    sk_give(b, array, NULL);
    map64_put(b->arena, &b->kept, array, 1);
    b->memo_of = (map64){0};
}

static bool in_memory(const sk_body *b, ir_id array)
{
    return b->l->manifest[array] || b->l->cluster_of[array];
}

static void read_memory(sk_body *b, ir_id array, const sk_index *at, ir_id *out)
{
    ir_program *p = program(b);
    const ir_array *info = ir_info(p, array);
    unsigned flags = (at->guarded ? IR_SAFE : IR_SAFE | IR_ALWAYS) | IR_STORED;
    for (uint32_t c = 0; c < info->components; c++) {
        if (info->rank == 0 || at->linear) {
            ir_id linear = info->rank ? flatten(p, info, at) : ir_i64(p, 0);
            out[c] = ir_read(p, 0, array, c, flags | IR_LINEAR, 1, &linear);
            continue;
        }
        sk_index full = with_components(b, array, at);
        out[c] = ir_read(p, 0, array, c, flags, info->rank, full.at);
    }
}

/* Is the index inside for sure, whatever conditions there are around the read, and does it go along with the loop's own
 * indices? Then reading takes less than a branch around it. */
static bool is_anywhere_inside(sk_body *b, ir_id array, unsigned dimension, ir_id index)
{
    ir_program *p = program(b);
    opt_ids ids = {0};
    ir_id extent = dimension == IR_WHOLE ? ir_size(p, array) : ir_info(p, array)->shape[dimension];
    if (!sk_surely_inside(p, &b->facts, index, extent))
        return false;
    opt_reach(p, b->arena, 1, &index, &ids);
    for (uint32_t i = 0; i < ids.n; i++) {
        const ir_node *n = ir_at(p, ids.at[i]);
        if (n->partial || n->kind == IR_LOOP || n->kind == IR_READ || n->kind == IR_COND)
            return false;
    }
    return true;
}

/* Reads in scalar code: the index is checked, then arrays that are delayed become their element computations. */
static ir_id resolve_read(void *env, const ir_node *read, const ir_id *index)
{
    sk_body *b = env;
    ir_program *p = program(b);
    uint32_t component = (uint32_t)read->u.literal;
    sk_index at = {.rank = ir_info(p, read->array)->rank, .guarded = !(read->flags & IR_ALWAYS)};
    ir_id *to = read->flags & IR_LINEAR ? &at.linear : at.at, value;
    checks all = {0};
    bool always = true;
    for (uint32_t i = 0; i < read->n; i++) {
        unsigned dimension = read->flags & IR_LINEAR ? IR_WHOLE : i;
        always &= is_anywhere_inside(b, read->array, dimension, index[i]);
        to[i] = read->flags & IR_SAFE ? index[i] : check_index(b, read->site, read->array, dimension, index[i], &all);
    }
    at.guarded &= !always;
    if (given(b, read->array)) {
        value = given(b, read->array)[component];
    } else if (!in_memory(b, read->array)) {
        value = sk_pull(b, read->array, &at)[component];
    } else if (!at.rank) { /* the only element is always there: no guard needs to keep it */
        ir_id zero = ir_i64(p, 0);
        unsigned flags = IR_SAFE | IR_ALWAYS | IR_LINEAR | IR_STORED;
        value = ir_read(p, read->site, read->array, component, flags, 1, &zero);
    } else {
        unsigned flags = read->flags | IR_SAFE | IR_STORED | (always ? IR_ALWAYS : 0);
        value = ir_read(p, read->site, read->array, component, flags, read->n, to);
    }
    return after_checks(b, value, &all);
}

/* Closed terms, which may read arrays. */
static void resolve(sk_body *b, uint32_t n, const ir_id *term, ir_id *out)
{
    opt_rewrite(program(b), b->arena, 0, NULL, NULL, resolve_read, b, n, term, out);
}

static void apply(sk_body *b, const ir_fn *fn, const ir_id *argument, ir_id *out)
{
    opt_rewrite(program(b), b->arena, fn->params, fn->param, argument, resolve_read, b, fn->results, fn->result, out);
}

/* --- stencils --- */

ir_id sk_adjust(ir_program *p, ir_boundary boundary, ir_id i, ir_id extent)
{
    ir_id zero = ir_i64(p, 0), last = ir_op2(p, 0, OP_SUB, extent, ir_i64(p, 1));
    switch (boundary) {
    case IR_MIRROR: {
        /* reflect about the edge elements, period 2 (n - 1) */
        ir_id period = ir_op2(p, 0, OP_MAX, ir_op2(p, 0, OP_MUL, ir_i64(p, 2), last), ir_i64(p, 1));
        ir_id once = ir_op1(p, 0, OP_ABS, i);
        ir_id far = ir_op2(p, 0, OP_REM, once, period);
        ir_id folded = ir_op2(p, 0, OP_SUB, period, far);
        return ir_op2(p, 0, OP_MAX, ir_op2(p, 0, OP_MIN, ir_op2(p, 0, OP_MIN, far, folded), last), zero);
    }
    case IR_WRAP:
        return ir_op2(p, 0, OP_MOD, i, at_least_one(p, extent));
    default:
        return ir_op2(p, 0, OP_MAX, ir_op2(p, 0, OP_MIN, i, last), zero);
    }
}

static ir_id inside(ir_program *p, ir_id i, ir_id extent)
{
    return ir_op2(p, 0, OP_AND, ir_op2(p, 0, OP_GE, i, ir_i64(p, 0)), ir_op2(p, 0, OP_LT, i, extent));
}

/* What mirrors an index one step outside at most, or finds it at the other end: without a division, also where the
 * extent is 1. Further away it gives some index inside. */
static ir_id adjust_one_step(ir_program *p, ir_boundary boundary, ir_id i, ir_id extent)
{
    ir_id zero = ir_i64(p, 0), last = ir_op2(p, 0, OP_SUB, extent, ir_i64(p, 1));
    if (boundary == IR_WRAP) {
        ir_id below = ir_op2(p, 0, OP_LT, i, zero), above = ir_op2(p, 0, OP_GT, i, last);
        return ir_cond(p, 0, below, last, ir_cond(p, 0, above, zero, i));
    }
    ir_id far = ir_op1(p, 0, OP_ABS, i), back = ir_op2(p, 0, OP_SUB, ir_op2(p, 0, OP_MUL, last, ir_i64(p, 2)), far);
    return ir_op2(p, 0, OP_MAX, ir_op2(p, 0, OP_MIN, far, back), zero);
}

/* A term, and the constant that is added to it. */
static ir_id without_constant(const ir_program *p, ir_id i, int64_t *by)
{
    const ir_node *n = ir_at(p, i);
    *by = 0;
    if (n->kind != IR_OP || n->op != OP_ADD || ir_at(p, ir_args(p, i)[1])->kind != IR_CONST)
        return i;
    *by = (int64_t)ir_at(p, ir_args(p, i)[1])->u.literal;
    return ir_args(p, i)[0];
}

/* i + by, where i may be a sum with a constant itself: rows computed together find each other's neighbours this way. */
static ir_id moved_by(ir_program *p, ir_id i, int64_t by)
{
    int64_t so_far;
    i = without_constant(p, i, &so_far);
    return ir_op2(p, 0, OP_ADD, i, ir_i64(p, so_far + by));
}

/* Where columns have several lanes each, what stands for a neighbour outside is as many columns away for all lanes of a
 * column: chosen by the lane, and so an index of columns moved by a constant in any case. */
static bool adjust_channels_at_edge(const sk_body *b, ir_boundary boundary, ir_id i, ir_id *adjusted, ir_id *within)
{
    ir_program *p = b->l->ir;
    const sk_edge *e = &b->edge;
    const bool right = e->side == SK_RIGHT;
    int64_t by;
    if (without_constant(p, i, &by) != e->column || by * e->channels < -e->lanes || by * e->channels > e->lanes)
        return false;
    const int64_t out = right ? by : -by; /* as many columns are outside */
    *adjusted = i;
    *within = ir_bool(p, true);
    for (int64_t t = out - 1; t >= 0; t--) { /* of the column that is the t-th from this end */
        const int64_t end = right ? e->lanes - (t + 1) * e->channels : (t + 1) * e->channels;
        ir_id beside = ir_op2(p, 0, right ? OP_GE : OP_LT, e->lane, ir_i64(p, end));
        const int64_t back = boundary == IR_MIRROR ? 2 * t - out : t;
        ir_id other = moved_by(p, e->column, right ? back : -back);
        if (t == out - 1)
            *within = ir_op1(p, 0, OP_NOT, beside);
        if (boundary == IR_WRAP) {
            *adjusted = ir_cond(p, 0, beside, ir_op2(p, 0, right ? OP_SUB : OP_ADD, i, e->extent), i);
            break;
        }
        *adjusted = ir_cond(p, 0, beside, other, *adjusted);
    }
    return true;
}

/* The same where the index is a lane of a gang at the edge, and a constant. False: it is not. */
static bool adjust_at_edge(const sk_body *b, ir_boundary boundary, ir_id i, ir_id extent, ir_id *adjusted,
                           ir_id *within)
{
    ir_program *p = b->l->ir;
    const sk_edge *e = &b->edge;
    bool right = e->side == SK_RIGHT;
    int64_t by;
    if (!e->side || extent != e->extent)
        return false;
    if (e->channels)
        return adjust_channels_at_edge(b, boundary, i, adjusted, within);
    i = without_constant(p, i, &by);
    ir_id column = right ? ir_op2(p, 0, OP_ADD, e->first, e->lane) : e->lane;
    if (i != column || by < -e->lanes || by > e->lanes)
        return false;
    /* counted from the gang's first column on */
    ir_id at = ir_op2(p, 0, OP_ADD, e->lane, ir_i64(p, by)), last = ir_i64(p, e->lanes - 1);
    ir_id back = ir_op2(p, 0, OP_SUB, ir_i64(p, (right ? 2 * e->lanes - 2 : 0) - by), e->lane);
    *within = right ? ir_op2(p, 0, OP_LT, at, ir_i64(p, e->lanes)) : ir_op2(p, 0, OP_GE, at, ir_i64(p, 0));
    ir_id here = right ? ir_op2(p, 0, OP_ADD, e->first, at) : at;
    if (boundary == IR_WRAP) {
        ir_id around = right ? ir_op2(p, 0, OP_SUB, at, ir_i64(p, e->lanes)) : ir_op2(p, 0, OP_ADD, at, extent);
        *adjusted = ir_cond(p, 0, *within, here, around);
        return true;
    }
    ir_id other = boundary == IR_MIRROR ? back : right ? last : ir_i64(p, 0);
    *adjusted = ir_op2(p, 0, right ? OP_MIN : OP_MAX, at, other);
    if (right)
        *adjusted = ir_op2(p, 0, OP_ADD, e->first, *adjusted);
    return true;
}

const ir_id *sk_beyond(sk_body *b, ir_id array, const ir_stencil *s, const sk_index *raw)
{
    uint32_t components = ir_info(program(b), array)->components;
    ir_id *beyond = arena_array(b->arena, ir_id, components);
    if (s->boundary == IR_FUNCTION)
        apply(b, s->function, raw->at, beyond);
    else
        resolve(b, components, s->constant, beyond);
    return beyond;
}

static void neighbour(sk_body *b, ir_id array, const ir_stencil *s, const sk_index *centre, const int *offset,
                      ir_id *out)
{
    ir_program *p = program(b);
    const ir_array *info = ir_info(p, array);
    sk_index raw = {.rank = info->rank}, at = {.rank = info->rank, .guarded = centre->guarded};
    ir_id in = ir_bool(p, true);
    bool moved = false;
    for (unsigned d = 0; d < info->rank; d++) {
        raw.at[d] = at.at[d] = moved_by(p, centre->at[d], offset[d]);
        moved |= offset[d] != 0;
        const unsigned from_last = info->rank - 1u - d; /* how many dimensions are behind this one */
        bool along = from_last == b->behind, above = from_last == b->behind + 1u;
        bool another = offset[d] || (b->several && above);
        bool within = (along && (b->columns == SK_INTERIOR || b->columns == SK_INSIDE)) ||
                      (above && (b->columns == SK_INSIDE || b->columns == SK_BESIDE));
        if (!another || within)
            continue;
        ir_id inside_edge;
        if (along && adjust_at_edge(b, s->boundary, raw.at[d], info->shape[d], &at.at[d], &inside_edge)) {
            in = ir_op2(p, 0, OP_AND, in, inside_edge);
            continue;
        }
        /* the index of a row is a scalar; along rows, emitters know the other form (pieces.c) */
        bool turns = s->boundary == IR_MIRROR || s->boundary == IR_WRAP;
        bool one_step = turns && s->extent[d] <= 3 && info->rank == 3 && from_last > b->behind;
        at.at[d] = one_step ? adjust_one_step(p, s->boundary, raw.at[d], info->shape[d])
                            : sk_adjust(p, s->boundary, raw.at[d], info->shape[d]);
        if (!offset[d]) /* inside as it is */
            continue;
        in = ir_op2(p, 0, OP_AND, in, inside(p, raw.at[d], info->shape[d]));
    }
    const ir_id *value = sk_pull(b, array, moved || b->several ? &at : centre);
    memcpy(out, value, info->components * sizeof(ir_id));
    if (s->boundary != IR_CONSTANT && s->boundary != IR_FUNCTION)
        return;
    const ir_id *beyond = sk_beyond(b, array, s, &raw);
    for (uint32_t c = 0; c < info->components; c++)
        out[c] = ir_cond(p, 0, in, out[c], beyond[c]);
}

static void used_params(sk_body *b, const ir_fn *fn, bool *used)
{
    opt_ids ids = {0};
    opt_reach(program(b), b->arena, fn->results, fn->result, &ids);
    map64 seen = {0};
    for (uint32_t i = 0; i < ids.n; i++)
        map64_put(b->arena, &seen, ids.at[i], 1);
    for (uint32_t i = 0; i < fn->params; i++)
        used[i] = map64_get(&seen, fn->param[i]);
}

static void define_stencil(sk_body *b, ir_id id, const sk_index *at, ir_id *out)
{
    ir_program *p = program(b);
    const ir_array *info = ir_info(p, id);
    ir_id *argument = arena_array(b->arena, ir_id, info->fn->params);
    bool *used = arena_alloc(b->arena, info->fn->params);
    used_params(b, info->fn, used);
    uint32_t next = 0;
    for (uint32_t k = 0; k < info->inputs; k++) {
        const ir_stencil *s = &info->stencil[k];
        const ir_array *source = ir_info(p, info->input[k]);
        int extent[3] = {1, 1, 1}, offset[3];
        for (unsigned d = 0; d < source->rank; d++)
            extent[d] = s->extent[d];
        ir_id *value = arena_array(b->arena, ir_id, source->components);
        for (int i = 0; i < extent[0] * extent[1] * extent[2]; i++) {
            int rest = i;
            for (int d = 2; d >= 0; rest /= extent[d], d--)
                offset[d] = rest % extent[d] - extent[d] / 2;
            bool any = false;
            for (uint32_t c = 0; c < source->components; c++)
                any |= used[next + c];
            if (any)
                neighbour(b, info->input[k], s, at, offset, value);
            for (uint32_t c = 0; c < source->components; c++, next++)
                argument[next] = used[next] ? value[c] : info->fn->param[next];
        }
    }
    apply(b, info->fn, argument, out);
}

/* --- the operations --- */

static void define_map(sk_body *b, ir_id id, const sk_index *at, ir_id *out)
{
    ir_program *p = program(b);
    const ir_array *info = ir_info(p, id);
    ir_id *argument = arena_array(b->arena, ir_id, info->fn->params + 1);
    uint32_t n = 0;
    if (ir_at(p, id)->flags & IR_INDEXED) {
        sk_index full = with_components(b, id, at);
        for (unsigned d = 0; d < info->rank; d++)
            argument[n++] = full.at[d];
    }
    for (uint32_t i = 0; i < info->inputs; i++) {
        const ir_id *value = sk_pull(b, info->input[i], at);
        for (uint32_t c = 0; c < ir_info(p, info->input[i])->components; c++)
            argument[n++] = value[c];
    }
    apply(b, info->fn, argument, out);
}

static void define_backpermute(sk_body *b, ir_id id, const sk_index *at, ir_id *out)
{
    ir_program *p = program(b);
    const ir_array *info = ir_info(p, id);
    const ir_array *source = ir_info(p, info->input[0]);
    sk_index full = with_components(b, id, at);
    sk_index from = {.rank = source->rank, .guarded = at->guarded};
    checks all = {0};
    apply(b, info->fn, full.at, from.at);
    for (unsigned d = 0; d < source->rank && !(ir_at(p, id)->flags & IR_SAFE); d++)
        from.at[d] = check_index(b, ir_at(p, id)->site, info->input[0], d, from.at[d], &all);
    const ir_id *value = sk_pull(b, info->input[0], &from);
    for (unsigned c = 0; c < info->components; c++)
        out[c] = after_checks(b, value[c], &all);
}

/* Where the first or the last dimensions before and after a reshape are the same, so are their indices, and what lies
 * between is taken apart by itself. */
static void keep_dimensions(ir_program *p, const ir_array *to, const sk_index *at, const ir_array *of, sk_index *from)
{
    unsigned first = 0, last = 0;
    if (!to->rank || !of->rank || !at->at[0])
        return;
    while (first < to->rank && first < of->rank && to->shape[first] == of->shape[first])
        first++;
    while (first + last < to->rank && first + last < of->rank &&
           to->shape[to->rank - 1 - last] == of->shape[of->rank - 1 - last])
        last++;
    const unsigned end = to->rank - last, left = of->rank - last;
    if ((!first && !last) || first == end || first == left)
        return;
    sk_index part = {.rank = (uint8_t)(left - first), .linear = flatten_part(p, to, at, first, end)};
    ir_array middle = {.rank = (uint8_t)(left - first)};
    memcpy(middle.shape, of->shape + first, (left - first) * sizeof(*middle.shape));
    unflatten(p, &middle, &part);
    for (unsigned d = 0; d < of->rank; d++)
        from->at[d] = d < first ? at->at[d] : d < left ? part.at[d - first] : at->at[d + to->rank - of->rank];
}

static void define_reshape(sk_body *b, ir_id id, const sk_index *at, ir_id *out)
{
    ir_program *p = program(b);
    const ir_array *info = ir_info(p, id);
    sk_index from = {.rank = ir_info(p, info->input[0])->rank, .linear = flatten(p, info, at), .guarded = at->guarded};
    keep_dimensions(p, info, at, ir_info(p, info->input[0]), &from);
    memcpy(out, sk_pull(b, info->input[0], &from), info->components * sizeof(ir_id));
}

/* What is evaluated at all is evaluated inside. */
static void note_inside(sk_body *b, ir_id array, const sk_index *at)
{
    const ir_array *info = indexed_by(b, array);
    for (unsigned d = 0; d < at->rank && at->at[0] && !at->guarded; d++)
        sk_note_inside(program(b), &b->facts, b->arena, at->at[d], info->shape[d]);
}

/* The elements of an operation, at an index of its own (a fold's: of what it folds). */
static void compose(sk_body *b, ir_id id, const sk_index *at, ir_id *out)
{
    ir_program *p = program(b);
    const ir_array *info = ir_info(p, id);
    if (ir_at(p, id)->kind != IR_FOLD && ir_at(p, id)->kind != IR_FOLD_SEG)
        note_inside(b, id, at);
    switch (ir_at(p, id)->kind) {
    case IR_GENERATE: {
        sk_index full = with_components(b, id, at);
        apply(b, info->fn, full.at, out);
        break;
    }
    case IR_MAP:
        define_map(b, id, at, out);
        break;
    case IR_BACKPERMUTE:
        define_backpermute(b, id, at, out);
        break;
    case IR_RESHAPE:
        if (ir_is_along(p, id))
            memcpy(out, sk_pull(b, info->input[0], at), info->components * sizeof(ir_id));
        else
            define_reshape(b, id, at, out);
        break;
    case IR_STENCIL: {
        sk_index full = with_components(b, id, at);
        define_stencil(b, id, &full, out);
        break;
    }
    case IR_SEGMENT_OF: /* in its own loop, which knows */
        memcpy(out, given(b, id), sizeof(ir_id));
        break;
    default: /* a fold accumulates its source; force and inputs are their source */
        if (info->inputs)
            memcpy(out, sk_pull(b, info->input[0], at), info->components * sizeof(ir_id));
        else
            read_memory(b, id, at, out);
    }
}

typedef struct composing { /* what was being composed before */
    ir_id op;
    const sk_index *at;
} composing;

static composing begin_op(sk_body *b, ir_id id, const sk_index *at)
{
    composing outer = {b->op, b->at};
    if (!outer.op)
        b->own = *at;
    b->op = id;
    b->at = at;
    return outer;
}

static void end_op(sk_body *b, composing outer)
{
    b->op = outer.op;
    b->at = outer.at;
}

const ir_id *sk_define(sk_body *b, ir_id id, const sk_index *at)
{
    ir_id *out = memo_find(b, id, true, at);
    if (out)
        return out;
    out = arena_array(b->arena, ir_id, ir_info(program(b), id)->components + 1u);
    composing outer = begin_op(b, id, at);
    compose(b, id, at, out);
    end_op(b, outer);
    memo_add(b, id, true, at, out);
    return out;
}

const ir_id *sk_operand(sk_body *b, ir_id anchor, unsigned input, const sk_index *at)
{
    composing outer = begin_op(b, anchor, at);
    const ir_id *value = sk_pull(b, ir_info(program(b), anchor)->input[input], at);
    end_op(b, outer);
    return value;
}

ir_fn *sk_operator(sk_body *b, ir_fn *fn)
{
    ir_fn *copy = arena_copy(b->arena, fn, sizeof *fn);
    copy->result = arena_array(b->arena, ir_id, fn->results);
    apply(b, fn, fn->param, copy->result);
    return copy;
}

const ir_id *sk_pull(sk_body *b, ir_id id, const sk_index *at)
{
    const ir_id *there = given(b, id);
    if (there)
        return there;
    uint32_t own = (uint32_t)(b->cluster->loop - b->l->cluster.at) + 1;
    bool kept = map64_get(&b->kept, id);
    ir_kind kind = (ir_kind)ir_at(program(b), id)->kind;
    bool here = b->l->cluster_of[id] == own && kind != IR_FOLD && kind != IR_FOLD_SEG && !kept;
    bool memory = kept || b->l->manifest[id] || (b->l->cluster_of[id] && !here);
    if (here && b->composes)
        return sk_define(b, id, at);
    if (here && b->cluster->loop->class == L_CLASS_STENCIL)
        memory = true; /* rows in shared memory: the skeleton resolves the read */
    if (!memory || (here && b->cluster->loop->class != L_CLASS_STENCIL))
        return sk_define(b, id, at);
    ir_id *out = memo_find(b, id, false, at);
    if (out)
        return out;
    out = arena_array(b->arena, ir_id, ir_info(program(b), id)->components + 1u);
    read_memory(b, id, at, out);
    memo_add(b, id, false, at, out);
    return out;
}
