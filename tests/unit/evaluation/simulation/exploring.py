"""What a search over a frontier shows of the family to a simulated model."""

from kgqa.evaluation.question import GoldPath, Question
from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.pages import Candidate
from kgqa.kg.terms import Chain, Entity
from kgqa.prompts.candidates import ChainFindings, numbered_candidates
from kgqa.tests.unit.evaluation.simulation.family import named, question

TWO_TOPICS: tuple[GoldPath, ...] = (
    GoldPath("http://t/e/ann", ("parent",)),
    GoldPath("http://t/e/de", ("^country", "^born_in")),
)
"""Ann's parents, and who was born in Germany: the second way is longer than the first."""


def of_two_topics(answers: str) -> Question:
    return question(answers, topics=named("ann", "de"), paths=TWO_TOPICS)


async def offers(graph: KnowledgeGraph, *frontier: Chain) -> tuple[Chain, ...]:
    """Every chain that extends one of the frontier."""
    pages = [await graph.extend_chain(chain) for chain in frontier]
    return tuple(chain.then(hop) for chain, page in zip(frontier, pages, strict=True) for hop in page)


async def reached(graph: KnowledgeGraph, *chains: Chain) -> tuple[ChainFindings, ...]:
    """Where each of some chains leads to."""
    pages = [await graph.follow_chain(chain) for chain in chains]
    return tuple(
        ChainFindings(chain, page.items, page.truncated) for chain, page in zip(chains, pages, strict=True)
    )


async def where_they_meet(graph: KnowledgeGraph, chain: Chain, met: Chain) -> ChainFindings:
    """The ends of a chain that are those of another as well."""
    found, other = await reached(graph, chain, met)
    shared = {end.term for end in other.ends}
    return ChainFindings(chain, tuple(end for end in found.ends if end.term in shared), met=(met,))


def names(found: tuple[ChainFindings, ...], numbers: list[int]) -> list[str]:
    """The candidates that numbers stand for."""
    return [str(each.candidate.term) for each in numbered_candidates(found) if each.number in numbers]


def many(number: int, *ids: str) -> tuple[Candidate, ...]:
    """Some of the family among so many others."""
    every = (*ids, *(f"n{n}" for n in range(number)))
    return tuple(Candidate(Entity(f"http://t/e/{id}", id.capitalize())) for id in every)
