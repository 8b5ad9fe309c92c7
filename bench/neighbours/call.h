/* What both sides of a program get: its extents and memory. The C side sees nothing of Sinter. */
#ifndef NEIGHBOURS_CALL_H
#define NEIGHBOURS_CALL_H

#include <stdbool.h>
#include <stdint.h>

enum { NB_EXTENTS = 12, NB_MEMORY = 12 };

/* The scalar types by the names that they have in signatures, so that one macro writes both sides. */
typedef bool b8;
typedef int8_t i8;
typedef int16_t i16;
typedef int32_t i32;
typedef int64_t i64;
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef float f32;
typedef double f64;

struct nb_call {
    int64_t extent[NB_EXTENTS]; /* the signature's names, in the order in which they first stand there */
    int64_t size;               /* the product of these */
    void *in[NB_MEMORY];        /* one array a component of the parameters; one a parameter where they are structs */
    void *out[NB_MEMORY];       /* of the results */
    int64_t *kept[NB_MEMORY];   /* of results of which the memory's size is only the most: how many there are */
};

/* The C side of a program: the loop nest that a competent user would write. */
typedef void nb_c(const struct nb_call *call);

#endif
