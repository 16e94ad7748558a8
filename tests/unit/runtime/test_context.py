"""Contexts are validated, and their hash tells runs apart."""

from typing import Literal, get_args, get_origin

import pytest
from pydantic.json_schema import GenerateJsonSchema

from kgqa.api import OptionError, make_context
from kgqa.graphs import METHODS, context_of, cor
from kgqa.runtime import server_limits
from kgqa.runtime.budget import Budget
from kgqa.runtime.context import Context
from kgqa.runtime.server_limits import Limits

BASE = {"kg": ("a.ttl",), "model": "offline"}

OTHER = {
    int: lambda value: value + 1,
    float: lambda value: value / 2 or 1.0,
    dict: lambda value: {"top_p": 0.5},
    bool: lambda value: not value,
    str: lambda value: f"{value}x",
    tuple: lambda value: (*value, "b.ttl"),
    Budget: lambda value: Budget(llm_calls=1),
    type(None): lambda value: "other",
}


def changes(method: str) -> list[tuple[str, object]]:
    """Each option of a method with a value that is not its default; without presets none is to be named."""
    context = make_context(method, BASE)
    fields = [name for name in type(context).model_fields if name != "preset" or context_of(method).PRESETS]
    return [(name, other(name, getattr(context, name), method)) for name in fields]


def other(name: str, value: object, method: str) -> object:
    if name == "preset":
        return next(iter(context_of(method).PRESETS))
    if name == "encoder":
        return "msmarco-bert-base-dot-v5"  # has a threshold
    annotation = context_of(method).model_fields[name].annotation
    for part in (annotation, *get_args(annotation)):
        if get_origin(part) is Literal:
            return next(choice for choice in get_args(part) if choice != value)
    if value is None and float in get_args(annotation):
        return 0.5
    return OTHER[type(value)](value)


@pytest.mark.parametrize(
    "options",
    [
        {"depth": 99},
        {"depth": 0},
        {"width": "wide"},
        {"budget": {"llm_calls": -1}},
        {"budget": {"seconds": 0}},
        {"kg": ()},
        {"model": ""},
        {"temperature": 3},
        {"temperature": "nan"},
        {"max_tokens": 0},
        {"timeout": 0},
        {"timeout": "inf"},
        {"model_arguments": "hot"},
    ],
)
def test_a_value_that_is_not_taken_is_named(options: dict[str, object]) -> None:
    with pytest.raises(OptionError, match=f"^option {next(iter(options))}"):
        make_context("cor", options)


def test_an_unknown_option_is_refused_with_the_known_ones() -> None:
    with pytest.raises(OptionError, match="no option 'breadth_of_it'; its options are: kg, model"):
        make_context("cor", {"breadth_of_it": 3})


@pytest.mark.parametrize(
    ("given", "meant"), [({"deptht": 3}, "depth"), ({"budget": {"llm_cals": 3}}, "budget.llm_calls")]
)
def test_an_option_that_is_misspelt_is_told_with_the_one_that_is_meant(
    given: dict[str, object], meant: str
) -> None:
    with pytest.raises(OptionError, match=rf"no option '[\w.]+'; did you mean {meant}\?$"):
        make_context("cor", given)


def test_an_unknown_option_inside_the_budget_is_refused() -> None:
    with pytest.raises(OptionError, match=r"'budget.dollars'; its options are: budget.llm_calls, "):
        make_context("cor", {"budget": {"dollars": 3}})


async def test_an_unknown_option_is_refused_by_the_graph_itself() -> None:
    with pytest.raises(ValueError, match="deptht"):
        await cor.graph.ainvoke({"question": "?"}, context={"deptht": 3})


@pytest.mark.parametrize("state", [{"topics": ["Ada"]}, {"question": "?", "topics": [{"ident": "Ada"}]}])
async def test_an_input_that_does_not_fit_is_refused(state: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"^what is asked does not fit: (question: Field|topics\.0)"):
        await cor.graph.ainvoke(state)


def test_a_context_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="frozen"):
        make_context("cor", BASE).kg = ("b.ttl",)


def test_the_environment_names_graph_and_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KGQA_KG", "mine.ttl")
    monkeypatch.setenv("KGQA_MODEL", "openai:mine")
    context = make_context("cor", {})
    assert (context.kg, context.model) == (("mine.ttl",), "openai:mine")


def test_the_environment_says_how_the_model_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    said = {"TEMPERATURE": "null", "MAX_TOKENS": "99", "TIMEOUT": "600", "MODEL_ARGUMENTS": '{"top_p": 0.9}'}
    for name, value in said.items():
        monkeypatch.setenv(f"KGQA_{name}", value)
    context = make_context("cor", {})
    assert context.model_settings == (None, 99, 600.0, {"top_p": 0.9})
    assert make_context("cor", {"timeout": 5}).config()["timeout"] == 5.0
    monkeypatch.setenv("KGQA_TIMEOUT", "long")
    with pytest.raises(OptionError, match=r"^option timeout: Input should be a valid number[^\n]*'long'$"):
        make_context("cor", {})


@pytest.mark.parametrize("name", ["model", "n", "max_tokens", "api_key", "extra_headers_token"])
def test_what_is_not_of_the_reply_is_no_argument_of_the_model(name: str) -> None:
    with pytest.raises(OptionError, match=f"^option model_arguments: {name} "):
        make_context("cor", {"model_arguments": {name: "x"}})


def test_without_an_environment_the_sample_is_asked_offline() -> None:
    context = make_context("cor", {})
    assert (context.kg, context.model) == (("sample",), "offline")


@pytest.mark.parametrize("method", METHODS)
def test_every_option_says_what_it_is(method: str) -> None:
    fields = context_of(method).model_fields
    assert [name for name, field in fields.items() if not field.description] == []


def test_equal_contexts_have_equal_hashes() -> None:
    one = make_context("cor", {"kg": "a.ttl", "model": "offline", "depth": "4"})
    other = make_context("cor", {"depth": 4, "model": "offline", "kg": ["a.ttl"]})
    assert one.config() == other.config()


@pytest.mark.parametrize("method", METHODS)
def test_the_hash_covers_every_option(method: str) -> None:
    contexts = [make_context(method, {**BASE, name: value}) for name, value in changes(method)]
    hashes = [context.config()["hash"] for context in (make_context(method, BASE), *contexts)]
    assert len(set(hashes)) == len(hashes) == len(changes(method)) + 1


def test_the_hash_covers_every_limit_of_the_budget() -> None:
    budgets = [Budget(), *(Budget.model_validate({name: 7}) for name in Budget.model_fields)]
    assert len({make_context("cor", {**BASE, "budget": b}).config()["hash"] for b in budgets}) == len(budgets)


def test_the_hash_covers_the_method() -> None:
    class Twin(Context):
        method = "twin"

    class Other(Context):
        method = "other"

    assert Twin(**BASE).config()["hash"] != Other(**BASE).config()["hash"]


def test_the_schema_of_options_is_made_once_and_cannot_be_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    made = cor.CoR.model_json_schema()
    monkeypatch.delattr(GenerateJsonSchema, "generate")
    cor.CoR.model_json_schema().clear()
    assert cor.CoR.model_json_schema() == made != {}


def test_the_schema_says_which_defaults_hold_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KGQA_KG", "http://me:secret@host/sparql")
    monkeypatch.setenv("KGQA_MODEL", "openai:small")
    fields = cor.CoR.model_json_schema()["properties"]
    assert fields["kg"]["default"] == ["http://host/sparql"]
    assert fields["model"]["default"] == "openai:small"
    assert fields["budget"]["default"]["llm_calls"] == 60
    assert "examples" not in fields["kg"]


def test_the_schema_lists_what_a_server_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        server_limits,
        "_active",
        Limits(kg=(("a.ttl", "b.ttl"), ("http://me:secret@host/sparql",)), model=("offline",)),
    )
    fields = cor.CoR.model_json_schema()["properties"]
    assert fields["kg"]["default"] == ["a.ttl", "b.ttl"]
    assert fields["kg"]["examples"] == [["a.ttl", "b.ttl"], "http://host/sparql"]
    assert fields["model"]["examples"] == ["offline"]
