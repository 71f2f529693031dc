# SPDX-License-Identifier: GPL-3.0-or-later
"""The buttons. Each checks and returns at once; what takes time runs in a thread of session."""

import os
import subprocess
import time
import webbrowser

import bpy

from . import choices, loading, openscene, preferences, work
from .scenecopy import Copy

_session = None


def session():
    """This Blender's session; it begins when it is first needed."""
    global _session
    if _session is None:
        from .session import Session
        _session = Session(openscene.data_folder())
    return _session


def close():
    global _session
    if _session is not None:
        _session.close()
        _session = None


class Button(bpy.types.Operator):
    """What all buttons have. None adds a step to the undo history."""

    bl_options = {"INTERNAL"}
    online = True  # whether it needs the network

    def execute(self, context):
        if self.online and not openscene.online():
            self.report({"ERROR"}, "Allow Online Access in the preferences (System > Network)")
            return {"CANCELLED"}
        return self.act(context) or {"FINISHED"}

    def refuse(self, text):
        self.report({"ERROR"}, text)
        return {"CANCELLED"}


class SVCRENDER_OT_sign_in(Button):
    bl_idname = "svcrender.sign_in"
    bl_label = "Sign In"
    bl_description = "Get a code, and sign in with it in the browser"

    def act(self, context):
        server = preferences.get(context).server
        if not server.startswith(("http://", "https://")):
            return self.refuse("Enter the service's address first, such as https://render.example.com")
        session().sign_in(server)


class SVCRENDER_OT_open_page(Button):
    bl_idname = "svcrender.open_page"
    bl_label = "Open the Browser"
    bl_description = "Open the page on which the code is typed"

    def act(self, context):
        code = session().code
        if code:
            webbrowser.open(code.complete)


class SVCRENDER_OT_sign_out(Button):
    bl_idname = "svcrender.sign_out"
    bl_label = "Sign Out"
    bl_description = "End the key of this Blender. Started jobs continue"

    def act(self, context):
        session().sign_out()


class SVCRENDER_OT_price(Button):
    bl_idname = "svcrender.price"
    bl_label = "Get Price"
    bl_description = "Upload a copy of the scene and get its price. This costs nothing, and the open file stays as it is"

    def act(self, context):
        return ask_price(self, context)


class SVCRENDER_OT_from_menu(Button):
    bl_idname = "svcrender.from_menu"
    bl_label = "Render on the Service"
    bl_description = "Upload a copy of the scene and show its price in the render properties. This costs nothing"

    def act(self, context):
        show_panel(context)
        if not session().account.server():
            return self.refuse("Sign in first: Render Properties > Render service")
        return ask_price(self, context)


def show_panel(context):
    """Has an open properties editor show the panel; where there is none, the person opens one."""
    for window in context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "PROPERTIES":
                area.spaces.active.context = "RENDER"
                return


def ask_price(button, context):
    """Gets the price of the open scene. ``button`` refuses what cannot be priced."""
    if session().doing:
        return button.refuse("Please wait, or stop what is running")
    if context.scene.render.engine != "CYCLES":
        return button.refuse("The scene's render engine is not Cycles")
    painted = [image.name for image in bpy.data.images if image.is_dirty and image.source in ("FILE", "GENERATED")
               and image.type == "IMAGE" and image.users]
    if painted:
        return button.refuse("Save or pack your painted images first: %s" % ", ".join(painted[:5]))
    mine = preferences.get(context)
    try:
        frames, ocio = mine.frames(context.scene), mine.configuration()
    except RuntimeError as error:
        return button.refuse(str(error))
    path, changed = bpy.data.filepath, bpy.data.is_dirty
    copy = Copy(path)
    try:
        openscene.save_copy(copy, mine.pack)
    except RuntimeError as error:
        copy.remove()
        return button.refuse("The copy could not be saved: %s" % error)
    session().changed_until = time.monotonic() + 2.0 if changed else 0.0
    session().price(copy, bpy.app.binary_path, openscene.scene_name(path), frames, choices.settings(context.scene), ocio)


class SVCRENDER_OT_stop(Button):
    bl_idname = "svcrender.stop"
    bl_label = "Stop"
    bl_description = "Stop this step. Nothing was spent"
    online = False

    def act(self, context):
        session().stop()


class SVCRENDER_OT_look(Button):
    bl_idname = "svcrender.look"
    bl_label = "Free Test Frame"
    bl_description = "Render the current frame small and with few samples, for free"

    def act(self, context):
        quote = session().quote
        if quote:
            first, last, step = quote["frame_start"], quote["frame_end"], quote.get("frame_step") or 1
            wanted = min(max(context.scene.frame_current, first), last)
            session().see(first + (wanted - first) // step * step)


class SVCRENDER_OT_start(Button):
    bl_idname = "svcrender.start"
    bl_label = "Start"
    bl_description = "Accept the price and the terms of the service, and render"

    def act(self, context):
        if session().quote:
            session().start(preferences.get(context).frames_folder())


class SVCRENDER_OT_forget(Button):
    bl_idname = "svcrender.forget"
    bl_label = "Other Price"
    bl_description = "Discard this price. Nothing was spent"
    online = False

    def act(self, context):
        session().quote = None


class OfJob(Button):
    """A button of one job in the list."""

    quote_id: bpy.props.StringProperty(options={"HIDDEN", "SKIP_SAVE"})

    def entry(self):
        return session().jobs.get(self.quote_id)


class SVCRENDER_OT_cancel(OfJob):
    bl_idname = "svcrender.cancel"
    bl_label = "Cancel"
    bl_description = "Cancel the job, which then costs nothing. This is possible until a computer starts to render it"

    def act(self, context):
        entry = self.entry()
        if entry and entry.get("job_id"):
            session().cancel(entry)


class SVCRENDER_OT_remove(OfJob):
    bl_idname = "svcrender.remove"
    bl_label = "Remove from the List"
    bl_description = "Remove the job from this list. Its frames stay where they are"
    online = False

    def act(self, context):
        session().take_off(self.quote_id)


class SVCRENDER_OT_play(OfJob):
    bl_idname = "svcrender.play"
    bl_label = "Play"
    bl_description = "Play the frames in Blender's own player"
    online = False

    def act(self, context):
        frames = work.frames_of((self.entry() or {}).get("frames_folder", ""))
        if not frames:
            return self.refuse("The frames are not there")
        render = context.scene.render
        subprocess.Popen([bpy.app.binary_path, "-a", "-f", str(render.fps), str(render.fps_base), frames[0]],
                         stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


class SVCRENDER_OT_open_folder(OfJob):
    bl_idname = "svcrender.open_folder"
    bl_label = "Open Folder"
    bl_description = "Show the frames in the system's file browser"
    online = False

    def act(self, context):
        folder = (self.entry() or {}).get("frames_folder", "")
        if not os.path.isdir(folder):
            return self.refuse("The folder is not there")
        bpy.ops.wm.path_open(filepath=folder)


class SVCRENDER_OT_show_frames(OfJob):
    bl_idname = "svcrender.show_frames"
    bl_label = "Show Frames"
    bl_description = "Show the frames as a sequence in an image editor"
    online = False

    def act(self, context):
        frames = work.numbered((self.entry() or {}).get("frames_folder", ""))
        if not frames:
            return self.refuse("The frames are not there")
        show(context, frames)


class SVCRENDER_OT_show_look(Button):
    bl_idname = "svcrender.show_look"
    bl_label = "Show in an Image Editor"
    bl_description = "Show the test frame in an image editor"
    online = False

    def act(self, context):
        if session().look_path:
            show(context, [(1, session().look_path)])


#: The one image that the add-on shows pictures in; it has no user, so no file keeps it.
IMAGE = "svc render"


def show(context, frames):
    """Shows a picture, or a sequence of them, in an image editor: an open one, or one in a window
    of its own. ``frames`` has number and path of each."""
    path = frames[0][1]
    image = bpy.data.images.get(IMAGE)
    if image is None:
        image = bpy.data.images.load(path)
        image.name = IMAGE
    image.source = "SEQUENCE" if len(frames) > 1 else "FILE"
    image.filepath = path
    image.reload()
    space = editor(context)
    space.image = image
    if len(frames) > 1:
        loading.time_image(space.image_user, frames)
        space.image_user.use_auto_refresh = True


def editor(context):
    for window in context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "IMAGE_EDITOR":
                return area.spaces.active
    bpy.ops.wm.window_new()
    area = max(context.window_manager.windows[-1].screen.areas, key=lambda one: one.width * one.height)
    area.type = "IMAGE_EDITOR"
    return area.spaces.active


class SVCRENDER_OT_show_datablock(Button):
    bl_idname = "svcrender.show_datablock"
    bl_label = "Show"
    bl_description = "Select the objects that use it; an image is shown in an image editor too, if one is open"
    online = False

    collection: bpy.props.StringProperty(options={"HIDDEN", "SKIP_SAVE"})
    name: bpy.props.StringProperty(options={"HIDDEN", "SKIP_SAVE"})

    def act(self, context):
        block = getattr(bpy.data, self.collection, {}).get(self.name)
        if block is None:
            return self.refuse("%s is not in this file" % self.name)
        if self.collection == "images":
            for area in context.screen.areas:
                if area.type == "IMAGE_EDITOR":
                    area.spaces.active.image = block
        using = objects_using(block)
        for one in context.view_layer.objects:
            one.select_set(one in using)
        if using:
            context.view_layer.objects.active = next(iter(using))
        names = sorted(one.name for one in using)
        self.report({"INFO"}, "%s is used by %s" % (self.name, ", ".join(names[:5]) or "no object of this view layer"))


def objects_using(block):
    """The objects of the view layer that a datablock reaches, over materials and the like."""
    seen, edge = {block}, {block}
    while edge:
        found = bpy.data.user_map(subset=edge)
        edge = {user for users in found.values() for user in users} - seen
        seen |= edge
    return {one for one in bpy.context.view_layer.objects if one in seen}


class SVCRENDER_OT_render(bpy.types.Operator):
    """Price the open scene, start it unless it costs more than the ceiling, and put its frames into a folder, without a window"""

    bl_idname = "svcrender.render"
    bl_label = "Render on the Service"
    bl_options = {"INTERNAL"}

    frames: bpy.props.StringProperty(description="3, 1-250, 1-250x5 or 1-50,80; the scene's own range without it")
    folder: bpy.props.StringProperty(subtype="DIR_PATH")
    max_cents: bpy.props.IntProperty(default=-1, min=-1, description="The most that it may cost, in cents; -1 is any price")
    wait: bpy.props.BoolProperty(default=True, description="Bring the frames back before it returns")
    pack: bpy.props.BoolProperty(default=True, description="Pack the scene's files into the copy. Otherwise they are uploaded next to it")
    scene: bpy.props.StringProperty(description="The scene of the file; its active one without it")
    camera: bpy.props.StringProperty(description="The camera for all frames; the scene's own without it")
    view_layer: bpy.props.StringProperty(description="The only view layer; all that render without it")
    resolution_percentage: bpy.props.IntProperty(min=0, max=100, description="Size in percent of the scene's resolution; 0 is as in the file")
    samples: bpy.props.IntProperty(min=0, description="Samples; 0 is as in the file")
    ocio: bpy.props.StringProperty(description="An OpenColorIO configuration, or none; that of the variable OCIO without it")

    def execute(self, context):
        chosen = {name: getattr(self, name) for name in ("scene", "camera", "view_layer", "resolution_percentage", "samples") if getattr(self, name)}
        try:
            openscene.render(frames=self.frames, folder=bpy.path.abspath(self.folder), wait=self.wait, pack=self.pack,
                             max_cents=None if self.max_cents < 0 else self.max_cents, settings=chosen, ocio=self.ocio)
        except Exception as error:  # reported, so that a script that calls it raises
            from .texts import words
            self.report({"ERROR"}, words(error))
            return {"CANCELLED"}
        return {"FINISHED"}


CLASSES = (SVCRENDER_OT_sign_in, SVCRENDER_OT_open_page, SVCRENDER_OT_sign_out, SVCRENDER_OT_price, SVCRENDER_OT_from_menu,
           SVCRENDER_OT_stop, SVCRENDER_OT_look, SVCRENDER_OT_start, SVCRENDER_OT_forget, SVCRENDER_OT_cancel, SVCRENDER_OT_remove,
           SVCRENDER_OT_play, SVCRENDER_OT_open_folder, SVCRENDER_OT_show_frames, SVCRENDER_OT_show_look,
           SVCRENDER_OT_show_datablock, SVCRENDER_OT_render)
