/* CUDA C++ as NVRTC compiles it, without headers. To be compiled with --fmad=false --prec-div=true --prec-sqrt=true
 * --ftz=false: then arithmetic rounds as everywhere else. Conversions of floats to integers of 32 and 64 bits clamp
 * (PTX ISA, cvt); narrower ones are clamped on top. Shared memory is given at launch, since only then may a kernel have
 * more than 48 KB of it. */
#include "emit/text/dialect.h"

#define CLAMP(low, high, convert) "max(" low ", min(" high ", " convert "(%s)))"

const dialect dialect_cuda = {
    .name = "CUDA C++",
    .type = {[T_BOOL] = "bool",
             [T_I8] = "schar",
             [T_I16] = "short",
             [T_I32] = "int",
             [T_I64] = "llong",
             [T_U8] = "uchar",
             [T_U16] = "ushort",
             [T_U32] = "uint",
             [T_U64] = "ulong",
             [T_F32] = "float",
             [T_F64] = "double",
             [T_CHAR] = "uint"},
    .prelude = "typedef signed char schar;\n"
               "typedef unsigned char uchar;\n"
               "typedef unsigned short ushort;\n"
               "typedef unsigned int uint;\n"
               "typedef long long llong;\n"
               "typedef unsigned long long ulong;\n"
               "static_assert(sizeof(long) == 8, \"long has 64 bits\");\n",
    .prelude_f64 = "",
    .prelude_atomic64 = "",
    .helper = "static __device__ __forceinline__ ",
    .kernel = "extern \"C\" __global__ __launch_bounds__(SN_LOCAL)\nvoid ",
    .global = "",
    .shared = "",
    .shared_block = "extern __shared__ __align__(16) ulong sn_shared[];",
    .shared_word = "__shared__ ulong sn_word[1];",
    .lane = "(long)threadIdx.x",
    .group = "(long)blockIdx.x",
    .groups = "(long)gridDim.x",
    .barrier = "__syncthreads();",
    .unroll = "#pragma unroll\n",
    .bits = {[T_F32] = "__uint_as_float((uint)%s)",
             [T_I32] = "__float_as_int(%s)",
             [T_U32] = "__float_as_uint(%s)",
             [T_CHAR] = "__float_as_uint(%s)",
             [T_F64] = "__longlong_as_double((llong)%s)",
             [T_I64] = "__double_as_longlong(%s)",
             [T_U64] = "(ulong)__double_as_longlong(%s)"},
    .saturate = {{[T_I8] = CLAMP("-128", "127", "__float2int_rz"),
                  [T_I16] = CLAMP("-32768", "32767", "__float2int_rz"),
                  [T_I32] = "__float2int_rz(%s)",
                  [T_I64] = "__float2ll_rz(%s)",
                  [T_U8] = CLAMP("0", "255", "__float2int_rz"),
                  [T_U16] = CLAMP("0", "65535", "__float2int_rz"),
                  [T_U32] = "__float2uint_rz(%s)",
                  [T_U64] = "__float2ull_rz(%s)",
                  [T_CHAR] = "__float2uint_rz(%s)"},
                 {[T_I8] = CLAMP("-128", "127", "__double2int_rz"),
                  [T_I16] = CLAMP("-32768", "32767", "__double2int_rz"),
                  [T_I32] = "__double2int_rz(%s)",
                  [T_I64] = "__double2ll_rz(%s)",
                  [T_U8] = CLAMP("0", "255", "__double2int_rz"),
                  [T_U16] = CLAMP("0", "65535", "__double2int_rz"),
                  [T_U32] = "__double2uint_rz(%s)",
                  [T_U64] = "__double2ull_rz(%s)",
                  [T_CHAR] = "__double2uint_rz(%s)"}},
    .f32_suffix = "f",
    .popcount = {"__popc", "__popcll"},
    .clz = {"__clz", "__clzll"},
    .atomic = {[ATOMIC_ADD] = {"atomicAdd", "atomicAdd"},
               [ATOMIC_MIN] = {"atomicMin", "atomicMin"},
               [ATOMIC_MAX] = {"atomicMax", "atomicMax"},
               [ATOMIC_AND] = {"atomicAnd", "atomicAnd"},
               [ATOMIC_OR] = {"atomicOr", "atomicOr"},
               [ATOMIC_XOR] = {"atomicXor", "atomicXor"},
               [ATOMIC_EXCHANGE] = {"atomicExch", "atomicExch"},
               [ATOMIC_SWAP] = {"atomicCAS", "atomicCAS"}},
    .atomic64_unsigned = true,
    .fence = "__threadfence();",
};
