"""The report in a real browser: it loads alone, sorts, filters, opens questions, and keeps labels text."""

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kgqa.tests.support.browser import browsing, missing
from kgqa.tests.support.pages import build_page
from kgqa.tests.unit.evaluation.report.folders import (
    HOSTILE,
    QUESTIONS,
    answered,
    failed,
    multiplied,
    refined,
    revised,
    write_dataset,
    write_run,
)

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

WHY_NOT = missing()

pytestmark = pytest.mark.skipif(bool(WHY_NOT), reason=str(WHY_NOT))

HOSTILE_ID = "q4+%26+%3Cb%3E"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Write a report of three runs on six questions, one of 250, and others of one kind each."""
    folder = tmp_path_factory.mktemp("report")
    far = answered(folder)
    *most, last = answered(folder, hops=1, backtracking=False)
    near = [*most, failed(last)]
    dataset = write_dataset(folder)
    runs = [
        write_run(folder / "far", far, dataset),
        write_run(folder / "near", near, dataset),
        write_run(folder / "half", far[:2], dataset, measured=False),
    ]
    earlier = [
        {**record, "reading": None, **({} if at else {"query": None})} for at, record in enumerate(far)
    ]
    odd = [{**record, "paths": [{"head": 1}], "trace": [None], "evidence": [None]} for record in far]
    (folder / "large").mkdir()
    many = write_dataset(folder / "large", multiplied(QUESTIONS, 250))
    large = write_run(folder / "large" / "run", multiplied(far, 250), many)
    urls = {}
    guided = [write_run(folder / f"guided{at}", refined(one), dataset) for at, one in enumerate((far, near))]
    kept = write_run(folder / "kept", answered(folder, keep_prompts=True), dataset)
    pages = {
        "kept": [kept],
        "small": runs,
        "large": [large],
        "odd": [write_run(folder / "odd", odd, dataset)],
        "guided": guided,
        "earlier": [write_run(folder / "earlier", earlier, dataset)],
        "planned": [write_run(folder / "planned", revised(far), dataset)],
    }
    for name, shown in pages.items():
        path = folder / f"{name}.html"
        path.write_text(build_page(shown), encoding="utf-8")
        urls[name] = path.as_uri()
    return urls


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    with browsing() as running:
        yield running


@dataclass
class Seen:
    """What a browser tells of a page beside the page itself."""

    page: "Page"
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def each(self, selector: str) -> list[str]:
        return self.page.locator(selector).all_inner_texts()


Open = Callable[..., Seen]


@pytest.fixture
def open_page(browser: "Browser", files: dict[str, str]) -> Iterator[Open]:
    """Open a report and wait until its questions are there; at the end nothing may have gone wrong."""
    seen: list[Seen] = []

    def opened(name: str = "small", anchor: str = "", *, width: int = 1280, scheme: str = "light") -> Seen:
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
        page.set_default_timeout(10_000)
        one = Seen(page)
        page.on("console", lambda message: one.complaints.append(message.text))
        page.on("pageerror", lambda error: one.complaints.append(str(error)))
        page.on("request", lambda request: one.requests.append(request.url))
        page.goto(files[name] + anchor)
        page.locator("#list li, #question h3").first.wait_for(state="attached")
        seen.append(one)
        return one

    yield opened
    for one in seen:
        assert one.complaints == []
        assert [url for url in one.requests if not url.startswith(("file:", "data:"))] == []
        one.page.close()


def column(table: "Locator", title: str) -> list[str]:
    """Return what a column of a table shows, line by line joined."""
    at = table.locator("thead th").all_inner_texts().index(title) + 1
    return [cell.split("\n")[0] for cell in table.locator(f"tbody tr > :nth-child({at})").all_inner_texts()]


def test_the_page_loads_alone_and_shows_every_part(open_page: Open) -> None:
    seen = open_page()
    assert seen.each("h2") == ["Dataset: town", "Questions", "What the numbers mean", "Provenance"]
    assert seen.page.locator("svg.plot").count() >= 5
    assert len(seen.each("#list li")) == 6
    assert len(seen.requests) == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 420])
def test_a_screenshot_has_many_colours_and_no_sideways_scrolling(
    open_page: Open, width: int, scheme: str
) -> None:
    from PIL import Image

    page = open_page(width=width, scheme=scheme).page
    shot = Image.open(io.BytesIO(page.screenshot(full_page=True))).convert("RGB")
    colours = shot.getcolors(maxcolors=1 << 24) or []
    assert len(colours) > 200
    background = max(colours)[1]
    assert isinstance(background, tuple)
    assert (sum(background) > 600) == (scheme == "light")
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_a_click_on_a_title_sorts_the_runs(open_page: Open) -> None:
    table = open_page().page.locator("table").first
    assert column(table, "F1") == ["100.0", "60.0", "40.0"]
    table.get_by_role("button", name="F1").click()
    assert table.get_by_role("columnheader", name="F1").get_attribute("aria-sort") == "descending"
    table.get_by_role("button", name="F1").click()
    assert column(table, "F1") == ["40.0", "60.0", "100.0"]
    assert table.get_by_role("columnheader", name="F1").get_attribute("aria-sort") == "ascending"
    table.get_by_role("button", name="Options").press("Enter")
    assert column(table, "Options") == ["backtracking=false", "backtracking=true", "backtracking=true"]
    assert table.get_by_role("columnheader", name="F1").get_attribute("aria-sort") == "none"


def test_ablations_and_refinement_are_tables_that_sort(open_page: Open) -> None:
    seen = open_page("guided", width=420)
    assert seen.each("#d1 h3") == [
        *("Runs", "Comparisons", "What each part of cor contributes, with scripted"),
        *("Refinement", "Failure signals", "Blueprints", "Relations after pruning", "Plots"),
    ]
    table = seen.page.get_by_label("Table: Failure signals").locator("table")
    assert column(table, "Signal") == [HOSTILE, "no_gain", HOSTILE, "no_gain"]
    table.get_by_role("button", name="Hits@1").dblclick()
    assert column(table, "Hits@1") == ["0.0", "100.0", "100.0", "100.0"]
    assert "How refinement ends" in seen.each("figure h4")
    assert seen.page.evaluate("document.documentElement.scrollWidth") == 420


def test_signals_and_tokens_of_a_plan_in_steps_are_read_off_its_trace(open_page: Open) -> None:
    seen = open_page("planned", "#q=q2")
    noted = " ".join(seen.page.locator("#question .trace .noted").all_text_contents())
    for told in (
        "tokens 90 + 10",
        "chosen 4",
        "signals model yes; nli no",
        "plan answers Black Sea; arm local",
    ):
        assert told in noted
    assert "Tokens by stage" in seen.each("figure h4")


def test_filters_and_search_narrow_the_list(open_page: Open) -> None:
    seen = open_page()

    def left() -> list[str]:
        return [line.split("\n")[1].split(" · ")[0] for line in seen.each("#list li .text")]

    def choose(label: str, option: str) -> None:
        seen.page.get_by_label(label, exact=True).select_option(option)

    seen.page.get_by_label("Search").fill("BLACK sea")
    assert left() == ["q2"]
    seen.page.get_by_label("Search").fill("nothing like it")
    assert seen.page.locator("#count").inner_text() == "No question fits; take a filter away."
    seen.page.get_by_label("Search").fill("")
    choose("Result", "failed")
    assert left() == ["q6"]
    choose("Result", "right")
    choose("Run", "1")
    assert left() == ["q1", "q3", "q4 & <b>"]
    choose("Kind", "set")
    assert left() == ["q3"]
    choose("Kind", "")
    choose("Result", "any result")
    choose("Run", "")
    choose("Hops", "2")
    assert left() == ["q2"]
    choose("Hops", "")
    choose("Outcome", "none")
    assert left() == ["q5", "q6"]


def test_a_question_opens_with_its_runs_side_by_side(open_page: Open) -> None:
    seen = open_page()
    seen.page.get_by_role("link", name="Where does the river of Ulm end?").click()
    seen.page.locator("#question h3").wait_for()
    assert seen.page.url.endswith("#q=q2")
    heads = ["1 cor (far)✓ right", "2 cor · backtracking=false✗ wrong", "3 cor (half)✓ right"]
    assert seen.each("#question h4") == heads
    assert seen.each(".run:nth-of-type(1) .answers li") == ["✓\nBlack Sea\n, right"]
    assert seen.each(".run:nth-of-type(2) .answers li") == ["✗\nDanube\n, wrong"]
    tops = [box["y"] for run in seen.page.locator(".run").all() if (box := run.bounding_box())]
    assert len(tops) == 3
    assert len(set(tops)) == 1


def test_a_question_shows_its_path_and_every_step(open_page: Open) -> None:
    seen = open_page(anchor="#q=q3")
    arrow = seen.page.locator(".run").first.locator(".path .arrow")
    assert arrow.get_attribute("class") == "arrow backward"
    assert seen.each(".run:nth-of-type(1) .path .node") == ["Danube", "2 answers"]
    assert seen.each(".gold .path .node") == ["Danube", "?"]
    steps = ["link", "retrieve_relations", "prune", "expand", "verify", "answer"]
    assert seen.each(".run:nth-of-type(1) .step b") == steps
    assert "set aside" in seen.each(".run:nth-of-type(1) .step")[2]
    assert "LLM calls\n2" in seen.each(".run:nth-of-type(1) .cost")[0]


def test_a_reading_is_shown_and_no_query_only_where_there_is_none(open_page: Open) -> None:
    block = ".run:nth-of-type(1) .block:nth-of-type(1)"
    (said,) = open_page(anchor="#q=q2").each(block)
    assert said.startswith("Read as\n") and "Ulm" in said
    assert open_page("earlier", "#q=q2").each(block) == ["Read as"]
    assert open_page("earlier", "#q=q1").each(block) == ["Read as\n\nNo query gives the answers."]


def test_a_step_shows_what_the_model_was_asked_and_its_reply(open_page: Open) -> None:
    seen = open_page("kept", "#q=q2")
    asked = seen.page.locator(".step", has_text="prune").first.locator(".exchange")
    assert asked.count() == 1
    assert not asked.locator("pre").last.is_visible()
    asked.locator("summary").first.click()
    assert asked.locator("summary").first.inner_text() == "Prompt and reply: prune_relations"
    case, reply = asked.locator("> pre").all_inner_texts()
    assert case.startswith('Question: "Where does the river of Ulm end?"')
    assert '"relations":[' in reply.replace(" ", "")
    asked.get_by_text("Instructions").click()
    assert "Reply with one JSON object" in asked.locator("details pre").inner_text()
    assert open_page(anchor="#q=q2").page.locator(".exchange").count() == 0


def test_a_table_that_is_cut_says_so(open_page: Open) -> None:
    page = open_page(width=700).page
    table, note = page.locator(".scroll").first, page.locator(".wide").first
    hidden = "frame => frame.scrollWidth - frame.clientWidth"
    assert table.evaluate(hidden) > 100
    heads = table.locator("thead th").count()
    told = note.inner_text()
    assert told.endswith("more columns to the right: scroll the table sideways.")
    assert 0 < int(told.split()[0]) < heads
    table.evaluate("frame => { frame.scrollLeft = frame.scrollWidth }")
    note.wait_for(state="hidden")
    page.set_viewport_size({"width": 1280, "height": 900})
    frames = page.locator(".scroll").all()
    cut = [frame.evaluate(hidden) > 0 for frame in frames]
    told_of = [frame.locator("xpath=preceding-sibling::p[1]").is_visible() for frame in frames]
    assert {*cut} == {True, False}
    assert told_of[1:] == cut[1:]  # the first is scrolled to its end


def test_a_failed_question_shows_its_error(open_page: Open) -> None:
    seen = open_page(anchor="#q=q6")
    assert seen.each("#question .error") == [f"ValueError: {HOSTILE}"]
    assert seen.each("#question h4 .mark") == ["✓ right", "! failed", "– missing"]


def test_one_leads_from_a_question_to_the_next_and_back_to_the_list(open_page: Open) -> None:
    page = open_page(anchor="#q=q1").page
    page.get_by_role("link", name="Next").click()
    page.get_by_role("heading", name="Where does the river of Ulm end?").wait_for()
    page.go_back()
    page.get_by_role("heading", name="Which river flows through Ulm?").wait_for()
    page.get_by_role("link", name="All questions").click()
    page.locator("#list").wait_for()
    assert page.locator("#question").is_hidden()


def test_hostile_labels_stay_text(open_page: Open) -> None:
    seen = open_page(anchor=f"#q={HOSTILE_ID}")
    page = seen.page
    assert page.locator("#question h3").inner_text() == f"Whose twin is {HOSTILE}?"
    assert seen.each(".run:nth-of-type(1) .answers li") == [f"✓\n{HOSTILE}\n, right"]
    assert HOSTILE in seen.each(".run:nth-of-type(1) .reason")
    assert page.locator("img").count() == 0
    assert page.title() == "kgqa report: town"


def test_what_is_no_record_does_not_hide_the_rest(open_page: Open) -> None:
    seen = open_page("odd", "#q=q1")
    assert seen.each(".run .answers li") == ["✓\nDanube\n, right"]
    assert seen.each(".run .none") == ["Not in the form of a record of kgqa."] * 3


def test_an_unknown_question_is_named(open_page: Open) -> None:
    seen = open_page(anchor="#q=%3Cimg%20src=x%3E")
    assert seen.each("#question .notice") == ["No question has the id <img src=x>."]


def test_a_long_list_comes_in_pages(open_page: Open) -> None:
    seen = open_page("large")
    assert len(seen.each("#list li")) == 100
    seen.page.get_by_role("button", name="Next page").click()
    seen.page.get_by_role("button", name="Next page").click()
    assert len(seen.each("#list li")) == 50
    assert seen.page.locator("#count").inner_text() == "250 questions of 250, 201 to 250 shown"
    seen.page.locator("#list a").last.click()
    seen.page.locator("#question h3").wait_for()
    assert seen.page.url.endswith("#q=n00249")
    assert seen.each(".run .mark") == ["✓ right"]


def test_the_policy_stops_a_label_that_became_markup(
    browser: "Browser", files: dict[str, str], tmp_path: Path
) -> None:
    """Put the label into the page as markup, as a bug in it might, and see the policy hold."""
    from urllib.request import url2pathname

    broken = tmp_path / "broken.html"
    whole = Path(url2pathname(files["small"].removeprefix("file:"))).read_text(encoding="utf-8")
    broken.write_text(whole.replace("<h1>", f"{HOSTILE}<h1>", 1), encoding="utf-8")
    page = browser.new_page()
    page.goto(broken.as_uri())
    page.locator("#list li").first.wait_for(state="attached")
    assert page.locator("img").count() == 1
    assert page.title() == "kgqa report: town"
    page.close()
