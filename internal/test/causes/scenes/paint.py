"""Paints each scene with its cause and without it, and says which pictures differ.

    blender --background --factory-startup --python paint.py -- SCENES.json RESULT.json

SCENES is the list that make.py writes, or one of real files. With the cause is the .blend
in a folder of its own (in its place where the entry has "stays"), Python switched off:
what a service gets that takes one file. Without it is the file in its place, with Python
where the entry has "scripts", after the entry's "edit". RESULT has "differ" for each
scene, in order, or "problem".
"""

import array
import hashlib
import json
import os
import shutil
import sys
import tempfile
import traceback

import bpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import plain_engine  # registers an engine for scenes that ask for it

listed, result = sys.argv[sys.argv.index("--") + 1:]


def files_in(folder):
    return {os.path.join(at, name) for at, _, names in os.walk(folder) for name in names}


def hashed(path):
    image = bpy.data.images.load(path)
    image.colorspace_settings.name = "Non-Color"
    image.alpha_mode = "CHANNEL_PACKED"
    values = array.array("f", bytes(4 * len(image.pixels)))
    image.pixels.foreach_get(values)
    return hashlib.sha256(values.tobytes()).hexdigest()


def reduced(scene):
    """A picture that is enough to see whether two differ."""
    render = scene.render
    longest = max(render.resolution_x, render.resolution_y)
    render.resolution_percentage = min(render.resolution_percentage, max(1, 6400 // longest)) if longest > 128 else 100
    scene.cycles.samples = min(scene.cycles.samples, 8)
    scene.cycles.use_denoising = False
    scene.cycles.seed = 7


def paint(entry, path, scripts, edit):
    """What the file paints: the hashes of all pictures that it writes, by name."""
    before = files_in(os.path.dirname(path))
    bpy.ops.wm.open_mainfile(filepath=path, load_ui=False, use_scripts=scripts)
    scene = bpy.context.scene
    reduced(scene)
    if edit:
        exec(edit)
    with tempfile.TemporaryDirectory() as out:
        scene.render.image_settings.file_format = "PNG"
        for frame in [entry["frame"], *entry.get("also", [])]:
            scene.render.filepath = os.path.join(out, "picture%d" % frame)
            scene.frame_set(frame)
            bpy.ops.render.render(write_still=True)
        pictures = {os.path.relpath(name, out): hashed(name) for name in files_in(out)}
    for name in files_in(os.path.dirname(path)) - before:
        pictures[os.path.relpath(name, os.path.dirname(path))] = "written"
        os.remove(name)
    return pictures


def differ(entry):
    without = paint(entry, entry["file"], entry.get("scripts", False), entry.get("edit", ""))
    if entry.get("stays"):
        return paint(entry, entry["file"], False, "") != without
    with tempfile.TemporaryDirectory() as alone:
        lone = os.path.join(alone, os.path.basename(entry["file"]))
        shutil.copy(entry["file"], lone)
        return paint(entry, lone, False, "") != without


with open(listed, encoding="utf-8") as scenes:
    entries = json.load(scenes)
found = []
for entry in entries:
    try:
        found.append({"differ": differ(entry)})
    except Exception:
        found.append({"problem": traceback.format_exc(limit=1)})
with open(result, "w", encoding="utf-8") as out:
    json.dump(found, out, indent=1)
