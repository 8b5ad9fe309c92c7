/* What threads in step do together, and what pieces hand to each other.
 *
 * A FOR_ALL whose lanes exchange values is one gang: the first threads of the block, all of them present, take it. It
 * has no CHECK that could take lanes away, and sets no variable of the piece: k_split has seen to that.
 *
 * A carry goes from piece to piece through global memory: the piece before sets its flag behind its words. Blocks take
 * their pieces in ascending order, so if all blocks of a launch are running at once, whoever waits is waiting for one
 * that does not. */
#include "emit/text/emitter.h"

#include "kernel/analyse.h"

#include <inttypes.h>

void emit_survey_gangs(emitter *e)
{
    k_shapes shapes = k_find_shapes(e->k, e->arena);
    uint32_t divergent = 0;
    bool any = false;
    k_walk w;
    k_walk_begin(&w, e->k, e->arena);
    while (k_walk_next(&w)) {
        const k_stmt *s = &e->k->stmt.at[w.at];
        if (w.event == K_WALK_AT)
            divergent += shapes.divergent[w.at];
        else if (w.event == K_WALK_LEAVE)
            divergent -= shapes.divergent[w.at];
        if (w.event != K_WALK_AT)
            continue;
        e->apart[w.at] = divergent > 0;
        bool exchange = s->op == K_COMPACT || s->op == K_COUNT || s->op == K_RANK || s->op == K_SHUFFLE;
        e->exchanges[w.for_all] |= exchange;
        any |= exchange;
    }
    if (any && e->d->gang < e->k->lanes)
        e->why = "lanes exchange values that the device's threads cannot";
    for (k_ref id = 1; id < e->k->stmt.n && any; id++)
        if (e->exchanges[id] && e->checked[id])
            e->why = "a lane that fails does not come to an exchange";
}

static const char *members(emitter *e)
{
    return arena_printf(e->arena, "sn_gang_%" PRIu32, e->walk.for_all);
}

void emit_open_gang(emitter *e, const k_stmt *s)
{
    const char *count = emit_value(e, s->in[0]), *i = emit_define(e, s->dst);
    const char *present = arena_printf(e->arena, "sn_lane < %s", count);
    const char *ballot = arena_printf(e->arena, e->d->ballot, "0xffffffffu", present);
    if (e->k->threads && e->d->even_rounds)
        emit_line(e, "sn_round = 0;");
    emit_line(e, "if (sn_lane < %" PRIu32 ") {", e->d->gang);
    emit_line(e, "    const uint sn_gang_%" PRIu32 " = %s;", e->walk.at, ballot);
    emit_line(e, "    const %s %s = sn_lane;%s", emit_narrow(e, s->dst) ? "int" : "long", i,
              e->k->threads && !e->d->even_rounds ? " const int sn_round = 0;" : "");
    emit_line(e, "    if (%s) {", present);
}

static void define(emitter *e, const k_stmt *s, const char *x)
{
    emit_line(e, "%s %s = %s;", emit_type_of(e, s->dst), emit_define(e, s->dst), x);
}

static const char *source_lane(emitter *e, const k_stmt *s)
{
    uint32_t d = (uint32_t)e->k->value.at[s->in[1]].bits;
    switch (s->sub) {
    case K_LEFT:
        return arena_printf(e->arena, "(int)((sn_lane & ~%uu) + %u)", 2 * d - 1, d - 1);
    case K_LANE:
        return arena_printf(e->arena, "%u", d);
    case K_PAIR:
        return arena_printf(e->arena, "(int)(2 * sn_lane + %u) & %u", d, e->k->lanes - 1u);
    default:
        return arena_printf(e->arena, "(int)(sn_lane + %u) & %u", d, e->k->lanes - 1u);
    }
}

/* Exchanged as a word that the instruction knows. */
static void shuffle(emitter *e, const k_stmt *s)
{
    ir_type t = (ir_type)e->k->value.at[s->dst].type;
    const char *x = emit_value(e, s->in[0]);
    const char *from = source_lane(e, s);
    if (ir_type_size(t) < 4)
        x = arena_printf(e->arena, "(int)%s", x);
    const char *got = arena_printf(e->arena, e->d->shuffle, members(e), x, from);
    define(e, s, arena_printf(e->arena, "(%s)%s", emit_type(e, t), got));
}

/* How many lanes before the own one hold a value. */
static const char *rank_among(emitter *e, const char *keep)
{
    const char *kept = arena_printf(e->arena, "sn_kept_%" PRIu32, e->walk.at);
    emit_line(e, "const uint %s = %s;", kept, arena_printf(e->arena, e->d->ballot, members(e), keep));
    return arena_printf(e->arena, "%s(%s & ((1u << sn_lane) - 1u))", e->d->popcount[0], kept);
}

static void compact(emitter *e, const k_stmt *s)
{
    const char *base = emit_value(e, s->in[0]), *value = emit_value(e, s->in[1]), *keep = emit_value(e, s->in[2]);
    const char *rank = rank_among(e, keep);
    emit_line(e, "if (%s)", keep);
    emit_line(e, "    %s[%s + %s] = %s;", emit_memory(e, s->mem), base, rank, value);
}

void emit_exchange(emitter *e, const k_stmt *s)
{
    const char *x = emit_value(e, s->in[0]);
    switch ((k_op)s->op) {
    case K_SHUFFLE:
        shuffle(e, s);
        return;
    case K_COMPACT:
        compact(e, s);
        return;
    case K_RANK:
        define(e, s, rank_among(e, x));
        return;
    case K_COUNT:
        x = arena_printf(e->arena, e->d->ballot, members(e), x);
        define(e, s, arena_printf(e->arena, "%s(%s)", e->d->popcount[0], x));
        return;
    default: /* ALL: each thread may also decide for itself */
        if (e->exchanges[e->walk.for_all] && !e->apart[e->walk.at])
            x = arena_printf(e->arena, "%s != 0", arena_printf(e->arena, e->d->every, members(e), x));
        define(e, s, x);
    }
}

/* --- carries --- */

/* Word number `word` of what piece `piece` leaves; 0 is its flag. */
static const char *state_word(emitter *e, const k_stmt *s, const char *piece, unsigned word)
{
    return arena_printf(e->arena, "%s[%s * %u + %u]", emit_memory(e, s->mem), piece, 1u + s->chain->arity, word);
}

void emit_open_chain(emitter *e, const k_stmt *s)
{
    const k_chain *c = s->chain;
    const char *global = e->d->global, *flag = state_word(e, s, "(piece - 1)", 0);
    if (e->checked[0])
        e->why = "a piece that fails would not hand its carry on";
    emit_line(e, "%s", e->d->barrier);
    emit_line(e, "if (sn_lane == 0 && piece > 0) {");
    emit_line(e, "    while (%s((%suint *)&%s, 0u) == 0u) {", e->d->atomic[ATOMIC_OR][0], global, flag);
    emit_line(e, "    }");
    emit_line(e, "    %s", e->d->fence);
    for (unsigned j = 0; j < c->arity; j++)
        emit_line(e, "    sn_word[%u] = *(volatile %sulong *)&%s;", j, global, state_word(e, s, "(piece - 1)", 1 + j));
    emit_line(e, "}");
    emit_line(e, "%s", e->d->barrier);
    for (unsigned j = 0; j < c->arity; j++) {
        ir_type t = (ir_type)e->k->value.at[c->before[j]].type;
        const char *word = arena_printf(e->arena, "sn_word[%u]", j), *initial = emit_value(e, c->initial[j]);
        const char *aggregate = emit_value(e, c->aggregate[j]), *before = emit_define(e, c->before[j]);
        emit_line(e, "%s %s = piece > 0 ? %s : %s;", emit_type(e, t), before, emit_from_bits(e, t, word), initial);
        emit_line(e, "%s %s = %s;", emit_type(e, t), emit_define(e, c->left[j]), before);
        emit_line(e, "%s %s = %s;", emit_type(e, t), emit_define(e, c->right[j]), aggregate);
    }
    emit_line(e, "{");
}

void emit_close_chain(emitter *e, const k_stmt *s)
{
    const k_chain *c = s->chain;
    const char *global = e->d->global;
    emit_line(e, "    if (sn_lane == 0) {");
    for (unsigned j = 0; j < c->arity; j++) {
        ir_type t = (ir_type)e->k->value.at[c->result[j]].type;
        const char *bits = emit_to_bits(e, t, emit_value(e, c->result[j]));
        emit_line(e, "        *(volatile %sulong *)&%s = %s;", global, state_word(e, s, "piece", 1 + j), bits);
    }
    emit_line(e, "        %s", e->d->fence);
    emit_line(e, "        %s((%suint *)&%s, 1u);", e->d->atomic[ATOMIC_EXCHANGE][0], global,
              state_word(e, s, "piece", 0));
    emit_line(e, "    }");
    emit_line(e, "}");
    e->pending |= PENDING_READS; /* the words, by all */
}
