/* What the Sinter sides of all rows share: a context with one program. */
#ifndef SINTER_BENCH_SIDE_H
#define SINTER_BENCH_SIDE_H

#include "rows.h"

#include <sinter/sinter.h>

#include <stdio.h>
#include <stdlib.h>

struct side {
    sn_context *context;
    sn_program *program;
};

static inline void side_close(void *state)
{
    struct side *s = state;
    sn_drop(s->program);
    sn_close(s->context);
    free(s);
}

/* NULL on failure, with the message on stderr. */
static inline struct side *side_open(const char *signature, sn_body body)
{
    struct side *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->context = sn_open(NULL);
    if (s->context)
        s->program = sn_compile_at(SN_HERE, s->context, signature, body);
    if (s->program)
        return s;
    fprintf(stderr, "%s\n", s->context ? sn_message(s->context) : "no device");
    side_close(s);
    return NULL;
}

static inline int side_ok(const struct side *s, sn_status status)
{
    if (status != SN_OK)
        fprintf(stderr, "%s\n", sn_message(s->context));
    return status == SN_OK;
}

#endif
