"""The table of a record: whole where a method gives one, null where none does."""

import kgqa
from kgqa.tests.support.doubles import children
from kgqa.tests.support.tables import HUTS, graph


async def test_a_record_keeps_the_table_that_a_node_gives() -> None:
    record = await kgqa.aask("Which huts have beds?", method=graph, kg="sample", model=children())
    assert record["table"] == HUTS
    assert [answer["id"] for answer in record["answers"]] == ["http://x/abel", "http://x/berta", "http://x/c"]


async def test_answers_without_columns_have_no_table() -> None:
    record = await kgqa.aask("What is the capital of Mongolia?", kg="sample", model="offline")
    assert (record["answers"] != [], record["table"]) == (True, None)
