"""An engine that is not Cycles and needs no screen: it fills the picture with one colour."""

import bpy

NAME = "PLAIN"


class PlainEngine(bpy.types.RenderEngine):
    bl_idname = NAME
    bl_label = "Plain"

    def render(self, depsgraph):
        render = depsgraph.scene.render
        share = render.resolution_percentage / 100
        width, height = int(render.resolution_x * share), int(render.resolution_y * share)
        result = self.begin_result(0, 0, width, height)
        result.layers[0].passes["Combined"].rect = [[0.8, 0.1, 0.3, 1.0]] * (width * height)
        self.end_result(result)


bpy.utils.register_class(PlainEngine)
