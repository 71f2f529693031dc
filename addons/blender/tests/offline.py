# SPDX-License-Identifier: GPL-3.0-or-later
"""A Blender with a window that must not use the network: presses every button that would, and
notes what the add-on says. A job in its list is not yet followed.

    blender --python offline.py -- SERVER TOLD"""

import importlib
import json
import sys
import traceback

import addon_utils
import bpy

server, told_path = sys.argv[sys.argv.index("--") + 1:]
NAME = next(module.__name__ for module in addon_utils.modules() if module.__name__.endswith("svc_render_addon"))
openscene, operators, panel, ui = (importlib.import_module(NAME + "." + part) for part in ("openscene", "operators", "panel", "ui"))
told = {"panel": [], "refused": {}}
write = panel.text


def writing(layout, context, words, icon="NONE"):
    told["panel"].append(words)
    write(layout, context, words, icon)


def refusal(act):
    try:
        act()
    except RuntimeError as error:
        return str(error).strip()
    return ""


def steps():
    panel.text = writing
    session = operators.session()
    session.jobs.add(server, {"quote_id": "QTE-1", "upload_id": "UPL-1", "frame_count": 1, "price_cents": 1}, "unfinished", "/")
    told["signed in"] = session.account.server()
    for one in operators.CLASSES:
        if getattr(one, "online", True):
            name = one.bl_idname.partition(".")[2]
            told["refused"][name] = refusal(getattr(bpy.ops.svcrender, name))
    told["refused"]["fetch_all"] = refusal(openscene.fetch_all)
    area = max(bpy.context.window_manager.windows[0].screen.areas, key=lambda one: one.width * one.height)
    area.type = "PROPERTIES"
    yield 0.5
    area.spaces.active.context = "RENDER"
    while not told["panel"]:
        yield 0.1
    for _ in range(10):
        ui.tick()
        yield 0.1
    told["following"] = len(session._following)


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
