/* Long bodies without control flow, one register after the other, each some statements behind the one before.
 *
 * A value of several registers is computed for all of them before anything else is. So divisions come in bursts, and
 * behind each the other pipes wait; then the divider waits for them. Here part p of the lanes runs statement i beside
 * statement i + SKEW of part p - 1: the bursts are spread, and fewer values are alive at a time. */
#include "emit/cpu/llvm/cg.h"

enum { PARTS = 4, LEAST_STATEMENTS = 48, SKEW_SHARE = 24, REGISTER = 64 };

/* A lane's stores of several neighbours are made together (interleave.c). So are stores to fields of structs
 * (fields.c), which are left to the end. */
static bool is_plain(const cg *g, const k_stmt *s)
{
    const k_value *index = &g->k->value.at[s->in[0]];
    if (s->op == K_STORE && index->shape == K_AFFINE && index->step != 1)
        return false;
    return s->op == K_LET || s->op == K_SELECT || s->op == K_LOAD || s->op == K_STORE || s->op == K_NOP;
}

/* The widest number that the statement makes; indices are scalars. */
static size_t width_of(const cg *g, const k_stmt *s)
{
    if (s->op == K_STORE || s->op == K_NOP)
        return 0;
    ir_type t = (ir_type)g->k->value.at[s->dst].type;
    return ir_type_float(t) || s->op == K_LOAD ? ir_type_size(t) : 0;
}

unsigned cg_stagger(const cg *g, const k_stmt *s, const cg_facts *facts)
{
    if (!g->cpu.avx512 || facts->statements < LEAST_STATEMENTS || facts->checks || facts->warp || facts->loops ||
        facts->sets_outer || facts->reads_written || facts->private_memory)
        return 0;
    size_t widest = 0;
    for (k_ref r = s->body; r; r = g->k->stmt.at[r].next) {
        const k_stmt *each = &g->k->stmt.at[r];
        if (!is_plain(g, each))
            return 0;
        widest = width_of(g, each) > widest ? width_of(g, each) : widest;
    }
    return g->lanes * widest == PARTS * REGISTER ? g->lanes / PARTS : 0;
}

static bool waits(const cg *g, k_ref id)
{
    const k_stmt *s = &g->k->stmt.at[id];
    return s->op == K_STORE && (g->k->mem.at[s->mem].stream || g->k->mem.at[s->mem].every);
}

void cg_staggered_list(cg *g, const k_stmt *s, cg_ref base)
{
    VEC(k_ref) list = {0};
    unsigned lanes = g->lanes, each = lanes / PARTS;
    cg_value *value = g->value, *part[PARTS];
    for (k_ref r = s->body; r; r = g->k->stmt.at[r].next)
        vec_push(g->arena, &list, r);
    cg_set_lanes(g, each);
    for (unsigned p = 0; p < PARTS; p++) {
        part[p] = arena_array(g->arena, cg_value, g->k->value.n);
        memcpy(part[p], value, g->k->value.n * sizeof(cg_value));
        cg_ref start = LLVMBuildNSWAdd(g->b, base, cg_i64(g, (int64_t)p * each), "");
        part[p][s->dst] = (cg_value){.form = FORM_LINEAR, .v = start, .step = cg_i64(g, 1)};
    }
    uint32_t skew = list.n / SKEW_SHARE;
    k_ref stores = 0; /* those at the end that stand together: past the caches they branch */
    while (list.n && waits(g, list.at[list.n - 1]))
        stores = list.at[--list.n];
    for (uint32_t turn = 0; turn < list.n + (PARTS - 1) * skew; turn++)
        for (unsigned p = 0; p < PARTS; p++) {
            uint32_t behind = p * skew;
            if (turn < behind || turn - behind >= list.n)
                continue;
            g->value = part[p];
            cg_statement(g, list.at[turn - behind]);
        }
    for (unsigned p = 0; p < PARTS && stores; p++) {
        g->value = part[p];
        cg_list(g, stores);
    }
    g->value = value;
    cg_set_lanes(g, lanes);
}
