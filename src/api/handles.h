/* Private to api/: what hangs off a context. Every program, array and pending call is in its context's list and keeps
 * the context's insides alive, so that they may go in any order; sn_close says what is in the list still.
 *
 * With SINTER_DEBUG=handles in the environment, memory of handles that were given back is kept and known, so that using
 * one of them again, or giving it back twice, is an error instead of anything. */
#ifndef SN_API_HANDLES_H
#define SN_API_HANDLES_H

#include "sinter/sinter.h"

typedef enum { HANDLE_CONTEXT = 1, HANDLE_PROGRAM, HANDLE_ARRAY, HANDLE_PENDING } handle_kind;

typedef struct handle {          /* first in each of them */
    struct handle *next, **link; /* in the context's list */
    handle_kind kind;
    const char *by; /* "sn_upload"; NULL: it is our own */
    sn_site made;   /* file may be NULL */
} handle;

typedef struct handle_files { /* names of files in a context, each once */
    struct handle_files *next;
    char name[];
} handle_files;

/* `h` begins an object of the context: the object is in the list, and the context lives at least as long. Thread-safe.
 */
void handle_open(sn_context *cx, handle *h, handle_kind kind, const char *by, sn_site at);
void handle_name(sn_context *cx, handle *h, const char *by); /* from now on it is the user's: it had no `by` */
/* The object is over, and released as it is: it must not be looked at, nor the context. */
void handle_close(sn_context *cx, handle *h);

/* The message of what sn_close finds in the list; false if that is nothing. */
bool handle_report(sn_context *cx, char *to, size_t room);

/* --- SINTER_DEBUG=handles --- */

void handle_watch(void); /* looks whether the environment asks for it */
/* Was it given back? Then that is reported, in the name of `who`. Always false where nobody asked for it. */
bool handle_stale(const void *object, handle_kind kind, const char *who);
void handle_made(const void *object, handle_kind kind, const char *by, sn_site at, sn_context *cx);
/* It is given back: true if its memory is kept from now on. */
bool handle_gone(const void *object);

#endif
