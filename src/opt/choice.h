/* Operators of folds that choose one of their two operands by comparing a component: argmin, argmax and their like. */
#ifndef SN_OPT_CHOICE_H
#define SN_OPT_CHOICE_H

#include "ir/term.h"

typedef enum {
    OPT_NAN_LOSES, /* any number is chosen before a NaN; integers, too: the order of combination makes no difference */
    OPT_NAN_STAYS, /* a NaN on the left stays, and one on the right is passed over */
    OPT_NAN_TAKES  /* a NaN on the right is taken, and one on the left is passed over */
} opt_nan;

typedef enum { OPT_UNORDERED, OPT_ASCENDS, OPT_DESCENDS } opt_order;

typedef struct opt_choice {
    uint32_t key;  /* the component that decides */
    bool greatest; /* the greatest key is chosen, else the least */
    bool last;     /* of equal keys the right one, else the left one */
    opt_nan nan;   /* of floats */
    bool last_nan; /* of two NaNs the right one, else the left one */
} opt_choice;

/* Is the operator (of components left, components right) such a choice? order, per component: OPT_ASCENDS where the
 * left operand's integer is known to be less than the right one's, OPT_DESCENDS where it is greater; NULL: nothing is
 * known of any. */
bool opt_find_choice(ir_program *p, arena *a, const ir_fn *fn, const opt_order *order, opt_choice *out);

#endif
