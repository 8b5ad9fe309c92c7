/* Entries are read whole and checked before use; time of last use is the file's time, kept to the hour. */
#include "device/disk_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { VERSION = 1, USED_STEP = 3600, ABANDONED = 3600, NAME_BYTES = 64, SCAN_EVERY = 16 };
static const uint64_t usual_cap = (uint64_t)256 << 20;
static const uint64_t most_bytes = (uint64_t)64 << 20; /* of an entry */

typedef struct header {
    char magic[8];
    uint32_t version, key_bytes; /* a file of another byte order has another version */
    uint64_t value_bytes, entry;
    digest maker;
    digest checksum; /* of the whole file, with zeros here */
} header;

static const char magic[8] = "SINTERK";

struct disk_cache {
    base_heap heap;
    uint64_t cap;
    pthread_mutex_t lock; /* of all that follows */
    bool tried;
    bool named;           /* by SINTER_CACHE_DIR, or else found in the user's home */
    int folder;           /* -1: none */
    uint64_t names, added; /* temporary names given; bytes written since the folder was last measured */
    char path[PATH_MAX];
};

/* --- the folder --- */

static bool name_folder(char *path, size_t room, bool *named)
{
    const char *own = secure_getenv("SINTER_CACHE_DIR"), *xdg = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
    int n = -1;
    *named = own && *own;
    if (*named)
        n = snprintf(path, room, "%s", own);
    else if (xdg && *xdg == '/') /* the XDG specification ignores relative paths */
        n = snprintf(path, room, "%s/sinter", xdg);
    else if (home && *home == '/')
        n = snprintf(path, room, "%s/.cache/sinter", home);
    return n > 0 && (size_t)n < room;
}

static uint64_t read_cap(void)
{
    const char *wanted = secure_getenv("SINTER_CACHE_SIZE");
    char *end = NULL;
    if (!wanted || *wanted < '0' || *wanted > '9')
        return usual_cap;
    uint64_t n = strtoull(wanted, &end, 10);
    const char *unit = *end ? strchr("KMG", *end) : NULL;
    if (*end && (!unit || end[1]))
        return usual_cap;
    unsigned shift = unit ? 10u * (unsigned)(1 + (*unit == 'M') + 2 * (*unit == 'G')) : 0;
    return n > UINT64_MAX >> shift ? UINT64_MAX : n << shift;
}

static void make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    mkdir(path, 0700);
}

static bool is_private(const struct stat *s)
{
    return s->st_uid == geteuid() && !(s->st_mode & (S_IWGRP | S_IWOTH));
}

static int open_private(const char *path)
{
    struct stat s;
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0 || (fstat(folder, &s) == 0 && is_private(&s)))
        return folder;
    close(folder);
    return -1;
}

/* `sudo program` may run with the HOME of another user, who could not write to folders that the administrator left there:
 * whether those that are missing may be made. */
static bool may_make(const char *path)
{
    char above[PATH_MAX];
    struct stat s;
    memcpy(above, path, strlen(path) + 1);
    for (char *slash = strrchr(above, '/'); slash; slash = strrchr(above, '/')) {
        *slash = '\0';
        if (stat(*above ? above : "/", &s) == 0)
            return geteuid() != 0 || s.st_uid == 0;
    }
    return true;
}

static int open_made(char *path, bool named)
{
    if (named || may_make(path))
        make_folders(path);
    return open_private(path);
}

/* Another user's folder in the place of ours leaves us one beside it, with our number. */
static int open_folder(disk_cache *c)
{
    char beside[PATH_MAX];
    struct stat s;
    int folder = open_made(c->path, c->named);
    if (folder >= 0 || c->named || stat(c->path, &s) != 0 || s.st_uid == geteuid())
        return folder;
    int n = snprintf(beside, sizeof(beside), "%s-%lu", c->path, (unsigned long)geteuid());
    return n > 0 && (size_t)n < sizeof(beside) ? open_made(beside, false) : -1;
}

/* The folder, -1 if there is none. */
static int folder_of(disk_cache *c)
{
    pthread_mutex_lock(&c->lock);
    if (!c->tried)
        c->folder = open_folder(c);
    c->tried = true;
    int folder = c->folder;
    pthread_mutex_unlock(&c->lock);
    return folder;
}

disk_cache *disk_cache_open(const base_heap *heap)
{
    const char *wanted = secure_getenv("SINTER_CACHE");
    if (wanted && strcmp(wanted, "off") == 0)
        return NULL;
    disk_cache *c = heap->alloc(heap->env, sizeof(*c));
    if (!c)
        return NULL;
    *c = (disk_cache){.heap = *heap, .cap = read_cap(), .folder = -1};
    if (!name_folder(c->path, sizeof(c->path), &c->named)) {
        heap->release(heap->env, c);
        return NULL;
    }
    pthread_mutex_init(&c->lock, NULL);
    return c;
}

/* --- names and files --- */

static void name_entry(const void *key, size_t bytes, char *name)
{
    digest d = digest_of(key, bytes);
    snprintf(name, NAME_BYTES, "%016" PRIx64 "%016" PRIx64 ".kernel", d.high, d.low);
}

static bool is_entry(const char *name)
{
    return strspn(name, "0123456789abcdef") == 32 && strcmp(name + 32, ".kernel") == 0;
}

static bool is_new(const char *name)
{
    return strncmp(name, ".new-", 5) == 0;
}

static bool read_all(int file, char *to, size_t bytes)
{
    while (bytes) {
        ssize_t n = read(file, to, bytes);
        if (n <= 0 && !(n < 0 && errno == EINTR))
            return false;
        if (n > 0) {
            to += n;
            bytes -= (size_t)n;
        }
    }
    return true;
}

static bool write_all(int file, const char *from, size_t bytes)
{
    while (bytes) {
        ssize_t n = write(file, from, bytes);
        if (n <= 0 && !(n < 0 && errno == EINTR))
            return false;
        if (n > 0) {
            from += n;
            bytes -= (size_t)n;
        }
    }
    return true;
}

/* --- reading --- */

/* The checksum's place in the file is cleared. */
static bool is_whole(char *file, size_t bytes, const void *key, size_t key_bytes, const digest *maker)
{
    header h;
    memcpy(&h, file, sizeof(h));
    if (memcmp(h.magic, magic, sizeof(magic)) != 0 || h.version != VERSION || h.key_bytes != key_bytes ||
        h.value_bytes != bytes - sizeof(h) - key_bytes || (maker && !digest_equal(h.maker, *maker)))
        return false;
    memset(file + offsetof(header, checksum), 0, sizeof(digest));
    return digest_equal(digest_of(file, bytes), h.checksum) && memcmp(file + sizeof(h), key, key_bytes) == 0;
}

static void *read_file(disk_cache *c, int file, size_t key_bytes, size_t *bytes)
{
    struct stat s;
    if (fstat(file, &s) != 0 || !S_ISREG(s.st_mode) || !is_private(&s))
        return NULL;
    if (s.st_size < 0 || (uint64_t)s.st_size > most_bytes || (uint64_t)s.st_size < sizeof(header) + key_bytes)
        return NULL;
    *bytes = (size_t)s.st_size;
    char *block = c->heap.alloc(c->heap.env, *bytes);
    if (block && !read_all(file, block, *bytes)) {
        c->heap.release(c->heap.env, block);
        block = NULL;
    }
    if (block && time(NULL) - s.st_mtime > USED_STEP)
        futimens(file, NULL);
    return block;
}

bool disk_cache_get(disk_cache *c, const void *key, size_t key_bytes, const digest *maker, disk_value *out, void **block)
{
    char name[NAME_BYTES];
    size_t bytes = 0;
    int folder = folder_of(c);
    if (folder < 0)
        return false;
    name_entry(key, key_bytes, name);
    int file = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0)
        return false;
    char *read = read_file(c, file, key_bytes, &bytes);
    close(file);
    if (!read)
        return false;
    if (!is_whole(read, bytes, key, key_bytes, maker)) {
        c->heap.release(c->heap.env, read);
        return false;
    }
    header h;
    memcpy(&h, read, sizeof(h));
    *out = (disk_value){read + sizeof(h) + key_bytes, (size_t)h.value_bytes, h.entry};
    *block = read;
    return true;
}

/* --- keeping to the size --- */

typedef struct found {
    struct timespec used;
    uint64_t bytes;
    char name[NAME_BYTES];
} found;

typedef struct listing {
    found *at;
    size_t n, room;
    uint64_t bytes;
} listing;

static int older(const void *a, const void *b)
{
    const struct timespec *x = &((const found *)a)->used, *y = &((const found *)b)->used;
    if (x->tv_sec != y->tv_sec)
        return x->tv_sec < y->tv_sec ? -1 : 1;
    return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

static bool list_entry(listing *l, const char *name, const struct stat *s)
{
    if (l->n == l->room) {
        size_t room = l->room ? 2 * l->room : 256;
        found *more = realloc(l->at, room * sizeof(found));
        if (!more)
            return false;
        l->at = more;
        l->room = room;
    }
    found *f = &l->at[l->n++];
    *f = (found){.used = s->st_mtim, .bytes = (uint64_t)s->st_size};
    memcpy(f->name, name, strlen(name) + 1); /* is_entry knows its length */
    l->bytes += f->bytes;
    return true;
}

/* Files that a process left half-written go on the way. */
static void list_folder(DIR *d, int folder, listing *l)
{
    struct dirent *e;
    struct stat s;
    while ((e = readdir(d))) {
        bool entry = is_entry(e->d_name);
        if ((!entry && !is_new(e->d_name)) || fstatat(folder, e->d_name, &s, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(s.st_mode))
            continue;
        if (!entry && time(NULL) - s.st_mtime > ABANDONED)
            unlinkat(folder, e->d_name, 0);
        if (entry && !list_entry(l, e->d_name, &s))
            return;
    }
}

static void trim(const disk_cache *c, int folder)
{
    listing l = {0};
    int own = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = own < 0 ? NULL : fdopendir(own);
    if (!d) {
        if (own >= 0)
            close(own);
        return;
    }
    list_folder(d, folder, &l);
    closedir(d);
    if (l.bytes > c->cap) {
        qsort(l.at, l.n, sizeof(found), older);
        for (size_t i = 0; i < l.n && l.bytes > c->cap; i++) {
            unlinkat(folder, l.at[i].name, 0);
            l.bytes -= l.at[i].bytes;
        }
    }
    free(l.at);
}

void disk_cache_close(disk_cache *c)
{
    if (!c)
        return;
    if (c->folder >= 0)
        close(c->folder);
    pthread_mutex_destroy(&c->lock);
    c->heap.release(c->heap.env, c);
}

/* --- writing --- */

/* Measuring takes time in proportion to the folder (10,000 entries: 50 ms), so it is left to one entry of 256, whichever
 * process writes it, and to those who write much. */
static bool is_time_to_trim(disk_cache *c, const char *name, uint64_t bytes)
{
    pthread_mutex_lock(&c->lock);
    c->added += bytes;
    bool now = c->added > c->cap / SCAN_EVERY || strncmp(name, "00", 2) == 0;
    if (now)
        c->added = 0;
    pthread_mutex_unlock(&c->lock);
    return now;
}

static int new_file(disk_cache *c, int folder, char *name)
{
    pthread_mutex_lock(&c->lock);
    uint64_t number = c->names++;
    pthread_mutex_unlock(&c->lock);
    snprintf(name, NAME_BYTES, ".new-%lx-%" PRIxPTR "-%" PRIx64, (unsigned long)getpid(), (uintptr_t)c, number);
    return openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
}

/* Writing more than the process may write to a file would end it (SIGXFSZ). */
static bool may_write(size_t bytes)
{
    struct rlimit most;
    return getrlimit(RLIMIT_FSIZE, &most) != 0 || most.rlim_cur == RLIM_INFINITY || bytes <= most.rlim_cur;
}

static bool write_entry(disk_cache *c, int folder, const char *name, const char *bytes, size_t count)
{
    char beside[NAME_BYTES];
    if (!may_write(count))
        return false;
    int file = new_file(c, folder, beside);
    if (file < 0)
        return false;
    bool good = write_all(file, bytes, count);
    good = close(file) == 0 && good;
    good = good && renameat(folder, beside, folder, name) == 0;
    if (!good)
        unlinkat(folder, beside, 0);
    return good;
}

bool disk_cache_put(disk_cache *c, const void *key, size_t key_bytes, digest maker, disk_value value)
{
    char name[NAME_BYTES];
    size_t bytes = sizeof(header) + key_bytes + value.size;
    int folder = folder_of(c);
    if (folder < 0 || key_bytes > UINT32_MAX || bytes > most_bytes || bytes > c->cap)
        return false;
    char *file = c->heap.alloc(c->heap.env, bytes);
    if (!file)
        return false;
    header h = {.version = VERSION, .key_bytes = (uint32_t)key_bytes, .value_bytes = value.size, .entry = value.entry,
                .maker = maker};
    memcpy(h.magic, magic, sizeof(magic));
    memcpy(file, &h, sizeof(h));
    memcpy(file + sizeof(h), key, key_bytes);
    memcpy(file + sizeof(h) + key_bytes, value.bytes, value.size);
    h.checksum = digest_of(file, bytes);
    memcpy(file, &h, sizeof(h));
    name_entry(key, key_bytes, name);
    bool good = write_entry(c, folder, name, file, bytes);
    c->heap.release(c->heap.env, file);
    if (good && is_time_to_trim(c, name, bytes))
        trim(c, folder);
    return good;
}
