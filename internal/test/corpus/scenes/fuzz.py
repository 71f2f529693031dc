"""Makes random scenes, animates one random property of each, and compares what Blender
renders with kept data with what it renders without.

    blender -b --factory-startup --python fuzz.py -- RULES FIRST COUNT FOLDER

RULES is the folder of kept.py, by which a worker decides what it keeps. A scene follows from
its number alone. Each becomes a line of JSON on standard output: what was animated, what the
rules say, and which frames differ. Data is kept regardless of the rules: a scene that they
let a worker keep must not differ, and of the others one learns what the rules are for.
"""

import json
import os
import random
import sys
import warnings

import bpy

RULES, FIRST, COUNT, FOLDER = sys.argv[sys.argv.index("--") + 1:][:4]
sys.path[:0] = [RULES, os.path.dirname(__file__)]
sys.dont_write_bytecode = True

import kept  # noqa: E402  (of RULES)
from randomly import FRAMES, PARTS, PLAIN, animate, render, stage  # noqa: E402

warnings.simplefilter("ignore")


def make(number):
    rng = random.Random(number)
    scene = stage(rng)
    parts = rng.sample(PLAIN, 2) + ([rng.choice(PARTS)] if rng.random() < 0.5 else [])
    for part in parts:
        part(rng, scene)
    doubt = kept.doubt_of_animation if rng.random() < 0.6 else lambda: ""
    animated = [animate(rng, scene, doubt) for _ in range(rng.choice((1, 2, 3)))]
    frames = rng.sample(FRAMES, 2 if rng.random() < 0.7 else 3)
    return sorted({part.__name__ for part in parts}), animated, frames


# -- comparison ----------------------------------------------------------------


def pictures(file, frames, keep):
    bpy.ops.wm.open_mainfile(filepath=file)
    scene = bpy.context.scene
    scene.render.use_persistent_data = keep
    scene.render.filepath = os.path.join(FOLDER, "frame_")
    return [render(frame) for frame in frames]


def objects_in(collection, seen):
    for thing in collection.all_objects:
        yield thing
        inner = thing.instance_collection
        if inner is not None and inner.name_full not in seen:
            seen.add(inner.name_full)
            yield from objects_in(inner, seen)


def compare(number):
    parts, animated, frames = make(number)
    file = os.path.join(FOLDER, "scene.blend")
    bpy.ops.wm.save_as_mainfile(filepath=file)
    bpy.ops.wm.open_mainfile(filepath=file)
    doubt = kept.doubt(bpy.context.scene, list(objects_in(bpy.context.scene.collection, set())))
    with_data = pictures(file, frames, True)
    alone = with_data[:1] + pictures(file, frames[1:], False)  # nothing is kept for the first
    said = dict(number=number, parts=parts, animated=animated, doubt=doubt)
    differ = [frame for frame, one, other in zip(frames, alone, with_data) if one != other]
    if differ and pictures(file, frames[1:], False) != alone[1:]:
        return dict(said, unsteady=True)
    if differ and pictures(file, frames, False) == with_data:
        return dict(said, ordered=True)
    return dict(said, lively=len(set(alone)) > 1, differ=sorted(differ))


def main():
    version = ".".join(map(str, bpy.app.version))
    for number in range(int(FIRST), int(FIRST) + int(COUNT)):
        print("svc: said " + json.dumps({"begins": number}), flush=True)
        print("svc: said " + json.dumps({"blender": version, **compare(number)}), flush=True)


main()
