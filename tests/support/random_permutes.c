/* Elements that go to places of their own. */
#include "support/random_permutes.h"
#include "support/random_arrays.h"
#include "support/random_folds.h"

/* Any target at all, brought inside by a remainder, and here and there none. */
static ir_id make_targets(random_maker *m, const ir_array *source, unsigned rank, const ir_id *shape)
{
    ir_program *p = m->p;
    bool stray = m->options->failures && chance(&m->c, 25), drops = chance(&m->c, 40);
    ir_id result[3];
    ir_fn *fn = random_fn(m, source->rank, 0, NULL);
    term_pool pool = random_body(m, fn);
    for (unsigned d = 0; d < rank; d++) {
        ir_id e = random_pick(m, &pool, T_I64);
        result[d] = stray ? e : ir_op2(p, 0, OP_MOD, e, shape[d]);
        if (drops)
            result[d] = ir_cond(p, 0, random_pick(m, &pool, T_BOOL), result[d], ir_i64(p, IR_DROPPED));
    }
    return ir_generate(p, 0, source->rank, source->shape, ir_fn_close(p, fn, rank, result));
}

static ir_id permuted(random_maker *m, ir_id defaults, ir_id targets, ir_id source)
{
    ir_id seed[IR_MAX_COMPONENTS];
    ir_fn *fn = chance(&m->c, 70) ? random_operator(m, random_info(m, source), seed) : NULL;
    return ir_permute(m->p, random_site(m, "permute"), fn, defaults, targets, source);
}

ir_id random_permute(random_maker *m)
{
    ir_id source = random_array(m, 0, 3), shape[3], defaults = 0;
    if (!source || !m->dim.n)
        return 0;
    const ir_array *from = random_info(m, source);
    for (uint32_t k = m->array.n; k-- > 0 && !defaults && chance(&m->c, 60);) {
        const ir_array *a = random_info(m, m->array.at[k]);
        if (a->rank && a->components == from->components &&
            !memcmp(a->type, from->type, a->components * sizeof *a->type))
            defaults = m->array.at[k];
    }
    if (!defaults) {
        unsigned rank = 1 + choose(&m->c, m->options->rank);
        for (unsigned d = 0; d < rank; d++)
            shape[d] = random_extent(m);
        defaults = ir_generate(m->p, 0, rank, shape,
                               random_close(m, random_fn(m, rank, 0, NULL), from->components, from->type));
        vec_push(m->arena, &m->array, defaults);
    }
    const ir_array *to = random_info(m, defaults);
    if (random_size(m, to->rank, to->shape) <= 0)
        return 0;
    ir_id targets = make_targets(m, from, to->rank, to->shape);
    for (unsigned more = 0; more < 2 && chance(&m->c, 30); more++) { /* others that go to the same places */
        ir_id other = permuted(m, defaults, targets, source);
        if (other)
            vec_push(m->arena, &m->array, other);
    }
    return permuted(m, defaults, targets, source);
}
