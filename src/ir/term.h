/* Terms: typed array operations over typed scalar terms, one DAG per program.
 *
 * - Every node has an id; operands have smaller ids than the nodes that use them, so a loop over ids is a topological
 *   order and no pass needs recursion. Id 0 is "none".
 * - Scalar nodes are interned: equal term, equal id (commutative operators are compared without regard to the order of
 *   their operands, which stays as first written, constants last; loops up to the names of their variables), so common
 *   subexpressions are one node. Array nodes are not interned: sharing is the identity of nodes.
 * - Tuples are flattened (Accelerate's representation types, thesis §3.1.6): an array has `components` scalar types and
 *   is stored as one array per component; a scalar function has any number of parameters and results.
 * - Variables are unique: each binder owns fresh IR_VAR nodes. ir_instantiate freshens inner binders.
 * - An extent is a closed scalar term of type i64 (interned, sums and products normalised by ir/extent.c):
 *   same term, same extent.
 *
 * A program is built by one thread at a time and only read afterwards (then by any number of threads). */
#ifndef SN_IR_TERM_H
#define SN_IR_TERM_H

#include "base/base.h"
#include "ir/ops.h"

typedef uint32_t ir_id;

enum { IR_MAX_RANK = 8, IR_MAX_PATTERN = 9, IR_MAX_COMPONENTS = 64, IR_MAX_NESTING = 64 };

typedef enum {
    IR_NONE,
    /* scalar terms */
    IR_CONST,  /* literal */
    IR_VAR,    /* bound by a function or a loop */
    IR_DIM,    /* the extent named literal-th in program->dim; i64 */
    IR_OP,     /* op applied to arguments */
    IR_COND,   /* (condition, then, else); only the chosen branch is evaluated */
    IR_LOOP,   /* loop over state, see ir_loop; has no value itself, IR_PROJ reads the state after it */
    IR_PROJ,   /* (loop); component literal of its final state */
    IR_READ,   /* (index...): element of `array`, component literal; partial unless flag SAFE; LINEAR: one flat index */
    IR_WITHIN, /* (index[, element]): the index, which must be inside a dimension of `array`, see ir_within; partial */
    IR_AFTER,  /* (value, term...): the value, once the other terms are evaluated */
    IR_CALL,   /* (fallback, operand...): what foreign code computes of the operands where the program's device has some
                  (ir_called), else, and in the interpreter, the fallback */
    /* array terms */
    IR_INPUT,    /* parameter number `literal` of the program */
    IR_GENERATE, /* fn(index...) over `shape` */
    IR_MAP,      /* fn(components of all inputs...): map, zip_with, zip, unzip; INDEXED: fn(index..., components...) */
    IR_BACKPERMUTE, /* fn(index...) -> index of input 0; SAFE: provably inside (replicate, slice, transpose ...) */
    IR_RESHAPE,     /* same elements in row-major order, other shape; sizes checked */
    IR_FOLD,    /* fn(left..., right...) along the innermost dimension; seed values (none: fold1, must not be empty) */
    IR_STENCIL, /* fn(neighbours of input 0, then of input 1 ...), see ir_stencil */
    IR_SCAN, /* fn(left..., right...) along the innermost dimension, or one with `behind` others behind it: element i of a row is seed (+) x0 (+) ... (+) xi,
                or, EXCLUSIVE, up to x(i-1), which needs a seed; RIGHT: from the other end, xi (+) ... (+) seed */
    IR_PACK, /* of input 1, in order, the elements for which input 0 (bool) holds; all of rank 1. Its extent reads a
                fold of rank 0 that counts them, so it is known when that has run */
    IR_SORT, /* rows of input 0 along the innermost dimension, in order; elements that are equal stay in theirs. Its
                first `keys` components are compared, one after the other; or fn(left..., right...) -> left comes before
                right. DESCENDING: from the greatest to the least. NaNs, which are equal, come last in both, -0 before 0
              */
    IR_PERMUTE, /* input 0 with the elements of input 2 combined into it, fn(new..., old...): element i of input 2 into
                   the one that input 1, of the same shape, names by an index component each; one with an IR_DROPPED is
                   dropped. fn associates and commutes; NULL: the last element, in row-major order, stays */
    IR_FOLD_SEG, /* a fold of each segment of the innermost dimension of input 0; input 1, offsets, says where segments
                    begin: n + 1 numbers, from 0 to the extent, that do not fall. What they are is checked when it runs.
                    Shape: the segments in place of the innermost dimension. No seed values: no segment may be empty */
    IR_SCAN_SEG, /* as IR_SCAN, of each segment of the innermost dimension by itself; input 1: offsets, as above */
    IR_SEGMENT_OF, /* of rank 1, i64: the number of the segment that each position is in; input 0: offsets, as above */
    IR_FORCE,   /* to memory, a fusion barrier */
    IR_CONTROL, /* programs within the program, of which the run chooses, or which it repeats: see ir_control. It has no
                   elements itself, IR_PART reads its results */
    IR_PART,    /* result number `args` of input 0, a control. EXTENT: of rank 0, and an extent of another part */
    IR_KIND_COUNT
} ir_kind;

enum {
    IR_SAFE = 1,       /* IR_READ, IR_BACKPERMUTE: the index is inside wherever the program evaluates it */
    IR_LINEAR = 2,     /* IR_READ */
    IR_INDEXED = 4,    /* IR_MAP */
    IR_COMMUTES = 8,   /* IR_FOLD, IR_FOLD_SEG: the operator commutes */
    IR_EXTENT = 1,     /* IR_PART */
    IR_SOURCE = 1,     /* IR_RESHAPE: it goes to memory, and its loop goes over the shape of what it is made of */
    IR_EXCLUSIVE = 1,  /* IR_SCAN, IR_SCAN_SEG: an element does not take part in its own result */
    IR_DESCENDING = 1, /* IR_SORT by keys */
    IR_RUNS = 2,       /* IR_SORT: its row may well be two sorted ones, one behind the other, and then they are merged */
    IR_RIGHT = 2,      /* IR_SCAN, IR_SCAN_SEG: from the right end; the operator's left operand is still the one further left */
    IR_ALONG = 16, /* IR_GENERATE, IR_MAP: its loops that combine the elements of a row may do so in the order of folds */
    IR_ALWAYS = 16,    /* IR_READ, with IR_SAFE: inside even where no guard asks for it, and cheap: made by skeletons */
    IR_FUSED = 32,     /* arrays: computed anew at each use, whatever it costs, wherever that is possible */
    IR_STEP =
        64, /* arrays: the user never sees it: a step of the operation, of the same site and name, that reads it */
    IR_STORED = 128 /* for ir_read: the element in memory, also where it is plain to see what it is; kept nowhere */
};

/* The index component that says that an element of a permute's source goes nowhere. */
#define IR_DROPPED INT64_MIN

typedef enum { IR_CLAMP, IR_MIRROR, IR_WRAP, IR_CONSTANT, IR_FUNCTION } ir_boundary;

/* A scalar function: variables, results (terms over them) and the loops inside. Results may mention IR_DIMs, reads of
 * arrays, and variables of enclosing functions only while a closure is being built. */
typedef struct ir_fn {
    uint32_t params, results;
    ir_id *param;  /* IR_VAR nodes */
    ir_id *result; /* scalar nodes */
} ir_fn;

/* while (cond(state)) state = next(state); or, counted: for (index = 0; index < count; index++) state = next(index, state) */
typedef struct ir_loop {
    uint32_t states;
    ir_id *init;  /* terms outside */
    ir_id *var;   /* IR_VAR per state, inside */
    ir_id *next;  /* terms inside */
    ir_id cond;   /* bool term inside; 0 for a counted loop */
    ir_id count;  /* i64 term outside; 0 for a while loop */
    ir_id index;  /* IR_VAR i64 inside; counted only */
    uint32_t depth; /* set by ir_loop_new: 1 + the largest of the loops inside; at most IR_MAX_NESTING */
} ir_loop;

/* One stencil input: pattern extents (odd), and what lies outside the array. Parameters of fn: for each input, for each
 * pattern position in row-major order, each component. Unused positions cost nothing. */
typedef struct ir_stencil {
    uint8_t extent[3];      /* outermost first, one per dimension of the array (rank 1 to 3) */
    ir_boundary boundary;
    ir_id *constant;        /* IR_CONSTANT: a closed term per component */
    ir_fn *function;        /* IR_FUNCTION: fn(index of the position outside...) -> components */
} ir_stencil;

/* A program within a program: arrays come in as its inputs, numbers from outside as some of its extents. It shares the
 * table of places with the program around it (ir_program.outer), and has no data of its own. */
typedef struct ir_region {
    struct ir_program *program;
    uint32_t *source; /* per input of the program: which input of the control it is */
    uint32_t values;  /* extents of the program whose values come from outside: */
    uint32_t *value;  /* which of the control's values each is, */
    uint32_t *dim;    /* and the number of the extent in the program */
    uint32_t index;   /* REPEAT: 1 + the number of the extent that is the number of the round, from 0; 0: none is */
    uint32_t rounds;  /* REPEAT: how many it goes at once; 1 of the first region, which all others are made of */
    uint32_t many;    /* ... 1 + the number of the extent that is how many, up to `rounds`; 0: always `rounds` */
    uint32_t most;    /* 1 + the number of the value that they are at most, below 2: it does not pay; 0: none is */
    uint32_t limit;   /* many: 1 + the number of the value up to which rounds are numbered that it may go; 0: none is */
    uint32_t *result; /* per result: the number of an output, or IR_PASSED and the number of an input of the program */
} ir_region;

enum {
    IR_PASSED = 1 << 30,
    IR_MOST_CONTROLS = 16, /* within each other */
    IR_MOST_REGIONS = 8    /* of one */
};

typedef enum {
    IR_CHOICE, /* regions 0 and 1: computed if value 0 (bool) holds, and otherwise. No states; results: the parts */
    IR_WHILE,  /* region 0: of the state, whether to begin (its only result); region 1: of the state, the next state, and,
                  as last result, whether to go on with that */
    IR_REPEAT, /* value 0 (i64): how often. Region 0: of the state, the next one; the others, if there are any, several
                  rounds at once */
    IR_FOREIGN /* region 0: what the user's function computes, where there is one. No states; one result */
} ir_control_form;

/* A function of the user's, of some of a control's inputs. */
typedef struct ir_foreign {
    const char *name;
    const struct sn_foreign_code *code; /* a copy */
    uint32_t operands;
    uint32_t *operand; /* which inputs */
} ir_foreign;

/* Foreign code of scalars: a function's source for each kind of device, or a function of the host's for the CPU, which
 * kernels are given the address of. */
typedef enum { IR_CODE_NONE, IR_CODE_LLVM, IR_CODE_OPENCL, IR_CODE_CUDA, IR_CODES } ir_code_kind;
enum { IR_MOST_CALLED = 8 /* operands of a function */, IR_MOST_GIVEN = 4 /* results */ };
typedef struct ir_native { /* for so many lanes at once: where the values of each operand and of each result lie */
    void (*call)(void *env, int64_t count, const void *const *in, void *const *out);
    void *env;
} ir_native;
typedef struct ir_code {
    const char *name;             /* of the function in the sources */
    const char *source[IR_CODES]; /* NULL: there is none */
    const ir_native *host;          /* where there is no text of LLVM's; NULL: there is none */
    uint8_t results, part;        /* of several results, the one that the call is; 0: there is one */
    uint8_t type[IR_MOST_GIVEN];  /* of each, if there are several */
} ir_code;

typedef struct ir_control {
    uint8_t form;
    uint32_t states; /* of a loop: inputs [0, states) are the initial state, its regions' first inputs the state. All other
                        inputs are what regions use from outside */
    uint32_t parts;  /* results; loops: the states */
    uint32_t regions;
    ir_region *region;
    uint32_t values;
    ir_id *value; /* closed terms, i64 but for a CHOICE's first */
    uint32_t depth; /* 1 + the largest of the controls inside */
    const ir_foreign *foreign; /* FOREIGN; NULL: there is none, as in programs that were read from texts */
} ir_control;

/* What an array node has beside its operands. */
typedef struct ir_array {
    uint8_t rank;
    uint8_t components;
    uint8_t keys;            /* SORT: how many components are compared; 0: its function compares */
    uint8_t behind;          /* SCAN: dimensions behind the one that it goes along; 0: that is the innermost */
    ir_type *type;           /* per component */
    ir_id shape[IR_MAX_RANK]; /* extents, outermost first */
    uint32_t inputs;
    ir_id *input;            /* array operands */
    ir_fn *fn;               /* NULL if the operation has none */
    ir_id *seed;             /* FOLD, FOLD_SEG, SCAN, SCAN_SEG: a closed scalar term per component, or NULL */
    ir_stencil *stencil;     /* STENCIL: one per input */
    ir_control *control;     /* CONTROL */
    const char *name;        /* the user's operation ("zip_with", "replicate"), for messages, text and explain */
    const void *data; /* INPUT: its elements, if the program brings them along: contiguous, one component, constant
                       * extents; such inputs stand behind those that calls give. NULL: a parameter */
} ir_array;

typedef struct ir_node {
    uint8_t kind;  /* ir_kind */
    uint8_t type;  /* ir_type of a scalar; T_NONE for arrays and loops */
    uint8_t flags;
    uint8_t op;    /* ir_op of IR_OP */
    uint32_t site; /* index into program->site; 0: unknown. Not part of a scalar's identity: the first use's is kept */
    uint32_t args; /* scalars: first argument in program->arg; IR_INPUT: number of the parameter */
    uint32_t n;    /* number of arguments */
    ir_id array;   /* IR_READ, IR_WITHIN: the array */
    ir_id scope;   /* scalars: largest id among the variables it depends on, 0 if closed */
    union {
        ir_bits literal; /* IR_CONST bits; IR_DIM, IR_PROJ, IR_READ: number; IR_WITHIN: site and dimension */
        ir_loop *loop;   /* IR_LOOP */
        const ir_code *code; /* IR_CALL */
        ir_array *info;  /* array nodes */
    } u;
    bool partial; /* evaluating this scalar, operands included, may fail (loops: any part of them) */
} ir_node;

typedef struct ir_site { /* a place in the user's program */
    const char *file;    /* kept in the program's arena; NULL: unknown */
    uint32_t line;
    const char *operation;
    uint8_t wide; /* set of 1 << dimension: the index there is unsigned, 64 bits wide, and to be reported so; of segments: */
} ir_site;
enum { IR_WIDE_LENGTHS = 1, IR_WIDE_OFFSETS = 2 }; /* which of them are of u64 */

typedef struct ir_number { /* an extent whose value the program brings along */
    uint32_t dim;
    int64_t value;
} ir_number;

typedef struct ir_check { /* a shape condition that survives fusion: left == right at run time */
    ir_id left, right;    /* extents */
    uint32_t site;
    const char *what;     /* "zip_with: the operands' extents differ in dimension 0"; ": 3 and 4" is put behind it */
} ir_check;

typedef struct ir_error { /* a mistake of the user, collected while building */
    uint32_t site;
    const char *message; /* complete, without the place */
} ir_error;

typedef struct ir_program {
    arena *arena;
    VEC(ir_node) node;
    VEC(ir_id) arg;
    VEC(ir_site) site;
    VEC(const char *) dim; /* names of extents in the signature; dim.at[k] for IR_DIM k */
    VEC(ir_number) number; /* the names among them that stand for numbers */
    VEC(ir_id) input;      /* IR_INPUT nodes in order */
    VEC(ir_id) output;     /* array nodes in order of the results */
    VEC(ir_check) check;
    VEC(ir_error) error;
    VEC(ir_error) warning; /* of a program that is correct, but perhaps not what was meant; one a place */
    const char *signature; /* of a program that was read, if its text has one; NULL otherwise */
    struct ir_program *outer; /* that this one is a region of: its places are numbered as the outermost one's; NULL: none */
    uint8_t code;          /* ir_code_kind of the device that the program is for */
    bool contracted;       /* products have become part of sums, which happens once (opt/contract.h) */
    bool plain;            /* scalar operators and conditions are built as they are asked for: nothing is simplified */
    intern_table scalars;
    struct ir_state *state; /* of the builders alone (intern.h) */
} ir_program;

/* --- building (term.c). Builders check types and shapes and record errors with ir_fail, returning 0; an operand of 0
 *     gives 0 silently, so one mistake is reported once. `site` comes from ir_site_at. --- */

ir_program *ir_program_new(arena *a);
/* Another one in the same arena and of the same kind, with the same extents and numbers, and no arrays. */
ir_program *ir_program_like(const ir_program *p);
uint32_t ir_site_at(ir_program *p, const char *file, uint32_t line, const char *operation); /* interned */
ir_id ir_fail(ir_program *p, uint32_t site, const char *format, ...) SN_PRINTF(3, 4); /* always 0 */
void ir_warn(ir_program *p, uint32_t site, const char *format, ...) SN_PRINTF(3, 4);  /* once a site */

static inline const ir_node *ir_at(const ir_program *p, ir_id id)
{
    return &p->node.at[id];
}
static inline const ir_id *ir_args(const ir_program *p, ir_id id)
{
    return p->arg.at + p->node.at[id].args;
}
static inline bool ir_is_array(const ir_program *p, ir_id id)
{
    return p->node.at[id].kind >= IR_INPUT;
}
static inline bool ir_is_along(const ir_program *p, ir_id id) /* a reshape that goes along its source: IR_SOURCE */
{
    return p->node.at[id].kind == IR_RESHAPE && p->node.at[id].flags & IR_SOURCE;
}
static inline const ir_array *ir_info(const ir_program *p, ir_id id) /* array nodes only */
{
    return p->node.at[id].u.info;
}

void ir_follow_sites(ir_program *p); /* of a region's program: those of the program around it are there, too */
uint32_t ir_site_wide(ir_program *p, uint32_t site, unsigned wide); /* the same with more `wide`; 0 stays 0 */
/* The site of a read or a backpermute at these indices: that given, with `wide` as they are; 0 stays 0. */
uint32_t ir_site_of_indices(ir_program *p, uint32_t site, uint32_t n, const ir_id *index);

/* scalars */
ir_id ir_const(ir_program *p, ir_type t, ir_bits bits);
ir_id ir_i64(ir_program *p, int64_t value);
ir_id ir_bool(ir_program *p, bool value);
ir_id ir_var(ir_program *p, ir_type t);                     /* fresh */
ir_id ir_dim(ir_program *p, const char *name);              /* one name, one term */
/* Does the k-th extent stand for a number? */
bool ir_number_of(const ir_program *p, uint32_t k, int64_t *value);
ir_id ir_named_number(ir_program *p,
                      int64_t value); /* a fresh extent of this value: code with it does not depend on the number */
/* Simplifies on the way unless the program is plain (opt-independent rules that hold always: constant folding except
 * where it would fail, x+0 on integers, double negation, cond with equal branches or constant condition ...); never
 * changes a NaN, signed zero or error. */
ir_id ir_op1(ir_program *p, uint32_t site, ir_op op, ir_id a);
ir_id ir_op2(ir_program *p, uint32_t site, ir_op op, ir_id a, ir_id b);
ir_id ir_op3(ir_program *p, uint32_t site, ir_op op, ir_id a, ir_id b, ir_id c);
ir_id ir_convert(ir_program *p, uint32_t site, ir_op convert_or_bitcast, ir_type to, ir_id a);
ir_id ir_cond(ir_program *p, uint32_t site, ir_id c, ir_id then, ir_id otherwise);
/* Takes a loop description (copied); returns the IR_LOOP node. Read its results with ir_proj. */
ir_id ir_loop_new(ir_program *p, uint32_t site, const ir_loop *loop);
ir_id ir_proj(ir_program *p, ir_id loop, uint32_t component);
ir_id ir_read(ir_program *p, uint32_t site, ir_id array, uint32_t component, unsigned flags, uint32_t n, const ir_id *index);
/* Made where kernels are composed, and never part of a user's program: the check of an index that the user wrote, kept
 * when the array it indexes is computed in place and no memory is read at that index. `dimension` of the array, or
 * IR_WHOLE for a row-major position. A failure is reported at `site` and for the element of this number; 0: for the one
 * that the kernel computes. */
enum { IR_WHOLE = 15 };
ir_id ir_within(ir_program *p, uint32_t site, ir_id array, unsigned dimension, ir_id index, ir_id element);
static inline unsigned ir_within_dimension(const ir_node *n)
{
    return n->u.literal & IR_WHOLE;
}
ir_id ir_after(ir_program *p, ir_id value, uint32_t n, const ir_id *term); /* at most IR_MAX_RANK terms */
/* args: the fallback, then n - 1 operands, at most IR_MOST_CALLED. `code` stays as long as the program. */
ir_id ir_call(ir_program *p, uint32_t site, const ir_code *code, uint32_t n, const ir_id *args);
/* The source that an IR_CALL is computed by, of no length if that is a function of the host's; NULL: by its fallback. */
static inline const char *ir_called(const ir_program *p, const ir_node *call)
{
    const ir_code *c = call->u.code;
    return p->code == IR_CODE_LLVM && c->host && !c->source[IR_CODE_LLVM] ? "" : c->source[p->code];
}
ir_id ir_extent(const ir_program *p, ir_id array, unsigned dimension); /* its extent term */
ir_id ir_size(ir_program *p, ir_id array);                   /* product of the extents */

/* All scalar nodes reached from the roots (0 is none), variables and insides of loops included, ascending: operands before
 * users. A list in `a` goes to *out; returns its length. */
uint32_t ir_terms(ir_program *p, arena *a, uint32_t n, const ir_id *root, ir_id **out);

/* functions: make fresh variables, build terms over them, close. Returns NULL (and reports) if a result is 0. */
ir_fn *ir_fn_new(ir_program *p, uint32_t params, const ir_type *type); /* results still to be set with ir_fn_close */
ir_fn *ir_fn_close(ir_program *p, ir_fn *fn, uint32_t results, const ir_id *result);
/* The results of fn with its parameters replaced by arguments (types must agree); inner loops get fresh variables.
 * Linear in the size of fn's body; `out` has room for fn->results ids. */
void ir_instantiate(ir_program *p, const ir_fn *fn, const ir_id *argument, ir_id *out);
/* The same for any set of terms: replaces variables from[i] (any scalar nodes) by to[i] in n terms, in place. */
void ir_substitute(ir_program *p, uint32_t count, const ir_id *from, const ir_id *to, uint32_t n, ir_id *term);
/* Is f(a, b) the same term as f(b, a), when both are simplified, also in a plain program? (fn of 2k parameters, k results) */
bool ir_commutes(ir_program *p, const ir_fn *fn);
/* What makes a function of 2k parameters and k results visibly not associative, "sub" or "a weighted sum", and in which
 * component (associate.c); NULL: nothing that can be seen. */
const char *ir_visibly_not_associative(ir_program *p, const ir_fn *fn, uint32_t *component);

/* arrays; shapes are given outermost first. Each checks its operands, types, ranks and (where constant) extents, and
 * records run-time shape checks where extents are not provably equal. */
ir_id ir_input(ir_program *p, uint32_t components, const ir_type *type, unsigned rank, const ir_id *shape);
bool ir_known_before(ir_program *p, unsigned n, const ir_id *term); /* terms read nothing but inputs */
/* An input whose elements the program brings along, kept where they are; extents are constants. */
ir_id ir_input_data(ir_program *p, uint32_t site, ir_type type, unsigned rank, const ir_id *shape, const void *data);
size_t ir_data_elements(const ir_program *p, const ir_array *input); /* of one that brings them along */
ir_id ir_generate(ir_program *p, uint32_t site, unsigned rank, const ir_id *shape, ir_fn *fn);
ir_id ir_map(ir_program *p, uint32_t site, uint32_t inputs, const ir_id *input, ir_fn *fn, unsigned flags);
ir_id ir_backpermute(ir_program *p, uint32_t site, unsigned rank, const ir_id *shape, ir_fn *fn, ir_id source, unsigned flags);
ir_id ir_reshape(ir_program *p, uint32_t site, unsigned rank, const ir_id *shape, ir_id source);
ir_id ir_reshape_along(ir_program *p, uint32_t site, unsigned rank, const ir_id *shape, ir_id source); /* IR_SOURCE */
ir_id ir_fold(ir_program *p, uint32_t site, ir_fn *fn, const ir_id *seed, ir_id source, unsigned flags);
/* A fold per segment: `offsets` has rank 1, one component of type i64 and, as far as is known, one element or more. */
ir_id ir_fold_seg(ir_program *p, uint32_t site, ir_fn *fn, const ir_id *seed, ir_id source, ir_id offsets,
                  unsigned flags);
/* A scan of each segment. flags: as of ir_scan. */
ir_id ir_scan_seg(ir_program *p, uint32_t site, ir_fn *fn, const ir_id *seed, ir_id source, ir_id offsets,
                  unsigned flags);
ir_id ir_segment_of(ir_program *p, uint32_t site, ir_id extent, ir_id offsets);
ir_id ir_segments(ir_program *p, ir_id offsets); /* how many there are: the offsets' extent less one */
/* The same shape. flags: IR_EXCLUSIVE (needs a seed), IR_RIGHT. */
ir_id ir_scan(ir_program *p, uint32_t site, ir_fn *fn, const ir_id *seed, ir_id source, unsigned flags);
/* Along the dimension that has `behind` others behind it. */
ir_id ir_scan_along(ir_program *p, uint32_t site, ir_fn *fn, const ir_id *seed, ir_id source, unsigned behind,
                    unsigned flags);
/* `keep` and `source` have rank 1 and the same extent. The count of what is kept, a fold of rank 0, is made on the way: the
 * result's extent reads it. */
ir_id ir_pack(ir_program *p, uint32_t site, ir_id keep, ir_id source);
/* The array of rank 0 that counts for how many elements `keep`, of one component, holds: one for all packs by the same.
 */
ir_id ir_count(ir_program *p, uint32_t site, ir_id keep);
/* ir_pack with an extent that is there already: a read of such a count of this `keep`; 0: like ir_pack. */
ir_id ir_pack_counted(ir_program *p, uint32_t site, ir_id extent, ir_id keep, ir_id source);
/* The array of bool whose elements that hold are counted by the array of rank 0 which `extent` reads; 0 if it is
 * something else. (The fold, from 0 on, that adds its elements, each converted to i64.) */
ir_id ir_counted(const ir_program *p, ir_id extent);
/* The array of rank 0 that `extent` reads, if it counts the elements for which `keep` holds, else 0. */
ir_id ir_count_of_pack(const ir_program *p, ir_id extent, ir_id keep);
/* The same elements with their rows in order, along the innermost dimension: by the first `keys` components, or, where
 * that is 0, by fn, which says whether one element comes before another. flags: IR_DESCENDING, with keys. */
ir_id ir_sort(ir_program *p, uint32_t site, uint32_t keys, ir_fn *fn, ir_id source, unsigned flags);
/* Elements of the source that a permute combines one by one: blocks of so many, each into totals of its own, which are
 * combined with the result block after block; a single block into the defaults (docs/determinism.md). */
int64_t ir_permute_block(const ir_program *p, const ir_fn *fn, int64_t elements, int64_t places);
/* Does the operator compute no floats, but choose among those of its operands? It has longer blocks then. */
bool ir_permute_chooses(const ir_program *p, const ir_fn *fn);
/* The shape of `defaults`, of rank 1 or more. `fn` NULL: of several elements for one place the last one stays. */
ir_id ir_permute(ir_program *p, uint32_t site, ir_fn *fn, ir_id defaults, ir_id targets, ir_id source);
ir_id ir_stencil_new(ir_program *p, uint32_t site, ir_fn *fn, uint32_t inputs, const ir_id *input, const ir_stencil *stencil);
ir_id ir_force(ir_program *p, uint32_t site, ir_id source);
/* A control (copied, but for its programs) with its inputs, and its results (control.c). A part's extents are what is
 * known of them outside: extents there, or reads of parts that are marked as extents. */
ir_id ir_control_new(ir_program *p, uint32_t site, const ir_control *control, uint32_t inputs, const ir_id *input);
/* Appends to the control's values, in an array of their own: those of the control it was copied from stay. Returns how
 * many there are now. */
uint32_t ir_control_add_value(ir_program *p, ir_control *c, ir_id term);
ir_id ir_part(ir_program *p, uint32_t site, ir_id control, uint32_t number, unsigned rank, const ir_id *shape, unsigned flags);
bool ir_is_part_extent(const ir_program *p, ir_id extent); /* a read of a part that is an extent? */
void ir_fuse(ir_program *p, ir_id array); /* sets IR_FUSED */
ir_id ir_mark_step(ir_program *p, ir_id array); /* sets IR_STEP; the array, also if it is 0 */
void ir_output(ir_program *p, ir_id array);

/* extents (extent.c): normalised sums and products of extents; equal id <=> proven equal */
ir_id ir_extent_add(ir_program *p, ir_id a, ir_id b);
ir_id ir_extent_mul(ir_program *p, ir_id a, ir_id b);
bool ir_extent_constant(const ir_program *p, ir_id e, int64_t *value);
void ir_check_equal(ir_program *p, uint32_t site, ir_id left, ir_id right, const char *what); /* nothing if proven */

/* --- text (print.c, parse.c): printed and parsed back to the same program; grammar in docs/text-forms.md --- */
void ir_print(const ir_program *p, text *out);
/* One term on one line, infix, for messages: "t1 * (t1 + 1) where t1 = n + m". */
void ir_print_scalar(const ir_program *p, ir_id term, text *out);
/* NULL after an error, which is written to *message ("line 3, column 7: ...", in the arena). */
ir_program *ir_parse(arena *a, const char *source, const char **message);
/* The same for a text that anybody may have written: "safe" in it is believed only where ir/inside.h sees that it is,
 * provided that no extent of a call is above IR_LARGEST_EXTENT; elsewhere indices are checked when the program runs. */
ir_program *ir_parse_doubtful(arena *a, const char *source, const char **message);
/* Is the program well-formed (types, scopes, order of ids, shapes)? Message in *why if not. For tests and after passes. */
bool ir_check_program(const ir_program *p, arena *a, const char **why);

#endif
