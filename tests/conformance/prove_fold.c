/* Folds as kernels: ordered and commutative, with the trees of docs/determinism.md. */
#include "conformance/prove_parts.h"

/* --- operators --- */

static void argmax(k_builder *b, const k_val *left, const k_val *right, k_val *out)
{
    k_val later = k_let(b, OP_GT, right[0], left[0], 0);
    out[0] = k_select(b, later, right[0], left[0]);
    out[1] = k_select(b, later, right[1], left[1]);
}

static void matrix(k_builder *b, const k_val *l, const k_val *r, k_val *out)
{
    for (unsigned row = 0; row < 2; row++)
        for (unsigned column = 0; column < 2; column++) {
            k_val x = k_let(b, OP_MUL, l[2 * row], r[column], 0);
            k_val y = k_let(b, OP_MUL, l[2 * row + 1], r[2 + column], 0);
            out[2 * row + column] = k_let(b, OP_ADD, x, y, 0);
        }
}

static void sum(k_builder *b, const k_val *left, const k_val *right, k_val *out)
{
    out[0] = k_let(b, OP_ADD, left[0], right[0], 0);
}

const prove_operator prove_argmax = {"argmax", 2, {T_F32, T_I32}, argmax};
const prove_operator prove_matrix_u32 = {"matrix_u32", 4, {T_U32, T_U32, T_U32, T_U32}, matrix};
const prove_operator prove_matrix_f32 = {"matrix_f32", 4, {T_F32, T_F32, T_F32, T_F32}, matrix};
const prove_operator prove_sum_f32 = {"sum_f32", 1, {T_F32}, sum};
const prove_operator prove_sum_f64 = {"sum_f64", 1, {T_F64}, sum};

static prove_tree in_stretches(int64_t lanes, int64_t chunk)
{
    return (prove_tree){.lanes = lanes, .chunk = chunk, .streams = 1, .piece = lanes * chunk};
}

prove_tree prove_tree_of(const prove_operator *op, prove_order order)
{
    bool wide = false;
    for (unsigned c = 0; c < op->arity; c++)
        wide |= ir_type_size(op->type[c]) > 4;
    int64_t lanes = wide ? 16 : 32;
    if (order == PROVE_SCAN)
        return in_stretches(lanes, wide ? 264 : 520);
    return (prove_tree){.lanes = lanes, .streams = 128 / lanes, .piece = 4096};
}

/* --- parts --- */

void prove_begin(prove_part *p, arena *a, const char *name, const prove_operator *op, prove_order order)
{
    *p = (prove_part){.op = op, .tree = prove_tree_of(op, order)};
    k_begin(&p->b, k_new(a, name, (uint16_t)p->tree.lanes));
}

void prove_element(prove_part *p, k_val index, k_val *out)
{
    for (unsigned c = 0; c < p->op->arity; c++)
        out[c] = p->in[c] ? k_load(&p->b, p->in[c], index) : k_convert(&p->b, OP_CONVERT, p->op->type[c], index);
}

void prove_load(prove_part *p, const k_mem *m, k_val index, k_val *out)
{
    for (unsigned c = 0; c < p->op->arity; c++)
        out[c] = k_load(&p->b, m[c], index);
}

void prove_store(prove_part *p, const k_mem *m, k_val index, const k_val *value)
{
    for (unsigned c = 0; c < p->op->arity; c++)
        k_store(&p->b, m[c], index, value[c]);
}

void prove_variables(prove_part *p, const k_val *initial, k_val *out)
{
    for (unsigned c = 0; c < p->op->arity; c++)
        out[c] = k_decl(&p->b, initial[c], "acc");
}

void prove_accumulate(prove_part *p, const k_val *variable, const k_val *value)
{
    k_val result[4];
    p->op->combine(&p->b, variable, value, result);
    for (unsigned c = 0; c < p->op->arity; c++)
        k_set(&p->b, variable[c], result[c]);
}

/* m[to] = m[to] (+) m[from] */
static void combine_elements(prove_part *p, const k_mem *m, k_val to, k_val from)
{
    k_val left[4], right[4], result[4];
    prove_load(p, m, to, left);
    prove_load(p, m, from, right);
    p->op->combine(&p->b, left, right, result);
    prove_store(p, m, to, result);
}

void prove_range(prove_part *p, k_val n, int64_t piece)
{
    k_builder *b = &p->b;
    p->start = k_let(b, OP_MUL, k_piece(b), k_i64(b, piece), 0);
    k_name(b->k, p->start, "start");
    p->count = k_let(b, OP_MIN, k_let(b, OP_SUB, n, p->start, 0), k_i64(b, piece), 0);
    k_name(b->k, p->count, "count");
}

/* Lane l combines the elements [l * chunk, (l + 1) * chunk) of the piece, left to right, into tile[l]. */
static void lane_folds(prove_part *p, const k_mem *tile, bool whole)
{
    k_builder *b = &p->b;
    k_val chunk = k_i64(b, p->tree.chunk), acc[4], x[4], one = k_i64(b, 1);
    k_val lane = k_for_all(b, whole ? k_i64(b, p->tree.lanes) : p->valid);
    k_val first = k_let(b, OP_MUL, lane, chunk, 0), base = k_let(b, OP_ADD, p->start, first, 0);
    prove_element(p, base, x);
    prove_variables(p, x, acc);
    if (whole) {
        k_val k = k_for(b, one, chunk, false);
        prove_element(p, k_let(b, OP_ADD, base, k, 0), x);
        prove_accumulate(p, acc, x);
        k_end(b);
    } else {
        k_val end = k_let(b, OP_MIN, chunk, k_let(b, OP_SUB, p->count, first, 0), 0), k = k_decl(b, one, "k");
        k_loop(b);
        k_break_if(b, k_let(b, OP_GE, k, end, 0));
        prove_element(p, k_let(b, OP_ADD, base, k, 0), x);
        prove_accumulate(p, acc, x);
        k_set(b, k, k_let(b, OP_ADD, k, one, 0));
        k_end(b);
    }
    prove_store(p, tile, lane, acc);
    k_end(b);
}

void prove_lanes(prove_part *p, const k_mem *tile)
{
    k_builder *b = &p->b;
    k_val up = k_let(b, OP_ADD, p->count, k_i64(b, p->tree.chunk - 1), 0);
    p->valid = k_let(b, OP_DIV, up, k_i64(b, p->tree.chunk), 0);
    p->whole = k_let(b, OP_EQ, p->count, k_i64(b, p->tree.piece), 0);
    k_if(b, p->whole);
    lane_folds(p, tile, true);
    k_else(b);
    lane_folds(p, tile, false);
    k_end(b);
}

void prove_tile(prove_part *p, int64_t count, k_mem *tile)
{
    for (unsigned c = 0; c < p->op->arity; c++)
        tile[c] = k_shared(&p->b, p->op->type[c], count, "tile");
}

/* --- kernels --- */

static void fold_memory(prove_part *p, bool positions_made_up)
{
    for (unsigned c = 0; c < p->op->arity; c++)
        p->in[c] = positions_made_up && c ? 0 : k_global(&p->b, p->op->type[c], false, "in");
    for (unsigned c = 0; c < p->op->arity; c++)
        p->out[c] = k_global(&p->b, p->op->type[c], true, "out");
}

/* The elements of a short extent, left to right. */
static void short_fold(prove_part *p, k_val n)
{
    k_builder *b = &p->b;
    k_val x[4], acc[4];
    prove_element(p, k_i64(b, 0), x);
    prove_variables(p, x, acc);
    k_val k = k_for(b, k_i64(b, 1), n, false);
    prove_element(p, k, x);
    prove_accumulate(p, acc, x);
    k_end(b);
    prove_store(p, p->out, k_i64(b, 0), acc);
}

enum { OWN = 8 }; /* neighbours that a thread combines by itself */

/* acc = the balanced tree over elements k ... k + n - 1 of the thread, those that there are; k is there. */
static void own_node(prove_part *p, k_val base, int64_t k, int64_t n, k_val *acc)
{
    k_builder *b = &p->b;
    k_val at = k_let(b, OP_ADD, base, k_i64(b, k), 0), zero[4], right[4], x[4];
    if (n == 1) {
        prove_element(p, k_let(b, OP_ADD, p->start, at, 0), x);
        for (unsigned c = 0; c < p->op->arity; c++)
            k_set(b, acc[c], x[c]);
        return;
    }
    own_node(p, base, k, n / 2, acc);
    for (unsigned c = 0; c < p->op->arity; c++)
        zero[c] = k_literal(b, p->op->type[c], 0);
    prove_variables(p, zero, right);
    k_if(b, k_let(b, OP_LT, k_let(b, OP_ADD, at, k_i64(b, n / 2), 0), p->count, 0));
    own_node(p, base, k + n / 2, n / 2, right);
    prove_accumulate(p, acc, right);
    k_end(b);
}

static void own_nodes(prove_part *p, const k_mem *tile)
{
    k_builder *b = &p->b;
    k_val zero[4], acc[4];
    k_val thread = k_for_all(b, k_i64(b, p->tree.piece / OWN)), base = k_let(b, OP_MUL, thread, k_i64(b, OWN), 0);
    k_if(b, k_let(b, OP_LT, base, p->count, 0));
    for (unsigned c = 0; c < p->op->arity; c++)
        zero[c] = k_literal(b, p->op->type[c], 0);
    prove_variables(p, zero, acc);
    own_node(p, base, 0, OWN, acc);
    prove_store(p, tile, thread, acc);
    k_end(b);
    k_end(b);
}

/* to[i] = from[2 i] (+) from[2 i + 1], or from[2 i] where that is the last one, of `there` nodes. */
static void pair_up(prove_part *p, const k_mem *from, const k_mem *to, int64_t pairs, k_val there)
{
    k_builder *b = &p->b;
    k_val x[4], y[4], acc[4], i = k_for_all(b, k_i64(b, pairs)), left = k_let(b, OP_ADD, i, i, 0);
    k_val right = k_let(b, OP_ADD, left, k_i64(b, 1), 0);
    k_if(b, k_let(b, OP_LT, left, there, 0));
    prove_load(p, from, left, x);
    prove_variables(p, x, acc);
    k_if(b, k_let(b, OP_LT, right, there, 0));
    prove_load(p, from, right, y);
    prove_accumulate(p, acc, y);
    k_end(b);
    prove_store(p, to, i, acc);
    k_end(b);
    k_end(b);
}

kernel *prove_fold_ordered(arena *a, const prove_operator *op, bool partial)
{
    prove_part p;
    k_mem tile[2][4];
    k_val result[4];
    unsigned now = 0;
    prove_begin(&p, a, op->name, op, PROVE_ORDERED);
    k_builder *b = &p.b;
    fold_memory(&p, op == &prove_argmax && !partial);
    prove_tile(&p, p.tree.piece / OWN, tile[0]);
    prove_tile(&p, p.tree.piece / OWN / 2, tile[1]);
    k_val n = k_arg(b, T_I64, "n");
    k_if(b, k_let(b, OP_LE, n, k_i64(b, partial ? 0 : 32), 0));
    short_fold(&p, n);
    k_else(b);
    prove_range(&p, n, p.tree.piece);
    own_nodes(&p, tile[0]);
    int64_t width = OWN;
    for (int64_t pairs = p.tree.piece / OWN / 2; pairs; pairs /= 2, now = !now, width *= 2) {
        k_val up = k_let(b, OP_ADD, p.count, k_i64(b, width - 1), 0);
        pair_up(&p, tile[now], tile[!now], pairs, k_let(b, OP_DIV, up, k_i64(b, width), 0));
    }
    prove_load(&p, tile[now], k_i64(b, 0), result);
    prove_store(&p, p.out, k_piece(b), result);
    k_end(b);
    return b->k;
}

/* One round: each accumulator takes the element of each lane that there is; the first round begins them. */
static void round_of_streams(prove_part *p, k_val lane, k_val k, bool first, bool masked, k_val acc[8][4])
{
    k_builder *b = &p->b;
    int64_t all = p->tree.lanes * p->tree.streams;
    k_val x[4], before = k_let(b, OP_ADD, k_let(b, OP_MUL, k, k_i64(b, all), 0), lane, 0);
    for (unsigned s = 0; s < p->tree.streams; s++) {
        k_val at = k_let(b, OP_ADD, before, k_i64(b, s * p->tree.lanes), 0);
        if (masked)
            k_if(b, k_let(b, OP_LT, at, p->count, 0));
        prove_element(p, k_let(b, OP_ADD, p->start, at, 0), x);
        for (unsigned c = 0; c < p->op->arity && first; c++)
            k_set(b, acc[s][c], x[c]);
        if (!first)
            prove_accumulate(p, acc[s], x);
        if (masked)
            k_end(b);
    }
}

/* acc[to] = acc[to] (+) acc[from], in lanes whose second one has received an element. */
static void combine_streams(prove_part *p, k_val lane, k_val acc[8][4], unsigned to, unsigned from)
{
    k_builder *b = &p->b;
    k_val first = k_let(b, OP_ADD, lane, k_i64(b, from * p->tree.lanes), 0);
    k_if(b, k_let(b, OP_LT, first, p->count, 0));
    prove_accumulate(p, acc[to], acc[from]);
    k_end(b);
}

/* Accumulator s * lanes + l takes every 128th element of the piece from there on; then the streams of each lane are
 * combined by halves. */
static void lane_streams(prove_part *p, const k_mem *tile)
{
    k_builder *b = &p->b;
    k_val acc[8][4], one = k_i64(b, 1), round = k_i64(b, p->tree.lanes * p->tree.streams);
    k_val whole = k_let(b, OP_DIV, p->count, round, 0);
    k_val rounds = k_let(b, OP_DIV, k_let(b, OP_ADD, p->count, k_let(b, OP_SUB, round, one, 0), 0), round, 0);
    k_val lane = k_for_all(b, k_i64(b, p->tree.lanes));
    for (unsigned s = 0; s < p->tree.streams; s++)
        for (unsigned c = 0; c < p->op->arity; c++)
            acc[s][c] = k_decl(b, k_literal(b, p->op->type[c], 0), "acc");
    round_of_streams(p, lane, k_i64(b, 0), true, true, acc);
    round_of_streams(p, lane, k_for(b, one, whole, false), false, false, acc);
    k_end(b);
    round_of_streams(p, lane, k_for(b, k_let(b, OP_MAX, whole, one, 0), rounds, false), false, true, acc);
    k_end(b);
    for (unsigned d = (unsigned)p->tree.streams / 2; d; d /= 2)
        for (unsigned s = 0; s < d; s++)
            combine_streams(p, lane, acc, s, s + d);
    prove_store(p, tile, lane, acc[0]);
    k_end(b);
}

static void combine_halves(prove_part *p, const k_mem *tile)
{
    k_builder *b = &p->b;
    for (int64_t d = p->tree.lanes / 2; d > 0; d /= 2) {
        k_val lane = k_for_all(b, k_i64(b, d)), other = k_let(b, OP_ADD, lane, k_i64(b, d), 0);
        k_if(b, k_let(b, OP_LT, other, p->valid, 0));
        combine_elements(p, tile, lane, other);
        k_end(b);
        k_end(b);
    }
}

kernel *prove_fold_commutative(arena *a, const prove_operator *op)
{
    prove_part p;
    k_mem tile[4];
    k_val result[4];
    prove_begin(&p, a, op->name, op, PROVE_COMMUTATIVE);
    k_builder *b = &p.b;
    fold_memory(&p, false);
    prove_tile(&p, p.tree.lanes, tile);
    k_val n = k_arg(b, T_I64, "n");
    k_if(b, k_let(b, OP_LE, n, k_i64(b, 32), 0));
    short_fold(&p, n);
    k_else(b);
    prove_range(&p, n, p.tree.piece);
    p.valid = k_let(b, OP_MIN, p.count, k_i64(b, p.tree.lanes), 0);
    lane_streams(&p, tile);
    combine_halves(&p, tile);
    prove_load(&p, tile, k_i64(b, 0), result);
    prove_store(&p, p.out, k_piece(b), result);
    k_end(b);
    return p.b.k;
}

kernel *prove_fold_finish(arena *a, const prove_operator *op)
{
    prove_part p;
    k_val seed[4], total[4], result[4];
    prove_begin(&p, a, "finish", op, PROVE_ORDERED);
    k_builder *b = &p.b;
    fold_memory(&p, false);
    k_val n = k_arg(b, T_I64, "n"), zero = k_i64(b, 0);
    for (unsigned c = 0; c < op->arity; c++)
        seed[c] = k_arg(b, op->type[c], "seed");
    k_if(b, k_let(b, OP_EQ, n, zero, 0));
    prove_store(&p, p.out, zero, seed);
    k_else(b);
    prove_load(&p, p.in, zero, total);
    op->combine(b, seed, total, result);
    prove_store(&p, p.out, zero, result);
    k_end(b);
    return p.b.k;
}
