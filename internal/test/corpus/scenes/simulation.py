"""Scenes with state that runs from frame to frame, baked and not.

"in the file" means that the file carries the baked frames; "on disk" that a folder
next to it does.
"""

import bpy

from base import ball, bake_point_caches, cube, here, key, moving_cube, paint, save, scene, set_stage, sheet, since, stage


def caches():
    """Every point cache of the scene."""
    s = bpy.context.scene
    found = []
    for thing in s.objects:
        for modifier in thing.modifiers:
            if modifier.type in ("CLOTH", "SOFT_BODY"):
                found.append(modifier.point_cache)
            if modifier.type == "DYNAMIC_PAINT" and modifier.canvas_settings:
                found.extend(surface.point_cache for surface in modifier.canvas_settings.canvas_surfaces)
        for system in thing.particle_systems:
            found.append(system.point_cache)
    if s.rigidbody_world is not None:
        found.append(s.rigidbody_world.point_cache)
    return found


def fit_caches():
    s = bpy.context.scene
    for cache in caches():
        cache.frame_start, cache.frame_end = s.frame_start, s.frame_end


def baked():
    fit_caches()
    bake_point_caches()
    assert all(cache.is_baked for cache in caches())


def baked_on_disk(path):
    fit_caches()
    save(path)
    for cache in caches():
        cache.use_disk_cache = True
    bake_point_caches()


# -- cloth -------------------------------------------------------------------


def cloth_scene(end=8):
    s = stage(end=end)
    ball((0, 0, -0.4), 0.9).modifiers.new("collision", "COLLISION")
    thing = sheet()
    cloth = thing.modifiers.new("cloth", "CLOTH")
    cloth.settings.quality = 3
    return s, thing, cloth


@scene("cloth, not baked")
def cloth():
    cloth_scene()


@scene("cloth, not baked, self collision, pinned, with wind and turbulence")
def cloth_wind():
    s, thing, cloth = cloth_scene()
    cloth.collision_settings.use_self_collision = True
    group = thing.vertex_groups.new(name="pin")
    group.add([0, 12], 1.0, "REPLACE")
    cloth.settings.vertex_group_mass = "pin"
    for kind in ("WIND", "TURBULENCE"):
        bpy.ops.object.effector_add(type=kind, location=(0, -3, 0), rotation=(-1.2, 0, 0))
        bpy.context.object.field.strength = 60
        bpy.context.object.field.noise = 2
    assert s


@scene("cloth, baked in the file")
def cloth_baked():
    cloth_scene()
    baked()


@scene("cloth, not baked, cache on disk")
def cloth_disk(path):
    cloth_scene()
    fit_caches()
    save(path)
    for cache in caches():
        cache.use_disk_cache = True


@scene("cloth, baked on disk")
def cloth_disk_baked(path):
    cloth_scene()
    baked_on_disk(path)


@scene("cloth, not baked, every second frame")
def cloth_step_2():
    s, *_ = cloth_scene(13)
    s.frame_step = 2


@scene("cloth, not baked, every third frame")
def cloth_step_3():
    s, *_ = cloth_scene(13)
    s.frame_step = 3


@scene("cloth, baked in the file, every second frame")
def cloth_baked_step_2():
    s, *_ = cloth_scene(9)
    baked()
    s.frame_step = 2


@scene("cloth, not baked, range and cache from frame 0")
def cloth_start_0():
    s, *_ = cloth_scene(6)
    s.frame_start = 0
    fit_caches()


@scene("cloth, not baked, range from frame 0, cache from frame -4")
def cloth_start_below():
    s, *_ = cloth_scene(5)
    s.frame_start = 0
    for cache in caches():
        cache.frame_start = -4


@scene("cloth, not baked, cache from frame 1, range from frame 4")
def cloth_range_late():
    s, *_ = cloth_scene(10)
    s.frame_start = 4


@scene("cloth, not baked, range from frame 1, cache from frame 4 to 7")
def cloth_cache_late():
    cloth_scene(10)
    for cache in caches():
        cache.frame_start, cache.frame_end = 4, 7


@scene("cloth, not baked, time remapping, old 100, new 50")
def cloth_time_remap():
    s, *_ = cloth_scene(6)
    s.render.frame_map_old, s.render.frame_map_new = 100, 50


@scene("cloth, not baked, motion blur")
def cloth_blur():
    s, thing, _ = cloth_scene()
    s.render.use_motion_blur = True
    s.render.motion_blur_shutter = 1


@scene("cloth, baked in the file, motion blur with steps")
def cloth_baked_blur():
    s, thing, _ = cloth_scene()
    s.render.use_motion_blur = True
    thing.cycles.motion_steps = 2
    baked()


@scene("cloth, not baked, persistent data on in the file")
def cloth_persistent():
    s, *_ = cloth_scene()
    s.render.use_persistent_data = True


@scene("cloth in another scene, shown by the sequencer")
def cloth_strip():
    first, *_ = cloth_scene()
    second = bpy.data.scenes.new("edit")
    bpy.context.window.scene = second
    second.render.engine = "CYCLES"
    second.cycles.use_denoising = False
    second.render.resolution_x, second.render.resolution_y = 64, 48
    second.frame_start, second.frame_end = 1, 8
    strip = second.sequence_editor_create().sequences.new_scene("sim", first, 1, 1)
    strip.frame_final_duration = 8


@scene("cloth whose object is hidden in renders until frame 5")
def cloth_hidden():
    s, thing, _ = cloth_scene()
    key(thing, "hide_render", {1: True, 5: False})


# -- soft body, rigid bodies -------------------------------------------------


def soft_scene():
    stage(end=8)
    thing = ball((0, 0, 0.6))
    soft = thing.modifiers.new("soft", "SOFT_BODY")
    soft.settings.use_goal = False
    bpy.data.objects["floor"].modifiers.new("collision", "COLLISION")


@scene("soft body, not baked")
def soft_body():
    soft_scene()


@scene("soft body, baked in the file")
def soft_body_baked():
    soft_scene()
    baked()


def rigid_scene(end=10):
    s = stage(end=end)
    bpy.ops.rigidbody.world_add()
    things = [cube((x * 0.4, 0, x * 1.1), 0.9, name="brick %d" % x) for x in range(3)]
    for thing in things + [bpy.data.objects["floor"]]:
        with bpy.context.temp_override(object=thing, active_object=thing, selected_objects=[thing]):
            bpy.ops.rigidbody.object_add(type="PASSIVE" if thing.name == "floor" else "ACTIVE")
    moving = cube((-1.5, 0, -0.5), 0.7, (0.1, 0.6, 0.2), name="pusher")
    with bpy.context.temp_override(object=moving, active_object=moving, selected_objects=[moving]):
        bpy.ops.rigidbody.object_add(type="ACTIVE")
    moving.rigid_body.kinematic = True
    key(moving, "location", {1: (-1.5, 0, -0.5), 10: (0.5, 0, -0.5)})
    return s


@scene("rigid bodies, not baked")
def rigid_body():
    rigid_scene()


@scene("rigid bodies, baked in the file")
def rigid_body_baked():
    rigid_scene()
    baked()


@scene("rigid bodies, not baked, motion blur")
def rigid_body_blur():
    s = rigid_scene()
    s.render.use_motion_blur = True


@scene("rigid bodies, not baked, every second frame")
def rigid_body_step_2():
    s = rigid_scene(13)
    s.frame_step = 2


# -- particles ---------------------------------------------------------------


def emitter_scene(end=8, **more):
    s = stage(end=end)
    grain = ball((0, 0, -5), 0.1, (0.9, 0.9, 0.2), name="grain")
    thing = cube((0, 0, -0.5), 1)
    thing.modifiers.new("emitter", "PARTICLE_SYSTEM")
    dust = thing.particle_systems[0].settings
    dust.count, dust.frame_start, dust.frame_end, dust.lifetime = 150, 1, end, 6
    dust.lifetime_random, dust.normal_factor, dust.factor_random, dust.brownian_factor = 0.5, 3, 2, 4
    dust.render_type, dust.instance_object, dust.size_random = "OBJECT", grain, 0.5
    dust.particle_size = 1
    for name, value in more.items():
        setattr(dust, name, value)
    return s, dust


@scene("particles from an emitter, not baked")
def particles():
    emitter_scene()


@scene("particles from an emitter, baked in the file")
def particles_baked():
    emitter_scene()
    baked()


@scene("particles from an emitter, baked on disk")
def particles_disk_baked(path):
    emitter_scene()
    baked_on_disk(path)


@scene("particles from an emitter, not baked, motion blur, every third frame")
def particles_step_3():
    s, _ = emitter_scene(13)
    s.frame_step = 3
    s.render.use_motion_blur = True


@scene("particles that collide and die, and others that are drawn to a moving object, not baked")
def particles_collide():
    _, dust = emitter_scene()
    floor = bpy.data.objects["floor"]
    floor.modifiers.new("collision", "COLLISION")
    floor.collision.use_particle_kill = True
    thing = bpy.data.objects["cube"]
    thing.modifiers.new("second", "PARTICLE_SYSTEM")
    second = thing.particle_systems[1].settings
    second.count, second.frame_start, second.frame_end, second.lifetime = 80, 1, 8, 4
    second.render_type, second.instance_object, second.particle_size = "OBJECT", dust.instance_object, 0.8
    bpy.ops.object.effector_add(type="FORCE")
    field = bpy.context.object
    field.field.strength = -20
    key(field, "location", {1: (-2, 0, 1), 8: (2, 0, 1)})


@scene("boids, not baked")
def boids():
    emitter_scene(physics_type="BOIDS")


@scene("particles with the physics of a fluid, not baked",
       why="Blender adds up forces in the order in which its threads come: with two threads, runs of it differ")
def particles_fluid():
    emitter_scene(physics_type="FLUID")


@scene("an object that explodes by its particles, not baked")
def explode():
    emitter_scene()
    bpy.data.objects["cube"].modifiers.new("explode", "EXPLODE")


def hair_scene():
    stage(end=8)
    thing = moving_cube(8)
    thing.modifiers.new("hair", "PARTICLE_SYSTEM")
    system = thing.particle_systems[0]
    hair = system.settings
    hair.type, hair.count, hair.hair_length, hair.root_radius = "HAIR", 30, 1.2, 4
    system.use_hair_dynamics = True
    return system


@scene("hair with dynamics, not baked")
def hair():
    hair_scene()


@scene("hair with dynamics, baked in the file")
def hair_baked():
    system = hair_scene()
    fit_caches()
    # Its cloth is made by the first evaluation, so what bakes all finds none.
    s = bpy.context.scene
    for frame in range(s.frame_start, s.frame_end + 1):
        s.frame_set(frame)
    with bpy.context.temp_override(point_cache=system.point_cache):
        bpy.ops.ptcache.bake_from_cache()
    assert system.point_cache.is_baked


# -- dynamic paint -----------------------------------------------------------


def paint_scene(kind):
    s = stage(end=8)
    canvas = sheet(24, 4, -0.2, "canvas")  # the brush goes through it
    brush = moving_cube(8, size=1)
    for thing, role in ((canvas, "CANVAS"), (brush, "BRUSH")):
        thing.modifiers.new("paint", "DYNAMIC_PAINT").ui_type = role
        with bpy.context.temp_override(object=thing, active_object=thing):
            bpy.ops.dpaint.type_toggle(type=role)
    surface = canvas.modifiers["paint"].canvas_settings.canvas_surfaces[0]
    surface.surface_format, surface.surface_type = "VERTEX", kind
    surface.frame_start, surface.frame_end = 1, 8
    if kind == "PAINT":
        with bpy.context.temp_override(object=canvas, active_object=canvas):
            bpy.ops.dpaint.output_toggle(output="A")
        material = paint(canvas, (1, 1, 1))
        canvas.data.materials.clear()
        canvas.data.materials.append(material)
        colour = material.node_tree.nodes.new("ShaderNodeVertexColor")
        colour.layer_name = surface.output_name_a
        material.node_tree.links.new(colour.outputs["Color"], material.node_tree.nodes["Principled BSDF"].inputs["Base Color"])
    return s, surface


@scene("dynamic paint, colour, not baked")
def dynamic_paint():
    paint_scene("PAINT")


@scene("dynamic paint, waves, not baked")
def dynamic_paint_waves():
    paint_scene("WAVE")


@scene("dynamic paint, waves, baked, which it can be on disk only")
def dynamic_paint_baked(path):
    paint_scene("WAVE")
    baked_on_disk(path)


@scene("dynamic paint, displacement that dries, not baked")
def dynamic_paint_displace():
    _, surface = paint_scene("DISPLACE")
    surface.use_dissolve, surface.dissolve_speed = True, 20


# -- fluids ------------------------------------------------------------------


def fluid_scene(path, kind, cache="REPLAY"):
    if not bpy.app.build_options.fluid:
        from base import Missing

        raise Missing("this Blender is built without fluids")
    s = stage(end=6)
    bpy.ops.mesh.primitive_cube_add(size=3, location=(0, 0, 0.5))
    domain = bpy.context.object
    domain.name = "domain"
    flow = ball((0, 0, 0.6 if kind == "LIQUID" else -0.2), 0.6, name="flow")
    flow.hide_render = True
    for thing, role in ((domain, "DOMAIN"), (flow, "FLOW")):
        thing.modifiers.new("fluid", "FLUID").fluid_type = role
    of = flow.modifiers["fluid"].flow_settings
    of.flow_type = "LIQUID" if kind == "LIQUID" else "SMOKE"
    of.flow_behavior = "GEOMETRY" if kind == "LIQUID" else "INFLOW"
    save(path)
    settings = domain.modifiers["fluid"].domain_settings
    settings.domain_type = kind
    settings.resolution_max = 16
    settings.cache_directory = "//cache_fluid"
    settings.cache_frame_start, settings.cache_frame_end = 1, 6
    settings.cache_type = cache
    if kind == "LIQUID":
        settings.use_mesh = True
        paint(domain, (0.1, 0.3, 0.9))
    else:
        material = paint(domain, (0.5, 0.5, 0.5))
        nodes = material.node_tree
        volume = nodes.nodes.new("ShaderNodeVolumePrincipled")
        volume.inputs["Density"].default_value = 5
        nodes.nodes.remove(nodes.nodes["Principled BSDF"])
        nodes.links.new(volume.outputs[0], nodes.nodes["Material Output"].inputs["Volume"])
    return s, domain


def bake_fluid(domain):
    with bpy.context.temp_override(object=domain, active_object=domain):
        bpy.ops.fluid.bake_all()


@scene("gas, not baked")
def gas(path):
    fluid_scene(path, "GAS")


@scene("gas, baked on disk")
def gas_baked(path):
    bake_fluid(fluid_scene(path, "GAS", "ALL")[1])


@scene("liquid, not baked")
def liquid(path):
    fluid_scene(path, "LIQUID")


@scene("liquid, baked on disk")
def liquid_baked(path):
    bake_fluid(fluid_scene(path, "LIQUID", "ALL")[1])


# -- simulation zones --------------------------------------------------------


@scene("a simulation zone in geometry nodes, not baked")
def simulation_zone():
    since(3, 6)
    stage(end=8)
    tree = bpy.data.node_groups.new("nodes", "GeometryNodeTree")
    if hasattr(tree, "interface"):  # 4.0
        tree.interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
        tree.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    else:
        tree.inputs.new("NodeSocketGeometry", "Geometry")
        tree.outputs.new("NodeSocketGeometry", "Geometry")
    new, link = tree.nodes.new, tree.links.new
    start, end = new("NodeGroupInput"), new("NodeGroupOutput")
    zone_in, zone_out, move = new("GeometryNodeSimulationInput"), new("GeometryNodeSimulationOutput"), new("GeometryNodeSetPosition")
    zone_in.pair_with_output(zone_out)
    move.inputs["Offset"].default_value = (0.1, 0.05, 0.15)
    link(start.outputs[0], zone_in.inputs[0])
    link(zone_in.outputs["Geometry"], move.inputs["Geometry"])
    link(move.outputs["Geometry"], zone_out.inputs["Geometry"])
    link(zone_out.outputs["Geometry"], end.inputs[0])
    cube().modifiers.new("nodes", "NODES").node_group = tree


# -- several at once ---------------------------------------------------------


@scene("cloth, rigid bodies and particles in one scene, one of them baked")
def several():
    s = rigid_scene(8)
    baked()
    ball((0, 0, -0.4), 0.9).modifiers.new("collision", "COLLISION")
    sheet().modifiers.new("cloth", "CLOTH")
    thing = cube((1.5, 0, -0.5), 0.6, name="emitter")
    thing.modifiers.new("emitter", "PARTICLE_SYSTEM")
    dust = thing.particle_systems[0].settings
    dust.count, dust.frame_start, dust.frame_end = 60, 1, 8
    dust.render_type, dust.instance_object = "OBJECT", ball((0, 0, -5), 0.1, name="grain")
    dust.particle_size = 1
    assert s and set_stage
