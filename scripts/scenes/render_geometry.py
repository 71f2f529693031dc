"""Makes the geometry-heavy scene that the benchmark renders: 20 frames of a
camera that flies over a landscape and a turning block, at 320x180. Four meshes of
200,000 triangles lie there, each used twice. Most of a frame is not the tracing
of rays but what Cycles does before: taking the meshes over and building their
BVHs.

    blender --background --factory-startup --python scripts/scenes/render_geometry.py -- FILE.blend
"""

import math
import os
import sys

import bpy

TARGET = os.path.abspath(sys.argv[sys.argv.index("--") + 1])
SIDE = 320  # squares along an edge of each of the tiles

bpy.ops.wm.read_factory_settings(use_empty=True)
scene = bpy.context.scene
scene.render.engine = "CYCLES"
scene.cycles.samples = 1
scene.cycles.max_bounces = 2
scene.cycles.use_denoising = False
scene.render.resolution_x, scene.render.resolution_y = 320, 180
scene.render.resolution_percentage = 100
scene.render.image_settings.file_format = "PNG"
scene.frame_start, scene.frame_end = 1, 20


def height(x, y):
    return math.sin(x * 1.7) * math.cos(y * 1.3) + 0.2 * math.sin(x * 9 + y * 7) + 0.05 * math.sin(x * 41) * math.sin(y * 37)


def tile(left, front):
    """A mesh of its own of SIDE x SIDE squares, 10 units wide, there and further on."""
    line = [i * 10 / SIDE for i in range(SIDE + 1)]
    points = [(left + x, front + y, height(left + x, front + y)) for y in line for x in line]
    row = SIDE + 1
    squares = [(i, i + 1, i + 1 + row, i + row) for y in range(SIDE) for i in range(y * row, y * row + SIDE)]
    mesh = bpy.data.meshes.new("tile")
    mesh.from_pydata(points, [], squares)
    mesh.materials.append(ground)
    for further in (0, 20):
        thing = bpy.data.objects.new("tile", mesh)
        thing.location.x = -further
        scene.collection.objects.link(thing)


ground = bpy.data.materials.new("ground")
ground.use_nodes = True
ground.node_tree.nodes["Principled BSDF"].inputs["Base Color"].default_value = (0.25, 0.3, 0.12, 1)
for left in (-10, 0):
    for front in (-10, 0):
        tile(left, front)

bpy.ops.mesh.primitive_cube_add(size=1.5, location=(0, 0, 2))
cube = bpy.context.object
for frame, turn in ((1, 0.0), (20, 1.5)):
    cube.rotation_euler.z = turn
    cube.keyframe_insert("rotation_euler", frame=frame)
bpy.ops.object.light_add(type="SUN", location=(2, -3, 5), rotation=(0.7, 0.3, 0.2))
bpy.context.object.data.energy = 3
bpy.ops.object.camera_add(location=(8, -8, 6), rotation=(1.05, 0, 0.785))
scene.camera = bpy.context.object
for frame, x in ((1, 8.0), (20, 6.0)):
    scene.camera.location.x = x
    scene.camera.keyframe_insert("location", frame=frame)

bpy.ops.wm.save_as_mainfile(filepath=TARGET, compress=True)
