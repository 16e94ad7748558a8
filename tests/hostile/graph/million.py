"""Asks about a node with a million neighbours and says, as JSON, how it went; a process of its own."""

import json
import resource
import sys
import time
from pathlib import Path
from typing import Any

import kgqa
from kgqa.kg.opening import open_graph
from kgqa.models.scripted import ScriptedModel

NEIGHBOURS = 1_000_000
"""Written in the order of their ids: to sort them so takes a fifth of the time, and as much memory."""

LABEL = "http://www.w3.org/2000/01/rdf-schema#label"

REPLIES: dict[str, dict[str, Any]] = {
    "prune_relations": {"relations": [1]},
    "verify_chain": {"decision": "stop"},
}


def main(path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.write(f'<http://t/e/hub> <{LABEL}> "Hub" .\n')
        file.writelines(
            f"<http://t/e/hub> <http://t/r/has> <http://t/e/n{n:06}> .\n" for n in range(NEIGHBOURS)
        )
        file.writelines(f'<http://t/e/n{n:06}> <{LABEL}> "Node {n}" .\n' for n in range(0, NEIGHBOURS, 100))
    graph = open_graph([path], deadline=120.0)
    before, start = _peak(), time.monotonic()
    model = ScriptedModel(lambda prompt: REPLIES[prompt.name])
    record = kgqa.ask("What has the hub?", topics=["http://t/e/hub"], method="cor", kg=graph, model=model)
    said = {
        "megabytes": _peak() - before,
        "seconds": time.monotonic() - start,
        "longest": max(len(prompt.case()) for prompt in model.prompts),
        "record": len(json.dumps(record)),
        **{key: record[key] for key in ("outcome", "stopped_by")},
        "answers": len(record["answers"]),
        "evidence": len(record["evidence"]),
        "ids": [answer["id"] for answer in record["answers"][:3]],
    }
    sys.stdout.write(json.dumps(said))


def _peak() -> int:
    """Return the most memory that the process has had, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


if __name__ == "__main__":
    main(Path(sys.argv[1]))
