"""Fetches files of benchmarks from where they are published, whole, verified, and going on where it ended.

`huggingface-hub` says what is at the hub (commit, sizes, checksums, licence) and lets in by ``HF_TOKEN``.
The bytes are read here: that package begins a file anew where a process was killed, and does not verify it.
"""

import hashlib
import os
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from glob import escape
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote, urlsplit

from kgqa.addresses import server_of_url
from kgqa.evaluation.datasets.format import DatasetError
from kgqa.evaluation.datasets.sources import Part, Source
from kgqa.files import MAX_FILE_BYTES
from kgqa.kg.terms import one_line

GITHUB_FILES = "https://raw.githubusercontent.com"  # ``KGQA_GITHUB`` names another place with the same paths
SECONDS_TO_CONNECT = 10.0
SECONDS_OF_SILENCE = 60.0  # of a server that has begun to send
BLOCK_BYTES = 1 << 20
MAX_ATTEMPTS = 5  # times in a row that a file is asked for without a byte of it coming
SECONDS_BETWEEN_ATTEMPTS = 1.0
SPARE_BYTES = 1 << 24  # of the disk, to be left free

Watcher = Callable[[str, int, int | None], None]
"""Told the name of a file, how many bytes of it are here, and how many there are."""


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file as it is published; ``checksum`` is a SHA-256, or the id that git has for its content."""

    path: str
    address: str | Path
    bytes: int | None = None
    checksum: str | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """What is published: the files of a part, the commit that they are of, and the licence that is stated."""

    files: tuple[RemoteFile, ...]
    revision: str
    licence: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


def checksum(path: Path, like: str | None = None) -> str:
    """Return the checksum of a file: the id of git for one that is as long as such an id, else the SHA-256.

    >>> checksum(Path(os.devnull)), checksum(Path(os.devnull), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391")
    ... # doctest: +ELLIPSIS
    ('e3b0c44298fc...', 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391')
    """
    if like is None or len(like) != 40:
        digest = hashlib.sha256()
    else:
        digest = hashlib.sha1(b"blob %d\0" % path.stat().st_size, usedforsecurity=False)
    with path.open("rb") as file:
        while block := file.read(BLOCK_BYTES):
            digest.update(block)
    return digest.hexdigest()


def list_files(source: Source, part: Part, revision: str) -> Listing:
    """Ask the publisher which files a part has now; a DatasetError says why it cannot be asked."""
    if source.host == "github":
        base = os.environ.get("KGQA_GITHUB", GITHUB_FILES).rstrip("/")
        names = (*part.files, *([part.graph] if part.graph else []))
        return Listing(
            tuple(
                RemoteFile(
                    name,
                    f"{base}/{source.repository}/{revision}/{quote(name)}",
                    checksum=source.checksums.get(name),
                )
                for name in names
            ),
            revision,
        )
    return _list_hub(source, part, revision)


def _list_hub(source: Source, part: Part, revision: str) -> Listing:
    try:
        from huggingface_hub import HfApi, get_token, hf_hub_url
        from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, OfflineModeIsEnabled
    except ImportError:
        raise DatasetError(
            f"{source.name} is at the Hugging Face hub, which needs: pip install 'kgqa[hub]'"
        ) from None
    api = HfApi(endpoint=os.environ.get("HF_ENDPOINT") or None, library_name="kgqa")
    try:
        info = api.dataset_info(
            source.repository, revision=revision, files_metadata=True, timeout=SECONDS_TO_CONNECT
        )
    except OfflineModeIsEnabled:
        raise DatasetError(
            f"{source.name} is not here, and HF_HUB_OFFLINE forbids to fetch it; unset it, "
            "or name a folder that has the files (--from)"
        ) from None
    except GatedRepoError:
        raise DatasetError(
            f"{source.place} wants you to accept its terms; do so there, and set HF_TOKEN"
        ) from None
    except HfHubHTTPError as error:
        said = one_line(str(error), 200)
        raise DatasetError(
            f"the hub at {server_of_url(api.endpoint)} does not give {source.repository}: {said}"
        ) from None
    except Exception as error:  # of whichever HTTP client the package has
        raise DatasetError(_unreachable(api.endpoint, error, "HF_ENDPOINT")) from None
    commit = info.sha or revision
    found = []
    for each in info.siblings or ():
        within = ".." not in PurePosixPath(each.rfilename).parts  # a name that leads elsewhere is nobody's
        if within and any(fnmatchcase(each.rfilename, pattern) for pattern in part.files):
            stated = each.lfs.sha256 if each.lfs else each.blob_id
            address = hf_hub_url(
                source.repository, each.rfilename, repo_type="dataset", revision=commit, endpoint=api.endpoint
            )
            known = source.checksums.get(each.rfilename, stated)
            found.append(RemoteFile(each.rfilename, address, each.size, known))
    if not found:
        raise DatasetError(
            f"{source.repository} has no {' or '.join(part.files)} any more; see {source.place}"
        )
    card: Any = info.card_data
    licence = card.get("license") if card else None
    token = get_token()
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return Listing(tuple(found), commit, str(licence) if licence else None, headers)


def fetch(remote: RemoteFile, target: Path, headers: Mapping[str, str], watch: Watcher) -> str:
    """Fetch one file, from where an earlier try ended, or copy it, and return its checksum.

    What has come so far lies beside its place, under a name with the checksum that it is to have.

    Raises:
        DatasetError: if it cannot be had, is not what is published, or the disk is full.
    """
    partial = target.with_name(f".{target.name}.{(remote.checksum or 'unknown')[:12]}.part")
    with writing(target, "what has come so far stays: make room, and repeat the command"):
        target.parent.mkdir(parents=True, exist_ok=True)
        for other in target.parent.glob(f".{escape(target.name)}.*.part"):
            if other != partial:  # of a file that is published no more
                other.unlink()
        went_on = partial.exists()
        _check_room(remote, partial)
        _bring(remote, partial, headers, watch)
        found = checksum(partial, remote.checksum)
        if remote.checksum and found != remote.checksum and went_on:  # what was there may be of another file
            partial.unlink()
            _bring(remote, partial, headers, watch)
            found = checksum(partial, remote.checksum)
        if remote.checksum and found != remote.checksum:
            partial.unlink()
            raise DatasetError(
                f"{remote.path} is not what was published: its checksum is {found}, not {remote.checksum}; "
                "it was not kept: fetch it again, or from another place"
            )
        os.replace(partial, target)
    return found


@contextmanager
def writing(path: Path, advice: str = "make room, and repeat the command") -> Iterator[None]:
    """Turn what the disk refuses into a DatasetError of one line."""
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        where, why = (getattr(error, key, None) for key in ("filename", "strerror"))
        raise DatasetError(f"cannot write {where or path}: {why or error}; {advice}") from None


def _bring(remote: RemoteFile, partial: Path, headers: Mapping[str, str], watch: Watcher) -> None:
    if isinstance(remote.address, Path):
        shutil.copyfile(remote.address, partial)
        watch(remote.path, remote.bytes or 0, remote.bytes)
    else:
        _download(remote, remote.address, partial, headers, watch)


def _check_room(remote: RemoteFile, partial: Path) -> None:
    """Raise DatasetError where a file has no room on the disk."""
    here = partial.stat().st_size if partial.exists() else 0
    needed, free = (remote.bytes or 0) - here, shutil.disk_usage(partial.parent).free
    if needed + SPARE_BYTES > free:
        raise DatasetError(
            f"{remote.path} takes {needed / 1e6:,.0f} MB and {partial.parent} has {free / 1e6:,.0f} MB left; "
            "make room, or set KGQA_HOME to a folder on another disk"
        )


def _download(
    remote: RemoteFile, address: str, partial: Path, headers: Mapping[str, str], watch: Watcher
) -> None:
    """Read a file to its end, asking for the rest of it where a connection breaks."""
    import httpx

    timeout = httpx.Timeout(SECONDS_OF_SILENCE, connect=SECONDS_TO_CONNECT)
    given = {**headers, "Accept-Encoding": "identity"}
    lasting = (httpx.ConnectError, httpx.InvalidURL, httpx.TooManyRedirects, httpx.UnsupportedProtocol)
    failures = 0
    with httpx.Client(timeout=timeout, follow_redirects=True, headers=given) as client:
        while True:
            before = partial.stat().st_size if partial.exists() else 0
            try:
                return _read_rest(client, remote, partial, before, watch)
            except httpx.HTTPStatusError as error:
                status = error.response.status_code
                if status < 500 and status not in (408, 429):
                    said = f"{error.response.status_code} {error.response.reason_phrase}"
                    raise DatasetError(f"{server_of_url(address)} cannot be had: {said}") from None
                why: Exception = error
            except (httpx.RequestError, httpx.InvalidURL) as error:
                why = error
            came = partial.exists() and partial.stat().st_size > before
            failures = 0 if came else failures + 1
            if failures == MAX_ATTEMPTS or (failures and isinstance(why, lasting)):
                setting = "KGQA_GITHUB" if remote.bytes is None else "HF_ENDPOINT"
                raise DatasetError(_unreachable(address, why, setting)) from None
            time.sleep(SECONDS_BETWEEN_ATTEMPTS * failures)


def _read_rest(client: Any, remote: RemoteFile, partial: Path, here: int, watch: Watcher) -> None:
    """Ask for what is not here, and write it as it comes."""
    import httpx

    if here and here == remote.bytes:
        return
    asked = {"Range": f"bytes={here}-"} if here else {}
    with client.stream("GET", str(remote.address), headers=asked) as response:
        if response.status_code == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE:  # it is whole, or of another
            if response.headers.get("Content-Range") == f"bytes */{here}":
                return
            partial.unlink()
            raise httpx.RemoteProtocolError("the server has less of the file than is here")
        response.raise_for_status()
        goes_on = response.status_code == httpx.codes.PARTIAL_CONTENT
        if goes_on and not response.headers.get("Content-Range", "").startswith(f"bytes {here}-"):
            partial.unlink()
            raise httpx.RemoteProtocolError("the server sent another part of the file")
        length = response.headers.get("Content-Length", "")
        stated = int(length) + (here if goes_on else 0) if length.isdigit() else None
        whole = remote.bytes or stated
        most = whole or MAX_FILE_BYTES
        with partial.open("ab" if goes_on else "wb") as file:
            size = here if goes_on else 0
            watch(remote.path, size, whole)
            for block in response.iter_raw():
                file.write(block)
                size += len(block)
                watch(remote.path, size, whole)
                if size > most:
                    break
        if size > most:
            partial.unlink()
        if size > most or (whole and size != whole):
            raise httpx.RemoteProtocolError(f"{size:,} bytes came, not {most:,}")


def _unreachable(address: str, error: Exception, setting: str) -> str:
    with suppress(ValueError):  # a bracket that is not closed
        address = urlsplit(address).netloc or address
    host = address.rpartition("@")[2]
    return (
        f"cannot reach {host} ({one_line(str(error) or type(error).__name__, 120)}); look at the network, "
        f"name a mirror ({setting}), or a folder that has the files (--from)"
    )
