# SPDX-License-Identifier: GPL-3.0-or-later
"""What a person chooses. It lies in Blender's preferences, so that no setting of the add-on
changes the open file."""

import bpy

from . import choices, openscene, version


class SVCRENDER_Preferences(bpy.types.AddonPreferences):
    bl_idname = __package__

    server: bpy.props.StringProperty(name="Service", default=version.SERVER, description="Address of the render service, such as https://render.example.com")
    which: bpy.props.EnumProperty(name="Frames", items=(
        ("SCENE", "Scene", "The frame range of the scene"), ("CURRENT", "Current", "The current frame alone"),
        ("MARKERS", "Markers", "From the first to the last selected marker of the timeline"), ("LIST", "Custom", "A list of frames")))
    frame_list: bpy.props.StringProperty(name="Frames", description="Frames and ranges, such as 1-50, 80 or 1-250x5")
    more: bpy.props.BoolProperty(name="More Settings", description="Show settings in which the order can differ from the file")
    camera: bpy.props.EnumProperty(name="Camera", items=choices.camera_items, description="The camera for all frames", **choices.CAMERA)
    view_layer: bpy.props.EnumProperty(name="View Layer", items=choices.layer_items, description="The only view layer to render", **choices.VIEW_LAYER)
    resolution: bpy.props.IntProperty(name="Resolution", subtype="PERCENTAGE", min=1, max=100,
                                      description="Size of the frames, in percent of the scene's resolution", **choices.RESOLUTION)
    samples: bpy.props.IntProperty(name="Samples", min=1, description="Render samples; at most as many as the scene has", **choices.SAMPLES)
    ocio: bpy.props.BoolProperty(name="Send the OpenColorIO Configuration", default=True, description=(
        "Render with the configuration that the variable OCIO names, as this Blender does. Otherwise the colours are those of a plain Blender"))
    pack: bpy.props.BoolProperty(name="Pack Files", default=True, description=(
        "Pack the scene's files into the uploaded copy. Otherwise they are uploaded next to it, with sequences, movies, caches and the textures of libraries"))
    folder: bpy.props.StringProperty(name="Folder", subtype="DIR_PATH",
                                     description="Folder for frames; each job gets a subfolder. Empty: the folder renders next to the file")

    def draw(self, context):
        self.layout.prop(self, "server")
        self.layout.prop(self, "folder")

    def frames(self, scene):
        """The frames that are asked for; None is the scene's own range. Error: RuntimeError where
        they are not named yet."""
        if self.which == "CURRENT":
            return scene.frame_current
        if self.which == "MARKERS":
            return choices.marked(scene)
        if self.which == "LIST" and not self.frame_list.strip():
            raise RuntimeError("Enter the frames first, such as 1-50, 80")
        return self.frame_list.strip() if self.which == "LIST" else None

    def configuration(self):
        """The OpenColorIO configuration that is sent; "" of none. Error: RuntimeError."""
        return choices.configuration("" if self.ocio else "none")

    def frames_folder(self):
        return bpy.path.abspath(self.folder) if self.folder else openscene.default_folder(bpy.data.filepath)


def get(context):
    return context.preferences.addons[__package__].preferences


CLASSES = (SVCRENDER_Preferences,)
