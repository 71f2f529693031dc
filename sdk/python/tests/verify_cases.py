"""Verifies each case of a file of JSON lines and prints the check that fails first, an empty
line where none does. The tests of the service compare this with their own verifier."""

import base64
import io
import json
import sys

import svc_render

for line in open(sys.argv[1], encoding="utf-8"):
    case = json.loads(line)
    zipped = case.get("zip")
    try:
        svc_render.verify(
            base64.b64decode(case["receipt"]), case["keys"],
            artifact=io.BytesIO(base64.b64decode(zipped)) if zipped else None,
            proof=base64.b64decode(case["proof"]) if case.get("proof") else None,
            checkpoint=case.get("checkpoint", ""), test=case.get("test", False),
            origins=[base64.b64decode(one) for one in case.get("origins", [])])
        print("")
    except svc_render.VerificationError as error:
        print(error.check)
