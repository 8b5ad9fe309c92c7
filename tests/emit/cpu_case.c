/* A kernel, its memory, and two ways to run it. */
#include "cpu_case.h"
#include "support/launch.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

void case_open(cpu_case *c)
{
    const char *why = NULL;
    device_options options = {.threads = 2, .keep_text = getenv("SINTER_TEST_ASM") != NULL};
    *c = (cpu_case){.random = 88172645463325252u};
    arena_init(&c->arena, NULL);
    c->device = device_cpu_open(&options, &c->arena, &why);
    if (!c->device)
        fail_msg("%s", why);
}

static void free_globals(cpu_case *c)
{
    for (unsigned i = 0; i < c->globals; i++)
        free(c->data[i]);
    c->globals = 0;
}

void case_close(cpu_case *c)
{
    free_globals(c);
    c->device->close(c->device);
    arena_free(&c->arena);
}

int case_setup(void **state)
{
    static cpu_case c;
    case_open(&c);
    *state = &c;
    return 0;
}

int case_teardown(void **state)
{
    case_close(*state);
    return 0;
}

kernel *case_kernel(cpu_case *c, uint16_t lanes)
{
    free_globals(c);
    c->offset = 0;
    c->k = k_new(&c->arena, "case", lanes);
    k_begin(&c->b, c->k);
    return c->k;
}

uint64_t case_random(cpu_case *c)
{
    c->random ^= c->random << 13;
    c->random ^= c->random >> 7;
    c->random ^= c->random << 17;
    return c->random;
}

static ir_bits float_value(ir_type t, double v)
{
    return t == T_F32 ? ir_bits_f32((float)v) : ir_bits_f64(v);
}

ir_bits case_edge(ir_type t, unsigned i)
{
    static const double real[] = {0.0,  -0.0,  1.0,   -1.0,  0.5,    -0.5,  1.5,   2.5,          -2.5,          0.49999997, 1e-40, -1e-310,
                                  1e10, 127.5, 128.0, -129., 255.9, 32768., 65536, 2147483647.0, -2147483649.0, 9.3e18,     -9.3e18, 1.9e19};
    static const int64_t whole[] = {0, 1, -1, 2, -2, 3, -3, 5, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 100};
    unsigned bits = ir_type_bits(t), n = ARRAY_LENGTH(whole);
    if (ir_type_float(t) && i < ARRAY_LENGTH(real))
        return float_value(t, real[i]);
    if (ir_type_float(t))
        return i == 24 ? float_value(t, 1.0 / 0.0) : i == 25 ? float_value(t, -1.0 / 0.0) : t == T_F32 ? 0x7fc00000u : 0x7ff8000000000000u;
    if (t == T_BOOL)
        return i & 1;
    if (i < n)
        return ir_bits_i64(t, whole[i]);
    uint64_t top = (uint64_t)1 << (i < n + 4 ? bits - 1 : bits / 2);
    return ir_bits_i64(t, (int64_t)(top - 2 + (i - n) % 4)); /* around the smallest and largest, and half way */
}

ir_bits case_value(cpu_case *c, ir_type t)
{
    uint64_t r = case_random(c), choice = case_random(c) % 4;
    if (t == T_BOOL)
        return r & 1;
    if (choice == 0)
        return case_edge(t, (unsigned)(r % CASE_EDGES));
    if (ir_type_float(t))
        return float_value(t, (double)(int64_t)r * (choice == 1 ? 0x1p-60 : 0x1p-55));
    return ir_bits_i64(t, choice == 1 ? (int64_t)(r % 80) - 8 : (int64_t)r);
}

static size_t bytes_of(const cpu_case *c, k_mem m)
{
    return (size_t)(c->count[m - 1] + 2 * CASE_SLACK) * ir_type_size((ir_type)c->k->mem.at[m].type);
}

static char *element(const cpu_case *c, k_mem m, int64_t i)
{
    size_t size = ir_type_size((ir_type)c->k->mem.at[m].type);
    return (char *)c->data[m - 1] + (size_t)(i + c->offset) * size;
}

void case_put(cpu_case *c, k_mem m, int64_t i, ir_bits v)
{
    memcpy(element(c, m, i), &v, ir_type_size((ir_type)c->k->mem.at[m].type));
}

ir_bits case_get(const cpu_case *c, k_mem m, int64_t i)
{
    ir_bits v = 0;
    memcpy(&v, element(c, m, i), ir_type_size((ir_type)c->k->mem.at[m].type));
    return v;
}

k_mem case_global(cpu_case *c, ir_type t, bool written, int64_t count)
{
    k_mem m = k_global(&c->b, t, written, NULL);
    assert_true(m == c->globals + 1 && m <= CASE_MOST);
    c->globals++;
    c->count[m - 1] = count;
    c->data[m - 1] = aligned_alloc(64, (bytes_of(c, m) + 63) / 64 * 64);
    assert_non_null(c->data[m - 1]);
    memset(c->data[m - 1], t == T_BOOL ? 1 : 0x5a, bytes_of(c, m));
    for (int64_t i = 0; i < count && !written; i++)
        case_put(c, m, i, case_value(c, t));
    return m;
}

/* --- comparing --- */

static bool is_nan(ir_type t, const char *at)
{
    ir_bits v = 0;
    memcpy(&v, at, ir_type_size(t));
    if (!ir_type_float(t))
        return false;
    return t == T_F32 ? ir_f32_bits(v) != ir_f32_bits(v) : ir_f64_bits(v) != ir_f64_bits(v);
}

static void compare(const cpu_case *c, k_mem m, const char *expected)
{
    ir_type t = (ir_type)c->k->mem.at[m].type;
    size_t size = ir_type_size(t), n = bytes_of(c, m) / size;
    for (size_t i = 0; i < n; i++) {
        const char *x = (const char *)c->data[m - 1] + i * size, *y = expected + i * size;
        if (memcmp(x, y, size) == 0 || (is_nan(t, x) && is_nan(t, y)))
            continue;
        text out;
        uint64_t got = 0, want = 0;
        memcpy(&got, x, size);
        memcpy(&want, y, size);
        text_init(&out, (arena *)&c->arena);
        k_print(c->k, &out);
        print_message("%s\n", out.at);
        fail_msg("global %u element %lld: %llx, should be %llx", m, (long long)i - c->offset, (unsigned long long)got,
                 (unsigned long long)want);
    }
}

static void move_globals(cpu_case *c)
{
    for (unsigned i = 0; i < c->globals && c->offset; i++) {
        size_t size = ir_type_size((ir_type)c->k->mem.at[i + 1].type);
        memmove((char *)c->data[i] + c->offset * size, c->data[i], (size_t)(c->count[i] + CASE_SLACK) * size);
    }
}

void case_run(cpu_case *c, int64_t pieces)
{
    const char *why = NULL;
    void *expected[CASE_MOST] = {0}, *mem[CASE_MOST] = {0}, *oracle[CASE_MOST] = {0};
    k_error found = {0}, wanted = {0};
    if (!k_verify(c->k, &c->arena, &why))
        fail_msg("%s", why);
    move_globals(c);
    for (unsigned i = 0; i < c->globals; i++) {
        size_t bytes = bytes_of(c, i + 1), shift = c->offset * ir_type_size((ir_type)c->k->mem.at[i + 1].type);
        expected[i] = malloc(bytes);
        assert_non_null(expected[i]);
        memcpy(expected[i], c->data[i], bytes);
        mem[i] = (char *)c->data[i] + shift;
        oracle[i] = (char *)expected[i] + shift;
    }
    device_kernel *code = device_compile(c->device, c->k, &c->arena, &why);
    if (!code)
        fail_msg("%s", why);
    assert_true(launch_now(c->device, code, mem, c->arg, 0, pieces, false, &found));
    k_interpret(c->k, &c->arena, oracle, c->arg, 0, pieces, &wanted);
    assert_int_equal(found.site, wanted.site);
    if (wanted.site) {
        assert_int_equal(found.element, wanted.element);
        assert_int_equal(found.value, wanted.value);
        assert_int_equal(found.bound, wanted.bound);
    }
    for (unsigned i = 0; i < c->globals; i++) {
        if (!wanted.site) /* after an error results are thrown away */
            compare(c, i + 1, expected[i]);
        free(expected[i]);
    }
    device_release_kernel(c->device, code);
}
