"""Makes small scenes whose strips are compared with the whole picture: each has several kinds of
things that could make a strip differ.

    blender --background --factory-startup --python strips.py -- FOLDER [NAME...]

Without names it makes all of them.
"""

import os
import sys

import bpy

FOLDER, *ASKED = sys.argv[sys.argv.index("--") + 1:]
SCENES = {}


def named(make):
    SCENES[make.__name__] = make
    return make


def base(samples=3):
    """A cube, a ball and a floor; the upper half is sky."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.render.engine = "CYCLES"
    scene.cycles.samples = samples
    scene.cycles.use_denoising = scene.cycles.use_adaptive_sampling = False
    scene.render.resolution_x, scene.render.resolution_y = 64, 48
    scene.render.resolution_percentage = 100
    world = bpy.data.worlds.new("sky")
    world.use_nodes = True
    world.node_tree.nodes["Background"].inputs["Color"].default_value = (0.2, 0.4, 0.9, 1)
    scene.world = world

    bpy.ops.mesh.primitive_plane_add(size=20)
    surface("floor", Roughness=0.4)
    bpy.ops.mesh.primitive_cube_add(location=(-1, 0, 1))
    surface("orange", color=(0.8, 0.3, 0.05, 1))
    cube = bpy.context.object
    for frame, turn in ((1, 0.0), (20, 2.0)):
        cube.rotation_euler.z = turn
        cube.keyframe_insert("rotation_euler", frame=frame)
    bpy.ops.mesh.primitive_uv_sphere_add(location=(1.6, 0.5, 1), segments=16, ring_count=8)
    bpy.ops.object.shade_smooth()
    surface("glass", Transmission=1.0, Roughness=0.05)
    bpy.ops.object.light_add(type="AREA", location=(3, -3, 6), rotation=(0.6, 0.3, 0))
    bpy.context.object.data.energy = 600
    bpy.ops.object.camera_add(location=(6, -6, 3), rotation=(1.25, 0, 0.785))
    scene.camera = bpy.context.object
    return scene


def surface(name, color=None, **values):
    """A new material of the active object; returns its nodes and links."""
    material = bpy.data.materials.new(name)
    material.use_nodes = True
    inputs = material.node_tree.nodes["Principled BSDF"].inputs
    if color is not None:
        inputs["Base Color"].default_value = color
    for key, value in values.items():
        key = key if key in inputs else key + " Weight"  # 4.0
        inputs[key].default_value = value
    bpy.context.object.data.materials.append(material)
    return material.node_tree


def compositor(scene):
    """The nodes and links of a compositor with nothing in it, and its two ends."""
    scene.use_nodes = True
    tree = scene.node_tree
    tree.nodes.clear()
    return tree, tree.nodes.new("CompositorNodeRLayers"), tree.nodes.new("CompositorNodeComposite")


def chain(tree, first, last, *nodes):
    for before, after in zip((first,) + nodes, nodes + (last,)):
        tree.links.new(before.outputs[0], after.inputs["Image"])


def output(scene, file_format, depth=None, mode=None, codec=None):
    image = scene.render.image_settings
    image.file_format = file_format
    if mode:
        image.color_mode = mode
    if depth:
        image.color_depth = depth
    if codec:
        image.exr_codec = codec


def all_passes(layer):
    for owner in (layer, layer.cycles):
        for name in dir(owner):
            if name.startswith("use_pass_") and isinstance(getattr(owner, name), bool):
                setattr(owner, name, True)
    layer.cycles.denoising_store_passes = True


@named
def passes():
    """All passes, colours and values of one's own, light groups, cryptomattes and a second layer
    without the ball, in one file of layers."""
    scene = base()
    first = scene.view_layers[0]
    all_passes(first)
    first.aovs.add().name = "own"
    value = first.aovs.add()
    value.name, value.type = "own value", "VALUE"
    tree = bpy.data.materials["orange"].node_tree
    for name in ("own", "own value"):
        node = tree.nodes.new("ShaderNodeOutputAOV")
        setattr(node, "aov_name" if hasattr(node, "aov_name") else "name", name)
        node.inputs["Color"].default_value, node.inputs["Value"].default_value = (0.1, 0.5, 0.9, 1), 0.7
    first.lightgroups.add().name = "key"
    bpy.data.objects["Area"].lightgroup = "key"
    second = scene.view_layers.new("second.layer")
    second.use_pass_z = second.use_pass_cryptomatte_object = True
    ball = bpy.data.objects["Sphere"]
    collection = bpy.data.collections.new("apart")
    scene.collection.children.link(collection)
    for owner in ball.users_collection:
        owner.objects.unlink(ball)
    collection.objects.link(ball)
    second.layer_collection.children["apart"].exclude = True
    output(scene, "OPEN_EXR_MULTILAYER", "32", codec="ZIP")


@named
def composited():
    """Nodes that look far away, a cryptomatte, a Denoise node, a frame number burnt in."""
    scene = base()
    scene.view_layers[0].use_pass_cryptomatte_object = True
    tree, layer, end = compositor(scene)
    glare, blur, lens = (tree.nodes.new("CompositorNode" + kind) for kind in ("Glare", "Blur", "Lensdist"))
    glare.glare_type, glare.threshold, glare.quality = "FOG_GLOW", 0.2, "HIGH"
    blur.size_x = blur.size_y = 6
    lens.inputs[1].default_value, lens.inputs[2].default_value = 0.1, 0.05  # distortion, dispersion
    matte, over = tree.nodes.new("CompositorNodeCryptomatteV2"), tree.nodes.new("CompositorNodeMixRGB")
    matte.scene, matte.matte_id = scene, "Cube"
    tree.links.new(layer.outputs["Image"], matte.inputs["Image"])
    chain(tree, layer, end, glare, blur, lens)
    tree.links.new(matte.outputs["Matte"], over.inputs["Fac"])
    tree.links.new(lens.outputs["Image"], over.inputs[1])
    tree.links.new(layer.outputs["Image"], over.inputs[2])
    tree.links.new(over.outputs["Image"], end.inputs["Image"])
    files = tree.nodes.new("CompositorNodeOutputFile")
    tree.links.new(layer.outputs["Image"], files.inputs[0])
    output(scene, "PNG", "16", "RGBA")
    scene.render.use_stamp, scene.render.stamp_font_size = True, 12
    for field in ("date", "time", "render_time", "filename", "camera", "scene", "memory", "hostname"):
        setattr(scene.render, "use_stamp_" + field, False)
    scene.render.use_stamp_frame = True


@named
def moving():
    """Motion blur with a rolling shutter, depth of field, a seed and samples that change, an
    aspect that is not square, part of the resolution."""
    scene = base()
    render, camera = scene.render, scene.camera.data
    render.use_motion_blur = True
    scene.cycles.rolling_shutter_type = "TOP"
    camera.dof.use_dof, camera.dof.focus_distance, camera.dof.aperture_fstop = True, 6, 0.4
    scene.cycles.use_animated_seed = True
    for frame, samples in ((1, 2), (20, 5)):
        scene.cycles.samples = samples
        scene.cycles.keyframe_insert("samples", frame=frame)
    render.resolution_x, render.resolution_y, render.resolution_percentage = 88, 65, 73
    render.pixel_aspect_x = 1.5
    output(scene, "JPEG")


@named
def looks():
    """A border that the picture is cut to; a view, a look, curves and dither."""
    scene = base()
    render, view = scene.render, scene.view_settings
    render.use_border = render.use_crop_to_border = True
    render.border_min_x, render.border_max_x, render.border_min_y, render.border_max_y = 0.13, 0.87, 0.21, 0.93
    view.view_transform, view.exposure, view.gamma = "Filmic", 0.4, 1.1
    view.use_curve_mapping = True
    view.curve_mapping.curves[3].points.new(0.4, 0.6)
    view.curve_mapping.update()
    render.dither_intensity = 2


@named
def overridden():
    """A look of the picture's own, and light in another colour space where it is stored as such."""
    scene = base()
    scene.view_settings.view_transform = "Standard"
    image = scene.render.image_settings
    image.color_management = "OVERRIDE"
    image.view_settings.view_transform, image.view_settings.exposure = "Filmic", 1.0
    image.view_settings.use_curve_mapping = True
    image.view_settings.curve_mapping.curves[3].points.new(0.3, 0.6)
    image.view_settings.curve_mapping.update()
    image.linear_colorspace_settings.name = "XYZ" if bpy.app.version < (4,) else "Linear CIE-XYZ E"


@named
def bordered():
    """A border in a picture of its full size, a transparent film with glass, half floats."""
    scene = base()
    render = scene.render
    render.use_border, render.use_crop_to_border = True, False
    render.border_min_x, render.border_max_x, render.border_min_y, render.border_max_y = 0.1, 0.9, 0.15, 0.8
    render.film_transparent = scene.cycles.film_transparent_glass = True
    output(scene, "OPEN_EXR", "16", "RGBA", "ZIP")


@named
def soft():
    """A volume, hair, light below the skin, a wide filter, bevels and occlusion, windows'
    coordinates."""
    scene = base()
    scene.cycles.pixel_filter_type, scene.cycles.filter_width = "BLACKMAN_HARRIS", 8
    bpy.ops.mesh.primitive_cube_add(location=(0, 2, 1), size=3)
    fog = surface("fog")
    fog.nodes.remove(fog.nodes["Principled BSDF"])
    volume = fog.nodes.new("ShaderNodeVolumePrincipled")
    volume.inputs["Density"].default_value = 0.3
    fog.links.new(volume.outputs[0], fog.nodes["Material Output"].inputs["Volume"])
    ball = bpy.data.objects["Sphere"]
    ball.modifiers.new("hair", "PARTICLE_SYSTEM")
    hair = ball.particle_systems[0].settings
    hair.type, hair.count, hair.hair_length = "HAIR", 60, 0.6
    tree = bpy.data.materials["orange"].node_tree
    shader = tree.nodes["Principled BSDF"]
    inputs = shader.inputs
    inputs["Subsurface" if "Subsurface" in inputs else "Subsurface Weight"].default_value = 0.6
    bevel, occlusion = tree.nodes.new("ShaderNodeBevel"), tree.nodes.new("ShaderNodeAmbientOcclusion")
    bevel.inputs["Radius"].default_value = 0.3
    window, noise = tree.nodes.new("ShaderNodeTexCoord"), tree.nodes.new("ShaderNodeTexNoise")
    tree.links.new(window.outputs["Window"], noise.inputs["Vector"])
    tree.links.new(noise.outputs["Color"], occlusion.inputs["Color"])
    tree.links.new(bevel.outputs[0], inputs["Normal"])
    tree.links.new(occlusion.outputs["Color"], inputs["Base Color"])
    output(scene, "TIFF", "16")


@named
def diced():
    """Subdivision by the size of pixels, real displacement, what the camera does not see."""
    scene = base()
    scene.cycles.feature_set = "EXPERIMENTAL"
    scene.render.use_simplify = scene.cycles.use_camera_cull = True
    floor = bpy.data.objects["Plane"]
    floor.cycles.use_adaptive_subdivision = floor.cycles.use_camera_cull = True
    floor.modifiers.new("fine", "SUBSURF").subdivision_type = "SIMPLE"
    scene.cycles.dicing_rate = 4
    material = bpy.data.materials["floor"]
    material.cycles.displacement_method = "DISPLACEMENT"
    tree = material.node_tree
    noise, displace = tree.nodes.new("ShaderNodeTexNoise"), tree.nodes.new("ShaderNodeDisplacement")
    tree.links.new(noise.outputs[0], displace.inputs["Height"])
    tree.links.new(displace.outputs[0], tree.nodes["Material Output"].inputs["Displacement"])


@named
def caught():
    """A shadow catcher, vectors that the compositor blurs by, several lights, kept data."""
    scene = base()
    scene.render.use_persistent_data = True
    bpy.data.objects["Plane"].is_shadow_catcher = True
    scene.render.film_transparent = True
    layer = scene.view_layers[0]
    layer.cycles.use_pass_shadow_catcher = layer.use_pass_vector = layer.use_pass_z = True
    for i in range(6):
        bpy.ops.object.light_add(type="POINT", location=(i - 3, -2, 3))
        bpy.context.object.data.energy = 40
    tree, first, end = compositor(scene)
    blur = tree.nodes.new("CompositorNodeVecBlur")
    tree.links.new(first.outputs["Depth"], blur.inputs["Z"])
    tree.links.new(first.outputs["Vector"], blur.inputs["Speed"])
    chain(tree, first, end, blur)


@named
def around():
    """A panorama in tiles, with two eyes, of a film."""
    scene = base()
    camera = scene.camera.data
    camera.type = "PANO"
    owner = camera if hasattr(camera, "panorama_type") else camera.cycles  # 4.0
    owner.panorama_type = "EQUIRECTANGULAR"
    scene.cycles.use_auto_tile, scene.cycles.tile_size = True, 16
    scene.render.use_multiview = True
    output(scene, "FFMPEG")


@named
def adaptive():
    """Adaptive sampling that ends pixels, at edges that are noisy for long."""
    scene = base(samples=96)
    scene.cycles.use_adaptive_sampling = True
    scene.cycles.adaptive_threshold, scene.cycles.adaptive_min_samples = 0.08, 8
    scene.render.resolution_x, scene.render.resolution_y = 48, 96
    scene.cycles.use_auto_tile = False


for name in ASKED or SCENES:
    SCENES[name]()
    bpy.ops.wm.save_as_mainfile(filepath=os.path.join(FOLDER, name + ".blend"), compress=True)
