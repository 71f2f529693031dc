"""Renders strips of a picture, and finishes the picture that strips were joined to.

A strip is a multi-layer OpenEXR file of raw passes: Cycles computes a pixel from its place in
the whole picture, so the joined strips are what Cycles would have given, bit for bit. The
finisher is a render engine that gives Blender these passes instead of Cycles. All that follows
(compositor, colours, format, metadata) is then what Blender does with the file anyway.

Rows count from the top of what is rendered: of the picture, or of its border.
"""

import ctypes
import struct

import bpy
import cycles

FINISHER = "SVC_FINISH"

# Objects of these types were compared.
OBJECTS = {
    "MESH", "CURVE", "SURFACE", "META", "FONT", "CURVES", "HAIR", "POINTCLOUD", "VOLUME", "ARMATURE",
    "LATTICE", "EMPTY", "LIGHT", "LIGHT_PROBE", "CAMERA", "SPEAKER",
}
LINES = {"GPENCIL", "GREASEPENCIL"}

# What may change by the frame: each strip has the same then.
HARMLESS = {"cycles.seed", "cycles.samples"}


# -- what may be cut -----------------------------------------------------------


def doubt(scene, objects, denoises):
    """Why a scene that is rendered alone, without strips of the sequencer, is not to be rendered
    in strips, in the words of package strips; "" where that is proven."""
    render, settings = scene.render, scene.cycles
    types = {thing.type for thing in objects}
    largest = max(render.resolution_x, render.resolution_y) * render.resolution_percentage // 100
    tiled = getattr(settings, "use_auto_tile", False) and largest > settings.tile_size
    for reason, found in (
        ("denoising", denoises),
        ("time_limit", getattr(settings, "time_limit", 0) > 0),
        ("path_guiding", getattr(settings, "use_guiding", False)),
        ("shader_scripts", settings.shading_system),
        ("lines", types & LINES or render.use_freestyle and any(layer.use and layer.use_freestyle for layer in scene.view_layers)),
        ("world_volume", has_volume(scene.world)),
        ("adaptive_tiles", settings.use_adaptive_sampling and tiled),
        ("driven_settings", any(is_setting(path) for path in curves())),
        ("sample_counts", settings.use_adaptive_sampling and any(layer.use and layer.cycles.pass_debug_sample_count for layer in scene.view_layers)),
        ("unproven", types - OBJECTS - LINES or scene.background_set is not None),
    ):
        if found:
            return reason
    return ""


def has_volume(world):
    if world is None or not world.use_nodes or world.node_tree is None:
        return False
    return any(node.type == "OUTPUT_WORLD" and node.inputs["Volume"].is_linked for node in world.node_tree.nodes)


def is_setting(path):
    path = path.replace('["cycles"]', "cycles").replace('["', ".").replace('"]', "")
    return path.startswith(("render.", "cycles", "view_layers", "use_nodes")) and path not in HARMLESS


def curves():
    """The paths of all settings that drivers and keyframes of the file set, or drivers read."""
    for name in dir(bpy.data):
        kind = getattr(bpy.data, name)
        if not isinstance(kind, bpy.types.bpy_prop_collection):
            continue
        for owner in kind:
            if name == "actions":
                yield from (curve.data_path for curve in getattr(owner, "fcurves", ()))
            for animated in (owner, getattr(owner, "node_tree", None)):
                data = getattr(animated, "animation_data", None)
                for curve in data.drivers if data is not None else ():
                    yield curve.data_path
                    for variable in curve.driver.variables:
                        yield from (target.data_path for target in variable.targets)


# -- strips ----------------------------------------------------------------------


class Changes:
    """Settings of the scene that are other ones while a strip or the finisher renders."""

    def __init__(self):
        self.before = []

    def keep(self, owner, name):
        """Sets a setting back at the end as well."""
        self.before.append((owner, name, getattr(owner, name)))

    def set(self, owner, name, value):
        if hasattr(owner, name):
            self.keep(owner, name)
            setattr(owner, name, value)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for owner, name, value in reversed(self.before):
            setattr(owner, name, value)


def edge(share, of):
    """The pixel of an edge of a border. Blender multiplies in single precision."""
    return int(ctypes.c_float(share * of).value)


def region(scene, whole):
    """What is rendered of a picture of a size: the first pixels from the left and from below, and
    those after the last."""
    render, (width, height) = scene.render, whole
    if not render.use_border:
        return (0, 0), whole
    return (
        (edge(render.border_min_x, width), edge(render.border_min_y, height)),
        (edge(render.border_max_x, width), edge(render.border_max_y, height)),
    )


def rows(scene, whole):
    """How many rows are rendered."""
    (_, low), (_, high) = region(scene, whole)
    return high - low


def channels(scene):
    """How many numbers Blender has of each pixel of a scene's passes."""
    layers = used_layers(scene) if scene.render.engine == "CYCLES" else []
    return sum(len(names) for layer in layers for _, names, _ in cycles.engine.list_render_passes(scene, layer))


def cut(changes, scene, whole, rows):
    """Has a scene render some rows as raw passes."""
    render, image, height = scene.render, scene.render.image_settings, whole[1]
    above = region(scene, whole)[1][1]
    bordered = render.use_border
    changes.set(render, "use_border", True)
    changes.set(render, "use_crop_to_border", True)
    if not bordered:
        changes.set(render, "border_min_x", 0.0)
        changes.set(render, "border_max_x", 1.0)
    # Blender truncates, so an edge lies in the middle of a pixel.
    changes.set(render, "border_min_y", 0.0)
    changes.set(render, "border_max_y", min(1.0, (above - rows[0] + 0.5) / height))
    changes.set(render, "border_min_y", (above - rows[1] + 0.5) / height)
    for name in ("use_compositing", "use_sequencer", "use_stamp"):
        changes.set(render, name, False)
    # The picture's own colour management stays on: switched on again, it would be the scene's.
    overridden = getattr(image, "color_management", "") == "OVERRIDE"  # 3.2
    if overridden:
        space = image.linear_colorspace_settings
        changes.keep(space, "name")
    for name in ("color_depth", "color_mode", "exr_codec"):  # what the format below may change
        changes.keep(image, name)
    changes.set(image, "use_preview", False)
    changes.set(image, "file_format", "OPEN_EXR_MULTILAYER")
    image.color_depth, image.exr_codec = "32", "ZIP"
    if overridden:
        space.name = linear_space()
    if scene.cycles.use_adaptive_sampling:
        for layer in used_layers(scene):
            changes.set(layer.cycles, "pass_debug_sample_count", True)


def linear_space():
    """The name of the colour space that Cycles computes in."""
    image = bpy.data.images.new("svc: linear", 1, 1, float_buffer=True)
    try:
        return image.colorspace_settings.name
    finally:
        bpy.data.images.remove(image)


def used_layers(scene):
    return [layer for layer in scene.view_layers if layer.use]


# -- the finisher ------------------------------------------------------------------


class Unfit(Exception):
    """The joined strips are not those of the scene."""


class Finisher(bpy.types.RenderEngine):
    """Renders nothing: it hands out the passes of a file."""

    bl_idname = FINISHER
    bl_label = "svc: finish"
    # Those of Cycles, which decide what Blender does around the engine.
    bl_use_exclude_layers = True
    bl_use_spherical_stereo = True
    bl_use_custom_freestyle = True

    joined, came, failure = None, [], ""

    def update_render_passes(self, scene, layer):
        cycles.engine.register_passes(self, scene, layer)

    def render(self, depsgraph):
        try:
            self.give(depsgraph.scene, depsgraph.view_layer_eval)
        except RuntimeError as error:  # Blender would print it, and write the picture
            Finisher.failure = str(error)
            self.error_set(str(error))

    def give(self, scene, layer):
        joined = Finisher.joined
        for name, channels, _ in cycles.engine.list_render_passes(scene, layer):
            if name != "Combined":
                self.add_pass(name, len(channels), channels, layer=layer.name)
        result = self.begin_result(0, 0, *joined.size, layer=layer.name)
        result.load_from_file(joined.path)
        self.end_result(result)
        for key, value in joined.remarks.items():
            self.get_result().stamp_data_add_field(key, value)
        Finisher.came.append(layer.name)

    @classmethod
    def check(cls, scene):
        """Every view layer came from the strips, or the picture is not theirs."""
        missing = [layer.name for layer in used_layers(scene) if layer.name not in cls.came]
        if cls.failure or missing:
            raise Unfit(cls.failure or "the view layer %s did not come from the strips" % missing[0])


class Joined:
    """An OpenEXR file of one part, of which only the header is read."""

    def __init__(self, path):
        self.path, self.size, self.channels, self.remarks = path, (0, 0), set(), {}
        with open(path, "rb") as file:
            file.seek(8)
            while True:
                name = self.text(file)
                if not name:
                    break
                kind, length = self.text(file), struct.unpack("<i", file.read(4))[0]
                self.attribute(name, kind, file.read(length))

    @staticmethod
    def text(file):
        return b"".join(iter(lambda: file.read(1), b"\0")).decode("utf-8", "surrogateescape")

    def attribute(self, name, kind, value):
        if name == "dataWindow":
            left, top, right, bottom = struct.unpack("<4i", value)
            self.size = right - left + 1, bottom - top + 1
        elif name == "channels":
            while value and value[0]:
                channel, _, value = value.partition(b"\0")
                self.channels.add(channel.decode("utf-8", "surrogateescape"))
                value = value[16:]
        elif kind == "string" and name.startswith(("cycles.", "cryptomatte/")):
            self.remarks[name] = value.decode("utf-8", "replace")


def finish(changes, scene, whole, path):
    """Has a scene, whose pictures have a size, show the passes of a file. Blender takes a file that
    lacks some of them without a word, so that is looked at before."""
    joined, ((left, low), (right, high)) = Joined(path), region(scene, whole)
    if joined.size != (right - left, high - low):
        raise Unfit("the strips have %d x %d pixels, the picture has %d x %d" % (*joined.size, right - left, high - low))
    for layer in used_layers(scene):
        for name, channels, _ in cycles.engine.list_render_passes(scene, layer):
            if any("%s.%s.%s" % (layer.name, name, each) not in joined.channels for each in channels):
                raise Unfit("the strips lack the pass %s of the view layer %s" % (name, layer.name))
    Finisher.joined, Finisher.came, Finisher.failure = joined, [], ""
    changes.set(scene.render, "engine", FINISHER)


def register():
    bpy.utils.register_class(Finisher)
