/* Signatures: programs whose body returns as many of its parameters as there are, and nothing else. */
#include "fuzz.h"

const char *fuzz_seed(arena *a, uint32_t number, size_t *n)
{
    static const char *const seeds[] = {
        "[n]f32, [n]f32 -> f32",
        "-> [3]i64",
        "[n,m]f32, f32, [n](f32, i32) -> [m]f64",
        " [n,3] f32,u8 ,[n](f64,(bool,char)),[ _k1 , n ]i64 -> [n,3]f32, u8",
        "[a,b,c,d,e,f,g,h]u16 -> [h]i8, (i16, u32, u64)",
        "[n]{x: f32, in: {a: i8, b: (u8, f64)}, _y2: i16} -> [n]{x: f32}, {a: i8, b: (u8, f64)}",
        "[9223372036854775807]f32 -> [0]f32"};
    (void)a;
    *n = strlen(seeds[number % ARRAY_LENGTH(seeds)]);
    return seeds[number % ARRAY_LENGTH(seeds)];
}

static sn_acc parameters(void *env, int n, const sn_acc *a)
{
    (void)env;
    return n ? sn_results_at(SN_HERE, n < 16 ? n : 16, a) : sn_iota(3);
}

static void check(arena *a, const char *source)
{
    sn_context *cx = fuzz_context();
    sn_program *p = sn_compile_env(cx, source, parameters, NULL);
    (void)a;
    fuzz_promise(p || *sn_message(cx), "an error has a message", source);
    sn_drop(p);
    sn_close(cx);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    return fuzz_text(bytes, n, check);
}
