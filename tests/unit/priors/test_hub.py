"""Models by name: the hub is asked once, and what the libraries warn of is held back."""

import logging
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kgqa.priors.encoder import open_encoder
from kgqa.priors.errors import EncoderError
from kgqa.priors.hub_models import QUIET_LOGGERS, open_model
from kgqa.priors.nli import NLIError, open_contradiction_detector

needs_encoders = pytest.mark.skipif(find_spec("transformers") is None, reason="needs the extra encoders")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Stand for a hub that does not answer: the addresses it was asked for."""
    addresses: list[str] = []

    def head(address: str, timeout: float) -> None:
        addresses.append(address)
        raise ConnectionError("Name or service not known")

    monkeypatch.setattr("huggingface_hub.get_session", lambda: SimpleNamespace(head=head))
    return addresses


def options(model: str, **given: Any) -> dict[str, Any]:
    return {"model": model, **given}


@needs_encoders
def test_without_the_hub_only_the_disk_is_looked_at(asked: list[str]) -> None:
    assert open_model(options, "some/model") == {
        "model": "some/model",
        "device": "cpu",
        "local_files_only": True,
        "trust_remote_code": False,
        "model_kwargs": {"use_safetensors": True},
    }
    assert asked == ["https://huggingface.co/some/model/resolve/main/config.json"]


@needs_encoders
def test_a_hub_that_answers_anything_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.get_session", lambda: SimpleNamespace(head=lambda *_, **__: None))
    assert open_model(options, "some/model")["local_files_only"] is False


@needs_encoders
def test_of_a_folder_the_hub_is_not_asked(asked: list[str], tmp_path: Path) -> None:
    assert open_model(options, str(tmp_path))["local_files_only"] is True
    assert asked == []


@needs_encoders
def test_what_no_model_can_be_called_is_no_folder(asked: list[str], tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"^there is no such folder$"):
        open_model(options, str(tmp_path / "missing"))
    assert asked == []


@needs_encoders
@pytest.mark.parametrize(("said", "told"), [("broken\nin many ways", "broken"), ("", "RuntimeError")])
def test_any_failure_is_one_line(tmp_path: Path, said: str, told: str) -> None:
    def fail(model: str, **_: Any) -> None:
        raise RuntimeError(said)

    with pytest.raises(OSError, match=f"^{told}$"):
        open_model(fail, str(tmp_path))


@needs_encoders
@pytest.mark.parametrize("library", QUIET_LOGGERS)
def test_the_libraries_are_quiet_meanwhile(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, library: str
) -> None:
    logger = logging.getLogger(library)
    before = logger.level

    def warn(model: str, **_: Any) -> bool:
        logger.warning("Retrying in 8s [Retry 5/5].")
        return logger.isEnabledFor(logging.ERROR)

    assert open_model(warn, str(tmp_path))
    assert caplog.messages == []
    assert logger.level == before


@needs_encoders
def test_a_name_that_cannot_be_fetched_is_one_error_and_no_more(
    asked: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(NLIError, match="cannot open the NLI model no/such-model: "):
        open_contradiction_detector("no/such-model")
    assert len(asked) == 1
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("missing", ["torch", "sentence_transformers"])
def test_without_the_extra_one_line_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    needed = r"needs torch and sentence-transformers: pip install 'kgqa\[encoders\]'$"
    with pytest.raises(EncoderError, match=f"^the encoder some/model {needed}"):
        open_encoder("some/model")
    with pytest.raises(NLIError, match=f"^the NLI model some/model {needed}"):
        open_contradiction_detector("some/model")


EVERYDAY = """
import sys

extra = ("torch", "sentence_transformers", "transformers")
sys.modules.update(dict.fromkeys(extra))  # whoever imports one of them fails
import kgqa
from kgqa.priors.encoder import open_encoder
from kgqa.priors.exemplars import read_exemplars
from kgqa.priors.blueprints import open_library
from kgqa.priors.nli import open_contradiction_detector

record = kgqa.ask("Who directed Alien?", kg=sys.argv[1], model="offline", method="vog")
print(record["answers"][0]["name"], open_encoder().name, open_contradiction_detector().name)
"""

FILMS = """
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
<http://x/alien> rdfs:label "Alien" ; <http://x/director> <http://x/scott> .
<http://x/scott> rdfs:label "Ridley Scott" .
"""


def test_an_everyday_run_needs_nothing_of_the_extra(tmp_path: Path) -> None:
    (tmp_path / "films.ttl").write_text(FILMS)
    command = [sys.executable, "-c", EVERYDAY, str(tmp_path / "films.ttl")]
    ended = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=100)
    assert (ended.stdout, ended.returncode) == ("Ridley Scott all-MiniLM-L6-v2 rules\n", 0), ended.stderr
