"""What the scenes of the corpus are made of; make.py runs them.

A scene is a function with the decorator scene. It starts from an empty file and
leaves what is to be saved. Everything is small: 64 by 48 pixels, one or two
samples, six frames.
"""

import math
import os

import bpy

# Every scene by its name, in the order of the table.
SCENES = {}


class Missing(Exception):
    """This Blender cannot make the scene; the text says why."""


def scene(about, kind="", why="", alone=None, files=False):
    """Registers a scene. why says what keeps its frames from being equal, where they
    cannot be; alone is the frame that is ordered alone, otherwise the middle one; files has
    the scene sent with the files in its folder."""

    def register(make):
        name = make.__name__
        assert name not in SCENES, name
        SCENES[name] = {"make": make, "about": about, "kind": kind or make.__module__, "why": why, "alone": alone or 0, "files": files}
        return make

    return register


def since(major, minor):
    if bpy.app.version < (major, minor, 0):
        raise Missing("Blender %d.%d has it first" % (major, minor))


def settings(scene, samples=2, end=6):
    """The settings that all scenes share."""
    scene.render.engine = "CYCLES"
    scene.cycles.samples = samples
    scene.cycles.use_denoising = False
    scene.render.resolution_x, scene.render.resolution_y = 64, 48
    scene.render.resolution_percentage = 100
    scene.frame_start, scene.frame_end = 1, end
    if scene.world is None:
        scene.world = bpy.data.worlds.new("World")
    scene.world.use_nodes = True
    scene.world.node_tree.nodes["Background"].inputs["Color"].default_value = (0.1, 0.15, 0.3, 1)


def empty(samples=2, end=6):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    settings(bpy.context.scene, samples, end)
    return bpy.context.scene


def stage(samples=2, end=6):
    """A lit floor with a camera; what plays on it is the scene's own."""
    scene = empty(samples, end)
    set_stage(scene)
    return scene


def set_stage(scene):
    bpy.ops.mesh.primitive_plane_add(size=20, location=(0, 0, -1))
    floor = bpy.context.object
    floor.name = "floor"
    paint(floor, (0.25, 0.3, 0.25))
    bpy.ops.object.light_add(type="SUN", location=(3, -3, 6), rotation=(0.6, 0.3, 0))
    bpy.context.object.data.energy = 3
    scene.camera = camera((5, -5, 4))


def camera(location, name="camera", rotation=(1.0, 0, 0.785)):
    bpy.ops.object.camera_add(location=location, rotation=rotation)
    bpy.context.object.name = name
    return bpy.context.object


def paint(thing, colour):
    material = bpy.data.materials.new(thing.name)
    material.use_nodes = True
    material.node_tree.nodes["Principled BSDF"].inputs["Base Color"].default_value = (*colour, 1)
    thing.data.materials.append(material)
    return material


def cube(location=(0, 0, 0), size=1.5, colour=(0.8, 0.3, 0.05), name="cube"):
    bpy.ops.mesh.primitive_cube_add(size=size, location=location)
    thing = bpy.context.object
    thing.name = name
    paint(thing, colour)
    return thing


def ball(location=(0, 0, 0), radius=0.8, colour=(0.1, 0.3, 0.8), name="ball"):
    bpy.ops.mesh.primitive_uv_sphere_add(segments=16, ring_count=8, radius=radius, location=location)
    thing = bpy.context.object
    thing.name = name
    paint(thing, colour)
    return thing


def sheet(cuts=12, size=3.0, height=0.6, name="sheet"):
    """A grid that simulations act on."""
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=cuts, y_subdivisions=cuts, size=size, location=(0, 0, height))
    thing = bpy.context.object
    thing.name = name
    paint(thing, (0.8, 0.1, 0.2))
    return thing


def key(thing, path, values, index=-1):
    """Keyframes: values is {frame: value}."""
    for frame, value in values.items():
        setattr(thing, path, value)
        thing.keyframe_insert(path, index=index, frame=frame)


def moving_cube(end=6, **more):
    """A cube that moves and turns by keyframes."""
    thing = cube(**more)
    key(thing, "location", {1: (-1, 0, 0), end: (1, 0.5, 0.5)})
    key(thing, "rotation_euler", {1: (0, 0, 0), end: (0, 0.5, 2)})
    return thing


def driver(thing, path, expression, index=-1):
    """A driver with an expression; scripts are not run while scenes are made."""
    curve = thing.driver_add(path, index) if index >= 0 else thing.driver_add(path)
    curve.driver.type = "SCRIPTED"
    curve.driver.expression = expression
    return curve


def save(path):
    bpy.context.preferences.filepaths.save_version = 0  # no backup next to it
    bpy.ops.wm.save_as_mainfile(filepath=path, compress=True, relative_remap=False)


def here(name=""):
    """A path in the scene's own folder, once it was saved."""
    return os.path.join(os.path.dirname(bpy.data.filepath), name)


def bake_point_caches():
    """What the button "Bake All Dynamics" does."""
    bpy.ops.ptcache.bake_all(bake=True)


TURN = math.pi
