"""Scenes whose compositor writes files next to the picture, or makes the picture."""

import os

import bpy

from base import Missing, ball, key, moving_cube, save, scene, stage

FRAMES = 3


def composed(end=FRAMES, samples=2):
    """A stage with a moving cube and a ball, and a compositor that shows it as it is. Returns
    the scene, its tree and the node of the rendered picture."""
    s = stage(samples, end)
    moving_cube(end)
    ball((1.5, 1.5, 0))
    s.use_nodes = True
    tree = s.node_tree
    tree.nodes.clear()
    layer = new(tree, "RLayers")
    link(tree, layer.outputs["Image"], new(tree, "Composite"))
    return s, tree, layer


def new(tree, kind, **more):
    node = tree.nodes.new("CompositorNode" + kind)
    for name, value in more.items():
        setattr(node, name, value)
    return node


def link(tree, socket, node, at=0):
    tree.links.new(socket, node.inputs[at])
    return node


def chain(tree, socket, *kinds):
    """Nodes one after the other; the last one's first socket, and the nodes."""
    made = []
    for kind in kinds:
        node = new(tree, kind)
        tree.links.new(socket, node.inputs["Image"])
        socket = node.outputs[0]
        made.append(node)
    return socket, made


def form(format, kind, mode=None, depth=None, **more):
    """Sets a format of files. The mode and the depth depend on the kind."""
    format.file_format = kind
    if mode:
        format.color_mode = mode
    if depth:
        format.color_depth = depth
    for name, value in more.items():
        setattr(format, name, value)


def writer(tree, path, kind, *slots, **more):
    """A File Output node with slots, each a path with the socket that it writes, and a format
    of its own where it has one: (kind, mode, depth, {more})."""
    node = new(tree, "OutputFile", base_path=path)
    form(node.format, kind, **more)
    node.file_slots.clear()
    for name, socket, *own in slots:
        node.file_slots.new(name)
        if own:
            kind, mode, depth, rest = own[0]
            node.file_slots[-1].use_node_format = False
            form(node.file_slots[-1].format, kind, mode, depth, **rest)
        if socket is not None:
            tree.links.new(socket, node.inputs[-1])
    return node


def group(name, *sockets):
    """A group with sockets for pictures. Returns it, and what they are inside."""
    tree = bpy.data.node_groups.new(name, "CompositorNodeTree")
    entry = tree.nodes.new("NodeGroupInput")
    for socket in sockets:
        if hasattr(tree, "interface"):  # 4.0
            tree.interface.new_socket(socket, in_out="INPUT", socket_type="NodeSocketColor")
        else:
            tree.inputs.new("NodeSocketColor", socket)
    return tree, entry.outputs


def use(tree, inner, *sockets):
    node = new(tree, "Group", node_tree=inner)
    for at, socket in enumerate(sockets):
        tree.links.new(socket, node.inputs[at])
    return node


# -- where nodes are ------------------------------------------------------------


@scene("File Output nodes in a group within a group")
def nodes_nested_groups():
    _, tree, layer = composed()
    inner, inside = group("inner", "Image")
    writer(inner, "//inner/", "PNG", ("deep_", inside["Image"]))
    outer, between = group("outer", "Image")
    blurred, (blur,) = chain(outer, between["Image"], "Blur")
    blur.size_x = blur.size_y = 4
    use(outer, inner, blurred)
    writer(outer, "//outer/", "OPEN_EXR", ("middle_", between["Image"]))
    use(tree, outer, layer.outputs["Image"])


@scene("one group with a File Output node, used twice: the second use writes over the first")
def nodes_group_twice():
    _, tree, layer = composed()
    inner, inside = group("inner", "Image")
    writer(inner, "//twice/", "PNG", ("same_", inside["Image"]))
    use(tree, inner, layer.outputs["Image"])
    turned, _ = invert(tree, layer.outputs["Image"])
    use(tree, inner, turned)


def invert(tree, socket):
    node = new(tree, "Invert")
    tree.links.new(socket, node.inputs["Color"])
    return node.outputs[0], node


@scene("a File Output node in a scene that nothing uses")
def nodes_scene_unused():
    s, tree, layer = composed()
    writer(tree, "//used/", "PNG", ("shown_", layer.outputs["Image"]))
    other = bpy.data.scenes.new("other")
    other.use_nodes = True
    layers = next(n for n in other.node_tree.nodes if n.bl_idname == "CompositorNodeRLayers")
    writer(other.node_tree, "//unused/", "PNG", ("never_", layers.outputs["Image"]))
    assert bpy.context.scene == s


@scene("pictures of two scenes in one compositor; the other scene has a File Output node too")
def nodes_scene_used():
    s, tree, layer = composed()
    other = bpy.data.scenes.new("other")
    other.render.engine, other.camera = "CYCLES", s.camera
    other.cycles.samples, other.cycles.use_denoising = 1, False
    for thing in s.objects:
        if thing.name != "floor":
            other.collection.objects.link(thing)
    other.use_nodes = True
    layers = next(n for n in other.node_tree.nodes if n.bl_idname == "CompositorNodeRLayers")
    writer(other.node_tree, "//other/", "PNG", ("its_", layers.outputs["Image"]))
    second = new(tree, "RLayers", scene=other)
    writer(tree, "//both/", "PNG", ("first_", layer.outputs["Image"]), ("second_", second.outputs["Image"]))


@scene("muted nodes, sockets without a link, and a muted node before a File Output node")
def nodes_muted():
    _, tree, layer = composed()
    image = layer.outputs["Image"]
    writer(tree, "//muted/", "PNG", ("never_", image)).mute = True
    writer(tree, "//some/", "PNG", ("idle_", None), ("linked_", image), ("idle too_", None))
    writer(tree, "//none/", "PNG", ("idle_", None))
    turned, node = invert(tree, image)
    node.mute = True
    writer(tree, "//passed/", "PNG", ("through_", turned))
    writer(tree, "//layers/l_", "OPEN_EXR_MULTILAYER", ("linked", image), ("idle", None))


@scene("File Output nodes alone: no Composite node")
def nodes_without_composite():
    _, tree, layer = composed()
    tree.nodes.remove(next(n for n in tree.nodes if n.bl_idname == "CompositorNodeComposite"))
    turned, _ = invert(tree, layer.outputs["Image"])
    writer(tree, "//only/", "PNG", ("turned_", turned))


@scene("a Viewer and a Split Viewer next to a File Output node")
def nodes_viewers():
    _, tree, layer = composed()
    image = layer.outputs["Image"]
    link(tree, image, new(tree, "Viewer"))
    turned, _ = invert(tree, image)
    if hasattr(bpy.types, "CompositorNodeSplitViewer"):
        split = new(tree, "SplitViewer")
    else:  # 4.1
        split = new(tree, "Split")
    link(tree, image, split)
    link(tree, turned, split, 1)
    writer(tree, "//seen/", "PNG", ("turned_", turned))


# -- paths --------------------------------------------------------------------


@scene("# of several widths: none, one, two, six, in the middle, and in a folder")
def nodes_numbers():
    _, tree, layer = composed()
    image = layer.outputs["Image"]
    writer(tree, "//numbers/", "PNG", ("none", image), ("one_#", image), ("two_##", image), ("six_######", image), ("##_middle", image), ("a#/b_###", image))
    writer(tree, "//layers_##_", "OPEN_EXR_MULTILAYER", ("Image", image))


@scene("paths from the .blend, above it, from the root, and in folders of folders")
def nodes_paths(path):
    _, tree, layer = composed()
    image = layer.outputs["Image"]
    save(path)
    absolute = os.path.join(os.path.dirname(path), "absolute")
    writer(tree, "//", "PNG", ("root_", image))
    writer(tree, "//../above", "PNG", ("up_", image))
    writer(tree, absolute + "/", "PNG", ("whole_", image))
    writer(tree, "//a/b/c", "PNG", ("d/e/deep_", image), ("beside_", image))
    writer(tree, "//a/b/layers_", "OPEN_EXR_MULTILAYER", ("Image", image))
    writer(tree, absolute + "/many_", "OPEN_EXR_MULTILAYER", ("Image", image))


@scene("names with blanks, points, letters of other languages, and characters that Windows refuses")
def nodes_names():
    _, tree, layer = composed()
    image = layer.outputs["Image"]
    writer(tree, "//with blanks/", "PNG", ("a b_", image), ("v1.2_", image), ("größe_", image), ("影_", image), ("a:b?_", image), ("x.png_", image), ("x.exr", image))


@scene("two nodes and two slots that write to one name",
       why="Blender writes the second file over the first; svc delivers both, the second one with a number")
def nodes_one_name():
    _, tree, layer = composed()
    image = layer.outputs["Image"]
    turned, _ = invert(tree, image)
    writer(tree, "//same/", "PNG", ("name_", image))
    writer(tree, "//same/", "PNG", ("name_", turned))


# -- formats -------------------------------------------------------------------


@scene("PNG: 8 and 16 bits, grey, RGB and RGBA, compression 0 to 100")
def nodes_png():
    s, tree, layer = composed()
    s.render.film_transparent = True
    image = layer.outputs["Image"]
    writer(tree, "//png/", "PNG", *(
        ("%s_%s_" % (mode, depth), image, ("PNG", mode, depth, {"compression": 100 if mode == "RGB" else 0}))
        for mode in ("BW", "RGB", "RGBA") for depth in ("8", "16")))


@scene("JPEG: quality 10, 60 and 100, grey and RGB")
def nodes_jpeg():
    _, tree, layer = composed()
    image = layer.outputs["Image"]
    writer(tree, "//jpeg/", "JPEG", *(
        ("%s_%d_" % (mode, quality), image, ("JPEG", mode, None, {"quality": quality}))
        for mode in ("BW", "RGB") for quality in (10, 60, 100)))


@scene("TIFF: every compression, 8 and 16 bits")
def nodes_tiff():
    _, tree, layer = composed()
    image = layer.outputs["Image"]
    writer(tree, "//tiff/", "TIFF", *(
        ("%s_%s_" % (codec, depth), image, ("TIFF", "RGBA" if depth == "16" else "RGB", depth, {"tiff_codec": codec}))
        for codec in ("NONE", "DEFLATE", "LZW", "PACKBITS") for depth in ("8", "16")))


CODECS = ("NONE", "PXR24", "ZIP", "PIZ", "RLE", "ZIPS", "B44", "B44A", "DWAA", "DWAB")
HALF_ALONE = ("B44", "B44A")  # compressions that leave whole floats as they are


@scene("OpenEXR: every compression, half and whole floats")
def nodes_exr():
    s, tree, layer = composed()
    s.view_layers[0].use_pass_z = True
    image, depth = layer.outputs["Image"], layer.outputs["Depth"]
    writer(tree, "//exr/", "OPEN_EXR", *(
        ("%s_%s_" % (codec, bits), depth if codec == "ZIPS" else image, ("OPEN_EXR", "RGBA", bits, {"exr_codec": codec}))
        for codec in CODECS for bits in ("16", "32") if bits == "16" or codec not in HALF_ALONE))


@scene("multilayer OpenEXR: every compression, half or whole floats")
def nodes_layers_codecs():
    s, tree, layer = composed()
    s.view_layers[0].use_pass_z = True
    for at, codec in enumerate(CODECS):
        writer(tree, "//layers/%s_" % codec, "OPEN_EXR_MULTILAYER", ("whole", layer.outputs["Image"]), ("far", layer.outputs["Depth"]),
               depth="16" if at % 2 or codec in HALF_ALONE else "32", exr_codec=codec)


@scene("WebP: without loss, and with quality 30")
def nodes_webp():
    _, tree, layer = composed()
    image = layer.outputs["Image"]
    writer(tree, "//webp/", "WEBP", ("whole_", image, ("WEBP", "RGBA", None, {"quality": 100})), ("some_", image, ("WEBP", "RGB", None, {"quality": 30})))


@scene("DPX of 8 to 16 bits, with and without logarithm, and Cineon")
def nodes_film_scans():
    _, tree, layer = composed()
    image = layer.outputs["Image"]
    writer(tree, "//scans/", "DPX", *(
        ("dpx_%s_%d_" % (depth, log), image, ("DPX", "RGB", depth, {"use_cineon_log": log}))
        for depth in ("8", "10", "12", "16") for log in (False, True)),
        ("cineon_", image, ("CINEON", "RGB", None, {})))


@scene("Radiance HDR, Targa with and without runs, Iris, BMP")
def nodes_old_formats():
    _, tree, layer = composed()
    image = layer.outputs["Image"]
    writer(tree, "//old/", "HDR", ("hdr_", image), *(
        ("%s_%s_" % (kind, mode), image, (kind, mode, None, {}))
        for kind, mode in (("TARGA", "RGB"), ("TARGA", "RGBA"), ("TARGA_RAW", "RGBA"), ("TARGA", "BW"), ("IRIS", "RGB"), ("IRIS", "RGBA"), ("BMP", "RGB"), ("BMP", "BW"))))


@scene("JPEG 2000: both containers, 8, 12 and 16 bits, and YCC")
def nodes_jpeg_2000():
    _, tree, layer = composed()
    image = layer.outputs["Image"]
    writer(tree, "//jp2/", "JPEG2000", *(
        ("%s_%s_" % (codec, depth), image, ("JPEG2000", "RGB", depth, {"jpeg2k_codec": codec, "quality": 80}))
        for codec in ("JP2", "J2K") for depth in ("8", "12", "16")),
        ("ycc_", image, ("JPEG2000", "RGB", "8", {"use_jpeg2k_ycc": True})))


@scene("the picture is multilayer OpenEXR with a JPEG preview; nodes write PNG and OpenEXR")
def nodes_next_to_layers():
    s, tree, layer = composed()
    form(s.render.image_settings, "OPEN_EXR_MULTILAYER", "RGBA", "32", use_preview=True)
    s.view_layers[0].use_pass_z = True
    writer(tree, "//next/", "PNG", ("a_", layer.outputs["Image"]), ("z_", layer.outputs["Depth"], ("OPEN_EXR", "RGB", "32", {})))


# -- passes and layers -----------------------------------------------------------


@scene("multilayer OpenEXR: slots with names of layers, with points, blanks and other letters")
def nodes_layers_names():
    s, tree, layer = composed()
    s.view_layers[0].use_pass_z = s.view_layers[0].use_pass_normal = True
    writer(tree, "//named/all_", "OPEN_EXR_MULTILAYER", ("beauty", layer.outputs["Image"]), ("my depth", layer.outputs["Depth"]),
           ("a.b", layer.outputs["Normal"]), ("größe", layer.outputs["Alpha"]))


@scene("every pass of data: depth, mist, position, normal, vector, UV, both indices, ambient occlusion, emission")
def nodes_passes():
    s, tree, layer = composed()
    first = s.view_layers[0]
    names = ("z", "mist", "position", "normal", "vector", "uv", "object_index", "material_index", "ambient_occlusion", "emit", "diffuse_color", "glossy_direct", "shadow")
    for name in names:
        setattr(first, "use_pass_" + name, True)
    for at, thing in enumerate(bpy.data.objects):
        thing.pass_index = at
    for at, material in enumerate(bpy.data.materials):
        material.pass_index = at
    sockets = [o for o in layer.outputs if o.enabled]
    writer(tree, "//passes/all_", "OPEN_EXR_MULTILAYER", *((o.name, o) for o in sockets), depth="32")
    writer(tree, "//single/", "OPEN_EXR", *((o.name + "_", o) for o in sockets[:6]), depth="32")


@scene("several view layers, one of them off, one with a holdout, with a node for each")
def nodes_view_layers():
    s, tree, layer = composed()
    held = bpy.data.collections.new("held")
    s.collection.children.link(held)
    cube = bpy.data.objects["cube"]
    held.objects.link(cube)
    s.collection.objects.unlink(cube)
    s.view_layers.new("holdout").layer_collection.children["held"].holdout = True
    s.view_layers.new("without").layer_collection.children["held"].exclude = True
    s.view_layers.new("off").use = False
    s.render.film_transparent = True
    slots = []
    for each in s.view_layers:
        node = new(tree, "RLayers", layer=each.name)
        slots.append((each.name, node.outputs["Image"]))
    writer(tree, "//of_layers/", "PNG", *((name + "_", socket) for name, socket in slots), mode="RGBA")
    writer(tree, "//of_layers/all_", "OPEN_EXR_MULTILAYER", *slots)


@scene("cryptomatte: its passes in OpenEXR, and a matte of one object")
def nodes_cryptomatte():
    s, tree, layer = composed()
    first = s.view_layers[0]
    first.use_pass_cryptomatte_object = first.use_pass_cryptomatte_material = first.use_pass_cryptomatte_asset = True
    matte = new(tree, "CryptomatteV2")
    link(tree, layer.outputs["Image"], matte)
    matte.matte_id = "cube"
    sockets = [o for o in layer.outputs if o.enabled and o.name.startswith("Crypto")]
    writer(tree, "//crypto/all_", "OPEN_EXR_MULTILAYER", *((o.name, o) for o in sockets), depth="32")
    writer(tree, "//crypto/", "PNG", ("matte_", matte.outputs["Matte"]), ("pick_", matte.outputs["Pick"]), mode="BW")


@scene("ID masks by object index, and a matte of the depth")
def nodes_id_mask():
    s, tree, layer = composed()
    s.view_layers[0].use_pass_object_index = s.view_layers[0].use_pass_z = True
    bpy.data.objects["cube"].pass_index = 3
    mask = new(tree, "IDMask", index=3, use_antialiasing=True)
    link(tree, layer.outputs["IndexOB"], mask)
    near = new(tree, "Math", operation="LESS_THAN")
    link(tree, layer.outputs["Depth"], near)
    near.inputs[1].default_value = 8
    levels = new(tree, "Normalize")
    link(tree, layer.outputs["Depth"], levels)
    writer(tree, "//mattes/", "PNG", ("cube_", mask.outputs[0]), ("near_", near.outputs[0]), ("depth_", levels.outputs[0]), mode="BW", depth="16")


# -- colours -------------------------------------------------------------------


@scene("Filmic with a look: slots that are saved as a render, and slots that are not")
def nodes_as_render():
    s, tree, layer = composed()
    filmic(s)
    image = layer.outputs["Image"]
    node = writer(tree, "//looks/", "PNG", ("shown_", image), ("raw_", image), ("float_", image, ("OPEN_EXR", "RGB", "32", {})), ("own raw_", image, ("TIFF", "RGB", "16", {})))
    for at in (1, 3):
        node.file_slots[at].save_as_render = False


def filmic(s):
    try:
        s.view_settings.view_transform = "Filmic"
    except TypeError:
        s.view_settings.view_transform = "AgX"
    s.view_settings.exposure, s.view_settings.gamma = 0.6, 1.2


@scene("slots and nodes with a colour management of their own")
def nodes_own_colours():
    s, tree, layer = composed()
    filmic(s)
    image = layer.outputs["Image"]
    node = writer(tree, "//colours/", "PNG", ("of node_", image), ("of slot_", image, ("PNG", "RGB", "16", {})), ("linear_", image, ("OPEN_EXR", "RGB", "32", {})),
                  ("kept_", image, ("PNG", "RGB", "8", {})))
    for format, view in ((node.format, "Raw"), (node.file_slots[1].format, "Standard")):
        format.color_management = "OVERRIDE"
        format.view_settings.view_transform = view
        format.view_settings.exposure = -1
    linear = node.file_slots[2].format
    linear.color_management = "OVERRIDE"
    linear.linear_colorspace_settings.name = "Linear ACES" if bpy.app.version < (4, 0, 0) else "ACES2065-1"


@scene("alpha: a transparent film, set, converted and premultiplied, as PNG, OpenEXR and JPEG")
def nodes_alpha():
    s, tree, layer = composed()
    s.render.film_transparent = True
    image = layer.outputs["Image"]
    half = new(tree, "SetAlpha")
    link(tree, image, half)
    half.inputs["Alpha"].default_value = 0.5
    straight = new(tree, "PremulKey", mapping="PREMUL_TO_STRAIGHT")
    link(tree, image, straight)
    sockets = (("film", image), ("half", half.outputs[0]), ("straight", straight.outputs[0]))
    for kind, mode in (("PNG", "RGBA"), ("PNG", "RGB"), ("OPEN_EXR", "RGBA"), ("JPEG", "RGB"), ("TIFF", "RGBA")):
        writer(tree, "//alpha/%s_%s" % (kind, mode), kind, *((name + "_", socket) for name, socket in sockets), mode=mode)


# -- nodes that make pictures ------------------------------------------------------


@scene("a Switch by keyframes, Alpha Over and Mix, with keyframes on their values")
def nodes_switch():
    s, tree, layer = composed()
    image = layer.outputs["Image"]
    turned, _ = invert(tree, image)
    switch = new(tree, "Switch")
    link(tree, image, switch)
    link(tree, turned, switch, 1)
    for frame, on in ((1, False), (2, True), (3, False)):
        switch.check = on
        switch.keyframe_insert("check", frame=frame)
    over = new(tree, "AlphaOver")
    link(tree, image, over, 1)
    over.inputs[2].default_value = (1, 0, 0, 1)
    key(over.inputs[0], "default_value", {1: 0.1, 3: 0.9})
    mix = new(tree, "MixRGB", blend_type="DIFFERENCE")
    link(tree, image, mix, 1)
    link(tree, over.outputs[0], mix, 2)
    writer(tree, "//switch/", "PNG", ("switch_", switch.outputs[0]), ("over_", over.outputs[0]), ("mix_", mix.outputs[0]))
    tree.links.new(switch.outputs[0], next(n for n in tree.nodes if n.bl_idname == "CompositorNodeComposite").inputs[0])
    assert s


@scene("Defocus by depth, and Glare of four kinds")
def nodes_defocus():
    s, tree, layer = composed()
    s.view_layers[0].use_pass_z = True
    s.camera.data.dof.focus_distance = 6
    focus = new(tree, "Defocus", use_zbuffer=True, f_stop=4, scene=s)
    link(tree, layer.outputs["Image"], focus)
    link(tree, layer.outputs["Depth"], focus, 1)
    slots = [("focus_", focus.outputs[0])]
    for kind in ("GHOSTS", "STREAKS", "FOG_GLOW", "SIMPLE_STAR"):
        glare = new(tree, "Glare", glare_type=kind, threshold=0.2, quality="HIGH")
        link(tree, layer.outputs["Image"], glare)
        slots.append((kind.lower() + "_", glare.outputs[0]))
    writer(tree, "//light/", "OPEN_EXR", *slots, depth="32")


@scene("a Denoise node with albedo and normal")
def nodes_denoise():
    s, tree, layer = composed()
    s.view_layers[0].cycles.denoising_store_passes = True
    node = new(tree, "Denoise")
    for name, to in (("Image", 0), ("Denoising Normal", 1), ("Denoising Albedo", 2)):
        link(tree, layer.outputs[name], node, to)
    writer(tree, "//denoised/", "PNG", ("a_", node.outputs[0]), ("noisy_", layer.outputs["Image"]))


@scene("Keying, Chroma Key, Difference Key, Luma Key and Colour Spill")
def nodes_keying():
    _, tree, layer = composed()
    image = layer.outputs["Image"]
    slots = []
    for kind, more in (("Keying", {}), ("ChromaMatte", {}), ("LumaMatte", {"limit_max": 0.6, "limit_min": 0.1}), ("ColorSpill", {})):
        node = new(tree, kind, **more)
        link(tree, image, node)
        if kind in ("Keying", "ChromaMatte"):
            node.inputs[1].default_value = (0.25, 0.3, 0.25, 1)
        slots.append((kind + "_", node.outputs[0]))
    writer(tree, "//keys/", "PNG", *slots, mode="RGBA")


@scene("Transform, Scale of three kinds, Crop, Rotate, Translate and Flip: files of other sizes than the picture")
def nodes_sizes():
    if bpy.app.version >= (4, 3, 0):
        raise Missing("Blender 4.3.2 crashes")
    _, tree, layer = composed()
    image = layer.outputs["Image"]
    slots = []
    for name, kind, more, values in (
        ("moved", "Transform", {}, {1: 5, 2: 3, 3: 0.3, 4: 1.4}), ("half", "Scale", {"space": "RELATIVE"}, {1: 0.5, 2: 0.5}), ("pixels", "Scale", {"space": "ABSOLUTE"}, {1: 20, 2: 30}),
        ("render", "Scale", {"space": "RENDER_SIZE"}, {}), ("crop", "Crop", {"use_crop_size": True, "min_x": 5, "max_x": 25, "min_y": 30, "max_y": 4}, {}),
        ("turned", "Rotate", {}, {1: 0.5}), ("shifted", "Translate", {"wrap_axis": "BOTH"}, {1: 10, 2: 4}), ("flipped", "Flip", {"axis": "XY"}, {}),
    ):
        node = new(tree, kind, **more)
        link(tree, image, node)
        for at, value in values.items():
            node.inputs[at].default_value = value
        slots.append((name + "_", node.outputs[0]))
    writer(tree, "//sizes/", "PNG", *slots, mode="RGBA")


@scene("an animated mask with a soft edge over a picture")
def nodes_mask():
    s, tree, layer = composed()
    mask = bpy.data.masks.new("mask")
    spline = mask.layers.new(name="one").splines.new()
    spline.points.add(3)
    for point, at in zip(spline.points, ((0.2, 0.2), (0.8, 0.3), (0.7, 0.8), (0.3, 0.7))):
        point.co = point.handle_left = point.handle_right = at
    spline.use_cyclic = True
    node = new(tree, "Mask", mask=mask, use_feather=True)
    box = new(tree, "BoxMask", mask_type="SUBTRACT") if hasattr(bpy.types.CompositorNodeBoxMask, "mask_type") else new(tree, "BoxMask")
    key(box, "rotation", {1: 0.0, 3: 1.0})
    link(tree, node.outputs[0], box)
    turned, _ = invert(tree, layer.outputs["Image"])
    mix = new(tree, "MixRGB")
    link(tree, box.outputs[0], mix)
    link(tree, layer.outputs["Image"], mix, 1)
    link(tree, turned, mix, 2)
    writer(tree, "//masks/", "PNG", ("mask_", node.outputs[0]), ("box_", box.outputs[0]), ("mixed_", mix.outputs[0]))
    assert s


@scene("Blur by keyframes, lens distortion, Bokeh Blur, Pixelate, Dilate, Bilateral Blur, Sun Beams and Tonemap")
def nodes_filters():
    _, tree, layer = composed()
    image = layer.outputs["Image"]
    blur = new(tree, "Blur", use_relative=False)
    link(tree, image, blur)
    key(blur, "size_x", {1: 1, 3: 9})
    slots = [("blur_", blur.outputs[0])]
    for kind, values in (("Lensdist", {1: 0.2, 2: 0.1}), ("Pixelate", {}), ("Bilateralblur", {}), ("SunBeams", {}), ("Tonemap", {}), ("Kuwahara", {}), ("Filter", {})):
        if not hasattr(bpy.types, "CompositorNode" + kind):
            continue
        node = new(tree, kind)
        link(tree, image, node, 1 if kind == "Filter" else 0)
        for at, value in values.items():
            node.inputs[at].default_value = value
        slots.append((kind + "_", node.outputs[0]))
    bokeh = new(tree, "BokehBlur")
    link(tree, image, bokeh)
    link(tree, new(tree, "BokehImage", flaps=6).outputs[0], bokeh, 1)
    slots.append(("bokeh_", bokeh.outputs[0]))
    grow = new(tree, "DilateErode", distance=3)
    link(tree, layer.outputs["Alpha"], grow)
    slots.append(("grown_", grow.outputs[0]))
    writer(tree, "//filters/", "OPEN_EXR", *slots, depth="32")


@scene("colours: balance, curves, correction, exposure, gamma, tints, separated and combined channels")
def nodes_grading():
    _, tree, layer = composed()
    socket, _ = chain(tree, layer.outputs["Image"], "ColorBalance", "ColorCorrection", "CurveRGB", "Exposure", "Gamma", "HueSat", "BrightContrast")
    for node in tree.nodes:
        if node.bl_idname == "CompositorNodeColorBalance":
            node.lift, node.gain = (1.1, 0.9, 1.0), (0.9, 1.0, 1.2)
        elif node.bl_idname == "CompositorNodeCurveRGB":
            node.mapping.curves[3].points.new(0.4, 0.7)
        elif node.bl_idname == "CompositorNodeExposure":
            key(node.inputs["Exposure"], "default_value", {1: -1.0, 3: 1.5})
    parts = new(tree, "SeparateColor", mode="YCC")
    link(tree, socket, parts)
    writer(tree, "//graded/", "PNG", ("all_", socket), ("luma_", parts.outputs[0]), ("chroma_", parts.outputs[1]), depth="16")


# -- time ----------------------------------------------------------------------


@scene("a Time node, and a driver by the frame", alone=2)
def nodes_time():
    s, tree, layer = composed()
    if hasattr(bpy.types, "CompositorNodeTime"):
        clock = new(tree, "Time", frame_start=1, frame_end=4)
    else:
        clock = new(tree, "CurveTime", frame_start=1, frame_end=4)
    mix = new(tree, "MixRGB")
    link(tree, clock.outputs[0], mix)
    link(tree, layer.outputs["Image"], mix, 1)
    gamma = new(tree, "Gamma")
    link(tree, layer.outputs["Image"], gamma)
    curve = gamma.inputs["Gamma"].driver_add("default_value")
    curve.driver.type, curve.driver.expression = "SCRIPTED", "0.5 + frame / 4"
    writer(tree, "//time/", "PNG", ("faded_", mix.outputs[0]), ("gamma_", gamma.outputs[0]))
    assert s


@scene("frames from 998 on, every third one, with # of two widths")
def nodes_late_frames():
    s, tree, layer = composed()
    s.frame_start, s.frame_end, s.frame_step = 998, 1004, 3
    key(bpy.data.objects["cube"], "location", {998: (-1, 0, 0), 1004: (1, 0, 1)})
    writer(tree, "//late/", "PNG", ("a_##", layer.outputs["Image"]), ("b_######", layer.outputs["Image"]))


def sequence(folder, name, frames):
    """Writes a sequence of pictures, each of a colour of its own."""
    os.makedirs(folder, exist_ok=True)
    for n in range(1, frames + 1):
        image = bpy.data.images.new("frame", 32, 24)
        image.pixels.foreach_set([value for y in range(24) for x in range(32) for value in (x / 32, y / 24, n / frames, 1)])
        image.filepath_raw, image.file_format = os.path.join(folder, "%s_%04d.png" % (name, n)), "PNG"
        image.save()
        bpy.data.images.remove(image)


@scene("a sequence of pictures with an offset, and one that repeats", files=True)
def nodes_sequence(path):
    _, tree, layer = composed(4)
    save(path)
    folder = os.path.join(os.path.dirname(path), "plates")
    sequence(folder, "plate", 4)
    slots = []
    for name, more in (("offset", {"frame_duration": 4, "frame_offset": 1}), ("cyclic", {"frame_duration": 2, "use_cyclic": True}), ("late", {"frame_duration": 4, "frame_start": 2})):
        image = bpy.data.images.load("//plates/plate_0001.png")
        image.source = "SEQUENCE"
        node = new(tree, "Image", image=image)
        for member, value in more.items():
            setattr(node, member, value)
        over = new(tree, "AlphaOver")
        link(tree, node.outputs[0], over, 1)
        link(tree, layer.outputs["Image"], over, 2)
        slots.append((name + "_", node.outputs[0]))
    writer(tree, "//with_plates/", "PNG", *slots)


@scene("a movie clip of a sequence, scaled, stabilised and undistorted", files=True,
       why="Blender 4.3.2 makes two pictures of it" if bpy.app.version >= (4, 3, 0) else "")
def nodes_clip(path):
    _, tree, layer = composed()
    save(path)
    sequence(os.path.join(os.path.dirname(path), "clip"), "clip", 3)
    clip = bpy.data.movieclips.load("//clip/clip_0001.png")
    node = new(tree, "MovieClip", clip=clip)
    bent = new(tree, "MovieDistortion", clip=clip)
    clip.tracking.camera.k1 = 0.2
    link(tree, node.outputs[0], bent)
    steady = new(tree, "Stabilize", clip=clip)
    link(tree, node.outputs[0], steady)
    mix = new(tree, "MixRGB")
    link(tree, layer.outputs["Image"], mix, 1)
    link(tree, node.outputs[0], mix, 2)
    writer(tree, "//with_clip/", "PNG", ("clip_", node.outputs[0]), ("bent_", bent.outputs[0]), ("steady_", steady.outputs[0]), ("mix_", mix.outputs[0]))


@scene("layers of a multilayer OpenEXR as input, and a packed picture", files=True)
def nodes_layers_in(path):
    s, tree, layer = composed()
    save(path)
    folder = os.path.dirname(path)
    s.view_layers[0].use_pass_z = True
    form(s.render.image_settings, "OPEN_EXR_MULTILAYER", "RGBA", "32")
    s.use_nodes = False
    s.render.filepath = os.path.join(folder, "in", "passes.exr")
    bpy.ops.render.render(write_still=True)
    s.use_nodes = True
    form(s.render.image_settings, "PNG", "RGB", "8")
    s.render.filepath = "/tmp/"
    image = bpy.data.images.load("//in/passes.exr")
    node = new(tree, "Image", image=image)
    sequence(os.path.join(folder, "packed"), "p", 1)
    packed = bpy.data.images.load(os.path.join(folder, "packed", "p_0001.png"))
    packed.pack()
    os.remove(os.path.join(folder, "packed", "p_0001.png"))
    shown = new(tree, "Image", image=packed)
    writer(tree, "//from_layers/", "OPEN_EXR", *((o.name + "_", o) for o in node.outputs if o.enabled), ("packed_", shown.outputs[0]), depth="32")
    assert layer


# -- size, views, stamps ----------------------------------------------------------


@scene("a cropped border, with nodes that write the picture and its half")
def nodes_border_crop():
    s, tree, layer = composed()
    border(s)
    s.render.use_crop_to_border = True
    half(tree, layer)


def border(s):
    s.render.use_border = True
    s.render.border_min_x, s.render.border_max_x, s.render.border_min_y, s.render.border_max_y = 0.2, 0.7, 0.3, 0.8


def half(tree, layer):
    small = new(tree, "Scale")
    link(tree, layer.outputs["Image"], small)
    small.inputs[1].default_value = small.inputs[2].default_value = 0.5
    writer(tree, "//border/", "PNG", ("all_", layer.outputs["Image"]), ("half_", small.outputs[0]), mode="RGBA")


@scene("a border that is not cropped, at 150 percent")
def nodes_border():
    s, tree, layer = composed()
    border(s)
    s.render.resolution_percentage = 150
    half(tree, layer)


def eyes(s):
    s.render.use_multiview = True


@scene("two eyes: nodes that write one file for each, both side by side, and layers of each")
def nodes_stereo():
    s, tree, layer = composed()
    eyes(s)
    for path, kind, views in (("//each/", "PNG", "INDIVIDUAL"), ("//both/", "JPEG", "STEREO_3D"), ("//layers/l_", "OPEN_EXR_MULTILAYER", "INDIVIDUAL")):
        node = writer(tree, path, kind, ("eye_", layer.outputs["Image"]))
        node.format.views_format = views
        if views == "STEREO_3D":
            node.format.stereo_3d_format.display_mode = "SIDEBYSIDE"


@scene("two eyes in one OpenEXR, of one layer and of several, and Switch View")
def nodes_stereo_layers():
    s, tree, layer = composed()
    eyes(s)
    turned, _ = invert(tree, layer.outputs["Image"])
    switch = new(tree, "SwitchView")
    for at, socket in enumerate((layer.outputs["Image"], turned)):
        if at < len(switch.inputs):
            link(tree, socket, switch, at)
    for path, kind in (("//one/l_", "OPEN_EXR_MULTILAYER"), ("//plain/", "OPEN_EXR")):
        node = writer(tree, path, kind, ("eye_", layer.outputs["Image"]), ("switched_", switch.outputs[0]))
        node.format.views_format = "MULTIVIEW"


@scene("a stamp that is burnt into the picture; nodes write without it")
def nodes_stamp():
    s, tree, layer = composed()
    s.render.use_stamp = True
    s.render.resolution_x, s.render.resolution_y, s.render.stamp_font_size = 160, 100, 8
    for name in ("date", "time", "render_time", "memory", "hostname", "filename"):
        setattr(s.render, "use_stamp_" + name, False)
    s.render.use_stamp_frame = s.render.use_stamp_note = True
    s.render.stamp_note_text = "shot 7"
    writer(tree, "//clean/", "PNG", ("a_", layer.outputs["Image"]), ("b_", layer.outputs["Image"], ("JPEG", "RGB", None, {})))


@scene("a text object, a Texture node and an RGB node, which have no size of their own")
def nodes_textures():
    _, tree, layer = composed()
    bpy.ops.object.text_add(location=(0, 0, 1.2))
    words = bpy.context.object.data
    words.body, words.extrude = "Shot 7", 0.1
    texture = bpy.data.textures.new("clouds", "CLOUDS")
    painted = new(tree, "Texture", texture=texture)
    mix = new(tree, "MixRGB", blend_type="ADD")
    link(tree, layer.outputs["Image"], mix, 1)
    link(tree, painted.outputs["Color"], mix, 2)
    colour = new(tree, "RGB")
    colour.outputs[0].default_value = (0.2, 0.5, 0.8, 1)
    writer(tree, "//made/", "PNG", ("clouds_", painted.outputs["Color"]), ("mix_", mix.outputs[0]), ("plain_", colour.outputs[0]))


@scene("the sequencer shows the scene with a colour over it, and Blender writes no files of its nodes")
def nodes_sequencer():
    s, tree, layer = composed()
    turned, _ = invert(tree, layer.outputs["Image"])
    writer(tree, "//composed/", "PNG", ("a_", turned))
    strips = s.sequence_editor_create().sequences
    strips.new_scene("own", s, channel=1, frame_start=1)
    colour = strips.new_effect("colour", "COLOR", channel=2, frame_start=1, frame_end=FRAMES + 1)
    colour.color, colour.blend_type, colour.blend_alpha = (1, 0, 0), "ALPHA_OVER", 0.3


@scene("Vector Blur and its vectors, written by a group with two sockets")
def nodes_motion():
    s, tree, layer = composed()
    s.view_layers[0].use_pass_z = s.view_layers[0].use_pass_vector = True
    blur = new(tree, "VecBlur", samples=8)
    for name, to in (("Image", 0), ("Depth", 1), ("Vector", 2)):
        link(tree, layer.outputs[name], blur, to)
    inner, inside = group("inner", "Image", "Vector")
    writer(inner, "//moved/l_", "OPEN_EXR_MULTILAYER", ("blurred", inside["Image"]), ("vector", inside["Vector"]), depth="32")
    use(tree, inner, blur.outputs[0], layer.outputs["Vector"])


@scene("five nodes, two view layers, three formats, and a film as the scene's output")
def nodes_film():
    s, tree, layer = composed()
    s.render.image_settings.file_format = "FFMPEG"
    second = s.view_layers.new("second")
    other = new(tree, "RLayers", layer=second.name)
    for at, kind in enumerate(("PNG", "OPEN_EXR", "OPEN_EXR_MULTILAYER", "JPEG", "TIFF")):
        writer(tree, "//node_%d/a_" % at, kind, ("first_", layer.outputs["Image"]), ("second_", other.outputs["Image"]))

