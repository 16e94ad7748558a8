"""Files that are read once for their content, and opened as a folder ever after."""

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from kgqa.kg.errors import KGMalformed, KGUnavailable
from kgqa.kg.opening import open_graph
from kgqa.kg.store import directory, file_cache
from kgqa.kg.store.file_cache import store_of_files
from kgqa.kg.terms import Chain, Entity, Hop

TRIPLE = "<http://x/a> <http://x/r> <http://x/{}> .\n"
CHAIN = Chain(Entity("http://x/a"), (Hop("http://x/r"),))


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("KGQA_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(file_cache, "MIN_BYTES_KEPT", 1)
    return tmp_path / "home" / "graphs"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "g.nt"
    path.write_text(TRIPLE.format("b"))
    return path


@pytest.fixture
def builds(monkeypatch):
    """The folders that are built."""
    built, real = [], directory.build_store
    monkeypatch.setattr(file_cache, "build_store", lambda files, at: (built.append(at), real(files, at))[1])
    return built


def folders(home):
    return sorted(each for each in home.iterdir() if each.is_dir())


async def ends(*files):
    return [end.term.id for end in await open_graph(files).follow_chain(CHAIN)]


async def test_a_file_is_loaded_once_for_its_content(home, file, tmp_path, builds):
    assert await ends(file) == await ends(str(file)) == ["http://x/b"]
    (tmp_path / "elsewhere").mkdir()
    moved = file.rename(tmp_path / "elsewhere" / file.name)
    assert await ends(moved) == ["http://x/b"]
    assert len(builds) == 1
    assert (await open_graph([moved]).info()).source == str(moved)


async def test_a_file_that_changed_is_loaded_again_though_its_size_and_time_are_the_same(home, file, builds):
    assert await ends(file) == ["http://x/b"]
    about = file.stat()
    file.write_text(TRIPLE.format("c"))
    os.utime(file, ns=(about.st_atime_ns, about.st_mtime_ns))
    assert await ends(file) == ["http://x/c"]
    assert len(builds) == 2


async def test_several_files_are_one_graph(home, file, tmp_path):
    other = tmp_path / "h.ttl"
    other.write_text(TRIPLE.format("c"))
    assert await ends(file, other) == ["http://x/b", "http://x/c"]
    assert len(folders(home)) == 1


def test_a_folder_of_another_version_is_not_opened(home, file, monkeypatch, builds):
    store_of_files([file])
    monkeypatch.setattr(file_cache, "STORE_VERSION", 99)
    store_of_files([file])
    assert len(set(builds)) == 2


def test_a_small_file_is_read(home, file, monkeypatch):
    monkeypatch.setattr(file_cache, "MIN_BYTES_KEPT", file.stat().st_size + 1)
    assert store_of_files([file]) is None
    assert open_graph([file])
    assert not home.exists()


def test_those_who_load_at_once_wait_for_one(home, file, builds):
    with ThreadPoolExecutor(4) as threads:
        assert len(set(threads.map(lambda _: store_of_files([file]), range(4)))) == 1
    assert len(builds) == 1


async def test_where_no_folder_can_be_written_the_file_is_read(home, file):
    home.parent.write_text("no folder")
    assert store_of_files([file]) is None
    assert await ends(file) == ["http://x/b"]


async def test_where_there_is_no_room_the_file_is_read(home, file, monkeypatch):
    def build(*_):
        raise KGUnavailable("cannot write: No space left on device")

    monkeypatch.setattr(file_cache, "build_store", build)
    assert await ends(file) == ["http://x/b"]
    assert folders(home) == []


async def test_what_changes_while_it_is_loaded_is_not_kept(home, file, monkeypatch):
    def build(files, folder, real=directory.build_store):
        file.write_text(TRIPLE.format("c"))
        return real(files, folder)

    monkeypatch.setattr(file_cache, "build_store", build)
    assert await ends(file) == ["http://x/c"]
    assert folders(home) == []


def test_a_file_that_is_no_rdf_leaves_no_folder(home, file):
    file.write_text("no RDF")
    with pytest.raises(KGMalformed, match=r"g\.nt, line 1"):
        open_graph([file])
    assert folders(home) == []


def test_what_is_no_file_is_said_by_the_reader(home, tmp_path):
    os.mkfifo(tmp_path / "pipe.nt")
    for name, says in (("none.nt", "no such file"), ("pipe.nt", "no regular file")):
        with pytest.raises(KGUnavailable, match=says):
            open_graph([tmp_path / name])


def test_those_stay_that_were_opened_last_or_within_a_month(home, file, monkeypatch):
    monkeypatch.setattr(file_cache, "MAX_GRAPHS_KEPT", 2)
    built = []
    for name in "abcd":
        file.write_text(TRIPLE.format(name))
        built.append(store_of_files([file]))
    assert len(folders(home)) == 4
    for months, folder in enumerate(reversed(built), start=1):
        os.utime(folder / "kgqa.json", (0, folder.stat().st_mtime - months * 3_000_000))
    file.write_text(TRIPLE.format("e"))
    kept = [built[-1], store_of_files([file])]
    assert folders(home) == sorted(kept)
    assert {each.suffix for each in home.iterdir() if each.is_file()} <= {".lock"}


def test_what_is_kept_is_for_its_user_alone(home, file):
    home.mkdir(parents=True, mode=0o755)
    store_of_files([file])
    assert home.stat().st_mode & 0o077 == 0


async def test_a_folder_that_is_damaged_is_made_anew(home, file, builds):
    (store_of_files([file]) / "kgqa.json").write_text("{}")
    assert await ends(file) == ["http://x/b"]
    assert await ends(file) == ["http://x/b"]
    assert len(builds) == 2


def test_what_a_load_left_that_was_broken_off_goes_with_the_next(home, file):
    broken_off = home / "0123" / "build-0123456789abcdef"
    broken_off.mkdir(parents=True)
    folder = store_of_files([file])
    assert folders(home) == [folder]
