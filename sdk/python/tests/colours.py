"""Orders a project with an OpenColorIO configuration that lies in another folder, and says what
is told without its LUT and what the receipt names."""

import json
import os
import sys

import svc_render

url, key, root, main, studio, config, lut = sys.argv[1:8]
svc = svc_render.Client(url, key)
settings: svc_render.Settings = {"ocio": config}
files = {main: os.path.join(root, main), config: os.path.join(studio, config)}
told = {"missing": svc.inspect_project(root, main, files, frames=1, settings=settings)["scene"]["missing_files"]}
files[lut] = os.path.join(studio, lut)
quote = svc.inspect_project(root, main, files, frames=1, settings=settings)
told["none"] = quote["scene"]["missing_files"]
told["chosen"] = quote["settings"]["ocio"]
job = svc.wait(svc.start(quote, legal_acceptance=svc_render.LEGAL_V1)["job_id"])
svc.download(job["job_id"], os.path.join(root, "out.zip"))
svc.verify(job["job_id"], os.path.join(root, "out.zip"), pixels=False)
told["receipt"] = svc.receipt(job["job_id"])["receipt"]["ocio"]
print(json.dumps(told))
