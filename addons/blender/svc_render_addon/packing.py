# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs in a second Blender that has the copy open: packs it, saves it, and tells which files
are not in it, with the datablocks that name them."""

import json
import os
import sys

import bpy

#: Datablocks that name one file, and the word of the service for it.
KINDS = (("images", "image"), ("libraries", "library"), ("sounds", "sound"), ("fonts", "font"),
         ("volumes", "volume"), ("movieclips", "movie"), ("cache_files", "cache"))


def packed(block):
    return bool(getattr(block, "packed_file", None) or getattr(block, "packed_files", None))


def needs_file(block, kind):
    if not getattr(block, "filepath", "") or packed(block):
        return False
    if kind == "image":
        return block.source in ("FILE", "SEQUENCE", "MOVIE", "TILED")
    return not (kind == "font" and block.filepath == "<builtin>")


def left():
    """The files that are not in the copy."""
    found = []
    for collection, kind in KINDS:
        for block in getattr(bpy.data, collection, ()):
            if needs_file(block, kind):
                library = getattr(block, "library", None)
                at = os.path.normpath(bpy.path.abspath(block.filepath, library=library))
                found.append({"kind": kind, "collection": collection, "name": block.name, "stored": block.filepath,
                              "path": at, "exists": os.path.exists(at)})
    return found


for pack in (bpy.ops.file.pack_libraries, bpy.ops.file.pack_all):
    try:
        pack()
    except RuntimeError:
        pass  # a file is missing: the others are packed, and left names it
bpy.ops.wm.save_mainfile(compress=True)
with open(sys.argv[sys.argv.index("--") + 1], "w", encoding="utf-8") as report:
    json.dump(left(), report)
