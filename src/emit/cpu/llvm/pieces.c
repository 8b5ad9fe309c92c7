/* Loads at an index that is a row in pieces: clamped at the edges of an array, turned round at its end, chosen from two
 * rows. Each piece is loaded where its lanes are, and the lanes are put together: a gather takes an access for each
 * lane. */
#include "emit/cpu/llvm/cg.h"

enum { MOST_PIECES = 4, MOST_DEPTH = 6 };

static bool is_row(const cg *g, k_val v)
{
    const k_value *x = &g->k->value.at[v];
    return x->shape == K_AFFINE && x->step == 1;
}

static bool is_back(const cg *g, k_val v)
{
    const k_value *x = &g->k->value.at[v];
    return x->shape == K_AFFINE && x->step == -1;
}

typedef enum { NO_PIECES, ONE, ROW, BACK, TURNED, MIRRORED, MOVED, CHOSEN, SMALLER, LARGER } form;

static const k_stmt *made_with(const cg *g, k_val v, ir_op op)
{
    const k_stmt *s = cg_definition(g, v);
    return s && s->op == K_LET && s->sub == op ? s : NULL;
}

/* max(min(far, period - far, last), 0) with far = |row| rem period: what a mirrored boundary makes of a row. Where
 * period is twice `last`, the maximum changes nothing. */
typedef struct mirror {
    k_val row, period, last;
} mirror;

/* The operands of nested minima; returns how many, at most 3. */
static unsigned smallest_of(const cg *g, k_val v, k_val *out, unsigned n)
{
    const k_stmt *s = n < 3 ? made_with(g, v, OP_MIN) : NULL;
    if (s)
        return smallest_of(g, s->in[1], out, smallest_of(g, s->in[0], out, n));
    if (n < 3)
        out[n] = v;
    return n + 1;
}

static bool is_mirrored(const cg *g, k_val v, mirror *m)
{
    const k_stmt *max = made_with(g, v, OP_MAX), *rem = NULL;
    k_val part[3], far = 0;
    if (!max)
        return false;
    const k_value *least = &g->k->value.at[max->in[1]];
    if (least->kind != KV_LITERAL || least->bits || smallest_of(g, max->in[0], part, 0) != 3)
        return false;
    *m = (mirror){0};
    for (unsigned i = 0; i < 3 && !rem; i++) {
        rem = made_with(g, part[i], OP_REM);
        far = part[i];
    }
    const k_stmt *abs = rem ? made_with(g, rem->in[0], OP_ABS) : NULL;
    if (!abs || !is_row(g, abs->in[0]) || !cg_is_uniform(g, rem->in[1]))
        return false;
    m->row = abs->in[0];
    m->period = rem->in[1];
    bool back = false;
    for (unsigned i = 0; i < 3; i++) {
        const k_stmt *sub = made_with(g, part[i], OP_SUB);
        back |= sub && sub->in[0] == m->period && sub->in[1] == far;
        if (cg_is_uniform(g, part[i]))
            m->last = part[i];
    }
    return back && m->last;
}

/* MOVED: operand `*base`, and by the other, which is uniform. */
static form form_of(const cg *g, k_val v, k_val *base)
{
    const k_stmt *s = cg_definition(g, v);
    if (cg_is_uniform(g, v))
        return ONE;
    if (is_row(g, v))
        return ROW;
    if (is_back(g, v))
        return BACK;
    if (!s || g->k->value.at[v].type != T_I64)
        return NO_PIECES;
    if (s->op == K_SELECT)
        return CHOSEN;
    mirror m;
    if (s->op != K_LET)
        return NO_PIECES;
    if (is_mirrored(g, v, &m))
        return MIRRORED;
    switch (s->sub) {
    case OP_ADD:
        *base = cg_is_uniform(g, s->in[1]) ? s->in[0] : s->in[1];
        return cg_is_uniform(g, s->in[0]) || cg_is_uniform(g, s->in[1]) ? MOVED : NO_PIECES;
    case OP_SUB:
        *base = s->in[0];
        return cg_is_uniform(g, s->in[1]) ? MOVED : NO_PIECES;
    case OP_MOD:
        return is_row(g, s->in[0]) && cg_is_uniform(g, s->in[1]) ? TURNED : NO_PIECES;
    case OP_MIN:
        return SMALLER;
    case OP_MAX:
        return LARGER;
    default:
        return NO_PIECES;
    }
}

/* How many pieces there are, and rows among them; false: the index is of another form, or of too many. */
static bool count(const cg *g, k_val v, unsigned depth, unsigned *pieces, unsigned *rows)
{
    k_val base = 0;
    form f = depth > MOST_DEPTH ? NO_PIECES : form_of(g, v, &base);
    const k_stmt *s = cg_definition(g, v);
    switch (f) {
    case NO_PIECES:
        return false;
    case ONE:
    case ROW:
    case BACK:
    case TURNED:
    case MIRRORED:
        *rows += f != ONE;
        *pieces += f == TURNED || f == MIRRORED ? 2 : 1;
        return *pieces <= MOST_PIECES;
    case MOVED:
        return count(g, base, depth + 1, pieces, rows);
    case CHOSEN:
        return count(g, s->in[1], depth + 1, pieces, rows) && count(g, s->in[2], depth + 1, pieces, rows);
    default:
        return count(g, s->in[0], depth + 1, pieces, rows) && count(g, s->in[1], depth + 1, pieces, rows);
    }
}

typedef struct load {
    cg *g;
    k_mem mem;
    LLVMTypeRef element, vector;
    unsigned align;
} load;

static cg_ref moved_by(cg *g, cg_ref index, cg_ref by)
{
    return by ? LLVMBuildAdd(g->b, index, by, "") : index;
}

/* The same element for all lanes of the mask. Where there are none, nothing vouches for the index. */
static cg_ref load_one(const load *l, cg_ref index, cg_ref mask)
{
    cg *g = l->g;
    LLVMBasicBlockRef here = cg_here(g), some = cg_block(g, "piece.one"), end = cg_block(g, "piece.end");
    cg_cond(g, cg_mask_any(g, mask), some, end);
    cg_at(g, some);
    cg_ref x = LLVMBuildLoad2(g->b, l->element, cg_element(g, l->mem, index), "");
    LLVMSetAlignment(x, l->align);
    x = cg_splat(g, x);
    cg_br(g, end);
    cg_at(g, end);
    return cg_phi2(g, x, some, cg_zero(l->vector), here);
}

/* Of the two pieces of a row that is turned one is far outside nearly always. No lane loads it, but where there is no
 * memory at all a processor finds that out in some thousand cycles; so it is looked for where there is some. `some`:
 * i1, lanes load it; NULL: the mask says so. */
static cg_ref load_row(const load *l, cg_ref index, cg_ref mask, cg_ref some)
{
    cg *g = l->g;
    index = LLVMBuildSelect(g->b, some ? some : cg_mask_any(g, mask), index, cg_i64(g, 0), "");
    return cg_masked_load(g, l->vector, cg_element(g, l->mem, index), l->align, mask);
}

/* A row modulo an extent. */
typedef struct turned {
    cg_ref extent; /* neither 0 nor -1, which would trap: where lanes are off, or with the results of 1 */
    cg_ref first;  /* lane 0's index */
} turned;

/* Before all branches, so that loads of several rows at the same index share it. */
static turned turn(cg *g, cg_ref row, cg_ref extent)
{
    LLVMBuilderRef b = g->b;
    cg_ref zero = cg_i64(g, 0), one = cg_i64(g, 1);
    cg_ref traps = LLVMBuildICmp(b, LLVMIntULE, LLVMBuildAdd(b, extent, one, ""), one, "");
    turned t = {.extent = LLVMBuildSelect(b, traps, one, extent, "")};
    cg_ref rest = LLVMBuildSRem(b, row, t.extent, "");
    cg_ref other = LLVMBuildICmp(b, LLVMIntSLT, LLVMBuildXor(b, rest, t.extent, ""), zero, "");
    other = LLVMBuildAnd(b, other, LLVMBuildICmp(b, LLVMIntNE, rest, zero, ""), "");
    t.first = LLVMBuildSelect(b, other, LLVMBuildAdd(b, rest, t.extent, ""), rest, "");
    return t;
}

/* With an extent of at least `lanes`: it begins anew once at most. */
static cg_ref load_twice(const load *l, const turned *t, cg_ref by, cg_ref mask)
{
    cg *g = l->g;
    LLVMBuilderRef b = g->b;
    LLVMTypeRef i64 = g->i64;
    cg_ref left = LLVMBuildSub(b, t->extent, t->first, "");
    left = cg_call(g, "llvm.smin", 1, &i64, 2, (cg_ref[]){left, cg_i64(g, g->lanes)});
    cg_ref before = cg_mask_first(g, left);
    cg_ref more = LLVMBuildICmp(b, LLVMIntSLT, left, cg_i64(g, g->lanes), "");
    cg_ref x = load_row(l, moved_by(g, t->first, by), LLVMBuildAnd(b, mask, before, ""), LLVMConstInt(g->i1, 1, false));
    cg_ref again = moved_by(g, LLVMBuildSub(b, t->first, t->extent, ""), by);
    cg_ref y = load_row(l, again, LLVMBuildAnd(b, mask, LLVMBuildNot(b, before, ""), ""), more);
    return LLVMBuildSelect(b, before, x, y, "");
}

/* With any extent, lane by lane: from one to the next the index goes up by one, or begins anew. Up to the last lane
 * that is on; lanes before it that are off read the first element, which is there if a lane is on. */
static cg_ref load_often(const load *l, const turned *t, cg_ref by, cg_ref mask)
{
    cg *g = l->g;
    LLVMBuilderRef b = g->b;
    cg_ref zero = cg_i64(g, 0), one = cg_i64(g, 1), out = cg_alloca(g, l->vector, 64, "elements");
    cg_ref bits = cg_mask_bits(g, mask), none = cg_zero(LLVMTypeOf(bits));
    cg_ref up = LLVMBuildICmp(b, LLVMIntSGT, t->extent, zero, "");
    cg_ref end_of = LLVMBuildSelect(b, up, t->extent, one, "");
    cg_ref start_of = LLVMBuildSelect(b, up, zero, LLVMBuildAdd(b, t->extent, one, ""), "");
    LLVMBuildStore(b, cg_zero(l->vector), out);
    LLVMBasicBlockRef here = cg_here(g), next = cg_block(g, "lane"), end = cg_block(g, "lane.end");
    cg_cond(g, LLVMBuildICmp(b, LLVMIntNE, bits, none, ""), next, end);
    cg_at(g, next);
    cg_ref lane = LLVMBuildPhi(b, g->i64, ""), at = LLVMBuildPhi(b, g->i64, ""),
           left = LLVMBuildPhi(b, LLVMTypeOf(bits), "");
    cg_ref from = LLVMBuildSelect(b, LLVMBuildTrunc(b, left, g->i1, ""), moved_by(g, at, by), zero, "");
    cg_ref x = LLVMBuildLoad2(b, l->element, cg_element(g, l->mem, from), "");
    LLVMSetAlignment(x, l->align);
    LLVMBuildStore(b, x, LLVMBuildGEP2(b, l->element, out, &lane, 1, ""));
    cg_ref after = LLVMBuildAdd(b, at, one, "");
    after = LLVMBuildSelect(b, LLVMBuildICmp(b, LLVMIntEQ, after, end_of, ""), start_of, after, "");
    cg_ref others = LLVMBuildLShr(b, left, LLVMConstInt(LLVMTypeOf(bits), 1, false), "");
    LLVMBasicBlockRef from_block[] = {here, cg_here(g)};
    LLVMAddIncoming(lane, (cg_ref[]){zero, LLVMBuildAdd(b, lane, one, "")}, from_block, 2);
    LLVMAddIncoming(at, (cg_ref[]){t->first, after}, from_block, 2);
    LLVMAddIncoming(left, (cg_ref[]){bits, others}, from_block, 2);
    cg_cond(g, LLVMBuildICmp(b, LLVMIntNE, others, none, ""), next, end);
    cg_at(g, end);
    return LLVMBuildLoad2(b, l->vector, out, "");
}

/* Lane by lane, in a loop: of bytes a gather is four instructions for a register, and what takes them apart, and no
 * faster. Lanes that are off read the first element, which is there if a lane is on. */
static cg_ref load_one_by_one(const load *l, cg_ref index, cg_ref mask)
{
    cg *g = l->g;
    LLVMBuilderRef b = g->b;
    LLVMTypeRef indices = LLVMTypeOf(index), one = LLVMGetElementType(indices);
    cg_ref at = cg_alloca(g, indices, 64, "indices"), out = cg_alloca(g, l->vector, 64, "elements");
    LLVMBuildStore(b, LLVMBuildSelect(b, mask, index, cg_zero(indices), ""), at);
    LLVMBuildStore(b, cg_zero(l->vector), out);
    LLVMBasicBlockRef here = cg_here(g), next = cg_block(g, "lane"), end = cg_block(g, "lane.end");
    cg_cond(g, cg_mask_any(g, mask), next, end);
    cg_at(g, next);
    cg_ref lane = LLVMBuildPhi(b, g->i64, "");
    cg_ref from = LLVMBuildLoad2(b, one, LLVMBuildGEP2(b, one, at, &lane, 1, ""), "");
    cg_ref x = LLVMBuildLoad2(b, l->element, cg_element(g, l->mem, LLVMBuildSExt(b, from, g->i64, "")), "");
    LLVMSetAlignment(x, l->align);
    LLVMBuildStore(b, x, LLVMBuildGEP2(b, l->element, out, &lane, 1, ""));
    cg_ref further = LLVMBuildAdd(b, lane, cg_i64(g, 1), "");
    LLVMAddIncoming(lane, (cg_ref[]){cg_i64(g, 0), further}, (LLVMBasicBlockRef[]){here, cg_here(g)}, 2);
    cg_cond(g, LLVMBuildICmp(b, LLVMIntULT, further, cg_i64(g, g->lanes), ""), next, end);
    cg_at(g, end);
    return LLVMBuildLoad2(b, l->vector, out, "");
}

static bool has_gather(const load *l)
{
    return ir_type_size((ir_type)l->g->k->mem.at[l->mem].type) >= 4;
}

static cg_ref gather_moved(const load *l, cg_ref index, cg_ref by, cg_ref mask)
{
    cg *g = l->g;
    bool narrow = LLVMGetElementType(LLVMTypeOf(index)) == g->i32;
    if (by)
        index = LLVMBuildAdd(g->b, index, cg_splat(g, narrow ? LLVMBuildTrunc(g->b, by, g->i32, "") : by), "");
    return has_gather(l) ? cg_gather(g, l->mem, index, mask) : load_one_by_one(l, index, mask);
}

/* Goes lane by lane only where the row is so short that a gang goes over its end twice. */
static cg_ref load_turned(const load *l, const k_stmt *s, cg_ref by, cg_ref mask)
{
    cg *g = l->g;
    cg_ref row = cg_scalar(g, s->in[0]), extent = cg_scalar(g, s->in[1]);
    turned t = turn(g, row, extent);
    LLVMBasicBlockRef usual = cg_block(g, "turned"), rare = cg_block(g, "turned.often"),
                      end = cg_block(g, "turned.end");
    cg_cond(g, LLVMBuildICmp(g->b, LLVMIntSGE, extent, cg_i64(g, g->lanes), ""), usual, rare);
    cg_at(g, usual);
    cg_ref x = load_twice(l, &t, by, mask);
    usual = cg_here(g);
    cg_br(g, end);
    cg_at(g, rare);
    cg_ref y = has_gather(l) ? gather_moved(l, cg_index_op(g, OP_MOD, s->in[0], s->in[1]), by, mask)
                             : load_often(l, &t, by, mask);
    rare = cg_here(g);
    cg_br(g, end);
    cg_at(g, end);
    return cg_phi2(g, x, usual, y, rare);
}

/* Elements at index, index - 1, ...; the masks' lanes are those of the result. */
static cg_ref load_back(const load *l, cg_ref index, cg_ref mask)
{
    cg *g = l->g;
    int order[256];
    for (unsigned i = 0; i < g->lanes; i++)
        order[i] = (int)(g->lanes - 1 - i);
    cg_ref lowest = LLVMBuildSub(g->b, index, cg_i64(g, (int64_t)g->lanes - 1), "");
    cg_ref x = load_row(l, lowest, cg_shuffle(g, mask, NULL, g->lanes, order), NULL);
    return cg_shuffle(g, x, NULL, g->lanes, order);
}

/* A gang that meets one edge at most: part of it goes forwards, the rest back. `first` is where it begins in a period.
 */
static cg_ref load_folded(const load *l, const mirror *m, cg_ref by, cg_ref mask)
{
    cg *g = l->g;
    LLVMBuilderRef b = g->b;
    cg_ref period = cg_scalar(g, m->period), last = cg_scalar(g, m->last), lanes = cg_i64(g, g->lanes);
    cg_ref rest = LLVMBuildSRem(b, cg_scalar(g, m->row), period, "");
    cg_ref below = LLVMBuildICmp(b, LLVMIntSLT, rest, cg_i64(g, 0), "");
    cg_ref first = LLVMBuildSelect(b, below, LLVMBuildAdd(b, rest, period, ""), rest, "");
    cg_ref onwards = LLVMBuildICmp(b, LLVMIntSLE, first, last, "");
    cg_ref turn = LLVMBuildSelect(b, onwards, last, period, ""); /* the last element is the first one backwards */
    cg_ref left = LLVMBuildSub(b, turn, first, "");
    left = LLVMBuildSelect(b, LLVMBuildICmp(b, LLVMIntSLT, left, lanes, ""), left, lanes, "");
    cg_ref before = cg_mask_first(g, left);
    cg_ref forth = LLVMBuildSelect(b, onwards, before, LLVMBuildNot(b, before, ""), "");
    cg_ref start = LLVMBuildSelect(b, onwards, first, LLVMBuildSub(b, first, period, ""), "");
    cg_ref x = load_row(l, moved_by(g, start, by), LLVMBuildAnd(b, mask, forth, ""), NULL);
    cg_ref end = moved_by(g, LLVMBuildSub(b, period, first, ""), by);
    cg_ref y = load_back(l, end, LLVMBuildAnd(b, mask, LLVMBuildNot(b, forth, ""), ""));
    return LLVMBuildSelect(b, forth, x, y, "");
}

/* The index of each lane, as it is written. */
static cg_ref mirrored_index(cg *g, const mirror *m)
{
    bool narrow = cg_is_narrow(g, m->row) && cg_is_narrow(g, m->period) && cg_is_narrow(g, m->last);
    ir_type t = narrow ? T_I32 : T_I64;
    cg_ref row[3] = {narrow ? cg_index_vec(g, m->row) : cg_vec(g, m->row)}; /* as many as an operator can have */
    cg_ref period = narrow ? cg_index_vec(g, m->period) : cg_vec(g, m->period);
    cg_ref last = narrow ? cg_index_vec(g, m->last) : cg_vec(g, m->last);
    cg_ref far[3] = {cg_op(g, OP_ABS, t, t, row), period};
    cg_ref both[3] = {narrow ? cg_divide_index(g, OP_REM, far[0], cg_scalar(g, m->period))
                             : cg_op(g, OP_REM, t, t, far)};
    both[1] = LLVMBuildSub(g->b, period, both[0], "");
    cg_ref inside[3] = {cg_op(g, OP_MIN, t, t, both), last};
    cg_ref positive[3] = {cg_op(g, OP_MIN, t, t, inside), cg_zero(LLVMTypeOf(period))};
    return cg_op(g, OP_MAX, t, t, positive);
}

static cg_ref load_mirrored(const load *l, k_val v, cg_ref by, cg_ref mask)
{
    cg *g = l->g;
    mirror m;
    if (!is_mirrored(g, v, &m))
        return NULL;
    cg_ref last = cg_scalar(g, m.last), twice = LLVMBuildShl(g->b, last, cg_i64(g, 1), "");
    cg_ref longer = LLVMBuildICmp(g->b, LLVMIntSGE, last, cg_i64(g, g->lanes), "");
    cg_ref even = LLVMBuildICmp(g->b, LLVMIntEQ, cg_scalar(g, m.period), twice, "");
    LLVMBasicBlockRef usual = cg_block(g, "mirrored"), rare = cg_block(g, "mirrored.often"),
                      end = cg_block(g, "mirrored.end");
    cg_cond(g, LLVMBuildAnd(g->b, longer, even, ""), usual, rare);
    cg_at(g, usual);
    cg_ref x = load_folded(l, &m, by, mask);
    usual = cg_here(g);
    cg_br(g, end);
    cg_at(g, rare);
    cg_ref y = gather_moved(l, mirrored_index(g, &m), by, mask);
    rare = cg_here(g);
    cg_br(g, end);
    cg_at(g, end);
    return cg_phi2(g, x, usual, y, rare);
}

static cg_ref both(cg *g, cg_ref x, cg_ref y)
{
    return x && y ? LLVMBuildAnd(g->b, x, y, "") : x ? x : y;
}

/* The elements at index v, moved by `by`, for the lanes of the mask; the others are zero. `some`: as of load_row. */
static cg_ref load_pieces(const load *l, k_val v, cg_ref by, cg_ref mask, cg_ref some)
{
    cg *g = l->g;
    LLVMBuilderRef b = g->b;
    k_val base = 0;
    const k_stmt *s = cg_definition(g, v);
    form f = form_of(g, v, &base);
    if (f == ONE)
        return load_one(l, moved_by(g, cg_scalar(g, v), by), mask);
    if (f == ROW)
        return load_row(l, moved_by(g, cg_scalar(g, v), by), mask, some);
    if (f == BACK)
        return load_back(l, moved_by(g, cg_scalar(g, v), by), mask);
    if (f == TURNED)
        return load_turned(l, s, by, mask);
    if (f == MIRRORED)
        return load_mirrored(l, v, by, mask);
    if (f == MOVED) {
        cg_ref step = cg_scalar(g, base == s->in[0] ? s->in[1] : s->in[0]);
        if (s->sub == OP_SUB)
            step = LLVMBuildNeg(b, step, "");
        return load_pieces(l, base, moved_by(g, step, by), mask, some);
    }
    bool chosen = f == CHOSEN;
    k_val left = s->in[chosen ? 1 : 0], right = s->in[chosen ? 2 : 1];
    cg_ref first = chosen ? cg_vec(g, s->in[0]) : cg_index_op(g, f == SMALLER ? OP_LT : OP_GT, left, right);
    cg_ref many = chosen ? g->value[s->in[0]].first : NULL; /* known before the mask is made of it */
    cg_ref any = many ? LLVMBuildICmp(b, LLVMIntSGT, many, cg_i64(g, 0), "") : NULL;
    cg_ref rest = many ? LLVMBuildICmp(b, LLVMIntSLT, many, cg_i64(g, g->lanes), "") : NULL;
    cg_ref x = load_pieces(l, left, by, LLVMBuildAnd(b, mask, first, ""), both(g, some, any));
    cg_ref y = load_pieces(l, right, by, LLVMBuildAnd(b, mask, LLVMBuildNot(b, first, ""), ""), both(g, some, rest));
    return LLVMBuildSelect(b, first, x, y, "");
}

cg_ref cg_load_pieces(cg *g, const k_stmt *s)
{
    unsigned pieces = 0, rows = 0;
    ir_type t = (ir_type)g->k->mem.at[s->mem].type;
    if (!g->cpu.avx512 || !count(g, s->in[0], 0, &pieces, &rows) || !rows)
        return NULL;
    LLVMTypeRef element = cg_stored(g, t);
    load l = {g, s->mem, element, LLVMVectorType(element, g->lanes), (unsigned)ir_type_size(t)};
    return load_pieces(&l, s->in[0], NULL, cg_mask_or_all(g), NULL);
}
