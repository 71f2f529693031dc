"""Sends a project, changes a file of it, sends it again, and says what travelled."""

import json
import os
import sys

import svc_render

url, key, root, main = sys.argv[1:5]
svc = svc_render.Client(url, key)
paths = [os.path.relpath(os.path.join(folder, name), root).replace(os.sep, "/")
         for folder, _, names in os.walk(root) for name in names]
sent = []
for turn in range(3):
    if turn == 2:
        with open(os.path.join(root, "notes.txt"), "ab") as file:
            file.write(b"more")
    travelled = [0]

    def progress(done, total):
        travelled[0] = done

    quote = svc.inspect_project(root, main, paths, frames=1, progress=progress)
    sent.append(travelled[0])
print(json.dumps({"sent": sent, "frame_count": quote["frame_count"], "filename": quote["filename"]}))
