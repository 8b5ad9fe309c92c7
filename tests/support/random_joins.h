/* Arrays made of several: one behind the other along any dimension, in turns, and by flags; written as the language
 * writes them. */
#ifndef SN_TESTS_RANDOM_JOINS_H
#define SN_TESTS_RANDOM_JOINS_H

#include "support/random_scalar.h"

/* 0 if there are no two arrays that can be joined. */
ir_id random_join(random_maker *m);

#endif
