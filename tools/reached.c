/* Marks which code of the libraries runs, for tools/reached.py. They are compiled with -fsanitize-coverage=trace-pc, which
 * calls the function below at the start of each block of code, and linked with this. SINTER_MARKS names a folder with a file
 * for each library, as long as what is loaded of it: the byte at the place where a call returns to becomes 1. */
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct loaded {
    uintptr_t from, to;
    unsigned char *marks; /* NULL: nothing is marked */
};

enum { MOST = 64 };

static struct loaded loaded[MOST];
static _Atomic unsigned known;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void __sanitizer_cov_trace_pc(void);

static int holds(struct dl_phdr_info *info, size_t bytes, void *context)
{
    (void)bytes;
    struct loaded *l = context;
    uintptr_t place = l->from, end = 0;
    int found = 0;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD) {
            uintptr_t from = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr, to = from + info->dlpi_phdr[i].p_memsz;
            found |= place >= from && place < to;
            end = to > end ? to : end;
        }
    if (!found)
        return 0;
    l->from = info->dlpi_addr;
    l->to = end;
    const char *folder = getenv("SINTER_MARKS"), *name = strrchr(info->dlpi_name, '/');
    char path[4096];
    if (!folder || snprintf(path, sizeof(path), "%s/%s", folder, name ? name + 1 : info->dlpi_name) >= (int)sizeof(path))
        return 1;
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0)
        return 1;
    void *marks = mmap(NULL, l->to - l->from, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    l->marks = marks == MAP_FAILED ? NULL : marks;
    close(file);
    return 1;
}

static const struct loaded *look(uintptr_t place)
{
    unsigned n = known;
    for (unsigned i = 0; i < n; i++)
        if (place >= loaded[i].from && place < loaded[i].to)
            return &loaded[i];
    return NULL;
}

void __sanitizer_cov_trace_pc(void)
{
    uintptr_t place = (uintptr_t)__builtin_return_address(0);
    const struct loaded *l = look(place);
    if (!l) {
        pthread_mutex_lock(&lock);
        l = look(place);
        if (!l && known < MOST) {
            struct loaded one = {.from = place, .to = place + 1};
            dl_iterate_phdr(holds, &one);
            loaded[known] = one;
            l = &loaded[known++];
        }
        pthread_mutex_unlock(&lock);
    }
    if (l && l->marks)
        l->marks[place - l->from] = 1;
}
