"""The log: whole lines, or nothing."""

import errno
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from kgqa.evaluation.runs import records
from kgqa.evaluation.runs.records import RunError

A, B = b'{"id": "a"}\n', b'{"id": "b", "text": "\xc3\xa9\xe2\x80\xa8"}\n'


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "log.jsonl"


def add(path: Path, *lines: bytes) -> None:
    opened = records.AppendLog(path)
    try:
        for line in lines:
            opened.append(line)
    finally:
        opened.close()


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let ``os.write`` take so many bytes at each call; with None left, the disk is full."""
    real = os.write

    def takes(*sizes: int) -> None:
        left: Iterator[int] = iter(sizes)

        def write(file: int, content: bytes) -> int:
            size = next(left, None)
            if size is None:
                raise OSError(errno.ENOSPC, "No space left on device")
            return real(file, content[:size])

        monkeypatch.setattr(records.os, "write", write)

    return takes


def test_lines_are_added_at_the_end(path: Path) -> None:
    add(path, A)
    add(path, B)
    assert path.read_bytes() == A + B
    assert [found["id"] for found, _ in records.read_records(path)] == ["a", "b"]


def test_a_short_write_is_completed(path: Path, disk: Callable[..., None]) -> None:
    disk(3, 1, 100)
    add(path, A)
    assert path.read_bytes() == A


@pytest.mark.parametrize("sizes", [(12,), (12, 5), (12, 5, 0)])
def test_a_full_disk_leaves_whole_lines(
    path: Path, disk: Callable[..., None], sizes: tuple[int, ...]
) -> None:
    disk(*sizes)
    with pytest.raises(OSError, match="No space left on device"):
        add(path, A, B)
    assert path.read_bytes() == A


def test_what_could_not_be_cut_at_once_is_cut_by_recover(
    path: Path, disk: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EIO, "broken")

    disk(12, 5)
    monkeypatch.setattr(records.os, "ftruncate", refuse)
    with pytest.raises(OSError, match="No space"):
        add(path, A, B)
    assert path.read_bytes() == A + B[:5]
    records.repair_tail(path)
    assert path.read_bytes() == A


@given(
    whole=st.lists(st.text(max_size=20), max_size=4), last=st.text(max_size=30), cut=st.integers(min_value=0)
)
def test_wherever_a_line_is_torn_the_lines_before_it_stay(
    tmp_path_factory: pytest.TempPathFactory, whole: list[str], last: str, cut: int
) -> None:
    path = tmp_path_factory.mktemp("torn") / "log.jsonl"
    before = b"".join(json.dumps({"id": text}).encode() + b"\n" for text in whole)
    line = json.dumps({"id": last}).encode() + b"\n"
    path.write_bytes(before + line[: cut % len(line)])
    records.repair_tail(path)
    complete = cut % len(line) == len(line) - 1
    assert path.read_bytes() == before + (line if complete else b"")


@pytest.mark.parametrize("tail", [b"\0\0\0", b"12", b'{"id": "b"', b"[" * 100_000, b'"\xe2\x80'])
def test_a_torn_tail_is_cut_off(path: Path, tail: bytes) -> None:
    path.write_bytes(A + tail)
    records.repair_tail(path)
    assert path.read_bytes() == A


def test_nothing_to_recover(path: Path) -> None:
    records.repair_tail(path)
    assert not path.exists()
    assert list(records.read_records(path)) == []


@pytest.mark.parametrize("line", [b"\n", b"[]\n", b"{}\n", b"{\n", b"\xff\n"])
def test_a_line_that_is_no_record_is_named(path: Path, line: bytes) -> None:
    path.write_bytes(A + line + B)
    with pytest.raises(RunError, match=r"log\.jsonl, line 2: no record"):
        list(records.read_records(path))
