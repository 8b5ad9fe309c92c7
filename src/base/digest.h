/* Digests of bytes, for names and checksums of files. Good against accidents, not against those who look for collisions. */
#ifndef SN_BASE_DIGEST_H
#define SN_BASE_DIGEST_H

#include "base/base.h"

typedef struct digest { /* 128 bits */
    uint64_t low, high;
} digest;

digest digest_of(const void *bytes, size_t count); /* XXH3; the same on every machine */
static inline bool digest_equal(digest a, digest b)
{
    return a.low == b.low && a.high == b.high;
}

#endif
