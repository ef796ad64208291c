"""The engine against the machine's own matrix product and against its peers: one row for each promise."""

from benchmarks.harness.rows import Contestant, Row

N = 20_000
GEMM = 4096
MEGABYTE = 1_000_000


def builder(name: str) -> str:
    return f"benchmarks.engine.builders:{name}"


def product(
    d: int,
    dtype: str,
    *,
    n: int = N,
    symmetric: bool = False,
    formula: str = "rbf",
    work: float = 1.0,
    name: str = "mercer",
) -> Contestant:
    parameters = {"formula": formula, "n": n, "d": d, "dtype": dtype, "symmetric": symmetric}
    return Contestant(name, builder("mercer_product"), parameters, work)


def gemm(dtype: str) -> Contestant:
    return Contestant("numpy", builder("gemm"), {"n": GEMM, "dtype": dtype}, 2.0 * GEMM**3)


def share_of_gemm(d: int, dtype: str, at_least: float) -> Row:
    """2d flops for each pair, beside 2·4096³ for the matrix product."""
    return Row(
        f"RBF K(X, Z) @ v, {dtype}, {N} × {N}, d = {d}",
        f"NumPy {'sgemm' if dtype == 'float32' else 'dgemm'} {GEMM}³",
        (product(d, dtype, work=2.0 * d * N * N), gemm(dtype)),
        at_least, percent=True,
    )  # fmt: skip


def symmetric_half(d: int, dtype: str) -> Row:
    return Row(
        f"RBF K(X, X) @ v, {dtype}, n = {N}, d = {d}",
        "mercer K(X, Z) @ v",
        (product(d, dtype, symmetric=True), product(d, dtype, name="mercer K(X, Z)")),
        1.7,
    )


def beside_sklearn(dtype: str, at_least: float) -> Row:
    parameters = {"n": 10_000, "d": 20, "dtype": dtype}
    return Row(
        f"RBF K @ v, {dtype}, n = 10000, d = 20",
        "scikit-learn rbf_kernel(X) @ v",
        (
            product(20, dtype, n=10_000, symmetric=True),
            Contestant("scikit-learn", builder("sklearn_product"), parameters),
        ),
        at_least,
    )


def sparse(name: str, rows: int, shape: str, at_least: float) -> Row:
    parameters = {"name": name, "rows": rows}
    return Row(
        f"RBF K @ v, sparse {name}, {shape}",
        "scikit-learn rbf_kernel on the same CSR, in blocks",
        (
            Contestant("mercer", builder("mercer_sparse"), parameters),
            Contestant("scikit-learn", builder("sklearn_sparse"), parameters),
        ),
        at_least, memory=0, memory_text="extra memory < 3 × the CSR", repeats=3,
    )  # fmt: skip


STORED = {"n": 10_000, "d": 20, "dtype": "float64"}
KEOPS = {"n": 50_000, "d": 10, "dtype": "float32"}

ROWS: tuple[Row, ...] = (
    *(share_of_gemm(d, "float32", at_least) for d, at_least in ((64, 0.85), (16, 0.62), (8, 0.40))),
    *(share_of_gemm(d, "float64", at_least) for d, at_least in ((64, 0.70), (16, 0.40))),
    *(symmetric_half(d, dtype) for d, dtype in ((64, "float32"), (16, "float32"), (64, "float64"))),
    Row(
        f"0.7 * RBF() + Linear() * Matern(1.5), K(X, Z) @ v, float32, {N} × {N}, d = 32",
        "mercer RBF alone",
        (product(32, "float32", formula="mixture"), product(32, "float32", name="mercer RBF")),
        0.40, percent=True,
    ),
    Row(
        "RBF k(X) stored, float64, n = 10000, d = 20",
        "scikit-learn rbf_kernel(X)",
        (
            Contestant("mercer", builder("mercer_stored"), STORED),
            Contestant("scikit-learn", builder("sklearn_stored"), STORED),
        ),
        5.0,
    ),
    beside_sklearn("float64", 10.0),
    beside_sklearn("float32", 25.0),
    Row(
        "RBF K @ v, float32, n = 50000, d = 10",
        "KeOps on the CPU",
        (
            product(10, "float32", n=50_000, symmetric=True),
            Contestant("KeOps", builder("keops_product"), KEOPS),
        ),
        15.0, repeats=3,
    ),
    sparse("a9a", 32_561, "32561 × 123", 10.0),
    sparse("farm_ads", 4_143, "4143 × 54877", 2.0),
    Row(
        "RBF K @ v, float64, n = 100000, d = 20: extra memory",
        "beyond one packed copy of X",
        (product(20, "float64", n=100_000, symmetric=True),),
        memory=64 * MEGABYTE, memory_text="< 64 MB", repeats=1,
    ),
)  # fmt: skip
