/* Stands in for NVRTC in tests: a C++ compiler makes a shared library of the CUDA C++ (device.hpp), which cuda.c runs.
 */
#include "fake_cuda/control.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct program {
    char *source, *log;
    char *bytes; /* the library */
    size_t size;
    unsigned arch;
} program;

enum { OUT_OF_MEMORY = 1, INVALID_INPUT = 3, INVALID_OPTION = 5, COMPILATION = 6 };

__attribute__((visibility("default"))) fake_nvrtc_control fake_nvrtc;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#define API __attribute__((visibility("default")))

API const char *nvrtcGetErrorString(int r);
API int nvrtcVersion(int *major, int *minor);
API int nvrtcGetNumSupportedArchs(int *n);
API int nvrtcGetSupportedArchs(int *arch);
API int nvrtcCreateProgram(program **p, const char *source, const char *name, int headers, const char *const *header,
                           const char *const *header_name);
API int nvrtcDestroyProgram(program **p);
API int nvrtcCompileProgram(program *p, int options, const char *const *option);
API int nvrtcGetProgramLogSize(program *p, size_t *bytes);
API int nvrtcGetProgramLog(program *p, char *log);
API int nvrtcGetPTXSize(program *p, size_t *bytes);
API int nvrtcGetPTX(program *p, char *out);
API int nvrtcGetCUBINSize(program *p, size_t *bytes);
API int nvrtcGetCUBIN(program *p, char *out);

const char *nvrtcGetErrorString(int r)
{
    return r == COMPILATION      ? "NVRTC_ERROR_COMPILATION"
           : r == INVALID_OPTION ? "NVRTC_ERROR_INVALID_OPTION"
                                 : "NVRTC_ERROR";
}

int nvrtcVersion(int *major, int *minor)
{
    *major = fake_nvrtc.major ? fake_nvrtc.major : 12;
    *minor = 4;
    return 0;
}

static const int archs[] = {70, 80, 90};

int nvrtcGetNumSupportedArchs(int *n)
{
    *n = 3;
    return 0;
}

int nvrtcGetSupportedArchs(int *arch)
{
    memcpy(arch, archs, sizeof(archs));
    return 0;
}

int nvrtcCreateProgram(program **p, const char *source, const char *name, int headers, const char *const *header,
                       const char *const *header_name)
{
    (void)name, (void)header, (void)header_name;
    if (headers)
        return INVALID_INPUT;
    *p = calloc(1, sizeof(**p));
    if (*p)
        (*p)->source = strdup(source);
    return *p && (*p)->source ? 0 : OUT_OF_MEMORY;
}

int nvrtcDestroyProgram(program **p)
{
    free((*p)->source);
    free((*p)->log);
    free((*p)->bytes);
    free(*p);
    *p = NULL;
    return 0;
}

/* --- compiling --- */

static const char *value_of(int options, const char *const *option, const char *name)
{
    size_t n = strlen(name);
    for (int i = 0; i < options; i++)
        if (strncmp(option[i], name, n) == 0)
            return option[i] + n;
    return NULL;
}

/* Without these it would not compute what others compute; who asks for nothing of the kind knows what he does. */
static bool exact(int options, const char *const *option)
{
    size_t asked = 0;
    static const char *const wanted[] = {"--fmad=false", "--prec-div=true", "--prec-sqrt=true", "--ftz=false"};
    for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
        const char *rest = value_of(options, option, wanted[i]);
        asked += rest && !*rest;
    }
    return asked == 0 || asked == sizeof(wanted) / sizeof(*wanted);
}

/* Names what stands behind "void " after every __global__. */
static bool name_kernels(const program *p, FILE *f)
{
    int waits = strstr(p->source, "while (atomicOr(") != NULL, found = 0;
    char entry[64];
    for (const char *at = p->source; (at = strstr(at, "__global__")); at++) {
        const char *named = strstr(at, "void ");
        if (!named || sscanf(named, "void %63[A-Za-z0-9_]", entry) != 1)
            return false;
        fprintf(f, "\nFAKE_KERNEL(%s, %d)\n", entry, waits);
        found++;
    }
    return found > 0;
}

/* `extern __shared__` is the launch's memory; without extern it is static. */
static bool write_source(const program *p, const char *path)
{
    static const char mark[] = "extern __shared__";
    FILE *f = fopen(path, "w");
    if (!f)
        return false;
    fprintf(f, "#include \"%s\"\n#line 1 \"kernel.cu\"\n", FAKE_CUDA_DEVICE);
    for (const char *at = p->source; *at;) {
        const char *next = strstr(at, mark);
        fwrite(at, 1, next ? (size_t)(next - at) : strlen(at), f);
        if (!next)
            break;
        fputs("extern", f);
        at = next + sizeof(mark) - 1;
    }
    bool named = name_kernels(p, f);
    return fclose(f) == 0 && named;
}

static char *read_file(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return NULL;
    fseek(f, 0, SEEK_END);
    long n = ftell(f);
    rewind(f);
    char *bytes = n >= 0 ? malloc((size_t)n + 1) : NULL;
    if (bytes) {
        *size = fread(bytes, 1, (size_t)n, f);
        bytes[*size] = '\0';
    }
    fclose(f);
    return bytes;
}

static int build(program *p, const char *folder, const char *local)
{
    char in[128], out[128], log[128], command[1024];
    size_t ignored;
    snprintf(in, sizeof(in), "%s/kernel.cpp", folder);
    snprintf(out, sizeof(out), "%s/kernel.so", folder);
    snprintf(log, sizeof(log), "%s/log", folder);
    if (!write_source(p, in))
        return INVALID_INPUT;
    snprintf(command, sizeof(command),
             "LD_PRELOAD= %s -DSN_LOCAL=%d -shared -nostdlib -o %s %s -lm -lc -lgcc >%s 2>&1", FAKE_CUDA_CXX,
             atoi(local), out, in, log);
    int r = system(command) == 0 ? 0 : COMPILATION;
    p->log = read_file(log, &ignored);
    if (r == 0)
        p->bytes = read_file(out, &p->size);
    remove(in);
    remove(out);
    remove(log);
    return r ? r : p->bytes ? 0 : OUT_OF_MEMORY;
}

/* --- the real one --- */

typedef struct real {
    int (*create)(void **, const char *, const char *, int, const char *const *, const char *const *);
    int (*compile)(void *, int, const char *const *);
    int (*log_size)(void *, size_t *);
    int (*log)(void *, char *);
    int (*destroy)(void **);
} real;

static void *open_real(void)
{
    static const char *const folders[] = {"", "/usr/local/cuda/lib64/"}, *const versions[] = {"13", "12", "11.2"};
    const char *named = getenv("FAKE_NVRTC_REAL");
    char path[512];
    void *library = NULL;
    for (size_t i = 0; !library && i < 6; i++) {
        if (named && *named)
            snprintf(path, sizeof(path), "%s/libnvrtc.so.%s", named, versions[i % 3]);
        else
            snprintf(path, sizeof(path), "%slibnvrtc.so.%s", folders[i / 3], versions[i % 3]);
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    }
    return library;
}

static bool find(void *library, const char *name, void *function)
{
    void *at = dlsym(library, name);
    memcpy(function, &at, sizeof(at));
    return at != NULL;
}

static bool find_real(real *r)
{
    void *library = open_real();
    return library && find(library, "nvrtcCreateProgram", (void *)&r->create) &&
           find(library, "nvrtcCompileProgram", (void *)&r->compile) &&
           find(library, "nvrtcGetProgramLogSize", (void *)&r->log_size) &&
           find(library, "nvrtcGetProgramLog", (void *)&r->log) &&
           find(library, "nvrtcDestroyProgram", (void *)&r->destroy);
}

static int check_one(const real *r, program *p, const char *arch, int options, const char *const *option)
{
    const char *all[32];
    void *q = NULL;
    size_t bytes = 0;
    for (int i = 0; i < options && i < 32; i++)
        all[i] = strncmp(option[i], "--gpu-architecture=", 19) ? option[i] : arch;
    int result = r->create(&q, p->source, "kernel.cu", 0, NULL, NULL);
    if (!result)
        result = r->compile(q, options, all);
    if (result && q && !r->log_size(q, &bytes) && (p->log = malloc(bytes + 1)))
        r->log(q, p->log);
    if (q)
        r->destroy(&q);
    return result;
}

/* FAKE_NVRTC_CHECK: 2 for two generations, 1 for either, others for other sources: the real one takes longer than we do. */
static int check(program *p, int options, const char *const *option)
{
    static const char *const generation[] = {"--gpu-architecture=sm_80", "--gpu-architecture=sm_90"};
    const char *wanted = getenv("FAKE_NVRTC_CHECK");
    unsigned sum = 0;
    int result = 0;
    real r;
    if (!wanted || (*wanted != '1' && *wanted != '2') || options > 32 || !find_real(&r))
        return 0;
    pthread_mutex_lock(&lock);
    fake_nvrtc.checked++;
    pthread_mutex_unlock(&lock);
    for (const char *at = p->source; *at; at++)
        sum = 31 * sum + (unsigned char)*at;
    for (unsigned i = 0; i < 2 && !result; i++)
        if (*wanted == '2' || i == (sum >> 4) % 2)
            result = check_one(&r, p, generation[i], options, option);
    return result;
}

int nvrtcCompileProgram(program *p, int options, const char *const *option)
{
    char folder[64] = "/tmp/fake-nvrtc-XXXXXX";
    const char *arch = value_of(options, option, "--gpu-architecture="),
               *local = value_of(options, option, "-DSN_LOCAL=");
    const char *number = arch ? strchr(arch, '_') : NULL;
    if (!number || !local || !exact(options, option))
        return INVALID_OPTION;
    p->arch = (unsigned)atoi(number + 1);
    pthread_mutex_lock(&lock);
    bool reject = fake_nvrtc.reject;
    fake_nvrtc.compiled += !reject;
    pthread_mutex_unlock(&lock);
    if (reject) {
        p->log = strdup("kernel.cu(1): error: rejected for a test");
        return COMPILATION;
    }
    int r = check(p, options, option);
    if (r)
        return r;
    if (!mkdtemp(folder))
        return OUT_OF_MEMORY;
    r = build(p, folder, local);
    rmdir(folder);
    return r;
}

int nvrtcGetProgramLogSize(program *p, size_t *bytes)
{
    *bytes = p->log ? strlen(p->log) + 1 : 1;
    return 0;
}

int nvrtcGetProgramLog(program *p, char *log)
{
    strcpy(log, p->log ? p->log : "");
    return 0;
}

/* --- images --- */

static int image(const program *p, const char *magic, char *out)
{
    fake_image head = {.arch = p->arch, .size = p->size};
    if (!p->bytes)
        return INVALID_INPUT;
    memcpy(head.magic, magic, sizeof(head.magic));
    memcpy(out, &head, sizeof(head));
    memcpy(out + sizeof(head), p->bytes, p->size);
    return 0;
}

int nvrtcGetPTXSize(program *p, size_t *bytes)
{
    *bytes = sizeof(fake_image) + p->size;
    return 0;
}

int nvrtcGetPTX(program *p, char *out)
{
    return image(p, "FAKEPTX", out);
}

int nvrtcGetCUBINSize(program *p, size_t *bytes)
{
    return nvrtcGetPTXSize(p, bytes);
}

int nvrtcGetCUBIN(program *p, char *out)
{
    return image(p, "FAKECUB", out);
}
