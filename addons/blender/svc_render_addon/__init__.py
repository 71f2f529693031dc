# SPDX-License-Identifier: GPL-3.0-or-later
"""The add-on of svc, a render service, for Blender: prices the open scene, renders it at that
price on the service's computers and brings the frames back.

account, jobs, files, scenecopy, project and work need no bpy; packing runs in a second Blender;
openscene and ui drive them from Blender. This module imports none of them before Blender asks for it.
Start reading at work.
"""

bl_info = {
    "name": "Render service (svc)",
    "author": "svc",
    "version": (0, 0, 0),
    "blender": (3, 4, 0),
    "location": "Properties > Render > Render service",
    "description": "Render the scene on a render service, at a price that is known before",
    "category": "Render",
}


def register():
    from . import ui
    ui.register()


def unregister():
    from . import ui
    ui.unregister()


def render(**options):
    """Renders the open scene on the service: see openscene.render."""
    from . import openscene
    return openscene.render(**options)
