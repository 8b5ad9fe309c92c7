/* A reader of JSON that says only whether it is JSON. */
#include "support/json.h"

#include <string.h>

static const char *value(const char *at, int depth);

static const char *blanks(const char *at)
{
    return at + strspn(at, " \n");
}

static const char *string(const char *at)
{
    if (*at++ != '"')
        return NULL;
    for (; *at != '"'; at++) {
        if ((unsigned char)*at < 0x20)
            return NULL;
        if (*at != '\\')
            continue;
        at++;
        if (*at == 'u' && strspn(at + 1, "0123456789abcdef") >= 4)
            at += 4;
        else if (!*at || !strchr("\"\\nrt", *at))
            return NULL;
    }
    return at + 1;
}

static const char *items(const char *at, char end, bool keys, int depth)
{
    at = blanks(at + 1);
    if (*at == end)
        return at + 1;
    for (;; at++) {
        if (keys) {
            at = string(blanks(at));
            if (!at || *at++ != ':')
                return NULL;
        }
        at = value(at, depth + 1);
        if (!at)
            return NULL;
        at = blanks(at);
        if (*at == end)
            return at + 1;
        if (*at != ',')
            return NULL;
    }
}

static const char *value(const char *at, int depth)
{
    at = blanks(at);
    if (depth > 8)
        return NULL;
    if (*at == '{')
        return items(at, '}', true, depth);
    if (*at == '[')
        return items(at, ']', false, depth);
    if (*at == '"')
        return string(at);
    if (!strncmp(at, "true", 4))
        return at + 4;
    if (!strncmp(at, "false", 5))
        return at + 5;
    size_t digits = strspn(at, "0123456789");
    return digits ? at + digits : NULL;
}

bool is_json(const char *text)
{
    const char *end = value(text, 0);
    return end && !*blanks(end);
}
