"""Chains that were chosen together are judged together, and united where they say the same."""

from collections.abc import Callable
from typing import Any

import pytest

import kgqa
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.tests.support.frontier import drawn, pick
from kgqa.tests.support.guided import asked, choose, playing, shown

Open = Callable[[str], SparqlGraph]

MALTA = """
e:malta rdfs:label "Malta"@en ; r:spoken e:en ; r:official e:mt, e:en ; r:anthem e:hymn .
e:en rdfs:label "English"@en . e:mt rdfs:label "Maltese"@en . e:hymn rdfs:label "Hymn"@en .
"""


async def ask(graph: Open, model: Any, method: str = "cor", **options: Any) -> kgqa.Record:
    return await kgqa.aask(
        "Which languages?", topics=["Malta"], kg=graph(MALTA), model=model, method=method, **options
    )


def spoken(**verdict: Any) -> Any:
    return playing(prune_relations=choose("spoken", "official"), verify_chain={"decision": "stop", **verdict})


async def test_what_was_chosen_beside_a_chain_is_shown_and_united(graph: Open) -> None:
    model = spoken(united=[1])
    record = await ask(graph, model)
    assert (sorted(filter(None, shown(record))), record["outcome"]) == (["English", "Maltese"], "grounded")
    assert "UNION" in record["query"]
    [prompt] = asked(model, "verify_chain")
    assert 'Chain 1: -official-> ?1 (2): "English", "Maltese"' in prompt.case().splitlines()
    assert {path[0]["relation"] for path in record["paths"]} == {"http://t/r/spoken", "http://t/r/official"}


@pytest.mark.parametrize("method", ["cor", "cog", "pog"])
async def test_what_is_chosen_together_as_the_whole_answer_is_united_at_once(
    graph: Open, method: str
) -> None:
    both = choose("spoken", "official")
    picked = pick("spoken", "official")
    model = playing(
        prune_relations=lambda p: both(p) | {"then": "stop"},
        pick_relations=lambda p: picked(p) | {"then": "stop"},
    )
    record = await ask(graph, model, method=method)
    assert (sorted(filter(None, shown(record))), record["outcome"]) == (["English", "Maltese"], "grounded")
    assert "UNION" in record["query"]
    assert len(model.prompts) == 1


async def test_what_is_not_united_stays_an_alternative(graph: Open) -> None:
    record = await ask(graph, spoken())
    assert shown(record) == ["English"]


async def test_it_can_be_left_out(graph: Open) -> None:
    model = spoken()
    await ask(graph, model, unite=False)
    assert asked(model, "verify_chain")[0].siblings == ()


async def test_cog_sees_what_waits(graph: Open) -> None:
    model = playing(
        prune_relations=choose("spoken", "official"),
        check_sufficiency={"decision": "stop", "united": [1]},
    )
    record = await ask(graph, model, method="cog")
    assert sorted(filter(None, shown(record))) == ["English", "Maltese"]


async def test_groups_of_a_frontier_are_united(graph: Open) -> None:
    def both(prompt: Any) -> dict[str, Any]:
        assert [drawn(each.chain) for each in prompt.found] == ["spoken", "official"]
        return {"decision": "stop", "groups": [1, 2]}

    model = playing(pick_relations=pick("spoken", "official"), assess_found=both)
    record = await ask(graph, model, method="pog")
    assert (sorted(filter(None, shown(record))), record["outcome"]) == (["English", "Maltese"], "grounded")


BORN = MALTA + 'e:en r:since "1934" . e:mt r:since "1964" .'


@pytest.mark.parametrize("method", ["cor", "cog", "pog"])
async def test_what_is_united_is_filtered_together(graph: Open, method: str) -> None:
    after = {"conditions": [{"attribute": "A", "operator": ">", "value": "1950"}]}
    model = playing(
        prune_relations=choose("spoken", "official"),
        verify_chain={"decision": "filter", "united": [1]},
        check_sufficiency={"decision": "filter", "united": [1]},
        pick_relations=pick("spoken", "official"),
        assess_found={"decision": "filter", "groups": [1, 2]},
        apply_conditions=after,
    )
    record = await kgqa.aask(
        "Which is of after 1950?", topics=["Malta"], kg=graph(BORN), model=model, method=method
    )
    [prompt] = asked(model, "apply_conditions")
    assert '1. "English" (A "1934")' in prompt.case() and '2. "Maltese" (A "1964")' in prompt.case()
    assert (shown(record), record["outcome"]) == (["Maltese"], "grounded")


async def test_what_is_united_with_another_decision_waits_for_its_turn(graph: Open) -> None:
    model = playing(
        prune_relations=choose("spoken", "official"),
        verify_chain=lambda p: {
            "decision": "backtrack" if p.siblings else "stop",
            "united": [*range(1, len(p.siblings) + 1)],
        },
    )
    record = await ask(graph, model)
    assert len(asked(model, "verify_chain")) == 2
    assert sorted(filter(None, shown(record))) == ["English", "Maltese"]


@pytest.mark.parametrize("method", ["cor", "cog"])
async def test_what_says_and_reaches_the_same_is_turned_down_with_it(graph: Open, method: str) -> None:
    def down(prompt: Any) -> dict[str, Any]:
        return {"decision": "backtrack", "united": [*range(1, len(prompt.siblings) + 1)]}

    model = playing(
        prune_relations=lambda p: choose("official", "spoken_officially")(p),
        verify_chain=down,
        check_sufficiency=down,
        diagnose={"step": 0},
    )
    twins = MALTA + "e:malta r:spoken_officially e:mt, e:en ."
    await kgqa.aask(
        "Which anthem?", topics=["Malta"], kg=graph(twins), model=model, method=method, retry_search=False
    )
    assert len(asked(model, "verify_chain") + asked(model, "check_sufficiency")) == 1


async def test_where_a_chain_goes_on_its_inverse_to_the_same_nodes_is_not_asked_about(graph: Open) -> None:
    first, both = choose("cast"), choose("cast", "^played_in")
    model = playing(
        prune_relations=lambda p: (
            {"relations": []} if p.chain.hops else both(p) if len(p.offers) > 1 else first(p)
        ),
        verify_chain={"decision": "forward"},
    )
    twins = 'e:ran rdfs:label "Ran"@en ; r:cast e:ben . e:ben rdfs:label "Ben"@en ; r:played_in e:ran ; '
    twins += "r:age 7 ; r:pet e:rex ."
    await kgqa.aask("Whose?", topics=["Ran"], kg=graph(twins), model=model, method="cor", retry_search=False)
    assert [prompt.name for prompt in model.prompts][:3] == [
        "prune_relations",
        "verify_chain",
        "prune_relations",
    ]
    assert (len(asked(model, "verify_chain")), len(asked(model, "prune_relations"))) == (1, 2)


@pytest.mark.parametrize("method", ["cor", "cog", "pog"])
async def test_one_text_in_two_languages_is_one_candidate(graph: Open, method: str) -> None:
    stop = {"decision": "stop", "take": "all"}
    model = playing(
        prune_relations=choose("native"),
        verify_chain=stop,
        check_sufficiency=stop,
        pick_relations=pick("native"),
        assess_found={**stop, "groups": [1]},
    )
    store = graph('e:lin rdfs:label "Lin"@en ; r:native "林廣守"@ja, "林廣守", "Lin" ; r:age 7 .')
    record = await kgqa.aask(
        "What is Lin's native name?", topics=["Lin"], kg=store, model=model, method=method
    )
    assert sorted(filter(None, shown(record))) == ["Lin", "林廣守"]
    assert model.prompts[-1].case().splitlines()[-3:-1] == ['1. "Lin"', '2. "林廣守"']


@pytest.mark.parametrize("count", [{"decision": "stop", "take": "count"}, {"decision": "filter"}])
@pytest.mark.parametrize("method", ["cor", "cog", "pog"])
async def test_one_text_in_several_languages_is_not_proved_to_be_several(
    graph: Open, method: str, count: dict[str, Any]
) -> None:
    model = playing(
        prune_relations=choose("title"),
        verify_chain=count,
        check_sufficiency=count,
        pick_relations=pick("title"),
        assess_found={**count, "groups": [1]},
        apply_conditions={"count": True},
    )
    store = graph('e:lin rdfs:label "Lin" ; r:title "Titanic"@en, "Titanic"@de, "Titanic"@fr ; r:age 7 .')
    record = await kgqa.aask(
        "How many titles has Lin?", topics=["Lin"], kg=store, model=model, method=method, retry_search=False
    )
    unchecked = [each["words"] for each in record["conditions"] if each["by"] is None]
    assert unchecked == ["texts in de and en and fr are counted"]
    assert (shown(record), record["outcome"]) == (["3"], "grounded_unverified")
    assert model.prompts[-1].case().splitlines()[-2] == '1. "Titanic"'


async def test_a_guess_is_inferred(graph: Open) -> None:
    record = await ask(graph, spoken(unsure=True))
    assert (shown(record), record["outcome"]) == (["English"], "grounded_inference")


MEETING = """
e:ada rdfs:label "Ada"@en ; r:directed e:ran .
e:ben rdfs:label "Ben"@en ; r:played_in e:ran .
e:ran rdfs:label "Ran"@en ; r:cast e:ben .
"""


@pytest.mark.parametrize(
    ("chosen", "met"),
    [(["directed", "played_in", "^cast"], [0, 1, 1]), (["played_in", "^cast", "directed"], [0, 0, 2])],
)
async def test_groups_of_the_same_candidates_are_taken_together_and_shown_once_for_a_chain(
    graph: Open, chosen: list[str], met: list[int]
) -> None:
    def every(prompt: Any) -> dict[str, Any]:
        assert {drawn(each.chain): len(each.met) for each in prompt.found} == dict(
            zip(chosen, met, strict=True)
        )
        return {"decision": "stop", "groups": [*range(1, len(prompt.found) + 1)]}

    model = playing(pick_relations=pick(*chosen), assess_found=every)
    record = await kgqa.aask(
        "Which film did Ada direct with Ben?",
        topics=["Ada", "Ben"],
        kg=graph(MEETING),
        model=model,
        method="pog",
    )
    assert (shown(record), len(asked(model, "assess_found"))) == (["Ran"], 1)
    assert "UNION" not in record["query"]
