/* The checker of programs: of operations that move elements, every rule broken once. */
#include "ir/broken_rules.h"

typedef struct moves {
    ir_id in, keep, pair, index, single, grid, table, masks, of_bools;             /* inputs */
    ir_id scan, before, scans, folds, of, packed, sorted, by, put, combined, part; /* what is damaged */
    ir_id call, called, n, m, wrong;
} moves;

static ir_fn *sum_of(fixture *f)
{
    ir_fn *fn = ir_fn_new(f->p, 2, (ir_type[]){T_F32, T_F32});
    ir_id sum = op2(f, OP_ADD, fn->param[0], fn->param[1]);
    return ir_fn_close(f->p, fn, 1, &sum);
}

/* A choice between an array and another one. */
static ir_id choice(fixture *f, ir_id x)
{
    static uint32_t from = 0, value = 1, dim = 0, result = 0;
    static ir_region region[2];
    for (int i = 0; i < 2; i++) {
        ir_program *p = ir_program_new(&f->a);
        ir_id n = ir_dim(p, "n"), of = ir_input(p, 1, (ir_type[]){T_F32}, 1, &n);
        ir_fn *fn = ir_fn_new(p, 1, (ir_type[]){T_F32});
        ir_id moved = ir_op2(p, 0, OP_MUL, fn->param[0], ir_const(p, T_F32, ir_bits_f32(2 + (float)i)));
        ir_fn_close(p, fn, 1, &moved);
        ir_output(p, ir_map(p, 0, 1, &of, fn, 0));
        region[i] = (ir_region){
            .program = p, .rounds = 1, .source = &from, .values = 1, .value = &value, .dim = &dim, .result = &result};
    }
    ir_id values[2] = {ir_bool(f->p, true), ir_dim(f->p, "n")};
    ir_control c = {.form = IR_CHOICE, .parts = 1, .regions = 2, .region = region, .values = 2, .value = values};
    return ir_control_new(f->p, 0, &c, 1, &x);
}

static moves build_moves(fixture *f)
{
    static const ir_code code = {.name = "f", .source = {"f"}};
    ir_program *p = f->p;
    const ir_type f32 = T_F32, i64 = T_I64, holds = T_BOOL, both[2] = {T_F32, T_I64}, bools[2] = {T_BOOL, T_BOOL};
    moves w = {.n = ir_dim(p, "n"), .m = ir_dim(p, "m"), .wrong = ir_const(p, T_U8, 1)};
    const ir_id two[2] = {w.m, w.n};
    w.in = ir_input(p, 1, &f32, 1, &w.n);
    w.keep = ir_input(p, 1, &holds, 1, &w.n);
    w.pair = ir_input(p, 2, both, 1, &w.n);
    w.index = ir_input(p, 1, &i64, 1, &w.n);
    w.single = ir_input(p, 1, &f32, 0, NULL);
    w.grid = ir_input(p, 1, &f32, 2, two);
    w.table = ir_input(p, 1, &i64, 2, two);
    w.masks = ir_input(p, 1, &holds, 2, two);
    w.of_bools = ir_input(p, 2, bools, 1, &w.n);
    const ir_id zero = real(f, 0);
    w.scan = ir_scan(p, 0, sum_of(f), NULL, w.in, 0);
    w.before = ir_scan(p, 0, sum_of(f), &zero, w.in, IR_EXCLUSIVE);
    w.scans = ir_scan_seg(p, 0, sum_of(f), &zero, w.in, w.index, 0);
    w.folds = ir_fold_seg(p, 0, sum_of(f), &zero, w.grid, w.index, 0);
    w.of = ir_segment_of(p, 0, w.n, w.index);
    w.packed = ir_pack(p, 0, w.keep, w.pair);
    w.sorted = ir_sort(p, 0, 1, NULL, w.pair, 0);
    ir_fn *less = ir_fn_new(p, 2, (ir_type[]){T_F32, T_F32});
    ir_id is_less = op2(f, OP_LT, less->param[0], less->param[1]);
    w.by = ir_sort(p, 0, 0, ir_fn_close(p, less, 1, &is_less), w.in, 0);
    w.put = ir_permute(p, 0, NULL, w.in, w.index, w.in);
    w.combined = ir_permute(p, 0, sum_of(f), w.in, w.index, w.in);
    w.part = ir_part(p, 0, choice(f, w.in), 0, 1, &w.n, 0);
    ir_fn *fn = ir_fn_new(p, 1, &f32);
    w.call = ir_call(p, 0, &code, 2, (ir_id[]){op1(f, OP_NEG, fn->param[0]), fn->param[0]});
    w.called = ir_map(p, 0, 1, &w.in, ir_fn_close(p, fn, 1, &w.call), 0);
    const ir_id results[] = {w.scan,   w.before, w.scans, w.folds,    w.of,   w.packed,
                             w.sorted, w.by,     w.put,   w.combined, w.part, w.called};
    for (size_t i = 0; i < ARRAY_LENGTH(results); i++)
        ir_output(p, results[i]);
    return w;
}

/* Does damage number `which`; what the checker is to say, NULL after the last one. */
static const char *damage(fixture *f, const moves *w, int which)
{
    ir_program *p = f->p;
    ir_node *at = p->node.at;
#define INFO(name) ir_array *name = at[w->name].u.info
    INFO(scan);
    INFO(before);
    INFO(scans);
    INFO(folds);
    INFO(of);
    INFO(packed);
    INFO(sorted);
    INFO(by);
    INFO(put);
    INFO(combined);
    INFO(part);
#undef INFO
    ir_control *control = at[part->input[0]].u.info->control;
    static ir_type of_longs[2] = {T_I64, T_I64};
    int n = 0;
#define DAMAGE(how, what)                                                                                              \
    if (which == n++) {                                                                                                \
        how;                                                                                                           \
        return what;                                                                                                   \
    }
    /* scans */
    DAMAGE(scan->fn = NULL, "parts are missing or too many")
    DAMAGE(scan->fn->results = 0, "gives other types")
    DAMAGE(scan->type[0] = T_F64, "gives other types")
    DAMAGE(scan->input[0] = w->pair, "takes other operands")
    DAMAGE(scan->fn->params = 1, "")
    DAMAGE(scan->shape[0] = w->m, "does not follow from the operand's")
    DAMAGE(scan->rank = 0, "does not follow from the operand's")
    DAMAGE(scan->input[0] = w->single, "scans rank 0")
    DAMAGE(before->input[0] = w->single, "scans rank 0")
    DAMAGE(before->seed = NULL, "an exclusive scan without initial value")
    DAMAGE(before->seed[0] = w->wrong, "is of type u8, not f32")
    DAMAGE(before->seed[0] = before->fn->param[0], "is not closed")
    DAMAGE(scans->inputs = 1, "scans segments without offsets")
    DAMAGE(scans->input[1] = w->in, "scans segments without offsets")
    DAMAGE(scans->input[1] = w->pair, "scans segments without offsets")
    DAMAGE(scans->input[1] = w->table, "scans segments without offsets")
    DAMAGE(scans->seed[0] = w->wrong, "is of type u8, not f32")
    DAMAGE(scans->fn->results = 0, "gives other types")
    DAMAGE(scans->shape[0] = w->m, "does not follow from the operand's")
    /* segments */
    DAMAGE(folds->fn = NULL, "parts are missing or too many")
    DAMAGE(folds->fn->results = 0, "gives other types")
    DAMAGE(folds->inputs = 1, "folds segments of something else")
    DAMAGE(folds->input[1] = w->in, "folds segments of something else")
    DAMAGE(folds->input[1] = w->table, "folds segments of something else")
    DAMAGE(folds->input[0] = w->single, "folds segments of something else")
    DAMAGE(folds->rank = 1, "folds segments of something else")
    DAMAGE(folds->shape[0] = w->n, "does not follow from the operand's")
    DAMAGE(folds->input[0] = w->table, "takes other operands")
    DAMAGE(folds->seed[0] = w->wrong, "is of type u8, not f32")
    DAMAGE(folds->seed[0] = folds->fn->param[0], "is not closed")
    DAMAGE(of->type[0] = T_I32, "segments of something else than offsets")
    DAMAGE((of->components = 2, of->type = of_longs), "segments of something else than offsets")
    DAMAGE(of->input[0] = w->in, "segments of something else than offsets")
    DAMAGE((of->rank = 2, of->shape[1] = w->n), "segments of something else than offsets")
    DAMAGE(of->inputs = 0, "parts are missing or too many")
    /* packs */
    DAMAGE(packed->inputs = 1, "packs other than one row by bools")
    DAMAGE(packed->input[0] = w->in, "packs other than one row by bools")
    DAMAGE(packed->input[0] = w->masks, "packs other than one row by bools")
    DAMAGE(packed->input[0] = w->of_bools, "packs other than one row by bools")
    DAMAGE(packed->input[1] = w->grid, "packs other than one row by bools")
    DAMAGE(packed->rank = 0, "packs other than one row by bools")
    DAMAGE(packed->input[1] = w->in, "of other types than the operand's")
    DAMAGE(packed->type[0] = T_F64, "of other types than the operand's")
    DAMAGE(packed->shape[0] = w->n, "the extent does not count")
    DAMAGE(packed->fn = scan->fn, "parts are missing or too many")
    /* sorts */
    DAMAGE(sorted->keys = 3, "sorts rank 0, or by no keys")
    DAMAGE(sorted->keys = 0, "parts are missing or too many")
    DAMAGE(sorted->fn = by->fn, "parts are missing or too many")
    DAMAGE(sorted->input[0] = w->single, "sorts rank 0, or by no keys")
    DAMAGE(sorted->type[0] = T_F64, "of other types than the operand's")
    DAMAGE(sorted->shape[0] = w->m, "does not follow from the operand's")
    DAMAGE(by->fn->result[0] = by->fn->param[0], "gives other types")
    DAMAGE(by->fn->results = 0, "gives other types")
    DAMAGE(by->input[0] = w->pair, "takes other operands")
    DAMAGE(by->keys = 1, "parts are missing or too many")
    DAMAGE(by->shape[0] = w->m, "does not follow from the operand's")
    /* permutes */
    DAMAGE(put->inputs = 2, "a permute of other than three arrays, or of rank 0")
    DAMAGE(put->input[0] = w->single, "a permute of other than three arrays, or of rank 0")
    DAMAGE(put->input[1] = w->in, "targets that are no indices")
    DAMAGE(put->input[1] = w->pair, "targets that are no indices")
    DAMAGE(put->input[1] = w->table, "targets that are no indices")
    DAMAGE(put->input[2] = w->pair, "of other types than the operand's")
    DAMAGE(put->input[0] = w->pair, "of other types than the operand's")
    DAMAGE(put->type[0] = T_F64, "of other types than the operand's")
    DAMAGE(put->shape[0] = w->m, "does not follow from the operand's")
    DAMAGE(combined->input[0] = w->pair, "takes other operands")
    DAMAGE(combined->input[2] = w->index, "of other types than the operand's")
    DAMAGE(combined->fn->results = 0, "gives other types")
    DAMAGE(combined->fn->params = 1, "")
    /* controls and their results */
    DAMAGE(at[w->part].args = 1, "a result of what has none")
    DAMAGE(part->input[0] = w->in, "a result of what has none")
    DAMAGE(control->value[0] = w->n, "is of type i64, not bool")
    DAMAGE(control->value[1] = w->wrong, "is of type u8, not i64")
    DAMAGE(control->region[1].program->output.at[0] = 0, "region 1: ")
    DAMAGE(control->region[0].program->output.at[0] = 0, "region 0: ")
    DAMAGE(at[part->input[0]].u.info->components = 1, "rank 0 with 1 components")
    /* calls of what is written in another language */
    DAMAGE(at[w->call].n = 1, "a call with 1 operands")
    DAMAGE(at[w->call].n = IR_MOST_CALLED + 2, "")
    DAMAGE(at[w->call].u.code = NULL, "a call with 2 operands")
    DAMAGE(p->arg.at[at[w->call].args] = w->wrong, "is of type u8, not f32")
#undef DAMAGE
    return NULL;
}

static const char *broken(fixture *f, int which)
{
    moves w = build_moves(f);
    assert_string_equal(last_error(f), "no error");
    return which < 0 ? "" : damage(f, &w, which);
}

static void every_rule_is_kept(void **unused)
{
    (void)unused;
    every_rule_is_kept_by(broken);
}

/* A component that the types of an array would have, were it longer. */
static void components_end(void **state)
{
    static ir_type longer[2] = {T_F32, T_F32};
    fixture *f = *state;
    const char *why = NULL;
    ir_id n = ir_dim(f->p, "n"), in = ir_input(f->p, 1, longer, 1, &n);
    ir_fn *fn = ir_fn_new(f->p, 1, (ir_type[]){T_I64});
    ir_id read = ir_read(f->p, 0, in, 0, 0, 1, fn->param);
    ir_output(f->p, ir_generate(f->p, 0, 1, &n, ir_fn_close(f->p, fn, 1, &read)));
    assert_true(ir_check_program(f->p, &f->a, &why));
    ir_at(f->p, in)->u.info->type = longer;
    f->p->node.at[read].u.literal = 1;
    assert_false(ir_check_program(f->p, &f->a, &why));
    assert_non_null(strstr(why, "reads a component that is not there"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rule_is_kept),
        cmocka_unit_test_setup_teardown(components_end, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
