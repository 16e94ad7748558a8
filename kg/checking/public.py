"""What public services want of those who ask them."""

import os
from urllib.parse import urlsplit

from kgqa.kg.checking.finding import Finding, note, warning

WIKIDATA = "wikidata.org"
QLEVER = ("qlever.dev", "qlever.cs.uni-freiburg.de")
OTHERS = ("dbpedia.org",)


def is_public(url: str) -> bool:
    """Tell whether the address is that of a service that others pay for; nothing heavy is tried there."""
    return any(_within(url, each) for each in (WIKIDATA, *QLEVER, *OTHERS))


def advise(url: str) -> list[Finding]:
    """Say how to behave at a public service."""
    if not is_public(url):
        return []
    found = [note("public service", "others use it too", _limits(url))]
    if not os.environ.get("KGQA_USER_AGENT"):
        says = "it is not told who asks"
        advice = "set KGQA_USER_AGENT to your project with an address: 'my-study/1.0 (mailto:me@example.org)'"
        found.append((warning if _within(url, WIKIDATA) else note)("public service", says, advice))
    return found


def _limits(url: str) -> str:
    if _within(url, WIKIDATA):
        return (
            "a query may take 60 s, and a client 60 s of them a minute and five at a time; who goes on after "
            "a 429 is shut out: use --concurrency 1, and an endpoint of your own for many questions"
        )
    return "use --concurrency 1, and an endpoint of your own for many questions"


def _within(url: str, domain: str) -> bool:
    host = (urlsplit(url).hostname or "").lower()
    return host == domain or host.endswith(f".{domain}")
