/* Small programs of each kind that there is code for, as texts. */
#ifndef SN_TESTS_CODE_PROGRAMS_H
#define SN_TESTS_CODE_PROGRAMS_H

#include <stddef.h>

typedef struct code_program {
    const char *name, *source;
} code_program;

extern const code_program code_programs[];
extern const size_t code_programs_n;

#endif
