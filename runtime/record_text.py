"""What a record says to people: in words, in three lines, and in a notebook with a picture of its proof."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from kgqa.kg.languages import detect_language
from kgqa.kg.phrases import list_words
from kgqa.kg.terms import local_name, one_line
from kgqa.runtime.record_table import table_of, to_html, to_markdown, to_pandas, wide_table

if TYPE_CHECKING:
    import pandas

    from kgqa.runtime.record import PathStep, Ref

OUTCOME_LABELS = {
    "grounded": "proved by the graph",
    "none": "no answer",
    "parametric": "from the model, not proved by the graph",
    "grounded_inference": "inferred by the model from facts of the graph",
    "grounded_unverified": "from the graph, if I read you right",
}

OUTAGES = {
    "kg_unavailable": "the knowledge graph is unavailable",
    "model_unavailable": "the model is unavailable",
}

READ_AS = "Read as: "

DECIDED_BY = {
    "graph": "decided by the graph",
    "model": "decided by the model",
    None: "not taken into account",
}

DID_YOU_MEAN = "or did you mean"

MAX_ANSWERS_SHOWN = 20  # of those that a record has
MAX_OTHER_ANSWERS = 100  # that a record has of another reading
MAX_NAMES_SHOWN = 5  # of the answers of another reading
MAX_PATHS_DRAWN = 12
MAX_NAME_DRAWN_CHARS = 40
MAX_READING_CHARS = 1_000


class Answered(dict[str, Any]):
    """A record as it is given to a Python caller: equal to the same JSON, and shown as people read it."""

    def __str__(self) -> str:
        """Return how the question was read, answers, the first path that proves them, how far to trust them.

        A table stands below the answers, where there is one. Others say which links between tables were
        inferred, where these are part of it, the translation of a question in another language than the
        graph's names, and what else may be meant.
        """
        paths = ["".join(path_parts(path)) for path in self["paths"]]
        more = f" (and {len(paths) - 1} more)" if len(paths) > 1 else ""
        proof = paths[0] + more if paths else "no path of the graph"
        table = wide_table(self)
        said = to_markdown(table).replace("\n", "\n  ") if table else ""
        lines = [say_answers(self), said, proof, say_inferred(self), say_language(self), say_cost(self)]
        told = "\n  ".join([*filter(None, lines), *say_alternatives(self)])
        return "\n".join(filter(None, [say_reading(self), told]))

    def _repr_html_(self) -> str:
        """Return HTML: reading, answers, table, a picture of paths, who decided the conditions, the cost."""
        table = wide_table(self)
        decided = (f"{DECIDED_BY[each['by']]}: {one_line(each['words'])}" for each in self["conditions"])
        return "".join(
            [
                "<div>",
                f"<p><em>{escape(said)}</em></p>" if (said := say_reading(self)) else "",
                f"<p><strong>{escape(say_answers(self))}</strong></p>",
                to_html(table) if table else "",
                _draw_paths(self["paths"]) if self["paths"] else "",
                *(f"<p>{escape(words)}</p>" for words in filter(None, (*decided, say_inferred(self)))),
                f"<p><small>{escape(say_cost(self))}</small></p>",
                *(f"<p>{escape(line)}</p>" for line in say_alternatives(self)),
                "</div>",
            ]
        )

    def to_pandas(self) -> "pandas.DataFrame":
        """Return the table, or the answers as one column; numbers where a column holds nothing else.

        Raises:
            ImportError: if pandas is not installed.
            ValueError: if there are no answers; it says why.
        """
        if not self["answers"]:
            raise ValueError(say_answers(self))
        return to_pandas(table_of(self))


def say_answers(record: Mapping[str, Any]) -> str:
    """Return the answers on one line, or why there are none.

    >>> named = [{"id": None, "name": name} for name in ("Chad", "Mali", "Peru")]
    >>> say_answers({"answers": named, "outcome": "grounded"})
    'Chad, Mali and Peru'
    """
    if outage := OUTAGES.get(record["outcome"]):
        errors = [one_line(str(entry["error"]), 1000) for entry in record["trace"] if "error" in entry]
        return f"No answer: {outage}{f' ({errors[-1]})' if errors else ''}."
    if not record["answers"]:
        return f"No answer found{_no_answer_reason(record)}."
    table = record.get("table")
    return list_answers(record["answers"], cut=bool(table and table["truncated"]))


def has_sentence(record: Mapping[str, Any]) -> bool:
    """Return whether a sentence says the answers to who asked (blocking).

    None does to a question in another language than English or than the names of the graph, nor where a
    table says more, nor a no.
    """
    answers = record["answers"]
    is_foreign = say_language(record) or detect_language(record["question"]) not in ("", "en")
    return bool(answers) and answers[0]["id"] != "false" and not is_foreign and not wide_table(record)


def as_sentence(said: str | None) -> str | None:
    """Return a sentence with its full stop; None stays."""
    return f"{said}{'' if said.endswith(('.', '!', '?')) else '.'}" if said else None


def unique_refs(refs: "Iterable[Ref]") -> "list[Ref]":
    """Return what is named, each once."""
    return [*{(each["id"], each["name"]): each for each in refs}.values()]


def list_answers(answers: "Sequence[Ref]", most: int = MAX_ANSWERS_SHOWN, *, cut: bool) -> str:
    """Return the first answers on one line; ``cut`` where there are more than these."""
    names = [ref_text(answer).removesuffix("T00:00:00Z") for answer in answers[:most]]  # a day
    if cut or len(answers) > most:
        names.append("more" if cut else f"{len(answers) - most} more")
    if len(names) > 1 and any(", " in name for name in names):
        names = ["; ".join([*names[:-1], f"and {names[-1]}"])]
    return list_words(names) if names else "no answer"


def say_alternatives(record: Mapping[str, Any]) -> list[str]:
    """Return a line for each other reading, by the number that takes it, below one that asks.

    >>> chad = {"id": "http://e/chad", "name": "Chad"}
    >>> other = {"reading": "what borders Libya", "answers": [chad], "truncated": True}
    >>> say_alternatives({"alternatives": [other]})
    ['or did you mean', '[2] what borders Libya: Chad and more']
    """
    others = record.get("alternatives") or ()
    names = [list_answers(each["answers"], MAX_NAMES_SHOWN, cut=each["truncated"]) for each in others]
    lines = [
        one_line(f"[{number}] {each['reading']}: {named}", 1000)
        for number, (each, named) in enumerate(zip(others, names, strict=True), 2)
    ]
    return [DID_YOU_MEAN, *lines] if lines else []


def say_reading(record: Mapping[str, Any], *, in_sentence: bool = False) -> str:
    """Return how a question was read, on one line; nothing where no query gives its answers.

    Nor where a sentence is said with it (``in_sentence``), which says as much.

    >>> say_reading({"reading": "the capital of Peru"})
    'Read as: the capital of Peru'
    """
    reading = "" if in_sentence and record.get("sentence") else record.get("reading") or ""
    return one_line(f"{READ_AS}{reading}", MAX_READING_CHARS) if reading else ""


def say_language(record: Mapping[str, Any]) -> str:
    """Return the translation of a question that is not in the language of the graph's names; else nothing.

    >>> say_language({"trace": [{"node": "link", "translated": "Who wrote Faust?"}]})
    'translated: "Who wrote Faust?"'
    """
    first: Mapping[str, Any] = next(iter(record["trace"]), {})
    translated = first.get("translated") or first.get("read_as")  # as earlier versions call it
    return one_line(f'translated: "{translated}"' if translated else str(first.get("language", "")), 1000)


def say_record(record: Mapping[str, Any]) -> str:
    """Return how the question was read; the answers in a sentence, how far to trust them; table and paths.

    >>> chad = {"id": "http://e/chad", "name": "Chad"}
    >>> say_record({"answers": [chad], "outcome": "grounded_unverified", "paths": []})
    'Chad (from the graph, if I read you right).'
    """
    said, others = say_answers(record), "\n".join(say_alternatives(record))
    if not record["answers"]:
        return "\n\n".join(filter(None, [said, others]))
    caveat = _caveat(record["outcome"])
    paths = [path_parts(path) for path in record["paths"][:MAX_PATHS_DRAWN]]
    if len(record["paths"]) == 1 and len(record["answers"]) > 1:  # it leads to all of them
        paths[0][-1:] = [said]
    table = wide_table(record)
    shown = [to_markdown(table)] if table else []
    sentence = (record.get("sentence") or f"{said}.").removesuffix(".")
    answers = f"{sentence}{f' ({caveat})' if caveat else ''}."
    first = f"{reading}.\n{answers}" if (reading := say_reading(record, in_sentence=True)) else answers
    return "\n\n".join(filter(None, [first, *shown, *map("".join, paths), others]))


def say_cost(record: Mapping[str, Any]) -> str:
    """Return the outcome, who answered, and what it took, on one line."""
    usage = record["usage"]
    calls, seconds = (usage["llm_calls"] or 0) + (usage["cached_calls"] or 0), usage["seconds"]
    parts = [
        OUTCOME_LABELS.get(record["outcome"], record["outcome"]),
        f"{record['method']}, {record['config']['model']}",
        f"confidence {record['confidence']:.2f}" if record["confidence"] is not None else "",
        count_of(calls, "model call") if calls else "",
        count_of(usage["kg_queries"] or 0, "graph query"),
        f"{usage['model_queries']} more to read the question" if usage["model_queries"] else "",
        "" if seconds is None else f"{seconds:.2f} s",
        f"stopped by {record['stopped_by']}" if record["stopped_by"] else "",
    ]
    return one_line(" · ".join(filter(None, parts)))


def say_inferred(record: Mapping[str, Any]) -> str:
    """Return which links between tables an answer rests on that were inferred; nothing where none were."""
    found = [link for entry in record["trace"][-1:] for link in entry.get("inferred", ())]
    return one_line(f"inferred: {'; '.join(found)}", 1000) if found else ""


def _caveat(outcome: str) -> str:
    """Return how far an answer is to be trusted that the graph does not prove."""
    return "" if outcome == "grounded" else OUTCOME_LABELS.get(outcome, "")


def _no_answer_reason(record: Mapping[str, Any]) -> str:
    """Return why there is no answer, to stand after the words that say so."""
    if record["stopped_by"]:
        return f": the limit of {record['stopped_by']} was reached"
    reasons = [entry.get("reason") for entry in record["trace"][-1:]]
    if said := next(filter(None, [*reasons, record.get("error")]), ""):
        return f": {one_line(str(said), 1000)}"
    if errors := [str(entry["error"]) for entry in record["trace"] if entry.get("error")]:
        more = f" (and {count_of(len(errors) - 1, 'more failure')})" if len(errors) > 1 else ""
        return f": {one_line(errors[0], 1000)}{more}"
    if record["topics"]:
        return " in the graph"
    return ": the question names no entity of the graph; give one with --topic, or topics= in Python"


def path_parts(path: "Sequence[PathStep]") -> list[str]:
    """Return nodes and the arrows between them, in turn; a node that stays a variable is ``?``."""
    parts = [ref_text(path[0]["head"])] if path else []
    for step in path:
        name = _relation_text(step)
        parts += [f" -{name}-> " if step["forward"] else f" <-{name}- ", ref_text(step["tail"])]
    return parts


def path_end(line: str) -> str:
    """Return what a path ends in that is written on a line; nothing where the line is no path.

    >>> path_end("Lima <-capital- Peru -currency-> Sol"), path_end("Sol."), path_end("Lima <-seat- A - B")
    ('Sol', '', 'A - B')
    """
    *before, last = line.rsplit(" <-", 1)
    if "-> " in last:
        return last.rpartition("-> ")[2]
    return last.partition("- ")[2] if before else ""


def _relation_text(step: "PathStep") -> str:
    return one_line(step.get("name") or unquote(local_name(step["relation"])))


def ref_text(shown: "Ref") -> str:
    """Return the name of a term, or its id where it has none."""
    return one_line(shown["name"] or (f"<{shown['id']}>" if shown["id"] else "?"))


def count_of(number: int, noun: str) -> str:
    """Return a number with its noun."""
    many = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number} {noun if number == 1 else many}"


def _draw_paths(paths: "Sequence[Sequence[PathStep]]") -> str:
    """Return an SVG with a line for each path: nodes in boxes, relations on arrows."""
    rows = [_draw_path(path, 44 * row) for row, path in enumerate(paths[:MAX_PATHS_DRAWN])]
    width = max(width for _, width in rows)
    left = len(paths) - len(rows)
    said = "; ".join("".join(path_parts(path)) for path in paths[:MAX_PATHS_DRAWN])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width}" height="{44 * len(rows)}" '
        f'font-family="sans-serif" font-size="12" fill="currentColor" stroke="none">'
        f"<title>{escape(said)}</title>{''.join(drawn for drawn, _ in rows)}</svg>"
    ) + (f"<p>and {count_of(left, 'more path')}</p>" if left > 0 else "")


def _draw_path(path: "Sequence[PathStep]", top: int) -> tuple[str, int]:
    """Return a path as SVG, ``top`` pixels from above, and how many pixels it is wide."""
    x, y = 1, top + 22
    drawn = []
    for place, part in enumerate(path_parts(path)):
        step = path[place // 2] if place % 2 else None
        text = one_line(_relation_text(step) if step else part, MAX_NAME_DRAWN_CHARS)
        width = 7 * len(text) + 20
        label = f'<text x="{x + width // 2}" y="{y - 6 if step else y + 4}" text-anchor="middle">'
        if step:
            tip = (x + width, -7) if step["forward"] else (x, 7)
            drawn.append(f'<path d="M{x} {y}H{x + width}" stroke="currentColor"/>')
            drawn.append(f'<path d="M{tip[0]} {y}l{tip[1]} -4v8z"/>')
        else:
            box = f'width="{width}" height="26" rx="6" fill="none" stroke="currentColor"'
            drawn.append(f'<rect x="{x}" y="{y - 13}" {box}/>')
        drawn.append(f"{label}{escape(text)}</text>")
        x += width
    return "".join(drawn), x + 1
