"""The turns of LangChain's chain that writes SPARQL: what is asked, the query, the answer."""

from collections.abc import Iterator, Sequence

from langchain_core.messages import AIMessage

from kgqa.evaluation.simulation.case import Case
from kgqa.evaluation.simulation.oracle import Plan
from kgqa.kg.terms import Hop

UNKNOWN = "I do not know."


async def write(prompt: str, case: Case) -> AIMessage:
    """Answer one of three prompts: say SELECT, write the ways as SPARQL, name what of the rows is right."""
    if "identify the intent" in prompt.casefold():
        return AIMessage("SELECT")
    if "Generate a SPARQL" in prompt:
        return AIMessage(await _query(case))
    rows = prompt.partition("\nInformation:\n")[2].rpartition("\n\nQuestion:")[0]
    right = [name for name in case.oracle.gold.names if name in rows]
    return AIMessage(", ".join(right) or (rows if rows.strip("[] ") else UNKNOWN))


async def _query(case: Case) -> str:
    """Join the ways from all topics at their ends; where the model errs, a relation is another."""
    plans = await case.oracle.plans()
    if plans and not case.happens("accuracy"):
        plans = [_astray(plans[0], case), *plans[1:]]
    patterns = [line for number, plan in enumerate(plans) for line in _patterns(plan, number)]
    return f"SELECT DISTINCT ?answer WHERE {{ {' '.join(patterns)} }}" if patterns else UNKNOWN


def _astray(plan: Plan, case: Case) -> Plan:
    at = int(case.draws.uniform("wrong hop") * len(plan.hops))
    relations = [each for each in case.oracle.terrain.graph.relations if each != plan.hops[at].relation]
    wrong = next(case.draws.shuffled("wrong relation", relations), None)
    hops: Sequence[Hop] = [
        Hop(wrong, hop.forward) if wrong and place == at else hop for place, hop in enumerate(plan.hops)
    ]
    return Plan(plan.topic, tuple(hops))


def _patterns(plan: Plan, number: int) -> Iterator[str]:
    last = len(plan.hops)
    nodes = [f"<{plan.topic.id}>", *(f"?v{number}x{at}" for at in range(1, last)), "?answer"]
    for at, hop in enumerate(plan.hops):
        head, tail = (nodes[at], nodes[at + 1]) if hop.forward else (nodes[at + 1], nodes[at])
        yield f"{head} <{hop.relation}> {tail} ."
