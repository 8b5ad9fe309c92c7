/* What is fuzzed: a text or a file that anybody may have written. Each fuzz_*.c defines these; fuzz_main.c runs them on
 * mutated seeds, or libFuzzer does (SINTER_FUZZ). */
#ifndef SN_TESTS_FUZZ_H
#define SN_TESTS_FUZZ_H

#include "base/base.h"

enum { FUZZ_LONGEST = 1 << 16 };

/* Must return whatever the bytes are; broken promises abort. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

/* A well-formed input of *n bytes to start from, in the arena; any number gives one. */
const char *fuzz_seed(arena *a, uint32_t number, size_t *n);

/* Aborts, saying what was promised, and of which text (NULL: it is none; fuzz_main keeps it in a file). */
void fuzz_promise(bool kept, const char *what, const char *source);

#endif
