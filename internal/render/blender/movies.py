"""Encodes finished pictures as a movie, by the sequencer of a scene.

Without a file the scene is an empty one. Otherwise it is the scene that the pictures were
rendered of, with its own settings of movies and its sound. Nothing of it is rendered: the
pictures lie over all of its strips.
"""

import os

import bpy

# What an MP4 can carry of Blender's codecs, and players know. Other ones are replaced.
VIDEO, AUDIO = ("H264", "H265", "AV1", "MPEG4", "MPEG2"), ("NONE", "AAC", "AC3", "MP3")
MOST_RATE = 400_000  # kbit/s: far above what a picture of 8K needs
TOP = 128  # Blender's highest channel


class NoEncoder(Exception):
    """Why this Blender makes no movie; another one may."""


class Unusable(Exception):
    """Why no movie is made; every Blender would say so."""


def make(command, path):
    """Encodes pictures of a folder into a file."""
    file, first = command.get("file", ""), command.get("first", 0)
    scene = opened(file, command["scene"]) if file else bpy.data.scenes.new("movie")
    own = bool(file) and scene.render.image_settings.file_format == "FFMPEG"
    sounds = bool(file) and first > 0
    settle_format(scene, own, sounds)
    settle_picture(scene, command["width"], command["height"])
    if not sounds:  # the pictures do not follow each other as the sound does
        whole = min(max(1, round(command["fps"])), 120)
        scene.render.fps, scene.render.fps_base = whole, whole / command["fps"]
        first = 1
    show(scene, first, command["folder"], command["files"], lone=bool(file) and not sounds)
    scene.render.filepath, scene.render.use_file_extension = path, False
    return scene


def opened(file, name):
    os.chdir(os.path.dirname(file))
    try:
        bpy.ops.wm.open_mainfile(filepath=file, load_ui=False, use_scripts=False)
    except RuntimeError as error:
        if bpy.data.filepath != file:  # a missing library is an error too, yet the file is open
            raise Unusable("Blender cannot open the file: " + str(error).strip())
    scene = next((s for s in bpy.data.scenes if s.name == name and s.library is None), None)
    if scene is None:
        raise Unusable("the file has no scene %r" % name)
    return scene


def settle_format(scene, own, sounds):
    """The codec, quality and rates are the scene's own, within bounds, where it has any. The
    container is always MP4, which browsers play."""
    picture, movie = scene.render.image_settings, scene.render.ffmpeg
    try:
        if picture.file_format != "FFMPEG":  # set again, it would reset the settings of a movie without sound
            picture.file_format = "FFMPEG"
        codec = movie.codec if own else ""
        movie.format = "MPEG4"
        if codec not in VIDEO:
            movie.codec = "H264"
    except TypeError:
        raise NoEncoder("this Blender is built without FFmpeg")
    if codec not in VIDEO:
        movie.constant_rate_factor, movie.ffmpeg_preset, movie.use_lossless_output = "HIGH", "GOOD", False
    for rate in ("video_bitrate", "maxrate", "minrate"):
        setattr(movie, rate, min(max(getattr(movie, rate), 0), MOST_RATE))
    movie.minrate = min(movie.minrate, movie.maxrate)
    for number in ("gopsize", "max_b_frames", "buffersize", "packetsize", "muxrate", "audio_bitrate", "audio_mixrate", "audio_volume"):
        setattr(movie, number, getattr(movie, number))  # a stored number may be outside of Blender's own bounds
    movie.use_autosplit = False
    if not sounds:
        movie.audio_codec = "NONE"
    elif movie.audio_codec not in AUDIO:
        movie.audio_codec = "AAC"
    picture.color_mode = "RGB"
    if hasattr(picture, "color_management"):
        picture.color_management = "FOLLOW_SCENE"


def settle_picture(scene, width, height):
    """The pictures are finished: no colour of them changes."""
    render, view = scene.render, scene.view_settings
    forget_changes(scene)
    # H.264 halves the resolution of colours, so that each side is even.
    render.resolution_x, render.resolution_y, render.resolution_percentage = width & ~1, height & ~1, 100
    render.use_border = render.use_multiview = render.use_stamp = render.use_compositing = False
    render.use_sequencer, render.use_overwrite = True, True
    render.frame_map_old = render.frame_map_new = 100
    render.dither_intensity = 0
    scene.display_settings.display_device = "sRGB"
    scene.sequencer_colorspace_settings.name = "sRGB"
    view.view_transform, view.look, view.exposure, view.gamma, view.use_curve_mapping = "Standard", "None", 0, 1, False


def forget_changes(scene):
    """Drops keyframes and drivers of the scene's settings. Those of its strips remain: they
    fade sounds."""
    moved = scene.animation_data
    if moved is None:
        return
    for track in list(moved.nla_tracks):
        moved.nla_tracks.remove(track)
    curves = [(moved.drivers, curve) for curve in moved.drivers]
    if moved.action is not None:
        moved.action = moved.action.copy()  # a linked one cannot change
        curves += [(moved.action.fcurves, curve) for curve in moved.action.fcurves]
    for among, curve in curves:
        if not curve.data_path.startswith("sequence_editor."):
            among.remove(curve)


def show(scene, first, folder, files, lone):
    """Lays the pictures over all strips. lone takes the strips away."""
    if lone:
        scene.sequence_editor_clear()
    editor = scene.sequence_editor_create()
    channel = min(max([0] + [strip.channel for strip in editor.sequences]) + 1, TOP)
    for strip in editor.sequences:
        if strip.channel == channel and strip.type != "SOUND":
            strip.mute = True
    if channel < len(getattr(editor, "channels", ())):
        editor.channels[channel].mute = False
    try:
        strip = editor.sequences.new_image(name="frames", filepath=os.path.join(folder, files[0]), channel=channel, frame_start=first, fit_method="ORIGINAL")
    except RuntimeError as error:
        raise Unusable("the pictures cannot be read: " + str(error).strip())
    for name in files[1:]:
        strip.elements.append(name)
    strip.frame_final_duration = len(files)
    strip.blend_type = "REPLACE"
    scene.frame_start, scene.frame_end, scene.frame_step = first, first + len(files) - 1, 1
