/* The builds in progress on a thread, the innermost being the current one; and those whose function was left without
 * returning, by longjmp or by an exception of C++, which nothing tells us of.
 *
 * A build is left if the stack has been unwound beyond its frame: if who asks stands further up, or if what the frame
 * holds has been overwritten. The second can miss one, which then counts as one around; it does no harm there, as it is
 * not in the frame itself. */
#include "embed/value.h"

#include <pthread.h>
#include <time.h>

static _Thread_local build *current;
static _Thread_local struct { /* the thread's own stack, as opposed to those of coroutines; 0, 0: not looked for yet */
    uintptr_t low, high;
} stack;

/* Distinguishes builds of a process, and never 0 or all ones. Nothing else depends on the number, so a clock will do:
 * a counter would have to be shared between threads. */
static uint32_t new_number(const build *b)
{
    struct timespec now = {0, 0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t h = hash_mix(hash_mix((uint64_t)now.tv_sec, (uint64_t)now.tv_nsec), (uint64_t)(uintptr_t)b);
    return (uint32_t)(h >> 32) % (UINT32_MAX - 2) + 1;
}

/* --- where the stack stands --- */

static void find_stack(void)
{
    pthread_attr_t attributes;
    void *low = NULL;
    size_t bytes = 0;
    if (pthread_getattr_np(pthread_self(), &attributes))
        return;
    if (!pthread_attr_getstack(&attributes, &low, &bytes)) {
        stack.low = (uintptr_t)low;
        stack.high = (uintptr_t)low + bytes;
    }
    pthread_attr_destroy(&attributes);
}

/* Addresses on different stacks tell nothing. */
static bool on_own_stack(uintptr_t at)
{
    if (!stack.high)
        find_stack();
    return at >= stack.low && at < stack.high;
}

static uint64_t word_of(const build *b, unsigned i)
{
    return hash_mix((uint64_t)(uintptr_t)b ^ b->number, i);
}

/* The frame may be gone, and then other ones are there. */
#if defined(__GNUC__)
__attribute__((no_sanitize("address"), no_sanitize("thread")))
#endif
static bool
is_overwritten(const build *b)
{
    for (unsigned i = 0; i < ARRAY_LENGTH(b->mark->word); i++)
        if (b->mark->word[i] != word_of(b, i))
            return true;
    return false;
}

/* `here`: the frame of who asks. Stacks grow downwards. */
static bool is_left(const build *b, uintptr_t here)
{
    return b->placed && ((here >= b->frame && on_own_stack(here)) || is_overwritten(b));
}

/* Builds that were left are over. */
static void drop_left(uintptr_t here)
{
    while (current && is_left(current, here)) {
        build *b = current;
        current = b->outer;
        if (b->owner && b->owner->abandon)
            b->owner->abandon(b->owner->env); /* frees the build, too */
    }
}

/* --- entering and leaving --- */

build *build_current(uintptr_t here)
{
    drop_left(here);
    return current;
}

void build_enter(build *b, uintptr_t frame, build_mark *mark)
{
    drop_left(frame);
    b->number = new_number(b);
    b->frame = frame;
    b->placed = on_own_stack(frame);
    b->mark = mark;
    b->outer = current;
    for (unsigned i = 0; i < ARRAY_LENGTH(mark->word); i++)
        mark->word[i] = word_of(b, i);
    value none = {0};
    vec_push(b->arena, &b->value, none);
    current = b;
}

void build_leave(const build *b)
{
    current = b->outer;
}

void embed_drop_left(void)
{
    drop_left((uintptr_t)__builtin_frame_address(0));
}
