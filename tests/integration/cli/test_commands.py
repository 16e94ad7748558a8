"""The command line: what it prints, how it ends, and that nobody sees a traceback."""

import gzip
import json
import resource
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pytest

import kgqa
from kgqa.cli import main as command
from kgqa.graphs import METHODS

READ = "Read as: the river of Ulm\n"

TOWN = """
e:ulm rdfs:label "Ulm"@en ; r:river e:danube ; r:inhabitants 126000 .
e:danube rdfs:label "Danube"@en ; r:mouth e:sea .
e:sea rdfs:label "Black Sea"@en .
"""


class Ended(NamedTuple):
    status: int
    out: str
    err: str


Kgqa = Callable[..., Ended]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Kgqa:
    """Run the command in this process, away from any .env file."""
    monkeypatch.chdir(tmp_path)

    def ended(*arguments: str) -> Ended:
        monkeypatch.setattr(sys, "argv", ["kgqa", *arguments])
        with pytest.raises(SystemExit) as end:
            command.main()
        out, err = capsys.readouterr()
        return Ended(int(end.value.code or 0), out, err)

    return ended


@pytest.fixture
def town(turtle: Callable[..., Path]) -> str:
    return str(turtle(TOWN))


def one_line(ended: Ended) -> str:
    """Return the one line that a failed command says."""
    assert ended.out == ""
    assert ended.err.startswith("kgqa: ")
    assert ended.err.count("\n") == 1
    return ended.err


def test_an_answer_comes_with_its_path(run: Kgqa, town: str) -> None:
    ended = run("ask", "Which river flows through Ulm?", "--kg", town)
    assert ended.status == 0
    assert ended.out.splitlines()[:3] == ["Read as: the river of Ulm", "Danube", "  Ulm -river-> Danube"]
    assert "proved by the graph · compose, offline" in ended.out


def test_labels_cannot_command_the_terminal(run: Kgqa, turtle: Callable[..., Path]) -> None:
    named = str(turtle(r'e:a rdfs:label "Ulm" ; r:river e:b . e:b rdfs:label "Dan\u001B[2J\u202Eube" .'))
    ended = run("ask", "Which river flows through Ulm?", "--kg", named, "--watch")
    assert "Dan [2J ube" in ended.out
    assert not {"\x1b", "\u202e"} & set(ended.out)


def test_json_is_one_record_and_nothing_else(run: Kgqa, town: str) -> None:
    ended = run(
        "ask", "Which river flows through Ulm?", "--kg", town, "--topic", "Ulm", "--format", "json", "--watch"
    )
    record = json.loads(ended.out)
    assert record.keys() == kgqa.Record.__annotations__.keys()
    assert record["answers"] == [{"id": "http://t/e/danube", "name": "Danube"}]
    assert "compute" in ended.err


@pytest.mark.parametrize(("arguments", "status"), [(["--topic", "Atlantis"], 2), (["--kg", "nowhere.nt"], 3)])
def test_json_gives_a_record_of_a_failure_too(
    run: Kgqa, town: str, arguments: list[str], status: int
) -> None:
    graph = [] if "--kg" in arguments else ["--kg", town]
    ended = run("ask", "Where?", "--format", "json", *graph, *arguments)
    assert json.loads(ended.out)["answers"] == []
    assert (ended.status, ended.err.count("\n")) == (status, 1)


def test_a_question_of_any_bytes_is_a_question(run: Kgqa, town: str) -> None:
    assert run("ask", "Which river\udcff flows through Ulm?", "--kg", town, "--format", "json").status in (
        0,
        1,
    )


def test_watch_shows_each_step(run: Kgqa, town: str) -> None:
    ended = run("ask", "Which river flows through Ulm?", "--kg", town, "--watch")
    shown = [line.split()[0] for line in ended.out.splitlines()[:6]]
    assert shown == ["link", "exemplars", "retrieve", "compose", "compute", "answer"]


def test_watch_shows_each_step_of_cog(run: Kgqa, town: str) -> None:
    ended = run("ask", "Which river flows through Ulm?", "--kg", town, "--method", "cog", "--watch")
    shown = [line.split()[0] for line in ended.out.splitlines()[:11]]
    assert shown == [
        *("link", "blueprint", "retrieve_relations", "rerank", "prune"),
        *("expand", "verify", "learn", "answer", "Read", "Danube"),
    ]
    assert "proved by the graph · cog, offline" in ended.out


def test_no_answer_has_a_status_of_its_own(run: Kgqa, town: str) -> None:
    ended = run("ask", "What is this?", "--kg", town)
    assert ended.status == 1
    told = "No answer found: the question names no entity of the graph; give a topic."
    assert ended.out.startswith(told)


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["--kg", "nowhere.nt"], 3, "no such file: nowhere.nt"),
        (["--kg", "folder"], 3, "folder"),
        (["--kg", "prose.nt"], 3, "prose.nt"),
        (["--kg", "prose.txt"], 3, "prose.txt"),
        (["--kg", "empty.nt"], 3, "holds no triples"),
        (["--kg", "cut.nt.gz"], 3, "cut.nt.gz"),
        (["--kg", "http://localhost:1/sparql"], 3, "localhost"),
        (["--topic", "Atlantis"], 2, "no entity of the graph is called 'Atlantis'"),
        (["--topic", "Ulmm"], 2, "no entity of the graph is called 'Ulmm'; the nearest: Ulm"),
        (["--topic", "http://t/e/atlantis"], 2, "http://t/e/atlantis"),
        (["--method", "guess"], 2, "no method is called 'guess'; there are: compose, "),
        (["--option", "breadth=3"], 2, "compose has no option 'breadth'; its options are: "),
        (["--option", "depth=99"], 2, "option depth: "),
        (["--option", "budget.calls=9"], 2, "budget.calls"),
        (
            ["--method", "vog", "--option", "encoder=no/such"],
            2,
            "option threshold: no threshold is known for encoder 'no/such': find one by kgqa calibrate, "
            "and give it with --option threshold=\n",
        ),
        (["--option", "depth"], 2, "key=value"),
        (["--option", "budget=5", "--option", "budget.tokens=3"], 2, "budget"),
        (["--option", "budget.tokens=3", "--option", "budget=5"], 2, "as one value and in parts"),
        (["--option", "budget.=5"], 2, "an option is written key=value"),
        (["--option", "budget.seconds=Infinity"], 2, "budget.seconds"),
        (["--kg", "x" * 300], 3, "xxx"),
        (["--model", "nobody:nothing"], 4, "nobody"),
        (["--model", "scripted"], 4, "scripted"),
        (["--model", "openai:gpt-4.1-mini"], 4, "OPENAI_API_KEY"),
    ],
)
def test_bad_input_is_one_clear_line(
    run: Kgqa, town: str, arguments: list[str], status: int, words: str
) -> None:
    Path("folder").mkdir()
    Path("prose.nt").write_text("This is not RDF.\n")
    Path("prose.txt").write_text("This is not RDF.\n")
    Path("empty.nt").write_text("")
    Path("cut.nt.gz").write_bytes(gzip.compress(b"<http://t/a> <http://t/r> <http://t/b> .\n" * 99)[:-20])
    given = arguments if "--kg" in arguments else ["--kg", town, *arguments]
    ended = run("ask", "Which river flows through Ulm?", *given)
    assert words in one_line(ended)
    assert ended.status == status


def test_unknown_instead_of_yes_or_no_is_no_answer(run: Kgqa, town: str) -> None:
    ended = run("ask", "Is Ulm older than the Danube?", "--kg", town, "--method", "vog")
    assert (ended.status, ended.err) == (1, "")
    assert ended.out.splitlines()[0] == "unknown"
    assert "no answer · vog" in ended.out


@pytest.mark.skipif(find_spec("sentence_transformers") is None, reason="needs the extra encoders")
@pytest.mark.parametrize("option", ["encoder=/nowhere", "nli=/nowhere"])
@pytest.mark.parametrize(
    "command", [["ask", "Where is Ulm?"], ["eval", "--dataset", "sample", "--out", "run"]]
)
def test_a_name_that_cannot_be_opened_is_wrong_usage(
    run: Kgqa, town: str, command: list[str], option: str
) -> None:
    named = ["--kg", town, "--method", "vog", "--option", "threshold=0.5", "--option", option]
    ended = run(*command, *named)
    assert "/nowhere: there is no such folder" in one_line(ended)
    assert ended.status == 2


@pytest.mark.parametrize("question", ["", "  \n"])
def test_an_empty_question_is_refused(run: Kgqa, town: str, question: str) -> None:
    ended = run("ask", question, "--kg", town)
    assert (ended.status, "the question is empty" in one_line(ended)) == (2, True)


def test_a_model_server_that_is_down(run: Kgqa, town: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-key")
    ended = run("ask", "Which river flows through Ulm?", "--kg", town, "--model", "openai:small")
    assert (ended.status, "127.0.0.1:9" in one_line(ended)) == (4, True)


def test_a_wrong_flag_is_usage(run: Kgqa) -> None:
    assert run("ask", "Where?", "--knowledge", "x").status == 2


def test_a_bug_is_one_line_too(run: Kgqa, town: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kgqa.cli.ask._run", lambda *_: 1 / 0)
    ended = run("ask", "Where?", "--kg", town)
    assert (ended.status, "internal error" in one_line(ended)) == (70, True)


def test_several_files_make_one_graph(run: Kgqa, turtle: Callable[..., Path]) -> None:
    one = turtle('e:ulm rdfs:label "Ulm"@en ; r:river e:danube .', "one.ttl")
    two = turtle('e:danube rdfs:label "Danube"@en .', "two.ttl")
    ended = run("ask", "Which river flows through Ulm?", "--kg", str(one), "--kg", str(two))
    assert ended.out.startswith(f"{READ}Danube\n")


def test_a_graph_on_disk_is_built_once_and_asked(run: Kgqa, town: str) -> None:
    assert run("kg", "load", town, "--out", "store").status == 0
    ended = run("ask", "Which river flows through Ulm?", "--kg", "store")
    assert ended.out.startswith(f"{READ}Danube\n")


def test_load_leaves_names_to_topics_and_answers_alone(run: Kgqa, town: str) -> None:
    topic, sea = [{"id": "http://t/e/ulm", "name": "Ulm"}], [{"id": None, "name": "Black Sea"}]
    asked = {"id": "1", "question": "Into which sea?", "topic_entities": topic, "answers": sea}
    Path("asked.jsonl").write_text(json.dumps(asked))
    assert run("kg", "load", town, "--out", "store", "--names-of", "asked.jsonl").status == 0
    assert json.loads(run("kg", "info", "store", "--json").out)["named"] == 2
    assert "no-such.jsonl" in one_line(run("kg", "load", town, "--out", "s", "--names-of", "no-such.jsonl"))


def test_load_does_not_overwrite_what_is_not_its_own(run: Kgqa, town: str) -> None:
    Path("mine").mkdir()
    Path("mine/file").write_text("precious")
    assert "mine" in one_line(run("kg", "load", town, "--out", "mine"))
    assert Path("mine/file").read_text() == "precious"


def test_info_counts(run: Kgqa, town: str) -> None:
    counted = json.loads(run("kg", "info", town, "--json").out)
    assert (counted["triples"], counted["relations"], counted["dialect"]) == (6, 3, "plain")
    assert "inhabitants" in run("kg", "info", town).out


def test_info_draws_classes(run: Kgqa, turtle: Callable[..., Path]) -> None:
    typed = turtle(f"{TOWN} e:ulm a r:Town . e:danube a r:River . r:Town rdfs:label 'town' .")
    out = run("kg", "info", str(typed)).out
    assert "\ntown · 1 member" in out and "-river->" in out
    listed = json.loads(run("kg", "info", str(typed), "--json").out)["classes"]
    assert {each["name"] for each in listed} >= {"town", "River"}


@pytest.mark.parametrize("command", [("kg", "suggest"), ("ask", "--kg")])
def test_what_is_suggested_is_answered_so(run: Kgqa, town: str, command: tuple[str, ...]) -> None:
    ended = run(*command, town)
    lines = ended.out.splitlines()
    suggested = dict(zip(lines[::2], lines[1::2], strict=True))
    assert ended.status == 0
    assert len(suggested) >= 3
    for question, answer in suggested.items():
        assert run("ask", question, "--kg", town).out.partition("\n")[2].startswith(f"{answer.strip()}\n")


def test_fewer_than_ten_suggestions_are_said_in_one_line(run: Kgqa, town: str) -> None:
    ended = run("kg", "suggest", town, "--json")
    found = len(ended.out.splitlines())
    assert 0 < found < 10
    assert ended.err.startswith(f"kgqa: {found} of 10 questions") and ended.err.count("\n") == 1
    assert "or once the graph gives no more" in ended.err


def test_nothing_is_suggested_of_a_graph_without_names(run: Kgqa, turtle: Callable[..., Path]) -> None:
    ended = run("kg", "suggest", str(turtle("[] r:is [] .")))
    assert (ended.status, one_line(ended).startswith("kgqa: 0 of 10 questions")) == (1, True)


def test_info_of_nothing(run: Kgqa) -> None:
    ended = run("kg", "info", "nowhere.ttl")
    assert (ended.status, one_line(ended)) == (3, "kgqa: no such file: nowhere.ttl\n")
    assert run("kg", "suggest", "nowhere.ttl").status == 3


def test_methods_lists_each_method_in_a_few_lines(run: Kgqa) -> None:
    out = run("methods").out
    first = [line.split()[0] for line in out.splitlines() if not line.startswith(" ")]
    assert first == [*METHODS, "The"]
    assert len(out.splitlines()) <= 3 * len(METHODS) + 1
    assert "kgqa methods METHOD" in out


def test_methods_lists_each_option_of_one(run: Kgqa) -> None:
    out = run("methods", "cor").out
    assert all(word in out for word in ("cor", "depth", "backtracking", "filtering", "budget"))


def test_methods_lists_those_that_are_named_with_the_words_an_option_can_be(run: Kgqa) -> None:
    out = " ".join(run("methods", "VoG").out.split())
    assert out.startswith("vog Verify-on-Graph")
    assert "one of: adaptive, local," in out
    assert "ablate_reward null " in out
    assert "filtering" not in out
    assert "no method is called 'guess'" in one_line(run("methods", "guess"))


def test_a_method_may_be_written_in_any_case(run: Kgqa, town: str) -> None:
    ended = run("ask", "Which river flows through Ulm?", "--kg", town, "--method", "VoG")
    assert ended.out.startswith(f"{READ}Danube\n")


def test_settings_are_read_from_env_files(run: Kgqa, town: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KGQA_KG", "placeholder")
    monkeypatch.delenv("KGQA_KG")
    Path(".env").write_text(f"KGQA_KG={town}\n")
    assert run("ask", "Which river flows through Ulm?").out.startswith(f"{READ}Danube\n")


@pytest.mark.parametrize(
    ("arguments", "most"), [(["--help"], 0.6), (["ask", "What is the capital of Mongolia?"], 3)]
)
def test_a_whole_process_is_quick(arguments: list[str], most: float, tmp_path: Path) -> None:
    """By seconds of the processor, as a multiple of what importing LangGraph takes, once in three times."""

    def seconds(*command: str) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-P", *command], check=True, cwd=tmp_path, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def ratio() -> float:
        imported = seconds("-c", "import langgraph.graph.state, langchain_core.language_models")
        return seconds("-m", "kgqa.cli.main", *arguments) / imported

    assert any(ratio() < most for _ in range(3))  # the first may build the sample graph


def test_a_process_that_asks_imports_and_tidies_up_no_more_than_it_needs(town: str) -> None:
    code = f"""
import atexit, gc, os, sys
from kgqa.cli import main as command
atexit.register(lambda: print(gc.get_freeze_count() > 0))
sys.argv = ["kgqa", "ask", "Which river flows through Ulm?", "--kg", {town!r}]
try:
    command.main()
except SystemExit as end:
    heavy = {{"SPARQLWrapper", "faiss", "jinja2", "langchain", "langchain_openai", "matplotlib", "openai"}}
    print(end.code, (heavy | {{"rdflib", "scipy", "sentence_transformers", "torch"}}) & sys.modules.keys())
    print(gc.get_threshold()[0] == command.GC_THRESHOLD, os.environ["OPENBLAS_NUM_THREADS"])
"""
    out = subprocess.run(
        [sys.executable, "-P", "-c", code], check=True, capture_output=True, text=True
    ).stdout
    assert out.startswith(f"{READ}Danube\n")
    assert out.splitlines()[-3:] == ["0 set()", "True 1", "True"]


def test_the_version_is_that_of_the_package(run: Kgqa) -> None:
    assert run("--version") == Ended(0, f"kgqa {kgqa.__version__}\n", "")
