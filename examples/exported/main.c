/* Runs what examples/export.c has written: links with the object and the library, and needs no code generator. */
#include "sharpen.h"

#include <stdio.h>

enum { ROWS = 480, COLUMNS = 641 };

int main(void)
{
    static float image[ROWS][COLUMNS], result[ROWS][COLUMNS], brightness[COLUMNS];
    for (int y = 0; y < ROWS; y++)
        for (int x = 0; x < COLUMNS; x++)
            image[y][x] = (float)((x / 16 + y / 16) % 2);
    sn_context *cx = sn_open(NULL);
    sn_program *p = cx ? sharpen_open(cx) : NULL;
    if (!p || sn_call(p, sn_in(&image[0][0], ROWS, COLUMNS), sn_into(&result[0][0], ROWS, COLUMNS),
                      sn_into(brightness, COLUMNS)) != SN_OK) {
        fprintf(stderr, "%s\n", cx ? sn_message(cx) : "there is no device");
        return 1;
    }
    const sn_counters n = sn_counts(cx);
    printf("%g %g %g, %d kernels from the object, %d compiled\n", (double)result[15][15], (double)result[0][0],
           (double)brightness[0], (int)n.loaded, (int)n.compiled);
    sn_drop(p);
    sn_close(cx);
    return 0;
}
