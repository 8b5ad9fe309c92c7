/* Emitted OpenCL C against the interpreter: every operator on every type, every conversion, random kernels; and what is
 * refused. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "emit/emit.h"
#include "kernel/narrow.h"
#include "support/opencl_runner.h"
#include "support/own_operands.h"
#include "support/random_gang.h"
#include "support/random_kernel.h"

enum { POINTS = 120 };

static int open_device(void **state)
{
    const char *why = "";
    opencl_runner *r = opencl_open(&why);
    if (!r)
        printf("skipped: %s\n", why);
    else
        printf("OpenCL device: %s\n", opencl_device(r));
    *state = r;
    return 0;
}

static int close_device(void **state)
{
    opencl_close(*state);
    return 0;
}

static const char *emitted(kernel *k, arena *a)
{
    const char *why = "";
    text t;
    if (!k_verify(k, a, &why))
        fail_msg("%s", why);
    k = k_split(k, emit_gang(&dialect_opencl), 0, a);
    k_analyse(k);
    k_layout(k, 64);
    text_init(&t, a);
    if (!emit_text(k, &dialect_opencl, "test", &t, &why))
        fail_msg("%s", why);
    return t.at;
}

static opencl_program *built(opencl_runner *r, const char *source, size_t local, arena *a)
{
    const char *log = "";
    opencl_program *p = opencl_build(r, source, "test", local, a, &log);
    if (!p)
        fail_msg("%s\n%s", log, source);
    return p;
}

/* --- operators --- */

/* All operators of a type in one kernel: one output per operator. */
typedef struct {
    arena a;
    kernel *k;
    k_builder b;
    k_val index, x, y, z;
    ir_op op[64];
    ir_type result[64];
    unsigned n;
    void *mem[64];
    size_t bytes[64];
} operators;

static ir_bits sample(ir_type t, unsigned i, unsigned salt)
{
    static const double special[] = {0.0,  -0.0,  1.0,      -1.0,      0.5, 2.5, -2.5,  1.5,
                                     -0.5, 1e-42, INFINITY, -INFINITY, NAN, 3e9, -7e18, 1e300};
    uint64_t h = hash_mix(hash_mix(salt, i + 1), 0xabcdef);
    double v = h % 3 ? special[(h >> 8) % ARRAY_LENGTH(special)] : ldexp((double)(int64_t)h, -(int)(h >> 9 & 127));
    if (t == T_F32)
        return ir_bits_f32((float)v);
    if (t == T_F64)
        return ir_bits_f64(v);
    static const int64_t whole[] = {0,  1,  -1,        2,         7,         31,        32,  63,
                                    64, -5, INT64_MIN, INT64_MAX, INT32_MIN, INT32_MAX, 255, 128};
    return ir_bits_i64(t, h % 2 ? whole[(h >> 8) % ARRAY_LENGTH(whole)] : (int64_t)h >> (h >> 3 & 63));
}

static void begin(operators *o, ir_type t)
{
    static const char *const name[] = {"x", "y", "z"};
    k_mem in[3];
    *o = (operators){0};
    arena_init(&o->a, NULL);
    o->k = k_new(&o->a, "operators", 16);
    k_begin(&o->b, o->k);
    size_t size = ir_type_size(t);
    for (unsigned j = 0; j < 3; j++) {
        in[j] = k_global(&o->b, t, false, name[j]);
        o->mem[j] = arena_alloc(&o->a, POINTS * size);
        o->bytes[j] = POINTS * size;
        for (unsigned i = 0; i < POINTS; i++) {
            ir_bits bits = sample(t, i, j);
            memcpy((uint8_t *)o->mem[j] + i * size, &bits, size);
        }
    }
    o->index = k_for_all(&o->b, k_i64(&o->b, POINTS));
    o->x = k_load(&o->b, in[0], o->index);
    o->y = k_load(&o->b, in[1], o->index);
    o->z = k_load(&o->b, in[2], o->index);
}

static void output(operators *o, ir_op op, k_val v)
{
    ir_type t = (ir_type)o->k->value.at[v].type;
    k_mem out = k_global(&o->b, t, true, "out");
    k_store(&o->b, out, o->index, v);
    o->op[o->n] = op;
    o->result[o->n] = t;
    o->bytes[3 + o->n] = POINTS * ir_type_size(t);
    o->n++;
}

static bool same(ir_type t, ir_bits x, ir_bits y)
{
    if (t == T_F32 && isnan(ir_f32_bits(x)))
        return isnan(ir_f32_bits(y));
    if (t == T_F64 && isnan(ir_f64_bits(x)))
        return isnan(ir_f64_bits(y));
    return x == y;
}

static void compare(operators *o, opencl_runner *r, ir_type t)
{
    void *expected[64];
    k_error error = {0};
    k_end(&o->b);
    memcpy(expected, o->mem, sizeof(expected));
    for (unsigned i = 0; i < o->n; i++) {
        expected[3 + i] = arena_alloc(&o->a, o->bytes[3 + i]);
        o->mem[3 + i] = arena_alloc(&o->a, o->bytes[3 + i]);
    }
    opencl_program *p = built(r, emitted(o->k, &o->a), 16, &o->a);
    assert_true(k_interpret(o->k, &o->a, expected, NULL, 0, 1, &error));
    assert_true(opencl_run(p, o->k, o->mem, o->bytes, NULL, 0, 1, 1, &error));
    for (unsigned i = 0; i < o->n; i++)
        for (unsigned j = 0; j < POINTS; j++) {
            size_t size = ir_type_size(o->result[i]);
            ir_bits e = 0, g = 0;
            memcpy(&e, (uint8_t *)expected[3 + i] + j * size, size);
            memcpy(&g, (uint8_t *)o->mem[3 + i] + j * size, size);
            if (!same(o->result[i], e, g))
                fail_msg("%s on %s giving %s at (%llx, %llx, %llx): %llx, not %llx", ir_ops[o->op[i]].name,
                         ir_type_name(t), ir_type_name(o->result[i]), (unsigned long long)sample(t, j, 0),
                         (unsigned long long)sample(t, j, 1), (unsigned long long)sample(t, j, 2),
                         (unsigned long long)g, (unsigned long long)e);
        }
    opencl_drop(p);
    arena_free(&o->a);
}

/* Where an operator is partial the divisor is made one that cannot fail. */
static k_val safe(operators *o, ir_op op, ir_type t)
{
    k_builder *b = &o->b;
    if (!ir_op_partial(op, t))
        return o->y;
    k_val zero = k_literal(b, t, 0), bad = k_let(b, OP_EQ, o->y, zero, 0);
    if (ir_type_signed(t)) {
        k_val least = k_literal(b, t, UINT64_C(1) << (ir_type_bits(t) - 1)),
              minus = k_literal(b, t, ir_bits_i64(t, -1));
        k_val overflow = k_let(b, OP_AND, k_let(b, OP_EQ, o->x, least, 0), k_let(b, OP_EQ, o->y, minus, 0), 0);
        bad = k_let(b, OP_OR, bad, overflow, 0);
    }
    return k_select(b, bad, k_literal(b, t, 3), o->y);
}

static void every_operator(void **state)
{
    operators *o = malloc(sizeof(*o));
    assert_non_null(o);
    if (!*state) {
        free(o);
        skip();
    }
    for (ir_type t = T_BOOL; t < T_COUNT; t++) {
        begin(o, t);
        for (ir_op op = (ir_op)1; op < OP_COUNT; op++) {
            const ir_op_row *row = &ir_ops[op];
            if (!(row->classes & ir_type_class(t)) || row->signature == SIGNATURE_CONVERT || row->flags & OP_MATH)
                continue;
            /* A NaN's sign is open. */
            if (op == OP_SIGN_BIT || op == OP_COPY_SIGN) {
                k_val clean = k_select(&o->b, k_let(&o->b, OP_IS_NAN, o->x, 0, 0), o->z, o->x);
                k_val still = k_let(&o->b, OP_IS_NAN, clean, 0, 0);
                k_val one = k_literal(&o->b, t, t == T_F32 ? ir_bits_f32(-1) : ir_bits_f64(-1));
                clean = k_select(&o->b, still, one, clean);
                output(o, op, k_let(&o->b, op, op == OP_SIGN_BIT ? clean : o->y, clean, 0));
                continue;
            }
            k_val x = own_operand(&o->b, op, t, 0, o->x), y = own_operand(&o->b, op, t, 1, safe(o, op, t));
            output(o, op, k_let(&o->b, op, x, y, o->z));
        }
        compare(o, *state, t);
    }
    free(o);
}

static void every_conversion(void **state)
{
    operators *o = malloc(sizeof(*o));
    assert_non_null(o);
    if (!*state) {
        free(o);
        skip();
    }
    for (ir_type t = T_BOOL; t < T_COUNT; t++) {
        begin(o, t);
        for (ir_type to = T_BOOL; to < T_COUNT; to++)
            if (ir_op_result(OP_CONVERT, t, to) == to)
                output(o, OP_CONVERT, k_convert(&o->b, OP_CONVERT, to, o->x));
        for (ir_type to = T_BOOL; to < T_COUNT; to++)
            if (ir_op_result(OP_BITCAST, t, to) == to && !ir_type_float(t))
                output(o, OP_BITCAST, k_convert(&o->b, OP_BITCAST, to, o->x));
        compare(o, *state, t);
    }
    free(o);
}

/* --- whole kernels --- */

/* Every local size and number of groups gives the interpreter's bits and its error. */
static void random_kernels(void **state)
{
    random_run *expected = malloc(sizeof(*expected)), *got = malloc(sizeof(*got));
    assert_non_null(expected);
    assert_non_null(got);
    unsigned kernels = getenv("SINTER_TEST_LONG") ? 400 : 16;
    for (uint64_t seed = 0; *state && seed < kernels; seed++) {
        arena a;
        arena_init(&a, NULL);
        kernel *k = random_kernel(&a, seed, 8, false);
        random_fill(expected, seed);
        k->narrow = k_indices_fit(k, &a, expected->arg, 0, RANDOM_PIECES);
        const char *source = emitted(k, &a);
        k_interpret(k, &a, expected->mem, expected->arg, 0, RANDOM_PIECES, &expected->error);
        size_t local = (size_t[]){3, 5, 8, 16}[seed % 4]; /* PoCL 3.1 has another way for 1 and 2 items, which aborts */
        opencl_program *p = built(*state, source, local, &a);
        for (size_t groups = 1; groups <= 4; groups += 3) {
            random_fill(got, seed);
            assert_true(opencl_run(p, k, got->mem, got->bytes, got->arg, 0, RANDOM_PIECES, groups, &got->error));
            const char *difference = random_difference(&a, expected, got);
            if (difference)
                fail_msg("seed %u, %zu items, %zu groups: %s\n%s", (unsigned)seed, local, groups, difference, source);
        }
        opencl_drop(p);
        arena_free(&a);
    }
    free(expected);
    free(got);
    if (!*state)
        skip();
}

/* Halving in shared memory, read back at piece level, in a loop at piece level: every kind of barrier. */
static void barriers_order_shared_memory(void **state)
{
    static const char source[] = "kernel sums lanes 8 {\n"
                                 "    global @in.1:i64\n"
                                 "    global @out.2:i64 written\n"
                                 "    shared @tile.3:i64[64]\n"
                                 "    arg %rounds.1:i64\n"
                                 "    %start.2:i64 = mul piece, 64\n"
                                 "    %seen.3:i64 = var 0\n"
                                 "    for %round.4:i64 = 0 to %rounds.1 {\n"
                                 "        for_all %i.5:i64 < 64 {\n"
                                 "            %at.6:i64 = add %start.2, %i.5\n"
                                 "            %x.7:i64 = load @in.1[%at.6]\n"
                                 "            %y.8:i64 = add %x.7, %seen.3\n"
                                 "            store @tile.3[%i.5] = %y.8\n"
                                 "        }\n"
                                 "        %half.9:i64 = var 32\n"
                                 "        loop {\n"
                                 "            %done.10:bool = eq %half.9, 0\n"
                                 "            break_if %done.10\n"
                                 "            for_all %j.11:i64 < %half.9 {\n"
                                 "                %k.12:i64 = add %j.11, %half.9\n"
                                 "                %a.13:i64 = load @tile.3[%j.11]\n"
                                 "                %b.14:i64 = load @tile.3[%k.12]\n"
                                 "                %c.15:i64 = add %a.13, %b.14\n"
                                 "                store @tile.3[%j.11] = %c.15\n"
                                 "            }\n"
                                 "            %h.16:i64 = shr %half.9, 1\n"
                                 "            set %half.9 = %h.16\n"
                                 "        }\n"
                                 "        %sum.17:i64 = load @tile.3[0]\n"
                                 "        %next.18:i64 = add %sum.17, %round.4\n"
                                 "        store @tile.3[1] = %next.18\n"
                                 "        %back.19:i64 = load @tile.3[1]\n"
                                 "        set %seen.3 = %back.19\n"
                                 "    }\n"
                                 "    store @out.2[piece] = %seen.3\n"
                                 "}\n";
    enum { PIECES = 50 };
    static int64_t in[64 * PIECES], expected[PIECES], got[PIECES];
    arena a;
    const char *message = "";
    if (!*state)
        skip();
    arena_init(&a, NULL);
    kernel *k = k_parse(&a, source, &message);
    if (!k)
        fail_msg("%s", message);
    const char *code = emitted(k, &a);
    for (unsigned i = 0; i < 64 * PIECES; i++)
        in[i] = (int64_t)hash_mix(7, i);
    k_error error = {0};
    ir_bits rounds = 5;
    assert_true(k_interpret(k, &a, (void *[]){in, expected}, &rounds, 0, PIECES, &error));
    for (size_t local = 1; local <= 64; local *= 4) {
        opencl_program *p = built(*state, code, local, &a);
        memset(got, 0, sizeof(got));
        assert_true(
            opencl_run(p, k, (void *[]){in, got}, (size_t[]){sizeof(in), sizeof(got)}, &rounds, 0, PIECES, 7, &error));
        assert_memory_equal(got, expected, sizeof(got));
        opencl_drop(p);
    }
    arena_free(&a);
}

/* Sums by atomics on every type that has them, from threads and from pieces. */
static void atomics_count_exactly(void **state)
{
    static const ir_type types[] = {T_I32, T_U32, T_I64, T_U64, T_F32, T_F64};
    if (!*state)
        skip();
    for (size_t i = 0; i < ARRAY_LENGTH(types); i++) {
        arena a;
        k_builder b;
        ir_type t = types[i];
        arena_init(&a, NULL);
        kernel *k = k_new(&a, "count", 8);
        k_begin(&b, k);
        k_mem sum = k_global(&b, t, true, "sum"), most = k_global(&b, T_I64, true, "most");
        k_val one = k_convert(&b, OP_CONVERT, t, k_i64(&b, 1));
        k_for_all(&b, k_i64(&b, 100));
        k_atomic(&b, OP_ADD, sum, k_i64(&b, 0), one);
        k_end(&b);
        k_val old = k_atomic(&b, OP_ADD, sum, k_i64(&b, 1), one);
        k_atomic(&b, OP_MAX, most, k_i64(&b, 0), k_convert(&b, OP_CONVERT, T_I64, old));
        opencl_program *p = built(*state, emitted(k, &a), 16, &a);
        uint64_t total[2] = {0};
        int64_t largest = -1;
        k_error error = {0};
        assert_true(opencl_run(p, k, (void *[]){total, &largest}, (size_t[]){16, 8}, NULL, 0, 30, 8, &error));
        for (unsigned j = 0; j < 2; j++) {
            ir_bits bits = 0, expected = j ? 30 : 3000;
            memcpy(&bits, (uint8_t *)total + j * ir_type_size(t), ir_type_size(t));
            expected = t == T_F32   ? ir_bits_f32((float)expected)
                       : t == T_F64 ? ir_bits_f64((double)expected)
                                    : expected;
            assert_int_equal(bits, expected);
        }
        assert_int_equal(largest, 29);
        opencl_drop(p);
        arena_free(&a);
    }
}

/* Many failing threads in many groups: the smallest (site, element) is the one reported. */
static void the_smallest_error_is_kept(void **state)
{
    arena a;
    k_builder b;
    if (!*state)
        skip();
    arena_init(&a, NULL);
    kernel *k = k_new(&a, "fail", 8);
    k_begin(&b, k);
    k_val i = k_for_all(&b, k_i64(&b, 256));
    k_val element = k_let(&b, OP_SUB, k_i64(&b, 100000),
                          k_let(&b, OP_ADD, k_let(&b, OP_MUL, k_piece(&b), k_i64(&b, 256), 0), i, 0), 0);
    k_val no = k_let(&b, OP_LT, element, k_i64(&b, 0), 0),
          yes = k_let(&b, OP_EQ, k_let(&b, OP_BIT_AND, i, k_i64(&b, 1), 0), k_i64(&b, 0), 0);
    k_check(&b, 8, yes, element, element, k_i64(&b, 8));
    k_check(&b, 3, no, element, element, k_i64(&b, 3));
    k_end(&b);
    opencl_program *p = built(*state, emitted(k, &a), 32, &a);
    for (unsigned repeat = 0; repeat < 5; repeat++) {
        k_error error = {0};
        assert_true(opencl_run(p, k, NULL, NULL, NULL, 0, 60, 60, &error));
        assert_int_equal(error.site, 3);
        assert_int_equal(error.element, 100000 - 60 * 256 + 2);
        assert_int_equal(error.value, error.element);
        assert_int_equal(error.bound, 3);
    }
    opencl_drop(p);
    arena_free(&a);
}

static void refusals_say_why(void **state)
{
    static const struct {
        const char *source, *why;
    } cases[] = {
        {"kernel k lanes 8 { global @1:i64 written for_all %1:i64 < 8 { %2:i64 = count true store @1[%1] = %2 } }",
         "lanes exchange values that the device's threads cannot"},
        {"kernel k lanes 8 { global @1:u64 written check 1: false, 0, 0, 0 chain @1 before %1:i64 initial 0 aggregate "
         "1 left %2:i64 "
         "right %3:i64 { %4:i64 = add %2, %3 } yield %4 }",
         "a piece that fails would not hand its carry on"},
        {"kernel k lanes 8 { %1:i64 = var 0 for_all %2:i64 < 8 { set %1 = 5 } }",
         "a variable of the piece set by threads"},
        {"kernel k lanes 8 { arg %1:f32 %2:f32 = exp %1 }", "exp has no form for f32 in OpenCL C 1.2"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        arena a;
        text t;
        const char *why = "", *message = "";
        arena_init(&a, NULL);
        kernel *k = k_parse(&a, cases[i].source, &message);
        if (!k)
            fail_msg("%s", message);
        assert_true(k_verify(k, &a, &why));
        k_analyse(k);
        k_layout(k, 64);
        text_init(&t, &a);
        assert_false(emit_text(k, &dialect_opencl, "k", &t, &why));
        assert_string_equal(why, cases[i].why);
        assert_int_equal(t.n, 0);
        arena_free(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operator),
        cmocka_unit_test(every_conversion),
        cmocka_unit_test(barriers_order_shared_memory),
        cmocka_unit_test(atomics_count_exactly),
        cmocka_unit_test(the_smallest_error_is_kept),
        cmocka_unit_test(random_kernels),
        cmocka_unit_test(refusals_say_why),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
