/* Results that are parts of something which is in memory anyway: unzipped folds need no loop of their own. */
#include "loop/parts.h"

#include "loop/uses.h"

bool l_picked(const ir_program *p, l_part *part)
{
    const ir_array *info = ir_info(p, part->array);
    if (ir_at(p, part->array)->kind != IR_MAP || ir_at(p, part->array)->flags & IR_INDEXED)
        return false;
    uint32_t param = 0;
    for (uint32_t i = 0; i < info->inputs; i++) {
        const ir_array *input = ir_info(p, info->input[i]);
        for (uint32_t c = 0; c < input->components; c++, param++) {
            if (info->fn->param[param] != info->fn->result[part->component])
                continue;
            *part = (l_part){info->input[i], c};
            return l_same_shape(info, input);
        }
    }
    return false;
}

/* A chain of picks ends early at such a length: none that people write is longer. */
enum { LONGEST = 16 };

static bool find_part(const ir_program *p, l_part *part)
{
    for (unsigned i = 0; i < LONGEST; i++) {
        ir_kind kind = (ir_kind)ir_at(p, part->array)->kind;
        if (kind == IR_FOLD || kind == IR_FORCE || kind == IR_SCAN || kind == IR_PACK || kind == IR_SORT ||
            kind == IR_PERMUTE || kind == IR_PART || kind == IR_FOLD_SEG || kind == IR_SCAN_SEG)
            return i > 0;
        if (!l_picked(p, part))
            return false;
    }
    return false;
}

l_part *l_parts(const ir_program *p, const l_options *options, bool *taken)
{
    uint32_t n = 0, next = 0;
    for (uint32_t k = 0; k < p->output.n; k++)
        n += ir_info(p, p->output.at[k])->components;
    l_part *part = arena_array(p->arena, *part, n + 1);
    for (uint32_t k = 0; k < p->output.n; k++) {
        const ir_array *info = ir_info(p, p->output.at[k]);
        taken[k] = options->fuse;
        for (uint32_t c = 0; c < info->components; c++) {
            part[next + c] = (l_part){p->output.at[k], c};
            taken[k] &= find_part(p, &part[next + c]);
        }
        for (uint32_t c = 0; c < info->components && !taken[k]; c++)
            part[next + c] = (l_part){p->output.at[k], c};
        next += info->components;
    }
    return part;
}
