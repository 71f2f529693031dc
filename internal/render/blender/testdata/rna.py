"""Prints every property of Blender's data that could hold code: those that point to texts,
and texts and switches whose names speak of code. Add-ons, operators and the interface are
left out: nothing of them is in a file that is rendered."""

import re

import bpy

WORDS = re.compile("(?<!de)script|expression|python|module|bytecode|register|startup|handler|autoexec")
INTERFACE = (bpy.types.Operator, bpy.types.OperatorProperties, bpy.types.Panel, bpy.types.Menu, bpy.types.Macro)


def holds_code(prop):
    if prop.type in ("POINTER", "COLLECTION"):
        return prop.fixed_type is not None and prop.fixed_type.identifier in ("Text", "TextLine")
    return prop.type in ("STRING", "BOOLEAN", "ENUM") and WORDS.search(prop.identifier.lower()) is not None


for name in sorted(dir(bpy.types)):
    kind = getattr(bpy.types, name)
    rna = getattr(kind, "bl_rna", None)
    if rna is None or issubclass(kind, INTERFACE):
        continue
    inherited = {prop.identifier for prop in rna.base.properties} if rna.base else set()
    for prop in rna.properties:
        if prop.identifier not in inherited and holds_code(prop):
            print("rna: %s.%s" % (rna.identifier, prop.identifier))
