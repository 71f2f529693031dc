"""Sends a project, changes a file of it, sends it again, says what travelled, and renders it into a folder."""

import json
import os
import sys

import svc_render

url, key, root, main, folder = sys.argv[1:6]
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
for _ in svc.sync(svc.start(quote, legal_acceptance=svc_render.LEGAL_V1)["job_id"], folder):
    pass
print(json.dumps({"not_checked": svc_render.verify_folder(folder).not_checked, "sent": sent, "frame_count": quote["frame_count"], "filename": quote["filename"]}))
