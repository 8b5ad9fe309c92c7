/* Serialises a kernel for cache keys: every decision that reaches machine code, and nothing else. Names are left out
 * and values are numbered by first definition, so kernels that differ only in names or in dead constants have one key.
 */
#include "kernel/kernel.h"
#include "kernel/walk.h"

typedef struct {
    const kernel *k;
    text *out;
    uint32_t *number; /* per value; 0: not met yet */
    uint32_t numbers;
} writer;

enum { TAG_DECLARATIONS = 1, TAG_STATEMENT, TAG_ELSE, TAG_LEAVE, TAG_VALUE, TAG_CONSTANT };

/* Variable-length, so that small numbers, which nearly all are, take one byte. */
static void put(writer *w, uint64_t v)
{
    char bytes[10];
    size_t n = 0;
    do {
        bytes[n++] = (char)((v & 127) | (v > 127 ? 128u : 0u));
        v >>= 7;
    } while (v);
    text_add_n(w->out, bytes, n);
}

/* A value, with what it is when it is met for the first time. */
static void put_value(writer *w, k_val id)
{
    const k_value *v = &w->k->value.at[id];
    if (w->number[id]) {
        put(w, TAG_VALUE);
        put(w, w->number[id]);
        return;
    }
    put(w, TAG_CONSTANT);
    put(w, v->kind);
    put(w, v->type);
    put(w, v->kind == KV_LITERAL || v->kind == KV_ARG ? v->bits : 0);
    put(w, v->natural);
    w->number[id] = ++w->numbers;
}

static void put_values(writer *w, const k_val *v, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        put_value(w, v[i]);
}

static void put_chain(writer *w, const k_chain *c)
{
    put(w, c->arity);
    put_values(w, c->aggregate, c->arity);
    put_values(w, c->initial, c->arity);
    put_values(w, c->left, c->arity);
    put_values(w, c->right, c->arity);
    put_values(w, c->before, c->arity);
}

static void put_statement(writer *w, const k_stmt *s)
{
    put(w, TAG_STATEMENT);
    put(w, s->op);
    put(w, s->sub);
    put(w, s->site);
    put(w, s->mem);
    put_values(w, s->in, k_operands(s));
    if (s->dst)
        put_value(w, s->dst);
    if (s->op == K_CHAIN)
        put_chain(w, s->chain);
}

static void put_text(writer *w, const char *s)
{
    size_t n = strlen(s);
    put(w, n);
    text_add_n(w->out, s, n);
}

static void put_declarations(writer *w)
{
    const kernel *k = w->k;
    put(w, TAG_DECLARATIONS);
    put(w, k->lanes);
    put(w, k->threads);
    put(w, k->narrow);
    put(w, k->mem.n);
    for (k_mem m = 1; m < k->mem.n; m++) {
        const k_memory *memory = &k->mem.at[m];
        put(w, memory->space);
        put(w, memory->type);
        put(w, (uint64_t)memory->near << 5 | (uint64_t)memory->unread << 4 | (uint64_t)memory->one << 3 |
                   (uint64_t)memory->once << 2 | (uint64_t)memory->written << 1 | memory->stream);
        put(w, (uint64_t)memory->count);
        put(w, memory->few);
        put(w, memory->every);
        put(w, memory->at);
        put(w, memory->beside);
    }
    put(w, k->arg_type.n);
    for (uint32_t i = 0; i < k->arg_type.n; i++)
        put(w, k->arg_type.at[i]);
    put(w, k->code.n);
    for (uint32_t i = 0; i < k->code.n; i++) {
        put_text(w, k->code.at[i].name);
        put_text(w, k->code.at[i].source ? k->code.at[i].source : "");
        put(w, k->code.at[i].host);
        put(w, k->code.at[i].results);
        put(w, k->code.at[i].part);
        for (unsigned t = 0; t < K_MOST_GIVEN; t++)
            put(w, k->code.at[i].type[t]);
    }
}

void k_key(const kernel *k, text *out)
{
    writer w = {.k = k, .out = out, .number = arena_array(out->arena, uint32_t, k->value.n)};
    k_walk walk;
    put_declarations(&w);
    k_walk_begin(&walk, k, out->arena);
    while (k_walk_next(&walk)) {
        const k_stmt *s = &k->stmt.at[walk.at];
        if (walk.event == K_WALK_ELSE)
            put(&w, TAG_ELSE);
        else if (walk.event == K_WALK_LEAVE)
            put(&w, TAG_LEAVE);
        else if (s->op != K_NOP)
            put_statement(&w, s);
        if (walk.event == K_WALK_LEAVE && s->op == K_CHAIN)
            put_values(&w, s->chain->result, s->chain->arity);
    }
}
