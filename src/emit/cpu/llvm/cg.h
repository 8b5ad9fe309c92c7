/* State of the CPU code generator while it compiles one kernel, and the functions its files share.
 *
 * Uniform values are LLVM scalars; affine and strided ones are the value of lane 0 plus a step, made into vectors where
 * one is needed; varying ones are vectors of `lanes` elements, which LLVM spreads over as many registers as they take.
 * Everything here belongs to one call of compile: no state is shared between threads. */
#ifndef SN_EMIT_CPU_LLVM_CG_H
#define SN_EMIT_CPU_LLVM_CG_H

#include "emit/emit.h"
#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>

typedef LLVMValueRef cg_ref;

typedef enum {
    FORM_NONE,
    FORM_UNIFORM, /* v: scalar */
    FORM_LINEAR,  /* v: scalar of lane 0, step: scalar of the same type */
    FORM_VECTOR   /* v: vector */
} cg_form;

typedef struct cg_value {
    cg_ref v, step;
    cg_ref slot;  /* variables: an alloca that holds `v` */
    cg_ref first; /* bool, i64: it holds in so many lanes, the first ones; NULL: not known */
    cg_ref line, same; /* of a division, i64, i1: where `same` holds all lanes are in one line, and this is lane 0's
                          number of it, or place in it (lines.c); NULL: not known */
    bool limit;   /* bool: the first lanes are on one side of it, the others on the other */
    uint8_t form;
    uint16_t depth; /* variables: nesting of masks at the DECL */
} cg_value;

/* Which lanes are on. */
typedef struct cg_mask {
    cg_ref on;      /* vector of i1; NULL: all lanes */
    cg_ref full;    /* i1: all lanes are on; NULL: not known to be */
    cg_ref first;   /* i64: so many lanes are on, the first ones; NULL: not known */
    bool some;      /* at least one lane is on */
    uint16_t depth; /* number of divergent statements around */
} cg_mask;

/* Facts about the lists inside a compound statement, see scan.c. */
typedef struct cg_facts {
    unsigned statements, checks;
    bool warp;                   /* COMPACT, COUNT or ATOMIC inside */
    bool loops;                  /* LOOP or FOR inside */
    bool uniform_load, row_load; /* a LOAD of one element; one whose index goes up from lane to lane */
    bool notes;                  /* a CHECK that says what is computed */
    /* of a FOR_ALL only: */
    bool sets_outer;    /* sets a variable of the piece */
    bool reads_written; /* loads from memory that it also stores to */
    bool private_memory;
    bool apart;     /* loads and stores of elements that do not lie side by side: by index, lane by lane */
    bool parts;     /* some of its lists' statements are functions of their own, see outline.c */
    uint8_t widest; /* bytes of the widest element that is loaded, stored or computed; indices do not count */
    k_ref
        stream; /* a store to memory marked `stream` whose index is affine with step 1, outside all control; 0: none */
} cg_facts;

/* A load or store whose index advances by one from turn to turn of the enclosing FOR, see tile.c. */
typedef struct cg_tiled {
    k_ref stmt;
    cg_ref buffer; /* [rows][lanes] elements */
    cg_ref row;    /* in the loop body: pointer to this turn's row */
    cg_ref vector; /* or its elements themselves, as integers */
} cg_tiled;

/* The value of a load that comes later in the same block. */
typedef struct cg_early {
    k_ref stmt;
    LLVMBasicBlockRef here;
    const cg_value *value; /* which part of a gang's lanes it is for, where these run one after the other */
    cg_ref vector;
} cg_early;

enum { CG_MOST_ROWS = 12, CG_MOST_SHIFTED = 64 };

/* Neighbours in a row of shared memory, see shifted.c. */
typedef struct cg_shifted_row {
    k_mem mem;
    int64_t lowest, highest; /* the constants in their indices */
    unsigned loads;
    LLVMTypeRef vector;
    cg_ref kept;               /* alloca of the vector at the middle one; NULL: these are loaded one by one */
    cg_ref kept_before;        /* and of the one before it */
    cg_ref before, here, next; /* both, and the one behind them; NULL: not loaded in this gang */
} cg_shifted_row;

typedef struct cg_shifted {
    cg_shifted_row row[CG_MOST_ROWS];
    struct {
        k_ref stmt;
        unsigned row;
        int64_t constant;
    } load[CG_MOST_SHIFTED];
    unsigned rows, loads;
} cg_shifted;

enum {
    CG_MOST_UNROLLED = 64,
    CG_MOST_TILES = 8,
    CG_MOST_DEPTH = 500,
    CG_MOST_COLUMNS = 16,
    CG_MOST_DEALT = 8, /* columns that are taken apart as whole registers; more go in blocks */
    CG_MOST_EARLY = 64,
    CG_MOST_GROUPS = 32,
    CG_MOST_STREAMS = 8
};

/* A value that one function defines and others use, see outline.c. */
typedef struct cg_crossed {
    uint32_t offset;        /* in the frame, bytes */
    bool constant, stepped; /* not in the frame, being a constant of LLVM's; its step is there, too */
    LLVMTypeRef type;
    uint32_t modules;       /* the function `v` and `step` were read in, */
    LLVMBasicBlockRef here; /* this block of it */
    cg_ref v, step;
} cg_crossed;

typedef struct cg_features {
    bool avx512; /* F, BW, DQ and VL */
    bool vbmi, vbmi2, fma, x86, gathers, avx, bmi2;
    bool divides; /* a quotient of floats is there as soon as some five products */
    bool looks_on; /* it looks ahead of what is read in order by itself, beyond pages, and further than it is told */
    unsigned register_bytes;
} cg_features;

typedef struct cg {
    const kernel *k;
    arena *arena;
    cg_features cpu;
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMBuilderRef b;
    unsigned lanes;
    unsigned mask_bytes; /* of a lane, where masks are made by comparisons; 0: what suits the lanes */

    cg_ref fn, launch;
    LLVMBasicBlockRef entry; /* allocas only */
    cg_ref piece;
    cg_ref scratch, error, report, note, await;
    cg_ref fuse, fused[3]; /* processors without fused multiply-add; fused: memory of the function for its operands,
                              NULL: not made yet */
    cg_value *value;       /* per k_val */
    cg_ref *ranked;        /* per k_val: of a RANK, the lanes that it counts, see rank.c */
    cg_ref *mem, *arg; /* per k_mem: pointer to its first element; per argument; NULL: they are read from these where
                          they are used */
    cg_ref mem_list, arg_list;
    uint32_t *number;          /* per global memory: its place among these */
    const bool *narrow;        /* per value: index arithmetic, whose vectors have 32 bits a lane; NULL: in 64 */
    const bool *quiet;         /* per value: a float that is no signalling NaN, see extreme.c; NULL: nobody asks */
    const bool *asked;         /* per value: somebody but CHECKs looks at it, see check.c; NULL: nobody asks */
    cg_facts *facts;           /* per k_ref of a compound statement */
    LLVMBasicBlockRef abandon; /* where a piece goes that failed a CHECK at piece level */
    bool gives_up;             /* there are such CHECKs */
    cg_ref hidden;             /* i64: zero, see warp.c; NULL: not made yet */
    cg_ref ahead;              /* i64: how many pieces on the one is that follows this one here; NULL: not known */
    bool streamed;             /* non-temporal stores were made */

    /* inside a FOR_ALL */
    bool thread;
    bool alike; /* it computes all fields of structs alike */
    cg_mask mask;
    cg_ref alive;              /* alloca of a mask: lanes that no CHECK has switched off; NULL when no CHECK can */
    LLVMBasicBlockRef restart; /* whole gangs: where a failing CHECK goes; NULL: switch lanes off */
    LLVMBasicBlockRef gang_end;
    cg_ref thread_base;          /* number of the virtual thread of lane 0, i64 */
    LLVMBasicBlockRef loop_exit; /* of the innermost LOOP */
    cg_ref loop_live;            /* its alloca of lanes still in it; NULL: uniform exit only */
    cg_tiled tile[CG_MOST_TILES];
    unsigned tiles;
    cg_early early[CG_MOST_EARLY]; /* loads that have been made, see interleave.c */
    unsigned early_loads;
    cg_shifted *shifted;         /* rows of the open loop over whole gangs; NULL: none */
    uint32_t *stamp, stamps;     /* per value: the loop (numbered) that defined or set it last, see tile.c, vouch.c */
    bool *vouched;               /* per statement: a CHECK that is known to hold, see vouch.c; NULL: none ever was */
    bool vouching;               /* for the loop around */
    unsigned depth;              /* of nested statement lists */
    uint32_t *factor;            /* per value: 1 + its place in the table of factors, see order.c */
    cg_ref factors, factors_now; /* the table; its address at this place of the code, NULL: none */

    LLVMTypeRef i1, i8, i32, i64, ptr;
    LLVMTypeRef type[T_COUNT], vector[T_COUNT];
    /* large kernels, see outline.c */
    uint32_t most_of_part; /* as the caller wants it; 0: what suits */
    uint32_t at_once; /* statements that LLVM holds at the same time: the entry function's and the largest part's */
    bool little_effort;
    uint32_t *part, *crossing; /* per statement: its part, 0: the entry function; per value: its number if it crosses.
                                  NULL: one function */
    uint32_t own_part;         /* the one that is being emitted */
    cg_crossed *crossed;       /* by these numbers */
    cg_ref frame;
    uint32_t frame_bytes;

    LLVMModuleRef whole;                         /* the entry function's module, while `module` is that of a part */
    LLVMTargetMachineRef machine, draft_machine; /* the second: for drafts; NULL: not made yet */
    emit_draft may_draft;
    bool drafted;                     /* a module, at least */
    uint32_t modules;                 /* that are finished: parts, and at last the entry function, */
    VEC(LLVMMemoryBufferRef) objects; /* and what they became, unless only LLVM's text is wanted */
    text ir, assembly;
    bool keep_ir, keep_asm, only_digest;
    LLVMTargetRef target;
    const char *triple, *target_cpu, *target_features;
    jmp_buf *failure;
    const char *why;
    size_t *room; /* bytes that this compilation was promised, see room.c; one number for all copies of this record */
} cg;

/* --- module.c --- */
SN_NORETURN void cg_fail(cg *g, const char *format, ...) SN_PRINTF(2, 3); /* leaves the compilation */

/* --- draft.c: of the module as it stands --- */
bool cg_wants_draft(const cg *g);
void cg_fence_products(cg *g);

/* --- room.c: leave the compilation, without `why`, if LLVM would have too little memory for what comes --- */
void cg_room_to_begin(cg *g);         /* before LLVM is called at all */
void cg_room_for_statements(cg *g);   /* for those of the entry function and its largest part, after cg_find_parts */
void cg_room_for_instructions(cg *g); /* for those that the module has by now */
void cg_room_end(cg *g);

void cg_start_module(cg *g, const char *name);   /* sets g->module */
void cg_finish_module(cg *g);                    /* compiles and frees it */
void cg_code_attributes(cg *g, cg_ref function); /* of functions whose first parameter is a launch record */
/* At the beginning of such a function. `all`: what there are pointers and arguments for is read now, if it is not much.
 */
void cg_read_launch(cg *g, bool all);
cg_ref cg_memory(cg *g, k_mem m); /* pointer to its first element */
cg_ref cg_argument(cg *g, uint32_t i);

/* --- blob.c: object files -> blob, allocated with malloc. They may use functions of each other named CG_PART_NAME and
 * the number of the object. False and *why (static or in a) on failure --- */
typedef struct cg_object {
    const void *at;
    size_t bytes;
} cg_object;
bool cg_blob_make(uint32_t n, const cg_object *object, arena *a, emit_cpu_blob *out, const char **why);

/* --- scan.c --- */
void cg_scan(cg *g);

/* --- check.c --- */
void cg_find_asked(cg *g); /* sets g->asked */

/* --- extreme.c --- */
void cg_find_quiet(cg *g);                      /* sets g->quiet; the kernel's shapes are known */
cg_ref cg_made_quiet(cg *g, k_val v, cg_ref x); /* the vector x of v without signalling NaNs */
cg_ref cg_extreme(cg *g, const k_stmt *s);      /* of floats, as a vector; NULL: it is none, or done otherwise */

/* --- value.c --- */
void cg_types(cg *g);
void cg_set_lanes(cg *g, unsigned lanes); /* what values that are made from now on have */
LLVMTypeRef cg_vector_of(cg *g, LLVMTypeRef element, unsigned n);
static inline bool cg_is_vector(cg_ref v)
{
    return LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMVectorTypeKind;
}
/* Is it a conversion of whole numbers to a wider type? */
static inline bool cg_is_widened(cg_ref v)
{
    return LLVMIsASExtInst(v) || LLVMIsAZExtInst(v);
}
cg_ref cg_const(cg *g, ir_type t, ir_bits bits);
cg_ref cg_i64(cg *g, int64_t v);
cg_ref cg_i32(cg *g, int64_t v);
cg_ref cg_zero(LLVMTypeRef t);
cg_ref cg_iota(cg *g, LLVMTypeRef element, unsigned n);
cg_ref cg_splat_n(cg *g, cg_ref scalar, unsigned n);
cg_ref cg_splat(cg *g, cg_ref scalar);
cg_ref cg_alloca(cg *g, LLVMTypeRef t, unsigned align, const char *name);
cg_value cg_get(cg *g, k_val v); /* its form now (variables are read) */
/* Variables that hold vectors of type t, in memory of this type at `slot`. */
LLVMTypeRef cg_variable_type(cg *g, ir_type t);
cg_ref cg_read_variable(cg *g, ir_type t, cg_ref slot);
void cg_write_variable(cg *g, ir_type t, cg_ref slot, cg_ref x);
cg_ref cg_scalar(cg *g, k_val v);                     /* of a uniform value; of others that of lane 0 */
cg_ref cg_lane_scalar(cg *g, k_val v, unsigned lane); /* lane 0 or 1 */
cg_ref cg_step(cg *g, k_val v);                       /* i64 difference of neighbouring lanes of a linear value */
cg_ref cg_vec(cg *g, k_val v);                        /* as a vector */
bool cg_is_narrow(const cg *g, k_val v);
const k_stmt *cg_definition(const cg *g, k_val v); /* what makes it; NULL: no statement */
bool cg_is_uniform(const cg *g, k_val v);
bool cg_is_literal(const cg *g, k_val v, int64_t *out);
cg_ref cg_as_wide(cg *g, k_val v, cg_ref x); /* lanes of v's vector, or one of them, with the 64 bits of its type */
cg_ref cg_index_vec(cg *g, k_val v);         /* the same, of 32 bits a lane if the value is narrow */
void cg_define(cg *g, k_val v, cg_ref scalar_or_vector);

/* foreign.c */
void cg_link_codes(cg *g);                 /* into the module that has just been begun */
void cg_call_code(cg *g, const k_stmt *s); /* K_CALL */
cg_ref cg_call(cg *g, const char *intrinsic, unsigned types, LLVMTypeRef *type, unsigned n, cg_ref *in);
cg_ref cg_call1(cg *g, const char *intrinsic, cg_ref x); /* overloaded on its operand's type */
cg_ref cg_call2(cg *g, const char *intrinsic, cg_ref x, cg_ref y);
cg_ref cg_shuffle(cg *g, cg_ref x, cg_ref y, unsigned n, const int *index);
/* The same, where it is known that no instruction but a permutation of any elements does it. */
cg_ref cg_permute(cg *g, cg_ref x, cg_ref y, unsigned n, const int *index);
cg_ref cg_lanes_from(cg *g, cg_ref x, unsigned first, unsigned n); /* n of them; anything behind the last */
cg_ref cg_join(cg *g, cg_ref x, cg_ref y);         /* x followed by y, of the same length */
cg_ref cg_joined(cg *g, unsigned n, cg_ref *part); /* n of them, a power of two; overwrites the list */
/* The vector x, of integers or floats, in which LLVM does not see how it was made. Of a tree of shuffles it tries all
 * ways to merge some of them, which takes longer than all else, and where each is one instruction there is nothing to
 * be found. */
cg_ref cg_opaque(cg *g, cg_ref x);
LLVMBasicBlockRef cg_block(cg *g, const char *name);
void cg_at(cg *g, LLVMBasicBlockRef block);
LLVMBasicBlockRef cg_here(cg *g);
void cg_br(cg *g, LLVMBasicBlockRef to);
void cg_cond(cg *g, cg_ref c, LLVMBasicBlockRef yes, LLVMBasicBlockRef no);
void cg_unlikely(cg *g, cg_ref c, LLVMBasicBlockRef rare, LLVMBasicBlockRef usual);
cg_ref cg_phi2(cg *g, cg_ref x, LLVMBasicBlockRef from_x, cg_ref y, LLVMBasicBlockRef from_y);

/* --- mask.c --- */
cg_ref cg_mask_bits(cg *g, cg_ref mask);   /* as an integer of `lanes` bits */
cg_ref cg_mask_any(cg *g, cg_ref mask);    /* i1 */
cg_ref cg_mask_first(cg *g, cg_ref count); /* the lanes below count (i64, 0 .. lanes) */
cg_ref cg_mask_or_all(cg *g);              /* the current mask, all ones if NULL */
/* Current mask and condition, one level deeper. `first`: so many lanes meet the condition, the first ones; or NULL. */
cg_mask cg_narrow(cg *g, cg_ref condition, cg_ref first);
void cg_restore(cg *g, cg_mask outer,
                const cg_facts *inside); /* behind a statement: the mask before, less what its CHECKs switched off */

/* --- quotient.c --- */
bool cg_multiplies(const cg *g, const k_stmt *let);       /* a division that is cg_quotient */
cg_ref cg_quotient(cg *g, ir_type t, cg_ref x, cg_ref y); /* of a vector of floats and a scalar or a vector */

/* --- arith.c, convert.c, divide.c, parts.c --- */
cg_ref cg_op(cg *g, ir_op op, ir_type from, ir_type to, const cg_ref *in); /* scalars or vectors */
cg_ref cg_divide(cg *g, ir_op op, ir_type t, cg_ref x, cg_ref y);
cg_ref cg_divide_index(cg *g, ir_op op, cg_ref x,
                       cg_ref y);                      /* a vector of narrow values by a scalar that is one, i64 */
cg_ref cg_index_op(cg *g, ir_op op, k_val x, k_val y); /* on vectors, of 32 bits a lane if both are narrow */
cg_ref cg_convert(cg *g, ir_op op, ir_type from, ir_type to, cg_ref x);
cg_ref cg_saturated(cg *g, const k_stmt *s); /* saturate.c: a vector of floats made bytes or words; NULL: done otherwise */
cg_ref cg_bits_cast(cg *g, ir_type t, cg_ref x);              /* a float as integer bits */
cg_ref cg_part(cg *g, ir_op op, ir_type t, const cg_ref *in); /* parts.c; NULL: not such an operator */
void cg_let(cg *g, const k_stmt *s);
void cg_select(cg *g, const k_stmt *s);

/* --- memory.c --- */
LLVMTypeRef cg_stored(cg *g, ir_type t);         /* the type of an element in memory: bool is a byte */
unsigned cg_alignment(const cg *g, k_mem m);     /* of an element, bytes */
cg_ref cg_element(cg *g, k_mem m, cg_ref index); /* pointer; vector of pointers for a vector of indices */
cg_ref cg_from_memory(cg *g, ir_type t, cg_ref x);
cg_ref cg_to_memory(cg *g, ir_type t, cg_ref x);
cg_ref cg_masked_load(cg *g, LLVMTypeRef vector, cg_ref pointer, unsigned align, cg_ref mask);
void cg_masked_store(cg *g, cg_ref vector, cg_ref pointer, unsigned align, cg_ref mask);
/* Elements of memory at a vector of indices, of 32 or 64 bits; zero where lanes are off. mask NULL: all are on. */
cg_ref cg_gather(cg *g, k_mem m, cg_ref index, cg_ref mask);
void cg_scatter(cg *g, cg_ref vector, cg_ref pointers, unsigned align); /* of the lanes that are on */
void cg_load(cg *g, k_ref id);
cg_ref cg_load_table(cg *g, k_mem m, cg_ref index); /* table.c: NULL if the memory does not lie in registers */
/* lines.c. Defines the result of a division if its lanes may stay in one line of an array; */
bool cg_let_line(cg *g, const k_stmt *s);
/* what is read at sums of such results, `gathered` where lanes do not; NULL: the index is none. */
typedef cg_ref cg_load_at(cg *g, const k_stmt *s);
cg_ref cg_load_line(cg *g, const k_stmt *s, cg_load_at *gathered);
/* near.c: what is read at an index that is computed, and near in all lanes, `gathered` else; NULL: it is none. */
cg_ref cg_load_near(cg *g, const k_stmt *s, cg_load_at *gathered);
/* table.c: elements of a table in one, two or four registers (of bytes), as integers of `size` bytes. */
cg_ref cg_look_up(cg *g, unsigned size, unsigned tables, const cg_ref *table, cg_ref index);
/* One element, or as many as `type` has, for the lanes that are on. */
cg_ref cg_load_stretch(cg *g, k_mem m, cg_ref index, LLVMTypeRef type);
cg_ref cg_load_pieces(cg *g, const k_stmt *s); /* pieces.c: NULL if the index is no row in pieces */
/* offsets.c: the elements that are known constants away from what all lanes share, `gathered` where a clamped index is
 * not; NULL: they are none. */
cg_ref cg_load_offsets(cg *g, const k_stmt *s, cg_load_at *gathered);
/* Does the gang, whose lanes are numbered by constants, read few elements close together, each for several lanes? */
bool cg_lanes_share(const cg *g, k_val index, unsigned element_bytes);
/* i1: a comparison of such an index with a number that all lanes share holds in all lanes that are on; NULL: it is
 * none. */
cg_ref cg_offsets_hold(cg *g, const k_stmt *s);
void cg_store(cg *g, k_ref id);
/* Emits stores past the caches that stand together, from `first` on, if there are several. Returns how many. */
unsigned cg_store_streams(cg *g, k_ref first);
/* Vectors of all lanes that lie one behind the other, from `pointer` on; elements of `size` bytes. */
void cg_store_row(cg *g, unsigned n, const cg_ref *vector, cg_ref pointer, unsigned size, bool stream);
/* fields.c, of memory whose elements are apart (`every`): the elements of all lanes, from lane 0's index on, as they
 * are in memory; and stores that stand together, from `first` on, or it `alone`. Returns how many were emitted; 0: it
 * is none, or its index does not go along with the lanes. */
cg_ref cg_load_field(cg *g, k_mem m, cg_ref index);
unsigned cg_store_fields(cg *g, k_ref first, bool alone);

/* --- alike.c: loops that compute all fields of structs alike --- */
bool cg_find_alike(const cg *g, const k_stmt *for_all);
/* Where all lanes are on: numbers that take the place of the fields' at this index of lane 0, any number for any lane.
 */
cg_ref cg_load_alike(cg *g, k_mem m, cg_ref index);
void cg_store_alike(cg *g, k_mem m, cg_ref index, cg_ref x);
/* interleave.c: emits stores that stand together and write neighbouring elements in each lane. Returns how many; 0:
 * there are none from `first` on. */
unsigned cg_store_interleaved(cg *g, k_ref first);
/* A load of what lies beside what other loads of the same list read, in steps of as many elements: all of them are made
 * at the first one. As it is in memory; NULL: it is none of these. */
cg_ref cg_load_interleaved(cg *g, k_ref id);

/* --- shifted.c: neighbours in rows of shared memory --- */
void cg_shifted_begin(cg *g, const k_stmt *for_all, cg_ref count); /* in front of a loop over whole gangs */
cg_ref cg_load_shifted(cg *g, k_ref id);                           /* NULL: it is none of these */

/* --- partial.c --- */
bool cg_moves_some(const cg *g, LLVMTypeRef vector); /* does the machine load and store some lanes of such vectors? */
/* Lanes that are off may hold anything. `some`: a lane is on. `full`: i1, all are; or NULL. */
cg_ref cg_load_some(cg *g, LLVMTypeRef vector, cg_ref pointer, cg_ref mask, bool some, cg_ref full);
void cg_store_some(cg *g, cg_ref vector, cg_ref pointer, cg_ref mask);
void cg_store_first(cg *g, cg_ref vector, cg_ref pointer, cg_ref count); /* of fewer elements than there are */

/* --- tile.c, transpose.c --- */
bool cg_tiled_for(cg *g, k_ref id); /* emits the FOR in tiles if that pays; false: nothing emitted */
cg_tiled *cg_tile_of(cg *g, k_ref stmt);
/* Copies between rows in memory, one per lane, and a buffer [rows][lanes]; calls of functions that all loops of a
 * kernel share. FILL reads rows of `count` elements, FLUSH writes them; lanes that are off are left alone. */
typedef enum { CG_FILL, CG_FLUSH } cg_copy;
unsigned cg_tile_rows(const cg *g, unsigned element_bytes); /* most elements of a row in a tile; 0: no tiles of these */
typedef struct cg_rows {
    unsigned bytes, rows;     /* of an element; in a tile */
    cg_ref memory, step;      /* lane 0's row; bytes between the rows of neighbouring lanes */
    cg_ref apart;             /* FILL: rows are anywhere: `memory` is their origin, and here, for each lane, is how many
                                 bytes behind it its row begins; NULL: they are `step` apart */
    cg_ref buffer, count;     /* elements of each row */
    cg_ref ahead, ahead_step; /* FILL: what to prefetch with each row; NULL: nothing */
} cg_rows;
void cg_copy_tile(cg *g, cg_copy way, const cg_rows *r);
/* Some turns of rows that are anywhere, all lanes on, in registers. */
typedef struct cg_columns {
    unsigned bytes, turns; /* of an element; turns, a multiple of cg_turns_together */
    cg_ref rows;           /* where the addresses of all rows are */
    cg_ref behind;         /* i64: the first turn's element is so many bytes behind */
    cg_ref left;           /* i64: so many turns are read, at least one */
} cg_columns;
unsigned cg_turns_together(const cg *g, unsigned element_bytes); /* that suit rows of such elements */
void cg_apart_columns(cg *g, const cg_columns *c, cg_ref *out);  /* a vector of integers for each turn */
void cg_prefetch_apart(cg *g, cg_ref rows, cg_ref behind);       /* what lies so many bytes behind the addresses */
void cg_prefetch(cg *g, cg_ref at);
/* A function that all loops share, its body run once per group of lanes. */
typedef struct cg_copier {
    LLVMBasicBlockRef caller, body, end;
    cg_ref fn, group; /* first lane of the group at hand, i64 */
    cg_ref lanes;     /* how many there are; NULL: as many as the kernel has */
} cg_copier;
cg_ref cg_function(cg *g, const char *name, LLVMTypeRef *type, unsigned parameters); /* void, of this module's own */
cg_copier cg_open_copier(cg *g, const char *name, LLVMTypeRef *type, unsigned parameters);
cg_ref cg_close_copier(cg *g, cg_copier *c, unsigned lanes_in_group);
void cg_call_copier(cg *g, cg_ref f, cg_ref *in, unsigned n);
cg_ref cg_bytes_on(cg *g, cg_ref pointer, cg_ref bytes);
cg_ref cg_aligned(cg_ref access, unsigned align);
/* Transposes square blocks: element e of block q of vector v becomes element v of block q of vector e. */
void cg_transpose_blocks(cg *g, unsigned elements, unsigned block, cg_ref *v);
/* dense.c: all lanes on, rows of `columns` elements without gaps between them. */
bool cg_has_dense(const cg *g, unsigned element_bytes, unsigned columns);
/* And of more: what cg_dense_columns and cg_store_rows can do. */
bool cg_has_columns(const cg *g, unsigned element_bytes, unsigned columns);
void cg_store_rows(cg *g, unsigned element_bytes, unsigned columns, const cg_ref *column, cg_ref memory);
/* `far`: of more than the caches hold. */
void cg_fill_dense(cg *g, unsigned element_bytes, unsigned columns, cg_ref memory, bool far, cg_ref buffer);
/* Of the last row only `reach` elements are there. */
void cg_dense_columns(cg *g, unsigned element_bytes, unsigned columns, cg_ref memory, unsigned reach, bool far,
                      cg_ref *out);                  /* vectors of integers */
void cg_function_attributes(cg *g, cg_ref function); /* module.c */

/* --- warp.c --- */
void cg_atomic(cg *g, k_ref id);
void cg_compact(cg *g, k_ref id);
void cg_count(cg *g, k_ref id);
cg_ref cg_lanes_where(cg *g, k_val condition); /* of the lanes that are on */
void cg_take(cg *g, k_ref id);
void cg_all(cg *g, k_ref id);
/* A SELECT of x and y whose condition says which lanes get the left halves of their blocks added; NULL: it does not. */
cg_ref cg_select_right_halves(cg *g, const k_stmt *s, cg_ref condition, cg_ref x, cg_ref y);

/* --- rank.c --- */
void cg_rank(cg *g, k_ref id);
/* The elements that the lanes of `among` read at an index, one behind the other: a row that is spread over them. */
typedef struct cg_spread {
    cg_ref first; /* i64: the index of the first one of these lanes */
    cg_ref among; /* a mask; what the index of other lanes is does not matter */
} cg_spread;
bool cg_find_spread(cg *g, k_val index, cg_spread *out);
cg_ref cg_load_spread(cg *g,
                      const k_stmt *s); /* as it is in memory; NULL: it reads no such row, or there is no instruction */
/* i1: a comparison holds in all lanes that are on, one side being such an index. False may be wrong; NULL: neither is.
 */
cg_ref cg_spread_holds(cg *g, const k_stmt *s);

/* --- total.c --- */
/* A LET that is the last of those by which pairs of lanes, pairs of pairs ... come together to the total of the gang:
 * that total, a scalar. NULL: it is no such LET, or no shorter way is known. */
cg_ref cg_gang_total(cg *g, const k_stmt *s);

/* --- bytes.c --- */
/* What a mixed SET of lanes that are all on adds to its variable, some lanes' parts added up in one of them: where
 * the machine has an instruction for that. NULL: it has none. */
cg_ref cg_byte_sum(cg *g, const k_stmt *set);

/* --- chain.c --- */
void cg_chain(cg *g, k_ref id);
void cg_chain_abandon(cg *g);

/* --- stages.c --- */
typedef struct cg_taking {
    cg_ref next;     /* pointer to the first piece that nobody has taken */
    cg_ref together; /* i32: most pieces at a time */
    cg_ref last;     /* where the launch ends */
} cg_taking;
/* Takes pieces of a kernel with CHAIN and runs them, until none is left. */
void cg_stages(cg *g, const cg_taking *taking);
void cg_fetch_ahead(cg *g, const k_stmt *s);
/* memory.c: which line to fetch for one that is read, the others around it being read, too; so many bytes ahead. */
enum { CG_PAGES_AHEAD = 32 << 10 };
cg_ref cg_line_of_pages(cg *g, cg_ref pointer, int64_t ahead);

/* --- check.c --- */
void cg_check(cg *g, k_ref id);

/* --- vouch.c --- */
/* Before a FOR: asks whether CHECKs in it hold in all turns and lanes, and starts the gang again if they do not. True:
 * cg_vouch_end is to follow behind the loop. */
bool cg_vouch_for(cg *g, k_ref id);
void cg_vouch_end(cg *g, k_ref id);
static inline bool cg_is_vouched(const cg *g, k_ref check)
{
    return g->vouched && g->vouched[check];
}

/* --- order.c --- */
/* Emits the list in another order, if it is one that gains by it; all lanes are on. False: nothing emitted. */
bool cg_ordered_list(cg *g, k_ref first, const cg_facts *facts);
cg_ref cg_factor(cg *g, const k_stmt *s,
                 unsigned operand); /* a factor of a product, from the table; NULL: it is not there */

/* --- for_all.c --- */
void cg_for_all(cg *g, k_ref id);

/* --- stagger.c --- */
/* May this FOR_ALL's body run in parts, and of how many lanes each? 0: no. */
unsigned cg_stagger(const cg *g, const k_stmt *for_all, const cg_facts *facts);
void cg_staggered_list(cg *g, const k_stmt *for_all, cg_ref base); /* all lanes on; base: of lane 0 */

/* --- control.c --- */
void cg_statement(cg *g, k_ref id);
void cg_list(cg *g, k_ref first);
void cg_range(cg *g, k_ref first, k_ref end); /* the statements of a list from first on, up to end, which may be 0 */
void cg_if(cg *g, k_ref id);
void cg_loop(cg *g, k_ref id);
void cg_break_if(cg *g, k_ref id);
void cg_for(cg *g, k_ref id);

#endif
