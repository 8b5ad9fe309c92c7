/* Random scalar code over given terms. */
#ifndef SN_TESTS_RANDOM_SCALAR_H
#define SN_TESTS_RANDOM_SCALAR_H

#include "support/random_program.h"

typedef struct random_maker {
    ir_program *p;
    arena *arena;
    const random_options *options;
    choices c;
    uint32_t types;   /* those of options->types that this program uses */
    VEC(ir_id) array; /* made so far */
    VEC(int64_t) dim; /* values of the named extents */
    uint32_t line;    /* of the last place */
} random_maker;

typedef struct term_pool {
    VEC(ir_id) term;
} term_pool;

/* A place of its own for what may fail, 0 where failures are not wanted. */
uint32_t random_site(random_maker *m, const char *operation);
bool random_allows(const random_maker *m, ir_kind kind);
/* The value of an extent for the inputs made. */
int64_t random_extent_value(const random_maker *m, ir_id extent);
ir_type random_type(random_maker *m);
ir_id random_constant(random_maker *m, ir_type t);
/* A term of the pool or a constant. */
ir_id random_pick(random_maker *m, const term_pool *pool, ir_type t);
/* Adds about `count` terms made from those in the pool. */
void random_grow(random_maker *m, term_pool *pool, uint32_t count);
/* The terms of a function's parameters, some of them (all if few), and what grows from them. */
term_pool random_body(random_maker *m, const ir_fn *fn);

#endif
