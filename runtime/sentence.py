"""Says a record in words, for a chat, an assistant or a terminal."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from kgqa.kg.terms import local_name, one_line

if TYPE_CHECKING:
    from kgqa.runtime.record import PathStep, Record, Ref

MAX_NAMED_ANSWERS = 20  # answers that a sentence names at most; the record has all

OUTCOME_LABELS = {
    "none": "no answer",
    "parametric": "from the model, not proved by the graph",
    "grounded_inference": "inferred by the model from facts of the graph",
    "grounded_unverified": "from the graph, not all checked",
}
"""Outcomes in plain words; what is not here is said by its own name."""

OUTAGES = {
    "kg_unavailable": "the knowledge graph is unavailable",
    "model_unavailable": "the model is unavailable",
}

SUMMARY = (
    "question",
    "method",
    "topics",
    "answers",
    "outcome",
    "confidence",
    "stopped_by",
    "paths",
    "evidence",
    "query",
    "conditions",
)
"""The keys of a record that say what it answers and prove it."""


def say_record(record: "Record") -> str:
    """Return what a record answers, in one sentence, and how far it is to be trusted where it is not proved.

    >>> ref = lambda name: {"id": name, "name": name}
    >>> say_record({"answers": [ref("Chad"), ref("Mali")], "outcome": "grounded_unverified"})
    'Chad and Mali (from the graph, not all checked).'
    """
    if what := OUTAGES.get(record["outcome"]):
        return f"No answer: {what} ({find_error(record)})."
    if not record["answers"]:
        return f"No answer found{no_answer_reason(record)}."
    names = [show_ref(answer) for answer in record["answers"][:MAX_NAMED_ANSWERS]]
    if more := len(record["answers"]) - len(names):
        names.append(f"{more} more")
    said = " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
    label = OUTCOME_LABELS.get(record["outcome"])
    return f"{said[:1].upper()}{said[1:]}{f' ({label})' if label else ''}."


def summarise_record(record: "Record") -> dict[str, Any]:
    """Return what a record answers and proves as plain JSON, without its trace, cost and options."""
    return {key: record[key] for key in SUMMARY}  # type: ignore[literal-required]


def draw_path(path: "Sequence[PathStep]") -> Iterator[tuple[str, bool]]:
    """Yield the nodes of a path and the arrows between, each with whether it is an arrow.

    A node that stays a variable is shown as ``?``.
    """
    if path:
        yield show_ref(path[0]["head"]), False
    for step in path:
        name = one_line(local_name(step["relation"]))
        yield f" -{name}-> " if step["forward"] else f" <-{name}- ", True
        yield show_ref(step["tail"]), False


def show_ref(shown: "Ref") -> str:
    """Return the name of an answer or a node on one line, else its id, else ``?``."""
    return one_line(shown["name"] or (f"<{shown['id']}>" if shown["id"] else "?"))


def no_answer_reason(record: "Record") -> str:
    """Return why a record has no answer, as what follows "No answer found"."""
    if record["stopped_by"]:
        return f": the limit of {record['stopped_by']} was reached"
    if said := record["trace"][-1].get("reason"):
        return f": {one_line(said)}"
    if record["topics"]:
        return " in the graph"
    return ": the question names no entity of the graph; name one, or give it as a topic"


def find_error(record: "Record") -> str:
    """Return the last error of a run in one line."""
    entries: list[dict[str, Any]] = record["trace"]
    errors = [str(entry["error"]) for entry in entries if "error" in entry]
    return one_line(errors[-1], 500) if errors else "the run failed"
