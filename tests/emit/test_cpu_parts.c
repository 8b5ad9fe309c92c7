/* The operators that only elementary functions use, and those functions, as emitted for several processors, against
 * ir_op_apply: AVX-512 has instructions for the former, other processors do them by arithmetic. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "device/cpu_code.h"
#include "device/cpu_codegen.h"
#include "device/kernel_cache.h"
#include "kernel/kernel.h"
#include "kernel/launch.h"

#include <math.h>

enum { POINTS = 4096 };

typedef struct {
    arena a;
    const emit_cpu_module *module;
    uint64_t random;
} fixture;

/* NULL: this one. Older ones run here, too. */
static const struct {
    const char *cpu, *features;
} processors[] = {{NULL, NULL},
                  {"haswell", "+avx2,+fma"},
                  {"x86-64", "+sse2,+fma,-avx512f"},
                  {"x86-64-v4", "+avx512f,+avx512bw,+avx512dq,+avx512vl,+fma"}};

static bool runs_here(unsigned i)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    switch (i) {
    case 0:
        return true;
    case 1:
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    case 2:
        return __builtin_cpu_supports("fma");
    default:
        return __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512dq");
    }
#else
    return i == 0;
#endif
}

static uint64_t next(fixture *f)
{
    f->random ^= f->random << 13;
    f->random ^= f->random >> 7;
    f->random ^= f->random << 17;
    return f->random * UINT64_C(0x9e3779b97f4a7c15);
}

static ir_bits bits_of(ir_type t, double v)
{
    return t == T_F32 ? ir_bits_f32((float)v) : ir_bits_f64(v);
}

/* Any bits, numbers of moderate size, and special ones in front. */
static ir_bits sample(fixture *f, ir_type t, unsigned i)
{
    static const double special[] = {0.0,   -0.0,   1.0,     0.75,  0.9999999, 1.5,  INFINITY, -INFINITY,
                                     1e-40, 1e-310, 4e-324,  -1.0,  NAN,       2.0,  1e38,     1e308,
                                     1e-45, -1e-42, 1.49999, 0.749, -88.0,     -103, 709.5,    -745};
    uint64_t h = next(f);
    if (i < ARRAY_LENGTH(special))
        return bits_of(t, special[i]);
    if (h % 3 == 0)
        return t == T_F32 ? next(f) >> 32 : next(f);
    return bits_of(t, ldexp((double)(int64_t)next(f), (int)(h >> 8) % 20 - (h % 3 == 1 ? 63 : 70)));
}

/* Within what devices promise of SCALE, every power included. */
static void scale_operands(fixture *f, ir_type t, unsigned i, ir_bits *in)
{
    int most = t == T_F32 ? 250 : 2000;
    double fraction = (double)(next(f) % 16) / 16;
    double a = ldexp((double)(int64_t)next(f), (int)(next(f) % 4) - 63);
    in[0] = bits_of(t, fabs(a) < 0.25 ? 1 : i % 64 ? a : ldexp(a, (int)(i / 64) % 100 - 50));
    in[1] = bits_of(t, (int)(next(f) % (2 * (unsigned)most)) - most + fraction);
}

static bool same(ir_type t, ir_bits x, ir_bits y)
{
    double a = t == T_F32 ? (double)ir_f32_bits(x) : ir_f64_bits(x);
    double b = t == T_F32 ? (double)ir_f32_bits(y) : ir_f64_bits(y);
    return x == y || (isnan(a) && isnan(b));
}

static void check(fixture *f, ir_op op, ir_type t, unsigned processor, uint16_t lanes)
{
    size_t size = ir_type_size(t);
    k_builder b;
    char *said = NULL;
    kernel *k = k_new(&f->a, ir_ops[op].name, lanes);
    k_begin(&b, k);
    k_mem x = k_global(&b, t, false, "x"), y = k_global(&b, t, false, "y"), out = k_global(&b, t, true, "out");
    k_val i = k_for_all(&b, k_i64(&b, POINTS - 3));
    k_store(&b, out, i, k_let(&b, op, k_load(&b, x, i), ir_ops[op].arity > 1 ? k_load(&b, y, i) : 0, 0));
    k_end(&b);
    k_val last = k_i64(&b, POINTS - 3); /* and once as a scalar */
    k_store(&b, out, last, k_let(&b, op, k_load(&b, x, last), ir_ops[op].arity > 1 ? k_load(&b, y, last) : 0, 0));
    kernel *ready = kernel_prepare(&f->a, k, NULL);
    emit_cpu_options options = {.cpu = processors[processor].cpu, .features = processors[processor].features};
    emit_cpu_code *code = f->module->compile(ready, &options, &said);
    if (!code)
        fail_msg("%s: %s", ir_ops[op].name, said);
    cpu_code map;
    emit_cpu_blob blob = f->module->blob(code);
    assert_true(cpu_code_map(&blob, &map));

    uint8_t *memory[3];
    for (unsigned m = 0; m < 3; m++)
        memory[m] = arena_alloc(&f->a, POINTS * size);
    for (unsigned p = 0; p < POINTS; p++) {
        ir_bits in[2] = {sample(f, t, p), sample(f, t, (p * 7 + 5) % POINTS)};
        if (op == OP_SCALE)
            scale_operands(f, t, p, in);
        memcpy(memory[0] + p * size, &in[0], size);
        memcpy(memory[1] + p * size, &in[1], size);
    }
    void *globals[3] = {memory[0], memory[1], memory[2]};
    k_error error = {0};
    void *scratch = aligned_alloc(64, (ready->scratch + 64u) / 64 * 64 + 64);
    k_launch launch = {.mem = globals, .first = 0, .last = 1, .scratch = scratch, .error = &error};
    k_helpers none = {0};
    launch.helpers = &none;
    map.entry(&launch);
    for (unsigned p = 0; p < POINTS - 2; p++) {
        ir_bits in[2] = {0}, got = 0, want;
        memcpy(&in[0], memory[0] + p * size, size);
        memcpy(&in[1], memory[1] + p * size, size);
        memcpy(&got, memory[2] + p * size, size);
        assert_true(ir_op_apply(op, t, t, in, &want));
        if (!same(t, got, want))
            fail_msg("%s on %s, processor %u, lanes %u, element %u: (%llx, %llx) gives %llx, should be %llx",
                     ir_ops[op].name, ir_type_name(t), processor, lanes, p, (unsigned long long)in[0],
                     (unsigned long long)in[1], (unsigned long long)got, (unsigned long long)want);
    }
    free(scratch);
    cpu_code_unmap(&map);
    f->module->release(code);
}

static void on_processor(fixture *f, unsigned i)
{
    static const uint16_t lanes[] = {4, 8, 16, 32, 64};
    if (!runs_here(i))
        skip();
    for (unsigned op = OP_NONE + 1; op < OP_COUNT; op++) {
        if (ir_ops[op].signature == SIGNATURE_OWN)
            for (unsigned l = 0; l < ARRAY_LENGTH(lanes); l++) {
                check(f, (ir_op)op, T_F32, i, lanes[l]);
                check(f, (ir_op)op, T_F64, i, lanes[l]);
            }
        if (ir_ops[op].flags & OP_MATH) {
            check(f, (ir_op)op, T_F32, i, i ? 8 : 64);
            check(f, (ir_op)op, T_F64, i, i ? 8 : 32);
        }
    }
}

static void this_processor(void **state)
{
    on_processor(*state, 0);
}

static void with_avx2(void **state)
{
    on_processor(*state, 1);
}

static void with_sse2(void **state)
{
    on_processor(*state, 2);
}

static void with_avx512(void **state)
{
    on_processor(*state, 3);
}

static int open_module(void **state)
{
    static fixture f;
    const char *why = NULL;
    f.random = 88172645463325252u;
    arena_init(&f.a, NULL);
    f.module = cpu_codegen_open(NULL, &f.a, &why);
    if (!f.module)
        print_message("%s\n", why);
    *state = &f;
    return f.module ? 0 : -1;
}

static int close_module(void **state)
{
    arena_free(&((fixture *)*state)->a);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(this_processor), cmocka_unit_test(with_avx2),
                                       cmocka_unit_test(with_sse2), cmocka_unit_test(with_avx512)};
    return cmocka_run_group_tests_name("operators of elementary functions", tests, open_module, close_module);
}
