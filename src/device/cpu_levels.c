/* Sets of instructions that exported code is for. */
#include "device/cpu_export.h"

#if defined(__x86_64__)
#define LEVEL_2 "+cx16,+sahf,+popcnt,+sse3,+ssse3,+sse4.1,+sse4.2"
#define LEVEL_3 LEVEL_2 ",+avx,+avx2,+bmi,+bmi2,+f16c,+fma,+lzcnt,+movbe,+xsave"
static const cpu_level levels[CPU_LEVELS] = {
    [2] = {"x86-64-v2", "x86-64-v2", LEVEL_2, 16},
    [3] = {"x86-64-v3", "x86-64-v3", LEVEL_3, 32},
    [4] = {"x86-64-v4", "x86-64-v4", LEVEL_3 ",+avx512f,+avx512bw,+avx512cd,+avx512dq,+avx512vl", 64}};

static unsigned best_level(void)
{
    __builtin_cpu_init();
    bool two = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
    bool three =
        two && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
    bool four = three && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                __builtin_cpu_supports("avx512vl");
    return four ? 4 : three ? 3 : two ? 2 : 0;
}

enum { MACHINE = 62 }; /* ELF's number of the processor */
#elif defined(__aarch64__)
static const cpu_level levels[CPU_LEVELS] = {[1] = {"aarch64", "generic", "+neon", 16}}; /* all have it */

static unsigned best_level(void)
{
    return 1;
}

enum { MACHINE = 183 };
#else
static const cpu_level levels[CPU_LEVELS];

static unsigned best_level(void)
{
    return 0;
}

enum { MACHINE = 0 };
#endif

const cpu_level *device_cpu_level_at(unsigned level)
{
    return level < CPU_LEVELS && levels[level].name ? &levels[level] : NULL;
}

unsigned device_cpu_machine(void)
{
    return MACHINE;
}

unsigned device_cpu_level(const device *base)
{
    unsigned level = best_level();
    while (level && (!levels[level].name || levels[level].vector_bytes > base->limits->vector_bytes))
        level--;
    return level;
}
