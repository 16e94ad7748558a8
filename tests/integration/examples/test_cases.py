"""The paper's case study and its Figure 1, as examples/ has them."""

import os
import re
import shlex
import subprocess
import sys
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from rdflib import RDFS, Graph, Literal, Namespace, URIRef

import kgqa
from kgqa.models.scripted import ScriptedModel
from kgqa.prompts.base import Prompt
from kgqa.tests.support.frontier import written

EXAMPLES = Path(__file__).parents[3] / "examples"
OBAMA, OSCARS = "Who inspired Obama?", "Which directors have worked with actors who won the Best Actor Oscar?"
COMMANDS = re.findall(
    r"```console\n\$ (.*)\n([^`]*)```", (EXAMPLES / "README.md").read_text(encoding="utf-8")
)

E, R = Namespace("https://kgqa.example/e/"), Namespace("https://kgqa.example/r/")
CHAIN = ("won_by", "acting_credit", "director")


def following(*chain: str, width: int = 1) -> ScriptedModel:
    """A perfect model: it takes the chain's next relations, then as many others as it may."""

    def line(prompt: Prompt[Any]) -> dict[str, Any]:
        depth = prompt.chain.depth
        if prompt.name == "verify_chain":
            return {"decision": "stop" if depth == len(chain) else "forward"}
        offered = [written(offer.hops) for offer in prompt.offers]
        best = next(n for n, hops in enumerate(offered, 1) if " ".join(chain[depth:]).startswith(hops))
        return {"relations": [best, *(n for n in range(1, len(offered) + 1) if n != best)][:width]}

    return ScriptedModel(line)


async def ask_oscars(path: Path, model: ScriptedModel, method: str = "cor", **options: Any) -> kgqa.Record:
    return await kgqa.aask(
        OSCARS, kg=str(path), topics=["Best Actor Oscar"], model=model, method=method, **options
    )


def names(record: kgqa.Record) -> set[str | None]:
    return {answer["name"] for answer in record["answers"]}


def ends(record: kgqa.Record) -> list[int]:
    """How many nodes each followed chain had at its end."""
    return [entry["ends"] for entry in record["trace"] if entry["node"] == "expand"]


@pytest.fixture(scope="module")
def oscars() -> Graph:
    return Graph().parse(EXAMPLES / "best_actor.ttl")


@pytest.fixture(scope="module")
def directors(oscars: Graph) -> dict[URIRef, set[str]]:
    """Each winner's directors, by name, read from the file without kgqa."""
    return {
        winner: {
            str(oscars.value(director, RDFS.label))
            for credit in oscars.objects(winner, R.acting_credit)
            for director in oscars.objects(credit, R.director)
        }
        for winner in oscars.objects(E.Academy_Award_for_Best_Actor, R.won_by)
    }


@pytest.fixture(scope="module")
def everyone(directors: dict[URIRef, set[str]]) -> set[str]:
    return set().union(*directors.values())


@pytest.fixture
def unlabelled(oscars: Graph, tmp_path: Path) -> Path:
    """The graph with no names but the topic's and the directors'."""
    kept = {E.Academy_Award_for_Best_Actor, *oscars.objects(None, R.director)}
    bare = Graph()
    for triple in oscars:
        if triple[1] != RDFS.label or triple[0] in kept:
            bare.add(triple)
    bare.serialize(tmp_path / "bare.nt", format="nt", encoding="utf-8")
    return tmp_path / "bare.nt"


async def test_one_relation_finds_all_who_inspired_obama_in_two_calls() -> None:
    record = await kgqa.aask(
        OBAMA,
        method="cor",
        kg=str(EXAMPLES / "obama.ttl"),
        topics=["Barack Obama"],
        model=following("influenced_by"),
    )
    assert names(record) == {"Nipsey Russell", "Reinhold Niebuhr", "Saul Alinsky"}
    assert (record["outcome"], record["usage"]["llm_calls"]) == ("grounded", 2)


async def test_the_path_to_those_who_inspired_obama_is_one_chain() -> None:
    record = await kgqa.aask(
        OBAMA,
        method="cor",
        kg=str(EXAMPLES / "obama.ttl"),
        topics=["Barack Obama"],
        model=following("influenced_by"),
    )
    [[step]] = record["paths"]
    assert step["head"]["name"] == "Barack Obama"
    assert (step["relation"], step["forward"]) == (str(R.influenced_by), True)
    assert step["tail"] == {"id": None, "name": None}


async def test_all_directors_are_found_by_way_of_nodes_without_names(everyone: set[str]) -> None:
    record = await ask_oscars(EXAMPLES / "best_actor.ttl", following(*CHAIN))
    assert names(record) == everyone
    assert (record["outcome"], record["usage"]["llm_calls"]) == ("grounded", 4)


async def test_names_between_topic_and_answer_make_no_difference(
    unlabelled: Path, everyone: set[str]
) -> None:
    record = await ask_oscars(unlabelled, following(*CHAIN))
    assert names(record) == everyone
    assert record["usage"]["llm_calls"] == 4  # winners without a label are called by their IRIs


async def test_a_width_of_three_loses_no_winner(
    directors: dict[URIRef, set[str]], everyone: set[str]
) -> None:
    record = await ask_oscars(EXAMPLES / "best_actor.ttl", following(*CHAIN, width=3), width=3)
    assert ends(record)[0] == len(directors) > 60
    assert names(record) == everyone


async def test_no_number_of_candidates_is_cut(oscars: Graph, everyone: set[str]) -> None:
    model = following(*CHAIN)
    record = await ask_oscars(EXAMPLES / "best_actor.ttl", model)
    winners = set(oscars.objects(E.Academy_Award_for_Best_Actor, R.won_by))
    assert ends(record) == [len(winners), len(everyone)]
    assert len(model.prompts[-1].candidates) == len(everyone)


async def test_acting_credits_are_crossed_without_a_call() -> None:
    model = following(*CHAIN)
    await ask_oscars(EXAMPLES / "best_actor.ttl", model)
    assert [(prompt.name, prompt.chain.depth) for prompt in model.prompts] == [
        ("prune_relations", 0),
        ("verify_chain", 1),
        ("prune_relations", 1),
        ("verify_chain", 3),
    ]


def test_the_readme_counts_right(
    oscars: Graph, directors: dict[URIRef, set[str]], everyone: set[str]
) -> None:
    """What the README says that a search from entity to entity would lose."""
    text = " ".join((EXAMPLES / "README.md").read_text(encoding="utf-8").split())
    named = {winner for winner in directors if (winner, RDFS.label, None) in oscars}
    seen = set().union(*(directors[winner] for winner in named))
    assert f"{len(everyone)} directors, by way of {len(directors)} winners" in text
    assert f"{len(directors) - len(named)} of the winners are ids" in text
    assert f"never sees {len(everyone - seen)} of the directors" in text


def test_no_three_winners_lead_to_more_directors_than_the_readme_says(
    directors: dict[URIRef, set[str]],
) -> None:
    most = max(len(set().union(*three)) for three in combinations(directors.values(), 3))
    assert f"Three winners lead to {most} directors at most" in (EXAMPLES / "README.md").read_text("utf-8")


@pytest.mark.parametrize("name", ["obama", "best_actor", "border_airport", "biomedical"])
def test_names_are_english_labels_and_opaque_nodes_have_none(name: str) -> None:
    graph = Graph().parse(EXAMPLES / f"{name}.ttl")
    opaque = {node for node in graph.all_nodes() if "/n/" in node}
    named = {node for node in graph.all_nodes() if isinstance(node, URIRef)} - opaque
    assert named == set(graph.subjects(RDFS.label, None))
    assert all(
        isinstance(label, Literal) and label.language == "en" for label in graph.objects(None, RDFS.label)
    )


def run(command: str) -> str:
    """Run a command line of the README from the root of the repository, with the offline model."""
    program, *arguments = shlex.split(command)
    ways: dict[str, list[str]] = {
        "kgqa": ["-P", "-c", "from kgqa.cli.main import main; main()", *arguments, "--model", "offline"],
        "python": arguments,
    }
    done = subprocess.run(
        [sys.executable, *ways[program]],
        cwd=EXAMPLES.parent,
        env={**os.environ, "KGQA_MODEL": "offline", "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def unmeasured(text: str) -> str:
    """Leave seconds and similarities out."""
    return re.sub(r"\d+\.\d+", "#", text)


@pytest.mark.parametrize(
    ("command", "shown"),
    COMMANDS,
    ids=["obama", "ask.py", "best_actor", "foster", "hanks", "airport", "claim"],
)
def test_a_command_of_the_readme_prints_what_is_shown(command: str, shown: str) -> None:
    printed = "".join(f"{line.rstrip()}\n" for line in run(command).splitlines())
    assert unmeasured(printed) == unmeasured(shown)
