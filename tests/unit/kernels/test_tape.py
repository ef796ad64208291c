import numpy as np

from mercer.kernels import RBF, Constant, Linear, Matern, Normalised, Polynomial, Subsequence
from mercer.kernels.tape import compile_plan
from mercer.maps import Scale
from tests.oracles.tape import evaluate_plan


def operations(kernel):
    return [step.op for step in compile_plan(kernel).instructions]


def test_kernels_of_the_inner_product_share_one_leaf():
    plan = compile_plan(0.7 * RBF() + Linear() * Matern(1.5))
    assert [leaf.kind for leaf in plan.leaves] == ["dot"]
    assert plan.views == ((),)


def test_shared_subexpressions_are_computed_once():
    assert operations(RBF() + RBF() * Linear()).count("decay") == 1
    assert operations(RBF(2.0) + RBF(2.0)).count("decay") == 1


def test_an_affine_map_of_an_affine_map_is_one_instruction():
    assert operations(2 * (3 * Linear() + 1) + 4) == ["inner", "affine"]
    assert operations(Polynomial(2, 1.0, 0.5)) == ["inner", "affine", "powi"]


def test_every_register_is_written_once_and_before_it_is_read():
    plan = compile_plan(sum((RBF(length) for length in range(1, 9)), start=Linear() * 1))
    assert [step.out for step in plan.instructions] == list(range(plan.n_registers))
    assert all(step.a < step.out and step.b < step.out for step in plan.instructions if step.op in ("add", "mul"))


def test_leaves_of_one_kind_with_other_parameters_are_two_leaves():
    plan = compile_plan(Subsequence(2) + Subsequence(3) + 2 * Subsequence(2))
    assert [leaf.parameters for leaf in plan.leaves] == [(2.0, 0.5), (3.0, 0.5)]
    assert not plan.reads_as(compile_plan(Subsequence(2, decay=0.25) + Subsequence(3)))


def test_a_constant_reads_no_points():
    plan = compile_plan(Constant(2.0))
    assert plan.leaves == ()
    np.testing.assert_array_equal(evaluate_plan(Constant(2.0), np.zeros((2, 1))), np.full((2, 2), 2.0))


def test_what_the_result_does_not_need_is_left_out():
    plan = compile_plan(Linear().on(Scale(2.0)) + 0.0 * Constant(1.0))
    assert len(plan.nodes) == len(plan.instructions)
    assert all(0 <= step.out < plan.n_registers for step in plan.instructions)


def test_instructions_remember_their_node():
    plan = compile_plan(RBF(2.0) + Linear())
    assert RBF(2.0) in plan.nodes
    assert Linear() in plan.nodes


def test_views_of_pullbacks_are_lists_of_maps():
    plan = compile_plan(RBF().on(Scale(2.0)).on(Scale(3.0)) + Linear())
    assert set(plan.views) == {(Scale(3.0), Scale(2.0)), ()}


def test_rows_are_read_in_their_own_view():
    plan = compile_plan(Normalised(Linear() + 1.0).on(Scale(2.0)))
    (_, view), = plan.rows  # fmt: skip
    assert plan.views[view] == (Scale(2.0),)
