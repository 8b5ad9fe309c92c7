/* How much memory the system would still give this process. */
#ifndef SN_BASE_ADDRESS_SPACE_H
#define SN_BASE_ADDRESS_SPACE_H

#include "base/base.h"

/* Could that much be mapped now, in one piece, within the limits of the process (ulimit -v, ulimit -d) and of a system
 * that promises no more than it has? Nothing is set aside: another thread may be faster. */
bool address_space_has(size_t bytes);

#endif
