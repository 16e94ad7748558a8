"""A query is drafted, whether a model replies as asked or by the query alone."""

import pytest

from kgqa.models.parsing import BadReply, parse_reply
from kgqa.prompts.draft_query import DraftQuery, written_query

QUERY = "SELECT ?x WHERE {\n  ?a <http://t/p> ?x .\n  FILTER(?x > 2)\n}\nORDER BY ?x LIMIT 3"


@pytest.mark.parametrize(
    "reply",
    [
        QUERY,
        f"```sparql\n{QUERY}\n```",
        f"```\n{QUERY}```\n",
        f"Select the films of Ada:\n```sparql\n{QUERY}\n```",
        f"```sparql {QUERY}```\nHere {{?x}} is a film.",
        f"{QUERY}<|im_end|>",
        f"<think>SELECT {{ ?s ?p ?o }} is too wide {{...}}</think>\n{QUERY}\n<|eot_id|>",
        f"Here is the query:\n\n{QUERY}\n\nIt selects what is more than 2.",
    ],
)
def test_a_bare_query_is_a_draft(reply: str) -> None:
    assert parse_reply(reply, DraftQuery("Which?")).sparql == QUERY


def test_a_query_keeps_its_prologue_and_what_follows_its_groups() -> None:
    text = "PREFIX : <http://t/>\nselect ?x (COUNT(*) AS ?n) { ?x a :C }\nGROUP BY ?x\nHAVING (COUNT(*) < 3)"
    assert written_query(text) == text


@pytest.mark.parametrize(
    "reply", ["", "I select {nothing}", "INSERT DATA { <http://t/a> <http://t/b> 1 }", "SELECT ?x"]
)
def test_what_is_no_query_is_no_draft(reply: str) -> None:
    with pytest.raises(BadReply):
        parse_reply(reply, DraftQuery("Which?"))
