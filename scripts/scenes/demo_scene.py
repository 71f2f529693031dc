"""Makes the demo's scene, internal/ground/demo/scene.blend: a small still life on a
turning plate, 24 frames, one full turn that loops.

    blender --background --factory-startup --python scripts/scenes/demo_scene.py -- internal/ground/demo/scene.blend

Everything is made of primitives and node materials, so that the file is small and
opens in Blender 3.4 as in 4.1.
"""

import math
import os
import sys

import bpy
from mathutils import Vector

TARGET = os.path.abspath(sys.argv[sys.argv.index("--") + 1])

bpy.ops.wm.read_factory_settings(use_empty=True)
scene = bpy.context.scene
scene.name = "Demo"


def set_input(shader, names, value):
    """Sets the first input that exists: 4.0 renamed some of the Principled BSDF's."""
    for name in names:
        if name in shader.inputs:
            shader.inputs[name].default_value = value
            return


def material(name, color, roughness=0.4, metallic=0.0, coat=0.0, glass=0.0):
    made = bpy.data.materials.new(name)
    made.use_nodes = True
    shader = made.node_tree.nodes["Principled BSDF"]
    set_input(shader, ["Base Color"], (*color, 1))
    set_input(shader, ["Roughness"], roughness)
    set_input(shader, ["Metallic"], metallic)
    set_input(shader, ["Coat Weight", "Clearcoat"], coat)
    set_input(shader, ["Transmission Weight", "Transmission"], glass)
    return made


def finish(name, made_of, smooth=True, parent=None, bevel=0.0):
    thing = bpy.context.object
    thing.name = name
    thing.data.materials.append(made_of)
    if bevel:
        modifier = thing.modifiers.new("bevel", "BEVEL")
        modifier.width, modifier.segments = bevel, 4
    if smooth:
        for face in thing.data.polygons:
            face.use_smooth = True
    if parent is not None:
        thing.parent = parent
    return thing


def look_at(thing, point):
    direction = Vector(point) - thing.location
    thing.rotation_euler = direction.to_track_quat("-Z", "Y").to_euler()


def sphere(name, radius, location, made_of, parent):
    """A cube that modifiers round at render time: next to nothing in the file."""
    bpy.ops.mesh.primitive_cube_add(size=2 * radius, location=location)
    thing = finish(name, made_of, parent=parent)
    thing.modifiers.new("divide", "SUBSURF").render_levels = 5
    cast = thing.modifiers.new("round", "CAST")
    cast.factor, cast.radius, cast.use_radius_as_size, cast.size = 1.0, radius, True, radius


def backdrop(made_of):
    """A floor that bends up into a wall, without an edge to be seen."""
    profile = [(-9.0, 0.0)]
    for step in range(13):
        turn = math.pi / 2 * step / 12
        profile.append((5.0 + 3.0 * math.sin(turn), 3.0 - 3.0 * math.cos(turn)))
    profile.append((8.0, 12.0))
    verts = [(x, y, z) for x in (-16.0, 16.0) for y, z in profile]
    n = len(profile)
    mesh = bpy.data.meshes.new("backdrop")
    mesh.from_pydata(verts, [], [(i, i + n, i + n + 1, i + 1) for i in range(n - 1)])
    thing = bpy.data.objects.new("backdrop", mesh)
    scene.collection.objects.link(thing)
    mesh.materials.append(made_of)
    for face in mesh.polygons:
        face.use_smooth = True


backdrop(material("paper", (0.42, 0.40, 0.52), roughness=0.9))

# The plate turns; everything on it turns with it.
bpy.ops.mesh.primitive_cylinder_add(vertices=96, radius=2.15, depth=0.16, location=(0, 0, 0.08))
plate = finish("plate", material("plate", (0.90, 0.88, 0.86), roughness=0.25, coat=0.6), smooth=False, bevel=0.05)

sphere("copper", 0.70, (-0.62, -0.40, 0.86), material("copper", (0.95, 0.42, 0.22), roughness=0.16, metallic=1.0), plate)

bpy.ops.mesh.primitive_cube_add(size=0.95, location=(0.80, 0.45, 0.64), rotation=(0, 0, 0.5))
finish("cube", material("teal", (0.01, 0.25, 0.30), roughness=0.32, coat=1.0), smooth=False, parent=plate, bevel=0.09)

bpy.ops.mesh.primitive_torus_add(
    location=(0.72, -0.88, 0.38), rotation=(0.0, 0.0, 0.0), major_radius=0.42, minor_radius=0.22,
    major_segments=16, minor_segments=8)
ring = finish("ring", material("yellow", (0.95, 0.58, 0.05), roughness=0.35, coat=0.7), parent=plate)
ring.modifiers.new("divide", "SUBSURF").render_levels = 3

bpy.ops.mesh.primitive_cone_add(vertices=72, radius1=0.55, radius2=0.0, depth=1.60, location=(-0.42, 1.02, 0.96))
finish("cone", material("rose", (0.80, 0.06, 0.16), roughness=0.4, coat=0.4), smooth=False, parent=plate, bevel=0.03)

sphere("pearl", 0.27, (1.42, -0.20, 0.43), material("pearl", (0.92, 0.90, 0.95), roughness=0.12, coat=1.0), plate)

# The pieces of the plate's children keep their places: it is at the origin.
for child in plate.children:
    child.location -= plate.location

# A full turn in 24 frames; the 25th would be the first again, so it loops.
for frame, turn in ((1, 0.0), (25, 2 * math.pi)):
    plate.rotation_euler.z = turn - 1.0
    plate.keyframe_insert("rotation_euler", index=2, frame=frame)
for curve in plate.animation_data.action.fcurves:
    for key in curve.keyframe_points:
        key.interpolation = "LINEAR"


def area_light(name, location, target, size, power, color):
    bpy.ops.object.light_add(type="AREA", location=location)
    lamp = bpy.context.object
    lamp.name = name
    lamp.data.shape, lamp.data.size, lamp.data.energy, lamp.data.color = "DISK", size, power, color
    look_at(lamp, target)


area_light("key", (-4.2, -3.6, 5.4), (0, 0, 0.5), 3.0, 620, (1.0, 0.93, 0.84))
area_light("rim", (4.6, 3.0, 4.2), (0, 0, 0.6), 2.0, 360, (0.72, 0.82, 1.0))
world = bpy.data.worlds.new("sky")
world.use_nodes = True
world.node_tree.nodes["Background"].inputs["Color"].default_value = (0.55, 0.60, 0.75, 1)
world.node_tree.nodes["Background"].inputs["Strength"].default_value = 0.3
scene.world = world

bpy.ops.object.camera_add(location=(0.0, -8.2, 3.7))
camera = bpy.context.object
camera.data.lens = 56
look_at(camera, (0, 0, 0.52))
scene.camera = camera

scene.render.engine = "CYCLES"
scene.cycles.samples = 24
scene.cycles.use_adaptive_sampling = True
scene.cycles.adaptive_threshold = 0.1
scene.cycles.adaptive_min_samples = 8
scene.cycles.use_denoising = False  # every Blender can render it so
scene.cycles.max_bounces = 3
scene.cycles.diffuse_bounces = 1
scene.cycles.glossy_bounces = 2
scene.cycles.caustics_reflective = scene.cycles.caustics_refractive = False
scene.cycles.sample_clamp_indirect = 2.0
scene.cycles.filter_width = 1.9  # softer, which hides the grain of few samples
scene.render.resolution_x, scene.render.resolution_y = 480, 270
scene.render.resolution_percentage = 100
scene.render.fps = 24
scene.frame_start, scene.frame_end = 1, 24
scene.render.image_settings.file_format = "PNG"
scene.render.image_settings.color_mode = "RGB"
scene.view_settings.view_transform = "Filmic"  # in 3.4 and in 4.1
scene.view_settings.look = "Medium High Contrast"

bpy.ops.outliner.orphans_purge(do_recursive=True)
bpy.context.preferences.filepaths.save_version = 0
bpy.context.preferences.filepaths.file_preview_type = "NONE"
bpy.ops.wm.save_as_mainfile(filepath=TARGET, compress=True)
