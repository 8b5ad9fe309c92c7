/* What the kernels of sorts share: elements, their order, and how a launch goes about them. */
#ifndef SN_SKELETON_SORT_H
#define SN_SKELETON_SORT_H

#include "skeleton/variants.h"

/* The one sort of a cluster, while a kernel of it is built. */
typedef struct sk_sort {
    sk_lower *lw;
    ir_id term;
    const ir_array *info;
    uint32_t n, keys; /* components, of which the first are compared */
    bool descending;
    const ir_id *element; /* terms, where elements come from the program rather than from an earlier launch */
    ir_fn *less;          /* NULL: keys are compared */
    k_mem *from, *to;     /* per component */
} sk_sort;

/* Begins a kernel. `composed`: elements come from the program, else from what an earlier launch left. `moves`: they are
 * stored. */
void sk_sort_begin(sk_sort *s, sk_lower *lw, uint16_t lanes, bool composed, bool moves);
/* Binds the indices of element k of the row, whose number in the array is `linear`; in a scope of the caller's. */
void sk_sort_bind(sk_sort *s, k_val row, k_val k, k_val linear);
/* Components [first, end) of that element. */
void sk_sort_element(sk_sort *s, uint32_t first, uint32_t end, k_val linear, k_val *out);
/* A key as an unsigned number of as many bytes, which is compared in its place. */
k_val sk_order_bits(k_builder *b, ir_type t, k_val key, bool descending);
/* Do such numbers, of the keys one after the other, say that the left ones come before the right ones? */
k_val sk_order_before(k_builder *b, uint32_t keys, const k_val *left, const k_val *right);
/* Does x come before y? Of the same types as elements. */
k_val sk_sort_before(sk_sort *s, const k_val *x, const k_val *y);
/* A word of the state. */
k_mem sk_sort_state(sk_sort *s);

/* --- merging (sort_merge.c) --- */

/* Two neighbouring sorted runs in memory: where they begin, and how many elements they have; what any index may be made
 * at most; and where the merged ones go. */
typedef struct sk_runs {
    const k_mem *from, *to; /* per component */
    k_val left, right, left_length, right_length;
    k_val last, begin;
} sk_runs;
/* Code of a thread that merges them: each of their elements is stored once, whatever the comparison says. */
void sk_sort_merge(sk_sort *s, const sk_runs *r);

/* Elements among which a block finds those that fall. */
enum { SK_RUN_PIECE = 16384 };

/* --- how launches go about their rows (sort_launch.c) --- */

typedef struct sk_chunks {   /* that are sorted within a block */
    int64_t threads, length; /* a thread sorts one */
} sk_chunks;
sk_chunks sk_sort_chunks(const sk_cluster *c, const sk_options *o);

typedef struct sk_radix { /* what a kernel is made for, in sk_options.row */
    uint8_t component, bits;
    bool first;   /* elements come from the program; of places: a block takes a row, not a digit of it */
    bool buffers; /* lines are gathered in shared memory before they are written, past the caches */
} sk_radix;
int64_t sk_pack_radix(sk_radix r);
sk_radix sk_unpack_radix(int64_t row);
/* Blocks of many threads: threads, of which each has so many elements of the piece; and the bits of a digit, of which
 * the block sorts so many at a time. */
enum { SK_RADIX_ITEMS = 16, SK_RADIX_STEP = 4 };
int64_t sk_radix_threads(const sk_options *o);
int64_t sk_radix_piece(const sk_options *o);
uint8_t sk_radix_bits(const sk_options *o);
int64_t sk_record_bytes(const ir_array *info);  /* of an element in a core's shared memory (sort_record.c) */
int64_t sk_line_elements(const ir_array *info); /* gathered at a time */
int64_t sk_sort_room(const ir_array *info);     /* elements that a core sorts within its caches, at most */
/* Elements of rows that lanes sort, at most; lanes of a gang. */
enum { SK_SORT_SHORT = 128 };
int64_t sk_sort_lanes(const ir_array *info, uint32_t vector_bytes);

#endif
