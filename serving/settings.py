"""What the operator has set in the environment: keys, caps, names that may be given, tracing."""

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from pydantic import Field, TypeAdapter, ValidationError

from kgqa.models.registry import default_spec
from kgqa.runtime.budget import Budget
from kgqa.runtime.context import default_graph, default_max_tokens
from kgqa.runtime.server_limits import InputLimits, Limits
from kgqa.serving.authentication import KEYS_VARIABLE, Authenticator, read_keys
from kgqa.serving.server_patches import stop_usage_reports

TRACING_VARIABLE = "LANGSMITH_TRACING"

TRACING_VARIABLES = (TRACING_VARIABLE, "LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING_V2", "LANGCHAIN_TRACING")
"""The names that the setting has; the first that is set counts. LangGraph's server itself sets the first."""

FIRST_SERVER_VARIABLE = "LANGSMITH_LANGGRAPH_API_VARIANT"
"""What ``langgraph dev`` sets before anything else: what stands before it in the environment was there."""


class Caps(Budget):
    """What a caller can be held to: the fields of a budget, and the tokens of one reply."""

    max_tokens: int | None = Field(default_factory=default_max_tokens, ge=1, validate_default=True)


MCP_SPARQL_VARIABLE = "KGQA_MCP_SPARQL"

DATASETS_VARIABLE = "KGQA_DATASETS"

ALLOW_VARIABLES = ("KGQA_ALLOW_KG", "KGQA_ALLOW_MODEL", "KGQA_ALLOW_PRIORS")
CAP_VARIABLES = {f"KGQA_CAP_{name.upper()}": name for name in Caps.model_fields}

INPUT_LIMITS = InputLimits(question=4_000, topics=100, name=1_000)  # what every server holds its callers to


def disable_unrequested_tracing() -> None:
    """Turn tracing by LangSmith and usage reports off, unless they are asked for; blocking.

    LangGraph's server turns tracing on by itself as soon as LANGSMITH_API_KEY is set. Here a key
    alone asks for nothing: LANGSMITH_TRACING=true does, in the environment or in ``.env``.
    """
    if tracing_requested(os.environ, Path(".env")):
        return
    os.environ[TRACING_VARIABLE] = "false"
    if langsmith := sys.modules.get("langsmith.utils"):
        langsmith.get_env_var.cache_clear()
    stop_usage_reports()


def tracing_requested(environment: Mapping[str, str], file: Path) -> bool:
    """Return whether somebody has turned tracing on, in the environment or in a file of settings beside it.

    The variables are in the order in which they were set. ValueError says why the file cannot be read.
    """
    names = list(environment)
    before = names[: names.index(FIRST_SERVER_VARIABLE)] if FIRST_SERVER_VARIABLE in environment else names
    own = {name: environment[name] for name in before}
    if file.is_file():
        from dotenv import dotenv_values

        try:
            own |= {name: value or "" for name, value in dotenv_values(file).items()}
        except (OSError, ValueError) as error:
            way_out = "write it as UTF-8, one NAME=value a line"
            raise ValueError(f"cannot read {file}: {error}; {way_out}") from None
    return next((own[name] for name in TRACING_VARIABLES if name in own), "").lower() in {"true", "1"}


def read_authenticator(environment: Mapping[str, str]) -> Authenticator:
    """Read who is let in: without keys, only this machine is; ValueError if a key cannot be taken.

    The pages that may call are those of ``cors`` in ``langgraph.json``, which LangGraph's
    server has in its environment.
    """
    cors = json.loads(environment.get("LANGGRAPH_HTTP") or "{}").get("cors") or {}
    keys = read_keys(environment.get(KEYS_VARIABLE, ""))
    return Authenticator(keys, frozenset(cors.get("allow_origins", ())), cors.get("allow_origin_regex"))


def read_limits(environment: Mapping[str, str]) -> Limits:
    """Read the limits; with keys, what is not set is held to the defaults. ValueError: a cap is no number."""
    listed = (environment.get(variable, "").split(",") for variable in ALLOW_VARIABLES)
    graphs, model, priors = (tuple(filter(None, map(str.strip, names))) or None for names in listed)
    kg = tuple((name,) for name in graphs) if graphs else None
    caps = _read_caps(environment)
    if not environment.get(KEYS_VARIABLE):
        anything = kg is None and model is None and priors is None
        return Limits(caps, kg, model, priors if anything else priors or (), INPUT_LIMITS, plugins=False)
    own = {name: value for name, value in Caps().model_dump().items() if value is not None}
    return Limits(
        {**own, **caps},
        kg or (default_graph(environment),),
        model or (default_spec(),),
        priors or (),
        INPUT_LIMITS,
        plugins=False,
    )


def read_mcp_sparql(environment: Mapping[str, str]) -> bool:
    """Read whether callers of ``/mcp`` may write SPARQL; ValueError if it is neither yes nor no."""
    said = environment.get(MCP_SPARQL_VARIABLE, "").strip().lower()
    if said not in {"", "0", "1", "false", "true"}:
        raise ValueError(f"{MCP_SPARQL_VARIABLE}: write true or false, not {said!r}")
    return said in {"1", "true"}


def read_datasets(environment: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Read which graph each dataset of ``/text2sparql`` is; ValueError if this is no JSON of names.

    >>> read_datasets({"KGQA_DATASETS": '{"http://x.org/shop/": "shop.ttl"}'})
    {'http://x.org/shop/': ('shop.ttl',)}
    """
    try:
        found = TypeAdapter(dict[str, tuple[str, ...] | str]).validate_json(
            environment.get(DATASETS_VARIABLE) or "{}"
        )
    except ValidationError:
        example = """'{"http://x.org/shop/": "shop.ttl"}'"""
        raise ValueError(f"{DATASETS_VARIABLE}: write ids and graphs as JSON, such as {example}") from None
    return {id: (graph,) if isinstance(graph, str) else graph for id, graph in found.items()}


def read_calls_at_once(environment: Mapping[str, str]) -> int:
    """Return how many calls of ``/mcp`` or ``/text2sparql`` are worked on at a time: as many as runs are."""
    return int(environment.get("N_JOBS_PER_WORKER") or 10)


def _read_caps(environment: Mapping[str, str]) -> dict[str, float]:
    """Read the caps, each as what it may be."""
    caps: dict[str, float] = {}
    for variable, name in CAP_VARIABLES.items():
        if environment.get(variable):
            try:
                caps[name] = getattr(Caps.model_validate({name: environment[variable]}), name)
            except ValidationError as error:
                raise ValueError(f"{variable}: {error.errors()[0]['msg']}") from None
    return caps
