"""Chromium, driven over its DevTools protocol; nothing is downloaded."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


def missing() -> str | None:
    """Say what is missing, for ``pytest.skip``; None if nothing is."""
    if find_spec("playwright") is None:
        return "needs playwright"
    return None if _path() else f"needs a browser: {' or '.join(NAMES)}"


def _path() -> str | None:
    return next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def browsing() -> Iterator["Browser"]:
    """Start the browser, without the sandbox that a container's root cannot have."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=_path(), args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()
