/* What the files that make permutes' kernels share. */
#ifndef SN_SKELETON_PERMUTE_PARTS_H
#define SN_SKELETON_PERMUTE_PARTS_H

#include "skeleton/permute/permute.h"

#include "skeleton/map/map.h"
#include "skeleton/map/stretches.h"

enum { SK_PERMUTE_ROWS_AT_ONCE = 256 }; /* of a stretch, at most */

typedef struct sk_permute {
    sk_lower *lw;
    ir_id anchor; /* the first operation, which names the places of all */
    const sk_permuted *all;
    const ir_array *to; /* a result, as the places' shape */
    ir_fn **fn;         /* per operation; NULL: the last element stays */
    const ir_id *target;
    ir_id element[IR_MAX_COMPONENTS];
    ir_id term[IR_MAX_RANK + IR_MAX_COMPONENTS]; /* both, one after the other */
    bool tables, divided;
    bool rarely;         /* most elements change nothing where a part chooses */
    bool counts;         /* tables hold how many elements there are, which are all alike */
    ir_type places_type; /* of places in shared memory */
    bool compacts;       /* only the elements of the worker's range are kept of a stretch where they are computed, */
    bool sifts;          /* ... or behind that, as are those that go nowhere */
    bool along;          /* stretches are computed along rows: */
    bool overlaps;       /* ... in whole gangs, which may compute some elements twice */
    unsigned column;     /* the dimension where their run begins */
    sk_stretches cuts;   /* ... along them */
    sk_factor factor;    /* elements of a lane */
    bool may_drop;       /* some elements of a stretch may go nowhere */
    bool drops;          /* ... because the program says so */
    bool may_fail;       /* some may have neither place nor value */
    bool only_places;    /* values are looked for elsewhere, and none can fail */
    int64_t stretch;
    k_val elements, places, begin, end; /* of the source; begin, end: of the block */
    k_val low, high;                    /* places of this worker */
    k_val apart;                        /* records from one table to the next */
    k_mem at, *value; /* shared: of a stretch, the place of each element (-1: nowhere), and its value, or 0: */
    k_mem *read;      /* it is where its own memory has it, or 0: */
    bool *computed;   /* it is made of its position, or a constant */
    k_mem key;        /* memory that has places as they are, or 0; */
    bool direct;      /* elements are combined from memory now */
    bool rows;        /* rows of elements go to rows of places */
    const sk_permute_vector *vector; /* records of tables are vectors; NULL: they are not */
    k_val lane;                      /* of the vector, or the one that takes elements in turn */
    k_mem vectors;                   /* shared: of a stretch, what is combined, as records are; 0: see `value` */
    k_val from;                      /* where the stretch begins */
    k_mem *into, has;                /* where totals are; has: 0 if all are there */
    sk_permute_record record;        /* of tables */
    bool planes;                     /* tables: component by component, not records side by side */
    int64_t several;                 /* tables of a block */
    k_val base;                      /* the first record of the block, or of the table at hand */
    k_mem marks; /* shared, where threads share a block: of each thread, a bit for every element of a stretch */
} sk_permute;

/* Emits an element's place and components: `inside` says whether it has a place, else `place` is any number. What lies
 * outside is reported by sk_permute_report. */
typedef struct sk_permute_found {
    const ir_id *term; /* of its own */
    k_val index[IR_MAX_RANK], value[IR_MAX_COMPONENTS];
    k_val inside, dropped, place; /* inside 0: always; dropped 0: never */
    k_val good[IR_MAX_RANK];      /* may go on; 0: it surely may */
} sk_permute_found;

/* --- permute.c --- */
void sk_permute_open(sk_permute *m, sk_lower *lw);
/* Targets and elements at the loop's own index, and what may become of them. */
void sk_permute_find_elements(sk_permute *m);
/* The terms of all components' elements, at the loop's own index. */
void sk_permute_elements(sk_lower *lw, ir_id *element);
void sk_permute_find(sk_permute *m, k_val position, sk_permute_found *f);
/* ... of these terms, where the loop's variables are bound, */
void sk_permute_find_here(sk_permute *m, const ir_id *term, sk_permute_found *f);
void sk_permute_bind_position(sk_permute *m, k_val position); /* ... as this does */
void sk_permute_report(sk_permute *m, sk_permute_found *f);
/* The same in two parts: of which the first one is where the loop's variables are bound. */
void sk_permute_judge(sk_permute *m, sk_permute_found *f);
void sk_permute_report_judged(sk_permute *m, const sk_permute_found *f);
k_val sk_permute_place(sk_permute *m, k_val place); /* as shared memory has it: of vectors, the first lane's */
k_val sk_permute_nowhere(sk_permute *m);
k_val sk_permute_load_place(sk_permute *m, k_val at); /* of a stretch */
/* f(new, old) into a total, of a part. */
void sk_permute_combine(sk_permute *m, const sk_permute_part *part, k_val place, const k_val *new, const k_val *old);
/* The operator's parameters are these values of all components. */
void sk_permute_bind(sk_permute *m, const sk_permute_part *part, const k_val *new, const k_val *old);
/* What the part's components become. */
void sk_permute_apply(sk_permute *m, const sk_permute_part *part, k_val *out);
void sk_permute_take(sk_permute *m, k_val begin, k_val end); /* elements [begin, end), stretch by stretch */

/* Is it the element of an array in memory at the loop's own position? */
bool sk_permute_is_own_read(const sk_permute *m, ir_id element);

/* --- permute_stretch.c: places and values of a stretch --- */
/* How they are computed: sets `factor`, `along` and what belongs to it, and the lanes. After sk_open_space. */
void sk_permute_open_stretches(sk_permute *m);
/* Of so many elements from m->from on. */
void sk_permute_compute(sk_permute *m, k_val count);
/* Those among them that the worker combines, one behind the other; gives how many. */
k_val sk_permute_sift(sk_permute *m, k_val count);

/* --- permute_vector.c: records that are vectors --- */
void sk_permute_open_vectors(sk_permute *m);
void sk_permute_clear_vectors(sk_permute *m);
void sk_permute_store_vector(sk_permute *m, k_val j, const k_val *value); /* element j of the stretch */
void sk_permute_take_vector(sk_permute *m, k_val j, k_val place);         /* it goes to its place */

/* --- permute_changes.c: elements that change nothing --- */
/* Opens conditions, within which an element is combined with a total that it may change; gives how many. */
unsigned sk_permute_ask(sk_permute *m, const sk_permute_part *part, const k_val *new, const k_val *old);

/* --- permute_totals.c: where totals are, and how those of blocks come into the result --- */
k_mem sk_permute_result(sk_permute *m, uint32_t component);
void sk_permute_open_totals(sk_permute *m);
k_val sk_permute_base(sk_permute *m, k_val block); /* the number of its first record */
k_val sk_permute_records(sk_permute *m, k_val of_a_table);
k_val sk_permute_total_at(sk_permute *m, uint32_t c, k_val place); /* the element of a table, or of the result */
k_val sk_permute_has_at(sk_permute *m, uint32_t part, k_val place);
void sk_permute_clear_totals(sk_permute *m);
void sk_permute_merge(sk_permute *m); /* the second pass */

/* --- permute_rows.c: rows of elements that go to rows of places --- */
void sk_permute_row_lanes(sk_permute *m);
void sk_permute_take_rows(sk_permute *m); /* a block */

#endif
