/* What mistakes.c does wrong, done right: compiles as C, as C++, and (but for the operands) without GNU C. */
#include <sinter/sinter.h>

struct point {
    float x, y;
};
enum colour { RED, GREEN };

extern float numbers[3];
extern const float fixed[3];
extern struct point points[3];
extern int64_t bytes[2];
extern sn_acc array, other;
extern const sn_acc constant;
extern sn_scalar scalar;
extern sn_context *cx;
sn_scalar with_env(void *env, sn_scalar x);
sn_acc of_arrays(sn_acc a, sn_acc b);
sn_acc of_any(void *env, int n, const sn_acc *a);
sn_arg right(int n, sn_arg *out);
void operands(sn_scalar *out);

static const sn_pattern pattern = {2, {3, 3, 0}};

sn_arg right(int n, sn_arg *out)
{
    const float *pointer = fixed;
    sn_program *p = sn_compile(cx, "[n]f32, [n]f32 -> [n]f32", of_arrays);
    out[0] = sn_in(numbers, 3);
    out[0] = sn_in(pointer, n, 2, 3, 4, 5, 6, 7, 8);
    out[1] = sn_into(numbers, n);
    out[1] = sn_into(&numbers[1], sizeof(numbers) / sizeof(*numbers) - 1);
    out[1] = sn_upto(numbers, 3, bytes);
    out[1] = sn_upto(&numbers[1], n, &bytes[1]);
    out[2] = sn_structs(points, 3);
    out[2] = sn_structs_upto(points, 3, bytes);
    out[3] = sn_struct(points);
    out[4] = sn_value(numbers);
    out[5] = sn_strided(&points[0].x, 1, bytes, bytes);
    (void)sn_call(p, out[0], sn_in(fixed, 3), out[1]);
    (void)sn_wait(sn_start(p, out[0], sn_in(fixed, 3), out[1]));
    sn_drop(p);
    sn_drop(sn_compile_env(cx, "[n]f32 -> [n]f32", of_any, NULL));
    (void)sn_map(sn_neg, sn_map(sn_closure(with_env, numbers), sn_use(numbers, 3)));
    (void)sn_zip_with(sn_commutative(sn_add), array, constant);
    (void)sn_fold1(sn_associative(sn_sub), array);
    (void)sn_results(array, other, sn_zip(array, other, array), sn_stencil(sn_neg, pattern, sn_clamp, array));
    (void)sn_scanl_x(sn_add, scalar, sn_filter(sn_not, array), NULL);
    (void)sn_pack(sn_partition(sn_not, array, &other), sn_scanr1(sn_associative(sn_sub), array));
    (void)sn_sort_by(sn_lt, sn_merge(sn_sort(array), sn_unique(sn_sort_descending(other))));
    (void)sn_group(array, sn_sort_by_key(array, other), &other, NULL);
    (void)sn_fold1(sn_add, sn_gather(array, sn_transpose(other)));
    (void)sn_fst(sn_zip(array, other));
    (void)sn_fst(scalar);
    return out[0];
}

#ifdef SN_LIFTING
void operands(sn_scalar *out)
{
    const sn_scalar same = scalar;
    enum colour colour = GREEN;
    const char letter = 'a';
    *out = sn_add(sn_mul(same, 2), sn_add(letter, 2.5f));
    *out = sn_if(true, sn_tuple(1, 2u, 3L, 4UL, 5LL, 6ULL, 7.0, (short)8, (unsigned char)9), scalar);
#ifndef __cplusplus
    *out = sn_add(*out, RED);
    *out = sn_add(*out, colour);
#else
    (void)colour;
#endif
    *out = sn_index(array, 1, sn_the(other));
    *out = sn_sfold(sn_add, 0, array, 1, 2);
    *out = sn_sfold(sn_add, 0, array);
    (void)sn_slice(array, 3, SN_ALL);
    (void)sn_replicate(sn_fill(sn_shape(2, 3), 1), SN_ALL, 3, SN_ALL);
}
#endif
