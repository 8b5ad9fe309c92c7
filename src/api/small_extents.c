/* Programs for small extents. What a call gives as `m` in "[n,m]f32" is one number for the compiled program, but whether
 * a matrix of a batch is 4 x 4 or 400 x 400 decides which code is good. So where extents are small, the program is made
 * once more with numbers in place of their names, before all passes: its loops are unrolled, its indices folded, its
 * short rows known, exactly as if the signature had had the numbers. Bits of results are the same, as the order in which
 * values are combined depends on extents alone. */
#include "api/api.h"
#include "ir/specialise.h"

#include <stdlib.h>

enum {
    SMALL = 16,  /* extents up to this are worth code of their own; */
    ROUNDS = 32, /* ... and those of loops in scalar code up to this: so many no gang shares (OPT_ROUNDS_IN_ORDER);
                  * of rows in which gangs would look for what they read, up to SK_MOST_OF_BLOCK */
    MOST = 8     /* programs for one: of more combinations the others take the general one */
};

static bool suits(const sn_program *p)
{
    const sn_context *cx = p->context;
    return cx->engine.device && !api_own_memory(cx) && cx->options.simplify != SN_OFF &&
           cx->options.fusion != SN_OFF && cx->options.cost_model != SN_OFF;
}

/* Programs of exports have what calls have needed before: what they do not have would have to be compiled. */
static bool may_make(const sn_program *p)
{
    return suits(p) && !p->vector_bytes;
}

static bool has_regions(const ir_program *p)
{
    for (ir_id id = 1; id < p->node.n; id++)
        if (ir_at(p, id)->kind == IR_CONTROL)
            return true;
    return false;
}

void api_keep_copy(sn_program *p)
{
    if (p->ir->dim.n && suits(p) && has_regions(p->ir))
        p->copy = ir_specialise(p->ir, &p->arena, 0, NULL);
}

/* --- which extents --- */

uint64_t api_find_counts(const ir_program *p)
{
    uint64_t names = 0;
    for (ir_id id = 1; id < p->node.n; id++) {
        const ir_node *n = ir_at(p, id);
        const ir_node *count = n->kind == IR_LOOP && n->u.loop->count ? ir_at(p, n->u.loop->count) : NULL;
        if (count && count->kind == IR_DIM && count->u.literal < 64)
            names |= (uint64_t)1 << count->u.literal;
    }
    return names;
}

static bool is_small(const sn_program *p, uint32_t dim, int64_t extent)
{
    const bool counts = dim < 64 && p->counts >> dim & 1, blocks = dim < 64 && p->blocks >> dim & 1;
    return extent >= 1 && extent <= (blocks ? SK_MOST_OF_BLOCK : counts ? ROUNDS : SMALL);
}

/* The small extents of a call, in the order of their names' numbers; 0 where there are none, or where arguments differ
 * in one, which is for the general program to refuse. */
static uint32_t find_small(const sn_program *p, const run_argument *in, ir_number *known)
{
    uint32_t n = 0;
    const plan *pl = p->plan;
    for (uint32_t i = 0; i < pl->binding.n; i++) {
        const plan_binding *b = &pl->binding.at[i];
        if (!b->named || b->number >= p->names)
            continue;
        const int64_t extent = in[pl->input_first[b->input]].extent[b->dimension];
        for (uint32_t k = pl->input_first[b->input]; k < pl->input_first[b->input + 1]; k++)
            if (in[k].extent[b->dimension] != extent)
                return 0;
        uint32_t at = 0;
        while (at < n && known[at].dim < b->number)
            at++;
        if (at < n && known[at].dim == b->number) {
            if (known[at].value != extent)
                return 0;
            continue;
        }
        if (!is_small(p, b->number, extent))
            continue;
        if (n == SMALL_EXTENTS)
            return 0;
        memmove(known + at + 1, known + at, (n - at) * sizeof(*known));
        known[at] = (ir_number){b->number, extent};
        n++;
    }
    return n;
}

static const small_extents *find(const sn_program *p, uint32_t n, const ir_number *known)
{
    const small_extents *s = atomic_load_explicit(&p->small, memory_order_acquire);
    for (; s; s = s->next) {
        bool same = s->n == n;
        for (uint32_t i = 0; i < n && same; i++)
            same = s->known[i].dim == known[i].dim && s->known[i].value == known[i].value;
        if (same)
            return s;
    }
    return NULL;
}

/* --- making one --- */

/* Terms are as they were built: passes have added others, but changed none; of regions there is a copy. */
static ir_program *terms_for(sn_program *p, arena *a, uint32_t n, const ir_number *known)
{
    if (p->copy || has_regions(p->ir))
        return p->copy ? ir_specialise(p->copy, a, n, known) : NULL;
    ir_program then = *p->ir;
    memcpy(&then.output, &p->built.output, sizeof(then.output));
    memcpy(&then.check, &p->built.check, sizeof(then.check));
    then.dim.n = p->names;
    while (then.number.n && then.number.at[then.number.n - 1].dim >= p->names)
        then.number.n--;
    return ir_specialise(&then, a, n, known);
}

static void free_one(sn_program *q)
{
    const base_heap *heap = &q->context->heap;
    api_free_versions(q);
    pthread_mutex_destroy(&q->lock);
    arena_free(&q->arena);
    heap->release(heap->env, q);
}

/* *no_memory: that was it; else, of NULL, nothing would come of it. */
static sn_program *make(sn_program *p, uint32_t n, const ir_number *known, bool *no_memory)
{
    const base_heap *heap = &p->context->heap;
    sn_program *q = heap->alloc(heap->env, sizeof(*q));
    *no_memory = true;
    if (!q)
        return NULL;
    *q = (sn_program){.context = p->context,
                      .general = p,
                      .made = p->made,
                      .vector_bytes = p->vector_bytes,
                      .largest = p->largest,
                      .ports = p->ports};
    arena_init(&q->arena, heap);
    pthread_mutex_init(&q->lock, NULL);
    jmp_buf failure;
    volatile bool good = false, locked = true;
    run_lock_alone(p->run);
    if (!setjmp(failure)) {
        arena_on_failure(&q->arena, &failure);
        arena_on_failure(&p->arena, &failure);
        q->ir = terms_for(p, &q->arena, n, known);
        arena_on_failure(&p->arena, NULL);
        run_unlock(p->run);
        locked = false;
        if (q->ir)
            api_make_program(q);
        good = q->ir;
        *no_memory = false;
    }
    if (locked) {
        arena_on_failure(&p->arena, NULL);
        run_unlock(p->run);
    }
    arena_on_failure(&q->arena, NULL);
    if (good)
        return q;
    free_one(q);
    return NULL;
}

/* Remembers, too, that nothing would come of one, which would be tried at each call. */
static small_extents *remember(sn_program *p, uint32_t n, const ir_number *known)
{
    const base_heap *heap = &p->context->heap;
    small_extents *first = atomic_load(&p->small);
    if (first && first->number >= MOST)
        return NULL;
    small_extents *s = heap->alloc(heap->env, sizeof(*s) + n * sizeof(*known));
    if (!s)
        return NULL;
    bool no_memory;
    sn_program *q = make(p, n, known, &no_memory);
    if (no_memory) {
        heap->release(heap->env, s);
        return NULL;
    }
    *s = (small_extents){.next = first, .program = q, .number = first ? first->number + 1 : 1, .n = n};
    memcpy(s->known, known, n * sizeof(*known));
    atomic_store_explicit(&p->small, s, memory_order_release);
    return s;
}

sn_program *api_program_for(sn_program *p, uint32_t n, const ir_number *known)
{
    const small_extents *s = find(p, n, known);
    if (!s) {
        pthread_mutex_lock(&p->lock);
        s = find(p, n, known);
        s = s ? s : remember(p, n, known);
        pthread_mutex_unlock(&p->lock);
    }
    return s ? s->program : NULL;
}

sn_program *api_for_extents(sn_program *p, const run_argument *in, size_t bytes)
{
    ir_number known[SMALL_EXTENTS];
    const bool some = atomic_load_explicit(&p->small, memory_order_relaxed), make = may_make(p);
    const uint32_t n = bytes >= p->context->small_from && (some || make) ? find_small(p, in, known) : 0;
    if (!n)
        return p;
    const small_extents *s = make ? NULL : find(p, n, known);
    sn_program *q = make ? api_program_for(p, n, known) : s ? s->program : NULL;
    return q ? q : p;
}

/* --- in texts --- */

void api_list_extents(const sn_program *p, const small_extents *s, text *out)
{
    for (uint32_t i = 0; i < s->n; i++)
        text_printf(out, "%s=%lld%s", p->ir->dim.at[s->known[i].dim], (long long)s->known[i].value,
                    i + 1 < s->n ? "," : "\n");
}

/* Which name of the program's this is, up to a '='. */
static bool find_name(const sn_program *p, const char *name, size_t length, uint32_t *dim)
{
    for (*dim = 0; *dim < p->names; ++*dim) {
        const char *known = p->ir->dim.at[*dim];
        if (!strncmp(known, name, length) && !known[length])
            return true;
    }
    return false;
}

const char *api_read_extents(const sn_program *p, const char *line, uint32_t *n, ir_number *known)
{
    for (*n = 0; *n < SMALL_EXTENTS;) {
        const size_t length = strcspn(line, "=\n");
        ir_number x = {0};
        if (line[length] != '=' || !find_name(p, line, length, &x.dim))
            return NULL;
        char *end;
        x.value = strtoll(line + length + 1, &end, 10);
        if (!is_small(p, x.dim, x.value))
            return NULL;
        uint32_t at = *n;
        for (; at && known[at - 1].dim > x.dim; at--)
            known[at] = known[at - 1];
        if (at && known[at - 1].dim == x.dim)
            return NULL;
        known[at] = x;
        ++*n;
        if (*end == '\n')
            return end + 1;
        if (*end != ',')
            return NULL;
        line = end + 1;
    }
    return NULL;
}

void api_print_extents(const sn_program *p, const small_extents *s, text *out)
{
    text_add(out, "where ");
    for (uint32_t i = 0; i < s->n; i++)
        text_printf(out, "%s%s is %lld", !i ? "" : i + 1 == s->n ? " and " : ", ", p->ir->dim.at[s->known[i].dim],
                    (long long)s->known[i].value);
    text_add(out, ":\n");
}

void api_free_small_extents(sn_program *p)
{
    const base_heap *heap = &p->context->heap;
    for (small_extents *s = atomic_load(&p->small), *next; s; s = next) {
        next = s->next;
        if (s->program)
            free_one(s->program);
        heap->release(heap->env, s);
    }
}
