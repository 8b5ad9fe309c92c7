/* OpenCL C 1.2. Division and square root are rounded correctly if the program is built with
 * -cl-fp32-correctly-rounded-divide-sqrt, which the device must support. */
#include "emit/text/dialect.h"

#include <inttypes.h>

/* the same functions take both types of floats */
#define SATURATE                                                                                                       \
    {                                                                                                                  \
        [T_I8] = "convert_char_sat_rtz(%s)", [T_I16] = "convert_short_sat_rtz(%s)",                                    \
        [T_I32] = "convert_int_sat_rtz(%s)", [T_I64] = "convert_long_sat_rtz(%s)",                                     \
        [T_U8] = "convert_uchar_sat_rtz(%s)", [T_U16] = "convert_ushort_sat_rtz(%s)",                                  \
        [T_U32] = "convert_uint_sat_rtz(%s)", [T_U64] = "convert_ulong_sat_rtz(%s)",                                   \
        [T_CHAR] = "convert_uint_sat_rtz(%s)"                                                                          \
    }

const dialect dialect_opencl = {
    .name = "OpenCL C 1.2",
    .type = {[T_BOOL] = "bool",
             [T_I8] = "char",
             [T_I16] = "short",
             [T_I32] = "int",
             [T_I64] = "long",
             [T_U8] = "uchar",
             [T_U16] = "ushort",
             [T_U32] = "uint",
             [T_U64] = "ulong",
             [T_F32] = "float",
             [T_F64] = "double",
             [T_CHAR] = "uint"},
    /* A single work item waits for nobody: without barriers PoCL's compiler has much less to do. */
    .prelude = "#pragma OPENCL FP_CONTRACT OFF\n"
               "#if SN_LOCAL == 1\n"
               "#define barrier(fences)\n"
               "#endif\n",
    .prelude_f64 = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n",
    .prelude_atomic64 = "#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n"
                        "#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable\n",
    .helper = "static inline ",
    .rare = "static inline ",
    .table = "__constant ",
    .kernel = "__kernel __attribute__((reqd_work_group_size(SN_LOCAL, 1, 1)))\nvoid ",
    .global = "__global ",
    .shared = "__local ",
    .shared_block = "__local ulong sn_shared[%" PRIu32 "];",
    .shared_word = "__local ulong sn_word[128];",
    .lane = "(int)get_local_id(0)",
    .group = "(long)get_group_id(0)",
    .groups = "(long)get_num_groups(0)",
    .barrier = "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);",
    .unroll = "#pragma unroll\n",
    .bits = {[T_F32] = "as_float(%s)",
             [T_I32] = "as_int(%s)",
             [T_U32] = "as_uint(%s)",
             [T_CHAR] = "as_uint(%s)",
             [T_F64] = "as_double(%s)",
             [T_I64] = "as_long(%s)",
             [T_U64] = "as_ulong(%s)"},
    .saturate = {SATURATE, SATURATE},
    .f32_suffix = "",
    .popcount = {"popcount", "popcount"},
    .clz = {"clz", "clz"},
    .atomic = {[ATOMIC_ADD] = {"atomic_add", "atom_add"},
               [ATOMIC_MIN] = {"atomic_min", "atom_min"},
               [ATOMIC_MAX] = {"atomic_max", "atom_max"},
               [ATOMIC_AND] = {"atomic_and", "atom_and"},
               [ATOMIC_OR] = {"atomic_or", "atom_or"},
               [ATOMIC_XOR] = {"atomic_xor", "atom_xor"},
               [ATOMIC_EXCHANGE] = {"atomic_xchg", "atom_xchg"},
               [ATOMIC_SWAP] = {"atomic_cmpxchg", "atom_cmpxchg"}},
    .alone = "restrict ",
    .fence = "mem_fence(CLK_GLOBAL_MEM_FENCE);",
    .pack = {[T_I8] = "char4",
             [T_I16] = "short4",
             [T_I32] = "int4",
             [T_U8] = "uchar4",
             [T_U16] = "ushort4",
             [T_U32] = "uint4",
             [T_F32] = "float4",
             [T_F64] = "double2",
             [T_CHAR] = "uint4",
             [T_I64] = "long2",
             [T_U64] = "ulong2"},
    .pack_load = "*(const __global %s *)(%s)",
    .even_rounds = true,
};
