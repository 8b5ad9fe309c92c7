/* Every mistake a user can make while building: reported once, with file, line, operation and what is wrong. */
#include "embed_test.h"
#include <stdio.h>
#include <stdlib.h>

/* A function of arrays with one mistake, and the line it is on. */
#define MISTAKE1(name, ...)                                                                                            \
    enum { name##_line = __LINE__ };                                                                                   \
    static sn_acc name(sn_acc a)                                                                                       \
    {                                                                                                                  \
        (void)a;                                                                                                       \
        return __VA_ARGS__;                                                                                            \
    }
#define MISTAKE2(name, ...)                                                                                            \
    enum { name##_line = __LINE__ };                                                                                   \
    static sn_acc name(sn_acc a, sn_acc b)                                                                             \
    {                                                                                                                  \
        return __VA_ARGS__;                                                                                            \
    }
#define EXPECT(name, signature, operation, ...)                                                                        \
    expect_message(build(signature, name), __FILE__, name##_line, operation, __VA_ARGS__, NULL)

static sn_scalar is_small(sn_scalar x)
{
    return sn_lt(x, 10);
}

static sn_scalar same(sn_scalar x)
{
    return x;
}

static sn_scalar doubled(sn_scalar x)
{
    return sn_tuple(x, x);
}

/* --- types --- */

MISTAKE2(different_types, sn_zip_with(sn_add, a, b))
MISTAKE1(undefined_on, sn_map(sn_sqrt, a))
MISTAKE1(operand_tuple, sn_map(sn_neg, a))
MISTAKE1(fold_returns_bool, sn_fold(sn_lt, 0, a))
MISTAKE1(fold_seed, sn_fold(sn_add, sn_i32(0), a))
MISTAKE1(fold_seed_tuple, sn_fold(sn_add, sn_tuple(0, 1), a))
MISTAKE1(branches, sn_unit(sn_if(true, sn_the(a), sn_tuple(1, 2))))
MISTAKE1(condition, sn_unit(sn_if(sn_the(a), 1, 2)))
MISTAKE1(logic, sn_unit(sn_and(true, sn_the(a))))
MISTAKE1(while_condition, sn_unit(sn_while(same, same, sn_the(a))))
MISTAKE1(while_state, sn_unit(sn_while(is_small, doubled, sn_the(a))))
MISTAKE1(iterate_state, sn_unit(sn_iterate(3, is_small, sn_the(a))))
MISTAKE1(no_component, sn_unit(sn_get(sn_the(a), 2)))
MISTAKE1(no_array_component, sn_get(a, 2))
MISTAKE1(no_type, sn_unit(sn_to((sn_type)99, sn_the(a))))
MISTAKE1(bits_of_another_width, sn_unit(sn_bitcast(SN_F64, sn_the(a))))
MISTAKE1(sum_of_pairs, sn_sum(a))
MISTAKE1(all_of_numbers, sn_all(a))
MISTAKE2(float_index, sn_gather(b, a))
MISTAKE1(index_type, sn_unit(sn_index(a, 1.5f)))
MISTAKE1(element_result, a)

static void types(void **state)
{
    (void)state;
    EXPECT(different_types, "[n]f32, [n]f64 -> [n]f32", "add", "f32 and f64");
    EXPECT(undefined_on, "[n]i32 -> [n]i32", "sqrt", "not defined on i32; convert with sn_to_f32 or sn_to_f64");
    EXPECT(operand_tuple, "[n](f32, i32) -> [n]f32", "neg", "operand 1 is the tuple (f32, i32)");
    EXPECT(fold_returns_bool, "[n]f32 -> f32", "fold", "must return f32, but returns bool");
    EXPECT(fold_seed, "[n]f32 -> f32", "fold", "i32", "f32");
    EXPECT(fold_seed_tuple, "[n]f32 -> f32", "fold", "must be f32 like the elements, but is (i32, i32)");
    EXPECT(branches, "f32 -> f32", "if", "different types: f32 and (i32, i32)");
    EXPECT(condition, "f32 -> i32", "if", "bool");
    EXPECT(logic, "f32 -> bool", "and", "operand 2 is of type f32, not bool; compare it, as in sn_ne(x, 0)");
    EXPECT(while_condition, "f32 -> f32", "while",
           "the condition must be bool, but is f32; compare it, as in sn_ne(x, 0)");
    EXPECT(while_state, "f32 -> f32", "while", "next state, f32, but returns (f32, f32)");
    EXPECT(iterate_state, "f32 -> f32", "iterate", "next state, f32, but returns bool");
    EXPECT(no_component, "(f32, i8) -> f32", "get", "(f32, i8) has no component 2");
    EXPECT(no_array_component, "[n](f32, i8) -> [n]f32", "get", "[n](f32, i8) have no component 2");
    EXPECT(no_type, "f32 -> f32", "to", "99 is no type");
    EXPECT(bits_of_another_width, "f32 -> f64", "bitcast", "f64", "f32");
    EXPECT(sum_of_pairs, "[n](f32, f32) -> f32", "sum", "arrays of numbers or bool, but is given [n](f32, f32)");
    EXPECT(all_of_numbers, "[n]i32 -> bool", "all", "arrays of bool, but is given [n]i32");
    EXPECT(float_index, "[n]f32, [n]f32 -> [n]f32", "gather", "an index must be an integer, but is of type f32");
    EXPECT(index_type, "[n]f32 -> f32", "index", "an index is the literal 1.5, which no i64 equals");
}

/* --- numbers of parameters, indices, dimensions --- */

MISTAKE1(too_few, sn_map(sn_add, a))
MISTAKE2(too_many, sn_zip_with(same, a, b))
MISTAKE1(few_indices, sn_unit(sn_index(a, 1)))
MISTAKE1(no_row, sn_unit(sn_sfold(sn_add, 0, a)))
MISTAKE1(slice_count, sn_slice(a, 1))
MISTAKE1(replicate_count, sn_replicate(a, 3, SN_ALL))
MISTAKE1(turn_vector, sn_transpose(a))
MISTAKE1(no_dimension, sn_unit(sn_extent(a, 2)))
MISTAKE1(the_of_vector, sn_unit(sn_the(a)))
MISTAKE1(unzip_scalars, sn_fst(a))
MISTAKE1(index_function, sn_backpermute(sn_shape(sn_extent(a, 0), 2), same, a))
MISTAKE1(rank_9, sn_fill(sn_shape(1, 2, 3, 4, 5, 6, 7, 8, 9), 1))
MISTAKE2(different_ranks, sn_zip(a, b))
MISTAKE1(fold_of_scalar, sn_fold(sn_add, 0, a))
MISTAKE1(iota_of_pair, sn_iota(sn_shape(2, 3)))

static void counts(void **state)
{
    (void)state;
    EXPECT(too_few, "[n]f32 -> [n]f32", "map", "has 2 parameters, but is called with 1: f32");
    EXPECT(too_many, "[n]f32, [n]i8 -> [n]f32", "zip_with", "has 1 parameter, but is called with 2: f32, i8");
    EXPECT(few_indices, "[n,m]f32 -> f32", "index", "1 indices into [n,m]f32, which has rank 2; write one for each");
    EXPECT(no_row, "[n,m]f32 -> f32", "sfold", "0 outer indices choose no row of [n,m]f32");
    EXPECT(slice_count, "[n,m]f32 -> [m]f32", "slice", "1 indices for [n,m]f32");
    EXPECT(replicate_count, "[n,m]f32 -> [3,m]f32", "replicate", "SN_ALL stands for 1 dimensions, but [n,m]f32 has 2");
    EXPECT(turn_vector, "[n]f32 -> [n]f32", "transpose", "[n]f32 has not two dimensions");
    EXPECT(no_dimension, "[n,m]f32 -> i64", "extent", "[n,m]f32 has no dimension 2");
    EXPECT(the_of_vector, "[n]f32 -> f32", "the", "[n]f32 has not rank 0");
    EXPECT(unzip_scalars, "[n]f32 -> [n]f32", "get", "[n]f32 have no component 0");
    EXPECT(index_function, "[n]f32 -> [n,2]f32", "backpermute", "an index into the array, of 1 integer, but returns");
}

/* --- extents --- */

MISTAKE2(constant_extents, sn_zip_with(sn_add, a, b))
MISTAKE1(reshape_size, sn_reshape(sn_shape(3, 4), a))
MISTAKE1(negative_extent, sn_fill(-3, sn_the(a)))
MISTAKE1(empty_fold1, sn_fold1(sn_add, a))
MISTAKE1(float_extent, sn_fill(2.5, 1))
MISTAKE1(data_extent, sn_fill(sn_index(a, 0), 1))
MISTAKE1(huge, sn_fill(sn_shape(INT64_MAX, 3), 1))

static const float few[3] = {1, 2, 3};
static const float *const nowhere = NULL;

MISTAKE1(use_negative, sn_use(few, -3))
MISTAKE1(use_nothing, sn_use(nowhere, 3))
MISTAKE1(use_size, sn_zip_with(sn_add, a, sn_use(few, 3)))
MISTAKE1(use_array, sn_use_at(SN_HERE, (sn_arg){.kind = SN_ARG_HELD}))
MISTAKE1(enum_bool, sn_enum_from_n(3, sn_bool(true)))
MISTAKE1(enum_types, sn_enum_from_step_n(3, sn_f32(1), sn_f64(1)))
MISTAKE1(take_of_scalar, sn_take(1, a))
MISTAKE1(take_float, sn_take(1.5f, a))
MISTAKE1(take_data, sn_take(sn_index(a, 0), a))
MISTAKE1(rotate_float, sn_rotate(sn_index(a, 0), a))
MISTAKE2(cut_ranks, sn_zip_min(a, b))
MISTAKE1(no_such_type, sn_empty((sn_type)99))
MISTAKE1(intersect_ranks, sn_fill(sn_intersect(sn_shape_of(a), sn_shape(1, 2)), 1))
MISTAKE1(position_rank, sn_unit(sn_to_index(sn_shape(2, 3), 1)))

enum { twice_f32_line = __LINE__ + 4 };

static sn_scalar twice_f32(sn_scalar x)
{
    return sn_mul(x, sn_f32(2));
}

enum { two_types_line = __LINE__ + 4 };

static sn_scalar two_types(sn_scalar x)
{
    return sn_mul(sn_mul(x, sn_f32(2)), sn_f64(2));
}

static sn_scalar back_and_forth(sn_scalar a, sn_scalar b)
{
    return sn_tuple(sn_add(b, sn_i8(1)), sn_add(a, sn_f32(1)));
}

MISTAKE1(begins_inexactly, sn_unit(sn_iterate(3, twice_f32, 0.1)))
MISTAKE1(begins_with_two_types, sn_unit(sn_iterate(3, two_types, 1)))
MISTAKE1(states_exchanged, sn_unit(sn_fst(sn_iterate(3, back_and_forth, sn_tuple(1, 2)))))
MISTAKE1(begins_with_tuple, sn_unit(sn_iterate(3, twice_f32, sn_tuple(1, 2))))

/* The function of a loop is run again when a state begun with a number meets a type: mistakes are told once. */
static void loops_begun_with_numbers(void **state)
{
    (void)state;
    EXPECT(begins_inexactly, "f32 -> f32", "iterate",
           "the initial value is the literal 0.1, which no f32 equals exactly");
    expect_message(build("f32 -> f32", begins_with_two_types), __FILE__, two_types_line, "mul",
                   "different types: f32 and f64", NULL);
    EXPECT(states_exchanged, "f32 -> f32", "iterate", "the next state, (f32, i8), but returns (i8, f32)");
    expect_message(build("f32 -> f32", begins_with_tuple), __FILE__, twice_f32_line, "mul",
                   "operand 1 is the tuple (i32, i32)", NULL);
}

MISTAKE1(field_of_number, sn_unit(sn_field(sn_the(a), x)))
MISTAKE1(no_field, sn_unit(sn_field(sn_the(a), z)))
MISTAKE1(no_array_field, sn_field(a, z))
MISTAKE1(field_of_tuple, sn_field(a, x))
MISTAKE1(with_other_type, sn_unit(sn_with(sn_the(a), y, sn_f64(1))))
MISTAKE1(with_tuple, sn_unit(sn_with(sn_the(a), y, sn_tuple(1, 2))))
MISTAKE1(with_literal, sn_unit(sn_with(sn_the(a), y, 0.5)))
MISTAKE1(few_names, sn_unit(sn_record("x", 1, 2)))
MISTAKE1(many_names, sn_unit(sn_record("x, y z", 1, 2)))
MISTAKE1(bad_name, sn_unit(sn_record("x 2y", 1, 2)))
MISTAKE1(same_names, sn_unit(sn_record("x x", 1, 2)))

static void fields(void **state)
{
    (void)state;
    EXPECT(field_of_number, "f32 -> f32", "field", "f32 has no named fields, hence no x");
    EXPECT(no_field, "{x: f32, y: i8} -> f32", "field", "{x: f32, y: i8} has no field z");
    EXPECT(no_array_field, "[n]{x: f32, y: i8} -> [n]f32", "field", "[n]{x: f32, y: i8} has no field z");
    EXPECT(field_of_tuple, "[n](f32, f32) -> [n]f32", "field", "no named fields");
    EXPECT(with_other_type, "{x: f32, y: i8} -> {x: f32, y: i8}", "with", "the field y is i8, but the new one f64");
    EXPECT(with_tuple, "{x: f32, y: i8} -> {x: f32, y: i8}", "with", "the field y is i8, but the new one (i32, i32)");
    EXPECT(with_literal, "{x: f32, y: i8} -> {x: f32, y: i8}", "with", "the new y is the literal 0.5");
    EXPECT(few_names, "f32 -> (i32, i32)", "record", "\"x\" names 1 fields, but there are 2 values");
    EXPECT(many_names, "f32 -> (i32, i32)", "record", "names 3 fields, but there are 2 values");
    EXPECT(bad_name, "f32 -> (i32, i32)", "record", "is no list of names");
    EXPECT(same_names, "f32 -> (i32, i32)", "record", "two fields are named x");
}

static void parts_and_data(void **state)
{
    (void)state;
    EXPECT(use_negative, "f32 -> [3]f32", "use", "negative: -3");
    EXPECT(use_nothing, "f32 -> [3]f32", "use", "the data are NULL");
    EXPECT(use_size, "[4]f32 -> [4]f32", "zip_with", "dimension 0: 4 and 3");
    EXPECT(use_array, "f32 -> [3]f32", "use", "expects a pointer to contiguous numbers");
    EXPECT(enum_bool, "f32 -> [3]bool", "enum_from_n", "numbers of one type, but is given bool");
    EXPECT(enum_types, "f32 -> [3]f32", "enum_from_step_n", "numbers of one type, but is given f32 and f64");
    EXPECT(take_of_scalar, "f32 -> f32", "take", "f32 has no dimension");
    EXPECT(take_float, "[n]f32 -> [k]f32", "take", "the number of elements is the literal 1.5");
    EXPECT(take_data, "[n]i64 -> [k]i64", "take", "an extent depends on an element of an array");
    EXPECT(rotate_float, "[n]f32 -> [n]f32", "rotate", "must be an integer, but is of type f32");
    EXPECT(cut_ranks, "[n]f32, [n,m]f32 -> [n](f32, f32)", "zip_min", "ranks differ: 1 and 2");
    EXPECT(no_such_type, "f32 -> [0]f32", "empty", "99 is no type");
    EXPECT(intersect_ranks, "[n]f32 -> [k]i32", "intersect", "the first shape has rank 1, the second rank 2");
    EXPECT(position_rank, "[n]f32 -> i64", "to_index", "the shape has rank 2, the index rank 1");
}

static void extents(void **state)
{
    (void)state;
    EXPECT(rank_9, "f32 -> f32", "fill", "rank 9; 8 is the largest possible");
    EXPECT(different_ranks, "[n]f32, [n,m]f32 -> [n]f32", "zip", "ranks differ: 1 and 2");
    EXPECT(fold_of_scalar, "f32 -> f32", "fold", "rank 0 has no dimension to fold");
    EXPECT(iota_of_pair, "f32 -> [2]i64", "iota", "expects one extent, but is given a shape of rank 2");
    EXPECT(constant_extents, "[3,n]f32, [4,n]f32 -> [3,n]f32", "zip_with", "dimension 0: 3 and 4");
    EXPECT(reshape_size, "[13]f32 -> [3,4]f32", "reshape", "13 and 12");
    EXPECT(negative_extent, "f32 -> [k]f32", "fill", "negative: -3");
    EXPECT(empty_fold1, "[n,0]f32 -> [n]f32", "fold1", "no elements");
    EXPECT(float_extent, "f32 -> [k]i32", "fill", "an extent is the literal 2.5");
    EXPECT(data_extent, "[n]i64 -> [k]i32", "fill", "an extent depends on an element of an array");
    EXPECT(huge, "f32 -> [k,l]i32", "fill", "exceeds 64 bits");
}

static sn_acc add_them(sn_acc a, sn_acc b)
{
    return sn_zip_with(sn_add, a, b);
}

static void unknown_extents_are_checked_at_run_time(void **state)
{
    (void)state;
    built *b = build("[n]f32, [m]f32 -> [n]f32", add_them);
    assert_string_equal(b->messages, "");
    assert_int_equal(b->program->check.n, 1);
    assert_int_equal(ir_at(b->program, b->program->check.at[0].left)->kind, IR_DIM);
    assert_int_equal(ir_at(b->program, b->program->check.at[0].right)->kind, IR_DIM);
    built_free(b);
    b = build("[n]f32, [n]f32 -> [n]f32", add_them);
    assert_int_equal(b->program->check.n, 0);
    built_free(b);
    b = build("[3]f32, [n]f32 -> [k]f32", add_them);
    assert_int_equal(b->program->check.n, 1);
    built_free(b);
}

/* --- handles --- */

static sn_scalar kept_scalar;
static sn_acc kept_array;

static sn_scalar keep_parameter(sn_scalar x)
{
    kept_scalar = sn_add(x, 1);
    return x;
}

static sn_acc keep_from_lambda(sn_acc a)
{
    return sn_map(keep_parameter, a);
}

MISTAKE1(use_kept_scalar, sn_fill(3, kept_scalar))
MISTAKE1(use_kept_array, sn_map(same, kept_array))
MISTAKE1(escape, sn_fold(sn_add, (keep_from_lambda(a), kept_scalar), a))

static sn_scalar use_in_other_lambda(sn_scalar x)
{
    return sn_mul(x, kept_scalar);
}

enum { use_in_other_lambda_line = __LINE__ - 3 };

static sn_acc escape_to_lambda(sn_acc a)
{
    return sn_map(use_in_other_lambda, sn_map(keep_parameter, a));
}

static void variables_do_not_escape(void **state)
{
    (void)state;
    EXPECT(escape, "[n]f32 -> f32", "fold", "the initial value depends on a parameter of the function given to map in ",
           "test_errors.c:", "and is used outside of it");
    expect_message(build("[n]f32 -> [n]f32", escape_to_lambda), __FILE__, use_in_other_lambda_line, "mul",
                   "operand 2 depends on a parameter", NULL);
}

static sn_scalar inner_loop(sn_scalar x)
{
    return sn_add(x, kept_scalar); /* of the function around it: that is open */
}

static sn_scalar around(sn_scalar x)
{
    kept_scalar = sn_mul(x, 3);
    return sn_iterate(2, inner_loop, x);
}

static sn_acc nested_functions(sn_acc a)
{
    return sn_map(around, a);
}

static void functions_inside_see_variables_around(void **state)
{
    (void)state;
    numbers in = {1, {2}, NUMBERS(1, 2)};
    expect_values(build("[n]f32 -> [n]f32", nested_functions), &in, 2, NUMBERS(7, 14));
}

static sn_acc keep_array(sn_acc a)
{
    kept_array = a;
    kept_scalar = sn_f32(1);
    return a;
}

static void handles_of_other_builds(void **state)
{
    (void)state;
    built_free(build("[n]f32 -> [n]f32", keep_array));
    EXPECT(use_kept_scalar, "[n]f32 -> [3]f32", "fill", "the element belongs to another program");
    EXPECT(use_kept_array, "[n]f32 -> [n]f32", "map", "the array belongs to another program");
}

static void handles_made_outside(void **state)
{
    (void)state;
    enum { LINE = __LINE__ + 1 };
    kept_scalar = sn_mul(2, sn_f32(1));
    char where[128];
    snprintf(where, sizeof where, "the element was made while nothing was being compiled, in line %d", LINE);
    EXPECT(use_kept_scalar, "[n]f32 -> [3]f32", "fill", where);
    kept_scalar = sn_f32(1);
    EXPECT(use_kept_scalar, "[n]f32 -> [3]f32", "fill", "the element was made while nothing was being compiled");
    kept_array = sn_map(same, (sn_acc){0});
    EXPECT(use_kept_array, "[n]f32 -> [n]f32", "map", "the array was made while nothing was being compiled");
    kept_array.bits = 12345678901234567u; /* no handle at all */
    EXPECT(use_kept_array, "[n]f32 -> [n]f32", "map", "the array");
}

MISTAKE1(all_as_scalar, sn_unit(sn_add(sn_the(a), SN_ALL)))
MISTAKE1(results_inside, sn_map(same, sn_results(a, a)))

static sn_scalar maps_inside(void *env, sn_scalar x)
{
    sn_acc *a = env;
    return sn_add(x, sn_the(sn_fold(sn_add, 0, *a)));
}

enum { maps_inside_line = __LINE__ - 3 };

static sn_acc array_in_scalar(sn_acc a)
{
    return sn_map(sn_closure(maps_inside, &a), a);
}

static sn_acc null_function(sn_acc a)
{
    return sn_map((sn_fn){0}, a);
}

static void wrong_kinds(void **state)
{
    (void)state;
    EXPECT(all_as_scalar, "f32 -> f32", "add", "operand 2 is SN_ALL");
    EXPECT(results_inside, "[n]f32 -> [n]f32", "map", "several results");
    expect_message(build("[n]f32 -> [n]f32", array_in_scalar), __FILE__, maps_inside_line, "fold",
                   "an array operation inside a scalar function", NULL);
    built *b = build("[n]f32 -> [n]f32", null_function);
    assert_non_null(strstr(b->messages, "map: the function is NULL"));
    built_free(b);
}

/* --- stencils --- */

static sn_scalar centre(sn_scalar s)
{
    return sn_at(s, 0, 0);
}

static sn_scalar too_far(sn_scalar s)
{
    return sn_at(s, 0, 2);
}

enum { too_far_line = __LINE__ - 3 };

static sn_scalar all_neighbours(sn_scalar s)
{
    return sn_add(s, 1);
}

enum { all_neighbours_line = __LINE__ - 3 };

MISTAKE1(pattern_rank, sn_stencil(centre, sn_pattern(3), sn_clamp, a))
MISTAKE1(pattern_even, sn_stencil(centre, sn_pattern(3, 4), sn_clamp, a))
MISTAKE1(pattern_large, sn_stencil(centre, sn_pattern(11, 3), sn_clamp, a))
MISTAKE1(boundary_type, sn_stencil(centre, sn_pattern(3, 3), sn_constant(sn_i32(0)), a))
MISTAKE1(boundary_function, sn_stencil(centre, sn_pattern(3, 3), sn_outside(same), a))
MISTAKE1(stencil_rank, sn_stencil(centre, sn_pattern(1, 1), sn_clamp, a))
MISTAKE1(no_neighbours, sn_map(centre, a))
MISTAKE1(offset_outside, sn_stencil(too_far, sn_pattern(3, 3), sn_clamp, a))
MISTAKE1(neighbours_as_scalar, sn_stencil(all_neighbours, sn_pattern(3, 3), sn_clamp, a))

static void stencils(void **state)
{
    (void)state;
    EXPECT(pattern_rank, "[n,m]f32 -> [n,m]f32", "stencil", "a pattern of rank 1 for [n,m]f32");
    EXPECT(pattern_even, "[n,m]f32 -> [n,m]f32", "stencil", "extent 1 of the pattern is 4");
    EXPECT(pattern_large, "[n,m]f32 -> [n,m]f32", "stencil", "extent 0 of the pattern is 11");
    EXPECT(boundary_type, "[n,m]f32 -> [n,m]f32", "stencil", "must be f32 like the elements, but is i32");
    EXPECT(boundary_function, "[n,m]f32 -> [n,m]f32", "stencil", "must return f32, but returns (i64, i64)");
    EXPECT(stencil_rank, "f32 -> f32", "stencil", "rank 1 to 3, not f32");
    built *b = build("[n,m]f32 -> [n,m]f32", offset_outside);
    expect_message(b, __FILE__, too_far_line, "at", "offset 2 in dimension 1 lies outside the pattern, -1 to 1", NULL);
    b = build("[n,m]f32 -> [n,m]f32", neighbours_as_scalar);
    expect_message(b, __FILE__, all_neighbours_line, "add", "operand 1", "neighbours of a stencil", NULL);
    b = build("[n]f32 -> [n]f32", no_neighbours);
    assert_non_null(strstr(b->messages, "at: the operand is not what a stencil's function is given"));
    built_free(b);
}

/* --- handles that were never set --- */

enum { adds_nothing_line = __LINE__ + 5 };

static sn_scalar adds_nothing(sn_scalar x)
{
    sn_scalar forgotten = {0};
    return sn_mul(sn_add(x, forgotten), 2);
}

static sn_scalar gives_nothing(sn_scalar x)
{
    (void)x;
    return (sn_scalar){0};
}

static const sn_acc no_array = {0};
static const sn_scalar no_scalar = {0};

MISTAKE1(map_adds_nothing, sn_map(adds_nothing, a))
MISTAKE1(map_gives_nothing, sn_map(gives_nothing, a))
MISTAKE1(map_nothing, sn_sum(sn_map(same, no_array)))
MISTAKE1(zip_nothing, sn_zip_with(sn_add, a, no_array))
MISTAKE1(fold_nothing, sn_fold(sn_add, no_scalar, a))
MISTAKE1(fill_nothing, sn_fill(3, no_scalar))

static void zero_handles(void **state)
{
    (void)state;
    built *b = build("[n]f32 -> [n]f32", map_adds_nothing);
    expect_message(b, __FILE__, adds_nothing_line, "add", "operand 2 is no value: a variable that was never set", NULL);
    EXPECT(map_gives_nothing, "[n]f32 -> [n]f32", "map", "what the function returns is no value: a variable that");
    EXPECT(map_nothing, "[n]f32 -> f32", "map", "the array is no value");
    EXPECT(zip_nothing, "[n]f32 -> [n]f32", "zip_with", "the array is no value");
    EXPECT(fold_nothing, "[n]f32 -> f32", "fold", "the initial value is no value");
    EXPECT(fill_nothing, "[n]f32 -> [3]f32", "fill", "the element is no value");
}

/* --- array operations in scalar functions: one message, whatever is made of them --- */

static sn_scalar sums_a_row(void *env, sn_scalar i)
{
    sn_acc *a = env;
    return sn_mul(sn_the(sn_sum(sn_map(sn_neg, sn_slice(*a, i, SN_ALL)))), 2);
}

enum { sums_a_row_line = __LINE__ - 3 };

static sn_acc row_sums(sn_acc a)
{
    return sn_generate(sn_extent(a, 0), sn_closure(sums_a_row, &a));
}

static void array_code_in_scalar_code(void **state)
{
    (void)state;
    expect_message(build("[n,m]f32 -> [n]f32", row_sums), __FILE__, sums_a_row_line, "slice",
                   "an array operation inside a scalar function", "sn_sfold", NULL);
}

/* --- the program as a whole --- */

static sn_acc returns_nothing(sn_acc a)
{
    (void)a;
    return (sn_acc){0};
}

static sn_acc returns_two(sn_acc a)
{
    return sn_results(a, a);
}

static void wrong(int line, built *b, const char *what)
{
    expect_message(b, __FILE__, line, "compile", what, NULL);
}

static void results(void **state)
{
    (void)state;
    wrong(__LINE__, build("[n]f32 -> f32", element_result), "result 1 is [n]f32, but the signature has f32");
    wrong(__LINE__, build("[n]f32 -> [n]f64", element_result), "result 1 is [n]f32, but the signature has [n]f64");
    wrong(__LINE__, build("[3]f32 -> [4]f32", element_result), "extents of dimension 0: 3 and 4");
    wrong(__LINE__, build("[n]f32 -> [n]f32", returns_nothing), "what the function returns is no value");
    wrong(__LINE__, build("[n]f32 -> [n]f32", returns_two), "returns 2 results, but the signature has 1");
    wrong(__LINE__, build("[n]f32 -> [n]f32, f32", element_result), "returns 1 result, but the signature has 2");
    wrong(__LINE__, build("[n]f32, f32 -> [n]f32", element_result), "has 1 parameter, but the signature 2");
    wrong(__LINE__, build_at(SN_HERE, "f32 -> f32", (sn_body){0}), "the function is NULL");
    built *b = build("[n]f32, [m]f32 -> [n]f32", add_them);
    assert_int_equal(b->program->check.n, 1);
    built_free(b);
}

static sn_acc three_mistakes(sn_acc a, sn_acc b)
{
    sn_acc x = sn_zip_with(sn_add, a, b);
    sn_acc y = sn_transpose(a);
    sn_acc z = sn_map(sn_sqrt, x); /* x is bad: nothing more is said */
    return sn_results(sn_map(sn_not, b), y, z);
}

enum { three_mistakes_line = __LINE__ - 6 };

static void all_mistakes_are_collected(void **state)
{
    (void)state;
    built *b = build("[n]f32, [n]f64 -> f32, f32, f32", three_mistakes);
    char wanted[2048];
    snprintf(wanted, sizeof wanted,
             "%s:%d: add: the operands have different types: f32 and f64; convert one (sn_to_f32, sn_to_f64)\n"
             "%s:%d: transpose: [n]f32 has not two dimensions to exchange; an array of rank 2 or more has\n"
             "%s:%d: not: not defined on f64; compare it, as in sn_ne(x, 0)\n",
             __FILE__, three_mistakes_line, __FILE__, three_mistakes_line + 1, __FILE__, three_mistakes_line + 3);
    assert_string_equal(b->messages, wanted);
    built_free(b);
}

static sn_acc hundred_mistakes(sn_acc a)
{
    for (int i = 0; i < 100; i++)
        (void)sn_transpose(a);
    return a;
}

static void many_messages_are_cut(void **state)
{
    (void)state;
    built *b = build("[n]f32 -> [n]f32", hundred_mistakes);
    assert_int_equal(b->program->error.n, 100);
    assert_non_null(strstr(b->messages, "\nand 50 more\n"));
    built_free(b);
}

/* --- builds inside builds, and builds without memory --- */

static sn_acc build_inside(sn_acc a)
{
    kept_array = a;
    sn_acc before = sn_map(same, a);
    built *inner = build("[n]f32 -> [n]f32", use_kept_array);
    expect_message(inner, __FILE__, use_kept_array_line, "map", "the array belongs to another program", NULL);
    return sn_zip_with(sn_add, before, a); /* the outer build goes on */
}

static void builds_may_be_nested(void **state)
{
    (void)state;
    numbers in = {1, {2}, NUMBERS(1, 2)};
    expect_values(build("[n]f32 -> [n]f32", build_inside), &in, 2, NUMBERS(2, 4));
}

typedef struct scarce {
    base_heap heap;
    int left, live;
} scarce;

static void *scarce_alloc(void *env, size_t bytes)
{
    scarce *s = env;
    if (s->left-- <= 0)
        return NULL;
    s->live++;
    return malloc(bytes);
}

static void scarce_release(void *env, void *block)
{
    scarce *s = env;
    s->live -= block != NULL;
    free(block);
}

static sn_scalar long_function(sn_scalar x)
{
    for (int i = 0; i < 2000; i++)
        x = sn_add(sn_mul(x, x), sn_f32((float)i));
    return x;
}

static sn_acc map_long_function(sn_acc a)
{
    return sn_map(long_function, a);
}

static void memory_may_run_out(void **state)
{
    (void)state;
    int failures = 0;
    for (int allowed = 0;; allowed++) {
        scarce s = {{scarce_alloc, scarce_release, &s}, allowed, 0};
        embed_result info;
        jmp_buf mine;
        arena a;
        arena_init(&a, &s.heap);
        arena_on_failure(&a, &mine);
        ir_program *p = embed_build(&a, SN_HERE, "[n]f32 -> [n]f32", sn_body_1(map_long_function), &info);
        assert_ptr_equal(a.failure, &mine);
        assert_int_equal(sn_f32(1).bits >> 32, 0); /* no build is in progress any more */
        failures += p == NULL;
        assert_int_equal(p ? p->error.n : 0, 0);
        arena_free(&a);
        assert_int_equal(s.live, 0);
        if (p)
            break;
    }
    assert_in_range(failures, 3, 1000);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(types),
        cmocka_unit_test(counts),
        cmocka_unit_test(loops_begun_with_numbers),
        cmocka_unit_test(fields),
        cmocka_unit_test(parts_and_data),
        cmocka_unit_test(extents),
        cmocka_unit_test(unknown_extents_are_checked_at_run_time),
        cmocka_unit_test(variables_do_not_escape),
        cmocka_unit_test(functions_inside_see_variables_around),
        cmocka_unit_test(handles_of_other_builds),
        cmocka_unit_test(handles_made_outside),
        cmocka_unit_test(wrong_kinds),
        cmocka_unit_test(stencils),
        cmocka_unit_test(zero_handles),
        cmocka_unit_test(array_code_in_scalar_code),
        cmocka_unit_test(results),
        cmocka_unit_test(all_mistakes_are_collected),
        cmocka_unit_test(many_messages_are_cut),
        cmocka_unit_test(builds_may_be_nested),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
