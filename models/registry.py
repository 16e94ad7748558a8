"""Opens models by spec.

| spec | model |
|---|---|
| ``offline`` | no language model: an encoder, the graph, and training questions where given |
| ``offline:without=PART+PART`` | the same without some of its parts, to see what they bring |
| ``provider:name`` | a language model behind LangChain, for instance ``openai:gpt-4.1-mini`` |
| ``name`` | the same as ``openai:name`` |
"""

import os
from collections.abc import Callable
from pathlib import Path

from kgqa.models.errors import UnknownModel
from kgqa.models.interface import Model

OFFLINE_SPEC = "offline"

MAX_REPLY_TOKENS = 2048
"""Tokens of one reply at most, so that a model which rambles does not use up the budget."""


def default_spec() -> str:
    """Return the model of a run that names none: KGQA_MODEL, else by whether OPENAI_API_KEY is set."""
    named = os.environ.get("KGQA_MODEL")
    return named or ("openai:gpt-4.1-mini" if os.environ.get("OPENAI_API_KEY") else OFFLINE_SPEC)


def open_model(
    spec: str,
    *,
    offline: Callable[[str], Model] | None = None,
    cache: Path | None = None,
) -> Model:
    """Open the model that ``spec`` names; reads from disk, so not for the event loop.

    ``offline`` makes the offline model of a spec, which needs a graph and an encoder. Replies of language
    models are kept in the file ``cache``, else in that of KGQA_CACHE, else nowhere.

    Raises:
        UnknownModel: in one line, if nothing goes by this name or what it needs is missing.
    """
    provider, colon, name = spec.strip().partition(":")
    if is_offline(spec):
        if offline is None:
            raise UnknownModel("offline needs a graph; make one: kgqa.models.offline.OfflineModel")
        return offline(spec.strip())
    if provider == "scripted":
        raise UnknownModel("scripted models are made in Python: kgqa.models.scripted.ScriptedModel")
    if provider == "simulated":
        raise UnknownModel("a simulated model answers from the gold of a question; ask it with kgqa eval")
    if "://" in spec:
        raise UnknownModel("an address names no model; write provider:name, and set OPENAI_BASE_URL to it")
    if not provider or (colon and not name):
        raise UnknownModel(f"{spec!r} names no model; write provider:name or offline")
    if cache is None and (named := os.environ.get("KGQA_CACHE")):
        if "://" in named:
            raise UnknownModel("KGQA_CACHE names a file, not an address")
        cache = Path(named).expanduser()
    from kgqa.models.chat import ChatModel

    full_name = f"{provider}:{name}" if colon else f"openai:{provider}"
    return ChatModel(full_name, cache=cache, max_tokens=MAX_REPLY_TOKENS)


def is_offline(spec: str) -> bool:
    """Return whether a spec names the offline model, whole or without some of its parts."""
    return spec.strip().partition(":")[0] == OFFLINE_SPEC
