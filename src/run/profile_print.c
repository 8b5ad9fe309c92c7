/* Tells what was recorded: what each kernel had to move and compute, counted from the kernel itself, beside the time it
 * took and what the machine can do. */
#include "kernel/work.h"
#include "run/program.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    SHARE_GATHERED = 10,
    SHARE_MASKED = 20,
    SHARE_JOINING = 25,
    SHARE_ALONE = 50 /* percent worth a word */,
    MOST_LINES = 40
};

typedef struct launches { /* of one kernel over the same extents, as it is told */
    const run_program *r;
    bool large, one_sweep;
    uint32_t cluster, alike; /* alike: further clusters that share its line */
    const run_row *row;
    uint64_t count, total, least; /* nanoseconds */
    double loaded, stored;        /* bytes that each had to move */
    double operations, wide;
    double roof_seconds;                       /* that each cannot do without; 0: not known */
    unsigned gathered, masked, joining, alone; /* percent */
    bool stream, small, open_ended;
    uint32_t idle; /* workers that had nothing to do */
} launches;

typedef struct telling {
    arena *arena;
    const run_roof *roof; /* NULL: not known; else this one: */
    run_roof raised;      /* what was measured, or else reached by a launch */
    const run_program *r;
    VEC(launches) row;
    uint64_t count, total, least; /* of calls */
} telling;

static uint64_t get(const atomic_uint_fast64_t *n)
{
    return atomic_load_explicit((atomic_uint_fast64_t *)(uintptr_t)n, memory_order_relaxed);
}

/* --- counting --- */

static unsigned percent(double part, double whole)
{
    return whole > 0 ? (unsigned)(100 * part / whole + 0.5) : 0;
}

static void count_memory(launches *l, const run_row *row, const k_work *w)
{
    const kernel *k = row->variant->built->k;
    double loads = 0, gathered = 0;
    uint32_t global = 0;
    for (k_mem i = 1; i < k->mem.n; i++) {
        const k_memory *m = &k->mem.at[i];
        const k_traffic *t = &w->memory[i];
        if (m->space != K_GLOBAL)
            continue;
        int64_t elements = row->elements[global++];
        elements = elements < 0 ? INT64_MAX : elements;
        const double size = (double)ir_type_size((ir_type)m->type);
        l->loaded += size * k_elements_loaded(t, elements);
        l->stored += size * k_elements_stored(t, elements);
        l->stream |= m->stream && t->stores > 0;
        loads += t->loads;
        gathered += t->gathered;
    }
    l->gathered = percent(gathered, loads);
}

static void judge(const telling *t, launches *l)
{
    if (!l->row->variant)
        return;
    const device_limits *limits = l->r->engine.device->limits;
    if (t->roof)
        l->roof_seconds = run_roof_seconds(t->roof, l->loaded, l->stored, l->operations, l->wide);
    l->small = t->roof && !l->open_ended && l->roof_seconds < t->roof->launch;
    l->idle = !l->small && l->row->pieces < (int64_t)limits->workers ? limits->workers - (uint32_t)l->row->pieces : 0;
}

static void count_work(const telling *t, launches *l)
{
    const run_row *row = l->row;
    const device_limits *limits = l->r->engine.device->limits;
    const kernel *k = row->variant->built->k;
    k_work w;
    k_find_work(k, t->arena, row->arg, row->pieces, limits->gang ? limits->gang : k->lanes, &w);
    count_memory(l, row, &w);
    l->operations = w.operations;
    l->wide = w.wide;
    l->open_ended = w.open_ended;
    l->alone = percent(w.alone, w.operations);
    if (!row->variant->joins_rows) {
        l->masked = percent(w.slots - w.used, w.slots);
        l->joining = percent(w.joining, w.slots + w.joining);
    }
}

static void add_row(telling *t, const run_told *of, uint32_t cluster, const run_row *row)
{
    const run_timing *time = &row->time;
    launches l = {.r = of->r, .large = of->large, .one_sweep = of->one_sweep, .cluster = cluster, .row = row};
    l.count = get(&time->count);
    if (!l.count)
        return;
    l.total = get(&time->total);
    l.least = get(&time->least);
    if (row->variant)
        count_work(t, &l);
    vec_push(t->arena, &t->row, l);
}

static void add_version(telling *t, const run_told *of)
{
    for (uint32_t i = 0; i < of->r->l->cluster.n; i++)
        for (const run_row *row = atomic_load(&of->r->cluster[i].rows); row; row = row->next)
            add_row(t, of, i, row);
}

static void tell(telling *t, uint32_t n, const run_told *version, const run_roof *roof, arena *a)
{
    const run_timing *call = &version->r->profile->call;
    *t = (telling){.arena = a, .r = version->r};
    t->count = get(&call->count);
    t->total = get(&call->total);
    t->least = get(&call->least);
    for (uint32_t i = 0; i < n; i++)
        add_version(t, &version[i]);
    if (roof && roof->known) {
        t->raised = *roof;
        t->roof = &t->raised;
    }
    for (uint32_t i = 0; i < t->row.n && t->roof; i++) {
        const launches *l = &t->row.at[i];
        if (l->row->variant)
            run_raise_roof(&t->raised, l->loaded, l->stored, l->operations, l->wide, (double)l->least * 1e-9);
    }
    for (uint32_t i = 0; i < t->row.n; i++)
        judge(t, &t->row.at[i]);
}

/* --- words --- */

static const char *const step_text[RUN_STEPS] = {
    [RUN_COMPILE] = "compiling kernels",
    [RUN_PLANNING] = "planning launches for new extents",
    [RUN_EVALUATE] = "values that the host computes",
    [RUN_ALLOCATE] = "taking memory",
    [RUN_UPLOAD] = "copies to the device",
    [RUN_DOWNLOAD] = "copies from the device",
    [RUN_COPY] = "copies of arrays that are results twice, or parameters",
    [RUN_STRIDED] = "copies of strided arguments",
    [RUN_CONVERT] = "conversions of arrays of structs",
    [RUN_WAIT] = "waiting for the device",
    [RUN_INTERPRET] = "interpreted: no compiled code",
};

/* The words of the JSON form: fixed. */
static const char *const step_name[RUN_STEPS] = {
    [RUN_COMPILE] = "compile", [RUN_PLANNING] = "plan",     [RUN_EVALUATE] = "evaluate",   [RUN_ALLOCATE] = "allocate",
    [RUN_UPLOAD] = "upload",   [RUN_DOWNLOAD] = "download", [RUN_COPY] = "copy",           [RUN_STRIDED] = "strided",
    [RUN_CONVERT] = "convert", [RUN_WAIT] = "wait",         [RUN_INTERPRET] = "interpret",
};

typedef struct words {
    text *out;
    const char *before; /* the next one */
    bool json;
} words;

static void word(words *w, const char *json, const char *format, ...) SN_PRINTF(3, 4);
static void word(words *w, const char *json, const char *format, ...)
{
    va_list args;
    text_add(w->out, w->before);
    w->before = ", ";
    if (w->json) {
        text_printf(w->out, "\"%s\"", json);
        return;
    }
    va_start(args, format);
    text_vprintf(w->out, format, args);
    va_end(args);
}

static void reasons(const launches *l, words *w)
{
    if (l->small)
        word(w, "small", "launch too small");
    if (l->small)
        return; /* nothing else matters then */
    if (l->gathered >= SHARE_GATHERED)
        word(w, "gathered", "gathered (%u%% of what is loaded)", l->gathered);
    if (l->alone >= SHARE_ALONE)
        word(w, "scalar", "scalar");
    if (l->masked >= SHARE_MASKED)
        word(w, "masked", "masked tails (%u%% of the lanes idle)", l->masked);
    if (l->joining >= SHARE_JOINING)
        word(w, "short_rows", "short rows (%u%% of the work joins lanes)", l->joining);
    if (l->stream)
        word(w, "stream", "written past the caches");
    if (l->idle)
        word(w, "idle", "pieces for %u of %u workers", l->r->engine.device->limits->workers - l->idle,
             l->r->engine.device->limits->workers);
    if (l->open_ended)
        word(w, "open_ended", "data decide how long its loops run: more than these operations");
}

/* --- the table --- */

enum { CELL = REAL_TEXT + 8 };

static void number(double value, char to[CELL], const char *unit)
{
    char digits[REAL_TEXT];
    real_text(digits, 'f', value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value);
    snprintf(to, CELL, "%s%.7s", digits, unit);
}

static void scaled(double value, double step, const char *const *unit, unsigned units, char to[CELL])
{
    unsigned i = 0;
    for (; i + 1 < units && value >= 999.5; i++)
        value /= step;
    number(value, to, unit[i]);
}

static const char *time_text(double ns, char to[CELL])
{
    static const char *const unit[] = {" ns", " us", " ms", " s"};
    scaled(ns, 1000, unit, ARRAY_LENGTH(unit), to);
    return to;
}

static const char *bytes_text(double bytes, char to[CELL])
{
    static const char *const unit[] = {" B", " kB", " MB", " GB", " TB"};
    scaled(bytes, 1000, unit, ARRAY_LENGTH(unit), to);
    return to;
}

static const char *rate_text(double per_second, char to[CELL])
{
    number(per_second * 1e-9, to, "");
    return to;
}

static void print_extents(const launches *l, const char *separator, text *out)
{
    const unsigned rank = l->r->l->cluster.at[l->cluster].rank;
    text_add(out, "[");
    for (unsigned d = 0; d < rank; d++)
        text_printf(out, "%s%" PRId64, d ? separator : "", l->row->extent[d]);
    text_add(out, "]");
}

static void print_name(const launches *l, text *out)
{
    if (l->large || l->one_sweep)
        text_printf(out, "for %s%s%s: ", l->large ? "large arguments" : "", l->large && l->one_sweep ? ", " : "",
                    l->one_sweep ? "rows gone over once" : "");
    text_printf(out, "cluster %u", l->cluster);
    if (l->alike)
        text_printf(out, " and %u like it", l->alike);
    if (!l->row->variant) {
        text_add(out, ", over further extents");
        return;
    }
    const char *name = l->row->variant->built->k->name;
    text_printf(out, ", %s", name ? name : "kernel");
    if (l->row->partials)
        text_printf(out, " of %" PRId64 " partial results", l->row->partials);
    text_add(out, " over ");
    print_extents(l, ", ", out);
}

static void print_head(text *out)
{
    text_printf(out, "%10s %6s %8s %10s %10s %8s %8s %5s\n", "time", "share", "times", "least", "bytes", "GB/s",
                "Gop/s", "roof");
}

static void print_launches(const telling *t, const launches *l, text *out)
{
    char total[CELL], least[CELL], bytes[CELL] = "", moved[CELL] = "", computed[CELL] = "", roof[CELL] = "";
    const double all = l->loaded + l->stored, seconds = (double)l->least * 1e-9;
    if (l->row->variant && seconds > 0) {
        bytes_text(all, bytes);
        rate_text(all / seconds, moved);
        rate_text(l->operations / seconds, computed);
        if (l->roof_seconds > 0)
            snprintf(roof, sizeof(roof), "%s%u%%", l->open_ended ? ">" : "", percent(l->roof_seconds, seconds));
    }
    text_printf(out, "%10s %5u%% %8" PRIu64 " %10s %10s %8s %8s %5s  ", time_text((double)l->total, total),
                percent((double)l->total, (double)t->total), l->count, time_text((double)l->least, least), bytes, moved,
                computed, roof);
    print_name(l, out);
    if (l->row->variant)
        reasons(l, &(words){.out = out, .before = ": "});
    text_add(out, "\n");
}

static void print_step(const telling *t, const char *what, uint64_t count, uint64_t total, uint64_t least,
                       uint64_t bytes, text *out)
{
    char all[CELL], one[CELL] = "", each[CELL] = "", rate[CELL] = "";
    if (count)
        time_text((double)least, one);
    if (count && bytes && total) {
        bytes_text((double)bytes / (double)count, each);
        rate_text((double)bytes / (double)total * 1e9, rate);
    }
    text_printf(out, "%10s %5u%% %8.0" PRIu64 " %10s %10s %8s %8s %5s  %s\n", time_text((double)total, all),
                percent((double)total, (double)t->total), count, one, each, rate, "", "", what);
}

/* Lines in order of time. */
typedef struct line {
    uint64_t total;
    const launches *l; /* NULL: a step */
    run_step step;
} line;

static int by_time(const void *x, const void *y)
{
    const line *a = x, *b = y;
    return (a->total < b->total) - (a->total > b->total);
}

static bool alike(const launches *a, const launches *b)
{
    const run_row *x = a->row, *y = b->row;
    if (!x->variant || !y->variant || x->variant->code != y->variant->code || a->r != b->r || x->pieces != y->pieces ||
        x->partials != y->partials || memcmp(x->extent, y->extent, sizeof(x->extent)))
        return false;
    return a->loaded == b->loaded && a->stored == b->stored && a->operations == b->operations;
}

/* Clusters that share a kernel, as the rounds of a loop in C do, share a line. */
static void join_alike(telling *t)
{
    map64 seen = {0};
    uint32_t kept = 0;
    for (uint32_t i = 0; i < t->row.n; i++) {
        launches *l = &t->row.at[i];
        const run_variant *v = l->row->variant;
        uint64_t hash = hash_mix(hash_bytes(l->row->extent, sizeof(l->row->extent), (uint64_t)l->row->pieces),
                                 v ? (uint64_t)(uintptr_t)v->code : 1 + (uint64_t)l->cluster);
        uint32_t at = map64_get(&seen, hash);
        launches *first = at ? &t->row.at[at - 1] : NULL;
        if (first && alike(first, l)) {
            first->alike++;
            first->count += l->count;
            first->total += l->total;
            first->least = l->least < first->least ? l->least : first->least;
            continue;
        }
        t->row.at[kept++] = *l;
        map64_put(t->arena, &seen, hash, kept);
    }
    t->row.n = kept;
}

static void print_lines(telling *t, text *out)
{
    VEC(line) lines = {0};
    uint64_t known = 0;
    join_alike(t);
    for (uint32_t i = 0; i < t->row.n; i++)
        vec_push(t->arena, &lines, ((line){t->row.at[i].total, &t->row.at[i], RUN_STEPS}));
    for (int i = 0; i < RUN_STEPS; i++)
        if (get(&t->r->profile->step[i].count))
            vec_push(t->arena, &lines, ((line){get(&t->r->profile->step[i].total), NULL, (run_step)i}));
    if (lines.n)
        qsort(lines.at, lines.n, sizeof(*lines.at), by_time);
    print_head(out);
    for (uint32_t i = 0; i < lines.n; i++) {
        const line *n = &lines.at[i];
        const run_timing *step = n->l ? NULL : &t->r->profile->step[n->step];
        known += n->total;
        if (i >= MOST_LINES)
            continue;
        if (n->l)
            print_launches(t, n->l, out);
        else
            print_step(t, step_text[n->step], get(&step->count), n->total, get(&step->least), get(&step->bytes), out);
    }
    if (lines.n > MOST_LINES)
        text_printf(out, "and %u more lines, which took less\n", lines.n - MOST_LINES);
    if (t->total > known)
        print_step(t, "everything else: arguments, checks, the caller", 0, t->total - known, 0, 0, out);
}

static void print_roof(const telling *t, const run_roof *measured, text *out)
{
    const run_roof *r = t->roof;
    char a[CELL], b[CELL];
    if (!r) {
        if (measured && measured->why)
            text_printf(out, "the machine could not be measured: %s\n", measured->why);
        return;
    }
    text_printf(out, "%s, measured or reached: ", t->r->engine.device->limits->name);
    for (uint32_t i = 0; i < r->levels; i++) {
        bool last = i + 1 == r->levels;
        text_printf(out, "%s%s ", last ? "beyond" : "up to ", last ? "" : bytes_text(r->level[i].bytes, a));
        text_printf(out, "%s GB/s read, ", rate_text(r->level[i].read, a));
        text_printf(out, "%s copied; ", rate_text(r->level[i].copy, a));
    }
    text_printf(out, "%s Gop/s of f32, %s of f64; ", rate_text(r->f32, a), rate_text(r->f64, b));
    text_printf(out, "a launch %s\n", time_text(r->launch * 1e9, a));
}

void run_print_profile(uint32_t n, const run_told *version, const run_roof *roof, text *out)
{
    char all[CELL], least[CELL];
    telling t;
    const run_program *r = version->r;
    tell(&t, n, version, roof, out->arena);
    if (!t.count && !run_recording(r)) {
        text_add(out,
                 "nothing is recorded: set SINTER_PROFILE=1 in the environment, or sn_profile(program, true), before "
                 "the calls\n");
        return;
    }
    text_printf(out, "calls: %" PRIu64 ", %s together, the fastest %s\n", t.count, time_text((double)t.total, all),
                time_text((double)t.least, least));
    if (atomic_load(&r->profile->host_timed) || atomic_load(&r->profile->device_timed))
        text_printf(out, "every launch and copy is waited for while this is recorded; kernels' times are the %s\n",
                    atomic_load(&r->profile->host_timed) ? "host's" : "device's");
    print_roof(&t, roof, out);
    print_lines(&t, out);
}

/* --- JSON --- */

static void json_timing(const char *key, uint64_t count, uint64_t total, uint64_t least, text *out)
{
    text_printf(out, "\"%s\": %" PRIu64 ", \"total_ns\": %" PRIu64 ", \"least_ns\": %" PRIu64, key, count, total,
                least);
}

static uint64_t whole(double x)
{
    return x > 0 ? x < 1e18 ? (uint64_t)(x + 0.5) : (uint64_t)1000000000000000000u : 0;
}

static void json_launches(const launches *l, text *out)
{
    text_printf(out, "    {\"cluster\": %u, \"large\": %s, \"one_sweep\": %s, ", l->cluster,
                l->large ? "true" : "false", l->one_sweep ? "true" : "false");
    if (l->row->variant) {
        text_printf(out, "\"kernel\": \"%s\", \"over\": ", l->row->variant->built->k->name);
        print_extents(l, ", ", out);
        text_printf(out, ", \"partials\": %" PRId64 ", \"bytes_read\": %" PRIu64 ", \"bytes_written\": %" PRIu64 ", ",
                    l->row->partials, whole(l->loaded), whole(l->stored));
        text_printf(out, "\"operations\": %" PRIu64 ", \"roof_ns\": %" PRIu64 ", \"gathered_percent\": %u, ",
                    whole(l->operations), whole(l->roof_seconds * 1e9), l->gathered);
        text_printf(out, "\"masked_percent\": %u, \"joining_percent\": %u, \"why\": [", l->masked, l->joining);
        reasons(l, &(words){.out = out, .before = "", .json = true});
        text_add(out, "], ");
    }
    json_timing("launches", l->count, l->total, l->least, out);
    text_add(out, "}");
}

static void json_roof(const run_roof *r, text *out)
{
    text_add(out, "  \"roof\": {\"levels\": [");
    for (uint32_t i = 0; i < r->levels; i++)
        text_printf(out, "%s{\"up_to\": %" PRIu64 ", \"read\": %" PRIu64 ", \"copy\": %" PRIu64 "}", i ? ", " : "",
                    i + 1 < r->levels ? whole(r->level[i].bytes) : 0, whole(r->level[i].read), whole(r->level[i].copy));
    text_printf(out, "], \"f32\": %" PRIu64 ", \"f64\": %" PRIu64 ", \"launch_ns\": %" PRIu64 "},\n", whole(r->f32),
                whole(r->f64), whole(r->launch * 1e9));
}

void run_print_profile_json(uint32_t n, const run_told *version, const run_roof *roof, text *out)
{
    telling t;
    const run_program *r = version->r;
    tell(&t, n, version, roof, out->arena);
    text_printf(out, "{\n  \"recording\": %s,\n  \"calls\": {", run_recording(r) ? "true" : "false");
    json_timing("count", t.count, t.total, t.least, out);
    text_add(out, "},\n");
    if (t.roof)
        json_roof(t.roof, out);
    text_add(out, "  \"kernels\": [\n");
    for (uint32_t i = 0; i < t.row.n; i++) {
        text_add(out, i ? ",\n" : "");
        json_launches(&t.row.at[i], out);
    }
    text_add(out, "\n  ],\n  \"steps\": [\n");
    const char *comma = "";
    for (int i = 0; i < RUN_STEPS; i++) {
        const run_timing *s = &r->profile->step[i];
        if (!get(&s->count))
            continue;
        text_printf(out, "%s    {\"step\": \"%s\", ", comma, step_name[i]);
        json_timing("count", get(&s->count), get(&s->total), get(&s->least), out);
        text_printf(out, ", \"bytes\": %" PRIu64 "}", get(&s->bytes));
        comma = ",\n";
    }
    text_add(out, "\n  ]\n}\n");
}
