"""Makes the texture-heavy scene that the benchmark renders: 20 frames of a wall
of eight panels, each with a packed picture of 2048 x 2048 pixels, passed by a
camera at 320x180 and 4 samples. Most of a frame is not the tracing of rays but
the loading of the pictures.

    blender --background --factory-startup --python scripts/scenes/render_textures.py -- FILE.blend
"""

import array
import os
import sys

import bpy

TARGET = os.path.abspath(sys.argv[sys.argv.index("--") + 1])
SIDE, PANELS = 2048, 8

bpy.ops.wm.read_factory_settings(use_empty=True)
scene = bpy.context.scene
scene.render.engine = "CYCLES"
scene.cycles.samples = 4
scene.cycles.use_denoising = False
scene.render.resolution_x, scene.render.resolution_y = 320, 180
scene.render.resolution_percentage = 100
scene.render.image_settings.file_format = "PNG"
scene.frame_start, scene.frame_end = 1, 20


def weave(panel):
    """A packed picture of threads, another one for each panel."""
    image = bpy.data.images.new("weave%d" % panel, SIDE, SIDE)
    rows = []
    for across in range(2):  # two kinds of row make the weave
        row = array.array("f")
        for x in range(SIDE):
            v = ((x * (panel + 3) + across * 17) % 64) / 64
            row.extend((v, 0.2 + 0.1 * panel * v / 2, 1 - v, 1.0))
        rows.append(row)
    whole = array.array("f")
    for y in range(SIDE):
        whole.extend(rows[(y // (panel + 4)) % 2])
    image.pixels.foreach_set(whole)
    image.file_format = "PNG"
    image.pack()
    return image


for panel in range(PANELS):
    material = bpy.data.materials.new("panel%d" % panel)
    material.use_nodes = True
    tree = material.node_tree
    texture = tree.nodes.new("ShaderNodeTexImage")
    texture.image = weave(panel)
    tree.links.new(texture.outputs["Color"], tree.nodes["Principled BSDF"].inputs["Base Color"])
    bpy.ops.mesh.primitive_plane_add(size=2, location=(panel % 4 * 2.1 - 3, panel // 4 * 2.1 - 1, 0))
    bpy.context.object.data.materials.append(material)

bpy.ops.object.light_add(type="SUN", location=(2, -3, 5), rotation=(0.7, 0.3, 0.2))
bpy.context.object.data.energy = 3
bpy.ops.object.camera_add(location=(-1, 0, 7))
scene.camera = bpy.context.object
for frame, x in ((1, -1.0), (20, 1.0)):
    scene.camera.location.x = x
    scene.camera.keyframe_insert("location", frame=frame)

bpy.ops.wm.save_as_mainfile(filepath=TARGET, compress=True)
