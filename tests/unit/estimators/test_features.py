"""The transformer in pipelines, searches and tables, and the names of features."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

import mercer
from mercer import RBF, Delta, KernelFeatures, KernelRidge, Linear, Polynomial, SetIntersection
from mercer.maps import Columns, Scale

X = np.random.default_rng(0).standard_normal((30, 3))
Y = X[:, 0] * X[:, 1] + X[:, 2]


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, lambda X: X.tolist()], ids=["dense", "sparse", "list"])
def test_inner_products_of_features_are_kernel_values(form):
    kernel = Polynomial(3) + 2.0 * Linear()
    phi = KernelFeatures(kernel).fit(form(X))
    new = np.random.default_rng(1).standard_normal((7, 3))
    assert np.allclose(phi.transform(form(new)) @ phi.fit_transform(form(X)).T, kernel(new, X))


def test_a_linear_machine_on_the_features_is_the_kernel_machine():
    kernel = Polynomial(2)
    linear = make_pipeline(KernelFeatures(kernel), Ridge(0.3, fit_intercept=False)).fit(X, Y)
    assert np.allclose(linear.predict(X), KernelRidge(0.3, kernel=kernel).fit(X, Y).predict(X))


def test_names_are_those_of_polynomial_features():
    phi = KernelFeatures((Linear() + 1.0) ** 3).fit(X)
    expected = PolynomialFeatures(3).fit(X).get_feature_names_out()
    assert sorted(" ".join(sorted(name.split())) for name in phi.get_feature_names_out()) == sorted(
        " ".join(sorted(name.split())) for name in expected
    )


def test_a_feature_is_what_its_name_says_up_to_scale():
    phi = KernelFeatures(Polynomial(2)).fit(X)
    columns = {"1": np.ones(len(X)), **{f"x{j}": X[:, j] for j in range(3)}}
    for name, feature in zip(phi.get_feature_names_out(), phi.transform(X).T, strict=True):
        product = np.ones(len(X))
        for factor in name.split():
            base, _, power = factor.partition("^")
            product = product * columns[base] ** int(power or 1)
        assert np.allclose(feature / feature[0], product / product[0])


def test_names_of_a_table_are_made_of_its_columns_and_values():
    table = pd.DataFrame({"age": [31.0, 45.0, 27.0], "pay": [1.0, 2.0, 3.0], "sex": ["f", "m", "f"]})
    kernel = Linear().on("age", "pay") + Delta().on("sex") * Linear().on("pay")
    phi = KernelFeatures(kernel).fit(table)
    assert phi.get_feature_names_out().tolist() == ["age", "pay", "sex=f pay", "sex=m pay"]
    assert phi.set_output(transform="pandas").transform(table).columns.tolist() == phi.get_feature_names_out().tolist()


def test_no_name_is_given_twice_and_there_is_one_for_each_feature():
    scaled = Linear().on(Scale([1.0, 2.0, 3.0]))
    for kernel in (Linear() + Linear(), Polynomial(2) * Linear(), scaled, Linear().on(Columns(2, 0)), RBF(1.0)):
        order = 2 if kernel == RBF(1.0) else None
        phi = KernelFeatures(kernel, order=order).fit(X)
        names = phi.get_feature_names_out().tolist()
        assert len(set(names)) == len(names) == phi.transform(X).shape[1]
    assert KernelFeatures(Linear().on(Columns(2, 0))).fit(X).get_feature_names_out().tolist() == ["x2", "x0"]


def test_sets_have_features_too():
    baskets = [{"tea", "milk"}, {"tea"}, {"salt"}]
    phi = KernelFeatures(SetIntersection()).fit(baskets)
    assert np.allclose(phi.transform(baskets) @ phi.transform(baskets).T, SetIntersection()(baskets))
    assert len(phi.get_feature_names_out()) == 3


def test_parameters_of_the_kernel_are_searched_and_clones_do_not_share():
    pipe = make_pipeline(KernelFeatures(Polynomial(2)), Ridge(1e-3))
    search = GridSearchCV(pipe, {"kernelfeatures__kernel__degree": [1, 2]}, cv=3).fit(X, Y)
    assert search.best_params_ == {"kernelfeatures__kernel__degree": 2}
    assert clone(pipe)[0].kernel == Polynomial(2)


def test_a_kernel_without_a_finite_map_is_refused_with_the_way_out():
    with pytest.raises(mercer.NoFiniteMap, match="order"):
        KernelFeatures(RBF()).fit(X)
    assert KernelFeatures(RBF(), order=4).fit(X).feature_map_.error_bound > 0.0
