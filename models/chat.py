"""Language models behind LangChain.

The ladder for one prompt: structured output where the server has it, then
`parsing` on the text, then one repair turn that quotes the error, then
`MalformedReply`. A server that refuses a schema is asked for plain text from
then on.

What is counted: a call that brought a message, its tokens if reported; a call
that ran out of time, as unknown. Calls that were refused or never arrived are
free. A reply from the cache is a cached call.

What a model refuses: a parameter that a 400 or 422 names as not supported is left
out from then on, and a warning says so; so is a schema. Where it takes no system message, instructions
stand before what the user says.

What is cached: every message, a malformed one too, since its repair turn is
cached as well and a replay comes to the same end. Only if the repair fails are
both forgotten.
"""

import asyncio
import json
import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field
from inspect import signature
from pathlib import Path
from typing import Any, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.runnables import Runnable, RunnableBinding, RunnableSequence
from langchain_core.tools import BaseTool

from kgqa.kg.terms import replace_surrogates
from kgqa.models.cache import CACHED_FIELD, ROW_KEY_FIELD, SqliteCache
from kgqa.models.clients import ClientPool, GivenClient, chat_model_name
from kgqa.models.error_messages import (
    describe_failure,
    error_text,
    refused_parameter,
    refuses_schema,
    refuses_system,
)
from kgqa.models.errors import MalformedReply, ModelUnavailable
from kgqa.models.interface import Completion, ModelSettings, Turn, Usage, budget_allows
from kgqa.models.parsing import BadReply, parse_reply, strict_schema
from kgqa.prompts.base import Prompt, R, Reply
from kgqa.retries import RetryPolicy, is_timeout

_MAX_CALL_TOKENS = 1 << 40  # a server that reports more, or fewer than none, has not counted
_REPAIR_TEXT = (
    "That reply cannot be used: {error}. Reply again, with the corrected JSON object and nothing else."
)
_MAX_QUOTED_CHARS = 4000
_log = logging.getLogger(__name__)


@dataclass
class CallCosts:
    """The cost of one ask while it runs."""

    counted: Usage = field(default_factory=Usage)
    lost: int = 0  # calls that ran out of time
    keys: list[str] = field(default_factory=list)  # rows of the cache that were read or written
    _started: float = field(default_factory=time.perf_counter)

    def usage(self) -> Usage:
        """Return the cost so far, retries and waiting included."""
        seconds = time.perf_counter() - self._started
        return self.counted + Usage(llm_calls=self.lost, unknown_calls=self.lost, seconds=seconds)

    def allows_more(self) -> bool:
        """Return whether the question may pay for another call."""
        return budget_allows.get()(self.usage())

    def count(self, message: AIMessage) -> AIMessage:
        """Count a message that a call brought, and hand it on."""
        if ROW_KEY_FIELD in message.response_metadata:
            self.keys.append(message.response_metadata[ROW_KEY_FIELD])
        self.counted += _message_usage(message)
        return message


@contextmanager
def _track_costs() -> Iterator[CallCosts]:
    """Add what was spent to the error where a call fails or is given up."""
    spent = CallCosts()
    try:
        yield spent
    except ModelUnavailable as error:
        error.usage = spent.usage()
        raise
    except asyncio.CancelledError as error:
        spent.lost += 1
        error.usage = spent.usage()  # type: ignore[attr-defined]
        raise


@dataclass
class _LearnedOfModel:
    """What calls have told of a model: whether it takes schemas, how, and what it refuses."""

    plain: bool = False
    no_system: bool = False
    forms: dict[type[Reply], dict[str, Any] | None] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)


class ChatModel:
    """Answers prompts by a language model; many asks may run at once.

    A prompt may have two attributes of its own: ``temperature``, used instead of
    the model's, and ``sample``, a number that keeps equal prompts apart in the
    cache (self-consistency asks the same several times).

    Args:
        model: ``provider:model`` as LangChain's `init_chat_model` takes it, or a chat model that is open.
        base_url: address of an OpenAI-compatible server; else OPENAI_API_BASE or OPENAI_BASE_URL.
        cache: file in which replies are kept; None keeps none.
        retries: how a failed call is repeated.
        settings: how it is asked, as fields of `ModelSettings`.

    Raises:
        UnknownModel: no such provider, its package or key is missing, or the cache cannot be used.
    """

    writes_sparql = True

    def __init__(
        self,
        model: str | BaseChatModel,
        *,
        base_url: str | None = None,
        cache: Path | None = None,
        retries: RetryPolicy | None = None,
        **settings: Any,
    ) -> None:
        self.name = model if isinstance(model, str) else chat_model_name(model)
        self.retries = retries or RetryPolicy()
        self.settings = ModelSettings(**settings)
        self._cache = SqliteCache(cache) if cache else None
        options = {"base_url": base_url} if base_url is not None else {}
        self._clients = (
            ClientPool(model, max_retries=0, cache=False, **options)
            if isinstance(model, str)
            else GivenClient(model)
        )
        self._learned = _LearnedOfModel()

    def with_settings(self, settings: ModelSettings) -> "ChatModel":
        """Return the same model, asked by these settings; what is learned of it holds for both."""
        other = copy(self)
        other.settings = settings
        return other

    @property
    def url(self) -> str | None:
        """The address of its server; None where its package does not tell."""
        return self._clients.url

    async def ask(self, prompt: Prompt[R]) -> Completion[R]:
        """Answer one prompt.

        Raises:
            ModelUnavailable: the model refuses, cannot be reached or keeps failing.
            MalformedReply: it replied, but not with what was asked, twice.
        """
        with _track_costs() as spent:
            try:
                return Completion(await self._read_reply(prompt, spent), spent.usage())
            except BadReply as error:
                if self._cache:
                    await self._cache.adiscard(*spent.keys)
                raise MalformedReply(f"{self.name}: {prompt.name}: {error}", spent.usage()) from None

    async def turn(
        self, messages: Sequence[BaseMessage], tools: Sequence[BaseTool] = (), **options: Any
    ) -> Turn:
        """Return the next message of a conversation; ``options`` are those of LangChain's ``bind_tools``.

        Raises:
            ModelUnavailable: the model refuses, cannot be reached, keeps failing, or cannot call tools.
        """
        with _track_costs() as spent:

            def bind(client: BaseChatModel) -> Runnable[Any, Any]:
                return client.bind_tools(tools, **options) if tools else client

            with self._explained_failures():
                try:
                    message = await self._call(bind, list(map(_strip_unsent, messages)), spent)
                except NotImplementedError:
                    raise ModelUnavailable(f"{self.name} cannot call tools; use a model that can") from None
            return Turn(message, spent.usage())

    async def _read_reply(self, prompt: Prompt[R], spent: CallCosts) -> R:
        """Return the reply to a prompt, after one repair turn where the first reply cannot be read."""
        messages = [SystemMessage(prompt.instructions), HumanMessage(prompt.case())]
        text = message_text(await self._message(prompt, messages, spent))
        try:
            return parse_reply(text, prompt)
        except BadReply as error:
            if not spent.allows_more():
                raise
            quoted = AIMessage(text[:_MAX_QUOTED_CHARS] or "(nothing)")
            repair = [*messages, quoted, HumanMessage(_REPAIR_TEXT.format(error=error))]
        return parse_reply(message_text(await self._message(prompt, repair, spent)), prompt)

    async def _message(
        self, prompt: Prompt[R], messages: Sequence[BaseMessage], spent: CallCosts
    ) -> AIMessage:
        learned = self._learned
        with self._explained_failures():
            if not learned.plain and prompt.reply not in learned.forms:
                learned.forms[prompt.reply] = _schema_options(await self._clients.get(), prompt.reply)
            form = None if learned.plain else learned.forms[prompt.reply]
            if form is not None:
                try:
                    return await self._call(lambda client: client.bind(**form), messages, spent, prompt)
                except Exception as error:
                    if not refuses_schema(error):
                        raise
            message = await self._call(lambda client: client, messages, spent, prompt)
            learned.plain = True
            return message

    @contextmanager
    def _explained_failures(self) -> Iterator[None]:
        try:
            yield
        except ModelUnavailable:
            raise
        except Exception as error:  # providers' packages raise what they like
            raise self._unavailable(error) from None

    def _unavailable(self, error: Exception) -> ModelUnavailable:
        return ModelUnavailable(describe_failure(error, self.name, self._clients.url, self.settings.timeout))

    async def _call(
        self,
        bind: Callable[[BaseChatModel], Runnable[Any, Any]],
        messages: Sequence[BaseMessage],
        spent: CallCosts,
        prompt: Prompt[Any] | None = None,
    ) -> AIMessage:
        """Call the model, again without a parameter that it refuses."""
        while True:
            sent = self._parameters(prompt)
            runnable = bind(self._tuned(await self._clients.get(), sent, prompt))
            if arguments := {name: sent[name] for name in self.settings.arguments if name in sent}:
                runnable = runnable.bind(**arguments)
            try:
                return await self._call_bound(runnable, self._heard(messages), spent)
            except Exception as error:
                if not self._learned.no_system and refuses_system(error):
                    _log.warning("%s takes no system message (%s)", self.name, error_text(error))
                    self._learned.no_system = True
                    continue
                if (refused := refused_parameter(error, sent)) is None:
                    raise
                _log.warning("%s refuses %s (%s); it is asked without", self.name, refused, error_text(error))
                self._learned.refused.add(refused)

    def _heard(self, messages: Sequence[BaseMessage]) -> Sequence[BaseMessage]:
        """Return messages as the model takes them: instructions within the user's where it has no others."""
        if not (self._learned.no_system and messages and isinstance(messages[0], SystemMessage)):
            return messages
        instructions, *rest = messages
        text = "\n\n".join(str(each.text) for each in (instructions, *rest[:1]))
        return [HumanMessage(text), *rest[1:]]

    async def _call_bound(
        self, runnable: Runnable[Any, Any], messages: Sequence[BaseMessage], spent: CallCosts
    ) -> AIMessage:
        async def once() -> AIMessage:
            try:
                async with asyncio.timeout(self.settings.timeout):
                    message = await self._clients.call(runnable, messages)
            except Exception as error:
                message = _truncated_message(error)
                if message is None:
                    spent.lost += is_timeout(error)
                    if not spent.allows_more():
                        raise self._unavailable(error) from None
                    raise
            return spent.count(message)

        return await self.retries.call(once)

    def _parameters(self, prompt: Prompt[Any] | None = None) -> dict[str, Any]:
        """Return what is sent beside the messages; a prompt may have a temperature of its own."""
        settings, own = self.settings, getattr(prompt, "temperature", None)
        temperature = settings.temperature if own is None else own
        given = {"temperature": temperature, "max_tokens": settings.max_tokens, **settings.arguments}
        refused = self._learned.refused
        return {name: value for name, value in given.items() if value is not None and name not in refused}

    def _tuned(
        self, client: BaseChatModel, sent: Mapping[str, Any], prompt: Prompt[Any] | None
    ) -> BaseChatModel:
        """Return the client with what is sent, and the cache with the scope of this call."""
        fields = {"temperature", "max_tokens"} & sent.keys()
        update: dict[str, Any] = {_field_named(client, name): sent[name] for name in fields}
        if self._cache:
            temperature, sample = getattr(prompt, "temperature", None), getattr(prompt, "sample", 0)
            settings = self.settings.temperature, self.settings.max_tokens
            scope = json.dumps([self._clients.url, *settings, temperature, sample])
            update["cache"] = self._cache.scoped(scope)
        return client.model_copy(update=update) if update else client


def _message_usage(message: AIMessage) -> Usage:
    if message.response_metadata.get(CACHED_FIELD):
        return Usage(cached_calls=1)
    tokens = message.usage_metadata
    counts: tuple[Any, ...] = (tokens["input_tokens"], tokens["output_tokens"]) if tokens else ()
    if not counts or not all(isinstance(count, int) and 0 <= count <= _MAX_CALL_TOKENS for count in counts):
        return Usage(llm_calls=1, unknown_calls=1)
    return Usage(llm_calls=1, input_tokens=counts[0], output_tokens=counts[1])


def _strip_unsent(message: BaseMessage) -> BaseMessage:
    """Leave out of a message what no model is shown, so that a conversation is cached as what was said."""
    unseen = {AIMessage: "usage_metadata", ToolMessage: "artifact"}.get(type(message))
    update: dict[str, Any] = {unseen: None} if unseen else {}
    ours = (CACHED_FIELD, ROW_KEY_FIELD)
    kept = {key: value for key, value in message.response_metadata.items() if key not in ours}
    return message.model_copy(update={**update, "response_metadata": kept})


def message_text(message: AIMessage) -> str:
    """Return the text of a message, or the arguments where the reply came as a tool call."""
    text = str(message.text)
    if not text.strip() and message.tool_calls:
        text = json.dumps(message.tool_calls[0]["args"])
    return replace_surrogates(text)


def _field_named(client: BaseChatModel, name: str) -> str:
    """Return the field of a provider's class that takes a parameter, which it may call otherwise."""
    fields = type(client).model_fields.items()
    return next((field for field, info in fields if name in (field, info.alias)), name)


def _schema_options(client: BaseChatModel, reply: type[Reply]) -> dict[str, Any] | None:
    """Return the parameters of a call that hold a model to a schema; None where the provider's class cannot.

    They are those of LangChain's structured output, without what it does after the call:
    the reply is read here.
    """
    takes_strict = "strict" in signature(client.with_structured_output).parameters
    options = {"strict": True} if takes_strict else {}
    try:
        structured = client.with_structured_output(strict_schema(reply), method="json_schema", **options)
    except (NotImplementedError, TypeError, ValueError):
        return None
    bound = cast(RunnableSequence[Any, Any], structured).first
    return dict(cast(RunnableBinding[Any, Any], bound).kwargs)


def _truncated_message(error: Exception) -> AIMessage | None:
    """Return the message that OpenAI's package withholds when a reply hits a limit or a filter."""
    completion = getattr(error, "completion", None)
    if completion is None or not completion.choices:
        return None
    message = AIMessage(completion.choices[0].message.content or "")
    if used := completion.usage:
        sent, received, total = used.prompt_tokens, used.completion_tokens, used.total_tokens
        message.usage_metadata = UsageMetadata(input_tokens=sent, output_tokens=received, total_tokens=total)
    return message
