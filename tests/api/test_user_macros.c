/* Programs define macros with short names before they include anything, `#define N 1000` above all: the library's own
 * macros must not read these. */
#define N 7
#define M 5
#define I 1
#define T 3
#define MANY 2
#define ONE 1
#define MAX 9
#define MIN 8
#define SIZE 4
#define COUNT 6
#define TYPE int
#define IN 1
#define OUT 2
#define UNUSED
#define CHECK(x) (x)
#define SUM(a, b) ((a) + (b))

#include <sinter/sinter.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct pair {
    float x, y;
};

static sn_scalar plus(sn_scalar a, sn_scalar b)
{
    return sn_add(a, b);
}

static sn_scalar at(void *env, sn_scalar i, sn_scalar j)
{
    sn_acc x = *(sn_acc *)env;
    return sn_add(sn_index(x, i, j), sn_if(sn_lt(j, 2), (float)N, (float)M));
}

static sn_acc whole(sn_acc x)
{
    return sn_generate(sn_shape(sn_extent(x, 0), sn_extent(x, 1)), sn_closure(at, &x));
}

static sn_scalar row(void *env, sn_scalar i)
{
    return sn_sfold(plus, 0.0f, *(sn_acc *)env, i);
}

static sn_acc rows(sn_acc x)
{
    return sn_generate(sn_shape(sn_extent(x, 0)), sn_closure(row, &x));
}

static sn_scalar all(void *env, sn_scalar i)
{
    return sn_add(sn_to_f32(i), sn_sfold(plus, 0.0f, *(sn_acc *)env));
}

static sn_acc sums(sn_acc x)
{
    return sn_generate(sn_shape(N), sn_closure(all, &x));
}

static sn_scalar swapped(sn_scalar p)
{
    return sn_tuple(sn_snd(p), sn_fst(p));
}

static sn_acc pairs(sn_acc x)
{
    return sn_map(swapped, x);
}

static void short_names(void **state)
{
    (void)state;
    sn_context *cx = sn_open(NULL);
    float x[N][M], y[N][M], z[N];
    struct pair p[N], q[N];
    for (int i = 0; i < N; i++) {
        p[i] = (struct pair){(float)i, (float)-i};
        for (int j = 0; j < M; j++)
            x[i][j] = (float)(i * M + j);
    }
    sn_program *program = sn_compile(cx, "[n,m]f32 -> [n,m]f32", whole);
    assert_int_equal(sn_call(program, sn_in(x[0], N, M), sn_into(y[0], N, M)), SN_OK);
    assert_true(y[2][1] == 2 * M + 1 + N && y[6][4] == 6 * M + 4 + M);
    sn_drop(program);
    program = sn_compile(cx, "[n,m]f32 -> [n]f32", rows);
    assert_int_equal(sn_call(program, sn_in(x[0], N, M), sn_into(z, N)), SN_OK);
    assert_true(z[1] == 35);
    sn_drop(program);
    program = sn_compile(cx, "[m]f32 -> [7]f32", sums);
    assert_int_equal(sn_call(program, sn_in(x[0], M), sn_into(z, N)), SN_OK);
    assert_true(z[3] == 13);
    sn_drop(program);
    program = sn_compile(cx, "[n](f32,f32) -> [n](f32,f32)", pairs);
    assert_int_equal(sn_call(program, sn_structs(p, N), sn_structs(q, N)), SN_OK);
    assert_true(q[3].x == -3 && q[3].y == 3);
    sn_drop(program);
    assert_int_equal(sn_check_operator(cx, "i32", plus, sn_value(&(int32_t){0})), SN_OK);
    assert_int_equal(sn_check_operator(cx, "i32", plus), SN_OK);
    sn_close(cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(short_names)};
    return cmocka_run_group_tests_name("user_macros", tests, NULL, NULL);
}
