import bz2
import gzip
import lzma

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

from mercer.cli.columns import infer, values_of
from mercer.cli.dialect import find_dialect
from mercer.cli.outcome import BadData, WrongUse
from mercer.cli.reading import Source

TABLE = "a,b,kind\n1.5,x,u\n2.5,y,v\n3.5,x,u\n"


def rows_of(frame):
    return frame.astype(str).to_numpy().tolist()


@pytest.mark.parametrize(
    ("ending", "pack"), [("", bytes), (".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)]
)
def test_packed_tables_are_unpacked(here, ending, pack):
    (here / f"t.csv{ending}").write_bytes(pack(TABLE.encode()))
    frame = Source(f"t.csv{ending}").whole().frame
    assert list(frame.columns) == ["a", "b", "kind"]
    assert rows_of(frame)[1] == ["2.5", "y", "v"]


@pytest.mark.parametrize("rows", [1, 2, 5])
def test_pieces_make_up_the_whole(here, rows):
    (here / "t.csv").write_text(TABLE, encoding="utf-8")
    pieces = [piece.frame for piece in Source("t.csv").pieces(rows)]
    assert max(map(len, pieces)) <= rows
    assert rows_of(pd.concat(pieces)) == rows_of(Source("t.csv").whole().frame)


def test_every_format_holds_the_same_numbers(here):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((9, 3)).round(3), np.arange(9.0) % 2
    frame = pd.DataFrame({"x1": X[:, 0], "x2": X[:, 1], "x3": X[:, 2], "y": y})
    frame.to_csv("t.csv", index=False)
    frame.to_csv("t.tsv", index=False, sep="\t")
    frame.to_parquet("t.parquet")
    frame.to_json("t.jsonl", orient="records", lines=True)
    frame.to_json("t.json", orient="records")
    np.savez("t.npz", X=X, y=y)
    for name in ("t.csv", "t.tsv", "t.parquet", "t.jsonl", "t.json", "t.npz"):
        for rows in (None, 4):
            read = pd.concat([piece.frame for piece in Source(name).pieces(rows)])
            values = np.column_stack([values_of(read[column], "numbers") for column in frame.columns])
            assert np.array_equal(values, frame.to_numpy()), name


def test_sparse_formats_stay_sparse(here):
    X = sp.random(8, 5, density=0.4, random_state=0, format="csr")
    y = np.arange(8.0)
    dump_svmlight_file(X, y, "t.libsvm", zero_based=False)
    sp.save_npz("t.npz", X)
    piece = Source("t.libsvm", width=5).whole()
    assert np.allclose(piece.matrix.toarray(), X.toarray())
    assert np.array_equal(piece.labels, y)
    assert np.allclose(Source("t.npz").whole().matrix.toarray(), X.toarray())
    pieces = list(Source("t.libsvm", width=5).pieces(3))
    assert [len(part) for part in pieces] == [3, 3, 2]


@pytest.mark.parametrize(
    ("text", "separator", "decimal", "names"),
    [
        ("a,b\n1,2\n", ",", ".", ("a", "b")),
        ("a;b\n1,5;2\n", ";", ",", ("a", "b")),
        ("a;b\n1.5;2\n", ";", ".", ("a", "b")),
        ("a\tb\n1\t2\n", "\t", ".", ("a", "b")),
        ("a|b\n1|2\n", "|", ".", ("a", "b")),
        ("one\n1\n2\n", ",", ".", ("one",)),
        ("1,2\n3,4\n", ",", ".", ("x1", "x2")),
        ("5.1,iris\n4.9,rose\n", ",", ".", ("x1", "x2")),
        ("age,2019,2020\n31,1,2\n", ",", ".", ("age", "2019", "2020")),
        ("a,a,,a\n1,2,3,4\n", ",", ".", ("a", "a.1", "column 3", "a.2")),
        ('"x, y",b\n1,2\n', ",", ".", ("x, y", "b")),
    ],
)
def test_how_a_table_is_written_is_found_out(text, separator, decimal, names):
    found = find_dialect(text.encode(), is_whole=True)
    assert (found.separator, found.decimal, found.names) == (separator, decimal, names)


@pytest.mark.parametrize(
    ("raw", "encoding"),
    [
        (b"\xef\xbb\xbfa,b\n1,2\n", "utf-8-sig"),
        ("größe,b\n1,2\n".encode(), "utf-8"),
        ("größe,b\n1,2\n".encode("latin-1"), "cp1252"),
        ("größe,b\n1,2\n".encode("utf-16"), "utf-16"),
    ],
)
def test_encodings_are_recognised_and_names_read_right(here, raw, encoding):
    (here / "t.csv").write_bytes(raw)
    source = Source("t.csv")
    assert find_dialect(raw, is_whole=True).encoding == encoding
    assert list(source.whole().frame.columns) in (["a", "b"], ["größe", "b"])


@pytest.mark.parametrize(
    ("content", "name", "words"),
    [
        (b"", "t.csv", "is empty"),
        (b" \n\n", "t.csv", "is empty"),
        (b"a,b\n", "t.csv", "no rows"),
        (b"a,b\n1,2,3\n", "t.csv", "more fields than there are names"),
        (b"a,b\n1,2\n1,2,3\n", "t.csv", "line 3"),
        (b'a,b\n1,"2\n3,4\n', "t.csv", "EOF inside string"),
        (bytes(range(256)), "t.csv", "not text"),
        (b"\x1f\x8b\x08\x00broken", "t.csv.gz", "broken"),
        (b"not parquet", "t.parquet", "not a Parquet file"),
        (b"{]", "t.jsonl", "not JSON lines"),
        (b"not an archive", "t.npz", "not an archive"),
        (b"1 a:b\n", "t.libsvm", "LIBSVM"),
    ],
)
def test_broken_files_are_refused_in_words(here, content, name, words):
    (here / name).write_bytes(content)
    with pytest.raises(BadData, match=words):
        Source(name).whole()


def test_pickles_in_an_archive_are_not_opened(here):
    np.savez("t.npz", X=np.array([{}], dtype=object))
    with pytest.raises(BadData, match="plain arrays"):
        Source("t.npz").whole()


def test_a_file_that_is_not_there_is_compared_with_those_that_are(here):
    (here / "wine.csv").write_text(TABLE, encoding="utf-8")
    with pytest.raises(BadData, match=r"Did you mean wine\.csv"):
        Source("wien.csv").whole()
    with pytest.raises(WrongUse, match="no format 'xls'"):
        Source("wine.csv", format="xls")


@pytest.mark.parametrize(
    ("values", "kind", "left_out"),
    [
        (["1", "2.5", "-3e2"], "numbers", ""),
        (["1", None, "2"], "numbers", ""),
        ([True, False, True], "numbers", ""),
        (["a", "b", "a", "b"], "categories", ""),
        (["true", "false", "true", "true"], "categories", ""),
        ([f"text {i}" for i in range(30)], "texts", ""),
        (["2024-01-01", "2024-02-29"], "dates", ""),
        (["2024-01-01T10:00:00", "2024-02-29T23:59:59"], "dates", ""),
        (["31.12.2023", "01.02.2024"], "dates", ""),
        (["01/02/2024", "02/01/2024", "01/02/2024", "01/02/2024"], "categories", ""),
        ([None, None], "objects", "no row has a value"),
        (["7", "7", "7"], "numbers", "all rows hold 7"),
        ([str(i) for i in range(1, 40)], "numbers", "it counts the rows"),
        ([[1], [2]], "objects", "it holds lists or objects"),
    ],
)
def test_what_a_column_holds_is_inferred(values, kind, left_out):
    found = infer(pd.Series(values, dtype=object), "c")
    assert (found.kind, found.left_out) == (kind, left_out)


def test_a_few_other_texts_among_numbers_count_as_missing_and_are_said():
    series = pd.Series([str(i * i) for i in range(50)] + ["broken"], dtype=object)
    found = infer(series, "c")
    assert (found.kind, found.missing) == ("numbers", 1)
    assert "'broken'" in found.doubt or "broken" in found.doubt


def test_numbers_are_the_nearest_float64():
    texts = ["0.1", "1e-320", "123456789.123456789", "9007199254740993", "1_000", "0x10"]
    found = values_of(pd.Series(texts, dtype=object), "numbers")
    assert found[:4].tolist() == [float(text) for text in texts[:4]]
    assert np.isnan(found[4:]).all()


def test_thousands_may_be_parted(here):
    (here / "de.csv").write_text("miete;ort\n1.234,50;a\n987,25;b\n1.100;a\n-12.345.678,5;b\n", encoding="utf-8")
    source = Source("de.csv")
    column = source.whole().frame["miete"]
    assert source.decimal == ","
    assert infer(column, "miete", decimal=",").kind == "numbers"
    assert values_of(column, "numbers", ",").tolist() == [1234.5, 987.25, 1100.0, -12345678.5]
    (here / "en.csv").write_text('rent,town\n"1,234.50",a\n987.25,b\n"12,345",a\n', encoding="utf-8")
    source = Source("en.csv")
    assert values_of(source.whole().frame["rent"], "numbers", source.decimal).tolist() == [1234.5, 987.25, 12345.0]


@pytest.mark.parametrize("text", ["1,23", "1,2345", "12,34,567", "1,234,56", ",123"])
def test_a_comma_in_another_place_parts_no_thousands(text):
    assert np.isnan(values_of(pd.Series([text], dtype=object), "numbers")).all()


def test_points_that_begin_decimals_are_no_thousands():
    assert find_dialect(b"a;b\n1.5;1,2\n2.25;1,3\n", is_whole=True).decimal == "."


def test_arrays_of_objects_are_refused_without_advice_to_trust_them(here):
    np.savez("t.npz", X=np.array([{}, []], dtype=object))
    with pytest.raises(BadData, match="Arrays of Python objects are not read") as caught:
        Source("t.npz").whole()
    assert "allow_pickle" not in str(caught.value)
