/* Short rows, a lane each: all rows of a gang are sorted at once, by insertion that does not look where an element's
 * place is: it goes past all those before it, and takes part in an exchange with each. No branch depends on what is
 * sorted, and equal ones stay as they were. */
#include "skeleton/sort/sort.h"

#include "skeleton/extents.h"

typedef struct rows { /* of a gang */
    sk_sort s;
    k_val lanes, lane;
    k_mem *room, *order; /* per component: element k of a lane's row at k * lanes + lane; as a number that is compared
                            in its place, or 0: it is made where it is needed */
    k_val *x, *x_order;  /* variables: what is inserted */
} rows;

/* Numbers that take more than an instruction to make. */
static bool keeps_order(const ir_array *info, uint32_t c)
{
    return c < info->keys && ir_type_float(info->type[c]);
}

int64_t sk_sort_lanes(const ir_array *info, uint32_t vector_bytes)
{
    enum { REGISTERS = 4, MOST = 64, LEAST = 8, ROOM = 32 << 10 };
    int64_t bytes = 0, widest = 1;
    for (uint32_t c = 0; c < info->components; c++) {
        int64_t size = (int64_t)ir_type_size(info->type[c]);
        bytes += keeps_order(info, c) ? 2 * size : size;
        widest = larger(widest, size);
    }
    int64_t lanes = smaller(MOST, REGISTERS * vector_bytes / widest);
    while (lanes > LEAST && SK_SORT_SHORT * lanes * bytes > ROOM)
        lanes /= 2;
    return lanes;
}

static k_val place_of(rows *r, k_val k)
{
    sk_lower *lw = r->s.lw;
    return sk_add(lw, sk_mul(lw, k, r->lanes), r->lane);
}

/* What a key is compared by: made of the element, or kept beside it. */
static k_val order_of(rows *r, uint32_t c, k_val x)
{
    return sk_order_bits(&r->s.lw->b, r->s.info->type[c], x, r->s.descending);
}

/* Element k goes past those before it, from the last one on. */
static void insert(rows *r, k_val k)
{
    sk_lower *lw = r->s.lw;
    k_builder *b = &lw->b;
    const uint32_t n = r->s.n;
    k_val *x = arena_array(lw->arena, k_val, 4 * n), *y = x + n, *left = y + n, *right = left + n;
    k_val one = k_i64(b, 1), back = k_for(b, k_i64(b, 0), k, false), here = sk_sub(lw, k, back);
    uint32_t mark = sk_scope(lw);
    k_val to = place_of(r, here), from = place_of(r, sk_sub(lw, here, one));
    for (uint32_t c = 0; c < n; c++) {
        x[c] = k_get(b, r->x[c]);
        y[c] = k_load(b, r->room[c], from);
    }
    for (uint32_t c = 0; c < r->s.keys; c++) {
        left[c] = r->order[c] ? k_get(b, r->x_order[c]) : order_of(r, c, x[c]);
        right[c] = r->order[c] ? k_load(b, r->order[c], from) : order_of(r, c, y[c]);
    }
    k_val before = r->s.less ? sk_sort_before(&r->s, x, y) : sk_order_before(b, r->s.keys, left, right);
    for (uint32_t c = 0; c < n; c++) {
        k_store(b, r->room[c], to, k_select(b, before, y[c], x[c]));
        k_set(b, r->x[c], k_select(b, before, x[c], y[c]));
        if (!r->order[c])
            continue;
        k_store(b, r->order[c], to, k_select(b, before, right[c], left[c]));
        k_set(b, r->x_order[c], k_select(b, before, left[c], right[c]));
    }
    sk_scope_end(lw, mark);
    k_end(b);
    k_val first = place_of(r, k_i64(b, 0));
    for (uint32_t c = 0; c < n; c++) {
        k_store(b, r->room[c], first, k_get(b, r->x[c]));
        if (r->order[c])
            k_store(b, r->order[c], first, k_get(b, r->x_order[c]));
    }
}

/* --- rows of a few elements, as many as the program says: all of a row is in registers --- */

enum { MOST_KNOWN = 8, MOST_OTHERS = 4 /* of integers: loops over more are quicker */ };

/* How many there are; 0: that is not known, or they are too many, or each comparison has long code. */
static int64_t known_length(const sk_sort *s)
{
    const l_cluster *loop = s->lw->cluster->loop;
    int64_t length, most = MOST_KNOWN;
    for (uint32_t c = 0; c < s->n; c++)
        most = ir_type_float(s->info->type[c]) ? most : MOST_OTHERS;
    const bool known = ir_extent_constant(s->lw->l->ir, loop->shape[loop->rank - 1], &length);
    return known && length >= 1 && length <= most && !s->less && s->n * length <= 2 * MOST_KNOWN ? length : 0;
}

typedef struct known_row {
    k_val *x, *order; /* component c of element k at k * n + c; what keys are compared by, likewise */
} known_row;

/* Element k and the one before it change places if that is their order. */
static void exchange(rows *r, known_row *row, int64_t k)
{
    k_builder *b = &r->s.lw->b;
    const uint32_t n = r->s.n;
    k_val *x = row->x + k * n, *order = row->order + k * n;
    const k_val before = sk_order_before(b, r->s.keys, order, order - n);
    for (uint32_t c = 0; c < n; c++) {
        const k_val right = x[c], left = *(x + c - n), of_right = order[c], of_left = *(order + c - n);
        x[c] = k_select(b, before, left, right);
        *(x + c - n) = k_select(b, before, right, left);
        if (c >= r->s.keys)
            continue;
        order[c] = k_select(b, before, of_left, of_right);
        *(order + c - n) = k_select(b, before, of_right, of_left);
    }
}

static void sort_known_rows(rows *r, k_val first, k_val count, int64_t length)
{
    sk_lower *lw = r->s.lw;
    k_builder *b = &lw->b;
    const uint32_t n = r->s.n;
    known_row of = {arena_array(lw->arena, k_val, (size_t)length * n),
                    arena_array(lw->arena, k_val, (size_t)length * n)};
    const k_val row = sk_add(lw, first, k_for_all(b, count)), begin = sk_mul(lw, row, k_i64(b, length));
    for (int64_t k = 0; k < length; k++) {
        const uint32_t mark = sk_scope(lw);
        const k_val linear = sk_add(lw, begin, k_i64(b, k));
        sk_sort_bind(&r->s, row, k_i64(b, k), linear);
        sk_sort_element(&r->s, 0, n, linear, of.x + k * n);
        for (uint32_t c = 0; c < r->s.keys; c++)
            of.order[k * n + c] = order_of(r, c, of.x[k * n + c]);
        sk_scope_end(lw, mark);
    }
    lw->element = row;
    for (int64_t k = 1; k < length; k++)
        for (int64_t to = k; to > 0; to--)
            exchange(r, &of, to);
    for (uint32_t c = 0; c < n; c++)
        for (int64_t k = 0; k < length; k++)
            k_store(b, r->s.to[c], sk_add(lw, begin, k_i64(b, k)), of.x[k * n + c]);
    k_end(b);
}

/* --- rows of any number --- */

/* The rows of a gang, `first` being that of its first lane. */
static void sort_rows(rows *r, k_val first, k_val count, k_val n)
{
    sk_lower *lw = r->s.lw;
    k_builder *b = &lw->b;
    k_val *x = arena_array(lw->arena, k_val, r->s.n);
    r->lane = k_for_all(b, count);
    k_val row = sk_add(lw, first, r->lane), begin = sk_mul(lw, row, n), k = k_for(b, k_i64(b, 0), n, false);
    uint32_t mark = sk_scope(lw);
    k_val linear = sk_add(lw, begin, k);
    sk_sort_bind(&r->s, row, k, linear);
    sk_sort_element(&r->s, 0, r->s.n, linear, x);
    for (uint32_t c = 0; c < r->s.n; c++) {
        r->x[c] = k_decl(b, x[c], "x");
        r->x_order[c] = r->order[c] ? k_decl(b, order_of(r, c, x[c]), "order") : 0;
    }
    lw->element = row;
    insert(r, k);
    sk_scope_end(lw, mark);
    k_end(b);
    k = k_for(b, k_i64(b, 0), n, false);
    for (uint32_t c = 0; c < r->s.n; c++)
        k_store(b, r->s.to[c], sk_add(lw, begin, k), k_load(b, r->room[c], place_of(r, k)));
    k_end(b);
    k_end(b);
}

static void make_room(rows *r, const ir_array *info, int64_t lanes)
{
    const uint32_t n = r->s.n;
    r->room = arena_array(r->s.lw->arena, k_mem, n);
    r->order = arena_array(r->s.lw->arena, k_mem, n);
    r->x = arena_array(r->s.lw->arena, k_val, n);
    r->x_order = arena_array(r->s.lw->arena, k_val, n);
    for (uint32_t c = 0; c < n; c++) {
        r->room[c] = k_shared(&r->s.lw->b, info->type[c], SK_SORT_SHORT * lanes, "room");
        bool kept = keeps_order(info, c);
        r->order[c] =
            kept ? k_shared(&r->s.lw->b, ir_type_unsigned(ir_type_size(info->type[c])), SK_SORT_SHORT * lanes, "order")
                 : 0;
    }
}

/* slots: 0 row length, 1 rows, 2 gangs a piece */
void sk_build_sort_lanes(sk_lower *lw)
{
    rows these, *r = &these;
    k_builder *b = &lw->b;
    const ir_array *info = ir_info(lw->l->ir, lw->cluster->loop->op.at[0].term);
    const int64_t lanes = sk_sort_lanes(info, lw->options->vector_bytes);
    sk_sort_begin(&r->s, lw, (uint16_t)lanes, true, true);
    r->lanes = k_i64(b, lanes);
    const int64_t known = known_length(&r->s);
    if (!known)
        make_room(r, info, lanes);
    k_val length = sk_slot(lw, 0, "row_length"), all = sk_slot(lw, 1, "rows"), some = sk_slot(lw, 2, "gangs_a_piece");
    k_val begin = sk_mul(lw, sk_mul(lw, k_piece(b), some), r->lanes), left = sk_sub(lw, all, begin);
    k_val up = k_i64(b, lanes - 1), gangs = k_let(b, OP_QUOT, sk_add(lw, left, up), r->lanes, 0);
    k_val gang = k_for(b, k_i64(b, 0), sk_min(lw, some, gangs), false), done = sk_mul(lw, gang, r->lanes);
    const k_val first = sk_add(lw, begin, done), count = sk_min(lw, r->lanes, sk_sub(lw, left, done));
    if (known)
        sort_known_rows(r, first, count, known);
    else
        sort_rows(r, first, count, length);
    k_end(b);
}
