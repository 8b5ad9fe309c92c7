/* Random kernels of exchanges between lanes. */
#include "support/random_gang.h"

#include <inttypes.h>

enum { POOL = 24, DEEPEST = 3, TILES = 3 };

typedef struct {
    k_builder b;
    kernel *k;
    uint64_t seed;
    k_val varying[POOL], uniform[POOL]; /* i64 values that are visible */
    unsigned n_varying, n_uniform;
    k_val variable[POOL]; /* i64 variables of the threads */
    unsigned n_variable;
    k_val total[GANG_TOTALS]; /* i64 variables of the piece */
    k_mem in, tile[TILES];
    unsigned tiles; /* used so far */
    k_val lane, count, base;
    bool checks, single; /* single: not in a loop */
    uint32_t site;
    int budget;
} generator;

static uint64_t next(generator *g, uint64_t below)
{
    g->seed = hash_mix(g->seed, 0x2545f4914f6cdd1du);
    return (g->seed >> 11) % below;
}

static void add(k_val *pool, unsigned *n, generator *g, k_val v)
{
    if (*n < POOL)
        pool[(*n)++] = v;
    else
        pool[next(g, POOL)] = v;
}

static k_val varying(generator *g)
{
    if (g->n_variable && next(g, 4) == 0)
        return g->variable[next(g, g->n_variable)];
    return g->varying[next(g, g->n_varying)];
}

static k_val uniform(generator *g)
{
    uint64_t kind = next(g, 4);
    if (kind == 0)
        return g->total[next(g, GANG_TOTALS)];
    return kind == 1 ? k_i64(&g->b, (int64_t)next(g, 20)) : g->uniform[next(g, g->n_uniform)];
}

static k_val any(generator *g)
{
    return next(g, 4) ? varying(g) : uniform(g);
}

static k_val combine(generator *g, k_val x, k_val y)
{
    static const ir_op ops[] = {OP_ADD, OP_SUB, OP_MUL, OP_MIN, OP_MAX, OP_BIT_XOR, OP_BIT_AND};
    return k_let(&g->b, ops[next(g, ARRAY_LENGTH(ops))], x, y, 0);
}

static k_val compare(generator *g, k_val x, k_val y)
{
    k_val mask = k_i64(&g->b, 7);
    return k_let(&g->b, (ir_op)(OP_EQ + next(g, 6)), k_let(&g->b, OP_BIT_AND, x, mask, 0),
                 k_let(&g->b, OP_BIT_AND, y, mask, 0), 0);
}

static k_val small(generator *g, k_val x)
{
    return k_let(&g->b, OP_BIT_AND, x, k_i64(&g->b, 3), 0);
}

static void list(generator *g, unsigned depth, bool converged);

static void nested(generator *g, unsigned depth, bool converged, k_val visible)
{
    generator kept = *g;
    if (visible)
        add(g->uniform, &g->n_uniform, g, visible);
    list(g, depth, converged);
    memcpy(g->varying, kept.varying, sizeof(g->varying));
    memcpy(g->uniform, kept.uniform, sizeof(g->uniform));
    memcpy(g->variable, kept.variable, sizeof(g->variable));
    g->n_varying = kept.n_varying;
    g->n_uniform = kept.n_uniform;
    g->n_variable = kept.n_variable;
}

/* control that all lanes go through together if `together` */
static void control(generator *g, unsigned depth, bool together, bool converged)
{
    k_builder *b = &g->b;
    bool single = g->single;
    uint64_t kind = next(g, 3);
    if (kind == 0) {
        k_if(b, together ? compare(g, uniform(g), uniform(g)) : compare(g, varying(g), any(g)));
        nested(g, depth, converged && together, 0);
        if (next(g, 2)) {
            k_else(b);
            nested(g, depth, converged && together, 0);
        }
        k_end(b);
        return;
    }
    g->single = false;
    if (kind == 1) {
        k_val i = k_for(b, k_i64(b, 0), small(g, uniform(g)), false);
        nested(g, depth, converged, i);
    } else {
        k_val round = k_decl(b, k_i64(b, 0), "round"), most = small(g, together ? uniform(g) : varying(g));
        k_loop(b);
        k_break_if(b, k_let(b, OP_GE, round, most, 0));
        nested(g, depth, converged && together, 0);
        k_set(b, round, k_let(b, OP_ADD, round, k_i64(b, 1), 0));
    }
    k_end(b);
    g->single = single;
}

/* What a lane that is not there would give must not be seen. */
static void shuffle(generator *g)
{
    k_builder *b = &g->b;
    int64_t lanes = g->k->lanes, d = (int64_t)next(g, g->k->lanes), half = 1;
    k_val mine = any(g), other, from;
    switch (next(g, lanes > 1 ? 4 : 2)) {
    case 3:
        other = k_take_pair(b, mine, d & 1);
        from = k_let(b, OP_ADD, k_let(b, OP_MUL, g->lane, k_i64(b, 2), 0), k_i64(b, d & 1), 0);
        from = k_let(b, OP_BIT_AND, from, k_i64(b, lanes - 1), 0);
        break;
    case 0:
        other = k_shuffle(b, mine, d);
        from = k_let(b, OP_BIT_AND, k_let(b, OP_ADD, g->lane, k_i64(b, d), 0), k_i64(b, lanes - 1), 0);
        break;
    case 1:
        other = k_take_lane(b, mine, d);
        from = k_i64(b, d);
        break;
    default:
        while (4 * half <= lanes && next(g, 2))
            half *= 2;
        other = k_take_left(b, mine, half);
        from = k_let(b, OP_ADD, k_let(b, OP_BIT_AND, g->lane, k_i64(b, -2 * half), 0), k_i64(b, half - 1), 0);
    }
    add(g->varying, &g->n_varying, g, k_select(b, k_let(b, OP_LT, from, g->count, 0), other, k_get(b, mine)));
}

static void meeting(generator *g)
{
    k_builder *b = &g->b;
    k_val condition = compare(g, varying(g), any(g));
    switch (next(g, 6)) {
    case 4:
        add(g->varying, &g->n_varying, g, k_rank(b, condition));
        return;
    case 0:
        add(g->uniform, &g->n_uniform, g, k_count(b, condition));
        return;
    case 1:
        add(g->uniform, &g->n_uniform, g, k_convert(b, OP_CONVERT, T_I64, k_all(b, condition)));
        return;
    case 2:
        if (!g->checks)
            shuffle(g);
        return;
    case 3:
        if (g->single && g->tiles < TILES)
            k_compact(b, g->tile[g->tiles++], small(g, uniform(g)), any(g), condition);
        return;
    default:
        k_set(b, g->total[next(g, GANG_TOTALS)], combine(g, uniform(g), uniform(g)));
    }
}

static void ordinary(generator *g)
{
    k_builder *b = &g->b;
    switch (next(g, 7)) {
    case 0:
        add(g->variable, &g->n_variable, g, k_decl(b, any(g), "var"));
        return;
    case 1:
        if (g->n_variable)
            k_set(b, g->variable[next(g, g->n_variable)], any(g));
        return;
    case 2:
        add(g->varying, &g->n_varying, g, k_load(b, g->in, k_let(b, OP_BIT_AND, any(g), k_i64(b, GANG_INPUT - 1), 0)));
        return;
    case 3:
        if (g->checks) {
            k_val rare = k_let(b, OP_NE, k_let(b, OP_BIT_AND, varying(g), k_i64(b, 31), 0), k_i64(b, 9), 0);
            k_check(b, ++g->site, rare, g->lane, any(g), k_i64(b, 5));
        }
        return;
    case 4:
        add(g->uniform, &g->n_uniform, g, combine(g, uniform(g), uniform(g)));
        return;
    default:
        add(g->varying, &g->n_varying, g, k_let(b, OP_ADD, combine(g, varying(g), any(g)), g->lane, 0));
    }
}

static void list(generator *g, unsigned depth, bool converged)
{
    for (uint64_t left = 2 + next(g, depth ? 5 : 14); left; left--) {
        uint64_t kind = next(g, 10);
        g->budget--;
        if (kind < 2 && depth < DEEPEST && g->budget > 0)
            control(g, depth + 1, next(g, 3) != 0, converged);
        else if (kind < 6 && converged)
            meeting(g);
        else
            ordinary(g);
    }
}

static void clear_tiles(generator *g)
{
    k_builder *b = &g->b;
    for (unsigned t = 0; t < TILES; t++)
        g->tile[t] = k_shared(b, T_I64, g->k->lanes + 4, "tile");
    k_val i = k_for_all(b, k_i64(b, g->k->lanes + 4));
    for (unsigned t = 0; t < TILES; t++)
        k_store(b, g->tile[t], i, k_i64(b, 0));
    k_end(b);
}

static k_val tile_sum(generator *g, unsigned t)
{
    k_builder *b = &g->b;
    k_val sum = k_decl(b, k_i64(b, 0), "sum");
    k_val i = k_for(b, k_i64(b, 0), k_i64(b, g->k->lanes + 4), false);
    k_set(b, sum, k_let(b, OP_ADD, k_let(b, OP_MUL, sum, k_i64(b, 5), 0), k_load(b, g->tile[t], i), 0));
    k_end(b);
    return sum;
}

kernel *random_gang(arena *a, uint64_t seed, uint16_t lanes, bool checks)
{
    generator *g = arena_new(a, *g);
    k_builder *b = &g->b;
    *g = (generator){
        .seed = hash_mix(seed, 7), .k = k_new(a, "gang", lanes), .budget = 40, .checks = checks, .single = true};
    k_begin(b, g->k);
    g->in = k_global(b, T_I64, false, "in");
    k_mem out = k_global(b, T_I64, true, "out"), totals = k_global(b, T_I64, true, "totals");
    k_val n = k_arg(b, T_I64, "n");
    for (unsigned t = 0; t < GANG_TOTALS; t++)
        g->total[t] = k_decl(b, k_let(b, OP_ADD, k_piece(b), k_i64(b, t), 0), "total");
    clear_tiles(g);
    g->count = k_let(b, OP_MIN, n, k_i64(b, lanes), 0);
    g->base = k_let(b, OP_MUL, k_piece(b), k_i64(b, lanes), 0);
    add(g->uniform, &g->n_uniform, g, n);
    k_val zeroed = k_for_all(b, k_i64(b, lanes));
    k_store(b, out, k_let(b, OP_ADD, g->base, zeroed, 0), k_i64(b, -1));
    k_end(b);

    g->lane = k_for_all(b, g->count);
    add(g->varying, &g->n_varying, g, g->lane);
    add(g->varying, &g->n_varying, g, k_load(b, g->in, k_let(b, OP_BIT_AND, g->lane, k_i64(b, GANG_INPUT - 1), 0)));
    list(g, 0, true);
    k_store(b, out, k_let(b, OP_ADD, g->base, g->lane, 0), combine(g, varying(g), varying(g)));
    k_end(b);
    for (unsigned t = 0; t < GANG_TOTALS; t++) {
        k_val v = t < TILES ? k_let(b, OP_ADD, g->total[t], tile_sum(g, t), 0) : g->total[t];
        k_store(b, totals, k_let(b, OP_ADD, k_let(b, OP_MUL, k_piece(b), k_i64(b, GANG_TOTALS), 0), k_i64(b, t), 0), v);
    }
    return g->k;
}

void random_gang_fill(gang_run *r, uint64_t seed, uint16_t lanes)
{
    *r = (gang_run){0};
    for (unsigned i = 0; i < GANG_INPUT; i++) {
        seed = hash_mix(seed, i + 1);
        r->in[i] = (int64_t)seed >> (seed & 63);
    }
    r->arg[0] = seed % 5 == 0 ? 0 : seed % 5 == 1 ? lanes : 1 + (seed >> 8) % lanes;
    r->mem[0] = r->in;
    r->mem[1] = r->out;
    r->mem[2] = r->total;
    r->bytes[0] = sizeof(r->in);
    r->bytes[1] = sizeof(r->out);
    r->bytes[2] = sizeof(r->total);
}

const char *random_gang_difference(arena *a, const gang_run *x, const gang_run *y)
{
    if (x->error.site != y->error.site || x->error.element != y->error.element || x->error.value != y->error.value)
        return arena_printf(a, "error %u at %" PRId64 ", not %u at %" PRId64, y->error.site, y->error.element,
                            x->error.site, x->error.element);
    for (unsigned i = 0; i < GANG_OUTPUT && !x->error.site; i++)
        if (x->out[i] != y->out[i])
            return arena_printf(a, "output %u is %" PRId64 ", not %" PRId64, i, y->out[i], x->out[i]);
    for (unsigned i = 0; i < GANG_PIECES * GANG_TOTALS && !x->error.site; i++)
        if (x->total[i] != y->total[i])
            return arena_printf(a, "total %u is %" PRId64 ", not %" PRId64, i, y->total[i], x->total[i]);
    return NULL;
}
