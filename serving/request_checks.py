"""What of a request is refused: what asks too much, and what LangGraph's server would leave out in silence.

Each check raises `RequestRefused`, in one line that says what to do.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from langchain_core.messages import convert_to_messages
from langchain_core.runnables import RunnableConfig
from starlette.responses import JSONResponse

from kgqa.kg.terms import one_line
from kgqa.nodes.chat.state import ChatInput, last_said
from kgqa.runtime.context import Context
from kgqa.runtime.server_limits import NotServed, active_limits
from kgqa.runtime.state import Input

MAX_REASON_CHARS = 1_000  # characters of why something is refused at most
MAX_DELAY_SECONDS = 86_400  # seconds that a run may be put off at most

MAX_NAME_CHARS = 80  # characters that are shown of a name that nothing has

OUTGOING_CALLS = {"webhook": "webhooks", "feedback_keys": "addresses for feedback"}
"""What LangGraph's server can do for a run that makes it call other servers."""

TRACING_KEYS = ("__langsmith_project__", "__langsmith_example_id__")
"""Where LangGraph's server keeps whom a caller wants to be told of the run."""

COMMAND_PARAMETERS = {
    "run.start": {"assistant_id", "input", "config", "metadata", "multitaskStrategy", "langsmith_tracer"},
    "input.respond": {
        "interrupt_id",
        "response",
        "responses",
        "namespace",
        "update",
        "goto",
        "config",
        "metadata",
    },
}
"""What LangGraph's server reads of the commands that begin a run."""

STRATEGIES = ("enqueue", "interrupt", "reject", "rollback")
"""What a run does where another goes on, on its thread."""

CONFIG_KEYS = RunnableConfig.__annotations__.keys() - {"run_id"}

OWN_CONFIGURABLE = {
    "assistant_id",
    "checkpoint_id",
    "checkpoint_map",
    "checkpoint_ns",
    "graph_id",
    "thread_id",
}
"""What LangGraph's server reads of ``configurable`` beside the options of a method."""


def refusal(why: object, status: int, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """Return an answer that says in one line why there is no other."""
    return JSONResponse({"detail": one_line(str(why), MAX_REASON_CHARS)}, status, headers)


class RequestRefused(ValueError):
    """A request that is not worked on; the message is one line."""


def check_run(asked: Mapping[str, Any], after_seconds: float, assistant: Any) -> None:
    """Refuse a run of an assistant by what LangGraph's server has made of its request."""
    _check_input(asked.get("input"))
    _check_size(_object(asked.get("command") or {}, "update"))
    config = asked.get("config") or {}
    chosen = config.get("configurable") or {}
    if chosen.get("__context_provided__"):
        check_options(asked.get("context"), assistant)
    for key, what in OUTGOING_CALLS.items():
        if asked.get(key):
            raise RequestRefused(f"{what} are not served here; leave {key} out")
    if any(chosen.get(key) for key in TRACING_KEYS):
        raise RequestRefused("who runs the server says whether runs are traced; leave langsmith_tracer out")
    if config.get("callbacks") or any(str(key).startswith("__pregel") for key in chosen):
        raise RequestRefused(
            "callbacks and LangGraph's own keys are not taken from outside; leave them out of config"
        )
    if not 0 <= after_seconds <= MAX_DELAY_SECONDS:
        raise RequestRefused(f"after_seconds is a number from 0 to {MAX_DELAY_SECONDS}")


def check_options(given: Any, assistant: Any) -> None:
    """Refuse options that a graph does not have, given its name or the id of an assistant."""
    if isinstance(given, dict):
        _check_names("option", given, _option_names(assistant))


def check_command(command: Any) -> None:
    """Refuse a command of the streaming protocol that has what its server does not read."""
    method = command.get("method") if isinstance(command, dict) else None
    if not isinstance(method, str) or method not in COMMAND_PARAMETERS:
        return  # LangGraph's server says so itself
    given = _object(command, "params")
    _check_names("parameter", given, COMMAND_PARAMETERS[method])
    if method == "run.start":
        _check_input(given.get("input"))
        _check_names("multitaskStrategy", [given.get("multitaskStrategy") or STRATEGIES[0]], STRATEGIES)
    _object(given, "metadata")
    config = _object(given, "config")
    _check_names("key of config", config, CONFIG_KEYS)
    _check_names(
        "option", _object(config, "configurable"), _option_names(given.get("assistant_id")) | OWN_CONFIGURABLE
    )


def _check_input(given: Any) -> None:
    """Refuse an input that is no object or too long, or has what a graph does not read."""
    if given is not None and not isinstance(given, dict):
        raise RequestRefused('what is asked has to be an object, such as {"question": "..."}')
    if given:
        _check_size(given)
        _check_names("input", given, (ChatInput if "messages" in given else Input).__annotations__)
        _check_size(_last_asked(given.get("messages") or []))


def _last_asked(messages: Any) -> dict[str, Any]:
    """Return what the last message asks; nothing where messages are malformed, as the run will say."""
    try:
        question, topics = last_said(convert_to_messages(messages))
    except (AttributeError, LookupError, NotImplementedError, TypeError, ValueError):
        return {}
    return {"question": question, "topics": topics}


def _check_size(given: Mapping[str, Any]) -> None:
    """Refuse an input, or an update of one, whose question, topics or id are too long."""
    try:
        active_limits().check_input(given)
    except NotServed as error:
        raise RequestRefused(str(error)) from None


def _object(holder: Mapping[str, Any], key: str) -> dict[str, Any]:
    given = holder.get(key)
    if given is not None and not isinstance(given, dict):
        raise RequestRefused(f"{key} has to be an object, not {one_line(repr(given), MAX_NAME_CHARS)}")
    return given or {}


def _check_names(what: str, given: Iterable[str], known: Iterable[str]) -> None:
    if strange := sorted({str(name) for name in given} - set(known)):
        shown = one_line(strange[0], MAX_NAME_CHARS)
        raise RequestRefused(f"no {what} is called {shown!r}; there are: {', '.join(sorted(known))}")


def _option_names(assistant: Any) -> set[str]:
    """Return the options of a graph; those of all, where a caller has made the assistant of one."""
    api: Any = sys.modules["langgraph_api.graph"]  # who serves has imported it
    served = {key: graph for name, graph in api.GRAPHS.items() for key in (name, api.get_assistant_id(name))}
    kind = getattr(getattr(served.get(str(assistant)), "builder", None), "context_schema", None)
    kinds = _subclasses(Context) if kind is None else [kind]
    return {name for each in kinds for name in each.model_fields}


def _subclasses(kind: type[Context]) -> Iterator[type[Context]]:
    yield kind
    for each in kind.__subclasses__():
        yield from _subclasses(each)
