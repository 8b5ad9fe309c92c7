/* Foreign code: functions of scalars that come as LLVM's text. They become functions of the module, and are called for
 * each lane, or for as many lanes at a time as a version of them for vectors takes. Functions of the host's are called
 * for all lanes at once, by the address that a launch brings along. */
#include "emit/cpu/llvm/cg.h"
#include "kernel/walk.h"
#include <llvm-c/Analysis.h>
#include <llvm-c/Comdat.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/Linker.h>

enum { ALIGNED = 64, MOST_LANES = 64 };

static const char own_names[] = "sn_code_"; /* how functions that are called are named */

/* The first code of the same function, for another of its results. */
static unsigned text_of(const cg *g, unsigned code)
{
    const k_code *all = g->k->code.at;
    unsigned i = 0;
    while (i < code && (all[i].host || strcmp(all[i].name, all[code].name) || strcmp(all[i].source, all[code].source)))
        i++;
    return i;
}

static const char *name_of(cg *g, unsigned code, unsigned lanes)
{
    code = text_of(g, code);
    return lanes > 1 ? arena_printf(g->arena, "%s%u_v%u", own_names, code, lanes)
                     : arena_printf(g->arena, "%s%u", own_names, code);
}

/* What the text defines is its own: others may have the same names, and what nobody calls goes. Names that the
 * functions that are called will have are taken away. */
static void hide(cg_ref value)
{
    size_t n = 0;
    if (!strncmp(LLVMGetValueName2(value, &n), own_names, sizeof own_names - 1))
        LLVMSetValueName2(value, "of_the_text", 11);
    if (LLVMIsDeclaration(value) || LLVMGetLinkage(value) == LLVMAppendingLinkage)
        return;
    if (LLVMIsAGlobalObject(value))
        LLVMSetComdat(value, NULL);
    LLVMSetDLLStorageClass(value, LLVMDefaultStorageClass);
    LLVMSetLinkage(value, LLVMInternalLinkage);
}

static void hide_all(LLVMModuleRef m)
{
    for (cg_ref f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f))
        hide(f);
    for (cg_ref v = LLVMGetFirstGlobal(m); v; v = LLVMGetNextGlobal(v))
        hide(v);
    for (cg_ref a = LLVMGetFirstGlobalAlias(m); a; a = LLVMGetNextGlobalAlias(a))
        hide(a);
}

/* The function and its versions for vectors get names of their own; everything is private to the module, and made for
 * the same processor as the rest of it. */
static void adopt(cg *g, LLVMModuleRef m, unsigned code)
{
    const char *name = g->k->code.at[code].name;
    cg_ref of[MOST_LANES + 1] = {NULL};
    if (!LLVMGetNamedFunction(m, name) || LLVMIsDeclaration(LLVMGetNamedFunction(m, name)))
        cg_fail(g, "%s: the text for the CPU does not define @%s", name, name);
    for (unsigned lanes = 1; lanes <= MOST_LANES; lanes *= 2)
        of[lanes] = LLVMGetNamedFunction(m, lanes > 1 ? arena_printf(g->arena, "%s_v%u", name, lanes) : name);
    hide_all(m);
    for (unsigned lanes = 1; lanes <= MOST_LANES; lanes *= 2)
        if (of[lanes] && !LLVMIsDeclaration(of[lanes])) {
            const char *to = name_of(g, code, lanes);
            LLVMSetValueName2(of[lanes], to, strlen(to));
            LLVMSetLinkage(of[lanes], LLVMExternalLinkage);
        }
    for (cg_ref f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f))
            cg_function_attributes(g, f);
}

static void link_code(cg *g, unsigned code)
{
    const k_code *c = &g->k->code.at[code];
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(c->source, strlen(c->source), c->name);
    LLVMModuleRef m = NULL;
    char *message = NULL;
    const bool failed = LLVMParseIRInContext(g->context, buffer, &m, &message);
    const char *why = failed ? arena_string(g->arena, message ? message : "it does not parse") : NULL;
    LLVMDisposeMessage(message);
    if (failed)
        cg_fail(g, "%s: %s", c->name, why);
    message = NULL;
    const bool broken = LLVMVerifyModule(m, LLVMReturnStatusAction, &message);
    why = broken ? arena_string(g->arena, message ? message : "it is not well-formed") : NULL;
    LLVMDisposeMessage(message);
    if (broken)
        cg_fail(g, "%s: %s", c->name, why);
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(g->machine);
    LLVMSetTarget(m, g->triple);
    LLVMSetModuleDataLayout(m, layout);
    LLVMDisposeTargetData(layout);
    adopt(g, m, code);
    if (LLVMLinkModules2(g->module, m)) /* m is gone */
        cg_fail(g, "%s: its text cannot be linked: %s", c->name, g->why ? g->why : "LLVM does not say why");
}

void cg_link_codes(cg *g)
{
    for (unsigned i = 0; i < g->k->code.n; i++)
        if (!g->k->code.at[i].host && text_of(g, i) == i)
            link_code(g, i);
    for (cg_ref f = LLVMGetFirstFunction(g->module); f && g->k->code.n; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f))
            LLVMSetLinkage(f, LLVMInternalLinkage);
}

/* --- calls --- */

static LLVMTypeRef lanes_of(LLVMTypeRef type, unsigned lanes)
{
    return lanes > 1 ? LLVMVectorType(type, lanes) : type;
}

/* The function for so many lanes, of the types that it must have. NULL: there is none for vectors. */
static cg_ref find(cg *g, const k_stmt *s, unsigned lanes, LLVMTypeRef *type)
{
    LLVMTypeRef in[K_MOST_OPERANDS], part[K_MOST_GIVEN], to = lanes_of(g->type[g->k->value.at[s->dst].type], lanes);
    const unsigned n = k_operands(s);
    const char *name = name_of(g, s->sub, lanes);
    const k_code *c = &g->k->code.at[s->sub];
    for (unsigned i = 0; i < n; i++)
        in[i] = lanes_of(g->type[g->k->value.at[s->in[i]].type], lanes);
    for (unsigned i = 0; i < c->results; i++)
        part[i] = lanes_of(g->type[c->type[i]], lanes);
    if (c->results)
        to = LLVMStructTypeInContext(g->context, part, c->results, false);
    *type = LLVMFunctionType(to, in, n, false);
    cg_ref f = LLVMGetNamedFunction(g->module, name);
    if (f && LLVMGlobalGetValueType(f) == *type)
        return f;
    if (!f && lanes > 1)
        return NULL;
    char *wanted = LLVMPrintTypeToString(*type), *is = f ? LLVMPrintTypeToString(LLVMGlobalGetValueType(f)) : NULL;
    const char *said =
        arena_printf(g->arena, "%s: @%s%s is %s; of what it is called with it has to be %s", g->k->code.at[s->sub].name,
                     g->k->code.at[s->sub].name, lanes > 1 ? arena_printf(g->arena, "_v%u", lanes) : "",
                     is ? is : "not there", wanted);
    LLVMDisposeMessage(wanted);
    LLVMDisposeMessage(is);
    cg_fail(g, "%s", said);
    return NULL;
}

/* The call, and the result that is taken of several. What the function says of its parameters (that they are extended,
 * above all) holds for the call. */
static cg_ref call_function(cg *g, const k_stmt *s, cg_ref f, LLVMTypeRef type, cg_ref *in)
{
    const unsigned n = k_operands(s);
    const k_code *c = &g->k->code.at[s->sub];
    cg_ref x = LLVMBuildCall2(g->b, type, f, in, n, "");
    LLVMSetInstructionCallConv(x, LLVMGetFunctionCallConv(f));
    for (unsigned i = 0; i <= n; i++) {
        LLVMAttributeRef all[16];
        const unsigned count = LLVMGetAttributeCountAtIndex(f, i);
        if (count > ARRAY_LENGTH(all))
            continue;
        LLVMGetAttributesAtIndex(f, i, all);
        for (unsigned k = 0; k < count; k++)
            LLVMAddCallSiteAttribute(x, i, all[k]);
    }
    return c->results ? LLVMBuildExtractValue(g->b, x, c->part, "") : x;
}

static cg_ref part_of(cg *g, LLVMTypeRef element, cg_ref memory, cg_ref lane)
{
    return LLVMBuildGEP2(g->b, element, memory, &lane, 1, "");
}

/* Elements in memory: a bool is a byte. */
static LLVMTypeRef kept_as(cg *g, ir_type t)
{
    return t == T_BOOL ? g->i8 : g->type[t];
}

static cg_ref to_memory(cg *g, ir_type t, cg_ref x, unsigned lanes)
{
    return t == T_BOOL ? LLVMBuildZExt(g->b, x, lanes_of(g->i8, lanes), "") : x;
}

static cg_ref from_memory(cg *g, ir_type t, cg_ref x, unsigned lanes)
{
    return t == T_BOOL ? LLVMBuildICmp(g->b, LLVMIntNE, x, LLVMConstNull(lanes_of(g->i8, lanes)), "") : x;
}

static ir_type type_of(const cg *g, k_val v)
{
    return (ir_type)g->k->value.at[v].type;
}

/* Lanes [at, at + lanes) of all operands, which lie in memory. */
static void call_part(cg *g, const k_stmt *s, cg_ref f, LLVMTypeRef type, unsigned lanes, const cg_ref *memory,
                      cg_ref result, cg_ref at)
{
    const unsigned n = k_operands(s);
    cg_ref in[K_MOST_OPERANDS];
    for (unsigned i = 0; i < n; i++) {
        const ir_type t = type_of(g, s->in[i]);
        cg_ref x = LLVMBuildLoad2(g->b, lanes_of(kept_as(g, t), lanes), part_of(g, kept_as(g, t), memory[i], at), "");
        LLVMSetAlignment(x, (unsigned)ir_type_size(t));
        in[i] = from_memory(g, t, x, lanes);
    }
    const ir_type to = type_of(g, s->dst);
    cg_ref x = to_memory(g, to, call_function(g, s, f, type, in), lanes);
    LLVMSetAlignment(LLVMBuildStore(g->b, x, part_of(g, kept_as(g, to), result, at)), (unsigned)ir_type_size(to));
}

static void call_parts(cg *g, const k_stmt *s, cg_ref f, LLVMTypeRef type, unsigned lanes, const cg_ref *memory,
                       cg_ref result)
{
    LLVMBasicBlockRef before = cg_here(g), each = cg_block(g, "foreign"), end = cg_block(g, "called");
    cg_br(g, each);
    cg_at(g, each);
    cg_ref at = LLVMBuildPhi(g->b, g->i64, "");
    call_part(g, s, f, type, lanes, memory, result, at);
    cg_ref next = LLVMBuildNUWAdd(g->b, at, cg_i64(g, lanes), "");
    LLVMAddIncoming(at, (cg_ref[]){cg_i64(g, 0), next}, (LLVMBasicBlockRef[]){before, cg_here(g)}, 2);
    cg_cond(g, LLVMBuildICmp(g->b, LLVMIntULT, next, cg_i64(g, g->lanes), ""), each, end);
    cg_at(g, end);
}

/* Memory for a value of so many lanes. */
static cg_ref room_for(cg *g, ir_type t, unsigned lanes, const char *name)
{
    return cg_alloca(g, lanes_of(kept_as(g, t), lanes), ALIGNED, name);
}

static cg_ref keep(cg *g, ir_type t, cg_ref x, unsigned lanes)
{
    cg_ref at = room_for(g, t, lanes, "operand");
    LLVMBuildStore(g->b, to_memory(g, t, x, lanes), at);
    return at;
}

/* call(env, lanes, in, out), both of which are in memory at the address that is the first operand. */
static void call_host(cg *g, const k_stmt *s, unsigned lanes)
{
    const k_code *c = &g->k->code.at[s->sub];
    const unsigned n = k_operands(s) - 1, results = c->results ? c->results : 1;
    const bool varying = g->thread && g->k->value.at[s->dst].shape == K_VARYING;
    cg_ref out[K_MOST_GIVEN];
    cg_ref ins = cg_alloca(g, LLVMArrayType(g->ptr, K_MOST_OPERANDS), ALIGNED, "operands"),
           outs = cg_alloca(g, LLVMArrayType(g->ptr, K_MOST_GIVEN), ALIGNED, "results");
    for (unsigned i = 0; i < n; i++) {
        const k_val v = s->in[i + 1];
        cg_ref x = keep(g, type_of(g, v), lanes > 1 ? cg_vec(g, v) : cg_scalar(g, v), lanes);
        LLVMBuildStore(g->b, x, part_of(g, g->ptr, ins, cg_i64(g, i)));
    }
    for (unsigned i = 0; i < results; i++) {
        out[i] = room_for(g, c->results ? (ir_type)c->type[i] : type_of(g, s->dst), lanes, "result");
        LLVMBuildStore(g->b, out[i], part_of(g, g->ptr, outs, cg_i64(g, i)));
    }
    cg_ref host = LLVMBuildIntToPtr(g->b, cg_scalar(g, s->in[0]), g->ptr, ""),
           call = LLVMBuildLoad2(g->b, g->ptr, host, ""),
           env = LLVMBuildLoad2(g->b, g->ptr, part_of(g, g->ptr, host, cg_i64(g, 1)), "");
    LLVMTypeRef type =
        LLVMFunctionType(LLVMVoidTypeInContext(g->context), (LLVMTypeRef[]){g->ptr, g->i64, g->ptr, g->ptr}, 4, false);
    LLVMBuildCall2(g->b, type, call, (cg_ref[]){env, cg_i64(g, lanes), ins, outs}, 4, "");
    const ir_type to = type_of(g, s->dst);
    cg_ref x = LLVMBuildLoad2(g->b, lanes_of(kept_as(g, to), lanes), out[c->part], "");
    x = from_memory(g, to, x, lanes);
    cg_define(g, s->dst, varying && lanes == 1 ? cg_splat(g, x) : x);
}

void cg_call_code(cg *g, const k_stmt *s)
{
    const unsigned n = k_operands(s);
    const bool varying = g->thread && g->k->value.at[s->dst].shape == K_VARYING;
    LLVMTypeRef type;
    cg_ref in[K_MOST_OPERANDS];
    if (g->k->code.at[s->sub].host) {
        call_host(g, s, varying ? g->lanes : 1);
        return;
    }
    if (!varying || g->lanes == 1) { /* varying: of one lane */
        cg_ref f = find(g, s, 1, &type);
        for (unsigned i = 0; i < n; i++)
            in[i] = cg_scalar(g, s->in[i]);
        cg_ref x = call_function(g, s, f, type, in);
        cg_define(g, s->dst, varying ? cg_splat(g, x) : x);
        return;
    }
    unsigned lanes = g->lanes < MOST_LANES ? g->lanes : MOST_LANES;
    cg_ref f = find(g, s, lanes, &type);
    for (; !f; f = find(g, s, lanes, &type))
        lanes /= 2;
    for (unsigned i = 0; i < n; i++)
        in[i] = keep(g, type_of(g, s->in[i]), cg_vec(g, s->in[i]), g->lanes);
    const ir_type to = type_of(g, s->dst);
    cg_ref result = room_for(g, to, g->lanes, "result");
    call_parts(g, s, f, type, lanes, in, result);
    cg_ref x = LLVMBuildLoad2(g->b, lanes_of(kept_as(g, to), g->lanes), result, "");
    cg_define(g, s->dst, from_memory(g, to, x, g->lanes));
}
