/* Segments: what a FOR_ALL of the split kernel has. What lives from one to another goes through private memory: a
 * value is stored where it is defined and loaded by the segments that use it, a variable at the end of each segment
 * that may set it. */
#include "kernel/split.h"

/* --- segments: what a FOR_ALL of the new kernel has --- */

static bool ends_segment(const splitter *s, k_ref id, k_walk_event event)
{
    return s->moves[id] || s->tiles[id] || (s->meets[id] && event == K_WALK_AT);
}

static void note_use(splitter *s, k_val v, bool sets)
{
    const k_value *x = &s->from->value.at[v];
    if (!split_thread_value(s, v) || s->from->stmt.at[x->def].op == K_FOR_ALL)
        return;
    if (sets && s->left[v] != s->segment)
        vec_push(s->arena, &s->leave, ((use){s->segment, v}));
    s->left[v] = sets ? s->segment : s->left[v];
    if (s->defined[v] == s->segment || s->taken[v] == s->segment)
        return;
    s->taken[v] = s->segment;
    vec_push(s->arena, &s->take, ((use){s->segment, v}));
    if (!s->kept[v])
        s->kept[v] = k_private(&s->b, (ir_type)x->type, 1, x->name ? x->name : "kept");
}

static void note_definition(splitter *s, const k_stmt *x)
{
    if (!x->dst || x->op == K_SET)
        return;
    s->defined[x->dst] = s->left[x->dst] = s->segment;
    if (x->op == K_DECL)
        vec_push(s->arena, &s->leave, ((use){s->segment, x->dst}));
}

/* COMPACT stores behind the meeting, so it needs its operands on both sides. */
static void note_statement(splitter *s, k_ref id)
{
    const k_stmt *x = &s->from->stmt.at[id];
    for (unsigned i = 0; i < k_operands(x); i++)
        note_use(s, x->in[i], false);
    if (x->op == K_SET)
        note_use(s, x->dst, true);
    s->segment += ends_segment(s, id, K_WALK_AT);
    for (unsigned i = 0; i < 3 && x->op == K_COMPACT && s->meets[id]; i++)
        note_use(s, x->in[i], false);
    note_definition(s, x);
}

void split_find_segments(splitter *s)
{
    k_walk w;
    s->segment = 1;
    k_walk_begin(&w, s->from, s->arena);
    while (k_walk_next(&w)) {
        bool within = w.for_all && s->split[w.for_all];
        if (within && w.event == K_WALK_AT)
            note_statement(s, w.at);
        else if ((within && ends_segment(s, w.at, (k_walk_event)w.event)) || s->split[w.at])
            s->segment++;
    }
}

/* --- opening and closing --- */

/* Where the lanes that are at statement `at` meet next, in this list. */
static k_ref next_meeting(const splitter *s, k_ref at)
{
    while (at && !s->meets[at] && !s->moves[at] && !s->tiles[at])
        at = s->from->stmt.at[at].next;
    return at;
}

/* May a CHECK fail from `at` on, up to `end`? */
static bool has_checks(const splitter *s, k_ref at, k_ref end)
{
    if (!s->alive)
        return false;
    while (at != end && s->from->stmt.at[at].op != K_CHECK && !k_compound(&s->from->stmt.at[at]))
        at = s->from->stmt.at[at].next;
    return at != end;
}

static void take_values(splitter *s)
{
    k_builder *b = &s->b;
    uint32_t i = s->next_take;
    while (i < s->take.n && s->take.at[i].segment < s->segment)
        i++;
    for (; i < s->take.n && s->take.at[i].segment == s->segment; i++) {
        const use *u = &s->take.at[i];
        k_val v = k_load(b, s->kept[u->value], k_i64(b, 0));
        bool variable = s->from->value.at[u->value].kind == KV_VARIABLE;
        split_define(s, u->value, variable ? k_decl(b, v, NULL) : v);
    }
    s->next_take = i;
}

void split_open_segment(splitter *s, k_ref at)
{
    k_builder *b = &s->b;
    k_ref end = next_meeting(s, at);
    if (s->open)
        return;
    if (end)
        split_prepare(s, end);
    s->open = true;
    s->lane = k_for_all(b, s->count);
    bool ranks = end && (s->from->stmt.at[end].op == K_COMPACT || s->from->stmt.at[end].op == K_RANK);
    if (ranks && s->alive)
        k_store(b, split_slot(s, end, 0, T_I32, s->from->lanes, "keeps"), s->lane, k_literal(b, T_I32, 0));
    if (s->alive)
        k_if(b, k_load(b, s->alive, k_i64(b, 0)));
    s->fails = has_checks(s, at, end);
    if (s->fails)
        k_store(b, s->alive, k_i64(b, 0), k_literal(b, T_BOOL, 0));
    s->value[s->from->stmt.at[s->w.for_all].dst] = s->lane;
    take_values(s);
}

void split_close_segment(splitter *s)
{
    k_builder *b = &s->b;
    if (!s->open)
        return;
    s->open = false;
    uint32_t i = s->next_leave;
    while (i < s->leave.n && s->leave.at[i].segment < s->segment)
        i++;
    for (; i < s->leave.n && s->leave.at[i].segment == s->segment; i++)
        if (s->kept[s->leave.at[i].value])
            split_keep(s, s->leave.at[i].value);
    s->next_leave = i;
    if (s->fails)
        k_store(b, s->alive, k_i64(b, 0), k_literal(b, T_BOOL, 1));
    if (s->alive)
        k_end(b);
    k_end(b);
}
