"""`orienteer.data.files`: problems, sets, routes and results by suffix or format."""

import os
import threading
from pathlib import Path

import pytest

from orienteer import BadFile, Instance, Tour
from orienteer.data import files

ROUND = Instance.from_coords([[0, 0], [1, 0], [0, 1]], [0, 1, 2], 4.0, on_earth=True)
ONE_WAY = ROUND.replace(end=1)


@pytest.mark.parametrize("suffix", [suffix for suffix, format in files.SUFFIXES.items() if format in files.WRITTEN])
def test_suffixes_pick_the_format(tmp_path: Path, suffix: str) -> None:
    for name in (f"a{suffix}", f"A{suffix.upper()}"):
        files.write(ONE_WAY, tmp_path / name)
        assert files.read(str(tmp_path / name)) == ONE_WAY
    assert list(files.read_set(tmp_path / name)) == [ONE_WAY]


@pytest.mark.parametrize("format", files.WRITTEN)
def test_a_named_format_stands_above_the_suffix(tmp_path: Path, format: str) -> None:
    files.write(ONE_WAY, tmp_path / "a.dat", format)
    assert files.read(tmp_path / "a.dat", format) == ONE_WAY
    assert list(files.read_set(tmp_path / "a.dat", format)) == [ONE_WAY]


def test_unknown_formats(tmp_path: Path) -> None:
    for use in (files.read, lambda path: files.write(ROUND, path)):
        with pytest.raises(BadFile, match=r"suffix '.xls' stands for no format; name one of json \(.json\), npz .*csv"):
            use(tmp_path / "a.xls")
    with pytest.raises(ValueError, match=r"format must be one of json, .*mctopmtw, got 'xls'"):
        files.read(tmp_path / "a.json", "xls")


def test_options_that_do_not_fit(tmp_path: Path) -> None:
    files.write(ROUND, tmp_path / "a.json")
    with pytest.raises(ValueError, match="index picks from an NPZ set"):
        files.read(tmp_path / "a.json", index=0)
    files.write(ROUND.replace(names=None), tmp_path / "a.oplib")
    with pytest.raises(ValueError, match="matrix, metric, speed and unit go with csv, json"):
        files.read(tmp_path / "a.oplib", metric="euclidean")


@pytest.mark.parametrize("suffix", [".json", ".npz", ".oplib", ".csv"])
def test_options_stand_above_the_file(tmp_path: Path, suffix: str) -> None:
    files.write(ROUND, tmp_path / f"a{suffix}")
    assert files.read(tmp_path / f"a{suffix}", limit=5, start=2, end="1") == ROUND.replace(limit=5.0, start=2, end=1)
    with pytest.raises(BadFile, match=r"limit 0\.5 is below"):
        files.read(tmp_path / f"a{suffix}", limit=0.5, start=2, end=1)


@pytest.mark.parametrize(
    "text",
    [
        "0 2 1 0",
        "0\n2\n1\n0\n",
        "\ufeff0, 2; 1 -> 0",
        "# best so far\n0 2 # the far one\r\n1 0",
        "[0, 2, 1, 0]",
        '\n{"tour": [0, 2, 1, 0], "prize": 3}',
        "TYPE : TOUR\nDIMENSION : 3\nTOUR_SECTION\n1\n3\n2\n1\n-1\nEOF\n",
        "NAME: x\r\nTOUR_SECTION :\r\n1 3 2 1 -1\r\n",
        "NODE_SEQUENCE_SECTION\n1\n3\n2\n1\nEOF",
    ],
)
def test_routes(tmp_path: Path, text: str) -> None:
    (tmp_path / "route").write_text(text)
    assert files.read_tour(tmp_path / "route") == [0, 2, 1, 0]
    assert files.read_tour(tmp_path / "route", ROUND) == [0, 2, 1, 0]


def test_tsplib_tours_leave_out_the_way_back(tmp_path: Path) -> None:
    path = tmp_path / "a.tour"
    path.write_text("TOUR_SECTION\n1\n3\n2\n-1\nEOF\n")
    assert files.read_tour(path) == [0, 2, 1]
    assert files.read_tour(path, ONE_WAY) == [0, 2, 1]
    assert files.read_tour(path, ROUND) == [0, 2, 1, 0]
    path.write_text("TOUR_SECTION\n1\n-1\n")
    assert files.read_tour(path, ROUND) == [0, 0]
    path.write_text("[0, 2, 1]")  # only TSPLIB's do
    assert files.read_tour(path, ROUND) == [0, 2, 1]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", None, "no nodes"),
        ("# nothing\n", None, "no nodes"),
        ("0 1\n2 x", 2, "a node must be a whole number, got 'x'"),
        ("0 1\n2 -3", 2, "nodes are counted from 0, got -3"),
        ("0 1.0", 1, "a node must be a whole number"),
        ("[]", None, "expected a list of nodes"),
        ("[0, -1]", None, "stop 1 must be a node's number, got -1"),
        ("[0, true]", None, "stop 1 must be a node's number, got True"),
        ("[0,\n", 2, "not JSON"),
        ('{"route": [0]}', None, "expected a list of nodes"),
        ("TYPE : TOUR\n", None, "there is no TOUR_SECTION"),
        ("TOUR_SECTION\n1\n0\n", 3, "TSPLIB counts nodes from 1, got 0"),
        ("TOUR_SECTION\n-1\n", None, "no nodes"),
    ],
)
def test_wrong_routes(tmp_path: Path, text: str, line: int | None, message: str) -> None:
    (tmp_path / "route").write_text(text)
    with pytest.raises(BadFile) as caught:
        files.read_tour(tmp_path / "route")
    assert message in caught.value.message
    assert caught.value.line == line


def test_an_endless_route(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("orienteer.data.tour_file.MAX_STOPS", 3)
    (tmp_path / "route").write_text("0 1 2 3")
    with pytest.raises(BadFile, match="more than 3 stops"):
        files.read_tour(tmp_path / "route")


def test_a_tour_keeps_its_numbers_in_json(tmp_path: Path) -> None:
    files.write_tour(Tour((0, 2, 0), 1.5, 0.1), tmp_path / "a.json")
    assert (tmp_path / "a.json").read_text() == '{"tour": [0, 2, 0], "prize": 1.5, "cost": 0.1}\n'


def test_a_route_missing_from_the_results(tmp_path: Path) -> None:
    files.write_results([], tmp_path / "a.npz")
    with pytest.raises(BadFile, match="there is no route 0 among 0"):
        files.read_tour(tmp_path / "a.npz")


def test_links_and_pipes_are_written_through(tmp_path: Path) -> None:
    """A file is replaced as a whole, but a pipe or device is written to and stays what it is."""
    (tmp_path / "real.json").write_text("old")
    (tmp_path / "link.json").symlink_to(tmp_path / "real.json")
    files.write(ROUND, tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    assert files.read(tmp_path / "real.json") == ROUND
    pipe = tmp_path / "pipe.json"
    os.mkfifo(pipe)
    got: list[str] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_text()))
    reader.start()
    files.write(ROUND, pipe)
    reader.join()
    assert got == [(tmp_path / "real.json").read_text()]


def test_the_front_exports_what_it_says() -> None:
    """The names that the module defines itself, and the two classes that its functions give back."""
    own = {name for name, value in vars(files).items() if getattr(value, "__module__", "") == files.__name__}
    public = {name for name in own if not name.startswith("_")}
    assert set(files.__all__) == public | {"FORMATS", "SUFFIXES", "WRITTEN", "BatchResult", "InstanceSet"}


@pytest.mark.parametrize("suffix", [".gpx", ".xls", ".csv", ".png"])
def test_routes_have_their_own_suffixes(tmp_path: Path, suffix: str) -> None:
    """A route.gpx that held node numbers was taken for a track."""
    with pytest.raises(BadFile, match=f"routes are not written as {suffix}, only as .json|takes a result of `solve`"):
        files.write_tour([0, 1, 0], tmp_path / f"route{suffix}")
    assert list(tmp_path.iterdir()) == []
