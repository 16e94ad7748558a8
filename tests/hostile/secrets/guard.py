"""Watches a process and its children for attempts to reach anything but this machine.

A folder with `SITECUSTOMIZE` in it goes first on PYTHONPATH; each attempt is a line in a file.
"""

from pathlib import Path

SITECUSTOMIZE = """\
import os, sys

EVENTS = {"socket.connect": 1, "socket.sendto": 1, "socket.getaddrinfo": 0, "socket.gethostbyname": 0}

def seen(event, given):
    if event in EVENTS:
        address = given[EVENTS[event]]
        host = address[0] if isinstance(address, tuple) else address
        host = host.decode(errors="replace") if isinstance(host, bytes) else str(host or "")
        if host and not host.startswith(("127.", "::1", "localhost", "/", "\\\\0", "0.0.0.0")):
            file = os.open(os.environ["ATTEMPTS"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            os.write(file, f"{event} {host} by {sys.argv}\\n".encode())
            os.close(file)

sys.addaudithook(seen)
open(os.environ["ATTEMPTS"] + ".on", "a").close()
"""


def watched(folder: Path, path: str) -> dict[str, str]:
    """Return the environment in which a process is watched, and with it all that it starts."""
    guard = folder / "guard"
    guard.mkdir()
    (guard / "sitecustomize.py").write_text(SITECUSTOMIZE)
    return {"PYTHONPATH": f"{guard}:{path}", "ATTEMPTS": str(folder / "attempts.txt")}


def attempts(folder: Path) -> str:
    """Return what was tried, once it is sure that anybody watched."""
    assert (folder / "attempts.txt.on").exists()
    file = folder / "attempts.txt"
    return file.read_text() if file.exists() else ""
