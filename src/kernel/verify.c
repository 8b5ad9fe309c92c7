/* Checks a kernel against the rules that kernel.h states: types, scopes, levels, and that gang-wide statements are
 * reached by whole gangs. A kernel that passes cannot make an emitter fail or misread it. */
#include "kernel/analyse.h"
#include "kernel/walk.h"

#include <inttypes.h>

typedef struct {
    const kernel *k;
    arena *arena;
    const char **why;
    k_walk w;
    bool *visible, *seen; /* per value: in scope now; defined by a statement met before */
    k_ref *level;         /* per variable: the FOR_ALL it was declared in, 0: piece level */
    VEC(k_val) scope;     /* values in scope, innermost list last */
    VEC(uint32_t) mark;   /* per open statement: scope.n before its list */
    VEC(uint32_t) breaks; /* per open statement: BREAK_IFs met directly in it */
    k_ref chain;          /* the CHAIN whose code is being checked */
} checker;

static bool SN_PRINTF(2, 3) bad(checker *c, const char *format, ...)
{
    text t;
    va_list args;
    text_init(&t, c->arena);
    if (c->w.at)
        text_printf(&t, "statement %" PRIu32 " (%s): ", c->w.at, k_op_name((k_op)c->k->stmt.at[c->w.at].op));
    va_start(args, format);
    text_vprintf(&t, format, args);
    va_end(args);
    *c->why = t.at;
    return false;
}

static ir_type type_of(const checker *c, k_val v)
{
    return (ir_type)c->k->value.at[v].type;
}

/* --- declarations --- */

/* Elements that are apart, being fields of structs. */
static bool check_fields(checker *c, k_mem id)
{
    const k_memory *m = &c->k->mem.at[id], *other = &c->k->mem.at[m->beside];
    uint64_t size = ir_type_size((ir_type)m->type);
    if (!m->every)
        return (!m->at && !m->beside) || bad(c, "memory %" PRIu32 " is no field of structs, but says which", id);
    if (m->at + size > m->every || m->every > INT32_MAX)
        return bad(c, "memory %" PRIu32 " has fields of %d bytes at %" PRIu32 " in structs of %" PRIu32, id, (int)size,
                   m->at, m->every);
    if (m->stream)
        return bad(c, "memory %" PRIu32 " has fields of structs, which do not go past the caches", id);
    return !m->beside ||
           (m->beside < id && other->every == m->every && !other->beside && other->written == m->written) ||
           bad(c, "memory %" PRIu32 " is beside %" PRIu32 ", which is no earlier one of the same structs", id,
               m->beside);
}

static bool check_memory(checker *c, k_mem id)
{
    const k_memory *m = &c->k->mem.at[id];
    if (m->space > K_PRIVATE || m->type == T_NONE || m->type >= T_COUNT)
        return bad(c, "memory %" PRIu32 " has no such space or type", id);
    if (m->space == K_GLOBAL)
        return check_fields(c, id);
    if (m->count < 1 || m->count > INT64_C(1) << 31)
        return bad(c, "memory %" PRIu32 " has %" PRId64 " elements; 1 to 2^31 are possible", id, m->count);
    if (m->space == K_PRIVATE && !c->k->threads)
        return bad(c, "memory %" PRIu32 " is private, but the kernel says no number of threads", id);
    return true;
}

static bool check_constant(checker *c, k_val id)
{
    const k_value *v = &c->k->value.at[id];
    if (v->kind == KV_NONE || v->kind > KV_VARIABLE || v->type == T_NONE || v->type >= T_COUNT)
        return bad(c, "value %" PRIu32 " has no such kind or type", id);
    if (v->kind == KV_ARG && (v->bits >= c->k->arg_type.n || c->k->arg_type.at[v->bits] != v->type))
        return bad(c, "value %" PRIu32 " is no argument of the launch", id);
    if (v->natural && (v->kind != KV_ARG || v->type != T_I64))
        return bad(c, "value %" PRIu32 " is natural, but no i64 argument", id);
    if (v->kind == KV_PIECE && v->type != T_I64)
        return bad(c, "value %" PRIu32 ": the number of a piece is an i64", id);
    unsigned bits = v->kind == KV_LITERAL ? ir_type_bits((ir_type)v->type) : 64;
    if (bits < 64 && v->bits >> bits)
        return bad(c, "value %" PRIu32 " has bits outside its type", id);
    return true;
}

static bool check_declarations(checker *c)
{
    const kernel *k = c->k;
    if (k->lanes < 1 || k->lanes > 256 || (k->lanes & (k->lanes - 1)))
        return bad(c, "%u lanes; a power of two from 1 to 256 is possible", k->lanes);
    for (k_mem m = 1; m < k->mem.n; m++)
        if (!check_memory(c, m))
            return false;
    if (k->body >= k->stmt.n)
        return bad(c, "the body leads nowhere");
    for (k_val v = 1; v < k->value.n; v++)
        if (!check_constant(c, v))
            return false;
    return true;
}

/* --- scopes --- */

static bool check_use(checker *c, k_val v)
{
    if (!v || v >= c->k->value.n)
        return bad(c, "an operand is missing");
    uint8_t kind = c->k->value.at[v].kind;
    if ((kind == KV_RESULT || kind == KV_VARIABLE) && !c->visible[v])
        return bad(c, "value %" PRIu32 " is used where it is not visible", v);
    return true;
}

static bool check_uses(checker *c, const k_val *v, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (!check_use(c, v[i]))
            return false;
    return true;
}

static bool define(checker *c, k_val v, k_value_kind kind, ir_type t, k_ref def)
{
    if (!v || v >= c->k->value.n)
        return bad(c, "it defines no value");
    const k_value *x = &c->k->value.at[v];
    if (x->kind != kind || x->def != def || c->seen[v])
        return bad(c, "value %" PRIu32 " is not its own to define", v);
    if (x->type != t)
        return bad(c, "value %" PRIu32 " is a %s, not a %s", v, ir_type_name((ir_type)x->type), ir_type_name(t));
    c->seen[v] = c->visible[v] = true;
    c->level[v] = c->w.for_all;
    vec_push(c->arena, &c->scope, v);
    return true;
}

static void close_scope(checker *c)
{
    uint32_t mark = c->mark.at[c->mark.n - 1];
    while (c->scope.n > mark)
        c->visible[c->scope.at[--c->scope.n]] = false;
}

/* --- statements: types and levels --- */

static bool want(checker *c, k_val v, ir_type t)
{
    if (type_of(c, v) == t)
        return true;
    return bad(c, "value %" PRIu32 " is a %s, not a %s", v, ir_type_name(type_of(c, v)), ir_type_name(t));
}

static bool check_let(checker *c, const k_stmt *s)
{
    ir_type t = type_of(c, s->in[0]), to = s->dst < c->k->value.n ? type_of(c, s->dst) : T_NONE;
    for (unsigned i = 1; i < ir_ops[s->sub].arity; i++)
        if (!want(c, s->in[i], t))
            return false;
    bool converts = ir_ops[s->sub].signature == SIGNATURE_CONVERT;
    ir_type result = converts && t == to ? to : ir_op_result((ir_op)s->sub, t, converts ? to : T_NONE);
    if (result == T_NONE)
        return bad(c, "%s does not take a %s", ir_ops[s->sub].name, ir_type_name(t));
    return define(c, s->dst, KV_RESULT, result, c->w.at);
}

static bool check_select(checker *c, const k_stmt *s)
{
    return want(c, s->in[0], T_BOOL) && want(c, s->in[2], type_of(c, s->in[1])) &&
           define(c, s->dst, KV_RESULT, type_of(c, s->in[1]), c->w.at);
}

/* What types the code takes is found out when it is compiled. */
static bool check_call(checker *c, const k_stmt *s)
{
    if (s->sub >= c->k->code.n || s->dst >= c->k->value.n)
        return bad(c, "there is no such code");
    if (c->k->code.at[s->sub].host && type_of(c, s->in[0]) != T_I64)
        return bad(c, "a function of the host's is called without its address");
    return define(c, s->dst, KV_RESULT, type_of(c, s->dst), c->w.at);
}

/* The last two statements were a copy of the variable and an integer sum with it. */
static bool check_mix(checker *c, const k_stmt *s)
{
    const kernel *k = c->k;
    const k_value *v = &k->value.at[s->in[0]];
    const k_stmt *sum = v->kind == KV_RESULT ? &k->stmt.at[v->def] : NULL;
    if (!sum || sum->op != K_LET || sum->sub != OP_ADD || ir_type_float((ir_type)v->type) || sum->next != c->w.at)
        return bad(c, "only a sum of integers, made just before, may be mixed");
    for (unsigned i = 0; i < 2; i++) {
        const k_value *x = &k->value.at[sum->in[i]];
        const k_stmt *copy = x->kind == KV_RESULT ? &k->stmt.at[x->def] : NULL;
        if (copy && copy->op == K_LET && copy->sub == OP_BITCAST && copy->in[0] == s->dst && copy->next == v->def)
            return true;
    }
    return bad(c, "value %" PRIu32 " is no sum with a copy of the variable made just before it", s->in[0]);
}

static bool check_set(checker *c, const k_stmt *s)
{
    if (!check_use(c, s->dst))
        return false;
    const k_value *v = &c->k->value.at[s->dst];
    if (v->kind != KV_VARIABLE || !v->def)
        return bad(c, "value %" PRIu32 " is no variable that may be set", s->dst);
    return want(c, s->in[0], (ir_type)v->type) && (s->sub != K_MIX || check_mix(c, s));
}

/* Memory is there, may be used this way at this place, and the index is an i64. */
static bool check_access(checker *c, const k_stmt *s, bool writes)
{
    if (!s->mem || s->mem >= c->k->mem.n)
        return bad(c, "there is no memory %" PRIu32, s->mem);
    const k_memory *m = &c->k->mem.at[s->mem];
    if (writes && m->space == K_GLOBAL && !m->written)
        return bad(c, "memory %" PRIu32 " is not an output", s->mem);
    if (m->space != K_PRIVATE)
        return want(c, s->in[0], T_I64);
    if (!c->w.for_all)
        return bad(c, "memory %" PRIu32 " is private to threads and there is none at piece level", s->mem);
    const k_value *count = &c->k->value.at[c->k->stmt.at[c->w.for_all].in[0]];
    if (count->kind == KV_LITERAL && (int64_t)count->bits > (int64_t)c->k->threads)
        return bad(c, "more threads than the kernel's %" PRIu32 " use private memory", c->k->threads);
    return want(c, s->in[0], T_I64);
}

static ir_type element(const checker *c, const k_stmt *s)
{
    return (ir_type)c->k->mem.at[s->mem].type;
}

static bool is_literal(const checker *c, k_val v, int64_t n)
{
    const k_value *x = &c->k->value.at[v];
    return x->kind == KV_LITERAL && ir_i64_bits(T_I64, x->bits) == n;
}

static bool check_pack(checker *c, const k_stmt *s)
{
    if (s->sub != K_PACK || (is_literal(c, s->in[0], 0) && is_literal(c, s->in[1], K_PACK_ROUNDS)))
        return true;
    return bad(c, "a pack has %d rounds", K_PACK_ROUNDS);
}

/* K_TOTAL says something about the index of a loop. */
static bool check_total(checker *c, const k_stmt *s)
{
    const k_value *index = s->in[0] < c->k->value.n ? &c->k->value.at[s->in[0]] : NULL;
    if (s->sub == 0 || s->sub == K_AHEAD || s->sub == K_QUIET ||
        (s->sub == K_TOTAL && index && index->kind == KV_RESULT && c->k->stmt.at[index->def].op == K_FOR))
        return true;
    return bad(c, "a total load reads at the index of a loop");
}

/* Is the memory such that elements lie one behind the other? */
static bool check_dense(checker *c, const k_stmt *s)
{
    return !c->k->mem.at[s->mem].every ||
           bad(c, "memory %" PRIu32 " has elements that are apart, which are loaded and stored only", s->mem);
}

static bool check_atomic(checker *c, const k_stmt *s)
{
    if (!check_access(c, s, true) || !check_dense(c, s) || !want(c, s->in[1], element(c, s)))
        return false;
    unsigned class = ir_type_class(element(c, s));
    bool sum = s->sub == OP_ADD && class & CLASS_NUM;
    bool other =
        s->sub == OP_MIN || s->sub == OP_MAX || s->sub == OP_BIT_AND || s->sub == OP_BIT_OR || s->sub == OP_BIT_XOR;
    if (c->k->mem.at[s->mem].space == K_PRIVATE || ir_type_size(element(c, s)) < 4)
        return bad(c, "no atomics on private memory and on elements of less than 4 bytes");
    if (!sum && !(other && class & CLASS_INT))
        return bad(c, "no atomic of this kind on %s", ir_type_name(element(c, s)));
    return define(c, s->dst, KV_RESULT, element(c, s), c->w.at);
}

/* Is a FOR_ALL of this count surely a single gang? */
static bool one_gang(const checker *c, k_val count)
{
    const k_value *v = &c->k->value.at[count];
    if (v->kind == KV_LITERAL)
        return (int64_t)v->bits <= c->k->lanes;
    const k_stmt *s = &c->k->stmt.at[v->def];
    if (v->kind != KV_RESULT || s->op != K_LET || s->sub != OP_MIN)
        return false;
    for (unsigned i = 0; i < 2; i++) {
        const k_value *x = &c->k->value.at[s->in[i]];
        if (x->kind == KV_LITERAL && (int64_t)x->bits <= c->k->lanes)
            return true;
    }
    return false;
}

static bool check_gang(checker *c)
{
    if (!c->w.for_all)
        return bad(c, "only threads have a gang");
    if (!one_gang(c, c->k->stmt.at[c->w.for_all].in[0]))
        return bad(c, "the FOR_ALL may have more threads than a gang; its count must be at most %u", c->k->lanes);
    return true;
}

static bool check_compact(checker *c, const k_stmt *s)
{
    return check_gang(c) && check_access(c, s, true) && check_dense(c, s) && want(c, s->in[1], element(c, s)) &&
           want(c, s->in[2], T_BOOL);
}

static bool check_shuffle(checker *c, const k_stmt *s)
{
    if (!check_gang(c) || !want(c, s->in[1], T_I64))
        return false;
    if (c->k->value.at[s->in[1]].kind != KV_LITERAL)
        return bad(c, "the distance of a shuffle must be a literal");
    uint64_t d = c->k->value.at[s->in[1]].bits;
    if (s->sub > K_PAIR)
        return bad(c, "unknown kind of shuffle");
    if (s->sub == K_LEFT && (d == 0 || d & (d - 1) || d >= c->k->lanes))
        return bad(c, "half a block of lanes must be a power of two below the number of lanes");
    if (s->sub == K_LANE && d >= c->k->lanes)
        return bad(c, "there is no such lane");
    if (s->sub == K_PAIR && d > 1)
        return bad(c, "a pair has two sides");
    return define(c, s->dst, KV_RESULT, (ir_type)c->k->value.at[s->in[0]].type, c->w.at);
}

static bool check_break(checker *c)
{
    k_ref parent = k_walk_parent(&c->w);
    if (!parent || c->k->stmt.at[parent].op != K_LOOP)
        return bad(c, "it must stand directly in a loop");
    c->breaks.at[c->breaks.n - 1]++;
    return want(c, c->k->stmt.at[c->w.at].in[0], T_BOOL);
}

static bool check_chain(checker *c, const k_stmt *s)
{
    const k_chain *chain = s->chain;
    if (k_walk_parent(&c->w) || !chain || chain->arity < 1 || chain->arity > K_MOST_CARRIED)
        return bad(c, "it must stand at the outermost level and carry 1 to 128 values");
    if (!chain->state || chain->state >= c->k->mem.n)
        return bad(c, "it has no state");
    const k_memory *m = &c->k->mem.at[chain->state];
    if (m->space != K_GLOBAL || m->type != T_U64 || !m->written || m->every)
        return bad(c, "its state must be a global output of u64");
    if (!check_uses(c, chain->aggregate, chain->arity) || !check_uses(c, chain->initial, chain->arity))
        return false;
    for (unsigned j = 0; j < chain->arity; j++)
        if (!want(c, chain->initial[j], type_of(c, chain->aggregate[j])))
            return false;
    return true;
}

/* Types and place of one statement; defines what it defines in the list it stands in. */
static bool check_statement(checker *c, const k_stmt *s)
{
    static const uint32_t in_chain = 1u << K_NOP | 1u << K_LET | 1u << K_SELECT | 1u << K_CALL | 1u << K_DECL |
                                     1u << K_SET | 1u << K_IF | 1u << K_LOOP | 1u << K_BREAK_IF | 1u << K_FOR;
    if (s->op > K_CHAIN || (s->op == K_LET && (s->sub == OP_NONE || s->sub >= OP_COUNT)))
        return bad(c, "there is no such statement");
    if (!check_uses(c, s->in, k_operands(s)))
        return false;
    for (unsigned i = k_operands(s); i < ARRAY_LENGTH(s->in); i++)
        if (s->in[i])
            return bad(c, "an operand too many");
    if (c->chain && !(in_chain >> s->op & 1))
        return bad(c, "the code of a chain only computes");
    switch ((k_op)s->op) {
    case K_NOP:
    case K_LOOP:
        return true;
    case K_LET:
        return check_let(c, s);
    case K_SELECT:
        return check_select(c, s);
    case K_CALL:
        return check_call(c, s);
    case K_DECL:
        return define(c, s->dst, KV_VARIABLE, type_of(c, s->in[0]), c->w.at);
    case K_SET:
        return check_set(c, s);
    case K_LOAD:
        return check_total(c, s) && check_access(c, s, false) && define(c, s->dst, KV_RESULT, element(c, s), c->w.at);
    case K_STORE:
        return check_access(c, s, true) && want(c, s->in[1], element(c, s));
    case K_CHECK:
        return want(c, s->in[0], T_BOOL) && want(c, s->in[1], T_I64) && want(c, s->in[2], T_I64) &&
               want(c, s->in[3], T_I64);
    case K_ATOMIC:
        return check_atomic(c, s);
    case K_IF:
        return want(c, s->in[0], T_BOOL);
    case K_BREAK_IF:
        return check_break(c);
    case K_FOR:
        return want(c, s->in[0], T_I64) && want(c, s->in[1], T_I64) && check_pack(c, s);
    case K_FOR_ALL:
        return c->w.for_all ? bad(c, "one FOR_ALL inside another") : want(c, s->in[0], T_I64);
    case K_COMPACT:
        return check_compact(c, s);
    case K_COUNT:
    case K_RANK:
        return check_gang(c) && want(c, s->in[0], T_BOOL) && define(c, s->dst, KV_RESULT, T_I64, c->w.at);
    case K_ALL:
        if (!c->w.for_all)
            return bad(c, "only threads have a gang");
        return want(c, s->in[0], T_BOOL) && define(c, s->dst, KV_RESULT, T_BOOL, c->w.at);
    case K_SHUFFLE:
        return check_shuffle(c, s);
    case K_FETCH:
        return check_access(c, s, false) && want(c, s->in[1], T_I64) &&
               (!(s->sub % K_NEAR) || c->w.for_all || bad(c, "only threads share rows")) &&
               (c->k->mem.at[s->mem].space == K_GLOBAL || bad(c, "there is nothing to fetch but global memory"));
    case K_CHAIN:
        return check_chain(c, s);
    }
    return true;
}

/* Opens the lists of a compound statement: what is visible only inside. */
static bool enter(checker *c, const k_stmt *s)
{
    vec_push(c->arena, &c->mark, c->scope.n);
    vec_push(c->arena, &c->breaks, 0u);
    if (s->op == K_FOR || s->op == K_FOR_ALL)
        return define(c, s->dst, KV_RESULT, T_I64, c->w.at);
    if (s->op != K_CHAIN)
        return true;
    c->chain = c->w.at;
    for (unsigned j = 0; j < s->chain->arity; j++) {
        ir_type t = type_of(c, s->chain->aggregate[j]);
        if (!define(c, s->chain->left[j], KV_VARIABLE, t, 0) || !define(c, s->chain->right[j], KV_VARIABLE, t, 0))
            return false;
    }
    return true;
}

static bool leave(checker *c, const k_stmt *s)
{
    if (s->op == K_LOOP && !c->breaks.at[c->breaks.n - 1])
        return bad(c, "it has no way out");
    if (s->op == K_CHAIN) {
        if (!check_uses(c, s->chain->result, s->chain->arity))
            return false;
        for (unsigned j = 0; j < s->chain->arity; j++)
            if (!want(c, s->chain->result[j], type_of(c, s->chain->aggregate[j])))
                return false;
        c->chain = 0;
    }
    close_scope(c);
    c->mark.n--;
    c->breaks.n--;
    for (unsigned j = 0; s->op == K_CHAIN && j < s->chain->arity; j++)
        if (!define(c, s->chain->before[j], KV_RESULT, type_of(c, s->chain->aggregate[j]), c->w.at))
            return false;
    return true;
}

static bool check_structure(checker *c)
{
    const kernel *k = c->k;
    k_walk_begin(&c->w, k, c->arena);
    while (k_walk_next(&c->w)) {
        const k_stmt *s = &k->stmt.at[c->w.at];
        if (s->next >= k->stmt.n || s->body >= k->stmt.n || s->orelse >= k->stmt.n)
            return bad(c, "a list leads nowhere");
        bool fine = true;
        if (c->w.event == K_WALK_AT)
            fine = check_statement(c, s) && (!k_compound(s) || enter(c, s));
        else if (c->w.event == K_WALK_ELSE)
            close_scope(c);
        else
            fine = leave(c, s);
        if (!fine)
            return false;
    }
    return c->w.visited < k->stmt.n || !k->body ? true : bad(c, "a list that comes back to itself");
}

/* --- what needs the shapes of values --- */

static bool check_uniform(checker *c, const k_shapes *shapes, k_val v)
{
    const k_value *x = &c->k->value.at[v];
    if ((x->kind != KV_RESULT && x->kind != KV_VARIABLE) || shapes->shape[v] == K_UNIFORM)
        return true;
    return bad(c, "value %" PRIu32 " must be the same in all lanes", v);
}

static bool check_converged(checker *c, const k_shapes *shapes, const k_stmt *s, uint32_t divergent)
{
    switch ((k_op)s->op) {
    case K_FOR:
        return check_uniform(c, shapes, s->in[0]) && check_uniform(c, shapes, s->in[1]);
    case K_COMPACT:
    case K_COUNT:
    case K_RANK:
    case K_SHUFFLE:
        if (divergent)
            return bad(c, "lanes may arrive here one by one; a whole gang is needed");
        return s->op != K_COMPACT || check_uniform(c, shapes, s->in[0]);
    case K_SET:
        if (c->level[s->dst] || !c->w.for_all)
            return true;
        if (divergent || !one_gang(c, c->k->stmt.at[c->w.for_all].in[0]))
            return bad(c, "a variable of the piece may be set only by a whole single gang");
        return check_uniform(c, shapes, s->in[0]);
    default:
        return true;
    }
}

static bool check_convergence(checker *c)
{
    k_shapes shapes = k_find_shapes(c->k, c->arena);
    uint32_t divergent = 0;
    k_walk_begin(&c->w, c->k, c->arena);
    while (k_walk_next(&c->w)) {
        if (c->w.event == K_WALK_AT && !check_converged(c, &shapes, &c->k->stmt.at[c->w.at], divergent))
            return false;
        if (c->w.event == K_WALK_AT)
            divergent += shapes.divergent[c->w.at];
        else if (c->w.event == K_WALK_LEAVE)
            divergent -= shapes.divergent[c->w.at];
    }
    return true;
}

bool k_verify(const kernel *k, arena *a, const char **why)
{
    checker c = {.k = k, .arena = a, .why = why};
    c.visible = arena_array(a, bool, k->value.n);
    c.seen = arena_array(a, bool, k->value.n);
    c.level = arena_array(a, *c.level, k->value.n);
    return check_declarations(&c) && check_structure(&c) && check_convergence(&c);
}
