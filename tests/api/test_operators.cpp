/* sinter/operators.hpp: each operator on arrays, scalars and numbers against what C++ computes on the same numbers;
 * indices, assigning forms, and the places that messages have. */
#include <sinter/operators.hpp>

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <type_traits>
#include <vector>

namespace {

int failures;

void must(bool good, int line)
{
    if (good)
        return;
    failures++;
    std::printf("line %d\n", line);
}
#define MUST(...) must((__VA_ARGS__), __LINE__)

sn_program *compiled(sn_program *program, const sn_context *cx, int line)
{
    if (program)
        return program;
    failures++;
    std::printf("line %d: %s\n", line, sn_message(cx));
    return nullptr;
}
#define COMPILED(...) compiled(sn_compile(cx, __VA_ARGS__), cx, __LINE__)

const char *name_of(int32_t)
{
    return "i32";
}

const char *name_of(float)
{
    return "f32";
}

const char *name_of(bool)
{
    return "bool";
}

constexpr size_t N = 6;
template <class T> using list = std::array<T, N>;

/* f of two arrays, of an array and a number either way round, of two scalars and of a scalar and a number, against f of
 * two numbers. T: of the operands, R: of the result. */
template <class T, class R, class F>
void check(sn_context *cx, const list<T> &x, const list<T> &y, const F &f, int line)
{
    const T number = y[1];
    const std::string t = name_of(T()), r = std::string("[n]") + name_of(R());
    const std::string types = "[n]" + t + ", [n]" + t + " -> " + r + ", " + r + ", " + r + ", " + r + ", " + r;
    sn_program *p =
        compiled(sn_compile(cx, types.c_str(),
                            [&](sn_acc a, sn_acc b) {
                                return sn_results(f(a, b), f(number, b), f(a, number),
                                                  sn_zip_with([&](sn_scalar s, sn_scalar u) { return f(s, u); }, a, b),
                                                  sn_map([&](sn_scalar s) { return f(s, number); }, a));
                            }),
                 cx, line);
    list<R> out[5]{};
    const bool good = sn_call(p, sn_in(x), sn_in(y), sn_into(out[0]), sn_into(out[1]), sn_into(out[2]), sn_into(out[3]),
                              sn_into(out[4])) == SN_OK;
    must(good, line);
    for (size_t i = 0; i < N && good; i++) {
        const auto both = static_cast<R>(f(x[i], y[i])), right = static_cast<R>(f(x[i], number));
        must(out[0][i] == both && out[3][i] == both, line);
        must(out[1][i] == static_cast<R>(f(number, y[i])), line);
        must(out[2][i] == right && out[4][i] == right, line);
    }
    sn_drop(p);
}
#define CHECK(T, R, x, y, symbol)                                                                                      \
    check<T, R>(                                                                                                       \
        cx, x, y, [](const auto &a, const auto &b) { return a symbol b; }, __LINE__)

void binary(sn_context *cx)
{
    const list<int32_t> i{7, -7, 100, 0, 5, -8}, j{2, 2, -3, 9, 5, -3}, bits{1, 2, 3, 4, 5, 6};
    const list<float> x{1, -2.5f, 3, 0, 8, 1e10f}, y{4, 2, -0.5f, 3, 8, 7};
    const list<bool> p{true, false, true, false, true, true}, q{true, true, false, false, false, true};
    CHECK(int32_t, int32_t, i, j, +);
    CHECK(int32_t, int32_t, i, j, -);
    CHECK(int32_t, int32_t, i, j, *);
    CHECK(int32_t, int32_t, i, j, /); /* towards zero, as in C++ */
    CHECK(int32_t, int32_t, i, j, %);
    CHECK(int32_t, int32_t, i, j, &);
    CHECK(int32_t, int32_t, i, j, |);
    CHECK(int32_t, int32_t, i, j, ^);
    CHECK(int32_t, int32_t, bits, bits, <<);
    CHECK(int32_t, int32_t, i, bits, >>);
    CHECK(int32_t, bool, i, j, ==);
    CHECK(int32_t, bool, i, j, !=);
    CHECK(int32_t, bool, i, j, <);
    CHECK(int32_t, bool, i, j, <=);
    CHECK(int32_t, bool, i, j, >);
    CHECK(int32_t, bool, i, j, >=);
    CHECK(float, float, x, y, +);
    CHECK(float, float, x, y, -);
    CHECK(float, float, x, y, *);
    CHECK(float, float, x, y, /);
    CHECK(float, bool, x, y, ==);
    CHECK(float, bool, x, y, !=);
    CHECK(float, bool, x, y, <);
    CHECK(float, bool, x, y, <=);
    CHECK(float, bool, x, y, >);
    CHECK(float, bool, x, y, >=);
    CHECK(bool, bool, p, q, &&);
    CHECK(bool, bool, p, q, ||);
}

void unary(sn_context *cx)
{
    const list<int32_t> x{7, -7, 100, 0, 5, -8};
    list<int32_t> minus{}, inverse{}, changed{};
    list<bool> zero{};
    sn_program *p = COMPILED("[n]i32 -> [n]i32, [n]i32, [n]bool, [n]i32", [](sn_acc a) {
        sn_acc b = a;
        b += a;
        b *= 3;
        b -= 1;
        return sn_results(-a, ~a, !(a != 0),
                          sn_map(
                              [](sn_scalar s) {
                                  sn_scalar t = s;
                                  t += s;
                                  t *= 3;
                                  t -= 1;
                                  return t;
                              },
                              a) -
                              b + b);
    });
    MUST(sn_call(p, sn_in(x), sn_into(minus), sn_into(inverse), sn_into(zero), sn_into(changed)) == SN_OK);
    for (size_t i = 0; i < N; i++)
        MUST(minus[i] == -x[i] && inverse[i] == ~x[i] && zero[i] == (x[i] == 0) && changed[i] == 6 * x[i] - 1);
    sn_drop(p);
}

void indices(sn_context *cx)
{
    const float m[] = {1, 2, 3, 4, 5, 6}, row[] = {10, 20, 30};
    float out[6];
    sn_program *p = COMPILED("[n,m]f32, [m]f32 -> [n,m]f32", [](sn_acc a, sn_acc b) {
        return sn_generate(sn_shape_of(a), [=](sn_scalar i, sn_scalar j) { return a[{i, j}] * 2 + b[j]; });
    });
    MUST(sn_call(p, sn_in(m, 2, 3), sn_in(row, 3), sn_into(out, 2, 3)) == SN_OK);
    for (int i = 0; i < 6; i++)
        MUST(out[i] == m[i] * 2 + row[i % 3]);
    sn_drop(p);
    p = COMPILED("[n,m]f32 -> [n,m]f32", [](sn_acc a) { /* an index as a tuple; components of a tuple by number */
                                                        return sn_generate(sn_shape_of(a), [=](sn_scalar at) {
                                                            sn_scalar pair = sn_tuple(a[at], sn_to_f32(at[1]));
                                                            return pair[0] - pair[1];
                                                        });
    });
    MUST(sn_call(p, sn_in(m, 2, 3), sn_into(out, 2, 3)) == SN_OK);
    for (int i = 0; i < 6; i++)
        MUST(out[i] == m[i] - static_cast<float>(i % 3));
    sn_drop(p);
}

/* The right side of && is not evaluated where the left one decides: 1 / 0 is no error there. */
void decided(sn_context *cx)
{
    const int32_t x[] = {0, 5, 1};
    bool out[3];
    sn_program *p = COMPILED("[n]i32 -> [n]bool",
                             [](sn_acc a) { return sn_map([](sn_scalar s) { return s != 0 && 10 / s > 3; }, a); });
    MUST(sn_call(p, sn_in(x, 3), sn_into(out, 3)) == SN_OK && !out[0] && !out[1] && out[2]);
    sn_drop(p);
}

bool says(const sn_context *cx, int line, const char *what)
{
    const std::string said = sn_message(cx), place = "test_operators.cpp:" + std::to_string(line) + ": ";
    if (said.find(place) != std::string::npos && said.find(what) != std::string::npos)
        return true;
    std::printf("expected %s... %s: %s\n", place.c_str(), what, said.c_str());
    return false;
}

void mistakes(sn_context *cx)
{
    MUST(!sn_compile(cx, "[n]f32, [n]i32 -> [n]f32", [](sn_acc a, sn_acc b) { return a + b; }));
    MUST(says(cx, __LINE__ - 1, "add: "));
    MUST(!sn_compile(cx, "[n]f32 -> [n]f32", [](sn_acc a) { return a % 2; }));
    MUST(says(cx, __LINE__ - 1, "rem: "));
    MUST(!sn_compile(cx, "[n]f32, [n,m]f32 -> [n]f32", [](sn_acc a, sn_acc b) { return a * b; }));
    MUST(says(cx, __LINE__ - 1, "zip_with: "));
    MUST(!sn_compile(cx, "[n]f32 -> [n]f32", [](sn_acc a) { return sn_map([](sn_scalar x) { return x[1]; }, a); }));
    MUST(says(cx, __LINE__ - 1, "get: "));
    const int32_t x[] = {1, 2}, y[] = {1, 0};
    int32_t out[2];
    sn_program *p = COMPILED("[n]i32, [n]i32 -> [n]i32", [](sn_acc a, sn_acc b) { return a / b; });
    MUST(sn_call(p, sn_in(x, 2), sn_in(y, 2), sn_into(out, 2)) == SN_DIVISION);
    MUST(says(cx, __LINE__ - 2, "division by zero"));
    sn_drop(p);
}

} // namespace

int main()
{
    sn_context *cx = sn_open(nullptr);
    if (!cx)
        return 1;
    binary(cx);
    unary(cx);
    indices(cx);
    decided(cx);
    mistakes(cx);
    sn_close(cx);
    return failures != 0;
}
