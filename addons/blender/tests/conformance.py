# SPDX-License-Identifier: GPL-3.0-or-later
"""The add-on without Blender as a program under test (docs/conformance.md): what its buttons do at the
service, a verb a line in, an answer a line out. PYTHONPATH leads to the built add-on."""

import json
import os
import re
import sys
import tempfile
import threading

from svc_render_addon import work
from svc_render_addon.account import Account
from svc_render_addon.files import read
from svc_render_addon.jobs import Jobs
from svc_render_addon.svc_render import ApiError, DownloadChanged, VerificationError, verify

configuration = tempfile.TemporaryDirectory()
account, jobs, never = Account(configuration.name), Jobs(configuration.name), threading.Event()


def price(file, frames):
    return work.price(account.client(), file, frames, lambda sent, total: None, never)


def render(file, frame_start, frame_end, folder):
    client, quote = account.client(), price(file, "%d-%d" % (frame_start, frame_end))
    job = work.start(client, jobs, account.server(), quote, "scene", folder)
    where = work.follow(client, jobs, quote["quote_id"], lambda job, picture: None, never)
    # What the compositor's File Output nodes wrote comes with the ZIP: here it is fetched of any job.
    work.fetch_outputs(client, job["job_id"], where, never, lambda got, total: None)
    entry = jobs.get(quote["quote_id"])
    receipt, proof, keys = (read(os.path.join(where, name)) for name in ("receipt.json", "proof.json", "keys.json"))
    checks = verify(receipt, keys["keys"], proof=proof).checks
    return {**{check.name: check.status for check in checks}, "job_id": job["job_id"], "status": entry["status"],
            "charged_cents": entry["charged_cents"],
            "frame_numbers": [int(re.findall(r"\d+", os.path.basename(frame))[-1]) for frame in work.frames_of(where)]}


def look(file, frame, folder):
    path = os.path.join(folder, "look.jpg")
    seen = work.look(account.client(), price(file, None), frame, path)
    with open(path, "rb") as picture:
        return {"status": seen["status"], "frame": seen["frame"], "jpeg": picture.read(2) == b"\xff\xd8"}


VERBS = {"render": render, "look": look}

for line in sys.stdin:
    asked = json.loads(line)
    try:
        verb = VERBS.get(asked["verb"])
        told = {"ok": verb(**asked["args"])} if verb else {"error": {"kind": "unsupported"}}
    except ApiError as error:
        told = {"error": {"kind": "api", "code": error.code, "status": error.status, "request_id": error.request_id != ""}}
    except DownloadChanged:
        told = {"error": {"kind": "changed"}}
    except VerificationError as error:
        told = {"error": {"kind": "verification", "check": error.check}}
    print(json.dumps(told), flush=True)
configuration.cleanup()
