"""Questions, libraries, models, caches, checkpoints: tampered with, they give one line and run nothing."""

import asyncio
import gzip
import io
import json
import os
import sqlite3
import time
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kgqa.evaluation.datasets import DatasetError, load
from kgqa.evaluation.record_files import UnreadableFile, read_json_records
from kgqa.files import gunzip, read_file
from kgqa.models.cache import SqliteCache
from kgqa.priors.artifact_store import content_digest
from kgqa.priors.blueprints import build_blueprints, open_library
from kgqa.priors.errors import BlueprintError, ExemplarError
from kgqa.priors.exemplars import build_exemplars
from kgqa.priors.hub_models import check_model_folder
from kgqa.priors.training_questions import RelationPath, Topic, TrainingQuestion, read_relations
from kgqa.priors.vector_index import VectorIndex, VectorLabel
from kgqa.tests.hostile.conftest import Tried
from kgqa.tests.support.builds import built, open_exemplars, open_solution_index

EXAMPLES = [
    TrainingQuestion(
        f"Who wrote {name}?", (Topic(f"http://x/{name}", name),), paths=(RelationPath(None, ("^wrote",)),)
    )
    for name in ("Faust", "Emma", "Dune")
]


@cache
def bomb() -> bytes:
    return gzip.compress(b'{"question":"' + b"a" * (300 << 20), 1, mtime=0)


class Run:
    """What nobody may make."""

    made = False

    def __reduce__(self) -> Any:
        return _mark, ()


def _mark() -> None:
    Run.made = True


PICKLE = f"c{__name__}\n_mark\n(tR.".encode()
"""A pickle that calls `_mark` when it is read."""


def encode(texts: Any) -> Any:
    rows = np.array([[len(text), text.count("e") + 1] for text in texts], np.float32).reshape(-1, 2)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def refuses(call: Any, *kinds: type[Exception]) -> None:
    start = time.process_time()
    with pytest.raises(kinds) as caught:
        call()
    assert len(str(caught.value).splitlines()) == 1
    assert time.process_time() - start < 5
    assert not Run.made


def test_questions_and_results(tmp_path: Path, tried: Tried) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "zeros.jsonl").symlink_to("/dev/zero")
    (tmp_path / "bomb.jsonl.gz").write_bytes(bomb())
    (tmp_path / "deep.json").write_bytes(b"[" * 1_000_000)
    (tmp_path / "lines.jsonl").write_bytes(b"{}\n" * 2_100_000)
    paths = [
        tmp_path / name for name in ("pipe.jsonl", "zeros.jsonl", "bomb.jsonl.gz", "deep.json", "lines.jsonl")
    ]
    refuses(lambda: load(paths[0], pipes=False), DatasetError)
    for path in paths[1:]:
        refuses(lambda path=path: load(path), DatasetError)
    for path in (paths[1], paths[3]):
        refuses(lambda path=path: read_json_records(path), UnreadableFile)
    for path in paths[:2]:
        refuses(lambda path=path: read_relations(path), BlueprintError)
    refuses(lambda: gunzip(bomb(), 1 << 20), OSError)
    refuses(lambda: read_file(tmp_path / "lines.jsonl", 100), OSError)
    (tmp_path / "brackets.txt").write_bytes(b"who " + b"[" * 100_000 + b"\tA\n")
    start = time.process_time()
    assert not load(tmp_path / "brackets.txt").questions[0].topics
    assert time.process_time() - start < 2
    tried(inputs=12)


def test_ids_of_questions_are_no_paths(tmp_path: Path) -> None:
    line = {"id": "../../../evil", "question": "who?", "answers": [{"id": "/etc/passwd"}]}
    (tmp_path / "q.jsonl").write_text(json.dumps(line), encoding="utf-8")
    assert load(tmp_path / "q.jsonl").questions[0].id == "../../../evil"
    assert {path.name for path in tmp_path.iterdir()} == {"q.jsonl"}


def index(rows: int, dimensions: int, floats: int, tail: bytes) -> bytes:
    import struct

    head = struct.pack("<4siqqqBiQ", b"IxFI", dimensions, rows, 1 << 20, 1 << 20, 1, 0, floats)
    return head + tail


def test_indexes(tried: Tried) -> None:
    good = VectorIndex([VectorLabel("a", 1)], encode(["a"])).to_bytes()
    assert VectorIndex.from_bytes([VectorLabel("a", 1)], good, 2).to_bytes() == good
    nan, huge = np.full(2, np.nan, "<f4").tobytes(), np.full(2, 3e38, "<f4").tobytes()
    hostile = [
        *(b"", good[:-1], good + b"\0", b"IxFI", os.urandom(200), good.replace(b"IxFI", b"IwFl")),
        *(index(1, 2, 2, nan), index(1, 2, 2, huge), index(1 << 60, 2, 2, good[-8:])),
        *(index(1, 2, 1 << 62, good[-8:]), index(-1, 2, 2, good[-8:]), PICKLE),
    ]
    for packed in hostile:
        refuses(lambda given=packed: VectorIndex.from_bytes([VectorLabel("a", 1)], given, 2), ValueError)
    for dimensions in (0, -1, 1 << 40):
        refuses(
            lambda width=dimensions: VectorIndex.from_bytes([VectorLabel("a", 1)], good, width), ValueError
        )
    tried(inputs=len(hostile) + 3)


def tampered(folder: Path, name: str, field: str, content: bytes) -> None:
    """Put other content into a file of a folder, and its digest into the header."""
    header = next(folder.glob("[be]*s.json"))
    said = json.loads(header.read_bytes()) | {field: content_digest(content)}
    header.write_text(json.dumps(said), encoding="utf-8")
    built(folder, name).write_bytes(content)


def arrays(packed: bytes, **other: Any) -> bytes:
    with np.load(io.BytesIO(packed)) as file:
        known = {name: file[name] for name in file.files}
    buffer = io.BytesIO()
    np.savez(buffer, **{name: array for name, array in (known | other).items() if array is not None})
    return buffer.getvalue()


def test_libraries_and_exemplars(tmp_path: Path, tried: Tried) -> None:
    library, exemplars = tmp_path / "library", tmp_path / "exemplars"
    build_blueprints(EXAMPLES, library, encode, "e")
    build_exemplars(EXAMPLES, exemplars, encode, "e")
    whole = built(exemplars, "model.npz").read_bytes()
    squeezed = io.BytesIO()
    np.savez_compressed(squeezed, vectors=np.zeros((1 << 24,), np.float32))
    models = [
        *(b"", b"PK\3\4", os.urandom(500), whole[:-30], squeezed.getvalue(), PICKLE),
        *(arrays(whole, vectors=None), arrays(whole, vectors=np.array([Run()], object))),
        *(arrays(whole, vectors=np.full((1, 2), np.nan, np.float32)), arrays(whole, weights=np.zeros(99))),
        *(arrays(whole, bias_0=np.zeros((7,))), arrays(whole, owners=np.array([0, 1 << 40]))),
        arrays(whole, places=np.array([-5])),
    ]
    for content in models:
        tampered(exemplars, "model.npz", "model", content)
        refuses(lambda: open_exemplars(exemplars, encode, "e"), ExemplarError)
    lines = [b"[" * 100_000, b"{}\n", b"\xff\n", b'{"template": 1}\n', b"null\n"]
    for content in lines:
        tampered(library, "records.jsonl", "records", content)
        refuses(lambda: open_library(library, encode, "e"), BlueprintError)
        tampered(exemplars, "solutions.jsonl", "solutions", content)
        refuses(lambda: open_solution_index(exemplars, encode, "e"), ExemplarError)
    records = built(library, "records.jsonl")
    records.unlink()
    os.mkfifo(records)
    refuses(lambda: open_library(library, encode, "e"), BlueprintError)
    for content in (b"[" * 100_000, b"", b"[]", b'{"version": 1, "records": "../../etc/passwd"}'):
        (library / "blueprints.json").write_bytes(content)
        refuses(lambda: open_library(library, encode, "e"), BlueprintError)
    tried(inputs=len(models) + 2 * len(lines) + 5)


def test_folders_of_models(tmp_path: Path, tried: Tried) -> None:
    named = {"sentence_transformers": {"activation_fn": "torch.hub.load"}}
    for name, content in {
        "pytorch_model.bin": PICKLE,
        "model.pt": b"",
        "1_Dense/pytorch_model.bin": b"",
        "config.json": json.dumps(named).encode(),
        "1_Dense/config.json": b'{"activation_function": "os.abort"}',
    }.items():
        folder = tmp_path / name.replace("/", "_")
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_bytes(content)
        refuses(lambda folder=folder: check_model_folder(folder), OSError)
    (tmp_path / "pipe").mkdir()
    os.mkfifo(tmp_path / "pipe" / "config.json")
    refuses(lambda: check_model_folder(tmp_path / "pipe"), OSError)
    (tmp_path / "whole").mkdir()
    (tmp_path / "whole" / "config.json").write_text('{"activation_function": "gelu_new"}', encoding="utf-8")
    check_model_folder(tmp_path / "whole")
    tried(inputs=6)


WIDTH = 8
MODEL = {"hidden_size": WIDTH, "num_hidden_layers": 1, "num_attention_heads": 2, "layer_norm_eps": 1e-12}


def weights(words: int) -> dict[str, Any]:
    """Return the weights of a model of one layer."""
    chance = np.random.default_rng(0)
    layer = "encoder.layer.0"
    dense = {f"attention.self.{part}": (WIDTH, WIDTH) for part in ("query", "key", "value")}
    dense |= {"attention.output.dense": (WIDTH, WIDTH), "intermediate.dense": (4 * WIDTH, WIDTH)}
    dense |= {"output.dense": (WIDTH, 4 * WIDTH)}
    rows = {"word": words, "position": 512, "token_type": 2}
    shapes: dict[str, tuple[int, ...]] = {
        f"embeddings.{kind}_embeddings.weight": (n, WIDTH) for kind, n in rows.items()
    }
    for name, shape in dense.items():
        shapes |= {f"{layer}.{name}.weight": shape, f"{layer}.{name}.bias": shape[:1]}
    norms = ("embeddings", f"{layer}.attention.output", f"{layer}.output")
    shapes |= {f"{norm}.LayerNorm.{part}": (WIDTH,) for norm in norms for part in ("weight", "bias")}
    return {name: chance.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of numpy: overflows
def test_weights_of_an_encoder(tmp_path: Path, tried: Tried) -> None:
    """Headers that lie, sizes that do not fit, numbers that are none: one line, and never a vector of NaN."""
    from safetensors.numpy import save
    from tokenizers import Tokenizer, models, pre_tokenizers

    from kgqa.priors.errors import EncoderError
    from kgqa.priors.minilm import MiniLM

    words = {word: place for place, word in enumerate(("[UNK]", "a", "town", "sea"))}
    tokenizer = Tokenizer(models.WordLevel(words, "[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    good = weights(len(words))

    def encoded(content: bytes, **config: Any) -> Any:
        (tmp_path / "config.json").write_text(json.dumps({**MODEL, **config}), encoding="utf-8")
        (tmp_path / "model.safetensors").write_bytes(content)
        return MiniLM(tmp_path).encode(["a town", "sea " * 999])

    def headed(header: bytes, size: int | None = None) -> bytes:
        return (len(header) if size is None else size).to_bytes(8, "little") + header + bytes(8)

    whole = save(good)
    assert np.allclose(np.linalg.norm(encoded(whole), axis=1), 1)
    one = b'{"a": {"dtype": "%b", "shape": [%d], "data_offsets": [%d, %d]}}'
    files = [
        *(headed(b"{}", size) for size in (2**64 - 1, 2**63, 10**8, 3)),
        *map(headed, (b"", b"none", b"[]", b"[" * 10**6, b'{"a": 1}', b'{"\n": {}}')),
        *(headed(one % odd) for odd in ((b"F32", 2, 0, 99), (b"F32", -2, 0, 8), (b"F32", 2**62, 0, 8))),
        *(headed(one % odd) for odd in ((b"Q9", 2, 0, 8), (b"F32", 2, 8, 0), (b"F32", 2, 0, 8))),
        *(save({name: each * np.float32(by) for name, each in good.items()}) for by in (np.nan, 1e38, 0)),
        *(save({name: each.astype(kind) for name, each in good.items()}) for kind in (np.int32, bool)),
        *(save({**good, name: each.view(np.int32)}) for name, each in good.items()),
        *(save({**good, name: each[:1]}) for name, each in good.items() if each.ndim > 1 and len(each) > 2),
        *(save({**good, name: each[:, :1].copy()}) for name, each in good.items() if each.ndim > 1),
        *(whole[:at] for at in range(0, len(whole), len(whole) // 9)),
    ]
    for content in files:
        refuses(lambda content=content: encoded(content), EncoderError)
    odd = {"hidden_size": 10**12, "num_hidden_layers": 2, "num_attention_heads": 3, "layer_norm_eps": -1e9}
    configs: list[dict[str, Any]] = [{name: value} for name, value in odd.items()]
    configs += [{name: value} for name in MODEL for value in ("x", [], {})]
    configs += [{name: value} for name in ("hidden_size", "num_attention_heads") for value in (-1, 0, None)]
    for config in configs:
        refuses(lambda config=config: encoded(whole, **config), EncoderError)
    tried(inputs=len(files) + len(configs))


def test_folders_of_models_that_name_code(tmp_path: Path) -> None:
    from kgqa.priors.errors import EncoderError
    from kgqa.priors.hub_models import SentenceEncoder

    pytest.importorskip("sentence_transformers")
    modules = [{"idx": 0, "name": "0", "path": "", "type": "evil.Evil"}]
    (tmp_path / "modules.json").write_text(json.dumps(modules), encoding="utf-8")
    (tmp_path / "evil.py").write_text("raise SystemExit('ran')", encoding="utf-8")
    (tmp_path / "config.json").write_text('{"model_type": "bert"}', encoding="utf-8")
    refuses(lambda: SentenceEncoder(str(tmp_path)), EncoderError)


def test_rows_of_a_cache(tmp_path: Path, tried: Tried) -> None:
    from langchain_core.messages import AIMessage
    from langchain_core.outputs import ChatGeneration

    cache = SqliteCache(tmp_path / "cache.sqlite")
    cache.update("p", "l", [ChatGeneration(message=AIMessage("hi"))])
    assert cache.lookup("p", "l")
    made = {
        "lc": 1,
        "type": "constructor",
        "id": ["langchain_core", "prompts", "PromptTemplate"],
        "kwargs": {},
    }
    rows = [
        *(b"\xff\xfe", "[" * 100_000, "null", json.dumps(made), "{}"),
        *(
            json.dumps({"version": 1, "messages": given})
            for given in (made, [made], [{"type": "ai", "data": made}])
        ),
        *(
            json.dumps({"version": 1, "messages": given})
            for given in ([], 3, [[]], [{"type": "human", "data": {}}])
        ),
    ]
    for row in rows:
        with sqlite3.connect(cache.path) as database:
            database.execute("UPDATE replies SET reply = ?", (row,))
        database.close()
        assert cache.lookup("p", "l") is None
    (tmp_path / "cache.sqlite").write_bytes(os.urandom(10_000))
    assert cache.lookup("p", "l") is None
    tried(inputs=len(rows) + 1)


def test_checkpoints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tried: Tried) -> None:
    pytest.importorskip("langgraph.checkpoint.sqlite")
    import ormsgpack
    from langgraph.checkpoint.base import empty_checkpoint

    from kgqa.serving.checkpoints import SQLITE_FILE, checkpointer

    monkeypatch.setenv("KGQA_CHECKPOINTS", str(tmp_path))
    config: Any = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}
    called = ormsgpack.packb((__name__, "_mark", []))
    hostile = [
        ("pickle", PICKLE),
        ("json", json.dumps({"lc": 2, "type": "constructor", "id": [__name__, "_mark"]}).encode()),
        ("json", json.dumps({"lc": 1, "type": "constructor", "id": ["langchain", "llms", "x"]}).encode()),
        ("msgpack", b"\xc1"),
        ("msgpack", b"\x91" * 100_000),
        *(("msgpack", ormsgpack.packb(ormsgpack.Ext(code, called))) for code in range(8)),
    ]

    async def look(kind: str, blob: bytes) -> None:
        async with checkpointer() as saver:
            await saver.aput(config, empty_checkpoint(), {"step": 0}, {})
            with sqlite3.connect(tmp_path / SQLITE_FILE) as database:
                database.execute("UPDATE checkpoints SET type = ?, checkpoint = ?", (kind, blob))
            database.close()
            try:
                await saver.aget_tuple(config)
            except ValueError as error:
                assert len(str(error).splitlines()) == 1
                assert str(error).endswith("begin a new thread")
            else:
                assert kind == "msgpack"

    for kind, blob in hostile:
        asyncio.run(look(kind, blob))
    assert not Run.made
    tried(inputs=len(hostile))
