#include "support/code_loops.h"

const sk_program *code_loops(ir_program *p, loops_kind kind)
{
    enum { TIMES = 4 };
    l_options options = {.fuse = true, .cost_model = true, .rows = true};
    options.tiles = kind == LOOPS_TILES;
    options.threads = kind == LOOPS_THREADS;
    l_program *l = l_clusters(p, &options);
    const sk_program *s = sk_prepare(l);
    uint8_t *no = l->tiles ? arena_alloc(p->arena, l->nodes) : NULL;
    options.no_tiles = no;
    for (unsigned times = 1; l->tiles && sk_refuse_tiles(s, no); times++) {
        options.tiles = times < TIMES;
        l = l_clusters(p, &options);
        s = sk_prepare(l);
    }
    return s;
}

static const char *printed(const sk_program *s, arena *a)
{
    text t;
    text_init(&t, a);
    l_print(s->l, &t);
    return t.at;
}

const sk_program *code_other_loops(const char *source, loops_kind kind, arena *a)
{
    const char *message;
    ir_program *one = ir_parse(a, source, &message), *other = ir_parse(a, source, &message);
    if (!one || !other)
        return NULL;
    const sk_program *plain = code_loops(one, LOOPS_PLAIN), *s = code_loops(other, kind);
    return strcmp(printed(plain, a), printed(s, a)) != 0 ? s : NULL;
}
