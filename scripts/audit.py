"""Looks for known vulnerabilities in what is installed; says so where nobody can be asked.

An index of packages need not know of vulnerabilities, and offline there is none: neither is a failure.
"""

import json
import subprocess
import sys
from typing import Any

SECONDS = 5
"""How long the service may take to answer at all."""

PROBE = "pip"
"""A package that every service knows, if it knows any."""


def main() -> None:
    """Fail if a vulnerability is known of what is installed."""
    if not _audited("--requirement", "/dev/stdin", "--no-deps", "--disable-pip", given=f"{PROBE}==24.0\n"):
        sys.stderr.write("audit: skipped, no service that knows of vulnerabilities answers\n")
        return
    found = _audited("--local", "--skip-editable")
    bad = [f"{one['name']} {one['version']}: {_ids(one)}" for one in found if one.get("vulns")]
    if bad:
        sys.exit(
            "\n".join(["known vulnerabilities; raise these in pyproject.toml and constraints.txt:", *bad])
        )


def _audited(*arguments: str, given: str = "") -> list[dict[str, Any]]:
    """Give the packages that a service has told about; none where it does not answer."""
    command = [sys.executable, "-m", "pip_audit", "--format", "json", "--progress-spinner", "off"]
    ended = subprocess.run(  # noqa: S603 - the words of the command are those above
        [*command, "--timeout", str(SECONDS), *arguments],
        input=given,
        capture_output=True,
        text=True,
        check=False,
    )
    try:
        packages: list[dict[str, Any]] = json.loads(ended.stdout)["dependencies"]
    except ValueError:
        return []
    return [one for one in packages if "skip_reason" not in one]


def _ids(package: dict[str, Any]) -> str:
    told = (f"{one['id']} (mended in {', '.join(one['fix_versions']) or 'none'})" for one in package["vulns"])
    return ", ".join(told)


if __name__ == "__main__":
    main()
