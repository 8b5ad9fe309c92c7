/* Drivers of programs that are exported as sources: PREFIX.h and PREFIX.c, which run a recorded call's launches, loops
 * and choices again for other data, with nothing of Sinter. */
#include "api/export_driver.h"
#include "base/size.h"
#include "emit/emit.h"

#include <inttypes.h>

enum { MOST_STRING = 4000 }; /* characters of a literal */

/* As the recorded call went, or, with a sizer, as the plan goes about other extents. */
static bool describe(exporting *e, const run_program *root, const described *to, run_sizer *sizer, driven *d)
{
    uint32_t count = 0;
    text_init(to->functions, &e->arena);
    text_init(to->programs, &e->arena);
    to->kernel_number(to->env, NULL);
    *d = (driven){.arena = &e->arena,
                  .root = root,
                  .tape = run_tape_of_call(root),
                  .dim_varies = arena_alloc(&e->arena, root->plan->dim.n + 1),
                  .kernel_number = to->kernel_number,
                  .env = to->env,
                  .functions = to->functions,
                  .programs = to->programs,
                  .count = &count,
                  .sizer = sizer};
    if (driven_program(d))
        return true;
    d->why = d->why ? d->why : "internal error: the host reads an array that is not in memory";
    return false;
}

bool export_describe(exporting *e, const run_program *root, described *to, const char **why)
{
    driven *d = arena_new(&e->arena, *d);
    run_sizer *sizer = arena_new(&e->arena, *sizer);
    sizer->arena = &e->arena;
    if (!run_tape_of_call(root)) {
        *why = "no call was recorded; sn_profile(program, true) records those that follow";
        return false;
    }
    const bool good = describe(e, root, to, NULL, d) || describe(e, root, to, sizer, d);
    *why = good ? NULL : d->why;
    to->first = d->number;
    to->sized = good && d->sizer ? d : NULL;
    return good;
}

/* --- the header --- */

static const char *api_of(const char *kind)
{
    return strcmp(kind, "opencl") ? "#include <cuda.h>\n" : "#include <CL/cl.h>\n";
}

static size_t bytes_of(ir_type t, unsigned rank, const int64_t *extent)
{
    size_t bytes = 0;
    return size_of_array(ir_type_size(t), rank, extent, &bytes) ? bytes : 0; /* what no array has is not known */
}

static void list_extents(text *out, const char *what, uint32_t n, ir_type t, unsigned rank, const int64_t *extent)
{
    text_printf(out, " * %s[%u]: %s", what, n, ir_type_name(t));
    for (unsigned d = 0; d < rank; d++)
        text_printf(out, "%s%" PRId64, d ? " x " : ", ", extent[d]);
    text_add(out, "\n");
}

typedef struct ports { /* components of parameters, data that the program brings along, results */
    uint32_t parameters, inputs, outputs;
    const plan_buffer **in; /* NULL: nobody reads it */
} ports;

static ports find_ports(exporting *e, const run_program *root)
{
    const plan *p = root->plan;
    ports out = {.parameters = e->p->params, .inputs = p->input_first[p->inputs], .outputs = p->result.n};
    out.in = arena_array(&e->arena, *out.in, out.inputs + 1);
    for (uint32_t i = 0; i < p->buffer.n; i++)
        if (p->buffer.at[i].place == PLAN_INPUT)
            out.in[p->buffer.at[i].port] = &p->buffer.at[i];
    return out;
}

static size_t input_bytes(const run_program *root, const ports *x, uint32_t i)
{
    const plan_buffer *b = x->in[i];
    const run_tape *t = run_tape_of_call(root);
    return b ? bytes_of(b->type, root->plan->shape.at[b->shape].rank, t->in[i]) : 0;
}

static const plan_buffer *result_buffer(const run_program *root, uint32_t i)
{
    return &root->plan->buffer.at[root->plan->result.at[i].buffer];
}

static unsigned output_rank(const run_program *root, uint32_t i)
{
    return root->plan->shape.at[result_buffer(root, i)->shape].rank;
}

/* Of a result, at most; false: what it may have at most is not known. */
static bool output_extents(const run_program *root, const driven *sized, uint32_t i, int64_t extent[IR_MAX_RANK])
{
    bool known = true;
    memcpy(extent, run_tape_of_call(root)->out[i], sizeof(int64_t) * IR_MAX_RANK);
    if (sized)
        driven_most(sized, i, extent);
    for (unsigned d = 0; d < output_rank(root, i); d++)
        known &= extent[d] >= 0;
    return known;
}

static size_t output_bytes(const run_program *root, const driven *sized, uint32_t i)
{
    int64_t extent[IR_MAX_RANK];
    return output_extents(root, sized, i, extent) ? bytes_of(result_buffer(root, i)->type, output_rank(root, i), extent)
                                                  : 0;
}

/* "out[0]: f32, at most 5003". */
static void list_output(text *out, const run_program *root, const driven *sized, uint32_t i)
{
    int64_t extent[IR_MAX_RANK];
    const plan_shape *s = &root->plan->shape.at[result_buffer(root, i)->shape];
    output_extents(root, sized, i, extent);
    text_printf(out, " * out[%u]: %s", i, ir_type_name(result_buffer(root, i)->type));
    for (unsigned d = 0; d < s->rank; d++) {
        text_add(out, d ? " x " : ", ");
        if (!sized || !sized->varies[s->extent[d]])
            text_printf(out, "%" PRId64, extent[d]);
        else if (extent[d] >= 0)
            text_printf(out, "at most %" PRId64, extent[d]);
        else
            text_add(out, "as many as the run tells");
    }
    text_add(out, "\n");
}

static void write_header(exporting *e, const run_program *root, const char *kind, const driven *sized, const ports *x,
                         text *out)
{
    const bool opencl = !strcmp(kind, "opencl");
    const run_tape *t = run_tape_of_call(root);
    const char *n = e->name;
    text_printf(out, "/* The program %s, for the extents of a recorded call:\n *\n", n);
    for (uint32_t i = 0; i < x->parameters; i++)
        if (x->in[i])
            list_extents(out, "in", i, x->in[i]->type, root->plan->shape.at[x->in[i]->shape].rank, t->in[i]);
        else
            text_printf(out, " * in[%u]: is not read\n", i);
    for (uint32_t i = 0; i < x->outputs; i++)
        list_output(out, root, sized, i);
    text_printf(
        out,
        " *\n * Compile %s.c with it. Elements are dense, the last dimension innermost; a bool is a byte. */\n"
        "#ifndef SINTER_DRIVER_%s_H\n#define SINTER_DRIVER_%s_H\n\n#include <stddef.h>\n#include <stdint.h>\n\n%s\n"
        "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\nstruct %s_driver;\n",
        n, n, n, api_of(kind), n);
    text_printf(out,
                "enum { %s_inputs = %u, %s_outputs = %u };\n"
                "/* Of results whose extents the run tells: at most; 0: that is not known. */\n"
                "extern const size_t %s_in_bytes[], %s_out_bytes[];\n\n",
                n, x->parameters, n, x->outputs, n, n);
    text_printf(out,
                "/* Compiles the kernels%s. NULL: no memory. Whether they compile %s_run says. */\n"
                "struct %s_driver *%s_open(%s);\n",
                opencl ? "" : ", in the thread's current context", n, n, n,
                opencl ? "cl_context context, cl_device_id device" : "CUdevice device");
    text_printf(
        out,
        "/* Runs it in a queue that works in order; waits until it is done. `in` is read; `out` gets memory that the\n"
        " * caller frees. 0: it failed, and %s_said says why. One run at a time of what %s_open gave. */\n"
        "int %s_run(struct %s_driver *program, %s queue, const %s *in, %s *out);\n"
        "/* The extents of a result of the last run, outermost first: as many elements were written. */\n"
        "const int64_t *%s_extents(const struct %s_driver *program, unsigned result);\n"
        "const char *%s_said(const struct %s_driver *program);\nvoid %s_close(struct %s_driver *program);\n\n"
        "#ifdef __cplusplus\n}\n#endif\n\n#endif\n",
        n, n, n, n, opencl ? "cl_command_queue" : "CUstream", opencl ? "cl_mem" : "CUdeviceptr",
        opencl ? "cl_mem" : "CUdeviceptr", n, n, n, n, n, n);
}

/* --- the source --- */

/* A part of the runtime, with the program's name in it. */
static void add_part(text *out, const char *part, const char *name)
{
    static const char word[] = "DRIVER";
    for (const char *at; (at = strstr(part, word)); part = at + sizeof(word) - 1) {
        text_add_n(out, part, (size_t)(at - part));
        text_add(out, name);
    }
    text_add(out, part);
}

/* A literal, of at most so many characters: compilers need not take more than 4095. What follows them is returned. The
 * parentheses tell compilers that the lines are meant to be one element of a list. */
static const char *add_string(text *out, const char *s, unsigned most)
{
    text_add(out, "    (\"");
    for (; *s && most; s++, most--) {
        if (*s == '\n')
            text_add(out, s[1] && most > 1 ? "\\n\"\n     \"" : "\\n");
        else if (*s == '"' || *s == '\\' || *s == '?') /* "??" may begin a trigraph */
            text_printf(out, "\\%c", *s);
        else if ((unsigned char)*s < ' ' || *s == 127)
            text_printf(out, "\\%03o", (unsigned)*s);
        else
            text_add_n(out, s, 1);
    }
    text_add(out, "\")");
    return s;
}

static void add_places(text *out, const run_program *root)
{
    const ir_program *p = root->l->ir;
    text_printf(out, "enum { PLACES = %u, PLACE_BITS = %d };\nstatic const char *const where[PLACES + 1] = {\n",
                p->site.n, K_PLACE_BITS);
    for (uint32_t i = 0; i < p->site.n; i++) {
        const ir_site *s = &p->site.at[i];
        text line;
        text_init(&line, out->arena);
        if (s->file)
            text_printf(&line, "%s:%u: ", s->file, s->line);
        text_add(&line, s->operation ? s->operation : "");
        add_string(out, line.n ? line.at : "", MOST_STRING);
        text_add(out, ",\n");
    }
    text_add(out, "    0};\n\n");
}

/* Of a kernel, with the three that all have. */
static uint32_t most_arguments(const driver_kernel *all, uint32_t kernels)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < kernels; i++) {
        const uint32_t n = all[i].k->memory.n + all[i].ready->arg_type.n + 3;
        most = n > most ? n : most;
    }
    return most;
}

static void add_sources(text *out, const driver_kernel *all, uint32_t kernels)
{
    for (uint32_t i = 0; i < kernels; i++) {
        const kernel *k = all[i].ready;
        if (!all[i].used)
            continue;
        text_printf(out, "static const char *const text_%u[] = {\n", i);
        for (const char *at = all[i].source.at; *at;) {
            at = add_string(out, at, MOST_STRING);
            text_add(out, *at ? ",\n" : "};\n");
        }
        text_printf(out, "static const unsigned char bytes_%u[] = {", i);
        for (uint32_t a = 0; a < k->arg_type.n; a++)
            text_printf(out, "%zu, ", ir_type_size((ir_type)k->arg_type.at[a]));
        text_add(out, "0};\n\n");
    }
    text_add(
        out,
        "typedef struct source {\n    const char *const *text; /* pieces of it */\n    const char *entry;\n"
        "    const unsigned char *bytes; /* of the arguments */\n"
        "    unsigned pieces, memories, arguments, most_threads, shared;\n    int chained; /* all groups must be at "
        "work at once */\n"
        "} source;\nstatic const source sources[KERNELS] = {\n");
    for (uint32_t i = 0; i < kernels; i++) {
        const kernel *k = all[i].ready;
        if (!all[i].used) {
            text_add(out, "    {0},\n");
            continue;
        }
        text_printf(out, "    {text_%u, \"%s\", bytes_%u, sizeof text_%u / sizeof text_%u[0], %u, %u, %u, %u, %d},\n",
                    i, all[i].entry, i, i, i, all[i].k->memory.n, k->arg_type.n, all[i].group ? all[i].group : 1,
                    emit_shared_bytes(k), k->chained);
    }
    text_add(out, "};\n\n");
}

static void add_data(text *out, const run_program *root, const ports *x)
{
    const ir_program *p = root->l->ir;
    for (uint32_t i = 0, port = 0; i < p->input.n; i++) {
        const ir_array *info = ir_info(p, p->input.at[i]);
        if (port >= x->parameters) {
            const unsigned char *at = info->data;
            const size_t n = info->data ? input_bytes(root, x, port) : 0;
            text_printf(out, "static const unsigned char data_%u[] = {", port);
            for (size_t k = 0; k < n; k++)
                text_printf(out, "%u,%s", at[k], k % 24 == 23 ? "\n" : "");
            text_add(out, "0};\n");
        }
        port += info->components;
    }
    text_printf(out, "static const unsigned char *const brought[] = {");
    for (uint32_t i = x->parameters; i < x->inputs; i++)
        text_printf(out, "data_%u, ", i);
    text_add(out, "0};\n");
}

static void add_tables(text *out, const exporting *e, const run_program *root, const driven *sized, const ports *x)
{
    const run_tape *t = run_tape_of_call(root);
    text_printf(out, "const size_t %s_in_bytes[] = {", e->name);
    for (uint32_t i = 0; i < x->inputs; i++)
        text_printf(out, "%zu, ", input_bytes(root, x, i));
    text_printf(out, "0};\nconst size_t %s_out_bytes[] = {", e->name);
    for (uint32_t i = 0; i < x->outputs; i++)
        text_printf(out, "%zu, ", output_bytes(root, sized, i));
    text_add(out, "0};\nstatic const int64_t most[][9] = {");
    for (uint32_t i = 0; i < x->outputs; i++) {
        int64_t extent[IR_MAX_RANK];
        output_extents(root, sized, i, extent);
        text_add(out, "{");
        for (unsigned d = 0; d < output_rank(root, i); d++)
            text_printf(out, "%" PRId64 ", ", extent[d]);
        text_add(out, "0}, ");
    }
    text_add(out, "{0}};\nstatic const int64_t dims[] = {");
    for (uint32_t i = 0; i < root->plan->dim.n; i++)
        text_printf(out, "%" PRId64 ", ", t->dim[i]);
    text_add(out, "0};\n");
}

static bool write_all(exporting *e, const text *data)
{
    return fwrite(data->at, 1, data->n, e->f) == data->n;
}

sn_status export_driver(exporting *e, const run_program *root, const char *kind, const described *from,
                        const driver_kernel *all, uint32_t kernels)
{
    const bool opencl = !strcmp(kind, "opencl");
    const char *part[DRIVER_PARTS];
    const ports x = find_ports(e, root);
    text out, header;
    text_init(&out, &e->arena);
    text_init(&header, &e->arena);
    export_runtime(kind, from->sized, part);
    write_header(e, root, kind, from->sized, &x, &header);
    text_printf(&out,
                "/* The program %s, with its kernels: see %s.h. Link it with %s. */\n%s#include \"%s.h\"\n\n%s"
                "#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\n"
                "enum { KERNELS = %u, MOST_ARGUMENTS = %u, PARAMETERS = %u, INPUTS = %u, OUTPUTS = %u, SIZED = %d };\n",
                e->name, e->name, opencl ? "-lOpenCL" : "-lcuda -lnvrtc",
                opencl ? "#define CL_TARGET_OPENCL_VERSION 120\n" : "", e->name, opencl ? "" : "#include <nvrtc.h>\n",
                kernels, most_arguments(all, kernels), x.parameters, x.inputs, x.outputs, from->sized != NULL);
    add_places(&out, root);
    for (unsigned i = 0; i < DRIVER_PARTS; i++) {
        if (i == DRIVER_BEFORE_SOURCES)
            add_sources(&out, all, kernels);
        if (i == DRIVER_PARTS - 1) {
            text_add_n(&out, from->functions->at, from->functions->n);
            add_tables(&out, e, root, from->sized, &x);
            add_data(&out, root, &x);
            text_printf(&out, "#define MAIN p%u\n#define QUEUE %s\n\n", from->first,
                        opencl ? "cl_command_queue" : "CUstream");
        }
        add_part(&out, part[i], e->name);
    }
    sn_status status = export_file(e, "h", &header, write_all);
    return status == SN_OK ? export_file(e, "c", &out, write_all) : status;
}
