/* Runs kernels in plain C, statement by statement over the lanes of a gang: slow and simple, the oracle of the
 * emitters' tests. It recurses with the nesting of the kernel. */
#include "kernel/kernel.h"
#include "kernel/launch.h"
#include "kernel/walk.h"

/* Site of an error that is a mistake in the kernel, not in the program it came from. */
#define SITE_MISTAKE UINT32_MAX

typedef struct {
    const kernel *k;
    k_error *error;
    uint8_t **memory; /* per k_mem: its elements */
    ir_bits *value;   /* per value and lane; that of literals, arguments and the piece stands in lane 0 */
    uint32_t *wide;   /* per value: all bits if it has a value per lane, 0 if it has one */
    int64_t piece;
    int64_t base;   /* number of the gang's first thread */
    uint32_t lanes; /* 1 at piece level */
    uint8_t *off;   /* lanes that a CHECK switched off */
    bool failed;
} machine;

static void run_list(machine *m, k_ref at, uint8_t *on);

static void report(machine *m, uint32_t site, int64_t element, int64_t value, int64_t bound)
{
    k_error *e = m->error;
    m->failed = true;
    bool smaller = !e->site || site < e->site || (site == e->site && element < e->element);
    if (smaller)
        *e = (k_error){.site = site, .element = element, .value = value, .bound = bound};
}

/* --- values --- */

static size_t place(const machine *m, k_val v, uint32_t lane)
{
    return (size_t)v * m->k->lanes + (lane & m->wide[v]);
}

static ir_bits get(const machine *m, k_val v, uint32_t lane)
{
    return m->value[place(m, v, lane)];
}

static int64_t get_i64(const machine *m, k_val v, uint32_t lane)
{
    return (int64_t)get(m, v, lane);
}

static void put(machine *m, k_val v, uint32_t lane, ir_bits bits)
{
    m->value[place(m, v, lane)] = bits;
}

static bool active(const machine *m, const uint8_t *on, uint32_t lane)
{
    return on[lane] && !m->off[lane];
}

/* The first lane that is on; m->lanes if there is none. */
static uint32_t first_active(const machine *m, const uint8_t *on)
{
    uint32_t lane = 0;
    while (lane < m->lanes && !active(m, on, lane))
        lane++;
    return lane;
}

/* --- memory --- */

static uint8_t *element(machine *m, k_mem id, int64_t index, uint32_t lane)
{
    const k_memory *memory = &m->k->mem.at[id];
    size_t size = ir_type_size((ir_type)memory->type);
    if (memory->space == K_GLOBAL)
        return m->memory[id] + index * (int64_t)(memory->every ? memory->every : size);
    if (index < 0 || index >= memory->count) {
        report(m, SITE_MISTAKE, m->base + lane, index, memory->count);
        return NULL;
    }
    if (memory->space == K_PRIVATE) {
        if (m->base + lane >= (int64_t)m->k->threads) {
            report(m, SITE_MISTAKE, m->base + lane, m->base + lane, m->k->threads);
            return NULL;
        }
        index += (m->base + lane) * memory->count;
    }
    return m->memory[id] + (size_t)index * size;
}

static ir_bits read_element(machine *m, k_mem id, int64_t index, uint32_t lane)
{
    ir_bits bits = 0;
    const uint8_t *p = element(m, id, index, lane);
    if (p)
        memcpy(&bits, p, ir_type_size((ir_type)m->k->mem.at[id].type));
    return bits;
}

static void write_element(machine *m, k_mem id, int64_t index, uint32_t lane, ir_bits bits)
{
    uint8_t *p = element(m, id, index, lane);
    if (p)
        memcpy(p, &bits, ir_type_size((ir_type)m->k->mem.at[id].type));
}

/* --- statements on one lane --- */

static ir_bits apply(ir_op op, ir_type from, ir_type to, const ir_bits *in)
{
    ir_bits result = 0;
    if (op == OP_BITCAST && from == to)
        return in[0];
    ir_op_apply(op, from, to, in, &result); /* where it fails, any value will do: 0 */
    return result;
}

static void atomic(machine *m, const k_stmt *s, uint32_t lane)
{
    ir_type t = (ir_type)m->k->mem.at[s->mem].type;
    int64_t index = get_i64(m, s->in[0], lane);
    ir_bits in[2] = {read_element(m, s->mem, index, lane), get(m, s->in[1], lane)};
    write_element(m, s->mem, index, lane, apply((ir_op)s->sub, t, t, in));
    put(m, s->dst, lane, in[0]);
}

static void check(machine *m, const k_stmt *s, uint32_t lane)
{
    if (s->sub & K_NOTE || get(m, s->in[0], lane))
        return;
    report(m, s->site, get_i64(m, s->in[1], lane), get_i64(m, s->in[2], lane), get_i64(m, s->in[3], lane));
    m->off[lane] = 1;
}

static void run_lane(machine *m, const k_stmt *s, uint32_t lane)
{
    switch ((k_op)s->op) {
    case K_SELECT:
        put(m, s->dst, lane, get(m, s->in[get(m, s->in[0], lane) ? 1 : 2], lane));
        return;
    case K_DECL:
    case K_SET:
        put(m, s->dst, lane, get(m, s->in[0], lane));
        return;
    case K_LOAD:
        put(m, s->dst, lane, read_element(m, s->mem, get_i64(m, s->in[0], lane), lane));
        return;
    case K_STORE:
        write_element(m, s->mem, get_i64(m, s->in[0], lane), lane, get(m, s->in[1], lane));
        return;
    case K_ATOMIC:
        atomic(m, s, lane);
        return;
    case K_CHECK:
        check(m, s, lane);
        return;
    default:
        return;
    }
}

/* --- statements on a gang --- */

/* Most of what kernels do: what is the same in all lanes is looked up once. */
static void let(machine *m, const k_stmt *s, const uint8_t *on)
{
    const k_value *v = m->k->value.at;
    const ir_type from = (ir_type)v[s->in[0]].type, to = (ir_type)v[s->dst].type;
    const unsigned operands = k_operands(s);
    const ir_bits *operand[3];
    ir_bits *result = &m->value[place(m, s->dst, 0)];
    uint32_t wide[3], every = m->wide[s->dst];
    for (unsigned i = 0; i < 3; i++) {
        const k_val in = s->in[i < operands ? i : 0];
        operand[i] = &m->value[place(m, in, 0)];
        wide[i] = m->wide[in];
    }
    for (uint32_t lane = 0; lane < m->lanes; lane++)
        if (active(m, on, lane)) {
            const ir_bits in[3] = {operand[0][lane & wide[0]], operand[1][lane & wide[1]], operand[2][lane & wide[2]]};
            result[lane & every] = apply((ir_op)s->sub, from, to, in);
        }
}

static void compact(machine *m, const k_stmt *s, const uint8_t *on)
{
    const uint32_t first = first_active(m, on);
    if (first == m->lanes)
        return;
    int64_t at = get_i64(m, s->in[0], first);
    for (uint32_t lane = first; lane < m->lanes; lane++)
        if (active(m, on, lane) && get(m, s->in[2], lane))
            write_element(m, s->mem, at++, lane, get(m, s->in[1], lane));
}

static void count(machine *m, const k_stmt *s, const uint8_t *on)
{
    ir_bits n = 0;
    for (uint32_t lane = 0; lane < m->lanes; lane++)
        n += active(m, on, lane) && get(m, s->in[0], lane);
    for (uint32_t lane = 0; lane < m->lanes; lane++)
        put(m, s->dst, lane, n);
}

static void rank(machine *m, const k_stmt *s, const uint8_t *on)
{
    ir_bits n = 0;
    for (uint32_t lane = 0; lane < m->lanes; lane++) {
        bool counts = active(m, on, lane) && get(m, s->in[0], lane);
        put(m, s->dst, lane, n);
        n += counts;
    }
}

static void all(machine *m, const k_stmt *s, const uint8_t *on)
{
    ir_bits every = 1;
    for (uint32_t lane = 0; lane < m->lanes; lane++)
        every &= !active(m, on, lane) || get(m, s->in[0], lane);
    for (uint32_t lane = 0; lane < m->lanes; lane++)
        put(m, s->dst, lane, every);
}

static void branch(machine *m, const k_stmt *s, const uint8_t *on)
{
    uint8_t yes[256], no[256];
    for (uint32_t lane = 0; lane < m->lanes; lane++) {
        bool now = active(m, on, lane), c = now && get(m, s->in[0], lane);
        yes[lane] = c;
        no[lane] = now && !c;
    }
    run_list(m, s->body, yes);
    run_list(m, s->orelse, no);
}

static void loop(machine *m, const k_stmt *s, const uint8_t *on)
{
    uint8_t still[256];
    memcpy(still, on, m->lanes);
    while (first_active(m, still) < m->lanes)
        run_list(m, s->body, still);
}

static void for_loop(machine *m, const k_stmt *s, const uint8_t *on)
{
    uint8_t still[256];
    uint32_t lane = first_active(m, on);
    if (lane == m->lanes)
        return;
    memcpy(still, on, m->lanes);
    int64_t to = get_i64(m, s->in[1], lane);
    for (int64_t i = get_i64(m, s->in[0], lane); i < to; i++) {
        for (uint32_t l = 0; l < m->lanes; l++)
            put(m, s->dst, l, (ir_bits)i);
        run_list(m, s->body, still);
    }
}

static void for_all(machine *m, const k_stmt *s)
{
    int64_t threads = get_i64(m, s->in[0], 0);
    if (s->sub == K_WHOLE)
        threads = k_whole_threads(m->k, s, threads);
    uint8_t *piece_off = m->off;
    for (int64_t base = 0; base < threads; base += m->k->lanes) {
        uint8_t on[256], off[256] = {0};
        m->base = base;
        m->lanes = m->k->lanes;
        m->off = off;
        for (uint32_t lane = 0; lane < m->lanes; lane++) {
            on[lane] = base + lane < threads;
            put(m, s->dst, lane, (ir_bits)(base + lane));
        }
        run_list(m, s->body, on);
    }
    m->off = piece_off;
    m->lanes = 1;
    m->base = 0;
}

static void shuffle(machine *m, const k_stmt *s)
{
    ir_bits from[256];
    for (uint32_t lane = 0; lane < m->lanes; lane++)
        from[lane] = get(m, s->in[0], lane);
    for (uint32_t lane = 0; lane < m->lanes; lane++)
        put(m, s->dst, lane, from[k_shuffle_source(m->k, s, lane)]);
}

static void chain(machine *m, const k_stmt *s)
{
    const k_chain *c = s->chain;
    uint8_t on[1] = {1}, off[1] = {0};
    uint8_t *piece_off = m->off;
    uint64_t *state = (uint64_t *)(void *)m->memory[c->state];
    uint64_t *mine = state + m->piece * (1 + c->arity), *prior = mine - (1 + c->arity);
    m->off = off; /* a piece that failed hands its carry on all the same */
    if (m->piece > 0 && prior[0] != 1)
        report(m, SITE_MISTAKE, m->piece, 0, 0);
    for (unsigned j = 0; j < c->arity; j++) {
        ir_bits before = m->piece ? prior[1 + j] : get(m, c->initial[j], 0);
        put(m, c->before[j], 0, before);
        put(m, c->left[j], 0, before);
        put(m, c->right[j], 0, get(m, c->aggregate[j], 0));
    }
    run_list(m, s->body, on);
    for (unsigned j = 0; j < c->arity; j++)
        mine[1 + j] = get(m, c->result[j], 0);
    mine[0] = 1;
    m->off = piece_off;
}

/* Sets a variable of the piece from a FOR_ALL: the value is the same in all lanes. */
static bool set_piece_variable(machine *m, const k_stmt *s, const uint8_t *on)
{
    if (s->op != K_SET || m->wide[s->dst] || m->lanes == 1)
        return false;
    uint32_t lane = first_active(m, on);
    if (lane < m->lanes)
        put(m, s->dst, 0, get(m, s->in[0], lane));
    return true;
}

static void run_statement(machine *m, const k_stmt *s, uint8_t *on)
{
    switch ((k_op)s->op) {
    case K_IF:
        branch(m, s, on);
        return;
    case K_LOOP:
        loop(m, s, on);
        return;
    case K_BREAK_IF:
        for (uint32_t lane = 0; lane < m->lanes; lane++)
            if (active(m, on, lane) && get(m, s->in[0], lane))
                on[lane] = 0;
        return;
    case K_FOR:
        for_loop(m, s, on);
        return;
    case K_FOR_ALL:
        if (active(m, on, 0))
            for_all(m, s);
        return;
    case K_COMPACT:
        compact(m, s, on);
        return;
    case K_COUNT:
        count(m, s, on);
        return;
    case K_RANK:
        rank(m, s, on);
        return;
    case K_ALL:
        all(m, s, on);
        return;
    case K_SHUFFLE:
        shuffle(m, s);
        return;
    case K_CHAIN:
        chain(m, s);
        return;
    case K_LET:
        let(m, s, on);
        return;
    default:
        if (set_piece_variable(m, s, on))
            return;
        for (uint32_t lane = 0; lane < m->lanes; lane++)
            if (active(m, on, lane))
                run_lane(m, s, lane);
    }
}

static void run_list(machine *m, k_ref at, uint8_t *on)
{
    for (; at; at = m->k->stmt.at[at].next)
        run_statement(m, &m->k->stmt.at[at], on);
}

/* --- set-up --- */

/* Notes which values differ between lanes: those defined inside a FOR_ALL, and its own number. */
static void find_wide(machine *m, arena *a)
{
    k_walk w;
    k_walk_begin(&w, m->k, a);
    while (k_walk_next(&w)) {
        const k_stmt *s = &m->k->stmt.at[w.at];
        if (w.event == K_WALK_AT && s->dst && s->op != K_SET)
            m->wide[s->dst] = w.for_all || s->op == K_FOR_ALL ? UINT32_MAX : 0;
    }
}

static void set_constants(machine *m, const ir_bits *arg)
{
    for (k_val v = 1; v < m->k->value.n; v++) {
        const k_value *x = &m->k->value.at[v];
        if (x->kind == KV_LITERAL || x->kind == KV_ARG)
            put(m, v, 0, x->kind == KV_ARG ? arg[x->bits] : x->bits);
    }
}

static void set_piece(machine *m)
{
    for (k_val v = 1; v < m->k->value.n; v++)
        if (m->k->value.at[v].kind == KV_PIECE)
            put(m, v, 0, (ir_bits)m->piece);
}

static size_t block_bytes(const kernel *k, const k_memory *memory)
{
    size_t bytes = (size_t)memory->count * ir_type_size((ir_type)memory->type);
    return memory->space == K_PRIVATE ? bytes * k->threads : bytes;
}

static void run_piece(machine *m, int64_t piece)
{
    uint8_t on[1] = {1}, off[1] = {0};
    m->piece = piece;
    m->lanes = 1;
    m->off = off;
    set_piece(m);
    /* Nothing may depend on what the piece before left behind. */
    for (k_mem i = 1; i < m->k->mem.n; i++)
        if (m->k->mem.at[i].space != K_GLOBAL)
            memset(m->memory[i], 0xa5, block_bytes(m->k, &m->k->mem.at[i]));
    run_list(m, m->k->body, on);
}

bool k_interpret(const kernel *k, arena *a, void *const *mem, const ir_bits *arg, int64_t first, int64_t last,
                 struct k_error *error)
{
    machine m = {.k = k, .error = error};
    if (k->code.n) /* which nothing here runs */
        return false;
    m.memory = arena_array(a, *m.memory, k->mem.n);
    m.value = arena_array(a, *m.value, (size_t)k->value.n * k->lanes);
    m.wide = arena_array(a, *m.wide, k->value.n);
    unsigned globals = 0;
    for (k_mem i = 1; i < k->mem.n; i++)
        m.memory[i] = k->mem.at[i].space == K_GLOBAL ? mem[globals++] : arena_alloc(a, block_bytes(k, &k->mem.at[i]));
    find_wide(&m, a);
    set_constants(&m, arg);
    for (int64_t piece = first; piece < last; piece++)
        run_piece(&m, piece);
    return !m.failed;
}
