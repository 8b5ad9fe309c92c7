/* Folders and kernels for the tests of the cache on disk. */
#include "cache_kernel.h"
#include "support/launch.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

const char *private_folder(void)
{
    static char path[2048];
    const char *base = getenv("SINTER_TEST_DIR");
    snprintf(path, sizeof(path), "%s/cache-XXXXXX", base ? base : "/tmp");
    if (!mkdtemp(path))
        fail_msg("no temporary folder: %s", path);
    setenv("SINTER_CACHE_DIR", path, 1);
    unsetenv("SINTER_CACHE");
    unsetenv("SINTER_CACHE_SIZE");
    return path;
}

/* Folders in it are left empty, or are removed before; tests make no deeper ones. */
void remove_folder(const char *path)
{
    DIR *d = opendir(path);
    struct dirent *e;
    char inner[4096];
    while (d && (e = readdir(d))) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        snprintf(inner, sizeof(inner), "%s/%s", path, e->d_name);
        if (unlink(inner) != 0)
            remove_folder(inner);
    }
    if (d)
        closedir(d);
    rmdir(path);
}

static bool ends_in(const char *name, const char *ending)
{
    size_t n = strlen(name), m = strlen(ending);
    return n >= m && strcmp(name + n - m, ending) == 0;
}

unsigned files_in(const char *folder, const char *ending)
{
    DIR *d = opendir(folder);
    struct dirent *e;
    unsigned n = 0;
    while (d && (e = readdir(d)))
        n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 && ends_in(e->d_name, ending);
    if (d)
        closedir(d);
    return n;
}

const char *only_entry(const char *folder, char path[4096])
{
    DIR *d = opendir(folder);
    struct dirent *e;
    path[0] = '\0';
    while (d && (e = readdir(d)))
        if (ends_in(e->d_name, ".kernel")) {
            assert_int_equal(path[0], '\0');
            snprintf(path, 4096, "%s/%s", folder, e->d_name);
        }
    if (d)
        closedir(d);
    assert_int_not_equal(path[0], '\0');
    return path;
}

enum { PIECE = 64 };

kernel *numbered_kernel(arena *a, int number)
{
    k_builder b = {0};
    kernel *k = k_new(a, "numbered", 16);
    k_begin(&b, k);
    k_mem x = k_global(&b, T_I32, false, "x"), y = k_global(&b, T_I32, true, "y");
    k_val first = k_let(&b, OP_MUL, k_piece(&b), k_i64(&b, PIECE), 0);
    k_val i = k_for_all(&b, k_i64(&b, PIECE));
    k_val at = k_let(&b, OP_ADD, first, i, 0);
    k_val scaled = k_let(&b, OP_MUL, k_load(&b, x, at), k_literal(&b, T_I32, ir_bits_i64(T_I32, number)), 0);
    k_store(&b, y, at, k_let(&b, OP_ADD, scaled, k_literal(&b, T_I32, ir_bits_i64(T_I32, 1)), 0));
    k_end(&b);
    return k;
}

bool run_numbered(device *d, int number, const char **why, arena *a)
{
    int32_t x[KERNEL_ELEMENTS], y[KERNEL_ELEMENTS];
    void *mem[] = {x, y};
    k_error error = {0};
    for (int i = 0; i < KERNEL_ELEMENTS; i++)
        x[i] = i - 100;
    memset(y, 0, sizeof(y));
    device_kernel *k = device_compile(d, numbered_kernel(a, number), a, why);
    if (!k)
        return false;
    if (!launch_now(d, k, mem, NULL, 0, KERNEL_ELEMENTS / PIECE, true, &error))
        fail_msg("no memory for a launch");
    device_release_kernel(d, k);
    for (int i = 0; i < KERNEL_ELEMENTS; i++)
        if (y[i] != x[i] * number + 1)
            fail_msg("element %d is %d", i, y[i]);
    return true;
}

device *open_device(const char *codegen, arena *a)
{
    const char *why = NULL;
    device_options options = {.threads = 1, .codegen = codegen};
    device *d = device_cpu_open(&options, a, &why);
    if (!d)
        fail_msg("%s", why);
    return d;
}
