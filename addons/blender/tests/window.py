# SPDX-License-Identifier: GPL-3.0-or-later
"""An artist at the panel, in a Blender with a window: presses the buttons one after the other,
as each becomes possible, and takes pictures of the window.

    blender scene.blend --python window.py -- SERVER FOLDER TOLD SCREEN

SCREEN is the file in which Xvfb keeps what the screen shows (-fbdir): Blender 4.3 cannot read
it back from every driver."""

import importlib
import json
import os
import struct
import sys
import time
import traceback
import zlib

import addon_utils
import bpy

server, folder, told_path, screen = sys.argv[sys.argv.index("--") + 1:]
NAME = next(module.__name__ for module in addon_utils.modules() if module.__name__.endswith("svc_render_addon"))
operators = importlib.import_module(NAME + ".operators")
preferences = importlib.import_module(NAME + ".preferences")
told = {"ticks": []}


def shoot(name):
    """Writes the screen as a PNG. The file has the form of xwd: a header of big-endian words,
    colours that nobody uses, and rows of blue, green, red and nothing."""
    with open(screen, "rb") as file:
        shown = file.read()
    header = struct.unpack(">25I", shown[:100])
    start, width, height, stride = header[0] + 12 * header[19], header[4], header[5], header[12]
    rows = bytearray()
    for at in range(start, start + height * stride, stride):
        row = bytearray(3 * width)
        row[0::3], row[1::3], row[2::3] = (shown[at + i:at + 4 * width:4] for i in (2, 1, 0))
        rows += b"\0" + row

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    with open(os.path.join(folder, name + ".png"), "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">2I5B", width, height, 8, 2, 0, 0, 0))
                   + chunk(b"IDAT", zlib.compress(bytes(rows))) + chunk(b"IEND", b""))
    told.setdefault("pictures", []).append([name, len(set(rows))])


def wait(until, seconds=120):
    """Steps until something holds. The longest time between two steps of 10 ms says how long
    the window could not have drawn."""
    ends, last, longest = time.monotonic() + seconds, time.monotonic(), 0.0
    while not until():
        yield 0.01
        now = time.monotonic()
        longest, last = max(longest, now - last), now
        if now > ends:
            raise TimeoutError("%s, doing %r, note %r" % (until.__name__, operators.session().doing, operators.session().note))
    told["ticks"].append(round(longest, 3))


def steps():
    session, mine = operators.session(), preferences.get(bpy.context)
    window = bpy.context.window_manager.windows[0]
    area = max(window.screen.areas, key=lambda one: one.width * one.height)
    area.type = "PROPERTIES"
    yield 1.0
    area.spaces.active.context = "RENDER"
    for panel in list(bpy.types.Panel.__subclasses__()):
        if panel.__name__.startswith(("CYCLES_RENDER_PT", "RENDER_PT_grease", "RENDER_PT_simplify", "RENDER_PT_color")):
            try:
                bpy.utils.unregister_class(panel)  # so that the picture has the whole of ours
            except RuntimeError:
                pass
    mine.server, mine.folder = server, os.path.join(folder, "frames")
    # Two steps can be undone. The add-on must add none, but for the one of its own by which
    # Blender 3.4 knows again that the file has unsaved changes.
    camera = bpy.context.scene.camera.name
    for place in (1.0, 2.0):
        bpy.data.objects[camera].location.x = place
        with bpy.context.temp_override(window=window):
            bpy.ops.ed.undo_push(message="moved to %s" % place)
    yield 0.5  # Blender then knows that the file has changed

    def state():
        return (bpy.data.is_dirty, bpy.data.filepath, len(bpy.data.images))

    before = state()
    bpy.ops.svcrender.sign_in()
    yield from wait(lambda: session.code)
    yield 0.6
    shoot("addon-sign-in")
    print("CODE", session.code.user_code, flush=True)
    yield from wait(lambda: not session.doing)
    yield 0.6
    shoot("addon-order")
    bpy.ops.svcrender.price()
    yield from wait(lambda: session.quote and not session.doing)
    bpy.ops.svcrender.look()
    yield from wait(lambda: session.look_path and not session.doing)
    yield 0.6
    shoot("addon-price")
    told["price"] = session.quote["price_cents"]
    bpy.ops.svcrender.start()
    yield from wait(lambda: any(live.get("picture") for live in session.live.values()))
    yield 0.6
    shoot("addon-rendering")
    yield from wait(lambda: any(one["stage"] == "fetched" for one in session.jobs.all()))
    yield 0.6
    shoot("addon-frames")
    told["untouched"] = before == state() and before[0]
    own = 1 if bpy.app.version < (4, 0) else 0
    told["note"] = session.note
    entry = session.jobs.all()[0]
    told["frames"] = sorted(name for name in os.listdir(entry["frames_folder"]) if name.endswith(".png"))
    with bpy.context.temp_override(window=window):
        for _ in range(own):
            bpy.ops.ed.undo()
        bpy.ops.ed.undo()
        told["undone"] = bpy.data.objects[camera].location.x
        for _ in range(1 + own):
            bpy.ops.ed.redo()
        told["redone"] = bpy.data.objects[camera].location.x
    window = bpy.context.window_manager.windows[0]
    used = next(one for one in bpy.context.scene.objects if one.type == "MESH")
    with bpy.context.temp_override(window=window, area=window.screen.areas[0]):
        bpy.ops.svcrender.show_datablock(collection="meshes", name=used.data.name)
        told["selected"] = [one.name for one in bpy.context.view_layer.objects if one.select_get()] == [used.name]
        bpy.ops.svcrender.show_frames(quote_id=entry["quote_id"])
    spaces = [area.spaces.active for one in bpy.context.window_manager.windows for area in one.screen.areas if area.type == "IMAGE_EDITOR"]
    told["shown"] = [(space.image.source, space.image_user.frame_duration) for space in spaces if space.image]
    yield 0.6
    shoot("addon-shown")


going = steps()


def step():
    try:
        return next(going)
    except StopIteration:
        pass
    except BaseException:
        told["error"] = traceback.format_exc()
    with open(told_path, "w", encoding="utf-8") as file:
        json.dump(told, file)
    bpy.ops.wm.quit_blender()
    return None


bpy.app.timers.register(step, first_interval=1.0)
