/* Counts what a launch does: an interpreter of intervals that follows index arithmetic alone, and weighs each statement
 * by how often it runs. Loops are entered at their first, last and one middle round, so that what is done at borders
 * is told apart from what is done between them. */
#include "kernel/work.h"

#include "kernel/analyse.h"
#include "kernel/narrow.h"
#include "kernel/walk.h"

enum { ENDS = 2, SAMPLES = 2 * ENDS + 1, MOST_WALKS = 1024, MOST_PIECES = 256, MOST_STEPS = 2000000 };

typedef struct range { /* of an integer or a bool */
    int64_t low, high;
    bool known;
    double share; /* of a bool that is either: of the threads, those for which it holds; 0: who knows */
} range;

typedef struct frame { /* an open statement */
    k_ref stmt;
    bool orelse;      /* IF: which list */
    double otherwise; /* IF: share of the threads that run it */
    double on, slots; /* to be restored, */
    bool first;       /* so is this, */
    uint32_t walks;   /* and this */
    unsigned sample, samples;
    int64_t round[SAMPLES]; /* FOR */
    double weight[SAMPLES];
} frame;

typedef struct counter {
    const kernel *k;
    arena *arena;
    const ir_bits *arg;
    const bool *index; /* per value: index arithmetic */
    k_shapes shapes;
    range *value;
    double *part; /* per value: of the lanes, those whose value somebody uses */
    int64_t piece;
    uint32_t width;
    double on, slots;   /* how often the current statement runs: threads, and threads of whole gangs */
    bool thread, alone; /* in a FOR_ALL; in one of a single thread, or in none */
    bool first;         /* on behalf of all lanes the first one does it */
    uint32_t walks;     /* of the current statement in a piece, given the loops that are open */
    int64_t steps;      /* statements walked */
    VEC(frame) open;
    k_work *out;
} counter;

/* --- intervals --- */

static range span(int64_t low, int64_t high)
{
    return (range){.low = low, .high = high, .known = true};
}

static range point(int64_t x)
{
    return span(x, x);
}

static range hull(range x, range y)
{
    range r = span(x.low < y.low ? x.low : y.low, x.high > y.high ? x.high : y.high);
    r.known = x.known && y.known;
    return r;
}

static bool is_point(range x)
{
    return x.known && x.low == x.high;
}

static range sum(range x, range y)
{
    range r = span(0, 0);
    bool over = __builtin_add_overflow(x.low, y.low, &r.low) | __builtin_add_overflow(x.high, y.high, &r.high);
    r.known = !over;
    return r;
}

static range difference(range x, range y)
{
    range r = span(0, 0);
    bool over = __builtin_sub_overflow(x.low, y.high, &r.low) | __builtin_sub_overflow(x.high, y.low, &r.high);
    r.known = !over;
    return r;
}

static range product(range x, range y)
{
    range r = span(INT64_MAX, INT64_MIN);
    for (int i = 0; i < 4; i++) {
        int64_t p;
        if (__builtin_mul_overflow(i & 1 ? x.high : x.low, i & 2 ? y.high : y.low, &p))
            return (range){0};
        r = hull(r, point(p));
    }
    return r;
}

/* Of numbers that are not negative, which indices are. */
static range quotient(range x, range y)
{
    return x.low < 0 || y.low < 1 ? (range){0} : span(x.low / y.high, x.high / y.low);
}

static range remainder_of(range x, range y)
{
    if (x.low < 0 || y.low < 1)
        return (range){0};
    if (is_point(y) && x.low / y.low == x.high / y.low)
        return span(x.low % y.low, x.high % y.low);
    return span(0, x.high < y.high - 1 ? x.high : y.high - 1);
}

/* x < y. The numbers of x, or else of y, are those of the threads, one each. */
static range less(range x, range y)
{
    if (x.high < y.low || x.low >= y.high)
        return point(x.high < y.low);
    range r = span(0, 1);
    if (is_point(y))
        r.share = ((double)y.low - (double)x.low) / ((double)x.high - (double)x.low + 1);
    else if (is_point(x))
        r.share = ((double)y.high - (double)x.low) / ((double)y.high - (double)y.low + 1);
    return r;
}

static range negated(range x)
{
    range r = span(!x.high, !x.low);
    r.share = x.share > 0 ? 1 - x.share : 0;
    return r;
}

static range equal(range x, range y)
{
    bool certain = (is_point(x) && is_point(y)) || x.high < y.low || x.low > y.high;
    return certain ? point(x.low == y.low) : span(0, 1);
}

/* Of conditions on the same threads, as both ends of a row are: where one holds for most threads the other one decides.
 */
static range both(range x, range y)
{
    range r = span(x.low && y.low, x.high && y.high);
    bool open = !is_point(r), known = (is_point(x) || x.share > 0) && (is_point(y) || y.share > 0);
    double of_x = is_point(x) ? 1 : x.share, of_y = is_point(y) ? 1 : y.share;
    r.share = open && known ? of_x + of_y - 1 > 0 ? of_x + of_y - 1 : of_x * of_y : 0;
    return r;
}

static range common_bits(range x, range y)
{
    if (is_point(x) && is_point(y))
        return point(x.low & y.low);
    return x.low < 0 || y.low < 0 ? (range){0} : span(0, x.high < y.high ? x.high : y.high);
}

static range shifted(ir_op op, range x, range y)
{
    enum { MOST = 62 };
    if (!is_point(y) || y.low < 0 || y.low > MOST || x.low < 0)
        return (range){0};
    const int64_t power = (int64_t)1 << y.low;
    return op == OP_SHL ? product(x, point(power)) : quotient(x, point(power));
}

static range of_let(ir_op op, range x, range y)
{
    switch (op) {
    case OP_BIT_AND:
        return common_bits(x, y);
    case OP_SHL:
    case OP_SHR:
        return shifted(op, x, y);
    case OP_ADD:
        return sum(x, y);
    case OP_SUB:
        return difference(x, y);
    case OP_MUL:
        return product(x, y);
    case OP_MIN:
        return span(x.low < y.low ? x.low : y.low, x.high < y.high ? x.high : y.high);
    case OP_MAX:
        return span(x.low > y.low ? x.low : y.low, x.high > y.high ? x.high : y.high);
    case OP_QUOT:
    case OP_DIV:
        return quotient(x, y);
    case OP_REM:
    case OP_MOD:
        return remainder_of(x, y);
    case OP_NEG:
        return difference(point(0), x);
    case OP_LT:
        return less(x, y);
    case OP_GE:
        return negated(less(x, y));
    case OP_GT:
        return less(y, x);
    case OP_LE:
        return negated(less(y, x));
    case OP_EQ:
        return equal(x, y);
    case OP_NE:
        return negated(equal(x, y));
    case OP_AND:
        return both(x, y);
    case OP_OR:
        return negated(both(negated(x), negated(y)));
    case OP_NOT:
        return negated(x);
    case OP_BITCAST:
        return x;
    default:
        return (range){0};
    }
}

static bool followed(uint8_t type)
{
    return type == T_I64 || type == T_BOOL;
}

static range get(const counter *c, k_val v)
{
    const k_value *x = &c->k->value.at[v];
    if (!followed(x->type))
        return (range){0};
    switch ((k_value_kind)x->kind) {
    case KV_LITERAL:
        return point(ir_i64_bits((ir_type)x->type, x->bits));
    case KV_ARG:
        return point(ir_i64_bits((ir_type)x->type, c->arg[x->bits]));
    case KV_PIECE:
        return point(c->piece);
    default:
        return c->value[v];
    }
}

/* x - (x quot y) * y, which intervals of its parts say little about. */
static bool remainder_in_parts(const counter *c, const k_stmt *s, range *out)
{
    const k_value *product_of = &c->k->value.at[s->in[1]];
    const k_stmt *m = &c->k->stmt.at[product_of->def];
    if (s->sub != OP_SUB || product_of->kind != KV_RESULT || m->op != K_LET || m->sub != OP_MUL)
        return false;
    for (unsigned i = 0; i < 2; i++) {
        const k_value *x = &c->k->value.at[m->in[i]];
        const k_stmt *q = &c->k->stmt.at[x->def];
        if (x->kind != KV_RESULT || q->op != K_LET || q->sub != OP_QUOT || q->in[0] != s->in[0] ||
            q->in[1] != m->in[1 - i])
            continue;
        *out = remainder_of(get(c, q->in[0]), get(c, q->in[1]));
        return true;
    }
    return false;
}

static range let(const counter *c, const k_stmt *s)
{
    range x = get(c, s->in[0]), y = ir_ops[s->sub].arity > 1 ? get(c, s->in[1]) : point(0), r;
    if (!followed(c->k->value.at[s->dst].type) || !x.known || !y.known)
        return (range){0};
    return remainder_in_parts(c, s, &r) ? r : of_let((ir_op)s->sub, x, y);
}

static range select(const counter *c, const k_stmt *s)
{
    range which = get(c, s->in[0]), x = get(c, s->in[1]), y = get(c, s->in[2]);
    if (is_point(which))
        return which.low ? x : y;
    return hull(x, y);
}

/* --- what counts --- */

/* Lanes that exchange values over a distance combine so many of them into one: half of a gang, then a quarter, ... */
static void find_part(counter *c, const k_stmt *s)
{
    double part = 1;
    if (s->op == K_SHUFFLE)
        part = (double)ir_i64_bits(T_I64, c->k->value.at[s->in[1]].bits) / (double)c->k->lanes;
    for (unsigned i = 0; i < k_operands(s) && (s->op == K_LET || s->op == K_SELECT); i++)
        part = c->part[s->in[i]] < part ? c->part[s->in[i]] : part;
    if (s->dst && c->k->value.at[s->dst].kind != KV_VARIABLE)
        c->part[s->dst] = part > 0 && part < 1 ? part : 1;
}

static void count_lanes(counter *c, double each)
{
    if (!c->thread)
        return;
    if (c->first) {
        c->out->joining += each * c->slots;
        return;
    }
    c->out->used += each * c->on;
    c->out->slots += each * c->slots;
}

static void count_operation(counter *c, const k_stmt *s)
{
    const ir_op op = (ir_op)s->sub;
    const k_value *v = c->k->value.at;
    bool indices = true;
    if (op == OP_BITCAST || op == OP_CONVERT || (s->dst && c->index[s->dst]))
        return;
    for (unsigned i = 0; i < k_operands(s); i++)
        indices = indices && (c->index[s->in[i]] || v[s->in[i]].type == T_BOOL);
    if (indices) /* conditions on places, not on elements */
        return;
    const double each = op == OP_FMA ? 2 : 1, used = each * c->on * c->part[s->dst];
    c->out->operations += used;
    c->out->wide += ir_type_size((ir_type)v[s->in[0]].type) == 8 ? used : 0;
    c->out->alone += c->alone ? used : 0;
    if (c->part[s->dst] < 1)
        c->out->joining += each * c->slots;
    else
        count_lanes(c, each);
}

static void count_access(counter *c, const k_stmt *s, bool loads, bool stores)
{
    const k_memory *m = &c->k->mem.at[s->mem];
    k_traffic *t = &c->out->memory[s->mem];
    range at = get(c, s->in[0]);
    if (m->space != K_GLOBAL || c->on <= 0)
        return;
    t->loads += loads ? c->on : 0;
    t->stores += stores ? c->on : 0;
    t->gathered += loads && c->thread && c->shapes.shape[s->in[0]] == K_VARYING ? c->on : 0;
    count_lanes(c, 1);
    t->anywhere |= !at.known;
    if (!at.known)
        return;
    t->low = at.low < t->low ? at.low : t->low;
    t->high = at.high > t->high ? at.high : t->high;
}

static void define(counter *c, k_val v, range r)
{
    if (v)
        c->value[v] = r;
}

/* A statement without lists. */
static void run(counter *c, const k_stmt *s)
{
    find_part(c, s);
    switch ((k_op)s->op) {
    case K_LET:
        count_operation(c, s);
        define(c, s->dst, let(c, s));
        return;
    case K_SELECT:
        define(c, s->dst, select(c, s));
        return;
    case K_LOAD:
        count_access(c, s, true, false);
        break;
    case K_STORE:
        count_access(c, s, false, true);
        return;
    case K_ATOMIC:
        count_access(c, s, true, true);
        break;
    case K_COMPACT:
        count_access(c, s, false, true);
        c->out->memory[s->mem].anywhere = true;
        return;
    default:
        break;
    }
    define(c, s->dst, (range){0});
}

/* --- statements with lists --- */

/* The rounds from `from` on that are counted, `most` of them and SAMPLES at least, and how many each stands for. */
static unsigned choose_rounds(int64_t from, int64_t rounds, unsigned most, int64_t *round, double *weight)
{
    if (rounds <= (int64_t)most) {
        for (int64_t i = 0; i < rounds; i++) {
            round[i] = from + i;
            weight[i] = 1;
        }
        return (unsigned)(rounds > 0 ? rounds : 0);
    }
    const int64_t between = rounds - 2 * ENDS, taken = (int64_t)most - 2 * ENDS;
    for (int64_t i = 0; i < (int64_t)most; i++) {
        bool end = i < ENDS || i >= ENDS + taken;
        int64_t inner = ENDS + (int64_t)(((double)(i - ENDS) + 0.5) * (double)between / (double)taken);
        round[i] = from + (i < ENDS ? i : end ? rounds - (most - i) : inner);
        weight[i] = end ? 1 : (double)between / (double)taken;
    }
    return most;
}

static void open_for(counter *c, frame *f, const k_stmt *s)
{
    range from = get(c, s->in[0]), to = get(c, s->in[1]), rounds = {0};
    if (from.known && to.known)
        rounds = difference(to, from);
    if (!rounds.known) {
        c->out->open_ended = true;
        f->samples = 1;
        f->weight[0] = 1;
        define(c, s->dst, (range){0});
        return;
    }
    const uint32_t walks = c->walks * (uint32_t)(rounds.high < SAMPLES ? rounds.high : SAMPLES);
    if (!is_point(rounds) ||
        (rounds.high > 0 && walks > MOST_WALKS)) { /* all rounds at once, as many as there are on average */
        double mean = ((double)(rounds.low > 0 ? rounds.low : 0) + (double)(rounds.high > 0 ? rounds.high : 0)) / 2;
        f->samples = rounds.high > 0;
        f->weight[0] = mean;
        f->round[0] = from.low;
        define(c, s->dst, span(from.low, to.high - 1));
        return;
    }
    f->samples = choose_rounds(from.low, rounds.low, SAMPLES, f->round, f->weight);
    c->walks *= f->samples ? f->samples : 1;
    if (f->samples)
        define(c, s->dst, point(f->round[0]));
}

static void open_for_all(counter *c, frame *f, const k_stmt *s)
{
    range n = get(c, s->in[0]);
    double threads = n.known ? ((double)n.low + (double)n.high) / 2 : (double)c->k->lanes;
    if (s->sub == K_WHOLE && is_point(n))
        threads = (double)k_whole_threads(c->k, s, n.low);
    threads = threads > 0 ? threads : 0;
    int64_t gangs = ((int64_t)threads + c->width - 1) / c->width;
    f->samples = threads > 0;
    f->weight[0] = 1;
    c->slots = c->on * (double)gangs * (double)c->width;
    c->on *= threads;
    c->thread = true;
    c->alone = threads <= 1 || c->k->lanes == 1;
    define(c, s->dst, n.known ? span(0, n.high - 1) : (range){0});
}

/* Is it `lane < 1`? */
static bool is_first(const counter *c, k_val condition)
{
    const k_value *x = &c->k->value.at[condition];
    const k_stmt *s = &c->k->stmt.at[x->def];
    if (x->kind != KV_RESULT || s->op != K_LET || s->sub != OP_LT)
        return false;
    const k_value *one = &c->k->value.at[s->in[1]];
    return one->kind == KV_LITERAL && one->bits == 1 && c->shapes.shape[s->in[0]] == K_AFFINE;
}

static k_ref open_if(counter *c, const k_stmt *s)
{
    frame *f = &c->open.at[c->open.n - 1];
    range which = get(c, s->in[0]);
    if (is_point(which) && !which.low) {
        f->orelse = true;
        return s->orelse;
    }
    c->first |= c->thread && is_first(c, s->in[0]);
    f->otherwise = which.known && which.share > 0 ? 1 - which.share : 1;
    c->on *= which.known && which.share > 0 ? which.share : 1;
    return s->body;
}

/* The list to run first; 0: none. */
static k_ref open(counter *c, k_ref id)
{
    const k_stmt *s = &c->k->stmt.at[id];
    frame f = {
        .stmt = id, .on = c->on, .slots = c->slots, .first = c->first, .walks = c->walks, .samples = 1, .weight = {1}};
    if (s->op == K_FOR)
        open_for(c, &f, s);
    else if (s->op == K_FOR_ALL)
        open_for_all(c, &f, s);
    else if (s->op == K_LOOP)
        c->out->open_ended = true;
    if (s->op == K_FOR && f.samples) {
        c->on *= f.weight[0];
        c->slots *= f.weight[0];
    }
    vec_push(c->arena, &c->open, f);
    if (s->op != K_IF)
        return f.samples ? s->body : 0;
    return open_if(c, s);
}

/* At the end of a list of the innermost open statement: the list to run next, or 0, and it is closed. */
static k_ref again(counter *c)
{
    frame *f = &c->open.at[c->open.n - 1];
    const k_stmt *s = &c->k->stmt.at[f->stmt];
    if (s->op == K_IF && !f->orelse && !is_point(get(c, s->in[0]))) {
        f->orelse = true;
        c->first = f->first;
        c->on = f->on * f->otherwise;
        if (s->orelse)
            return s->orelse;
    }
    if (s->op == K_FOR && ++f->sample < f->samples) {
        c->on = f->on * f->weight[f->sample];
        c->slots = f->slots * f->weight[f->sample];
        define(c, s->dst, point(f->round[f->sample]));
        if (s->body)
            return s->body;
    }
    return 0;
}

static void close(counter *c)
{
    const frame *f = &c->open.at[--c->open.n];
    const k_stmt *s = &c->k->stmt.at[f->stmt];
    c->on = f->on;
    c->slots = f->slots;
    c->first = f->first;
    c->walks = f->walks;
    if (s->op != K_FOR_ALL)
        return;
    c->thread = false;
    c->alone = true;
}

static void count_piece(counter *c, int64_t piece, double weight)
{
    k_ref at = c->k->body;
    c->piece = piece;
    c->on = c->slots = weight;
    c->thread = c->first = false;
    c->alone = true;
    c->walks = 1;
    for (;;) {
        while (!at && c->open.n) {
            at = again(c);
            if (at)
                break;
            at = c->k->stmt.at[c->open.at[c->open.n - 1].stmt].next;
            close(c);
        }
        if (!at)
            return;
        const k_stmt *s = &c->k->stmt.at[at];
        c->steps++;
        if (k_compound(s)) {
            at = open(c, at);
            continue;
        }
        run(c, s);
        at = s->next;
    }
}

static void clear(counter *c)
{
    *c->out = (k_work){.memory = c->out->memory};
    for (uint32_t i = 0; i < c->k->mem.n; i++)
        c->out->memory[i] = (k_traffic){.low = INT64_MAX, .high = INT64_MIN};
}

void k_find_work(const kernel *original, arena *a, const ir_bits *arg, int64_t pieces, uint32_t width, k_work *out)
{
    kernel *k = k_clone(original, a);
    k_expand_math(k);
    counter c = {.k = k, .arena = a, .arg = arg, .width = width ? width : 1, .out = out};
    c.index = k_find_indices(k, a);
    c.shapes = k_find_shapes(k, a);
    c.value = arena_array(a, range, k->value.n);
    c.part = arena_array(a, double, k->value.n);
    for (k_val v = 0; v < k->value.n; v++)
        c.part[v] = 1;
    out->memory = arena_array(a, k_traffic, k->mem.n + 1);
    clear(&c);
    if (pieces < 1)
        return;
    count_piece(&c, 0, 1); /* what does one take? */
    clear(&c);
    int64_t affordable = MOST_STEPS / (c.steps + 1), round[MOST_PIECES];
    double weight[MOST_PIECES];
    unsigned most = affordable > MOST_PIECES ? MOST_PIECES : affordable < SAMPLES ? SAMPLES : (unsigned)affordable;
    unsigned n = choose_rounds(0, pieces, most, round, weight);
    for (unsigned i = 0; i < n; i++)
        count_piece(&c, round[i], weight[i]);
}

static double elements_of(const k_traffic *t, double times, int64_t elements)
{
    double least = (double)elements;
    int64_t low = t->low > 0 ? t->low : 0, high = t->high < elements ? t->high : elements - 1;
    if (!t->anywhere && low <= high && (double)(high - low) + 1 < least)
        least = (double)(high - low) + 1;
    return times < least ? times : least;
}

double k_elements_loaded(const k_traffic *t, int64_t elements)
{
    return elements_of(t, t->loads, elements);
}

double k_elements_stored(const k_traffic *t, int64_t elements)
{
    return elements_of(t, t->stores, elements);
}
