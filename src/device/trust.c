/* Looks at the owner and the mode of a file and of all folders above it. */
#include "device/trust.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

static const char anchor = 0; /* an address of this code's own file */

/* --- the file that this code was loaded from --- */

/* What the system says is mapped at the address. */
static const char *mapped_file(const void *at, arena *a)
{
    char line[PATH_MAX + 128]; /* the arena may run out: nothing else is open or held then */
    const char *found = NULL;
    FILE *f = fopen("/proc/self/maps", "re");
    while (f && !found && fgets(line, sizeof(line), f)) {
        uintptr_t first, last;
        char *slash = strchr(line, '/');
        if (!slash || sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &first, &last) != 2 || (uintptr_t)at < first ||
            (uintptr_t)at >= last)
            continue;
        slash[strcspn(slash, "\n")] = '\0';
        found = slash;
    }
    if (f)
        fclose(f);
    return found ? arena_string(a, found) : NULL;
}

/* The loader knows a library by the name that it was found under, which is relative to a folder that may have changed
 * since if the search path was; the program itself has no name there. */
const char *trust_own_library(arena *a)
{
    Dl_info info;
    struct link_map *map = NULL;
    void *extra = NULL;
    if (!dladdr1(&anchor, &info, &extra, RTLD_DL_LINKMAP))
        return NULL;
    map = extra;
    if (!map || !map->l_name || !*map->l_name)
        return NULL;
    return map->l_name[0] == '/' ? arena_string(a, map->l_name) : mapped_file(&anchor, a);
}

/* --- owners --- */

enum { MOST_OWNERS = 4 };

typedef struct owners {
    uid_t at[MOST_OWNERS];
    int n;
} owners;

static void add_owner_of(owners *o, const char *path)
{
    struct stat s;
    if (path && stat(path, &s) == 0)
        o->at[o->n++] = s.st_uid;
}

static const char *own_file(arena *a)
{
    const char *library = trust_own_library(a);
    return library ? library : "/proc/self/exe";
}

/* The owner of the root folder is the administrator in containers too, where he may have another number. */
static owners trusted_owners(arena *a)
{
    owners o = {{0, geteuid()}, 2};
    add_owner_of(&o, "/");
    add_owner_of(&o, own_file(a));
    return o;
}

static bool has(const owners *o, uid_t owner)
{
    for (int i = 0; i < o->n; i++)
        if (o->at[i] == owner)
            return true;
    return false;
}

static const char *refuses_one(const owners *o, const char *path, const struct stat *s, bool may_be_shared, arena *a)
{
    if (!has(o, s->st_uid))
        return arena_printf(a, "%s belongs to another user (number %ld)", path, (long)s->st_uid);
    if ((s->st_mode & S_IWOTH) && !(may_be_shared && (s->st_mode & S_ISVTX)))
        return arena_printf(a, "everybody may write to %s", path);
    return NULL;
}

/* `path` is absolute and without links; its end is cut off folder by folder. */
static const char *refuses_folders(const owners *o, char *path, arena *a)
{
    struct stat s;
    for (bool nearest = true; *path; nearest = false) {
        char *slash = strrchr(path, '/');
        *slash = '\0';
        const char *folder = *path ? path : "/";
        if (stat(folder, &s) != 0)
            return arena_printf(a, "%s cannot be read", folder);
        const char *why = refuses_one(o, folder, &s, !nearest, a);
        if (why)
            return why;
    }
    return NULL;
}

static const char *refuses(const owners *o, const char *path, arena *a)
{
    struct stat s;
    char whole[PATH_MAX];
    if (!realpath(path, whole))
        return "there is no such file";
    if (stat(whole, &s) != 0 || !S_ISREG(s.st_mode))
        return "it is no file";
    const char *why = refuses_one(o, whole, &s, false, a);
    return why ? why : refuses_folders(o, whole, a);
}

/* Whoever may write to this code's own file need not bring another. Only a program with more rights than its caller may
 * have been linked to from a folder of the caller's. */
static bool own_file_is_open(const owners *o, arena *a)
{
    return !getauxval(AT_SECURE) && refuses(o, own_file(a), a);
}

const char *trust_refuses(const char *path, arena *a)
{
    if (*path != '/')
        return "the path is relative";
    if (access(path, F_OK) != 0)
        return "there is no such file";
    owners o = trusted_owners(a);
    const char *why = refuses(&o, path, a);
    return why && own_file_is_open(&o, a) ? NULL : why;
}
