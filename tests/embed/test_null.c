/* NULL where a list or a name is expected, numbers of elements below 0, and handles that nobody gave: one message each.
 */
#include "embed_test.h"

#include <string.h>

enum { CASES = 22 };

static const char *const said[CASES] = {
    "field: the name of the field of {x: f32, y: i32} is NULL",
    "field: the name of the field of [n]{x: f32, y: i32} is NULL",
    "with: the name of the field of {x: f32, y: i32} is NULL",
    "record: there are no names",
    "unzip: the list of components is NULL",
    "unzip: -2 components; give a number from 0 on",
    "zip: the list of arrays is NULL",
    "zip_with: the list of arrays is NULL",
    "izip_with: the list of arrays is NULL",
    "results: the list of results is NULL",
    "results: -1 results",
    "index: the list of indices is NULL",
    "index: -1 indices",
    "shape: the list of extents is NULL",
    "tuple: the list of components is NULL",
    "tuple: 17 components; a tuple has 1 to 16",
    "replicate: the list of dimensions is NULL",
    "slice: -3 dimensions",
    "sfold: the list of indices is NULL",
    "at: the list of offsets is NULL; give 1 of them",
    "add: operand 1 is no value of this program",
    "map: the array is no value of this program",
};

static sn_scalar no_offsets(sn_scalar s)
{
    return sn_neighbour_at(SN_HERE, s, 1, NULL);
}

static sn_acc one_mistake(void *env, int count, const sn_acc *a)
{
    const int which = *(const int *)env;
    const sn_acc array = a[0];
    const sn_scalar s = sn_index(array, 0), x = sn_field(s, x);
    (void)count;
    switch (which) {
    case 0:
        return sn_unit(sn_field_at(SN_HERE, s, NULL));
    case 1:
        return sn_array_field_at(SN_HERE, array, NULL);
    case 2:
        return sn_unit(sn_with_at(SN_HERE, s, NULL, x));
    case 3:
        return sn_unit(sn_record_at(SN_HERE, NULL, 1, &x));
    case 4:
    case 5:
        sn_unzip_at(SN_HERE, array, which == 4 ? 2 : -2, NULL);
        return sn_unit(x);
    case 6:
        return sn_zip_at(SN_HERE, 2, NULL);
    case 7:
        return sn_zip_with_at(SN_HERE, SN_FN(sn_add), 2, NULL);
    case 8:
        return sn_izip_with_at(SN_HERE, SN_FN(sn_add), 2, NULL);
    case 9:
    case 10:
        return sn_results_at(SN_HERE, which == 9 ? 2 : -1, NULL);
    case 11:
    case 12:
        return sn_unit(sn_index_at(SN_HERE, array, which == 11 ? 1 : -1, NULL));
    case 13:
        return sn_fill(sn_shape_at(SN_HERE, 2, NULL), 1);
    case 14:
        return sn_unit(sn_tuple_at(SN_HERE, 2, NULL));
    case 15: {
        sn_scalar many[17];
        for (int i = 0; i < 17; i++)
            many[i] = x;
        return sn_unit(sn_tuple_at(SN_HERE, 17, many));
    }
    case 16:
        return sn_replicate_at(SN_HERE, array, 2, NULL);
    case 17:
        return sn_slice_at(SN_HERE, array, -3, NULL);
    case 18:
        return sn_unit(sn_sfold_at(SN_HERE, SN_FN(sn_add), x, array, 1, NULL));
    case 19:
        return sn_stencil(no_offsets, sn_pattern(3), sn_clamp, array);
    case 20:
        return sn_unit(sn_add((sn_scalar){x.bits >> 32 << 32}, x));
    default:
        return sn_map(sn_neg, (sn_acc){array.bits >> 32 << 32});
    }
}

static void one_message_each(void **state)
{
    (void)state;
    for (int which = 0; which < CASES; which++) {
        built *b = build_at(SN_HERE, "[n]{x: f32, y: i32} -> f32", sn_body_env(one_mistake, &which));
        const char *end = strchr(b->messages, '\n');
        if (!strstr(b->messages, said[which]) || !end || end[1])
            fail_msg("case %d: \"%s\", not \"%s\"", which, b->messages, said[which]);
        built_free(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_message_each)};
    return cmocka_run_group_tests_name("NULL", tests, NULL, NULL);
}
