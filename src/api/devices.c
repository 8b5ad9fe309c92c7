/* Which device a context gets: by name and number, or the best there is. */
#include "api/api.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>

static device *open_cpu(const device_options *options, unsigned number, arena *a, const char **why)
{
    (void)number;
    return device_cpu_open(options, a, why);
}

typedef struct device_kind {
    const char *name;
    device *(*open)(const device_options *options, unsigned number, arena *a, const char **why);
    bool numbered; /* there may be several */
} device_kind;

/* The best first. */
static const device_kind kinds[] = {
    {"cuda", device_cuda_open, true},
    {"opencl", device_opencl_open, true},
    {"cpu", open_cpu, false},
};

enum { MOST_THREADS = 4096 };

/* 0: one for each core */
static unsigned wanted_threads(const sn_options *o)
{
    const char *variable = secure_getenv("SINTER_THREADS");
    if (o->threads > 0 || !variable || !*variable)
        return o->threads > 0 && o->threads <= MOST_THREADS ? (unsigned)o->threads : 0;
    char *end, said[128];
    long n = strtol(variable, &end, 10);
    if (!*end && n > 0 && n <= MOST_THREADS)
        return (unsigned)n;
    snprintf(said, sizeof(said), "SINTER_THREADS=%.20s is no number from 1 to %d; all cores are used", variable,
             MOST_THREADS);
    api_warn(o, said);
    return 0;
}

/* The variable wins, so that any program can be tried on another device; but who asks for the reference gets it. */
static const char *wanted_device(const sn_options *o)
{
    const char *variable = secure_getenv("SINTER_DEVICE"), *option = o->device && *o->device ? o->device : "auto";
    return variable && *variable && strcmp(option, "interpreter") ? variable : option;
}

/* "only" is for tests: it makes drafts of all kernels, and keeps them. */
static device_drafts wanted_drafts(const sn_options *o)
{
    const char *variable = secure_getenv("SINTER_DRAFTS");
    if (variable && !strcmp(variable, "off"))
        return DEVICE_NO_DRAFTS;
    if (variable && !strcmp(variable, "only"))
        return DEVICE_ONLY_DRAFTS;
    return o->drafts == SN_OFF ? DEVICE_NO_DRAFTS : DEVICE_DRAFTS;
}

static device_options options_of(const sn_context *cx)
{
    return (device_options){.threads = wanted_threads(&cx->options),
                            .codegen = cx->codegen,
                            .heap = &cx->heap,
                            .drafts = wanted_drafts(&cx->options)};
}

static bool keep_choice(sn_context *cx, const device_kind *kind, unsigned number, device *d)
{
    cx->engine.device = d;
    cx->kind = kind;
    cx->number = number;
    return d != NULL;
}

/* Drivers of GPUs take folders and libraries from environment variables of their own, and these from whoever starts the
 * program: one with more rights than he has gets such a device only by name. */
static bool is_privileged(void)
{
    return getauxval(AT_SECURE) != 0;
}

/* GPUs before the CPU; a device behind OpenCL that is no GPU only by its name. */
static sn_status open_best(sn_context *cx, arena *a)
{
    const char *why = NULL;
    device_options options = options_of(cx);
    options.gpus_only = true;
    for (size_t i = 0; i < ARRAY_LENGTH(kinds); i++)
        if ((!kinds[i].numbered || !is_privileged()) &&
            keep_choice(cx, &kinds[i], 0, kinds[i].open(&options, 0, a, &why)))
            return SN_OK;
    api_warn(&cx->options, arena_printf(a, "programs will be interpreted, slowly: %s", why ? why : ""));
    return SN_OK;
}

static sn_status unknown(const sn_context *cx, const char *name, arena *a)
{
    text t;
    text_init(&t, a);
    text_printf(&t, "there is no device \"%.40s\"; there are \"auto\", \"interpreter\"", name);
    for (size_t i = 0; i < ARRAY_LENGTH(kinds); i++)
        text_printf(&t, ", \"%s\"", kinds[i].name);
    text_add(&t, "; several of a kind have numbers: \"opencl:1\"");
    api_warn(&cx->options, t.at);
    return SN_NO_DEVICE;
}

/* "opencl", "opencl:1" */
static bool is_named(const device_kind *kind, const char *name, unsigned *number)
{
    size_t n = strlen(kind->name);
    char *end = NULL;
    *number = 0;
    if (strncmp(name, kind->name, n))
        return false;
    if (!name[n])
        return true;
    if (!kind->numbered || name[n] != ':' || name[n + 1] < '0' || name[n + 1] > '9')
        return false;
    *number = (unsigned)strtoul(name + n + 1, &end, 10);
    return !*end;
}

static sn_status open_named(sn_context *cx, const char *name, arena *a)
{
    const char *why = NULL;
    unsigned number;
    device_options options = options_of(cx);
    for (size_t i = 0; i < ARRAY_LENGTH(kinds); i++) {
        if (!is_named(&kinds[i], name, &number))
            continue;
        if (keep_choice(cx, &kinds[i], number, kinds[i].open(&options, number, a, &why)))
            return SN_OK;
        api_warn(&cx->options, arena_printf(a, "the device \"%s\" cannot be used: %s; \"auto\" takes the best there is",
                                            name, why ? why : ""));
        return SN_NO_DEVICE;
    }
    return unknown(cx, name, a);
}

static sn_status open_wanted(sn_context *cx, arena *a)
{
    const char *name = wanted_device(&cx->options);
    return strcmp(name, "auto") ? open_named(cx, name, a) : open_best(cx, a);
}

sn_status api_open_device(sn_context *cx)
{
    arena a;
    jmp_buf failure;
    if (!strcmp(wanted_device(&cx->options), "interpreter"))
        return SN_OK;
    arena_init(&a, &cx->heap);
    if (setjmp(failure)) {
        arena_free(&a);
        api_warn(&cx->options, "no memory to open the device");
        return SN_NO_MEMORY;
    }
    arena_on_failure(&a, &failure);
    sn_status status = open_wanted(cx, &a);
    arena_free(&a);
    return status;
}

device *api_open_again(const sn_context *cx, arena *a, const char **why)
{
    device_options options = options_of(cx);
    options.threads = 1;
    options.keep_text = true;
    options.gpus_only = !strcmp(wanted_device(&cx->options), "auto");
    return cx->kind->open(&options, cx->number, a, why);
}
