/* Random kernels. What the operator table leaves open (sign and payload of a NaN, results of failing operators) never
 * reaches a result; every index is in range. */
#include "support/random_kernel.h"

#include <inttypes.h>
#include <math.h>

const ir_type random_types[RANDOM_TYPES] = {T_F32, T_F64, T_I32, T_I64};

enum { POOL = 48, DEEPEST = 3 };

typedef struct {
    k_builder b;
    kernel *k;
    uint64_t seed;
    k_val pool[T_COUNT][POOL]; /* visible values */
    unsigned n[T_COUNT];
    k_mem in[RANDOM_TYPES], out[RANDOM_TYPES];
    k_val element; /* number of the thread over all pieces */
    uint32_t site;
    int budget;
} generator;

static uint64_t next(generator *g, uint64_t below)
{
    g->seed = hash_mix(g->seed, 0x2545f4914f6cdd1du);
    return (g->seed >> 11) % below;
}

static void add(generator *g, k_val v)
{
    ir_type t = (ir_type)g->k->value.at[v].type;
    if (g->n[t] < POOL)
        g->pool[t][g->n[t]++] = v;
    else
        g->pool[t][next(g, POOL)] = v;
}

static k_val random_literal(generator *g, ir_type t)
{
    if (t == T_F32)
        return k_literal(&g->b, t, ir_bits_f32((float)next(g, 9) / 4 - 1));
    if (t == T_F64)
        return k_literal(&g->b, t, ir_bits_f64((double)next(g, 1000) / 7 - 50));
    return k_literal(&g->b, t, ir_bits_i64(t, (int64_t)next(g, 200) - 100) & (t == T_BOOL ? 1 : UINT64_MAX));
}

static k_val pick(generator *g, ir_type t)
{
    if (!g->n[t] || next(g, 6) == 0)
        return random_literal(g, t);
    return g->pool[t][next(g, g->n[t])];
}

static ir_type random_type(generator *g)
{
    static const ir_type types[] = {T_F32, T_F32, T_F64, T_I32,  T_I32, T_I64, T_U8,
                                    T_U32, T_I16, T_U64, T_BOOL, T_I8,  T_U16};
    return types[next(g, ARRAY_LENGTH(types))];
}

/* May this operator show what is open, or is it made of others? */
static bool avoided(ir_op op)
{
    return op == OP_NONE || op == OP_SIGN_BIT || op == OP_COPY_SIGN || op == OP_BITCAST || ir_ops[op].flags & OP_MATH ||
           ir_ops[op].signature == SIGNATURE_OWN;
}

static k_val random_let(generator *g)
{
    k_builder *b = &g->b;
    ir_type t = random_type(g), to = random_type(g);
    ir_op op = (ir_op)next(g, OP_COUNT);
    if (avoided(op) || !(ir_ops[op].classes & ir_type_class(t)))
        return k_let(b, ir_type_class(t) & CLASS_BOOL ? OP_NOT : OP_ABS, pick(g, t), 0, 0);
    if (op == OP_CONVERT)
        return k_convert(b, op, to, pick(g, t));
    k_val x = pick(g, t), y = pick(g, t), z = pick(g, t);
    if (ir_op_partial(op, t)) /* an odd divisor from 1 to 7 */
        y = k_let(b, OP_BIT_OR, k_let(b, OP_BIT_AND, y, k_literal(b, t, 6), 0), k_literal(b, t, 1), 0);
    return k_let(b, op, x, y, z);
}

/* An index from 0 to 63. */
static k_val random_index(generator *g)
{
    return k_let(&g->b, OP_BIT_AND, pick(g, T_I64), k_i64(&g->b, RANDOM_INPUT - 1), 0);
}

/* `visible`: a value that only this list sees, or 0. */
static void random_list(generator *g, unsigned depth, k_val visible);

static void random_if(generator *g, unsigned depth)
{
    k_if(&g->b, pick(g, T_BOOL));
    random_list(g, depth, 0);
    if (next(g, 2)) {
        k_else(&g->b);
        random_list(g, depth, 0);
    }
    k_end(&g->b);
}

/* At most eight rounds, left by each lane at its own time. */
static void random_loop(generator *g, unsigned depth)
{
    k_builder *b = &g->b;
    k_val most = k_let(b, OP_BIT_AND, pick(g, T_I64), k_i64(b, 7), 0);
    k_val round = k_decl(b, k_i64(b, 0), "round");
    k_loop(b);
    k_break_if(b, k_let(b, OP_GE, round, most, 0));
    random_list(g, depth, 0);
    k_set(b, round, k_let(b, OP_ADD, round, k_i64(b, 1), 0));
    k_end(b);
}

static void random_for(generator *g, unsigned depth)
{
    k_val i = k_for(&g->b, k_i64(&g->b, (int64_t)next(g, 3)), k_i64(&g->b, (int64_t)next(g, 6)), next(g, 2));
    random_list(g, depth, i);
    k_end(&g->b);
}

static void random_check(generator *g)
{
    k_builder *b = &g->b;
    k_val rare = k_let(b, OP_NE, k_let(b, OP_BIT_AND, pick(g, T_I64), k_i64(b, 63), 0), k_i64(b, 17), 0);
    k_check(b, ++g->site, rare, g->element, pick(g, T_I64), k_i64(b, 5));
}

/* A variable of this list or an outer one gets a new value. */
static void random_set(generator *g)
{
    for (unsigned tries = 0; tries < 8; tries++) {
        ir_type t = random_type(g);
        k_val v = g->n[t] ? g->pool[t][next(g, g->n[t])] : 0;
        const char *name = v ? g->k->value.at[v].name : NULL;
        if (v && g->k->value.at[v].kind == KV_VARIABLE && strcmp(name, "round") != 0) {
            k_set(&g->b, v, pick(g, t));
            return;
        }
    }
}

static void random_statement(generator *g, unsigned depth)
{
    k_builder *b = &g->b;
    uint64_t kind = next(g, 20);
    unsigned t = (unsigned)next(g, RANDOM_TYPES);
    ir_type any = random_type(g);
    g->budget--;
    if (kind < 3 && depth < DEEPEST && g->budget > 0)
        (kind == 0 ? random_if : kind == 1 ? random_loop : random_for)(g, depth + 1);
    else if (kind < 5)
        add(g, k_load(b, g->in[t], random_index(g)));
    else if (kind < 7)
        add(g, k_decl(b, pick(g, any), "var"));
    else if (kind < 10)
        random_set(g);
    else if (kind < 12)
        add(g, k_select(b, pick(g, T_BOOL), pick(g, any), pick(g, any)));
    else if (kind < 13)
        random_check(g);
    else if (kind < 15)
        add(g, k_let(b, (ir_op)(OP_EQ + next(g, 6)), pick(g, T_F32), pick(g, T_F32), 0));
    else
        add(g, random_let(g));
}

static void random_list(generator *g, unsigned depth, k_val visible)
{
    k_val pool[T_COUNT][POOL];
    unsigned n[T_COUNT];
    memcpy(pool, g->pool, sizeof(pool));
    memcpy(n, g->n, sizeof(n));
    if (visible)
        add(g, visible);
    for (uint64_t left = 2 + next(g, depth ? 6 : 20); left; left--)
        random_statement(g, depth);
    if (!depth)
        return; /* the caller goes on in the same list */
    memcpy(g->pool, pool, sizeof(pool));
    memcpy(g->n, n, sizeof(n));
}

static k_val open_threads(generator *g)
{
    k_builder *b = &g->b;
    k_val i = k_for_all(b, k_i64(b, RANDOM_THREADS));
    g->element = k_let(b, OP_ADD, k_let(b, OP_MUL, k_piece(b), k_i64(b, RANDOM_THREADS), 0), i, 0);
    add(g, i);
    add(g, g->element);
    for (unsigned t = 0; t < RANDOM_TYPES; t++)
        add(g, k_load(b, g->in[t], k_let(b, OP_BIT_AND, g->element, k_i64(b, RANDOM_INPUT - 1), 0)));
    return i;
}

/* A thread that fails stores nothing more, so what it would have stored gets a value before. */
static void clear(generator *g, k_mem tile, k_mem own)
{
    k_builder *b = &g->b;
    k_val i = k_for_all(b, k_i64(b, RANDOM_THREADS));
    k_store(b, tile, i, k_literal(b, T_F32, ir_bits_f32(3.0f)));
    k_store(b, own, k_i64(b, 0), i);
    k_store(b, own, k_i64(b, 1), k_i64(b, 7));
    k_end(b);
}

/* Counts and compacts in one gang; the number goes out through a variable of the piece. */
static void gang_part(generator *g, k_mem per_piece)
{
    k_builder *b = &g->b;
    k_val kept = k_decl(b, k_i64(b, 0), "kept");
    k_mem tile = k_shared(b, T_I64, 256, "compacted");
    k_val lane = k_for_all(b, k_i64(b, g->k->lanes));
    k_val x = k_load(b, g->in[3], k_let(b, OP_BIT_AND, lane, k_i64(b, RANDOM_INPUT - 1), 0));
    k_val keep = k_let(b, OP_EQ, k_let(b, OP_BIT_AND, x, k_i64(b, 1), 0), k_i64(b, 1), 0);
    k_compact(b, tile, kept, x, keep);
    k_set(b, kept, k_let(b, OP_ADD, kept, k_count(b, keep), 0));
    k_end(b);
    k_val sum = k_decl(b, kept, "sum");
    k_val i = k_for(b, k_i64(b, 0), kept, false);
    k_set(b, sum, k_let(b, OP_ADD, k_let(b, OP_MUL, sum, k_i64(b, 3), 0), k_load(b, tile, i), 0));
    k_end(b);
    k_store(b, per_piece, k_piece(b), sum);
}

kernel *random_kernel(arena *a, uint64_t seed, uint16_t lanes, bool gang)
{
    generator *g = arena_new(a, *g);
    k_builder *b = &g->b;
    *g = (generator){.seed = hash_mix(seed, 99), .k = k_new(a, "random", lanes), .budget = 60};
    k_begin(b, g->k);
    for (unsigned t = 0; t < RANDOM_TYPES; t++)
        g->in[t] = k_global(b, random_types[t], false, "in");
    for (unsigned t = 0; t < RANDOM_TYPES; t++)
        g->out[t] = k_global(b, random_types[t], true, "out");
    k_mem per_piece = k_global(b, T_I64, true, "per_piece");
    k_mem tile = k_shared(b, T_F32, RANDOM_THREADS, "tile"), own = k_private(b, T_I64, 2, "own");
    add(g, k_arg(b, T_I64, "n"));
    add(g, k_arg(b, T_F32, "x"));
    add(g, k_load(b, g->in[3], k_i64(b, 5)));
    generator outer = *g;
    clear(g, tile, own);

    k_val i = open_threads(g);
    random_list(g, 0, 0);
    k_store(b, tile, i, pick(g, T_F32));
    k_store(b, own, k_i64(b, 0), pick(g, T_I64));
    k_store(b, own, k_i64(b, 1), pick(g, T_I64));
    k_end(b);
    memcpy(g->pool, outer.pool, sizeof(outer.pool));
    memcpy(g->n, outer.n, sizeof(outer.n));
    g->budget = 60;

    k_val first = k_load(b, tile, k_i64(b, 0));
    i = open_threads(g);
    add(g, first);
    add(g, k_load(b, tile, k_let(b, OP_SUB, k_i64(b, RANDOM_THREADS - 1), i, 0)));
    add(g, k_load(b, own, k_let(b, OP_BIT_AND, i, k_i64(b, 1), 0)));
    random_list(g, 0, 0);
    for (unsigned t = 0; t < RANDOM_TYPES; t++)
        k_store(b, g->out[t], g->element, pick(g, random_types[t]));
    k_end(b);
    if (gang)
        gang_part(g, per_piece);
    else
        k_store(b, per_piece, k_piece(b), k_convert(b, OP_CONVERT, T_I64, first));
    return g->k;
}

static double special(uint64_t h)
{
    static const double values[] = {0.0,  -0.0,  1.0,      -1.0,      0.5, 2.5, -2.5, 1e-40,
                                    3e38, 1e300, INFINITY, -INFINITY, NAN, 4e9, -3e19};
    return values[h % ARRAY_LENGTH(values)];
}

void random_fill(random_run *d, uint64_t seed)
{
    *d = (random_run){0};
    for (unsigned t = 0; t < RANDOM_TYPES; t++) {
        size_t size = ir_type_size(random_types[t]);
        for (unsigned i = 0; i < RANDOM_INPUT; i++) {
            seed = hash_mix(seed, i + 1);
            double v = seed % 5 ? (double)(int64_t)(seed >> 20) / 1e9 - 5e3 : special(seed >> 8);
            ir_bits bits = t == 0   ? ir_bits_f32((float)v)
                           : t == 1 ? ir_bits_f64(v)
                                    : ir_bits_i64(random_types[t], (int64_t)(seed >> 9) >> (seed & 63));
            memcpy((uint8_t *)d->in[t] + i * size, &bits, size);
        }
        memset(d->out[t], 0x11, sizeof(d->out[t]));
        d->mem[t] = d->in[t];
        d->bytes[t] = RANDOM_INPUT * size;
        d->mem[RANDOM_TYPES + t] = d->out[t];
        d->bytes[RANDOM_TYPES + t] = RANDOM_OUTPUT * size;
    }
    d->mem[2 * RANDOM_TYPES] = d->per_piece;
    d->bytes[2 * RANDOM_TYPES] = sizeof(d->per_piece);
    d->arg[0] = seed % 1000;
    d->arg[1] = ir_bits_f32((float)(seed % 77) / 8);
}

static bool both_nan(ir_type t, ir_bits x, ir_bits y)
{
    if (t == T_F32)
        return isnan(ir_f32_bits(x)) && isnan(ir_f32_bits(y));
    return t == T_F64 && isnan(ir_f64_bits(x)) && isnan(ir_f64_bits(y));
}

const char *random_difference(arena *a, const random_run *expected, const random_run *got)
{
    const k_error *x = &expected->error, *y = &got->error;
    if (x->site != y->site || x->element != y->element || x->value != y->value || x->bound != y->bound)
        return arena_printf(a, "error %u at %" PRId64 " (%" PRId64 "), not %u at %" PRId64 " (%" PRId64 ")", y->site,
                            y->element, y->value, x->site, x->element, x->value);
    for (unsigned t = 0; t < RANDOM_TYPES; t++) {
        size_t size = ir_type_size(random_types[t]);
        for (unsigned i = 0; i < RANDOM_OUTPUT; i++) {
            ir_bits e = 0, g = 0;
            memcpy(&e, (const uint8_t *)expected->out[t] + i * size, size);
            memcpy(&g, (const uint8_t *)got->out[t] + i * size, size);
            if (e != g && !both_nan(random_types[t], e, g))
                return arena_printf(a, "%s output %u: %" PRIx64 ", not %" PRIx64, ir_type_name(random_types[t]), i, g,
                                    e);
        }
    }
    for (unsigned p = 0; p < RANDOM_PIECES; p++)
        if (expected->per_piece[p] != got->per_piece[p])
            return arena_printf(a, "piece %u: %" PRIx64 ", not %" PRIx64, p, got->per_piece[p], expected->per_piece[p]);
    return NULL;
}
