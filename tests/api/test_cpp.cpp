/* The headers as C++17: the same programs as in C, with overloads instead of _Generic and lambdas instead of closures.
 * Results are compared with what C++ computes. */
#include <sinter/sinter.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <string>
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

sn_scalar square(sn_scalar x)
{
    return sn_mul(x, x);
}

sn_acc dotp(sn_acc xs, sn_acc ys)
{
    return sn_fold(sn_add, 0, sn_zip_with(sn_mul, xs, ys));
}

sn_program *compiled(sn_program *program, const sn_context *cx, int line)
{
    if (program)
        return program;
    failures++;
    std::printf("line %d: %s\n", line, sn_message(cx));
    return nullptr;
}
#define COMPILED(...) compiled(sn_compile(cx, __VA_ARGS__), cx, __LINE__)

void functions(sn_context *cx)
{
    const std::vector<float> x{1, 2, 3}, y{4, 5, 6};
    float r = 0;
    sn_program *p = COMPILED("[n]f32, [n]f32 -> f32", dotp);
    MUST(sn_call(p, sn_in(x), sn_in(y.data(), 3), sn_value(&r)) == SN_OK && r == 32);
    sn_drop(p);
    std::array<float, 3> out{};
    p = COMPILED("[n]f32 -> [n]f32", [](sn_acc a) { return sn_map(sn_sqrt, sn_map(square, a)); });
    MUST(sn_call(p, sn_in(x), sn_into(out)) == SN_OK && out[0] == 1 && out[2] == 3);
    sn_drop(p);
    /* the exponential function, not a copy of a handle, with and without a lambda around it */
    p = COMPILED("[n]f32 -> [n]f32", [](sn_acc a) { return sn_map([](sn_scalar e) { return sn_exp(e); }, a); });
    MUST(sn_call(p, sn_in(x), sn_into(out)) == SN_OK && out[0] > 2.718F && out[0] < 2.719F);
    sn_drop(p);
    p = COMPILED("[n]f32 -> [n]f32", [](sn_acc a) { return sn_map(sn_exp, a); });
    MUST(sn_call(p, sn_in(x), sn_into(out)) == SN_OK && out[0] > 2.718F && out[0] < 2.719F);
    sn_drop(p);
}

/* Numbers of every C++ type take the type of what they meet. */
void numbers(sn_context *cx)
{
    const short two = 2;
    const unsigned char three = 3;
    const std::size_t four = 4;
    double in = 1.5, out = 0;
    sn_program *p = COMPILED("f64 -> f64", [&](sn_acc a) {
        sn_scalar x = sn_the(a);
        x = sn_mul(sn_add(x, two), three);
        x = sn_sub(sn_min(x, four), 0.25f);
        return sn_unit(sn_if(sn_and(true, sn_gt(x, 1u)), sn_div(x, -1LL), 0));
    });
    MUST(sn_call(p, sn_value(&in), sn_value(&out)) == SN_OK && out == -3.75);
    sn_drop(p);
}

/* Lambdas with captures, with commas in brackets and braces, of several parameters, generic ones; what they capture may
 * be numbers, scalars, arrays. */
void closures(sn_context *cx)
{
    const float scale = 2, offset = 1;
    std::vector<float> x(100), out(100);
    std::iota(x.begin(), x.end(), 0.0f);
    sn_program *p = COMPILED("f32, [n]f32 -> [n]f32", [&](sn_acc add, sn_acc xs) {
        sn_scalar a = sn_the(add);
        sn_acc line = sn_map(
            [scale, offset](sn_scalar v) {
                sn_scalar s = sn_f32(scale), t = sn_f32(offset);
                return sn_add(sn_mul(v, s), t);
            },
            xs);
        return sn_imap([&, a](auto i, auto v) { return sn_add(sn_add(v, a), sn_index(xs, i)); }, line);
    });
    float more = 10;
    MUST(sn_call(p, sn_value(&more), sn_in(x), sn_into(out)) == SN_OK);
    for (int i = 0; i < 100; i++)
        MUST(out[static_cast<std::size_t>(i)] == static_cast<float>(3 * i + 11));
    sn_drop(p);
}

/* Loops, conditions, tuples: the greatest common divisor of pairs, and how many steps it took. */
void loops_and_tuples(sn_context *cx)
{
    std::vector<int64_t> a{12, 7, 0}, b{18, 21, 5}, divisor(3), last(3);
    std::vector<int32_t> steps(3);
    sn_program *p = COMPILED("[n](i64, i64) -> [n]i64, [n]i32, [n]i64", [](sn_acc pairs) {
        sn_acc all = sn_map(
            [](sn_scalar x, sn_scalar y) {
                return sn_while(
                    [](sn_scalar, sn_scalar v, sn_scalar) { return sn_ne(v, 0); },
                    [](sn_scalar u, sn_scalar v, sn_scalar n) { return sn_tuple(v, sn_rem(u, v), sn_add(n, 1)); },
                    sn_tuple(x, y, 0));
            },
            pairs);
        return sn_results(sn_fst(all), sn_get(all, 2), sn_snd(pairs));
    });
    MUST(sn_call(p, sn_in(a), sn_in(b), sn_into(divisor), sn_into(steps), sn_into(last)) == SN_OK);
    MUST(divisor[0] == 6 && divisor[1] == 7 && divisor[2] == 5 && last[1] == 21);
    MUST(steps[0] == 3 && steps[1] == 2 && steps[2] == 1);
    sn_drop(p);
    int64_t n = 10, sum = 0;
    p = COMPILED("i64 -> i64", [](sn_acc count) {
        return sn_unit(sn_loop(
            sn_the(count), [](sn_scalar i, sn_scalar s) { return sn_add(s, i); }, 0));
    });
    MUST(sn_call(p, sn_value(&n), sn_value(&sum)) == SN_OK && sum == 45);
    sn_drop(p);
}

/* Every operation that takes a function, and every list of arguments. */
void operations(sn_context *cx)
{
    std::vector<int32_t> m(12), out(12), edge(12), rows(3), small(6);
    std::iota(m.begin(), m.end(), 0);
    sn_program *p = COMPILED("[n,m]i32 -> [n,m]i32, [n,m]i32, [n]i32, i32, [k,l]i32", [](sn_acc a) {
        auto add3 = [](sn_scalar x, sn_scalar y, sn_scalar z) { return sn_add(x, sn_add(y, z)); };
        sn_acc turned = sn_backpermute(
            sn_shape_of(a), [&](sn_scalar i, sn_scalar j) { return sn_tuple(i, sn_sub(3, j)); }, a);
        sn_acc made =
            sn_generate(sn_shape(sn_extent(a, 0), 4), [](sn_scalar i, sn_scalar j) { return sn_to_i32(sn_sub(i, j)); });
        sn_acc sums = sn_zip_with(add3, a, turned, made);
        auto cross = [](sn_scalar s) { return sn_add(sn_at(s, 0, -1), sn_at(s, 1, 0)); };
        sn_acc blurred =
            sn_stencil(cross, sn_pattern(3, 3), sn_outside([](sn_scalar, sn_scalar j) { return sn_to_i32(j); }), a);
        sn_acc total = sn_fold1_all([](sn_scalar x, sn_scalar y) { return sn_max(x, y); }, a);
        sn_acc part = sn_take(2, sn_zip_min_with([](sn_scalar x, sn_scalar y) { return sn_sub(x, y); }, a, sn_tail(a)));
        sn_acc row = sn_fold(sn_commutative([](sn_scalar x, sn_scalar y) { return sn_add(x, y); }), 100, a);
        return sn_results(sums, blurred, row, total, part);
    });
    int32_t most = 0;
    MUST(sn_call(p, sn_in(m.data(), 3, 4), sn_into(out.data(), 3, 4), sn_into(edge.data(), 3, 4), sn_into(rows),
                 sn_value(&most), sn_into(small.data(), 3, 2)) == SN_OK);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++) {
            auto at = [&](int k, int l) { return k >= 0 && k < 3 && l >= 0 && l < 4 ? 4 * k + l : l; };
            std::size_t here = static_cast<std::size_t>(4 * i + j);
            MUST(out[here] == 4 * i + j + 4 * i + 3 - j + i - j);
            MUST(edge[here] == at(i, j - 1) + at(i + 1, j));
        }
    MUST(rows[0] == 106 && rows[2] == 138 && most == 11);
    for (int32_t v : small)
        MUST(v == -1);
    sn_drop(p);
}

/* Mistakes are those of C, with the lines of this file. */
void errors(sn_context *cx)
{
    int line = 0;
    sn_program *p = sn_compile(cx, "[n]f32 -> [n]f32", [&](sn_acc a) {
        line = __LINE__ + 1;
        auto half = [](sn_scalar x) { return sn_mod(x, 2); };
        return sn_map(half, a);
    });
    std::string message = sn_message(cx), place = "test_cpp.cpp:" + std::to_string(line) + ": mod: not defined on f32";
    MUST(p == nullptr && message.find(place) != std::string::npos);
    p = sn_compile(cx, "[n]f32 -> [n]f32",
                   [](sn_acc a) { return sn_map([](sn_scalar x, sn_scalar y) { return sn_add(x, y); }, a); });
    MUST(p == nullptr && std::strstr(sn_message(cx), "has 2 parameters, but is called with 1"));
    p = sn_compile(cx, "[n]f32 -> [n]f32", [&](sn_acc a, sn_acc) { return a; });
    MUST(p == nullptr && std::strstr(sn_message(cx), "the function has 2 parameters, but the signature 1"));
    p = COMPILED("[n]i32 -> [n]i32", [](sn_acc a) { return sn_map([](sn_scalar x) { return sn_div(7, x); }, a); });
    std::vector<int32_t> in{1, 0}, out(2);
    MUST(sn_call(p, sn_in(in), sn_into(out)) == SN_DIVISION);
    sn_drop(p);
}

/* Arrays that stay on the device, and an environment in the manner of C. */
struct line {
    sn_scalar slope;
};

sn_scalar on_line(void *env, sn_scalar x)
{
    return sn_mul(static_cast<line *>(env)->slope, x);
}

struct point {
    float x, y;
    int32_t id;
};

void structs(sn_context *cx)
{
    std::vector<point> in{{1, 2, 3}, {4, 5, 6}}, out(2);
    std::vector<float> all(2);
    sn_program *p = COMPILED("[n]{x: f32, y: f32, id: i32} -> [n]{x: f32, y: f32, id: i32}, [n]f32", [](sn_acc ps) {
        sn_acc next = sn_map([](sn_scalar q) { return sn_with(q, x, sn_mul(sn_field(q, y), 2)); }, ps);
        return sn_results(next, sn_field(next, x));
    });
    MUST(sn_call(p, sn_structs(in), sn_structs(out), sn_into(all)) == SN_OK);
    MUST(out[0].x == 4 && out[1].x == 10 && out[1].y == 5 && out[1].id == 6 && all[1] == 10);
    sn_pending *pending = sn_start(p, sn_structs(in.data(), 2), sn_structs(out.data(), 2), sn_into(all));
    MUST(sn_wait(pending) == SN_OK);
    sn_drop(p);
}

void arrays(sn_context *cx)
{
    sn_program *p = COMPILED("[n]f32 -> [n]f32", [](sn_acc a) {
        line l = {sn_f32(3)};
        return sn_map(sn_closure(on_line, &l), a);
    });
    const float x[] = {1, 2};
    float y[2] = {0, 0};
    sn_array *from = sn_upload(cx, sn_in(x, 2)), *to = nullptr;
    MUST(sn_call(p, sn_give(from), sn_keep(&to)) == SN_OK && sn_bytes(to) == sizeof(y));
    MUST(sn_read(to, y, sizeof(y)) == SN_OK && y[0] == 3 && y[1] == 6);
    sn_free(to);
    sn_drop(p);
    const std::vector<float> table{5, 6, 7};
    const int64_t index[] = {2, 0}, apart[] = {8}, two[] = {2};
    p = COMPILED("[n]i64, [n]f32 -> [n]f32",
                 [&](sn_acc at, sn_acc add) { return sn_zip_with(sn_add, sn_gather(at, sn_use(table)), add); });
    const float far[] = {1, 0, 2, 0};
    MUST(sn_call(p, sn_in(index, 2), sn_strided(far, 1, two, apart), sn_into(y, 2)) == SN_OK && y[0] == 8 && y[1] == 7);
    sn_drop(p);
}

/* Lambdas as operators of scans and as tests of filters; memory of containers for what is kept. */
void scans(sn_context *cx)
{
    std::vector<int32_t> in{3, -1, 4, -1, 5}, sums(5), before(5), kept(5);
    std::array<int32_t, 6> from_right{};
    int32_t total = 0;
    int64_t n = 0, count = 0;
    sn_program *p = COMPILED("[n]i32 -> [n]i32, [n]i32, i32, [m]i32, [k]i32, i64", [](sn_acc a) {
        int32_t least = 0; /* a comma in a capture, and in braces, ends no argument */
        auto add = [](sn_scalar x, sn_scalar y) { return sn_add(x, y); };
        sn_acc totals, number;
        sn_acc left =
            sn_scanl_x([&, least](sn_scalar x, sn_scalar y) { return sn_add(sn_add(x, y), least); }, 10, a, &totals);
        sn_acc both = sn_partition([&](sn_scalar x) { return sn_lt(x, least); }, a, &number);
        sn_acc positive = sn_filter([&](sn_scalar x) { return sn_gt(x, least); }, both);
        return sn_results(sn_scanl1(add, a), left, totals, sn_scanr(add, 0, a), positive, number);
    });
    MUST(sn_call(p, sn_in(in), sn_into(sums), sn_into(before), sn_value(&total), sn_into(from_right), sn_upto(kept, &n),
                 sn_value(&count)) == SN_OK);
    MUST((sums == std::vector<int32_t>{3, 2, 6, 5, 10} && before == std::vector<int32_t>{10, 13, 12, 16, 15}));
    MUST(total == 20 && from_right[0] == 10 && from_right[5] == 0 && from_right[4] == 5);
    MUST(n == 3 && kept[0] == 3 && kept[1] == 4 && kept[2] == 5 && count == 2);
    MUST(sn_call(p, sn_in(in), sn_into(sums), sn_into(before), sn_value(&total), sn_into(from_right),
                 sn_upto(kept.data(), 2, &n), sn_value(&count)) == SN_BAD_EXTENT);
    MUST(n == 3);
    sn_drop(p);
}

/* Joins of containers' arrays; operators that are lambdas, tried out. */
void joins(sn_context *cx)
{
    std::vector<int32_t> x{1, 2}, y{3, 4}, z(6);
    sn_program *p = COMPILED("[n]i32, [n]i32 -> [m]i32", [](sn_acc a, sn_acc b) {
        sn_acc rest, first = sn_split(1, a, &rest);
        return sn_concat(sn_interleave(a, b), first, sn_append_along(0, rest, sn_empty(SN_I32)));
    });
    MUST(sn_call(p, sn_in(x), sn_in(y), sn_into(z)) == SN_OK && (z == std::vector<int32_t>{1, 3, 2, 4, 1, 2}));
    sn_drop(p);
    int32_t zero = 0, one = 1;
    auto add = [](sn_scalar a, sn_scalar b) { return sn_add(a, b); };
    MUST(sn_check_operator(cx, "i32", add) == SN_OK && sn_check_operator(cx, "i32", add, sn_value(&zero)) == SN_OK);
    MUST(sn_check_operator(cx, "i32", sn_commutative(add), sn_value(&one)) == SN_BAD_OPERATOR);
}

/* Loops and choices of arrays whose functions are lambdas, with what they capture. */
void array_loops(sn_context *cx)
{
    std::vector<int32_t> x{1, 2, 3}, step{10, 20, 30}, z(3);
    sn_program *p = COMPILED("[n]i32, [n]i32 -> [n]i32", [](sn_acc a, sn_acc by) {
        return sn_aiterate(
            3, [&](sn_acc s) { return sn_zip_with(sn_add, s, by); }, a);
    });
    MUST(sn_call(p, sn_in(x), sn_in(step), sn_into(z)) == SN_OK && (z == std::vector<int32_t>{31, 62, 93}));
    sn_drop(p);
    p = COMPILED("[n]i32 -> [n]i32", [](sn_acc a) {
        sn_acc grown = sn_aloop(
            4,
            [&](sn_acc k, sn_acc s) {
                sn_scalar round = sn_to_i32(sn_the(k));
                return sn_map([&](sn_scalar e) { return sn_add(e, round); }, s);
            },
            a);
        return sn_acond(
            sn_gt(sn_index(grown, 0), 6), [](sn_acc s) { return sn_reverse(s); }, [](sn_acc s) { return s; }, grown);
    });
    MUST(sn_call(p, sn_in(x), sn_into(z)) == SN_OK && (z == std::vector<int32_t>{9, 8, 7}));
    sn_drop(p);
    p = COMPILED("[n]i32 -> [n]i32", [](sn_acc a) {
        sn_acc end = sn_awhile([](sn_acc n, sn_acc) { return sn_unit(sn_gt(sn_the(n), 0)); },
                               [](sn_acc n, sn_acc s) {
                                   return sn_results(sn_map([](sn_scalar e) { return sn_sub(e, 1); }, n),
                                                     sn_zip_with(sn_add, s, s));
                               },
                               sn_results(sn_unit(sn_i32(5)), a));
        return sn_result(end, 1);
    });
    MUST(sn_call(p, sn_in(x), sn_into(z)) == SN_OK && (z == std::vector<int32_t>{32, 64, 96}));
    sn_drop(p);
}

} // namespace

int main()
{
    sn_context *cx = sn_open(nullptr);
    if (!cx)
        return 1;
    functions(cx);
    numbers(cx);
    closures(cx);
    loops_and_tuples(cx);
    operations(cx);
    scans(cx);
    joins(cx);
    array_loops(cx);
    errors(cx);
    structs(cx);
    arrays(cx);
    sn_close(cx);
    return failures != 0;
}
