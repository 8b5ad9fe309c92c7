/* What the examples make of texts, against wc, sort and uniq, and against a run-length coder in C. */
#include "programs/runlength.h"
#include "programs/wordcount.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { MOST = 1 << 16 }; /* bytes of a text, and words */

typedef struct text {
    const char *name;
    int64_t size;
    uint8_t byte[MOST];
} text;

static int open_context(void **state)
{
    *state = sn_open(NULL);
    return *state ? 0 : -1;
}

static int close_context(void **state)
{
    sn_close(*state);
    return 0;
}

static void expect_ok(sn_context *cx, const text *t, sn_status status)
{
    if (status != SN_OK)
        fail_msg("%s: %s: %s", t->name, sn_status_name(status), sn_message(cx));
}

/* --- texts --- */

static void draw(text *t, const char *name, const char *letters, int64_t size)
{
    t->name = name;
    t->size = size;
    for (int64_t i = 0; i < size; i++)
        t->byte[i] = (uint8_t)letters[(size_t)rand() % strlen(letters)];
}

static void read_text(text *t, const char *path)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    t->name = path;
    t->size = (int64_t)fread(t->byte, 1, sizeof(t->byte), f);
    fclose(f);
    for (int64_t i = 0; i < t->size; i++) /* what is a letter or a space besides ASCII's depends on the place */
        t->byte[i] = t->byte[i] < 128 ? t->byte[i] : '?';
}

static const struct drawn {
    const char *name, *letters;
    int64_t size;
} drawn[] = {{"nothing", "a", 0},
             {"a letter", "a", 1},
             {"a space", " ", 1},
             {"a line", "\n", 1},
             {"one word", "a", 5000},
             {"spaces", " ", 300},
             {"spaces of all kinds", " \t\n\v\f\r", 777},
             {"a and b", "ab ", 4099},
             {"short words", "abAB \n\t.", 20011},
             {"long words", "abcdefghijklmnopqrstuvwxyz'", 9973},
             {"the letters' neighbours", "@[`{azAZ~! ", 5003}};
static const char *const files[] = {"LICENSE", "CONTRIBUTING.md", "docs/language.md"};

typedef void (*text_test)(sn_context *cx, const text *t);

static void with_texts(sn_context *cx, text_test test)
{
    text *t = malloc(sizeof(*t));
    assert_non_null(t);
    srand(5);
    for (size_t i = 0; i < sizeof(drawn) / sizeof(*drawn); i++) {
        draw(t, drawn[i].name, drawn[i].letters, drawn[i].size);
        test(cx, t);
    }
    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
        read_text(t, files[i]);
        test(cx, t);
    }
    free(t);
}

/* Opens what a command of the shell says of the text, which it finds in the file $T. */
static FILE *ask(const text *t, const char *command, char path[512])
{
    const char *folder = getenv("SINTER_TEST_DIR");
    snprintf(path, 512, "%s/text.%ld", folder ? folder : ".", (long)getpid());
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(t->byte, 1, (size_t)t->size, f), t->size);
    fclose(f);
    setenv("T", path, 1);
    setenv("LC_ALL", "C", 1);
    FILE *answer = popen(command, "r");
    assert_non_null(answer);
    return answer;
}

static void done(FILE *answer, const char *path)
{
    pclose(answer);
    remove(path);
}

/* --- words --- */

static void check_counts(sn_context *cx, const text *t)
{
    char path[512];
    long long right[2] = {-1, -1};
    int64_t lines = -2, words = -2;
    sn_program *p = sn_compile(cx, WORDCOUNT_SIGNATURE, wordcount);
    expect_ok(cx, t, sn_call(p, sn_in(t->byte, t->size), sn_value(&lines), sn_value(&words)));
    sn_drop(p);
    FILE *answer = ask(t, "wc -lw <\"$T\"", path);
    assert_int_equal(fscanf(answer, "%lld %lld", &right[0], &right[1]), 2);
    done(answer, path);
    if (lines != right[0] || words != right[1])
        fail_msg("%s: %lld lines and %lld words, not %lld and %lld", t->name, (long long)lines, (long long)words,
                 right[0], right[1]);
}

static void counts(void **state)
{
    with_texts(*state, check_counts);
}

typedef struct word {
    int64_t times, place, length;
    const uint8_t *text;
} word;

static int by_letters(const word *a, const word *b)
{
    int64_t shorter = a->length < b->length ? a->length : b->length;
    int order = strncasecmp((const char *)a->text + a->place, (const char *)b->text + b->place, (size_t)shorter);
    return order ? order : (a->length > b->length) - (a->length < b->length);
}

/* In the order in which the commands print them. */
static int by_number(const void *a, const void *b)
{
    const word *v = a, *w = b;
    return v->times != w->times ? (v->times < w->times ? 1 : -1) : by_letters(v, w);
}

static int64_t frequent_words(sn_context *cx, const text *t, int64_t most, word *out)
{
    int64_t *part = malloc(3 * (size_t)MOST * sizeof(*part)), n[3] = {-1, -1, -1};
    assert_non_null(part);
    sn_program *p = sn_compile(cx, WORDCOUNT_FREQUENT_SIGNATURE, wordcount_frequent);
    expect_ok(cx, t,
              sn_call(p, sn_in(t->byte, t->size), sn_value(&most), sn_upto(part, MOST, &n[0]),
                      sn_upto(part + MOST, MOST, &n[1]), sn_upto(part + 2 * MOST, MOST, &n[2])));
    sn_drop(p);
    assert_int_equal(n[0], n[1]);
    assert_int_equal(n[0], n[2]);
    for (int64_t i = 0; i < n[0]; i++)
        out[i] = (word){part[2 * MOST + i], part[i], part[MOST + i], t->byte};
    free(part);
    return n[0];
}

/* Does the word stand further in front, too? */
static bool stands_before(const text *t, const word *w)
{
    for (int64_t at = 0; at < w->place; at++) {
        word other = {0, at, w->length, t->byte};
        bool begins = !at || !strchr("abcdefghijklmnopqrstuvwxyz", t->byte[at - 1] | 32);
        bool ends = !strchr("abcdefghijklmnopqrstuvwxyz", t->byte[at + w->length] | 32);
        if (begins && ends && at + w->length < w->place && !by_letters(w, &other))
            return true;
    }
    return false;
}

static void check_frequent(sn_context *cx, const text *t)
{
    char path[512], line[MOST + 32];
    word *words = malloc(MOST * sizeof(*words));
    assert_non_null(words);
    int64_t n = frequent_words(cx, t, MOST, words), first = frequent_words(cx, t, 3, words + n);
    assert_int_equal(first, n < 3 ? n : 3);
    for (int64_t i = 0; i < first; i++)
        if (words[n + i].place != words[i].place || words[n + i].times != words[i].times)
            fail_msg("%s: word %lld of three is another one than of all", t->name, (long long)i);
    for (int64_t i = 0; i < n; i++) {
        if (i < 20 && stands_before(t, &words[i]))
            fail_msg("%s: word %lld stands before byte %lld, too", t->name, (long long)i, (long long)words[i].place);
        if (i && (words[i].times > words[i - 1].times ||
                  (words[i].times == words[i - 1].times && words[i].place < words[i - 1].place)))
            fail_msg("%s: words %lld and %lld in the wrong order", t->name, (long long)i - 1, (long long)i);
    }
    qsort(words, (size_t)n, sizeof(*words), by_number);
    FILE *answer =
        ask(t, "tr -cs A-Za-z '\\n' <\"$T\" | tr A-Z a-z | grep . | sort | uniq -c | sort -k1,1nr -k2,2", path);
    for (int64_t i = 0; i < n; i++) {
        long long times = 0;
        if (fscanf(answer, "%lld %65535s", &times, line) != 2)
            fail_msg("%s: %lld words, not %lld", t->name, (long long)n, (long long)i);
        if (times != words[i].times || (int64_t)strlen(line) != words[i].length ||
            strncasecmp(line, (const char *)t->byte + words[i].place, strlen(line)))
            fail_msg("%s: word %lld is %.*s, %lld times, not %s, %lld times", t->name, (long long)i,
                     (int)words[i].length, (const char *)t->byte + words[i].place, (long long)words[i].times, line,
                     times);
    }
    if (fscanf(answer, "%65535s", line) == 1)
        fail_msg("%s: more than %lld words", t->name, (long long)n);
    done(answer, path);
    free(words);
}

static void frequent(void **state)
{
    with_texts(*state, check_frequent);
}

/* --- runs --- */

static int64_t encode(const text *t, uint8_t *byte, int64_t *length)
{
    int64_t runs = 0;
    for (int64_t i = 0, end; i < t->size; i = end) {
        for (end = i + 1; end < t->size && t->byte[end] == t->byte[i];)
            end++;
        byte[runs] = t->byte[i];
        length[runs++] = end - i;
    }
    return runs;
}

static void check_runs(sn_context *cx, const text *t)
{
    uint8_t *byte = malloc(3 * (size_t)MOST), *right = byte + MOST, *again = right + MOST;
    int64_t *length = malloc(2 * (size_t)MOST * sizeof(*length)), *right_length = length + MOST, n = -1, m = -1, size;
    assert_non_null(byte);
    assert_non_null(length);
    sn_program *p = sn_compile(cx, RUNLENGTH_ENCODE_SIGNATURE, runlength_encode);
    expect_ok(cx, t, sn_call(p, sn_in(t->byte, t->size), sn_upto(byte, MOST, &n), sn_upto(length, MOST, &m)));
    sn_drop(p);
    int64_t runs = encode(t, right, right_length);
    assert_int_equal(n, m);
    assert_int_equal(n, runs);
    assert_memory_equal(byte, right, (size_t)n);
    assert_memory_equal(length, right_length, (size_t)n * sizeof(*length));
    p = sn_compile(cx, RUNLENGTH_DECODE_SIGNATURE, runlength_decode);
    expect_ok(cx, t, sn_call(p, sn_in(byte, n), sn_in(length, n), sn_upto(again, MOST, &size)));
    sn_drop(p);
    assert_int_equal(size, t->size);
    assert_memory_equal(again, t->byte, (size_t)size);
    free(byte);
    free(length);
}

static void runs(void **state)
{
    with_texts(*state, check_runs);
}

static void runs_of_wrong_lengths(void **state)
{
    const uint8_t byte[] = {1, 2, 3};
    const int64_t length[] = {4, -1, 2};
    uint8_t out[8];
    int64_t n;
    sn_program *p = sn_compile(*state, RUNLENGTH_DECODE_SIGNATURE, runlength_decode);
    assert_int_equal(sn_call(p, sn_in(byte, 3), sn_in(length, 3), sn_upto(out, 8, &n)), SN_BAD_SEGMENTS);
    assert_non_null(strstr(sn_message(*state), "runlength.h:"));
    sn_drop(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(counts), cmocka_unit_test(frequent), cmocka_unit_test(runs),
                                       cmocka_unit_test(runs_of_wrong_lengths)};
    return cmocka_run_group_tests(tests, open_context, close_context);
}
