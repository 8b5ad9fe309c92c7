/* Private to embed/: the build in progress, what handles stand for, and the steps every operation takes.
 *
 * An operation is written as: start it (its place and name; array operations also check that no scalar function is
 * open), take its operands (handles become values; mistakes are reported), build terms, give a handle for the result.
 * Operands that could not be taken are NULL; whoever gets one gives a bad handle, silently: it was reported where it
 * arose. */
#ifndef SN_EMBED_VALUE_H
#define SN_EMBED_VALUE_H

#include "embed/build.h"

enum { MOST_DEPTH = 32 /* nesting of tuples */ };

/* The structure of a tuple; terms and types of its leaves are kept flat, in order. Immutable, shared. */
typedef struct tree {
    uint32_t leaves;
    uint32_t depth;
    bool leaf;
    uint32_t n; /* children, if it is no leaf; () has none */
    const struct tree **child;
    const char *const *name; /* of each child: fields of a struct; NULL: a tuple */
} tree;

typedef enum { VALUE_SCALAR, VALUE_ARRAY, VALUE_RESULTS, VALUE_NEIGHBOURS } value_kind;

typedef struct value value;
struct value {
    value_kind kind;
    const tree *tree;   /* of the scalar, or of an array's elements */
    const ir_id *term;  /* SCALAR: one a leaf. NEIGHBOURS: leaves of the first position, of the second, ... */
    const bool *weak;   /* SCALAR: per leaf, is it a C number, or a loop's state begun with one, that has not met a type
                         * yet? NULL: none is */
    ir_id array;        /* ARRAY */
    sn_pattern pattern; /* NEIGHBOURS */
    uint32_t n;         /* RESULTS */
    const value **part; /* RESULTS: arrays */
    ir_id only;         /* SCALAR of one leaf: where `term` and `weak` point */
    bool only_weak;
};

/* Variables [first, last] of a function that is open (being run) or was. */
typedef struct scope {
    ir_id first, last;
    uint32_t site; /* of the operation that the function was given to */
    bool open;
} scope;

/* The states of a loop whose function is being run: those begun with C numbers look for their types (loop.c). */
typedef struct trial {
    struct trial *outer;
    uint32_t n;
    const ir_id *var;
    ir_type *type; /* wanted, per state; T_NONE: its variable's */
    bool again;    /* some want another type than their variables have: what was built is void */
} trial;

/* What the states of a loop begun with C numbers were found to be, for when a function around it is run again: loops
 * inside that function come in the same order each time. */
typedef struct settled {
    uint32_t site, n;
    const ir_type *type; /* per state; NULL: not known */
    const bool *open;    /* it has met no other type */
    uint32_t mistakes;   /* made with these types, */
    const ir_error *mistake;
    bool accepted; /* and the next state was like the state */
    VEC(struct settled *) inside;
    uint32_t next; /* of these: the one that comes next in this run */
} settled;

typedef struct build_mark { /* words in the frame of a build, which are overwritten when it is gone */
    volatile uint64_t word[4];
} build_mark;

typedef struct build build;
typedef struct closed_region { /* a function of arrays that has been run, whose values nobody may use any more */
    uint32_t number;           /* of its build */
    uint32_t site;
} closed_region;

/* What a region takes from the program around it (region.c). */
typedef struct uses {
    VEC(ir_id) array;  /* there, in the order of the region's inputs, behind those of its state */
    VEC(ir_id) number; /* closed terms there, */
    VEC(uint32_t) dim; /* and the extent that has the value here */
    map64 value;       /* values there -> those here */
    struct ir_graft *graft;
} uses;

struct build {
    arena *arena;
    ir_program *program;
    uint32_t number;    /* upper half of its handles */
    sn_site at;         /* the last known place in the user's code */
    uint32_t functions; /* open ones */
    bool misplaced;     /* an array operation in the innermost was reported: what is made of it is not */
    VEC(value) value;   /* the lower half of a handle is an index here; 0 is unused */
    VEC(scope) scope;   /* ascending */
    const tree *leaf;
    trial *trial;    /* the innermost */
    settled *within; /* the loop whose function is being run; NULL: none */
    embed_constants *constants;
    map64 offsets;             /* lengths of segments -> where these begin */
    map64 segment_of;          /* (extent, offsets) -> the segments of positions */
    map64 extents;             /* terms known to be made of extents and constants */
    build *around;             /* a region's: the build of the program that it is part of; NULL: a program of its own */
    uses uses;                 /* a region's */
    uint32_t fresh;            /* of the outermost program: names of extents made so far, */
    VEC(closed_region) closed; /* and regions that are built */
    VEC(const ir_code *) codes; /* of the outermost program: foreign code of scalars */
    build *outer;               /* the build whose function began this one; NULL: none */
    uintptr_t frame;            /* where it stands on the stack, */
    bool placed;                /* the thread's own */
    const build_mark *mark;
    const embed_owner *owner;
};

/* current.c: builds are not in the frames of their functions, as they may be looked at when these are gone. */
build *build_current(uintptr_t here); /* of the calling thread, whose frame this is; NULL if none */
/* Gives it a number and makes it the current one. Its frame lives until build_leave, but for longjmp. */
void build_enter(build *b, uintptr_t frame, build_mark *mark);
void build_leave(const build *b); /* makes the one that was current before current again */

/* --- an operation --- */

typedef struct op {
    build *b;
    ir_program *p;
    uint32_t site;
    const char *name;
    uint64_t bad; /* the handle to give after a mistake */
} op;

/* False if no build is in progress; then only o->bad is set. */
bool op_start(op *o, sn_site at, const char *name);
bool op_start_here(op *o, const char *name); /* at the last known place */
/* The same for operations on arrays: false, and reported, inside a scalar function. */
bool op_start_array(op *o, sn_site at, const char *name);
/* Records a mistake; "name: " is put before it. Always NULL. */
void *op_fail(const op *o, const char *format, ...) SN_PRINTF(2, 3);

/* The value of a handle; NULL, and reported if new, if it has none of this kind. `what`: "operand 2". */
const value *op_take(const op *o, uint64_t bits, const char *what);
const value *op_take_scalar(const op *o, sn_scalar x, const char *what); /* a scalar or tuple of scalars */
const value *op_take_array(const op *o, sn_acc a);
/* A list of so many things that the user gives; false, and reported, if it is none. `what`: "indices". */
bool op_check_list(const op *o, int n, const void *list, const char *what);
/* A scalar of a single leaf, of this type if it is a C number (T_NONE: its own). 0 if it is none. */
ir_id op_take_leaf(const op *o, sn_scalar x, const char *what, ir_type type);
ir_id op_take_i64(const op *o, sn_scalar x, const char *what); /* any integer, converted */
/* All leaves of some scalars as i64, in order; false after a mistake. */
typedef VEC(ir_id) id_list;
bool op_index_leaves(const op *o, const value *v, const char *what, id_list *out);
bool op_take_indices(const op *o, uint32_t n, const sn_scalar *x, const char *what, id_list *out);
bool op_check_extent(const op *o, ir_id term); /* made of constants, extents and arrays of rank 0? */
/* A shape: its extents; false after a mistake. */
bool op_take_shape(const op *o, sn_scalar x, unsigned *rank, ir_id extent[IR_MAX_RANK]);

sn_scalar op_give_scalar(const op *o, const tree *t, const ir_id *term, const bool *weak); /* bad if a term is 0 */
sn_acc op_give_array(const op *o, const tree *t, ir_id array);
sn_scalar op_give_neighbours(const op *o, const value *neighbours);
sn_acc op_give_results(const op *o, uint32_t n, const value **part);
static inline sn_scalar op_bad_scalar(const op *o)
{
    return (sn_scalar){o->bad};
}
static inline sn_acc op_bad_array(const op *o)
{
    return (sn_acc){o->bad};
}

/* --- regions (region.c): functions of arrays that become programs within the program --- */

typedef struct region {
    build *b;
    op inside; /* the same operation, there */
    ir_region ir;
    build_mark mark;
} region;

/* Begins one, whose function is run until region_close; `frame`: of the caller, in which *r lies. False if regions are
 * too many within each other. */
bool region_open(const op *o, region *r, uintptr_t frame);
/* Ends it. Mistakes made in it are the program's if `keep`. */
void region_close(const op *o, region *r, bool keep);
/* Makes an extent whose value the run gives. */
ir_id region_extent(region *r, const char *what, uint32_t *dim);
/* A closed term of the program around, there. 0 if it is not closed. */
ir_id region_take(region *r, ir_id term);
/* An extent of the region as a term of the program around it; 0: it is none there. */
ir_id region_around(region *r, ir_id extent);
/* How the region's tables say which array is a result: its number among the outputs, or the input that it is. */
uint32_t region_result(region *r, ir_id array);
/* The array of rank 0 that has the value of an i64 term. */
ir_id embed_unit(const op *o, ir_id term);
/* Calls a function of arrays; its results, one or several, each an array. NULL after a mistake. */
const value *const *region_call(const op *o, sn_body f, uint32_t n, const sn_acc *argument, uint32_t *results);
sn_acc embed_run_body(sn_body f, uint32_t n, const sn_acc *a); /* build.c */
/* The value of a handle of a program around this region, in it: NULL, reported, if it cannot be used there. *known: it
 * is such a handle. */
const value *region_import(const op *o, uint32_t number, uint32_t id, const char *what, bool *known);

/* Opens the scope of the variables first to last (none if last < first), or opens it again; its number, for closing. */
uint32_t scope_open(const op *o, ir_id first, ir_id last);
void scope_close(const op *o, uint32_t number);

/* --- trees and types --- */

const tree *tree_leaf(build *b);
const tree *tree_tuple(const op *o, uint32_t n, const tree *const *child); /* NULL, reported, if it gets too large */
/* The same with names, which are kept; reported if two are equal. */
const tree *tree_struct(const op *o, uint32_t n, const tree *const *child, const char *const *name);
const tree *tree_flat(build *b, uint32_t n);   /* leaf for 1, else a tuple of n leaves: an index */
bool tree_equal(const tree *a, const tree *b); /* a tuple equals a struct with the same components */
/* Number of the field; -1, reported, if there is none of this name. `what`: the type in messages. */
int tree_field(const op *o, const tree *t, const char *name, const char *what);
/* Where the leaves lie in a C struct with these components, nested ones being structs, and the size of it, in bytes. */
size_t tree_layout(const tree *t, const ir_type *type, size_t *offset);
uint32_t tree_offset(const tree *t, uint32_t child); /* leaves before it */
void tree_text(text *out, const tree *t, const ir_type *type);
const ir_type *value_types(const op *o, const value *v); /* of the leaves of a scalar or array */
const char *value_text(const op *o, const value *v);     /* "(f32, i32)", "[n]f32" */
const char *type_text(const op *o, const tree *t, const ir_type *type);

/* --- literals (literal.c) --- */

/* The literal converted to a type, exactly; 0 and reported if the type does not have its value. A loop's state that was
 * begun with a literal notes the type it wants, and gives 0. */
ir_id embed_literal_as(const op *o, ir_id literal, ir_type type, const char *what);
bool embed_literal_fits(const op *o, ir_id literal, ir_type type); /* would that work? */
/* The type of the operands that are no literals; if all are, the widest, as in C. */
ir_type embed_common_type(const op *o, uint32_t n, const ir_id *term, const bool *weak);
/* The leaves with every literal converted to these types; NULL after a mistake. Other leaves are left alone. */
const ir_id *embed_settle(const op *o, const value *v, const ir_type *type, const char *what);
/* Gives literals among the operands the type of the others (all literals: the widest). False after a mistake. */
bool embed_unify(const op *o, uint32_t n, ir_id *term, const bool *weak);

/* --- powers (power.c) --- */

/* x^y: products, square roots and quotients if y is a constant for which these are as accurate, else the function. */
ir_id embed_power(const op *o, ir_id x, ir_id y);

/* --- functions (function.c) --- */

/* Calls f with these values while the variables [first, last] are open; NULL after a mistake. */
const value *embed_call(const op *o, sn_fn f, uint32_t n, const value *argument, ir_id first, ir_id last);
bool embed_declared_to_commute(sn_fn f);
/* For whatever combines elements in groups of its own choice: warns if fn, which f became, visibly does not associate
 * and was not declared to (sn_associative). `in_order`: what the message says of an operation that keeps the order, or
 * "". */
void embed_expect_associative(const op *o, sn_fn f, const ir_fn *fn, const char *in_order);
typedef struct lambda {
    ir_fn *fn;
    const tree *tree; /* of its result */
} lambda;
/* Closes fn, over whose parameters f gave `result`, which must have this structure and these types (wanted NULL: any).
 */
bool embed_close_lambda(const op *o, ir_fn *fn, const value *result, const tree *wanted, const ir_type *type,
                        lambda *out);
/* Makes a function from f: its parameters are variables of these structures, their types one after the other in
 * `type`; the rest as above. False, and reported, after a mistake. */
bool embed_lambda(const op *o, sn_fn f, uint32_t n, const tree *const *parameter, const ir_type *type,
                  const tree *wanted, const ir_type *wanted_type, lambda *out);
/* A function from an index to an index, all leaves made i64. NULL after a mistake. */
ir_fn *embed_index_lambda(const op *o, sn_fn f, unsigned rank, unsigned result_rank);
/* A function of an index of this rank without body; its parameters are fn->param. */
ir_fn *embed_index_fn(const op *o, unsigned rank);

/* What a fold or a scan combines: an array's elements with an operator, and initial values. */
typedef struct combination {
    const value *v;
    ir_fn *fn;
    const ir_id *seed; /* NULL: none */
    bool commutes;     /* the user says so */
} combination;
/* z NULL: no initial value; `in_order` as above. False, and reported, after a mistake. (fold.c) */
bool embed_combination(const op *o, sn_fn f, const sn_scalar *z, sn_acc a, const char *in_order, combination *out);

/* The array's numbers in the type that their sums have; 0 after a mistake. (fold.c) */
ir_id embed_summands(const op *o, sn_acc a);
/* Named folds, of the segments that begin at these offsets, or, if they are 0, of rows. */
sn_acc embed_accumulate(const op *o, ir_op which, int64_t neutral, sn_acc a, ir_id offsets);
sn_acc embed_extreme(const op *o, ir_op which, sn_acc a, ir_id offsets);
sn_acc embed_count(const op *o, sn_acc a, ir_id offsets);
ir_id embed_converted(const op *o, ir_id array, ir_type to); /* of one component */

/* --- segments (segment.c) --- */

typedef struct segments { /* what a descriptor says; i64 arrays */
    ir_id offsets;        /* where the segments begin, and behind them where the last one ends */
    ir_id number;         /* how many segments there are */
} segments;
/* The descriptor that the user gives: lengths of segments. False, and reported, after a mistake. */
bool embed_take_segments(op *o, sn_acc lengths, segments *out); /* the site of *o then says what their numbers are */
/* The number of the segment of each of `extent` positions: one array for all who ask for the same. */
ir_id embed_segment_of(const op *o, ir_id extent, ir_id offsets);

/* The array of one component of an array of tuples. */
sn_acc embed_component(const op *o, const value *array, uint32_t component);
ir_id embed_flatten(const op *o, ir_id array); /* of rank 1; 0 after a mistake */
const ir_type *embed_i64_types(void);          /* IR_MAX_RANK times T_I64 */

#endif
