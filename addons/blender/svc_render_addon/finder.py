# SPDX-License-Identifier: GPL-3.0-or-later
"""The files that the open scene names, as Blender knows them, each with the datablock that
names it. It reads names alone and touches no disk, so that no network drive makes the window
wait. Blender has no such list: bpy.utils.blend_paths has every path, without what names it."""

import os

import bpy

#: Datablocks that name one file, and the word of the service for it.
KINDS = (("images", "image"), ("libraries", "library"), ("sounds", "sound"), ("fonts", "font"),
         ("volumes", "volume"), ("movieclips", "movie"), ("cache_files", "cache"))


def listed():
    """What is not packed, of libraries too: ``kind``, ``stored`` (the path as it is written),
    ``path`` (where that leads), ``collection`` and ``name`` of the datablock, and ``several``:
    whether the path is one of numbered files. Kind and datablock are "" where only Blender's
    own list has the path."""
    found, named = [], set()

    def add(kind, stored, path, collection="", block=None, several=False):
        place = os.path.normpath(path)
        found.append({"kind": kind, "stored": stored, "path": place, "collection": collection,
                      "name": block.name if block else "", "several": several})
        named.add(place)

    for collection, kind in KINDS:
        for block in getattr(bpy.data, collection, ()):
            if needs_file(block, kind):
                several = bool(getattr(block, "is_sequence", False)) or getattr(block, "source", "") == "SEQUENCE"
                add(kind, block.filepath, absolute(block.filepath, block), collection, block, several)
    for collection, block, stored in holders():
        add("", stored, absolute(stored, block), collection, block)
    for path in bpy.utils.blend_paths(absolute=True, packed=False, local=False):
        if os.path.normpath(path) not in named:
            add("", path, path)
    return found


def packed(block):
    return bool(getattr(block, "packed_file", None) or getattr(block, "packed_files", None))


def needs_file(block, kind):
    if not getattr(block, "filepath", "") or packed(block):
        return False
    if kind == "image":
        return block.source in ("FILE", "SEQUENCE", "MOVIE", "TILED")
    return not (kind == "font" and block.filepath == "<builtin>")


def absolute(stored, block):
    """Where a path leads that a datablock has: one of a library counts from there."""
    return bpy.path.abspath(stored, library=getattr(block, "library", None))


def holders():
    """Files that are named inside a datablock: by a node, such as a light's profile, or by a
    modifier, such as a cache."""
    for collection in ("materials", "worlds", "lights", "node_groups"):
        for block in getattr(bpy.data, collection):
            tree = block if collection == "node_groups" else block.node_tree
            for node in tree.nodes if tree else ():
                if getattr(node, "filepath", ""):
                    yield collection, block, node.filepath
    for block in bpy.data.objects:
        for modifier in block.modifiers:
            stored = getattr(modifier, "filepath", "") or getattr(getattr(modifier, "domain_settings", None), "cache_directory", "")
            if stored:
                yield "objects", block, stored
