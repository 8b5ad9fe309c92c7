/* Run-length coding of a file: runlength FILE. Codes its bytes, decodes them again, and tells how many runs there are.
 */
#include "programs/runlength.h"

#include "common/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct runs {
    int64_t n, as_many;
    uint8_t *byte;
    int64_t *length;
};

static sn_status code(sn_context *cx, const unsigned char *text, int64_t size, struct runs *runs)
{
    sn_program *p = sn_compile(cx, RUNLENGTH_ENCODE_SIGNATURE, runlength_encode);
    sn_status status =
        sn_call(p, sn_in(text, size), sn_upto(runs->byte, size, &runs->n), sn_upto(runs->length, size, &runs->as_many));
    sn_drop(p);
    return status;
}

static sn_status decode(sn_context *cx, struct runs runs, unsigned char *text, int64_t size)
{
    sn_program *p = sn_compile(cx, RUNLENGTH_DECODE_SIGNATURE, runlength_decode);
    sn_status status = sn_call(p, sn_in(runs.byte, runs.n), sn_in(runs.length, runs.n), sn_into(text, size));
    sn_drop(p);
    return status;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: runlength FILE\n");
        return 2;
    }
    int64_t size;
    unsigned char *text = file_read(argv[1], &size);
    if (!text)
        return 1;
    size_t bytes = (size_t)size + 1;
    unsigned char *again = malloc(bytes);
    struct runs runs = {0, 0, malloc(bytes), malloc(bytes * sizeof(int64_t))};
    sn_context *cx = sn_open(NULL);
    sn_status status = cx && again && runs.byte && runs.length ? code(cx, text, size, &runs) : SN_NO_MEMORY;
    if (status == SN_OK)
        status = decode(cx, runs, again, size);
    bool alike = status == SN_OK && !memcmp(text, again, (size_t)size);
    if (status == SN_OK)
        printf("%lld bytes, %lld runs, decoded %s\n", (long long)size, (long long)runs.n,
               alike ? "alike" : "differently");
    else
        fprintf(stderr, "%s\n", cx ? sn_message(cx) : "no device");
    sn_close(cx);
    free(text), free(again), free(runs.byte), free(runs.length);
    return !alike;
}
