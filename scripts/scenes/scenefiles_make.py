"""Makes the projects that the tests of internal/render/scenefiles search: folders with a
.blend and what it refers to, each once as Blender itself loads it.

    blender -b --factory-startup --python-exit-code 1 \
        --python scripts/scenes/scenefiles_make.py -- internal/render/scenefiles/testdata [PROJECT...]

Without names all projects are made. Next to each project is a .json with the paths that Blender resolves after loading its
main file, and whether a file is there. Where the folder lies is cut off.
"""

import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import wave
import zlib

import bpy

KEPT, *CHOSEN = sys.argv[sys.argv.index("--") + 1:]
KEPT = os.path.abspath(KEPT)
OUT = tempfile.mkdtemp()  # a .blend stores where its libraries were


def fresh():
    bpy.ops.wm.read_factory_settings(use_empty=True)
    s = bpy.context.scene
    s.render.engine, s.cycles.samples, s.cycles.use_denoising = "CYCLES", 1, False
    s.render.resolution_x, s.render.resolution_y, s.frame_end = 8, 8, 4
    return s


def save(*at):
    path = os.path.join(OUT, *at)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    bpy.ops.wm.save_as_mainfile(filepath=path, compress=True, relative_remap=False, copy=False)


BEGINNINGS = {".vdb": b" BDV\0\0\0\0", ".abc": b"Ogawa", ".usdc": b"PXR-USDC"}


def png(comment):
    """A picture of one pixel."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
    pixel = chunk(b"IDAT", zlib.compress(b"\0\x80\x40\x20"))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"tEXt", b"Comment\0" + comment) + pixel + chunk(b"IEND", b"")


def text(*at):
    """A file of which only the beginning matters. Files of different names differ."""
    path = os.path.join(OUT, *at)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    name, ext = at[-1].encode(), os.path.splitext(at[-1])[1]
    with open(path, "wb") as f:
        f.write(png(name) if ext == ".png" else BEGINNINGS.get(ext, b"") + name + b"\n")


def camera(s):
    s.camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    s.collection.objects.link(s.camera)


def plane(s, name, material=None):
    """Materials of libraries are given to meshes, as usual."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], [], [(0, 1, 2, 3)])
    if material:
        mesh.materials.append(material)
    o = bpy.data.objects.new(name, mesh)
    s.collection.objects.link(o)
    return o


def picture(name, path, source="FILE"):
    i = bpy.data.images.new(name, 1, 1, tiled=source == "TILED")
    i.source, i.filepath_raw = source, path
    return i


def textured(image):
    m = bpy.data.materials.new(image.name)
    m.use_nodes = True
    node = m.node_tree.nodes.new("ShaderNodeTexImage")
    node.image = image
    shader = m.node_tree.nodes["Principled BSDF"]
    m.node_tree.links.new(node.outputs["Color"], shader.inputs["Base Color"])
    return m


def shown(s, name, path, source="FILE"):
    image = picture(name, path, source)
    plane(s, name, textured(image))
    return image


def link(path, kind, *names):
    with bpy.data.libraries.load(path, link=True) as (_, here):
        setattr(here, kind, list(names))
    return [getattr(bpy.data, kind)[n] for n in names]


def relative(start):
    """Paths of libraries count from the file that is saved."""
    for l in bpy.data.libraries:
        l.filepath = "//" + os.path.relpath(bpy.path.abspath(l.filepath), os.path.join(OUT, start))


def chain():
    """A shot whose prop has a material of a third file, which refers to the prop."""
    prop, materials = os.path.join(OUT, "chain/lib/props/prop.blend"), os.path.join(OUT, "chain/lib/mat/materials.blend")
    s = fresh()
    m = textured(picture("wood", "//tex/wood.png"))
    m.use_fake_user = True
    textured(picture("other", "//tex/other.png")).use_fake_user = True
    save("chain/lib/mat/materials.blend")
    text("chain/lib/mat/tex/wood.png")

    s = fresh()
    wood, = link(materials, "materials", "wood")
    relative("chain/lib/props")
    c = bpy.data.collections.new("Prop")
    c.use_fake_user = True
    o = plane(s, "Prop", wood)
    s.collection.objects.unlink(o)
    c.objects.link(o)
    save("chain/lib/props/prop.blend")

    bpy.ops.wm.open_mainfile(filepath=materials)
    bpy.data.materials["wood"]["handle"], = link(prop, "objects", "Prop")
    relative("chain/lib/mat")
    save("chain/lib/mat/materials.blend")

    s = fresh()
    camera(s)
    prop_collection, = link(prop, "collections", "Prop")
    holder = bpy.data.objects.new("Holder", None)
    holder.instance_type, holder.instance_collection = "COLLECTION", prop_collection
    s.collection.objects.link(holder)
    relative("chain/shots/010")
    save("chain/shots/010/shot.blend")
    say("chain", "shots/010/shot.blend")


def packed():
    """A packed library whose own file is gone; its picture still counts from there."""
    fresh()
    textured(picture("t", "//t.png")).use_fake_user = True
    save("packed/src/m.blend")
    text("packed/src/t.png")
    s = fresh()
    camera(s)
    material, = link(os.path.join(OUT, "packed/src/m.blend"), "materials", "t")
    plane(s, "Plane", material)
    relative("packed")
    save("packed/scene.blend")
    bpy.ops.file.pack_libraries()
    save("packed/scene.blend")
    os.remove(os.path.join(OUT, "packed/src/m.blend"))
    say("packed", "scene.blend")


def moves():
    """Simulations in a library: main.blend links it, packed.blend has it in itself."""
    s = fresh()
    c = bpy.data.collections.new("Set")
    c.use_fake_user = True
    for name in ("Cloth", "Baked", "Hidden", "Elsewhere"):
        o = plane(s, name)
        s.collection.objects.unlink(o)
        (bpy.data.collections.new("Other") if name == "Elsewhere" else c).objects.link(o)
        cache = o.modifiers.new("Cloth", "CLOTH").point_cache
        cache.frame_start, cache.frame_end = 1, 2
        o.hide_render = name == "Hidden"
        if name == "Baked":
            s.collection.objects.link(o)
            bpy.context.view_layer.objects.active = o
            with bpy.context.temp_override(point_cache=cache, active_object=o, object=o):
                bpy.ops.ptcache.bake(bake=True)
            s.collection.objects.unlink(o)
    save("moves/lib/set.blend")
    s = fresh()
    camera(s)
    c, = link(os.path.join(OUT, "moves/lib/set.blend"), "collections", "Set")
    holder = bpy.data.objects.new("Holder", None)
    holder.instance_type, holder.instance_collection = "COLLECTION", c
    s.collection.objects.link(holder)
    relative("moves")
    save("moves/main.blend")
    bpy.ops.file.pack_libraries()
    save("moves/packed.blend")
    say("moves", "main.blend")


def falls():
    """Rigid bodies of a library that the world of main.blend moves: Ball, and Brick of a
    collection. Shelf is passive, Loose is in no world. Ball shows an image that is packed, Brick one that is
    missing. What only Crate and Hidden show is not needed: their collections are excluded
    from the view layer, and not rendered."""
    s = fresh()
    bpy.ops.rigidbody.world_add()
    pile = bpy.data.collections.new("Pile")
    pile.use_fake_user = True
    for name in ("Ball", "Shelf", "Loose", "Brick"):
        o = plane(s, name)
        bpy.context.view_layer.objects.active = o
        bpy.ops.rigidbody.object_add(type="PASSIVE" if name == "Shelf" else "ACTIVE")
        if name == "Brick":
            pile.objects.link(o)
    for name in ("Crate", "Hidden"):
        inner = bpy.data.collections.new(name + "s")
        inner.hide_render = name == "Hidden"
        inner.objects.link(plane(s, name, textured(picture(name, "//%s.png" % name))))
        pile.children.link(inner)
    shown(s, "paint", "//paint.png").pack(data=b"paint", data_len=5)
    bpy.data.images["paint"].colorspace_settings.name = "Linear ACES"
    bpy.data.objects["Ball"].data.materials.append(bpy.data.materials["paint"])
    bpy.data.objects["Brick"].data.materials.append(textured(picture("brick", "//brick.png")))
    save("falls/lib/bodies.blend")
    s = fresh()
    camera(s)
    bpy.ops.rigidbody.world_add()
    bodies = bpy.data.collections.new("Bodies")
    s.rigidbody_world.collection = bodies
    library = os.path.join(OUT, "falls/lib/bodies.blend")
    for name in ("Ball", "Shelf", "Loose"):
        o, = link(library, "objects", name)
        s.collection.objects.link(o)
        if name != "Loose":
            bodies.objects.link(o)
    pile, = link(library, "collections", "Pile")
    s.collection.children.link(pile)
    bodies.children.link(pile)
    bpy.context.view_layer.layer_collection.children["Pile"].children["Crates"].exclude = True
    relative("falls")
    save("falls/main.blend")
    bpy.ops.file.pack_libraries()
    save("falls/packed.blend")
    say("falls", "main.blend")


def kinds():
    """One file with paths of every kind."""
    s = fresh()
    camera(s)
    shown(s, "back", "//tex\\sub\\..\\back.png")
    shown(s, "case", "//Tex/CASE.PNG")
    shown(s, "drive", "C:\\Users\\Anna\\shot\\tex\\drive.png")
    shown(s, "above", "//../above.png")
    shown(s, "missing", "//tex/missing.png")
    shown(s, "inside", "//tex/inside.png").pack(data=b"inside", data_len=6)
    picture("unused", "//tex/unused.png").use_fake_user = True
    for i in ("back", "case", "drive"):
        text("kinds/tex/%s.png" % i)

    wall = shown(s, "wall", "//tex/wall.<UDIM>.png", "TILED")
    for n in (1002, 1011):
        wall.tiles.new(tile_number=n)
    for n in (1001, 1011):
        text("kinds/tex/wall.%d.png" % n)
    shown(s, "plate", "//seq/plate98.png", "SEQUENCE")
    for n in ("98", "99", "100", "7", "0101"):
        text("kinds/seq/plate%s.png" % n)

    cloud = bpy.data.objects.new("Cloud", bpy.data.volumes.new("Cloud"))
    cloud.data.filepath, cloud.data.is_sequence, cloud.data.frame_duration = "//vdb/cloud.v2.0001.vdb", True, 2
    s.collection.objects.link(cloud)
    for n in ("1.0001", "2.0001", "2.0002"):
        text("kinds/vdb/cloud.v%s.vdb" % n)

    lamp = bpy.data.lights.new("Lamp", "POINT")
    lamp.use_nodes = True
    ies = lamp.node_tree.nodes.new("ShaderNodeTexIES")
    ies.mode, ies.filepath = "EXTERNAL", "//lamp.ies"
    lamp.node_tree.links.new(ies.outputs[0], lamp.node_tree.nodes["Emission"].inputs["Strength"])
    s.collection.objects.link(bpy.data.objects.new("Lamp", lamp))
    text("kinds/lamp.ies")

    other = bpy.data.scenes.new("Other")
    plane(other, "elsewhere", textured(picture("elsewhere", "//tex/elsewhere.png")))
    cached = plane(s, "Moved")
    cached.modifiers.new("Cache", "MESH_CACHE").filepath = "//moved.mdd"
    text("kinds/moved.mdd")
    folder_of_a_cloth(s)
    say("kinds", "main.blend")


def folder_of_a_cloth(s):
    """A disk cache, which lies in a folder named for the .blend."""
    o = plane(s, "Cloth")
    m = o.modifiers.new("Cloth", "CLOTH")
    cache = m.point_cache
    cache.frame_start, cache.frame_end = 1, 2
    save("kinds/main.blend")
    cache.use_disk_cache = True
    bpy.context.view_layer.objects.active = o
    with bpy.context.temp_override(point_cache=cache, active_object=o, object=o):
        bpy.ops.ptcache.bake(bake=True)
    save("kinds/main.blend")


def options():
    """Files that Blender reads only where it is built for them: all.blend shows one for each
    option, strip.blend a film in its sequencer, and the picture of none.blend needs none of
    them. inside.blend has its own in itself; main.blend links it, packed.blend packs it."""
    for at in ("birds.abc", "set.usdc", "smoke.vdb", "film.avi", "glow.osl"):
        text("options", at)
    for name in ("all", "none"):
        s = fresh()
        camera(s)
        for path in ("//birds.abc", "//set.usdc"):
            bpy.ops.cachefile.open(filepath=path)
            modifier = plane(s, path[2:]).modifiers.new("Cache", "MESH_SEQUENCE_CACHE")
            modifier.cache_file, modifier.object_path = bpy.data.cache_files[-1], "/a"
            modifier.cache_file.filepath = path
        volume(s, "//smoke.vdb")
        shown(s, "film", "//film.avi", "MOVIE")
        for o in s.collection.objects:
            o.hide_render = name == "none"
        scripted(s).filepath = "//glow.osl"
        s.cycles.shading_system = name == "all"
        strip(s)
        s.render.use_sequencer = False  # else its strips alone were seen
        save("options", name + ".blend")
    s = fresh()
    camera(s)
    strip(s)
    save("options/strip.blend")

    s = fresh()
    camera(s)
    save("options/inside.blend")  # paths count from there
    volume(s, "//smoke.vdb")
    bpy.ops.file.pack_all()
    node = scripted(s)
    node.mode, node.script = "INTERNAL", bpy.data.texts.new("glow")
    node.bytecode, node.bytecode_hash = "compiled", "0123"
    s.cycles.shading_system = True
    save("options/inside.blend")
    s = fresh()
    camera(s)
    s.cycles.shading_system = True
    for o in link(os.path.join(OUT, "options/inside.blend"), "objects", "Smoke", "Glow"):
        s.collection.objects.link(o)
    relative("options")
    save("options/main.blend")
    bpy.ops.file.pack_libraries()
    save("options/packed.blend")


def volume(s, path):
    o = bpy.data.objects.new("Smoke", bpy.data.volumes.new("Smoke"))
    o.data.filepath = path
    s.collection.objects.link(o)


def scripted(s):
    """A plane whose material has a node in Open Shading Language."""
    m = bpy.data.materials.new("Glow")
    m.use_nodes = True
    node = m.node_tree.nodes.new("ShaderNodeScript")
    node.mode = "EXTERNAL"
    node.outputs.new("NodeSocketColor", "Color")
    m.node_tree.links.new(node.outputs["Color"], m.node_tree.nodes["Principled BSDF"].inputs["Base Color"])
    plane(s, "Glow", m)
    return node


def strip(s):
    s.sequence_editor_create().sequences.new_movie("film", os.path.join(OUT, "options/film.avi"), 1, 1).filepath = "//film.avi"


def everything(s, suffix=""):
    """Data-blocks of the kinds that a picture can come from. Their names have the given
    endings."""
    data, named = bpy.data, lambda name: name + suffix
    data.materials.new(named("Wood")).use_fake_user = True
    data.materials.new("Steel").use_fake_user = True
    data.materials.new(named("Unseen")).use_fake_user = True
    data.worlds.new(named("Sky")).use_fake_user = True
    grain = data.node_groups.new(named("Grain"), "ShaderNodeTree")
    grain.use_fake_user = True
    grain.outputs.new("NodeSocketFloat", "Value")
    data.actions.new(named("Spin")).use_fake_user = True
    picture(named("Photo"), "//photo.png").use_fake_user = True
    data.textures.new(named("Clouds"), "CLOUDS").use_fake_user = True
    data.meshes.new(named("Shape")).use_fake_user = True
    data.lights.new(named("Bulb"), "POINT").use_fake_user = True
    data.cameras.new(named("Lens")).use_fake_user = True
    data.particles.new(named("Dust")).use_fake_user = True
    data.curves.new(named("Path"), "CURVE").use_fake_user = True
    data.metaballs.new(named("Drop")).use_fake_user = True
    data.lattices.new(named("Cage")).use_fake_user = True
    data.armatures.new(named("Bones")).use_fake_user = True
    data.volumes.new(named("Mist")).use_fake_user = True
    data.masks.new(named("Matte")).use_fake_user = True
    c = data.collections.new(named("Props"))
    c.use_fake_user = True
    o = plane(s, named("Hero"))
    s.collection.objects.unlink(o)
    c.objects.link(o)


def gone():
    """Data-blocks that are gone from a library that is there: main.blend links them, also
    through part.blend, and they have other names now. Steel is still there; no picture comes
    from Unseen. gone.txt is what Blender says."""
    stock, part = os.path.join(OUT, "gone/lib/stock.blend"), os.path.join(OUT, "gone/lib/part.blend")
    everything(fresh())
    save("gone/lib/stock.blend")

    s = fresh()
    wood, = link(stock, "materials", "Wood")
    plane(s, "Table", wood).use_fake_user = True
    relative("gone/lib")
    save("gone/lib/part.blend")

    s = fresh()
    camera(s)
    o, = link(part, "objects", "Table")
    s.collection.objects.link(o)
    hero, = link(stock, "objects", "Hero")
    s.collection.objects.link(hero)
    props, = link(stock, "collections", "Props")
    holder = bpy.data.objects.new("Holder", None)
    holder.instance_type, holder.instance_collection = "COLLECTION", props
    s.collection.objects.link(holder)
    s.world, = link(stock, "worlds", "Sky")
    steel, unseen = link(stock, "materials", "Steel", "Unseen")
    unseen.use_fake_user = True
    turned = plane(s, "Turned", steel)
    turned.animation_data_create().action, = link(stock, "actions", "Spin")
    turned.modifiers.new("Displace", "DISPLACE").texture, = link(stock, "textures", "Clouds")
    turned.modifiers.new("Dust", "PARTICLE_SYSTEM")
    turned.particle_systems[0].settings, = link(stock, "particles", "Dust")
    photo, = link(stock, "images", "Photo")
    mixed = textured(photo)
    group = mixed.node_tree.nodes.new("ShaderNodeGroup")
    group.node_tree, = link(stock, "node_groups", "Grain")
    mixed.node_tree.links.new(group.outputs[0], mixed.node_tree.nodes["Principled BSDF"].inputs["Roughness"])
    plane(s, "Framed", mixed)
    cage = bpy.data.objects.new("Cage", link(stock, "lattices", "Cage")[0])
    bones = bpy.data.objects.new("Bones", link(stock, "armatures", "Bones")[0])
    s.collection.objects.link(cage)
    s.collection.objects.link(bones)
    turned.modifiers.new("Lattice", "LATTICE").object = cage
    turned.modifiers.new("Armature", "ARMATURE").object = bones
    for kind, name in (("meshes", "Shape"), ("lights", "Bulb"), ("cameras", "Lens"), ("curves", "Path"), ("metaballs", "Drop"), ("volumes", "Mist")):
        s.collection.objects.link(bpy.data.objects.new(name, link(stock, kind, name)[0]))
    s.camera = bpy.data.objects["Lens"]
    s.use_nodes = True
    tree = s.node_tree
    mask, over = tree.nodes.new("CompositorNodeMask"), tree.nodes.new("CompositorNodeAlphaOver")
    mask.mask, = link(stock, "masks", "Matte")
    tree.links.new(mask.outputs[0], over.inputs[0])
    tree.links.new(next(n for n in tree.nodes if n.type == "R_LAYERS").outputs[0], over.inputs[1])
    tree.links.new(over.outputs[0], next(n for n in tree.nodes if n.type == "COMPOSITE").inputs[0])
    relative("gone")
    save("gone/main.blend")
    everything(fresh(), ".v2")
    save("gone/lib/stock.blend")
    bpy.ops.wm.open_mainfile(filepath=os.path.join(OUT, "gone/main.blend"))
    bpy.ops.file.pack_libraries()
    save("gone/packed.blend")
    said = subprocess.run([bpy.app.binary_path, "-b", "--factory-startup", os.path.join(OUT, "gone/main.blend")], capture_output=True, text=True, check=True).stdout
    lines = re.findall(r"LIB: (.*): '(.*)' missing from '(.*)', parent", said)
    with open(os.path.join(OUT, "gone.txt"), "w", encoding="utf-8") as f:
        for kind, name, library in sorted(lines):
            f.write("%s %s of %s\n" % (kind.lower(), name, os.path.relpath(library, os.path.join(OUT, "gone"))))
    say("gone", "main.blend")


def borrowed():
    """The active scene is that of a library."""
    s = fresh()
    s.name, s.frame_end = "Shot", 7
    camera(s)
    shown(s, "wood", "//tex/wood.png")
    save("borrowed/lib/shot.blend")
    text("borrowed/lib/tex/wood.png")
    fresh()
    shot, = link(os.path.join(OUT, "borrowed/lib/shot.blend"), "scenes", "Shot")
    bpy.context.window.scene = shot
    relative("borrowed")
    save("borrowed/main.blend")
    say("borrowed", "main.blend")


def film():
    """A scene that writes a movie, with sounds that it plays, and others that it does not."""
    s = fresh()
    camera(s)
    picture, movie = s.render.image_settings, s.render.ffmpeg
    picture.file_format, movie.format, movie.audio_codec = "FFMPEG", "MPEG4", "AAC"
    strips = s.sequence_editor_create().sequences

    def sound(among, name, channel):
        path = os.path.join(OUT, "film/sound", name + ".wav")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with wave.open(path, "wb") as w:
            w.setnchannels(1)
            w.setsampwidth(2)
            w.setframerate(8000)
            w.writeframes(bytes(16))
        strip = among.new_sound(name, path, channel, 1)
        strip.sound.filepath = "//sound/%s.wav" % name
        return strip

    sound(strips, "played", 1)
    sound(strips, "muted", 2).mute = True
    sound(strips, "quiet", 3)
    s.sequence_editor.channels[3].mute = True
    meta = strips.new_meta("meta", 4, 1)
    sound(meta.sequences, "inside", 1)
    shown = bpy.data.scenes.new("Shown")
    sound(shown.sequence_editor_create().sequences, "shown", 1)
    strips.new_scene("shown", shown, 5, 1)
    other = bpy.data.scenes.new("Other")
    sound(other.sequence_editor_create().sequences, "other", 1)
    save("film/main.blend")
    movie.audio_codec = "NONE"
    save("film/silent.blend")
    picture.file_format, movie.audio_codec = "PNG", "AAC"
    save("film/pictures.blend")
    say("film", "main.blend")


def heard():
    """A movie whose sounds are those of speakers, and of a library: linked alone, and by a
    speaker. In cut.blend a strip shows a scene of the library; silent.blend plays nothing."""
    s = fresh()

    def sound(folder, name):
        path = os.path.join(OUT, "heard", folder, name + ".wav")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with wave.open(path, "wb") as w:
            w.setnchannels(1)
            w.setsampwidth(2)
            w.setframerate(8000)
            w.writeframes(bytes(16))
        loaded = bpy.data.sounds.load(path)
        loaded.name, loaded.filepath = name, "//%s.wav" % name
        return loaded

    def speaker(name, folder):
        o = bpy.data.objects.new(name, bpy.data.speakers.new(name))
        o.data.sound = sound(folder, name)
        return o

    def play(scene, loaded):
        strip = scene.sequence_editor_create().sequences.new_sound(loaded.name, os.path.join(OUT, "heard/lib/linked.wav"), 1, 1)
        other, strip.sound = strip.sound, loaded
        if other != loaded:
            bpy.data.sounds.remove(other)

    save("heard/lib/stock.blend")  # paths count from there
    for name in ("linked", "unused"):
        sound("lib", name).use_fake_user = True
    s.collection.objects.link(speaker("sung", "lib"))
    act = bpy.data.scenes.new("Act")
    play(act, sound("lib", "act"))
    save("heard/lib/stock.blend")

    s = fresh()
    camera(s)
    save("heard/main.blend")
    stock = os.path.join(OUT, "heard/lib/stock.blend")
    with bpy.data.libraries.load(stock, link=True) as (_, to):
        to.sounds, to.scenes, to.objects = ["linked", "unused"], ["Act"], ["sung"]
    play(s, bpy.data.sounds["linked"])
    bpy.data.sounds["unused"].use_fake_user = True
    s.collection.objects.link(bpy.data.objects["sung"])
    for name in ("own", "hidden"):
        o = speaker(name, "")
        o.hide_render = name == "hidden"
        s.collection.objects.link(o)
    picture, movie = s.render.image_settings, s.render.ffmpeg
    picture.file_format, movie.format, movie.audio_codec = "FFMPEG", "MPEG4", "AAC"
    relative("heard")
    save("heard/main.blend")
    s.sequence_editor.sequences.new_scene("act", bpy.data.scenes["Act"], 2, 1)
    save("heard/cut.blend")
    movie.audio_codec = "NONE"
    save("heard/silent.blend")
    say("heard", "main.blend")


def say(project, main):
    """Writes what Blender resolves."""
    root = os.path.join(OUT, project)
    bpy.ops.wm.open_mainfile(filepath=os.path.join(root, main))
    found = {}

    def add(kind, block, path, packed=False):
        full = os.path.normpath(bpy.path.abspath(path, library=block.library))
        found[kind + " " + os.path.relpath(full, root)] = "packed" if packed else "there" if os.path.isfile(full) else "missing"

    for i in bpy.data.images:
        if i.source in ("FILE", "SEQUENCE") and i.filepath.startswith("//"):
            add("image", i, i.filepath, i.packed_file is not None)
    for l in bpy.data.libraries:
        add("library", l, l.filepath, l.packed_file is not None)
    for v in bpy.data.volumes:
        if v.filepath:
            add("volume", v, v.filepath)
    with open(os.path.join(OUT, project + ".json"), "w", encoding="utf-8") as f:
        json.dump(found, f, indent=1, sort_keys=True)
        f.write("\n")


for make in (chain, packed, moves, falls, kinds, options, gone, borrowed, film, heard):
    if CHOSEN and make.__name__ not in CHOSEN:
        continue
    make()
    shutil.rmtree(os.path.join(KEPT, make.__name__), ignore_errors=True)
shutil.copytree(OUT, KEPT, ignore=shutil.ignore_patterns("*.blend1"), dirs_exist_ok=True)
shutil.rmtree(OUT)
