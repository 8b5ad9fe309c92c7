/* Matrices of the Matrix Market, and what the example makes of them, against plain C. */
#include "common/matrix_market.h"
#include "programs/sparse.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int open_context(void **state)
{
    *state = sn_open(NULL);
    return *state ? 0 : -1;
}

static int close_context(void **state)
{
    sn_close(*state);
    return 0;
}

static void times(const matrix_market *m, const double *x, double *y)
{
    for (int64_t r = 0; r < m->rows; r++) {
        y[r] = 0;
        for (int64_t e = m->row[r]; e < m->row[r + 1]; e++)
            y[r] += m->value[e] * x[m->column[e]];
    }
}

static bool read_text(const char *text, matrix_market *out)
{
    const char *folder = getenv("SINTER_TEST_DIR");
    char path[512];
    snprintf(path, sizeof(path), "%s/matrix.mtx", folder ? folder : ".");
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    bool good = matrix_market_read(path, out);
    remove(path);
    return good;
}

static void files(void **state)
{
    (void)state;
    matrix_market m;
    assert_true(read_text("%%MatrixMarket matrix coordinate real symmetric\n% of three\n\n3 3 4\n1 1 2.5\n2 1 -1\n"
                          "3 3 4\n3 2 1e1\n",
                          &m));
    const int64_t row[] = {0, 2, 4, 6};
    const int32_t column[] = {0, 1, 0, 2, 2, 1};
    const double value[] = {2.5, -1, -1, 10, 4, 10};
    assert_true(m.symmetric && m.rows == 3 && m.columns == 3 && m.elements == 6);
    assert_memory_equal(m.row, row, sizeof(row));
    assert_memory_equal(m.column, column, sizeof(column));
    for (int i = 0; i < 6; i++)
        assert_true(m.value[i] == value[i]);
    matrix_market_free(&m);
    assert_true(read_text("%%MatrixMarket matrix coordinate pattern general\n2 5 1\n2 5\n", &m));
    assert_true(!m.symmetric && m.elements == 1 && m.row[1] == 0 && m.row[2] == 1 && m.column[0] == 4);
    assert_true(m.value[0] == 1);
    matrix_market_free(&m);
    static const char *const wrong[] = {"",
                                        "%%MatrixMarket matrix array real general\n",
                                        "%%MatrixMarket matrix coordinate complex general\n1 1 0\n",
                                        "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n",
                                        "%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1\n",
                                        "%%MatrixMarket matrix coordinate real general\n2 2 1\n0 1 1\n",
                                        "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1\n",
                                        "%%MatrixMarket matrix coordinate real symmetric\n2 3 0\n",
                                        "%%MatrixMarket matrix coordinate real general\n-1 2 0\n"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        assert_false(read_text(wrong[i], &m));
        matrix_market_free(&m);
    }
}

static void product(void **state)
{
    matrix_market m;
    assert_true(matrix_market_read("data/bcsstk13.mtx", &m));
    assert_true(m.rows == 2003 && m.elements == 83883);
    double *x = malloc((size_t)m.rows * 8), *y = malloc((size_t)m.rows * 8), *expected = malloc((size_t)m.rows * 8);
    for (int64_t i = 0; i < m.rows; i++)
        x[i] = sin((double)i);
    times(&m, x, expected);
    sn_program *p = sn_compile(*state, SPARSE_TIMES_SIGNATURE, sparse_times);
    assert_non_null(p);
    assert_int_equal(sn_call(p, sn_in(m.row, m.rows + 1), sn_in(m.column, m.elements), sn_in(m.value, m.elements),
                             sn_in(x, m.rows), sn_into(y, m.rows)),
                     SN_OK);
    for (int64_t r = 0; r < m.rows; r++) {
        double size = 0;
        for (int64_t e = m.row[r]; e < m.row[r + 1]; e++)
            size += fabs(m.value[e] * x[m.column[e]]);
        assert_true(fabs(y[r] - expected[r]) <= 1e-14 * size);
    }
    sn_drop(p);
    free(x), free(y), free(expected);
    matrix_market_free(&m);
}

/* A chain of springs: 2 on the diagonal, -1 beside it, and one more at each end. */
static void solution(void **state)
{
    enum { N = 500, ROUNDS = 120 };
    static int64_t row[N + 1];
    static int32_t column[3 * N];
    static double value[3 * N], diagonal[N], b[N], x[N], product_of_x[N];
    static bool rounds[ROUNDS];
    int64_t e = 0;
    for (int i = 0; i < N; i++) {
        for (int k = i - 1; k <= i + 1; k++)
            if (k >= 0 && k < N) {
                column[e] = k;
                value[e++] = k == i ? 2.5 : -1;
            }
        row[i + 1] = e;
        diagonal[i] = 2.5;
        b[i] = cos(i);
    }
    double left = -1;
    sn_program *p = sn_compile(*state, SPARSE_SOLVE_SIGNATURE, sparse_solve);
    if (!p)
        fail_msg("%s", sn_message(*state));
    if (sn_call(p, sn_in(row, N + 1), sn_in(column, e), sn_in(value, e), sn_in(diagonal, N), sn_in(b, N),
                sn_in(rounds, ROUNDS), sn_into(x, N), sn_value(&left)) != SN_OK)
        fail_msg("%s", sn_message(*state));
    times(&(matrix_market){.rows = N, .row = row, .column = column, .value = value}, x, product_of_x);
    for (int i = 0; i < N; i++)
        assert_true(fabs(product_of_x[i] - b[i]) < 1e-9);
    assert_true(left >= 0 && left < 1e-16);
    sn_drop(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files),
        cmocka_unit_test(product),
        cmocka_unit_test(solution),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
