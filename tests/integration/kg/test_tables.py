"""Questions to tables that nobody has described: keys and links are inferred, and the record says so."""

import pytest

import kgqa
from kgqa.tests.support.perfect import DATA

NORTHWIND = DATA / "own" / "northwind"

pytestmark = pytest.mark.skipif(not NORTHWIND.is_dir(), reason=f"no tables in {NORTHWIND}; set KGQA_DATA")


@pytest.mark.parametrize(
    ("question", "answers", "inferred"),
    [
        (
            "Which products does Exotic Liquids supply?",
            {"Aniseed Syrup", "Chai", "Chang"},
            "product -> supplier",
        ),
        ("Who does Nancy Davolio report to?", {"Andrew Fuller"}, "employee -> employee: weak"),
        ("Which category is Chai in?", {"Beverages"}, "product -> category"),
        ("In which region is the territory Westboro?", {"Eastern"}, "territory -> region"),
        ("When was Nancy Davolio hired?", {"1992-05-01"}, None),
        (
            "Which products are in order 10248?",
            {"Mozzarella di Giovanni", "Queso Cabrales", "Singaporean Hokkien Fried Mee"},
            "order detail -> product",
        ),
    ],
)
def test_northwind_without_a_mapping(question: str, answers: set[str], inferred: str | None) -> None:
    record = kgqa.ask(question, kg=NORTHWIND, model="offline")
    assert ({each["name"] for each in record["answers"]}, record["outcome"]) == (answers, "grounded")
    lines = [line for line in str(record).splitlines() if "inferred: " in line]
    assert inferred in lines[0] if inferred else not lines
