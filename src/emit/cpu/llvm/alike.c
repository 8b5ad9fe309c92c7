/* Loops that compute all fields of structs alike: each field of the result from the same fields of other structs, by
 * the same operations, as sums of points and brighter pixels are. It does not matter then which lane has which field,
 * so structs that lie side by side are taken as what they are, one stretch of numbers, without shuffles. */
#include "emit/cpu/llvm/cg.h"

enum { MOST_FIELDS = 16, MOST_STATEMENTS = 200, DEEPEST = 40 };

static unsigned size_of_field(const kernel *k, k_mem m)
{
    return (unsigned)ir_type_size((ir_type)k->mem.at[m].type);
}

/* How many fields its structs have, if all are as large as this one and nothing lies between them; else 0. */
static unsigned fields_of(const kernel *k, k_mem m)
{
    const k_memory *x = &k->mem.at[m];
    unsigned size = size_of_field(k, m);
    return x->space == K_GLOBAL && x->every && x->every % size == 0 && x->at % size == 0 ? x->every / size : 0;
}

static unsigned number_of_field(const kernel *k, k_mem m)
{
    return k->mem.at[m].at / size_of_field(k, m);
}

static k_mem whole_of(const kernel *k, k_mem m)
{
    return k->mem.at[m].beside ? k->mem.at[m].beside : m;
}

static bool goes_along(const kernel *k, k_val index)
{
    return k->value.at[index].shape == K_AFFINE && k->value.at[index].step == 1;
}

typedef struct finding {
    const kernel *k;
    unsigned fields, other; /* the second: the field that is compared with field 0 */
    unsigned left;          /* statements that may still be looked at */
} finding;

/* Are these loads of field 0 and of the other one, of the same structs? */
static bool loads_alike(const finding *f, const k_stmt *s, const k_stmt *t)
{
    const kernel *k = f->k;
    return s->in[0] == t->in[0] && goes_along(k, s->in[0]) && fields_of(k, s->mem) == f->fields &&
           fields_of(k, t->mem) == f->fields && k->mem.at[s->mem].type == k->mem.at[t->mem].type &&
           whole_of(k, s->mem) == whole_of(k, t->mem) && number_of_field(k, s->mem) == 0 &&
           number_of_field(k, t->mem) == f->other;
}

/* Is w computed from the fields `other` as v is from the fields 0? */
static bool computes_alike(finding *f, k_val v, k_val w, unsigned deep)
{
    const kernel *k = f->k;
    const k_value *x = &k->value.at[v], *y = &k->value.at[w];
    if (v == w)
        return x->shape == K_UNIFORM;
    if (x->kind != KV_RESULT || y->kind != KV_RESULT || x->type != y->type || !f->left || deep > DEEPEST)
        return false;
    f->left--;
    const k_stmt *s = &k->stmt.at[x->def], *t = &k->stmt.at[y->def];
    if (s->op != t->op || s->sub != t->sub)
        return false;
    if (s->op == K_LOAD)
        return loads_alike(f, s, t);
    if (s->op != K_LET && s->op != K_SELECT)
        return false;
    const unsigned n = s->op == K_SELECT ? 3 : ir_ops[s->sub].arity;
    for (unsigned i = 0; i < n; i++)
        if (!computes_alike(f, s->in[i], t->in[i], deep + 1))
            return false;
    return true;
}

static bool is_plain(const k_stmt *s)
{
    return s->op == K_NOP || s->op == K_LET || s->op == K_SELECT || s->op == K_LOAD || s->op == K_FETCH;
}

bool cg_find_alike(const cg *g, const k_stmt *for_all)
{
    const kernel *k = g->k;
    k_val value[MOST_FIELDS] = {0};
    unsigned stores = 0, statements = 0;
    k_ref first = 0, r = for_all->body;
    for (; r && is_plain(&k->stmt.at[r]); r = k->stmt.at[r].next)
        if (++statements > MOST_STATEMENTS)
            return false;
    for (first = r; r && k->stmt.at[r].op == K_STORE; r = k->stmt.at[r].next, stores++) {
        const k_stmt *s = &k->stmt.at[r], *of = &k->stmt.at[first];
        unsigned n = fields_of(k, s->mem);
        if (n < 2 || n > MOST_FIELDS || s->in[0] != of->in[0] || !goes_along(k, s->in[0]) ||
            whole_of(k, s->mem) != whole_of(k, of->mem) || k->mem.at[s->mem].type != k->mem.at[of->mem].type ||
            value[number_of_field(k, s->mem)])
            return false;
        value[number_of_field(k, s->mem)] = s->in[1];
    }
    if (r || !stores || stores != fields_of(k, k->stmt.at[first].mem) || g->part || g->lanes < 2)
        return false;
    finding f = {.k = k, .fields = stores, .left = MOST_STATEMENTS};
    for (f.other = 1; f.other < stores; f.other++)
        if (!computes_alike(&f, value[0], value[f.other], 0))
            return false;
    return k->value.at[value[0]].shape != K_UNIFORM;
}

/* The numbers that take the place of a field's: as many as lanes, behind those of the fields before. */
static cg_ref place_of(cg *g, k_mem m, cg_ref index)
{
    const kernel *k = g->k;
    int64_t before = (int64_t)number_of_field(k, m) * g->lanes * size_of_field(k, m);
    return cg_bytes_on(g, cg_element(g, m, index), cg_i64(g, before - k->mem.at[m].at));
}

cg_ref cg_load_alike(cg *g, k_mem m, cg_ref index)
{
    LLVMTypeRef vector = LLVMVectorType(cg_stored(g, (ir_type)g->k->mem.at[m].type), g->lanes);
    return cg_aligned(LLVMBuildLoad2(g->b, vector, place_of(g, m, index), ""), 1);
}

void cg_store_alike(cg *g, k_mem m, cg_ref index, cg_ref x)
{
    cg_aligned(LLVMBuildStore(g->b, x, place_of(g, m, index)), 1);
}
