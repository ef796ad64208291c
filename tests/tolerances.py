"""The one table of tolerances: what each comparison may differ by, and why."""

# Trees in float64: normalised and Tanimoto kernels of near-zero values lose digits in every way of computing them.
TREE = 1e-7
# The same program by two instruction sets or tilings, float64, relative to the largest entry: the order of sums and the
# elementary functions (2 ulp) differ, and trees amplify that.
SAME_PROGRAM = 1e-9
# Radial kernels in float32, absolute: the engine's promise.
SINGLE = 1e-6
# Eigenvalues of a derived kernel's Gram matrix, relative to the largest entry and per row.
PSD = 1e-11
# A node against its expansion, float64: exp(⟨x, z⟩/ℓ²) times what undoes it, or an angle from its cosine, lose half the
# digits.
EXPANSION = 2e-7
# A distance in float64, relative to the largest: a fourth root turns rounding of 1e-15 into 1e-4.
DISTANCE = 1e-3
# A profile in float64 against mpmath, relative.
PROFILE = 2e-12
