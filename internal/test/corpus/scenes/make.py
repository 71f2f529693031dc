"""Makes the scenes of the corpus, and says what it made.

    blender --background --factory-startup --python make.py -- REGEXP FOLDER/scenes.json

It makes those whose name matches. Each scene is FOLDER/NAME/NAME.blend, with the caches
that it keeps next to it. scenes.json lists them; a scene that this Blender cannot make
is there with the reason.
"""

import json
import os
import re
import sys
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import bpy

import animation  # noqa: F401  they register their scenes
import compositor  # noqa: F401
import picture  # noqa: F401
import simulation  # noqa: F401
from base import SCENES, Missing, save

only, result = sys.argv[sys.argv.index("--") + 1:]
folder, listed = os.path.dirname(result), []
for name, entry in SCENES.items():
    if not re.search(only, name):
        continue
    path = os.path.join(folder, name, name + ".blend")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    row = {"name": name, "kind": entry["kind"], "about": entry["about"], "why": entry["why"], "alone": entry["alone"]}
    listed.append(row)
    try:
        # A scene with a cache on disk saves itself first, to have a folder.
        entry["make"](path) if entry["make"].__code__.co_argcount else entry["make"]()
        save(path)
        scene = bpy.context.scene
        if entry["files"]:
            row["root"] = os.path.dirname(path)
        row.update(file=path, start=scene.frame_start, end=scene.frame_end, step=scene.frame_step)
    except Missing as reason:
        row["missing"] = str(reason)
    except Exception:
        print("the scene", name, file=sys.stderr)
        traceback.print_exc()
        sys.exit(3)
with open(result, "w", encoding="utf-8") as out:
    json.dump(listed, out, indent=1)
