"""Scenes in which something but a simulation changes from frame to frame."""

import bpy

from base import TURN, ball, camera, cube, driver, empty, key, moving_cube, scene, set_stage, settings, since, stage


@scene("keyframes")
def keyed():
    stage()
    moving_cube()


@scene("keyframes, 12 frames, every second one")
def step_2():
    s = stage(end=12)
    moving_cube(12)
    s.frame_step = 2


@scene("keyframes, 13 frames, every third one")
def step_3():
    s = stage(end=13)
    moving_cube(13)
    s.frame_step = 3


@scene("a range from frame 0")
def start_0():
    s = stage()
    moving_cube()
    s.frame_start = 0


@scene("a range from frame 0, every third one")
def start_0_step_3():
    s = stage(end=9)
    moving_cube(9)
    s.frame_start, s.frame_step = 0, 3


@scene("a preview range and a current frame with a part, which a render does not use")
def preview_range():
    s = stage()
    moving_cube()
    s.use_preview_range = True
    s.frame_preview_start, s.frame_preview_end = 3, 4
    s.frame_set(5, subframe=0.5)


@scene("time remapping, old 100, new 50")
def time_remap_half():
    s = stage()
    moving_cube()
    s.render.frame_map_old, s.render.frame_map_new = 100, 50


@scene("time remapping, old 100, new 250, with a driver on the frame and motion blur")
def time_remap_slow():
    s = stage(end=10)
    moving_cube()
    driver(ball((1, 1, 0)), "location", "frame * 0.2 - 1", 0)
    s.render.frame_map_old, s.render.frame_map_new = 100, 250
    s.render.use_motion_blur = True


@scene("cameras by markers")
def marker_cameras():
    s = stage()
    moving_cube()
    for frame, place in ((1, (5, -5, 4)), (3, (4, -5.5, 3)), (5, (5.5, -4, 4.5))):
        s.timeline_markers.new("m%d" % frame, frame=frame).camera = camera(place, "camera %d" % frame)


@scene("cameras by markers, with a marker before the range, motion blur and a step")
def marker_cameras_blur():
    s = stage(end=9)
    moving_cube(9)
    for frame, place in ((-3, (5, -5, 4)), (4, (4, -5.5, 3)), (5, (5.5, -4, 4.5))):
        s.timeline_markers.new("m%d" % frame, frame=frame).camera = camera(place, "camera %d" % frame)
    s.render.use_motion_blur = True
    s.frame_start, s.frame_step = 2, 2


@scene("drivers that Blender computes without Python, one of which follows from its own object")
def drivers_simple():
    stage()
    thing = cube()
    driver(thing, "location", "sin(frame / 2)", 0)
    curve = driver(thing, "rotation_euler", "x * 2 + frame / 10", 2)
    variable = curve.driver.variables.new()
    variable.name, variable.targets[0].id, variable.targets[0].data_path = "x", thing, "location.x"


@scene("drivers that need Python, which neither runs")
def drivers_scripted():
    stage()
    thing = moving_cube()
    driver(thing, "scale", "len('x' * int(frame)) / 4", 2)
    text = bpy.data.texts.new("startup.py")
    text.write("import bpy\nbpy.context.scene.camera.location.x = 0\n")
    text.use_module = True


@scene("a driver on the scene's own current frame, and on render settings")
def drivers_settings():
    s = stage()
    moving_cube()
    curve = driver(s.view_settings, "exposure", "n / 4")
    variable = curve.driver.variables.new()
    variable.name, variable.type = "n", "SINGLE_PROP"
    variable.targets[0].id_type, variable.targets[0].id, variable.targets[0].data_path = "SCENE", s, "frame_current"
    driver(s.cycles, "seed", "frame * 7")


def circle():
    """Objects that follow each other."""
    s = stage()
    a, b = cube((-1, 0, 0), 1), ball((1, 0, 0), 0.6)
    key(a, "rotation_euler", {1: (0, 0, 0), 6: (0, 0, 2)})
    for one, other in ((a, b), (b, a)):
        follow = one.constraints.new("COPY_LOCATION")
        follow.target, follow.use_offset, follow.influence = other, False, 0.5
    return s


@scene("objects that follow each other in a circle")
def dependency_cycle():
    circle()


@scene("objects that follow each other in a circle, persistent data on in the file",
       why="with persistent data a circle continues from what the previous frame left; svc keeps no data if there is a circle, "
           "so each frame is the one that Blender writes of it alone")
def dependency_cycle_persistent():
    circle().render.use_persistent_data = True


@scene("actions in the NLA, modifiers of curves, a parented and constrained object")
def nla():
    stage()
    thing = moving_cube()
    noise = thing.animation_data.action.fcurves[0].modifiers.new("NOISE")
    noise.scale, noise.strength, noise.phase = 3, 0.8, 7
    action = thing.animation_data.action
    thing.animation_data.action = None
    track = thing.animation_data.nla_tracks.new()
    strip = track.strips.new("s", 1, action)
    strip.repeat, strip.scale = 3, 0.4
    child = ball((0, 1, 1), 0.4)
    child.parent = thing
    track_to = bpy.context.scene.camera.constraints.new("TRACK_TO")
    track_to.target = child


@scene("armature, shape keys, and modifiers that move by the frame (wave, build, ocean)")
def deformed():
    stage()
    bpy.ops.object.armature_add(location=(-1.5, 0, -1))
    arm = bpy.context.object
    bone = arm.pose.bones[0]
    bone.rotation_mode = "XYZ"
    key(bone, "rotation_euler", {1: (0, 0, 0), 6: (0.9, 0, 0)})
    rod = cube((-1.5, 0, 0), 0.6, name="rod")
    rod.vertex_groups.new(name=arm.data.bones[0].name).add(range(8), 1.0, "REPLACE")
    rod.modifiers.new("armature", "ARMATURE").object = arm
    shaped = cube((1.5, 0, 0), 1, (0.1, 0.7, 0.2), name="shaped")
    shaped.shape_key_add(name="Basis")
    up = shaped.shape_key_add(name="up")
    up.data[0].co.z += 1.5
    key(up, "value", {1: 0.0, 6: 1.0})
    grid = bpy.data.objects["floor"]
    grid.modifiers.new("subdivide", "SUBSURF").levels = 0
    wavy = ball((0, 1.5, 0))
    wavy.modifiers.new("wave", "WAVE").height = 0.6
    built = ball((0, -1, 0), 0.5, (0.9, 0.9, 0.1), name="built")
    build = built.modifiers.new("build", "BUILD")
    build.frame_start, build.frame_duration, build.use_random_order = 0, 9, True
    sea = cube((0, 0, -0.9), 1, (0.1, 0.2, 0.5), name="sea")
    ocean = sea.modifiers.new("ocean", "OCEAN")
    ocean.geometry_mode, ocean.resolution, ocean.spatial_size, ocean.wave_scale = "GENERATE", 4, 6, 0.4
    key(ocean, "time", {1: 0.0, 6: 2.0})


@scene("geometry nodes with the scene's time and random points")
def geometry_nodes():
    stage()
    tree = bpy.data.node_groups.new("nodes", "GeometryNodeTree")
    if hasattr(tree, "interface"):  # 4.0
        tree.interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
        tree.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    else:
        tree.inputs.new("NodeSocketGeometry", "Geometry")
        tree.outputs.new("NodeSocketGeometry", "Geometry")
    new, link = tree.nodes.new, tree.links.new
    start, end = new("NodeGroupInput"), new("NodeGroupOutput")
    points, instance, box, clock = (new("GeometryNode" + kind) for kind in ("DistributePointsOnFaces", "InstanceOnPoints", "MeshCube", "InputSceneTime"))
    half = new("ShaderNodeMath")
    half.operation, half.inputs[1].default_value = "MULTIPLY", 0.05
    points.inputs["Density"].default_value = 3
    link(start.outputs[0], points.inputs["Mesh"])
    link(points.outputs["Points"], instance.inputs["Points"])
    link(box.outputs["Mesh"], instance.inputs["Instance"])
    link(clock.outputs["Frame"], half.inputs[0])
    link(half.outputs[0], instance.inputs["Scale"])
    link(clock.outputs["Frame"], points.inputs["Seed"])
    link(instance.outputs["Instances"], end.inputs[0])
    moving_cube().modifiers.new("nodes", "NODES").node_group = tree


def blurred(end=6):
    s = stage(end=end)
    moving_cube(end)
    s.render.use_motion_blur = True
    return s


@scene("motion blur, shutter around the frame, wider than a frame, over the range's edges")
def blur_centre():
    s = blurred()
    s.render.motion_blur_shutter = 2.5


@scene("motion blur, shutter from the frame on")
def blur_start():
    s = blurred()
    s.cycles.motion_blur_position = "START"


@scene("motion blur, shutter to the frame")
def blur_end():
    s = blurred()
    s.cycles.motion_blur_position = "END"
    s.render.motion_blur_shutter = 1.5


@scene("motion blur with steps between frames, a rolling shutter and a curve")
def blur_steps():
    s = blurred()
    thing = bpy.data.objects["cube"]
    thing.cycles.motion_steps = 3
    key(thing, "rotation_euler", {1: (0, 0, 0), 6: (0, 9, 20)})
    s.cycles.rolling_shutter_type, s.cycles.rolling_shutter_duration = "TOP", 0.2
    s.render.motion_blur_shutter_curve.curves[0].points[0].location = (0, 0.3)


@scene("motion blur of a deforming mesh, every second frame")
def blur_deform():
    s = blurred(9)
    s.frame_step = 2
    thing = ball((0, 1, 0))
    thing.modifiers.new("wave", "WAVE").height = 1


@scene("an animated seed of Cycles")
def animated_seed():
    s = stage()
    moving_cube()
    s.cycles.use_animated_seed = True


@scene("persistent data on in the file, with a mesh and a material that change")
def persistent_data():
    s = stage()
    thing = moving_cube()
    s.render.use_persistent_data = True
    node = thing.data.materials[0].node_tree.nodes["Principled BSDF"].inputs["Base Color"]
    for frame, colour in ((1, (1, 0, 0, 1)), (6, (0, 1, 0, 1))):
        node.default_value = colour
        node.keyframe_insert("default_value", frame=frame)
    wavy = ball((0, 1, 0))
    wavy.modifiers.new("wave", "WAVE").height = 1


@scene("visibility, world, light and lens that change by keyframes, simplify too")
def keyed_everything():
    s = stage()
    thing = moving_cube()
    key(thing, "hide_render", {1: False, 4: True, 5: False})
    key(s.camera.data, "lens", {1: 35.0, 6: 70.0})
    light = next(o for o in s.objects if o.type == "LIGHT").data
    key(light, "energy", {1: 1.0, 6: 5.0})
    background = s.world.node_tree.nodes["Background"].inputs["Strength"]
    for frame, value in ((1, 0.5), (6, 2.0)):
        background.default_value = value
        background.keyframe_insert("default_value", frame=frame)
    round_one = ball((0, 1, 0))
    round_one.modifiers.new("subdivide", "SUBSURF").render_levels = 2
    s.render.use_simplify = True
    key(s.render, "simplify_subdivision_render", {1: 0, 4: 2})


@scene("the white point of the view's white balance, by keyframes")
def keyed_white_point():
    since(4, 3)
    s = stage()
    moving_cube()
    view = s.view_settings
    view.use_white_balance = True
    key(view, "white_balance_whitepoint", {1: (1.0, 0.9, 0.7), 6: (0.5, 0.8, 1.0)})


@scene("samples and bounces that change by keyframes")
def keyed_samples():
    s = stage()
    moving_cube()
    key(s.cycles, "samples", {1: 1, 6: 4})
    key(s.cycles, "max_bounces", {1: 0, 6: 8})


@scene("particle hair without dynamics, with children and random lengths")
def hair_still():
    stage()
    thing = moving_cube()
    thing.modifiers.new("hair", "PARTICLE_SYSTEM")
    hair = thing.particle_systems[0].settings
    hair.type, hair.count, hair.hair_length, hair.length_random = "HAIR", 40, 1.0, 0.6
    hair.child_type, hair.rendered_child_count, hair.root_radius = "SIMPLE", 4, 3
    hair.brownian_factor = 0.3


@scene("text, a curve that grows, metaballs and a duplicated collection")
def curves_and_text():
    stage()
    bpy.ops.object.text_add(location=(-2, 0, 0), rotation=(1, 0, 0.5))
    key(bpy.context.object.data, "extrude", {1: 0.0, 6: 0.5})
    bpy.ops.curve.primitive_bezier_circle_add(radius=1.5)
    ring = bpy.context.object.data
    ring.bevel_depth = 0.1
    key(ring, "bevel_factor_end", {1: 0.1, 6: 1.0})
    bpy.ops.object.metaball_add(type="BALL", location=(1, 1, 0))
    one = bpy.context.object
    bpy.ops.object.metaball_add(type="BALL", location=(1, 1, 0))
    key(bpy.context.object, "location", {1: (1, 1, 0), 6: (2.5, 1, 0.5)})
    assert one
    inside = bpy.data.collections.new("inside")
    inside.objects.link(cube((0, 0, 0), 0.4))
    bpy.ops.object.collection_instance_add(collection="inside", location=(-1, -1, 0))
    key(bpy.context.object, "rotation_euler", {1: (0, 0, 0), 6: (0, 0, TURN)})


def second_scene(name="other"):
    s = bpy.data.scenes.new(name)
    bpy.context.window.scene = s
    settings(s)
    set_stage(s)
    key(ball(colour=(0.9, 0.8, 0.1), name=name + " ball"), "location", {1: (0, 0, -0.5), 6: (0, 0, 1.5)})
    return s


@scene("the sequencer shows another scene")
def sequencer_scene():
    first = stage()
    moving_cube()
    other = second_scene()
    bpy.context.window.scene = first
    strip = first.sequence_editor_create().sequences.new_scene("other", other, 1, 1)
    strip.frame_final_duration = 6
    key(strip, "blend_alpha", {1: 1.0, 6: 0.3})


@scene("the sequencer shows another scene with a colour, a text and a transform, from frame 3 on")
def sequencer_strips():
    s = stage()
    other = second_scene()
    bpy.context.window.scene = s
    strips = s.sequence_editor_create().sequences
    own = strips.new_scene("own", other, 1, 3)
    own.frame_final_duration = 4
    own.scene_input = "CAMERA"
    colour = strips.new_effect("colour", "COLOR", 2, 1, frame_end=7)
    colour.color, colour.blend_type, colour.blend_alpha = (0.9, 0.2, 0.1), "ALPHA_OVER", 0.3
    text = strips.new_effect("text", "TEXT", 3, 1, frame_end=7)
    text.text, text.font_size = "svc", 12
    own.transform.rotation = 0.2


@scene("the compositor takes another scene's layer and the frame's number")
def compositor_scenes():
    first = stage()
    moving_cube()
    other = second_scene()
    bpy.context.window.scene = first
    first.use_nodes = True
    tree = first.node_tree
    tree.nodes.clear()
    a, b = tree.nodes.new("CompositorNodeRLayers"), tree.nodes.new("CompositorNodeRLayers")
    b.scene = other
    mix, clock, out = tree.nodes.new("CompositorNodeMixRGB"), tree.nodes.new("CompositorNodeTime"), tree.nodes.new("CompositorNodeComposite")
    clock.frame_start, clock.frame_end = 1, 6
    tree.links.new(clock.outputs[0], mix.inputs[0])
    tree.links.new(a.outputs["Image"], mix.inputs[1])
    tree.links.new(b.outputs["Image"], mix.inputs[2])
    tree.links.new(mix.outputs[0], out.inputs[0])


@scene("two view layers, one of them off, one with an override")
def view_layers():
    s = stage()
    moving_cube()
    second = s.view_layers.new("second")
    second.samples = 4
    s.view_layers.new("off").use = False
    s.use_nodes = True
    tree = s.node_tree
    tree.nodes.clear()
    layers = [tree.nodes.new("CompositorNodeRLayers") for _ in range(2)]
    layers[1].layer = "second"
    add, out = tree.nodes.new("CompositorNodeMixRGB"), tree.nodes.new("CompositorNodeComposite")
    tree.links.new(layers[0].outputs["Image"], add.inputs[1])
    tree.links.new(layers[1].outputs["Image"], add.inputs[2])
    tree.links.new(add.outputs[0], out.inputs[0])


@scene("no keyframes at all: every frame is the same but for the noise")
def still():
    empty()
    set_stage(bpy.context.scene)
    cube()
