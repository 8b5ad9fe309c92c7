/* Scans, filters and divergent gathers as kernels, with a chain and in two passes (docs/determinism.md). */
#include "conformance/prove_parts.h"

static void combine(prove_part *p, k_val left, k_val right, k_val *out)
{
    p->op->combine(&p->b, &left, &right, out);
}

/* --- scans --- */

/* before[l] = what the lanes left of l combine to, for l > 0; gives the total. */
static k_val scan_lanes(prove_part *p, k_mem tile, k_mem before)
{
    k_builder *b = &p->b;
    k_val zero = k_i64(b, 0), run = k_decl(b, k_load(b, tile, zero), "run"), next;
    k_store(b, before, zero, run); /* not read: the first lane starts with the carry alone */
    k_val lane = k_for(b, k_i64(b, 1), p->valid, false);
    k_store(b, before, lane, run);
    combine(p, run, k_load(b, tile, lane), &next);
    k_set(b, run, next);
    k_end(b);
    return k_get(b, run);
}

/* Every lane goes over its elements again, starting with what stands left of it. */
static void scan_again(prove_part *p, k_mem before, k_val carry, bool whole)
{
    k_builder *b = &p->b;
    k_val chunk = k_i64(b, p->tree.chunk), zero = k_i64(b, 0), one = k_i64(b, 1), inner, x, next;
    k_val lane = k_for_all(b, whole ? k_i64(b, p->tree.lanes) : p->valid);
    combine(p, carry, k_load(b, before, lane), &inner);
    k_val acc = k_decl(b, k_select(b, k_let(b, OP_EQ, lane, zero, 0), carry, inner), "acc");
    k_val first = k_let(b, OP_MUL, lane, chunk, 0), base = k_let(b, OP_ADD, p->start, first, 0), k, end = chunk;
    if (whole) {
        k = k_for(b, zero, chunk, false);
    } else {
        end = k_let(b, OP_MIN, chunk, k_let(b, OP_SUB, p->count, first, 0), 0);
        k = k_decl(b, zero, "k");
        k_loop(b);
        k_break_if(b, k_let(b, OP_GE, k, end, 0));
    }
    k_val at = k_let(b, OP_ADD, base, k, 0);
    prove_element(p, at, &x);
    combine(p, acc, x, &next);
    k_set(b, acc, next);
    k_store(b, p->out[0], at, acc);
    if (!whole)
        k_set(b, k, k_let(b, OP_ADD, k, one, 0));
    k_end(b);
    k_end(b);
}

static void scan_outputs(prove_part *p, k_mem before, k_val carry)
{
    k_builder *b = &p->b;
    k_if(b, p->whole);
    scan_again(p, before, carry, true);
    k_else(b);
    scan_again(p, before, carry, false);
    k_end(b);
}

kernel *prove_scan_chained(arena *a, const prove_operator *op)
{
    prove_part p;
    k_mem tile;
    k_val result;
    prove_begin(&p, a, "scan", op, PROVE_SCAN);
    k_builder *b = &p.b;
    p.in[0] = k_global(b, op->type[0], false, "in");
    p.out[0] = k_global(b, op->type[0], true, "out");
    k_mem state = k_global(b, T_U64, true, "state");
    prove_tile(&p, p.tree.lanes, &tile);
    k_mem before = k_shared(b, op->type[0], p.tree.lanes, "before");
    k_val n = k_arg(b, T_I64, "n"), seed = k_arg(b, op->type[0], "seed");
    prove_range(&p, n, p.tree.piece);
    prove_lanes(&p, &tile);
    k_val total = scan_lanes(&p, tile, before);
    k_chain *c = k_chain_begin(b, 1, &total, &seed, state);
    combine(&p, c->left[0], c->right[0], &result);
    k_chain_end(b, c, &result);
    scan_outputs(&p, before, c->before[0]);
    return b->k;
}

kernel *prove_scan_sums(arena *a, const prove_operator *op)
{
    prove_part p;
    k_mem tile;
    prove_begin(&p, a, "scan_sums", op, PROVE_SCAN);
    k_builder *b = &p.b;
    p.in[0] = k_global(b, op->type[0], false, "in");
    k_mem sums = k_global(b, op->type[0], true, "sums");
    prove_tile(&p, p.tree.lanes, &tile);
    k_mem before = k_shared(b, op->type[0], p.tree.lanes, "before");
    prove_range(&p, k_arg(b, T_I64, "n"), p.tree.piece);
    prove_lanes(&p, &tile);
    k_store(b, sums, k_piece(b), scan_lanes(&p, tile, before));
    return b->k;
}

kernel *prove_scan_carries(arena *a, const prove_operator *op)
{
    prove_part p;
    k_val next;
    prove_begin(&p, a, "scan_carries", op, PROVE_SCAN);
    k_builder *b = &p.b;
    k_mem sums = k_global(b, op->type[0], true, "sums");
    k_val pieces = k_arg(b, T_I64, "pieces"), seed = k_arg(b, op->type[0], "seed");
    k_val run = k_decl(b, seed, "run");
    k_val i = k_for(b, k_i64(b, 0), pieces, false);
    combine(&p, run, k_load(b, sums, i), &next);
    k_store(b, sums, i, run);
    k_set(b, run, next);
    k_end(b);
    return b->k;
}

kernel *prove_scan_apply(arena *a, const prove_operator *op)
{
    prove_part p;
    k_mem tile;
    prove_begin(&p, a, "scan_apply", op, PROVE_SCAN);
    k_builder *b = &p.b;
    p.in[0] = k_global(b, op->type[0], false, "in");
    k_mem carries = k_global(b, op->type[0], false, "carries");
    p.out[0] = k_global(b, op->type[0], true, "out");
    prove_tile(&p, p.tree.lanes, &tile);
    k_mem before = k_shared(b, op->type[0], p.tree.lanes, "before");
    prove_range(&p, k_arg(b, T_I64, "n"), p.tree.piece);
    prove_lanes(&p, &tile);
    scan_lanes(&p, tile, before);
    scan_outputs(&p, before, k_load(b, carries, k_piece(b)));
    return b->k;
}

/* --- filters --- */

static k_val above(k_builder *b, k_val x, k_val limit)
{
    return k_let(b, OP_GT, x, limit, 0);
}

/* Whole gangs compact their elements into shared memory; the kept ones go out in one run. */
kernel *prove_filter_chained(arena *a)
{
    prove_part p;
    prove_begin(&p, a, "filter", &prove_sum_f32, PROVE_SCAN);
    k_builder *b = &p.b;
    k_mem in = k_global(b, T_F32, false, "in"), out = k_global(b, T_F32, true, "out");
    k_mem total = k_global(b, T_I64, true, "total"), state = k_global(b, T_U64, true, "state");
    k_mem tile = k_shared(b, T_F32, p.tree.piece, "kept");
    k_val n = k_arg(b, T_I64, "n"), limit = k_arg(b, T_F32, "limit");
    k_val zero = k_i64(b, 0), lanes = k_i64(b, p.tree.lanes);
    prove_range(&p, n, p.tree.piece);
    k_val kept = k_decl(b, zero, "kept");
    k_val gangs = k_let(b, OP_DIV, k_let(b, OP_ADD, p.count, k_i64(b, p.tree.lanes - 1), 0), lanes, 0);
    k_val gang = k_for(b, zero, gangs, false);
    k_val first = k_let(b, OP_MUL, gang, lanes, 0);
    k_val lane = k_for_all(b, k_let(b, OP_MIN, k_let(b, OP_SUB, p.count, first, 0), lanes, 0));
    k_val x = k_load(b, in, k_let(b, OP_ADD, k_let(b, OP_ADD, p.start, first, 0), lane, 0)), keep = above(b, x, limit);
    k_compact(b, tile, kept, x, keep);
    k_set(b, kept, k_let(b, OP_ADD, kept, k_count(b, keep), 0));
    k_end(b);
    k_end(b);
    k_val aggregate = k_get(b, kept);
    k_chain *c = k_chain_begin(b, 1, &aggregate, &zero, state);
    k_val both = k_let(b, OP_ADD, c->left[0], c->right[0], 0);
    k_chain_end(b, c, &both);
    k_val i = k_for_all(b, aggregate);
    k_store(b, out, k_let(b, OP_ADD, c->before[0], i, 0), k_load(b, tile, i));
    k_end(b);
    k_if(b, k_let(b, OP_EQ, k_let(b, OP_ADD, p.start, p.count, 0), n, 0));
    k_store(b, total, zero, k_let(b, OP_ADD, c->before[0], aggregate, 0));
    k_end(b);
    return b->k;
}

/* Opens a loop over the lane's own elements that gives the element and whether it is kept; `at` counts them. */
static void open_elements(prove_part *p, k_mem in, k_val limit, k_val lane, k_val *at, k_val *x, k_val *keep)
{
    k_builder *b = &p->b;
    k_val chunk = k_i64(b, p->tree.chunk), first = k_let(b, OP_MUL, lane, chunk, 0);
    k_val end = k_let(b, OP_MIN, chunk, k_let(b, OP_SUB, p->count, first, 0), 0);
    *at = k_decl(b, k_i64(b, 0), "k");
    k_loop(b);
    k_break_if(b, k_let(b, OP_GE, *at, end, 0));
    *x = k_load(b, in, k_let(b, OP_ADD, k_let(b, OP_ADD, p->start, first, 0), *at, 0));
    *keep = above(b, *x, limit);
}

static void close_elements(prove_part *p, k_val at)
{
    k_builder *b = &p->b;
    k_set(b, at, k_let(b, OP_ADD, at, k_i64(b, 1), 0));
    k_end(b);
}

/* offset[l] = `base` + number of kept elements of the lanes left of l; gives the sum over all. */
static k_val count_lanes(prove_part *p, k_mem in, k_val limit, k_val base, k_mem offset)
{
    k_builder *b = &p->b;
    k_val at, x, keep, zero = k_i64(b, 0), one = k_i64(b, 1);
    k_mem counts = k_shared(b, T_I64, p->tree.lanes, "counts");
    k_val up = k_let(b, OP_ADD, p->count, k_i64(b, p->tree.chunk - 1), 0);
    p->valid = k_let(b, OP_DIV, up, k_i64(b, p->tree.chunk), 0);
    k_val lane = k_for_all(b, p->valid), kept = k_decl(b, zero, "kept");
    open_elements(p, in, limit, lane, &at, &x, &keep);
    k_set(b, kept, k_let(b, OP_ADD, kept, k_select(b, keep, one, zero), 0));
    close_elements(p, at);
    k_store(b, counts, lane, kept);
    k_end(b);
    k_val run = k_decl(b, base, "run"), l = k_for(b, zero, p->valid, false);
    k_store(b, offset, l, run);
    k_set(b, run, k_let(b, OP_ADD, run, k_load(b, counts, l), 0));
    k_end(b);
    return k_get(b, run);
}

kernel *prove_filter_count(arena *a)
{
    prove_part p;
    prove_begin(&p, a, "filter_count", &prove_sum_f32, PROVE_SCAN);
    k_builder *b = &p.b;
    k_mem in = k_global(b, T_F32, false, "in"), counts = k_global(b, T_I64, true, "counts");
    k_mem offset = k_shared(b, T_I64, p.tree.lanes, "offset");
    k_val n = k_arg(b, T_I64, "n"), limit = k_arg(b, T_F32, "limit");
    prove_range(&p, n, p.tree.piece);
    k_store(b, counts, k_piece(b), count_lanes(&p, in, limit, k_i64(b, 0), offset));
    return b->k;
}

kernel *prove_filter_offsets(arena *a)
{
    k_builder b;
    k_begin(&b, k_new(a, "filter_offsets", 32));
    k_mem counts = k_global(&b, T_I64, true, "counts"), total = k_global(&b, T_I64, true, "total");
    k_val pieces = k_arg(&b, T_I64, "pieces"), zero = k_i64(&b, 0);
    k_val run = k_decl(&b, zero, "run"), i = k_for(&b, zero, pieces, false);
    k_val next = k_let(&b, OP_ADD, run, k_load(&b, counts, i), 0);
    k_store(&b, counts, i, run);
    k_set(&b, run, next);
    k_end(&b);
    k_store(&b, total, zero, run);
    return b.k;
}

kernel *prove_filter_write(arena *a)
{
    prove_part p;
    k_val at, x, keep;
    prove_begin(&p, a, "filter_write", &prove_sum_f32, PROVE_SCAN);
    k_builder *b = &p.b;
    k_mem in = k_global(b, T_F32, false, "in"), offsets = k_global(b, T_I64, false, "offsets");
    k_mem out = k_global(b, T_F32, true, "out"), offset = k_shared(b, T_I64, p.tree.lanes, "offset");
    k_val n = k_arg(b, T_I64, "n"), limit = k_arg(b, T_F32, "limit");
    prove_range(&p, n, p.tree.piece);
    count_lanes(&p, in, limit, k_load(b, offsets, k_piece(b)), offset);
    k_val lane = k_for_all(b, p.valid), to = k_decl(b, k_load(b, offset, lane), "to");
    open_elements(&p, in, limit, lane, &at, &x, &keep);
    k_if(b, keep);
    k_store(b, out, to, x);
    k_set(b, to, k_let(b, OP_ADD, to, k_i64(b, 1), 0));
    k_end(b);
    close_elements(&p, at);
    k_end(b);
    return b->k;
}

/* --- divergent gathers --- */

kernel *prove_chase(arena *a)
{
    k_builder builder, *b = &builder;
    k_begin(b, k_new(a, "chase", 32));
    k_mem start = k_global(b, T_I32, false, "start"), next = k_global(b, T_I32, false, "next");
    k_mem value = k_global(b, T_F32, false, "value"), out = k_global(b, T_F32, true, "out");
    k_val n = k_arg(b, T_I64, "n"), m = k_arg(b, T_I64, "m"), limit = k_arg(b, T_I64, "limit");
    k_val first = k_let(b, OP_MUL, k_piece(b), k_i64(b, PROVE_CHASE_PIECE), 0), zero = k_i64(b, 0);
    k_val t = k_for_all(b, k_let(b, OP_MIN, k_let(b, OP_SUB, n, first, 0), k_i64(b, PROVE_CHASE_PIECE), 0));
    k_val i = k_let(b, OP_ADD, first, t, 0);
    k_val link = k_decl(b, k_convert(b, OP_CONVERT, T_I64, k_load(b, start, i)), "link");
    k_val sum = k_decl(b, k_literal(b, T_F32, 0), "sum"), steps = k_decl(b, zero, "steps");
    k_loop(b);
    k_val ended = k_let(b, OP_LT, link, zero, 0);
    k_break_if(b, k_let(b, OP_OR, ended, k_let(b, OP_GE, steps, limit, 0), 0));
    k_check(b, PROVE_SITE, k_let(b, OP_LT, link, m, 0), i, link, m);
    k_set(b, sum, k_let(b, OP_ADD, sum, k_load(b, value, link), 0));
    k_set(b, link, k_convert(b, OP_CONVERT, T_I64, k_load(b, next, link)));
    k_set(b, steps, k_let(b, OP_ADD, steps, k_i64(b, 1), 0));
    k_end(b);
    k_store(b, out, i, sum);
    k_end(b);
    return b->k;
}
