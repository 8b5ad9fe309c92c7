/* Programs from texts, and texts of programs. */
#ifndef SN_TESTS_PROGRAM_TEXT_H
#define SN_TESTS_PROGRAM_TEXT_H

#include "ir/term.h"

/* In the arena. */
const char *print(arena *a, const ir_program *p);
/* A well-formed program; else the test fails, with the text. */
ir_program *parse(arena *a, const char *source);
/* A pass changes the first text into the second, which is well-formed, and that no more. */
void becomes(void (*pass)(ir_program *p), const char *from, const char *wanted);
/* A pass leaves each of the programs as it is. */
void stay(void (*pass)(ir_program *p), uint32_t n, const char *const *source);

#endif
