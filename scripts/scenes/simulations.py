"""Makes small scenes whose frames depend on the frames before them.

    blender --background --factory-startup --python simulations.py -- FOLDER [NAME ...]

Every scene is 48x48 pixels at two samples. The names are those of the functions below;
"NAME_kept" is the same scene with Blender's persistent data, with which Blender
continues more simulations when it renders in the background.
"""

import math
import os
import sys

import bpy

FOLDER, *NAMES = sys.argv[sys.argv.index("--") + 1:]


def base():
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.render.engine = "CYCLES"
    scene.cycles.samples = 2  # a played frame has fewer, and none of it may stay
    scene.cycles.use_denoising = False
    scene.render.resolution_x = scene.render.resolution_y = 48
    scene.frame_start, scene.frame_end = 1, 20
    bpy.ops.object.light_add(type="SUN", rotation=(0.5, 0.3, 0))
    bpy.ops.object.camera_add(location=(0, -6, 2), rotation=(math.radians(75), 0, 0))
    scene.camera = bpy.context.object
    return scene


def sheet(size=2.0, height=1.0, sides=10):
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=sides, y_subdivisions=sides, size=size, location=(0, 0, height))
    return bpy.context.object


def ball(height=0.0, radius=0.6):
    bpy.ops.mesh.primitive_uv_sphere_add(segments=16, ring_count=8, radius=radius, location=(0, 0, height))
    return bpy.context.object


def moves(thing, axis, to, frame):
    thing.keyframe_insert("location", frame=1)
    thing.location[axis] = to
    thing.keyframe_insert("location", frame=frame)


def cloth(scene):
    ball().modifiers.new("it", "COLLISION")
    sheet().modifiers.new("it", "CLOTH")


def cloth_blurred(scene):
    """Motion blur evaluates moments around the frame."""
    cloth(scene)
    scene.render.use_motion_blur = True
    scene.render.motion_blur_shutter = 1.5


def cloth_from_zero(scene):
    """The scene begins before its simulation, and was saved in its midst."""
    cloth(scene)
    scene.frame_start = 0
    scene.frame_set(7)


def cloth_in_steps(scene):
    cloth(scene)
    scene.frame_step = 3


def soft_body(scene):
    ball(-0.5).modifiers.new("it", "COLLISION")
    sheet().modifiers.new("it", "SOFT_BODY").settings.use_goal = False


def rigid_body(scene):
    bpy.ops.rigidbody.world_add()
    sheet(6, -1, 2)
    bpy.ops.rigidbody.object_add(type="PASSIVE")
    for i in range(3):
        bpy.ops.mesh.primitive_cube_add(size=0.5, location=(0.1 * i, 0, 0.3 + 0.6 * i))
        bpy.ops.rigidbody.object_add(type="ACTIVE")


def particles(scene):
    ball(0.5, 0.4)
    bpy.ops.object.particle_system_add()
    emitter = bpy.context.object
    settings = emitter.particle_systems[0].settings
    settings.count, settings.frame_start, settings.frame_end, settings.lifetime = 200, 1, 15, 30
    settings.brownian_factor = 2
    bpy.ops.mesh.primitive_cube_add(size=0.1, location=(10, 0, 0))
    settings.render_type, settings.instance_object, settings.particle_size = "OBJECT", bpy.context.object, 1


def hair(scene):
    head = ball(0.5, 0.5)
    bpy.ops.object.particle_system_add()
    system = head.particle_systems[0]
    system.settings.type, system.settings.count, system.settings.hair_length = "HAIR", 60, 1.5
    system.settings.root_radius, system.settings.tip_radius = 8, 4
    system.use_hair_dynamics = True
    moves(head, 0, 1.5, 15)


def dynamic_paint(scene):
    canvas = sheet(4, 0, 40)
    canvas.modifiers.new("it", "DYNAMIC_PAINT")
    bpy.ops.dpaint.type_toggle(type="CANVAS")
    canvas.modifiers[0].canvas_settings.canvas_surfaces[0].surface_type = "WAVE"
    brush = ball(0.3, 0.3)
    brush.modifiers.new("it", "DYNAMIC_PAINT").ui_type = "BRUSH"
    bpy.ops.dpaint.type_toggle(type="BRUSH")
    moves(brush, 2, -0.5, 10)


def domain(kind):
    bpy.ops.mesh.primitive_cube_add(size=3, location=(0, 0, 1))
    thing = bpy.context.object
    modifier = thing.modifiers.new("it", "FLUID")
    modifier.fluid_type = "DOMAIN"
    settings = modifier.domain_settings
    settings.domain_type, settings.resolution_max, settings.cache_directory = kind, 16, "//fluid"
    source = ball(1.5 if kind == "LIQUID" else 0, 0.4)
    source.hide_render = True
    modifier = source.modifiers.new("it", "FLUID")
    modifier.fluid_type = "FLOW"
    modifier.flow_settings.flow_type, modifier.flow_settings.flow_behavior = "LIQUID" if kind == "LIQUID" else "SMOKE", "INFLOW"
    return thing, settings


def smoke(scene):
    thing, _ = domain("GAS")
    material = bpy.data.materials.new("smoke")
    material.use_nodes = True
    nodes = material.node_tree.nodes
    nodes.clear()
    volume, output = nodes.new("ShaderNodeVolumePrincipled"), nodes.new("ShaderNodeOutputMaterial")
    volume.inputs["Density"].default_value = 20
    material.node_tree.links.new(volume.outputs[0], output.inputs["Volume"])
    thing.data.materials.append(material)


def liquid(scene):
    domain("LIQUID")[1].use_mesh = True


def white_point(scene):
    """The view's white point, which Blender has since 4.3. Older ones pass over its keys."""
    ball()
    if hasattr(scene.view_settings, "use_white_balance"):
        scene.view_settings.use_white_balance = True
    scene.animation_data_create().action = bpy.data.actions.new("it")
    for index, (first, last) in enumerate(((1.0, 0.5), (0.9, 0.8), (0.7, 1.0))):
        curve = scene.animation_data.action.fcurves.new("view_settings.white_balance_whitepoint", index=index)
        curve.keyframe_points.insert(1, first)
        curve.keyframe_points.insert(10, last)


def main():
    makers = (cloth, cloth_blurred, cloth_from_zero, cloth_in_steps, soft_body, rigid_body, particles, hair, dynamic_paint, smoke, liquid, white_point)
    for make in makers:
        for kept in (False, True):
            name = make.__name__ + ("_kept" if kept else "")
            if NAMES and name not in NAMES:
                continue
            scene = base()
            scene.render.use_persistent_data = kept
            make(scene)
            bpy.ops.wm.save_as_mainfile(filepath=os.path.join(FOLDER, name + ".blend"), compress=True)


main()
