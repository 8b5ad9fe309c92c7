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
