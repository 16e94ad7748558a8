"""Terms of the graph are held against the gold answers."""

from kgqa.evaluation.question import EntityRef, Question
from kgqa.evaluation.simulation.gold_answers import GoldAnswers
from kgqa.kg.terms import Entity, Literal

FB = "http://rdf.freebase.com/ns/"


def gold(*readings: list[EntityRef]) -> GoldAnswers:
    return GoldAnswers(Question("q", "?", readings=tuple(map(tuple, readings))))


def named(*ids: str) -> list[EntityRef]:
    return [EntityRef(f"http://x/{id}", id) for id in ids]


def entities(*ids: str) -> list[Entity]:
    return [Entity(f"http://x/{id}", id) for id in ids]


def test_terms_are_marked_and_what_is_missing_is_counted() -> None:
    marks = gold(named("a", "b", "c")).mark(entities("a", "d", "b"))
    assert (marks.right, marks.missing, marks.exact) == ((True, False, True), 1, False)
    assert marks.f1 == 2 * 2 / (3 + 3)


def test_terms_are_exact_when_they_are_all_gold_answers_and_no_others() -> None:
    answers = gold(named("a", "b"))
    assert answers.mark(entities("b", "a")).exact
    assert not answers.mark(entities("a")).exact
    assert not answers.mark(entities("a", "b", "c")).exact
    assert not answers.mark([]).exact


def test_ids_with_and_without_namespace_names_and_numbers_are_matched_as_the_metrics_do() -> None:
    answers = [EntityRef("m.0345h", "Germany"), EntityRef(None, "The Hague"), EntityRef("7", "7")]
    terms = [Entity(f"{FB}m.0345h"), Entity("http://x/h", "the hague"), Literal("7.0"), Literal("8")]
    assert gold(answers).mark(terms).right == (True, True, True, False)


def test_another_id_of_the_same_scheme_is_another_entity_whatever_its_name() -> None:
    answers = gold([EntityRef(f"{FB}m.0345h", "Paris")])
    assert answers.mark([Entity(f"{FB}m.03f2w", "Paris")]).right == (False,)


def test_of_several_readings_the_one_that_fits_best_counts() -> None:
    answers = gold(named("a", "b"), named("c"))
    assert answers.mark(entities("c")).exact
    assert answers.mark(entities("a", "b")).exact
    assert not answers.mark(entities("a", "b", "c")).exact
    assert answers.names == ["a", "b", "c"]


def test_without_gold_nothing_is_right() -> None:
    marks = gold().mark(entities("a"))
    assert (marks.right, marks.exact, marks.f1) == ((False,), False, 0)


def test_ids_are_given_as_a_graph_has_them() -> None:
    answers = gold(
        [
            EntityRef("m.0345h", None),
            EntityRef("Q42", None),
            EntityRef("http://x/a", None),
            EntityRef("7", "7"),
        ]
    )
    assert answers.ids == [f"{FB}m.0345h", "http://www.wikidata.org/entity/Q42", "http://x/a"]


def test_a_single_number_is_told_from_other_gold() -> None:
    assert gold([EntityRef("14", "14")]).is_number
    assert not gold([EntityRef("14", "14"), EntityRef("15", "15")]).is_number
    assert not gold(named("a")).is_number
    assert gold(named("a")).is_single
    assert not gold(named("a", "b")).is_single
