"""Folders that are built again: in one step, under their readers, and without remains."""

import errno
import fcntl
import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from kgqa.builds import (
    HeldFolder,
    edit_head,
    hold_build,
    make_scratch,
    new_build,
    new_folder,
    read_head,
    remove_folder,
    replace_file,
    scratch_folder,
)

HEAD = "head.json"
LEFT = "build-0123456789abcdef"


def build(folder: Path, text: str) -> None:
    with new_build(folder, HEAD, ["text"]) as made:
        (made / "text").write_text(text)
        (made / HEAD).write_text(json.dumps({"build": made.name}))


def held(folder: Path) -> HeldFolder:
    return read_head(folder / HEAD, lambda head: hold_build(folder, json.loads(head)))


def text(folder: Path) -> str:
    return (held(folder).path / "text").read_text()


def builds(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir() if each.is_dir() and not each.is_symlink())


def test_a_build_takes_the_place_of_another(tmp_path: Path) -> None:
    for said in ("one", "two"):
        build(tmp_path / "new", said)
        assert text(tmp_path / "new") == said
    assert len(builds(tmp_path / "new")) == 1


def test_who_has_opened_a_build_keeps_it_and_the_next_build_removes_it(tmp_path: Path) -> None:
    build(tmp_path, "one")
    first = held(tmp_path)
    for said in ("two", "three"):
        build(tmp_path, said)
        assert ((first.path / "text").read_text(), text(tmp_path)) == ("one", said)
        assert len(builds(tmp_path)) == 2
    first.release()
    build(tmp_path, "four")
    assert len(builds(tmp_path)) == 1


def test_a_build_that_fails_leaves_what_there_was(tmp_path: Path) -> None:
    for folder in (tmp_path / "new", tmp_path / "made"):
        folder.name == "made" and build(folder, "one")
        with pytest.raises(ZeroDivisionError), new_build(folder, HEAD) as made:
            (made / "text").write_text("half")
            raise ZeroDivisionError
    assert text(tmp_path / "made") == "one" and len(builds(tmp_path / "made")) == 1
    assert builds(tmp_path) == ["made"]


@pytest.mark.parametrize("at", ["mkdir", "flock"])
def test_a_build_that_is_ended_as_soon_as_it_begins_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    made, owner = Path.mkdir, {"mkdir": Path, "flock": fcntl}[at]
    ended = []

    def end(*given: Any, **named: Any) -> None:
        if at == "mkdir":
            made(*given, **named)
        if (at == "flock" or given[0].name.startswith("build-")) and not ended:
            ended.append(at)
            raise SystemExit(143)

    with monkeypatch.context() as patch:
        patch.setattr(owner, at, end)
        with pytest.raises(SystemExit):
            build(tmp_path / "new", "one")
    assert os.listdir(tmp_path) == []


def test_what_a_killed_build_left_goes_and_what_is_being_built_does_not(tmp_path: Path) -> None:
    (tmp_path / LEFT).mkdir()
    with new_build(tmp_path, HEAD) as made:
        build(tmp_path, "one")
        assert made.is_dir() and not (tmp_path / LEFT).exists()
        (made / "text").write_text("two")
        (made / HEAD).write_text(json.dumps({"build": made.name}))
    assert text(tmp_path) == "two" and builds(tmp_path) == [made.name]


def test_a_user_folder_of_almost_such_a_name_stays(tmp_path: Path) -> None:
    for name in ("build-", "build-mine", "build-0123456789ABCDEF", f"{LEFT}0"):
        (tmp_path / name).mkdir()
    build(tmp_path, "one")
    assert len(builds(tmp_path)) == 5


def test_a_head_is_read_again_where_its_build_went_meanwhile(tmp_path: Path) -> None:
    build(tmp_path, "one")
    seen = []

    def read(head: bytes) -> HeldFolder:
        seen.append(head)
        if len(seen) == 1:
            build(tmp_path, "two")
        return hold_build(tmp_path, json.loads(head))

    assert (read_head(tmp_path / HEAD, read).path / "text").read_text() == "two"
    assert len(seen) == 2


def test_who_opens_a_build_waits_for_who_sweeps(tmp_path: Path) -> None:
    build(tmp_path, "one")
    with open(held(tmp_path).path / "in-use") as sweeping, ThreadPoolExecutor(1) as thread:
        fcntl.flock(sweeping, fcntl.LOCK_EX)
        opening = thread.submit(text, tmp_path)
        with pytest.raises(TimeoutError):
            opening.result(0.1)
        fcntl.flock(sweeping, fcntl.LOCK_UN)
        assert opening.result(60) == "one"


def test_a_build_that_somebody_removed_is_told_once(tmp_path: Path) -> None:
    build(tmp_path, "one")
    (held(tmp_path).path / "in-use").unlink()
    with pytest.raises(FileNotFoundError):
        held(tmp_path)


@pytest.mark.parametrize("name", [None, 1, "", "..", f"../{LEFT}", f"{LEFT}/..", "text"])
def test_a_head_leads_nowhere_else(tmp_path: Path, name: object) -> None:
    with pytest.raises(ValueError, match="names no build"):
        hold_build(tmp_path, {"build": name})


def test_other_programs_find_the_files_by_links_and_those_of_former_versions_go(tmp_path: Path) -> None:
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "zero").touch()
    (tmp_path / "mine").write_text("mine")
    with pytest.raises(ZeroDivisionError), new_build(tmp_path, HEAD, ["text"]):
        raise ZeroDivisionError
    assert (tmp_path / "text" / "zero").exists()
    for said in ("one", "two"):
        build(tmp_path, said)
        assert (tmp_path / "text").read_text() == said
    moved = tmp_path.rename(tmp_path.with_name("moved"))
    assert (moved / "text").read_text() == "two" and (moved / "mine").exists()
    assert len(list(moved.iterdir())) == 4


def test_a_disk_without_locks_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_locks(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", no_locks)
    build(tmp_path, "one")
    first = held(tmp_path)
    build(tmp_path, "two")
    assert ((first.path / "text").read_text(), text(tmp_path)) == ("one", "two")


def test_a_build_goes_into_the_folder_that_a_link_leads_to(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "disk")
    build(tmp_path / "link", "one")
    assert (tmp_path / "link").is_symlink() and text(tmp_path / "disk") == "one"


def test_a_folder_that_is_read_is_not_removed(tmp_path: Path) -> None:
    build(tmp_path / "read", "one")
    reader = held(tmp_path / "read")
    assert not remove_folder(tmp_path / "read") and text(tmp_path / "read") == "one"
    reader.release()
    assert remove_folder(tmp_path / "read") and not (tmp_path / "read").exists()


def test_a_head_is_edited_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    (tmp_path / HEAD).write_text("old")
    edit_head(tmp_path / HEAD, lambda head: head + b" and new")
    with pytest.raises(ZeroDivisionError):
        edit_head(tmp_path / HEAD, lambda head: head[: 1 // 0])
    assert (tmp_path / HEAD).read_text() == "old and new"
    assert os.listdir(tmp_path) == [HEAD]


def test_files_and_folders_are_there_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    (tmp_path / ".kgqa-0123456789abcdef").mkdir()  # of a process that was killed
    replace_file(tmp_path / "file", lambda file: file.write(b"old"))
    with pytest.raises(ZeroDivisionError):
        replace_file(tmp_path / "file", lambda file: file.write(b"n") and 1 // 0)
    with pytest.raises(ZeroDivisionError), new_folder(tmp_path / "folder") as made:
        (made / "half").touch()
        raise ZeroDivisionError
    assert os.listdir(tmp_path) == ["file"] and (tmp_path / "file").read_text() == "old"
    (tmp_path / "empty").mkdir()
    for name in ("folder", "empty"):
        with new_folder(tmp_path / name) as made:
            (made / "whole").touch()
        assert os.listdir(tmp_path / name) == ["whole"]
    assert sorted(os.listdir(tmp_path)) == ["empty", "file", "folder"]


def test_what_a_killed_edit_of_a_head_left_goes_with_the_next_build(tmp_path: Path) -> None:
    build(tmp_path, "one")
    (tmp_path / ".kgqa-0123456789abcdef").mkdir()
    build(tmp_path, "two")
    assert not list(tmp_path.glob(".kgqa-*")) and text(tmp_path) == "two"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_a_process_that_was_forked_removes_nothing_of_the_other(tmp_path: Path) -> None:
    with scratch_folder(tmp_path) as scratch:
        held = make_scratch(tmp_path, "held-")
        child = os.fork()
        if child == 0:
            held.remove()
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        assert scratch.is_dir() and held.path.is_dir()
    held.remove()
    assert os.listdir(tmp_path) == []


def test_a_link_of_such_a_name_leads_to_nothing_that_is_touched(tmp_path: Path) -> None:
    """Anybody may have put one where temporary files go."""
    (tmp_path / "mine").mkdir()
    (tmp_path / LEFT).symlink_to(tmp_path / "mine")
    build(tmp_path, "one")
    assert os.listdir(tmp_path / "mine") == []


def test_two_scratch_folders_leave_each_other_alone(tmp_path: Path) -> None:
    with scratch_folder(tmp_path) as one, scratch_folder(tmp_path) as two:
        assert one.is_dir() and two.is_dir()
    assert os.listdir(tmp_path) == []
