/* Private to api/: one call, from the check of its arguments to the handing over of its results. */
#ifndef SN_API_CALL_H
#define SN_API_CALL_H

#include "api/api.h"

typedef struct staging { /* the copy of a strided argument; NULL: none */
    void *data;
    size_t granted;
} staging;

typedef struct call {
    sn_program *p;
    int count;
    const sn_arg *arg;
    run_argument *in;
    run_result *out;
    size_t *bytes;   /* per argument that has memory */
    staging *staged; /* per parameter */
} call;

sn_status call_check_count(const call *c); /* reported, as all statuses here */
void call_room(call *c, arena *a);         /* makes the lists above; jumps when memory runs out */
sn_status call_take_arguments(call *c);    /* what it took goes back by call_hand_over, or call_give_up if it fails */
void call_count(call *c);                  /* the call begins: no result is there, and it counts */
/* The call is over with what run_end said: makes the arrays of results, frees arrays that were given away. The call's status. */
sn_status call_hand_over(call *c, sn_status status, const char *message);
void call_give_up(call *c);

#endif
