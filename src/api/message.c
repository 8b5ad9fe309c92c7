/* Messages: one per thread and context, kept until that thread's next failure. */
#include "api/api.h"

#include <errno.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Tells threads apart, also those that were given the same identity one after the other. A clock will do: a counter
 * would have to be shared between threads. */
static uint64_t own_number(void)
{
    static _Thread_local uint64_t number;
    if (!number) {
        struct timespec now = {0, 0};
        clock_gettime(CLOCK_MONOTONIC, &now);
        number = hash_mix(hash_mix((uint64_t)now.tv_sec, (uint64_t)now.tv_nsec), (uint64_t)gettid()) | 1;
    }
    return number;
}

/* Nothing happens when a thread ends, as its contexts may be closed at that moment: whoever needs a note looks. */
static bool has_ended(const note *n)
{
    return syscall(SYS_tgkill, getpid(), n->id, 0) && errno == ESRCH;
}

void api_notes_close(sn_context *cx)
{
    pthread_mutex_destroy(&cx->lock);
    for (note *n = cx->notes, *next; n; n = next) {
        next = n->next;
        cx->heap.release(cx->heap.env, n->text);
        cx->heap.release(cx->heap.env, n);
    }
}

/* With the lock: the calling thread's note; NULL: it has none. */
static note *find_note(const sn_context *cx, uint64_t thread)
{
    note *n = cx->notes;
    while (n && n->thread != thread)
        n = n->next;
    return n;
}

/* With the lock: one for a thread that has none; NULL: no memory. */
static note *take_note(sn_context *cx, uint64_t thread)
{
    note *n = cx->notes;
    while (n && n->id != gettid() && !has_ended(n))
        n = n->next;
    if (n) {
        cx->heap.release(cx->heap.env, n->text);
    } else {
        n = cx->heap.alloc(cx->heap.env, sizeof(*n));
        if (!n)
            return NULL;
        *n = (note){.next = cx->notes};
        cx->notes = n;
    }
    n->text = NULL;
    n->lent = false;
    n->id = gettid();
    n->thread = thread;
    return n;
}

/* The calling thread's note, NULL if there is no memory. */
static note *own_note(sn_context *cx)
{
    const uint64_t thread = own_number();
    pthread_mutex_lock(&cx->lock);
    note *n = find_note(cx, thread);
    if (!n)
        n = take_note(cx, thread);
    pthread_mutex_unlock(&cx->lock);
    return n;
}

/* Keeps a text, which becomes the context's. The one before may still be looked at by the user's function. */
static void keep(sn_context *cx, note *n, char *said)
{
    pthread_mutex_lock(&cx->lock); /* another thread has the note when this one has ended */
    if (!n->lent)
        cx->heap.release(cx->heap.env, n->text);
    n->text = said;
    n->lent = false;
    pthread_mutex_unlock(&cx->lock);
}

/* Keeps it and passes it to the user's function, in which other calls may fail: then the last to return counts. */
static void tell(sn_context *cx, note *n, char *said)
{
    keep(cx, n, said);
    if (!cx->options.message)
        return;
    n->lent = said != NULL;
    cx->options.message(cx->options.env, said ? said : "no memory for a message");
    if (n->text != said)
        keep(cx, n, said);
    n->lent = false;
}

void api_note(sn_context *cx, const char *said)
{
    note *n = own_note(cx);
    size_t bytes = strlen(said) + 1;
    char *copy = n ? cx->heap.alloc(cx->heap.env, bytes) : NULL;
    if (copy)
        memcpy(copy, said, bytes);
    if (n)
        keep(cx, n, copy);
}

/* Write what stands in front of and behind a message; its length. */
static int front(char *to, size_t room, const api_who *who)
{
    if (!who->what)
        return 0;
    return who->at.file ? snprintf(to, room, "%s:%d: %s: ", who->at.file, who->at.line, who->what)
                        : snprintf(to, room, "%s: ", who->what);
}

static int behind(char *to, size_t room, const api_who *who)
{
    return who->also.file ? snprintf(to, room, "; %s %s:%d", who->how, who->also.file, who->also.line) : 0;
}

void api_say(sn_context *cx, api_who who, const char *format, va_list args)
{
    note *n = own_note(cx);
    va_list again;
    va_copy(again, args);
    int before = front(NULL, 0, &who), length = vsnprintf(NULL, 0, format, again), after = behind(NULL, 0, &who);
    va_end(again);
    bool good = n && before >= 0 && length >= 0 && after >= 0;
    size_t end = (size_t)before + (size_t)length, bytes = end + (size_t)after + 1;
    char *said = good ? cx->heap.alloc(cx->heap.env, bytes) : NULL;
    if (said) {
        front(said, bytes, &who);
        vsnprintf(said + before, bytes - (size_t)before, format, args);
        behind(said + end, bytes - end, &who);
    }
    if (n)
        tell(cx, n, said);
    else if (cx->options.message)
        cx->options.message(cx->options.env, "no memory for a message");
}

sn_status api_fail(sn_context *cx, sn_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    api_say(cx, (api_who){.what = NULL}, format, args);
    va_end(args);
    return status;
}

sn_status api_fail_at(sn_context *cx, api_who who, sn_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    api_say(cx, who, format, args);
    va_end(args);
    return status;
}

void api_warn(const sn_options *options, const char *what)
{
    if (options->message)
        options->message(options->env, what);
    else
        fprintf(stderr, "sinter: %s\n", what);
}

const char *sn_message(const sn_context *context)
{
    sn_context *cx = (sn_context *)(uintptr_t)context; /* to its user it stays what it was */
    if (!cx || handle_stale(cx, HANDLE_CONTEXT, "sn_message"))
        return "";
    pthread_mutex_lock(&cx->lock);
    const note *n = find_note(cx, own_number());
    const char *said = n && n->text ? n->text : "";
    pthread_mutex_unlock(&cx->lock);
    return said;
}

const char *sn_status_name(sn_status status)
{
    switch (status) {
#define NAME(s)                                                                                                        \
    case s:                                                                                                            \
        return #s;
        NAME(SN_OK)
        NAME(SN_BAD_SIGNATURE)
        NAME(SN_BAD_PROGRAM)
        NAME(SN_BAD_OPERATOR)
        NAME(SN_BAD_ARGUMENT)
        NAME(SN_BAD_EXTENT)
        NAME(SN_NO_PROGRAM)
        NAME(SN_BAD_HANDLE)
        NAME(SN_OUT_OF_RANGE)
        NAME(SN_DIVISION)
        NAME(SN_EMPTY_FOLD)
        NAME(SN_SHAPE_MISMATCH)
        NAME(SN_TOO_LARGE)
        NAME(SN_BAD_SEGMENTS)
        NAME(SN_NO_MEMORY)
        NAME(SN_NO_DEVICE)
        NAME(SN_UNSUPPORTED)
        NAME(SN_FILE)
        NAME(SN_DEVICE_FAILED)
        NAME(SN_CANCELLED)
        NAME(SN_FOREIGN_FAILED)
        NAME(SN_INTERNAL)
#undef NAME
    }
    return "unknown status";
}

int sn_version(void)
{
    return SN_VERSION;
}
