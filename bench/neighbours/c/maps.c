#include "c.h"

#define AXPY(T)                                                                                                        \
    C(axpy_##T)                                                                                                        \
    {                                                                                                                  \
        T a = VALUE(T, 0);                                                                                             \
        IN(T, x, 1);                                                                                                   \
        IN(T, y, 2);                                                                                                   \
        OUT(T, z, 0);                                                                                                  \
        int64_t n = SIZE;                                                                                              \
        PARALLEL_FOR                                                                                                   \
        FOR (i, n)                                                                                                     \
            z[i] = (T)(a * x[i] + y[i]);                                                                               \
    }
AXPY(f32)
AXPY(f64)
AXPY(i64)
AXPY(i32)
AXPY(i16)
AXPY(u8)

#define AXPY_TWO(T)                                                                                                    \
    C(axpy_two_##T)                                                                                                    \
    {                                                                                                                  \
        T a = VALUE(T, 0);                                                                                             \
        IN(T, x, 1);                                                                                                   \
        IN(T, y, 2);                                                                                                   \
        OUT(T, z, 0);                                                                                                  \
        OUT(T, w, 1);                                                                                                  \
        int64_t n = SIZE;                                                                                              \
        PARALLEL_FOR                                                                                                   \
        FOR (i, n) {                                                                                                   \
            z[i] = a * x[i] + y[i];                                                                                    \
            w[i] = x[i] - a * y[i];                                                                                    \
        }                                                                                                              \
    }
AXPY_TWO(f32)
AXPY_TWO(f64)

MAP1(convert_u8_f32, u8, f32, x[i])
MAP1(convert_f32_u8, f32, u8, (i32)(x[i] * 255))
MAP1(convert_i16_f64, i16, f64, x[i])
MAP1(convert_i64_i32, i64, i32, x[i])
MAP3(grey_u8, u8, u8, u8, u8, (x[i] * 77 + y[i] * 150 + w[i] * 29) >> 8)
MAP2(saturate_u8, u8, u8, u8, MIN(x[i] + y[i], 255))
MAP2(mean_u8, u8, u8, u8, (x[i] + y[i] + 1) >> 1)
/* Both are loaded, whatever the condition: else gcc branches. */
#define SELECT(T)                                                                                                      \
    C(select_##T)                                                                                                      \
    {                                                                                                                  \
        IN(T, x, 0);                                                                                                   \
        IN(T, y, 1);                                                                                                   \
        IN(T, w, 2);                                                                                                   \
        OUT(T, z, 0);                                                                                                  \
        int64_t n = SIZE;                                                                                              \
        PARALLEL_FOR                                                                                                   \
        FOR (i, n) {                                                                                                   \
            T a = y[i], b = w[i];                                                                                      \
            z[i] = x[i] > 0 ? a : b;                                                                                   \
        }                                                                                                              \
    }
SELECT(f32)
SELECT(i16)
MAP2(less_f32, f32, f32, b8, x[i] < y[i])
MAP1(quotient_7_i32, i32, i32, x[i] / 7)
MAP2(quotients_i32, i32, i32, i32, x[i] / y[i])
MAP1(mod_10_u8, u8, u8, x[i] % 10)
MAP1(popcount_u32, u32, i32, __builtin_popcount(x[i]))

#define POLYNOMIAL(T)                                                                                                  \
    MAP1(polynomial_##T, T, T,                                                                                         \
         ((((((((T)0.5 * x[i] + (T)-0.25) * x[i] + (T)0.125) * x[i] + 1) * x[i] - 2) * x[i] + (T)0.75) * x[i] + 3) *   \
              x[i] +                                                                                                   \
          1))
POLYNOMIAL(f32)
POLYNOMIAL(f64)

MAP1(pow_2_f32, f32, f32, x[i] * x[i])
MAP1(pow_3_f32, f32, f32, x[i] * x[i] * x[i])
MAP1(pow_half_f32, f32, f32, sqrtf(x[i]))
MAP1(pow_minus_1_f32, f32, f32, 1 / x[i])
MAP1(pow_2_5_f32, f32, f32, x[i] * x[i] * sqrtf(x[i]))
MAP1(pow_3_f64, f64, f64, x[i] * x[i] * x[i])
MAP1(pow_half_f64, f64, f64, sqrt(x[i]))
MAP2(powers_f32, f32, f32, f32, powf(x[i], y[i]))

MAP1(exp_f32, f32, f32, expf(x[i]))
MAP1(log_f32, f32, f32, logf(x[i]))
MAP1(sin_f32, f32, f32, sinf(x[i]))
MAP1(tanh_f32, f32, f32, tanhf(x[i]))
MAP1(atan_f32, f32, f32, atanf(x[i]))
MAP1(sigmoid_f32, f32, f32, 1 / (expf(-x[i]) + 1))
MAP1(exp_f64, f64, f64, exp(x[i]))
MAP1(log_f64, f64, f64, log(x[i]))
MAP1(sin_f64, f64, f64, sin(x[i]))

C(iota_squared_f32)
{
    f32 step = VALUE(f32, 0);
    OUT(f32, z, 0);
    i32 n = (i32)SIZE;
    PARALLEL_FOR
    for (i32 i = 0; i < n; i++) {
        f32 x = (f32)i * step;
        z[i] = x * x;
    }
}

C(times_index_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    i32 n = (i32)SIZE;
    PARALLEL_FOR
    for (i32 i = 0; i < n; i++)
        z[i] = x[i] * (f32)i;
}

C(times_indices_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    i32 n = (i32)E(0), m = (i32)E(1);
    PARALLEL_FOR
    for (i32 i = 0; i < n; i++)
        for (i32 j = 0; j < m; j++)
            z[(i64)i * m + j] = x[(i64)i * m + j] * (f32)(i + j);
}

MAP1(affine_f32, f32, f32, x[i] * 3 + 1)

/* An element of x for each (i, j), one of y by `index`. */
#define BROADCAST(name, T, expression)                                                                                 \
    C(name##_##T)                                                                                                      \
    {                                                                                                                  \
        IN(T, x, 0);                                                                                                   \
        IN(T, y, 1);                                                                                                   \
        OUT(T, z, 0);                                                                                                  \
        int64_t n = E(0), m = E(1);                                                                                    \
        PARALLEL_FOR                                                                                                   \
        FOR (i, n)                                                                                                     \
            FOR (j, m)                                                                                                 \
                z[i * m + j] = (T)(expression);                                                                        \
    }
#define ROW_AND_COLUMN(T)                                                                                              \
    BROADCAST(add_row, T, x[i * m + j] + y[j])                                                                         \
    BROADCAST(add_column, T, x[i * m + j] + y[i])
ROW_AND_COLUMN(f32)
ROW_AND_COLUMN(f64)
ROW_AND_COLUMN(u8)
BROADCAST(outer, f32, x[i] * y[j])

#define BROADCAST_3(name, index)                                                                                       \
    C(name)                                                                                                            \
    {                                                                                                                  \
        IN(f32, x, 0);                                                                                                 \
        IN(f32, y, 1);                                                                                                 \
        OUT(f32, z, 0);                                                                                                \
        int64_t n = E(0), m = E(1), l = E(2);                                                                          \
        PARALLEL_FOR_2                                                                                                 \
        FOR (i, n)                                                                                                     \
            FOR (j, m)                                                                                                 \
                FOR (k, l)                                                                                             \
                    z[(i * m + j) * l + k] = x[(i * m + j) * l + k] + y[index];                                        \
    }
BROADCAST_3(add_inner_f32, k)
BROADCAST_3(add_middle_f32, j)
BROADCAST_3(add_outer_f32, i)

C(over_largest_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = SIZE;
    f32 most = 0;
    PRAGMA(omp parallel for simd reduction(max : most) schedule(static))
    FOR (i, n) {
        f32 a = fabsf(x[i]);
        most = a > most ? a : most;
    }
    PARALLEL_FOR
    FOR (i, n)
        z[i] = x[i] / most;
}

MAP2(chain_f32, f32, f32, f32, sqrtf((x[i] + y[i]) * (x[i] + y[i]) + fabsf((x[i] + y[i]) * (x[i] - y[i]))))
