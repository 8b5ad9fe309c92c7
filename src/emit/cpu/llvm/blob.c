/* Object files become one position-independent blob of code and constants: sections laid out one behind the other,
 * relocations within and between them applied. Anything that reaches outside is refused, so a blob can be stored and
 * mapped at any address. */
#include "emit/cpu/llvm/outline.h"
#include <elf.h>
#include <stdlib.h>

enum { MOST_ALIGNMENT = 4096 /* a blob starts on a page */ };

typedef struct object object;
struct object {
    const uint8_t *at;
    size_t bytes;
    const Elf64_Ehdr *head;
    const Elf64_Shdr *section;
    size_t *place; /* per section: offset in the blob; SIZE_MAX: not in it */
    const Elf64_Sym *symbol;
    const char *name;
    size_t symbols;
    uint8_t *out;
    object *all; /* number of an object -> the object */
    uint32_t objects;
    arena *arena;
    const char *why;
};

static bool wrong(object *o, const char *why)
{
    o->why = why;
    return false;
}

static bool inside(const object *o, size_t from, size_t bytes)
{
    return from <= o->bytes && bytes <= o->bytes - from;
}

static bool open_object(object *o)
{
    o->head = (const Elf64_Ehdr *)(const void *)o->at;
    if (o->bytes < sizeof(Elf64_Ehdr) || memcmp(o->head->e_ident, ELFMAG, SELFMAG) != 0 || o->head->e_type != ET_REL ||
        o->head->e_machine != EM_X86_64)
        return wrong(o, "the code generator did not make an x86-64 ELF object");
    if (!inside(o, o->head->e_shoff, (size_t)o->head->e_shnum * sizeof(Elf64_Shdr)))
        return wrong(o, "damaged object file");
    o->section = (const Elf64_Shdr *)(const void *)(o->at + o->head->e_shoff);
    for (unsigned i = 0; i < o->head->e_shnum; i++) {
        const Elf64_Shdr *s = &o->section[i];
        if (s->sh_type != SHT_NOBITS && !inside(o, s->sh_offset, s->sh_size))
            return wrong(o, "damaged object file");
        if (s->sh_type != SHT_SYMTAB)
            continue;
        o->symbol = (const Elf64_Sym *)(const void *)(o->at + s->sh_offset);
        o->symbols = s->sh_size / sizeof(Elf64_Sym);
        o->name = (const char *)o->at + o->section[s->sh_link].sh_offset;
    }
    return o->symbol ? true : wrong(o, "object file without symbols");
}

/* From `end` on; returns where it ends, 0 if it cannot be. */
static size_t lay_out(object *o, size_t end, arena *a)
{
    o->place = arena_array(a, *o->place, o->head->e_shnum);
    for (unsigned i = 0; i < o->head->e_shnum; i++) {
        const Elf64_Shdr *s = &o->section[i];
        o->place[i] = SIZE_MAX;
        if (!(s->sh_flags & SHF_ALLOC) || s->sh_type != SHT_PROGBITS || (s->sh_flags & SHF_WRITE))
            continue; /* unwind tables and notes are not needed; writable data does not occur */
        size_t align = s->sh_addralign ? s->sh_addralign : 1;
        if (align > MOST_ALIGNMENT) {
            wrong(o, "a section is aligned to more than a page");
            return 0;
        }
        end = (end + align - 1) / align * align;
        o->place[i] = end;
        end += s->sh_size;
    }
    return end;
}

/* A function, by its name. */
static bool find(const object *o, const char *name, size_t *place)
{
    for (size_t i = 0; i < o->symbols; i++) {
        const Elf64_Sym *s = &o->symbol[i];
        if (strcmp(o->name + s->st_name, name) == 0 && s->st_shndx != SHN_UNDEF && s->st_shndx < o->head->e_shnum &&
            o->place[s->st_shndx] != SIZE_MAX) {
            *place = o->place[s->st_shndx] + s->st_value;
            return true;
        }
    }
    return false;
}

/* Where a symbol is in the blob: in this object, or the part that another one is. */
static bool resolve(object *o, const Elf64_Sym *s, size_t *place)
{
    const char *name = o->name + s->st_name;
    if (s->st_shndx == SHN_UNDEF && strncmp(name, CG_PART_NAME, strlen(CG_PART_NAME)) == 0) {
        unsigned long number = strtoul(name + strlen(CG_PART_NAME), NULL, 10);
        if (number < o->objects && find(&o->all[number], name, place))
            return true;
    }
    if (s->st_shndx == SHN_UNDEF || s->st_shndx >= o->head->e_shnum || o->place[s->st_shndx] == SIZE_MAX)
        return wrong(o, s->st_shndx == SHN_UNDEF
                            ? arena_printf(o->arena, "it calls \"%s\", which it does not define", name)
                            : "it has variables, or tables of addresses, for which there is no place");
    *place = o->place[s->st_shndx] + s->st_value;
    return true;
}

static bool relocate(object *o, size_t section, const Elf64_Rela *r)
{
    size_t target;
    unsigned type = (unsigned)ELF64_R_TYPE(r->r_info);
    size_t bytes = type == R_X86_64_PC64 ? 8 : 4;
    if (type != R_X86_64_PC32 && type != R_X86_64_PLT32 && type != R_X86_64_PC64)
        return wrong(o, "compiled code has a relocation that is not relative");
    if (!resolve(o, &o->symbol[ELF64_R_SYM(r->r_info)], &target))
        return false;
    if (r->r_offset > o->section[section].sh_size || bytes > o->section[section].sh_size - r->r_offset)
        return wrong(o, "damaged object file");
    size_t at = o->place[section] + r->r_offset;
    int64_t value = (int64_t)target + r->r_addend - (int64_t)at;
    int32_t near = (int32_t)value;
    if (bytes == 4)
        memcpy(o->out + at, &near, 4);
    else
        memcpy(o->out + at, &value, 8);
    return true;
}

static bool copy_and_relocate(object *o)
{
    for (unsigned i = 0; i < o->head->e_shnum; i++)
        if (o->place[i] != SIZE_MAX)
            memcpy(o->out + o->place[i], o->at + o->section[i].sh_offset, o->section[i].sh_size);
    for (unsigned i = 0; i < o->head->e_shnum; i++) {
        const Elf64_Shdr *s = &o->section[i];
        if (s->sh_type != SHT_RELA || s->sh_info >= o->head->e_shnum || o->place[s->sh_info] == SIZE_MAX)
            continue;
        const Elf64_Rela *r = (const Elf64_Rela *)(const void *)(o->at + s->sh_offset);
        for (size_t j = 0; j < s->sh_size / sizeof(*r); j++)
            if (!relocate(o, s->sh_info, &r[j]))
                return false;
    }
    return true;
}

static bool copy_all(uint32_t n, object *o, uint8_t *out, const char **why)
{
    for (uint32_t i = 0; i < n; i++) {
        o[i].out = out;
        if (!copy_and_relocate(&o[i])) {
            *why = o[i].why;
            return false;
        }
    }
    return true;
}

bool cg_blob_make(uint32_t n, const cg_object *given, arena *a, emit_cpu_blob *out, const char **why)
{
    object *o = arena_array(a, *o, n);
    size_t size = 0, entry = 0;
    for (uint32_t i = 0; i < n; i++) {
        o[i] = (object){.at = given[i].at, .bytes = given[i].bytes, .all = o, .objects = n, .arena = a};
        size = open_object(&o[i]) ? lay_out(&o[i], size, a) : 0;
        *why = o[i].why;
        if (!size)
            return false;
    }
    uint8_t *bytes = calloc(1, size);
    if (!bytes) {
        *why = "no memory for compiled code";
        return false;
    }
    *why = "object file without entry";
    if (copy_all(n, o, bytes, why) && find(&o[n - 1], "entry", &entry)) {
        *out = (emit_cpu_blob){bytes, size, entry};
        return true;
    }
    *why = arena_printf(a, "compiled code cannot be loaded: %s", *why);
    free(bytes);
    return false;
}
