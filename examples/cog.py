"""Plays the two case studies of CoG (appendix J) with models that have one weakness each.

```
python examples/cog.py foster                    # the super-node with acting noise
python examples/cog.py foster guidance=false     # without blueprints
python examples/cog.py hanks                     # the school that is no college
python examples/cog.py hanks refinement=false    # without diagnosis
```

The models are scripts. They answer by what a prompt shows and remember nothing: the same prompt
gets the same reply, and an option of CoG changes only what they are shown.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import kgqa
from kgqa.cli.options import read_options
from kgqa.cli.show_record import show_record, show_step
from kgqa.models.scripted import ScriptedModel
from kgqa.priors.blueprints import build_blueprints
from kgqa.priors.encoder import open_encoder
from kgqa.priors.training_questions import read_training_questions
from kgqa.prompts.adapt_blueprint import AdaptBlueprint, Decompose
from kgqa.prompts.base import Prompt
from kgqa.prompts.check_sufficiency import CheckSufficiency
from kgqa.prompts.diagnose import Diagnose, PrunedBranch
from kgqa.prompts.prune_relations import PruneRelations

HERE = Path(__file__).parent

Reply = dict[str, Any]


def falls_for_acting(prompt: Prompt[Any]) -> Reply:
    """Follow whatever has to do with acting, since the question says actress; judge soundly."""
    match prompt:
        case Decompose():
            films, music = (
                "Find the movies of the actress Jodie Foster.",
                "Keep those with music by Mark Isham.",
            )
            return {"subgoals": [films, music]}
        case AdaptBlueprint():
            return {"branches": [["film.director.film"], ["^film.film.music"]]}
        case PruneRelations():
            acting = [
                n for n, o in enumerate(prompt.offers, 1) if o.hops[0].forward and _acting(o.hops[0].words)
            ]
            return {"relations": acting[: prompt.width] or [1]}
        case CheckSufficiency():
            if prompt.chain.hops[-1].words in {"film.director.film", "film.film.music"}:
                return {"decision": "stop", "finding": f"{len(prompt.candidates)} movies are found."}
            return {"decision": "backtrack", "rationale": "to act is not to direct"}
        case Diagnose():
            return _recall(prompt, lambda each: (each.relevance or 0, _acting(each.chain.hops[-1].words)))
    return {"chosen": []}


def _acting(relation: str) -> bool:
    return "actor" in relation or "performance" in relation


def falls_for_schools(prompt: Prompt[Any]) -> Reply:
    """Keep what is called a school, since the question says school; judge numbers soundly."""
    match prompt:
        case Decompose():
            school, number = "Find the school that Tom Hanks went to.", "Find how many postgraduates it has."
            return {"subgoals": [school, number]}
        case AdaptBlueprint():
            return {"branches": [["education", "institution", "number_of_postgraduates"]]}
        case PruneRelations():
            clues = ("number_of_postgraduates", "number_of_students", "institution", "education")
            offered = [offer.hops[-1].words for offer in prompt.offers]
            return {"relations": [offered.index(clue) + 1 for clue in clues if clue in offered][:1]}
        case CheckSufficiency():
            return _judge_schools(prompt)
        case Diagnose():
            return _recall(prompt, lambda each: "University" in str(each.chain))
    return {"chosen": []}


def _judge_schools(prompt: CheckSufficiency) -> Reply:
    names = [str(candidate.term) for candidate in prompt.candidates]
    if not names[0].isdigit():
        called = [
            [n for n, name in enumerate(names, 1) if kind in name] for kind in ("School", "University", "")
        ]
        kept = next(filter(None, called))
        return {"decision": "forward", "keep": kept, "finding": f"He went to {names[kept[0] - 1]}."}
    if prompt.chain.hops[-1].words == "number_of_postgraduates":
        return {"decision": "stop", "finding": f"It has {names[0]} postgraduates."}
    return {"decision": "backtrack", "rationale": "a high school has no postgraduates"}


def _recall(prompt: Diagnose, best: Callable[[PrunedBranch], Any]) -> Reply:
    """Blame the decision that set the best branch aside, the first of equals."""
    if not prompt.pruned:
        return {"step": 0}
    branch = max(prompt.pruned, key=best)
    return {
        "rationale": "a branch that was set aside is better",
        "step": branch.step,
        "recall": [prompt.pruned.index(branch) + 1],
    }


class Case(NamedTuple):
    """A case study: a question, the graph, the topic entities, and who answers prompts."""

    question: str
    kg: str
    topics: list[str]
    model: Callable[[Prompt[Any]], Reply]


CASES = {
    "foster": Case(
        "Which movies did the actress Jodie Foster direct to music by Mark Isham?",
        str(HERE / "jodie_foster.ttl"),
        ["Jodie Foster", "Mark Isham"],
        falls_for_acting,
    ),
    "hanks": Case(
        "How many postgraduates study at the school that Tom Hanks went to?",
        str(HERE / "tom_hanks.ttl"),
        ["Tom Hanks"],
        falls_for_schools,
    ),
}


def build_library(folder: Path) -> str:
    """Build the blueprints of the solved questions, as ``kgqa blueprints build`` does; name the folder."""
    lines = (HERE / "solved.jsonl").read_text(encoding="utf-8").splitlines()
    encoder = open_encoder()
    build_blueprints(read_training_questions(map(json.loads, lines)), folder, encoder.encode, encoder.name)
    return str(folder)


def main(name: str, *options: str) -> None:
    """Ask the question of a case, with options as key=value; show each step and the answer."""
    case = CASES[name]
    with TemporaryDirectory() as folder:
        library = build_library(Path(folder) / "solved")
        given = {"blueprints": library, "allow_parametric": False, "planning": "first"}
        record = kgqa.ask(
            case.question,
            kg=case.kg,
            topics=case.topics,
            method="cog",
            model=ScriptedModel(case.model),
            **{**given, **read_options(list(options))},
        )
    for entry in record["trace"]:
        show_step(entry, to_stderr=False)
    show_record(record)


if __name__ == "__main__":
    main(*sys.argv[1:])
