"""Tracing by LangSmith, which is for whoever asks for it.

LangGraph's server turns it on by itself as soon as LANGSMITH_API_KEY is set, and even where it is
turned off reports to LangSmith every five minutes how much it has run. Here a key alone asks for
nothing: LANGSMITH_TRACING=true does, in the environment or in ``.env``.
"""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

VARIABLE = "LANGSMITH_TRACING"

NAMES = (VARIABLE, "LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING_V2", "LANGCHAIN_TRACING")
"""The names that the setting has; the first that is set counts. LangGraph's server itself sets the first."""

FIRST = "LANGSMITH_LANGGRAPH_API_VARIANT"
"""What ``langgraph dev`` sets before anything else: what stands before it in the environment was there."""

_KEY = "LANGSMITH_CONTROL_PLANE_API_KEY"


def hold_tracing() -> None:
    """Turn tracing and reports off, unless they are asked for; at the start of a server (blocking)."""
    if is_asked_for(os.environ, Path(".env")):
        return
    os.environ[VARIABLE] = "false"
    if langsmith := sys.modules.get("langsmith.utils"):
        langsmith.get_env_var.cache_clear()
    metadata: Any = sys.modules.get("langgraph_api.metadata")
    if getattr(metadata, _KEY, None):
        setattr(metadata, _KEY, "")


def is_asked_for(environment: Mapping[str, str], file: Path) -> bool:
    """Tell whether somebody has turned tracing on.

    Args:
        environment: the variables, in the order in which they were set.
        file: settings beside it, where there are any.

    Raises:
        ValueError: in one line, if they cannot be read.
    """
    names = list(environment)
    before = names[: names.index(FIRST)] if FIRST in environment else names
    own = {name: environment[name] for name in before}
    own |= _settings(file) if file.is_file() else {}
    said = next((own[name] for name in NAMES if name in own), "")
    return said.lower() in {"true", "1"}


def _settings(file: Path) -> dict[str, str]:
    from dotenv import dotenv_values

    try:
        return {name: value or "" for name, value in dotenv_values(file).items()}
    except (OSError, ValueError) as error:
        raise ValueError(f"cannot read {file}: {error}; write it as UTF-8, one NAME=value a line") from None
