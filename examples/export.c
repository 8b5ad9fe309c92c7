/* A program that leaves the compiler behind: written to an object and a header, with code for several sets of
 * instructions, of which it takes the best that the processor has when it runs. examples/exported/main.c runs it:
 *
 *     export folder/sharpen
 *     cc -Ifolder examples/exported/main.c folder/sharpen.o -lsinter -lm -lpthread -ldl */
#include <sinter/sinter.h>

#include <stdio.h>

static sn_scalar sharper(sn_scalar s)
{
    sn_scalar around = sn_add(sn_add(sn_at(s, -1, 0), sn_at(s, 1, 0)), sn_add(sn_at(s, 0, -1), sn_at(s, 0, 1)));
    return sn_sub(sn_mul(sn_at(s, 0, 0), 2.0f), sn_mul(around, 0.25f));
}

/* An image, sharpened, and how bright each of its columns is. */
static sn_acc sharpen(sn_acc image)
{
    sn_acc result = sn_stencil(sharper, sn_pattern(3, 3), sn_clamp, image);
    return sn_results(result, sn_sum(sn_transpose(result)));
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: export FOLDER/NAME\n");
        return 2;
    }
    sn_context *cx = sn_open(&(sn_options){.size = sizeof(sn_options), .device = "cpu"});
    sn_program *p = cx ? sn_compile(cx, "[rows,columns]f32 -> [rows,columns]f32, [columns]f32", sharpen) : NULL;
    sn_status status = p ? sn_export_for(p, argv[1], "all") : SN_NO_PROGRAM;
    if (status != SN_OK)
        fprintf(stderr, "%s\n", cx ? sn_message(cx) : "there is no device");
    else
        printf("%s.o and %s.h are written\n", argv[1], argv[1]);
    sn_drop(p);
    sn_close(cx);
    return status == SN_OK ? 0 : status == SN_UNSUPPORTED ? 77 : 1;
}
