"""Files that were made to do harm: each is refused, with words, in memory and time bounded by its size."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import mercer
from mercer.io.archive import pack, sealed
from tests.fuzz.files import _joined, _split

X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0]])


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("good") / "machine.mercer"
    mercer.SVC().fit(X, [0, 0, 1, 1]).save(path)
    return path.read_bytes()


def with_content(good: bytes, change: Any) -> bytes:
    """The file with its content changed, and a digest that fits."""
    table, data = _split(good)
    content = json.loads(table["__metadata__"]["mercer"])
    change(content)
    table["__metadata__"]["mercer"] = json.dumps(content)
    return _joined(table, data)


def refused(file: bytes) -> str:
    with pytest.raises(mercer.BadModelFile) as caught:
        mercer.load(file)
    return str(caught.value)


def test_an_empty_file_is_no_model_file() -> None:
    assert "not a model file of mercer" in refused(b"")


def test_a_file_of_another_kind_is_no_model_file() -> None:
    assert "not a model file of mercer" in refused(b"\x80\x04\x95" + b"pickle" * 100)


def test_every_cut_is_refused(good: bytes) -> None:
    for end in range(0, len(good), 37):
        refused(good[:end])


def test_one_wrong_bit_is_found_by_the_digest(good: bytes) -> None:
    for place in range(len(good) - 60, len(good)):
        assert "digest" in refused(good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :])


def test_bytes_behind_the_last_array_are_refused(good: bytes) -> None:
    assert "more bytes than its header says" in refused(sealed(good + b"\0"))


def test_a_size_beyond_the_file_is_refused(good: bytes) -> None:
    table, data = _split(good)
    table["SVC.model_.coef"]["shape"] = [1 << 35, 1]
    begin = table["SVC.model_.coef"]["data_offsets"][0]
    table["SVC.model_.coef"]["data_offsets"][1] = begin + (8 << 35)
    assert "The array 'SVC.model_.coef' should end at byte" in refused(_joined(table, data))


def test_a_shape_whose_product_overflows_is_refused(good: bytes) -> None:
    table, data = _split(good)
    entry = table["SVC.model_.coef"]
    entry["shape"] = [1 << 32, 1 << 32]  # 2⁶⁴ numbers are none in 64 bits
    entry["data_offsets"][1] = entry["data_offsets"][0]
    assert "wrongly" in refused(_joined(table, data))


def test_arrays_that_overlap_are_refused(good: bytes) -> None:
    table, data = _split(good)
    table["SVC.model_.coef"]["data_offsets"] = table["SVC.model_.basis"]["data_offsets"]
    table["SVC.model_.coef"]["shape"] = table["SVC.model_.basis"]["shape"]
    assert "overlap" in refused(_joined(table, data))


def test_an_array_of_objects_is_refused(good: bytes) -> None:
    table, data = _split(good)
    table["SVC.model_.coef"]["dtype"] = "O"
    assert "wrongly" in refused(_joined(table, data))


def test_a_header_that_is_longer_than_the_file_is_refused(good: bytes) -> None:
    assert "cut off" in refused((1 << 60).to_bytes(8, "little") + good[8:])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"schema":1,"schema":1}', "stands there twice"),
        ('{"schema":NaN}', "NaN is no number"),
        ('{"schema":-Infinity}', "-Infinity is no number"),
        ('{"schema":1e999}', "beyond float64"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
        ("9" * 100_000, "Exceeds the limit"),
        ("[1,2", "delimiter"),
    ],
)
def test_json_that_is_ambiguous_is_refused(good: bytes, text: str, reason: str) -> None:
    table, data = _split(good)
    table["__metadata__"]["mercer"] = text
    assert reason in refused(_joined(table, data))


def test_a_key_that_stands_twice_in_the_table_is_refused(good: bytes) -> None:
    head = good[8 : 8 + int.from_bytes(good[:8], "little")].rstrip()
    twice = head[:-1] + b',"SVC.model_.coef":{}}'
    assert "stands there twice" in refused(sealed(len(twice).to_bytes(8, "little") + twice))


def machine_of(content: Any) -> Any:
    return content["machine"]["estimator"]


CHANGES: dict[str, tuple[Any, str]] = {
    "a class that is not in the table": (
        lambda content: machine_of(content).update({"class": "subprocess.Popen"}), "names an estimator that it may not"
    ),
    "a parameter that there is not": (
        lambda content: machine_of(content)["parameters"].update(shell=True), "an unknown parameter"
    ),
    "an attribute that hides a method": (
        lambda content: machine_of(content)["fitted"].update(predict=1), "an unknown attribute"
    ),
    "an attribute that is missing": (lambda content: machine_of(content)["fitted"].pop("support_"), "lacks attributes"),
    "a kernel that runs code": (
        lambda content: machine_of(content)["fitted"]["model_"]["Model"].update(
            kernel={"formula": "__import__('os').system('true')"}
        ),
        "do not fit each other",
    ),
    "a function that was not announced": (
        lambda content: machine_of(content)["parameters"].update(kernel={"function": "os.system"}), "does not announce"
    ),
    "a type that is not in the table": (
        lambda content: machine_of(content)["parameters"].update(kernel={"type": "os"}), "that no file may name"
    ),
    "classes that do not match": (
        lambda content: machine_of(content)["fitted"]["model_"]["Model"].update(
            classes={"array": "SVC.model_.coef"}
        ),
        "do not fit",
    ),
    "cuts that do not match": (
        lambda content: machine_of(content)["fitted"]["model_"]["Model"]["pairs"]["Pairs"].update(
            starts={"array": "SVC.n_iter_"}
        ),
        "do not fit",
    ),
    "no rows to verify": (
        lambda content: content.update(verify={"rows": [9], "method": "predict", "values": 1}), "rows"
    ),
    "an unknown schema": (lambda content: content.update(schema=99), "Update mercer"),
    "an unfitted machine": (lambda content: machine_of(content).update(fitted={}), "cannot predict"),
    "other predictions": (
        lambda content: content["verify"].update(values={"array": "SVC.support_"}), "predicts other values"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_a_content_that_lies_is_refused(good: bytes, name: str) -> None:
    change, reason = CHANGES[name]
    assert reason in refused(with_content(good, change))


def test_indices_of_sparse_rows_that_are_out_of_range_are_refused(tmp_path: Path) -> None:
    import scipy.sparse as sp

    mercer.SVC(kernel="linear").fit(sp.csr_array(X), [0, 0, 1, 1]).save(tmp_path / "sparse.mercer")
    table, data = _split((tmp_path / "sparse.mercer").read_bytes())
    for name, wrong in (("indices", 1 << 30), ("indices", -1), ("indptr", 1 << 30), ("indptr", -1)):
        changed = bytearray(data)
        begin, end = table[f"SVC.model_.basis.{name}"]["data_offsets"]
        changed[end - 4 : end] = np.int32(wrong).tobytes()
        assert begin < end
        assert "sparse matrix" in refused(_joined(table, bytes(changed)))


def encoder_of(content: Any) -> Any:
    steps = machine_of(content)["parameters"]["steps"]
    return steps[0]["tuple"][1]["estimator"]["fitted"]


# SciPy writes a 1 where a one-hot encoder says, without a look.
@pytest.mark.parametrize("drop", [None, "first"])
@pytest.mark.parametrize("rare", [None, 2])
def test_codes_of_categories_that_lead_out_of_their_columns_are_refused(drop: Any, rare: Any, tmp_path: Path) -> None:
    encoder = OneHotEncoder(drop=drop, max_categories=rare, handle_unknown="ignore", sparse_output=False)
    rows = np.array([[3.0, 1.0], [1.0, 1.0], [2.0, 4.0], [0.0, 4.0], [3.0, 1.0]])
    pipeline = make_pipeline(encoder, mercer.SVC()).fit(rows, [0, 0, 1, 1, 1])
    path = tmp_path / "encoded.mercer"
    mercer.save(pipeline, path, X=rows)
    assert np.array_equal(mercer.load(path).predict(rows), pipeline.predict(rows))
    whole = path.read_bytes()
    widths = encoder._n_features_outs
    wrong: list[tuple[str, Any]] = [("_n_features_outs", [width - 1 for width in widths])]
    wrong += [("_n_features_outs", widths[:1]), ("_n_features_outs", [-1, *widths[1:]])]
    wrong += [("_n_features_outs", [float(width) for width in widths]), ("categories_", [[3.0, 1.0]])]
    for name, value in wrong:
        file = with_content(whole, lambda content, name=name, value=value: encoder_of(content).update({name: value}))
        assert "fit each other" in refused(file)


@pytest.mark.parametrize("place", ["categories_", "_default_to_infrequent_mappings", "_infrequent_indices"])
def test_numbers_of_categories_that_lead_astray_are_refused(place: str, tmp_path: Path) -> None:
    rows = np.array([[3.0], [1.0], [2.0], [0.0], [3.0]])
    pipeline = make_pipeline(OneHotEncoder(max_categories=2), mercer.SVC()).fit(rows, [0, 0, 1, 1, 1])
    mercer.save(pipeline, tmp_path / "encoded.mercer", X=rows)
    table, data = _split((tmp_path / "encoded.mercer").read_bytes())
    name = next(name for name in table if f".{place}" in name)
    begin = table[name]["data_offsets"][0]
    changed = bytearray(data)
    first = np.frombuffer(data[begin : begin + 8], "<f8" if place == "categories_" else "<i8")
    changed[begin : begin + 8] = (first + 1000).tobytes()
    assert "fit each other" in refused(_joined(table, bytes(changed)))


def test_a_dropped_category_that_there_is_not_is_refused(tmp_path: Path) -> None:
    rows = np.array([[3.0], [1.0], [2.0], [0.0], [3.0]])
    pipeline = make_pipeline(OneHotEncoder(drop="first"), mercer.SVC()).fit(rows, [0, 0, 1, 1, 1])
    mercer.save(pipeline, tmp_path / "encoded.mercer", X=rows)
    table, data = _split((tmp_path / "encoded.mercer").read_bytes())
    assert data.count(b"[0]") == 2
    assert "fit each other" in refused(_joined(table, data.replace(b"[0]", b"[7]")))


def test_numbers_made_to_collide_in_a_table_are_refused(tmp_path: Path) -> None:
    collide = [{"int": hex(1 + k * ((1 << 61) - 1))} for k in range(20_000)]
    good = tmp_path / "sets.mercer"
    mercer.KernelRidge(kernel=mercer.Delta()).fit(["a", "b"], [0.0, 1.0]).save(good)

    def change(content: Any) -> None:
        machine_of(content)["parameters"]["kernel_params"] = {"set": collide}

    assert "have one hash" in refused(with_content(good.read_bytes(), change))


BOMB = """
import resource, sys
import mercer
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
for path in sys.argv[1:]:
    try:
        mercer.load(path)
    except mercer.BadModelFile as error:
        print(str(error).splitlines()[0])
"""


def test_bombs_are_refused_in_bounded_memory_and_time(good: bytes, tmp_path: Path) -> None:
    nothing = np.zeros((0, 1 << 39))
    wide = {"SVC.model_.coef": nothing, "SVC.model_.basis": nothing, "SVC.support_": np.zeros(0, dtype=np.int32)}
    table, data = _split(good)
    content = json.loads(table["__metadata__"]["mercer"])
    arrays = {
        name: np.frombuffer(data[entry["data_offsets"][0] : entry["data_offsets"][1]], dtype="<f8")
        for name, entry in table.items()
        if name != "__metadata__" and entry["dtype"] == "F64"
    }
    bombs = {
        "no rows of half a trillion columns": b"".join(pack(content, arrays | wide)),
        "a formula of deep powers": with_content(
            good,
            lambda content: machine_of(content)["fitted"]["model_"]["Model"].update(
                kernel={"formula": "(((Linear() + 1) ** 9999999) ** 9999999) ** 9999999"}
            ),
        ),
        "a fraction of a billion digits": with_content(
            good, lambda content: machine_of(content)["parameters"].update(C={"fraction": "1e999999999"})
        ),
        "a letter as wide as the file": with_content(
            good, lambda content: machine_of(content)["parameters"].update(C={"array": {"text": "SVC.model_.coef"}})
        ),
    }
    paths = []
    for number, bomb in enumerate(bombs.values()):
        path = tmp_path / f"{number}.mercer"
        path.write_bytes(bomb)
        paths.append(str(path))
    found = subprocess.run([sys.executable, "-c", BOMB, *paths], capture_output=True, text=True, check=True)
    assert len(found.stdout.splitlines()) == len(bombs), found.stdout + found.stderr


def test_the_error_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("nothing")
    with pytest.raises(mercer.BadModelFile) as caught:
        mercer.load(path)
    assert caught.value.__notes__ == [f"The file is {str(path)!r}."]


def test_a_folder_is_no_model_file(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="directory"):
        mercer.load(tmp_path)
