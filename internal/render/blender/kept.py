"""Which scenes Cycles may keep from one frame to the next.

With persistent data Cycles reads again only what Blender's dependency graph reports as
changed, and only of the kinds that it asks about (BlenderSync::sync_recalc): materials,
lights, worlds, meshes, volumes, and objects that are lights or have a geometry. It reads
cameras and most render settings for every frame. It does not ask about point clouds,
curves, particles, collections, images or Simplify, and it finds geometry that nodes make by
the address of data that is made again in every frame. There it shows the frame before.

So a scene is kept when everything in it is of a kind on these lists, and so is everything
that changes. Each entry has its proof: the report that Cycles gets of a change. Everything
else is rendered without kept data. docs/internal/frames.md has the list, docs/internal/corpus.md the scenes
that were compared.
"""

import re

import bpy

# Objects whose geometry is a mesh that Blender owns, lights, and what is not rendered.
# A change of a mesh, by modifiers too, is an update of its object's geometry.
OBJECTS = {"MESH", "LIGHT", "CAMERA", "EMPTY", "ARMATURE", "LATTICE", "SPEAKER", "LIGHT_PROBE"}

# Modifiers that make a mesh of a mesh, by settings and objects alone: anything that changes
# their result updates the object's geometry.
MODIFIERS = {
    "ARMATURE", "ARRAY", "BEVEL", "BOOLEAN", "CAST", "CORRECTIVE_SMOOTH", "DATA_TRANSFER", "DECIMATE", "EDGE_SPLIT", "HOOK",
    "LAPLACIANDEFORM", "LAPLACIANSMOOTH", "LATTICE", "MASK", "MESH_DEFORM", "MIRROR", "MULTIRES", "NORMAL_EDIT", "REMESH", "SCREW",
    "SHRINKWRAP", "SIMPLE_DEFORM", "SKIN", "SMOOTH", "SOLIDIFY", "SUBSURF", "SURFACE_DEFORM", "TRIANGULATE", "UV_PROJECT", "UV_WARP",
    "VERTEX_WEIGHT_EDIT", "VERTEX_WEIGHT_MIX", "VERTEX_WEIGHT_PROXIMITY", "WEIGHTED_NORMAL", "WELD", "WIREFRAME",
}

# Geometry nodes that only set how a mesh is shaded: what Blender 4.1 made of Auto Smooth.
MESH_NODES = {
    "NodeGroupInput", "NodeGroupOutput", "NodeReroute", "NodeFrame", "GeometryNodeSetShadeSmooth", "GeometryNodeInputShadeSmooth",
    "GeometryNodeInputEdgeSmooth", "GeometryNodeInputMeshEdgeAngle", "FunctionNodeCompare", "FunctionNodeBooleanMath", "ShaderNodeMath",
}

# What may be animated, by where Blender keeps it. An object's place is an update of its
# transform, and a pose or a shape one of its geometry. Values of a light's or a world's own
# nodes update that light or world, all of whose nodes Cycles then reads again. So it does
# with materials, but what it worked out of them for the geometry stays: the generator of
# random scenes found one that differs (3.4.1). Cameras, seed and colours it does not keep.
SOCKETS = r'nodes\["[^"]*"\]\.((inputs|outputs)\[\d+\]\.default_value|color_ramp\.)'
MOVING = {
    "objects": r'(delta_)?(location|rotation_\w+|scale)$|pose\.bones\[|constraints\[|\["',
    "armatures": r'\["',
    "shape_keys": r'key_blocks\["[^"]*"\]\.value$|eval_time$',
    "cameras": r"",
    "lights": r"(energy|color|shadow_soft_size|size|size_y|spot_size|spot_blend|angle)$",
    "scenes": r'cycles\.seed$|view_settings\.|\["',
    "speakers": r"",
    "masks": r"",
}
TREES = {"worlds": SOCKETS, "lights": SOCKETS, "scenes": r"nodes\["}  # a scene's tree is its compositor

# Shader nodes that read data for which there is no update: other objects, properties, files
# by frame.
UNTOLD_NODES = {"TEX_POINTDENSITY", "SCRIPT", "PARTICLE_INFO", "HAIR_INFO", "POINT_INFO"}


def doubt(scene, objects):
    """The first thing in a scene that is not known to be safe; "" where all of it is. The
    scene's objects are those of its collections and of what they instance."""
    for found in (doubt_of_scene(scene), doubt_of_objects(objects), doubt_of_shaders(), doubt_of_animation()):
        if found:
            return found
    return ""


def doubt_of_scene(scene):
    render = scene.render
    if sum(layer.use for layer in scene.view_layers) != 1 and not render.use_single_layer:
        return "several view layers"
    if scene.cycles.feature_set == "EXPERIMENTAL":
        return "experimental features"
    for setting in ("use_motion_blur", "use_freestyle", "use_multiview"):
        if getattr(render, setting):
            return setting[4:].replace("_", " ")
    if scene.background_set is not None:
        return "a background scene"
    return ""


def doubt_of_objects(objects):
    for thing in objects:
        if thing.type not in OBJECTS:
            return "an object of type " + thing.type
        if thing.instance_type not in ("NONE", "COLLECTION"):
            return "instances on " + thing.instance_type
        if len(thing.particle_systems) > 0:
            return "particles"
        if thing.rigid_body is not None:
            return "a rigid body"
        linking = getattr(thing, "light_linking", None)  # 4.0
        if linking is not None and (linking.receiver_collection or linking.blocker_collection):
            return "light linking"
        for modifier in thing.modifiers:
            if modifier.type not in MODIFIERS and not only_shades(modifier):
                return "a modifier of type " + modifier.type
    return ""


def only_shades(modifier):
    tree = getattr(modifier, "node_group", None)
    return modifier.type == "NODES" and tree is not None and all(node.bl_idname in MESH_NODES for node in tree.nodes)


def doubt_of_shaders():
    data = bpy.data
    for material in data.materials:
        settings = [getattr(material, "displacement_method", "BUMP"), getattr(material.cycles, "displacement_method", "BUMP")]
        if any(method != "BUMP" for method in settings):
            return "true displacement"
    trees = [owner.node_tree for owners in (data.materials, data.worlds, data.lights) for owner in owners]
    trees.extend(tree for tree in data.node_groups if tree.bl_idname == "ShaderNodeTree")
    for tree in trees:
        for node in tree.nodes if tree is not None else ():
            found = doubt_of_node(node)
            if found:
                return found
    return ""


def doubt_of_node(node):
    if node.type in UNTOLD_NODES:
        return "a node of type " + node.type
    if node.type in ("OUTPUT_MATERIAL", "OUTPUT_WORLD") and node.inputs["Volume"].is_linked:
        return "a volume"
    if node.type == "ATTRIBUTE" and getattr(node, "attribute_type", "GEOMETRY") != "GEOMETRY":
        return "an attribute of an object"
    if getattr(node, "object", None) is not None:
        return "a node that follows an object"
    image = getattr(node, "image", None)
    if image is not None and image.source in ("SEQUENCE", "MOVIE"):
        return "an image that changes"
    return ""


def doubt_of_animation():
    for name in dir(bpy.data):
        kind = getattr(bpy.data, name)
        if not isinstance(kind, bpy.types.bpy_prop_collection):
            continue
        for owner in kind:
            found = doubt_of_curves(owner, MOVING.get(name)) or doubt_of_curves(getattr(owner, "node_tree", None), TREES.get(name))
            if found:
                return found
    return ""


def doubt_of_curves(owner, may):
    """Whether something is animated that is not to be."""
    data = getattr(owner, "animation_data", None)
    if data is None:
        return ""
    for path in animated_paths(data):
        if may is None or path is None or not re.match(may, path):
            return "animation of %s of %s" % (path, owner.bl_rna.identifier)
    return ""


def animated_paths(data):
    """The paths of drivers and keyframes; None for an action that cannot be read."""
    yield from (curve.data_path for curve in data.drivers)
    strips = [strip for track in data.nla_tracks for strip in track.strips]
    while strips:
        strip = strips.pop()
        strips.extend(getattr(strip, "strips", ()))
        yield from paths_of(strip.action)
    yield from paths_of(data.action)


def paths_of(action):
    if action is None:
        return []
    curves = getattr(action, "fcurves", None)
    return [None] if curves is None else [curve.data_path for curve in curves]
