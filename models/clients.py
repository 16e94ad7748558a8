"""LangChain chat models: made by name, one for each event loop.

A client's connections belong to the event loop that opened them. So each loop
has its own client, made in a thread (TLS settings are read from disk) and closed
when the loop shuts down.
"""

import asyncio
import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from functools import cache, partial
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit
from weakref import ReferenceType, finalize, ref

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable

from kgqa.addresses import check_password, redact_logged_urls, redact_name, server_of_url
from kgqa.models.error_messages import error_text
from kgqa.models.errors import UnknownModel
from kgqa.sync import is_process_loop

OPENAI_PROVIDER = "openai"
MAX_GIVEN_CALLS = 64  # of chat models that callers have opened, at a time

redact_logged_urls("httpx", "httpx2")


@dataclass(frozen=True, eq=False)
class Client:
    """A chat model, the address it speaks to where that is known, and how to close it."""

    model: BaseChatModel
    url: str | None
    close: Callable[[], Awaitable[None]]


class ClientPool:
    """The clients of one model, ``provider:name``, made with options of LangChain's `init_chat_model`.

    Raises:
        UnknownModel: no such provider, or its package or key is missing.
    """

    def __init__(self, spec: str, **options: Any) -> None:
        self._make = partial(_make_client, spec, options)
        self._ready = [self._make()]
        self._of_loop: dict[asyncio.AbstractEventLoop, asyncio.Task[Client]] = {}
        self.url = self._ready[0].url

    async def get(self) -> BaseChatModel:
        """Return the client of the running loop."""
        loop = asyncio.get_running_loop()
        if loop not in self._of_loop:
            self._of_loop[loop] = loop.create_task(self._open(loop))
        return (await asyncio.shield(self._of_loop[loop])).model

    async def call(self, bound: Runnable[Any, Any], messages: Sequence[BaseMessage]) -> Any:
        """Ask what was made of a client in this loop."""
        return await bound.ainvoke(messages)

    async def _open(self, loop: asyncio.AbstractEventLoop) -> Client:
        try:
            client = self._ready.pop()
        except IndexError:
            client = await asyncio.to_thread(self._make)
        _open_clients[client] = self._hold(client, loop)
        return await anext(_open_clients[client])

    async def _hold(self, client: Client, loop: asyncio.AbstractEventLoop) -> AsyncGenerator[Client, None]:
        """Yield a client; a loop that shuts down finishes the generators it has started, and so closes it."""
        try:
            yield client
        finally:
            self._of_loop.pop(loop, None)
            _open_clients.pop(client, None)
            await client.close()


class GivenClient:
    """A chat model that the caller has opened, and closes.

    Its asynchronous connections belong to the loop that has used it first: the caller's, who asks by `aask`.
    In any other loop it is asked in threads, as is a model that has nothing asynchronous.
    """

    def __init__(self, model: BaseChatModel) -> None:
        self._model = model
        self.url = _server_of(model)

    async def get(self) -> BaseChatModel:
        """Return it."""
        return self._model

    async def call(self, bound: Runnable[Any, Any], messages: Sequence[BaseMessage]) -> Any:
        """Ask what was made of it, without holding up this loop."""
        loop = asyncio.get_running_loop()
        if not is_process_loop(loop) and _first_loop(self._model, loop) is loop:
            return await bound.ainvoke(messages)
        run = partial(copy_context().run, bound.invoke, messages)
        try:
            return await loop.run_in_executor(_given_threads(), run)
        except NotImplementedError:
            return await bound.ainvoke(messages)


def _first_loop(model: BaseChatModel, loop: asyncio.AbstractEventLoop) -> asyncio.AbstractEventLoop | None:
    """Return the loop in which a model was asked first: this one, if it never was; None for threads alone."""
    kind = type(model)
    if kind._agenerate is BaseChatModel._agenerate and kind._astream is BaseChatModel._astream:
        return None
    if id(model) not in _first_loops:
        _first_loops[id(model)] = ref(loop)
        finalize(model, _first_loops.pop, id(model), None)
    return _first_loops[id(model)]()


_first_loops: dict[int, ReferenceType[asyncio.AbstractEventLoop]] = {}


@cache
def _given_threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(MAX_GIVEN_CALLS, "kgqa-chat")


os.register_at_fork(after_in_child=_given_threads.cache_clear)


def chat_model_name(model: BaseChatModel) -> str:
    """Return what LangChain calls a chat model, ``provider:name``; its class where that says nothing."""
    said = model._get_ls_params()
    return (
        ":".join(filter(None, (said.get("ls_provider"), said.get("ls_model_name")))) or type(model).__name__
    )


_open_clients: dict[Client, AsyncGenerator[Client, None]] = {}
"""What holds each; dropping a model does not drop connections that a loop still has to close."""


def _make_client(spec: str, options: dict[str, Any]) -> Client:
    from langchain.chat_models import init_chat_model

    provider, _, name = spec.partition(":")
    try:
        if provider == OPENAI_PROVIDER:
            return _make_openai_client(name, options)
        model = init_chat_model(name, model_provider=provider, **options)
    except ImportError as error:
        raise UnknownModel(f"{redact_name(spec)}: {error_text(error)}") from None
    except Exception as error:  # each provider's package raises its own for a missing key
        raise UnknownModel(f"{redact_name(spec)}: {_explain(provider, error)}") from None
    return Client(model, _server_of(model), _do_nothing)


def _server_of(model: BaseChatModel) -> str | None:
    """Return the address that a chat model speaks to, where its package tells."""
    url = getattr(getattr(model, "root_async_client", None), "base_url", None)
    return server_of_url(str(url)) if url else None


def _make_openai_client(name: str, options: dict[str, Any]) -> Client:
    """Make a client with connections of our own, and a key where a server other than OpenAI's needs none."""
    from kgqa.models.openai import BoundedClient, ChatOpenAI

    named = (options.get("base_url"), os.environ.get("OPENAI_API_BASE"), os.environ.get("OPENAI_BASE_URL"))
    url = next(filter(None, named), "")
    if url and not os.environ.get("OPENAI_API_KEY"):
        options = {**options, "api_key": "none"}
    bare, apart = _split_credentials(url)
    # what is asked goes to the server that was named, and nowhere else
    http = BoundedClient(follow_redirects=False, **apart)
    if bare != url:  # a cache finds replies again by what a model was told
        options = {**options, "base_url": bare}
    model = ChatOpenAI(model=name, http_async_client=http, **options)
    return Client(model, str(model.root_async_client.base_url), http.aclose)


def _split_credentials(url: str) -> tuple[str, dict[str, Any]]:
    """Take user, password and parameters out of an address, and return them as httpx's client takes them.

    Within an address they would stand in the errors and logs of the packages below.
    """
    check_password(url)
    parts = urlsplit(url)
    if "@" not in parts.netloc and not parts.query:
        return url, {}
    auth = (unquote(parts.username or ""), unquote(parts.password or "")) if "@" in parts.netloc else None
    return server_of_url(url), {"auth": auth, "params": parse_qsl(parts.query, keep_blank_values=True)}


def _explain(provider: str, error: Exception) -> str:
    line = error_text(error)
    if "Unsupported provider" in line:
        return f"no provider is called {provider!r}; name a model as provider:name, or use offline"
    if "key" in line.lower() or "credential" in line.lower():
        return f"its key is missing; set {provider.upper()}_API_KEY, or use --model offline"
    return line


async def _do_nothing() -> None:
    """Leave closing to the provider's package."""
