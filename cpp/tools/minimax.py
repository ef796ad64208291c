"""Derives the polynomial coefficients of cpp/include/mercer/vmath.hpp (needs mpmath).

Each polynomial minimises the largest relative error of the function it serves (Remez exchange). Coefficients are
rounded to the target type one at a time, from the lowest degree up, and the rest is fitted again after each
rounding, so that the higher coefficients make up for what rounding the lower ones lost.

    python cpp/tools/minimax.py        prints every table as C++, with the error reached
"""

import struct

from mpmath import mp, mpf

mp.dps = 40
LN2 = mp.log(2)


def rounded(c, type_):
    """Round to the nearest number of the type."""
    if type_ == "double":
        return mpf(float(c))
    return mpf(struct.unpack("f", struct.pack("f", float(c)))[0])


def remez(target, basis, chosen):
    """Coefficients c such that max |target - sum c_k basis_k| is smallest; all given by values on a grid.

    One point is exchanged per step: slower than exchanging all, but it always converges on a finite grid.
    """
    n, size = len(basis), len(target)
    for _ in range(1000):
        system = mp.matrix(n + 1, n + 1)
        right = mp.matrix(n + 1, 1)
        for row, i in enumerate(chosen):
            for k in range(n):
                system[row, k] = basis[k][i]
            system[row, n] = (-1) ** row
            right[row] = target[i]
        solved = mp.lu_solve(system, right)
        residual = [target[i] - mp.fsum(solved[k] * basis[k][i] for k in range(n)) for i in range(size)]
        worst = max(range(size), key=lambda i: abs(residual[i]))
        if abs(residual[worst]) < abs(solved[n]) * mpf("1.0001"):
            break
        after = next((k for k, i in enumerate(chosen) if i > worst), n + 1)
        same = [k for k in (after - 1, after) if 0 <= k <= n and residual[chosen[k]] * residual[worst] > 0]
        if same:  # takes the place of the neighbour of its sign
            chosen[same[0]] = worst
        elif after == 0:
            chosen = [worst, *chosen[:-1]]
        else:
            chosen = [*chosen[1:], worst]
    return [solved[k] for k in range(n)]


def fit(f, weight, low, high, degree, type_, exact=()):
    """Coefficients in type_ of the polynomial closest to f on [low, high], by the error (f - p) * |weight|."""
    low, high = mpf(low), mpf(high)
    count = 800  # even: 0 is not on the grid
    grid = [low + (high - low) * (i + mpf(1) / 2) / count for i in range(count)]
    w = [abs(weight(x)) for x in grid]
    rest = [f(x) for x in grid]
    done = []
    for k in range(degree + 1):
        n = degree + 1 - k
        if k < len(exact):
            c = mpf(exact[k])
        else:
            start = [round((count - 1) * float(1 - mp.cos(mp.pi * i / n)) / 2) for i in range(n + 1)]
            basis = [[x**j * v for x, v in zip(grid, w, strict=True)] for j in range(n)]
            c = rounded(remez([r * v for r, v in zip(rest, w, strict=True)], basis, start)[0], type_)
        done.append(c)
        # What is left, divided by x: the sign of x stays out of the weight, or the errors would not alternate.
        rest = [(r - c) / x for r, x in zip(rest, grid, strict=True)]
        w = [v * abs(x) for v, x in zip(w, grid, strict=True)]
    return done, max(abs(r * v) for r, v in zip(rest, w, strict=True))


def text(x, suffix=""):
    """Write x as a hexadecimal literal."""
    digits, power = float(x).hex().split("p")
    return digits.rstrip("0").rstrip(".") + "p" + power + suffix


def show(name, type_, coefficients, worst):
    """Print one table."""
    suffix = "f" if type_ == "float" else ""
    print(f"// {name}<{type_}>: relative error {mp.nstr(worst, 3)}")
    print("    {" + ", ".join(text(c, suffix) for c in coefficients) + "}")


def series(term, z):
    """Sum term(k, z) over k = 0, 1, ..."""
    total, k = mpf(0), 0
    while True:
        t = term(k, z)
        total += t
        if abs(t) < mpf(10) ** -38:
            return total
        k += 1


def exp2_tail(x):
    """2^x = 1 + x tail(x)."""
    return mp.expm1(x * LN2) / x


def exp_tail(x):
    """e^x = 1 + x tail(x)."""
    return mp.expm1(x) / x


def log_tail(z):
    """log((1 + s) / (1 - s)) = 2 s + s z tail(z) with z = s^2."""
    return series(lambda k, z: 2 * z**k / (2 * k + 3), z)


def atan_tail(z):
    """atan(t) = t + t z tail(z) with z = t^2."""
    return series(lambda k, z: -((-z) ** k) / (2 * k + 3), z)


DEGREES = {  # of the tail polynomial
    "exp2_tail": {"float": 4, "double": 10},
    "exp_tail": {"float": 5, "double": 10},
    "log_tail": {"float": 3, "double": 6},
    "atan_tail": {"float": 4, "double": 9},
}

if __name__ == "__main__":
    slack = mpf("1.0001")  # arguments are reduced in rounded arithmetic
    third = (mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)  # largest s of the logarithm
    eighth = mp.tan(mp.pi / 8)
    half = LN2 / 2
    for type_ in ("float", "double"):
        for f, weight, low, high, exact in (
            (exp2_tail, lambda x: x / mp.mpf(2) ** x, -slack / 2, slack / 2, ()),
            (exp_tail, lambda x: x / mp.expm1(x), -half * slack, half * slack, (1,)),
            (log_tail, lambda z: z / (2 + z * 2 / 3), 0, third**2 * slack, ()),
            (atan_tail, lambda z: z / (1 - z / 3), 0, eighth**2 * slack, ()),
        ):
            degree = DEGREES[f.__name__][type_]
            show(f.__name__, type_, *fit(f, weight, low, high, degree, type_, exact))
    for name, x in (("ln2", LN2), ("pi/2", mp.pi / 2), ("pi/4", mp.pi / 4), ("2/ln2", 2 / LN2)):
        for type_, keep in (("float", 24), ("double", 53)):
            short = keep - (12 if type_ == "double" else 9)
            for label, bits in (("", keep), (" short", short)):
                unit = mpf(2) ** (mp.floor(mp.log(x, 2)) + 1 - bits)
                high = mp.nint(x / unit) * unit
                print(f"// {name} {type_}{label}: {float(high).hex()} + {float(rounded(x - high, type_)).hex()}")
