"""Makes matplotlib's SVG fit for a page: classes for colours, so that the page's style decides on them.

Text stays text, ids are the plot's own, and neither style elements nor style
attributes are left, which the page's content security policy forbids.
"""

import re
from xml.etree import ElementTree

NAMESPACE = "http://www.w3.org/2000/svg"

INK, FAINT, SURFACE = "#a1b300", "#a1b301", "#a1b302"

SERIES = 8
"""Colours that the page has for runs."""

UNSCORED = "line"
"""The fate of what has no gold; its colour is so faint that text stands on it in ink."""

FATES = ("right", "partly", "wrong", "soft", "failed", UNSCORED)
"""Colours that the page has for how questions end."""

_CLASSES = (
    {INK: "ink", FAINT: "faint", SURFACE: "surface"}
    | {f"#a1b2{number:02x}": f"s{number}" for number in range(SERIES)}
    | {f"#a1b4{number:02x}": fate for number, fate in enumerate(FATES)}
)

_DROPPED = frozenset({"font-family", "stroke-linejoin", "stroke-miterlimit"})

_LONG = re.compile(r"-?\d+\.\d{3,}")

_LINK = "{http://www.w3.org/1999/xlink}href"


def series_colour(number: int) -> str:
    """Give the colour that stands for a run until the page's style says what it is."""
    return f"#a1b2{number % SERIES:02x}"


def fate_colour(fate: str) -> str:
    """Give the colour that stands for one of `FATES` until the page's style says what it is."""
    return f"#a1b4{FATES.index(fate):02x}"


def page_svg(drawn: str, name: str, alt: str) -> str:
    """Turn a file of matplotlib into an element of a page.

    Args:
        drawn: the whole SVG file.
        name: what its ids begin with; one of its own for each plot of a page.
        alt: what it shows, in words.
    """
    root = ElementTree.fromstring(drawn)  # noqa: S314 (matplotlib has just written it)
    _without(root, {"metadata", "style"})
    for element in root.iter():
        element.tag = element.tag.removeprefix(f"{{{NAMESPACE}}}")
        _restyle(element)
        _rename(element, name)
        for key, value in element.attrib.items():
            element.set(key, _LONG.sub(lambda found: f"{float(found[0]):.2f}", value))
    root.attrib.update({"role": "img", "aria-label": alt, "class": "plot"})
    for size in ("width", "height", "version"):
        root.attrib.pop(size, None)
    return re.sub(r"\n\s*", "\n", ElementTree.tostring(root, encoding="unicode"))


def _without(root: ElementTree.Element, names: set[str]) -> None:
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.removeprefix(f"{{{NAMESPACE}}}") in names:
                parent.remove(child)


def _restyle(element: ElementTree.Element) -> None:
    """Turn the style attribute into presentation attributes and classes."""
    classes = []
    for declared in element.attrib.pop("style", "").split("; "):
        key, colon, value = declared.partition(": ")
        if value.lower() in _CLASSES and key in ("fill", "stroke"):
            classes.append(f"{key}-{_CLASSES[value.lower()]}")
        elif colon and key not in _DROPPED:
            element.set(key, value.removesuffix("px") if key == "font-size" else value)
    if classes:
        element.set("class", " ".join(classes))


def _rename(element: ElementTree.Element, name: str) -> None:
    """Keep the ids that something refers to, and make them the plot's own."""
    link = element.attrib.pop(_LINK, None)
    if link:
        element.set("href", f"#{name}-{link.removeprefix('#')}")
    clip = element.get("clip-path")
    if clip:
        element.set("clip-path", clip.replace("#", f"#{name}-"))
    given = element.attrib.pop("id", None)
    if given and element.tag in ("path", "clipPath"):
        element.set("id", f"{name}-{given}")
