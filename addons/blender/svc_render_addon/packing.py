# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs in a second Blender that has the copy open: packs it, saves it, and reports which
files are not in it, with the datablocks that name them."""

import json
import os
import sys

import bpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import finder  # noqa: E402

for pack in (bpy.ops.file.pack_libraries, bpy.ops.file.pack_all):
    try:
        pack()
    except RuntimeError:
        pass  # a file is missing: the others are packed, and the list names it
bpy.ops.wm.save_mainfile(compress=True)
with open(sys.argv[sys.argv.index("--") + 1], "w", encoding="utf-8") as report:
    json.dump(finder.listed(), report)
