"""Makes scenes that each have one cause of a warning, used by the picture or not.

    blender --background --factory-startup --python make.py -- FOLDER

Each scene is FOLDER/NAME/scene.blend, next to the files that it needs.
FOLDER/scenes.json lists them: kind is the warning's code. The function's docstring says
what the scene is.
"""

import json
import os
import sys

import bpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import plain_engine

FOLDER = sys.argv[sys.argv.index("--") + 1]
SCENES = []


def scene(kind, frame=1, **more):
    """Registers a scene; more is what paint.py does otherwise for the picture without
    the cause."""

    def register(make):
        SCENES.append((kind, frame, more, make))
        return make

    return register


def base():
    bpy.ops.wm.read_factory_settings(use_empty=True)
    s = bpy.context.scene
    s.render.engine = "CYCLES"
    s.cycles.samples = 1
    s.cycles.use_denoising = False
    s.render.resolution_x = s.render.resolution_y = 32
    s.frame_start, s.frame_end = 1, 20
    s.world = bpy.data.worlds.new("World")
    s.world.use_nodes = True
    s.world.node_tree.nodes["Background"].inputs["Color"].default_value = (0.3, 0.3, 0.3, 1)
    bpy.ops.object.camera_add(location=(0, 0, 6))
    s.camera = bpy.context.object
    bpy.ops.mesh.primitive_plane_add(size=3)
    return s, bpy.context.object


def image(name="wood.png", size=4, colour=(0.2, 0.7, 0.1, 1)):
    """A scene with only an image that is a file next to it."""
    path = os.path.join(os.path.dirname(bpy.data.filepath), name)
    made = bpy.data.images.new("made", size, size)
    made.pixels = list(colour) * (size * size)
    made.filepath_raw, made.file_format = path, "PNG"
    made.save()
    bpy.data.images.remove(made)
    return bpy.data.images.load("//" + name)


def material(thing):
    m = bpy.data.materials.new("material")
    m.use_nodes = True
    thing.data.materials.append(m)
    return m.node_tree.nodes, m.node_tree.links, m.node_tree.nodes["Principled BSDF"]


def textured(thing):
    nodes, links, shader = material(thing)
    node = nodes.new("ShaderNodeTexImage")
    node.image = image()
    links.new(node.outputs["Color"], shader.inputs["Base Color"])
    return nodes, links, node


def tree_with(kind, into=(), out=()):
    """A node group with sockets of these types."""
    tree = bpy.data.node_groups.new("group", kind)
    for way, sockets in ("INPUT", into), ("OUTPUT", out):
        for socket in sockets:
            if hasattr(tree, "interface"):  # from Blender 4.0 on
                tree.interface.new_socket(socket, in_out=way, socket_type=socket)
            else:
                (tree.inputs if way == "INPUT" else tree.outputs).new(socket, socket)
    return tree


def extra(name="other"):
    bpy.ops.mesh.primitive_plane_add(size=1, location=(1, 1, 0.5))
    bpy.context.object.name = name
    return bpy.context.object


# Missing files.


@scene("missing_files")
def texture(s, plane):
    """an image texture of a visible material"""
    textured(plane)


@scene("missing_files")
def texture_of_the_world(s, plane):
    """an environment texture of the world"""
    nodes, links = s.world.node_tree.nodes, s.world.node_tree.links
    node = nodes.new("ShaderNodeTexEnvironment")
    node.image = image()
    links.new(node.outputs["Color"], nodes["Background"].inputs["Color"])


@scene("missing_files")
def texture_of_a_light(s, plane):
    """an image texture of a light"""
    bpy.ops.object.light_add(type="POINT", location=(0, 0, 2))
    light = bpy.context.object.data
    light.energy, light.use_nodes = 500, True
    node = light.node_tree.nodes.new("ShaderNodeTexImage")
    node.image = image()
    light.node_tree.links.new(node.outputs["Color"], light.node_tree.nodes["Emission"].inputs["Color"])


@scene("missing_files")
def texture_in_a_group(s, plane):
    """an image texture inside a node group"""
    nodes, links, shader = material(plane)
    tree = tree_with("ShaderNodeTree", out=["NodeSocketColor"])
    node, out = tree.nodes.new("ShaderNodeTexImage"), tree.nodes.new("NodeGroupOutput")
    node.image = image()
    tree.links.new(node.outputs["Color"], out.inputs[0])
    group = nodes.new("ShaderNodeGroup")
    group.node_tree = tree
    links.new(group.outputs[0], shader.inputs["Base Color"])


@scene("missing_files")
def texture_of_an_instance(s, plane):
    """an image texture of an object in an instanced collection"""
    other = extra()
    textured(other)
    part = bpy.data.collections.new("part")
    part.objects.link(other)
    s.collection.objects.unlink(other)
    bpy.ops.object.collection_instance_add(collection="part")


@scene("missing_files")
def texture_of_a_modifier(s, plane):
    """an image that a Displace modifier reads"""
    bpy.ops.object.modifier_add(type="SUBSURF")
    plane.modifiers[0].levels = plane.modifiers[0].render_levels = 3
    plane.modifiers[0].subdivision_type = "SIMPLE"
    read = bpy.data.textures.new("read", "IMAGE")
    read.image = image(colour=(0.9, 0.9, 0.9, 1))
    displace = plane.modifiers.new("displace", "DISPLACE")
    displace.texture, displace.strength, displace.mid_level = read, 3, 0.1


@scene("missing_files")
def texture_in_geometry_nodes(s, plane):
    """an image that geometry nodes read"""
    tree = tree_with("GeometryNodeTree", into=["NodeSocketGeometry"], out=["NodeSocketGeometry"])
    into, out = tree.nodes.new("NodeGroupInput"), tree.nodes.new("NodeGroupOutput")
    move, read = tree.nodes.new("GeometryNodeTransform"), tree.nodes.new("GeometryNodeImageTexture")
    place = tree.nodes.new("GeometryNodeSetPosition")
    read.inputs["Image"].default_value = image()
    tree.links.new(into.outputs[0], move.inputs[0])
    tree.links.new(move.outputs[0], place.inputs[0])
    tree.links.new(read.outputs["Color"], place.inputs["Offset"])
    tree.links.new(place.outputs[0], out.inputs[0])
    plane.modifiers.new("nodes", "NODES").node_group = tree


@scene("missing_files")
def picture_of_the_compositor(s, plane):
    """an image node of the compositor"""
    s.use_nodes = True
    nodes, links = s.node_tree.nodes, s.node_tree.links
    node = nodes.new("CompositorNodeImage")
    node.image = image(size=32)
    links.new(node.outputs["Image"], nodes["Composite"].inputs["Image"])


@scene("missing_files")
def picture_of_a_strip(s, plane):
    """an image strip of the sequencer"""
    name = bpy.path.basename(image(size=32).filepath)
    bpy.data.images.remove(bpy.data.images[0])
    s.sequence_editor_create()
    s.sequence_editor.sequences.new_image("strip", "//" + name, 1, 1)
    s.sequence_editor.sequences[0].frame_final_duration = 20


@scene("missing_files")
def font(s, plane):
    """the font of a text object"""
    import shutil
    source = os.path.join(bpy.utils.system_resource("DATAFILES"), "fonts")
    found = [f for f in sorted(os.listdir(source)) if "ono" in f]
    path = os.path.join(os.path.dirname(bpy.data.filepath), "letters" + os.path.splitext(found[0])[1].replace(".gz", ""))
    if found[0].endswith(".gz"):
        import gzip
        with gzip.open(os.path.join(source, found[0])) as packed, open(path, "wb") as out:
            shutil.copyfileobj(packed, out)
    else:
        shutil.copy(os.path.join(source, found[0]), path)
    bpy.ops.object.text_add(location=(-1, 0, 1))
    bpy.context.object.data.body = "WMiil"
    bpy.context.object.data.font = bpy.data.fonts.load("//" + os.path.basename(path))


@scene("missing_files")
def texture_not_linked(s, plane):
    """an image texture that leads to nothing"""
    nodes, links, node = textured(plane)
    links.remove(node.outputs["Color"].links[0])


@scene("missing_files")
def texture_muted(s, plane):
    """an image texture behind a muted node"""
    nodes, links, node = textured(plane)
    mix = nodes.new("ShaderNodeMixRGB")
    mix.mute = True
    links.new(node.outputs["Color"], mix.inputs["Color2"])
    links.new(mix.outputs["Color"], nodes["Principled BSDF"].inputs["Base Color"])


@scene("missing_files")
def texture_of_a_hidden_object(s, plane):
    """an image texture of an object that renders leave out"""
    other = extra()
    textured(other)
    other.hide_render = True


@scene("missing_files")
def texture_of_an_excluded_collection(s, plane):
    """an image texture of a collection that the view layer excludes"""
    other = extra()
    textured(other)
    part = bpy.data.collections.new("part")
    s.collection.children.link(part)
    part.objects.link(other)
    s.collection.objects.unlink(other)
    bpy.context.view_layer.layer_collection.children["part"].exclude = True


@scene("missing_files")
def texture_of_another_scene(s, plane):
    """an image texture of a scene that is not rendered"""
    other = extra()
    textured(other)
    bpy.data.scenes.new("second").collection.objects.link(other)
    s.collection.objects.unlink(other)


@scene("missing_files")
def texture_without_a_user(s, plane):
    """an image texture of a material that nothing uses"""
    m = bpy.data.materials.new("material")
    m.use_nodes, m.use_fake_user = True, True
    m.node_tree.nodes.new("ShaderNodeTexImage").image = image()


@scene("missing_files")
def texture_of_a_brush(s, plane):
    """an image that a brush paints with"""
    brush = bpy.data.brushes.new("brush")
    read = bpy.data.textures.new("read", "IMAGE")
    read.image, brush.texture, brush.use_fake_user = image(), read, True


@scene("missing_files")
def texture_packed(s, plane):
    """an image texture that is packed"""
    textured(plane)
    bpy.data.images[-1].pack()


@scene("missing_files")
def texture_overridden(s, plane):
    """an image texture behind the view layer's material"""
    textured(plane)
    bpy.context.view_layer.material_override = bpy.data.materials.new("plain")


@scene("missing_files")
def texture_overridden_in_one_layer(s, plane):
    """an image texture that one of two view layers shows"""
    textured(plane)
    s.view_layers.new("second").material_override = bpy.data.materials.new("plain")


@scene("missing_files")
def texture_overridden_and_shown_by_the_compositor(s, plane):
    """a texture behind the view layer's material, of an object that another scene shows"""
    texture_overridden(s, plane)
    other = bpy.data.scenes.new("second")
    other.render.engine, other.camera, other.world = "CYCLES", s.camera, s.world
    other.cycles.samples, other.cycles.use_denoising = 1, False
    other.collection.objects.link(plane)
    s.use_nodes = True
    layers = [n for n in s.node_tree.nodes if n.type == "R_LAYERS"][0]
    layers.scene = other


@scene("missing_files")
def backdrop_of_the_camera(s, plane):
    """the background image of a camera"""
    s.camera.data.show_background_images = True
    s.camera.data.background_images.new().image = image()


@scene("missing_files")
def reference_picture(s, plane):
    """an empty that shows an image in the viewport"""
    bpy.ops.object.empty_add(type="IMAGE")
    bpy.context.object.data = image()


@scene("missing_files")
def strip_muted(s, plane):
    """a muted image strip"""
    picture_of_a_strip(s, plane)
    s.sequence_editor.sequences[0].mute = True


@scene("missing_files")
def sequencer_off(s, plane):
    """an image strip of a scene that renders without its sequencer"""
    picture_of_a_strip(s, plane)
    s.render.use_sequencer = False


@scene("missing_files")
def compositor_off(s, plane):
    """an image node of a compositor that is switched off"""
    picture_of_the_compositor(s, plane)
    s.render.use_compositing = False


@scene("missing_files")
def image_not_shown_by_the_compositor(s, plane):
    """an image node that leads to no output of the compositor"""
    s.use_nodes = True
    s.node_tree.nodes.new("CompositorNodeImage").image = image()


# Linked libraries.


def library(make):
    """Writes library.blend with what make returns, next to the scene."""
    here = bpy.data.filepath
    path = os.path.join(os.path.dirname(here), "library.blend")
    bpy.data.libraries.write(path, make(), fake_user=True)
    return path


def linked(kind, name, path):
    with bpy.data.libraries.load(path, link=True, relative=True) as (_, into):
        setattr(into, kind, [name])
    return getattr(into, kind)[0]


def lend(thing, kind, name):
    path = library(lambda: {thing})
    getattr(bpy.data, kind).remove(thing)
    return linked(kind, name, path)


@scene("linked_libraries")
def linked_object(s, plane):
    """an object of a library"""
    other = extra("lent")
    s.collection.objects.link(lend(other, "objects", "lent"))


@scene("linked_libraries")
def linked_material(s, plane):
    """a material of a library"""
    m = bpy.data.materials.new("lent")
    m.use_nodes = True
    m.node_tree.nodes["Principled BSDF"].inputs["Base Color"].default_value = (0.9, 0, 0, 1)
    plane.data.materials.append(lend(m, "materials", "lent"))


@scene("linked_libraries")
def linked_world(s, plane):
    """the scene's world"""
    s.world.name = "lent"
    s.world = lend(s.world, "worlds", "lent")


@scene("linked_libraries", frame=10)
def linked_action(s, plane):
    """what moves an object"""
    plane.keyframe_insert("location", frame=1)
    plane.location[0] = 1
    plane.keyframe_insert("location", frame=10)
    plane.animation_data.action.name = "lent"
    plane.animation_data.action = lend(plane.animation_data.action, "actions", "lent")


@scene("linked_libraries")
def linked_and_hidden(s, plane):
    """an object of a library that renders leave out"""
    other = extra("lent")
    other.hide_render = True
    part = bpy.data.collections.new("part")
    s.collection.children.link(part)
    part.objects.link(lend(other, "objects", "lent"))
    part.hide_render = True


@scene("linked_libraries")
def linked_and_not_used(s, plane):
    """a material of a library that only another scene uses"""
    m = bpy.data.materials.new("lent")
    other = extra()
    other.data.materials.append(lend(m, "materials", "lent"))
    bpy.data.scenes.new("second").collection.objects.link(other)
    s.collection.objects.unlink(other)


@scene("linked_libraries")
def linked_world_of_another_scene(s, plane):
    """the world of a scene that is not rendered"""
    world = bpy.data.worlds.new("lent")
    bpy.data.scenes.new("second").world = lend(world, "worlds", "lent")


def pack_library(thing, kind):
    """Lends a thing and packs the library; only what that names stays next to the
    scene."""
    thing.name = "lent"
    lent = lend(thing, kind, "lent")
    bpy.ops.file.pack_libraries()
    os.remove(os.path.join(os.path.dirname(bpy.data.filepath), "library.blend"))
    return lent


@scene("missing_files")
def texture_in_a_packed_library(s, plane):
    """an image texture of a material in a packed library"""
    textured(plane)
    m = plane.active_material
    plane.active_material = None
    plane.active_material = pack_library(m, "materials")


@scene("missing_files")
def texture_in_a_packed_library_of_a_hidden_object(s, plane):
    """an image texture of an object in a packed library that renders leave out"""
    other = extra()
    textured(other)
    other.hide_render = True
    s.collection.objects.link(pack_library(other, "objects"))


@scene("missing_files")
def texture_in_a_packed_library_not_used(s, plane):
    """an image texture in a packed library, of a material that only another scene uses"""
    other = extra()
    textured(other)
    m = other.active_material
    other.active_material = None
    other.active_material = pack_library(m, "materials")
    bpy.data.scenes.new("second").collection.objects.link(other)
    s.collection.objects.unlink(other)


@scene("linked_libraries")
def linked_and_packed(s, plane):
    """an object of a library that is packed"""
    s.collection.objects.link(pack_library(extra(), "objects"))


# Python.


def driven(thing, path, expression, index=-1, variables=()):
    curve = thing.driver_add(path, index) if index >= 0 else thing.driver_add(path)
    curve.driver.type, curve.driver.expression = "SCRIPTED", expression
    for name, target, data_path in variables:
        v = curve.driver.variables.new()
        v.name, v.targets[0].id, v.targets[0].data_path = name, target, data_path
    return curve


def script(text, register=True):
    t = bpy.data.texts.new("script.py")
    t.write(text)
    t.use_module = register


@scene("scripts_disabled", scripts=True)
def script_moves(s, plane):
    """a registered text that moves an object"""
    script("import bpy\nbpy.data.objects['Plane'].location[0] = 1\n")


@scene("scripts_disabled", scripts=True)
def script_on_frames(s, plane):
    """a registered text whose handler moves an object"""
    script("import bpy\ndef move(scene, *_):\n    bpy.data.objects['Plane'].location[0] = 1\nbpy.app.handlers.frame_change_pre.append(move)\n")


@scene("scripts_disabled", scripts=True)
def script_of_a_driver(s, plane):
    """a driver that calls a function of a registered text"""
    script("import bpy\nbpy.app.driver_namespace['far'] = lambda: 1.0\n")
    driven(plane, "location", "far()", 0)


@scene("scripts_disabled", scripts=True)
def driver_in_python(s, plane):
    """a driver that reads bpy.data"""
    driven(plane, "location", "len(bpy.data.objects) / 4", 0)


@scene("scripts_disabled", scripts=True)
def driver_of_a_material(s, plane):
    """a driver in Python of a material's colour"""
    nodes, links, shader = material(plane)
    driven(shader.inputs["Base Color"], "default_value", "len(bpy.data.objects) / 4", 0)


@scene("scripts_disabled", scripts=True)
def driver_of_a_shape_key(s, plane):
    """a driver in Python of a shape key"""
    plane.shape_key_add()
    key = plane.shape_key_add()
    for point in key.data:
        point.co.x *= 0.2
    driven(key, "value", "len(bpy.data.objects) / 4")


@scene("scripts_disabled", scripts=True)
def driver_of_a_modifier(s, plane):
    """a driver in Python of a modifier"""
    plane.modifiers.new("array", "ARRAY")
    driven(plane.modifiers[0], "count", "len(bpy.data.objects) + 1")


@scene("scripts_disabled", scripts=True)
def driver_of_the_world(s, plane):
    """a driver in Python of the world's strength"""
    driven(s.world.node_tree.nodes["Background"].inputs["Strength"], "default_value", "len(bpy.data.objects)")


@scene("scripts_disabled", scripts=True)
def driver_of_the_lens(s, plane):
    """a driver in Python of the camera's lens"""
    driven(s.camera.data, "lens", "len(bpy.data.objects) * 40")


@scene("scripts_disabled", scripts=True)
def driver_with_self(s, plane):
    """a driver that uses self"""
    driven(plane, "location", "self.scale[1]", 0).driver.use_self = True


@scene("scripts_disabled", scripts=True)
def driver_simple(s, plane):
    """a driver whose expression Blender computes without Python"""
    driven(plane, "location", "sin(frame / 4) * 2 + clamp(size, 0, 1)", 0, [("size", plane, "scale[1]")])


@scene("scripts_disabled", scripts=True)
def driver_of_the_frame(s, plane):
    """a driver by the frame"""
    driven(plane, "location", "frame / 10 if frame > 0 else 0", 0)


@scene("scripts_disabled", scripts=True)
def driver_by_variables(s, plane):
    """a driver that averages its variables"""
    driven(plane, "location", "", 0, [("size", plane, "scale[1]")]).driver.type = "AVERAGE"


@scene("scripts_disabled", scripts=True)
def driver_that_is_safe(s, plane):
    """a driver in Python that Blender runs with scripts switched off, too"""
    driven(plane, "location", "max([0.1, float('0.9')])", 0)


@scene("scripts_disabled", scripts=True)
def text_only(s, plane):
    """a text that is not registered"""
    script("import bpy\nbpy.data.objects['Plane'].location[0] = 1\n", register=False)


@scene("scripts_disabled", scripts=True)
def driver_of_a_hidden_object(s, plane):
    """a driver in Python of an object that renders leave out"""
    other = extra()
    other.hide_render = True
    driven(other, "location", "len(bpy.data.objects)", 0)


@scene("scripts_disabled", scripts=True)
def driver_that_hides_an_object(s, plane):
    """a driver in Python that hides an object"""
    other = extra()
    other.hide_render = True
    driven(other, "hide_render", "len(bpy.data.objects) > 0")


@scene("scripts_disabled", scripts=True)
def driver_of_a_hidden_parent(s, plane):
    """a driver in Python of a hidden object that another one hangs on"""
    other = extra()
    other.hide_render, plane.parent = True, other
    driven(other, "location", "len(bpy.data.objects) / 3", 0)


@scene("scripts_disabled", scripts=True)
def driver_of_a_hidden_object_of_an_instance(s, plane):
    """a driver in Python of an object that renders leave out, in an instanced collection"""
    other = extra()
    other.hide_render = True
    part = bpy.data.collections.new("part")
    part.objects.link(other)
    s.collection.objects.unlink(other)
    bpy.ops.object.collection_instance_add(collection="part")
    driven(other, "location", "len(bpy.data.objects)", 0)


@scene("scripts_disabled", scripts=True)
def driver_in_a_packed_library(s, plane):
    """a driver in Python of an object in a packed library"""
    other = extra()
    driven(other, "location", "len(bpy.data.objects) / 4", 0)
    s.collection.objects.link(pack_library(other, "objects"))


@scene("scripts_disabled", scripts=True)
def driver_in_a_packed_library_not_used(s, plane):
    """a driver in Python of a hidden object in a packed library"""
    other = extra()
    other.hide_render = True
    driven(other, "location", "len(bpy.data.objects) / 4", 0)
    s.collection.objects.link(pack_library(other, "objects"))


@scene("scripts_disabled", scripts=True)
def driver_of_a_hidden_and_moving_object(s, plane):
    """a driver in Python of an object that renders leave out, and that keyframes move"""
    other = extra()
    other.hide_render = True
    other.keyframe_insert("rotation_euler", frame=1)
    driven(other, "location", "len(bpy.data.objects)", 0)


@scene("missing_files", frame=10)
def texture_of_an_object_that_appears(s, plane):
    """an image texture of an object that keyframes show"""
    other = extra()
    textured(other)
    for frame, hidden in (1, True), (5, False):
        other.hide_render = hidden
        other.keyframe_insert("hide_render", frame=frame)
    s.frame_set(1)


@scene("scripts_disabled", scripts=True)
def driver_of_an_unused_material(s, plane):
    """a driver in Python of a material that nothing uses"""
    m = bpy.data.materials.new("unused")
    m.use_nodes = m.use_fake_user = True
    driven(m.node_tree.nodes["Principled BSDF"].inputs["Roughness"], "default_value", "len(bpy.data.objects) / 4")


@scene("scripts_disabled", scripts=True)
def driver_of_another_scene(s, plane):
    """a driver in Python of an object of a scene that is not rendered"""
    other = extra()
    bpy.data.scenes.new("second").collection.objects.link(other)
    s.collection.objects.unlink(other)
    driven(other, "location", "len(bpy.data.objects)", 0)


@scene("scripts_disabled", scripts=True)
def driver_muted(s, plane):
    """a muted driver in Python"""
    driven(plane, "location", "len(bpy.data.objects) / 4", 0).mute = True


# What one setting changes: the picture without it is painted with the setting off.


def stamped(s, **on):
    for name in dir(s.render):
        if name.startswith("use_stamp_"):
            setattr(s.render, name, False)
    s.render.use_stamp, s.render.stamp_font_size = True, 8
    s.render.resolution_x = s.render.resolution_y = 128
    for name, value in on.items():
        setattr(s.render, name, value)


@scene("stamp_off", edit="scene.render.use_stamp_filename = False")
def stamp_with_the_file(s, plane):
    """a stamp with the file's name"""
    stamped(s, use_stamp_filename=True)


@scene("stamp_off", edit="scene.render.use_stamp_hostname = False")
def stamp_with_the_computer(s, plane):
    """a stamp with the computer's name"""
    stamped(s, use_stamp_hostname=True)


@scene("stamp_off", edit="scene.render.use_stamp_filename = scene.render.use_stamp_hostname = False")
def stamp_with_a_note(s, plane):
    """a stamp with a note only"""
    stamped(s, use_stamp_note=True, stamp_note_text="shot 4")


@scene("stamp_off", edit="scene.render.use_stamp_filename = scene.render.use_stamp_hostname = False")
def stamp_in_the_metadata(s, plane):
    """names that go into the file's metadata, and not into the picture"""
    stamped(s, use_stamp=False, use_stamp_filename=True, use_stamp_hostname=True)


FOREIGN_OFF = "for q in scene.sequence_editor.sequences_all:\n    if q.type == 'SCENE' and q.scene.render.engine != 'CYCLES': q.mute = True"


def edited(s, first=1, last=20):
    """A strip that shows the scene, next to one that shows a scene of another
    engine."""
    other = s.copy()
    other.name = "Other"
    other.render.engine = plain_engine.NAME
    edit = bpy.data.scenes.new("Edit")
    edit.render.engine = "CYCLES"
    edit.render.resolution_x = edit.render.resolution_y = 32
    edit.frame_start, edit.frame_end = 1, 20
    strips = edit.sequence_editor_create().sequences
    strips.new_scene("shot", s, 1, 1).frame_final_duration = 20
    foreign = strips.new_scene("other", other, 2, first)
    foreign.frame_final_duration = last - first + 1
    bpy.context.window.scene = edit
    return strips, foreign


@scene("sequencer_off", frame=5, edit=FOREIGN_OFF)
def strip_of_another_engine(s, plane):
    """a strip that shows a scene of another engine"""
    edited(s)


@scene("sequencer_off", frame=20, edit=FOREIGN_OFF)
def strip_of_another_engine_at_the_end(s, plane):
    """such a strip in the last frame that is rendered"""
    edited(s, first=20, last=30)


@scene("sequencer_off", frame=5, also=[1, 20], edit=FOREIGN_OFF)
def strip_of_another_engine_after_the_end(s, plane):
    """such a strip after the frames that are rendered"""
    edited(s, first=21, last=30)


@scene("sequencer_off", frame=5, also=[1, 20], edit=FOREIGN_OFF)
def strip_of_another_engine_muted(s, plane):
    """such a strip that is muted"""
    edited(s)[1].mute = True


@scene("sequencer_off", frame=5, also=[1, 20], edit=FOREIGN_OFF)
def strip_of_another_engine_replaced(s, plane):
    """such a strip below one that replaces it all along"""
    strips, _ = edited(s)
    above = strips.new_effect("above", "COLOR", 3, 1, frame_end=21)
    above.color, above.blend_type = (0.1, 0.5, 0.2), "REPLACE"


@scene("sequencer_off", frame=5, also=[20], edit=FOREIGN_OFF)
def strip_of_another_engine_replaced_in_part(s, plane):
    """such a strip below one that ends before it"""
    strips, _ = edited(s)
    above = strips.new_effect("above", "COLOR", 3, 1, frame_end=20)
    above.color, above.blend_type = (0.1, 0.5, 0.2), "REPLACE"


@scene("sequencer_off", frame=5, edit="scene.sequence_editor.sequences['other'].scene = bpy.data.scenes['Empty']")
def strip_of_another_engine_in_an_effect(s, plane):
    """such a strip that is muted, and that an effect takes in which replaces it"""
    strips, foreign = edited(s)
    foreign.mute = True
    empty = bpy.data.scenes.new("Empty")
    empty.render.engine, empty.render.film_transparent, empty.camera, empty.use_fake_user = "CYCLES", True, s.camera, True
    strips.new_effect("mixed", "GAMMA_CROSS", 3, 1, frame_end=21, seq1=strips["shot"], seq2=foreign).blend_type = "REPLACE"


@scene("sequencer_off", frame=5, edit=FOREIGN_OFF)
def strip_of_another_engine_in_a_meta_strip(s, plane):
    """such a strip in a meta strip"""
    strips, foreign = edited(s)
    meta = strips.new_meta("meta", 3, 1)
    foreign.move_to_meta(meta)
    meta.frame_final_end = 21


def by_frame(s, values):
    s.cycles.use_adaptive_sampling = False
    bpy.ops.mesh.primitive_uv_sphere_add(radius=1, location=(0, 0, 1))
    for frame, value in values.items():
        s.cycles.samples = value
        s.cycles.keyframe_insert("samples", frame=frame)


@scene("driven_samples", frame=20, edit="for c in list(scene.animation_data.action.fcurves): scene.animation_data.action.fcurves.remove(c)\nscene.cycles.samples = 1")
def samples_by_keyframes(s, plane):
    """samples by keyframes"""
    by_frame(s, {1: 1, 20: 8})


@scene("driven_samples", frame=20, edit="scene.animation_data_clear()\nscene.cycles.samples = 1")
def samples_by_a_driver(s, plane):
    """samples by a driver"""
    by_frame(s, {})
    driven(s.cycles, "samples", "1 + frame / 4")


@scene("driven_samples", frame=20, edit="scene.animation_data_clear()")
def samples_by_a_muted_curve(s, plane):
    """samples by keyframes of a muted curve"""
    by_frame(s, {1: 1, 20: 8})
    s.animation_data.action.fcurves[0].mute = True
    s.cycles.samples = 1


# Bakes of simulations on disk.


def bake_on_disk():
    """Bakes what is simulated into a folder next to the scene."""
    path = bpy.data.filepath
    for o in bpy.data.objects:
        for m in o.modifiers:
            if m.type in ("CLOTH", "SOFT_BODY"):
                m.point_cache.frame_start, m.point_cache.frame_end, m.point_cache.use_disk_cache = 1, 10, True
            elif m.type == "PARTICLE_SYSTEM":
                c = m.particle_system.point_cache
                c.frame_start, c.frame_end, c.use_disk_cache = 1, 10, True
            elif m.type == "DYNAMIC_PAINT" and m.canvas_settings:
                for surface in m.canvas_settings.canvas_surfaces:
                    surface.frame_start, surface.frame_end, surface.point_cache.use_disk_cache = 1, 10, True
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.ptcache.bake_all(bake=True)


def grid(name="cloth", location=(0, 0, 1)):
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=12, y_subdivisions=12, size=2, location=location, rotation=(0.5, 0.3, 0))
    bpy.context.object.name = name
    return bpy.context.object


@scene("missing_cache", frame=10)
def cloth_on_disk(s, plane):
    """a cloth baked to a folder"""
    grid().modifiers.new("cloth", "CLOTH")
    bake_on_disk()


@scene("missing_cache", frame=10)
def cloth_on_disk_of_a_hidden_object(s, plane):
    """a cloth baked to a folder, of an object that renders leave out"""
    o = grid()
    o.modifiers.new("cloth", "CLOTH")
    o.hide_render = True
    bake_on_disk()


@scene("missing_cache", frame=10)
def cloth_in_the_file(s, plane):
    """a cloth baked into the file"""
    c = grid().modifiers.new("cloth", "CLOTH").point_cache
    c.frame_start, c.frame_end = 1, 10
    bpy.ops.ptcache.bake_all(bake=True)


@scene("missing_cache", frame=10)
def soft_body_on_disk(s, plane):
    """a soft body baked to a folder"""
    grid().modifiers.new("soft", "SOFT_BODY").settings.use_goal = False
    bake_on_disk()


@scene("missing_cache", frame=10)
def particles_on_disk(s, plane):
    """particles baked to a folder"""
    plane.modifiers.new("emitter", "PARTICLE_SYSTEM")
    settings = plane.particle_systems[0].settings
    settings.count, settings.frame_start, settings.frame_end, settings.particle_size = 50, 1, 5, 0.4
    settings.render_type, settings.instance_object = "OBJECT", extra()
    bake_on_disk()


def painted(kind):
    canvas = grid("canvas", (0, 0, 0.5))
    canvas.rotation_euler = (0, 0, 0)
    bpy.ops.mesh.primitive_cube_add(size=0.8, location=(-1, 0, 0.5))
    brush = bpy.context.object
    brush.keyframe_insert("location", frame=1)
    brush.location[0] = 1
    brush.keyframe_insert("location", frame=10)
    brush.hide_render = True
    for thing, role in ((canvas, "CANVAS"), (brush, "BRUSH")):
        thing.modifiers.new("paint", "DYNAMIC_PAINT").ui_type = role
        with bpy.context.temp_override(object=thing, active_object=thing):
            bpy.ops.dpaint.type_toggle(type=role)
    surface = canvas.modifiers[0].canvas_settings.canvas_surfaces[0]
    surface.surface_format, surface.surface_type = "VERTEX", kind
    if kind == "PAINT":
        with bpy.context.temp_override(object=canvas, active_object=canvas):
            bpy.ops.dpaint.output_toggle(output="A")
        nodes, links, shader = material(canvas)
        colour = nodes.new("ShaderNodeVertexColor")
        colour.layer_name = surface.output_name_a
        links.new(colour.outputs["Color"], shader.inputs["Base Color"])
    return surface


@scene("missing_cache", frame=10)
def colour_on_disk(s, plane):
    """colour of dynamic paint baked to a folder"""
    painted("PAINT")
    bake_on_disk()


@scene("missing_cache", frame=10)
def waves_on_disk(s, plane):
    """waves of dynamic paint baked to a folder"""
    painted("WAVE")
    bake_on_disk()


@scene("missing_cache", frame=10)
def displacement_on_disk(s, plane):
    """displacement of dynamic paint baked to a folder"""
    painted("DISPLACE")
    bake_on_disk()


@scene("missing_cache", frame=10)
def waves_on_disk_whose_brush_is_gone(s, plane):
    """waves of dynamic paint baked to a folder, whose brush was removed since"""
    painted("WAVE")
    bake_on_disk()
    bpy.data.objects.remove([o for o in s.objects if o.name.startswith("Cube")][0])


os.makedirs(FOLDER, exist_ok=True)
listed = []
bpy.context.preferences.filepaths.save_version = 0
for kind, frame, more, make in SCENES:
    folder = os.path.join(FOLDER, make.__name__)
    os.makedirs(folder)
    path = os.path.join(folder, "scene.blend")
    s, plane = base()
    bpy.ops.wm.save_as_mainfile(filepath=path)
    make(bpy.context.scene, plane)
    bpy.ops.wm.save_as_mainfile(filepath=path, compress=True)
    listed.append({"name": make.__name__, "about": make.__doc__, "kind": kind, "file": path, "frame": frame, **more})
with open(os.path.join(FOLDER, "scenes.json"), "w", encoding="utf-8") as out:
    json.dump(listed, out, indent=1)
