"""Makes the light scene that the benchmark renders: 20 frames of a moving, lit
cube at 320x180 and one sample, so that what is around the rendering weighs most.

    blender --background --factory-startup --python scripts/scenes/render_light.py -- FILE.blend [SAMPLES FRAMES [WIDTH HEIGHT]]
"""

import os
import sys

import bpy

ASKED = sys.argv[sys.argv.index("--") + 1:]
TARGET = os.path.abspath(ASKED[0])
GIVEN = [int(number) for number in ASKED[1:]]
SAMPLES, FRAMES, WIDTH, HEIGHT = GIVEN + [1, 20, 320, 180][len(GIVEN):]

bpy.ops.wm.read_factory_settings(use_empty=True)
scene = bpy.context.scene
scene.render.engine = "CYCLES"
scene.cycles.samples = SAMPLES
scene.cycles.use_denoising = False
scene.render.resolution_x, scene.render.resolution_y = WIDTH, HEIGHT
scene.render.resolution_percentage = 100
scene.render.image_settings.file_format = "PNG"
scene.frame_start, scene.frame_end = 1, FRAMES

bpy.ops.mesh.primitive_plane_add(size=12)
bpy.ops.mesh.primitive_cube_add(size=1.6, location=(0, 0, 0.8))
cube = bpy.context.object
for frame, turn in ((1, 0.0), (FRAMES, 1.5)):
    cube.rotation_euler.z = turn
    cube.keyframe_insert("rotation_euler", frame=frame)
bpy.ops.object.light_add(type="SUN", location=(2, -3, 5), rotation=(0.7, 0.3, 0.2))
bpy.context.object.data.energy = 3
bpy.ops.object.camera_add(location=(4.2, -4.2, 3.4), rotation=(1.05, 0, 0.785))
scene.camera = bpy.context.object

bpy.ops.wm.save_as_mainfile(filepath=TARGET, compress=True)
