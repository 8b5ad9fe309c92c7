/* What happens on the host during a call, as a tree of steps that can be printed: evaluate, check, allocate, launch,
 * free. The inner nodes of the tree are regions, whose body is a sequence of steps; so is the plan itself.
 *
 * A call goes through stages: stage s is what can be known when the first s clusters have run. A stage evaluates the
 * extents and conditions that it can, checks them, and launches cluster s. Results are computed in the caller's memory;
 * a buffer is allocated before the cluster that writes it and freed behind the last that reads it, so a call needs no
 * more memory than inputs, results and the boundaries between clusters.
 *
 * A cluster is one launch or several. Folds of long rows leave partial results, which further launches combine in
 * rounds: such a region ends when one result a row is left. Memory that the launches of a cluster hand to each other is
 * allocated, cleared, swapped and freed by steps of its own, like every other buffer.
 *
 * The order of the steps is one in which a call could do them alone. Launches that do not depend on each other may be
 * at work at the same time; that is for the device to see, by the memory that they touch.
 *
 * How many elements a pack has is known when they have been counted, often in the loop that packs them. Its buffer has
 * room for all that it may have, and its extent is read when something needs it: a later cluster, a condition, or at
 * the end.
 *
 * A plan is immutable and refers to the program by numbers only: safe from any thread. */
#ifndef SN_PLAN_PLAN_H
#define SN_PLAN_PLAN_H

#include "loop/cluster.h"
#include "plan/host.h"
#include "skeleton/skeleton.h"

typedef enum {
    PLAN_EVALUATE, /* host steps [index, last) */
    PLAN_SHAPE,    /* shape: extents are not negative, their product has 63 bits */
    PLAN_CHECK,    /* condition: two extents are equal */
    PLAN_RESULT,   /* result: where it goes has the right extents, or room */
    PLAN_ALLOC,    /* buffer */
    PLAN_CLEAR,    /* buffer: to zeros */
    PLAN_BEGIN,    /* buffer index gets the elements of buffer `last`, of the same shape */
    PLAN_SIZE,     /* launch: how it goes about these extents, and so what it leaves and what memory it needs */
    PLAN_LAUNCH,   /* launch, which has been sized */
    PLAN_SWAP,     /* buffer index and buffer `last` change their memory */
    PLAN_FREE,     /* buffer */
    PLAN_COPY,     /* result: from an input, or from an earlier result */
    /* Regions. The bodies of the first three are plans of their own, for the programs within the program: what comes in
     * are buffers and values of this plan. What a round gives becomes the state of the next where it is, and the last
     * state becomes the parts' buffers; nothing is copied, but what goes to the caller's memory. Else the steps behind
     * this one, up to step `last`, are the body. */
    PLAN_IF,      /* control: one of its plans */
    PLAN_FOREIGN, /* control: the user's function, else its plan */
    PLAN_WHILE,   /* control: its second plan, as long as it says so, if the first one does */
    PLAN_REPEAT,  /* control: its plan, so often */
    PLAN_ROUNDS   /* cluster: again and again while its last launch left several partial results a row, or rows that
                     are not sorted */
} plan_op;

typedef struct plan_step { /* in the order in which they are written down: the body of a region follows it */
    plan_op op;
    uint32_t index, last;
} plan_step;

typedef struct plan_shape {
    uint8_t rank;
    uint32_t extent[IR_MAX_RANK]; /* host steps */
    uint32_t site;                /* of an operation that has it */
} plan_shape;

typedef struct plan_check {
    uint32_t left, right; /* host steps */
    uint32_t site;
    const char *what;
} plan_check;

typedef enum {
    PLAN_INPUT,
    PLAN_OUTPUT,
    PLAN_TEMPORARY,
    /* What the launches of a cluster hand to each other. There is none where the launch leaves one result a row, or has
     * no use for a state. */
    PLAN_PARTIALS, /* a component of a fold, as often as the launch leaves partial results */
    PLAN_NEXT,     /* the same: where a round puts what it makes of the partial results */
    PLAN_STATE,    /* words of 64 bits, as many as the launch needs */
    PLAN_SPARE     /* a component of a sort, whose rounds move elements between this memory and the result's */
} plan_place;

typedef struct plan_buffer { /* one component of an array in memory */
    plan_place place;
    uint32_t port;   /* INPUT, OUTPUT: number among all components of the parameters, of the results */
    uint32_t launch; /* PARTIALS, NEXT, STATE, SPARE: it has the size that this launch needs */
    ir_id array;     /* 0 of STATE */
    uint32_t component;
    ir_type type;
    uint32_t shape;  /* PARTIALS, NEXT, STATE: the iteration space, whose rows have them */
    uint32_t room;   /* shape that there is memory for: the same, but for packs */
    uint32_t site;   /* of the operation that it is the result of */
    uint32_t within; /* 1 + the buffer that it is a part of; 0: none */
    uint32_t before; /* ... and 1 + that of the part before it */
    uint32_t over;   /* of a permute, or of a control's part: 1 + the buffer of a parameter that nobody reads from then
                        on, that it begins with or may be, whose memory it may have if the parameter is given away;
                        0: none */
} plan_buffer;

typedef struct plan_result { /* one component of a result */
    uint32_t buffer;         /* that holds it: its own (an OUTPUT), or another one that is copied */
    bool copied;
    bool counted; /* its extents are known only when a cluster has run */
} plan_result;

typedef struct plan_binding {  /* one extent of a parameter */
    uint32_t input, dimension; /* number of the parameter (not of its components) */
    bool named;
    uint32_t number; /* named: of the extent; else a host step */
} plan_binding;

typedef struct plan_control { /* a control (ir/term.h) */
    ir_id array;
    ir_control_form form;
    uint32_t number; /* among the controls of the program, whatever its clusters: by their ids */
    uint32_t site;
    const ir_control *of;
    VEC(uint32_t) input; /* per input: the buffer of its first component; neighbours follow */
    VEC(uint32_t) part;  /* per part: 1 + the buffer of its first component, 0: nobody reads it */
    VEC(uint32_t) value; /* host steps */
    VEC(uint32_t) whole; /* all buffers of inputs and parts */
    bool
        *dies; /* per input: a loop's initial state, or what a choice is made of, that nobody else reads, now or later.
                  Its memory, if it is the plan's own or was given away, goes with the first round or with the branch */
} plan_control;

typedef struct plan_cluster {
    uint32_t shape;            /* its iteration space */
    uint32_t segments;         /* of segment loops: 1 + the shape of one extent, how many segments a row has; else 0 */
    uint32_t site;             /* of its last operation */
    VEC(uint32_t) writes;      /* buffers */
    VEC(uint32_t) reads;       /* buffers */
    VEC(uint32_t) seedless;    /* folds without a seed: their sites */
    VEC(uint32_t) defaults;    /* buffers: permutes, what the buffers that they write begin with; none: it is there */
    VEC(uint32_t) begun;       /* ... and which these are, as many */
    bool folds;                /* there are results of no elements */
    bool carries;              /* launches may share words (SK_STATE), */
    bool zeros;                /* ... all zero before the first */
    bool sorts;                /* words again, whatever they are; and memory beside the result */
    bool permutes;             /* it begins with its defaults */
    uint32_t places;           /* permutes: shape of the result */
    uint32_t launch, launches; /* its first, and how many */
    bool shares;               /* another loop, and neither depends on the other, reads one of the same buffers */
    uint32_t control;          /* 1 + number in plan.control; 0: it is a loop */
    bool placed;               /* its result is joined of parts that have been computed there: nothing is left to do */
} plan_cluster;

/* A kernel's launch. Components of its partial results are neighbours: `in` and `out` are the first. */
typedef struct plan_launch {
    uint32_t cluster;
    sk_pass pass;
    uint32_t partials; /* components that all folds of the cluster accumulate; 0: none are handed on */
    uint32_t in, out;  /* buffers: partial results that a round combines, and what the launch leaves of them */
    uint32_t state;    /* buffer, of clusters that carry or sort */
    uint32_t spare;    /* sorts: buffer, of the first component */
} plan_launch;

typedef struct plan {
    arena *arena;
    host_code host;
    VEC(plan_step) step;
    VEC(plan_shape) shape;
    VEC(plan_check) check;
    VEC(plan_buffer) buffer;
    VEC(plan_result) result;
    VEC(plan_binding) binding;
    VEC(plan_cluster) cluster;
    VEC(plan_launch) launch;
    VEC(plan_control) control;
    VEC(const char *) dim;  /* names */
    VEC(ir_number) number;  /* those whose values are known */
    VEC(const char *) name; /* per buffer, of the operation, for print */
    const uint32_t *label;  /* per array node: n of its name "an" in texts; the clusters' */
    uint32_t inputs;        /* parameters */
    uint32_t *input_first;  /* per parameter: number of its first component */
    uint8_t *input_rank;
    bool apart; /* there are loops that do not depend on each other: devices may do their launches at the same time */
    map64 buffer_of; /* array << 8 | component -> 1 + buffer */
} plan;

/* Makes the plan of a program's clusters for a device, in the program's arena; adds no terms. Linear but for sorting.
 */
plan *plan_make(const sk_program *s, const sk_options *options);
void plan_print(const plan *p, text *out);

/* The step that follows one in its sequence. */
static inline uint32_t plan_behind(const plan *p, uint32_t step)
{
    return p->step.at[step].op == PLAN_ROUNDS ? p->step.at[step].last : step + 1;
}

/* The buffer of an array's component; false if it is never in memory. */
static inline bool plan_find(const plan *p, ir_id array, uint32_t component, uint32_t *buffer)
{
    uint32_t found = map64_get(&p->buffer_of, (uint64_t)array << 8 | component);
    *buffer = found - 1;
    return found != 0;
}

#endif
