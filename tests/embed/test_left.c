/* Functions that sn_compile runs and that are left by longjmp: what comes later on the thread is as if they had not
 * been. */
#include "embed_test.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static jmp_buf away;
static int abandoned;
static bool returned; /* no build does */
static sn_acc kept;

static sn_acc leaves(sn_acc x)
{
    kept = x;
    longjmp(away, 1);
}

static sn_acc twice(sn_acc x)
{
    return sn_zip_with(sn_add, x, x);
}

typedef struct owned { /* a build, as the library has them: with an arena that goes when it is abandoned */
    arena arena;
    embed_owner owner;
    embed_result info;
} owned;

static void let_go(void *env)
{
    owned *o = env;
    arena_free(&o->arena);
    free(o);
    abandoned++;
}

/* Builds below so many frames, so that the build stands deeper or less deep on the stack. */
static void __attribute__((noinline)) build_below(size_t depth)
{
    volatile char room[200];
    room[depth % sizeof(room)] = 1;
    if (depth) {
        build_below(depth - 1);
        room[0] = room[1];
        return;
    }
    owned *o = calloc(1, sizeof(*o));
    arena_init(&o->arena, NULL);
    o->owner = (embed_owner){let_go, o};
    embed_build_as(&o->arena, SN_HERE, "[n]f32 -> [n]f32", sn_body_1(leaves), false, &o->owner, &o->info);
    returned = true;
}

static void __attribute__((noinline)) leave_below(size_t depth)
{
    if (!setjmp(away))
        build_below(depth);
    assert_false(returned);
}

static void works(void)
{
    built *b = build("[n]f32 -> [n]f32", twice);
    assert_string_equal(b->messages, "");
    built_free(b);
}

static void __attribute__((noinline)) works_below(size_t depth)
{
    volatile char room[200];
    room[depth % sizeof(room)] = 1;
    if (depth)
        works_below(depth - 1);
    else
        works();
    room[0] = room[1];
}

static void builds_go_on(void **state)
{
    (void)state;
    for (size_t left = 0; left < 40; left = left * 2 + 1)
        for (size_t next = 0; next < 40; next = next * 2 + 1) {
            leave_below(left);
            works_below(next);
            works();
        }
    embed_drop_left();
    works();
}

static void what_was_left_is_freed(void **state)
{
    (void)state;
    embed_drop_left();
    abandoned = 0;
    for (int i = 0; i < 5; i++)
        leave_below(3);
    embed_drop_left();
    assert_int_equal(abandoned, 5);
}

/* Nothing is being compiled any more. */
static void operations_are_outside(void **state)
{
    (void)state;
    leave_below(20);
    sn_acc y = sn_map(sn_neg, kept);
    assert_int_equal(y.bits >> 32, 0);
    sn_scalar one = sn_f32(1);
    assert_int_equal(one.bits >> 32, 0);
}

/* The build around is not the one that was left. */
static sn_acc around(sn_acc x)
{
    sn_acc before = sn_map(sn_neg, x);
    for (size_t left = 0; left < 40; left = left * 2 + 1) {
        leave_below(left);
        x = sn_map(sn_neg, x);
        works_below(2);
    }
    embed_drop_left();
    return sn_zip_with(sn_add, x, before);
}

static void the_build_around_goes_on(void **state)
{
    (void)state;
    built *b = build("[n]f32 -> [n]f32", around);
    assert_string_equal(b->messages, "");
    built_free(b);
}

/* Far down the stack is not beyond it: a body may take much. */
static sn_acc __attribute__((noinline)) deep(int depth, sn_acc x)
{
    volatile char room[1000];
    memset((char *)room, 1, sizeof(room));
    x = sn_map(sn_neg, x);
    return depth ? deep(depth - 1, x) : x;
}

static sn_acc deep_body(sn_acc x)
{
    works();
    return deep(50, x);
}

static void *on_a_thread(void *env)
{
    built *b = build("[n]f32 -> [n]f32", deep_body);
    *(bool *)env = !*b->messages;
    built_free(b);
    return NULL;
}

static void nested_builds_are_not_left(void **state)
{
    bool good = false;
    pthread_t thread;
    (void)state;
    on_a_thread(&good);
    assert_true(good);
    good = false;
    assert_int_equal(pthread_create(&thread, NULL, on_a_thread, &good), 0);
    pthread_join(thread, NULL);
    assert_true(good);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(builds_go_on),
        cmocka_unit_test(what_was_left_is_freed),
        cmocka_unit_test(operations_are_outside),
        cmocka_unit_test(the_build_around_goes_on),
        cmocka_unit_test(nested_builds_are_not_left),
    };
    return cmocka_run_group_tests_name("builds left by longjmp", tests, NULL, NULL);
}
