"""The Python SDK as a program under test (docs/conformance.md): a verb a line in, an answer a line
out."""

import json
import os
import sys

import svc_render

svc = svc_render.Client(os.environ["SVC_SERVER"], os.environ["SVC_KEY"], attempts=10)


def frames(args):
    return "%d-%d" % (args["frame_start"], args["frame_end"]) if "frame_start" in args else None


def render(file, frame_start, frame_end, folder):
    job = svc.start(svc.inspect(file, frames=range(frame_start, frame_end + 1)), legal_acceptance=svc_render.LEGAL_V1)
    followed = follow(job["job_id"])
    os.makedirs(folder)
    path = os.path.join(folder, "frames.zip")
    svc.download(job["job_id"], path)
    return {**verify(job["job_id"], path), "job_id": job["job_id"], "status": followed["status"], "frame_numbers": followed["frames"],
            "charged_cents": svc.job(job["job_id"])["charged_cents"]}


def look(file, frame, folder):
    seen = svc.preview(svc.inspect(file), frame)
    return {"status": seen["status"], "frame": seen["frame"], "jpeg": svc.preview_image(seen)[:2] == b"\xff\xd8"}


def start(quote_id, upload_id, legal_acceptance=svc_render.LEGAL_V1):
    return svc.start({"quote_id": quote_id, "upload_id": upload_id}, legal_acceptance=legal_acceptance)


def follow(job_id):
    events = list(svc.follow(job_id, timeout=120))
    return {"status": events[-1].data["status"], "frames": sorted(e.data["frame"] for e in events if e.type == "frame")}


def download(job_id, path):
    artifact = svc.download(job_id, path)
    left = [name for name in os.listdir(os.path.dirname(path)) if name.endswith(".part")]
    return {"whole": os.path.getsize(path) == artifact["size_bytes"], "left": len(left)}


def verify(job_id, path):
    return {check.name: check.status for check in svc.verify(job_id, path).checks}


def wallet(before=0):
    available = svc.wallet()["available_cents"]
    return {"available_cents": available, "spent_since": before - available}


def webhook(secret, id, timestamp, signature, body, now):
    headers = {"webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature}
    event = svc_render.verify_webhook(secret, headers, body.encode(), now)
    return {"id": event.id, "type": event.type}


VERBS = {
    "inspect": lambda **a: svc.inspect(a["file"], frames=frames(a)), "quote": lambda **a: svc.quote(a["upload_id"], frames(a)),
    "render": render, "look": look, "project": lambda root, main, files, frame: svc.inspect_project(root, main, files, frames=frame),
    "start": start, "follow": follow, "download": download, "verify": verify, "wallet": wallet,
    "job": svc.job, "jobs": lambda limit: {"first": next(svc.jobs(limit=limit))["job_id"]}, "webhook": webhook,
}

for line in sys.stdin:
    asked = json.loads(line)
    try:
        told = {"ok": VERBS[asked["verb"]](**asked["args"])}
    except svc_render.ApiError as error:
        told = {"error": {"kind": "api", "code": error.code, "status": error.status, "request_id": error.request_id != ""}}
    except svc_render.DownloadChanged:
        told = {"error": {"kind": "changed", "kept": os.path.exists(asked["args"].get("path", ""))}}
    except svc_render.VerificationError as error:
        told = {"error": {"kind": "verification", "check": error.check}}
    except svc_render.WebhookError:
        told = {"error": {"kind": "webhook"}}
    print(json.dumps(told), flush=True)
