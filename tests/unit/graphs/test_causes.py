"""A question without an answer says what went wrong, whatever method was asked."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel

import kgqa
from kgqa.graphs import METHODS
from kgqa.tests.support.doubles import FAMILY

QUESTION = "Where does Ada live?"

QUERY = """```sparql
SELECT ?x WHERE { ?s rdfs:label "Ada" ; kg:lives_in ?x }
```"""

quietly = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")


class Chat(FakeListChatModel):
    """A chat model that takes tools, and calls none."""

    def bind_tools(self, *_: Any, **__: Any) -> Any:
        return self.bind()


def first_line(kg: Path, reply: str, method: str) -> str:
    record = kgqa.ask(QUESTION, kg=kg, model=Chat(responses=[reply]), method=method)
    assert (record["answers"], record["outcome"]) == ([], "none")
    return str(record).splitlines()[0]


@quietly
@pytest.mark.parametrize("method", [method for method in METHODS if method not in ("agent", "sparql_qa")])
@pytest.mark.parametrize(
    ("reply", "cause"), [("", "the reply is empty"), ("Well.", "the reply holds no JSON object")]
)
def test_a_reply_that_cannot_be_read_is_told(
    turtle: Callable[[str], Path], method: str, reply: str, cause: str
) -> None:
    said = first_line(turtle(FAMILY), reply, method)
    assert said.startswith("No answer found: Chat: ")
    assert cause in said


@quietly
def test_an_agent_that_calls_nothing_is_told(turtle: Callable[[str], Path]) -> None:
    said = first_line(turtle(FAMILY), "", "agent")
    assert said.startswith("No answer found: the model gives no answer, though it was reminded")


@quietly
def test_a_query_that_is_refused_is_told(turtle: Callable[[str], Path]) -> None:
    said = first_line(turtle(FAMILY), QUERY, "sparql_qa")
    assert said.startswith("No answer found: the prefix kg: is not declared")
