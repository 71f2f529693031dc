"""Gives every number with a fraction that a curve can set a value of its own, saves the file, and
says what it has set: a line of JSON for each, with the kind of node, the path and its values.

    blender -b --factory-startup --python scripts/scenes/contentkey_values.py -- FILE

scripts/values finds the values in the file.
"""

import json
import sys

import bpy

FILE = sys.argv[sys.argv.index("--") + 1]


def add(name, data):
    thing = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(thing)
    return thing


def attempt(make):
    """What this Blender cannot make is left out."""
    try:
        return make()
    except (AttributeError, RuntimeError, TypeError, ValueError):
        return None


def kinds(of):
    return [item.identifier for item in of.bl_rna.properties["type"].enum_items]


def make():
    bpy.ops.wm.read_factory_settings(use_empty=True)
    mesh = bpy.data.meshes.new("mesh")
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 1)], [], [(0, 1, 2)])
    for kind in kinds(bpy.types.Modifier):
        for data in (mesh, None):
            thing = add(kind, data or bpy.data.curves.new(kind, "CURVE"))
            if attempt(lambda: thing.modifiers.new(kind, kind)) is not None:
                break
    for kind in kinds(bpy.types.Light):
        add("light", bpy.data.lights.new(kind, kind))
    for kind in ("CURVE", "SURFACE", "FONT"):
        add("curve", bpy.data.curves.new(kind, kind))
    add("camera", bpy.data.cameras.new("camera"))
    add("lattice", bpy.data.lattices.new("lattice"))
    add("metaball", bpy.data.metaballs.new("metaball"))
    for kind in kinds(bpy.types.Texture):
        bpy.data.textures.new(kind, kind).use_fake_user = True
    bpy.data.worlds.new("world").use_fake_user = True
    bpy.data.materials.new("material").use_fake_user = True
    shape = add("shape", mesh.copy())
    shape.shape_key_add(name="Basis")
    shape.shape_key_add(name="Other")
    rig = add("rig", bpy.data.armatures.new("rig"))
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    bone = rig.data.edit_bones.new("Bone")
    bone.tail = (0, 0, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.scene.use_nodes = True
    bpy.data.worlds[0].use_nodes = True
    bpy.data.materials[0].use_nodes = True
    bpy.data.node_groups.new("geometry", "GeometryNodeTree").use_fake_user = True
    for kind in dir(bpy.types):
        of = getattr(bpy.types, kind)
        if isinstance(of, type) and issubclass(of, bpy.types.Node):
            for tree in trees():
                if attempt(lambda: tree.nodes.new(kind)):
                    break
    for kind in kinds(bpy.types.Constraint):
        attempt(lambda: add(kind, mesh).constraints.new(kind))
        attempt(lambda: rig.pose.bones[0].constraints.new(kind))


def trees():
    yield bpy.data.materials[0].node_tree
    yield bpy.data.worlds[0].node_tree
    yield bpy.context.scene.node_tree
    yield from bpy.data.node_groups


def owners():
    for tree in trees():
        yield from tree.nodes
    for name in ("objects", "lights", "cameras", "worlds", "materials", "curves", "metaballs", "lattices", "textures", "shape_keys"):
        for owner in getattr(bpy.data, name):
            yield owner
            for part in ("modifiers", "constraints", "key_blocks"):
                yield from getattr(owner, part, ())
            for bone in getattr(getattr(owner, "pose", None), "bones", ()):
                yield bone
                yield from bone.constraints
            for part in ("dof", "mist_settings", "light_settings"):
                if getattr(owner, part, None) is not None:
                    yield getattr(owner, part)


def numbers(owner):
    drawn = bpy.types.Node.bl_rna.properties.keys() if isinstance(owner, bpy.types.Node) else ()
    for prop in owner.bl_rna.properties:
        if prop.identifier in drawn:  # where the editor shows the node
            continue
        if prop.type == "FLOAT" and prop.is_animatable and not prop.is_readonly and prop.array_length <= 4:
            yield prop


def main():
    make()
    found, n = [], 0
    for owner in owners():
        for prop in numbers(owner):
            low, high = max(prop.hard_min, -1), min(prop.hard_max, max(prop.hard_min, -1) + 1)
            values = []
            for _ in range(max(1, prop.array_length)):
                n += 1
                values.append(low + (high - low) * (0.1 + 0.8 * (n * 0.6180339887498949 % 1)))
            if attempt(lambda: setattr(owner, prop.identifier, values if prop.array_length else values[0]) or True):
                found.append((owner, prop))
    bpy.ops.wm.save_as_mainfile(filepath=FILE, compress=False)
    for owner, prop in found:
        value = getattr(owner, prop.identifier)
        path = attempt(lambda: owner.path_from_id(prop.identifier)) or prop.identifier
        line = {"node": getattr(owner, "bl_idname", ""), "path": path, "values": list(value) if prop.array_length else [value]}
        sys.stdout.write("VALUE " + json.dumps(line) + "\n")


main()
