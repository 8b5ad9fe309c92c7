/* Programs from texts, and texts of programs. */
#ifndef SN_TESTS_PROGRAM_TEXT_H
#define SN_TESTS_PROGRAM_TEXT_H

#include "ir/term.h"

/* In the arena. */
const char *print(arena *a, const ir_program *p);
/* A well-formed program; else the test fails, with the text. */
ir_program *parse(arena *a, const char *source);

#endif
