"""Model files are safetensors: the format's own reader finds the same arrays."""

from pathlib import Path

import numpy as np
from safetensors import safe_open

from mercer import SVC


def test_the_reader_of_safetensors_finds_the_same_arrays(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(20, 3))
    machine = SVC().fit(X, np.where(X[:, 0] > 0.0, "up", "down"))
    machine.save(tmp_path / "svc.mercer")
    with safe_open(tmp_path / "svc.mercer", framework="numpy") as file:
        assert file.metadata()["format"] == "mercer"
        assert np.array_equal(file.get_tensor("SVC.model_.coef"), machine.model_.coef)
        assert np.array_equal(file.get_tensor("SVC.model_.basis"), machine.support_vectors_)
        assert np.array_equal(file.get_tensor("SVC.support_"), machine.support_)
        assert len(file.keys()) > 5
