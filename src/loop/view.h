/* At which index an array is read: what decides whether a fold's result belongs to the reader's own row. */
#ifndef SN_LOOP_VIEW_H
#define SN_LOOP_VIEW_H

#include "ir/term.h"

enum { L_SEGMENT = 254, L_NO_DIMENSION = 255 };

typedef struct l_view {      /* per dimension of the array that is read: */
    uint8_t of[IR_MAX_RANK]; /* the dimension of the reader's rate whose index it is; L_SEGMENT: the number of the segment
                                that the index of another dimension is in; L_NO_DIMENSION: something else */
    uint8_t along;           /* L_SEGMENT: that dimension, */
    ir_id by;                /* ... and the IR_SEGMENT_OF that says so */
} l_view;

l_view l_view_unknown(void);
l_view l_view_of_operand(const ir_program *p, ir_id reader, uint32_t operand);
l_view l_view_of_read(const ir_program *p, ir_id reader, ir_id read); /* an IR_READ in the reader's function */
/* Does the read take each element at most once, as the loop goes over the reader's indices: at these, shifted, or one
 * of several that take turns? `turns`: the terms of the reader's function of which it takes remainders. */
bool l_view_is_once(const ir_program *p, ir_id reader, ir_id read, const map64 *turns);
/* What a reader sees through an array that it reads at `outer`, and that reads something at `inner`. */
l_view l_view_through(const l_view *outer, const l_view *inner);
/* Is the array read at exactly the reader's index without its innermost component? Then all elements of a row read the
 * same. A fold's rate is that of what it folds. */
bool l_view_is_row(const ir_program *p, ir_id reader, ir_id array, const l_view *view);
/* Is the array, which has an element for each segment of a row, read at the reader's own one? Then all elements of a
 * segment read the same. */
bool l_view_is_segment(const ir_program *p, ir_id reader, ir_id array, const l_view *view);
/* Is the array the numbers of segments that the reader's innermost indices are in, and read there? */
bool l_view_is_number(const ir_program *p, ir_id reader, ir_id array, const l_view *view);

#endif
