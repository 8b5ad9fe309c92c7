/* CUB and Thrust on the same programs, where there is an nvcc: nvcc -O3 -std=c++17 -o cub cub.cu. Prints a line a program, as
 * bench_cuda does. */
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>

#include <chrono>
#include <cstdio>

using vector = thrust::device_vector<float>;

static double now()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/* The shortest of 20 runs, each waited for. */
template <class F> static void row(const char *name, long n, double bytes, F run)
{
    double best = 1e9;
    run();
    cudaDeviceSynchronize();
    for (int i = 0; i < 20; i++) {
        double start = now();
        run();
        cudaDeviceSynchronize();
        double took = now() - start;
        best = took < best ? took : best;
    }
    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess)
        printf("%-14s %s\n", name, cudaGetErrorString(error));
    else
        printf("%-14s %11ld %10.4f ms %10.1f GB/s\n", name, n, best * 1e3, bytes * (double)n / best * 1e-9);
}

struct scaled {
    float a;
    __host__ __device__ float operator()(float x, float y) const
    {
        return a * x + y;
    }
};

struct moments {
    float sum, squares;
};

struct moments_of {
    __host__ __device__ moments operator()(float x) const
    {
        return {x, x * x};
    }
};

struct moments_sum {
    __host__ __device__ moments operator()(moments a, moments b) const
    {
        return {a.sum + b.sum, a.squares + b.squares};
    }
};

struct row_start {
    long columns;
    __host__ __device__ long operator()(long row) const
    {
        return row * columns;
    }
};

static void rows(const char *name, vector &x, long columns)
{
    long n = (long)x.size(), count = n / columns;
    vector sums(count);
    auto starts = thrust::make_transform_iterator(thrust::counting_iterator<long>(0), row_start{columns});
    size_t bytes = 0;
    cub::DeviceSegmentedReduce::Sum(nullptr, bytes, x.begin(), sums.begin(), count, starts, starts + 1);
    thrust::device_vector<char> room(bytes + 1);
    row(name, n, 4, [&] {
        cub::DeviceSegmentedReduce::Sum(thrust::raw_pointer_cast(room.data()), bytes, x.begin(), sums.begin(), count, starts,
                                        starts + 1);
    });
}

int main()
{
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        fprintf(stderr, "skipped: there is no CUDA device\n");
        return 77;
    }
    const long n = 1 << 26;
    vector x(n, 0.5f), y(n, 0.25f), z(n);
    row("thrust saxpy", n, 12,
        [&] { thrust::transform(thrust::device, x.begin(), x.end(), y.begin(), z.begin(), scaled{1.5f}); });
    row("thrust dot", n, 8, [&] { (void)thrust::inner_product(thrust::device, x.begin(), x.end(), y.begin(), 0.0f); });
    row("thrust meanvar", n, 4, [&] {
        (void)thrust::transform_reduce(thrust::device, x.begin(), x.end(), moments_of(), moments{0, 0}, moments_sum());
    });
    size_t bytes = 0;
    vector sum(1);
    cub::DeviceReduce::Sum(nullptr, bytes, x.begin(), sum.begin(), n);
    thrust::device_vector<char> room(bytes + 1);
    row("cub sum", n, 4, [&] { cub::DeviceReduce::Sum(thrust::raw_pointer_cast(room.data()), bytes, x.begin(), sum.begin(), n); });
    rows("cub rowsums", x, 8192);
    rows("cub rows short", x, 64);
    return 0;
}
