/* Compiled kernels kept in a folder, between processes: one file an entry, written beside and renamed, so that readers see an
 * entry whole or not at all. Whatever is wrong with a file or the folder is a miss, or an entry not kept: never an error.
 *
 * The folder is $SINTER_CACHE_DIR, else $XDG_CACHE_HOME/sinter, else ~/.cache/sinter; SINTER_CACHE=off means none. It is
 * made, for this user only, when it is first needed, but not by an administrator in another user's home. A folder that others
 * may write to, or of another user, is not used: what lies there is executed; ~/.cache/sinter-NUMBER takes the place of
 * ~/.cache/sinter if that is another user's. Checksums find damage; they do not stop whoever may write as this user. */
#ifndef SN_DEVICE_DISK_CACHE_H
#define SN_DEVICE_DISK_CACHE_H

#include "base/digest.h"

typedef struct disk_cache disk_cache; /* thread-safe; any number of processes share a folder */

typedef struct disk_value {
    const void *bytes;
    size_t size;
    uint64_t entry; /* a number kept with the bytes */
} disk_value;

/* Reads the environment. NULL if switched off, if there is no such folder to name, or no memory. */
disk_cache *disk_cache_open(const base_heap *heap);
void disk_cache_close(disk_cache *c); /* NULL is ignored */

/* The value kept under `key`. `maker` says who made it: an entry of another maker is a miss; NULL takes any. On true, *block
 * holds *out and is to be given to the heap of disk_cache_open. */
bool disk_cache_get(disk_cache *c, const void *key, size_t key_bytes, const digest *maker, disk_value *out, void **block);
/* Keeps a value, in place of one that is there. The oldest entries go when all together exceed $SINTER_CACHE_SIZE bytes
 * (with K, M or G behind: times 1024 ...; default 256M), which is looked at now and then: it may be exceeded by a sixteenth. False if it could not be kept. */
bool disk_cache_put(disk_cache *c, const void *key, size_t key_bytes, digest maker, disk_value value);

#endif
