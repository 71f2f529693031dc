# SPDX-License-Identifier: GPL-3.0-or-later
"""The same without a window: a farm's own pipeline renders with

    blender -b scene.blend --python-exit-code 1 --python-expr \\
      "import bpy; bpy.ops.svcrender.render(frames='1-250', folder='/renders', max_cents=300)"
"""

import os
import threading

from . import work
from .account import Account
from .jobs import STARTING, Jobs
from .scenecopy import Copy
from .texts import money


def scene_name(path):
    """What a scene is called: its file's name without ".blend"."""
    return os.path.splitext(os.path.basename(path))[0]


def default_folder(path):
    """The default folder for frames: next to the scene, or at home."""
    return os.path.join(os.path.dirname(path), "renders") if path else os.path.join(os.path.expanduser("~"), "renders")


def save_copy(copy, pack=True):
    """Saves a copy of the open scene as it is now. The open file keeps its name and its undo
    history. Where there is a window, follow it with mark_changed. Main thread only."""
    import bpy
    # One that is packed leads to the same files from where it lies; in a project it lies
    # where the open file does.
    bpy.ops.wm.save_as_mainfile(filepath=copy.path, copy=True, compress=not pack, relative_remap=pack, check_existing=False)
    if not pack:
        from . import finder
        copy.listed = finder.listed()


def mark_changed():
    """Says again that the open file has unsaved changes. Blender 3.4 takes any copy that is
    saved for the file, and would close without a question. Only a step in the undo history
    brings the mark back. Main thread only."""
    import bpy
    with bpy.context.temp_override(window=bpy.context.window_manager.windows[0]):
        bpy.ops.ed.undo_push(message="Copy for the render service")


def data_folder():
    """The add-on's own folder, in Blender's configuration."""
    import bpy
    return bpy.utils.user_resource("CONFIG", path="svc_render", create=True)


def online():
    """Whether the person lets Blender use the network; older Blenders do not ask."""
    import bpy
    return getattr(bpy.app, "online_access", True)


def check_online():
    """Error: RuntimeError while Blender must not use the network."""
    if not online():
        raise RuntimeError("Online access is off. Start Blender with --online-mode, or allow it in the preferences (System > Network).")


def render(frames="", folder="", max_cents=None, wait=True, pack=True, say=print, settings=None, ocio=""):
    """Sends and prices the open scene, starts it unless it costs more than ``max_cents``, and with
    ``wait`` brings its frames back. ``pack`` packs the files into the copy; without it they are
    sent with it. ``settings`` are what differs from the file, as the SDK takes them; ``ocio`` is of
    choices.configuration. Returns the job's entry. Errors: SvcError, RuntimeError."""
    import bpy
    from . import choices
    check_online()
    wanted, colours = frames.strip() or None, choices.configuration(ocio)
    account, jobs = Account(data_folder()), Jobs(data_folder())
    client, stop = account.client(), threading.Event()
    name = scene_name(bpy.data.filepath)
    with Copy(bpy.data.filepath) as copy:
        save_copy(copy, pack)
        copy.pack(bpy.app.binary_path, stop)
        quote, missing, differ = work.send(client, copy, wanted, lambda sent, total: None, stop, settings, colours)
        for warning in quote.get("warnings") or []:
            say("svc: %s: %s" % (warning.get("severity", "warning"), warning["message"]))
        for file in missing:
            say("svc: missing: %s (%s)" % (file["path"], file["name"] or file["owner"] or file["kind"]))
        for file in differ:
            say("svc: %s: %s (%s)" % (file["why"], file["path"], file["name"] or file["owner"] or "?"))
    say("svc: %d frames, %s" % (quote["frame_count"], money(quote["price_cents"], quote.get("currency"))))
    if max_cents is not None and quote["price_cents"] > max_cents:
        raise RuntimeError("The price is %d cents, and at most %d are allowed. Nothing was started." % (quote["price_cents"], max_cents))
    where = os.path.abspath(folder) if folder else default_folder(bpy.data.filepath)
    job = work.start(client, jobs, account.server(), quote, name or "untitled", where, max_cents)
    say("svc: started %s" % job["job_id"])
    if wait:
        finish(client, jobs, quote["quote_id"], stop, say)
    return jobs.get(quote["quote_id"])


def fetch_all(say=print):
    """Follows every job in progress, and brings its frames back."""
    check_online()
    account, jobs = Account(data_folder()), Jobs(data_folder())
    client = account.client()
    for entry in jobs.unfinished(account.server()):
        if entry["stage"] != STARTING or work.find_started(client, jobs, entry):
            finish(client, jobs, entry["quote_id"], threading.Event(), say)


def finish(client, jobs, quote_id, stop, say):
    """Follows a job to its end. Error: RuntimeError of one without frames."""
    seen = [None]

    def tell(job, _):
        told = (job.get("status"), job.get("frames_completed"))
        if job and told != seen[0]:
            seen[0] = told
            say("svc: %s, %s of %s frames" % (told[0], told[1], job.get("frame_count")))

    frames = work.follow(client, jobs, quote_id, tell, stop)
    if not frames:
        entry = jobs.get(quote_id) or {}
        raise RuntimeError("The job %s is %s. %s" % (entry.get("job_id"), entry.get("status"), entry.get("why") or ""))
    say("svc: frames are in %s" % frames)
