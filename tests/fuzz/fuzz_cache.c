/* Entries of the kernel cache on disk: any file in an entry's place is a miss, or gives a value that lies within it.
 * Each input is tried as it is and with a checksum that fits, as damage never has, so that the rest is looked at, too.
 */
#include "fuzz.h"

#include "device/cpu_code.h"
#include "device/disk_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { HEADER = 64, CHECKSUM_AT = 48 };

static const char key[] = "fuzzed";
static const digest maker = {1, 2};

typedef struct place { /* a folder of our own with one entry, which stays open: closing a file waits for the disk */
    disk_cache *cache;
    char folder[512], entry[1024];
    int file;
} place;

static void find_entry(place *p)
{
    DIR *d = opendir(p->folder);
    fuzz_promise(d != NULL, "the folder is there", NULL);
    for (struct dirent *e; (e = readdir(d));)
        if (strstr(e->d_name, ".kernel"))
            snprintf(p->entry, sizeof(p->entry), "%s/%.100s", p->folder, e->d_name);
    closedir(d);
    fuzz_promise(p->entry[0], "an entry is there", NULL);
}

static place open_place(const void *value, size_t n)
{
    place p = {0};
    snprintf(p.folder, sizeof(p.folder), "%.400s/fuzz_cache-XXXXXX", fuzz_folder());
    fuzz_promise(mkdtemp(p.folder) != NULL, "a folder can be made", NULL);
    setenv("SINTER_CACHE_DIR", p.folder, 1);
    unsetenv("SINTER_CACHE");
    p.cache = disk_cache_open(&base_heap_default);
    fuzz_promise(p.cache && disk_cache_put(p.cache, key, sizeof(key), maker, (disk_value){value, n, 0}),
                 "a value is kept", NULL);
    find_entry(&p);
    p.file = open(p.entry, O_RDWR | O_CLOEXEC);
    fuzz_promise(p.file >= 0, "the entry can be opened", NULL);
    return p;
}

static void close_place(place *p)
{
    disk_cache_close(p->cache);
    close(p->file);
    unlink(p->entry);
    rmdir(p->folder);
}

const char *fuzz_seed(arena *a, uint32_t number, size_t *n)
{
    char value[256];
    for (size_t i = 0; i < sizeof(value); i++)
        value[i] = (char)(i * number);
    place p = open_place(value, number % sizeof(value));
    char *file = arena_alloc(a, 1024);
    ssize_t got = pread(p.file, file, 1024, 0);
    fuzz_promise(got > 0, "the entry can be read", NULL);
    *n = (size_t)got;
    close_place(&p);
    return file;
}

static void look(const place *p, const char *bytes, size_t n)
{
    disk_value v;
    void *block = NULL;
    bool written = pwrite(p->file, bytes, n, 0) == (ssize_t)n && ftruncate(p->file, (off_t)n) == 0;
    fuzz_promise(written, "the entry can be written", NULL);
    if (!disk_cache_get(p->cache, key, sizeof(key), &maker, &v, &block))
        return;
    const char *from = v.bytes;
    fuzz_promise(n == HEADER + sizeof(key) + v.size, "a value is as long as its file says", NULL);
    fuzz_promise(!memcmp(from, bytes + n - v.size, v.size), "a value is what stands in the file", NULL);
    cpu_code code;
    bool mapped = cpu_code_map(&(emit_cpu_blob){v.bytes, v.size, v.entry}, &code);
    fuzz_promise(mapped == (v.entry < v.size), "code begins within itself", NULL);
    cpu_code_unmap(&code);
    base_heap_default.release(NULL, block);
}

static place shared; /* of all inputs */

static void close_shared(void)
{
    close_place(&shared);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    arena a;
    if (n > FUZZ_LONGEST)
        return 0;
    if (!shared.cache) {
        shared = open_place("", 0);
        atexit(close_shared);
    }
    arena_init(&a, NULL);
    char *file = arena_copy(&a, bytes, n);
    look(&shared, file, n);
    if (n >= HEADER) {
        memset(file + CHECKSUM_AT, 0, sizeof(digest));
        digest d = digest_of(file, n);
        memcpy(file + CHECKSUM_AT, &d, sizeof(d));
        look(&shared, file, n);
    }
    arena_free(&a);
    return 0;
}
