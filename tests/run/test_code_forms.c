/* What becomes of typical programs, as numbers: their loops and plans, how these are launched on some devices for some
 * extents, and of each kernel what it is made of, and what of that the passes over kernels change. All of it stands in
 * tests/run/code_forms.txt. Results do not tell when a choice that is there for speed is not made any more, or made
 * where it does not pay: these numbers do. Where a change is meant to make other code,
 *
 *     SINTER_TEST_WRITE=1 build/release/tests/test_code_forms
 *
 * writes the file anew, and its difference belongs to the change. Else the programs are dealt out to several tests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "device/cpu_codegen.h"
#include "device/cpu_export.h"
#include "device/kernel_cache.h"
#include "emit/text/dialect.h"
#include "ir/interpret.h"
#include "kernel/passes.h"
#include "kernel/work.h"
#include "plan/plan.h"
#include "support/code_loops.h"
#include "support/code_programs.h"
#include "support/random_gang.h"
#include "support/random_kernel.h"
#include "support/random_program.h"
#include "support/written.h"

static const char numbers[] = "tests/run/code_forms.txt", /* tests run at the top of the repository */
    machine_code[] = "tests/run/machine_code.txt";

/* What is written of kernels: numbers, or these and the whole text, or what the CPU's code generator makes of them. */
typedef enum { NUMBERS, WHOLE, MACHINE } what;

static const emit_cpu_module *generator;

static const struct {
    const char *name;
    sk_options options;
} devices[] = {
    {"vectors", {.vector_bytes = 64, .workers = 8, .chains = true, .checks = true, .scratch = 256 << 10}},
    {"one core",
     {.vector_bytes = 32,
      .workers = 1,
      .chains = true,
      .checks = true,
      .contract = true,
      .narrow = true,
      .scratch = 64 << 10}},
    {"blocks", {.group = 256, .gang = 32, .workers = 100, .checks = true, .scratch = 32 << 10}},
};

/* The first extent, the third and so on; and the second, the fourth ... */
static const int64_t sizes[] = {5, 40, 700, 90000, 4, 50000, 5000, 3000, 300000},
                     others[] = {3, 15, 235, 30002, 60000, 3, 100, 16, 2};

enum {
    CACHE = 1 << 18,
    OF_VALUES = 3 /* what is read for an extent */,
    RANDOM = 200,    /* programs, a line each */
    OF_MACHINE = 40, /* of these */
    KERNELS = 60,
    CORES = 2 /* the devices that are */
};

/* --- how often words stand in a kernel --- */

typedef struct words {
    const char *at[200];
    unsigned length[200], times[200], n;
} words;

static void note(words *w, const char *word, unsigned length)
{
    unsigned i = 0;
    while (i < w->n && (w->length[i] != length || memcmp(w->at[i], word, length) != 0))
        i++;
    if (i == ARRAY_LENGTH(w->at))
        return;
    w->at[i] = word;
    w->length[i] = length;
    w->times[i]++;
    w->n = i < w->n ? w->n : i + 1;
}

static bool before(const words *w, unsigned i, unsigned j)
{
    unsigned n = w->length[i] < w->length[j] ? w->length[i] : w->length[j];
    int order = memcmp(w->at[i], w->at[j], n);
    return order < 0 || (order == 0 && w->length[i] < w->length[j]);
}

static bool of_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.';
}

static unsigned times_of(const words *w, const char *word, unsigned length)
{
    for (unsigned i = 0; i < w->n; i++)
        if (w->length[i] == length && memcmp(w->at[i], word, length) == 0)
            return w->times[i];
    return 0;
}

/* Operators, statements and literals of a kernel, in order; names of values and memories are left out. */
static words words_of(const kernel *k, arena *a)
{
    text t;
    text_init(&t, a);
    k_print(k, &t);
    words w = {.n = 0};
    for (const char *s = t.at; *s;) {
        unsigned n = 0;
        bool name = *s == '%' || *s == '@' || *s == ':';
        s += name;
        while (of_word(s[n]))
            n++;
        if (n && !name)
            note(&w, s, n);
        s += n ? n : !name;
    }
    for (unsigned done = 0; done < w.n; done++) {
        unsigned least = done;
        for (unsigned i = done + 1; i < w.n; i++)
            least = before(&w, i, least) ? i : least;
        const char *at = w.at[least];
        unsigned length = w.length[least], times = w.times[least];
        w.at[least] = w.at[done], w.length[least] = w.length[done], w.times[least] = w.times[done];
        w.at[done] = at, w.length[done] = length, w.times[done] = times;
    }
    return w;
}

/* Those that stand there more or less often than in another kernel, and how often. */
static void write_words(const words *w, const words *other, text *out)
{
    for (unsigned i = 0; i < w->n; i++)
        if (times_of(other, w->at[i], w->length[i]) != w->times[i])
            text_printf(out, w->times[i] > 1 ? " %.*s*%u" : " %.*s", (int)w->length[i], w->at[i], w->times[i]);
    for (unsigned i = 0; i < other->n; i++)
        if (!times_of(w, other->at[i], other->length[i]))
            text_printf(out, " -%.*s", (int)other->length[i], other->at[i]);
    text_add(out, "\n");
}

static void write_digest(const char *of, const text *t, text *out)
{
    uint64_t bits = 14695981039346656037u;
    for (size_t i = 0; i < t->n; i++)
        bits = (bits ^ (unsigned char)t->at[i]) * 1099511628211u;
    text_printf(out, "%s %016" PRIx64, of, bits);
}

/* --- launches --- */

typedef struct shape {
    int64_t size, other;
    ir_program *p;
    arena *a;
} shape;

static bool read_scalar(void *env, ir_id array, uint32_t component, ir_bits *out)
{
    (void)env, (void)array, (void)component;
    *out = OF_VALUES;
    return true;
}

static int64_t closed(const shape *s, ir_id term)
{
    int64_t dims[64];
    for (unsigned i = 0; i < ARRAY_LENGTH(dims); i++)
        dims[i] = i % 2 ? s->other : s->size;
    ir_host env = {dims, read_scalar, NULL};
    ir_bits out = 0;
    return ir_evaluate(s->p, s->a, term, &env, &out) ? (int64_t)out : 0;
}

static void write_work(const shape *s, const sk_kernel *k, const sk_geometry *g, text *out)
{
    k_work w;
    ir_bits *arg = arena_array(s->a, *arg, k->argument.n + 1);
    for (uint32_t i = 0; i < k->argument.n; i++)
        arg[i] = k->argument.at[i].term ? (ir_bits)closed(s, k->argument.at[i].term)
                                        : (ir_bits)g->slot[k->argument.at[i].slot];
    k_find_work(k->k, s->a, arg, g->pieces, k->k->lanes ? k->k->lanes : 1, &w);
    double loads = 0, stores = 0;
    for (k_mem m = 1; m < k->k->mem.n; m++) {
        loads += w.memory[m].loads;
        stores += w.memory[m].stores;
    }
    text_printf(out, "; work %.0f %.0f %.0f, memory %.0f %.0f", w.operations, w.used, w.slots, loads, stores);
}

typedef struct seen { /* kernels that are written already */
    sk_variant variant[64];
    int64_t row[64];
    bool final[64], stream[64], ahead[64];
    unsigned n;
} seen;

static bool is_new(seen *s, const sk_geometry *g)
{
    for (unsigned i = 0; i < s->n; i++)
        if (s->variant[i] == g->variant && s->row[i] == g->row && s->final[i] == (g->partials == 1) &&
            s->stream[i] == g->stream && s->ahead[i] == g->ahead)
            return false;
    if (s->n == ARRAY_LENGTH(s->row))
        return false;
    s->variant[s->n] = g->variant;
    s->row[s->n] = g->row;
    s->stream[s->n] = g->stream;
    s->ahead[s->n] = g->ahead;
    s->final[s->n++] = g->partials == 1;
    return true;
}

static void write_source(const char *of, const kernel *k, const dialect *d, arena *a, text *out)
{
    text t;
    const char *why = "";
    text_init(&t, a);
    if (!emit_text(k, d, "code", &t, &why))
        text_add(&t, why);
    write_digest(of, &t, out);
}

/* What the CPU's code generator makes of a kernel for processors of a level, and what else they have. */
static void generate(const kernel *k, unsigned level, const char *features, uint32_t part, arena *a, text *out)
{
    const cpu_level *l = device_cpu_level_at(level);
    if (!l)
        return; /* another kind of processor */
    const emit_cpu_options options = {
        .cpu = l->cpu, .features = arena_printf(a, "%s%s", l->features, features), .only_digest = true, .part = part};
    char *why = NULL;
    emit_cpu_code *code = generator->compile(k, &options, &why);
    if (!code)
        fail_msg("%s", why ? why : "no memory");
    text_add(out, generator->ir_text(code));
    generator->release(code);
}

/* The same kernel where all arrays that are read are fields of the same structs, which are larger than these, and all
 * that are written are those of others, which consist of them. NULL if it cannot be called so. */
static const kernel *of_structs(const kernel *k, arena *a)
{
    kernel *of = k_clone(k, a);
    uint32_t bytes[2] = {8, 0};
    k_mem first[2] = {0, 0};
    for (k_mem m = 1; m < of->mem.n; m++) {
        k_memory *field = &of->mem.at[m];
        if (field->space != K_GLOBAL)
            continue;
        field->at = bytes[field->written];
        field->beside = first[field->written];
        field->stream = false;
        first[field->written] = field->beside ? field->beside : m;
        bytes[field->written] += (uint32_t)ir_type_size((ir_type)field->type);
    }
    for (k_mem m = 1; m < of->mem.n; m++)
        if (of->mem.at[m].space == K_GLOBAL)
            of->mem.at[m].every = bytes[of->mem.at[m].written];
    const char *why;
    return k_verify(of, a, &why) ? of : NULL;
}

enum { LARGE = 150 };

/* Does the kernel say what is read soon? */
static bool has_hints(const kernel *k)
{
    for (k_ref i = 1; i < k->stmt.n; i++)
        if (k->stmt.at[i].op == K_FETCH || (k->stmt.at[i].op == K_LOAD && k->stmt.at[i].sub == K_AHEAD))
            return true;
    return false;
}

/* How many instructions the code generator makes for two kinds of processors with such vectors, how many of them fetch
 * what the kernel says is read soon, and their digest. */
static void write_machine_code(const kernel *k, const sk_options *o, arena *a, text *out)
{
    const kernel *ready = kernel_prepare(a, k, NULL), *fields = of_structs(k, a);
    const bool wide = o->vector_bytes == 64;
    unsigned instructions = 0, fetches = 0;
    text t;
    text_init(&t, a);
    generate(ready, wide ? 4 : 3, "", 0, a, &t);
    generate(ready, wide ? 4 : 2, wide ? ",+avx512vbmi,+avx512vbmi2" : "", 0, a, &t);
    if (ready->stmt.n > LARGE) /* in several functions */
        generate(ready, wide ? 4 : 3, "", LARGE / 2, a, &t);
    if (fields)
        generate(kernel_prepare(a, fields, NULL), wide ? 4 : 3, "", 0, a, &t);
    for (const char *line = t.at; *line; line += strcspn(line, "\n") + 1) {
        char *behind;
        instructions += (unsigned)strtoul(line, &behind, 10);
        fetches += (unsigned)strtoul(behind, NULL, 10);
    }
    text_printf(out, "        %s: %u instructions,", k->name, instructions);
    if (has_hints(k))
        text_printf(out, " %u fetches,", fetches);
    write_digest("", &t, out);
    text_add(out, "\n");
}

/* As devices finish it. */
static void finish(kernel *k, const sk_options *o)
{
    k_expand_math(k);
    k_analyse(k);
    k_layout(k, o->group ? 128 : 64);
}

static void write_kernel(const sk_kernel *k, const sk_options *o, arena *a, what way, text *out)
{
    const char *why = NULL;
    if (!k_verify(k->k, a, &why))
        fail_msg("%s", why);
    if (way == MACHINE) {
        write_machine_code(k->k, o, a, out);
        return;
    }
    const words none = {.n = 0}, plain = words_of(k->k, a);
    text_add(out, "        ");
    write_words(&plain, &none, out);
    kernel *better = k_clone(k->k, a);
    k_optimise(better, a);
    const words optimised = words_of(better, a);
    text_add(out, "        optimised:");
    write_words(&optimised, &plain, out);
    kernel *apart = o->group ? k_split(k_pair(better, o->gang, a), o->gang, 128, a) : better;
    if (o->group)
        k_go_abreast(apart, o->gang);
    finish(apart, o);
    text whole;
    text_init(&whole, a);
    k_print(k->k, &whole);
    k_print(apart, &whole);
    write_digest("        text", &whole, out);
    text_printf(out, ", shared %u:", k_shared_bytes(apart));
    const words parts = words_of(apart, a);
    write_words(&parts, &optimised, out);
    if (o->group) {
        kernel *without_gangs = k_split(better, 0, 128, a);
        finish(without_gangs, o);
        write_source("        OpenCL", without_gangs, &dialect_opencl, a, out);
        write_source(", CUDA", apart, &dialect_cuda, a, out);
        text_add(out, "\n");
    }
}

/* `partials`: what the launch before has left, per size. */
static void write_pass(const sk_cluster *c, const sk_options *o, sk_pass pass, bool first, int64_t *partials, arena *a,
                       what way, text *out)
{
    seen done = {.n = 0};
    for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++) {
        shape s = {sizes[i], others[i], c->l->ir, a};
        int64_t extent[IR_MAX_RANK];
        sk_geometry g;
        sk_round round = {
            .pass = pass, .digit = {.first = first}, .places = c->loop->class == L_CLASS_PERMUTE ? s.size : 0};
        round.partials = pass == SK_PASS_COMBINE || pass == SK_PASS_SPLITS || pass == SK_PASS_MERGE ? partials[i] : 0;
        if (pass != SK_PASS_LOOP && pass <= SK_PASS_COMBINE && partials[i] < 2)
            continue;
        for (unsigned d = 0; d < c->loop->rank; d++)
            extent[d] = closed(&s, c->loop->shape[d]);
        round.segments = c->loop->segments ? closed(&s, c->loop->segment_count) : 0;
        if (!sk_plan_launch(c, o, extent, round, CACHE, &g))
            continue;
        partials[i] = g.partials;
        text line;
        text_init(&line, a);
        text *geometry = way == MACHINE ? &line : out; /* machine code is for any extents */
        text_printf(geometry, "      %" PRId64 ": pieces %" PRId64, s.size, g.pieces);
        text_printf(geometry, g.partials != 1 ? ", partials %" PRId64 : "", g.partials);
        text_printf(geometry, g.state_words ? ", state %" PRId64 : "", g.state_words);
        text_printf(geometry, g.row ? ", row %" PRId64 : "", g.row);
        text_printf(geometry, "%s%s, slots", g.stream ? ", stream" : "", g.ahead ? ", ahead" : "");
        unsigned slots = SK_SKEW;
        while (slots && !g.slot[slots - 1])
            slots--;
        for (unsigned k = 0; k < slots; k++)
            text_printf(geometry, " %" PRId64, g.slot[k]);
        sk_options all = *o;
        sk_reason reason = {0};
        all.final = g.partials == 1;
        all.row = g.row;
        all.stream = g.stream;
        all.ahead = g.ahead;
        sk_kernel *k = g.pieces > 0 ? sk_build(c, g.variant, g.pass, &all, a, &reason) : NULL;
        if (g.pieces > 0 && !k)
            text_printf(geometry, "; %s", reason.text);
        if (k && way == NUMBERS)
            write_work(&s, k, &g, geometry);
        text_add(geometry, "\n");
        if (k && is_new(&done, &g))
            write_kernel(k, &all, a, way, out);
    }
}

static void write_cluster(const sk_cluster *c, unsigned from, unsigned to, arena *a, what way, text *out)
{
    for (unsigned d = from; d < to; d++) {
        if (way == MACHINE && devices[d].options.group)
            continue;
        sk_pass pass[SK_PASSES];
        int64_t partials[ARRAY_LENGTH(sizes)] = {0};
        uint32_t passes = sk_passes(c, &devices[d].options, pass);
        for (uint32_t i = 0; i < passes; i++) {
            text_printf(out, "    %s, pass %u\n", devices[d].name, (unsigned)pass[i]);
            write_pass(c, &devices[d].options, pass[i], i < 2, partials, a, way, out);
        }
    }
}

static void write_clusters(const sk_program *s, unsigned from, unsigned to, arena *a, what way, text *out)
{
    for (uint32_t i = 0; i < s->l->cluster.n; i++) {
        text_printf(out, "  loop %u: %.0f flops\n", i, s->l->cluster.at[i].flops);
        write_cluster(&s->cluster[i], from, to, a, way, out);
    }
}

/* The loops of a program, which are plain ones, and those of devices that have others. */
static void write_loops(ir_program *p, arena *a, what way, text *out)
{
    text source, graph;
    text_init(&source, a);
    text_init(&graph, a);
    ir_print(p, &source);
    const sk_program *s = code_loops(p, LOOPS_PLAIN);
    l_print_json(s->l, &graph);
    l_print_dot(s->l, &graph);
    if (way != MACHINE) {
        l_print(s->l, out);
        l_print_unfused(s->l, out);
        write_digest("  graph", &graph, out);
        text_add(out, "\n");
    }
    write_clusters(s, 0, ARRAY_LENGTH(devices), a, way, out);
    if (way != MACHINE)
        plan_print(plan_make(s, &devices[0].options), out);
    const sk_program *tiles = code_other_loops(source.at, LOOPS_TILES, a);
    if (tiles)
        write_clusters(tiles, 0, CORES, a, way, out);
    const sk_program *threads = way == MACHINE ? NULL : code_other_loops(source.at, LOOPS_THREADS, a);
    if (threads)
        write_clusters(threads, CORES, ARRAY_LENGTH(devices), a, way, out);
}

static void write_program(const code_program *of, what way, text *out)
{
    arena a;
    const char *message = "";
    arena_init(&a, NULL);
    ir_program *p = ir_parse(&a, of->source, &message);
    if (!p)
        fail_msg("%s: %s\n%s", of->name, message, of->source);
    text all;
    text_init(&all, &a);
    text_printf(&all, "%s\n", of->name);
    write_loops(p, &a, way, &all);
    written_indented(out, all.at);
    arena_free(&a);
}

/* Of a program all that is written of the others, and its kernels word by word, as a number. */
static void write_whole(const char *name, unsigned number, ir_program *p, arena *a, what way, text *out)
{
    text all;
    text_init(&all, a);
    write_loops(p, a, way, &all);
    text_printf(out, "%s %u: %zu bytes,", name, number, strlen(all.at));
    write_digest("", &all, out);
    text_add(out, "\n");
}

static void write_random(unsigned seed, what way, text *out)
{
    random_options o = random_everything();
    arena a;
    arena_init(&a, NULL);
    o.chains = seed % 3 == 0;
    o.rows = seed % 3 == 1;
    o.inexact_folds = seed % 2;
    o.math = seed % 5 == 0;
    o.failures = seed % 4 == 1;
    o.operations += seed % 3 * 4;
    write_whole("random program", seed, random_program(&a, &o, seed).program, &a, way, out);
    arena_free(&a);
}

/* What emitters say of a kernel that no schedule would make: statements of all kinds, and lanes that exchange values.
 */
static void write_random_kernel(unsigned seed, what way, text *out)
{
    static const uint16_t lanes[] = {8, 16, 32, 64, 4, 1, 128, 256};
    const uint16_t n = lanes[seed / 2 % (seed % 2 ? 5 : ARRAY_LENGTH(lanes))];
    arena a;
    text t;
    arena_init(&a, NULL);
    text_init(&t, &a);
    kernel *k = seed % 2 ? random_gang(&a, seed, n, seed % 4 == 1) : random_kernel(&a, seed, n, seed % 4 == 0);
    k->narrow = seed % 3 == 0;
    text_printf(out, "random kernel %u:", seed);
    if (way == MACHINE) {
        const kernel *ready = kernel_prepare(&a, k, NULL);
        generate(ready, 2, "", seed % 5 == 0 ? LARGE / 2 : 0, &a, &t);
        generate(ready, 3, "", 0, &a, &t);
        generate(ready, 4, seed % 3 ? "" : ",+avx512vbmi,+avx512vbmi2", 0, &a, &t);
        write_digest("", &t, out);
    } else {
        k = k_split(k, 32, 0, &a);
        k_expand_math(k);
        k_analyse(k);
        k_layout(k, 128);
        k_print(k, &t);
        write_digest("", &t, out);
        write_source(", OpenCL", k, &dialect_opencl, &a, out);
        write_source(", CUDA", k, &dialect_cuda, &a, out);
    }
    text_add(out, "\n");
    arena_free(&a);
}

/* --- the files --- */

/* Programs that stand in a file, one a line. */
static void write_lines(what way, text *out)
{
    arena lines;
    arena_init(&lines, NULL);
    const char *at = written_read("tests/run/code_programs.txt", &lines), *source;
    for (unsigned number = 1; (source = written_line(&at, &lines)); number++) {
        arena a;
        const char *message = "";
        if (!written_takes(number))
            continue;
        arena_init(&a, NULL);
        ir_program *p = ir_parse(&a, source, &message);
        if (!p)
            fail_msg("program %u: %s", number, message);
        write_whole("program", number, p, &a, way, out);
        arena_free(&a);
    }
    arena_free(&lines);
}

enum { PARTS = 8 };

/* Whether a test has a part of what is written to take. One test writes a whole file. */
static bool takes(void **state)
{
    const unsigned *part = *state;
    bool writes = getenv("SINTER_TEST_WRITE") != NULL;
    written_part(*part, writes ? 1 : PARTS);
    return !writes || *part == 0;
}

static void forms(void **state)
{
    if (!takes(state))
        return;
    arena a;
    text t;
    arena_init(&a, NULL);
    text_init(&t, &a);
    for (unsigned i = 0; i < code_programs_n; i++)
        if (written_takes(i))
            write_program(&code_programs[i], NUMBERS, &t);
    write_lines(WHOLE, &t);
    for (unsigned seed = 0; seed < RANDOM; seed++)
        if (written_takes(seed))
            write_random(seed, WHOLE, &t);
    for (unsigned seed = 0; seed < KERNELS; seed++)
        if (written_takes(seed))
            write_random_kernel(seed, WHOLE, &t);
    written_compare(numbers, &t, &a);
    arena_free(&a);
}

/* The file is that of one version of LLVM, which its first line says: others make other code. */
static void machine(void **state)
{
    if (!takes(state))
        return;
    arena a;
    text t;
    const char *why = NULL;
    arena_init(&a, NULL);
    text_init(&t, &a);
    generator = cpu_codegen_open(NULL, &a, &why);
    if (!generator)
        fail_msg("%s", why);
    text_printf(&t, "%.*s\n", (int)strcspn(generator->identity, ","), generator->identity);
    const char *wanted = written_read(machine_code, &a);
    if (strncmp(wanted, t.at, t.n) != 0 && !getenv("SINTER_TEST_WRITE")) {
        arena_free(&a);
        skip();
    }
    for (unsigned i = 0; i < code_programs_n; i++)
        if (written_takes(i))
            write_program(&code_programs[i], MACHINE, &t);
    write_lines(MACHINE, &t);
    for (unsigned seed = 0; seed < OF_MACHINE; seed++)
        if (written_takes(seed))
            write_random(seed, MACHINE, &t);
    for (unsigned seed = 0; seed < KERNELS; seed++)
        if (written_takes(seed))
            write_random_kernel(seed, MACHINE, &t);
    written_compare(machine_code, &t, &a);
    arena_free(&a);
}

/* Each test passes over what others take: this one finds what none does. */
static void nothing_else(void **state)
{
    (void)state;
    arena a;
    arena_init(&a, NULL);
    const unsigned all =
        (unsigned)code_programs_n + written_entries(written_read("tests/run/code_programs.txt", &a)) + KERNELS;
    assert_int_equal(written_entries(written_read(numbers, &a)), all + RANDOM);
    assert_int_equal(written_entries(written_read(machine_code, &a)), 1 + all + OF_MACHINE); /* and LLVM's version */
    arena_free(&a);
}

int main(void)
{
    static char names[2 * PARTS][16];
    static unsigned parts[2 * PARTS];
    struct CMUnitTest tests[2 * PARTS + 1] = {[2 * PARTS] = cmocka_unit_test(nothing_else)};
    for (unsigned i = 0; i < 2 * PARTS; i++) {
        parts[i] = i / 2;
        snprintf(names[i], sizeof(names[i]), "%s_%u", i % 2 ? "machine" : "forms", i / 2);
        tests[i] = (struct CMUnitTest){names[i], i % 2 ? machine : forms, NULL, NULL, &parts[i]};
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
