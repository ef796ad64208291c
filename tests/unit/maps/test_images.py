import numpy as np
import pytest

import mercer
from mercer import RBF, Gradients, Linear, NormPower, Patches, Pixels, Position, SpatialPyramid, UnitRows, parse
from mercer.errors import DomainMismatch, InvalidInput, InvalidParameter
from mercer.points import as_points
from tests.oracles import images as oracle

RNG = np.random.default_rng(0)
IMAGES = RNG.random((4, 9, 7))
COLOURED = RNG.random((3, 6, 6, 3))
MIXED = [RNG.random((6, 6)), RNG.random((9, 7)), RNG.random((6, 6))]


@pytest.mark.parametrize("images", [IMAGES, COLOURED, MIXED], ids=["of one size", "with channels", "of several sizes"])
@pytest.mark.parametrize("patches", [Patches(3), Patches(4, stride=2), Patches(2, centred=True), Patches(6)])
def test_patches_are_what_slices_of_the_image_say(images, patches):
    found = patches(as_points(images)).raw()
    for bag, image in zip(found, images, strict=True):
        np.testing.assert_allclose(bag, oracle.patches(patches, image), rtol=1e-12, atol=1e-12)


def test_flat_patches_are_dropped_where_that_is_wanted():
    image = np.zeros((6, 6))
    image[4:, 4:] = 1.0
    assert Patches(2, stride=2, flat="drop")(as_points([image, 1.0 - image])).sizes.tolist() == [0, 0]
    assert Patches(3, stride=3, flat="drop")(as_points([image, np.zeros((6, 6))])).sizes.tolist() == [1, 0]


def test_pixels_and_positions_are_the_columns_of_patches():
    bags = Patches(3, stride=3)(as_points(np.arange(36.0).reshape(1, 6, 6)))
    assert Position()(bags.parts).raw().tolist() == [[-1.5, -1.5], [-1.5, 1.5], [1.5, -1.5], [1.5, 1.5]]
    assert Pixels()(bags.parts).width == 9
    with pytest.raises(InvalidInput, match="needs patches"):
        Pixels()(as_points([[1.0, 2.0]]))


@pytest.mark.parametrize("levels", [1, 2, 3])
def test_gradients_are_what_a_loop_over_pixels_says(levels):
    gradients = Gradients(levels, 5)
    found = gradients(as_points(IMAGES)).raw()
    np.testing.assert_allclose(found, [oracle.gradients(gradients, image) for image in IMAGES], rtol=1e-10, atol=1e-14)


def test_an_image_has_all_of_its_pyramid_in_common_with_itself():
    np.testing.assert_allclose(SpatialPyramid(3)(IMAGES).diagonal(), 1.0)
    assert SpatialPyramid(2)([np.ones((4, 4)), IMAGES[0]]).tolist()[0] == [0.0, 0.0]


def test_the_channel_with_the_largest_gradient_counts():
    grey = RNG.random((2, 5, 5))
    coloured = np.stack([0.1 * grey, grey, np.zeros_like(grey)], axis=3)
    np.testing.assert_allclose(Gradients(2)(as_points(coloured)).raw(), Gradients(2)(as_points(grey)).raw())


def test_an_image_that_cannot_be_cut_is_named():
    with pytest.raises(InvalidInput, match=r"cannot read image 1(.|\n)*\(2, 7\)"):
        Patches(3)(as_points([np.ones((5, 5)), np.ones((2, 7))]))
    with pytest.raises(InvalidInput, match="same channels"):
        Patches(3)(as_points([np.ones((5, 5, 3)), np.ones((5, 5))]))
    with pytest.raises(DomainMismatch, match="reshape"):
        Linear().summed().on(Patches(3))(np.ones((5, 25)))
    with pytest.raises(InvalidParameter, match="flat"):
        Patches(3, flat="maybe")


def test_a_convolution_kernel_of_patches_with_positions_learns_the_digits():
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    X = X.reshape(-1, 8, 8)
    part = RBF(0.6).on(UnitRows()).scaled_by(NormPower(1)).on(Pixels()) * RBF(1.0).on(Position())
    k = part.summed().normalised().on(Patches(3))
    assert parse(repr(k)) == k
    fitted = mercer.SVC(kernel=k, C=1000.0).fit(X[:300], y[:300])
    assert fitted.score(X[300:800], y[300:800]) > 0.88
