/* Scalar functions of one expression. */
#ifndef NEIGHBOURS_FUNCTIONS_H
#define NEIGHBOURS_FUNCTIONS_H

#include "../program.h"

#define F1(name, value)                                                                                                \
    static sn_scalar name(sn_scalar x)                                                                                 \
    {                                                                                                                  \
        return value;                                                                                                  \
    }
#define F2(name, value)                                                                                                \
    static sn_scalar name(sn_scalar x, sn_scalar y)                                                                    \
    {                                                                                                                  \
        return value;                                                                                                  \
    }
#define F3(name, value)                                                                                                \
    static sn_scalar name(sn_scalar x, sn_scalar y, sn_scalar z)                                                       \
    {                                                                                                                  \
        return value;                                                                                                  \
    }

#endif
