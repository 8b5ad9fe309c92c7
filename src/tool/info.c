/* sinter-info: which devices there are, what they have, and why one is not usable. */
#include "device/cpu_codegen.h"
#include "device/device.h"
#include <sinter/sinter.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char usage[] =
    "usage: sinter-info [--json] [--help] [--version]\n\n"
    "Lists the devices that sn_open finds, with the name to open each with, its memory and its\n"
    "compute units, and why one is not usable. --json prints the same for programs.\n";

/* --- the CPU --- */

static const char *processor_name(arena *a)
{
    char line[512];
    const char *name = "CPU";
    FILE *f = fopen("/proc/cpuinfo", "re");
    if (!f)
        return name;
    while (fgets(line, sizeof(line), f)) {
        char *colon = strchr(line, ':');
        if (!colon || strncmp(line, "model name", 10))
            continue;
        colon[strcspn(colon, "\n")] = '\0';
        name = arena_string(a, colon + 1 + strspn(colon + 1, " \t"));
        break;
    }
    fclose(f);
    return name;
}

static size_t memory_of_machine(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
    return pages > 0 && bytes > 0 ? (size_t)pages * (size_t)bytes : 0;
}

/* An installation that was moved since has its libraries still at the same place from here. */
static const emit_cpu_module *open_moved(arena *a)
{
    char path[4096];
    const char *no_code = NULL;
    ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
    if (n <= 0)
        return NULL;
    path[n] = '\0';
    *strrchr(path, '/') = '\0';
    return cpu_codegen_open(arena_printf(a, "%s/" SN_LIBRARIES_FROM_PROGRAMS "/sinter", path), a, &no_code);
}

/* Without a code generator it still runs what is on disk, and interprets the rest. */
static void list_cpu(arena *a, device_infos *out)
{
    const char *why = NULL, *no_code = NULL;
    const emit_cpu_module *module = cpu_codegen_open(NULL, a, &no_code);
    if (!module && !secure_getenv("SINTER_CODEGEN"))
        module = open_moved(a);
    device_info info = {.kind = "cpu", .name = processor_name(a), .memory = memory_of_machine(), .driver = ""};
    device *d = device_cpu_open(NULL, a, &why);
    if (d) {
        info.name = arena_printf(a, "%s, %s", info.name, d->limits->name);
        info.workers = d->limits->workers;
        d->close(d);
    }
    info.driver = module ? module->identity : arena_printf(a, "programs are interpreted: %s", no_code);
    info.why = d ? NULL : why;
    vec_push(a, out, info);
}

/* --- output --- */

/* What sn_options.device takes: the first of a kind is called by the kind alone. */
static const char *open_name(const device_info *d, arena *a)
{
    if (d->why)
        return "";
    return d->number ? arena_printf(a, "%s:%u", d->kind, d->number) : d->kind;
}

static void print_device(const device_info *d, arena *a)
{
    printf("%-10s %s\n", d->why ? d->kind : open_name(d, a), *d->name ? d->name : "none");
    if (d->memory)
        printf("%-10s %.1f GiB of memory, %u compute unit%s\n", "", (double)d->memory / (1 << 30), d->workers,
               d->workers == 1 ? "" : "s");
    if (*d->driver)
        printf("%-10s %s\n", "", d->driver);
    if (d->why)
        printf("%-10s not usable: %s\n", "", d->why);
}

static void json_text(const char *s)
{
    putchar('"');
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            printf("\\%c", c);
        else if (c < 0x20)
            printf("\\u%04x", c);
        else
            putchar(c);
    }
    putchar('"');
}

static void json_field(const char *name, const char *value)
{
    printf("\"%s\": ", name);
    if (value && *value)
        json_text(value);
    else
        fputs("null", stdout);
}

static void json_number(const char *name, size_t value)
{
    printf(", \"%s\": ", name);
    if (value)
        printf("%zu", value);
    else
        fputs("null", stdout);
}

static void print_json(const device_infos *all, arena *a)
{
    puts("[");
    for (uint32_t i = 0; i < all->n; i++) {
        const device_info *d = &all->at[i];
        fputs("  {", stdout);
        json_field("device", open_name(d, a));
        fputs(", ", stdout);
        json_field("kind", d->kind);
        fputs(", ", stdout);
        json_field("name", d->name);
        fputs(", ", stdout);
        json_field("driver", d->driver);
        json_number("memory", d->memory);
        json_number("units", d->workers);
        printf(", \"usable\": %s, ", d->why ? "false" : "true");
        json_field("why", d->why);
        printf("}%s\n", i + 1 < all->n ? "," : "");
    }
    puts("]");
}

static void list(bool json)
{
    arena a;
    device_infos all = {0};
    arena_init(&a, NULL);
    list_cpu(&a, &all);
    device_cuda_list(&a, &all);
    device_opencl_list(&a, &all);
    if (json)
        print_json(&all, &a);
    else
        for (uint32_t i = 0; i < all.n; i++)
            print_device(&all.at[i], &a);
    arena_free(&a);
}

/* The status to end with. */
static int finish(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return 0;
    fprintf(stderr, "sinter-info: the output cannot be written: %s\n", strerror(errno));
    return 1;
}

int main(int n, char **argument)
{
    bool json = false;
    for (int i = 1; i < n; i++) {
        if (strcmp(argument[i], "--help") == 0) {
            fputs(usage, stdout);
            return finish();
        }
        if (strcmp(argument[i], "--version") == 0) {
            int v = sn_version();
            printf("sinter-info %d.%d.%d\n", v / 10000, v / 100 % 100, v % 100);
            return finish();
        }
        if (strcmp(argument[i], "--json") != 0) {
            fprintf(stderr, "sinter-info: unknown argument %s\n%s", argument[i], usage);
            return 2;
        }
        json = true;
    }
    list(json);
    return finish();
}
