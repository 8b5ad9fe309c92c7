/* Tests of passes over kernels by text: a body in, a body out. */
#ifndef SN_TESTS_PASSES_TEXT_H
#define SN_TESTS_PASSES_TEXT_H

#include "kernel/passes.h"

typedef struct pass_case {
    const char *before, *after; /* bodies of a kernel with the declarations below; after NULL: nothing changes */
} pass_case;

/* Every case stands in a kernel of 8 lanes with
 *   global @x:f32, @i:i64, @out:f32 written, @count:i64 written, @state:u64 written, @one:f32 one,
 *          @unread:f32 written unread
 *   shared @tile:f32[64], private @own:i64[4] of at most 64 threads
 *   arguments %n:i64, %m:i64, %a:f32, %p:bool. */
void pass_cases(void (*pass)(kernel *k, arena *a), const pass_case *cases, unsigned n);

/* Random kernels do the same before and after, pass by pass and after all of them. */
void pass_random(void (*pass)(kernel *k, arena *a), uint64_t seeds);

#endif
