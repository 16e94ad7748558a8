"""What else the question says of the answer."""

import pytest

from kgqa.kg.pages import Candidate
from kgqa.kg.terms import Chain, Entity, Hop
from kgqa.models.offline.answer_selection import select_by_conditions
from kgqa.priors.exemplars import NearExemplar
from kgqa.priors.hop_model import Exemplar
from kgqa.priors.slots import Slot
from kgqa.retrieval.candidate_chains import CandidateChain, TrainingAdvice
from kgqa.retrieval.lookups import SAMPLED_NODES, Lookups

SHOW = Entity("http://t/e/show", "Show")
ROLE, ACTOR = Hop("http://t/r/role"), Hop("http://t/r/actor")
ADVICE = TrainingAdvice(
    [NearExemplar(Exemplar("who voices boris the great on [ENT]?", (Slot("role"),)), 0.9)], ()
)


def way(graph_names: tuple[str, ...], *hops: Hop) -> CandidateChain:
    ends = tuple(Candidate(Entity(f"http://t/e/{name}", name)) for name in graph_names)
    return CandidateChain(Chain(SHOW, hops or (ROLE, ACTOR)), ends, False)


@pytest.fixture
def show(graph):
    return graph("""
    e:show rdfs:label "Show" ; r:role _:a, _:b ; r:character e:brian .
    e:brian rdfs:label "Brian Griffin" . e:meg rdfs:label "Meg Griffin" .
    _:a r:actor e:seth ; r:of e:brian . _:b r:actor e:mila ; r:of e:meg .
    e:seth rdfs:label "seth" . e:mila rdfs:label "mila" .
    """)


async def found(
    question: str, way: CandidateChain, graph, advice: TrainingAdvice = ADVICE
) -> set[str] | None:
    kept = await select_by_conditions(question, way, advice, Lookups(graph))
    return None if kept is None else {str(term) for term in kept}


async def test_the_end_is_kept_whose_mediator_is_joined_to_what_is_named(show) -> None:
    assert await found("who voices Brian on [ENT]?", way(("seth", "mila")), show) == {"seth"}
    assert await found("who voices meg griffin on [ENT]?", way(("seth", "mila")), show) == {"mila"}


async def test_a_word_that_names_something_of_every_end_tells_nothing_apart(show) -> None:
    assert await found("who voices the griffin on [ENT]?", way(("seth", "mila")), show) is None


async def test_words_of_training_questions_name_nothing(show) -> None:
    said = TrainingAdvice([NearExemplar(Exemplar("who voices brian on [ENT]?", (Slot("role"),)), 0.9)], ())
    assert await found("who voices brian on [ENT]?", way(("seth", "mila")), show, said) is None


async def test_without_training_questions_nothing_is_narrowed(show) -> None:
    assert (
        await found("who voices brian on [ENT]?", way(("seth", "mila")), show, TrainingAdvice((), ())) is None
    )


async def test_a_single_end_and_a_way_of_one_hop_are_left_alone(show) -> None:
    assert await found("who voices brian on [ENT]?", way(("mila",)), show) is None
    one = way(("seth", "mila"), Hop("http://t/r/character"))
    assert await found("who voices brian on [ENT]?", one, show) is None


async def test_what_is_joined_to_a_node_with_a_name_tells_nothing(graph) -> None:
    named = graph("""
    e:show r:role e:a . e:a rdfs:label "A" ; r:actor e:seth ; r:of e:brian . e:brian rdfs:label "Brian" .
    e:show r:role e:b . e:b rdfs:label "B" ; r:actor e:mila .
    """)
    assert await found("who voices brian on [ENT]?", way(("seth", "mila")), named) is None


async def test_of_mirrored_chains_each_may_tell(show) -> None:
    both = CandidateChain(
        Chain(SHOW, (ROLE, Hop("http://t/r/none"))), way(("seth", "mila")).ends, False, (way(()).chain,)
    )
    assert await found("who voices brian on [ENT]?", both, show) == {"seth"}


async def test_too_many_nodes_are_not_looked_at(graph) -> None:
    roles = "\n".join(
        f'e:show r:role _:n{n} . _:n{n} r:actor e:a{n} ; r:of e:c{n} . e:c{n} rdfs:label "Name{n:03}x" .'
        f' e:a{n} rdfs:label "a{n}" .'
        for n in range(SAMPLED_NODES + 1)
    )
    many = way(tuple(f"a{n}" for n in range(SAMPLED_NODES + 1)))
    assert await found("who voices Name003x on [ENT]?", many, graph(roles)) is None
