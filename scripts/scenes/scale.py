"""Makes the scene of the scale runs: 10000 frames of next to nothing at 64x36,
so that everything but the pictures weighs.

    blender --background --factory-startup --python scripts/scenes/scale.py -- FILE.blend
"""

import os
import sys

import bpy

TARGET = os.path.abspath(sys.argv[sys.argv.index("--") + 1])

bpy.ops.wm.read_factory_settings(use_empty=True)
scene = bpy.context.scene
scene.render.engine = "CYCLES"
scene.cycles.samples = 1
scene.cycles.use_denoising = False
scene.render.resolution_x, scene.render.resolution_y = 64, 36
scene.render.resolution_percentage = 100
scene.render.image_settings.file_format = "PNG"
scene.frame_start, scene.frame_end = 1, 10000
bpy.ops.object.camera_add()
scene.camera = bpy.context.object

bpy.ops.wm.save_as_mainfile(filepath=TARGET, compress=True)
