"""Bounds of what may be asked, held before a thread or a run is made, and again at each step of it."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from langgraph_sdk import Auth

from kgqa.kg.terms import one_line
from kgqa.session.context import Context
from kgqa.session.limits import Bounds, NotServed, held
from kgqa.session.state import Input

BOUNDS = Bounds(question=4_000, topics=100, name=1_000)
"""What every server holds its callers to."""

LATEST = 86_400
"""Seconds that a run may be put off at most."""

ELSEWHERE = {"webhook": "webhooks", "feedback_keys": "addresses for feedback"}
"""What LangGraph's server can do for a run that makes it call other servers."""

TRACED = ("__langsmith_project__", "__langsmith_example_id__")
"""Where it keeps whom a caller wants to be told of the run."""


def check_run(value: Mapping[str, Any]) -> None:
    """Refuse a run that asks too much, or for what is left out here without a word.

    What else is wrong with it, the first step says.

    Raises:
        Auth.exceptions.HTTPException: 422, in one line.
    """
    asked = value["kwargs"]
    check_asked(asked.get("input"))
    check_asked((asked.get("command") or {}).get("update"))
    check_known("input", asked.get("input") or {}, Input.__annotations__)
    config = asked.get("config") or {}
    chosen = config.get("configurable") or {}
    if chosen.get("__context_provided__"):
        check_options(asked.get("context"))
    for key, what in ELSEWHERE.items():
        if asked.get(key):
            raise _refused(f"{what} are not served here; leave {key} out")
    if any(chosen.get(key) for key in TRACED):
        raise _refused("who runs the server says whether runs are traced; leave langsmith_tracer out")
    if config.get("callbacks") or any(str(key).startswith("__pregel") for key in chosen):
        raise _refused(
            "callbacks and LangGraph's own keys are not taken from outside; leave them out of config"
        )
    if not 0 <= (value.get("after_seconds") or 0) <= LATEST:
        raise _refused(f"after_seconds is a number from 0 to {LATEST}")


def check_asked(given: Any) -> None:
    """Refuse an input, or an update of one, that is no object or too long; none is fine.

    Raises:
        Auth.exceptions.HTTPException: 422, in one line.
    """
    if given is None:
        return
    if not isinstance(given, dict):
        raise _refused('what is asked has to be an object, such as {"question": "..."}')
    try:
        held().check_asked(given)
    except NotServed as error:
        raise _refused(str(error)) from None


def check_options(given: Any) -> None:
    """Refuse options that no method has: LangGraph's server would leave them out.

    Raises:
        Auth.exceptions.HTTPException: 422, in one line.
    """
    if isinstance(given, dict):
        check_known("option", given, {name for kind in _kinds(Context) for name in kind.model_fields})


def check_known(what: str, given: Mapping[str, Any], known: Iterable[str]) -> None:
    """Refuse a key that is not known.

    Raises:
        Auth.exceptions.HTTPException: 422, in one line.
    """
    if strange := sorted(set(given) - set(known)):
        shown = one_line(strange[0], 80)
        raise _refused(f"no {what} is called {shown!r}; there are: {', '.join(sorted(known))}")


def _kinds(kind: type[Context]) -> Iterator[type[Context]]:
    yield kind
    for each in kind.__subclasses__():
        yield from _kinds(each)


def _refused(why: str) -> Exception:
    return Auth.exceptions.HTTPException(status_code=422, detail=why)
