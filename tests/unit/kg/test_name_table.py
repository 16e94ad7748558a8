"""The table of names: read by many threads at once, and plain about what SQLite says of its file."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kgqa.kg.errors import KGMalformed
from kgqa.kg.linking import name_table
from kgqa.kg.linking.name_table import NameTable

WORDS = ("river", "lake", "hill", "town", "bridge")
NAMES = [
    (f"http://x/{number}", f"{WORDS[number % 5]} {WORDS[number % 3]} {number % 500}")
    for number in range(2_000)
]


def _table(path: Path | None = None) -> NameTable:
    built = NameTable.build(NAMES, lambda ids: {}, path, "x")
    return NameTable.open(path, "x") if path else built


def _looks(table: NameTable) -> list[object]:
    return [
        list(table.keys_holding(["river"])),
        [table.bearers(key) for key in table.keys_like("lake hill 12", 9, 13)],
        table.called("river river 0"),
        table.keys_beginning("hill", 50),
        table.namespaces,
    ]


@pytest.mark.parametrize("name", [None, "names.sqlite"])
def test_many_threads_find_what_one_finds(tmp_path: Path, name: str | None) -> None:
    table = _table(tmp_path / name if name else None)
    alone = _looks(table)
    with ThreadPoolExecutor(8) as threads:
        assert all(found == alone for found in threads.map(_looks, [table] * 48))


def test_keys_that_hold_a_word_come_shortest_first_however_they_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = _table()
    keys = list(table.keys_holding(["river"]))
    assert keys == sorted({name for _, name in NAMES if "river" in name}, key=lambda key: (len(key), key))
    monkeypatch.setattr(name_table, "KEYS_PER_PAGE", 7)
    assert list(table.keys_holding(["river"])) == keys


def test_a_look_may_be_made_while_keys_are_read() -> None:
    table = _table()
    assert all(table.has_key(key) for key in table.keys_holding(["lake"]))


def test_a_file_that_cannot_be_read_is_told_with_what_sqlite_said(tmp_path: Path) -> None:
    path = tmp_path / "names.sqlite"
    path.write_bytes(b"\xff" * 4_096)
    with pytest.raises(KGMalformed, match=r"cannot be read \(file is not a database\); build"):
        NameTable.open(path, "x")
    path.unlink()
    with pytest.raises(KGMalformed, match=r"cannot be read \(No such file or directory\)"):
        NameTable.open(path, "x")


def test_a_failed_look_is_told_with_what_sqlite_said(tmp_path: Path) -> None:
    path = tmp_path / "names.sqlite"
    table = _table(path)
    content = path.read_bytes()
    path.write_bytes(content[:4_096] + b"\xff" * (len(content) - 4_096))
    with pytest.raises(KGMalformed, match=r"cannot be read \(.*malformed.*\); build the store again"):
        table.called("river river 0")


@pytest.mark.parametrize("compared", [50_000, 0])
def test_a_key_is_found_without_its_gaps(monkeypatch: pytest.MonkeyPatch, compared: int) -> None:
    monkeypatch.setattr(name_table, "MAX_KEYS_COMPARED", compared)
    table = _table()
    assert table.keys_without_gaps(("riverlake10", "lakelake1")) == ["lake lake 1", "river lake 10"]
    assert table.keys_without_gaps(("river lake 10", "lakelake")) == []
