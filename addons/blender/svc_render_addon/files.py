# SPDX-License-Identifier: GPL-3.0-or-later
"""Small files that several Blenders share. A file appears whole or not at all, and only its
owner can read it."""

import contextlib
import json
import os
import tempfile
import time

#: How long a lock is held at most, in seconds. An older one was left by a process that ended.
LOCK_SECONDS = 90.0


class Busy(Exception):
    """Another Blender holds the lock for longer than anything here takes."""


def read(path):
    """The JSON value of a file; None where there is no such file, or it is none of ours."""
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return None


class Kept:
    """Reads a file that is replaced as a whole, and again only when it was: a panel asks for
    it with every drawing. Treat what it returns as it is."""

    def __init__(self, path):
        self._path, self._seen, self._value = path, None, None

    def __call__(self):
        try:
            about = os.stat(self._path)
            seen = (about.st_mtime_ns, about.st_size, about.st_ino)
        except OSError:
            seen = None
        if seen != self._seen or seen is None:
            self._value, self._seen = read(self._path) if seen else None, seen
        return self._value


def write(path, value):
    """Writes a value as JSON, readable by its owner alone."""
    write_bytes(path, json.dumps(value, ensure_ascii=False, indent=1).encode("utf-8"))


def write_bytes(path, content):
    """Writes a file in one step. tempfile makes it with mode 0600."""
    folder = os.path.dirname(path)
    os.makedirs(folder, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=folder, prefix=".svc-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


@contextlib.contextmanager
def locked(path, patience=LOCK_SECONDS):
    """Holds the lock of a file against threads and other Blenders; Busy after ``patience``
    seconds. The lock is a file next to it, which works on every system and on network
    drives."""
    lock, ends = path + ".lock", time.monotonic() + patience
    os.makedirs(os.path.dirname(path), exist_ok=True)
    while True:
        try:
            os.close(os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            break
        except FileExistsError:
            with contextlib.suppress(OSError):
                if time.time() - os.path.getmtime(lock) > LOCK_SECONDS:
                    os.unlink(lock)
                    continue
        except PermissionError:
            pass  # Windows says so of a lock that is being removed
        if time.monotonic() > ends:
            raise Busy("%s is locked by another Blender" % path)
        time.sleep(0.02)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            os.unlink(lock)
