"""Makes the scenes of the GPU benchmark, internal/work/benchmark/measure/scenes/*.blend,
which package measure embeds and says how it renders. Their references are remade by: go
test ./internal/work/benchmark/measure -run Reference -update

    blender --background --factory-startup --python scripts/scenes/benchmark.py -- FOLDER

One scene is heavy on geometry, one on textures, one on lights. The number of a frame is
its number of samples: rendering frame 64 renders 64 samples. All is made of primitives,
modifiers, node materials and pictures of threads, so that the files are small and ask
for nothing outside them. A change of what is rendered is a new scene version.
"""

import array
import math
import os
import random
import sys

import bpy
from mathutils import Vector

FOLDER = os.path.abspath(sys.argv[sys.argv.index("--") + 1])
MOST_SAMPLES = 4096


def begin(name):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.name = name
    scene.render.engine = "CYCLES"
    scene.render.resolution_x, scene.render.resolution_y = 480, 270
    scene.render.resolution_percentage = 100
    scene.render.image_settings.file_format = "PNG"
    scene.render.image_settings.color_mode = "RGB"
    scene.view_settings.view_transform = "Standard"
    cycles = scene.cycles
    cycles.use_denoising = False
    cycles.use_adaptive_sampling = False  # every sample is a sample of every pixel
    cycles.seed = 1
    cycles.max_bounces = 8
    scene.frame_start, scene.frame_end = 1, MOST_SAMPLES
    for samples in (1, MOST_SAMPLES):
        cycles.samples = samples
        cycles.keyframe_insert("samples", frame=samples)
    for curve in scene.animation_data.action.fcurves:
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
    scene.world = bpy.data.worlds.new("sky")
    scene.world.use_nodes = True
    return scene


def sky(scene, colour, strength):
    background = scene.world.node_tree.nodes["Background"]
    background.inputs["Color"].default_value = (*colour, 1)
    background.inputs["Strength"].default_value = strength


def material(name, colour, roughness=0.5, metallic=0.0):
    made = bpy.data.materials.new(name)
    made.use_nodes = True
    shader = made.node_tree.nodes["Principled BSDF"]
    shader.inputs["Base Color"].default_value = (*colour, 1)
    shader.inputs["Roughness"].default_value = roughness
    shader.inputs["Metallic"].default_value = metallic
    return made


def glass(name, colour):
    made = bpy.data.materials.new(name)
    made.use_nodes = True
    tree = made.node_tree
    shader = tree.nodes.new("ShaderNodeBsdfGlass")
    shader.inputs["Color"].default_value = (*colour, 1)
    tree.links.new(shader.outputs[0], tree.nodes["Material Output"].inputs["Surface"])
    return made


def glow(name, colour, strength):
    made = bpy.data.materials.new(name)
    made.use_nodes = True
    tree = made.node_tree
    shader = tree.nodes.new("ShaderNodeEmission")
    shader.inputs["Color"].default_value = (*colour, 1)
    shader.inputs["Strength"].default_value = strength
    tree.links.new(shader.outputs[0], tree.nodes["Material Output"].inputs["Surface"])
    return made


def smooth(thing):
    for face in thing.data.polygons:
        face.use_smooth = True


def camera(scene, location, point, lens=40):
    bpy.ops.object.camera_add(location=location)
    scene.camera = bpy.context.object
    scene.camera.data.lens = lens
    scene.camera.rotation_euler = (Vector(point) - Vector(location)).to_track_quat("-Z", "Y").to_euler()


def lamp(kind, location, energy, point=(0, 0, 0), size=0.0):
    bpy.ops.object.light_add(type=kind, location=location)
    light = bpy.context.object
    light.data.energy = energy
    light.rotation_euler = (Vector(point) - Vector(location)).to_track_quat("-Z", "Y").to_euler()
    if size and kind == "AREA":
        light.data.size = size
    return light


def geometry():
    """A rough ground of 320,000 triangles under a crowd of finely divided heads."""
    scene = begin("geometry")
    sky(scene, (0.35, 0.5, 0.8), 0.6)
    bpy.ops.mesh.primitive_grid_add(size=24, x_subdivisions=100, y_subdivisions=100)
    ground = bpy.context.object
    ground.data.materials.append(material("ground", (0.28, 0.22, 0.15), 0.9))
    divided = ground.modifiers.new("divide", "SUBSURF")
    divided.levels = divided.render_levels = 2
    clouds = bpy.data.textures.new("clouds", "CLOUDS")
    clouds.noise_scale, clouds.noise_depth = 1.2, 5
    raised = ground.modifiers.new("raise", "DISPLACE")
    raised.texture, raised.strength = clouds, 1.1
    smooth(ground)
    bpy.ops.mesh.primitive_monkey_add()
    head = bpy.context.object
    divided = head.modifiers.new("divide", "SUBSURF")
    divided.levels = divided.render_levels = 2
    bpy.ops.object.modifier_apply(modifier=divided.name)  # or no two would share a mesh
    smooth(head)
    head.data.materials.append(material("skin", (0.75, 0.3, 0.12), 0.35))
    chance = random.Random(7)
    for place in range(90):
        other = head if place == 0 else head.copy()  # one mesh, many instances
        if place:
            scene.collection.objects.link(other)
        other.location = ((place % 10) * 1.9 - 8.5, (place // 10) * 1.9 - 6, 1.1 + chance.uniform(-0.2, 0.3))
        other.rotation_euler = (chance.uniform(-0.4, 0.2), chance.uniform(-0.3, 0.3), chance.uniform(-0.8, 0.8))
        other.scale = [chance.uniform(0.45, 0.8)] * 3
    lamp("SUN", (5, -6, 9), 3.5).data.angle = 0.03
    camera(scene, (0, -13.5, 6.5), (0, -1.5, 0.5), 38)


def weave(panel):
    """A packed picture of threads, another one for each panel. Blender's own
    generated grids will not do: their labels differ from run to run."""
    side = 2048
    image = bpy.data.images.new("panel%d" % panel, side, side)
    kinds = []
    for across in range(2):  # two kinds of row make the weave
        row = array.array("f")
        for x in range(side):
            v = ((x * (panel % 5 + 3) + across * 71) % 256) / 256
            row.extend((v, 0.15 + 0.05 * panel * (1 - v), 1 - v if panel % 2 else 0.3, 1.0))
        kinds.append(row)
    whole = array.array("f")
    for y in range(side):
        whole.extend(kinds[(y // (16 * (panel % 4 + 2))) % 2])
    image.pixels.foreach_set(whole)
    image.file_format = "PNG"
    image.pack()
    return image


def texture():
    """Panels with many large pictures, and materials of layered noise."""
    scene = begin("texture")
    sky(scene, (0.8, 0.85, 1), 0.5)
    chance = random.Random(11)
    bpy.ops.mesh.primitive_plane_add(size=30)
    floor = bpy.context.object
    made = material("floor", (0.5, 0.5, 0.5), 0.3)
    tree, shader = made.node_tree, made.node_tree.nodes["Principled BSDF"]
    noise, bump = tree.nodes.new("ShaderNodeTexNoise"), tree.nodes.new("ShaderNodeBump")
    noise.inputs["Scale"].default_value, noise.inputs["Detail"].default_value = 24, 12
    place = tree.nodes.new("ShaderNodeTexCoord")
    tree.links.new(place.outputs["Object"], noise.inputs["Vector"])
    tree.links.new(noise.outputs["Fac"], bump.inputs["Height"])
    tree.links.new(bump.outputs["Normal"], shader.inputs["Normal"])
    tree.links.new(noise.outputs["Color"], shader.inputs["Base Color"])
    floor.data.materials.append(made)
    for panel in range(15):
        image = weave(panel)
        made = material("panel%d" % panel, (1, 1, 1), 0.25)
        tree, shader = made.node_tree, made.node_tree.nodes["Principled BSDF"]
        picture, mix = tree.nodes.new("ShaderNodeTexImage"), tree.nodes.new("ShaderNodeMixRGB")
        cells, rough = tree.nodes.new("ShaderNodeTexVoronoi"), tree.nodes.new("ShaderNodeTexNoise")
        place = tree.nodes.new("ShaderNodeTexCoord")
        picture.image = image
        cells.inputs["Scale"].default_value = 6 + panel
        rough.inputs["Scale"].default_value, rough.inputs["Detail"].default_value = 9, 8
        mix.blend_type = "OVERLAY"
        mix.inputs["Fac"].default_value = 0.6
        tree.links.new(place.outputs["UV"], picture.inputs["Vector"])
        tree.links.new(place.outputs["Object"], cells.inputs["Vector"])
        tree.links.new(place.outputs["Object"], rough.inputs["Vector"])
        tree.links.new(picture.outputs["Color"], mix.inputs["Color1"])
        tree.links.new(cells.outputs["Color"], mix.inputs["Color2"])
        tree.links.new(mix.outputs["Color"], shader.inputs["Base Color"])
        tree.links.new(rough.outputs["Fac"], shader.inputs["Roughness"])
        bpy.ops.mesh.primitive_cube_add(size=1.6, location=((panel % 5) * 2.2 - 4.4, (panel // 5) * 2.4 - 1.5, 0.8))
        box = bpy.context.object
        box.rotation_euler.z = chance.uniform(-0.6, 0.6)
        box.data.materials.append(made)
    lamp("AREA", (4, -6, 8), 900, (0, 0, 0), 4)
    camera(scene, (0, -10.5, 6), (0, 0.6, 0.4), 40)


def light():
    """A dark hall with a hundred small lamps, mirrors and glass."""
    scene = begin("light")
    sky(scene, (0.02, 0.03, 0.06), 1)
    chance = random.Random(3)
    bpy.ops.mesh.primitive_plane_add(size=30)
    bpy.context.object.data.materials.append(material("floor", (0.35, 0.35, 0.38), 0.12, 0.4))
    bpy.ops.mesh.primitive_plane_add(size=30, location=(0, 9, 0), rotation=(math.pi / 2, 0, 0))
    bpy.context.object.data.materials.append(material("wall", (0.5, 0.48, 0.45), 0.7))
    bodies = [material("mirror", (0.9, 0.85, 0.7), 0.05, 1), glass("glass", (0.95, 0.98, 1)), material("clay", (0.6, 0.2, 0.15), 0.6)]
    for place in range(21):
        bpy.ops.mesh.primitive_uv_sphere_add(segments=48, ring_count=24, radius=0.65, location=((place % 7) * 1.8 - 5.4, (place // 7) * 2.2 - 1, 0.65))
        smooth(bpy.context.object)
        bpy.context.object.data.materials.append(bodies[place % 3])
    for place in range(60):
        colour = (chance.uniform(0.3, 1), chance.uniform(0.3, 1), chance.uniform(0.3, 1))
        made = lamp("POINT", (chance.uniform(-8, 8), chance.uniform(-3, 8), chance.uniform(1.2, 4.5)), chance.uniform(8, 30))
        made.data.color = colour
        made.data.shadow_soft_size = 0.08
    for place in range(40):
        colour = (chance.uniform(0.4, 1), chance.uniform(0.4, 1), chance.uniform(0.4, 1))
        bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=2, radius=0.09, location=(chance.uniform(-7, 7), chance.uniform(-3, 7), chance.uniform(0.1, 3)))
        bpy.context.object.data.materials.append(glow("glow%d" % place, colour, 12))
    camera(scene, (0, -11, 4.2), (0, 1, 0.9), 38)


for make in (geometry, texture, light):
    make()
    bpy.ops.wm.save_as_mainfile(filepath=os.path.join(FOLDER, make.__name__ + ".blend"), compress=True)
