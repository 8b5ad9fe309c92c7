/* Files in the repository that say what tests are to find. Tests run at the top of it. */
#ifndef SN_TESTS_WRITTEN_H
#define SN_TESTS_WRITTEN_H

#include "base/base.h"

const char *written_read(const char *name, arena *a); /* "" if there is no such file */

/* The lines of a text one by one, without their ends; NULL behind the last one. */
const char *written_line(const char **at, arena *a);

/* Tests that each take a part of what is written, so that they can run apart: of `of` parts this one, from 0. */
void written_part(unsigned part, unsigned of);

/* Does this test take what has the number? All tests of the optimised build take all that is written, sanitized ones
 * a part. */
bool written_takes(unsigned number);

/* Adds an entry: its first line, and the others with a space before them. */
void written_indented(text *out, const char *all);
/* Lines that are not indented: as many as there are entries. */
unsigned written_entries(const char *all);

/* Fails with the first line of `t` that is another one than the file's, and the line before it that is not indented.
 * What tests do not take may be missing: whole entries, each from a line that is not indented to the next one.
 * With SINTER_TEST_WRITE in the environment the file is written anew. */
void written_compare(const char *name, const text *t, arena *a);

#endif
