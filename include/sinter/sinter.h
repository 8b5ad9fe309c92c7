/* Sinter: whole-array programs, fused at run time into a few vectorised, parallel kernels.
 *
 *     static sn_acc dotp(sn_acc xs, sn_acc ys) { return sn_fold(sn_add, 0, sn_zip_with(sn_mul, xs, ys)); }
 *     ...
 *     sn_program *dot = sn_compile(cx, "[n]f32, [n]f32 -> f32", dotp);
 *     status = sn_call(dot, sn_in(a, n), sn_in(b, n), sn_value(&r));
 *
 * Contents: 1 status and version, 2 contexts, 3 compiling, 4 calling, 5 arrays on the device, 6 explaining: how
 * programs are run. 7 values and functions, 8 array operations, 9 scalar operations: how they are written.
 *
 * Two kinds of values occur in programs: sn_acc, a computation of an array, and sn_scalar, a computation of a scalar or
 * a tuple of scalars. Both are handles, meaningful only while the function given to sn_compile runs, on its thread.
 * Build a value once and use it twice, and it is computed once. Mistakes (types, shapes, stale handles) are collected
 * and reported by sn_compile together, each with file, line and operation; operations on a bad value are silently bad.
 *
 * Operations are macros over functions named *_at, which take the place of the call first, so that a wrapper can hand
 * on its caller's. The macros need C11 (_Generic) or C++17; C numbers as operands need GNU C (gcc, clang) or C++:
 * elsewhere, write sn_mul(x, sn_f32(2)) for sn_mul(x, 2). In C++ functions may be lambdas, which take the place of
 * closures (lift.hpp). Extents, indices and sizes are int64_t; the innermost dimension is last. */
#ifndef SINTER_H
#define SINTER_H

#if defined(__GNUC__) && !defined(SN_SHOW_WARNINGS)
#pragma GCC system_header /* short messages: lift.h */
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define SN_API __attribute__((visibility("default")))
#else
#define SN_API
#endif

/* === 1. Status and version ====================================================================================== */

#define SN_VERSION_MAJOR 0
#define SN_VERSION_MINOR 2
#define SN_VERSION_PATCH 0
#define SN_VERSION (SN_VERSION_MAJOR * 10000 + SN_VERSION_MINOR * 100 + SN_VERSION_PATCH)
SN_API int sn_version(void); /* of the library that is running */

/* What became of a call. The numbers are fixed; the hundreds are the class. */
typedef enum sn_status {
    SN_OK = 0,
    /* the program is wrong; found by sn_compile */
    SN_BAD_SIGNATURE = 100, /* the signature does not parse */
    SN_BAD_PROGRAM = 101,   /* types, ranks, extents or handles do not fit; the message lists every mistake */
    SN_BAD_OPERATOR = 102,  /* sn_check_operator has found a counterexample */
    /* the arguments of a call are wrong; nothing has run */
    SN_BAD_ARGUMENT = 200, /* number, kind, type or rank of arguments */
    SN_BAD_EXTENT = 201,   /* one name, two extents; a negative extent; a result of another size */
    SN_NO_PROGRAM = 202,   /* the program is NULL: its sn_compile failed, and the message is still there */
    SN_BAD_HANDLE = 203,   /* dropped, freed or closed before: found where the environment has SINTER_DEBUG=handles */
    /* the data are wrong; found while running. The results of the call are not to be read */
    SN_OUT_OF_RANGE = 300,   /* an index outside an array */
    SN_DIVISION = 301,       /* an integer divided by zero, or the smallest by -1 */
    SN_EMPTY_FOLD = 302,     /* fold1 (also minimum, maximum, argmin, argmax) of no elements */
    SN_SHAPE_MISMATCH = 303, /* operands of different shapes */
    SN_TOO_LARGE = 304,      /* extents whose product does not fit */
    SN_BAD_SEGMENTS = 305,   /* segments of a negative length, or of other lengths in all than the array has elements */
    /* resources */
    SN_NO_MEMORY = 400,
    SN_NO_DEVICE = 401,     /* there is no such device, or it cannot be opened */
    SN_UNSUPPORTED = 402,   /* correct, but not on this device or not in this version */
    SN_FILE = 403,          /* a file cannot be read or written, or does not hold what it should */
    SN_DEVICE_FAILED = 404, /* a device or its driver failed; other devices go on working */
    SN_CANCELLED = 405,     /* the call was ended by sn_cancel */
    SN_FOREIGN_FAILED = 406, /* a function of sn_foreign failed, and gave no status of the 300s or 400s;
                                  or a source of sn_foreign_scalar does not compile */
    SN_INTERNAL = 500       /* a defect of Sinter */
} sn_status;

SN_API const char *sn_status_name(sn_status status); /* "SN_OUT_OF_RANGE"; static */

/* === 2. Contexts ================================================================================================ */

/* A device with its threads, memory and compiled kernels. Contexts are independent; one may be used by any number of
 * threads at once. The worker threads belong to the process and are shared by its contexts. */
typedef struct sn_context sn_context;

typedef enum sn_switch { SN_DEFAULT, SN_ON, SN_OFF } sn_switch;

/* Start from (sn_options){ .size = sizeof(sn_options) }: zero is the default of everything. */
typedef struct sn_options {
    size_t size;        /* sizeof(sn_options): later versions may have more */
    int threads; /* that compute, the caller's included; 0: SINTER_THREADS, else one for each core of this process */
    /* "cpu", "cuda", "opencl", the second of a kind "opencl:1", "interpreter" (the reference); "auto", NULL: the best
     * there is. The environment variable SINTER_DEVICE wins, except over "interpreter". */
    const char *device;
    sn_switch checks;   /* index and division checks that are not provably true; default on */
    sn_switch contract; /* forming fma inside one user function; default on */
    sn_switch fusion;   /* default on; off: every operation by itself, for comparison */
    void *env;          /* for message, and progress */
    /* also gets every message, on the thread that failed */
    void (*message)(void *env, const char *text);
    /* for comparison, as fusion is: */
    sn_switch simplify;   /* default on; off: scalar terms stay as they are written */
    sn_switch cost_model; /* default on; off: what is used once is always delayed, what is used twice never */
    /* Is told, after each launch of a kernel, how many launches the call has had, of how many that are known so far:
     * folds of long rows, sorts and loops find out that there are more. On the thread that calls; on devices with queues
     * launches are put in, not done. It may call sn_cancel. */
    void (*progress)(void *env, int64_t done, int64_t known);
    /* On the CPU. Default on: what takes long to compile is at first compiled with less effort where it has little to do,
     * and again when it has done more. Off: every kernel once, with full effort. Results are the same.
     * SINTER_DRAFTS=off in the environment wins. */
    sn_switch drafts;
} sn_options;

/* Options may be NULL and are copied. Returns NULL if no device can be opened; options->message says why. */
SN_API sn_context *sn_open(const sn_options *options);
/* Ends the context; NULL is ignored. Its programs, arrays and pending calls should have been given back: what is held
 * still is named, with the place where it was made, by options->message, else on stderr. It stays good, and keeps the
 * context's memory until the last of it is given back, but nothing new is made. Using a handle that was given back is
 * not defined; with SINTER_DEBUG=handles in the environment it is SN_BAD_HANDLE (or NULL, 0, -1), and is said
 * (docs/errors.md). */
SN_API void sn_close(sn_context *context);
/* The message of the calling thread's last failed call in this context, "" if none failed; valid until that thread's
 * next failure. Build errors are one line each: "file:line: operation: what is wrong". Never NULL. */
SN_API const char *sn_message(const sn_context *context);

typedef struct sn_site { /* a place in the user's program; file is copied by whoever keeps it */
    const char *file;
    int line;
} sn_site;

/* === 3. Compiling =============================================================================================== */

/* A compiled program: immutable, any number of threads may call it at once. */
typedef struct sn_program sn_program;

/* Scalar types. The numbers are fixed. */
typedef enum sn_type {
    SN_BOOL = 1, /* one byte, 0 or 1 */
    SN_I8,
    SN_I16,
    SN_I32,
    SN_I64,
    SN_U8,
    SN_U16,
    SN_U32,
    SN_U64,
    SN_F32,
    SN_F64,
    SN_CHAR /* a code point, 32 bits */
} sn_type;

/* Compiles the C function f, of as many arrays as the signature has parameters (sn_acc, at most 6), returning sn_acc
 * (sn_results(...) for several). The signature names types, ranks and extents:
 *     "[n,m]f32, f32, [n](f32, i32) -> [m]f64"    parameters -> results; no brackets: a single value, rank 0
 * One name is one extent, checked at every call; a number is a constant extent; a name that only results have stands
 * for whatever extent they get. (f32, i32) is a tuple: one array of pairs, passed as two arrays. {x: f32, id: i32} is a
 * tuple with names for its components, for sn_field. Both may be nested, and both may be passed as arrays of C structs.
 * Calls f once, on this thread; the functions that f hands to operations are called as often as these like. Returns
 * NULL after an error: sn_message lists all of them. Free with sn_drop. Thread-safe. */
#define sn_compile(context, signature, f) sn_compile_at(SN_HERE, context, signature, SN_BODY(f))
/* The same for f(env, number of parameters, parameters): any number of them, and an environment of the caller's. */
#define sn_compile_env(context, signature, f, env) sn_compile_at(SN_HERE, context, signature, sn_body_env(f, env))

/* The program that a text describes: what sn_explain(program, "term") gives, perhaps edited (docs/text-forms.md). The
 * text may come from anybody: whatever it is, the program is right, or NULL, with the line and column of the first
 * mistake in the message; its indices are checked unless they are seen to be right. (As any program, it may run without
 * end, or out of memory.) Its arguments have extents of at most 2^48. Free with sn_drop. Thread-safe. */
#define sn_parse_program(context, text) sn_parse_program_at(SN_HERE, context, text)

/* Writes a program and its kernels to files, for programs that have no compiler with them (CPU, ELF): PREFIX.o, data to
 * be linked, and PREFIX.h, which declares NAME_open(context), the program; NAME is the prefix without its folders, a name
 * of C's. What is linked besides is the library alone, which opens no code generator for kernels that come along: those
 * that calls may need, whatever the extents of their arguments, and those that calls have needed so far. (Kernels that
 * are made for small extents, arrays of structs used where they are, and arrays that are given away, are in it only if
 * such a call has been made; without them small extents take the general kernels, and others are compiled, or the
 * program is interpreted.) Data of sn_use are in the file; of sn_foreign the fallback is. SN_FILE: it cannot be written.
 *
 * Code is for a set of instructions, "x86-64-v2", "x86-64-v3" (AVX2), "x86-64-v4" (AVX-512), or "aarch64". sn_export
 * writes the one that this processor has; sn_export_for those in the list `sets` ("x86-64-v2 x86-64-v4", "all"; NULL:
 * this processor's), whatever this processor has. The program takes the best that the processor has on which it runs;
 * where that is none, kernels are compiled, or the program is interpreted. Bits of results are the same.
 *
 * From "opencl" and "cuda": the source of each kernel that recorded calls (sn_profile) have launched, PREFIX.0.cl or .cu
 * and so on; PREFIX.json, which says what each launch was given, and what a call did, with its loops and choices; and
 * PREFIX.c and PREFIX.h, which do that again for other data of the same extents, with the driver's library alone. Where
 * that cannot be told (sorts, extents that depend on data), a program of loops or choices is SN_UNSUPPORTED, and others
 * have no PREFIX.c. */
#define sn_export(program, prefix) sn_export_at(SN_HERE, program, prefix)
SN_API sn_status sn_export_at(sn_site at, sn_program *program, const char *prefix);
#define sn_export_for(program, prefix, sets) sn_export_for_at(SN_HERE, program, prefix, sets)
SN_API sn_status sn_export_for_at(sn_site at, sn_program *program, const char *prefix, const char *sets);
/* The program of an exported object, which stays where it is as long as the context; NULL after an error. It is trusted:
 * its code is run. What PREFIX.h calls. */
#define sn_import(context, data, bytes) sn_import_at(SN_HERE, context, data, bytes)
SN_API sn_program *sn_import_at(sn_site at, sn_context *context, const void *data, size_t bytes);

/* Frees a program that no call uses any more; NULL is ignored. */
SN_API void sn_drop(sn_program *program);

/* === 4. Calling ================================================================================================= */

typedef struct sn_array sn_array; /* an array on the device, section 5 */

typedef enum sn_arg_kind {
    SN_ARG_IN = 1,
    SN_ARG_INTO,
    SN_ARG_VALUE,
    SN_ARG_HELD,
    SN_ARG_GIVE,
    SN_ARG_KEEP,
    SN_ARG_STRUCTS,
    SN_ARG_UPTO
} sn_arg_kind;

/* One argument of a call. A value: nothing to free. Host memory is borrowed until the call returns. */
typedef struct sn_arg {
    sn_arg_kind kind;
    sn_type type;
    int rank;
    int64_t extent[8];     /* outermost first */
    const int64_t *stride; /* sn_strided: bytes, one for each dimension; NULL: contiguous and row-major. sn_upto and
                              sn_structs_upto: where the extents of the result are written */
    size_t size;           /* sn_structs: of one struct, in bytes; sn_upto: elements that there is memory for */
    union {
        const void *from;
        void *to;
        sn_array *array;
        sn_array **keep;
    } u;
} sn_arg;

/* sn_in(pointer, extents...): host memory to read, contiguous and row-major; sn_in(a, rows, columns). */
#define sn_in(...) SN_HOST("sn_in", "a single value is sn_value(pointer)", SN_ARG_IN, SN_READ_, __VA_ARGS__)
/* sn_strided(pointer, rank, extents, strides): host memory to read whose elements lie `strides` bytes apart, one stride
 * for each dimension, of either sign, 0 to repeat: columns, transposed and reversed arrays, one field of C structs. Both
 * lists are const int64_t *, outermost first, borrowed until the call returns, as the memory is. What is not contiguous,
 * row-major and aligned to its type is copied for the call, and counted (sn_counters.copies). */
#define sn_strided(pointer, rank, extents, strides)                                                                    \
    sn_strided_of(SN_ELEMENT_("sn_strided", *(pointer)), pointer, rank, extents, strides)
SN_API sn_arg sn_strided_of(sn_type type, const void *pointer, int rank, const int64_t *extents,
                            const int64_t *strides);
/* sn_into(pointer, extents...): host memory that a result is written to; it has exactly these extents. */
#define sn_into(...) SN_HOST("sn_into", "a single value is sn_value(pointer)", SN_ARG_INTO, SN_WRITTEN_, __VA_ARGS__)
/* sn_upto(pointer, capacity, extents): host memory for at most so many elements that a result is written to, whose
 * extents may be known only when the program has run (sn_filter). They go to `extents`, an int64_t * with room for one
 * of each dimension: for rank 1 the address of an int64_t. If the memory is too small the call fails (SN_BAD_EXTENT),
 * *extents says what is needed, and arrays given with sn_give are still the caller's. What lies behind the result stays
 * as it was. */
#define sn_upto(pointer, capacity, extents)                                                                            \
    sn_upto_of((sn_type)((int)SN_ELEMENT_("sn_upto", *(pointer)) + SN_WRITTEN_(pointer)), pointer, capacity, extents)
SN_API sn_arg sn_upto_of(sn_type type, void *pointer, int64_t capacity, int64_t *extents);
/* sn_value(pointer): one value (rank 0), read where it stands for a parameter, written where it stands for a result. */
#define sn_value(pointer)                                                                                              \
    ((sn_arg){.kind = SN_ARG_VALUE, .type = SN_ELEMENT_("sn_value", *(pointer)), .u = {.from = (pointer)}})
/* sn_structs(pointer, extents...): an array of C structs, read where it stands for a parameter, written where it stands
 * for a result, a tuple or struct of the signature: [n]{x: f32, y: f32, id: i32} is an array of struct { float x, y;
 * int32_t id; }. Members have the types and the order of the signature, nested tuples are nested structs. It takes the
 * place of one argument a component. On the CPU, loops that take elements in order read and write fields where they
 * are; where they do not, and on other devices, the structs are converted (copied) from and to arrays:
 * sn_counters.conversions. Bytes that belong to no member are not written. sn_struct(pointer): a single one, rank 0.
 * Structs with members of other types or in another order: sn_strided(&p->x, ...), one a component. */
#define sn_structs(...) SN_PASTE(SN_STRUCTS_, SN_EXTENTS(__VA_ARGS__))(__VA_ARGS__)
#define sn_struct(pointer)                                                                                             \
    ((sn_arg){.kind = SN_ARG_STRUCTS, .size = SN_STRUCT_SIZE_(*(pointer)), .u = {.from = (pointer)}})
/* sn_upto for results in structs: memory for at most `capacity` of them. */
#define sn_structs_upto(pointer, capacity, extents)                                                                    \
    sn_structs_upto_of(SN_STRUCT_SIZE_(*(pointer)), pointer, capacity, extents)
SN_API sn_arg sn_structs_upto_of(size_t size, void *pointer, int64_t capacity, int64_t *extents);
SN_API sn_arg sn_held(sn_array *array);  /* an array on the device, read */
/* The same, given away: freed, unless the status is in the 200s. A result of the same type and extents that goes to
 * sn_keep takes its memory, where the program's last loop reads each of its elements at its own place only, and nothing
 * reads it otherwise. */
SN_API sn_arg sn_give(sn_array *array);
SN_API sn_arg sn_keep(sn_array **array); /* a result that stays on the device; *array is set, free it with sn_free */

/* Runs the program and waits. Arguments are those of the parameters, then those of the results, in the order of the
 * signature; a tuple takes one argument per component, or an array of structs. Input and result memory must not overlap
 * (but for structs, which are converted then). After an error, the results are not to be read, and nothing was kept.
 * Thread-safe, also for one program. */
#define sn_call(program, ...)                                                                                          \
    sn_call_at(SN_HERE, program, (int)(sizeof((sn_arg[]){__VA_ARGS__}) / sizeof(sn_arg)), (sn_arg[]){__VA_ARGS__})
SN_API sn_status sn_call_at(sn_site at, sn_program *program, int count, const sn_arg *arguments);
SN_API sn_status sn_call_n(sn_program *program, int count, const sn_arg *arguments); /* the same of no known place */

/* The same in two steps: sn_start returns while the program runs, or is queued on its device; sn_wait waits for it, hands over
 * its results and gives its status. Until then all memory and arrays that are its arguments stay as they are, pointers of
 * sn_keep included (the list itself is copied). Every pending call is waited for exactly once, by any thread, before its
 * program is dropped. sn_start never returns NULL: what is wrong with the arguments is said by sn_wait, too. Any number of
 * calls may be pending, in no particular order. Thread-safe. */
typedef struct sn_pending sn_pending;
#define sn_start(program, ...)                                                                                         \
    sn_start_at(SN_HERE, program, (int)(sizeof((sn_arg[]){__VA_ARGS__}) / sizeof(sn_arg)), (sn_arg[]){__VA_ARGS__})
SN_API sn_pending *sn_start_at(sn_site at, sn_program *program, int count, const sn_arg *arguments);
SN_API sn_pending *sn_start_n(sn_program *program, int count, const sn_arg *arguments);
SN_API sn_status sn_wait(sn_pending *pending); /* NULL: SN_BAD_ARGUMENT */
/* The call ends soon, between two launches or two rounds of a loop, unless it is over before; sn_wait then gives
 * SN_CANCELLED (and must be called). NULL is ignored. */
SN_API void sn_cancel(sn_pending *pending);
/* The same of all calls of the context that are in progress now, also those of sn_call: SN_CANCELLED. Later calls are
 * not concerned. For any thread, and for signal handlers. NULL is ignored. */
SN_API void sn_cancel_calls(sn_context *context);

/* === 5. Arrays on the device ==================================================================================== */

/* Arrays are immutable and may be read by any number of threads; whoever holds one frees it once. They have one scalar
 * type: an array of pairs is two of them. */

/* A copy of sn_in(...), sn_strided(...) or sn_value(...); NULL after an error. */
SN_API sn_array *sn_upload(sn_context *context, sn_arg from);
SN_API sn_array *sn_upload_at(sn_site at, sn_context *context, sn_arg from);
SN_API sn_status sn_read(const sn_array *array, void *to, size_t bytes); /* all elements; bytes: exactly sn_bytes */
SN_API sn_status sn_read_at(sn_site at, const sn_array *array, void *to, size_t bytes);
#define sn_upload(...) sn_upload_at(SN_HERE, __VA_ARGS__) /* so that messages have the place of the call */
#define sn_read(...) sn_read_at(SN_HERE, __VA_ARGS__)
SN_API sn_type sn_array_type(const sn_array *array);
SN_API int sn_array_rank(const sn_array *array);
SN_API int64_t sn_array_extent(const sn_array *array, int dimension); /* 0 outermost; -1 if there is none */
SN_API size_t sn_bytes(const sn_array *array);
SN_API void sn_free(sn_array *array); /* NULL is ignored */
/* The elements as text, as NumPy prints them: brackets for each dimension, columns aligned, of more than 1000 elements
 * the first and the last three along each dimension. Writes at most `size` bytes, a 0 at the end included, and gives
 * the length of the whole text, as snprintf does; -1 after an error (sn_message). From the device comes only what is
 * shown. Thread-safe. sn_print writes it to stdout, with a line end. */
SN_API int64_t sn_format(const sn_array *array, char *to, size_t size);
SN_API int64_t sn_format_at(sn_site at, const sn_array *array, char *to, size_t size);
SN_API sn_status sn_print(const sn_array *array);
SN_API sn_status sn_print_at(sn_site at, const sn_array *array);
#define sn_format(...) sn_format_at(SN_HERE, __VA_ARGS__)
#define sn_print(...) sn_print_at(SN_HERE, __VA_ARGS__)

/* An array from a file in NumPy's .npy format, 1.0 to 3.0: bool, i1 to i8, u1 to u8, f4, f8, and U1 (char); either byte
 * order; Fortran order is brought to row-major order by a copy, which is counted. NULL after an error: the message
 * names the file and what is wrong with it. Nothing in the file is believed before it is checked. */
SN_API sn_array *sn_load_npy(sn_context *context, const char *path);
SN_API sn_array *sn_load_npy_at(sn_site at, sn_context *context, const char *path);
/* Writes such a file (1.0, row-major, this machine's byte order). SN_FILE, with a message, if that fails; what the file
 * holds is then undefined. */
SN_API sn_status sn_save_npy(const sn_array *array, const char *path);
SN_API sn_status sn_save_npy_at(sn_site at, const sn_array *array, const char *path);
#define sn_load_npy(...) sn_load_npy_at(SN_HERE, __VA_ARGS__)
#define sn_save_npy(...) sn_save_npy_at(SN_HERE, __VA_ARGS__)

/* === 6. Explaining ============================================================================================== */

/* What became of a program, as text: form is "edges" (NULL: for each edge between two operations whether it fused, else
 * why not), "unfused" (only those that did not), "clusters" (what shares a loop), "fused" (edges and clusters), "term",
 * "kernels", "plan", and the generated code: "llvm", "asm", "opencl", "cuda" or "ptx", as the device has it. "passes"
 * lists what makes one of these from another, in order; "after:NAME" is the program after one of them. These are for
 * people and may change; what is alike, as in a loop of C, is said once. "json" is for programs: words may be
 * added, none goes. "dot" draws with Graphviz. "profile" says what calls spent their time on, where they are recorded
 * (sn_profile), beside what the machine can do, which the first question in a context measures (a tenth of a second);
 * "profile-json" is the same for programs. The text belongs to the program. NULL for an unknown form or when memory
 * runs out; sn_message says which. Thread-safe. */
SN_API const char *sn_explain(sn_program *program, const char *form);
SN_API const char *sn_explain_at(sn_site at, sn_program *program, const char *form);
#define sn_explain(...) sn_explain_at(SN_HERE, __VA_ARGS__)
/* From now on the program's calls are recorded for sn_explain(program, "profile"), and what was recorded before is
 * forgotten; `on` false: they are recorded no more, and what was stays to be asked for. With SINTER_PROFILE=1 in the
 * environment when a context is opened its programs are recorded from the beginning. Calls take a microsecond longer;
 * on devices with memory of their own each launch and copy is waited for. Thread-safe; a call that is under way is
 * recorded or not as it was when it began. */
SN_API void sn_profile(sn_program *program, bool on);

/* What a context has done since it was opened, all threads together: the difference of two readings is what was done
 * between them. */
typedef struct sn_counters {
    uint64_t calls;                        /* that passed the checks of their arguments */
    uint64_t launches;                     /* of kernels */
    uint64_t compiled, loaded;             /* kernels: generated; found on disk */
    uint64_t blocks, block_bytes;          /* of memory taken for arrays and intermediate results, */
    uint64_t allocations, allocated_bytes; /* those of them that were not used before: from the system */
    uint64_t copies, copied_bytes;         /* arrays written to another place as they are: by sn_upload and sn_read, for
                                              strided arguments, for results that are parameters or given twice, and for
                                              results of sn_filter in memory with less, or much more, room than for all */
    uint64_t conversions, converted_bytes; /* those of them that were taken from, or put into, C structs */
    uint64_t spare[4];                     /* 0; later versions may have more */
} sn_counters;
SN_API sn_counters sn_counts(const sn_context *context); /* thread-safe */

/* === 7. Values and functions ==================================================================================== */

#ifdef __cplusplus
namespace sn {
struct scalar_operand;
struct component_operand;
} // namespace sn
#endif
typedef struct sn_scalar { /* a computation of a scalar or a tuple of scalars, nested at will */
    uint64_t bits;
#ifdef __cplusplus
    sn_scalar operator[](const sn::component_operand &component) const; /* #include <sinter/operators.hpp> */
#endif
} sn_scalar;
typedef struct sn_acc { /* a computation of an array */
    uint64_t bits;
#ifdef __cplusplus
    sn_scalar operator[](const sn::scalar_operand &index) const; /* #include <sinter/operators.hpp> */
#endif
} sn_acc;

/* A scalar function. Wherever one is asked for, a C function of sn_scalar (1 to 9 parameters, also a primitive such as
 * sn_add) may be given, or a value of this type. Functions run while the program is built, perhaps repeatedly.
 * Wherever a function is called with one k-tuple, it may have one parameter (the tuple) or k (its components); so a
 * function of a two-dimensional index may be f(index) or f(row, column). Scalar functions may read arrays (sn_index),
 * but not compute them. */
typedef struct sn_fn {
    void (*call)(void);
    void *env;
    int parameters; /* -1: any number */
    int flags;
} sn_fn;

/* A function together with an environment: f(env, x), (env, x, y), ... up to 4, or f(env, int count, const sn_scalar
 * *x) for any number. The environment is used only while building. An index of several dimensions may be as many
 * parameters, but is one x, a tuple, for a function of any number. */
#define sn_closure(f, env) SN_CLOSURE(f, env)
/* f, declared to commute: f(x, y) == f(y, x). Folds of it may be reordered. Primitives need no declaration. */
#define sn_commutative(f) sn_commutative_of(SN_FN(f))
/* f, declared to be used as an associative function although it does not look like one: folds of it do not warn. */
#define sn_associative(f) sn_associative_of(SN_FN(f))
/* Tries whether f is what folds and scans ask for: associative; commuting, if it is declared so (sn_commutative); and,
 * where an initial value is given, whether that is neutral on both sides. On some thousand triples of values, small
 * whole numbers first, then special ones (0, -0, 1, -1, the least and the greatest, infinities, NaN), by the reference
 * interpreter. `types` is an element's, as signatures have it: "f32", "(f32, i64)"; the initial value is sn_value(&x),
 * one for each component, or sn_struct(&x). SN_BAD_OPERATOR: the message has the values for which it does not hold. Floats
 * may differ by what rounding does, but not in NaNs, infinities and signs of zero. Thread-safe.
 *     sn_check_operator(cx, "i32", sn_max);   sn_check_operator(cx, "f32", sn_add, sn_value(&zero)); */
#define sn_check_operator(context, types, ...)                                                                         \
    SN_PASTE(SN_CHECK_, SN_ONE_OR_MORE(__VA_ARGS__))(context, types, __VA_ARGS__)
/* z: a list of `count` arguments, none where count is 0. */
SN_API sn_status sn_check_operator_at(sn_site at, sn_context *context, const char *types, sn_fn f, int count,
                                      const sn_arg *z);

/* The function given to sn_compile. */
typedef struct sn_body {
    void (*call)(void);
    void *env;
    int parameters; /* -1: any number */
    int flags;
} sn_body;
SN_API sn_program *sn_compile_at(sn_site at, sn_context *context, const char *signature, sn_body body);
SN_API sn_program *sn_parse_program_at(sn_site at, sn_context *context, const char *text);

/* --- literals and tuples --- */

SN_API sn_scalar sn_bool(bool x);
SN_API sn_scalar sn_i8(int8_t x);
SN_API sn_scalar sn_i16(int16_t x);
SN_API sn_scalar sn_i32(int32_t x);
SN_API sn_scalar sn_i64(int64_t x);
SN_API sn_scalar sn_u8(uint8_t x);
SN_API sn_scalar sn_u16(uint16_t x);
SN_API sn_scalar sn_u32(uint32_t x);
SN_API sn_scalar sn_u64(uint64_t x);
SN_API sn_scalar sn_f32(float x);
SN_API sn_scalar sn_f64(double x);
SN_API sn_scalar sn_char(uint32_t code_point);
/* A C number where an sn_scalar is expected is a literal of the type of what it meets (sn_mul(x, 2) with x f32), if
 * that type has exactly this value, else an error; where it meets nothing, of its own type. 0.1 is not an f32, 0.1f is.
 */

/* A tuple of 2 to 16 scalars or tuples; its components; the first and the second. sn_get, sn_fst and sn_snd also take
 * an array of tuples, and give the array of that component. */
#define sn_tuple(...) sn_tuple_at(SN_HERE, SN_SCALARS(__VA_ARGS__))
#define sn_get(t, i) SN_GET(t, i)
SN_API sn_scalar sn_tuple_at(sn_site at, int count, const sn_scalar *component);
SN_API sn_scalar sn_get_at(sn_site at, sn_scalar tuple, int component);
SN_API sn_acc sn_component_at(sn_site at, sn_acc array_of_tuples, int component);
SN_API sn_scalar sn_fst(sn_scalar tuple);
SN_API sn_scalar sn_snd(sn_scalar tuple);

/* Structs are tuples whose components have names: sn_field(p, x) is the component named x, of a scalar or an array;
 * sn_with(p, x, value) is p with another x; sn_record("x y", a, b) is sn_tuple(a, b) with names. Names come from the
 * signature, [n]{x: f32, y: f32}, too. Where types are compared, a tuple is as good as a struct. */
#define sn_field(t, name) SN_FIELD(t, #name)
#define sn_with(t, name, value) sn_with_at(SN_HERE, t, #name, SN_LIFT(value))
#define sn_record(names, ...) sn_record_at(SN_HERE, names, SN_SCALARS(__VA_ARGS__))
SN_API sn_scalar sn_field_at(sn_site at, sn_scalar t, const char *name);
SN_API sn_acc sn_array_field_at(sn_site at, sn_acc a, const char *name);
SN_API sn_scalar sn_with_at(sn_site at, sn_scalar t, const char *name, sn_scalar value);
SN_API sn_scalar sn_record_at(sn_site at, const char *names, int count, const sn_scalar *component);

/* --- shapes: one i64 for rank 1, a tuple of them for a higher rank, outermost first --- */

/* The shape with these 1 to 8 extents: C integers, or integer scalars made of constants, of extents, and of arrays of
 * rank 0 (sn_the): parameters, or what the program computes, so that it is known only when that has run. */
#define sn_shape(...) sn_shape_at(SN_HERE, SN_SCALARS(__VA_ARGS__))
#define sn_shape_of(a) sn_shape_of_at(SN_HERE, SN_ARRAY(a)) /* the shape of an array; () for rank 0 */
#define sn_extent(a, dimension)                                                                                        \
    sn_extent_at(SN_HERE, SN_ARRAY(a), dimension)   /* one extent, i64; dimension 0 is outermost */
#define sn_size(a) sn_size_at(SN_HERE, SN_ARRAY(a)) /* number of elements, i64 */
SN_API sn_scalar sn_shape_at(sn_site at, int rank, const sn_scalar *extent);
SN_API sn_scalar sn_shape_of_at(sn_site at, sn_acc a);
SN_API sn_scalar sn_extent_at(sn_site at, sn_acc a, int dimension);
SN_API sn_scalar sn_size_at(sn_site at, sn_acc a);

/* The shape that two shapes of one rank share: the smaller extent of each dimension. */
#define sn_intersect(shape1, shape2) sn_intersect_at(SN_HERE, SN_LIFT(shape1), SN_LIFT(shape2))
/* An index in a shape to its row-major position (i64), and back. Nothing is checked. */
#define sn_to_index(shape, index) sn_to_index_at(SN_HERE, SN_LIFT(shape), SN_LIFT(index))
#define sn_from_index(shape, position) sn_from_index_at(SN_HERE, SN_LIFT(shape), SN_LIFT(position))
SN_API sn_scalar sn_intersect_at(sn_site at, sn_scalar shape1, sn_scalar shape2);
SN_API sn_scalar sn_to_index_at(sn_site at, sn_scalar shape, sn_scalar index);
SN_API sn_scalar sn_from_index_at(sn_site at, sn_scalar shape, sn_scalar position);

/* Several results of a program, 1 to 16, in the order of the signature; results among them stand for their parts. */
#define sn_results(...) sn_results_at(SN_HERE, SN_ARRAYS(__VA_ARGS__))
SN_API sn_acc sn_results_at(sn_site at, int count, const sn_acc *result);

/* === 8. Array operations ======================================================================================== */

/* --- bring in. A shape is an sn_scalar (sn_shape(n, m), sn_shape_of(a)) or a C integer for rank 1 --- */

/* sn_use(pointer, extents...): C data, copied now, as part of the program; sn_use(table, 256). Kernels do not depend on
 * what is in it, but the program does: data that change between calls are parameters. */
#define sn_use(...)                                                                                                    \
    sn_use_at(SN_HERE, SN_HOST("sn_use", "an array of a single value is sn_unit(x)", SN_ARG_IN, SN_READ_, __VA_ARGS__))
SN_API sn_acc sn_use_at(sn_site at, sn_arg from);
/* The array of this shape with f(index) at each index. */
#define sn_generate(shape, f) sn_generate_at(SN_HERE, SN_LIFT(shape), SN_FN(f))
/* The array of this shape with x everywhere. */
#define sn_fill(shape, x) sn_fill_at(SN_HERE, SN_LIFT(shape), SN_LIFT(x))
/* [n]i64: 0, 1, ... n - 1. */
#define sn_iota(n) sn_iota_at(SN_HERE, SN_LIFT(n))
/* x, x + 1, x + 2, ... in row-major order; x, x + step, x + 2 step, ...: numbers of x's type, each made by itself. */
#define sn_enum_from_n(shape, x) sn_enum_from_n_at(SN_HERE, SN_LIFT(shape), SN_LIFT(x))
#define sn_enum_from_step_n(shape, x, step) sn_enum_from_step_n_at(SN_HERE, SN_LIFT(shape), SN_LIFT(x), SN_LIFT(step))
/* [0]type: no elements. */
#define sn_empty(type) sn_empty_at(SN_HERE, type)
/* The array of rank 0 that holds x; the element of an array of rank 0. */
#define sn_unit(x) sn_unit_at(SN_HERE, SN_LIFT(x))
#define sn_the(a) sn_the_at(SN_HERE, SN_ARRAY(a))
SN_API sn_acc sn_generate_at(sn_site at, sn_scalar shape, sn_fn f);
SN_API sn_acc sn_fill_at(sn_site at, sn_scalar shape, sn_scalar x);
SN_API sn_acc sn_iota_at(sn_site at, sn_scalar n);
SN_API sn_acc sn_enum_from_n_at(sn_site at, sn_scalar shape, sn_scalar x);
SN_API sn_acc sn_enum_from_step_n_at(sn_site at, sn_scalar shape, sn_scalar x, sn_scalar step);
SN_API sn_acc sn_empty_at(sn_site at, sn_type type);
SN_API sn_acc sn_unit_at(sn_site at, sn_scalar x);
SN_API sn_scalar sn_the_at(sn_site at, sn_acc a);

/* --- elementwise --- */

/* f(x) for each element x; f(index, x), also f(i, j, x), for each index and element. */
#define sn_map(f, a) sn_map_at(SN_HERE, SN_FN(f), SN_ARRAY(a))
#define sn_imap(f, a) sn_imap_at(SN_HERE, SN_FN(f), SN_ARRAY(a))
/* sn_zip_with(f, a, b, ...): f(x, y, ...) for the elements at each index of 2 to 9 arrays of one shape. Different
 * shapes are an error: of the build where it is known then, else of the call (SN_SHAPE_MISMATCH). */
#define sn_zip_with(f, ...) sn_zip_with_at(SN_HERE, SN_FN(f), SN_ARRAYS(__VA_ARGS__))
/* The same with the index first: f(index, x, y, ...), also f(i, j, x, y, ...). */
#define sn_izip_with(f, ...) sn_izip_with_at(SN_HERE, SN_FN(f), SN_ARRAYS(__VA_ARGS__))
/* sn_zip_with for arrays of one rank whose shapes may differ: over the intersection of the shapes. */
#define sn_zip_min_with(f, ...) sn_zip_min_with_at(SN_HERE, SN_FN(f), SN_ARRAYS(__VA_ARGS__))
/* sn_zip(a, b, ...): 2 to 9 arrays of one shape to one array of tuples; sn_zip_min: over the intersection of shapes. */
#define sn_zip(...) sn_zip_at(SN_HERE, SN_ARRAYS(__VA_ARGS__))
#define sn_zip_min(...) sn_zip_min_at(SN_HERE, SN_ARRAYS(__VA_ARGS__))
/* An array of k-tuples to k arrays: part has room for `count` == k of them. */
#define sn_unzip(a, count, part) sn_unzip_at(SN_HERE, SN_ARRAY(a), count, part)
SN_API sn_acc sn_map_at(sn_site at, sn_fn f, sn_acc a);
SN_API sn_acc sn_imap_at(sn_site at, sn_fn f, sn_acc a);
SN_API sn_acc sn_zip_with_at(sn_site at, sn_fn f, int count, const sn_acc *a);
SN_API sn_acc sn_izip_with_at(sn_site at, sn_fn f, int count, const sn_acc *a);
SN_API sn_acc sn_zip_min_with_at(sn_site at, sn_fn f, int count, const sn_acc *a);
SN_API sn_acc sn_zip_min_at(sn_site at, int count, const sn_acc *a);
SN_API sn_acc sn_zip_at(sn_site at, int count, const sn_acc *a);
SN_API void sn_unzip_at(sn_site at, sn_acc a, int count, sn_acc *part);

/* --- index space --- */

/* The array of this shape whose element at i is a's at f(i); an index outside a is an error (SN_OUT_OF_RANGE). */
#define sn_backpermute(shape, f, a) sn_backpermute_at(SN_HERE, SN_LIFT(shape), SN_FN(f), SN_ARRAY(a))
/* The elements of a at the indices in `index`: integers, or tuples of them for higher ranks of a. Shaped as `index`. */
#define sn_gather(index, a) sn_gather_at(SN_HERE, SN_ARRAY(index), SN_ARRAY(a))
/* sn_replicate(a, n, SN_ALL, ...): for each dimension of the result either its extent, along which a is repeated, or
 * SN_ALL, the next dimension of a. sn_replicate(row, n, SN_ALL): n equal rows. */
#define sn_replicate(a, ...) sn_replicate_at(SN_HERE, SN_ARRAY(a), SN_SCALARS(__VA_ARGS__))
/* sn_slice(a, i, SN_ALL, ...): for each dimension of a either the index to take there, which removes the dimension, or
 * SN_ALL, which keeps it. sn_slice(m, 3, SN_ALL): row 3. */
#define sn_slice(a, ...) sn_slice_at(SN_HERE, SN_ARRAY(a), SN_SCALARS(__VA_ARGS__))
/* The same elements in row-major order, in another shape of the same size; of rank 1. */
#define sn_reshape(shape, a) sn_reshape_at(SN_HERE, SN_LIFT(shape), SN_ARRAY(a))
#define sn_flatten(a) sn_flatten_at(SN_HERE, SN_ARRAY(a))
/* The two innermost dimensions exchanged; the innermost dimension reversed. */
#define sn_transpose(a) sn_transpose_at(SN_HERE, SN_ARRAY(a))
#define sn_reverse(a) sn_reverse_at(SN_HERE, SN_ARRAY(a))
/* Along the innermost dimension: the first n elements; all but the first n; all but the last; all but the first. Where
 * there are fewer, as many as there are; n below 0 is 0. */
#define sn_take(n, a) sn_take_at(SN_HERE, SN_LIFT(n), SN_ARRAY(a))
#define sn_skip(n, a) sn_skip_at(SN_HERE, SN_LIFT(n), SN_ARRAY(a))
#define sn_init(a) sn_init_at(SN_HERE, SN_ARRAY(a))
#define sn_tail(a) sn_tail_at(SN_HERE, SN_ARRAY(a))
/* The innermost dimension turned by n places to the left (below 0: to the right): element i comes from i + n. */
#define sn_rotate(n, a) sn_rotate_at(SN_HERE, SN_LIFT(n), SN_ARRAY(a))
SN_API sn_acc sn_take_at(sn_site at, sn_scalar n, sn_acc a);
SN_API sn_acc sn_skip_at(sn_site at, sn_scalar n, sn_acc a);
SN_API sn_acc sn_init_at(sn_site at, sn_acc a);
SN_API sn_acc sn_tail_at(sn_site at, sn_acc a);
SN_API sn_acc sn_rotate_at(sn_site at, sn_scalar n, sn_acc a);
SN_API sn_acc sn_backpermute_at(sn_site at, sn_scalar shape, sn_fn f, sn_acc a);
SN_API sn_acc sn_gather_at(sn_site at, sn_acc index, sn_acc a);
SN_API sn_acc sn_replicate_at(sn_site at, sn_acc a, int rank, const sn_scalar *dimension);
SN_API sn_acc sn_slice_at(sn_site at, sn_acc a, int rank, const sn_scalar *dimension);
SN_API sn_acc sn_reshape_at(sn_site at, sn_scalar shape, sn_acc a);
SN_API sn_acc sn_flatten_at(sn_site at, sn_acc a);
SN_API sn_acc sn_transpose_at(sn_site at, sn_acc a);
SN_API sn_acc sn_reverse_at(sn_site at, sn_acc a);

#define SN_ALL SN_MAKE(sn_scalar, UINT64_MAX) /* a whole dimension, in sn_slice and sn_replicate only */

/* --- join and split --- */

/* a, and behind it b: along the innermost dimension, or along any (0 is outermost). Their other extents are equal. */
#define sn_append(a, b) sn_append_at(SN_HERE, SN_ARRAY(a), SN_ARRAY(b))
#define sn_append_along(dimension, a, b) sn_append_along_at(SN_HERE, dimension, SN_ARRAY(a), SN_ARRAY(b))
/* The same of 1 to 16 arrays: sn_concat(a, b, c). */
#define sn_concat(...) sn_concat_at(SN_HERE, SN_ARRAYS(__VA_ARGS__))
#define sn_concat_along(dimension, ...) sn_concat_along_at(SN_HERE, dimension, SN_ARRAYS(__VA_ARGS__))
/* sn_interleave(a, b, ...): of 1 to 16 arrays of one shape the first element of each along the innermost dimension, then
 * the second of each, and so on. Two arrays may differ in that dimension: when one ends, the rest of the other follows. */
#define sn_interleave(...) sn_interleave_at(SN_HERE, SN_ARRAYS(__VA_ARGS__))
/* The first n elements along the innermost dimension, or along any, as of sn_take; the others, as of sn_skip, are *rest
 * (an sn_acc *; NULL: they are not wanted). */
#define sn_split(n, a, rest) sn_split_at(SN_HERE, SN_LIFT(n), SN_ARRAY(a), rest)
#define sn_split_along(dimension, n, a, rest) sn_split_along_at(SN_HERE, dimension, SN_LIFT(n), SN_ARRAY(a), rest)
/* For each of the flags, an array of bool: the next element of a if it is true, else the next element of b, in row-major
 * order; a and b have rank 1 and are used up, else it is an error of the call (SN_SHAPE_MISMATCH, or SN_OUT_OF_RANGE
 * where they have as many elements as there are flags, but not of each kind). The inverse of two sn_pack. */
#define sn_combine(flags, a, b) sn_combine_at(SN_HERE, SN_ARRAY(flags), SN_ARRAY(a), SN_ARRAY(b))
SN_API sn_acc sn_append_at(sn_site at, sn_acc a, sn_acc b);
SN_API sn_acc sn_append_along_at(sn_site at, int dimension, sn_acc a, sn_acc b);
SN_API sn_acc sn_concat_at(sn_site at, int count, const sn_acc *a);
SN_API sn_acc sn_concat_along_at(sn_site at, int dimension, int count, const sn_acc *a);
SN_API sn_acc sn_interleave_at(sn_site at, int count, const sn_acc *a);
SN_API sn_acc sn_split_at(sn_site at, sn_scalar n, sn_acc a, sn_acc *rest);
SN_API sn_acc sn_split_along_at(sn_site at, int dimension, sn_scalar n, sn_acc a, sn_acc *rest);
SN_API sn_acc sn_combine_at(sn_site at, sn_acc flags, sn_acc a, sn_acc b);

/* --- reduce: along the innermost dimension, which disappears; the _all forms over all elements, to rank 0 --- */

/* f(...f(f(z, x0), x1)..., xn). f must be associative (a warning says so where it visibly is not: sn_sub, sn_div, a
 * mean; sn_sfold takes any function, sn_associative(f) is silent); it need not commute, and z enters exactly once,
 * leftmost, so it need not be neutral. Of no elements: z. The order of combination depends on the extent only, never on
 * threads. */
#define sn_fold(f, z, a) sn_fold_at(SN_HERE, SN_FN(f), SN_LIFT(z), SN_ARRAY(a))
#define sn_fold_all(f, z, a) sn_fold_all_at(SN_HERE, SN_FN(f), SN_LIFT(z), SN_ARRAY(a))
/* The same without a seed: of no elements it is an error (SN_EMPTY_FOLD). */
#define sn_fold1(f, a) sn_fold1_at(SN_HERE, SN_FN(f), SN_ARRAY(a))
#define sn_fold1_all(f, a) sn_fold1_all_at(SN_HERE, SN_FN(f), SN_ARRAY(a))
/* Sum and product: integers of 8 and 16 bits give 32 bits, bool counts in i64; other types keep theirs. */
#define sn_sum(a) sn_sum_at(SN_HERE, SN_ARRAY(a))
#define sn_product(a) sn_product_at(SN_HERE, SN_ARRAY(a))
/* Smallest and largest element; a NaN only if there is nothing else. Of no elements: an error. */
#define sn_minimum(a) sn_minimum_at(SN_HERE, SN_ARRAY(a))
#define sn_maximum(a) sn_maximum_at(SN_HERE, SN_ARRAY(a))
/* Index (i64) of the first smallest or largest element along the innermost dimension; NaNs count only if alone. */
#define sn_argmin(a) sn_argmin_at(SN_HERE, SN_ARRAY(a))
#define sn_argmax(a) sn_argmax_at(SN_HERE, SN_ARRAY(a))
/* Of bools: all true (of none: true); any true (of none: false); how many (i64). */
#define sn_all(a) sn_all_at(SN_HERE, SN_ARRAY(a))
#define sn_any(a) sn_any_at(SN_HERE, SN_ARRAY(a))
#define sn_count(a) sn_count_at(SN_HERE, SN_ARRAY(a))
SN_API sn_acc sn_fold_at(sn_site at, sn_fn f, sn_scalar z, sn_acc a);
SN_API sn_acc sn_fold_all_at(sn_site at, sn_fn f, sn_scalar z, sn_acc a);
SN_API sn_acc sn_fold1_at(sn_site at, sn_fn f, sn_acc a);
SN_API sn_acc sn_fold1_all_at(sn_site at, sn_fn f, sn_acc a);
SN_API sn_acc sn_sum_at(sn_site at, sn_acc a);
SN_API sn_acc sn_product_at(sn_site at, sn_acc a);
SN_API sn_acc sn_minimum_at(sn_site at, sn_acc a);
SN_API sn_acc sn_maximum_at(sn_site at, sn_acc a);
SN_API sn_acc sn_argmin_at(sn_site at, sn_acc a);
SN_API sn_acc sn_argmax_at(sn_site at, sn_acc a);
SN_API sn_acc sn_all_at(sn_site at, sn_acc a);
SN_API sn_acc sn_any_at(sn_site at, sn_acc a);
SN_API sn_acc sn_count_at(sn_site at, sn_acc a);

/* --- scan: along the innermost dimension, which stays; each result is a fold of some elements of its row --- */

/* f as for sn_fold. From the left, x0 (+) x1 (+) ... being f(x0, f(x1, ...)): element i is the fold of x0 to xi
 * (sn_scanl1: a running total); the same with z in front of x0 (sn_postscan); of the elements before xi, with z in
 * front of them, so the first element is z (sn_prescan); of n + 1 elements: z, z (+) x0, ..., z (+) x0 (+) ... (+) xn,
 * sn_prescan and the total behind it (sn_scanl). Of no elements: none; of sn_scanl: z. */
#define sn_scanl(f, z, a) sn_scanl_at(SN_HERE, SN_FN(f), SN_LIFT(z), SN_ARRAY(a))
#define sn_scanl1(f, a) sn_scanl1_at(SN_HERE, SN_FN(f), SN_ARRAY(a))
#define sn_prescan(f, z, a) sn_prescan_at(SN_HERE, SN_FN(f), SN_LIFT(z), SN_ARRAY(a))
#define sn_postscan(f, z, a) sn_postscan_at(SN_HERE, SN_FN(f), SN_LIFT(z), SN_ARRAY(a))
/* sn_prescan, and in *total (an sn_acc *; NULL: it is not wanted) sn_fold(f, z, a), the totals of the rows. */
#define sn_scanl_x(f, z, a, total) sn_scanl_x_at(SN_HERE, SN_FN(f), SN_LIFT(z), SN_ARRAY(a), total)
/* The same from the right: element i is the fold of xi to xn, z stands behind xn; f's left operand is the one further
 * left all the same. sn_scanr begins with the total and ends with z. */
#define sn_scanr(f, z, a) sn_scanr_at(SN_HERE, SN_FN(f), SN_LIFT(z), SN_ARRAY(a))
#define sn_scanr1(f, a) sn_scanr1_at(SN_HERE, SN_FN(f), SN_ARRAY(a))
#define sn_prescanr(f, z, a) sn_prescanr_at(SN_HERE, SN_FN(f), SN_LIFT(z), SN_ARRAY(a))
#define sn_postscanr(f, z, a) sn_postscanr_at(SN_HERE, SN_FN(f), SN_LIFT(z), SN_ARRAY(a))
#define sn_scanr_x(f, z, a, total) sn_scanr_x_at(SN_HERE, SN_FN(f), SN_LIFT(z), SN_ARRAY(a), total)
SN_API sn_acc sn_scanl_at(sn_site at, sn_fn f, sn_scalar z, sn_acc a);
SN_API sn_acc sn_scanl1_at(sn_site at, sn_fn f, sn_acc a);
SN_API sn_acc sn_prescan_at(sn_site at, sn_fn f, sn_scalar z, sn_acc a);
SN_API sn_acc sn_postscan_at(sn_site at, sn_fn f, sn_scalar z, sn_acc a);
SN_API sn_acc sn_scanl_x_at(sn_site at, sn_fn f, sn_scalar z, sn_acc a, sn_acc *total);
SN_API sn_acc sn_scanr_at(sn_site at, sn_fn f, sn_scalar z, sn_acc a);
SN_API sn_acc sn_scanr1_at(sn_site at, sn_fn f, sn_acc a);
SN_API sn_acc sn_prescanr_at(sn_site at, sn_fn f, sn_scalar z, sn_acc a);
SN_API sn_acc sn_postscanr_at(sn_site at, sn_fn f, sn_scalar z, sn_acc a);
SN_API sn_acc sn_scanr_x_at(sn_site at, sn_fn f, sn_scalar z, sn_acc a, sn_acc *total);

/* --- segments: the innermost dimension cut into pieces of any lengths, also 0 --- */

/* `segments` says how: an array of rank 1 of integers, the lengths, which are 0 or more and add up to the extent, or
 * what sn_segments_from_offsets makes of the places where segments begin and, as the last number, where the last one
 * ends (the row pointers of a sparse matrix): from 0 to the extent, without falling. Anything else is an error of the
 * call (SN_BAD_SEGMENTS; of no offsets at all SN_BAD_EXTENT). Dimensions besides the innermost one are all cut alike. */
#define sn_segments_from_offsets(offsets) sn_segments_from_offsets_at(SN_HERE, SN_ARRAY(offsets))
/* sn_fold and others of each segment: an element for each. An empty segment gives z; of sn_fold1_seg, sn_minimum_seg
 * and sn_maximum_seg it is an error (SN_EMPTY_FOLD). */
#define sn_fold_seg(f, z, segments, a) sn_fold_seg_at(SN_HERE, SN_FN(f), SN_LIFT(z), SN_ARRAY(segments), SN_ARRAY(a))
#define sn_fold1_seg(f, segments, a) sn_fold1_seg_at(SN_HERE, SN_FN(f), SN_ARRAY(segments), SN_ARRAY(a))
#define sn_sum_seg(segments, a) sn_sum_seg_at(SN_HERE, SN_ARRAY(segments), SN_ARRAY(a))
#define sn_count_seg(segments, a) sn_count_seg_at(SN_HERE, SN_ARRAY(segments), SN_ARRAY(a))
#define sn_minimum_seg(segments, a) sn_minimum_seg_at(SN_HERE, SN_ARRAY(segments), SN_ARRAY(a))
#define sn_maximum_seg(segments, a) sn_maximum_seg_at(SN_HERE, SN_ARRAY(segments), SN_ARRAY(a))
/* Scans that begin anew in each segment. Those of one more element have one more in each segment; totals are an element
 * for each segment. */
#define sn_scanl_seg(f, z, segments, a) sn_scanl_seg_at(SN_HERE, SN_FN(f), SN_LIFT(z), SN_ARRAY(segments), SN_ARRAY(a))
#define sn_scanl1_seg(f, segments, a) sn_scanl1_seg_at(SN_HERE, SN_FN(f), SN_ARRAY(segments), SN_ARRAY(a))
#define sn_prescan_seg(f, z, segments, a)                                                                              \
    sn_prescan_seg_at(SN_HERE, SN_FN(f), SN_LIFT(z), SN_ARRAY(segments), SN_ARRAY(a))
#define sn_postscan_seg(f, z, segments, a)                                                                             \
    sn_postscan_seg_at(SN_HERE, SN_FN(f), SN_LIFT(z), SN_ARRAY(segments), SN_ARRAY(a))
#define sn_scanl_x_seg(f, z, segments, a, total)                                                                       \
    sn_scanl_x_seg_at(SN_HERE, SN_FN(f), SN_LIFT(z), SN_ARRAY(segments), SN_ARRAY(a), total)
#define sn_scanr_seg(f, z, segments, a) sn_scanr_seg_at(SN_HERE, SN_FN(f), SN_LIFT(z), SN_ARRAY(segments), SN_ARRAY(a))
#define sn_scanr1_seg(f, segments, a) sn_scanr1_seg_at(SN_HERE, SN_FN(f), SN_ARRAY(segments), SN_ARRAY(a))
#define sn_prescanr_seg(f, z, segments, a)                                                                             \
    sn_prescanr_seg_at(SN_HERE, SN_FN(f), SN_LIFT(z), SN_ARRAY(segments), SN_ARRAY(a))
#define sn_postscanr_seg(f, z, segments, a)                                                                            \
    sn_postscanr_seg_at(SN_HERE, SN_FN(f), SN_LIFT(z), SN_ARRAY(segments), SN_ARRAY(a))
#define sn_scanr_x_seg(f, z, segments, a, total)                                                                       \
    sn_scanr_x_seg_at(SN_HERE, SN_FN(f), SN_LIFT(z), SN_ARRAY(segments), SN_ARRAY(a), total)
/* n elements, which have to be as many as the segments have: a's element number s as often as segment s is long; 0,
 * 1, 2 ... anew in each segment; x[s], x[s] + step[s], x[s] + 2 step[s] ... in segment s. */
#define sn_replicate_seg(n, segments, a) sn_replicate_seg_at(SN_HERE, SN_LIFT(n), SN_ARRAY(segments), SN_ARRAY(a))
#define sn_iota_seg(n, segments) sn_iota_seg_at(SN_HERE, SN_LIFT(n), SN_ARRAY(segments))
#define sn_enum_from_step_n_seg(n, segments, x, step)                                                                  \
    sn_enum_from_step_n_seg_at(SN_HERE, SN_LIFT(n), SN_ARRAY(segments), SN_ARRAY(x), SN_ARRAY(step))
/* The first segment of a, the first of b, the second of a ...: segment s and its like are one segment of the result,
 * whose lengths are sn_zip_with(sn_add, segments_a, segments_b). */
#define sn_append_seg(segments_a, a, segments_b, b)                                                                    \
    sn_append_seg_at(SN_HERE, SN_ARRAY(segments_a), SN_ARRAY(a), SN_ARRAY(segments_b), SN_ARRAY(b))
SN_API sn_acc sn_segments_from_offsets_at(sn_site at, sn_acc offsets);
SN_API sn_acc sn_fold_seg_at(sn_site at, sn_fn f, sn_scalar z, sn_acc segments, sn_acc a);
SN_API sn_acc sn_fold1_seg_at(sn_site at, sn_fn f, sn_acc segments, sn_acc a);
SN_API sn_acc sn_sum_seg_at(sn_site at, sn_acc segments, sn_acc a);
SN_API sn_acc sn_count_seg_at(sn_site at, sn_acc segments, sn_acc a);
SN_API sn_acc sn_minimum_seg_at(sn_site at, sn_acc segments, sn_acc a);
SN_API sn_acc sn_maximum_seg_at(sn_site at, sn_acc segments, sn_acc a);
SN_API sn_acc sn_scanl_seg_at(sn_site at, sn_fn f, sn_scalar z, sn_acc segments, sn_acc a);
SN_API sn_acc sn_scanl1_seg_at(sn_site at, sn_fn f, sn_acc segments, sn_acc a);
SN_API sn_acc sn_prescan_seg_at(sn_site at, sn_fn f, sn_scalar z, sn_acc segments, sn_acc a);
SN_API sn_acc sn_postscan_seg_at(sn_site at, sn_fn f, sn_scalar z, sn_acc segments, sn_acc a);
SN_API sn_acc sn_scanl_x_seg_at(sn_site at, sn_fn f, sn_scalar z, sn_acc segments, sn_acc a, sn_acc *total);
SN_API sn_acc sn_scanr_seg_at(sn_site at, sn_fn f, sn_scalar z, sn_acc segments, sn_acc a);
SN_API sn_acc sn_scanr1_seg_at(sn_site at, sn_fn f, sn_acc segments, sn_acc a);
SN_API sn_acc sn_prescanr_seg_at(sn_site at, sn_fn f, sn_scalar z, sn_acc segments, sn_acc a);
SN_API sn_acc sn_postscanr_seg_at(sn_site at, sn_fn f, sn_scalar z, sn_acc segments, sn_acc a);
SN_API sn_acc sn_scanr_x_seg_at(sn_site at, sn_fn f, sn_scalar z, sn_acc segments, sn_acc a, sn_acc *total);
SN_API sn_acc sn_replicate_seg_at(sn_site at, sn_scalar n, sn_acc segments, sn_acc a);
SN_API sn_acc sn_iota_seg_at(sn_site at, sn_scalar n, sn_acc segments);
SN_API sn_acc sn_enum_from_step_n_seg_at(sn_site at, sn_scalar n, sn_acc segments, sn_acc x, sn_acc step);
SN_API sn_acc sn_append_seg_at(sn_site at, sn_acc segments_a, sn_acc a, sn_acc segments_b, sn_acc b);

/* --- keep: some elements of all, in row-major order; the result has rank 1, and an extent that only the run tells:
 *     sn_extent and sn_size give it to scalar code and to other shapes of the program; results of such extents go to
 *     sn_keep or sn_upto --- */

/* The elements for which p, a function to bool, holds. */
#define sn_filter(p, a) sn_filter_at(SN_HERE, SN_FN(p), SN_ARRAY(a))
/* The elements whose tags are true: tags is an array of bool of the same shape. */
#define sn_pack(tags, a) sn_pack_at(SN_HERE, SN_ARRAY(tags), SN_ARRAY(a))
/* All elements, those for which p holds before the others; *count (an sn_acc *; NULL: it is not wanted) says how many
 * hold, i64 of rank 0. */
#define sn_partition(p, a, count) sn_partition_at(SN_HERE, SN_FN(p), SN_ARRAY(a), count)
SN_API sn_acc sn_filter_at(sn_site at, sn_fn p, sn_acc a);
SN_API sn_acc sn_pack_at(sn_site at, sn_acc tags, sn_acc a);
SN_API sn_acc sn_partition_at(sn_site at, sn_fn p, sn_acc a, sn_acc *count);

/* --- order: rows along the innermost dimension, each for itself; elements that are equal stay in their order --- */

/* Ascending, and descending. Elements of any type: false before true, floats in the order of their values with -0 before
 * 0 (descending: behind it) and all NaNs, which are equal, last in both; tuples by their first components, where these
 * are equal by the second, and so on. */
#define sn_sort(a) sn_sort_at(SN_HERE, SN_ARRAY(a))
#define sn_sort_descending(a) sn_sort_descending_at(SN_HERE, SN_ARRAY(a))
/* The tuples (key, value) of two arrays of one shape, in the order of the keys alone. Values may be of any type, too. */
#define sn_sort_by_key(keys, values) sn_sort_by_key_at(SN_HERE, SN_ARRAY(keys), SN_ARRAY(values))
#define sn_sort_by_key_descending(keys, values) sn_sort_by_key_descending_at(SN_HERE, SN_ARRAY(keys), SN_ARRAY(values))
/* In the order that less(x, y) -> bool says: x has to come before y. A function that is no order, as "x <= y" is none,
 * gives the elements in some order. */
#define sn_sort_by(less, a) sn_sort_by_at(SN_HERE, SN_FN(less), SN_ARRAY(a))
/* Of an array of rank 1, ascending: each element once; how many there are only the run tells (see sn_filter). */
#define sn_unique(a) sn_unique_at(SN_HERE, SN_ARRAY(a))
/* Of two arrays of rank 1 and one extent: each key once, ascending. *lengths: how many elements have it, i64, so a
 * description of the segments of *grouped: the values in the order of their keys. (sn_acc *; NULL: not wanted.) */
#define sn_group(keys, values, lengths, grouped)                                                                       \
    sn_group_at(SN_HERE, SN_ARRAY(keys), SN_ARRAY(values), lengths, grouped)
/* All elements of two arrays of rank 1, ascending, as sn_sort would have them; of those that are equal the ones of a come
 * first. In time that grows with their number if both are in order already, else it takes as long as a sort. By
 * comparison: in the order that less(x, y) -> bool says, as for sn_sort_by. */
#define sn_merge(a, b) sn_merge_at(SN_HERE, SN_ARRAY(a), SN_ARRAY(b))
#define sn_merge_by(less, a, b) sn_merge_by_at(SN_HERE, SN_FN(less), SN_ARRAY(a), SN_ARRAY(b))
SN_API sn_acc sn_sort_at(sn_site at, sn_acc a);
SN_API sn_acc sn_sort_descending_at(sn_site at, sn_acc a);
SN_API sn_acc sn_sort_by_key_at(sn_site at, sn_acc keys, sn_acc values);
SN_API sn_acc sn_sort_by_key_descending_at(sn_site at, sn_acc keys, sn_acc values);
SN_API sn_acc sn_sort_by_at(sn_site at, sn_fn less, sn_acc a);
SN_API sn_acc sn_unique_at(sn_site at, sn_acc a);
SN_API sn_acc sn_group_at(sn_site at, sn_acc keys, sn_acc values, sn_acc *lengths, sn_acc *grouped);
SN_API sn_acc sn_merge_at(sn_site at, sn_acc a, sn_acc b);
SN_API sn_acc sn_merge_by_at(sn_site at, sn_fn less, sn_acc a, sn_acc b);

/* --- permute: elements go to places of their own --- */

/* sn_permute(f, defaults, g, source): `defaults` with each element of source combined into the place that g names.
 * g(index of the element), also g(i, j), gives an index of `defaults`, a tuple for rank 2 and more, and may read
 * arrays; where it, or a component of it, is sn_ignore(), the element is dropped. A place that `defaults` does not have
 * is an error (SN_OUT_OF_RANGE). f(new, old) must be associative and commutative, takes elements whole (tuples, too),
 * and decides what several elements for one place become. The order of combination depends on the numbers of elements
 * and places only, never on threads. */
#define sn_permute(f, defaults, g, source)                                                                             \
    sn_permute_at(SN_HERE, SN_FN(f), SN_ARRAY(defaults), SN_FN(g), SN_ARRAY(source))
SN_API sn_scalar sn_ignore(void);
/* `defaults` with each element of source at the place that its element of `targets`, of source's shape, names: integers,
 * or tuples of them. Of several elements for one place the one with the highest row-major index stays. */
#define sn_scatter(targets, defaults, source)                                                                          \
    sn_scatter_at(SN_HERE, SN_ARRAY(targets), SN_ARRAY(defaults), SN_ARRAY(source))
/* sn_reduce_by_key(f, z, bins, keys, values): for each key in `bins`, a number of them or a shape, f over the values
 * that have it, and z; of none: z. f and keys as of sn_permute. */
#define sn_reduce_by_key(f, z, bins, keys, values)                                                                     \
    sn_reduce_by_key_at(SN_HERE, SN_FN(f), SN_LIFT(z), SN_LIFT(bins), SN_ARRAY(keys), SN_ARRAY(values))
/* How many of the keys fall into each bin (i64); the sums of their weights (of the types that sn_sum has). */
#define sn_histogram(bins, keys) sn_histogram_at(SN_HERE, SN_LIFT(bins), SN_ARRAY(keys))
#define sn_histogram_weighted(bins, keys, weights)                                                                     \
    sn_histogram_weighted_at(SN_HERE, SN_LIFT(bins), SN_ARRAY(keys), SN_ARRAY(weights))
SN_API sn_acc sn_permute_at(sn_site at, sn_fn f, sn_acc defaults, sn_fn g, sn_acc source);
SN_API sn_acc sn_scatter_at(sn_site at, sn_acc targets, sn_acc defaults, sn_acc source);
SN_API sn_acc sn_reduce_by_key_at(sn_site at, sn_fn f, sn_scalar z, sn_scalar bins, sn_acc keys, sn_acc values);
SN_API sn_acc sn_histogram_at(sn_site at, sn_scalar bins, sn_acc keys);
SN_API sn_acc sn_histogram_weighted_at(sn_site at, sn_scalar bins, sn_acc keys, sn_acc weights);

/* --- neighbourhood --- */

/* The extents of a pattern, odd, at most 9, one for each of the 1 to 3 dimensions of the array: sn_pattern(3, 3). */
typedef struct sn_pattern {
    int rank;
    int extent[3];
} sn_pattern;
#define sn_pattern(...) SN_MAKE(sn_pattern, SN_COUNT(__VA_ARGS__), {SN_EACH(SN_SAME_, __VA_ARGS__)})

/* What a stencil finds outside the array: */
typedef struct sn_boundary {
    int kind;
    sn_scalar value;
    sn_fn function;
} sn_boundary;
SN_API extern const sn_boundary sn_clamp;         /* the nearest element: aaa|abcd|ddd */
SN_API extern const sn_boundary sn_mirror;        /* reflected at the edge element: dcb|abcd|cba */
SN_API extern const sn_boundary sn_wrap;          /* the array again: bcd|abcd|abc */
#define sn_constant(x) sn_constant_of(SN_LIFT(x)) /* x everywhere */
#define sn_outside(f) sn_outside_of(SN_FN(f))     /* f(index of the position outside, may be negative) */
SN_API sn_boundary sn_constant_of(sn_scalar x);
SN_API sn_boundary sn_outside_of(sn_fn f);

/* f(neighbours) at each element; f reads them with sn_at. Of two arrays of one shape: f(neighbours, neighbours). */
#define sn_stencil(f, pattern, boundary, a) sn_stencil_at(SN_HERE, SN_FN(f), pattern, boundary, SN_ARRAY(a))
#define sn_stencil2(f, pattern1, boundary1, a1, pattern2, boundary2, a2)                                               \
    sn_stencil2_at(SN_HERE, SN_FN(f), pattern1, boundary1, SN_ARRAY(a1), pattern2, boundary2, SN_ARRAY(a2))
/* sn_at(neighbours, dy, dx): the element at this offset, one C integer per dimension; sn_at(s, 0, 0) is the centre. */
#define sn_at(neighbours, ...)                                                                                         \
    sn_neighbour_at(SN_HERE, neighbours, SN_COUNT(__VA_ARGS__), SN_LIST(int, SN_EACH(SN_SAME_, __VA_ARGS__)))
SN_API sn_acc sn_stencil_at(sn_site at, sn_fn f, sn_pattern pattern, sn_boundary boundary, sn_acc a);
SN_API sn_acc sn_stencil2_at(sn_site at, sn_fn f, sn_pattern pattern1, sn_boundary boundary1, sn_acc a1,
                             sn_pattern pattern2, sn_boundary boundary2, sn_acc a2);
SN_API sn_scalar sn_neighbour_at(sn_site at, sn_scalar neighbours, int rank, const int *offset);

/* --- control --- */

/* The same array, computed to memory: nothing fuses across. */
#define sn_force(a) sn_force_at(SN_HERE, SN_ARRAY(a))
/* The same array, computed anew at each of its uses, whatever that costs. Results, folds and stencils are computed once
 * all the same. */
#define sn_fuse(a) sn_fuse_at(SN_HERE, SN_ARRAY(a))
SN_API sn_acc sn_force_at(sn_site at, sn_acc a);
SN_API sn_acc sn_fuse_at(sn_site at, sn_acc a);

/* Loops and choices of arrays. Their functions take arrays and return arrays, as the function given to sn_compile does:
 * one array for each of the state, which is an array or several (sn_results). They may use all arrays and scalars around
 * them, and loops and choices of their own. sn_body_of(f, env, n) is such a function with an environment. */

/* while (condition(state)) state = next(state); the condition is one bool, an array of rank 0 (sn_any, sn_unit ...).
 * Types and ranks of the state stay, extents may change from round to round. */
#define sn_awhile(condition, next, init) sn_awhile_at(SN_HERE, SN_BODY(condition), SN_BODY(next), SN_ARRAY(init))
/* f(f(...f(x))), n times (0 if n is negative). */
#define sn_aiterate(n, f, x) sn_aiterate_at(SN_HERE, SN_LIFT(n), SN_BODY(f), SN_ARRAY(x))
/* for (i = 0; i < n; i++) state = f(i, state); i is an array of rank 0, i64: sn_the(i) is the number. */
#define sn_aloop(n, f, init) sn_aloop_at(SN_HERE, SN_LIFT(n), SN_BODY(f), SN_ARRAY(init))
/* then(arrays) if c, else otherwise(arrays); the other one is not computed. Results have the same types and ranks. */
#define sn_acond(c, then, otherwise, arrays)                                                                           \
    sn_acond_at(SN_HERE, SN_LIFT(c), SN_BODY(then), SN_BODY(otherwise), SN_ARRAY(arrays))
/* What a function that is not Sinter's computes of arrays. fallback(a, b, ...) says what that is, as an array of the
 * same elements, types and extents: it is computed where the function is not, on devices for which there is none, by the
 * interpreter, and where it gives SN_UNSUPPORTED. The function is called on the thread that calls the program, for
 * sn_start perhaps on one of the library's; it writes
 * all elements of the result, and nothing else. It gives SN_OK, or a status with a message (of the 300s and 400s; else
 * the call's is SN_FOREIGN_FAILED). If it computed something of another shape it says so in `output`: the call fails
 * then, too, with SN_FOREIGN_FAILED. The structure is copied; what env points to, and the functions, stay as long as the
 * program. Calls from several threads may call them at the same time.
 *
 * `cpu` has all elements in memory. `opencl` and `cuda` are called with memory of the device, and put work on it into
 * call->queue, in which everything that computes the operands stands already, without waiting for it; what they write
 * is read by work that is put in behind theirs. For `opencl` the queue is a cl_command_queue, in order, and `data` are
 * cl_mem; for `cuda` a CUstream, and `data` are CUdeviceptr, and call->context is current. What they make of their own
 * (programs, kernels) they keep behind env, by call->context. If a check of the program failed before, they are not
 * called. */
#define sn_foreign(code, fallback, ...) sn_foreign_at(SN_HERE, code, SN_BODY(fallback), SN_ARRAYS(__VA_ARGS__))
typedef struct sn_foreign_array { /* one component */
    sn_type type;
    int rank;
    int64_t extent[8]; /* outermost first; row-major, contiguous */
    void *data;        /* cpu: the first element. opencl: a cl_mem. cuda: a CUdeviceptr */
    size_t offset;     /* opencl: of the first element in `data`, bytes. Else 0 */
} sn_foreign_array;
typedef struct sn_foreign_call {
    int inputs, outputs; /* components of all operands, and of the result */
    const sn_foreign_array *input;
    sn_foreign_array *output; /* where results go, and the shape they must have */
    char message[240];        /* of a failure: the function's to write */
    void *queue;              /* opencl: cl_command_queue; cuda: CUstream; cpu: NULL */
    void *context;            /* opencl: cl_context; cuda: CUcontext; cpu: NULL */
    void *device;             /* opencl: cl_device_id; cuda: CUdevice, a number; cpu: NULL */
} sn_foreign_call;
typedef struct sn_foreign_code {
    size_t size;      /* sizeof(sn_foreign_code): later versions may have more */
    const char *name; /* for messages; copied */
    void *env;
    sn_status (*cpu)(void *env, sn_foreign_call *call); /* NULL: there is none */
    sn_status (*opencl)(void *env, sn_foreign_call *call);
    sn_status (*cuda)(void *env, sn_foreign_call *call);
} sn_foreign_code;
SN_API sn_acc sn_foreign_at(sn_site at, const sn_foreign_code *code, sn_body fallback, int count, const sn_acc *a);
/* What a function of scalars that is not Sinter's computes, inside the loops in which it is called. fallback(x, y, ...)
 * says what that is, as one number: it is computed where there is no source for the device, by the interpreter, on the
 * host (extents and other numbers that are known before a call), and by programs that come from texts and exports. The
 * function takes 1 to 8 numbers and gives one, or a tuple of up to 4, as the fallback does; it is called for any values,
 * perhaps for elements that nobody asks for, and perhaps again for another of its results, and has no effects. Its source
 * defines it under `name`, perhaps with others that it needs; they are copied:
 *
 * - llvm: text of LLVM, as "clang -O2 -S -emit-llvm" gives it, for the CPU. Versions for vectors may stand beside it,
 *   NAME_v4, NAME_v8 ... of <4 x float>, <8 x float> ...: they are called for as many lanes at once. It calls nothing
 *   that it does not define. bool is i1; several results are a struct, { float, i32 }, of vectors { <4 x float>, <4 x i32> }.
 * - opencl: OpenCL C. i64 is long, u64 ulong, char uint. Several results go where further parameters point to: void
 *   NAME(float x, float *first, int *second).
 * - cuda: CUDA C++, a __device__ function. i64 is long, u64 unsigned long, char unsigned. Several results as in OpenCL.
 * - cpu: a function of this process, where there is no text of LLVM's: cpu(env, n, in, out) computes n elements, element k of
 *   operand i being at ((const T *)in[i])[k], of result j at ((T *)out[j])[k]; bool is one byte, 0 or 1. It is called by
 *   several threads at once, with some dozen elements at a time, through memory; a text is better, since the compiler knows
 *   all of it and keeps values in registers. env and the function stay as long as the program.
 *
 * A source that does not compile fails the call that needs it, with SN_FOREIGN_FAILED, the place of sn_foreign_scalar,
 * and what the compiler says. That code and fallback give the same bits is the user's to see to. */
#define sn_foreign_scalar(code, fallback, ...)                                                                         \
    sn_foreign_scalar_at(SN_HERE, code, SN_FN(fallback), SN_SCALARS(__VA_ARGS__))
typedef struct sn_foreign_function {
    size_t size; /* sizeof(sn_foreign_function): later versions may have more */
    const char *name;
    const char *llvm, *opencl, *cuda; /* NULL: the fallback */
    void (*cpu)(void *env, int64_t n, const void *const *in, void *const *out); /* NULL: there is none */
    void *env;
} sn_foreign_function;
SN_API sn_scalar sn_foreign_scalar_at(sn_site at, const sn_foreign_function *code, sn_fn fallback, int count,
                                      const sn_scalar *x);
/* One of several arrays, from 0 on: what loops and choices of several give. */
#define sn_result(several, number) sn_result_at(SN_HERE, SN_ARRAY(several), number)
SN_API sn_acc sn_awhile_at(sn_site at, sn_body condition, sn_body next, sn_acc init);
SN_API sn_acc sn_aiterate_at(sn_site at, sn_scalar n, sn_body f, sn_acc x);
SN_API sn_acc sn_aloop_at(sn_site at, sn_scalar n, sn_body f, sn_acc init);
SN_API sn_acc sn_acond_at(sn_site at, sn_scalar c, sn_body then, sn_body otherwise, sn_acc arrays);
SN_API sn_acc sn_result_at(sn_site at, sn_acc several, int number);

/* === 9. Scalar operations ======================================================================================= */

/* sn_if(c, x, y): x if c, else y; the other one is not evaluated, so it may be guarded by c. x and y: one type. */
SN_API sn_scalar sn_if(sn_scalar c, sn_scalar x, sn_scalar y);
/* Logical and, or of bool; y is evaluated only if x does not decide. */
SN_API sn_scalar sn_and(sn_scalar x, sn_scalar y);
SN_API sn_scalar sn_or(sn_scalar x, sn_scalar y);

/* x = init; while (condition(x)) x = next(x). The state x may be a tuple, then the functions may take its components. C
 * numbers that a loop begins with, also in a tuple, have the type of what they meet in its functions. */
#define sn_while(condition, next, init) sn_while_at(SN_HERE, SN_FN(condition), SN_FN(next), SN_LIFT(init))
/* f applied n times to x: f(f(...f(x))). */
#define sn_iterate(n, f, x) sn_iterate_at(SN_HERE, SN_LIFT(n), SN_FN(f), SN_LIFT(x))
/* x = init; for (i = 0; i < n; i++) x = f(i, x); i is i64. Where each round combines x with the next element of a row by
 * a primitive that associates and commutes (sn_add, sn_max), it is a fold, and combines in the order of folds. */
#define sn_loop(n, f, init) sn_loop_at(SN_HERE, SN_LIFT(n), SN_FN(f), SN_LIFT(init))
/* sn_sfold(f, z, a, i, j, ...): f(...f(f(z, x0), x1)..., xn), one after the other, over the innermost dimension of a at
 * the outer indices i, j, ... (none for rank 1). f may be any function. Of sn_add and the like see sn_loop. */
#define sn_sfold(f, z, ...) SN_PASTE(SN_SFOLD_, SN_ONE_OR_MORE(__VA_ARGS__))(f, z, __VA_ARGS__)
SN_API sn_scalar sn_while_at(sn_site at, sn_fn condition, sn_fn next, sn_scalar init);
SN_API sn_scalar sn_iterate_at(sn_site at, sn_scalar n, sn_fn f, sn_scalar x);
SN_API sn_scalar sn_loop_at(sn_site at, sn_scalar n, sn_fn f, sn_scalar init);
SN_API sn_scalar sn_sfold_at(sn_site at, sn_fn f, sn_scalar z, sn_acc a, int outer, const sn_scalar *index);

/* The element of a at an index, one integer per dimension or a tuple of them; at a row-major position. An index outside
 * is an error (SN_OUT_OF_RANGE) where it is evaluated. */
#define sn_index(a, ...) sn_index_at(SN_HERE, SN_ARRAY(a), SN_SCALARS(__VA_ARGS__))
#define sn_linear_index(a, i) sn_linear_index_at(SN_HERE, SN_ARRAY(a), SN_LIFT(i))
SN_API sn_scalar sn_index_at(sn_site at, sn_acc a, int count, const sn_scalar *index);
SN_API sn_scalar sn_linear_index_at(sn_site at, sn_acc a, sn_scalar i);

/* sn_trace(x) (sinter/ops.h) is x, a scalar. Where a call evaluates it, a message follows when the loop is done,
 * through the options' function, else on stderr: "file.c:12: trace: element 5: 3.25". The element is that of the result
 * being computed. Sorted by element; of more than 1000 messages of a loop the first. On the CPU and in the interpreter;
 * elsewhere it says nothing. Equal values are one value, and traced once; what the host computes (extents, seeds of
 * folds) is not traced. */

/* Conversions of values: float to integer truncates and saturates (NaN gives 0), integer to a narrower one wraps, to
 * bool tests for non-zero. */
SN_API sn_scalar sn_to_bool(sn_scalar x);
SN_API sn_scalar sn_to_i8(sn_scalar x);
SN_API sn_scalar sn_to_i16(sn_scalar x);
SN_API sn_scalar sn_to_i32(sn_scalar x);
SN_API sn_scalar sn_to_i64(sn_scalar x);
SN_API sn_scalar sn_to_u8(sn_scalar x);
SN_API sn_scalar sn_to_u16(sn_scalar x);
SN_API sn_scalar sn_to_u32(sn_scalar x);
SN_API sn_scalar sn_to_u64(sn_scalar x);
SN_API sn_scalar sn_to_f32(sn_scalar x);
SN_API sn_scalar sn_to_f64(sn_scalar x);
SN_API sn_scalar sn_to_char(sn_scalar x);
/* The same, with the type as a C value; and the same bits as another type of the same width. */
#define sn_to(type, x) sn_to_at(SN_HERE, type, SN_LIFT(x))
#define sn_bitcast(type, x) sn_bitcast_at(SN_HERE, type, SN_LIFT(x))
SN_API sn_scalar sn_to_at(sn_site at, sn_type type, sn_scalar x);
SN_API sn_scalar sn_bitcast_at(sn_site at, sn_type type, sn_scalar x);

#include "sinter/lift.h" /* the macros behind the macros */
#include "sinter/ops.h"  /* sn_add, sn_mul, sn_sqrt, sn_lt, ...: all primitives */

#ifdef SN_LIFTING /* the functions above that take C numbers, as the primitives do */
#define sn_if(c, x, y) SN_CALL3(sn_if, c, x, y)
#define sn_and(x, y) SN_CALL2(sn_and, x, y)
#define sn_or(x, y) SN_CALL2(sn_or, x, y)
#define sn_to_bool(x) SN_CALL1(sn_to_bool, x)
#define sn_to_i8(x) SN_CALL1(sn_to_i8, x)
#define sn_to_i16(x) SN_CALL1(sn_to_i16, x)
#define sn_to_i32(x) SN_CALL1(sn_to_i32, x)
#define sn_to_i64(x) SN_CALL1(sn_to_i64, x)
#define sn_to_u8(x) SN_CALL1(sn_to_u8, x)
#define sn_to_u16(x) SN_CALL1(sn_to_u16, x)
#define sn_to_u32(x) SN_CALL1(sn_to_u32, x)
#define sn_to_u64(x) SN_CALL1(sn_to_u64, x)
#define sn_to_f32(x) SN_CALL1(sn_to_f32, x)
#define sn_to_f64(x) SN_CALL1(sn_to_f64, x)
#define sn_to_char(x) SN_CALL1(sn_to_char, x)
#endif
#define sn_fst(t) SN_GET(t, 0)
#define sn_snd(t) SN_GET(t, 1)

#ifdef __cplusplus
}
extern "C++" { /* also where this header is included inside extern "C" */
#include "sinter/lift.hpp" /* the same for C++17, where functions may be lambdas */
}
#endif

#endif
