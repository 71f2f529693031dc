# SPDX-License-Identifier: GPL-3.0-or-later
"""What happens in this Blender: the state that the panel shows, and the threads that change
it. Threads never touch bpy; the window's timer sees by ``changes`` that there is something
new to draw."""

import os
import queue
import shutil
import tempfile
import threading
import time

from . import work
from .account import Account
from .jobs import ENDED, FETCHED, STARTING, Jobs
from .scenecopy import Stopped
from .texts import frames_text, state_of, words

#: How many jobs are followed at once; others wait.
FOLLOWED = 8
#: Seconds until a job whose following broke is followed again.
AGAIN = 30.0


class Session:
    """One for each Blender. Every member may be read by the main thread at any time; each is
    replaced as a whole."""

    def __init__(self, folder):
        self.folder = folder
        self.account, self.jobs = Account(folder), Jobs(folder)
        self.pictures = tempfile.mkdtemp(prefix="svc-render-")
        self.thumbnails = os.path.join(folder, "thumbnails")  # of jobs; they outlive Blender
        self.changes = 0
        self.doing = ""  # "", "sign in", "pack", "upload", "look", "start", "cancel"
        self.note = ""  # what went wrong last, in words
        self.code = None  # account.Code while a person must type it
        self.sent, self.total = 0, 0
        self.scene = ""  # the file that was priced
        self.quote = None
        self.missing, self.differ = [], []  # of work.send
        self.look = None
        self.look_path = ""
        self.live = {}  # quote id -> what is new of a job: job, picture
        self.ended = queue.SimpleQueue()  # entries of jobs that have ended since somebody looked
        self.changed_until = 0.0  # monotonic; until then the open file must say that it has unsaved changes
        self.closing = threading.Event()
        self._stop = threading.Event()  # of what is being done
        self._following = {}  # quote id -> thread, or the time at which to try again
        self._lock = threading.Lock()

    # One thing is done at a time.

    def do(self, doing, act):
        """Runs ``act`` in a thread; False while another action is running."""
        with self._lock:
            if self.doing:
                return False
            self.doing, self.note, self._stop = doing, "", threading.Event()
        threading.Thread(target=self._run, args=(act, self._stop), name="svc " + doing, daemon=True).start()
        self.changes += 1
        return True

    def stop(self):
        """Ends what is being done. A job that was started continues."""
        self._stop.set()

    def _run(self, act, stop):
        try:
            act(stop)
        except Stopped:
            pass
        except Exception as error:  # whatever it is, the panel must not wait for ever
            self.note = words(error)
        finally:
            self.doing, self.code, self.sent, self.total = "", None, 0, 0
            self.changes += 1

    # Signing in.

    def sign_in(self, server):
        def act(stop):
            self.code = self.account.begin(server)
            self.changes += 1
            self.account.finish(self.code, stop)

        return self.do("sign in", act)

    def sign_out(self):
        return self.do("sign out", lambda stop: self.account.sign_out())

    # The price, a look, the start.

    def price(self, copy, blender, name, frames, settings, ocio):
        """Packs a saved copy unless it is a project, sends it, and removes it in the end."""
        self.quote, self.wallet, self.look, self.look_path, self.missing, self.differ = None, None, None, "", [], []

        def act(stop):
            with copy:
                client = self.account.client()
                copy.pack(blender, stop)
                self.doing, self.total = "upload", os.path.getsize(copy.path)
                self.changes += 1
                quote, self.missing, self.differ = work.send(client, copy, frames, self._moved, stop, settings, ocio)
                self.wallet = client.wallet()
                self.scene, self.quote = name, quote

        return self.do("pack", act)

    def _moved(self, sent, total):
        self.sent, self.total = sent, total
        self.changes += 1

    def see(self, frame):
        def act(_):
            path = os.path.join(self.pictures, "look-%d.jpg" % time.time_ns())
            self.look = work.look(self.account.client(), self.quote, frame, path)
            self.look_path = path if os.path.exists(path) else ""
            if self.look["status"] != "ready":
                self.note = (self.look.get("failure") or {}).get("message") or "The test frame could not be rendered. Try again later."

        return self.do("look", act)

    def start(self, folder):
        quote = self.quote

        def act(_):
            work.start(self.account.client(), self.jobs, self.account.server(), quote, self.scene or "untitled", folder)
            self.quote = None

        return self.do("start", act)

    def cancel(self, entry):
        def act(_):
            self.account.client().cancel(entry["job_id"])

        return self.do("cancel", act)

    def take_off(self, quote_id):
        """Takes a job off the list, with its small picture."""
        picture = (self.jobs.get(quote_id) or {}).get("picture")
        self.jobs.remove(quote_id)
        if picture and os.path.exists(picture):
            os.unlink(picture)
        self.changes += 1

    # Jobs continue on their own.

    def keep_following(self):
        """Starts following every job that is not followed yet. Cheap: the timer calls
        it."""
        server = self.account.server()
        if not server:
            return
        for entry in self.jobs.unfinished(server):
            quote_id = entry["quote_id"]
            state = self._following.get(quote_id)
            running = sum(1 for one in self._following.values() if isinstance(one, threading.Thread) and one.is_alive())
            if isinstance(state, threading.Thread) or (state or 0) > time.monotonic() or running >= FOLLOWED:
                continue
            if entry["stage"] == STARTING and self.doing == "start":
                continue  # its answer is still to come
            thread = threading.Thread(target=self._follow, args=(entry,), name="svc follow", daemon=True)
            self._following[quote_id] = thread
            thread.start()

    def _follow(self, entry):
        quote_id = entry["quote_id"]

        def tell(job, picture):
            self.live = dict(self.live, **{quote_id: {"job": job, "picture": picture}})
            self.changes += 1

        try:
            client = self.account.client()
            if entry["stage"] == STARTING and not work.find_started(client, self.jobs, entry):
                return
            work.follow(client, self.jobs, quote_id, tell, self.closing, pictures=self.thumbnails)
            now = self.jobs.get(quote_id)
            if now and now["stage"] in (FETCHED, ENDED):
                self.ended.put(now)
        except Stopped:
            pass
        except Exception as error:  # the job continues at the service; it is followed again
            self.note = words(error)
        finally:
            self._following[quote_id] = time.monotonic() + AGAIN
            self.changes += 1

    def progress(self):
        """What is being done, in a line for the status bar; "" of nothing."""
        if self.doing == "upload":
            return "Render service: uploading, %d %%" % (100 * self.sent / max(self.total, 1))
        jobs = self.jobs.unfinished(self.account.server())
        states = [(self.live.get(one["quote_id"]) or {}).get("job") or one for one in jobs]
        done, whole = (sum(one.get(name) or 0 for one in states) for name in ("frames_completed", "frame_count"))
        if not jobs:
            return ""
        if len(jobs) > 1:
            return "Render service: %d jobs, %d of %s" % (len(jobs), done, frames_text(whole))
        return "Render service: %s, %s" % (jobs[0]["name"], state_of(jobs[0], states[0]))

    def close(self):
        """Blender ends, or the add-on is switched off. Jobs continue at the
        service."""
        self.closing.set()
        self._stop.set()
        shutil.rmtree(self.pictures, ignore_errors=True)
