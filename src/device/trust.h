/* Which files may be loaded as code without being asked for by name. */
#ifndef SN_DEVICE_TRUST_H
#define SN_DEVICE_TRUST_H

#include "base/base.h"

/* The absolute path of the shared library that this code was linked into; NULL if it is part of the program itself
 * (whose name is whatever who started it says), or if the system does not tell. */
const char *trust_own_library(arena *a);

/* Could nobody but the administrator, this process's user, and the owner of the file that this code was loaded from
 * have put the file there? It is a regular file at an absolute path; neither it nor a folder above it belongs to
 * somebody else or may be written to by everybody (a folder of which everybody deletes only what is his, like /tmp, may
 * stand further up). Symbolic links are followed first. Groups are trusted: /usr/local belongs to one on many systems.
 * NULL if so, else what is wrong, in `a`. */
const char *trust_refuses(const char *path, arena *a);

#endif
