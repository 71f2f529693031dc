"""Makes the .blend files of internal/render/contentkey/testdata: a scene, and revisions of it.

    blender -b --factory-startup --python scripts/scenes/contentkey_make.py -- FOLDER
"""

import os
import sys

import bpy

FOLDER = os.path.abspath(sys.argv[sys.argv.index("--") + 1])


def make():
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.render.engine = "CYCLES"
    scene.frame_start, scene.frame_end = 1, 250
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.location, camera.rotation_euler = (0, -8, 1), (1.5, 0, 0)
    scene.collection.objects.link(camera)
    scene.camera = camera
    mesh = bpy.data.meshes.new("Cube")
    mesh.from_pydata([(-1, 0, 0), (1, 0, 0), (0, 1, 1)], [], [(0, 1, 2)])
    cube = bpy.data.objects.new("Cube", mesh)
    scene.collection.objects.link(cube)
    floor = bpy.data.materials.new("Floor")
    floor.use_nodes = True
    mesh.materials.append(floor)
    for frame, x in ((1, 0), (60, 1), (96, 2), (118, 4), (140, 3), (200, 3), (250, 7)):
        cube.location.x = x
        cube.keyframe_insert("location", index=0, frame=frame)
        strength = floor.node_tree.nodes["Principled BSDF"].inputs["Roughness"]
        strength.default_value = x / 10
        strength.keyframe_insert("default_value", frame=frame)
    for curve in cube.animation_data.action.fcurves:
        for key in curve.keyframe_points:
            key.handle_left_type = key.handle_right_type = "VECTOR"
        curve.update()
    scene.frame_set(1)
    save("scene")


def save(name):
    bpy.ops.wm.save_as_mainfile(filepath=os.path.join(FOLDER, name + ".blend"), compress=True)


def revision(name):
    def revise(edit):
        bpy.ops.wm.open_mainfile(filepath=os.path.join(FOLDER, "scene.blend"))
        edit(bpy.context.scene)
        save(name)
    return revise


def curve(name):
    return next(curve for curve in bpy.data.actions[name].fcurves)


make()


@revision("moved")
def _(scene):
    keys = curve("CubeAction").keyframe_points
    key = next(key for key in keys if key.co[0] == 118)
    key.co = (118, 4.5)
    curve("CubeAction").update()


@revision("material")
def _(scene):
    bpy.data.materials["Floor"].node_tree.nodes["Principled BSDF"].inputs["Base Color"].default_value = (1, 0, 0, 1)


@revision("interface")
def _(scene):
    """Nothing that a picture comes from: selections, places of nodes, the frame, windows,
    names that nothing shows, what is not used."""
    scene.frame_set(77)
    for thing in scene.objects:
        thing.select_set(thing.name == "Cube")
    for node in bpy.data.materials["Floor"].node_tree.nodes:
        node.location, node.select, node.hide = (9, 9), True, True
    curve("CubeAction").select = False
    bpy.data.materials["Floor"].name = "Ground"
    bpy.data.meshes["Cube"].name = "Another"
    bpy.data.materials.new("Unused").use_fake_user = True
    bpy.data.objects.new("Unused", None).use_fake_user = True
    bpy.data.scenes.new("Unused")
    scene.frame_end, scene.render.filepath = 300, "//elsewhere/"
    for screen in bpy.data.screens:
        for area in screen.areas:
            if area.type == "VIEW_3D":
                area.type = "NODE_EDITOR"


@revision("particles")
def _(scene):
    thing = bpy.data.objects["Cube"]
    thing.modifiers.new("Particles", "PARTICLE_SYSTEM")
    thing.particle_systems[0].settings.count = 3


@revision("driven")
def _(scene):
    driver = bpy.data.objects["Cube"].driver_add("location", 2).driver
    driver.type, driver.expression = "SCRIPTED", "frame / 10"


@revision("driven_longer")
def _(scene):
    """The scene "driven" with another length."""
    bpy.ops.wm.open_mainfile(filepath=os.path.join(FOLDER, "driven.blend"))
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 20, 300


# -- libraries -----------------------------------------------------------------
# linked.blend shows an object of library.blend, whose material is linked from nested.blend.


def keyed(thing):
    for frame, x in ((1, 0), (60, 1), (96, 2), (118, 4), (140, 3), (200, 3), (250, 7)):
        thing.location.x = x
        thing.keyframe_insert("location", index=0, frame=frame)
    for one in thing.animation_data.action.fcurves:
        for key in one.keyframe_points:
            key.handle_left_type = key.handle_right_type = "VECTOR"
        one.update()


def triangle(name, *materials):
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([(-1, 0, 0), (1, 0, 0), (0, 1, 1)], [], [(0, 1, 2)])
    for material in materials:
        mesh.materials.append(material)
    thing = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(thing)
    return thing


def surface(name):
    material = bpy.data.materials.new(name)
    material.use_nodes, material.use_fake_user = True, True
    return material


def link(name, kind, wanted):
    with bpy.data.libraries.load(os.path.join(FOLDER, name + ".blend"), link=True) as (_, into):
        setattr(into, kind, [wanted])
    return getattr(into, kind)[0]


def color(name, value):
    bpy.data.materials[name].node_tree.nodes["Principled BSDF"].inputs["Base Color"].default_value = value


def put(name):
    """Saves a file at a name that others link, or that links others, which lie next to it."""
    for library in bpy.data.libraries:
        library.filepath = "//" + os.path.basename(library.filepath)
    bpy.ops.wm.save_as_mainfile(filepath=os.path.join(FOLDER, name + ".blend"), compress=True, relative_remap=False)


def edited(name, revision):
    """An edit of a file, saved next to it."""
    def edit(change):
        bpy.ops.wm.open_mainfile(filepath=os.path.join(FOLDER, name + ".blend"))
        change(bpy.context.scene)
        put(revision)
    return edit


bpy.ops.wm.read_factory_settings(use_empty=True)
surface("Wood"), surface("Spare")
put("nested")

bpy.ops.wm.read_factory_settings(use_empty=True)
bpy.context.scene.render.engine = "CYCLES"
bpy.context.scene.name = "Workshop"
prop = triangle("Prop", surface("Paint"), link("nested", "materials", "Wood"))
keyed(prop)
triangle("Spare", surface("Spare"))
put("library")

bpy.ops.wm.read_factory_settings(use_empty=True)
shot = bpy.context.scene
shot.render.engine = "CYCLES"
shot.frame_start, shot.frame_end = 1, 250
shot.camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
shot.camera.location, shot.camera.rotation_euler = (0, -8, 1), (1.5, 0, 0)
shot.collection.objects.link(shot.camera)
keyed(triangle("Cube"))
shot.collection.objects.link(link("library", "objects", "Prop"))
put("linked")


@edited("linked", "linked_moved")
def _(scene):
    keys = curve("CubeAction").keyframe_points
    next(key for key in keys if key.co[0] == 118).co = (118, 4.5)
    curve("CubeAction").update()


@edited("linked", "linked_interface")
def _(scene):
    scene.frame_set(77)
    scene.camera.select_set(True)


@edited("library", "library_interface")
def _(scene):
    """Nothing that an object of the library comes from."""
    color("Spare", (0, 0, 1, 1))
    bpy.data.objects["Spare"].location.z = 5
    bpy.data.materials.new("Unused").use_fake_user = True
    scene.cycles.samples, scene.frame_end = 9, 20
    for thing in scene.objects:
        thing.select_set(thing.name == "Prop")
    for node in bpy.data.materials["Paint"].node_tree.nodes:
        node.location, node.select = (9, 9), True
    for screen in bpy.data.screens:
        for area in screen.areas:
            if area.type == "VIEW_3D":
                area.type = "NODE_EDITOR"


@edited("library", "library_material")
def _(scene):
    color("Paint", (1, 0, 0, 1))


@edited("library", "library_moved")
def _(scene):
    keys = curve("PropAction").keyframe_points
    next(key for key in keys if key.co[0] == 118).co = (118, 4.5)
    curve("PropAction").update()


@edited("library", "library_particles")
def _(scene):
    thing = bpy.data.objects["Prop"]
    thing.modifiers.new("Particles", "PARTICLE_SYSTEM")
    thing.particle_systems[0].settings.count = 3


@edited("nested", "nested_interface")
def _(scene):
    color("Spare", (0, 0, 1, 1))


@edited("nested", "nested_material")
def _(scene):
    color("Wood", (1, 0, 0, 1))


# -- names and custom properties -----------------------------------------------
# reading.blend shows the name and a custom property of Cube, which noted.blend does not.


@revision("noted")
def _(scene):
    """Names of objects and collections, custom properties, settings of the viewport: nothing
    reads them."""
    bpy.data.objects["Cube"].name, bpy.data.objects["Camera"].name = "Renamed", "Another camera"
    for owner in (bpy.data.objects["Renamed"], bpy.data.materials["Floor"], scene, bpy.data.meshes["Cube"]):
        owner["note"] = 0.5
    scene["words"], scene["numbers"] = "later", [1, 2, 3]
    scene.cycles.preview_samples = 7


@revision("reading")
def _(scene):
    bpy.data.objects["Cube"]["note"] = 0.5
    tree = bpy.data.materials["Floor"].node_tree
    shader = tree.nodes["Principled BSDF"]
    info, note = tree.nodes.new("ShaderNodeObjectInfo"), tree.nodes.new("ShaderNodeAttribute")
    note.attribute_type, note.attribute_name = "OBJECT", '["note"]'
    tree.links.new(info.outputs["Random"], shader.inputs["Base Color"])
    tree.links.new(note.outputs["Fac"], shader.inputs["Metallic"])


@edited("reading", "reading_renamed")
def _(scene):
    bpy.data.objects["Cube"].name = "Renamed"


@edited("reading", "reading_noted")
def _(scene):
    bpy.data.objects["Cube"]["note"] = 0.6


# -- strips --------------------------------------------------------------------


def strip(name, extrapolation):
    @revision(name)
    def _(scene):
        cube = bpy.data.objects["Cube"]
        action = cube.animation_data.action
        cube.animation_data.action = None
        cube.animation_data.nla_tracks.new().strips.new("strip", 1, action).extrapolation = extrapolation


strip("strip", "HOLD")
strip("strip_ends", "NOTHING")


@edited("strip", "strip_floor")
def _(scene):
    """A key of the floor, which no strip has."""
    keys = next(curve for curve in bpy.data.actions["Shader NodetreeAction"].fcurves).keyframe_points
    key = next(key for key in keys if key.co[0] == 118)
    key.co = (118, 0.9)
    keys.id_data.fcurves[0].update()


# -- what curves set -----------------------------------------------------------
# animated.blend has curves of all kinds of properties; animated_elsewhere.blend was saved in
# another frame, in which they have other values.


def animated():
    bpy.ops.wm.open_mainfile(filepath=os.path.join(FOLDER, "scene.blend"))
    scene, cube = bpy.context.scene, bpy.data.objects["Cube"]

    def key(owner, name, *values):
        for frame, value in zip((1, 250), values):
            setattr(owner, name, value)
            owner.keyframe_insert(name, frame=frame)

    lamp = bpy.data.objects.new("Lamp", bpy.data.lights.new("Lamp", "SPOT"))
    scene.collection.objects.link(lamp)
    key(lamp.data, "color", (1, 0, 0), (0, 1, 0))
    key(lamp.data, "energy", 10, 20)
    key(lamp.data, "spot_size", 0.5, 1)
    key(cube, "color", (0, 0, 0, 1), (1, 1, 1, 1))
    key(cube, "hide_render", False, True)
    key(cube, "delta_rotation_euler", (0, 0, 0), (1, 1, 1))
    key(cube.modifiers.new("Bend", "SIMPLE_DEFORM"), "factor", 0.1, 0.9)
    key(cube.constraints.new("LIMIT_SCALE"), "influence", 0.2, 0.8)
    key(cube.constraints["Limit Scale"], "max_x", 1, 2)
    scene.world = bpy.data.worlds.new("World")
    scene.world.use_nodes = True
    key(scene.world.mist_settings, "start", 1, 2)
    nodes = scene.world.node_tree.nodes
    sky, value = nodes.new("ShaderNodeTexSky"), nodes.new("ShaderNodeValue")
    scene.world.node_tree.links.new(sky.outputs[0], nodes["Background"].inputs[0])
    scene.world.node_tree.links.new(value.outputs[0], nodes["Background"].inputs[1])
    key(sky, "sun_elevation", 0.1, 1)
    key(value.outputs[0], "default_value", 1, 2)
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones.new("Bone").tail = (0, 0, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    bone = rig.pose.bones["Bone"]
    bone["switch"] = 0.5
    for frame, number in ((1, 0.0), (250, 1.0)):
        bone["switch"] = number
        bone.keyframe_insert('["switch"]', frame=frame)
    key(bone, "bbone_easein", 0.5, 1)
    key(bone.constraints.new("LIMIT_ROTATION"), "influence", 0.3, 0.6)
    curve("CubeAction").modifiers.new("CYCLES")
    scene.frame_set(1)
    save("animated")


animated()


@edited("animated", "animated_elsewhere")
def _(scene):
    scene.frame_set(200)


@edited("animated", "animated_else")
def _(scene):
    """A value next to an animated one."""
    bpy.data.lights["Lamp"].spot_blend = 0.7


# -- modifiers of curves -------------------------------------------------------
# Of looks.blend, a modifier of the curve shows a frame as others are.


def looks(name, kind, **settings):
    @revision(name)
    def _(scene):
        modifier = curve("CubeAction").modifiers.new(kind)
        for setting, value in settings.items():
            setattr(modifier, setting, value)

    @edited(name, name + "_moved")
    def _(scene):
        key = next(key for key in curve("CubeAction").keyframe_points if key.co[0] == 118)
        key.co = (118, 4.5)
        curve("CubeAction").update()


looks("stepped", "STEPPED", frame_step=10)
looks("limited", "LIMITS", use_max_x=True, max_x=120)


@revision("beyond")
def _(scene):
    """Runs on beyond its last key, which is the last frame."""
    last = curve("CubeAction").keyframe_points[-1]
    last.co.x = 230
    curve("CubeAction").update()


@edited("beyond", "beyond_line")
def _(scene):
    curve("CubeAction").extrapolation = "LINEAR"


@edited("beyond", "beyond_cycles")
def _(scene):
    curve("CubeAction").modifiers.new("CYCLES")


@edited("beyond_cycles", "beyond_cycles_moved")
def _(scene):
    key = next(key for key in curve("CubeAction").keyframe_points if key.co[0] == 118)
    key.co = (118, 4.5)
    curve("CubeAction").update()


# -- rigs ----------------------------------------------------------------------
# rig.blend has an arm that bends towards a bone of its own rig, as a driver says;
# rig_circle.blend has that bone hang on the arm. The others were saved in another frame.


def rig(name, parent):
    @revision(name)
    def _(scene):
        arm = bpy.data.objects.new("Arm", bpy.data.armatures.new("Arm"))
        scene.collection.objects.link(arm)
        bpy.context.view_layer.objects.active = arm
        bpy.ops.object.mode_set(mode="EDIT")
        for bone, head, tail, above in (
                ("root", (0, 0, -1), (0, 0, 0), None), ("upper", (0, 0, 0), (0, 0.1, 1), "root"), ("lower", (0, 0.1, 1), (0, 0, 2), "upper"),
                ("target", (0, 0, 2), (0, 0, 2.4), parent), ("pole", (0, 2, 1), (0, 2, 1.4), "root")):
            made = arm.data.edit_bones.new(bone)
            made.head, made.tail, made.parent = head, tail, arm.data.edit_bones[above] if above else None
        bpy.ops.object.mode_set(mode="OBJECT")
        bones = arm.pose.bones
        solver = bones["lower"].constraints.new("IK")
        solver.target, solver.subtarget, solver.chain_count = arm, "target", 2
        solver.pole_target, solver.pole_subtarget = arm, "pole"
        follow = bones["pole"].constraints.new("COPY_ROTATION")
        follow.target, follow.subtarget = arm, "root"
        for frame, z in ((1, 0), (250, -1)):
            bones["target"].location.z = z
            bones["target"].keyframe_insert("location", frame=frame)
            arm["hand"] = z * 0.5 + 1
            arm.keyframe_insert('["hand"]', frame=frame)
        for owner, path, read in ((arm, '["switch"]', '["hand"]'), (solver, "influence", '["switch"]')):
            arm["switch"] = 1.0
            driver = owner.driver_add(path).driver
            driver.type, driver.expression = "SCRIPTED", "x"
            variable = driver.variables.new()
            variable.name, variable.targets[0].id, variable.targets[0].data_path = "x", arm, read
        scene.frame_set(1)

    @edited(name, name + "_elsewhere")
    def _(scene):
        scene.frame_set(200)


rig("rig", "root")
rig("rig_circle", "lower")


@edited("driven", "driven_elsewhere")
def _(scene):
    scene.frame_set(200)


# -- constraints -----------------------------------------------------------------
# measured.blend has a distance that the test takes away: Blender measures it again in the frame in
# which a file was saved.


@revision("measured")
def _(scene):
    limit = bpy.data.objects["Camera"].constraints.new("LIMIT_DISTANCE")
    limit.target, limit.distance = bpy.data.objects["Cube"], 7.123


@edited("measured", "measured_elsewhere")
def _(scene):
    scene.frame_set(200)
