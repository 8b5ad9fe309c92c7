/* Loads and stores of fields of structs on the CPU against the kernel interpreter: all widths of gangs and elements,
 * structs of any size, aligned or not, some of their fields or all, whole gangs, tails, and lanes that are off. The
 * structs begin or end where a page begins that cannot be touched, and bytes of no field must stay as they are. */
#include "cpu_case.h"
#include "support/guarded.h"
#include "support/launch.h"
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { MOST = 6, TURNS = 260 };

typedef struct layout {
    unsigned every, fields;
    ir_type type[MOST];
    unsigned at[MOST];
} layout;

static const ir_type types[] = {T_U8, T_I16, T_F32, T_F64, T_BOOL, T_U64, T_CHAR, T_I8, T_U32};

/* Packed, or with holes, or such that fields are aligned. */
static layout draw(cpu_case *c, unsigned turn)
{
    layout l = {.fields = 1 + (unsigned)(case_random(c) % MOST)};
    ir_type same = types[case_random(c) % ARRAY_LENGTH(types)];
    unsigned at = 0, widest = 1;
    for (unsigned f = 0; f < l.fields; f++) {
        l.type[f] = turn % 3 ? same : types[case_random(c) % ARRAY_LENGTH(types)];
        unsigned size = (unsigned)ir_type_size(l.type[f]);
        widest = size > widest ? size : widest;
        at += turn % 4 == 1 ? (unsigned)(case_random(c) % 4) : turn % 4 == 2 ? (size - at % size) % size : 0;
        l.at[f] = at;
        at += size;
    }
    if (turn % 4 == 1)
        at += (unsigned)(case_random(c) % (turn % 8 == 1 ? 70 : 5));
    l.every = turn % 4 == 2 ? (at + widest - 1) / widest * widest : at;
    return l;
}

static k_mem field(cpu_case *c, const layout *l, unsigned f, bool written, k_mem first)
{
    k_mem m = k_global(&c->b, l->type[f], written, NULL);
    k_memory *memory = &c->k->mem.at[m];
    memory->every = l->every;
    memory->at = l->at[f];
    memory->beside = first;
    return m;
}

/* Some or all fields, in another order. */
static unsigned choose(cpu_case *c, const layout *l, unsigned *out, bool all)
{
    unsigned n = 0, first = (unsigned)(case_random(c) % l->fields);
    for (unsigned f = 0; f < l->fields; f++)
        if (all || n == 0 || case_random(c) % 2)
            out[n++] = (first + f) % l->fields;
    return n;
}

typedef struct structs {
    guarded found, wanted;
    size_t bytes;
} structs;

static structs make(cpu_case *c, const layout *l, int64_t n, bool written, bool at_end)
{
    structs s = {.bytes = (size_t)n * l->every};
    s.found = guarded_new(s.bytes, at_end);
    s.wanted = guarded_new(s.bytes, at_end);
    unsigned char *p = s.found.at;
    memset(p, written ? 0x5a : 0, s.bytes);
    for (int64_t i = 0; i < n && !written; i++)
        for (unsigned f = 0; f < l->fields; f++) {
            ir_bits v = case_value(c, l->type[f]);
            memcpy(p + i * l->every + l->at[f], &v, ir_type_size(l->type[f]));
        }
    memcpy(s.wanted.at, p, s.bytes);
    return s;
}

/* A lane is off where the index has a certain bit, or from `half` of the elements on. */
typedef enum { ALL, SOME, FIRST, KINDS } which;

static k_val condition(k_builder *b, which kind, k_val i, int64_t n)
{
    if (kind == SOME)
        return k_let(b, OP_NE, k_let(b, OP_BIT_AND, i, k_i64(b, 5), 0), k_i64(b, 4), 0);
    return k_let(b, OP_LT, i, k_i64(b, n / 2), 0);
}

static void try_layout(cpu_case *c, unsigned turn)
{
    static const uint16_t widths[] = {64, 16, 8, 32, 4, 1, 128};
    static const int64_t counts[] = {1, 517, 64, 200, 3, 0, 129};
    uint16_t lanes = widths[turn % ARRAY_LENGTH(widths)];
    int64_t n = counts[case_random(c) % ARRAY_LENGTH(counts)];
    which kind = (which)(turn % KINDS);
    layout l = draw(c, turn);
    unsigned read[MOST], fields = choose(c, &l, read, turn % 2);
    kernel *k = case_kernel(c, lanes);
    k_builder *b = &c->b;
    k_mem in[MOST], out[MOST];
    k_val x[MOST];
    for (unsigned f = 0; f < fields; f++)
        in[f] = field(c, &l, read[f], false, f ? in[0] : 0);
    for (unsigned f = 0; f < fields; f++)
        out[f] = field(c, &l, read[f], true, f ? out[0] : 0);
    k_val i = k_for_all(b, k_i64(b, n));
    if (kind != ALL)
        k_if(b, condition(b, kind, i, n));
    for (unsigned f = 0; f < fields; f++)
        x[f] = k_load(b, in[f], i);
    for (unsigned f = 0; f < fields; f++)
        k_store(b, out[f], i, x[f]);
    if (kind != ALL)
        k_end(b);
    k_end(b);
    structs from = make(c, &l, n, false, turn % 5 < 3), to = make(c, &l, n, true, turn % 5 < 3);
    void *found[2 * MOST], *wanted[2 * MOST];
    for (unsigned f = 0; f < fields; f++) {
        found[f] = wanted[f] = (char *)from.found.at + l.at[read[f]];
        found[fields + f] = (char *)to.found.at + l.at[read[f]];
        wanted[fields + f] = (char *)to.wanted.at + l.at[read[f]];
    }
    const char *why = NULL;
    k_error error = {0}, none = {0};
    if (!k_verify(k, &c->arena, &why))
        fail_msg("%s", why);
    device_kernel *code = device_compile(c->device, k, &c->arena, &why);
    if (!code)
        fail_msg("%s", why);
    assert_true(launch_now(c->device, code, found, c->arg, 0, 1, false, &error));
    k_interpret(k, &c->arena, wanted, c->arg, 0, 1, &none);
    const unsigned char *p = to.found.at, *q = to.wanted.at;
    for (size_t at = 0; at < to.bytes; at++)
        if (p[at] != q[at]) {
            text t;
            text_init(&t, &c->arena);
            k_print(k, &t);
            fail_msg("turn %u, byte %zu is %x, should be %x, of\n%s", turn, at, p[at], q[at], t.at);
        }
    device_release_kernel(c->device, code);
    guarded_free(&from.found), guarded_free(&from.wanted), guarded_free(&to.found), guarded_free(&to.wanted);
}

static void fields_of_structs(void **state)
{
    for (unsigned turn = 0; turn < TURNS; turn++)
        try_layout(*state, turn);
}

/* Fields at other indices than the lane's own: of one struct for all, in reverse, at computed ones, and a sum. */
static void other_indices(void **state)
{
    cpu_case *c = *state;
    for (unsigned turn = 0; turn < 3 * ARRAY_LENGTH(types); turn++) {
        enum { N = 133 };
        ir_type t = types[turn % ARRAY_LENGTH(types)];
        layout l = {.every = (unsigned)ir_type_size(t) + turn % 4, .fields = 1, .type = {t}, .at = {turn % 3 == 0}};
        l.every += l.at[0];
        kernel *k = case_kernel(c, turn % 2 ? 16 : 64);
        k_builder *b = &c->b;
        k_mem in = field(c, &l, 0, false, 0), out = field(c, &l, 0, true, 0), back = field(c, &l, 0, true, 0);
        k_mem random = field(c, &l, 0, true, 0);
        k_val i = k_for_all(b, k_i64(b, N)), last = k_i64(b, N - 1);
        k_val from = k_let(b, OP_SUB, last, i, 0);
        k_val other = k_let(b, OP_REM, k_let(b, OP_MUL, i, k_let(b, OP_ADD, i, k_i64(b, 7), 0), 0), k_i64(b, N), 0);
        k_store(b, out, i, k_load(b, in, k_i64(b, 5)));
        k_store(b, back, from, k_load(b, in, i));
        k_store(b, random, i, k_load(b, in, other));
        k_end(b);
        structs s[4];
        void *found[4], *wanted[4];
        for (unsigned m = 0; m < 4; m++) {
            s[m] = make(c, &l, N, m > 0, turn % 2);
            found[m] = (char *)s[m].found.at + l.at[0];
            wanted[m] = (char *)s[m].wanted.at + l.at[0];
        }
        const char *why = NULL;
        k_error error = {0}, none = {0};
        device_kernel *code = device_compile(c->device, k, &c->arena, &why);
        if (!code)
            fail_msg("%s", why);
        assert_true(launch_now(c->device, code, found, c->arg, 0, 1, false, &error));
        k_interpret(k, &c->arena, wanted, c->arg, 0, 1, &none);
        for (unsigned m = 0; m < 4; m++) {
            assert_memory_equal(s[m].found.at, s[m].wanted.at, s[m].bytes);
            guarded_free(&s[m].found), guarded_free(&s[m].wanted);
        }
        device_release_kernel(c->device, code);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(fields_of_structs), cmocka_unit_test(other_indices)};
    return cmocka_run_group_tests(tests, case_setup, case_teardown);
}
