/* Where messages say that something failed. */
#ifndef SN_TESTS_SUPPORT_PLACE_H
#define SN_TESTS_SUPPORT_PLACE_H

#include <stdbool.h>

/* Does the message begin with a place in this file (a name without folders), and name at most one other, that of the
 * call or of its program, behind all that is wrong? */
bool message_is_placed(const char *message, const char *file);

#endif
