"""Shows records and steps to people, in colour where the terminal has it."""

from typing import Any

from rich.console import Console
from rich.text import Text

from kgqa.kg.terms import local_name, one_line
from kgqa.session.record import PathStep, Record, Ref

ANSWERS = 20
"""Answers that are shown at most; ``--json`` gives all."""

LINE = 1000
"""Characters of a step that are shown at most."""

COLOURS = {
    "stop": "green",
    "forward": "cyan",
    "filter": "magenta",
    "refine": "magenta",
    "backtrack": "yellow",
}

HONESTLY = {
    "parametric": "from the model's memory, not from the graph",
    "grounded_inference": "inferred by the model from facts of the graph",
}


def show_record(record: Record) -> None:
    """Print the answers, the paths that prove them, and what they cost."""
    console = Console(highlight=False, soft_wrap=True)
    for answer in record["answers"][:ANSWERS]:
        console.print(Text(_name(answer), style="bold green"))
    if len(record["answers"]) > ANSWERS:
        console.print(Text(f"... and {len(record['answers']) - ANSWERS} more (--json gives all)"))
    if not record["answers"]:
        console.print(Text(f"No answer found{_why_not(record)}.", style="yellow"))
    for path in record["paths"]:
        console.print(Text("  ").append_text(draw_path(path)))
    console.print(Text(f"  {_footer(record)}", style="dim"))


def show_step(entry: dict[str, Any], *, to_stderr: bool) -> None:
    """Print one step of a run: its node, its decision, and why."""
    console = Console(highlight=False, soft_wrap=True, stderr=to_stderr)
    line = Text(f"{entry['node']:<19}", style="bold")
    line.append(f"{entry['decision']:<10}", style=COLOURS[entry["decision"]])
    line.append(_what(entry), style="default")
    console.print(line)


def draw_path(path: list[PathStep]) -> Text:
    """Draw a path as arrows; a node that stays a variable is shown as ``?``."""
    drawn = Text(_name(path[0]["head"]) if path else "")
    for step in path:
        name = one_line(local_name(step["relation"]))
        drawn.append(f" -{name}-> " if step["forward"] else f" <-{name}- ", style="cyan")
        drawn.append(_name(step["tail"]))
    return drawn


def _name(shown: Ref) -> str:
    return one_line(shown["name"] or (f"<{shown['id']}>" if shown["id"] else "?"))


def _why_not(record: Record) -> str:
    if record["stopped_by"]:
        return f": the limit of {record['stopped_by']} was reached"
    return (
        " in the graph"
        if record["topics"]
        else ": the question names no entity of the graph; give one with --topic"
    )


def _footer(record: Record) -> str:
    usage = record["usage"]
    parts = [
        HONESTLY.get(record["outcome"], record["outcome"]),
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


def _what(entry: dict[str, Any]) -> str:
    parts = []
    if "topics" in entry:
        parts.append(", ".join(map(_name, entry["topics"])))
    if "chain" in entry:
        parts.append(entry["chain"])
    parts += [f"{entry[key]} {key}" for key in ("relations", "candidates", "kept") if key in entry]
    if entry.get("chosen"):
        parts.append("chose " + " ".join(entry["chosen"]))
    parts += [str(entry[key]) for key in ("reason", "error", "outcome") if entry.get(key)]
    return one_line(" · ".join(parts), LINE)
