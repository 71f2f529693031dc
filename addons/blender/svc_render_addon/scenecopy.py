# SPDX-License-Identifier: GPL-3.0-or-later
"""A copy of the scene. A second Blender packs everything into it, so that the open file, its undo
history and its window stay as they are; or it is sent as a project, with its files."""

import json
import os
import shutil
import subprocess
import tempfile

#: How long packing may take, seconds.
LONGEST = 3600


class PackingFailed(Exception):
    """The second Blender did not pack the copy."""


class Stopped(Exception):
    """The person has stopped it."""


class Copy:
    """A folder of its own with the copy in it. Use it in a ``with`` statement, or call
    remove: a packed copy is as large as the scene with all its textures."""

    def __init__(self, scene):
        """``scene`` is the path of the open file; "" of one that was never saved."""
        self.scene = scene
        self._folder = tempfile.mkdtemp(prefix="svc-render-")
        self.path = os.path.join(self._folder, os.path.basename(scene) or "untitled.blend")
        self.left = []  # of a packed one: what is not in it (finder)
        self.listed = None  # of one that is sent as a project: what the scene names (finder)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.remove()

    def remove(self):
        shutil.rmtree(self._folder, ignore_errors=True)

    def pack(self, blender, stop):
        """Packs the copy, which was saved to ``path``, with the program ``blender``, unless it
        is sent as a project. ``stop``, an event, ends it."""
        if self.listed is not None:
            return
        told = os.path.join(self._folder, "packed.json")
        log = os.path.join(self._folder, "packing.log")
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "packing.py")
        # Nothing of the file is run, and no add-on of the user changes what is saved.
        command = [blender, "-b", "--factory-startup", "--disable-autoexec", self.path,
                   "--python-exit-code", "1", "--python", script, "--", told]
        with open(log, "wb") as output:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                                       creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0))
        try:
            waited = 0.0
            while process.poll() is None:
                if stop.wait(0.1):
                    raise Stopped
                waited += 0.1
                if waited > LONGEST:
                    raise PackingFailed("Packing the scene took more than an hour.")
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
        if process.returncode != 0 or not os.path.exists(told):
            with open(log, encoding="utf-8", errors="replace") as text:
                last = [line.strip() for line in text if line.strip()][-3:]
            raise PackingFailed("The scene could not be packed: %s" % " / ".join(last))
        with open(told, encoding="utf-8") as file:
            self.left = json.load(file)
