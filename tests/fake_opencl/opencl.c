/* A library that stands in for OpenCL's loader: memory is the host's, programs are kept as text, launches are handed to
 * the test, and any call fails when a test wants it to. Queues do their work at once, and tell what it would have
 * waited for. */
#include "fake_opencl/control.h"

#include "device/opencl_api.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT extern fake_opencl_control fake_opencl;
fake_opencl_control fake_opencl;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

enum { MOST_ARGUMENTS = 128 };

struct ocl_platform_object {
    bool broken;
};
struct ocl_device_object {
    int none;
};
struct ocl_mem_object {
    long users;
    ocl_context context;
    size_t bytes;
    char *at;
};
struct ocl_program_object {
    long users;
    char *source;
    bool built;
};
struct ocl_kernel_object {
    struct ocl_program_object *program;
    unsigned arguments;
    size_t bytes[MOST_ARGUMENTS];
    unsigned char value[MOST_ARGUMENTS][8];
};
struct ocl_queue_object {
    long number;
    bool profiles;
};
struct ocl_event_object {
    long users, number, queue;
    bool timed;
    uint64_t start, end;
};
struct ocl_context_object {
    int none;
};

static struct ocl_platform_object platforms[2] = {{true}, {false}};
static struct ocl_device_object only_device;

static int32_t counted(const char *name)
{
    pthread_mutex_lock(&lock);
    long number = ++fake_opencl.calls;
    bool fails =
        fake_opencl.fail_at && (number == fake_opencl.fail_at || (fake_opencl.stays && number > fake_opencl.fail_at));
    if (fails && !fake_opencl.failed[0])
        snprintf(fake_opencl.failed, sizeof(fake_opencl.failed), "%s", name);
    pthread_mutex_unlock(&lock);
    return fails ? fake_opencl.error : OCL_SUCCESS;
}

static void count(long *what, long by)
{
    __atomic_fetch_add(what, by, __ATOMIC_RELAXED);
}

static void *object(size_t bytes)
{
    void *o = calloc(1, bytes);
    if (!o)
        abort();
    count(&fake_opencl.objects, 1);
    return o;
}

static int32_t gone(void *o)
{
    free(o);
    count(&fake_opencl.objects, -1);
    return OCL_SUCCESS;
}

static bool is_flushed(long event)
{
    for (unsigned i = fake_opencl.puts; i-- > 0;)
        if (fake_opencl.put[i].event == event)
            return fake_opencl.put[i].flushed;
    return true;
}

/* Work is in a queue: it is done already, but the test sees what it would have waited for. */
static void put(const char *call, ocl_queue q, uint32_t n, const ocl_event *events, ocl_event *event)
{
    long number = 0;
    if (event) {
        *event = object(sizeof(**event));
        number = __atomic_add_fetch(&fake_opencl.events, 1, __ATOMIC_RELAXED);
        **event = (struct ocl_event_object){1, number, q->number, q->profiles, 1000, 1000};
    }
    pthread_mutex_lock(&lock);
    if (fake_opencl.puts < FAKE_OPENCL_PUTS) {
        fake_put p = {.call = call, .queue = q->number, .event = number, .waits = n};
        for (uint32_t i = 0; i < n && i < FAKE_OPENCL_WAITS; i++) {
            p.wait[i] = events[i]->number;
            p.early |= events[i]->queue != q->number && !is_flushed(events[i]->number);
        }
        fake_opencl.put[fake_opencl.puts++] = p;
    }
    pthread_mutex_unlock(&lock);
}

/* For functions that make something: the status goes out by a pointer. */
static bool refused(const char *name, int32_t *status)
{
    int32_t said = counted(name);
    if (status)
        *status = said;
    return said != OCL_SUCCESS;
}

static int32_t answer(const void *what, size_t size, size_t room, void *value, size_t *needed)
{
    if (needed)
        *needed = size;
    if (value && room < size)
        return -30;
    if (value)
        memcpy(value, what, size);
    return OCL_SUCCESS;
}

/* --- platforms and devices --- */

EXPORT int32_t clGetPlatformIDs(uint32_t room, ocl_platform *out, uint32_t *n)
{
    int32_t said = counted(__func__);
    if (said != OCL_SUCCESS || fake_opencl.no_platform)
        return said != OCL_SUCCESS ? said : -1001;
    unsigned first = fake_opencl.broken_platform ? 0 : 1;
    *n = 2 - first;
    for (unsigned i = 0; i < *n && i < room; i++)
        out[i] = &platforms[first + i];
    return OCL_SUCCESS;
}

EXPORT int32_t clGetPlatformInfo(ocl_platform p, uint32_t question, size_t room, void *value, size_t *needed)
{
    const char *name = p->broken                ? "Broken"
                       : fake_opencl.named_pocl ? "Portable Computing Language"
                       : fake_opencl.renamed    ? "Another"
                                                : "Fake";
    return question == OCL_PLATFORM_NAME ? answer(name, strlen(name) + 1, room, value, needed) : -30;
}

EXPORT int32_t clGetDeviceIDs(ocl_platform p, uint64_t type, uint32_t room, ocl_device *out, uint32_t *n)
{
    (void)type;
    int32_t said = counted(__func__);
    if (said != OCL_SUCCESS || p->broken || fake_opencl.no_device)
        return said != OCL_SUCCESS ? said : p->broken ? -2 : -1;
    *n = 1;
    if (room)
        out[0] = &only_device;
    return OCL_SUCCESS;
}

static uint64_t number_of(uint32_t question)
{
    uint64_t exact = OCL_FP_INF_NAN | OCL_FP_ROUND_TO_NEAREST | OCL_FP_FMA | OCL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT;
    switch (question) {
    case OCL_DEVICE_TYPE:
        return fake_opencl.gpu ? OCL_TYPE_GPU : 2;
    case OCL_DEVICE_MAX_COMPUTE_UNITS:
        return 4;
    case OCL_DEVICE_MAX_WORK_GROUP_SIZE:
        return 1024;
    case OCL_DEVICE_ADDRESS_BITS:
        return 64;
    case OCL_DEVICE_GLOBAL_MEM_SIZE:
    case OCL_DEVICE_MAX_MEM_ALLOC_SIZE:
        return fake_opencl.memory ? fake_opencl.memory : (size_t)1 << 30;
    case OCL_DEVICE_SINGLE_FP_CONFIG:
        return exact | (fake_opencl.no_subnormals ? 0 : OCL_FP_DENORM);
    case OCL_DEVICE_DOUBLE_FP_CONFIG:
        return fake_opencl.no_f64 ? 0 : exact;
    case OCL_DEVICE_LOCAL_MEM_SIZE:
        return 32768;
    default:
        return 1; /* available, little-endian, with a compiler */
    }
}

EXPORT int32_t clGetDeviceInfo(ocl_device d, uint32_t question, size_t room, void *value, size_t *needed)
{
    (void)d;
    const char *said = NULL;
    if (question == OCL_DEVICE_NAME)
        said = "fake device";
    else if (question == OCL_DEVICE_VENDOR)
        said = "fake vendor";
    else if (question == OCL_DRIVER_VERSION)
        said = "1";
    else if (question == OCL_DEVICE_VERSION)
        said = "OpenCL 1.2 fake";
    if (said)
        return answer(said, strlen(said) + 1, room, value, needed);
    uint64_t number = number_of(question);
    return answer(&number, sizeof(number), room, value, needed);
}

/* --- contexts, queues, memory --- */

EXPORT ocl_context clCreateContext(const intptr_t *properties, uint32_t n, const ocl_device *d, ocl_notify_context f,
                                   void *env, int32_t *status)
{
    (void)properties, (void)n, (void)d, (void)f, (void)env;
    return refused(__func__, status) ? NULL : object(sizeof(struct ocl_context_object));
}

EXPORT int32_t clReleaseContext(ocl_context c)
{
    return gone(c);
}

EXPORT ocl_queue clCreateCommandQueue(ocl_context c, ocl_device d, uint64_t properties, int32_t *status)
{
    (void)c, (void)d;
    if (refused(__func__, status))
        return NULL;
    ocl_queue q = object(sizeof(*q));
    q->profiles = properties & OCL_QUEUE_PROFILING_ENABLE;
    q->number = __atomic_add_fetch(&fake_opencl.queues, 1, __ATOMIC_RELAXED);
    return q;
}

EXPORT int32_t clReleaseCommandQueue(ocl_queue q)
{
    return gone(q);
}

EXPORT ocl_mem clCreateBuffer(ocl_context c, uint64_t flags, size_t bytes, void *from, int32_t *status)
{
    if (refused(__func__, status))
        return NULL;
    ocl_mem m = object(sizeof(*m));
    m->context = c;
    m->bytes = bytes;
    m->at = malloc(bytes);
    if (!m->at)
        abort();
    memset(m->at, 0xa5, bytes);
    if (flags & OCL_MEM_COPY_HOST_PTR)
        memcpy(m->at, from, bytes);
    return m;
}

EXPORT int32_t clGetMemObjectInfo(ocl_mem m, uint32_t question, size_t bytes, void *to, size_t *size)
{
    (void)size;
    if (question == OCL_MEM_SIZE && bytes == sizeof(m->bytes))
        memcpy(to, &m->bytes, bytes);
    else if (question == OCL_MEM_CONTEXT && bytes == sizeof(m->context))
        memcpy(to, &m->context, bytes);
    else
        return -30; /* CL_INVALID_VALUE */
    return OCL_SUCCESS;
}

EXPORT int32_t clReleaseMemObject(ocl_mem m)
{
    free(m->at);
    return gone(m);
}

static int32_t fits(ocl_mem m, size_t offset, size_t bytes)
{
    return offset <= m->bytes && bytes <= m->bytes - offset && bytes ? OCL_SUCCESS : -30;
}

EXPORT int32_t clEnqueueReadBuffer(ocl_queue q, ocl_mem m, uint32_t waits, size_t offset, size_t bytes, void *to,
                                   uint32_t n, const ocl_event *events, ocl_event *event)
{
    (void)waits;
    int32_t said = counted(__func__);
    if (said == OCL_SUCCESS)
        said = fits(m, offset, bytes);
    if (said == OCL_SUCCESS) {
        memcpy(to, m->at + offset, bytes);
        count(&fake_opencl.downloads, 1);
    }
    if (said == OCL_SUCCESS)
        put(__func__, q, n, events, event);
    return said;
}

EXPORT int32_t clEnqueueWriteBuffer(ocl_queue q, ocl_mem m, uint32_t waits, size_t offset, size_t bytes,
                                    const void *from, uint32_t n, const ocl_event *events, ocl_event *event)
{
    (void)waits;
    int32_t said = counted(__func__);
    if (said == OCL_SUCCESS)
        said = fits(m, offset, bytes);
    if (said == OCL_SUCCESS) {
        memcpy(m->at + offset, from, bytes);
        count(&fake_opencl.uploads, 1);
    }
    if (said == OCL_SUCCESS)
        put(__func__, q, n, events, event);
    return said;
}

EXPORT int32_t clEnqueueCopyBuffer(ocl_queue q, ocl_mem from, ocl_mem to, size_t offset, size_t at, size_t bytes,
                                   uint32_t n, const ocl_event *events, ocl_event *event)
{
    int32_t said = counted(__func__);
    if (said == OCL_SUCCESS)
        said = fits(from, offset, bytes) == OCL_SUCCESS ? fits(to, at, bytes) : -30;
    if (said == OCL_SUCCESS) {
        memcpy(to->at + at, from->at + offset, bytes);
        count(&fake_opencl.copies, 1);
    }
    if (said == OCL_SUCCESS)
        put(__func__, q, n, events, event);
    return said;
}

EXPORT int32_t clEnqueueFillBuffer(ocl_queue q, ocl_mem m, const void *pattern, size_t size, size_t offset,
                                   size_t bytes, uint32_t n, const ocl_event *events, ocl_event *event)
{
    int32_t said = counted(__func__);
    if (said == OCL_SUCCESS)
        said = size && offset % size == 0 && bytes % size == 0 ? fits(m, offset, bytes) : -30;
    for (size_t at = 0; said == OCL_SUCCESS && at < bytes; at += size)
        memcpy(m->at + offset + at, pattern, size);
    if (said == OCL_SUCCESS)
        put(__func__, q, n, events, event);
    return said;
}

/* Only the tests' own runner maps memory, and it does not run here. */
EXPORT void *clEnqueueMapBuffer(ocl_queue q, ocl_mem m, uint32_t waits, uint64_t flags, size_t offset, size_t bytes,
                                uint32_t n, const ocl_event *events, ocl_event *event, int32_t *status)
{
    (void)q, (void)m, (void)waits, (void)flags, (void)offset, (void)bytes, (void)n, (void)events, (void)event;
    *status = -59;
    return NULL;
}

EXPORT int32_t clEnqueueUnmapMemObject(ocl_queue q, ocl_mem m, void *at, uint32_t n, const ocl_event *events,
                                       ocl_event *event)
{
    (void)q, (void)m, (void)at, (void)n, (void)events, (void)event;
    return -59;
}

EXPORT int32_t clFlush(ocl_queue q)
{
    int32_t said = counted(__func__);
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < fake_opencl.puts && said == OCL_SUCCESS; i++)
        fake_opencl.put[i].flushed |= fake_opencl.put[i].queue == q->number;
    pthread_mutex_unlock(&lock);
    return said;
}

/* What is put into any queue from then on is behind it, as the host waits. */
EXPORT int32_t clFinish(ocl_queue q)
{
    int32_t said = counted(__func__);
    if (said == OCL_SUCCESS)
        put(__func__, q, 0, NULL, NULL);
    return said;
}

/* --- programs --- */

static ocl_program new_program(const char *source, size_t n)
{
    ocl_program p = object(sizeof(*p));
    p->users = 1;
    p->source = calloc(1, n + 1);
    if (!p->source)
        abort();
    memcpy(p->source, source, n);
    snprintf(fake_opencl.source, sizeof(fake_opencl.source), "%s", p->source);
    return p;
}

EXPORT ocl_program clCreateProgramWithSource(ocl_context c, uint32_t n, const char **source, const size_t *lengths,
                                             int32_t *status)
{
    (void)c, (void)n, (void)lengths;
    return refused(__func__, status) ? NULL : new_program(source[0], strlen(source[0]));
}

EXPORT ocl_program clCreateProgramWithBinary(ocl_context c, uint32_t n, const ocl_device *d, const size_t *bytes,
                                             const unsigned char **binary, int32_t *accepted, int32_t *status)
{
    (void)c, (void)n, (void)d;
    if (refused(__func__, status))
        return NULL;
    *accepted = fake_opencl.reject_binaries ? -42 : OCL_SUCCESS;
    if (fake_opencl.reject_binaries) {
        *status = -42;
        return NULL;
    }
    count(&fake_opencl.loaded, 1);
    return new_program((const char *)binary[0], bytes[0]);
}

EXPORT int32_t clReleaseProgram(ocl_program p)
{
    if (__atomic_sub_fetch(&p->users, 1, __ATOMIC_ACQ_REL))
        return OCL_SUCCESS;
    free(p->source);
    return gone(p);
}

EXPORT int32_t clBuildProgram(ocl_program p, uint32_t n, const ocl_device *d, const char *options, ocl_notify_program f,
                              void *env)
{
    (void)n, (void)d, (void)f, (void)env;
    int32_t said = counted(__func__);
    snprintf(fake_opencl.options, sizeof(fake_opencl.options), "%s", options);
    p->built = said == OCL_SUCCESS && !fake_opencl.reject;
    count(&fake_opencl.built, p->built);
    return said != OCL_SUCCESS ? said : fake_opencl.reject ? -11 : OCL_SUCCESS;
}

EXPORT int32_t clGetProgramInfo(ocl_program p, uint32_t question, size_t room, void *value, size_t *needed)
{
    size_t bytes = strlen(p->source);
    if (question == OCL_PROGRAM_BINARY_SIZES)
        return answer(&bytes, sizeof(bytes), room, value, needed);
    memcpy(*(unsigned char **)value, p->source, bytes);
    return OCL_SUCCESS;
}

EXPORT int32_t clGetProgramBuildInfo(ocl_program p, ocl_device d, uint32_t question, size_t room, void *value,
                                     size_t *needed)
{
    (void)p, (void)d, (void)question;
    static const char log[] = "line 7: this compiler likes nothing";
    return answer(log, sizeof(log), room, value, needed);
}

EXPORT ocl_kernel clCreateKernel(ocl_program p, const char *name, int32_t *status)
{
    (void)name;
    if (refused(__func__, status))
        return NULL;
    ocl_kernel k = object(sizeof(*k));
    __atomic_add_fetch(&p->users, 1, __ATOMIC_ACQ_REL);
    k->program = p;
    return k;
}

EXPORT int32_t clReleaseKernel(ocl_kernel k)
{
    clReleaseProgram(k->program);
    return gone(k);
}

EXPORT int32_t clSetKernelArg(ocl_kernel k, uint32_t at, size_t bytes, const void *value)
{
    int32_t said = counted(__func__);
    if (said != OCL_SUCCESS || at >= MOST_ARGUMENTS || bytes > 8)
        return said != OCL_SUCCESS ? said : -49;
    k->bytes[at] = bytes;
    memcpy(k->value[at], value, bytes);
    if (at >= k->arguments)
        k->arguments = at + 1;
    return OCL_SUCCESS;
}

EXPORT int32_t clGetKernelWorkGroupInfo(ocl_kernel k, ocl_device d, uint32_t question, size_t room, void *value,
                                        size_t *needed)
{
    (void)k, (void)d;
    size_t most = question != OCL_KERNEL_WORK_GROUP_SIZE ? 32 : fake_opencl.most_items ? fake_opencl.most_items : 1024;
    if (most == SIZE_MAX)
        most = 0;
    return answer(&most, sizeof(most), room, value, needed);
}

EXPORT int32_t clEnqueueNDRangeKernel(ocl_queue q, ocl_kernel k, uint32_t dimensions, const size_t *offset,
                                      const size_t *global, const size_t *local, uint32_t n, const ocl_event *events,
                                      ocl_event *event)
{
    (void)offset;
    int32_t said = counted(__func__);
    if (said != OCL_SUCCESS)
        return said;
    if (dimensions != 1 || !k->program->built || !*local || !*global || *global % *local)
        return -54;
    const void *value[MOST_ARGUMENTS];
    /* What has the size of a pointer and is not among the scalars is a block: the test knows which. */
    for (unsigned i = 0; i < k->arguments; i++)
        value[i] = k->value[i];
    fake_launch l = {*global / *local, *local, k->arguments, value};
    count(&fake_opencl.launches, 1);
    fake_opencl.group = *local;
    if (fake_opencl.run)
        fake_opencl.run(fake_opencl.env, &l);
    put(__func__, q, n, events, event);
    if (event)
        (*event)->end = 1000 + FAKE_OPENCL_LAUNCH_NS;
    return OCL_SUCCESS;
}

/* All work is done when it is put in. */
EXPORT int32_t clEnqueueMarkerWithWaitList(ocl_queue q, uint32_t n, const ocl_event *events, ocl_event *event)
{
    int32_t said = counted(__func__);
    if (said != OCL_SUCCESS)
        return said;
    if (n || !event)
        return -57;
    put(__func__, q, n, events, event);
    return OCL_SUCCESS;
}

EXPORT int32_t clEnqueueBarrierWithWaitList(ocl_queue q, uint32_t n, const ocl_event *events, ocl_event *event)
{
    int32_t said = counted(__func__);
    if (said != OCL_SUCCESS)
        return said;
    if (!n || !events || !*events || event)
        return -57;
    put(__func__, q, n, events, event);
    return OCL_SUCCESS;
}

EXPORT int32_t clWaitForEvents(uint32_t n, const ocl_event *events)
{
    int32_t said = counted(__func__);
    if (said != OCL_SUCCESS)
        return said;
    count(&fake_opencl.waited, 1);
    return n == 1 && events && *events ? OCL_SUCCESS : -57;
}

EXPORT int32_t clRetainEvent(ocl_event e)
{
    int32_t said = counted(__func__);
    if (said == OCL_SUCCESS)
        __atomic_add_fetch(&e->users, 1, __ATOMIC_ACQ_REL);
    return said;
}

EXPORT int32_t clReleaseEvent(ocl_event e)
{
    return __atomic_sub_fetch(&e->users, 1, __ATOMIC_ACQ_REL) ? OCL_SUCCESS : gone(e);
}

EXPORT int32_t clGetEventProfilingInfo(ocl_event e, uint32_t question, size_t room, void *value, size_t *needed)
{
    if (!e->timed)
        return -7; /* CL_PROFILING_INFO_NOT_AVAILABLE */
    const uint64_t *at = question == OCL_PROFILING_COMMAND_START ? &e->start : &e->end;
    return answer(at, sizeof(*at), room, value, needed);
}

/* The bytes of a block that a launch's argument names. */
EXPORT void *fake_block(const void *argument);
void *fake_block(const void *argument)
{
    ocl_mem m;
    memcpy(&m, argument, sizeof(m));
    return m->at;
}
