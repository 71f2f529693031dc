"""A pipeline's step in Python: renders a scene, waits until the service calls, and publishes
what it verified.

    SVC_SERVER=https://render.example.com SVC_KEY=svc_agent_… \\
    HOOK_URL=https://pipeline.example/svc LISTEN=127.0.0.1:8000 \\
    python pipeline.py scene.blend /published/shot-010

HOOK_URL is where the service calls; a proxy with its certificate passes it on to LISTEN."""

import os
import queue
import secrets
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import svc_render

scene, published = sys.argv[1:]
if os.path.exists(published):
    sys.exit("%s is there already" % published)
svc = svc_render.Client(os.environ["SVC_SERVER"], os.environ["SVC_KEY"])
secret, events = secrets.token_urlsafe(32), queue.Queue()


class Hook(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(min(int(self.headers.get("Content-Length", 0)), 1 << 20))
        try:
            events.put(svc_render.verify_webhook(secret, self.headers, body))
            self.send_response(204)
        except svc_render.WebhookError:
            self.send_response(400)
        self.end_headers()


host, port = os.environ["LISTEN"].rsplit(":", 1)
server = ThreadingHTTPServer((host, int(port)), Hook)
threading.Thread(target=server.serve_forever, daemon=True).start()

quote = svc.inspect(scene)
print(quote["frame_count"], "frames,", quote["price_cents"], "cents", flush=True)
job = svc.start(quote, legal_acceptance=svc_render.LEGAL_V1, webhook_url=os.environ["HOOK_URL"], webhook_secret=secret)

# A call can come twice, and one can be missed: the job says how it is.
while job["status"] not in ("completed", "failed", "cancelled"):
    try:
        event = events.get(timeout=600)
        print("called:", event.type, flush=True)
    except queue.Empty:
        pass
    job = svc.job(job["job_id"])
server.shutdown()
if job["status"] != "completed":
    sys.exit("the job is %s" % job["status"])

# It appears whole or not at all.
os.makedirs(os.path.dirname(os.path.abspath(published)), exist_ok=True)
with tempfile.TemporaryDirectory(dir=os.path.dirname(os.path.abspath(published))) as work:
    ready = os.path.join(work, "ready")
    os.mkdir(ready)
    svc.download(job["job_id"], os.path.join(ready, "frames.zip"))
    report = svc.verify(job["job_id"], os.path.join(ready, "frames.zip"))
    with open(os.path.join(ready, "receipt.json"), "wb") as file:
        file.write(svc.read("/node/v1/jobs/%s/receipt" % job["job_id"]))
    os.rename(ready, published)
print("published, verified:", *(check.name for check in report.checks if check.status == "ok"))
