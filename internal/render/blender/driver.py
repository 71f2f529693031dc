"""Runs inside Blender and renders frames on command.

One JSON object a line: commands come in on file descriptor 3, replies leave on
4; standard output stays Blender's own. Commands: open, play, render, divides, strip, finish. A reply named
"error" refuses the command and leaves the process usable only for its end.

Persistent data is what Blender calls keeping the scene inside Cycles from one
frame to the next. It is used only where a frame's pixels are proven to be those
without it (kept.py, which lies next to this file).

Written for Blender 3.0 to 4.x (the contract is 4.1). Comments mark where those
differ; 5.0 keeps the compositor's nodes elsewhere, which is handled, but 5.0 is
not supported otherwise.
"""

import array
import ast
import ctypes
import hashlib
import json
import math
import os
import re
import resource
import sys
import time

import _cycles
import bpy
import cycles

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True

import kept  # noqa: E402  (of this folder)
import movies  # noqa: E402
import outputs  # noqa: E402
import strips  # noqa: E402

# The order is by speed on hardware that offers several of them.
BACKENDS = ("OPTIX", "CUDA", "HIP", "METAL", "ONEAPI")
SPELLED = {"OPTIX": "OptiX", "METAL": "Metal", "ONEAPI": "oneAPI"}

# Formats whose values are light, and not codes for a screen.
LINEAR = {"OPEN_EXR", "HDR"}
# Formats that the Go side decodes and hashes itself, that Blender shows no pixels of
# (multi-layer EXR), or that it writes but cannot read in every colour mode (IRIS).
HASHED_ELSEWHERE = {"PNG", "JPEG", "OPEN_EXR_MULTILAYER", "IRIS"}


class Refusal(Exception):
    """A command that cannot be done; code is a failure code of the service."""

    def __init__(self, code, message, final=False):
        super().__init__(message)
        self.code, self.message, self.final = code, message, final


# -- what Python may run -----------------------------------------------------

# Blender's own code makes Python of text in two places: Freestyle, to draw a line set, and
# Mantaflow, to compute and read fluids. Names and paths of the file are in calls alone, which
# may have nothing but literals.
LITERAL = rb"(?:'(?:[^'\\\n]|\\.)*'|[\w.+-]+)"
CALL = re.compile(rb"(?:__import__\('parameter_editor'\)\.process|[a-z_]+_\d+|set_manta_debuglevel)\((?:%s(?:, ?%s)*)?\)\s*" % (LITERAL, LITERAL))
SCRIPT = re.compile(rb"\n|from manta import \*")  # Mantaflow's, of which only numbers are the file's

# A driver's expression. Blender computes it where scripts are disabled only if it consists
# of a few harmless operations.
EXPRESSION = "<bpy driver>"

STARTS_A_PROGRAM = {"os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system", "subprocess.Popen", "pty.spawn"}


def refuse_foreign_code():
    """Ends Python, from now on, whose source is neither Blender's nor the driver's: however
    a file got in, its code must be compiled first. It cannot be undone."""

    def below(folders):
        return tuple(os.path.join(os.path.realpath(folder), "") for folder in folders if os.path.isabs(folder))

    # The driver's folder has the job's files in it, and home may be written.
    never = below([os.environ["HOME"], os.path.dirname(os.path.abspath(__file__))])
    resources = [bpy.utils.resource_path(kind) for kind in ("LOCAL", "SYSTEM")]
    scripts = below(os.path.join(folder, "scripts") for folder in resources if folder)
    libraries = below([os.path.dirname(os.__file__), *sys.path])
    libraries = tuple(folder for folder in libraries if not folder.startswith(scripts + never))

    def is_trusted(name, folders=scripts + libraries):
        return isinstance(name, str) and os.path.realpath(name).startswith(folders)

    def is_content(name, source):
        """Whether a file has that source: a text of the scene may have a file's name."""
        if isinstance(source, str):
            source = source.encode("utf-8", "surrogatepass")
        try:
            with open(name, "rb") as file:
                return file.read() == bytes(source)
        except (OSError, TypeError, ValueError):
            return False

    def may_compile(source, name):
        if isinstance(name, bytes):
            name = os.fsdecode(name)
        if name == EXPRESSION or is_trusted(name) and is_content(name, source):
            return True
        # Libraries make code of text, such as named tuples. Blender's scripts do not, and
        # code of a file runs where they call Blender.
        if is_trusted(caller(), libraries):
            return True
        return name == "<string>" and isinstance(source, bytes) and bool(CALL.fullmatch(source) or SCRIPT.match(source))

    def caller():
        try:
            return sys._getframe(3).f_code.co_filename
        except ValueError:  # Blender itself
            return ""

    def judge(event, arguments):
        if event == "compile":
            refused = not may_compile(*arguments)
        elif event == "exec":
            name = arguments[0].co_filename
            refused = not name.startswith("<") and not is_trusted(name)  # others were compiled
        elif event == "import":
            refused = arguments[1] is not None and not is_trusted(arguments[1])
        else:
            refused = event in STARTS_A_PROGRAM
        if refused:
            os.write(2, b"svc: Python of the file was refused (%s)\n" % event.encode())
            raise PermissionError("only Blender's own Python runs here")

    sys.addaudithook(judge)


def guarded():
    """Whether foreign code is refused, found out by trying."""
    try:
        compile("x", "foreign", "eval")
    except PermissionError:
        return True
    return False


# -- devices -----------------------------------------------------------------


def offered_devices():
    """Every device Cycles sees, as {type, name}, GPUs first."""
    found, seen = [], set()
    for backend in BACKENDS + ("NONE",):
        try:
            listed = _cycles.available_devices(backend)
        except ValueError:  # a backend this Blender was not built with
            continue
        for entry in listed:  # (name, type, id, ...): longer in newer versions
            name, kind, key = entry[0], entry[1], entry[2]
            if (kind, key) not in seen and (kind == backend or kind == "CPU"):
                seen.add((kind, key))
                found.append({"type": kind, "name": name})
    return sorted(found, key=lambda device: device["type"] == "CPU")


def enable_device(wanted):
    """Switches the asked-for device on; returns (backend or CPU, its names)."""
    offered = offered_devices()
    preferences = bpy.context.preferences.addons["cycles"].preferences
    if wanted == "cpu":
        preferences.compute_device_type = "NONE"
        names = [d["name"] for d in offered if d["type"] == "CPU"]
        return "CPU", names[0] if names else "CPU"
    for backend in BACKENDS:
        names = [d["name"] for d in offered if d["type"] == backend]
        if not names:
            continue
        preferences.compute_device_type = backend
        # get_devices refreshes the list in every version; from 3.3 on it only
        # forwards to refresh_devices and returns nothing.
        preferences.get_devices()
        for device in preferences.devices:
            device.use = device.type == backend
        if renders_on(backend):
            return backend, "%s (%s)" % (" + ".join(names), SPELLED.get(backend, backend))
    raise Refusal("gpu_unavailable", "Blender finds no GPU that Cycles can render on")


def renders_on(backend):
    """Whether Cycles would use that backend for a scene that asks for the GPU; with
    no device of it switched on, it takes the CPU and says nothing."""
    preferences = bpy.context.preferences.addons["cycles"].preferences
    return preferences.compute_device_type == backend and any(
        device.use and device.type == backend for device in preferences.devices
    )


def pin_device(scene, device):
    """The device for every frame, overriding the file's animation."""
    scene.cycles.device = device
    stop_animation(scene, {"cycles.device"})


def stop_animation(scene, paths):
    """Lets no driver and no curve of a scene set what is set here."""
    for curve in animation_curves(scene):
        if curve.data_path in paths:
            curve.mute = True


def animation_curves(scene):
    """The drivers and keyframes of a scene's own settings."""
    data = scene.animation_data
    if data is None:
        return []
    curves = list(data.drivers) + list(getattr(data.action, "fcurves", ()))
    for track in data.nla_tracks:
        curves.extend(curve for strip in track.strips for curve in getattr(strip.action, "fcurves", ()))
    return curves


# -- colour management ---------------------------------------------------------


def taken(owner, setting):
    """The names that a setting takes. Scripts get no list of them, but the error for a
    name that is none has one."""
    try:
        setattr(owner, setting, "\x01")
    except TypeError as error:
        listed = str(error).partition(" not found in ")[2]
        names = ast.literal_eval(listed) if listed else ()
        return [names] if isinstance(names, str) else list(names)
    return []


def offered_colors():
    """What this Blender has: displays with their views, looks and colour spaces. Empty
    if unknown. It asks with the current scene: Blender lists the views of its display
    for every scene."""
    scene, image = bpy.context.scene, bpy.data.images.new("colors", 1, 1)
    display, view = scene.display_settings, scene.view_settings
    before = display.display_device, view.view_transform, view.look
    try:
        displays, looks = [], []
        for name in taken(display, "display_device"):
            display.display_device = name
            views = taken(view, "view_transform")
            displays.append({"name": name, "views": views})
            for each in views:
                view.view_transform = each
                looks.extend(look for look in taken(view, "look") if look not in ["None"] + looks)
        return {"displays": displays, "looks": looks, "spaces": taken(image.colorspace_settings, "name")}
    except (TypeError, ValueError, SyntaxError) as error:
        print("The colour management cannot be listed:", error, file=sys.stderr)
        return {}
    finally:
        display.display_device, view.view_transform, view.look = before
        bpy.data.images.remove(image)


def settle_colors(scene, switched):
    """Blender replaces unknown names of a scene with its defaults, but not those of the
    output's own settings, and ends when it writes with them (3.4). Then the scene's
    settings are used."""
    image = scene.render.image_settings
    if getattr(image, "color_management", "") == "OVERRIDE":  # 3.2
        names = (image.display_settings.display_device, image.view_settings.view_transform, image.view_settings.look, image.linear_colorspace_settings.name)
        if not all(names):
            image.color_management = "FOLLOW_SCENE"
            switched.add("output_colors_off")
    # It also ends at a node that converts from or to a colour space that it does not
    # have (3.4).
    for other in bpy.data.scenes:
        for node in nodes_of(compositor_tree(other)):
            if node.bl_idname == "CompositorNodeConvertColorSpace" and not node.mute and not (node.from_color_space and node.to_color_space):
                node.mute = True
                switched.add("color_conversions_off")


# -- build options -------------------------------------------------------------


def lacking_options():
    """What scenes may need and this Blender was built without, in the words of the
    service."""
    has = {
        "alembic": bpy.app.alembic.supported,
        "usd": bpy.app.usd.supported,
        "osl": _cycles.with_osl,
        "openvdb": bpy.app.openvdb.supported,
        "movies": bpy.app.ffmpeg.supported,
    }
    return [option for option, there in has.items() if not there]


# -- what a scene asks for ---------------------------------------------------


def compositor_tree(scene):
    if not scene.render.use_compositing:
        return None
    if hasattr(scene, "compositing_node_group"):  # 5.0
        return scene.compositing_node_group
    return scene.node_tree if scene.use_nodes else None


def nodes_of(tree, seen=None):
    """All nodes of a tree, groups entered, each tree once."""
    seen = set() if seen is None else seen
    if tree is None or tree.name in seen:
        return
    seen.add(tree.name)
    for node in tree.nodes:
        yield node
        if node.type == "GROUP" and node.node_tree is not None:
            yield from nodes_of(node.node_tree, seen)


def shown_strips(scene):
    """The strips that make a scene's picture: no sounds, none that are muted or in a muted
    channel, unless an effect takes them in; those in meta strips, and those of scenes that
    are shown by their strips."""
    if not sequenced(scene):
        return
    edits, entered = [scene.sequence_editor], {scene}
    for edit in edits:  # it grows on the way
        channels = getattr(edit, "channels", None)  # 3.3
        seen = [
            strip for strip in strips_of(edit)
            if not (strip.type == "SOUND" or strip.mute or (channels is not None and channels[strip.channel].mute))
        ]
        for strip in seen:  # it grows on the way
            seen.extend(taken for taken in inputs_of(strip) if taken not in seen)
            yield strip
            if strip.type == "META":
                edits.append(strip)
            elif shows_strips(strip) and strip.scene not in entered and sequenced(strip.scene):
                entered.add(strip.scene)
                edits.append(strip.scene.sequence_editor)


def strips_of(edit):
    return edit.strips if hasattr(edit, "strips") else edit.sequences  # 4.4


def inputs_of(strip):
    """The strips that an effect takes in, muted or not."""
    return [taken for taken in (getattr(strip, "input_1", None), getattr(strip, "input_2", None)) if taken is not None]


def shows_strips(strip):
    return strip.type == "SCENE" and strip.scene is not None and strip.scene_input == "SEQUENCER"


def shows_scene(strip):
    return strip.type == "SCENE" and strip.scene is not None and strip.scene_input != "SEQUENCER"


def sequenced(scene):
    """Whether the sequencer makes a scene's picture. Sounds alone leave it as it is."""
    editor = scene.sequence_editor
    return scene.render.use_sequencer and editor is not None and any(strip.type != "SOUND" for strip in strips_of(editor))


def framed_scenes(scene):
    """The scenes whose frames a scene's picture shows: that of its strips, or itself."""
    if not sequenced(scene):
        return [scene]
    return list(dict.fromkeys(strip.scene for strip in shown_strips(scene) if shows_scene(strip)))


def layered_scenes(scene):
    """The scenes whose objects are rendered for a scene's frame without its strips."""
    tree = compositor_tree(scene)
    if tree is None:
        return [scene]
    return list(dict.fromkeys(node.scene or scene for node in tree.nodes if node.type == "R_LAYERS" and not node.mute))


def rendered_scenes(scene):
    """The scene, those whose frames it shows, and those whose objects are rendered."""
    scenes = [scene]
    for framed in framed_scenes(scene):
        scenes.extend(other for other in [framed] + layered_scenes(framed) if other not in scenes)
    return list(dict.fromkeys(scenes))


def choose(settings):
    """Makes the scene what an order has chosen of it, as if the file had been saved so. What
    the file does not have was refused before the price: here it means another file."""

    def named(things, kind, name):
        for thing in things:
            if thing.name == name and getattr(thing, "library", None) is None:
                return thing
        raise Refusal("frame_check_failed", "Blender finds no %s %s in this file" % (kind, name), final=True)

    if settings.get("scene"):
        chosen = named(bpy.data.scenes, "scene", settings["scene"])
        for window in bpy.context.window_manager.windows:
            window.scene = chosen
    scene = bpy.context.scene
    if settings.get("camera"):
        scene.camera = named(bpy.data.objects, "camera", settings["camera"])
        for marker in scene.timeline_markers:
            marker.camera = None
    if settings.get("view_layer"):
        only = named(scene.view_layers, "view layer", settings["view_layer"])
        for layer in scene.view_layers:
            layer.use = layer == only
        stop_animation(scene, {'view_layers["%s"].use' % bpy.utils.escape_identifier(layer.name) for layer in scene.view_layers})
    render = scene.render
    if settings.get("resolution_x"):
        render.resolution_x, render.resolution_y = settings["resolution_x"], settings["resolution_y"]
        stop_animation(scene, {"render.resolution_x", "render.resolution_y"})
    if settings.get("resolution_x") or settings.get("resolution_percentage"):
        render.resolution_percentage = settings.get("resolution_percentage", 100)
        stop_animation(scene, {"render.resolution_percentage"})
    if settings.get("samples"):
        scene.cycles.samples = settings["samples"]
        stop_animation(scene, {"cycles.samples", '["cycles"]["samples"]'})


def refuse_another(scene, priced):
    """Refuses to render another scene than the one that was priced. A name that is not
    UTF-8 cannot be compared."""
    if priced and scene.name != priced and "\ufffd" not in priced:
        raise Refusal("frame_check_failed", "Blender renders the scene %s of this file; the price is for the scene %s" % (scene.name, priced), final=True)


def settle_engines(scene, switched):
    """Leaves out strips of scenes of other engines, which only a screen's driver could
    render; refuses what has no other."""

    def foreign(framed):
        return [other for other in layered_scenes(framed) if other.render.engine != "CYCLES"]

    refusal = "%s renders with %s, not with CYCLES"
    if not sequenced(scene):
        for other in foreign(scene) or ([] if layered_scenes(scene) or scene.render.engine == "CYCLES" else [scene]):
            raise Refusal("blender_crashed", refusal % ("the scene " + other.name, other.render.engine), final=True)
        return
    strips = [strip for strip in shown_strips(scene) if shows_scene(strip)]
    others = [strip for strip in strips if foreign(strip.scene)]
    if not strips and scene.render.engine != "CYCLES":
        raise Refusal("blender_crashed", refusal % ("the scene " + scene.name, scene.render.engine), final=True)
    if strips and len(others) == len(strips):
        shown = foreign(others[0].scene)[0]
        raise Refusal("blender_crashed", refusal % ("the scene %s, which the strip %s shows," % (shown.name, others[0].name), shown.render.engine), final=True)
    taken = [each for strip in shown_strips(scene) for each in inputs_of(strip)]
    for strip in others:
        strip.mute = True
        if strip in taken:  # an effect renders it all the same
            strip.scene = empty_scene()
        switched.add("sequencer_off")


def empty_scene():
    """A scene of which Cycles renders nothing, transparent."""
    name = "svc: left out"
    if name not in bpy.data.scenes:
        empty = bpy.data.scenes.new(name)
        empty.render.engine, empty.render.film_transparent = "CYCLES", True
        empty.cycles.samples, empty.cycles.use_denoising = 1, False
        empty.camera = bpy.data.objects.new(name, bpy.data.cameras.new(name))
        empty.collection.objects.link(empty.camera)
    return bpy.data.scenes[name]


def layers_to_denoise(scene):
    if not scene.cycles.use_denoising:
        return False
    return any(
        layer.use and getattr(layer.cycles, "use_denoising", True)
        for layer in scene.view_layers
    )


def active_nodes(scene, kind):
    return [n for n in nodes_of(compositor_tree(scene)) if n.type == kind and not n.mute]


def can_denoise(scene, backend):
    """Whether this Blender can do the denoising that a scene's layers ask for."""
    if _cycles.with_openimagedenoise:
        return True
    # The denoiser list is built from what is available: without OptiX its entry
    # is missing and the property reads as an empty string.
    return backend == "OPTIX" and scene.cycles.denoiser == "OPTIX"


def used_nodes(tree, entered=None):
    """The nodes of a compositor's tree from which links lead to its end, groups entered."""
    entered = set() if entered is None else entered
    if tree is None or tree.name in entered:
        return
    entered.add(tree.name)
    nodes = [node for node in tree.nodes if node.type in ("COMPOSITE", "GROUP_OUTPUT") and not node.mute]
    seen = set(node.name for node in nodes)
    for node in nodes:  # it grows on the way
        yield node
        if node.type == "GROUP":
            yield from used_nodes(node.node_tree, entered)
        for link in (link for socket in node.inputs for link in socket.links):
            if not getattr(link, "is_muted", False) and link.from_node.name not in seen:  # 2.93
                seen.add(link.from_node.name)
                nodes.append(link.from_node)


def settle_denoising(scene, setting, backend, switched):
    framed = framed_scenes(scene)
    nodes = [
        node for each in framed for node in used_nodes(compositor_tree(each))
        if node.type == "DENOISE" and not node.mute
    ]
    layered = list(dict.fromkeys(other for each in framed for other in layered_scenes(each)))
    scenes = [other for other in layered if layers_to_denoise(other)]
    if setting == "off":
        for other in scenes:
            other.cycles.use_denoising = False
        for node in nodes:
            node.mute = True
        if scenes or nodes:
            switched.add("denoise_off")
        return
    by_settings = any(not can_denoise(other, backend) for other in scenes)
    if by_settings or (nodes and not _cycles.with_openimagedenoise):
        where = "its render settings" if by_settings else "a Denoise node of its compositor"
        raise Refusal(
            "denoiser_unavailable",
            "the scene asks for denoising (in " + where + ") and this Blender is built without "
            "OpenImageDenoise; switch denoising off in the scene, or start the worker with --denoise off",
            final=True,
        )


# -- our settings on the scene -----------------------------------------------


def settle_output(scene, switched, written):
    """The scene's own still picture, under our names. What File Output nodes write goes
    where written says; None mutes them. It also says whether views and previews are written."""
    render = scene.render
    if render.is_movie_format:
        if hasattr(render.image_settings, "media_type"):  # 5.0 sorts formats by medium
            render.image_settings.media_type = "IMAGE"
        render.image_settings.file_format = "PNG"
        render.image_settings.color_depth = "8"
        switched.add("movie_output_as_png")
    views = written is not None and written.views
    if render.use_multiview and not views:
        render.use_multiview = False
        switched.add("multiview_off")
    # "-a" renders all layers regardless of this; the operator would render one.
    render.use_single_layer = False
    if render.image_settings.file_format.startswith("OPEN_EXR") and render.image_settings.use_preview and not views:
        render.image_settings.use_preview = False  # a second file for each frame
        switched.add("exr_preview_off")
    if render.use_stamp and (render.use_stamp_filename or render.use_stamp_hostname):
        switched.add("stamp_names_off")
    # Otherwise every picture's metadata would contain this machine's name and
    # folders.
    render.use_stamp_filename = False
    render.use_stamp_hostname = False
    render.use_file_extension = True
    render.use_overwrite = True
    render.use_placeholder = False
    for other in rendered_scenes(scene):
        for node in active_nodes(other, "OUTPUT_FILE"):
            if written is None or not hasattr(node, "base_path"):  # 5.0
                node.mute = True
                switched.add("file_output_muted")
            else:
                written.redirect(node)


# Smaller pictures are packed in less time than it takes to write and read them once more;
# larger ones take much room meanwhile.
LEFT_PACKING = range(1 << 20, (1 << 26) + 1)  # pixels


def leave_packing(scene):
    """Lets Blender write a large PNG without compression, which it does on one core while
    nothing is rendered. Returns the level of zlib's that the scene asks for, or 0 where its
    pictures are as it asks."""
    image = scene.render.image_settings
    width, height = picture_size(scene)
    if scene.render.use_multiview:  # only the first view would be packed
        return 0
    level = min(9, int(image.compression / 11.1111))  # as Blender itself converts it
    if image.file_format != "PNG" or width * height not in LEFT_PACKING or level == 0:
        return 0
    image.compression = 0
    return level


# What holds no files: to read a device or a pipe may never come to an end, and
# descriptor 3 is the pipe that our commands come by.
SPECIAL = ("/dev/", "/proc/", "/sys/")


def is_special(path):
    """Whether a path, or a folder of pictures that have numbers, is in a place
    without files, or what is there is neither a file nor a folder."""
    real = os.path.realpath(path)
    folder = os.path.realpath(os.path.dirname(path))
    special = any((place + "/").startswith(SPECIAL) for place in (real, folder))
    return special or (os.path.exists(real) and not os.path.isfile(real) and not os.path.isdir(real))


def drop_special_files(switched):
    """Lets what lies in no file look like a file that is missing."""
    data = bpy.data
    for things in (data.images, data.movieclips, data.sounds, data.fonts, data.volumes, data.cache_files):
        for thing in things:
            path = bpy.path.abspath(thing.filepath, library=thing.library)
            packed = getattr(thing, "packed_file", None) is not None
            if path and not packed and is_special(path):
                thing.filepath = "/no-file" + os.path.abspath(path)
                switched.add("special_files_dropped")


def drop_style_modules(switched):
    """Freestyle's style modules are Python, which Blender runs even where scripts are
    disabled. All are removed: an animation can switch the layer, the mode and the module."""
    for layer in (layer for scene in bpy.data.scenes for layer in scene.view_layers):
        settings = getattr(layer, "freestyle_settings", None)  # a build without Freestyle
        if settings is None:
            continue
        if settings.mode == "SCRIPT" and len(settings.modules) > 0:
            switched.add("style_modules_off")
        while len(settings.modules) > 0:
            settings.modules.remove(settings.modules[0])
        # It also writes both names into a line of Python, and escapes quotes, but no backslash.
        for lines in list(settings.linesets):
            if not is_plain(layer.name):
                settings.linesets.remove(lines)
                switched.add("style_modules_off")
            elif not is_plain(lines.name):
                lines.name = "lines"  # Blender makes it unique


def is_plain(name):
    return "\\" not in name and name.isprintable()


# -- simulations -------------------------------------------------------------


def objects_in(collection_or_scene, seen=None):
    """The objects of a scene, and of the collections that they are instances of."""
    seen = set() if seen is None else seen
    objects = getattr(collection_or_scene, "all_objects", None)
    for thing in collection_or_scene.objects if objects is None else objects:
        yield thing
        inner = thing.instance_collection
        if inner is not None and inner.name_full not in seen:
            seen.add(inner.name_full)
            yield from objects_in(inner, seen)


def computes(modifier):
    """Whether a modifier's result in a frame follows from the frames before."""
    if modifier.type in {"CLOTH", "SOFT_BODY"}:
        return not modifier.point_cache.is_baked
    if modifier.type == "PARTICLE_SYSTEM":
        system = modifier.particle_system
        if system.settings.type == "HAIR":
            moves = system.use_hair_dynamics
        else:
            moves = system.settings.type == "EMITTER" and system.settings.physics_type not in {"NO", "KEYED"}
        return moves and not (system.point_cache.is_baked or system.point_cache.use_external)
    if modifier.type == "DYNAMIC_PAINT":
        surfaces = modifier.canvas_settings.canvas_surfaces if modifier.canvas_settings else ()
        return any(s.is_active and s.surface_format == "VERTEX" and not s.point_cache.is_baked for s in surfaces)
    if modifier.type == "FLUID":
        return modifier.fluid_type == "DOMAIN" and computes_fluid(modifier.domain_settings)
    if modifier.type == "NODES":
        return any(node.bl_idname == "GeometryNodeSimulationOutput" for node in nodes_of(modifier.node_group))
    return False


def computes_fluid(domain):
    return domain.cache_type == "REPLAY" and not domain.has_cache_baked_data


# A white point is kept as a temperature and a tint, and a key sets one of its three numbers at a
# time, so each frame begins with what the frame before left (4.3).
WHITE_POINT = "view_settings.white_balance_whitepoint"


def has_state(scene):
    """Whether frames of a scene depend on the frames before them."""
    if any(curve.data_path == WHITE_POINT and not curve.mute for curve in animation_curves(scene)):
        return True
    world = scene.rigidbody_world
    falls = world is not None and world.enabled and not world.point_cache.is_baked
    for thing in objects_in(scene):
        body = thing.rigid_body
        if falls and body is not None and body.type == "ACTIVE" and not body.kinematic:
            return True
        if any(modifier.show_render and computes(modifier) for modifier in thing.modifiers):
            return True
    return False


def move_caches(scene, folder):
    """Lets fluids and caches on disk that are not baked write where this process may: the
    job's own files are only read."""
    os.makedirs(folder, exist_ok=True)
    for thing in objects_in(scene):
        for modifier in thing.modifiers:
            domain = modifier.domain_settings if modifier.type == "FLUID" and modifier.fluid_type == "DOMAIN" else None
            if domain is not None and computes_fluid(domain) and not os.path.isdir(bpy.path.abspath(domain.cache_directory)):
                domain.cache_directory = os.path.join(folder, "fluid_%d" % len(os.listdir(folder)), "")
                os.makedirs(domain.cache_directory)


class Skipping:
    """Whether Cycles does nothing when it is asked to render. The scene is computed all the
    same: Blender does that before it asks."""

    now = False

    @classmethod
    def teach(cls, engine):
        for name in ("create", "reset", "render"):
            setattr(engine, name, cls.unless_skipping(getattr(engine, name)))

    @classmethod
    def unless_skipping(cls, do):
        def step(*arguments, **named):
            return None if cls.now else do(*arguments, **named)

        return step


def looks_aside(scene):
    """Whether Cycles looks at other moments than the frame: what it evaluates there can
    change the state that it leaves."""
    keyed = any(curve.data_path == "render.use_motion_blur" for curve in animation_curves(scene))
    return keyed or scene.render.use_motion_blur or any(layer.use_pass_vector for layer in scene.view_layers)


class Run:
    """The animation from the scene's first frame on, as "-a" renders it, of which only the
    frames that are asked for are rendered. Those before them are computed: "played".

    It is one operator of Blender, in whose handlers commands are taken: each operator
    begins by computing the scene's current frame, which other simulations would follow.
    """

    def __init__(self, driver, scene, frames):
        self.driver, self.scene, self.frames = driver, scene, frames
        self.scenes = rendered_scenes(scene)
        self.first, self.last, self.step = scene.frame_start, scene.frame_end, scene.frame_step
        self.next, self.until, self.renders = None, None, False
        # Where Cycles looks at other moments, it renders played frames as well: with one
        # sample, unless data is kept, which the samples are part of. Otherwise it renders
        # none, and learns of their changes with the next frame: Blender reports in each
        # frame everything that can change by the frame.
        aside = any(looks_aside(other) for other in self.scenes)
        keeps = any(other.render.use_persistent_data for other in self.scenes)
        self.skips, self.samples = not aside, aside and not keeps
        self.before = []  # each scene with its samples, while frames are played
        self.plain = None  # how the scene's files differ meanwhile
        self.begun = 0.0

    def ask(self, command):
        """Takes a command: to render a frame, or to play those before it. Returns whether
        there is something to do for it."""
        self.until, self.renders = command["frame"], command["command"] == "render"
        if self.next is None:
            self.span(self.frames or {"first": self.until, "last": self.until, "step": self.step})
        if self.next > self.until and self.renders:
            raise Refusal("blender_crashed", "frame %d was passed, the next is %d" % (self.until, self.next))
        if not self.renders and self.next >= self.until:
            self.driver.say(reply="played", frame=self.until)
            return False
        return True

    def span(self, frames):
        """Makes the animation hold all frames of a job: those that are none of the scene's
        own make it longer, or without steps."""
        self.first = min(self.first, frames["first"])
        self.last = max(self.last, frames["last"])
        several = frames["last"] > frames["first"]
        if (frames["first"] - self.first) % self.step or (several and frames["step"] % self.step):
            self.step = 1
        self.next = self.first

    def start(self):
        scene = self.scene
        scene.frame_start, scene.frame_end, scene.frame_step = self.first, self.last, self.step
        bpy.app.handlers.render_pre.append(self.begin)
        bpy.app.handlers.render_write.append(self.written)
        self.prepare()
        try:
            bpy.ops.render.render(animation=True)
        except RuntimeError as error:
            raise render_refusal(str(error))
        raise Refusal("blender_crashed", "Blender ended the animation without writing frame %d" % self.next)

    def prepare(self):
        """Sets the next frame up, before Blender begins it."""
        plays = self.next < self.until
        Skipping.now = plays and self.skips
        if plays and self.samples and not self.before:
            self.before = [(scene, scene.cycles.samples) for scene in self.scenes]
            for scene, _ in self.before:
                scene.cycles.samples = 1
        if not plays:
            for scene, samples in self.before:
                scene.cycles.samples = samples
            self.before = []
        self.write_plain(plays and self.skips)

    def write_plain(self, plain):
        """Has Blender write a PNG of 8 bits of each frame that is not rendered, or no longer: it
        crashes when it writes more than bytes of one (3.4)."""
        if not plain and self.plain is not None:
            self.plain.__exit__()
            self.plain = None
        if plain and self.plain is None:
            self.plain, image = strips.Changes(), self.scene.render.image_settings
            # What the format below may change, and what goes with it.
            if getattr(image, "color_management", "") == "OVERRIDE" and image.linear_colorspace_settings.name:  # 3.2
                self.plain.keep(image.linear_colorspace_settings, "name")
            for name in ("color_depth", "color_mode", "exr_codec", "views_format", "use_preview"):
                self.plain.keep(image, name)
            self.plain.set(image, "file_format", "PNG")
            self.plain.set(image, "color_depth", "8")
            self.plain.set(image, "compression", 0)

    def begin(self, *_):
        if self.next == self.until:
            self.begun = time.perf_counter()
            self.driver.say(reply="frame_started", frame=self.until)

    def written(self, *_):
        path, plays = self.scene.render.frame_path(frame=self.next), self.next < self.until
        if plays and self.driver.outputs is not None:
            self.driver.outputs.clear(self.scene, self.next)
        self.next += self.step
        if plays:
            if os.path.exists(path):
                os.remove(path)
            self.driver.say(reply="frame_played", frame=self.next - self.step)
            if self.next < self.until or self.renders:
                self.prepare()
                return
            self.driver.say(reply="played", frame=self.until)
        else:
            self.driver.attempt(self.driver.rendered, self.scene, self.until, path, time.perf_counter() - self.begun)
        self.driver.serve_run(self)
        self.prepare()


def whole_size(scene):
    """Pixels of a frame before it is cropped, by the same truncations that Blender uses."""
    render = scene.render
    return (
        render.resolution_x * render.resolution_percentage // 100,
        render.resolution_y * render.resolution_percentage // 100,
    )


def file_size(scene):
    """Pixels of the file of a frame, which can have two views in it."""
    (width, height), (across, down) = picture_size(scene), outputs.stereo(scene)
    return width * across, height * down


def picture_size(scene):
    """Pixels of a frame, by the same truncations that Blender uses."""
    render = scene.render
    width, height = whole_size(scene)
    if not render.use_crop_to_border:
        return width, height
    (left, low), (right, high) = strips.region(scene, (width, height))
    return right - left, high - low


def least_samples(cycles):
    """Where adaptive sampling may end a pixel."""
    if not cycles.use_adaptive_sampling:
        return cycles.samples
    # As Cycles itself chooses (3.0 to 4.x) where the scene leaves it open.
    threshold = cycles.adaptive_threshold or max(0.001, 1 / cycles.samples)
    return min(cycles.samples, cycles.adaptive_min_samples or max(4, math.ceil(16 / threshold**0.3)))


# -- tiles -------------------------------------------------------------------

def tiled_for_nothing(scene, most):
    """Whether a scene's pictures are rendered in tiles that could as well be rendered whole,
    and take at most so many bytes then.

    Cycles writes tiles into a file, and reads all of them back at the end: for a frame of
    few samples that is a third of the time. The pixels are the same where each is computed
    for itself. Adaptive sampling, once it ends pixels, and path guiding depend on
    neighbouring pixels within the tile; denoising, and what stops by the clock, was not
    compared.
    """
    cycles = scene.cycles
    width, height = whole_size(scene)
    if not getattr(cycles, "use_auto_tile", False) or max(width, height) <= cycles.tile_size:
        return False
    layers = [layer for layer in scene.view_layers if layer.use]
    samples = max([layer.samples or cycles.samples for layer in layers], default=cycles.samples)
    alone = not (
        (cycles.use_adaptive_sampling and samples > least_samples(cycles))
        or layers_to_denoise(scene)
        or getattr(cycles, "use_guiding", False)
        or cycles.time_limit > 0
        or any(curve.data_path.startswith(("cycles.", "view_layers")) for curve in animation_curves(scene))
    )
    pixel = max([pass_floats(layer) for layer in layers], default=4) * 4
    return alone and width * height * pixel <= most


def pass_floats(layer):
    """The most floats that Cycles keeps of a layer for each pixel."""
    floats = 4 + 4 * len(getattr(layer, "aovs", ())) + 4 * len(getattr(layer, "lightgroups", ()))
    for owner in (layer, layer.cycles):
        for name in dir(owner):
            if name.startswith(("use_pass_", "pass_")) and getattr(owner, name) is True:
                floats += 2 * layer.pass_cryptomatte_depth if "cryptomatte" in name else 4
    return floats


# -- previews ----------------------------------------------------------------

def full_work(scene):
    """What a frame takes by the scene's own settings: the samples are those of all views."""
    width, height = picture_size(scene)
    views = max(1, len(outputs.views(scene)))
    return {"width": width, "height": height, "samples": scene.cycles.samples * views, "least_samples": least_samples(scene.cycles) * views}


def make_coarse(scene, side, samples):
    """A small picture of few samples: at most side pixels wide and high."""
    factor = min(1, side / max(picture_size(scene)))
    sizes = [(other, *whole_size(other)) for other in rendered_scenes(scene)]
    while True:
        for other, width, height in sizes:
            other.render.resolution_percentage = 100
            other.render.resolution_x = max(4, int(width * factor))  # 4 is Blender's least
            other.render.resolution_y = max(4, int(height * factor))
        if max(picture_size(scene)) <= side:
            break
        factor *= 0.99  # where the scene crops, rounding may add a pixel
    for other in rendered_scenes(scene):
        layers = {'view_layers["%s"].samples' % layer.name for layer in other.view_layers}
        stop_animation(other, layers | {"cycles.samples", "cycles.adaptive_min_samples"})
        other.cycles.samples = min(other.cycles.samples, samples)
        other.cycles.adaptive_min_samples = min(other.cycles.adaptive_min_samples, samples)
        for layer in other.view_layers:
            layer.samples = min(layer.samples, samples)  # 0 is the scene's
    image = scene.render.image_settings
    image.file_format = "PNG"  # every frame format has a look on a screen
    image.color_depth = "8"


def take_shot(scene, shot):
    """Other noise, and another part of the scene, than its file says."""
    scene.cycles.seed = shot["seed"]
    for camera in cameras_of(scene):
        camera.shift_x += shot["shift"][0]
        camera.shift_y += shot["shift"][1]


def cameras_of(scene):
    """What a scene is seen through: its camera, and those that its markers bring."""
    seen = [scene.camera] + [marker.camera for marker in scene.timeline_markers]
    return {thing.data for thing in seen if thing is not None and thing.type == "CAMERA"}


# -- commands ----------------------------------------------------------------


class Driver:
    def __init__(self, settings, commands, replies):
        self.settings, self.commands, self.replies = settings, commands, replies
        self.backend, self.device_name = "", ""
        self.keeps = False  # whether the open scene's data is kept over frames
        self.tiled = []  # the scenes that are rendered whole, and would be in tiles
        self.opening = None  # the command that opened the file
        self.outputs = None  # what is written besides pictures; None where nothing may be
        self.run = None  # of a scene whose frames depend on the frames before them
        self.said = 0

    def say(self, **reply):
        # Blender's own lines come by another pipe and may lie in C's buffer: a
        # line there tells the reader that everything belonging to this reply
        # has arrived.
        self.said += 1
        sys.stdout.flush()
        ctypes.CDLL(None).fflush(None)
        os.write(1, b"\nsvc: reply %d\n" % self.said)
        self.replies.write(json.dumps({"said": self.said, **reply}) + "\n")
        self.replies.flush()

    def ready(self):
        build_hash = bpy.app.build_hash
        if isinstance(build_hash, bytes):
            build_hash = build_hash.decode("ascii", "replace")
        self.say(
            reply="ready",
            version=".".join(str(part) for part in bpy.app.version),
            build_hash=build_hash.lower(),
            devices=offered_devices(),
            denoiser=bool(_cycles.with_openimagedenoise),
            colors=offered_colors(),
            lacks=lacking_options(),
            guarded=guarded(),
        )

    def warm(self):
        """Chooses the device and renders one small picture of the factory scene.

        A process's first picture waits for the kernels to be loaded and for the
        tables of the colour transform; here that happens before work comes. What
        fails here fails again, and is then told, when a file is opened.
        """
        scene = bpy.context.scene
        picture = os.path.join(bpy.app.tempdir, "warm_")
        try:
            self.choose_device()
            scene.render.engine = "CYCLES"
            self.settle_device(scene)
            scene.cycles.samples = 1
            scene.cycles.use_denoising = False
            scene.render.resolution_x = scene.render.resolution_y = 8
            scene.render.filepath = picture
            scene.frame_end = scene.frame_start
            bpy.ops.render.render(animation=True)
            os.remove(scene.render.frame_path(frame=scene.frame_start))
        except (Refusal, RuntimeError, OSError) as error:
            print("The warming up failed:", error, file=sys.stderr)

    def choose_device(self):
        if not self.backend:
            self.backend, self.device_name = enable_device(self.settings["device"])

    def settle_device(self, scene):
        pin_device(scene, "CPU" if self.backend == "CPU" else "GPU")

    def open(self, command):
        self.choose_device()
        self.opening = command
        self.say(reply="opened", **self.load())

    def load(self):
        """Loads the file and makes our settings; returns what to report about it."""
        command = self.opening
        # A path without a beginning counts from the current folder. Where the file was made
        # that was any; the file's own is the one that people mean.
        os.chdir(os.path.dirname(command["file"]))
        try:
            # load_ui decides which scene is the active one, as on the command line.
            bpy.ops.wm.open_mainfile(filepath=command["file"], load_ui=True, use_scripts=False)
        except RuntimeError as error:
            # A missing library is reported as an error too, yet the file is open.
            if bpy.data.filepath != command["file"]:
                raise Refusal("blender_crashed", "Blender cannot open the file: " + str(error).strip(), final=True)
        choose(command.get("settings", {}))
        scene = bpy.context.scene
        refuse_another(scene, command.get("scene", ""))
        switched = set()
        settle_engines(scene, switched)
        drop_special_files(switched)
        drop_style_modules(switched)
        plays = command["plays"] or any(has_state(other) for other in rendered_scenes(scene))
        doubt = self.doubt(scene) if command["keep_data"] and not plays else ""
        self.keeps = command["keep_data"] and not plays and not doubt
        for other in rendered_scenes(scene):
            self.settle_device(other)
        if not plays:  # else the file's own setting decides what its simulations do
            self.keep_data(scene, self.keeps)
        preview = command.get("preview")
        full = full_work(scene) if preview else None
        try:
            settle_denoising(scene, self.settings["denoise"], self.backend, switched)
        except Refusal:
            if not preview:
                raise
            settle_denoising(scene, "off", self.backend, switched)  # a noisy look is better than none
        allowed = None if preview else command.get("outputs")
        self.outputs = outputs.Outputs(self.settings["out"], allowed["files"], allowed["views"]) if allowed else None
        try:
            settle_output(scene, switched, self.outputs)
        except outputs.TooMany as error:
            raise Refusal("too_many_outputs", str(error), final=True)
        settle_colors(scene, switched)
        if preview:
            make_coarse(scene, preview["side"], preview["samples"])
        most = 0 if plays or preview else self.settings["whole"]
        self.tiled = [other for other in rendered_scenes(scene) if tiled_for_nothing(other, most)]
        self.leave_tiles(True)
        compression = leave_packing(scene) if self.settings["uncompressed"] else 0
        if command.get("shot"):
            take_shot(scene, command["shot"])
        scene.render.filepath = os.path.join(self.settings["out"], "frame_")
        for name in outputs.strays(scene):
            raise Refusal("frame_check_failed", "the file suffix of the view %s leads to another folder" % name, final=True)
        if plays:
            self.run = Run(self, scene, command["frames"])
            for other in self.run.scenes:
                move_caches(other, os.path.join(bpy.app.tempdir, "caches"))
        width, height = file_size(scene)
        return dict(
            scene=scene.name,
            format=scene.render.image_settings.file_format,
            width=width,
            height=height,
            switched=sorted(switched),
            keeps_data=self.keeps,
            not_kept=doubt,
            plays=plays,
            full=full,
            whole=bool(self.tiled),
            compression=compression,
            rows=strips.rows(scene, whole_size(scene)),
            channels=strips.channels(scene),
        )

    def undivided(self):
        """Why the scene's pictures are not rendered in strips; "" where they may be."""
        scene = bpy.context.scene
        if sequenced(scene):
            return "sequencer"
        if layered_scenes(scene) != [scene]:
            return "several_scenes"
        if self.run is not None:
            return "simulation"
        if scene.render.use_multiview:
            return "views"
        return strips.doubt(scene, objects_in(scene), layers_to_denoise(scene))

    def divides(self, command):
        self.say(reply="divides", undivided=self.undivided())

    def divided(self, command):
        """The scene of a command about strips."""
        if command["reload"]:
            self.load()
        reason = self.undivided()
        if reason:
            raise Refusal("frame_check_failed", "the picture is not to be rendered in strips: " + reason, final=True)
        self.keep_data(bpy.context.scene, False)  # each strip has another part of it
        return bpy.context.scene

    def doubt(self, scene):
        """Why no data is kept of a scene; "" where that is safe."""
        return "several scenes" if rendered_scenes(scene) != [scene] else kept.doubt(scene, objects_in(scene))

    def keep_data(self, scene, keeps):
        for other in rendered_scenes(scene):
            if other.render.use_persistent_data != keeps:
                other.render.use_persistent_data = keeps  # off also frees what is kept

    def leave_tiles(self, left):
        for other in self.tiled:
            if other.cycles.use_auto_tile == left:
                other.cycles.use_auto_tile = not left

    def play(self, command):
        if self.run is None:
            raise Refusal("blender_crashed", "the scene has nothing to play")
        if self.run.ask(command):
            self.run.start()

    def render(self, command):
        if self.run is not None:
            self.play(command)
            return
        # The operator leaves in the file's data what it computed for the frame before. It
        # matters only if things depend on each other in a circle.
        if command["reload"]:
            self.load()
        scene, number = bpy.context.scene, command["frame"]
        self.keep_data(scene, self.keeps and not command["fresh"])
        self.leave_tiles(not command["fresh"])
        self.picture(scene, number)

    def strip(self, command):
        """Renders some rows of a frame, as raw passes."""
        scene = self.divided(command)
        if command["rows"][1] > strips.rows(scene, whole_size(scene)):
            raise Refusal("frame_check_failed", "the picture has no rows up to %d" % command["rows"][1], final=True)
        with strips.Changes() as changes:
            strips.cut(changes, scene, whole_size(scene), command["rows"])
            changes.set(scene.render, "filepath", os.path.join(self.settings["out"], "strip_"))
            self.picture(scene, command["frame"])

    def finish(self, command):
        """Makes a frame's picture of its passes, which lie in a file."""
        scene = self.divided(command)
        try:
            with strips.Changes() as changes:
                strips.finish(changes, scene, whole_size(scene), command["file"])
                self.picture(scene, command["frame"], strips.Finisher.check)
        except strips.Unfit as unfit:
            raise Refusal("frame_check_failed", str(unfit))

    def bands(self, command):
        """Measures how long bands of equal height take of a preview that was just rendered, from
        the top."""
        scene, size, took = bpy.context.scene, whole_size(bpy.context.scene), []
        height = strips.rows(scene, size)
        count = min(command["bands"], height)
        if self.undivided():
            self.say(reply="bands", seconds=[])
            return
        with strips.Changes() as changes:
            # Loading the scene for each band would hide what its rows take.
            changes.set(scene.render, "use_persistent_data", True)
            changes.set(scene.render, "filepath", os.path.join(bpy.app.tempdir, "band_"))
            for i in range(-1, count):  # the first one loads the scene, and does not count
                band = max(i, 0)
                with strips.Changes() as cut:
                    strips.cut(cut, scene, size, (band * height // count, (band + 1) * height // count))
                    path, seconds = animate(scene, command["frame"])
                    os.remove(path)
                if i >= 0:
                    took.append(seconds)
        self.say(reply="bands", seconds=took)

    def picture(self, scene, number, check=None):
        """Renders a frame as the scene's settings are now, and replies that it is done unless
        check finds something."""
        self.say(reply="frame_started", frame=number)
        try:
            path, seconds = animate(scene, number)
        except RuntimeError as error:
            if check is not None:
                check(scene)
            raise render_refusal(str(error))
        if check is not None:
            check(scene)
        self.rendered(scene, number, path, seconds)

    def rendered(self, scene, number, path, seconds):
        """Replies that a frame is done."""
        if self.backend != "CPU" and not (renders_on(self.backend) and scene.cycles.device == "GPU"):
            raise Refusal("gpu_unavailable", "the frame was not rendered on the GPU")
        others = self.written(scene, number)
        if not os.path.isfile(path):
            raise Refusal("blender_crashed", "Blender ended the frame without writing its picture")
        width, height = file_size(scene)
        self.say(
            reply="frame_done",
            frame=number,
            file=os.path.basename(path),
            format=scene.render.image_settings.file_format,
            width=width,
            height=height,
            seconds=seconds,
            device="CPU" if self.backend == "CPU" else "GPU",
            device_name=self.device_name,
            **self.pixels(scene, path, width, height),
            outputs=others,
            memory=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        )

    def written(self, scene, number):
        """What was written for a frame besides its picture, which comes to its place."""
        try:
            return [] if self.outputs is None else self.outputs.collect(scene, number)
        except outputs.TooMany as error:
            raise Refusal("too_many_outputs", str(error), final=True)

    def pixels(self, scene, path, width, height):
        """The float form's hash of a picture that only Blender can read, and its defects."""
        image = scene.render.image_settings
        # Of an OpenEXR with a view, Blender shows no pixels either, and may crash (3.4).
        if image.file_format in HASHED_ELSEWHERE or image.file_format == "OPEN_EXR" and scene.render.use_multiview:
            return dict(pixel_sha256="")
        try:
            image = bpy.data.images.load(path)
        except RuntimeError as error:
            raise Refusal("frame_check_failed", "the written picture cannot be read: " + str(error).strip())
        try:
            image.colorspace_settings.name = "Non-Color"
            image.alpha_mode = "CHANNEL_PACKED"
            size, channels = tuple(image.size), image.channels
            if size != (width, height) or len(image.pixels) != width * height * channels:
                raise Refusal("frame_check_failed", "the written picture is %dx%d, not %dx%d" % (*size, width, height))
            values = array.array("f", bytes(4 * width * height * channels))
            image.pixels.foreach_get(values)
            linear = scene.render.image_settings.file_format in LINEAR
            return dict(defects=defects_of(values, width, channels, linear), pixel_sha256=hash_floats(values, width, height, channels))
        finally:
            bpy.data.images.remove(image)

    def movie(self, command):
        """Encodes pictures as a movie."""
        path = os.path.join(self.settings["out"], "movie.mp4")
        try:
            scene = movies.make(command, path)
        except movies.Unusable as error:
            raise Refusal("frame_check_failed", str(error), final=True)
        except movies.NoEncoder as error:
            raise Refusal("encoder_unavailable", str(error))
        bpy.app.handlers.render_write.append(lambda *_: self.say(reply="movie_frame"))
        try:
            bpy.ops.render.render(animation=True, scene=scene.name)
        except RuntimeError as error:
            raise movie_refusal(str(error))
        if not os.path.isfile(path):
            raise Refusal("blender_crashed", "Blender ended without writing the movie")
        self.say(reply="movie_done", file=os.path.basename(path))

    def attempt(self, do, *args):
        """Does what a command asks for, and replies if that cannot be done."""
        try:
            return do(*args)
        except Refusal as refusal:
            self.say(reply="error", code=refusal.code, message=refusal.message, final=refusal.final)
        except MemoryError:
            self.say(reply="error", code="out_of_memory", message="Python ran out of memory", final=False)
        return None

    def serve(self):
        """Carries out commands."""
        for line in self.commands:
            command = json.loads(line)
            self.attempt(getattr(self, command["command"]), command)

    def serve_run(self, run):
        """Returns when an animation has to continue for a command."""
        for line in self.commands:
            if self.attempt(run.ask, json.loads(line)):
                return
        os._exit(0)  # nobody asks any more, and the animation has no end to return to


def animate(scene, number):
    """Renders one frame. Returns the path of its picture and the seconds that it took."""
    path = scene.render.frame_path(frame=number)
    own = scene.frame_start, scene.frame_end, scene.frame_step
    begun = time.perf_counter()
    try:
        # An animation of one frame is what "-f" renders. The end stays where it is, for it
        # decides how many digits a burnt-in frame number has; a step past it leaves the one
        # frame.
        scene.frame_end = max(own[1], number)
        scene.frame_start = number
        scene.frame_step = scene.frame_end - number + 1
        bpy.ops.render.render(animation=True)
    finally:
        scene.frame_start, scene.frame_end, scene.frame_step = own
    return path, time.perf_counter() - begun


def defects_of(values, width, channels, linear):
    """What may show that a picture is broken, by the bounds of internal/render/pixels; None
    if this Blender has no numpy."""
    try:
        import numpy
    except ImportError:
        return None
    rows = numpy.frombuffer(values, numpy.float32).reshape(-1, width, channels)
    colours, grey = rows[..., :3], channels < 3
    pink, black, pink_rows = 0, True, max(1, (1 << 20) // width)
    for y in range(0, len(rows), pink_rows):  # in parts: what numpy makes of a part takes memory too
        part = rows[y:y + pink_rows]
        black = black and not (part[..., :3] > (0.0006 if linear else 2.5 / 255)).any() and not (channels == 4 and (part[..., 3] < 0.999).any())
        if grey:
            continue
        r, g, b = (part[..., i] for i in range(3))
        if linear:
            like = (r >= 0.0513) & (g <= 0.0012) & (abs(r - b) <= 0.04 * numpy.maximum(r, b))
        else:
            like = (r >= 63.5 / 255) & (g <= 4.5 / 255) & (abs(r - b) <= 4.5 / 255)
        pink += int(like.sum())
    flat = [bool((row == row[0]).all()) for row in rows]

    def run(order):
        n = 0
        for y in order:
            if not flat[y] or (rows[y][0] != rows[order[0]][0]).any():
                break
            n += 1
        return n

    down = range(len(rows))
    return dict(
        blank=max(run(down), run(down[::-1])) / len(rows),
        pink=pink / (len(rows) * width),
        black=bool(black),
        not_finite=not all(numpy.isfinite(row).all() for row in colours),
    )


def hash_floats(values, width, height, channels):
    if sys.byteorder == "little":
        values.byteswap()
    data, row = memoryview(values).cast("B"), 4 * width * channels
    digest = hashlib.sha256(b"svc-pixels-f32-v1 %d %d %d\n" % (width, height, channels))
    for y in range(height - 1, -1, -1):  # Blender keeps the bottom row first
        digest.update(data[y * row:(y + 1) * row])
    return digest.hexdigest()


def render_refusal(text):
    lowered = text.lower()
    code = "blender_crashed"
    if "out of" in lowered and "memory" in lowered:
        code = "out_of_memory"
    elif "openimagedenoise" in lowered or "to denoise on" in lowered:
        code = "denoiser_unavailable"  # denoising that is switched on by an animation
    elif re.search(r"\b(" + "|".join(BACKENDS).lower() + r")\b", lowered):
        code = "gpu_unavailable"  # "Failed to load CUDA kernel", "Illegal address in CUDA queue"
    return Refusal(code, "Blender could not render the frame: " + text.strip())


def movie_refusal(text):
    """Blender says this, and no more, where FFmpeg has no encoder of the codec."""
    if re.search("Error initializing (video|audio) stream", text):
        return Refusal("encoder_unavailable", "this Blender's FFmpeg lacks an encoder: " + text.strip())
    return render_refusal(text)


def main():
    settings = json.loads(sys.argv[sys.argv.index("--") + 1])
    for inherited in (3, 4):
        os.set_inheritable(inherited, False)
    Skipping.teach(cycles.engine)
    strips.register()
    refuse_foreign_code()
    driver = Driver(settings, os.fdopen(3, "r", encoding="utf-8"), os.fdopen(4, "w", encoding="utf-8"))
    driver.warm()
    driver.ready()
    driver.serve()


main()
