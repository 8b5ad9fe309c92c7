/* Macro machinery of sinter.h: nothing here is meant to be called by name.
 *
 * - SN_HERE is the place of a call, for error messages.
 * - SN_FN(f) turns what a user may pass as a function (a C function of scalars, or an sn_fn) into an sn_fn.
 * - SN_LIFT(x) turns a C number into a literal and leaves an sn_scalar as it is. It must name its argument once:
 *   `_Generic((x), ...)(x)` doubles the text at every level of nesting, so that 16 nested calls are 10 MB. A statement
 *   expression with __auto_type is linear. Compilers without them get SN_LIFT(x) = (x): functions of sn_scalar only.
 *   In C++ (lift.hpp) both are overloaded functions.
 * - SN_ARRAY(a) is a, which must be an sn_acc.
 * - SN_EACH(m, ...) is m applied to up to 16 arguments, SN_COUNT(...) their number.
 *
 * What is wrong at compile time is said by static assertions. Attributes such as `error` would come too late: compilers
 * look at them only in programs without other errors, and one mistake usually makes several. As a system header, this
 * one keeps the insides of its macros out of the messages of gcc; SN_SHOW_WARNINGS shows them, and the warnings. */
#ifndef SINTER_LIFT_H
#define SINTER_LIFT_H

#ifndef SINTER_H
#error "include sinter/sinter.h"
#endif

#if defined(__GNUC__) && !defined(SN_SHOW_WARNINGS)
#pragma GCC system_header
#endif

/* A value of a struct; an array that lives as long as the expression around it. */
#ifdef __cplusplus
#define SN_MAKE(type, ...) (type{__VA_ARGS__})
#define SN_LIST(type, ...) (std::initializer_list<type>{__VA_ARGS__}.begin())
#define SN_REFUSE(text)                                                                                                \
    ([] {                                                                                                              \
        static_assert(false, text);                                                                                    \
        return 0;                                                                                                      \
    }())
#else
#define SN_MAKE(type, ...) ((type){__VA_ARGS__})
#define SN_LIST(type, ...) ((type[]){__VA_ARGS__})
/* 0, if the condition holds; else the text is an error. Refused: always an error. */
#define SN_REQUIRE(condition, text)                                                                                    \
    (0 * (int)sizeof(struct {                                                                                          \
         _Static_assert(condition, text);                                                                              \
         char unused;                                                                                                  \
     }))
#define SN_REFUSE(text) SN_REQUIRE(0, text)
#endif
#define SN_HERE SN_MAKE(sn_site, __FILE__, __LINE__)

#define SN_PASTE_(a, b) a##b
#define SN_PASTE(a, b) SN_PASTE_(a, b)
/* The 33rd argument. */
#define SN_PICK_(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, a22,  \
                 a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, which, ...)                                         \
    which
enum { SN_MANY = 16 };
#define SN_COUNT(...)                                                                                                  \
    SN_PICK_(__VA_ARGS__, SN_MANY, SN_MANY, SN_MANY, SN_MANY, SN_MANY, SN_MANY, SN_MANY, SN_MANY, SN_MANY, SN_MANY,    \
             SN_MANY, SN_MANY, SN_MANY, SN_MANY, SN_MANY, SN_MANY, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, \
             1, 0)
#define SN_EACH(m, ...) SN_PASTE(SN_EACH_, SN_COUNT(__VA_ARGS__))(m, __VA_ARGS__)
#define SN_SCALARS(...) SN_COUNT(__VA_ARGS__), SN_LIST(sn_scalar, SN_EACH(SN_LIFT, __VA_ARGS__))
#define SN_ARRAYS(...) SN_COUNT(__VA_ARGS__), SN_LIST(sn_acc, SN_EACH(SN_ARRAY, __VA_ARGS__))
#define SN_SAME_(x) (x) /* there must be one */
#define SN_EACH_SN_MANY(m, ...) SN_REFUSE("at most 16 are possible here")
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

/* 1 for one argument, SN_N for more. A name without a prefix may be a macro of the program: `#define N 1000`. */
#define SN_ONE_OR_MORE(...)                                                                                            \
    SN_PICK_(__VA_ARGS__, SN_N, SN_N, SN_N, SN_N, SN_N, SN_N, SN_N, SN_N, SN_N, SN_N, SN_N, SN_N, SN_N, SN_N, SN_N,    \
             SN_N, SN_N, SN_N, SN_N, SN_N, SN_N, SN_N, SN_N, SN_N, SN_N, SN_N, SN_N, SN_N, SN_N, SN_N, SN_N, 1, 0)
/* Of a pointer and extents: 0 without extents, SN_N for 1 to 8, SN_MANY for more */
#define SN_EXTENTS(...)                                                                                                \
    SN_PICK_(__VA_ARGS__, SN_MANY, SN_MANY, SN_MANY, SN_MANY, SN_MANY, SN_MANY, SN_MANY, SN_MANY, SN_MANY, SN_MANY,    \
             SN_MANY, SN_MANY, SN_MANY, SN_MANY, SN_MANY, SN_MANY, SN_MANY, SN_MANY, SN_MANY, SN_MANY, SN_MANY,        \
             SN_MANY, SN_MANY, SN_N, SN_N, SN_N, SN_N, SN_N, SN_N, SN_N, SN_N, 0, 0)
#define SN_SFOLD_1(f, z, a) sn_sfold_at(SN_HERE, SN_FN(f), SN_LIFT(z), SN_ARRAY(a), 0, NULL)
#define SN_SFOLD_SN_N(f, z, a, ...) sn_sfold_at(SN_HERE, SN_FN(f), SN_LIFT(z), SN_ARRAY(a), SN_SCALARS(__VA_ARGS__))

#define SN_CHECK_1(context, types, f) sn_check_operator_at(SN_HERE, context, types, SN_FN(f), 0, NULL)
#define SN_CHECK_SN_N(context, types, f, ...)                                                                          \
    sn_check_operator_at(SN_HERE, context, types, SN_FN(f),                                                            \
                         (int)(sizeof(SN_LIST(sn_arg, __VA_ARGS__)) / sizeof(sn_arg)), SN_LIST(sn_arg, __VA_ARGS__))

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
SN_API sn_fn sn_associative_of(sn_fn f);
/* The functions that sn_compile takes. */
SN_API sn_body sn_body_0(sn_acc (*f)(void));
SN_API sn_body sn_body_1(sn_acc (*f)(sn_acc));
SN_API sn_body sn_body_2(sn_acc (*f)(sn_acc, sn_acc));
SN_API sn_body sn_body_3(sn_acc (*f)(sn_acc, sn_acc, sn_acc));
SN_API sn_body sn_body_4(sn_acc (*f)(sn_acc, sn_acc, sn_acc, sn_acc));
SN_API sn_body sn_body_5(sn_acc (*f)(sn_acc, sn_acc, sn_acc, sn_acc, sn_acc));
SN_API sn_body sn_body_6(sn_acc (*f)(sn_acc, sn_acc, sn_acc, sn_acc, sn_acc, sn_acc));
SN_API sn_body sn_body_same(sn_body f);
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
/* m(constructor) for functions of this type; `otherwise`, an association, for others. */
#define SN_FN_CASES_(f, m, otherwise) _Generic((f),                                                                    \
        sn_fn: m(sn_fn_of),                                                                                            \
        sn_scalar (*)(sn_scalar): m(sn_fn_1),                                                                          \
        sn_scalar (*)(sn_scalar, sn_scalar): m(sn_fn_2),                                                               \
        sn_scalar (*)(sn_scalar, sn_scalar, sn_scalar): m(sn_fn_3),                                                    \
        sn_scalar (*)(sn_scalar, sn_scalar, sn_scalar, sn_scalar): m(sn_fn_4),                                         \
        sn_scalar (*)(sn_scalar, sn_scalar, sn_scalar, sn_scalar, sn_scalar): m(sn_fn_5),                              \
        sn_scalar (*)(sn_scalar, sn_scalar, sn_scalar, sn_scalar, sn_scalar, sn_scalar): m(sn_fn_6),                   \
        sn_scalar (*)(sn_scalar, sn_scalar, sn_scalar, sn_scalar, sn_scalar, sn_scalar, sn_scalar): m(sn_fn_7),        \
        sn_scalar (*)(sn_scalar, sn_scalar, sn_scalar, sn_scalar, sn_scalar, sn_scalar, sn_scalar, sn_scalar): m(sn_fn_8), \
        sn_scalar (*)(sn_scalar, sn_scalar, sn_scalar, sn_scalar, sn_scalar, sn_scalar, sn_scalar, sn_scalar, sn_scalar): m(sn_fn_9), otherwise)
#define SN_CLOSURE_CASES_(f, m, otherwise) _Generic((f),                                                               \
        sn_scalar (*)(void *, sn_scalar): m(sn_closure_1),                                                             \
        sn_scalar (*)(void *, sn_scalar, sn_scalar): m(sn_closure_2),                                                  \
        sn_scalar (*)(void *, sn_scalar, sn_scalar, sn_scalar): m(sn_closure_3),                                       \
        sn_scalar (*)(void *, sn_scalar, sn_scalar, sn_scalar, sn_scalar): m(sn_closure_4),                            \
        sn_scalar (*)(void *, int, const sn_scalar *): m(sn_closure_n), otherwise)
#define SN_BODY_CASES_(f, m, otherwise) _Generic((f),                                                                  \
        sn_acc (*)(void): m(sn_body_0),                                                                                \
        sn_acc (*)(sn_acc): m(sn_body_1),                                                                              \
        sn_acc (*)(sn_acc, sn_acc): m(sn_body_2),                                                                      \
        sn_acc (*)(sn_acc, sn_acc, sn_acc): m(sn_body_3),                                                              \
        sn_acc (*)(sn_acc, sn_acc, sn_acc, sn_acc): m(sn_body_4),                                                      \
        sn_acc (*)(sn_acc, sn_acc, sn_acc, sn_acc, sn_acc): m(sn_body_5),                                              \
        sn_acc (*)(sn_acc, sn_acc, sn_acc, sn_acc, sn_acc, sn_acc): m(sn_body_6),                                                                                 \
        sn_body: m(sn_body_same), otherwise)
/* The sn_type of C values of x's type, 0 if there is none; x is not evaluated. */
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
        double: SN_F64,                                                                                                \
        default: 0)

/* The same for elements of an argument, of which there must be one. */
#define SN_ELEMENT_(name, x)                                                                                           \
    ((sn_type)((int)SN_TYPE_OF(x) + SN_REQUIRE(SN_TYPE_OF(x) != 0, name SN_ELEMENTS_)))
#define SN_ELEMENTS_                                                                                                   \
    ": the pointer is one to bool, int8_t to int64_t, uint8_t to uint64_t, float or double; one to structs: sn_structs"
/* Host memory: a pointer and its extents. */
#define SN_HOST(name, hint, use, check, ...)                                                                           \
    SN_PASTE(SN_HOST_, SN_EXTENTS(__VA_ARGS__))(name, hint, use, check, __VA_ARGS__)
#define SN_HOST_0(name, hint, use, check, pointer)                                                                     \
    SN_MAKE(sn_arg, .rank = SN_REFUSE(name "(pointer, extents...) needs at least one extent; " hint))
#define SN_HOST_SN_MANY(name, hint, use, check, ...)                                                                      \
    SN_MAKE(sn_arg, .rank = SN_REFUSE(name "(pointer, extents...) takes at most 8 extents"))
#define SN_HOST_SN_N(name, hint, use, check, pointer, ...)                                                                \
    ((sn_arg){.kind = use,                                                                                             \
              .type = SN_ELEMENT_(name, *(pointer)),                                                                   \
              .rank = SN_COUNT(__VA_ARGS__) + check(pointer),                                                          \
              .extent = {__VA_ARGS__},                                                                                 \
              .u = {.from = (pointer)}})
#define SN_READ_(pointer) 0
#define SN_WRITTEN_(pointer)                                                                                           \
    SN_REQUIRE(_Generic(1 ? (pointer) : (void *)1, const void *: 0, default: 1),                                       \
               "sn_into, sn_upto: results are written, but the pointer is one to const")
#define SN_STRUCTS_0(pointer)                                                                                          \
    SN_MAKE(sn_arg, .rank = SN_REFUSE("sn_structs(pointer, extents...) needs at least one extent; a single struct is " \
                                      "sn_struct(pointer)"))
#define SN_STRUCTS_SN_MANY(...)                                                                                           \
    SN_MAKE(sn_arg, .rank = SN_REFUSE("sn_structs(pointer, extents...) takes at most 8 extents"))
#define SN_STRUCTS_SN_N(pointer, ...)                                                                                     \
    ((sn_arg){.kind = SN_ARG_STRUCTS,                                                                                  \
              .rank = SN_COUNT(__VA_ARGS__),                                                                           \
              .extent = {__VA_ARGS__},                                                                                 \
              .size = SN_STRUCT_SIZE_(*(pointer)),                                                                     \
              .u = {.from = (pointer)}})
#define SN_STRUCT_SIZE_(x)                                                                                             \
    (sizeof(x) + (size_t)SN_REQUIRE(SN_TYPE_OF(x) == 0, "the pointer is one to numbers: sn_in, sn_into or sn_value"))

/* Take whatever was refused, so that the assertion remains the only error; they do not exist. */
#if __STDC_VERSION__ >= 202311L
#define SN_ANYTHING_ (...)
#else
#define SN_ANYTHING_ ()
#endif
#ifdef __GNUC__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#endif
sn_scalar sn_none SN_ANYTHING_;
sn_fn sn_no_fn SN_ANYTHING_;
sn_body sn_no_body SN_ANYTHING_;
#ifdef __GNUC__
#pragma GCC diagnostic pop
#endif
#define SN_FN_TEXT_                                                                                                    \
    "here belongs a scalar function, sn_scalar f(sn_scalar, ...) of 1 to 9 parameters, or sn_closure(f, env)"
#define SN_BODY_TEXT_                                                                                                  \
    "here belongs a function of arrays, sn_acc f(sn_acc, ...) of up to 6 parameters; of more: sn_compile_env"
#define SN_CLOSURE_TEXT_                                                                                               \
    "here belongs sn_scalar f(void *env, sn_scalar, ...) of 1 to 4 sn_scalar, or f(void *env, int count, const "       \
    "sn_scalar *x)"
#define SN_NAME_(constructor) constructor
#define SN_ONE_(constructor) 1
#define SN_CLOSURE(f, env) /* f names a function */                                                                    \
    ((void)SN_REQUIRE(SN_CLOSURE_CASES_(f, SN_ONE_, default: 0), SN_CLOSURE_TEXT_),                                    \
     SN_CLOSURE_CASES_(f, SN_NAME_, default: sn_no_fn)(f, env))
#if defined(__GNUC__) && !defined(SN_NO_LIFTING)
#define SN_LIFTING 1
#define SN_LIFT_AS_(x)                                                                                                 \
    _Generic(x,                                                                                                        \
        sn_scalar: sn_lift_scalar,                                                                                     \
        bool: sn_lift_bool,                                                                                            \
        float: sn_lift_f32,                                                                                            \
        double: sn_lift_f64,                                                                                           \
        unsigned: sn_lift_u32,                                                                                         \
        long: sn_lift_i64,                                                                                             \
        long long: sn_lift_i64,                                                                                        \
        unsigned long: sn_lift_u64,                                                                                    \
        unsigned long long: sn_lift_u64,                                                                               \
        int: sn_lift_i32,                                                                                              \
        short: sn_lift_i32,                                                                                            \
        unsigned short: sn_lift_i32,                                                                                   \
        char: sn_lift_i32,                                                                                             \
        signed char: sn_lift_i32,                                                                                      \
        unsigned char: sn_lift_i32,                                                                                    \
        default: sn_none)(x)
#define SN_LIFT_(x, t) /* classes below 5 are integers */                                                              \
    __extension__({                                                                                                    \
        __auto_type t = (x);                                                                                           \
        _Static_assert(_Generic(t, sn_scalar: 1, float: 1, double: 1,                                                  \
                                default: __builtin_classify_type(t) < 5 && sizeof t < 9),                              \
                       "needs a scalar or a number; sn_map and sn_zip_with reach elements of arrays");                 \
        SN_LIFT_AS_(t);                                                                                                \
    })
#define SN_LIFT(x) SN_LIFT_(x, SN_PASTE(sn_, __COUNTER__))
#define SN_ARRAY_(a, t)                                                                                                \
    __extension__({                                                                                                    \
        __auto_type t = (a);                                                                                           \
        _Static_assert(_Generic(t, sn_acc: 1, default: 0), "here belongs an array; sn_unit(x) makes one of a scalar"); \
        _Generic(t, sn_acc: t, default: (sn_acc){0});                                                                  \
    })
#define SN_ARRAY(a) SN_ARRAY_(a, SN_PASTE(sn_a_, __COUNTER__))
#define SN_FUNCTION_(cases, f, none, t, text)                                                                          \
    __extension__({                                                                                                    \
        __auto_type t = (f);                                                                                           \
        _Static_assert(cases(t, SN_ONE_, default: 0), text);                                                           \
        cases(t, SN_NAME_, default: none)(t);                                                                          \
    })
#define SN_FN(f) SN_FUNCTION_(SN_FN_CASES_, f, sn_no_fn, SN_PASTE(sn_f_, __COUNTER__), SN_FN_TEXT_)
#define SN_BODY(f) SN_FUNCTION_(SN_BODY_CASES_, f, sn_no_body, SN_PASTE(sn_f_, __COUNTER__), SN_BODY_TEXT_)
#define SN_PART_(x, t, of_array, of_scalar, which)                                                                     \
    __extension__({                                                                                                    \
        __auto_type t = (x);                                                                                           \
        _Static_assert(_Generic(t, sn_acc: 1, sn_scalar: 1, default: 0), "here belongs a tuple or an array of them");  \
        _Generic(t, sn_acc: of_array, sn_scalar: of_scalar, default: sn_none)(SN_HERE, t, which);                      \
    })
#define SN_GET(x, i) SN_PART_(x, SN_PASTE(sn_x_, __COUNTER__), sn_component_at, sn_get_at, i)
#define SN_FIELD(x, name) SN_PART_(x, SN_PASTE(sn_x_, __COUNTER__), sn_array_field_at, sn_field_at, name)
#else
#define SN_LIFT(x) (x)
#define SN_ARRAY(a) (a)
#define SN_FUNCTION_(cases, f, none, text)                                                                             \
    ((void)SN_REQUIRE(cases(f, SN_ONE_, default: 0), text), cases(f, SN_NAME_, default: none)(f))
#define SN_FN(f) SN_FUNCTION_(SN_FN_CASES_, f, sn_no_fn, SN_FN_TEXT_)
#define SN_BODY(f) SN_FUNCTION_(SN_BODY_CASES_, f, sn_no_body, SN_BODY_TEXT_)
#define SN_FIELD(x, name) _Generic((x), sn_acc : sn_array_field_at, sn_scalar : sn_field_at)(SN_HERE, x, name)
#define SN_GET(x, i) _Generic((x), sn_acc : sn_component_at, sn_scalar : sn_get_at)(SN_HERE, x, i)
#endif
/* clang-format on */

#endif /* __cplusplus */

#ifdef SN_LIFTING
#define SN_CALL1(f, a) sn_call1_at(SN_HERE, f, SN_LIFT(a))
#define SN_CALL2(f, a, b) sn_call2_at(SN_HERE, f, SN_LIFT(a), SN_LIFT(b))
#define SN_CALL3(f, a, b, c) sn_call3_at(SN_HERE, f, SN_LIFT(a), SN_LIFT(b), SN_LIFT(c))
#endif

#endif
