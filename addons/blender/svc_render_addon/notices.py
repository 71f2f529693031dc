# SPDX-License-Identifier: GPL-3.0-or-later
"""Progress in the status bar, and a notice there when a job has ended, which is one of Blender's
own reports too, so that the Info editor keeps it. Neither takes the focus."""

import time

import bpy

#: Seconds for which a notice stays in the status bar.
NOTICE = 10.0

_written = {}  # name of a workspace -> what its status bar says
_notice = ["", 0.0]  # what it says before all else, and until when


def show(text):
    """Writes a line into the status bar of every window; "" gives the bar back to Blender. While a
    tool runs that shows its keys there, nothing changes."""
    windows = bpy.context.window_manager.windows
    if any(getattr(window, "modal_operators", ()) for window in windows):  # 4.2 and newer say so
        return
    if time.monotonic() < _notice[1]:
        text = _notice[0]
    for window in windows:
        name = window.workspace.name
        if _written.get(name) == text:
            continue
        # Blender writes to the workspace of the context, whose window a timer need not have.
        with bpy.context.temp_override(window=window):
            window.workspace.status_text_set(text or None)
        _written[name] = text


def forget():
    """Another file may have other workspaces."""
    _written.clear()


def clear():
    """Gives the status bars back."""
    _notice[1] = 0.0
    show("")


def tell(text, failed=False):
    """Has a window report something. Newer Blenders show that in the status bar; in older ones it
    is written there for a while."""
    if bpy.app.version < (4, 0):
        _notice[:] = [text, time.monotonic() + NOTICE]
    windows = bpy.context.window_manager.windows
    if windows:
        with bpy.context.temp_override(window=windows[0]):
            bpy.ops.svcrender.notice("INVOKE_DEFAULT", text=text, failed=failed)


class SVCRENDER_OT_notice(bpy.types.Operator):
    """Report how a job has ended"""

    bl_idname = "svcrender.notice"
    bl_label = "Render Service"
    bl_options = {"INTERNAL"}

    text: bpy.props.StringProperty(options={"SKIP_SAVE"})
    failed: bpy.props.BoolProperty(options={"SKIP_SAVE"})

    # A report reaches the window only from an operator that an event ends: so this one waits for
    # its timer, and lets every other event pass.
    def invoke(self, context, event):
        self._timer = context.window_manager.event_timer_add(0.05, window=context.window)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        if event.type != "TIMER":
            return {"PASS_THROUGH"}
        context.window_manager.event_timer_remove(self._timer)
        self.report({"WARNING"} if self.failed else {"INFO"}, self.text)
        return {"FINISHED", "PASS_THROUGH"}


CLASSES = (SVCRENDER_OT_notice,)
