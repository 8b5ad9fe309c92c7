/* Messages: one per thread and context, kept until that thread's next failure. */
#include "api/api.h"

#include <stdio.h>

/* A thread ends: its note is free for another. */
static void thread_ends(void *value)
{
    note *n = value;
    __atomic_store_n(&n->taken, false, __ATOMIC_RELEASE);
}

bool api_notes_open(sn_context *cx)
{
    if (pthread_key_create(&cx->key, thread_ends))
        return false;
    pthread_mutex_init(&cx->lock, NULL);
    return true;
}

void api_notes_close(sn_context *cx)
{
    pthread_key_delete(cx->key);
    pthread_mutex_destroy(&cx->lock);
    for (note *n = cx->notes, *next; n; n = next) {
        next = n->next;
        cx->heap.release(cx->heap.env, n->text);
        cx->heap.release(cx->heap.env, n);
    }
}

/* The calling thread's note, NULL if there is no memory. */
static note *own_note(sn_context *cx)
{
    note *n = pthread_getspecific(cx->key);
    if (n)
        return n;
    pthread_mutex_lock(&cx->lock);
    for (n = cx->notes; n && __atomic_load_n(&n->taken, __ATOMIC_ACQUIRE);)
        n = n->next;
    if (!n) {
        n = cx->heap.alloc(cx->heap.env, sizeof(*n));
        if (n) {
            *n = (note){.next = cx->notes};
            cx->notes = n;
        }
    }
    if (n)
        __atomic_store_n(&n->taken, true, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&cx->lock);
    if (!n)
        return NULL;
    cx->heap.release(cx->heap.env, n->text); /* of a thread that has ended */
    n->text = NULL;
    if (pthread_setspecific(cx->key, n)) {
        thread_ends(n);
        return NULL;
    }
    return n;
}

/* Keeps a text, which becomes the context's. */
static void keep(sn_context *cx, note *n, char *said)
{
    cx->heap.release(cx->heap.env, n->text);
    n->text = said;
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
        keep(cx, n, said);
    if (cx->options.message)
        cx->options.message(cx->options.env, said ? said : "no memory for a message");
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
    const note *n = context ? pthread_getspecific(context->key) : NULL;
    return n && n->text ? n->text : "";
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
        NAME(SN_BAD_ARGUMENT)
        NAME(SN_BAD_EXTENT)
        NAME(SN_NO_PROGRAM)
        NAME(SN_OUT_OF_RANGE)
        NAME(SN_DIVISION)
        NAME(SN_EMPTY_FOLD)
        NAME(SN_SHAPE_MISMATCH)
        NAME(SN_TOO_LARGE)
        NAME(SN_NO_MEMORY)
        NAME(SN_NO_DEVICE)
        NAME(SN_UNSUPPORTED)
        NAME(SN_FILE)
        NAME(SN_DEVICE_FAILED)
        NAME(SN_INTERNAL)
#undef NAME
    }
    return "unknown status";
}

int sn_version(void)
{
    return SN_VERSION;
}
