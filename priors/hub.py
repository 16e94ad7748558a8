"""Opens models of sentence-transformers, by folder or by the name that the hub of Hugging Face has."""

import json
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from kgqa.kg.files import read_file

T = TypeVar("T")

SECONDS = 10
"""How long the hub may take to answer at all."""

PICKLES = (".bin", ".pt", ".pth", ".pkl", ".ckpt", ".joblib")
"""How files of weights end that are pickles, or may be."""

ACTIVATIONS = ("activation_fn", "activation_function", "sbert_ce_default_activation_function")
"""Where a configuration names a function by its place in Python."""

CONFIG = 1 << 20
"""Bytes of a configuration at most."""

LIBRARIES = ("huggingface_hub", "transformers", "sentence_transformers")


def opened(kind: Callable[..., T], model: str) -> T:
    """Open a model on the CPU: a folder, or a name, which is fetched once and kept (blocking).

    Where the hub does not answer, only what was fetched before is looked at: its client
    would try for most of a minute, and say so each time. Weights are read from safetensors only:
    other files of weights are pickles, which can run anything. Nor is code of a model's own run.

    Args:
        kind: a class of sentence-transformers.
        model: the folder, or the name.

    Raises:
        OSError: in one line, if it cannot be opened.
    """
    from huggingface_hub.errors import HFValidationError
    from transformers.utils import logging as transformers_logging

    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    folder = Path(model).is_dir()
    try:
        if folder:
            check(Path(model))
        with _quiet():
            return kind(
                model,
                device="cpu",
                local_files_only=folder or not _asked(model),
                trust_remote_code=False,
                model_kwargs={"use_safetensors": True},
            )
    except HFValidationError:
        raise OSError("there is no such folder") from None
    except Exception as error:  # whatever the hub, torch and the files' readers raise
        raise OSError((str(error).splitlines() or [type(error).__name__])[0]) from error


def check(folder: Path) -> None:
    """Refuse a folder of a model that could run more than a model.

    Raises:
        OSError: in one line, that says what is wrong with it.
    """
    for file in sorted(folder.rglob("*")):
        shown = file.relative_to(folder)
        if file.exists() and not (file.is_file() or file.is_dir()):
            raise OSError(f"{shown} is no file")
        if file.suffix in PICKLES and not any(file.parent.glob("*.safetensors")):
            raise OSError(f"{shown} may be a pickle, which can run anything; save it as safetensors")
        if file.suffix == ".json" and "config" in file.name and not _calls_torch_only(file):
            raise OSError(f"{shown} names a function that is none of torch.nn")


def _calls_torch_only(config: Path) -> bool:
    """Tell whether the functions that a configuration names, which are made, are layers of torch."""
    try:
        known = json.loads(read_file(config, CONFIG))
    except (ValueError, RecursionError):
        return True  # whoever reads it says what is wrong
    inner = known.get("sentence_transformers") if isinstance(known, dict) else None
    named = [each.get(key) for each in (known, inner) if isinstance(each, dict) for key in ACTIVATIONS]
    return all(str(name).startswith("torch.nn.") for name in named if "." in str(name))


def _asked(model: str) -> bool:
    """Ask the hub for a model, and tell whether it answers anything.

    Raises:
        HFValidationError: if no model can have this name.
    """
    from huggingface_hub import get_session, hf_hub_url

    address = hf_hub_url(model, "config.json")
    try:
        get_session().head(address, timeout=SECONDS)
    except Exception:  # no network, a proxy that refuses, offline mode: each raises its own
        return False
    return True


@contextmanager
def _quiet() -> Iterator[None]:
    """Hold back what the libraries warn of: what matters comes as an exception."""
    levels = {logging.getLogger(name): logging.getLogger(name).level for name in LIBRARIES}
    for logger in levels:
        logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        for logger, level in levels.items():
            logger.setLevel(level)
