"""What a server's limits let through to the last character, and what a configuration tells of itself."""

import hashlib
import json
import random
from types import SimpleNamespace
from typing import Any

import pytest

from kgqa.runtime.budget import Budget
from kgqa.runtime.context import Context, OptionError
from kgqa.runtime.search_context import ExemplarContext
from kgqa.runtime.server_limits import InputLimits, Limits, NotServed

HELD = Limits(asked=InputLimits(question=10, topics=2, name=4))

SECRET = "http://me:pw@h/sparql?key=k1"


@pytest.mark.parametrize(
    ("most", "more", "why"),
    [
        (
            {"question": "x" * 10},
            {"question": "x" * 11},
            "the question is longer than 10 characters; shorten it",
        ),
        (
            {"topics": ["a", "b"]},
            {"topics": ["a", "b", "c"]},
            "there are more than 2 topics; give those that the question is about",
        ),
        (
            {"topics": ["a", "abcd"]},
            {"topics": ["a", "abcde"]},
            "a topic or the id is longer than 4 characters; shorten it",
        ),
        ({"id": "abcd"}, {"id": "abcde"}, "a topic or the id is longer than 4 characters; shorten it"),
    ],
)
def test_what_is_as_long_as_a_server_takes_is_taken_and_no_more(
    most: dict[str, Any], more: dict[str, Any], why: str
) -> None:
    HELD.check_input(most)
    Limits().check_input(more)
    with pytest.raises(NotServed) as caught:
        HELD.check_input(more)
    assert str(caught.value) == why


def test_topics_that_are_no_list_are_left_to_the_schema() -> None:
    HELD.check_input({"question": "Who?", "topics": "a long text"})
    HELD.check_input({"topics": None})


@pytest.mark.parametrize(("length", "shown"), [(100, "x" * 100), (101, "x" * 100 + "...")])
def test_a_name_that_is_not_served_is_shown_up_to_a_hundred_characters(length: int, shown: str) -> None:
    with pytest.raises(NotServed) as caught:
        Limits(model=("offline",)).check(Context(kg="a.ttl", model="x" * length))
    assert str(caught.value) == f"option model: {shown!r} is not served here; name one of: offline"


def test_each_limit_of_a_budget_is_the_lesser_of_what_is_asked_and_its_cap() -> None:
    caps = Limits(caps={"tokens": 7, "llm_calls": 7, "seconds": 7})
    asked = {"tokens": 3, "llm_calls": 99, "kg_queries": 5, "seconds": None}
    assert caps.cap(asked) == {"tokens": 3, "llm_calls": 7, "kg_queries": 5, "seconds": 7}
    assert Limits(caps={"tokens": 0}).cap({"tokens": 3, "seconds": None}) == {
        "tokens": 0,
        "seconds": None,
    }


class Asked(ExemplarContext):
    method = "asked"


def test_whoever_has_a_record_can_make_the_hash_of_its_configuration() -> None:
    config = Asked(kg="a.ttl", model="offline", budget=Budget(tokens=7)).config()
    assert (config["method"], config["kg"], config["model"]) == ("asked", ["a.ttl"], "offline")
    assert config["budget"]["tokens"] == 7
    assert config.keys() == {"method", "hash", *Asked.model_fields}
    digest = config.pop("hash")
    items = list(config.items())
    random.Random(1).shuffle(items)
    text = json.dumps(dict(items), sort_keys=True, separators=(",", ":"))
    assert digest == hashlib.sha256(text.encode()).hexdigest()[:16]


def test_what_was_handed_over_is_configured_by_its_own_name() -> None:
    graph = SimpleNamespace(fingerprint="abc", find_entities=None)
    config = Asked(kg=graph, model=SimpleNamespace(name="scripted", ask=None)).config()
    assert (config["kg"], config["model"]) == (["abc"], "scripted")


def test_neither_a_configuration_nor_its_text_tells_a_password() -> None:
    context = Asked(kg=SECRET, model="offline", exemplars="/folder")
    assert (context.kg, context.exemplars) == ((SECRET,), "/folder")
    assert "kg=('http://h/sparql" in repr(context)
    assert "exemplars='/folder'" in repr(context)
    for text in (repr(context), str(context), json.dumps(context.config())):
        assert "pw" not in text and "k1" not in text


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"exemplars_shown": 99}, "option exemplars_shown: Input should be less than or equal to 8, not 99"),
        ({"exemplars": [SECRET]}, "option exemplars: Input should be a valid string"),
        (
            {"kg": (SECRET, "b.ttl")},
            "option kg: an endpoint is a whole graph and goes alone; name nothing beside it",
        ),
        ({"deep": 3}, f"asked has no option 'deep'; its options are: {', '.join(Asked.model_fields)}"),
    ],
)
def test_an_option_that_is_not_taken_is_told_in_a_line_without_an_address(
    options: dict[str, Any], line: str
) -> None:
    with pytest.raises(OptionError) as caught:
        Asked(**options)
    assert str(caught.value) == line


def test_the_name_of_an_option_is_told_up_to_a_length() -> None:
    for name in ("x" * 300, "x\n" * 300):
        with pytest.raises(OptionError) as caught:
            Asked(**{name: 3})
        told = str(caught.value).partition("; its options")[0]
        assert "\n" not in told
        assert len(told) == len("asked has no option ''") + 80


def test_solved_questions_are_recalled_where_any_use_of_them_is_made() -> None:
    class Using(Asked):
        guide_exploration: bool = False

    assert not Asked().recalls
    assert not Using().recalls
    assert Using(guide_exploration=True).recalls
