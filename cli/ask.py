"""``kgqa ask``: answer one question, and show the record, its paths and its steps."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from kgqa.cli.options import read_options
from kgqa.cli.output import ExitCode, fail, outage_exit_code, print_json
from kgqa.kg.terms import local_name, one_line
from kgqa.runtime.record import PathStep, Record, Ref

if TYPE_CHECKING:
    from kgqa.runtime.context import Context
    from kgqa.runtime.record import Record
    from kgqa.runtime.state import Input


def ask(
    question: Annotated[str, typer.Argument(help="The question, in natural language.")],
    method: Annotated[str, typer.Option(help="How to answer it; see: kgqa methods.")] = "cor",
    kg: Annotated[
        list[str] | None,
        typer.Option(
            help='"sample", an RDF file (several for one graph), a folder made by kgqa kg load, or the '
            "address of a SPARQL endpoint."
        ),
    ] = None,
    topic: Annotated[
        list[str] | None, typer.Option(help="Name or id of an entity that the question is about.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(help='"provider:name", or "offline" for no language model.')
    ] = None,
    option: Annotated[
        list[str] | None, typer.Option(help="An option of the method, as key=value; see: kgqa methods.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole record as JSON.")] = False,
    watch: Annotated[bool, typer.Option(help="Show each step as it happens.")] = False,
) -> None:
    """Answer a question over a knowledge graph, with the path that proves the answer.

    Exit status: 0 answered, 1 no answer (or "unknown" instead of yes or no), 2 usage,
    3 knowledge graph unavailable, 4 model unavailable.
    """
    from kgqa.api import make_context, make_input

    try:
        given = {"kg": tuple(kg) if kg else None, "model": model, **read_options(option or [])}
        context = make_context(
            method.lower(), {key: value for key, value in given.items() if value is not None}
        )
        state = make_input(question, topic or [])
    except ValueError as error:
        fail(str(error), ExitCode.USAGE)
    record = _stream_steps(state, context, watch, as_json)
    if as_json:
        print_json(record)
    _exit_on_failure(record)
    if not as_json:
        pass

        show_record(record)
    answered = record["answers"] and record["outcome"] != "none"
    raise SystemExit(int(ExitCode.ANSWERED if answered else ExitCode.NO_ANSWER))


def _stream_steps(state: "Input", context: "Context", watch: bool, quiet: bool) -> "Record":
    import asyncio

    async def run() -> "Record":
        from kgqa.api import extract_record, stream_states

        async for now in stream_states(state, context):
            if watch:
                pass

                show_step(now["trace"][-1], to_stderr=quiet)
        return extract_record(now)

    return asyncio.run(run())


def _exit_on_failure(record: "Record") -> None:
    """End with the exit status of an outage, or of a topic that the graph does not have."""
    errors = [entry for entry in record["trace"] if "error" in entry]
    if status := outage_exit_code(record):
        fail(_last_error(errors), status)
    if not record["answers"] and errors and errors[0]["node"] == "link":
        fail(errors[0]["error"], ExitCode.USAGE)


def _last_error(errors: list[dict[str, Any]]) -> str:
    return str(errors[-1]["error"]) if errors else "the run failed"


MAX_ANSWERS = 20
"""Answers that are shown at most; ``--json`` gives all."""

MAX_STEP_CHARS = 1000
"""Characters of a step that are shown at most."""

DECISION_COLOURS = {
    "stop": "green",
    "forward": "cyan",
    "filter": "magenta",
    "refine": "magenta",
    "backtrack": "yellow",
    "infer": "yellow",
}

OUTCOME_LABELS = {
    "none": "no answer",
    "parametric": "from the model, not proved by the graph",
    "grounded_inference": "inferred by the model from facts of the graph",
}


def show_record(record: Record) -> None:
    """Print the answers, the paths that prove them, and what they cost."""
    console = Console(highlight=False, soft_wrap=True)
    style = "yellow" if record["outcome"] == "none" else "bold green"
    for answer in record["answers"][:MAX_ANSWERS]:
        console.print(Text(_format_ref(answer), style=style))
    if len(record["answers"]) > MAX_ANSWERS:
        console.print(Text(f"... and {len(record['answers']) - MAX_ANSWERS} more (--json gives all)"))
    if not record["answers"]:
        console.print(
            Text(one_line(f"No answer found{_no_answer_reason(record)}.", MAX_STEP_CHARS), style="yellow")
        )
    for path in record["paths"]:
        console.print(Text("  ").append_text(draw_path(path)))
    console.print(Text(f"  {one_line(_format_footer(record), MAX_STEP_CHARS)}", style="dim"))


def show_step(entry: dict[str, Any], *, to_stderr: bool) -> None:
    """Print one step of a run: its node, its decision, and why."""
    console = Console(highlight=False, soft_wrap=True, stderr=to_stderr)
    node, decision = one_line(str(entry["node"])), one_line(str(entry["decision"]))
    line = Text(f"{node:<19}", style="bold")
    line.append(f"{decision:<10}", style=DECISION_COLOURS.get(decision, "default"))
    line.append(_describe_entry(entry), style="default")
    console.print(line)


def draw_path(path: list[PathStep]) -> Text:
    """Draw a path as arrows; a node that stays a variable is shown as ``?``."""
    drawn = Text(_format_ref(path[0]["head"]) if path else "")
    for step in path:
        name = one_line(local_name(step["relation"]))
        drawn.append(f" -{name}-> " if step["forward"] else f" <-{name}- ", style="cyan")
        drawn.append(_format_ref(step["tail"]))
    return drawn


def _format_ref(shown: Ref) -> str:
    return one_line(shown["name"] or (f"<{shown['id']}>" if shown["id"] else "?"))


def _no_answer_reason(record: Record) -> str:
    if record["stopped_by"]:
        return f": the limit of {record['stopped_by']} was reached"
    if said := record["trace"][-1].get("reason"):
        return f": {said}"
    return (
        " in the graph"
        if record["topics"]
        else ": the question names no entity of the graph; give one with --topic"
    )


def _format_footer(record: Record) -> str:
    usage = record["usage"]
    parts = [
        OUTCOME_LABELS.get(record["outcome"], record["outcome"]),
        f"{record['method']}, {record['config']['model']}",
    ]
    if usage["llm_calls"] or usage["cached_calls"]:
        parts.append(_plural(usage["llm_calls"] + usage["cached_calls"], "model call"))
    parts += [_plural(usage["kg_queries"], "graph query"), f"{usage['seconds']:.2f} s"]
    if record["stopped_by"]:
        parts.append(f"stopped by {record['stopped_by']}")
    return " · ".join(parts)


def _plural(number: int, noun: str) -> str:
    many = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number} {noun if number == 1 else many}"


def _describe_entry(entry: dict[str, Any]) -> str:
    said = (draw(entry) for key, draw in _ENTRY_PARTS.items() if key in entry)
    return one_line(" · ".join(part for part in (_step_number(entry), *said) if part), MAX_STEP_CHARS)


def _step_number(entry: dict[str, Any]) -> str:
    """Name the step of a plan that an entry is about; a diagnosis names a decision instead."""
    return f"step {entry['step']}" if "step" in entry and entry["node"] != "diagnose" else ""


def _describe_blame(entry: dict[str, Any]) -> str:
    if entry["node"] != "diagnose":
        return ""
    return f"to blame: decision {entry['step']}" if entry["step"] else "no decision is to blame"


def _describe_plan(entry: dict[str, Any]) -> str:
    """Number what a plan searches; the last entry of a record tells of its plan in other words."""
    steps = entry["plan"] if isinstance(entry["plan"], list) else []
    return " ".join(f"{number}. {step['search']}" for number, step in enumerate(steps, 1))


def _describe_signals(entry: dict[str, Any]) -> str:
    names = {"model": "the model", "nli": str(entry.get("verifier", "inference"))}
    called = [names[who] for who, signal in entry["signals"].items() if signal]
    if not called:
        return "borne out"
    heeded = "" if entry["decision"] == "refine" else ", not heeded"
    return f"revision called for by {' and '.join(called)}{heeded}"


def _describe_reward(entry: dict[str, Any]) -> str:
    taken = f", {entry['taken']} taken up" if "taken" in entry else ""
    return f"reward {entry['reward']:.2f}{taken}"


def _describe_blueprint(entry: dict[str, Any]) -> str:
    if entry["node"] == "diagnose":
        return "blueprint dropped" if entry["blueprint"] == "drop" else ""
    return entry["blueprint"] or ""


def _describe_kept(entry: dict[str, Any]) -> str:
    kept = entry["kept"]
    return f"kept {', '.join(kept)}" if isinstance(kept, list) else f"{kept} kept"


def _describe_chosen(entry: dict[str, Any]) -> str:
    chosen = entry["chosen"]
    if isinstance(chosen, list):
        return _join_items("chose", chosen)
    return f"{chosen} chosen"


def _describe_samples(entry: dict[str, Any]) -> str:
    """Say what the model has said, its reasoning first, and how often where it is more than once."""
    said = Counter(
        (sample.get("reasoning", ""), _join_items("answer", sample["answers"], ", ") or "no answer")
        for sample in entry["samples"]
    )
    return "; ".join(
        " · ".join(filter(None, (*parts, f"{times} times" if times > 1 else "")))
        for parts, times in said.items()
    )


def _join_items(what: str, items: Sequence[str], between: str = " ") -> str:
    return f"{what} {between.join(items)}" if items else ""


_ENTRY_PARTS: dict[str, Callable[[dict[str, Any]], str]] = {
    "unread": lambda entry: f"the last {entry['unread']:,} characters of the question are not read",
    "topics": lambda entry: ", ".join(map(_format_ref, entry["topics"])),
    "subgoals": lambda entry: " ".join(f"{n}. {goal}" for n, goal in enumerate(entry["subgoals"], 1)),
    "source": lambda entry: "no blueprint" if entry["source"] == "none" else entry["source"],
    "similarity": lambda entry: "" if entry["similarity"] is None else f"likeness {entry['similarity']:.2f}",
    "chain": lambda entry: entry["chain"],
    "slot": lambda entry: f"slot {entry['slot']}" if entry["slot"] else "",
    "best": lambda entry: _join_items("best", entry["best"], ", "),
    "relations": lambda entry: _plural(entry["relations"], "relation"),
    "candidates": lambda entry: _plural(entry["candidates"], "candidate"),
    "solved": lambda entry: _plural(entry["solved"], "solved question"),
    "fired": lambda entry: "fired" if entry["fired"] else "did not fire",
    "chains": lambda entry: ", ".join(entry["chains"]),
    "beam": lambda entry: _join_items("beam", entry["beam"], ", "),
    "known": lambda entry: " ".join(entry["known"]),
    "turns": lambda entry: _plural(sum("calls" in turn for turn in entry["turns"]), "turn"),
    "query": lambda entry: entry["query"],
    "plan": _describe_plan,
    "arm": lambda entry: entry["arm"],
    "reward": _describe_reward,
    "answers": lambda entry: _join_items("answer", entry["answers"], ", ") or "no answer",
    "ends": lambda entry: "" if "candidates" in entry else _plural(entry["ends"], "node"),
    "signals": _describe_signals,
    "samples": _describe_samples,
    "votes": lambda entry: ", ".join(f"{name} {votes}" for name, votes in entry["votes"].items()),
    "verdict": lambda entry: entry["verdict"],
    "for": lambda entry: _join_items("for", entry["for"], ", "),
    "against": lambda entry: _join_items("against", entry["against"], ", "),
    "kept": _describe_kept,
    "chosen": _describe_chosen,
    "added": lambda entry: _join_items("added by the blueprint", entry["added"]),
    "finding": lambda entry: entry["finding"],
    "signal": lambda entry: f"failure: {entry['signal'].replace('_', ' ')}",
    "step": _describe_blame,
    "recalled": lambda entry: _join_items("recalled", entry["recalled"], ", "),
    "blueprint": _describe_blueprint,
    "dropped": lambda entry: _join_items("not in the graph:", entry["dropped"], ", "),
    "reason": lambda entry: entry["reason"],
    "error": lambda entry: entry["error"],
    "outcome": lambda entry: entry["outcome"],
}
"""How each part of a trace entry is said, in this order."""
