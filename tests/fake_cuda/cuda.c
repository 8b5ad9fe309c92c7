/* Stands in for the CUDA driver in tests. Device memory is the host's, at addresses that nobody can use by mistake;
 * streams do their work as late as they may; kernels run on the caller (device.hpp). What a caller does wrong is
 * counted: calls without a context, addresses outside blocks, writes beside them, things freed twice. Calls fail on
 * demand. */
#include "device/cuda_api.h"
#include "fake_cuda/control.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    INVALID_VALUE = 1,
    INVALID_CONTEXT = 201,
    NOT_FOUND = 500,
    LAUNCH_FAILED = 719,
    DEVICES = 3,
    DEPTH = 16,
    CANARY = 64,
    MOST = 512
};
static const uintptr_t distance = (uintptr_t)1 << 46; /* as in device.hpp */
static const char canary = 0x5c, fresh = (char)0xcd;

typedef struct block {
    struct block *next;
    char *at; /* where the host has it */
    size_t bytes;
    bool host;  /* page-locked host memory */
    int device; /* else */
} block;

struct cu_context_s {
    int device;
};

struct cu_module_s {
    struct cu_module_s *next;
    void *library;
    struct cu_function_s *functions;
};

struct cu_function_s {
    struct cu_function_s *next; /* of its module */
    char name[64];
    bool (*launch)(const void *const *arguments, unsigned grid, unsigned group, unsigned shared, bool backwards, char *stacks);
    unsigned n, bytes[MOST];
    bool pointer[MOST];
    int most_shared;
};

/* An event as it was recorded once: who waits for it waits for this, though it be recorded again meanwhile. */
typedef struct moment {
    long at;                /* nanoseconds; 0: it has not happened */
    struct cu_stream_s *in; /* where it is still to happen */
    unsigned users;         /* the event, and commands that wait for it or make it happen */
} moment;

struct cu_event_s {
    struct cu_event_s *next;
    moment *last; /* NULL: it was never recorded */
    bool untimed;
};

typedef enum { DO_COPY, DO_CLEAR, DO_LAUNCH, DO_MARK, DO_AWAIT } command_kind;

typedef struct command {
    struct command *next;
    command_kind what;
    char *to;
    const char *from;
    size_t bytes;
    unsigned char value;
    struct cu_function_s *function;
    moment *moment;
    unsigned grid, group, shared;
    char *arguments; /* 8 bytes each */
} command;

struct cu_stream_s {
    struct cu_stream_s *next;
    command *first, **end;
    long number;
    bool waits; /* a command of it is waiting for another stream */
};

__attribute__((visibility("default")))
fake_cuda_control fake_cuda = {.fail_at = -1, .failures = -1, .error = 2, .memory = (size_t)1 << 30};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of everything */
static block *blocks; /* like what follows: what callers have not given back, or what failed to be */
static cu_stream streams;
static cu_event events;
static cu_module modules;
static struct cu_context_s contexts[DEVICES] = {{0}, {1}, {2}};
static int retained[DEVICES];
static _Thread_local cu_context current[DEPTH];
static _Thread_local int depth;

/* --- what callers do wrong --- */

static int mistake(const char *how, int error)
{
    if (!fake_cuda.mistakes++)
        snprintf(fake_cuda.mistake, sizeof(fake_cuda.mistake), "%s", how);
    return error;
}

/* Should this call fail? */
static int enter(const char *call, bool needs_context)
{
    pthread_mutex_lock(&lock);
    fake_cuda.calls++;
    if (fake_cuda.fail_at > 0)
        fake_cuda.fail_at--;
    else if (fake_cuda.fail_at == 0 && fake_cuda.failures != 0) {
        fake_cuda.failures -= fake_cuda.failures > 0;
        snprintf(fake_cuda.last_failed, sizeof(fake_cuda.last_failed), "%s", call);
        return fake_cuda.error;
    }
    if (needs_context && (!depth || !retained[current[depth - 1]->device]))
        return mistake(call, INVALID_CONTEXT);
    return CU_SUCCESS;
}

static int leave(int r)
{
    pthread_mutex_unlock(&lock);
    return r;
}

#define API __attribute__((visibility("default")))
#define DECLARE(name, symbol, parameters) API cu_result fake_##name parameters __asm__(symbol);
CUDA_FUNCTIONS(DECLARE)

/* Calls of the driver: their bodies run with the lock, and not at all if they are to fail. */
#define ENTER(symbol, needs_context)                                                                                   \
    int entered = enter(symbol, needs_context);                                                                        \
    if (entered != CU_SUCCESS)                                                                                         \
        return leave(entered);

/* --- devices --- */

cu_result fake_init(unsigned flags)
{
    ENTER("cuInit", false)
    return leave(flags ? INVALID_VALUE : CU_SUCCESS);
}

cu_result fake_driver_version(int *version)
{
    ENTER("cuDriverGetVersion", false)
    *version = 12040;
    return leave(CU_SUCCESS);
}

cu_result fake_error_name(cu_result r, const char **name)
{
    *name = r == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : r == LAUNCH_FAILED ? "CUDA_ERROR_LAUNCH_FAILED" : "CUDA_ERROR_FAKE";
    return CU_SUCCESS;
}

cu_result fake_error_text(cu_result r, const char **words)
{
    *words = r == 2 ? "out of memory" : "made to fail";
    return CU_SUCCESS;
}

cu_result fake_device_count(int *count)
{
    ENTER("cuDeviceGetCount", false)
    *count = DEVICES;
    return leave(CU_SUCCESS);
}

cu_result fake_device_get(cu_device *d, int number)
{
    ENTER("cuDeviceGet", false)
    *d = number;
    return leave(number >= 0 && number < DEVICES ? CU_SUCCESS : INVALID_VALUE);
}

cu_result fake_device_name(char *name, int bytes, cu_device d)
{
    ENTER("cuDeviceGetName", false)
    snprintf(name, (size_t)bytes, "Fake device %d", d);
    return leave(CU_SUCCESS);
}

cu_result fake_device_memory(size_t *bytes, cu_device d)
{
    ENTER("cuDeviceTotalMem_v2", false)
    (void)d;
    *bytes = fake_cuda.memory;
    return leave(CU_SUCCESS);
}

/* The first device is one that the compiler knows, the second a newer one, the third too old. */
static int capability(cu_device d)
{
    return d == 0 ? 90 : d == 1 ? 86 : 60;
}

cu_result fake_device_attribute(int *value, int attribute, cu_device d)
{
    static const struct {
        int attribute, value;
    } known[] = {{CU_THREADS_PER_BLOCK, 1024},
                 {CU_GRID_X, 2147483647},
                 {CU_SHARED_PER_BLOCK, 49152},
                 {CU_WARP_SIZE, 32},
                 {CU_MULTIPROCESSORS, 4},
                 {CU_COMPUTE_MODE, 0},
                 {CU_L2_BYTES, 1 << 20},
                 {CU_THREADS_PER_MULTIPROCESSOR, 2048},
                 {CU_SHARED_PER_MULTIPROCESSOR, 233472},
                 {CU_REGISTERS_PER_MULTIPROCESSOR, 65536},
                 {CU_SHARED_PER_BLOCK_OPTIN, 232448},
                 {CU_BLOCKS_PER_MULTIPROCESSOR, 32}};
    ENTER("cuDeviceGetAttribute", false)
    if (attribute == CU_CAPABILITY_MAJOR || attribute == CU_CAPABILITY_MINOR) {
        *value = attribute == CU_CAPABILITY_MAJOR ? capability(d) / 10 : capability(d) % 10;
        return leave(CU_SUCCESS);
    }
    for (size_t i = 0; i < ARRAY_LENGTH(known); i++)
        if (known[i].attribute == attribute) {
            *value = known[i].value;
            return leave(CU_SUCCESS);
        }
    return leave(INVALID_VALUE);
}

/* --- contexts --- */

cu_result fake_context_retain(cu_context *c, cu_device d)
{
    ENTER("cuDevicePrimaryCtxRetain", false)
    retained[d]++;
    fake_cuda.retained++;
    *c = &contexts[d];
    return leave(CU_SUCCESS);
}

cu_result fake_context_release(cu_device d)
{
    ENTER("cuDevicePrimaryCtxRelease_v2", false)
    if (retained[d] < 1)
        return leave(mistake("cuDevicePrimaryCtxRelease_v2", INVALID_CONTEXT));
    retained[d]--;
    fake_cuda.retained--;
    return leave(CU_SUCCESS);
}

cu_result fake_context_push(cu_context c)
{
    ENTER("cuCtxPushCurrent_v2", false)
    if (depth == DEPTH)
        return leave(mistake("cuCtxPushCurrent_v2: never popped", INVALID_CONTEXT));
    current[depth++] = c;
    return leave(CU_SUCCESS);
}

cu_result fake_context_pop(cu_context *c)
{
    pthread_mutex_lock(&lock); /* never fails: nobody could do anything about it */
    fake_cuda.calls++;
    if (!depth)
        return leave(mistake("cuCtxPopCurrent_v2", INVALID_CONTEXT));
    *c = current[--depth];
    return leave(CU_SUCCESS);
}

/* --- memory --- */

static char *host_of(cu_pointer p)
{
    return (char *)(uintptr_t)p - distance;
}

static bool intact(const block *b)
{
    for (int i = 0; i < CANARY; i++)
        if (b->at[i - CANARY] != canary || b->at[b->bytes + (size_t)i] != canary)
            return false;
    return true;
}

static bool inside(const char *at, size_t bytes, bool host)
{
    for (const block *b = blocks; b; b = b->next)
        if (b->host == host && at >= b->at && at <= b->at + b->bytes && bytes <= (size_t)(b->at + b->bytes - at))
            return true;
    return false;
}

static int device_of(const char *at)
{
    for (const block *b = blocks; b; b = b->next)
        if (!b->host && at >= b->at && at < b->at + b->bytes)
            return b->device;
    return -1;
}

static block *new_block(size_t bytes, bool host)
{
    size_t used = 0;
    for (const block *b = blocks; b; b = b->next)
        used += b->host ? 0 : b->bytes;
    if (!host && (bytes > fake_cuda.memory || used > fake_cuda.memory - bytes))
        return NULL;
    block *b = malloc(sizeof(*b));
    char *at = malloc(bytes + 2 * CANARY);
    if (!b || !at) {
        free(b);
        free(at);
        return NULL;
    }
    memset(at, canary, bytes + 2 * CANARY);
    memset(at + CANARY, fresh, bytes);
    *b = (block){.next = blocks, .at = at + CANARY, .bytes = bytes, .host = host};
    b->device = depth ? current[depth - 1]->device : -1;
    blocks = b;
    ++*(host ? &fake_cuda.host_blocks : &fake_cuda.blocks);
    return b;
}

static int free_block(const char *call, const char *at, bool host)
{
    for (block **b = &blocks; *b; b = &(*b)->next) {
        block *gone = *b;
        if (gone->at != at || gone->host != host)
            continue;
        int r = intact(gone) ? CU_SUCCESS : mistake("memory beside a block was written", INVALID_VALUE);
        *b = gone->next;
        free(gone->at - CANARY);
        free(gone);
        --*(host ? &fake_cuda.host_blocks : &fake_cuda.blocks);
        return r;
    }
    return mistake(call, INVALID_VALUE);
}

cu_result fake_alloc(cu_pointer *p, size_t bytes)
{
    ENTER("cuMemAlloc_v2", true)
    if (!bytes)
        return leave(mistake("cuMemAlloc_v2 of no bytes", INVALID_VALUE));
    block *b = new_block(bytes, false);
    if (b)
        *p = (cu_pointer)((uintptr_t)b->at + distance);
    return leave(b ? CU_SUCCESS : CU_OUT_OF_MEMORY);
}

cu_result fake_pointer(void *value, int attribute, cu_pointer p)
{
    ENTER("cuPointerGetAttribute", true)
    if (!inside(host_of(p), 1, false))
        return leave(INVALID_VALUE); /* as of memory that is not the driver's */
    if (attribute == CU_POINTER_MEMORY_TYPE)
        *(unsigned *)value = CU_MEMORY_DEVICE;
    else if (attribute == CU_POINTER_ORDINAL)
        *(int *)value = device_of(host_of(p));
    else
        return leave(INVALID_VALUE);
    return leave(CU_SUCCESS);
}

cu_result fake_alloc_host(void **p, size_t bytes)
{
    ENTER("cuMemAllocHost_v2", true)
    block *b = new_block(bytes, true);
    if (b)
        *p = b->at;
    return leave(b ? CU_SUCCESS : CU_OUT_OF_MEMORY);
}

/* --- streams --- */

static long now = 1; /* nanoseconds, which pass while launches run */

static int run_first(cu_stream s);

static void let_go(moment *m)
{
    if (m && !--m->users)
        free(m);
}

static void mark(moment *m)
{
    m->at = now;
    m->in = NULL;
}

/* Does of a stream what stands before a moment, and no more. */
static int await(moment *m)
{
    int r = CU_SUCCESS;
    if (m->in && m->in->waits)
        return mistake("streams wait for each other", LAUNCH_FAILED);
    while (m->in && r == CU_SUCCESS)
        r = run_first(m->in);
    return r;
}

/* Of the threads of a block: for all launches, since new memory costs more than most launches do. */
static char *thread_stacks(void)
{
    static char *stacks;
    if (!stacks) {
        void *at = mmap(NULL, FAKE_CUDA_STACKS, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        stacks = at == MAP_FAILED ? NULL : at;
    }
    return stacks;
}

static const char *run(const command *c)
{
    if (c->what == DO_COPY)
        memmove(c->to, c->from, c->bytes);
    else if (c->what == DO_CLEAR)
        memset(c->to, c->value, c->bytes);
    else if (c->what == DO_MARK)
        mark(c->moment);
    else if (c->what == DO_AWAIT && await(c->moment) != CU_SUCCESS)
        return "a wait";
    if (c->what != DO_LAUNCH)
        return NULL;
    now += FAKE_CUDA_LAUNCH_NS;
    const void *arguments[MOST];
    for (unsigned i = 0; i < c->function->n; i++)
        arguments[i] = c->arguments + 8 * i;
    char *stacks = thread_stacks();
    return stacks && c->function->launch(arguments, c->grid, c->group, c->shared, fake_cuda.backwards, stacks) ? NULL : "a launch";
}

static int run_first(cu_stream s)
{
    int r = CU_SUCCESS;
    command *c = s->first;
    s->waits = true;
    if (run(c))
        r = mistake("threads of a block part ways, or shared memory is too small", LAUNCH_FAILED);
    s->waits = false;
    s->first = c->next;
    if (!s->first)
        s->end = &s->first;
    let_go(c->moment);
    free(c->arguments);
    free(c);
    return r;
}

/* Does what a stream still has to do. */
static int drain(cu_stream s)
{
    int r = CU_SUCCESS;
    while (s->first) {
        int last = run_first(s);
        r = last != CU_SUCCESS ? last : r;
    }
    return r;
}

static command *append(cu_stream s, command_kind what)
{
    command *c = calloc(1, sizeof(*c));
    if (!c)
        return NULL;
    c->what = what;
    *s->end = c;
    s->end = &c->next;
    return c;
}

cu_result fake_stream_create(cu_stream *s, unsigned flags)
{
    ENTER("cuStreamCreate", true)
    *s = calloc(1, sizeof(**s));
    if (!*s || flags > 1)
        return leave(INVALID_VALUE);
    (*s)->end = &(*s)->first;
    (*s)->number = fake_cuda.made++;
    (*s)->next = streams;
    streams = *s;
    fake_cuda.streams++;
    return leave(CU_SUCCESS);
}

cu_result fake_stream_destroy(cu_stream s)
{
    ENTER("cuStreamDestroy_v2", true)
    int r = drain(s);
    cu_stream *at = &streams;
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    free(s);
    fake_cuda.streams--;
    return leave(r);
}

cu_result fake_event_create(cu_event *e, unsigned flags)
{
    ENTER("cuEventCreate", true)
    *e = calloc(1, sizeof(**e));
    if (!*e || (flags & ~(unsigned)CU_EVENT_UNTIMED))
        return leave(INVALID_VALUE);
    (*e)->untimed = flags != 0;
    (*e)->next = events;
    events = *e;
    fake_cuda.events++;
    return leave(CU_SUCCESS);
}

cu_result fake_event_destroy(cu_event e)
{
    ENTER("cuEventDestroy_v2", true)
    cu_event *at = &events;
    while (*at != e)
        at = &(*at)->next;
    *at = e->next;
    let_go(e->last);
    free(e);
    fake_cuda.events--;
    return leave(CU_SUCCESS);
}

cu_result fake_event_record(cu_event e, cu_stream s)
{
    ENTER("cuEventRecord", true)
    moment *m = calloc(1, sizeof(*m));
    command *c = m ? append(s, DO_MARK) : NULL;
    if (!c) {
        free(m);
        return leave(CU_OUT_OF_MEMORY);
    }
    *m = (moment){.in = s, .users = 2};
    c->moment = m;
    let_go(e->last);
    e->last = m;
    fake_cuda.recorded++;
    return leave(CU_SUCCESS);
}

cu_result fake_event_wait(cu_event e)
{
    ENTER("cuEventSynchronize", true)
    fake_cuda.waited++;
    return leave(e->last ? await(e->last) : CU_SUCCESS);
}

cu_result fake_stream_await(cu_stream s, cu_event e, unsigned flags)
{
    ENTER("cuStreamWaitEvent", true)
    if (flags || !e->last)
        return leave(mistake("cuStreamWaitEvent for an event that was not recorded, or with flags", INVALID_VALUE));
    command *c = append(s, DO_AWAIT);
    if (!c)
        return leave(CU_OUT_OF_MEMORY);
    c->moment = e->last;
    e->last->users++;
    fake_cuda.awaited++;
    return leave(CU_SUCCESS);
}

cu_result fake_event_between(float *milliseconds, cu_event from, cu_event to)
{
    ENTER("cuEventElapsedTime", true)
    if (!from->last || !to->last || !from->last->at || !to->last->at || from->untimed || to->untimed)
        return leave(mistake("cuEventElapsedTime of events that did not happen", INVALID_VALUE));
    *milliseconds = (float)(to->last->at - from->last->at) * 1e-6f;
    return leave(CU_SUCCESS);
}

cu_result fake_stream_wait(cu_stream s)
{
    ENTER("cuStreamSynchronize", true)
    return leave(drain(s));
}

/* Freeing waits for the device; nobody here frees what a stream still uses. */
cu_result fake_release(cu_pointer p)
{
    ENTER("cuMemFree_v2", true)
    return leave(free_block("cuMemFree_v2", host_of(p), false));
}

cu_result fake_release_host(void *p)
{
    ENTER("cuMemFreeHost", true)
    return leave(free_block("cuMemFreeHost", p, true));
}

/* Copies of page-locked memory are done late, those of other host memory at once. */
static int copy(char *to, const char *from, size_t bytes, cu_stream s, bool late)
{
    command *c = append(s, DO_COPY);
    if (!c)
        return CU_OUT_OF_MEMORY;
    *c = (command){.what = DO_COPY, .to = to, .from = from, .bytes = bytes};
    return late ? CU_SUCCESS : drain(s);
}

cu_result fake_upload(cu_pointer to, const void *from, size_t bytes, cu_stream s)
{
    ENTER("cuMemcpyHtoDAsync_v2", true)
    if (!inside(host_of(to), bytes, false))
        return leave(mistake("cuMemcpyHtoDAsync_v2", INVALID_VALUE));
    return leave(copy(host_of(to), from, bytes, s, inside(from, bytes, true)));
}

cu_result fake_download(void *to, cu_pointer from, size_t bytes, cu_stream s)
{
    ENTER("cuMemcpyDtoHAsync_v2", true)
    if (!inside(host_of(from), bytes, false))
        return leave(mistake("cuMemcpyDtoHAsync_v2", INVALID_VALUE));
    return leave(copy(to, host_of(from), bytes, s, inside(to, bytes, true)));
}

cu_result fake_copy(cu_pointer to, cu_pointer from, size_t bytes, cu_stream s)
{
    ENTER("cuMemcpyDtoDAsync_v2", true)
    if (!inside(host_of(from), bytes, false) || !inside(host_of(to), bytes, false))
        return leave(mistake("cuMemcpyDtoDAsync_v2", INVALID_VALUE));
    return leave(copy(host_of(to), host_of(from), bytes, s, true));
}

cu_result fake_clear(cu_pointer to, unsigned char value, size_t bytes, cu_stream s)
{
    ENTER("cuMemsetD8Async", true)
    if (!inside(host_of(to), bytes, false))
        return leave(mistake("cuMemsetD8Async", INVALID_VALUE));
    command *c = append(s, DO_CLEAR);
    if (c)
        *c = (command){.what = DO_CLEAR, .to = host_of(to), .value = value, .bytes = bytes};
    return leave(c ? CU_SUCCESS : CU_OUT_OF_MEMORY);
}

/* --- modules --- */

static void *open_library(const void *bytes, size_t size)
{
    char path[] = "/tmp/fake-cuda-XXXXXX";
    int file = mkstemp(path);
    void *library = NULL;
    if (file < 0)
        return NULL;
    if (write(file, bytes, size) == (ssize_t)size)
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    close(file);
    unlink(path);
    return library;
}

static struct cu_function_s *open_function(void *library, const char *name)
{
    char symbol[96];
    unsigned (*describe)(unsigned *, bool *) = NULL;
    struct cu_function_s *f = calloc(1, sizeof(*f));
    snprintf(symbol, sizeof(symbol), "fake_launch_%s", name);
    void *at = dlsym(library, symbol);
    if (!f || !at) {
        free(f);
        return NULL;
    }
    memcpy(&f->launch, &at, sizeof(at));
    snprintf(symbol, sizeof(symbol), "fake_describe_%s", name);
    at = dlsym(library, symbol);
    memcpy(&describe, &at, sizeof(at));
    f->n = describe(f->bytes, f->pointer);
    f->most_shared = 49152;
    snprintf(f->name, sizeof(f->name), "%s", name);
    return f;
}

cu_result fake_module_load(cu_module *m, const void *bytes, unsigned options, int *option, void **value)
{
    fake_image image;
    ENTER("cuModuleLoadDataEx", true)
    (void)option, (void)value;
    memcpy(&image, bytes, sizeof(image));
    unsigned device = (unsigned)capability(current[depth - 1]->device);
    bool binary = memcmp(image.magic, "FAKECUB", 8) == 0, ptx = memcmp(image.magic, "FAKEPTX", 8) == 0;
    if ((options != 2 && options != 0) || !(binary || ptx) || (binary ? image.arch != device : image.arch > device))
        return leave(CU_NO_BINARY);
    *m = calloc(1, sizeof(**m));
    if (!*m)
        return leave(CU_OUT_OF_MEMORY);
    (*m)->library = open_library((const char *)bytes + sizeof(image), image.size);
    if (!(*m)->library) {
        free(*m);
        return leave(CU_INVALID_IMAGE);
    }
    (*m)->next = modules;
    modules = *m;
    fake_cuda.modules++;
    return leave(CU_SUCCESS);
}

cu_result fake_module_unload(cu_module m)
{
    ENTER("cuModuleUnload", true)
    cu_module *at = &modules;
    while (*at != m)
        at = &(*at)->next;
    *at = m->next;
    dlclose(m->library);
    for (struct cu_function_s *f = m->functions, *next; f; f = next) {
        next = f->next;
        free(f);
    }
    free(m);
    fake_cuda.modules--;
    return leave(CU_SUCCESS);
}

cu_result fake_module_function(cu_function *f, cu_module m, const char *name)
{
    ENTER("cuModuleGetFunction", true)
    struct cu_function_s *found = m->functions;
    while (found && strcmp(found->name, name))
        found = found->next;
    if (!found && (found = open_function(m->library, name))) {
        found->next = m->functions;
        m->functions = found;
    }
    *f = found;
    return leave(found ? CU_SUCCESS : NOT_FOUND);
}

cu_result fake_function_get(int *value, int attribute, cu_function f)
{
    ENTER("cuFuncGetAttribute", true)
    if (attribute != CU_REGISTERS_OF_FUNCTION || !f)
        return leave(INVALID_VALUE);
    *value = fake_cuda.registers ? fake_cuda.registers : 32;
    return leave(CU_SUCCESS);
}

cu_result fake_function_set(cu_function f, int attribute, int value)
{
    ENTER("cuFuncSetAttribute", true)
    if (attribute != CU_MAX_DYNAMIC_SHARED || value < 0 || value > 232448 - 8)
        return leave(INVALID_VALUE);
    f->most_shared = value;
    return leave(CU_SUCCESS);
}

cu_result fake_occupancy(int *n, cu_function f, int threads, size_t shared)
{
    ENTER("cuOccupancyMaxActiveBlocksPerMultiprocessor", true)
    if (threads < 1 || threads > 1024 || shared > (size_t)f->most_shared)
        return leave(INVALID_VALUE);
    int most = 2048 / threads;
    if (shared && (int)(233472 / shared) < most)
        most = (int)(233472 / shared);
    *n = most < 32 ? most : 32;
    return leave(CU_SUCCESS);
}

/* Takes the arguments' values at once. */
static char *take_arguments(const struct cu_function_s *f, void **argument)
{
    char *taken = calloc(f->n ? f->n : 1, 8);
    for (unsigned i = 0; taken && i < f->n; i++) {
        memcpy(taken + 8 * i, argument[i], f->bytes[i]);
        cu_pointer p;
        memcpy(&p, taken + 8 * i, sizeof(p));
        if (f->pointer[i] && !inside(host_of(p), 0, false))
            mistake("a launch gets an address outside all blocks", INVALID_VALUE);
    }
    return taken;
}

cu_result fake_launch(cu_function f, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                      unsigned block_y, unsigned block_z, unsigned shared, cu_stream s, void **arguments, void **extra)
{
    ENTER("cuLaunchKernel", true)
    if (!grid_x || grid_y != 1 || grid_z != 1 || !block_x || block_x > 1024 || block_y != 1 || block_z != 1 || extra ||
        shared > (unsigned)f->most_shared)
        return leave(mistake("cuLaunchKernel", INVALID_VALUE));
    command *c = append(s, DO_LAUNCH);
    if (!c)
        return leave(CU_OUT_OF_MEMORY);
    c->function = f;
    c->grid = grid_x;
    c->group = block_x;
    c->shared = shared;
    c->arguments = take_arguments(f, arguments);
    fake_cuda.launched_in[fake_cuda.launches++ % FAKE_CUDA_LAST] = s->number;
    fake_cuda.last_grid = grid_x;
    fake_cuda.last_group = block_x;
    fake_cuda.last_shared = shared;
    return leave(c->arguments ? CU_SUCCESS : CU_OUT_OF_MEMORY);
}
