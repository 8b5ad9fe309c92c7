/* Kernels from disk: a second device or process compiles nothing; damage, version changes and missing code generators do no
 * harm. */
#include "cache_kernel.h"
#include "device/cpu_codegen.h"
#include "device/cpu_export.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

typedef struct counts {
    uint64_t compiled, loaded;
} counts;

/* A device of its own runs the kernel once, as a new process would. */
static counts run_once(int number, const char *codegen)
{
    arena a;
    const char *why = NULL;
    arena_init(&a, NULL);
    device *d = open_device(codegen, &a);
    if (!run_numbered(d, number, &why, &a))
        fail_msg("%s", why);
    counts c = {device_compiled(d), device_loaded(d)};
    d->close(d);
    arena_free(&a);
    return c;
}

static void expect(counts c, unsigned compiled, unsigned loaded)
{
    assert_int_equal(c.compiled, compiled);
    assert_int_equal(c.loaded, loaded);
}

static void second_device_compiles_nothing(void **state)
{
    (void)state;
    const char *folder = private_folder();
    expect(run_once(3, NULL), 1, 0);
    expect(run_once(3, NULL), 0, 1);
    expect(run_once(4, NULL), 1, 0); /* another kernel */
    expect(run_once(4, NULL), 0, 1);
    assert_int_equal(files_in(folder, ".kernel"), 2);
    remove_folder(folder);
}

static void off_is_off(void **state)
{
    (void)state;
    const char *folder = private_folder();
    setenv("SINTER_CACHE", "off", 1);
    expect(run_once(3, NULL), 1, 0);
    expect(run_once(3, NULL), 1, 0);
    assert_int_equal(files_in(folder, ""), 0);
    unsetenv("SINTER_CACHE");
    remove_folder(folder);
}

static void works_without_a_folder(void **state)
{
    (void)state;
    char path[4096];
    const char *folder = private_folder();
    snprintf(path, sizeof(path), "%s/file", folder);
    fclose(fopen(path, "w"));
    setenv("SINTER_CACHE_DIR", path, 1);
    expect(run_once(3, NULL), 1, 0);
    expect(run_once(3, NULL), 1, 0);
    remove_folder(folder);
}

static void texts_come_from_the_generator(void **state)
{
    (void)state;
    arena a;
    const char *why = NULL;
    const char *folder = private_folder();
    expect(run_once(3, NULL), 1, 0);
    arena_init(&a, NULL);
    device_options options = {.threads = 1, .keep_text = true};
    device *d = device_cpu_open(&options, &a, &why);
    assert_non_null(d);
    device_kernel *k = device_compile(d, numbered_kernel(&a, 3), &a, &why);
    assert_non_null(k);
    assert_non_null(strstr(d->kernel_text(d, k, "llvm"), "define"));
    assert_int_equal(device_loaded(d), 0);
    device_release_kernel(d, k);
    d->close(d);
    arena_free(&a);
    remove_folder(folder);
}

/* One byte of the file is changed at a time; the kernel is compiled again and gives right results. */
static void damage_means_compiling(void **state)
{
    (void)state;
    char path[4096];
    struct stat s;
    const char *folder = private_folder();
    expect(run_once(5, NULL), 1, 0);
    only_entry(folder, path);
    assert_int_equal(stat(path, &s), 0);
    long size = (long)s.st_size;
    for (long at = 0; at < size; at += size / 7) {
        FILE *f = fopen(path, "r+b");
        assert_non_null(f);
        fseek(f, at, SEEK_SET);
        int byte = fgetc(f);
        fseek(f, at, SEEK_SET);
        fputc(byte ^ 0x55, f);
        fclose(f);
        expect(run_once(5, NULL), 1, 0);
        expect(run_once(5, NULL), 0, 1);
    }
    assert_int_equal(truncate(path, size / 2), 0);
    expect(run_once(5, NULL), 1, 0);
    expect(run_once(5, NULL), 0, 1);
    remove_folder(folder);
}

/* --- code generators --- */

/* Where the code generator lies that this test was built with. */
static const char *generator(void)
{
    const char *variable = getenv("SINTER_CODEGEN");
    return variable && *variable ? variable : SN_TEST_CODEGEN;
}

static void copy_file(const char *from, const char *to)
{
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    char block[65536];
    size_t n;
    assert_non_null(in);
    assert_non_null(out);
    while ((n = fread(block, 1, sizeof(block), in)) > 0)
        assert_int_equal(fwrite(block, 1, n, out), n);
    fclose(in);
    fclose(out);
}

/* Another build of the code generator: its kernels are its own. */
static void another_generator_compiles(void **state)
{
    (void)state;
    char path[4096];
    const char *folder = private_folder();
    snprintf(path, sizeof(path), "%s/libsinter-llvm.so", folder);
    copy_file(generator(), path);
    expect(run_once(3, NULL), 1, 0);
    expect(run_once(3, path), 1, 0);
    expect(run_once(3, folder), 0, 1); /* the folder stands for the file in it */
    expect(run_once(3, NULL), 1, 0);
    remove_folder(folder);
}

/* A copy of the code generator that says it was built from other sources: the last digit of their name is another. The
 * result is that name, in `a`. */
static const char *copy_with_another_name(const char *from, const char *to, arena *a)
{
    const char *name = device_cpu_interface();
    size_t n = strlen(name), bytes = 0, found = 0;
    struct stat st;
    assert_int_equal(stat(from, &st), 0);
    char *all = malloc((size_t)st.st_size), *other = arena_string(a, name);
    other[n - 1] = other[n - 1] == '0' ? '1' : '0';
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    assert_non_null(all);
    assert_non_null(in);
    assert_non_null(out);
    bytes = fread(all, 1, (size_t)st.st_size, in);
    assert_int_equal(bytes, st.st_size);
    for (char *at = all; (at = memchr(at, name[0], bytes - (size_t)(at - all))); at++)
        if (bytes - (size_t)(at - all) > n && memcmp(at, name, n + 1) == 0) {
            memcpy(at, other, n);
            found++;
        }
    assert_true(found > 0);
    assert_int_equal(fwrite(all, 1, bytes, out), bytes);
    fclose(in);
    fclose(out);
    free(all);
    return other;
}

/* What passes between library and generator are plain structs, which other sources may lay out otherwise. */
static void generators_of_other_sources_are_refused(void **state)
{
    (void)state;
    char path[4096];
    arena a;
    const char *why = NULL, *folder = private_folder();
    snprintf(path, sizeof(path), "%s/libsinter-llvm.so", folder);
    arena_init(&a, NULL);
    const char *other = copy_with_another_name(generator(), path, &a);
    assert_null(cpu_codegen_open(path, &a, &why));
    assert_non_null(strstr(why, path));
    assert_non_null(strstr(why, "built from other sources than this library"));
    assert_non_null(strstr(why, device_cpu_interface())); /* both are named */
    assert_non_null(strstr(why, other));
    device *d = open_device(path, &a);
    assert_false(run_numbered(d, 3, &why, &a));
    assert_non_null(strstr(why, "built from other sources"));
    d->close(d);
    arena_free(&a);
    expect(run_once(3, NULL), 1, 0);
    remove_folder(folder);
}

static void expect_no_code(device *d, int number, arena *a)
{
    const char *why = NULL;
    assert_false(run_numbered(d, number, &why, a));
    assert_non_null(strstr(why, "no code generator"));
    assert_false(d->generates(d));
}

static void runs_without_a_generator(void **state)
{
    (void)state;
    static const char *const nothing[] = {"/nonexistent/libsinter-llvm.so", "/dev/null"};
    arena a;
    const char *why = NULL;
    const char *folder = private_folder();
    expect(run_once(3, NULL), 1, 0);
    for (size_t i = 0; i < ARRAY_LENGTH(nothing); i++) {
        arena_init(&a, NULL);
        device *d = open_device(nothing[i], &a);
        assert_true(d->generates(d)); /* nothing is known yet */
        assert_true(run_numbered(d, 3, &why, &a));
        expect_no_code(d, 4, &a);
        expect_no_code(d, 4, &a);
        assert_true(run_numbered(d, 3, &why, &a));
        d->close(d);
        arena_free(&a);
    }
    setenv("SINTER_CACHE", "off", 1);
    arena_init(&a, NULL);
    device_options options = {.threads = 1, .codegen = nothing[0]};
    assert_null(device_cpu_open(&options, &a, &why));
    assert_non_null(strstr(why, "no code generator"));
    arena_free(&a);
    unsetenv("SINTER_CACHE");
    remove_folder(folder);
}

/* --- processes --- */

enum { PROCESSES = 3, KERNELS = 4 };

static int compile_all(void)
{
    arena a;
    const char *why = NULL;
    arena_init(&a, NULL);
    device *d = device_cpu_open(&(device_options){.threads = 1}, &a, &why);
    bool good = d != NULL;
    for (int n = 0; good && n < KERNELS; n++)
        good = run_numbered(d, n, &why, &a);
    good = good && device_compiled(d) + device_loaded(d) == KERNELS;
    if (d)
        d->close(d);
    arena_free(&a);
    return good ? 0 : 1;
}

static void serves_processes(void **state)
{
    (void)state;
    const char *folder = private_folder();
    pid_t child[PROCESSES];
    for (int i = 0; i < PROCESSES; i++) {
        child[i] = fork();
        if (child[i] == 0)
            _exit(compile_all());
        assert_true(child[i] > 0);
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status = 1;
        assert_int_equal(waitpid(child[i], &status, 0), child[i]);
        assert_int_equal(status, 0);
    }
    assert_int_equal(files_in(folder, ""), KERNELS);
    for (int n = 0; n < KERNELS; n++)
        expect(run_once(n, NULL), 0, 1);
    remove_folder(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(serves_processes), /* first: before this process has threads */
        cmocka_unit_test(second_device_compiles_nothing),
        cmocka_unit_test(off_is_off),
        cmocka_unit_test(works_without_a_folder),
        cmocka_unit_test(texts_come_from_the_generator),
        cmocka_unit_test(damage_means_compiling),
        cmocka_unit_test(another_generator_compiles),
        cmocka_unit_test(generators_of_other_sources_are_refused),
        cmocka_unit_test(runs_without_a_generator),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
