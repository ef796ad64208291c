"""Files of every schema that there was keep loading, and predict what they did."""

import json
from pathlib import Path

import numpy as np
import pytest

import mercer
from mercer.estimators._saved import SCHEMA, UPGRADES
from tests.unit.io.make_fixture import FOLDER, machines

FILES = sorted(FOLDER.glob("schema-*/*.mercer"))
POINTS = {name: points for name, (_, points) in machines().items()}


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_file_of_any_schema_loads_and_predicts_what_it_did(path: Path) -> None:
    machine = mercer.load(path)
    saved = json.loads((path.parent / "predictions.json").read_text())[path.stem]
    now = machine.predict(POINTS[path.stem])
    if isinstance(saved[0], str):
        assert now.tolist() == saved
    else:
        assert np.allclose(now, saved, rtol=1e-9, atol=1e-9)


def test_every_schema_has_its_files_and_its_upgrade() -> None:
    schemas = {path.parent.name for path in FILES}
    assert schemas == {f"schema-{number}" for number in range(1, SCHEMA + 1)}, "run tests.unit.io.make_fixture"
    assert set(UPGRADES) == set(range(1, SCHEMA))
    for schema in schemas:
        assert {path.stem for path in FILES if path.parent.name == schema} == set(POINTS)
