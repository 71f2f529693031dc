"""Makes pairs of revisions: a random scene, and the same after a random edit; renders all
frames of both, and says which differ, in the picture or in a file of a File Output node.

    blender -b --factory-startup --python revisions.py -- FIRST COUNT FOLDER [EDIT...]

A pair follows from its number and the edits to choose from; without names they are all. It lies in FOLDER/NUMBER/before and after, each with a
scene.blend and its files, and becomes a line of JSON on standard output.
"""

import hashlib
import json
import os
import random
import shutil
import sys
import warnings

import bpy

FIRST, COUNT, FOLDER, *ONLY = sys.argv[sys.argv.index("--") + 1:]
sys.path.insert(0, os.path.dirname(__file__))
sys.dont_write_bytecode = True

import randomly  # noqa: E402
from randomly import PARTS, PLAIN, animatable, animate, another, cube, dress, link, owners, picture, render, stage  # noqa: E402

warnings.simplefilter("ignore")

FRAMES = [1, 2, 3, 4, 5, 6]
WRITTEN = "written"  # next to the .blend: what File Output nodes write
randomly.FRAMES[:] = FRAMES


# -- more to edit --------------------------------------------------------------


def textured(rng, scene):
    image = bpy.data.images.new("picture", 8, 8)
    image.pixels[:] = [rng.random() for _ in range(8 * 8 * 4)]
    image.filepath_raw, image.file_format = os.path.join(here("before"), "picture.png"), "PNG"
    image.save()
    image = bpy.data.images.load(os.path.join(here("before"), "picture.png"))
    tree = dress(cube(rng, "textured")).node_tree
    texture, where = tree.nodes.new("ShaderNodeTexImage"), tree.nodes.new("ShaderNodeTexCoord")
    texture.image = image
    link(tree, where.outputs["Generated"], texture.inputs[0])
    link(tree, texture.outputs["Color"], tree.nodes["Principled BSDF"].inputs["Base Color"])
    if rng.random() < 0.3:
        image.pack()
    else:
        image.filepath = "//picture.png"


def from_library(rng, scene):
    """An object of a library: linked, instanced with its collection, or overridden."""
    kind = rng.choice(("object", "object", "collection", "override"))
    thing, spare = cube(rng, "of the library"), cube(rng, "spare")
    dress(thing), dress(spare)
    if rng.random() < 0.5:
        for frame in (1, 3, 5):
            thing.keyframe_insert("location", frame=frame)
            thing.location.z += 0.3
    path = os.path.join(here("before"), "library.blend")
    group = bpy.data.collections.new("group")
    group.objects.link(thing)
    bpy.data.libraries.write(path, {thing, spare, group}, fake_user=True)
    for made in (thing, spare):
        bpy.data.objects.remove(made)
    bpy.data.collections.remove(group)
    with bpy.data.libraries.load(path, link=True) as (inside, wanted):
        if kind == "collection":
            wanted.collections = ["group"]
        else:
            wanted.objects = ["of the library"]
    bpy.data.libraries[0].filepath = "//library.blend"
    if kind == "collection":
        instance = bpy.data.objects.new("instance", None)
        instance.instance_type, instance.instance_collection = "COLLECTION", wanted.collections[0]
        scene.collection.objects.link(instance)
        return
    scene.collection.objects.link(wanted.objects[0])
    if kind == "override":
        own = wanted.objects[0].override_create(remap_local_usages=True)
        own.location.x += 0.5
        if rng.random() < 0.5:
            own.rotation_euler.z = 0.3


def library_of_the_library(rng):
    """Gives the object of the library a material of another library, sometimes."""
    path = os.path.join(here("before"), "library.blend")
    if not os.path.exists(path) or rng.random() < 0.5:
        return
    material = bpy.data.materials.new("nested")
    material.use_nodes = True
    spare = bpy.data.materials.new("spare of the nested")
    spare.use_nodes = True
    bpy.data.libraries.write(os.path.join(here("before"), "nested.blend"), {material, spare}, fake_user=True)
    bpy.ops.wm.open_mainfile(filepath=path)
    with bpy.data.libraries.load(os.path.join(here("before"), "nested.blend"), link=True) as (inside, wanted):
        wanted.materials = ["nested"]
    bpy.data.libraries[0].filepath = "//nested.blend"
    bpy.data.objects["of the library"].data.materials[0] = wanted.materials[0]
    bpy.ops.wm.save_as_mainfile(filepath=path, relative_remap=False)


def variable_of(driver, thing, path):
    """A variable x of a driver that reads a property, or a transform."""
    variable = driver.variables.new()
    variable.name = "x"
    if path.startswith("LOC"):
        variable.type = "TRANSFORMS"
        variable.targets[0].id, variable.targets[0].transform_type = thing, path
    else:
        variable.targets[0].id, variable.targets[0].data_path = thing, path


def driven(rng, scene):
    thing = cube(rng, "driven")
    dress(thing)
    kind = rng.choice(("frame", "property", "python", "other", "path", "shape", "itself", "divided", "muted", "material"))
    if kind == "shape":
        thing.shape_key_add(name="Basis")
        for point in list(thing.shape_key_add(name="Driven").data)[::2]:
            point.co.z += 1
        driver = thing.data.shape_keys.key_blocks["Driven"].driver_add("value").driver
    elif kind == "material":
        driver = thing.data.materials[0].node_tree.nodes["Principled BSDF"].inputs["Base Color"].driver_add("default_value", 1).driver
    else:
        driver = thing.driver_add("location", rng.randrange(3)).driver
    driver.type, driver.expression = "SCRIPTED", "x * 2"
    if kind == "frame":
        driver.expression = "frame / 4"
    elif kind == "python":
        driver.expression = "bpy.context.scene.frame_current"
    elif kind == "itself":
        variable_of(driver, thing, "LOC_Z")
    elif kind in ("other", "path", "divided", "shape", "material"):
        other = cube(rng, "leader")
        dress(other)
        for frame in (1, 3, 6):
            other.location.x = rng.uniform(-1, 1)
            other.keyframe_insert("location", index=0, frame=frame)
        variable_of(driver, other, "location[0]" if kind == "path" else "LOC_X")
        if kind == "divided":
            driver.expression = "1 / x"
        if rng.random() < 0.3:
            other.parent = thing
    else:
        thing["number"] = 0.5
        variable_of(driver, thing, '["number"]')
        if rng.random() < 0.5:
            for frame, value in ((1, 0.2), (5, 0.9)):
                thing["number"] = value
                thing.keyframe_insert('["number"]', frame=frame)
        if kind == "muted":
            thing.animation_data.drivers[0].mute = True


def rigged(rng, scene):
    """An arm that inverse kinematics bends, towards a bone of its own rig."""
    rig = randomly.add("arm", bpy.data.armatures.new("arm"))
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    bones = rig.data.edit_bones
    for name, head, tail, parent in (
            ("root", (0, 0, -1), (0, 0, -0.5), None), ("upper", (0, 0, 0), (0, 0.1, 1), "root"), ("lower", (0, 0.1, 1), (0, 0, 2), "upper"),
            ("target", (0, 0, 2), (0, 0, 2.4), "lower" if rng.random() < 0.2 else "root"), ("pole", (0, 2, 1), (0, 2, 1.4), "root")):
        bone = bones.new(name)
        bone.head, bone.tail, bone.parent = head, tail, bones[parent] if parent else None
    bpy.ops.object.mode_set(mode="OBJECT")
    pose = rig.pose.bones
    solver = pose["lower"].constraints.new("IK")
    solver.target, solver.subtarget, solver.chain_count = rig, "target", rng.choice((0, 1, 2, 2, 2))
    if rng.random() < 0.5:
        solver.pole_target, solver.pole_subtarget = rig, "pole"
    if rng.random() < 0.4:
        follow = pose[rng.choice(("target", "pole", "upper"))].constraints.new(rng.choice(("COPY_ROTATION", "COPY_LOCATION", "DAMPED_TRACK")))
        follow.target, follow.subtarget = rig, rng.choice(("root", "pole", "target", "lower"))
    for frame in (1, 4, 6):
        pose["target"].location = [rng.uniform(-1, 1) for _ in range(3)]
        pose["target"].keyframe_insert("location", frame=frame)
    kind = rng.choice(("none", "rig", "bone", "driven"))
    if kind != "none":
        owner, path = (pose["root"], 'pose.bones["root"]["switch"]') if kind == "bone" else (rig, '["switch"]')
        for frame, value in ((1, 1.0), (5, 0.3)):
            owner["switch"] = value
            owner.keyframe_insert('["switch"]', frame=frame)
        driver = solver.driver_add("influence").driver
        driver.type, driver.expression = "SCRIPTED", "x"
        variable_of(driver, rig, path)
        if kind == "driven":
            rig["hand"] = 0.5
            rig.animation_data.action.fcurves.remove(rig.animation_data.action.fcurves.find('["switch"]'))
            other = rig.driver_add('["switch"]').driver
            other.type, other.expression = "SCRIPTED", "x * frame / 6"
            variable_of(other, rig, '["hand"]')
    thing = cube(rng, "hand")
    dress(thing)
    thing.modifiers.new("Armature", "ARMATURE").object = rig
    thing.vertex_groups.new(name=rng.choice(("lower", "upper", "target"))).add(range(8), 1, "REPLACE")


def followers(rng, scene):
    first, second = cube(rng, "first"), cube(rng, "second")
    dress(first), dress(second)
    second.parent = first
    constraint = second.constraints.new(rng.choice(("COPY_ROTATION", "TRACK_TO", "LIMIT_LOCATION", "COPY_LOCATION", "FLOOR")))
    if hasattr(constraint, "target"):
        constraint.target = first
    first.keyframe_insert("location", frame=2)
    first.location.x += 1
    first.keyframe_insert("location", frame=5)
    if rng.random() < 0.2:
        first.constraints.new("COPY_LOCATION").target = second


def strips(rng, scene):
    thing = cube(rng, "in strips")
    dress(thing)
    thing.keyframe_insert("location", frame=1)
    thing.location.z += 1
    thing.keyframe_insert("location", frame=4)
    action = thing.animation_data.action
    thing.animation_data.action = None
    thing.animation_data.nla_tracks.new().strips.new("strip", 2, action)


def marked(rng, scene):
    other = bpy.data.objects.new("other camera", scene.camera.data)
    other.location, other.rotation_euler = (1, -7, 3), (1.2, 0, 0.1)
    scene.collection.objects.link(other)
    for name, frame, camera in (("a", 1, scene.camera), ("b", 4, other)):
        scene.timeline_markers.new(name, frame=frame).camera = camera


def tuned(rng, scene):
    """Animates settings of Cycles that change nothing but the frame itself."""
    for name in rng.sample((
            "film_exposure", "filter_width", "light_sampling_threshold", "sample_clamp_direct", "sample_clamp_indirect", "blur_glossy", "caustics_reflective",
            "film_transparent_glass", "volume_step_rate", "use_fast_gi", "ao_bounces_render", "diffuse_bounces", "seed", "scrambling_distance", "pixel_filter_type",
            "adaptive_threshold", "use_animated_seed"), 3):
        prop = scene.cycles.bl_rna.properties[name]
        for frame in (1, 3, 6):
            scene.cycles.keyframe_insert(name, frame=frame)
            setattr(scene.cycles, name, another(rng, prop, getattr(scene.cycles, name)))


def written(rng, scene):
    """File Output nodes that write what the picture does not show: a pass, a node's result, another
    view layer."""
    scene.use_nodes = True
    tree = scene.node_tree
    view = scene.view_layers[0]
    view.use_pass_z, view.use_pass_normal, view.use_pass_diffuse_color = True, True, True
    if len(scene.view_layers) == 1 and rng.random() < 0.5:
        scene.view_layers.new("for files")
    for at in range(rng.choice((1, 2))):
        layers = tree.nodes.new("CompositorNodeRLayers")
        layers.layer = rng.choice(scene.view_layers).name
        source = rng.choice([socket for socket in layers.outputs if socket.enabled])
        if rng.random() < 0.5:
            node = tree.nodes.new(rng.choice(("CompositorNodeBlur", "CompositorNodeGamma", "CompositorNodeHueSat", "CompositorNodeExposure", "CompositorNodeTransform")))
            link(tree, source, node.inputs["Image"])
            source = node.outputs[0]
        out = tree.nodes.new("CompositorNodeOutputFile")
        out.base_path = "//" + WRITTEN
        out.format.file_format, out.format.color_mode, out.format.color_depth = "PNG", "RGBA", rng.choice(("8", "16"))
        out.file_slots[0].path = "file%d_" % at
        link(tree, source, out.inputs[0])


MORE = (written, written, textured, textured, from_library, driven, driven, rigged, rigged, followers, followers, strips, marked, tuned)


def curves():
    for action in bpy.data.actions:
        yield from action.fcurves


def enliven(rng):
    """Gives curves more keys, of all kinds, within the frames and around them."""
    for curve in curves():
        low, high = curve.range()
        for _ in range(rng.randrange(4)):
            at = rng.choice((rng.randint(-4, 12), rng.uniform(-4, 12)))
            curve.keyframe_points.insert(at, curve.evaluate(at) + rng.choice((0, rng.uniform(-0.5, 0.5))))
        for key in curve.keyframe_points:
            if rng.random() < 0.5:
                key.interpolation = rng.choice(("CONSTANT", "LINEAR", "BEZIER", "SINE", "BOUNCE", "ELASTIC", "BACK"))
                key.easing = rng.choice(("AUTO", "EASE_IN", "EASE_OUT"))
            if rng.random() < 0.3:
                key.handle_left_type = key.handle_right_type = rng.choice(("FREE", "VECTOR", "AUTO", "AUTO_CLAMPED"))
        if rng.random() < 0.3:
            curve.extrapolation = "LINEAR"
        if rng.random() < 0.15:
            curve.modifiers.new(rng.choice(("CYCLES", "NOISE", "STEPPED", "LIMITS")))
        curve.update()


# -- edits ---------------------------------------------------------------------
# Each returns whether it found something to edit.


def some_curve(rng):
    all_curves = [curve for curve in curves() if len(curve.keyframe_points)]
    return rng.choice(all_curves) if all_curves else None


def move_key(rng, scene):
    curve = some_curve(rng)
    if curve is None:
        return False
    key = rng.choice(curve.keyframe_points)
    key.co = (key.co[0] + rng.choice((0, rng.uniform(-0.5, 0.5))), key.co[1] + rng.uniform(-0.5, 0.5))
    curve.update()
    return True


def insert_key(rng, scene):
    curve = some_curve(rng)
    if curve is None:
        return False
    at = rng.randint(-3, 9)
    curve.keyframe_points.insert(at, curve.evaluate(at) + rng.choice((0, rng.uniform(-0.5, 0.5))))
    curve.update()
    return True


def remove_key(rng, scene):
    curve = some_curve(rng)
    if curve is None or len(curve.keyframe_points) < 2:
        return False
    curve.keyframe_points.remove(rng.choice(curve.keyframe_points))
    curve.update()
    return True


def shape_key_of_a_curve(rng, scene):
    curve = some_curve(rng)
    if curve is None:
        return False
    key = rng.choice(curve.keyframe_points)
    what = rng.choice(("handle", "interpolation", "easing", "extrapolation", "modifier", "mute"))
    if what == "handle":
        key.handle_right_type = "FREE"
        key.handle_right = (key.handle_right[0], key.handle_right[1] + 0.4)
    elif what == "interpolation":
        key.interpolation = rng.choice(("CONSTANT", "LINEAR", "BEZIER", "BOUNCE"))
    elif what == "easing":
        key.interpolation, key.easing, key.back, key.amplitude = rng.choice(("ELASTIC", "BACK")), "EASE_IN", 3, 0.5
    elif what == "extrapolation":
        curve.extrapolation = "CONSTANT" if curve.extrapolation == "LINEAR" else "LINEAR"
    elif what == "modifier":
        curve.modifiers.new(rng.choice(("CYCLES", "NOISE", "STEPPED")))
    else:
        curve.mute = not curve.mute
    curve.update()
    return True


def any_property(rng, scene):
    kinds = {}
    for owner in owners(scene):
        if owner.id_data.library is None:
            kinds.setdefault(owner.bl_rna.identifier, []).append(owner)
    for _ in range(30):
        owner = rng.choice(kinds[rng.choice(sorted(kinds))])
        choices = list(animatable(owner))
        if not choices:
            continue
        prop = rng.choice(choices)
        try:
            value = getattr(owner, prop.identifier)
            if isinstance(value, (bool, int, float, str)):
                setattr(owner, prop.identifier, another(rng, prop, value))
            else:
                index = rng.randrange(len(value))
                value[index] = another(rng, prop, value[index])
            return True
        except (TypeError, ValueError, AttributeError, RuntimeError):
            continue
    return False


def interface_only(rng, scene):
    for thing in scene.objects:
        thing.select_set(rng.random() < 0.5)
    bpy.context.view_layer.objects.active = rng.choice(scene.objects)
    for owner in list(bpy.data.materials) + list(bpy.data.worlds) + list(bpy.data.node_groups):
        tree = owner if isinstance(owner, bpy.types.NodeTree) else owner.node_tree
        for node in tree.nodes if tree else ():
            node.location, node.hide, node.select = (rng.uniform(-500, 500), 0), rng.random() < 0.5, rng.random() < 0.5
            node.label = "a note"
    for action in bpy.data.actions:
        for curve in action.fcurves:
            curve.select, curve.color_mode = rng.random() < 0.5, "CUSTOM"
            curve.color = (1, 0, 0)
    scene.cursor.location.x += 1
    scene.tool_settings.use_snap = not scene.tool_settings.use_snap
    for thing in bpy.data.objects:
        thing.use_fake_user = rng.random() < 0.5
        for modifier in thing.modifiers:
            modifier.show_expanded = False
    scene.use_preview_range, scene.frame_preview_start = True, 3
    for screen in bpy.data.screens:
        for area in screen.areas:
            if area.type == "VIEW_3D" and rng.random() < 0.5:
                area.type = "NODE_EDITOR"
    return True


def current_frame(rng, scene):
    scene.frame_set(rng.randint(2, 30))
    return True


def stored_values(rng, scene):
    """Leaves what curves and drivers set at other values, in another frame."""
    scene.frame_set(rng.randint(2, 30))
    trees = [owner.node_tree for kind in (bpy.data.materials, bpy.data.worlds, bpy.data.lights) for owner in kind if owner.node_tree]
    for owner in [*bpy.data.objects, *bpy.data.lights, *bpy.data.cameras, *bpy.data.worlds, *bpy.data.materials, *bpy.data.curves, *bpy.data.shape_keys, *trees]:
        data = owner.animation_data
        if data is None or owner.library is not None:
            continue
        for curve in list(data.action.fcurves if data.action else ()) + list(data.drivers):
            before, _, name = curve.data_path.rpartition(".")
            try:
                thing = owner.path_resolve(before) if before else owner
                value = getattr(thing, name)
                if isinstance(value, float):
                    setattr(thing, name, value + rng.uniform(-1, 1))
                elif not isinstance(value, (bool, int, str)):
                    value[curve.array_index] += rng.uniform(-1, 1)
            except (AttributeError, TypeError, ValueError, IndexError):
                continue
    return True


def save_again(rng, scene):
    path = os.path.join(here("before"), "again.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path, copy=True, relative_remap=False)
    bpy.ops.wm.open_mainfile(filepath=path)
    os.remove(path)
    return True


def longer(rng, scene):
    scene.frame_start, scene.frame_end = -2, 40
    return True


def rename(rng, scene):
    kind = rng.choice(("objects", "meshes", "materials", "actions", "images", "lights", "cameras", "worlds", "armatures", "node_groups", "collections", "curves"))
    local = [owner for owner in getattr(bpy.data, kind) if owner.library is None]
    if not local:
        return False
    rng.choice(local).name = rng.choice(("aaa", "zzz"))
    return True


def reorder(rng, scene):
    what = rng.choice(("objects", "modifiers", "nodes"))
    if what == "objects":
        thing = rng.choice(scene.collection.objects)
        scene.collection.objects.unlink(thing)
        scene.collection.objects.link(thing)
        return True
    if what == "modifiers":
        for thing in scene.objects:
            if len(thing.modifiers) > 1:
                with bpy.context.temp_override(object=thing):
                    bpy.ops.object.modifier_move_to_index(modifier=thing.modifiers[0].name, index=1)
                return True
        return False
    order = [bpy.data.objects.new("unused", None), bpy.data.meshes.new("unused")]
    order[0].use_fake_user = order[1].use_fake_user = True
    return True


def swap_texture(rng, scene):
    path = os.path.join(here("after"), "picture.png")
    if not os.path.exists(path):
        return False
    image = bpy.data.images.new("swapped", 8, 8)
    image.pixels[:] = [rng.random() for _ in range(8 * 8 * 4)]
    image.filepath_raw, image.file_format = path, "PNG"
    image.save()
    bpy.data.images.remove(image)
    return True


def edit_library(rng, scene):
    path = os.path.join(here("after"), "library.blend")
    if not os.path.exists(path):
        return False
    thing = cube(rng, "of the library")
    dress(thing, (0, 1, 0, 1))
    thing.name = "of the library"
    bpy.data.libraries.write(path, {thing})
    bpy.data.objects.remove(thing)
    return True


def within(name, change):
    """Edits a library of the revision."""
    path = os.path.join(here("after"), name)
    if not os.path.exists(path):
        return False
    bpy.ops.wm.open_mainfile(filepath=path)
    found = change()
    if found:
        bpy.ops.wm.save_as_mainfile(filepath=path, relative_remap=False)
    bpy.ops.wm.open_mainfile(filepath=os.path.join(here("before"), "scene.blend"))
    return found


def paint(material):
    material.node_tree.nodes["Principled BSDF"].inputs["Base Color"].default_value = (0, 1, 0, 1)
    return True


def library_material(rng, scene):
    return within("library.blend", lambda: all(
        paint(slot.material) for slot in bpy.data.objects["of the library"].material_slots if slot.material.library is None))


def library_nested(rng, scene):
    name = rng.choice(("nested", "spare of the nested"))
    return within("nested.blend", lambda: paint(bpy.data.materials[name]))


def library_key(rng, scene):
    def change():
        curve = some_curve(rng)
        if curve is None:
            return False
        key = rng.choice(curve.keyframe_points)
        key.co = (key.co[0], key.co[1] + rng.uniform(-0.5, 0.5))
        curve.update()
        return True
    return within("library.blend", change)


def library_property(rng, scene):
    return within("library.blend", lambda: any_property(rng, bpy.context.scene))


def library_unused(rng, scene):
    def change():
        spare = bpy.data.objects["spare"]
        spare.location.z += 1
        paint(spare.material_slots[0].material)
        bpy.data.materials.new("unused").use_fake_user = True
        for material in bpy.data.materials:
            for node in material.node_tree.nodes if material.node_tree else ():
                node.location, node.select = (9, 9), True
        return True
    return within("library.blend", change)


def library_again(rng, scene):
    return within("library.blend", lambda: True)


def custom_property(rng, scene):
    owner = rng.choice(list(scene.objects) + list(bpy.data.materials) + [scene, scene.world])
    if owner.library is not None:
        return False
    known = [name for name in owner.keys() if name == "number"]
    owner[rng.choice(known or ["note"])] = rng.random()
    return True


def drive(rng, scene):
    thing = rng.choice([thing for thing in scene.objects if thing.library is None])
    driver = thing.driver_add("rotation_euler", rng.randrange(3)).driver
    driver.type, driver.expression = "SCRIPTED", rng.choice(("frame / 10", "0.3", "sin(frame)"))
    return True


def add_object(rng, scene):
    thing = cube(rng, "added")
    dress(thing)
    thing.hide_render = rng.random() < 0.3
    if rng.random() < 0.3:
        thing.location = (0, 50, 0)
    return True


def remove_object(rng, scene):
    bpy.data.objects.remove(rng.choice([thing for thing in scene.objects if thing != scene.camera]))
    return True


def hide(rng, scene):
    thing = rng.choice(scene.objects)
    if thing.library is not None:
        return False
    what = rng.choice(("hide_render", "hide_viewport", "eye", "visible_camera"))
    if what == "eye":
        thing.hide_set(True)
    else:
        setattr(thing, what, not getattr(thing, what))
    return True


def move_point(rng, scene):
    meshes = [mesh for mesh in bpy.data.meshes if mesh.library is None and len(mesh.vertices)]
    rng.choice(rng.choice(meshes).vertices).co.z += 0.5
    return True


def unused(rng, scene):
    for owner in (bpy.data.materials.new("unused"), bpy.data.scenes.new("unused"), bpy.data.texts.new("unused"), bpy.data.images.new("unused", 4, 4)):
        owner.use_fake_user = True
    return True


def settings(rng, scene):
    what = rng.choice(("resolution", "samples", "seed", "bounces", "exposure", "unit", "filter", "film", "fps", "blur", "vector", "output", "threads", "simplify", "preview"))
    if what == "resolution":
        scene.render.resolution_x += 2
    elif what == "samples":
        scene.cycles.samples += 1
    elif what == "seed":
        scene.cycles.seed += 1
    elif what == "bounces":
        scene.cycles.max_bounces = 1
    elif what == "exposure":
        scene.view_settings.exposure += 0.5
    elif what == "unit":
        scene.unit_settings.scale_length = 2
    elif what == "filter":
        scene.cycles.filter_width = 3
    elif what == "film":
        scene.render.film_transparent = not scene.render.film_transparent
    elif what == "fps":
        scene.render.fps += 1
    elif what == "blur":
        scene.render.use_motion_blur = not scene.render.use_motion_blur
    elif what == "vector":
        scene.view_layers[0].use_pass_vector = True
    elif what == "output":
        scene.render.filepath = "//elsewhere/"
    elif what == "threads":
        scene.render.threads_mode, scene.render.threads = "FIXED", 1
    elif what == "simplify":
        scene.render.use_simplify = not scene.render.use_simplify
    else:
        scene.cycles.preview_samples += 7
    return True


def output_files(rng, scene):
    """Something of a File Output node, or of what leads to it alone."""
    outs = [node for node in (scene.node_tree.nodes if scene.use_nodes else ()) if node.type == "OUTPUT_FILE"]
    if not outs:
        return False
    out = rng.choice(outs)
    what = rng.choice(("depth", "path", "folder", "mute", "source", "value"))
    if what == "depth":
        out.format.color_depth = "8" if out.format.color_depth == "16" else "16"
    elif what == "path":
        out.file_slots[0].path += "b"
    elif what == "folder":
        out.base_path += "/deeper"
    elif what == "mute":
        out.mute = True
    else:
        before = out.inputs[0].links[0].from_node
        if what == "source" or before.type == "R_LAYERS":
            layers = before if before.type == "R_LAYERS" else before.inputs["Image"].links[0].from_node
            layers.layer = scene.view_layers[-1].name if layers.layer == scene.view_layers[0].name else scene.view_layers[0].name
        else:
            value = next(socket for socket in before.inputs if socket.type == "VALUE" and not socket.is_linked)
            value.default_value += 0.5
    return True


# Edits of keys come more often: only they can leave some frames as they are.
EDITS = (
    move_key, move_key, move_key, insert_key, insert_key, remove_key, remove_key, shape_key_of_a_curve, shape_key_of_a_curve,
    any_property, any_property, any_property, any_property, interface_only, current_frame, current_frame, stored_values, stored_values, save_again, longer, rename, rename, reorder,
    swap_texture, edit_library, library_material, library_nested, library_key, library_property, library_unused, library_again,
    custom_property, drive, add_object, remove_object, hide, move_point, unused, settings, settings, output_files,
)


# -- pairs ---------------------------------------------------------------------


def here(side):
    return os.path.join(FOLDER, str(number), side)


def save(rng, side):
    path = os.path.join(here(side), "scene.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path, compress=rng.random() < 0.5, relative_remap=False)


def make():
    """Saves a pair, and says what was made and edited."""
    rng = random.Random(number)
    os.makedirs(here("before"))
    scene = stage(rng)
    scene.render.resolution_x, scene.render.resolution_y, scene.cycles.samples = 16, 12, 1
    scene.frame_end = FRAMES[-1]
    parts = rng.sample(PLAIN, 2) + ([rng.choice(PARTS)] if rng.random() < 0.3 else []) + ([rng.choice(MORE)] if rng.random() < 0.5 else [])
    if ONLY and all("library" in name for name in ONLY) and from_library not in parts:
        parts.append(from_library)
    if output_files.__name__ in ONLY and written not in parts:
        parts.append(written)
    for part in parts:
        part(rng, scene)
    for _ in range(rng.choice((1, 2, 3))):
        animate(rng, scene)
    mover = rng.choice([thing for thing in scene.objects if thing.library is None and thing.animation_data is None])
    for frame in (1, 3, 5):
        mover.keyframe_insert("location", frame=frame)
        mover.location.x += 0.3
    enliven(rng)
    scene.frame_set(1)
    save(rng, "before")
    library_of_the_library(rng)
    shutil.copytree(here("before"), here("after"))
    bpy.ops.wm.open_mainfile(filepath=os.path.join(here("before"), "scene.blend"))
    while True:
        edit = rng.choice([edit for edit in EDITS if not ONLY or edit.__name__ in ONLY])
        if edit(rng, bpy.context.scene):
            break
    save(rng, "after")
    return sorted({part.__name__ for part in parts}), edit.__name__


def pictures(side, frames):
    bpy.ops.wm.open_mainfile(filepath=os.path.join(here(side), "scene.blend"))
    scene = bpy.context.scene
    scene.render.use_persistent_data = False
    scene.render.filepath = os.path.join(FOLDER, "frame_")
    scene.frame_step = 1
    return [(render(frame), files(side)) for frame in frames]


def files(side):
    """The pixels of what File Output nodes wrote for a frame, by name. It removes the files."""
    folder, found = os.path.join(here(side), WRITTEN), {}
    for base, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(base, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, folder)] = hashlib.sha256(picture(file.read())).hexdigest()
    shutil.rmtree(folder, ignore_errors=True)
    return found


def compare():
    parts, edit = make()
    before, after = pictures("before", FRAMES), pictures("after", FRAMES)
    differ = [frame for frame, one, other in zip(FRAMES, before, after) if one != other]
    said = dict(number=number, parts=parts, edit=edit, frames=len(FRAMES), differ=differ)
    if differ and pictures("before", FRAMES) != before:
        return dict(said, unsteady=True)
    return said


version = ".".join(map(str, bpy.app.version))
for number in range(int(FIRST), int(FIRST) + int(COUNT)):
    print("svc: said " + json.dumps({"begins": number}), flush=True)
    print("svc: said " + json.dumps({"blender": version, **compare()}), flush=True)
