"""Makes a scene for the tests of internal/render/blender: a row of planes, each with a picture
of its own colour, whose paths lead to many places.

    blender -b --factory-startup --python-exit-code 1 --python scripts/scenes/aliases.py -- FOLDER

The pictures are FOLDER/0.png, FOLDER/1.png and so on, none of them where its path leads.
"""

import os
import sys

import bpy

OUT = os.path.abspath(sys.argv[sys.argv.index("--") + 1])
PATHS = ("//Tex/0.PNG", "//../../above/1.png", "tex/2.png", "/home/bob/tex/3.png", "C:\\Users\\Anna\\tex\\4.png", "/mnt/film/5.png")

bpy.ops.wm.read_factory_settings(use_empty=True)
scene = bpy.context.scene
scene.render.engine, scene.cycles.samples, scene.cycles.use_denoising = "CYCLES", 1, False
scene.frame_end = 1
scene.render.resolution_x, scene.render.resolution_y = 8 * len(PATHS), 8
scene.view_settings.view_transform = "Standard"
for n, stored in enumerate(PATHS):
    image = bpy.data.images.new(str(n), 4, 4)
    image.pixels = [n / 8, 0.5, 0, 1] * 16
    image.filepath_raw, image.file_format = os.path.join(OUT, "%d.png" % n), "PNG"
    image.save()
    bpy.data.images.remove(image)
    image = bpy.data.images.new(str(n), 4, 4)
    image.source, image.filepath_raw = "FILE", stored
    material = bpy.data.materials.new(str(n))
    material.use_nodes = True
    nodes = material.node_tree.nodes
    nodes.clear()
    texture, light, out = (nodes.new(kind) for kind in ("ShaderNodeTexImage", "ShaderNodeEmission", "ShaderNodeOutputMaterial"))
    texture.image = image
    material.node_tree.links.new(texture.outputs["Color"], light.inputs["Color"])
    material.node_tree.links.new(light.outputs["Emission"], out.inputs["Surface"])
    bpy.ops.mesh.primitive_plane_add(size=1, location=(n - (len(PATHS) - 1) / 2, 0, 0))
    bpy.context.object.data.materials.append(material)
bpy.ops.object.camera_add(location=(0, 0, 5))
scene.camera = bpy.context.object
scene.camera.data.type, scene.camera.data.ortho_scale = "ORTHO", len(PATHS)
bpy.ops.wm.save_as_mainfile(filepath=os.path.join(OUT, "aliases.blend"), relative_remap=False)
