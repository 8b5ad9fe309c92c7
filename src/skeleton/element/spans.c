/* How much memory a loop goes through, as far as the extents of its loop tell. A read that depends on some of the
 * loop's indices alone, or on their remainders, is of the same elements again and again: these come from the caches
 * however large the loop is, and to fetch them ahead would only take time. */
#include "skeleton/element/spans.h"

/* What a term tells of the index in each dimension of the loop: its quotient, its remainder, or all of it. */
enum { QUOTIENT = 1, REMAINDER = 1 << IR_MAX_RANK, ALL = QUOTIENT | REMAINDER };
enum { QUOTIENTS = REMAINDER - 1, REMAINDERS = QUOTIENTS << IR_MAX_RANK };

static unsigned tells(const map64 *of, ir_id term)
{
    return term ? map64_get(of, term) : 0;
}

static unsigned all_tell(const map64 *of, uint32_t n, const ir_id *term)
{
    unsigned told = 0;
    for (uint32_t i = 0; i < n; i++)
        told |= tells(of, term[i]);
    return told;
}

static unsigned variable_tells(const sk_lower *lw, ir_id term)
{
    const unsigned d = sk_component(&lw->at, term), rank = lw->cluster->loop->rank;
    if (d)
        return ALL << (d - 1);
    return term == lw->at.linear ? ALL * ((1U << rank) - 1) : 0;
}

static unsigned node_tells(const sk_lower *lw, const map64 *of, ir_id term)
{
    const ir_program *p = lw->l->ir;
    const ir_node *n = ir_at(p, term);
    const ir_id *arg = p->arg.at + n->args;
    if (n->kind == IR_LOOP) {
        const ir_loop *loop = n->u.loop;
        return all_tell(of, loop->states, loop->init) | all_tell(of, loop->states, loop->next) |
               all_tell(of, 2, (ir_id[]){loop->cond, loop->count});
    }
    const unsigned told = variable_tells(lw, term) | all_tell(of, n->n, arg);
    if (n->kind != IR_OP || n->n != 2 || tells(of, arg[1]))
        return told;
    if (n->op == OP_QUOT || n->op == OP_DIV || n->op == OP_SHR)
        return told & QUOTIENTS;
    return n->op == OP_REM || n->op == OP_MOD || n->op == OP_BIT_AND ? told & REMAINDERS : told;
}

static bool adds_up(const ir_program *p, ir_id term)
{
    const ir_node *n = ir_at(p, term);
    return n->kind == IR_VAR || n->kind == IR_WITHIN || (n->kind == IR_OP && (n->op == OP_ADD || n->op == OP_SUB));
}

/* What one index of a read tells; is it a sum of what it depends on? */
static unsigned index_tells(sk_lower *lw, ir_id index, bool *sum)
{
    const unsigned direct = variable_tells(lw, index);
    *sum = index != lw->at.linear;
    if (direct)
        return direct;
    opt_ids ids = {0};
    map64 of = {0};
    opt_reach(lw->l->ir, lw->arena, 1, &index, &ids);
    for (uint32_t i = 0; i < ids.n; i++) {
        const unsigned told = node_tells(lw, &of, ids.at[i]);
        if (!told)
            continue;
        map64_put(lw->arena, &of, ids.at[i], told);
        *sum &= adds_up(lw->l->ir, ids.at[i]) && ids.at[i] != lw->at.linear;
    }
    const unsigned told = tells(&of, index);
    map64_free(lw->arena, &of);
    vec_free(lw->arena, &ids);
    return told;
}

static unsigned dimensions(unsigned told)
{
    return told & told >> IR_MAX_RANK & QUOTIENTS;
}

static bool is_one(unsigned dimensions)
{
    return !(dimensions & (dimensions - 1));
}

static sk_span span_of(sk_lower *lw, const ir_node *read)
{
    sk_span x = {.array = read->array,
                 .component = (uint32_t)read->u.literal,
                 .bytes = (uint8_t)ir_type_size((ir_type)read->type)};
    unsigned rest = 0, all = 0;
    for (uint32_t k = 0; k < read->n; k++) {
        bool sum = false;
        const unsigned told = index_tells(lw, lw->l->ir->arg.at[read->args + k], &sum);
        all |= told;
        if (sum && !is_one(dimensions(told)))
            x.sum[x.sums++] = (uint8_t)dimensions(told);
        else
            rest |= told;
    }
    x.each = (uint8_t)dimensions(rest);
    x.any = (uint8_t)dimensions(all);
    return x;
}

/* Does the read get other elements wherever the loop is? */
static bool is_whole(const l_program *l, const l_cluster *loop, const sk_span *x)
{
    for (unsigned d = 0; d < loop->rank; d++) {
        int64_t extent = 0;
        bool one = ir_extent_constant(l->ir, loop->shape[d], &extent) && extent == 1;
        if (!one && !(x->each >> d & 1))
            return false;
    }
    return true;
}

void sk_find_spans(sk_lower *lw, sk_cluster *c, uint32_t n, const ir_id *reached)
{
    for (uint32_t i = 0; i < n; i++) {
        const ir_node read = *ir_at(lw->l->ir, reached[i]);
        if (read.kind != IR_READ)
            continue;
        const sk_span x = span_of(lw, &read);
        c->whole_reads |= is_whole(lw->l, c->loop, &x);
        vec_push(lw->arena, &c->span, x);
    }
}

bool sk_reads_most(sk_lower *lw, const ir_node *read)
{
    const sk_cluster *c = lw->cluster;
    const sk_span x = span_of(lw, read);
    return !c->whole_reads || is_whole(lw->l, c->loop, &x);
}

static double product(const int64_t *extent, unsigned dimensions)
{
    double n = 1;
    for (unsigned d = 0; d < IR_MAX_RANK; d++)
        n *= dimensions >> d & 1 ? (double)extent[d] : 1;
    return n;
}

static double bytes_of(const sk_span *x, const int64_t *extent)
{
    double n = product(extent, x->each), most = product(extent, x->any);
    for (unsigned k = 0; k < x->sums; k++) {
        double places = 0;
        for (unsigned d = 0; d < IR_MAX_RANK; d++)
            places += x->sum[k] >> d & 1 ? (double)extent[d] : 0;
        n *= places;
    }
    return (n < most ? n : most) * x->bytes;
}

double sk_spanned_bytes(const sk_cluster *c, const int64_t *extent)
{
    double all = 0;
    for (uint32_t i = 0; i < c->span.n; i++) {
        const sk_span *x = &c->span.at[i];
        double most = 0;
        bool first = true;
        for (uint32_t k = 0; k < c->span.n; k++) {
            const sk_span *y = &c->span.at[k];
            if (y->array != x->array || y->component != x->component)
                continue;
            const double bytes = bytes_of(y, extent);
            first &= k >= i;
            most = bytes > most ? bytes : most;
        }
        all += first ? most : 0;
    }
    return all;
}
