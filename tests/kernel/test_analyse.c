/* Which values are uniform, affine, strided or varying over the lanes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel/kernel.h"

static const char *const shape_name[] = {"uniform", "affine", "strided", "varying"};

/* Values named u... must be uniform, a... affine with the step behind the letter (n for minus), s... strided, v...
 * varying. */
static void check_names(const kernel *k, unsigned expected)
{
    unsigned checked = 0;
    for (k_val id = 1; id < k->value.n; id++) {
        const k_value *v = &k->value.at[id];
        if (!v->name || !*v->name || v->name[0] == 'x')
            continue;
        const char *letters = "uasv", *at = strchr(letters, v->name[0]);
        assert_non_null(at);
        k_shape wanted = (k_shape)(at - letters);
        if (v->shape != wanted)
            fail_msg("%s is %s, not %s", v->name, shape_name[v->shape], shape_name[wanted]);
        int64_t step = 0;
        for (const char *c = v->name + 1 + (v->name[1] == 'n'); wanted == K_AFFINE && *c >= '0' && *c <= '9'; c++)
            step = step * 10 + (*c - '0');
        if (wanted == K_AFFINE)
            assert_int_equal(v->step, v->name[1] == 'n' ? -step : step);
        checked++;
    }
    assert_int_equal(checked, expected);
}

static void check(const char *body, unsigned expected)
{
    arena a;
    const char *message = "", *why = "";
    arena_init(&a, NULL);
    const char *source =
        arena_printf(&a,
                     "kernel k lanes 8 threads 64 {\nglobal @1:i64 global @2:i64 written shared @3:i64[64] "
                     "private @4:i64[1] global @5:i32\narg %%xn.1:i64 arg %%xc.2:bool arg %%xf.3:f32\n%s\n}",
                     body);
    kernel *k = k_parse(&a, source, &message);
    if (!k)
        fail_msg("%s", message);
    if (!k_verify(k, &a, &why))
        fail_msg("%s", why);
    k_analyse(k);
    check_names(k, expected);
    arena_free(&a);
}

static void affine_arithmetic(void **state)
{
    (void)state;
    check("for_all %a1.4:i64 < %1 {\n"
          "%a1b.5:i64 = add %4, %1  %a1c.6:i64 = sub %4, 7  %an1.7:i64 = sub 7, %4  %a2.8:i64 = add %4, %4\n"
          "%u.9:i64 = sub %4, %4  %a520.10:i64 = mul %4, 520  %an3.11:i64 = mul -3, %4  %s.12:i64 = mul %4, %1\n"
          "%a8.13:i64 = shl %4, 3  %s2.14:i64 = shl %4, %1  %an1d.15:i64 = neg %4  %s3.16:i64 = add %12, %4\n"
          "%v.17:i64 = mul %4, %4  %v2.18:i64 = shr %4, 1  %v3.19:i64 = min %4, 5  %ub.20:i64 = mul %1, 5\n"
          "%xu.21:u64 = bitcast %4  %a3.22:u64 = mul %21, 3:u64  %s4.23:i64 = mul %10, %1\n"
          "}",
          19);
}

static void narrow_integers_and_floats_vary(void **state)
{
    (void)state;
    check("for_all %a1.4:i64 < %1 {\n"
          "%v.5:i32 = convert %4  %v2.6:i32 = add %5, 1:i32  %v3.7:i64 = convert %6  %v4.8:f32 = convert %4\n"
          "%v5.9:bool = lt %4, 3  %u.10:f32 = add %3, 1.0:f32  %u2.11:bool = lt %1, 3\n"
          "}",
          8);
}

static void memory_and_gangs(void **state)
{
    (void)state;
    check("%u0.4:i64 = load @3[0]\n"
          "for_all %a1.5:i64 < 8 {\n"
          "%u1.6:i64 = load @1[%1]  %v.7:i64 = load @1[%5]  %u2.8:i64 = load @3[%4]  %v2.9:i64 = load @4[0]\n"
          "%v3.10:i64 = atomic add @2[0], 1  %u3.11:i64 = count true  for %u4.12:i64 = 0 to %11 { }\n"
          "}",
          9);
}

static void selects_follow_their_condition(void **state)
{
    (void)state;
    check("for_all %a1.4:i64 < 8 {\n"
          "%a1b.5:i64 = add %4, 9  %a2.6:i64 = add %4, %4  %v.7:bool = lt %4, 3\n"
          "%a1c.8:i64 = select %2, %4, %5  %s.9:i64 = select %2, %4, %6  %s2.10:i64 = select %2, %4, 3\n"
          "%v2.11:i64 = select %7, 1, 2  %u.12:i64 = select %2, 1, %1\n"
          "}",
          9);
}

static void variables_join_what_is_set(void **state)
{
    (void)state;
    check("for_all %a1.4:i64 < 8 {\n"
          "%u.5:i64 = var 0  set %5 = %1\n"
          "%a1b.6:i64 = var %4  %x.7:i64 = add %4, 3  set %6 = %7\n"
          "%s.8:i64 = var %4  set %8 = 0\n"
          "%v.9:i64 = var 0  %v2.10:bool = lt %4, 3  if %10 { set %9 = 1 }\n"
          "%u2.11:i64 = var 0  if %2 { set %11 = 1 }\n"
          "if %10 { %u3.12:i64 = var 0  set %12 = 1 }\n"
          "%v3.13:f32 = var 0.0:f32  if %10 { } else { set %13 = 1.0:f32 }\n"
          "}",
          9);
}

/* The counter of a loop that all lanes leave together is uniform; of one left one by one it is not. */
static void loops_diverge_by_their_exit(void **state)
{
    (void)state;
    check("for_all %a1.4:i64 < 8 {\n"
          "%u.5:i64 = var 0  loop { %u1.6:bool = ge %5, %1  break_if %6  %u2.7:i64 = add %5, 1  set %5 = %7 }\n"
          "%v.8:i64 = var 0  loop { %v1.9:bool = ge %8, %4  break_if %9  %v2.10:i64 = add %8, 1  set %8 = %10\n"
          "    %u3.11:i64 = var 0  set %11 = %1 }\n"
          "%s.12:i64 = var %4  for %u4.13:i64 = 0 to 9 { %s1.14:i64 = add %12, %4  set %12 = %14 }\n"
          "%a1b.15:i64 = var %4  for %u5.16:i64 = 0 to 9 { %a1c.17:i64 = add %15, 2  set %15 = %17 }\n"
          "}",
          14);
}

/* A divergent loop inside makes what is set around it varying only where lanes are apart. */
static void divergence_ends_with_its_statement(void **state)
{
    (void)state;
    check("for_all %a1.4:i64 < 8 {\n"
          "%u.5:i64 = var 0\n"
          "loop {\n"
          "    %x.6:i64 = var 0\n"
          "    loop { %x.7:bool = ge %6, %4  break_if %7  %x.8:i64 = add %6, 1  set %6 = %8 }\n"
          "    %u1.9:i64 = add %5, 1  set %5 = %9\n"
          "    %u2.10:bool = ge %5, 10  break_if %10\n"
          "}\n"
          "%u3.11:i64 = count true\n"
          "}",
          5);
}

/* Each variable is set from the next one, which costs a pass each: after some passes the rest is given up, soundly. */
static void long_chains_of_variables_end(void **state)
{
    enum { LENGTH = 200 };
    arena a;
    k_builder b;
    k_val v[LENGTH];
    (void)state;
    arena_init(&a, NULL);
    kernel *k = k_new(&a, "chain", 8);
    k_begin(&b, k);
    k_val lane = k_for_all(&b, k_i64(&b, 8)), last = k_i64(&b, 9);
    for (unsigned i = 0; i < LENGTH; i++)
        v[i] = k_decl(&b, k_i64(&b, 0), "v");
    k_for(&b, k_i64(&b, 0), last, false);
    for (unsigned i = 0; i + 1 < LENGTH; i++)
        k_set(&b, v[i], v[i + 1]);
    k_set(&b, v[LENGTH - 1], k_let(&b, OP_MUL, lane, lane, 0));
    k_end(&b);
    k_end(&b);
    k_analyse(k);
    for (unsigned i = 0; i < LENGTH; i++)
        assert_int_equal(k->value.at[v[i]].shape, K_VARYING);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(affine_arithmetic),
        cmocka_unit_test(narrow_integers_and_floats_vary),
        cmocka_unit_test(memory_and_gangs),
        cmocka_unit_test(selects_follow_their_condition),
        cmocka_unit_test(variables_join_what_is_set),
        cmocka_unit_test(loops_diverge_by_their_exit),
        cmocka_unit_test(divergence_ends_with_its_statement),
        cmocka_unit_test(long_chains_of_variables_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
