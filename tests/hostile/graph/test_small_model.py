"""A real, small language model over a hostile graph: often wrong, never led out of the graph."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import kgqa
from kgqa.kg.opening import open_graph
from kgqa.tests.conftest import MEMO, PREFIXES
from kgqa.tests.hostile.conftest import Tried
from kgqa.tests.hostile.graph.graph import ORDERS, SEPARATORS, TEMPLATES
from kgqa.tests.hostile.graph.test_methods import complete
from kgqa.tests.support.llm_server import missing

pytestmark = [
    pytest.mark.skipif(bool(missing()), reason=missing() or ""),
]

BUDGET = {"llm_calls": 2, "seconds": 60.0}
"""Of a question; where the model is too slow the record says so, and is no less complete."""

MAX_TOKENS = 40
"""Of a reply: a small model does not end by itself."""

ASKED = "cor", "vog", "compose", "agent"
"""Methods that ask for relations, for steps, for one query and for tools."""

LABELS = (ORDERS[0], ORDERS[1], SEPARATORS[1], TEMPLATES[0])


@pytest.fixture(scope="module")
def kg(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Ada and what she knows, by hostile names alone."""
    lines = ['e:ada rdfs:label "Ada" .']
    for place, label in enumerate(LABELS):
        quoted = label.translate({34: '\\"', 92: "\\\\", 10: "\\n", 13: "\\r"})
        lines.append(f'e:ada r:knows e:n{place} . e:n{place} rdfs:label "{quoted}" ; r:says "{quoted}" .')
    path: Path = tmp_path_factory.mktemp("small") / "graph.ttl"
    path.write_text(PREFIXES + "\n".join(lines), encoding="utf-8")
    return open_graph([path], encode=MEMO.encode)


async def test_a_small_model_answers_from_the_graph_or_says_not(
    kg: str, llm_server: str, monkeypatch: pytest.MonkeyPatch, tried: Tried
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", llm_server)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    calls = 0
    for method in ASKED:
        record = await kgqa.aask(
            "What does Ada know?",
            topics=["Ada"],
            kg=kg,
            model="openai:smollm2",
            method=method,
            budget=BUDGET,
            max_tokens=MAX_TOKENS,
        )
        complete(record, method)
        ids = {answer["id"] for answer in record["answers"]}
        known = {f"http://t/e/n{place}" for place in range(len(LABELS))} | {*LABELS, "http://t/e/ada"}
        assert record["outcome"] != "grounded" or ids <= known | {str(len(LABELS))}, method
        assert record["usage"]["llm_calls"] <= BUDGET["llm_calls"] + 1
        calls += record["usage"]["llm_calls"] - record["usage"]["unknown_calls"]
    assert calls > 0
    tried(questions=len(ASKED), records=len(ASKED), inputs=len(LABELS))
