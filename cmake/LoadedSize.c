/* Prints the bytes of address space that a library takes with all that it needs, once it is loaded. */
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

static unsigned long long taken(void)
{
    unsigned long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f)
        return 0;
    if (fscanf(f, "%lu", &pages) != 1)
        pages = 0;
    fclose(f);
    return (unsigned long long)pages * (unsigned long long)sysconf(_SC_PAGESIZE);
}

int main(int argc, char **argv)
{
    unsigned long long before = taken();
    if (argc < 2 || !before || !dlopen(argv[1], RTLD_NOW | RTLD_LOCAL))
        return 1;
    printf("%llu", taken() - before);
    return 0;
}
