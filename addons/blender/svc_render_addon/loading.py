# SPDX-License-Identifier: GPL-3.0-or-later
"""Puts a job's frames into the open file: as strips of the sequencer, as an image in the Image
Editor, or as a node of the compositor. Each is one step of the undo history."""

import os

import bpy

from . import work


def runs(numbers, step):
    """Frames as runs without a gap. ``step`` is the distance of neighbours that belong together."""
    found = []
    for number in numbers:
        if found and number - found[-1][-1] == step:
            found[-1].append(number)
        else:
            found.append([number])
    return found


def step_of(numbers):
    """The distance of frames of which only each second, fifth and so on was rendered; 1 where
    they have no single distance."""
    gaps = {b - a for a, b in zip(numbers, numbers[1:])}
    return gaps.pop() if len(gaps) == 1 else 1


def into_sequencer(scene, name, frames):
    """Adds strips that show each frame at its own place. Where each second or fifth was rendered,
    a frame stays until the next one; other gaps stay empty. Returns the strips."""
    editor = scene.sequence_editor or scene.sequence_editor_create()
    strips, all_strips = (getattr(editor, new if hasattr(editor, new) else old)  # 4.4 renamed them
                          for new, old in (("strips", "sequences"), ("strips_all", "sequences_all")))
    step, paths = step_of([number for number, _ in frames]), dict(frames)
    made = []
    parts = runs(sorted(paths), step)
    channel = free_channel(all_strips, min(paths), max(paths) + 1)
    for part in parts:
        strip = strips.new_image(name=name, filepath=paths[part[0]], channel=channel, frame_start=part[0], fit_method="ORIGINAL")
        for number in part:
            times = step if number != part[-1] else 1
            for _ in range(times - 1 if number == part[0] else times):
                strip.elements.append(os.path.basename(paths[number]))
        made.append(strip)
    return made


def free_channel(strips, first, end):
    """The lowest channel that is empty from a frame up to another."""
    taken = {strip.channel for strip in strips if strip.frame_final_start < end and strip.frame_final_end > first}
    return next(channel for channel in range(1, 129) if channel not in taken)


def multilayer(path):
    """Whether a picture is a multilayer OpenEXR."""
    image = bpy.data.images.load(path)
    read = image.size[0]  # Blender knows what it is when it has read it
    found = read >= 0 and image.type == "MULTILAYER"
    bpy.data.images.remove(image)
    return found


def image_of(name, frames):
    """An image of the frames, a sequence of several. Blender chooses the colour space by the
    file's kind."""
    image = bpy.data.images.load(frames[0][1])
    image.name = name
    if len(frames) > 1:
        image.source = "SEQUENCE"
    return image


def time_image(user, frames):
    """Has a user of an image show each frame at its own place."""
    first = frames[0][0]
    user.frame_duration, user.frame_start, user.frame_offset = frames[-1][0] - first + 1, first, first - 1


def into_compositor(scene, name, frames):
    """Adds an Image node, connected to nothing. Returns it."""
    tree = tree_of(scene)
    node = tree.nodes.new("CompositorNodeImage")
    node.image = image_of(name, frames)
    node.label = name
    if len(frames) > 1:
        time_image(node, frames)
    node.location = (min((other.location.x for other in tree.nodes if other != node), default=0) - 300, 0)
    for other in tree.nodes:
        other.select = other == node
    tree.nodes.active = node
    return node


def tree_of(scene):
    """The compositor's nodes. A scene that has none gets those with which Blender begins."""
    if hasattr(scene, "compositing_node_group"):  # Blender 5
        if scene.compositing_node_group is None:
            scene.compositing_node_group = bpy.data.node_groups.new("Compositing", "CompositorNodeTree")
        return scene.compositing_node_group
    if scene.node_tree is None:
        scene.use_nodes = True
    return scene.node_tree


class SVCRENDER_OT_load(bpy.types.Operator):
    """Put the frames into the open file"""

    bl_idname = "svcrender.load"
    bl_label = "Load"
    bl_options = {"REGISTER", "UNDO", "INTERNAL"}

    quote_id: bpy.props.StringProperty(options={"HIDDEN", "SKIP_SAVE"})
    where: bpy.props.EnumProperty(name="Load Into", options={"SKIP_SAVE"}, items=(
        ("IMAGE", "Image Editor", "Open the frames as an image sequence", "IMAGE", 0),
        ("SEQUENCER", "Video Sequencer", "Add strips to this scene's sequencer, each frame at its own place", "SEQUENCE", 1),
        ("COMPOSITOR", "Compositor", "Add an Image node with the frames to this scene's compositor", "NODE_COMPOSITING", 2)))

    def execute(self, context):
        from .operators import editor, session
        entry = session().jobs.get(self.quote_id) or {}
        frames = work.numbered(entry.get("frames_folder", ""))
        if not frames:
            self.report({"ERROR"}, "The frames are not there")
            return {"CANCELLED"}
        name = os.path.basename(entry["frames_folder"])
        if self.where == "SEQUENCER" and multilayer(frames[0][1]):
            self.report({"ERROR"}, "Blender's sequencer cannot read multilayer OpenEXR. Load the frames into the compositor")
            return {"CANCELLED"}
        if self.where == "SEQUENCER":
            made = into_sequencer(context.scene, name, frames)
            self.report({"INFO"}, "Channel %d of the sequencer, from frame %d" % (made[0].channel, frames[0][0]))
        elif self.where == "COMPOSITOR":
            into_compositor(context.scene, name, frames)
            self.report({"INFO"}, "Image node %s in the compositor" % name)
        else:
            space = editor(context)
            space.image = image_of(name, frames)
            if len(frames) > 1:
                time_image(space.image_user, frames)
                space.image_user.use_auto_refresh = True
        return {"FINISHED"}


CLASSES = (SVCRENDER_OT_load,)
