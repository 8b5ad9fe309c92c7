/* Loads at indices that are computed and lie near each other: halves and other fractions of positions, positions with
 * bits turned over, chosen or clamped ones, or such as an array has that is made of them (`near`). Whether they are
 * near is looked at when the code runs: then the stretch from the least to the greatest index is loaded into a
 * register, or two, from which lanes take their elements. A gather would take an access for each lane. */
#include "emit/cpu/llvm/cg.h"

enum { REGISTER = 64, MOST_DEPTH = 10, FEWEST_LANES = 8, STEP_OF_PLACES = 2 /* at most, in most arrays of them */ };

/* Of one index, from lane to lane. */
typedef enum {
    ANYWHERE, /* not only computed */
    FLAT,     /* the same in all lanes */
    LINEAR,   /* by the same difference */
    MONOTONE, /* up or down, or not at all */
    COMPUTED
} course;

typedef struct progress {
    course is;
    double slope; /* by so much a lane, about; below 0: not known */
} progress;

/* A literal's size, or below 0. */
static double size_of(const cg *g, k_val v)
{
    const k_value *x = &g->k->value.at[v];
    const int64_t bits = (int64_t)x->bits;
    return x->kind != KV_LITERAL || x->type != T_I64 ? -1 : bits < 0 ? -(double)bits : (double)bits;
}

static progress computed(course is, double slope, double other)
{
    return (progress){is, slope < 0 || other < 0 ? -1 : slope + other};
}

static progress progress_of(const cg *g, k_val v, unsigned depth);

static progress of_let(const cg *g, const k_stmt *s, unsigned depth)
{
    const bool binary = ir_ops[s->sub].arity == 2;
    const progress a = progress_of(g, s->in[0], depth + 1), flat = {FLAT, 0},
                   b = binary ? progress_of(g, s->in[1], depth + 1) : flat;
    const double by = binary ? size_of(g, s->in[1]) : -1;
    if (!a.is || !b.is || ir_ops[s->sub].arity > 2)
        return (progress){0};
    const course later = a.is > b.is ? a.is : b.is, least = a.is < b.is ? a.is : b.is;
    const course bent = later == LINEAR ? MONOTONE : later;
    switch (s->sub) {
    case OP_ADD:
    case OP_SUB:
        return computed(least == FLAT || later == LINEAR ? later : COMPUTED, a.slope, b.slope);
    case OP_NEG:
        return a;
    case OP_MUL:
    case OP_SHL: {
        if (b.is != FLAT)
            return (progress){a.is == FLAT && s->sub == OP_MUL ? b.is : COMPUTED, -1};
        const double times = s->sub == OP_SHL && by >= 0 ? (double)((int64_t)1 << ((int64_t)by & 31)) : by;
        return (progress){a.is, a.slope < 0 || times < 0 ? -1 : a.slope * times};
    }
    case OP_QUOT:
    case OP_DIV:
    case OP_SHR: {
        const double parts = s->sub == OP_SHR && by >= 0 ? (double)((int64_t)1 << ((int64_t)by & 31)) : by;
        return (progress){b.is == FLAT ? bent : COMPUTED,
                          a.slope < 0 || parts <= 0 || b.is != FLAT ? -1 : a.slope / parts};
    }
    case OP_MIN:
    case OP_MAX:
        return computed(least == FLAT ? bent : COMPUTED, a.slope, b.slope);
    case OP_REM:
    case OP_MOD:
    case OP_ABS:
    case OP_BIT_AND:
    case OP_BIT_OR:
    case OP_BIT_XOR:
        return computed(COMPUTED, a.slope, b.is == FLAT ? 0 : b.slope);
    default:
        return (progress){0};
    }
}

static progress progress_of(const cg *g, k_val v, unsigned depth)
{
    const k_value *x = &g->k->value.at[v];
    const k_stmt *s = cg_definition(g, v);
    if (x->shape == K_UNIFORM)
        return (progress){FLAT, 0};
    if (x->type != T_I64)
        return (progress){0};
    if (x->shape == K_AFFINE)
        return (progress){LINEAR, x->step < 0 ? -(double)x->step : (double)x->step};
    if (!s || depth == MOST_DEPTH)
        return (progress){0};
    if (s->op == K_SELECT) {
        const progress a = progress_of(g, s->in[1], depth + 1), b = progress_of(g, s->in[2], depth + 1);
        return a.is && b.is ? (progress){COMPUTED, a.slope < 0 || b.slope < 0 ? -1
                                                   : a.slope > b.slope        ? a.slope
                                                                              : b.slope}
                            : (progress){0};
    }
    if (s->op == K_LOAD && g->k->mem.at[s->mem].near && progress_of(g, s->in[0], depth + 1).is == LINEAR)
        return (progress){COMPUTED, STEP_OF_PLACES};
    return s->op == K_LET ? of_let(g, s, depth) : (progress){0};
}

/* --- the stretch --- */

typedef struct stretch { /* of a register's lanes */
    cg_ref first, span;  /* i64: the least index, and how much the greatest is beyond */
} stretch;

static cg_ref lane(cg *g, cg_ref x, unsigned at)
{
    return LLVMBuildSExt(g->b, LLVMBuildExtractElement(g->b, x, cg_i32(g, at), ""), g->i64, "");
}

static cg_ref extreme(cg *g, const char *name, cg_ref x)
{
    LLVMTypeRef type = LLVMTypeOf(x);
    return LLVMBuildSExt(g->b, cg_call(g, name, 1, &type, 1, &x), g->i64, "");
}

/* Lanes at ... at + n - 1 of an index; where some are off, these do not count. */
static stretch stretch_of(cg *g, cg_ref index, course is, unsigned at, unsigned n)
{
    LLVMBuilderRef b = g->b;
    LLVMTypeRef i64 = g->i64;
    cg_ref least, most;
    if (is == MONOTONE && !g->mask.on) {
        cg_ref ends[] = {lane(g, index, at), lane(g, index, at + n - 1)};
        least = cg_call(g, "llvm.smin", 1, &i64, 2, ends);
        most = cg_call(g, "llvm.smax", 1, &i64, 2, ends);
    } else {
        LLVMTypeRef element = LLVMGetElementType(LLVMTypeOf(index));
        const bool wide = element == g->i64;
        cg_ref low = index, high = index;
        if (g->mask.on) { /* where all are off the greatest is less than the least, and their difference has a sign */
            cg_ref far = LLVMConstInt(element, wide ? INT64_MAX / 4 : INT32_MAX, true);
            low = LLVMBuildSelect(b, g->mask.on, index, cg_splat(g, far), "");
            high = LLVMBuildSelect(b, g->mask.on, index, cg_splat(g, LLVMConstNot(far)), "");
        }
        least = extreme(g, "llvm.vector.reduce.smin", cg_lanes_from(g, low, at, n));
        most = extreme(g, "llvm.vector.reduce.smax", cg_lanes_from(g, high, at, n));
    }
    cg_ref span = LLVMBuildSub(b, most, least, "");
    if (g->mask.on) {
        cg_ref none = LLVMBuildICmp(b, LLVMIntSLT, span, cg_i64(g, 0), "");
        least = LLVMBuildSelect(b, none, cg_i64(g, 0), least, "");
    }
    return (stretch){least, span};
}

/* The first span + 1 elements from `first` on, of as many as a register has; the others are zero. */
static cg_ref load_first(cg *g, k_mem m, unsigned width, cg_ref first, cg_ref span)
{
    LLVMBuilderRef b = g->b;
    LLVMTypeRef bits = LLVMIntTypeInContext(g->context, width), ones = LLVMVectorType(g->i1, width);
    cg_ref one = cg_i64(g, 1), none = LLVMBuildICmp(b, LLVMIntSLT, span, cg_i64(g, 0), "");
    cg_ref shift = LLVMBuildAnd(b, span, cg_i64(g, 63), "");
    cg_ref mask = LLVMBuildSub(b, LLVMBuildShl(b, cg_i64(g, 2), shift, ""), one, "");
    cg_ref all = LLVMBuildICmp(b, LLVMIntSGE, span, cg_i64(g, (int64_t)width - 1), "");
    mask = LLVMBuildSelect(b, all, cg_i64(g, -1), mask, "");
    mask = LLVMBuildSelect(b, none, cg_i64(g, 0), mask, "");
    mask = LLVMBuildBitCast(b, LLVMBuildTrunc(b, mask, bits, ""), ones, "");
    LLVMTypeRef vector = LLVMVectorType(cg_stored(g, (ir_type)g->k->mem.at[m].type), width);
    return cg_masked_load(g, vector, cg_element(g, m, first), cg_alignment(g, m), mask);
}

static cg_ref take_part(cg *g, k_mem m, unsigned size, unsigned registers, cg_ref index, cg_ref moved, const stretch *s,
                        unsigned at, unsigned n)
{
    LLVMBuilderRef b = g->b;
    const unsigned width = REGISTER / size;
    LLVMTypeRef element = LLVMIntTypeInContext(g->context, 8 * size);
    cg_ref table[2], first = LLVMBuildAdd(b, s->first, moved, "");
    for (unsigned i = 0; i < registers; i++) {
        cg_ref behind = cg_i64(g, (int64_t)(i * width));
        cg_ref from = LLVMBuildAdd(b, first, behind, "");
        if (i) /* an index that there is, where nothing is behind the first register */
            from = LLVMBuildSelect(b, LLVMBuildICmp(b, LLVMIntSGE, s->span, behind, ""), from, first, "");
        table[i] = load_first(g, m, width, from, LLVMBuildSub(b, s->span, behind, ""));
        table[i] = LLVMBuildBitCast(b, table[i], LLVMVectorType(element, width), "");
    }
    cg_ref part = cg_lanes_from(g, index, at, n);
    LLVMTypeRef lanes = LLVMTypeOf(part);
    cg_ref least = LLVMBuildTrunc(b, s->first, LLVMGetElementType(lanes), "");
    part = LLVMBuildSub(b, part, cg_splat_n(g, least, n), "");
    part = LLVMBuildIntCast2(b, part, LLVMVectorType(element, n), false, "");
    return cg_look_up(g, size, registers, table, cg_lanes_from(g, part, 0, width));
}

cg_ref cg_load_near(cg *g, const k_stmt *s, cg_load_at *gathered)
{
    LLVMBuilderRef b = g->b;
    const k_memory *memory = &g->k->mem.at[s->mem];
    const unsigned size = (unsigned)ir_type_size((ir_type)memory->type), width = REGISTER / size, lanes = g->lanes;
    const progress p = progress_of(g, s->in[0], 0);
    if (!g->cpu.avx512 || (size == 1 && !g->cpu.vbmi) || memory->every || lanes < FEWEST_LANES || p.is < MONOTONE ||
        p.slope > 2 || (p.is == COMPUTED && p.slope < 0))
        return NULL;
    const unsigned registers = p.slope < 0 || p.slope > 1 ? 2 : 1;
    cg_ref moved = cg_i64(g, 0);
    k_val v = s->in[0];
    for (const k_stmt *d = cg_definition(g, v); d && d->op == K_LET && (d->sub == OP_ADD || d->sub == OP_SUB);
         d = cg_definition(g, v)) { /* what all lanes share is added to the stretch, which other loads have, too */
        const bool swapped = d->sub == OP_ADD && cg_is_uniform(g, d->in[0]);
        if (!swapped && !cg_is_uniform(g, d->in[1]))
            break;
        cg_ref by = cg_scalar(g, d->in[!swapped]);
        moved = d->sub == OP_ADD ? LLVMBuildAdd(b, moved, by, "") : LLVMBuildSub(b, moved, by, "");
        v = d->in[swapped];
    }
    cg_ref index = cg_index_vec(g, v), near = NULL, part[256];
    stretch of[256];
    unsigned parts = 0;
    for (unsigned at = 0; at < lanes; at += width, parts++) {
        const unsigned n = lanes - at < width ? lanes - at : width;
        of[parts] = stretch_of(g, index, p.is, at, n);
        cg_ref fits = LLVMBuildICmp(b, LLVMIntSLT, of[parts].span, cg_i64(g, (int64_t)(registers * width)), "");
        near = near ? LLVMBuildAnd(b, near, fits, "") : fits;
    }
    LLVMBasicBlockRef usual = cg_block(g, "near"), rare = cg_block(g, "far"), end = cg_block(g, "near.end");
    cg_cond(g, near, usual, rare);
    cg_at(g, usual);
    for (unsigned i = 0; i < parts; i++) {
        const unsigned at = i * width, n = lanes - at < width ? lanes - at : width;
        part[i] = take_part(g, s->mem, size, registers, index, moved, &of[i], at, n);
    }
    cg_ref x = cg_lanes_from(g, cg_joined(g, parts, part), 0, lanes);
    x = LLVMBuildBitCast(b, x, LLVMVectorType(cg_stored(g, (ir_type)memory->type), lanes), "");
    usual = cg_here(g);
    cg_br(g, end);
    cg_at(g, rare);
    cg_ref y = gathered(g, s);
    rare = cg_here(g);
    cg_br(g, end);
    cg_at(g, end);
    return cg_phi2(g, x, usual, y, rare);
}
