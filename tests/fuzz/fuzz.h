/* What is fuzzed: a text or a file that anybody may have written. Each fuzz_*.c defines these; fuzz_main.c runs them on
 * mutated seeds, or libFuzzer does (SINTER_FUZZ). */
#ifndef SN_TESTS_FUZZ_H
#define SN_TESTS_FUZZ_H

#include "base/base.h"
#include "sinter/sinter.h"

enum { FUZZ_LONGEST = 1 << 16 };

/* Must return whatever the bytes are; broken promises abort. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

/* A well-formed input of *n bytes to start from, in the arena; any number gives one. */
const char *fuzz_seed(arena *a, uint32_t number, size_t *n);

/* Aborts unless it was kept, saying what was promised, and of which text (NULL: it is none; fuzz_main keeps it in a
 * file). */
void fuzz_promise(bool kept, const char *what, const char *source);

/* Calls `check` with the bytes as a text that ends with a 0, unless they are too many; 0, for LLVMFuzzerTestOneInput.
 */
int fuzz_text(const uint8_t *bytes, size_t n, void (*check)(arena *a, const char *source));

/* Where files are written: SINTER_TEST_DIR, else beside the program, so that they are in the build's folder. */
const char *fuzz_folder(void);

/* A context that interprets and tells its messages nobody; the caller closes it. */
sn_context *fuzz_context(void);

#endif
