#include "emit/cpu/llvm/cg.h"
bool cg_tiled_for(cg *g, k_ref id)
{
    (void)g;
    (void)id;
    return false;
}
cg_tiled *cg_tile_of(cg *g, k_ref stmt)
{
    (void)g;
    (void)stmt;
    return NULL;
}
