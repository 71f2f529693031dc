"""Renders into a folder, and says what verifying it says before and after damage."""

import json
import os
import shutil
import sys

import svc_render

url, key, scene, folder = sys.argv[1:5]
svc = svc_render.Client(url, key)
order = {"frames": "1-2,4", "legal_acceptance": svc_render.LEGAL_V1, "settings": {"output_name": "scene"}}
told = {}
try:
    svc.render(scene, folder, max_cents=2, **order)
except svc_render.ApiError as refused:
    told["refused"] = refused.code
paths = [frame.path for frame in svc.render(scene, folder, max_cents=3, **order)]
told["frames"] = [os.path.basename(path) for path in paths]


def failed():
    try:
        svc_render.verify_folder(folder)
    except svc_render.VerificationError as wrong:
        return wrong.check
    return ""


told["whole"] = failed()
told["pixels"] = [check.text for check in svc_render.verify_folder(folder).checks if check.name == "pixels"]
shutil.move(paths[0], paths[0] + ".kept")
told["without_a_frame"] = failed()
shutil.copy(paths[1], paths[0])
told["with_another"] = failed()
shutil.move(paths[0] + ".kept", paths[0])
print(json.dumps(told))
