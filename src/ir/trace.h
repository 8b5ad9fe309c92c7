/* What `trace` saw while a launch or the interpreter ran: the smallest elements, in their order. */
#ifndef SN_IR_TRACE_H
#define SN_IR_TRACE_H

#include "ir/ops.h"

enum { IR_MOST_TRACES = 1000 }; /* kept of one launch */

typedef struct ir_trace_entry {
    int64_t element;
    uint64_t order; /* of the note: an element's are kept in the order in which they were made */
    ir_bits value;
    uint32_t site;
    uint8_t type;
} ir_trace_entry;

typedef struct ir_trace { /* all zero but for the heap: nothing noted */
    const base_heap *heap;
    uint32_t lock;
    ir_trace_entry *entry; /* of the heap, room for twice as many as are kept; NULL: none so far */
    uint32_t n;
    uint64_t noted; /* of which n are kept */
} ir_trace;

void ir_trace_note(ir_trace *t, uint32_t site, ir_type type, int64_t element, ir_bits value); /* thread-safe */
/* All that is kept, by element. */
void ir_trace_sort(ir_trace *t);
/* Forgets all of it. */
void ir_trace_clear(ir_trace *t);

#endif
