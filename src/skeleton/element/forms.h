/* How terms change from one position of a loop to the next: the one analysis of index arithmetic behind the shapes of
 * loops. */
#ifndef SN_SKELETON_FORMS_H
#define SN_SKELETON_FORMS_H

#include "skeleton/element/lower.h"

#include "opt/rewrite.h"

/* The variables of a loop: those that grow by one from position to position, and those that stand still. */
typedef struct sk_directions {
    uint32_t along, still;
    ir_id moving[2], fixed[IR_MAX_RANK];
    bool roughly; /* minima, maxima and absolute values move as one of their operands does, which is so for most
                     positions; rounds of scalar loops stand still */
    bool between; /* minima and maxima of what moves by one and what stands still move, and absolute values of what
                     moves by one, as they do where loops are cut at their ends (map/stretches.h) */
} sk_directions;

typedef enum { SK_UNKNOWN, SK_FIXED, SK_MOVING } sk_form_kind;

typedef struct sk_form { /* of a term */
    uint8_t kind;
    bool reads;   /* something in memory */
    int64_t step; /* MOVING: from one position to the next */
} sk_form;

typedef struct sk_forms {
    const ir_program *p;
    opt_ids ids;   /* operands before users */
    sk_form *form; /* of ids.at[i] in [i + 1]; [0]: of what is not there */
    map64 number;  /* of a term in ids, plus 1 */
} sk_forms;

/* Linear in the size of the terms. */
sk_forms sk_find_forms(const sk_lower *lw, uint32_t n, const ir_id *term, const sk_directions *d);
sk_form sk_form_of(const sk_forms *f, ir_id term);
/* Is the term a number near 0? */
bool sk_small_literal(const ir_program *p, ir_id term, int64_t *value);

#endif
