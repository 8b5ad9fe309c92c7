/* The folder of compiled kernels: what is kept is found whole, and whatever happens to files and folder is a miss. */
#include "cache_kernel.h"
#include "device/disk_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { VALUE_BYTES = 300, VERSION_AT = 8, CHECKSUM_AT = 48, BODY_AT = 64 };

static const digest maker = {1, 2}, other_maker = {1, 3};

static disk_cache *open_cache(void)
{
    disk_cache *c = disk_cache_open(&base_heap_default);
    assert_non_null(c);
    return c;
}

static void fill(unsigned char *bytes, size_t n, unsigned seed)
{
    for (size_t i = 0; i < n; i++)
        bytes[i] = (unsigned char)(i * 7 + seed);
}

static bool put(disk_cache *c, const char *key, unsigned seed)
{
    unsigned char bytes[VALUE_BYTES];
    fill(bytes, sizeof(bytes), seed);
    return disk_cache_put(c, key, strlen(key), maker, (disk_value){bytes, sizeof(bytes), seed + 5});
}

/* Is this value there? Any other is a failure. */
static bool get_of(disk_cache *c, const char *key, unsigned seed, const digest *by)
{
    unsigned char bytes[VALUE_BYTES];
    disk_value v;
    void *block;
    if (!disk_cache_get(c, key, strlen(key), by, &v, &block))
        return false;
    fill(bytes, sizeof(bytes), seed);
    assert_int_equal(v.size, sizeof(bytes));
    assert_memory_equal(v.bytes, bytes, sizeof(bytes));
    assert_int_equal(v.entry, seed + 5);
    base_heap_default.release(NULL, block);
    return true;
}

static bool get(disk_cache *c, const char *key, unsigned seed)
{
    return get_of(c, key, seed, &maker);
}

/* --- what should happen --- */

static void keeps_and_finds(void **state)
{
    (void)state;
    const char *folder = private_folder();
    disk_cache *c = open_cache(), *second = open_cache();
    assert_false(get(c, "one", 1));
    assert_true(put(c, "one", 1));
    assert_true(put(c, "two", 2));
    assert_true(get(c, "one", 1));
    assert_true(get(second, "two", 2));
    assert_false(get(c, "three", 3));
    assert_false(get_of(c, "one", 1, &other_maker));
    assert_true(get_of(c, "one", 1, NULL));
    assert_true(put(second, "one", 9));
    assert_true(get(c, "one", 9));
    assert_int_equal(files_in(folder, ".kernel"), 2);
    assert_int_equal(files_in(folder, ""), 2);
    disk_cache_close(second);
    disk_cache_close(c);
    remove_folder(folder);
}

static void is_private(void **state)
{
    (void)state;
    char inner[4096], path[4096];
    struct stat s;
    const char *folder = private_folder();
    mode_t mask = umask(0);
    snprintf(inner, sizeof(inner), "%s/a", folder);
    setenv("SINTER_CACHE_DIR", inner, 1);
    disk_cache *c = open_cache();
    assert_true(put(c, "one", 1));
    assert_int_equal(stat(inner, &s), 0);
    assert_int_equal(s.st_mode & 0777, 0700);
    assert_int_equal(stat(only_entry(inner, path), &s), 0);
    assert_int_equal(s.st_mode & 0777, 0600);
    umask(mask);
    disk_cache_close(c);
    remove_folder(folder);
}

static void expect_in(const char *folder)
{
    disk_cache *c = open_cache();
    assert_true(put(c, "one", 1));
    assert_int_equal(files_in(folder, ".kernel"), 1);
    disk_cache_close(c);
}

/* SINTER_CACHE_DIR, then XDG_CACHE_HOME if absolute, then HOME. */
static void finds_its_place(void **state)
{
    (void)state;
    char path[4096], base[2048], *home = getenv("HOME"), *xdg = getenv("XDG_CACHE_HOME");
    home = home ? strdup(home) : NULL;
    xdg = xdg ? strdup(xdg) : NULL;
    snprintf(base, sizeof(base), "%s", private_folder());
    setenv("XDG_CACHE_HOME", base, 1);
    setenv("HOME", base, 1);
    expect_in(base);
    unsetenv("SINTER_CACHE_DIR");
    snprintf(path, sizeof(path), "%s/sinter", base);
    expect_in(path);
    setenv("XDG_CACHE_HOME", "relative", 1);
    snprintf(path, sizeof(path), "%s/.cache/sinter", base);
    expect_in(path);
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    assert_null(disk_cache_open(&base_heap_default));
    setenv("SINTER_CACHE_DIR", base, 1);
    setenv("SINTER_CACHE", "off", 1);
    assert_null(disk_cache_open(&base_heap_default));
    unsetenv("SINTER_CACHE");
    if (home)
        setenv("HOME", home, 1);
    if (xdg)
        setenv("XDG_CACHE_HOME", xdg, 1);
    free(home);
    free(xdg);
    remove_folder(base);
}

/* --- damage --- */

typedef struct contents {
    unsigned char at[4096];
    size_t n;
} contents;

static void read_file(const char *path, contents *to)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    to->n = fread(to->at, 1, sizeof(to->at), f);
    fclose(f);
}

static void write_file(const char *path, const void *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    fclose(f);
    chmod(path, 0600);
}

static void survives_damage(void **state)
{
    (void)state;
    char path[4096];
    contents good, bad;
    const char *folder = private_folder();
    disk_cache *c = open_cache();
    assert_true(put(c, "one", 1));
    read_file(only_entry(folder, path), &good);
    assert_int_equal(good.n, BODY_AT + 3 + VALUE_BYTES);
    for (size_t i = 0; i < good.n; i++) {
        bad = good;
        bad.at[i] ^= (unsigned char)(1u << i % 8);
        write_file(path, bad.at, bad.n);
        if (get_of(c, "one", 1, NULL))
            fail_msg("a changed byte %zu is not noticed", i);
    }
    for (size_t n = 0; n < good.n; n++) {
        write_file(path, good.at, n);
        if (get(c, "one", 1))
            fail_msg("an entry cut to %zu bytes is taken", n);
    }
    bad = good;
    write_file(path, bad.at, bad.n + 1);
    assert_false(get(c, "one", 1));
    write_file(path, good.at, good.n);
    assert_true(get(c, "one", 1));
    write_file(path, "x", 1);
    assert_true(put(c, "one", 1)); /* takes the place of the damaged one */
    assert_true(get(c, "one", 1));
    disk_cache_close(c);
    remove_folder(folder);
}

/* Sizes in the header that reach beyond the file, with a checksum that fits. */
static void survives_lies(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {0, 1, VALUE_BYTES - 1, VALUE_BYTES + 1, UINT32_MAX, UINT64_MAX, UINT64_MAX - 66};
    char path[4096];
    contents file;
    const char *folder = private_folder();
    disk_cache *c = open_cache();
    assert_true(put(c, "one", 1));
    read_file(only_entry(folder, path), &file);
    for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++) {
        memcpy(file.at + 16, &sizes[i], 8);
        memset(file.at + CHECKSUM_AT, 0, sizeof(digest));
        digest d = digest_of(file.at, file.n);
        memcpy(file.at + CHECKSUM_AT, &d, sizeof(d));
        write_file(path, file.at, file.n);
        assert_false(get(c, "one", 1));
    }
    disk_cache_close(c);
    remove_folder(folder);
}

static void refuses_other_versions(void **state)
{
    (void)state;
    char path[4096];
    contents file;
    const char *folder = private_folder();
    disk_cache *c = open_cache();
    assert_true(put(c, "one", 1));
    read_file(only_entry(folder, path), &file);
    for (int change = 0; change < 2; change++) {
        file.at[VERSION_AT] = (unsigned char)(file.at[VERSION_AT] + (change ? -1 : 1));
        memset(file.at + CHECKSUM_AT, 0, sizeof(digest));
        digest d = digest_of(file.at, file.n);
        memcpy(file.at + CHECKSUM_AT, &d, sizeof(d));
        write_file(path, file.at, file.n);
        assert_int_equal(get(c, "one", 1), change); /* changed back, it is found: the checksum was right */
    }
    disk_cache_close(c);
    remove_folder(folder);
}

static void refuses_foreign_entries(void **state)
{
    (void)state;
    char one[4096], hidden[4096];
    const char *folder = private_folder();
    disk_cache *c = open_cache();
    assert_true(put(c, "one", 1));
    only_entry(folder, one);
    snprintf(hidden, sizeof(hidden), "%s/hidden", folder);
    assert_int_equal(rename(one, hidden), 0);
    assert_int_equal(symlink(hidden, one), 0);
    assert_false(get(c, "one", 1)); /* a link */
    unlink(one);
    assert_int_equal(mkfifo(one, 0600), 0);
    assert_false(get(c, "one", 1)); /* does not wait for a writer either */
    unlink(one);
    assert_int_equal(mkdir(one, 0700), 0);
    assert_false(get(c, "one", 1));
    assert_false(put(c, "one", 1));
    rmdir(one);
    assert_int_equal(rename(hidden, one), 0);
    assert_true(get(c, "one", 1));
    assert_int_equal(chmod(one, 0666), 0);
    assert_false(get(c, "one", 1)); /* others may have written it */
    chmod(one, 0600);
    if (geteuid() == 0) {
        assert_int_equal(chown(one, 65534, 65534), 0);
        assert_false(get(c, "one", 1));
        assert_int_equal(chown(one, 0, 0), 0);
    }
    rename(one, hidden);
    assert_true(put(c, "two", 2));
    char two[4096];
    only_entry(folder, two);
    assert_int_equal(rename(two, one), 0);
    assert_false(get(c, "one", 2)); /* whole, but the entry of another key */
    assert_int_equal(files_in(folder, ""), 2);
    disk_cache_close(c);
    remove_folder(folder);
}

/* --- folders --- */

static void expect_nothing_kept(void)
{
    disk_cache *c = disk_cache_open(&base_heap_default);
    assert_non_null(c);
    assert_false(put(c, "one", 1));
    assert_false(get(c, "one", 1));
    disk_cache_close(c);
}

static void does_without_a_folder(void **state)
{
    (void)state;
    char path[4096], folder[2048];
    snprintf(folder, sizeof(folder), "%s", private_folder());
    snprintf(path, sizeof(path), "%s/file", folder);
    write_file(path, "x", 1);
    setenv("SINTER_CACHE_DIR", path, 1);
    expect_nothing_kept(); /* a file in place of the folder */
    snprintf(path, sizeof(path), "%s/file/below", folder);
    setenv("SINTER_CACHE_DIR", path, 1);
    expect_nothing_kept();
    setenv("SINTER_CACHE_DIR", "/proc/sinter", 1);
    expect_nothing_kept(); /* nobody can make a folder there */
    setenv("SINTER_CACHE_DIR", folder, 1);
    assert_int_equal(chmod(folder, 0770), 0);
    expect_nothing_kept(); /* others may write to it */
    assert_int_equal(chmod(folder, 0500), 0);
    if (geteuid() != 0)
        expect_nothing_kept(); /* read-only; root may write all the same */
    else
        assert_int_equal(chown(folder, 65534, 65534), 0);
    if (geteuid() == 0)
        expect_nothing_kept(); /* another user's */
    assert_int_equal(chmod(folder, 0700), 0);
    assert_int_equal(files_in(folder, ""), 1);
    char *long_name = malloc(70000);
    memset(long_name, 'x', 69999);
    long_name[0] = '/';
    long_name[69999] = '\0';
    setenv("SINTER_CACHE_DIR", long_name, 1);
    assert_null(disk_cache_open(&base_heap_default));
    free(long_name);
    remove_folder(folder);
}

/* HOME may be another user's, who could not use what is left there ("sudo program"). */
static void leaves_another_home_alone(void **state)
{
    (void)state;
    char path[4096], base[2048], *home = getenv("HOME"), *xdg = getenv("XDG_CACHE_HOME");
    struct stat s;
    if (geteuid() != 0)
        skip();
    home = home ? strdup(home) : NULL;
    xdg = xdg ? strdup(xdg) : NULL;
    snprintf(base, sizeof(base), "%s", private_folder());
    unsetenv("SINTER_CACHE_DIR");
    unsetenv("XDG_CACHE_HOME");
    setenv("HOME", base, 1);
    assert_int_equal(chown(base, 65534, 65534), 0);
    expect_nothing_kept();
    assert_int_equal(files_in(base, ""), 0);
    snprintf(path, sizeof(path), "%s/.cache", base);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(chown(path, 65534, 65534), 0);
    expect_nothing_kept();
    assert_int_equal(files_in(path, ""), 0);

    assert_int_equal(chown(base, 0, 0), 0); /* our own home, where another user has left a folder */
    assert_int_equal(chown(path, 0, 0), 0);
    snprintf(path, sizeof(path), "%s/.cache/sinter", base);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(chown(path, 65534, 65534), 0);
    snprintf(path, sizeof(path), "%s/.cache/sinter-0", base);
    expect_in(path);
    assert_int_equal(stat(path, &s), 0);
    assert_int_equal(s.st_mode & 0777, 0700);
    snprintf(path, sizeof(path), "%s/.cache/sinter", base);
    assert_int_equal(files_in(path, ""), 0);
    assert_int_equal(chown(path, 0, 0), 0);
    expect_in(path);

    if (home)
        setenv("HOME", home, 1);
    if (xdg)
        setenv("XDG_CACHE_HOME", xdg, 1);
    free(home);
    free(xdg);
    remove_folder(base);
}

/* A file that is too large for the process would end it, were it written. */
static void survives_a_limit_on_files(void **state)
{
    (void)state;
    struct rlimit usual, small;
    const char *folder = private_folder();
    disk_cache *c = open_cache();
    assert_true(put(c, "one", 1));
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &usual), 0);
    small = (struct rlimit){100, usual.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    bool kept = put(c, "two", 2), again = put(c, "one", 3);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &usual), 0);
    assert_false(kept);
    assert_false(again);
    assert_false(get(c, "two", 2));
    assert_true(get(c, "one", 1)); /* the old one has stayed */
    assert_int_equal(files_in(folder, ""), 1);
    disk_cache_close(c);
    remove_folder(folder);
}

/* --- in a process of its own: what is done there cannot be undone --- */

enum { CANNOT = 77, NOBODY = 65534 };

static void in_a_process(int (*run)(const char *folder), const char *folder)
{
    int status = 1;
    pid_t child = fork();
    if (child == 0)
        _exit(run(folder));
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == CANNOT) {
        print_message("this system does not allow it\n");
        remove_folder(folder);
        skip();
    }
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* The line that is wrong, 0 if none is. */
#define MUST(...)                                                                                                      \
    if (!(__VA_ARGS__))                                                                                                \
    return __LINE__ % 64 + 1

static bool found(disk_cache *c, const char *key, unsigned seed)
{
    disk_value v;
    void *block;
    if (!disk_cache_get(c, key, strlen(key), &maker, &v, &block))
        return false;
    bool good = v.size == VALUE_BYTES && v.entry == seed + 5;
    base_heap_default.release(NULL, block);
    return good;
}

/* Nobody in particular: root may write anywhere. */
static int read_only(const char *folder)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/probe", folder);
    if (geteuid() == 0 && (setgid(NOBODY) != 0 || setuid(NOBODY) != 0))
        return CANNOT;
    if (access(folder, R_OK | X_OK) != 0)
        return CANNOT; /* something above it is closed */
    MUST(open(path, O_WRONLY | O_CREAT, 0600) < 0);
    disk_cache *c = disk_cache_open(&base_heap_default);
    MUST(found(c, "one", 1));
    MUST(!put(c, "one", 2));
    MUST(!put(c, "two", 2));
    MUST(!found(c, "two", 2));
    MUST(found(c, "one", 1));
    disk_cache_close(c);
    return 0;
}

static void reads_from_a_read_only_folder(void **state)
{
    (void)state;
    char path[4096];
    const char *folder = private_folder();
    disk_cache *c = open_cache();
    assert_true(put(c, "one", 1));
    disk_cache_close(c);
    only_entry(folder, path);
    if (geteuid() == 0)
        assert_true(chown(path, NOBODY, NOBODY) == 0 && chown(folder, NOBODY, NOBODY) == 0);
    assert_int_equal(chmod(folder, 0500), 0);
    in_a_process(read_only, folder);
    assert_int_equal(chmod(folder, 0700), 0);
    assert_int_equal(files_in(folder, ""), 1);
    remove_folder(folder);
}

/* A file system of 32 KiB. */
static int full(const char *folder)
{
    char key[16];
    if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
        return CANNOT;
    if (mount("none", folder, "tmpfs", 0, "size=32k,mode=0700") != 0)
        return CANNOT;
    unsigned kept = 0;
    disk_cache *c = disk_cache_open(&base_heap_default);
    for (unsigned i = 0; i < 100; i++) {
        snprintf(key, sizeof(key), "%u", i);
        kept += put(c, key, i);
    }
    MUST(kept > 2 && kept < 100);
    for (unsigned i = 0; i < 100; i++) {
        snprintf(key, sizeof(key), "%u", i);
        kept -= found(c, key, i);
    }
    MUST(kept == 0); /* what was kept is whole, the rest is not there */
    MUST(files_in(folder, "") == files_in(folder, ".kernel"));
    disk_cache_close(c);
    return 0;
}

static void survives_a_full_file_system(void **state)
{
    (void)state;
    const char *folder = private_folder();
    in_a_process(full, folder);
    remove_folder(folder);
}

/* The folder goes away while it is in use. */
static void survives_removal(void **state)
{
    (void)state;
    const char *folder = private_folder();
    disk_cache *c = open_cache();
    assert_true(put(c, "one", 1));
    remove_folder(folder);
    assert_false(get(c, "one", 1));
    assert_false(put(c, "one", 1));
    disk_cache_close(c);
}

/* --- size --- */

static void set_age(const char *path, time_t seconds)
{
    struct timespec t[2] = {{.tv_sec = time(NULL) - seconds}, {.tv_sec = time(NULL) - seconds}};
    assert_int_equal(utimensat(AT_FDCWD, path, t, 0), 0);
}

/* The path of a key's entry, found by keeping it in a folder of its own. */
static void path_of(const char *folder, const char *key, char path[4096])
{
    char aside[2048], found[4096];
    snprintf(aside, sizeof(aside), "%s/aside", folder);
    setenv("SINTER_CACHE_DIR", aside, 1);
    disk_cache *c = open_cache();
    assert_true(put(c, key, 0));
    only_entry(aside, found);
    snprintf(path, 4096, "%s%s", folder, strrchr(found, '/'));
    disk_cache_close(c);
    remove_folder(aside);
    setenv("SINTER_CACHE_DIR", folder, 1);
}

enum { KEYS = 6, FIT = 4, OLDEST = 2 };

static const char *const keys[KEYS] = {"key-0", "key-1", "key-2", "key-3", "key-4", "key-5"};

/* Of six entries there is room for four. Ages: one is older than those before it, one is read and so young again. */
static void drops_the_oldest(void **state)
{
    (void)state;
    char path[KEYS][4096], size[16], left[4096], foreign[4096];
    const char *folder = private_folder();
    snprintf(size, sizeof(size), "%d", FIT * (BODY_AT + 5 + VALUE_BYTES));
    for (int i = 0; i < KEYS; i++)
        path_of(folder, keys[i], path[i]);
    disk_cache *c = open_cache();
    for (unsigned i = 0; i < KEYS - 1; i++) {
        assert_true(put(c, keys[i], i));
        set_age(path[i], i == OLDEST ? 90000 : 80000 - (time_t)i);
    }
    assert_true(get(c, keys[0], 0)); /* which renews it */
    disk_cache_close(c);
    assert_int_equal(files_in(folder, ".kernel"), KEYS - 1);

    snprintf(left, sizeof(left), "%s/.new-1-2-3", folder);
    write_file(left, "x", 1);
    set_age(left, 7200);
    snprintf(foreign, sizeof(foreign), "%s/letter.txt", folder);
    write_file(foreign, "x", 1);
    set_age(foreign, 100000);
    setenv("SINTER_CACHE_SIZE", size, 1);
    c = open_cache();
    assert_true(put(c, keys[5], 5));
    for (unsigned i = 0; i < KEYS; i++)
        if (get(c, keys[i], i) != (i != OLDEST && i != 1))
            fail_msg("entry %u", i);
    assert_int_equal(access(left, F_OK), -1); /* of a process that ended amid writing */
    assert_int_equal(access(foreign, F_OK), 0);
    disk_cache_close(c);
    remove_folder(folder);
}

static void measures(void **state)
{
    (void)state;
    static const struct {
        const char *size;
        bool fits; /* an entry of 367 bytes */
    } cases[] = {{"366", false}, {"367", true}, {"1K", true}, {"0", false},
                 {"0M", false},  {"1M", true},  {"1G", true}, {"lots", true},
                 {"1Q", true},   {"", true},    {"-1", true}, {"99999999999999999999G", true}};
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        const char *folder = private_folder();
        setenv("SINTER_CACHE_SIZE", cases[i].size, 1);
        disk_cache *c = open_cache();
        if (put(c, "one", 1) != cases[i].fits)
            fail_msg("SINTER_CACHE_SIZE=%s", cases[i].size);
        assert_int_equal(get(c, "one", 1), cases[i].fits);
        disk_cache_close(c);
        assert_int_equal(files_in(folder, ""), cases[i].fits);
        remove_folder(folder);
    }
    unsetenv("SINTER_CACHE_SIZE");
}

/* --- many at once --- */

enum { ROUNDS = 300, PROCESSES = 3 };

/* All write the same few entries, each a value of its own; what is read is one of these, whole. */
static int hammer(unsigned me)
{
    disk_cache *c = disk_cache_open(&base_heap_default);
    unsigned found = 0;
    for (unsigned i = 0; c && i < ROUNDS; i++) {
        char key[8];
        disk_value v;
        void *block;
        unsigned char bytes[VALUE_BYTES];
        snprintf(key, sizeof(key), "%u", i % 3);
        put(c, key, me);
        if (!disk_cache_get(c, key, strlen(key), &maker, &v, &block))
            continue;
        fill(bytes, sizeof(bytes), (unsigned)v.entry - 5);
        if (v.size != sizeof(bytes) || memcmp(v.bytes, bytes, sizeof(bytes)) != 0)
            return 1;
        base_heap_default.release(NULL, block);
        found++;
    }
    disk_cache_close(c);
    return found < ROUNDS; /* nothing is ever absent: a new entry replaces the old one in one step */
}

static void serves_processes(void **state)
{
    (void)state;
    const char *folder = private_folder();
    pid_t child[PROCESSES];
    for (unsigned i = 0; i < PROCESSES; i++) {
        child[i] = fork();
        if (child[i] == 0)
            _exit(hammer(i));
        assert_true(child[i] > 0);
    }
    for (unsigned i = 0; i < PROCESSES; i++) {
        int status = 1;
        assert_int_equal(waitpid(child[i], &status, 0), child[i]);
        assert_int_equal(status, 0);
    }
    assert_int_equal(files_in(folder, ".kernel"), 3);
    assert_int_equal(files_in(folder, ""), 3);
    remove_folder(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_and_finds),
        cmocka_unit_test(is_private),
        cmocka_unit_test(finds_its_place),
        cmocka_unit_test(survives_damage),
        cmocka_unit_test(survives_lies),
        cmocka_unit_test(refuses_other_versions),
        cmocka_unit_test(refuses_foreign_entries),
        cmocka_unit_test(does_without_a_folder),
        cmocka_unit_test(leaves_another_home_alone),
        cmocka_unit_test(survives_a_limit_on_files),
        cmocka_unit_test(survives_removal),
        cmocka_unit_test(survives_a_full_file_system),
        cmocka_unit_test(reads_from_a_read_only_folder),
        cmocka_unit_test(drops_the_oldest),
        cmocka_unit_test(measures),
        cmocka_unit_test(serves_processes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
