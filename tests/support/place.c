#include "support/place.h"

#include <stdio.h>
#include <string.h>

bool message_is_placed(const char *message, const char *file)
{
    char place[128];
    snprintf(place, sizeof(place), "%s:", file);
    const char *first = strstr(message, place), *second = first ? strstr(first + 1, place) : NULL;
    const char *behind = strstr(message, "; called in ");
    if (!behind)
        behind = strstr(message, "; the program was compiled in ");
    if (!first || (behind && behind < first))
        return false;
    return !second || (behind && behind < second && !strstr(second + 1, place));
}
