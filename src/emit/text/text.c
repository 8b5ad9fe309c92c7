/* Kernels as text for GPUs. A work-group takes one piece at a time; FOR_ALL is spread over its work items with a stride
 * loop and ends in a barrier where others may see what was written; code at piece level is computed by every work item
 * alike. Exchanges within a gang and carries between pieces are in gang.c. */
#include "emit/emit.h"
#include "emit/text/emitter.h"
#include "kernel/narrow.h"

#include <inttypes.h>

void emit_line(emitter *e, const char *format, ...)
{
    va_list args;
    uint32_t depth = 2 + e->walk.open.n - (e->walk.event == K_WALK_ELSE) + (e->walk.for_all != 0);
    text_printf(&e->body, "%*s", (int)(4 * depth), "");
    va_start(args, format);
    text_vprintf(&e->body, format, args);
    va_end(args);
    text_add(&e->body, "\n");
}

/* --- who sees what: where barriers are needed --- */

/* Is the current statement in a loop at piece level? Marks those loops with what it leaves pending. */
static bool in_piece_loop(emitter *e, const k_walk *w, uint8_t leaves)
{
    bool inside = false;
    for (uint32_t i = 0; i < w->open.n; i++) {
        k_ref id = k_walk_open(w, i);
        uint8_t op = w->k->stmt.at[id].op;
        if (op == K_FOR_ALL)
            break;
        if (op == K_LOOP || op == K_FOR) {
            inside = true;
            e->leaves[id] |= leaves;
        }
    }
    return inside;
}

/* May a thread find what another one has left there, in the same piece? An output that a single statement outside loops
 * touches is seen by nobody else, nor are outputs whose elements are stored once. */
static bool is_communicated(const k_memory *m, uint32_t uses, bool only_stored)
{
    return m->space == K_SHARED || (m->space == K_GLOBAL && m->written && uses > 1 && !(m->once && only_stored));
}

/* What the kernel contains, in one walk. */
static void survey(emitter *e)
{
    uint32_t *uses = arena_array(e->arena, *uses, e->k->mem.n);
    bool *read = arena_array(e->arena, *read, e->k->mem.n);
    k_walk w;
    k_walk_begin(&w, e->k, e->arena);
    while (k_walk_next(&w)) {
        const k_stmt *s = &e->k->stmt.at[w.at];
        if (w.event != K_WALK_AT)
            continue;
        e->level[w.at] = w.for_all;
        bool checks = s->op == K_CHECK && !(s->sub & K_NOTE);
        e->checked[w.for_all] |= checks;
        e->has_checks |= checks;
        if (!s->mem)
            continue;
        bool touches = !w.for_all && (e->k->mem.at[s->mem].space == K_SHARED || e->k->mem.at[s->mem].written);
        uint8_t leaves = !touches ? 0 : s->op == K_LOAD ? PENDING_READS : PENDING_READS | PENDING_WRITES;
        uses[s->mem] += in_piece_loop(e, &w, leaves) ? 2 : 1;
        read[s->mem] |= s->op != K_STORE;
        e->piece_accesses |= touches;
    }
    for (k_mem m = 1; m < e->k->mem.n; m++)
        e->communicated[m] = is_communicated(&e->k->mem.at[m], uses[m], !read[m]);
    for (k_ref id = 1; id < e->k->stmt.n; id++)
        if (e->level[id] && e->communicated[e->k->stmt.at[id].mem])
            e->communicates[e->level[id]] = true;
}

static void barrier(emitter *e)
{
    emit_line(e, "%s", e->barrier);
    e->pending = 0;
}

/* --- memory --- */

/* Rounds of the stride loops: virtual threads that one work item stands for. */
static const char *place(emitter *e, k_mem m, k_val index)
{
    const char *i = emit_value(e, index);
    if (e->k->mem.at[m].space == K_PRIVATE)
        i = arena_printf(e->arena, "%s + sn_round * %" PRId64, i, e->k->mem.at[m].count);
    return arena_printf(e->arena, "%s[%s]", emit_memory(e, m), i);
}

static const char *place_of(emitter *e, const k_stmt *s)
{
    return e->packed[e->walk.at] ? emit_packed(e, e->walk.at, k_walk_parent(&e->walk)) : place(e, s->mem, s->in[0]);
}

static void load(emitter *e, const k_stmt *s)
{
    if (!e->walk.for_all && e->pending & PENDING_WRITES && e->communicated[s->mem])
        barrier(e); /* one work item may have stored it for all */
    const char *from = place_of(e, s), *as_bool = e->k->mem.at[s->mem].type == T_BOOL ? " != 0" : "";
    emit_line(e, "%s %s = %s%s;", emit_type_of(e, s->dst), emit_define(e, s->dst), from, as_bool);
    e->pending |= !e->walk.for_all && e->communicated[s->mem] ? PENDING_READS : 0;
}

static void store(emitter *e, const k_stmt *s)
{
    const char *to = place_of(e, s), *value = emit_value(e, s->in[1]);
    if (e->walk.for_all) {
        emit_line(e, "%s = %s;", to, value);
        return;
    }
    if (e->pending & PENDING_READS && e->communicated[s->mem])
        barrier(e); /* others may still be reading */
    emit_line(e, "if (sn_lane == 0)");
    emit_line(e, "    %s = %s;", to, value);
    e->pending |= e->communicated[s->mem] ? PENDING_WRITES : 0;
}

static void atomic(emitter *e, const k_stmt *s)
{
    const char *operation = emit_atomic(e, s), *type = emit_type_of(e, s->dst), *name = emit_define(e, s->dst);
    if (e->walk.for_all) {
        emit_line(e, "%s %s = %s;", type, name, operation);
        return;
    }
    /* Once per piece; the others learn the old value through shared memory. */
    barrier(e);
    emit_line(e, "if (sn_lane == 0)");
    emit_line(e, "    *(%s%s *)sn_word = %s;", e->d->shared, type, operation);
    barrier(e);
    emit_line(e, "%s %s = *(%s%s *)sn_word;", type, name, e->d->shared, type);
    e->pending = PENDING_READS | PENDING_WRITES;
}

/* --- checks --- */

/* Keeps the smallest (site, element). The upper half of the record's first word counts its changes, and is odd while
 * one is under way; who makes it gives the record back within the same round of the loop, so work items in lock-step
 * cannot starve each other. What was read between two equal even counts belongs together: who has nothing smaller goes
 * on without waiting for the others, of whom there may be millions. All accesses are atomic: PoCL runs the work items
 * of a group as iterations of one loop, and tells its optimiser that plain accesses in it are independent. */
static void write_report(emitter *e)
{
    const char *global = e->d->global, *helper = e->d->helper, *fence = e->d->fence;
    const char *xchg = e->d->atomic[ATOMIC_EXCHANGE][0], * or = e->d->atomic[ATOMIC_OR][0];
    text_printf(&e->helpers, "\n%slong sn_get(%suint *p)\n{\n", helper, global);
    text_printf(&e->helpers, "    return (long)((ulong)%s(p + 1, 0) << 32 | %s(p, 0));\n}\n", or, or);
    text_printf(&e->helpers, "\n%svoid sn_put(%suint *p, long x)\n{\n", helper, global);
    text_printf(&e->helpers, "    %s(p, (uint)x);\n    %s(p + 1, (uint)((ulong)x >> 32));\n}\n", xchg, xchg);
    text_printf(&e->helpers,
                "\n%svoid sn_report(%slong *error, uint site, long element, long value, long bound)\n{\n"
                "    %suint *record = (%suint *)error;\n"
                "    for (bool done = false; !done;) {\n"
                "        const uint turn = %s(record + 1, 0);\n"
                "        %s\n"
                "        const uint known = %s(record, 0);\n"
                "        const long least = sn_get(record + 2);\n"
                "        %s\n",
                e->d->rare, global, global, global, or, fence, or, fence);
    text_printf(&e->helpers,
                "        if (known != 0 && (site > known || (site == known && element >= least))) {\n"
                "            done = (turn & 1) == 0 && %s(record + 1, 0) == turn;\n"
                "        } else if ((turn & 1) == 0 && %s(record + 1, turn, turn + 1) == turn) {\n"
                "            %s\n"
                "            %s(record, site);\n"
                "            sn_put(record + 2, element);\n"
                "            sn_put(record + 4, value);\n"
                "            sn_put(record + 6, bound);\n"
                "            %s\n"
                "            %s(record + 1, turn + 2);\n"
                "            done = true;\n"
                "        }\n"
                "    }\n}\n",
                or, e->d->atomic[ATOMIC_SWAP][0], fence, xchg, fence, xchg);
}

static void check(emitter *e, const k_stmt *s)
{
    emit_line(e, "if (!%s) {", emit_value(e, s->in[0]));
    emit_line(e, "    %ssn_report(sn_error, %" PRIu32 "u, %s, %s, %s);", e->walk.for_all ? "" : "if (sn_lane == 0) ",
              s->site, emit_value(e, s->in[1]), emit_value(e, s->in[2]), emit_value(e, s->in[3]));
    if (e->walk.for_all)
        emit_line(e, "    goto sn_off_%" PRIu32 ";", e->walk.for_all);
    else
        emit_line(e, "    goto sn_end;");
    emit_line(e, "}");
}

/* --- control --- */

/* A barrier in front of a loop instead of one in every round of it. In the loop, its end may have come before; behind
 * it, there may have been no round. */
static void begin_loop(emitter *e)
{
    uint8_t *leaves = &e->leaves[e->walk.at], before;
    if (e->pending && *leaves)
        barrier(e);
    before = e->pending;
    e->pending |= *leaves;
    *leaves |= e->walk.for_all ? 0 : before;
}

static const char *index_type(const emitter *e, k_val v)
{
    return emit_narrow(e, v) ? "int" : "long";
}

static void open_for(emitter *e, const k_stmt *s)
{
    const char *from = emit_value(e, s->in[0]), *to = emit_value(e, s->in[1]), *i = emit_define(e, s->dst);
    if (s->sub == K_PACK)
        emit_open_pack(e, e->walk.at);
    if (s->sub)
        text_add(&e->body, e->d->unroll);
    const char *hidden =
        e->d->even_rounds && !e->walk.for_all && e->k->value.at[s->in[1]].kind == KV_LITERAL ? " + sn_none" : "";
    emit_line(e, "for (%s %s = %s, %s_end = %s%s; %s < %s_end; %s++) {", index_type(e, s->dst), i, from, i, to, hidden,
              i, i, i);
}

/* A number of rounds that the compiler knows: where it is 1, the loop and the indices of private memory vanish. */
static void open_rounds(emitter *e, const char *type, const char *i, const char *count, const char *bound)
{
    const char *t = e->threads;
    emit_line(e, "for (int sn_round = 0; sn_round < (%s + %s - 1) / %s; sn_round++) {", bound, t, t);
    emit_line(e, "    const %s %s = sn_round * %s + sn_lane;", type, i, t);
    if (strcmp(count, bound) == 0)
        emit_line(e, "    if (%s %% %s == 0 || %s < %s) {", bound, t, i, count);
    else
        emit_line(e, "    if (%s < %s) {", i, count);
}

static void open_even_rounds(emitter *e, const char *type, const char *i, const char *count, bool literal)
{
    const char *private = e->k->threads ? ", sn_round++" : "";
    if (*private)
        emit_line(e, "sn_round = 0;");
    emit_line(e, "for (%s %s_base = 0; %s_base < %s%s; %s_base += SN_LOCAL%s) {", type, i, i, count,
              literal ? " + sn_none" : "", i, private);
    emit_line(e, "    const %s %s = %s_base + sn_lane;", type, i, i);
    emit_line(e, "    if (%s < %s) {", i, count);
}

static void open_for_all(emitter *e, const k_stmt *s)
{
    k_val bound = k_bound_of(e->k, s->in[0]);
    if (e->pending)
        barrier(e);
    if (e->exchanges[e->walk.at]) {
        emit_open_gang(e, s);
        return;
    }
    const char *count = emit_value(e, s->in[0]), *i = emit_define(e, s->dst), *type = index_type(e, s->dst);
    if (e->d->even_rounds) {
        open_even_rounds(e, type, i, count, bound == s->in[0]);
    } else if (bound) {
        open_rounds(e, type, i, count, emit_value(e, bound));
    } else {
        const char *from = e->k->threads ? ", sn_round = 0" : "", *on = e->k->threads ? ", sn_round++" : "";
        emit_line(e, "for (%s %s = sn_lane%s; %s < %s; %s += %s%s) {", type, i, from, i, count, i, e->threads, on);
        emit_line(e, "    {");
    }
}

static void close_for_all(emitter *e, k_ref id)
{
    emit_line(e, "    }");
    if (e->checked[id]) /* behind the block: C++ lets no goto pass a definition */
        emit_line(e, "    sn_off_%" PRIu32 ":;", id);
    emit_line(e, "}");
    if (e->communicates[id])
        barrier(e);
}

/* What is pending before a branch is so before the other one too; behind both, what either left. */
static void close_list(emitter *e)
{
    const k_stmt *s = &e->k->stmt.at[e->walk.at];
    if (s->op == K_FOR_ALL) {
        close_for_all(e, e->walk.at);
        return;
    }
    if (s->op == K_CHAIN) {
        emit_close_chain(e, s);
        return;
    }
    emit_line(e, "}");
    if (s->op == K_FOR && s->sub == K_PACK)
        emit_close_pack(e, e->walk.at);
    if (e->walk.for_all)
        return;
    if (s->op == K_IF)
        e->pending |= e->other.at[--e->other.n];
    else
        e->pending |= e->leaves[e->walk.at];
}

static void begin_else(emitter *e, const k_stmt *s)
{
    if (s->orelse)
        emit_line(e, "} else {");
    if (e->walk.for_all)
        return;
    uint8_t *other = &e->other.at[e->other.n - 1], before = *other;
    *other = e->pending;
    e->pending = before;
}

static void set(emitter *e, const k_stmt *s)
{
    /* Work items without a thread would miss it. */
    if (e->walk.for_all && !e->level[e->k->value.at[s->dst].def])
        e->why = "a variable of the piece set by threads";
    emit_line(e, "%s = %s;", emit_value(e, s->dst), emit_value(e, s->in[0]));
}

static bool same_source(const k_code *a, const k_code *b)
{
    return a == b || (a->source && b->source && !strcmp(a->source, b->source));
}

/* Calls that take other results of the same functions, and other functions of a source, share its text. */
static uint32_t first_of(const kernel *k, uint32_t number)
{
    uint32_t i = 0;
    while (!same_source(&k->code.at[i], &k->code.at[number]))
        i++;
    return i;
}

static void call(emitter *e, const k_stmt *s)
{
    text in;
    text_init(&in, e->arena);
    for (unsigned i = 0; i < k_operands(s); i++)
        text_printf(&in, "%s(%s)%s", i ? ", " : "", emit_type_of(e, s->in[i]), emit_value(e, s->in[i]));
    const k_code *c = &e->k->code.at[s->sub];
    const char *type = emit_type_of(e, s->dst), *name = emit_define(e, s->dst),
               *function = arena_printf(e->arena, "sn_code_%u_%s", first_of(e->k, s->sub), c->name);
    if (!c->results) {
        emit_line(e, "%s %s = %s(%s);", type, name, function, in.at);
        return;
    }
    /* Several results go where pointers say; the compiler makes one call of those that differ in what is taken. */
    emit_line(e, "%s %s;", type, name);
    emit_line(e, "{");
    for (unsigned i = 0; i < c->results; i++) {
        text_printf(&in, ", &sn_r%u", i);
        emit_line(e, "    %s sn_r%u;", e->d->type[c->type[i]], i);
    }
    emit_line(e, "    %s(%s);", function, in.at);
    emit_line(e, "    %s = sn_r%u;", name, c->part);
    emit_line(e, "}");
}

static void statement(emitter *e, const k_stmt *s)
{
    switch ((k_op)s->op) {
    case K_NOP:
        return;
    case K_LET: {
        const char *x = emit_let(e, s);
        if (x)
            emit_line(e, "%s %s = %s;", emit_type_of(e, s->dst), emit_define(e, s->dst), x);
        return;
    }
    case K_SELECT: {
        const char *c = emit_value(e, s->in[0]), *x = emit_value(e, s->in[1]), *y = emit_value(e, s->in[2]);
        emit_line(e, "%s %s = %s ? %s : %s;", emit_type_of(e, s->dst), emit_define(e, s->dst), c, x, y);
        return;
    }
    case K_CALL:
        call(e, s);
        return;
    case K_DECL: {
        const char *x = emit_value(e, s->in[0]);
        emit_line(e, "%s %s = %s;", emit_type_of(e, s->dst), emit_define(e, s->dst), x);
        return;
    }
    case K_SET:
        set(e, s);
        return;
    case K_LOAD:
        if (!emit_together(e, e->walk.at))
            load(e, s);
        return;
    case K_STORE:
        if (!emit_together(e, e->walk.at))
            store(e, s);
        return;
    case K_FETCH: /* other blocks are at work while one waits */
        return;
    case K_CHECK:
        if (!(s->sub & K_NOTE)) /* nobody listens */
            check(e, s);
        return;
    case K_ATOMIC:
        atomic(e, s);
        return;
    case K_IF:
        emit_line(e, "if (%s%s) {", emit_value(e, s->in[0]), s->sub == K_EITHER ? emit_either(e, e->walk.at) : "");
        if (!e->walk.for_all)
            vec_push(e->arena, &e->other, e->pending);
        return;
    case K_LOOP:
        begin_loop(e);
        emit_line(e, "for (;;) {");
        return;
    case K_BREAK_IF:
        emit_line(e, e->d->even_rounds ? "if (%s | sn_none)" : "if (%s)", emit_value(e, s->in[0]));
        emit_line(e, "    break;");
        return;
    case K_FOR:
        begin_loop(e);
        open_for(e, s);
        return;
    case K_FOR_ALL:
        open_for_all(e, s);
        return;
    case K_CHAIN:
        emit_open_chain(e, s);
        return;
    case K_COMPACT:
    case K_COUNT:
    case K_RANK:
    case K_ALL:
    case K_SHUFFLE:
        emit_exchange(e, s);
        return;
    }
}

static void statements(emitter *e)
{
    k_walk_begin(&e->walk, e->k, e->arena);
    while (!e->why && k_walk_next(&e->walk)) {
        const k_stmt *s = &e->k->stmt.at[e->walk.at];
        if (e->walk.event == K_WALK_AT)
            statement(e, s);
        else if (e->walk.event == K_WALK_LEAVE)
            close_list(e);
        else
            begin_else(e, s);
    }
}

/* --- the kernel function --- */

static uint32_t bytes_of_piece(const kernel *k)
{
    uint64_t most = 0;
    for (k_mem m = 1; m < k->mem.n; m++) {
        const k_memory *memory = &k->mem.at[m];
        uint64_t end = memory->offset + (uint64_t)memory->count * ir_type_size((ir_type)memory->type);
        if (memory->space == K_SHARED && end > most)
            most = end;
    }
    return most > UINT32_MAX - 7 ? UINT32_MAX - 7 : (uint32_t)((most + 7) & ~(uint64_t)7);
}

uint32_t emit_shared_bytes(const kernel *k)
{
    uint64_t bytes = (uint64_t)bytes_of_piece(k) * (k->abreast ? k->abreast : 1);
    return bytes > UINT32_MAX - 7 ? UINT32_MAX - 7 : (uint32_t)bytes;
}

/* Where in shared memory that of the piece at hand begins, besides. */
static const char *own_part(const emitter *e)
{
    uint32_t bytes = bytes_of_piece(e->k);
    return e->k->abreast ? arena_printf(e->arena, " + %s * %" PRIu32, e->d->gang_number, bytes) : "";
}

static void declare_memory(emitter *e)
{
    const kernel *k = e->k;
    uint32_t bytes = emit_shared_bytes(k);
    if (bytes) {
        text_add(&e->body, "    ");
        text_printf(&e->body, e->d->shared_block, bytes / 8);
        text_add(&e->body, "\n");
    }
    for (k_mem m = 1; m < k->mem.n; m++) {
        const k_memory *memory = &k->mem.at[m];
        const char *type = emit_memory_type(e, (ir_type)memory->type), *name = emit_memory(e, m);
        if (memory->space == K_SHARED)
            text_printf(&e->body, "    %s%s *const %s = (%s%s *)((%schar *)sn_shared + %" PRIu32 "%s);\n", e->d->shared,
                        type, name, e->d->shared, type, e->d->shared, memory->offset, own_part(e));
        else if (memory->space == K_PRIVATE)
            text_printf(&e->body, "    %s %s[%" PRId64 " * ((%" PRIu32 " + %s - 1) / %s)];\n", type, name,
                        memory->count, k->threads, e->threads, e->threads);
    }
    if (k->threads && e->d->even_rounds)
        text_add(&e->body, "    int sn_round;\n");
    for (k_ref s = 1; s < k->stmt.n; s++)
        if (k->stmt.at[s].op == K_ATOMIC || k->stmt.at[s].op == K_CHAIN) {
            text_printf(&e->body, "    %s\n", e->d->shared_word);
            return;
        }
}

static void signature(emitter *e, const char *entry)
{
    const kernel *k = e->k;
    text_printf(&e->body, "\n%s%s(", e->d->kernel, entry);
    for (k_mem m = 1; m < k->mem.n; m++) {
        const k_memory *memory = &k->mem.at[m];
        if (memory->space == K_GLOBAL)
            text_printf(&e->body, "%s%s%s *%s%s, ", e->d->global, memory->written ? "" : "const ",
                        emit_memory_type(e, (ir_type)memory->type), e->d->alone, emit_memory(e, m));
    }
    for (k_val v = 1; v < k->value.n; v++)
        if (k->value.at[v].kind == KV_ARG)
            text_printf(&e->body, "%s %s%s, ", emit_memory_type(e, (ir_type)k->value.at[v].type), emit_define(e, v),
                        emit_narrow(e, v) ? "_wide" : "");
    text_printf(&e->body, "long sn_first, long sn_last, %slong *sn_error)\n{\n", e->d->global);
}

static void function(emitter *e, const char *entry)
{
    signature(e, entry);
    declare_memory(e);
    for (k_val v = 1; v < e->k->value.n; v++)
        if (e->k->value.at[v].kind == KV_ARG && emit_narrow(e, v))
            text_printf(&e->body, "    const int %s = (int)%s_wide;\n", e->name[v], e->name[v]);
    const bool abreast = e->k->abreast;
    text_printf(&e->body, "    const %s sn_lane = %s%s;\n", e->narrow ? "int" : "long",
                abreast ? e->d->gang_lane : e->d->lane, e->d->even_rounds ? ", sn_none = sn_last < 0" : "");
    if (abreast)
        text_printf(&e->body, "    if (%s >= SN_LOCAL / %" PRIu32 ")\n        return;\n", e->d->gang_number,
                    e->d->gang);
    const char *piece = e->narrow ? "sn_piece" : "piece";
    const char *first = e->d->group, *step = e->d->groups;
    if (abreast) {
        step = arena_printf(e->arena, "%s * (SN_LOCAL / %" PRIu32 ")", step, e->d->gang);
        first = arena_printf(e->arena, "%s * (SN_LOCAL / %" PRIu32 ") + %s", first, e->d->gang, e->d->gang_number);
    }
    text_printf(&e->body, "    for (long %s = sn_first + %s; %s < sn_last; %s += %s) {\n", piece, first, piece, piece,
                step);
    text_add(&e->body, e->narrow ? "        const int piece = (int)sn_piece;\n" : "");
    text_add(&e->body, e->checked[0] ? "      {\n" : "");
    statements(e);
    if (e->checked[0]) {
        text_add(&e->body, "      }\n    sn_end:;\n"); /* behind a block, as above */
        e->pending |= e->piece_accesses ? PENDING_READS | PENDING_WRITES : 0;
    }
    if (e->pending) /* the next piece uses the same shared memory */
        text_printf(&e->body, "        %s\n", e->barrier);
    text_add(&e->body, "    }\n}\n");
}

uint32_t emit_gang(const dialect *d)
{
    return d->gang;
}

/* A source, once, with names of their own for the functions in it that are called: the text around it, and other
 * sources, have what names they like. */
static void write_source(const kernel *k, uint32_t number, text *out)
{
    const k_code *c = &k->code.at[number];
    if (first_of(k, number) != number)
        return;
    for (unsigned undo = 0; undo < 2; undo++) {
        if (undo)
            text_printf(out, "\n%s\n\n", c->source ? c->source : "");
        for (uint32_t i = number; i < k->code.n; i++) {
            const char *name = k->code.at[i].name;
            if (same_source(c, &k->code.at[i]))
                text_printf(out, undo ? "#undef %s\n" : "#define %s sn_code_%u_%s\n", name, number, name);
        }
    }
}

bool emit_text(const kernel *k, const dialect *d, const char *entry, text *out, const char **why)
{
    emitter e = {.k = k, .d = d, .arena = out->arena};
    for (k_mem m = 1; m < k->mem.n; m++)
        if (k->mem.at[m].every) {
            *why = "fields of structs, which devices with memory of their own get as arrays";
            return false;
        }
    if (k->abreast && (d->gang != k->lanes || k->chained)) {
        *why = "pieces that gangs take side by side, where threads are not in step";
        return false;
    }
    e.barrier = k->abreast ? d->gang_barrier : d->barrier;
    e.threads = k->abreast ? arena_printf(e.arena, "%" PRIu32, d->gang) : "SN_LOCAL";
    text_init(&e.body, e.arena);
    text_init(&e.helpers, e.arena);
    e.name = arena_array(e.arena, *e.name, k->value.n);
    e.communicated = arena_array(e.arena, *e.communicated, k->mem.n);
    e.checked = arena_array(e.arena, *e.checked, k->stmt.n);
    e.communicates = arena_array(e.arena, *e.communicates, k->stmt.n);
    e.leaves = arena_array(e.arena, *e.leaves, k->stmt.n);
    e.level = arena_array(e.arena, *e.level, k->stmt.n);
    e.exchanges = arena_array(e.arena, *e.exchanges, k->stmt.n);
    e.packed = arena_array(e.arena, *e.packed, k->stmt.n);
    e.apart = arena_array(e.arena, *e.apart, k->stmt.n);
    e.narrow = k->narrow && !k->chained ? k_find_indices(k, e.arena) : NULL;
    survey(&e);
    emit_survey_gangs(&e);
    emit_survey_together(&e);
    if (e.has_checks)
        write_report(&e);
    function(&e, entry);
    if (e.why) {
        *why = e.why;
        return false;
    }
    for (k_mem m = 1; m < k->mem.n; m++)
        e.uses_f64 |= k->mem.at[m].type == T_F64;
    for (uint32_t i = 0; i < k->arg_type.n; i++)
        e.uses_f64 |= k->arg_type.at[i] == T_F64;
    text_add(out, e.d->prelude);
    text_add(out, e.uses_f64 ? e.d->prelude_f64 : "");
    text_add(out, e.uses_atomic64 ? e.d->prelude_atomic64 : "");
    text_add(out, e.helpers.at);
    for (uint32_t i = 0; i < k->code.n; i++)
        write_source(k, i, out);
    text_add(out, e.body.at);
    return true;
}
