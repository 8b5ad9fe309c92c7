/* Elements in a core's shared memory. Components of up to four bytes share words of eight: an element that moves then
 * touches one line rather than one for each component, and lines are what moving elements waits for. */
#include "skeleton/sort/sort_radix.h"

enum { WORD_BITS = 64 };

typedef struct filling {  /* of words, by components from the first on */
    uint32_t words, open; /* how many there are; the one that narrow components join */
    unsigned used;        /* bits of that one, */
    ir_type type;         /* and its type */
    int64_t bytes;        /* of all words */
} filling;

/* The next component gets its place. Does it join a word, at this bit, or has it a word of its own? */
static bool joins(filling *f, ir_type t, unsigned *shift)
{
    const unsigned bits = (unsigned)ir_type_size(t) * 8;
    const bool narrow = bits < WORD_BITS, joined = narrow && f->words && f->used + bits <= WORD_BITS;
    *shift = joined ? f->used : 0;
    if (joined) {
        f->bytes -= (int64_t)ir_type_size(f->type);
        f->type = f->used + bits > WORD_BITS / 2 ? T_U64 : T_U32;
        f->bytes += (int64_t)ir_type_size(f->type);
        f->used += bits;
        return true;
    }
    f->bytes += (int64_t)ir_type_size(t);
    if (narrow) {
        f->open = f->words;
        f->used = bits;
        f->type = t;
    }
    f->words++;
    return false;
}

sk_record sk_record_of(arena *a, const ir_array *info)
{
    const uint32_t n = info->components;
    sk_record r = {.info = info, .part = arena_array(a, *r.part, n), .word = arena_array(a, *r.word, n)};
    filling f = {.used = WORD_BITS};
    for (uint32_t c = 0; c < n; c++) {
        unsigned shift;
        const bool joined = joins(&f, info->type[c], &shift);
        r.part[c] = (sk_record_part){joined ? f.open : f.words - 1, (uint8_t)shift};
        r.word[r.part[c].word] = (sk_record_word){joined ? f.type : info->type[c], joined};
    }
    r.words = f.words;
    return r;
}

int64_t sk_record_bytes(const ir_array *info)
{
    filling f = {.used = WORD_BITS};
    unsigned shift;
    for (uint32_t c = 0; c < info->components; c++)
        joins(&f, info->type[c], &shift);
    return f.bytes;
}

/* A component as bits of a word. */
static k_val as_bits(k_builder *b, ir_type t, k_val value, ir_type word)
{
    ir_type u = ir_type_unsigned(ir_type_size(t));
    k_val bits = t == u ? value : k_convert(b, t == T_BOOL ? OP_CONVERT : OP_BITCAST, u, value);
    return u == word ? bits : k_convert(b, OP_CONVERT, word, bits);
}

void sk_record_words(k_builder *b, const sk_record *r, const k_val *value, k_val *word)
{
    for (uint32_t w = 0; w < r->words; w++)
        word[w] = 0;
    for (uint32_t c = 0; c < r->info->components; c++) {
        const uint32_t w = r->part[c].word;
        const sk_record_word own = r->word[w];
        if (!own.shared) {
            word[w] = value[c];
            continue;
        }
        k_val bits = as_bits(b, r->info->type[c], value[c], own.type);
        if (r->part[c].shift)
            bits = k_let(b, OP_SHL, bits, k_literal(b, own.type, r->part[c].shift), 0);
        word[w] = word[w] ? k_let(b, OP_BIT_OR, word[w], bits, 0) : bits;
    }
}

k_val sk_record_component(k_builder *b, const sk_record *r, uint32_t c, k_val word)
{
    const sk_record_word own = r->word[r->part[c].word];
    ir_type t = r->info->type[c], u = ir_type_unsigned(ir_type_size(t));
    if (!own.shared)
        return word;
    if (r->part[c].shift)
        word = k_let(b, OP_SHR, word, k_literal(b, own.type, r->part[c].shift), 0);
    if (u != own.type)
        word = k_convert(b, OP_CONVERT, u, word);
    if (t == T_BOOL)
        return k_let(b, OP_NE, word, k_literal(b, u, 0), 0);
    return t == u ? word : k_convert(b, OP_BITCAST, t, word);
}
