"""A graph of towns, rivers and seas, questions about it, and a model that knows the way."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kgqa.models.scripted import Line, ScriptedModel
from kgqa.prompts.base import Prompt
from kgqa.tests.support.frontier import written

TOWNS = 12


def graph() -> str:
    """Return the graph in Turtle."""
    towns = (f'e:t{n} rdfs:label "Town {n}" ; r:river e:r{n} .' for n in range(TOWNS))
    rivers = (f'e:r{n} rdfs:label "River {n}" ; r:mouth e:s{n % 3} .' for n in range(TOWNS))
    seas = (f'e:s{n} rdfs:label "Sea {n}" .' for n in range(3))
    return "\n".join([*towns, *rivers, *seas])


def question(n: int) -> dict[str, Any]:
    """Return one question; every other one is of the split ``test``."""
    return {
        "id": f"q{n:02}",
        "question": f"Into which sea does the river of Town {n} flow?",
        "topic_entities": [{"id": f"http://t/e/t{n}", "name": f"Town {n}"}],
        "answers": [{"id": f"http://t/e/s{n % 3}", "name": f"Sea {n % 3}"}],
        "gold_path": ["river", "mouth"],
        "split": "test" if n % 2 else "train",
    }


def write(path: Path, questions: int = TOWNS) -> Path:
    """Write the questions to a file."""
    lines = (json.dumps(question(n)) for n in range(questions))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def guide(replace: Callable[[Prompt[Any]], Line | None] = lambda prompt: None) -> ScriptedModel:
    """A model that goes from town to river to sea, except where ``replace`` gives another line."""

    def line(prompt: Any) -> Line:
        other = replace(prompt)
        if other is not None:
            return other
        if prompt.name == "prune_relations":
            wanted = ("river", "mouth")[prompt.chain.depth]
            return {"relations": [[written(each.hops) for each in prompt.offers].index(wanted) + 1]}
        if prompt.name == "verify_chain":
            return {"decision": "stop" if prompt.chain.depth == 2 else "forward"}
        return {"answers": []}

    return ScriptedModel(line)
