/* Loads of a memory of few elements, wherever lanes ask for them: all of it lies in a register, or in several, from
 * which lanes take theirs. A gather is an access for each lane. */
#include "emit/cpu/llvm/cg.h"

enum { REGISTER = 64, MOST_TABLES = 4 };

/* As integers: these instructions look at the bits of an index that they need, and move what there is. */
static LLVMTypeRef integers(cg *g, unsigned size, unsigned n)
{
    return LLVMVectorType(LLVMIntTypeInContext(g->context, 8 * size), n);
}

/* So many registers hold the memory; 0: it is no table for this processor, or not small enough. */
static unsigned tables_of(const cg *g, const k_memory *m, unsigned size)
{
    const unsigned bytes = m->few * size;
    if (!m->few || m->every || m->written || !g->cpu.avx512 || (size == 1 && !g->cpu.vbmi))
        return 0;
    unsigned n = bytes <= REGISTER ? 1 : bytes <= 2 * REGISTER ? 2 : MOST_TABLES;
    return n < MOST_TABLES || (size == 1 && bytes <= MOST_TABLES * REGISTER) ? n : 0;
}

/* Elements first ... of the memory, as many as there are of a register's; the others are open. Nobody writes them while
 * the kernel runs, so LLVM may load them before a loop. */
static cg_ref table_at(cg *g, k_mem m, unsigned size, unsigned first)
{
    const unsigned width = REGISTER / size, few = g->k->mem.at[m].few;
    unsigned left = few > first ? few - first : 0, have = 0;
    cg_ref table = LLVMGetPoison(integers(g, size, width));
    left = left < width ? left : width;
    for (unsigned part = width; part; part /= 2) {
        if (left - have < part)
            continue;
        cg_ref from = LLVMBuildLoad2(g->b, integers(g, size, part), cg_element(g, m, cg_i64(g, first + have)), "");
        LLVMSetAlignment(from, cg_alignment(g, m));
        LLVMSetMetadata(from, LLVMGetMDKindIDInContext(g->context, "invariant.load", 14),
                        LLVMMetadataAsValue(g->context, LLVMMDNodeInContext2(g->context, NULL, 0)));
        int place[REGISTER], spread[REGISTER];
        for (unsigned i = 0; i < width; i++) {
            spread[i] = i < part ? (int)i : -1;
            place[i] = i >= have && i < have + part ? (int)(width + i - have) : (int)i;
        }
        from = part == width ? from : cg_shuffle(g, from, NULL, width, spread);
        table = part == width ? from : cg_shuffle(g, table, from, width, place);
        have += part;
    }
    return table;
}

cg_ref cg_look_up(cg *g, unsigned size, unsigned tables, const cg_ref *table, cg_ref index)
{
    static const char *const of_one[] = {"qi", "hi", "si", "di"}, *const of_two[] = {"qi", "hi", "d", "q"};
    unsigned log = 0;
    while (1u << log < size)
        log++;
    if (tables == 1) {
        const char *name = arena_printf(g->arena, "llvm.x86.avx512.permvar.%s.512", of_one[log]);
        return cg_call(g, name, 0, NULL, 2, (cg_ref[]){table[0], index});
    }
    const char *name = arena_printf(g->arena, "llvm.x86.avx512.vpermi2var.%s.512", of_two[log]);
    cg_ref low = cg_call(g, name, 0, NULL, 3, (cg_ref[]){table[0], index, table[1]});
    if (tables == 2)
        return low;
    cg_ref high = cg_call(g, name, 0, NULL, 3, (cg_ref[]){table[2], index, table[3]});
    cg_ref second = LLVMBuildICmp(g->b, LLVMIntSLT, index, cg_zero(LLVMTypeOf(index)), ""); /* of bytes: 128 and more */
    return LLVMBuildSelect(g->b, second, high, low, "");
}

cg_ref cg_load_table(cg *g, k_mem m, cg_ref index)
{
    const k_memory *memory = &g->k->mem.at[m];
    const unsigned size = (unsigned)ir_type_size((ir_type)memory->type), width = REGISTER / size, lanes = g->lanes;
    const unsigned tables = tables_of(g, memory, size);
    cg_ref table[MOST_TABLES], part[256];
    if (!tables)
        return NULL;
    for (unsigned i = 0; i < tables; i++)
        table[i] = table_at(g, m, size, i * width);
    LLVMTypeRef narrow = integers(g, size, lanes);
    cg_ref small = LLVMTypeOf(index) == narrow
                       ? index
                       : LLVMBuildIntCast2(g->b, index, narrow, false, ""); /* the higher bits of an index are 0 */
    unsigned parts = 0;
    for (unsigned at = 0; at < lanes; at += width)
        part[parts++] = cg_look_up(g, size, tables, table, cg_lanes_from(g, small, at, width));
    cg_ref all = cg_lanes_from(g, cg_joined(g, parts, part), 0, lanes);
    return LLVMBuildBitCast(g->b, all, LLVMVectorType(cg_stored(g, (ir_type)memory->type), lanes), "");
}
