# SPDX-License-Identifier: GPL-3.0-or-later
"""What a person reads about jobs, money, times and errors."""

import time
import traceback

from .account import SignInNeeded
from .jobs import FETCHED
from .scenecopy import PackingFailed
from .svc_render import ConnectionFailed, SvcError

#: Why a job waits.
WAITS = {
    "no_worker_online": "waiting: no computer is online",
    "workers_unable": "waiting: no computer can render at the moment",
    "no_capable_worker": "waiting: no computer that is online can render this scene",
    "no_matching_blender": "waiting: no computer that is online has this Blender",
    "no_tagged_worker": "waiting for one of your workspace's computers",
    "workspace_limit": "waiting for your other jobs",
    "paused": "paused",
}


def money(cents, currency):
    text = "{:,.2f}".format(cents / 100)
    return "$" + text if currency in (None, "", "USD") else "%s %s" % (text, currency)


def cost(entry):
    """What an ended job cost."""
    cents = entry.get("charged_cents") or 0
    return "It cost %s." % money(cents, entry.get("currency")) if cents else "It cost nothing."


def state_of(entry, job):
    """How far an unfinished job is."""
    done, status = job.get("frames_completed") or 0, job.get("status")
    if "fetched" in job:
        return "downloading the compositor's files, %d %%" % (100 * job["fetched"])
    if job.get("waiting_reason") and not job.get("eta_seconds"):
        waits = WAITS.get(job["waiting_reason"], "waiting for a free computer")
        return "%s (%d of %s)" % (waits, done, frames_text(entry["frame_count"])) if done else waits
    if status in (None, "starting", "awaiting_submit", "queued") and not done:
        return "waiting for a free computer"
    text = "%d of %s" % (done, frames_text(entry["frame_count"]))
    return "%s, about %s left" % (text, span(job["eta_seconds"])) if job.get("eta_seconds") else text


def frames_text(count):
    return "1 frame" if count == 1 else "%d frames" % count


def span(seconds):
    """A time as people say it."""
    seconds = max(1, round(seconds))
    if seconds < 90:
        return "%d s" % seconds
    return "%d min" % round(seconds / 60) if seconds < 5400 else "%.1f h" % (seconds / 3600)


def between(low, high):
    """How long a job takes."""
    low, high = span(low), span(high)
    return "Takes about %s" % low if low == high else "Takes %s to %s" % (low, high)


def notice_of(entry):
    """What is said when a job has ended."""
    if entry["stage"] == FETCHED:
        return "%s is done: %s in %s" % (entry["name"], frames_text(entry["frame_count"]), entry["frames_folder"])
    return "%s %s. %s" % (entry["name"], "was cancelled" if entry.get("status") == "cancelled" else "failed", ended_text(entry))


def ended_text(entry):
    """Why a job has no frames, and what it cost."""
    here = entry.get("frames_here") or 0
    kept = "%s came before that and %s in the folder." % (frames_text(here).capitalize(), "is" if here == 1 else "are") if here else ""
    return " ".join(part for part in (entry.get("why"), cost(entry), kept) if part)


def words(error):
    """An error as a person reads it."""
    if isinstance(error, (SignInNeeded, PackingFailed, RuntimeError)):
        return str(error)
    if isinstance(error, OSError) and error.filename:
        return "%s: %s" % (error.filename, error.strerror)
    if isinstance(error, ConnectionFailed):
        return "The service cannot be reached (%s)." % (error.__cause__ or error)
    message = getattr(error, "message", "")
    if message:
        return " ".join(part for part in (message, getattr(error, "suggested_action", "")) if part)
    if isinstance(error, SvcError):
        return str(error)
    traceback.print_exc()
    return "%s: %s" % (type(error).__name__, error)


def settings_text(settings):
    """In what an order differs from the file."""
    said = (("scene", "scene %s"), ("camera", "camera %s"), ("view_layer", "view layer %s"), ("resolution_percentage", "%s %% of the resolution"))
    parts = [form % settings[name] for name, form in said if settings.get(name)]
    if settings.get("samples"):
        parts.append("1 sample" if settings["samples"] == 1 else "%d samples" % settings["samples"])
    if settings.get("ocio"):
        parts.append("colours of %s" % settings["ocio"].rsplit("/", 1)[-1])
    text = ", ".join(parts)
    return text[:1].upper() + text[1:]


def when(seconds):
    """A moment in this computer's time, with its year if that is another one."""
    at = time.localtime(seconds)
    return time.strftime("%d %b, %H:%M" if at.tm_year == time.localtime().tm_year else "%d %b %Y, %H:%M", at).lstrip("0")
