"""parse(repr(k)) == k for every tree without Python functions."""

from hypothesis import example, given

from mercer.kernels import Constant, Linear, parse
from tests.laws.strategies import distances, law, samples


@law(100)
@given(sample=samples())
@example(sample=(Linear() + Constant(0.0), None))
def test_parse_inverts_repr(sample):
    kernel, _ = sample
    assert parse(repr(kernel)) == kernel
    assert hash(parse(repr(kernel))) == hash(kernel)


@law(30)
@given(distance=distances(3))
def test_parse_inverts_repr_of_distances(distance):
    assert parse(repr(distance)) == distance
