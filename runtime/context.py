"""The context of a run: its options, validated, visible in Studio."""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from difflib import get_close_matches
from functools import cache
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar

from langchain_core.runnables import ensure_config
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    PrivateAttr,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_core import ErrorDetails, to_jsonable_python

from kgqa.addresses import SECRET_NAMES, is_web_address, redact_name
from kgqa.kg.errors import KGError
from kgqa.kg.terms import one_line
from kgqa.kg.triples import is_triples, write_triples
from kgqa.models.interface import Model, ModelSettings
from kgqa.models.registry import MAX_REPLY_TOKENS, default_spec
from kgqa.runtime.budget import Budget
from kgqa.runtime.open_once import GivenObjects
from kgqa.runtime.server_limits import active_limits
from kgqa.runtime.wordings import wording_fingerprint

OWN_ARGUMENTS = frozenset(
    {"model", "messages", "input", "tools", "tool_choice", "functions", "response_format", "stream", "n"}
    | {"stop", "temperature", "max_tokens", "max_completion_tokens", "timeout"}
)
"""Arguments of a language model's API that kgqa itself gives, or has an option for."""


class OptionError(ValueError):
    """An option that the method does not have, or a value that it does not take; the message is one line."""


def _setting(variable: str, default: Any) -> Any:
    """Return what the environment says, as ``--option`` would read it; the default where it says nothing."""
    if not (text := os.environ.get(variable)):
        return default
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def default_max_tokens() -> Any:
    """Return how many tokens a reply has at most where no option says."""
    return _setting("KGQA_MAX_TOKENS", MAX_REPLY_TOKENS)


def default_graph(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names of the graph that is asked where no option says; several are a list in JSON.

    >>> default_graph({"KGQA_KG": '["a.ttl", "b.ttl"]'}), default_graph({})
    (('a.ttl', 'b.ttl'), ('sample',))
    """
    text = environment.get("KGQA_KG") or "sample"
    try:
        names = json.loads(text)
    except (ValueError, RecursionError):
        return (text,)
    return tuple(map(str, names)) if names and isinstance(names, list) else (text,)


class Context(BaseModel):
    """The options that every method has: which graph, which model, how much to spend."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    method: ClassVar[str]  # the name of the method whose options these are

    asks_graph: ClassVar[bool] = True  # whether the method looks into the graph; where not, none is opened

    retrieves: ClassVar[bool] = False  # whether it has chains found for a whole question

    @property
    def translates(self) -> bool:
        """Whether a question in another language than the graph's names is translated."""
        return True

    kg: tuple[Annotated[str, Field(min_length=1)], ...] = Field(
        default_factory=lambda: (active_limits().kg or (default_graph(os.environ),))[0],
        min_length=1,
        description='the knowledge graph: "sample", RDF files or tables, a folder made by kgqa kg load, the '
        "address of a SPARQL endpoint or a property graph, or the name of a public endpoint (kgqa kg list)",
    )
    model: str = Field(
        default_factory=lambda: (active_limits().model or (default_spec(),))[0],
        min_length=1,
        description='who answers prompts: "provider:name", or "offline" for no language model',
    )
    temperature: float | None = Field(
        default_factory=lambda: _setting("KGQA_TEMPERATURE", 0.0),
        ge=0,
        le=2,
        validate_default=True,
        description="of a language model; null leaves it to the model, as for one that refuses it",
    )
    max_tokens: int | None = Field(
        default_factory=default_max_tokens,
        ge=1,
        validate_default=True,
        description="tokens of one reply at most; null leaves it to the model",
    )
    timeout: float = Field(
        default_factory=lambda: _setting("KGQA_TIMEOUT", 60.0),
        gt=0,
        allow_inf_nan=False,
        validate_default=True,
        description="seconds that one call of a language model may take",
    )
    model_arguments: dict[str, JsonValue] = Field(
        default_factory=lambda: _setting("KGQA_MODEL_ARGUMENTS", {}),
        validate_default=True,
        description="further arguments of a language model's API, such as top_p, seed or reasoning_effort",
    )
    prompts: str | None = Field(
        default=None,
        min_length=1,
        description="a folder with other words for prompts, see kgqa prompts export; null for our own",
    )
    encoder: str | None = Field(
        default=None,
        min_length=1,
        description="a sentence-transformers name or folder; null for the bundled all-MiniLM-L6-v2",
    )
    exemplars: str | None = Field(
        default=None,
        description="a folder made by kgqa exemplars build: the offline model learns from it, and methods "
        "are guided by the solved questions in it; null for none, or on the sample graph its own",
    )
    budget: Budget = Field(
        default_factory=Budget, validate_default=True, description="how much one question may spend"
    )

    keep_prompts: bool = Field(
        default=False,
        description="keep in each step of the trace what the model was asked, and its reply; a record is "
        "two to three times as large",
    )

    _given: GivenObjects = PrivateAttr(default_factory=GivenObjects)

    def __init__(self, /, **options: Any) -> None:
        """Take the options of a run; ``kg`` and ``model`` may be open, and are shown as they call themselves.

        Triples of rdflib or networkx, in a data frame or a list are written down for it, which blocks.

        Raises:
            OptionError: in one line, if an option is unknown or its value is not taken.
            NotServed: if a server does not open what is named.
        """
        if is_triples(triples := options.get("kg")) and not is_open("kg", triples):
            options["kg"] = _write_down(triples)
        given = {name: options[name] for name in ("kg", "model") if is_open(name, options.get(name))}
        try:
            super().__init__(**options | {name: _own_name(thing) for name, thing in given.items()})
        except ValidationError as error:
            raise OptionError(self._describe(error.errors(include_url=False)[0])) from None
        if is_chat_model(chat := given.get("model")):
            given["model"] = self._take_chat_model(chat)
        self._given = GivenObjects(given.get("kg"), given.get("model"))

    def _take_chat_model(self, chat: Any) -> Model:
        """Return a model that asks a chat model as it was made, but for options that are given here."""
        from kgqa.models.chat import ChatModel

        own = {name: None for name in ("temperature", "max_tokens") if name not in self.model_fields_set}
        return ChatModel(chat, **self.model_settings._asdict() | own)

    @classmethod
    def model_json_schema(cls, *args: Any, **options: Any) -> dict[str, Any]:
        """Return the schema, made once: LangGraph's server asks for it at each run that is given options.

        It has the defaults that hold here and, where a server lists graphs or models, these as examples.
        """
        schema = deepcopy(_make_schema(super().model_json_schema, *args, **options))
        for name, field in cls.model_fields.items():
            if field.default_factory:
                own = to_jsonable_python(field.get_default(call_default_factory=True))
                schema["properties"][name]["default"] = list(map(redact_name, own)) if name == "kg" else own
        if graphs := active_limits().kg:
            named = [[redact_name(name) for name in graph] for graph in graphs]
            schema["properties"]["kg"]["examples"] = [
                names if len(names) > 1 else names[0] for names in named
            ]
        if models := active_limits().model:
            schema["properties"]["model"]["examples"] = list(map(redact_name, models))
        return schema

    @property
    def given(self) -> GivenObjects:
        """The graph and the model themselves, where the caller gave open ones."""
        return self._given

    @property
    def model_settings(self) -> ModelSettings:
        """How the language model is asked."""
        return ModelSettings(self.temperature, self.max_tokens, self.timeout, self.model_arguments)

    @classmethod
    def _describe(cls, error: ErrorDetails) -> str:
        """Say why a value is not taken: a check of ours speaks for itself, an address is not shown."""
        name = one_line(".".join(map(str, error["loc"])), 80)
        if error["type"] == "extra_forbidden":
            *within, unknown = map(str, error["loc"])
            fields = Budget.model_fields if within else cls.model_fields
            like = get_close_matches(unknown, fields, 1)
            known = ", ".join(".".join([*within, field]) for field in like or fields)
            hint = f"did you mean {known}?" if like else f"its options are: {known}"
            return f"{cls.method} has no option {name!r}; {hint}"
        if error["type"] == "value_error":
            return (f"option {name}: " if name else "") + one_line(str(error["ctx"]["error"]), 1000)
        given = repr(error["input"])
        return f"option {name}: {error['msg']}" + ("" if "://" in given else f", not {one_line(given)}")

    @field_validator("kg", mode="before")
    @classmethod
    def _as_names(cls, value: object) -> object:
        names = (value,) if isinstance(value, str | os.PathLike) else value
        if not isinstance(names, list | tuple):
            return value
        return [os.fspath(name) if isinstance(name, os.PathLike) else name for name in names]

    @field_validator("kg")
    @classmethod
    def _in_full(cls, kg: tuple[str, ...]) -> tuple[str, ...]:
        if len(kg) > 1 and any(map(is_web_address, kg)):
            raise ValueError("an endpoint is a whole graph and goes alone; name nothing beside it")
        return active_limits().with_credentials(kg)

    @field_validator("model_arguments")
    @classmethod
    def _are_sampling(cls, given: dict[str, Any]) -> dict[str, Any]:
        for name in given:
            if name in OWN_ARGUMENTS:
                raise ValueError(f"{name} is kgqa's own to set; leave it out")
            if SECRET_NAMES.search(name):
                raise ValueError(
                    f"{name} may be a secret, and records show options; set it in the environment"
                )
        return given

    @field_validator("max_tokens", mode="after")
    @classmethod
    def _capped_reply(cls, most: int | None) -> float | None:
        return active_limits().cap({"max_tokens": most})["max_tokens"]

    @field_validator("budget")
    @classmethod
    def _capped(cls, budget: Budget) -> Budget:
        return Budget.model_validate(active_limits().cap(budget.model_dump()))

    @model_validator(mode="after")
    def _served(self) -> Self:
        active_limits().check(self)
        return self

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        """Show the fields, and addresses among them as records do."""
        for name, value in super().__repr_args__():
            yield name, tuple(map(redact_name, value)) if name == "kg" else value

    def config(self) -> dict[str, Any]:
        """Return the configuration as a record has it; equal hashes mean equal runs on the same content."""
        settings = {"method": self.method, **self.model_dump(mode="json")}
        settings |= {"kg": [redact_name(name) for name in self.kg], "model": redact_name(self.model)}
        content = {"wording": wording_fingerprint(self.prompts)} if self.prompts else {}
        canonical = json.dumps({**settings, **content}, sort_keys=True, separators=(",", ":"))
        return {**settings, "hash": hashlib.sha256(canonical.encode()).hexdigest()[:16]}


class ModelOnlyContext(Context):
    """The options of a method that asks the model alone: no graph is opened for it."""

    asks_graph: ClassVar[bool] = False


class GroundedContext(Context):
    """The options of every method that checks its answers against the graph."""

    allow_parametric: bool | Literal["always"] = Field(
        default=True,
        description="let answers of the model stand that the graph does not show, labelled so; always: also "
        "after an outage of the graph, a spent budget, or for a topic that it does not have",
    )
    min_confidence: float = Field(
        default=0.2,
        ge=0,
        le=1,
        description="how likely an answer must be right where the model can tell, as the offline model can; "
        "below it none is given (papers: 0)",
    )


class ClaimContext(GroundedContext):
    """The options of every method that has questions for yes or no judged by facts."""

    claims: bool = Field(
        default=True,
        description="answer a question for yes or no by the facts that say or deny it, before anything else; "
        "where they do neither, go on",
    )

    @property
    def drafts(self) -> bool:
        """Whether a query is drafted for a question that names no entity."""
        return False


class DraftContext(ClaimContext):
    """The options of every method that has queries written for whole questions, and written anew."""

    retrieves: ClassVar[bool] = True

    refines: int = Field(
        default=2,
        ge=0,
        le=8,
        description="how often a query is written anew, with what was missing or wrong",
    )

    @property
    def drafts(self) -> bool:
        """Whether a query is drafted for a question that names no entity."""
        return True


@cache
def _make_schema(make: Callable[..., dict[str, Any]], *args: Any, **options: Any) -> dict[str, Any]:
    return make(*args, **options)


def is_open(option: str, given: object) -> bool:
    """Return whether what is given for ``kg`` or ``model`` is an open graph or model, and no name."""
    if option == "model" and is_chat_model(given):
        return True
    return hasattr(given, {"kg": "find_entities", "model": "ask"}[option])


def is_taken(option: str, given: object) -> bool:
    """Return whether what is given for ``kg`` or ``model`` is taken as it is, though it is no name."""
    return is_open(option, given) or (option == "kg" and is_triples(given))


def is_chat_model(given: object) -> bool:
    """Return whether something is a chat model of LangChain."""
    if given is None or isinstance(given, str):
        return False
    from langchain_core.language_models import BaseChatModel

    return isinstance(given, BaseChatModel)


def _write_down(triples: Any) -> str:
    try:
        return str(write_triples(triples))
    except KGError as error:
        raise OptionError(f"option kg: {error}") from None


def _own_name(thing: Any) -> str:
    if is_chat_model(thing):
        from kgqa.models.clients import chat_model_name

        return chat_model_name(thing)
    name = getattr(thing, "fingerprint", None) or getattr(thing, "name", None) or type(thing).__name__
    return str(name)


C = TypeVar("C", bound="Context")


def run_context(given: object, context_type: type[C]) -> C:
    """Return the context that a graph was given; else one of the options that ``configurable`` has.

    Within the graph of an app, what is given is the context of that app, whatever it holds.

    Raises:
        OptionError: if what was given to the graph itself is no context, or an option is not taken.
    """
    if isinstance(given, context_type):
        return given
    configurable = ensure_config().get("configurable", {})
    if given and "|" not in configurable.get("checkpoint_ns", ""):  # which has a part for each graph around
        kind = type(given).__name__
        raise OptionError(f"a context holds options by their names; it cannot be of type {kind}")
    return context_type(
        **{name: configurable[name] for name in context_type.model_fields & configurable.keys()}
    )
