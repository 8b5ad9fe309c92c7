/* Arenas, growable arrays, maps, interning and text buffers, also when memory runs out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "base/base.h"

/* A heap that counts live blocks and fails once `left` allocations are used up. */
typedef struct counting_heap {
    base_heap heap;
    int left, live;
} counting_heap;

static void *counting_alloc(void *env, size_t bytes)
{
    counting_heap *h = env;
    if (h->left-- <= 0)
        return NULL;
    h->live++;
    return malloc(bytes);
}

static void counting_release(void *env, void *block)
{
    counting_heap *h = env;
    h->live -= block != NULL;
    free(block);
}

static void counting_init(counting_heap *h, int allowed)
{
    *h = (counting_heap){{counting_alloc, counting_release, h}, allowed, 0};
}

static void arena_gives_zeroed_aligned_memory(void **state)
{
    (void)state;
    arena a;
    arena_init(&a, NULL);
    for (size_t bytes = 0; bytes < 9000; bytes = bytes * 2 + 1) {
        unsigned char *p = arena_alloc(&a, bytes);
        assert_int_equal((uintptr_t)p % 16, 0);
        for (size_t i = 0; i < bytes; i++)
            assert_int_equal(p[i], 0);
        memset(p, 0xff, bytes); /* must not show through in a later block */
    }
    assert_string_equal(arena_string(&a, "sinter"), "sinter");
    assert_string_equal(arena_printf(&a, "%d x %s", 3, "f32"), "3 x f32");
    arena_free(&a);
    assert_int_equal(a.total, 0);
    assert_non_null(arena_alloc(&a, 1)); /* usable again */
    arena_free(&a);
}

static void arena_frees_every_block(void **state)
{
    (void)state;
    counting_heap h;
    arena a;
    counting_init(&h, 1000);
    arena_init(&a, &h.heap);
    for (int i = 0; i < 100; i++)
        arena_alloc(&a, 1000);
    arena_alloc(&a, (size_t)1 << 23); /* larger than the largest chunk */
    assert_true(h.live > 1);
    arena_free(&a);
    assert_int_equal(h.live, 0);
}

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>

/* The address sanitizer knows where blocks end. */
static void arena_blocks_have_ends(void **state)
{
    (void)state;
    arena a;
    arena_init(&a, NULL);
    for (size_t bytes = 1; bytes < 70; bytes++) {
        char *p = arena_alloc(&a, bytes), *q = arena_alloc(&a, 8);
        assert_null(__asan_region_is_poisoned(p, bytes));
        assert_null(__asan_region_is_poisoned(q, 8));
        assert_ptr_equal(__asan_region_is_poisoned(p, bytes + 1), p + bytes);
        arena_release(&a, q, 8);
        assert_ptr_equal(arena_alloc(&a, 8), q); /* as if nobody had had it */
        assert_null(__asan_region_is_poisoned(q, 8));
    }
    arena_free(&a);
}
#elif defined(__linux__)
#include <stdio.h>
#include <unistd.h>

static long resident_bytes(void)
{
    long all = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%ld %ld", &all, &resident), 2);
    fclose(f);
    return resident * sysconf(_SC_PAGESIZE);
}

/* Also where the heap would keep such blocks, and has others behind them. */
static void large_blocks_go_back_to_the_system(void **state)
{
    (void)state;
    enum { BLOCK = 1 << 20, BLOCKS = 32 };
    arena a;
    void *volatile larger = malloc(8 * BLOCK), *behind[BLOCKS];
    free(larger); /* from now on the heap of glibc keeps what is smaller */
    long before = resident_bytes();
    arena_init(&a, NULL);
    for (int i = 0; i < BLOCKS; i++) {
        memset(arena_alloc(&a, BLOCK), i, BLOCK);
        behind[i] = malloc(64);
    }
    assert_true(resident_bytes() - before >= (long)BLOCKS * BLOCK);
    arena_free(&a);
    long after = resident_bytes();
    for (int i = 0; i < BLOCKS; i++)
        free(behind[i]);
    assert_true(after - before < (long)BLOCKS * BLOCK / 4);
}
#endif

static void arena_uses_a_lent_block_first(void **state)
{
    (void)state;
    counting_heap h;
    arena a;
    _Alignas(16) char block[256];
    char *const first = block, *const end = block + sizeof(block);
    counting_init(&h, 1);
    memset(block, 0xff, sizeof(block));
    arena_init_with(&a, &h.heap, block, sizeof(block));
    for (int i = 0; i < 4; i++) {
        char *p = arena_alloc(&a, 33);
        assert_true(p > first && p + 33 <= end && p[0] == 0 && p[32] == 0);
        memset(p, 0xff, 33);
    }
    assert_int_equal(h.live, 0);
    char *beyond = arena_alloc(&a, 100);
    assert_true(beyond < first || beyond >= end);
    assert_int_equal(h.live, 1);
    arena_free(&a);
    assert_int_equal(h.live, 0);
}

static void arena_jumps_when_memory_runs_out(void **state)
{
    (void)state;
    counting_heap h;
    arena a;
    jmp_buf failed;
    volatile int allocated = 0;
    counting_init(&h, 2);
    arena_init(&a, &h.heap);
    arena_on_failure(&a, &failed);
    if (setjmp(failed) == 0) {
        for (; allocated < 100000; allocated++)
            arena_alloc(&a, 1000);
    }
    assert_in_range(allocated, 1, 99999);
    assert_int_equal(h.live, 2);
    volatile int overflowed = 0;
    if (setjmp(failed) == 0)
        arena_alloc(&a, SIZE_MAX - 8); /* rounding it up must not wrap to a small block */
    else
        overflowed = 1;
    assert_true(overflowed);
    arena_free(&a);
    assert_int_equal(h.live, 0);
}

static void vectors_grow_and_keep_their_elements(void **state)
{
    (void)state;
    arena a;
    VEC(int) v = {0};
    arena_init(&a, NULL);
    for (int i = 0; i < 10000; i++)
        vec_push(&a, &v, i * 3);
    assert_int_equal(v.n, 10000);
    for (int i = 0; i < 10000; i++)
        assert_int_equal(v.at[i], i * 3);
    vec_resize(&a, &v, 5);
    vec_resize(&a, &v, 9);
    assert_int_equal(v.n, 9);
    assert_int_equal(v.at[4], 12);
    assert_int_equal(v.at[5], 0); /* not what stood there before */
    vec_reserve(&a, &v, 20000);
    assert_true(v.cap >= 20000);
    assert_int_equal(v.at[4], 12);
    arena_free(&a);
}

static void sweeping_gives_back_what_vectors_outgrew(void **state)
{
    (void)state;
    counting_heap h;
    counting_init(&h, INT_MAX);
    arena a;
    arena_init(&a, &h.heap);
    VEC(uint64_t) v = {0}, w = {0};
    for (uint64_t i = 0; i < 100000; i++) {
        vec_push(&a, &v, i);
        vec_push(&a, &w, i);
        assert_int_equal(v.at[i / 2], i / 2);
    }
    int grown = h.live;
    const uint64_t *now = v.at;
    arena_sweep(&a);
    assert_true(h.live <= grown - 4);
    assert_ptr_equal(v.at, now);
    for (uint64_t i = 0; i < 100000; i++)
        assert_true(v.at[i] == i && w.at[i] == i);
    int swept = h.live;
    arena_sweep(&a);
    assert_int_equal(h.live, swept);
    vec_free(&a, &w);
    assert_int_equal(h.live, swept - 1);
    vec_reserve(&a, &v, v.cap + 1);
    arena_free(&a); /* with something outgrown */
    assert_int_equal(h.live, 0);
}

/* An arena beside another one gives back what it holds when it is freed, and else when that one is. */
static void arenas_beside_end_with_their_arena(void **state)
{
    (void)state;
    counting_heap h;
    counting_init(&h, INT_MAX);
    arena a;
    arena_init(&a, &h.heap);
    arena *b = arena_beside(&a), *c = arena_beside(&a);
    const int before = h.live;
    char *kept = arena_string(&a, "kept");
    for (int i = 0; i < 3; i++) { /* used again after it was freed */
        memset(arena_alloc(b, 100), 1, 100);
        arena_alloc(b, (size_t)1 << 20);
        arena_alloc(arena_beside(b), 10);
        assert_true(h.live > before);
        arena_free(b);
        assert_int_equal(h.live, before);
        assert_string_equal(kept, "kept");
    }
    arena_alloc(b, 100000);
    arena_alloc(c, 100);
    arena_alloc(arena_beside(b), 100);
    arena_free(&a);
    assert_int_equal(h.live, 0);
}

static void arenas_beside_fail_as_their_arena_does(void **state)
{
    (void)state;
    counting_heap h;
    jmp_buf failure;
    counting_init(&h, 3);
    arena a;
    arena_init(&a, &h.heap);
    volatile bool failed = false;
    if (!setjmp(failure)) {
        arena_on_failure(&a, &failure);
        arena *b = arena_beside(&a);
        for (int i = 0; i < 3; i++)
            arena_alloc(b, 100000);
        fail();
    } else {
        failed = true;
    }
    assert_true(failed);
    arena_free(&a);
    assert_int_equal(h.live, 0);
}

/* By all lengths around what is sorted by insertion, and numbers that differ in some of their bytes only. */
static void numbers_are_sorted(void **state)
{
    (void)state;
    enum { MOST = 700 };
    static const uint32_t masks[] = {0, 0xf, 0xff00, 0xff00ff, 0xff000000, UINT32_MAX};
    uint32_t at[MOST], spare[MOST], x = 12345;
    for (size_t m = 0; m < ARRAY_LENGTH(masks); m++)
        for (uint32_t n = 0; n < MOST; n = n < 70 ? n + 1 : n * 3 / 2) {
            uint64_t sum = 0, sorted = 0;
            for (uint32_t i = 0; i < n; i++) {
                x = x * 1664525 + 1013904223;
                at[i] = (x ^ x >> 16) & masks[m];
                sum += hash_mix(1, at[i]);
            }
            sort_u32(at, n, spare);
            for (uint32_t i = 0; i < n; i++) {
                sorted += hash_mix(1, at[i]);
                assert_true(!i || at[i - 1] <= at[i]);
            }
            assert_true(sum == sorted);
        }
}

static void closed_texts_leave_their_room_to_others(void **state)
{
    (void)state;
    arena a;
    arena_init(&a, NULL);
    text t;
    text_init(&t, &a);
    text_add(&t, "f32");
    const char *closed = text_close(&t);
    const char *next = arena_alloc(&a, 16);
    assert_ptr_equal(next, closed + 16);
    assert_string_equal(closed, "f32");
    arena_free(&a);
}

static void maps_find_what_was_put(void **state)
{
    (void)state;
    arena a;
    map64 m = {0};
    arena_init(&a, NULL);
    assert_int_equal(map64_get(&m, 7), 0);
    for (uint32_t i = 0; i < 5000; i++)
        map64_put(&a, &m, (uint64_t)i << 40, i + 1); /* keys that differ in their high bits only */
    map64_put(&a, &m, 0, 77);                        /* replaces */
    assert_int_equal(m.n, 5000);
    assert_int_equal(map64_get(&m, 0), 77);
    for (uint32_t i = 1; i < 5000; i++)
        assert_int_equal(map64_get(&m, (uint64_t)i << 40), i + 1);
    assert_int_equal(map64_get(&m, 1), 0);
    arena_free(&a);
}

typedef struct string_key {
    const char *const *strings; /* by id, from 1 */
    const char *wanted;
} string_key;

static bool same_string(const void *env, uint32_t id)
{
    const string_key *key = env;
    return strcmp(key->strings[id], key->wanted) == 0;
}

static void interning_compares_on_equal_hashes(void **state)
{
    (void)state;
    arena a;
    const char *strings[] = {NULL, "n", "m", "rows"};
    intern_table t = {0};
    arena_init(&a, NULL);
    for (uint32_t id = 1; id <= 3; id++) {
        string_key key = {strings, strings[id]};
        assert_int_equal(intern_find(&t, 42, same_string, &key), 0);
        intern_add(&a, &t, 42, id); /* one hash for all: only the comparison tells them apart */
    }
    for (uint32_t id = 1; id <= 3; id++) {
        string_key key = {strings, strings[id]};
        assert_int_equal(intern_find(&t, 42, same_string, &key), id);
        assert_int_equal(intern_find(&t, 43, same_string, &key), 0);
    }
    arena_free(&a);
}

static bool same_number(const void *env, uint32_t id)
{
    return *(const uint32_t *)env == id;
}

static void interning_survives_growth(void **state)
{
    (void)state;
    arena a;
    intern_table t = {0};
    arena_init(&a, NULL);
    for (uint32_t id = 1; id <= 5000; id++)
        intern_add(&a, &t, hash_bytes(&id, sizeof(id), 0), id);
    for (uint32_t id = 1; id <= 5000; id++)
        assert_int_equal(intern_find(&t, hash_bytes(&id, sizeof(id), 0), same_number, &id), id);
    arena_free(&a);
}

static void hashes_see_every_byte_and_the_length(void **state)
{
    (void)state;
    assert_int_equal(hash_bytes(NULL, 0, 1), hash_bytes("", 0, 1));
    unsigned char bytes[40] = {0};
    for (size_t n = 1; n <= sizeof(bytes); n++) {
        uint64_t before = hash_bytes(bytes, n, 1);
        assert_int_not_equal(before, hash_bytes(bytes, n - 1, 1));
        assert_int_not_equal(before, hash_bytes(bytes, n, 2));
        bytes[n - 1] ^= 0x80;
        assert_int_not_equal(before, hash_bytes(bytes, n, 1));
        bytes[n - 1] ^= 0x80;
    }
}

static void text_grows_past_its_first_room(void **state)
{
    (void)state;
    arena a;
    text t;
    arena_init(&a, NULL);
    text_init(&t, &a);
    assert_string_equal(t.at, "");
    for (int i = 0; i < 500; i++)
        text_printf(&t, "%04d,", i);
    text_add_n(&t, "end!", 3);
    assert_int_equal(t.n, 2503);
    assert_int_equal(strlen(t.at), 2503);
    assert_memory_equal(t.at, "0000,0001,", 10);
    assert_string_equal(t.at + 2495, "0499,end");
    arena_free(&a);
}

static void floats_read_back_as_the_same_bits(void **state)
{
    (void)state;
    static const double values[] = {0.0, -0.0, 1.0, -3.0, 0.1, 1e-310, 1.7976931348623157e308, 4503599627370497.5,
                                    1e15};
    arena a;
    arena_init(&a, NULL);
    for (size_t i = 0; i < ARRAY_LENGTH(values); i++) {
        text t;
        text_init(&t, &a);
        text_f64(&t, values[i]);
        double back = strtod(t.at, NULL);
        assert_memory_equal(&back, &values[i], sizeof(back));
        text_init(&t, &a);
        text_f32(&t, (float)values[i]);
        float back32 = strtof(t.at, NULL), value32 = (float)values[i];
        assert_memory_equal(&back32, &value32, sizeof(back32));
    }
    text t;
    text_init(&t, &a);
    text_f64(&t, -(double)INFINITY);
    text_add(&t, " ");
    text_f32(&t, NAN);
    assert_string_equal(t.at, "-inf nan(0x7fc00000)");
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arena_gives_zeroed_aligned_memory),
        cmocka_unit_test(arena_frees_every_block),
#if defined(__SANITIZE_ADDRESS__)
        cmocka_unit_test(arena_blocks_have_ends),
#elif defined(__linux__)
        cmocka_unit_test(large_blocks_go_back_to_the_system),
#endif
        cmocka_unit_test(arena_uses_a_lent_block_first),
        cmocka_unit_test(arena_jumps_when_memory_runs_out),
        cmocka_unit_test(vectors_grow_and_keep_their_elements),
        cmocka_unit_test(sweeping_gives_back_what_vectors_outgrew),
        cmocka_unit_test(arenas_beside_end_with_their_arena),
        cmocka_unit_test(arenas_beside_fail_as_their_arena_does),
        cmocka_unit_test(numbers_are_sorted),
        cmocka_unit_test(closed_texts_leave_their_room_to_others),
        cmocka_unit_test(maps_find_what_was_put),
        cmocka_unit_test(interning_compares_on_equal_hashes),
        cmocka_unit_test(interning_survives_growth),
        cmocka_unit_test(hashes_see_every_byte_and_the_length),
        cmocka_unit_test(text_grows_past_its_first_room),
        cmocka_unit_test(floats_read_back_as_the_same_bits),
    };
    return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
