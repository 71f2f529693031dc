"""Scenes about what becomes of a rendered picture: colour, size, stamps, files."""

import bpy

from base import cube, key, moving_cube, scene, stage


def shown(samples=2):
    s = stage(samples)
    moving_cube()
    return s


def output(s, kind, mode="RGB", depth=None, **more):
    settings = s.render.image_settings
    settings.file_format = kind
    settings.color_mode = mode
    if depth:
        settings.color_depth = depth
    for name, value in more.items():
        setattr(settings, name, value)


# -- files -------------------------------------------------------------------


@scene("PNG, 16 bits, RGBA over nothing, compression 0")
def png_16():
    s = shown()
    output(s, "PNG", "RGBA", "16", compression=0)
    s.render.film_transparent = True


@scene("PNG, 8 bits, RGB, compression 100")
def png_8():
    output(shown(), "PNG", "RGB", "8", compression=100)


@scene("PNG, grey")
def png_grey():
    output(shown(), "PNG", "BW", "8")


@scene("JPEG, quality 60")
def jpeg():
    output(shown(), "JPEG", quality=60)


@scene("TIFF, 16 bits")
def tiff():
    output(shown(), "TIFF", "RGBA", "16")


@scene("Targa")
def targa():
    output(shown(), "TARGA", "RGBA")


@scene("Radiance HDR")
def hdr():
    output(shown(), "HDR")


@scene("WebP")
def webp():
    output(shown(), "WEBP", quality=100)


@scene("OpenEXR, half floats, DWAA")
def exr_half():
    output(shown(), "OPEN_EXR", "RGBA", "16", exr_codec="DWAA")


@scene("OpenEXR, floats, ZIP")
def exr_float():
    output(shown(), "OPEN_EXR", "RGB", "32", exr_codec="ZIP")


@scene("multi-layer OpenEXR with passes, PIZ")
def exr_layers():
    s = shown()
    output(s, "OPEN_EXR_MULTILAYER", "RGBA", "16", exr_codec="PIZ")
    layer = s.view_layers[0]
    layer.use_pass_z = layer.use_pass_normal = layer.use_pass_vector = layer.use_pass_cryptomatte_object = True


@scene("film (FFmpeg), delivered as PNG")
def film():
    s = shown()
    s.render.image_settings.file_format = "FFMPEG"


# -- colour ------------------------------------------------------------------


def view(s, display="sRGB", transform="Standard", look="None", **more):
    s.display_settings.display_device = display
    s.view_settings.view_transform = transform
    s.view_settings.look = look
    for name, value in more.items():
        setattr(s.view_settings, name, value)


@scene("view transform Standard, exposure and gamma")
def view_standard():
    view(shown(), exposure=0.7, gamma=1.3)


@scene("view transform Filmic with a look")
def view_filmic():
    s = shown()
    s.display_settings.display_device = "sRGB"
    s.view_settings.view_transform = "Filmic"
    looks = [e.identifier for e in bpy.types.ColorManagedViewSettings.bl_rna.properties["look"].enum_items]
    del looks  # the list that scripts see is empty; the file's names are tried
    for name in ("Very High Contrast", "Filmic - Very High Contrast"):
        try:
            s.view_settings.look = name
        except TypeError:
            continue


@scene("view transform False Color")
def view_false_color():
    view(shown(), transform="False Color")


@scene("view transform Raw, display XYZ")
def view_raw():
    s = shown()
    s.display_settings.display_device = "XYZ"
    s.view_settings.view_transform = "Raw"


@scene("curves of the view, white and black levels, with keyframes on the exposure")
def view_curves():
    s = shown()
    view(s, use_curve_mapping=True)
    curve = s.view_settings.curve_mapping
    curve.curves[3].points.new(0.4, 0.7)
    curve.black_level = (0.02, 0.0, 0.05)
    key(s.view_settings, "exposure", {1: 0.0, 6: 1.5})


@scene("PNG with a colour management of its own")
def view_override():
    s = shown()
    settings = s.render.image_settings
    if not hasattr(settings, "color_management"):
        from base import Missing

        raise Missing("Blender 3.2 has it first")
    settings.color_management = "OVERRIDE"
    settings.view_settings.view_transform = "Standard"
    settings.view_settings.exposure = 1


@scene("linear OpenEXR in another colour space")
def exr_colour_space():
    s = shown()
    settings = s.render.image_settings
    output(s, "OPEN_EXR", "RGB", "32")
    settings.color_management = "OVERRIDE"
    settings.linear_colorspace_settings.name = "Linear ACES" if bpy.app.version < (4, 0, 0) else "ACES2065-1"


@scene("dithering, a filter of 3 pixels, pixels twice as wide")
def filter_and_aspect():
    s = shown()
    s.render.dither_intensity = 2
    s.cycles.filter_width = 3
    s.render.pixel_aspect_x = 2


# -- size --------------------------------------------------------------------


@scene("a border, not cropped")
def border():
    s = shown()
    s.render.use_border = True
    s.render.border_min_x, s.render.border_max_x, s.render.border_min_y, s.render.border_max_y = 0.2, 0.7, 0.3, 0.8


@scene("a border, cropped")
def border_crop():
    border()
    bpy.context.scene.render.use_crop_to_border = True


@scene("61 by 47 pixels at 73 percent")
def percentage():
    s = shown()
    s.render.resolution_x, s.render.resolution_y, s.render.resolution_percentage = 61, 47, 73


# -- the compositor ----------------------------------------------------------


def composed(s, *kinds):
    s.use_nodes = True
    tree = s.node_tree
    tree.nodes.clear()
    layer, out = tree.nodes.new("CompositorNodeRLayers"), tree.nodes.new("CompositorNodeComposite")
    at, made = layer.outputs["Image"], []
    for kind in kinds:
        node = tree.nodes.new("CompositorNode" + kind)
        tree.links.new(at, node.inputs["Image"])
        at = node.outputs[0]
        made.append(node)
    tree.links.new(at, out.inputs["Image"])
    return made


@scene("compositor: blur, glare, lens distortion, a keyed hue")
def compositor():
    s = shown()
    blur, _, _, hue = composed(s, "Blur", "Glare", "Lensdist", "HueSat")
    blur.size_x = blur.size_y = 3
    socket = hue.inputs["Hue"]
    for frame, value in ((1, 0.5), (6, 0.8)):
        socket.default_value = value
        socket.keyframe_insert("default_value", frame=frame)


@scene("compositor with passes: vector blur, depth, and a File Output node")
def compositor_passes():
    s = shown()
    layer = s.view_layers[0]
    layer.use_pass_z = layer.use_pass_vector = True
    s.use_nodes = True
    tree = s.node_tree
    tree.nodes.clear()
    source, blur, out = (tree.nodes.new("CompositorNode" + kind) for kind in ("RLayers", "VecBlur", "Composite"))
    for name, to in (("Image", 0), ("Depth", 1), ("Vector", 2)):
        tree.links.new(source.outputs[name], blur.inputs[to])
    tree.links.new(blur.outputs[0], out.inputs[0])
    file = tree.nodes.new("CompositorNodeOutputFile")
    file.base_path = "//beside"
    tree.links.new(source.outputs["Image"], file.inputs[0])


# -- stamps and views --------------------------------------------------------

STAMPS = ("date", "time", "render_time", "frame", "frame_range", "memory", "hostname", "camera", "lens", "scene", "marker", "filename", "sequencer_strip", "note")


def stamped(s, *names):
    s.render.use_stamp = True
    s.render.stamp_font_size = 8
    s.render.resolution_x, s.render.resolution_y = 240, 120  # room for whole lines
    for name in STAMPS:
        setattr(s.render, "use_stamp_" + name, name in names)
    s.render.stamp_note_text = "shot 7"


@scene("stamp: frame, range, camera, lens, scene, marker, note")
def stamp():
    s = shown()
    s.frame_end = 12
    s.timeline_markers.new("go", frame=3)
    stamped(s, "frame", "frame_range", "camera", "lens", "scene", "marker", "note")


@scene("stamp: the file's and the computer's name",
       why="svc leaves both names out of the picture (`stamp_off`)")
def stamp_names():
    stamped(shown(), "frame", "filename", "hostname")


@scene("stamp: date, time, render time and memory",
       why="Blender writes the clock, and what the computer needed, into the picture: no two renders are equal")
def stamp_clock():
    stamped(shown(), "date", "time", "render_time", "memory")


@scene("two eyes in two files")
def multiview():
    s = shown()
    s.render.use_multiview = True


@scene("two eyes side by side in one file")
def multiview_stereo():
    s = shown()
    s.render.use_multiview = True
    s.render.image_settings.views_format = "STEREO_3D"
    s.render.image_settings.stereo_3d_format.display_mode = "SIDEBYSIDE"


@scene("two eyes in OpenEXR of layers, with JPEG previews")
def multiview_previews():
    s = shown()
    s.render.use_multiview = True
    s.render.image_settings.file_format = "OPEN_EXR_MULTILAYER"
    s.render.image_settings.use_preview = True


@scene("OpenEXR with JPEG previews")
def exr_previews():
    image = shown().render.image_settings
    image.file_format, image.use_preview = "OPEN_EXR", True


# -- what light goes through -------------------------------------------------


@scene("a volume with noise that changes by the frame")
def volume():
    s = stage(4)
    thing = cube(size=3)
    material = thing.data.materials[0]
    tree = material.node_tree
    tree.nodes.remove(tree.nodes["Principled BSDF"])
    fog, noise = tree.nodes.new("ShaderNodeVolumePrincipled"), tree.nodes.new("ShaderNodeTexNoise")
    noise.noise_dimensions = "4D"
    for frame, value in ((1, 0.0), (6, 3.0)):
        noise.inputs["W"].default_value = value
        noise.inputs["W"].keyframe_insert("default_value", frame=frame)
    tree.links.new(noise.outputs[0], fog.inputs["Density"])
    tree.links.new(fog.outputs[0], tree.nodes["Material Output"].inputs["Volume"])
    assert s


@scene("a volume made by geometry nodes")
def volume_nodes():
    stage(4)
    if not hasattr(bpy.types, "GeometryNodeVolumeCube"):
        from base import Missing

        raise Missing("Blender 3.3 has it first")
    tree = bpy.data.node_groups.new("nodes", "GeometryNodeTree")
    if hasattr(tree, "interface"):  # 4.0
        tree.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    else:
        tree.outputs.new("NodeSocketGeometry", "Geometry")
    fog, clock, material, out = (tree.nodes.new(kind) for kind in ("GeometryNodeVolumeCube", "GeometryNodeInputSceneTime", "GeometryNodeSetMaterial", "NodeGroupOutput"))
    for axis in ("Resolution X", "Resolution Y", "Resolution Z"):
        fog.inputs[axis].default_value = 12
    tree.links.new(clock.outputs["Seconds"], fog.inputs["Density"])
    thing = cube(size=2)
    shader = thing.data.materials[0]
    nodes = shader.node_tree
    nodes.nodes.remove(nodes.nodes["Principled BSDF"])
    inside = nodes.nodes.new("ShaderNodeVolumePrincipled")
    inside.inputs["Density"].default_value = 20
    nodes.links.new(inside.outputs[0], nodes.nodes["Material Output"].inputs["Volume"])
    material.inputs["Material"].default_value = shader
    tree.links.new(fog.outputs[0], material.inputs[0])
    tree.links.new(material.outputs[0], out.inputs[0])
    thing.modifiers.new("nodes", "NODES").node_group = tree


@scene("depth of field, adaptive sampling, a transparent film and a shadow catcher")
def lens():
    s = shown(8)
    s.camera.data.dof.use_dof = True
    s.camera.data.dof.aperture_fstop = 0.5
    key(s.camera.data.dof, "focus_distance", {1: 3.0, 6: 9.0})
    s.cycles.use_adaptive_sampling = True
    s.render.film_transparent = True
    bpy.data.objects["floor"].is_shadow_catcher = True


@scene("Freestyle lines")
def freestyle():
    s = shown()
    if not bpy.app.build_options.freestyle:
        from base import Missing

        raise Missing("this Blender is built without Freestyle")
    if bpy.app.version < (4, 0, 0):
        from base import Missing

        raise Missing("this Blender, with the Python of its system, ends when it draws lines")
    s.render.use_freestyle = True
    s.view_layers[0].freestyle_settings.linesets.new("lines")
