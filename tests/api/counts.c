/* Counts and texts of programs, for tests of their structure. */
#include "counts.h"

counts count(sn_program *p)
{
    counts c = {.clusters = p->plan->cluster.n, .kernels = run_kernels(p->run), .launches = run_launches(p->run)};
    for (uint32_t i = 0; i < p->plan->buffer.n; i++)
        c.buffers += p->plan->buffer.at[i].place == PLAN_TEMPORARY;
    return c;
}

void says(sn_program *p, const char *form, const char *part)
{
    const char *said = sn_explain(p, form);
    assert_non_null(said);
    if (!strstr(said, part))
        fail_msg("\"%s\" is not in:\n%s", part, said);
}

sn_program *compiled_in(sn_context *cx, const char *signature, sn_body body)
{
    if (!cx)
        skip();
    sn_program *p = sn_compile_at((sn_site){__FILE__, __LINE__}, cx, signature, body);
    if (!p)
        fail_msg("%s", sn_message(cx));
    return p;
}

bool on_cpu(void)
{
    return !both_cpu()->engine.device->limits->own_memory;
}
