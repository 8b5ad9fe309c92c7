/* The code generator is a module of its own, so that programs whose kernels are all cached never load libLLVM. */
#include "device/cpu_codegen.h"

#include "base/address_space.h"
#include "device/trust.h"
#include "emit/identity.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/stat.h>

#ifndef SN_CODEGEN_ROOM
#define SN_CODEGEN_ROOM 0
#endif

static const char module_file[] = "libsinter-llvm.so";

typedef struct search search;
struct search {
    bool (*found)(search *s, const char *path); /* true: enough */
    arena *arena;
    text tried;
    const emit_cpu_module *module;
    digest file;
};

/* --- where it may be --- */

static bool try_given(search *s, const char *path)
{
    struct stat st;
    bool folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
    return s->found(s, folder ? arena_printf(s->arena, "%s/%s", path, module_file) : path);
}

static bool try_found(search *s, const char *folder)
{
    const char *path = arena_printf(s->arena, "%s/%s", folder, module_file), *why = trust_refuses(path, s->arena);
    if (!why)
        return s->found(s, path);
    text_printf(&s->tried, "\n  %s: %s", path, why);
    return false;
}

/* The folder of this shared library, and sinter/ in it: an installation may be moved. */
static bool try_beside(search *s)
{
    const char *own = trust_own_library(s->arena);
    if (!own)
        return false;
    const char *folder = arena_printf(s->arena, "%.*s", (int)(strrchr(own, '/') - own), own);
    return try_found(s, folder) || try_found(s, arena_printf(s->arena, "%s/sinter", folder));
}

static bool try_installed(search *s)
{
    const char *folder = cpu_codegen_folder;
    __asm__("" : "+r"(folder)); /* what stands there is replaced after linking: the compiler must not look */
    int n = (int)strcspn(folder, "\n");
    return n && try_found(s, arena_printf(s->arena, "%.*s", n, folder));
}

static bool look(search *s, const char *path)
{
    const char *variable = secure_getenv("SINTER_CODEGEN");
    if (path || (variable && *variable))
        return try_given(s, path ? path : variable);
    return try_beside(s) || try_installed(s);
}

/* --- what is done with it --- */

/* Libraries that are loaded end the process if they get no memory for what they set up. */
static bool has_room(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    if (library)
        dlclose(library);
    return library || address_space_has((size_t)SN_CODEGEN_ROOM);
}

static bool open_it(search *s, const char *path)
{
    if (!has_room(path)) {
        text_printf(&s->tried, "\n  %s: with LLVM it needs %u MiB of address space, and less is left (ulimit -v)", path,
                    (unsigned)((size_t)SN_CODEGEN_ROOM >> 20));
        return false;
    }
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
    if (!m)
        text_printf(&s->tried, "\n  %s: not a code generator of this version", path);
    else if (strcmp(m->identity, EMIT_CPU_IDENTITY) != 0)
        text_printf(&s->tried,
                    "\n  %s: built from other sources than this library (%s, not %s): install both from one build",
                    path, m->identity, EMIT_CPU_IDENTITY);
    else
        s->module = m;
    return s->module;
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
    text_init(&s.tried, a);
    bool found = look(&s, path);
    *out = s.file;
    return found;
}
