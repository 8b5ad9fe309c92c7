/* The states before all pieces of a row, of what each of them adds, by one block: the pass between SUMS and APPLY on devices
 * whose blocks are many threads. Windows are independent but for what comes before them, so a thread takes one, piece after
 * piece; then one thread goes from window to window; then all pieces learn what is before their window. Operators are
 * applied in the order of docs/determinism.md: from left to right within a window, and window after window.
 *
 * Until the end the first piece of a window has what the whole window adds, in the words that are to hold what is before
 * the window: of counts the only word, as nothing comes before it within its window. */
#include "skeleton/row/row.h"

enum {
    AHEAD = 8,     /* words that are read before the first of them is replaced, as reads take longest: of so many pieces, or */
    OF_MANY = 4    /* windows; fewer where each has several */
};

typedef enum { A_COUNT, A_WINDOW, IN_WINDOW } word_kind;

typedef struct states {
    row_loop *r;
    k_mem memory;
    uint8_t n;
    ir_type type[K_MOST_CARRIED];
    word_kind kind[K_MOST_CARRIED];
    const row_part *part[K_MOST_CARRIED]; /* A_WINDOW, of component 0: whose words begin here */
    uint8_t further[K_MOST_CARRIED];      /* A_WINDOW: words from it to IN_WINDOW of the same component */
    k_val first, pieces; /* of the row */
} states;

static void find_words(states *s)
{
    const row_loop *r = s->r;
    uint8_t n = 0;
    s->n = row_carried_types(r, s->type);
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i];
        if (row_counts(r, p))
            s->kind[n++] = A_COUNT;
        for (uint32_t c = 0; c < 2 * p->n && p->op->kind == L_SCAN; c++) {
            s->part[n] = c ? NULL : p;
            s->further[n] = c < p->n ? (uint8_t)p->n : 0;
            s->kind[n++] = c < p->n ? A_WINDOW : IN_WINDOW;
        }
    }
}

static k_val load_word(const states *s, k_val piece, uint8_t j)
{
    k_val word = k_load(&s->r->lw->b, s->memory, row_word_at(s->r, piece, j));
    return row_from_word(s->r, s->type[j], word);
}

static void store_word(const states *s, k_val piece, uint8_t j, k_val x)
{
    k_store(&s->r->lw->b, s->memory, row_word_at(s->r, piece, j), row_to_word(s->r, x));
}

static int64_t pieces_ahead(const states *s)
{
    return s->n <= 2 ? AHEAD : s->n <= OF_MANY ? OF_MANY : 1;
}

/* --- a window, from its beginning --- */

static void one_piece(const states *s, k_val number, k_val piece, const k_val *words, const k_val *left)
{
    k_builder *b = &s->r->lw->b;
    k_val right[K_MOST_CARRIED] = {0}, result[K_MOST_CARRIED];
    for (uint8_t j = 0; j < s->n; j++)
        right[j] = k_decl(b, words[j], "sum");
    for (uint8_t j = 0; j < s->n; j++)
        if (s->kind[j] != A_WINDOW)
            store_word(s, piece, j, k_get(b, left[j]));
    row_combine_carried(s->r, false, number, left, right, result);
    for (uint8_t j = 0; j < s->n; j++)
        k_set(b, left[j], result[j]);
}

static void in_windows(const states *s, k_val windows)
{
    sk_lower *lw = s->r->lw;
    k_builder *b = &lw->b;
    const int64_t ahead = pieces_ahead(s);
    k_val size = k_i64(b, ROW_WINDOW), most = sk_add(lw, sk_min(lw, size, s->pieces), k_i64(b, ahead - 1));
    k_val rounds = k_let(b, OP_QUOT, most, k_i64(b, ahead), 0); /* the same for all windows */
    k_val window = k_for_all(b, windows), begin = sk_mul(lw, window, size);
    k_val count = sk_min(lw, size, sk_sub(lw, s->pieces, begin)), last = sk_sub(lw, count, k_i64(b, 1));
    k_val base = sk_add(lw, s->first, begin), left[K_MOST_CARRIED];
    lw->element = k_piece(b);
    for (uint8_t j = 0; j < s->n; j++)
        left[j] = k_decl(b, k_literal(b, s->type[j], 0), "state");
    k_val from = sk_mul(lw, k_for(b, k_i64(b, 0), rounds, false), k_i64(b, ahead));
    k_val words[AHEAD][K_MOST_CARRIED];
    for (int64_t i = 0; i < ahead; i++)
        for (uint8_t j = 0; j < s->n; j++)
            words[i][j] = load_word(s, sk_add(lw, base, sk_min(lw, sk_add(lw, from, k_i64(b, i)), last)), j);
    for (int64_t i = 0; i < ahead; i++) {
        k_val number = sk_add(lw, from, k_i64(b, i));
        k_if(b, k_let(b, OP_LT, number, count, 0));
        one_piece(s, number, sk_add(lw, base, number), words[i], left);
        k_end(b);
    }
    k_end(b);
    for (uint8_t j = 0; j < s->n; j++)
        if (s->kind[j] != IN_WINDOW)
            store_word(s, base, j, k_get(b, left[j + s->further[j]]));
    k_end(b);
}

/* --- from window to window --- */

/* The state behind a window of a scan, of that before it and what the window adds. */
static void step(const states *s, uint8_t j, k_val window, const k_val *before, const k_val *words)
{
    k_builder *b = &s->r->lw->b;
    const row_part *p = s->part[j];
    k_val *left = row_values(s->r, p), *out = row_values(s->r, p);
    const bool base = p->fold.info->seed || p->fold.identity;
    for (uint32_t c = 0; c < p->n; c++)
        left[c] = k_get(b, before[j + c]);
    if (!base)
        k_if(b, k_let(b, OP_GT, window, k_i64(b, 0), 0));
    row_apply(s->r, p, left, words + j, out);
    row_set(s->r, p, before + j, out);
    if (!base) {
        k_else(b);
        row_set(s->r, p, before + j, words + j);
        k_end(b);
    }
}

static void one_window(const states *s, k_val window, k_val piece, const k_val *words, const k_val *before)
{
    k_builder *b = &s->r->lw->b;
    for (uint8_t j = 0; j < s->n; j++)
        if (s->kind[j] != IN_WINDOW)
            store_word(s, piece, j, k_get(b, before[j]));
    for (uint8_t j = 0; j < s->n; j++) {
        if (s->part[j])
            step(s, j, window, before, words);
        if (s->kind[j] == A_COUNT)
            k_set(b, before[j], sk_add(s->r->lw, k_get(b, before[j]), words[j]));
    }
}

static void between_windows(const states *s, k_val windows)
{
    sk_lower *lw = s->r->lw;
    k_builder *b = &lw->b;
    k_val one = k_for_few(b, k_i64(b, 1)), before[K_MOST_CARRIED] = {0};
    for (uint8_t j = 0; j < s->n; j++) {
        const k_val *first = s->part[j] ? row_first_state(s->r, s->part[j]) : NULL;
        for (uint32_t c = 0; s->part[j] && c < s->part[j]->n; c++)
            before[j + c] = k_decl(b, first ? first[c] : k_literal(b, s->type[j + c], 0), "state");
        if (s->kind[j] == A_COUNT)
            before[j] = k_decl(b, k_i64(b, 0), "before");
    }
    const int64_t ahead = pieces_ahead(s);
    k_val all = sk_add(lw, windows, k_i64(b, ahead - 1)), last = sk_sub(lw, windows, k_i64(b, 1));
    k_val rounds = k_let(b, OP_QUOT, all, k_i64(b, ahead), 0);
    k_val from = sk_mul(lw, k_for(b, k_i64(b, 0), rounds, false), k_i64(b, ahead));
    k_val words[AHEAD][K_MOST_CARRIED] = {{0}}, row = sk_add(lw, s->first, one);
    for (int64_t i = 0; i < ahead; i++)
        for (uint8_t j = 0; j < s->n; j++) {
            k_val window = sk_min(lw, sk_add(lw, from, k_i64(b, i)), last);
            k_val piece = sk_add(lw, row, sk_mul(lw, window, k_i64(b, ROW_WINDOW)));
            words[i][j] = s->kind[j] == IN_WINDOW ? 0 : load_word(s, piece, j);
        }
    for (int64_t i = 0; i < ahead; i++) {
        k_val window = sk_add(lw, from, k_i64(b, i));
        k_if(b, k_let(b, OP_LT, window, windows, 0));
        one_window(s, window, sk_add(lw, row, sk_mul(lw, window, k_i64(b, ROW_WINDOW))), words[i], before);
        k_end(b);
    }
    k_end(b);
    k_end(b);
}

/* --- to all pieces --- */

static void to_pieces(const states *s)
{
    sk_lower *lw = s->r->lw;
    k_builder *b = &lw->b;
    k_val number = k_for_all(b, s->pieces), size = k_i64(b, ROW_WINDOW), piece = sk_add(lw, s->first, number);
    k_val within = k_let(b, OP_REM, number, size, 0), begin = sk_sub(lw, piece, within);
    k_if(b, k_let(b, OP_NE, within, k_i64(b, 0), 0));
    for (uint8_t j = 0; j < s->n; j++) {
        k_val before = s->kind[j] == IN_WINDOW ? 0 : load_word(s, begin, j);
        if (before)
            store_word(s, piece, j, s->kind[j] == A_COUNT ? sk_add(lw, before, load_word(s, piece, j)) : before);
    }
    k_end(b);
    k_end(b);
}

/* slots: 0 pieces a row */
void sk_build_row_states(sk_lower *lw)
{
    row_loop loop = {.lw = lw};
    k_builder *b = &lw->b;
    row_begin(&loop, ROW_GANG);
    states s = {.r = &loop, .memory = row_state_memory(&loop, 0)};
    find_words(&s);
    loop.length = k_i64(b, 0);
    s.pieces = sk_slot(lw, 0, "pieces_a_row");
    s.first = sk_mul(lw, k_piece(b), s.pieces);
    k_val size = k_i64(b, ROW_WINDOW);
    k_val windows = k_let(b, OP_QUOT, sk_add(lw, s.pieces, k_i64(b, ROW_WINDOW - 1)), size, 0);
    lw->element = k_piece(b);
    in_windows(&s, windows);
    between_windows(&s, windows);
    to_pieces(&s);
}
