"""How would this be searched for, step by step? (VoG §3.1: plan with predicted observations)."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from kgqa.kg.terms import Entity
from kgqa.prompts.base import MAX_TOPICS_SHOWN, Prompt, draw_case, quoted
from kgqa.prompts.plans import MAX_PLAN_STEPS, STEP_FORM, ExplainedReply, PlanReply, check_steps
from kgqa.prompts.progress import SolvedQuestion, draw_solved_questions

_LABEL = re.compile(
    r"^[ \t>*#-]{0,8}(?:(?:expected|new|predicted|revised|updated)[ \t])?"
    r"(?P<kind>thought|action|observation)[ \t]{0,4}(?P<number>[0-9]{1,3})?[ \t*]{0,4}:"
    r"|^[ \t]{0,8}(?=(?:search|finish)[ \t]?\[)",
    re.IGNORECASE | re.MULTILINE,
)
_CALL = re.compile(r"\b(search|finish)[ \t]?(?=\[)", re.IGNORECASE)
_WORD = re.compile(r"\W{0,4}(search|finish)\b[ \t:]{0,4}", re.IGNORECASE)
_STRING = r'\s*("(?:[^"\\]|\\.)*+")\s*'
_QUOTED = re.compile(rf"\({_STRING},{_STRING},{_STRING}\)", re.DOTALL)
_QUOTES = {'"': '"', "'": "'", "“": "”", "\u2018": "\u2019"}
_DECODER = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str)


@dataclass(slots=True)
class _StepDraft:
    thought: str = ""
    search: str = ""
    observation: list[list[str]] = field(default_factory=list)

    def goes_before(self, kind: str) -> bool:
        """Return whether a field of this kind can only be part of the step after this one."""
        return bool((self.search and kind != "observation") or (self.observation and kind == "thought"))


def read_steps(text: str) -> dict[str, Any] | None:
    r"""Read a plan up to its ``Finish[...]``; None where the text has neither a step nor that.

    ``first`` is the number of the first step, 1 where it has none. Without a Finish there are
    no ``answers``, and ``whether`` is there only where the answer is yes or no.

    >>> read_steps("Thought 2: It follows.\nAction 2: Finish[Danube; Iller]")
    {'first': 2, 'steps': [], 'thought': 'It follows.', 'answers': ['Danube', 'Iller']}
    """
    steps, first = [_StepDraft()], 0
    for kind, number, value in _fields(text):
        first = first or number
        if steps[-1].goes_before(kind):
            steps.append(_StepDraft())
        if kind == "thought":
            steps[-1].thought = f"{steps[-1].thought} {_unquote(value)}".strip()
        elif kind == "observation":
            steps[-1].observation += _read_triples(value)
        elif (action := _read_action(value))[0] == "search":
            listed = _read_json_strings(action[1])
            steps[-1].search = ", ".join(listed) if listed else _unquote(_inside_brackets(action[1]))
        else:
            return {"first": max(first, 1), **_make_plan(steps), **_read_answers(action[1])}
    plan = _make_plan(steps)
    return {"first": max(first, 1), **plan} if plan["steps"] else None


def _fields(text: str) -> Iterator[tuple[str, int, str]]:
    """Return the kind, the number (0 for none) and the text of each field that has a text."""
    labels = list(_LABEL.finditer(text))
    starts = [label.start() for label in labels]
    for label, end in zip(labels, [*starts[1:], len(text)], strict=False):
        value = text[label.end() : end].strip(" \t\r\n*")
        if value:
            yield (label["kind"] or "action").lower(), int(label["number"] or 0), value


def _make_plan(steps: Sequence[_StepDraft]) -> dict[str, Any]:
    """Return the steps that search for something or observe it, and the thought after them."""
    done = [asdict(step) for step in steps if step.search or step.observation]
    last = steps[-1]
    return {"steps": done, "thought": "" if last.search or last.observation else last.thought}


def _read_action(value: str) -> tuple[str, str]:
    """Return ``search`` or ``finish``, and the text from its bracket on."""
    found = _CALL.search(value) or _WORD.match(value)
    return (found[1].lower(), value[found.end() :]) if found else ("search", value)


def _read_answers(argument: str) -> dict[str, Any]:
    """Read a JSON list, with brackets of its own or without, or what semicolons part."""
    listed = _read_json_strings(argument)
    if listed is None:
        inside = _inside_brackets(argument)
        listed = _split_answers(_inside_brackets(inside) if inside.startswith("[") else inside)
    answers = list(filter(None, map(_unquote, listed)))
    plain = [answer.casefold().rstrip(".!") for answer in answers]
    return {"answers": plain, "whether": True} if plain in (["yes"], ["no"]) else {"answers": answers}


def _read_json_strings(text: str) -> list[str] | None:
    """Read ``["a", "b"]`` or ``[["a", "b"]]`` from the beginning of a text; None where it is neither."""
    inner = text[1:].lstrip()
    if not text.startswith("[") or not inner.startswith(("[", '"')):
        return None
    value = _decode_json(inner if inner.startswith("[") else text)
    return value if isinstance(value, list) and all(isinstance(item, str) for item in value) else None


def _decode_json(text: str) -> Any:
    try:
        return _DECODER.raw_decode(text)[0]
    except (ValueError, RecursionError):
        return None


def _inside_brackets(text: str) -> str:
    """Return what is between the first bracket and its own end; the first line where it has none."""
    if not text.startswith("["):
        return text.partition("\n")[0].strip()
    whole = next(_balanced(text, "[", "]"), None)
    return (text[1:].partition("\n")[0] if whole is None else whole).strip()


def _balanced(text: str, opening: str, closing: str) -> Iterator[str]:
    depth = start = 0
    for mark in re.finditer(f"[{re.escape(opening + closing)}]", text):
        if mark[0] == opening:
            start = start if depth else mark.end()
            depth += 1
        elif depth:
            depth -= 1
            if not depth:
                yield text[start : mark.start()]


def _split_answers(text: str) -> list[str]:
    """Part quoted items by what is between their quotes, others by semicolons only."""
    opening, closing = text[:1], _QUOTES.get(text[:1])
    if closing and len(text) > 1 and text.endswith(closing):
        return re.split(rf"{closing}\s*[,;]\s*{opening}", text[1:-1])
    return text.split(";")


def _unquote(text: str) -> str:
    line = " ".join(text.split())
    if len(line) < 2 or _QUOTES.get(line[0]) != line[-1]:
        return line
    try:
        return str(_DECODER.decode(line)).strip()
    except ValueError:
        return line[1:-1].strip()


def _read_triples(value: str) -> list[list[str]]:
    """Read ``(a, b, c) (d, e, f)`` or a JSON list of triples; what is no triple is left out."""
    parts: list[Any]
    if quoted := _QUOTED.findall(value):
        parts = [list(map(_unquote, row)) for row in quoted]
    elif value.startswith("["):
        rows: Any = _decode_json(value)
        parts = rows if isinstance(rows, list) and rows and isinstance(rows[0], list) else [rows]
    else:
        parts = []
        for inside in _balanced(value, "(", ")"):
            head, *rest = map(_unquote, inside.strip().split(","))
            parts.append([head, *rest[:1], ", ".join(rest[1:])])  # of more than three the last are one
    return [
        row
        for row in parts
        if isinstance(row, list) and len(row) == 3 and all(isinstance(part, str) and part for part in row)
    ]


LEFT_TO_THE_END = (
    "What only tells the answers from others of their kind (a date, a number, a kind, the largest by some "
    "value) needs no step: it is looked up and checked at the end. Plan a step for it only if the question "
    "asks for this value, or for yes or no."
)


class StepsReply(PlanReply, ExplainedReply):
    """A plan: its reason, its steps, and what it ends with."""


class PlanSteps(Prompt[StepsReply]):
    """Write a plan of at most ``depth`` search steps that begins at the ``topics``.

    With ``attributes`` conditions on the answers are for the end of the search.
    """

    question: str
    topics: tuple[Entity, ...]
    depth: int = MAX_PLAN_STEPS
    exemplars: tuple[SolvedQuestion, ...] = ()
    attributes: bool = False

    instructions = (
        """\
You plan a search in a knowledge graph, which will then be carried out and checked. You are given a \
question, the entities of the graph that it names, and how many steps the plan may have.

- The first step begins at the topic entities; each later one begins at what the step before it found.
- One search a step: one relation to follow, from all entities that the step is about. What has to be \
looked up for several topic entities in the same way is one step.
- As few steps as the question needs; count no step for putting results together.
- For each search predict what the graph will say, as triples of head, relation and tail in plain words. \
Where you do not know a name, put what kind of thing it is.
- End with the answers that your predictions lead to, one string each. If the question asks for a number \
of things, the answer is that number.
- If the question asks for yes or no, "whether" is true and "answers" is ["yes"] or ["no"].
- Do not judge the question and do not refuse it: where you are not sure, guess. The graph will correct you.

Reply with one JSON object: {"rationale": "one short sentence", "steps": [steps], "thought": \
"one sentence: how the answers follow", "answers": ["answer"], "whether": false}.
"""
        + STEP_FORM
        + """
Example
Question: "Which river runs through the town that the painter of The Garden Terrace was born in?"
Topic entities: "The Garden Terrace"
Steps, at most: 10
Reply: {"rationale": "From the picture to its painter, to the town, to the river.", "steps": \
[{"thought": "Begin with who painted it.", "search": "The Garden Terrace painter", "observation": \
[["The Garden Terrace", "painted by", "Caspar David Friedrich"]]}, {"thought": "Then where this painter was \
born.", "search": "Caspar David Friedrich place of birth", "observation": [["Caspar David Friedrich", \
"born in", "Greifswald"]]}, {"thought": "Then the river of this town.", "search": "Greifswald river", \
"observation": [["Greifswald", "lies on", "Ryck"]]}], "thought": "The river is the Ryck.", "answers": \
["Ryck"], "whether": false}

Example
Question: "Do lichens and corals both live in symbiosis with algae?"
Topic entities: "lichen", "coral"
Steps, at most: 4
Reply: {"rationale": "The same relation from both.", "steps": [{"thought": "Find what each lives in \
symbiosis with.", "search": "lichen and coral symbiosis", "observation": [["lichen", "symbiosis with", \
"algae"], ["coral", "symbiosis with", "algae"]]}], "thought": "Both do.", "answers": ["yes"], "whether": true}
"""
    )

    def case(self) -> str:
        """Show solved questions, the question, the topic entities and the number of steps."""
        names = ", ".join(quoted(str(topic)) for topic in self.topics[:MAX_TOPICS_SHOWN])
        lines = [f"Topic entities: {names or 'none'}", f"Steps, at most: {self.depth}"]
        lines += [LEFT_TO_THE_END] * self.attributes
        return draw_case(self.question, *lines, before=draw_solved_questions(self.exemplars))

    def check(self, reply: StepsReply) -> None:
        """Refuse a plan that has no steps, too many, or one that searches for nothing."""
        check_steps(reply.steps)
        if not 1 <= len(reply.steps) <= self.depth:
            raise ValueError(f"the plan has {len(reply.steps)} steps; give 1 to {self.depth}")

    def read(self, text: str) -> dict[str, Any] | None:
        """Read a plan that is written out as thoughts, actions and observations."""
        return read_steps(text)
