/* Arenas, growable arrays, hash maps and text buffers. */
#include "base/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

struct arena_chunk {
    arena_chunk *next;
    size_t size;
};

/* A large block, which can be given back before the arena is. */
struct arena_own {
    arena_own *next, *before;
    size_t bytes;  /* with this */
    bool outgrown; /* in the arena's list of these */
};

/* The address sanitizer sees what is behind a block of an arena as it does behind a block of the heap. A build with
 * SN_ARENA_GUARDS has, without it, a guard behind each block of a chunk, looked at when the arena ends; what nobody has
 * written is not zero. */
struct arena_guard {
    uint64_t seal; /* of what follows, and of its place */
    arena_guard *before;
};
#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
enum { GAP = 16, MAPS = 0, GUARDS = 0 }; /* a gap behind a block; leaks are looked for in the heap alone */
#define HIDE(at, bytes) __asan_poison_memory_region((at), (bytes))
#define SHOW(at, bytes) __asan_unpoison_memory_region((at), (bytes))
#elif defined(SN_ARENA_GUARDS)
enum { GAP = sizeof(arena_guard), MAPS = 1, GUARDS = 1 };
#define HIDE(at, bytes) memset((at), 0xa5, (bytes))
#define SHOW(at, bytes) memset((at), 0xa5, (bytes))
#else
enum { GAP = 0, MAPS = 1, GUARDS = 0 };
#define HIDE(at, bytes) ((void)(at), (void)(bytes))
#define SHOW(at, bytes) ((void)(at), (void)(bytes))
#endif

enum { OWN_BYTES = 32 << 10, FAR_BYTES = 256 << 10, MAP_BYTES = 128 << 10 };

#define ALIGN_UP(n, a) (((n) + (a)-1) & ~((size_t)(a)-1))
#define CHUNK_HEADER ALIGN_UP(sizeof(arena_chunk), 16)
#define OWN_HEADER ALIGN_UP(sizeof(arena_own), 16)

static void *heap_alloc(void *env, size_t bytes)
{
    (void)env;
    return malloc(bytes);
}

static void heap_release(void *env, void *block)
{
    (void)env;
    free(block);
}

const base_heap base_heap_default = {heap_alloc, heap_release, NULL};

void arena_init(arena *a, const base_heap *heap)
{
    *a = (arena){.heap = heap ? heap : &base_heap_default};
}

void arena_init_with(arena *a, const base_heap *heap, void *block, size_t bytes)
{
    arena_init(a, heap);
    a->chunks = a->lent = block;
    *a->chunks = (arena_chunk){NULL, bytes};
    a->used = CHUNK_HEADER;
    a->size = bytes;
}

/* What is large comes from the system, and goes back to it as soon as it is not needed: within the heap it would stay
 * with the process, in pieces. A caller's own heap gives everything itself. */
static bool is_mapped(const arena *a, size_t bytes)
{
    return MAPS && bytes >= MAP_BYTES && a->heap->alloc == heap_alloc;
}

static void *take(arena *a, size_t bytes)
{
    if (!is_mapped(a, bytes))
        return a->heap->alloc(a->heap->env, bytes);
    void *block = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return block == MAP_FAILED ? NULL : block;
}

static void give_back(arena *a, void *block, size_t bytes)
{
    if (is_mapped(a, bytes))
        munmap(block, bytes);
    else
        a->heap->release(a->heap->env, block);
}

void arena_on_failure(arena *a, jmp_buf *handler)
{
    a->failure = handler;
}

static SN_NORETURN void arena_fail(arena *a)
{
    if (a->failure)
        longjmp(*a->failure, 1);
    abort(); /* an internal arena without a handler: a mistake of ours, not of the user */
}

static arena_own *own_of(void *block)
{
    return (arena_own *)(void *)((char *)block - OWN_HEADER);
}

static arena_own **list_of(arena *a, bool outgrown)
{
    return outgrown ? &a->outgrown : &a->own;
}

static void put_in(arena *a, arena_own *own, bool outgrown)
{
    arena_own **list = list_of(a, outgrown);
    *own = (arena_own){.next = *list, .bytes = own->bytes, .outgrown = outgrown};
    if (*list)
        (*list)->before = own;
    *list = own;
}

static void take_out(arena *a, arena_own *own)
{
    if (own->next)
        own->next->before = own->before;
    *(own->before ? &own->before->next : list_of(a, own->outgrown)) = own->next;
}

static void *own_block(arena *a, size_t bytes)
{
    arena_own *own = take(a, bytes + OWN_HEADER);
    if (!own)
        arena_fail(a);
    own->bytes = bytes + OWN_HEADER;
    put_in(a, own, false);
    a->total += bytes;
    return (char *)own + OWN_HEADER;
}

/* None in the block that was lent: whoever lent it uses it for something else when nobody looks after the arena any
 * more. */
static size_t gap_of(const arena *a)
{
    return a->chunks == a->lent ? 0 : GAP;
}

static uint64_t seal_of(const arena_guard *g)
{
    return ((uint64_t)(uintptr_t)g ^ (uint64_t)(uintptr_t)g->before << 20) * 0x9e3779b97f4a7c15u;
}

static void put_guard(arena *a, void *at)
{
    arena_guard *g = at;
    *g = (arena_guard){.before = a->guard};
    g->seal = seal_of(g);
    a->guard = g;
}

static void check_guard(arena *a)
{
    if (a->guard->seal != seal_of(a->guard)) {
        fprintf(stderr, "sinter: something was written behind the end of a block of an arena\n");
        abort();
    }
    a->guard = a->guard->before;
}

/* Not cleared. */
static void *raw_block(arena *a, size_t asked)
{
    if (asked > SIZE_MAX / 2)
        arena_fail(a);
    size_t bytes = ALIGN_UP(asked ? asked : 1, 16);
    if (bytes >= OWN_BYTES)
        return own_block(a, bytes);
    if (!a->chunks || a->size - a->used < bytes + gap_of(a)) {
        size_t wanted = a->chunks ? a->chunks->size * 2 : 4096;
        if (wanted > ((size_t)1 << 22))
            wanted = (size_t)1 << 22;
        if (wanted < CHUNK_HEADER + bytes + GAP)
            wanted = CHUNK_HEADER + bytes + GAP;
        arena_chunk *chunk = take(a, wanted);
        if (!chunk)
            arena_fail(a);
        *chunk = (arena_chunk){a->chunks, wanted};
        a->chunks = chunk;
        a->used = CHUNK_HEADER;
        a->size = wanted;
    }
    char *block = (char *)a->chunks + a->used;
    SHOW(block, asked);
    if (gap_of(a))
        HIDE(block + asked, bytes - asked + GAP);
    if (GUARDS && gap_of(a))
        put_guard(a, block + bytes);
    a->used += bytes + gap_of(a);
    a->total += bytes;
    return block;
}

void *arena_alloc(arena *a, size_t bytes)
{
    return memset(raw_block(a, bytes), 0, bytes);
}

void *arena_array_(arena *a, size_t element, size_t n)
{
    size_t bytes;
    if (__builtin_mul_overflow(element, n, &bytes))
        arena_fail(a);
    return arena_alloc(a, bytes);
}

void arena_release(arena *a, void *block, size_t bytes)
{
    bytes = ALIGN_UP(bytes ? bytes : 1, 16);
    if (bytes < OWN_BYTES) {
        if (block && a->chunks && (char *)block + bytes + gap_of(a) == (char *)a->chunks + a->used) {
            a->used -= bytes + gap_of(a);
            if (GUARDS && gap_of(a))
                check_guard(a);
        }
        return;
    }
    take_out(a, own_of(block));
    give_back(a, own_of(block), own_of(block)->bytes);
}

static void release_all(arena *a, arena_own *own)
{
    for (arena_own *next; own; own = next) {
        next = own->next;
        give_back(a, own, own->bytes);
    }
}

void arena_sweep(arena *a)
{
    release_all(a, a->outgrown);
    a->outgrown = NULL;
}

void *arena_copy(arena *a, const void *from, size_t bytes)
{
    void *to = arena_alloc(a, bytes);
    if (bytes)
        memcpy(to, from, bytes);
    return to;
}

char *arena_string(arena *a, const char *string)
{
    return arena_copy(a, string, strlen(string) + 1);
}

char *arena_printf(arena *a, const char *format, ...)
{
    text t;
    va_list args;
    text_init(&t, a);
    va_start(args, format);
    text_vprintf(&t, format, args);
    va_end(args);
    return t.at;
}

arena *arena_beside(arena *a)
{
    arena *b = arena_new(a, *b);
    *b = (arena){.heap = a->heap, .failure = a->failure, .next = a->beside};
    a->beside = b;
    return b;
}

void arena_free(arena *a)
{
    for (arena *b = a->beside; b; b = b->next)
        arena_free(b);
    while (GUARDS && a->guard)
        check_guard(a);
    for (arena_chunk *chunk = a->chunks, *next; chunk; chunk = next) {
        next = chunk->next;
        if (chunk == a->lent)
            continue;
        SHOW(chunk, chunk->size);
        give_back(a, chunk, chunk->size);
    }
    release_all(a, a->own);
    release_all(a, a->outgrown);
    *a = (arena){.heap = a->heap, .failure = a->failure, .next = a->next};
}

static void outgrow(arena *a, arena_own *own)
{
    take_out(a, own);
    put_in(a, own, true);
}

void vec_grow_(arena *a, void **at, uint32_t *cap, size_t element, uint32_t wanted)
{
    uint64_t bigger = *cap ? (uint64_t)*cap * (*cap * element < FAR_BYTES ? 2 : 4) : element < 16 ? 32 / element : 2;
    if (bigger > UINT32_MAX)
        bigger = UINT32_MAX;
    if (bigger < wanted)
        bigger = wanted;
    if (*cap == UINT32_MAX)
        arena_fail(a);
    void *block = raw_block(a, (size_t)bigger * element);
    if (*cap) {
        memcpy(block, *at, *cap * element);
        if (*cap * element >= OWN_BYTES)
            outgrow(a, own_of(*at));
    }
    *at = block;
    *cap = (uint32_t)bigger;
}

void vec_resize_(void *at, uint32_t *n, uint32_t count, size_t element)
{
    if (count > *n)
        memset((char *)at + *n * element, 0, (count - *n) * element);
    *n = count;
}

static uint64_t key_hash(uint64_t key)
{
    key = (key ^ (key >> 32)) * 0xd6e8feb86659fd93u;
    return key ^ (key >> 32);
}

uint32_t map64_get(const map64 *m, uint64_t key)
{
    if (!m->cap)
        return 0;
    for (uint32_t i = (uint32_t)key_hash(key) & (m->cap - 1);; i = (i + 1) & (m->cap - 1)) {
        if (!m->value[i])
            return 0;
        if (m->key[i] == key)
            return m->value[i];
    }
}

static void map64_place(map64 *m, uint64_t key, uint32_t value)
{
    uint32_t i = (uint32_t)key_hash(key) & (m->cap - 1);
    while (m->value[i] && m->key[i] != key)
        i = (i + 1) & (m->cap - 1);
    m->n += !m->value[i];
    m->key[i] = key;
    m->value[i] = value;
}

void map64_free(arena *a, map64 *m)
{
    arena_release(a, m->value, m->cap * sizeof(*m->value));
    arena_release(a, m->key, m->cap * sizeof(*m->key));
    *m = (map64){0};
}

void map64_put(arena *a, map64 *m, uint64_t key, uint32_t value)
{
    if ((m->n + 1) * 4 > m->cap * 3) {
        map64 more = {.cap = m->cap ? m->cap * 2 : 16}; /* complete before *m changes: allocating may jump */
        more.key = arena_array(a, *more.key, more.cap);
        more.value = arena_array(a, *more.value, more.cap);
        for (uint32_t i = 0; i < m->cap; i++)
            if (m->value[i])
                map64_place(&more, m->key[i], m->value[i]);
        map64_free(a, m);
        *m = more;
    }
    map64_place(m, key, value);
}

uint32_t intern_find(const intern_table *t, uint64_t hash, intern_equal equal, const void *env)
{
    if (!t->cap)
        return 0;
    for (uint32_t i = (uint32_t)key_hash(hash) & (t->cap - 1); t->id[i]; i = (i + 1) & (t->cap - 1))
        if (t->hash[i] == hash && equal(env, t->id[i]))
            return t->id[i];
    return 0;
}

static void intern_place(intern_table *t, uint64_t hash, uint32_t id)
{
    uint32_t i = (uint32_t)key_hash(hash) & (t->cap - 1);
    while (t->id[i])
        i = (i + 1) & (t->cap - 1);
    t->id[i] = id;
    t->hash[i] = hash;
    t->n++;
}

void intern_add(arena *a, intern_table *t, uint64_t hash, uint32_t id)
{
    if ((t->n + 1) * 4 > t->cap * 3) {
        intern_table more = {.cap = t->cap ? t->cap * 2 : 64}; /* complete before *t changes: allocating may jump */
        more.id = arena_array(a, *more.id, more.cap);
        more.hash = arena_array(a, *more.hash, more.cap);
        for (uint32_t i = 0; i < t->cap; i++)
            if (t->id[i])
                intern_place(&more, t->hash[i], t->id[i]);
        arena_release(a, t->id, t->cap * sizeof(*t->id));
        arena_release(a, t->hash, t->cap * sizeof(*t->hash));
        *t = more;
    }
    intern_place(t, hash, id);
}

static void insert_each(uint32_t *at, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        const uint32_t x = at[i];
        uint32_t k = i;
        for (; k && at[k - 1] > x; k--)
            at[k] = at[k - 1];
        at[k] = x;
    }
}

void sort_u32(uint32_t *at, uint32_t n, uint32_t *spare)
{
    enum { FEW = 32, DIGIT = 8, DIGITS = 1 << DIGIT };
    uint32_t differ = 0, *from = at, *to = spare;
    if (n <= FEW) {
        insert_each(at, n);
        return;
    }
    for (uint32_t i = 1; i < n; i++)
        differ |= at[i] ^ at[0];
    for (unsigned shift = 0; shift < 32; shift += DIGIT) {
        uint32_t place[DIGITS] = {0}, before = 0;
        if (!(differ >> shift & (DIGITS - 1)))
            continue;
        for (uint32_t i = 0; i < n; i++)
            place[from[i] >> shift & (DIGITS - 1)]++;
        for (unsigned d = 0; d < DIGITS; d++) {
            const uint32_t count = place[d];
            place[d] = before;
            before += count;
        }
        for (uint32_t i = 0; i < n; i++)
            to[place[from[i] >> shift & (DIGITS - 1)]++] = from[i];
        uint32_t *other = from;
        from = to;
        to = other;
    }
    if (from != at)
        memcpy(at, from, n * sizeof(*at));
}

uint64_t hash_bytes(const void *bytes, size_t count, uint64_t seed)
{
    const unsigned char *p = bytes;
    uint64_t h = hash_mix(seed, count);
    for (; count >= 8; p += 8, count -= 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        h = hash_mix(h, word);
    }
    uint64_t rest = 0;
    if (count) /* of no bytes there may be no address */
        memcpy(&rest, p, count);
    return hash_mix(h, rest);
}

void text_init_for(text *t, arena *a, size_t bytes)
{
    *t = (text){.arena = a, .cap = bytes + 1};
    t->at = arena_alloc(a, t->cap);
}

void text_init(text *t, arena *a)
{
    text_init_for(t, a, 63);
}

static void text_room(text *t, size_t more)
{
    if (t->n + more + 1 <= t->cap)
        return;
    size_t cap = t->cap * 2 > t->n + more + 1 ? t->cap * 2 : t->n + more + 1;
    char *at = arena_alloc(t->arena, cap);
    memcpy(at, t->at, t->n + 1);
    arena_release(t->arena, t->at, t->cap);
    t->at = at;
    t->cap = cap;
}

void text_add_n(text *t, const char *bytes, size_t count)
{
    text_room(t, count);
    memcpy(t->at + t->n, bytes, count);
    t->n += count;
    t->at[t->n] = 0;
}

const char *text_close(text *t)
{
    size_t used = ALIGN_UP(t->n + 1, 16);
    if (used < t->cap && t->cap < OWN_BYTES)
        arena_release(t->arena, t->at + used, t->cap - used);
    t->cap = t->n + 1;
    return t->at;
}

void text_add(text *t, const char *string)
{
    text_add_n(t, string, strlen(string));
}

void text_vprintf(text *t, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(t->at + t->n, t->cap - t->n, format, args);
    if (n > 0 && (size_t)n >= t->cap - t->n) {
        t->at[t->n] = 0;
        text_room(t, (size_t)n);
        vsnprintf(t->at + t->n, t->cap - t->n, format, again);
    }
    va_end(again);
    if (n > 0)
        t->n += (size_t)n;
}

void text_printf(text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    text_vprintf(t, format, args);
    va_end(args);
}
