/* The emulation of blocks for emitted CUDA C++. */
#include "support/cuda_text.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>
#include <unistd.h>

enum { STACK = 256 << 10, MOST_LOCAL = 1024, WARP = 32 };

/* What NVRTC knows without headers. `ulong` and the like come with the text. */
static const char prelude[] =
    "#define __device__\n#define __forceinline__ inline\n#define __noinline__\n#define __global__\n#define __launch_bounds__(n)\n"
    "#define __align__(n)\n#define __shared__\n"
    "struct emu_index { unsigned x, y, z; };\n"
    "struct emu_hooks { void (*barrier)(void); unsigned (*ballot)(unsigned, int);\n"
    "                   unsigned long long (*shuffle)(unsigned, unsigned long long, int); };\n"
    "extern \"C\" { emu_index emu_thread, emu_block, emu_grid; emu_hooks emu_hook; }\n"
    "#define threadIdx emu_thread\n#define blockIdx emu_block\n#define gridDim emu_grid\n"
    "unsigned long long sn_shared[16384], sn_word[8];\n"
    "#define EMU_VECTOR4(name, type) struct __attribute__((aligned(4 * sizeof(type)))) name { type x, y, z, w; };\n"
    "#define EMU_VECTOR2(name, type) struct __attribute__((aligned(2 * sizeof(type)))) name { type x, y; };\n"
    "EMU_VECTOR4(char4, signed char) EMU_VECTOR4(uchar4, unsigned char) EMU_VECTOR4(short4, short)\n"
    "EMU_VECTOR4(ushort4, unsigned short) EMU_VECTOR4(int4, int) EMU_VECTOR4(uint4, unsigned) EMU_VECTOR4(float4, "
    "float)\n"
    "EMU_VECTOR2(double2, double) EMU_VECTOR2(longlong2, long long) EMU_VECTOR2(ulonglong2, unsigned long long)\n"
    "template <class T> T __ldg(const T *p)\n"
    "{ if ((unsigned long)p % alignof(T)) __builtin_trap(); return *p; }\n"
    "#define __syncthreads() emu_hook.barrier()\n#define __threadfence() ((void)0)\n"
    "#define __ballot_sync(m, p) emu_hook.ballot(m, p)\n"
    "#define __all_sync(m, p) (emu_hook.ballot(m, p) == (m))\n"
    "template <class T> T __shfl_sync(unsigned m, T x, int from)\n"
    "{ unsigned long long w = 0; __builtin_memcpy(&w, &x, sizeof x); w = emu_hook.shuffle(m, w, from);\n"
    "  __builtin_memcpy(&x, &w, sizeof x); return x; }\n"
    "extern \"C\" { double fma(double, double, double), sqrt(double), floor(double), ceil(double), trunc(double), "
    "round(double),\n"
    " rint(double), fabs(double), copysign(double, double); float fmaf(float, float, float), sqrtf(float), "
    "floorf(float),\n"
    " ceilf(float), truncf(float), roundf(float), rintf(float), fabsf(float), copysignf(float, float); }\n"
    "#define isnan(x) __builtin_isnan(x)\n#define isinf(x) __builtin_isinf(x)\n#define isfinite(x) "
    "__builtin_isfinite(x)\n"
    "#define signbit(x) __builtin_signbit(x)\n"
    "static inline int min(int a, int b) { return a < b ? a : b; }\nstatic inline int max(int a, int b) { return a > b "
    "? a : b; }\n"
    "template <class R, class F> R emu_as(F x) { R r; __builtin_memcpy(&r, &x, sizeof r); return r; }\n"
    "#define __uint_as_float(x) emu_as<float>((unsigned)(x))\n#define __float_as_int(x) emu_as<int>((float)(x))\n"
    "#define __float_as_uint(x) emu_as<unsigned>((float)(x))\n#define __longlong_as_double(x) emu_as<double>((long "
    "long)(x))\n"
    "#define __double_as_longlong(x) emu_as<long long>((double)(x))\n"
    "template <class R, class F> R emu_convert(F x, R low, R high)\n"
    "{ return x != x ? 0 : x <= (F)low ? low : x >= (F)high ? high : (R)x; }\n"
    "#define emu_i32(x) emu_convert(x, -2147483647 - 1, 2147483647)\n#define emu_u32(x) emu_convert(x, 0u, "
    "4294967295u)\n"
    "#define emu_i64(x) emu_convert(x, -9223372036854775807LL - 1, 9223372036854775807LL)\n"
    "#define emu_u64(x) emu_convert(x, 0ULL, 18446744073709551615ULL)\n"
    "#define __float2int_rz(x) emu_i32(x)\n#define __float2uint_rz(x) emu_u32(x)\n#define __float2ll_rz(x) emu_i64(x)\n"
    "#define __float2ull_rz(x) emu_u64(x)\n#define __double2int_rz(x) emu_i32(x)\n#define __double2uint_rz(x) "
    "emu_u32(x)\n"
    "#define __double2ll_rz(x) emu_i64(x)\n#define __double2ull_rz(x) emu_u64(x)\n"
    "#define __popc(x) __builtin_popcount(x)\n#define __popcll(x) __builtin_popcountll(x)\n"
    "#define __clz(x) ((x) ? __builtin_clz(x) : 32)\n#define __clzll(x) ((x) ? __builtin_clzll(x) : 64)\n"
    "#define EMU_ATOMIC(name, value) template <class T, class U> T name(T *p, U u) { T old = *p, v = (T)u; *p = value; "
    "return old; }\n"
    "EMU_ATOMIC(atomicAdd, old + v)\nEMU_ATOMIC(atomicMin, old < v ? old : v)\nEMU_ATOMIC(atomicMax, old > v ? old : "
    "v)\n"
    "EMU_ATOMIC(atomicAnd, old & v)\nEMU_ATOMIC(atomicOr, old | v)\nEMU_ATOMIC(atomicXor, old ^ "
    "v)\nEMU_ATOMIC(atomicExch, v)\n"
    "template <class T, class U, class V> T atomicCAS(T *p, U seen, V v)\n"
    "{ T old = *p; if (old == (T)seen) *p = (T)v; return old; }\n";

typedef struct {
    unsigned x, y, z;
} emu_index;

typedef struct {
    void (*barrier)(void);
    unsigned (*ballot)(unsigned, int);
    unsigned long long (*shuffle)(unsigned, unsigned long long, int);
} emu_hooks;

typedef enum { READY, AT_BARRIER, AT_EXCHANGE, DONE } thread_state;

typedef struct {
    ucontext_t context;
    thread_state state;
    unsigned members;        /* of the exchange it waits for */
    unsigned long long word; /* what it brings, then what it gets: of all the members */
    char *stack;
} thread;

struct cuda_text {
    void *library;
    void (*call)(void *const *, const ir_bits *, long, long, int64_t *);
    emu_index *index, *block, *grid;
    unsigned local;
    thread *thread;
};

typedef struct {
    cuda_text *t;
    void *const *mem;
    const ir_bits *arg;
    long first, last;
    int64_t *record;
    ucontext_t scheduler;
    unsigned now;
    unsigned long long brought[MOST_LOCAL]; /* to the exchange that has just been complete */
} block_run;

static block_run *running; /* coroutines have no argument of their own */

static void wait_as(thread_state state)
{
    thread *me = &running->t->thread[running->now];
    me->state = state;
    swapcontext(&me->context, &running->scheduler);
}

static void barrier(void)
{
    wait_as(AT_BARRIER);
}

static unsigned long long exchange(unsigned members, unsigned long long word)
{
    thread *me = &running->t->thread[running->now];
    me->members = members;
    me->word = word;
    wait_as(AT_EXCHANGE);
    return me->word;
}

static unsigned ballot(unsigned members, int yes)
{
    unsigned me = running->now, votes = 0;
    exchange(members, yes != 0);
    for (unsigned i = 0; i < WARP; i++)
        if (members >> i & 1 && running->brought[me / WARP * WARP + i])
            votes |= 1u << i;
    return votes;
}

static unsigned long long shuffle(unsigned members, unsigned long long word, int from)
{
    unsigned me = running->now;
    exchange(members, word);
    bool there = members >> ((unsigned)from % WARP) & 1;
    return there ? running->brought[me / WARP * WARP + (unsigned)from % WARP] : 0x5a5a5a5a5a5a5a5aull; /* anything */
}

static void run_thread(void)
{
    block_run *r = running;
    r->t->call(r->mem, r->arg, r->first, r->last, r->record);
    wait_as(DONE);
}

/* The members that a waiting thread names, if all wait for the same exchange. */
static bool complete(const cuda_text *t, unsigned i)
{
    for (unsigned j = 0; j < WARP; j++) {
        unsigned other = i / WARP * WARP + j;
        if (!(t->thread[i].members >> j & 1))
            continue;
        if (other >= t->local || t->thread[other].state != AT_EXCHANGE ||
            t->thread[other].members != t->thread[i].members)
            return false;
    }
    return t->thread[i].members >> (i % WARP) & 1;
}

static bool release_exchanges(block_run *r)
{
    bool any = false;
    for (unsigned i = 0; i < r->t->local; i++) {
        if (r->t->thread[i].state != AT_EXCHANGE || !complete(r->t, i))
            continue;
        for (unsigned j = 0; j < WARP; j++)
            if (r->t->thread[i].members >> j & 1) {
                unsigned other = i / WARP * WARP + j;
                r->brought[other] = r->t->thread[other].word;
                r->t->thread[other].state = READY;
            }
        any = true;
    }
    return any;
}

static unsigned count(const cuda_text *t, thread_state state)
{
    unsigned n = 0;
    for (unsigned i = 0; i < t->local; i++)
        n += t->thread[i].state == state;
    return n;
}

static void resume(block_run *r)
{
    for (unsigned i = 0; i < r->t->local; i++) {
        if (r->t->thread[i].state != READY)
            continue;
        r->now = i;
        *r->t->index = (emu_index){i, 0, 0};
        swapcontext(&r->scheduler, &r->t->thread[i].context);
    }
}

static void begin(thread *x)
{
    getcontext(&x->context);
    x->context.uc_stack.ss_sp = x->stack;
    x->context.uc_stack.ss_size = STACK;
    x->context.uc_link = NULL;
    x->state = READY;
    makecontext(&x->context, run_thread, 0);
}

static bool run_block(block_run *r, const char **why)
{
    cuda_text *t = r->t;
    for (unsigned i = 0; i < t->local; i++)
        begin(&t->thread[i]);
    for (;;) {
        resume(r);
        if (count(t, DONE) == t->local)
            return true;
        if (release_exchanges(r))
            continue;
        if (count(t, AT_BARRIER) < t->local) {
            *why = count(t, AT_EXCHANGE) ? "threads wait for others to exchange values with"
                                         : "not all threads came to a barrier";
            return false;
        }
        for (unsigned i = 0; i < t->local; i++)
            t->thread[i].state = READY;
    }
}

bool cuda_text_run(cuda_text *t, void *const *mem, const ir_bits *arg, int64_t first, int64_t last, unsigned groups,
                   k_error *error, const char **why)
{
    int64_t record[4] = {0};
    block_run *r = calloc(1, sizeof(*r));
    *why = "no memory";
    bool fine = r != NULL;
    for (unsigned g = 0; fine && g < groups; g++) {
        *r = (block_run){.t = t, .mem = mem, .arg = arg, .first = (long)first, .last = (long)last, .record = record};
        running = r;
        *t->block = (emu_index){g, 0, 0};
        *t->grid = (emu_index){groups, 1, 1};
        fine = run_block(r, why);
    }
    running = NULL;
    free(r);
    uint32_t site = (uint32_t)record[0]; /* the upper half counts changes */
    if (site && (!error->site || site < error->site || (site == error->site && record[1] < error->element)))
        *error = (k_error){.site = site, .element = record[1], .value = record[2], .bound = record[3]};
    return fine;
}

/* --- building --- */

static const char *type_name(ir_type t)
{
    static const char *const name[T_COUNT] = {
        [T_BOOL] = "uchar", [T_I8] = "schar",  [T_I16] = "short",  [T_I32] = "int",
        [T_I64] = "llong",  [T_U8] = "uchar",  [T_U16] = "ushort", [T_U32] = "uint",
        [T_U64] = "ulong",  [T_F32] = "float", [T_F64] = "double", [T_CHAR] = "uint"};
    return name[t];
}

/* Passes what the launch has as an array to the kernel's parameters. */
static void write_call(const kernel *k, const char *entry, text *out)
{
    unsigned mem = 0;
    text_printf(out,
                "\nextern \"C\" void emu_call(void *const *mem, const ulong *arg, long first, long last, long "
                "*error)\n{\n    %s(",
                entry);
    for (k_mem m = 1; m < k->mem.n; m++)
        if (k->mem.at[m].space == K_GLOBAL)
            text_printf(out, "(%s *)mem[%u], ", type_name((ir_type)k->mem.at[m].type), mem++);
    for (uint32_t i = 0; i < k->arg_type.n; i++)
        text_printf(out, "*(%s *)&arg[%" PRIu32 "], ", type_name((ir_type)k->arg_type.at[i]), i);
    text_add(out, "first, last, error);\n}\n");
}

static const char *compiler(void)
{
    const char *c = getenv("CXX");
    return c && *c ? c : "c++";
}

bool cuda_text_possible(void)
{
    char command[512];
    snprintf(command, sizeof(command), "%s --version > /dev/null 2>&1", compiler());
    return system(command) == 0;
}

static bool write_file(const char *path, const text *t)
{
    FILE *f = fopen(path, "w");
    bool good = f && fwrite(t->at, 1, t->n, f) == t->n;
    return f && fclose(f) == 0 && good;
}

static bool compile(const char *source, const char *library, unsigned local, arena *a)
{
    const char *command = arena_printf(
        a, "%s -x c++ -std=c++17 -O1 -w -ffp-contract=off -fno-strict-aliasing -fPIC -shared -DSN_LOCAL=%u %s -o %s",
        compiler(), local, source, library);
    return system(command) == 0;
}

static bool bind(cuda_text *t)
{
    emu_hooks *hooks = dlsym(t->library, "emu_hook");
    void *call = dlsym(t->library, "emu_call");
    t->index = dlsym(t->library, "emu_thread");
    t->block = dlsym(t->library, "emu_block");
    t->grid = dlsym(t->library, "emu_grid");
    t->thread = calloc(t->local, sizeof(*t->thread));
    if (!hooks || !call || !t->index || !t->block || !t->grid || !t->thread)
        return false;
    memcpy(&t->call, &call, sizeof(call));
    *hooks = (emu_hooks){barrier, ballot, shuffle};
    for (unsigned i = 0; i < t->local; i++)
        if (!(t->thread[i].stack = malloc(STACK)))
            return false;
    return true;
}

cuda_text *cuda_text_build(const kernel *k, const char *source, const char *entry, unsigned local, arena *a,
                           const char **why)
{
    static unsigned number; /* names of files of this process */
    const char *folder = getenv("SINTER_TEST_DIR");
    const char *stem = arena_printf(a, "%s/cuda_text_%ld_%u", folder ? folder : "/tmp", (long)getpid(), number++);
    const char *path = arena_printf(a, "%s.cu", stem), *library = arena_printf(a, "%s.so", stem);
    text t;
    text_init(&t, a);
    text_add(&t, prelude);
    static const char word[] = "__shared__ ulong sn_word[8];"; /* one for all threads: the prelude's */
    const char *at = strstr(source, word);
    text_add_n(&t, source, at ? (size_t)(at - source) : strlen(source));
    text_add(&t, at ? at + strlen(word) : "");
    write_call(k, entry, &t);
    *why = "the C++ compiler does not take it";
    bool good = write_file(path, &t) && compile(path, library, local, a);
    cuda_text *result = calloc(1, sizeof(*result));
    if (good && result) {
        result->local = local;
        result->library = dlopen(library, RTLD_NOW | RTLD_LOCAL);
        good = result->library && bind(result);
    }
    unlink(path);
    unlink(library);
    if (good && result)
        return result;
    cuda_text_drop(result);
    return NULL;
}

void cuda_text_drop(cuda_text *t)
{
    if (!t)
        return;
    for (unsigned i = 0; t->thread && i < t->local; i++)
        free(t->thread[i].stack);
    free(t->thread);
    if (t->library)
        dlclose(t->library);
    free(t);
}
