/* The code generator is a module of its own, so that programs whose kernels are all cached never load libLLVM. */
#include "device/cpu_codegen.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/stat.h>

#ifndef SN_CODEGEN_FILE
#define SN_CODEGEN_FILE "libsinter-llvm.so"
#endif
#ifndef SN_CODEGEN_DIRS
#define SN_CODEGEN_DIRS ""
#endif

typedef struct search search;
struct search {
    bool (*found)(search *s, const char *path); /* true: enough */
    arena *arena;
    text tried;
    const emit_cpu_module *module;
    digest file;
};

/* --- where it may be --- */

static bool try_folder(search *s, const char *folder, size_t n)
{
    return n && s->found(s, arena_printf(s->arena, "%.*s/" SN_CODEGEN_FILE, (int)n, folder));
}

static bool try_given(search *s, const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode) ? try_folder(s, path, strlen(path)) : s->found(s, path);
}

/* The folder of the program or shared library that this code is linked into, and sinter/ in it: an installation may be moved. */
static bool try_beside(search *s)
{
    static const char anchor = 0;
    Dl_info info;
    if (!dladdr(&anchor, &info) || !info.dli_fname)
        return false;
    const char *slash = strrchr(info.dli_fname, '/');
    if (!slash)
        return false;
    const char *folder = arena_printf(s->arena, "%.*s/sinter", (int)(slash - info.dli_fname), info.dli_fname);
    return try_folder(s, info.dli_fname, (size_t)(slash - info.dli_fname)) || try_folder(s, folder, strlen(folder));
}

static bool try_list(search *s, const char *folders)
{
    while (*folders) {
        size_t n = strcspn(folders, ":");
        if (try_folder(s, folders, n))
            return true;
        folders += n + (folders[n] == ':');
    }
    return false;
}

static bool look(search *s, const char *path)
{
    const char *variable = secure_getenv("SINTER_CODEGEN");
    if (path || (variable && *variable))
        return try_given(s, path ? path : variable);
    return try_beside(s) || try_list(s, SN_CODEGEN_DIRS);
}

/* --- what is done with it --- */

static bool open_it(search *s, const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library) {
        text_printf(&s->tried, "\n  %s", dlerror());
        return false;
    }
    void *symbol = dlsym(library, EMIT_CPU_MODULE_SYMBOL);
    emit_cpu_module_get get = NULL;
    memcpy(&get, &symbol, sizeof(get)); /* ISO C has no cast from data to function pointers */
    const emit_cpu_module *m = get ? get() : NULL;
    dlclose(library);
    if (m && m->abi == EMIT_CPU_ABI) {
        s->module = m;
        return true;
    }
    text_printf(&s->tried, "\n  %s: not a code generator of this version", path);
    return false;
}

static bool look_at_it(search *s, const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return false;
    int64_t facts[3] = {(int64_t)st.st_size, (int64_t)st.st_mtim.tv_sec, (int64_t)st.st_mtim.tv_nsec};
    s->file = digest_of(facts, sizeof(facts));
    return true;
}

const emit_cpu_module *cpu_codegen_open(const char *path, arena *a, const char **why)
{
    search s = {.found = open_it, .arena = a};
    text_init(&s.tried, a);
    text_add(&s.tried, "no code generator found; tried:");
    *why = look(&s, path) ? NULL : s.tried.at;
    return s.module;
}

bool cpu_codegen_find(const char *path, arena *a, digest *out)
{
    search s = {.found = look_at_it, .arena = a};
    bool found = look(&s, path);
    *out = s.file;
    return found;
}
