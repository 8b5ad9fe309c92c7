/* Lists of what contexts hold, and the table of handles for SINTER_DEBUG=handles. */
#include "api/handles.h"
#include "api/api.h"

#include <stdio.h>
#include <stdlib.h>

/* --- the context's list --- */

/* With the lock: the context's own copy of the name; NULL: no memory. */
static const char *file_of(sn_context *cx, const char *name)
{
    if (!name)
        return NULL;
    for (const handle_files *f = cx->files; f; f = f->next)
        if (!strcmp(f->name, name))
            return f->name;
    size_t bytes = strlen(name) + 1;
    handle_files *f = cx->heap.alloc(cx->heap.env, sizeof(*f) + bytes);
    if (!f)
        return NULL;
    f->next = cx->files;
    memcpy(f->name, name, bytes);
    cx->files = f;
    return f->name;
}

void handle_open(sn_context *cx, handle *h, handle_kind kind, const char *by, sn_site at)
{
    atomic_fetch_add(&cx->holders, 1);
    pthread_mutex_lock(&cx->lock);
    *h = (handle){.next = cx->held, .link = &cx->held, .kind = kind, .by = by};
    h->made = (sn_site){file_of(cx, at.file), at.line};
    if (h->next)
        h->next->link = &h->next;
    cx->held = h;
    pthread_mutex_unlock(&cx->lock);
    if (by)
        handle_made(h, kind, by, h->made, cx);
}

void handle_name(sn_context *cx, handle *h, const char *by)
{
    pthread_mutex_lock(&cx->lock);
    h->by = by;
    pthread_mutex_unlock(&cx->lock);
    handle_made(h, h->kind, by, h->made, cx);
}

void handle_close(sn_context *cx, handle *h)
{
    pthread_mutex_lock(&cx->lock);
    *h->link = h->next;
    if (h->next)
        h->next->link = h->link;
    pthread_mutex_unlock(&cx->lock);
    if (!h->by || !handle_gone(h))
        cx->heap.release(cx->heap.env, h);
    api_context_let_go(cx);
}

static const char *what_is(const handle *h)
{
    static const char *const name[] = {"", "a context", "a program", "an array", "a pending call"};
    return name[h->kind];
}

bool handle_report(sn_context *cx, char *to, size_t room)
{
    enum { MOST = 8 };
    size_t n = (size_t)snprintf(to, room, "sn_close: these are held still, and keep the context's memory:");
    unsigned found = 0;
    pthread_mutex_lock(&cx->lock);
    for (const handle *h = cx->held; h; h = h->next) {
        if (!h->by || (h->kind == HANDLE_ARRAY && api_is_lent((const sn_array *)(const void *)h)))
            continue;
        if (found++ >= MOST || n + 1 >= room)
            continue;
        n += (size_t)snprintf(to + n, room - n, "\n%s, made by %s", what_is(h), h->by);
        if (h->made.file && n < room)
            n += (size_t)snprintf(to + n, room - n, " in %s:%d", h->made.file, h->made.line);
    }
    pthread_mutex_unlock(&cx->lock);
    if (found > MOST && n < room)
        snprintf(to + n, room - n, "\nand %u more", found - MOST);
    return found > 0;
}

/* --- the table of handles --- */

typedef struct record {
    const void *object;
    handle_kind kind;
    bool gone;
    char by[32], file[96]; /* the end of a longer name */
    int line;
    sn_context *cx;
} record;

/* The second process-wide object of the library: handles outlive contexts. It grows with all handles there ever were.
 */
static struct {
    pthread_mutex_t lock;
    atomic_bool on;
    record *at;
    size_t n, room; /* room: a power of two */
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

void handle_watch(void)
{
    const char *wanted = secure_getenv("SINTER_DEBUG");
    if (wanted && strstr(wanted, "handles"))
        atomic_store(&table.on, true);
}

static size_t slot_of(const record *at, size_t room, const void *object)
{
    size_t i = (size_t)hash_mix(1, (uint64_t)(uintptr_t)object) & (room - 1);
    while (at[i].object && at[i].object != object)
        i = (i + 1) & (room - 1);
    return i;
}

/* With the lock; NULL: it is not known. */
static record *find(const void *object)
{
    record *r = table.room ? &table.at[slot_of(table.at, table.room, object)] : NULL;
    return r && r->object ? r : NULL;
}

/* With the lock; false: no memory. */
static bool grow(void)
{
    size_t room = table.room ? 2 * table.room : 256;
    record *at = calloc(room, sizeof(*at));
    if (!at)
        return false;
    for (size_t i = 0; i < table.room; i++)
        if (table.at[i].object)
            at[slot_of(at, room, table.at[i].object)] = table.at[i];
    free(table.at);
    table.at = at;
    table.room = room;
    return true;
}

void handle_made(const void *object, handle_kind kind, const char *by, sn_site made, sn_context *cx)
{
    if (!atomic_load_explicit(&table.on, memory_order_relaxed))
        return;
    pthread_mutex_lock(&table.lock);
    if (2 * table.n < table.room || grow()) {
        record *r = &table.at[slot_of(table.at, table.room, object)];
        size_t length = made.file ? strlen(made.file) : 0, room = sizeof(r->file) - 1;
        table.n += r->object == NULL;
        *r = (record){.object = object, .kind = kind, .line = made.line, .cx = cx};
        snprintf(r->by, sizeof(r->by), "%s", by);
        if (made.file)
            snprintf(r->file, sizeof(r->file), "%s", made.file + (length > room ? length - room : 0));
    }
    pthread_mutex_unlock(&table.lock);
}

bool handle_gone(const void *object)
{
    if (!atomic_load_explicit(&table.on, memory_order_relaxed))
        return false;
    pthread_mutex_lock(&table.lock);
    record *r = find(object);
    if (r)
        r->gone = true;
    pthread_mutex_unlock(&table.lock);
    return r != NULL;
}

bool handle_stale(const void *object, handle_kind kind, const char *who)
{
    if (!atomic_load_explicit(&table.on, memory_order_relaxed))
        return false;
    static const char *const what[] = {"", "the context was closed", "the program was dropped", "the array was freed",
                                       "the call was waited for"};
    record r = {0};
    bool alive = false;
    pthread_mutex_lock(&table.lock);
    const record *found = find(object);
    if (found)
        r = *found;
    if (r.cx) {
        const record *cx = find(r.cx);
        alive = cx && !cx->gone;
    }
    pthread_mutex_unlock(&table.lock);
    if (!found || !r.gone || r.kind != kind)
        return false;
    char said[256];
    snprintf(said, sizeof(said), "%s: %s before; it was made by %s%s%.90s", who, what[kind], r.by,
             r.file[0] ? " in " : "", r.file);
    size_t n = strlen(said);
    if (r.file[0])
        snprintf(said + n, sizeof(said) - n, ":%d", r.line);
    if (alive)
        api_fail(r.cx, SN_BAD_HANDLE, "%s", said);
    else
        api_warn(&(sn_options){0}, said);
    return true;
}
