"""The server's `Auth`: who calls, what is whose, and what may be asked.

``langgraph.json`` names it, so this is also where a server takes up its operator's limits.
"""

import logging
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from langgraph_sdk import Auth

from kgqa.kg.terms import one_line
from kgqa.nodes.chat.state import ChatInput
from kgqa.runtime.context import Context
from kgqa.runtime.server_limits import NotServed, activate_limits, active_limits
from kgqa.runtime.state import Input
from kgqa.serving.authentication import LOCAL_CALLER
from kgqa.serving.checkpoints import belongs_to_another
from kgqa.serving.settings import disable_unrequested_tracing, read_authenticator, read_limits

MAX_DELAY_SECONDS = 86_400  # seconds that a run may be put off at most

OUTGOING_CALLS = {"webhook": "webhooks", "feedback_keys": "addresses for feedback"}
"""What LangGraph's server can do for a run that makes it call other servers."""

TRACING_KEYS = ("__langsmith_project__", "__langsmith_example_id__")
"""Where it keeps whom a caller wants to be told of the run."""

_log = logging.getLogger("kgqa.serving")
_authenticator = read_authenticator(os.environ)

activate_limits(read_limits(os.environ))
disable_unrequested_tracing()

auth = Auth()


@auth.authenticate
async def authenticate(scope: dict[str, Any]) -> Auth.types.MinimalUserDict:
    """Return the caller's name; it is the owner of what they make."""
    return {"identity": _authenticator.name_of(scope)}


@auth.on.threads
async def authorize_threads(ctx: Auth.types.AuthContext, value: dict[str, Any]) -> Any:
    """Threads and their runs are their owner's; what a run asks is held to its bounds."""
    await _check_thread_is_free(ctx, value)
    if ctx.action == "create_run":
        _check_run(value)
        _log.info("a run of %s", ctx.user.identity)
    return _owner_filter(ctx, value)


@auth.on.assistants
async def authorize_assistants(ctx: Auth.types.AuthContext, value: dict[str, Any]) -> Any:
    """Assistants are their owner's; those that come with the server may be used by all."""
    if ctx.action in {"create", "update"}:
        _check_options(value.get("context"))
    metadata = value.get("metadata")
    if ctx.action in {"create", "update"} and isinstance(metadata, dict):
        metadata.pop("created_by", None)  # by this word the server knows its own
    mine = _owner_filter(ctx, value)
    if mine and ctx.action in {"read", "search"}:
        return {"$or": [mine, {"created_by": "system"}]}
    return mine


@auth.on
async def refuse_other(ctx: Auth.types.AuthContext, value: dict[str, Any]) -> None:
    """Nothing else is served: crons would spend without being asked, the store has no use."""
    raise _refusal(f"{ctx.resource} are not served here", 403)


async def _check_thread_is_free(ctx: Auth.types.AuthContext, value: Mapping[str, Any]) -> None:
    thread, owner = value.get("thread_id"), ctx.user.identity
    makes = ctx.action == "create" or value.get("if_not_exists") == "create"
    if makes and thread and owner != LOCAL_CALLER and await belongs_to_another(str(thread), owner):
        raise _refusal("a thread with this id exists already", 409)


def _owner_filter(ctx: Auth.types.AuthContext, value: Mapping[str, Any]) -> dict[str, str] | None:
    """Mark what is made as the caller's, and give the filter of what they may see; None for all."""
    owner = ctx.user.identity
    if owner == LOCAL_CALLER:
        return None
    metadata = value.get("metadata")
    if ctx.action in {"create", "update", "create_run"} and isinstance(metadata, dict):
        metadata["owner"] = owner
    return {"owner": owner}


def _check_run(value: Mapping[str, Any]) -> None:
    """Refuse a run that asks too much, or for what the server would leave out without a word."""
    asked = value["kwargs"]
    _check_input(asked.get("input"))
    _check_input((asked.get("command") or {}).get("update"))
    _check_names("input", asked.get("input") or {}, (*Input.__annotations__, *ChatInput.__annotations__))
    config = asked.get("config") or {}
    chosen = config.get("configurable") or {}
    if chosen.get("__context_provided__"):
        _check_options(asked.get("context"))
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


def _check_input(given: Any) -> None:
    """Refuse an input, or an update of one, that is no object or too long; none is fine."""
    if given is None:
        return
    if not isinstance(given, dict):
        raise _refusal('what is asked has to be an object, such as {"question": "..."}')
    try:
        active_limits().check_input(given)
    except NotServed as error:
        raise _refusal(str(error)) from None


def _check_options(given: Any) -> None:
    """Refuse options that no method has: LangGraph's server would leave them out."""
    if isinstance(given, dict):
        _check_names("option", given, {name for kind in _subclasses(Context) for name in kind.model_fields})


def _check_names(what: str, given: Mapping[str, Any], known: Iterable[str]) -> None:
    if strange := sorted(set(given) - set(known)):
        shown = one_line(strange[0], 80)
        raise _refusal(f"no {what} is called {shown!r}; there are: {', '.join(sorted(known))}")


def _subclasses(kind: type[Context]) -> Iterator[type[Context]]:
    yield kind
    for each in kind.__subclasses__():
        yield from _subclasses(each)


def _refusal(why: str, status: int = 422) -> Exception:
    return Auth.exceptions.HTTPException(status_code=status, detail=why)
