"""Asks the driver's own functions, in a Blender, what becomes of a scene whose
animation chooses its device. The driver's path is after "--"."""

import sys

import bpy

path = sys.argv[sys.argv.index("--") + 1]
source = open(path).read()
driver = {"__file__": path}
exec(source[: source.rindex("\nmain()")], driver)

scene = bpy.context.scene
scene.render.engine = "CYCLES"
for by in ("curve", "driver", "strip"):
    scene.animation_data_clear()
    scene.cycles.device = "CPU"
    if by == "driver":
        scene.driver_add("cycles.device").driver.expression = "0"
    else:
        scene.cycles.keyframe_insert("device", frame=1)
    if by == "strip":
        action = scene.animation_data.action
        scene.animation_data.nla_tracks.new().strips.new("device", 1, action)
        scene.animation_data.action = None
    scene.cycles.device = "GPU"
    scene.frame_set(2)
    assert scene.cycles.device == "CPU", by + " does not choose the device: the test shows nothing"
    driver["pin_device"](scene, "GPU")
    scene.frame_set(3)
    assert scene.cycles.device == "GPU", by + " still chooses the device"

# Cycles has no GPU switched on, so it would take the CPU and say nothing.
preferences = bpy.context.preferences.addons["cycles"].preferences
for device in preferences.devices:
    device.use = False
assert not any(driver["renders_on"](backend) for backend in driver["BACKENDS"])

for text, code in (
    ("Error: Failed to load CUDA kernel from '/x' (No binary)", "gpu_unavailable"),
    ("Error: Illegal address in CUDA queue synchronize (integrator_shade)", "gpu_unavailable"),
    ("Error: OptiX error OPTIX_ERROR_INTERNAL in optixLaunch", "gpu_unavailable"),
    ("Error: System is out of GPU and shared host memory", "out_of_memory"),
    ("Error: Out of memory in CUDA queue enqueue", "out_of_memory"),
    ("Error: a relationship is broken", "blender_crashed"),
):
    refused = driver["render_refusal"](text)
    assert refused.code == code, (text, refused.code)
print("pinned: all right")
