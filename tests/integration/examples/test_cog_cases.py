"""The two case studies of CoG (appendix J), as examples/ has them."""

import gzip
import json
import re
import shlex
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from rdflib import RDFS, Graph, Literal, Namespace, URIRef
from typer.testing import CliRunner

import kgqa
from kgqa.cli import main
from kgqa.examples import cog
from kgqa.kg.opening import open_graph
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.kg.terms import Chain, Entity, Hop
from kgqa.models.scripted import ScriptedModel
from kgqa.prompts.base import Prompt
from kgqa.prompts.check_sufficiency import CheckSufficiency
from kgqa.prompts.progress import Progress
from kgqa.prompts.prune_relations import PruneRelations
from kgqa.tests.support.builds import built
from kgqa.tests.support.frontier import pruning
from kgqa.tests.unit.prompts.test_instructions import HASHES, fingerprint

EXAMPLES = Path(cog.__file__).parent
README = (EXAMPLES / "README.md").read_text(encoding="utf-8")

E, R = Namespace("https://kgqa.example/e/"), Namespace("https://kgqa.example/r/")
ACTED, DIRECTED = "-film.actor.film->", "-film.director.film->"
FILMS = f"{ACTED} -film.performance.film->"


class Played(NamedTuple):
    record: kgqa.Record
    model: ScriptedModel

    @property
    def answers(self) -> set[str | None]:
        return {answer["name"] for answer in self.record["answers"]}

    @property
    def calls(self) -> int:
        return self.record["usage"]["llm_calls"]

    def entries(self, node: str) -> list[dict[str, Any]]:
        return [entry for entry in self.record["trace"] if entry["node"] == node]

    @property
    def diagnoses(self) -> list[dict[str, Any]]:
        return [entry for entry in self.entries("diagnose") if "signal" in entry]

    @property
    def asked(self) -> list[str]:
        return [prompt.name for prompt in self.model.prompts]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> str:
    return cog.build_library(tmp_path_factory.mktemp("examples") / "solved")


async def play(name: str, library: str, model: ScriptedModel | None = None, **options: Any) -> Played:
    case = cog.CASES[name]
    model = model or ScriptedModel(case.model)
    record = await kgqa.aask(
        case.question,
        kg=case.kg,
        topics=case.topics,
        method="cog",
        model=model,
        **{"blueprints": library, "allow_parametric": False, "planning": "first", **options},
    )
    return Played(record, model)


def takes_the_first(prompt: Prompt[Any]) -> dict[str, Any]:
    """Another weakness: take the first relation to movies that is listed, and movies for movies."""
    if isinstance(prompt, PruneRelations):
        movies = [n for n, offer in enumerate(prompt.offers, 1) if str(offer).endswith(".film->")]
        return {"relations": movies[:1] or [1]}
    return {"decision": "stop"} if isinstance(prompt, CheckSufficiency) else cog.falls_for_acting(prompt)


# The super-node with acting noise


@pytest.fixture(scope="module")
def foster() -> Graph:
    return Graph().parse(cog.CASES["foster"].kg)


@pytest.fixture(scope="module")
def movies(foster: Graph) -> set[str]:
    """What she directed and Isham wrote the music of, read from the file without kgqa."""
    directed = foster.objects(E.Jodie_Foster, R["film.director.film"])
    return {
        str(foster.value(film, RDFS.label))
        for film in directed
        if (film, R["film.film.music"], E.Mark_Isham) in foster
    }


async def test_the_words_of_the_plan_rank_acting_first(library: str) -> None:
    played = await play("foster", library, weight_step=0, weight_global=0, cross_mediators=False)
    assert played.entries("rerank")[0]["best"][0].startswith(ACTED)


async def test_the_blueprint_ranks_directing_first(library: str) -> None:
    first = (await play("foster", library)).entries("rerank")[0]
    assert first["slot"] == "film.director.film"
    assert [ranked.rsplit(maxsplit=1)[0] for ranked in first["best"][:2]] == [DIRECTED, FILMS]


async def test_the_safeguard_keeps_directing_when_the_model_falls_for_acting(library: str) -> None:
    played = await play("foster", library)
    prompt, reply = next(each for each in played.model.history if isinstance(each.prompt, PruneRelations))
    assert isinstance(prompt, PruneRelations)
    assert isinstance(reply, dict)
    chosen = [str(prompt.offers[number - 1]) for number in reply["relations"]]
    assert (chosen[0], DIRECTED in chosen) == (FILMS, False)
    assert played.entries("prune")[0]["chosen"] == [*chosen, DIRECTED]


async def test_with_a_blueprint_a_model_that_falls_for_acting_ends_right(
    library: str, movies: set[str]
) -> None:
    played = await play("foster", library)
    assert (played.record["outcome"], played.answers) == ("grounded", movies)
    assert (played.calls, len(played.diagnoses)) == (6, 1)


async def test_without_guidance_the_same_model_goes_astray_and_asks_more(library: str) -> None:
    played = await play("foster", library, guidance=False)
    assert (played.record["outcome"], played.calls) == ("none", 9)
    assert not any(DIRECTED in entry["chain"] for entry in played.entries("expand"))


async def test_without_guidance_the_same_model_needs_far_more_diagnoses(
    library: str, movies: set[str]
) -> None:
    played = await play("foster", library, guidance=False, refinements=20)
    assert (played.answers, played.calls, len(played.diagnoses)) == (movies, 17, 7)


@pytest.mark.parametrize(("guidance", "wrong"), [(True, set()), (False, {"Nell"})])
async def test_whoever_takes_the_first_relation_is_right_only_behind_a_blueprint(
    library: str, movies: set[str], guidance: bool, wrong: set[str]
) -> None:
    played = await play("foster", library, ScriptedModel(takes_the_first), guidance=guidance)
    assert played.answers == ({"Little Man Tate", *wrong} if wrong else movies)
    assert played.diagnoses == []


# The school that is no college


@pytest.fixture(scope="module")
def postgraduates() -> str:
    """The number, read from the file without kgqa; one school only has it."""
    [(_, number)] = Graph().parse(cog.CASES["hanks"].kg).subject_objects(R.number_of_postgraduates)
    return str(number)


async def test_a_dead_end_at_a_wrong_type_is_diagnosed_once(library: str) -> None:
    played = await play("hanks", library)
    [diagnosis] = played.diagnoses
    assert (diagnosis["signal"], diagnosis["step"], diagnosis["blueprint"]) == ("wrong_type", 1, "keep")
    assert diagnosis["recalled"] == [
        "Tom Hanks -education-> -institution-> (only California State University, Sacramento, Chabot College)"
    ]


async def test_three_calls_after_the_diagnosis_the_answer_is_there(library: str, postgraduates: str) -> None:
    played = await play("hanks", library)
    after = played.asked[played.asked.index("diagnose") + 1 :]
    assert after == ["check_sufficiency", "prune_relations", "check_sufficiency"]
    assert (played.record["outcome"], played.answers) == ("grounded", {postgraduates})


async def test_no_branch_is_tried_twice_and_nothing_is_asked_twice(library: str) -> None:
    played = await play("hanks", library)
    chains = [entry["chain"] for entry in played.entries("expand")]
    assert len(set(chains)) == len(chains)
    assert len(set(played.model.prompts)) == len(played.model.prompts) == played.calls


async def test_without_refinement_the_dead_end_is_the_end(library: str) -> None:
    played = await play("hanks", library, refinement=False)
    assert (played.record["outcome"], played.answers, played.diagnoses) == ("none", set(), [])


async def retry(graph: SparqlGraph, model: ScriptedModel, school: Chain) -> Chain:
    """Go on from a school and give what the search is to go on from next.

    Where nothing was found, that is the school again, as in PoG, whose recall adds entities
    to the frontier and does not ask whether they were there before.
    """
    question = cog.CASES["hanks"].question
    plan = Progress((question,), 0, ())
    offered = (await graph.extend_chain(school)).items
    chosen = (await model.ask(pruning(question, school, offered, 3, plan))).reply
    reached = school.then(offered[chosen.relations[0] - 1])
    ends = (await graph.follow_chain(reached)).items
    verdict = (await model.ask(CheckSufficiency(question, reached, ends, plan))).reply
    return school if verdict.decision == "backtrack" else reached


async def test_to_take_up_the_same_school_again_is_a_loop() -> None:
    graph, model = open_graph([cog.CASES["hanks"].kg]), ScriptedModel(cog.falls_for_schools)
    ways = tuple(Hop(str(relation)) for relation in (R.education, R.institution))
    school = Chain(Entity(str(E.Tom_Hanks), "Tom Hanks"), ways).constrained_to(
        [Entity(str(E.Skyline_High_School))]
    )
    for _ in range(13):  # the paper counts 26 calls
        assert await retry(graph, model, school) == school
    assert (len(model.prompts), len(set(model.prompts))) == (26, 2)
    offered = [offer.hops[0].words for offer in model.prompts[0].offers]
    assert (len(offered), "number_of_postgraduates" in offered) == (9, False)


async def test_the_same_agent_finds_the_number_from_the_university(postgraduates: str) -> None:
    graph, model = open_graph([cog.CASES["hanks"].kg]), ScriptedModel(cog.falls_for_schools)
    ways = tuple(Hop(str(relation)) for relation in (R.education, R.institution))
    university = Entity(str(E.California_State_University_Sacramento))
    school = Chain(Entity(str(E.Tom_Hanks), "Tom Hanks"), ways).constrained_to([university])
    found = await retry(graph, model, school)
    assert [str(c.term) for c in await graph.follow_chain(found)] == [postgraduates]


# The files


@pytest.mark.parametrize("name", ["jodie_foster", "tom_hanks"])
def test_names_are_english_labels_and_opaque_nodes_have_none(name: str) -> None:
    graph = Graph().parse(EXAMPLES / f"{name}.ttl")
    named = {node for node in graph.all_nodes() if isinstance(node, URIRef) and "/n/" not in node}
    assert named == set(graph.subjects(RDFS.label, None))
    labels = list(graph.objects(None, RDFS.label))
    assert all(isinstance(label, Literal) and label.language == "en" for label in labels)


def test_what_the_graph_of_the_super_node_says_of_itself_is_so(foster: Graph) -> None:
    text = (EXAMPLES / "jodie_foster.ttl").read_text(encoding="utf-8")
    roles = set(foster.objects(E.Jodie_Foster, R["film.actor.film"]))
    acted = {film for role in roles for film in foster.objects(role, R["film.performance.film"])}
    by_isham = set(foster.subjects(R["film.film.music"], E.Mark_Isham))
    assert f"{len(roles)} roles here" in text
    assert acted & by_isham == {E.Little_Man_Tate, E.Nell}


def solved() -> list[str]:
    lines = (EXAMPLES / "solved.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["question"] for line in lines]


def asked() -> list[str]:
    return [case.question for case in cog.CASES.values()]


@pytest.mark.parametrize("case", cog.CASES.values(), ids=list(cog.CASES))
def test_a_graph_is_headed_by_its_question(case: cog.Case) -> None:
    assert Path(case.kg).read_text(encoding="utf-8").startswith(f'# "{case.question}"')


def test_no_question_asked_or_solved_is_a_test_question() -> None:
    if not HASHES.is_file():
        pytest.skip("no list of test questions; set KGQA_DATA to the folder that holds it")
    with gzip.open(HASHES, "rt", encoding="ascii") as lines:
        hashes = frozenset(lines.read().split())
    assert [question for question in asked() + solved() if fingerprint(question) in hashes] == []


def test_no_question_that_is_asked_is_among_the_solved() -> None:
    assert not set(asked()) & set(solved())


# The README


@pytest.mark.parametrize("name", list(cog.CASES))
async def test_the_readme_counts_the_calls_right(library: str, name: str) -> None:
    rows = re.findall(rf"^\| `{name}((?: \w+=\w+)*)` \| (\d+) \| (.*) \|$", README, re.MULTILINE)
    assert len(rows) >= 2
    for options, calls, answers in rows:
        played = await play(name, library, **cog.read_options(options.split()))
        found = ", ".join(sorted(str(answer) for answer in played.answers)) or "none"
        assert (str(played.calls), found) == (calls, answers)


async def test_the_readme_shows_the_diagnosis_as_the_record_has_it(library: str) -> None:
    [shown] = re.findall(r"```json\n(.*?)```", README, re.DOTALL)
    [diagnosis] = (await play("hanks", library)).diagnoses
    assert json.loads(shown) == diagnosis


def test_the_commands_of_the_readme_build_the_blueprints_and_ask(
    library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    [block] = re.findall(r"```shell\n(.*?)```", README, re.DOTALL)
    build, ask = block.replace("\\\n", " ").replace("openai:gpt-4.1-mini", "offline").splitlines()
    (tmp_path / "examples").symlink_to(EXAMPLES)
    monkeypatch.chdir(tmp_path)
    ended = CliRunner().invoke(main.app, shlex.split(build)[1:])
    assert (ended.exit_code, ended.exception) == (0, None)
    records = built(Path("build/solved"), "records.jsonl").read_bytes()
    assert records == built(Path(library), "records.jsonl").read_bytes()
    asked = CliRunner().invoke(main.app, shlex.split(ask)[1:])
    assert "blueprint          forward   adapted" in asked.output
