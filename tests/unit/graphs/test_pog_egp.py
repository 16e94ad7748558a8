"""What solved questions do to PoG, with a scripted model and an index by words."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import kgqa
from kgqa.kg.errors import KGTimeout
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.priors.slots import Slot
from kgqa.priors.solutions import Solution, SolutionIndex, index_solutions
from kgqa.runtime.node import NodeRuntime
from kgqa.tests.support.frontier import pick, stop_at
from kgqa.tests.support.guided import FAMILY, FailingVisits, Unlisted, asked, choose, entries, playing, shown
from kgqa.tests.unit.graphs.test_cor import nodes
from kgqa.tests.unit.priors.blueprints.conftest import words

Open = Callable[[str], SparqlGraph]
Ask = Callable[..., Any]

TYPED = f"{FAMILY} e:ada a e:mother . e:mother rdfs:label 'Mother'@en . e:zed a e:mayor . "

SEARCH = ("plan", "retrieve_relations", "prune", "expand", "verify")


def solution(question: str, *branches: str) -> Solution:
    slots = tuple(tuple(map(Slot.parse, branch.split())) for branch in branches)
    return Solution(question, slots, f"{question} (as it was asked)")


def index(*solutions: Solution) -> SolutionIndex:
    return SolutionIndex(solutions, index_solutions(solutions, words), words, "words", "0" * 64)


@pytest.fixture
def ask(graph: Open, monkeypatch: pytest.MonkeyPatch) -> Ask:
    async def ask(
        model: Any, *solutions: Solution, topics: Sequence[str] = ("Ada",), kg: Any = TYPED, **options: Any
    ) -> kgqa.Record:
        async def lent(runtime: NodeRuntime) -> SolutionIndex | None:
            return index(*solutions) if solutions else None

        monkeypatch.setattr(NodeRuntime, "exemplar_index", lent)
        chains = {"planning": "first", "reflection": "always"} if "method" not in options else {}
        record = await kgqa.aask(
            "who are the children of Ada",
            topics=topics,
            method=options.pop("method", "pog_egp"),
            kg=graph(kg) if isinstance(kg, str) else kg,
            model=model,
            **{"similarity": 0.1, **chains, **options},
        )
        assert record.keys() == kgqa.Record.__annotations__.keys()
        return record

    return ask


CHILDREN = solution("who are the children of [mother]", "child")
TOWNS = solution("in which towns do the children of [mother] live", "child lives_in")
MAYOR = solution("who is mayor", "lives_in mayor")

GOING_ON: dict[str, Any] = {"pick_relations": pick("child"), "reflect": {"go_on": []}}


async def test_a_chain_of_an_exemplar_ends_the_question_before_it_is_planned(ask: Ask) -> None:
    record = await ask(playing(assess_found=stop_at("child")), CHILDREN)
    assert (shown(record), record["outcome"]) == (["Ben", "Cleo"], "grounded")
    assert nodes(record) == ["link", "exemplars", "smart_lookahead", "answer"]
    assert [step["relation"] for path in record["paths"] for step in path] == ["http://t/r/child"]
    assert record["usage"]["llm_calls"] == 1


async def test_the_trace_says_what_was_recalled_and_tried(ask: Ask) -> None:
    record = await ask(playing(assess_found=stop_at("child lives_in")), CHILDREN, TOWNS, MAYOR)
    (recalled,), (looked,) = entries(record, "exemplars"), entries(record, "smart_lookahead")
    assert recalled["template"] == "who are the children of [mother]"
    assert recalled["questions"] == [CHILDREN.template, TOWNS.template, MAYOR.template]
    assert recalled["similarities"][0] == 1.0
    assert (looked["fired"], looked["forward"], looked["realised"]) == (True, ["child", "lives_in"], 3)
    assert looked["chains"] == ["Ada -child->", "Ada -child-> -lives_in->", "Ada -lives_in-> -mayor->"]
    assert shown(record) == ["Bonn", "Ulm"]


async def test_all_chains_are_one_query(ask: Ask) -> None:
    few = await ask(playing(assess_found=stop_at("child")), CHILDREN)
    many = await ask(playing(assess_found=stop_at("child")), CHILDREN, TOWNS, MAYOR)
    # what leads on, what Ada is, the chains, the answers, and their facts; names are found first
    assert few["usage"]["kg_queries"] == many["usage"]["kg_queries"] <= 6


async def test_what_is_not_enough_is_searched_for_as_ever(ask: Ask) -> None:
    replies = iter([{"decision": "forward"}])
    model = playing(assess_found=lambda p: next(replies, None) or stop_at("child")(p), **GOING_ON)
    record = await ask(model, TOWNS)
    assert shown(record) == ["Ben", "Cleo"]
    assert nodes(record) == ["link", "exemplars", "smart_lookahead", *SEARCH, "answer"]


@pytest.mark.parametrize("solved", [solution("who are the children", "^spouse"), solution("who", "school")])
async def test_relations_that_do_not_leave_the_topics_do_not_fire(ask: Ask, solved: Solution) -> None:
    model = playing(assess_found=stop_at("child"), **GOING_ON)
    record = await ask(model, solved, topics=["Ulm", "Ben"], kg=FAMILY)
    (looked,) = entries(record, "smart_lookahead")
    assert (looked["fired"], looked["forward"], looked["realised"]) == (False, [], 0)


async def test_a_chain_with_a_relation_that_the_graph_lacks_is_not_tried(ask: Ask) -> None:
    record = await ask(playing(assess_found=stop_at("child"), **GOING_ON), solution("who", "child school"))
    (looked,) = entries(record, "smart_lookahead")
    assert (looked["fired"], looked["chains"]) == (True, [])
    assert shown(record) == ["Ben", "Cleo"]


async def test_where_nobody_lists_the_relations_chains_are_read_beside_their_first(
    ask: Ask, graph: Open
) -> None:
    """Ada's relations tell where others are found, and a chain that the graph lacks leads nowhere."""
    solved = [TOWNS, MAYOR, solution("who", "child school"), solution("which", "child not_an\tiri")]
    record = await ask(playing(assess_found=stop_at("child lives_in")), *solved, kg=Unlisted(graph(TYPED)))
    (looked,) = entries(record, "smart_lookahead")
    assert (looked["fired"], looked["realised"]) == (True, 2)
    chains = ["Ada -child-> -lives_in->", "Ada -lives_in-> -mayor->", "Ada -child-> -school->"]
    assert sorted(looked["chains"]) == sorted(chains)
    assert shown(record) == ["Bonn", "Ulm"]


async def test_no_chain_is_longer_than_the_depth(ask: Ask) -> None:
    model = playing(assess_found=stop_at("child"))
    record = await ask(model, CHILDREN, TOWNS, depth=1)
    assert entries(record, "smart_lookahead")[0]["chains"] == ["Ada -child->"]


async def test_chains_from_two_topics_meet(ask: Ask) -> None:
    def meets(prompt: Any) -> dict[str, Any]:
        return {"decision": "stop", "groups": [next(n for n, g in enumerate(prompt.found, 1) if g.met)]}

    both = solution("who are the children that live there", "child", "^lives_in")
    record = await ask(playing(assess_found=meets), both, topics=["Ada", "Bonn"])
    assert shown(record) == ["Ben"]
    assert len(record["paths"]) == 2


async def test_a_condition_that_is_left_is_applied_at_once(ask: Ask) -> None:
    model = playing(assess_found=stop_at("child", decision="filter"), apply_conditions={"chosen": [2]})
    record = await ask(model, CHILDREN)
    assert shown(record) == ["Cleo"]
    assert nodes(record)[-2:] == ["smart_lookahead", "answer"]


async def test_where_no_end_meets_the_condition_the_search_begins(ask: Ask) -> None:
    replies = iter([{"decision": "filter", "groups": [1]}])
    model = playing(
        assess_found=lambda p: next(replies, None) or stop_at("child")(p),
        apply_conditions={"fits": "none"},
        **GOING_ON,
    )
    record = await ask(model, CHILDREN)
    assert shown(record) == ["Ben", "Cleo"]
    assert nodes(record)[3:] == [*SEARCH, "answer"]


async def test_a_malformed_reply_and_an_outage_of_the_graph_leave_the_search(ask: Ask, graph: Open) -> None:
    stumbling = iter(["not JSON"])
    model = playing(assess_found=lambda p: next(stumbling, None) or stop_at("child")(p), **GOING_ON)
    assert shown(await ask(model, CHILDREN)) == ["Ben", "Cleo"]
    failing = FailingVisits(graph(TYPED), "ends", KGTimeout("slow"), lambda chain: chain.depth == 2)
    record = await ask(playing(assess_found=stop_at("child"), **GOING_ON), CHILDREN, TOWNS, kg=failing)
    assert entries(record, "smart_lookahead")[0]["failure"] == "KGTimeout"
    assert shown(record) == ["Ben", "Cleo"]


async def test_the_plan_and_the_choice_of_relations_are_shown_solved_questions(ask: Ask) -> None:
    model = playing(assess_found=stop_at("none"), infer_from_evidence={"chosen": []}, **GOING_ON)
    await ask(model, CHILDREN, TOWNS)
    for name in ("decompose_along", "pick_relations", "assess_found"):
        prompt = asked(model, name)[0]
        assert [each.question for each in prompt.exemplars] == [CHILDREN.template, TOWNS.template]
        assert prompt.exemplars[1].branches == (("child", "lives_in"),)


@pytest.mark.parametrize(
    ("option", "plan", "guided"),
    [("guide_decomposition", "decompose", True), ("guide_exploration", "decompose_along", False)],
)
async def test_each_guidance_can_be_left_out(ask: Ask, option: str, plan: str, guided: bool) -> None:
    model = playing(assess_found=stop_at("none"), infer_from_evidence={"chosen": []}, **GOING_ON)
    await ask(model, CHILDREN, **{option: False})
    assert asked(model, plan)
    assert bool(asked(model, "pick_relations")[0].exemplars) is guided


async def test_relations_of_exemplars_are_added_to_what_is_chosen(ask: Ask) -> None:
    solved = solution("who", "^spouse lives_in", "child ^pet")
    for guided, chains in ((True, ["pet", "child", "lives_in", "^spouse"]), (False, ["pet"])):
        model = playing(
            pick_relations=pick("pet"),
            assess_found=stop_at("none"),
            reflect={"go_on": []},
            infer_from_evidence={"chosen": []},
        )
        record = await ask(model, solved, guide_exploration=guided, lookahead=False)
        first = entries(record, "prune")[0]
        added = ["Ada -child->", "Ada -lives_in->", "Ada <-spouse-"] if guided else None
        assert (first["chosen"], first.get("guided")) == (["Ada -pet->"], added)
        followed = [line.rpartition(":")[0] for line in entries(record, "expand")[0]["chains"]]
        assert len(followed) == len(chains)


async def test_without_lookahead_nothing_is_tried_first(ask: Ask) -> None:
    record = await ask(playing(assess_found=stop_at("child"), **GOING_ON), CHILDREN, lookahead=False)
    assert nodes(record) == ["link", "exemplars", *SEARCH, "answer"]


async def test_what_nobody_wants_is_not_recalled(ask: Ask) -> None:
    off = {"lookahead": False, "guide_decomposition": False, "guide_exploration": False}
    record = await ask(playing(assess_found=stop_at("child"), **GOING_ON), CHILDREN, **off)
    assert nodes(record) == ["link", *SEARCH, "answer"]


async def test_without_guidance_in_the_exploration_no_chain_is_tried(ask: Ask) -> None:
    model = playing(assess_found=stop_at("child"), **GOING_ON)
    record = await ask(model, CHILDREN, guide_exploration=False)
    assert nodes(record) == ["link", "exemplars", *SEARCH, "answer"]
    assert asked(model, "decompose_along")
    assert "guided" not in entries(record, "prune")[0]


async def test_the_plan_is_made_along_solved_questions_where_there_are_any(ask: Ask) -> None:
    for guided, kind in ((True, "decompose_along"), (False, "decompose")):
        model = playing(assess_found=stop_at("child"), **GOING_ON)
        await ask(model, CHILDREN, lookahead=False, guide_decomposition=guided)
        assert len(asked(model, kind)) == 1


@pytest.mark.parametrize(
    ("wording", "shown_as"), [("templates", CHILDREN.template), ("questions", CHILDREN.question)]
)
async def test_exemplars_are_shown_as_templates_or_as_they_were_asked(
    ask: Ask, wording: str, shown_as: str
) -> None:
    model = playing(assess_found=stop_at("child"), **GOING_ON)
    await ask(model, CHILDREN, lookahead=False, exemplars_as=wording)
    for kind in ("decompose_along", "pick_relations"):
        assert [each.question for each in asked(model, kind)[0].exemplars] == [shown_as]


BY_PATH: dict[str, Any] = {"lookahead_by": "path"}
FIRST_ROUND = ("link", "exemplars", "plan", "retrieve_relations", "prune", "lookahead_by_path")


async def test_paths_are_tried_one_after_the_other_once_relations_were_chosen(ask: Ask) -> None:
    model = playing(pick_relations=pick("pet"), evaluate_found=stop_at("child lives_in"))
    record = await ask(model, CHILDREN, TOWNS, MAYOR, **BY_PATH)
    assert shown(record) == ["Bonn", "Ulm"]
    assert nodes(record) == [*FIRST_ROUND, "answer"]
    assert [len(prompt.found) for prompt in asked(model, "evaluate_found")] == [1, 1]
    (looked,) = entries(record, "lookahead_by_path")
    assert (looked["fired"], looked["forward"], looked["realised"]) == (True, ["child", "lives_in"], 3)


async def test_where_no_path_is_enough_the_search_goes_on_from_all_that_was_chosen(ask: Ask) -> None:
    model = playing(
        pick_relations=pick("pet", "child child"),
        evaluate_found={"decision": "forward"},
        assess_found=stop_at("child child"),
        reflect=lambda prompt: {"go_on": [number for number, _ in enumerate(prompt.found, 1)]},
    )
    record = await ask(model, CHILDREN, TOWNS, **BY_PATH)
    assert shown(record) == ["Dora"]
    # R_D is what the model chose, and what of R_cand exemplars have
    first = entries(record, "prune")[0]
    assert (first["chosen"], first["guided"]) == (["Ada -pet->"], ["Ada -child->", "Ada -lives_in->"])
    assert entries(record, "lookahead_by_path")[1]["reason"] == "only the first round looks ahead"


async def test_without_an_index_the_trace_says_so_and_the_search_goes_on(ask: Ask) -> None:
    record = await ask(playing(assess_found=stop_at("child"), **GOING_ON))
    assert entries(record, "exemplars")[0]["reason"] == "no folder of exemplars is named"
    assert shown(record) == ["Ben", "Cleo"]


async def test_random_exemplars_are_the_same_for_the_same_question(ask: Ask) -> None:
    many = [solution(f"thing {at}", f"^r{at}") for at in range(30)]
    options = {"random_exemplars": True, "exemplars_shown": 2}
    found = []
    for _ in range(2):
        record = await ask(playing(assess_found=stop_at("child"), **GOING_ON), CHILDREN, *many, **options)
        found.append(entries(record, "exemplars")[0])
    assert found[0] == found[1]
    assert (found[0]["similarities"], len(found[0]["questions"])) == ([None, None], 2)


async def test_a_folder_of_exemplars_is_opened_whoever_answers(graph: Open, tmp_path: Path) -> None:
    from kgqa.priors.encoder import open_encoder
    from kgqa.priors.exemplars import build_exemplars
    from kgqa.priors.training_questions import read_training_questions

    encoder = open_encoder()
    asked = {"question": "what are the children of Bob?", "gold_path": ["child"]}
    lines = [{**asked, "topic_entities": [{"id": "m.1", "name": "Bob"}]}]
    build_exemplars(read_training_questions(lines), tmp_path / "solved", encoder.encode, encoder.name)
    record = await kgqa.aask(
        "what are the children of Ada?",
        topics=["Ada"],
        method="pog_egp",
        kg=graph(FAMILY),
        model=playing(assess_found=stop_at("child")),
        exemplars=str(tmp_path / "solved"),
    )
    assert shown(record) == ["Ben", "Cleo"]
    assert entries(record, "exemplars")[0]["similarities"] == [1.0]


async def test_cor_can_look_ahead_too(ask: Ask) -> None:
    model = playing(
        assess_found=stop_at("child"),
        prune_relations=choose("child"),
        verify_chain={"decision": "stop", "take": "all"},
    )
    record = await ask(model, CHILDREN, method="cor", lookahead=True)
    assert nodes(record) == ["link", "exemplars", "smart_lookahead", "answer"]
    record = await ask(model, CHILDREN, method="cor")
    assert nodes(record) == ["link", "retrieve_relations", "prune", "expand", "verify", "answer"]
    assert shown(record) == ["Ben", "Cleo"]


@pytest.mark.parametrize("guided", [True, False])
async def test_vogs_plan_can_be_shown_solved_questions(ask: Ask, guided: bool) -> None:
    plan = {"steps": [{"search": "children of Ada", "observation": []}], "answers": ["Ben"]}
    model = playing(plan_steps=plan)
    await ask(model, CHILDREN, method="vog", verification=False, guide_decomposition=guided)
    (prompt,) = asked(model, "plan_steps")
    assert [each.question for each in prompt.exemplars] == [CHILDREN.template] * guided
