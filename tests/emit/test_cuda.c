/* Emitted CUDA C++ compiles for compute capabilities 8.0 and 9.0: every operator on every type, every conversion,
 * atomics, random kernels, the kernels of the conformance suite; and it stays what was asked for: no product is fused
 * with a sum, no float becomes a double. Says that it skips where there is no NVRTC. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "conformance/prove_kernels.h"
#include "device/nvrtc.h"
#include "emit/emit.h"
#include "support/random_kernel.h"

static const unsigned archs[] = {80, 90};

typedef struct {
    arena a;
    const nvrtc *nvrtc; /* NULL: there is none */
} fixture;

static int open_compiler(void **state)
{
    fixture *f = test_calloc(1, sizeof(*f));
    const char *why = "";
    arena_init(&f->a, NULL);
    f->nvrtc = nvrtc_open(0, &f->a, &why);
    if (f->nvrtc)
        printf("%s\n", nvrtc_name(f->nvrtc));
    else
        printf("skipped: %s\n", why);
    *state = f;
    return 0;
}

static int close_compiler(void **state)
{
    fixture *f = *state;
    arena_free(&f->a);
    test_free(f);
    return 0;
}

static const char *emitted(kernel *k, arena *a)
{
    const char *why = "";
    text t;
    if (!k_verify(k, a, &why))
        fail_msg("%s: %s", k->name, why);
    k_expand_math(k);
    k_analyse(k);
    k_layout(k, 64);
    text_init(&t, a);
    if (!emit_text(k, &dialect_cuda, "test", &t, &why))
        fail_msg("%s: %s", k->name, why);
    return t.at;
}

static nvrtc_code compiled(const fixture *f, const char *source, unsigned arch, bool ptx, arena *a)
{
    nvrtc_code code = {0};
    const char *log = "";
    if (!nvrtc_compile(f->nvrtc, source, &(nvrtc_options){.arch = arch, .local = 128, .ptx = ptx}, a, &code, &log))
        fail_msg("%s\n%s", log, source);
    assert_true(code.size > 0);
    return code;
}

static void compiles(const fixture *f, kernel *k, arena *a)
{
    const char *source = emitted(k, a);
    for (size_t i = 0; i < ARRAY_LENGTH(archs); i++)
        compiled(f, source, archs[i], false, a);
}

/* A kernel under construction: one element of `t` in, anything out. */
typedef struct {
    arena a;
    k_builder b;
    kernel *k;
    k_val index, x, y, z;
} one_type;

static void begin(one_type *o, ir_type t)
{
    arena_init(&o->a, NULL);
    o->k = k_new(&o->a, "operators", 32);
    k_begin(&o->b, o->k);
    k_mem in = k_global(&o->b, t, false, "in");
    o->index = k_for_all(&o->b, k_i64(&o->b, 1000));
    o->x = k_load(&o->b, in, o->index);
    o->y = k_load(&o->b, in, k_let(&o->b, OP_ADD, o->index, k_i64(&o->b, 1000), 0));
    o->z = k_load(&o->b, in, k_let(&o->b, OP_ADD, o->index, k_i64(&o->b, 2000), 0));
}

static void output(one_type *o, k_val v)
{
    k_mem out = k_global(&o->b, (ir_type)o->k->value.at[v].type, true, "out");
    k_store(&o->b, out, o->index, v);
}

static void every_operator(void **state)
{
    const fixture *f = *state;
    if (!f->nvrtc)
        skip();
    for (ir_type t = T_BOOL; t < T_COUNT; t++) {
        one_type o;
        begin(&o, t);
        for (ir_op op = (ir_op)1; op < OP_COUNT; op++)
            if (ir_ops[op].classes & ir_type_class(t) && ir_ops[op].signature != SIGNATURE_CONVERT &&
                !(ir_ops[op].flags & OP_MATH))
                output(&o, k_let(&o.b, op, o.x, o.y, o.z));
        for (ir_type to = T_BOOL; to < T_COUNT; to++) {
            if (ir_op_result(OP_CONVERT, t, to) == to)
                output(&o, k_convert(&o.b, OP_CONVERT, to, o.x));
            if (ir_op_result(OP_BITCAST, t, to) == to)
                output(&o, k_convert(&o.b, OP_BITCAST, to, o.x));
        }
        k_end(&o.b);
        compiles(f, o.k, &o.a);
        arena_free(&o.a);
    }
}

static void every_elementary_function(void **state)
{
    const fixture *f = *state;
    if (!f->nvrtc)
        skip();
    for (ir_type t = T_F32; t <= T_F64; t++) {
        one_type o;
        begin(&o, t);
        for (ir_op op = (ir_op)1; op < OP_COUNT; op++)
            if (ir_ops[op].flags & OP_MATH)
                output(&o, k_let(&o.b, op, o.x, ir_ops[op].arity > 1 ? o.y : 0, 0));
        k_end(&o.b);
        compiled(f, emitted(o.k, &o.a), 90, false, &o.a);
        arena_free(&o.a);
    }
}

/* What the compiler makes of operations of f32 that others are tempted to do in another way. */
static void arithmetic_stays_what_it_is(void **state)
{
    const fixture *f = *state;
    one_type o;
    if (!f->nvrtc)
        skip();
    begin(&o, T_F32);
    for (ir_op op = (ir_op)1; op < OP_COUNT; op++)
        if (ir_ops[op].classes & ir_type_class(T_F32) && ir_ops[op].signature != SIGNATURE_CONVERT && op != OP_FMA &&
            !(ir_ops[op].flags & OP_MATH))
            output(&o, k_let(&o.b, op, o.x, o.y, o.z));
    output(&o, k_let(&o.b, OP_ADD, k_let(&o.b, OP_MUL, o.x, o.y, 0), o.z, 0));
    k_end(&o.b);
    const char *ptx = compiled(f, emitted(o.k, &o.a), 80, true, &o.a).bytes;
    assert_null(strstr(ptx, "f64"));
    assert_null(strstr(ptx, "fma."));
    assert_null(strstr(ptx, ".ftz"));
    assert_null(strstr(ptx, ".approx"));
    assert_non_null(strstr(ptx, "div.rn.f32"));
    assert_non_null(strstr(ptx, "sqrt.rn.f32"));
    arena_free(&o.a);
}

/* Neighbouring elements of a thread are loaded and stored as vectors, through the cache for what nobody writes. */
static void neighbours_become_vectors(void **state)
{
    const fixture *f = *state;
    arena a;
    if (!f->nvrtc)
        skip();
    arena_init(&a, NULL);
    kernel *k = k_new(&a, "packed", 8);
    k_builder b;
    k_begin(&b, k);
    k->narrow = true;
    k_mem x = k_global(&b, T_F32, false, "x"), y = k_global(&b, T_F32, true, "y");
    k->mem.at[y].once = true;
    k_val first = k_let(&b, OP_MUL, k_piece(&b), k_i64(&b, 512), 0), lane = k_for_all(&b, k_i64(&b, 128));
    k_val start = k_let(&b, OP_ADD, first, k_let(&b, OP_MUL, lane, k_i64(&b, K_PACK_ROUNDS), 0), 0);
    k_val i = k_let(&b, OP_ADD, start, k_for_pack(&b), 0), v = k_load(&b, x, i);
    k_store(&b, y, i, k_let(&b, OP_MUL, v, v, 0));
    k_end(&b);
    k_end(&b);
    const char *ptx = compiled(f, emitted(k, &a), 90, true, &a).bytes;
    assert_non_null(strstr(ptx, "ld.global.nc.v4.f32"));
    assert_non_null(strstr(ptx, "st.global.v4.f32"));
    assert_null(strstr(ptx, "bar.sync"));
    assert_null(strstr(ptx, "mul.lo.s64"));
    arena_free(&a);
}

static void atomics(void **state)
{
    static const ir_type types[] = {T_I32, T_U32, T_I64, T_U64, T_F32, T_F64};
    static const ir_op ops[] = {OP_ADD, OP_MIN, OP_MAX, OP_BIT_AND, OP_BIT_OR, OP_BIT_XOR};
    const fixture *f = *state;
    if (!f->nvrtc)
        skip();
    for (size_t i = 0; i < ARRAY_LENGTH(types); i++) {
        one_type o;
        begin(&o, types[i]);
        k_mem global = k_global(&o.b, types[i], true, "counts"), shared = k_shared(&o.b, types[i], 100, "near");
        for (size_t j = 0; j < (ir_type_float(types[i]) ? 1 : ARRAY_LENGTH(ops)); j++) {
            output(&o, k_atomic(&o.b, ops[j], global, o.index, o.x));
            output(&o, k_atomic(&o.b, ops[j], shared, k_i64(&o.b, 3), o.x));
        }
        k_end(&o.b);
        k_atomic(&o.b, OP_ADD, global, k_piece(&o.b), k_convert(&o.b, OP_CONVERT, types[i], k_piece(&o.b)));
        compiles(f, o.k, &o.a);
        arena_free(&o.a);
    }
}

static void random_kernels(void **state)
{
    const fixture *f = *state;
    if (!f->nvrtc)
        skip();
    unsigned kernels = getenv("SINTER_TEST_LONG") ? 400 : 24;
    for (uint64_t seed = 0; seed < kernels; seed++) {
        arena a;
        arena_init(&a, NULL);
        kernel *k = random_kernel(&a, seed, 32, false);
        k->narrow = seed % 3 != 0;
        compiled(f, emitted(k, &a), archs[seed % 2], seed % 4 == 3, &a);
        arena_free(&a);
    }
}

static void conformance_kernels(void **state)
{
    static const prove_operator *const operators[] = {&prove_argmax, &prove_matrix_f32, &prove_sum_f32, &prove_sum_f64};
    const fixture *f = *state;
    if (!f->nvrtc)
        skip();
    for (size_t i = 0; i < ARRAY_LENGTH(operators); i++) {
        const prove_operator *op = operators[i];
        arena a;
        arena_init(&a, NULL);
        compiles(f, prove_fold_ordered(&a, op, false), &a);
        compiles(f, prove_fold_finish(&a, op), &a);
        if (op == &prove_sum_f32 || op == &prove_sum_f64) {
            compiles(f, prove_fold_commutative(&a, op), &a);
            compiles(f, prove_scan_sums(&a, op), &a);
            compiles(f, prove_scan_carries(&a, op), &a);
            compiles(f, prove_scan_apply(&a, op), &a);
        }
        arena_free(&a);
    }
    kernel *(*const others[])(arena *) = {prove_filter_count, prove_filter_offsets, prove_chase};
    for (size_t i = 0; i < ARRAY_LENGTH(others); i++) {
        arena a;
        arena_init(&a, NULL);
        compiles(f, others[i](&a), &a);
        arena_free(&a);
    }
}

/* The benchmark's opponents, too. */
static void hand_written_kernels(void **state)
{
    const fixture *f = *state;
    nvrtc_code code;
    const char *log = "";
    arena a;
    if (!f->nvrtc)
        skip();
    FILE *file = fopen(SN_TEST_KERNELS, "r");
    assert_non_null(file);
    arena_init(&a, NULL);
    char *source = arena_alloc(&a, 1 << 16);
    assert_in_range(fread(source, 1, (1 << 16) - 1, file), 1000, (1 << 16) - 2);
    fclose(file);
    for (size_t i = 0; i < ARRAY_LENGTH(archs); i++) {
        nvrtc_options options = {.arch = archs[i], .local = 256, .flags = "--std=c++17 -w"};
        if (!nvrtc_compile(f->nvrtc, source, &options, &a, &code, &log))
            fail_msg("%s", log);
    }
    arena_free(&a);
}

/* What is wrong with a text is said. */
static void a_rejected_text_gives_the_log(void **state)
{
    const fixture *f = *state;
    nvrtc_code code;
    const char *log = "";
    arena a;
    if (!f->nvrtc)
        skip();
    arena_init(&a, NULL);
    nvrtc_options options = {.arch = 80, .local = 32};
    assert_false(nvrtc_compile(f->nvrtc, "int x = unheard_of;", &options, &a, &code, &log));
    assert_non_null(strstr(log, "unheard_of"));
    assert_true(nvrtc_makes(f->nvrtc, 80));
    assert_false(nvrtc_makes(f->nvrtc, 81));
    assert_int_equal(nvrtc_nearest(f->nvrtc, 85), nvrtc_makes(f->nvrtc, 85) ? 85 : nvrtc_nearest(f->nvrtc, 84));
    assert_int_equal(nvrtc_nearest(f->nvrtc, 10), 0);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operator),
        cmocka_unit_test(every_elementary_function),
        cmocka_unit_test(arithmetic_stays_what_it_is),
        cmocka_unit_test(neighbours_become_vectors),
        cmocka_unit_test(atomics),
        cmocka_unit_test(random_kernels),
        cmocka_unit_test(conformance_kernels),
        cmocka_unit_test(hand_written_kernels),
        cmocka_unit_test(a_rejected_text_gives_the_log),
    };
    return cmocka_run_group_tests(tests, open_compiler, close_compiler);
}
