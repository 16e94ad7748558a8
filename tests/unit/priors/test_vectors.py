import subprocess
import sys
import threading

import numpy as np
import pytest

from kgqa.priors.encoder import VectorCache

TEXTS = ["mother", "father", "place of birth", "größe", "\ud800"]


class Counting:
    """An encoder that counts what it encodes."""

    def __init__(self, name="counting", dimensions=3):
        self.name, self.dimensions, self.encoded = name, dimensions, 0

    def encode(self, texts):
        self.encoded += len(texts)
        rows = np.array([[len(text) + 1, sum(map(ord, text)), 1] for text in texts], np.float32)
        rows = np.resize(rows, (len(texts), self.dimensions))
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.fixture
def cache(tmp_path):
    return VectorCache(Counting(), tmp_path)


def test_encodes_once(cache, tmp_path):
    first = cache.vectors(TEXTS)
    again = VectorCache(Counting(), tmp_path)
    assert np.array_equal(first, again.vectors(TEXTS))
    assert (cache.encoder.encoded, again.encoder.encoded) == (len(TEXTS), 0)
    assert isinstance(first, np.memmap) and not first.flags.writeable
    assert [path.suffix for path in tmp_path.iterdir()] == [".npy"]


def test_tells_encoders_texts_and_order_apart(cache, tmp_path):
    others = [VectorCache(Counting("other"), tmp_path), VectorCache(Counting(dimensions=4), tmp_path)]
    paths = [cache.path(TEXTS), cache.path(TEXTS[::-1]), cache.path(["ab", "c"]), cache.path(["a", "bc"])]
    assert len({*paths, *(other.path(TEXTS) for other in others)}) == 6


def test_nothing_to_encode(cache, tmp_path):
    assert cache.vectors([]).shape == (0, 3)
    assert not list(tmp_path.iterdir())


def broken(whole: bytes) -> list[bytes]:
    other_shape = b"\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1), }"
    pickled = b"\x93NUMPY\x01\x00v\x00{'descr': '|O', 'fortran_order': False, 'shape': (5, 3), }"
    header = len(whole) - len(TEXTS) * 3 * 4
    return [
        b"",
        b"x" * 500,
        whole[:50],
        whole[:-1],
        whole[:header],
        whole[:header] + bytes(len(whole) - header),
        whole[:header] + b"\xff" * (len(whole) - header),
        whole[:-4] + b"\x00\x00\x80\x7f",
        other_shape.ljust(127) + b"\n" + b"\x00\x00\x80\x3f",
        pickled.ljust(127) + b"\n" + b"cos\nsystem\n(S'true'\ntR.",
        whole.replace(b"<f4", b"<f8"),
        whole.replace(b"'shape'", b"__import"),
    ]


@pytest.mark.parametrize("case", range(12))
def test_a_file_that_cannot_be_right_is_made_anew(cache, case):
    expected = np.array(cache.vectors(TEXTS))
    path = cache.path(TEXTS)
    whole = path.read_bytes()
    path.write_bytes(broken(whole)[case])
    assert np.array_equal(cache.vectors(TEXTS), expected)
    assert path.read_bytes() == whole
    assert cache.encoder.encoded == 2 * len(TEXTS)


def test_a_folder_that_cannot_be_written(tmp_path, caplog):
    (tmp_path / "file").write_text("in the way")
    cache = VectorCache(Counting(), tmp_path / "file")
    assert cache.vectors(TEXTS).shape == (5, 3)
    assert "not kept" in caplog.text


def test_a_failed_write_leaves_nothing(cache, tmp_path, monkeypatch):
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError("full")))
    assert cache.vectors(TEXTS).shape == (5, 3)
    assert not list(tmp_path.iterdir())


def test_home_is_the_folder_unless_told_otherwise(tmp_path):
    cache = VectorCache(Counting())
    cache.vectors(TEXTS)
    assert cache.path(TEXTS).parent == tmp_path / "home" / "vectors"


def test_threads_share_a_folder(tmp_path):
    found = []
    work = [
        threading.Thread(target=lambda: found.append(VectorCache(Counting(), tmp_path).vectors(TEXTS)))
        for _ in range(8)
    ]
    for thread in work:
        thread.start()
    for thread in work:
        thread.join()
    assert len(found) == 8 and all(np.array_equal(rows, found[0]) for rows in found)


WRITER = """
import sys
from pathlib import Path
import numpy as np
from kgqa.priors.encoder import VectorCache
class Ones:
    name, dimensions = "ones", 4
    def encode(self, texts):
        return np.full((len(texts), 4), 0.5, np.float32)
for size in range(1, 60):
    rows = VectorCache(Ones(), Path(sys.argv[1])).vectors([f"text {n}" for n in range(size)])
    assert rows.shape == (size, 4) and (rows == 0.5).all()
"""


def test_processes_share_a_folder(tmp_path):
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)]) for _ in range(3)]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    assert len(list(tmp_path.iterdir())) == 59
