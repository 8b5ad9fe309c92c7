/* The hand-written CUDA that Sinter is measured against on a GPU: what somebody who knows the machine writes in an afternoon. Blocks
 * of 256 threads, in one dimension; every array is dense; extents of vectors are multiples of 4. Compiled by NVRTC with its own defaults, so products
 * feeding sums are fused. */

enum { THREADS = 256, WARP = 32 };

static __device__ __forceinline__ float warp_sum(float x)
{
    for (int distance = WARP / 2; distance > 0; distance /= 2)
        x += __shfl_down_sync(0xffffffffu, x, distance);
    return x;
}

/* The sum over a block, in thread 0. */
static __device__ float block_sum(float x, float *shared)
{
    int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    x = warp_sum(x);
    __syncthreads();
    if (lane == 0)
        shared[warp] = x;
    __syncthreads();
    x = threadIdx.x < THREADS / WARP ? shared[threadIdx.x] : 0.0f;
    return warp_sum(x);
}

/* --- maps --- */

extern "C" __global__ void saxpy(float a, const float4 *x, const float4 *y, float4 *z, long n)
{
    long i = (long)blockIdx.x * THREADS + threadIdx.x;
    if (i >= n / 4)
        return;
    float4 p = x[i], q = y[i];
    z[i] = make_float4(a * p.x + q.x, a * p.y + q.y, a * p.z + q.z, a * p.w + q.w);
}

static __device__ float normal_integral(float d)
{
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float poly = (((1.330274429f * k - 1.821255978f) * k + 1.781477937f) * k - 0.356563782f) * k + 0.31938153f;
    float tail = 0.3989422804f * expf(-0.5f * d * d) * poly * k;
    return d > 0 ? 1.0f - tail : tail;
}

extern "C" __global__ void blackscholes(const float *price, const float *strike, const float *years, float *call,
                                        float *put, long n)
{
    const float r = 0.02f, v = 0.30f;
    long i = (long)blockIdx.x * THREADS + threadIdx.x;
    if (i >= n)
        return;
    float s = price[i], k = strike[i], t = years[i], spread = v * sqrtf(t);
    float d1 = (logf(s / k) + (r + 0.5f * v * v) * t) / spread;
    float n1 = normal_integral(d1), n2 = normal_integral(d1 - spread), discounted = k * expf(-r * t);
    call[i] = s * n1 - discounted * n2;
    put[i] = discounted * (1.0f - n2) - s * (1.0f - n1);
}

extern "C" __global__ void mandelbrot(float left, float top, float step, int limit, int *count, long height, long width)
{
    long i = (long)blockIdx.x * THREADS + threadIdx.x;
    if (i >= height * width)
        return;
    float cr = left + (float)(i % width) * step, ci = top + (float)(i / width) * step, zr = 0, zi = 0;
    int n = 0;
    while (zr * zr + zi * zi < 4 && n < limit) {
        float next = zr * zr - zi * zi + cr;
        zi = (zr + zr) * zi + ci;
        zr = next;
        n++;
    }
    count[i] = n;
}

/* --- folds: a partial result per block, then one block for those --- */

extern "C" __global__ void dot_partial(const float4 *x, const float4 *y, float *partial, long n)
{
    __shared__ float shared[THREADS / WARP];
    float sum = 0;
    for (long i = (long)blockIdx.x * THREADS + threadIdx.x; i < n / 4; i += (long)gridDim.x * THREADS) {
        float4 p = x[i], q = y[i];
        sum += (p.x * q.x + p.y * q.y) + (p.z * q.z + p.w * q.w);
    }
    sum = block_sum(sum, shared);
    if (threadIdx.x == 0)
        partial[blockIdx.x] = sum;
}

extern "C" __global__ void dot_final(const float *partial, float *result, int n)
{
    __shared__ float shared[THREADS / WARP];
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += THREADS)
        sum += partial[i];
    sum = block_sum(sum, shared);
    if (threadIdx.x == 0)
        *result = sum;
}

extern "C" __global__ void meanvar_partial(const float4 *x, float *partial, long n)
{
    __shared__ float shared[THREADS / WARP];
    float sum = 0, squares = 0;
    for (long i = (long)blockIdx.x * THREADS + threadIdx.x; i < n / 4; i += (long)gridDim.x * THREADS) {
        float4 p = x[i];
        sum += (p.x + p.y) + (p.z + p.w);
        squares += (p.x * p.x + p.y * p.y) + (p.z * p.z + p.w * p.w);
    }
    sum = block_sum(sum, shared);
    squares = block_sum(squares, shared);
    if (threadIdx.x == 0) {
        partial[2 * blockIdx.x] = sum;
        partial[2 * blockIdx.x + 1] = squares;
    }
}

extern "C" __global__ void meanvar_final(const float *partial, float *mean, float *variance, int blocks, long n)
{
    __shared__ float shared[THREADS / WARP];
    float sum = 0, squares = 0;
    for (int i = threadIdx.x; i < blocks; i += THREADS) {
        sum += partial[2 * i];
        squares += partial[2 * i + 1];
    }
    sum = block_sum(sum, shared);
    squares = block_sum(squares, shared);
    if (threadIdx.x == 0) {
        *mean = sum / (float)n;
        *variance = squares / (float)n - *mean * *mean;
    }
}

/* A block a row. */
extern "C" __global__ void rowsums(const float4 *x, float *sums, long columns)
{
    __shared__ float shared[THREADS / WARP];
    const float4 *row = x + (long)blockIdx.x * (columns / 4);
    float sum = 0;
    for (long i = threadIdx.x; i < columns / 4; i += THREADS) {
        float4 p = row[i];
        sum += (p.x + p.y) + (p.z + p.w);
    }
    sum = block_sum(sum, shared);
    if (threadIdx.x == 0)
        sums[blockIdx.x] = sum;
}

/* --- bodies: all against all, THREADS of them at a time in shared memory --- */

extern "C" __global__ void nbody(const float *x, const float *y, const float *z, const float *u, const float *v,
                                 const float *w, const float *mass, float step, float *to_x, float *to_y, float *to_z,
                                 float *to_u, float *to_v, float *to_w, int n)
{
    __shared__ float4 tile[THREADS];
    int i = blockIdx.x * THREADS + threadIdx.x;
    float hx = i < n ? x[i] : 0, hy = i < n ? y[i] : 0, hz = i < n ? z[i] : 0, ax = 0, ay = 0, az = 0;
    for (int first = 0; first < n; first += THREADS) {
        int j = first + threadIdx.x;
        tile[threadIdx.x] = j < n ? make_float4(x[j], y[j], z[j], mass[j]) : make_float4(0, 0, 0, 0);
        __syncthreads();
        #pragma unroll 8
        for (int k = 0; k < THREADS; k++) {
            float dx = tile[k].x - hx, dy = tile[k].y - hy, dz = tile[k].z - hz;
            float square = dx * dx + dy * dy + dz * dz;
            float strength = square > 0 ? tile[k].w / (square * sqrtf(square)) : 0.0f;
            ax += dx * strength;
            ay += dy * strength;
            az += dz * strength;
        }
        __syncthreads();
    }
    if (i >= n)
        return;
    float su = u[i] + ax * step, sv = v[i] + ay * step, sw = w[i] + az * step;
    to_u[i] = su;
    to_v[i] = sv;
    to_w[i] = sw;
    to_x[i] = hx + su * step;
    to_y[i] = hy + sv * step;
    to_z[i] = hz + sw * step;
}

/* --- Canny, in two passes with tiles in shared memory: blurred, then edges --- */

enum { TILE_X = 32, TILE_Y = 8 }; /* of a block */

static __device__ __forceinline__ int clamp(int i, int n)
{
    return i < 0 ? 0 : i < n ? i : n - 1;
}

extern "C" __global__ void canny_blur(const unsigned char *red, const unsigned char *green, const unsigned char *blue,
                                      float *blurred, int height, int width)
{
    __shared__ float grey[TILE_Y + 4][TILE_X + 4], across[TILE_Y + 4][TILE_X];
    int tiles = (width + TILE_X - 1) / TILE_X, x0 = blockIdx.x % tiles * TILE_X, y0 = blockIdx.x / tiles * TILE_Y;
    for (int i = threadIdx.x; i < (TILE_Y + 4) * (TILE_X + 4); i += THREADS) {
        int ty = i / (TILE_X + 4), tx = i % (TILE_X + 4);
        long at = (long)clamp(y0 + ty - 2, height) * width + clamp(x0 + tx - 2, width);
        grey[ty][tx] = 0.299f * red[at] + 0.587f * green[at] + 0.114f * blue[at];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < (TILE_Y + 4) * TILE_X; i += THREADS) {
        const float *g = &grey[i / TILE_X][i % TILE_X];
        across[i / TILE_X][i % TILE_X] = ((g[0] + g[4]) + 4 * (g[1] + g[3]) + 6 * g[2]) * (1.0f / 16);
    }
    __syncthreads();
    int tx = threadIdx.x % TILE_X, ty = threadIdx.x / TILE_X, x = x0 + tx, y = y0 + ty;
    if (x < width && y < height)
        blurred[(long)y * width + x] = ((across[ty][tx] + across[ty + 4][tx]) +
                                        4 * (across[ty + 1][tx] + across[ty + 3][tx]) + 6 * across[ty + 2][tx]) *
                                       (1.0f / 16);
}

enum { FLAT, RISING, DOWN, FALLING, ACROSS };

extern "C" __global__ void canny_edges(const float *blurred, float low, float high, float *edges, int height, int width)
{
    __shared__ float smooth[TILE_Y + 4][TILE_X + 4], magnitude[TILE_Y + 2][TILE_X + 2];
    __shared__ unsigned char direction[TILE_Y + 2][TILE_X + 2];
    int tiles = (width + TILE_X - 1) / TILE_X, x0 = blockIdx.x % tiles * TILE_X, y0 = blockIdx.x / tiles * TILE_Y;
    for (int i = threadIdx.x; i < (TILE_Y + 4) * (TILE_X + 4); i += THREADS) {
        int ty = i / (TILE_X + 4), tx = i % (TILE_X + 4);
        smooth[ty][tx] = blurred[(long)clamp(y0 + ty - 2, height) * width + clamp(x0 + tx - 2, width)];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < (TILE_Y + 2) * (TILE_X + 2); i += THREADS) {
        int ty = i / (TILE_X + 2), tx = i % (TILE_X + 2);
        /* What lies outside the picture is that of its edge. */
        int cy = clamp(y0 + ty - 1, height) - y0 + 2, cx = clamp(x0 + tx - 1, width) - x0 + 2;
        const float *above = &smooth[cy - 1][cx], *here = &smooth[cy][cx], *below = &smooth[cy + 1][cx];
        float dx = (above[1] + below[1] + 2 * here[1]) - (above[-1] + below[-1] + 2 * here[-1]);
        float dy = (above[-1] + above[1] + 2 * above[0]) - (below[-1] + below[1] + 2 * below[0]);
        float ax = fabsf(dx), ay = fabsf(dy);
        int sector = ax <= 0.414213562f * ay ? DOWN : (dx < 0) == (dy < 0) ? RISING : FALLING;
        sector = ay < 0.414213562f * ax ? ACROSS : sector;
        direction[ty][tx] = ax <= low && ay <= low ? FLAT : sector;
        magnitude[ty][tx] = sqrtf(dx * dx + dy * dy);
    }
    __syncthreads();
    int tx = threadIdx.x % TILE_X + 1, ty = threadIdx.x / TILE_X + 1, x = x0 + tx - 1, y = y0 + ty - 1;
    if (x >= width || y >= height)
        return;
    int d = direction[ty][tx], sy = d == ACROSS ? 0 : -1, sx = d == RISING ? 1 : d == DOWN ? 0 : -1;
    float here = magnitude[ty][tx];
    bool largest = here >= magnitude[ty + sy][tx + sx] && here >= magnitude[ty - sy][tx - sx];
    edges[(long)y * width + x] = d != FLAT && here >= low && largest ? (here >= high ? 1.0f : 0.5f) : 0.0f;
}

/* --- more folds --- */

extern "C" __global__ void sum_partial(const float4 *x, float *partial, long n)
{
    __shared__ float shared[THREADS / WARP];
    float sum = 0;
    for (long i = (long)blockIdx.x * THREADS + threadIdx.x; i < n / 4; i += (long)gridDim.x * THREADS) {
        float4 p = x[i];
        sum += (p.x + p.y) + (p.z + p.w);
    }
    sum = block_sum(sum, shared);
    if (threadIdx.x == 0)
        partial[blockIdx.x] = sum;
}

#define LEAST __int_as_float((int)0xff800000) /* minus infinity */

static __device__ float block_max(float x, float *shared)
{
    for (int distance = WARP / 2; distance > 0; distance /= 2)
        x = fmaxf(x, __shfl_down_sync(0xffffffffu, x, distance));
    __syncthreads();
    if (threadIdx.x % WARP == 0)
        shared[threadIdx.x / WARP] = x;
    __syncthreads();
    x = shared[threadIdx.x % (THREADS / WARP)];
    for (int distance = THREADS / WARP / 2; distance > 0; distance /= 2)
        x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, distance));
    return x; /* in every thread */
}

static __device__ int block_count(int x, int *shared)
{
    for (int distance = WARP / 2; distance > 0; distance /= 2)
        x += __shfl_down_sync(0xffffffffu, x, distance);
    __syncthreads();
    if (threadIdx.x % WARP == 0)
        shared[threadIdx.x / WARP] = x;
    __syncthreads();
    x = shared[threadIdx.x % (THREADS / WARP)];
    for (int distance = THREADS / WARP / 2; distance > 0; distance /= 2)
        x += __shfl_xor_sync(0xffffffffu, x, distance);
    return x;
}

struct tally {
    float sum, most;
    int count, unused;
};

extern "C" __global__ void sumcountmax_partial(const float4 *x, tally *partial, long n)
{
    __shared__ float shared[THREADS / WARP];
    __shared__ int counts[THREADS / WARP];
    float sum = 0, most = LEAST;
    int count = 0;
    for (long i = (long)blockIdx.x * THREADS + threadIdx.x; i < n / 4; i += (long)gridDim.x * THREADS) {
        float4 p = x[i];
        sum += (p.x + p.y) + (p.z + p.w);
        count += (p.x > 0) + (p.y > 0) + (p.z > 0) + (p.w > 0);
        most = fmaxf(most, fmaxf(fmaxf(p.x, p.y), fmaxf(p.z, p.w)));
    }
    sum = block_sum(sum, shared);
    most = block_max(most, shared);
    count = block_count(count, counts);
    if (threadIdx.x == 0) {
        tally t = {sum, most, count, 0};
        partial[blockIdx.x] = t;
    }
}

extern "C" __global__ void sumcountmax_final(const tally *partial, float *to_sum, long *to_count, float *to_most, int n)
{
    __shared__ float shared[THREADS / WARP];
    __shared__ int counts[THREADS / WARP];
    float sum = 0, most = LEAST;
    int count = 0;
    for (int i = threadIdx.x; i < n; i += THREADS) {
        sum += partial[i].sum;
        count += partial[i].count;
        most = fmaxf(most, partial[i].most);
    }
    sum = block_sum(sum, shared);
    most = block_max(most, shared);
    count = block_count(count, counts);
    if (threadIdx.x == 0) {
        *to_sum = sum;
        *to_count = count;
        *to_most = most;
    }
}

/* --- running sums of rows: a block a row, 4 * THREADS elements at a time --- */

extern "C" __global__ void scan_rows(const float4 *x, float4 *y, long columns)
{
    __shared__ float of_warp[THREADS / WARP];
    const float4 *from = x + (long)blockIdx.x * (columns / 4);
    float4 *to = y + (long)blockIdx.x * (columns / 4);
    int n = (int)(columns / 4), lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    float before = 0; /* the sum of what earlier rounds had */
    float4 next = threadIdx.x < n ? from[threadIdx.x] : make_float4(0, 0, 0, 0);
    for (int first = 0; first < n; first += THREADS) {
        int i = first + threadIdx.x;
        float4 p = next;
        next = i + THREADS < n ? from[i + THREADS] : make_float4(0, 0, 0, 0);
        p.y += p.x;
        p.z += p.y;
        p.w += p.z;
        float running = p.w;
        for (int distance = 1; distance < WARP; distance *= 2) {
            float left = __shfl_up_sync(0xffffffffu, running, distance);
            running += lane >= distance ? left : 0.0f;
        }
        __syncthreads();
        if (lane == WARP - 1)
            of_warp[warp] = running;
        __syncthreads();
        float left = __shfl_up_sync(0xffffffffu, running, 1), base = before + (lane ? left : 0.0f);
        #pragma unroll
        for (int k = 0; k < THREADS / WARP; k++) {
            float sum = of_warp[k];
            base += k < warp ? sum : 0.0f;
            before += sum;
        }
        if (i < n)
            to[i] = make_float4(base + p.x, base + p.y, base + p.z, base + p.w);
    }
}

/* --- by keys and by segments --- */

extern "C" __global__ void sum_by_key(const uint4 *key, const int4 *value, int *sums, long n)
{
    long i = (long)blockIdx.x * THREADS + threadIdx.x;
    if (i >= n / 4)
        return;
    uint4 k = key[i];
    int4 v = value[i];
    atomicAdd(&sums[k.x], v.x);
    atomicAdd(&sums[k.y], v.y);
    atomicAdd(&sums[k.z], v.z);
    atomicAdd(&sums[k.w], v.w);
}

/* 8 lanes a row. */
extern "C" __global__ void csr(const long *offset, const int *__restrict__ column, const float *__restrict__ x,
                               const float *__restrict__ vector, float *sums, long rows)
{
    long row = ((long)blockIdx.x * THREADS + threadIdx.x) / 8;
    int lane = threadIdx.x % 8;
    float sum = 0;
    if (row < rows)
        for (long i = offset[row] + lane, end = offset[row + 1]; i < end; i += 8)
            sum += x[i] * __ldg(&vector[column[i]]);
    for (int distance = 4; distance > 0; distance /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, distance, 8);
    if (row < rows && lane == 0)
        sums[row] = sum;
}

/* --- elements in another order --- */

extern "C" __global__ void gather(const int4 *place, const float *__restrict__ x, float4 *y, long n)
{
    long i = (long)blockIdx.x * THREADS + threadIdx.x;
    if (i >= n / 4)
        return;
    int4 p = place[i];
    y[i] = make_float4(__ldg(&x[p.x]), __ldg(&x[p.y]), __ldg(&x[p.z]), __ldg(&x[p.w]));
}

extern "C" __global__ void scatter(const int4 *place, const float4 *x, float *y, long n)
{
    long i = (long)blockIdx.x * THREADS + threadIdx.x;
    if (i >= n / 4)
        return;
    int4 p = place[i];
    float4 v = x[i];
    y[p.x] = v.x;
    y[p.y] = v.y;
    y[p.z] = v.z;
    y[p.w] = v.w;
}

extern "C" __global__ void reverse(const float4 *x, float4 *y, long n)
{
    long i = (long)blockIdx.x * THREADS + threadIdx.x;
    if (i >= n / 4)
        return;
    float4 p = x[n / 4 - 1 - i];
    y[i] = make_float4(p.w, p.z, p.y, p.x);
}

/* By one place to the left: what the next lane has comes from the cache. */
extern "C" __global__ void rotate(const float *x, float4 *y, long n)
{
    long i = (long)blockIdx.x * THREADS + threadIdx.x;
    if (i >= n / 4)
        return;
    float4 p = ((const float4 *)x)[i];
    y[i] = make_float4(p.y, p.z, p.w, x[4 * i + 4 < n ? 4 * i + 4 : 0]);
}

/* Tiles of 64 x 64, so extents are multiples of that. */
extern "C" __global__ void transpose(const float *x, float *y, long rows, long columns)
{
    __shared__ float tile[64][65];
    long tiles = columns / 64, row = blockIdx.x / tiles * 64, column = blockIdx.x % tiles * 64;
    int across = threadIdx.x % 16 * 4, down = threadIdx.x / 16;
    #pragma unroll
    for (int k = 0; k < 64; k += 16) {
        float4 p = *(const float4 *)&x[(row + down + k) * columns + column + across];
        tile[down + k][across] = p.x;
        tile[down + k][across + 1] = p.y;
        tile[down + k][across + 2] = p.z;
        tile[down + k][across + 3] = p.w;
    }
    __syncthreads();
    #pragma unroll
    for (int k = 0; k < 64; k += 16)
        *(float4 *)&y[(column + down + k) * rows + row + across] =
            make_float4(tile[across][down + k], tile[across + 1][down + k], tile[across + 2][down + k],
                        tile[across + 3][down + k]);
}

/* --- softmax: a block a row of at most 16 * THREADS elements, which stay in registers --- */

extern "C" __global__ void softmax(const float4 *x, float4 *y, long columns)
{
    __shared__ float shared[THREADS / WARP], total;
    const float4 *from = x + (long)blockIdx.x * (columns / 4);
    float4 *to = y + (long)blockIdx.x * (columns / 4);
    int n = (int)(columns / 4);
    float4 p[4];
    float most = LEAST, sum = 0;
    #pragma unroll
    for (int k = 0; k < 4; k++) {
        int i = k * THREADS + threadIdx.x;
        p[k] = i < n ? from[i] : make_float4(LEAST, LEAST, LEAST, LEAST);
        most = fmaxf(most, fmaxf(fmaxf(p[k].x, p[k].y), fmaxf(p[k].z, p[k].w)));
    }
    most = block_max(most, shared);
    #pragma unroll
    for (int k = 0; k < 4; k++) {
        p[k] = make_float4(expf(p[k].x - most), expf(p[k].y - most), expf(p[k].z - most), expf(p[k].w - most));
        sum += (p[k].x + p[k].y) + (p[k].z + p[k].w);
    }
    sum = block_sum(sum, shared);
    if (threadIdx.x == 0)
        total = 1.0f / sum;
    __syncthreads();
    float factor = total;
    #pragma unroll
    for (int k = 0; k < 4; k++) {
        int i = k * THREADS + threadIdx.x;
        if (i < n)
            to[i] = make_float4(p[k].x * factor, p[k].y * factor, p[k].z * factor, p[k].w * factor);
    }
}

/* --- stencils: a step of Jacobi's, 4 elements a thread; a blur of bytes, 16 columns and 8 rows a thread --- */

extern "C" __global__ void jacobi(const float *x, float4 *y, int height, int width)
{
    int i = blockIdx.x * THREADS + threadIdx.x, row = i / (width / 4), column = i % (width / 4) * 4;
    if (row >= height)
        return;
    const float *here = x + (long)row * width;
    float4 p = *(const float4 *)(here + column);
    float4 above = *(const float4 *)(x + (long)(row ? row - 1 : 0) * width + column);
    float4 below = *(const float4 *)(x + (long)(row + 1 < height ? row + 1 : row) * width + column);
    float left = column ? here[column - 1] : p.x, right = column + 4 < width ? here[column + 4] : p.w;
    y[i] = make_float4((p.x + above.x + below.x + left + p.y) * 0.2f, (p.y + above.y + below.y + p.x + p.z) * 0.2f,
                       (p.z + above.z + below.z + p.y + p.w) * 0.2f, (p.w + above.w + below.w + p.z + right) * 0.2f);
}

/* 1 2 1 across a row, of the bytes of even and of odd places in words of their own, each sum in 16 bits. */
static __device__ __forceinline__ void blur_across(const unsigned char *row, int column, int width, unsigned *even,
                                                   unsigned *odd)
{
    uint4 p = *(const uint4 *)(row + column);
    unsigned w[4] = {p.x, p.y, p.z, p.w};
    unsigned before = column ? row[column - 1] : p.x & 0xff, after = column + 16 < width ? row[column + 16] : p.w >> 24;
    #pragma unroll
    for (int k = 0; k < 4; k++) {
        unsigned e = w[k] & 0x00ff00ffu, o = w[k] >> 8 & 0x00ff00ffu;
        unsigned left = o << 16 | (k ? w[k - 1] >> 24 : before), right = e >> 16 | (k < 3 ? w[k + 1] & 0xff : after) << 16;
        even[k] = left + 2 * e + o;
        odd[k] = e + 2 * o + right;
    }
}

extern "C" __global__ void blur(const unsigned char *x, unsigned char *y, int height, int width)
{
    int i = blockIdx.x * THREADS + threadIdx.x, column = i % (width / 16) * 16, first = i / (width / 16) * 8;
    if (first >= height)
        return;
    unsigned even[3][4], odd[3][4];
    blur_across(x + (long)(first ? first - 1 : 0) * width, column, width, even[0], odd[0]);
    blur_across(x + (long)first * width, column, width, even[1], odd[1]);
    #pragma unroll
    for (int k = 0; k < 8; k++) {
        int row = first + k, above = k % 3, here = (k + 1) % 3, below = (k + 2) % 3;
        blur_across(x + (long)(row + 1 < height ? row + 1 : row) * width, column, width, even[below], odd[below]);
        unsigned sums[4];
        #pragma unroll
        for (int j = 0; j < 4; j++) {
            unsigned e = (even[above][j] + 2 * even[here][j] + even[below][j] + 0x00080008u) >> 4 & 0x00ff00ffu;
            unsigned o = (odd[above][j] + 2 * odd[here][j] + odd[below][j] + 0x00080008u) >> 4 & 0x00ff00ffu;
            sums[j] = e | o << 8;
        }
        uint4 p = {sums[0], sums[1], sums[2], sums[3]};
        *(uint4 *)(y + (long)row * width + column) = p;
    }
}

/* --- the product of an n x k and a k x m matrix: 128 x 128 elements a block, 8 x 8 a thread, 8 products of each at a
 * time from one of two buffers in shared memory while the other fills; k and m are multiples of 8 --- */

enum { SIDE = 128, DEEP = 8 };

extern "C" __global__ void sgemm(const float *a, const float *b, float *c, int n, int k, int m)
{
    __shared__ __align__(16) float as[2][DEEP][SIDE + 4], bs[2][DEEP][SIDE];
    int tiles = (m + SIDE - 1) / SIDE, row0 = blockIdx.x / tiles * SIDE, column0 = blockIdx.x % tiles * SIDE;
    int a_row = threadIdx.x / 2, a_k = threadIdx.x % 2 * 4, b_k = threadIdx.x / 32, b_column = threadIdx.x % 32 * 4;
    /* What lies outside is never stored: any element does. */
    const float *from_a = a + (long)(row0 + a_row < n ? row0 + a_row : 0) * k + a_k;
    const float *from_b = b + (long)b_k * m + (column0 + b_column < m ? column0 + b_column : 0);
    int down = threadIdx.x / 16 * 4, across = threadIdx.x % 16 * 4; /* and 64 further */
    float sum[8][8] = {};
    float4 p = *(const float4 *)from_a, q = *(const float4 *)from_b;
    int now = 0;
    for (int first = 0; first < k; first += DEEP) {
        as[now][a_k][a_row] = p.x;
        as[now][a_k + 1][a_row] = p.y;
        as[now][a_k + 2][a_row] = p.z;
        as[now][a_k + 3][a_row] = p.w;
        *(float4 *)&bs[now][b_k][b_column] = q;
        __syncthreads();
        if (first + DEEP < k) {
            p = *(const float4 *)(from_a += DEEP);
            q = *(const float4 *)(from_b += (long)DEEP * m);
        }
        #pragma unroll
        for (int d = 0; d < DEEP; d++) {
            float4 a0 = *(const float4 *)&as[now][d][down], a1 = *(const float4 *)&as[now][d][down + 64];
            float4 b0 = *(const float4 *)&bs[now][d][across], b1 = *(const float4 *)&bs[now][d][across + 64];
            float u[8] = {a0.x, a0.y, a0.z, a0.w, a1.x, a1.y, a1.z, a1.w};
            float v[8] = {b0.x, b0.y, b0.z, b0.w, b1.x, b1.y, b1.z, b1.w};
            #pragma unroll
            for (int i = 0; i < 8; i++)
                #pragma unroll
                for (int j = 0; j < 8; j++)
                    sum[i][j] += u[i] * v[j];
        }
        now ^= 1;
    }
    #pragma unroll
    for (int i = 0; i < 8; i++) {
        int row = row0 + down + i % 4 + i / 4 * 64;
        #pragma unroll
        for (int j = 0; j < 8; j += 4) {
            int column = column0 + across + j * 16;
            if (row < n && column < m)
                *(float4 *)&c[(long)row * m + column] = make_float4(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]);
        }
    }
}
