/* Folds of windows of a few elements become maps. */
#include "opt/windows.h"

#include "opt/apart.h"
#include "opt/needed.h"

typedef struct windows {
    ir_program *p;
    opt_remake remake;
    const uint32_t *readers;
} windows;

enum { DEEPEST = 8, MOST_TERMS = 400 /* of the map's function and all its elements */ };

static uint32_t size_of(ir_program *p, const ir_fn *fn)
{
    opt_ids ids = {0};
    opt_reach(p, p->arena, fn->results, fn->result, &ids);
    uint32_t n = ids.n;
    vec_free(p->arena, &ids);
    return n;
}

/* Does an index go in steps along a dimension of the result that is not its last one? */
static bool goes_in_steps(ir_program *p, const ir_fn *fn, ir_id index)
{
    opt_ids ids = {0};
    bool found = false;
    opt_reach(p, p->arena, 1, &index, &ids);
    for (uint32_t i = 0; i < ids.n && !found; i++) {
        const ir_node *n = ir_at(p, ids.at[i]);
        for (uint32_t k = 0; k + 2 < fn->params && n->kind == IR_OP && n->op == OP_MUL; k++)
            found |= ir_args(p, ids.at[i])[0] == fn->param[k] || ir_args(p, ids.at[i])[1] == fn->param[k];
    }
    vec_free(p->arena, &ids);
    return found;
}

/* Do neighbours of the result read what lies apart, as in blocks, whatever becomes of the fold? */
static bool reads_blocks(ir_program *p, ir_id from)
{
    const ir_fn *fn = ir_info(p, from)->fn;
    opt_ids ids = {0};
    if (ir_at(p, from)->kind == IR_BACKPERMUTE)
        return goes_in_steps(p, fn, fn->result[fn->results - 1]);
    bool found = false;
    opt_reach(p, p->arena, fn->results, fn->result, &ids);
    for (uint32_t i = 0; i < ids.n && !found; i++) {
        const ir_node *n = ir_at(p, ids.at[i]);
        found = n->kind == IR_READ && n->n && goes_in_steps(p, fn, ir_args(p, ids.at[i])[n->n - 1]);
    }
    vec_free(p->arena, &ids);
    return found;
}

/* Is the array made for these rows alone, from elements that it gathers? Adds up the sizes of its functions. */
static bool is_gathered(const windows *s, ir_id from, unsigned deep, uint32_t *terms)
{
    ir_program *p = s->p;
    const ir_node *n = ir_at(p, from);
    const ir_array *info = ir_info(p, from);
    if (s->readers[from] != 1 || deep >= DEEPEST || n->flags & ~(unsigned)(IR_SAFE | IR_STEP) ||
        (n->kind != IR_MAP && n->kind != IR_BACKPERMUTE && n->kind != IR_GENERATE) || !opt_never_fails(p, info))
        return false;
    *terms += size_of(p, info->fn);
    if (n->kind == IR_GENERATE)
        return opt_mixes_last(p, info->fn) && !reads_blocks(p, from);
    if (n->kind == IR_BACKPERMUTE)
        return opt_reads_inside(p, from) && opt_mixes_last(p, info->fn) && !reads_blocks(p, from);
    bool all = true;
    for (uint32_t i = 0; i < info->inputs && all; i++)
        all = is_gathered(s, info->input[i], deep + 1, terms);
    return all;
}

static bool is_window(const windows *s, ir_id fold, int64_t *length)
{
    ir_program *p = s->p;
    const ir_array *info = ir_info(p, fold);
    if (ir_at(p, fold)->kind != IR_FOLD)
        return false;
    const ir_array *from = ir_info(p, info->input[0]);
    if (!ir_extent_constant(p, from->shape[from->rank - 1], length) || *length < 2 || *length > OPT_MOST_OF_WINDOW)
        return false;
    for (uint32_t c = 0; c < info->fn->results; c++)
        if (ir_at(p, info->fn->result[c])->partial || (info->seed && ir_at(p, info->seed[c])->partial))
            return false;
    uint32_t terms = size_of(p, info->fn);
    return info->rank && is_gathered(s, info->input[0], 0, &terms) && terms * (uint64_t)*length <= MOST_TERMS &&
           (uint64_t)*length * info->components <= IR_MAX_COMPONENTS;
}

/* Elements at place k of all rows. */
static ir_id place(const windows *s, ir_id fold, int64_t k)
{
    ir_program *p = s->p;
    const ir_array *info = ir_info(p, fold);
    ir_type index[IR_MAX_RANK];
    ir_id result[IR_MAX_RANK];
    for (unsigned d = 0; d < info->rank; d++)
        index[d] = T_I64;
    ir_fn *fn = ir_fn_new(p, info->rank, index);
    memcpy(result, fn->param, info->rank * sizeof *result);
    result[info->rank] = ir_i64(p, k);
    fn = ir_fn_close(p, fn, info->rank + 1u, result);
    const opt_apart apart = {p, &s->remake, s->readers, fold, true};
    return fn ? opt_elements_of(&apart, fn, info->input[0], IR_SAFE) : 0;
}

/* out = f(left, right) */
static void apply(ir_program *p, const ir_fn *f, uint32_t n, const ir_id *left, const ir_id *right, ir_id *out)
{
    ir_id both[2 * IR_MAX_COMPONENTS];
    memcpy(both, left, n * sizeof *both);
    memcpy(both + n, right, n * sizeof *both);
    ir_instantiate(p, f, both, out);
}

static ir_id unfolded(windows *s, ir_id fold, int64_t length)
{
    ir_program *p = s->p;
    const ir_array *info = ir_info(p, fold);
    const ir_fn *f = opt_remake_function(&s->remake, NULL, NULL, info->fn);
    const ir_id *seed = opt_remake_terms(&s->remake, NULL, NULL, info->components, info->seed);
    const uint32_t n = info->components;
    ir_id input[OPT_MOST_OF_WINDOW], total[IR_MAX_COMPONENTS];
    ir_type type[IR_MAX_COMPONENTS];
    for (int64_t k = 0; k < length; k++) {
        input[k] = place(s, fold, k);
        memcpy(type + k * n, info->type, n * sizeof *type);
        if (!input[k])
            return 0;
    }
    ir_fn *fn = ir_fn_new(p, (uint32_t)length * n, type);
    memcpy(total, fn->param, n * sizeof *total);
    for (int64_t k = 1; k < length; k++)
        apply(p, f, n, total, fn->param + k * n, total);
    if (seed)
        apply(p, f, n, seed, total, total);
    fn = ir_fn_close(p, fn, n, total);
    ir_id made = fn ? ir_map(p, ir_at(p, fold)->site, (uint32_t)length, input, fn, 0) : 0;
    if (made)
        p->node.at[made].u.info->name = info->name;
    return made;
}

void opt_unfold_windows(ir_program *p)
{
    windows s = {.p = p, .readers = opt_count_readers(p)};
    const uint32_t nodes = p->node.n;
    int64_t length;
    bool any = false;
    for (ir_id id = 1; id < nodes && !any; id++)
        any = ir_is_array(p, id) && s.readers[id] && is_window(&s, id, &length);
    if (!any)
        return;
    opt_remake_begin(&s.remake, p);
    for (ir_id id = 1; id < nodes; id++) {
        if (!ir_is_array(p, id) || ir_at(p, id)->kind == IR_INPUT)
            continue;
        const ir_id made = s.readers[id] && is_window(&s, id, &length) ? unfolded(&s, id, length) : 0;
        if (made) {
            s.remake.array[id] = made;
            s.remake.replaces = true;
        } else {
            opt_remake_array(&s.remake, id);
        }
    }
    opt_remake_end(&s.remake);
}
