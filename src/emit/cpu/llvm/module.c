/* The code generator's module: kernel -> LLVM IR -> short pass pipeline -> object -> blob. One LLVM context and target
 * machine per call, so any number of threads may compile at once. What LLVM cannot go on after (guard.h) is a failure
 * of that call, and of all later ones. */
#include "emit/cpu/llvm/guard.h"
#include "emit/cpu/llvm/outline.h"
#include "emit/identity.h"
#include "kernel/narrow.h"
#include <llvm-c/Analysis.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/Target.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* No vectoriser, no unrolling, no library-call recognition: what we write is what runs. */
static const char passes[] = "function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg,loop-simplify,lcssa,"
                             "loop-mssa(licm),early-cse,instcombine<no-verify-fixpoint>,simplifycfg)";

/* Vectors of one lane become scalars first: as vectors they would be kept in registers of vectors, and of masks. */
static const char passes_alone[] = "function(sroa,scalarizer,early-cse,instcombine<no-verify-fixpoint>,"
                                   "simplifycfg,loop-simplify,lcssa,loop-mssa(licm),early-cse,"
                                   "instcombine<no-verify-fixpoint>,simplifycfg)";

static const char few_passes[] = "function(sroa,early-cse)";

struct emit_cpu_code {
    emit_cpu_blob blob;
    bool draft;
    char *ir, *assembly;
};

typedef struct effort { /* that a module is compiled with */
    LLVMTargetMachineRef machine;
    bool few_passes;
} effort;

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
    r.vbmi = r.avx512 && has_feature(f, "avx512vbmi");
    r.vbmi2 = r.avx512 && has_feature(f, "avx512vbmi2");
    r.gathers = r.x86 && has_feature(f, "avx2");
    r.avx = r.x86 && has_feature(f, "avx");
    r.bmi2 = r.x86 && has_feature(f, "bmi2");
    r.register_bytes = r.avx512 ? 64 : r.gathers ? 32 : 16;
    r.fma = has_feature(f, "fma");
    r.divides = strncmp(h->cpu, "znver", 5) == 0;
    r.looks_on = r.divides && h->cpu[5] < '5';
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

/* Pointers to more arrays than this are read where they are used: there are not so many registers. */
enum { MOST_POINTERS = 64 };

cg_ref cg_memory(cg *g, k_mem m)
{
    if (g->mem)
        return g->mem[m];
    const kernel *k = g->k;
    if (k->mem.at[m].space == K_GLOBAL)
        return field(g, g->ptr, g->mem_list, g->number[m] * sizeof(void *));
    cg_ref at = cg_i64(g, k->mem.at[m].offset);
    return LLVMBuildGEP2(g->b, g->i8, g->scratch, &at, 1, "");
}

cg_ref cg_argument(cg *g, uint32_t i)
{
    if (g->arg)
        return g->arg[i];
    ir_type t = (ir_type)g->k->arg_type.at[i];
    cg_ref x = field(g, t == T_BOOL ? g->i64 : g->type[t], g->arg_list,
                     i * sizeof(ir_bits)); /* the low end of a 64-bit word */
    return t == T_BOOL ? LLVMBuildTrunc(g->b, x, g->i1, "") : x;
}

static void number_globals(cg *g)
{
    uint32_t n = 0;
    g->number = arena_array(g->arena, *g->number, g->k->mem.n);
    for (k_mem m = 1; m < g->k->mem.n; m++)
        g->number[m] = g->k->mem.at[m].space == K_GLOBAL ? n++ : 0;
}

void cg_read_launch(cg *g, bool all)
{
    const kernel *k = g->k;
    g->mem_list = field(g, g->ptr, g->launch, offsetof(k_launch, mem));
    g->arg_list = field(g, g->ptr, g->launch, offsetof(k_launch, arg));
    g->scratch = field(g, g->ptr, g->launch, offsetof(k_launch, scratch));
    g->error = field(g, g->ptr, g->launch, offsetof(k_launch, error));
    cg_ref helpers = field(g, g->ptr, g->launch, offsetof(k_launch, helpers));
    g->report = field(g, g->ptr, helpers, offsetof(k_helpers, report));
    g->note = field(g, g->ptr, helpers, offsetof(k_helpers, note));
    g->await = g->k->chained ? field(g, g->ptr, helpers, offsetof(k_helpers, await)) : NULL;
    g->fuse = g->cpu.fma ? NULL : field(g, g->ptr, helpers, offsetof(k_helpers, fuse));
    memset(g->fused, 0, sizeof(g->fused));
    g->mem = g->arg = NULL;
    if (!all || k->mem.n + k->arg_type.n > MOST_POINTERS)
        return;
    cg_ref *mem = arena_array(g->arena, *mem, k->mem.n);
    cg_ref *arg = arena_array(g->arena, *arg, k->arg_type.n + 1);
    for (k_mem m = 1; m < k->mem.n; m++)
        mem[m] = cg_memory(g, m);
    for (uint32_t i = 0; i < k->arg_type.n; i++)
        arg[i] = cg_argument(g, i);
    g->mem = mem;
    g->arg = arg;
}

static void store_fence(cg *g)
{
    if (g->streamed && g->cpu.x86)
        cg_call(g, "llvm.x86.sse.sfence", 0, NULL, 0, NULL);
}

void cg_code_attributes(cg *g, cg_ref f)
{
    cg_function_attributes(g, f);
    /* Else registers of 64 bytes are spilled to addresses that are multiples of 16, across cache lines. */
    string_attribute(g, f, "stackrealign", "");
    enum_attribute(g, f, 1, "noalias");
}

/* One piece after the other. */
static void emit_pieces(cg *g, cg_ref first, cg_ref last)
{
    LLVMBuilderRef b = g->b;
    LLVMBasicBlockRef before = cg_here(g), head = cg_block(g, "piece"), end = cg_block(g, "done"),
                      next = cg_block(g, "next");
    g->abandon = next;
    cg_cond(g, LLVMBuildICmp(b, LLVMIntSLT, first, last, ""), head, end);
    cg_at(g, head);
    g->piece = LLVMBuildPhi(b, g->i64, "piece");
    cg_list(g, g->k->body);
    cg_br(g, next);
    cg_at(g, next);
    cg_ref after = LLVMBuildNSWAdd(b, g->piece, cg_i64(g, 1), "");
    LLVMAddIncoming(g->piece, (cg_ref[]){first, after}, (LLVMBasicBlockRef[]){before, next}, 2);
    cg_cond(g, LLVMBuildICmp(b, LLVMIntSLT, after, last, ""), head, end);
    cg_at(g, end);
}

static void emit_kernel(cg *g)
{
    LLVMBuilderRef b = g->b;
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(g->context), &g->ptr, 1, false);
    g->fn = LLVMAddFunction(g->module, "entry", type);
    cg_code_attributes(g, g->fn);
    g->launch = LLVMGetParam(g->fn, 0);
    g->entry = LLVMAppendBasicBlockInContext(g->context, g->fn, "allocas");
    LLVMBasicBlockRef start = LLVMAppendBasicBlockInContext(g->context, g->fn, "start");
    cg_at(g, start);
    cg_ref last = field(g, g->i64, g->launch, offsetof(k_launch, last));
    cg_read_launch(g, true);
    cg_open_frame(g);
    if (g->k->chained)
        cg_stages(g, &(cg_taking){.next = field(g, g->ptr, g->launch, offsetof(k_launch, next)),
                                  .together = field(g, g->i32, g->launch, offsetof(k_launch, together)),
                                  .last = last});
    else
        emit_pieces(g, field(g, g->i64, g->launch, offsetof(k_launch, first)), last);
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

/* `how`: what to do with the module. */
static void optimise(cg *g, const effort *how)
{
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    const char *all = g->k->lanes == 1 ? passes_alone : passes;
    if (g->k->code.n && !how->few_passes) /* foreign functions, where they are called */
        all = arena_printf(g->arena, "module(cgscc(inline),%s,globaldce)", all);
    LLVMErrorRef error = LLVMRunPasses(g->module, how->few_passes ? few_passes : all, how->machine, options);
    LLVMDisposePassBuilderOptions(options);
    if (!error)
        return;
    char *message = LLVMGetErrorMessage(error);
    const char *why = arena_string(g->arena, message);
    LLVMDisposeErrorMessage(message);
    cg_fail(g, "%s", why);
}

static void add_assembly(cg *g, const effort *how)
{
    LLVMMemoryBufferRef buffer = NULL;
    char *message = NULL;
    LLVMModuleRef copy = LLVMCloneModule(g->module);
    if (!LLVMTargetMachineEmitToMemoryBuffer(how->machine, copy, LLVMAssemblyFile, &message, &buffer)) {
        text_add_n(&g->assembly, LLVMGetBufferStart(buffer), LLVMGetBufferSize(buffer));
        LLVMDisposeMemoryBuffer(buffer);
    }
    LLVMDisposeMessage(message);
    LLVMDisposeModule(copy);
}

static void add_ir(cg *g)
{
    char *s = LLVMPrintModuleToString(g->module);
    text_add(&g->ir, s);
    LLVMDisposeMessage(s);
}

static bool is_fetch(LLVMValueRef i)
{
    LLVMValueRef f = LLVMIsACallInst(i) ? LLVMGetCalledValue(i) : NULL;
    size_t n = 0;
    return f && strncmp(LLVMGetValueName2(f, &n), "llvm.prefetch", 13) == 0;
}

static void add_digest(cg *g)
{
    LLVMMemoryBufferRef bits = LLVMWriteBitcodeToMemoryBuffer(g->module);
    unsigned instructions = 0, fetches = 0;
    for (LLVMValueRef f = LLVMGetFirstFunction(g->module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
                instructions++;
                fetches += is_fetch(i);
            }
    text_printf(&g->ir, "%u %u %016" PRIx64 "\n", instructions, fetches,
                hash_bytes(LLVMGetBufferStart(bits), LLVMGetBufferSize(bits), 0));
    LLVMDisposeMemoryBuffer(bits);
}

void cg_start_module(cg *g, const char *name)
{
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(g->machine);
    g->module = LLVMModuleCreateWithNameInContext(name, g->context);
    LLVMSetTarget(g->module, g->triple);
    LLVMSetModuleDataLayout(g->module, layout);
    LLVMDisposeTargetData(layout);
    cg_link_codes(g);
}

static void add_object(cg *g, const effort *how)
{
    LLVMMemoryBufferRef object = NULL;
    char *message = NULL;
    vec_reserve(g->arena, &g->objects, g->objects.n + 1);
    bool failed = LLVMTargetMachineEmitToMemoryBuffer(how->machine, g->module, LLVMObjectFile, &message, &object);
    const char *why = failed ? arena_string(g->arena, message) : NULL;
    LLVMDisposeMessage(message);
    if (!failed)
        vec_push(g->arena, &g->objects, object);
    if (g->why)
        longjmp(*g->failure, 2);
    if (failed)
        cg_fail(g, "%s", why);
}

/* --- how much trouble to take --- */

static LLVMTargetMachineRef new_machine(const cg *g, LLVMCodeGenOptLevel level)
{
    return LLVMCreateTargetMachine(g->target, g->triple, g->target_cpu, g->target_features, level, LLVMRelocPIC,
                                   LLVMCodeModelDefault);
}

static effort effort_for(cg *g)
{
    if (!cg_wants_draft(g))
        return (effort){g->machine, g->little_effort};
    if (!g->draft_machine)
        g->draft_machine = new_machine(g, LLVMCodeGenLevelNone);
    g->drafted = true;
    cg_fence_products(g);
    return (effort){g->draft_machine, true};
}

void cg_finish_module(cg *g)
{
    const effort how = effort_for(g);
    cg_room_for_instructions(g);
#ifndef NDEBUG
    verify(g);
#endif
    if (!g->only_digest)
        optimise(g, &how);
    if (g->only_digest)
        add_digest(g);
    else if (g->keep_ir)
        add_ir(g);
    if (g->keep_asm)
        add_assembly(g, &how);
    if (!g->only_digest)
        add_object(g, &how);
    LLVMDisposeModule(g->module);
    g->module = NULL;
    g->modules++;
}

static void to_blob(cg *g, emit_cpu_code *code)
{
    const char *why = NULL;
    cg_object *object = arena_array(g->arena, *object, g->objects.n);
    for (uint32_t i = 0; i < g->objects.n; i++)
        object[i] = (cg_object){LLVMGetBufferStart(g->objects.at[i]), LLVMGetBufferSize(g->objects.at[i])};
    if (!cg_blob_make(g->objects.n, object, g->arena, &code->blob, &why))
        cg_fail(g, "%s", why);
}

static void compile_kernel(cg *g, emit_cpu_code *code)
{
    cg_types(g);
    number_globals(g);
    cg_scan(g);
    cg_find_quiet(g);
    cg_find_asked(g);
    cg_find_parts(g);
    cg_room_for_statements(g);
    g->machine = new_machine(g, g->little_effort ? LLVMCodeGenLevelNone : LLVMCodeGenLevelDefault);
    cg_start_module(g, g->k->name);
    g->whole = g->module;
    emit_kernel(g);
    g->whole = NULL;
    cg_finish_module(g);
    code->draft = g->drafted;
    code->ir = g->keep_ir ? copy_string(g->ir.at) : NULL;
    code->assembly = g->keep_asm ? copy_string(g->assembly.at) : NULL;
    if (!g->only_digest)
        to_blob(g, code);
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
    size_t room;
    cg g;
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
    g->target = j->h.target;
    g->triple = j->h.triple;
    g->target_cpu = j->h.cpu;
    g->target_features = j->h.features;
    g->narrow = k->narrow ? k_find_indices(k, a) : NULL;
    g->value = arena_array(a, *g->value, k->value.n);
    g->ranked = arena_array(a, *g->ranked, k->value.n);
    g->keep_asm = j->options && j->options->keep_asm;
    g->only_digest = j->options && j->options->only_digest;
    g->keep_ir = g->only_digest || (j->options && j->options->keep_ir);
    g->may_draft = j->options ? j->options->draft : EMIT_NO_DRAFT;
    g->most_of_part = j->options ? j->options->part : 0;
    text_init(&g->ir, a);
    text_init(&g->assembly, a);
    g->context = LLVMContextCreate();
    LLVMContextSetDiagnosticHandler(g->context, note_error, g);
    g->b = LLVMCreateBuilderInContext(g->context);
}

static void close_state(job *j)
{
    cg *g = &j->g;
    LLVMDisposeBuilder(g->b); /* none is no mistake */
    if (g->module)
        LLVMDisposeModule(g->module);
    if (g->whole && g->whole != g->module)
        LLVMDisposeModule(g->whole);
    for (uint32_t i = 0; i < g->objects.n; i++)
        LLVMDisposeMemoryBuffer(g->objects.at[i]);
    if (g->context)
        LLVMContextDispose(g->context);
    if (g->machine)
        LLVMDisposeTargetMachine(g->machine);
    if (g->draft_machine)
        LLVMDisposeTargetMachine(g->draft_machine);
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
        cg_room_to_begin(&j->g);
        if (host_open(&j->h, j->options)) {
            open_state(j);
            compile_kernel(&j->g, j->code);
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
               .g = {.k = k, .arena = &j->arena, .lanes = k->lanes, .failure = &j->failure, .room = &j->room}};
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

static bool is_draft(const emit_cpu_code *code)
{
    return code->draft;
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
    .identity = EMIT_CPU_IDENTITY,
    .compile = compile,
    .unusable = unusable,
    .blob = blob,
    .is_draft = is_draft,
    .ir_text = ir_text,
    .asm_text = asm_text,
    .release = release,
    .release_text = release_text,
};

const emit_cpu_module *sinter_code_generator(void);

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void install(void)
{
    guard_install();
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
    LLVMInitializeNativeAsmParser(); /* for shifted.c */
}

__attribute__((visibility("default"))) const emit_cpu_module *sinter_code_generator(void)
{
    pthread_once(&once, install);
    return &module_table;
}
