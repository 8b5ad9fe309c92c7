/* Signatures: programs whose body returns as many of its parameters as there are, and nothing else. */
#include "fuzz.h"
#include "sinter/sinter.h"

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

static void drop_message(void *env, const char *said)
{
    (void)env, (void)said;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    if (n > FUZZ_LONGEST)
        return 0;
    arena a;
    arena_init(&a, NULL);
    char *source = arena_alloc(&a, n + 1);
    if (n)
        memcpy(source, bytes, n);
    sn_options o = {.size = sizeof(o), .device = "interpreter", .message = drop_message};
    sn_context *cx = sn_open(&o);
    fuzz_promise(cx != NULL, "a context opens", source);
    sn_program *p = sn_compile_env(cx, source, parameters, NULL);
    fuzz_promise(p || *sn_message(cx), "an error has a message", source);
    sn_drop(p);
    sn_close(cx);
    arena_free(&a);
    return 0;
}
