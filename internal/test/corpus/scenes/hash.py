"""Hashes pictures that only Blender reads, by the values that it reads.

    blender --background --factory-startup --python hash.py -- LIST.json RESULT.json

LIST is a list of paths; RESULT is an object of path and hash.
"""

import array
import hashlib
import json
import sys

import bpy

listed, result = sys.argv[sys.argv.index("--") + 1:]
hashes = {}
with open(listed, encoding="utf-8") as paths:
    for path in json.load(paths):
        image = bpy.data.images.load(path)
        image.colorspace_settings.name = "Non-Color"
        image.alpha_mode = "CHANNEL_PACKED"
        values = array.array("f", bytes(4 * len(image.pixels)))
        image.pixels.foreach_get(values)
        about = "%dx%d, %d channels\n" % (*image.size, image.channels)
        hashes[path] = hashlib.sha256(about.encode() + values.tobytes()).hexdigest()
        bpy.data.images.remove(image)
with open(result, "w", encoding="utf-8") as out:
    json.dump(hashes, out)
