/* Emitters: a verified, analysed, laid out kernel becomes code. */
#ifndef SN_EMIT_EMIT_H
#define SN_EMIT_EMIT_H

#include "kernel/kernel.h"
#include "kernel/launch.h"

/* Text for a GPU's language. The kernel function is named `entry`; arguments: one pointer to global memory per global,
 * one value per scalar argument, then (i64 first, i64 last, error record in global memory as i64[4]: site (its lower
 * half), element, value, bound; site 0 none). Groups take pieces first + group id, first + group id + groups ...; any
 * group count works. The threads of a group are given to the compiler as the macro SN_LOCAL, from 1 up. False and *why
 * if this kernel has no form in this language. */
typedef struct dialect dialect;       /* emit/text/dialect.h */
extern const dialect dialect_opencl;  /* OpenCL C 1.2 */
extern const dialect dialect_cuda;    /* CUDA C++ as NVRTC compiles it; emit_shared_bytes of dynamic shared memory */
uint32_t emit_gang(const dialect *d); /* widest gang that exchanges values there, for k_split, which must have run;
                                         SN_LOCAL is then a multiple of it */
/* A kernel with CHAIN must have all groups of a launch running at once. Pointers do not overlap. */
bool emit_text(const kernel *k, const dialect *d, const char *entry, text *out, const char **why);
/* Shared memory that its text declares, or wants at launch; a multiple of 8. */
uint32_t emit_shared_bytes(const kernel *k);

/* --- the CPU code generator, a module of its own (libsinter-llvm), opened at run time through this table --- */
typedef struct emit_cpu_code emit_cpu_code; /* machine code of one kernel; immutable */

/* Code and constants of one kernel with all relocations between them applied; nothing in it depends on its address. To
 * run it, copy it to the beginning of a page, make that executable, and call the k_entry at offset `entry`. What it
 * needs from outside comes through the launch record. */
typedef struct emit_cpu_blob {
    const void *bytes;
    size_t size, entry;
} emit_cpu_blob;

/* Code that is soon made: less is done to make it fast. */
typedef enum { EMIT_NO_DRAFT, EMIT_LARGE_AS_DRAFT /* what takes long to compile */, EMIT_ALL_AS_DRAFT } emit_draft;

typedef struct emit_cpu_options {
    const char *cpu, *features; /* NULL: the host's */
    bool keep_ir, keep_asm;     /* keep text for explain */
    emit_draft draft;           /* what may be a draft; such code is slower, and has the same results */
    bool only_digest; /* no machine code is made; the text is a line for each module, of what stands before LLVM's
                       * passes: how many instructions, how many of them fetch what is read soon, and a digest of its
                       * bitcode (printing takes several times as long) */
    uint32_t part;    /* most statements of a function, so that small kernels are taken apart, too; 0: what suits */
} emit_cpu_options;

typedef struct emit_cpu_module {
    /* Of its sources and LLVM, EMIT_CPU_IDENTITY of emit/identity.h. It stays the first member: these sources say how
     * kernels and the rest of this struct are laid out, so a library looks at nothing else of a generator that was
     * built from others. */
    const char *identity;
    /* Compiles; NULL and *why (malloc'd by the module, freed with release_text) on failure, *why NULL if there was too
     * little memory. Thread-safe, several at once. */
    emit_cpu_code *(*compile)(const kernel *k, const emit_cpu_options *options, char **why);
    emit_cpu_blob (*blob)(const emit_cpu_code *code);  /* belongs to `code` */
    bool (*is_draft)(const emit_cpu_code *code);       /* some of it is */
    const char *(*ir_text)(const emit_cpu_code *code); /* NULL unless kept */
    const char *(*asm_text)(const emit_cpu_code *code);
    void (*release)(emit_cpu_code *code);
    void (*release_text)(char *why);
    const char *(*unusable)(
        void); /* why nothing more can be compiled in this process (static); NULL: it can. What it made stays. */
} emit_cpu_module;

/* The one exported symbol of the module. */
typedef const emit_cpu_module *(*emit_cpu_module_get)(void);
#define EMIT_CPU_MODULE_SYMBOL "sinter_code_generator"

#endif
