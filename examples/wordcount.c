/* The words of a text: wordcount FILE [WORDS] prints lines, words and bytes, as wc does, and so many of the most
 * frequent words (10). */
#include "programs/wordcount.h"

#include "common/arguments.h"
#include "common/file.h"

#include <stdio.h>
#include <stdlib.h>

static sn_status print_counts(sn_context *cx, const char *path, const unsigned char *text, int64_t size)
{
    int64_t lines = 0, words = 0;
    sn_program *p = sn_compile(cx, WORDCOUNT_SIGNATURE, wordcount);
    sn_status status = sn_call(p, sn_in(text, size), sn_value(&lines), sn_value(&words));
    if (status == SN_OK)
        printf("%lld %lld %lld %s\n", (long long)lines, (long long)words, (long long)size, path);
    sn_drop(p);
    return status;
}

static sn_status print_frequent(sn_context *cx, const unsigned char *text, int64_t size, int64_t most)
{
    int64_t *place = malloc(3 * (size_t)most * sizeof(*place)), n[3] = {0};
    if (!place) {
        fprintf(stderr, "no memory for %lld words\n", (long long)most);
        return SN_NO_MEMORY;
    }
    int64_t *length = place + most, *times = length + most;
    sn_program *p = sn_compile(cx, WORDCOUNT_FREQUENT_SIGNATURE, wordcount_frequent);
    sn_status status = sn_call(p, sn_in(text, size), sn_value(&most), sn_upto(place, most, &n[0]),
                               sn_upto(length, most, &n[1]), sn_upto(times, most, &n[2]));
    for (int64_t i = 0; i < n[0] && status == SN_OK; i++)
        printf("%7lld %.*s\n", (long long)times[i], (int)length[i], (const char *)text + place[i]);
    sn_drop(p);
    free(place);
    return status;
}

int main(int argc, char **argv)
{
    long most = 10;
    if (argc < 2 || argc > 3 || (argc > 2 && !argument_whole(argv[2], "words", 1, 1000000, &most))) {
        fprintf(stderr, "usage: wordcount FILE [WORDS]\n");
        return 2;
    }
    int64_t size;
    unsigned char *text = file_read(argv[1], &size);
    if (!text)
        return 1;
    sn_context *cx = sn_open(NULL);
    sn_status status = cx ? print_counts(cx, argv[1], text, size) : SN_NO_DEVICE;
    if (status == SN_OK)
        status = print_frequent(cx, text, size, most);
    if (status != SN_OK)
        fprintf(stderr, "%s\n", cx ? sn_message(cx) : "no device");
    sn_close(cx);
    free(text);
    return status != SN_OK;
}
