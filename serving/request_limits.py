"""Bounds of what may be asked, held before a thread or a run is made, and again at each step of it."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from langgraph_sdk import Auth

from kgqa.kg.terms import one_line
from kgqa.runtime.context import Context
from kgqa.runtime.limits import InputLimits, NotServed, active_limits
from kgqa.runtime.state import Input

REQUEST_BOUNDS = InputLimits(question=4_000, topics=100, name=1_000)
"""What every server holds its callers to."""

MAX_DELAY_SECONDS = 86_400
"""Seconds that a run may be put off at most."""

OUTGOING_CALLS = {"webhook": "webhooks", "feedback_keys": "addresses for feedback"}
"""What LangGraph's server can do for a run that makes it call other servers."""

TRACING_KEYS = ("__langsmith_project__", "__langsmith_example_id__")
"""Where it keeps whom a caller wants to be told of the run."""


def check_run(value: Mapping[str, Any]) -> None:
    """Refuse a run that asks too much, or for what is left out here without a word.

    What else is wrong with it, the first step says.

    Raises:
        Auth.exceptions.HTTPException: 422, in one line.
    """
    asked = value["kwargs"]
    check_input(asked.get("input"))
    check_input((asked.get("command") or {}).get("update"))
    check_names("input", asked.get("input") or {}, Input.__annotations__)
    config = asked.get("config") or {}
    chosen = config.get("configurable") or {}
    if chosen.get("__context_provided__"):
        check_options(asked.get("context"))
    for key, what in OUTGOING_CALLS.items():
        if asked.get(key):
            raise _refusal(f"{what} are not served here; leave {key} out")
    if any(chosen.get(key) for key in TRACING_KEYS):
        raise _refusal("who runs the server says whether runs are traced; leave langsmith_tracer out")
    if config.get("callbacks") or any(str(key).startswith("__pregel") for key in chosen):
        raise _refusal(
            "callbacks and LangGraph's own keys are not taken from outside; leave them out of config"
        )
    if not 0 <= (value.get("after_seconds") or 0) <= MAX_DELAY_SECONDS:
        raise _refusal(f"after_seconds is a number from 0 to {MAX_DELAY_SECONDS}")


def check_input(given: Any) -> None:
    """Refuse an input, or an update of one, that is no object or too long; none is fine.

    Raises:
        Auth.exceptions.HTTPException: 422, in one line.
    """
    if given is None:
        return
    if not isinstance(given, dict):
        raise _refusal('what is asked has to be an object, such as {"question": "..."}')
    try:
        active_limits().check_input(given)
    except NotServed as error:
        raise _refusal(str(error)) from None


def check_options(given: Any) -> None:
    """Refuse options that no method has: LangGraph's server would leave them out.

    Raises:
        Auth.exceptions.HTTPException: 422, in one line.
    """
    if isinstance(given, dict):
        check_names("option", given, {name for kind in _subclasses(Context) for name in kind.model_fields})


def check_names(what: str, given: Mapping[str, Any], known: Iterable[str]) -> None:
    """Refuse a key that is not known.

    Raises:
        Auth.exceptions.HTTPException: 422, in one line.
    """
    if strange := sorted(set(given) - set(known)):
        shown = one_line(strange[0], 80)
        raise _refusal(f"no {what} is called {shown!r}; there are: {', '.join(sorted(known))}")


def _subclasses(kind: type[Context]) -> Iterator[type[Context]]:
    yield kind
    for each in kind.__subclasses__():
        yield from _subclasses(each)


def _refusal(why: str) -> Exception:
    return Auth.exceptions.HTTPException(status_code=422, detail=why)
