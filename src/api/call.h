/* Private to api/: one call, from the check of its arguments to the handing over of its results. */
#ifndef SN_API_CALL_H
#define SN_API_CALL_H

#include "api/api.h"

typedef struct staging { /* the copy of a strided argument; NULL: none */
    void *data;
    size_t granted;
} staging;

typedef struct call_memory {
    const char *from, *end; /* NULL: none */
} call_memory;

typedef struct structs { /* an argument that is an array of C structs (structs.c) */
    const sn_arg *arg;
    uint32_t number; /* of the argument, from 1 */
    const embed_port *port;
    uint32_t first; /* component, among all */
    bool result;
} structs;

typedef struct call {
    sn_site at; /* of the call; file may be NULL */
    sn_program *p;
    int count;
    const sn_arg *arg; /* from call_take_arguments on one a component: `apart`, if some of `whole` are structs */
    const sn_arg *whole;
    sn_arg *apart;
    uint32_t *number; /* of the user's argument, from 1, per component; NULL: they count alike */
    uint32_t before;  /* the user's arguments for parameters */
    structs *structs;
    uint32_t structs_n;
    const structs **fields_of; /* per component, the structs that it is a field of, or NULL; NULL: there are none */
    run_argument *in;
    run_result *out;
    size_t *bytes;       /* per argument that has memory */
    call_memory *memory; /* per argument, on the host */
    void *choosing;      /* memory for api_version, */
    size_t choosing_n;   /* bytes */
    staging *staged;     /* per parameter */
    unsigned cancels;    /* of the context when it began */
    uint64_t since;      /* when it began; 0: it is not in the program's profile */
} call;

/* What is wrong with its arguments is reported with its place and that of its program's sn_compile. */
api_who call_who(const call *c);
sn_status call_fail(const call *c, sn_status status, const char *format, ...) SN_PRINTF(3, 4);

sn_status call_check_count(const call *c); /* reported, as all statuses here */
void call_room(call *c, arena *a);         /* makes the lists above; jumps when memory runs out */
sn_status call_take_arguments(call *c);    /* what it took goes back by call_hand_over, or call_give_up if it fails */
run_program *call_version(const call *c);  /* what runs, given the arguments that were taken */
void call_count(call *c);                  /* the call begins: no result is there, and it counts */
/* The call is over with what run_end said: makes the arrays of results, frees arrays that were given away. The call's
 * status. */
sn_status call_hand_over(call *c, sn_status status, const run_said *said);
void call_give_up(call *c);

/* again.c: does the call if it is like one that went well before. False: it is to be done as others are. */
bool call_again(const call *c);
void call_note(const call *c, run_program *version); /* it went well */
void call_forget(sn_program *p);                     /* all of them: the program is over */

/* Bytes of an argument, of elements of so many: SN_BAD_EXTENT or SN_TOO_LARGE, reported, if it cannot have so many. */
sn_status call_size(const call *c, const sn_arg *a, size_t element, uint32_t number, size_t *bytes);

/* structs.c */
/* How many arguments the program takes, given those that are structs; *params of them for parameters. */
uint32_t call_wanted(const call *c, uint32_t *params);
void structs_room(call *c, arena *a); /* nothing if there are none, like all of these; jumps when memory runs out */
sn_status structs_take(call *c);      /* replaces arrays of structs by their components */
run_field structs_field(const call *c, uint32_t component); /* `every` 0: the component is no field of structs */
bool structs_overlap(const structs *s, const void *at, size_t bytes);
bool structs_overlap_each_other(const structs *s, const structs *other);
void structs_explain(const sn_program *p, text *out);

/* What messages call an argument, or the component of one, from 1. */
static inline uint32_t call_number(const call *c, int component)
{
    return c->number ? c->number[component] : (uint32_t)component + 1;
}

#endif
