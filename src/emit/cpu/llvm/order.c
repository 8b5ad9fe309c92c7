/* Long bodies without control, such as weighted sums over many neighbours: what a load makes possible is done right
 * behind it, so that few values are in flight, and factors come from a table each time anew. As constants they would be
 * put into registers in front of the loop, more than there are, and be spilled. */
#include "emit/cpu/llvm/cg.h"
#include "kernel/walk.h"

enum { LEAST_FACTORS = 20 };

typedef struct {
    cg *g;
    VEC(k_ref) stmt;          /* in the order of the text */
    uint32_t *number;         /* per value: 1 + its statement's place in stmt */
    uint32_t *waiting;        /* per statement: operands not there yet */
    uint32_t *use, *uses_end; /* per statement: its users, in use[uses_end[i - 1]] to use[uses_end[i]] */
    bool *done;
    VEC(uint32_t) ready;
} order;

/* --- factors --- */

static bool is_factor(const cg *g, const k_stmt *s, unsigned operand)
{
    const k_value *x = &g->k->value.at[s->in[operand]];
    bool product = s->op == K_LET && (s->sub == OP_MUL || (s->sub == OP_FMA && operand < 2));
    return product && x->kind == KV_LITERAL && x->type == T_F32 && g->k->value.at[s->dst].shape == K_VARYING;
}

static uint32_t find_factors(order *o)
{
    cg *g = o->g;
    uint32_t factors = 0;
    g->factor = arena_array(g->arena, *g->factor, g->k->value.n);
    for (uint32_t i = 0; i < o->stmt.n; i++) {
        const k_stmt *s = &g->k->stmt.at[o->stmt.at[i]];
        for (unsigned k = 0; k < k_operands(s); k++)
            if (is_factor(g, s, k) && !g->factor[s->in[k]])
                g->factor[s->in[k]] = ++factors;
    }
    return factors;
}

static void make_table(cg *g, uint32_t factors)
{
    cg_ref *element = arena_array(g->arena, *element, factors);
    for (k_val v = 1; v < g->k->value.n; v++)
        if (g->factor[v])
            element[g->factor[v] - 1] = cg_const(g, T_F32, g->k->value.at[v].bits);
    cg_ref all = LLVMConstArray2(g->type[T_F32], element, factors);
    g->factors = LLVMAddGlobal(g->module, LLVMTypeOf(all), "factors");
    LLVMSetInitializer(g->factors, all);
    LLVMSetGlobalConstant(g->factors, true);
    LLVMSetLinkage(g->factors, LLVMPrivateLinkage);
    LLVMSetAlignment(g->factors, 64);
}

/* The table's address, such that nobody knows it is one and the same. */
static void forget_factors(cg *g)
{
    LLVMTypeRef type = LLVMFunctionType(g->ptr, &g->ptr, 1, false);
    cg_ref keep = LLVMGetInlineAsm(type, "", 0, "=r,0", 4, true, false, LLVMInlineAsmDialectATT, false);
    g->factors_now = LLVMBuildCall2(g->b, type, keep, &g->factors, 1, "");
}

cg_ref cg_factor(cg *g, const k_stmt *s, unsigned operand)
{
    if (!g->factors_now || !is_factor(g, s, operand))
        return NULL;
    cg_ref at = cg_i64(g, g->factor[s->in[operand]] - 1);
    cg_ref place = LLVMBuildGEP2(g->b, g->type[T_F32], g->factors_now, &at, 1, "");
    return cg_splat(g, LLVMBuildLoad2(g->b, g->type[T_F32], place, ""));
}

/* --- order --- */

static bool plain(order *o, k_ref first)
{
    const kernel *k = o->g->k;
    for (k_ref r = first; r; r = k->stmt.at[r].next) {
        unsigned op = k->stmt.at[r].op;
        if (op != K_LET && op != K_SELECT && op != K_LOAD && op != K_STORE && op != K_FETCH)
            return false;
        vec_push(o->g->arena, &o->stmt, r);
    }
    return true;
}

static uint32_t definition(const order *o, const k_stmt *s, unsigned operand)
{
    return o->number[s->in[operand]];
}

static void find_users(order *o)
{
    cg *g = o->g;
    uint32_t n = o->stmt.n, all = 0;
    o->number = arena_array(g->arena, *o->number, g->k->value.n);
    o->waiting = arena_array(g->arena, *o->waiting, n);
    o->uses_end = arena_array(g->arena, *o->uses_end, n + 1);
    o->done = arena_array(g->arena, *o->done, n);
    for (uint32_t i = 0; i < n; i++)
        if (g->k->stmt.at[o->stmt.at[i]].dst)
            o->number[g->k->stmt.at[o->stmt.at[i]].dst] = i + 1;
    uint32_t *end = o->uses_end + 1; /* first how many, then where they begin, at last where they end */
    for (uint32_t i = 0; i < n; i++) {
        const k_stmt *s = &g->k->stmt.at[o->stmt.at[i]];
        for (unsigned k = 0; k < k_operands(s); k++, all++)
            if (definition(o, s, k)) {
                end[definition(o, s, k) - 1]++;
                o->waiting[i]++;
            }
    }
    o->use = arena_array(g->arena, *o->use, all + 1);
    uint32_t sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t count = end[i];
        end[i] = sum;
        sum += count;
    }
    for (uint32_t i = 0; i < n; i++) {
        const k_stmt *s = &g->k->stmt.at[o->stmt.at[i]];
        for (unsigned k = 0; k < k_operands(s); k++)
            if (definition(o, s, k))
                o->use[end[definition(o, s, k) - 1]++] = i;
    }
}

/* Does the statement stay where it is in the text, behind what is before it there? Stores past the cache end a basic
 * block. */
static bool stays(const order *o, uint32_t i)
{
    unsigned op = o->g->k->stmt.at[o->stmt.at[i]].op;
    return op == K_LOAD || op == K_STORE || op == K_FETCH;
}

/* Emits statement i and what it makes possible. */
static void emit_from(order *o, uint32_t i)
{
    cg *g = o->g;
    o->ready.n = 0;
    vec_push(g->arena, &o->ready, i);
    for (uint32_t next = 0; next < o->ready.n; next++) {
        i = o->ready.at[next];
        o->done[i] = true;
        if (g->k->stmt.at[o->stmt.at[i]].op == K_LOAD)
            forget_factors(g);
        cg_statement(g, o->stmt.at[i]);
        for (uint32_t u = o->uses_end[i]; u < o->uses_end[i + 1]; u++)
            if (!--o->waiting[o->use[u]] && !stays(o, o->use[u]))
                vec_push(g->arena, &o->ready, o->use[u]);
    }
}

/* Neighbours are loaded when the first statement in the order of the text needs them. */
static bool waits(const order *o, uint32_t i)
{
    const k_stmt *s = &o->g->k->stmt.at[o->stmt.at[i]];
    return s->op == K_LOAD && ir_type_float((ir_type)o->g->k->value.at[s->dst].type);
}

static void emit_operands(order *o, uint32_t i)
{
    const k_stmt *s = &o->g->k->stmt.at[o->stmt.at[i]];
    for (unsigned k = 0; k < k_operands(s); k++)
        if (definition(o, s, k) && !o->done[definition(o, s, k) - 1])
            emit_from(o, definition(o, s, k) - 1);
}

/* Stores that stand together, if they go past the caches, or to fields of structs; how many. */
static uint32_t emit_streams(order *o, uint32_t first)
{
    for (uint32_t i = first; i < o->stmt.n && o->g->k->stmt.at[o->stmt.at[i]].op == K_STORE; i++)
        emit_operands(o, i);
    uint32_t n = cg_store_streams(o->g, o->stmt.at[first]);
    n = n ? n : cg_store_fields(o->g, o->stmt.at[first], false);
    memset(o->done + first, true, n * sizeof(*o->done));
    return n;
}

static void emit_all(order *o)
{
    for (uint32_t i = 0; i < o->stmt.n; i++) {
        if (o->done[i] || waits(o, i) || emit_streams(o, i))
            continue;
        emit_operands(o, i);
        if (!o->done[i])
            emit_from(o, i);
    }
}

bool cg_ordered_list(cg *g, k_ref first, const cg_facts *facts)
{
    order o = {.g = g};
    if (!g->cpu.avx512 || facts->reads_written || g->lanes * 4 < 64 || !plain(&o, first))
        return false;
    uint32_t factors = find_factors(&o);
    if (factors < LEAST_FACTORS)
        return false;
    make_table(g, factors);
    find_users(&o);
    emit_all(&o);
    g->factors_now = NULL;
    return true;
}
