/* Foreign code: functions of scalars that come as LLVM's text. They become functions of the module, and are called for
 * each lane, or for as many lanes at a time as a version of them for vectors takes. */
#include "emit/cpu/llvm/cg.h"
#include "kernel/walk.h"
#include <llvm-c/Analysis.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/Linker.h>

enum { ALIGNED = 64, MOST_LANES = 64, OPERANDS = 4 };

static const char *name_of(cg *g, unsigned code, unsigned lanes)
{
    return lanes > 1 ? arena_printf(g->arena, "sn_code_%u_v%u", code, lanes)
                     : arena_printf(g->arena, "sn_code_%u", code);
}

/* The function and its versions for vectors get names of their own; everything is private to the module, and made for
 * the same processor as the rest of it. */
static void adopt(cg *g, LLVMModuleRef m, unsigned code)
{
    const char *name = g->k->code.at[code].name;
    if (!LLVMGetNamedFunction(m, name) || LLVMIsDeclaration(LLVMGetNamedFunction(m, name)))
        cg_fail(g, "%s: the text for the CPU does not define @%s", name, name);
    for (unsigned lanes = 1; lanes <= MOST_LANES; lanes *= 2) {
        const char *from = lanes > 1 ? arena_printf(g->arena, "%s_v%u", name, lanes) : name,
                   *to = name_of(g, code, lanes);
        cg_ref f = LLVMGetNamedFunction(m, from);
        if (f && !LLVMIsDeclaration(f))
            LLVMSetValueName2(f, to, strlen(to));
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
    LLVMTypeRef in[OPERANDS], to = g->type[g->k->value.at[s->dst].type];
    const unsigned n = k_operands(s);
    const char *name = name_of(g, s->sub, lanes);
    for (unsigned i = 0; i < n; i++)
        in[i] = lanes_of(g->type[g->k->value.at[s->in[i]].type], lanes);
    *type = LLVMFunctionType(lanes_of(to, lanes), in, n, false);
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

static cg_ref part_of(cg *g, LLVMTypeRef element, cg_ref memory, cg_ref lane)
{
    return LLVMBuildGEP2(g->b, element, memory, &lane, 1, "");
}

/* Lanes [at, at + lanes) of all operands, which lie in memory. */
static void call_part(cg *g, const k_stmt *s, cg_ref f, LLVMTypeRef type, unsigned lanes, const cg_ref *memory,
                      cg_ref result, cg_ref at)
{
    const unsigned n = k_operands(s);
    cg_ref in[OPERANDS];
    for (unsigned i = 0; i < n; i++) {
        LLVMTypeRef element = g->type[g->k->value.at[s->in[i]].type];
        in[i] = LLVMBuildLoad2(g->b, lanes_of(element, lanes), part_of(g, element, memory[i], at), "");
        LLVMSetAlignment(in[i], (unsigned)ir_type_size((ir_type)g->k->value.at[s->in[i]].type));
    }
    const ir_type to = (ir_type)g->k->value.at[s->dst].type;
    cg_ref stored = LLVMBuildStore(g->b, LLVMBuildCall2(g->b, type, f, in, n, ""), part_of(g, g->type[to], result, at));
    LLVMSetAlignment(stored, (unsigned)ir_type_size(to));
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

void cg_call_code(cg *g, const k_stmt *s)
{
    const unsigned n = k_operands(s);
    LLVMTypeRef type;
    cg_ref in[OPERANDS];
    if (!g->thread || g->k->value.at[s->dst].shape != K_VARYING || g->lanes == 1) {
        const bool vector = g->thread && g->k->value.at[s->dst].shape == K_VARYING; /* of one lane */
        cg_ref f = find(g, s, 1, &type);
        for (unsigned i = 0; i < n; i++)
            in[i] = cg_scalar(g, s->in[i]);
        cg_ref x = LLVMBuildCall2(g->b, type, f, in, n, "");
        cg_define(g, s->dst, vector ? cg_splat(g, x) : x);
        return;
    }
    unsigned lanes = g->lanes < MOST_LANES ? g->lanes : MOST_LANES;
    cg_ref f = find(g, s, lanes, &type);
    for (; !f; f = find(g, s, lanes, &type))
        lanes /= 2;
    for (unsigned i = 0; i < n; i++) {
        cg_ref x = cg_vec(g, s->in[i]);
        in[i] = cg_alloca(g, LLVMTypeOf(x), ALIGNED, "operand");
        LLVMBuildStore(g->b, x, in[i]);
    }
    LLVMTypeRef to = LLVMVectorType(g->type[g->k->value.at[s->dst].type], g->lanes);
    cg_ref result = cg_alloca(g, to, ALIGNED, "result");
    call_parts(g, s, f, type, lanes, in, result);
    cg_define(g, s->dst, LLVMBuildLoad2(g->b, to, result, ""));
}
