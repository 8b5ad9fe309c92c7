/* Signatures, as far as the list uses them: extents, scalar types, tuples and structs of these. */
#include "arguments.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 16 };

struct reader {
    const char *at;
    const int64_t *extents;
    char name[NB_EXTENTS][NAME]; /* of extents seen so far */
    int names;
    bool good;
};

static char look(struct reader *r)
{
    while (*r->at == ' ')
        r->at++;
    return *r->at;
}

static bool eat(struct reader *r, const char *what)
{
    look(r);
    if (strncmp(r->at, what, strlen(what)) != 0)
        return false;
    r->at += strlen(what);
    return true;
}

static void want(struct reader *r, const char *what)
{
    r->good &= eat(r, what);
}

static void word(struct reader *r, char *to)
{
    look(r);
    size_t length = 0;
    while (isalnum((unsigned char)r->at[length]) && length < NAME - 1)
        length++;
    memcpy(to, r->at, length);
    to[length] = 0;
    r->at += length;
    r->good &= length > 0;
}

static int64_t extent(struct reader *r)
{
    char name[NAME];
    word(r, name);
    if (isdigit((unsigned char)name[0]))
        return atoll(name);
    for (int i = 0; i < r->names; i++)
        if (strcmp(r->name[i], name) == 0)
            return r->extents[i];
    if (r->names == NB_EXTENTS) {
        r->good = false;
        return 0;
    }
    memcpy(r->name[r->names], name, NAME);
    return r->extents[r->names++];
}

static void scalar(struct reader *r, struct nb_port *port)
{
    static const struct {
        const char *name;
        sn_type type;
    } types[] = {{"bool", SN_BOOL}, {"i8", SN_I8},   {"i16", SN_I16}, {"i32", SN_I32}, {"i64", SN_I64}, {"u8", SN_U8},
                 {"u16", SN_U16},   {"u32", SN_U32}, {"u64", SN_U64}, {"f32", SN_F32}, {"f64", SN_F64}};
    char name[NAME];
    word(r, name);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strcmp(types[i].name, name) != 0 || port->components == NB_COMPONENTS)
            continue;
        port->type[port->components++] = types[i].type;
        return;
    }
    r->good = false;
}

static void element(struct reader *r, struct nb_port *port)
{
    bool record = look(r) == '{';
    if (!record && look(r) != '(') {
        scalar(r, port);
        return;
    }
    port->tuple = true;
    want(r, record ? "{" : "(");
    do {
        char name[NAME];
        if (record) {
            word(r, name);
            want(r, ":");
        }
        scalar(r, port);
    } while (r->good && eat(r, ","));
    want(r, record ? "}" : ")");
}

static int ports(struct reader *r, struct nb_port *to)
{
    int count = 0;
    do {
        struct nb_port *port = &to[count++];
        *port = (struct nb_port){0};
        if (eat(r, "[")) {
            do {
                if (port->rank < NB_RANK)
                    port->extent[port->rank++] = extent(r);
            } while (r->good && eat(r, ","));
            want(r, "]");
        }
        element(r, port);
    } while (r->good && count < NB_PORTS && eat(r, ","));
    return count;
}

bool nb_parse(const char *signature, const int64_t *extents, struct nb_signature *to)
{
    struct reader r = {.at = signature, .extents = extents, .good = true};
    to->parameters = look(&r) == '-' ? 0 : ports(&r, to->port);
    want(&r, "->");
    to->results = ports(&r, to->port + to->parameters);
    r.good &= look(&r) == 0;
    if (!r.good)
        fprintf(stderr, "%s: cannot be read from \"%s\"\n", signature, r.at);
    return r.good;
}
