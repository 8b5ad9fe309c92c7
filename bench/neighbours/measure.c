/* One line of the list: compile, run both sides once and compare, then bursts of each side in turn, the least time of
 * each. A burst is a few runs in a row, so that the side's threads are awake and its data where it left them; before
 * it, the other side's threads get the time to fall asleep. */
#include "measure.h"

#include "../harness.h"

#include <stdio.h>

static const double settle_seconds = 400e-6;
enum { LEAST_ROUNDS = 8, MOST_ROUNDS = 200 };

struct build {
    const struct nb_build *of;
    const int64_t *extents;
};

static sn_acc body(void *env, int count, const sn_acc *p)
{
    const struct build *b = env;
    (void)count;
    switch (b->of->parameters) {
    case 0:
        return ((sn_acc(*)(void))b->of->call)();
    case 1:
        return ((sn_acc(*)(sn_acc))b->of->call)(p[0]);
    case 2:
        return ((sn_acc(*)(sn_acc, sn_acc))b->of->call)(p[0], p[1]);
    case 3:
        return ((sn_acc(*)(sn_acc, sn_acc, sn_acc))b->of->call)(p[0], p[1], p[2]);
    case 4:
        return ((sn_acc(*)(sn_acc, sn_acc, sn_acc, sn_acc))b->of->call)(p[0], p[1], p[2], p[3]);
    case 5:
        return ((sn_acc(*)(sn_acc, sn_acc, sn_acc, sn_acc, sn_acc))b->of->call)(p[0], p[1], p[2], p[3], p[4]);
    default:
        return ((sn_acc(*)(const int64_t *, const sn_acc *))b->of->call)(b->extents, p);
    }
}

sn_program *nb_compile(sn_context *context, const struct nb_program *program, const struct nb_build *build,
                       const int64_t *extents)
{
    struct build b = {build, extents};
    return sn_compile_at((sn_site){program->name, 0}, context, program->signature, sn_body_env(body, &b));
}

struct side {
    nb_c *c;
    const struct nb_call *call;
    sn_context *context;
    sn_program *program;
    const sn_arg *arg;
    int args;
    double least;
};

/* Seconds; negative after an error. */
static double run(struct side *side)
{
    sn_status status = SN_OK;
    double start = bench_now();
    if (side->c)
        side->c(side->call);
    else
        status = sn_call_n(side->program, side->args, side->arg);
    double seconds = bench_now() - start;
    if (status == SN_OK && (side->least == 0 || seconds < side->least))
        side->least = seconds;
    return status == SN_OK ? seconds : -1;
}

static double burst(struct side *side, double least)
{
    double start = bench_now();
    while (bench_now() - start < settle_seconds)
        continue;
    double spent = 0;
    for (int i = 0; spent < least || (i < 2 && spent < 20 * least); i++) {
        double seconds = run(side);
        if (seconds < 0)
            return -1;
        spent += seconds;
    }
    return spent;
}

static bool in_turn(struct side *sinter, struct side *opponent, const struct nb_effort *effort)
{
    double spent = 0;
    for (int i = 0; i < MOST_ROUNDS && (i < LEAST_ROUNDS || spent < effort->seconds); i++) {
        double a = burst(opponent, effort->burst), b = burst(sinter, effort->burst);
        if (a < 0 || b < 0)
            return false;
        spent += a + b;
    }
    return true;
}

static bool message(const struct side *side, struct nb_result *result)
{
    snprintf(result->text, sizeof result->text, "%s", sn_message(side->context));
    return false;
}

static bool measure(const struct nb_program *program, struct side *sinter, struct side *opponent,
                    const struct nb_arguments *arguments, const struct nb_effort *effort, struct nb_result *result)
{
    if (!sinter->program)
        return message(sinter, result);
    if (!opponent->c && !opponent->program)
        return message(opponent, result);
    if (run(opponent) < 0)
        return message(opponent, result);
    if (run(sinter) < 0)
        return message(sinter, result);
    bool agree = nb_arguments_agree(program, arguments, result->text, sizeof result->text);
    if (effort->seconds > 0) {
        sinter->least = opponent->least = 0; /* those were the first runs */
        if (!in_turn(sinter, opponent, effort))
            return message(sinter, result);
    }
    result->sinter = sinter->least;
    result->opponent = opponent->least;
    return agree;
}

void nb_measure(sn_context *context, const struct nb_program *program, const struct nb_opponent *opponent,
                const struct nb_arguments *arguments, const struct nb_effort *effort, struct nb_result *result)
{
    const int64_t *extents = arguments->call.extent;
    int args = arguments->ins + arguments->outs;
    struct side a = {.context = context, .arg = arguments->sinter, .args = args};
    struct side b = {.c = opponent->c, .call = &arguments->call, .arg = arguments->opponent, .args = args};
    a.program = nb_compile(context, program, &program->build, extents);
    if (!b.c) {
        b.context = opponent->context;
        b.program = nb_compile(b.context, program, opponent->build, extents);
    }
    result->n = arguments->n;
    result->good = measure(program, &a, &b, arguments, effort, result);
    sn_drop(a.program);
    sn_drop(b.program);
}
