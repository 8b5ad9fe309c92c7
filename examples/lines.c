/* The lines of a file: lines FILE. How many there are, how long the longest is, and how many lines are longer than 72
 * characters: what filters keep, and what is made of it. */
#include "common/file.h"

#include <sinter/sinter.h>

#include <stdio.h>
#include <stdlib.h>

static sn_scalar is_line_end(sn_scalar c)
{
    return sn_eq(c, '\n');
}

static sn_scalar length(void *ends, sn_scalar k, sn_scalar end)
{
    sn_scalar before = sn_if(sn_gt(k, 0), sn_index(*(sn_acc *)ends, sn_sub(k, 1)), -1);
    return sn_sub(sn_sub(end, before), 1);
}

static sn_scalar is_long(sn_scalar n)
{
    return sn_gt(n, 72);
}

/* Where lines end, the length of the longest, and the lengths of those that are long. */
static sn_acc lines(sn_acc text)
{
    sn_acc ends = sn_pack(sn_map(is_line_end, text), sn_iota(sn_size(text)));
    sn_acc lengths = sn_imap(sn_closure(length, &ends), ends);
    return sn_results(ends, sn_fold(sn_max, 0, lengths), sn_filter(is_long, lengths));
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: lines FILE\n");
        return 2;
    }
    int64_t size, longest = 0;
    unsigned char *text = file_read(argv[1], &size);
    if (!text)
        return 1;
    sn_array *ends = NULL, *lengths = NULL;
    sn_context *cx = sn_open(NULL);
    sn_program *program = cx ? sn_compile(cx, "[n]u8 -> [lines]i64, i64, [long]i64", lines) : NULL;
    sn_status status = program
                           ? sn_call(program, sn_in(text, size), sn_keep(&ends), sn_value(&longest), sn_keep(&lengths))
                           : SN_NO_PROGRAM;
    if (status == SN_OK)
        printf("%lld lines, the longest has %lld characters, %lld have more than 72\n",
               (long long)sn_array_extent(ends, 0), (long long)longest, (long long)sn_array_extent(lengths, 0));
    else
        fprintf(stderr, "%s\n", cx ? sn_message(cx) : "no device");
    sn_free(ends);
    sn_free(lengths);
    sn_drop(program);
    sn_close(cx);
    free(text);
    return status != SN_OK;
}
