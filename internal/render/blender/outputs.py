"""Lets File Output nodes of the compositor write into the sandbox, and finds what they wrote.

All of them write where pictures lie, each slot with a number before the name, so that no two
collide. The rest of the name is Blender's own: by the last part of the slot's path, with the
frame's number and the format's extension. The folders of the path become part of the name that
is reported. Names are made safe outside of the sandbox.
"""

import os
import re

LONGEST = 150  # bytes of the last part of a path

ABSOLUTE = re.compile(r"[/\\]|[A-Za-z]:")
WRITTEN = re.compile(r"output_(\d+)_(.*)", re.DOTALL)


class TooMany(Exception):
    """More files than a frame may have."""

    def __init__(self, most):
        super().__init__("the File Output nodes write more than %d files for a frame, the most that a frame may have" % most)


class Outputs:
    """The File Output nodes of an open file."""

    def __init__(self, out, most):
        self.out, self.most = out, most
        self.seen = set()
        self.slots = []  # the folders of each one's path

    def redirect(self, node):
        """Has a node write below our folder. A group's node comes once for each scene."""
        if node.as_pointer() in self.seen:
            return
        self.seen.add(node.as_pointer())
        if node.format.file_format == "OPEN_EXR_MULTILAYER":
            folders, name = split(node.base_path)
            if any(socket.is_linked for socket in node.inputs):
                node.base_path = os.path.join(self.out, self.add(folders) + name)
            return
        base = below(node.base_path)
        node.base_path = self.out
        for slot, socket in zip(node.file_slots, node.inputs):
            folders, name = split(slot.path)
            if socket.is_linked:
                slot.path = self.add(base + folders) + name

    def add(self, folders):
        """Counts a slot; returns the beginning of its files' names."""
        if len(self.slots) == self.most:
            raise TooMany(self.most)
        self.slots.append(folders)
        return "output_%d_" % (len(self.slots) - 1)

    def clear(self):
        """Removes what was written for a frame that is not wanted."""
        for file in os.listdir(self.out) if self.slots else ():
            if WRITTEN.fullmatch(file):
                os.remove(os.path.join(self.out, file))

    def collect(self):
        """What was written for a frame: the files, with their names."""
        found = []
        for file in os.listdir(self.out) if self.slots else ():
            own = WRITTEN.fullmatch(file)
            if own and int(own.group(1)) < len(self.slots):
                found.append((int(own.group(1)), file, own.group(2)))
        if len(found) > self.most:
            raise TooMany(self.most)
        return [{"file": file, "name": "/".join(self.slots[slot] + [name])} for slot, file, name in sorted(found)]


def parts(path):
    return [part for part in re.split(r"[/\\]", path) if part not in ("", ".", "..")]


def below(path):
    """The folders of a path that counts from the file's folder. Those of an absolute path are
    about the machine where the file was made: there are none of them."""
    relative = path[2:] if path.startswith("//") else path
    return [] if relative is path and ABSOLUTE.match(path) else parts(relative)


def split(path):
    """The folders of a path, and what follows the last slash."""
    end = max(path.rfind("/"), path.rfind("\\")) + 1
    return below(path[:end]), path[end:].encode("utf-8", "surrogateescape")[:LONGEST].decode("utf-8", "ignore")
