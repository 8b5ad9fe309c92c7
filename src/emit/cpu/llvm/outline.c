/* Large bodies in several functions, one module of LLVM's each: what LLVM does grows faster than what it is given, and
 * its memory is given back function by function.
 *
 * Statements that stand together in a list within a FOR_ALL are a part, some hundreds of them; what is too large for
 * that is taken apart in turn, its own lists becoming parts. What one function defines and another uses crosses: it has
 * a place in the frame, a record of the entry function that all parts get the address of. The lanes that are on, and
 * what else belongs to the place of the call, are in the frame's head. */
#include "emit/cpu/llvm/outline.h"
#include "kernel/walk.h"
#include <stdlib.h>

enum {
    CHECK_WEIGHT = 8, /* several blocks, and much code that hardly ever runs */
    LOAD_WEIGHT = 3,  /* two ways, one for all lanes */
    LEAST_PART = 60,
    MOST_UNROLLED = 1000,
    STEPS_FOLLOWED = 64,
    CLASSES = 8,
    NEVER = -1
};

/* --- which statements are together --- */

typedef struct finder {
    cg *g;
    k_walk w;
    uint32_t *weight;    /* per statement, its lists included */
    uint32_t largest;    /* of the FOR_ALLs */
    uint32_t whole;      /* FOR_ALLs up to this weight are left as they are */
    uint32_t most;       /* of a part */
    uint32_t open;       /* the part that the statement before was put in; 0: none */
    uint32_t total;      /* of that part */
    k_ref within;        /* the compound statement in a part whose lists are being walked; 0: none */
    VEC(uint32_t) parts; /* weight of each, from 1 */
} finder;

static uint32_t sum(uint32_t x, uint64_t y)
{
    return x + y > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uint32_t)(x + y);
}

static uint32_t weight_of(const kernel *k, const k_stmt *s)
{
    bool varies = s->op == K_LOAD && k->value.at[s->dst].shape != K_UNIFORM;
    return s->op == K_CHECK ? CHECK_WEIGHT : varies ? LOAD_WEIGHT : 1;
}

static int64_t rounds(const kernel *k, const k_stmt *s)
{
    const k_value *from = &k->value.at[s->in[0]], *to = &k->value.at[s->in[1]];
    if (s->op != K_FOR || !(s->sub & K_UNROLL) || from->kind != KV_LITERAL || to->kind != KV_LITERAL)
        return 1;
    int64_t n = (int64_t)to->bits - (int64_t)from->bits;
    return n > 1 && n <= CG_MOST_UNROLLED ? n : 1;
}

static void find_weights(finder *f)
{
    const kernel *k = f->g->k;
    k_walk w;
    k_walk_begin(&w, k, f->g->arena);
    while (k_walk_next(&w)) {
        const k_stmt *s = &k->stmt.at[w.at];
        k_ref parent = k_walk_parent(&w);
        if (w.event == K_WALK_AT)
            f->weight[w.at] = weight_of(k, s);
        if (w.event == K_WALK_LEAVE) {
            uint64_t unrolled = (uint64_t)f->weight[w.at] * (uint64_t)rounds(k, s);
            f->weight[w.at] = unrolled <= MOST_UNROLLED ? (uint32_t)unrolled : f->weight[w.at];
        }
        if (w.event == K_WALK_LEAVE || (w.event == K_WALK_AT && !k_compound(s)))
            f->weight[parent] = sum(f->weight[parent], f->weight[w.at]);
        if (w.event == K_WALK_LEAVE && s->op == K_FOR_ALL && f->weight[w.at] > f->largest)
            f->largest = f->weight[w.at];
    }
}

/* What leaves the function, or needs all that lanes do around it in one place, stays in the entry function. */
static bool may_go(const cg *g, k_ref id)
{
    switch ((k_op)g->k->stmt.at[id].op) {
    case K_BREAK_IF:
    case K_FOR_ALL:
    case K_CHAIN:
    case K_COMPACT:
    case K_COUNT:
    case K_RANK:
    case K_SHUFFLE:
    case K_ALL:
        return false;
    default:
        return !k_compound(&g->k->stmt.at[id]) || !g->facts[id].warp;
    }
}

static void mark_enclosing(finder *f)
{
    for (uint32_t i = f->w.open.n; i-- > 0;) {
        cg_facts *facts = &f->g->facts[k_walk_open(&f->w, i)];
        if (facts->parts)
            return;
        facts->parts = true;
    }
}

static void put(finder *f, k_ref id)
{
    cg *g = f->g;
    uint32_t weight = f->weight[id];
    if (!may_go(g, id) || weight > f->most) {
        f->open = 0;
        return;
    }
    if (!f->open || f->total + weight > f->most) {
        f->open = f->parts.n;
        f->total = 0;
        vec_push(g->arena, &f->parts, 0);
        mark_enclosing(f);
    }
    g->part[id] = f->open;
    f->total += weight;
    f->parts.at[f->open] = f->total;
}

static void assign(finder *f)
{
    cg *g = f->g;
    vec_push(g->arena, &f->parts, 0);
    k_walk_begin(&f->w, g->k, g->arena);
    while (k_walk_next(&f->w)) {
        k_ref id = f->w.at;
        if (f->within) {
            g->part[id] = g->part[f->within];
            if (id == f->within && f->w.event == K_WALK_LEAVE)
                f->within = 0;
        } else if (f->w.event != K_WALK_AT || !f->w.for_all || f->weight[f->w.for_all] <= f->whole) {
            f->open = 0;
        } else {
            put(f, id);
            if (f->open && k_compound(&g->k->stmt.at[id]))
                f->within = id;
        }
    }
}

static bool keep_large_parts(finder *f)
{
    cg *g = f->g;
    uint32_t largest = 0, of_entry = 0;
    for (k_ref r = 1; r < g->k->stmt.n; r++) {
        if (f->parts.at[g->part[r]] < LEAST_PART && !g->most_of_part)
            g->part[r] = 0;
        of_entry += g->part[r] == 0;
        if (f->parts.at[g->part[r]] > largest)
            largest = f->parts.at[g->part[r]];
    }
    g->at_once = sum(of_entry, largest);
    return largest != 0;
}

/* --- what crosses --- */

typedef struct life {
    k_val value;
    uint32_t first; /* stretch of statements of one function, in the order of the text */
    int64_t last;   /* NEVER: its place is not used again */
} life;

typedef struct crossings {
    cg *g;
    uint32_t *defined; /* per value: the stretch that defines it */
    int64_t *touched;  /* per variable: the last stretch that looks at it or sets it, or NEVER, as in `life` */
    k_ref *loop_of;    /* per value: the innermost loop of the entry function around its definition */
    VEC(life) life;    /* by the order of definitions; [0] unused */
    uint32_t stretch;
    k_ref loop;
    k_val follow[STEPS_FOLLOWED];
} crossings;

static uint32_t part_of(const cg *g, k_val v)
{
    const k_value *x = &g->k->value.at[v];
    return x->kind == KV_RESULT || x->kind == KV_VARIABLE ? g->part[x->def] : 0;
}

static bool is_computed(const kernel *k, k_val v)
{
    return k->value.at[v].kind == KV_RESULT || k->value.at[v].kind == KV_VARIABLE;
}

static void use(crossings *c, uint32_t part, k_val v)
{
    cg *g = c->g;
    if (!is_computed(g->k, v))
        return;
    int64_t now = c->loop_of[v] == c->loop ? (int64_t)c->stretch : NEVER;
    c->touched[v] = c->touched[v] == NEVER ? NEVER : now;
    if (part_of(g, v) == part)
        return;
    if (!g->crossing[v]) {
        g->crossing[v] = c->life.n;
        vec_push(g->arena, &c->life, ((life){.value = v, .first = c->defined[v]}));
    }
    life *l = &c->life.at[g->crossing[v]];
    l->last = l->last == NEVER ? NEVER : now;
}

/* The emitter looks behind indices, conditions and what mixed SETs add up, at what they were made from. */
static void use_behind(crossings *c, uint32_t part, k_val v, bool any_type)
{
    const kernel *k = c->g->k;
    unsigned n = 1, at = 0;
    c->follow[0] = v;
    for (; at < n; at++) {
        const k_value *x = &k->value.at[c->follow[at]];
        const k_stmt *s = &k->stmt.at[x->def];
        use(c, part, c->follow[at]);
        if (x->kind != KV_RESULT || (s->op != K_LET && s->op != K_SELECT) ||
            (!any_type && x->type != T_I64 && x->type != T_BOOL))
            continue;
        for (unsigned i = 0; i < k_operands(s) && n < STEPS_FOLLOWED; i++)
            c->follow[n++] = s->in[i];
    }
}

static void find_uses(crossings *c, k_ref id)
{
    const k_stmt *s = &c->g->k->stmt.at[id];
    uint32_t part = c->g->part[id];
    for (unsigned i = 0; i < k_operands(s); i++)
        use(c, part, s->in[i]);
    if (s->op == K_SET)
        use(c, part, s->dst);
    if (s->op == K_LOAD || s->op == K_STORE || s->op == K_CHECK)
        use_behind(c, part, s->in[0], false);
    if (s->op == K_SET && s->sub == K_MIX)
        use_behind(c, part, s->in[0], true);
    for (unsigned j = 0; s->op == K_CHAIN && j < s->chain->arity; j++)
        use_behind(c, part, s->chain->result[j], false);
}

static bool is_loop(const k_stmt *s)
{
    return s->op == K_LOOP || s->op == K_FOR || s->op == K_FOR_ALL;
}

/* The innermost loop that the entry function itself runs. */
static k_ref loop_around(const cg *g, const k_walk *w)
{
    for (uint32_t i = w->open.n; i-- > 0;) {
        k_ref id = k_walk_open(w, i);
        if (!g->part[id] && is_loop(&g->k->stmt.at[id]))
            return id;
    }
    return 0;
}

static void find_crossings(crossings *c)
{
    cg *g = c->g;
    uint32_t part = 0;
    bool moved = true;
    life none = {0};
    k_walk w;
    vec_push(g->arena, &c->life, none);
    k_walk_begin(&w, g->k, g->arena);
    while (k_walk_next(&w)) {
        const k_stmt *s = &g->k->stmt.at[w.at];
        bool moves = k_compound(s) && !g->part[w.at];
        if (moved || moves || g->part[w.at] != part) {
            part = g->part[w.at];
            c->loop = loop_around(g, &w);
            c->stretch++;
        }
        moved = moves;
        if (w.event != K_WALK_AT)
            continue;
        find_uses(c, w.at);
        if (s->dst && s->op != K_SET) {
            c->defined[s->dst] = c->stretch;
            c->loop_of[s->dst] = k_compound(s) ? w.at : c->loop;
        }
    }
}

/* --- the frame --- */

static unsigned class_of(const cg *g, k_val v)
{
    size_t bytes = (size_t)g->lanes * ir_type_size((ir_type)g->k->value.at[v].type), size = 16;
    unsigned class = 0;
    for (; size < bytes; size *= 2) /* at most 256 lanes of 8 bytes */
        class ++;
    return class;
}

static int by_start(const void *a, const void *b)
{
    const life *x = a, *y = b;
    return x->first != y->first ? (x->first < y->first ? -1 : 1) : (x->value > y->value) - (x->value < y->value);
}

/* Places of values that nobody needs any more are used again. */
static void place(crossings *c)
{
    cg *g = c->g;
    uint32_t *ending = arena_array(g->arena, *ending, c->stretch + 2); /* first value that is used there last */
    uint32_t *next = arena_array(g->arena, *next, c->life.n);
    VEC(uint32_t) unused[CLASSES] = {0};
    uint32_t now = 0;
    qsort(c->life.at + 1, c->life.n - 1, sizeof(*c->life.at), by_start);
    g->crossed = arena_array(g->arena, *g->crossed, c->life.n);
    g->frame_bytes = CG_FRAME_HEAD;
    for (uint32_t i = 1; i < c->life.n; i++) {
        life *l = &c->life.at[i];
        if (g->k->value.at[l->value].kind == KV_VARIABLE) /* where it is declared it is in the frame, too */
            l->last = c->touched[l->value];
        unsigned class = class_of(g, l->value);
        g->crossing[l->value] = i;
        for (; now < l->first; now++)
            for (uint32_t j = ending[now]; j; j = next[j])
                vec_push(g->arena, &unused[class_of(g, c->life.at[j].value)], g->crossed[j].offset);
        if (unused[class].n) {
            g->crossed[i].offset = unused[class].at[--unused[class].n];
        } else {
            uint32_t size = 16u << class, align = size < 64 ? size : 64;
            g->crossed[i].offset = (g->frame_bytes + align - 1) / align * align;
            g->frame_bytes = g->crossed[i].offset + size;
        }
        if (l->last == NEVER)
            continue;
        next[i] = ending[l->last];
        ending[l->last] = i;
    }
}

/* What is worth cutting depends on the effort, and that on the longest stretches of code. */
static bool choose_sizes(finder *f)
{
    cg *g = f->g;
    g->little_effort = f->largest > CG_HUGE || f->weight[0] > CG_HUGE_KERNEL;
    f->most = CG_PART;
    f->whole = g->little_effort ? CG_PART : CG_LARGE;
    if (g->most_of_part)
        f->whole = f->most = g->most_of_part;
    return f->largest > f->whole;
}

void cg_find_parts(cg *g)
{
    finder f = {.g = g};
    crossings c = {.g = g};
    arena *a = g->arena;
    const kernel *k = g->k;
    uint32_t large = g->most_of_part ? g->most_of_part : CG_LARGE;
    g->at_once = k->stmt.n;
    if (k->stmt.n <= large / CHECK_WEIGHT)
        return;
    f.weight = arena_array(a, *f.weight, k->stmt.n);
    find_weights(&f);
    if (!choose_sizes(&f))
        return;
    g->part = arena_array(a, *g->part, k->stmt.n);
    assign(&f);
    if (!keep_large_parts(&f)) {
        g->part = NULL;
        return;
    }
    g->crossing = arena_array(a, *g->crossing, k->value.n);
    c.defined = arena_array(a, *c.defined, k->value.n);
    c.touched = arena_array(a, *c.touched, k->value.n);
    c.loop_of = arena_array(a, *c.loop_of, k->value.n);
    find_crossings(&c);
    place(&c);
}

/* --- values across functions --- */

/* The frame's head: what belongs to the place of a call. */
enum { ON = 0, ALIVE = 32, FULL = 64, PIECE = 72, THREAD_BASE = 80 };

static cg_ref in_frame(cg *g, uint32_t offset)
{
    cg_ref at = cg_i64(g, offset);
    return LLVMBuildGEP2(g->b, g->i8, g->frame, &at, 1, "");
}

static cg_ref read_frame(cg *g, LLVMTypeRef t, uint32_t offset)
{
    return LLVMBuildLoad2(g->b, t, in_frame(g, offset), "");
}

/* A value that another function has defined: a part does not write what it reads, so that LLVM may move this anywhere.
 */
static cg_ref read_crossing(cg *g, LLVMTypeRef t, uint32_t offset)
{
    cg_ref load = read_frame(g, t, offset);
    if (g->own_part) {
        LLVMMetadataRef none = LLVMMDNodeInContext2(g->context, NULL, 0);
        LLVMSetMetadata(load, LLVMGetMDKindIDInContext(g->context, "invariant.load", 14),
                        LLVMMetadataAsValue(g->context, none));
    }
    return load;
}

static void write_frame(cg *g, uint32_t offset, cg_ref x)
{
    LLVMBuildStore(g->b, x, in_frame(g, offset));
}

cg_ref cg_alive_flags(cg *g)
{
    return g->part ? in_frame(g, ALIVE) : cg_alloca(g, LLVMVectorType(g->i1, g->lanes), 0, "alive");
}

void cg_open_frame(cg *g)
{
    if (g->part)
        g->frame = cg_alloca(g, LLVMArrayType(g->i8, g->frame_bytes), 64, "frame");
}

cg_ref cg_place(cg *g, k_val v)
{
    return g->crossing && g->crossing[v] ? in_frame(g, g->crossed[g->crossing[v]].offset) : NULL;
}

static uint32_t step_offset(const cg *g, const cg_crossed *c, k_val v)
{
    return c->offset + (uint32_t)ir_type_size((ir_type)g->k->value.at[v].type);
}

void cg_cross(cg *g, k_val v)
{
    if (!g->crossing || !g->crossing[v])
        return;
    const cg_value *x = &g->value[v];
    cg_crossed *c = &g->crossed[g->crossing[v]];
    *c = (cg_crossed){.offset = c->offset, .type = LLVMTypeOf(x->v), .constant = LLVMIsConstant(x->v)};
    c->stepped = x->form == FORM_LINEAR && !LLVMIsConstant(x->step);
    if (!c->constant)
        write_frame(g, c->offset, x->v);
    if (c->stepped)
        write_frame(g, step_offset(g, c, v), x->step);
}

bool cg_is_foreign(const cg *g, k_val v)
{
    return g->part && part_of(g, v) != g->own_part;
}

cg_value cg_fetch(cg *g, k_val v)
{
    cg_value x = g->value[v];
    if (!g->crossing[v])
        cg_fail(g, "value %u of kernel %s is used in a part that it does not reach", v, g->k->name);
    cg_crossed *c = &g->crossed[g->crossing[v]];
    bool known = c->here == cg_here(g) && c->modules == g->modules; /* blocks of others may have been at this address */
    if (!known) {
        c->modules = g->modules;
        c->here = cg_here(g);
        c->v = c->constant ? x.v : read_crossing(g, c->type, c->offset);
        c->step = c->stepped ? read_crossing(g, c->type, step_offset(g, c, v)) : x.step;
    }
    x.v = c->v;
    x.step = c->step;
    return x;
}

/* --- a part --- */

static k_ref end_of_part(const cg *g, k_ref first)
{
    k_ref r = first;
    while (r && g->part[r] == g->part[first])
        r = g->k->stmt.at[r].next;
    return r;
}

static bool has_checks(const cg *g, k_ref first, k_ref end)
{
    for (k_ref r = first; r != end; r = g->k->stmt.at[r].next) {
        const k_stmt *s = &g->k->stmt.at[r];
        if (s->op == K_CHECK || (k_compound(s) && g->facts[r].checks))
            return true;
    }
    return false;
}

static void leave_words(cg *g)
{
    if (g->mask.on)
        write_frame(g, ON, g->mask.on);
    if (g->mask.full)
        write_frame(g, FULL, g->mask.full);
    write_frame(g, PIECE, g->piece);
    write_frame(g, THREAD_BASE, g->thread_base);
}

static void take_words(cg *g)
{
    if (g->mask.on)
        g->mask.on = read_frame(g, LLVMVectorType(g->i1, g->lanes), ON);
    if (g->mask.full)
        g->mask.full = read_frame(g, g->i1, FULL);
    g->alive = g->alive ? in_frame(g, ALIVE) : NULL;
    g->piece = read_frame(g, g->i64, PIECE);
    g->thread_base = read_frame(g, g->i64, THREAD_BASE);
}

static LLVMTypeRef type_of_part(cg *g)
{
    return LLVMFunctionType(g->i1, (LLVMTypeRef[]){g->ptr, g->ptr}, 2, false);
}

/* Emits a function that says whether a lane is left, in a module of its own, and compiles it. */
static void make_part(cg *g, const char *name, k_ref first, k_ref end)
{
    cg_start_module(g, name);
    g->fn = LLVMAddFunction(g->module, name, type_of_part(g));
    cg_code_attributes(g, g->fn);
    g->launch = LLVMGetParam(g->fn, 0);
    g->frame = LLVMGetParam(g->fn, 1);
    g->entry = LLVMAppendBasicBlockInContext(g->context, g->fn, "allocas");
    g->gang_end = LLVMAppendBasicBlockInContext(g->context, g->fn, "none_left");
    g->restart = NULL;
    g->loop_exit = NULL;
    g->loop_live = NULL;
    g->own_part = g->part[first];
    LLVMBasicBlockRef start = LLVMAppendBasicBlockInContext(g->context, g->fn, "start");
    cg_at(g, g->gang_end);
    LLVMBuildRet(g->b, LLVMConstInt(g->i1, 0, false));
    cg_at(g, start);
    cg_read_launch(g, false);
    take_words(g);
    cg_range(g, first, end);
    LLVMBuildRet(g->b, LLVMConstInt(g->i1, 1, false));
    cg_at(g, g->entry);
    cg_br(g, start);
    cg_finish_module(g);
}

k_ref cg_call_part(cg *g, k_ref first)
{
    k_ref end = end_of_part(g, first);
    const char *name = arena_printf(g->arena, CG_PART_NAME "%u", g->modules);
    LLVMBasicBlockRef here = cg_here(g);
    bool checks = has_checks(g, first, end);
    leave_words(g);
    cg outer = *g;
    make_part(g, name, first, end);
    outer.modules = g->modules;
    outer.objects = g->objects;
    outer.ir = g->ir;
    outer.assembly = g->assembly;
    outer.streamed = g->streamed;
    outer.stamp = g->stamp;
    outer.stamps = g->stamps;
    *g = outer;
    cg_at(g, here);
    cg_ref f = LLVMAddFunction(g->module, name, type_of_part(g));
    cg_ref left = LLVMBuildCall2(g->b, type_of_part(g), f, (cg_ref[]){g->launch, g->frame}, 2, "");
    if (!checks)
        return end;
    LLVMBasicBlockRef more = cg_block(g, "more");
    cg_cond(g, left, more, g->gang_end);
    cg_at(g, more);
    cg_restore(g, g->mask, &(cg_facts){.checks = 1});
    return end;
}
