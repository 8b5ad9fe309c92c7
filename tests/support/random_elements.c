/* Operations element by element: generate, map, stencils. */
#include "support/random_elements.h"
#include "support/random_arrays.h"

enum { PATTERN_MAX = 25 };

ir_id random_generate(random_maker *m)
{
    ir_id shape[3];
    unsigned rank = m->dim.n ? choose(&m->c, m->options->rank + 1) : 0;
    for (unsigned d = 0; d < rank; d++)
        shape[d] = random_extent(m);
    return ir_generate(m->p, 0, rank, shape, random_close_any(m, random_fn(m, rank, 0, NULL)));
}

ir_id random_map(random_maker *m)
{
    ir_id input[3] = {random_array(m, 0, 3)};
    ir_type type[3 * IR_MAX_COMPONENTS];
    uint32_t inputs = 1 + choose(&m->c, 3), components = 0;
    unsigned flags = chance(&m->c, 25) ? IR_INDEXED : 0;
    for (uint32_t k = 0; k < inputs; k++) {
        input[k] = k ? random_like(m, input[0]) : input[0];
        const ir_array *a = random_info(m, input[k]);
        memcpy(type + components, a->type, a->components * sizeof *type);
        components += a->components;
    }
    uint32_t indices = flags ? random_info(m, input[0])->rank : 0;
    return ir_map(m->p, 0, inputs, input, random_close_any(m, random_fn(m, indices, components, type)), flags);
}

static ir_stencil random_stencil(random_maker *m, ir_id source)
{
    const ir_array *a = random_info(m, source);
    ir_stencil s = {.boundary = (ir_boundary)choose(&m->c, 5)};
    unsigned positions = 1;
    for (unsigned d = 0; d < a->rank; d++) {
        s.extent[d] = (uint8_t)(1 + 2 * choose(&m->c, 3));
        if (positions * s.extent[d] > PATTERN_MAX)
            s.extent[d] = 1;
        positions *= s.extent[d];
    }
    s.constant = arena_array(m->arena, ir_id, a->components);
    for (uint32_t c = 0; c < a->components; c++)
        s.constant[c] = random_constant(m, a->type[c]);
    if (s.boundary == IR_FUNCTION)
        s.function = random_close(m, random_fn(m, a->rank, 0, NULL), a->components, a->type);
    return s;
}

ir_id random_stencil_of(random_maker *m)
{
    ir_id input[2] = {random_array(m, 1, 3)};
    if (!input[0])
        return 0;
    uint32_t inputs = 1 + choose(&m->c, 10) / 7, n = 0;
    ir_stencil stencil[2];
    ir_type type[2 * PATTERN_MAX * IR_MAX_COMPONENTS];
    for (uint32_t k = 0; k < inputs; k++) {
        input[k] = k ? random_like(m, input[0]) : input[0];
        stencil[k] = random_stencil(m, input[k]);
        const ir_array *a = random_info(m, input[k]);
        uint32_t positions = 1;
        for (unsigned d = 0; d < a->rank; d++)
            positions *= stencil[k].extent[d];
        for (uint32_t e = 0; e < positions * a->components; e++)
            type[n++] = a->type[e % a->components];
    }
    return ir_stencil_new(m->p, 0, random_close_any(m, random_fn(m, 0, n, type)), inputs, input, stencil);
}
