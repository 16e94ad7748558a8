"""Whatever stands where an option, a name or a path is asked for: a result, or one clear line."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given as drawn, settings, strategies as st

import kgqa
from kgqa.api import make_context
from kgqa.graphs import METHODS, context_of, graph_of
from kgqa.runtime.context import OptionError
from kgqa.runtime.state import StateError
from kgqa.tests.hostile.conftest import Tried
from kgqa.tests.hostile.inputs.commands import Kgqa
from kgqa.tests.hostile.inputs.strings import MB, SHORT

SAID = ("ask", "Who?")

EVALUATED = ("eval", "--dataset", "nowhere.jsonl", "--out", "out")

PLACES: dict[str, tuple[Callable[[str], Sequence[str]], tuple[int, ...]]] = {
    "method": (lambda text: (*SAID, f"--method={text}"), (2,)),
    "option": (lambda text: (*SAID, f"--option={text}"), (2,)),
    "key": (lambda text: (*SAID, f"--option={text}=1"), (2,)),
    "depth": (lambda text: (*SAID, "--kg=no.ttl", f"--option=depth={text}"), (2, 3)),
    "budget": (lambda text: (*SAID, "--kg=no.ttl", f"--option=budget={text}"), (2, 3)),
    "seconds": (lambda text: (*SAID, "--kg=no.ttl", f"--option=budget.seconds={text}"), (2, 3)),
    "group": (lambda text: (*SAID, f"--option=budget.{text}.x=1"), (2,)),
    "kg": (lambda text: (*SAID, f"--kg={text}"), (2, 3)),
    "two kg": (lambda text: (*SAID, "--kg=http://127.0.0.1:1/", f"--kg={text}"), (2,)),
    "model": (lambda text: (*SAID, "--kg=no.ttl", f"--model={text}"), (2, 3, 4)),
    "model alone": (lambda text: (*SAID, "--method=io", f"--model={text}"), (2, 4)),
    "info": (lambda text: ("kg", "info", "--", text), (3,)),
    "check": (lambda text: ("kg", "check", "--", text), (2,)),
    "load": (lambda text: ("kg", "load", "--out=out", "--", text), (2, 3)),
    "filter": (lambda text: ("kg", "filter", "--out=out.nt", "--", text), (2, 3)),
    "dialect": (lambda text: ("kg", "filter", "x.nt", "--out=out.nt", f"--dialect={text}"), (2, 3)),
    "methods": (lambda text: ("methods", "--", text), (2,)),
    "score": (lambda text: ("score", "--dataset=nowhere", "--", text), (2,)),
    "score dataset": (lambda text: ("score", ".", f"--dataset={text}"), (2,)),
    "protocol": (lambda text: ("score", "x", f"--protocol={text}"), (2,)),
    "report": (lambda text: ("report", "--", text), (2,)),
    "dataset": (lambda text: ("eval", f"--dataset={text}", "--out=out"), (2,)),
    "format": (lambda text: (*EVALUATED, f"--format={text}"), (2,)),
    "limit": (lambda text: (*EVALUATED, f"--limit={text}"), (2,)),
    "concurrency": (lambda text: (*EVALUATED, f"--concurrency={text}"), (2,)),
    "seed": (lambda text: (*EVALUATED, f"--seed={text}"), (2,)),
    "out": (lambda text: ("eval", "--dataset=nowhere.jsonl", f"--out={text}"), (2,)),
    "learn": (lambda text: ("blueprints", "build", f"--dataset={text}", "--out=out"), (2,)),
    "blueprints": (lambda text: ("blueprints", "show", "--", text, "Who?"), (2,)),
    "exemplars": (lambda text: ("exemplars", "show", "--", text, "Who?"), (2,)),
}
"""Where a text may stand, and the statuses that a command may end with."""

NESTED = ('{"a":' * 3_000, "[" * 100_000, '["' * 50_000, "9" * 100_000, "a." * 20_000)


REAL = frozenset({"null", "1.5", "-x", "--help", "/etc/passwd"})
"""What is right in some of the places."""

EVERY = 6
"""Each place is tried with one of so many texts, and each with others, for commands take their time."""


@pytest.mark.parametrize("place", PLACES)
def test_whatever_stands_in_a_place_is_refused_in_one_line(run: Kgqa, place: str, tried: Tried) -> None:
    arguments, statuses = PLACES[place]
    at = list(PLACES).index(place)
    for text in (*SHORT[at % EVERY :: EVERY], "", NESTED[at % len(NESTED)]):
        if text not in REAL:
            ended = run(*arguments(text))
            assert ended.status in statuses, (text[:60], ended)
            assert ended.out == ""
    assert list(Path().rglob("*")) == [] or place in ("out", "load")
    tried(inputs=run.runs)


@settings(
    max_examples=25,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
)
@drawn(st.text(st.characters(), max_size=30), st.text(st.characters(), max_size=30))
def test_any_option_is_taken_or_refused_in_one_line(run: Kgqa, key: str, value: str) -> None:
    assert run(*SAID, "--kg=no.ttl", f"--option={key}={value}").status in (2, 3)
    assert run(*SAID, "--kg=no.ttl", f"--option=depth={value}").status in (2, 3)


STRANGE: tuple[Any, ...] = (
    5,
    1.5,
    b"x",
    object(),
    [5],
    [None],
    {"a": 1},
    float("nan"),
    10**400,
    "\udcff",
    "",
    True,
)


@pytest.mark.parametrize("method", METHODS)
def test_options_of_any_type_are_taken_or_refused_in_one_line(method: str, tried: Tried) -> None:
    count = 0
    for key in (*context_of(method).model_fields, "self", "cls", "model_config", "__class__", "a\nb", ""):
        for value in (*STRANGE, "x" * MB if key in ("kg", "encoder", "model") else "x"):
            count += 1
            try:
                make_context(method, {key: value})
            except OptionError as error:
                assert "\n" not in str(error) and len(str(error)) < 3_000, (key, str(error))
    tried(inputs=count)


@pytest.mark.parametrize(
    "given",
    [
        *({"topics": topics} for topics in (5, None, [None], [5], [{"id": 5}], {"id": "x"}, [b"x"], [[]])),
        *({"method": method} for method in (5, None, ["cor"], "../cor", "")),
        *({"kg": kg} for kg in (5, [5], [], b"x", object(), "", ["a.ttl", "http://127.0.0.1:1/"])),
        *({"model": model} for model in (5, b"x", object(), "", [])),
        *({"id": id} for id in (5, b"x", ["x"])),
    ],
)
def test_arguments_of_another_type_are_refused_in_one_line(given: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"^[^\n]+$"):
        kgqa.ask("Who?", **given)


INPUTS: tuple[Any, ...] = (
    {},
    {"question": 5},
    {"question": None},
    {"question": ["who"]},
    {"question": "Who?", "topics": "Ada"},
    {"question": "Who?", "topics": [5]},
    {"question": "Who?", "topics": [{"id": 5, "name": None}]},
    {"question": "Who?", "id": {"a": 1}},
)

CONTEXTS: tuple[Any, ...] = (
    "x",
    5,
    {"nope": 1},
    {"kg": 5},
    {"budget": {"dollars": 1}},
    {"kg": ["a.ttl", ""]},
)

OWN = {
    "stack": 5,
    "memory": "x",
    "trace": [{"node": "x"}],
    "usage": {"llm_calls": 9},
    "decision": "stop",
    "nope": 1,
}
"""What a run has in hand, given by a caller who would like to begin in the middle."""


@pytest.mark.parametrize("method", METHODS)
async def test_a_graph_is_given_anything(method: str, tried: Tried) -> None:
    graph: Any = graph_of(method)
    for given in INPUTS:
        with pytest.raises(StateError) as refused:
            await graph.ainvoke(given)
        assert str(refused.value).startswith("what is asked does not fit: ") and "\n" not in str(
            refused.value
        )
    for context in CONTEXTS:
        with pytest.raises(OptionError) as strange:
            await graph.ainvoke({"question": "Who?"}, context=context)
        assert "\n" not in str(strange.value)
    told = [await graph.ainvoke({"question": "Who?", **own}, context={"kg": "no.ttl"}) for own in ({}, OWN)]
    for record in told:
        record["usage"] = {key: spent for key, spent in record["usage"].items() if "seconds" not in key}
    assert told[0] == told[1]
    assert told[0]["outcome"] in ("kg_unavailable", "model_unavailable")
    tried(inputs=len(INPUTS) + len(CONTEXTS) + 1, questions=2, records=2)
