"""Brings a job's frames and outputs into a folder, and says what verifying it says."""

import json
import os
import sys

import svc_render

url, key, job, folder = sys.argv[1:5]
svc = svc_render.Client(url, key)
told = {"frames": [frame.frame for frame in svc.sync(job, folder)]}
told["again"] = [frame.frame for frame in svc.sync(job, folder)]
outputs = [(frame["frame"], output["name"]) for frame in svc.frames(job) for output in frame.get("outputs", [])]
told["same"] = True
for frame, name in outputs:
    with open(os.path.join(folder, "outputs", name), "rb") as file:
        told["same"] &= svc.frame_file(job, frame, name) == file.read()


def failed():
    try:
        svc_render.verify_folder(folder)
    except svc_render.VerificationError as wrong:
        return wrong.check
    return ""


told["whole"] = failed()
at = os.path.join(folder, "outputs", outputs[0][1])
os.rename(at, at + ".kept")
told["without_an_output"] = failed()
with open(at, "wb") as file:
    file.write(b"another")
told["with_another"] = failed()
os.replace(at + ".kept", at)
print(json.dumps(told))
