/* Terms in, clusters out. */
#include "clusters_text.h"

static arena memory;

int clusters_setup(void **state)
{
    (void)state;
    arena_init(&memory, NULL);
    return 0;
}

int clusters_teardown(void **state)
{
    (void)state;
    arena_free(&memory);
    return 0;
}

/* Clusters stand behind what they read; row loops have their operations in order, and store what they must. */
static void check(const l_program *l)
{
    for (uint32_t i = 0; i < l->cluster.n; i++) {
        const l_cluster *c = &l->cluster.at[i];
        for (uint32_t r = 0; r < c->reads.n; r++)
            assert_true(l->cluster_of[c->reads.at[r]] <= i && l->manifest[c->reads.at[r]]);
        for (uint32_t k = 0; k < c->op.n && c->class == L_CLASS_ROW; k++) {
            const l_op *op = &c->op.at[k], *before = op - (k > 0);
            assert_true(op->sweep < c->sweeps + op->outer && before->sweep <= op->sweep);
            assert_true(!op->outer || before->outer || before->sweep < op->sweep || k == 0);
            assert_true(op->kind != L_PACK || op->stored);
            assert_true(!c->right || op->kind == L_ELEMENT || op->kind == L_SCAN);
            assert_int_equal(l->cluster_of[op->term], i + 1);
        }
    }
}

static l_program *made(const char *source, l_options options)
{
    const char *message = NULL;
    ir_program *p = ir_parse(&memory, source, &message);
    if (!p)
        fail_msg("%s", message);
    options.fuse = options.cost_model = true;
    l_program *l = l_clusters(p, &options);
    check(l);
    return l;
}

void expect_with(l_options options, const char *source, const char *expected)
{
    text t;
    text_init(&t, &memory);
    l_print_clusters(made(source, options), &t);
    assert_string_equal(t.at, expected);
}

void expect(const char *source, const char *expected)
{
    expect_with((l_options){.rows = true}, source, expected);
}

unsigned count_clusters(l_options options, const char *source)
{
    return made(source, options)->cluster.n;
}

void expect_edges(const char *source, const char *expected)
{
    text t;
    text_init(&t, &memory);
    l_print_edges(made(source, (l_options){.rows = true}), &t);
    assert_string_equal(t.at, expected);
}
