/* Arrays of C structs: fields by name, conversion on the way in and out, against plain C, on the CPU and by the
 * interpreter; and what is said about structs that do not fit. */
#include "both.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct particle {
    float x, y;
    int32_t id;
} particle;

typedef struct mixed { /* with holes, and a struct inside */
    uint8_t kind;
    struct {
        double at;
        bool seen;
    } mark;
    int16_t weight;
    uint32_t letter;
} mixed;

enum { LARGE = 3000 }; /* several blocks of a conversion */

/* --- programs --- */

static sn_scalar moved(void *env, sn_scalar p)
{
    const sn_scalar *dt = env;
    sn_scalar x = sn_add(sn_field(p, x), sn_mul(*dt, sn_field(p, y)));
    return sn_with(p, x, x);
}

static sn_acc step(sn_acc ps, sn_acc dt)
{
    sn_scalar t = sn_the(dt);
    sn_acc next = sn_map(sn_closure(moved, &t), ps);
    return sn_results(next, sn_maximum(sn_field(next, x)));
}

static sn_scalar look(sn_scalar m)
{
    sn_scalar mark = sn_field(m, mark);
    sn_scalar at = sn_mul(sn_field(mark, at), 2), seen = sn_not(sn_field(mark, seen));
    sn_scalar n = sn_record("kind, mark weight letter", sn_add(sn_field(m, kind), 1), sn_record("at seen", at, seen),
                            sn_neg(sn_field(m, weight)), sn_field(m, letter));
    return sn_with(n, mark, sn_with(sn_field(n, mark), at, sn_add(sn_field(sn_field(n, mark), at), 1)));
}

static sn_acc looks(sn_acc ms)
{
    return sn_map(look, ms);
}

/* A tuple is as good as a struct where it is a result, and the other way round. */
static sn_acc rows(sn_acc ps, sn_acc weights)
{
    sn_acc named = sn_zip(sn_field(ps, y), weights, sn_field(ps, id));
    return sn_results(named, sn_fst(ps));
}

static sn_acc only_id(sn_acc ps)
{
    return sn_results(sn_field(ps, id), sn_sum(sn_field(ps, id)));
}

#define MIXED_TYPE "{kind: u8, mark: {at: f64, seen: bool}, weight: i16, letter: char}"

/* --- values --- */

static void fill(particle *p, int n)
{
    for (int i = 0; i < n; i++)
        p[i] = (particle){(float)i, (float)(i % 7) - 3, 100 + i};
}

/* Does the context's device use structs where they are? */
static bool uses_fields(const sn_context *cx)
{
    return cx->engine.device && cx->engine.device->limits->fields;
}

static void check_step(sn_context *cx)
{
    static particle p[LARGE], q[LARGE];
    float dt = 0.5f, most = 0, wanted = -1e30f;
    if (!cx)
        return;
    const sn_counters first = sn_counts(cx);
    sn_program *program =
        sn_compile(cx, "[n]{x: f32, y: f32, id: i32}, f32 -> [n]{x: f32, y: f32, id: i32}, f32", step);
    if (!program)
        fail_msg("%s", sn_message(cx));
    for (int n = 1; n <= LARGE; n = n * 3 + (n == 1)) {
        fill(p, n);
        memset(q, 0x55, sizeof(q));
        sn_counters before = sn_counts(cx);
        assert_int_equal(sn_call(program, sn_structs(p, n), sn_value(&dt), sn_structs(q, n), sn_value(&most)), SN_OK);
        sn_counters after = sn_counts(cx);
        /* where they are, unless so few are folded that lanes are rows */
        unsigned converted = !uses_fields(cx) || n <= SK_SHORT ? 2 : 0;
        assert_int_equal(after.conversions - before.conversions, converted);
        assert_int_equal(after.converted_bytes - before.converted_bytes, converted * 12 * (unsigned)n);
        for (int i = 0; i < n; i++) {
            assert_true(q[i].x == p[i].x + dt * p[i].y && q[i].y == p[i].y && q[i].id == p[i].id);
            wanted = q[i].x > wanted ? q[i].x : wanted;
        }
        assert_true(most == wanted);
        unsigned char *behind = (unsigned char *)(q + n);
        assert_true(n == LARGE || behind[0] == 0x55);
    }
    /* structs and components may be mixed: here the parameter's components are arrays, of one struct's field */
    float x[3] = {1, 2, 3}, y[3] = {2, 2, 2};
    int32_t id[3] = {7, 8, 9};
    assert_int_equal(
        sn_call(program, sn_in(x, 3), sn_in(y, 3), sn_in(id, 3), sn_value(&dt), sn_structs(q, 3), sn_value(&most)),
        SN_OK);
    assert_true(q[0].x == 2 && q[2].x == 4 && q[1].id == 8 && most == 4);
    assert_int_equal(sn_call(program, sn_structs(p, 3), sn_value(&dt), sn_into(x, 3), sn_into(y, 3), sn_into(id, 3),
                             sn_value(&most)),
                     SN_OK);
    assert_true(x[2] == p[2].x + dt * p[2].y && id[1] == 101);
    /* in place */
    fill(p, 3);
    assert_int_equal(sn_call(program, sn_structs(p, 3), sn_value(&dt), sn_structs(p, 3), sn_value(&most)), SN_OK);
    assert_true(p[1].x == 1 + dt * -2 && p[1].id == 101);
    /* none at all */
    assert_int_equal(sn_call(program, sn_structs(p, 0), sn_value(&dt), sn_structs(q, 0), sn_value(&most)),
                     SN_EMPTY_FOLD);
    const char *said = sn_explain(program, "plan");
    assert_non_null(strstr(said, "parameter 1, [n]{x: f32, y: f32, id: i32}: one array a component"));
    sn_counters now = sn_counts(cx);
    char told[100]; /* of the call in place, and of those before it */
    snprintf(told, sizeof(told), "conversions of arrays of structs so far: %llu, %llu bytes\n",
             (unsigned long long)(now.conversions - first.conversions),
             (unsigned long long)(now.converted_bytes - first.converted_bytes));
    if (!strstr(said, told))
        fail_msg("no \"%s\" in\n%s", told, said);
    sn_drop(program);
}

static void structs_go_in_and_out(void **state)
{
    (void)state;
    check_step(both_interpreter());
    check_step(both_cpu());
}

static void check_mixed(sn_context *cx)
{
    static mixed m[700], r[700];
    if (!cx)
        return;
    sn_program *program = sn_compile(cx, "[a,b]" MIXED_TYPE " -> [a,b]" MIXED_TYPE, looks);
    if (!program)
        fail_msg("%s", sn_message(cx));
    for (int i = 0; i < 700; i++)
        m[i] = (mixed){(uint8_t)i, {i * 0.25, i % 3 == 0}, (int16_t)(i - 350), (uint32_t)(i + 60)};
    assert_int_equal(sn_call(program, sn_structs(m, 7, 100), sn_structs(r, 7, 100)), SN_OK);
    for (int i = 0; i < 700; i++) {
        assert_int_equal(r[i].kind, (uint8_t)(i + 1));
        assert_true(r[i].mark.at == i * 0.5 + 1 && r[i].mark.seen == (i % 3 != 0));
        assert_int_equal(r[i].weight, 350 - i);
        assert_int_equal(r[i].letter, i + 60);
    }
    sn_drop(program);
    program = sn_compile(cx, MIXED_TYPE " -> " MIXED_TYPE, looks);
    assert_non_null(program);
    assert_int_equal(sn_call(program, sn_struct(&m[5]), sn_struct(&r[0])), SN_OK);
    assert_true(r[0].kind == 6 && r[0].mark.at == 3.5 && r[0].weight == 345 && r[0].letter == 65);
    sn_drop(program);
}

static void structs_with_holes_and_inside_each_other(void **state)
{
    (void)state;
    check_mixed(both_interpreter());
    check_mixed(both_cpu());
}

static void tuples_and_structs(void **state)
{
    (void)state;
    both("[n]{x: T, y: T, id: i32}, [n]f64 -> [n](T, f64, i32), [n]T", rows, "f32 i8", MIXED, 0, 1, 33, 1000);
    both("[n]{id: T} -> [n]T, T", only_id, "i32 i64", MIXED, 0, 1, 33, 1000);
    if (!both_cpu())
        skip();
    particle p[5];
    struct {
        float y;
        double weight;
        int32_t id;
    } out[5];
    double weight[5] = {1, 2, 3, 4, 5};
    float x[5];
    fill(p, 5);
    sn_program *program =
        sn_compile(both_cpu(), "[n]{x: f32, y: f32, id: i32}, [n]f64 -> [n](f32, f64, i32), [n]f32", rows);
    assert_non_null(program);
    assert_int_equal(sn_call(program, sn_structs(p, 5), sn_in(weight, 5), sn_structs(out, 5), sn_into(x, 5)), SN_OK);
    for (int i = 0; i < 5; i++)
        assert_true(out[i].y == p[i].y && out[i].weight == i + 1 && out[i].id == 100 + i && x[i] == p[i].x);
    sn_drop(program);
}

/* --- mistakes --- */

static void expect(sn_context *cx, sn_status status, sn_status wanted, const char *part)
{
    assert_int_equal(status, wanted);
    if (!strstr(sn_message(cx), part))
        fail_msg("\"%s\" is not in: %s", part, sn_message(cx));
}

static sn_scalar speed(sn_scalar p)
{
    return sn_abs(sn_field(p, y));
}

static sn_acc speeds(sn_acc ps)
{
    return sn_map(speed, ps);
}

static sn_scalar next_id(sn_scalar s)
{
    return sn_sub(sn_field(sn_at(s, 1), id), sn_field(sn_at(s, 0), id));
}

static sn_acc steps_of_ids(sn_acc ps)
{
    return sn_stencil(next_id, sn_pattern(3), sn_clamp, ps);
}

static sn_scalar read_id(void *env, sn_scalar i)
{
    return sn_field(sn_index(*(const sn_acc *)env, i), id);
}

static sn_acc every_other_id(sn_acc ps)
{
    return sn_generate(sn_quot(sn_extent(ps, 0), 2), sn_closure(read_id, &ps));
}

static sn_acc how_many(sn_acc ps)
{
    return sn_unit(sn_size(ps));
}

static sn_acc as_they_are(sn_acc ps)
{
    return sn_results(ps, sn_field(sn_reverse(ps), x));
}

/* Bytes converted by a call with 8 structs; the results are in *out. */
static uint64_t converted(sn_context *cx, const char *signature, sn_body body, const particle *p, sn_arg out)
{
    sn_program *program = sn_compile_at(SN_HERE, cx, signature, body);
    if (!program)
        fail_msg("%s", sn_message(cx));
    uint64_t before = sn_counts(cx).converted_bytes;
    sn_arg arg[2] = {sn_structs(p, 8), out};
    assert_int_equal(sn_call_n(program, 2, arg), SN_OK);
    sn_drop(program);
    return sn_counts(cx).converted_bytes - before;
}

#define PARTICLES "[n]{x: f32, y: f32, id: i32}"

/* Fields that the program does not look at are not copied, and those that are read where they are, in order. */
static void check_fields_needed(sn_context *cx)
{
    particle p[8], q[8];
    float y[8], x[8];
    int32_t id[8];
    int64_t n;
    if (!cx)
        return;
    const uint64_t in_order = uses_fields(cx) ? 0 : 8 * 4;
    fill(p, 8);
    assert_int_equal(converted(cx, PARTICLES " -> [n]f32", SN_BODY(speeds), p, sn_into(y, 8)), in_order);
    assert_true(y[0] == 3 && y[6] == 3 && y[4] == 1);
    assert_int_equal(converted(cx, PARTICLES " -> [n]i32", SN_BODY(steps_of_ids), p, sn_into(id, 8)), 8 * 4);
    assert_true(id[0] == 1 && id[7] == 0);
    assert_int_equal(converted(cx, PARTICLES " -> [m]i32", SN_BODY(every_other_id), p, sn_into(id, 4)), 8 * 4);
    assert_true(id[0] == 100 && id[3] == 103);
    assert_int_equal(converted(cx, PARTICLES " -> i64", SN_BODY(how_many), p, sn_value(&n)), 0);
    assert_int_equal(n, 8);
    sn_program *program = sn_compile(cx, PARTICLES " -> " PARTICLES ", [n]f32", as_they_are);
    assert_non_null(program);
    assert_int_equal(sn_call(program, sn_structs(p, 8), sn_structs(q, 8), sn_into(x, 8)), SN_OK);
    assert_memory_equal(p, q, sizeof(p));
    assert_true(x[0] == 7 && x[7] == 0);
    sn_drop(program);
}

static void fields_needed(void **state)
{
    (void)state;
    check_fields_needed(both_interpreter());
    check_fields_needed(both_cpu());
}

static void structs_that_do_not_fit(void **state)
{
    (void)state;
    sn_context *cx = both_cpu() ? both_cpu() : both_interpreter();
    particle p[4], q[4];
    struct {
        float x, y;
    } small[4] = {{0, 0}};
    float dt = 1, most, many[4];
    fill(p, 4);
    sn_program *program =
        sn_compile(cx, "[n]{x: f32, y: f32, id: i32}, f32 -> [n]{x: f32, y: f32, id: i32}, f32", step);
    assert_non_null(program);
    expect(cx, sn_call(program, sn_structs(small, 4), sn_value(&dt), sn_structs(q, 4), sn_value(&most)),
           SN_BAD_ARGUMENT, "argument 1 has structs of 8 bytes, but those of [n]{x: f32, y: f32, id: i32} have 12");
    expect(cx, sn_call(program, sn_structs(p, 2, 2), sn_value(&dt), sn_structs(q, 4), sn_value(&most)), SN_BAD_ARGUMENT,
           "argument 1 has 2 extents, not 1");
    expect(cx, sn_call(program, sn_structs(p, 4), sn_structs(q, 1), sn_structs(q, 4), sn_value(&most)), SN_BAD_ARGUMENT,
           "argument 2 is sn_structs(...), but stands for f32");
    expect(cx, sn_call(program, sn_structs(p, -4), sn_value(&dt), sn_structs(q, 4), sn_value(&most)), SN_BAD_EXTENT,
           "dimension 0 of argument 1 has the extent -4");
    expect(cx, sn_call(program, sn_structs(p, INT64_MAX / 2), sn_value(&dt), sn_structs(q, 4), sn_value(&most)),
           SN_TOO_LARGE, "argument 1 is larger than memory can be");
    expect(cx, sn_call(program, sn_structs((particle *)NULL, 4), sn_value(&dt), sn_structs(q, 4), sn_value(&most)),
           SN_BAD_ARGUMENT, "argument 1 is NULL");
    expect(cx, sn_call(program, sn_structs(p, 4), sn_value(&dt), sn_structs(q, 4)), SN_BAD_ARGUMENT,
           "takes 4 arguments (2 for parameters, 2 for results), not 3");
    expect(cx, sn_call(program, sn_structs(p, 4), sn_value(&dt), sn_structs(q, 3), sn_value(&most)), SN_BAD_EXTENT,
           "dimension 0 of result 1 has the extent 4, but there is memory for 3");
    expect(cx, sn_call(program, sn_structs(p, 4), sn_value(&dt), sn_structs(q, 4), sn_value(&q[1].x)), SN_BAD_ARGUMENT,
           "the memory of arguments 3 and 4 overlaps");
    expect(cx,
           sn_call(program, sn_in(many, 4), sn_in(many, 4), sn_structs(p, 4), sn_value(&dt), sn_structs(q, 4),
                   sn_value(&most)),
           SN_BAD_ARGUMENT, "argument 3 stands for a parameter, but is sn_structs(...)");
    expect(cx, sn_call(program, sn_structs(p, 4), sn_in(many, 4), sn_structs(q, 4), sn_value(&most)), SN_BAD_ARGUMENT,
           "argument 2 has 1 extents, not 0");
    sn_drop(program);
    assert_null(sn_upload(cx, sn_structs(p, 4)));
}

static sn_acc both_back(sn_acc a, sn_acc b)
{
    return sn_results(b, a);
}

static void results_in_structs_overlap(void **state)
{
    (void)state;
    sn_context *cx = both_cpu() ? both_cpu() : both_interpreter();
    struct {
        int32_t a, b;
    } in[6] = {{1, 2}, {3, 4}, {5, 6}, {7, 8}, {9, 10}, {11, 12}}, out[6];
    const char *type = "[n]{a: i32, b: i32}, [n]{a: i32, b: i32} -> [n](i32, i32), [n](i32, i32)";
    sn_program *program = sn_compile(cx, type, both_back);
    assert_non_null(program);
    expect(cx, sn_call(program, sn_structs(in, 3), sn_structs(in + 3, 3), sn_structs(out, 3), sn_structs(out + 2, 3)),
           SN_BAD_ARGUMENT, "the memory of arguments 3 and 4 overlaps");
    assert_int_equal(
        sn_call(program, sn_structs(in, 3), sn_structs(in + 3, 3), sn_structs(out, 3), sn_structs(out + 3, 3)), SN_OK);
    assert_true(out[0].a == 7 && out[2].b == 12 && out[3].a == 1 && out[5].b == 6);
    expect(cx, sn_call(program, sn_structs(in, 3), sn_structs(in, 2), sn_structs(out, 3), sn_structs(out + 3, 3)),
           SN_BAD_EXTENT, "extent n is 3 in argument 1, but 2 in dimension 0 of argument 2");
    sn_drop(program);
}

/* A pending call keeps the list, not the structs. */
static void pending_calls(void **state)
{
    (void)state;
    sn_context *cx = both_cpu() ? both_cpu() : both_interpreter();
    particle p[4], q[4];
    float dt = 2, most;
    fill(p, 4);
    sn_program *program =
        sn_compile(cx, "[n]{x: f32, y: f32, id: i32}, f32 -> [n]{x: f32, y: f32, id: i32}, f32", step);
    assert_non_null(program);
    sn_pending *pending = sn_start(program, sn_structs(p, 4), sn_value(&dt), sn_structs(q, 4), sn_value(&most));
    assert_int_equal(sn_wait(pending), SN_OK);
    assert_true(q[3].x == 3 && q[3].id == 103 && q[0].x == -6);
    pending = sn_start(program, sn_structs(p, 4), sn_value(&dt), sn_structs(q, 5), sn_value(&most));
    assert_int_equal(sn_wait(pending), SN_BAD_EXTENT);
    sn_drop(program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(structs_go_in_and_out),
        cmocka_unit_test(structs_with_holes_and_inside_each_other),
        cmocka_unit_test(tuples_and_structs),
        cmocka_unit_test(structs_that_do_not_fit),
        cmocka_unit_test(results_in_structs_overlap),
        cmocka_unit_test(pending_calls),
        cmocka_unit_test(fields_needed),
    };
    return cmocka_run_group_tests(tests, both_open, both_close);
}
