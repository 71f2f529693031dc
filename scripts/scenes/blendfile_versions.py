"""Asks Blender what it makes of one file's Cycles settings if it was saved by
other versions: it fills in what those did not store, and converts what they
stored otherwise.

    blender -b --factory-startup --python-exit-code 1 \
        --python scripts/scenes/blendfile_versions.py -- internal/render/blendfile/testdata/versions

Writes settings.blend, with one scene for each case, and answers.json: for each
version and scene what Blender said. Only the version numbers in the file are
changed, which is all that Blender goes by; older ones than these it cannot take
in the newer layout.
"""

import json
import os
import struct
import sys
import tempfile

import bpy

OUT = os.path.abspath(sys.argv[sys.argv.index("--") + 1])

VERSIONS = [(283, 0), (290, 4), (290, 5), (291, 0), (293, 0), (300, 25), (300, 26), (301, 0), (304, 6)]

SCENES = {
    "nothing stored": ({}, {}),
    "something else stored": ({"max_bounces": 3}, {}),
    "squared default": ({"use_square_samples": 1}, {}),
    "squared": ({"samples": 12, "use_square_samples": 1}, {}),
    "squared to the limit": ({"samples": 40000, "use_square_samples": 1}, {}),
    "adaptive, denoised by NLM": ({"samples": 7, "use_adaptive_sampling": 1, "use_denoising": 1, "denoiser": 1}, {}),
    "denoised by OptiX": ({"use_denoising": 1, "denoiser": 2}, {}),
    "a layer denoises": ({"samples": 7}, {"use_denoising": 1}),
    "no layer denoises": ({"samples": 7, "use_denoising": 1}, {"use_denoising": 0}),
    "a layer denoises by OptiX": ({"samples": 7}, {"use_denoising": 1, "use_optix_denoising": 1}),
    "a float": ({"samples": 10.0}, {}),
    "none at all": ({"samples": 0}, {}),
    # Beyond 32 bits Blender's conversion fails and leaves this scene and those
    # after it as they are; so it is the last by name.
    "vastly squared": ({"samples": 100000, "use_square_samples": 1}, {}),
}


def make(path):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    for name, (scene_settings, layer_settings) in SCENES.items():
        s = bpy.data.scenes.new(name)
        s.render.engine = "CYCLES"
        for key, value in scene_settings.items():
            s.cycles[key] = value
        for key, value in layer_settings.items():
            s.view_layers[0].cycles[key] = value
    bpy.data.scenes.remove(bpy.data.scenes["Scene"])
    bpy.ops.wm.save_as_mainfile(filepath=path, compress=False)


def saved_by(plain, version, subversion):
    b = bytearray(plain)
    b[9:12] = b"%d" % version
    at = b.index(b"GLOB") + 24
    struct.pack_into("<4sh", b, at, b"%4d" % subversion, subversion)
    return b


def main():
    os.makedirs(OUT, exist_ok=True)
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "settings.blend")
    make(path)
    bpy.ops.wm.save_as_mainfile(filepath=os.path.join(folder, "packed.blend"), compress=True, copy=True)
    with open(os.path.join(folder, "packed.blend"), "rb") as f, open(os.path.join(OUT, "settings.blend"), "wb") as to:
        to.write(f.read())
    with open(path, "rb") as f:
        plain = f.read()
    answers = []
    for version, subversion in VERSIONS:
        with open(path, "wb") as f:
            f.write(saved_by(plain, version, subversion))
        bpy.ops.wm.open_mainfile(filepath=path)
        for s in bpy.data.scenes:
            c = s.cycles
            answers.append({
                "version": version, "subversion": subversion, "scene": s.name, "samples": c.samples,
                "adaptive_sampling": c.use_adaptive_sampling, "denoise": c.use_denoising,
            })
    with open(os.path.join(OUT, "answers.json"), "w", encoding="utf-8") as f:
        f.write("[\n" + ",\n".join(json.dumps(a) for a in answers) + "\n]\n")


main()
