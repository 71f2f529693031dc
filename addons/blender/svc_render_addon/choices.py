# SPDX-License-Identifier: GPL-3.0-or-later
"""What a person chooses for the next order in place of what the file says. A choice counts while
the file is open, and no file keeps it."""

import os
import zlib

import bpy

#: The choices by their names at the service; what is absent is as in the file.
_chosen = {}
#: Blender does not keep the texts of a menu that a function makes: this list does.
_shown = {}


def forget():
    """Everything is as in the file again."""
    _chosen.clear()


def settings(scene):
    """What differs from the file, as the service takes it."""
    offers = {"camera": cameras(scene), "view_layer": [layer.name for layer in scene.view_layers]}
    return {name: value for name, value in _chosen.items() if value in offers.get(name, (value,))}


def cameras(scene):
    return sorted(one.name for one in scene.objects if one.type == "CAMERA")


def configuration(named=""):
    """The OpenColorIO configuration with which the scene is rendered: a path, "none" for Blender's
    own colours, or "" for what the variable OCIO names, with which this Blender runs. Returns its
    path, "" of none. Error: RuntimeError where it cannot be sent."""
    path = named or os.environ.get("OCIO", "")
    if path in ("", "none"):
        return ""
    if path.startswith("ocio://"):
        raise RuntimeError("%s is built into OpenColorIO and cannot be sent. Set OCIO to a file, or render with Blender's own colours." % path)
    if not os.path.isfile(path):
        raise RuntimeError("The OpenColorIO configuration %s is not a file. Set OCIO to a file, or render with Blender's own colours." % path)
    return os.path.abspath(path)


def marked(scene):
    """The frames from the first to the last selected marker. Error: RuntimeError of fewer than two."""
    places = [marker.frame for marker in scene.timeline_markers if marker.select]
    if len(places) < 2:
        raise RuntimeError("Select two markers in the timeline first")
    return "%d-%d" % (min(places), max(places))


def number(name):
    """The number of a name in a menu. It stays when other names come and go."""
    return zlib.crc32(name.encode("utf-8")) & 0x7FFFFFFF or 1


def menu(setting, file_says, names):
    """The entries of a menu: as in the file, then each name."""
    _shown[setting] = [("FILE", file_says, "As in the file", 0)] + [(name, name, "", number(name)) for name in names]
    return _shown[setting]


def camera_items(_, context):
    scene = bpy.context.scene
    return menu("camera", "Scene Camera (%s)" % scene.camera.name if scene.camera else "Scene Camera", cameras(scene))


def layer_items(_, context):
    return menu("view_layer", "All That Render", [layer.name for layer in bpy.context.scene.view_layers])


def choice(setting, names):
    """Functions that read and write a choice of a menu."""
    def get(_):
        name = settings(bpy.context.scene).get(setting)
        return number(name) if name is not None else 0

    def set(_, value):
        name = next((one for one in names(bpy.context.scene) if number(one) == value), None)
        keep(setting, name)

    return {"get": get, "set": set}


def keep(setting, value):
    if value is None:
        _chosen.pop(setting, None)
    else:
        _chosen[setting] = value


def amount(setting, file_says, most):
    """Functions that read and write a number; that of the file is no choice."""
    def get(_):
        return _chosen.get(setting, file_says(bpy.context.scene))

    def set(_, value):
        there = file_says(bpy.context.scene)
        value = min(value, most(bpy.context.scene))
        keep(setting, None if value == there else value)

    return {"get": get, "set": set}


def samples_of(scene):
    return scene.cycles.samples if hasattr(scene, "cycles") else 1


CAMERA = choice("camera", cameras)
VIEW_LAYER = choice("view_layer", lambda scene: [layer.name for layer in scene.view_layers])
RESOLUTION = amount("resolution_percentage", lambda scene: scene.render.resolution_percentage, lambda scene: 100)
SAMPLES = amount("samples", samples_of, samples_of)


class SVCRENDER_OT_as_in_file(bpy.types.Operator):
    """Render with the camera, view layers, resolution and samples of the file"""

    bl_idname = "svcrender.as_in_file"
    bl_label = "Reset to the File's Settings"
    bl_options = {"INTERNAL"}

    def execute(self, context):
        forget()
        return {"FINISHED"}


CLASSES = (SVCRENDER_OT_as_in_file,)
