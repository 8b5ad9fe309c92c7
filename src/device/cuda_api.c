/* Opens the CUDA driver's library and puts its errors into words. */
#include "device/cuda_api.h"

#include <dlfcn.h>
#include <stdlib.h>

/* ISO C has no cast from data to function pointers. */
static bool resolve(void *library, const char *symbol, void *function)
{
    void *at = dlsym(library, symbol);
    memcpy(function, &at, sizeof(at));
    return at != NULL;
}

static const char *missing(void *library, cuda_api *out)
{
#define RESOLVE(name, symbol, parameters)                                                                              \
    if (!resolve(library, symbol, (void *)&out->name))                                                                 \
        return symbol;
    CUDA_FUNCTIONS(RESOLVE)
#undef RESOLVE
    return NULL;
}

bool cuda_api_open(cuda_api *out, arena *a, const char **why)
{
    const char *named = secure_getenv("SINTER_CUDA"), *file = named && *named ? named : "libcuda.so.1";
    /* It is not unloaded: the driver has threads of its own. */
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library) {
        const char *said = dlerror();
        *why = arena_printf(a, "no CUDA driver: %s", said ? said : file);
        return false;
    }
    const char *symbol = missing(library, out);
    if (symbol) {
        *why = arena_printf(a, "the CUDA driver is too old: it has no %s; install a newer one", symbol);
        return false;
    }
    cu_result r = out->init(0);
    if (r != CU_SUCCESS)
        *why = cuda_says(out, "cuInit", r, a);
    return r == CU_SUCCESS;
}

const char *cuda_says(const cuda_api *c, const char *call, cu_result r, arena *a)
{
    const char *name = NULL, *words = NULL;
    if (c->error_name(r, &name) != CU_SUCCESS || !name)
        return arena_printf(a, "%s: error %d", call, r);
    if (c->error_text(r, &words) != CU_SUCCESS || !words)
        return arena_printf(a, "%s: %s", call, name);
    return arena_printf(a, "%s: %s (%s)", call, name, words);
}
