/* Tensors of DLPack: borrowed where they can be, copied and counted where not, and given back exactly once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/dlpack_abi.h"
#include "sinter/dlpack.h"

static sn_context *cx;

static int open_context(void **state)
{
    (void)state;
    cx = sn_open(NULL);
    return cx ? 0 : -1;
}

static int close_context(void **state)
{
    (void)state;
    sn_close(cx);
    return 0;
}

/* A tensor of another library, in both forms. */
typedef struct foreign {
    struct DLManagedTensor old;
    struct DLManagedTensorVersioned new;
    int64_t extent[9], stride[9];
    int deleted;
} foreign;

static void delete_old(struct DLManagedTensor *self)
{
    ((foreign *)self->manager)->deleted++;
}

static void delete_new(struct DLManagedTensorVersioned *self)
{
    ((foreign *)self->manager)->deleted++;
}

static void fill(foreign *f, dl_code code, int bits, void *data, int rank, const int64_t *extent, const int64_t *stride)
{
    *f = (foreign){0};
    memcpy(f->extent, extent, (size_t)rank * sizeof(*extent));
    if (stride)
        memcpy(f->stride, stride, (size_t)rank * sizeof(*stride));
    dl_tensor t = {.data = data, .device = {.type = DL_CPU}, .rank = rank, .extent = f->extent};
    t.stride = stride ? f->stride : NULL;
    t.element.code = (uint8_t)code;
    t.element.bits = (uint8_t)bits;
    t.element.lanes = 1;
    f->old = (struct DLManagedTensor){.tensor = t, .manager = f, .deleter = delete_old};
    f->new = (struct DLManagedTensorVersioned){.version = {1, 1}, .tensor = t, .manager = f, .deleter = delete_new};
}

static sn_array *take(foreign *f, int versioned)
{
    return versioned ? sn_from_dlpack(cx, &f->new) : sn_from_dlpack_unversioned(cx, &f->old);
}

/* Where an array's elements are. */
static const void *place_of(sn_array *a)
{
    struct DLManagedTensor *t = sn_to_dlpack_unversioned(a);
    assert_non_null(t);
    const void *at = (const char *)t->tensor.data + t->tensor.offset;
    t->deleter(t);
    return at;
}

static uint64_t copies(void)
{
    return sn_counts(cx).copies;
}

/* --- in --- */

static const struct {
    dl_code code;
    int bits;
    sn_type type;
} types[] = {{DL_BOOL, 8, SN_BOOL}, {DL_INT, 8, SN_I8},     {DL_INT, 16, SN_I16},  {DL_INT, 32, SN_I32},
             {DL_INT, 64, SN_I64},  {DL_UINT, 8, SN_U8},    {DL_UINT, 16, SN_U16}, {DL_UINT, 32, SN_U32},
             {DL_UINT, 64, SN_U64}, {DL_FLOAT, 32, SN_F32}, {DL_FLOAT, 64, SN_F64}};

static void borrows_contiguous_tensors(void **state)
{
    (void)state;
    static int64_t data[24];
    static const int64_t extent[] = {2, 3, 4}, stride[] = {12, 4, 1};
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
        for (int form = 0; form < 4; form++) {
            foreign f;
            fill(&f, types[i].code, types[i].bits, data, 3, extent, form & 1 ? stride : NULL);
            uint64_t before = copies();
            sn_array *a = take(&f, form & 2);
            if (!a)
                fail_msg("%s", sn_message(cx));
            assert_int_equal(sn_array_type(a), types[i].type);
            assert_int_equal(sn_array_rank(a), 3);
            for (int d = 0; d < 3; d++)
                assert_int_equal(sn_array_extent(a, d), extent[d]);
            assert_int_equal(sn_bytes(a), 3 * types[i].bits);
            assert_ptr_equal(place_of(a), data);
            assert_int_equal(copies(), before);
            assert_int_equal(f.deleted, 0);
            sn_free(a);
            assert_int_equal(f.deleted, 1);
        }
}

static void takes_ranks_offsets_and_nothing(void **state)
{
    (void)state;
    float data[8] = {0, 1, 2, 3, 4, 5, 6, 7}, back[8];
    const int64_t one[] = {5}, none[] = {0, 3}, eight[] = {1, 1, 1, 2, 1, 1, 4, 1},
                  any[] = {INT64_MAX, INT64_MIN, 9, 4, 9, 9, 1, 77};
    foreign f;
    fill(&f, DL_FLOAT, 32, data, 0, one, NULL); /* one element */
    f.old.tensor.extent = NULL;
    sn_array *a = take(&f, 0);
    assert_int_equal(sn_array_rank(a), 0);
    assert_int_equal(sn_bytes(a), 4);
    sn_free(a);
    fill(&f, DL_FLOAT, 32, data, 1, one, NULL);
    f.new.tensor.offset = 3 * sizeof(float);
    a = take(&f, 1);
    assert_int_equal(sn_read(a, back, 20), SN_OK);
    assert_memory_equal(back, data + 3, 20);
    assert_ptr_equal(place_of(a), data + 3);
    sn_free(a);
    fill(&f, DL_FLOAT, 32, NULL, 2, none, NULL);
    a = take(&f, 1);
    assert_int_equal(sn_bytes(a), 0);
    sn_free(a);
    assert_int_equal(f.deleted, 1);
    fill(&f, DL_FLOAT, 32, data, 8, eight, any); /* strides of single elements do not matter */
    a = take(&f, 0);
    assert_ptr_equal(place_of(a), data);
    sn_free(a);
    assert_int_equal(f.deleted, 1);
    fill(&f, DL_FLOAT, 32, data, 1, one, NULL);
    f.old.deleter = NULL;
    sn_free(take(&f, 0));
}

static void copies_other_layouts(void **state)
{
    (void)state;
    float data[24], back[24];
    const int64_t extent[] = {4, 6}, turned[] = {1, 4}, back_to_front[] = {-6, -1}, row[] = {0, 1}, whole[] = {6, 1};
    char across[100];
    foreign f;
    for (int i = 0; i < 24; i++)
        data[i] = (float)i;
    memcpy(across + 1, data, sizeof(data));
    const struct {
        void *from;
        const int64_t *stride;
        int first, y, x;
    } cases[] = {{data, turned, 0, 1, 4},
                 {data + 23, back_to_front, 23, -6, -1},
                 {data, row, 0, 0, 1},
                 {across + 1, whole, 0, 6, 1}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        uint64_t before = copies(), bytes = sn_counts(cx).copied_bytes;
        fill(&f, DL_FLOAT, 32, cases[i].from, 2, extent, cases[i].stride);
        sn_array *a = take(&f, (int)i % 2);
        assert_int_equal(f.deleted, 1);
        assert_int_equal(copies(), before + 1);
        assert_int_equal(sn_counts(cx).copied_bytes, bytes + 96);
        assert_int_equal(sn_read(a, back, 96), SN_OK);
        for (int k = 0; k < 24; k++)
            assert_true(back[k] == (float)(cases[i].first + k / 6 * cases[i].y + k % 6 * cases[i].x));
        sn_free(a);
        assert_int_equal(f.deleted, 1);
    }
}

static sn_acc negated(sn_acc x)
{
    return sn_map(sn_neg, x);
}

/* A borrowed array that is given away goes with the call, unless the call was refused. */
/* Other libraries take any byte but 0 for true. */
static void bools_become_0_and_1(void **state)
{
    static const unsigned char given[6] = {0, 1, 2, 255, 128, 0};
    static const int64_t extent = 6, backwards = -1;
    (void)state;
    for (int form = 0; form < 4; form++) {
        unsigned char found[6];
        foreign f;
        fill(&f, DL_BOOL, 8, (void *)(uintptr_t)(form & 1 ? given + 5 : given), 1, &extent,
             form & 1 ? &backwards : NULL);
        const uint64_t before = copies();
        sn_array *a = take(&f, form & 2);
        assert_non_null(a);
        assert_int_equal(f.deleted, 1);
        assert_int_equal(copies(), before + 1);
        assert_int_equal(sn_read(a, found, sizeof(found)), SN_OK);
        for (int i = 0; i < 6; i++)
            assert_int_equal(found[i], given[form & 1 ? 5 - i : i] != 0);
        sn_free(a);
        assert_int_equal(f.deleted, 1);
    }
}

static void is_given_away_once(void **state)
{
    (void)state;
    float data[4] = {1, 2, 3, 4}, out[4];
    const int64_t n[] = {4};
    foreign f;
    fill(&f, DL_FLOAT, 32, data, 1, n, NULL);
    sn_program *p = sn_compile(cx, "[n]f32 -> [n]f32", negated);
    sn_array *a = take(&f, 1);
    assert_int_equal(sn_call(p, sn_held(a), sn_into(out, 4)), SN_OK);
    assert_int_equal(sn_call(p, sn_give(a), sn_into(out, 3)), SN_BAD_EXTENT);
    assert_int_equal(f.deleted, 0);
    assert_int_equal(sn_call(p, sn_give(a), sn_into(out, 4)), SN_OK);
    assert_int_equal(f.deleted, 1);
    assert_true(out[0] == -1 && out[3] == -4);
    fill(&f, DL_FLOAT, 32, data, 1, n, NULL);
    a = take(&f, 0);
    assert_int_equal(sn_call(p, sn_held(a), sn_into(data, 4)), SN_BAD_ARGUMENT); /* that is the borrowed memory */
    sn_free(a);
    sn_drop(p);
}

static void expect_refusal(foreign *f, const char *says)
{
    for (int versioned = 0; versioned < 2; versioned++) {
        f->new.tensor = f->old.tensor;
        if (take(f, versioned))
            fail_msg("taken, though it should be said: %s", says);
        if (!strstr(sn_message(cx), says))
            fail_msg("\"%s\" does not say \"%s\"", sn_message(cx), says);
        assert_int_equal(f->deleted, 0);
    }
}

static void refuses_what_it_cannot_take(void **state)
{
    (void)state;
    float data[4];
    const int64_t n[] = {4}, nine[] = {1, 1, 1, 1, 1, 1, 1, 1, 1}, negative[] = {-1}, huge[] = {1LL << 40, 1LL << 40};
    const int64_t far[] = {INT64_MAX / 2};
    foreign f;
    static const struct {
        int code, bits, lanes;
    } strange[] = {{DL_FLOAT, 16, 1}, {DL_BFLOAT, 16, 1}, {DL_COMPLEX, 64, 1}, {DL_INT, 4, 1},
                   {DL_FLOAT, 32, 4}, {DL_OPAQUE, 64, 1}, {DL_BOOL, 1, 1},     {200, 32, 1}};
    for (size_t i = 0; i < sizeof(strange) / sizeof(*strange); i++) {
        fill(&f, (dl_code)strange[i].code, strange[i].bits, data, 1, n, NULL);
        f.old.tensor.element.lanes = (uint16_t)strange[i].lanes;
        expect_refusal(&f, "elements of type code");
    }
    fill(&f, DL_FLOAT, 32, data, 1, n, NULL);
    f.old.tensor.device.type = 8; /* Metal */
    expect_refusal(&f, "not in main memory");
    fill(&f, DL_FLOAT, 32, data, 9, nine, NULL);
    expect_refusal(&f, "8 dimensions");
    fill(&f, DL_FLOAT, 32, data, 1, negative, NULL);
    expect_refusal(&f, "negative");
    fill(&f, DL_FLOAT, 32, data, 2, huge, NULL);
    expect_refusal(&f, "larger than memory");
    fill(&f, DL_FLOAT, 32, data, 1, n, far);
    expect_refusal(&f, "stride");
    fill(&f, DL_FLOAT, 32, NULL, 1, n, NULL);
    expect_refusal(&f, "NULL");
    fill(&f, DL_FLOAT, 32, data, 1, n, NULL);
    f.old.tensor.extent = NULL;
    expect_refusal(&f, "no shape");
    fill(&f, DL_FLOAT, 32, data, 1, n, NULL);
    f.new.version.major = 2;
    f.new.tensor.rank = 999;
    assert_null(take(&f, 1));
    assert_non_null(strstr(sn_message(cx), "version 2"));
    assert_int_equal(f.deleted, 0);
    assert_null(sn_from_dlpack(cx, NULL));
    assert_null(sn_from_dlpack_unversioned(cx, NULL));
    assert_null(sn_from_dlpack(NULL, &f.new));
    assert_null(sn_from_dlpack_unversioned(NULL, &f.old));
}

static void keep_text(void *env, const char *said)
{
    snprintf(env, 512, "%s", said);
}

/* Messages, and the report of what is still held, name the function and the line that called it. */
static void says_where_it_was_called(void **state)
{
    (void)state;
    char said[512] = "", wanted[256];
    float data[4] = {1, 2, 3, 4};
    const int64_t n[] = {4};
    const sn_options options = {.size = sizeof(options), .message = keep_text, .env = said};
    sn_context *own = sn_open(&options);
    foreign f;
    fill(&f, DL_FLOAT, 32, data, 1, n, NULL);
    snprintf(wanted, sizeof(wanted), "%s:%d: sn_from_dlpack: the tensor is NULL; ", __FILE__, __LINE__ + 1);
    assert_null(sn_from_dlpack(own, NULL));
    assert_memory_equal(said, wanted, strlen(wanted));
    snprintf(wanted, sizeof(wanted), "%s:%d: sn_from_dlpack_unversioned: ", __FILE__, __LINE__ + 1);
    assert_null(sn_from_dlpack_unversioned(own, NULL));
    assert_memory_equal(said, wanted, strlen(wanted));
    assert_null((sn_from_dlpack)(own, NULL)); /* of other languages */
    assert_memory_equal(said, "sn_from_dlpack: ", 16);
    snprintf(wanted, sizeof(wanted), "\nan array, made by sn_from_dlpack in %s:%d", __FILE__, __LINE__ + 1);
    sn_array *a = sn_from_dlpack(own, &f.new);
    sn_close(own);
    if (!strstr(said, wanted))
        fail_msg("\"%s\" does not say \"%s\"", said, wanted);
    sn_free(a);
    assert_int_equal(f.deleted, 1);
}

/* --- out --- */

static void expect_tensor(const dl_tensor *t, const float *wanted)
{
    assert_int_equal(t->device.type, DL_CPU);
    assert_int_equal(t->element.code, DL_FLOAT);
    assert_int_equal(t->element.bits, 32);
    assert_int_equal(t->element.lanes, 1);
    assert_int_equal(t->rank, 2);
    assert_int_equal(t->extent[0], 2);
    assert_int_equal(t->extent[1], 3);
    assert_int_equal(t->stride[0], 3);
    assert_int_equal(t->stride[1], 1);
    assert_memory_equal((const char *)t->data + t->offset, wanted, 24);
}

/* The array and its context are gone for their owner, but not for those who hold the tensors. */
static void tensors_outlive_array_and_context(void **state)
{
    (void)state;
    const float x[] = {1, 2, 3, 4, 5, 6};
    sn_context *own = sn_open(NULL);
    sn_array *a = sn_upload(own, sn_in(x, 2, 3));
    struct DLManagedTensorVersioned *new = sn_to_dlpack(a);
    struct DLManagedTensor *old = sn_to_dlpack_unversioned(a);
    assert_true(new &&old);
    sn_free(a);
    sn_close(own);
    assert_int_equal(new->version.major, 1);
    assert_int_equal(new->flags, DL_READ_ONLY);
    expect_tensor(&new->tensor, x);
    new->deleter(new);
    expect_tensor(&old->tensor, x);
    old->deleter(old);
    assert_null(sn_to_dlpack(NULL));
    assert_null(sn_to_dlpack_unversioned(NULL));
}

static void exports_every_type(void **state)
{
    (void)state;
    int64_t word[1] = {1}, extents[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    for (size_t i = 0; i <= sizeof(types) / sizeof(*types); i++) {
        bool is_char = i == sizeof(types) / sizeof(*types); /* which other libraries do not have */
        sn_arg arg = {.kind = SN_ARG_IN, .type = is_char ? SN_CHAR : types[i].type, .rank = (int)i % 9};
        memcpy(arg.extent, extents, sizeof(extents));
        arg.u.from = word;
        sn_array *a = sn_upload(cx, arg);
        struct DLManagedTensor *t = sn_to_dlpack_unversioned(a);
        assert_int_equal(t->tensor.element.code, is_char ? DL_UINT : types[i].code);
        assert_int_equal(t->tensor.element.bits, is_char ? 32 : types[i].bits);
        assert_int_equal(t->tensor.rank, (int)i % 9);
        t->deleter(t);
        sn_free(a);
    }
}

/* There and back: both arrays have the same memory, and it is given back when the last of the two is freed. */
static void goes_round(void **state)
{
    (void)state;
    const float x[] = {1, 2, 3, 4, 5, 6};
    float back[6];
    sn_array *a = sn_upload(cx, sn_in(x, 2, 3));
    uint64_t before = copies();
    sn_array *b = sn_from_dlpack(cx, sn_to_dlpack(a));
    assert_ptr_equal(place_of(a), place_of(b));
    assert_int_equal(copies(), before);
    sn_free(a);
    assert_int_equal(sn_read(b, back, 24), SN_OK);
    assert_memory_equal(back, x, 24);
    sn_free(b);
}

enum { THREADS = 4, ROUNDS = 200 };

static void *hand_round(void *env)
{
    sn_array *shared = env;
    for (int i = 0; i < ROUNDS; i++) {
        struct DLManagedTensor *t = sn_to_dlpack_unversioned(shared);
        struct DLManagedTensorVersioned *u = sn_to_dlpack(shared);
        t->deleter(t);
        sn_array *b = sn_from_dlpack(cx, u);
        sn_free(b);
    }
    return NULL;
}

static void threads_share_an_array(void **state)
{
    (void)state;
    float data[100] = {0};
    const int64_t n[] = {100};
    pthread_t thread[THREADS];
    foreign f;
    fill(&f, DL_FLOAT, 32, data, 1, n, NULL);
    sn_array *a = take(&f, 1);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, hand_round, a), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    assert_int_equal(f.deleted, 0);
    sn_free(a);
    assert_int_equal(f.deleted, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(borrows_contiguous_tensors),
        cmocka_unit_test(takes_ranks_offsets_and_nothing),
        cmocka_unit_test(bools_become_0_and_1),
        cmocka_unit_test(copies_other_layouts),
        cmocka_unit_test(is_given_away_once),
        cmocka_unit_test(refuses_what_it_cannot_take),
        cmocka_unit_test(tensors_outlive_array_and_context),
        cmocka_unit_test(exports_every_type),
        cmocka_unit_test(goes_round),
        cmocka_unit_test(threads_share_an_array),
        cmocka_unit_test(says_where_it_was_called),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
