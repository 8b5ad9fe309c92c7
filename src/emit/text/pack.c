/* Packs: loops whose rounds load and store neighbouring elements (kernel/pack.h). What all rounds load is loaded in
 * front of the loop, as vectors where the address allows it, what they store is stored behind it; between, the elements
 * are in small arrays that become registers once the loop is unrolled. */
#include "emit/text/emitter.h"

#include <inttypes.h>

/* "a + b": an expression of the first element's position */
static const char *first_element(emitter *e, const k_pack *p)
{
    const char *sum = p->terms ? emit_value(e, p->term[0]) : "0";
    for (unsigned i = 1; i < p->terms; i++)
        sum = arena_printf(e->arena, "%s + %s", sum, emit_value(e, p->term[i]));
    return sum;
}

static unsigned vector_elements(ir_type t)
{
    return ir_type_size(t) == 8 ? 2 : 4;
}

/* The bits of an address that must be zero if a vector is to be taken there. */
static const char *misaligned(emitter *e, k_mem m, const char *first)
{
    ir_type t = (ir_type)e->k->mem.at[m].type;
    unsigned bytes = (unsigned)ir_type_size(t) * vector_elements(t);
    return arena_printf(e->arena, "((ulong)(%s + (%s)) & %u)", emit_memory(e, m), first, bytes - 1);
}

static const char *array(emitter *e, k_ref id)
{
    return arena_printf(e->arena, "sn_pack_%" PRIu32, id);
}

static void load_pack(emitter *e, k_ref id, const char *first)
{
    static const char member[] = "xyzw";
    k_mem m = e->k->stmt.at[id].mem;
    ir_type t = (ir_type)e->k->mem.at[m].type;
    const char *from = emit_memory(e, m), *to = array(e, id), *vector = e->d->pack[t];
    unsigned wide = vector_elements(t);
    for (unsigned at = 0; at < K_PACK_ROUNDS; at += wide) {
        const char *place = arena_printf(e->arena, "%s + (%s + %u)", from, first, at);
        emit_line(e, "    const %s sn_vector_%" PRIu32 "_%u = %s;", vector, id, at,
                  arena_printf(e->arena, e->d->pack_load, vector, place));
        for (unsigned i = 0; i < wide; i++)
            emit_line(e, "    %s[%u] = sn_vector_%" PRIu32 "_%u.%c;", to, at + i, id, at, member[i]);
    }
}

static void store_pack(emitter *e, k_ref id, const char *first)
{
    static const char member[] = "xyzw";
    k_mem m = e->k->stmt.at[id].mem;
    ir_type t = (ir_type)e->k->mem.at[m].type;
    const char *to = emit_memory(e, m), *from = array(e, id), *vector = e->d->pack[t];
    unsigned wide = vector_elements(t);
    for (unsigned at = 0; at < K_PACK_ROUNDS; at += wide) {
        emit_line(e, "    %s sn_vector_%" PRIu32 "_%u;", vector, id, at);
        for (unsigned i = 0; i < wide; i++)
            emit_line(e, "    sn_vector_%" PRIu32 "_%u.%c = %s[%u];", id, at, member[i], from, at + i);
        emit_line(e, "    *(%s%s *)(%s + (%s + %u)) = sn_vector_%" PRIu32 "_%u;", e->d->global, vector, to, first, at,
                  id, at);
    }
}

/* The accesses of a loop that are done for all rounds, one by one: `each` is the one before, 0 at first. */
static k_ref next_access(const emitter *e, k_ref loop, k_ref each, k_pack *p)
{
    each = each ? e->k->stmt.at[each].next : e->k->stmt.at[loop].body;
    while (each && !k_pack_access(e->k, loop, &e->k->stmt.at[each], p))
        each = e->k->stmt.at[each].next;
    return each;
}

/* Loads into, or stores from, the arrays: as vectors, or one by one. */
static void transfer(emitter *e, k_ref loop, k_op op)
{
    k_pack p;
    emit_line(e, "if (sn_fits_%" PRIu32 ") {", loop);
    for (k_ref id = next_access(e, loop, 0, &p); id; id = next_access(e, loop, id, &p)) {
        if (e->k->stmt.at[id].op == op && op == K_LOAD)
            load_pack(e, id, first_element(e, &p));
        else if (e->k->stmt.at[id].op == op)
            store_pack(e, id, first_element(e, &p));
    }
    emit_line(e, "} else {");
    for (k_ref id = next_access(e, loop, 0, &p); id; id = next_access(e, loop, id, &p))
        for (unsigned at = 0; at < K_PACK_ROUNDS && e->k->stmt.at[id].op == op; at++) {
            const char *element =
                arena_printf(e->arena, "%s[%s + %u]", emit_memory(e, e->k->stmt.at[id].mem), first_element(e, &p), at);
            const char *own = arena_printf(e->arena, "%s[%u]", array(e, id), at);
            emit_line(e, "    %s = %s;", op == K_LOAD ? own : element, op == K_LOAD ? element : own);
        }
    emit_line(e, "}");
}

void emit_open_pack(emitter *e, k_ref loop)
{
    const char *bits = "0";
    k_pack p;
    for (k_ref id = next_access(e, loop, 0, &p); id; id = next_access(e, loop, id, &p)) {
        k_mem m = e->k->stmt.at[id].mem;
        e->packed[id] = true;
        emit_line(e, "%s %s[%d];", emit_memory_type(e, (ir_type)e->k->mem.at[m].type), array(e, id), K_PACK_ROUNDS);
        bits = arena_printf(e->arena, "%s | %s", bits, misaligned(e, m, first_element(e, &p)));
    }
    emit_line(e, "const bool sn_fits_%" PRIu32 " = (%s) == 0;", loop, bits);
    transfer(e, loop, K_LOAD);
}

void emit_close_pack(emitter *e, k_ref loop)
{
    transfer(e, loop, K_STORE);
}

const char *emit_packed(emitter *e, k_ref id, k_ref loop)
{
    return arena_printf(e->arena, "%s[%s]", array(e, id), emit_value(e, e->k->stmt.at[loop].dst));
}
