/* Folds and scans of segments, and elements that know their segment. */
#include "support/random_segments.h"
#include "support/random_arrays.h"
#include "support/random_folds.h"

/* Offsets of some segments of so many elements; now and then, where failures are wanted, of more or fewer. */
static ir_id make_offsets(random_maker *m, ir_id n)
{
    ir_program *p = m->p;
    uint32_t segments = 1 + choose(&m->c, 5);
    ir_fn *fn = random_fn(m, 1, 0, NULL);
    ir_id i = fn->param[0], last = ir_i64(p, segments), extent = ir_i64(p, segments + 1), begin;
    ir_id whole = ir_op2(p, 0, OP_QUOT, ir_op2(p, 0, OP_MUL, i, n), last);
    if (m->options->failures && chance(&m->c, 10)) /* one that falls */
        begin = ir_cond(p, 0, ir_op2(p, 0, OP_EQ, i, ir_i64(p, choose(&m->c, segments + 1))),
                        ir_i64(p, (int64_t)choose(&m->c, 12) - 2), whole);
    else if (m->options->failures && chance(&m->c, 10))
        begin = ir_op2(p, 0, OP_MUL, i, ir_i64(p, (int64_t)choose(&m->c, 4) - 1));
    else if (chance(&m->c, 50))
        begin = whole;
    else
        begin = ir_cond(p, 0, ir_op2(p, 0, OP_EQ, i, last), n,
                        ir_op2(p, 0, OP_MIN, n, ir_op2(p, 0, OP_MUL, i, ir_i64(p, choose(&m->c, 4)))));
    return ir_generate(p, 0, 1, &extent, ir_fn_close(p, fn, 1, &begin));
}

ir_id random_fold_seg(random_maker *m)
{
    ir_id source = random_array(m, 1, 3), seed[IR_MAX_COMPONENTS];
    if (!source)
        return 0;
    const ir_array *a = random_info(m, source);
    ir_fn *fn = random_operator(m, a, seed);
    ir_id offsets = make_offsets(m, a->shape[a->rank - 1]);
    bool seeded = !m->options->failures || chance(&m->c, 80);
    return offsets ? ir_fold_seg(m->p, 0, fn, seeded ? seed : NULL, source, offsets, 0) : 0;
}

ir_id random_scan_seg(random_maker *m)
{
    ir_id source = random_array(m, 1, 3), seed[IR_MAX_COMPONENTS];
    if (!source)
        return 0;
    const ir_array *a = random_info(m, source);
    ir_fn *fn = random_operator(m, a, seed);
    ir_id offsets = make_offsets(m, a->shape[a->rank - 1]);
    unsigned flags = chance(&m->c, 50) ? IR_EXCLUSIVE : 0;
    flags |= chance(&m->c, 30) ? IR_RIGHT : 0;
    return ir_scan_seg(m->p, 0, fn, flags & IR_EXCLUSIVE || chance(&m->c, 50) ? seed : NULL, source, offsets, flags);
}

/* What a fold of segments gives, each for the elements of its own segment: with these it becomes elements again, which
 * may be scanned. Of one component, so that types are easy. */
static ir_id give_back(random_maker *m, ir_id of, ir_id folds, ir_id elements, ir_id offsets)
{
    ir_program *p = m->p;
    const ir_array *f = random_info(m, folds), *a = random_info(m, elements);
    ir_type type[1 + IR_MAX_COMPONENTS] = {T_I64};
    ir_id both[2] = {of, elements}, out[IR_MAX_COMPONENTS], seed[IR_MAX_COMPONENTS];
    memcpy(type + 1, a->type, a->components * sizeof *type);
    ir_fn *fn = ir_fn_new(p, 1 + a->components, type);
    for (uint32_t c = 0; c < a->components; c++) {
        ir_id own = fn->param[1 + c];
        ir_id theirs = ir_read(p, 0, folds, c < f->components ? c : 0, 0, 1, fn->param);
        bool same = ir_at(p, own)->type == ir_at(p, theirs)->type && ir_at(p, own)->type != T_BOOL;
        out[c] = same ? ir_cond(p, 0, ir_op2(p, 0, OP_LT, theirs, own), theirs, own) : own;
    }
    ir_id made = ir_map(p, 0, 2, both, ir_fn_close(p, fn, a->components, out), 0);
    if (!made || chance(&m->c, 50))
        return made;
    vec_push(m->arena, &m->array, made);
    fn = random_operator(m, random_info(m, made), seed);
    if (chance(&m->c, 50))
        return ir_fold_seg(p, 0, fn, seed, made, offsets, 0);
    return ir_scan_seg(p, 0, fn, seed, made, offsets, chance(&m->c, 30) ? IR_RIGHT : IR_EXCLUSIVE);
}

ir_id random_segment_of(random_maker *m)
{
    ir_id row = random_array(m, 1, 1), seed[IR_MAX_COMPONENTS], offsets, of;
    if (!row)
        return 0;
    offsets = make_offsets(m, random_info(m, row)->shape[0]);
    of = offsets ? ir_segment_of(m->p, 0, random_info(m, row)->shape[0], offsets) : 0;
    if (!of || chance(&m->c, 30))
        return of;
    const ir_array *a = random_info(m, row);
    ir_type type[1 + IR_MAX_COMPONENTS] = {T_I64};
    memcpy(type + 1, a->type, a->components * sizeof *type);
    ir_id both[2] = {of, row};
    ir_id made = ir_map(m->p, 0, 2, both, random_close_any(m, random_fn(m, 0, a->components + 1u, type)), 0);
    if (!made || chance(&m->c, 40))
        return made;
    vec_push(m->arena, &m->array, made);
    ir_fn *fn = random_operator(m, random_info(m, made), seed);
    ir_id folds = ir_fold_seg(m->p, 0, fn, seed, made, offsets, 0);
    if (!folds || chance(&m->c, 40))
        return folds;
    vec_push(m->arena, &m->array, folds);
    return give_back(m, of, folds, made, offsets);
}
