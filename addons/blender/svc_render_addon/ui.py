# SPDX-License-Identifier: GPL-3.0-or-later
"""Puts buttons, panel and preferences into Blender, redraws the panel when something has
changed, and says what jobs do in the status bar."""

import time

import bpy

from . import choices, loading, notices, openscene, operators, panel, preferences
from .jobs import ENDED
from .texts import notice_of

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
    while not now.ended.empty():
        entry = now.ended.get()
        notices.tell(notice_of(entry), entry["stage"] == ENDED)
    notices.show(now.progress())
    return LOOK


@bpy.app.handlers.persistent
def opened(*_):
    """Another file was opened: what was chosen is of the one before."""
    choices.forget()
    notices.forget()


CLASSES = preferences.CLASSES + choices.CLASSES + operators.CLASSES + loading.CLASSES + notices.CLASSES + panel.CLASSES


def register():
    for one in CLASSES:
        bpy.utils.register_class(one)
    bpy.types.TOPBAR_MT_render.append(panel.draw_menu)
    if not bpy.app.background:
        panel.open_pictures()
        bpy.app.timers.register(tick, first_interval=1.0, persistent=True)
        bpy.app.handlers.load_post.append(opened)


def unregister():
    if bpy.app.timers.is_registered(tick):
        bpy.app.timers.unregister(tick)
        notices.clear()
        bpy.app.handlers.load_post.remove(opened)
    panel.close_pictures()
    operators.close()
    bpy.types.TOPBAR_MT_render.remove(panel.draw_menu)
    for one in reversed(CLASSES):
        bpy.utils.unregister_class(one)
