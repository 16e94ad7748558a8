"""The report in a real browser, with attacks wherever a label, an id or an error can stand: none runs."""

from pathlib import Path
from typing import Any

import pytest

from kgqa.tests.hostile.conftest import Tried
from kgqa.tests.support.browser import browsing, missing
from kgqa.tests.support.pages import build_page
from kgqa.tests.unit.evaluation.report.folders import Json, answered, write_dataset, write_run

WHY_NOT = missing()

RUN = "window.pwned=1"

ATTACKS = (
    f"</script><script>{RUN}</script>",
    f"<!--<script>{RUN}</script>",
    f'"><img src=x onerror={RUN}>',
    f"'><svg onload={RUN}>",
    f"javascript:{RUN}",
    f'<a href="javascript:{RUN}">x</a><iframe srcdoc="<script>parent.{RUN}</script>">',
    f"</style></title></textarea></template>]]><script>{RUN}</script>",
    f"<base href=http://127.0.0.1:1/><meta http-equiv=refresh content=0;url=javascript:{RUN}>",
    f"\\u003cscript>{RUN}\\u003c/script>",
    "<img src=http://127.0.0.1:1/x><link rel=stylesheet href=http://127.0.0.1:1/x.css>",
    "__proto__",
    "constructor",
    "toString",
    "\u2028\u2029\u202e",
    "${7*7} {{7*7}} {% raw %} $\\frac{$ $x_1^2$",
    "\x00\x1b[2J\x9b",
    "&lt;b&gt; &#60;script&#62;",
)


def attacked(record: Json, text: str) -> Json:
    """Put a text wherever a record has one."""
    named = {"id": text, "name": text}
    fact = {"head": named, "relation": text, "tail": {"id": text, "name": None}}
    noted: dict[str, Any] = dict.fromkeys(
        ("chain", "reason", "error", "failure", "signal", "arm", "query"), text
    )
    lists = {key: [text] for key in ("chosen", "kept", "answers", "set_aside", text)}
    step = {"node": text, "decision": text, **noted, **lists, "topics": [named], "plan": {text: text}}
    return {
        **{**record, "method": text, "outcome": text, "stopped_by": text, "error": text, "evidence": [fact]},
        "answers": [named, {"id": f"javascript:{RUN}", "name": None}],
        "trace": [step, {**step, "__proto__": {"node": text}}],
        "paths": [[{**fact, "forward": True}]],
        "config": {**record["config"], "model": text, text: [text, {text: text}]},
    }


@pytest.fixture
def page(tmp_path: Path) -> str:
    """A report of two runs in which each question is one attack, and so is all that is said of it."""
    records = answered(tmp_path)
    asked, results = [], []
    for number, text in enumerate(ATTACKS):
        named = [{"id": text, "name": text}]
        about = {"id": f"{number}{text}", "question": f"{text}?", "kind": text, "level": text, "sparql": text}
        asked.append({**about, "topic_entities": named, "answers": named, "gold_path": ["http://t/r/p"]})
        results.append({**attacked(records[0], text), "id": f"{number}{text}", "question": f"{text}?"})
    dataset = write_dataset(tmp_path, asked)
    folder = f"<img src=x onerror={RUN}>"
    runs = [write_run(tmp_path / folder, results, dataset)]
    said = {"kgqa": ATTACKS[0], "graph": ATTACKS[2], "started": ATTACKS[3]}
    runs.append(write_run(tmp_path / "other", results[::-1], dataset, model=ATTACKS[0], **said))
    written = tmp_path / "report.html"
    written.write_text(build_page(runs), encoding="utf-8")
    return written.as_uri()


@pytest.mark.skipif(bool(WHY_NOT), reason=str(WHY_NOT))
def test_no_attack_on_a_report_runs(page: str, tried: Tried) -> None:
    seen: list[str] = []
    with browsing() as browser:
        tab = browser.new_page()
        tab.set_default_timeout(10_000)
        tab.on("dialog", lambda dialog: seen.append(dialog.message))
        tab.on("console", lambda message: seen.append(message.text))
        tab.on("pageerror", lambda error: seen.append(str(error)))
        tab.on(
            "request", lambda request: seen.append(request.url) if request.url.startswith("http") else None
        )
        tab.goto(page)
        policy = tab.locator("meta[http-equiv=Content-Security-Policy]").get_attribute("content") or ""
        assert policy.startswith("default-src 'none'; script-src 'sha256-")
        tab.locator("#list a").first.wait_for()
        links = tab.locator("#list li > a").all()
        assert len(links) == len(ATTACKS)
        for address in [link.get_attribute("href") for link in links]:
            tab.goto(page + str(address))
            tab.wait_for_function("!document.querySelector('#question h3')?.dataset.seen")
            tab.locator("#question .run").nth(1).wait_for()
            tab.evaluate("document.querySelector('#question h3').dataset.seen = 1")
            assert tab.evaluate("window.pwned") is None
            assert tab.locator("#question .none", has_text="Not in the form").count() == 0
        made = "img, iframe, base, object, embed, a[href^=javascript], [onerror], [onload], main script"
        assert tab.locator(made).count() == 0
    assert seen == []
    tried(inputs=len(ATTACKS))
