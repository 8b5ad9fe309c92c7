/* Large bodies in several functions: see outline.c. */
#ifndef SN_EMIT_CPU_LLVM_OUTLINE_H
#define SN_EMIT_CPU_LLVM_OUTLINE_H

#include "emit/cpu/llvm/cg.h"

/* Weights are numbers of statements, some of which count more. FOR_ALLs up to CG_LARGE are left whole; kernels with one
 * beyond CG_HUGE, or beyond CG_HUGE_KERNEL together, are compiled with little effort, which is linear. Parts are
 * small, as LLVM takes kilobytes for each instruction of the function at hand. */
enum { CG_LARGE = 3000, CG_HUGE = 6000, CG_HUGE_KERNEL = 15000, CG_PART = 250 };
enum { CG_FRAME_HEAD = 128 /* bytes */ };
#define CG_PART_NAME "part." /* then the number of its object */

/* Decides which statements are parts, and what crosses. Before anything is emitted, after cg_scan. */
void cg_find_parts(cg *g);
void cg_open_frame(cg *g);    /* in the entry function */
cg_ref cg_alive_flags(cg *g); /* where a FOR_ALL keeps the lanes that no CHECK has switched off */
k_ref cg_call_part(
    cg *g, k_ref first); /* emits the part that begins with this statement, and its call; returns what follows it */

/* Values defined in one function and used in another. */
void cg_cross(cg *g, k_val v);            /* v, which is no variable, has just been defined */
cg_ref cg_place(cg *g, k_val variable);   /* where a variable is that crosses; NULL: it does not */
bool cg_is_foreign(const cg *g, k_val v); /* defined in another function than the one that is being emitted */
cg_value cg_fetch(cg *g, k_val v);        /* its value, if it is no variable */

#endif
