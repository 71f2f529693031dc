"""Frames of a job in a folder, as they are accepted."""

from __future__ import annotations

import json
import os
import re
import threading
from typing import TYPE_CHECKING, Any, Callable, Dict, Generator, Iterator, List, NamedTuple, Optional, Union
from urllib.parse import quote, urlencode

from . import transfer
from .errors import ApiError, DownloadChanged, JobEnded, SvcError
from .folder import KEYS, MOVIE, ORIGINS, OUTPUTS, PROOF, RECEIPT, verify_folder
from .receipt import is_output_name
from .transport import Transport

if TYPE_CHECKING:
    from .client import Client
    from .wire import AcceptedFrame, Frame, Job


class SavedFrame(NamedTuple):
    """A frame that is in the folder."""

    frame: int
    path: str


class Rendering:
    """A job whose frames come into a folder while somebody iterates over it."""

    def __init__(self, client: Client, job: Job, folder: transfer.Path) -> None:
        self.job, self.folder = job, os.fspath(folder)
        self._frames = client.sync(job["job_id"], folder)

    def __iter__(self) -> Iterator[SavedFrame]:
        return self._frames

    def wait(self) -> str:
        """Waits for all frames, and returns the folder."""
        for _ in self._frames:
            pass
        return self.folder


def sync(client: Client, transport: Transport, path: str, job_id: str, folder: transfer.Path,
         tell: Optional[Callable[[Job], None]] = None, stop: Optional[threading.Event] = None) -> Generator[SavedFrame, None, Job]:
    """Client.sync without the movie. ``tell`` gets the job when it has changed. ``stop`` ends it
    after the frame that is being saved; the same call again continues. It returns the job."""
    folder = os.fspath(folder)
    os.makedirs(folder, exist_ok=True)
    saved: Dict[int, List[str]] = {}
    job: Job = {}
    for event in client.follow(job_id, stop=stop):
        if event.type == "job":
            job = event.data
            if tell:
                tell(job)
        elif event.type == "frame":
            try:
                frame = _save(transport, path, folder, event.data, saved)
            except DownloadChanged:
                continue  # it is rendered again, and comes again
            if frame:
                yield frame
    for entry in client.frames(job_id):
        if stop and stop.is_set():
            return job
        frame = _save(transport, path, folder, entry, saved)
        if frame:
            yield frame
    if stop and stop.is_set():
        return job
    if job.get("status") != "completed":
        raise JobEnded(job)
    _write(folder, RECEIPT, client.read(path + "/receipt"))
    _save_origins(client, path.rpartition("/")[0], folder)
    _write(folder, PROOF, client.read(path + "/proof"))
    _write(folder, KEYS, json.dumps({"ok": True, "keys": client.signing_keys()}).encode("utf-8"))
    report = verify_folder(folder, test=transport.test_mode, pixels=False)  # the bytes came from the service that signs
    if report.receipt["job_id"] != job_id:
        raise SvcError("the service sent the receipt of job %s" % report.receipt["job_id"])
    return job


def save_movie(transport: Transport, path: str, job: Job, folder: transfer.Path) -> None:
    """Puts the movie of a completed job into its folder, if the scene's output is one. The frames
    are complete without it, so a movie that is not encoded in time is no error."""
    if not job.get("movie_url"):
        return
    longest = min(60 + job["frame_count"] / 2, 600)  # workers encode only while no frame waits for them
    try:
        transfer.save_movie(transport, path + "/movie", os.path.join(os.fspath(folder), MOVIE), longest)
    except ApiError:
        pass


def _save(transport: Transport, path: str, folder: str, frame: Union[Frame, AcceptedFrame], saved: Dict[int, List[str]]) -> Optional[SavedFrame]:
    """Fetches a frame with its outputs, as far as they are not there; None for one that was told before."""
    number, name, outputs = int(frame["frame"]), str(frame["file"]), frame.get("outputs", [])
    hashes = [str(frame["sha256"]), *(output["sha256"] for output in outputs)]
    if saved.get(number) == hashes:
        return None
    if name in ("", ".", "..") or os.path.basename(name) != name or "\\" in name:
        raise SvcError("the service names frame %d %r, which is not a file name" % (number, name))
    file = "%s/frames/%d/file" % (path, number)
    for output in outputs:
        if not is_output_name(output["name"]):
            raise SvcError("the service names an output of frame %d %r, which is not a safe path" % (number, output["name"]))
        to = os.path.join(folder, OUTPUTS, *output["name"].split("/"))
        os.makedirs(os.path.dirname(to), exist_ok=True)
        transfer.save_frame(transport, file + "?" + urlencode({"output": output["name"]}), to, output["size_bytes"], output["sha256"])
    at = os.path.join(folder, name)
    transfer.save_frame(transport, file, at, int(frame["size_bytes"]), hashes[0])
    saved[number] = hashes
    return SavedFrame(number, at)


def _save_origins(client: Client, jobs: str, folder: str) -> None:
    """Saves the receipts that frames were taken over from. One that the service no longer has is
    left out: verify_folder then says that the check "reused" was not made."""
    with open(os.path.join(folder, RECEIPT), "rb") as file:
        origins = json.load(file).get("origins", [])
    for origin in origins:
        if not re.match(r"RCT-[0-9A-Za-z]+\Z", origin["receipt_id"]):
            raise SvcError("the service names an earlier receipt %r, which is no id of one" % origin["receipt_id"])
        try:
            earlier = client.read("%s/%s/receipt" % (jobs, quote(origin["job_id"], safe="")))
        except ApiError as error:
            if error.code not in ("render_not_found", "artifact_expired"):
                raise
            continue
        os.makedirs(os.path.join(folder, ORIGINS), exist_ok=True)
        _write(folder, os.path.join(ORIGINS, origin["receipt_id"] + ".json"), earlier)


def _write(folder: str, name: str, content: bytes) -> None:
    part = os.path.join(folder, name + ".part")
    with open(part, "wb") as file:
        file.write(content)
    os.replace(part, os.path.join(folder, name))
