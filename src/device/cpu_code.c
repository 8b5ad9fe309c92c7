/* Maps machine code, and describes the processor as the code generator would see it, from the instruction that it asks too. */
#include "device/cpu_code.h"

#include "device/cpu_export.h"
#include "emit/identity.h"
#include <sys/mman.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

bool cpu_code_map(const emit_cpu_blob *blob, cpu_code *out)
{
    *out = (cpu_code){0};
    if (blob->entry >= blob->size)
        return false;
    void *map = mmap(NULL, blob->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED)
        return false;
    memcpy(map, blob->bytes, blob->size);
    if (mprotect(map, blob->size, PROT_READ | PROT_EXEC) != 0) {
        munmap(map, blob->size);
        return false;
    }
    __builtin___clear_cache((char *)map, (char *)map + blob->size);
    *out = (cpu_code){.map = map, .bytes = blob->size};
    void *at = (char *)map + blob->entry;
    memcpy(&out->entry, &at, sizeof(at)); /* ISO C has no cast from data to function pointers */
    return true;
}

void cpu_code_unmap(cpu_code *code)
{
    if (code->map)
        munmap(code->map, code->bytes);
    *code = (cpu_code){0};
}

#if defined(__x86_64__)
/* Leaf, subleaf and the registers (bits: eax, ebx, ecx, edx) that name the processor or its features. The rest differs from core to
 * core: the number of the core, for one. */
static const struct {
    unsigned leaf, subleaf, registers;
} leaves[] = {{0, 0, 15},       {1, 0, 1 | 4 | 8}, {7, 0, 15},          {7, 1, 15},         {0xd, 1, 1},        {0x14, 0, 2},
              {0x19, 0, 2},     {0x24, 0, 2},      {0x80000001, 0, 4 | 8}, {0x80000008, 0, 2}};

/* Registers that the system saves: without them a feature is of no use. */
static uint64_t saved_registers(void)
{
    unsigned a, b, c, d, low, high;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
        return 0;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

static bool describe_processor(text *out)
{
    text_printf(out, "x86-64 %llx", (unsigned long long)saved_registers());
    for (size_t i = 0; i < ARRAY_LENGTH(leaves); i++) {
        unsigned r[4] = {0};
        if (!__get_cpuid_count(leaves[i].leaf, leaves[i].subleaf, &r[0], &r[1], &r[2], &r[3]))
            continue;
        for (unsigned k = 0; k < 4; k++)
            if (leaves[i].registers >> k & 1)
                text_printf(out, " %x", r[k]);
        text_add(out, ";");
    }
    return true;
}
#else
static bool describe_processor(text *out)
{
    (void)out;
    return false;
}
#endif

bool cpu_code_identity(text *out)
{
    text_add(out, EMIT_CPU_IDENTITY "\n");
    if (!describe_processor(out))
        return false;
    text_add_n(out, "\n", 2); /* a NUL parts it from the kernel's own key */
    return true;
}

const char *device_cpu_interface(void)
{
    return EMIT_CPU_IDENTITY;
}
