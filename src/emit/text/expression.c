/* Operators, literals and atomics as text. An operator is a form: inline where the language's own operator means the
 * same, else a helper function, written once per type. Signed arithmetic goes through unsigned types, since it must
 * wrap. */
#include "emit/text/emitter.h"
#include "ir/math/primitives.h"

#include <inttypes.h>
#include <math.h>

/* kinds of operand types */
enum { SIGNED = 1, NARROW = 2, WIDE = 4, FLOAT = 8, LOGIC = 16, INTS = 7, ALL = 31 };

typedef struct {
    uint8_t op, kinds;
    bool helper;
    /* $a $b $c operands, $T their type, $U the unsigned one of its width, $P that widened to 32 bits, $R the result's
     * type, $W the width in bits, $M its mask, $N what $P is wider, to be subtracted, $Q the widest bit of $P, $F the
     * suffix of its math functions; of a float $E the bits of its mantissa, $B the bias of its exponent, $X the bits of
     * a as $U, $Y the number whose bits are those of the variable i. In a helper $a is a parameter; inline it may occur
     * only once. */
    const char *form;
} form;

static const form forms[] = {
    {OP_ADD, FLOAT | WIDE, false, "$a + $b"},
    {OP_ADD, INTS, true, "return ($T)(($P)a + ($P)b);"},
    {OP_SUB, FLOAT | WIDE, false, "$a - $b"},
    {OP_SUB, INTS, true, "return ($T)(($P)a - ($P)b);"},
    {OP_MUL, FLOAT | WIDE, false, "$a * $b"},
    {OP_MUL, INTS, true, "return ($T)(($P)a * ($P)b);"},
    {OP_DIV, FLOAT, false, "$a / $b"},
    {OP_DIV, SIGNED, true,
     "if (b == 0 || b == -1) return b ? ($T)(0 - ($P)a) : 0; $T q = a / b, r = a % b; "
     "return q - (r != 0 && (r < 0) != (b < 0));"},
    {OP_DIV, INTS, true, "return b ? a / b : 0;"},
    {OP_MOD, SIGNED, true,
     "if (b == 0 || b == -1) return 0; $T r = a % b; return r != 0 && (r < 0) != (b < 0) ? r + b : r;"},
    {OP_MOD, INTS, true, "return b ? a % b : 0;"},
    {OP_QUOT, SIGNED, true, "return b == 0 ? 0 : b == -1 ? ($T)(0 - ($P)a) : a / b;"},
    {OP_QUOT, INTS, true, "return b ? a / b : 0;"},
    {OP_REM, SIGNED, true, "return b == 0 || b == -1 ? 0 : a % b;"},
    {OP_REM, INTS, true, "return b ? a % b : 0;"},
    {OP_NEG, FLOAT, false, "-$a"},
    {OP_NEG, INTS, false, "($T)(0 - ($P)$a)"},
    {OP_ABS, FLOAT, false, "fabs$F($a)"},
    {OP_ABS, SIGNED, true, "return a < 0 ? ($T)(0 - ($P)a) : a;"},
    {OP_ABS, INTS, false, "$a"},
    {OP_SIGNUM, FLOAT, true, "return a > 0 ? 1 : a < 0 ? -1 : a;"},
    {OP_SIGNUM, SIGNED, true, "return (a > 0) - (a < 0);"},
    {OP_SIGNUM, INTS, true, "return a != 0;"},
    {OP_MIN, FLOAT, true, "if (a == b) return signbit(a) ? a : b; return a != a || b < a ? b : a;"},
    {OP_MIN, ALL, true, "return a < b ? a : b;"},
    {OP_MAX, FLOAT, true, "if (a == b) return signbit(a) ? b : a; return a != a || b > a ? b : a;"},
    {OP_MAX, ALL, true, "return a > b ? a : b;"},
    {OP_FMA, FLOAT, false, "fma$F($a, $b, $c)"},
    {OP_BIT_AND, INTS, false, "($T)($a & $b)"},
    {OP_BIT_OR, INTS, false, "($T)($a | $b)"},
    {OP_BIT_XOR, INTS, false, "($T)($a ^ $b)"},
    {OP_BIT_NOT, INTS, false, "($T)~$a"},
    {OP_SHL, SIGNED, true, "return b < 0 || b >= $W ? 0 : ($T)(($P)a << b);"},
    {OP_SHL, INTS, true, "return b >= $W ? 0 : ($T)(($P)a << b);"},
    {OP_SHR, SIGNED, true, "return b < 0 || b >= $W ? (a < 0 ? -1 : 0) : a >> b;"},
    {OP_SHR, INTS, true, "return b >= $W ? 0 : a >> b;"},
    {OP_ROTL, INTS, true, "$U n = b & $M, x = ($U)a; return n ? ($T)(($P)x << n | ($P)x >> ($W - n)) : a;"},
    {OP_ROTR, INTS, true, "$U n = b & $M, x = ($U)a; return n ? ($T)(($P)x >> n | ($P)x << ($W - n)) : a;"},
    {OP_POPCOUNT, INTS, false, "(int)$popcount(($P)($U)$a)"},
    {OP_CLZ, INTS, false, "(int)$clz(($P)($U)$a)$N"},
    {OP_CTZ, INTS, true, "$P x = ($U)a; return x ? $Q - (int)$clz(x & (0 - x)) : $W;"},
    {OP_AND, LOGIC, false, "$a && $b"},
    {OP_OR, LOGIC, false, "$a || $b"},
    {OP_NOT, LOGIC, false, "!$a"},
    {OP_EQ, ALL, false, "$a == $b"},
    {OP_NE, ALL, false, "$a != $b"},
    {OP_LT, ALL, false, "$a < $b"},
    {OP_LE, ALL, false, "$a <= $b"},
    {OP_GT, ALL, false, "$a > $b"},
    {OP_GE, ALL, false, "$a >= $b"},
    {OP_FLOOR, FLOAT, false, "floor$F($a)"},
    {OP_CEIL, FLOAT, false, "ceil$F($a)"},
    {OP_TRUNC, FLOAT, false, "trunc$F($a)"},
    {OP_ROUND, FLOAT, false, "round$F($a)"},
    {OP_RINT, FLOAT, false, "rint$F($a)"},
    {OP_IS_NAN, FLOAT, false, "isnan($a) != 0"},
    {OP_IS_INF, FLOAT, false, "isinf($a) != 0"},
    {OP_IS_FINITE, FLOAT, false, "isfinite($a) != 0"},
    {OP_SIGN_BIT, FLOAT, false, "signbit($a) != 0"},
    {OP_COPY_SIGN, FLOAT, false, "copysign$F($a, $b)"},
    {OP_SQRT, FLOAT, false, "sqrt$F($a)"},
    {OP_TRACE, ALL, false, "$a"},
    {OP_SCALE, FLOAT, true,
     "int n = (int)floor$F(b), h = n >> 1; $U i = ($U)(h + $B) << $E; a *= $Y; i = ($U)(n - h + $B) << $E; "
     "return a * $Y;"},
    /* Positive normal numbers take one comparison. */
    {OP_EXPONENT, FLOAT, true,
     "$U i = $X, one = ($U)1 << $E; int k = -$B; if (i - one >= (($U)(2 * $B) << $E)) { i = ($U)(2 * $B + 1) << $E; "
     "if (a == 0) return -$Y; if (!(a > 0)) return (a - a) * $Y; if (isinf(a)) return a; a *= ($T)4294967296; "
     "a *= ($T)4294967296; i = $X; k -= 64; } return (int)((i + (one >> 1)) >> $E) + k;"},
    {OP_SIGNIFICAND, FLOAT, true,
     "$U i = $X, one = ($U)1 << $E; if (i - one >= (($U)(2 * $B) << $E)) { i = ($U)(2 * $B + 1) << $E; "
     "if (a == 0) return copysign$F(($T)1, a); if (!(a > 0)) return (a - a) * $Y; if (isinf(a)) return 1; "
     "a *= ($T)4294967296; a *= ($T)4294967296; i = $X; } "
     "i = ($U)($B - (i >> ($E - 1) & 1)) << $E | (i & (one - 1)); return $Y;"},
};

static unsigned kind_of(ir_type t)
{
    if (ir_type_float(t))
        return FLOAT;
    if (t == T_BOOL)
        return LOGIC;
    if (ir_type_signed(t))
        return SIGNED;
    return ir_type_size(t) < 4 ? NARROW : WIDE;
}

const char *emit_type(emitter *e, ir_type t)
{
    e->uses_f64 |= t == T_F64;
    return e->d->type[t];
}

bool emit_narrow(const emitter *e, k_val v)
{
    return e->narrow && e->narrow[v];
}

/* Values are not declared const: clang, looking for constants, follows their initialisers as far as they go, and
 * overflows its stack in large kernels. */
const char *emit_type_of(emitter *e, k_val v)
{
    return emit_type(e, emit_narrow(e, v) ? T_I32 : (ir_type)e->k->value.at[v].type);
}

const char *emit_memory_type(const emitter *e, ir_type t)
{
    return e->d->type[t == T_BOOL ? T_U8 : t];
}

/* --- names and literals --- */

/* "name_7": plain letters, no word of the language, since none of those ends like this. */
static const char *make_name(emitter *e, const char *name, const char *otherwise, const char *mark, uint32_t number)
{
    char *s = arena_printf(e->arena, "%s_%s%" PRIu32, name && *name ? name : otherwise, mark, number);
    for (char *c = s; *c; c++)
        if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9' && c != s)))
            *c = '_';
    return s;
}

const char *emit_define(emitter *e, k_val v)
{
    return e->name[v] = make_name(e, e->k->value.at[v].name, "v", "", ++e->names);
}

const char *emit_memory(emitter *e, k_mem m)
{
    static const char *const mark[] = {[K_GLOBAL] = "g", [K_SHARED] = "s", [K_PRIVATE] = "p"};
    const k_memory *memory = &e->k->mem.at[m];
    return make_name(e, memory->name, "m", mark[memory->space], m);
}

static const char *float_literal(emitter *e, ir_type t, ir_bits bits)
{
    text s;
    double v = t == T_F32 ? (double)ir_f32_bits(bits) : ir_f64_bits(bits);
    if (!isfinite(v)) {
        const char *number = arena_printf(e->arena, t == T_F32 ? "0x%" PRIx64 "u" : "0x%" PRIx64 "UL", bits);
        return arena_printf(e->arena, e->d->bits[t], number);
    }
    text_init(&s, e->arena);
    text_add(&s, signbit(v) ? "(" : "");
    text_f64(&s, v);
    text_add(&s, t == T_F32 ? "f" : "");
    text_add(&s, signbit(v) ? ")" : "");
    return s.at;
}

static const char *literal(emitter *e, ir_type t, ir_bits bits)
{
    int64_t v = ir_i64_bits(t, bits);
    switch (t) {
    case T_BOOL:
        return bits ? "true" : "false";
    case T_F32:
    case T_F64:
        return float_literal(e, t, bits);
    case T_U64:
        return arena_printf(e->arena, "%" PRIu64 "UL", bits);
    case T_I64:
        if (v == INT64_MIN)
            return "(-9223372036854775807L - 1)";
        return arena_printf(e->arena, v < 0 ? "(%" PRId64 "L)" : "%" PRId64 "L", v);
    case T_I32:
        if (v == INT32_MIN)
            return "(-2147483647 - 1)";
        return arena_printf(e->arena, v < 0 ? "(%" PRId64 ")" : "%" PRId64, v);
    case T_U32:
    case T_CHAR:
        return arena_printf(e->arena, "%" PRId64 "u", v);
    default:
        return arena_printf(e->arena, "(%s)(%" PRId64 ")", emit_type(e, t), v);
    }
}

const char *emit_value(emitter *e, k_val v)
{
    const k_value *x = &e->k->value.at[v];
    if (x->kind == KV_LITERAL && emit_narrow(e, v))
        return literal(e, T_I32, ir_bits_i64(T_I32, (int64_t)x->bits));
    if (x->kind == KV_LITERAL)
        return literal(e, (ir_type)x->type, x->bits);
    if (x->kind == KV_PIECE)
        return "piece";
    return e->name[v];
}

/* --- forms --- */

typedef struct {
    const char *name, *value;
} substitution;

static const char *substitute(emitter *e, const char *pattern, const substitution *s, unsigned n)
{
    text t;
    text_init(&t, e->arena);
    while (*pattern) {
        unsigned i = 0;
        if (*pattern == '$')
            while (i < n && strncmp(pattern + 1, s[i].name, strlen(s[i].name)) != 0)
                i++;
        if (*pattern != '$' || i == n) {
            text_add_n(&t, pattern++, 1);
            continue;
        }
        text_add(&t, s[i].value);
        pattern += 1 + strlen(s[i].name);
    }
    return t.at;
}

static const char *expand(emitter *e, const char *pattern, ir_type t, ir_type result, const char *const *operand)
{
    ir_type u = ir_type_unsigned(ir_type_size(t));
    bool wide = u == T_U64;
    const substitution s[] = {
        {"popcount", e->d->popcount[wide]},
        {"clz", e->d->clz[wide]},
        {"a", operand[0]},
        {"b", operand[1]},
        {"c", operand[2]},
        {"T", emit_type(e, t)},
        {"R", emit_type(e, result)},
        {"U", e->d->type[u]},
        {"P", e->d->type[wide ? T_U64 : T_U32]},
        {"W", arena_printf(e->arena, "%u", ir_type_bits(t))},
        {"M", arena_printf(e->arena, "%u", ir_type_bits(t) - 1)},
        {"N", ir_type_bits(t) < 32 ? arena_printf(e->arena, " - %u", 32 - ir_type_bits(t)) : ""},
        {"Q", wide ? "63" : "31"},
        {"F", t == T_F32 ? e->d->f32_suffix : ""},
        {"E", wide ? "52" : "23"},
        {"B", wide ? "1023" : "127"},
        {"X", ir_type_float(t) ? arena_printf(e->arena, e->d->bits[u], "a") : ""},
        {"Y", ir_type_float(t) ? arena_printf(e->arena, e->d->bits[t], "i") : ""},
    };
    return substitute(e, pattern, s, (unsigned)ARRAY_LENGTH(s));
}

/* Is this helper new? Then the caller writes it. */
static bool new_helper(emitter *e, const char *name)
{
    for (uint32_t i = 0; i < e->known.n; i++)
        if (strcmp(e->known.at[i], name) == 0)
            return false;
    vec_push(e->arena, &e->known, name);
    return true;
}

static const char *call(emitter *e, const char *name, unsigned arity, const char *const *operand)
{
    text t;
    text_init(&t, e->arena);
    text_printf(&t, "%s(", name);
    for (unsigned i = 0; i < arity; i++)
        text_printf(&t, "%s%s", i ? ", " : "", operand[i]);
    text_add(&t, ")");
    return t.at;
}

static const char *helper(emitter *e, const form *f, ir_type t, ir_type result, const char *const *operand)
{
    static const char *const parameter[] = {"a", "b", "c"};
    unsigned arity = ir_ops[f->op].arity;
    const char *name = arena_printf(e->arena, "%s_%s", ir_ops[f->op].name, ir_type_name(t));
    if (new_helper(e, name)) {
        text_printf(&e->helpers, "\n%s%s %s(", e->d->helper, emit_type(e, result), name);
        for (unsigned i = 0; i < arity; i++)
            text_printf(&e->helpers, "%s%s %s", i ? ", " : "", emit_type(e, t), parameter[i]);
        text_printf(&e->helpers, ")\n{\n    %s\n}\n", expand(e, f->form, t, result, parameter));
    }
    return call(e, name, arity, operand);
}

/* An entry of a table: of a constant array that stands before the helper. */
static const char *look(emitter *e, ir_op op, const sn_table *table, ir_type t, const char *const *operand)
{
    ir_type u = ir_type_unsigned(ir_type_size(t));
    unsigned n = t == T_F32 ? table->count_f32 : table->count_f64;
    const char *name = arena_printf(e->arena, "%s_%s", ir_ops[op].name, ir_type_name(t)), *type = emit_type(e, t);
    if (new_helper(e, name)) {
        text_printf(&e->helpers, "\n%s%s %s_entry[%u] = {", e->d->table, type, name, n);
        for (unsigned i = 0; i < n; i++) {
            ir_bits bits = t == T_F32 ? ir_bits_f32(table->f32[i]) : ir_bits_f64(table->f64[i]);
            text_printf(&e->helpers, "%s%s", i ? ", " : "", float_literal(e, t, bits));
        }
        text_printf(&e->helpers, "};\n%s%s %s(%s a)\n{\n", e->d->helper, type, name, type);
        text_printf(&e->helpers, "    return %s_entry[%s & %u];\n}\n", name, arena_printf(e->arena, e->d->bits[u], "a"),
                    n - 1);
    }
    return call(e, name, 1, operand);
}

static const char *convert(emitter *e, ir_type from, ir_type to, const char *x)
{
    if (to == T_BOOL)
        return arena_printf(e->arena, "%s != 0", x);
    if (!ir_type_float(from) || ir_type_float(to))
        return arena_printf(e->arena, "(%s)%s", emit_type(e, to), x);
    const char *name = arena_printf(e->arena, "%s_of_%s", ir_type_name(to), ir_type_name(from));
    if (new_helper(e, name)) {
        const char *result = emit_type(e, to);
        const char *saturated = arena_printf(e->arena, e->d->saturate[from == T_F64][to], "a");
        text_printf(&e->helpers, "\n%s%s %s(%s a)\n{\n    return a != a ? 0 : %s;\n}\n", e->d->helper, result, name,
                    emit_type(e, from), saturated);
    }
    return call(e, name, 1, &x);
}

/* A shift by a constant within the width needs no helper. */
static const char *constant_shift(emitter *e, const k_stmt *s, ir_type t, const char *x)
{
    const k_value *count = &e->k->value.at[s->in[1]];
    int64_t n = ir_i64_bits((ir_type)count->type, count->bits);
    if ((s->sub != OP_SHL && s->sub != OP_SHR) || count->kind != KV_LITERAL || n < 0 || n >= ir_type_bits(t))
        return NULL;
    const char *operand[3] = {x, arena_printf(e->arena, "%" PRId64, n), NULL};
    return expand(e, s->sub == OP_SHR ? "($T)($a >> $b)" : "($T)(($P)$a << $b)", t, t, operand);
}

/* Indices in 32 bits do not overflow, and a compiler that may count on it keeps offsets in the addressing of memory. */
static const form narrow_forms[] = {
    {OP_ADD, SIGNED, false, "$a + $b"}, {OP_SUB, SIGNED, false, "$a - $b"}, {OP_MUL, SIGNED, false, "$a * $b"}};

/* Is it computed in 32 bits: an index, or a comparison of two? */
static bool narrow_operation(const emitter *e, const k_stmt *s)
{
    for (unsigned i = 0; i < k_operands(s); i++)
        if (!emit_narrow(e, s->in[i]))
            return false;
    return emit_narrow(e, s->dst) || e->k->value.at[s->dst].type == T_BOOL;
}

const char *emit_let(emitter *e, const k_stmt *s)
{
    const k_value *v = e->k->value.at;
    ir_type t = (ir_type)v[s->in[0]].type, result = (ir_type)v[s->dst].type;
    bool narrow = t == T_I64 && narrow_operation(e, s);
    const char *operand[3] = {"", "", ""};
    for (unsigned i = 0; i < k_operands(s); i++)
        operand[i] = emit_value(e, s->in[i]);
    if ((s->sub == OP_BITCAST || s->sub == OP_CONVERT) && t == result)
        return operand[0];
    if (!narrow && emit_narrow(e, s->in[0]))
        operand[0] = arena_printf(e->arena, "(%s)%s", emit_type(e, t), operand[0]);
    if (s->sub == OP_BITCAST)
        return ir_type_float(t) == ir_type_float(result)
                   ? arena_printf(e->arena, "(%s)%s", emit_type(e, result), operand[0])
                   : arena_printf(e->arena, e->d->bits[result], operand[0]);
    if (s->sub == OP_CONVERT)
        return convert(e, t, result, operand[0]);
    const sn_table *table = sn_table_of((ir_op)s->sub);
    if (table)
        return look(e, (ir_op)s->sub, table, t, operand);
    const char *shift = constant_shift(e, s, t, operand[0]);
    if (shift)
        return shift;
    for (size_t i = 0; narrow && i < ARRAY_LENGTH(narrow_forms); i++)
        if (narrow_forms[i].op == s->sub)
            return expand(e, narrow_forms[i].form, T_I32, T_I32, operand);
    t = narrow ? T_I32 : t;
    result = narrow && result == T_I64 ? T_I32 : result;
    for (size_t i = 0; i < ARRAY_LENGTH(forms); i++) {
        if (forms[i].op != s->sub || !(forms[i].kinds & kind_of(t)))
            continue;
        return forms[i].helper ? helper(e, &forms[i], t, result, operand)
                               : expand(e, forms[i].form, t, result, operand);
    }
    e->why = arena_printf(e->arena, "%s has no form for %s in %s", ir_ops[s->sub].name, ir_type_name(t), e->d->name);
    return NULL;
}

/* --- bits --- */

const char *emit_to_bits(emitter *e, ir_type t, const char *x)
{
    if (t == T_BOOL)
        return arena_printf(e->arena, "(%s ? 1 : 0)", x);
    if (ir_type_float(t))
        return arena_printf(e->arena, "(ulong)%s", arena_printf(e->arena, e->d->bits[t == T_F32 ? T_U32 : T_U64], x));
    return arena_printf(e->arena, "(ulong)(%s)%s", e->d->type[ir_type_unsigned(ir_type_size(t))], x);
}

const char *emit_from_bits(emitter *e, ir_type t, const char *x)
{
    if (t == T_BOOL)
        return arena_printf(e->arena, "%s != 0", x);
    if (t == T_F32) /* as_float takes nothing wider */
        return arena_printf(e->arena, e->d->bits[t], arena_printf(e->arena, "(uint)(%s)", x));
    return t == T_F64 ? arena_printf(e->arena, e->d->bits[t], x) : arena_printf(e->arena, "(%s)%s", emit_type(e, t), x);
}

/* --- atomics --- */

static atomic_form atomic_of(ir_op op)
{
    switch (op) {
    case OP_MIN:
        return ATOMIC_MIN;
    case OP_MAX:
        return ATOMIC_MAX;
    case OP_BIT_AND:
        return ATOMIC_AND;
    case OP_BIT_OR:
        return ATOMIC_OR;
    case OP_BIT_XOR:
        return ATOMIC_XOR;
    default:
        return ATOMIC_ADD;
    }
}

/* Sums of floats: compare and swap until nobody came between. */
static const char *float_sum(emitter *e, ir_type t, const char *space, const char *const *operand)
{
    ir_type u = ir_type_unsigned(ir_type_size(t));
    const char *type = emit_type(e, t), *word = e->d->type[u];
    const char *name = arena_printf(e->arena, "atomic_add_%s_%s", ir_type_name(t), *space ? space : "any");
    name = make_name(e, name, "", "", 0);
    if (new_helper(e, name)) {
        text_printf(&e->helpers, "\n%s%s %s(%s%s *p, %s x)\n{\n", e->d->helper, type, name, space, type, type);
        text_printf(&e->helpers, "    %s%s *word = (%s%s *)p;\n    for (%s seen = *word;;) {\n", space, word, space,
                    word, word);
        const char *old = arena_printf(e->arena, e->d->bits[t], "seen");
        text_printf(&e->helpers, "        const %s now = %s(word, seen, ", word, e->d->atomic[ATOMIC_SWAP][u == T_U64]);
        text_printf(&e->helpers, e->d->bits[u], arena_printf(e->arena, "%s + x", old));
        text_printf(&e->helpers, ");\n        if (now == seen)\n            return %s;\n", old);
        text_add(&e->helpers, "        seen = now;\n    }\n}\n");
    }
    return call(e, name, 2, operand);
}

const char *emit_atomic(emitter *e, const k_stmt *s)
{
    const k_memory *m = &e->k->mem.at[s->mem];
    ir_type t = (ir_type)m->type;
    const char *space = m->space == K_SHARED ? e->d->shared : e->d->global;
    const char *place = arena_printf(e->arena, "&%s[%s]", emit_memory(e, s->mem), emit_value(e, s->in[0]));
    const char *operand[2] = {place, emit_value(e, s->in[1])};
    bool wide = ir_type_size(t) == 8;
    e->uses_atomic64 |= wide;
    if (ir_type_float(t))
        return float_sum(e, t, space, operand);
    const char *function = e->d->atomic[atomic_of((ir_op)s->sub)][wide];
    if (t != T_I64 || !e->d->atomic64_unsigned || s->sub == OP_MIN || s->sub == OP_MAX)
        return call(e, function, 2, operand);
    operand[0] = arena_printf(e->arena, "(%s%s *)%s", space, e->d->type[T_U64], place);
    return arena_printf(e->arena, "(%s)%s", e->d->type[t], call(e, function, 2, operand));
}
