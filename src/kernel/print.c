/* The text form of kernels (docs/text-forms.md). Values are numbered in the order of their definition, so that a
 * printed kernel, parsed and printed again, is the same text. */
#include "kernel/kernel.h"
#include "kernel/walk.h"

#include <inttypes.h>

typedef struct {
    const kernel *k;
    text *out;
    uint32_t *number; /* per value; 0: not printed yet */
    uint32_t numbers;
} printer;

static void put_name(printer *p, const char *name)
{
    for (; name && *name; name++) {
        bool plain = (*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') || (*name >= '0' && *name <= '9');
        text_add_n(p->out, plain ? name : "_", 1);
    }
}

static void put_literal(printer *p, const k_value *v)
{
    ir_type t = (ir_type)v->type;
    if (t == T_BOOL) {
        text_add(p->out, v->bits ? "true" : "false");
        return;
    }
    if (t == T_F32)
        text_f32(p->out, ir_f32_bits(v->bits));
    else if (t == T_F64)
        text_f64(p->out, ir_f64_bits(v->bits));
    else if (t == T_U64)
        text_printf(p->out, "%" PRIu64, v->bits);
    else
        text_printf(p->out, "%" PRId64, ir_i64_bits(t, v->bits));
    if (t != T_I64)
        text_printf(p->out, ":%s", ir_type_name(t));
}

static void put_value(printer *p, k_val id)
{
    const k_value *v = &p->k->value.at[id];
    if (!id || v->kind == KV_NONE) {
        text_add(p->out, "%?");
    } else if (v->kind == KV_LITERAL) {
        put_literal(p, v);
    } else if (v->kind == KV_PIECE) {
        text_add(p->out, "piece");
    } else {
        text_add(p->out, "%");
        if (v->name && *v->name) {
            put_name(p, v->name);
            text_add(p->out, ".");
        }
        text_printf(p->out, "%" PRIu32, p->number[id]);
    }
}

static void put_values(printer *p, const char *before, unsigned n, const k_val *v)
{
    text_add(p->out, before);
    for (unsigned i = 0; i < n; i++) {
        text_add(p->out, i ? ", " : " ");
        put_value(p, v[i]);
    }
}

/* A value where it is defined: with its type. */
static void put_definition(printer *p, k_val v)
{
    p->number[v] = ++p->numbers;
    put_value(p, v);
    text_printf(p->out, ":%s", ir_type_name((ir_type)p->k->value.at[v].type));
}

static void put_definitions(printer *p, const char *before, unsigned n, const k_val *v)
{
    text_add(p->out, before);
    for (unsigned i = 0; i < n; i++) {
        text_add(p->out, i ? ", " : " ");
        put_definition(p, v[i]);
    }
}

static void put_memory(printer *p, k_mem m)
{
    const char *name = p->k->mem.at[m].name;
    text_add(p->out, "@");
    if (name && *name) {
        put_name(p, name);
        text_add(p->out, ".");
    }
    text_printf(p->out, "%" PRIu32, m);
}

static void put_access(printer *p, const k_stmt *s)
{
    text_add(p->out, " ");
    put_memory(p, s->mem);
    text_add(p->out, "[");
    put_value(p, s->in[0]);
    text_add(p->out, "]");
}

static void put_chain(printer *p, const k_chain *c)
{
    text_add(p->out, "chain ");
    put_memory(p, c->state);
    put_definitions(p, " before", c->arity, c->before);
    put_values(p, " initial", c->arity, c->initial);
    put_values(p, " aggregate", c->arity, c->aggregate);
    put_definitions(p, " left", c->arity, c->left);
    put_definitions(p, " right", c->arity, c->right);
}

/* What follows "%x:t = ". */
static void put_right_side(printer *p, const k_stmt *s)
{
    text_add(p->out, s->op == K_LET ? ir_ops[s->sub].name : k_op_name((k_op)s->op));
    switch ((k_op)s->op) {
    case K_CALL:
        text_add(p->out, " ");
        put_name(p, p->k->code.at[s->sub].name);
        put_values(p, ",", k_operands(s), s->in);
        return;
    case K_LOAD:
        text_add(p->out, s->sub == K_TOTAL   ? " total"
                         : s->sub == K_AHEAD ? " ahead"
                         : s->sub == K_QUIET ? " quiet"
                                             : "");
        put_access(p, s);
        return;
    case K_SHUFFLE:
        text_add(p->out, s->sub == K_LEFT ? " left" : s->sub == K_LANE ? " lane" : s->sub == K_PAIR ? " pair" : "");
        put_values(p, "", 2, s->in);
        return;
    case K_ATOMIC:
        text_printf(p->out, " %s", ir_ops[s->sub].name);
        put_access(p, s);
        put_values(p, ",", 1, s->in + 1);
        return;
    default:
        put_values(p, "", k_operands(s), s->in);
    }
}

static void put_statement(printer *p, const k_stmt *s)
{
    switch ((k_op)s->op) {
    case K_IF:
        put_values(p, s->sub == K_EITHER ? "if either" : "if", 1, s->in);
        break;
    case K_FOR:
        text_add(p->out, "for ");
        put_definition(p, s->dst);
        put_values(p, " =", 1, s->in);
        put_values(p, " to", 1, s->in + 1);
        text_add(p->out, s->sub == K_PACK ? " pack" : s->sub ? " unroll" : "");
        break;
    case K_FOR_ALL:
        text_add(p->out, "for_all ");
        put_definition(p, s->dst);
        put_values(p, " <", 1, s->in);
        text_add(p->out, s->sub == K_FEW ? " few" : s->sub == K_WHOLE ? " whole" : "");
        break;
    case K_CHAIN:
        put_chain(p, s->chain);
        break;
    case K_SET:
        text_add(p->out, s->sub == K_RELAX ? "relax " : s->sub == K_MIX ? "mix " : "set ");
        put_value(p, s->dst);
        put_values(p, " =", 1, s->in);
        break;
    case K_STORE:
        text_add(p->out, "store");
        put_access(p, s);
        put_values(p, " =", 1, s->in + 1);
        break;
    case K_FETCH:
        text_add(p->out, s->sub == K_NEAR ? "fetch_near" : "fetch");
        put_access(p, s);
        if (s->sub % K_NEAR)
            text_printf(p->out, " rows %u", s->sub);
        put_values(p, s->sub % K_NEAR ? " apart" : " step", 1, s->in + 1);
        break;
    case K_COMPACT:
        text_add(p->out, s->sub == K_OVER ? "compact_over" : "compact");
        put_access(p, s);
        put_values(p, " =", 1, s->in + 1);
        put_values(p, " where", 1, s->in + 2);
        break;
    case K_CHECK:
        text_printf(p->out, "%s %" PRIu32 ":", s->sub & K_NOTE ? "note" : "check", s->site);
        put_values(p, "", 4, s->in);
        break;
    default:
        if (s->dst) {
            put_definition(p, s->dst);
            text_add(p->out, " = ");
            put_right_side(p, s);
        } else {
            put_values(p, k_op_name((k_op)s->op), k_operands(s), s->in);
        }
    }
    text_add(p->out, k_compound(s) ? " {\n" : "\n");
}

static void indent(printer *p, uint32_t depth)
{
    text_printf(p->out, "%*s", (int)(4 * depth), "");
}

static void put_body(printer *p, arena *a)
{
    k_walk w;
    k_walk_begin(&w, p->k, a);
    while (k_walk_next(&w)) {
        const k_stmt *s = &p->k->stmt.at[w.at];
        if (w.event == K_WALK_AT) {
            if (s->op == K_NOP)
                continue;
            indent(p, w.open.n + 1);
            put_statement(p, s);
        } else if (w.event == K_WALK_LEAVE) {
            indent(p, w.open.n + 1);
            text_add(p->out, "}");
            if (s->op == K_CHAIN)
                put_values(p, " yield", s->chain->arity, s->chain->result);
            text_add(p->out, "\n");
        } else if (s->orelse) {
            indent(p, w.open.n);
            text_add(p->out, "} else {\n");
        }
    }
}

static void put_declarations(printer *p)
{
    static const char *const space[] = {"global", "shared", "private"};
    const kernel *k = p->k;
    for (k_mem m = 1; m < k->mem.n; m++) {
        const k_memory *memory = &k->mem.at[m];
        text_printf(p->out, "    %s ", space[memory->space]);
        put_memory(p, m);
        text_printf(p->out, ":%s", ir_type_name((ir_type)memory->type));
        if (memory->space != K_GLOBAL)
            text_printf(p->out, "[%" PRId64 "]", memory->count);
        else
            text_printf(p->out, "%s%s%s%s%s%s", memory->written ? " written" : "", memory->once ? " once" : "",
                        memory->stream ? " stream" : "", memory->unread ? " unread" : "", memory->near ? " near" : "",
                        memory->one ? " one" : "");
        if (memory->few)
            text_printf(p->out, " few %" PRIu32, memory->few);
        if (memory->every)
            text_printf(p->out, " every %" PRIu32 " at %" PRIu32, memory->every, memory->at);
        if (memory->beside) {
            text_add(p->out, " beside ");
            put_memory(p, memory->beside);
        }
        text_add(p->out, "\n");
    }
    /* Arguments come in the order of their values, which is the order of their numbers. */
    for (k_val v = 1; v < k->value.n; v++) {
        if (k->value.at[v].kind != KV_ARG)
            continue;
        text_add(p->out, "    arg ");
        put_definition(p, v);
        text_add(p->out, k->value.at[v].natural ? " natural\n" : "\n");
    }
}

void k_print(const kernel *k, text *out)
{
    printer p = {.k = k, .out = out, .number = arena_array(out->arena, uint32_t, k->value.n)};
    text_add(out, "kernel ");
    put_name(&p, k->name && *k->name ? k->name : "_");
    text_printf(out, " lanes %u", k->lanes);
    if (k->threads)
        text_printf(out, " threads %" PRIu32, k->threads);
    text_add(out, k->narrow ? " narrow {\n" : " {\n");
    put_declarations(&p);
    put_body(&p, out->arena);
    text_add(out, "}\n");
}
