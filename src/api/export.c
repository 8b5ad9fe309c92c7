/* Programs in files: the text of a program and the code of its kernels, as data in an object to be linked, and back. */
#include "api/export_driver.h"

#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <sys/stat.h>

static const char magic[8] = "SINTERX";

/* An exported program begins with this; then come the interface of its code, the text, the small extents that it has
 * programs for, and, for each level of processors, what it has; each part rounded up to 8 bytes. */
typedef struct package {
    char magic[8];
    uint32_t version, machine, levels, pad;
    uint64_t bytes, interface_bytes, text_bytes, small_bytes; /* of the whole; texts with the 0 at their ends */
} package;

typedef struct packed_level { /* its kernels follow */
    uint32_t level, vector_bytes, kernels, pad;
    uint64_t bytes; /* of the kernels */
} packed_level;

typedef struct packed_kernel { /* its key and its code follow */
    uint64_t key_bytes, code_bytes, entry;
} packed_kernel;

enum { VERSION = 3, ALIGNED = 8 };

static size_t rounded(size_t n)
{
    return (n + ALIGNED - 1) / ALIGNED * ALIGNED;
}

static void add(text *out, const void *bytes, size_t n)
{
    static const char zeros[ALIGNED];
    text_add_n(out, bytes, n);
    text_add_n(out, zeros, rounded(n) - n);
}

/* --- collecting --- */

static void take_kernel(void *env, uint32_t cluster, const sk_kernel *k)
{
    exporting *e = env;
    text key;
    emit_cpu_blob code;
    (void)cluster;
    if (k->k->code.n) /* a text has no foreign code: the program takes the fallback */
        return;
    text_init(&key, &e->arena);
    k_key(k->k, &key);
    uint64_t hash = hash_bytes(key.at, key.n, 0);
    if (e->why || e->no_memory || map64_get(&e->known, hash))
        return;
    if (!device_cpu_export(e->p->context->engine.device, k->k, e->now, &e->arena, &code, &e->why)) {
        e->no_memory = !e->why;
        return;
    }
    packed_kernel head = {key.n, code.size, code.entry};
    map64_put(&e->arena, &e->known, hash, 1);
    add(&e->kernels, &head, sizeof head);
    add(&e->kernels, key.at, key.n);
    add(&e->kernels, code.bytes, code.size);
    e->count++;
}

static run_program *run_of(const sn_program *p, unsigned version)
{
    const program_version *other = version ? api_other_version(p, version) : NULL;
    return version ? (other ? other->run : NULL) : p->run;
}

/* Those that calls have needed. */
static sn_status take_called(exporting *e, const sn_program *p, const char **why)
{
    sn_status status = SN_OK;
    for (unsigned k = 0; k < API_VERSIONS && status == SN_OK; k++)
        if (run_of(p, k) && run_kernels(run_of(p, k)))
            status = run_visit_kernels(run_of(p, k), take_kernel, e, &e->arena, why);
    for (uint32_t i = 0; i < p->inside.n && status == SN_OK; i++)
        status = take_called(e, p->inside.at[i], why);
    return status;
}

static sn_status take_possible(exporting *e, sn_program *q, const sn_program *p, const char **why);

/* Of the programs for small extents that calls have made. */
static sn_status take_small(exporting *e, sn_program *q, const sn_program *p, const char **why)
{
    sn_status status = SN_OK;
    for (const small_extents *s = atomic_load(&p->small); s && status == SN_OK; s = s->next) {
        text line;
        ir_number known[SMALL_EXTENTS];
        uint32_t n = 0;
        text_init(&line, &e->arena);
        api_list_extents(p, s, &line);
        sn_program *same = s->program && api_read_extents(q, line.at, &n, known) ? api_program_for(q, n, known) : NULL;
        if (same)
            status = take_possible(e, same, s->program, why);
    }
    return status;
}

/* Those that calls may need, of the same program made for the vectors of a level. */
static sn_status take_possible(exporting *e, sn_program *q, const sn_program *p, const char **why)
{
    sn_status status = SN_OK;
    for (unsigned k = 0; k < API_VERSIONS && status == SN_OK; k++)
        if (run_of(q, k))
            status = run_visit_possible(run_of(q, k), run_of(p, k), take_kernel, e, &e->arena, why);
    for (uint32_t i = 0; i < q->inside.n && i < p->inside.n && status == SN_OK; i++)
        status = take_possible(e, q->inside.at[i], p->inside.at[i], why);
    return status == SN_OK ? take_small(e, q, p, why) : status;
}

static sn_status take_kernels(exporting *e, const char *terms)
{
    sn_context *cx = e->p->context;
    const uint32_t vectors = device_cpu_level_at(e->now)->vector_bytes;
    const char *why = "";
    sn_status status = SN_OK;
    bool no_memory = false;
    sn_program *q = api_parse_for(e->who, cx, terms, vectors, &no_memory);
    if (!q)
        return no_memory ? SN_NO_MEMORY : SN_INTERNAL; /* it is reported */
    if (vectors == cx->engine.device->limits->vector_bytes)
        status = take_called(e, e->p, &why);
    if (status == SN_OK)
        status = take_possible(e, q, e->p, &why);
    sn_drop(q);
    if (status == SN_OK && (e->why || e->no_memory)) {
        status = e->why ? SN_UNSUPPORTED : SN_NO_MEMORY;
        why = e->why ? e->why : "no memory to compile a kernel";
    }
    return status == SN_OK ? SN_OK : api_fail_at(cx, e->who, status, "%s", why);
}

static sn_status take_levels(exporting *e, const char *terms, text *out, uint32_t *levels)
{
    sn_status status = SN_OK;
    for (e->now = 0; e->now < CPU_LEVELS && status == SN_OK; e->now++) {
        if (!e->level[e->now])
            continue;
        text_init(&e->kernels, &e->arena);
        e->known = (map64){0};
        e->count = 0;
        status = take_kernels(e, terms);
        packed_level head = {.level = e->now,
                             .vector_bytes = device_cpu_level_at(e->now)->vector_bytes,
                             .kernels = e->count,
                             .bytes = e->kernels.n};
        add(out, &head, sizeof head);
        add(out, e->kernels.at, e->kernels.n);
        ++*levels;
    }
    return status;
}

/* --- the object --- */

/* An ELF object with one symbol, which is the data. */
typedef struct object {
    Elf64_Ehdr head;
    Elf64_Shdr section[6];
} object;

enum { NO_SECTION, DATA, SYMBOLS, STRINGS, SECTION_NAMES, STACK };

static bool write_object(exporting *e, const text *data)
{
    static const char names[] = "\0.rodata\0.symtab\0.strtab\0.shstrtab\0.note.GNU-stack";
    static const uint8_t place[] = {[DATA] = 1, [SYMBOLS] = 9, [STRINGS] = 17, [SECTION_NAMES] = 25, [STACK] = 35};
    text strings;
    text_init(&strings, &e->arena);
    text_add_n(&strings, "", 1);
    text_printf(&strings, "%s_exported", e->name);
    const Elf64_Sym symbol[2] = {
        {0}, {.st_name = 1, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), .st_shndx = DATA, .st_size = data->n}};
    object o = {.head = {.e_type = ET_REL,
                         .e_machine = (Elf64_Half)device_cpu_machine(),
                         .e_version = EV_CURRENT,
                         .e_shoff = offsetof(object, section),
                         .e_ehsize = sizeof(Elf64_Ehdr),
                         .e_shentsize = sizeof(Elf64_Shdr),
                         .e_shnum = 6,
                         .e_shstrndx = SECTION_NAMES}};
    memcpy(o.head.e_ident, ELFMAG, SELFMAG);
    o.head.e_ident[EI_CLASS] = ELFCLASS64;
    o.head.e_ident[EI_DATA] = ELFDATA2LSB;
    o.head.e_ident[EI_VERSION] = EV_CURRENT;
    const void *part[] = {
        [DATA] = data->at, [SYMBOLS] = symbol, [STRINGS] = strings.at, [SECTION_NAMES] = names, [STACK] = ""};
    const size_t bytes[] = {[DATA] = data->n,
                            [SYMBOLS] = sizeof symbol,
                            [STRINGS] = strings.n + 1,
                            [SECTION_NAMES] = sizeof names,
                            [STACK] = 0};
    static const uint32_t type[] = {[DATA] = SHT_PROGBITS,
                                    [SYMBOLS] = SHT_SYMTAB,
                                    [STRINGS] = SHT_STRTAB,
                                    [SECTION_NAMES] = SHT_STRTAB,
                                    [STACK] = SHT_PROGBITS};
    size_t at = rounded(sizeof o);
    for (unsigned i = DATA; i <= STACK; i++) {
        o.section[i] = (Elf64_Shdr){.sh_name = place[i],
                                    .sh_type = type[i],
                                    .sh_offset = at,
                                    .sh_size = bytes[i],
                                    .sh_addralign = i == DATA ? 64 : ALIGNED};
        if (i == DATA)
            o.section[i].sh_offset = at = (at + 63) / 64 * 64;
        at += rounded(bytes[i]);
    }
    o.section[DATA].sh_flags = SHF_ALLOC;
    o.section[SYMBOLS].sh_link = STRINGS;
    o.section[SYMBOLS].sh_info = 1; /* the first that is global */
    o.section[SYMBOLS].sh_entsize = sizeof(Elf64_Sym);
    bool good = fwrite(&o, sizeof o, 1, e->f) == 1;
    for (unsigned i = DATA; i <= STACK && good; i++)
        good =
            fseek(e->f, (long)o.section[i].sh_offset, SEEK_SET) == 0 && fwrite(part[i], 1, bytes[i], e->f) == bytes[i];
    return good && fwrite("", 1, 1, e->f) == 1; /* the last one, which is empty, begins within the file */
}

void export_signature(const sn_program *p, text *out)
{
    for (uint32_t i = 0; i < p->ports.params; i++)
        text_printf(out, "%s%s", i ? ", " : "", p->ports.param[i].text);
    text_add(out, p->ports.params ? " -> " : "-> ");
    for (uint32_t i = 0; i < p->ports.results; i++)
        text_printf(out, "%s%s", i ? ", " : "", p->ports.result[i].text);
}

static void name_levels(const exporting *e, text *out)
{
    const char *between = "";
    for (unsigned i = 0; i < CPU_LEVELS; i++)
        if (e->level[i]) {
            text_printf(out, "%s%s", between, device_cpu_level_at(i)->name);
            between = ", ";
        }
}

static bool write_header(exporting *e, const text *data)
{
    text signature, levels;
    const char *n = e->name;
    text_init(&signature, &e->arena);
    export_signature(e->p, &signature);
    text_init(&levels, &e->arena);
    name_levels(e, &levels);
    return fprintf(e->f,
                   "/* The exported program %s, %s: to be linked with %s.o and libsinter.\n * Code for %s. */\n"
                   "#ifndef SINTER_EXPORTED_%s_H\n#define SINTER_EXPORTED_%s_H\n\n#include <sinter/sinter.h>\n\n"
                   "#ifdef __cplusplus\nextern \"C\" {\n#endif\n"
                   "extern const unsigned char %s_exported[%zu];\n"
                   "#ifdef __cplusplus\n}\n#endif\n\n"
                   "/* The program; NULL after an error. Give it to sn_call, and free it with sn_drop. */\n"
                   "static inline sn_program *%s_open(sn_context *context)\n{\n"
                   "    return sn_import(context, %s_exported, sizeof %s_exported);\n}\n\n#endif\n",
                   n, signature.at, n, levels.at, n, n, n, data->n, n, n, n) > 0;
}

sn_status export_file(exporting *e, const char *ending, const text *data, bool (*write)(exporting *e, const text *data))
{
    const char *path = arena_printf(&e->arena, "%s.%s", e->prefix, ending);
    struct stat about;
    errno = 0;
    e->f = fopen(path, "wbe");
    const bool opened = e->f, plain = opened && fstat(fileno(e->f), &about) == 0 && S_ISREG(about.st_mode);
    bool good = opened && write(e, data);
    int error = errno;
    if (opened && fclose(e->f) && good) {
        good = false;
        error = errno;
    }
    e->f = NULL;
    if (good)
        return SN_OK;
    if (plain)
        remove(path); /* half a file looks like one */
    return api_fail_at(e->p->context, e->who, SN_FILE, "%s cannot be written: %s", path, strerror(error));
}

/* --- the whole --- */

static bool is_name(const char *s)
{
    bool good = isalpha((unsigned char)*s) || *s == '_';
    for (; *s && good; s++)
        good = isalnum((unsigned char)*s) || *s == '_';
    return good;
}

static sn_status export_program(exporting *e)
{
    text terms, small, data, levels;
    uint32_t count = 0;
    text_init(&terms, &e->arena);
    text_init(&small, &e->arena);
    text_init(&data, &e->arena);
    text_init(&levels, &e->arena);
    const char *said = sn_explain_at(e->who.at, e->p, "term"), *interface = device_cpu_interface();
    if (!said)
        return SN_NO_MEMORY; /* it is reported */
    text_add(&terms, said);
    for (const small_extents *s = atomic_load(&e->p->small); s; s = s->next)
        if (s->program)
            api_list_extents(e->p, s, &small);
    sn_status status = take_levels(e, terms.at, &levels, &count);
    if (status != SN_OK)
        return status;
    package head = {.version = VERSION, .machine = device_cpu_machine(), .levels = count};
    memcpy(head.magic, magic, sizeof magic);
    head.interface_bytes = strlen(interface) + 1;
    head.text_bytes = terms.n + 1;
    head.small_bytes = small.n + 1;
    head.bytes = sizeof head + rounded(head.interface_bytes) + rounded(head.text_bytes) + rounded(head.small_bytes) +
                 levels.n;
    add(&data, &head, sizeof head);
    add(&data, interface, head.interface_bytes);
    add(&data, terms.at, head.text_bytes);
    add(&data, small.at, head.small_bytes);
    add(&data, levels.at, levels.n);
    status = export_file(e, "o", &data, write_object);
    return status == SN_OK ? export_file(e, "h", &data, write_header) : status;
}

/* Memory that runs out is a status. */
static sn_status with_memory(exporting *e, bool sources)
{
    jmp_buf failure;
    volatile sn_status status = SN_NO_MEMORY;
    arena_init(&e->arena, &e->p->context->heap);
    if (!setjmp(failure)) {
        arena_on_failure(&e->arena, &failure);
        status = sources ? export_sources(e) : export_program(e);
    } else {
        api_fail_at(e->p->context, e->who, SN_NO_MEMORY, "no memory to export a program");
        if (e->f)
            fclose(e->f);
        if (e->taken)
            run_tapes_close(e->taken);
    }
    arena_free(&e->arena);
    return status;
}

/* The levels that a text names: "x86-64-v2 x86-64-v3", "all", or, without one, that of this processor. */
static bool choose_levels(exporting *e, const char *levels, unsigned own)
{
    const char *at = levels ? levels : "";
    bool any = false;
    for (at += strspn(at, " ,"); *at; at += strspn(at, " ,")) {
        const size_t n = strcspn(at, " ,");
        bool known = n == 3 && !memcmp(at, "all", 3);
        for (unsigned i = 0; i < CPU_LEVELS; i++) {
            const cpu_level *l = device_cpu_level_at(i);
            const bool named = l && strlen(l->name) == n && !memcmp(at, l->name, n);
            e->level[i] |= l && (named || (n == 3 && !memcmp(at, "all", 3)));
            known |= named;
        }
        if (!known)
            return false;
        any = true;
        at += n;
    }
    if (!any)
        e->level[own] = true;
    return true;
}

static sn_status fail_levels(exporting *e, const char *levels)
{
    char all[128] = "";
    for (unsigned i = 0; i < CPU_LEVELS; i++)
        if (device_cpu_level_at(i))
            snprintf(all + strlen(all), sizeof all - strlen(all), "%s, ", device_cpu_level_at(i)->name);
    return api_fail_at(e->p->context, e->who, SN_BAD_ARGUMENT,
                       "\"%s\" is no set of instructions; they are named %sor \"all\"", levels, all);
}

sn_status sn_export_at(sn_site at, sn_program *p, const char *prefix)
{
    return sn_export_for_at(at, p, prefix, NULL);
}

sn_status sn_export_for_at(sn_site at, sn_program *p, const char *prefix, const char *levels)
{
    exporting e = {.p = p, .who = api_function_at(at, "export"), .prefix = prefix};
    if (!p || handle_stale(p, HANDLE_PROGRAM, "sn_export"))
        return p ? SN_BAD_HANDLE : SN_NO_PROGRAM;
    sn_context *cx = p->context;
    const char *slash = prefix ? strrchr(prefix, '/') : NULL;
    e.name = slash ? slash + 1 : prefix;
    if (!prefix || !is_name(e.name))
        return api_fail_at(cx, e.who, SN_BAD_ARGUMENT, "\"%s\" does not end with a name of C's; write \"folder/name\"",
                           prefix ? prefix : "(null)");
    const char *kind = cx->engine.device ? cx->engine.device->limits->kind : "";
    const bool sources = !strcmp(kind, "opencl") || !strcmp(kind, "cuda");
    const unsigned own = strcmp(kind, "cpu") ? 0 : device_cpu_level(cx->engine.device);
    if (!sources && !own)
        return api_fail_at(cx, e.who, SN_UNSUPPORTED,
                           "no code for this device; programs are exported from the device \"cpu\" of an x86-64 or "
                           "AArch64 processor, and as sources from "
                           "\"opencl\" and \"cuda\"");
    if (!sources && !strcmp(e.name, "sn")) /* the header would declare it again */
        return api_fail_at(cx, e.who, SN_BAD_ARGUMENT, "\"sn_open\" is a function of the library; choose another name");
    if (sources && levels)
        return api_fail_at(cx, e.who, SN_BAD_ARGUMENT,
                           "\"%s\": sets of instructions are chosen for the device \"cpu\"; sources of other devices "
                           "are for all that their compilers know",
                           levels);
    if (!sources && !choose_levels(&e, levels, own))
        return fail_levels(&e, levels);
    return with_memory(&e, sources);
}

/* --- back --- */

typedef struct reader {
    const char *at;
    size_t left;
} reader;

static const void *next(reader *r, uint64_t bytes)
{
    const char *here = r->at;
    if (bytes > r->left || rounded(bytes) > r->left)
        return NULL;
    r->at += rounded(bytes);
    r->left -= rounded(bytes);
    return here;
}

/* The kernels of a level, if `use`, become the device's. */
static bool take_code(sn_context *cx, const packed_level *level, reader *r, bool use)
{
    const size_t left = r->left;
    for (uint32_t i = 0; i < level->kernels; i++) {
        const packed_kernel *k = next(r, sizeof *k);
        const void *key = k ? next(r, k->key_bytes) : NULL, *code = key ? next(r, k->code_bytes) : NULL;
        if (!code || k->entry >= k->code_bytes)
            return false;
        if (use) /* without memory it is compiled */
            use =
                device_cpu_supply(cx->engine.device, key, k->key_bytes, (emit_cpu_blob){code, k->code_bytes, k->entry});
    }
    return left - r->left == level->bytes;
}

/* Goes over all levels; supplies the code of the one that is `wanted`. *best: the highest one that is not above `most`.
 */
static bool take_levels_of(sn_context *cx, const package *head, reader r, unsigned most, unsigned wanted,
                           const packed_level **best)
{
    for (uint32_t i = 0; i < head->levels; i++) {
        const packed_level *l = next(&r, sizeof *l);
        if (!l || !take_code(cx, l, &r, wanted && l->level == wanted))
            return false;
        const cpu_level *known = device_cpu_level_at(l->level);
        if (l->level <= most && known && known->vector_bytes == l->vector_bytes &&
            (!*best || (*best)->level < l->level))
            *best = l;
    }
    return !r.left;
}

/* The programs that kernels have come for. */
static void make_small(sn_program *p, const char *line)
{
    uint32_t n = 0;
    ir_number known[SMALL_EXTENTS];
    while (line && *line) {
        line = api_read_extents(p, line, &n, known);
        if (line)
            api_program_for(p, n, known);
    }
}

sn_program *sn_import_at(sn_site at, sn_context *cx, const void *data, size_t bytes)
{
    const api_who who = api_function_at(at, "import");
    if (!api_is_open(cx, who))
        return NULL;
    reader r = {data, data ? bytes : 0};
    const package *head = next(&r, sizeof *head);
    const bool right = head && !memcmp(head->magic, magic, sizeof magic) && head->version == VERSION &&
                       head->bytes == bytes && head->interface_bytes && head->text_bytes && head->small_bytes;
    const char *interface = right ? next(&r, head->interface_bytes) : NULL;
    const char *terms = interface ? next(&r, head->text_bytes) : NULL;
    const char *small = terms ? next(&r, head->small_bytes) : NULL;
    const packed_level *best = NULL;
    const device *d = cx->engine.device;
    if (!small || interface[head->interface_bytes - 1] || terms[head->text_bytes - 1] || small[head->small_bytes - 1] ||
        !take_levels_of(cx, head, r, d && !api_own_memory(cx) ? device_cpu_level(d) : 0, 0, &best)) {
        api_fail_at(cx, who, SN_BAD_ARGUMENT,
                    "this is no exported program, or one of another version of the library; give what sn_export has "
                    "written, whole");
        return NULL;
    }
    if (best && (head->machine != device_cpu_machine() || strcmp(interface, device_cpu_interface()) != 0))
        best = NULL;
    if (best)
        take_levels_of(cx, head, r, best->level, best->level, &best);
    sn_program *p = api_parse_for(who, cx, terms, best ? best->vector_bytes : 0, NULL);
    if (p && best)
        make_small(p, small);
    return p;
}
