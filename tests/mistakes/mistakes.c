/* Mistakes that a compiler must find: for mistakes.sh. Behind each stands what its error must say, in C and C++, or in
 * one of them, where the other one does not get the line. No other line has errors. */
#include <sinter/sinter.h>

struct point {
    float x, y;
};
extern float numbers[3];
extern const float fixed[3];
extern char letters[3];
extern struct point points[3];
extern int64_t bytes[9];
extern sn_acc array, other;
extern sn_scalar scalar;
extern sn_context *cx;
sn_acc of_arrays(sn_acc a);
sn_acc of_many(sn_acc a, sn_acc b, sn_acc c, sn_acc d, sn_acc e, sn_acc f, sn_acc g);
sn_scalar of_ten(sn_scalar a, sn_scalar b, sn_scalar c, sn_scalar d, sn_scalar e, sn_scalar f, sn_scalar g, sn_scalar h,
                 sn_scalar i, sn_scalar j);
void mistakes(void);
/* clang-format off: mistakes are one line each */

void mistakes(void)
{
    /* extents */
    (void)sn_in(numbers); //C: sn_in(pointer, extents...) needs at least one extent; a single value is sn_value
    (void)sn_into(numbers); //C: sn_into(pointer, extents...) needs at least one extent; a single value is sn_value
    (void)sn_in(&numbers[0]); //C++: a pointer needs at least one extent, as in sn_in(pointer, n)
    (void)sn_into((short *)0); //C++: a pointer needs at least one extent, as in sn_in(pointer, n)
    (void)sn_structs(points); //: sn_structs(pointer, extents...) needs at least one extent; a single struct is sn_struct
    (void)sn_use((double *)0); //C: sn_use(pointer, extents...) needs at least one extent; an array of a single value is sn_unit
    (void)sn_use((double *)0); //C++: a pointer needs at least one extent, as in sn_in(pointer, n)
    (void)sn_in(numbers, 1, 2, 3, 4, 5, 6, 7, 8, 9); //: at most 8 extents
    /* memory */
    (void)sn_upto(fixed, 3, bytes); //: results are written, but the pointer is one to const
    (void)sn_into(fixed, 3); //: results are written, but the pointer is one to const
    (void)sn_upto(points, 3, bytes); //C: the pointer is one to bool, int8_t to int64_t, uint8_t to uint64_t, float
    (void)sn_in(letters, 3); //: the pointer is one to bool, int8_t to int64_t, uint8_t to uint64_t, float
    (void)sn_value((struct point *)points); //: the pointer is one to bool, int8_t to int64_t, uint8_t to uint64_t, float
    (void)sn_struct(numbers); //: one to numbers: sn_in, sn_into or sn_value
    (void)sn_strided((void **)0, 1, bytes, bytes); //: the pointer is one to bool, int8_t to int64_t
    /* operands */
    (void)sn_neg(array); //: needs a scalar or a number; sn_map and sn_zip_with reach elements of arrays
    (void)sn_add(scalar, letters); //: needs a scalar or a number
    (void)sn_add(scalar, (void *)0); //: needs a scalar or a number
    (void)sn_mul(scalar, points[0]); //: needs a scalar or a number
    (void)sn_fill(3, &points[0]); //: needs a scalar or a number
    /* arrays */
    (void)sn_map(sn_neg, scalar); //: here belongs an array; sn_unit(x) makes one of a scalar
    (void)sn_sum(numbers); //: here belongs an array; sn_unit(x) makes one of a scalar
    (void)sn_zip_with(sn_add, array, 3); //: here belongs an array; sn_unit(x) makes one of a scalar
    (void)sn_fold(sn_add, 0, 3u); //: here belongs an array; sn_unit(x) makes one of a scalar
    (void)sn_scanl(sn_add, scalar, numbers); //C: here belongs an array; sn_unit(x) makes one of a scalar
    (void)sn_pack(array, scalar); //C: here belongs an array; sn_unit(x) makes one of a scalar
    (void)sn_results(array, 1.0f); //: here belongs an array; sn_unit(x) makes one of a scalar
    (void)sn_fst(3); //C: here belongs a tuple or an array of them
    /* functions */
    (void)sn_map(of_arrays, array); //: here belongs a scalar function
    (void)sn_map(3, array); //: here belongs a scalar function
    (void)sn_filter(of_arrays, array); //C: here belongs a scalar function
    (void)sn_scanr_x(3, scalar, array, &other); //C: here belongs a scalar function
    (void)sn_sort_by(3, array); //C: here belongs a scalar function
    (void)sn_sort(scalar); //C: here belongs an array; sn_unit(x) makes one of a scalar
    (void)sn_map(of_ten, array); //: here belongs a scalar function
    (void)sn_compile(cx, "f32 -> f32", of_ten); //: here belongs a function of
    (void)sn_compile(cx, "f32 -> f32", of_many); //: here belongs a function of
    (void)sn_closure(of_ten, &scalar); //C: here belongs sn_scalar f(void *env, sn_scalar, ...)
    (void)sn_map([](int x, char *y) { return x; }, array);               //C++: here belongs a scalar function, of 1 to 9
    (void)sn_fold([](sn_acc x, sn_acc) { return x; }, 0, array);         //C++: here belongs a scalar function, of 1 to 9
    (void)sn_generate(3, [=](sn_scalar *x) { return scalar; });          //C++: here belongs a scalar function, of 1 to 9
    (void)sn_iterate(3, [](sn_scalar) {}, 1);                            //C++: a scalar function returns an sn_scalar or
    (void)sn_loop(3, [&](sn_scalar, sn_scalar) { return array; }, 1);    //C++: a scalar function returns an sn_scalar or
    (void)sn_compile(cx, "f32 -> f32", [](float x) { return x; });       //C++: here belongs a function of
    (void)sn_compile(cx, "f32 -> f32", [](sn_acc a) { return sn_the(a); }); //C++: returns an sn_acc; sn_unit(x) makes one
    /* lists */
    (void)sn_tuple(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17); //: at most 16 are possible here
    (void)sn_at(scalar); //: expected
    (void)sn_zip_with(sn_add); //C: expected expression
    (void)sn_zip_with(sn_add); //C++: here belongs at least one array
    /* C's own words for C's own operators */
    if (scalar) //C: scalar
        return;
    if (scalar < scalar) //C: binary
        return;
}
