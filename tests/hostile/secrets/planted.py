"""Keys that are planted in every place that takes one, and the search for them in all that was written."""

import base64
import gzip
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, unquote_to_bytes

PARTS = {
    "OPENAI_API_KEY": "sk-Qz7vTr4kXw9b/+=",
    "ANTHROPIC_API_KEY": "sk-ant-Kw4zHq8nJj8q",
    "LANGSMITH_API_KEY": "lsv2_pt_Hb5xGm2vNn6",
    "HF_TOKEN": "hf_Gd2wPk7tYy9r",
    "model user": "Tc8qFn3zLl1",
    "model password": "Rm3kVt6xZb/a@Ff5",
    "model parameter": "Bx6hJw2qKn+Dd2",
    "graph user": "Wp9dXz4mSs4",
    "graph password": "Jn1vQk8rTz/a#Gg7",
    "graph parameter": "Zk5tMw3vPx&Hh3",
    "database password": "Vd7nRq5zKw/a@Cc2",
    "caller": "Mf4xTb9wPp8-0123",
}
"""What is planted, by where: words that occur nowhere else, and signs that can be written in many ways."""

SHORTEST = 8
"""Letters and digits of a key in a row that are a leak."""


def address(url: str, of: str) -> str:
    """Return an address with the user, the password and the key that are planted for ``of`` in it."""
    parts = (PARTS[f"{of} {part}"] for part in ("user", "password", "parameter"))
    user, password, key = (quote(part, safe="") for part in parts)
    return f"{url.replace('://', f'://{user}:{password}@', 1)}{'&' if '?' in url else '?'}apikey={key}"


def leaks(written: bytes, *allowed: str) -> list[str]:
    """Name the planted keys of which a part can be read in what was written, however it is encoded."""
    seen = b"\n".join(_readings(written))
    sought = {name: _tells(key) for name, key in PARTS.items() if name not in allowed}
    return [name for name, parts in sought.items() if any(part in seen for part in parts)]


def everything(folder: Path) -> bytes:
    """Return all that is in the files of a folder, and their names."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return b"\n".join(part for path in files for part in (str(path).encode(), path.read_bytes()))


def _tells(key: str) -> set[bytes]:
    """Return what gives a key away: each run of letters in it that is long enough, in all its windows."""
    words = re.findall(rf"[A-Za-z0-9]{{{SHORTEST},}}", key)
    return {word[at : at + SHORTEST].encode() for word in words for at in range(len(word) - SHORTEST + 1)}


def _readings(written: bytes) -> Iterator[bytes]:
    """Return bytes as they are, with escapes of URLs and of JSON undone, unpacked, and out of base64."""
    yield written
    plain = written.replace(rb"\/", b"/")
    plain = re.sub(rb"\\u00([0-9a-fA-F]{2})", lambda found: bytes([int(found[1], 16)]), plain)
    yield unquote_to_bytes(plain)
    for start in re.finditer(rb"\x1f\x8b\x08", written):
        try:
            yield gzip.decompress(written[start.start() :])
        except (OSError, EOFError, zlib.error):
            yield zlib.decompressobj(31).decompress(written[start.start() :])
    for found in re.finditer(rb"[A-Za-z0-9+/_-]{12,}", plain):
        token = found[0].translate(bytes.maketrans(b"-_", b"+/"))
        for skip in range(4):  # a token may stand at the end of a longer word
            piece = token[skip:]
            yield base64.b64decode(piece[: len(piece) // 4 * 4])
