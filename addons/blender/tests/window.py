# SPDX-License-Identifier: GPL-3.0-or-later
"""An artist at the panel, in a Blender with windows: presses the buttons one after the other,
as each becomes possible, and takes pictures of the screen.

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
import numpy

server, folder, told_path, screen = sys.argv[sys.argv.index("--") + 1:]
NAME = next(module.__name__ for module in addon_utils.modules() if module.__name__.endswith("svc_render_addon"))
operators, panel, preferences, notices, ui = (importlib.import_module(NAME + "." + part) for part in ("operators", "panel", "preferences", "notices", "ui"))
told = {"ticks": []}
#: A callback of the add-on that takes longer, in seconds, costs the window a frame of 30 a second.
FRAME = 1 / 30


def screen_rows():
    """The screen's width, and its rows of red, green and blue. The file has the form of xwd: a
    header of big-endian words, unused colours, and rows of blue, green, red and nothing."""
    with open(screen, "rb") as file:
        shown = file.read()
    header = struct.unpack(">25I", shown[:100])
    start, width, height, stride = header[0] + 12 * header[19], header[4], header[5], header[12]
    rows = numpy.frombuffer(shown, numpy.uint8, height * stride, start).reshape(height, stride)[:, :4 * width]
    return width, [row.tobytes() for row in rows.reshape(height, width, 4)[:, :, 2::-1]]


def shoot(name):
    """Writes the screen as a PNG."""
    width, lines = screen_rows()
    height, rows = len(lines), b"".join(b"\0" + line for line in lines)

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    with open(os.path.join(folder, name + ".png"), "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">2I5B", width, height, 8, 2, 0, 0, 0))
                   + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
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


class Clock:
    """Takes the time of the processor that the add-on's callbacks use in Blender's main thread,
    and notes which windows the panel was drawn in. The processor's time, because on a busy
    machine any callback takes long."""

    def __init__(self):
        self.spent, self.drawn = [], set()
        draw = panel.RENDER_PT_svcrender.draw

        def drawing(this, context):
            self.drawn.add(context.window.as_pointer())
            self.call(draw, this, context)

        panel.RENDER_PT_svcrender.draw = drawing
        bpy.app.timers.unregister(ui.tick)
        bpy.app.timers.register(lambda: self.call(ui.tick), persistent=True)

    def call(self, what, *arguments):
        began = time.thread_time()
        try:
            return what(*arguments)
        finally:
            self.spent.append(time.thread_time() - began)


def burden():
    """Puts into the file what takes a while to send, and a picture that nothing shows."""
    noise = bpy.data.images.new("noise", 2048, 1024)
    noise.pixels.foreach_set(numpy.random.default_rng(1).random(8 << 20, numpy.float32))
    noise.pack()
    spare = bpy.data.images.new("spare", 8, 8)
    spare.filepath_raw, spare.file_format = os.path.join(folder, "spare.png"), "PNG"
    spare.save()
    for image in (noise, spare):
        image.source, image.use_fake_user = "FILE", True


def middle(path):
    """The row in the middle of a picture, as the screen shows it."""
    picture = bpy.data.images.load(path)
    width, height = picture.size
    row = numpy.rint(numpy.array(picture.pixels[:]).reshape(height, width, 4)[height // 2, :, :3] * 255).astype(numpy.uint8).tobytes()
    bpy.data.images.remove(picture)
    return row


def played(frames):
    """Blender's own player shows every frame."""
    unseen, player = {middle(frame) for frame in frames}, None
    told["played"] = len(unseen)
    launch = operators.subprocess.Popen

    def launched(*arguments, **options):
        nonlocal player
        player = launch(*arguments, **options)
        return player

    operators.subprocess.Popen = launched
    bpy.ops.svcrender.play(quote_id=operators.session().jobs.all()[0]["quote_id"])
    operators.subprocess.Popen = launch

    def all_seen():
        lines = screen_rows()[1]
        unseen.difference_update([row for row in unseen if any(row in line for line in lines)])
        return not unseen

    yield from wait(all_seen)
    shoot("addon-player")
    player.kill()
    player.wait()


def reports():
    """What Blender has reported, as its Info editor shows it."""
    window = bpy.context.window_manager.windows[0]
    area = min(window.screen.areas, key=lambda one: one.width * one.height)
    kind, area.type = area.type, "INFO"
    with bpy.context.temp_override(window=window, area=area, region=area.regions[-1]):
        bpy.ops.info.select_all(action="SELECT")
        bpy.ops.info.report_copy()
    area.type = kind
    return bpy.context.window_manager.clipboard


def in_sight(window):
    """Whether the end of the panel is in sight where Blender opens the render properties, which
    nobody has scrolled: a line that is added there changes the editor's picture with its text."""
    area = next(one for one in window.screen.areas if one.type == "PROPERTIES")
    yield 1.0
    area.spaces.active.context = "RENDER"
    draw, seen = panel.RENDER_PT_svcrender.draw, []

    def ending(text):
        def drawing(this, context):  # Blender 3.4 crashes where it takes more
            draw(this, context)
            this.layout.label(text=text)

        return drawing

    for text in ("i", "i", "M" * 20):
        panel.RENDER_PT_svcrender.draw = ending(text)
        area.tag_redraw()
        yield 1.0
        top = window.height - area.y - area.height
        seen.append([row[3 * area.x:3 * (area.x + area.width)] for row in screen_rows()[1][top:top + area.height]])
    shoot("addon-opened")
    panel.RENDER_PT_svcrender.draw = draw
    told["sight"] = [window.width, window.height, seen[0] == seen[1], seen[1] != seen[2]]


def steps():
    window = bpy.context.window_manager.windows[0]
    yield from in_sight(window)
    clock = Clock()
    burden()
    session, mine = operators.session(), preferences.get(bpy.context)
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
    # Two steps can be undone. The add-on must add none, but for one of each price by which
    # Blender 3.4 knows again that the file has unsaved changes.
    camera = bpy.context.scene.camera.name
    for place in (1.0, 2.0):
        bpy.data.objects[camera].location.x = place
        with bpy.context.temp_override(window=window):
            bpy.ops.ed.undo_push(message="moved to %s" % place)
    yield 0.5  # Blender then knows that the file has changed

    def state():
        return (bpy.data.is_dirty, bpy.data.filepath, sum(one.name != operators.IMAGE for one in bpy.data.images))

    before = state()
    bpy.ops.svcrender.sign_in()
    yield from wait(lambda: session.code)
    yield 0.6
    shoot("addon-sign-in")
    print("CODE", session.code.user_code, flush=True)
    yield from wait(lambda: not session.doing)
    mine.which, mine.frame_list, mine.more, mine.samples = "LIST", "1, 2", True, 1
    yield 1.5  # panels move to their places
    shoot("addon-order")
    mine.more = False
    bpy.ops.svcrender.price()
    yield from wait(lambda: session.doing == "upload" and session.sent > 0)
    clock.spent.clear()
    yield from wait(lambda: session.doing != "upload")
    told["callbacks"], told["slow"], told["slowest"] = len(clock.spent), sum(one > FRAME for one in clock.spent), max(clock.spent)
    yield from wait(lambda: session.quote and not session.doing)
    bpy.ops.svcrender.look()
    yield from wait(lambda: session.look_path and not session.doing)
    yield 1.5
    shoot("addon-price")
    # The same as a project, in which the picture that nothing shows stays here.
    bpy.ops.svcrender.forget()
    mine.pack = False
    properties = next(area.spaces.active for area in bpy.context.window_manager.windows[0].screen.areas if area.type == "PROPERTIES")
    properties.context = "OBJECT"
    bpy.ops.svcrender.from_menu()
    if properties.context != "RENDER":
        raise AssertionError("the Render menu does not show the panel")
    yield from wait(lambda: session.quote and not session.doing)
    told["differ"] = [[one["text"], one["name"]] for one in session.differ]
    yield 0.6
    shoot("addon-project")
    told["price"] = session.quote["price_cents"]
    # A second window: what changes is drawn in both, and its image editor shows the look.
    with bpy.context.temp_override(window=window):
        bpy.ops.wm.window_new_main()
    second = bpy.context.window_manager.windows[-1]
    areas = sorted(second.screen.areas, key=lambda one: one.width * one.height)
    areas[-1].type, areas[-2].type = "PROPERTIES", "IMAGE_EDITOR"
    yield 1.0
    areas[-1].spaces.active.context = "RENDER"
    bpy.ops.svcrender.look()
    yield from wait(lambda: session.look_path and not session.doing)
    clock.drawn.clear()
    session.changes += 1
    both = {one.as_pointer() for one in bpy.context.window_manager.windows}
    yield from wait(lambda: clock.drawn >= both)
    bpy.ops.svcrender.show_look()
    told["windows"] = [len(both), len(bpy.context.window_manager.windows), areas[-2].spaces.active.image.filepath == session.look_path]
    yield 0.6
    shoot("addon-windows")
    bpy.ops.svcrender.start()
    yield from wait(lambda: any(live.get("picture") for live in session.live.values()))
    # It is closed, and the job continues in the first.
    with bpy.context.temp_override(window=second):
        bpy.ops.wm.window_close()
    yield 0.6
    shoot("addon-rendering")
    told["status"] = sorted(set(notices._written.values()) - {""})
    yield from wait(lambda: any(one["stage"] == "fetched" for one in session.jobs.all()))
    yield 1.5
    shoot("addon-frames")
    told["said"] = sorted(set(notices._written.values()) - {""})
    yield from wait(lambda: not any(notices._written.values()))
    told["notice"] = [line for line in reports().splitlines() if "is done" in line]
    if bpy.app.version >= (4, 0):  # there the report is in the status bar
        told["said"] += told["notice"]
    told["untouched"] = before == state() and before[0]
    own = 2 if bpy.app.version < (4, 0) else 0  # of two prices
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
    with bpy.context.temp_override(window=window):
        bpy.ops.svcrender.load(quote_id=entry["quote_id"], where="IMAGE")
    yield 0.6
    shoot("addon-image")
    for other in bpy.context.window_manager.windows[1:]:
        with bpy.context.temp_override(window=other):
            bpy.ops.wm.window_close()
    with bpy.context.temp_override(window=window):
        bpy.ops.svcrender.load(quote_id=entry["quote_id"], where="SEQUENCER")
    told["loaded"] = sorted(image.source for image in bpy.data.images if image.name.startswith("shot 010-"))
    area.type = "SEQUENCE_EDITOR"
    yield 0.6
    with bpy.context.temp_override(window=window, area=area, region=next(one for one in area.regions if one.type == "WINDOW")):
        bpy.ops.sequencer.view_all()
    yield 0.6
    shoot("addon-sequencer")
    area.type = "PROPERTIES"
    yield 0.3
    yield from played([os.path.join(entry["frames_folder"], name) for name in told["frames"]])


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
