/* How launches of permutes are divided: what their schedules and whoever gives them memory must agree on. */
#ifndef SN_SKELETON_PERMUTE_H
#define SN_SKELETON_PERMUTE_H

#include "skeleton/variants.h"

/* slots of both passes */
enum {
    SK_PERMUTE_ELEMENTS, /* of the source */
    SK_PERMUTE_PLACES,
    SK_PERMUTE_BLOCKS, /* of the source, each with a table of totals if they are several: tables */
    SK_PERMUTE_LENGTH, /* of a block */
    SK_PERMUTE_RANGES, /* of places */
    SK_PERMUTE_RANGE,  /* places in each */
    SK_PERMUTE_COPIES, /* in shared memory, of each place */
    SK_PERMUTE_APART   /* places from one of these copies to the next; records from one table to the next */
};

/* sk_geometry.row: what kernels are made for */
enum {
    SK_PERMUTE_TABLES = 1,
    SK_PERMUTE_DIVIDED = 2,
    SK_PERMUTE_COUNTS = 4,    /* tables say how many elements there are, in 32 bits */
    SK_PERMUTE_RARELY = 16,   /* most elements change nothing */
    SK_PERMUTE_FAR = 32,      /* a table is larger than what a core has at hand */
    SK_PERMUTE_ROWS = 64,     /* elements of a row go to neighbouring places: vectors */
    SK_PERMUTE_VECTOR = 128,  /* a record is one vector */
    SK_PERMUTE_ALONG = 256,   /* rows are long enough to be gone along one after the other, where that helps */
    SK_PERMUTE_SEVERAL = 512, /* elements of a block go to its SK_PERMUTE_TABLES_OF_BLOCK tables in turn */
    SK_PERMUTE_SHORT = 1024,  /* ... but so short that gangs are, too */
    SK_PERMUTE_FEW = 8        /* places are numbers of 32 bits */
};

/* Components of one operation that are combined without looking at its others. */
typedef struct sk_permute_part {
    const ir_fn *fn;               /* of the operation; NULL: the last element stays */
    uint32_t op, first;            /* its number in the cluster, and that of its first component among all */
    uint32_t n;                    /* components, */
    uint8_t of[IR_MAX_COMPONENTS]; /* as the operation numbers them */
    bool identity;                 /* what changes nothing when it is combined is known */
    bool chooses;                  /* it gives the new element or the old one */
} sk_permute_part;

/* Components that are all combined by one primitive: a record of them may be one vector. Those that say how many
 * elements there are count in the type of the others; maxima of integers are minima of all their bits turned. */
typedef struct sk_permute_vector {
    uint32_t lanes; /* a power of two; 0: they are not combined alike */
    ir_type type;
    ir_op op;
    ir_bits identity;
    int64_t longest; /* block, in which counts are exact */
    bool counts[IR_MAX_COMPONENTS], turned[IR_MAX_COMPONENTS];
} sk_permute_vector;

/* What the permutes of a cluster combine, component by component. All of them name the same places. */
typedef struct sk_permuted {
    uint32_t n, parts;
    ir_id anchor[IR_MAX_COMPONENTS]; /* per component: of which operation, */
    uint32_t own[IR_MAX_COMPONENTS]; /* its number there, */
    ir_type type[IR_MAX_COMPONENTS];
    ir_bits identity[IR_MAX_COMPONENTS]; /* what changes nothing, if its part has that */
    const ir_array *to;                  /* has the shape of the places */
    bool last;                           /* of several elements for one place the last one stays */
    bool identities;                     /* all parts have one */
    const ir_fn *blocks;                 /* the operator whose blocks the source is cut into; NULL: any */
    sk_permute_part part[IR_MAX_COMPONENTS];
    sk_permute_vector vector;
} sk_permuted;

typedef struct sk_permute_cut {
    int64_t blocks, length, ranges, range;
    bool tables, counts, rarely;
} sk_permute_cut;

/* Blocks and ranges; of operators whose bits depend on the order of combination the blocks depend on these two numbers
 * only. */
sk_permute_cut sk_permute_plan(const sk_cluster *c, const sk_options *o, int64_t elements, int64_t places);

/* Tables of totals, in the words of the cluster's state: a record for each place of each block, one block behind the
 * other. What is combined together lies together, on one line or two. */
typedef struct sk_permute_record {
    int64_t bytes, offset[IR_MAX_COMPONENTS]; /* of a record; where its components are, multiples of their sizes */
    int64_t
        has[IR_MAX_COMPONENTS]; /* per part: where a byte says whether there is a total, if it has no identity; else 0
                                 */
    bool flags;                 /* some part has such a byte */
} sk_permute_record;
/* kind: SK_PERMUTE_COUNTS, SK_PERMUTE_VECTOR or neither. */
sk_permute_record sk_permute_layout(const sk_cluster *c, unsigned kind);

/* Threads of a block, each with every so many-th place of the block's range; places that a piece of the second pass
 * combines. */
enum { SK_PERMUTE_THREADS = 256, SK_PERMUTE_MERGED = 4096 };
/* Elements that follow each other may well have one place, and would wait for each other's stores. */
enum { SK_PERMUTE_TABLES_OF_BLOCK = 4 };
/* Lanes of gangs along rows that are not long. */
enum { SK_PERMUTE_SHORT_LANES = 16 };
/* Is the element the same wherever it is asked for? */
bool sk_is_alike(const ir_program *p, ir_id element);
/* Does the part choose one of its operands? By which condition, and is it the new one that is taken where it holds? */
bool sk_permute_choice(const ir_program *p, const ir_fn *fn, const sk_permute_part *part, ir_id *condition,
                       bool *takes_new);
bool sk_permute_extreme(const ir_program *p, const sk_permute_part *part); /* is it a minimum or maximum? */
int64_t sk_permute_bytes(const sk_permuted *m);                            /* of an element */
/* Whether the components are combined alike. `element`: their terms. */
sk_permute_vector sk_permute_alike(const ir_program *p, const sk_permuted *m, const ir_id *element);

#endif
