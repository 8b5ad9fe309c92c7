/* CUB and Thrust on the programs of bench_cuda, where there is an nvcc: nvcc -O3 -std=c++17 -o cub cub.cu. Prints a line a
 * program, with the name that it has there: cub [name...]. Data and results stay on the device, room is allocated before;
 * of what a program keeps, the host learns the number. */
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <cub/device/device_select.cuh>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/gather.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/reverse.h>
#include <thrust/scatter.h>
#include <thrust/tabulate.h>
#include <thrust/transform.h>
#include <thrust/tuple.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>

template <class T> using array = thrust::device_vector<T>;

static int names;
static char **name_list;

static bool wanted(const char *name)
{
    for (int i = 0; i < names; i++)
        if (strncmp(name, name_list[i], strlen(name_list[i])) == 0)
            return true;
    return names == 0;
}

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
    fflush(stdout);
}

/* A function of CUB's, called as call(room, bytes): asked for the room that it needs, then run. */
template <class F> static void with_room(const char *name, long n, double bytes_each, F call)
{
    size_t bytes = 0;
    call(nullptr, bytes);
    array<char> room(bytes + 1);
    row(name, n, bytes_each, [&] { call((void *)thrust::raw_pointer_cast(room.data()), bytes); });
}

template <class T> static T *of(array<T> &a)
{
    return thrust::raw_pointer_cast(a.data());
}

/* --- data --- */

struct spread { /* evenly, in [low, low + width) */
    double low, width;
    unsigned number;
    __host__ __device__ double operator()(long i) const
    {
        uint64_t x = (uint64_t)i * 8 + number;
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
        x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
        return low + (double)((x ^ (x >> 31)) >> 11) * 0x1p-53 * width;
    }
};

template <class T> struct cast {
    spread of;
    __host__ __device__ T operator()(long i) const
    {
        return (T)of(i);
    }
};

template <class T> static array<T> filled(long n, double low, double high, unsigned number = 0)
{
    array<T> a(n);
    thrust::tabulate(a.begin(), a.end(), cast<T>{{low, high - low, number}});
    return a;
}

/* --- maps and folds --- */

struct scaled {
    float a, b;
    __host__ __device__ float operator()(float x, float y) const
    {
        return a * x + y;
    }
    __host__ __device__ float operator()(float x) const
    {
        return a * x + b;
    }
};

struct product {
    __host__ __device__ float operator()(thrust::tuple<float, float> p) const
    {
        return thrust::get<0>(p) * thrust::get<1>(p);
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

struct tally {
    float sum;
    int count;
    float most;
};

struct tally_of {
    __host__ __device__ tally operator()(float x) const
    {
        return {x, x > 0, x};
    }
};

struct tally_sum {
    __host__ __device__ tally operator()(tally a, tally b) const
    {
        return {a.sum + b.sum, a.count + b.count, a.most > b.most ? a.most : b.most};
    }
};

static void folds(long n)
{
    if (wanted("saxpy")) {
        array<float> x = filled<float>(n, -1, 1), y = filled<float>(n, -1, 1, 1), z(n);
        row("saxpy", n, 12,
            [&] { thrust::transform(thrust::device, x.begin(), x.end(), y.begin(), z.begin(), scaled{1.5f, 0}); });
    }
    if (wanted("dot")) {
        array<float> x = filled<float>(n, 0, 1), y = filled<float>(n, 0, 1, 1), sum(1);
        auto pairs = thrust::make_zip_iterator(thrust::make_tuple(of(x), of(y)));
        with_room("dot", n, 8, [&](void *room, size_t &bytes) {
            cub::DeviceReduce::TransformReduce(room, bytes, pairs, of(sum), n, thrust::plus<float>(), product(), 0.0f);
        });
    }
    array<float> x = filled<float>(n, -1, 3), sum(1);
    if (wanted("meanvar")) {
        array<moments> both(1);
        with_room("meanvar", n, 4, [&](void *room, size_t &bytes) {
            cub::DeviceReduce::TransformReduce(room, bytes, of(x), of(both), n, moments_sum(), moments_of(),
                                               moments{0, 0});
        });
    }
    if (wanted("sum"))
        with_room("sum", n, 4,
                  [&](void *room, size_t &bytes) { cub::DeviceReduce::Sum(room, bytes, of(x), of(sum), n); });
    if (wanted("sumcountmax")) {
        array<tally> all(1);
        with_room("sumcountmax", n, 4, [&](void *room, size_t &bytes) {
            cub::DeviceReduce::TransformReduce(room, bytes, of(x), of(all), n, tally_sum(), tally_of(),
                                               tally{0, 0, -INFINITY});
        });
    }
    if (wanted("argmax")) {
        array<int64_t> place(1);
        with_room("argmax", n, 4, [&](void *room, size_t &bytes) {
            cub::DeviceReduce::ArgMax(room, bytes, of(x), of(sum), of(place), n);
        });
    }
}

struct times {
    long length;
    __host__ __device__ long operator()(long i) const
    {
        return i * length;
    }
};

struct over {
    long length;
    __host__ __device__ long operator()(long i) const
    {
        return i / length;
    }
};

/* Later versions have segments of one length (the first of these). */
template <class Room>
static auto sum_rows(Room room, size_t &bytes, array<float> &x, array<float> &sums, long columns, int)
    -> decltype((void)cub::DeviceSegmentedReduce::Sum(room, bytes, of(x), of(sums), 1, 1))
{
    cub::DeviceSegmentedReduce::Sum(room, bytes, of(x), of(sums), (long)sums.size(), (int)columns);
}

template <class Room>
static void sum_rows(Room room, size_t &bytes, array<float> &x, array<float> &sums, long columns, long)
{
    auto starts = thrust::make_transform_iterator(thrust::counting_iterator<long>(0), times{columns});
    cub::DeviceSegmentedReduce::Sum(room, bytes, of(x), of(sums), (long)sums.size(), starts, starts + 1);
}

static void rows(const char *name, long n, long columns)
{
    if (!wanted(name))
        return;
    array<float> x = filled<float>(n, 0, 1), sums(n / columns);
    with_room(name, n, 4, [&](void *room, size_t &bytes) { sum_rows(room, bytes, x, sums, columns, 0); });
}

struct offset_of {
    long length;
    bool uneven;
    __host__ __device__ int64_t operator()(long i) const
    {
        return i * length + (uneven ? (int64_t)spread{0, (double)length, 0}(i) : 0);
    }
};

static void segments(const char *name, long n, long length, bool uneven)
{
    if (!wanted(name))
        return;
    array<float> x = filled<float>(n, 0, 1), sums(n / length);
    array<int64_t> starts(n / length + 1);
    thrust::tabulate(starts.begin(), starts.end(), offset_of{length, uneven});
    starts[0] = 0;
    starts[n / length] = n;
    with_room(name, n, 4 + 12.0 / (double)length, [&](void *room, size_t &bytes) {
        cub::DeviceSegmentedReduce::Sum(room, bytes, of(x), of(sums), n / length, of(starts), of(starts) + 1);
    });
}

/* --- scans and filters --- */

struct is_positive {
    __host__ __device__ bool operator()(float x) const
    {
        return x > 0;
    }
};

/* How many have been kept, on the host. */
struct kept {
    array<int64_t> device;
    int64_t *host = nullptr;
    kept() : device(1)
    {
        cudaMallocHost(&host, sizeof(*host));
    }
    ~kept()
    {
        cudaFreeHost(host);
    }
    void fetch()
    {
        cudaMemcpyAsync(host, of(device), sizeof(*host), cudaMemcpyDeviceToHost);
    }
};

static void scans(long n)
{
    if (wanted("scan_f32")) {
        array<float> x = filled<float>(n, 0, 1), y(n);
        with_room("scan_f32", n, 8, [&](void *room, size_t &bytes) {
            cub::DeviceScan::InclusiveSum(room, bytes, of(x), of(y), n);
        });
    }
    if (wanted("scan_i32")) {
        array<int> x = filled<int>(n, -100, 100), y(n);
        with_room("scan_i32", n, 8, [&](void *room, size_t &bytes) {
            cub::DeviceScan::InclusiveSum(room, bytes, of(x), of(y), n);
        });
    }
    if (wanted("scan_rows")) {
        array<float> x = filled<float>(n, 0, 1), y(n);
        auto number = thrust::make_transform_iterator(thrust::counting_iterator<int>(0), over{16384});
        with_room("scan_rows", n, 8, [&](void *room, size_t &bytes) {
            cub::DeviceScan::InclusiveSumByKey(room, bytes, number, of(x), of(y), n);
        });
    }
    if (wanted("filter")) {
        array<float> x = filled<float>(n, -1, 1), y(n);
        kept k;
        with_room("filter", n, 6, [&](void *room, size_t &bytes) {
            cub::DeviceSelect::If(room, bytes, of(x), of(y), of(k.device), n, is_positive());
            k.fetch();
        });
    }
    if (wanted("filtermax")) {
        array<float> x = filled<float>(n, -1, 1), y(n), most(1);
        kept k;
        auto line = thrust::make_transform_iterator(of(x), scaled{0.75f, 0.125f});
        size_t of_max = 0;
        cub::DeviceReduce::Max(nullptr, of_max, line, of(most), n);
        array<char> room_of_max(of_max + 1);
        with_room("filtermax", n, 6, [&](void *room, size_t &bytes) {
            cub::DeviceSelect::If(room, bytes, line, of(y), of(k.device), n, is_positive());
            cub::DeviceReduce::Max(of(room_of_max), of_max, line, of(most), n);
            k.fetch();
        });
    }
}

/* --- sorts and histograms --- */

static void sorts(long n)
{
    if (wanted("sort_keys")) {
        array<unsigned> key = filled<unsigned>(n, 0, 4294967296.0), to(n);
        with_room("sort_keys", n, 8, [&](void *room, size_t &bytes) {
            cub::DeviceRadixSort::SortKeys(room, bytes, of(key), of(to), n);
        });
    }
    if (wanted("sort_pairs")) {
        array<unsigned> key = filled<unsigned>(n, 0, 4294967296.0), value = filled<unsigned>(n, 0, 4294967296.0, 1);
        array<unsigned> to_key(n), to_value(n);
        with_room("sort_pairs", n, 16, [&](void *room, size_t &bytes) {
            cub::DeviceRadixSort::SortPairs(room, bytes, of(key), of(to_key), of(value), of(to_value), n);
        });
    }
    if (wanted("unique")) {
        array<unsigned> key = filled<unsigned>(n, 0, 1 << 22), sorted(n), to(n);
        kept k;
        size_t of_unique = 0;
        cub::DeviceSelect::Unique(nullptr, of_unique, of(sorted), of(to), of(k.device), n);
        array<char> room_of_unique(of_unique + 1);
        with_room("unique", n, 5, [&](void *room, size_t &bytes) {
            cub::DeviceRadixSort::SortKeys(room, bytes, of(key), of(sorted), n);
            cub::DeviceSelect::Unique(of(room_of_unique), of_unique, of(sorted), of(to), of(k.device), n);
            k.fetch();
        });
    }
}

template <class Key> static void histogram(const char *name, long n, int bins)
{
    if (!wanted(name))
        return;
    array<Key> key = filled<Key>(n, 0, bins);
    array<int> count(bins);
    with_room(name, n, sizeof(Key), [&](void *room, size_t &bytes) {
        cub::DeviceHistogram::HistogramEven(room, bytes, of(key), of(count), bins + 1, 0, bins, (int)n);
    });
}

/* --- another order --- */

struct place_of {
    long n;
    __host__ __device__ int operator()(long i) const
    {
        uint64_t mask = (uint64_t)n - 1, x = (uint64_t)i * 0x9e3779b97f4a7c15u & mask;
        x ^= x >> 9;
        return (int)(x * 0xbf58476d1ce4e5b9u & mask);
    }
};

static void places(long n)
{
    array<float> x = filled<float>(n, 0, 1), y(n);
    array<int> place(n);
    thrust::tabulate(place.begin(), place.end(), place_of{n});
    if (wanted("gather"))
        row("gather", n, 12,
            [&] { thrust::gather(thrust::device, place.begin(), place.end(), x.begin(), y.begin()); });
    if (wanted("scatter"))
        row("scatter", n, 12,
            [&] { thrust::scatter(thrust::device, x.begin(), x.end(), place.begin(), y.begin()); });
    if (wanted("reverse"))
        row("reverse", n, 8, [&] { thrust::reverse_copy(thrust::device, x.begin(), x.end(), y.begin()); });
}

int main(int argc, char **argv)
{
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        fprintf(stderr, "skipped: there is no CUDA device\n");
        return 77;
    }
    names = argc - 1;
    name_list = argv + 1;
    const long n = 1 << 26;
    folds(n);
    rows("rowsums", n, 8192);
    rows("rowsums_short", n, 64);
    scans(n);
    sorts(1 << 24);
    histogram<unsigned char>("histogram_256", 100000000, 256);
    histogram<unsigned>("histogram_1m", n, 1 << 20);
    segments("segsum_16", n, 16, false);
    segments("segsum_64", n, 64, false);
    segments("segsum_1024", n, 1024, false);
    segments("segsum_random", n, 64, true);
    places(n);
    return 0;
}
