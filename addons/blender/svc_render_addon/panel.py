# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel in the render properties. Drawing reads the session and changes nothing."""

import os
import textwrap

import bpy
import bpy.utils.previews

from . import choices, openscene, preferences
from .jobs import ENDED, FETCHED
from .operators import session
from .texts import between, ended_text, frames_text, money, settings_text, state_of, when

#: Warnings by how much they change the picture.
ICONS = {"picture": "ERROR", "result": "INFO", "time": "TIME"}
DOING = {"sign out": "Signing out", "pack": "Packing a copy of the scene", "look": "Rendering the test frame",
         "start": "Starting", "cancel": "Cancelling"}
#: How many jobs and missing files are listed.
LISTED = 8

_pictures = None


def picture(path):
    """The icon of a picture on disk, read once. 0 while there is none."""
    if not path or _pictures is None or not os.path.exists(path):
        return 0
    if path not in _pictures:
        if len(_pictures) > 50:
            _pictures.clear()
        _pictures.load(path, path, "IMAGE")
    return _pictures[path].icon_id


#: A panel of less than so many pixels, such as that of a new window, has no room for texts in a row.
NARROW = 260


def width_of(context):
    return context.region.width / context.preferences.system.ui_scale


def text(layout, context, words, icon="NONE", share=1.0):
    """Words over as many lines as the panel's width needs; ``share`` is the part of it that is theirs."""
    lines = textwrap.wrap(words, max(9 if share < 0.5 else 13 if share < 1 else 20, int(share * width_of(context) / 7.5) - 6)) or [""]
    column = layout.column(align=True)
    for number, line in enumerate(lines):
        column.label(text=line, icon=icon if number == 0 else "BLANK1" if icon != "NONE" else "NONE")


class RENDER_PT_svcrender(bpy.types.Panel):
    bl_label = "Render service"
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "render"
    bl_parent_id = "RENDER_PT_context"  # which is on top, with the choice of the engine

    def draw(self, context):
        layout, now = self.layout, session()
        if not openscene.online():
            text(layout, context, "Blender is offline. Allow Online Access to render on the service.", "INTERNET_OFFLINE" if hasattr(bpy.app, "online_access") else "ERROR")
            layout.operator("screen.userpref_show", text="Preferences > System > Network").section = "SYSTEM"
            return
        if now.note:
            text(layout.box(), context, now.note, "ERROR")
        if now.code:
            self.draw_code(layout, context, now)
        elif not now.account.server():
            self.draw_sign_in(layout, context, now)
        else:
            self.draw_order(layout, context, now)
        self.draw_jobs(layout, context, now)

    def draw_sign_in(self, layout, context, now):
        layout.prop(preferences.get(context), "server")
        row = layout.row()
        row.enabled = not now.doing
        row.operator("svcrender.sign_in", icon="USER")

    def draw_code(self, layout, context, now):
        box = layout.box()
        text(box, context, "Open %s and type:" % now.code.address)
        row = box.row()
        row.alignment = "CENTER"
        row.scale_y = 1.6
        row.label(text=now.code.user_code)
        row = box.row()
        row.operator("svcrender.open_page", icon="URL")
        row.operator("svcrender.stop", icon="X")

    def draw_order(self, layout, context, now):
        row = layout.row()
        row.label(text=now.account.server(), icon="USER")
        row.operator("svcrender.sign_out", text="", icon="X")
        if now.doing:
            self.draw_doing(layout, now)
        elif now.quote:
            self.draw_quote(layout, context, now)
        else:
            mine = preferences.get(context)
            if width_of(context) < NARROW:
                layout.prop(mine, "which", text="Frames")
            else:
                layout.row().prop(mine, "which", expand=True)
            if mine.which == "LIST":
                layout.prop(mine, "frame_list")
            self.draw_settings(layout, context, mine)
            layout.prop(mine, "folder")
            layout.prop(mine, "pack")
            layout.operator("svcrender.price", icon="FILE_REFRESH")

    def draw_settings(self, layout, context, mine):
        chosen = choices.settings(context.scene)
        row = layout.row()
        head = row.row()
        head.alignment = "LEFT"
        head.prop(mine, "more", icon="TRIA_DOWN" if mine.more else "TRIA_RIGHT", emboss=False)
        if chosen:
            reset = row.row()
            reset.alignment = "RIGHT"
            reset.operator("svcrender.as_in_file", text="", icon="LOOP_BACK")
        if mine.more:
            column = layout.column()
            column.use_property_split, column.use_property_decorate = True, False
            for name in ("camera", "view_layer", "resolution", "samples"):
                column.prop(mine, name)
        elif chosen:
            text(layout, context, settings_text(chosen), "INFO")
        if os.environ.get("OCIO"):
            layout.prop(mine, "ocio")

    def draw_doing(self, layout, now):
        row = layout.row()
        if now.doing == "upload":
            share = now.sent / max(now.total, 1)
            words = "Uploaded %.1f of %.1f MB" % (now.sent / 1e6, now.total / 1e6)
            if hasattr(row, "progress"):  # 4.0 and newer
                row.progress(factor=share, text=words)
            else:
                row.label(text=words + " (%d %%)" % (100 * share), icon="EXPORT")
        else:
            row.label(text=DOING.get(now.doing, now.doing), icon="SORTTIME")
        if now.doing in ("pack", "upload"):
            row.operator("svcrender.stop", text="", icon="X")

    def draw_quote(self, layout, context, now):
        quote = now.quote
        box = layout.box()
        row = box.row()
        text(row, context, "%s: %s, %s" % (now.scene or "untitled", frames_text(quote["frame_count"]), money(quote["price_cents"], quote.get("currency"))), share=0.99)
        row.operator("svcrender.forget", text="", icon="X")
        if quote.get("settings"):
            text(box, context, settings_text(quote["settings"]), "SETTINGS")
        if now.missing:
            text(box, context, "Missing files, without which the picture looks different", "ERROR")
            self.draw_files(box, now.missing)
        for why in dict.fromkeys(file["why"] for file in now.differ):
            text(box, context, why, "INFO")
            self.draw_files(box, [file for file in now.differ if file["why"] == why])
        told = (now.look or {}).get("findings") or quote.get("warnings") or []
        for warning in told:
            text(box, context, warning["message"], ICONS.get(warning.get("severity"), "ERROR"))
        icon = picture(now.look_path)
        if icon:
            box.template_icon(icon_value=icon, scale=10)
            box.operator("svcrender.show_look", icon="IMAGE_DATA")
        estimate = (now.look or {}).get("estimate")
        if estimate and estimate.get("total_seconds_high"):
            box.label(text=between(estimate["total_seconds_low"], estimate["total_seconds_high"]), icon="TIME")
        row = box.row()
        row.operator("svcrender.look", icon="HIDE_OFF")
        if now.wallet:
            lacks = quote["price_cents"] - now.wallet["available_cents"]
            box.label(text="Balance: %s" % money(now.wallet["available_cents"], quote.get("currency")))
            if lacks > 0:
                text(box, context, "You need %s more." % money(lacks, quote.get("currency")), "ERROR")
                box.operator("wm.url_open", text="Add Credit", icon="URL").url = now.account.server().rstrip("/") + "/console/wallet"
        text(box, context, "Starting reserves the price and accepts the terms of the service.")
        if quote.get("terms_url"):
            box.operator("wm.url_open", text="Read the Terms", icon="URL").url = quote["terms_url"]
        row = box.row()
        row.scale_y = 1.4
        row.operator("svcrender.start", text="Start for %s" % money(quote["price_cents"], quote.get("currency")), icon="RENDER_ANIMATION")

    def draw_files(self, box, files):
        for file in files[:LISTED]:
            row = box.row()
            row.label(text=file["text"], icon="BLANK1")
            if file["name"]:
                show = row.operator("svcrender.show_datablock", text=file["name"], icon="RESTRICT_SELECT_OFF")
                show.collection, show.name = file["collection"], file["name"]
            else:
                row.label(text=file["owner"])
        if len(files) > LISTED:
            box.label(text="and %d more" % (len(files) - LISTED))

    def draw_jobs(self, layout, context, now):
        jobs = now.jobs.all()
        if not jobs:
            return
        layout.label(text="Jobs")
        for entry in jobs[:LISTED]:
            self.draw_job(layout.box(), context, entry, now.live.get(entry["quote_id"], {}))
        if len(jobs) > LISTED:
            layout.label(text="and %d older" % (len(jobs) - LISTED))

    def draw_job(self, box, context, entry, live):
        job = live.get("job") or {}
        icon = picture(live.get("picture") or entry.get("picture"))
        width = width_of(context)
        row = box.split(factor=min(0.4, 90 / max(width, 1)))
        if icon:
            row.template_icon(icon_value=icon, scale=3.6)
        else:
            row.label(text="", icon="IMAGE_DATA")
        column = row.column(align=True)
        head = column.row()
        text(head, context, "%s: %s" % (entry["name"], title(entry, job)), share=0.4)
        if entry["stage"] in (FETCHED, ENDED):
            head.operator("svcrender.remove", text="", icon="X").quote_id = entry["quote_id"]
        elif job.get("cancellable"):
            head.operator("svcrender.cancel", text="", icon="X").quote_id = entry["quote_id"]
        frames = "Frames " + entry["frame_list"] if entry.get("frame_list") else frames_text(entry["frame_count"])
        price = money(entry["price_cents"], entry.get("currency"))
        for words in (frames, price) if width < NARROW else (frames + ", " + price,):
            text(column, context, words, share=0.65)
        if entry.get("noted"):
            text(column, context, when(entry["noted"]), share=0.65)
        if entry["stage"] == ENDED:
            text(box, context, ended_text(entry), "INFO")
        elif entry["stage"] != FETCHED:
            words, share = state_of(entry, job), job.get("fetched", (job.get("frames_completed") or 0) / max(entry["frame_count"], 1))
            words = words[:1].upper() + words[1:]
            if hasattr(box, "progress"):  # 4.0 and newer
                box.progress(factor=share, text=words)
            else:
                text(box, context, words, "RENDER_ANIMATION")
        if entry["stage"] == FETCHED or job.get("frames_here") or entry.get("frames_here"):
            row = box.row(align=True)
            for name, icon in (("show_frames", "IMAGE_DATA"), ("play", "PLAY"), ("open_folder", "FILE_FOLDER")):
                row.operator("svcrender." + name, icon=icon, **({"text": ""} if width < NARROW else {})).quote_id = entry["quote_id"]
            load = box.row()
            load.operator_menu_enum("svcrender.load", "where", text="Load Into", icon="IMPORT").quote_id = entry["quote_id"]


#: A job's state in one or two words.
TITLES = {"queued": "waiting", "rendering": "rendering", "packaging": "finishing", "completed": "downloading", "failed": "failed", "cancelled": "cancelled"}


def title(entry, job):
    return "done" if entry["stage"] == FETCHED else TITLES.get(job.get("status") or entry.get("status"), "starting")


def open_pictures():
    global _pictures
    _pictures = bpy.utils.previews.new()


def close_pictures():
    global _pictures
    if _pictures is not None:
        bpy.utils.previews.remove(_pictures)
        _pictures = None


def draw_menu(menu, context):
    """An entry of the Render menu."""
    menu.layout.separator()
    menu.layout.operator("svcrender.from_menu", icon="WORLD")


CLASSES = (RENDER_PT_svcrender,)
