/* The code generator is a module of its own, so that programs whose kernels are all cached never load libLLVM. */
#include "device/cpu_codegen.h"
#include <dlfcn.h>
#include <stdlib.h>

#ifndef SN_CODEGEN_FILE
#define SN_CODEGEN_FILE "libsinter-llvm.so"
#endif
#ifndef SN_CODEGEN_DIRS
#define SN_CODEGEN_DIRS ""
#endif

typedef struct {
    arena *arena;
    text tried;
} search;

static const emit_cpu_module *try_path(search *s, const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library) {
        text_printf(&s->tried, "\n  %s", dlerror());
        return NULL;
    }
    void *symbol = dlsym(library, EMIT_CPU_MODULE_SYMBOL);
    emit_cpu_module_get get = NULL;
    memcpy(&get, &symbol, sizeof(get)); /* ISO C has no cast from data to function pointers */
    const emit_cpu_module *m = get ? get() : NULL;
    dlclose(library);
    if (m && m->abi == EMIT_CPU_ABI)
        return m;
    text_printf(&s->tried, "\n  %s: not a code generator of this version", path);
    return NULL;
}

static const emit_cpu_module *try_folder(search *s, const char *folder, size_t n)
{
    return n ? try_path(s, arena_printf(s->arena, "%.*s/" SN_CODEGEN_FILE, (int)n, folder)) : NULL;
}

/* The folder of the program or shared library that this code is linked into. */
static const emit_cpu_module *try_beside(search *s)
{
    static const char anchor = 0;
    Dl_info info;
    if (!dladdr(&anchor, &info) || !info.dli_fname)
        return NULL;
    const char *slash = strrchr(info.dli_fname, '/');
    return slash ? try_folder(s, info.dli_fname, (size_t)(slash - info.dli_fname)) : NULL;
}

static const emit_cpu_module *try_list(search *s, const char *folders)
{
    while (*folders) {
        size_t n = strcspn(folders, ":");
        const emit_cpu_module *m = try_folder(s, folders, n);
        if (m)
            return m;
        folders += n + (folders[n] == ':');
    }
    return NULL;
}

const emit_cpu_module *cpu_codegen_open(const char *path, arena *a, const char **why)
{
    search s = {.arena = a};
    const char *variable = getenv("SINTER_CODEGEN");
    const emit_cpu_module *m;
    text_init(&s.tried, a);
    text_add(&s.tried, "no code generator found; tried:");
    if (path || variable) {
        m = try_path(&s, path ? path : variable);
    } else {
        m = try_beside(&s);
        if (!m)
            m = try_list(&s, SN_CODEGEN_DIRS);
    }
    *why = m ? NULL : s.tried.at;
    return m;
}
