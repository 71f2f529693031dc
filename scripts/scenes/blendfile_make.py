"""Makes the test files of internal/ground/blendfile, and writes beside each what
Blender itself says of it after loading it again.

    blender -b --factory-startup --python-exit-code 1 \
        --python scripts/scenes/blendfile_make.py -- internal/ground/blendfile/testdata

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

OUT = os.path.abspath(sys.argv[sys.argv.index("--") + 1])
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
        "texts": by_name([{"name": t.name, "registers": t.use_module} for t in bpy.data.texts]),
        "python_drivers": sum(d.driver.type == "SCRIPTED" for a in animated() for d in a.drivers),
    }


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
        "stamp_names": r.use_stamp and (r.use_stamp_filename or r.use_stamp_hostname),
        "view_layers": [l.name for l in s.view_layers],
        "file_output_nodes": sorted(output_nodes(s), key=lambda n: n["path"]),
        "driven_settings": [d.data_path for d in driven],
    }


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
                add("cache", m.domain_settings.cache_directory, False, o.name)
        for p in o.particle_systems:
            if p.point_cache.use_external:
                add("cache", p.point_cache.filepath, False, o.name)
    for owner in [*bpy.data.materials, *bpy.data.lights]:
        for n in owner.node_tree.nodes if owner.node_tree else []:
            if n.type == "SCRIPT" and n.filepath:
                add("script", n.filepath, False, owner.name)
            if n.type == "TEX_IES" and n.filepath:
                add("light", n.filepath, False, owner.name)
    return sorted(all, key=lambda e: (e["kind"], e["owner"], e["path"]))


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


def host_stamp():
    """A stamp with the computer's name only."""
    r = bpy.context.scene.render
    r.use_stamp, r.use_stamp_filename, r.use_stamp_hostname = True, False, True


def film_output():
    """Cycles' settings left alone, output as one film, with a stamp that tells no name."""
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


def reach():
    """Files and scripts that the picture comes from are named need, all others not."""
    s = bpy.context.scene
    add_camera("Camera")
    shown_objects(s)
    unseen_objects(s)
    scene_pictures(s)
    scripts_in_use(s)


def unloaded(path):
    i = bpy.data.images.new(os.path.basename(path), 2, 2)
    i.source, i.filepath_raw = "FILE", "//" + path
    return i


def textured(path, kind="ShaderNodeTexImage"):
    """A material with a picture."""
    m = bpy.data.materials.new(path)
    m.use_nodes = True
    m.node_tree.nodes.new(kind).image = unloaded(path)
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
    """A mesh with such a material, in a collection or aside."""
    mesh = bpy.data.meshes.new(path)
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
    mesh.materials.append(textured(path))
    o = bpy.data.objects.new(path, mesh)
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
    painted("need_beside.png", root).data.materials[0].node_tree.nodes.new("ShaderNodeGroup").node_tree = group
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
    emitter = painted("need_emitter.png", root)
    emitter.modifiers.new("particles", "PARTICLE_SYSTEM")
    particles = emitter.particle_systems[0].settings
    particles.render_type, particles.instance_object = "OBJECT", painted("need_particle.png", None)
    waves = painted("need_waves.png", root).modifiers.new("displace", "DISPLACE")
    waves.texture = bpy.data.textures.new("waves", "IMAGE")
    waves.texture.image = unloaded("need_displace.png")
    nodes = bpy.data.node_groups.new("Geometry", "GeometryNodeTree")
    nodes.nodes.new("GeometryNodeObjectInfo").inputs[0].default_value = painted("need_geometry.png", None)
    painted("need_nodes.png", root).modifiers.new("nodes", "NODES").node_group = nodes
    fonts = bpy.utils.system_resource("DATAFILES", path="fonts")
    text = bpy.data.curves.new("Text", "FONT")
    text.font = bpy.data.fonts.load(os.path.join(fonts, "lastresort.woff2"))
    text.font.filepath = "//need_font.ttf"
    add_object("Text", text)


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
    s.world.node_tree.nodes.new("ShaderNodeTexEnvironment").image = unloaded("need_world.png")
    others = {}
    for name in ("need_set.png", "need_layer.png", "not_scene.png"):
        others[name] = bpy.data.scenes.new(name)
        painted(name, others[name].collection)
    s.background_set = others["need_set.png"]
    s.use_nodes = True
    nodes = s.node_tree.nodes
    nodes.new("CompositorNodeRLayers").scene = others["need_layer.png"]
    nodes.new("CompositorNodeImage").image = unloaded("need_compositor.png")
    muted = nodes.new("CompositorNodeImage")
    muted.image, muted.mute = unloaded("not_muted.png"), True
    s.render.use_sequencer = False
    q = s.sequence_editor_create().sequences
    q.new_image("strip", picture("not_strip.png"), 1, 1).directory = "//"
    q.new_sound("sound", noise("not_sound.wav"), 2, 1).sound.filepath = "//not_sound.wav"


def sequencer():
    """The picture comes from strips: of a scene, and of a file."""
    edit = bpy.context.scene
    add_camera("Camera")
    shown, other = bpy.data.scenes.new("Shown"), bpy.data.scenes.new("Other")
    painted("need_strip.png", shown.collection)
    painted("not_other.png", other.collection)
    q = edit.sequence_editor_create().sequences
    q.new_scene("scene", shown, 1, 1)
    q.new_image("file", picture("need_picture.png"), 2, 1).directory = "//"


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
    drive(tree.nodes["Principled BSDF"].inputs["Roughness"], "default_value", "len(str(frame))")
    for name, registers in (("need.py", True), ("not.txt", True), ("not.py", False)):
        bpy.data.texts.new(name).use_module = registers


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
    save_library()
    for make in (settings, views, host_stamp, film_output, scenes, drivers, compositor, compositor_off, files, linked, reach, sequencer):
        save(make.__name__, make)
    shutil.rmtree(WORK)


main()
