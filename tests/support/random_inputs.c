/* Inputs and their values. */
#include "support/random_inputs.h"
#include "support/random_arrays.h"

enum { DIMS = 3, INPUTS = 3 };

/* The k'th value of an input: 1, 2, 3 ... for pattern 0, else mostly small ones, and some that are special. */
static ir_bits input_value(ir_type t, uint32_t pattern, int64_t k)
{
    static const int64_t special[] = {INT64_MAX, INT64_MIN, 0x7fffffff, 127, 128, -1, 0, 1000003};
    static const double special_real[] = {-0.0, 1e30, 1e-40, 0.0, -1e10, 16777217, 0.1, -1};
    uint64_t random = hash_mix(hash_mix(pattern, (uint64_t)k), 5) >> 16;
    int64_t small = pattern ? (int64_t)(random % 21) - 10 : k + 1;
    bool is_special = pattern && (random >> 20) % 8 == 0;
    if (ir_type_float(t)) {
        double v = is_special ? special_real[(random >> 24) % 8] : (double)small / (pattern ? 4 : 1);
        return t == T_F32 ? ir_bits_f32((float)v) : ir_bits_f64(v);
    }
    if (t == T_BOOL)
        return small % 2 ? 1 : 0;
    return ir_bits_i64(t, t == T_CHAR ? 'k' + small : is_special ? special[(random >> 24) % 8] : small);
}

static void store(void *data, ir_type t, int64_t at, ir_bits bits)
{
    size_t size = ir_type_size(t);
    uint8_t bytes[8];
    for (unsigned k = 0; k < 8; k++)
        bytes[k] = (uint8_t)(bits >> 8 * k);
    memcpy((uint8_t *)data + (size_t)at * size, bytes, size);
}

static void *input_data(random_maker *m, ir_type t, int64_t size)
{
    void *data = arena_alloc(m->arena, (size_t)size * 8 + 8);
    uint32_t pattern = choose(&m->c, 1000);
    for (int64_t k = 0; k < size; k++)
        store(data, t, k, input_value(t, pattern, k));
    return data;
}

static void add_input(random_maker *m, ir_value *v)
{
    ir_id shape[3];
    ir_type type[2];
    *v = (ir_value){.components = (uint8_t)(1 + choose(&m->c, 10) / 8)};
    v->rank = (uint8_t)choose(&m->c, m->options->rank + 1);
    int64_t size = 1;
    for (unsigned d = 0; d < v->rank; d++) {
        uint32_t name = choose(&m->c, m->dim.n);
        shape[d] = ir_dim(m->p, m->p->dim.at[name]);
        size *= v->extent[d] = m->dim.at[name];
    }
    for (uint32_t c = 0; c < v->components; c++) {
        type[c] = v->type[c] = random_type(m);
        v->data[c] = input_data(m, type[c], size);
    }
    vec_push(m->arena, &m->array, ir_input(m->p, v->components, type, v->rank, shape));
}

ir_value *random_inputs(random_maker *m)
{
    static const char *const names[DIMS] = {"n", "m", "k"};
    uint32_t dims = m->options->rank ? 1 + choose(&m->c, DIMS) : 0, span;
    ir_value *value = arena_array(m->arena, ir_value, INPUTS + DIMS);
    for (uint32_t k = 0; k < dims; k++) {
        int64_t extent = 1 + (int64_t)choose(&m->c, m->options->extent);
        vec_push(m->arena, &m->dim, chance(&m->c, 8) ? 0 : extent);
        ir_dim(m->p, names[k]);
    }
    for (uint32_t k = 0; k < INPUTS && choices_more(&m->c, 60, &span); k++) {
        add_input(m, &value[m->p->input.n]);
        choices_end(&m->c, span);
    }
    if (!dims && !m->array.n)
        add_input(m, &value[0]);
    for (uint32_t k = 0; k < dims; k++) {
        ir_type type = random_type(m);
        ir_value *v = &value[m->p->input.n];
        *v = (ir_value){.rank = 1, .components = 1, .type = {type}, .extent = {m->dim.at[k]}};
        v->data[0] = input_data(m, type, m->dim.at[k]);
        ir_id name = ir_dim(m->p, names[k]);
        vec_push(m->arena, &m->array, ir_input(m->p, 1, &type, 1, &name));
    }
    return value;
}
