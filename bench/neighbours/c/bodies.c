/* Particles, rays, meshes and transforms. */
#include "c.h"

/* --- particles --- */

C(fd_kinetic)
{
    IN(f64, x, 0);
    IN(f64, y, 1);
    IN(f64, z, 2);
    IN(f64, mass, 3);
    int64_t n = E(0);
    f64 sum = 0;
    PRAGMA(omp parallel for simd schedule(static) reduction(+ : sum))
    FOR (i, n)
        sum += 0.5 * mass[i] * (x[i] * x[i] + y[i] * y[i] + z[i] * z[i]);
    RESULT(f64, 0) = sum;
}

C(fd_leapfrog)
{
    IN(f32, x, 0);
    IN(f32, v, 1);
    IN(f32, force, 2);
    OUT(f32, next, 0);
    OUT(f32, speed, 1);
    int64_t n = E(0) * 3;
    PARALLEL_FOR
    FOR (i, n) {
        f32 w = v[i] + 0.0625f * force[i], y = x[i] + 0.0625f * w;
        speed[i] = w;
        next[i] = y - floorf(y);
    }
}

C(fd_minimum_image)
{
    IN(f64, x, 0);
    IN(i32, pair, 1);
    OUT(f64, z, 0);
    int64_t n = E(1);
    PARALLEL_FOR
    FOR (p, n) {
        const f64 *a = x + 3 * (int64_t)pair[2 * p], *b = x + 3 * (int64_t)pair[2 * p + 1];
        f64 sum = 0;
        FOR (k, 3) {
            f64 d = a[k] - b[k];
            d -= 2 * rint(0.5 * d);
            sum += d * d;
        }
        z[p] = sum;
    }
}

C(fd_centres_of_mass)
{
    IN(u8, label, 0);
    IN(f64, x, 1);
    IN(f64, y, 2);
    IN(f64, mass, 3);
    OUT(f64, cx, 0);
    OUT(f64, cy, 1);
    int64_t n = E(0);
    f64 all[16][3] = {{0}};
    PARALLEL
    {
        f64 own[2][16][4] = {{{0}}};
        SPLIT_FOR
        FOR (i, n) {
            f64 *s = own[i & 1][label[i]], m = mass[i];
            s[0] += m * x[i];
            s[1] += m * y[i];
            s[2] += m;
        }
        CRITICAL
        FOR (l, 16)
            FOR (k, 3)
                all[l][k] += own[0][l][k] + own[1][l][k];
    }
    FOR (l, 16) {
        f64 m = all[l][2] > 0 ? all[l][2] : 1;
        cx[l] = all[l][0] / m;
        cy[l] = all[l][1] / m;
    }
}

C(fd_cells)
{
    IN(f32, x, 0);
    IN(f32, y, 1);
    IN(f32, z, 2);
    OUT(i32, cell, 0);
    OUT(i64, counts, 1);
    int64_t n = E(0);
    memset(counts, 0, 4096 * sizeof(*counts));
    PARALLEL
    {
        u32 own[4096] = {0};
        SPLIT_FOR
        FOR (b, (n + 1023) / 1024) {
            int64_t from = b * 1024, to = MIN(from + 1024, n);
            for (int64_t i = from; i < to; i++)
                cell[i] = ((i32)(x[i] * 16) * 16 + (i32)(y[i] * 16)) * 16 + (i32)(z[i] * 16);
            for (int64_t i = from; i < to; i++)
                own[cell[i]]++;
        }
        CRITICAL
        FOR (k, 4096)
            counts[k] += own[k];
    }
}

C(fd_forces)
{
    enum { SOME = 64 };
    IN(f32, x, 0);
    IN(f32, y, 1);
    IN(f32, z, 2);
    IN(f32, cx, 3);
    IN(f32, cy, 4);
    IN(f32, cz, 5);
    IN(f32, mass, 6);
    OUT(f32, fx, 0);
    OUT(f32, fy, 1);
    OUT(f32, fz, 2);
    int64_t n = E(0), k = E(1);
    PARALLEL_FOR
    FOR (b, (n + SOME - 1) / SOME) {
        int64_t from = b * SOME, some = MIN(SOME, n - from);
        f32 sx[SOME] = {0}, sy[SOME] = {0}, sz[SOME] = {0};
        FOR (j, k) {
            f32 px = cx[j], py = cy[j], pz = cz[j], m = mass[j];
            SIMD
            FOR (i, some) {
                f32 dx = px - x[from + i], dy = py - y[from + i], dz = pz - z[from + i];
                f32 r2 = dx * dx + dy * dy + dz * dz + 0.01f, f = m / (r2 * sqrtf(r2));
                sx[i] += dx * f;
                sy[i] += dy * f;
                sz[i] += dz * f;
            }
        }
        FOR (i, some) {
            fx[from + i] = sx[i];
            fy[from + i] = sy[i];
            fz[from + i] = sz[i];
        }
    }
}

/* --- rays --- */

enum { RAYS = 64 };

struct rays {
    f32 o[3][RAYS], d[3][RAYS];
};

static void read_rays(struct rays *r, const f32 *from, const f32 *to, int64_t at, int64_t some)
{
    FOR (i, RAYS)
        FOR (k, 3) {
            r->o[k][i] = i < some ? from[3 * (at + i) + k] : 0;
            r->d[k][i] = i < some ? to[3 * (at + i) + k] : 1;
        }
}

C(fd_nearest_sphere)
{
    IN(f32, from, 0);
    IN(f32, to, 1);
    IN(f32, cx, 2);
    IN(f32, cy, 3);
    IN(f32, cz, 4);
    IN(f32, radius, 5);
    OUT(f32, z, 0);
    OUT(i32, which, 1);
    int64_t n = E(0), k = E(1);
    PARALLEL_FOR
    FOR (b, (n + RAYS - 1) / RAYS) {
        int64_t at = b * RAYS, some = MIN(RAYS, n - at);
        struct rays r;
        f32 best[RAYS];
        i32 index[RAYS];
        read_rays(&r, from, to, at, some);
        FOR (i, RAYS) {
            best[i] = 1e30f;
            index[i] = -1;
            r.d[2][i] += 1;
        }
        FOR (j, k) {
            f32 px = cx[j], py = cy[j], pz = cz[j], r2 = radius[j] * radius[j];
            SIMD
            FOR (i, RAYS) {
                f32 ox = r.o[0][i] - px, oy = r.o[1][i] - py, oz = r.o[2][i] - pz;
                f32 dx = r.d[0][i], dy = r.d[1][i], dz = r.d[2][i];
                f32 a = dx * dx + dy * dy + dz * dz, h = dx * ox + dy * oy + dz * oz,
                    q = ox * ox + oy * oy + oz * oz - r2;
                f32 under = h * h - a * q, t = (-h - sqrtf(MAX(under, 0))) / a;
                bool hit = (under >= 0) & (t > 0) & (t < best[i]);
                best[i] = hit ? t : best[i];
                index[i] = hit ? (i32)j : index[i];
            }
        }
        FOR (i, some) {
            z[at + i] = best[i];
            which[at + i] = index[i];
        }
    }
}

C(fd_boxes_hit)
{
    IN(f32, from, 0);
    IN(f32, to, 1);
    IN(f32, box, 2);
    OUT(u8, z, 0);
    int64_t n = E(0), k = E(1);
    PARALLEL_FOR
    FOR (b, (n + RAYS - 1) / RAYS) {
        int64_t at = b * RAYS, some = MIN(RAYS, n - at);
        struct rays r;
        i32 count[RAYS] = {0};
        read_rays(&r, from, to, at, some);
        FOR (c, 3)
            FOR (i, RAYS)
                r.d[c][i] = 1 / r.d[c][i];
        FOR (j, k) {
            const f32 *p = box + 6 * j;
            f32 b0 = p[0], b1 = p[1], b2 = p[2], b3 = p[3], b4 = p[4], b5 = p[5];
            SIMD
            FOR (i, RAYS) {
                f32 in = 0, out = 1e30f;
#define SLAB(c, low, high)                                                                                             \
    {                                                                                                                  \
        f32 s = (low - r.o[c][i]) * r.d[c][i], t = (high - r.o[c][i]) * r.d[c][i];                                     \
        f32 least = MIN(s, t), most = MAX(s, t);                                                                       \
        in = MAX(in, least);                                                                                           \
        out = MIN(out, most);                                                                                          \
    }
                SLAB(0, b0, b3)
                SLAB(1, b1, b4)
                SLAB(2, b2, b5)
                count[i] += in <= out;
            }
        }
        FOR (i, some)
            z[at + i] = (u8)count[i];
    }
}

C(fd_nearest_triangle)
{
    IN(f32, from, 0);
    IN(f32, to, 1);
    IN(f32, triangle, 2);
    OUT(f32, z, 0);
    int64_t n = E(0), k = E(1);
    PARALLEL_FOR
    FOR (b, (n + RAYS - 1) / RAYS) {
        int64_t at = b * RAYS, some = MIN(RAYS, n - at);
        struct rays r;
        f32 best[RAYS];
        read_rays(&r, from, to, at, some);
        FOR (i, RAYS)
            best[i] = 1000;
        FOR (j, k) {
            const f32 *v = triangle + 9 * j;
            f32 vx = v[0], vy = v[1], vz = v[2];
            f32 ax = v[3] - vx, ay = v[4] - vy, az = v[5] - vz, bx = v[6] - vx, by = v[7] - vy, bz = v[8] - vz;
            SIMD
            FOR (i, RAYS) {
                f32 dx = r.d[0][i], dy = r.d[1][i], dz = r.d[2][i];
                f32 hx = dy * bz - dz * by, hy = dz * bx - dx * bz, hz = dx * by - dy * bx;
                f32 sx = r.o[0][i] - vx, sy = r.o[1][i] - vy, sz = r.o[2][i] - vz;
                f32 qx = sy * az - sz * ay, qy = sz * ax - sx * az, qz = sx * ay - sy * ax;
                f32 a = ax * hx + ay * hy + az * hz, u = sx * hx + sy * hy + sz * hz, w = dx * qx + dy * qy + dz * qz;
                f32 t = (bx * qx + by * qy + bz * qz) / (a == 0 ? 1 : a);
                f32 sign = a < 0 ? -1 : 1;
                u *= sign;
                w *= sign;
                bool hit = (u >= 0) & (w >= 0) & (u + w <= fabsf(a)) & (a != 0) & (t > 0) & (t < best[i]);
                best[i] = hit ? t : best[i];
            }
        }
        FOR (i, some)
            z[at + i] = best[i];
    }
}

/* --- polygons and meshes --- */

C(fd_in_polygon)
{
    enum { SOME = 256 };
    IN(f32, x, 0);
    IN(f32, y, 1);
    IN(f32, cx, 2);
    IN(f32, cy, 3);
    OUT(b8, z, 0);
    int64_t n = E(0), k = E(1);
    PARALLEL_FOR
    FOR (b, (n + SOME - 1) / SOME) {
        int64_t from = b * SOME, some = MIN(SOME, n - from);
        i32 inside[SOME] = {0};
        FOR (j, k) {
            int64_t l = j + 1 < k ? j + 1 : 0;
            f32 px = cx[j], py = cy[j], qx = cx[l], qy = cy[l], dx = qx - px, dy = qy - py;
            i32 down = qy < py;
            SIMD
            FOR (i, some) {
                f32 u = x[from + i], v = y[from + i];
                f32 side = (u - px) * dy - dx * (v - py);
                inside[i] ^= ((py > v) ^ (qy > v)) & ((side < 0) ^ down);
            }
        }
        FOR (i, some)
            z[from + i] = inside[i] != 0;
    }
}

#define TRIANGLE(T)                                                                                                    \
    T ax = q[0] - p[0], ay = q[1] - p[1], az = q[2] - p[2], bx = r[0] - p[0], by = r[1] - p[1], bz = r[2] - p[2];      \
    T nx = ay * bz - az * by, ny = az * bx - ax * bz, nz = ax * by - ay * bx;

C(fd_area_volume)
{
    IN(f64, x, 0);
    IN(i32, corner, 1);
    int64_t n = E(1);
    f64 area = 0, volume = 0;
    PRAGMA(omp parallel for schedule(static) reduction(+ : area, volume))
    FOR (t, n) {
        const f64 *p = x + 3 * (int64_t)corner[3 * t], *q = x + 3 * (int64_t)corner[3 * t + 1],
                  *r = x + 3 * (int64_t)corner[3 * t + 2];
        TRIANGLE(f64)
        area += sqrt(nx * nx + ny * ny + nz * nz);
        volume += p[0] * nx + p[1] * ny + p[2] * nz;
    }
    RESULT(f64, 0) = area * 0.5;
    RESULT(f64, 1) = volume / 6;
}

C(fd_mesh_normals)
{
    IN(f32, x, 0);
    IN(f32, y, 1);
    IN(f32, z, 2);
    IN(i32, a, 3);
    IN(i32, b, 4);
    IN(i32, c, 5);
    OUT(f32, u, 0);
    OUT(f32, v, 1);
    OUT(f32, w, 2);
    int64_t n = E(1);
    PARALLEL_FOR
    FOR (t, n) {
        i32 i = a[t], j = b[t], k = c[t];
        f32 ax = x[j] - x[i], ay = y[j] - y[i], az = z[j] - z[i], bx = x[k] - x[i], by = y[k] - y[i], bz = z[k] - z[i];
        u[t] = ay * bz - az * by;
        v[t] = az * bx - ax * bz;
        w[t] = ax * by - ay * bx;
    }
}

C(fd_mesh_laplacian)
{
    IN(f32, x, 0);
    IN(i32, near, 1);
    OUT(f32, z, 0);
    int64_t n = E(0);
    PARALLEL_FOR
    FOR (i, n) {
        f32 s0 = 0, s1 = 0, s2 = 0;
        FOR (k, 6) {
            const f32 *p = x + 3 * (int64_t)near[6 * i + k];
            s0 += p[0];
            s1 += p[1];
            s2 += p[2];
        }
        z[3 * i] = s0 / 6 - x[3 * i];
        z[3 * i + 1] = s1 / 6 - x[3 * i + 1];
        z[3 * i + 2] = s2 / 6 - x[3 * i + 2];
    }
}

C(fd_project)
{
    IN(f32, x, 0);
    IN(f32, m, 1);
    OUT(f32, u, 0);
    OUT(f32, v, 1);
    OUT(b8, seen, 2);
    int64_t n = E(0);
    f32 a[16];
    memcpy(a, m, sizeof(a));
    PARALLEL_FOR
    FOR (i, n) {
        f32 p = x[3 * i], q = x[3 * i + 1], r = x[3 * i + 2];
        f32 w = a[12] * p + a[13] * q + a[14] * r + a[15] + 5;
        f32 s = (a[0] * p + a[1] * q + a[2] * r + a[3]) / w, t = (a[4] * p + a[5] * q + a[6] * r + a[7]) / w;
        u[i] = s;
        v[i] = t;
        seen[i] = (fabsf(s) <= 0.25f) & (fabsf(t) <= 0.25f) & (a[8] * p + a[9] * q + a[10] * r + a[11] > 0);
    }
}
