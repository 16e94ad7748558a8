"""Plays the case study of VoG (Figure 9) with a model that remembers things wrong.

```
python examples/vog.py                       # the plan is verified step by step, and revised
python examples/vog.py strategy=global       # what a revision is shown is fixed: local, lookahead, global
python examples/vog.py verification=false    # the first plan is the answer
```

The model is a script. It answers by what a prompt shows and remembers nothing: the same prompt
gets the same reply, and an option of VoG changes only what it is shown.
"""

import sys
from pathlib import Path
from typing import Any

import kgqa
from kgqa.cli.options import read_options
from kgqa.cli.show_record import show_record, show_step
from kgqa.models.scripted import ScriptedModel
from kgqa.prompts.assess_found import EvaluateFound
from kgqa.prompts.base import Prompt
from kgqa.prompts.facts import facts_as_statements
from kgqa.prompts.plan_steps import PlanSteps
from kgqa.prompts.revise_plan import RevisePlan
from kgqa.prompts.select_relations import SelectEntities, SelectRelations, VerifyStep

GRAPH = Path(__file__).with_name("border_airport.ttl")
QUESTION = "Which country that borders France has an airport serving Nijmegen?"
TOPICS = ["France", "Nijmegen"]

Reply = dict[str, Any]

BORDERS: Reply = {
    "thought": "Find the countries that border France.",
    "search": "neighbours of France",
    "observation": [["France", "border neighbour", "Belgium"], ["France", "border neighbour", "Germany"]],
}
FROM_MEMORY: list[Reply] = [
    BORDERS,
    {
        "thought": "Find the airport that serves Nijmegen.",
        "search": "airport of Nijmegen",
        "observation": [["Nijmegen", "nearby airport", "Nijmegen Airport"]],
    },
    {
        "thought": "Find the country of this airport.",
        "search": "country of Nijmegen Airport",
        "observation": [["Nijmegen Airport", "contained by", "Netherlands"]],
    },
]
"""What the model believes: the airport has the name of the city, and is in the same country."""

FROM_THE_GRAPH: list[Reply] = [
    BORDERS,
    {
        "thought": "Find the airports that serve Nijmegen.",
        "search": "airports of Nijmegen",
        "observation": [
            ["Nijmegen", "nearby airport", "Eindhoven Airport"],
            ["Nijmegen", "nearby airport", "Weeze Airport"],
        ],
    },
    {
        "thought": "Find the countries of these airports.",
        "search": "countries of Eindhoven Airport and Weeze Airport",
        "observation": [
            ["Eindhoven Airport", "contained by", "Netherlands"],
            ["Weeze Airport", "contained by", "Germany"],
        ],
    },
]

RELATIONS = {"neighbour": ["border", "neighbour"], "airport": ["nearby_airport"], "countr": ["contained_by"]}
"""Relations that a search asks for, by how one of its words begins; the last of them counts."""

COUNTRIES = {"Belgium", "Germany", "Netherlands"}


def remembers_wrong(prompt: Prompt[Any]) -> Reply:
    """Plan from memory; hold what was predicted against the facts, and go by these in a revision."""
    match prompt:
        case PlanSteps():
            return {"steps": FROM_MEMORY, "answers": ["Netherlands"]}
        case SelectRelations():
            return {"relations": _asked_for(prompt)}
        case SelectEntities():
            names = [term.name for term in prompt.candidates]
            countries = [number for number, name in enumerate(names, 1) if name in COUNTRIES]
            return (
                {"keep": "some", "chosen": countries} if "countr" in prompt.step.search else {"keep": "all"}
            )
        case VerifyStep():
            return _verdict(prompt)
        case RevisePlan():
            return _revised(prompt)
        case EvaluateFound():
            met = [number for number, group in enumerate(prompt.found, 1) if group.met]
            return {"decision": "stop", "groups": met[:1]} if met else {"decision": "forward"}
    return {"answers": []}


def _asked_for(prompt: SelectRelations) -> list[int]:
    asked = next(names for word, names in reversed(RELATIONS.items()) if word in prompt.step.search)
    last = [offer.hops[-1] for offer in prompt.offers]
    return [number for number, hop in enumerate(last, 1) if hop.forward and hop.words in asked]


def _countries(prompt: SelectEntities) -> Reply:
    names = [term.name for term in prompt.candidates]
    return {"keep": "some", "chosen": [n for n, name in enumerate(names, 1) if name in COUNTRIES]}


def _verdict(prompt: VerifyStep) -> Reply:
    """Call for a revision where a name was predicted that no fact has."""
    known = {name for head, _, tail in facts_as_statements(prompt.facts) for name in (head, tail)}
    wrong = [tail for _, _, tail in prompt.step.observation if tail not in known]
    if not wrong:
        return {"revise": False, "rationale": "the facts say so"}
    return {"revise": True, "rationale": f"no fact has {wrong[0]}"}


def _revised(prompt: RevisePlan) -> Reply:
    """Write the steps anew from the first that differs; without the airports the plan stays as it is."""
    if "Weeze Airport" not in {path.end.name for path in prompt.facts}:
        steps, answers = FROM_MEMORY, ["Netherlands"]
    else:
        steps, answers = FROM_THE_GRAPH, ["Germany"]
    first = 1 if prompt.arm == "global" else 2
    return {
        "rationale": "two other airports serve Nijmegen",
        "first": first,
        "steps": steps[first - 1 :],
        "thought": "Of their countries Germany borders France.",
        "answers": answers,
    }


def main(*options: str) -> None:
    """Ask the question, with options as key=value; show each step and the answer."""
    record = kgqa.ask(
        QUESTION,
        kg=str(GRAPH),
        topics=TOPICS,
        method="vog",
        model=ScriptedModel(remembers_wrong),
        **read_options(list(options)),
    )
    for entry in record["trace"]:
        show_step(entry, to_stderr=False)
    show_record(record)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except ValueError as error:
        sys.exit(f"{error}")
