// A user's program in C++: user VERSION.
#include <sinter/dlpack.h>
#include <sinter/sinter.h>

#include <cstdint>
#include <string>
#include <vector>

int main(int argc, char **argv)
{
    const std::string version = std::to_string(SN_VERSION_MAJOR) + "." + std::to_string(SN_VERSION_MINOR) + "." +
                                std::to_string(SN_VERSION_PATCH);
    if (argc < 2 || version != argv[1] || sn_version() != SN_VERSION)
        return 2;
    std::vector<float> x = {1, 2, 3}, y(3);
    sn_context *cx = sn_open(nullptr);
    auto twice = [](sn_acc xs) { return sn_map([](sn_scalar e) { return sn_mul(e, 2); }, xs); };
    sn_program *p = sn_compile(cx, "[n]f32 -> [n]f32", twice);
    sn_status status = sn_call(p, sn_in(x.data(), 3), sn_into(y.data(), 3));
    bool good = status == SN_OK && y[0] == 2 && y[2] == 6;
    const std::int64_t extent = 3, back = -static_cast<std::int64_t>(sizeof(float));
    status = sn_call(p, sn_strided(&x[2], 1, &extent, &back), sn_into(y.data(), 3));
    good = good && status == SN_OK && y[0] == 6 && y[2] == 2 && sn_counts(cx).copies > 0;
    sn_array *array = sn_upload(cx, sn_in(x.data(), 3)), *same = sn_from_dlpack(cx, sn_to_dlpack(array));
    good = good && sn_bytes(same) == sizeof(float) * 3 && sn_load_npy(cx, "no such file") == nullptr;
    sn_free(array);
    sn_free(same);
    sn_drop(p);
    sn_close(cx);
    return !good;
}
