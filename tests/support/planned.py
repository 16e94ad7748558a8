"""Plans and models by policy: what VoG is tried on."""

from collections.abc import Callable, Sequence
from typing import Any

from kgqa.models.scripted import Line, ScriptedModel
from kgqa.runtime.record import Record

TOWNS = """
e:ada rdfs:label "Ada"@en ; r:child e:ben, e:cleo ; r:lives_in e:ulm ; r:marriage e:m1 .
e:m1 r:partner e:finn ; r:year 1990 .
e:ben rdfs:label "Ben"@en ; r:lives_in e:bonn .
e:cleo rdfs:label "Cleo"@en ; r:lives_in e:ulm .
e:finn rdfs:label "Finn"@en ; r:lives_in e:bonn .
e:ulm rdfs:label "Ulm"@en ; r:river e:danube .
e:bonn rdfs:label "Bonn"@en ; r:river e:rhine .
e:danube rdfs:label "Danube"@en .
e:rhine rdfs:label "Rhine"@en .
"""

ONE_HOP: dict[str, Any] = dict.fromkeys(
    ("cross_mediators", "pair_inverses", "hide_noise", "outright_answers"), False
)
"""How VoG's paper offers relations."""

PLAN_ANSWERS: dict[str, Any] = {
    **{"conclude": False, "exact_match": False, "repeat_revisions": True},
    **ONE_HOP,
}
"""Options by which the plan answers, and every step is checked and revised, as published."""

Policy = Callable[[Any], Line] | Line
"""Replies to one kind of prompt: by the prompt, or always the same."""


def steps(*searches: str) -> list[dict[str, Any]]:
    """Write steps: ``"Ada lives_in Ulm"`` predicts this triple, ``"Ada lives_in"`` predicts nothing."""
    written = []
    for search in searches:
        words = search.split()
        observation = [words] if len(words) == 3 else []
        written.append({"thought": f"Find {search}.", "search": search, "observation": observation})
    return written


def plan(*searches: str, answers: Sequence[str] = (), whether: bool = False) -> dict[str, Any]:
    return {"steps": steps(*searches), "answers": list(answers), "whether": whether}


def revision(*searches: str, answers: Sequence[str] = (), first: int = 1) -> dict[str, Any]:
    return {"first": first, **plan(*searches, answers=answers)}


def take(*wanted: str) -> Callable[[Any], Line]:
    """Choose the named relations, as far as they are offered; ``^`` in front is against the arrow."""

    def line(prompt: Any) -> Line:
        hops = [offer.hops[-1] for offer in prompt.offers]
        names = [("" if hop.forward else "^") + hop.words for hop in hops]
        return {"relations": [names.index(name) + 1 for name in wanted if name in names]}

    return line


def as_searched(prompt: Any) -> Line:
    """Choose the relation that the step names after what it starts from."""
    return take(*prompt.step.search.split()[1:2])(prompt)


def playing(**policies: Policy) -> ScriptedModel:
    """Script a model by one policy for each prompt; what is not said is taken as agreement."""
    usual: dict[str, Policy] = {
        "select_entities": {"keep": "all"},
        "verify_step": {"revise": False},
        "answer_directly": {"answers": []},
    }

    def line(prompt: Any) -> Line:
        policy = {**usual, **policies}[prompt.name]
        return policy(prompt) if callable(policy) else policy

    return ScriptedModel(line)


def entries(record: Record, node: str) -> list[dict[str, Any]]:
    return [entry for entry in record["trace"] if entry["node"] == node]


def nodes(record: Record) -> list[str]:
    return [entry["node"] for entry in record["trace"]]


def shown(record: Record) -> list[str | None]:
    return [answer["name"] for answer in record["answers"]]
