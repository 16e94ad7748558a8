"""What the operator has set in the environment: keys, caps, names that may be given, tracing."""

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from kgqa.models.registry import default_spec
from kgqa.runtime.context import Budget
from kgqa.runtime.limits import Limits
from kgqa.serving.authentication import KEYS_VARIABLE, Authenticator, Origins, read_keys
from kgqa.serving.request_limits import REQUEST_BOUNDS

TRACING_VARIABLE = "LANGSMITH_TRACING"

TRACING_VARIABLES = (TRACING_VARIABLE, "LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING_V2", "LANGCHAIN_TRACING")
"""The names that the setting has; the first that is set counts. LangGraph's server itself sets the first."""

FIRST_SERVER_VARIABLE = "LANGSMITH_LANGGRAPH_API_VARIANT"
"""What ``langgraph dev`` sets before anything else: what stands before it in the environment was there."""

_KEY = "LANGSMITH_CONTROL_PLANE_API_KEY"


def disable_unrequested_tracing() -> None:
    """Turn tracing and reports off, unless they are asked for; at the start of a server (blocking)."""
    if tracing_requested(os.environ, Path(".env")):
        return
    os.environ[TRACING_VARIABLE] = "false"
    if langsmith := sys.modules.get("langsmith.utils"):
        langsmith.get_env_var.cache_clear()
    metadata: Any = sys.modules.get("langgraph_api.metadata")
    if getattr(metadata, _KEY, None):
        setattr(metadata, _KEY, "")


def tracing_requested(environment: Mapping[str, str], file: Path) -> bool:
    """Return whether somebody has turned tracing on.

    Args:
        environment: the variables, in the order in which they were set.
        file: settings beside it, where there are any.

    Raises:
        ValueError: in one line, if they cannot be read.
    """
    names = list(environment)
    before = names[: names.index(FIRST_SERVER_VARIABLE)] if FIRST_SERVER_VARIABLE in environment else names
    own = {name: environment[name] for name in before}
    own |= _read_env_file(file) if file.is_file() else {}
    said = next((own[name] for name in TRACING_VARIABLES if name in own), "")
    return said.lower() in {"true", "1"}


def _read_env_file(file: Path) -> dict[str, str]:
    from dotenv import dotenv_values

    try:
        return {name: value or "" for name, value in dotenv_values(file).items()}
    except (OSError, ValueError) as error:
        raise ValueError(f"cannot read {file}: {error}; write it as UTF-8, one NAME=value a line") from None


ALLOW_VARIABLES = ("KGQA_ALLOW_KG", "KGQA_ALLOW_MODEL", "KGQA_ALLOW_PRIORS")
CAP_VARIABLES = {f"KGQA_CAP_{name.upper()}": name for name in Budget.model_fields}


def read_authenticator(environment: Mapping[str, str]) -> Authenticator:
    """Read who is let in: without keys, only this machine is.

    The pages that may call are those of ``cors`` in ``langgraph.json``, which LangGraph's
    server has in its environment.

    Raises:
        ValueError: in one line, if a key cannot be taken.
    """
    cors = json.loads(environment.get("LANGGRAPH_HTTP") or "{}").get("cors") or {}
    origins = Origins(frozenset(cors.get("allow_origins", ())), cors.get("allow_origin_regex"))
    return Authenticator(read_keys(environment.get(KEYS_VARIABLE, "")), origins)


def read_limits(environment: Mapping[str, str]) -> Limits:
    """Read the limits; where there are keys, what is not set is held to the server's own defaults.

    Raises:
        ValueError: in one line, if a cap is no number.
    """
    kg, model, priors = (_read_list(environment, name) for name in ALLOW_VARIABLES)
    caps = _read_caps(environment)
    if not environment.get(KEYS_VARIABLE):
        anything = kg is None and model is None and priors is None
        return Limits(caps, kg, model, priors if anything else priors or (), REQUEST_BOUNDS)
    own = {name: value for name, value in Budget().model_dump().items() if value is not None}
    return Limits(
        {**own, **caps},
        kg or (environment.get("KGQA_KG") or "sample",),
        model or (default_spec(),),
        priors or (),
        REQUEST_BOUNDS,
    )


def _read_caps(environment: Mapping[str, str]) -> dict[str, float]:
    """Read the caps as the fields of a budget, which says what each may be."""
    caps: dict[str, float] = {}
    for variable, name in CAP_VARIABLES.items():
        if environment.get(variable):
            try:
                caps[name] = getattr(Budget.model_validate({name: environment[variable]}), name)
            except ValidationError as error:
                raise ValueError(f"{variable}: {error.errors()[0]['msg']}") from None
    return caps


def _read_list(environment: Mapping[str, str], variable: str) -> tuple[str, ...] | None:
    names = tuple(filter(None, map(str.strip, environment.get(variable, "").split(","))))
    return names or None
