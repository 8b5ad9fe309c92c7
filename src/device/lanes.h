/* Which lane work of a driver's queue goes into, so that pieces of work that do not depend on each other may be done at
 * the same time. A lane is a stream, or a command queue in order. Two pieces depend on each other where one writes
 * memory that the other one touches: the later one goes behind the earlier one in its lane, or waits for it in another
 * one. What it waits for is brief: nothing that is known to be done when something else is that it waits for.
 *
 * No driver is called here. One queue's, so one thread at a time uses it. */
#ifndef SN_DEVICE_LANES_H
#define SN_DEVICE_LANES_H

#include "device/device.h"

/* LANES_LEAST_WORK, scalar operations: what others may be done beside is worth the events that order it. */
enum { LANES = 4, LANES_MOST_WORK = 48, LANES_MOST_RANGES = 256, LANES_MOST_TOUCHED = 64, LANES_LEAST_WORK = 10000 };

typedef struct lanes_touched {
    uintptr_t from, end;
    bool written; /* else it is only read */
} lanes_touched;

typedef struct lanes_waits { /* pieces of work in other lanes, which are to be waited for */
    uint32_t n, of[LANES];
} lanes_waits;

typedef struct lanes_place {
    uint32_t lane, work; /* work: the number of the piece, which others wait for */
    lanes_waits waits;
} lanes_place;

typedef struct lanes {
    bool open; /* else all work goes into the first lane */
    /* private: */
    bool behind;
    uint32_t works, ranges;
    struct {
        uint32_t lane;
        uint32_t done[LANES]; /* how many pieces of each lane are done when it is */
    } work[LANES_MOST_WORK];
    struct {
        lanes_touched at;
        uint32_t work;
    } range[LANES_MOST_RANGES];
    struct {
        uint32_t n, last;     /* pieces, and the number of the last one */
        uint32_t done[LANES]; /* when its last piece is */
        double load;
    } lane[LANES];
} lanes;

/* From now on work goes into all lanes. `behind`: behind what is in the first lane already, which is piece 0. */
void lanes_begin(lanes *l, bool behind);
/* Where a piece goes. `load`: how much it is, in any unit. False: there is no room, so that the lanes have to be joined
 * and begun again. */
bool lanes_put(lanes *l, const lanes_touched *at, uint32_t n, double load, lanes_place *out);
/* What the first lane waits for so that what is put there is behind all that was put anywhere; all goes there then. */
lanes_waits lanes_join(lanes *l);

/* What a launch of at most LANES_MOST_TOUCHED pointers touches; how many. `handles`: blocks are not addresses, and each
 * is touched whole. */
uint32_t lanes_touched_by(const device_reach *reach, void *const *mem, bool handles, lanes_touched *out);
/* The same of one block, or some of it. */
lanes_touched lanes_touched_block(const void *block, size_t offset, size_t bytes, bool written, bool handles);

#endif
