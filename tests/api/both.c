/* Arguments made up from a signature, calls on both devices, comparison of the results. */
#include "both.h"
#include "support/share.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static struct {
    sn_context *cpu, *interpreter;
} contexts;

sn_context *both_cpu(void)
{
    return contexts.cpu;
}

sn_context *both_interpreter(void)
{
    return contexts.interpreter;
}

void both_in_turn(void (*test)(sn_context *cx))
{
    test(contexts.cpu);
    test(contexts.interpreter);
}

static void drop_message(void *env, const char *said)
{
    (void)env, (void)said;
}

int both_open(void **state)
{
    (void)state;
    /* What joins operations is tested: the interpreter has them as they are written. */
    sn_options o = {.size = sizeof(o), .contract = SN_OFF, .fusion = SN_OFF, .device = "interpreter"};
    contexts.interpreter = sn_open(&o);
    o.fusion = SN_DEFAULT;
    o.device = "cpu";
    o.message = drop_message;
    contexts.cpu = sn_open(&o);
    return contexts.interpreter ? 0 : -1;
}

int both_close(void **state)
{
    (void)state;
    sn_close(contexts.cpu);
    sn_close(contexts.interpreter);
    return 0;
}

/* --- arguments --- */

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 32 ^ *state << 11;
}

static const double odd_values[] = {0.0, -0.0,  1.0,     -1.0, 0.5, INFINITY, -INFINITY,
                                    NAN, 1e-40, -1e-310, 1e30, 3.5, -2.5,     1e300};

static ir_bits number(ir_type t, double v)
{
    ir_bits in = ir_bits_f64(v), out = in;
    if (t != T_F64)
        ir_op_apply(OP_CONVERT, T_F64, t, &in, &out);
    return out;
}

static ir_bits mixed(ir_type t, uint64_t r)
{
    if (t == T_BOOL)
        return r & 1;
    if (t == T_CHAR)
        return r % 0x110000;
    if (ir_type_float(t) && r % 3 == 0)
        return number(t, odd_values[r / 3 % ARRAY_LENGTH(odd_values)]);
    if (ir_type_float(t))
        return number(t, (double)(int64_t)(r * 0x9e3779b97f4a7c15u) / 1e15);
    if (r % 4 == 0)
        return ir_bits_i64(t, (int64_t)(r / 4 % 5) - 2);
    if (r % 4 == 1)
        return ir_bits_i64(t, ir_type_signed(t) ? INT64_MIN >> (64 - ir_type_bits(t)) : -1);
    return ir_bits_i64(t, (int64_t)(r * 0x9e3779b97f4a7c15u));
}

static ir_bits element(ir_type t, contents what, int64_t extent, uint64_t *state)
{
    uint64_t r = next_random(state);
    switch (what) {
    case SMALL:
        return t == T_BOOL ? r & 1 : number(t, (double)(r % 10) - (ir_type_signed(t) || ir_type_float(t) ? 4 : 0));
    case POSITIVE:
        return ir_type_float(t) ? number(t, 0.5 + (double)(r % 1000) / 666)
               : t == T_BOOL    ? r & 1
                                : number(t, 1 + (double)(r % 9));
    case INDICES:
        return t == T_BOOL ? r & 1 : number(t, extent ? (double)(r % (uint64_t)extent) : 0);
    case SIGNALS:
        if (ir_type_float(t) && r / 64 % 4 == 0)
            return t == T_F32 ? 0x7f800001u : 0x7ff0000000000001u;
        return mixed(t, r);
    default:
        return mixed(t, r);
    }
}

static int64_t extent_of(const sn_program *p, ir_id term, const int64_t *dims)
{
    const ir_node *n = ir_at(p->ir, term);
    assert_true(n->kind == IR_CONST || n->kind == IR_DIM);
    return n->kind == IR_CONST ? (int64_t)n->u.literal : dims[n->u.literal];
}

static uint32_t make_arguments(const sn_program *p, contents what, const int64_t *dims, sn_arg *arg)
{
    uint32_t n = 0;
    uint64_t state = 42;
    for (uint32_t k = 0; k < p->ports.params; k++)
        for (unsigned c = 0; c < p->ports.param[k].components; c++, n++) {
            arg[n] = (sn_arg){.kind = SN_ARG_IN, .type = (sn_type)p->type[n], .rank = p->rank[n]};
            size_t size = 1, width = ir_type_size(p->type[n]);
            for (int d = 0; d < arg[n].rank; d++) {
                arg[n].extent[d] = extent_of(p, p->ports.param[k].shape[d], dims);
                size *= (size_t)arg[n].extent[d];
            }
            char *data = malloc(size * width + 1);
            assert_non_null(data);
            for (size_t i = 0; i < size; i++) {
                ir_bits bits = element(p->type[n], what, dims[0], &state);
                memcpy(data + i * width, &bits, width);
            }
            arg[n].u.from = data;
        }
    return n;
}

/* --- calls --- */

enum { MOST = 32 };

typedef struct answer {
    sn_status status;
    const char *message;
    sn_array *result[MOST];
} answer;

static answer ask(sn_program *p, uint32_t params, const sn_arg *arg)
{
    answer a = {.status = SN_OK};
    sn_arg all[2 * MOST];
    assert_true(params <= MOST && p->results <= MOST);
    memcpy(all, arg, params * sizeof(sn_arg));
    for (uint32_t k = 0; k < p->results; k++)
        all[params + k] = sn_keep(&a.result[k]);
    a.status = sn_call_n(p, (int)(params + p->results), all);
    a.message = a.status == SN_OK ? "" : sn_message(p->context);
    return a;
}

static bool same_element(ir_type t, const char *x, const char *y)
{
    size_t width = ir_type_size(t);
    if (!memcmp(x, y, width))
        return true;
    ir_bits a = 0, b = 0;
    memcpy(&a, x, width);
    memcpy(&b, y, width);
    if (t == T_F32)
        return isnan(ir_f32_bits(a)) && isnan(ir_f32_bits(b));
    return t == T_F64 && isnan(ir_f64_bits(a)) && isnan(ir_f64_bits(b));
}

/* The first element that differs, -1 if none does; -2 if the shapes do. */
static int64_t difference(const sn_array *x, const sn_array *y)
{
    if (x->rank != y->rank || x->type != y->type || memcmp(x->extent, y->extent, x->rank * sizeof(int64_t)))
        return -2;
    size_t width = ir_type_size(x->type);
    sn_status status;
    const char *left = api_look(x, api_function("both"), &status), *right = api_look(y, api_function("both"), &status);
    assert_true(left && right);
    for (size_t i = 0; i < x->bytes; i += width)
        if (!same_element(x->type, left + i, right + i))
            return (int64_t)(i / width);
    return -1;
}

/* The same calls with memory for all results: the first says how, the second may only repeat what it did. */
static void compare_again(sn_program *p, uint32_t params, const sn_arg *arg, const answer *wanted, const char *place)
{
    sn_arg all[2 * MOST];
    memcpy(all, arg, params * sizeof(sn_arg));
    for (uint32_t k = 0; k < p->results; k++) {
        const sn_array *x = wanted->result[k];
        sn_arg *to = &all[params + k];
        *to = (sn_arg){.kind = SN_ARG_INTO, .type = (sn_type)x->type, .rank = x->rank};
        memcpy(to->extent, x->extent, sizeof(to->extent));
        to->u.to = malloc(x->bytes + 1);
        assert_non_null(to->u.to);
    }
    for (unsigned again = 0; again < 2; again++) {
        for (uint32_t k = 0; k < p->results; k++)
            memset(all[params + k].u.to, 0xa5, wanted->result[k]->bytes);
        if (sn_call_n(p, (int)(params + p->results), all) != SN_OK)
            fail_msg("%s: fails when called again: %s", place, sn_message(p->context));
        for (uint32_t k = 0; k < p->results; k++) {
            sn_array x = *wanted->result[k];
            x.data = all[params + k].u.to;
            int64_t at = difference(&x, wanted->result[k]);
            if (at != -1)
                fail_msg("%s: result %u of a call in memory differs at element %lld", place, k, (long long)at);
        }
    }
    for (uint32_t k = 0; k < p->results; k++)
        free(all[params + k].u.to);
}

static void compare_once(sn_program *cpu, sn_program *interpreted, contents what, const int64_t *dims,
                         const char *place)
{
    sn_arg arg[MOST];
    uint32_t params = make_arguments(cpu, what, dims, arg);
    answer fast = ask(cpu, params, arg), slow = ask(interpreted, params, arg);
    if (fast.status != slow.status)
        fail_msg("%s: the CPU gives %s (%s), the interpreter %s (%s)", place, sn_status_name(fast.status), fast.message,
                 sn_status_name(slow.status), slow.message);
    for (uint32_t k = 0; k < cpu->results && fast.status == SN_OK; k++) {
        int64_t at = difference(fast.result[k], slow.result[k]);
        if (at != -1)
            fail_msg("%s: result %u differs at element %lld", place, k, (long long)at);
    }
    if (fast.status == SN_OK)
        compare_again(cpu, params, arg, &slow, place);
    for (uint32_t k = 0; k < cpu->results; k++) {
        sn_free(fast.result[k]);
        sn_free(slow.result[k]);
    }
    for (uint32_t k = 0; k < params; k++)
        free((void *)(uintptr_t)arg[k].u.from);
}

/* The second half of the parameters gets the arguments of the first; what comes of it is the same, bit by bit. */
static void compare_halves(sn_program *cpu, contents what, const int64_t *dims, const char *place)
{
    sn_arg arg[MOST];
    uint32_t params = make_arguments(cpu, what, dims, arg), half = cpu->results / 2;
    for (uint32_t k = 0; k < params / 2; k++) {
        free((void *)(uintptr_t)arg[params / 2 + k].u.from);
        arg[params / 2 + k].u.from = arg[k].u.from;
    }
    answer a = ask(cpu, params, arg);
    for (uint32_t k = 0; k < half && a.status == SN_OK; k++) { /* how calls fail is compared with the interpreter */
        int64_t at = difference(a.result[k], a.result[half + k]);
        if (at != -1)
            fail_msg("%s: results %u and %u differ at element %lld", place, k, half + k, (long long)at);
    }
    for (uint32_t k = 0; k < cpu->results; k++)
        sn_free(a.result[k]);
    for (uint32_t k = 0; k < params / 2; k++)
        free((void *)(uintptr_t)arg[k].u.from);
}

/* --- signatures --- */

static void replace_type(const char *signature, const char *type, size_t n, char *out, size_t room)
{
    size_t at = 0;
    for (const char *s = signature; *s && at + n + 1 < room; s++) {
        if (*s == 'T') {
            memcpy(out + at, type, n);
            at += n;
        } else {
            out[at++] = *s;
        }
    }
    out[at] = 0;
}

/* Where a device's driver takes long to compile, SINTER_TEST_SAMPLE is the seed of a choice: one of the types, another
 * one at each place, and a third of the extents. */
static unsigned sampled(int line, uint64_t what, unsigned count)
{
    const char *seed = getenv("SINTER_TEST_SAMPLE");
    uint64_t h = hash_mix(hash_mix((uint64_t)line, what), seed ? strtoull(seed, NULL, 10) : 0);
    return seed ? (unsigned)(h % count) : 0;
}

/* Large extents take the interpreter long: where several types are checked at a place, one of SINTER_TEST_SHARE of them
 * has each, another the next; with SINTER_TEST_LONG all types have all. */
typedef struct turn {
    unsigned type, of; /* of so many that are checked, this is the one */
} turn;

static bool left_to_another(turn t, const int64_t *extent, uint32_t names, int64_t number)
{
    enum { LARGE = 20000 };
    const unsigned share = test_share() < t.of ? test_share() : t.of;
    double elements = 1;
    for (uint32_t k = 0; k < names; k++)
        elements *= (double)extent[k];
    return elements > LARGE && (number + t.type) % share != 0;
}

static void check_type(const char *file, int line, const char *signature, sn_body body, contents what,
                       const int64_t *extents, turn t, bool halves)
{
    sn_site at = {file, line};
    sn_program *cpu = sn_compile_at(at, contexts.cpu, signature, body);
    if (!cpu)
        fail_msg("%s:%d: \"%s\": %s", file, line, signature, sn_message(contexts.cpu));
    sn_program *interpreted = halves ? NULL : sn_compile_at(at, contexts.interpreter, signature, body);
    assert_true(halves || interpreted);
    uint32_t names = cpu->ir->dim.n - cpu->ir->number.n; /* those of the signature come first */
    for (const int64_t *e = extents; *e >= 0; e += names ? names : 1) {
        if (sampled(line, (uint64_t)(e - extents) + 1, 3) ||
            left_to_another(t, e, names, (e - extents) / (names ? names : 1)))
            continue;
        char place[256];
        int n = snprintf(place, sizeof(place), "%s:%d: \"%s\" with", file, line, signature);
        for (uint32_t k = 0; k < names && n > 0 && (size_t)n < sizeof(place); k++)
            n += snprintf(place + n, sizeof(place) - (size_t)n, " %s = %lld", cpu->ir->dim.at[k], (long long)e[k]);
        if (halves)
            compare_halves(cpu, what, e, place);
        else
            compare_once(cpu, interpreted, what, e, place);
    }
    sn_drop(cpu);
    sn_drop(interpreted);
}

/* SINTER_TEST_TYPES=n: n of the types of each place, far apart in its list, others at the next place. */
static bool among_types(int line, unsigned i, unsigned count)
{
    const char *most = getenv("SINTER_TEST_TYPES");
    const unsigned n = most && !getenv("SINTER_TEST_LONG") ? (unsigned)strtoul(most, NULL, 10) : 0;
    return !n || n >= count || (i + (unsigned)(hash_mix((uint64_t)line, 1) % count)) * n % count < n;
}

static bool is_checked(int line, unsigned i, unsigned chosen, unsigned count)
{
    return getenv("SINTER_TEST_SAMPLE") ? chosen == i : among_types(line, i, count);
}

static void check_types(const char *file, int line, const char *signature, sn_body body, const char *types,
                        contents what, const int64_t *extents, bool halves)
{
    if (!contexts.cpu)
        skip();
    if (!types) {
        check_type(file, line, signature, body, what, extents, (turn){0, 1}, halves);
        return;
    }
    unsigned count = 1;
    for (const char *t = types; *t; t++)
        count += *t == ' ';
    unsigned chosen = sampled(line, 0, count), i = 0;
    turn now = {0};
    for (unsigned k = 0; k < count; k++)
        now.of += is_checked(line, k, chosen, count);
    for (const char *t = types; *t; i++) {
        size_t n = strcspn(t, " ");
        char typed[512];
        replace_type(signature, t, n, typed, sizeof(typed));
        if (is_checked(line, i, chosen, count)) {
            check_type(file, line, typed, body, what, extents, now, halves);
            now.type++;
        }
        t += n + strspn(t + n, " ");
    }
}

void both_at(const char *file, int line, const char *signature, sn_body body, const char *types, contents what,
             const int64_t *extents)
{
    check_types(file, line, signature, body, types, what, extents, false);
}

void both_halves_at(const char *file, int line, const char *signature, sn_body body, const char *types, contents what,
                    const int64_t *extents)
{
    check_types(file, line, signature, body, types, what, extents, true);
}
