"""Bytes of files, to the service and back."""

from __future__ import annotations

import hashlib
import math
import os
import re
import secrets
import time
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from typing import Any, BinaryIO, Callable, Dict, Iterable, Iterator, List, Mapping, NamedTuple, Optional, Union
from urllib.parse import urljoin

from .errors import ApiError, ConnectionFailed, DownloadChanged, FileChanged, SvcError
from .transport import FIRST_WAIT, Answer, Body, Transport, passing

CHUNK = 256 << 10
#: The largest part of a project's file, bytes.
PART = 32 << 20

Path = Union[str, "os.PathLike[str]"]
Progress = Callable[[int, int], None]


def file_chunks(path: Path, start: int, size: int, sent: Callable[[int], None]) -> Iterator[bytes]:
    """``size`` bytes of a file. A file that has fewer, or cannot be read, is no fault of the
    network, so it is not tried again."""
    try:
        with open(path, "rb") as file:
            file.seek(start)
            left = size
            while left:
                chunk = file.read(min(CHUNK, left))
                if not chunk:
                    raise FileChanged("%s became shorter while it was sent" % os.fspath(path))
                left -= len(chunk)
                yield chunk
                sent(size - left)
    except OSError as cause:
        raise FileChanged("%s cannot be read: %s" % (os.fspath(path), cause)) from cause


def upload_body(scene: Union[Path, bytes], filename: str, fields: Mapping[str, str], progress: Optional[Progress]) -> Callable[[], Body]:
    """The form of an upload, made again for each try. The frames stand before the file, so that
    the server knows them while it reads the scene."""
    size = len(scene) if isinstance(scene, bytes) else os.path.getsize(scene)
    boundary = secrets.token_hex(16)
    head = "".join('--%s\r\nContent-Disposition: form-data; name="%s"\r\n\r\n%s\r\n' % (boundary, name, value)
                   for name, value in fields.items())
    safe = filename.replace("\\", "\\\\").replace('"', '\\"').replace("\r", "").replace("\n", "")
    head += ('--%s\r\nContent-Disposition: form-data; name="file"; filename="%s"\r\n'
             "Content-Type: application/octet-stream\r\n\r\n" % (boundary, safe))
    before, after = head.encode("utf-8"), ("\r\n--%s--\r\n" % boundary).encode("ascii")

    def source(sent: Callable[[int], None]) -> Iterator[bytes]:
        if not isinstance(scene, bytes):
            yield from file_chunks(scene, 0, size, sent)
            return
        for start in range(0, size, CHUNK):
            yield scene[start:start + CHUNK]
            sent(min(start + CHUNK, size))

    def chunks() -> Iterator[bytes]:
        yield before
        yield from source(lambda sent: progress(sent, size) if progress else None)
        yield after

    return lambda: Body(chunks(), len(before) + size + len(after), "multipart/form-data; boundary=" + boundary)


class ProjectFile(NamedTuple):
    """One file of a project, with the hashes that its bytes had when it was listed."""

    path: str  # in the project: relative, with "/", in UTF-8 NFC
    at: str  # where it is on this disk
    size: int
    parts: List[str]  # SHA-256 of each part of 32 MiB, the last one shorter


def list_project(root: Path, paths: Mapping[str, Path]) -> List[ProjectFile]:
    """Reads the files of a project and hashes them. ``paths`` says where each lies, from
    ``root``."""
    listed = []
    for path, place in paths.items():
        at, parts, size = os.path.join(os.fspath(root), os.fspath(place)), [], 0
        with open(at, "rb") as file:
            while True:
                part, in_part = hashlib.sha256(), 0
                while in_part < PART:
                    chunk = file.read(min(CHUNK, PART - in_part))
                    if not chunk:
                        break
                    part.update(chunk)
                    in_part += len(chunk)
                if not in_part:
                    break
                size += in_part
                parts.append(part.hexdigest())
        listed.append(ProjectFile(unicodedata.normalize("NFC", path), at, size, parts))
    return sorted(listed)


def send_parts(transport: Transport, files: List[ProjectFile], missing: Iterable[str], progress: Optional[Progress],
               at_once: int = 4) -> None:
    """Uploads the parts that are missing on the service, several at a time,
    each once."""
    wanted, found = set(missing), []
    for file in files:
        for index, digest in enumerate(file.parts):
            if digest in wanted:
                wanted.discard(digest)
                found.append((file, digest, index * PART, min(PART, file.size - index * PART)))
    if wanted:
        raise SvcError("the service asks for %d parts that the project does not have" % len(wanted))
    total, arrived = sum(size for _, _, _, size in found), [0]

    def send(part: Any) -> int:
        file, digest, start, size = part

        def body() -> Body:
            return Body(file_chunks(file.at, start, size, lambda _: None), size, "application/octet-stream")

        try:
            transport.json("PUT", "/node/v1/parts/" + digest, body=body)
        except ApiError as error:
            if error.code == "content_hash_mismatch":
                raise FileChanged("%s was changed while the project was sent" % file.path) from error
            raise
        return int(size)

    with ThreadPoolExecutor(at_once) as pool:
        for size in pool.map(send, found):
            arrived[0] += size
            if progress:
                progress(arrived[0], total)


class Source(NamedTuple):
    """A file of the service that arrives over as many connections as break."""

    size: int
    sha256: str
    #: Begins one try with these headers.
    open: Callable[[Dict[str, str]], Answer]
    #: Refusals that another try may overcome, besides those that pass.
    again: Callable[[SvcError], bool]
    #: Prepares another try.
    renew: Callable[[], None]
    #: Whether the service states the SHA-256 as its ETag: a store elsewhere may send a ZIP.
    tagged: bool


def download(transport: Transport, artifact_of: Callable[[], Dict[str, Any]], path: Path, progress: Optional[Progress]) -> Dict[str, Any]:
    """Fetches a ZIP to ``path``, where it appears whole or not at all."""
    artifact = artifact_of()
    link = [str(artifact["url"])]

    def renew() -> None:
        link[0] = str(artifact_of()["url"])  # links live for a while only

    source = Source(int(artifact["size_bytes"]), str(artifact["sha256"]), lambda headers: follow_link(transport, link[0], headers),
                    link_ended, renew, False)
    save_source(transport, source, os.fspath(path), progress)
    return dict(artifact, url=link[0])


def save_frame(transport: Transport, url: str, path: str, size: int, want: str) -> None:
    """Fetches a file of an accepted frame to ``path``, where it appears whole or not at all."""
    save_source(transport, Source(size, want, lambda headers: transport.open("GET", url, headers), no_such_range, lambda: None, True), path)


def save_source(transport: Transport, source: Source, path: str, progress: Optional[Progress] = None) -> None:
    """Fetches a file, unless it is there. A broken download leaves its bytes next to it, in a file
    with ".part" at its end, from which a later call resumes."""
    want = source.sha256
    if len(want) != 64:
        raise SvcError("the service gave no SHA-256 of the download")
    if os.path.exists(path) and sha256_of(path) == want:
        return
    part = "%s.%s.part" % (path, want[:12])  # the hash separates parts of different files
    try:
        with open(part, "a+b") as file:
            fill(transport, source, file, progress)
            file.flush()
            os.fsync(file.fileno())
        found = sha256_of(part)
        if found != want:
            raise DownloadChanged("the download has the SHA-256 %s, the service promised %s" % (found, want))
    except DownloadChanged:
        os.remove(part)
        raise
    os.replace(part, path)


def fill(transport: Transport, source: Source, file: BinaryIO, progress: Optional[Progress]) -> None:
    """Fetches until everything is there, over as many connections as bring something."""
    attempt, limited = 1, 0.0
    while True:
        before = file.seek(0, os.SEEK_END)
        try:
            fetch(source, file, progress)
            return
        except SvcError as error:
            if file.seek(0, os.SEEK_END) > before:
                attempt, limited = 1, 0.0  # only tries without new bytes count
            wait = transport.limit(error, limited)
            if wait:
                limited += wait
                transport.sleep(wait)  # the link still works
                continue
            if attempt >= transport.attempts or not (passing(error) or source.again(error)):
                raise
            transport.pause(attempt, error)
        attempt += 1
        source.renew()


def fetch(source: Source, file: BinaryIO, progress: Optional[Progress]) -> None:
    """Appends the missing bytes over one connection, never more than the file's size in all."""
    have, size = file.seek(0, os.SEEK_END), source.size
    if have > size:
        file.truncate(0)
        have = 0
    if have == size:
        return
    headers = {"Accept": "*/*"}
    if have:
        headers["Range"] = "bytes=%d-" % have
        if source.tagged:
            headers["If-Range"] = '"%s"' % source.sha256
    with source.open(headers) as answer:
        tag = re.fullmatch('(?:W/)?"([0-9a-f]{64})"', answer.headers.get("ETag", ""))  # proxies may weaken it
        if source.tagged and answer.status < 300 and tag and tag[1] != source.sha256:
            raise DownloadChanged("the file has the SHA-256 %s now, the service promised %s" % (tag[1], source.sha256))
        if answer.status == 206:
            if not answer.headers.get("Content-Range", "").startswith("bytes %d-" % have):
                raise ConnectionFailed(answer.call, ValueError("the server sent another range than was asked for"), True)
        elif answer.status == 200:
            file.truncate(0)
            have = 0
        else:
            if answer.status == 416:
                file.truncate(0)
            raise answer.refusal()
        while have < size:
            chunk = answer.read(min(CHUNK, size - have))
            if not chunk:
                raise ConnectionFailed(answer.call, EOFError("the download was cut off at byte %d" % have), True)
            file.write(chunk)
            have += len(chunk)
            if progress:
                progress(have, size)


def save_movie(transport: Transport, url: str, path: Path, longest: float = math.inf) -> None:
    """Fetches a movie to ``path``, where it appears whole or not at all. It waits ``longest``
    seconds at most for it to be encoded."""
    part = os.fspath(path) + ".part"
    end = time.monotonic() + longest
    while True:
        try:
            transport.repeat(lambda: fetch_whole(transport, url, part))
            break
        except ApiError as error:
            if error.code != "movie_not_ready" or time.monotonic() > end:
                raise
            transport.sleep(max(error.retry_after, FIRST_WAIT))
    os.replace(part, path)


def fetch_whole(transport: Transport, url: str, part: str) -> None:
    """One try to fetch a movie whole into ``part``."""
    try:
        with transport.open("GET", url, {"Accept": "*/*"}) as answer, open(part, "wb") as file:
            if answer.status != 200:
                raise answer.refusal()
            for chunk in iter(lambda: answer.read(CHUNK), b""):
                file.write(chunk)
            declared = answer.headers.get("Content-Length", "")
            if declared.isdecimal() and file.tell() < int(declared):
                raise ConnectionFailed(answer.call, EOFError("the answer was cut off"), True)
    except BaseException:
        if os.path.exists(part):
            os.remove(part)
        raise


def follow_link(transport: Transport, link: str, headers: Dict[str, str]) -> Answer:
    """Opens a signed link, over a few redirects, without the key."""
    for _ in range(5):
        answer = transport.open("GET", link, headers, keyed=False)
        target = answer.headers.get("Location")
        if answer.status not in (301, 302, 303, 307, 308) or not target:
            return answer
        with answer:
            link = urljoin(link, target)
    raise SvcError("the download's link redirects without an end")


def link_ended(error: SvcError) -> bool:
    """The answers of an expired link. Anywhere else they are final refusals."""
    return isinstance(error, ApiError) and error.status in (401, 403, 404, 410, 416)


def no_such_range(error: SvcError) -> bool:
    """The file has no bytes where the part ends: the part begins again."""
    return isinstance(error, ApiError) and error.status == 416


def sha256_of(path: str) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        for chunk in iter(lambda: file.read(CHUNK), b""):
            digest.update(chunk)
    return digest.hexdigest()
