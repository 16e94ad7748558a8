"""Run folders on a small town whose labels are hostile: what `kgqa eval` would leave behind."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from kgqa.api import ask
from kgqa.evaluation.datasets import load
from kgqa.evaluation.result_files import read_results
from kgqa.evaluation.scoring.run_metrics import measure_results
from kgqa.models.scripted import Line, ScriptedModel
from kgqa.prompts.base import Prompt
from kgqa.tests.conftest import PREFIXES
from kgqa.tests.support.frontier import written

HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=document.title='owned'>"

GRAPH = f"""{PREFIXES}
e:ulm rdfs:label "Ulm"@en ; r:river e:danube ; r:twin e:evil ; r:inhabitants 126000 .
e:danube rdfs:label "Danube"@en ; r:mouth e:sea .
e:iller rdfs:label "Iller"@en ; r:flows_into e:danube .
e:lech rdfs:label "Lech"@en ; r:flows_into e:danube .
e:sea rdfs:label "Black Sea"@en .
e:evil rdfs:label "{HOSTILE}"@en .
"""

Json = dict[str, Any]


def _question(
    id: str, text: str, topic: str, path: list[str], *answers: tuple[str, str], **more: Any
) -> Json:
    return {
        "id": id,
        "question": text,
        "topic_entities": [{"id": f"http://t/e/{topic}", "name": topic.title()}],
        "answers": [{"id": f"http://t/e/{id}", "name": name} for id, name in answers],
        "gold_path": path,
        "hops": len(path),
        "kind": "chain",
        **more,
    }


RIVERS = ("iller", "Iller"), ("lech", "Lech")

QUESTIONS = [
    _question("q1", "Which river flows through Ulm?", "ulm", ["river"], ("danube", "Danube")),
    _question("q2", "Where does the river of Ulm end?", "ulm", ["river", "mouth"], ("sea", "Black Sea")),
    _question("q3", "Which rivers end in the Danube?", "danube", ["^flows_into"], *RIVERS, kind="set"),
    _question("q4 & <b>", f"Whose twin is {HOSTILE}?", "ulm", ["twin"], ("evil", HOSTILE)),
    _question("q5", "Who is the mayor of Ulm?", "ulm", ["mayor"]),
    _question("q6", "Which river flows past Ulm?", "ulm", ["river"], ("danube", "Danube"), kind="set"),
]  # fmt: skip
"""Five with gold, one without."""


def write_dataset(folder: Path, questions: Iterable[Json] = QUESTIONS) -> Path:
    path = folder / "town.jsonl"
    path.write_text("".join(f"{json.dumps(question)}\n" for question in questions), encoding="utf-8")
    return path


def guide(question: Json, hops: int) -> ScriptedModel:
    """A model that follows the gold path, but no further than ``hops``."""
    path = question["gold_path"][:hops]

    def line(prompt: Prompt[Any]) -> Line:
        if prompt.name == "prune_relations":
            at = prompt.chain.depth
            names = [written(offer.hops).replace(" ", "_") for offer in prompt.offers]
            wanted = path[at] if at < len(path) else None
            return {"relations": [names.index(wanted) + 1] if wanted in names else [], "rationale": HOSTILE}
        if prompt.name == "verify_chain":
            return {"decision": "stop" if prompt.chain.depth >= len(path) else "forward"}
        return {"answers": []}

    return ScriptedModel(line)


def answered(folder: Path, *, hops: int = 3, **options: Any) -> list[Json]:
    """Ask all questions and give their records."""
    graph = folder / "town.ttl"
    graph.write_text(GRAPH, encoding="utf-8")
    return [_asked(question, str(graph), hops, options) for question in QUESTIONS]


def _asked(question: Json, graph: str, hops: int, options: Json) -> Json:
    topics = [topic["id"] for topic in question["topic_entities"]]
    model = guide(question, hops)
    given = {"topics": topics, "method": "cor", "kg": graph, "model": model, "id": question["id"], **options}
    return dict(ask(question["question"], **given))


def failed(record: Json) -> Json:
    """Make of a record that of a question which failed by an exception."""
    nothing = {"answers": [], "paths": [], "evidence": [], "trace": [], "outcome": "none"}
    return {**record, **nothing, "error": f"ValueError: {HOSTILE}"}


def refined(records: list[Json]) -> list[Json]:
    """Make of records those of a method with blueprints and refinement, triggered at q2, q3 and q5."""
    signals = {"q2": "no_gain", "q3": HOSTILE, "q5": "no_gain"}
    given = []
    for record in records:
        blueprint = {"node": "blueprint", "decision": "forward", "source": "copied", "dropped": ["shore"]}
        trace = [blueprint, *record["trace"]]
        if signal := signals.get(record["id"]):
            diagnosis = {"node": "diagnose", "decision": "backtrack", "signal": signal, "step": 1}
            trace.append({**diagnosis, "recalled": [], "blueprint": "keep", "reason": HOSTILE})
        given.append({**record, "trace": trace, "config": {**record["config"], "refinement": True}})
    return given


def revised(records: list[Json]) -> list[Json]:
    """Make of records those of a method with plans in steps: q1 and q2 were to be revised, q2 was."""
    steps: list[Json] = [
        {"node": "plan", "decision": "forward", "steps": 1, "answers": ["Rome"], "tokens": [90, 10]},
        {"node": "filter", "step": 1, "reached": 9, "chosen": 4},
        {
            **{"node": "verify", "decision": "forward", "step": 1},
            **{"signals": {"model": False, "nli": None}, "tokens": [290, 10]},
        },
        {"node": "answer", "decision": "stop", "plan": {"answers": ["Rome"], "arm": None, "steps": 1}},
    ]
    signals = {"model": True, "nli": False}
    by_model = {**steps[2], "decision": "refine", "signals": signals, "verifier": HOSTILE}
    appraised = {"reward": 0.8, "task": 0.7, "entropy": 0.25, "accepted": True, "before": ["Rome"]}
    local: list[Json] = [
        {"node": "revise", "arm": "local", "steps": 2, "tokens": [590, 10]},
        {"node": "appraise", "arm": "local", "answers": ["Black Sea"], **appraised},
        {**steps[3], "plan": {"answers": ["Black Sea"], "arm": "local", "steps": 2}},
    ]
    traces = {"q1": [*steps[:2], by_model, steps[3]], "q2": [*steps[:2], by_model, *local]}
    return [{**record, "trace": traces.get(record["id"], steps)} for record in records]


def multiplied(items: list[Json], count: int) -> list[Json]:
    """Repeat questions, or their records, under new ids until there are so many."""
    return [{**items[number % len(items)], "id": f"n{number:05}"} for number in range(count)]


def write_run(
    folder: Path,
    records: Iterable[Json],
    dataset: Path,
    *,
    measured: bool = True,
    model: str | None = None,
    seed: int = 0,
    **head: Any,
) -> Path:
    """Write a run folder of records, with metrics.json where it is ``measured``."""
    folder.mkdir(parents=True)
    records = list(records)
    with (
        (folder / "results.jsonl").open("w", encoding="utf-8") as results,
        (folder / "timings.jsonl").open("w", encoding="utf-8") as timings,
    ):
        for number, record in enumerate(records):
            times = {key: value for key, value in record["usage"].items() if key.startswith("seconds")}
            results.write(json.dumps({**record, "usage": {**record["usage"], **dict.fromkeys(times)}}) + "\n")
            timings.write(json.dumps({"id": record["id"], **dict.fromkeys(times, number / 10)}) + "\n")
    config = {**records[0]["config"], **({"model": model} if model else {})}
    about = {**_head(config, dataset, seed), **head}
    (folder / "run.json").write_text(json.dumps(about), encoding="utf-8")
    if measured:
        metrics = measure_results(read_results(folder), load(dataset).questions, grounded=None, seed=seed)
        (folder / "metrics.json").write_text(json.dumps(metrics), encoding="utf-8")
    return folder


def _head(config: Mapping[str, Any], dataset: Path, seed: int) -> Json:
    content = dataset.read_bytes()
    return {
        "kgqa": "0.1.0",
        "config": config,
        "dataset": {
            "name": dataset.stem,
            "source": str(dataset),
            "format": "kgqa",
            "sha256": hashlib.sha256(content).hexdigest(),
            "split": "all",
            "limit": None,
            "questions": len(content.splitlines()),
        },
        "graph": "town:1",
        "seed": seed,
        "versions": {"python": "3.11"},
        "started": "2026-01-02T03:04:05+00:00",
    }
