/* A user's program: user VERSION. */
#include <sinter/dlpack.h>
#include <sinter/sinter.h>

#include <stdio.h>
#include <string.h>

static sn_acc dotp(sn_acc xs, sn_acc ys)
{
    return sn_fold(sn_add, 0, sn_zip_with(sn_mul, xs, ys));
}

/* Says where the code generator came from. */
static void print_generator(void)
{
    char line[4096];
    FILE *f = fopen("/proc/self/maps", "r");
    while (f && fgets(line, sizeof(line), f))
        if (strstr(line, "libsinter-llvm")) {
            fputs(strchr(line, '/'), stdout);
            break;
        }
    if (f)
        fclose(f);
}

int main(int argc, char **argv)
{
    const float a[] = {1, 2, 3}, b[] = {4, 5, 6};
    float r = 0;
    char version[32];
    snprintf(version, sizeof(version), "%d.%d.%d", SN_VERSION_MAJOR, SN_VERSION_MINOR, SN_VERSION_PATCH);
    if (argc < 2 || strcmp(version, argv[1]) || sn_version() != SN_VERSION)
        return 2;
    sn_context *cx = sn_open(NULL);
    sn_program *dot = sn_compile(cx, "[n]f32, [n]f32 -> f32", dotp);
    sn_status status = sn_call(dot, sn_in(a, 3), sn_in(b, 3), sn_value(&r));
    if (status != SN_OK)
        printf("%s: %s\n", sn_status_name(status), sn_message(cx));
    print_generator();
    sn_drop(dot);
    sn_close(cx);
    return status != SN_OK || r != 32;
}
