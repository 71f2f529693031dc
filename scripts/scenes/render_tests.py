"""Makes the small scenes that the tests of internal/render/blender render.

    blender --background --factory-startup --python render_tests.py -- FOLDER

Every scene is 64x48 pixels at a few samples. One Blender makes them all.
"""

import os
import sys

import bpy

FOLDER = sys.argv[sys.argv.index("--") + 1]


def base(samples=4):
    """A fresh scene: a turning cube over a plane, lit, seen by a moving camera."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.render.engine = "CYCLES"
    scene.cycles.samples = samples
    scene.cycles.use_denoising = False
    scene.render.resolution_x, scene.render.resolution_y = 64, 48
    scene.render.resolution_percentage = 100
    scene.frame_start, scene.frame_end = 1, 20

    bpy.ops.mesh.primitive_plane_add(size=20)
    bpy.ops.mesh.primitive_cube_add(location=(0, 0, 1))
    cube = bpy.context.object
    material = bpy.data.materials.new("orange")
    material.use_nodes = True
    material.node_tree.nodes["Principled BSDF"].inputs["Base Color"].default_value = (0.8, 0.3, 0.05, 1)
    cube.data.materials.append(material)
    for frame, turn in ((1, 0.0), (20, 2.0)):
        cube.rotation_euler.z = turn
        cube.keyframe_insert("rotation_euler", frame=frame)

    bpy.ops.object.light_add(type="SUN", location=(3, -3, 6), rotation=(0.6, 0.3, 0))
    bpy.ops.object.camera_add(location=(6, -6, 5), rotation=(1.0, 0, 0.785))
    camera = bpy.context.object
    scene.camera = camera
    for frame, height in ((1, 5.0), (20, 6.0)):
        camera.location.z = height
        camera.keyframe_insert("location", frame=frame)
    return scene


def compositor(scene, kind):
    """A node of a kind between the rendered layer and the composite."""
    scene.use_nodes = True
    nodes, links = scene.node_tree.nodes, scene.node_tree.links
    nodes.clear()
    layer, out, node = nodes.new("CompositorNodeRLayers"), nodes.new("CompositorNodeComposite"), nodes.new(kind)
    links.new(layer.outputs["Image"], node.inputs["Image"] if "Image" in node.inputs else node.inputs[0])
    links.new(node.outputs[0] if node.outputs else layer.outputs["Image"], out.inputs["Image"])
    return node


def save(name):
    bpy.ops.wm.save_as_mainfile(filepath=os.path.join(FOLDER, name + ".blend"), compress=True, relative_remap=False)


# Everything that could make a frame differ from the one rendered by hand:
# motion blur, a compositor, an animated seed and render setting, 16 bits with
# alpha, a frame number burnt in.
scene = base()
scene.render.use_motion_blur = True
scene.render.film_transparent = True
scene.cycles.use_animated_seed = True
scene.render.image_settings.color_mode = "RGBA"
scene.render.image_settings.color_depth = "16"
node = compositor(scene, "CompositorNodeBlur")
node.size_x = node.size_y = 3
for frame, samples in ((1, 2), (20, 8)):
    scene.cycles.samples = samples
    scene.cycles.keyframe_insert("samples", frame=frame)
scene.render.use_stamp = True
scene.render.stamp_font_size = 12
for field in ("date", "time", "render_time", "filename", "camera", "scene", "memory", "hostname"):
    setattr(scene.render, "use_stamp_" + field, False)
scene.render.use_stamp_frame = True
save("motion")

scene = base()
save("plain")

# Large enough that a worker packs the picture.
scene = base(samples=1)
scene.render.resolution_x, scene.render.resolution_y = 1280, 840
scene.render.image_settings.compression = 60
save("large")

scene = base(samples=100000)  # minutes, of which no test waits for the end
scene.cycles.use_adaptive_sampling = False
save("slow")

# Most that can change from one frame to the next, each in its way: what kept data
# (Blender's persistent data) has to notice.
scene = base()
cube = bpy.data.objects["Cube"]
cube.shape_key_add(name="flat")
high = cube.shape_key_add(name="high")
high.data[0].co.z += 2
surface = bpy.data.materials["orange"].node_tree.nodes["Principled BSDF"].inputs
plane = bpy.data.objects["Plane"]
sun = bpy.data.objects["Sun"]
for owner, name, values in (
    (high, "value", (0.0, 1.0)),
    (surface["Roughness"], "default_value", (0.1, 0.9)),
    (sun.data, "energy", (1.0, 6.0)),
    (plane, "hide_render", (False, True)),
    (scene.camera.data, "lens", (30, 70)),
    (scene.cycles, "film_exposure", (1.0, 2.0)),
):
    for frame, value in zip((1, 4), values):
        setattr(owner, name, value)
        owner.keyframe_insert(name, frame=frame)
surface["Metallic"].driver_add("default_value").driver.expression = "frame / 10"
image = bpy.data.images.new("packed", 8, 8)
image.pixels = [(i * 37 % 256) / 255 for i in range(256)]
image.pack()
texture = bpy.data.materials["orange"].node_tree.nodes.new("ShaderNodeTexImage")
texture.image = image
tree = bpy.data.materials["orange"].node_tree
tree.links.new(texture.outputs["Color"], surface["Base Color"])
bpy.ops.object.camera_add(location=(-6, -6, 5), rotation=(1.0, 0, -0.785))
for frame, camera in ((1, scene.camera), (5, bpy.context.object)):
    scene.timeline_markers.new(str(frame), frame=frame).camera = camera
save("changing")

# Two that kept data does spoil (3.4.1): meshes stay as they are when the scene is
# simplified on a later frame, and a cloth without a cache is simulated on from the
# frame before, where a frame alone has it as it was.
scene = base()
cube = bpy.data.objects["Cube"]
cube.modifiers.new("smooth", "SUBSURF").render_levels = 3
scene.render.simplify_subdivision_render = 0
for frame, simple in ((1, False), (4, True), (6, False)):
    scene.render.use_simplify = simple
    scene.render.keyframe_insert("use_simplify", frame=frame)
save("simplified")

scene = base()
bpy.data.objects["Cube"].animation_data_clear()
bpy.data.objects["Cube"].modifiers.new("cloth", "CLOTH")
scene.camera.animation_data_clear()
save("cloth")

# Points that geometry nodes make, of a colour that changes: with persistent data Cycles
# keeps those of the frame before.
base()
cube = bpy.data.objects["Cube"]
tree = bpy.data.node_groups.new("points", "GeometryNodeTree")
tree.inputs.new("NodeSocketGeometry", "Geometry")
tree.outputs.new("NodeSocketGeometry", "Geometry")
made = [tree.nodes.new(name) for name in ("NodeGroupInput", "GeometryNodeMeshToPoints", "GeometryNodeStoreNamedAttribute", "GeometryNodeSetMaterial", "NodeGroupOutput")]
for before, after in zip(made, made[1:]):
    tree.links.new(before.outputs[0], next(socket for socket in after.inputs if socket.type == "GEOMETRY"))
made[1].inputs["Radius"].default_value = 0.4
made[2].data_type, made[2].inputs["Name"].default_value = "FLOAT_COLOR", "tint"
made[3].inputs["Material"].default_value = cube.data.materials[0]
tint = next(socket for socket in made[2].inputs if socket.type == "RGBA" and socket.enabled)
for frame, colour in ((1, (1, 0, 0, 1)), (20, (0, 0, 1, 1))):
    tint.default_value = colour
    tint.keyframe_insert("default_value", frame=frame)
cube.modifiers.new("points", "NODES").node_group = tree
shader = cube.data.materials[0].node_tree
attribute = shader.nodes.new("ShaderNodeAttribute")
attribute.attribute_name = "tint"
shader.links.new(attribute.outputs["Color"], shader.nodes["Principled BSDF"].inputs["Base Color"])
save("points")


def tiles(samples):
    scene = base(samples)
    scene.cycles.use_auto_tile = True
    scene.cycles.tile_size = 32  # 64x48: six of them, the outer ones cut
    return scene


# As many samples as adaptive sampling takes of each pixel before it ends any.
scene = tiles(64)
save("tiles")

scene = tiles(4)
layer = scene.view_layers[0]
layer.use_pass_normal = layer.use_pass_mist = layer.use_pass_cryptomatte_object = True
scene.use_nodes = True
nodes = scene.node_tree.nodes
scene.node_tree.links.new(next(n for n in nodes if n.type == "R_LAYERS").outputs["Normal"], next(n for n in nodes if n.type == "COMPOSITE").inputs["Image"])
save("tiles_passes")

# Those whose tiles may show, or change with the frame.
scene = tiles(65)
save("tiles_adaptive")

scene = tiles(4)
scene.cycles.time_limit = 60
save("tiles_timed")

scene = tiles(4)
for frame, samples in ((1, 4), (5, 400)):
    scene.cycles.samples = samples
    scene.cycles.keyframe_insert("samples", frame=frame)
scene.cycles.samples = 4
save("tiles_keyed")

scene = base()
scene.render.resolution_percentage = 50
scene.render.use_border = scene.render.use_crop_to_border = True
scene.render.border_min_x, scene.render.border_max_x = 0.13, 0.77
scene.render.border_min_y, scene.render.border_max_y = 0.11, 0.91
save("border")

# Everything by which a preview could become large or slow: cropped, a format for
# compositing, and samples of an animation and of a layer.
scene = base(samples=64)
scene.render.use_border = scene.render.use_crop_to_border = True
scene.render.border_min_x, scene.render.border_max_x = 0.13, 0.77
scene.render.border_min_y, scene.render.border_max_y = 0.11, 0.91
scene.render.image_settings.file_format = "OPEN_EXR"
scene.cycles.use_adaptive_sampling, scene.cycles.adaptive_threshold = True, 0.1
scene.view_layers[0].samples = 128
for frame, samples in ((1, 64), (20, 4096)):
    scene.cycles.samples = samples
    scene.cycles.keyframe_insert("samples", frame=frame)
scene.cycles.samples = 64
save("costly")

scene = base()
node = compositor(scene, "CompositorNodeOutputFile")
node.base_path = os.path.join(FOLDER, "stray")
save("file_output")

scene = base()
scene.cycles.use_denoising = True
save("denoise")

scene = base()
compositor(scene, "CompositorNodeDenoise")
save("denoise_node")

scene = base()
scene.cycles.use_denoising = True
scene.view_layers[0].cycles.use_denoising = False
save("denoise_no_layer")

scene = base()
scene.render.image_settings.file_format = "AVI_JPEG"
save("movie")

scene = base()
scene.render.engine = "BLENDER_EEVEE"
save("eevee")

scene = base()
bpy.data.objects.remove(scene.camera)
save("no_camera")

scene = base()
other = bpy.data.scenes.new("second")
other.render.engine = "BLENDER_EEVEE"
scene.name = "active"
save("two_scenes")

scene = base()
scene.render.use_multiview = True
scene.render.image_settings.views_format = "INDIVIDUAL"
save("stereo")

# The sequencer makes the picture, of another scene that writes files of its own.
shown = base()
shown.name = "Shown"
compositor(shown, "CompositorNodeOutputFile").base_path = "//written/"
edit = bpy.data.scenes.new("Edit")
edit.render.engine = "CYCLES"
edit.cycles.use_denoising = False
edit.camera = shown.camera
edit.render.resolution_x, edit.render.resolution_y = 64, 48
edit.sequence_editor_create().sequences.new_scene("strip", shown, 1, 1)
bpy.context.window.scene = edit
save("strips")

# An edit of another engine, without a camera, shows one scene of Cycles and one of its own.
shown = base()
shown.name = "Shown"
title = bpy.data.scenes.new("Title")
title.render.engine = "BLENDER_EEVEE"
title.camera = shown.camera
edit = bpy.data.scenes.new("Edit")
edit.render.engine = "BLENDER_WORKBENCH"
edit.render.resolution_x, edit.render.resolution_y = 64, 48
edit.frame_end = 2
edit.render.dither_intensity = 0
strips = edit.sequence_editor_create().sequences
strips.new_scene("shot", shown, 1, 1).frame_final_duration = 1
strips.new_scene("title", title, 1, 2).frame_final_duration = 1
bpy.context.window.scene = edit
save("edit")
strips["shot"].frame_final_duration, strips["title"].frame_start = 2, 1
strips["title"].frame_final_duration = 2
strips.new_effect("mixed", "GAMMA_CROSS", 3, 1, frame_end=3, seq1=strips["shot"], seq2=strips["title"]).blend_type = "REPLACE"
strips["title"].mute = True  # the effect takes it in all the same
save("edit_of_effects")
strips.remove(strips["mixed"])
strips["title"].mute = False
strips.remove(strips["shot"])
save("edit_of_titles")

# The compositor takes in a scene of another engine.
scene = base()
title = bpy.data.scenes.new("Title")
title.render.engine = "BLENDER_EEVEE"
title.camera = scene.camera
scene.use_nodes = True
scene.node_tree.nodes["Render Layers"].scene = title
save("composited_title")

# A Denoise node that leads nowhere.
scene = base()
scene.use_nodes = True
scene.node_tree.nodes.new("CompositorNodeDenoise")
save("denoise_loose")

# Circles: the cube's turn follows from where the cube is, which Blender knows only after it
# has turned it. In the second, the place follows from the turn too.
for name, place in (("circle", "sin(frame / 2)"), ("circle_of_two", "turn / 2 + frame / 20")):
    base()
    cube = bpy.data.objects["Cube"]
    cube.animation_data_clear()
    for path, index, expression, variable, target in (
        ("location", 0, place, "turn", "rotation_euler[2]"),
        ("rotation_euler", 2, "x * 2 + frame / 10", "x", "location[0]"),
    ):
        driver = cube.driver_add(path, index).driver
        driver.expression = expression
        if variable in expression:
            of = driver.variables.new()
            of.name, of.targets[0].id, of.targets[0].data_path = variable, cube, target
    save(name)

# Colours. In these, but the first, a test replaces a name of a view or a colour space by
# one that no Blender has: they are not compressed.
for name in ("colors_plain", "colors_scene", "colors_output", "colors_node"):
    scene = base()
    scene.view_settings.view_transform = "False Color" if name == "colors_scene" else "Standard"
    if name == "colors_output":
        image = scene.render.image_settings
        image.color_management, image.view_settings.view_transform = "OVERRIDE", "False Color"
    if name == "colors_node":
        scene.use_nodes = True
        tree = scene.node_tree
        convert = tree.nodes.new("CompositorNodeConvertColorSpace")
        convert.from_color_space, convert.to_color_space = "Filmic sRGB", "Linear"
        tree.links.new(tree.nodes["Render Layers"].outputs["Image"], convert.inputs["Image"])
        tree.links.new(convert.outputs["Image"], tree.nodes["Composite"].inputs["Image"])
    bpy.ops.wm.save_as_mainfile(filepath=os.path.join(FOLDER, name + ".blend"), compress=False, relative_remap=False)

# A texture and a library that are not there where the file is opened.
base()
library = os.path.join(FOLDER, "gone.blend")
bpy.data.libraries.write(library, {bpy.data.objects["Cube"]})
scene = base()
with bpy.data.libraries.load(library, link=True) as (source, target):
    target.objects = ["Cube"]
scene.collection.objects.link(target.objects[0])
image = bpy.data.images.new("gone", 4, 4)
image.source, image.filepath = "FILE", "//gone.png"
texture = bpy.data.materials["orange"].node_tree.nodes.new("ShaderNodeTexImage")
texture.image = image
tree = bpy.data.materials["orange"].node_tree
tree.links.new(texture.outputs["Color"], tree.nodes["Principled BSDF"].inputs["Base Color"])
save("missing")
os.remove(library)

# A script that registers itself: it must not run.
base()
text = bpy.data.texts.new("registers.py")
text.from_string("import bpy\nopen(%r, 'w').close()\n" % os.path.join(FOLDER, "script-ran"))
text.use_module = True
save("script")

for kind in ("BMP", "JPEG", "TARGA", "TIFF", "OPEN_EXR", "OPEN_EXR_MULTILAYER", "HDR", "WEBP"):
    scene = base()
    scene.render.image_settings.file_format = kind
    save("format_" + kind.lower())

# What an order can choose: another scene, of two cameras, of two view layers, size and
# samples; the file animates its samples, and a marker switches the camera.
scene = base()
missing = bpy.data.images.new("missing", 4, 4)
missing.source, missing.filepath = "FILE", "//missing.png"
sky = bpy.data.worlds.new("sky")
scene.world, sky.use_nodes = sky, True
picture = sky.node_tree.nodes.new("ShaderNodeTexEnvironment")
picture.image = missing
sky.node_tree.links.new(picture.outputs[0], sky.node_tree.nodes["Background"].inputs[0])

shot = bpy.data.scenes.new("Shot 20")
bpy.context.window.scene = shot
shot.render.engine, shot.cycles.use_denoising = "CYCLES", False
shot.render.resolution_x, shot.render.resolution_y, shot.render.resolution_percentage = 80, 60, 100
shot.frame_start, shot.frame_end = 1, 20
for sides, place in ((4, (0, 0, 0)), (16, (3, 0, 1))):
    bpy.ops.mesh.primitive_cylinder_add(vertices=sides, location=place)
    own = bpy.data.collections.new("sides %d" % sides)
    shot.collection.children.link(own)
    thing = bpy.context.object
    for collection in list(thing.users_collection):
        collection.objects.unlink(thing)
    own.objects.link(thing)
bpy.ops.object.light_add(type="SUN", rotation=(0.6, 0.3, 0))
cameras = []
for name, place, turn in (("Near", (0, -8, 1), 0.0), ("Far", (8, -8, 5), 0.785)):
    bpy.ops.object.camera_add(location=place, rotation=(1.3, 0, turn))
    bpy.context.object.name = name
    cameras.append(bpy.context.object)
shot.camera = cameras[0]
marker = shot.timeline_markers.new("cut", frame=1)
marker.camera = cameras[0]
second = shot.view_layers.new('Only "16"')
second.layer_collection.children["sides 4"].exclude = True
for frame, samples in ((1, 3), (20, 9)):
    shot.cycles.samples = samples
    shot.cycles.keyframe_insert("samples", frame=frame)
shot.cycles.samples = 6
bpy.context.window.scene = scene
save("choices")

# The same file, saved by somebody who wants what the test orders.
bpy.context.window.scene = shot
shot.animation_data_clear()
shot.camera = cameras[1]
shot.timeline_markers.clear()
shot.view_layers[0].use = False
shot.render.resolution_percentage = 50
shot.cycles.samples = 4
save("choices_saved")
shot.render.resolution_x, shot.render.resolution_y, shot.render.resolution_percentage = 40, 24, 100
save("choices_sized")
