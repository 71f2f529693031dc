"""Makes a project for the tests of the service: a shot with a picture of its own, named with
backslashes, and a prop of a library that has a picture of its own.

    blender -b --factory-startup --python-exit-code 1 --python scripts/scenes/project.py -- FOLDER
"""

import os
import sys

import bpy

OUT = os.path.abspath(sys.argv[sys.argv.index("--") + 1])


def fresh():
    bpy.ops.wm.read_factory_settings(use_empty=True)
    s = bpy.context.scene
    s.render.engine, s.cycles.samples, s.cycles.use_denoising = "CYCLES", 2, False
    s.render.resolution_x, s.render.resolution_y, s.frame_end = 64, 32, 2
    s.render.image_settings.file_format = "PNG"
    return s


def save(*at):
    path = os.path.join(OUT, *at)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    bpy.ops.wm.save_as_mainfile(filepath=path, relative_remap=False)


def picture(colour, *at):
    """A picture of one colour, on disk."""
    path = os.path.join(OUT, *at)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    i = bpy.data.images.new(at[-1], 4, 4)
    i.pixels = list(colour) * 16
    i.filepath_raw, i.file_format = path, "PNG"
    i.save()
    bpy.data.images.remove(i)


def glowing(stored):
    """A plane that shows a picture as it is."""
    image = bpy.data.images.new(os.path.basename(stored), 4, 4)
    image.source, image.filepath_raw = "FILE", stored
    m = bpy.data.materials.new(image.name)
    m.use_nodes = True
    nodes = m.node_tree.nodes
    nodes.clear()
    texture, light, out = (nodes.new(n) for n in ("ShaderNodeTexImage", "ShaderNodeEmission", "ShaderNodeOutputMaterial"))
    texture.image = image
    m.node_tree.links.new(texture.outputs["Color"], light.inputs["Color"])
    m.node_tree.links.new(light.outputs["Emission"], out.inputs["Surface"])
    mesh = bpy.data.meshes.new(image.name)
    mesh.from_pydata([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)], [], [(0, 1, 2, 3)])
    mesh.uv_layers.new()
    mesh.materials.append(m)
    return bpy.data.objects.new(image.name, mesh)


fresh()
picture((0.1, 0.6, 0.2, 1), "lib", "tex", "wood.png")
prop = bpy.data.collections.new("Prop")
prop.use_fake_user = True
prop.objects.link(glowing("//tex/wood.png"))
save("lib", "prop.blend")

scene = fresh()
picture((0.7, 0.1, 0.3, 1), "shots", "tex", "back.png")
back = glowing("//tex\\back.png")
back.location.x = 1
scene.collection.objects.link(back)
with bpy.data.libraries.load(os.path.join(OUT, "lib", "prop.blend"), link=True) as (_, here):
    here.collections = ["Prop"]
instance = bpy.data.objects.new("Prop", None)
instance.instance_type, instance.instance_collection = "COLLECTION", bpy.data.collections["Prop"]
instance.location.x = -1
scene.collection.objects.link(instance)
bpy.data.libraries[0].filepath = "//../lib/prop.blend"
camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
camera.data.type, camera.data.ortho_scale, camera.location.z = "ORTHO", 4, 5
scene.collection.objects.link(camera)
scene.camera = camera
save("shots", "Anna's shot.blend")
