/* Random array programs: a few inputs with random values, operations over what there is, and some of them as results.
 */
#include "support/random_program.h"
#include "support/random_arrays.h"
#include "support/random_chain.h"
#include "support/random_inputs.h"
#include "support/random_operation.h"
#include "support/random_scalar.h"

enum { SHRINK_TRIES = 3000 };

random_options random_everything(void)
{
    return (random_options){
        .operations = 6, .types = (1u << T_COUNT) - 2, .kinds = UINT32_MAX, .rank = 3, .extent = 9, .terms = 8};
}

/* A few of the types allowed, so that terms meet others of their type. */
static void choose_types(random_maker *m)
{
    uint32_t n = 1 + choose(&m->c, 4), types = 0;
    m->types = m->options->types;
    for (uint32_t k = 0; k < n; k++)
        types |= 1u << random_type(m);
    m->types = types;
}

static random_case make_case(arena *a, random_maker *m)
{
    m->p->plain = m->options->plain;
    random_case made = {.program = m->p};
    if (m->options->chains) {
        made.input = random_chain(m);
        made.choices = m->c;
        return made;
    }
    choose_types(m);
    made.input = random_inputs(m);
    uint32_t first = m->array.n, span;
    for (uint32_t k = 0; k < m->options->operations && choices_more(&m->c, 85, &span); k++) {
        ir_id array = random_operation(m);
        if (array && random_is_small(m, array))
            vec_push(a, &m->array, array);
        if (array && chance(&m->c, 10))
            ir_fuse(m->p, array);
        choices_end(&m->c, span);
    }
    ir_output(m->p, m->array.at[m->array.n - 1]);
    for (uint32_t k = 0; k < 2 && choices_more(&m->c, 50, &span); k++) {
        uint32_t from = m->array.n > first ? first : 0;
        ir_output(m->p, m->array.at[from + choose(&m->c, m->array.n - from)]);
        choices_end(&m->c, span);
    }
    made.choices = m->c;
    return made;
}

random_case random_program(arena *a, const random_options *o, uint64_t seed)
{
    random_maker m = {.p = ir_program_new(a), .arena = a, .options = o};
    choices_random(&m.c, a, seed);
    return make_case(a, &m);
}

random_case random_program_again(arena *a, const random_options *o, uint32_t n, const uint32_t *made)
{
    random_maker m = {.p = ir_program_new(a), .arena = a, .options = o};
    choices_replay(&m.c, a, n, made);
    return make_case(a, &m);
}

typedef struct shrinking {
    const random_options *options;
    random_predicate fails;
    void *env;
} shrinking;

static bool still_fails(void *env, choices *c)
{
    const shrinking *s = env;
    arena a;
    arena_init(&a, NULL);
    random_maker m = {.p = ir_program_new(&a), .arena = &a, .options = s->options, .c = *c};
    random_case made = make_case(&a, &m);
    bool fails = made.program->error.n == 0 && s->fails(s->env, &a, &made);
    *c = m.c;
    arena_free(&a);
    return fails;
}

random_case random_shrink(arena *a, const random_options *o, const random_case *found, random_predicate fails,
                          void *env)
{
    shrinking s = {o, fails, env};
    uint32_t *smaller = NULL;
    uint32_t n =
        choices_shrink(a, found->choices.made.n, found->choices.made.at, still_fails, &s, SHRINK_TRIES, &smaller);
    return random_program_again(a, o, n, smaller);
}

static void print_element(const ir_value *v, uint32_t component, int64_t k, text *out)
{
    const char *at = (const char *)v->data[component] + (size_t)k * ir_type_size(v->type[component]);
    ir_bits bits = 0;
    for (size_t b = ir_type_size(v->type[component]); b-- > 0;)
        bits = bits << 8 | (uint8_t)at[b];
    if (v->type[component] == T_F32)
        text_f32(out, ir_f32_bits(bits));
    else if (v->type[component] == T_F64)
        text_f64(out, ir_f64_bits(bits));
    else
        text_printf(out, "%lld", (long long)ir_i64_bits(v->type[component], bits));
}

void random_print(const random_case *c, text *out)
{
    ir_print(c->program, out);
    for (uint32_t i = 0; i < c->program->input.n; i++) {
        const ir_value *v = &c->input[i];
        int64_t size = 1;
        text_printf(out, "input %u:", i);
        for (unsigned d = 0; d < v->rank; d++) {
            text_printf(out, " [%lld]", (long long)v->extent[d]);
            size *= v->extent[d];
        }
        for (uint32_t k = 0; k < v->components; k++) {
            text_add(out, k ? "\n   " : "");
            for (int64_t e = 0; e < size; e++) {
                text_add(out, " ");
                print_element(v, k, e, out);
            }
        }
        text_add(out, "\n");
    }
}
