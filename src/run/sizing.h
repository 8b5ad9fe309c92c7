/* How launches go about extents that only a run tells, as formulas, for whoever launches them without Sinter.
 *
 * A launch of which one number is not known (an extent, or how many partial results are left) is planned for each
 * value that the number may have, as a call would. What comes out is constant, or grows in steps, over long stretches:
 * each stretch has one kernel, and formulas for all that the launch is given. Formulas are guessed, and compared with
 * plans: of the first numbers of a stretch with each, then with a sample on both sides of where they change. */
#ifndef SN_RUN_SIZING_H
#define SN_RUN_SIZING_H

#include "run/program.h"

#include "kernel/narrow.h"

enum { RUN_PIECES, RUN_PARTIALS, RUN_WORDS, RUN_SLOT, RUN_NUMBERS = RUN_SLOT + SK_SLOTS };

typedef enum {
    RUN_IN_STEPS, /* (times * m + plus) / over, m being how many `unit` make n */
    RUN_INVERSE,  /* over / n */
    RUN_SHARES,   /* how many of slot `unit` make times * n, */
    RUN_PARTS     /* ... or `times` */
} run_quotient;

typedef struct run_formula { /* of n: base + step * a quotient. Those of slots are made of n alone */
    int64_t base, step, quotient, times, plus, over, unit;
} run_formula;

typedef struct run_stretch {
    int64_t last;               /* for numbers up to this one */
    const run_variant *variant; /* NULL: there is nothing to launch */
    run_formula of[RUN_NUMBERS];
} run_stretch;

typedef struct run_found { /* a kernel that no call has needed */
    const run_program *r;
    uint32_t cluster;
    run_variant *v;
} run_found;

typedef struct run_sizer { /* kernels that have been built for launches that no call has made */
    arena *arena;
    VEC(run_found) found;
} run_sizer;

typedef struct run_asked { /* a launch */
    run_program *r;
    uint32_t cluster;
    sk_round round;
    int64_t extent[IR_MAX_RANK];
    int64_t least, most;             /* the number is from here to there; alike: all is known */
    unsigned extents;                /* bits: these extents are the number; */
    bool places, segments, partials; /* so are these of the round, `places` times what stands there */
    bool flat;      /* plain loops: there are as many elements as the number says, whatever their extents */
    int64_t behind; /* sorts by comparison: their rounds behind the first launch, of which so many are done; else -1 */
    /* Between which values an argument of a variant lies that is no geometry. */
    k_range (*argument)(void *env, const run_variant *v, uint32_t number);
    void *env;
} run_asked;

/* Stretches for all numbers, in order; their number. 0 and *why: there are none. */
uint32_t run_size_all(run_sizer *s, const run_asked *asked, const run_stretch **out, const char **why);

static inline int64_t run_formula_quotient(const run_formula *f, int64_t n, const int64_t *slot)
{
    const int64_t all = f->quotient == RUN_PARTS ? f->times : f->times * n;
    switch (f->quotient) {
    case RUN_IN_STEPS:
        return (f->times * ((n + f->unit - 1) / f->unit) + f->plus) / f->over;
    case RUN_INVERSE:
        return n ? f->over / n : 0;
    default:
        return slot[f->unit] > 0 ? (all + slot[f->unit] - 1) / slot[f->unit] : 0;
    }
}

/* All numbers of a stretch. */
static inline void run_numbers_at(const run_stretch *x, int64_t n, int64_t out[RUN_NUMBERS])
{
    for (int i = RUN_NUMBERS - 1; i >= 0; i--)
        out[i] = x->of[i].base + x->of[i].step * run_formula_quotient(&x->of[i], n, out + RUN_SLOT);
}

#endif
