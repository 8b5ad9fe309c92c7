/* Digests by xxHash. */
#include "base/digest.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

digest digest_of(const void *bytes, size_t count)
{
    XXH128_hash_t h = XXH3_128bits(bytes, count);
    return (digest){h.low64, h.high64};
}
