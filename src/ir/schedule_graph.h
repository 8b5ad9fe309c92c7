/* What the scheduler knows of the scalar terms it is to place: the terms reachable from the results, operands first, the
 * edges between them, and how far each may be moved. Constants, variables and extents are no items: they are there
 * everywhere. */
#ifndef SN_IR_SCHEDULE_GRAPH_H
#define SN_IR_SCHEDULE_GRAPH_H

#include "ir/term.h"

/* When the operand at the end of an edge is evaluated. */
typedef enum { EDGE_NOW, EDGE_THEN, EDGE_ELSE, EDGE_TEST, EDGE_BODY } edge_kind;

typedef struct edge {
    ir_id term;
    edge_kind kind;
} edge;

/* How carefully a term must be placed. SHY terms (reads that are known to be inside) do not move above a condition,
 * because what is known may be known from it; but they do move out of loops. GUARDED ones (partial operators, unchecked
 * reads, loops that may not end) are only evaluated where every path evaluates them. */
enum { LEVEL_FREE, LEVEL_SHY, LEVEL_GUARDED };

enum { IS_CERTAIN_TEST = 1, IS_CERTAIN_BODY = 2, IS_IN_TEST = 4 };

#define NO_ITEM UINT32_MAX

typedef struct item {
    ir_id id;
    uint32_t binder;     /* item of the innermost loop that binds a variable it depends on; NO_ITEM: none */
    uint32_t uses;       /* edges that end here, results included */
    uint8_t certain;     /* IS_...: does every path through the binder's test or body evaluate it? */
    uint8_t level;       /* LEVEL_FREE if certain */
    uint8_t outer_level; /* seen from outside all loops */
} item;

typedef struct graph {
    const ir_program *program;
    arena *arena;
    VEC(item) item; /* operands first; ascending ids, but for terms of extents alone, which come first */
    map64 index;    /* term -> item + 1 */
    map64 binder;   /* variable -> item of its loop + 1 */
} graph;

void ir_graph_build(graph *g, const ir_program *p, arena *a, uint32_t n, const ir_id *result);

uint32_t ir_graph_item(const graph *g, ir_id term); /* NO_ITEM for a leaf */
uint32_t ir_graph_edges(const ir_program *p, ir_id term);
edge ir_graph_edge(const ir_program *p, ir_id term, uint32_t k);

#endif
