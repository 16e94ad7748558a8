"""The offline model answers every prompt from one interpretation of the question."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import kgqa
from kgqa.kg.pages import Candidate
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.kg.terms import Chain, Entity, Hop, Literal
from kgqa.models.errors import ModelUnavailable, UnknownModel
from kgqa.models.interface import Completion, model_queries_spent
from kgqa.models.offline import PARTS, OfflineModel, parse_ablation
from kgqa.models.parsing import check_reply
from kgqa.priors.encoder import CachedEncoder, Vectors
from kgqa.priors.errors import ExemplarError
from kgqa.priors.exemplars import EXEMPLAR_STORE, add_exemplar
from kgqa.prompts.adapt_blueprint import AdaptBlueprint, AdaptFreely
from kgqa.prompts.answer_from_memory import AnswerDirectly, DirectAnswer
from kgqa.prompts.base import Prompt, QuestionPrompt, R
from kgqa.prompts.candidates import MAX_CANDIDATES_SHOWN, ChainFindings
from kgqa.prompts.check_sufficiency import CheckSufficiency
from kgqa.prompts.decompose import Decompose
from kgqa.prompts.diagnose import Diagnose, PastDecision, PrunedBranch
from kgqa.prompts.filter_candidates import FilterCandidates
from kgqa.prompts.infer_from_evidence import InferFromEvidence, Segment
from kgqa.prompts.progress import Progress
from kgqa.prompts.solved_questions import SolvedQuestion
from kgqa.prompts.verify_chain import VerifyChain
from kgqa.retrieval.lookups import MAX_QUERIES
from kgqa.retrieval.wording import relation_texts
from kgqa.tests.conftest import MEMO
from kgqa.tests.support.frontier import pruning

TOWNS = """
e:ulm rdfs:label "Ulm" ; r:mayor e:ada ; r:river e:danube, e:blau ; r:sister_town e:bonn .
e:bonn rdfs:label "Bonn" ; r:mayor e:ben ; r:river e:rhine .
e:ada rdfs:label "Ada" ; r:spouse e:cleo .
e:ben rdfs:label "Ben" . e:cleo rdfs:label "Cleo" .
e:danube rdfs:label "Danube" ; r:length_km 2850 ; r:mouth e:black_sea .
e:blau rdfs:label "Blau" ; r:length_km 22 ; r:mouth e:danube .
e:rhine rdfs:label "Rhine" ; r:length_km 1233 ; r:mouth e:north_sea .
e:black_sea rdfs:label "Black Sea" . e:north_sea rdfs:label "North Sea" .
"""
MAYOR, RIVER, MOUTH, SPOUSE = (Hop(f"http://t/r/{name}") for name in ("mayor", "river", "mouth", "spouse"))
ASTRAY = MAYOR.inverse
ULM, BONN = Entity("http://t/e/ulm", "Ulm"), Entity("http://t/e/bonn", "Bonn")
DANUBE, BLAU = Entity("http://t/e/danube", "Danube"), Entity("http://t/e/blau", "Blau")
RIVERS = (Candidate(BLAU), Candidate(DANUBE))
ADA = (Candidate(Entity("http://t/e/ada", "Ada")),)
BEGUN = Progress(("Find it.",), 0, ())


@pytest.fixture
def model(graph) -> OfflineModel:
    return OfflineModel(graph(TOWNS), MEMO.encode)


async def ask(model: OfflineModel, prompt: Prompt[R]) -> R:
    """Return the reply, held against the prompt's own check."""
    answered = await model.ask(prompt)
    assert check_reply(answered.reply, prompt) is answered.reply
    assert answered.usage.llm_calls == 0
    return answered.reply


async def test_the_relation_that_leads_to_the_answer_is_chosen_first(model) -> None:
    question = "Who is the mayor of Ulm?"
    reply = await ask(model, pruning(question, Chain(ULM), (RIVER, MAYOR)))
    assert reply.relations == [2, 1]
    assert "confidence" in reply.rationale
    assert (await ask(model, pruning(question, Chain(ULM), (RIVER, MAYOR), width=1))).relations == [2]


async def test_without_the_relation_of_the_way_nothing_is_chosen(model) -> None:
    reply = await ask(model, pruning("Who is the mayor of Ulm?", Chain(ULM), (RIVER,)))
    assert reply.relations == []


async def test_the_hop_nearest_to_the_entity_is_taken_first(model) -> None:
    question = "Who is the spouse of the mayor of Ulm?"
    first = await ask(model, pruning(question, Chain(ULM), (RIVER, MAYOR)))
    second = await ask(model, pruning(question, Chain(ULM, (MAYOR,)), (MAYOR.inverse, SPOUSE)))
    assert (first.relations[0], second.relations[0]) == (2, 2)


async def test_nothing_is_chosen_beside_the_way(model) -> None:
    prompt = pruning("Who is the mayor of Ulm?", Chain(ULM, (RIVER,)), (MOUTH,))
    assert (await ask(model, prompt)).relations == []


async def test_a_chain_stops_at_its_end_goes_on_before_it_and_turns_back_beside_it(model) -> None:
    question = "Who is the spouse of the mayor of Ulm?"
    cleo = (Candidate(Entity("http://t/e/cleo", "Cleo")),)
    decisions = [
        (await ask(model, VerifyChain(question, Chain(ULM, hops), ends))).decision
        for hops, ends in (((MAYOR,), ADA), ((MAYOR, SPOUSE), cleo), ((ASTRAY,), RIVERS))
    ]
    assert decisions == ["forward", "stop", "backtrack"]


async def test_another_way_is_accepted_where_the_believed_one_was_turned_down(model) -> None:
    prompt = VerifyChain("Who is the mayor of Ulm?", Chain(ULM, (RIVER,)), RIVERS)
    reply = await ask(model, prompt)
    assert (reply.decision, reply.take) == ("stop", "others")


async def test_without_filtering_ends_are_not_told_apart(model) -> None:
    prompt = VerifyChain("Which river of Ulm is the longest?", Chain(ULM, (RIVER,)), RIVERS, filtering=False)
    reply = await ask(model, prompt)
    assert (reply.decision, reply.take, reply.chosen) == ("stop", "others", [])


async def test_a_superlative_takes_the_end_that_the_graph_says_is_largest(model) -> None:
    prompt = VerifyChain("Which river of Ulm is the longest?", Chain(ULM, (RIVER,)), RIVERS)
    reply = await ask(model, prompt)
    assert (reply.decision, reply.take, reply.chosen) == ("stop", "some", [2])


async def test_an_answer_that_is_not_shown_is_filtered_for(model) -> None:
    many = tuple(
        Candidate(Entity(f"http://t/e/x{number}", f"x{number}")) for number in range(MAX_CANDIDATES_SHOWN)
    )
    prompt = VerifyChain("Which river of Ulm is the longest?", Chain(ULM, (RIVER,)), (*many, *RIVERS))
    assert (await ask(model, prompt)).decision == "filter"
    some = FilterCandidates("Which river of Ulm is the longest?", Chain(ULM, (RIVER,)), RIVERS)
    assert (await ask(model, some)).chosen == [2]


async def test_how_many_is_a_count(model) -> None:
    question = "How many rivers does Ulm have?"
    assert (await ask(model, VerifyChain(question, Chain(ULM, (RIVER,)), RIVERS))).take == "count"
    assert (await ask(model, FilterCandidates(question, Chain(ULM, (RIVER,)), RIVERS))).count


async def test_a_number_is_what_how_many_asks_for(model) -> None:
    lengths = (Candidate(Literal("22")), Candidate(Literal("2850")))
    prompt = FilterCandidates("How many rivers does Ulm have?", Chain(ULM, (RIVER,)), lengths)
    assert not (await ask(model, prompt)).count


async def test_what_comes_back_to_the_topic_is_left_out_where_there_is_anything_else(model) -> None:
    question = "What are the rivers of Ulm?"
    back = Candidate(ULM, returning=True)
    mixed = await ask(model, VerifyChain(question, Chain(ULM, (RIVER,)), (*RIVERS, back)))
    alone = await ask(model, VerifyChain(question, Chain(ULM, (RIVER,)), (back,)))
    assert (mixed.take, alone.take) == ("others", "all")


async def test_two_topics_have_chains_that_meet(graph) -> None:
    films = graph("""
    e:ann rdfs:label "Ann" . e:bob rdfs:label "Bob" .
    e:f rdfs:label "Fog" ; r:starred e:ann ; r:directed_by e:bob .
    e:g rdfs:label "Gas" ; r:starred e:ann . e:h rdfs:label "Hut" ; r:directed_by e:bob .
    """)
    model = OfflineModel(films, MEMO.encode)
    topics = Entity("http://t/e/ann", "Ann"), Entity("http://t/e/bob", "Bob")
    starred, directed = (Hop(f"http://t/r/{name}", False) for name in ("starred", "directed_by"))
    question = "Which films starred Ann and were directed by Bob?"
    for topic, hop in zip(topics, (starred, directed), strict=True):
        prompt = pruning(question, Chain(topic), (hop,), topics=topics)
        assert (await ask(model, prompt)).relations == [1]


async def test_of_a_comparison_only_the_winner_has_a_chain(model) -> None:
    question = "Which river is longer, that of Bonn or that of Ulm?"
    for topic, wins in ((ULM, True), (BONN, False)):
        prompt = pruning(question, Chain(topic), (RIVER,), topics=(BONN, ULM))
        assert bool((await ask(model, prompt)).relations) is wins


async def test_the_sufficiency_is_judged_like_a_chain_and_says_what_is_found(model) -> None:
    prompt = CheckSufficiency("What are the rivers of Ulm?", Chain(ULM, (RIVER,)), RIVERS, BEGUN)
    reply = await ask(model, prompt)
    assert (reply.decision, reply.finding) == ("stop", "river of Ulm: Blau, Danube")
    astray = CheckSufficiency("What are the rivers of Ulm?", Chain(ULM, (ASTRAY,)), ADA, BEGUN)
    reply = await ask(model, astray)
    assert (reply.decision, reply.finding) == ("backtrack", "")


async def test_a_blueprint_is_the_way_for_each_topic(model) -> None:
    prompt = AdaptBlueprint("Who is the spouse of the mayor of Ulm?", (ULM,), (), ("river",))
    assert (await ask(model, prompt)).branches == [["mayor", "spouse"]]
    free = AdaptFreely(prompt.question, (), topics=prompt.topics)
    assert (await ask(model, free)).relations == ["mayor", "spouse"]


async def test_where_nothing_leads_anywhere_a_blueprint_is_the_nearest_as_it_is(model) -> None:
    exemplar = SolvedQuestion("who is in both", (("mayor",), ("river",), ("mouth",)))
    nowhere = (Entity("http://t/e/nowhere", "Nowhere"), Entity("http://t/e/nil", "Nil"))
    reply = await ask(model, AdaptBlueprint("Who?", nowhere, (exemplar,), ("river",)))
    assert reply.branches == [["mayor"], ["river"]]
    assert (await ask(model, AdaptBlueprint("Who?", nowhere, (), ("river",)))).branches == [["river"]]


def diagnosing(*pruned: PrunedBranch) -> Diagnose:
    steps = (
        PastDecision(Chain(ULM), Chain(ULM, (RIVER,)), ("Blau",), 2, ""),
        PastDecision(Chain(ULM, (RIVER,)), Chain(ULM, (RIVER, MOUTH)), ("Black Sea",), 1, ""),
    )
    return Diagnose("Who is the mayor of Ulm?", "wrong_type", BEGUN, steps, pruned)


async def test_a_diagnosis_recalls_the_branch_on_the_way(model) -> None:
    prompt = diagnosing(
        PrunedBranch(1, Chain(ULM, (MAYOR,)), False, 0.1),
        PrunedBranch(2, Chain(ULM, (RIVER, RIVER.inverse)), True, 0.9),
    )
    reply = await ask(model, prompt)
    assert (reply.step, reply.recall) == (1, [1])


async def test_a_diagnosis_without_a_branch_on_the_way_recalls_what_waits(model) -> None:
    prompt = diagnosing(
        PrunedBranch(2, Chain(ULM, (RIVER, RIVER.inverse)), False, 0.9),
        PrunedBranch(2, Chain(ULM, (RIVER, MOUTH.inverse)), True, None),
    )
    reply = await ask(model, prompt)
    assert (reply.step, reply.recall) == (2, [2])
    assert (await ask(model, diagnosing())).step == 0


async def test_only_the_ends_of_a_whole_way_are_inferred(model) -> None:
    question = "What is the mouth of the river of Ulm?"
    rivers = Segment(Chain(ULM, (RIVER,)), RIVERS)
    seas = Segment(Chain(ULM, (RIVER, MOUTH)), (Candidate(Entity("http://t/e/black_sea", "Black Sea")),))
    assert (await ask(model, InferFromEvidence(question, (rivers, seas), (), ()))).chosen == [3]
    assert (await ask(model, InferFromEvidence(question, (rivers,), (), ()))).chosen == []


async def test_what_needs_facts_is_left_open(model) -> None:
    assert (await ask(model, AnswerDirectly("Who is the mayor of Ulm?"))).answers == []
    assert (await ask(model, Decompose("Who is it?"))).subgoals == ["Who is it?"]


async def test_a_prompt_that_it_does_not_know_needs_a_language_model(model) -> None:
    class Unknown(QuestionPrompt[DirectAnswer]):
        instructions = "Answer."

    with pytest.raises(ModelUnavailable, match="cannot answer unknown; give a language model"):
        await model.ask(Unknown("?"))


async def test_a_prompt_that_extends_ours_is_answered_as_ours(model) -> None:
    class Reworded(Decompose):
        instructions = "In other words."

    assert (await ask(model, Reworded("Who is it?"))).subgoals == ["Who is it?"]


async def test_a_question_is_interpreted_once_and_counted_for_its_first_reply(graph) -> None:
    class Counting:
        queries = 0

        def __init__(self, inner: SparqlGraph) -> None:
            self._inner = inner

        def __getattr__(self, name: str) -> Any:
            self.queries += name == "visit_chains"
            return getattr(self._inner, name)

    counting: Any = Counting(graph(TOWNS))
    model = OfflineModel(counting, MEMO.encode)
    prompt = pruning("Who is the mayor of Ulm?", Chain(ULM), (RIVER, MAYOR))
    first = await model.ask(prompt)
    assert 0 < counting.queries == first.usage.model_queries <= MAX_QUERIES
    made = counting.queries
    assert await model.ask(prompt) == first  # of another record
    token = model_queries_spent.set(first.usage.model_queries)
    assert await model.ask(prompt) == Completion(first.reply)
    model_queries_spent.reset(token)
    assert counting.queries == made
    token = model_queries_spent.set(MAX_QUERIES)  # a run that another process goes on with
    assert await OfflineModel(counting, MEMO.encode).ask(prompt) == Completion(first.reply)
    model_queries_spent.reset(token)


async def test_all_texts_of_a_question_are_encoded_at_once(graph) -> None:
    class Counting:
        name, dimensions, encoded = "counting", 384, 0

        def encode(self, texts: Sequence[str]) -> Vectors:
            self.encoded += 1
            return MEMO.encode(texts)

    counting, towns = Counting(), graph(TOWNS)
    memo = CachedEncoder(lambda: counting)
    memo.preload([text for each in towns.relations for text in relation_texts(towns.relation_label(each))])
    prepared = counting.encoded
    prompt = pruning("What is the river in the sister town of Ulm?", Chain(ULM), (RIVER, MAYOR))
    await OfflineModel(towns, memo.encode).ask(prompt)
    assert counting.encoded == prepared + 1


def test_a_spec_names_the_parts_to_leave_out() -> None:
    assert parse_ablation("offline") == frozenset()
    assert parse_ablation("offline:without=nearest+hops") == {"nearest", "hops"}
    for wrong in ("offline:", "offline:without=", "offline:without=nearest+luck", "offline:hops"):
        with pytest.raises(UnknownModel, match=f"joined by +: {', '.join(PARTS)}".replace("+", r"\+")):
            parse_ablation(wrong)


async def test_what_says_the_same_by_the_inverse_relation_is_united(graph) -> None:
    written = " ".join(f'e:b{n} r:written_by e:ann ; rdfs:label "B{n}" .' for n in range(4))
    both = " ".join(f"e:ann r:wrote e:b{n} ." for n in (1, 2, 3))
    model = OfflineModel(graph(f'e:ann rdfs:label "Ann" . {written} {both}'), MEMO.encode)
    ann, wrote = Entity("http://t/e/ann", "Ann"), Hop("http://t/r/wrote")
    books = [Candidate(Entity(f"http://t/e/b{n}", f"B{n}")) for n in range(4)]
    by = Chain(ann, (Hop("http://t/r/written_by", False),))
    beside = ChainFindings(Chain(ann, (wrote,)), tuple(books[1:]))
    other = ChainFindings(Chain(ann, (MAYOR,)), ADA)
    prompt = VerifyChain("What was written by Ann?", by, tuple(books), siblings=(other, beside))
    assert (await ask(model, prompt)).united == [2]


async def test_a_chain_that_only_goes_back_to_its_topic_is_no_answer(graph) -> None:
    model = OfflineModel(
        graph("""
        e:eid rdfs:label "Eid" . _:a r:observed_holiday e:eid .
        e:mali rdfs:label "Mali" ; r:observance _:a .
        """),
        MEMO.encode,
    )
    eid, holiday = Entity("http://t/e/eid", "Eid"), Hop("http://t/r/observed_holiday")
    chain = Chain(eid, (holiday.inverse, holiday))
    prompt = VerifyChain("Which holiday is observed as Eid is?", chain, (Candidate(eid, True),))
    assert (await ask(model, prompt)).decision == "backtrack"


def test_a_chain_back_to_its_topic_is_an_answer_where_training_questions_have_it(
    graph, tmp_path: Path
) -> None:
    kg = graph("""
    e:ann rdfs:label "Ann" ; r:spouse e:bob . e:bob rdfs:label "Bob" ; r:spouse e:ann .
    e:cleo rdfs:label "Cleo" ; r:spouse e:dan . e:dan rdfs:label "Dan" ; r:spouse e:cleo .
    """)
    spouse, known = "<http://t/r/spouse>", tmp_path / "known"
    query = f"SELECT ?x {{ <http://t/e/cleo> {spouse} ?y . ?y {spouse} ?x }}"
    add_exemplar("Who is the darling of Cleo's darling?", query, ["Cleo"], known, MEMO.encode, MEMO.name)
    given: dict[str, Any] = {"kg": kg, "topics": ["Ann"], "model": "offline", "method": "cor"}
    for options, expected in (({}, "Bob"), ({"exemplars": str(known)}, "Ann")):
        record = kgqa.ask("Who is the darling of Ann's darling?", **given, **options)
        assert [answer["name"] for answer in record["answers"]] == [expected]


def test_a_folder_that_another_process_has_begun_is_not_written_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = "SELECT ?x { <http://t/e/cleo> <http://t/r/spouse> ?x }"
    given = ["Cleo"], tmp_path / "known", MEMO.encode, MEMO.name
    add_exemplar("Who is Cleo's darling?", query, *given)
    with monkeypatch.context() as patch:
        patch.setattr(
            type(EXEMPLAR_STORE), "exists", lambda *_: patch.undo()
        )  # not yet, when it was looked for
        with pytest.raises(ExemplarError, match="begun by another process meanwhile; repeat"):
            add_exemplar("Who is the love of Cleo?", query, *given)


def test_where_the_chosen_relation_is_not_offered_an_inverse_of_it_is_followed(graph, tmp_path: Path) -> None:
    """A marriage that names one of two, whom both name."""
    whole = [
        f"e:a{n} r:married _:m{n} . e:b{n} r:married _:m{n} . _:m{n} r:spouse e:a{n}, e:b{n} ."
        for n in range(4)
    ]
    people = [
        f'e:{name} rdfs:label "{name.title()}" .'
        for name in ("ann", "bob", *(f"{c}{n}" for c in "ab" for n in range(4)))
    ]
    half = "e:ann r:married _:m . e:bob r:married _:m . _:m r:spouse e:ann ."
    known = tmp_path / "known"
    query = "SELECT ?x { <http://t/e/a1> <http://t/r/married> ?y . ?y <http://t/r/spouse> ?x }"
    add_exemplar("Who is A1 married to?", query, ["A1"], known, MEMO.encode, MEMO.name)
    kg = graph(" ".join([*whole, *people, half]))
    record = kgqa.ask(
        "Who is Ann married to?", kg=kg, topics=["Ann"], model="offline", method="cor", exemplars=str(known)
    )
    assert [answer["name"] for answer in record["answers"]] == ["Bob"]


def test_training_questions_tell_what_is_asked_of_somebody_that_a_description_tells_else(
    graph, tmp_path: Path
) -> None:
    kg = graph("""
    e:ann rdfs:label "Ann" ; r:profession e:pilot ; r:description "A woman of Ulm." .
    e:cleo rdfs:label "Cleo" ; r:profession e:nurse .
    e:pilot rdfs:label "pilot" . e:nurse rdfs:label "nurse" .
    """)
    known = tmp_path / "known"
    query = "SELECT ?x { <http://t/e/cleo> <http://t/r/profession> ?x }"
    add_exemplar("Who is Cleo?", query, ["Cleo"], known, MEMO.encode, MEMO.name)
    given: dict[str, Any] = {"kg": kg, "topics": ["Ann"], "model": "offline", "method": "cor"}
    for options, expected in (({}, "A woman of Ulm."), ({"exemplars": str(known)}, "pilot")):
        record = kgqa.ask("Who is Ann?", **given, **options)
        assert [answer["name"] or answer["id"] for answer in record["answers"]] == [expected]
