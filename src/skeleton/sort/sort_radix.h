/* What kernels that sort by digits share. */
#ifndef SN_SKELETON_SORT_RADIX_H
#define SN_SKELETON_SORT_RADIX_H

#include "skeleton/sort/sort.h"

enum { SK_STAGE = 256 }; /* elements whose digits a core finds at a time */

typedef struct sk_radix_kernel {
    sk_sort s;
    sk_radix r;
    int64_t digits;
    k_val n, pieces, size, shift; /* of a row; pieces of it; elements of one; where the digit is in the key */
    k_val row, number;            /* the piece at hand, in its row */
    k_val begin, count;           /* its elements, in the row */
    k_val linear;                 /* its first element, in the array */
} sk_radix_kernel;

/* The digit of a key, of a component, that begins at bit `shift`, as this type. */
k_val sk_radix_digit(sk_radix_kernel *x, uint32_t component, k_val key, k_val shift, ir_type as_type);

/* slots: 0 row length, 1 pieces a row, 2 elements a piece, 3 shift, 4 rows */
void sk_radix_begin(sk_radix_kernel *x, sk_lower *lw, uint16_t lanes, bool moves);
k_val sk_radix_own_digit(sk_radix_kernel *x, k_val key, ir_type as_type); /* the kernel's */
/* Element k of the piece, its components [first, end); its key that has the kernel's digit. */
void sk_radix_element(sk_radix_kernel *x, k_val k, uint32_t first, uint32_t end, k_val *out);
k_val sk_radix_key(sk_radix_kernel *x, k_val k);
/* The state: how many elements of a digit a piece has, or what is before them, digit by digit in each row; behind that,
 * per piece and key, the bits that any and that all of the keys have; behind that, where a block is many threads, how
 * many elements of a digit a row has: what is before a piece's is then only of the same digit. */
k_val sk_radix_count_at(sk_radix_kernel *x, k_val digit);
k_val sk_radix_bits_at(sk_radix_kernel *x, uint32_t key);

/* --- elements in a core's shared memory (sort_record.c) --- */

typedef struct sk_record_part { /* where a component is */
    uint32_t word;
    uint8_t shift;
} sk_record_part;

typedef struct sk_record_word {
    ir_type type;
    bool shared; /* by several components, whose bits it has: then it is unsigned */
} sk_record_word;

typedef struct sk_record {
    const ir_array *info;
    uint32_t words;
    sk_record_part *part; /* per component */
    sk_record_word *word;
} sk_record;

sk_record sk_record_of(arena *a, const ir_array *info);
void sk_record_words(k_builder *b, const sk_record *r, const k_val *value, k_val *word);
k_val sk_record_component(k_builder *b, const sk_record *r, uint32_t c, k_val word); /* of the word that has it */

/* --- blocks of many threads (sort_threads.c) --- */

void sk_radix_count_by_threads(sk_lower *lw);
void sk_radix_places_by_threads(sk_lower *lw);
void sk_radix_move_by_threads(sk_lower *lw);

#endif
