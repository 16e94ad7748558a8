"""The page in a real browser, at a real server: ask, watch, look into a step, go another way."""

import json
import statistics
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kgqa.tests.integration.serving.asking import FAMILY, MODEL, WAY, Reader, reading
from kgqa.tests.support import browser as browsers
from kgqa.tests.support.servers import langgraph
from kgqa.tests.support.servers.langgraph import Server, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

WHY_NOT = browsers.missing() or langgraph.missing()

pytestmark = [pytest.mark.skipif(bool(WHY_NOT), reason=str(WHY_NOT)), pytest.mark.timeout(240)]

HOSTILE = "</script><img src=x onerror=window.pwned=1>"

FAMILY_AND_HOSTILE = (
    f'{FAMILY}e:eve rdfs:label "Eve"@en ; r:lives_in e:odd .\ne:odd rdfs:label "{HOSTILE}"@en .\n'
)

PREFIXES = "\n".join(FAMILY.splitlines()[:3])

CHILDREN = 50

FRAMES_A_SECOND = 30

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
        yield tab
    assert said == []


class opened:
    """A tab of its own context at an address; what it complains of is collected."""

    def __init__(self, browser: "Browser", url: str, said: list[str]) -> None:
        self.context = browser.new_context(viewport={"width": 1300, "height": 1000})
        self.url, self.said = url, said

    def __enter__(self) -> "Page":
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
    for name, value in {"topics": "", **fields}.items():
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


def open_step(page: "Page", node: str) -> Any:
    step = page.locator(f"#steps > li[data-node={node}] > details").first
    step.locator("summary").first.focus()
    page.keyboard.press("Enter")
    return step


def test_a_question_is_answered_with_its_proof(page: "Page") -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    ask(page, "Where does Ada live?")
    assert answers(page) == ["Ulm"]
    assert page.inner_text("#status") == "Answered: Ulm (proved by the graph)."
    assert page.inner_text("#paths") == "Ada —lives_in→ Ulm"
    assert page.inner_text("#proof-count") == "1 fact, 2 nodes"
    assert page.locator("#proof-table tbody tr").all_text_contents() == ["Adalives_inUlm"]
    assert "model call" not in page.inner_text("#cost")
    page.click("#copy")
    page.wait_for_selector("#copy:has-text('Copied')")
    copied = page.evaluate("() => navigator.clipboard.readText()")
    assert copied == page.inner_text("#query") and "SELECT DISTINCT ?answer" in copied


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
    ask(page, "Where does Ada live?", model="offline")
    assert answers(page) == ["Ulm"]


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
    step = open_step(page, "verify")
    step.get_by_role("button", name="Edit and run on from here").press("Enter")
    step.get_by_label("What is next").select_option("backtrack")
    edit = step.locator("textarea")
    edit.fill(json.dumps({**json.loads(edit.input_value()), "memory": []}))
    step.get_by_role("button", name="Run on from here").click()
    page.wait_for_selector("#branches button:has-text('Fork 1 after verify')")
    assert answers(page) == ["Bonn", "Ulm"]
    assert page.locator("#steps > li", has_text="changed by you: decision, memory").count() == 1
    page.click("#branches button:has-text('First run')")
    assert answers(page) == ["Ulm"]


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
    assert open_step(page, "prune").locator("pre").count() >= 4


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"kg": "/nowhere/graph.ttl"}, "the knowledge graph could not be asked: "),
        ({"model": "nobody:nothing"}, "the model could not be asked: "),
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


def test_a_proof_of_200_nodes_is_dragged_smoothly(page: "Page", folder: Path, reader: Reader) -> None:
    reader.way = (*WAY, "country", "currency")
    question = "Which money is paid where the children of Ada live?"
    ask(page, question, kg=str(folder / "many.ttl"), model=MODEL, topics="Ada")
    assert len(answers(page)) == CHILDREN
    reader.way = WAY
    assert page.inner_text("#proof-count") == f"{4 * CHILDREN} facts, {4 * CHILDREN + 1} nodes"
    page.wait_for_timeout(500)
    assert max(drag(page) for _ in range(3)) >= FRAMES_A_SECOND


def drag(page: "Page") -> float:
    """Return the frames a second that are drawn while a node of the proof is dragged."""
    page.locator("#proof").scroll_into_view_if_needed()
    box = page.locator("#proof").bounding_box()
    assert box
    at = page.evaluate("() => document.getElementById('proof')._cyreg.cy.nodes()[3].renderedPosition()")
    x, y = box["x"] + at["x"], box["y"] + at["y"]
    page.evaluate(
        "() => { window.times = []; const cy = document.getElementById('proof')._cyreg.cy;"
        " cy.on('render', () => window.times.push(performance.now())); }"
    )
    page.mouse.move(x, y)
    page.mouse.down()
    end, at = time.monotonic() + 2, 0
    while time.monotonic() < end:
        at += 1
        page.mouse.move(x + at % 60, y + at % 37)
    page.mouse.up()
    moved = page.evaluate("() => document.getElementById('proof')._cyreg.cy.nodes()[3].renderedPosition()")
    assert (moved["x"], moved["y"]) != (x - box["x"], y - box["y"])
    times: list[float] = page.evaluate("() => window.times")
    return 1000 / statistics.mean(after - before for before, after in pairwise(times))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_view_has_a_serious_finding_of_axe(page: "Page", theme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    def check(view: str) -> None:
        found = Axe().run(page).response["violations"]
        worst = [each for each in found if each["impact"] in {"serious", "critical"}]
        told = [(view, each["id"], [node["html"][:200] for node in each["nodes"]]) for each in worst]
        assert told == []

    page.select_option("#theme", theme)
    check("start")
    page.click("#options-count")
    check("options")
    ask(page, "Where does Ada live?")
    answers(page)
    check("answer")
    step = open_step(page, "verify")
    check("step")
    step.get_by_role("button", name="Edit and run on from here").click()
    step.locator("textarea").fill("{")
    check("edit")
    ask(page, "Where does Ada live?", kg="/nowhere.ttl")
    page.wait_for_selector("#problem:has-text('could not be asked')")
    check("outage")
    page.click("#give-key")
    check("key")


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
    with (
        serving(tmp_path, KGQA_KG=str(folder / "family.ttl"), KGQA_API_KEYS=f"alice:{KEY}") as guarded,
        opened(browser, guarded.url, said) as page,
    ):
        for key, problem in ((None, "give your key"), ("wrong", "this key is not known here")):
            if key:
                page.fill("#key", key)
                page.click("#key-dialog button.main")
            page.wait_for_selector(f"#problem:has-text('{problem}')")
        page.fill("#key", KEY)
        page.press("#key", "Enter")
        page.wait_for_selector("#method option", state="attached")
        ask(page, "Where does Ada live?")
        assert answers(page) == ["Ulm"]
        assert page.evaluate("() => Object.keys(localStorage).filter((name) => name.includes('key'))") == []
    assert [line for line in said if "401" not in line] == []
