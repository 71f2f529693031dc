# SPDX-License-Identifier: GPL-3.0-or-later
"""What the add-on does at the service, without Blender: send a copy and get its price, look,
start, follow, bring the frames back as they are accepted. Only start spends, and starting a
quote again gives the same job. Each function may be called again after any failure."""

import contextlib
import os
import re
import shutil
import time
import zipfile

from . import files
from .jobs import ENDED, FETCHED, RUNNING
from .project import Project
from .scenecopy import Stopped
from .svc_render import LEGAL_V1, JobEnded, SvcError, save
from .svc_render.transfer import PART

#: Seconds between two pictures of frames that came back, at least.
PICTURE_SECONDS = 1.0


class Damaged(SvcError):
    """The ZIP does not have what its receipt says."""


def price(client, path, frames, progress, stop, settings=None):
    """Sends a file and returns its locked quote. ``frames`` is what the SDK takes, such as
    "1-50x5" or a number, or None for the scene's own range; ``settings`` too. ``progress`` gets the
    bytes sent and all bytes. A file larger than a part is sent in parts; after a failure, only the
    missing parts are sent again."""
    moved = stoppable(progress, stop)
    if os.path.getsize(path) <= PART:
        return client.inspect(path, frames=frames, settings=settings, progress=moved)
    return client.inspect_project(os.path.dirname(path), os.path.basename(path), [], frames=frames, settings=settings, progress=moved)


def send(client, copy, frames, progress, stop, settings=None, ocio=""):
    """Sends a copy that was packed, or as a project what is not, or what is rendered with an
    OpenColorIO configuration, whose path is ``ocio``. Returns its locked quote, what is missing,
    and where Blender and the service name other files (project)."""
    packed = copy.listed is None
    if packed and not ocio:
        quote = price(client, copy.path, frames, progress, stop, settings)
        return quote, missing(quote, copy.left), []
    project = Project(copy.scene, copy.path, copy.listed, ocio)
    quote = project.price(client, frames, stoppable(progress, stop), settings)
    return (quote, missing(quote, copy.left), []) if packed else (quote, *project.told(quote))


def stoppable(progress, stop):
    def moved(done, total):
        if stop.is_set():
            raise Stopped
        progress(done, total)

    return moved


def look(client, quote, frame, path):
    """Orders a free preview of a frame, writes its picture, a JPEG, to ``path``, and returns
    the preview. One that failed has no picture, and says why."""
    seen = client.preview(quote, frame)
    if seen["status"] == "ready":
        files.write_bytes(path, client.preview_image(seen))
    return seen


def missing(quote, left):
    """What the service misses of a scene, by the service's list, each with ``text`` and, where
    the copy's report knows it, the datablock: ``collection`` and ``name``."""
    by_path = {one["stored"]: one for one in left}
    listed = []
    for one in quote.get("scene", {}).get("missing_files") or []:
        path = one.get("path", "")
        known = by_path.get(path, {})
        listed.append({"text": os.path.basename(re.split(r"[\\/]", known.get("path", path))[-1]) or path, "kind": one.get("kind", ""),
                       "path": known.get("path", path), "owner": one.get("owner", ""),
                       "collection": known.get("collection", ""), "name": known.get("name", "")})
    return listed


def start(client, jobs, server, quote, name, folder, max_cents=None):
    """Spends: starts a quote whose price and terms the person has accepted; the service refuses
    one above ``max_cents``. The job is noted first, so that it is found again when Blender ends in
    the middle."""
    jobs.add(server, quote, name, folder)
    try:
        job = client.start(quote, legal_acceptance=LEGAL_V1, max_cents=max_cents)
    except SvcError as error:
        if getattr(error, "code", ""):
            jobs.remove(quote["quote_id"])  # the service refused: there is no job
        raise
    jobs.update(quote["quote_id"], stage=RUNNING, job_id=job["job_id"], status=job["status"])
    return job


def find_started(client, jobs, entry):
    """Completes the entry of a start whose answer was lost with Blender: the service knows
    whether the quote became a job. Nothing is started here."""
    found = next((job for job in client.jobs(limit=200) if job.get("quote_id") == entry["quote_id"]), None)
    if found:
        jobs.update(entry["quote_id"], stage=RUNNING, job_id=found["job_id"], status=found["status"])
    else:
        jobs.remove(entry["quote_id"])
    return found


def follow(client, jobs, quote_id, tell, stop, pictures=None):
    """Follows a job to its end. Each frame is saved in the job's folder as soon as it is accepted,
    with the SHA-256 that the service tells, and the same call again continues. ``tell`` gets the
    job, with ``frames_here``, and the path of a small picture of its newest frame, or None;
    ``pictures`` is the folder for these. Returns the folder with the frames, or "" of a job that
    failed, was cancelled or stopped."""
    entry = jobs.get(quote_id)
    if entry is None:
        return ""
    job_id, folder = entry["job_id"], job_folder(entry)
    seen = _Seen(client, jobs, entry, tell, pictures)
    jobs.update(quote_id, frames_folder=folder)
    try:
        for frame in save.sync(client, client._transport, client._job(job_id), job_id, folder, seen.job, stop):
            seen.frame(frame)
    except JobEnded as ended:
        why = ended.job.get("failure") or {}
        seen.ends(stage=ENDED, why=why.get("message") or "", charged_cents=ended.job.get("charged_cents", 0))
        return ""
    if stop.is_set():
        return ""
    if not outputs_are_here(folder):
        fetch_outputs(client, job_id, folder, stop, lambda got, total: seen.told(fetched=got / max(total, 1)))
    seen.ends(stage=FETCHED, charged_cents=seen.now.get("charged_cents"))
    return folder


class _Seen:
    """What is known of a job while it is followed."""

    def __init__(self, client, jobs, entry, tell, pictures):
        self.client, self.jobs, self.entry, self.tell, self.pictures = client, jobs, entry, tell, pictures
        self.now, self.here, self.picture, self.shown = {}, 0, entry.get("picture"), 0.0

    def job(self, job):
        self.now = job
        self.jobs.update(self.entry["quote_id"], status=job["status"], frames_completed=job.get("frames_completed", 0))
        self.told()

    def frame(self, frame):
        self.here += 1
        if self.pictures and (self.here < 3 or time.monotonic() - self.shown > PICTURE_SECONDS):
            self.look_at(frame.frame)
        self.told()

    def look_at(self, frame):
        """Replaces the small picture."""
        path = os.path.join(self.pictures, "%s-%06d.jpg" % (self.entry["job_id"], frame))
        try:
            files.write_bytes(path, self.client.frame_preview(self.entry["job_id"], frame))
        except SvcError:
            return  # the frame itself is here
        if self.picture and self.picture != path:
            with contextlib.suppress(OSError):
                os.unlink(self.picture)
        self.picture, self.shown = path, time.monotonic()

    def told(self, **members):
        self.tell(dict(self.now, frames_here=self.here, **members), self.picture)

    def ends(self, **members):
        self.jobs.update(self.entry["quote_id"], frames_here=self.here, picture=self.picture, **members)


def receipted(folder):
    """The frames by the receipt in a job's folder, which was verified when it came."""
    return ((files.read(os.path.join(folder, "receipt.json")) or {}).get("receipt") or {}).get("frames") or []


def outputs_are_here(folder):
    """Whether a job's folder has the files of File Output nodes."""
    for frame in receipted(folder):
        for output in frame.get("outputs") or []:
            path = os.path.join(folder, "outputs", *output["name"].split("/"))
            if not os.path.isfile(path) or os.path.getsize(path) != output["size_bytes"]:
                return False
    return True


def fetch_outputs(client, job_id, folder, stop, progress):
    """Downloads the ZIP of a completed job, verifies it with its receipt, and leaves the files of
    File Output nodes below "outputs", which are in no other download."""
    archive = os.path.join(folder, job_id + ".zip")
    client.download(job_id, archive, progress=stoppable(progress, stop))
    client.verify(job_id, archive, pixels=False)
    unpack(archive, folder)
    os.unlink(archive)


def numbered(folder):
    """The frames in a job's folder: number and path of each, in order. The receipt says which file
    is which frame; until it is there, the last number in a name does."""
    by_name = {frame.get("file"): frame.get("frame") for frame in receipted(folder)}
    return sorted((by_name.get(os.path.basename(path), number_in(path)), path) for path in frames_of(folder))


def number_in(path):
    digits = re.findall(r"\d+", os.path.splitext(os.path.basename(path))[0])
    return int(digits[-1]) if digits else 0


def job_folder(entry):
    """The job's own folder below the one that was chosen: no job overwrites another's frames."""
    name = re.sub(r'[\x00-\x1f<>:"/\\|?*]', "_", entry["name"]).strip(" .") or "scene"
    return os.path.join(entry["folder"], "%s-%s" % (name[:80], entry["job_id"][-8:]))


def unpack(archive, folder):
    """Writes the files of File Output nodes in a ZIP into a folder, each whole. A name that leads
    out of the folder is refused."""
    with zipfile.ZipFile(archive) as whole:
        for member in whole.infolist():
            parts = member.filename.split("/")
            if parts[0] != "outputs" or member.is_dir():
                continue
            if any(part in ("", ".", "..") or re.search(r"[\\:\x00]", part) for part in parts):
                raise Damaged("%r is not the name of a file" % member.filename)
            at = os.path.join(folder, *parts)
            os.makedirs(os.path.dirname(at), exist_ok=True)
            try:
                with whole.open(member) as source, open(at + ".part", "wb") as target:
                    shutil.copyfileobj(source, target, 1 << 20)
            except zipfile.BadZipFile as cause:
                raise Damaged("%s is damaged: %s" % (member.filename, cause)) from cause
            os.replace(at + ".part", at)


def frames_of(folder):
    """The pictures in a job's folder, by number."""
    try:
        names = [one.name for one in os.scandir(folder) if one.is_file()]
    except OSError:
        return []
    return [os.path.join(folder, name) for name in sorted(names, key=lambda name: (number_in(name), name))
            if not name.endswith((".json", ".zip", ".part")) and not name.startswith(".")]
