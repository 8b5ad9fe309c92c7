/* Finds, opens and calls NVRTC. */
#include "device/nvrtc.h"

#include "device/trust.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct nvrtc_program_s *nvrtc_program;

/* Name of ours, symbol, parameters; all return 0 for success. */
#define NVRTC_FUNCTIONS(F)                                                                                             \
    F(version, "nvrtcVersion", (int *major, int *minor))                                                               \
    F(create, "nvrtcCreateProgram",                                                                                    \
      (nvrtc_program * p, const char *source, const char *name, int headers, const char *const *header,                \
       const char *const *header_name))                                                                                \
    F(destroy, "nvrtcDestroyProgram", (nvrtc_program * p))                                                             \
    F(compile, "nvrtcCompileProgram", (nvrtc_program p, int options, const char *const *option))                       \
    F(log_size, "nvrtcGetProgramLogSize", (nvrtc_program p, size_t * bytes))                                           \
    F(log, "nvrtcGetProgramLog", (nvrtc_program p, char *log))                                                         \
    F(ptx_size, "nvrtcGetPTXSize", (nvrtc_program p, size_t * bytes))                                                  \
    F(ptx, "nvrtcGetPTX", (nvrtc_program p, char *ptx))                                                                \
    F(cubin_size, "nvrtcGetCUBINSize", (nvrtc_program p, size_t * bytes))                                              \
    F(cubin, "nvrtcGetCUBIN", (nvrtc_program p, char *cubin))                                                          \
    F(arch_count, "nvrtcGetNumSupportedArchs", (int *count))                                                           \
    F(archs, "nvrtcGetSupportedArchs", (int *archs))

enum { MOST_ARCHS = 64 };

struct nvrtc {
#define FIELD(name, symbol, parameters) int(*name) parameters;
    NVRTC_FUNCTIONS(FIELD)
#undef FIELD
    const char *(*error_text)(int result);
    char *name;
    int major, minor;
    int arch[MOST_ARCHS], arch_n;
};

const char nvrtc_flags[] = "--std=c++17 -w --fmad=false --prec-div=true --prec-sqrt=true --ftz=false";

/* --- finding it --- */

static bool resolve(void *library, const char *symbol, void *function)
{
    void *at = dlsym(library, symbol);
    memcpy(function, &at, sizeof(at));
    return at != NULL;
}

static const char *missing(void *library, nvrtc *out)
{
#define RESOLVE(name, symbol, parameters)                                                                              \
    if (!resolve(library, symbol, (void *)&out->name))                                                                 \
        return symbol;
    NVRTC_FUNCTIONS(RESOLVE)
#undef RESOLVE
    return resolve(library, "nvrtcGetErrorString", (void *)&out->error_text) ? NULL : "nvrtcGetErrorString";
}

static bool learn(nvrtc *n, arena *a)
{
    int count = 0;
    if (n->version(&n->major, &n->minor) != 0 || n->arch_count(&count) != 0 || count < 1 || count > MOST_ARCHS ||
        n->archs(n->arch) != 0)
        return false;
    n->arch_n = count;
    n->name = arena_printf(a, "NVRTC %d.%d", n->major, n->minor);
    return true;
}

static void *open_library(const char *file)
{
    return dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

static const nvrtc *open_file(void *library, const char *file, unsigned most_major, arena *a, const char **why)
{
    nvrtc *n = arena_new(a, *n);
    const char *symbol = missing(library, n);
    if (symbol) {
        *why = arena_printf(a, "%s is too old: it has no %s; NVRTC from 11.2 on is needed", file, symbol);
        return NULL;
    }
    if (!learn(n, a)) {
        *why = arena_printf(a, "%s does not say what it can; NVRTC from 11.2 on does", file);
        return NULL;
    }
    if (most_major && n->major > (int)most_major) {
        *why = arena_printf(a, "%s is newer than the driver, which is of CUDA %u; install the NVRTC of that release",
                            n->name, most_major);
        return NULL;
    }
    return n;
}

static const char *const versions[] = {"13", "12", "11.2"};

/* *why: what is wrong with the first of those that are there; left alone if none is. */
static const nvrtc *open_in(const char *folder, bool named, unsigned most_major, arena *a, const char **why)
{
    for (size_t i = 0; i < ARRAY_LENGTH(versions); i++) {
        const char *file = arena_printf(a, "%slibnvrtc.so.%s", folder, versions[i]), *wrong = NULL;
        if (!named && *folder && access(file, F_OK) == 0 && (wrong = trust_refuses(file, a))) {
            *why = *why ? *why : arena_printf(a, "%s is not used: %s", file, wrong);
            continue;
        }
        void *library = open_library(file);
        const nvrtc *n = library ? open_file(library, file, most_major, a, &wrong) : NULL;
        if (n)
            return n;
        if (!*why)
            *why = wrong;
    }
    return NULL;
}

static const nvrtc *open_named(const char *file, unsigned most_major, arena *a, const char **why)
{
    void *library = open_library(file);
    if (library)
        return open_file(library, file, most_major, a, why);
    const char *said = dlerror();
    *why = arena_printf(a, "no NVRTC: %s", said ? said : file);
    return NULL;
}

const nvrtc *nvrtc_open(unsigned most_major, arena *a, const char **why)
{
    const char *named = secure_getenv("SINTER_NVRTC"), *where = "where the loader looks, nor in /usr/local/cuda/lib64";
    const nvrtc *n;
    *why = NULL;
    if (named && strstr(named, ".so"))
        return open_named(named, most_major, a, why);
    if (named && *named) {
        n = open_in(arena_printf(a, "%s/", named), true, most_major, a, why);
        where = arena_printf(a, "in %s", named);
    } else {
        n = open_in("", false, most_major, a, why);
        if (!n)
            n = open_in("/usr/local/cuda/lib64/", false, most_major, a, why);
    }
    if (!n && !*why)
        *why = arena_printf(
            a, "no NVRTC: there is no libnvrtc.so.13, .12 or .11.2 %s; SINTER_NVRTC names another folder", where);
    return n;
}

const char *nvrtc_name(const nvrtc *n)
{
    return n->name;
}

bool nvrtc_makes(const nvrtc *n, unsigned arch)
{
    for (int i = 0; i < n->arch_n; i++)
        if (n->arch[i] == (int)arch)
            return true;
    return false;
}

unsigned nvrtc_nearest(const nvrtc *n, unsigned arch)
{
    int best = 0;
    for (int i = 0; i < n->arch_n; i++)
        if (n->arch[i] <= (int)arch && n->arch[i] > best)
            best = n->arch[i];
    return (unsigned)best;
}

/* --- compiling --- */

static const char *log_of(const nvrtc *n, nvrtc_program p, int result, arena *a)
{
    size_t bytes = 0;
    if (n->log_size(p, &bytes) == 0 && bytes > 1) {
        char *log = arena_alloc(a, bytes + 1);
        if (n->log(p, log) == 0)
            return log;
    }
    return n->error_text(result);
}

enum { MOST_FLAGS = 14 };

static int split_flags(const char *flags, arena *a, const char **option)
{
    int n = 0;
    for (char *word = arena_string(a, flags); word && n < MOST_FLAGS; n++) {
        option[n] = word;
        word = strchr(word, ' ');
        if (word)
            *word++ = '\0';
    }
    return n;
}

static int build(const nvrtc *n, nvrtc_program p, const nvrtc_options *o, arena *a)
{
    const char *option[MOST_FLAGS + 2];
    int count = split_flags(o->flags ? o->flags : nvrtc_flags, a, option);
    option[count++] = arena_printf(a, "--gpu-architecture=%s_%u", o->ptx ? "compute" : "sm", o->arch);
    option[count++] = arena_printf(a, "-DSN_LOCAL=%u", o->local);
    return n->compile(p, count, option);
}

static int fetch(const nvrtc *n, nvrtc_program p, bool ptx, arena *a, nvrtc_code *out)
{
    size_t bytes = 0;
    int r = (ptx ? n->ptx_size : n->cubin_size)(p, &bytes);
    char *at = arena_alloc(a, bytes + 1);
    if (r == 0)
        r = (ptx ? n->ptx : n->cubin)(p, at);
    *out = (nvrtc_code){at, bytes};
    return r;
}

bool nvrtc_compile(const nvrtc *n, const char *source, const nvrtc_options *options, arena *a, nvrtc_code *out,
                   const char **log)
{
    nvrtc_program p = NULL;
    jmp_buf failure, *outer = a->failure;
    volatile int r = n->create(&p, source, "kernel.cu", 0, NULL, NULL);
    if (r != 0) {
        *log = n->error_text(r);
        return false;
    }
    if (setjmp(failure)) {
        n->destroy(&p);
        arena_on_failure(a, outer);
        *log = "out of memory";
        return false;
    }
    arena_on_failure(a, &failure);
    r = build(n, p, options, a);
    if (r == 0)
        r = fetch(n, p, options->ptx, a, out);
    if (r != 0)
        *log = log_of(n, p, r, a);
    n->destroy(&p);
    arena_on_failure(a, outer);
    return r == 0;
}
