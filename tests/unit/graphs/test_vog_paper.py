"""VoG to the letter of its paper: what each option that gives the paper's way changes."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import kgqa
from kgqa.cli.options import read_options
from kgqa.kg.errors import KGTimeout
from kgqa.kg.opening import open_graph
from kgqa.models.errors import MalformedReply
from kgqa.nodes.vog.state import max_selections
from kgqa.prompts.plans import SearchPlan
from kgqa.tests.support.guided import Failing
from kgqa.tests.support.method_fixtures import AskVoG
from kgqa.tests.support.planned import (
    TOWNS,
    as_searched,
    entries,
    nodes,
    plan,
    playing,
    revision,
    shown,
    take,
)
from kgqa.tests.unit.graphs.test_vog_edges import many

PAPER: dict[str, Any] = {"preset": "paper", "encoder": None, "nli": None, "threshold": None}
"""The preset with what comes with kgqa in place of what has to be fetched."""

PAGE = Path(kgqa.__file__).parent / "docs" / "vog.md"


def prompts(model: Any, name: str) -> Sequence[Any]:
    return [prompt for prompt in model.prompts if prompt.name == name]


def ends(paths: Sequence[Any]) -> list[str]:
    return [str(path.end) for path in paths]


@pytest.mark.parametrize(
    ("feedback", "first", "second"),
    [("reached", ["Ben", "Cleo"], ["Bonn", "Ben", "Cleo"]), ("chosen", ["Ben"], ["Bonn"])],
)
async def test_the_verifier_sees_what_the_step_chose(
    vog: AskVoG, feedback: str, first: list[str], second: list[str]
) -> None:
    """Section 3.2 and equation 1: O_t holds the triples of selected entities, and V sees O_t."""

    def ben(prompt: Any) -> Any:
        return {"keep": "some", "chosen": [ends_of(prompt.candidates).index("Ben") + 1]}

    def ends_of(terms: Sequence[Any]) -> list[str]:
        return list(map(str, terms))

    model = playing(
        plan_steps=plan("Ada child", "Ben lives_in", answers=["Bonn"]),
        select_relations=as_searched,
        select_entities=ben,
    )
    record = await vog(model, feedback=feedback, frontier="previous")
    assert [ends(prompt.facts) for prompt in prompts(model, "verify_step")] == [first, second]
    assert (shown(record), record["outcome"]) == (["Bonn"], "grounded_inference")


async def test_a_step_is_one_hop_from_the_entities_of_the_step_before(vog: AskVoG) -> None:
    """Section 3.2: E_t is what one hop from E_(t-1) leads to, unnamed entities among it."""

    def ask(frontier: str, *searches: str) -> Any:
        model = playing(
            plan_steps=plan(*searches, answers=["Finn"]),
            select_relations=lambda prompt: (
                take("partner")(prompt) if not prompt.frontier[0].end.name else as_searched(prompt)
            ),
            verify_step={"revise": False},
        )
        return vog(model, frontier=frontier)

    crossed = await ask("wide", "Ada marriage")
    assert [entry["step"] for entry in entries(crossed, "expand")] == [1, 1]
    one = await ask("previous", "Ada marriage")
    assert ([entry["step"] for entry in entries(one, "expand")], one["outcome"]) == ([1], "parametric")
    two = await ask("previous", "Ada marriage", "the partner")
    assert ([entry["step"] for entry in entries(two, "expand")], two["outcome"]) == ([1, 2], "grounded")


@pytest.mark.parametrize(("frontier", "ends"), [("wide", {"Ben"}), ("previous", {"Ben", "Al"})])
async def test_a_relation_is_followed_in_both_directions(vog: AskVoG, frontier: str, ends: set[str]) -> None:
    """Section 3.2: for each selected r and each e, (e, r, ?) and (?, r, e)."""
    kg = 'e:ada rdfs:label "Ada"@en ; r:child e:ben . e:al rdfs:label "Al"@en ; r:child e:ada .\n'
    kg += 'e:ben rdfs:label "Ben"@en .'
    model = playing(plan_steps=plan("Ada child", answers=["Ben"]), select_relations=take("child"))
    await vog(model, kg=kg, frontier=frontier)
    [asked] = prompts(model, "verify_step")
    assert {str(path.end) for path in asked.facts} == ends


async def test_the_answer_is_the_last_plan_s_after_any_failure(
    vog: AskVoG, turtle: Callable[[str], Path]
) -> None:
    """Section 3.4.2 and appendix E.6; by default missing evidence is not covered up."""
    model = playing(plan_steps=plan("Ada lives_in Ulm", answers=["Ulm"]), select_relations=as_searched)
    for option, found in ((True, ([], "kg_unavailable")), ("always", (["Ulm"], "parametric"))):
        slow = Failing(open_graph([turtle(TOWNS)]), "follow_relation", KGTimeout("slow"), lambda steps: True)
        record = await vog(model, kg=slow, allow_parametric=option)
        assert (shown(record), record["outcome"]) == found
    assert "answer_directly" not in [prompt.name for prompt in model.prompts]


async def test_a_run_that_ends_before_there_is_a_plan_has_a_record(tmp_path: Path) -> None:
    options: dict[str, Any] = {"kg": str(tmp_path / "none.ttl"), "model": "offline", "method": "vog"}
    record = await kgqa.aask("Who?", allow_parametric="always", **options)
    assert record["outcome"] == "kg_unavailable" and "none.ttl" in record["trace"][0]["error"]


@pytest.mark.parametrize(("suggestions", "shown", "unnamed"), [("both", 7, 2), ("plan", 3, 0)])
async def test_k_candidates_are_left_by_their_weights_alone(
    vog: AskVoG, suggestions: str, shown: int, unnamed: int
) -> None:
    """Algorithm 1: neither a predicted name nor nodes without one come beside the k likeliest."""
    kg = 'e:ada rdfs:label "Ada"@en ; r:child e:x1, e:x2 .\n' + many("child", 20)
    kg = kg.replace('"child007"', '"Zorro"')
    model = playing(plan_steps=plan("Ada child Zorro", answers=["Zorro"]), select_relations=as_searched)
    await vog(model, kg=kg, suggestions=suggestions, frontier="previous", softmax_temperature=0.001)
    [asked] = prompts(model, "select_entities")
    names = [term.name for term in asked.candidates]
    assert (len(names), names.count(None)) == (shown, unnamed)


async def test_few_relations_are_shown_by_their_weights_too(vog: AskVoG) -> None:
    """Algorithm 1: the likeliest come first, and are what a malformed reply leaves."""
    kg = 'e:ada rdfs:label "Ada"@en ; r:aunt e:x ; r:boss e:x ; r:cousin e:x ; r:dog e:x ; r:enemy e:b .\n'
    kg += 'e:b rdfs:label "Ben"@en . e:x rdfs:label "Xaver"@en .'
    predicted = plan("Ada enemy", answers=["Ben"])
    model = playing(plan_steps=predicted, select_relations=MalformedReply("no"))
    record = await vog(model, kg=kg, suggestions="plan", frontier="previous")
    assert entries(record, "rerank")[0]["best"][0] == entries(record, "prune")[0]["chosen"][0]
    assert "enemy" in entries(record, "prune")[0]["chosen"][0]


@pytest.mark.parametrize("judge", [True, False])
def test_a_call_is_left_for_a_verdict_where_one_comes(judge: bool) -> None:
    """Table 13: 2k selections a step."""
    state: Any = {"plan": SearchPlan((), whether=True)}
    assert max_selections(state, SimpleNamespace(width=3, judge=judge)) == (5 if judge else 6)


async def test_of_nodes_without_a_name_all_are_kept_without_a_call(vog: AskVoG) -> None:
    kg = 'e:ada rdfs:label "Ada"@en ; r:child e:x1, e:x2 . e:x2 r:pet e:x3 . e:x3 rdfs:label "Rex"@en .'
    model = playing(
        plan_steps=plan("Ada child", "the pet", answers=["Rex"]),
        select_relations=as_searched,
        verify_step={"revise": False},
    )
    record = await vog(model, kg=kg, frontier="previous")
    assert (prompts(model, "select_entities"), shown(record)) == ([], ["Rex"])
    assert entries(record, "filter")[0]["chosen"] == 2


@pytest.mark.parametrize(("frontier", "sizes"), [("wide", [1, 2]), ("previous", [1, 1])])
async def test_a_step_begins_at_entities_that_it_names_only_where_told(
    vog: AskVoG, frontier: str, sizes: list[int]
) -> None:
    model = playing(
        plan_steps=plan("Ada lives_in Ulm", "Ada river Danube", answers=["Danube"]),
        select_relations=as_searched,
    )
    record = await vog(model, frontier=frontier)
    assert [entry["frontier"] for entry in entries(record, "retrieve_relations")][:2] == sizes


@pytest.mark.parametrize(
    ("candidate_plans", "entropies", "confidences"),
    [
        pytest.param(
            "all", [0, 0, 0.918296], [1, 1 / 3, 3 / 4], id="with the first plan, H at each revision"
        ),
        pytest.param("revised", [0, 0, 0], [1, 1 / 2, 2 / 3], id="P of Algorithm 2, H once a step"),
    ],
)
async def test_answers_are_compared_among_the_candidate_plans(
    vog: AskVoG, candidate_plans: str, entropies: list[float], confidences: list[float]
) -> None:
    model = playing(
        plan_steps=plan("Ada lives_in Bonn", answers=["Bonn"]),
        select_relations=take("lives_in"),
        verify_step={"revise": True},
        revise_locally=revision("Ada lives_in Bonn", answers=["Bonn"]),
        revise_ahead=revision("Ada lives_in Ulm", answers=["Ulm"]),
        revise_globally=revision("Ada lives_in Bonn", answers=["Bonn"]),
    )
    record = await vog(model, threshold=1, revisions=3, candidate_plans=candidate_plans)
    chosen, rewarded = entries(record, "choose_arm"), entries(record, "appraise")
    assert [entry["entropy"] for entry in chosen] == pytest.approx(entropies, abs=1e-6)
    assert [entry["confidence"] for entry in rewarded] == pytest.approx(confidences)
    if candidate_plans == "revised":  # equation 4 with H = 0: lambda is beta
        assert [entry["reward"] for entry in rewarded] == pytest.approx(
            [0.8 * entry["task"] + 0.2 * entry["confidence"] for entry in rewarded]
        )


async def test_the_entropy_of_a_step_is_that_of_the_plans_before_it(vog: AskVoG) -> None:
    """Algorithm 2, line 4: in the second step H_t is that of what the first one proposed."""
    model = playing(
        plan_steps=plan("Ada lives_in Bonn", "there river", answers=["Rhine"]),
        select_relations=as_searched,
        verify_step={"revise": True},
        revise_locally=revision("Ada lives_in Ulm", "there river", answers=["Danube"]),
        revise_ahead=revision("Ada lives_in Ulm", "there river", answers=["Rhine"]),
        revise_globally=MalformedReply("no plan"),
    )
    record = await vog(model, threshold=1, revisions=2, candidate_plans="revised")
    found = [(entry["step"], entry["entropy"]) for entry in entries(record, "choose_arm")]
    assert found == [(1, 0), (1, 0), (2, 1), (2, 1)]


@pytest.mark.parametrize(("suggestions", "total", "frontier"), [("both", 30, 30), ("plan", None, None)])
async def test_k_max_caps_what_is_kept(
    vog: AskVoG, suggestions: str, total: int | None, frontier: int | None
) -> None:
    """Appendix A.2: what the filter leaves out cannot be kept, by "all" or unasked."""
    kg = 'e:ada rdfs:label "Ada"@en .\n' + many("child", 30)
    model = playing(
        plan_steps=plan("Ada child child007", "child lives_in", answers=["child007"]),
        select_relations=as_searched,
    )
    record = await vog(model, kg=kg, suggestions=suggestions)
    [asked] = prompts(model, "select_entities")
    assert "child007" in map(str, asked.candidates)
    assert len(asked.candidates) <= 10
    assert asked.total == (total or len(asked.candidates))
    assert entries(record, "filter")[0]["chosen"] == (frontier or len(asked.candidates))


@pytest.mark.parametrize(("suggestions", "most"), [("both", 40), ("plan", 10)])
async def test_relations_of_all_topics_are_filtered_together(
    vog: AskVoG, suggestions: str, most: int
) -> None:
    kg = TOWNS + "".join(many(f"x{at}", 1) + many(f"y{at}", 1, head="bonn") for at in range(15))
    model = playing(plan_steps=plan("Ada lives_in Ulm", answers=["Ulm"]), select_relations=take("lives_in"))
    record = await vog(model, topics=("Ada", "Bonn"), kg=kg, suggestions=suggestions)
    assert entries(record, "retrieve_relations")[0]["relations"] > 30
    kept = entries(record, "rerank")[0]["kept"]
    assert kept <= most
    assert (kept > 10) is (suggestions == "both")
    assert entries(record, "rerank")[0]["best"][0] == "-lives_in->"


async def test_similarityes_are_raw_cosines_where_told(vog: AskVoG) -> None:
    """Appendix B.2: all similarities are cosines."""

    async def metrics(**options: Any) -> dict[str, Any]:
        model = playing(
            plan_steps=plan("Ada lives_in Bonn", answers=["Bonn"]),
            select_relations=take("lives_in"),
            revise_locally=revision("Ada lives_in Bonn", answers=["Bonn"]),
        )
        record = await vog(model, strategy="local", revisions=1, **options)
        found: dict[str, Any] = entries(record, "appraise")[0]["metrics"]
        return found

    scaled, raw = await metrics(), await metrics(reward_metrics="raw")
    for name in ("quality", "coherence", "alignment"):
        assert raw[name] == pytest.approx(2 * scaled[name] - 1, abs=1e-5)
    assert raw["efficiency"] == scaled["efficiency"]


@pytest.mark.parametrize(
    ("observation", "answers", "scaled", "raw"),
    [
        ([["Ada", "lives in", "unknown"]], ["Ulm"], False, True),
        ([["Ada", "lives in", "none"], ["", "", ""]], ["Ulm"], False, True),
        ([], ["Ulm"], False, True),
        ([["Ada", "lives in", "Ulm"]], ["unknown"], True, False),
    ],
)
async def test_what_is_penalised_is_a_prediction_of_nothing_or_a_plan_without_answers(
    vog: AskVoG, observation: list[list[str]], answers: list[str], scaled: bool, raw: bool
) -> None:
    revised = {"first": 1, "steps": [{"search": "Ada home", "observation": observation}], "answers": answers}
    model = playing(
        plan_steps=plan("Ada lives_in Bonn", answers=["Bonn"]),
        select_relations=take("lives_in"),
        revise_locally=revised,
    )
    found = [
        entries(await vog(model, strategy="local", revisions=1, reward_metrics=metrics), "appraise")[0]
        for metrics in ("scaled", "raw")
    ]
    assert [entry["metrics"]["unanswered"] for entry in found] == [scaled, raw]
    if not observation:
        assert found[1]["metrics"]["quality"] == 0


async def test_the_mixed_input_holds_all_facts_and_the_relations_to_come(vog: AskVoG) -> None:
    """Appendix A.3.5 and Figure 4."""
    model = playing(
        plan_steps=plan("Ada lives_in Ulm", "Ulm river Rhine", answers=["Rhine"]),
        select_relations=as_searched,
        revise_mixed=revision("Ada lives_in Ulm", "Ulm river Danube", answers=["Danube"]),
    )
    record = await vog(model, strategy="mixed", threshold=0)
    [asked] = prompts(model, "revise_mixed")
    assert ends(asked.facts) == ["Danube", "Ulm"]
    assert ends(asked.frontier) == ["Danube"]
    assert (shown(record), record["outcome"]) == (["Danube"], "grounded")
    assert [entry["arm"] for entry in entries(record, "appraise")] == ["mixed"]
    assert nodes(record)[-4:] == ["revise", "appraise", "advance", "answer"]
    assert "look_ahead" in nodes(record)


@pytest.mark.parametrize("strategy", ["local", "lookahead", "global", "mixed"])
async def test_every_strategy_is_told_of_a_step_that_found_nothing(vog: AskVoG, strategy: str) -> None:
    same = revision("Ada lives_in Ulm", "Ulm mayor", answers=["Don"])
    model = playing(
        plan_steps=plan("Ada lives_in Ulm", "Ulm mayor", answers=["Don"]),
        select_relations=as_searched,
        **{f"revise_{how}": same for how in ("locally", "ahead", "globally", "mixed")},
    )
    await vog(model, strategy=strategy)
    [asked] = [prompt for prompt in model.prompts if prompt.name.startswith("revise_")]
    assert "Next: step 2 of at most 10, which has found nothing" in asked.case().splitlines()


async def test_yes_or_no_may_be_left_to_the_plan(vog: AskVoG) -> None:
    model = playing(
        plan_steps=plan("Ada lives_in Ulm", answers=["yes"], whether=True), select_relations=as_searched
    )
    record = await vog(model, judge=False)
    assert ("judge" in nodes(record), shown(record), record["outcome"]) == (False, ["yes"], "parametric")


async def test_the_paper_to_the_letter_finds_what_is_there(vog: AskVoG) -> None:
    model = playing(
        plan_steps=plan("Ada lives_in Bonn", "Bonn river Rhine", answers=["Rhine"]),
        select_relations=as_searched,
        revise_locally=revision("Ada lives_in Ulm", "Ulm river Danube", answers=["Danube"]),
    )
    record = await vog(model, **{**PAPER, "threshold": 0, "verifiers": "nli"})
    assert (shown(record), record["outcome"]) == (["Danube"], "grounded")


def ablations() -> list[Any]:
    """Read the rows of the paper's tables off the page, each with the options that give it."""
    rows = re.findall(r"^\| (Tables? [^|]+|Figure 4[^|]*) \| `(--option [^|]+)` \|$", PAGE.read_text(), re.M)
    return [pytest.param(read_options(re.findall(r"--option (\S+)", given)), id=row) for row, given in rows]


@pytest.mark.parametrize("options", ablations())
async def test_each_row_of_the_papers_tables_is_a_run(vog: AskVoG, options: dict[str, Any]) -> None:
    bonn = revision("Ada lives_in Bonn", answers=["Bonn"])
    model = playing(
        plan_steps=plan("Ada lives_in Bonn", answers=["Bonn"]),
        select_relations=take("lives_in"),
        **{f"revise_{how}": bonn for how in ("locally", "ahead", "globally", "mixed")},
    )
    record = await vog(model, **options)
    config = record["config"]
    assert {name: config[name] for name in options} == options
    assert shown(record) == ["Bonn"]
    assert ("revise" in nodes(record)) is config["verification"]
