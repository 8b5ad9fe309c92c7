/* Keeps generated source that a driver's compiler rejected, for whoever looks into it. */
#ifndef SN_DEVICE_KEEP_SOURCE_H
#define SN_DEVICE_KEEP_SOURCE_H

#include "base/base.h"

/* Writes a new file in $TMPDIR, else /tmp; `suffix`: ".cl". Its path in `a`, NULL if it could not be written. */
const char *keep_source(const char *source, const char *suffix, arena *a);

#endif
