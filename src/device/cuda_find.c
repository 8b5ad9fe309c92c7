/* Which CUDA devices there are, and which of them can be used. */
#include "device/cuda_device.h"

enum { NAME_BYTES = 256, LEAST_CAPABILITY = 70 }; /* 7.0: threads of a warp make progress on their own */

int cuda_number(const cuda_api *api, cu_device id, int attribute)
{
    int value = 0;
    return api->device_attribute(&value, attribute, id) == CU_SUCCESS ? value : 0;
}

int cuda_version(const cuda_api *api)
{
    int version = 0;
    return api->driver_version(&version) == CU_SUCCESS ? version : 0;
}

static const char *unusable(const cuda_api *api, const cuda_place *p, arena *a)
{
    if (p->major * 10 + p->minor < LEAST_CAPABILITY)
        return arena_printf(a, "compute capability %d.%d is below %d.%d", p->major, p->minor, LEAST_CAPABILITY / 10,
                            LEAST_CAPABILITY % 10);
    if (cuda_number(api, p->id, CU_COMPUTE_MODE) == CU_MODE_PROHIBITED)
        return "its compute mode prohibits its use";
    return NULL;
}

static cuda_place look(const cuda_api *api, int number, arena *a)
{
    char name[NAME_BYTES] = "";
    cuda_place p = {.name = "?", .ordinal = number};
    cu_result r = api->device_get(&p.id, number);
    if (r != CU_SUCCESS) {
        p.why = cuda_says(api, "cuDeviceGet", r, a);
        return p;
    }
    if (api->device_name(name, NAME_BYTES - 1, p.id) == CU_SUCCESS)
        p.name = arena_string(a, name);
    r = api->device_memory(&p.memory, p.id);
    p.major = cuda_number(api, p.id, CU_CAPABILITY_MAJOR);
    p.minor = cuda_number(api, p.id, CU_CAPABILITY_MINOR);
    p.workers = cuda_number(api, p.id, CU_MULTIPROCESSORS);
    p.why = r == CU_SUCCESS ? unusable(api, &p, a) : cuda_says(api, "cuDeviceTotalMem_v2", r, a);
    return p;
}

bool cuda_find(const cuda_api *api, arena *a, cuda_places *out, const char **why)
{
    int count = 0;
    cu_result r = api->device_count(&count);
    *out = (cuda_places){0};
    if (r != CU_SUCCESS || count < 1) {
        *why = r == CU_SUCCESS ? "there is no CUDA device; nvidia-smi lists what the driver finds"
                               : cuda_says(api, "cuDeviceGetCount", r, a);
        return false;
    }
    for (int i = 0; i < count; i++)
        vec_push(a, out, look(api, i, a));
    return true;
}

void device_cuda_list(arena *a, device_infos *out)
{
    cuda_api api;
    cuda_places places = {0};
    const char *why = NULL, *no_compiler = NULL;
    unsigned number = 0;
    if (!cuda_api_open(&api, a, &why) || !cuda_find(&api, a, &places, &why)) {
        vec_push(a, out, ((device_info){.kind = "cuda", .name = "", .driver = "", .why = why}));
        return;
    }
    int version = cuda_version(&api);
    const nvrtc *compiler = nvrtc_open((unsigned)version / 1000, a, &no_compiler);
    for (uint32_t i = 0; i < places.n; i++) {
        const cuda_place *p = &places.at[i];
        device_info info = {.kind = "cuda", .name = p->name, .memory = p->memory, .workers = (uint32_t)p->workers};
        info.driver = arena_printf(a, "CUDA %d.%d, %s, compute capability %d.%d", version / 1000, version % 1000 / 10,
                                   compiler ? nvrtc_name(compiler) : "no NVRTC", p->major, p->minor);
        info.why = p->why ? p->why : compiler ? NULL : no_compiler;
        info.number = info.why ? 0 : number++;
        vec_push(a, out, info);
    }
}
