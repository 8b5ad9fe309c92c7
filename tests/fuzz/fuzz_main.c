/* Runs a fuzzed function without a fuzzer: on the files named, or for a number of seconds (`--seconds`, default 1) on
 * mutated seeds; `--write DIR` writes seeds there, as a corpus for libFuzzer. What breaks something stands in
 * <program>.input when the program ends, in SINTER_TEST_DIR, else beside the program. */
#include "fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { SEEDS = 60, MUTATIONS = 8, PIECE = 24 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static uint32_t pick(uint64_t *state, size_t n)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*state >> 33) % (n ? n : 1));
}

static int open_kept(void)
{
    char path[1024];
    snprintf(path, sizeof(path), "%.900s/%.90s.input", fuzz_folder(), program_invocation_short_name);
    return open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}

/* Keeps the input where it is found after a crash: in a file that stays open, as closing waits for the disk. */
static void try(int kept, const char *bytes, size_t n)
{
    if (pwrite(kept, bytes, n, 0) != (ssize_t)n || ftruncate(kept, (off_t)n))
        perror("the input is not kept");
    LLVMFuzzerTestOneInput((const uint8_t *)bytes, n);
}

/* A number in binary, of 1 to 8 bytes in either order, over what is there: sizes and counts of files. */
static void put_number(uint64_t *state, char *bytes, size_t n)
{
    static const uint64_t numbers[] = {0,
                                       1,
                                       0x7f,
                                       0x80,
                                       0xff,
                                       0x7fff,
                                       0xffff,
                                       0x10000,
                                       0x7fffffff,
                                       0x80000000,
                                       0xffffffff,
                                       UINT64_MAX / 2,
                                       UINT64_MAX / 2 + 1,
                                       UINT64_MAX};
    uint64_t number = numbers[pick(state, ARRAY_LENGTH(numbers))];
    size_t length = (size_t)1 << pick(state, 4), at = pick(state, n);
    bool big = pick(state, 2);
    for (size_t i = 0; i < length && at + i < n; i++)
        bytes[at + i] = (char)(number >> 8 * (big ? length - 1 - i : i));
}

/* One edit: a byte or number changed, a stretch deleted, doubled, or taken from another input. */
static size_t mutate(uint64_t *state, char *bytes, size_t n, const char *other, size_t other_n)
{
    static const char *const words[] = {
        "-1", "9223372036854775807",  "0",  "(", ")", "{", "}", "[", "]", ",", "nan", "\n",
        "::", "99999999999999999999", "\"", "-"};
    size_t at = pick(state, n + 1), length = 1 + pick(state, PIECE);
    switch (pick(state, 6)) {
    case 0:
        if (at < n)
            bytes[at] = (char)pick(state, 256);
        return n;
    case 1:
        length = length > n - at ? n - at : length;
        memmove(bytes + at, bytes + at + length, n - at - length);
        return n - length;
    case 2: {
        const char *word = words[pick(state, ARRAY_LENGTH(words))];
        length = strlen(word);
        if (n + length > FUZZ_LONGEST)
            return n;
        memmove(bytes + at + length, bytes + at, n - at);
        memcpy(bytes + at, word, length);
        return n + length;
    }
    case 3:
        put_number(state, bytes, n);
        return n;
    default: {
        size_t from = pick(state, other_n);
        length = length > other_n - from ? other_n - from : length;
        if (n + length > FUZZ_LONGEST)
            return n;
        memmove(bytes + at + length, bytes + at, n - at);
        memcpy(bytes + at, other + from, length);
        return n + length;
    }
    }
}

static void smoke(double seconds, uint64_t random)
{
    arena a;
    const char *seed[SEEDS];
    size_t size[SEEDS];
    unsigned long rounds = 0;
    arena_init(&a, NULL);
    char *bytes = arena_alloc(&a, FUZZ_LONGEST + 1);
    int kept = open_kept();
    for (uint32_t k = 0; k < SEEDS; k++) {
        seed[k] = fuzz_seed(&a, k, &size[k]);
        size[k] = size[k] < FUZZ_LONGEST ? size[k] : FUZZ_LONGEST;
        try(kept, seed[k], size[k]);
    }
    for (double end = now() + seconds; now() < end; rounds++) {
        uint32_t k = pick(&random, SEEDS), other = pick(&random, SEEDS);
        size_t n = size[k];
        memcpy(bytes, seed[k], n);
        for (uint32_t m = 1 + pick(&random, MUTATIONS); m > 0; m--)
            n = mutate(&random, bytes, n, seed[other], size[other]);
        try(kept, bytes, n);
    }
    close(kept);
    arena_free(&a);
    printf("%lu inputs\n", rounds + SEEDS);
}

static int write_seeds(const char *dir)
{
    arena a;
    arena_init(&a, NULL);
    for (uint32_t k = 0; k < SEEDS; k++) {
        size_t n = 0;
        const char *seed = fuzz_seed(&a, k, &n);
        FILE *f = fopen(arena_printf(&a, "%s/seed%u", dir, k), "wb");
        if (!f || fwrite(seed, 1, n, f) != n || fclose(f))
            return 1;
    }
    arena_free(&a);
    return 0;
}

static int one_file(const char *path)
{
    static char bytes[FUZZ_LONGEST];
    FILE *f = fopen(path, "rb");
    if (!f) {
        perror(path);
        return 1;
    }
    size_t n = fread(bytes, 1, sizeof(bytes), f);
    fclose(f);
    LLVMFuzzerTestOneInput((const uint8_t *)bytes, n);
    return 0;
}

int main(int argc, char **argv)
{
    double seconds = 1;
    uint64_t random = getenv("SINTER_TEST_SEED") ? strtoull(getenv("SINTER_TEST_SEED"), NULL, 10) : 1;
    if (argc == 3 && !strcmp(argv[1], "--write"))
        return write_seeds(argv[2]);
    if (argc == 3 && !strcmp(argv[1], "--seconds"))
        seconds = strtod(argv[2], NULL);
    else if (argc > 1) {
        int failed = 0;
        for (int i = 1; i < argc; i++)
            failed |= one_file(argv[i]);
        return failed;
    }
    smoke(seconds, random);
    return 0;
}
