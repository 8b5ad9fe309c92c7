/* Elements that are fields of structs: neighbouring lanes' elements lie `every` bytes apart. Structs of a gang are one
 * stretch of memory. It is read in whole registers, of which shuffles make the field's vector; fields of the same
 * structs share these registers, as LLVM joins equal loads. What stands together and is stored to fields of the same
 * structs is put together by shuffles and written in whole registers; bytes between these fields are left as they are.
 *
 * Nothing is read or written before the first byte of the first lane's fields, nor behind the last byte of the last
 * lane's: the stretch ends there, and the last register is taken so that it ends with it. */
#include "emit/cpu/llvm/cg.h"

enum {
    MOST_BYTES = 64, /* of a register */
    FAR = 64,        /* structs of so many bytes have one element of a field in a register at most */
    LEAST_LANES = 4,
    MOST_SOURCES = 256,
    MOST_FIELDS = 64, /* stored together */
    NOWHERE = -1
};

/* --- bytes by shuffles --- */

static cg_ref as_units(cg *g, cg_ref x, unsigned unit, unsigned bytes)
{
    return LLVMBuildBitCast(g->b, x, LLVMVectorType(LLVMIntTypeInContext(g->context, 8 * unit), bytes / unit), "");
}

/* The largest number of bytes, a power of two up to `most`, that a map moves as wholes. */
static unsigned unit_of(const int *map, unsigned bytes, unsigned most)
{
    unsigned unit = most;
    for (; unit > 1; unit /= 2) {
        bool whole = true;
        for (unsigned i = 0; i < bytes && whole; i += unit) {
            bool any = false;
            for (unsigned k = 0; k < unit; k++)
                any |= map[i + k] != NOWHERE;
            whole = !any || (map[i] != NOWHERE && map[i] % (int)unit == 0);
            for (unsigned k = 1; k < unit && any && whole; k++)
                whole = map[i + k] == map[i] + (int)k;
        }
        if (whole)
            return unit;
    }
    return 1;
}

/* A register whose byte i is byte map[i] of these registers, one behind the other; anything where that is NOWHERE. All
 * have `bytes` bytes. */
static cg_ref picked(cg *g, const cg_ref *from, const int *map, unsigned bytes)
{
    unsigned unit = unit_of(map, bytes, 8), n = bytes / unit, sources = 0, source[MOST_BYTES];
    for (unsigned i = 0; i < n; i++) {
        int at = map[i * unit];
        bool known = at == NOWHERE;
        for (unsigned k = 0; k < sources && !known; k++)
            known = source[k] == (unsigned)at / bytes;
        if (!known)
            source[sources++] = (unsigned)at / bytes;
    }
    cg_ref r = NULL;
    int index[MOST_BYTES];
    for (unsigned k = 0; k < sources; k += r && k ? 1 : 2) {
        bool pair = !r && k + 1 < sources;
        for (unsigned i = 0; i < n; i++) {
            int at = map[i * unit];
            unsigned own = at == NOWHERE ? MOST_SOURCES : (unsigned)at / bytes;
            int lane = at == NOWHERE ? 0 : (int)((unsigned)at % bytes / unit);
            if (!r)
                index[i] = own == source[k] ? lane : pair && own == source[k + 1] ? (int)n + lane : NOWHERE;
            else
                index[i] = own == source[k] ? (int)n + lane : (int)i;
        }
        cg_ref x = as_units(g, from[source[k]], unit, bytes);
        if (r)
            r = cg_shuffle(g, r, x, n, index);
        else
            r = cg_shuffle(g, x, pair ? as_units(g, from[source[k + 1]], unit, bytes) : NULL, n, index);
    }
    return r ? r : LLVMGetUndef(LLVMVectorType(LLVMIntTypeInContext(g->context, 8 * unit), n));
}

/* --- a gang's structs --- */

typedef struct stretch {
    cg_ref first;           /* pointer to its first byte */
    unsigned every;         /* bytes of a struct */
    unsigned bytes, reg, n; /* all; of a register; registers, of which the last one ends where the stretch does */
    int least;              /* where in a struct the first field that matters lies */
    unsigned span;          /* bytes from there to the end of the last one */
} stretch;

static k_mem whole_of(const cg *g, k_mem m)
{
    const k_memory *x = &g->k->mem.at[m];
    return x->beside ? x->beside : m;
}

static int place_in_struct(const cg *g, k_mem m)
{
    return (int)g->k->mem.at[m].at;
}

static int size_of_field(const cg *g, k_mem m)
{
    return (int)ir_type_size((ir_type)g->k->mem.at[m].type);
}

/* From the first of the fields in [least, end) of the lane with this index to the last lane's last one. */
static stretch stretch_of(cg *g, k_mem m, cg_ref index, int least, int end)
{
    stretch s = {.every = g->k->mem.at[m].every, .least = least, .span = (unsigned)(end - least)};
    s.bytes = (g->lanes - 1) * s.every + s.span;
    s.reg = g->cpu.register_bytes < MOST_BYTES ? g->cpu.register_bytes : MOST_BYTES;
    while (s.reg > s.bytes)
        s.reg /= 2;
    s.n = (s.bytes + s.reg - 1) / s.reg;
    k_mem whole = whole_of(g, m);
    s.first = cg_bytes_on(g, cg_element(g, whole, index), cg_i64(g, least - place_in_struct(g, whole)));
    return s;
}

static unsigned start_of(const stretch *s, unsigned k)
{
    return k + 1 < s->n ? k * s->reg : s->bytes - s->reg;
}

/* Where a byte of the stretch is in its registers. */
static int byte_in_registers(const stretch *s, unsigned at)
{
    unsigned k = at / s->reg;
    return (int)(k * s->reg + at - start_of(s, k));
}

static bool suits(const cg *g, k_mem m)
{
    return g->k->mem.at[m].every < FAR && g->lanes >= LEAST_LANES && g->lanes <= MOST_SOURCES;
}

/* Which bytes of register k are of fields whose lanes are on; i1 vector. */
static cg_ref bytes_on(cg *g, const stretch *s, unsigned k)
{
    cg_ref lanes = LLVMBuildSExt(g->b, g->mask.on, LLVMVectorType(g->i8, g->lanes), "");
    int index[MOST_BYTES];
    for (unsigned i = 0; i < s->reg; i++) {
        unsigned at = start_of(s, k) + i;
        index[i] = (int)(at % s->every < s->span ? at / s->every : g->lanes);
    }
    cg_ref on = cg_shuffle(g, lanes, cg_zero(LLVMTypeOf(lanes)), s->reg, index);
    return LLVMBuildICmp(g->b, LLVMIntNE, on, cg_zero(LLVMTypeOf(on)), "");
}

/* --- loads --- */

static cg_ref load_register(cg *g, const stretch *s, unsigned k, bool masked)
{
    LLVMTypeRef type = LLVMVectorType(g->i8, s->reg);
    cg_ref at = cg_bytes_on(g, s->first, cg_i64(g, start_of(s, k)));
    if (masked)
        return cg_masked_load(g, type, at, 1, bytes_on(g, s, k));
    return cg_aligned(LLVMBuildLoad2(g->b, type, at, ""), 1);
}

/* Part `part` of the field's vector, as many lanes as there are in a register. */
static cg_ref load_part(cg *g, const stretch *s, k_mem m, unsigned part, cg_ref *reg, bool masked)
{
    unsigned size = (unsigned)size_of_field(g, m), lanes = s->reg / size;
    int map[MOST_BYTES];
    for (unsigned i = 0; i < s->reg; i++) {
        unsigned lane = part * lanes + i / size;
        unsigned at = lane * s->every + (unsigned)(place_in_struct(g, m) - s->least) + i % size;
        map[i] = lane < g->lanes ? byte_in_registers(s, at) : NOWHERE;
        unsigned k = lane < g->lanes ? at / s->reg : 0;
        if (lane < g->lanes && !reg[k])
            reg[k] = load_register(g, s, k, masked);
    }
    return picked(g, reg, map, s->reg);
}

static cg_ref load_all(cg *g, k_mem m, cg_ref index, bool masked)
{
    const kernel *k = g->k;
    int least = place_in_struct(g, m), end = least + size_of_field(g, m);
    for (k_mem i = 1; i < k->mem.n; i++)
        if (k->mem.at[i].every && whole_of(g, i) == whole_of(g, m)) {
            int from = place_in_struct(g, i), to = from + size_of_field(g, i);
            least = from < least ? from : least;
            end = to > end ? to : end;
        }
    stretch s = stretch_of(g, m, index, least, end);
    cg_ref reg[MOST_SOURCES] = {NULL}, part[MOST_SOURCES];
    unsigned bytes = g->lanes * (unsigned)size_of_field(g, m), parts = (bytes + s.reg - 1) / s.reg;
    LLVMTypeRef element = cg_stored(g, (ir_type)k->mem.at[m].type);
    for (unsigned i = 0; i < parts; i++)
        part[i] = as_units(g, load_part(g, &s, m, i, reg, masked), (unsigned)size_of_field(g, m), s.reg);
    cg_ref x = cg_joined(g, parts, part);
    if (bytes < s.reg) {
        int index_of[MOST_BYTES];
        for (unsigned i = 0; i < g->lanes; i++)
            index_of[i] = (int)i;
        x = cg_shuffle(g, x, NULL, g->lanes, index_of);
    }
    return LLVMBuildBitCast(g->b, x, LLVMVectorType(element, g->lanes), "");
}

/* Of all lanes. */
static cg_ref indices(cg *g, cg_ref first)
{
    return LLVMBuildAdd(g->b, cg_splat(g, first), cg_iota(g, g->i64, g->lanes), "");
}

cg_ref cg_load_field(cg *g, k_mem m, cg_ref index)
{
    if (g->alike && !g->mask.on)
        return cg_load_alike(g, m, index);
    if (!suits(g, m) || (g->mask.on && !g->cpu.avx512 && !g->mask.full))
        return cg_gather(g, m, indices(g, index), g->mask.on);
    if (!g->mask.on)
        return load_all(g, m, index, false);
    if (!g->mask.full)
        return load_all(g, m, index, true);
    LLVMBasicBlockRef whole = cg_block(g, "field.whole"), part = cg_block(g, "field.part"),
                      end = cg_block(g, "field.end");
    cg_cond(g, g->mask.full, whole, part);
    cg_at(g, whole);
    cg_ref x = load_all(g, m, index, false);
    cg_br(g, end);
    cg_at(g, part);
    cg_ref y = g->cpu.avx512 ? load_all(g, m, index, true) : cg_gather(g, m, indices(g, index), g->mask.on);
    part = cg_here(g);
    cg_br(g, end);
    cg_at(g, end);
    return cg_phi2(g, x, whole, y, part);
}

/* --- stores --- */

typedef struct stored {
    unsigned n;
    k_mem mem[MOST_FIELDS];
    cg_ref value[MOST_FIELDS]; /* as it is in memory */
    int least, end;
    unsigned bytes; /* of a struct that are written */
} stored;

/* Is the statement a store to fields of the same structs as `first`, of the same lanes' elements? */
static bool stands_together(const cg *g, k_ref first, k_ref r, const stored *so_far)
{
    const kernel *k = g->k;
    const k_stmt *s = &k->stmt.at[r], *f = &k->stmt.at[first];
    if (!r || s->op != K_STORE || s->in[0] != f->in[0] || !k->mem.at[s->mem].every ||
        whole_of(g, s->mem) != whole_of(g, f->mem) || (g->part && g->part[r] != g->own_part))
        return false;
    for (unsigned i = 0; i < so_far->n; i++)
        if (so_far->mem[i] == s->mem)
            return false;
    return true;
}

static stored find_stored(cg *g, k_ref first, unsigned most)
{
    const kernel *k = g->k;
    stored s = {.n = 0};
    for (k_ref r = first; s.n < most && stands_together(g, first, r, &s); r = k->stmt.at[r].next) {
        k_mem m = k->stmt.at[r].mem;
        int from = place_in_struct(g, m), to = from + size_of_field(g, m);
        s.least = s.n && s.least < from ? s.least : from;
        s.end = s.n && s.end > to ? s.end : to;
        s.bytes += (unsigned)(to - from);
        s.mem[s.n] = m;
        s.value[s.n++] = cg_to_memory(g, (ir_type)k->mem.at[m].type, cg_vec(g, k->stmt.at[r].in[1]));
    }
    return s;
}

/* A vector as registers, bytes at its end being anything; how many. */
static unsigned cut(cg *g, cg_ref x, unsigned size, unsigned reg, cg_ref *out)
{
    unsigned bytes = g->lanes * size, n = bytes < reg ? 1 : bytes / reg;
    x = as_units(g, x, size, bytes);
    for (unsigned part = 0; part < n; part++) {
        int index[MOST_BYTES];
        for (unsigned i = 0; i < reg / size; i++)
            index[i] = i < g->lanes ? (int)(part * (reg / size) + i) : NOWHERE;
        out[part] = cg_shuffle(g, x, NULL, reg / size, index);
    }
    return n;
}

typedef struct woven {
    cg_ref from[MOST_SOURCES];
    unsigned n, begin[MOST_FIELDS]; /* registers; the first one of each field */
} woven;

/* Where byte `at` of the stretch comes from; NOWHERE: it is of no field. */
static int source_of(const cg *g, const stored *f, const woven *w, const stretch *s, unsigned at)
{
    unsigned lane = at / s->every;
    int place = (int)(at % s->every) + s->least;
    for (unsigned i = 0; i < f->n; i++) {
        int from = place_in_struct(g, f->mem[i]), size = size_of_field(g, f->mem[i]);
        if (place >= from && place < from + size)
            return (int)(w->begin[i] * s->reg) + (int)lane * size + place - from;
    }
    return NOWHERE;
}

static void store_register(cg *g, const stored *f, const woven *w, const stretch *s, unsigned k)
{
    int map[MOST_BYTES];
    cg_ref bit[MOST_BYTES];
    bool holes = false;
    for (unsigned i = 0; i < s->reg; i++) {
        map[i] = source_of(g, f, w, s, start_of(s, k) + i);
        bit[i] = LLVMConstInt(g->i1, map[i] != NOWHERE, false);
        holes |= map[i] == NOWHERE;
    }
    cg_ref x = as_units(g, picked(g, w->from, map, s->reg), 1, s->reg);
    cg_ref at = cg_bytes_on(g, s->first, cg_i64(g, start_of(s, k))), on = LLVMConstVector(bit, s->reg);
    if (g->mask.on)
        on = LLVMBuildAnd(g->b, on, bytes_on(g, s, k), "");
    if (g->mask.on || holes)
        cg_masked_store(g, x, at, 1, on);
    else
        cg_aligned(LLVMBuildStore(g->b, x, at), 1);
}

static void store_together(cg *g, const stored *f, cg_ref index)
{
    stretch s = stretch_of(g, f->mem[0], index, f->least, f->end);
    woven w = {.n = 0};
    for (unsigned i = 0; i < f->n; i++) {
        w.begin[i] = w.n;
        w.n += cut(g, f->value[i], (unsigned)size_of_field(g, f->mem[i]), s.reg, w.from + w.n);
    }
    for (unsigned k = 0; k < s.n; k++)
        store_register(g, f, &w, &s, k);
}

/* Where there are no masks of bytes, only whole registers are written. */
static bool stores_together(const cg *g, const stored *f, unsigned every)
{
    unsigned registers = 0;
    for (unsigned i = 0; i < f->n; i++)
        registers += (g->lanes * (unsigned)size_of_field(g, f->mem[i]) + MOST_BYTES / 4 - 1) / (MOST_BYTES / 4);
    return suits(g, f->mem[0]) && registers <= MOST_SOURCES && (g->cpu.avx512 || (!g->mask.on && f->bytes == every));
}

unsigned cg_store_fields(cg *g, k_ref first, bool alone)
{
    const k_stmt *s = &g->k->stmt.at[first];
    const k_value *index = &g->k->value.at[s->in[0]];
    if (s->op != K_STORE || !g->thread || !g->k->mem.at[s->mem].every || index->shape != K_AFFINE || index->step != 1)
        return 0;
    stored f = find_stored(g, first, alone ? 1 : MOST_FIELDS);
    cg_ref at = cg_scalar(g, s->in[0]);
    for (unsigned i = 0; i < f.n && g->alike && !g->mask.on; i++)
        cg_store_alike(g, f.mem[i], at, f.value[i]);
    if (g->alike && !g->mask.on)
        return f.n;
    if (stores_together(g, &f, g->k->mem.at[s->mem].every))
        store_together(g, &f, at);
    else
        for (unsigned i = 0; i < f.n; i++)
            cg_scatter(g, f.value[i], cg_element(g, f.mem[i], indices(g, at)), 1);
    return f.n;
}
