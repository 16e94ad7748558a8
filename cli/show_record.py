"""Shows a record to a person: answers, paths as arrows, cost; and each step of a run."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from rich.text import Text

from kgqa.cli import output
from kgqa.kg.terms import one_line
from kgqa.runtime.record_table import MAX_ROWS_SHOWN, cell_text, hidden_rows, wide_table
from kgqa.runtime.record_text import (
    DECIDED_BY,
    MAX_ANSWERS_SHOWN,
    count_of,
    path_parts,
    ref_text,
    say_answers,
    say_cost,
    say_inferred,
    say_language,
    say_reading,
)

if TYPE_CHECKING:
    import rich.table

    from kgqa.runtime.record import PathStep, Record, Table

MAX_CHAINS_SHOWN = 4  # of those that a step offers or holds

DECISION_COLOURS = {
    "stop": "green",
    "forward": "cyan",
    "filter": "magenta",
    "refine": "magenta",
    "backtrack": "yellow",
    "infer": "yellow",
    "draft": "magenta",
}


def show_record(record: "Record", *, in_sentence: bool = False) -> None:
    """Print how the question was read, answers (if asked in a sentence), paths, who decided, and the cost."""
    console = output.open_console()
    sentence = record["sentence"] if in_sentence else None
    if said := say_reading(record, in_sentence=in_sentence):
        console.print(output.styled_line(said, "italic"))
    style = "yellow" if record["outcome"] == "none" else "bold green"
    if sentence:
        console.print(Text(sentence, style=style))
    elif table := wide_table(record):
        console.print(draw_table(table, MAX_ROWS_SHOWN))
        if more_rows := hidden_rows(table):
            console.print(f"... {more_rows}; --format csv gives {len(table['rows'])}")
    else:
        for answer in record["answers"][:MAX_ANSWERS_SHOWN]:
            console.print(Text(ref_text(answer), style=style))
        if (more := len(record["answers"]) - MAX_ANSWERS_SHOWN) > 0:
            console.print(f"... and {more} more (--format csv gives all)")
    if not record["answers"]:
        console.print(output.styled_line(say_answers(record), "yellow"))
    for path in record["paths"]:
        console.print(Text("  ").append_text(draw_path(path)))
    for condition in record["conditions"]:
        said = f"{DECIDED_BY[condition['by']]}: {condition['words']}"
        console.print(
            Text("  ").append_text(
                output.styled_line(said, "dim" if condition["by"] == "graph" else "yellow")
            )
        )
    if said := say_inferred(record):
        console.print(Text("  ").append_text(output.styled_line(said, "yellow")))
    for line in filter(None, (say_language(record), say_cost(record))):
        console.print(Text("  ", style="dim").append_text(output.styled_line(line)))


def draw_table(table: "Table", most: int | None = None) -> "rich.table.Table":
    """Draw the first rows of a record's table, or all."""
    rows = [[cell_text(cell) for cell in row] for row in table["rows"][:most]]
    return output.make_table(*map(one_line, table["columns"]), rows=rows)


def show_step(entry: dict[str, Any], *, to_stderr: bool) -> None:
    """Print one step of a run: its node, its decision, and why."""
    node, decision = one_line(str(entry["node"])), one_line(str(entry["decision"]))
    line = Text(f"{node:<19}", style="bold")
    line.append(f"{decision:<10}", style=DECISION_COLOURS.get(decision, "default"))
    parts = [f"step {entry['step']}"] if "step" in entry and entry["node"] != "diagnose" else []
    parts += [describe(entry) for key, describe in _ENTRY_PARTS.items() if key in entry]
    line.append(one_line(" · ".join(filter(None, parts)), output.MAX_LINE_CHARS), style="default")
    output.open_console(stderr=to_stderr).print(line)


def draw_path(path: "list[PathStep]") -> Text:
    """Draw a path as arrows; a node that stays a variable is shown as ``?``."""
    drawn = Text()
    for place, part in enumerate(path_parts(path)):
        drawn.append(part, style="cyan" if place % 2 else "")
    return drawn


def _describe_blame(entry: dict[str, Any]) -> str:
    if entry["node"] != "diagnose":
        return ""
    return f"to blame: decision {entry['step']}" if entry["step"] else "no decision is to blame"


def _describe_plan(entry: dict[str, Any]) -> str:
    """Number what a plan searches; the last entry of a record tells of its plan in other words."""
    steps = entry["plan"] if isinstance(entry["plan"], list) else []
    return " ".join(f"{number}. {step['search']}" for number, step in enumerate(steps, 1))


def _describe_chains(entry: dict[str, Any]) -> str:
    first, more = entry["chains"][:MAX_CHAINS_SHOWN], len(entry["chains"]) - MAX_CHAINS_SHOWN
    return ", ".join(first) + (f" and {more} more" if more > 0 else "")


def _describe_signals(entry: dict[str, Any]) -> str:
    names = {"model": "the model", "nli": str(entry.get("verifier", "inference"))}
    called = [names[who] for who, signal in entry["signals"].items() if signal]
    if not called:
        return "borne out" if False in entry["signals"].values() else "not verified"
    acted_on = "" if entry["decision"] == "refine" else ", not acted on"
    return f"revision called for by {' and '.join(called)}{acted_on}"


def _describe_reward(entry: dict[str, Any]) -> str:
    taken = f", {entry['taken']} taken up" if "taken" in entry else ""
    return f"reward {entry['reward']:.2f}{taken}"


def _describe_blueprint(entry: dict[str, Any]) -> str:
    if entry["node"] == "diagnose":
        return "blueprint dropped" if entry["blueprint"] == "drop" else ""
    return entry["blueprint"] or ""


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
    "translated": lambda entry: f'translated: "{entry["translated"]}"',
    "language": lambda entry: entry["language"],
    "topics": lambda entry: ", ".join(map(ref_text, entry["topics"])),
    "subgoals": lambda entry: " ".join(f"{n}. {goal}" for n, goal in enumerate(entry["subgoals"], 1)),
    "source": lambda entry: "no blueprint" if entry["source"] == "none" else entry["source"],
    "similarity": lambda entry: (
        "" if entry["similarity"] is None else f"similarity {entry['similarity']:.2f}"
    ),
    "chain": lambda entry: entry["chain"],
    "slot": lambda entry: f"slot {entry['slot']}" if entry["slot"] else "",
    "best": lambda entry: _join_items("best", entry["best"], ", "),
    "relations": lambda entry: count_of(entry["relations"], "relation"),
    "candidates": lambda entry: count_of(entry["candidates"], "candidate"),
    "solved": lambda entry: count_of(entry["solved"], "solved question"),
    "fired": lambda entry: "fired" if entry["fired"] else "did not fire",
    "chains": _describe_chains,
    "composed": lambda entry: " and ".join(entry["composed"]),
    "computed": lambda entry: count_of(entry["computed"], "node"),
    "beam": lambda entry: _join_items("beam", entry["beam"], ", "),
    "known": lambda entry: " ".join(entry["known"]),
    "turns": lambda entry: count_of(sum("calls" in turn for turn in entry["turns"]), "turn"),
    "query": lambda entry: entry["query"],
    "plan": _describe_plan,
    "arm": lambda entry: entry["arm"],
    "reward": _describe_reward,
    "answers": lambda entry: _join_items("answer", entry["answers"], ", ") or "no answer",
    "ends": lambda entry: "" if "candidates" in entry else count_of(entry["ends"], "node"),
    "signals": _describe_signals,
    "samples": _describe_samples,
    "votes": lambda entry: ", ".join(f"{name} {votes}" for name, votes in entry["votes"].items()),
    "verdict": lambda entry: entry["verdict"],
    "for": lambda entry: _join_items("for", entry["for"], ", "),
    "against": lambda entry: _join_items("against", entry["against"], ", "),
    "kept": lambda entry: (
        f"kept {', '.join(kept)}" if isinstance(kept := entry["kept"], list) else f"{kept} kept"
    ),
    "chosen": lambda entry: (
        _join_items("chose", chosen) if isinstance(chosen := entry["chosen"], list) else f"{chosen} chosen"
    ),
    "added": lambda entry: _join_items("added by the blueprint", entry["added"]),
    "finding": lambda entry: entry["finding"],
    "signal": lambda entry: f"failure: {entry['signal'].replace('_', ' ')}",
    "step": _describe_blame,
    "recalled": lambda entry: _join_items("recalled", entry["recalled"], ", "),
    "blueprint": _describe_blueprint,
    "dropped": lambda entry: _join_items("not in the graph:", entry["dropped"], ", "),
    "alternatives": lambda entry: f"other readings {entry['alternatives']}",
    "reason": lambda entry: entry["reason"],
    "error": lambda entry: entry["error"],
    "outcome": lambda entry: entry["outcome"],
}
"""How each part of a trace entry is said, in this order."""
