# SPDX-License-Identifier: GPL-3.0-or-later
"""The jobs that were started from this computer, over all files and Blenders. The list
outlives Blender: unfinished jobs are resumed when it opens again."""

import os
import time

from . import files

#: How many jobs the list keeps.
KEPT = 200

#: What a job's entry can still become.
STARTING, RUNNING, FETCHED, ENDED = "starting", "running", "fetched", "ended"


class Jobs:
    """The list, newest first. An entry has ``quote_id``, ``server``, ``name`` (of the scene),
    ``folder`` (where its frames go), ``frame_count``, ``frame_list``, ``price_cents``,
    ``currency``, ``noted`` (when it was started), ``stage``, and once it
    was started ``job_id``, ``status``, ``frames_completed`` and ``frames_folder``. One that has
    ended has ``charged_cents``, ``frames_here``, ``picture`` and, without frames, ``why``."""

    def __init__(self, folder):
        self._path = os.path.join(folder, "jobs.json")
        self._read = files.Kept(self._path)

    def all(self):
        stored = self._read()
        return [one for one in stored if isinstance(one, dict) and one.get("quote_id")] if isinstance(stored, list) else []

    def get(self, quote_id):
        return next((one for one in self.all() if one["quote_id"] == quote_id), None)

    def unfinished(self, server):
        """A job in progress at a service: its frames are still to come."""
        return [one for one in self.all() if one["stage"] in (STARTING, RUNNING) and one["server"] == server]

    def add(self, server, quote, name, folder):
        """Notes a job before it is started, so that no start is lost with Blender."""
        entry = {"quote_id": quote["quote_id"], "upload_id": quote["upload_id"], "server": server, "name": name,
                 "folder": folder, "frame_count": quote["frame_count"], "frame_list": quote.get("frame_list", ""),
                 "price_cents": quote["price_cents"], "currency": quote.get("currency", ""), "stage": STARTING, "noted": time.time()}
        self._change(lambda all: [entry] + [one for one in all if one["quote_id"] != entry["quote_id"]])
        return entry

    def update(self, quote_id, **members):
        self._change(lambda all: [dict(one, **members) if one["quote_id"] == quote_id else one for one in all])

    def remove(self, quote_id):
        self._change(lambda all: [one for one in all if one["quote_id"] != quote_id])

    def _change(self, change):
        with files.locked(self._path):
            files.write(self._path, change(self.all())[:KEPT])
