# SPDX-License-Identifier: GPL-3.0-or-later
"""What the add-on does at the service, without Blender: send a copy and get its price, look,
start, follow, bring the frames back. Only start spends, and starting a quote again gives the
same job. Each function may be called again after any failure."""

import os
import re
import shutil
import time
import zipfile

from . import files
from .jobs import ENDED, FETCHED, RUNNING
from .project import Project
from .scenecopy import Stopped
from .svc_render import LEGAL_V1, SvcError
from .svc_render.transfer import PART

#: Seconds between two pictures of frames that came back, at least.
PICTURE_SECONDS = 1.0


class Damaged(SvcError):
    """The ZIP has not what its receipt says."""


def price(client, path, frames, progress, stop):
    """Sends a file and returns its locked quote. ``frames`` is what the SDK takes, such as
    "1-50x5" or a number, or None for the scene's own range. ``progress`` gets the bytes sent and
    all bytes. A file larger than a part is sent in parts; after a failure, only the missing parts
    are sent again."""
    moved = stoppable(progress, stop)
    if os.path.getsize(path) <= PART:
        return client.inspect(path, frames=frames, progress=moved)
    return client.inspect_project(os.path.dirname(path), os.path.basename(path), [], frames=frames, progress=moved)


def send(client, copy, frames, progress, stop):
    """Sends a copy that was packed, or as a project what is not. Returns its locked quote, what
    is missing, and where Blender and the service name other files (project)."""
    if copy.listed is None:
        quote = price(client, copy.path, frames, progress, stop)
        return quote, missing(quote, copy.left), []
    project = Project(copy.scene, copy.path, copy.listed)
    quote = project.price(client, frames, stoppable(progress, stop))
    return (quote, *project.told(quote))


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
    """Follows a job to its end and brings its frames back. ``tell`` gets the job, and the path
    of a small picture of its newest frame, or None; ``pictures`` is the folder for these.
    Returns the folder with the frames, or "" of a job that failed, was cancelled or stopped."""
    entry = jobs.get(quote_id)
    if entry is None:
        return ""
    job, newest, shown = {}, None, 0.0
    job_id = entry["job_id"]
    for event in client.follow(job_id, stop=stop):
        if event.type == "job":
            job = event.data
            jobs.update(quote_id, status=job["status"], frames_completed=job.get("frames_completed", 0))
        elif pictures and (time.monotonic() - shown > PICTURE_SECONDS or job.get("frames_completed", 0) < 3):
            newest = _picture(client, job_id, event.data["frame"], pictures) or newest
            shown = time.monotonic()
        tell(job, newest)
    if job.get("status") == "completed":
        folder = fetch(client, entry, stop, lambda got, total: tell(dict(job, fetched=got / max(total, 1)), newest))
        jobs.update(quote_id, stage=FETCHED, frames_folder=folder, charged_cents=job.get("charged_cents"))
        return folder
    if job.get("status") in ("failed", "cancelled"):
        why = job.get("failure") or {}
        jobs.update(quote_id, stage=ENDED, why=why.get("message") or "")
    return ""


def _picture(client, job_id, frame, folder):
    path = os.path.join(folder, "%s-%06d.jpg" % (job_id, frame))
    try:
        files.write_bytes(path, client.frame_preview(job_id, frame))
    except SvcError:
        return None  # the frame comes with the ZIP; this was a look at it
    return path


def fetch(client, entry, stop, progress):
    """Downloads the ZIP of a completed job, verifies it with its receipt, and leaves the frames
    with receipt.json, proof.json and keys.json in a folder of the job's own. Returns that."""
    folder = job_folder(entry)
    os.makedirs(folder, exist_ok=True)
    archive = os.path.join(folder, entry["job_id"] + ".zip")

    client.download(entry["job_id"], archive, progress=stoppable(progress, stop))
    # It verifies the bytes of the ZIP and of each frame in it against what was signed.
    client.verify(entry["job_id"], archive)
    unpack(archive, folder)
    job = "/node/v1/jobs/%s/" % entry["job_id"]
    for name, path in (("receipt.json", job + "receipt"), ("proof.json", job + "proof"), ("keys.json", "/v1/signing-keys")):
        files.write_bytes(os.path.join(folder, name), client.read(path))
    os.unlink(archive)
    return folder


def job_folder(entry):
    """The job's own folder below the one that was chosen: no job overwrites another's frames."""
    name = re.sub(r'[\x00-\x1f<>:"/\\|?*]', "_", entry["name"]).strip(" .") or "scene"
    return os.path.join(entry["folder"], "%s-%s" % (name[:80], entry["job_id"][-8:]))


def unpack(archive, folder):
    """Writes the frames of a ZIP into a folder, each whole, ignoring folders that the ZIP
    names."""
    with zipfile.ZipFile(archive) as whole:
        for member in whole.infolist():
            top, _, name = member.filename.partition("/")
            if top != "output" or not name or re.search(r'[/\\:\x00]', name) or name in (".", ".."):
                continue
            at = os.path.join(folder, name)
            try:
                with whole.open(member) as source, open(at + ".part", "wb") as target:
                    shutil.copyfileobj(source, target, 1 << 20)
            except zipfile.BadZipFile as cause:
                raise Damaged("%s is damaged: %s" % (name, cause)) from cause
            os.replace(at + ".part", at)


def frames_of(folder):
    """The pictures in a job's folder, by number."""
    def number(name):
        digits = re.findall(r"\d+", name)
        return int(digits[-1]) if digits else 0

    try:
        names = os.listdir(folder)
    except OSError:
        return []
    return [os.path.join(folder, name) for name in sorted(names, key=number)
            if not name.endswith((".json", ".zip", ".part")) and not name.startswith(".")]
