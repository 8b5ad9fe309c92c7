/* The hierarchical kernel language: a structured, typed program for one grid of blocks.
 *
 * Levels (Obsidian §4.7): a *grid* of pieces, numbered and independent; a *block* works through one piece; `for_all`
 * spreads virtual *threads* over the lanes of *gangs* (warps) of `lanes` elements each. A CPU runs a block on one core, a gang
 * as one SIMD value (which may fill several registers), shared memory as a buffer in its caches.
 *
 * Statements are three-address: a statement takes values and defines at most one value. Values are immutable except
 * variables made by DECL. Everything is total; what may fail stands behind a CHECK.
 *
 *   piece level (body of the kernel): runs once per piece; every value is uniform.
 *   thread level (body of a FOR_ALL): runs once per virtual thread, in any order, gang by gang. The end of a FOR_ALL is the barrier:
 *     what its threads wrote to shared memory is visible afterwards, to all. There is no other barrier and no thread id.
 *     Within one FOR_ALL threads must not read what another thread of the same FOR_ALL writes.
 *   FOR_ALLs do not nest. Values defined inside a FOR_ALL are not visible outside; piece-level values are visible inside.
 *
 * A launch runs pieces [first, last), in any order and on any number of workers, except that a kernel with CHAIN gets
 * its pieces in ascending order of claiming (forward progress).
 *
 * Determinism: nothing here depends on the number of workers, the alignment of data, or `first`/`last`. */
#ifndef SN_KERNEL_KERNEL_H
#define SN_KERNEL_KERNEL_H

#include "ir/ops.h"

typedef uint32_t k_val;  /* index into kernel->value; 0 = none */
typedef uint32_t k_ref;  /* index into kernel->stmt; 0 = none */
typedef uint32_t k_mem;  /* index into kernel->mem; 0 = none */

typedef enum {
    K_UNIFORM, /* the same for all threads of a gang */
    K_AFFINE,  /* base + lane * step with a step constant at compile time; integers only */
    K_STRIDED, /* base + lane * step with a uniform step; integers only */
    K_VARYING
} k_shape;

typedef enum {
    K_GLOBAL,  /* argument of the launch: one pointer */
    K_SHARED,  /* one per block, `count` elements, contents undefined at the start of a piece */
    K_PRIVATE  /* `count` elements per virtual thread (at most `threads` of them), survives across FOR_ALLs of a piece; index: own element */
} k_space;

typedef enum {
    KV_NONE,
    KV_LITERAL, /* bits */
    KV_ARG,     /* scalar argument of the launch, number `bits`; uniform */
    KV_PIECE,   /* number of the piece, i64; uniform */
    KV_RESULT,  /* defined by statement `def` */
    KV_VARIABLE /* mutable, made by the DECL `def`; reading it gives the value at that point */
} k_value_kind;

typedef struct k_value {
    uint8_t kind, type;
    uint8_t shape;  /* k_shape, set by k_analyse */
    bool natural;   /* i64 argument: never negative, as an extent is */
    k_ref def;
    int64_t step;   /* K_AFFINE: elements per lane; set by k_analyse */
    ir_bits bits;   /* literal bits, or argument number */
    const char *name; /* for printing; may be NULL; need not be unique */
} k_value;

typedef struct k_memory {
    uint8_t space, type;
    bool written;   /* global: an output (may also be read) */
    bool stream;    /* global outputs: results are large, write past the caches (non-temporal) */
    bool once;      /* global outputs: no element is stored twice in a piece, so it does not matter in which order they are */
    bool unread;    /* global outputs: nobody reads them but the kernel itself, if at all */
    bool near;      /* global: elements are likely to be places near those that their neighbours have */
    bool one;       /* global: it has an element 0, whatever guards reads of it, and nobody writes it meanwhile */
    uint32_t few;   /* global: it has exactly so many elements; 0: that is not known, or they are many */
    uint32_t every; /* global: bytes from each element to the next one: fields of an array of structs. They need not be
                       aligned, and what lies between them is never written. 0: elements lie one behind the other,
                       aligned to their size */
    uint32_t at;  /* every: where in its struct an element lies, bytes. The launch's pointer is to the first element */
    k_mem beside; /* every: an earlier memory with the same `every` whose elements are other fields of the same structs,
                     and which is beside none itself; 0: none. An index that is in range of one is of both */
    int64_t count;  /* shared, private: elements; global: 0 */
    uint32_t offset; /* shared, private: byte offset in the block's scratch, set by k_layout */
    const char *name;
} k_memory;

typedef enum {
    K_NOP,
    K_LET,    /* dst = op(in...): a row of the operator table, MATH rows included (expanded by k_expand_math).
                 BITCAST to the same type is a copy. Where a PARTIAL operator fails the result is any value, but no trap */
    K_SELECT, /* dst = in[0] ? in[1] : in[2] */
    K_CALL,   /* dst = foreign code number `sub` (kernel->code) of the operands that are not 0; total, and without effects */
    K_DECL,   /* dst (variable) = in[0] */
    K_SET,    /* dst (variable) := in[0]; at thread level only lanes that are on. A piece-level variable may be set in
                 a FOR_ALL only if the value is uniform and count <= lanes */
    K_LOAD,   /* dst = mem[in[0]]; index i64, in range because of a CHECK or a proof; lanes that are off do not read */
    K_STORE,  /* mem[in[0]] = in[1]; at most one thread of a FOR_ALL writes an element */
    K_CHECK,  /* in[0] (bool) must hold, else error (site; element in[1], value in[2], bound in[3]: i64) and the lane is
                 off until  the enclosing FOR_ALL ends. At piece level: the rest of the piece's stores are skipped (whole
                 piece off) */
    K_ATOMIC, /* dst = mem[in[0]]; mem[in[0]] = op(dst, in[1]); op in add, min, max, bit_*; integers, f32/f64 add */
    K_IF,     /* in[0]: body, else orelse. `sub` K_EITHER: both do the same where in[0] holds */
    K_LOOP,   /* repeat body until a BREAK_IF of it (directly in the body, not deeper) fires */
    K_BREAK_IF, /* in[0]: leave the enclosing LOOP (lane by lane) */
    K_FOR,      /* dst (i64, uniform) = in[0] .. in[1]-1, body; bounds uniform. At thread or piece level */
    K_FOR_ALL,  /* dst (i64) = 0 .. in[0]-1, body at thread level; piece level only, not inside a varying IF (there are
                   none there) */
    K_COMPACT, /* thread level, gang converged (not under varying IF/LOOP), FOR_ALL with count <= lanes: stores in[1] of
                  each lane whose in[2] (bool) holds to mem[in[0] + number of such lanes before it]; in[0] uniform.
                  K_OVER: what lies behind these, up to `lanes` elements from in[0] on, is undefined afterwards */
    K_COUNT, /* thread level, converged, count <= lanes: dst (i64, uniform) = number of lanes (on, in range) whose in[0]
                holds */
    K_RANK,  /* thread level, converged, count <= lanes: dst (i64) = number of lanes before this one (on, in range) whose
                in[0] holds */
    K_SHUFFLE, /* thread level, converged, count <= lanes: dst = in[0] of another lane, chosen by `sub` and in[1], an
                  i64 literal */
    K_ALL, /* thread level: dst (bool, uniform) = in[0] holds in all lanes of the gang that are on; where a gang is one
              thread, in[0] */
    K_FETCH, /* a hint. mem[in[0] + d in[1]] is read soon, or written where it is an output, where d is how many pieces
                after this one the one is that the same worker takes next, as far as that is known. In range or not;
                in[1] uniform, both i64. `sub` K_NEAR: very soon, by one thread, so into the cache next to it. Other `sub`
                than 0, thread level: so many rows are read soon, in[1] elements from one to the next, in[0] being the
                thread's element in the first one */
    K_CHAIN  /* piece level: hands a tuple from piece to piece. chain c: dst[j] = state before this piece, given this
                piece's aggregate in[j]; function combines. See k_chain */
} k_op;

enum {
    K_FEW = 1,  /* a FOR_ALL of few threads */
    K_WHOLE = 2 /* of whole gangs: its count is a multiple of the kernel's lanes, or threads beyond the last such
                   multiple do not run; or it is a smaller literal: a gang of so many lanes (k_whole_threads) */
};
enum {
    K_UNROLL = 1, /* a FOR, if its bounds are constants */
    K_PACK = 2 /* ... and no round loads what another one stores: what rounds do with neighbouring elements may be done together */
};
enum { K_PACK_ROUNDS = 4 };
enum { K_EITHER = 1 }; /* an IF. The body loads and stores neighbouring elements, and is for those who can do that together:
                          they may add to the condition whatever they need (together.h) */
enum {           /* the lane that a SHUFFLE takes from; d is in[1] */
       K_ROTATE, /* (own lane + d) modulo lanes */
       K_LEFT,   /* the last one of the left half of the own block of 2 d lanes, d a power of two below lanes */
       K_LANE,   /* lane d: the same for all */
       K_PAIR    /* (2 own lane + d) modulo lanes, d 0 or 1: the left ones of all pairs, or the right ones */
};
enum {
    K_NOTE = 1
}; /* a CHECK that always fails and takes no lane away: it notes the bits of a value, in[2], of the ir_type in[3]
      (`trace`). Where nobody listens, it does nothing */
enum { K_NEAR = 128 }; /* a FETCH; those of rows have less */
enum { K_OVER = 1 };  /* a COMPACT that may write beyond what it keeps */
enum { K_TOTAL = 1 }; /* a LOAD whose index, that of a FOR around it, is in range in every round, whatever IFs there are between the two */
enum { K_AHEAD = 2 }; /* ... one of many, one behind the other, far beyond the caches: a hint to fetch what comes */
enum { K_QUIET = 3 }; /* ... of a float that is no signalling NaN */
enum { K_AHEAD_BYTES = 64 }; /* that a fetch brings */

enum { K_MOST_CARRIED = 128 }; /* values that a chain hands on */

typedef struct k_chain { /* the tuple monoid of a CHAIN; body is piece-level code over left and right */
    uint8_t arity;
    k_val aggregate[K_MOST_CARRIED]; /* of this piece */
    k_val before[K_MOST_CARRIED];    /* defined: `initial` at piece 0, after that the state the piece before left: before (+) aggregate of it,
                           so `initial` enters once, leftmost */
    k_val initial[K_MOST_CARRIED];
    k_val left[K_MOST_CARRIED], right[K_MOST_CARRIED], result[K_MOST_CARRIED]; /* code: result = left (+) right. left/right are variables (KV_VARIABLE, def 0) set by the emitter */
    k_ref body;         /* also in the statement's own `body` */
    k_mem state;        /* global u64 array: (1 + arity) words a piece, zeroed before the first launch: 1 once the words
                           behind it hold the bits of the state that the piece leaves */
} k_chain;

enum {
    K_RELAX = 1, /* a SET that may also change lanes that are off */
    K_MIX = 2    /* a SET of a sum, of which any lane may get any lane's part: see k_mix */
};

enum { K_MOST_OPERANDS = 9 };

typedef struct k_stmt {
    uint8_t op;    /* k_op */
    uint8_t sub;   /* K_LET, K_ATOMIC: ir_op. K_CALL: number of the code. K_FOR: K_UNROLL, K_PACK. K_FOR_ALL: K_FEW, K_WHOLE. K_SET: K_RELAX, K_MIX. K_IF: K_EITHER.
                      K_LOAD: K_TOTAL, K_AHEAD, K_QUIET. K_CHECK: K_NOTE. K_SHUFFLE: K_ROTATE, K_LEFT, K_LANE, K_PAIR. K_COMPACT:
                      K_OVER. K_FETCH: K_NEAR */
    uint32_t site; /* K_CHECK: operation in the user's program */
    k_val dst, in[K_MOST_OPERANDS];
    k_mem mem;
    k_ref body, orelse; /* first statement of a list */
    k_ref next;         /* next statement of this list */
    k_chain *chain;
} k_stmt;

enum { K_MOST_GIVEN = 4 };
typedef struct k_code { /* foreign: a function that kernels call */
    const char *name, *source; /* in the language of the device: LLVM's, OpenCL C, CUDA C++. NULL: of a kernel's text */
    uint32_t site;             /* where the user's program has it */
    bool host;     /* there is no source: the first operand, i64, is the address of an ir_native (ir/term.h), which is
                      called with all lanes at once */
    uint8_t results, part;      /* of several results, the one that the call is; 0: there is one */
    uint8_t type[K_MOST_GIVEN]; /* of each, if there are several */
} k_code;

typedef struct kernel {
    arena *arena;
    const char *name;
    VEC(k_value) value;   /* [0] unused */
    VEC(k_stmt) stmt;     /* [0] unused */
    VEC(k_memory) mem;    /* [0] unused; globals in the order of the launch's pointers */
    VEC(uint8_t) arg_type; /* per scalar argument */
    VEC(k_code) code;      /* at most 256 */
    k_ref body;
    uint16_t lanes;       /* gang width in elements, a power of two, 1 to 256 */
    uint16_t group;       /* threads that suit a block where blocks are many threads; 0: no wish. Any number computes the same */
    uint16_t abreast;     /* pieces that a block of many threads takes side by side, each by `lanes` threads in step (k_pair); 0: one, by all threads */
    uint32_t threads;     /* most virtual threads any FOR_ALL with private memory has; 0: no private memory */
    bool narrow;          /* every launch satisfies k_indices_fit (narrow.h): index arithmetic may have 32 bits */
    uint32_t scratch;     /* bytes of shared and private memory per block, set by k_layout */
    bool chained;         /* contains a CHAIN */
    intern_table literals;
} kernel;

/* --- building (build.c): a cursor into statement lists. Types must agree: mistakes are bugs of ours and are found by
 *     k_verify; builders do not report. --- */
typedef struct k_builder {
    kernel *k;
    k_ref last, parent;  /* end of the open list; statement whose list it is */
    uint8_t branch;      /* 0 body, 1 orelse */
    VEC(uint64_t) open;  /* saved positions */
} k_builder;

kernel *k_new(arena *a, const char *name, uint16_t lanes);
void k_begin(k_builder *b, kernel *k);
k_mem k_global(k_builder *b, ir_type t, bool written, const char *name);
k_mem k_shared(k_builder *b, ir_type t, int64_t count, const char *name);
k_mem k_private(k_builder *b, ir_type t, int64_t count, const char *name);
k_val k_arg(k_builder *b, ir_type t, const char *name);
k_val k_piece(k_builder *b);
k_val k_literal(k_builder *b, ir_type t, ir_bits bits); /* interned */
k_val k_i64(k_builder *b, int64_t v);
/* Folds constants and trivial identities (x+0, x*1 on integers; select on a literal), and reuses nothing else. Operands
 * that the operator does not have are ignored. */
k_val k_let(k_builder *b, ir_op op, k_val x, k_val y, k_val z);
k_val k_convert(k_builder *b, ir_op convert_or_bitcast, ir_type to, k_val x);
k_val k_select(k_builder *b, k_val c, k_val x, k_val y);
/* A K_CALL of this code, which becomes the kernel's if it is not yet; n operands. */
k_val k_call(k_builder *b, const k_code *code, ir_type t, unsigned n, const k_val *in);
k_val k_decl(k_builder *b, k_val initial, const char *name);
void k_set(k_builder *b, k_val variable, k_val value);
/* variable := value, where value is a sum, made just before, of integers: a copy of the variable, made just before
 * that, and a part. Only the sum of the variable over all lanes of the gang is looked at later, so that lanes may trade
 * their parts. A sum that was folded away (of a part that is 0) is set as any value is. */
void k_mix(k_builder *b, k_val variable, k_val value);
void k_relax(k_builder *b, k_val variable, k_val value); /* a SET that may also change lanes that are off: nobody looks at them */
k_val k_get(k_builder *b, k_val variable); /* an immutable copy of the variable's value now */
k_val k_load(k_builder *b, k_mem m, k_val index);
k_val k_load_total(k_builder *b, k_mem m, k_val index); /* K_TOTAL */
k_val k_load_ahead(k_builder *b, k_mem m, k_val index); /* K_AHEAD */
k_val k_load_quiet(k_builder *b, k_mem m, k_val index); /* K_QUIET */
void k_store(k_builder *b, k_mem m, k_val index, k_val value);
void k_fetch(k_builder *b, k_mem m, k_val index, k_val a_piece); /* K_FETCH: so many elements a piece */
void k_fetch_near(k_builder *b, k_mem m, k_val index); /* K_FETCH, K_NEAR: no elements a piece */
/* K_FETCH of 1 to K_NEAR - 1 rows */
void k_fetch_rows(k_builder *b, k_mem m, k_val index, k_val apart, unsigned rows);
void k_check(k_builder *b, uint32_t site, k_val holds, k_val element, k_val value, k_val bound);
void k_note(k_builder *b, uint32_t site, k_val element, k_val value); /* K_NOTE; of any type */
k_val k_atomic(k_builder *b, ir_op op, k_mem m, k_val index, k_val value);
void k_if(k_builder *b, k_val cond);    /* opens; then k_else (optional), k_end */
void k_if_either(k_builder *b, k_val cond); /* K_EITHER */
void k_else(k_builder *b);
void k_loop(k_builder *b);              /* opens; k_end */
void k_break_if(k_builder *b, k_val cond);
k_val k_for(k_builder *b, k_val from, k_val to, bool unroll); /* opens; k_end */
k_val k_for_pack(k_builder *b);                               /* K_PACK, from 0 to K_PACK_ROUNDS; opens; k_end */
k_val k_for_all(k_builder *b, k_val count);                   /* opens; k_end */
k_val k_for_few(k_builder *b, k_val count);                   /* a FOR_ALL that never has a full gang to speak of: less code */
k_val k_for_whole(k_builder *b, k_val count);                 /* a FOR_ALL of whole gangs: less code */
void k_compact(k_builder *b, k_mem m, k_val base, k_val value, k_val keep);
void k_compact_over(k_builder *b, k_mem m, k_val base, k_val value, k_val keep); /* K_OVER */
k_val k_count(k_builder *b, k_val cond);
k_val k_rank(k_builder *b, k_val cond);
k_val k_all(k_builder *b, k_val cond);
k_val k_shuffle(k_builder *b, k_val value, int64_t distance);    /* K_ROTATE */
k_val k_take_left(k_builder *b, k_val value, int64_t half);      /* K_LEFT */
k_val k_take_lane(k_builder *b, k_val value, int64_t lane);      /* K_LANE */
k_val k_take_pair(k_builder *b, k_val value, int64_t which);     /* K_PAIR */
/* Which lane a SHUFFLE takes from in this one. */
uint32_t k_shuffle_source(const kernel *k, const k_stmt *s, uint32_t lane);
k_chain *k_chain_begin(k_builder *b, uint8_t arity, const k_val *aggregate, const k_val *initial, k_mem state); /* opens the combining code: read left/right */
void k_chain_end(k_builder *b, k_chain *c, const k_val *result); /* closes; c->before holds the values */
void k_end(k_builder *b);
const char *k_name(kernel *k, k_val v, const char *name); /* names a value for printing */
/* Appends a statement without lists as it is, its operands and memory being those of the builder's kernel. If it defines a value, a new
 * one of type t is made and returned. */
k_val k_append(k_builder *b, const k_stmt *s, ir_type t);
kernel *k_clone(const kernel *k, arena *a);        /* a copy in `a` that shares nothing with it */
/* A copy that shares with `like`, which lives as long and does not change, the lists that are the same; NULL: nothing. */
kernel *k_clone_like(const kernel *k, const kernel *like, arena *a);
kernel *k_clone_beside(const kernel *k, arena *a); /* the same for as long as the kernel lives: shares its names */

/* --- passes --- */
bool k_verify(const kernel *k, arena *a, const char **why); /* types, levels, scopes, converged warp operations */
void k_analyse(kernel *k);       /* fills shape and step of every value */
void k_layout(kernel *k, uint32_t align); /* places shared and private memory; liveness between piece-level statements; sets scratch, with a line more if it is large */
/* How many of a K_WHOLE FOR_ALL's `count` threads run. */
int64_t k_whole_threads(const kernel *k, const k_stmt *for_all, int64_t count);
uint32_t k_shared_bytes(const kernel *k); /* of a kernel that is laid out: bytes of shared memory a block needs */
/* Does a kernel that is laid out fit into `there` bytes of shared memory? Else *why says who wants how much. */
bool k_fits(const kernel *k, size_t there, arena *a, const char **why);
/* For devices whose lanes do not exchange values: the same kernel in which every FOR_ALL with COMPACT, COUNT, SHUFFLE, an ALL where
 * lanes are together, or a SET of a variable of the piece has become several, which pass values through shared and private
 * memory. Gangs of at most `native` lanes keep their exchanges where no CHECK can take lanes away. tile > 0: loops of FOR_ALLs
 * of known size in which every thread reads the same elements get these through shared memory, `tile` at a time. `k` itself
 * if there is nothing to do; the copy lives in `a`. */
kernel *k_split(kernel *k, uint32_t native, uint32_t tile, arena *a);
/* For devices whose threads in step, `native` of them, exchange values: the same kernel with gangs half as wide, of threads that take
 * two lanes each, where its gangs have 2 native lanes and no CHECK takes lanes away; then k_split leaves its exchanges alone. `k` itself
 * if there is nothing to do, or nothing that can be done; the copy lives in `a`. */
kernel *k_pair(kernel *k, uint32_t native, arena *a);
/* A literal that a number of threads cannot exceed, or 0: the number itself, or a minimum with it. */
k_val k_bound_of(const kernel *k, k_val count);
/* Threads of the widest FOR_ALL; `unknown` where the text does not say how many one has. */
int64_t k_widest(const kernel *k, int64_t unknown);
/* Lets several gangs of a block take a piece each (kernel.abreast), where pieces have no more to do at a time than `native` threads
 * in step. */
void k_go_abreast(kernel *k, uint32_t native);
void k_expand_math(kernel *k);   /* replaces MATH rows by primitive statements (ir/math); emitters need it done */
void k_print(const kernel *k, text *out);
kernel *k_parse(arena *a, const char *source, const char **message); /* NULL and a message with the line */
/* A canonical serialisation without names and sites' meaning: equal kernels, equal bytes; the key of every cache. */
void k_key(const kernel *k, text *out);
/* Runs it in plain C, pieces in order: the oracle of the emitters' tests; false at once if it has foreign code. mem: pointers of the globals. */
struct k_error;
bool k_interpret(const kernel *k, arena *a, void *const *mem, const ir_bits *arg, int64_t first, int64_t last, struct k_error *error);

#endif
