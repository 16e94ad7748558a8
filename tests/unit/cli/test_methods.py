"""``kgqa methods``: options and descriptions of one's own, whatever pydantic allows them to be."""

from enum import StrEnum
from pathlib import Path
from typing import Literal

import pytest
from pydantic import BaseModel, Field
from pydantic.fields import FieldInfo

from kgqa import graphs
from kgqa.cli.methods import methods, option_default, option_help, option_text
from kgqa.runtime.context import Context


class Colour(StrEnum):
    RED = "red"


class Group(BaseModel):
    folder: Path = Path("x")
    names: frozenset[str] = frozenset({"a"})


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as it is", "as it is"),
        (Path("x/y"), "x/y"),
        (frozenset({"a"}), '["a"]'),
        ((1, "b"), '[1, "b"]'),
        (Colour.RED, "red"),
        (Group(), '{"folder": "x", "names": ["a"]}'),
        (None, "null"),
        (0.5, "0.5"),
        ("ä", "ä"),
        (1j, "1j"),
    ],
)
def test_a_default_of_any_kind_is_written(value: object, text: str) -> None:
    assert option_text(value) == text
    assert option_default(FieldInfo(default=value)) == text


def test_words_to_choose_from_may_be_numbers() -> None:
    assert option_help(FieldInfo(annotation=Literal[1, 2])) == "; one of: 1, 2"


def test_an_option_without_a_default_has_none() -> None:
    assert option_default(FieldInfo(annotation=int)) == ""


def test_brackets_in_a_description_are_text(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Own(Context):
        places: frozenset[str] = Field(default=frozenset({"a"}), description="where [to] look")

    monkeypatch.setattr(graphs, "headline_of", lambda _: "Follows [/relation] [fast] chains.")
    monkeypatch.setattr(graphs, "context_of", lambda _: Own)
    methods(["cor"])
    out = capsys.readouterr().out
    assert out.startswith("cor  Follows [/relation] [fast] chains.\n")
    assert "where [to] look" in out and '["a"]' in out
