/* One operation of any kind. */
#include "support/random_operation.h"
#include "support/random_arrays.h"
#include "support/random_elements.h"
#include "support/random_folds.h"
#include "support/random_joins.h"
#include "support/random_moves.h"
#include "support/random_permutes.h"
#include "support/random_regions.h"
#include "support/random_rows.h"
#include "support/random_segments.h"

ir_id random_operation(random_maker *m)
{
    static const ir_kind kinds[] = {IR_MAP, IR_GENERATE, IR_BACKPERMUTE, IR_FOLD,  IR_MAP,
                                    IR_MAP, IR_STENCIL,  IR_RESHAPE,     IR_FORCE, IR_BACKPERMUTE};
    static const ir_kind rows[] = {IR_MAP,         IR_SCAN,       IR_PACK, IR_FOLD,     IR_SCAN,     IR_PACK,
                                   IR_MAP,         IR_PACK,       IR_MAP,  IR_GENERATE, IR_FOLD,     IR_RESHAPE,
                                   IR_BACKPERMUTE, IR_SCAN,       IR_SORT, IR_PERMUTE,  IR_FOLD_SEG, IR_SEGMENT_OF,
                                   IR_FOLD_SEG,    IR_SEGMENT_OF, IR_PACK, IR_PACK,     IR_SCAN_SEG, IR_SEGMENT_OF};
    ir_kind kind = m->options->rows && chance(&m->c, 70) ? rows[choose(&m->c, ARRAY_LENGTH(rows))]
                                                         : kinds[choose(&m->c, ARRAY_LENGTH(kinds))];
    if (kind == IR_SORT && chance(&m->c, 50))
        kind = IR_PACK;
    if (m->options->rows && chance(&m->c, 20))
        return random_row_reader(m);
    if (m->options->rows && chance(&m->c, 12))
        return random_join(m);
    if (m->options->controls && chance(&m->c, 25))
        return random_control(m);
    if (!random_allows(m, kind))
        return 0;
    switch (kind) {
    case IR_MAP:
        return random_map(m);
    case IR_GENERATE:
        return random_generate(m);
    case IR_BACKPERMUTE:
        return random_backpermute(m);
    case IR_FOLD:
        return random_fold(m);
    case IR_FOLD_SEG:
        return random_fold_seg(m);
    case IR_SCAN_SEG:
        return random_scan_seg(m);
    case IR_SEGMENT_OF:
        return random_segment_of(m);
    case IR_SCAN:
        return random_scan(m);
    case IR_PACK:
        return random_pack(m);
    case IR_SORT:
        return random_sort(m);
    case IR_PERMUTE:
        return random_permute(m);
    case IR_STENCIL:
        return random_stencil_of(m);
    case IR_RESHAPE:
        return random_reshape(m);
    default:
        return ir_force(m->p, 0, random_array(m, 0, 3));
    }
}
