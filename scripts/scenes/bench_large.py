"""Makes the large files that the benchmark uploads and inspects: half meshes of
64 KiB, half packed pictures of 256 KiB, of random bytes, so that nothing about
them can be guessed or cached. They render: an empty view of a camera, 20 frames.

    blender --background --factory-startup --python scripts/scenes/bench_large.py -- FILE.blend MIB plain|zstd

MIB is the size unpacked. Of zstd, the bytes are such that they pack to a third.
"""

import array
import os
import random
import sys

import bpy

TARGET, MIB, PACKING = sys.argv[sys.argv.index("--") + 1:]
RANDOM = random.Random(1)
MESH, PICTURE = 64 << 10, 256 << 10
VERTEX = 16  # bytes, as Blender 3.4 writes one; later ones write 12
# Six letters of equal chance: 2.6 bits a byte.
LETTERS = bytes(b"\0\1\2\3\4\5"[i % 6] for i in range(256))


def noise(size):
    data = RANDOM.randbytes(size)
    return data if PACKING == "plain" else data.translate(LETTERS)


bpy.ops.wm.read_factory_settings(use_empty=True)
scene = bpy.context.scene
scene.render.engine = "CYCLES"
scene.cycles.samples = 1
scene.cycles.use_denoising = False
scene.frame_start, scene.frame_end = 1, 20
bpy.ops.object.camera_add()
scene.camera = bpy.context.object

# More of them than fit into one frame of zstd (1 MiB), so that none repeats there.
shapes = [array.array("f", array.array("H", noise(2 * 3 * (MESH // VERTEX)))) for _ in range(32)]
half = int(MIB) * (1 << 20) // 2
for n in range(half // MESH):
    mesh = bpy.data.meshes.new("mesh")
    mesh.use_fake_user = True
    mesh.vertices.add(MESH // VERTEX)
    mesh.vertices.foreach_set("co", shapes[n % len(shapes)])
for _ in range(half // PICTURE):
    picture = bpy.data.images.new("picture", 1, 1)
    picture.use_fake_user = True
    picture.pack(data=noise(PICTURE), data_len=PICTURE)

bpy.ops.wm.save_as_mainfile(filepath=os.path.abspath(TARGET), compress=PACKING == "zstd")
