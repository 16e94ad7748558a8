"""The server's `Auth`: who calls, what is whose, and what may be asked.

``langgraph.json`` names it, so this is also where a server takes up its operator's limits.
"""

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from langgraph_sdk import Auth

from kgqa.runtime.server_limits import activate_limits
from kgqa.serving.authentication import LOCAL_CALLER
from kgqa.serving.checkpoints import belongs_to_another
from kgqa.serving.request_checks import RequestRefused, check_options, check_run
from kgqa.serving.settings import disable_unrequested_tracing, read_authenticator, read_limits

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
        with _refusing():
            check_run(value["kwargs"], value.get("after_seconds") or 0, value.get("assistant_id"))
        _log.info("a run of %s", ctx.user.identity)
    return _owner_filter(ctx, value)


@auth.on.assistants
async def authorize_assistants(ctx: Auth.types.AuthContext, value: dict[str, Any]) -> Any:
    """Assistants are their owner's; those that come with the server may be used by all."""
    if ctx.action in {"create", "update"}:
        with _refusing():
            check_options(value.get("context"), value.get("graph_id"))
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


@contextmanager
def _refusing() -> Iterator[None]:
    try:
        yield
    except RequestRefused as error:
        raise _refusal(str(error)) from None


def _refusal(why: str, status: int = 422) -> Exception:
    return Auth.exceptions.HTTPException(status_code=status, detail=why)
