"""``kgqa serve`` as a newcomer starts it: in a folder of their own, with a graph of their own."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kgqa.cli import new
from kgqa.tests.integration.serving.asking import FAMILY, INPUT
from kgqa.tests.support import browser as browsers
from kgqa.tests.support.servers.langgraph import free_port, missing

WHY_NOT = missing() or browsers.missing()

PREFIXES = "\n".join(FAMILY.splitlines()[:3])


@pytest.mark.skipif(bool(WHY_NOT), reason=str(WHY_NOT))
def test_files_and_methods_of_ones_own_are_served_with_the_page_until_it_is_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import httpx

    (tmp_path / "family.ttl").write_text(FAMILY)
    (tmp_path / "more.ttl").write_text(f'{PREFIXES}\ne:eve rdfs:label "Eve"@en ; r:lives_in e:bonn .\n')
    monkeypatch.chdir(tmp_path)
    new.method("own_walk")
    port = free_port()
    given = ["--kg", "family.ttl", "--kg", "more.ttl", "--model", "offline", "--port", str(port)]
    given += ["--method", "own_walk/own_walk.py:graph"]
    command = [sys.executable, "-P", "-m", "kgqa.cli.main", "serve", *given]
    with subprocess.Popen(
        command, cwd=tmp_path, env=os.environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout
            said = process.stdout.readline()
            assert said == f"kgqa is at http://127.0.0.1:{port}/ (Ctrl-C ends it)\n"
            with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
                assert "<title>kgqa</title>" in client.get("/").text
                asked = {"assistant_id": "cor", "input": {**INPUT, "question": "Where does Ada live?"}}
                record = client.post("/runs/wait", json=asked).json()
                assert [answer["name"] for answer in record["answers"]] == ["Ulm"]
                assert record["config"]["kg"] == ["family.ttl", "more.ttl"]
            ask_on_the_page(f"http://127.0.0.1:{port}/")
            process.send_signal(signal.SIGINT)
            process.wait(30)
        finally:
            process.kill()
        assert process.stderr
        assert process.stderr.read() == "opening family.ttl, more.ttl …\n"
    assert process.returncode == 0


def ask_on_the_page(url: str) -> None:
    """Ask by the method of one's own, of the second file; its state machine is drawn, and lights up."""
    with browsers.browsing() as browser:
        page = browser.new_page()
        page.goto(url)
        page.wait_for_selector("#method option", state="attached")
        page.select_option("#method", label="own_walk")
        page.wait_for_selector("#method-about:has-text('own_walk: one relation chain')")
        assert page.get_attribute("#kg", "placeholder") == "family.ttl, more.ttl"
        page.fill("#question", "Where does Eve live?")
        page.press("#question", "Enter")
        page.wait_for_selector("#sentence:has-text('Bonn')")
        assert page.locator("#cost").inner_text().startswith("own_walk, offline")
        lit = "() => document.getElementById('machine')._cyreg.cy.nodes('.done').map((node) => node.id())"
        assert {"link", "answer"} <= set(page.evaluate(lit))
