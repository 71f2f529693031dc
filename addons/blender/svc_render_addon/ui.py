# SPDX-License-Identifier: GPL-3.0-or-later
"""Puts buttons, panel and preferences into Blender, and redraws the panel when something has
changed."""

import time

import bpy

from . import openscene, operators, panel, preferences

#: Seconds between two looks at what has changed. A look costs microseconds.
LOOK = 0.2

_drawn = -1


def tick():
    """The timer: follows jobs, and redraws the properties of every window after a change."""
    global _drawn
    now = operators.session()
    if openscene.online():
        now.keep_following()
    if time.monotonic() < now.changed_until and not bpy.data.is_dirty:
        openscene.mark_changed()
    if now.changes != _drawn:
        _drawn = now.changes
        for window in bpy.context.window_manager.windows:
            for area in window.screen.areas:
                if area.type == "PROPERTIES":
                    area.tag_redraw()
    return LOOK


def register():
    for one in preferences.CLASSES + operators.CLASSES + panel.CLASSES:
        bpy.utils.register_class(one)
    bpy.types.TOPBAR_MT_render.append(panel.draw_menu)
    if not bpy.app.background:
        panel.open_pictures()
        bpy.app.timers.register(tick, first_interval=1.0, persistent=True)


def unregister():
    if bpy.app.timers.is_registered(tick):
        bpy.app.timers.unregister(tick)
    panel.close_pictures()
    operators.close()
    bpy.types.TOPBAR_MT_render.remove(panel.draw_menu)
    for one in reversed(preferences.CLASSES + operators.CLASSES + panel.CLASSES):
        bpy.utils.unregister_class(one)
