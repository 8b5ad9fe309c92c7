#include "support/exported.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *exported_folder(void)
{
    static char name[200];
    const char *in = getenv("SINTER_TEST_DIR");
    snprintf(name, sizeof name, "%s/drivers-%ld", in ? in : "/tmp", (long)getpid());
    assert_true(mkdir(name, 0700) == 0 || errno == EEXIST);
    return name;
}

const char *exported_path(const char *name, const char *ending)
{
    static char path[4][400];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s%s", exported_folder(), name, ending);
    return path[turn];
}

void exported_write(const char *path, const void *data, size_t bytes)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, bytes, f), bytes);
    fclose(f);
}

void exported_must_run(const char *command)
{
    if (system(command))
        fail_msg("fails: %s", command);
}

void exported_compile(const char *name, const char *host, bool opencl)
{
    char command[3000];
    exported_write(exported_path("main", ".c"), host, strlen(host));
#ifdef __SANITIZE_ADDRESS__
    const char sanitized[] = "-fsanitize=address"; /* as the stand-in is that it is linked with */
#else
    const char sanitized[] = "";
#endif
    snprintf(
        command, sizeof command,
        "cd %s && %s %s -std=c17 -Wall -Wextra -Wpedantic -Werror -fsanitize=bounds -fsanitize-undefined-trap-on-error "
        "-D_GNU_SOURCE -DCL_TARGET_OPENCL_VERSION=120 -D%s -DNAME=%s "
        "-DHEADER='\"%s.h\"' %s main.c %s.c %s -o %s.host",
        exported_folder(), SN_TEST_CC, sanitized, opencl ? "OPENCL" : "CUDA", name, name,
        opencl ? "" : "-I" SN_TEST_CUDA_INCLUDE, name, opencl ? SN_TEST_OPENCL : SN_TEST_CUDA " " SN_TEST_NVRTC, name);
    exported_must_run(command);
    snprintf(command, sizeof command,
             "cd %s && { ! command -v clang >/dev/null || clang -std=c17 -Wall -Wextra -Wpedantic -Werror "
             "-fsyntax-only %s %s.c; }",
             exported_folder(), opencl ? "" : "-I" SN_TEST_CUDA_INCLUDE, name);
    exported_must_run(command);
}

const char *exported_kind(sn_context *cx)
{
    return cx && cx->engine.device ? cx->engine.device->limits->kind : "";
}
