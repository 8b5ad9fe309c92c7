/* Loads of neighbours in rows that stencils keep in shared memory: x - 1, x and x + 1, for a whole gang of x at a time.
 * Each load beside the middle one lies across two cache lines, and takes as long as two. Instead, a row is loaded once
 * a gang, at the middle one of its neighbours: what lies beside is shifted together from that vector and the ones
 * before and behind it, which stay in registers from gang to gang.
 *
 * The next vector may end up to a vector behind the last element that anyone asked for: in the kernel's scratch memory,
 * whatever it holds. */
#include "emit/cpu/llvm/cg.h"

enum { LEAST_LOADS = 3, DEEPEST = 8, MOST_TERMS = 6, LINE = 64 };

/* An index: the thread's number, values from outside of the FOR_ALL in ascending order, and a constant. */
typedef struct sum {
    k_val value[MOST_TERMS];
    int64_t times[MOST_TERMS];
    unsigned terms;
    int64_t threads, constant;
} sum;

typedef struct finding {
    const cg *g;
    uint32_t stamp; /* of values defined in the body */
    k_val thread;
} finding;

static bool add_term(sum *s, k_val v, int sign)
{
    unsigned at = 0;
    while (at < s->terms && s->value[at] < v)
        at++;
    if (at < s->terms && s->value[at] == v) {
        s->times[at] += sign;
        return true;
    }
    if (s->terms == MOST_TERMS)
        return false;
    for (unsigned i = s->terms++; i > at; i--) {
        s->value[i] = s->value[i - 1];
        s->times[i] = s->times[i - 1];
    }
    s->value[at] = v;
    s->times[at] = sign;
    return true;
}

/* Adds v to s; false: it is not a sum of this kind. */
static bool add_value(const finding *f, sum *s, k_val v, int sign, unsigned deep)
{
    const kernel *k = f->g->k;
    const k_value *x = &k->value.at[v];
    if (v == f->thread) {
        s->threads += sign;
        return true;
    }
    if (x->kind == KV_LITERAL)
        return !__builtin_add_overflow(s->constant, sign * ir_i64_bits(T_I64, x->bits), &s->constant);
    if (f->g->stamp[v] != f->stamp)
        return x->kind != KV_VARIABLE && add_term(s, v, sign);
    const k_stmt *d = &k->stmt.at[x->def];
    bool more = d->op == K_LET && (d->sub == OP_ADD || d->sub == OP_SUB) && deep;
    return more && add_value(f, s, d->in[0], sign, deep - 1) &&
           add_value(f, s, d->in[1], d->sub == OP_ADD ? sign : -sign, deep - 1);
}

static bool same_row(const sum *x, const sum *y)
{
    bool same = x->terms == y->terms;
    for (unsigned i = 0; same && i < x->terms; i++)
        same = x->value[i] == y->value[i] && x->times[i] == y->times[i];
    return same;
}

/* Is there a vector behind the array, whatever it holds? */
static bool has_room(const cg *g, const k_memory *m)
{
    uint64_t end = m->offset + (uint64_t)m->count * ir_type_size((ir_type)m->type);
    return end + LINE <= g->k->scratch;
}

static bool is_neighbour(const cg *g, const k_stmt *s)
{
    const k_memory *m = &g->k->mem.at[s->mem];
    const k_value *index = &g->k->value.at[s->in[0]];
    unsigned bytes = (unsigned)ir_type_size((ir_type)m->type);
    return s->op == K_LOAD && m->space == K_SHARED && (bytes == 4 || bytes == 8) && index->shape == K_AFFINE &&
           index->step == 1 && g->lanes * bytes == LINE && has_room(g, m);
}

static bool is_stored(const kernel *k, k_ref body, k_mem m)
{
    for (k_ref r = body; r; r = k->stmt.at[r].next)
        if (k->stmt.at[r].op == K_STORE && k->stmt.at[r].mem == m)
            return true;
    return false;
}

/* Puts the loads of each row into a group, while there is room for them. */
static void find_rows(const finding *f, cg_shifted *out, sum *index, k_ref body)
{
    const kernel *k = f->g->k;
    for (k_ref r = body; r && out->loads < CG_MOST_SHIFTED; r = k->stmt.at[r].next) {
        const k_stmt *s = &k->stmt.at[r];
        sum x = {0};
        if (!is_neighbour(f->g, s) || !add_value(f, &x, s->in[0], 1, DEEPEST) || x.threads != 1)
            continue;
        unsigned at = 0;
        while (at < out->rows && !(out->row[at].mem == s->mem && same_row(&index[at], &x)))
            at++;
        if (at == out->rows && (at == CG_MOST_ROWS || is_stored(k, body, s->mem)))
            continue;
        cg_shifted_row *to = &out->row[at];
        if (at == out->rows) {
            *to = (cg_shifted_row){.mem = s->mem, .lowest = x.constant, .highest = x.constant};
            index[out->rows++] = x;
        }
        to->loads++;
        to->lowest = x.constant < to->lowest ? x.constant : to->lowest;
        to->highest = x.constant > to->highest ? x.constant : to->highest;
        out->load[out->loads].stmt = r;
        out->load[out->loads].row = at;
        out->load[out->loads++].constant = x.constant;
    }
}

static int64_t middle_of(const cg_shifted_row *row)
{
    return row->lowest + (int64_t)(((uint64_t)row->highest - (uint64_t)row->lowest) / 2);
}

/* Do the loads take longer than what is computed? Those besides a row's middle one count twice; a processor loads two
 * vectors in the time of two operations. Shifting takes registers, so where it gains nothing it loses. */
static bool is_bound_by_loads(const kernel *k, const cg_shifted *s, k_ref body)
{
    unsigned loads = 0, operations = 0;
    for (unsigned i = 0; i < s->loads; i++)
        loads += s->load[i].constant == middle_of(&s->row[s->load[i].row]) ? 1 : 2;
    for (k_ref r = body; r; r = k->stmt.at[r].next) {
        const k_stmt *st = &k->stmt.at[r];
        operations += (st->op == K_LET || st->op == K_SELECT) && k->value.at[st->dst].shape == K_VARYING;
    }
    return loads >= operations;
}

static bool is_worth_it(const cg *g, const cg_shifted_row *row)
{
    uint64_t wide = (uint64_t)row->highest - (uint64_t)row->lowest;
    return row->loads >= LEAST_LOADS && wide < g->lanes;
}

/* The elements from number `by` of a vector on, and as many of the one behind it. The instruction is written out, since
 * LLVM takes another one, with a table of places in a register, and that register's copy, as it overwrites it. */
static cg_ref shifted(cg *g, cg_ref vector, cg_ref behind, unsigned by)
{
    bool four = g->lanes * 4 == LINE;
    LLVMTypeRef bits = cg_vector_of(g, four ? g->i32 : g->i64, four ? 16 : 8);
    const char *written = arena_printf(g->arena, "valign%c $$%u, $1, $2, $0", four ? 'd' : 'q', by);
    LLVMTypeRef type = LLVMFunctionType(bits, (LLVMTypeRef[]){bits, bits}, 2, false);
    cg_ref code =
        LLVMGetInlineAsm(type, written, strlen(written), "=v,v,v", 6, false, false, LLVMInlineAsmDialectATT, false);
    cg_ref in[] = {LLVMBuildBitCast(g->b, vector, bits, ""), LLVMBuildBitCast(g->b, behind, bits, "")};
    return LLVMBuildBitCast(g->b, LLVMBuildCall2(g->b, type, code, in, 2, ""), LLVMTypeOf(vector), "");
}

static cg_ref load_vector(cg *g, const cg_shifted_row *row, cg_ref index)
{
    cg_ref x = LLVMBuildLoad2(g->b, row->vector, cg_element(g, row->mem, index), "");
    LLVMSetAlignment(x, cg_alignment(g, row->mem));
    return x;
}

/* Nothing is kept from one run of the loop to the next, so that no register is taken in between. */
static void make_room(cg *g, cg_shifted_row *row)
{
    row->vector = cg_vector_of(g, cg_stored(g, (ir_type)g->k->mem.at[row->mem].type), g->lanes);
    row->kept = cg_alloca(g, row->vector, LINE, "row");
    row->kept_before = cg_alloca(g, row->vector, LINE, "row.before");
    LLVMBuildStore(g->b, LLVMGetPoison(row->vector), row->kept);
    LLVMBuildStore(g->b, LLVMGetPoison(row->vector), row->kept_before);
}

/* Loads what the first gang reads at its middle neighbour and, into the last lanes of a vector, what lies before. */
static void keep_first(cg *g, const cg_shifted_row *row, const sum *index)
{
    cg_ref at = cg_i64(g, row->lowest);
    for (unsigned i = 0; i < index->terms; i++) {
        cg_ref x = LLVMBuildNSWMul(g->b, cg_scalar(g, index->value[i]), cg_i64(g, index->times[i]), "");
        at = LLVMBuildNSWAdd(g->b, at, x, "");
    }
    unsigned before = (unsigned)(middle_of(row) - row->lowest);
    cg_ref lowest = load_vector(g, row, at);
    LLVMBuildStore(g->b, before ? shifted(g, lowest, lowest, before) : lowest, row->kept_before);
    LLVMBuildStore(g->b, load_vector(g, row, LLVMBuildNSWAdd(g->b, at, cg_i64(g, before), "")), row->kept);
}

void cg_shifted_begin(cg *g, const k_stmt *for_all, cg_ref count)
{
    if (!g->cpu.avx512 || g->lanes == 1)
        return;
    if (!g->stamp)
        g->stamp = arena_array(g->arena, *g->stamp, g->k->value.n);
    finding f = {.g = g, .stamp = ++g->stamps, .thread = for_all->dst};
    bool any = false;
    for (k_ref r = for_all->body; r; r = g->k->stmt.at[r].next) {
        g->stamp[g->k->stmt.at[r].dst] = f.stamp;
        any |= is_neighbour(g, &g->k->stmt.at[r]);
    }
    if (!any)
        return;
    cg_shifted *found = arena_new(g->arena, *found);
    sum index[CG_MOST_ROWS];
    find_rows(&f, found, index, for_all->body);
    if (!is_bound_by_loads(g->k, found, for_all->body))
        return;
    for (unsigned i = 0; i < found->rows; i++)
        if (is_worth_it(g, &found->row[i])) {
            make_room(g, &found->row[i]);
            g->shifted = found;
        }
    if (!g->shifted)
        return;
    LLVMBasicBlockRef some = cg_block(g, "rows"), end = cg_block(g, "rows.end");
    cg_cond(g, LLVMBuildICmp(g->b, LLVMIntSGT, count, cg_i64(g, 0), ""), some, end);
    cg_at(g, some);
    for (unsigned i = 0; i < found->rows; i++)
        if (found->row[i].kept)
            keep_first(g, &found->row[i], &index[i]);
    cg_br(g, end);
    cg_at(g, end);
}

/* The vectors of a row, at the first of its loads. */
static void load_row(cg *g, cg_shifted_row *row, cg_ref index, int64_t constant)
{
    cg_ref at = LLVMBuildNSWAdd(g->b, index, cg_i64(g, middle_of(row) - constant + g->lanes), "");
    row->before = LLVMBuildLoad2(g->b, row->vector, row->kept_before, "");
    row->here = LLVMBuildLoad2(g->b, row->vector, row->kept, "");
    row->next = load_vector(g, row, at);
    LLVMBuildStore(g->b, row->here, row->kept_before);
    LLVMBuildStore(g->b, row->next, row->kept);
}

static cg_ref neighbour(cg *g, const cg_shifted_row *row, int64_t by)
{
    if (by < 0)
        return shifted(g, row->before, row->here, (unsigned)(g->lanes + by));
    return by ? shifted(g, row->here, row->next, (unsigned)by) : row->here;
}

cg_ref cg_load_shifted(cg *g, k_ref id)
{
    cg_shifted *s = g->shifted;
    for (unsigned i = 0; s && i < s->loads; i++) {
        cg_shifted_row *row = &s->row[s->load[i].row];
        if (s->load[i].stmt != id || !row->kept)
            continue;
        if (!row->here)
            load_row(g, row, cg_scalar(g, g->k->stmt.at[id].in[0]), s->load[i].constant);
        return neighbour(g, row, s->load[i].constant - middle_of(row));
    }
    return NULL;
}
