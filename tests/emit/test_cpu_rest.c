/* What is left of gangs, on several processors, against the kernel interpreter: every number of threads up to two
 * gangs, every width of elements, arrays that begin or end at the edge of a page, beside which there is no memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "device/cpu_code.h"
#include "device/cpu_codegen.h"
#include "device/kernel_cache.h"
#include "kernel/kernel.h"
#include "kernel/launch.h"
#include "support/share.h"

enum { ARRAYS = 4, MOST_THREADS = 300 };

typedef struct fixture {
    arena a;
    const emit_cpu_module *module;
    size_t page, room; /* bytes; of an array's memory, whole pages */
    uint8_t *memory[ARRAYS], *expected;
    uint64_t random;
} fixture;

/* NULL: this one. Older ones run here, too. */
static const struct {
    const char *cpu, *features;
} processors[] = {{NULL, NULL},
                  {"haswell", "+avx,+avx2,+fma"},
                  {"x86-64", "+sse2,-avx512f"},
                  {"x86-64-v4", "+avx,+avx2,+avx512f,+avx512bw,+avx512dq,+avx512vl,+fma"}};

static bool runs_here(unsigned i)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (i == 1)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    return i != 3 || (__builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq"));
#else
    return i == 0;
#endif
}

static uint64_t next(fixture *f)
{
    f->random ^= f->random << 13;
    f->random ^= f->random >> 7;
    f->random ^= f->random << 17;
    return f->random * UINT64_C(0x9e3779b97f4a7c15);
}

static void report(k_error *error, uint32_t site, int64_t element, int64_t value, int64_t bound)
{
    if (!error->site || site < error->site || (site == error->site && element < error->element))
        *error = (k_error){.site = site, .element = element, .value = value, .bound = bound};
}

/* --- kernels: two arrays are read, two are written, of `threads` elements each --- */

typedef struct program {
    kernel *k;
    k_builder b;
    k_mem x, y, out, copy;
    k_val n, limit; /* threads; a number up to that */
    ir_type type, to;
} program;

typedef void (*body)(program *p);

static program begin(fixture *f, ir_type type, ir_type to, uint16_t lanes)
{
    program p = {.k = k_new(&f->a, "rest", lanes), .type = type, .to = to};
    k_begin(&p.b, p.k);
    p.x = k_global(&p.b, type, false, "x");
    p.y = k_global(&p.b, type, false, "y");
    p.out = k_global(&p.b, to, true, "out");
    p.copy = k_global(&p.b, type, true, "copy");
    p.n = k_arg(&p.b, T_I64, "n");
    p.limit = k_arg(&p.b, T_I64, "limit");
    return p;
}

static k_val larger(program *p, k_val i)
{
    return k_let(&p->b, OP_MAX, k_load(&p->b, p->x, i), k_load(&p->b, p->y, i), 0);
}

static k_val as_result(program *p, k_val v)
{
    return p->type == p->to ? v : k_convert(&p->b, OP_CONVERT, p->to, v);
}

static void plain(program *p)
{
    k_val i = k_for_all(&p->b, p->n), v = larger(p, i);
    k_store(&p->b, p->out, i, as_result(p, v));
    k_store(&p->b, p->copy, i, v);
    k_end(&p->b);
}

static void past_caches(program *p)
{
    p->k->mem.at[p->out].stream = p->k->mem.at[p->copy].stream = true;
    plain(p);
}

/* Lanes that walk rows of `limit` elements and more, of one array that is read and of one that is written. */
static void across(program *p)
{
    k_builder *b = &p->b;
    k_val turns = k_let(b, OP_ADD, p->limit, k_i64(b, 2), 0), rows = k_let(b, OP_QUOT, p->n, turns, 0);
    k_val i = k_for_all(b, rows), turn = k_for(b, k_i64(b, 0), turns, false);
    k_val in_row = k_let(b, OP_ADD, k_let(b, OP_MUL, i, turns, 0), turn, 0);
    k_val in_column = k_let(b, OP_ADD, k_let(b, OP_MUL, turn, rows, 0), i, 0);
    k_store(b, p->out, in_column, as_result(p, k_load(b, p->x, in_row)));
    k_store(b, p->copy, in_row, k_load(b, p->y, in_column));
    k_end(b);
    k_end(b);
}

static void few(program *p)
{
    k_val i = k_for_few(&p->b, p->n), v = larger(p, i);
    k_store(&p->b, p->out, i, as_result(p, v));
    k_end(&p->b);
}

/* Reads and stores that only some lanes do, which are the first ones, or any. */
static void guarded(program *p)
{
    k_builder *b = &p->b;
    k_val i = k_for_all(b, p->n), x = k_load(b, p->x, i);
    k_if(b, k_let(b, OP_LT, i, p->limit, 0));
    k_store(b, p->copy, i, k_load(b, p->y, i));
    k_else(b);
    k_if(b, k_let(b, OP_LT, x, k_load(b, p->y, i), 0));
    k_store(b, p->out, i, as_result(p, x));
    k_store(b, p->copy, i, k_load(b, p->y, i));
    k_end(b);
    k_end(b);
    k_end(b);
}

/* Gangs that cannot be cut: a loop, an exchange of lanes. */
static void looping(program *p)
{
    k_builder *b = &p->b;
    k_val i = k_for_all(b, p->n), v = k_decl(b, k_load(b, p->x, i), "v");
    k_for(b, k_i64(b, 0), p->limit, false);
    k_set(b, v, k_let(b, OP_MAX, k_get(b, v), k_load(b, p->y, i), 0));
    k_store(b, p->copy, i, k_get(b, v));
    k_end(b);
    k_store(b, p->out, i, as_result(p, k_get(b, v)));
    k_end(b);
}

/* Gangs of 2, 3 and 8 lanes, whatever the kernel has, that end where the array does. */
static void smaller_gangs(program *p)
{
    k_builder *b = &p->b;
    for (unsigned g = 0; g < 3; g++) {
        k_val lanes = k_i64(b, (int64_t[]){8, 2, 3}[g]);
        if (p->k->lanes > 1 && (int64_t)p->k->value.at[lanes].bits > p->k->lanes)
            continue;
        k_if(b, k_let(b, OP_GE, p->n, lanes, 0));
        k_val i = k_let(b, OP_ADD, k_let(b, OP_SUB, p->n, lanes, 0), k_for_whole(b, lanes), 0), v = larger(p, i);
        k_store(b, p->out, i, as_result(p, v));
        k_store(b, p->copy, i, v);
        k_end(b);
        k_end(b);
    }
}

static void one_gang(program *p)
{
    k_builder *b = &p->b;
    k_val lanes = k_i64(b, p->k->lanes), i = k_for_all(b, lanes);
    k_if(b, k_let(b, OP_LT, i, p->n, 0));
    k_val v = larger(p, i);
    k_store(b, p->out, i, as_result(p, v));
    k_if(b, k_let(b, OP_GT, p->limit, i, 0));
    k_store(b, p->copy, i, v);
    k_end(b);
    k_end(b);
    k_val other = k_shuffle(b, i, 1), inside = k_shuffle(b, k_let(b, OP_LT, i, p->n, 0), 1);
    k_if(b, k_let(b, OP_AND, inside, k_let(b, OP_GT, other, p->limit, 0), 0));
    k_store(b, p->copy, other, k_load(b, p->y, other));
    k_end(b);
    k_end(b);
}

/* Lanes in which a condition holds take one element behind the other, the others take others: from the beginning of
 * their array, or up to its end. Then, of a part of these lanes, some, which a check may take away. */
static void spread(program *p, bool back)
{
    k_builder *b = &p->b;
    k_val i = k_for_all(b, k_let(b, OP_MIN, p->n, k_i64(b, p->k->lanes), 0));
    k_val flag = k_let(b, OP_NE, k_load(b, p->x, i), k_load(b, p->y, i), 0);
    k_val hold = k_count(b, flag), rank = k_rank(b, flag), other = k_let(b, OP_SUB, i, rank, 0);
    k_val v = k_decl(b, k_literal(b, p->type, 0), "v"), w = k_decl(b, k_literal(b, p->type, 0), "w");
    k_val left = k_let(b, OP_SUB, p->n, hold, 0);
    k_val at = back ? k_let(b, OP_ADD, left, rank, 0) : rank;
    other = back ? k_let(b, OP_ADD, other, hold, 0) : other;
    k_if(b, flag);
    k_check(b, 1, k_let(b, OP_LT, at, p->n, 0), i, at, p->n);
    k_set(b, v, k_load(b, p->x, at));
    k_if(b, k_let(b, OP_GT, i, p->limit, 0));
    k_set(b, w, k_load(b, p->y, at));
    k_end(b);
    k_else(b);
    k_check(b, 2, k_let(b, OP_GE, other, k_i64(b, 0), 0), i, other, p->n);
    k_set(b, v, k_load(b, p->y, other));
    if (back)
        k_check(b, 3, k_let(b, OP_LT, other, p->limit, 0), i, other, p->limit);
    k_end(b);
    k_store(b, p->out, i, as_result(p, k_get(b, v)));
    k_store(b, p->copy, i, k_get(b, w));
    k_end(b);
}

static void spread_first(program *p)
{
    spread(p, false);
}

static void spread_last(program *p)
{
    spread(p, true);
}

static void checked(program *p)
{
    k_builder *b = &p->b;
    k_val i = k_for_all(b, p->n), x = k_load(b, p->x, i);
    k_check(b, 1, k_let(b, OP_LT, i, p->n, 0), i, i, p->n);
    k_store(b, p->copy, i, larger(p, i));
    k_check(b, 2, k_let(b, OP_NE, i, p->limit, 0), i, i, p->limit);
    k_store(b, p->out, i, as_result(p, x));
    k_end(b);
}

/* --- running them --- */

typedef struct code {
    kernel *k;
    emit_cpu_code *made;
    cpu_code map;
} code;

static code compile(fixture *f, program *p, unsigned processor)
{
    const char *why = NULL;
    char *said = NULL;
    if (!k_verify(p->k, &f->a, &why))
        fail_msg("%s", why);
    code c = {.k = kernel_prepare(&f->a, p->k, NULL)};
    emit_cpu_options options = {.cpu = processors[processor].cpu, .features = processors[processor].features};
    c.made = f->module->compile(c.k, &options, &said);
    if (!c.made)
        fail_msg("%s", said);
    emit_cpu_blob blob = f->module->blob(c.made);
    assert_true(cpu_code_map(&blob, &c.map));
    return c;
}

/* Where `n` elements are: at the beginning of their memory, or at its end. */
static uint8_t *place(const fixture *f, uint8_t *memory, size_t bytes, bool at_end)
{
    return memory + (at_end ? f->room - bytes : 0);
}

static void run(fixture *f, program *p, const code *c, int64_t n, int64_t limit, bool at_end, const char *name)
{
    const ir_type type[ARRAYS] = {p->type, p->type, p->to, p->type};
    void *mem[ARRAYS], *oracle[ARRAYS];
    ir_bits arg[] = {(ir_bits)n, (ir_bits)limit};
    for (unsigned m = 0; m < ARRAYS; m++) {
        size_t bytes = (size_t)n * ir_type_size(type[m]);
        uint8_t *other = f->expected + m * f->room;
        memset(f->memory[m], 1, f->room);
        mem[m] = place(f, f->memory[m], bytes, at_end);
        for (size_t i = 0; i < bytes && m < 2; i++)
            ((uint8_t *)mem[m])[i] = p->type == T_BOOL ? next(f) & 1 : (uint8_t)(next(f) >> 8);
        for (size_t i = 0; i < (size_t)n && m < 2 && ir_type_float(p->type); i++) { /* no NaNs: they have many forms */
            double v = (double)(int64_t)(next(f) >> 50) - 8192;
            ir_bits bits = p->type == T_F32 ? ir_bits_f32((float)v) : ir_bits_f64(v);
            memcpy((uint8_t *)mem[m] + i * ir_type_size(p->type), &bits, ir_type_size(p->type));
        }
        memcpy(other, f->memory[m], f->room);
        oracle[m] = place(f, other, bytes, at_end);
    }
    k_error found = {0}, wanted = {0};
    k_helpers helpers = {.report = report};
    void *scratch = aligned_alloc(64, (c->k->scratch + 127u) / 64 * 64);
    k_launch launch = {
        .mem = mem, .arg = arg, .first = 0, .last = 1, .scratch = scratch, .error = &found, .helpers = &helpers};
    c->map.entry(&launch);
    free(scratch);
    k_interpret(p->k, &f->a, oracle, arg, 0, 1, &wanted);
    assert_int_equal(found.site, wanted.site);
    assert_int_equal(found.element, wanted.element);
    for (unsigned m = 0; m < ARRAYS && !wanted.site; m++)
        if (memcmp(f->memory[m], f->expected + m * f->room, f->room) != 0)
            fail_msg("%s of %s, %u lanes, %lld threads, limit %lld, %s of its pages: array %u is not what it should be",
                     name, ir_type_name(p->type), p->k->lanes, (long long)n, (long long)limit,
                     at_end ? "at the end" : "at the beginning", m);
}

static const struct {
    const char *name;
    body body;
} bodies[] = {{"plain", plain},
              {"past caches", past_caches},
              {"few", few},
              {"guarded", guarded},
              {"looping", looping},
              {"one gang", one_gang},
              {"checked", checked},
              {"across", across},
              {"smaller gangs", smaller_gangs},
              {"spread", spread_first},
              {"spread up to the end", spread_last}};

static void every_count(fixture *f, unsigned which, ir_type type, ir_type to, uint16_t lanes, unsigned processor)
{
    arena_free(&f->a);
    arena_init(&f->a, NULL);
    program p = begin(f, type, to, lanes);
    bodies[which].body(&p);
    code c = compile(f, &p, processor);
    /* lines are looked for where there are several gangs */
    int64_t several = (bodies[which].body == past_caches ? 5 : bodies[which].body == across ? 20 : 2) * (int64_t)lanes;
    bool gang =
        bodies[which].body == one_gang || bodies[which].body == spread_first || bodies[which].body == spread_last;
    int64_t most = gang ? lanes : several < MOST_THREADS ? several : MOST_THREADS;
    for (int64_t n = 0; n <= most; n += 1 + (n > 40 && lanes > 32 && n % lanes < lanes - 2) * (int64_t)(next(f) % 5))
        for (unsigned at_end = 0; at_end < 2; at_end++) {
            int64_t limit = bodies[which].body == checked && n % 3 ? -1 : (int64_t)(next(f) % ((uint64_t)n + 2));
            bool turns = bodies[which].body == looping || bodies[which].body == across;
            run(f, &p, &c, n, turns ? limit % (bodies[which].body == looping ? 3 : 24) : limit, at_end,
                bodies[which].name);
        }
    cpu_code_unmap(&c.map);
    f->module->release(c.made);
}

static void on_processor(fixture *f, unsigned processor)
{
    static const ir_type type[] = {T_U8, T_BOOL, T_I16, T_I32, T_F32, T_I64, T_F64};
    static const uint16_t lanes[] = {1, 4, 32, 64, 128};
    if (!runs_here(processor))
        skip();
    for (unsigned which = 0; which < ARRAY_LENGTH(bodies); which++)
        for (unsigned t = 0; t < ARRAY_LENGTH(type); t++)
            for (unsigned l = 0; l < ARRAY_LENGTH(lanes); l++)
                if ((which + t + l) % test_share() == 0 && (processor || lanes[l] == 32) &&
                    lanes[l] * ir_type_size(type[t]) <= 256) {
                    every_count(f, which, type[t], type[t], lanes[l], processor);
                    if ((type[t] == T_U8 || type[t] == T_I16) && lanes[l] <= 32)
                        every_count(f, which, type[t], lanes[l] == 4 ? T_F64 : T_F32, lanes[l], processor);
                }
}

static void this_processor(void **state)
{
    on_processor(*state, 0);
}

static void with_avx2(void **state)
{
    on_processor(*state, 1);
}

static void with_sse2(void **state)
{
    on_processor(*state, 2);
}

static void with_avx512(void **state)
{
    on_processor(*state, 3);
}

/* Memory between pages that cannot be touched. */
static uint8_t *fenced(fixture *f)
{
    uint8_t *all = mmap(NULL, f->room + 2 * f->page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(all != MAP_FAILED);
    assert_int_equal(mprotect(all + f->page, f->room, PROT_READ | PROT_WRITE), 0);
    return all + f->page;
}

static int set_up(void **state)
{
    static fixture f;
    const char *why = NULL;
    f.random = 88172645463325252u;
    arena_init(&f.a, NULL);
    f.page = (size_t)sysconf(_SC_PAGESIZE);
    f.room = (MOST_THREADS * sizeof(ir_bits) + f.page - 1) / f.page * f.page;
    f.module = cpu_codegen_open(NULL, &f.a, &why);
    if (!f.module)
        print_message("%s\n", why);
    for (unsigned m = 0; m < ARRAYS; m++)
        f.memory[m] = fenced(&f);
    f.expected = malloc(ARRAYS * f.room);
    *state = &f;
    return f.module && f.expected ? 0 : -1;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    for (unsigned m = 0; m < ARRAYS; m++)
        munmap(f->memory[m] - f->page, f->room + 2 * f->page);
    free(f->expected);
    arena_free(&f->a);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(this_processor), cmocka_unit_test(with_avx2),
                                       cmocka_unit_test(with_sse2), cmocka_unit_test(with_avx512)};
    return cmocka_run_group_tests_name("what is left of gangs", tests, set_up, tear_down);
}
