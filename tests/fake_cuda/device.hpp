/* What kernels in CUDA C++ use, for a C++ compiler: the threads of a block take turns, each on a stack of its own once it has
 * to wait, so that barriers and exchanges between the lanes of a warp work as on a device. One block runs at a time. A kernel
 * whose threads do not all come to the same barrier, or which writes behind its shared memory, fails. */
#define _GLIBCXX_INCLUDE_NEXT_C_HEADERS /* the C library's headers are enough, and quicker */
#define ulong fake_system_ulong         /* kernels have one of their own */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifndef __x86_64__
#include <ucontext.h>
#endif
#undef ulong

#define __device__
#define __global__
#define __forceinline__ inline
#define __noinline__
#define __shared__ static /* the fake compiler leaves it out behind `extern` */
#define __launch_bounds__(threads)
#define __align__(bytes) __attribute__((aligned(bytes)))
#undef isnan
#undef isinf
#undef isfinite
#undef signbit
#define isnan(x) __builtin_isnan(x)
#define isinf(x) __builtin_isinf(x)
#define isfinite(x) __builtin_isfinite(x)
#define signbit(x) __builtin_signbit(x)

enum { FAKE_WARP = 32, FAKE_THREADS = 1024, FAKE_SHARED = 232448, FAKE_CANARY = 64, FAKE_STACK = 128 << 10 };
static char *fake_stacks; /* FAKE_THREADS of FAKE_STACK bytes, which cuda.c has for all launches */
static const uintptr_t fake_distance = (uintptr_t)1 << 46; /* of device addresses from the host's */

typedef struct {
    unsigned x, y, z;
} fake_place;
static fake_place threadIdx, blockIdx, blockDim, gridDim;

#define FAKE_VECTOR4(name, type) typedef struct { type x, y, z, w; } __attribute__((aligned(4 * sizeof(type)))) name
#define FAKE_VECTOR2(name, type) typedef struct { type x, y; } __attribute__((aligned(2 * sizeof(type)))) name
FAKE_VECTOR4(char4, signed char);
FAKE_VECTOR4(uchar4, unsigned char);
FAKE_VECTOR4(short4, short);
FAKE_VECTOR4(ushort4, unsigned short);
FAKE_VECTOR4(int4, int);
FAKE_VECTOR4(uint4, unsigned);
FAKE_VECTOR4(float4, float);
FAKE_VECTOR2(double2, double);
FAKE_VECTOR2(longlong2, long long);
FAKE_VECTOR2(ulonglong2, unsigned long long);

template <class T> static T __ldg(const T *p) /* a device faults where an address is not aligned */
{
    if ((uintptr_t)p % alignof(T))
        abort();
    return *p;
}

static float4 make_float4(float x, float y, float z, float w)
{
    float4 v = {x, y, z, w};
    return v;
}

/* --- threads --- */

static void fake_carry();

/* Where a thread goes on. swapcontext would do; it asks the system for the signals that are let through at every turn. */
#ifdef __x86_64__
typedef void *fake_point; /* the top of its stack, where what a function must keep lies */

extern "C" void fake_switch(fake_point *from, fake_point to) __attribute__((visibility("hidden")));
__asm__(".text\n"
        ".hidden fake_switch\n"
        ".type fake_switch, @function\n"
        "fake_switch:\n"
        "push %rbp\npush %rbx\npush %r12\npush %r13\npush %r14\npush %r15\n"
        "mov %rsp, (%rdi)\n"
        "mov %rsi, %rsp\n"
        "pop %r15\npop %r14\npop %r13\npop %r12\npop %rbx\npop %rbp\n"
        "ret\n"
        ".size fake_switch, .-fake_switch\n");

static void fake_go(fake_point *from, const fake_point *to)
{
    fake_switch(from, *to);
}

static void fake_begin(fake_point *p, char *stack)
{
    void **top = (void **)(stack + FAKE_STACK);
    *--top = NULL; /* nobody to return to */
    *--top = (void *)fake_carry;
    for (int kept = 0; kept < 6; kept++)
        *--top = NULL;
    *p = top;
}
#else
typedef ucontext_t fake_point;

static void fake_go(fake_point *from, const fake_point *to)
{
    swapcontext(from, to);
}

static void fake_begin(fake_point *p, char *stack)
{
    getcontext(p);
    p->uc_stack.ss_sp = stack;
    p->uc_stack.ss_size = FAKE_STACK;
    p->uc_link = NULL;
    makecontext(p, fake_carry, 0);
}
#endif

enum fake_state { FAKE_READY, FAKE_AT_BARRIER, FAKE_AT_EXCHANGE, FAKE_DONE };
typedef struct {
    fake_point at; /* where it waits */
    fake_state state;
    unsigned mask;         /* lanes of the exchange that it waits for */
    uint64_t given, shown; /* to that exchange; to the one that was complete last, where the others look */
} fake_thread;

static fake_thread *fake_threads;
static fake_point fake_scheduler, fake_finished;
static unsigned fake_current, fake_begun; /* fake_begun: of the block's threads */
static bool fake_backwards;
static void (*fake_body)();

static void fake_turn(unsigned thread)
{
    fake_current = thread;
    threadIdx.x = thread;
}

static void fake_pause(fake_state state)
{
    fake_thread *t = &fake_threads[fake_current];
    t->state = state;
    fake_go(&t->at, &fake_scheduler);
}

/* One stack does for one thread after the other, up to the first that waits; the others begin on another one. */
static void fake_carry()
{
    while (fake_begun < blockDim.x) {
        unsigned next = fake_begun++;
        fake_turn(fake_backwards ? blockDim.x - 1 - next : next);
        fake_body();
        fake_threads[fake_current].state = FAKE_DONE;
    }
    fake_go(&fake_finished, &fake_scheduler);
}

static bool fake_all_at_barrier()
{
    for (unsigned i = 0; i < blockDim.x; i++)
        if (fake_threads[i].state != FAKE_AT_BARRIER)
            return false;
    return true;
}

static bool fake_exchange_complete(unsigned thread)
{
    const fake_thread *t = &fake_threads[thread];
    unsigned first = thread / FAKE_WARP * FAKE_WARP;
    for (unsigned lane = 0; lane < FAKE_WARP && first + lane < blockDim.x; lane++) {
        const fake_thread *other = &fake_threads[first + lane];
        bool there = other->state == FAKE_AT_EXCHANGE && other->mask == t->mask;
        if ((t->mask >> lane & 1) && !there)
            return false;
    }
    return true;
}

/* Lets those go on who may; false: nobody may. */
static bool fake_release()
{
    bool any = false;
    bool *free_to_go = (bool *)calloc(blockDim.x, sizeof(bool));
    bool barrier = fake_all_at_barrier(), complete = false;
    const fake_thread *asked = NULL; /* in this warp; lanes of one mask get one answer */
    for (unsigned i = 0; i < blockDim.x; i++) {
        const fake_thread *t = &fake_threads[i];
        if (i % FAKE_WARP == 0)
            asked = NULL;
        if (t->state == FAKE_AT_EXCHANGE && (!asked || asked->mask != t->mask)) {
            complete = fake_exchange_complete(i);
            asked = t;
        }
        free_to_go[i] = barrier || (t->state == FAKE_AT_EXCHANGE && complete);
    }
    for (unsigned i = 0; i < blockDim.x; i++)
        if (free_to_go[i]) {
            fake_threads[i].shown = fake_threads[i].given;
            fake_threads[i].state = FAKE_READY;
            any = true;
        }
    free(free_to_go);
    return any;
}

static bool fake_all_done()
{
    for (unsigned i = 0; i < blockDim.x; i++)
        if (fake_threads[i].state != FAKE_DONE)
            return false;
    return true;
}

static bool fake_block()
{
    memset(fake_threads, 0, blockDim.x * sizeof(*fake_threads));
    fake_begun = 0;
    for (char *stack = fake_stacks; fake_begun < blockDim.x; stack += FAKE_STACK) {
        fake_point begin;
        fake_begin(&begin, stack);
        fake_go(&fake_scheduler, &begin);
    }
    while (!fake_all_done()) {
        if (!fake_release())
            return false;
        for (unsigned j = 0; j < blockDim.x; j++) {
            fake_turn(fake_backwards ? blockDim.x - 1 - j : j);
            if (fake_threads[fake_current].state == FAKE_READY)
                fake_go(&fake_scheduler, &fake_threads[fake_current].at);
        }
    }
    return true;
}

static void __syncthreads()
{
    fake_pause(FAKE_AT_BARRIER);
}

/* Gives a word, and takes that of another lane. */
static uint64_t fake_exchange(unsigned mask, uint64_t word, unsigned from)
{
    unsigned me = fake_current;
    fake_threads[me].mask = mask;
    fake_threads[me].given = word;
    fake_pause(FAKE_AT_EXCHANGE);
    unsigned other = me / FAKE_WARP * FAKE_WARP + from % FAKE_WARP;
    return other < blockDim.x ? fake_threads[other].shown : 0;
}

static void __syncwarp(unsigned mask = ~0u)
{
    fake_exchange(mask, 0, 0);
}

template <class T> static T fake_shuffle(unsigned mask, T value, unsigned from)
{
    uint64_t word = 0;
    memcpy(&word, &value, sizeof(value));
    word = fake_exchange(mask, word, from);
    memcpy(&value, &word, sizeof(value));
    return value;
}

static unsigned fake_lane()
{
    return fake_current % FAKE_WARP;
}

template <class T> static T __shfl_sync(unsigned mask, T value, int from, int width = 32)
{
    return fake_shuffle(mask, value, fake_lane() / (unsigned)width * (unsigned)width + (unsigned)from % (unsigned)width);
}

template <class T> static T __shfl_xor_sync(unsigned mask, T value, int bits, int = 32)
{
    return fake_shuffle(mask, value, fake_lane() ^ (unsigned)bits);
}

template <class T> static T __shfl_down_sync(unsigned mask, T value, unsigned distance, int width = 32)
{
    unsigned in_part = fake_lane() % (unsigned)width;
    return fake_shuffle(mask, value, in_part + distance < (unsigned)width ? fake_lane() + distance : fake_lane());
}

template <class T> static T __shfl_up_sync(unsigned mask, T value, unsigned distance, int width = 32)
{
    unsigned in_part = fake_lane() % (unsigned)width;
    return fake_shuffle(mask, value, in_part >= distance ? fake_lane() - distance : fake_lane());
}

static unsigned __ballot_sync(unsigned mask, int holds)
{
    unsigned me = fake_current, all = 0;
    fake_threads[me].mask = mask;
    fake_threads[me].given = holds != 0;
    fake_pause(FAKE_AT_EXCHANGE);
    unsigned first = me / FAKE_WARP * FAKE_WARP;
    for (unsigned lane = 0; lane < FAKE_WARP && first + lane < blockDim.x; lane++)
        if (mask >> lane & 1)
            all |= (unsigned)fake_threads[first + lane].shown << lane;
    return all;
}

static int __all_sync(unsigned mask, int holds)
{
    return __ballot_sync(mask, holds) == mask;
}

static int __any_sync(unsigned mask, int holds)
{
    return __ballot_sync(mask, holds) != 0;
}

/* --- functions of the language --- */

template <class To, class From> static To fake_bits(From from)
{
    static_assert(sizeof(To) == sizeof(From), "of one width");
    To to;
    memcpy(&to, &from, sizeof(to));
    return to;
}

static float __uint_as_float(unsigned x) { return fake_bits<float>(x); }
static float __int_as_float(int x) { return fake_bits<float>(x); }
static int __float_as_int(float x) { return fake_bits<int>(x); }
static unsigned __float_as_uint(float x) { return fake_bits<unsigned>(x); }
static double __longlong_as_double(long long x) { return fake_bits<double>(x); }
static long long __double_as_longlong(double x) { return fake_bits<long long>(x); }

/* Towards zero, clamped, as cvt does; what it makes of a NaN is made odd here, since nobody may rely on it. */
template <class To, class From> static To fake_convert(From x)
{
    const int bits = (int)sizeof(To) * 8 - (To(-1) < To(0));
    const From end = (From)ldexp(1.0, bits);
    if (x != x)
        return (To)77;
    if (x >= end)
        return (To)(~(uint64_t)0 >> (64 - bits));
    if (To(-1) < To(0) ? x <= -end : x <= 0)
        return To(-1) < To(0) ? (To)((uint64_t)1 << (8 * sizeof(To) - 1)) : (To)0;
    return (To)x;
}

static int __float2int_rz(float x) { return fake_convert<int>(x); }
static unsigned __float2uint_rz(float x) { return fake_convert<unsigned>(x); }
static long long __float2ll_rz(float x) { return fake_convert<long long>(x); }
static unsigned long long __float2ull_rz(float x) { return fake_convert<unsigned long long>(x); }
static int __double2int_rz(double x) { return fake_convert<int>(x); }
static unsigned __double2uint_rz(double x) { return fake_convert<unsigned>(x); }
static long long __double2ll_rz(double x) { return fake_convert<long long>(x); }
static unsigned long long __double2ull_rz(double x) { return fake_convert<unsigned long long>(x); }

static int max(int a, int b) { return a > b ? a : b; }
static int min(int a, int b) { return a < b ? a : b; }
static int __popc(unsigned x) { return __builtin_popcount(x); }
static int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static int __clz(unsigned x) { return x ? __builtin_clz(x) : 32; }
static int __clzll(unsigned long long x) { return x ? __builtin_clzll(x) : 64; }
static int __ffs(unsigned x) { return __builtin_ffs((int)x); }
static void __threadfence() {}

/* One thread runs at a time. */
#define FAKE_ATOMIC(name, type, result)              \
    static type name(type *p, type x)                \
    {                                                \
        type old = *p;                               \
        *p = result;                                 \
        return old;                                  \
    }
#define FAKE_ATOMICS(type)                           \
    FAKE_ATOMIC(atomicAdd, type, old + x)            \
    FAKE_ATOMIC(atomicExch, type, x)                 \
    FAKE_ATOMIC(atomicMin, type, x < old ? x : old)  \
    FAKE_ATOMIC(atomicMax, type, x > old ? x : old)  \
    FAKE_ATOMIC(atomicAnd, type, old & x)            \
    FAKE_ATOMIC(atomicOr, type, old | x)             \
    FAKE_ATOMIC(atomicXor, type, old ^ x)            \
    static type atomicCAS(type *p, type seen, type x) \
    {                                                \
        type old = *p;                               \
        *p = old == seen ? x : old;                  \
        return old;                                  \
    }
FAKE_ATOMICS(int)
FAKE_ATOMICS(unsigned)
FAKE_ATOMICS(unsigned long long)
FAKE_ATOMIC(atomicMin, long long, x < old ? x : old)
FAKE_ATOMIC(atomicMax, long long, x > old ? x : old)

/* --- launching --- */

/* Where blocks wait for each other one of them does all the work: one runs at a time, and how many there are changes no
 * result. */

template <class T> struct fake_argument {
    enum { size = sizeof(T), pointer = 0 };
    static T get(const void *at)
    {
        T v;
        memcpy(&v, at, sizeof(v));
        return v;
    }
};
template <class T> struct fake_argument<T *> {
    enum { size = sizeof(T *), pointer = 1 };
    static T *get(const void *at)
    {
        uintptr_t v;
        memcpy(&v, at, sizeof(v));
        return (T *)(v - fake_distance);
    }
};

template <class F> struct fake_signature;
template <class... P> struct fake_signature<void (*)(P...)> {
    static unsigned describe(unsigned *bytes, bool *pointer)
    {
        unsigned n = 0, m = 0;
        int unused[] = {0, (bytes[n++] = fake_argument<P>::size, 0)...};
        int as_well[] = {0, (pointer[m++] = fake_argument<P>::pointer, 0)...};
        (void)unused, (void)as_well;
        return n;
    }
    struct call { /* braces evaluate from left to right */
        call(void (*f)(P...), P... p) { f(p...); }
    };
    static void run(void (*f)(P...), const void *const *at)
    {
        unsigned i = 0;
        call{f, fake_argument<P>::get(at[i++])...};
    }
};

alignas(16) unsigned long long sn_shared[(FAKE_SHARED + FAKE_CANARY) / 8];
static const void *const *fake_arguments;

static bool fake_grid(unsigned grid, unsigned block, unsigned shared)
{
    char *memory = (char *)sn_shared;
    bool good = block <= FAKE_THREADS && shared <= FAKE_SHARED;
    fake_threads = (fake_thread *)malloc(block * sizeof(fake_thread));
    good = good && fake_threads;
    gridDim.x = grid;
    blockDim.x = block;
    for (unsigned b = 0; good && b < grid; b++) {
        blockIdx.x = b;
        memset(memory, 0xa5, shared + FAKE_CANARY); /* undefined at first, and nobody's behind the end */
        good = fake_block();
        for (unsigned i = 0; i < FAKE_CANARY; i++)
            good = good && memory[shared + i] == (char)0xa5;
    }
    free(fake_threads);
    return good;
}

#define FAKE_KERNEL(entry, waits)                                                                        \
    static void fake_call_##entry() { fake_signature<decltype(&entry)>::run(&entry, fake_arguments); }         \
    extern "C" unsigned fake_describe_##entry(unsigned *bytes, bool *pointer)                                  \
    {                                                                                                  \
        return fake_signature<decltype(&entry)>::describe(bytes, pointer);                             \
    }                                                                                                  \
    extern "C" bool fake_launch_##entry(const void *const *arguments, unsigned grid, unsigned block,           \
                                unsigned shared, bool backwards, char *stacks)                         \
    {                                                                                                  \
        fake_arguments = arguments;                                                                    \
        fake_body = fake_call_##entry;                                                                         \
        fake_backwards = backwards;                                                                    \
        fake_stacks = stacks;                                                                          \
        return fake_grid(waits ? 1 : grid, block, shared);                                             \
    }
