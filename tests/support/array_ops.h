/* Every operation on arrays of the public header as a program of its own, for any scalar type and rank it allows: by
 * itself, between a producer and a consumer, or with several consumers. */
#ifndef SN_TESTS_ARRAY_OPS_H
#define SN_TESTS_ARRAY_OPS_H

#include "sinter/sinter.h"

typedef enum {
    ALONE,    /* op(a) */
    BETWEEN,  /* consumer(op(producer(a))) */
    CONSUMED, /* both, and the smallest element */
    USES
} op_use;

typedef enum { OF_OPERANDS, OF_BOOL, OF_I64, OF_SUM, OF_PAIRS } op_result;

typedef struct op_case {
    const struct array_op *op;
    sn_type type; /* of the operands' elements */
    int rank;     /* of the operands */
    op_use use;
} op_case;

typedef struct array_op {
    const char *name;
    sn_acc (*build)(const op_case *c, const sn_acc *a);
    unsigned types;  /* set of 1u << sn_type */
    int least, most; /* ranks of the operands */
    int operands;    /* arrays of one shape */
    int rank;        /* of the result, relative to the operands'; or TO_RANK(k) */
    op_result result;
    bool rounds;       /* sums of floats: the result may differ within a bound */
    bool exact_powers; /* products: elements are +-1, with some +-2 and +-1/2 */
} array_op;

#define TO_RANK(k) (100 + (k))

extern const array_op array_ops[];
extern const int array_ops_count;

/* The signature: operands of shape [a,b,...]; as many results as the use has. */
void op_signature(const op_case *c, char *out, size_t room);
/* What sn_compile_env takes; env is the op_case. */
sn_acc op_body(void *env, int count, const sn_acc *parameter);

const char *op_type_name(sn_type type);

#endif
