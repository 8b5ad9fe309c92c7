/* The OpenCL loader, and which devices it knows that compute as exactly as we need. */
#include "device/device.h"
#include "device/opencl_api.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_PLATFORMS = 16, MOST_DEVICES = 64, TEXT_BYTES = 512 };

/* --- the loader --- */

bool opencl_api_open(opencl_api *out, arena *a, const char **why)
{
    const char *named = secure_getenv("SINTER_OPENCL"), *file = named && *named ? named : "libOpenCL.so.1";
    *out = (opencl_api){0};
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library) {
        const char *said = dlerror();
        *why = arena_printf(a, "there is no OpenCL loader: %s", said ? said : file);
        return false;
    }
#define X(result, name, parameters)                                                                                    \
    {                                                                                                                  \
        void *found = dlsym(library, #name); /* ISO C has no cast from data to function pointers */                    \
        memcpy(&out->name, &found, sizeof(found));                                                                     \
        if (!found) {                                                                                                  \
            *why = arena_printf(a, "%s has no %s; OpenCL from 1.2 on is needed", file, #name);                         \
            return false;                                                                                              \
        }                                                                                                              \
    }
    OPENCL_FUNCTIONS(X)
#undef X
    return true;
}

const char *opencl_status(int32_t status)
{
    static const char *const name[] = {
        [0] = "CL_SUCCESS",
        [1] = "CL_DEVICE_NOT_FOUND",
        [2] = "CL_DEVICE_NOT_AVAILABLE",
        [3] = "CL_COMPILER_NOT_AVAILABLE",
        [4] = "CL_MEM_OBJECT_ALLOCATION_FAILURE",
        [5] = "CL_OUT_OF_RESOURCES",
        [6] = "CL_OUT_OF_HOST_MEMORY",
        [11] = "CL_BUILD_PROGRAM_FAILURE",
        [14] = "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST",
        [30] = "CL_INVALID_VALUE",
        [33] = "CL_INVALID_DEVICE",
        [34] = "CL_INVALID_CONTEXT",
        [36] = "CL_INVALID_COMMAND_QUEUE",
        [38] = "CL_INVALID_MEM_OBJECT",
        [42] = "CL_INVALID_BINARY",
        [43] = "CL_INVALID_BUILD_OPTIONS",
        [44] = "CL_INVALID_PROGRAM",
        [45] = "CL_INVALID_PROGRAM_EXECUTABLE",
        [46] = "CL_INVALID_KERNEL_NAME",
        [48] = "CL_INVALID_KERNEL",
        [49] = "CL_INVALID_ARG_INDEX",
        [50] = "CL_INVALID_ARG_VALUE",
        [51] = "CL_INVALID_ARG_SIZE",
        [52] = "CL_INVALID_KERNEL_ARGS",
        [54] = "CL_INVALID_WORK_GROUP_SIZE",
        [61] = "CL_INVALID_BUFFER_SIZE",
        [63] = "CL_INVALID_GLOBAL_WORK_SIZE",
    };
    if (status == -1001)
        return "CL_PLATFORM_NOT_FOUND";
    int64_t at = -(int64_t)status;
    return at >= 0 && at < (int64_t)ARRAY_LENGTH(name) && name[at] ? name[at] : "an unknown OpenCL error";
}

/* --- what devices say of themselves --- */

uint64_t opencl_number(const opencl_api *api, ocl_device d, uint32_t question)
{
    uint64_t value = 0; /* answers are of 4 or 8 bytes, little-endian */
    return api->clGetDeviceInfo(d, question, sizeof(value), &value, NULL) == OCL_SUCCESS ? value : 0;
}

static const char *device_text(const opencl_api *api, ocl_device d, uint32_t question, arena *a)
{
    char said[TEXT_BYTES] = "";
    if (api->clGetDeviceInfo(d, question, sizeof(said) - 1, said, NULL) != OCL_SUCCESS)
        return "?";
    return arena_string(a, said);
}

static const char *platform_text(const opencl_api *api, ocl_platform p, uint32_t question, arena *a)
{
    char said[TEXT_BYTES] = "";
    if (api->clGetPlatformInfo(p, question, sizeof(said) - 1, said, NULL) != OCL_SUCCESS)
        return "?";
    return arena_string(a, said);
}

static bool is_old(const char *version)
{
    int major = 0, minor = 0;
    return sscanf(version, "OpenCL %d.%d", &major, &minor) != 2 || major < 1 || (major == 1 && minor < 2);
}

/* Why programs would not compute there what they compute elsewhere; NULL: they do. */
static const char *unusable(const opencl_api *api, const opencl_place *p, arena *a)
{
    static const struct {
        uint64_t bit;
        const char *why;
    } wanted[] = {
        {OCL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT, "f32 division and square root are not rounded correctly"},
        {OCL_FP_DENORM, "f32 has no subnormal numbers"},
        {OCL_FP_INF_NAN, "f32 has no infinities and NaNs"},
        {OCL_FP_ROUND_TO_NEAREST, "f32 is not rounded to nearest"},
        {OCL_FP_FMA, "there is no fused multiply-add of f32"},
    };
    if (!opencl_number(api, p->device, OCL_DEVICE_AVAILABLE))
        return "the driver says that it is not available";
    if (!opencl_number(api, p->device, OCL_DEVICE_COMPILER_AVAILABLE))
        return "the driver has no compiler";
    if (is_old(p->version))
        return arena_printf(a, "OpenCL 1.2 is needed, it has %s", p->version);
    if (opencl_number(api, p->device, OCL_DEVICE_ADDRESS_BITS) != 64)
        return "its addresses do not have 64 bits";
    if (!opencl_number(api, p->device, OCL_DEVICE_ENDIAN_LITTLE))
        return "its numbers begin with the highest byte";
    uint64_t config = opencl_number(api, p->device, OCL_DEVICE_SINGLE_FP_CONFIG);
    for (size_t i = 0; i < ARRAY_LENGTH(wanted); i++)
        if (!(config & wanted[i].bit))
            return wanted[i].why;
    return NULL;
}

static bool add_devices(const opencl_api *api, ocl_platform platform, arena *a, opencl_places *all, const char **why)
{
    ocl_device found[MOST_DEVICES];
    uint32_t count = 0;
    const char *name = platform_text(api, platform, OCL_PLATFORM_NAME, a);
    int32_t status = api->clGetDeviceIDs(platform, UINT32_MAX, MOST_DEVICES, found, &count);
    if (status != OCL_SUCCESS) {
        *why = arena_printf(a, "platform %s: clGetDeviceIDs: %s", name, opencl_status(status));
        return false;
    }
    for (uint32_t i = 0; i < count && i < MOST_DEVICES; i++) {
        opencl_place p = {.platform = platform, .device = found[i], .platform_name = name};
        p.type = opencl_number(api, found[i], OCL_DEVICE_TYPE);
        p.name = device_text(api, found[i], OCL_DEVICE_NAME, a);
        p.vendor = device_text(api, found[i], OCL_DEVICE_VENDOR, a);
        p.driver = device_text(api, found[i], OCL_DRIVER_VERSION, a);
        p.version = device_text(api, found[i], OCL_DEVICE_VERSION, a);
        p.pocl = strstr(name, "Portable Computing Language") || strstr(p.version, "PoCL");
        p.why = unusable(api, &p, a);
        p.ordinal = (int)all->n;
        vec_push(a, all, p);
    }
    return true;
}

bool opencl_find(const opencl_api *api, arena *a, opencl_places *out, const char **why)
{
    ocl_platform platform[MOST_PLATFORMS];
    uint32_t count = 0;
    opencl_places all = {0};
    *out = (opencl_places){0};
    int32_t status = api->clGetPlatformIDs(MOST_PLATFORMS, platform, &count);
    if (status != OCL_SUCCESS || count == 0) {
        *why = arena_printf(a, "there is no OpenCL platform (clGetPlatformIDs: %s); install the driver of the device",
                            opencl_status(status));
        return false;
    }
    *why = NULL;
    for (uint32_t i = 0; i < count && i < MOST_PLATFORMS; i++)
        add_devices(api, platform[i], a, &all, why); /* a broken driver does not keep others from being found */
    for (int others = 0; others < 2; others++)
        for (uint32_t i = 0; i < all.n; i++)
            if ((all.at[i].type & (OCL_TYPE_GPU | OCL_TYPE_ACCELERATOR)) ? !others : others)
                vec_push(a, out, all.at[i]);
    if (!out->n && !*why)
        *why = "there is no OpenCL device; clinfo lists what drivers find";
    return out->n > 0;
}

void device_opencl_list(arena *a, device_infos *out)
{
    opencl_api api;
    opencl_places places = {0};
    const char *why = NULL;
    unsigned number = 0;
    if (!opencl_api_open(&api, a, &why) || !opencl_find(&api, a, &places, &why)) {
        vec_push(a, out, ((device_info){.kind = "opencl", .name = "", .driver = "", .why = why}));
        return;
    }
    for (uint32_t i = 0; i < places.n; i++) {
        const opencl_place *p = &places.at[i];
        device_info info = {.kind = "opencl", .name = p->name, .why = p->why};
        info.driver = arena_printf(a, "%s, %s", p->version, p->driver);
        info.memory = (size_t)opencl_number(&api, p->device, OCL_DEVICE_GLOBAL_MEM_SIZE);
        info.workers = (uint32_t)opencl_number(&api, p->device, OCL_DEVICE_MAX_COMPUTE_UNITS);
        info.number = p->why ? 0 : number++;
        vec_push(a, out, info);
    }
}

/* --- without loading anything --- */

/* An .icd file holds the name of a library. */
static bool names_another(const char *folder, const char *file)
{
    char path[1024], line[1024] = "";
    size_t n = strlen(file);
    if (n < 4 || strcmp(file + n - 4, ".icd") ||
        snprintf(path, sizeof(path), "%s/%s", folder, file) >= (int)sizeof(path))
        return false;
    FILE *f = fopen(path, "re");
    if (!f)
        return false;
    bool read = fgets(line, sizeof(line), f) != NULL;
    fclose(f);
    return read && !strstr(line, "pocl");
}

bool opencl_worth_asking(void)
{
    const char *named = secure_getenv("SINTER_OPENCL"), *vendors = secure_getenv("OCL_ICD_VENDORS");
    if (named && *named)
        return true;
    const char *folder = vendors && *vendors ? vendors : "/etc/OpenCL/vendors";
    DIR *d = opendir(folder);
    if (!d)
        return vendors && *vendors; /* it may name a library itself */
    bool found = false;
    for (struct dirent *e; !found && (e = readdir(d));)
        found = names_another(folder, e->d_name);
    closedir(d);
    return found;
}
