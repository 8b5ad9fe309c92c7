/* Signatures: what they mean for parameters and results, and what is said about wrong ones. */
#include "embed_test.h"
#include <stdio.h>

static sn_acc first(void *env, int n, const sn_acc *a)
{
    (void)env;
    return n ? a[0] : sn_iota(3);
}

static sn_acc all_of_them(void *env, int n, const sn_acc *a)
{
    (void)env;
    return sn_results_at(SN_HERE, n, a);
}

static built *parse(const char *signature, sn_acc (*f)(void *, int, const sn_acc *))
{
    return build_at((sn_site){"s.c", 7}, signature, sn_body_env(f, NULL));
}

static void parameters_and_results_are_described(void **state)
{
    (void)state;
    built *b =
        parse(" [n,3] f32,u8 ,[n](f64,(bool,char)),[ _k1 , n ]i64 -> [n,3]f32, u8, [n](f64,(bool,char)), [k,n]i64 ",
              all_of_them);
    assert_string_equal(b->messages, "");
    assert_int_equal(b->info.params, 4);
    assert_int_equal(b->info.results, 4);
    const embed_port *p = b->info.param;
    assert_int_equal(p[0].rank, 2);
    assert_int_equal(p[0].components, 1);
    assert_int_equal(p[0].type[0], T_F32);
    assert_string_equal(p[0].text, "[n,3]f32");
    assert_int_equal(p[1].rank, 0);
    assert_int_equal(p[1].type[0], T_U8);
    assert_int_equal(p[2].components, 3);
    assert_int_equal(p[2].type[1], T_BOOL);
    assert_int_equal(p[2].type[2], T_CHAR);
    assert_string_equal(p[2].text, "[n](f64, (bool, char))");
    assert_int_equal(p[0].shape[0], p[2].shape[0]); /* one name, one extent */
    assert_int_equal(p[0].shape[0], p[3].shape[1]);
    assert_int_not_equal(p[3].shape[0], p[3].shape[1]);
    int64_t three = 0;
    assert_true(ir_extent_constant(b->program, p[0].shape[1], &three));
    assert_int_equal(three, 3);
    assert_int_equal(b->program->dim.n, 2);
    assert_string_equal(b->program->dim.at[0], "n");
    assert_string_equal(b->program->dim.at[1], "_k1");
    assert_int_equal(b->info.result[3].shape[0], p[3].shape[0]); /* k of the results is whatever it is */
    assert_int_equal(b->program->output.n, 4);
    built_free(b);
}

static void structs_have_names_and_a_layout(void **state)
{
    (void)state;
    built *b = parse(
        "[n] { x :f32,in:{a:i8, b: (u8,f64) }, _y2: i16} -> [n]{x: f32, in: {a: i8, b: (u8, f64)}, _y2: i16}", first);
    assert_string_equal(b->messages, "");
    const embed_port *p = b->info.param;
    assert_string_equal(p[0].text, "[n]{x: f32, in: {a: i8, b: (u8, f64)}, _y2: i16}");
    assert_int_equal(p[0].components, 5);
    struct {
        float x;
        struct {
            int8_t a;
            struct {
                uint8_t first;
                double second;
            } b;
        } in;
        int16_t y;
    } c;
#define OFFSET(member) ((size_t)((char *)&c.member - (char *)&c))
    assert_true(p[0].tuple);
    assert_int_equal(p[0].bytes, sizeof(c));
    assert_int_equal(p[0].offset[0], OFFSET(x));
    assert_int_equal(p[0].offset[1], OFFSET(in.a));
    assert_int_equal(p[0].offset[2], OFFSET(in.b.first));
    assert_int_equal(p[0].offset[3], OFFSET(in.b.second));
    assert_int_equal(p[0].offset[4], OFFSET(y));
    built_free(b);
    b = parse("{id: f64} -> {id: f64}", first);
    assert_string_equal(b->messages, "");
    assert_int_equal(b->info.param[0].bytes, 8);
    built_free(b);
    b = parse("{x: f64, y: f64} -> {y: f64, x: f64}", first);
    assert_non_null(strstr(b->messages, "result 1 is {x: f64, y: f64}, but the signature has {y: f64, x: f64}"));
    built_free(b);
}

static void a_program_may_have_no_parameters(void **state)
{
    (void)state;
    built *b = parse("-> [3]i64", first);
    assert_string_equal(b->messages, "");
    assert_int_equal(b->info.params, 0);
    built_free(b);
    b = parse("->[9223372036854775807]i64", first);
    assert_non_null(strstr(b->messages, "extents of dimension 0: 3 and 9223372036854775807"));
    built_free(b);
}

typedef struct mistake {
    const char *signature, *message;
    int column; /* of the caret */
} mistake;

static void mistakes_are_shown(void **state)
{
    (void)state;
    static const mistake cases[] = {
        {"", "expected a type", 0},
        {"[n]f32", "expected '->' between the parameters and the results", 6},
        {"[n]f32 ->", "expected a type", 9},
        {"[n]f32 -> f32 f32", "expected ',' or the end", 14},
        {"[n]f32, -> f32", "expected a type", 8},
        {"[n f32 -> f32", "expected ']' after the extents", 3},
        {"[]f32 -> f32", "expected an extent, a name or a number", 1},
        {"[n,]f32 -> f32", "expected an extent, a name or a number", 3},
        {"[-1]f32 -> f32", "expected an extent, a name or a number", 1},
        {"[3x]f32 -> f32", "an extent is a name or a number", 2},
        {"[9223372036854775808]f32 -> f32", "the extent exceeds 64 bits", 1},
        {"[a,b,c,d,e,f,g,h,i]f32 -> f32", "rank 8 is the largest possible", 17},
        {"[n]float -> f32", "there is no type float", 3},
        {"[n]f3\t2 -> f32", "there is no type f3", 3},
        {"(f32) -> f32", "a tuple has at least two components", 0},
        {"(f32, i32 -> f32", "expected ')' after the components of a tuple", 10},
        {"(f32,) -> f32", "expected a type", 5},
        {"{x f32} -> f32", "expected ':' after the name of a field", 3},
        {"{f32} -> f32", "expected ':' after the name of a field", 4},
        {"{} -> f32", "expected the name of a field", 1},
        {"{3: f32} -> f32", "expected the name of a field", 1},
        {"{x: f32, x: f32} -> f32", "two fields are named x", 9},
        {"{x: f32, y: f32 -> f32", "expected '}' after the fields of a struct", 16},
        {"{x: f32, y: } -> f32", "expected a type", 12},
        {"f32 => f32", "the arrow between parameters and results, which is written ->", 4},
        {"f32 -> f32; f32", "expected ',' between two types", 10},
        {"f32[n] -> f32", "extents stand in front: [n]f32", 3},
        {"i8, f64 [n, 3] -> f32", "extents stand in front: [n, 3]f64", 8},
        {"f32 -> f32[n]", "extents stand in front: [n]f32", 10},
        {"f32[n+1] -> f32", "extents stand in front: [n]f32", 3},
        {"(f32, i32)[n] -> f32", "extents stand in front: [n]f32", 10},
        {"(f32[n], i32[n]) -> f32", "extents stand in front of the whole tuple: [n](f32, i32)", 4},
        {"([n]f32, [n]i32) -> f32", "extents stand in front of the whole tuple, [n](f32, i32)", 1},
        {"{x: f32[n]} -> f32", "extents stand in front of the whole tuple: [n](f32, i32)", 7},
        {"[n][m]f32 -> f32", "one array has one pair of brackets, [n,m]f32", 3},
        {"[n] -> f32", "that of the elements is missing behind the extents, [n]f32", 4},
        {"[n]f32", "as in \"[n]f32, f32 -> [n]f32\"", 6},
        {"[n]f32 ->", "that of the results stands behind ->", 9},
        {"", "a signature is parameters -> results", 0},
        {"f32, -> f32", "expected a type behind ','", 5},
        {"f32 -> f32,", "expected a type behind ','", 11},
        {"float -> f32", "there is no type float; write f32", 0},
        {"[n]double -> f32", "there is no type double; write f64", 3},
        {"int -> f32", "there is no type int; write i32", 0},
        {"uint8_t -> f32", "there is no type uint8_t; write u8", 0},
        {"F32 -> f32", "there is no type F32; write f32", 0},
        {"Bool -> f32", "there is no type Bool; write bool", 0},
        {"void -> f32", "there is no type void; without parameters a signature begins with ->", 0},
        {"() -> f32", "without parameters a signature begins with ->", 1},
        {"x: f32 -> f32", "there is no type x; only fields have names", 0},
        {"f32 x, f32 y -> f32", "only fields have names, {x: f32}; write the type alone", 4},
        {"f32* -> f32", "an array is written [n]f32, without *", 3},
        {"f32 f32 -> f32", "expected '->' between the parameters and the results, or ','", 4},
        {"f32 - f32", "which is written ->", 4},
        {"f32 \xe2\x86\x92 f32", "which is written ->", 4},
        {"f32 -> f32 -> f32", "there is one arrow; several results are separated by ','", 11},
        {"[n*2]f32 -> f32", "an extent is a name or a number: what is computed gets a name of its own", 2},
        {"[n]f32 -> [n+1]f32", "what is computed gets a name of its own", 12},
        {"[]f32 -> f32", "a single value has no brackets", 1},
        {"(f32) -> f32", "a single value has no parentheses", 0},
        {"{f32} -> f32", "without names it is the tuple (f32, f32)", 4},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        built *b = parse(cases[i].signature, first);
        char caret[128];
        snprintf(caret, sizeof caret, "\n    %*s^\n", cases[i].column, "");
        if (!strstr(b->messages, cases[i].message) || !strstr(b->messages, caret))
            fail_msg("\"%s\": %s", cases[i].signature, b->messages);
        assert_true(b->info.bad_signature);
        expect_message(b, "s.c", 7, "compile", "signature: ", NULL);
    }
}

static void hostile_signatures_are_refused(void **state)
{
    (void)state;
    enum { DEEP = 100000 };
    static char deep[DEEP + 1];
    memset(deep, '(', DEEP);
    expect_message(parse(deep, first), "s.c", 7, "compile", "nested more than 32 deep", NULL);
    for (int i = 0; i + 3 <= DEEP; i += 3)
        memcpy(deep + i, "{a:", 3);
    expect_message(parse(deep, first), "s.c", 7, "compile", "nested more than 32 deep", NULL);
    expect_message(parse(NULL, first), "s.c", 7, "compile", "signature: there is none", NULL);
    built *b = parse(deep, first);
    assert_true(strlen(b->messages) < 400); /* the part that matters */
    built_free(b);
    b = parse("[n]f32 -> \033[31m", first);
    assert_null(strchr(b->messages, '\033'));
    built_free(b);
    char wide[5 * 65 + 16] = "(f32";
    for (int i = 1; i < 65; i++)
        strcat(wide, ",f32");
    strcat(wide, ") -> f32");
    expect_message(parse(wide, first), "s.c", 7, "compile", "a tuple of 65 components", NULL);
}

static void too_many_elements_are_refused(void **state)
{
    (void)state;
    built *b = parse("[4294967296,4294967296]f32 -> f32", first);
    assert_non_null(strstr(b->messages, "exceeds 64 bits"));
    built_free(b);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(parameters_and_results_are_described), cmocka_unit_test(structs_have_names_and_a_layout),
        cmocka_unit_test(a_program_may_have_no_parameters),     cmocka_unit_test(mistakes_are_shown),
        cmocka_unit_test(hostile_signatures_are_refused),       cmocka_unit_test(too_many_elements_are_refused),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
