/* What the skeletons of folds share: the folds of a cluster, their elements and operators (fold.c). */
#ifndef SN_SKELETON_FOLD_H
#define SN_SKELETON_FOLD_H

#include "opt/choice.h"
#include "skeleton/variants.h"

typedef struct sk_fold { /* one fold of the cluster */
    const l_op *op;
    const ir_array *info;
    const ir_array *wide; /* sums of small numbers are added up in 32 bits: the sum as the program has it; else NULL */
    const ir_array
        *count;         /* sums of what is 1 or 0: the sum of a piece's elements, in as few bits as they have; NULL */
    uint32_t n;         /* components */
    uint32_t first;     /* number of its first component over all folds */
    ir_id *element;     /* terms accumulated; combining launches have none */
    ir_bits *identity;  /* per component, or NULL: the operator has none that we know */
    bool fused_product; /* element 0 is a product that goes into a sum */
    uint64_t extreme;   /* components whose least or greatest float is found by comparisons first (fold_extreme.c) */
    k_val *zeros; /* ... of these components: variables, the least of all elements' bits so far, as sk_fold_watch has
                     them; 0: nobody watches */
    k_mem *in;    /* partial results to combine */
} sk_fold;

typedef struct sk_folds {
    sk_lower *lw;
    sk_tree tree;
    int64_t lanes; /* of the kernel's gangs, where they are not the tree's; else 0 */
    bool combine;
    bool mixes;       /* all lanes go to one result */
    bool narrows;     /* accumulators take in at most a piece's elements, and sums of small numbers need few bits */
    bool counts;      /* ... and what is 1 or 0 is counted in as many as its elements have (sk_fold_begin_counts) */
    bool by_position; /* accumulators hold one element each, which is combined later */
    bool neutral;     /* all operators have an identity: accumulators that received nothing may take part */
    VEC(sk_fold) fold;
    k_mem **totals;    /* of a block's pieces */
    sk_outputs stored; /* elements stored on the way; of array 0: in shared memory number `component`, */
    k_val stage;       /* ... by their distance from this element */
    k_val row_length, row_base;
    ir_id begins;                 /* rows are segments: the array that says where they begin; else 0 */
    k_val begin;                  /* first element of the piece at hand, where there are extremes */
    k_mem words;                  /* partial results are the bits of words of this memory, */
    k_val words_each;             /* so many of each component; 0: they are not */
    k_val every;                  /* elements from one that was folded to the next one; 0: one */
    bool alone;                   /* each lane has rows of its own */
    bool for_each;                /* a block's partial result is stored for each of its pieces (l_cluster.mixed) */
    struct sk_flat *flats, *flat; /* positions in the row have indices of their own (fold_flat.c), or NULL; the same
                                     where elements have them bound */
    int64_t offset;               /* of the group at hand in its round */
    bool stages;                  /* arrays that elements are read from are computed first (fold_stage.c): */
    struct sk_staged *staged;     /* these, or NULL */
    /* NULL: indices are made from the row's number and the place within it. Else binds those of element k, in a scope
     * of the caller's, and sets lw->element. */
    void (*bind)(void *env, k_val k);
    void *bind_env;
} sk_folds;

/* Stores number i of what is stored on the way, of the element at hand. */
void sk_fold_leave(sk_folds *s, uint32_t i, k_val value);

typedef struct sk_fold_part { /* of a row: what a piece folds */
    k_val row, begin, count;
} sk_fold_part;

typedef struct sk_fold_block { /* of pieces of a row, which is what a worker claims */
    k_val row, first, end;     /* its pieces are [first, end) */
    k_val base, position;      /* of the row: its first element; the partial result of its first piece */
} sk_fold_block;

enum { SK_MOST_STREAMS = 8, SK_SMALL = 8 }; /* operations of an element whose code may be repeated */

/* Begins a kernel: what sk_open wants is set, and so are s->combine and `stages`. Finds the folds and what is stored on
 * the way, and declares the memories of results and partial results. */
void sk_fold_begin(sk_folds *s);
/* The second half of it, where the kernel is open. */
void sk_fold_find(sk_folds *s);

/* Per component, a value that changes nothing on the left of any other; NULL if none is known. */
ir_bits *sk_fold_identity(const sk_lower *lw, const ir_fn *fn, uint32_t n);
/* Does the fold add up products, whose element becomes two factors? Its info, n, identity and element are set. */
bool sk_fold_product(const sk_lower *lw, const sk_fold *f);

/* Of a cluster that is mixed: the folds that commute, and what is stored on the way; or those that keep order. */
sk_folds sk_folds_of(const sk_folds *s, bool commuting);
/* Folds that keep order, whose totals of a block are in `total`: the row's result, the launch's partial result of the
 * block's number, or, `for_each`, that of each of its pieces. */
void sk_fold_finish_block(sk_folds *s, const sk_fold *f, const sk_fold_block *block, const k_val *total);

/* Wrapping sums: any order gives the same. */
bool sk_fold_adds_integers(const sk_lower *lw, const sk_fold *f);
/* Does each component combine its own two values by a sum or an extreme of integers, so that any order gives the same?
 */
bool sk_fold_in_any_order(const sk_lower *lw, const sk_fold *f);
/* Sums of small numbers (fold_narrow.c): sets `wide` and `count`, and info and element to what is added up instead. */
void sk_fold_narrow(const sk_folds *s, sk_fold *f);
/* own = the accumulators of a piece's elements: those of counts are new, the others are those of `acc`. Until the
 * counts of own[0] are in acc[0] folds are these counts. */
void sk_fold_begin_counts(sk_folds *s, int64_t streams, k_val **const *acc, k_val ***own);
void sk_fold_end_counts(sk_folds *s, k_val *const *own, k_val *const *acc);

/* out = left (+) right, component by component */
void sk_fold_apply(sk_lower *lw, const sk_fold *f, const k_val *left, const k_val *right, k_val *out);

/* --- what folds have come to (fold_values.c): per fold and component --- */

/* Variables, set to the identity if there is one. */
k_val **sk_fold_accumulators(sk_folds *s);
/* Memory for `count` of them, shared or of each thread. */
k_mem **sk_fold_memory(sk_folds *s, bool shared, int64_t count, const char *name);
/* m[at] = acc; acc = m[at]; the same with new variables */
void sk_fold_keep(sk_folds *s, k_mem *const *m, k_val at, k_val *const *acc);
void sk_fold_take_kept(sk_folds *s, k_mem *const *m, k_val at, k_val *const *acc);
k_val **sk_fold_kept(sk_folds *s, k_mem *const *m, k_val at);
/* into = left (+) right */
void sk_fold_combine(sk_folds *s, k_val *const *left, k_val *const *right, k_val *const *into);
/* into (+)= from, where `has` holds (0: everywhere); into = from (+) into. Of extremes that are not settled, too. */
void sk_fold_merge(sk_folds *s, k_val *const *into, k_val *const *from, k_val has);
void sk_fold_merge_behind(sk_folds *s, k_val *const *from, k_val *const *into);
/* Stores seed (+) total to element `row` of the result, or total to element `position` of the partial results. `empty`:
 * a bool value, true where there is no total; 0: there is one. `out` gets what is stored; NULL: nobody wants it. */
void sk_fold_finish(sk_folds *s, const sk_fold *f, k_val row, k_val position, const k_val *total, k_val empty,
                    k_val *out);
/* The same for all folds, whose totals are in variables. */
void sk_fold_finish_all(sk_folds *s, k_val row, k_val position, k_val *const *acc, k_val empty);

/* The part of a piece of `piece` elements (slots: 0 row length, 1 pieces a row); sets row_base. */
sk_fold_part sk_fold_part_of(sk_folds *s, int64_t piece);
/* Binds the indices of element k of the row; in a scope of the caller's. */
void sk_fold_bind(sk_folds *s, k_val row, k_val k);

/* How many terms an element has: the two factors of a product that is summed. */
static inline uint32_t sk_fold_terms(const sk_fold *f)
{
    return f->fused_product ? 2 : f->n;
}
/* An element, as its terms have it, or a partial result goes into the accumulators of its fold. */
void sk_fold_take(sk_folds *s, const sk_fold *f, const k_val *value, k_val started, const k_val *acc);
/* The element number k of a row goes into the accumulators. `started` is a bool value: false for the first element that
 * they receive. row_base must be set. */
void sk_fold_element(sk_folds *s, k_val row, k_val k, k_val started, k_val *const *acc);
uint16_t sk_fold_lanes_for(const sk_folds *s);               /* as many as suit their elements */
bool sk_fold_harmless(const sk_lower *lw, const sk_fold *f); /* may the operator run in lanes that hold nothing? */
/* Sums of the lanes of a piece of `count` elements, in variables, become the piece's, in lane 0. */
void sk_fold_lanes(sk_folds *s, k_val row, k_val lane, k_val count, k_val *const *acc);
/* Lane 0 stores its variables: the row's result, or the partial result number `position`. */
void sk_fold_store(sk_folds *s, k_val row, k_val lane, k_val position, k_val *const *acc);

/* Operators that commute: group t of a round that begins at position `within` of the piece; masked: not all its
 * elements need be there. */
void sk_fold_group(sk_folds *s, const sk_fold_part *p, k_val lane, k_val within, int64_t t, k_val started, bool masked,
                   k_val *const *acc);
/* Opens a loop over the rows, or blocks, of a piece (slots: 4 how many, 5 all). */
k_val sk_fold_rows_of_piece(sk_folds *s);
/* Rows of a few groups, where the kernel is made for their number (fold_few.c). */
void sk_fold_few(sk_folds *s);

/* A lane's accumulators become one, the first of them; those from `there` on have received nothing in any lane. Where
 * not all others have received an element in all lanes, `count` is the piece's; else 0. */
void sk_fold_streams(sk_folds *s, k_val lane, int64_t there, k_val count, k_val **const *acc);

/* A piece of operators that commute, or of others, whose code has been opened; its total is in lane 0 of acc[0]. */
void sk_fold_piece(sk_folds *s, const sk_fold_part *p, k_val lane, k_val **acc[SK_MOST_STREAMS]);
k_mem **sk_fold_order_memory(sk_folds *s);
void sk_fold_piece_in_order(sk_folds *s, const sk_fold_part *p, k_val lane, k_mem **memory,
                            k_val **acc[SK_MOST_STREAMS]);
/* Component of a partial result in `words`. */
k_val sk_load_word(sk_folds *s, const sk_fold *f, uint32_t component, k_val position);
void sk_store_word(sk_folds *s, const sk_fold *f, uint32_t component, k_val position, k_val value);

/* Shared memory for the totals of a block's pieces. Block `number` of a launch, and a piece of it (slots: 0 row
 * length, 1 pieces a row, 2 blocks a row, 3 pieces a block). Lane 0 has a piece's total in `acc` at its end. Blocks
 * that make a result combine the totals of their pieces, behind the FOR_ALL that has them. */
void sk_fold_totals(sk_folds *s);
void sk_fold_keep_total(sk_folds *s, k_val number, k_val lane, k_val *const *acc); /* of lane 0 */
sk_fold_block sk_fold_block_of(sk_folds *s, k_val number);
sk_fold_part sk_fold_piece_of(sk_folds *s, const sk_fold_block *block, k_val piece);
/* Emits what `take` does for a piece; where comparisons of its indices decide what is read, also for pieces all of
 * whose elements are on one side of each: there they are known. */
void sk_fold_sides(sk_folds *s, const sk_fold_part *p, void (*take)(void *env), void *env);
void sk_fold_piece_done(sk_folds *s, const sk_fold_block *block, k_val piece, k_val lane, k_val *const *acc);
void sk_fold_block_done(sk_folds *s, const sk_fold_block *block);

/* Operators that keep order (fold_order.c): a block's total becomes the row's result, or the launch's partial result
 * number `piece`. */
void sk_fold_in_order(sk_folds *s, const sk_fold_block *block);

/* Least and greatest floats (fold_extreme.c): sets sk_fold.extreme where that pays; their accumulators then hold the
 * best number but for the sign of zero, and infinity where there may be none. */
void sk_find_extremes(sk_folds *s);
/* Registers with which least and greatest floats take an instruction or two. */
static inline bool sk_picks_extremes(const sk_options *o)
{
    return o->vector_bytes >= 64;
}
/* Is a total to be settled: a zero, or no better than the worst? */
k_val sk_fold_is_unsettled(sk_folds *s, const sk_fold *f, uint32_t c, k_val total);
/* Elements that are taken from here on, at thread level, are watched: whether the zero is among them that wins over the
 * other one. sk_fold_settle ends it. */
void sk_fold_watch(sk_folds *s);
void sk_fold_watch_element(sk_folds *s, const sk_fold *f, const k_val *value);
/* out = acc (+) with, for such accumulators or any others */
void sk_fold_accumulate(sk_folds *s, const sk_fold *f, const k_val *acc, const k_val *with, k_val *out);
/* The accumulators of lane 0 get their exact values, from `count` elements of the row from `begin` on, or those of each
 * lane from its own row where `lane` is 0. */
void sk_fold_settle(sk_folds *s, k_val row, k_val begin, k_val lane, k_val count, k_val *const *acc);

/* Rows whose positions are row-major ones of several dimensions, of which elements use the indices (fold_flat.c). Finds
 * out whether they do: then s->flats is set, and behind sk_flat_begin rounds of which `first` is the first position can
 * be emitted in several ways, by `take`, with s->flat set where the quotient and the rest are known. */
void sk_find_flat(sk_folds *s);
void sk_flat_begin(sk_folds *s);
typedef void sk_flat_take(void *env, int64_t group); /* a group of the round */
void sk_flat_round(sk_folds *s, k_val lane, k_val first, sk_flat_take *take, void *env);
/* Binds the quotient and the rest of the element of each lane, in a group that begins s->offset behind the round's. */
void sk_flat_bind(sk_folds *s);

/* Arrays with stencils that only the cluster's folds read (fold_stage.c). Opening makes reads of them ones of shared
 * memory; then elements [begin, end) of the row are computed, before they are read. */
void sk_open_stage(sk_folds *s);
void sk_stage(sk_folds *s, k_val begin, k_val end);

/* Does the operator choose one of these elements (opt_find_choice), in rows of up to `longest`? position: the variable
 * that stands for an element's number in its row; begins: see sk_folds (choices.c). */
bool sk_find_choice(const l_program *l, arena *a, const ir_fn *fn, const ir_id *element, ir_id position, ir_id begins,
                    int64_t *longest, opt_choice *out);
opt_choice sk_choice_of(const sk_folds *s, const sk_fold *f); /* of a fold of a cluster that chooses */
/* Do some of the folds choose, in rows of any length, and can the others be folded in any order? */
bool sk_folds_choose(const sk_folds *s);

/* Devices whose blocks are many threads: the pieces of a block are folded in order (group_chunks.c; slots as
 * sk_launch_group_chunks has them). */
void sk_group_walk(sk_folds *s);

/* Folds that choose an element by its key (fold_choice.c). Loops that go through rows piece by piece choose in one;
 * NULL: these folds do not. Behind sk_fold_find, at piece level; keeps s, of which each piece uses the stage and the
 * row that are set at its time. */
typedef struct sk_chooser sk_chooser;
sk_chooser *sk_open_chooser(const sk_folds *s);
/* At piece level: the totals of all folds, in shared memory of one element each. What is stored on the way is stored.
 * order: memory of sk_fold_order_memory. */
k_mem **sk_choose_piece(sk_chooser *x, const sk_fold_part *p, k_mem **order);
/* The key that none beats but by being a number; does x beat y; the better of x and y, y where x is a NaN. */
ir_bits sk_worst_key(ir_type t, bool greatest);
k_val sk_key_at(sk_folds *s, const sk_fold *f, const opt_choice *of, k_val row, k_val k); /* of element k of a row */
k_val sk_key_beats(k_builder *b, const opt_choice *of, k_val x, k_val y);
k_val sk_better_key(k_builder *b, const opt_choice *of, ir_type type, k_val x, k_val y);
#endif
