"""Writes a small picture in every format, depth and compression that Blender has, and the
hash of the pixels that Blender reads back, in the float form of internal/render/pixels:

    blender -b --factory-startup --python scripts/scenes/pictures.py -- internal/render/pixels/testdata
"""
import array
import hashlib
import json
import os
import sys

import bpy

WIDTH, HEIGHT = 33, 35  # more than one chunk of OpenEXR, and no multiple of a block
FOLDER = sys.argv[sys.argv.index("--") + 1]

FORMATS = {  # file_format: extension and the settings that are tried
    "PNG": ("png", [dict(color_mode=m, color_depth=d) for m in ("BW", "RGB", "RGBA") for d in ("8", "16")]),
    "JPEG": ("jpg", [dict(color_mode=m) for m in ("BW", "RGB")]),
    "OPEN_EXR": ("exr", [
        dict(color_mode=m, color_depth=d, exr_codec=c)
        for m, d in (("RGB", "16"), ("RGBA", "32"))
        for c in ("NONE", "RLE", "ZIPS", "ZIP", "PIZ", "PXR24", "B44", "B44A", "DWAA", "DWAB")]),
    "TIFF": ("tif", [
        dict(color_mode=m, color_depth=d, tiff_codec=c)
        for m, d in (("BW", "8"), ("RGB", "8"), ("RGBA", "16")) for c in ("NONE", "DEFLATE", "LZW", "PACKBITS")]),
    "TARGA": ("tga", [dict(color_mode=m) for m in ("BW", "RGB", "RGBA")]),
    "TARGA_RAW": ("tga", [dict(color_mode=m) for m in ("BW", "RGB", "RGBA")]),
    "BMP": ("bmp", [dict(color_mode=m) for m in ("BW", "RGB")]),
    "HDR": ("hdr", [dict(color_mode="RGB")]),
    "DPX": ("dpx", [dict(color_mode=m, color_depth=d) for m, d in (("RGB", "8"), ("RGBA", "10"), ("RGB", "12"), ("RGBA", "16"))]),
    "CINEON": ("cin", [dict(color_mode="RGB")]),
    "JPEG2000": ("jp2", [
        dict(color_mode=m, color_depth=d, jpeg2k_codec=c)
        for m, d in (("BW", "8"), ("RGB", "12"), ("RGBA", "16")) for c in ("JP2", "J2K")]),
    "WEBP": ("webp", [dict(color_mode=m, quality=q) for m in ("RGB", "RGBA") for q in (80, 100)]),
    "IRIS": ("rgb", [dict(color_mode=m) for m in ("BW", "RGB", "RGBA")]),
}


def painted():
    image = bpy.data.images.new("painted", WIDTH, HEIGHT, alpha=True, float_buffer=True)
    values, noise = array.array("f"), 1
    for y in range(HEIGHT):
        for x in range(WIDTH):
            noise = noise * 1103515245 + 12345 & 0x7FFFFFFF
            flat = y < 8 or x > 26
            values.extend((x / WIDTH, 0.25 if flat else (noise >> 16) / 32768, y * y / 300, 1.0 if x < 18 else y / HEIGHT))
    image.pixels.foreach_set(values)
    image.update()
    return image


def hash_of(path):
    image = bpy.data.images.load(path)
    image.colorspace_settings.name = "Non-Color"
    image.alpha_mode = "CHANNEL_PACKED"
    width, height = image.size
    values = array.array("f", bytes(4 * len(image.pixels)))
    image.pixels.foreach_get(values)
    values.byteswap()
    row, data = 4 * width * image.channels, memoryview(values).cast("B")
    digest = hashlib.sha256(b"svc-pixels-f32-v1 %d %d %d\n" % (width, height, image.channels))
    for y in range(height - 1, -1, -1):
        digest.update(data[y * row:(y + 1) * row])
    bpy.data.images.remove(image)
    return digest.hexdigest()


scene, image, hashes = bpy.context.scene, painted(), {}
scene.view_settings.view_transform = "Standard"
scene.render.dither_intensity = 0
for kind, (extension, variants) in FORMATS.items():
    for settings in variants:
        scene.render.image_settings.file_format = kind
        try:
            for name, value in settings.items():
                setattr(scene.render.image_settings, name, value)
        except TypeError:
            continue  # B44 is for halfs, 16 bits are not for all kinds
        name = "_".join([kind.lower()] + [str(v).lower() for v in settings.values()]) + "." + extension
        path = os.path.join(FOLDER, name)
        image.save_render(path, scene=scene)
        try:
            hashes[name] = hash_of(path)
        except RuntimeError:
            hashes[name] = ""  # Blender 3.4 cannot read its own IRIS files
with open(os.path.join(FOLDER, "pictures.json"), "w", encoding="utf-8") as file:
    json.dump(hashes, file, indent="\t", sort_keys=True)
    file.write("\n")
