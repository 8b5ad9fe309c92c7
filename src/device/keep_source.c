/* The file's name is new and its mode 0600, so nobody else's file is written to. */
#include "device/keep_source.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static bool write_all(int file, const char *bytes, size_t n)
{
    while (n) {
        ssize_t done = write(file, bytes, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        bytes += done;
        n -= (size_t)done;
    }
    return true;
}

const char *keep_source(const char *source, const char *suffix, arena *a)
{
    const char *folder = secure_getenv("TMPDIR");
    char *path = arena_printf(a, "%s/sinter-XXXXXX%s", folder && *folder ? folder : "/tmp", suffix);
    int file = mkstemps(path, (int)strlen(suffix));
    if (file < 0)
        return NULL;
    bool good = write_all(file, source, strlen(source));
    good = close(file) == 0 && good;
    if (good)
        return path;
    unlink(path);
    return NULL;
}
