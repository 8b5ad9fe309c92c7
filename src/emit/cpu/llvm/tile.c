/* Sequential loops in which every lane walks its own row: loads and stores at X + k, where X differs between lanes by a
 * step, or, for loads, in any way, and k is the loop's counter; or at X - k, where X differs by a step. Gathering
 * element by element wastes most of every cache line; so the loop is cut into tiles of a few turns, rows are read whole
 * and transposed in registers into a buffer [turn][lane], and the turns read contiguous vectors from it. Stores go the
 * other way. Where all that is done is to read rows that begin anywhere, the turns get their vectors without a buffer.
 * This is how folds and scans that must keep their order reach the speed of memory (the W x W tiles of the
 * architecture's section on emitters). */
#include "emit/cpu/llvm/cg.h"

enum { MOST_TERMS = 64, MOST_DENSE = 40, NOT_LINEAR = INT32_MIN };
enum { ROW_AHEAD = 512, NEAR_AHEAD = 2048, FAR_AHEAD = 384 << 10 }; /* prefetch distances, bytes */
enum { SHIFT = 2 };       /* turns between accesses that share a tile, at most */
enum { LEAST_APART = 8 }; /* turns over rows that are anywhere: of fewer their elements are gathered */
enum { LINE = 64, MOST_TOGETHER = 256 /* statements */ };

typedef struct {
    cg *g;
    const k_stmt *s;
    uint32_t stamp; /* of values defined or set in the loop's body */
    unsigned budget;
    struct {
        k_ref stmt;
        unsigned bytes;
        bool falls; /* from the end of its row to the beginning; the buffer has the tile's elements in memory's order */
        cg_ref step, apart, buffer; /* step or apart: as in cg_rows */
        unsigned leader;            /* that other access */
        cg_ref shared, shift; /* it finds its elements so many turns on in the buffer of another access; NULL: never */
        cg_ref ahead, to_fetch; /* rows that are anywhere: those of the next gang, and how many bytes these have */
        cg_ref low, high;       /* least and greatest shift of those that use this one's buffer; NULL: none does */
    } access[CG_MOST_TILES];
    unsigned accesses, rows, narrowest;
    cg_ref reach; /* turns of a tile that are there for shifts only; NULL: none */
} plan;

cg_tiled *cg_tile_of(cg *g, k_ref stmt)
{
    for (unsigned i = 0; i < g->tiles; i++)
        if (g->tile[i].stmt == stmt)
            return &g->tile[i];
    return NULL;
}

/* --- which accesses walk rows --- */

static void mark(plan *p, k_ref list)
{
    const kernel *k = p->g->k;
    for (k_ref r = list; r; r = k->stmt.at[r].next) {
        const k_stmt *s = &k->stmt.at[r];
        if (s->dst)
            p->g->stamp[s->dst] = p->stamp;
        mark(p, s->body);
        mark(p, s->orelse);
    }
}

typedef struct span { /* of the loop's counter */
    cg_ref from, to;
} span;

/* By how much v grows from turn to turn, or NOT_LINEAR. */
static int64_t growth(plan *p, k_val v)
{
    const kernel *k = p->g->k;
    const k_value *x = &k->value.at[v];
    if (v == p->s->dst)
        return 1;
    if (p->g->stamp[v] != p->stamp)
        return 0;
    const k_stmt *s = &k->stmt.at[x->def];
    if (x->kind != KV_RESULT || s->op != K_LET || !p->budget)
        return NOT_LINEAR;
    p->budget--;
    int64_t in[3] = {0};
    bool constant = true;
    for (unsigned i = 0; i < ir_ops[s->sub].arity; i++) {
        in[i] = growth(p, s->in[i]);
        constant &= in[i] == 0;
        if (in[i] == NOT_LINEAR)
            return NOT_LINEAR;
    }
    if (constant)
        return 0;
    if (x->type != T_I64 || k->value.at[s->in[0]].type != T_I64)
        return NOT_LINEAR;
    if (s->sub == OP_ADD)
        return in[0] + in[1];
    if (s->sub == OP_SUB)
        return in[0] - in[1];
    return s->sub == OP_BITCAST || s->sub == OP_CONVERT ? in[0] : NOT_LINEAR;
}

/* The value of v in `lane` when the counter is `turn`. */
static cg_ref value_at(plan *p, k_val v, cg_ref turn, unsigned lane)
{
    if (v == p->s->dst)
        return turn;
    if (p->g->stamp[v] != p->stamp)
        return cg_lane_scalar(p->g, v, lane);
    const k_value *value = p->g->k->value.at;
    const k_stmt *s = &p->g->k->stmt.at[value[v].def];
    cg_ref in[3] = {0};
    for (unsigned i = 0; i < ir_ops[s->sub].arity; i++)
        in[i] = value_at(p, s->in[i], turn, lane);
    return cg_op(p->g, (ir_op)s->sub, (ir_type)value[s->in[0]].type, (ir_type)value[v].type, in);
}

/* The same of all lanes, when the counter is `turn`. */
static cg_ref vector_at(plan *p, k_val v, cg_ref turn)
{
    if (v == p->s->dst)
        return cg_splat(p->g, turn);
    if (p->g->stamp[v] != p->stamp)
        return cg_vec(p->g, v);
    const k_value *value = p->g->k->value.at;
    const k_stmt *s = &p->g->k->stmt.at[value[v].def];
    cg_ref in[3] = {0};
    for (unsigned i = 0; i < ir_ops[s->sub].arity; i++)
        in[i] = vector_at(p, s->in[i], turn);
    return cg_op(p->g, (ir_op)s->sub, (ir_type)value[s->in[0]].type, (ir_type)value[v].type, in);
}

/* Rows that are anywhere: it must be worth it to find out where, and lanes must not write to each other's. */
static bool may_be_apart(const plan *p, const k_stmt *s)
{
    const k_value *from = &p->g->k->value.at[p->s->in[0]], *to = &p->g->k->value.at[p->s->in[1]];
    bool few = from->kind == KV_LITERAL && to->kind == KV_LITERAL && (int64_t)(to->bits - from->bits) < LEAST_APART;
    return s->op == K_LOAD && p->g->lanes > 1 && !few;
}

static bool walks_rows(plan *p, const k_stmt *s)
{
    const kernel *k = p->g->k;
    const k_value *index = &k->value.at[s->in[0]];
    if (k->mem.at[s->mem].space == K_PRIVATE || k->mem.at[s->mem].every ||
        !cg_tile_rows(p->g, (unsigned)ir_type_size((ir_type)k->mem.at[s->mem].type)))
        return false;
    if (index->shape == K_UNIFORM || (index->shape == K_AFFINE && index->step >= -1 && index->step <= 1))
        return false;
    if (index->shape == K_VARYING &&
        (!may_be_apart(p, s) ||
         cg_lanes_share(p->g, s->in[0], (unsigned)ir_type_size((ir_type)k->mem.at[s->mem].type))))
        return false;
    p->budget = MOST_TERMS;
    int64_t grows = growth(p, s->in[0]);
    return grows == 1 || (grows == -1 && index->shape != K_VARYING);
}

/* Does the loop touch the memory in another way than statement `own`? Then order between turns matters. */
static bool touched_otherwise(const plan *p, k_ref list, k_ref own)
{
    const kernel *k = p->g->k;
    const k_stmt *o = &k->stmt.at[own];
    for (k_ref r = list; r; r = k->stmt.at[r].next) {
        const k_stmt *s = &k->stmt.at[r];
        if (r != own && s->mem == o->mem && !(s->op == K_LOAD && o->op == K_LOAD) &&
            !((s->op == K_LOAD) != (o->op == K_LOAD) && s->in[0] == o->in[0] && s->op != K_ATOMIC &&
              s->op != K_COMPACT))
            return true;
        if (touched_otherwise(p, s->body, own) || touched_otherwise(p, s->orelse, own))
            return true;
    }
    return false;
}

/* The widest element decides how many turns a tile has; rows of fewer than 16 bytes cannot be transposed. */
static void add_access(plan *p, k_ref id)
{
    const k_memory *m = &p->g->k->mem.at[p->g->k->stmt.at[id].mem];
    unsigned bytes = (unsigned)ir_type_size((ir_type)m->type), rows = cg_tile_rows(p->g, bytes);
    unsigned narrowest = p->accesses && p->narrowest < bytes ? p->narrowest : bytes;
    if (p->accesses && p->rows < rows)
        rows = p->rows;
    if (rows * narrowest < 16)
        return;
    p->rows = rows;
    p->narrowest = narrowest;
    p->budget = MOST_TERMS;
    p->access[p->accesses].stmt = id;
    p->access[p->accesses].falls = growth(p, p->g->k->stmt.at[id].in[0]) < 0;
    p->access[p->accesses++].bytes = bytes;
}

/* Accesses of the loop's own list. Reading ahead is safe because nothing but a CHECK before the access could have kept
 * a lane from reading its row: behind one, nothing is tiled. */
static void find_accesses(plan *p)
{
    const kernel *k = p->g->k;
    for (k_ref r = p->s->body; r && p->accesses < CG_MOST_TILES; r = k->stmt.at[r].next) {
        const k_stmt *s = &k->stmt.at[r];
        bool compound = s->op == K_IF || s->op == K_LOOP || s->op == K_FOR;
        if ((s->op == K_CHECK && !cg_is_vouched(p->g, r)) || (compound && p->g->facts[r].checks))
            return;
        if ((s->op == K_LOAD || s->op == K_STORE) && walks_rows(p, s) && !touched_otherwise(p, p->s->body, r))
            add_access(p, r);
    }
}

/* --- the loop --- */

static cg_ref memory_at(plan *p, const k_stmt *s, cg_ref turn)
{
    return cg_element(p->g, s->mem, value_at(p, s->in[0], turn, 0));
}

/* Distances of all rows from the memory's first element, in bytes. */
static cg_ref distances(plan *p, const k_stmt *s, unsigned bytes, cg_ref from)
{
    cg *g = p->g;
    LLVMTypeRef wide = LLVMVectorType(g->i64, g->lanes);
    cg_ref slot = cg_alloca(g, wide, 64, "apart"), first = vector_at(p, s->in[0], from);
    LLVMBuildStore(g->b, LLVMBuildMul(g->b, first, cg_splat(g, cg_i64(g, bytes)), ""), slot);
    return slot;
}

static cg_ref extreme(cg *g, const char *name, cg_ref a, cg_ref b)
{
    return a ? cg_call(g, name, 1, &g->i64, 2, (cg_ref[]){a, b}) : b;
}

/* An access that reads the same rows as an earlier one, up to SHIFT turns sooner or later, needs no tile of its own. */
static void share_tiles(plan *p, unsigned k, cg_ref from)
{
    cg *g = p->g;
    LLVMBuilderRef b = g->b;
    const k_stmt *s = &g->k->stmt.at[p->access[k].stmt];
    unsigned i = 0;
    for (; i < k; i++) {
        const k_stmt *o = &g->k->stmt.at[p->access[i].stmt];
        if (o->op == K_LOAD && o->mem == s->mem && !p->access[i].shared && !p->access[i].apart && !p->access[i].falls)
            break;
    }
    if (i == k || s->op != K_LOAD || p->access[k].apart || p->access[k].falls || p->rows < 4 * SHIFT)
        return;
    cg_ref zero = cg_i64(g, 0), shift = LLVMBuildSub(b, value_at(p, s->in[0], from, 0),
                                                     value_at(p, g->k->stmt.at[p->access[i].stmt].in[0], from, 0), "");
    cg_ref near = LLVMBuildICmp(b, LLVMIntULE, LLVMBuildAdd(b, shift, cg_i64(g, SHIFT), ""), cg_i64(g, 2 * SHIFT), "");
    cg_ref alike = LLVMBuildICmp(b, LLVMIntEQ, p->access[k].step, p->access[i].step, "");
    cg_ref shared = LLVMBuildAnd(b, near, alike, "");
    if (LLVMIsAConstantInt(shared) && !LLVMConstIntGetZExtValue(shared))
        return;
    p->access[k].shared = shared;
    p->access[k].leader = i;
    p->access[k].shift = shift = LLVMBuildSelect(b, shared, shift, zero, "");
    p->access[i].low = extreme(g, "llvm.smin", p->access[i].low ? p->access[i].low : zero, shift);
    p->access[i].high = extreme(g, "llvm.smax", p->access[i].high ? p->access[i].high : zero, shift);
}

static void find_reach(plan *p)
{
    for (unsigned i = 0; i < p->accesses; i++)
        if (p->access[i].low)
            p->reach =
                extreme(p->g, "llvm.smax", p->reach, LLVMBuildSub(p->g->b, p->access[i].high, p->access[i].low, ""));
}

static void prepare(plan *p, cg_ref from)
{
    cg *g = p->g;
    for (unsigned i = 0; i < p->accesses; i++) {
        const k_stmt *s = &g->k->stmt.at[p->access[i].stmt];
        unsigned bytes = p->access[i].bytes;
        uint8_t shape = g->k->value.at[s->in[0]].shape;
        if (shape == K_VARYING) {
            p->access[i].apart = distances(p, s, bytes, from);
        } else {
            cg_ref step = LLVMBuildSub(g->b, value_at(p, s->in[0], from, 1), value_at(p, s->in[0], from, 0), "");
            if (shape == K_AFFINE)
                step = cg_i64(g, g->k->value.at[s->in[0]].step);
            p->access[i].step = LLVMBuildMul(g->b, step, cg_i64(g, bytes), "");
        }
        p->access[i].buffer = cg_alloca(g, LLVMArrayType(g->i8, p->rows * g->lanes * bytes), 64, "tile");
        g->tile[g->tiles++] = (cg_tiled){.stmt = p->access[i].stmt, .buffer = p->access[i].buffer};
        share_tiles(p, i, from);
    }
    find_reach(p);
}

/* What `count` turns from this one on have of the rows. */
static cg_rows rows_of(plan *p, unsigned i, cg_ref turn, cg_ref count)
{
    const k_stmt *s = &p->g->k->stmt.at[p->access[i].stmt];
    if (p->access[i].falls) /* the last turn has the first of these elements */
        turn = LLVMBuildSub(p->g->b, LLVMBuildAdd(p->g->b, turn, count, ""), cg_i64(p->g, 1), "");
    return (cg_rows){.bytes = p->access[i].bytes,
                     .rows = p->rows,
                     .memory = memory_at(p, s, turn),
                     .step = p->access[i].step,
                     .buffer = p->access[i].buffer,
                     .count = count};
}

/* The same of rows that are anywhere. Where they lie one behind the other, a gang's behind those of the gang before,
 * each lane fetches what is as far ahead as they are long together. */
static cg_rows rows_apart(plan *p, unsigned i, cg_ref turn, cg_ref count, cg_ref from, cg_ref all)
{
    cg *g = p->g;
    LLVMBuilderRef b = g->b;
    LLVMTypeRef i64 = g->i64;
    const k_stmt *s = &g->k->stmt.at[p->access[i].stmt];
    unsigned bytes = p->access[i].bytes;
    cg_rows r = {
        .bytes = bytes, .rows = p->rows, .apart = p->access[i].apart, .buffer = p->access[i].buffer, .count = count};
    cg_ref done = LLVMBuildMul(b, LLVMBuildSub(b, turn, from, ""), cg_i64(g, bytes), "");
    r.memory = cg_bytes_on(g, cg_element(g, s->mem, cg_i64(g, 0)), done);
    if (g->k->mem.at[s->mem].space != K_GLOBAL)
        return r;
    cg_ref last = cg_i64(g, g->lanes - 1);
    cg_ref low = LLVMBuildLoad2(b, i64, r.apart, ""), high = LLVMBuildGEP2(b, i64, r.apart, &last, 1, "");
    cg_ref gang = LLVMBuildSub(b, LLVMBuildLoad2(b, i64, high, ""), low, "");
    cg_ref most = LLVMBuildMul(b, all, cg_i64(g, (int64_t)bytes * g->lanes), "");
    cg_ref dense = LLVMBuildICmp(b, LLVMIntULE, gang, most, "");
    cg_ref distance = cg_call(g, "llvm.umax", 1, &i64, 2, (cg_ref[]){gang, cg_i64(g, 2 * NEAR_AHEAD)});
    r.ahead = cg_bytes_on(g, r.memory, LLVMBuildSelect(b, dense, distance, cg_i64(g, ROW_AHEAD), ""));
    r.ahead_step = cg_i64(g, 0);
    return r;
}

static void flush(plan *p, cg_ref turn, cg_ref count)
{
    for (unsigned i = 0; i < p->accesses; i++) {
        if (p->g->k->stmt.at[p->access[i].stmt].op == K_LOAD)
            continue;
        cg_rows r = rows_of(p, i, turn, count);
        cg_copy_tile(p->g, CG_FLUSH, &r);
    }
}

/* Many rows read in turn are more streams than the memory likes. Where the rows of a gang lie one behind the other, as
 * those of the next gang do behind them, the next gang is prefetched in the order of its addresses, a tile's worth with
 * every tile. Else, or where that would be too far ahead, every row is prefetched some lines ahead. */
static void look_ahead(plan *p, cg_rows *r, bool falls, cg_ref turn, cg_ref from, cg_ref all)
{
    cg *g = p->g;
    LLVMBuilderRef b = g->b;
    LLVMTypeRef i64 = g->i64;
    cg_ref lane_bytes = cg_i64(g, (int64_t)g->lanes * r->bytes);
    cg_ref gang = LLVMBuildMul(b, r->step, cg_i64(g, g->lanes), "");
    /* A loop that leaves out a row's first element has a small gap between its rows: still one stretch to the memory.
     */
    cg_ref gap = LLVMBuildSub(b, r->step, LLVMBuildMul(b, all, cg_i64(g, r->bytes), ""), "");
    cg_ref dense = LLVMBuildICmp(b, LLVMIntULE, gap, cg_i64(g, 64), "");
    cg_ref near = LLVMBuildICmp(b, LLVMIntULE, gang, cg_i64(g, FAR_AHEAD / p->accesses), "");
    cg_ref linear = LLVMBuildAnd(b, dense, near, "");
    cg_ref done = LLVMBuildSub(b, turn, from, "");
    cg_ref distance = cg_call(g, "llvm.umax", 1, &i64, 2, (cg_ref[]){gang, cg_i64(g, NEAR_AHEAD)});
    /* r->memory has moved on, or back, by the turns done; in the order of addresses that is a tile of all lanes. */
    cg_ref moved = cg_i64(g, falls ? -(int64_t)r->bytes : (int64_t)r->bytes);
    distance = LLVMBuildAdd(b, distance, LLVMBuildMul(b, done, LLVMBuildSub(b, lane_bytes, moved, ""), ""), "");
    distance = LLVMBuildSelect(b, linear, distance, cg_i64(g, falls ? -ROW_AHEAD : ROW_AHEAD), "");
    r->ahead = LLVMBuildGEP2(b, g->i8, r->memory, &distance, 1, "");
    r->ahead_step = LLVMBuildSelect(b, linear, cg_i64(g, (int64_t)p->rows * r->bytes), r->step, "");
}

static bool is_far(const plan *p, unsigned i)
{
    return p->g->k->stmt.at[p->access[i].stmt].sub == K_AHEAD;
}

/* Rows that lie one behind the other are read as one stretch, for a few lengths. */
static void fill_dense_or_tile(plan *p, unsigned i, cg_ref turn, cg_ref count, cg_ref from, cg_ref all)
{
    cg *g = p->g;
    if (p->access[i].apart) {
        cg_rows apart = rows_apart(p, i, turn, count, from, all);
        cg_copy_tile(g, CG_FILL, &apart);
        return;
    }
    cg_ref low = p->access[i].low;
    cg_ref more = low ? LLVMBuildSub(g->b, p->access[i].high, low, "") : NULL;
    cg_rows r = rows_of(p, i, low ? LLVMBuildAdd(g->b, turn, low, "") : turn,
                        low ? LLVMBuildAdd(g->b, count, more, "") : count);
    LLVMBasicBlockRef end = cg_block(g, "filled");
    bool known = LLVMIsAConstantInt(all) && LLVMIsAConstantInt(r.step);
    for (unsigned columns = 2; columns <= 8 && (!g->mask.on || g->mask.full); columns++) {
        if (!cg_has_dense(g, r.bytes, columns) || (!known && columns > 4 && columns != 8))
            continue;
        cg_ref is = LLVMBuildAnd(g->b, LLVMBuildICmp(g->b, LLVMIntEQ, all, cg_i64(g, columns), ""),
                                 LLVMBuildICmp(g->b, LLVMIntEQ, r.step, cg_i64(g, (int64_t)columns * r.bytes), ""), "");
        if (g->mask.full)
            is = LLVMBuildAnd(g->b, is, g->mask.full, "");
        if (more)
            is = LLVMBuildAnd(g->b, is, LLVMBuildICmp(g->b, LLVMIntEQ, more, cg_i64(g, 0), ""), "");
        if (LLVMIsAConstantInt(is) && !LLVMConstIntGetZExtValue(is))
            continue;
        LLVMBasicBlockRef yes = cg_block(g, "dense"), no = cg_block(g, "not_dense");
        cg_cond(g, is, yes, no);
        cg_at(g, yes);
        cg_fill_dense(g, r.bytes, columns, r.memory, is_far(p, i), r.buffer);
        cg_br(g, end);
        cg_at(g, no);
    }
    look_ahead(p, &r, p->access[i].falls, turn, from, all);
    cg_copy_tile(g, CG_FILL, &r);
    cg_br(g, end);
    cg_at(g, end);
}

static void fill(plan *p, cg_ref turn, cg_ref count, cg_ref from, cg_ref all)
{
    cg *g = p->g;
    for (unsigned i = 0; i < p->accesses; i++) {
        if (g->k->stmt.at[p->access[i].stmt].op != K_LOAD)
            continue;
        if (!p->access[i].shared) {
            fill_dense_or_tile(p, i, turn, count, from, all);
            continue;
        }
        LLVMBasicBlockRef own = cg_block(g, "own"), end = cg_block(g, "there");
        cg_cond(g, p->access[i].shared, end, own);
        cg_at(g, own);
        fill_dense_or_tile(p, i, turn, count, from, all);
        cg_br(g, end);
        cg_at(g, end);
    }
}

static void set_rows(plan *p, unsigned first_tile, cg_ref turn_in_tile, cg_ref count)
{
    cg *g = p->g;
    for (unsigned i = 0; i < p->accesses; i++) {
        cg_ref buffer = p->access[i].buffer, shared = p->access[i].shared, low = p->access[i].low;
        if (shared) {
            unsigned of = p->access[i].leader;
            buffer = LLVMBuildSelect(g->b, shared, p->access[of].buffer, buffer, "");
            low = LLVMBuildSub(g->b, p->access[of].low, p->access[i].shift, "");
            low = LLVMBuildSelect(g->b, shared, low, cg_i64(g, 0), "");
        }
        cg_ref turn = low ? LLVMBuildSub(g->b, turn_in_tile, low, "") : turn_in_tile;
        if (p->access[i].falls)
            turn = LLVMBuildSub(g->b, LLVMBuildSub(g->b, count, cg_i64(g, 1), ""), turn_in_tile, "");
        cg_ref at = LLVMBuildMul(g->b, turn, cg_i64(g, (int64_t)g->lanes * p->access[i].bytes), "");
        g->tile[first_tile + i].row = LLVMBuildGEP2(g->b, g->i8, buffer, &at, 1, "");
    }
}

/* --- rows that lie across the tiles --- */

/* Is v made by integer arithmetic from what is known around the loop, and its counter? */
static bool is_arithmetic(plan *p, k_val v)
{
    const kernel *k = p->g->k;
    const k_value *x = &k->value.at[v];
    if (v == p->s->dst)
        return true;
    if (p->g->stamp[v] != p->stamp)
        return x->kind != KV_VARIABLE;
    const k_stmt *s = &k->stmt.at[x->def];
    if (x->kind != KV_RESULT || x->type != T_I64 || s->op != K_LET || !p->budget)
        return false;
    p->budget--;
    for (unsigned i = 0; i < ir_ops[s->sub].arity; i++)
        if (k->value.at[s->in[i]].type != T_I64 || !is_arithmetic(p, s->in[i]))
            return false;
    return true;
}

/* Does a gang read or write neighbours in this memory, in another row with each turn? */
static bool goes_across(plan *p, k_ref id)
{
    const k_stmt *s = &p->g->k->stmt.at[id];
    if ((s->op != K_LOAD && s->op != K_STORE) || cg_tile_of(p->g, id))
        return false;
    const k_memory *m = &p->g->k->mem.at[s->mem];
    const k_value *index = &p->g->k->value.at[s->in[0]];
    if (m->space != K_GLOBAL || m->every || m->stream || index->shape != K_AFFINE || index->step != 1)
        return false;
    p->budget = MOST_TERMS;
    return is_arithmetic(p, s->in[0]);
}

/* Where lane 0 will be some turns on, in the rounds of the gang behind this one if that is behind the last turn. */
static cg_ref place_later(plan *p, const k_stmt *s, const span *all, cg_ref turn)
{
    cg *g = p->g;
    LLVMBuilderRef b = g->b;
    LLVMTypeRef i64 = g->i64;
    cg_ref turns = LLVMBuildSub(b, all->to, all->from, "");
    cg_ref further = cg_call(g, "llvm.smin", 1, &i64, 2, (cg_ref[]){turns, cg_i64(g, p->rows)});
    cg_ref later = LLVMBuildAdd(b, turn, further, ""), behind = LLVMBuildICmp(b, LLVMIntSGE, later, all->to, "");
    later = LLVMBuildSelect(b, behind, LLVMBuildSub(b, later, turns, ""), later, "");
    cg_ref at = value_at(p, s->in[0], later, 0);
    return LLVMBuildAdd(b, at, LLVMBuildSelect(b, behind, cg_i64(g, g->lanes), cg_i64(g, 0), ""), "");
}

/* Are there lines between what a gang has of a row and what it has of the next? */
static cg_ref are_apart(plan *p, const k_stmt *s, cg_ref from)
{
    LLVMBuilderRef b = p->g->b;
    int64_t size = (int64_t)ir_type_size((ir_type)p->g->k->mem.at[s->mem].type);
    cg_ref next = value_at(p, s->in[0], LLVMBuildAdd(b, from, cg_i64(p->g, 1), ""), 0);
    cg_ref apart = LLVMBuildSub(b, next, value_at(p, s->in[0], from, 0), ""), line = cg_i64(p->g, LINE / size);
    return LLVMBuildICmp(b, LLVMIntUGT, LLVMBuildAdd(b, apart, line, ""), LLVMBuildShl(b, line, cg_i64(p->g, 1), ""),
                         "");
}

/* A part of each of many rows is what processors do not look ahead at: its lines, and the one in which it ends, are
 * fetched a tile before. What is written takes longest, for stores leave in order. */
static void fetch_across(plan *p, k_ref id, const span *all, cg_ref turn)
{
    cg *g = p->g;
    const k_stmt *s = &g->k->stmt.at[id];
    unsigned size = (unsigned)ir_type_size((ir_type)g->k->mem.at[s->mem].type), bytes = size * g->lanes;
    LLVMBasicBlockRef fetch = cg_block(g, "fetch"), end = cg_block(g, "fetched");
    cg_cond(g, are_apart(p, s, all->from), fetch, end);
    cg_at(g, fetch);
    cg_ref pointer = cg_element(g, s->mem, place_later(p, s, all, turn));
    for (unsigned at = 0; at < bytes + LINE; at += LINE) {
        cg_ref line = cg_bytes_on(g, pointer, cg_i64(g, at < bytes ? at : bytes - 1));
        cg_ref in[] = {line, cg_i32(g, s->op == K_STORE), cg_i32(g, 3), cg_i32(g, 1)};
        cg_call(g, "llvm.prefetch", 1, &g->ptr, 4, in);
    }
    cg_br(g, end);
    cg_at(g, end);
}

static void turns(plan *p, unsigned first_tile, const span *all, cg_ref start, cg_ref count, const cg_facts *inside)
{
    cg *g = p->g;
    cg_mask outer = g->mask;
    LLVMBasicBlockRef before = cg_here(g), body = cg_block(g, "turn"), end = cg_block(g, "turns");
    cg_br(g, body);
    cg_at(g, body);
    cg_ref j = LLVMBuildPhi(g->b, g->i64, "j");
    cg_restore(g, outer, inside);
    set_rows(p, first_tile, j, count);
    cg_ref turn = LLVMBuildAdd(g->b, start, j, "");
    for (k_ref r = p->s->body; r; r = g->k->stmt.at[r].next)
        if (goes_across(p, r))
            fetch_across(p, r, all, turn);
    cg_define(g, p->s->dst, turn);
    cg_list(g, p->s->body);
    cg_ref next = LLVMBuildNSWAdd(g->b, j, cg_i64(g, 1), "");
    LLVMAddIncoming(j, (cg_ref[]){cg_i64(g, 0), next}, (LLVMBasicBlockRef[]){before, cg_here(g)}, 2);
    cg_cond(g, LLVMBuildICmp(g->b, LLVMIntSLT, next, count, ""), body, end);
    cg_at(g, end);
    cg_restore(g, outer, inside);
}

static void tiled_loop(plan *p, k_ref id)
{
    cg *g = p->g;
    LLVMTypeRef i64 = g->i64;
    const cg_facts *inside = &g->facts[id];
    cg_mask outer = g->mask;
    unsigned first_tile = g->tiles;
    cg_ref from = cg_scalar(g, p->s->in[0]), to = cg_scalar(g, p->s->in[1]);
    cg_ref all = LLVMBuildSub(g->b, to, from, "");
    prepare(p, from);
    LLVMBasicBlockRef before = cg_here(g), body = cg_block(g, "tiles"), end = cg_block(g, "end_tiles");
    cg_cond(g, LLVMBuildICmp(g->b, LLVMIntSLT, from, to, ""), body, end);
    cg_at(g, body);
    cg_ref start = LLVMBuildPhi(g->b, g->i64, "start");
    cg_restore(g, outer, inside);
    cg_ref left = LLVMBuildSub(g->b, to, start, "");
    cg_ref most = cg_i64(g, p->rows);
    if (p->reach)
        most = LLVMBuildSub(g->b, most, p->reach, "");
    cg_ref count = cg_call(g, "llvm.smin", 1, &i64, 2, (cg_ref[]){left, most});
    fill(p, start, count, from, all);
    turns(p, first_tile, &(span){from, to}, start, count, inside);
    flush(p, start, count);
    cg_ref next = LLVMBuildNSWAdd(g->b, start, most, "");
    LLVMAddIncoming(start, (cg_ref[]){from, next}, (LLVMBasicBlockRef[]){before, cg_here(g)}, 2);
    cg_cond(g, LLVMBuildICmp(g->b, LLVMIntSLT, next, to, ""), body, end);
    cg_at(g, end);
    cg_restore(g, outer, inside);
    g->tiles = first_tile;
}

/* --- rows that are anywhere: no buffer, as many turns one behind the other as elements are loaded together --- */

/* How many turns are taken together; 0: rows are not all anywhere, or there would be too much code. */
static unsigned together(plan *p, k_ref id)
{
    cg *g = p->g;
    const cg_facts *inside = &g->facts[id];
    unsigned turns = 0;
    if (g->mask.on || inside->checks || inside->loops)
        return 0;
    for (unsigned i = 0; i < p->accesses; i++) {
        const k_stmt *s = &g->k->stmt.at[p->access[i].stmt];
        unsigned own = cg_turns_together(g, p->access[i].bytes);
        if (s->op != K_LOAD || g->k->value.at[s->in[0]].shape != K_VARYING)
            return 0;
        turns = own > turns ? own : turns;
    }
    return turns * inside->statements <= MOST_TOGETHER ? turns : 0;
}

/* Where the addresses of all rows are. */
static cg_ref addresses(plan *p, unsigned i, cg_ref from)
{
    cg *g = p->g;
    const k_stmt *s = &g->k->stmt.at[p->access[i].stmt];
    cg_ref slot = cg_alloca(g, LLVMVectorType(g->i64, g->lanes), 64, "rows"), first = vector_at(p, s->in[0], from);
    cg_ref origin = LLVMBuildPtrToInt(g->b, cg_element(g, s->mem, cg_i64(g, 0)), g->i64, "");
    first = LLVMBuildMul(g->b, first, cg_splat(g, cg_i64(g, p->access[i].bytes)), "");
    LLVMBuildStore(g->b, LLVMBuildAdd(g->b, first, cg_splat(g, origin), ""), slot);
    return slot;
}

/* Where no more lies between the rows of neighbouring lanes, all in all, than the rows themselves, those of the next
 * gang are expected behind those of this one, and fetched. Returns which turn is the next in which rows are fetched one
 * by one: never, or the first. */
static cg_ref fetch_next_gang(plan *p, unsigned i, cg_ref all)
{
    cg *g = p->g;
    LLVMBuilderRef b = g->b;
    LLVMTypeRef i64 = g->i64;
    cg_ref last = cg_i64(g, g->lanes - 1), rows = p->access[i].apart;
    cg_ref row = LLVMBuildMul(b, all, cg_i64(g, p->access[i].bytes), "");
    cg_ref low = LLVMBuildLoad2(b, g->ptr, rows, "");
    cg_ref high = LLVMBuildLoad2(b, g->ptr, LLVMBuildGEP2(b, i64, rows, &last, 1, ""), "");
    cg_ref gang = LLVMBuildSub(b, LLVMBuildPtrToInt(b, high, i64, ""), LLVMBuildPtrToInt(b, low, i64, ""), "");
    cg_ref dense = LLVMBuildICmp(b, LLVMIntULE, gang, LLVMBuildMul(b, row, cg_i64(g, g->lanes), ""), "");
    cg_ref distance = cg_call(g, "llvm.umax", 1, &i64, 2, (cg_ref[]){gang, cg_i64(g, 2 * NEAR_AHEAD)});
    p->access[i].ahead = cg_bytes_on(g, low, distance);
    p->access[i].to_fetch = LLVMBuildSelect(b, dense, LLVMBuildAdd(b, gang, row, ""), cg_i64(g, 0), "");
    return LLVMBuildSelect(b, dense, cg_i64(g, -1), cg_i64(g, 0), "");
}

/* What `n` turns of all lanes have is fetched of the next gang, so that the memory is asked all the time. */
static void fetch_some(plan *p, unsigned i, unsigned n, cg_ref done)
{
    cg *g = p->g;
    LLVMBuilderRef b = g->b;
    unsigned bytes = n * g->lanes * p->access[i].bytes;
    LLVMBasicBlockRef fetch = cg_block(g, "ahead"), end = cg_block(g, "fetched");
    cg_ref at = LLVMBuildMul(b, done, cg_i64(g, (int64_t)g->lanes * p->access[i].bytes), "");
    cg_cond(g, LLVMBuildICmp(b, LLVMIntULT, at, p->access[i].to_fetch, ""), fetch, end);
    cg_at(g, fetch);
    cg_ref first = cg_bytes_on(g, p->access[i].ahead, at);
    for (unsigned line = 0; line < bytes; line += LINE)
        cg_prefetch(g, cg_bytes_on(g, first, cg_i64(g, line)));
    cg_br(g, end);
    cg_at(g, end);
}

/* Rows that lie far from each other: each is fetched some lines ahead, once a line. `done` turns lie behind; returns in
 * which turn it is done again. */
static cg_ref fetch_rows(plan *p, unsigned i, cg_ref when, cg_ref done)
{
    cg *g = p->g;
    LLVMBuilderRef b = g->b;
    LLVMBasicBlockRef here = cg_here(g), far = cg_block(g, "rows.ahead"), end = cg_block(g, "rows.fetched");
    cg_unlikely(g, LLVMBuildICmp(b, LLVMIntEQ, done, when, ""), far, end);
    cg_at(g, far);
    cg_ref behind = LLVMBuildMul(b, done, cg_i64(g, p->access[i].bytes), "");
    cg_prefetch_apart(g, p->access[i].apart, LLVMBuildAdd(b, behind, cg_i64(g, ROW_AHEAD), ""));
    cg_ref next = LLVMBuildAdd(b, when, cg_i64(g, LINE / p->access[i].bytes), "");
    cg_br(g, end);
    cg_at(g, end);
    return cg_phi2(g, when, here, next, far);
}

static void turns_together(plan *p, unsigned n)
{
    cg *g = p->g;
    LLVMBuilderRef b = g->b;
    unsigned first_tile = g->tiles;
    cg_ref from = cg_scalar(g, p->s->in[0]), to = cg_scalar(g, p->s->in[1]), *column[CG_MOST_TILES];
    cg_ref all = LLVMBuildSub(b, to, from, ""), first_time[CG_MOST_TILES] = {0}, when[CG_MOST_TILES] = {0};
    LLVMBasicBlockRef some = cg_block(g, "rows"), body = cg_block(g, "columns"), end = cg_block(g, "end_columns");
    cg_cond(g, LLVMBuildICmp(b, LLVMIntSLT, from, to, ""), some, end);
    cg_at(g, some);
    for (unsigned i = 0; i < p->accesses; i++) {
        bool global = g->k->mem.at[g->k->stmt.at[p->access[i].stmt].mem].space == K_GLOBAL;
        column[i] = arena_array(g->arena, **column, n);
        p->access[i].apart = addresses(p, i, from);
        first_time[i] = global ? fetch_next_gang(p, i, all) : NULL;
        g->tile[g->tiles++] = (cg_tiled){.stmt = p->access[i].stmt};
    }
    some = cg_here(g);
    cg_br(g, body);
    cg_at(g, body);
    cg_ref start = LLVMBuildPhi(b, g->i64, "start"), time[CG_MOST_TILES];
    for (unsigned i = 0; i < p->accesses; i++)
        time[i] = first_time[i] ? LLVMBuildPhi(b, g->i64, "time") : NULL;
    cg_ref left = LLVMBuildSub(b, to, start, ""), done = LLVMBuildSub(b, start, from, "");
    for (unsigned i = 0; i < p->accesses; i++) {
        unsigned bytes = p->access[i].bytes;
        cg_columns c = {.bytes = bytes, .turns = n, .rows = p->access[i].apart, .left = left};
        c.behind = LLVMBuildMul(b, done, cg_i64(g, bytes), "");
        when[i] = time[i] ? fetch_rows(p, i, time[i], done) : NULL;
        if (time[i])
            fetch_some(p, i, n, done);
        cg_apart_columns(g, &c, column[i]);
    }
    for (unsigned j = 0; j < n; j++) {
        for (unsigned i = 0; i < p->accesses; i++)
            g->tile[first_tile + i].vector = column[i][j];
        cg_define(g, p->s->dst, LLVMBuildAdd(b, start, cg_i64(g, j), ""));
        cg_list(g, p->s->body);
        if (j + 1 < n) {
            LLVMBasicBlockRef turn = cg_block(g, "turn");
            cg_cond(g, LLVMBuildICmp(b, LLVMIntSGT, left, cg_i64(g, j + 1), ""), turn, end);
            cg_at(g, turn);
        }
    }
    LLVMBasicBlockRef before[] = {some, cg_here(g)};
    cg_ref next = LLVMBuildNSWAdd(b, start, cg_i64(g, n), "");
    LLVMAddIncoming(start, (cg_ref[]){from, next}, before, 2);
    for (unsigned i = 0; i < p->accesses; i++)
        if (time[i])
            LLVMAddIncoming(time[i], (cg_ref[]){first_time[i], when[i]}, before, 2);
    cg_cond(g, LLVMBuildICmp(b, LLVMIntSLT, next, to, ""), body, end);
    cg_at(g, end);
    g->tiles = first_tile;
}

/* --- a few turns over rows without gaps: no buffer, the turns one behind the other --- */

static bool constant_step(plan *p, unsigned i, int64_t columns)
{
    const k_value *index = &p->g->k->value.at[p->g->k->stmt.at[p->access[i].stmt].in[0]];
    return index->shape == K_AFFINE && index->step == columns &&
           cg_has_dense(p->g, p->access[i].bytes, (unsigned)columns);
}

/* All rows read as stretches of known length? */
static bool is_dense(plan *p, k_ref id, int64_t columns)
{
    cg *g = p->g;
    if (g->mask.on || columns < 2 || columns > CG_MOST_DEALT || g->facts[id].statements > MOST_DENSE)
        return false;
    for (unsigned i = 0; i < p->accesses; i++)
        if (g->k->stmt.at[p->access[i].stmt].op != K_LOAD || !constant_step(p, i, columns))
            return false;
    return true;
}

static void dense_turns(plan *p, int64_t from, int64_t columns)
{
    cg *g = p->g;
    unsigned first_tile = g->tiles;
    cg_ref column[CG_MOST_TILES][CG_MOST_COLUMNS];
    for (unsigned i = 0; i < p->accesses; i++) {
        int64_t lowest = p->access[i].falls ? from + columns - 1 : from;
        cg_ref memory = memory_at(p, &g->k->stmt.at[p->access[i].stmt], cg_i64(g, lowest));
        cg_dense_columns(g, p->access[i].bytes, (unsigned)columns, memory, (unsigned)columns, is_far(p, i), column[i]);
        g->tile[g->tiles++] = (cg_tiled){.stmt = p->access[i].stmt};
    }
    for (int64_t j = 0; j < columns; j++) {
        for (unsigned i = 0; i < p->accesses; i++)
            g->tile[first_tile + i].vector = column[i][p->access[i].falls ? columns - 1 - j : j];
        cg_define(g, p->s->dst, cg_i64(g, from + j));
        cg_list(g, p->s->body);
    }
    g->tiles = first_tile;
}

bool cg_tiled_for(cg *g, k_ref id)
{
    plan p = {.g = g, .s = &g->k->stmt.at[id]};
    const k_value *from = &g->k->value.at[p.s->in[0]], *to = &g->k->value.at[p.s->in[1]];
    bool literal = from->kind == KV_LITERAL && to->kind == KV_LITERAL;
    int64_t columns = literal ? (int64_t)to->bits - (int64_t)from->bits : 0;
    if (literal && columns < 2)
        return false;
    if (!g->stamp)
        g->stamp = arena_array(g->arena, *g->stamp, g->k->value.n);
    p.stamp = ++g->stamps;
    mark(&p, p.s->body);
    find_accesses(&p);
    if (!p.accesses)
        return false;
    if (g->tiles + p.accesses > CG_MOST_TILES)
        p.accesses = CG_MOST_TILES - g->tiles;
    if (!p.accesses)
        return false;
    unsigned n;
    if (literal && is_dense(&p, id, columns))
        dense_turns(&p, (int64_t)from->bits, columns);
    else if ((n = together(&p, id)))
        turns_together(&p, n);
    else
        tiled_loop(&p, id);
    return true;
}
