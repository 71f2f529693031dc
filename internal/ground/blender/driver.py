"""Runs inside Blender and renders frames on command.

One JSON object a line: commands come in on file descriptor 3, replies leave on
4; standard output stays Blender's own. Commands: open, render. A reply named
"error" refuses the command and leaves the process usable only for its end.

Persistent data is what Blender calls keeping the scene inside Cycles from one
frame to the next. With it a frame's pixels should be those without it; where
they may not be, open says so (see kept_data_risk).

Written for Blender 3.0 to 4.x (the contract is 4.1). Where those differ it is
said at the place; 5.0 keeps the compositor's nodes elsewhere, which is handled,
but nothing else of it is promised.
"""

import array
import ctypes
import hashlib
import json
import os
import re
import sys
import time

import _cycles
import bpy

# The order is by speed on hardware that offers several of them.
BACKENDS = ("OPTIX", "CUDA", "HIP", "METAL", "ONEAPI")
SPELLED = {"OPTIX": "OptiX", "METAL": "Metal", "ONEAPI": "oneAPI"}

# Formats that the Go side decodes and hashes by itself, or, for multi-layer
# EXR, that Blender shows no pixels of.
HASHED_ELSEWHERE = {"PNG", "JPEG", "OPEN_EXR_MULTILAYER"}


class Refusal(Exception):
    """A command that cannot be done; code is a failure code of the service."""

    def __init__(self, code, message, final=False):
        super().__init__(message)
        self.code, self.message, self.final = code, message, final


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
    """The device for every frame, whatever the file's animation says."""
    scene.cycles.device = device
    data = scene.animation_data
    if data is None:
        return
    curves = list(data.drivers) + list(data.action.fcurves if data.action else ())
    for track in data.nla_tracks:
        curves.extend(curve for strip in track.strips if strip.action for curve in strip.action.fcurves)
    for curve in curves:
        if curve.data_path == "cycles.device":
            curve.mute = True


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


def strip_scenes(scene):
    """The scenes whose pictures the sequencer takes."""
    editor = scene.sequence_editor
    if editor is None or not scene.render.use_sequencer:
        return []
    strips = editor.strips_all if hasattr(editor, "strips_all") else editor.sequences_all  # 4.4
    return [strip.scene for strip in strips if strip.type == "SCENE" and strip.scene and not strip.mute]


def rendered_scenes(scene):
    """The scene and those that its compositor's render layers and its strips come from."""
    scenes = [scene]
    for known in scenes:  # it grows on the way
        layers = [node.scene for node in nodes_of(compositor_tree(known)) if node.type == "R_LAYERS" and node.scene]
        for other in layers + strip_scenes(known):
            if other not in scenes:
                scenes.append(other)
    return scenes


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
    # The denoiser list is made anew by what is there: without OptiX its entry
    # is missing and the property reads as an empty string.
    return backend == "OPTIX" and scene.cycles.denoiser == "OPTIX"


def settle_denoising(scene, setting, backend, switched):
    nodes = active_nodes(scene, "DENOISE")
    scenes = [other for other in rendered_scenes(scene) if layers_to_denoise(other)]
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


def settle_output(scene, switched):
    """The scene's own still picture, under our names, and nothing else written."""
    render = scene.render
    if render.is_movie_format:
        if hasattr(render.image_settings, "media_type"):  # 5.0 sorts formats by medium
            render.image_settings.media_type = "IMAGE"
        render.image_settings.file_format = "PNG"
        render.image_settings.color_depth = "8"
        switched.add("movie_output_as_png")
    if render.use_multiview:  # would write one file an eye
        render.use_multiview = False
        switched.add("multiview_off")
    if render.use_stamp and (render.use_stamp_filename or render.use_stamp_hostname):
        switched.add("stamp_names_off")
    # Else every picture's metadata would tell this machine's name and folders.
    render.use_stamp_filename = False
    render.use_stamp_hostname = False
    render.use_file_extension = True
    render.use_overwrite = True
    render.use_placeholder = False
    for other in rendered_scenes(scene):
        for node in active_nodes(other, "OUTPUT_FILE"):
            node.mute = True
            switched.add("file_output_muted")


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


# Cycles keeps its meshes as they are when these change (seen in 3.4).
UNNOTICED = ("render.use_simplify", "render.simplify_")

SIMULATED = {"CLOTH", "SOFT_BODY", "FLUID", "DYNAMIC_PAINT", "EXPLODE", "OCEAN", "PARTICLE_SYSTEM"}


def kept_data_risk(scene):
    """"unsafe" where kept data is known to give other pixels, "doubtful" where a
    simulation without a cache may, else ""."""
    animation = scene.animation_data
    if animation is not None:
        curves = list(animation.drivers)
        if animation.action is not None:
            curves.extend(getattr(animation.action, "fcurves", ()))
        if any(curve.data_path.startswith(UNNOTICED) for curve in curves):
            return "unsafe"
    for thing in scene.objects:
        if thing.rigid_body is not None or any(modifier.type in SIMULATED for modifier in thing.modifiers):
            return "doubtful"
    return ""


def picture_size(scene):
    """Pixels of a frame, by the same truncations that Blender uses."""
    render = scene.render
    width = render.resolution_x * render.resolution_percentage // 100
    height = render.resolution_y * render.resolution_percentage // 100
    if render.use_border and render.use_crop_to_border:

        def edge(share, of):
            """Blender multiplies in single precision."""
            return int(ctypes.c_float(share * of).value)

        return (
            edge(render.border_max_x, width) - edge(render.border_min_x, width),
            edge(render.border_max_y, height) - edge(render.border_min_y, height),
        )
    return width, height


# -- commands ----------------------------------------------------------------


class Driver:
    def __init__(self, settings, replies):
        self.settings, self.replies = settings, replies
        self.backend, self.device_name = "", ""
        self.keeps = False  # whether the open scene's data is kept over frames
        self.said = 0

    def say(self, **reply):
        # Blender's own lines come by another pipe and may lie in C's buffer: a
        # line there tells the reader that what belongs to this reply has come.
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
        try:
            # load_ui decides which scene is the active one, as on the command line.
            bpy.ops.wm.open_mainfile(filepath=command["file"], load_ui=True, use_scripts=False)
        except RuntimeError as error:
            # A missing library is reported as an error too, yet the file is open.
            if bpy.data.filepath != command["file"]:
                raise Refusal("blender_crashed", "Blender cannot open the file: " + str(error).strip(), final=True)
        scene = bpy.context.scene
        if scene.render.engine != "CYCLES":
            raise Refusal("blender_crashed", "the scene's engine is " + scene.render.engine + ", not CYCLES", final=True)
        for other in strip_scenes(scene):
            if other.render.engine != "CYCLES":
                what = "the sequencer shows the scene %s, whose engine is %s, not CYCLES"
                raise Refusal("blender_crashed", what % (other.name, other.render.engine), final=True)
        switched = set()
        drop_special_files(switched)
        risks = {kept_data_risk(other) for other in rendered_scenes(scene)}
        self.keeps = command["keep_data"] and "unsafe" not in risks
        for other in rendered_scenes(scene):
            self.settle_device(other)
        self.keep_data(scene, self.keeps)
        settle_denoising(scene, self.settings["denoise"], self.backend, switched)
        settle_output(scene, switched)
        scene.render.filepath = os.path.join(self.settings["out"], "frame_")
        width, height = picture_size(scene)
        self.say(
            reply="opened",
            scene=scene.name,
            format=scene.render.image_settings.file_format,
            width=width,
            height=height,
            switched=sorted(switched),
            keeps_data=self.keeps,
            doubtful="doubtful" in risks,
        )

    def keep_data(self, scene, kept):
        for other in rendered_scenes(scene):
            if other.render.use_persistent_data != kept:
                other.render.use_persistent_data = kept  # off also frees what is kept

    def render(self, command):
        scene, number = bpy.context.scene, command["frame"]
        self.keep_data(scene, self.keeps and not command["fresh"])
        path = scene.render.frame_path(frame=number)
        kept = scene.frame_start, scene.frame_end, scene.frame_step
        self.say(reply="frame_started", frame=number)
        begun = time.perf_counter()
        try:
            # An animation of one frame is what "-f" renders. The end stays where
            # it is, for it decides how many digits a burnt-in frame number has;
            # a step past it leaves the one frame.
            scene.frame_end = max(kept[1], number)
            scene.frame_start = number
            scene.frame_step = scene.frame_end - number + 1
            bpy.ops.render.render(animation=True)
        except RuntimeError as error:
            raise render_refusal(str(error))
        finally:
            scene.frame_start, scene.frame_end, scene.frame_step = kept
        seconds = time.perf_counter() - begun
        if self.backend != "CPU" and not (renders_on(self.backend) and scene.cycles.device == "GPU"):
            raise Refusal("gpu_unavailable", "the frame was not rendered on the GPU")
        if not os.path.isfile(path):
            raise Refusal("blender_crashed", "Blender ended the frame without writing its picture")
        width, height = picture_size(scene)
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
            pixel_sha256=self.pixels(scene, path, width, height),
        )

    def pixels(self, scene, path, width, height):
        """The float form's hash of a picture that only Blender can read, else ""."""
        if scene.render.image_settings.file_format in HASHED_ELSEWHERE:
            return ""
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
            return hash_floats(image, width, height, channels)
        finally:
            bpy.data.images.remove(image)


def hash_floats(image, width, height, channels):
    values = array.array("f", bytes(4 * width * height * channels))
    image.pixels.foreach_get(values)
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


def serve():
    settings = json.loads(sys.argv[sys.argv.index("--") + 1])
    for inherited in (3, 4):
        os.set_inheritable(inherited, False)
    commands = os.fdopen(3, "r", encoding="utf-8")
    driver = Driver(settings, os.fdopen(4, "w", encoding="utf-8"))
    driver.warm()
    driver.ready()
    for line in commands:
        command = json.loads(line)
        try:
            {"open": driver.open, "render": driver.render}[command["command"]](command)
        except Refusal as refusal:
            driver.say(reply="error", code=refusal.code, message=refusal.message, final=refusal.final)
        except MemoryError:
            driver.say(reply="error", code="out_of_memory", message="Python ran out of memory", final=False)


serve()
