/* A table of chains by hash of the key, and a list of the entries that only the cache refers to, in the order in which
 * they were last given back: the oldest go when there are too many. Searched once per kernel and program, not per call.
 */
#include "device/kernel_cache.h"

#include "kernel/passes.h"

#include <stdlib.h>

enum { FIRST_BUCKETS = 64, MOST_UNUSED = 512 };

/* --- what emitters take --- */

typedef struct preparing {
    arena *arena, *scratch; /* what a pass takes from the second is given back behind it */
    kernel *k;
    const dialect *d; /* NULL: gangs are what the CPU has */
    uint32_t group;   /* threads of a block, at least */
    uint32_t tile;    /* of loops, elements; 0: none */
} preparing;

static void run_split(preparing *p)
{
    if (!p->d)
        return;
    const uint32_t gang = p->group >= emit_gang(p->d) ? emit_gang(p->d) : 0;
    p->k = k_split(k_pair(p->k, gang, p->arena), gang, p->tile, p->arena);
    k_go_abreast(p->k, gang);
}

static void run_shorten(preparing *p)
{
    if (p->d || p->k->lanes == 1)
        return;
    k_shorten(p->k, p->scratch);
    k_dead(p->k, p->scratch);
}

static void run_math(preparing *p)
{
    k_expand_math(p->k);
}

static void run_place(preparing *p)
{
    enum { LINE = 64, BANKS = 32 * 4 /* bytes that the banks of shared memory serve at a time */ };
    k_analyse(p->k);
    k_layout(p->k, p->d ? BANKS : LINE);
}

typedef struct device_pass {
    const char *name;
    void (*run)(preparing *p);
} device_pass;

#define PASS_DEVICE(name, what) {#name, run_##name},
static const device_pass device_passes[] = {
#include "base/passes.def"
};

/* Up to the pass `last`; NULL: all. */
static void run_passes(preparing *p, const char *last)
{
    bool over = false;
    p->scratch = arena_beside(p->arena);
    for (unsigned i = 0; i < k_passes_n && !over; i++) {
        k_passes[i].run(p->k, p->scratch);
        arena_free(p->scratch);
        over = last && !strcmp(last, k_passes[i].name);
    }
    for (size_t i = 0; i < ARRAY_LENGTH(device_passes) && !over; i++) {
        device_passes[i].run(p);
        arena_free(p->scratch);
        over = last && !strcmp(last, device_passes[i].name);
    }
}

kernel *kernel_prepare(arena *a, const kernel *k, const char *last)
{
    preparing p = {.arena = a, .k = k_clone_beside(k, a)};
    p.k->threads = (p.k->threads + p.k->lanes - 1u) / p.k->lanes * p.k->lanes;
    run_passes(&p, last);
    return p.k;
}

kernel *kernel_prepare_text(arena *a, const kernel *k, const dialect *d, uint32_t group, size_t shared,
                            const char *last, const char **why)
{
    enum { TILE = 256 };
    for (uint32_t tile = TILE;; tile = 0) {
        preparing p = {.arena = a, .k = k_clone_beside(k, a), .d = d, .group = group, .tile = tile};
        run_passes(&p, last);
        if (p.k->abreast && emit_shared_bytes(p.k) > shared) { /* a block has room for one piece only */
            p.k->abreast = 0;
            p.k->group = p.k->lanes;
        }
        if (last || k_fits(p.k, shared, a, why))
            return p.k;
        if (!tile)
            return NULL;
    }
}

/* --- entries --- */

static char *copy_text(const char *s)
{
    size_t n = strlen(s) + 1;
    char *r = malloc(n);
    return r ? memcpy(r, s, n) : NULL;
}

static kernel_entry *new_entry(const kernel_cache *c, const text *key, uint64_t hash)
{
    kernel_entry *e = calloc(1, c->entry_bytes);
    char *copy = malloc(key->n + 1);
    if (!e || !copy) {
        free(e);
        free(copy);
        return NULL;
    }
    memcpy(copy, key->at, key->n);
    *e = (kernel_entry){.key = copy, .key_bytes = key->n, .hash = hash, .users = 2};
    return e;
}

static void free_entry(kernel_cache *c, kernel_entry *e)
{
    c->discard(c->owner, e);
    free(e->why);
    free(e->key);
    free(e);
}

/* With the lock held, as in the functions that follow. */
static kernel_entry **place(kernel_cache *c, uint64_t hash)
{
    return &c->bucket[hash & (c->buckets - 1)];
}

static kernel_entry *find(kernel_cache *c, const text *key, uint64_t hash)
{
    for (kernel_entry *e = c->buckets ? *place(c, hash) : NULL; e; e = e->next)
        if (e->hash == hash && e->key_bytes == key->n && memcmp(e->key, key->at, key->n) == 0)
            return e;
    return NULL;
}

/* Without memory for a larger table the chains grow longer instead. */
static bool grow(kernel_cache *c)
{
    kernel_cache larger = {.buckets = c->buckets ? 2 * c->buckets : FIRST_BUCKETS};
    larger.bucket = calloc(larger.buckets, sizeof(*larger.bucket));
    if (!larger.bucket)
        return c->buckets != 0;
    for (size_t i = 0; i < c->buckets; i++)
        for (kernel_entry *e = c->bucket[i], *next; e; e = next) {
            next = e->next;
            e->next = *place(&larger, e->hash);
            *place(&larger, e->hash) = e;
        }
    free(c->bucket);
    c->bucket = larger.bucket;
    c->buckets = larger.buckets;
    return true;
}

static bool insert(kernel_cache *c, kernel_entry *e)
{
    if (c->entries >= c->buckets && !grow(c))
        return false;
    e->next = *place(c, e->hash);
    *place(c, e->hash) = e;
    c->entries++;
    return true;
}

static void take_out(kernel_cache *c, kernel_entry *e)
{
    kernel_entry **at = place(c, e->hash);
    while (*at != e)
        at = &(*at)->next;
    *at = e->next;
    c->entries--;
}

/* Nobody but the cache refers to it any more, or somebody does again. */
static void retire(kernel_cache *c, kernel_entry *e)
{
    e->older = c->newest;
    e->newer = NULL;
    *(c->newest ? &c->newest->newer : &c->oldest) = e;
    c->newest = e;
    c->unused++;
}

static void revive(kernel_cache *c, kernel_entry *e)
{
    *(e->older ? &e->older->newer : &c->oldest) = e->newer;
    *(e->newer ? &e->newer->older : &c->newest) = e->older;
    c->unused--;
}

static void use(kernel_cache *c, kernel_entry *e)
{
    if (e->users++ == 1 && e->state == KERNEL_READY)
        revive(c, e);
}

static void drop(kernel_cache *c, kernel_entry *e)
{
    if (--e->users == 0) {
        free_entry(c, e);
        return;
    }
    if (e->users > 1 || e->state != KERNEL_READY)
        return;
    retire(c, e);
    if (c->unused <= MOST_UNUSED)
        return;
    kernel_entry *last = c->oldest;
    revive(c, last);
    take_out(c, last);
    free_entry(c, last);
}

/* A kernel that failed is forgotten, so that the next attempt tries again. */
static void forget(kernel_cache *c, kernel_entry *e)
{
    take_out(c, e);
    drop(c, e);
}

static kernel_entry *add_entry(kernel_cache *c, const text *key, uint64_t hash)
{
    kernel_entry *e = new_entry(c, key, hash);
    if (!e || insert(c, e))
        return e;
    free_entry(c, e);
    return NULL;
}

static kernel_entry *finished(kernel_cache *c, kernel_entry *e, arena *a, const char **why)
{
    if (e->state == KERNEL_READY)
        return e;
    jmp_buf failure, *outer = a->failure;
    *why = NULL;
    if (!setjmp(failure)) {
        arena_on_failure(a, &failure);
        if (e->why)
            *why = arena_string(a, e->why);
    }
    arena_on_failure(a, outer);
    drop(c, e);
    return NULL;
}

/* Fills an entry, without the lock. */
static bool obtain(kernel_cache *c, const kernel *k, const text *key, kernel_entry *e)
{
    arena a;
    jmp_buf failure;
    const char *why = NULL;
    volatile bool good = false;
    arena_init(&a, c->heap);
    if (!setjmp(failure)) {
        arena_on_failure(&a, &failure);
        good = c->obtain(c->owner, k, key, e, &a, &why);
        if (!good && why)
            e->why = copy_text(why);
    }
    arena_free(&a);
    return good;
}

/* Entries that are made for drafts have a key of their own, with one byte more, which begins nothing in a kernel's.
 * Code of full effort serves for a draft; that of an entry made for drafts for both, if it turned out to be none. */
static kernel_entry *find_either(kernel_cache *c, const text both[2], const uint64_t hash[2], bool draft)
{
    kernel_entry *full = find(c, &both[false], hash[false]), *other = NULL;
    if (!full && c->drafts)
        other = find(c, &both[true], hash[true]);
    return full ? full : other && (draft || (other->state == KERNEL_READY && !other->draft)) ? other : NULL;
}

/* A reference to the kernel's entry; NULL and *why. */
static kernel_entry *get(kernel_cache *c, const kernel *k, bool draft, arena *a, const char **why)
{
    text key;
    text_init(&key, a);
    k_key(k, &key);
    text_add_n(&key, "", 1);
    const text both[2] = {{.at = key.at, .n = key.n - 1}, {.at = key.at, .n = key.n}};
    const uint64_t hash[2] = {hash_bytes(key.at, key.n - 1, 0), c->drafts ? hash_bytes(key.at, key.n, 0) : 0};
    *why = NULL;
    pthread_mutex_lock(&c->lock);
    kernel_entry *e = find_either(c, both, hash, draft);
    if (e) {
        use(c, e);
        while (e->state == KERNEL_COMPILING)
            pthread_cond_wait(&c->finished, &c->lock);
    } else if ((e = add_entry(c, &both[draft], hash[draft]))) {
        e->draft = draft;
        pthread_mutex_unlock(&c->lock);
        arena_release(a, key.at, key.cap);
        key = (text){.at = e->key, .n = e->key_bytes - draft};
        bool good = obtain(c, k, &key, e);
        pthread_mutex_lock(&c->lock);
        e->state = good ? KERNEL_READY : KERNEL_FAILED;
        *(e->loaded ? &c->made_from_disk : &c->compiled) += good;
        if (!good)
            forget(c, e);
        pthread_cond_broadcast(&c->finished);
    }
    if (e)
        e = finished(c, e, a, why);
    pthread_mutex_unlock(&c->lock);
    return e;
}

static uint64_t read_locked(kernel_cache *c, const uint64_t *count)
{
    pthread_mutex_lock(&c->lock);
    uint64_t n = *count;
    pthread_mutex_unlock(&c->lock);
    return n;
}

/* --- what devices do with it --- */

device_kernel *device_compile(device *d, const kernel *k, arena *a, const char **why)
{
    return (device_kernel *)get(d->kernels, k, false, a, why);
}

device_kernel *device_draft(device *d, const kernel *k, arena *a, const char **why)
{
    return (device_kernel *)get(d->kernels, k, d->kernels->drafts, a, why);
}

bool device_is_draft(const device_kernel *k)
{
    return ((const kernel_entry *)k)->draft;
}

void device_release_kernel(device *d, device_kernel *k)
{
    if (!k)
        return;
    pthread_mutex_lock(&d->kernels->lock);
    drop(d->kernels, (kernel_entry *)k);
    pthread_mutex_unlock(&d->kernels->lock);
}

uint64_t device_compiled(device *d)
{
    return read_locked(d->kernels, &d->kernels->compiled);
}

uint64_t device_loaded(device *d)
{
    return read_locked(d->kernels, &d->kernels->made_from_disk);
}

void kernel_cache_open(kernel_cache *c)
{
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->finished, NULL);
    c->owner->kernels = c;
}

const kernel_supply *kernel_cache_supplied(kernel_cache *c, const text *key)
{
    const uint64_t hash = hash_bytes(key->at, key->n, 0);
    pthread_mutex_lock(&c->lock);
    const kernel_supply *s = c->supplies;
    pthread_mutex_unlock(&c->lock);
    while (s && (s->hash != hash || s->key_bytes != key->n || memcmp(s->key, key->at, key->n) != 0))
        s = s->next;
    return s;
}

bool kernel_cache_supply(kernel_cache *c, const kernel_supply *code)
{
    if (kernel_cache_supplied(c, &(text){.at = (char *)(uintptr_t)code->key, .n = code->key_bytes}))
        return true;
    kernel_supply *copy = malloc(sizeof(*copy));
    if (!copy)
        return false;
    *copy = *code;
    copy->hash = hash_bytes(code->key, code->key_bytes, 0);
    pthread_mutex_lock(&c->lock);
    copy->next = c->supplies;
    c->supplies = copy;
    pthread_mutex_unlock(&c->lock);
    return true;
}

void kernel_cache_close(kernel_cache *c)
{
    for (kernel_supply *s = c->supplies, *next; s; s = next) {
        next = s->next;
        free(s);
    }
    for (size_t i = 0; i < c->buckets; i++)
        for (kernel_entry *e = c->bucket[i], *next; e; e = next) {
            next = e->next;
            free_entry(c, e);
        }
    free(c->bucket);
    pthread_cond_destroy(&c->finished);
    pthread_mutex_destroy(&c->lock);
}
