/* How much of what is tried in turn, random programs or combinations, the quick run takes. */
#ifndef SUPPORT_SHARE_H
#define SUPPORT_SHARE_H

#include <stdlib.h>

/* SINTER_TEST_SHARE=n: one of n, at least one; all with SINTER_TEST_LONG. */
static inline unsigned test_share(void)
{
    const char *share = getenv("SINTER_TEST_SHARE");
    const unsigned long n = share && !getenv("SINTER_TEST_LONG") ? strtoul(share, NULL, 10) : 1;
    return n ? (unsigned)n : 1;
}

#endif
