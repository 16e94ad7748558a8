"""What papers set, as presets: each value as its paper gives it."""

from typing import Any

import pytest

import kgqa
from kgqa.api import OptionError, make_context
from kgqa.graphs import METHODS, context_of, cor
from kgqa.runtime.search_context import ONE_HOP_A_TIME, ONE_STEP_A_TIME, SearchContext
from kgqa.tests.support.planned import ONE_HOP

PUBLISHED: dict[tuple[str, str], dict[str, Any]] = {
    ("cog", "paper"): {
        # E.1: temperature 0.3, 1024 tokens, depth 4
        **{"temperature": 0.3, "max_tokens": 1024, "depth": 4},
        # E.2: the encoder of the anchors; E.2.2: the threshold
        **{"encoder": "msmarco-distilbert-base-tas-b", "tau": 0.92},
        # E.3: lambda_loc, lambda_step, lambda_glob
        **{"weight_local": 0.6, "weight_step": 0.25, "weight_global": 0.15},
        # equations 4, 5a and 5c; the last paragraph of §3.2.2
        **{"alignment": "semantic", "relevance": "subgoal", "compatibility": "slots", "safeguard": "union"},
        # §3.2.2: the frontier; A.5: no relations of the graph are shown; A.3, A.4.3: "and your knowledge"
        **{"exploration": "frontier", "adaptation": "free", "own_knowledge": True},
        # A.1 and A.5: two prompts, before the search
        **{"planning": "first", "topic_conditions": False, "unite": False},
        "attributes": False,  # A.2.2: names
        # no budget
        "budget": dict.fromkeys(("llm_calls", "tokens", "kg_queries", "seconds")),
    },
    # Sun et al. 2024 §3.1: 0.4 while exploring, 256 tokens, N = 3, D_max = 3
    ("tog", "paper"): {
        **{"temperature": 0.4, "max_tokens": 256, "width": 3, "depth": 3, "pruning": "model"},
        **{"beam": "entities", "topic_conditions": False},  # a beam of entities
        "attributes": False,  # names
    },
    # arguments of the public code (main_freebase.py); five recalls
    ("pog", "paper"): {
        **{"temperature": 0.3, "max_tokens": 4096, "depth": 4, "reflections": 5, "attributes": False},
        # main_freebase.py and freebase_func.py; EGP §4.3: entity exploration
        **{"frontier": "entities", "width": 70, "entity_encoder": "msmarco-distilbert-base-tas-b"},
        # Figure 2: decomposition first, a reflection in each round
        **{"planning": "first", "reflection": "always", "topic_conditions": False, "unite": False},
        # no question of the published runs (390 calls at most) may be cut
        "budget": {"llm_calls": 400, "tokens": 400_000, "kg_queries": 500, "seconds": 1800.0},
    },
}
COR: dict[str, Any] = {
    # §5.3: temperature 0.01; top-k pruning with k = 3; l = 3 on WebQSP and QALD10, 4 on CWQ
    **{"temperature": 0.01, "width": 3, "depth": 3},
    # §3: E_topic; §4.1: at each iteration; §4.3 and A.4: whatever failed; §4.1 and §4.2: RB and GEF
    **{"all_topics": True, "allow_parametric": "always"},
    **{"backtracking": True, "filtering": True},
    # §3: a chain of its own for each topic; §4.1: one chain at a time
    **{"topic_conditions": False, "unite": False},
    "attributes": False,  # §4.2, step 2: entities by name
    "budget": {"llm_calls": None, "tokens": None, "kg_queries": None, "seconds": None},  # it has none
}
PUBLISHED |= {("cor", name): COR for name in ("paper", "paper-webqsp", "paper-qald10")}
PUBLISHED["cor", "paper-cwq"] = {**COR, "depth": 4}
PUBLISHED["pog_egp", "paper"] = {
    **PUBLISHED["pog", "paper"],
    "encoder": "BAAI/bge-large-en-v1.5",  # EGP §4.1
    # Table 2: retrieved by similarity, shown to the decomposition (§4.2) and to the exploration (§4.3)
    **{"random_exemplars": False, "guide_decomposition": True, "guide_exploration": True, "lookahead": True},
    # §4.3: in the first iteration, path by path; §4.2: exemplary questions
    **{"lookahead_by": "path", "exemplars_as": "questions"},
}
VOG: dict[str, Any] = {
    **{"temperature": 0.3, "max_tokens": 1024},  # B.3.2
    **{"encoder": "msmarco-bert-base-dot-v5", "softmax_temperature": 1.0},  # A.2, equation 6
    # the public code: k_min and k_max, at most 10 steps, 4 revisions of a step; no end to those of a question
    **{"depth": 10, "width": 10, "k_min": 3, "revisions": 4, "max_revisions": 200},
    **{"suggestions": "plan", "frontier": "previous", "feedback": "chosen"},  # A.2, §3.2, equation 1
    **{"verification": True, "verifiers": "or", "nli": "microsoft/deberta-large-mnli"},  # §3.3, B.2
    **{"strategy": "adaptive", "reward": "both"},  # equations 2 to 4
    **{"candidate_plans": "revised", "reward_metrics": "raw"},  # Algorithm 2, B.2
    **{"alpha": 1.4, "bonus_scale": 1.0, "kg_priors": True, "diversity": True},  # B.1, B.3.1
    # appendix G, E.6; Algorithm 2
    **{
        "judge": False,
        "conclude": False,
        "attributes": False,
        "exact_match": False,
        "repeat_revisions": True,
    },
    **ONE_HOP,
    # §3.4.2, E.6: the answer is that of the last plan; there is no budget
    **{"allow_parametric": "always", "min_confidence": 0.0, "budget": COR["budget"]},
    **{"threshold": 0.77, "beta": 0.2, "expected_depth": 3},  # B.3.1: WebQSP and WebQuestions
}
PUBLISHED |= {("vog", name): VOG for name in ("paper", "paper-webqsp", "paper-webquestions")}
PUBLISHED["vog", "paper-cwq"] = {**VOG, "threshold": 0.73, "beta": 0.4, "expected_depth": 5}  # B.3.1

# papers offer whatever leads on by one hop, and ask about a single relation as well
OFFERED = {"vog": {}, "tog": ONE_HOP_A_TIME}
PUBLISHED = {key: OFFERED.get(key[0], ONE_STEP_A_TIME) | options for key, options in PUBLISHED.items()}


@pytest.mark.parametrize(("method", "preset"), PUBLISHED)
def test_a_preset_sets_what_the_paper_gives(method: str, preset: str) -> None:
    config = make_context(method, {"preset": preset, "kg": "a.ttl", "model": "offline"}).config()
    plain = make_context(method, {"kg": "a.ttl", "model": "offline"}).config()
    changed = PUBLISHED[method, preset]
    assert {name: config[name] for name in changed} == changed
    assert {name: config[name] for name in plain if name not in (*changed, "preset", "hash")} == {
        name: value for name, value in plain.items() if name not in (*changed, "preset", "hash")
    }
    assert config["hash"] != plain["hash"]


def test_every_preset_is_compared_with_its_paper() -> None:
    searching = [method for method in METHODS if issubclass(context_of(method), SearchContext)]
    known = [(method, name) for method in searching for name in context_of(method).PRESETS]
    assert set(known) == set(PUBLISHED)


def test_an_option_that_is_given_wins() -> None:
    context: Any = make_context("cog", {"preset": "paper", "encoder": None, "depth": 2})
    assert (context.encoder, context.depth, context.temperature, context.preset) == (None, 2, 0.3, "paper")
    config = context.config()
    again = {name: value for name, value in config.items() if name not in ("method", "hash")}
    assert make_context("cog", again).config() == config


def test_a_preset_wins_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KGQA_TEMPERATURE", "1")
    assert make_context("cor", {"preset": "paper"}).temperature == 0.01
    assert make_context("cor", {}).temperature == 1


@pytest.mark.parametrize("preset", ["paper-grailqa", "", "Paper"])
def test_an_unknown_preset_is_refused_with_those_that_there_are(preset: str) -> None:
    known = "cor has no preset '.*'; it has: paper, paper-webqsp, paper-qald10, paper-cwq$"
    with pytest.raises(OptionError, match=f"^option preset: {known}"):
        make_context("cor", {"preset": preset})


def test_a_preset_is_a_name() -> None:
    with pytest.raises(OptionError, match=r"^option preset: Input should be a valid string"):
        make_context("cor", {"preset": ["paper"]})
    with pytest.raises(OptionError, match="io has no option 'preset'"):
        make_context("io", {"preset": "paper"})


def test_a_method_without_presets_says_so() -> None:
    with pytest.raises(OptionError, match=r"^option preset: compose has no presets$"):
        make_context("compose", {"preset": "paper"})


async def test_the_graph_itself_knows_presets() -> None:
    """As a server and Studio hand them over."""
    record = await kgqa.aask("What is the capital of Peru?", method="cor", preset="paper", model="offline")
    options = {"preset": "paper", "model": "offline", "kg": "sample"}
    other = await cor.graph.ainvoke({"question": "What is the capital of Peru?"}, context=options)
    assert other["config"] == record["config"]
    assert (record["config"]["preset"], record["config"]["depth"]) == ("paper", 3)
    with pytest.raises(ValueError, match="it has: paper, "):
        await cor.graph.ainvoke({"question": "?"}, context={"preset": "papers"})


def test_studio_is_told_the_presets() -> None:
    schema = context_of("vog").model_json_schema()["properties"]["preset"]
    assert schema["enum"] == ["paper", "paper-webqsp", "paper-webquestions", "paper-cwq", None]
