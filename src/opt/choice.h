/* Operators of folds that choose one of their two operands by comparing a component: argmin, argmax and their like. */
#ifndef SN_OPT_CHOICE_H
#define SN_OPT_CHOICE_H

#include "ir/term.h"

typedef struct opt_choice {
    uint32_t key;  /* the component that decides */
    bool greatest; /* the greatest key is chosen, else the least */
    bool last;     /* of equal keys the right one, else the left one */
    bool total;    /* integers, and floats where any number beats a NaN: the order of combination makes no difference.
                      Else a NaN on the left stays, and one on the right is passed over */
} opt_choice;

/* Is the operator (of components left, components right) such a choice? */
bool opt_find_choice(const ir_program *p, const ir_fn *fn, opt_choice *out);

#endif
