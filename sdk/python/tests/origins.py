"""Brings a job into a folder and says whether the frames that it took over are proven: URL KEY JOB
FOLDER. Without a job, the folder is verified as it is."""

import json
import sys

import svc_render

url, key, job, folder = sys.argv[1:]
if job:
    for _ in svc_render.Client(url, key).sync(job, folder):
        pass
report = svc_render.verify_folder(folder)
print(json.dumps({"not_checked": report.not_checked, "reused": [check.text for check in report.checks if check.name == "reused"]}))
