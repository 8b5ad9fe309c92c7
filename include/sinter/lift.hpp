/* What sinter.h means in C++17: the macros behind its macros as overloaded functions, and the operations that take
 * functions once more, so that these may be lambdas:
 *
 *     sn_acc scaled = sn_map([&](sn_scalar x) { return sn_mul(x, factor); }, xs);
 *
 * A lambda (or any function object of 1 to 9 sn_scalar, giving an sn_scalar or a number) is used only until the
 * operation it is given to returns; it must not throw. sn_in and sn_into also take a container with data() and size().
 */
#ifndef SINTER_LIFT_HPP
#define SINTER_LIFT_HPP

#ifndef SINTER_H
#error "include sinter/sinter.h"
#endif

#if defined(__GNUC__) && !defined(SN_SHOW_WARNINGS)
#pragma GCC system_header /* short messages: lift.h */
#endif

#include <cstddef>
#include <initializer_list>
#include <type_traits>
#include <utility>

namespace sn {

/* --- C++ numbers as literals --- */

inline sn_scalar lift(sn_scalar x)
{
    return x;
}

/* The literal that C's lifting makes: integers as they are promoted. */
template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0> sn_scalar lift(T x)
{
    if constexpr (std::is_same_v<T, bool>)
        return sn_lift_bool(x);
    else if constexpr (std::is_same_v<T, float>)
        return sn_lift_f32(x);
    else if constexpr (std::is_floating_point_v<T>)
        return sn_lift_f64(static_cast<double>(x));
    else if constexpr (sizeof(T) == 8 && std::is_signed_v<T>)
        return sn_lift_i64(static_cast<int64_t>(x));
    else if constexpr (sizeof(T) == 8)
        return sn_lift_u64(static_cast<uint64_t>(x));
    else if constexpr (sizeof(T) == 4 && std::is_unsigned_v<T>)
        return sn_lift_u32(static_cast<uint32_t>(x));
    else
        return sn_lift_i32(static_cast<int32_t>(x));
}

template <class T, std::enable_if_t<!std::is_arithmetic_v<T> && !std::is_convertible_v<T, sn_scalar>, int> = 0>
sn_scalar lift(const T &)
{
    static_assert(std::is_arithmetic_v<T>,
                  "needs a scalar or a number; sn_map and sn_zip_with reach elements of arrays");
    return {};
}

template <class A> sn_acc array(const A &a)
{
    static_assert(std::is_convertible_v<A, sn_acc>, "here belongs an array; sn_unit(x) makes one of a scalar");
    if constexpr (std::is_convertible_v<A, sn_acc>)
        return a;
    else
        return {};
}

template <class T> constexpr sn_type type_of()
{
    constexpr bool known = std::is_arithmetic_v<T> && !std::is_same_v<T, char> && !std::is_same_v<T, wchar_t> &&
                           !std::is_same_v<T, long double>;
    static_assert(known, "the pointer is one to bool, int8_t to int64_t, uint8_t to uint64_t, float, double or "
                         "char32_t; one to structs: sn_structs");
    if constexpr (!known)
        return sn_type{};
    else if constexpr (std::is_same_v<T, bool>)
        return SN_BOOL;
    else if constexpr (std::is_same_v<T, char32_t>)
        return SN_CHAR;
    else if constexpr (std::is_floating_point_v<T>)
        return sizeof(T) == 4 ? SN_F32 : SN_F64;
    else if constexpr (std::is_signed_v<T>)
        return sizeof(T) == 1 ? SN_I8 : sizeof(T) == 2 ? SN_I16 : sizeof(T) == 4 ? SN_I32 : SN_I64;
    else
        return sizeof(T) == 1 ? SN_U8 : sizeof(T) == 2 ? SN_U16 : sizeof(T) == 4 ? SN_U32 : SN_U64;
}

/* --- functions --- */

namespace detail {

template <class> using scalar_of = sn_scalar;
template <class> using acc_of = sn_acc;
using std::size_t;

template <class F, template <class> class To, size_t... I> constexpr bool takes(std::index_sequence<I...>)
{
    return std::is_invocable_v<const F &, To<std::integral_constant<size_t, I>>...>;
}

/* How many parameters a function object has: the first number from `at` that it can be called with; -1: up to 9, none.
 */
template <class F, template <class> class To, size_t at> constexpr int parameters()
{
    if constexpr (takes<F, To>(std::make_index_sequence<at>()))
        return static_cast<int>(at);
    else if constexpr (at < 9)
        return parameters<F, To, at + 1>();
    else
        return -1;
}

template <class F, size_t... I> sn_scalar call_list(const F &f, const sn_scalar *x, std::index_sequence<I...>)
{
    using R = decltype(f(x[I]...));
    constexpr bool good = std::is_convertible_v<R, sn_scalar> || std::is_arithmetic_v<std::decay_t<R>>;
    static_assert(good, "a scalar function returns an sn_scalar or a number");
    if constexpr (good)
        return lift(f(x[I]...));
    else
        return {};
}

template <class F, size_t... I> sn_acc call_arrays(const F &f, const sn_acc *a, std::index_sequence<I...>)
{
    (void)a;
    constexpr bool good = std::is_convertible_v<decltype(f(a[I]...)), sn_acc>;
    static_assert(good, "the function given to sn_compile returns an sn_acc; sn_unit(x) makes one of a scalar");
    if constexpr (good)
        return f(a[I]...);
    else
        return {};
}

template <class F, int n> sn_scalar call_function(void *env, int, const sn_scalar *x) noexcept
{
    return call_list(*static_cast<const F *>(env), x, std::make_index_sequence<n>());
}

template <class F, int n> sn_acc call_body(void *env, int, const sn_acc *a) noexcept
{
    return call_arrays(*static_cast<const F *>(env), a, std::make_index_sequence<n>());
}

template <class F> void *address(const F &f)
{
    return const_cast<void *>(static_cast<const void *>(&f));
}

} // namespace detail

inline sn_fn fn(sn_fn f)
{
    return f;
}

/* A function without environment is a C function; another function object is read when it is called. */
template <class F> sn_fn fn(const F &f)
{
    using e = sn_scalar;
    if constexpr (std::is_convertible_v<F, e (*)(e)>)
        return sn_fn_1(f);
    else if constexpr (std::is_convertible_v<F, e (*)(e, e)>)
        return sn_fn_2(f);
    else if constexpr (std::is_convertible_v<F, e (*)(e, e, e)>)
        return sn_fn_3(f);
    else if constexpr (std::is_convertible_v<F, e (*)(e, e, e, e)>)
        return sn_fn_4(f);
    else if constexpr (std::is_convertible_v<F, e (*)(e, e, e, e, e)>)
        return sn_fn_5(f);
    else if constexpr (std::is_convertible_v<F, e (*)(e, e, e, e, e, e)>)
        return sn_fn_6(f);
    else if constexpr (std::is_convertible_v<F, e (*)(e, e, e, e, e, e, e)>)
        return sn_fn_7(f);
    else if constexpr (std::is_convertible_v<F, e (*)(e, e, e, e, e, e, e, e)>)
        return sn_fn_8(f);
    else if constexpr (std::is_convertible_v<F, e (*)(e, e, e, e, e, e, e, e, e)>)
        return sn_fn_9(f);
    else {
        constexpr int n = detail::parameters<F, detail::scalar_of, 1>();
        static_assert(n > 0, "here belongs a scalar function, of 1 to 9 sn_scalar");
        if constexpr (n > 0) /* else the compiler would go on with -1 parameters, until memory is gone */
            return sn_closure_of(&detail::call_function<F, n>, detail::address(f), n);
        else
            return {};
    }
}

inline sn_fn closure(sn_scalar (*f)(void *, sn_scalar), void *env)
{
    return sn_closure_1(f, env);
}

inline sn_fn closure(sn_scalar (*f)(void *, sn_scalar, sn_scalar), void *env)
{
    return sn_closure_2(f, env);
}

inline sn_fn closure(sn_scalar (*f)(void *, sn_scalar, sn_scalar, sn_scalar), void *env)
{
    return sn_closure_3(f, env);
}

inline sn_fn closure(sn_scalar (*f)(void *, sn_scalar, sn_scalar, sn_scalar, sn_scalar), void *env)
{
    return sn_closure_4(f, env);
}

inline sn_fn closure(sn_scalar (*f)(void *, int, const sn_scalar *), void *env)
{
    return sn_closure_n(f, env);
}

/* What sn_compile takes: a function of up to 6 sn_acc, or a function object of up to 9. */
template <class F> sn_body body(const F &f)
{
    using a = sn_acc;
    if constexpr (std::is_same_v<F, sn_body>)
        return f;
    else if constexpr (std::is_convertible_v<F, a (*)()>)
        return sn_body_0(f);
    else if constexpr (std::is_convertible_v<F, a (*)(a)>)
        return sn_body_1(f);
    else if constexpr (std::is_convertible_v<F, a (*)(a, a)>)
        return sn_body_2(f);
    else if constexpr (std::is_convertible_v<F, a (*)(a, a, a)>)
        return sn_body_3(f);
    else if constexpr (std::is_convertible_v<F, a (*)(a, a, a, a)>)
        return sn_body_4(f);
    else if constexpr (std::is_convertible_v<F, a (*)(a, a, a, a, a)>)
        return sn_body_5(f);
    else if constexpr (std::is_convertible_v<F, a (*)(a, a, a, a, a, a)>)
        return sn_body_6(f);
    else {
        constexpr int n = detail::parameters<F, detail::acc_of, 0>();
        constexpr bool good = n >= 0 && !std::is_function_v<F>;
        static_assert(good,
                      "here belongs a function of up to 6, or a lambda of up to 9 sn_acc, that returns an sn_acc");
        if constexpr (good)
            return sn_body_of(&detail::call_body<F, n>, detail::address(f), n);
        else
            return {};
    }
}

/* --- components --- */

inline sn_scalar get(sn_site at, sn_scalar tuple, int component)
{
    return sn_get_at(at, tuple, component);
}

inline sn_acc get(sn_site at, sn_acc array, int component)
{
    return sn_component_at(at, array, component);
}

inline sn_scalar field(sn_site at, sn_scalar t, const char *name)
{
    return sn_field_at(at, t, name);
}

inline sn_acc field(sn_site at, sn_acc a, const char *name)
{
    return sn_array_field_at(at, a, name);
}

/* --- arguments --- */

template <class T, class... E> sn_arg argument(sn_arg_kind kind, T *pointer, E... extent)
{
    static_assert(sizeof...(E) <= 8, "at most 8 extents");
    static_assert((... && (std::is_integral_v<E> || std::is_enum_v<E>)), "extents are integers");
    const int64_t list[] = {static_cast<int64_t>(extent)..., 0};
    sn_arg a{};
    a.kind = kind;
    a.type = type_of<std::remove_cv_t<T>>();
    a.rank = static_cast<int>(sizeof...(E));
    for (int d = 0; d < a.rank; d++)
        a.extent[d] = list[d];
    a.u.from = pointer;
    return a;
}

template <class T> sn_arg one_struct(T *pointer)
{
    static_assert(std::is_class_v<T> && std::is_standard_layout_v<T>,
                  "the pointer is one to plain structs; one to numbers: sn_in, sn_into or sn_value");
    sn_arg a{};
    a.kind = SN_ARG_STRUCTS;
    a.size = sizeof(T);
    a.u.from = pointer;
    return a;
}

template <class T, class... E> sn_arg structs(T *pointer, E... extent)
{
    static_assert(sizeof...(E) >= 1, "sn_structs(pointer, extents...) needs at least one extent; a single struct is "
                                     "sn_struct(pointer)");
    static_assert(sizeof...(E) <= 8, "at most 8 extents");
    static_assert((... && (std::is_integral_v<E> || std::is_enum_v<E>)), "extents are integers");
    const int64_t list[] = {static_cast<int64_t>(extent)..., 0};
    sn_arg a = one_struct(pointer);
    a.rank = static_cast<int>(sizeof...(E));
    for (int d = 0; d < a.rank; d++)
        a.extent[d] = list[d];
    return a;
}

template <class C> auto structs(C &&container) -> decltype(structs(container.data(), container.size()))
{
    return structs(container.data(), container.size());
}

template <class T> sn_arg structs_upto(T *pointer, int64_t capacity, int64_t *extents)
{
    return sn_structs_upto_of(one_struct(pointer).size, pointer, capacity, extents);
}

template <class C>
auto structs_upto(C &&container, int64_t *extents) -> decltype(structs_upto(container.data(), 0, extents))
{
    return structs_upto(container.data(), static_cast<int64_t>(container.size()), extents);
}

template <class T, class... E> sn_arg host(sn_arg_kind kind, T *pointer, E... extent)
{
    static_assert(sizeof...(E) >= 1,
                  "a pointer needs at least one extent, as in sn_in(pointer, n); a single value is sn_value(pointer)");
    return argument(kind, pointer, extent...);
}

/* A vector, an array, a span: rank 1. */
template <class C>
auto host(sn_arg_kind kind, C &&container) -> decltype(argument(kind, container.data(), container.size()))
{
    return argument(kind, container.data(), container.size());
}

template <class T, class... E> sn_arg result(T *pointer, E... extent)
{
    static_assert(!std::is_const_v<T>, "sn_into: results are written, but the pointer is one to const");
    return host(SN_ARG_INTO, pointer, extent...);
}

template <class T> sn_arg upto(T *pointer, int64_t capacity, int64_t *extents)
{
    static_assert(!std::is_const_v<T>, "sn_upto: results are written, but the pointer is one to const");
    return sn_upto_of(type_of<T>(), pointer, capacity, extents);
}

/* As much as there is room for. */
template <class C> auto upto(C &&container, int64_t *extents) -> decltype(upto(container.data(), 0, extents))
{
    return upto(container.data(), static_cast<int64_t>(container.size()), extents);
}

template <class C> auto result(C &&container) -> decltype(result(container.data(), container.size()))
{
    return result(container.data(), container.size());
}

inline sn_status call(sn_site at, sn_program *program, std::initializer_list<sn_arg> arguments)
{
    return sn_call_at(at, program, static_cast<int>(arguments.size()), arguments.begin());
}

inline sn_pending *start(sn_site at, sn_program *program, std::initializer_list<sn_arg> arguments)
{
    return sn_start_at(at, program, static_cast<int>(arguments.size()), arguments.begin());
}

/* --- the operations that take functions: as macros of any number of arguments, because a comma inside a lambda's
 *     brackets or braces would end an argument of a macro --- */

template <class S, class F> sn_acc generate(sn_site at, S shape, const F &f)
{
    return sn_generate_at(at, lift(shape), fn(f));
}

template <class F, class A> sn_acc map(sn_site at, const F &f, A a)
{
    return sn_map_at(at, fn(f), array(a));
}

template <class F, class A> sn_acc imap(sn_site at, const F &f, A a)
{
    return sn_imap_at(at, fn(f), array(a));
}

using zipping = sn_acc (*)(sn_site, sn_fn, int, const sn_acc *);

template <class F, class... A> sn_acc zip_with(zipping how, sn_site at, const F &f, A... a)
{
    static_assert(sizeof...(A) >= 1, "here belongs at least one array");
    const sn_acc list[] = {array(a)..., sn_acc{0}};
    return how(at, fn(f), static_cast<int>(sizeof...(A)), list);
}

template <class S, class F, class A> sn_acc backpermute(sn_site at, S shape, const F &f, A a)
{
    return sn_backpermute_at(at, lift(shape), fn(f), array(a));
}

template <class F, class Z, class A> sn_acc fold(sn_site at, const F &f, Z z, A a)
{
    return sn_fold_at(at, fn(f), lift(z), array(a));
}

template <class F, class Z, class A> sn_acc fold_all(sn_site at, const F &f, Z z, A a)
{
    return sn_fold_all_at(at, fn(f), lift(z), array(a));
}

template <class F, class A> sn_acc fold1(sn_site at, const F &f, A a)
{
    return sn_fold1_at(at, fn(f), array(a));
}

template <class F, class A> sn_acc fold1_all(sn_site at, const F &f, A a)
{
    return sn_fold1_all_at(at, fn(f), array(a));
}

template <class F, class Z, class A>
sn_acc scan(sn_acc (*how)(sn_site, sn_fn, sn_scalar, sn_acc), sn_site at, const F &f, Z z, A a)
{
    return how(at, fn(f), lift(z), array(a));
}

template <class F, class A, class B> sn_acc merge_by(sn_site at, const F &less, A a, B b)
{
    return sn_merge_by_at(at, fn(less), array(a), array(b));
}

template <class F, class A> sn_acc scan1(sn_acc (*how)(sn_site, sn_fn, sn_acc), sn_site at, const F &f, A a)
{
    return how(at, fn(f), array(a));
}

template <class F, class Z, class A>
sn_acc scan_x(sn_acc (*how)(sn_site, sn_fn, sn_scalar, sn_acc, sn_acc *), sn_site at, const F &f, Z z, A a,
              sn_acc *total)
{
    return how(at, fn(f), lift(z), array(a), total);
}

template <class F, class Z, class S, class A>
sn_acc segments(sn_acc (*how)(sn_site, sn_fn, sn_scalar, sn_acc, sn_acc), sn_site at, const F &f, Z z, S lengths, A a)
{
    return how(at, fn(f), lift(z), array(lengths), array(a));
}

template <class F, class S, class A>
sn_acc segments1(sn_acc (*how)(sn_site, sn_fn, sn_acc, sn_acc), sn_site at, const F &f, S lengths, A a)
{
    return how(at, fn(f), array(lengths), array(a));
}

template <class F, class Z, class S, class A>
sn_acc segments_x(sn_acc (*how)(sn_site, sn_fn, sn_scalar, sn_acc, sn_acc, sn_acc *), sn_site at, const F &f, Z z,
                  S lengths, A a, sn_acc *total)
{
    return how(at, fn(f), lift(z), array(lengths), array(a), total);
}

template <class F, class A> sn_acc partition(sn_site at, const F &f, A a, sn_acc *count)
{
    return sn_partition_at(at, fn(f), array(a), count);
}

template <class F, class D, class G, class A> sn_acc permute(sn_site at, const F &f, D defaults, const G &g, A source)
{
    return sn_permute_at(at, fn(f), array(defaults), fn(g), array(source));
}

template <class F, class Z, class B, class K, class A>
sn_acc reduce_by_key(sn_site at, const F &f, Z z, B bins, K keys, A values)
{
    return sn_reduce_by_key_at(at, fn(f), lift(z), lift(bins), array(keys), array(values));
}

template <class F, class A> sn_acc stencil(sn_site at, const F &f, sn_pattern pattern, sn_boundary boundary, A a)
{
    return sn_stencil_at(at, fn(f), pattern, boundary, array(a));
}

template <class F, class A1, class A2>
sn_acc stencil2(sn_site at, const F &f, sn_pattern pattern1, sn_boundary boundary1, A1 a1, sn_pattern pattern2,
                sn_boundary boundary2, A2 a2)
{
    return sn_stencil2_at(at, fn(f), pattern1, boundary1, array(a1), pattern2, boundary2, array(a2));
}

template <class C, class F, class X> sn_scalar while_(sn_site at, const C &condition, const F &next, X init)
{
    return sn_while_at(at, fn(condition), fn(next), lift(init));
}

template <class N, class F, class X> sn_scalar iterate(sn_site at, N n, const F &f, X x)
{
    return sn_iterate_at(at, lift(n), fn(f), lift(x));
}

template <class N, class F, class X> sn_scalar loop(sn_site at, N n, const F &f, X init)
{
    return sn_loop_at(at, lift(n), fn(f), lift(init));
}

template <class F, class Z, class A, class... I> sn_scalar sfold(sn_site at, const F &f, Z z, A a, I... index)
{
    const sn_scalar list[] = {lift(index)..., sn_scalar{0}};
    return sn_sfold_at(at, fn(f), lift(z), array(a), static_cast<int>(sizeof...(I)), list);
}

template <class F, class... X>
sn_scalar foreign_scalar(sn_site at, const sn_foreign_function *code, const F &fallback, X... x)
{
    const sn_scalar list[] = {lift(x)..., sn_scalar{0}};
    return sn_foreign_scalar_at(at, code, fn(fallback), static_cast<int>(sizeof...(X)), list);
}

template <class F>
sn_status check_operator(sn_site at, sn_context *context, const char *types, const F &f,
                         std::initializer_list<sn_arg> z = {})
{
    return sn_check_operator_at(at, context, types, fn(f), static_cast<int>(z.size()), z.begin());
}

template <class F, class... Z>
sn_status check_operator(sn_site at, sn_context *context, const char *types, const F &f, sn_arg z, Z... more)
{
    return check_operator(at, context, types, f, {z, more...});
}

template <class F> sn_program *compile(sn_site at, sn_context *context, const char *signature, const F &f)
{
    return sn_compile_at(at, context, signature, body(f));
}

} // namespace sn

#define SN_LIFT(x) sn::lift(x)
#define SN_ARRAY(a) sn::array(a)
#define SN_FN(f) sn::fn(f)
#define SN_CLOSURE(f, env) sn::closure(f, env)
#define SN_BODY(f) sn::body(f)
#define SN_GET(x, i) sn::get(SN_HERE, x, i)
#define SN_FIELD(x, name) sn::field(SN_HERE, x, name)
#define SN_ELEMENT_(name, x) SN_TYPE_OF(x)
#define SN_TYPE_OF(x) (sn::type_of<std::decay_t<decltype(x)>>())

#undef sn_use
#define sn_use(...) sn_use_at(SN_HERE, sn::host(SN_ARG_IN, __VA_ARGS__))

#undef sn_in
#undef sn_into
#undef sn_upto
#undef sn_value
#undef sn_structs
#undef sn_structs_upto
#undef sn_struct
#undef sn_call
#undef sn_start
#define sn_in(...) sn::host(SN_ARG_IN, __VA_ARGS__)
#define sn_into(...) sn::result(__VA_ARGS__)
#define sn_upto(...) sn::upto(__VA_ARGS__)
#define sn_value(pointer) sn::argument(SN_ARG_VALUE, pointer)
#define sn_structs(...) sn::structs(__VA_ARGS__)
#define sn_structs_upto(...) sn::structs_upto(__VA_ARGS__)
#define sn_struct(pointer) sn::one_struct(pointer)
#define sn_call(program, ...) sn::call(SN_HERE, program, {__VA_ARGS__})
#define sn_start(program, ...) sn::start(SN_HERE, program, {__VA_ARGS__})

#undef sn_compile
#undef sn_commutative
#undef sn_associative
#undef sn_generate
#undef sn_map
#undef sn_imap
#undef sn_zip_with
#undef sn_izip_with
#undef sn_zip_min_with
#undef sn_backpermute
#undef sn_fold
#undef sn_fold_all
#undef sn_fold1
#undef sn_fold1_all
#undef sn_scanl
#undef sn_scanl1
#undef sn_prescan
#undef sn_postscan
#undef sn_scanl_x
#undef sn_scanr
#undef sn_scanr1
#undef sn_prescanr
#undef sn_postscanr
#undef sn_scanr_x
#undef sn_fold_seg
#undef sn_scanl_seg
#undef sn_prescan_seg
#undef sn_postscan_seg
#undef sn_scanr_seg
#undef sn_prescanr_seg
#undef sn_postscanr_seg
#undef sn_fold1_seg
#undef sn_scanl1_seg
#undef sn_scanr1_seg
#undef sn_scanl_x_seg
#undef sn_scanr_x_seg
#undef sn_filter
#undef sn_partition
#undef sn_sort_by
#undef sn_merge_by
#undef sn_permute
#undef sn_reduce_by_key
#undef sn_stencil
#undef sn_stencil2
#undef sn_outside
#undef sn_while
#undef sn_iterate
#undef sn_loop
#undef sn_sfold
#undef sn_foreign_scalar
#undef sn_check_operator
#define sn_compile(...) sn::compile(SN_HERE, __VA_ARGS__)
#define sn_commutative(...) sn_commutative_of(sn::fn(__VA_ARGS__))
#define sn_associative(...) sn_associative_of(sn::fn(__VA_ARGS__))
#define sn_generate(...) sn::generate(SN_HERE, __VA_ARGS__)
#define sn_map(...) sn::map(SN_HERE, __VA_ARGS__)
#define sn_imap(...) sn::imap(SN_HERE, __VA_ARGS__)
#define sn_zip_with(...) sn::zip_with(sn_zip_with_at, SN_HERE, __VA_ARGS__)
#define sn_izip_with(...) sn::zip_with(sn_izip_with_at, SN_HERE, __VA_ARGS__)
#define sn_zip_min_with(...) sn::zip_with(sn_zip_min_with_at, SN_HERE, __VA_ARGS__)
#define sn_backpermute(...) sn::backpermute(SN_HERE, __VA_ARGS__)
#define sn_fold(...) sn::fold(SN_HERE, __VA_ARGS__)
#define sn_fold_all(...) sn::fold_all(SN_HERE, __VA_ARGS__)
#define sn_fold1(...) sn::fold1(SN_HERE, __VA_ARGS__)
#define sn_fold1_all(...) sn::fold1_all(SN_HERE, __VA_ARGS__)
#define sn_scanl(...) sn::scan(sn_scanl_at, SN_HERE, __VA_ARGS__)
#define sn_scanl1(...) sn::scan1(sn_scanl1_at, SN_HERE, __VA_ARGS__)
#define sn_prescan(...) sn::scan(sn_prescan_at, SN_HERE, __VA_ARGS__)
#define sn_postscan(...) sn::scan(sn_postscan_at, SN_HERE, __VA_ARGS__)
#define sn_scanl_x(...) sn::scan_x(sn_scanl_x_at, SN_HERE, __VA_ARGS__)
#define sn_scanr(...) sn::scan(sn_scanr_at, SN_HERE, __VA_ARGS__)
#define sn_scanr1(...) sn::scan1(sn_scanr1_at, SN_HERE, __VA_ARGS__)
#define sn_prescanr(...) sn::scan(sn_prescanr_at, SN_HERE, __VA_ARGS__)
#define sn_postscanr(...) sn::scan(sn_postscanr_at, SN_HERE, __VA_ARGS__)
#define sn_scanr_x(...) sn::scan_x(sn_scanr_x_at, SN_HERE, __VA_ARGS__)
#define sn_fold_seg(...) sn::segments(sn_fold_seg_at, SN_HERE, __VA_ARGS__)
#define sn_scanl_seg(...) sn::segments(sn_scanl_seg_at, SN_HERE, __VA_ARGS__)
#define sn_prescan_seg(...) sn::segments(sn_prescan_seg_at, SN_HERE, __VA_ARGS__)
#define sn_postscan_seg(...) sn::segments(sn_postscan_seg_at, SN_HERE, __VA_ARGS__)
#define sn_scanr_seg(...) sn::segments(sn_scanr_seg_at, SN_HERE, __VA_ARGS__)
#define sn_prescanr_seg(...) sn::segments(sn_prescanr_seg_at, SN_HERE, __VA_ARGS__)
#define sn_postscanr_seg(...) sn::segments(sn_postscanr_seg_at, SN_HERE, __VA_ARGS__)
#define sn_fold1_seg(...) sn::segments1(sn_fold1_seg_at, SN_HERE, __VA_ARGS__)
#define sn_scanl1_seg(...) sn::segments1(sn_scanl1_seg_at, SN_HERE, __VA_ARGS__)
#define sn_scanr1_seg(...) sn::segments1(sn_scanr1_seg_at, SN_HERE, __VA_ARGS__)
#define sn_scanl_x_seg(...) sn::segments_x(sn_scanl_x_seg_at, SN_HERE, __VA_ARGS__)
#define sn_scanr_x_seg(...) sn::segments_x(sn_scanr_x_seg_at, SN_HERE, __VA_ARGS__)
#define sn_filter(...) sn::scan1(sn_filter_at, SN_HERE, __VA_ARGS__)
#define sn_partition(...) sn::partition(SN_HERE, __VA_ARGS__)
#define sn_sort_by(...) sn::scan1(sn_sort_by_at, SN_HERE, __VA_ARGS__)
#define sn_merge_by(...) sn::merge_by(SN_HERE, __VA_ARGS__)
#define sn_permute(...) sn::permute(SN_HERE, __VA_ARGS__)
#define sn_reduce_by_key(...) sn::reduce_by_key(SN_HERE, __VA_ARGS__)
#define sn_stencil(...) sn::stencil(SN_HERE, __VA_ARGS__)
#define sn_stencil2(...) sn::stencil2(SN_HERE, __VA_ARGS__)
#define sn_outside(...) sn_outside_of(sn::fn(__VA_ARGS__))
#define sn_while(...) sn::while_(SN_HERE, __VA_ARGS__)
#define sn_iterate(...) sn::iterate(SN_HERE, __VA_ARGS__)
#define sn_loop(...) sn::loop(SN_HERE, __VA_ARGS__)
#define sn_sfold(...) sn::sfold(SN_HERE, __VA_ARGS__)
#define sn_foreign_scalar(...) sn::foreign_scalar(SN_HERE, __VA_ARGS__)
#define sn_check_operator(...) sn::check_operator(SN_HERE, __VA_ARGS__)

#endif
