/* Memory between pages that cannot be touched: generated code that reads or writes outside it stops the test. The
 * address sanitizer cannot see generated code; this can. */
#ifndef SN_TESTS_GUARDED_H
#define SN_TESTS_GUARDED_H

#include <stdbool.h>
#include <stddef.h>

typedef struct guarded {
    void *at; /* NULL if there is no memory */
    void *mapping;
    size_t mapped;
} guarded;

/* `bytes` bytes, cleared, that end right before such a page (at_end: aligned as the number of bytes is) or begin right
 * behind one. */
guarded guarded_new(size_t bytes, bool at_end);
void guarded_free(guarded *g);

#endif
