# SPDX-License-Identifier: GPL-3.0-or-later
"""An artist at the installed add-on, in a Blender without a window: makes files of several
kinds, signs in, prices, looks, starts, and ends Blender in the middle. What it finds goes to
a JSON file; the story of the service's tests compares it with what the service has seen.

    blender -b --python artist.py -- STEP SERVER FOLDER TOLD"""

import importlib
import json
import os
import sys
import threading

import addon_utils
import bpy

step, server, folder, told_path = sys.argv[sys.argv.index("--") + 1:]
NAME = next(module.__name__ for module in addon_utils.modules() if module.__name__.endswith("svc_render_addon"))


def part(name):
    return importlib.import_module("%s.%s" % (NAME, name))


account, jobs_module, openscene, scenecopy, texts, work = (part(name) for name in ("account", "jobs", "openscene", "scenecopy", "texts", "work"))
told = {}
never = threading.Event()


def picture(path, colour):
    image = bpy.data.images.new(os.path.basename(path), 8, 8)
    image.pixels = colour * 64
    image.filepath_raw, image.file_format = path, "PNG"
    image.save()
    bpy.data.images.remove(image)


def textured(path, image_path):
    """A scene whose plate shows a picture from the disk."""
    image = bpy.data.images.load(image_path)
    image.name = "wall"
    material = bpy.data.materials.new("Wall")
    material.use_nodes = True
    node = material.node_tree.nodes.new("ShaderNodeTexImage")
    node.image = image
    material.node_tree.links.new(node.outputs["Color"], material.node_tree.nodes["Principled BSDF"].inputs["Base Color"])
    bpy.ops.mesh.primitive_plane_add(size=8)
    plate = bpy.context.object
    plate.name = "Plate"
    plate.data.materials.append(material)
    if path:
        bpy.ops.wm.save_as_mainfile(filepath=path, relative_remap=True)
    return plate


def setup():
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    scene = bpy.context.scene
    scene.render.engine = "CYCLES"
    scene.cycles.samples, scene.cycles.use_denoising = 1, False
    scene.render.resolution_x, scene.render.resolution_y, scene.render.resolution_percentage = 48, 32, 100
    scene.frame_start, scene.frame_end = 1, 2
    scene.world = bpy.data.worlds.new("World")
    bpy.ops.object.camera_add(location=(0, 0, 10))
    scene.camera = bpy.context.object


def state():
    """What must not change by anything that the add-on does."""
    recent = os.path.join(bpy.utils.user_resource("CONFIG"), "recent-files.txt")
    return {"filepath": bpy.data.filepath, "dirty": bpy.data.is_dirty,
            "images": sorted((i.name, i.filepath, bool(i.packed_file)) for i in bpy.data.images),
            "libraries": sorted((l.name, l.filepath, bool(l.packed_file)) for l in bpy.data.libraries),
            "objects": sorted(o.name for o in bpy.data.objects), "frame": bpy.context.scene.frame_current,
            "recent": open(recent, encoding="utf-8").read() if os.path.exists(recent) else ""}


def priced(client, frames=None):
    """Prices the open scene as the panel does."""
    with scenecopy.Copy(bpy.data.filepath) as copy:
        openscene.save_copy(copy)
        copy.pack(bpy.app.binary_path, never)
        return work.send(client, copy, frames, lambda sent, total: None, never)


def shining(image, sequence=False):
    """A plate that shows a picture as it is, without light."""
    bpy.ops.mesh.primitive_plane_add(size=40)
    plate = bpy.context.object
    plate.name = "Plate"
    material = bpy.data.materials.new("Shining")
    material.use_nodes = True
    nodes, links = material.node_tree.nodes, material.node_tree.links
    nodes.clear()
    shown, shine, out = (nodes.new("ShaderNode" + kind) for kind in ("TexImage", "Emission", "OutputMaterial"))
    shown.image = bpy.data.images.load(image)
    if sequence:
        shown.image.source = "SEQUENCE"
        shown.image_user.frame_duration, shown.image_user.frame_start, shown.image_user.use_auto_refresh = 2, 1, True
    links.new(shown.outputs["Color"], shine.inputs["Color"])
    links.new(shine.outputs["Emission"], out.inputs["Surface"])
    plate.data.materials.append(material)
    return plate


def colour(path, x):
    """Which of red, green and blue a picture shows most, at a part of its width."""
    image = bpy.data.images.load(path)
    width, height = image.size
    at = 4 * (height // 2 * width + int(x * width))
    pixel = list(image.pixels[at:at + 3])
    bpy.data.images.remove(image)
    return "rgb"[pixel.index(max(pixel))]


def film():
    """A scene that no packing keeps whole: a sequence, a library with a picture of its own, a
    light's profile, a picture that nothing shows, and one that is gone."""
    at = os.path.join(folder, "fil m")
    for below in ("shots", "tex", "lib/tex"):
        os.makedirs(os.path.join(at, *below.split("/")))
    setup()
    picture(os.path.join(at, "lib", "tex", "blue.png"), [0.0, 0.0, 1.0, 1.0])
    shining(os.path.join(at, "lib", "tex", "blue.png")).name = "Blue"
    bpy.ops.wm.save_as_mainfile(filepath=os.path.join(at, "lib", "library.blend"))
    bpy.ops.file.make_paths_relative()
    bpy.ops.wm.save_mainfile()
    setup()
    bpy.ops.wm.save_as_mainfile(filepath=os.path.join(at, "shots", "s010.blend"))
    for name, shade in (("run_0001", [1.0, 0.0, 0.0, 1.0]), ("run_0002", [0.0, 1.0, 0.0, 1.0]), ("spare", [1.0] * 4), ("gone", [1.0] * 4)):
        picture(os.path.join(at, "tex", name + ".png"), shade)
    plate = shining(os.path.join(at, "tex", "run_0001.png"), sequence=True)
    bpy.data.images.load(os.path.join(at, "tex", "spare.png")).use_fake_user = True
    with bpy.data.libraries.load(os.path.join(at, "lib", "library.blend"), link=True, relative=True) as (_, target):
        target.objects = ["Blue"]
    plate.location.x, blue = -20, bpy.data.objects.new("Blue here", target.objects[0].data)
    bpy.context.collection.objects.link(blue)
    blue.location.x = 20
    with open(os.path.join(at, "tex", "lamp.ies"), "w", encoding="ascii") as profile:
        profile.write("IESNA:LM-63-1995\nTILT=NONE\n1 1 1 2 1 1 2 1 1 1\n1 1 1\n0 90\n0\n1 1\n")
    lamp = bpy.data.lights.new("Lamp", "POINT")
    lamp.use_nodes = True
    node = lamp.node_tree.nodes.new("ShaderNodeTexIES")
    node.mode, node.filepath = "EXTERNAL", os.path.join(at, "tex", "lamp.ies")
    lamp.node_tree.links.new(node.outputs["Fac"], lamp.node_tree.nodes["Emission"].inputs["Strength"])
    bpy.context.collection.objects.link(bpy.data.objects.new("Lamp", lamp))
    bpy.ops.file.make_paths_relative()
    bpy.ops.wm.save_mainfile()
    return os.path.join(at, "tex")


def arrives(client, jobs, quote_id):
    """Follows a job, stops when its first frame is here, damages that one, and follows again.
    Returns the job's status at the first frame, what was there of it, and whether the damaged one
    was replaced."""
    stop, seen = threading.Event(), []

    def first(job, picture):
        here = work.frames_of(work.job_folder(jobs.get(quote_id)))
        if here and not seen:
            seen.extend([job["status"], [os.path.basename(path) for path in here], here[0]])
            stop.set()

    stopped = work.follow(client, jobs, quote_id, first, stop)
    with open(seen[2], "rb") as frame:
        whole = frame.read()
    with open(seen[2], "wb") as frame:
        frame.write(whole[:100])
    work.follow(client, jobs, quote_id, lambda job, picture: None, never)
    with open(seen[2], "rb") as frame:
        return [stopped, seen[0], seen[1], frame.read() == whole, sorted(name for name in os.listdir(os.path.dirname(seen[2])) if name.endswith((".part", ".zip")))]


def as_project(client):
    """Prices the open scene with its files."""
    before = state()
    with scenecopy.Copy(bpy.data.filepath) as copy:
        openscene.save_copy(copy, pack=False)
        quote, missing, differ = work.send(client, copy, None, lambda sent, total: None, never)
    return quote, {"untouched": before == state(), "missing": [[one["text"], one["collection"], one["name"]] for one in missing],
                   "differ": [[one["text"], one["why"], one["collection"], one["name"]] for one in differ],
                   "files": sorted([one["kind"], one["path"], one["status"]] for one in quote["scene"]["files"])}


if step == "sign-in":
    mine = account.Account(openscene.data_folder())
    code = mine.begin(server)
    print("CODE", code.user_code, flush=True)
    mine.finish(code._replace(interval=0.2), never)
    stored = os.path.join(openscene.data_folder(), "sign-in.json")
    told = {"mode": oct(os.stat(stored).st_mode & 0o777), "server": mine.server(),
            "available_cents": mine.client().wallet()["available_cents"]}

elif step == "prices":
    client = account.Account(openscene.data_folder()).client()
    os.makedirs(os.path.join(folder, "Bilder für alle"), exist_ok=True)
    wall = os.path.join(folder, "Bilder für alle", "wänd 1.png")
    picture(wall, [0.1, 0.6, 0.2, 1.0])

    # Saved, with spaces and letters of other alphabets, and then changed without saving.
    setup()
    textured(os.path.join(folder, "Szene ä 影.blend"), wall)
    bpy.context.scene.frame_end = 3
    bpy.context.scene.frame_set(2)
    before = state()
    quote, missing, _ = priced(client)
    told["saved"] = {"untouched": before == state(), "filename": quote["filename"], "frames": quote["frame_count"],
                     "missing": missing, "warnings": [w["code"] for w in quote["warnings"]]}
    quote, _, _ = priced(client, 2)
    told["still"] = [quote["frame_start"], quote["frame_end"], quote["frame_count"]]

    # Never saved.
    setup()
    textured("", wall)
    before = state()
    quote, missing, _ = priced(client)
    told["unsaved"] = {"untouched": before == state(), "filename": quote["filename"], "missing": missing}

    # Renamed on disk while it is open, and the picture removed.
    setup()
    gone = os.path.join(folder, "gone.png")
    picture(gone, [1.0, 0.0, 0.0, 1.0])
    path = os.path.join(folder, "before.blend")
    textured(path, gone)
    os.rename(path, os.path.join(folder, "after.blend"))
    os.unlink(gone)
    before = state()
    quote, missing, _ = priced(client)
    told["missing"] = {"untouched": before == state(), "filename": quote["filename"], "missing": missing,
                       "warnings": [w["code"] for w in quote["warnings"]]}

    # What another file has is packed too.
    setup()
    library = os.path.join(folder, "library.blend")
    bpy.ops.mesh.primitive_cube_add(size=1)
    bpy.context.object.name = "Cube of the library"
    bpy.ops.wm.save_as_mainfile(filepath=library)
    setup()
    with bpy.data.libraries.load(library, link=True) as (source, target):
        target.objects = ["Cube of the library"]
    for one in target.objects:
        bpy.context.collection.objects.link(one)
    bpy.ops.wm.save_as_mainfile(filepath=os.path.join(folder, "linking.blend"))
    before = state()
    quote, missing, _ = priced(client)
    told["linked"] = {"untouched": before == state(), "missing": missing, "warnings": [w["code"] for w in quote["warnings"]]}

elif step == "project":
    mine = account.Account(openscene.data_folder())
    client, jobs, tex = mine.client(), jobs_module.Jobs(openscene.data_folder()), film()
    quote, told["whole"] = as_project(client)
    work.start(client, jobs, mine.server(), quote, "s010", os.path.join(folder, "out put"))
    told["arrived"] = arrives(client, jobs, quote["quote_id"])
    frames = work.frames_of(jobs.get(quote["quote_id"])["frames_folder"])
    told["colours"] = [colour(frame, x) for frame in frames for x in (0.2, 0.8)]
    # The same, as it is now: with a picture that is gone, and without saving.
    plate = shining(os.path.join(tex, "gone.png"))
    os.unlink(os.path.join(tex, "gone.png"))
    told["gone"] = as_project(client)[1]

elif step == "order":
    mine = account.Account(openscene.data_folder())
    client, jobs = mine.client(), jobs_module.Jobs(openscene.data_folder())
    bpy.ops.wm.open_mainfile(filepath=os.path.join(folder, "Szene ä 影.blend"))
    quote, _, _ = priced(client)
    look_path = os.path.join(folder, "look.jpg")
    look = work.look(client, quote, 1, look_path)
    told["look"] = [look["status"], open(look_path, "rb").read(2).hex()]
    job = work.start(client, jobs, mine.server(), quote, openscene.scene_name(bpy.data.filepath), os.path.join(folder, "out put"))
    told["job_id"] = job["job_id"]
    # Another start, whose answer is lost with Blender: the list has it without a job.
    second, _, _ = priced(client, 1)
    jobs.add(mine.server(), second, "lost", os.path.join(folder, "out put"))
    client.start(second, legal_acceptance="SVC_LEGAL_V1")
    # And one that never came to the service.
    third, _, _ = priced(client, 2)
    jobs.add(mine.server(), third, "never", folder)

elif step == "reopen":
    openscene.fetch_all()
    jobs = jobs_module.Jobs(openscene.data_folder())
    told["jobs"] = [[one["name"], one["stage"], one["status"], one["charged_cents"],
                     [os.path.basename(f) for f in work.frames_of(one["frames_folder"])],
                     sorted(n for n in os.listdir(one["frames_folder"]) if not n.endswith(".png"))] for one in jobs.all()]
    told["folders"] = [one["frames_folder"] for one in jobs.all()]

elif step == "render":
    bpy.ops.wm.open_mainfile(filepath=os.path.join(folder, "Szene ä 影.blend"))
    jobs, out = jobs_module.Jobs(openscene.data_folder()), os.path.join(folder, "out put", "render")
    known = len(jobs.all())
    try:
        bpy.ops.svcrender.render(frames="1,2", folder=out, max_cents=1)
    except RuntimeError as refused:
        told["refused"] = str(refused).strip()
    told["started"] = len(jobs.all()) - known
    bpy.ops.svcrender.render(frames="1,2", folder=out, max_cents=2)
    told["frames"] = [os.path.basename(frame) for frame in work.frames_of(jobs.all()[0]["frames_folder"])]

elif step == "outputs":
    mine = account.Account(openscene.data_folder())
    client, jobs = mine.client(), jobs_module.Jobs(openscene.data_folder())
    bpy.ops.wm.open_mainfile(filepath=os.path.join(folder, "five.blend"))
    quote, _, _ = priced(client, "7")
    work.start(client, jobs, mine.server(), quote, "five", os.path.join(folder, "out put"))
    at = work.follow(client, jobs, quote["quote_id"], lambda job, picture: None, never)
    told["files"] = sorted(os.path.relpath(os.path.join(one, name), at) for one, _, names in os.walk(at) for name in names if not name.endswith(".json"))

elif step == "load":
    # An OpenEXR job of frames with a gap, and the PNGs of an earlier one, into another file.
    setup()
    bpy.context.scene.frame_end = 4
    bpy.context.scene.render.image_settings.file_format = "OPEN_EXR"
    bpy.ops.wm.save_as_mainfile(filepath=os.path.join(folder, "float.blend"))
    bpy.ops.svcrender.render(frames="1,2,4", folder=os.path.join(folder, "out put"))
    jobs = jobs_module.Jobs(openscene.data_folder()).all()
    setup()
    scene = bpy.context.scene
    for job in (jobs[0], next(one for one in jobs if one["name"] == "s010")):
        for where in ("SEQUENCER", "COMPOSITOR"):
            bpy.ops.svcrender.load(quote_id=job["quote_id"], where=where)
        alone = bpy.data.images.load(work.frames_of(job["frames_folder"])[0])
        strips = sorted((one for one in scene.sequence_editor.sequences_all if one.name.startswith(job["name"])), key=lambda one: one.frame_final_start)
        node = scene.node_tree.nodes.active
        told[job["name"]] = {
            "strips": [[one.channel, one.frame_final_start, [part.filename for part in one.elements]] for one in strips],
            "colours": {one.colorspace_settings.name for one in strips} | {node.image.colorspace_settings.name} == {alone.colorspace_settings.name},
            "node": [node.image.source, node.frame_start, node.frame_duration, node.frame_offset, bool(node.outputs["Image"].links)]}
        bpy.data.images.remove(alone)

elif step == "choose":
    choices, preferences = part("choices"), part("preferences")
    mine, scene = preferences.get(bpy.context), bpy.context.scene

    def asked(act):
        try:
            return act()
        except RuntimeError as refused:
            return str(refused)

    # Two cameras see different colours; the second view layer lacks the plate of the first.
    setup()
    scene = bpy.context.scene
    scene.render.image_settings.file_format = "PNG"
    scene.cycles.samples, scene.frame_end, scene.frame_current = 4, 9, 2
    for name, shade in (("red", [1.0, 0.0, 0.0, 1.0]), ("blue", [0.0, 0.0, 1.0, 1.0])):
        picture(os.path.join(folder, name + ".png"), shade)
    shining(os.path.join(folder, "red.png"))
    far = shining(os.path.join(folder, "blue.png"))
    far.location.x = 100
    bpy.ops.object.camera_add(location=(100, 0, 10))
    bpy.context.object.name = "Far"
    scene.view_layers.new("Empty").layer_collection.exclude = True
    for frame, name in ((3, "begin"), (5, "middle"), (7, "end")):
        scene.timeline_markers.new(name, frame=frame).select = name != "middle"
    bpy.ops.wm.save_as_mainfile(filepath=os.path.join(folder, "choices.blend"))

    told["file"] = [mine.resolution, mine.samples, choices.settings(scene)]
    told["menus"] = [[one[1] for one in items(mine, bpy.context)] for items in (choices.camera_items, choices.layer_items)]
    mine.which = "MARKERS"
    told["frames"] = [asked(lambda: mine.frames(scene))]
    for marker in scene.timeline_markers:
        marker.select = marker.name == "end"
    told["frames"].append(asked(lambda: mine.frames(scene)))
    for mine.which, mine.frame_list in (("SCENE", ""), ("CURRENT", ""), ("LIST", ""), ("LIST", " 1-3, 9 ")):
        told["frames"].append(asked(lambda: mine.frames(scene)))
    mine.camera, mine.view_layer, mine.resolution, mine.samples = "Far", scene.view_layers[0].name, 50, 99
    told["chosen"] = choices.settings(scene)
    mine.samples, mine.resolution = 2, 100
    told["less"] = choices.settings(scene)
    bpy.data.objects["Far"].name = "Away"
    told["renamed"] = [mine.camera, sorted(choices.settings(scene))]
    bpy.ops.wm.open_mainfile(filepath=os.path.join(folder, "choices.blend"))
    part("ui").opened()  # a Blender without a window does not listen
    told["reopened"] = choices.settings(bpy.context.scene)

    # The same by the operator, as rendered.
    bpy.ops.svcrender.render(frames="1", folder=os.path.join(folder, "out put"), camera="Far", view_layer=bpy.context.scene.view_layers[0].name, resolution_percentage=50, samples=1)
    frame = work.frames_of(jobs_module.Jobs(openscene.data_folder()).all()[0]["frames_folder"])[0]
    told["size"] = list(bpy.data.images.load(frame).size)
    told["colour"] = colour(frame, 0.5)

elif step == "colours":
    bpy.ops.wm.open_mainfile(filepath=os.path.join(folder, "shot.blend"))
    told["folders"] = []
    for options in ({}, {"pack": False}, {"ocio": "none"}):
        bpy.ops.svcrender.render(folder=os.path.join(folder, "out put"), **options)
        told["folders"].append(jobs_module.Jobs(openscene.data_folder()).all()[0]["frames_folder"])
    try:
        bpy.ops.svcrender.render(ocio="ocio://default")
    except RuntimeError as refused:
        told["refused"] = str(refused)

elif step == "cancel":
    mine = account.Account(openscene.data_folder())
    client, jobs = mine.client(), jobs_module.Jobs(openscene.data_folder())
    setup()
    quote, _, _ = priced(client)
    job = work.start(client, jobs, mine.server(), quote, "shot", folder)
    told["waits"] = texts.state_of(jobs.get(quote["quote_id"]), client.job(job["job_id"]))
    client.cancel(job["job_id"])
    told["frames"] = work.follow(client, jobs, quote["quote_id"], lambda job, picture: None, never)
    told["notice"] = texts.notice_of(jobs.get(quote["quote_id"]))

elif step == "sign-out":
    mine = account.Account(openscene.data_folder())
    client = mine.client()
    mine.sign_out()
    told["server"] = mine.server()
    try:
        client.wallet()
    except account.SignInNeeded:
        told["refused"] = True

with open(told_path, "w", encoding="utf-8") as file:
    json.dump(told, file)
