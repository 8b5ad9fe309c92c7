/* Row loops (L_CLASS_ROW): the elements of a row in order, in one or more sweeps; scans, packs, folds that the same row
 * reads. The order of combination is that of docs/determinism.md.
 *
 * A row is walked in pieces, a piece in gangs of ROW_GANG lanes. What a member of the loop keeps while that goes on
 * lies in shared memory: the accumulators of a fold whose operator commutes by position, the totals of gangs and larger
 * blocks else, the state of a scan, the packed elements of a piece. */
#ifndef SN_SKELETON_ROW_H
#define SN_SKELETON_ROW_H

#include "skeleton/fold/fold.h"

enum {
    ROW_GANG = 64,    /* positions whose prefixes a gang computes */
    ROW_PIECE = 4096, /* positions of a piece */
    ROW_WINDOW = 128, /* pieces of a window */
    ROW_SUMS = 128,   /* accumulators of an operator that commutes */
    ROW_LEVELS = 6    /* of blocks of 64 blocks, or of pieces of pieces: 64 to the power of 6 positions */
};

typedef struct row_part { /* a member of the loop */
    sk_fold fold;         /* operator, components; `info` is that of the member, whatever it is */
    const l_op *op;
    uint32_t n;       /* components */
    ir_id *element;   /* terms: what is stored, accumulated, scanned or packed; outer members: the row's values */
    ir_id keep;       /* PACK: the term that decides. FOLD: it adds up how often this term holds; 0: it does not */
    uint32_t counter; /* PACK, FOLD with `keep`: the first part of the sweep with the same one, which counts for all */
    ir_id flag;       /* SCAN: it adds up how often this term holds, and the device counts lanes; 0: it does not */
    ir_id *given;     /* SCAN, FOLD, outer members: variables that stand for the result where others read it */
    bool ordered;     /* FOLD: the operator keeps order. True for scans */
    bool harmless;    /* the operator may run in lanes that hold nothing */
    bool late;        /* depends on results of scans */
    bool behind;      /* its elements do */
    bool late_keep;   /* what is kept depends on results of scans */
    k_mem *cell;      /* FOLD, outer: the row's value, per component */
    k_mem *node;      /* ordered: totals of gangs, of blocks of 64 gangs ... level by level, each in row_slot; */
    bool in_order;    /* ... or gangs' totals one behind the other */
    k_mem *tail;      /* FOLD, ordered: prefixes of a gang that is not whole */
    k_mem *prefix;    /* SCAN: the piece's prefixes, if they wait for the state; NULL: they are computed again */
    k_mem *sums;      /* commuting folds: accumulators, level by level */
    k_mem *window, *in_window; /* SCAN: the state before the window, and what follows in it */
    k_mem *kept;               /* PACK: the piece's elements that are kept, one behind the other; where blocks are many
                                  threads, these are the results themselves, as no lane writes beyond what it keeps */
    k_val from;                /* counters, there: where in the results the elements of the piece at hand begin */
    k_mem count;               /* counters: how many elements of the piece are kept */
    k_val *state;              /* SCAN: before the piece at hand, */
    k_val has_state;           /* and whether there is one; 0: there is */
    k_val *carry;              /* variables of the open FOR_ALL */
    k_val has_carry;
    k_val *sum;   /* SCAN: variables of the open FOR_ALL: sums by position, see row_any_order; with `flag` one */
    k_val packed; /* counters: variable of the open FOR_ALL: elements kept so far */
    k_mem offset; /* counters, where a block walks whole rows: how many earlier pieces keep */
    k_val before; /* counters, where a block takes a piece: the same */
    k_mem *out;   /* FOLD: results, or partial results */
} row_part;

typedef struct row_kept { /* a term whose values wait in shared memory, by position in the row, for later sweeps */
    ir_id term;
    uint8_t sweep; /* that computes it */
    uint8_t until; /* the last one that may need it: in that its memory becomes another one's */
    k_mem memory;
} row_kept;

typedef struct row_loop {
    sk_lower *lw;
    sk_folds folds; /* for what is shared with fold.c */
    bool combine;   /* folds only, of partial results */
    bool right;
    VEC(row_part) part;
    VEC(row_kept) keeps;         /* where a block walks along whole rows that are not too long */
    bool keeping;                /* ... as the row at hand is */
    k_val length, row, row_base; /* of the row at hand */
    k_val stride;                /* from one element to the next; 0: it is 1 */
    ir_id segment; /* rows are segments: the variable that stands for the number of one in what is cut into them; else 0
                    */
    k_val begin;   /* ... and where in that it begins; 0: at its beginning */
    bool brief;    /* rows have at most 64 pieces */
} row_loop;

/* What a walk over a piece does with the members of a sweep. */
typedef enum row_fetch {
    ROW_FETCH_NOTHING,
    ROW_FETCH_ALL, /* of the piece that comes next; */
    ROW_FETCH_SOME,
    ROW_FETCH_REST,  /* ... for every fourth gang, or for the others */
    ROW_FETCH_AHEAD, /* half a piece further on */
    ROW_FETCH_ROW    /* of the next row, what its first sweep reads */
} row_fetch;

typedef struct row_walk {
    uint8_t sweep;
    bool totals;  /* scans: their gangs' totals; */
    bool only;    /* no prefixes: these are found when the state is known */
    bool counts;  /* counters that do not take part: how many elements are kept */
    bool results; /* scans: results; and everything that depends on them */
    bool early;   /* everything that does not depend on results of scans */
    row_fetch fetch;
} row_walk;

/* Begins a kernel of so many lanes: what sk_open wants is set, and r->combine. */
void row_begin(row_loop *r, uint16_t lanes);
/* The second half of it, where the kernel is open. */
void row_find(row_loop *r);
/* Results first, so that launches list them first. */
void row_declare_results(row_loop *r);
/* Partial results that are combined. */
void row_declare_partials(row_loop *r, row_part *p);
/* The memory that a member needs: of blocks that walk along whole rows, or of those that take a piece; with what
 * results need, or not. */
void row_declare(row_loop *r, row_part *p, bool whole_rows, bool results);
/* The results of a fold, or partial results. */
void row_declare_fold(row_loop *r, row_part *p);
/* Shared memory of `count` elements, per component. */
k_mem *row_cells(row_loop *r, const row_part *p, int64_t count, const char *name);
/* seed (+) total to the row's cell and the result; or the total to the partial results. */
void row_finish_fold(row_loop *r, const row_part *p, k_val position, k_val *total);
/* A count as the fold that is one has it. */
k_val row_as_sum(row_loop *r, const row_part *p, k_val count);
/* out = first (+) second, in the order of positions */
void row_apply(row_loop *r, const row_part *p, const k_val *first, const k_val *second, k_val *out);
/* The part that counts what this one keeps; NULL: it keeps all. */
static inline row_part *row_counter(row_loop *r, const row_part *p)
{
    return p->keep ? &r->part.at[p->counter] : NULL;
}
static inline bool row_packs_directly(const row_loop *r)
{
    return r->lw->options->group > 0;
}
static inline bool row_counts(const row_loop *r, const row_part *p)
{
    return p->keep && &r->part.at[p->counter] == p;
}
/* Values per component of a part; variables; what is in these or in memory, in x or, where that is NULL, in new values.
 */
k_val *row_values(row_loop *r, const row_part *p);
k_val *row_variables(row_loop *r, const row_part *p, const k_val *initial, const char *name);
k_val *row_get(row_loop *r, const row_part *p, const k_val *variable, k_val *x);
void row_set(row_loop *r, const row_part *p, const k_val *variable, const k_val *x);
k_val *row_load(row_loop *r, const row_part *p, const k_mem *m, k_val at, k_val *x);
void row_store(row_loop *r, const row_part *p, const k_mem *m, k_val at, const k_val *x);
static inline uint32_t row_terms(const row_part *p)
{
    return sk_fold_terms(&p->fold);
}
unsigned row_dimension(const row_loop *r); /* of the loop's, the one that rows go along */
/* The indices of position `j` of the row. In a scope of the caller's. */
void row_bind(row_loop *r, k_val j);
/* The same for the row: its outer indices, and what is known of the row already. */
void row_bind_row(row_loop *r, k_val row);
/* Do lanes take rows in gangs that have whole blocks (row_gang_of)? Not if nobody looks at the indices of rows. */
bool row_takes_blocks(const row_loop *r);
/* The row of a lane of such a gang, which begins at row `first`, a multiple of the block. */
void row_bind_in_block(row_loop *r, k_val first, k_val lane);
/* The results that other members of this sweep and later ones read, from their cells. */
void row_bind_cells(row_loop *r, uint8_t sweep);
/* What is computed once a row, before this sweep, goes to its cells, and is stored if that is wanted. */
void row_outer_members(row_loop *r, uint8_t sweep, bool store);
/* A block walks along the whole row at hand, sweep after sweep. */
void row_whole(row_loop *r);
/* The same of a row of one piece, more than SK_SHORT positions; without packs and counters. */
void row_whole_piece(row_loop *r);
/* Has a sweep anything to do at positions? */
bool row_has_positions(const row_loop *r, uint8_t sweep);

/* --- short rows, a lane each (fold/lanes.c) --- */

typedef struct row_stored { /* of a lane that has code for each position of its row: what is still to be stored */
    k_mem memory;
    k_val at, value;
} row_stored;

typedef struct row_lanes {
    row_loop *r;
    k_val **acc;       /* per part, variables: FOLD, SCAN: what it has come to; PACK: one, how many are packed */
    k_val started;     /* there is a position before the one at hand */
    bool uneven;       /* lanes have rows of several lengths */
    int64_t code_each; /* rows have so many positions, each of which has code of its own; 0: there is a loop */
    VEC(row_stored) stored;
} row_lanes;
/* All sweeps over the row at hand. */
void row_by_lanes(row_lanes *s, uint8_t sweeps);

/* --- what sweeps leave for later ones (row_keep.c) --- */

/* Finds the terms that are worth keeping, and how many bytes these are at each position. */
size_t row_find_kept(row_loop *r);
/* The longest row that can be kept so; 0: nothing is. */
int64_t row_kept_length(size_t bytes);
int64_t row_declare_kept(row_loop *r); /* finds them, too; returns that length */
/* Which of them take over the memory of others, numbers, themselves if none. */
void row_share_kept(row_loop *r, uint32_t *of);
/* At position `j` of the row, in the list that computes a sweep's elements: what earlier sweeps have left is known;
 * what later ones will need is kept, once it is known. */
void row_use_kept(row_loop *r, uint8_t sweep, k_val j);
void row_keep(row_loop *r, uint8_t sweep, k_val j);

/* --- all threads of a block (row_threads.c) --- */

/* Can they walk along rows of such a loop? Then how much shared memory that takes. */
void row_find_threads(row_loop *r, sk_cluster *c);

/* --- gangs (row_gang.c) --- */

/* x becomes the prefixes over the lanes of the gang: of those that hold something, if `holds` is given. */
void row_prefixes(row_loop *r, const row_part *p, k_val lane, k_val holds, k_val *x);
/* x becomes the total of the gang, in all lanes, which all hold something. */
void row_gang_total(row_loop *r, const row_part *p, k_val *x);
/* Is it stored, folded or packed in this walk? */
bool row_takes_part(const row_part *p, const row_walk *w);
/* Gives the operator the same in any order, exactly? */
bool row_any_order(row_loop *r, const row_part *p);
/* Positions [begin, begin + count) of the row. Carries of scans start with the parts' states. */
void row_piece(row_loop *r, const row_walk *w, k_val begin, k_val count);

/* --- sweeps that only fold (row_folds.c) --- */

/* Are all members of the sweep folds whose operators commute, or elements? */
bool row_only_folds(const row_loop *r, uint8_t sweep);
/* Positions [begin, begin + count) of the row, a piece at most; totals come to the first of the folds' sums. */
void row_fold_registers(row_loop *r, uint8_t sweep, k_val begin, k_val count);

/* --- what remains of gangs and pieces (row_sums.c) --- */

/* Where block number `block` of 64 stands in its level of p->node: the bits of its number in reverse, so that
 * neighbours are half a level apart, and half as far on the next. */
k_val row_slot(row_loop *r, k_val block);
void row_declare_sums(row_loop *r, row_part *p, int64_t levels);
/* Blocks of 64 that lie in level `level` of p->node, `valid` of them: their total goes to that of block `to` of the
 * next level, or to place 0 if gangs' totals are in order. */
void row_tree(row_loop *r, const row_part *p, k_val level, k_val valid, k_val to);
/* The total of a piece of `count` positions of a fold, which its gangs have accumulated. */
void row_piece_total(row_loop *r, const row_part *p, k_val count, k_val *total);
/* The totals of folds after piece number `piece` of `pieces`, `count` positions long, go up the levels. */
void row_fold_piece(row_loop *r, const row_part *p, k_val piece, k_val pieces, k_val count);
/* What row_fold_piece has made of all pieces of the row. */
void row_fold_total(row_loop *r, const row_part *p, k_val pieces, k_val *total);

/* --- states (row_states.c) --- */

/* What the first window of a scan begins with: the seed, or what changes nothing; NULL: nothing. */
k_val *row_first_state(row_loop *r, const row_part *p);
/* The state before piece number `piece` of the row, from that of its window and what follows in it: p->state. */
void row_state_before(row_loop *r, row_part *p, k_val piece, const k_val *window, const k_val *in_window);
/* Both after a piece whose total is known. */
void row_state_after(row_loop *r, const row_part *p, k_val piece, k_val *window, k_val *in_window, const k_val *total);

typedef struct row_carried { /* from piece to piece: per scan the window and what follows, per pack the offset */
    uint8_t n;
    k_val aggregate[K_MOST_CARRIED], initial[K_MOST_CARRIED], result[K_MOST_CARRIED];
} row_carried;

/* `late`: of packs of which the states of scans decide how much they keep; else of all others. A piece's aggregates,
 * and what the first piece begins with. */
void row_find_carried(row_loop *r, bool late, k_val count, row_carried *x);
/* result = left (+) what piece number `piece` adds: left and right are variables. */
void row_combine_carried(row_loop *r, bool late, k_val piece, const k_val *left, const k_val *right, k_val *result);
/* The states and offsets of the piece at hand are these. */
void row_use_carried(row_loop *r, bool late, k_val piece, const k_val *before);
/* A value as a word of the state, and back. */
k_val row_to_word(row_loop *r, k_val x);
k_val row_from_word(row_loop *r, ir_type t, k_val word);
/* The memory of the states, behind `before` words a piece; the place of word j of a piece. */
k_mem row_state_memory(row_loop *r, uint32_t before);
k_val row_word_at(row_loop *r, k_val piece, uint8_t j);
/* The types of what is carried, in its order; how many these are. */
uint8_t row_carried_types(const row_loop *r, ir_type *type);

#endif
