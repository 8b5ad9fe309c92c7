/* sn_check_operator: tries what folds and scans ask of an operator on many values, by the reference interpreter, and
 * says on which it does not hold. */
#include "api/api.h"
#include "embed/value.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum {
    ORDINARY = 1000, /* triples of small whole numbers, which come first: they make the shortest counterexample */
    TRIPLES = 5000,
    SPECIALS = 11
};

/* What is computed of each triple (a, b, c), and of the initial value z. */
typedef enum { AB, BC, LEFT, RIGHT, BA, ZA, AZ, COMPUTED } computed;

typedef struct checking {
    sn_context *cx;    /* the user's */
    sn_context *inner; /* the interpreter */
    api_who who;
    sn_fn f;
    bool commutes, seeded;
    uint32_t components, results;
    const ir_type *type;     /* per component */
    computed what[COMPUTED]; /* results, in order */
    char *given[3];          /* a, b, c: component after component, TRIPLES elements of 8 bytes each */
    char *result[COMPUTED];  /* the same */
    uint64_t random;
    arena arena; /* of all that it needs */
    sn_program *p;
} checking;

/* --- the program --- */

static sn_acc apply(const checking *k, sn_acc x, sn_acc y)
{
    return sn_zip_with_at(k->who.at, k->f, 2, (sn_acc[]){x, y});
}

static sn_acc laws(void *env, int n, const sn_acc *x)
{
    const checking *k = env;
    (void)n;
    sn_acc all[COMPUTED], ab = apply(k, x[0], x[1]), bc = apply(k, x[1], x[2]);
    int count = 0;
    all[count++] = ab;
    all[count++] = bc;
    all[count++] = apply(k, ab, x[2]);
    all[count++] = apply(k, x[0], bc);
    if (k->commutes)
        all[count++] = apply(k, x[1], x[0]);
    if (k->seeded) {
        sn_acc z = sn_fill_at(k->who.at, sn_shape_of_at(k->who.at, x[0]), sn_the_at(k->who.at, x[3]));
        all[count++] = apply(k, z, x[0]);
        all[count++] = apply(k, x[0], z);
    }
    return sn_results_at(k->who.at, count, all);
}

static void list_results(checking *k)
{
    for (computed w = AB; w < COMPUTED; w++)
        if ((w != BA || k->commutes) && ((w != ZA && w != AZ) || k->seeded))
            k->what[k->results++] = w;
}

static sn_program *compile(checking *k, const char *types)
{
    text t;
    text_init(&t, &k->arena);
    text_printf(&t, "[n]%s, [n]%s, [n]%s", types, types, types);
    if (k->seeded)
        text_printf(&t, ", %s", types);
    for (uint32_t i = 0; i < k->results; i++)
        text_printf(&t, "%s[n]%s", i ? ", " : " -> ", types);
    return sn_compile_at(k->who.at, k->inner, t.at, sn_body_env(laws, k));
}

/* --- values --- */

static uint64_t draw(checking *k)
{
    k->random = k->random * 6364136223846793005u + 1442695040888963407u;
    return k->random >> 33;
}

static ir_bits as_bits(ir_type t, double v)
{
    ir_bits in = ir_bits_f64(v), out = in;
    if (t != T_F64)
        ir_op_apply(OP_CONVERT, T_F64, t, &in, &out);
    return out;
}

static ir_bits ordinary(checking *k, ir_type t)
{
    uint64_t r = draw(k);
    if (t == T_BOOL)
        return r & 1;
    return as_bits(t, (double)(r % 16) - (ir_type_signed(t) || ir_type_float(t) ? 8 : 0));
}

/* No floats so small that products of two vanish: that is rounding. */
static ir_bits special(ir_type t, uint64_t which)
{
    static const double number[SPECIALS] = {0, 1, -1, -0.0, NAN, INFINITY, -INFINITY, 0, -2.5, 2, 0.5};
    bool f32 = t == T_F32;
    which %= SPECIALS;
    if (t == T_BOOL)
        return which & 1;
    if (t == T_CHAR)
        return which < 4 ? which : which < 8 ? 0x10ffff - which : 'a' + which;
    if (ir_type_float(t) && which == 7)
        return f32 ? ir_bits_f32(0x1.fffffep127f) : ir_bits_f64(0x1.fffffffffffffp1023);
    if (ir_type_float(t))
        return as_bits(t, number[which]);
    int64_t low = ir_type_signed(t) ? INT64_MIN >> (64 - ir_type_bits(t)) : 0;
    const int64_t whole[SPECIALS] = {0, 1, -1, low, ~low, low + 1, ~low - 1, 2, 3, -2, 7};
    return ir_bits_i64(t, whole[which]);
}

static ir_bits any(checking *k, ir_type t)
{
    uint64_t r = draw(k);
    if (r % 4 == 0)
        return ordinary(k, t);
    if (r % 4 == 1 && !ir_type_float(t) && t != T_BOOL && t != T_CHAR)
        return ir_bits_i64(t, (int64_t)(draw(k) * 0x9e3779b97f4a7c15u));
    if (r % 4 == 1 && ir_type_float(t))
        return as_bits(t, ((double)draw(k) - 0x1p30) / 977);
    return special(t, draw(k));
}

static size_t place(const checking *k, uint32_t component, uint32_t triple)
{
    return (size_t)component * TRIPLES * 8 + (size_t)triple * ir_type_size(k->type[component]);
}

/* Of one component all triples of special values. */
static ir_bits value_of(checking *k, uint32_t triple, uint32_t operand, ir_type t)
{
    static const uint32_t power[3] = {1, SPECIALS, SPECIALS * SPECIALS};
    uint32_t of_special = triple - ORDINARY;
    if (triple < ORDINARY)
        return ordinary(k, t);
    if (k->components == 1 && of_special < SPECIALS * SPECIALS * SPECIALS)
        return special(t, of_special / power[operand]);
    return any(k, t);
}

static void fill(checking *k)
{
    for (uint32_t i = 0; i < TRIPLES; i++)
        for (uint32_t operand = 0; operand < 3; operand++)
            for (uint32_t c = 0; c < k->components; c++) {
                ir_bits bits = value_of(k, i, operand, k->type[c]);
                memcpy(k->given[operand] + place(k, c, i), &bits, ir_type_size(k->type[c]));
            }
}

static ir_bits load(const checking *k, const char *from, uint32_t component, uint32_t triple)
{
    return ir_bits_load(k->type[component], from + place(k, component, triple));
}

/* --- comparing --- */

static double number_of(ir_type t, ir_bits bits)
{
    return t == T_F32 ? (double)ir_f32_bits(bits) : ir_f64_bits(bits);
}

/* All floats of a value finite? */
static bool all_finite(const checking *k, const char *from, uint32_t triple)
{
    for (uint32_t c = 0; c < k->components; c++)
        if (ir_type_float(k->type[c]) && !isfinite(number_of(k->type[c], load(k, from, c, triple))))
            return false;
    return true;
}

/* Has the operator made something infinite of two finite values? */
static bool overflows(const checking *k, uint32_t triple)
{
    const char *const *given = (const char *const *)k->given, *const *made = (const char *const *)k->result;
    const char *const of[4][3] = {{given[0], given[1], made[AB]},
                                  {given[1], given[2], made[BC]},
                                  {made[AB], given[2], made[LEFT]},
                                  {given[0], made[BC], made[RIGHT]}};
    for (uint32_t i = 0; i < 4; i++)
        for (uint32_t c = 0; c < k->components && all_finite(k, of[i][0], triple) && all_finite(k, of[i][1], triple);
             c++)
            if (ir_type_float(k->type[c]) && isinf(number_of(k->type[c], load(k, of[i][2], c, triple))))
                return true;
    return false;
}

/* The largest finite float among operands and what is made of them. */
static double scale_of(const checking *k, uint32_t triple)
{
    double most = 0;
    for (uint32_t c = 0; c < k->components; c++)
        for (uint32_t i = 0; i < 3 + k->results && ir_type_float(k->type[c]); i++) {
            const char *from = i < 3 ? k->given[i] : k->result[k->what[i - 3]];
            double x = number_of(k->type[c], load(k, from, c, triple));
            most = isfinite(x) && fabs(x) > most ? fabs(x) : most;
        }
    return most;
}

/* Sums of floats are rounded here and there; what overflows in one order, and not in the other, is no mistake. */
static bool same(const checking *k, const char *x, const char *y, uint32_t triple, bool zeros_differ)
{
    const double scale = scale_of(k, triple);
    const bool over = overflows(k, triple);
    for (uint32_t c = 0; c < k->components; c++) {
        ir_type t = k->type[c];
        ir_bits left = load(k, x, c, triple), right = load(k, y, c, triple);
        if (left == right)
            continue;
        if (!ir_type_float(t))
            return false;
        double a = number_of(t, left), b = number_of(t, right), eps = t == T_F32 ? 0x1p-23 : 0x1p-52;
        if ((isnan(a) && isnan(b)) || (over && (!isfinite(a) || !isfinite(b))))
            continue;
        if (a == b && a == 0 && zeros_differ)
            return false;
        if (a == b || (isfinite(a) && isfinite(b) && fabs(a / 2 - b / 2) <= 32 * eps * scale))
            continue;
        return false;
    }
    return true;
}

/* --- the report --- */

static void put_component(text *out, ir_type t, ir_bits bits)
{
    double x = ir_type_float(t) ? number_of(t, bits) : 0;
    if (t == T_BOOL)
        text_printf(out, "%s", bits & 1 ? "true" : "false");
    else if (!ir_type_float(t) && !ir_type_signed(t))
        text_printf(out, "%" PRIu64, (uint64_t)ir_i64_bits(t, bits));
    else if (!ir_type_float(t))
        text_printf(out, "%" PRId64, ir_i64_bits(t, bits));
    else if (!isfinite(x))
        text_printf(out, "%s", isnan(x) ? "NaN" : x < 0 ? "-inf" : "inf");
    else
        text_shortest(out, x, t == T_F32, 1);
}

static void put_value(const checking *k, text *out, const char *from, uint32_t triple)
{
    text_add(out, k->components > 1 ? "(" : "");
    for (uint32_t c = 0; c < k->components; c++) {
        text_add(out, c ? ", " : "");
        put_component(out, k->type[c], load(k, from, c, triple));
    }
    text_add(out, k->components > 1 ? ")" : "");
}

typedef struct law {
    computed left, right; /* what are to be equal; right COMPUTED: the operand a */
    const char * not, *this, *that;
    uint32_t operands;
} law;

static sn_status report(checking *k, const law *l, uint32_t triple)
{
    text t;
    text_init(&t, &k->arena);
    text_printf(&t, "%s: %s = ", l->not, l->this);
    put_value(k, &t, k->result[l->left], triple);
    text_printf(&t, ", but %s = ", l->that);
    put_value(k, &t, l->right == COMPUTED ? k->given[0] : k->result[l->right], triple);
    for (uint32_t i = 0; i < l->operands; i++) {
        text_printf(&t, "%s%c = ", i ? ", " : ", where ", (int)('a' + i));
        put_value(k, &t, k->given[i], triple);
    }
    return api_fail_at(k->cx, k->who, SN_BAD_OPERATOR, "%s", t.at);
}

static sn_status compare(checking *k)
{
    static const law laws_of[] = {
        {LEFT, RIGHT, "the operator is not associative", "f(f(a, b), c)", "f(a, f(b, c))", 3},
        {AB, BA, "the operator does not commute", "f(a, b)", "f(b, a)", 2},
        {ZA, COMPUTED, "the initial value is not neutral", "f(z, a)", "a", 1},
        {AZ, COMPUTED, "the initial value is not neutral", "f(a, z)", "a", 1},
    };
    for (size_t i = 0; i < sizeof(laws_of) / sizeof(laws_of[0]); i++) {
        const law *l = &laws_of[i];
        if ((l->left == AB && !k->commutes) || (l->right == COMPUTED && !k->seeded))
            continue;
        for (uint32_t triple = 0; triple < TRIPLES; triple++) {
            const char *right = l->right == COMPUTED ? k->given[0] : k->result[l->right];
            if (!same(k, k->result[l->left], right, triple, l->right != COMPUTED))
                return report(k, l, triple);
        }
    }
    return SN_OK;
}

/* --- the whole --- */

/* What went wrong inside is the user's. */
static sn_status passed_on(const checking *k, sn_status status)
{
    const char *said = sn_message(k->inner);
    return api_fail(k->cx, status, "%.*s", (int)strcspn(said, "\0"), said);
}

static sn_status call(checking *k, int count, const sn_arg *z)
{
    sn_arg *arg = arena_array(&k->arena, *arg, (3 + COMPUTED) * k->components + (size_t)count);
    int n = 0;
    for (uint32_t i = 0; i < 3 + k->results; i++) {
        char *data = i < 3 ? k->given[i] : k->result[k->what[i - 3]];
        for (int j = 0; i == 3 && j < count; j++)
            arg[n++] = z[j];
        for (uint32_t c = 0; c < k->components; c++, n++) {
            arg[n] = (sn_arg){.kind = i < 3 ? SN_ARG_IN : SN_ARG_INTO, .type = (sn_type)k->type[c], .rank = 1};
            arg[n].extent[0] = TRIPLES;
            arg[n].u.to = data + place(k, c, 0);
        }
    }
    sn_status status = sn_call_at(k->who.at, k->p, n, arg);
    return status == SN_OK ? compare(k) : passed_on(k, status);
}

static sn_status try(checking *k, int count, const sn_arg *z)
{
    const size_t each = (size_t)k->components * TRIPLES * 8;
    for (uint32_t i = 0; i < 3; i++)
        k->given[i] = arena_alloc(&k->arena, each);
    for (uint32_t i = 0; i < k->results; i++)
        k->result[k->what[i]] = arena_alloc(&k->arena, each);
    fill(k);
    return call(k, count, z);
}

static sn_status check(checking *k, const char *types, int count, const sn_arg *z)
{
    list_results(k);
    k->p = compile(k, types);
    if (!k->p)
        return passed_on(k, SN_BAD_PROGRAM);
    k->components = k->p->ports.param[0].components;
    k->type = k->p->ports.param[0].type;
    bool whole = count == 1 && z[0].kind == SN_ARG_STRUCTS;
    if (count && !whole && (uint32_t)count != k->components)
        return api_fail_at(k->cx, k->who, SN_BAD_ARGUMENT,
                           "%d values for an initial value of %u components; give sn_value(&x) for each, or "
                           "sn_struct(&x)",
                           count, (unsigned)k->components);
    return try(k, count, z);
}

/* Memory that runs out is a status. */
static sn_status check_safely(checking *k, const char *types, int count, const sn_arg *z)
{
    jmp_buf failure;
    if (setjmp(failure))
        return api_fail_at(k->cx, k->who, SN_NO_MEMORY, "no memory for the values to try");
    arena_on_failure(&k->arena, &failure);
    return check(k, types, count, z);
}

sn_status sn_check_operator_at(sn_site at, sn_context *context, const char *types, sn_fn f, int count, const sn_arg *z)
{
    checking k = {.cx = context, .who = api_function_at(at, "check_operator"), .f = f, .random = 7};
    if (!api_is_open(context, k.who))
        return SN_BAD_HANDLE;
    if (!types || count < 0 || (count && !z))
        return api_fail_at(context, k.who, SN_BAD_ARGUMENT,
                           "no types are given, or no initial values; give \"f32\", and as many values as are counted");
    k.commutes = embed_declared_to_commute(f);
    k.seeded = count > 0;
    sn_options o = {.size = sizeof(o), .threads = 1, .device = "interpreter", .contract = context->options.contract};
    k.inner = api_open(&o, &context->heap);
    if (!k.inner)
        return api_fail_at(context, k.who, SN_NO_MEMORY, "no memory for an interpreter");
    arena_init(&k.arena, &context->heap);
    sn_status status = check_safely(&k, types, count, z);
    sn_drop(k.p);
    arena_free(&k.arena);
    sn_close(k.inner);
    return status;
}
