/* Foundations used by every layer: arenas, growable arrays, hash maps, text buffers.
 *
 * Memory of a compilation lives in an arena and is freed as a whole. When memory runs out, an arena jumps to the
 * handler set with arena_on_failure (the API boundary sets one around every build), so code that allocates from an
 * arena never sees NULL. None of these types may be shared between threads without a lock of the caller's. */
#ifndef SN_BASE_H
#define SN_BASE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define ARRAY_LENGTH(a) (sizeof(a) / sizeof((a)[0]))

#if defined(__GNUC__)
#define SN_PRINTF(f, a) __attribute__((format(printf, f, a)))
#define SN_NORETURN __attribute__((noreturn))
#else
#define SN_PRINTF(f, a)
#define SN_NORETURN
#endif

/* Memory functions behind everything that is not an arena; tests put failing ones here. All thread-safe. */
typedef struct base_heap {
    void *(*alloc)(void *env, size_t bytes); /* 16-byte aligned, not cleared; NULL when there is none */
    void (*release)(void *env, void *block); /* NULL is ignored */
    void *env;
} base_heap;

extern const base_heap base_heap_default; /* malloc and free; constant, so no state. Arenas of it take what is large
                                             * from the system itself, and give it back there */

typedef struct arena_chunk arena_chunk;
typedef struct arena_own arena_own;
typedef struct arena_guard arena_guard;
typedef struct arena arena;
struct arena {
    const base_heap *heap;
    arena_chunk *chunks;
    arena_own *own;    /* large blocks */
    arena_own *outgrown; /* those that growable arrays have left */
    size_t used, size; /* of the newest chunk */
    size_t total;      /* bytes handed out */
    jmp_buf *failure;
    void *lent; /* a chunk that is not the heap's */
    arena_guard *guard; /* behind the last block, in builds that have guards */
    arena *beside, *next; /* arenas beside this one; the next of those that are beside the same */
};

void arena_init(arena *a, const base_heap *heap);     /* heap NULL: the default one */
/* The same, with a first block of the caller's (16-byte aligned, 64 bytes or more), which must outlive the arena's contents: what fits
 * there takes nothing from the heap. */
void arena_init_with(arena *a, const base_heap *heap, void *block, size_t bytes);
void arena_on_failure(arena *a, jmp_buf *handler);    /* longjmp(*handler, 1) when memory runs out; NULL: abort()s */
void *arena_alloc(arena *a, size_t bytes);            /* zeroed, 16-byte aligned, never NULL */
/* One of a type, and an array of n, zeroed: `type` may be a type or an expression that has it, such as the place that is filled. */
#define arena_new(a, type) ((__typeof__(type) *)arena_alloc((a), sizeof(type)))
#define arena_array(a, type, n) ((__typeof__(type) *)arena_array_((a), sizeof(type), (n)))
void *arena_array_(arena *a, size_t element, size_t n); /* fails as for lack of memory if its bytes cannot be counted */
void *arena_copy(arena *a, const void *from, size_t bytes);
char *arena_string(arena *a, const char *text);       /* a copy */
char *arena_printf(arena *a, const char *format, ...) SN_PRINTF(2, 3);
/* Gives a block of the arena's back early, if it is large or the last one handed out; else nothing happens. bytes: as
 * they were asked for. */
void arena_release(arena *a, void *block, size_t bytes);
/* Gives back what growable arrays were kept in before they grew. For moments when nobody has pointers into them. */
void arena_sweep(arena *a);
/* An arena for scratch memory, of the same heap: it fails as `a` does now, and ends when `a` is freed, if it is not freed
 * before. */
arena *arena_beside(arena *a);
void arena_free(arena *a);                            /* everything; the arena may be used again */

/* Growable arrays: VEC(int) v = {0}; vec_push(arena, &v, 3); v.at[0]; v.n. Old storage stays in the arena until it is
 * swept, so that pointers into it can still be read; large ones grow by four, as memory that nobody touches costs
 * nothing. What is beyond n is undefined. */
#define VEC(type)        \
    struct {             \
        type *at;        \
        uint32_t n, cap; \
    }
#define vec_push(a, v, value)                                                                                 \
    (((v)->n == (v)->cap ? vec_grow_((a), (void **)&(v)->at, &(v)->cap, sizeof(*(v)->at), (v)->n + 1u) : (void)0), \
     (void)((v)->at[(v)->n++] = (value)))
/* Gives its storage back, as arena_release does, and empties it. */
#define vec_free(a, v) (arena_release((a), (v)->at, (v)->cap * sizeof(*(v)->at)), (v)->at = NULL, (v)->n = (v)->cap = 0)
#define vec_reserve(a, v, count) \
    ((count) > (v)->cap ? vec_grow_((a), (void **)&(v)->at, &(v)->cap, sizeof(*(v)->at), (uint32_t)(count)) : (void)0)
/* Makes the length `count`; new elements are zero. */
#define vec_resize(a, v, count) (vec_reserve((a), (v), (count)), vec_resize_((v)->at, &(v)->n, (uint32_t)(count), sizeof(*(v)->at)))
void vec_grow_(arena *a, void **at, uint32_t *cap, size_t element, uint32_t wanted);
void vec_resize_(void *at, uint32_t *n, uint32_t count, size_t element);

/* Hash map from 64-bit keys to 32-bit values; open addressing; value 0 means "absent". Belongs to one struct: growing
 * gives the old table back. */
typedef struct map64 {
    uint64_t *key;
    uint32_t *value;
    uint32_t n, cap;
} map64;
uint32_t map64_get(const map64 *m, uint64_t key);
void map64_put(arena *a, map64 *m, uint64_t key, uint32_t value); /* value > 0 */
void map64_free(arena *a, map64 *m);                              /* gives a large one back, and empties it */

/* Interning: finds or records ids of equal things. The caller compares. */
typedef struct intern_table {
    uint32_t *id;
    uint64_t *hash;
    uint32_t n, cap;
} intern_table;
typedef bool (*intern_equal)(const void *env, uint32_t id);
uint32_t intern_find(const intern_table *t, uint64_t hash, intern_equal equal, const void *env); /* 0: absent */
void intern_add(arena *a, intern_table *t, uint64_t hash, uint32_t id);

/* Ascending; linear in n. `spare` has room for as many, and holds nothing of use afterwards. */
void sort_u32(uint32_t *at, uint32_t n, uint32_t *spare);

uint64_t hash_bytes(const void *bytes, size_t count, uint64_t seed);
static inline uint64_t hash_mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0x9e3779b97f4a7c15u;
    return h ^ (h >> 29);
}

/* Text under construction, always NUL-terminated; lives in its arena. */
typedef struct text {
    arena *arena;
    char *at;
    size_t n, cap;
} text;
void text_init(text *t, arena *a);
void text_init_for(text *t, arena *a, size_t bytes); /* with room for so many */
/* The whole, to which nothing is added any more: gives back room that it does not take, where that can be. */
const char *text_close(text *t);
void text_add(text *t, const char *string);
void text_add_n(text *t, const char *bytes, size_t count);
void text_printf(text *t, const char *format, ...) SN_PRINTF(2, 3);
void text_vprintf(text *t, const char *format, va_list args);
/* A float literal that reads back as the same bits: hexadecimal for exactness, "inf", "-inf", "nan(0x...)". */
void text_f64(text *t, double value);
void text_f32(text *t, float value);
/* The shortest decimal of at least so many digits that reads back as the same f64, or f32 if `single`. */
void text_shortest(text *t, double value, bool single, int least);
/* A number as printf's %.*e or %.*f prints it in the "C" locale; form is 'e' or 'f', the value finite and, for 'f',
 * below 1e17. */
enum { REAL_TEXT = 48 };
void real_text(char digits[REAL_TEXT], char form, int precision, double value);
/* How many digits behind the point %.*e needs, so that the text reads back as the same f64, or f32 if `single`: 0
 * to 16. */
int real_precision(double value, bool single);
/* strtod and strtof with a point between digits, whatever the locale says, as in all of the above. */
double text_read_f64(const char *at, char **end);
float text_read_f32(const char *at, char **end);

#endif
