/* Matrices whose columns are folded, line by line (fold_columns.c, choose_columns.c): line k holds element k of each of
 * the folds beside each other. A piece is a part of the lines, `width` columns of them; gangs go along a line, or along
 * several that adjoin. */
#ifndef SN_SKELETON_LINES_H
#define SN_SKELETON_LINES_H

#include "skeleton/fold/fold.h"

typedef struct sk_lines {
    sk_folds *s;
    k_val number; /* of the piece; 0: of the launch's */
    k_val outer, left, width,
        rows;                   /* number of the outer indices; the first column of the piece, its columns, and all */
    k_val index[IR_MAX_RANK];   /* of outer dimensions */
    k_val length, begin, count; /* lines, and those of the piece */
    k_val pieces, part;         /* of the lines, and which one this is */
    k_val place;                /* the thread's column, or place in the first of several lines and those behind it */
    bool one_line;              /* it is a column */
    bool by_line;               /* not one_line: all lanes of a gang are in one of the lines, */
    k_val down, column;         /* ... this many behind the first, and the thread's column */
    bool indexed;               /* elements need their indices as values */
    bool few;                   /* code at hand is for less than a gang: it may be small */
    bool harmless;              /* elements may be computed twice, and operators of what is undefined */
} sk_lines;

enum { SK_LINES_SLOTS = 5 }; /* geometry slots that are taken */

/* Columns beside each other, and outer ones, of a launch that may go along lines. */
bool sk_suits_lines(const sk_call *x, int64_t *outer, int64_t *columns);
/* Sets these slots and g->pieces. */
void sk_launch_lines(sk_geometry *g, int64_t outer, int64_t rows, int64_t width, int64_t length, int64_t pieces);
/* Piece-level code: finds the piece, of at most `size` lines, and has elements bound by the line's number from now on.
 * s's kernel has its lanes, and one_line is set. */
void sk_open_lines(sk_lines *m, sk_folds *s, k_val size);
/* Thread-level code `take` for places [from, to), which are the ends of lines if it is by_line. Where it is harmless, the last gang may begin within the one before
 * it: it computes the same again there. */
void sk_each_place(sk_lines *m, k_val from, k_val to, void (*take)(void *env), void *env);
/* The number of the column's result, and where a partial result of it goes. */
k_val sk_line_result(const sk_lines *m);

#endif
