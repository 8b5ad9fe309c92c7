/* What the passes behind k_split share: a kernel is copied, FOR_ALLs that are split end and begin anew at certain
 * statements, and what lives across such a place is kept in private memory. split.c decides where lanes meet, tile.c
 * where tiles are staged, segment.c what crosses, copy.c copies the rest. */
#ifndef SN_KERNEL_SPLIT_H
#define SN_KERNEL_SPLIT_H

#include "kernel/walk.h"

typedef struct use { /* a segment needs a value that another one has defined */
    uint32_t segment;
    k_val value;
} use;

typedef struct tile_read { /* a read that a tile of a loop is to serve */
    k_ref loop, load;
} tile_read;

typedef struct splitter {
    const kernel *from;
    arena *arena;
    kernel *k;
    k_builder b;
    k_walk w;
    k_val *value;      /* per value of `from`: what stands for it now */
    k_ref *level;      /* per value: the FOR_ALL it is defined in, 0: at piece level */
    uint32_t *defined; /* per value: its segment */
    k_mem *kept;       /* per value: private memory, if it crosses segments */
    bool *meets;       /* per statement: lanes meet here */
    bool *moves;       /* per statement with lists: lanes meet in it, it moves to piece level */
    bool *tiles;       /* per FOR: what all threads read at its index goes through shared memory, tile by tile */
    k_ref *owner;      /* per statement: the one whose list it is in; 0: the kernel */
    VEC(tile_read) ahead;
    bool *split, *checked, *sets;   /* per FOR_ALL: lanes meet in it; it has checks; it sets variables of the piece */
    bool *exchanges;                /* per FOR_ALL: its lanes exchange values */
    uint32_t *taken, *left;         /* per value: the last segment that has it in `take`, in `leave` */
    k_val *counter;                 /* per FOR that became a LOOP: its variable */
    k_mem *slot[2];                 /* per statement: shared memory it uses */
    k_mem exchanged[T_COUNT][2];    /* per type: what lanes exchange goes through these by turns */
    uint8_t turn[T_COUNT];
    VEC(use) take, leave;           /* values that a segment begins with; variables it may set */
    uint32_t next_take, next_leave; /* the first of this or a later segment */
    uint32_t segment;
    bool open, fails;  /* a FOR_ALL is open; it has checks */
    k_val count, lane; /* of the FOR_ALL being split; the thread's number in the open one */
    k_mem alive;       /* private: no CHECK has failed yet. 0: nothing can fail */
    int64_t tile;      /* elements; 0: no loop is tiled */
    k_mem *staged;     /* per global memory: its tile in the open loop */
    k_val tiled, base; /* index of that loop in `from`; the first element of the tile */
    uint32_t threads;  /* most that private memory is needed for */
} splitter;

/* --- copy.c --- */

/* Defined within a FOR_ALL, so that it may differ between threads? */
bool split_thread_value(const splitter *s, k_val v);
k_val split_translate(splitter *s, k_val v);          /* what stands for a value of `from` */
void split_define(splitter *s, k_val old, k_val now); /* ... from now on */
void split_keep(splitter *s, k_val v);                /* stores it to its private memory */
void split_declarations(splitter *s);                 /* memory and arguments */
void split_copy(splitter *s, const k_stmt *x);        /* a statement without lists */
void split_open(splitter *s, k_ref id);               /* ... with lists; then its lists, and split_close */
void split_close(splitter *s, k_ref id);

/* --- segment.c: a segment is what a FOR_ALL of the new kernel has --- */

/* Finds what each segment takes from private memory and leaves there. */
void split_find_segments(splitter *s);
/* A FOR_ALL for the statements from `at` on, unless one is open. At its end lanes meet where the list of `at` says so.
 */
void split_open_segment(splitter *s, k_ref at);
void split_close_segment(splitter *s);

/* --- split.c --- */

/* Before the FOR_ALL at whose end lanes meet at statement `id`. */
void split_prepare(splitter *s, k_ref id);
/* Shared memory number `number` of a statement. */
k_mem split_slot(splitter *s, k_ref id, unsigned number, ir_type t, int64_t count, const char *name);

/* --- tile.c --- */

bool split_find_tiles(splitter *s); /* marks loops; are there any? */
void split_begin_tiles(splitter *s, k_ref id);
void split_end_tiles(splitter *s);

#endif
