"""Calls a service through what answers in its place, and says what comes of it."""

import json
import sys

import svc_render

url, *ways = sys.argv[1:]
told = {}
for way in ways:
    svc = svc_render.Client(url + "/" + way, "svc_agent_any", attempts=1)
    for name, call in (("wallet", svc.wallet), ("inspect", lambda: svc.inspect(b"BLENDER-v304", filename="scene.blend")),
                       ("frame", lambda: svc.frame_file("JOB-1", 1))):
        try:
            call()
            told[way + " " + name] = "taken for the service's"
        except svc_render.SvcError as error:
            told[way + " " + name] = "%s: %s" % (type(error).__name__, error)
print(json.dumps(told))
