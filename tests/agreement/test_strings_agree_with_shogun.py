"""Kernels of strings against the reference matrices of Shogun's own tests, which have nine digits.

Shogun divides by √(k(x, x)·k(z, z)): CommWordString of order 3, WeightedDegreeString of degrees 1 and 20, and
WeightedDegreePositionString of degree 1, whose shift is 1. Three strings of each test.
"""

import numpy as np
import pytest

from mercer import Spectrum, WeightedDegree

ONE = [
    "CGGCATGAGGTATAGGCCTGCAAATTTAGATCAGCGGGTCCTGATAAAAAACCAGAACCC",
    "CGGTGCATACCGTTACTGCGGTGCGTGGTGCGGACGCTCTCACGCAGCGTTCGCTTCAAC",
    "GGCGTGAGGTCCGGGAGACGACGGAGACCATATTTCTTACAGGATATAGACGCGTATAAA",
]
OTHER = [
    "CCCATATAAGGCGCGGCTGCTTGATAACGTGTAAGTGAAACATGGAAGTGTTAAGCCCCT",
    "ACGGGTTGACGTTGGAAAACCGGGCCTATCGAACGCGCCTTGAATATCTCCGTTGTGTTC",
    "GGGTCACACTGTATGAGTAGTAGCCGATACGCCTTTGTTCCACTGGAACTCTAGGTAAAT",
]
ABOVE_THE_DIAGONAL = [
    (Spectrum(3), ONE, (0.332503112, 0.518262172, 0.457388216)),
    (WeightedDegree(1), OTHER, (0.233333333, 0.316666667, 0.233333333)),
    (WeightedDegree(20), OTHER, (0.0248447205, 0.0387755102, 0.0315882875)),
    (WeightedDegree(1, 1), OTHER, (0.314128381, 0.386804222, 0.381876578)),
]


@pytest.mark.parametrize(("kernel", "strings", "values"), ABOVE_THE_DIAGONAL)
def test_normalised_kernels_have_the_values_of_shogun(kernel, strings, values):
    K = kernel.normalised()(strings)
    np.testing.assert_allclose(K[np.triu_indices(3, 1)], values, atol=1e-9, rtol=0.0)
    np.testing.assert_allclose(np.diag(K), 1.0, rtol=1e-15)
