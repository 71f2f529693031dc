"""Makes random scenes and animates random properties of them, for fuzz.py and revisions.py.
"""

import hashlib
import struct

import bpy

FRAMES = [1, 2, 3]


# -- scenes --------------------------------------------------------------------


def stage(rng):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.render.engine = "CYCLES"
    scene.cycles.device = "CPU"
    scene.cycles.samples = rng.choice((1, 2))
    scene.cycles.use_denoising = False
    scene.cycles.use_adaptive_sampling = False
    scene.cycles.use_animated_seed = rng.random() < 0.2
    scene.render.resolution_x, scene.render.resolution_y, scene.render.resolution_percentage = 32, 24, 100
    scene.frame_start, scene.frame_end = FRAMES[0], FRAMES[-1]
    image = scene.render.image_settings
    image.file_format, image.color_depth, image.color_mode = "PNG", "16", "RGBA"
    scene.view_settings.view_transform = "Standard"
    for name in dir(scene.render):
        if name.startswith("use_stamp"):
            setattr(scene.render, name, False)
    scene.world = bpy.data.worlds.new("World")
    scene.world.use_nodes = True
    scene.world.node_tree.nodes["Background"].inputs[0].default_value = (0.2, 0.25, 0.3, 1)
    scene.camera = add("camera", bpy.data.cameras.new("Camera"), (0, -8, 2.5), (1.3, 0, 0))
    add("sun", bpy.data.lights.new("Sun", "SUN"), (3, -3, 5), (0.6, 0.3, 0)).data.energy = 2
    floor = plane("floor", 6)
    floor.location.z = -1
    dress(floor, (0.5, 0.5, 0.5, 1))
    return scene


def add(name, data, location=(0, 0, 0), rotation=(0, 0, 0), collection=None):
    thing = bpy.data.objects.new(name, data)
    thing.location, thing.rotation_euler = location, rotation
    (collection or bpy.context.scene.collection).objects.link(thing)
    return thing


def plane(name, size, collection=None):
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([(-size, -size, 0), (size, -size, 0), (size, size, 0), (-size, size, 0)], [], [(0, 1, 2, 3)])
    return add(name, mesh, collection=collection)


def cube(rng, name="cube", collection=None):
    mesh = bpy.data.meshes.new(name)
    corners = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    mesh.from_pydata(corners, [], [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)])
    thing = add(name, mesh, [rng.uniform(-2, 2), rng.uniform(-1, 1), rng.uniform(-0.5, 1)], collection=collection)
    thing.scale = [rng.uniform(0.4, 0.9)] * 3
    return thing


def dress(thing, colour=(0.7, 0.3, 0.1, 1)):
    material = bpy.data.materials.new(thing.name)
    material.use_nodes = True
    material.node_tree.nodes["Principled BSDF"].inputs["Base Color"].default_value = colour
    thing.data.materials.append(material)
    return material


def link(tree, start, end):
    tree.links.new(start, end)


def nodes_of(thing, *names):
    """A geometry nodes modifier with nodes in a line, from its input to its output."""
    tree = bpy.data.node_groups.new("Geometry", "GeometryNodeTree")
    if hasattr(tree, "interface"):  # 4.0
        tree.interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
        tree.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    else:
        tree.inputs.new("NodeSocketGeometry", "Geometry")
        tree.outputs.new("NodeSocketGeometry", "Geometry")
    made = [tree.nodes.new(name) for name in ("NodeGroupInput",) + names + ("NodeGroupOutput",)]
    for before, after in zip(made, made[1:]):
        link(tree, before.outputs[0], next(s for s in after.inputs if s.type == "GEOMETRY"))
    for node in made:
        if node.bl_idname == "GeometryNodeSetMaterial":
            node.inputs["Material"].default_value = thing.data.materials[0]
    thing.modifiers.new("Nodes", "NODES").node_group = tree
    return made[1:-1]


def mesh(rng, scene):
    material = dress(cube(rng))
    tree, shader = material.node_tree, material.node_tree.nodes["Principled BSDF"]
    kind = rng.choice(("plain", "noise", "ramp", "emission", "transparent", "glass", "image"))
    if kind in ("noise", "ramp"):
        noise = tree.nodes.new("ShaderNodeTexNoise")
        link(tree, noise.outputs["Color"], shader.inputs["Base Color"])
        if kind == "ramp":
            ramp = tree.nodes.new("ShaderNodeValToRGB")
            link(tree, noise.outputs["Fac"], ramp.inputs[0])
            link(tree, ramp.outputs[0], shader.inputs["Base Color"])
    elif kind in ("emission", "transparent", "glass"):
        name = {"emission": "ShaderNodeEmission", "transparent": "ShaderNodeBsdfTransparent", "glass": "ShaderNodeBsdfGlass"}[kind]
        mix, other = tree.nodes.new("ShaderNodeMixShader"), tree.nodes.new(name)
        link(tree, shader.outputs[0], mix.inputs[1])
        link(tree, other.outputs[0], mix.inputs[2])
        link(tree, mix.outputs[0], tree.nodes["Material Output"].inputs[0])
    elif kind == "image":
        texture, mapping, where = (tree.nodes.new(name) for name in ("ShaderNodeTexImage", "ShaderNodeMapping", "ShaderNodeTexCoord"))
        texture.image = bpy.data.images.new("checks", 16, 16)
        texture.image.generated_type = "COLOR_GRID"
        link(tree, where.outputs["Generated"], mapping.inputs[0])
        link(tree, mapping.outputs[0], texture.inputs[0])
        link(tree, texture.outputs["Color"], shader.inputs["Base Color"])


def modified(rng, scene):
    thing = cube(rng, "modified")
    dress(thing)
    for kind in rng.sample(("SUBSURF", "BEVEL", "ARRAY", "MIRROR", "SOLIDIFY", "SIMPLE_DEFORM", "CAST", "WIREFRAME", "SCREW", "DISPLACE", "WAVE", "BUILD", "DECIMATE", "REMESH"), 2):
        thing.modifiers.new(kind, kind)


def shape(rng, scene):
    thing = cube(rng, "shape")
    dress(thing)
    thing.shape_key_add(name="Basis")
    for point in list(thing.shape_key_add(name="Taller").data)[::2]:
        point.co.z += 1.5


def armature(rng, scene):
    rig = add("rig", bpy.data.armatures.new("rig"))
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    bone = rig.data.edit_bones.new("bone")
    bone.head, bone.tail = (0, 0, 0), (0, 0, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    thing = cube(rng, "posed")
    dress(thing)
    thing.modifiers.new("Armature", "ARMATURE").object = rig
    thing.vertex_groups.new(name="bone").add([1, 3, 5, 7], 1, "REPLACE")


def lamp(rng, scene):
    kind = rng.choice(("POINT", "SUN", "SPOT", "AREA"))
    light = add("lamp", bpy.data.lights.new("lamp", kind), (rng.uniform(-3, 3), -2, 3), (0.5, rng.uniform(-0.5, 0.5), 0))
    light.data.energy = 2 if kind == "SUN" else 300
    if rng.random() < 0.5:
        light.data.use_nodes = True


def sky(rng, scene):
    tree = scene.world.node_tree
    kind = rng.choice(("ShaderNodeTexSky", "ShaderNodeTexNoise", "ShaderNodeTexGradient", "ShaderNodeTexEnvironment"))
    node = tree.nodes.new(kind)
    if kind == "ShaderNodeTexEnvironment":
        node.image = bpy.data.images.new("sky", 16, 8)
        node.image.generated_type = "COLOR_GRID"
    link(tree, node.outputs["Color"], tree.nodes["Background"].inputs[0])


def fog(rng, scene):
    owner = scene.world if rng.random() < 0.3 else dress(cube(rng, "fog"))
    tree = owner.node_tree
    volume = tree.nodes.new("ShaderNodeVolumePrincipled")
    volume.inputs["Density"].default_value = 0.05 if owner is scene.world else 1
    link(tree, volume.outputs[0], next(node for node in tree.nodes if node.bl_idname.startswith("ShaderNodeOutput")).inputs["Volume"])


def points(rng, scene):
    thing = cube(rng, "points")
    dress(thing)
    nodes_of(thing, "GeometryNodeMeshToPoints", rng.choice(("GeometryNodeSetPosition", "GeometryNodeSetPointRadius")), "GeometryNodeSetMaterial")[0].inputs["Radius"].default_value = 0.2


def strands(rng, scene):
    thing = cube(rng, "strands")
    dress(thing)
    nodes_of(thing, "GeometryNodeMeshToCurve", rng.choice(("GeometryNodeSetCurveRadius", "GeometryNodeResampleCurve")), "GeometryNodeSetMaterial")


def grown(rng, scene):
    thing = cube(rng, "grown")
    dress(thing)
    nodes_of(thing, rng.choice(("GeometryNodeSubdivideMesh", "GeometryNodeExtrudeMesh", "GeometryNodeTriangulate", "GeometryNodeScaleElements")), rng.choice(("GeometryNodeSetPosition", "GeometryNodeTransform")), "GeometryNodeSetMaterial")


def scattered(rng, scene):
    thing, part = cube(rng, "scattered"), cube(rng, "part")
    dress(thing), dress(part, (0.1, 0.6, 0.2, 1))
    part.scale = [0.2] * 3
    spread, = nodes_of(thing, "GeometryNodeInstanceOnPoints")
    info = spread.id_data.nodes.new("GeometryNodeObjectInfo")
    info.inputs["Object"].default_value = part
    link(spread.id_data, info.outputs["Geometry"], spread.inputs["Instance"])


def cloud(rng, scene):
    thing = cube(rng, "cloud")
    material = dress(thing)
    tree = material.node_tree
    link(tree, tree.nodes.new("ShaderNodeVolumePrincipled").outputs[0], tree.nodes["Material Output"].inputs["Volume"])
    nodes_of(thing, "GeometryNodeMeshToVolume", "GeometryNodeSetMaterial")


def hair(rng, scene):
    thing = cube(rng, "hair")
    dress(thing)
    thing.modifiers.new("hair", "PARTICLE_SYSTEM")
    settings = thing.particle_systems[0].settings
    settings.type, settings.count, settings.hair_length = "HAIR", 40, 1


def curve(rng, scene):
    data = bpy.data.curves.new("curve", "CURVE")
    spline = data.splines.new("POLY")
    spline.points.add(3)
    for at, point in enumerate(spline.points):
        point.co = (at, at % 2, 0, 1)
    data.dimensions, data.bevel_depth = "3D", 0.2
    dress(add("curve", data, (-2, 0, 0)))


def text(rng, scene):
    data = bpy.data.curves.new("text", "FONT")
    data.body, data.extrude = "svc", 0.1
    dress(add("text", data, (-1, -1, 0), (1.2, 0, 0)))


def blob(rng, scene):
    data = bpy.data.metaballs.new("blob")
    for x in (0, 1):
        data.elements.new().co = (x, 0, 0)
    dress(add("blob", data))


def instanced(rng, scene):
    group = bpy.data.collections.new("group")
    dress(cube(rng, "of the group", group), (0.1, 0.2, 0.7, 1))
    for at in range(2):
        thing = add("instance", None, (at * 2 - 1, 0, 1))
        thing.instance_type, thing.instance_collection = "COLLECTION", group


def on_vertices(rng, scene):
    thing, part = cube(rng, "holder"), cube(rng, "part")
    dress(part)
    part.parent, part.scale, thing.instance_type = thing, [0.2] * 3, rng.choice(("VERTS", "FACES"))


def composited(rng, scene):
    scene.use_nodes = True
    tree = scene.node_tree
    layers, end = (next(node for node in tree.nodes if node.type == kind) for kind in ("R_LAYERS", "COMPOSITE"))
    node = tree.nodes.new(rng.choice(("CompositorNodeBlur", "CompositorNodeGamma", "CompositorNodeHueSat", "CompositorNodeLensdist", "CompositorNodeTransform", "CompositorNodeExposure")))
    link(tree, layers.outputs[0], node.inputs["Image"])
    link(tree, node.outputs[0], end.inputs[0])


def linked(rng, scene):
    thing = cube(rng, "lit")
    dress(thing)
    if not hasattr(thing, "light_linking"):  # 4.0
        return
    light = next(o for o in scene.objects if o.type == "LIGHT")
    group = bpy.data.collections.new("receivers")
    group.objects.link(thing)
    setattr(light.light_linking, rng.choice(("receiver_collection", "blocker_collection")), group)


def layers(rng, scene):
    scene.view_layers.new("second")


def blurred(rng, scene):
    scene.render.use_motion_blur = True


def caught(rng, scene):
    thing = cube(rng, "caught")
    dress(thing)
    thing.is_shadow_catcher = rng.random() < 0.5
    thing.is_holdout = not thing.is_shadow_catcher


def simplified(rng, scene):
    scene.render.use_simplify = True


def looked_through(rng, scene):
    scene.camera.data.type = rng.choice(("PERSP", "ORTHO", "PANO"))
    scene.camera.data.dof.use_dof = True


# What the rules let a worker keep comes more often.
PLAIN = (mesh, mesh, modified, shape, armature, lamp, lamp, sky, instanced, composited, looked_through)
PARTS = (fog, points, strands, grown, scattered, cloud, hair, curve, text, blob, on_vertices, linked, layers, blurred, caught, simplified)


# -- animation -----------------------------------------------------------------

# Properties that change nothing of a picture or make it take long.
LEFT_OUT = {
    "name", "samples", "resolution_x", "resolution_y", "resolution_percentage", "engine", "use_persistent_data", "device", "feature_set",
    "frame_start", "frame_end", "frame_step", "tile_size", "use_auto_tile", "fps", "fps_base", "threads", "threads_mode", "filepath",
    "use_compositing", "use_sequencer", "use_multiview", "pixel_aspect_x", "pixel_aspect_y", "time_limit", "use_denoising", "use_adaptive_sampling",
    "use_lock_interface", "use_overwrite", "use_placeholder", "use_file_extension", "frame_map_new", "frame_map_old", "use_freestyle",
    "octree_depth", "voxel_size", "count", "child_nbr", "rendered_child_count", "display_step", "render_step",
}


# What every ID, node and modifier has, of which no picture follows.
COMMON = {prop.identifier for of in (bpy.types.ID, bpy.types.Node, bpy.types.Modifier) for prop in of.bl_rna.properties} - {"mute"}


def animatable(thing):
    for prop in thing.bl_rna.properties:
        name = prop.identifier
        if name in COMMON or (isinstance(thing, bpy.types.NodeSocket) and name != "default_value"):
            continue
        if prop.is_readonly or not prop.is_animatable or name in LEFT_OUT or name.startswith(("show_", "use_stamp", "stamp_", "select", "is_selected", "preview_", "viewport_", "metadata_", "sync_", "audio_", "gravity", "use_gravity", "simplify_gpencil", "display_", "grease_", "bl_", "bake_", "debug_", "ui_")):
            continue
        if prop.type in ("FLOAT", "INT", "BOOLEAN") or (prop.type == "ENUM" and not prop.is_enum_flag):
            yield prop


def owners(scene):
    """What can be animated, each with what it is: the ID and the struct in it."""
    yield from [scene, scene.cycles, scene.render, scene.view_settings] + list(scene.view_layers)
    for name in ("objects", "meshes", "curves", "metaballs", "armatures", "lights", "cameras", "worlds", "materials", "particles", "shape_keys", "node_groups"):
        for owner in getattr(bpy.data, name):
            yield owner
            cycles = getattr(owner, "cycles", None)
            if cycles is not None:
                yield cycles
            for part in ("modifiers", "key_blocks", "elements"):
                yield from getattr(owner, part, ())
            yield from getattr(getattr(owner, "pose", None), "bones", ())
            if getattr(owner, "dof", None) is not None:
                yield owner.dof
            yield from parts_of(owner if name == "node_groups" else getattr(owner, "node_tree", None))
    if scene.use_nodes:
        yield from parts_of(scene.node_tree)


def parts_of(tree):
    for node in tree.nodes if tree is not None else ():
        yield node
        yield from (socket for socket in node.inputs if hasattr(socket, "default_value") and not socket.is_linked and socket.enabled)
        yield from (socket for socket in node.outputs if hasattr(socket, "default_value") and node.type in ("VALUE", "RGB"))
        if hasattr(node, "color_ramp"):
            yield from node.color_ramp.elements
        if hasattr(node, "texture_mapping"):
            yield node.texture_mapping


def another(rng, prop, value):
    if prop.type == "BOOLEAN":
        return not value
    if prop.type == "ENUM":
        return rng.choice([item.identifier for item in prop.enum_items] or [value])
    low, high = max(prop.soft_min, value - 3, prop.hard_min), min(prop.soft_max, value + 3, prop.hard_max)
    if prop.type == "INT":
        return rng.randint(int(low), int(max(low, min(high, low + 4))))
    return rng.uniform(low, high) if low < high else value


def animate(rng, scene, doubt=lambda: ""):
    """Animates one property; returns its name. Kinds of owners are as likely as each other,
    however many there are. What doubt says something of is not animated."""
    kinds = {}
    for owner in owners(scene):
        kinds.setdefault(owner.bl_rna.identifier, []).append(owner)
    for _ in range(50):
        kind = rng.choice(sorted(kinds))
        owner = rng.choice(kinds[kind])
        choices = list(animatable(owner))
        if not choices:
            continue
        prop = rng.choice(choices)
        name = prop.identifier
        try:
            if not key(rng, owner, prop, name):
                continue
            if doubt():
                owner.id_data.animation_data_clear()
            else:
                return "%s.%s of %s" % (kind, name, owner.id_data.bl_rna.identifier)
        except (TypeError, ValueError, AttributeError, RuntimeError):
            continue
    return ""


def key(rng, owner, prop, name):
    value = getattr(owner, name)
    listed = not isinstance(value, (bool, int, float, str))
    index = rng.randrange(len(value)) if listed else -1
    if not owner.keyframe_insert(name, index=index, frame=FRAMES[0]):
        return False
    if listed:
        other = another(rng, prop, value[index])
        value[index] = other
    else:
        setattr(owner, name, another(rng, prop, value))
    return owner.keyframe_insert(name, index=index, frame=FRAMES[-1])


# -- pictures ------------------------------------------------------------------


def render(frame):
    scene = bpy.context.scene
    scene.frame_start = scene.frame_end = frame
    path = scene.render.frame_path(frame=frame)
    bpy.ops.render.render(animation=True)
    with open(path, "rb") as file:
        return hashlib.sha256(picture(file.read())).hexdigest()


def picture(png):
    """The pixels of a PNG as they are packed, without what is written about them, such as how
    long they took."""
    at, packed = 8, b""
    while at < len(png):
        size, = struct.unpack(">I", png[at:at + 4])
        if png[at + 4:at + 8] in (b"IHDR", b"IDAT"):
            packed += png[at + 8:at + 8 + size]
        at += size + 12
    return packed
