"""The domains of parameters: what a field of a term may hold, and its canonical form.

A domain is a small frozen object with one method, ``check(owner, name, value)``, that returns the canonical value (a
float, an int, a string, a read-only array, a tuple, a term) or raises an error in the three parts of `mercer.errors`.
"""

from mercer.domains.domain import ParameterDomain, comparable, is_hashable, is_number, refusal
from mercer.domains.matrices import PsdMatrix, PsdMatrixOrDiagonal, RealMatrix
from mercer.domains.numbers import (
    CentreOrRule,
    FiniteReal,
    GammaOrRule,
    HalfInteger,
    Integer,
    Length,
    NonNegative,
    NonZeroNumbers,
    Positive,
    PositiveNumbers,
    PositiveOrRule,
    RealNumber,
    SpreadOrRule,
)
from mercer.domains.values import Anything, Boolean, Choice, Function, Instance, Letters, Text, TupleOf

__all__ = [
    "Anything",
    "Boolean",
    "CentreOrRule",
    "Choice",
    "FiniteReal",
    "Function",
    "GammaOrRule",
    "HalfInteger",
    "Instance",
    "Integer",
    "Length",
    "Letters",
    "NonNegative",
    "NonZeroNumbers",
    "ParameterDomain",
    "Positive",
    "PositiveNumbers",
    "PositiveOrRule",
    "PsdMatrix",
    "PsdMatrixOrDiagonal",
    "RealMatrix",
    "RealNumber",
    "SpreadOrRule",
    "Text",
    "TupleOf",
    "comparable",
    "is_hashable",
    "is_number",
    "refusal",
]
