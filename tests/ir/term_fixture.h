/* A program with a few variables, and short words for making terms in it. */
#ifndef SN_TESTS_TERM_FIXTURE_H
#define SN_TESTS_TERM_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ir/intern.h"

typedef struct fixture {
    arena a;
    ir_program *p;
    ir_id x, y, i, j, b; /* variables: f32, f32, i64, i64, bool */
} fixture;

static inline int set_up(void **state)
{
    static fixture f;
    arena_init(&f.a, NULL);
    f.p = ir_program_new(&f.a);
    f.x = ir_var(f.p, T_F32);
    f.y = ir_var(f.p, T_F32);
    f.i = ir_var(f.p, T_I64);
    f.j = ir_var(f.p, T_I64);
    f.b = ir_var(f.p, T_BOOL);
    *state = &f;
    return 0;
}

static inline int tear_down(void **state)
{
    arena_free(&((fixture *)*state)->a);
    return 0;
}

static inline ir_id op1(fixture *f, ir_op op, ir_id a)
{
    return ir_op1(f->p, 0, op, a);
}

static inline ir_id op2(fixture *f, ir_op op, ir_id a, ir_id b)
{
    return ir_op2(f->p, 0, op, a, b);
}

static inline ir_id num(fixture *f, int64_t v)
{
    return ir_i64(f->p, v);
}

static inline ir_id real(fixture *f, float v)
{
    return ir_const(f->p, T_F32, ir_bits_f32(v));
}

static inline const char *last_error(fixture *f)
{
    return f->p->error.n ? f->p->error.at[f->p->error.n - 1].message : "no error";
}

/* for (k < n; z = from) next z * z + add */
static inline ir_id square_loop(fixture *f, ir_id from, ir_id n, ir_id add)
{
    ir_id z = ir_var(f->p, T_F32), k = ir_var(f->p, T_I64);
    ir_id next = op2(f, OP_ADD, op2(f, OP_MUL, z, z), add);
    ir_loop l = {.states = 1, .init = &from, .var = &z, .next = &next, .count = n, .index = k};
    return ir_loop_new(f->p, 0, &l);
}

/* An outer loop over w whose body runs square_loop from w. */
static inline ir_id nested_loop(fixture *f, ir_id from, ir_id n, ir_id add)
{
    ir_id w = ir_var(f->p, T_F32);
    ir_id inner = ir_proj(f->p, square_loop(f, w, n, add), 0), cond = op2(f, OP_LT, w, add);
    ir_loop l = {.states = 1, .init = &from, .var = &w, .next = &inner, .cond = cond};
    return ir_loop_new(f->p, 0, &l);
}

static inline ir_id vector(fixture *f, ir_type t, ir_id extent)
{
    return ir_input(f->p, 1, &t, 1, &extent);
}

#endif
