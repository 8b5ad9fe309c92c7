/* Is a text JSON, as far as explain writes it: numbers are whole and not negative? */
#ifndef SN_TESTS_SUPPORT_JSON_H
#define SN_TESTS_SUPPORT_JSON_H

#include <stdbool.h>

bool is_json(const char *text);

#endif
