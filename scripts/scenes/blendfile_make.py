"""Makes the test files of internal/render/blendfile, and writes next to each what
Blender itself says of it after loading it again.

    blender -b --factory-startup --python-exit-code 1 \
        --python scripts/scenes/blendfile_make.py -- internal/render/blendfile/testdata

Names after the folder make those files only.

The expected values in each .json use the names of the package's Facts; a test
compares every one that is there.
"""

import json
import os
import shutil
import struct
import sys
import tempfile
import wave

import bpy

OUT, *ONLY = sys.argv[sys.argv.index("--") + 1:]
OUT = os.path.abspath(OUT)
WORK = tempfile.mkdtemp()


# ---- what Blender says ----------------------------------------------------

def facts():
    s = bpy.context.scene
    version = bpy.data.version
    return {
        "file_version": version[0] * 100 + version[1],
        "file_subversion": version[2],
        "scene_count": len(bpy.data.scenes),
        "scene": scene_facts(s),
        "linked_libraries": by_name([
            {"name": l.name, "path": l.filepath, "packed": l.packed_file is not None} for l in bpy.data.libraries]),
        "externals": externals(),
        "simulations": simulation_facts(s),
        "rendering": rendering_facts(s),
        "texts": by_name([{"name": t.name, "registers": t.use_module} for t in bpy.data.texts]),
        "python_drivers": sum(d.driver.type == "SCRIPTED" for a in animated() for d in a.drivers),
    }


def stray_view(r):
    """The first view that Blender would write into another folder than the picture."""
    if not r.use_multiview:
        return ""
    path, r.filepath = r.filepath, "/out/frame_"
    named = [v.name for v in r.views if v.use and (r.views_format == "MULTIVIEW" or v.name in ("left", "right"))]
    strays = [name for name in named if not os.path.normpath(r.frame_path(frame=0, view=name)).startswith("/out/")]
    r.filepath = path
    return strays[0] if strays else ""


def scene_facts(s):
    r, c = s.render, s.cycles
    border = None
    if r.use_border:
        border = {"min_x": r.border_min_x, "min_y": r.border_min_y, "max_x": r.border_max_x,
                  "max_y": r.border_max_y, "crop": r.use_crop_to_border}
    driven = [d for d in (s.animation_data.drivers if s.animation_data else []) if not d.mute]
    return {
        "name": s.name,
        "engine": r.engine,
        "frame_start": s.frame_start, "frame_end": s.frame_end,
        "frame_step": s.frame_step, "frame_current": s.frame_current,
        "resolution_x": r.resolution_x, "resolution_y": r.resolution_y,
        "resolution_percentage": r.resolution_percentage,
        "border": border,
        "fps": r.fps / r.fps_base,
        "samples": c.samples,
        "samples_driven": any(d.data_path == "cycles.samples" for d in driven),
        "adaptive_sampling": c.use_adaptive_sampling,
        "denoise": c.use_denoising,
        "camera": s.camera.name if s.camera else "",
        "output_format": r.image_settings.file_format,
        "movie_output": r.is_movie_format,
        "multiview": r.use_multiview,
        "views": [v.name for v in r.views if v.use and (r.views_format == "MULTIVIEW" or v.name in ("left", "right"))] if r.use_multiview else [],
        "stray_view": stray_view(r),
        "stereo": stereo_facts(r),
        "exr_previews": r.image_settings.use_preview and r.image_settings.file_format.startswith("OPEN_EXR"),
        "stamp_names": r.use_stamp and (r.use_stamp_filename or r.use_stamp_hostname),
        "view_layers": [l.name for l in s.view_layers],
        "file_output_nodes": sorted(output_nodes(s), key=lambda n: n["path"]),
        "driven_settings": [d.data_path for d in driven],
        "colors": color_facts(s),
    }


def stereo_facts(r):
    """How many times as wide and as high as a view a picture is."""
    image = r.image_settings
    if not r.use_multiview or image.views_format != "STEREO_3D" or image.stereo_3d_format.use_squeezed_frame or not all(v.use for v in r.stereo_views):
        return {"across": 0, "down": 0}
    return {"SIDEBYSIDE": {"across": 2, "down": 1}, "TOPBOTTOM": {"across": 1, "down": 2}}.get(image.stereo_3d_format.display_mode, {"across": 0, "down": 0})


# The images of a scene that its picture needs; Blender does not tell.
NEEDED = ("seen", "seen too", "sky", "need_deep.png", "plate_0001.png", "bump_0001.png")


# The colour spaces of clips, strips and nodes that the pictures of these files need.
OTHER_SPACES = {
    "spaces_of_nodes.blend": [("movie clip filmed", "Filmic Log"), ("node Convert Colorspace", "Linear ACES"), ("node Convert Colorspace", "Linear")],
    "sequencer.blend": [("movie clip need_clip.png", "sRGB"), ("strip file", "sRGB")],
    "clips.blend": [("movie clip KeyingScreen", "sRGB"), ("movie clip MovieClip", "sRGB")],
    "numbered_elsewhere.blend": [("movie clip clip_0007.png", "sRGB")],
    "spaces_of_strips.blend": [("strip plate", "Filmic sRGB"), ("strip inner", "XYZ")],
}


def color_facts(s):
    image = s.render.image_settings
    own = image.color_management == "OVERRIDE"
    linear = image.file_format in {"OPEN_EXR", "OPEN_EXR_MULTILAYER", "HDR", "CINEON", "DPX"}
    of = image if own else s
    look = of.view_settings.look
    spaces = {}
    for i in bpy.data.images:
        if i.name in NEEDED:
            spaces.setdefault(i.colorspace_settings.name, i.name)
    return {
        "display": "" if linear else of.display_settings.display_device,
        "view": "" if linear else of.view_settings.view_transform,
        "look": "" if linear or look == "None" else look,
        "output_space": image.linear_colorspace_settings.name if linear and own else "",
        "sequencer": s.sequencer_colorspace_settings.name if rendering_facts(s)["sequenced"] else "",
        "images": [{"image": name, "space": space} for space, name in spaces.items()],
        "others": [{"used_by": used, "space": space} for used, space in OTHER_SPACES.get(bpy.path.basename(bpy.data.filepath), [])],
    }


def rendering_facts(s):
    editor = s.sequence_editor
    sequenced = bool(editor and s.render.use_sequencer and any(q.type != "SOUND" for q in editor.sequences))
    return {
        "sequenced": sequenced,
        "shots": list(strip_shots(editor)) if sequenced else list(layer_shots("", s)),
    }


def strip_shots(edit, first=-sys.maxsize, last=sys.maxsize):
    for q in edit.sequences:
        if q.mute or edit.channels[q.channel].mute:
            continue
        seen = max(first, q.frame_final_start), min(last, q.frame_final_end - 1)
        if q.type == "META":
            yield from strip_shots(q, *seen)
        elif q.type == "SCENE" and q.scene_input == "SEQUENCER":
            for shot in strip_shots(q.scene.sequence_editor):
                yield {**shot, "first": seen[0], "last": seen[1]}
        elif q.type == "SCENE":
            yield from layer_shots(q.name, q.scene, *seen)


def layer_shots(strip, s, first=0, last=0):
    layers = [s]
    if s.use_nodes and s.render.use_compositing:
        layers = [n.scene for n in s.node_tree.nodes if n.type == "R_LAYERS" and not n.mute]
    for scene in dict.fromkeys(layers):
        yield {"strip": strip, "scene": scene.name, "engine": scene.render.engine, "first": first, "last": last}


def output_nodes(s):
    off = not (s.use_nodes and s.render.use_compositing)
    return list(tree_outputs(s.node_tree, off)) if s.node_tree else []


def tree_outputs(tree, off):
    for n in tree.nodes:
        if n.type == "OUTPUT_FILE":
            yield {"name": n.name, "path": n.base_path, "muted": off or n.mute}
        if n.type == "GROUP" and n.node_tree:
            yield from tree_outputs(n.node_tree, off or n.mute)


def animated():
    for collection in (getattr(bpy.data, p.identifier) for p in bpy.data.bl_rna.properties if p.type == "COLLECTION"):
        for block in collection:
            for it in (block, getattr(block, "node_tree", None)):
                if getattr(it, "animation_data", None):
                    yield it.animation_data


IMAGE_KINDS = {"FILE": "image", "SEQUENCE": "image_sequence", "MOVIE": "movie", "TILED": "image_tiles"}


def externals():
    all = []

    def add(kind, path, packed, owner, linked=False):
        all.append({"kind": kind, "path": "" if linked else path, "packed": packed and not linked, "owner": owner, "linked": linked})

    for i in bpy.data.images:
        if i.library or (i.source in IMAGE_KINDS and (i.filepath_raw or i.packed_file)):
            add("image" if i.library else IMAGE_KINDS[i.source], i.filepath_raw, i.packed_file is not None, i.name, i.library is not None)
    for f in bpy.data.fonts:
        if f.filepath != "<builtin>":
            add("font", f.filepath, f.packed_file is not None, f.name)
    for s in bpy.data.sounds:
        add("sound", s.filepath, s.packed_file is not None, s.name)
    for c in bpy.data.cache_files:
        add("cache", c.filepath, False, c.name)
    for v in bpy.data.volumes:
        add("volume", v.filepath, v.packed_file is not None, v.name)
    for c in bpy.data.movieclips:
        add("movie" if c.source == "MOVIE" else "image_sequence", c.filepath, False, c.name)
    for s in bpy.data.scenes:
        for q in (s.sequence_editor.sequences_all if s.sequence_editor else []):
            if q.type == "IMAGE":
                kind = "image" if len(q.elements) == 1 else "image_sequence"
                add(kind, q.directory + q.elements[0].filename, False, s.name)
            if q.type == "MOVIE":
                add("movie", q.filepath, False, s.name)
    for o in bpy.data.objects:
        for m in o.modifiers:
            if m.type == "MESH_CACHE":
                add("cache", m.filepath, False, o.name)
            if m.type == "OCEAN" and m.is_cached:
                add("cache", m.filepath, False, o.name)
            if m.type == "FLUID" and m.domain_settings and m.domain_settings.has_cache_baked_data:
                add("simulation", m.domain_settings.cache_directory, False, o.name)
        for cache in caches(o):
            if cache.use_external:
                add("simulation", cache.filepath, False, o.name)
            elif cache.is_baked and cache.use_disk_cache:
                add("simulation", "//blendcache_*", False, o.name)
    for owner in [*bpy.data.materials, *bpy.data.lights]:
        for n in owner.node_tree.nodes if owner.node_tree else []:
            if n.type == "SCRIPT" and n.filepath:
                add("script", n.filepath, False, owner.name)
            if n.type == "TEX_IES" and n.filepath:
                add("light", n.filepath, False, owner.name)
    return sorted(all, key=lambda e: (e["kind"], e["owner"], e["path"]))


def caches(o):
    """The point caches of an object's running simulations."""
    for m in o.modifiers:
        if m.show_render and m.type == "CLOTH":
            yield m.point_cache
        if m.show_render and m.type == "SOFT_BODY":
            yield m.point_cache
        if m.show_render and m.type == "PARTICLE_SYSTEM":
            yield m.particle_system.point_cache
        if m.show_render and m.type == "DYNAMIC_PAINT" and m.canvas_settings:
            yield from (s.point_cache for s in m.canvas_settings.canvas_surfaces if s.is_active)


def simulation_facts(s):
    """What runs from frame to frame in the picture. The objects of the test scene that do
    not, though they have a simulation, are named "not ..."."""
    all = []

    def add(kind, o, first, last, baked, cached=False, folder=""):
        all.append({"kind": kind, "owner": o.name, "first_frame": first, "last_frame": last, "baked": baked, "cached": cached, "folder": folder})

    def cached_as(kind, o, c):
        words = c.info.split()  # "3 frames in memory"
        whole = min(c.frame_end, s.frame_end) - c.frame_start + 1
        cached = "in memory" in c.info and not c.is_outdated and int(words[0]) >= whole
        baked = c.is_baked or c.use_external
        folder = c.filepath if c.use_external else "//blendcache_*" if baked and c.use_disk_cache else ""
        add(kind, o, c.frame_start, c.frame_end, baked, cached and not baked, folder)

    for o in s.objects:
        if o.name.startswith("not "):
            continue
        if o.rigid_body:
            cached_as("rigid_body", o, s.rigidbody_world.point_cache)
        for m in o.modifiers:
            if m.type in ("CLOTH", "SOFT_BODY"):
                cached_as(m.type.lower(), o, m.point_cache)
            if m.type == "PARTICLE_SYSTEM":
                settings = m.particle_system.settings
                hair = settings.type == "HAIR"
                if hair or settings.physics_type not in ("NO", "KEYED"):
                    cached_as("hair_dynamics" if hair else "particles", o, m.particle_system.point_cache)
            if m.type == "DYNAMIC_PAINT":
                cached_as("dynamic_paint", o, m.canvas_settings.canvas_surfaces[0].point_cache)
            if m.type == "FLUID":
                d = m.domain_settings
                baked = d.has_cache_baked_data
                add("fluid", o, d.cache_frame_start, d.cache_frame_end, baked, folder=d.cache_directory if baked else "")
    return sorted(all, key=lambda i: (i["kind"], i["owner"]))


def by_name(items):
    return sorted(items, key=lambda i: i["name"])


# ---- files that the scenes name -------------------------------------------

def picture(name, side=2):
    path = os.path.join(WORK, name)
    image = bpy.data.images.new("picture", side, side)
    image.filepath_raw, image.file_format = path, "PNG"
    image.save()
    bpy.data.images.remove(image)
    return path


def film(name):
    scene = bpy.data.scenes.new("film")
    scene.render.engine = "BLENDER_WORKBENCH"
    r = scene.render
    r.resolution_x = r.resolution_y = 16
    r.image_settings.file_format = "AVI_JPEG"
    r.filepath = os.path.join(WORK, name)
    r.use_sequencer, r.use_compositing = True, False
    scene.sequence_editor_create().sequences.new_effect("grey", "COLOR", 1, frame_start=1, frame_end=3)
    scene.frame_start, scene.frame_end = 1, 2
    bpy.ops.render.render(animation=True, scene=scene.name)
    bpy.data.scenes.remove(scene)
    return os.path.join(WORK, name)


def noise(name):
    path = os.path.join(WORK, name)
    with wave.open(path, "wb") as w:
        w.setparams((1, 2, 8000, 0, "NONE", ""))
        w.writeframes(struct.pack("<64h", *range(64)))
    return path


# ---- the scenes -----------------------------------------------------------

def fresh():
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.render.engine = "CYCLES"


def add_object(name, data, scene=None):
    o = bpy.data.objects.new(name, data)
    (scene or bpy.context.scene).collection.objects.link(o)
    return o


def add_camera(name, scene=None):
    scene = scene or bpy.context.scene
    scene.camera = add_object(name, bpy.data.cameras.new(name), scene)


def cube(name):
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
    return add_object(name, mesh)


def drive(owner, path, expression=None):
    d = owner.driver_add(path)
    if expression is None:
        d.driver.type = "SUM"
    else:
        d.driver.type, d.driver.expression = "SCRIPTED", expression
    return d


def settings():
    """Every setting of a scene away from its default."""
    s = bpy.context.scene
    s.name = "Szene äöü"
    s.frame_start, s.frame_end, s.frame_step, s.frame_current = 0, 77, 3, 12
    r = s.render
    r.resolution_x, r.resolution_y, r.resolution_percentage = 1234, 567, 37
    r.fps, r.fps_base = 30, 1.001
    r.use_border, r.use_crop_to_border = True, True
    r.border_min_x, r.border_max_x, r.border_min_y, r.border_max_y = 0.125, 0.5, 0.25, 0.75
    r.image_settings.file_format = "OPEN_EXR"
    s.cycles.samples, s.cycles.use_adaptive_sampling, s.cycles.use_denoising = 17, False, False
    s.view_layers[0].name = "Front"
    s.view_layers.new("Back")
    add_camera("Kamera")


def views():
    """Two eyes, and a stamp with the file's name."""
    r = bpy.context.scene.render
    r.use_multiview = True
    r.use_stamp, r.use_stamp_filename, r.use_stamp_hostname = True, True, False


def views_next():
    """Both eyes in one picture, of which a view of another kind is no part."""
    r = bpy.context.scene.render
    add_camera("Kamera")
    r.use_multiview = True
    r.views.new("middle")
    r.image_settings.views_format = "STEREO_3D"
    r.image_settings.stereo_3d_format.display_mode = "SIDEBYSIDE"


def views_above():
    """One eye above the other."""
    views_next()
    bpy.context.scene.render.image_settings.stereo_3d_format.display_mode = "TOPBOTTOM"


def views_squeezed():
    """Both eyes in a picture of the usual size."""
    views_next()
    bpy.context.scene.render.image_settings.stereo_3d_format.use_squeezed_frame = True


def views_of_cameras():
    """Views of cameras of their own, of which one is off."""
    r = bpy.context.scene.render
    add_camera("Kamera")
    r.use_multiview = True
    r.views_format = "MULTIVIEW"
    r.views.new("middle")
    r.views["left"].use = False


def views_astray():
    """Views whose files lie below the picture's name, next to it, and in a folder above it."""
    r = bpy.context.scene.render
    add_camera("Kamera")
    r.use_multiview = True
    r.views["left"].file_suffix, r.views["right"].file_suffix = "/../left", "/../../right"


def output_views():
    """Nodes that write the views of two eyes. Their names say how many files Blender writes."""
    s = bpy.context.scene
    add_camera("Kamera")
    s.render.use_multiview, s.use_nodes = True, True
    written(s)


def output_cameras():
    """The same for three views of cameras of their own, of which one is off."""
    views_of_cameras()
    s = bpy.context.scene
    s.render.views.new("far").file_suffix = "_F"
    s.use_nodes = True
    written(s)


def written(s):
    """Adds nodes, renders, and names each by what it wrote."""
    s.render.resolution_x, s.render.resolution_y, s.render.resolution_percentage = 8, 8, 100
    s.cycles.samples, s.cycles.use_denoising, tree = 1, False, s.node_tree
    image, folders = tree.nodes["Render Layers"].outputs["Image"], {}
    kinds = [("PNG", "INDIVIDUAL"), ("PNG", "STEREO_3D"), ("OPEN_EXR", "MULTIVIEW"), ("OPEN_EXR", "INDIVIDUAL"),
             ("OPEN_EXR_MULTILAYER", "INDIVIDUAL"), ("OPEN_EXR_MULTILAYER", "MULTIVIEW")]
    for kind, views in kinds:
        node = tree.nodes.new("CompositorNodeOutputFile")
        node.base_path = folders[node] = os.path.join(tempfile.mkdtemp(dir=WORK), "")
        node.format.file_format = kind
        node.format.views_format = views
        slots = node.layer_slots if kind == "OPEN_EXR_MULTILAYER" else node.file_slots
        slots.new("second")
        if views != "MULTIVIEW":  # Blender 3.4 crashes
            slots.new("unlinked")
        for socket in node.inputs[:2]:
            tree.links.new(image, socket)
        if kind == "PNG" and views == "INDIVIDUAL":  # a slot with a format of its own
            node.file_slots[1].use_node_format = False
            node.file_slots[1].format.file_format = "OPEN_EXR"
            node.file_slots[1].format.views_format = "MULTIVIEW"
    bpy.ops.render.render()
    for at, (node, folder) in enumerate(folders.items()):
        node.name, node.base_path = "writes %d" % len(os.listdir(folder)), "//%d" % at


def colors():
    """A display, a view, a look; images in spaces, of which one is used by nothing."""
    s = bpy.context.scene
    add_camera("Kamera")
    s.display_settings.display_device = "sRGB"
    s.view_settings.view_transform, s.view_settings.look = "Filmic", "Low Contrast"
    o = cube("Box")
    material = bpy.data.materials.new("Paint")
    material.use_nodes = True
    o.data.materials.append(material)
    nodes = material.node_tree.nodes
    for name, space, socket in (("seen", "Filmic sRGB", "Base Color"), ("seen too", "Non-Color", "Roughness"), ("unused", "Raw", None)):
        image = bpy.data.images.new(name, 2, 2)
        image.colorspace_settings.name, image.use_fake_user = space, True
        texture = nodes.new("ShaderNodeTexImage")
        texture.image = image
        if socket:
            material.node_tree.links.new(texture.outputs["Color"], nodes["Principled BSDF"].inputs[socket])


def colors_of_output():
    """Output that is linear in a space of its own, of an edit."""
    s = bpy.context.scene
    image = s.render.image_settings
    image.file_format, image.color_management = "OPEN_EXR", "OVERRIDE"
    image.linear_colorspace_settings.name = "Linear ACES"
    s.sequencer_colorspace_settings.name = "Linear ACEScg"
    s.sequence_editor_create().sequences.new_effect("red", "COLOR", 1, 1, frame_end=9)


def spaces_of_nodes():
    """A movie clip and a conversion that lead to the picture, and some that do not."""
    s = bpy.context.scene
    add_camera("Kamera")
    with tempfile.TemporaryDirectory() as folder:
        image = bpy.data.images.new("still", 2, 2)
        image.filepath_raw, image.file_format = os.path.join(folder, "still.png"), "PNG"
        image.save()
        clips = [bpy.data.movieclips.load(image.filepath_raw, check_existing=False) for _ in range(2)]
        bpy.data.images.remove(image)
    for clip, name, space in zip(clips, ("filmed", "not shown"), ("Filmic Log", "Filmic sRGB")):
        clip.name, clip.filepath, clip.colorspace_settings.name, clip.use_fake_user = name, "//still.png", space, True
    s.use_nodes = True
    nodes, links = s.node_tree.nodes, s.node_tree.links
    nodes.clear()
    clip, convert, muted, end = [nodes.new("CompositorNode" + kind) for kind in ("MovieClip", "ConvertColorSpace", "ConvertColorSpace", "Composite")]
    clip.clip = clips[0]
    convert.from_color_space, convert.to_color_space = "Linear ACES", "Linear"
    muted.from_color_space, muted.to_color_space, muted.mute = "XYZ", "Linear ACEScg", True
    nodes.new("CompositorNodeConvertColorSpace").from_color_space = "Raw"
    for source, target in ((clip, convert), (convert, muted), (muted, end)):
        links.new(source.outputs[0], target.inputs[0])


def spaces_of_strips():
    """Strips with colour spaces: one that is seen, one in a meta strip, one that is muted."""
    s = bpy.context.scene
    strips = s.sequence_editor_create().sequences
    for channel, (name, space) in enumerate((("plate", "Filmic sRGB"), ("muted", "Filmic Log")), start=1):
        strip = strips.new_image(name, "//still.png", channel, 1)
        strip.colorspace_settings.name, strip.mute = space, name == "muted"
    meta = strips.new_meta("meta", 3, 1)
    meta.sequences.new_image("inner", "//still.png", 1, 1).colorspace_settings.name = "XYZ"


def strips_of_engines():
    """A strip of a scene of Cycles, and one of another engine, which has no camera,
    denoises and takes more samples."""
    s = bpy.context.scene
    add_camera("Kamera")
    s.cycles.samples, s.cycles.use_denoising = 2, False
    other = bpy.data.scenes.new("Other")
    other.render.engine, other.cycles.samples, other.cycles.use_denoising = "BLENDER_EEVEE", 1000, True
    edit = bpy.data.scenes.new("Edit")
    edit.render.engine = "CYCLES"
    strips = edit.sequence_editor_create().sequences
    strips.new_scene("shot", s, 1, 1)
    strips.new_scene("title", other, 2, 1)
    bpy.context.window.scene = edit


def marked():
    """No active camera: markers bind them. The first one's is hidden."""
    s = bpy.context.scene
    for name, frame in (("Hidden", 1), ("Seen", 3)):
        add_camera(name)
        s.timeline_markers.new(name, frame=frame).camera = s.camera
    bpy.data.objects["Hidden"].hide_render = True
    s.camera = None


def empty_images():
    """Image nodes without an image: one that the picture shows, one that leads nowhere, and
    one of an object that is hidden."""
    add_camera("Kamera")
    for name in ("shown", "loose", "hidden"):
        m = bpy.data.materials.new(name)
        m.use_nodes = True
        node = m.node_tree.nodes.new("ShaderNodeTexImage")
        if name != "loose":
            m.node_tree.links.new(node.outputs[0], m.node_tree.nodes["Principled BSDF"].inputs[0])
        o = cube(name)
        o.hide_render = name == "hidden"
        o.data.materials.append(m)


def shown_clip(name):
    """A clip of numbered pictures."""
    clip = bpy.data.movieclips.load(picture(name + "_0001.png"))
    clip.name, clip.filepath = name, "//%s_0001.png" % name
    return clip


def clips():
    """Clips whose tracks are used, and two whose pictures are."""
    add_camera("Kamera")
    s = bpy.context.scene
    s.use_nodes = True
    tree = s.node_tree
    end = next(n for n in tree.nodes if n.type == "COMPOSITE")
    last = next(n for n in tree.nodes if n.type == "R_LAYERS").outputs[0]
    for name in ("MovieDistortion", "Stabilize", "PlaneTrackDeform"):
        node = tree.nodes.new("CompositorNode" + name)
        node.clip = shown_clip(name)
        tree.links.new(last, node.inputs[0])
        last = node.outputs[0]
    for name in ("MovieClip", "KeyingScreen"):
        node, over = tree.nodes.new("CompositorNode" + name), tree.nodes.new("CompositorNodeAlphaOver")
        node.clip = shown_clip(name)
        tree.links.new(last, over.inputs[1])
        tree.links.new(node.outputs[0], over.inputs[2])
        last = over.outputs[0]
    tree.links.new(last, end.inputs[0])


def numbered():
    """Image sequences in nodes that count, that do not, and that are muted; and volumes."""
    add_camera("Kamera")
    plate = bpy.data.images.load(picture("plate_0001.png"))
    plate.source, plate.filepath = "SEQUENCE", "//plate_0001.png"
    m = bpy.data.materials.new("wall")
    m.use_nodes = True
    tree, mix = m.node_tree, m.node_tree.nodes.new("ShaderNodeMixRGB")
    tree.links.new(mix.outputs[0], tree.nodes["Principled BSDF"].inputs[0])
    for at, (name, start, frames, offset, cyclic) in enumerate((("held", 2, 5, 3, False), ("cyclic", 1, 4, 0, True), ("muted", 1, 50, 0, False), ("loose", 1, 60, 0, False))):
        node = tree.nodes.new("ShaderNodeTexImage")
        node.name, node.image, node.mute = name, plate, name == "muted"
        u = node.image_user
        u.frame_start, u.frame_duration, u.frame_offset, u.use_cyclic = start, frames, offset, cyclic
        if name != "loose":
            tree.links.new(node.outputs[0], mix.inputs[at % 3])
    cube("wall").data.materials.append(m)
    for mode in ("CLIP", "EXTEND", "REPEAT", "PING_PONG"):
        v = bpy.data.volumes.new(mode)
        v.filepath, v.is_sequence, v.sequence_mode = "//%s_01.vdb" % mode, True, mode
        v.frame_start, v.frame_duration, v.frame_offset = 3, 7, 2
        add_object(mode, v)


def numbered_elsewhere():
    """Sequences of a texture that displaces, of one that does not, and of clips."""
    add_camera("Kamera")
    for name, used in (("bump", True), ("unused", False)):
        image = bpy.data.images.load(picture(name + "_0001.png"))
        image.source, image.filepath = "SEQUENCE", "//%s_0001.png" % name
        texture = bpy.data.textures.new(name, "IMAGE")
        texture.image, texture.use_fake_user = image, True
        u = texture.image_user
        u.frame_start, u.frame_duration, u.frame_offset = 3, 5, 2
        if used:
            cube("wall").modifiers.new("Displace", "DISPLACE").texture = texture
    s = bpy.context.scene
    s.use_nodes = True
    tree = s.node_tree
    node = tree.nodes.new("CompositorNodeMovieClip")
    picture("clip_0007.png")
    bpy.ops.wm.save_as_mainfile(filepath=os.path.join(WORK, "clip.blend")) # Blender looks for the picture in this folder
    node.clip = clip = bpy.data.movieclips.load("//clip_0007.png")
    clip.frame_start, clip.frame_offset = 2, 1
    over = tree.nodes.new("CompositorNodeAlphaOver")
    tree.links.new(node.outputs[0], over.inputs[1])
    tree.links.new(next(n for n in tree.nodes if n.type == "R_LAYERS").outputs[0], over.inputs[2])
    tree.links.new(over.outputs[0], next(n for n in tree.nodes if n.type == "COMPOSITE").inputs[0])


def world_volume():
    """A world with a volume."""
    add_camera("Kamera")
    world = bpy.context.scene.world = bpy.data.worlds.new("Fog")
    world.use_nodes = True
    tree = world.node_tree
    end = next(n for n in tree.nodes if n.type == "OUTPUT_WORLD")
    tree.links.new(tree.nodes.new("ShaderNodeVolumeScatter").outputs[0], end.inputs["Volume"])


def world_volume_off():
    """The world with a volume is another scene's."""
    world_volume()
    s = bpy.context.scene
    bpy.data.scenes.new("Other").world = s.world
    s.world = None


def exr_previews():
    """A JPEG next to each OpenEXR."""
    add_camera("Kamera")
    image = bpy.context.scene.render.image_settings
    image.file_format, image.use_preview = "OPEN_EXR", True


def exr_previews_off():
    """The setting of another format."""
    exr_previews()
    bpy.context.scene.render.image_settings.file_format = "PNG"


def layers_off():
    """No view layer is rendered."""
    s = bpy.context.scene
    add_camera("Kamera")
    s.view_layers.new("Second")
    for layer in s.view_layers:
        layer.use = False


def colors_overridden():
    """A picture with settings of its own, which hold in place of the scene's."""
    s = bpy.context.scene
    image = s.render.image_settings
    image.color_management = "OVERRIDE"
    image.display_settings.display_device = "XYZ"
    image.view_settings.view_transform = "Raw"
    s.view_settings.look = "High Contrast"


def host_stamp():
    """A stamp with the computer's name only."""
    r = bpy.context.scene.render
    r.use_stamp, r.use_stamp_filename, r.use_stamp_hostname = True, False, True


def film_output():
    """Cycles' settings left alone, output as one film, with a stamp that contains no
    name."""
    r = bpy.context.scene.render
    r.image_settings.file_format = "FFMPEG"
    r.use_stamp, r.use_stamp_filename, r.use_stamp_hostname = True, False, False


def scenes():
    """Three scenes; the active one is the second in the file."""
    first = bpy.context.scene
    first.name = "A first"
    second = bpy.data.scenes.new("M middle")
    third = bpy.data.scenes.new("Z last")
    for i, s in enumerate((first, second, third)):
        s.render.engine = "CYCLES"
        s.frame_start, s.frame_end = 10 * i, 10 * i + 9
        s.cycles.samples = 100 + i
        add_camera("Camera %d" % i, s)
    bpy.context.window.scene = second


def drivers():
    """Drivers of scripts and of sums, on the scene, an object and a material."""
    s = bpy.context.scene
    drive(s, "cycles.samples", "frame + 4")
    drive(s, "cycles.max_bounces", "frame")
    drive(s, "view_settings.exposure")
    drive(s, "render.motion_blur_shutter").mute = True
    o = cube("Driven")
    drive(o, "hide_render", "frame > 3")
    drive(o, "pass_index")
    m = bpy.data.materials.new("Driven")
    m.use_nodes = True
    m.use_fake_user = True
    drive(m.node_tree.nodes["Principled BSDF"].inputs["Roughness"], "default_value", "0.5")
    drive(m, "pass_index", "2")
    for name, registers in (("startup.py", True), ("notes", False)):
        t = bpy.data.texts.new(name)
        t.write("# %s\n" % name)
        t.use_module = registers


def compositor():
    """File Output nodes: plain, muted, and inside of a node group."""
    s = bpy.context.scene
    s.use_nodes = True
    s.node_tree.nodes.new("CompositorNodeOutputFile").base_path = "//passes/"
    muted = s.node_tree.nodes.new("CompositorNodeOutputFile")
    muted.base_path, muted.mute = "/tmp/muted/", True
    group = bpy.data.node_groups.new("Inner", "CompositorNodeTree")
    group.nodes.new("CompositorNodeOutputFile").base_path = "C:\\renders\\inner"
    s.node_tree.nodes.new("CompositorNodeGroup").node_tree = group


def compositor_off():
    """A File Output node whose compositor does not run."""
    compositor()
    bpy.context.scene.render.use_compositing = False


def keep(block):
    block.use_fake_user = True
    return block


def files():
    """Files of every kind, outside and packed."""
    pictures()
    sounds()
    scene_files()
    simulation_files()
    shader_files()
    bpy.context.scene.render.use_sequencer = False  # else its strips alone were seen


def pictures():
    for name, packed in (("outside.png", False), ("packed.png", True)):
        i = keep(bpy.data.images.load(picture(name)))
        if packed:
            i.pack()
        i.filepath_raw = "//textures/" + name
    keep(bpy.data.images.new("Generated", 4, 4))
    for name, source in (("walk_0001.png", "SEQUENCE"), ("film.avi", "MOVIE"), ("skin.<UDIM>.png", "TILED")):
        i = bpy.data.images.new(name, 2, 2)
        i.source, i.filepath_raw = source, "//" + name
        keep(i)
    keep(bpy.data.images.new("No path", 2, 2)).source = "FILE"
    clip = bpy.data.movieclips.load(film("clip.avi"))
    keep(clip).filepath = "C:/clips/clip.avi"
    clip = bpy.data.movieclips.load(picture("plate_0001.png"))
    keep(clip).filepath = "//plates/plate_0001.png"


def sounds():
    for name, packed in (("outside.wav", False), ("packed.wav", True)):
        s = keep(bpy.data.sounds.load(noise(name)))
        if packed:
            s.pack()
        s.filepath = "//sound/" + name
    fonts = bpy.utils.system_resource("DATAFILES", path="fonts")
    keep(bpy.data.fonts.load(os.path.join(fonts, "lastresort.woff2"))).filepath = "//fonts/lettering.ttf"


def scene_files():
    bpy.ops.cachefile.open(filepath=os.path.join(WORK, "motion.abc"))
    keep(bpy.data.cache_files[0]).filepath = "//motion.abc"
    v = keep(bpy.data.volumes.new("Smoke"))
    v.filepath = "//smoke/smoke_0001.vdb"
    q = bpy.context.scene.sequence_editor_create().sequences
    still, one, two = picture("still.png"), picture("strip_0001.png"), picture("strip_0002.png")
    q.new_image("still", still, 1, 1).directory = "//stills/"
    strip = q.new_image("strip", one, 2, 1)
    strip.elements.append(os.path.basename(two))
    strip.directory = "//strips/"
    q.new_movie("film", film("strip.avi"), 3, 1).filepath = "//strip.avi"


def simulation_files():
    o = cube("Cached")
    m = o.modifiers.new("cache", "MESH_CACHE")
    m.filepath = "//mesh.pc2"
    o = cube("Sea")
    o.modifiers.new("never baked", "OCEAN").filepath = "//sea"
    o = cube("Emitter")
    o.modifiers.new("particles", "PARTICLE_SYSTEM")
    cache = o.particle_systems[0].point_cache
    cache.use_external = True
    cache.filepath = "//particles"
    cube("Tank").modifiers.new("fluid", "FLUID").fluid_type = "DOMAIN"


def shader_files():
    m = keep(bpy.data.materials.new("Scripted"))
    m.use_nodes = True
    n = m.node_tree.nodes.new("ShaderNodeScript")
    n.mode, n.filepath = "EXTERNAL", "//wood.osl"
    l = keep(bpy.data.lights.new("Lamp", "POINT"))
    l.use_nodes = True
    n = l.node_tree.nodes.new("ShaderNodeTexIES")
    n.mode, n.filepath = "EXTERNAL", "//lamp.ies"


def linked():
    """Objects, an image and the camera come from another file."""
    with bpy.data.libraries.load(os.path.join(WORK, "library.blend"), link=True) as (there, here):
        here.objects, here.images = there.objects, there.images
    bpy.data.libraries[0].filepath = "//library.blend"
    for o in bpy.data.objects:
        bpy.context.scene.collection.objects.link(o)
        if o.type == "CAMERA":
            bpy.context.scene.camera = o
    for i in bpy.data.images:
        cube("Holder")["image"] = i


def overlook(s):
    """A small picture of all places, from above."""
    add_camera("Camera of " + s.name, s)
    s.render.engine = "CYCLES"
    s.camera.data.type, s.camera.data.ortho_scale = "ORTHO", 8
    s.camera.location = (3.9, 3.9, 9)
    s.render.resolution_x = s.render.resolution_y = 64
    s.cycles.samples, s.cycles.use_denoising = 4, False
    s.view_settings.view_transform = "Standard"


def reach():
    """Files and scripts that the picture comes from are named need, all others not."""
    s = bpy.context.scene
    overlook(s)
    shown_objects(s)
    unseen_objects(s)
    scene_pictures(s)
    scripts_in_use(s)


def unloaded(path):
    i = bpy.data.images.new(os.path.basename(path), 2, 2)
    i.source, i.filepath_raw = "FILE", "//" + path
    return i


def emissive(name):
    """A material that shines: its tree, the shader and the output."""
    m = bpy.data.materials.new(name)
    m.use_nodes = True
    tree = m.node_tree
    tree.nodes.clear()
    shader, output = tree.nodes.new("ShaderNodeEmission"), tree.nodes.new("ShaderNodeOutputMaterial")
    tree.links.new(shader.outputs[0], output.inputs["Surface"])
    return m, tree, shader, output


def picture_node(tree, path):
    node = tree.nodes.new("ShaderNodeTexImage")
    node.image = unloaded(path)
    return node


def textured(path):
    """A material that shows a picture."""
    m, tree, shader, _ = emissive(path)
    tree.links.new(picture_node(tree, path).outputs[0], shader.inputs[0])
    return m


def aside(o):
    """Puts an object into a collection that the view layer leaves out."""
    c = bpy.data.collections.get("Aside")
    if c is None:
        c = bpy.data.collections.new("Aside")
        bpy.context.scene.collection.children.link(c)
        bpy.context.view_layer.layer_collection.children["Aside"].exclude = True
    c.objects.link(o)
    return o


def painted(path, collection):
    """A square with such a material, in a collection or aside."""
    return square(path, textured(path), collection)


def place(o):
    """Puts an object into the next place of the picture."""
    n = bpy.context.scene.get("places", 0)
    bpy.context.scene["places"] = n + 1
    o.location = (n % 8, n // 8, 0)


def square(path, material, collection):
    mesh = bpy.data.meshes.new(path)
    mesh.from_pydata([(0, 0, 0), (0.8, 0, 0), (0.8, 0.8, 0), (0, 0.8, 0)], [], [(0, 1, 2, 3)])
    mesh.materials.append(material)
    o = bpy.data.objects.new(path, mesh)
    place(o)
    if collection:
        collection.objects.link(o)
    else:
        aside(o)
    return o


def collection_of(path, parent=None, exclude=False):
    c = bpy.data.collections.new(path)
    painted(path, c)
    if parent:
        parent.children.link(c)
        if exclude:
            bpy.context.view_layer.layer_collection.children[c.name].exclude = True
    return c


def shown_objects(s):
    root = s.collection
    painted("need_material.png", root)
    group = bpy.data.node_groups.new("Group", "ShaderNodeTree")
    group.nodes.new("ShaderNodeTexImage").image = unloaded("need_group.png")
    group.outputs.new("NodeSocketColor", "Color")
    end = group.nodes.new("NodeGroupOutput")
    group.links.new(group.nodes[0].outputs[0], end.inputs[0])
    m, tree, shader, _ = emissive("grouped")
    inside = tree.nodes.new("ShaderNodeGroup")
    inside.node_tree = group
    tree.links.new(inside.outputs[0], shader.inputs[0])
    square("grouped", m, root)
    keyed = painted("need_keyed.png", root)
    keyed.hide_render = True
    keyed.keyframe_insert("hide_render", frame=1)
    slot = painted("need_slot.png", root)
    slot.material_slots[0].link = "OBJECT"
    slot.material_slots[0].material = textured("need_object_slot.png")
    inner = collection_of("need_instance.png")
    inner.children.link(collection_of("need_instance_inside.png"))
    empty = add_object("Instance", None)
    empty.instance_type, empty.instance_collection = "COLLECTION", inner
    empty.location = (1, 0, 0)
    emitter = painted("need_emitter.png", root)
    emitter.modifiers.new("particles", "PARTICLE_SYSTEM")
    particles = emitter.particle_systems[0].settings
    particles.render_type, particles.instance_object = "OBJECT", painted("need_particle.png", None)
    particles.count, particles.frame_start, particles.frame_end, particles.physics_type = 4, 1, 1, "NO"
    particles.particle_size, particles.emit_from = 0.5, "VERT"
    waves = painted("need_waves.png", root).modifiers.new("displace", "DISPLACE")
    waves.texture = bpy.data.textures.new("waves", "IMAGE")
    waves.texture.image = unloaded("need_displace.png")
    waves.direction, waves.strength = "X", 0.3
    nodes = bpy.data.node_groups.new("Geometry", "GeometryNodeTree")
    nodes.outputs.new("NodeSocketGeometry", "Geometry")
    info = nodes.nodes.new("GeometryNodeObjectInfo")
    info.inputs[0].default_value = painted("need_geometry.png", None)
    nodes.links.new(info.outputs["Geometry"], nodes.nodes.new("NodeGroupOutput").inputs[0])
    square("replaced", emissive("replaced")[0], root).modifiers.new("nodes", "NODES").node_group = nodes
    fonts = bpy.utils.system_resource("DATAFILES", path="fonts")
    text = bpy.data.curves.new("Text", "FONT")
    text.font = bpy.data.fonts.load(os.path.join(fonts, "lastresort.woff2"))
    text.font.filepath = "//need_font.ttf"
    place(add_object("Text", text))


def unseen_objects(s):
    root = s.collection
    painted("not_hidden.png", root).hide_render = True
    collection_of("not_hidden_collection.png", root).hide_render = True
    collection_of("not_excluded.png", root, exclude=True)
    keep(textured("not_used.png"))
    empty = add_object("Reference", None)
    empty.empty_display_type, empty.data = "IMAGE", unloaded("not_reference.png")
    camera = s.camera.data.background_images.new()
    camera.image = unloaded("not_background_image.png")
    child = painted("need_child.png", root)
    child.parent = painted("not_parent.png", None)
    child.constraints.new("COPY_LOCATION").target = painted("not_target.png", None)
    mirror = painted("need_mirror.png", root).modifiers.new("mirror", "MIRROR")
    mirror.mirror_object = painted("not_mirror.png", None)


def scene_pictures(s):
    s.world = bpy.data.worlds.new("World")
    s.world.use_nodes = True
    sky = s.world.node_tree.nodes.new("ShaderNodeTexEnvironment")
    sky.image = unloaded("need_world.png")
    s.world.node_tree.links.new(sky.outputs[0], s.world.node_tree.nodes["Background"].inputs[0])
    others = {}
    for name in ("need_set.png", "need_layer.png", "not_scene.png"):
        others[name] = bpy.data.scenes.new(name)
        painted(name, others[name].collection)
    s.background_set = others["need_set.png"]
    s.use_nodes = True
    composed(s, others["need_layer.png"])
    s.render.use_sequencer = False
    q = s.sequence_editor_create().sequences
    q.new_image("strip", picture("not_strip.png"), 1, 1).directory = "//"
    q.new_sound("sound", noise("not_sound.wav"), 2, 1).sound.filepath = "//not_sound.wav"


def composed(s, other):
    """A compositor that shows both scenes and a picture, and has others that it does not show."""
    nodes, links = s.node_tree.nodes, s.node_tree.links
    nodes.clear()
    layer, foreign = nodes.new("CompositorNodeRLayers"), nodes.new("CompositorNodeRLayers")
    foreign.scene = other
    image, last = nodes.new("CompositorNodeImage"), nodes.new("CompositorNodeComposite")
    image.image = unloaded("need_compositor.png")
    both, all_of_it = nodes.new("CompositorNodeMixRGB"), nodes.new("CompositorNodeMixRGB")
    both.blend_type = all_of_it.blend_type = "ADD"
    links.new(layer.outputs[0], both.inputs[1])
    links.new(foreign.outputs[0], both.inputs[2])
    links.new(both.outputs[0], all_of_it.inputs[1])
    links.new(image.outputs[0], all_of_it.inputs[2])
    links.new(all_of_it.outputs[0], last.inputs[0])
    nodes.new("CompositorNodeImage").image = unloaded("not_connected.png")
    muted = nodes.new("CompositorNodeImage")
    muted.image, muted.mute = unloaded("not_muted.png"), True
    viewed = nodes.new("CompositorNodeImage")
    viewed.image = unloaded("not_viewed.png")
    links.new(viewed.outputs[0], nodes.new("CompositorNodeViewer").inputs[0])


def nodes():
    """Which nodes of shaders, lights and geometry the picture comes from."""
    s = bpy.context.scene
    overlook(s)
    s.world = bpy.data.worlds.new("World")
    for case in (outputs, muted_nodes, links_and_reroutes, grouped_nodes, lights, unlit, geometry_nodes, fonts):
        case(s.collection)


def outputs(root):
    """Cycles takes one of several outputs."""
    def lead(tree, path, output):
        shader = tree.nodes.new("ShaderNodeEmission")
        tree.links.new(picture_node(tree, path).outputs[0], shader.inputs[0])
        tree.links.new(shader.outputs[0], output.inputs["Surface"])

    def several(name, *ends):
        m, tree, _, _ = emissive(name)
        tree.nodes.clear()
        for path, target, active in ends:
            output = tree.nodes.new("ShaderNodeOutputMaterial")
            output.target = target
            lead(tree, path, output)
            output.is_active_output = active
        square(name, m, root)

    several("target", ("not_all.png", "ALL", True), ("not_eevee.png", "EEVEE", True), ("need_cycles.png", "CYCLES", True))
    several("active", ("not_inactive.png", "ALL", False), ("need_active.png", "ALL", True))
    several("eevee only", ("not_eevee_only.png", "EEVEE", True))
    m, tree, shader, output = emissive("silent")
    tree.links.new(picture_node(tree, "not_silent.png").outputs[0], shader.inputs[0])
    output.mute = True
    square("silent", m, root)
    m, tree, _, _ = emissive("loose")
    picture_node(tree, "not_loose.png")
    square("loose", m, root)
    # An output within a group counts.
    group = bpy.data.node_groups.new("Ended", "ShaderNodeTree")
    lead(group, "need_end_in_group.png", group.nodes.new("ShaderNodeOutputMaterial"))
    m, tree, _, _ = emissive("end in group")
    tree.nodes.clear()
    tree.nodes.new("ShaderNodeGroup").node_tree = group
    square("end in group", m, root)


def muted_nodes(root):
    """A muted node passes on one of its inputs, or nothing."""
    m, tree, shader, _ = emissive("muted picture")
    image = picture_node(tree, "not_muted.png")
    image.mute = True
    tree.links.new(image.outputs[0], shader.inputs[0])
    square("muted picture", m, root)

    def mixed(name, kind, inputs, output=0):
        m, tree, shader, _ = emissive(name)
        mix = tree.nodes.new(kind)
        mix.mute = True
        for place, path in inputs:
            tree.links.new(picture_node(tree, path).outputs[0], mix.inputs[place])
        tree.links.new(mix.outputs[output], shader.inputs[0])
        square(name, m, root)

    mixed("muted mix", "ShaderNodeMixRGB", [(1, "need_first.png"), (2, "not_second.png")])
    mixed("muted mix of one", "ShaderNodeMixRGB", [(2, "need_only.png")])
    mixed("muted mix by factor", "ShaderNodeMixRGB", [(0, "not_factor.png"), (2, "need_beside_factor.png")])
    mixed("muted sum", "ShaderNodeMath", [(0, "need_addend.png"), (1, "not_addend.png")])
    m, tree, shader, output = emissive("muted shaders")
    mix = tree.nodes.new("ShaderNodeMixShader")
    mix.mute = True
    for place, path in ((1, "need_shader.png"), (2, "not_shader.png")):
        part = tree.nodes.new("ShaderNodeEmission")
        tree.links.new(picture_node(tree, path).outputs[0], part.inputs[0])
        tree.links.new(part.outputs[0], mix.inputs[place])
    tree.links.new(mix.outputs[0], output.inputs["Surface"])
    square("muted shaders", m, root)


def links_and_reroutes(root):
    m, tree, shader, _ = emissive("muted link")
    tree.links.new(picture_node(tree, "not_muted_link.png").outputs[0], shader.inputs[0]).is_muted = True
    square("muted link", m, root)
    m, tree, shader, _ = emissive("reroute")
    bend = tree.nodes.new("NodeReroute")
    tree.links.new(picture_node(tree, "need_reroute.png").outputs[0], bend.inputs[0])
    tree.links.new(bend.outputs[0], shader.inputs[0])
    square("reroute", m, root)
    # The colours of this node are not there while it mixes numbers.
    m, tree, shader, _ = emissive("kinds of a mix")
    mix = tree.nodes.new("ShaderNodeMix")
    mix.data_type = "RGBA"
    tree.links.new(picture_node(tree, "not_other_kind.png").outputs[0], next(i for i in mix.inputs if i.type == "RGBA"))
    mix.data_type = "FLOAT"
    tree.links.new(picture_node(tree, "need_kind.png").outputs[0], next(i for i in mix.inputs if i.type == "VALUE" and i.name == "A"))
    mix.inputs[0].default_value = 0.3
    tree.links.new(mix.outputs[0], shader.inputs[0])
    square("kinds of a mix", m, root)


def grouped_nodes(root):
    """A group of two inputs and two outputs, of which one each is used; and a group in a group."""
    group = bpy.data.node_groups.new("Pair", "ShaderNodeTree")
    for name in ("used", "unused"):
        group.inputs.new("NodeSocketColor", name)
        group.outputs.new("NodeSocketColor", name)
    start, end = group.nodes.new("NodeGroupInput"), group.nodes.new("NodeGroupOutput")
    add = group.nodes.new("ShaderNodeMixRGB")
    add.blend_type = "ADD"
    group.links.new(start.outputs[0], add.inputs[1])
    group.links.new(picture_node(group, "need_in_group.png").outputs[0], add.inputs[2])
    group.links.new(add.outputs[0], end.inputs[0])
    group.links.new(picture_node(group, "not_in_group.png").outputs[0], end.inputs[1])

    outer = bpy.data.node_groups.new("Outer", "ShaderNodeTree")
    outer.inputs.new("NodeSocketColor", "through")
    outer.outputs.new("NodeSocketColor", "through")
    inner = outer.nodes.new("ShaderNodeGroup")
    inner.node_tree = group
    outer.links.new(outer.nodes.new("NodeGroupInput").outputs[0], inner.inputs[0])
    outer.links.new(picture_node(outer, "not_outer.png").outputs[0], inner.inputs[1])
    outer.links.new(inner.outputs[0], outer.nodes.new("NodeGroupOutput").inputs[0])

    m, tree, shader, _ = emissive("group")
    node = tree.nodes.new("ShaderNodeGroup")
    node.node_tree = outer
    tree.links.new(picture_node(tree, "need_through_group.png").outputs[0], node.inputs[0])
    tree.links.new(node.outputs[0], shader.inputs[0])
    square("group", m, root)

    m, tree, shader, _ = emissive("unused group")
    node = tree.nodes.new("ShaderNodeGroup")
    node.node_tree = bpy.data.node_groups.new("Unused", "ShaderNodeTree")
    picture_node(node.node_tree, "not_unused_group.png")
    square("unused group", m, root)


def lights(root):
    def light(name, path, connected, uses=True):
        data = bpy.data.lights.new(name, "POINT")
        data.energy, data.use_nodes = 5, uses
        node = data.node_tree.nodes.new("ShaderNodeTexIES") if data.node_tree else None
        if node is None:
            data.use_nodes = True
            node = data.node_tree.nodes.new("ShaderNodeTexIES")
            data.use_nodes = uses
        node.mode, node.filepath = "EXTERNAL", "//" + path
        if connected:
            emission = next(n for n in data.node_tree.nodes if n.type == "EMISSION")
            data.node_tree.links.new(node.outputs[0], emission.inputs["Strength"])
        o = bpy.data.objects.new(name, data)
        root.objects.link(o)
        place(o)
        o.location.z = 0.5

    light("lit", "need_light.ies", True)
    light("loose", "not_light.ies", False)
    light("plain", "not_plain.ies", True, uses=False)
    floor = bpy.data.materials.new("floor")
    mesh = bpy.data.meshes.new("floor")
    mesh.from_pydata([(-1, -1, -0.1), (9, -1, -0.1), (9, 9, -0.1), (-1, 9, -0.1)], [], [(0, 1, 2, 3)])
    mesh.materials.append(floor)
    root.objects.link(bpy.data.objects.new("floor", mesh))


def unlit(root):
    """Materials without their nodes, and scripts of shaders, which are off."""
    m = textured("not_use_nodes.png")
    m.use_nodes = False
    square("not_use_nodes.png", m, root)
    m, tree, shader, _ = emissive("scripted")
    script = tree.nodes.new("ShaderNodeScript")
    script.mode, script.filepath = "EXTERNAL", "//not_script.osl"
    square("scripted", m, root)


def geometry_nodes(root):
    tree = bpy.data.node_groups.new("Geometry", "GeometryNodeTree")
    tree.outputs.new("NodeSocketGeometry", "Geometry")
    grid, paint, end = (tree.nodes.new(k) for k in ("GeometryNodeMeshGrid", "GeometryNodeSetMaterial", "NodeGroupOutput"))
    grid.inputs[0].default_value = grid.inputs[1].default_value = 0.8
    paint.inputs["Material"].default_value = textured("need_set_material.png")
    tree.links.new(grid.outputs[0], paint.inputs[0])
    tree.links.new(paint.outputs[0], end.inputs[0])
    tree.nodes.new("GeometryNodeSetMaterial").inputs["Material"].default_value = textured("not_set_material.png")
    loose = tree.nodes.new("GeometryNodeObjectInfo")
    loose.inputs[0].default_value = painted("not_loose_object.png", None)
    square("geometry", emissive("geometry")[0], root).modifiers.new("nodes", "NODES").node_group = tree


def fonts(root):
    """Of a text's four fonts only those count that its letters have."""
    folder = bpy.utils.system_resource("DATAFILES", path="fonts")

    def font(path):
        f = bpy.data.fonts.load(os.path.join(folder, "lastresort.woff2"), check_existing=False)
        f.name, f.filepath = path, "//" + path
        return f

    def text(name, body, regular, bold, letters=()):
        data = bpy.data.curves.new(name, "FONT")
        data.body, data.font, data.font_bold = body, font(regular), font(bold)
        for i in letters:
            data.body_format[i].use_bold = True
        o = bpy.data.objects.new(name, data)
        root.objects.link(o)
        place(o)

    text("plain", "AB", "need_regular.ttf", "not_bold.ttf")
    text("bold", "AB", "not_regular.ttf", "need_bold.ttf", (0, 1))
    text("both", "AB", "need_both.ttf", "need_both_bold.ttf", (1,))
    text("empty", "", "not_empty.ttf", "not_empty_bold.ttf")


def sequencer():
    """The picture comes from strips, one a frame: of scenes, of strips of scenes, of files.
    The edit itself is no scene of Cycles, and has no camera."""
    edit = bpy.context.scene
    painted("not_edit.png", edit.collection)
    edit.render.engine = "BLENDER_EEVEE"
    edit.render.resolution_x = edit.render.resolution_y = 64
    edit.frame_end = 8
    q = edit.sequence_editor_create().sequences

    def shot(name, path, strips=None, channel=1, frame=None, engine="CYCLES"):
        scene = bpy.data.scenes.new(name)
        painted(path, scene.collection)
        overlook(scene)
        scene.render.engine = engine
        at = frame or 1 + len(q)
        strip = (strips or q).new_scene("strip of " + name, scene, channel, at)
        strip.frame_final_duration = 1
        return strip, scene

    shot("Shown", "need_strip.png")
    still = q.new_image("file", picture("need_picture.png"), 1, 2)
    still.directory, still.frame_final_duration = "//", 1
    meta = q.new_meta("meta", 1, 3)
    shot("In meta", "need_meta.png", meta.sequences, frame=3)
    shot("Muted in meta", "not_muted_in_meta.png", meta.sequences, channel=2, frame=3)[0].mute = True
    meta.frame_final_duration = 1
    nested, scene = shot("Nested", "not_nested.png", frame=4)
    nested.scene_input = "SEQUENCER"
    shot("Deep", "need_deep.png", scene.sequence_editor_create().sequences, frame=1)
    _, scene = shot("Of itself", "need_of_itself.png", frame=5)
    shot("Below", "not_below.png", scene.sequence_editor_create().sequences, frame=1)
    shot("Foreign", "not_foreign.png", frame=6, engine="BLENDER_EEVEE")
    shot("Muted", "not_muted_strip.png", channel=2, frame=6)[0].mute = True
    shot("In muted channel", "not_muted_channel.png", channel=3, frame=6)
    edit.sequence_editor.channels[3].mute = True
    text = q.new_effect("text", "TEXT", 1, frame_start=7, frame_end=8)
    text.text = "AB"
    text.font = bpy.data.fonts.load(os.path.join(bpy.utils.system_resource("DATAFILES", path="fonts"), "lastresort.woff2"))
    text.font.filepath = "//need_strip.ttf"
    clip = bpy.data.movieclips.load(picture("need_clip.png"))
    clip.filepath = "//need_clip.png"
    q.new_clip("clip", clip, 1, 8).frame_final_duration = 1
    q.new_sound("sound", noise("not_sound.wav"), 4, 1).sound.filepath = "//not_sound.wav"
    other = bpy.data.scenes.new("Other")
    painted("not_other.png", other.collection)


def scripts_in_use(s):
    def driven(owner, name, expression, variables=()):
        owner[name] = 1.0
        d = drive(owner, '["%s"]' % name, expression)
        for v in variables:
            d.driver.variables.new().name = v
        return d

    o = cube("Driven")
    driven(o, "need_python", "noise.random()")
    driven(o, "not_modulo", "frame % 2")
    driven(o, "need_unknown", "other + 1", ["var"])
    driven(o, "not_simple", "lerp(0, 1, var) if frame > 3 else -var", ["var"])
    driven(o, "not_empty", "")
    driven(o, "not_muted", "noise.random()").mute = True
    drive(o, "hide_viewport", "noise.random()")
    driven(painted("not_driven_hidden.png", None), "not_elsewhere", "noise.random()")
    rig = aside(bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig")))
    driven(rig, "need_rig", "noise.random()")
    driven(rig.data, "need_rig_data", "noise.random()")
    o.modifiers.new("rig", "ARMATURE").object = rig
    tree = bpy.data.materials["need_material.png"].node_tree
    drive(tree.nodes["Emission"].inputs["Strength"], "default_value", "len(str(frame))")
    drive(tree.nodes.new("ShaderNodeValue").outputs[0], "default_value", "len(str(frame))")
    for name, registers in (("need.py", True), ("not.txt", True), ("not.py", False)):
        bpy.data.texts.new(name).use_module = registers


def freestyle():
    """Style modules of Freestyle: those that draw lines are in layers named need."""
    s = bpy.context.scene
    add_camera("Camera")
    s.render.use_freestyle = True
    s.view_layers[0].name = "need"
    text = bpy.data.texts.new("lines.py")

    def style(name, module=True):
        layer = s.view_layers.get(name) or s.view_layers.new(name)
        layer.use_freestyle = True
        layer.freestyle_settings.mode = "SCRIPT"
        if module:
            layer.freestyle_settings.modules.new().script = text
        return layer

    style("need")
    style("not_modules", module=False)
    style("not_lines").freestyle_settings.mode = "EDITOR"
    style("not_switched_on").use_freestyle = False
    style("not_rendered").use = False
    style("not_used").freestyle_settings.modules[0].use = False
    style("not_there").freestyle_settings.modules[0].script = None


def simulations():
    """Each kind of simulation: running, baked, stored in the file, and not part of the
    picture."""
    s = bpy.context.scene
    s.frame_end = 10
    add_camera("Camera")
    bpy.ops.wm.save_as_mainfile(filepath=os.path.join(WORK, "simulations.blend"))

    def one(name, modifier, **settings):
        m = cube(name).modifiers.new("it", modifier)
        for key, value in settings.items():
            setattr(m, key, value)
        return m

    one("cloth", "CLOTH")
    one("soft body", "SOFT_BODY")
    one("not cloth for the viewport", "CLOTH", show_render=False)
    one("not cloth unseen", "CLOTH").id_data.hide_render = True
    one("cloth stored", "CLOTH").point_cache.frame_end = 3
    one("cloth stored in part", "CLOTH").point_cache.frame_end = 30
    particles(one)
    fluids(one)
    painted_canvas()
    rigid_bodies()
    baked = [one("cloth baked", "CLOTH"), one("cloth baked on disk", "CLOTH"), one("soft body baked", "SOFT_BODY")]
    baked[1].point_cache.use_disk_cache = True
    for m in baked:
        m.point_cache.frame_end = 4
        with bpy.context.temp_override(point_cache=m.point_cache, active_object=m.id_data):
            bpy.ops.ptcache.bake(bake=True)
    for frame in range(1, 4):
        s.frame_set(frame)


def particles(one):
    def system(name, **settings):
        p = one(name, "PARTICLE_SYSTEM").particle_system
        for key, value in settings.items():
            setattr(p.settings, key, value)
        return p

    system("particles", count=3)
    system("not particles that stay", count=3, physics_type="NO")
    system("not particles to be seen", count=3, render_type="NONE")
    system("not hair that moves", type="HAIR", count=3)
    system("hair that moves", type="HAIR", count=3).use_hair_dynamics = True
    outside = system("particles outside", count=3).point_cache
    outside.use_external = True
    outside.filepath = "//outside"


def fluids(one):
    corners = [(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]
    sides = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]

    def domain(name, **settings):
        m = one(name, "FLUID")
        mesh = m.id_data.data
        mesh.clear_geometry()
        mesh.from_pydata(corners, [], sides)
        m.fluid_type = "DOMAIN"
        d = m.domain_settings
        d.resolution_max, d.cache_frame_end, d.cache_directory = 6, 2, "//" + name
        for key, value in settings.items():
            setattr(d, key, value)
        return m

    domain("smoke", cache_type="REPLAY")
    domain("not smoke before its bake", cache_type="MODULAR")
    one("not a flow", "FLUID", fluid_type="FLOW")
    baked = domain("smoke baked", cache_type="MODULAR").id_data
    bpy.context.view_layer.objects.active = baked
    bpy.ops.fluid.bake_data()


def painted_canvas():
    for name, kind in (("canvas", "CANVAS"), ("not a brush", "BRUSH")):
        o = cube(name)
        o.modifiers.new("it", "DYNAMIC_PAINT")
        bpy.context.view_layer.objects.active = o
        bpy.ops.dpaint.type_toggle(type=kind)


def rigid_bodies():
    bpy.ops.rigidbody.world_add()
    for name, kind in (("falls", "ACTIVE"), ("not one that stays", "PASSIVE"), ("not one by hand", "ACTIVE")):
        o = cube(name)
        bpy.context.view_layer.objects.active = o
        bpy.ops.rigidbody.object_add(type=kind)
        o.rigid_body.kinematic = name == "not one by hand"


def save(name, make):
    fresh()
    make()
    path = os.path.join(WORK, name + ".blend")
    bpy.ops.wm.save_as_mainfile(filepath=path, compress=True, relative_remap=False)
    shutil.copy(path, OUT)
    bpy.ops.wm.open_mainfile(filepath=path)
    say(name)


def say(name):
    with open(os.path.join(OUT, name + ".json"), "w", encoding="utf-8") as f:
        json.dump(facts(), f, indent=1, ensure_ascii=False, sort_keys=True)
        f.write("\n")


def save_library():
    """A file without a scene, as asset files are."""
    fresh()
    i = bpy.data.images.new("Far away", 2, 2)
    i.source, i.filepath_raw = "FILE", "//far.png"
    blocks = {i, bpy.data.objects.new("Far camera", bpy.data.cameras.new("Far")), bpy.data.objects.new("Far empty", None)}
    path = os.path.join(WORK, "library.blend")
    bpy.data.libraries.write(path, blocks, fake_user=True, compress=True)
    shutil.copy(path, OUT)


def main():
    os.makedirs(OUT, exist_ok=True)
    if not ONLY or "linked" in ONLY:
        save_library()
    for make in (settings, views, views_next, views_above, views_squeezed, views_of_cameras, views_astray, output_views, output_cameras, colors, colors_of_output, spaces_of_nodes, spaces_of_strips, strips_of_engines, marked, empty_images, clips, numbered, numbered_elsewhere, world_volume, world_volume_off, exr_previews, exr_previews_off, layers_off, colors_overridden, host_stamp, film_output, scenes, drivers, compositor, compositor_off, files, linked, reach, nodes, sequencer, simulations, freestyle):
        if not ONLY or make.__name__ in ONLY:
            save(make.__name__, make)
    shutil.rmtree(WORK)


main()
