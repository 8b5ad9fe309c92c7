/* Loads of a gang whose lanes are numbered by constants: the only gang of its FOR_ALL. An index is then often a sum of
 * numbers that all lanes share, times numbers that are known of each lane: x[i + quot(lane, 8), j + rem(lane, 8)].
 * Lanes that share the former are a group, and read a stretch of memory. Each stretch is loaded as a whole, and
 * permutations by constants bring its elements to their lanes. A gather would take an access for each lane. A position
 * whose part that lanes share is a multiple of the divisor is divided so, too: quot(32 i + lane, 8). Of clamped indices
 * it is asked first whether they change any lane's. */
#include "emit/cpu/llvm/cg.h"

enum {
    MOST_LANES = 128,
    MOST_TERMS = 4,
    MOST_DEPTH = 12,
    MOST_LOADS = 32,
    MOST_SHARED = 4,
    MOST_SCALE = 1 << 14, /* counts times this number do not wrap */
    REGISTER = 64
};

/* factor * number[lane]; a factor that is NULL is 1. */
typedef struct term {
    cg_ref factor;
    int64_t number[MOST_LANES];
} term;

typedef struct sum {
    cg_ref shared; /* the same in all lanes */
    cg_ref stays;  /* i1: minima and maxima are what moves in all lanes, as is taken for granted here; NULL: always */
    unsigned terms;
    term term[MOST_TERMS];
} sum;

/* Division as C has it, or rounded down; nothing is known of a division by zero. */
static bool divide(ir_op op, int64_t x, int64_t y, int64_t *out)
{
    if (y <= 0)
        return false;
    int64_t quotient = x / y, rest = x % y;
    if ((op == OP_DIV || op == OP_MOD) && rest < 0) {
        quotient--;
        rest += y;
    }
    *out = op == OP_DIV || op == OP_QUOT ? quotient : rest;
    return true;
}

static bool compute(ir_op op, int64_t x, int64_t y, int64_t *out)
{
    switch (op) {
    case OP_ADD:
        return !__builtin_add_overflow(x, y, out);
    case OP_SUB:
        return !__builtin_sub_overflow(x, y, out);
    case OP_MUL:
        return !__builtin_mul_overflow(x, y, out);
    case OP_MIN:
        *out = x < y ? x : y;
        return true;
    case OP_MAX:
        *out = x > y ? x : y;
        return true;
    case OP_QUOT:
    case OP_DIV:
    case OP_REM:
    case OP_MOD:
        return divide(op, x, y, out);
    default:
        return false;
    }
}

/* The numbers of a value that only depends on which lane it is. */
static bool is_known(const cg *g, k_val v, unsigned depth, int64_t *number)
{
    const k_value *x = &g->k->value.at[v];
    const k_stmt *s = cg_definition(g, v);
    int64_t other[MOST_LANES];
    if (x->kind == KV_LITERAL) {
        for (unsigned i = 0; i < g->lanes; i++)
            number[i] = ir_i64_bits(T_I64, x->bits);
        return x->type == T_I64;
    }
    if (!s || x->type != T_I64 || depth == MOST_DEPTH)
        return false;
    if (s->op == K_FOR_ALL) {
        for (unsigned i = 0; i < g->lanes; i++)
            number[i] = i;
        return x->shape != K_UNIFORM;
    }
    if (s->op != K_LET || ir_ops[s->sub].arity != 2 || !is_known(g, s->in[0], depth + 1, number) ||
        !is_known(g, s->in[1], depth + 1, other))
        return false;
    for (unsigned i = 0; i < g->lanes; i++)
        if (!compute((ir_op)s->sub, number[i], other[i], &number[i]))
            return false;
    return true;
}

/* --- positions: sums of counts, times literals, and of numbers of lanes --- */

static bool literal(const cg *g, k_val v, int64_t *out)
{
    const k_value *x = &g->k->value.at[v];
    *out = x->kind == KV_LITERAL && x->type == T_I64 ? ir_i64_bits(T_I64, x->bits) : -1;
    return *out >= 0;
}

/* The value is no more than so many times the largest number of rounds, pieces or elements, and not negative; 0: not
 * known. */
static int64_t scale_of(const cg *g, k_val v, unsigned depth)
{
    const k_value *x = &g->k->value.at[v];
    const k_stmt *s = cg_definition(g, v);
    int64_t by;
    if (x->kind == KV_PIECE)
        return 1;
    if (x->kind == KV_LITERAL)
        return literal(g, v, &by) && by < INT32_MAX;
    if (!s || depth == MOST_DEPTH)
        return 0;
    if (s->op == K_FOR)
        return scale_of(g, s->in[0], depth + 1) == 1;
    if (s->op != K_LET || (s->sub != OP_ADD && s->sub != OP_MUL))
        return 0;
    const int64_t left = scale_of(g, s->in[0], depth + 1), right = scale_of(g, s->in[1], depth + 1);
    const bool scaled = s->sub == OP_MUL;
    if (!left || !right || (scaled && (!literal(g, s->in[1], &by) || by > MOST_SCALE)))
        return 0;
    const int64_t scale = scaled ? left * (by ? by : 1) : left + right;
    return scale <= MOST_SCALE ? scale : 0;
}

static bool is_multiple(const cg *g, k_val v, int64_t of, unsigned depth)
{
    const k_stmt *s = cg_definition(g, v);
    int64_t x;
    if (of == 1)
        return true;
    if (literal(g, v, &x))
        return x % of == 0;
    if (!s || s->op != K_LET || depth == MOST_DEPTH)
        return false;
    if (s->sub == OP_ADD)
        return is_multiple(g, s->in[0], of, depth + 1) && is_multiple(g, s->in[1], of, depth + 1);
    if (s->sub != OP_MUL || !literal(g, s->in[1], &x))
        return false;
    int64_t common = of, rest = x;
    while (rest) {
        const int64_t next = common % rest;
        common = rest;
        rest = next;
    }
    return is_multiple(g, s->in[0], of / common, depth + 1);
}

typedef struct position {
    unsigned n;
    k_val shared[MOST_SHARED];  /* multiples, not negative, */
    int64_t number[MOST_LANES]; /* and not negative, either */
} position;

/* A sum of multiples of `of` that lanes share, and known numbers. Nothing is emitted. */
static bool find_position(const cg *g, k_val v, int64_t of, unsigned depth, position *out)
{
    const k_stmt *s = cg_definition(g, v);
    int64_t number[MOST_LANES];
    if (is_known(g, v, depth, number)) {
        for (unsigned l = 0; l < g->lanes; l++)
            if (number[l] < 0 || number[l] > INT32_MAX || (out->number[l] += number[l]) > INT32_MAX)
                return false;
        return true;
    }
    if (g->k->value.at[v].shape == K_UNIFORM && scale_of(g, v, 0) && is_multiple(g, v, of, 0)) {
        if (out->n == MOST_SHARED)
            return false;
        out->shared[out->n++] = v;
        return true;
    }
    return s && s->op == K_LET && s->sub == OP_ADD && depth < MOST_DEPTH &&
           find_position(g, s->in[0], of, depth + 1, out) && find_position(g, s->in[1], of, depth + 1, out);
}

/* Is it a quotient or remainder of such a position? */
static bool is_divided(const cg *g, const k_stmt *s, position *x, int64_t *by)
{
    const bool divides = s->sub == OP_QUOT || s->sub == OP_DIV || s->sub == OP_REM || s->sub == OP_MOD;
    *x = (position){0};
    return divides && literal(g, s->in[1], by) && *by > 0 && find_position(g, s->in[0], *by, 0, x) &&
           x->n <= MOST_SHARED;
}

static void divide_numbers(const cg *g, const k_stmt *s, const position *x, int64_t by, int64_t *number)
{
    for (unsigned l = 0; l < g->lanes; l++)
        divide((ir_op)s->sub, x->number[l], by, &number[l]);
}

/* --- sums --- */

static cg_ref times(cg *g, cg_ref factor, cg_ref by)
{
    return factor ? LLVMBuildMul(g->b, factor, by, "") : by;
}

/* Of a constant `by`, terms without a factor stay such terms. */
static bool multiply(cg *g, sum *x, cg_ref by)
{
    const bool constant = LLVMIsAConstantInt(by) != NULL;
    x->shared = LLVMBuildMul(g->b, x->shared, by, "");
    for (unsigned i = 0; i < x->terms; i++) {
        term *t = &x->term[i];
        if (!constant)
            t->factor = times(g, t->factor, by);
        for (unsigned l = 0; l < g->lanes && constant; l++)
            if (__builtin_mul_overflow(t->number[l], LLVMConstIntGetSExtValue(by), &t->number[l]))
                return false;
    }
    return true;
}

static cg_ref both(cg *g, cg_ref a, cg_ref b)
{
    return a && b ? LLVMBuildAnd(g->b, a, b, "") : a ? a : b;
}

/* x += y, or x -= y; terms of the same factor become one. */
static bool add(cg *g, sum *x, const sum *y, bool less)
{
    x->stays = both(g, x->stays, y->stays);
    x->shared = less ? LLVMBuildSub(g->b, x->shared, y->shared, "") : LLVMBuildAdd(g->b, x->shared, y->shared, "");
    for (unsigned i = 0; i < y->terms; i++) {
        unsigned at = 0;
        while (at < x->terms && x->term[at].factor != y->term[i].factor)
            at++;
        if (at == MOST_TERMS)
            return false;
        if (at == x->terms)
            x->term[x->terms++] = (term){.factor = y->term[i].factor};
        for (unsigned l = 0; l < g->lanes; l++)
            if (!compute(less ? OP_SUB : OP_ADD, x->term[at].number[l], y->term[i].number[l], &x->term[at].number[l]))
                return false;
    }
    return true;
}

/* The least and the greatest one of lanes that differ by constants; overflow: i1, they are not such numbers. */
static bool find_ends(cg *g, const sum *x, unsigned lanes, cg_ref *end, cg_ref *overflow)
{
    LLVMTypeRef i64 = g->i64;
    if (x->terms > 1 || (x->terms && x->term[0].factor))
        return false;
    int64_t least = x->terms ? x->term[0].number[0] : 0, most = least;
    for (unsigned l = 0; l < lanes && x->terms; l++) {
        least = x->term[0].number[l] < least ? x->term[0].number[l] : least;
        most = x->term[0].number[l] > most ? x->term[0].number[l] : most;
    }
    for (unsigned i = 0; i < 2; i++) {
        cg_ref with =
            cg_call(g, "llvm.sadd.with.overflow", 1, &i64, 2, (cg_ref[]){x->shared, cg_i64(g, i ? most : least)});
        end[i] = LLVMBuildExtractValue(g->b, with, 0, "");
        cg_ref wraps = LLVMBuildExtractValue(g->b, with, 1, "");
        *overflow = i ? LLVMBuildOr(g->b, *overflow, wraps, "") : wraps;
    }
    return true;
}

static bool split(cg *g, k_val v, unsigned depth, sum *out);

/* A quotient or remainder of a position. */
static bool split_division(cg *g, const k_stmt *s, sum *out)
{
    position x;
    int64_t by;
    if (!is_divided(g, s, &x, &by))
        return false;
    for (unsigned i = 0; i < x.n && (s->sub == OP_QUOT || s->sub == OP_DIV); i++) {
        cg_ref whole = LLVMBuildExactSDiv(g->b, cg_scalar(g, x.shared[i]), cg_i64(g, by), "");
        out->shared = LLVMBuildAdd(g->b, out->shared, whole, "");
    }
    divide_numbers(g, s, &x, by, out->term[0].number);
    out->terms = 1;
    return true;
}

/* A minimum or maximum of what moves and what lanes share. */
static bool split_clamped(cg *g, const k_stmt *s, unsigned depth, sum *out)
{
    const bool swapped = g->k->value.at[s->in[0]].shape == K_UNIFORM, least = s->sub == OP_MIN;
    cg_ref end[2], overflow;
    if (g->k->value.at[s->in[!swapped]].shape != K_UNIFORM || !split(g, s->in[swapped], depth + 1, out) ||
        !find_ends(g, out, g->lanes, end, &overflow))
        return false;
    cg_ref bound = cg_scalar(g, s->in[!swapped]);
    cg_ref holds = LLVMBuildICmp(g->b, least ? LLVMIntSLE : LLVMIntSGE, end[least], bound, "");
    out->stays = both(g, out->stays, LLVMBuildAnd(g->b, holds, LLVMBuildNot(g->b, overflow, ""), ""));
    return true;
}

static bool split(cg *g, k_val v, unsigned depth, sum *out)
{
    const k_value *x = &g->k->value.at[v];
    const k_stmt *s = cg_definition(g, v);
    *out = (sum){.shared = cg_i64(g, 0)};
    if (x->type != T_I64 || depth == MOST_DEPTH)
        return false;
    if (x->shape == K_UNIFORM) {
        out->shared = cg_scalar(g, v);
        return true;
    }
    if (is_known(g, v, depth, out->term[0].number)) {
        out->terms = 1;
        return true;
    }
    if (!s || s->op != K_LET)
        return false;
    sum other;
    if (s->sub == OP_ADD || s->sub == OP_SUB)
        return split(g, s->in[0], depth + 1, out) && split(g, s->in[1], depth + 1, &other) &&
               add(g, out, &other, s->sub == OP_SUB);
    if (s->sub == OP_MIN || s->sub == OP_MAX)
        return split_clamped(g, s, depth, out);
    if (s->sub != OP_MUL)
        return split_division(g, s, out);
    const bool swapped = g->k->value.at[s->in[0]].shape == K_UNIFORM;
    return g->k->value.at[s->in[!swapped]].shape == K_UNIFORM && split(g, s->in[swapped], depth + 1, out) &&
           multiply(g, out, cg_scalar(g, s->in[!swapped]));
}

static bool is_numbered(const cg *g)
{
    return g->thread && g->lanes <= MOST_LANES && g->lanes > 1 && LLVMIsAConstantInt(g->thread_base) &&
           !LLVMConstIntGetSExtValue(g->thread_base);
}

/* How many lanes are on, the first ones, if that is known of a gang whose lanes are numbered by constants; else 0. */
static unsigned known_lanes(const cg *g)
{
    if (!is_numbered(g))
        return 0;
    if (!g->mask.on)
        return g->lanes;
    return g->mask.first && LLVMIsAConstantInt(g->mask.first) ? (unsigned)LLVMConstIntGetSExtValue(g->mask.first) : 0;
}

/* How far the lanes are apart in a value, if that is a constant for each of them. Nothing is emitted. */
static bool known_apart(const cg *g, k_val v, unsigned depth, int64_t *number)
{
    const k_value *x = &g->k->value.at[v];
    const k_stmt *s = cg_definition(g, v);
    int64_t other[MOST_LANES];
    if (x->shape == K_UNIFORM) {
        memset(number, 0, g->lanes * sizeof(*number));
        return x->type == T_I64;
    }
    if (is_known(g, v, depth, number))
        return true;
    if (!s || s->op != K_LET || x->type != T_I64 || depth == MOST_DEPTH)
        return false;
    const unsigned second = g->k->value.at[s->in[1]].kind == KV_LITERAL;
    if (s->sub == OP_MUL ? g->k->value.at[s->in[second]].kind != KV_LITERAL : s->sub != OP_ADD && s->sub != OP_SUB)
        return false;
    if (s->sub == OP_MUL ? !is_known(g, s->in[second], depth + 1, other) : !known_apart(g, s->in[1], depth + 1, other))
        return false;
    if (!known_apart(g, s->in[s->sub == OP_MUL ? !second : 0], depth + 1, number))
        return false;
    for (unsigned i = 0; i < g->lanes; i++)
        if (!compute((ir_op)s->sub, number[i], other[i], &number[i]))
            return false;
    return true;
}

/* From how many pieces of memory a register of lanes gets its elements, at most. */
static unsigned most_pieces(const cg *g, const int64_t *number, int64_t low, unsigned in_register)
{
    unsigned most = 0;
    for (unsigned first = 0; first < g->lanes; first += in_register) {
        unsigned pieces = 0;
        for (unsigned l = first; l < first + in_register && l < g->lanes; l++) {
            unsigned k = first;
            while ((number[k] - low) / in_register != (number[l] - low) / in_register)
                k++;
            pieces += k == l;
        }
        most = pieces > most ? pieces : most;
    }
    return most;
}

bool cg_lanes_share(const cg *g, k_val index, unsigned bytes)
{
    enum { SHARERS = 4, MOST_PIECES = 4 };
    int64_t number[MOST_LANES];
    const unsigned lanes = known_lanes(g);
    if (!lanes || !known_apart(g, index, 0, number))
        return false;
    int64_t low = number[0];
    unsigned distinct = 0;
    for (unsigned l = 0; l < lanes; l++) {
        unsigned k = 0;
        while (number[k] != number[l])
            k++;
        distinct += k == l;
        low = number[l] < low ? number[l] : low;
    }
    return distinct * SHARERS <= lanes && most_pieces(g, number, low, g->cpu.register_bytes / bytes) <= MOST_PIECES;
}

/* --- comparisons --- */

cg_ref cg_offsets_hold(cg *g, const k_stmt *s)
{
    const unsigned lanes = known_lanes(g);
    const bool swapped = g->k->value.at[s->in[0]].shape == K_UNIFORM;
    cg_ref end[2], overflow, in[3] = {0};
    sum x;
    if (!lanes || g->k->value.at[s->in[0]].type != T_I64 || g->k->value.at[s->in[!swapped]].shape != K_UNIFORM ||
        !split(g, s->in[swapped], 0, &x) || !find_ends(g, &x, lanes, end, &overflow))
        return NULL;
    cg_ref holds = both(g, LLVMBuildNot(g->b, overflow, ""), x.stays);
    in[!swapped] = cg_scalar(g, s->in[!swapped]);
    for (unsigned i = 0; i < 2; i++) {
        in[swapped] = end[i];
        holds = LLVMBuildAnd(g->b, holds, cg_op(g, (ir_op)s->sub, T_I64, T_BOOL, in), "");
    }
    return holds;
}

/* --- loads --- */

/* Elements from..from + n - 1 of a stretch that begins where a lane's group does, in a vector. */
typedef struct piece {
    unsigned leader; /* first lane of the group */
    int64_t from;
    unsigned n;
    cg_ref vector;
} piece;

typedef struct stretches {
    cg *g;
    const sum *index;
    unsigned lanes, bytes, in_register;
    unsigned leader[MOST_LANES]; /* of each lane */
    int64_t offset[MOST_LANES];
    unsigned pieces;
    piece piece[MOST_LOADS];
} stretches;

static bool same_group(const sum *x, unsigned a, unsigned b)
{
    for (unsigned i = 0; i < x->terms; i++)
        if (x->term[i].factor && x->term[i].number[a] != x->term[i].number[b])
            return false;
    return true;
}

static void find_groups(stretches *s)
{
    for (unsigned l = 0; l < s->lanes; l++) {
        s->leader[l] = l;
        s->offset[l] = 0;
        for (unsigned i = 0; i < s->index->terms; i++)
            if (!s->index->term[i].factor)
                s->offset[l] = s->index->term[i].number[l];
        for (unsigned k = 0; k < l && s->leader[l] == l; k++)
            if (s->leader[k] == k && same_group(s->index, k, l))
                s->leader[l] = k;
    }
}

/* A stretch is read in vectors of a register's size, or a smaller power of two, the last of which ends where it does.
 */
static bool add_stretch(stretches *s, unsigned leader)
{
    int64_t low = s->offset[leader], high = low;
    for (unsigned l = leader; l < s->lanes; l++) {
        if (s->leader[l] != leader)
            continue;
        low = s->offset[l] < low ? s->offset[l] : low;
        high = s->offset[l] > high ? s->offset[l] : high;
    }
    unsigned n = s->in_register;
    if (high - low >= (int64_t)n * MOST_LOADS)
        return false;
    while (n > high - low + 1)
        n /= 2;
    for (int64_t at = low; at <= high; at += n) {
        if (s->pieces == MOST_LOADS)
            return false;
        s->piece[s->pieces++] = (piece){.leader = leader, .from = at + n - 1 > high ? high - n + 1 : at, .n = n};
    }
    return true;
}

/* Shuffles of two registers take as long as elements of some gathers. */
static bool find_pieces(stretches *s)
{
    enum { LANES_OF_A_PIECE = 3 };
    find_groups(s);
    for (unsigned l = 0; l < s->lanes; l++)
        if (s->leader[l] == l && !add_stretch(s, l))
            return false;
    return s->pieces * LANES_OF_A_PIECE <= s->lanes;
}

static cg_ref load_piece(const stretches *s, k_mem m, const piece *p)
{
    cg *g = s->g;
    cg_ref at = LLVMBuildAdd(g->b, s->index->shared, cg_i64(g, p->from), "");
    for (unsigned i = 0; i < s->index->terms; i++) {
        const term *t = &s->index->term[i];
        if (t->factor && t->number[p->leader])
            at = LLVMBuildAdd(g->b, at, LLVMBuildMul(g->b, t->factor, cg_i64(g, t->number[p->leader]), ""), "");
    }
    LLVMTypeRef type = LLVMVectorType(LLVMIntTypeInContext(g->context, 8 * s->bytes), p->n);
    return cg_aligned(LLVMBuildLoad2(g->b, type, cg_element(g, m, at), ""), s->bytes);
}

/* The lanes of a register from `first` on that are in the piece, and not in one before it; false: there are none. */
static bool lanes_of_piece(const stretches *s, const piece *p, unsigned first, bool *there, int *from)
{
    bool any = false;
    for (unsigned i = 0; i < s->in_register; i++) {
        const unsigned l = first + i;
        from[i] = -1;
        if (l >= s->lanes || there[i] || s->leader[l] != p->leader || s->offset[l] < p->from ||
            s->offset[l] >= p->from + p->n)
            continue;
        from[i] = (int)(s->offset[l] - p->from);
        there[i] = any = true;
    }
    return any;
}

/* A piece as a register. */
static cg_ref widened(const stretches *s, const piece *p)
{
    return cg_lanes_from(s->g, p->vector, 0, s->in_register);
}

/* x, and in the lanes that are in the piece its elements. */
static cg_ref with_piece(const stretches *s, cg_ref x, const piece *p, const bool *before, const int *from)
{
    const unsigned n = s->in_register;
    int index[REGISTER];
    for (unsigned i = 0; i < n; i++)
        index[i] = from[i] >= 0 ? (int)n + from[i] : before[i] ? (int)i : -1;
    return p->n == n ? cg_permute(s->g, x, p->vector, n, index) : cg_shuffle(s->g, x, widened(s, p), n, index);
}

static cg_ref only_piece(const stretches *s, const piece *p, const int *from)
{
    const unsigned n = s->in_register;
    bool in_order = true;
    for (unsigned i = 0; i < n; i++)
        in_order &= from[i] < 0 || from[i] == (int)i;
    if (in_order)
        return widened(s, p);
    return p->n == n ? cg_permute(s->g, p->vector, NULL, n, from) : cg_shuffle(s->g, p->vector, NULL, n, from);
}

static cg_ref register_of(const stretches *s, unsigned first)
{
    bool there[REGISTER] = {0}, before[REGISTER];
    int from[REGISTER];
    cg_ref x = NULL;
    for (unsigned i = 0; i < s->pieces; i++) {
        const piece *p = &s->piece[i];
        memcpy(before, there, sizeof(there));
        if (lanes_of_piece(s, p, first, there, from))
            x = x ? with_piece(s, x, p, before, from) : only_piece(s, p, from);
    }
    LLVMTypeRef element = LLVMIntTypeInContext(s->g->context, 8 * s->bytes);
    return x ? x : cg_zero(LLVMVectorType(element, s->in_register));
}

static cg_ref load_stretches(cg *g, stretches *of, const k_stmt *s)
{
    for (unsigned i = 0; i < of->pieces; i++)
        of->piece[i].vector = load_piece(of, s->mem, &of->piece[i]);
    cg_ref part[MOST_LANES];
    const unsigned parts = g->lanes / of->in_register;
    for (unsigned i = 0; i < parts; i++)
        part[i] = register_of(of, i * of->in_register);
    LLVMTypeRef vector = LLVMVectorType(cg_stored(g, (ir_type)g->k->mem.at[s->mem].type), g->lanes);
    return LLVMBuildBitCast(g->b, cg_joined(g, parts, part), vector, "");
}

cg_ref cg_load_offsets(cg *g, const k_stmt *s, cg_load_at *gathered)
{
    const k_memory *m = &g->k->mem.at[s->mem];
    const unsigned known = known_lanes(g), bytes = (unsigned)ir_type_size((ir_type)m->type);
    const bool usually = !known && g->mask.full && is_numbered(g); /* all lanes are on */
    const unsigned lanes = usually ? g->lanes : known;
    stretches of = {.g = g, .lanes = lanes, .bytes = bytes};
    sum index;
    if (!lanes || m->every || m->space == K_PRIVATE || !split(g, s->in[0], 0, &index))
        return NULL;
    if (usually)
        index.stays = both(g, index.stays, g->mask.full);
    of.index = &index;
    of.in_register = g->cpu.register_bytes / bytes < g->lanes ? g->cpu.register_bytes / bytes : g->lanes;
    if (!find_pieces(&of))
        return NULL;
    if (!index.stays)
        return load_stretches(g, &of, s);
    LLVMBasicBlockRef usual = cg_block(g, "load.offsets"), rare = cg_block(g, "load.clamped"),
                      end = cg_block(g, "load.offsets.end");
    cg_cond(g, index.stays, usual, rare);
    cg_at(g, usual);
    cg_ref x = load_stretches(g, &of, s);
    usual = cg_here(g);
    cg_br(g, end);
    cg_at(g, rare);
    cg_ref y = gathered(g, s);
    rare = cg_here(g);
    cg_br(g, end);
    cg_at(g, end);
    return cg_phi2(g, x, usual, y, rare);
}
