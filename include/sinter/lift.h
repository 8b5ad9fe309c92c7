/* Macro machinery of sinter.h: nothing here is meant to be called by name.
 *
 * - SN_HERE is the place of a call, for error messages.
 * - SN_FN(f) turns what a user may pass as a function (a C function of scalars, or an sn_fn) into an sn_fn.
 * - SN_LIFT(x) turns a C number into a literal and leaves an sn_scalar as it is. It must name its argument once:
 *   `_Generic((x), ...)(x)` doubles the text at every level of nesting, so that 16 nested calls are 10 MB. A statement
 *   expression with __auto_type is linear. Compilers without them get SN_LIFT(x) = (x): functions of sn_scalar only.
 *   In C++ (lift.hpp) both are overloaded functions.
 * - SN_EACH(m, ...) is m applied to up to 16 arguments, SN_COUNT(...) their number. */
#ifndef SINTER_LIFT_H
#define SINTER_LIFT_H

#ifndef SINTER_H
#error "include sinter/sinter.h"
#endif

/* A value of a struct; an array that lives as long as the expression around it. */
#ifdef __cplusplus
#define SN_MAKE(type, ...) (type{__VA_ARGS__})
#define SN_LIST(type, ...) (std::initializer_list<type>{__VA_ARGS__}.begin())
#else
#define SN_MAKE(type, ...) ((type){__VA_ARGS__})
#define SN_LIST(type, ...) ((type[]){__VA_ARGS__})
#endif
#define SN_HERE SN_MAKE(sn_site, __FILE__, __LINE__)

#define SN_PASTE_(a, b) a##b
#define SN_PASTE(a, b) SN_PASTE_(a, b)
#define SN_COUNT_(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, count, ...) count
#define SN_COUNT(...) SN_COUNT_(__VA_ARGS__, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define SN_EACH(m, ...) SN_PASTE(SN_EACH_, SN_COUNT(__VA_ARGS__))(m, __VA_ARGS__)
#define SN_EACH_1(m, a) m(a)
#define SN_EACH_2(m, a, b) m(a), m(b)
#define SN_EACH_3(m, a, b, c) m(a), m(b), m(c)
#define SN_EACH_4(m, a, b, c, d) m(a), m(b), m(c), m(d)
#define SN_EACH_5(m, a, b, c, d, e) m(a), m(b), m(c), m(d), m(e)
#define SN_EACH_6(m, a, b, c, d, e, f) m(a), m(b), m(c), m(d), m(e), m(f)
#define SN_EACH_7(m, a, b, c, d, e, f, g) SN_EACH_6(m, a, b, c, d, e, f), m(g)
#define SN_EACH_8(m, a, b, c, d, e, f, g, h) SN_EACH_6(m, a, b, c, d, e, f), m(g), m(h)
#define SN_EACH_9(m, a, b, c, d, e, f, g, h, i) SN_EACH_6(m, a, b, c, d, e, f), SN_EACH_3(m, g, h, i)
#define SN_EACH_10(m, a, b, c, d, e, f, ...) SN_EACH_6(m, a, b, c, d, e, f), SN_EACH_4(m, __VA_ARGS__)
#define SN_EACH_11(m, a, b, c, d, e, f, ...) SN_EACH_6(m, a, b, c, d, e, f), SN_EACH_5(m, __VA_ARGS__)
#define SN_EACH_12(m, a, b, c, d, e, f, ...) SN_EACH_6(m, a, b, c, d, e, f), SN_EACH_6(m, __VA_ARGS__)
#define SN_EACH_13(m, a, b, c, d, e, f, ...) SN_EACH_6(m, a, b, c, d, e, f), SN_EACH_7(m, __VA_ARGS__)
#define SN_EACH_14(m, a, b, c, d, e, f, ...) SN_EACH_6(m, a, b, c, d, e, f), SN_EACH_8(m, __VA_ARGS__)
#define SN_EACH_15(m, a, b, c, d, e, f, ...) SN_EACH_6(m, a, b, c, d, e, f), SN_EACH_9(m, __VA_ARGS__)
#define SN_EACH_16(m, a, b, c, d, e, f, ...) SN_EACH_6(m, a, b, c, d, e, f), SN_EACH_10(m, __VA_ARGS__)

/* 1 for one argument, N for more (up to 9) */
#define SN_PICK_(a, b, c, d, e, f, g, h, i, which, ...) which
#define SN_ONE_OR_MORE(...) SN_PICK_(__VA_ARGS__, N, N, N, N, N, N, N, N, 1, 0)
#define SN_SFOLD_1(f, z, a) sn_sfold_at(SN_HERE, SN_FN(f), SN_LIFT(z), a, 0, NULL)
#define SN_SFOLD_N(f, z, a, ...)                                                                                       \
    sn_sfold_at(SN_HERE, SN_FN(f), SN_LIFT(z), a, SN_COUNT(__VA_ARGS__),                                               \
                SN_LIST(sn_scalar, SN_EACH(SN_LIFT, __VA_ARGS__)))

/* Literals that take the type of what they are combined with; alone, that of the C number. */
SN_API sn_scalar sn_lift_scalar(sn_scalar x); /* x itself */
SN_API sn_scalar sn_lift_bool(bool x);
SN_API sn_scalar sn_lift_i32(int32_t x);
SN_API sn_scalar sn_lift_u32(uint32_t x);
SN_API sn_scalar sn_lift_i64(int64_t x);
SN_API sn_scalar sn_lift_u64(uint64_t x);
SN_API sn_scalar sn_lift_f32(float x);
SN_API sn_scalar sn_lift_f64(double x);

/* Functions to sn_fn; the environment of each is empty. */
SN_API sn_fn sn_fn_of(sn_fn f); /* f itself */
SN_API sn_fn sn_fn_1(sn_scalar (*f)(sn_scalar));
SN_API sn_fn sn_fn_2(sn_scalar (*f)(sn_scalar, sn_scalar));
SN_API sn_fn sn_fn_3(sn_scalar (*f)(sn_scalar, sn_scalar, sn_scalar));
SN_API sn_fn sn_fn_4(sn_scalar (*f)(sn_scalar, sn_scalar, sn_scalar, sn_scalar));
SN_API sn_fn sn_fn_5(sn_scalar (*f)(sn_scalar, sn_scalar, sn_scalar, sn_scalar, sn_scalar));
SN_API sn_fn sn_fn_6(sn_scalar (*f)(sn_scalar, sn_scalar, sn_scalar, sn_scalar, sn_scalar, sn_scalar));
SN_API sn_fn sn_fn_7(sn_scalar (*f)(sn_scalar, sn_scalar, sn_scalar, sn_scalar, sn_scalar, sn_scalar, sn_scalar));
SN_API sn_fn sn_fn_8(sn_scalar (*f)(sn_scalar, sn_scalar, sn_scalar, sn_scalar, sn_scalar, sn_scalar, sn_scalar,
                                    sn_scalar));
SN_API sn_fn sn_fn_9(sn_scalar (*f)(sn_scalar, sn_scalar, sn_scalar, sn_scalar, sn_scalar, sn_scalar, sn_scalar,
                                    sn_scalar, sn_scalar));
/* Functions with an environment. */
SN_API sn_fn sn_closure_1(sn_scalar (*f)(void *, sn_scalar), void *env);
SN_API sn_fn sn_closure_2(sn_scalar (*f)(void *, sn_scalar, sn_scalar), void *env);
SN_API sn_fn sn_closure_3(sn_scalar (*f)(void *, sn_scalar, sn_scalar, sn_scalar), void *env);
SN_API sn_fn sn_closure_4(sn_scalar (*f)(void *, sn_scalar, sn_scalar, sn_scalar, sn_scalar), void *env);
SN_API sn_fn sn_closure_n(sn_scalar (*f)(void *, int, const sn_scalar *), void *env);
/* k parameters passed as a list: any k, where sn_closure_n takes as many as it is given. */
SN_API sn_fn sn_closure_of(sn_scalar (*f)(void *, int, const sn_scalar *), void *env, int parameters);
SN_API sn_fn sn_commutative_of(sn_fn f);
/* The functions that sn_compile takes. */
SN_API sn_body sn_body_0(sn_acc (*f)(void));
SN_API sn_body sn_body_1(sn_acc (*f)(sn_acc));
SN_API sn_body sn_body_2(sn_acc (*f)(sn_acc, sn_acc));
SN_API sn_body sn_body_3(sn_acc (*f)(sn_acc, sn_acc, sn_acc));
SN_API sn_body sn_body_4(sn_acc (*f)(sn_acc, sn_acc, sn_acc, sn_acc));
SN_API sn_body sn_body_5(sn_acc (*f)(sn_acc, sn_acc, sn_acc, sn_acc, sn_acc));
SN_API sn_body sn_body_6(sn_acc (*f)(sn_acc, sn_acc, sn_acc, sn_acc, sn_acc, sn_acc));
SN_API sn_body sn_body_env(sn_acc (*f)(void *, int, const sn_acc *), void *env);
SN_API sn_body sn_body_of(sn_acc (*f)(void *, int, const sn_acc *), void *env, int parameters); /* exactly so many */

/* What / means in C: sn_div of floats, sn_quot of integers (operators.hpp). */
SN_API sn_scalar sn_c_div(sn_scalar a, sn_scalar b);

/* Calls f with `at` as the place of whatever it does. */
SN_API sn_scalar sn_call1_at(sn_site at, sn_scalar (*f)(sn_scalar), sn_scalar a);
SN_API sn_scalar sn_call2_at(sn_site at, sn_scalar (*f)(sn_scalar, sn_scalar), sn_scalar a, sn_scalar b);
SN_API sn_scalar sn_call3_at(sn_site at, sn_scalar (*f)(sn_scalar, sn_scalar, sn_scalar), sn_scalar a, sn_scalar b,
                             sn_scalar c);

#ifdef __cplusplus
#define SN_LIFTING 1
#else

/* clang-format off */
#define SN_FN(f)                                                                                                       \
    _Generic((f),                                                                                                      \
        sn_fn: sn_fn_of,                                                                                               \
        sn_scalar (*)(sn_scalar): sn_fn_1,                                                                                   \
        sn_scalar (*)(sn_scalar, sn_scalar): sn_fn_2,                                                                           \
        sn_scalar (*)(sn_scalar, sn_scalar, sn_scalar): sn_fn_3,                                                                   \
        sn_scalar (*)(sn_scalar, sn_scalar, sn_scalar, sn_scalar): sn_fn_4,                                                           \
        sn_scalar (*)(sn_scalar, sn_scalar, sn_scalar, sn_scalar, sn_scalar): sn_fn_5,                                                   \
        sn_scalar (*)(sn_scalar, sn_scalar, sn_scalar, sn_scalar, sn_scalar, sn_scalar): sn_fn_6,                                           \
        sn_scalar (*)(sn_scalar, sn_scalar, sn_scalar, sn_scalar, sn_scalar, sn_scalar, sn_scalar): sn_fn_7,                                   \
        sn_scalar (*)(sn_scalar, sn_scalar, sn_scalar, sn_scalar, sn_scalar, sn_scalar, sn_scalar, sn_scalar): sn_fn_8,                           \
        sn_scalar (*)(sn_scalar, sn_scalar, sn_scalar, sn_scalar, sn_scalar, sn_scalar, sn_scalar, sn_scalar, sn_scalar): sn_fn_9)(f)
#define SN_CLOSURE(f, env)                                                                                             \
    _Generic((f),                                                                                                      \
        sn_scalar (*)(void *, sn_scalar): sn_closure_1,                                                                      \
        sn_scalar (*)(void *, sn_scalar, sn_scalar): sn_closure_2,                                                              \
        sn_scalar (*)(void *, sn_scalar, sn_scalar, sn_scalar): sn_closure_3,                                                      \
        sn_scalar (*)(void *, sn_scalar, sn_scalar, sn_scalar, sn_scalar): sn_closure_4,                                              \
        sn_scalar (*)(void *, int, const sn_scalar *): sn_closure_n)(f, env)
#define SN_BODY(f)                                                                                                     \
    _Generic((f),                                                                                                      \
        sn_acc (*)(void): sn_body_0,                                                                                   \
        sn_acc (*)(sn_acc): sn_body_1,                                                                                 \
        sn_acc (*)(sn_acc, sn_acc): sn_body_2,                                                                         \
        sn_acc (*)(sn_acc, sn_acc, sn_acc): sn_body_3,                                                                 \
        sn_acc (*)(sn_acc, sn_acc, sn_acc, sn_acc): sn_body_4,                                                         \
        sn_acc (*)(sn_acc, sn_acc, sn_acc, sn_acc, sn_acc): sn_body_5,                                                 \
        sn_acc (*)(sn_acc, sn_acc, sn_acc, sn_acc, sn_acc, sn_acc): sn_body_6)(f)
/* The sn_type of C values of x's type; x is not evaluated. */
#define SN_TYPE_OF(x)                                                                                                  \
    _Generic((x),                                                                                                      \
        bool: SN_BOOL,                                                                                                 \
        signed char: SN_I8,                                                                                            \
        unsigned char: SN_U8,                                                                                          \
        short: SN_I16,                                                                                                 \
        unsigned short: SN_U16,                                                                                        \
        int: SN_I32,                                                                                                   \
        unsigned: SN_U32,                                                                                              \
        long: sizeof(long) == 8 ? SN_I64 : SN_I32,                                                                     \
        unsigned long: sizeof(long) == 8 ? SN_U64 : SN_U32,                                                            \
        long long: SN_I64,                                                                                             \
        unsigned long long: SN_U64,                                                                                    \
        float: SN_F32,                                                                                                 \
        double: SN_F64)
/* clang-format on */

#if defined(__GNUC__) && !defined(SN_NO_LIFTING)
#define SN_LIFTING 1
/* clang-format off */
#define SN_LIFT_AS_(x)                                                                                                 \
    _Generic(x,                                                                                                        \
        sn_scalar: sn_lift_scalar,                                                                                           \
        bool: sn_lift_bool,                                                                                            \
        float: sn_lift_f32,                                                                                            \
        double: sn_lift_f64,                                                                                           \
        unsigned: sn_lift_u32,                                                                                         \
        long: sn_lift_i64,                                                                                             \
        long long: sn_lift_i64,                                                                                        \
        unsigned long: sn_lift_u64,                                                                                    \
        unsigned long long: sn_lift_u64,                                                                               \
        default: sn_lift_i32)(x)
/* clang-format on */
#define SN_LIFT_(x, t)                                                                                                 \
    __extension__({                                                                                                    \
        __auto_type t = (x);                                                                                           \
        SN_LIFT_AS_(t);                                                                                                \
    })
#define SN_LIFT(x) SN_LIFT_(x, SN_PASTE(sn_x_, __COUNTER__))
#define SN_GET_(x, i, t)                                                                                               \
    __extension__({                                                                                                    \
        __auto_type t = (x);                                                                                           \
        _Generic(t, sn_acc : sn_component_at, sn_scalar : sn_get_at)(SN_HERE, t, i);                                   \
    })
#define SN_GET(x, i) SN_GET_(x, i, SN_PASTE(sn_x_, __COUNTER__))
#define SN_FIELD_(x, name, t)                                                                                          \
    __extension__({                                                                                                    \
        __auto_type t = (x);                                                                                           \
        _Generic(t, sn_acc : sn_array_field_at, sn_scalar : sn_field_at)(SN_HERE, t, name);                            \
    })
#define SN_FIELD(x, name) SN_FIELD_(x, name, SN_PASTE(sn_x_, __COUNTER__))
#else
#define SN_LIFT(x) (x)
#define SN_FIELD(x, name) _Generic((x), sn_acc : sn_array_field_at, sn_scalar : sn_field_at)(SN_HERE, x, name)
#define SN_GET(x, i) _Generic((x), sn_acc : sn_component_at, sn_scalar : sn_get_at)(SN_HERE, x, i)
#endif

#endif /* __cplusplus */

#ifdef SN_LIFTING
#define SN_CALL1(f, a) sn_call1_at(SN_HERE, f, SN_LIFT(a))
#define SN_CALL2(f, a, b) sn_call2_at(SN_HERE, f, SN_LIFT(a), SN_LIFT(b))
#define SN_CALL3(f, a, b, c) sn_call3_at(SN_HERE, f, SN_LIFT(a), SN_LIFT(b), SN_LIFT(c))
#endif

#endif
