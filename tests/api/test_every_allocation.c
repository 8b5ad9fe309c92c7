/* Every allocation of the library fails once, and then all from a certain one on, in the life of a context from opening
 * to closing: whatever the allocation was for, the caller hears of it, nothing is leaked (the address sanitizer looks),
 * and the context does its work afterwards. Which requests to an arena need a new block of the heap depends on how long
 * paths and names are, so each place that asks an arena for memory is refused once besides. The linker puts the
 * functions below in the place of the C library's and of the arenas'. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "sinter/dlpack.h"
#include "sinter/sinter.h"

/* --- allocations that fail --- */

static int64_t left = INT64_MAX; /* until one fails */
static bool all_after;           /* and all that follow it */
static bool failed;

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *block, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *block, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);

static bool fails(void)
{
    int64_t n = __atomic_fetch_sub(&left, 1, __ATOMIC_RELAXED);
    bool now = all_after ? n <= 0 : n == 0;
    if (now)
        __atomic_store_n(&failed, true, __ATOMIC_RELAXED);
    return now;
}

void *__wrap_malloc(size_t bytes)
{
    return fails() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return fails() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *block, size_t bytes)
{
    return fails() ? NULL : __real_realloc(block, bytes);
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
    return fails() ? NULL : __real_aligned_alloc(alignment, bytes);
}

static void arm(int64_t after, bool all)
{
    failed = false;
    all_after = all;
    __atomic_store_n(&left, after, __ATOMIC_RELAXED);
}

static void disarm(void)
{
    __atomic_store_n(&left, INT64_MAX, __ATOMIC_RELAXED);
    all_after = false;
}

/* --- arenas that run out, place by place --- */

enum { MOST_PLACES = 1 << 13 };

static pthread_mutex_t places_lock = PTHREAD_MUTEX_INITIALIZER;
static const void *places[MOST_PLACES]; /* return addresses met since arm_place, hashed */
static int64_t met, refused_place = INT64_MAX;

static bool is_new(const void *place)
{
    uint32_t at = (uint32_t)((uintptr_t)place * 2654435761u >> 7) % MOST_PLACES;
    while (places[at] && places[at] != place)
        at = (at + 1) % MOST_PLACES;
    if (places[at])
        return false;
    places[at] = place;
    assert_true(met < MOST_PLACES / 2);
    return true;
}

/* A block that was lent to the arena has room or has not, whatever the heap does. */
static bool fits_in_lent(const arena *a, size_t bytes)
{
    return a->lent && a->chunks == a->lent && a->size - a->used >= bytes + 32;
}

/* The request is the first of its place, and this place's turn has come. */
static void ask(arena *a, size_t bytes, const void *place)
{
    if (refused_place == INT64_MAX || fits_in_lent(a, bytes))
        return;
    pthread_mutex_lock(&places_lock);
    const bool now = is_new(place) && met++ == refused_place;
    pthread_mutex_unlock(&places_lock);
    if (!now)
        return;
    failed = true;
    if (!a->failure)
        abort();
    longjmp(*a->failure, 1);
}

static void arm_place(int64_t number)
{
    failed = false;
    met = 0;
    memset(places, 0, sizeof(places));
    refused_place = number;
}

#define HERE __builtin_return_address(0)

void *__real_arena_alloc(arena *a, size_t bytes);
void *__real_arena_copy(arena *a, const void *from, size_t bytes);
char *__real_arena_string(arena *a, const char *string);
void __real_vec_grow_(arena *a, void **at, uint32_t *cap, size_t element, uint32_t wanted);
void __real_map64_put(arena *a, map64 *m, uint64_t key, uint32_t value);
void __real_intern_add(arena *a, intern_table *t, uint64_t hash, uint32_t id);
void __real_text_init(text *t, arena *a);
void __real_text_add(text *t, const char *string);
void __real_text_add_n(text *t, const char *bytes, size_t count);
void *__wrap_arena_alloc(arena *a, size_t bytes);
void *__wrap_arena_copy(arena *a, const void *from, size_t bytes);
char *__wrap_arena_string(arena *a, const char *string);
char *__wrap_arena_printf(arena *a, const char *format, ...);
void __wrap_vec_grow_(arena *a, void **at, uint32_t *cap, size_t element, uint32_t wanted);
void __wrap_map64_put(arena *a, map64 *m, uint64_t key, uint32_t value);
void __wrap_intern_add(arena *a, intern_table *t, uint64_t hash, uint32_t id);
void __wrap_text_init(text *t, arena *a);
void __wrap_text_add(text *t, const char *string);
void __wrap_text_add_n(text *t, const char *bytes, size_t count);
void __wrap_text_printf(text *t, const char *format, ...);

void *__wrap_arena_alloc(arena *a, size_t bytes)
{
    ask(a, bytes, HERE);
    return __real_arena_alloc(a, bytes);
}

void *__wrap_arena_copy(arena *a, const void *from, size_t bytes)
{
    ask(a, bytes, HERE);
    return __real_arena_copy(a, from, bytes);
}

char *__wrap_arena_string(arena *a, const char *string)
{
    ask(a, strlen(string) + 1, HERE);
    return __real_arena_string(a, string);
}

char *__wrap_arena_printf(arena *a, const char *format, ...)
{
    va_list values;
    text t;
    ask(a, 64, HERE);
    __real_text_init(&t, a);
    va_start(values, format);
    text_vprintf(&t, format, values);
    va_end(values);
    return t.at;
}

void __wrap_vec_grow_(arena *a, void **at, uint32_t *cap, size_t element, uint32_t wanted)
{
    ask(a, element * wanted, HERE);
    __real_vec_grow_(a, at, cap, element, wanted);
}

void __wrap_map64_put(arena *a, map64 *m, uint64_t key, uint32_t value)
{
    ask(a, 64, HERE);
    __real_map64_put(a, m, key, value);
}

void __wrap_intern_add(arena *a, intern_table *t, uint64_t hash, uint32_t id)
{
    ask(a, 64, HERE);
    __real_intern_add(a, t, hash, id);
}

void __wrap_text_init(text *t, arena *a)
{
    ask(a, 64, HERE);
    __real_text_init(t, a);
}

void __wrap_text_add(text *t, const char *string)
{
    ask(t->arena, strlen(string), HERE);
    __real_text_add(t, string);
}

void __wrap_text_add_n(text *t, const char *bytes, size_t count)
{
    ask(t->arena, count, HERE);
    __real_text_add_n(t, bytes, count);
}

void __wrap_text_printf(text *t, const char *format, ...)
{
    va_list values;
    ask(t->arena, 64, HERE);
    va_start(values, format);
    text_vprintf(t, format, values);
    va_end(values);
}

/* --- what a program does --- */

enum { N = 70000 };

static float numbers[N];
static const char *device;

/* The interpreter takes long for many elements, and allocates as often for fewer: blocks of their own, still. */
static int64_t at_most(int64_t n)
{
    return strcmp(device, "interpreter") != 0 ? n : n < 7000 ? n / 4 : n / 10;
}
static char file[512];

static sn_scalar square(sn_scalar x)
{
    return sn_mul(x, x);
}

/* two clusters, partial results, a buffer, a result that stays */
static sn_acc body(sn_acc x, sn_acc y)
{
    sn_acc squares = sn_force(sn_map(square, x));
    return sn_results(sn_fold(sn_add, 0, sn_zip_with(sn_mul, squares, y)), sn_reverse(squares));
}

static void be_quiet(void *env, const char *said)
{
    (void)env, (void)said;
}

static sn_context *open_it(void)
{
    const sn_options o = {.size = sizeof(o), .device = device, .message = be_quiet};
    return sn_open(&o);
}

static bool calls(sn_context *cx, sn_array *x, sn_program *p)
{
    float r = 0, twice[2 * N];
    int64_t n = at_most(N), apart = 2 * sizeof(float);
    sn_array *kept = NULL;
    for (int64_t i = 0; i < 2 * n; i++)
        twice[i] = 1;
    sn_status status = sn_call(p, sn_held(x), sn_strided(twice, 1, &n, &apart), sn_value(&r), sn_keep(&kept));
    assert_true(status == SN_OK ? r == (float)n : !kept);
    if (status == SN_OK)
        status = sn_save_npy(kept, file);
    sn_free(kept);
    if (status != SN_OK && status != SN_NO_MEMORY)
        fail_msg("%s: %s", sn_status_name(status), sn_message(cx));
    return status == SN_OK;
}

static bool exchanges(sn_context *cx, sn_array *x)
{
    bool good = false;
    sn_array *loaded = sn_load_npy(cx, file);
    struct DLManagedTensorVersioned *tensor = loaded ? sn_to_dlpack(loaded) : NULL;
    sn_array *back = tensor ? sn_from_dlpack(cx, tensor) : NULL;
    if (tensor && !back) { /* a tensor that was not taken is ours: the second try is allowed to allocate */
        disarm();
        back = sn_from_dlpack(cx, tensor);
        assert_non_null(back);
    } else {
        good = back != NULL;
    }
    if (back)
        assert_int_equal(sn_bytes(back), sn_bytes(x));
    sn_free(loaded);
    sn_free(back);
    return good;
}

/* The program from its text, and its forms. */
static bool texts(sn_context *cx, sn_program *p)
{
    const char *term = sn_explain(p, "term");
    sn_program *again = term ? sn_parse_program(cx, term) : NULL;
    bool good = again && sn_explain(again, "unfused") && sn_explain(again, "json") && sn_explain(again, "dot");
    if (term && !again && *sn_message(cx) && !strstr(sn_message(cx), "no memory")) /* or none to say so */
        fail_msg("%s", sn_message(cx));
    sn_drop(again);
    return good;
}

/* loops and a choice within each other, an extent that changes, a result that stays */
static sn_scalar is_above(sn_scalar x)
{
    return sn_gt(x, 3);
}

static sn_scalar less(sn_scalar x)
{
    return sn_sub(x, 1);
}

static sn_acc some(sn_acc a)
{
    return sn_any(sn_map(is_above, a));
}

static sn_acc drop_one(sn_acc a)
{
    return sn_tail(a);
}

static sn_acc lower(sn_acc a)
{
    return sn_map(less, a);
}

static sn_acc lower_twice(sn_acc a)
{
    return sn_acond(sn_gt(sn_extent(a, 0), 5), drop_one, lower, sn_aiterate(2, lower, a));
}

static sn_acc loops_body(sn_acc a)
{
    return sn_awhile(some, lower_twice, a);
}

static bool loops(sn_context *cx)
{
    sn_program *p = sn_compile(cx, "[n]i32 -> [m]i32", loops_body);
    int32_t from[8] = {20, 18, 16, 14, 12, 10, 8, 6}, to[8] = {0};
    sn_array *kept = NULL;
    if (!p)
        return false;
    sn_status status = sn_call(p, sn_in(from, 8), sn_keep(&kept));
    if (status == SN_OK && (sn_bytes(kept) != 5 * sizeof *to || sn_read(kept, to, sn_bytes(kept)) != SN_OK))
        status = SN_NO_MEMORY;
    if (status == SN_OK)
        assert_true(to[0] <= 3 && to[4] == to[0] - 8);
    sn_free(kept);
    sn_drop(p);
    if (status != SN_OK && status != SN_NO_MEMORY)
        fail_msg("%s: %s", sn_status_name(status), sn_message(cx));
    return status == SN_OK;
}

/* by digits, in rounds, and by a comparison */
static sn_scalar is_less(sn_scalar x, sn_scalar y)
{
    return sn_lt(x, y);
}

static sn_acc sorts_body(sn_acc a)
{
    return sn_results(sn_sort(a), sn_sort_by(is_less, sn_take(at_most(3000), a)));
}

static bool sorts(sn_context *cx)
{
    enum { MANY = 50000, SOME = 3000 };
    static uint32_t from[MANY], to[MANY], first[SOME];
    const uint32_t many = (uint32_t)at_most(MANY), some = (uint32_t)at_most(SOME);
    char signature[64];
    snprintf(signature, sizeof(signature), "[%u]u32 -> [%u]u32, [%u]u32", many, many, some);
    sn_program *p = sn_compile(cx, signature, sorts_body);
    if (!p)
        return false;
    for (uint32_t i = 0; i < many; i++)
        from[i] = (many - i) * 65536;
    sn_status status = sn_call(p, sn_in(from, many), sn_into(to, many), sn_into(first, some));
    if (status == SN_OK)
        assert_true(to[0] == 65536 && to[many - 1] == many * 65536u && first[0] == (many - some + 1) * 65536u);
    sn_drop(p);
    if (status != SN_OK && status != SN_NO_MEMORY)
        fail_msg("%s: %s", sn_status_name(status), sn_message(cx));
    return status == SN_OK;
}

/* segments, what is kept, permutes, joins, groups, and functions that are not Sinter's */
static sn_scalar is_odd(sn_scalar x)
{
    return sn_ne(sn_bit_and(x, 1), 0);
}

static sn_scalar larger_tuple(sn_scalar x, sn_scalar y)
{
    return sn_if(sn_lt(sn_fst(x), sn_fst(y)), y, x);
}

static sn_status twice_of(void *env, sn_foreign_call *call)
{
    const int32_t *from = call->input[0].data;
    int32_t *to = call->output[0].data;
    (void)env;
    for (int64_t i = 0; i < call->output[0].extent[0]; i++)
        to[i] = 2 * from[i];
    return SN_OK;
}

static sn_scalar twice(sn_scalar x)
{
    return sn_add(x, x);
}

static sn_acc twice_each(sn_acc a)
{
    return sn_map(twice, a);
}

static sn_scalar plus_five(sn_scalar x)
{
    return sn_add(x, 5);
}

static sn_scalar called(sn_scalar x)
{
    static const sn_foreign_function f = {.size = sizeof(f),
                                          .name = "plus_five",
                                          .llvm = "define i32 @plus_five(i32 %x) {\n  %y = add i32 %x, 5\n"
                                                  "  ret i32 %y\n}\n"};
    return sn_foreign_scalar(&f, plus_five, x);
}

static sn_acc segments_body(sn_acc lengths, sn_acc a)
{
    sn_acc sums = sn_sum_seg(lengths, a), begun = sn_scanl_seg(sn_max, 0, lengths, a), totals,
           kept = sn_filter(is_odd, a);
    sn_acc scanned = sn_scanr_x_seg(sn_add, 0, lengths, a, &totals);
    sn_acc back = sn_append_seg(lengths, a, lengths, sn_replicate_seg(sn_size(a), lengths, totals));
    return sn_results(sums, begun, sn_zip_with(sn_add, scanned, sn_reverse(a)), back, sn_scanl1(sn_add, kept));
}

static sn_acc permutes_body(sn_acc a)
{
    const sn_foreign_code code = {.size = sizeof(code), .name = "twice", .cpu = twice_of};
    sn_acc keys = sn_map(is_odd, a), count, groups, values;
    sn_acc best = sn_reduce_by_key(larger_tuple, sn_tuple(sn_i32(-1), sn_i64(0)), 2, sn_map(sn_to_i32, keys),
                                   sn_zip(a, sn_iota(sn_size(a))));
    sn_acc apart = sn_partition(is_odd, a, &count), unique = sn_group(a, a, &groups, &values);
    sn_acc mixed = sn_combine(keys, sn_pack(keys, a), sn_pack(sn_map(sn_not, keys), sn_reverse(a)));
    sn_acc doubled = sn_foreign(&code, twice_each, sn_concat(apart, mixed));
    return sn_results(sn_snd(best), count, sn_merge(unique, sn_unique(values)), sn_interleave(a, doubled),
                      sn_scatter(sn_reverse(sn_iota(sn_size(a))), sn_map(called, a), a));
}

static sn_status call_segments(sn_context *cx)
{
    sn_program *p = sn_compile(cx, "[s]i64, [n]i32 -> [s]i32, [m]i32, [n]i32, [k]i32, [l]i32", segments_body);
    const int64_t lengths[] = {2, 0, 5};
    const int32_t from[] = {1, 2, 3, 4, 5, 6, 7};
    int32_t sums[3] = {0}, last[7];
    int64_t n = 0;
    sn_array *kept[3] = {0};
    sn_status status = SN_NO_MEMORY;
    if (p)
        status = sn_wait(sn_start(p, sn_in(lengths, 3), sn_in(from, 7), sn_into(sums, 3), sn_keep(&kept[0]),
                                  sn_keep(&kept[1]), sn_keep(&kept[2]), sn_upto(last, 7, &n)));
    if (status == SN_OK)
        assert_true(sums[0] == 3 && sums[1] == 0 && sums[2] == 25 && sn_array_extent(kept[0], 0) == 10 &&
                    sn_array_extent(kept[2], 0) == 14 && n == 4 && last[3] == 16);
    for (int i = 0; i < 3; i++)
        sn_free(kept[i]);
    sn_drop(p);
    return status;
}

static sn_status call_permutes(sn_context *cx)
{
    sn_program *p = sn_compile(cx, "[n]i32 -> [2]i64, i64, [k]i32, [m]i32, [n]i32", permutes_body);
    int32_t from[] = {5, 2, 9, 4, 5}, turned[5] = {0};
    int64_t best[2], count = 0;
    sn_array *kept[2] = {0}, *given = p ? sn_upload(cx, sn_in(from, 5)) : NULL;
    sn_status status = SN_NO_MEMORY;
    if (given) {
        status = sn_call(p, sn_give(given), sn_into(best, 2), sn_value(&count), sn_keep(&kept[0]), sn_keep(&kept[1]),
                         sn_into(turned, 5));
        if (status / 100 == 2)
            sn_free(given);
    }
    if (status == SN_OK)
        assert_true(best[0] == 3 && best[1] == 2 && count == 3 && sn_array_extent(kept[0], 0) == 8 &&
                    sn_array_extent(kept[1], 0) == 15 && turned[0] == 5 && turned[2] == 9);
    sn_free(kept[0]);
    sn_free(kept[1]);
    sn_drop(p);
    return status;
}

/* False if anything failed. */
static bool live_with_segments(sn_context *cx)
{
    sn_status status = call_segments(cx);
    if (status == SN_OK)
        status = call_permutes(cx);
    if (status != SN_OK && status != SN_NO_MEMORY)
        fail_msg("%s: %s", sn_status_name(status), sn_message(cx));
    return status == SN_OK;
}

/* a program as an object, and from it */
static sn_acc exported_body(sn_acc a)
{
    return sn_sum(sn_map(twice, a));
}

static bool live_with_exports(sn_context *cx)
{
    char prefix[600], path[620];
    int32_t from[] = {1, 2, 3}, sum = 0;
    sn_program *p = sn_compile(cx, "[n]i32 -> i32", exported_body);
    sn_status status = p ? sn_call(p, sn_in(from, 3), sn_value(&sum)) : SN_NO_MEMORY;
    snprintf(prefix, sizeof(prefix), "%.500s_exported", file);
    for (char *c = strrchr(prefix, '/') + 1; *c; c++)
        *c = *c == '.' ? '_' : *c;
    if (status == SN_OK)
        status = sn_export(p, prefix);
    for (int header = 0; header < 2; header++) {
        snprintf(path, sizeof(path), "%s.%c", prefix, header ? 'h' : 'o');
        unlink(path);
    }
    sn_drop(p);
    if (status != SN_OK && status != SN_NO_MEMORY)
        fail_msg("%s: %s", sn_status_name(status), sn_message(cx));
    return status == SN_OK;
}

/* rows of four, which a program of their own is made for */
static sn_acc turned(sn_acc a)
{
    return sn_transpose(a);
}

static bool small_extents(sn_context *cx)
{
    enum { ROWS = 1100 };
    static int32_t from[ROWS][4], to[4][ROWS];
    sn_program *p = sn_compile(cx, "[n,m]i32 -> [m,n]i32", turned);
    if (!p)
        return false;
    for (int i = 0; i < ROWS; i++)
        from[i][3] = i;
    sn_status status = sn_call(p, sn_in(&from[0][0], ROWS, 4), sn_into(&to[0][0], 4, ROWS));
    if (status == SN_OK)
        assert_int_equal(to[3][ROWS - 1], ROWS - 1);
    sn_drop(p);
    if (status != SN_OK && status != SN_NO_MEMORY)
        fail_msg("%s: %s", sn_status_name(status), sn_message(cx));
    return status == SN_OK;
}

/* False if anything failed. */
static bool live(sn_context *cx)
{
    sn_program *p = sn_compile(cx, "[n]f32, [n]f32 -> f32, [n]f32", body);
    sn_array *x = p ? sn_upload(cx, sn_in(numbers, at_most(N))) : NULL;
    bool good = x && calls(cx, x, p) && exchanges(cx, x) && sn_explain(p, "fused") && sn_explain(p, "plan") &&
                (strcmp(device, "cpu") || texts(cx, p)); /* the same everywhere */
    sn_free(x);
    sn_drop(p);
    return good && loops(cx) && sorts(cx) && small_extents(cx);
}

/* `step`: of so many allocations one fails, where tests are to be short. */
static void run_out(bool (*lives)(sn_context *), bool all, int64_t step)
{
    int64_t refused = 0;
    bool done = false;
    sn_context *warm = open_it(); /* kernels come to the disk, the file is written */
    if (!warm)
        skip();
    assert_true(lives(warm));
    sn_close(warm);
    if (getenv("SINTER_TEST_LONG"))
        step = 1;
    for (int64_t after = 0; !done; after += step) {
        arm(after, all);
        sn_context *cx = open_it();
        bool good = cx && lives(cx);
        done = !__atomic_load_n(&failed, __ATOMIC_RELAXED);
        disarm();
        refused += !good;
        assert_true(good || !done);
        if (cx && !good && !lives(cx))
            fail_msg("after allocation %lld failed, the context does not work: %s", (long long)after, sn_message(cx));
        sn_close(cx);
        assert_true(after < 100000);
    }
    assert_true(refused * step > 20);
}

/* Each place that asks an arena is refused once, or one of `step` places where tests are to be short. */
static void refuse_places(bool (*lives)(sn_context *), int64_t step)
{
    int64_t refused = 0;
    bool done = false;
    if (getenv("SINTER_TEST_LONG"))
        step = 1;
    for (int64_t number = 0; !done; number += step) {
        arm_place(number);
        sn_context *cx = open_it();
        bool good = cx && lives(cx);
        done = !failed;
        arm_place(INT64_MAX);
        refused += !good;
        assert_true(good || !done);
        if (cx && !good && !lives(cx))
            fail_msg("after place %lld was refused, the context does not work: %s", (long long)number, sn_message(cx));
        sn_close(cx);
    }
    assert_true(refused * step > 20);
}

static void on_the_cpu(void **state)
{
    (void)state;
    device = "cpu";
    run_out(live, false, 1);
    run_out(live, true, 1);
}

static void in_the_interpreter(void **state)
{
    (void)state;
    device = "interpreter";
    run_out(live, false, 1);
    run_out(live, true, 1);
}

static void with_segments(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        device = i < 2 ? "cpu" : "interpreter";
        run_out(live_with_segments, i % 2, 7);
    }
}

static void with_exports(void **state)
{
    (void)state;
    device = "cpu";
    run_out(live_with_exports, false, 31);
    run_out(live_with_exports, true, 31);
}

static void places_of_arenas(void **state)
{
    (void)state;
    device = "cpu";
    refuse_places(live, 2);
    refuse_places(live_with_segments, 5);
    refuse_places(live_with_exports, 41);
    device = "interpreter";
    refuse_places(live, 3);
    refuse_places(live_with_segments, 5);
}

static int prepare(void **state)
{
    const char *folder = getenv("SINTER_TEST_DIR");
    (void)state;
    for (int i = 0; i < N; i++)
        numbers[i] = 1;
    snprintf(file, sizeof(file), "%.400s/every_allocation.%ld.npy", folder ? folder : "/tmp", (long)getpid());
    return 0;
}

static int remove_file(void **state)
{
    (void)state;
    unlink(file);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(on_the_cpu), cmocka_unit_test(in_the_interpreter),
                                       cmocka_unit_test(places_of_arenas), cmocka_unit_test(with_segments),
                                       cmocka_unit_test(with_exports)};
    return cmocka_run_group_tests(tests, prepare, remove_file);
}
