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

static l_program *made(const char *source, l_options options)
{
    const char *message = NULL;
    ir_program *p = ir_parse(&memory, source, &message);
    if (!p)
        fail_msg("%s", message);
    options.fuse = options.cost_model = true;
    return l_clusters(p, &options);
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

void expect_edges(const char *source, const char *expected)
{
    text t;
    text_init(&t, &memory);
    l_print_edges(made(source, (l_options){.rows = true}), &t);
    assert_string_equal(t.at, expected);
}
