"""Makes the calls that it reads, a JSON object a line, and prints what came of each."""

import json
import os
import sys

import svc_render

client = svc_render.Client(os.environ["SVC_SERVER"], os.environ["SVC_KEY"], attempts=1)
for line in sys.stdin:
    asked = json.loads(line)
    try:
        told = getattr(client, asked["method"])(*asked["args"], **asked["options"])
        if hasattr(told, "__next__"):
            told = list(told)
        answer = {"ok": told.decode("utf-8") if isinstance(told, bytes) else told}
    except svc_render.ApiError as error:
        answer = {"error": error.code}
    print(json.dumps(answer), flush=True)
