#include "embed_test.h"
#include "ir/interpret.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

built *build_at(sn_site at, const char *signature, sn_body body)
{
    built *b = calloc(1, sizeof *b);
    text printed, messages;
    arena_init(&b->arena, NULL);
    b->program = embed_build(&b->arena, at, signature, body, &b->info);
    assert_non_null(b->program);
    text_init(&printed, &b->arena);
    text_init(&messages, &b->arena);
    embed_messages(b->program, &messages);
    b->messages = messages.at;
    b->text = "";
    if (b->program->error.n) {
        assert_true(b->messages[0] != 0);
        return b;
    }
    assert_string_equal(b->messages, "");
    const char *why = "";
    if (!ir_check_program(b->program, &b->arena, &why))
        fail_msg("the checker rejects the program: %s", why);
    ir_print(b->program, &printed);
    b->text = printed.at;
    ir_program *again = ir_parse(&b->arena, b->text, &why);
    if (!again)
        fail_msg("the printed program does not parse: %s\n%s", why, b->text);
    return b;
}

void built_free(built *b)
{
    arena_free(&b->arena);
    free(b);
}

static int lines(const char *message)
{
    int n = 0;
    for (; *message; message++)
        n += *message == '\n' && message[1] != ' '; /* a line that goes on is indented */
    return n;
}

void expect_message(built *b, const char *file, int line, const char *operation, ...)
{
    char place[4096];
    snprintf(place, sizeof place, "%s:%d: %s: ", file, line, operation);
    if (strncmp(b->messages, place, strlen(place)) != 0)
        fail_msg("expected \"%s\", got \"%s\"", place, b->messages);
    va_list words;
    va_start(words, operation);
    for (const char *word; (word = va_arg(words, const char *));)
        if (!strstr(b->messages + strlen(place), word))
            fail_msg("expected \"%s\" in \"%s\"", word, b->messages);
    va_end(words);
    if (lines(b->messages) != 1)
        fail_msg("more than one message: %s", b->messages);
    built_free(b);
}

/* --- values --- */

static void store(ir_type t, void *data, int64_t i, double v)
{
    ir_bits bits = t == T_F32 ? ir_bits_f32((float)v) : t == T_F64 ? ir_bits_f64(v) : ir_bits_i64(t, (int64_t)v);
    memcpy((char *)data + (size_t)i * ir_type_size(t), &bits, ir_type_size(t)); /* little-endian */
}

static double load(ir_type t, const void *data, int64_t i)
{
    ir_bits bits = 0;
    memcpy(&bits, (const char *)data + (size_t)i * ir_type_size(t), ir_type_size(t));
    return t == T_F32 ? (double)ir_f32_bits(bits) : t == T_F64 ? ir_f64_bits(bits) : (double)ir_i64_bits(t, bits);
}

static int64_t size_of(int rank, const int64_t *extent)
{
    int64_t n = 1;
    for (int d = 0; d < rank; d++)
        n *= extent[d];
    return n;
}

static ir_value make_value(built *b, const embed_port *port, const numbers *from)
{
    ir_value v = {.rank = port->rank, .components = port->components};
    assert_int_equal(from->rank, port->rank);
    memcpy(v.extent, from->extent, sizeof v.extent);
    int64_t n = size_of(from->rank, from->extent);
    for (unsigned c = 0; c < port->components; c++) {
        v.type[c] = port->type[c];
        v.data[c] = arena_alloc(&b->arena, (size_t)(n + 1) * 8);
        for (int64_t i = 0; i < n; i++)
            store(v.type[c], v.data[c], i, from->at[i * port->components + c]);
    }
    return v;
}

static ir_value constant_value(const embed_constant *c)
{
    ir_value v = {.rank = c->rank, .components = 1, .type = {c->type}, .data = {(void *)(uintptr_t)c->data}};
    memcpy(v.extent, c->extent, sizeof v.extent);
    return v;
}

void expect_values(built *b, const numbers *input, int count, const double *wanted)
{
    ir_value *in = arena_array(&b->arena, *in, b->program->input.n + 1);
    ir_value *out = arena_array(&b->arena, *out, b->info.results + 1);
    ir_failure failure = {0};
    if (b->messages[0])
        fail_msg("%s", b->messages);
    for (uint32_t i = 0; i < b->info.params; i++)
        in[i] = make_value(b, &b->info.param[i], &input[i]);
    for (uint32_t i = 0; i < b->info.constant.n; i++)
        in[b->info.params + i] = constant_value(&b->info.constant.at[i]);
    if (!ir_interpret(b->program, &b->arena, in, out, &failure))
        fail_msg("the run fails: %s", failure.message);
    int k = 0;
    for (uint32_t i = 0; i < b->info.results; i++)
        for (int64_t e = 0; e < size_of(out[i].rank, out[i].extent); e++)
            for (unsigned c = 0; c < out[i].components; c++, k++) {
                double found = load(out[i].type[c], out[i].data[c], e);
                if (k < count && found != wanted[k] && !(isnan(found) && isnan(wanted[k])))
                    fail_msg("number %d is %g, not %g\n%s", k, found, wanted[k], b->text);
            }
    assert_int_equal(k, count);
    built_free(b);
}
