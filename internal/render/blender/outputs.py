"""Finds what Blender writes for a frame besides its picture: the other views of a scene with
several, JPEG previews of OpenEXR pictures, and the files of the compositor's File Output nodes.

Views and previews have the picture's name with the suffix of their view. The first view is the
picture, without a suffix, as that of a scene with a single view.

File Output nodes write where pictures lie, each slot with a number before the name, so that no two
collide. The rest of the name is Blender's own: by the last part of the slot's path, with the
frame's number and the format's extension. The folders of the path become part of the name that
is reported. Names are made safe outside of the sandbox.
"""

import os
import re
import shutil

LONGEST = 150  # bytes of the last part of a path

ABSOLUTE = re.compile(r"[/\\]|[A-Za-z]:")
WRITTEN = re.compile(r"output_(\d+)_(.*)", re.DOTALL)


class TooMany(Exception):
    """More files than a frame may have."""

    def __init__(self, most):
        super().__init__("the scene writes more than %d files for a frame besides the picture, the most that a frame may have" % most)


class Outputs:
    """What an open file writes besides its pictures. views says that views and previews are
    among it."""

    def __init__(self, out, most, views):
        self.out, self.most, self.views = out, most, views
        self.seen = set()
        self.slots = []  # the folders of each one's path

    def redirect(self, node):
        """Has a node write below our folder. A group's node comes once for each scene."""
        if node.as_pointer() in self.seen:
            return
        self.seen.add(node.as_pointer())
        if node.format.file_format == "OPEN_EXR_MULTILAYER":
            folders, name = split(node.base_path)
            if any(socket.is_linked for socket in node.inputs):
                node.base_path = os.path.join(self.out, self.add(folders) + name)
            return
        base = below(node.base_path)
        node.base_path = self.out
        for slot, socket in zip(node.file_slots, node.inputs):
            folders, name = split(slot.path)
            if socket.is_linked:
                slot.path = self.add(base + folders) + name

    def add(self, folders):
        """Counts a slot; returns the beginning of its files' names."""
        if len(self.slots) == self.most:
            raise TooMany(self.most)
        self.slots.append(folders)
        return "output_%d_" % (len(self.slots) - 1)

    def clear(self, scene, number):
        """Removes what was written for a frame that is not wanted."""
        for path in pictures(scene, number):
            os.remove(path)
        for file in os.listdir(self.out) if self.slots else ():
            if WRITTEN.fullmatch(file):
                os.remove(os.path.join(self.out, file))

    def collect(self, scene, number):
        """What was written for a frame: the files, with their names. Moves a first view to the
        picture's place."""
        shown = self.collect_views(scene, number)
        found = self.collect_nodes()
        if len(shown) + len(found) > self.most:
            raise TooMany(self.most)
        return shown + found

    def collect_views(self, scene, number):
        picture, found = scene.render.frame_path(frame=number), []
        for at, path in enumerate(pictures(scene, number)):
            file = "view_%d" % at
            if at > 0:
                found.append({"file": file, "name": os.path.relpath(path, self.out), "view": True})
            move(path, picture if at == 0 else os.path.join(self.out, file))
        return found

    def collect_nodes(self):
        found = []
        for file in os.listdir(self.out) if self.slots else ():
            own = WRITTEN.fullmatch(file)
            if own and int(own.group(1)) < len(self.slots):
                found.append((int(own.group(1)), file, own.group(2)))
        return [{"file": file, "name": "/".join(self.slots[slot] + [name])} for slot, file, name in sorted(found)]


def views(scene):
    """The views that Blender renders of a scene; none of one with the camera's alone."""
    render = scene.render
    if not render.use_multiview:
        return []
    eyes = render.views_format == "STEREO_3D"
    return [view for view in render.views if view.use and (not eyes or view.name in ("left", "right"))]


def stereo(scene):
    """How many times as wide and as high as a view the scene's pictures are."""
    image = scene.render.image_settings
    if len(views(scene)) < 2 or image.views_format != "STEREO_3D" or image.stereo_3d_format.use_squeezed_frame:
        return 1, 1
    mode = image.stereo_3d_format.display_mode
    return 2 if mode == "SIDEBYSIDE" else 1, 2 if mode == "TOPBOTTOM" else 1


def pictures(scene, number):
    """The files that Blender wrote for a frame under the name of its picture: views, each with
    the JPEG next to it."""
    render = scene.render
    paths = [render.frame_path(frame=number)] + [render.frame_path(frame=number, view=view.name) for view in views(scene)]
    found = [path for path in dict.fromkeys(paths) if os.path.isfile(path)]
    if render.image_settings.use_preview and render.image_settings.file_format.startswith("OPEN_EXR"):
        found = [each for path in found for each in (path, os.path.splitext(path)[0] + ".jpg") if os.path.isfile(each)]
    return found


def move(path, to):
    """Moves a file. The sandbox may not let it go to another folder in one step."""
    if os.path.dirname(path) == os.path.dirname(to):
        os.replace(path, to)
    else:
        shutil.copyfile(path, to)
        os.remove(path)


def strays(scene):
    """The views whose files would lie in another folder than the picture, or in one above it."""
    folder = os.path.dirname(scene.render.frame_path(frame=0))
    return [view.name for view in views(scene) if not os.path.normpath(scene.render.frame_path(frame=0, view=view.name)).startswith(folder + os.sep)]


def parts(path):
    return [part for part in re.split(r"[/\\]", path) if part not in ("", ".", "..")]


def below(path):
    """The folders of a path that counts from the file's folder. Those of an absolute path are
    about the machine where the file was made: there are none of them."""
    relative = path[2:] if path.startswith("//") else path
    return [] if relative is path and ABSOLUTE.match(path) else parts(relative)


def split(path):
    """The folders of a path, and what follows the last slash."""
    end = max(path.rfind("/"), path.rfind("\\")) + 1
    return below(path[:end]), path[end:].encode("utf-8", "surrogateescape")[:LONGEST].decode("utf-8", "ignore")
