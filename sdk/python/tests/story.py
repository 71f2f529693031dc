"""A whole render over a bad network, told as JSON: the story of the service's tests holds it
against what the service has seen."""

import asyncio
import json
import os
import sys
import time

import svc_render

url, key, account, scene, folder = sys.argv[1:6]
retried = []


def sleep(seconds):
    time.sleep(min(seconds, 0.02))


svc = svc_render.Client(url, key, attempts=20, timeout=3.0, sleep=sleep, user_agent="story/1", on_retry=lambda r: retried.append(type(r.error).__name__))
told = {}

progress = []
quote = svc.inspect(scene, frames="1-4", progress=lambda sent, total: progress.append((sent, total)))
told["price_cents"] = quote["price_cents"]
told["also"] = {"the progress of an upload ends at its size": progress[-1] == (os.path.getsize(scene),) * 2}
look = svc.preview(quote, 2)
told["look"] = [look["status"], look["frame"], svc.preview_image(look)[:2].hex()]
told["frames_of_two"] = svc.quote(quote, range(1, 3))["frame_count"]

job = svc.start(quote, legal_acceptance=svc_render.LEGAL_V1)
told["job_id"] = job["job_id"]
told["again"] = svc.start(quote, legal_acceptance=svc_render.LEGAL_V1)["job_id"]

events = list(svc.follow(job["job_id"], timeout=60))
told["frames"] = [e.data["frame"] for e in events if e.type == "frame"]
told["status"] = events[-1].data["status"]
told["charged_cents"] = svc.wait(job["job_id"])["charged_cents"]

path = os.path.join(folder, "job.zip")
try:
    svc.download(job["job_id"], path)
    told["damaged"] = "was taken"
except svc_render.DownloadChanged:
    told["damaged"] = "refused" if not os.path.exists(path) else "left"
artifact = svc.download(job["job_id"], path)
told["size_bytes"] = os.path.getsize(path)
told["left"] = [name for name in os.listdir(folder) if name.endswith(".part")]
report = svc.verify(job["job_id"], path, keys=svc.signing_keys())
told["checks"] = {check.name: check.status for check in report.checks}

lie = svc.receipt(job["job_id"])
lie["receipt"]["charged_cents"] += 1
try:
    svc_render.verify(lie, svc.signing_keys())
except svc_render.VerificationError as error:
    told["lie"] = error.check

refused = []
for attempt in (lambda: svc.job("JOB-none"), lambda: svc.start(quote, legal_acceptance="no"),
                lambda: svc.quote(quote, "3-2"), lambda: svc_render.Client(url, "svc_agent_no").wallet()):
    try:
        attempt()
    except svc_render.ApiError as error:
        refused.append([error.code, error.status, bool(error.request_id)])
told["refused"] = refused

told["available_cents"] = svc.wallet()["available_cents"]
told["jobs"] = [j["job_id"] for j in svc.jobs(limit=1)]
told["kinds"] = [entry["kind"] for entry in svc_render.Client(url, account).transactions()]
told["retried"] = sorted(set(retried))


async def twin():
    both = svc_render.AsyncClient(url, key)
    seen = [event.type async for event in both.follow(job["job_id"])]
    wallets = await asyncio.gather(both.wallet(), both.wallet())
    return seen[-1], wallets[0]["available_cents"]


told["also"]["the asynchronous twin tells the same"] = asyncio.run(twin()) == ("job", told["available_cents"])
print(json.dumps(told))
