/* What C sides of the group `imaging` share. */
#ifndef NEIGHBOURS_IMAGING_H
#define NEIGHBOURS_IMAGING_H

#include "c.h"

static inline int64_t clamp(int64_t i, int64_t n)
{
    return i < 0 ? 0 : i < n ? i : n - 1;
}
static inline int64_t mirror(int64_t i, int64_t n)
{
    return i < 0 ? -i : i < n ? i : 2 * (n - 1) - i;
}
static inline u8 to_byte(i32 x)
{
    return (u8)(x < 0 ? 0 : x > 255 ? 255 : x);
}
static inline u16 over_255(u16 x)
{
    x += 128;
    return (u16)(x + (x >> 8)) >> 8;
}

/* A thread's own memory, which it keeps from call to call. */
static inline void *scratch(int slot, int64_t bytes)
{
    static _Thread_local void *memory[4];
    static _Thread_local int64_t room[4];
    if (room[slot] < bytes) {
        free(memory[slot]);
        memory[slot] = malloc((size_t)bytes);
        room[slot] = bytes;
    }
    return memory[slot];
}
static inline void *cleared(int slot, int64_t bytes)
{
    return memset(scratch(slot, bytes), 0, (size_t)bytes);
}

/* A row of a stencil of three columns: left and right are j - 1 and j + 1 but at the ends. */
#define ROW_OF_3(m, outside, ...)                                                                                      \
    for (int64_t j = 0; j < (m); j += (m)-1) {                                                                         \
        int64_t left = outside(j - 1, m), right = outside(j + 1, m);                                                   \
        __VA_ARGS__                                                                                                    \
    }                                                                                                                  \
    SIMD                                                                                                               \
    for (int64_t j = 1; j < (m)-1; j++) {                                                                              \
        int64_t left = j - 1, right = j + 1;                                                                           \
        __VA_ARGS__                                                                                                    \
    }

/* Of five columns: l2, l1, r1 and r2. */
#define ROW_OF_5(m, outside, ...)                                                                                      \
    for (int64_t j = 0; j < (m); j += j == 1 ? (m)-3 : 1) {                                                            \
        int64_t l2 = outside(j - 2, m), l1 = outside(j - 1, m), r1 = outside(j + 1, m), r2 = outside(j + 2, m);        \
        __VA_ARGS__                                                                                                    \
    }                                                                                                                  \
    SIMD                                                                                                               \
    for (int64_t j = 2; j < (m)-2; j++) {                                                                              \
        int64_t l2 = j - 2, l1 = j - 1, r1 = j + 1, r2 = j + 2;                                                        \
        __VA_ARGS__                                                                                                    \
    }

#endif
