#include "support/code_programs.h"

#define V "extents n x = input [n]f32 "
#define M "extents n, m x = input [n, m]f32 "
#define ADD " {a: f32, b: f32 -> a + b} "
#define MUL " {a: f32, b: f32 -> a * b} "

const code_program code_programs[] = {
    /* elements, each for itself */
    {"map", V "y = map x {a: f32 -> a * a + 1.0f32} output y"},
    {"map of bytes", "extents n x = input [n]u8 y = map x {a: u8 -> a + 1u8} output y"},
    {"map of doubles and integers", "extents n x = input [n]f64 k = input [n]i32 "
                                    "y = map x, k {a: f64, b: i32 -> a / f64(b), b * b} output y"},
    {"math", V "y = map x {a: f32 -> exp(a) + sqrt(a)} output y"},
    {"indices", M "y = map indexed x {i: i64, j: i64, a: f32 -> a * f32(i) + f32(j)} output y"},
    {"three dimensions",
     "extents n, m x = input [n, m, 8]f32 y = map indexed x {i: i64, j: i64, k: i64, a: f32 -> a + f32(j)} "
     "output y"},
    {"transpose", M "t = backpermute safe [m, n] x {i: i64, j: i64 -> j, i} y = map t {a: f32 -> a + 1.0f32} output y"},
    {"reverse", V "y = backpermute safe [n] x {i: i64 -> n - 1 - i} z = map y, x" ADD "output z"},
    {"rotate", V "y = backpermute [n] x {i: i64 -> mod(i + 3, n)} z = map y, x" ADD "output z"},
    {"period", V "p = input [16]f32 y = backpermute safe [n] p {i: i64 -> mod(i, 16)} z = map y, x" ADD "output z"},
    {"outer product", "extents n, m x = input [n]f32 y = input [m]f32 "
                      "r = backpermute safe [n, m] x {i: i64, j: i64 -> i} "
                      "c = backpermute safe [n, m] y {i: i64, j: i64 -> j} z = map r, c" MUL "output z"},
    {"gather", V "k = input [n]i64 y = map k {i: i64 -> x[i]} output y"},
    {"every other", V "y = generate [quot(n, 2)] {i: i64 -> x[2 * i] + x[2 * i + 1]} output y"},
    {"concatenation", "extents n, m x = input [n]f32 y = input [m]f32 "
                      "z = generate [n + m] {i: i64 -> if i < n then x[i] else y[i - n]} output z"},
    {"rows side by side",
     "extents n, m x = input [n, m]f32 y = input [n, m]f32 "
     "z = generate [n, m + m] {i: i64, j: i64 -> if j < m then x[i, j] else y[i, j - m]} output z"},
    {"checked reads", V "y = generate [n] {i: i64 -> if i < 2 then 0.0f32 else x[i - 2] / x[i]} output y"},
    {"two results", V "y = map x {a: f32 -> a * 2.0f32, i32(a)} output y"},
    {"rounds", V "y = map x {a: f32 l = for (k < 20; z = 0.0f32) { next z * z + a } -> l.0} output y"},
    {"until", M "y = map indexed x {i: i64, j: i64, a: f32 "
                "l = while (z = 0.0f32, k = 0) { c = z * z + a test z < 4.0f32 && k < 50 next c + f32(j), k + 1 } -> "
                "l.1} output y"},
    {"rounds along rows",
     M "y = generate [n] {i: i64 l = for (j < m; s = 0.0f32) { next s + x[safe i, j] } -> l.0} output y"},
    {"sparse rows", "extents n, m k = input [n]i64 x = input [m]f32 "
                    "y = generate [n] {i: i64 l = for (j < k[safe i]; s = 0.0f32) { next s + x[j] } -> l.0} output y"},
    {"all pairs", "extents n, m x = input [n, 4]f32 y = input [m, 4]f32 z = generate [n, m] {i: i64, j: i64 "
                  "l = for (k < 4; s = 0.0f32) { d = x[safe i, k] - y[safe j, k] next s + d * d } -> l.0} output z"},
    {"across rows", M "y = generate [m, n] {i: i64, j: i64 -> x[j, i] + x[j, 0]} output y"},
    {"neighbours", M "y = generate [n, m] {i: i64, j: i64 -> x[max(i - 1, 0), j] + x[i, max(j - 1, 0)]} output y"},
    /* stencils */
    {"moving average", V "y = stencil x pattern 3 clamp {a: f32, b: f32, c: f32 -> a + b + c} output y"},
    {"along columns", M "y = stencil x pattern 3 x 1 mirror {a: f32, b: f32, c: f32 -> a + b * c} output y"},
    {"along rows",
     M "y = stencil x pattern 1 x 5 constant (0.0f32) {a: f32, b: f32, c: f32, d: f32, e: f32 -> a + b + c + d + e} "
       "output y"},
    {"nine points",
     M "y = stencil x pattern 3 x 3 wrap {a: f32, b: f32, c: f32, d: f32, e: f32, f: f32, g: f32, h: f32, i: f32 -> "
       "a + b + c + d + e + f + g + h + i} output y"},
    {"nine bytes",
     "extents n, m x = input [n, m]u8 y = stencil x pattern 3 x 3 clamp {a: u8, b: u8, c: u8, d: u8, e: u8, f: u8, "
     "g: u8, h: u8, i: u8 -> max(max(a, b) + c, d + e + f + g + h + i)} output y"},
    {"stencil of a stencil", M "y = stencil x pattern 3 x 1 clamp {a: f32, b: f32, c: f32 -> a + b * c} "
                               "z = stencil y pattern 1 x 3 clamp {a: f32, b: f32, c: f32 -> a - b * c} output z"},
    {"cube", "extents n, m x = input [n, m, m]f32 y = stencil x pattern 3 x 1 x 1 clamp {a: f32, b: f32, c: f32 -> a + "
             "b + c} output y"},
    {"stencil with a function",
     M "y = stencil x pattern 3 x 1 function {i: i64, j: i64 -> f32(i)} {a: f32, b: f32, c: f32 -> a + c} output y"},
    /* folds */
    {"sum", V "y = fold commutes x seed 0.0f32" ADD "output y"},
    {"sum of doubles", "extents n x = input [n]f64 y = fold commutes x seed 0.0f64 {a: f64, b: f64 -> a + b} output y"},
    {"sum of bytes", "extents n x = input [n]u8 c = map x {a: u8 -> i32(a)} y = fold commutes c seed 0i32 {a: i32, b: "
                     "i32 -> a + b} output y"},
    {"sums of rows of bytes", "extents n, m x = input [n, m]u8 c = map x {a: u8 -> i64(a)} y = fold commutes c seed 0 "
                              "{a: i64, b: i64 -> a + b} output y"},
    {"scalar product of short integers",
     "extents n x = input [n]i16 y = input [n]i16 p = map x, y {a: i16, b: i16 -> i32(a) * i32(b)} z = fold commutes p "
     "seed 0i32 {a: i32, b: i32 -> a + b} output z"},
    {"least byte", "extents n x = input [n]u8 y = fold commutes x {a: u8, b: u8 -> min(a, b)} output y"},
    {"count", V "c = map x {a: f32 -> i64(a > 0.5f32)} y = fold commutes c seed 0 {a: i64, b: i64 -> a + b} output y"},
    {"sum and greatest", V "p = map x {a: f32 -> a, a * a} "
                           "y = fold commutes p {a: f32, b: f32, c: f32, d: f32 -> max(a, c), b + d} output y"},
    {"two folds", V "y = fold commutes x" ADD "q = map x {a: f32 -> a * a} z = fold commutes q" ADD "output y, z"},
    {"in order",
     V "p = map x {a: f32 -> a, 2.0f32} y = fold p {a: f32, b: f32, c: f32, d: f32 -> a * d + c, b * d} output y"},
    {"scalar product",
     "extents n x = input [n]f32 y = input [n]f32 p = map x, y" MUL "z = fold commutes p seed 0.0f32" ADD "output z"},
    {"sums of rows", M "y = fold commutes x seed 0.0f32" ADD "output y"},
    {"sums of columns",
     M "t = backpermute safe [m, n] x {i: i64, j: i64 -> j, i} y = fold commutes t seed 0.0f32" ADD "output y"},
    {"rows in order",
     M "p = map x {a: f32 -> a, 2.0f32} y = fold p {a: f32, b: f32, c: f32, d: f32 -> a * d + c, b * d} output y"},
    {"columns in order", M "t = backpermute safe [m, n] x {i: i64, j: i64 -> j, i} p = map t {a: f32 -> a, 2.0f32} "
                           "y = fold p {a: f32, b: f32, c: f32, d: f32 -> a * d + c, b * d} output y"},
    {"middle dimension",
     "extents n, m x = input [n, m, 8]f32 t = backpermute safe [n, 8, m] x {i: i64, j: i64, k: i64 -> i, k, j} "
     "y = fold commutes t seed 0.0f32" ADD "output y"},
    {"short rows", "extents n x = input [n, 7]f32 y = fold commutes x seed 0.0f32" ADD "output y"},
    {"best", V "i = map indexed x {i: i64, v: f32 -> v, i} "
               "y = fold commutes i {a: f32, b: i64, c: f32, d: i64 -> if a >= c then a else c, if a >= c then b else "
               "d} output y"},
    {"best of rows", M "i = map indexed x {i: i64, j: i64, v: f32 -> v, j} "
                       "y = fold commutes i {a: f32, b: i64, c: f32, d: i64 -> if a >= c then a else c, if a >= c then "
                       "b else d} output y"},
    {"best of columns",
     M "t = backpermute safe [m, n] x {i: i64, j: i64 -> j, i} i = map indexed t {i: i64, j: i64, v: f32 -> v, j} "
       "y = fold commutes i {a: f32, b: i64, c: f32, d: i64 -> if a <= c then a else c, if a <= c then b else d} "
       "output y"},
    {"windows",
     V "w = backpermute [n - 8, 9] x {i: i64, j: i64 -> i + j} y = fold commutes w seed 0.0f32" ADD "output y"},
    {"matrix product", "extents n, m a = input [n, m]f32 b = input [m, n]f32 "
                       "r = backpermute safe [n, n, m] a {i: i64, j: i64, k: i64 -> i, k} "
                       "c = backpermute safe [n, n, m] b {i: i64, j: i64, k: i64 -> k, j} "
                       "p = map r, c" MUL "y = fold commutes p seed 0.0f32" ADD "output y"},
    {"matrix by vector",
     "extents n, m a = input [n, m]f32 x = input [m]f32 r = backpermute safe [n, m] x {i: i64, j: i64 -> j} "
     "p = map a, r" MUL "y = fold commutes p seed 0.0f32" ADD "output y"},
    {"sum of a stencil",
     M "s = stencil x pattern 3 x 3 clamp {a: f32, b: f32, c: f32, d: f32, e: f32, f: f32, g: f32, h: f32, i: f32 -> "
       "a + b + c + d - e - f - g - h - i} y = fold commutes s seed 0.0f32" ADD "output y"},
    /* loops along rows */
    {"softmax",
     M "t = fold commutes x {a: f32, b: f32 -> max(a, b)} tt = backpermute safe [n, m] t {i: i64, j: i64 -> i} "
       "e = map x, tt {a: f32, b: f32 -> exp(a - b)} s = fold commutes e seed 0.0f32" ADD
       "ss = backpermute safe [n, m] s {i: i64, j: i64 -> i} y = map e, ss {a: f32, b: f32 -> a / b} output y"},
    {"less the mean", V "s = fold commutes x seed 0.0f32" ADD "y = map x {a: f32 -> a - s[]} output y"},
    {"scan", V "y = scan x" ADD "output y"},
    {"scan from the right", V "y = scan exclusive right x seed 0.0f32" ADD "output y"},
    {"scans of rows", M "y = scan x" ADD "output y"},
    {"scans of columns", M "t = backpermute safe [m, n] x {i: i64, j: i64 -> j, i} y = scan t" ADD "output y"},
    {"pack", V "k = map x {a: f32 -> a > 0.0f32} y = pack k, x output y"},
    {"pack of a scan",
     V "s = scan x" ADD "k = map s {a: f32 -> a > 0.0f32} y = pack k, s z = fold commutes s" ADD "output y, z"},
    /* what moves elements */
    {"sort by keys", "extents n x = input [n](u32, f32) y = sort keys 1 x output y"},
    {"merge", "extents n x = input [n](u32, f32) y = sort runs keys 1 x output y"},
    {"merge by comparison", V "y = sort runs x {a: f32, b: f32 -> a > b} output y"},
    {"sort of bytes", "extents n x = input [n]u8 y = sort keys 1 x output y"},
    {"sort by comparison", V "y = sort x {a: f32, b: f32 -> a > b} output y"},
    {"sorts of rows", "extents n, m x = input [n, m]i32 y = sort keys 1 x output y"},
    {"histogram", "extents n, m d = input [m]i32 k = input [n]i64 o = generate [n] {i: i64 -> 1i32} "
                  "y = permute d, k, o {a: i32, b: i32 -> a + b} output y"},
    {"sums by places",
     "extents n, m d = input [m]f32 k = input [n]i64 x = input [n]f32 y = permute d, k, x" ADD "output y"},
    {"greatest by places", "extents n, m d = input [m]i32 k = input [n]i64 x = input [n]i32 "
                           "y = permute d, k, x {a: i32, b: i32 -> max(a, b)} output y"},
    {"scatter", "extents n, m d = input [m]f32 k = input [n]i64 x = input [n]f32 y = permute d, k, x {a: f32, b: f32 "
                "-> b} output y"},
};

const size_t code_programs_n = sizeof(code_programs) / sizeof(*code_programs);
