/* The code generator's module: kernel -> LLVM IR -> short pass pipeline -> object -> blob. One LLVM context and target
 * machine per call, so any number of threads may compile at once. What LLVM cannot go on after (guard.h) is a failure
 * of that call, and of all later ones. */
#include "emit/cpu/llvm/cg.h"
#include "emit/cpu/llvm/guard.h"
#include "emit/identity.h"
#include "kernel/narrow.h"
#include <llvm-c/Analysis.h>
#include <llvm-c/Target.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* No vectoriser, no unrolling, no library-call recognition: what we write is what runs. */
static const char passes[] = "function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg,loop-simplify,lcssa,"
                             "loop-mssa(licm),early-cse,instcombine<no-verify-fixpoint>,simplifycfg)";

struct emit_cpu_code {
    emit_cpu_blob blob;
    char *ir, *assembly;
};

void cg_fail(cg *g, const char *format, ...)
{
    va_list args;
    text t;
    va_start(args, format);
    text_init(&t, g->arena);
    text_vprintf(&t, format, args);
    va_end(args);
    g->why = t.at;
    longjmp(*g->failure, 2);
}

/* --- target --- */

typedef struct {
    char *cpu, *features, *triple;
    LLVMTargetRef target;
} host;

static bool has_memory(const host *h)
{
    return h->cpu && h->features && h->triple;
}

static bool host_open(host *h, const emit_cpu_options *o)
{
    char *why = NULL;
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
    h->cpu = o && o->cpu ? LLVMCreateMessage(o->cpu) : LLVMGetHostCPUName();
    h->features = o && o->features ? LLVMCreateMessage(o->features) : LLVMGetHostCPUFeatures();
    h->triple = LLVMGetDefaultTargetTriple();
    if (!has_memory(h))
        return false;
    bool failed = LLVMGetTargetFromTriple(h->triple, &h->target, &why);
    LLVMDisposeMessage(why);
    return !failed;
}

static void host_close(host *h)
{
    LLVMDisposeMessage(h->cpu);
    LLVMDisposeMessage(h->features);
    LLVMDisposeMessage(h->triple);
}

static bool has_feature(const char *features, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = strstr(features, name); at; at = strstr(at + 1, name))
        if (at > features && at[-1] == '+' && (at[n] == ',' || at[n] == '\0'))
            return true;
    return false;
}

static cg_features features_of(const host *h)
{
    const char *f = h->features;
    cg_features r = {.x86 = strncmp(h->triple, "x86_64", 6) == 0};
    r.avx512 = r.x86 && has_feature(f, "avx512f") && has_feature(f, "avx512bw") && has_feature(f, "avx512dq") &&
               has_feature(f, "avx512vl");
    r.vbmi2 = r.avx512 && has_feature(f, "avx512vbmi2");
    r.gathers = r.x86 && has_feature(f, "avx2");
    r.fma = has_feature(f, "fma");
    return r;
}

static const LLVMAttributeIndex on_function = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;

/* --- the entry function: void entry(const k_launch *) --- */

static void string_attribute(cg *g, cg_ref f, const char *name, const char *value)
{
    LLVMAttributeRef a =
        LLVMCreateStringAttribute(g->context, name, (unsigned)strlen(name), value, (unsigned)strlen(value));
    LLVMAddAttributeAtIndex(f, on_function, a);
}

static void enum_attribute(cg *g, cg_ref f, LLVMAttributeIndex index, const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddAttributeAtIndex(f, index, LLVMCreateEnumAttribute(g->context, kind, 0));
}

void cg_function_attributes(cg *g, cg_ref f)
{
    string_attribute(g, f, "target-cpu", g->target_cpu);
    string_attribute(g, f, "target-features", g->target_features);
    string_attribute(g, f, "prefer-vector-width", g->cpu.avx512 ? "512" : "256");
    string_attribute(g, f, "no-builtins", "");
    enum_attribute(g, f, on_function, "nounwind");
}

/* The field of a record behind `record` at byte `offset`. */
static cg_ref field(cg *g, LLVMTypeRef type, cg_ref record, size_t offset)
{
    cg_ref at = cg_i64(g, (int64_t)offset);
    return LLVMBuildLoad2(g->b, type, LLVMBuildGEP2(g->b, g->i8, record, &at, 1, ""), "");
}

static void read_launch(cg *g)
{
    const kernel *k = g->k;
    cg_ref mem = field(g, g->ptr, g->launch, offsetof(k_launch, mem));
    cg_ref arg = field(g, g->ptr, g->launch, offsetof(k_launch, arg));
    g->scratch = field(g, g->ptr, g->launch, offsetof(k_launch, scratch));
    g->error = field(g, g->ptr, g->launch, offsetof(k_launch, error));
    cg_ref helpers = field(g, g->ptr, g->launch, offsetof(k_launch, helpers));
    g->report = field(g, g->ptr, helpers, offsetof(k_helpers, report));
    g->note = field(g, g->ptr, helpers, offsetof(k_helpers, note));
    size_t global = 0;
    for (k_mem m = 1; m < k->mem.n; m++) {
        if (k->mem.at[m].space == K_GLOBAL) {
            g->mem[m] = field(g, g->ptr, mem, global++ * sizeof(void *));
            continue;
        }
        cg_ref at = cg_i64(g, k->mem.at[m].offset);
        g->mem[m] = LLVMBuildGEP2(g->b, g->i8, g->scratch, &at, 1, "");
    }
    for (uint32_t i = 0; i < k->arg_type.n; i++) {
        ir_type t = (ir_type)k->arg_type.at[i];
        LLVMTypeRef type = t == T_BOOL ? g->i64 : g->type[t]; /* the low end of a 64-bit word */
        g->arg[i] = field(g, type, arg, i * sizeof(ir_bits));
        if (t == T_BOOL)
            g->arg[i] = LLVMBuildTrunc(g->b, g->arg[i], g->i1, "");
    }
}

static void store_fence(cg *g)
{
    if (g->streamed && g->cpu.x86)
        cg_call(g, "llvm.x86.sse.sfence", 0, NULL, 0, NULL);
}

static void emit_kernel(cg *g)
{
    LLVMBuilderRef b = g->b;
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(g->context), &g->ptr, 1, false);
    g->fn = LLVMAddFunction(g->module, "entry", type);
    cg_function_attributes(g, g->fn);
    /* Else registers of 64 bytes are spilled to addresses that are multiples of 16, across cache lines. */
    string_attribute(g, g->fn, "stackrealign", "");
    enum_attribute(g, g->fn, 1, "noalias");
    g->launch = LLVMGetParam(g->fn, 0);
    g->entry = LLVMAppendBasicBlockInContext(g->context, g->fn, "allocas");
    LLVMBasicBlockRef start = LLVMAppendBasicBlockInContext(g->context, g->fn, "start");
    cg_at(g, start);
    cg_ref first = field(g, g->i64, g->launch, offsetof(k_launch, first));
    cg_ref last = field(g, g->i64, g->launch, offsetof(k_launch, last));
    read_launch(g);
    LLVMBasicBlockRef before = cg_here(g), head = cg_block(g, "piece"), end = cg_block(g, "done"),
                      next = cg_block(g, "next");
    g->abandon = cg_block(g, "abandon");
    cg_cond(g, LLVMBuildICmp(b, LLVMIntSLT, first, last, ""), head, end);
    cg_at(g, head);
    g->piece = LLVMBuildPhi(b, g->i64, "piece");
    cg_list(g, g->k->body);
    cg_br(g, next);

    cg_at(g, g->abandon);
    cg_chain_abandon(g);
    cg_br(g, next);

    cg_at(g, next);
    cg_ref after = LLVMBuildNSWAdd(b, g->piece, cg_i64(g, 1), "");
    LLVMAddIncoming(g->piece, (cg_ref[]){first, after}, (LLVMBasicBlockRef[]){before, next}, 2);
    cg_cond(g, LLVMBuildICmp(b, LLVMIntSLT, after, last, ""), head, end);
    cg_at(g, end);
    store_fence(g);
    LLVMBuildRetVoid(b);
    cg_at(g, g->entry);
    cg_br(g, start);
}

/* --- compilation --- */

static char *copy_string(const char *s)
{
    size_t n = strlen(s) + 1;
    char *r = malloc(n);
    return r ? memcpy(r, s, n) : NULL;
}

#ifndef NDEBUG
static void verify(cg *g)
{
    char *message = NULL;
    bool bad = LLVMVerifyModule(g->module, LLVMReturnStatusAction, &message);
    const char *why = arena_printf(g->arena, "kernel %s makes invalid code: %s", g->k->name, message);
    LLVMDisposeMessage(message);
    if (bad)
        cg_fail(g, "%s", why);
}
#endif

static void optimise(cg *g, LLVMTargetMachineRef machine)
{
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error = LLVMRunPasses(g->module, passes, machine, options);
    LLVMDisposePassBuilderOptions(options);
    if (!error)
        return;
    char *message = LLVMGetErrorMessage(error);
    const char *why = arena_string(g->arena, message);
    LLVMDisposeErrorMessage(message);
    cg_fail(g, "%s", why);
}

static char *assembly_text(cg *g, LLVMTargetMachineRef machine)
{
    LLVMMemoryBufferRef buffer = NULL;
    char *message = NULL, *r = NULL;
    LLVMModuleRef copy = LLVMCloneModule(g->module);
    if (!LLVMTargetMachineEmitToMemoryBuffer(machine, copy, LLVMAssemblyFile, &message, &buffer)) {
        const char *s = arena_printf(g->arena, "%.*s", (int)LLVMGetBufferSize(buffer), LLVMGetBufferStart(buffer));
        r = copy_string(s);
        LLVMDisposeMemoryBuffer(buffer);
    }
    LLVMDisposeMessage(message);
    LLVMDisposeModule(copy);
    return r;
}

static void to_blob(cg *g, LLVMTargetMachineRef machine, emit_cpu_code *code)
{
    LLVMMemoryBufferRef object = NULL;
    char *message = NULL;
    const char *why = NULL;
    if (LLVMTargetMachineEmitToMemoryBuffer(machine, g->module, LLVMObjectFile, &message, &object)) {
        why = arena_string(g->arena, message);
    } else {
        cg_blob_make(LLVMGetBufferStart(object), LLVMGetBufferSize(object), g->arena, &code->blob, &why);
        LLVMDisposeMemoryBuffer(object);
    }
    LLVMDisposeMessage(message);
    if (g->why)
        longjmp(*g->failure, 2);
    if (!code->blob.bytes)
        cg_fail(g, "%s", why);
}

static void compile_module(cg *g, const host *h, const emit_cpu_options *options, LLVMTargetMachineRef machine,
                           emit_cpu_code *code)
{
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
    LLVMSetTarget(g->module, h->triple);
    LLVMSetModuleDataLayout(g->module, layout);
    LLVMDisposeTargetData(layout);
    cg_types(g);
    cg_scan(g);
    emit_kernel(g);
    cg_room_for_instructions(g);
#ifndef NDEBUG
    verify(g);
#endif
    optimise(g, machine);
    if (options && options->keep_ir) {
        char *s = LLVMPrintModuleToString(g->module);
        code->ir = copy_string(s);
        LLVMDisposeMessage(s);
    }
    if (options && options->keep_asm)
        code->assembly = assembly_text(g, machine);
    to_blob(g, machine, code);
}

static void release(emit_cpu_code *code)
{
    if (!code)
        return;
    free((void *)(uintptr_t)code->blob.bytes);
    free(code->ir);
    free(code->assembly);
    free(code);
}

/* One call of compile. */
typedef struct job {
    const kernel *k;
    const emit_cpu_options *options;
    host h;
    arena arena;
    jmp_buf failure;
    cg g;
    LLVMTargetMachineRef machine;
    emit_cpu_code *code; /* NULL after a failure, */
    const char *why;     /* which was this (here, in the arena, or static); NULL: no memory */
    char said[256];      /* by LLVM, giving up */
} job;

/* Without a handler an error ends the process. */
static void note_error(LLVMDiagnosticInfoRef d, void *env)
{
    cg *g = env;
    if (LLVMGetDiagInfoSeverity(d) != LLVMDSError || g->why)
        return;
    char *said = LLVMGetDiagInfoDescription(d);
    g->why = arena_string(g->arena, said);
    LLVMDisposeMessage(said);
}

static void open_state(job *j)
{
    arena *a = &j->arena;
    const kernel *k = j->k;
    cg *g = &j->g;
    g->cpu = features_of(&j->h);
    g->target_cpu = j->h.cpu;
    g->target_features = j->h.features;
    g->narrow = k->narrow ? k_find_indices(k, a) : NULL;
    g->value = arena_alloc(a, k->value.n * sizeof(*g->value));
    g->mem = arena_alloc(a, k->mem.n * sizeof(*g->mem));
    g->arg = arena_alloc(a, (k->arg_type.n + 1) * sizeof(*g->arg));
    g->context = LLVMContextCreate();
    LLVMContextSetDiagnosticHandler(g->context, note_error, g);
    g->module = LLVMModuleCreateWithNameInContext(k->name, g->context);
    g->b = LLVMCreateBuilderInContext(g->context);
    j->machine = LLVMCreateTargetMachine(j->h.target, j->h.triple, j->h.cpu, j->h.features, LLVMCodeGenLevelDefault,
                                         LLVMRelocPIC, LLVMCodeModelDefault);
}

static void close_state(job *j)
{
    cg *g = &j->g;
    if (g->b)
        LLVMDisposeBuilder(g->b);
    if (g->module)
        LLVMDisposeModule(g->module);
    if (g->context)
        LLVMContextDispose(g->context);
    if (j->machine)
        LLVMDisposeTargetMachine(j->machine);
    host_close(&j->h);
}

static void fail(job *j, const char *why)
{
    release(j->code);
    j->code = NULL;
    j->why = why;
}

/* All that calls LLVM. */
static void run(void *env)
{
    job *j = env;
    if (setjmp(j->failure)) {
        fail(j, j->g.why);
    } else {
        arena_on_failure(&j->arena, &j->failure);
        cg_room_for_statements(&j->g);
        if (host_open(&j->h, j->options)) {
            open_state(j);
            compile_module(&j->g, &j->h, j->options, j->machine, j->code);
        } else {
            fail(j, has_memory(&j->h) ? "this LLVM cannot make code for this machine" : NULL);
        }
    }
    close_state(j);
}

/* Why LLVM may not be called any more; NULL: it may. Static text. One process has one LLVM. */
static _Atomic(const char *) broken;

static void run_guarded(job *j)
{
    switch (guard_call(run, j, j->said, sizeof(j->said))) {
    case GUARD_DONE:
        return;
    case GUARD_NO_MEMORY:
        fail(j, NULL);
        atomic_store(&broken, "LLVM ran out of memory once, and cannot go on in this process");
        return;
    case GUARD_FATAL:
        fail(j, j->said);
        atomic_store(&broken, "LLVM gave up once, and cannot go on in this process");
        return;
    }
}

static emit_cpu_code *compile(const kernel *k, const emit_cpu_options *options, char **why)
{
    *why = NULL;
    if (k->lanes == 0 || k->lanes > 256 || (k->lanes & (k->lanes - 1))) {
        *why = copy_string("the number of lanes is not a power of two up to 256");
        return NULL;
    }
    job *j = calloc(1, sizeof(*j));
    emit_cpu_code *code = calloc(1, sizeof(*code));
    if (!j || !code || atomic_load(&broken)) {
        free(j);
        free(code);
        return NULL;
    }
    *j = (job){.k = k,
               .options = options,
               .code = code,
               .g = {.k = k, .arena = &j->arena, .lanes = k->lanes, .failure = &j->failure}};
    arena_init(&j->arena, NULL);
    run_guarded(j);
    code = j->code;
    *why = j->why ? copy_string(j->why) : NULL;
    cg_room_end(&j->g);
    arena_free(&j->arena);
    free(j);
    return code;
}

static const char *unusable(void)
{
    return atomic_load(&broken);
}

static emit_cpu_blob blob(const emit_cpu_code *code)
{
    return code->blob;
}

static const char *ir_text(const emit_cpu_code *code)
{
    return code->ir;
}

static const char *asm_text(const emit_cpu_code *code)
{
    return code->assembly;
}

static void release_text(char *why)
{
    free(why);
}

static const emit_cpu_module module_table = {
    .abi = EMIT_CPU_ABI,
    .identity = EMIT_CPU_IDENTITY,
    .compile = compile,
    .unusable = unusable,
    .blob = blob,
    .ir_text = ir_text,
    .asm_text = asm_text,
    .release = release,
    .release_text = release_text,
};

const emit_cpu_module *sinter_codegen_module(void);

static pthread_once_t once = PTHREAD_ONCE_INIT;

__attribute__((visibility("default"))) const emit_cpu_module *sinter_codegen_module(void)
{
    pthread_once(&once, guard_install);
    return &module_table;
}
