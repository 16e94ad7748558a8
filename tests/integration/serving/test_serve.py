"""``kgqa serve`` as a newcomer starts it: in a folder of their own, with a graph of their own."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kgqa.tests.integration.serving.asking import FAMILY, INPUT
from kgqa.tests.support.servers.langgraph import free_port, missing

WHY_NOT = missing()


@pytest.mark.skipif(bool(WHY_NOT), reason=str(WHY_NOT))
def test_a_graph_is_served_with_its_page_until_it_is_interrupted(tmp_path: Path) -> None:
    import httpx

    (tmp_path / "family.ttl").write_text(FAMILY)
    port = free_port()
    given = ["--kg", "family.ttl", "--model", "offline", "--port", str(port)]
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
                assert record["config"]["kg"] == ["family.ttl"]
            process.send_signal(signal.SIGINT)
            process.wait(30)
        finally:
            process.kill()
        assert process.stderr
        assert process.stderr.read() == "opening family.ttl …\n"
    assert process.returncode == 0
