"""The page in a real browser, at a real server: ask, watch, look into a step, go another way."""

import json
import shlex
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import combinations, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kgqa.runtime.record import Table, zero_spend
from kgqa.runtime.record_table import to_csv
from kgqa.runtime.record_text import (
    DECIDED_BY,
    DID_YOU_MEAN,
    MAX_ANSWERS_SHOWN,
    MAX_OTHER_ANSWERS,
    OUTAGES,
    OUTCOME_LABELS,
    READ_AS,
    say_reading,
)
from kgqa.tests.integration.serving.asking import FAMILY, MODEL, WAY, Reader, reading
from kgqa.tests.support import browser as browsers
from kgqa.tests.support.servers import langgraph
from kgqa.tests.support.servers.langgraph import Server, serving
from kgqa.tests.support.tables import HUTS, cell

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

WHY_NOT = browsers.missing() or langgraph.missing()

pytestmark = pytest.mark.skipif(bool(WHY_NOT), reason=str(WHY_NOT))

HOSTILE = f"</script><img src=x onerror=window.pwned=1>{'x' * 200}\u202e"
"""A label that would be an element, make the page wide, and turn round what is written after it."""

FAMILY_AND_HOSTILE = (
    f'{FAMILY}e:eve rdfs:label "Eve"@en ; r:lives_in e:odd .\ne:odd rdfs:label "{HOSTILE}"@en .\n'
)

SHOP = f"""\
@prefix : <http://t/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:saw a :Tool ; rdfs:label "Saw" ; :maker :acme ; :colour "red" .
:axe a :Tool ; rdfs:label "Axe" ; :maker :acme ; :colour "blue" .
:pen a :Tool ; rdfs:label "Pen" ; :maker :best ; :colour "blue" .
:acme a :Firm ; rdfs:label "Acme" ; :city :ulm . :best a :Firm ; rdfs:label "Best" ; :city :ulm .
:ulm a :Odd ; rdfs:label "Ulm" ; :note "{HOSTILE}" . :Odd rdfs:label "{HOSTILE}" .
"""
"""A graph of classes, one of which has a hostile name."""

PREFIXES = "\n".join(FAMILY.splitlines()[:3])

CHILDREN = 50

FRAMES_A_SECOND = 30
SHARE_OF_FRAMES = 0.6  # of those of a small proof, where a slow machine draws fewer

TIME_THE_ANSWER = """() => {
  const asked = performance.now();
  const since = (done) => done(performance.now() - asked);
  const paint = (done) => () => requestAnimationFrame(() => setTimeout(since, 0, done));
  const watch = (done) => new MutationObserver(paint(done)).observe(answers, { childList: true });
  const answers = document.getElementById("answers");
  window.painted = new Promise(watch);
}"""

BOXES = """() => {
  const nodes = document.getElementById("machine")._cyreg.cy.nodes();
  return Object.fromEntries(nodes.map((node) => [node.id(), node.boundingBox()]));
}"""
"""Where the nodes of the state machine and the labels of its edges are drawn, by what they are called."""

READ_BACKWARDS = """(id) => {
  const text = document.getElementById(id).lastChild;
  const left = (at) => {
    const range = document.createRange();
    range.setStart(text, at);
    range.setEnd(text, at + 1);
    return range.getBoundingClientRect().left;
  };
  return left(text.length - 1) < left(text.length - 2);
}"""
"""Whether the last two characters of an element, which are the page's own, are drawn the wrong way round."""

CROSSED = """() => {
  const cy = document.getElementById("machine")._cyreg.cy;
  const box = (node) => node.boundingBox({ includeLabels: false });
  const names = cy.nodes().filter((node) => !node.hasClass("label")).map((node) => [node.id(), box(node)]);
  const crossed = (edge) => {
    const [from, to] = [edge.source(), edge.target()];
    const way = [from.position(), ...(edge.segmentPoints() ?? []), to.position()];
    const points = way.slice(1).flatMap((end, at) => Array.from({ length: 50 }, (_, part) => ({
      x: way[at].x + ((end.x - way[at].x) * part) / 50,
      y: way[at].y + ((end.y - way[at].y) * part) / 50,
    })));
    const inside = ([id, box]) => id !== from.id() && id !== to.id()
      && points.some(({ x, y }) => x > box.x1 && x < box.x2 && y > box.y1 && y < box.y2);
    return names.filter(inside).map(([id]) => `${from.id()} → ${to.id()} through ${id}`);
  };
  return cy.edges(".rare").toArray().flatMap(crossed);
}"""
"""Which nodes of the state machine an edge to the end is drawn through."""

IN_VIEW = """(id) => {
  const { top, bottom } = document.getElementById(id).getBoundingClientRect();
  return top >= 0 && Math.min(bottom, top + 60) <= innerHeight;
}"""
"""Whether the beginning of an element can be seen."""

SHOW = "async (record) => (await import('/page/answer.js')).showRecord(record)"
"""Show a record as the page does when a run has ended."""

DRAWN = "() => JSON.parse(sessionStorage.getItem('kgqa-draft') ?? '{}').method"
"""The method that is drawn."""

KEY = "a-key-of-alice-0123"


def many_facts() -> str:
    """Return a graph in which 50 chains of four hops lead from Ada to as many answers: 201 nodes."""
    facts = ['e:ada rdfs:label "Ada"@en .']
    hops = zip(("child", "town", "land", "money"), ("lives_in", "country", "currency", ""), strict=True)
    kinds = list(hops)
    for at in range(CHILDREN):
        facts.append(f"e:ada r:child e:child{at} .")
        for (kind, relation), (after, _) in zip(kinds, [*kinds[1:], ("", "")], strict=True):
            leads = f" ; r:{relation} e:{after}{at}" if relation else ""
            facts.append(f'e:{kind}{at} rdfs:label "{kind} {at}"@en{leads} .')
    return "\n".join([PREFIXES, *facts])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made: Path = tmp_path_factory.mktemp("page")
    (made / "family.ttl").write_text(FAMILY_AND_HOSTILE)
    (made / "many.ttl").write_text(many_facts())
    (made / "shop.ttl").write_text(SHOP)
    return made


@pytest.fixture(scope="module")
def reader() -> Iterator[Reader]:
    with reading() as started:
        yield started


@pytest.fixture(scope="module")
def server(folder: Path, reader: Reader) -> Iterator[Server]:
    model = {"OPENAI_API_KEY": "stub", "OPENAI_BASE_URL": reader.url}
    with serving(folder, KGQA_KG=str(folder / "family.ttl"), **model) as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    with browsers.browsing() as started:
        yield started


@pytest.fixture
def said(request: pytest.FixtureRequest) -> list[str]:
    """What the console and the network say of trouble."""
    return []


@pytest.fixture
def page(server: Server, browser: "Browser", said: list[str]) -> Iterator["Page"]:
    """The page, newly opened; it asks nobody else, and nothing goes wrong in it without a word."""
    with opened(browser, server.url, said) as tab:
        tab.wait_for_selector("#method option", state="attached")
        assert not tab.is_visible("#give-key")
        yield tab
    assert said == []


@pytest.fixture(scope="module")
def shown(server: Server, browser: "Browser") -> Iterator["Page"]:
    """A page that is opened once, for records that are shown without asking anybody."""
    said: list[str] = []
    with opened(browser, server.url, said) as tab:
        tab.wait_for_selector("#method option", state="attached")
        yield tab
    assert said == []


class opened:
    """A tab of its own context at an address; what it complains of is collected."""

    def __init__(self, browser: "Browser", url: str, said: list[str]) -> None:
        self.context = browser.new_context(viewport={"width": 1300, "height": 1000})
        self.url, self.said = url, said

    def __enter__(self) -> "Page":
        self.context.set_default_timeout(12_000)
        tab = self.context.new_page()
        tab.on("console", lambda message: self.said.append(message.text) if message.type != "log" else None)
        tab.on("pageerror", lambda error: self.said.append(str(error)))
        tab.on("request", lambda request: self._own(request.url))
        tab.goto(self.url)
        return tab

    def _own(self, url: str) -> None:
        if not url.startswith((self.url, "data:")):
            self.said.append(f"asked elsewhere: {url}")

    def __exit__(self, *raised: object) -> None:
        self.context.close()


def ask(page: "Page", question: str, method: str = "cor", **fields: str) -> None:
    """Type a question, and send it with Enter."""
    if page.locator("#method option:checked").inner_text() != method:
        page.select_option("#method", label=method)
    for name, value in fields.items():
        page.fill(f"#{name}", value)
    page.fill("#question", question)
    page.press("#question", "Enter")


def answers(page: "Page") -> list[str]:
    """Wait for the end of a run, and return its answers."""
    page.wait_for_selector("body:not(.busy) #result:not([hidden])")
    return list(page.locator("#answers li").all_inner_texts())


def lit(page: "Page", kind: str) -> list[str]:
    """Return the nodes of the drawing that are shown so."""
    names: list[str] = page.evaluate(
        "(kind) => document.getElementById('machine')._cyreg.cy.nodes('.' + kind).map((node) => node.id())",
        kind,
    )
    return names


def open_step(page: "Page", node: str, place: int = 0) -> Any:
    step = page.locator(f"#steps > li[data-node={node}] > details").nth(place)
    step.locator("summary").first.focus()
    page.keyboard.press("Enter")
    return step


def edit_step(page: "Page", node: str, place: int = 0, *, decision: str, **values: Any) -> None:
    """Edit what a step has left, and run on from there."""
    step = open_step(page, node, place)
    step.get_by_role("button", name="Edit and run on from here").press("Enter")
    step.get_by_label("What is next").select_option(decision)
    edit = step.locator("textarea")
    edit.fill(json.dumps({**json.loads(edit.input_value()), **values}))
    step.get_by_role("button", name="Run on from here").click()


def test_a_question_is_answered_with_its_proof(page: "Page") -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    ask(page, "Where does Ada live?")
    assert answers(page) == ["Ulm"]
    assert page.inner_text("#sentence") == "Ada lives in Ulm."
    assert not any(map(page.is_visible, ("#reading", "#answers")))
    assert page.inner_text("#status") == "Answered: Ulm (proved by the graph)."
    assert page.inner_text("#paths") == "Ada —lives_in→ Ulm"
    assert page.inner_text("#proof-count") == "1 fact, 2 nodes"
    assert page.locator("#proof-table tbody tr").all_text_contents() == ["Adalives_inUlm"]
    assert "model call" not in page.inner_text("#cost")
    page.click("#copy")
    page.wait_for_selector("#copy:has-text('Copied')")
    copied = page.evaluate("() => navigator.clipboard.readText()")
    assert copied == page.inner_text("#query") and "SELECT DISTINCT ?answer" in copied


def test_another_reading_is_taken_by_a_click_and_taken_back(page: "Page") -> None:
    ask(page, "Where do the children of Ada live?", method="compose")
    parts = ("#query", "#outcome", "#paths", "#proof-count")
    first, before = answers(page), [page.inner_text(part) for part in parts]
    other = page.locator("#alternatives li").nth(1)  # which has no sentence
    reading, named = other.locator("button").inner_text(), other.inner_text()
    other.locator("button").press("Enter")
    page.wait_for_selector(f"#reading:has-text('{reading}')")
    assert not page.is_visible("#sentence")
    assert (answers(page) != first, page.inner_text("#query") != before[0]) == (True, True)
    assert all(name in named for name in answers(page))
    assert page.evaluate("() => document.activeElement.id") == "result-title"
    assert page.inner_text("#status").endswith("(proved by the graph).")
    assert "facts behind them were not fetched" in page.inner_text("#no-proof")
    page.locator("#alternatives button").first.click()
    assert (answers(page), [page.inner_text(part) for part in parts]) == (first, before)


@pytest.mark.parametrize("other", [{"sentence": "Ada lives in Ulm."}, {"sentence": None}, {}])
def test_a_reading_that_is_taken_has_its_sentence(page: "Page", other: dict[str, Any]) -> None:
    ulm = {"id": "http://t/ulm", "name": "Ulm"}
    other = {"reading": "a", "topics": [], "answers": [ulm], "truncated": False, "query": "ASK {}", **other}
    asked = {"sentence": "Ada works in Ulm.", "topics": [], "conditions": [], "answers": [ulm], "query": ""}
    take = "async (r) => (await import('/page/alternatives.js')).takeAlternative([r], 2).sentence"
    assert page.evaluate(take, {**asked, "alternatives": [other]}) == other.get("sentence")


def test_a_reading_that_was_taken_is_kept_by_the_command_that_is_copied(page: "Page", tmp_path: Path) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    ask(page, "Where do the children of Ada live?", method="compose")
    answers(page)
    assert not page.is_visible("#keep")
    page.locator("#alternatives button").first.click()
    page.click("#keep")
    page.wait_for_selector("#keep:has-text('Copied')")
    words = shlex.split(page.evaluate("() => navigator.clipboard.readText()"))
    kgqa = Path(sys.executable).with_name(words[0])
    added = subprocess.run([kgqa, *words[1:]], cwd=tmp_path, text=True, capture_output=True, check=False)
    assert (added.stderr, added.returncode) == ("", 0)
    assert added.stdout.startswith("1 exemplars")


def test_what_nobody_has_checked_stays_unchecked_in_another_reading(page: "Page") -> None:
    ask(page, "Which child of Ada lived in Ulm before 1990?", method="compose")
    answers(page)
    reading = page.inner_text("#reading")
    page.locator("#alternatives button").first.click()
    assert page.inner_text("#reading") != reading
    assert page.inner_text("#outcome") == OUTCOME_LABELS["grounded_unverified"]
    assert page.locator("#conditions tbody tr").all_text_contents() == ["1990not taken into account"]


def test_a_conversation_goes_on_from_the_reading_that_is_clicked(page: "Page") -> None:
    ask(page, "Where do the children of Ada live?", method="chat", kg="", model="")
    first, outcome = answers(page), page.inner_text("#outcome")
    page.wait_for_selector("#question:placeholder-shown")
    page.fill("#question", "And Ben?")  # what is typed stays
    other = page.locator("#alternatives button").nth(1)
    reading = other.inner_text()
    other.click()
    page.wait_for_selector("#turns li:nth-child(4)")
    assert answers(page) != first
    assert page.inner_text("#reading") == f"Read as: {reading}"
    assert page.locator("#turns li").nth(2).inner_text() == "3"
    assert page.input_value("#question") == "And Ben?"
    page.locator("#alternatives button").first.click()
    page.wait_for_selector("#turns li:nth-child(6)")
    assert (answers(page), page.inner_text("#outcome")) == (first, outcome)


def test_an_answer_is_painted_within_a_second(page: "Page") -> None:
    seconds = []
    for _ in range(3):
        page.evaluate(TIME_THE_ANSWER)
        ask(page, "Where does Ada live?", method="compose")
        seconds.append(page.evaluate("() => window.painted") / 1000)
        assert answers(page) == ["Ulm"]
    assert min(seconds) <= 1


def test_every_step_is_listed_and_lit(page: "Page") -> None:
    ask(page, "Where does Ada live?")
    answers(page)
    named = page.locator("#steps > li").evaluate_all("(items) => items.map((item) => item.dataset.node)")
    assert [named[0], named[-1]] == ["link", "answer"]
    idle = page.locator("#steps > li.passed").evaluate_all(
        "(items) => items.map((item) => item.dataset.node)"
    )
    assert sorted(lit(page, "done")) == sorted(set(named) - set(idle))
    assert sorted(lit(page, "passed")) == sorted(idle) != []


def test_a_run_is_watched_while_it_goes_on(page: "Page", reader: Reader) -> None:
    reader.hold(2)
    ask(page, "Where do the children of Ada live?", model=MODEL, topics="Ada")
    assert reader.waiting.wait(60)
    page.wait_for_selector("#steps > li[data-node=expand]")
    assert lit(page, "now") == ["verify"]
    assert "verify …" in page.inner_text("#status")
    assert page.is_disabled("#ask-button") and page.is_visible("#stop")
    reader.release()
    assert answers(page) == ["Bonn", "Ulm"]
    assert lit(page, "now") == []


def test_a_run_may_be_stopped(page: "Page", reader: Reader) -> None:
    reader.hold(1)
    ask(page, "Where do the children of Ada live?", model=MODEL, topics="Ada")
    assert reader.waiting.wait(60)
    page.wait_for_selector("#steps > li[data-node=link]")
    page.click("#stop")
    page.wait_for_selector("#status:has-text('Stopped.')")
    page.wait_for_selector("body:not(.busy)")
    reader.release()
    assert lit(page, "now") == []
    assert page.inner_text("#status") == "Stopped."
    ask(page, "Where does Ada live?", model="offline")
    assert answers(page) == ["Ulm"]


def test_a_run_may_be_stopped_before_the_server_has_named_it(page: "Page", reader: Reader) -> None:
    held: list[Any] = []
    reader.hold(1)  # one that had ended could not be stopped
    page.route("**/runs/stream", lambda route: held.append(route))
    ask(page, "Where do the children of Ada live?", model=MODEL, topics="Ada")
    page.wait_for_selector("#stop")
    while not held:
        page.wait_for_timeout(20)
    page.click("#stop")
    with page.expect_response("**/cancel?wait=true"):
        held[0].continue_()
    page.wait_for_selector("body:not(.busy) #status:has-text('Stopped.')")
    reader.release()


@pytest.mark.parametrize("leave", ["reload", "new question"])
def test_a_run_that_was_left_is_followed_on(page: "Page", reader: Reader, leave: str) -> None:
    reader.hold(2)
    question = "Where do the children of Ada live?"
    ask(page, question, model=MODEL, topics="Ada")
    assert reader.waiting.wait(60)
    page.wait_for_selector("#steps > li[data-node=expand]")
    if leave == "reload":
        page.reload()
    else:
        page.click("#new")
        page.wait_for_selector("body:not(.busy)")
        assert lit(page, "now") == []
        page.locator("#threads button", has_text=question).first.click()
    page.wait_for_selector("#status:has-text('verify …')")
    assert lit(page, "now") == ["verify"]
    assert page.is_visible("#stop")
    assert page.locator("#steps > li[data-node=expand]").count() == 1
    reader.release()
    assert answers(page) == ["Bonn", "Ulm"]
    assert lit(page, "now") == []
    steps = page.locator("#steps > li b").all_inner_texts()
    page.reload()
    assert answers(page) == ["Bonn", "Ulm"]
    assert page.locator("#steps > li b").all_inner_texts() == steps


def test_a_step_shows_its_prompt_its_reply_and_its_state(page: "Page") -> None:
    ask(page, "Where do the children of Ada live?", model=MODEL, topics="Ada")
    answers(page)
    step = open_step(page, "prune")
    asked, replied, changed = (step.locator("pre").nth(at).text_content() for at in (1, 2, 3))
    assert 'Question: "Where do the children of Ada live?"' in asked
    assert json.loads(replied)["relations"]
    assert json.loads(changed)["chain"]["hops"][-1]["relation"] == "http://t/r/child"


def test_a_step_is_edited_and_the_run_goes_another_way(page: "Page") -> None:
    ask(page, "Where does Ada live?")
    assert answers(page) == ["Ulm"]
    edit_step(page, "verify", decision="backtrack", memory=[])
    page.wait_for_selector("#branches button:has-text('Fork 1 after verify')")
    assert answers(page) == ["Bonn", "Ulm"]
    assert page.locator("#steps > li", has_text="changed by you: decision, memory").count() == 1
    page.click("#branches button:has-text('First run')")
    assert answers(page) == ["Ulm"]


def test_an_edit_is_edited_again(page: "Page") -> None:
    ask(page, "Where does Ada live?")
    assert answers(page) == ["Ulm"]
    edit_step(page, "verify", decision="backtrack", memory=[])
    page.wait_for_selector("#branches button:has-text('Fork 1 after verify')")
    assert answers(page) == ["Bonn", "Ulm"]
    edit = page.locator("#steps > li[data-node=verify]", has_text="edited")
    assert edit.count() == 1
    edit_step(page, "verify", 1, decision="stop")
    page.wait_for_selector("#branches button:has-text('Fork 2 after verify')")
    page.wait_for_selector("body:not(.busy)")
    assert page.inner_text("#problem") == ""
    assert edit.count() == 2
    assert page.locator("#steps > li").last.get_attribute("data-node") == "answer"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"decision": ', "This is no JSON"),
        ("[1]", "Write an object"),
        ('{"mood": "good"}', 'The state has no part "mood" to edit.'),
    ],
)
def test_an_edit_that_does_not_fit_is_told_at_once(page: "Page", text: str, problem: str) -> None:
    ask(page, "Where does Ada live?")
    answers(page)
    step = open_step(page, "prune")
    step.get_by_role("button", name="Edit and run on from here").click()
    step.locator("textarea").fill(text)
    assert problem in step.locator(".problem").inner_text()
    assert step.get_by_role("button", name="Run on from here").is_disabled()


def test_an_edit_is_given_up(page: "Page") -> None:
    ask(page, "Where does Ada live?")
    answers(page)
    step = open_step(page, "prune")
    for leave in (
        lambda: step.get_by_role("button", name="Cancel").click(),
        lambda: page.keyboard.press("Escape"),
    ):
        step.get_by_role("button", name="Edit and run on from here").press("Enter")
        step.locator("textarea").wait_for()
        page.wait_for_function("() => document.activeElement.localName === 'textarea'")
        leave()
        assert step.locator("textarea").count() == 0
        assert page.evaluate("() => document.activeElement.textContent") == "Edit and run on from here"


def test_all_is_done_by_keyboard(page: "Page") -> None:
    def go_to(selector: str) -> None:
        for _ in range(80):
            page.keyboard.press("Tab")
            if page.evaluate("(selector) => document.activeElement.matches(selector)", selector):
                return
        raise AssertionError(f"no way to {selector}")

    go_to("#question")
    page.keyboard.type("Where does Ada live?")
    go_to("#method")
    page.keyboard.type("cor")
    while page.evaluate(DRAWN) != "cor":
        page.wait_for_timeout(20)
    go_to("#ask-button")
    page.keyboard.press("Enter")
    assert answers(page) == ["Ulm"]
    go_to("#steps > li[data-node=prune] summary")
    page.keyboard.press("Enter")
    go_to(".detail > button")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.activeElement.localName === 'textarea'")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Shift+Tab")
    page.keyboard.type("b")
    go_to(".editor .main")
    page.keyboard.press("Enter")
    page.wait_for_selector("body:not(.busy) #branches button:has-text('Fork 1 after prune')")
    assert page.evaluate("() => document.activeElement.id") == "steps-title"
    assert page.locator("#steps > li", has_text="changed by you: decision").count() == 1


@pytest.mark.parametrize("width", [390, 1300])
def test_what_comes_of_a_run_is_brought_into_view(page: "Page", width: int) -> None:
    page.set_viewport_size({"width": width, "height": 700})
    ask(page, "Where do the children of Ada live?")
    answers(page)
    assert page.evaluate(IN_VIEW, "result")
    edit_step(page, "verify", decision="stop")
    page.wait_for_selector("body:not(.busy) #branches button:has-text('Fork 1 after verify')")
    page.wait_for_function(f"() => ({IN_VIEW})('branches')")
    edit_step(page, "prune", decision="stop", chain=7)
    page.wait_for_selector("#problem:has-text('what is asked does not fit: chain')")
    assert page.evaluate(IN_VIEW, "problem")
    assert page.evaluate("() => document.documentElement.scrollWidth") == width


def test_an_edit_that_the_method_cannot_read_is_told_by_the_run(page: "Page") -> None:
    ask(page, "Where does Ada live?")
    answers(page)
    step = open_step(page, "prune")
    step.get_by_role("button", name="Edit and run on from here").click()
    step.locator("textarea").fill('{"chain": 7}')
    step.get_by_role("button", name="Run on from here").click()
    page.wait_for_selector("#problem:has-text('what is asked does not fit: chain')")


def test_past_questions_are_opened_again(page: "Page") -> None:
    ask(page, "Where does Cleo live?")
    assert answers(page) == ["Ulm"]
    page.click("#new")
    page.wait_for_selector("#result", state="hidden")
    page.click("#threads button:has-text('Where does Cleo live?')")
    assert answers(page) == ["Ulm"]
    page.reload()
    assert answers(page) == ["Ulm"]
    assert page.input_value("#question") == "Where does Cleo live?"
    open_step(page, "prune").locator("pre").nth(3).wait_for(state="attached")


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"kg": "/nowhere/graph.ttl"}, f"{OUTAGES['kg_unavailable']}: "),
        ({"model": "nobody:nothing"}, f"{OUTAGES['model_unavailable']}: "),
        ({"option-depth": "99"}, "option depth: Input should be less than or equal to 10, not 99"),
        ({"option-depth": "deep"}, "Option depth: write integer, such as 4"),
    ],
)
def test_what_goes_wrong_is_told_in_one_line(page: "Page", fields: dict[str, str], problem: str) -> None:
    page.click("#options-count")
    ask(page, "Where does Ada live?", **fields)
    page.wait_for_selector(f"body:not(.busy) #problem:has-text('{problem}')")
    assert "\n" not in page.inner_text("#problem")
    assert page.input_value("#question") == "Where does Ada live?"
    assert all(page.input_value(f"#{name}") == value for name, value in fields.items())


@pytest.mark.parametrize(
    ("length", "problem"),
    [
        (5_000, "the question is longer than 4000 characters"),
        (2_100_000, "the request is larger than 2000000 bytes"),
    ],
)
def test_what_the_server_refuses_is_told(page: "Page", said: list[str], length: int, problem: str) -> None:
    ask(page, "a" * length)
    page.wait_for_selector(f"#problem:has-text('{problem}')", timeout=60_000)
    assert len(page.input_value("#question")) == length
    said[:] = [line for line in said if "Failed to load resource" not in line]  # the console's word for it


def test_a_server_that_is_gone_is_told_and_nothing_is_lost(page: "Page", said: list[str]) -> None:
    page.context.set_offline(True)
    ask(page, "Where does Ada live?", kg="", topics="Ada")
    page.wait_for_selector("#problem:has-text('The server does not answer.')")
    assert (page.input_value("#question"), page.input_value("#topics")) == ("Where does Ada live?", "Ada")
    page.context.set_offline(False)
    page.click("#ask-button")
    assert answers(page) == ["Ulm"]
    said[:] = [line for line in said if "ERR_INTERNET_DISCONNECTED" not in line]


def test_a_hostile_label_stays_text(page: "Page") -> None:
    ask(page, "Where does Eve live?")
    assert answers(page) == [HOSTILE]
    open_step(page, "answer")
    assert page.locator("img").count() == 0
    assert page.evaluate("() => window.pwned") is None
    assert HOSTILE in page.inner_text("#status")
    assert not page.evaluate(READ_BACKWARDS, "status")
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("() => document.documentElement.scrollWidth") == 390


def open_graph_view(page: "Page", kg: Path) -> None:
    """Name a graph, and open what is in it, by keyboard."""
    page.fill("#kg", str(kg))
    page.locator("#graph-part > summary").focus()
    page.keyboard.press("Enter")


def test_nothing_is_asked_of_a_graph_until_its_view_is_opened(page: "Page", folder: Path) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.partition("?")[0].rpartition("/")[2]))
    page.reload()
    page.wait_for_selector("#method option", state="attached")
    assert not {"profile", "questions"} & {*asked}
    open_graph_view(page, folder / "shop.ttl")
    page.wait_for_selector("#classes button")
    assert {"profile", "questions"} <= {*asked}


def test_classes_of_a_graph_are_drawn_and_joined(page: "Page", folder: Path) -> None:
    open_graph_view(page, folder / "shop.ttl")
    page.wait_for_selector("#classes button")
    assert page.inner_text("#graph-note").startswith("22 facts, ")
    drawn = page.evaluate(
        "() => document.getElementById('classes-drawn')._cyreg.cy.edges().map((edge) =>"
        " [edge.source().data('label'), edge.data('label'), edge.target().data('label')].join(' '))"
    )
    assert "Tool maker Firm" in drawn


def test_a_class_that_is_clicked_shows_its_card(page: "Page", folder: Path) -> None:
    open_graph_view(page, folder / "shop.ttl")
    page.wait_for_selector("#classes button")
    box = page.locator("#classes-drawn").bounding_box()
    assert box
    place = (
        "() => document.getElementById('classes-drawn')._cyreg.cy.$id('nhttp://t/Tool').renderedPosition()"
    )
    at = page.evaluate(place)
    page.mouse.click(box["x"] + at["x"], box["y"] + at["y"])
    assert page.inner_text("#class-name") == "Tool"
    rows = page.locator("#class-table tbody tr").all_inner_texts()
    assert "maker\t100 %\tFirm" in rows and "colour\t100 %\ttext: blue, red" in rows


def test_a_card_is_opened_by_keyboard(page: "Page", folder: Path) -> None:
    open_graph_view(page, folder / "shop.ttl")
    page.wait_for_selector("#classes button")
    page.get_by_role("button", name="Firm 2").press("Enter")
    assert page.inner_text("#class-name") == "Firm"
    assert page.locator("#classes [aria-pressed=true]").inner_text().split() == ["Firm", "2"]


def test_a_suggested_question_fills_the_box_and_is_answered_as_promised(page: "Page", folder: Path) -> None:
    open_graph_view(page, folder / "shop.ttl")
    first = page.locator("#questions li").first
    promised = first.locator("small").inner_text()
    first.locator("button").press("Enter")
    assert page.input_value("#question") == first.locator("button").inner_text()
    assert page.evaluate("() => document.activeElement.id") == "question"
    page.press("#question", "Enter")
    assert ", ".join(answers(page)) == promised


def test_hostile_names_of_classes_stay_text(page: "Page", folder: Path) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    open_graph_view(page, folder / "shop.ttl")
    page.locator("#classes button", has_text="script").press("Enter")
    assert page.inner_text("#class-name").startswith("</script><img")
    assert page.locator("img").count() == 0
    assert page.evaluate("() => window.pwned") is None
    assert page.evaluate("() => document.documentElement.scrollWidth") == 390


def test_a_graph_that_cannot_be_opened_is_told_and_another_is_shown(
    page: "Page", folder: Path, said: list[str]
) -> None:
    open_graph_view(page, folder / "nowhere.ttl")
    page.wait_for_selector("#problem:has-text('no such file')")
    page.fill("#kg", str(folder / "shop.ttl"))
    page.locator("#kg").blur()
    page.wait_for_selector("#classes button")
    said[:] = [line for line in said if "503" not in line]


def test_options_are_sent_where_they_are_set(page: "Page", server: Server) -> None:
    page.click("#options-count")
    page.select_option("#method", label="cor")
    page.fill("#option-depth", "2")
    page.select_option("[name='filtering']", label="false")
    page.fill("[name='budget.llm_calls']", "7")
    assert page.inner_text("#options-count") == "Options (3 set)"
    with page.expect_request("**/runs/stream") as asked:
        ask(page, "Where does Ada live?")
    assert asked.value.post_data_json["context"] == {
        "depth": 2,
        "filtering": False,
        "budget": {"llm_calls": 7},
    }
    answers(page)


def test_several_files_stand_apart_by_commas(page: "Page", folder: Path) -> None:
    files = [str(folder / "family.ttl"), str(folder / "many.ttl")]
    with page.expect_request("**/runs/stream") as asked:
        ask(page, "Where does Ada live?", kg=", ".join(files))
    assert asked.value.post_data_json["context"] == {"kg": files}
    answers(page)
    page.reload()
    answers(page)
    assert page.input_value("#kg") == ", ".join(files)


def test_topics_go_with_their_question(page: "Page") -> None:
    ask(page, "Where does Ada live?", topics="Ada")
    assert answers(page) == ["Ulm"]
    page.click("#new")
    assert (page.input_value("#question"), page.input_value("#topics")) == ("", "")
    ask(page, "Where does Ben live?")
    page.wait_for_selector("#paths:has-text('Ben —lives_in→ Bonn')")


def test_a_past_question_brings_back_all_that_it_was_asked_with(
    page: "Page", folder: Path, server: Server
) -> None:
    page.click("#options-count")
    page.select_option("#method", label="cor")
    page.fill("#option-depth", "2")
    page.select_option("[name='filtering']", label="false")
    page.fill("[name='budget.llm_calls']", "7")
    kg = str(folder / "family.ttl")
    ask(page, "Where does Ben live?", topics="Ben", kg=kg, model="offline")
    assert answers(page) == ["Bonn"]
    thread = page.url.partition("thread=")[2]
    page.evaluate("() => sessionStorage.clear()")
    page.goto("about:blank")
    page.goto(f"{server.url}#thread={thread}")
    answers(page)
    assert page.locator("#method option:checked").inner_text() == "cor"
    names = ("question", "topics", "kg", "model", "option-depth")
    assert [page.input_value(f"#{name}") for name in names] == [
        "Where does Ben live?",
        "Ben",
        kg,
        "offline",
        "2",
    ]
    with page.expect_request("**/runs/stream") as asked:
        page.press("#question", "Enter")
    again = asked.value.post_data_json
    assert again["context"] == {
        "depth": 2,
        "filtering": False,
        "budget": {"llm_calls": 7},
        "kg": [kg],
        "model": "offline",
    }
    assert again["input"] == {"question": "Where does Ben live?", "topics": ["Ben"]}
    answers(page)


def test_a_conversation_goes_on(page: "Page") -> None:
    ask(page, "Where does Ada live?", method="chat", kg="", model="")
    assert answers(page) == ["Ulm"]
    assert not page.is_visible("#topics") and page.inner_text("#asked-as") == ""
    page.wait_for_selector("#question:placeholder-shown")
    page.fill("#question", "And Ben?")
    page.press("#question", "Enter")
    page.wait_for_selector("#asked-as:has-text('Asked as: Where does Ben live?')")
    assert answers(page) == ["Bonn"]
    assert page.locator("#turns li").all_inner_texts() == [
        "Where does Ada live?",
        "Ada lives in Ulm.",
        "And Ben?",
        "Ben lives in Bonn.",
    ]
    assert page.locator("#steps > li b").all_inner_texts() == ["rewrite", "answer_question", "reply"]
    assert page.locator("#steps > li.passed").count() == 0
    page.reload()
    assert answers(page) == ["Bonn"]
    assert page.locator("#turns li").count() == 4
    page.click("#new")
    ask(page, "Hello!", method="chat")
    page.wait_for_selector("body:not(.busy) #status:has-text('Ask me about')")
    assert not page.is_visible("#result")


def test_a_follow_up_that_was_read_wrongly_is_mended(page: "Page") -> None:
    ask(page, "Where does Ada live?", method="chat")
    assert answers(page) == ["Ulm"]
    step = open_step(page, "rewrite")
    step.get_by_role("button", name="Edit and run on from here").click()
    step.locator("textarea").fill('{"question": "Where does Ben live?"}')
    step.get_by_role("button", name="Run on from here").click()
    page.wait_for_selector("#branches button:has-text('Fork 1 after rewrite')")
    assert answers(page) == ["Bonn"]
    page.fill("#question", "And Cleo?")
    page.press("#question", "Enter")
    page.wait_for_selector("#asked-as:has-text('Asked as: Where does Cleo live?')")
    assert answers(page) == ["Ulm"]


def test_a_conversation_of_another_client_is_shown(page: "Page", server: Server) -> None:
    from langgraph_sdk import get_sync_client

    with get_sync_client(url=server.url) as client:
        thread = client.threads.create()["thread_id"]
        for said in ("Where does Ben live?", "And Cleo?"):
            client.runs.wait(thread, "chat", input={"messages": [{"role": "user", "content": said}]})
    page.goto("about:blank")
    page.goto(f"{server.url}#thread={thread}")
    assert answers(page) == ["Ulm"]
    assert page.inner_text("#asked-as") == "Asked as: Where does Cleo live?"
    page.fill("#question", "And Ada?")
    page.press("#question", "Enter")
    page.wait_for_selector("#asked-as:has-text('Asked as: Where does Ada live?')")
    assert page.locator("#turns li").count() == 6


def test_words_for_outcomes_are_those_of_kgqa(page: "Page") -> None:
    words = page.evaluate("async () => ({...await import('/page/words.js')})")
    decided = {str(by or "null"): text for by, text in DECIDED_BY.items()}
    assert words == {
        "OUTCOME_LABELS": OUTCOME_LABELS,
        "OUTAGES": OUTAGES,
        "DECIDED_BY": decided,
        "READ_AS": READ_AS,
        "DID_YOU_MEAN": DID_YOU_MEAN,
        "MAX_OTHER_ANSWERS": MAX_OTHER_ANSWERS,
        "MAX_ANSWERS_SHOWN": MAX_ANSWERS_SHOWN,
    }
    ask(page, "Where does Ada live?")
    answers(page)
    assert page.inner_text("#outcome") == OUTCOME_LABELS["grounded"]


def test_what_is_counted_has_a_proof_without_answers(page: "Page") -> None:
    ask(page, "How many children does Ada have?", method="compose")
    assert answers(page) == ["2"]
    assert page.inner_text("#proof-count") == "2 facts, 3 nodes"
    assert page.is_visible(".key .topic") and not page.is_visible(".key .answer")


def test_without_an_answer_there_is_no_proof(page: "Page") -> None:
    ask(page, "Who is the king of Atlantis?", method="compose")
    assert answers(page) == []
    assert not page.is_visible("#proof-part")


def test_a_node_of_the_proof_says_what_it_is(page: "Page") -> None:
    ask(page, "Where does Ada live?")
    answers(page)
    page.locator("#proof").scroll_into_view_if_needed()
    box = page.locator("#proof").bounding_box()
    assert box
    at = page.evaluate("() => document.getElementById('proof')._cyreg.cy.$('.answer').renderedPosition()")
    page.mouse.move(box["x"] + at["x"], box["y"] + at["y"])
    page.wait_for_selector("#proof-element:has-text('Ulm · http://t/e/ulm')")


def test_examples_are_those_of_the_graph_that_is_asked(
    browser: "Browser", tmp_path: Path, said: list[str]
) -> None:
    with serving(tmp_path) as sample, opened(browser, sample.url, said) as page:
        page.wait_for_selector("#examples:not([hidden])")
        page.fill("#kg", "films.ttl")
        assert not page.is_visible("#examples")
        page.fill("#kg", "")
        assert page.locator("#examples button").count() == 3 and page.is_visible("#examples")
    assert said == []


def test_a_path_to_several_answers_says_how_many(page: "Page") -> None:
    ask(page, "Where do the children of Ada live?", model=MODEL, topics="Ada")
    answers(page)
    assert page.inner_text("#paths") == "Ada —child→ ? —lives_in→ 2 answers"


def test_labels_of_the_state_machine_can_be_read(page: "Page") -> None:
    for method in page.locator("#method option").all_inner_texts():
        page.select_option("#method", label=method)
        while page.evaluate(DRAWN) != method:
            page.wait_for_timeout(20)
        boxes = page.evaluate(BOXES)
        overlapping = [(one, two) for one, two in combinations(boxes, 2) if meet(boxes[one], boxes[two])]
        assert overlapping == [], method
        assert page.evaluate(CROSSED) == [], method
        assert method != "compose" or {"compose → compute", "retrieve → compute"} <= boxes.keys()


def meet(one: dict[str, float], two: dict[str, float]) -> bool:
    """Return whether two boxes overlap."""
    return all(one[f"{axis}1"] < two[f"{axis}2"] and two[f"{axis}1"] < one[f"{axis}2"] for axis in ("x", "y"))


def test_a_proof_of_200_nodes_is_dragged_smoothly(page: "Page", folder: Path, reader: Reader) -> None:
    ask(page, "Where do the children of Ada live?", model=MODEL, topics="Ada")
    answers(page)
    alone = max(drag(page, 1) for _ in range(3))  # what a browser draws on this machine, at this moment
    reader.way = (*WAY, "country", "currency")
    question = "Which money is paid where the children of Ada live?"
    ask(page, question, kg=str(folder / "many.ttl"), model=MODEL, topics="Ada")
    assert len(answers(page)) == CHILDREN
    reader.way = WAY
    assert page.inner_text("#proof-count") == f"{4 * CHILDREN} facts, {4 * CHILDREN + 1} nodes"
    boxes = page.evaluate(BOXES.replace("machine", "proof"))
    assert [(one, two) for one, two in combinations(boxes, 2) if meet(boxes[one], boxes[two])] == []
    page.wait_for_timeout(500)
    assert max(drag(page, 3) for _ in range(3)) >= min(FRAMES_A_SECOND, SHARE_OF_FRAMES * alone)


def drag(page: "Page", node: int) -> float:
    """Return the frames a second that are drawn while a node of the proof is dragged."""
    page.locator("#proof").scroll_into_view_if_needed()
    box = page.locator("#proof").bounding_box()
    assert box
    place = f"() => document.getElementById('proof')._cyreg.cy.nodes()[{node}].renderedPosition()"
    at = page.evaluate(place)
    x, y = box["x"] + at["x"], box["y"] + at["y"]
    page.evaluate(
        "() => { window.times = []; const cy = document.getElementById('proof')._cyreg.cy;"
        " cy.off('render').on('render', () => window.times.push(performance.now())); }"
    )
    page.mouse.move(x, y)
    page.mouse.down()
    end, at = time.monotonic() + 1, 0
    while time.monotonic() < end:
        at += 1
        page.mouse.move(x - at % 60, y + at % 37)
    page.mouse.up()
    moved = page.evaluate(place)
    assert (moved["x"], moved["y"]) != (x - box["x"], y - box["y"])
    times: list[float] = page.evaluate("() => window.times")
    return 1000 / statistics.mean(after - before for before, after in pairwise(times))


COLOURS = {"runOnly": ["color-contrast", "link-in-text-block"]}
"""Axe's rules that another theme may break."""


@pytest.mark.parametrize(("theme", "rules"), [("light", {}), ("dark", COLOURS)], ids=["light", "dark"])
def test_no_view_has_a_serious_finding_of_axe(
    page: "Page", theme: str, rules: dict[str, object], folder: Path
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    def check(view: str) -> None:
        found = Axe().run(page, options={"resultTypes": ["violations"], **rules}).response["violations"]
        worst = [each for each in found if each["impact"] in {"serious", "critical"}]
        told = [(view, each["id"], [node["html"][:200] for node in each["nodes"]]) for each in worst]
        assert told == []

    page.select_option("#theme", theme)
    check("start")
    page.click("#options-count")
    check("options")
    open_graph_view(page, folder / "shop.ttl")
    page.locator("#classes button").first.click()
    page.wait_for_selector("#questions li")
    check("graph")
    page.click("#graph-part > summary")
    page.fill("#kg", "")
    ask(page, "Where does Ada live?")
    answers(page)
    check("answer")
    page.evaluate(SHOW, record_of(HUTS))
    check("table")
    step = open_step(page, "verify")
    check("step")
    step.get_by_role("button", name="Edit and run on from here").click()
    step.locator("textarea").fill("{")
    check("edit")
    ask(page, "Where does Ada live?", kg="/nowhere.ttl")
    page.wait_for_selector(f"#problem:has-text('{OUTAGES['kg_unavailable']}')")
    check("outage")
    ask(page, "Where does Ada live?", method="chat", kg="")
    answers(page)
    check("conversation")
    page.set_viewport_size({"width": 390, "height": 800})
    check("narrow")
    page.evaluate("() => document.getElementById('key-dialog').showModal()")
    check("key")


@pytest.mark.parametrize(
    ("reading", "sentence"),
    [
        ("the river of Ulm", "The rivers of Ulm are Blau and Danube."),
        ("towns; the first one", None),
    ],
)
@pytest.mark.parametrize("number", [2, 30])
def test_reading_and_answers_stand_where_no_sentence_says_them(
    shown: "Page", reading: str, sentence: str | None, number: int
) -> None:
    rows: list[Any] = [[{"id": f"http://t/{at}", "name": f"Town {at}"}] for at in range(number)]
    record = record_of({"columns": ["answer"], "rows": rows, "ordered": False, "truncated": False})
    record |= {"reading": reading, "sentence": sentence, "table": None}
    shown.evaluate(SHOW, record)
    assert shown.inner_text("#reading") == say_reading(record, in_sentence=True)
    assert shown.inner_text("#sentence") == (sentence or "")
    assert shown.is_visible("#answers") == (sentence is None or number > 20)


def record_of(table: Table) -> dict[str, Any]:
    answers = [row[0] for row in table["rows"] if row[0]]
    given = {"answers": answers, "outcome": "grounded", "method": "listing", "usage": zero_spend()}
    return {**given, "table": table, "paths": [], "conditions": [], "evidence": [], "query": None}


def shown_rows(page: "Page") -> list[str]:
    return list(page.locator("#rows tbody td:first-child").all_inner_texts())


def test_a_table_is_sorted_copied_and_saved(page: "Page") -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate(SHOW, record_of(HUTS))
    assert shown_rows(page) == ["Abel Hut", "Berta, the old", "c"]
    beds, opened_on = (page.get_by_role("button", name=name, exact=True) for name in ("beds", "opened"))
    beds.press("Enter")
    assert shown_rows(page) == ["Berta, the old", "Abel Hut", "c"]
    assert page.locator("#rows th").nth(1).get_attribute("aria-sort") == "ascending"
    page.keyboard.press("Enter")
    assert shown_rows(page) == ["c", "Abel Hut", "Berta, the old"]
    opened_on.click()
    opened_on.click()
    assert shown_rows(page) == ["c", "Abel Hut", "Berta, the old"]
    page.click("#copy-csv")
    page.wait_for_selector("#copy-csv:has-text('Copied')")
    assert page.evaluate("() => navigator.clipboard.readText()") == to_csv(HUTS)
    with page.expect_download() as saved:
        page.click("#save-csv")
    assert (saved.value.suggested_filename, saved.value.path().read_text()) == ("answer.csv", to_csv(HUTS))
    ask(page, "Where does Ada live?")
    page.wait_for_selector("#sentence:has-text('Ulm')")
    assert (answers(page), page.is_visible("#rows-part")) == (["Ulm"], False)


def table_of(columns: str, *rows: str) -> Table:
    cells: Any = [[cell(text) for text in row.split("|")] for row in rows]
    return {"columns": columns.split("|"), "rows": cells, "ordered": False, "truncated": False}


@pytest.mark.parametrize(
    ("table", "words", "marks"),
    [
        (table_of("hut|beds", "Abel|24", f"{HOSTILE}|-8"), "beds by hut", "rect"),
        (table_of("year|huts", "1950|4", "1931|2", "2004|9"), "huts by year", "circle"),
        (table_of("hut|where", "Abel|POINT (10.5 47.2)", "Berta|Point(11 46.9)"), "hut on a map", "circle"),
        (table_of("hut|latitude|longitude", "A|47.2|10.5", "B|46|11"), "hut on a map", "circle"),
        (table_of("hut|keeper", "Abel|Ida", "Berta|Uwe"), None, ""),
        (table_of("beds|rooms", "24|6", "8|2"), None, ""),
    ],
)
def test_a_table_is_drawn_where_it_can_be(shown: "Page", table: Table, words: str | None, marks: str) -> None:
    shown.evaluate(SHOW, record_of(table))
    assert shown.is_visible("#chart") == (words is not None)
    if words:
        assert shown.inner_text("#chart figcaption") == words
        assert shown.locator(f"#chart {marks}.mark").count() == len(table["rows"])
        boxes = shown.locator("#chart .mark").evaluate_all(
            "(marks) => marks.map((mark) => [mark.getBBox().x, mark.getBBox().width].map(Number.isFinite))"
        )
        assert boxes == [[True, True]] * len(table["rows"])
    assert not shown.evaluate("() => window.pwned")


def test_the_page_may_do_little_and_holds_no_data(server: Server) -> None:
    import httpx

    reply = httpx.get(server.url)
    policy = dict(
        part.strip().partition(" ")[::2] for part in reply.headers["content-security-policy"].split(";")
    )
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert "family.ttl" not in reply.text
    again = httpx.get(server.url, headers={"if-none-match": reply.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert httpx.get(f"{server.url}/page/vendor/cytoscape.LICENSE").status_code == 200
    for path in ("/page/%2e%2e/auth.py", "/page/auth.py", "/page/../auth.py", "/page/"):
        assert httpx.get(server.url + path).status_code == 404


def test_with_keys_the_page_asks_for_one(
    folder: Path, browser: "Browser", said: list[str], tmp_path: Path
) -> None:
    import httpx

    with (
        serving(tmp_path, KGQA_KG=str(folder / "family.ttl"), KGQA_API_KEYS=f"alice:{KEY}") as guarded,
        opened(browser, guarded.url, said) as page,
    ):
        assert httpx.get(f"{guarded.url}/graph/profile").status_code == 401
        for key, problem in ((None, "give your key"), ("wrong", "this key is not known here")):
            if key:
                page.fill("#key", key)
                page.click("#key-dialog button.main")
            page.wait_for_selector(f"#problem:has-text('{problem}')")
        page.keyboard.press("Escape")
        page.click("#give-key")
        page.fill("#key", KEY)
        page.press("#key", "Enter")
        page.wait_for_selector("#method option", state="attached")
        ask(page, "Where does Ada live?")
        assert answers(page) == ["Ulm"]
        assert page.evaluate("() => Object.keys(localStorage).filter((name) => name.includes('key'))") == []
    assert [line for line in said if "401" not in line] == []
