/* Operators of C++ on computations, for those who include this header after, or instead of, sinter.h:
 *
 *     sn_acc saxpy(sn_acc a, sn_acc x, sn_acc y) { return sn_the(a) * x + y; }
 *
 * On scalars + - * / % and unary -, comparisons, && || !, & | ^ ~ << >>, with numbers too (x * 2 is sn_mul(x, 2)), and
 * their assigning forms. && and || evaluate their right side only if the left one does not decide, as sn_and and sn_or.
 * Operators mean what they mean in C++: / of integers rounds towards zero and % has the sign of the dividend (sn_quot
 * and sn_rem), where sn_div and sn_mod round down.
 *
 * On arrays the same, element by element: two arrays have one shape (sn_zip_with), a scalar or a number is combined
 * with each element (sn_map). Comparisons give arrays of bool: a == b is no answer to whether two handles are the same.
 *
 * a[i] is sn_index(a, i), for scalar code, a[{i, j}] the same for rank 2, a[t] for a tuple t. t[0] with a C++ integer
 * is component 0 of a tuple.
 *
 * Messages have the file and line of the operand that stands first. */
#ifndef SINTER_OPERATORS_HPP
#define SINTER_OPERATORS_HPP

#include "sinter/sinter.h"

#include <initializer_list>
#include <type_traits>

namespace sn {

/* An operand with the place where it was written: a scalar or a number. */
struct scalar_operand {
    sn_scalar value;
    sn_site at;
    scalar_operand(sn_scalar x, const char *file = __builtin_FILE(), int line = __builtin_LINE())
        : value(x), at{file, line}
    {
    }
    template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
    scalar_operand(T x, const char *file = __builtin_FILE(), int line = __builtin_LINE())
        : value(lift(x)), at{file, line}
    {
    }
    /* {i, j}: a tuple, 2 to 8 components; an index of a higher rank */
    scalar_operand(std::initializer_list<scalar_operand> list, const char *file = __builtin_FILE(),
                   int line = __builtin_LINE())
        : value{0}, at{file, line}
    {
        constexpr int most = 8;
        sn_scalar component[most + 1]; /* one too many are too many for sn_tuple_at, too */
        int n = 0;
        for (const scalar_operand &x : list)
            if (n <= most)
                component[n++] = x.value;
        value = n == 1 ? component[0] : sn_tuple_at(at, n, component);
    }
};

/* The number of a component, with the place where it was written. */
struct component_operand {
    int number;
    sn_site at;
    component_operand(int component, const char *file = __builtin_FILE(), int line = __builtin_LINE())
        : number(component), at{file, line}
    {
    }
};

struct array_operand {
    sn_acc value;
    sn_site at;
    array_operand(sn_acc a, const char *file = __builtin_FILE(), int line = __builtin_LINE()) : value(a), at{file, line}
    {
    }
};

namespace detail {

using unary = sn_scalar (*)(sn_scalar);
using binary = sn_scalar (*)(sn_scalar, sn_scalar);

inline sn_scalar combine(binary f, const scalar_operand &x, const scalar_operand &y)
{
    return sn_call2_at(x.at, f, x.value, y.value);
}

inline sn_acc combine(binary f, const array_operand &x, const array_operand &y)
{
    const sn_acc both[] = {x.value, y.value};
    return sn_zip_with_at(x.at, sn_fn_2(f), 2, both);
}

/* an operator with one operand the same for all elements */
struct partly {
    binary f;
    sn_scalar other;
    sn_site at;
    static sn_scalar left(void *env, sn_scalar x)
    {
        const partly &p = *static_cast<const partly *>(env);
        return sn_call2_at(p.at, p.f, p.other, x);
    }
    static sn_scalar right(void *env, sn_scalar x)
    {
        const partly &p = *static_cast<const partly *>(env);
        return sn_call2_at(p.at, p.f, x, p.other);
    }
};

inline sn_acc combine(binary f, const array_operand &x, const scalar_operand &y)
{
    partly p{f, y.value, x.at};
    return sn_map_at(x.at, sn_closure_1(&partly::right, &p), x.value);
}

inline sn_acc combine(binary f, const scalar_operand &x, const array_operand &y)
{
    partly p{f, x.value, x.at};
    return sn_map_at(x.at, sn_closure_1(&partly::left, &p), y.value);
}

inline sn_scalar apply(unary f, const scalar_operand &x)
{
    return sn_call1_at(x.at, f, x.value);
}

inline sn_acc apply(unary f, const array_operand &x)
{
    return sn_map_at(x.at, sn_fn_1(f), x.value);
}

} // namespace detail
} // namespace sn

#define SN_OPERATOR(symbol, function)                                                                                  \
    inline sn_scalar operator symbol(const sn::scalar_operand &x, const sn::scalar_operand &y)                         \
    {                                                                                                                  \
        return sn::detail::combine(function, x, y);                                                                    \
    }                                                                                                                  \
    inline sn_acc operator symbol(const sn::array_operand &x, const sn::array_operand &y)                              \
    {                                                                                                                  \
        return sn::detail::combine(function, x, y);                                                                    \
    }                                                                                                                  \
    inline sn_acc operator symbol(const sn::array_operand &x, const sn::scalar_operand &y)                             \
    {                                                                                                                  \
        return sn::detail::combine(function, x, y);                                                                    \
    }                                                                                                                  \
    inline sn_acc operator symbol(const sn::scalar_operand &x, const sn::array_operand &y)                             \
    {                                                                                                                  \
        return sn::detail::combine(function, x, y);                                                                    \
    }
#define SN_UNARY_OPERATOR(symbol, function)                                                                            \
    inline sn_scalar operator symbol(const sn::scalar_operand &x)                                                      \
    {                                                                                                                  \
        return sn::detail::apply(function, x);                                                                         \
    }                                                                                                                  \
    inline sn_acc operator symbol(const sn::array_operand &x)                                                          \
    {                                                                                                                  \
        return sn::detail::apply(function, x);                                                                         \
    }
/* x += y is x = x + y: handles are values. */
#define SN_ASSIGNING_OPERATOR(symbol)                                                                                  \
    inline sn_scalar &operator symbol##=(sn_scalar &x, const sn::scalar_operand &y)                                    \
    {                                                                                                                  \
        return x = sn::scalar_operand(x, y.at.file, y.at.line) symbol y;                                               \
    }                                                                                                                  \
    inline sn_acc &operator symbol##=(sn_acc &x, const sn::array_operand &y)                                           \
    {                                                                                                                  \
        return x = sn::array_operand(x, y.at.file, y.at.line) symbol y;                                                \
    }                                                                                                                  \
    inline sn_acc &operator symbol##=(sn_acc &x, const sn::scalar_operand &y)                                          \
    {                                                                                                                  \
        return x = sn::array_operand(x, y.at.file, y.at.line) symbol y;                                                \
    }

SN_OPERATOR(+, &sn_add)
SN_OPERATOR(-, &sn_sub)
SN_OPERATOR(*, &sn_mul)
SN_OPERATOR(/, &sn_c_div)
SN_OPERATOR(%, &sn_rem)
SN_OPERATOR(==, &sn_eq)
SN_OPERATOR(!=, &sn_ne)
SN_OPERATOR(<, &sn_lt)
SN_OPERATOR(<=, &sn_le)
SN_OPERATOR(>, &sn_gt)
SN_OPERATOR(>=, &sn_ge)
SN_OPERATOR(&&, &sn_and)
SN_OPERATOR(||, &sn_or)
SN_OPERATOR(&, &sn_bit_and)
SN_OPERATOR(|, &sn_bit_or)
SN_OPERATOR(^, &sn_bit_xor)
SN_OPERATOR(<<, &sn_shl)
SN_OPERATOR(>>, &sn_shr)
SN_UNARY_OPERATOR(-, &sn_neg)
SN_UNARY_OPERATOR(!, &sn_not)
SN_UNARY_OPERATOR(~, &sn_bit_not)
SN_ASSIGNING_OPERATOR(+)
SN_ASSIGNING_OPERATOR(-)
SN_ASSIGNING_OPERATOR(*)
SN_ASSIGNING_OPERATOR(/)
SN_ASSIGNING_OPERATOR(%)
SN_ASSIGNING_OPERATOR(&)
SN_ASSIGNING_OPERATOR(|)
SN_ASSIGNING_OPERATOR(^)
SN_ASSIGNING_OPERATOR(<<)
SN_ASSIGNING_OPERATOR(>>)
#undef SN_OPERATOR
#undef SN_UNARY_OPERATOR
#undef SN_ASSIGNING_OPERATOR

inline sn_scalar sn_acc::operator[](const sn::scalar_operand &index) const
{
    return sn_index_at(index.at, *this, 1, &index.value);
}

inline sn_scalar sn_scalar::operator[](const sn::component_operand &component) const
{
    return sn_get_at(component.at, *this, component.number);
}

#endif
