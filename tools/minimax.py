#!/usr/bin/env python3
"""Generates src/ir/math/coefficients.h: the polynomials of the elementary functions.

    python3 tools/minimax.py            writes src/ir/math/coefficients.h (needs mpmath; about two minutes)
    python3 tools/minimax.py NAME...    prints only the sets named, with their errors

Method. Each polynomial is found by the exchange algorithm of Remez in 60-digit arithmetic, for the error
weight(x) * (f(x) - p(x)), with any set of exponents, so that odd, even and partly fixed polynomials need no special
case. Coefficients are then rounded to the format one after the other, the lowest exponent first, and after each
rounding the rest is fitted again (the error a rounded coefficient makes is thus mostly taken back by its successors;
compare Brisebarre and Chevillard, "Efficient polynomial L-infinity approximations", ARITH 18). A rational function is
interpolated at Chebyshev nodes, which is within a small factor of the best one. The error printed is
log2 of the largest weighted error of the rounded coefficients.

Constants that are split into parts (pi/2, ln 2, ...) and the bits of 2/pi come from the same place.
"""
import os
import struct
import sys

from mpmath import mp, mpf, matrix, lu_solve
import mpmath

mp.dps = 60


def round_to(x, bits):
    """x rounded to nearest even at `bits` of precision (no exponent limits are met by any constant here)."""
    if x == 0:
        return mpf(0)
    m, e = mpmath.frexp(x)
    return mpmath.ldexp(mpmath.nint(mpmath.ldexp(m, bits)), int(e) - bits)


def truncate_to(x, bits):
    """x cut to `bits` of precision, toward zero."""
    m, e = mpmath.frexp(x)
    t = mpmath.ldexp(abs(m), bits)
    t = mpmath.floor(t) * (1 if m > 0 else -1)
    return mpmath.ldexp(t, int(e) - bits)


BITS = {"f": 24, "d": 53}


def literal(x, kind):
    """A C hexadecimal literal that is exactly x."""
    text = float(x).hex()
    mantissa, exponent = text.split("p")
    if "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    return mantissa + "p" + exponent + ("f" if kind == "f" else "")


def remez(f, weight, lo, hi, exponents):
    """Coefficients c[e] minimising the largest |weight * (f - sum c[e] x^e)| on [lo, hi]."""
    n = len(exponents)
    count = 24 * (n + 2)
    grid = [(lo + hi) / 2 - (hi - lo) / 2 * mpmath.cos(mp.pi * i / count) for i in range(count + 1)]
    fs = [f(x) for x in grid]
    # With a lowest exponent that is odd every basis function changes its sign at 0, and so does the error: the sign
    # is taken out, or else the alternation theorem would not hold on intervals around 0.
    odd = min(exponents) % 2 == 1
    ws = [weight(x) * (-1 if odd and x < 0 else 1) for x in grid]
    powers = [[x ** e for e in exponents] for x in grid]
    ref = [round(i * count / n) for i in range(n + 1)]
    best = None
    for _ in range(40):
        a = matrix(n + 1, n + 1)
        b = matrix(n + 1, 1)
        for row, i in enumerate(ref):
            for col in range(n):
                a[row, col] = powers[i][col] * ws[i]
            a[row, n] = (-1) ** row
            b[row] = fs[i] * ws[i]
        try:
            solution = lu_solve(a, b)
        except ZeroDivisionError:
            break
        c = [solution[i] for i in range(n)]
        level = abs(solution[n])
        err = [ws[i] * (fs[i] - sum(k * p for k, p in zip(c, powers[i]))) for i in range(count + 1)]
        worst = max(abs(e) for e in err)
        if best is None or worst < best[0]:
            best = (worst, c)
        if worst <= level * mpf("1.001"):
            break
        # One extremum for each run of equal sign, then the n + 1 neighbours with the largest smallest member.
        runs = []
        for i, e in enumerate(err):
            if runs and (err[runs[-1]] > 0) == (e > 0):
                if abs(e) > abs(err[runs[-1]]):
                    runs[-1] = i
            else:
                runs.append(i)
        while len(runs) > n + 1:
            if len(runs) == n + 2:
                runs.pop(0 if abs(err[runs[0]]) < abs(err[runs[-1]]) else -1)
            else:
                k = min(range(len(runs)), key=lambda j: abs(err[runs[j]]))
                if k in (0, len(runs) - 1):
                    runs.pop(k)
                else:
                    drop = k + 1 if abs(err[runs[k + 1]]) < abs(err[runs[k - 1]]) else k - 1
                    for j in sorted((k, drop), reverse=True):
                        runs.pop(j)
        if len(runs) < n + 1:
            break
        ref = runs
    return best[1]


def worst_error(f, weight, lo, hi, coefficients):
    count = 1500
    worst = mpf(0)
    for i in range(count + 1):
        x = (lo + hi) / 2 - (hi - lo) / 2 * mpmath.cos(mp.pi * i / count)
        p = sum(c * x ** e for e, c in coefficients.items())
        worst = max(worst, abs(weight(x) * (f(x) - p)))
    return worst


def polynomial(name, kind, f, lo, hi, exponents, fixed=None, weight=None, wide=()):
    """Lines that define NAME_e for each fitted exponent e. `fixed` maps exponents to given coefficients; an exponent
    in `wide` is written as two constants, NAME_e_HI and NAME_e_LO, whose sum is the coefficient."""
    lo, hi = mpf(lo), mpf(hi)
    weight = weight or (lambda x: 1)
    chosen = dict(fixed or {})
    lines = []
    rest = [e for e in exponents if e not in chosen]
    while rest:
        known = dict(chosen)
        c = remez(lambda x: f(x) - sum(k * x ** e for e, k in known.items()), weight, lo, hi, rest)
        e = rest.pop(0)
        high = round_to(c[0], BITS[kind])
        if e in wide:
            low = round_to(c[0] - high, BITS[kind])
            chosen[e] = high + low
            lines.append("#define %s_%d_HI %s" % (name, e, literal(high, kind)))
            lines.append("#define %s_%d_LO %s" % (name, e, literal(low, kind)))
        else:
            chosen[e] = high
            lines.append("#define %s_%d %s" % (name, e, literal(high, kind)))
    error = worst_error(f, weight, lo, hi, chosen)
    return (["/* %s: largest error 2^%.2f */" % (name, float(mpmath.log(error, 2)))] + lines +
            [horner(name, kind, [e for e in exponents if e not in (fixed or {}) and e not in wide])])


def horner(name, kind, exponents, dash="_"):
    """The macro P_NAME(x): the coefficients that are neither fixed nor wide, divided by the lowest power of x."""
    constructor = "CF32" if kind == "f" else "CF64"
    text = "%s(%s%s%d)" % (constructor, name, dash, exponents[-1])
    for e in reversed(exponents[:-1]):
        text = "FMA(%s, x, %s(%s%s%d))" % (text, constructor, name, dash, e)
    words = text.split(" ")
    lines, line = [], "#define P_%s(x)" % name
    for word in words:
        if len(line) + len(word) > 116:
            lines.append(line + " \\")
            line = "   "
        line += " " + word
    return "\n".join(lines + [line])


def rational(name, kind, f, lo, hi, top, bottom, weight=None):
    """Lines that define NAME_P0.. and NAME_Q1.. (NAME_Q0 is 1) with P/Q close to f."""
    lo, hi = mpf(lo), mpf(hi)
    weight = weight or (lambda x: 1)
    n = top + bottom + 1
    a = matrix(n, n)
    b = matrix(n, 1)
    for row in range(n):
        x = (lo + hi) / 2 - (hi - lo) / 2 * mpmath.cos(mp.pi * (2 * row + 1) / (2 * n))
        y = f(x)
        for i in range(top + 1):
            a[row, i] = x ** i
        for i in range(1, bottom + 1):
            a[row, top + i] = -y * x ** i
        b[row] = y
    s = lu_solve(a, b)
    p = [round_to(s[i], BITS[kind]) for i in range(top + 1)]
    q = [mpf(1)] + [round_to(s[top + i], BITS[kind]) for i in range(1, bottom + 1)]
    worst = mpf(0)
    for i in range(1001):
        x = lo + (hi - lo) * i / 1000
        value = sum(c * x ** k for k, c in enumerate(p)) / sum(c * x ** k for k, c in enumerate(q))
        worst = max(worst, abs(weight(x) * (f(x) - value)))
    lines = ["/* %s: largest error 2^%.2f */" % (name, float(mpmath.log(worst, 2)))]
    lines += ["#define %s_P%d %s" % (name, i, literal(c, kind)) for i, c in enumerate(p)]
    lines += ["#define %s_Q%d %s" % (name, i, literal(c, kind)) for i, c in enumerate(q)]
    lines.append(horner(name + "_P", kind, range(top + 1), ""))
    lines.append(horner(name + "_Q", kind, range(bottom + 1), ""))
    return lines


def parts(name, kind, value, bits):
    """Lines that define NAME_1, NAME_2, ...: `value` as a sum of parts; part i keeps bits[i] bits."""
    lines = []
    rest = value
    for i, b in enumerate(bits):
        part = truncate_to(rest, b) if i + 1 < len(bits) else round_to(rest, b)
        lines.append("#define %s_%d %s" % (name, i + 1, literal(part, kind)))
        rest -= part
    return lines


def single(name, kind, value):
    return ["#define %s %s" % (name, literal(round_to(value, BITS[kind]), kind))]


def entries(name, kind, values):
    """A line that defines NAME_TABLE as the list of the values, rounded."""
    lines, line = [], "#define %s_TABLE" % name
    for i, v in enumerate(values):
        word = " " + literal(round_to(v, BITS[kind]), kind) + ("," if i + 1 < len(values) else "")
        if len(line) + len(word) > 116:
            lines.append(line + " \\")
            line = "   "
        line += word
    return lines + [line]


def powers(name, kind, count):
    """2^(i/count), and what each entry lacks, as a part of itself."""
    exact = [mpf(2) ** (mpf(i) / count) for i in range(count)]
    rounded = [round_to(v, BITS[kind]) for v in exact]
    return (entries(name, kind, exact) +
            entries(name + "_LOW", kind, [v / r - 1 for v, r in zip(exact, rounded)]))


def logarithms(name, kind, step, stride, given={}):
    """For m in [3/4, 3/2) and the upper four bits i of its mantissa: c near 1/m, 1 on both sides of m = 1, and
    t = -log c. All t are multiples of 2^-step, so that sums with multiples of a short ln 2 are exact, and of 400 on
    either side of the middle (every stride-th) that one is chosen for which c is nearly exact (S. Gal, "Computing
    elementary functions", 1986), or t is `given`."""
    cs, ts = [], []
    for i in range(16):
        low, high = (1 + mpf(i) / 16), (1 + mpf(i + 1) / 16)
        if i >= 8:
            low, high = low / 2, high / 2
        if i in (0, 15):
            cs.append(mpf(1))
            ts.append(mpf(0))
            continue
        if i in given:
            ts.append(mpf(given[i]))
            cs.append(round_to(mpmath.exp(-ts[-1]), BITS[kind]))
            continue
        middle = int(mpmath.nint(mpmath.log((low + high) / 2) * 2 ** step))
        best = None
        for offset in range(-400, 401):
            t = mpf(middle + offset * stride) / 2 ** step
            c = round_to(mpmath.exp(-t), BITS[kind])
            error = abs(t + mpmath.log(c))
            if best is None or error < best[0]:
                best = (error, c, t)
        cs.append(best[1])
        ts.append(best[2])
    return entries(name + "_RECIPROCAL", kind, cs) + entries(name, kind, ts)


def two_over_pi(name, zeros, step, count):
    """Lines that define NAME_0, NAME_1, ...: 64 bits each of (`zeros` zero bits followed by the bits of 2/pi behind
    the point); word i starts at bit step * i."""
    saved, mp.dps = mp.dps, 450
    total = zeros + step * count + 64
    bits = int(mpmath.floor(2 / mp.pi * mpf(2) ** (total - zeros)))
    lines = ["/* %s: %d zero bits, then the bits of 2/pi behind the point; 64 of them from bit %d i on */" %
             (name, zeros, step)]
    for i in range(count):
        lines.append("#define %s_%d 0x%016xu" % (name, i, (bits >> (total - step * i - 64)) & (2 ** 64 - 1)))
    mp.dps = saved
    return lines


# ---- the functions on their reduced intervals, with series where the plain formula cancels ----

def series(x, term, count=40):
    return sum(term(k) * x ** k for k in range(count))


def sin_tail(z):      # (sin r - r) / r^3 in z = r^2
    return series(z, lambda k: (-1) ** (k + 1) / mpmath.factorial(2 * k + 3), 16)


def cos_tail(z):      # (cos r - 1 + r^2/2) / r^4 in z = r^2
    return series(z, lambda k: (-1) ** k / mpmath.factorial(2 * k + 4), 16)


def atan_tail(z):     # (atan q - q) / q^3 in z = q^2
    if z < mpf("1e-3"):
        return series(z, lambda k: (-1) ** (k + 1) / mpf(2 * k + 3), 24)
    q = mpmath.sqrt(z)
    return (mpmath.atan(q) - q) / q ** 3


def atanh_tail(z):    # (atanh s - s) / s^3 in z = s^2
    if z < mpf("1e-3"):
        return series(z, lambda k: 1 / mpf(2 * k + 3), 24)
    s = mpmath.sqrt(z)
    return (mpmath.atanh(s) - s) / s ** 3


def atanh_tail2(z):   # (atanh s - s - s^3/3) / s^5 in z = s^2
    if z < mpf("1e-3"):
        return series(z, lambda k: 1 / mpf(2 * k + 5), 24)
    s = mpmath.sqrt(z)
    return (mpmath.atanh(s) - s - s ** 3 / 3) / s ** 5


def log1p_tail(f):    # (log(1+f) - f) / f^2
    if abs(f) < mpf("1e-4"):
        return series(f, lambda k: mpf((-1) ** (k + 1)) / (k + 2), 20)
    return (mpmath.log1p(f) - f) / f ** 2


def log1p_over(f):    # log(1+f) / f
    if abs(f) < mpf("1e-4"):
        return series(f, lambda k: mpf((-1) ** k) / (k + 1), 20)
    return mpmath.log1p(f) / f


def asin_tail(z):     # (asin s - s) / s^3 in z = s^2
    if z < mpf("1e-3"):
        term = lambda k: mpmath.binomial(2 * k + 2, k + 1) / (mpf(4) ** (k + 1) * (2 * k + 3))
        return series(z, term, 24)
    s = mpmath.sqrt(z)
    return (mpmath.asin(s) - s) / s ** 3


def sinh_tail(z):     # (sinh a - a) / a^3 in z = a^2
    return series(z, lambda k: 1 / mpmath.factorial(2 * k + 3), 24)


def tanh_tail(z):     # (tanh a - a) / a^3 in z = a^2
    if z < mpf("1e-8"):
        return mpf(-1) / 3 + 2 * z / 15 - 17 * z * z / 315 + 62 * z ** 3 / 2835
    a = mpmath.sqrt(z)
    return (mpmath.tanh(a) - a) / a ** 3


def sets():
    ln2 = mpmath.log(2)
    ln10 = mpmath.log(10)
    half_ln2 = mpf("0.3467")
    third10 = mpf("0.1506")         # log10(2) / 2
    z45 = (mp.pi / 4 * mpf("1.0005")) ** 2
    zlog = mpf("0.1717") ** 2       # s = f/(2+f) for 1+f in [sqrt(1/2), sqrt(2)]
    third = mpf("0.33334")
    zatan = mpf(1)
    relative_exp = lambda r: mpmath.exp(-r)
    relative_exp2 = lambda r: mpf(2) ** -r
    relative_exp10 = lambda r: mpf(10) ** -r
    sin_weight = lambda z: z / (mpmath.sin(mpmath.sqrt(z)) / mpmath.sqrt(z) if z > 0 else 1)
    cos_weight = lambda z: z * z / mpmath.cos(mpmath.sqrt(z))
    atan_weight = lambda z: z / (mpmath.atan(mpmath.sqrt(z)) / mpmath.sqrt(z) if z > 0 else 1)
    exp_range = lambda n: list(range(n + 1))

    table = {}

    def add(name, *lines_of):
        table[name] = lines_of

    # exp
    add("LOG2E_F32", lambda: single("LOG2E_F32", "f", 1 / ln2))
    add("LOG2E_F64", lambda: single("LOG2E_F64", "d", 1 / ln2))
    add("LN2_F32", lambda: single("LN2_F32", "f", ln2) + parts("LN2_F32", "f", ln2, [15, 24]))
    add("LN2_F64", lambda: single("LN2_F64", "d", ln2) + parts("LN2_F64", "d", ln2, [41, 53]))
    add("EXP_F32", lambda: polynomial("EXP_F32", "f", mpmath.exp, -half_ln2, half_ln2, exp_range(6),
                                      {0: mpf(1), 1: mpf(1)}, relative_exp))
    add("EXP_F64", lambda: polynomial("EXP_F64", "d", mpmath.exp, -half_ln2, half_ln2, exp_range(11),
                                      {0: mpf(1), 1: mpf(1)}, relative_exp))
    add("EXP2_F32", lambda: polynomial("EXP2_F32", "f", lambda r: mpf(2) ** r, -0.5, 0.5, exp_range(6),
                                       {0: mpf(1)}, relative_exp2))
    add("EXP2_F64", lambda: polynomial("EXP2_F64", "d", lambda r: mpf(2) ** r, -0.5, 0.5, exp_range(11),
                                       {0: mpf(1)}, relative_exp2, wide=(1,)))
    # exp by a table of the powers 2^(i/16), i/8 in f64
    add("POWER_F32", lambda: powers("POWER_F32", "f", 16))
    add("POWER_F64", lambda: powers("POWER_F64", "d", 8))
    add("NEAR_EXP_F32", lambda: polynomial("NEAR_EXP_F32", "f", mpmath.exp, "-0.02168", "0.02168", exp_range(3),
                                           {0: mpf(1), 1: mpf(1)}, relative_exp))
    add("NEAR_EXP_F64", lambda: polynomial("NEAR_EXP_F64", "d", mpmath.exp, "-0.04335", "0.04335", exp_range(7),
                                           {0: mpf(1), 1: mpf(1)}, relative_exp))
    # log by tables
    # Next to 1 three roundings nearly add up to an ulp: of all t and coefficients close by, those with the least error
    # over all f32 (0.992 ulp; most have 1.01 to 1.06).
    add("LOGS_F32", lambda: logarithms("LOGS_F32", "f", 17, 1, {1: float.fromhex("0x1.552p-4"), 14: -0.046905517578125}))
    add("LOGS_F64", lambda: logarithms("LOGS_F64", "d", 42, 1000003))
    near_log_weight = lambda f: abs(f) / abs(log1p_over(f))
    # the minimax polynomial with its first coefficients moved by 2 and -10 units, for the same reason
    near_log = ["-0x1.000004p-1", "0x1.555824p-2", "-0x1.00134cp-2", "0x1.825f38p-3"]
    add("NEAR_LOG_F32", lambda: [line for i, c in enumerate(near_log)
                                 for line in single("NEAR_LOG_F32_%d" % i, "f", mpf(float.fromhex(c)))] +
        [horner("NEAR_LOG_F32", "f", range(4))])
    add("NEAR_LOG_F64", lambda: polynomial("NEAR_LOG_F64", "d", log1p_tail, "-0.03126", "0.06251", exp_range(8), None,
                                           near_log_weight))
    # log
    add("LOG_F32", lambda: polynomial("LOG_F32", "f", log1p_tail, -third, third, exp_range(8), {0: mpf("-0.5")},
                                      lambda f: abs(f) / abs(log1p_over(f))))
    add("LOG_F64", lambda: polynomial("LOG_F64", "d", atanh_tail, 0, zlog, exp_range(6), None, lambda z: z))
    add("LOG2_10_F32", lambda: single("LOG2_10_F32", "f", ln10 / ln2))
    add("LOG10_2_F32", lambda: parts("LOG10_2_F32", "f", ln2 / ln10, [15, 24]))
    add("LOG2_10_F64", lambda: single("LOG2_10_F64", "d", ln10 / ln2))
    add("LOG10_2_F64", lambda: parts("LOG10_2_F64", "d", ln2 / ln10, [41, 53]))
    add("LOG2E_PARTS_F64", lambda: parts("LOG2E_F64", "d", 1 / ln2, [53, 53]))
    add("LOG10E_PARTS_F64", lambda: parts("LOG10E_F64", "d", 1 / ln10, [53, 53]))
    add("EXP10_F64", lambda: polynomial("EXP10_F64", "d", lambda r: mpf(10) ** r, -third10, third10, exp_range(11),
                                        {0: mpf(1)}, relative_exp10, wide=(1,)))
    add("EXP10_F32", lambda: polynomial("EXP10_F32", "f", lambda r: mpf(10) ** r, -third10, third10, exp_range(6),
                                        {0: mpf(1)}, relative_exp10))
    add("LOG2_F32", lambda: polynomial("LOG2_F32", "f", lambda f: log1p_over(f) / ln2, -third, third, exp_range(9),
                                       None, lambda f: 1 / log1p_over(f), wide=(0,)))
    add("LOG10_F32", lambda: polynomial("LOG10_F32", "f", lambda f: log1p_over(f) / ln10, -third, third, exp_range(9),
                                        None, lambda f: 1 / log1p_over(f), wide=(0,)))
    # sin, cos
    add("TWO_OVER_PI_F32", lambda: single("TWO_OVER_PI_F32", "f", 2 / mp.pi))
    add("TWO_OVER_PI_F64", lambda: single("TWO_OVER_PI_F64", "d", 2 / mp.pi))
    add("HALF_PI_F32", lambda: parts("HALF_PI_F32", "f", mp.pi / 2, [24, 24, 24]))
    add("HALF_PI_F64", lambda: parts("HALF_PI_F64", "d", mp.pi / 2, [53, 53, 53]))
    add("SIN_F32", lambda: polynomial("SIN_F32", "f", sin_tail, 0, z45, exp_range(2), None, sin_weight))
    add("COS_F32", lambda: polynomial("COS_F32", "f", cos_tail, 0, z45, exp_range(2), None, cos_weight))
    add("SIN_F64", lambda: polynomial("SIN_F64", "d", sin_tail, 0, z45, exp_range(5), None, sin_weight))
    add("COS_F64", lambda: polynomial("COS_F64", "d", cos_tail, 0, z45, exp_range(5), None, cos_weight))
    add("PAYNE_F32", lambda: two_over_pi("PAYNE_F32", 8, 32, 6))
    add("PAYNE_F64", lambda: two_over_pi("PAYNE_F64", 24, 64, 19))
    add("HALF_PI_PAYNE", lambda: parts("HALF_PI_PAYNE", "d", mp.pi / 2 / mpf(2) ** 62, [53, 53]))
    # atan
    add("ATAN_F32", lambda: polynomial("ATAN_F32", "f", atan_tail, 0, zatan, exp_range(8), None, atan_weight))
    add("ATAN_F64", lambda: polynomial("ATAN_F64", "d", atan_tail, 0, zatan, exp_range(20), None, atan_weight))
    # asin, acos
    asin_weight = lambda z: z / (mpmath.asin(mpmath.sqrt(z)) / mpmath.sqrt(z) if z > 0 else 1)
    add("ASIN_F32", lambda: polynomial("ASIN_F32", "f", asin_tail, 0, "0.2501", exp_range(4), None, asin_weight))
    add("ASIN_F64", lambda: polynomial("ASIN_F64", "d", asin_tail, 0, "0.2501", exp_range(12), None, asin_weight))
    # sinh, tanh
    add("SINH_F32", lambda: polynomial("SINH_F32", "f", sinh_tail, 0, 1, exp_range(3), None, lambda z: z))
    add("SINH_F64", lambda: polynomial("SINH_F64", "d", sinh_tail, 0, 1, exp_range(7), None, lambda z: z))
    add("TANH_F32", lambda: polynomial("TANH_F32", "f", tanh_tail, 0, "0.3907", exp_range(4), None, lambda z: z))
    add("TANH_F64", lambda: rational("TANH_F64", "d", tanh_tail, 0, "0.3907", 2, 3, lambda z: z))
    # cbrt
    cube = lambda m: 1 / mpmath.cbrt(m)
    add("CBRT_F32", lambda: polynomial("CBRT_F32", "f", cube, 1, 2, exp_range(4), None, lambda m: mpmath.cbrt(m)))
    add("CBRT_F64", lambda: polynomial("CBRT_F64", "d", cube, 1, 2, exp_range(6), None, lambda m: mpmath.cbrt(m)))
    add("CBRT_2", lambda: single("CBRT_2_F32", "f", mpmath.cbrt(2)) + single("CBRT_HALF_F32", "f", mpmath.cbrt(0.5)) +
        single("CBRT_2_F64", "d", mpmath.cbrt(2)) + single("CBRT_HALF_F64", "d", mpmath.cbrt(0.5)))
    # pow
    add("POW_LOG2_F32", lambda: polynomial("POW_LOG2_F32", "d", lambda f: log1p_over(f) / ln2, -third, third,
                                           exp_range(13), None, lambda f: 1 / log1p_over(f)))
    add("POW_EXP2_F32", lambda: polynomial("POW_EXP2_F32", "d", lambda r: mpf(2) ** r, -0.5, 0.5, exp_range(6),
                                           {0: mpf(1)}, relative_exp2))
    add("POW_F64", lambda: polynomial("POW_F64", "d", lambda z: atanh_tail2(z) * 2 / ln2, 0, zlog, exp_range(7), None,
                                      lambda z: z * z))
    add("POW_C1_F64", lambda: parts("POW_C1_F64", "d", 2 / ln2, [53, 53]))
    add("POW_C3_F64", lambda: parts("POW_C3_F64", "d", 2 / ln2 / 3, [53, 53]))
    return table


HEAD = """/* Constants of the elementary functions. Written by tools/minimax.py; do not edit. */
#ifndef SINTER_IR_MATH_COEFFICIENTS_H
#define SINTER_IR_MATH_COEFFICIENTS_H
"""


def main():
    table = sets()
    wanted = sys.argv[1:]
    lines = []
    for name, makers in table.items():
        if wanted and name not in wanted:
            continue
        lines.append("")
        for maker in makers:
            lines += maker()
        if wanted:
            print("\n".join(lines))
            lines = []
    if wanted:
        return
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "src", "ir", "math", "coefficients.h")
    with open(path, "w") as out:
        out.write(HEAD + "\n".join(lines) + "\n\n#endif\n")


if __name__ == "__main__":
    main()
