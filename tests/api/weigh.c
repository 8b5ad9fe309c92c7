#include "weigh.h"

sn_scalar weigh(sn_scalar s, int rows, int columns)
{
    sn_scalar sum = {0};
    for (int i = 0; i < rows * columns; i++) {
        sn_scalar product = sn_mul(sn_at(s, i / columns - rows / 2, i % columns - columns / 2), i * 7 % 23 + 1);
        sum = i ? sn_add(sum, product) : product;
    }
    return sum;
}
