"""Shows records and steps to people, in colour where the terminal has it."""

from collections import Counter
from collections.abc import Callable, Sequence
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
    "infer": "yellow",
}

HONESTLY = {
    "none": "no answer",
    "parametric": "from the model, not proved by the graph",
    "grounded_inference": "inferred by the model from facts of the graph",
}


def show_record(record: Record) -> None:
    """Print the answers, the paths that prove them, and what they cost."""
    console = Console(highlight=False, soft_wrap=True)
    style = "yellow" if record["outcome"] == "none" else "bold green"
    for answer in record["answers"][:ANSWERS]:
        console.print(Text(_name(answer), style=style))
    if len(record["answers"]) > ANSWERS:
        console.print(Text(f"... and {len(record['answers']) - ANSWERS} more (--json gives all)"))
    if not record["answers"]:
        console.print(Text(one_line(f"No answer found{_why_not(record)}.", LINE), style="yellow"))
    for path in record["paths"]:
        console.print(Text("  ").append_text(draw_path(path)))
    console.print(Text(f"  {one_line(_footer(record), LINE)}", style="dim"))


def show_step(entry: dict[str, Any], *, to_stderr: bool) -> None:
    """Print one step of a run: its node, its decision, and why."""
    console = Console(highlight=False, soft_wrap=True, stderr=to_stderr)
    node, decision = one_line(str(entry["node"])), one_line(str(entry["decision"]))
    line = Text(f"{node:<19}", style="bold")
    line.append(f"{decision:<10}", style=COLOURS.get(decision, "default"))
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
    if said := record["trace"][-1].get("reason"):
        return f": {said}"
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
    said = (draw(entry) for key, draw in _SAID.items() if key in entry)
    return one_line(" · ".join(part for part in (_plan_step(entry), *said) if part), LINE)


def _plan_step(entry: dict[str, Any]) -> str:
    """Name the step of a plan that an entry is about; a diagnosis names a decision instead."""
    return f"step {entry['step']}" if "step" in entry and entry["node"] != "diagnose" else ""


def _blamed(entry: dict[str, Any]) -> str:
    if entry["node"] != "diagnose":
        return ""
    return f"to blame: decision {entry['step']}" if entry["step"] else "no decision is to blame"


def _planned(entry: dict[str, Any]) -> str:
    """Number what a plan searches; the last entry of a record tells of its plan in other words."""
    steps = entry["plan"] if isinstance(entry["plan"], list) else []
    return " ".join(f"{number}. {step['search']}" for number, step in enumerate(steps, 1))


def _signals(entry: dict[str, Any]) -> str:
    names = {"model": "the model", "nli": str(entry.get("verifier", "inference"))}
    called = [names[who] for who, signal in entry["signals"].items() if signal]
    if not called:
        return "borne out"
    heeded = "" if entry["decision"] == "refine" else ", not heeded"
    return f"revision called for by {' and '.join(called)}{heeded}"


def _rewarded(entry: dict[str, Any]) -> str:
    taken = f", {entry['taken']} taken up" if "taken" in entry else ""
    return f"reward {entry['reward']:.2f}{taken}"


def _blueprint(entry: dict[str, Any]) -> str:
    if entry["node"] == "diagnose":
        return "blueprint dropped" if entry["blueprint"] == "drop" else ""
    return entry["blueprint"] or ""


def _kept(entry: dict[str, Any]) -> str:
    kept = entry["kept"]
    return f"kept {', '.join(kept)}" if isinstance(kept, list) else f"{kept} kept"


def _chosen(entry: dict[str, Any]) -> str:
    chosen = entry["chosen"]
    if isinstance(chosen, list):
        return _listed("chose", chosen)
    return f"{chosen} chosen"


def _sampled(entry: dict[str, Any]) -> str:
    """Say what the model has said, its reasoning first, and how often where it is more than once."""
    said = Counter(
        (sample.get("reasoning", ""), _listed("answer", sample["answers"], ", ") or "no answer")
        for sample in entry["samples"]
    )
    return "; ".join(
        " · ".join(filter(None, (*parts, f"{times} times" if times > 1 else "")))
        for parts, times in said.items()
    )


def _listed(what: str, items: Sequence[str], between: str = " ") -> str:
    return f"{what} {between.join(items)}" if items else ""


_SAID: dict[str, Callable[[dict[str, Any]], str]] = {
    "unread": lambda entry: f"the last {entry['unread']:,} characters of the question are not read",
    "topics": lambda entry: ", ".join(map(_name, entry["topics"])),
    "subgoals": lambda entry: " ".join(f"{n}. {goal}" for n, goal in enumerate(entry["subgoals"], 1)),
    "source": lambda entry: "no blueprint" if entry["source"] == "none" else entry["source"],
    "similarity": lambda entry: "" if entry["similarity"] is None else f"likeness {entry['similarity']:.2f}",
    "chain": lambda entry: entry["chain"],
    "slot": lambda entry: f"slot {entry['slot']}" if entry["slot"] else "",
    "best": lambda entry: _listed("best", entry["best"], ", "),
    "relations": lambda entry: _plural(entry["relations"], "relation"),
    "candidates": lambda entry: _plural(entry["candidates"], "candidate"),
    "solved": lambda entry: _plural(entry["solved"], "solved question"),
    "fired": lambda entry: "fired" if entry["fired"] else "did not fire",
    "chains": lambda entry: ", ".join(entry["chains"]),
    "beam": lambda entry: _listed("beam", entry["beam"], ", "),
    "known": lambda entry: " ".join(entry["known"]),
    "turns": lambda entry: _plural(sum("calls" in turn for turn in entry["turns"]), "turn"),
    "query": lambda entry: entry["query"],
    "plan": _planned,
    "arm": lambda entry: entry["arm"],
    "reward": _rewarded,
    "answers": lambda entry: _listed("answer", entry["answers"], ", ") or "no answer",
    "ends": lambda entry: "" if "candidates" in entry else _plural(entry["ends"], "node"),
    "signals": _signals,
    "samples": _sampled,
    "votes": lambda entry: ", ".join(f"{name} {votes}" for name, votes in entry["votes"].items()),
    "verdict": lambda entry: entry["verdict"],
    "for": lambda entry: _listed("for", entry["for"], ", "),
    "against": lambda entry: _listed("against", entry["against"], ", "),
    "kept": _kept,
    "chosen": _chosen,
    "added": lambda entry: _listed("added by the blueprint", entry["added"]),
    "finding": lambda entry: entry["finding"],
    "signal": lambda entry: f"failure: {entry['signal'].replace('_', ' ')}",
    "step": _blamed,
    "recalled": lambda entry: _listed("recalled", entry["recalled"], ", "),
    "blueprint": _blueprint,
    "dropped": lambda entry: _listed("not in the graph:", entry["dropped"], ", "),
    "reason": lambda entry: entry["reason"],
    "error": lambda entry: entry["error"],
    "outcome": lambda entry: entry["outcome"],
}
"""How each part of a trace entry is said, in this order."""
