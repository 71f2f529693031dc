# SPDX-License-Identifier: GPL-3.0-or-later
"""What a person chooses. It lies in Blender's preferences, so that no setting of the add-on
changes the open file."""

import bpy

from . import openscene, version


class SVCRENDER_Preferences(bpy.types.AddonPreferences):
    bl_idname = __package__

    server: bpy.props.StringProperty(name="Service", default=version.SERVER, description="Address of the render service, such as https://render.example.com")
    which: bpy.props.EnumProperty(name="Frames", items=(
        ("SCENE", "Scene", "The scene's own range"), ("RANGE", "Range", "Other frames"), ("CURRENT", "Still", "The current frame alone")))
    first: bpy.props.IntProperty(name="First", default=1, min=1)
    last: bpy.props.IntProperty(name="Last", default=1, min=1)
    step: bpy.props.IntProperty(name="Step", default=1, min=1)
    pack: bpy.props.BoolProperty(name="Pack Files", default=True, description=(
        "Pack the scene's files into the uploaded copy. Otherwise they are uploaded next to it, with sequences, movies, caches and the textures of libraries"))
    folder: bpy.props.StringProperty(name="Folder", subtype="DIR_PATH",
                                     description="Folder for frames; each job gets a subfolder. Empty: the folder renders next to the file")

    def draw(self, context):
        self.layout.prop(self, "server")
        self.layout.prop(self, "folder")

    def frames(self, scene):
        """The frames that are asked for; None is the scene's own range."""
        if self.which == "CURRENT":
            return scene.frame_current
        return "%d-%dx%d" % (self.first, self.last, self.step) if self.which == "RANGE" else None

    def frames_folder(self):
        return bpy.path.abspath(self.folder) if self.folder else openscene.default_folder(bpy.data.filepath)


def get(context):
    return context.preferences.addons[__package__].preferences


CLASSES = (SVCRENDER_Preferences,)
