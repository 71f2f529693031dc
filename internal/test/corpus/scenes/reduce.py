"""Makes a .blend small enough for a comparison, and describes the result.

    blender --background --factory-startup --python reduce.py -- FILE ENGINE RESULT.json

The file is saved again, at most 96 pixels long, with at most 2 samples and 4 frames,
and without denoising. Where an ENGINE is named, that is the scene's. Everything else stays
as it is.
"""

import json
import sys

import bpy

LONGEST, SAMPLES, FRAMES = 96, 2, 4

path, engine, result = sys.argv[sys.argv.index("--") + 1:]


def reduce():
    try:
        bpy.ops.wm.open_mainfile(filepath=path, load_ui=True, use_scripts=False)
    except RuntimeError as error:
        if bpy.data.filepath != path:
            print(error, file=sys.stderr)
            return {"missing": "this Blender cannot open it"}
    scene = bpy.context.scene
    if engine:
        scene.render.engine = engine
    if scene.render.engine != "CYCLES":
        return {"missing": "its engine is " + scene.render.engine}
    if scene.camera is None:
        return {"missing": "it has no camera"}
    about = "Blender %d.%d" % bpy.data.version[:2]
    longest = max(scene.render.resolution_x, scene.render.resolution_y)
    scene.render.resolution_percentage = max(1, min(scene.render.resolution_percentage, LONGEST * 100 // longest))
    for each in bpy.data.scenes:
        each.cycles.samples = min(each.cycles.samples, SAMPLES)
        each.cycles.use_denoising = False
        for layer in each.view_layers:
            layer.samples = min(layer.samples, SAMPLES)
        for node in each.node_tree.nodes if each.use_nodes and each.node_tree else ():
            if node.type == "DENOISE":
                node.mute = True
    start = max(scene.frame_start, 1)
    scene.frame_start = start
    scene.frame_end = max(start, min(scene.frame_end, start + (FRAMES - 1) * scene.frame_step))
    bpy.ops.wm.save_as_mainfile(filepath=path, compress=True, relative_remap=False)
    return {"about": about, "start": scene.frame_start, "end": scene.frame_end, "step": scene.frame_step}


bpy.context.preferences.filepaths.save_version = 0
with open(result, "w", encoding="utf-8") as out:
    json.dump(reduce(), out)
