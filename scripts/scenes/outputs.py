"""Makes small scenes that write more than a picture for a frame, for the tests of what is
written: File Output nodes, several views, JPEG previews of OpenEXR.

    blender --background --factory-startup --python outputs.py -- FOLDER
"""

import os
import sys

import bpy

FOLDER = sys.argv[sys.argv.index("--") + 1]


def base():
    """A cube over a floor, in two view layers, of which the second has no floor."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.render.engine = "CYCLES"
    scene.cycles.samples = 2
    scene.cycles.use_denoising = False
    scene.render.resolution_x, scene.render.resolution_y = 48, 32
    scene.render.resolution_percentage = 100
    scene.frame_start, scene.frame_end = 1, 20
    bpy.ops.mesh.primitive_cube_add(location=(0, 0, 1))
    cube = bpy.context.object
    for frame, turn in ((1, 0.0), (20, 2.0)):
        cube.rotation_euler.z = turn
        cube.keyframe_insert("rotation_euler", frame=frame)
    floor = bpy.data.collections.new("floor")
    scene.collection.children.link(floor)
    bpy.ops.mesh.primitive_plane_add(size=20)
    plane = bpy.context.object
    floor.objects.link(plane)
    scene.collection.objects.unlink(plane)
    bpy.ops.object.light_add(type="SUN", location=(3, -3, 6), rotation=(0.6, 0.3, 0))
    bpy.ops.object.camera_add(location=(6, -6, 5), rotation=(1.0, 0, 0.785))
    scene.camera = bpy.context.object
    scene.view_layers[0].use_pass_z = True
    second = scene.view_layers.new("bare")
    second.layer_collection.children["floor"].exclude = True
    scene.use_nodes = True
    nodes = scene.node_tree.nodes
    nodes.clear()
    layers = []
    for layer in scene.view_layers:
        node = nodes.new("CompositorNodeRLayers")
        node.layer = layer.name
        layers.append(node)
    scene.node_tree.links.new(layers[0].outputs["Image"], nodes.new("CompositorNodeComposite").inputs["Image"])
    return scene, layers


def output(tree, path, kind, *slots):
    """A File Output node with slots, each a path with the socket that it writes."""
    node = tree.nodes.new("CompositorNodeOutputFile")
    node.base_path, node.format.file_format = path, kind
    node.file_slots.clear()
    for name, socket in slots:
        node.file_slots.new(name)
        if socket is not None:
            tree.links.new(socket, node.inputs[-1])
    return node


def group_with_entry(name):
    """A group that a picture goes into, with the node that has it."""
    group = bpy.data.node_groups.new(name, "CompositorNodeTree")
    entry = group.nodes.new("NodeGroupInput")
    if hasattr(group, "interface"):  # 4.0
        group.interface.new_socket("Image", in_out="INPUT", socket_type="NodeSocketColor")
    else:
        group.inputs.new("NodeSocketColor", "Image")
    return group, entry


def use_group(tree, group, socket):
    use = tree.nodes.new("CompositorNodeGroup")
    use.node_tree = group
    tree.links.new(socket, use.inputs[0])


def own_format(node, number, kind):
    node.file_slots[number].use_node_format = False
    node.file_slots[number].format.file_format = kind


def save(name):
    bpy.ops.wm.save_as_mainfile(filepath=os.path.join(FOLDER, name + ".blend"), compress=True, relative_remap=False)


def five():
    """Five nodes: several slots with formats of their own, a multilayer file, one in a group."""
    scene, (whole, bare) = base()
    tree = scene.node_tree
    node = output(tree, "//passes/", "PNG", ("beauty_####", whole.outputs["Image"]), ("depth/z", whole.outputs["Depth"]), ("idle", None))
    own_format(node, 1, "OPEN_EXR")
    output(tree, "//multi/all_", "OPEN_EXR_MULTILAYER", ("whole", whole.outputs["Image"]), ("bare", bare.outputs["Image"]))
    output(tree, "//passes", "TIFF", ("beauty_####", bare.outputs["Image"]))
    output(tree, "//tail", "BMP", ("##_end", bare.outputs["Image"]))
    group, entry = group_with_entry("writer")
    output(group, "//", "JPEG", ("grouped", entry.outputs["Image"]))
    use_group(tree, group, bare.outputs["Image"])
    output(tree, "//muted", "PNG", ("never", whole.outputs["Image"])).mute = True
    save("five")


def hostile():
    """Paths that lead elsewhere, and two nodes that write the same file."""
    scene, (whole, _) = base()
    image = whole.outputs["Image"]
    output(scene.node_tree, "//../../x", "PNG", ("../../../up", image), ("/tmp/svc_stray/abs", image), ("con", image))
    for _ in range(2):
        output(scene.node_tree, "/tmp/svc_stray", "PNG", ("same_####", image))
    output(scene.node_tree, "C:\\out\\..\\layers", "OPEN_EXR_MULTILAYER", ("Image", image))
    save("hostile")


def many():
    scene, (whole, _) = base()
    output(scene.node_tree, "//", "PNG", *(("s%d" % number, whole.outputs["Image"]) for number in range(20)))
    save("many")


def crowd():
    """10,000 slots, a hundred in each of a hundred groups."""
    scene, (whole, _) = base()
    group, entry = group_with_entry("writers")
    output(group, "//", "PNG", *(("s%d_" % number, entry.outputs["Image"]) for number in range(100)))
    for copy in [group] + [group.copy() for _ in range(99)]:
        use_group(scene.node_tree, copy, whole.outputs["Image"])
    save("crowd")


def heavy():
    """2 GiB for a frame at its full size: 60 pictures that nothing makes smaller."""
    scene, (whole, _) = base()
    scene.render.resolution_x, scene.render.resolution_y = 1920, 1200
    scene.cycles.samples = 1
    node = output(scene.node_tree, "//", "OPEN_EXR", *(("s%d_" % number, whole.outputs["Image"]) for number in range(60)))
    node.format.color_mode, node.format.color_depth, node.format.exr_codec = "RGBA", "32", "NONE"
    save("heavy")


# -- views and previews --------------------------------------------------------


def picture(kind="PNG", preview=False):
    """A scene without a compositor."""
    scene, _ = base()
    scene.use_nodes = False
    image = scene.render.image_settings
    image.file_format, image.use_preview = kind, preview
    return scene, image


def eyes(kind="PNG", form="INDIVIDUAL", preview=False, mode="ANAGLYPH", squeezed=False):
    scene, image = picture(kind, preview)
    scene.render.use_multiview = True
    image.views_format = form
    if form == "STEREO_3D":
        image.stereo_3d_format.display_mode, image.stereo_3d_format.use_squeezed_frame = mode, squeezed
    return scene


def three_cameras(scene):
    """Three views, each of a camera of its own."""
    scene.render.views_format = "MULTIVIEW"
    first = scene.camera
    first.name = "Eye_L"
    for suffix, aside in (("_R", 0.4), ("_mid", 0.2)):
        other = bpy.data.objects.new("Eye" + suffix, first.data)
        other.location, other.rotation_euler = first.location, first.rotation_euler
        other.location.x += aside
        scene.collection.objects.link(other)
    scene.render.views.new("middle").camera_suffix = "_mid"


def previews():
    picture("OPEN_EXR", preview=True)
    save("previews")
    picture("OPEN_EXR_MULTILAYER", preview=True)
    save("previews_of_layers")


def views():
    eyes()
    save("eyes")
    eyes("OPEN_EXR_MULTILAYER", preview=True)
    save("eyes_previews")
    three_cameras(eyes("OPEN_EXR", preview=True))
    save("three_views")
    for name, mode, squeezed in (("side", "SIDEBYSIDE", False), ("top", "TOPBOTTOM", False), ("squeezed", "SIDEBYSIDE", True), ("anaglyph", "ANAGLYPH", False)):
        eyes(form="STEREO_3D", mode=mode, squeezed=squeezed)
        save("eyes_" + name)
    eyes("OPEN_EXR", "STEREO_3D", preview=True, mode="TOPBOTTOM")
    save("eyes_top_previews")
    eyes("OPEN_EXR", "MULTIVIEW")
    save("eyes_in_one")
    eyes("OPEN_EXR_MULTILAYER", "MULTIVIEW")
    save("eyes_in_layers")
    eyes(form="STEREO_3D", mode="SIDEBYSIDE").render.views["left"].use = False
    save("one_eye")
    for view in eyes().render.views:
        view.file_suffix = "/" + view.name
    save("eyes_in_folders")
    eyes().render.views["right"].file_suffix = "/../../right"
    save("eyes_astray")
    eyes("FFMPEG")
    save("eyes_filmed")


def eyes_with_nodes():
    """File Output nodes in a scene of two eyes, each with another way to write them."""
    scene, (whole, bare) = base()
    scene.render.use_multiview = True
    for path, kind, form in (
        ("//each/", "PNG", "INDIVIDUAL"), ("//both/", "PNG", "STEREO_3D"), ("//layers/l_", "OPEN_EXR_MULTILAYER", "INDIVIDUAL"),
        ("//one/l_", "OPEN_EXR_MULTILAYER", "MULTIVIEW"), ("//plain/", "OPEN_EXR", "MULTIVIEW"),
    ):
        node = output(scene.node_tree, path, kind, ("beauty_", whole.outputs["Image"]))
        node.format.views_format = form
        if form == "STEREO_3D":
            node.format.stereo_3d_format.display_mode = "SIDEBYSIDE"
    save("eyes_with_nodes")


def eyes_of_cloth():
    """Frames that depend on those before them."""
    for kind, blurred, name in (("OPEN_EXR", False, "eyes_of_cloth"), ("OPEN_EXR_MULTILAYER", True, "eyes_of_cloth_blurred")):
        scene = eyes(kind, preview=True)
        scene.render.use_motion_blur = blurred
        bpy.ops.mesh.primitive_grid_add(x_subdivisions=6, y_subdivisions=6, size=2, location=(0, 0, 3))
        bpy.context.object.modifiers.new("Cloth", "CLOTH")
        save(name)


five()
hostile()
many()
crowd()
heavy()
previews()
views()
eyes_with_nodes()
eyes_of_cloth()
