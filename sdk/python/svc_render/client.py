"""The client. Start reading at :class:`Client`."""

from __future__ import annotations

import copy
import os
import secrets
import ssl
import threading
import time
import unicodedata
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Union, cast
from urllib.parse import quote as quoted, urlencode

from . import save, transfer
from .errors import ApiError
from .frames import Frames, frames_text
from .proof import Report, verify
from .stream import Follower
from .save import Rendering, SavedFrame
from .transport import Cancellation, Retry, Transport
from .wire import (LEGAL_V1, TERMINAL, Artifact, Delivery, Event, Frame, FrameComment, Job, JobStatus, Preview, Quote, SavedFilter, Settings, Share, SigningKey,
                   TopUp, Transaction, Wallet, WebhookEndpoint)

#: The most that one page of a list has.
PAGE = 200


class Client:
    """Calls one service with an agent key ("svc_agent_…") or an account key ("svc_…"). ``key``
    may be a function, which each try asks for an agent key: for tokens that expire.

    Only :meth:`start` spends, and starting one quote again gives the same job, so every call
    may be repeated after any failure. Calls repeat themselves on lost connections, 429 and
    5xx answers, and wait as long as the server asks. A client may be used by many threads.

    ``timeout`` is how long, in seconds, the server may stay silent within a call. ``attempts``
    is how often a call is tried; 6 spans about 6 seconds where failures come at once.
    ``user_agent`` is put before the package's own. ``ssl_context`` replaces the system's
    certificates. ``on_retry`` is called before each wait for another attempt.
    """

    def __init__(self, base_url: str, key: Union[str, Callable[[], str]] = "", *, timeout: float = 120.0, attempts: int = 6,
                 user_agent: str = "", ssl_context: Optional[ssl.SSLContext] = None,
                 on_retry: Optional[Callable[[Retry], None]] = None,
                 sleep: Callable[[float], None] = time.sleep) -> None:
        self._transport = Transport(base_url, key, timeout, attempts, user_agent, ssl_context, on_retry, sleep)
        account = isinstance(key, str) and key.startswith("svc_") and not key.startswith("svc_agent_")
        self._jobs = "/v1/renders" if account else "/node/v1/jobs"
        self._account = account
        self._uploads = "/v1/uploads" if account else "/node/v1/uploads"

    # Prices. None of these spends.

    def inspect(self, scene: Union[transfer.Path, bytes], *, frames: Optional[Frames] = None, settings: Optional[Settings] = None,
                filename: str = "", progress: Optional[transfer.Progress] = None) -> Quote:
        """Uploads a .blend, or a .zip with one, and returns a locked quote. ``scene`` is its path
        or its bytes. ``frames`` is a list such as "1-50,80", a frame or numbers; without it the
        scene's own range counts. ``settings`` are what else differs from the file, such as
        {"camera": "Far", "resolution_percentage": 50}; "reuse" takes over frames of earlier jobs
        that show the same. ``progress`` gets the bytes sent and all; a repeated upload
        begins again at 0."""
        name = filename or ("scene.blend" if isinstance(scene, bytes) else os.path.basename(os.fspath(scene)))
        body = transfer.upload_body(scene, name, {k: str(v).lower() if isinstance(v, bool) else str(v) for k, v in _chosen(frames, settings).items()}, progress)
        return _quote(self._transport.json("POST", "/node/v1/uploads/inspect", body=body))

    def inspect_project(self, root: transfer.Path, main: str, paths: Union[Iterable[str], Mapping[str, transfer.Path]], *,
                        frames: Optional[Frames] = None, settings: Optional[Settings] = None,
                        progress: Optional[transfer.Progress] = None) -> Quote:
        """Uploads the parts of a project that are missing on the service and returns a
        locked quote for its main file. ``paths`` are all files, relative to ``root`` with
        "/" between folders; or a mapping from these to where the files lie on this disk.
        The same call again continues where an earlier one ended: what has arrived is not
        uploaded again."""
        places = dict(paths) if isinstance(paths, Mapping) else {path: os.path.join(*path.split("/")) for path in paths}
        places.setdefault(main, os.path.join(*main.split("/")))
        main = unicodedata.normalize("NFC", main)
        files = transfer.list_project(root, {unicodedata.normalize("NFC", path): at for path, at in places.items()})
        listing: Dict[str, Any] = {"main": main, "files": [
            {"path": f.path, "size_bytes": f.size, "parts": f.parts} for f in files], **_chosen(frames, settings)}
        for rounds in range(1, 6):
            try:
                return _quote(self._transport.json("POST", "/node/v1/projects", listing))
            except ApiError as error:
                missing = error.detail.get("missing") if isinstance(error.detail, dict) else None
                if error.code != "parts_missing" or not missing or rounds == 5:
                    raise
            transfer.send_parts(self._transport, files, missing, progress)
        raise AssertionError("unreachable")

    def quote(self, upload: Union[str, Quote], frames: Optional[Frames] = None, *, settings: Optional[Settings] = None) -> Quote:
        """A new locked quote for other frames or settings of an inspected upload."""
        upload_id = upload if isinstance(upload, str) else upload["upload_id"]
        return _quote(self._transport.json("POST", "/node/v1/uploads/%s/quote" % quoted(upload_id, safe=""), _chosen(frames, settings)))

    def rerender(self, job_id: str, frames: Frames) -> Quote:
        """A locked quote for frames of an ended job once more, such as "3,7-9"."""
        return _quote(self._transport.json("POST", self._job(job_id, "/rerender"), _chosen(frames)))

    def preview(self, upload: Union[str, Quote], frame: Optional[int] = None, *, wait: bool = True) -> Preview:
        """A free preview of a frame; without one, the middle of the quoted range. With
        ``wait`` it returns once the preview is "ready", "failed" or "expired"."""
        upload_id = upload if isinstance(upload, str) else upload["upload_id"]
        path = self._upload(upload_id, "/preview")
        look = self._transport.json("POST", path, {} if frame is None else {"frame": frame})
        pause = 0.25
        while wait and look.get("status") not in ("ready", "failed", "expired"):
            self._transport.sleep(pause)
            pause = min(pause * 1.5, 2.0)
            look = self._transport.json("GET", "%s?frame=%d" % (path, look["frame"]))
        return cast(Preview, look)

    def preview_image(self, look: Preview) -> bytes:
        """The picture of a preview that is ready, a JPEG."""
        address = look.get("image_url")
        if not address:
            raise ValueError("the preview has no picture")
        return self._transport.bytes(address, keyed=False)  # the address is the authorisation

    # All of it.

    def render(self, scene: Union[transfer.Path, bytes], folder: transfer.Path, *, legal_acceptance: str,
               max_cents: Optional[int] = None, frames: Optional[Frames] = None,
               settings: Optional[Settings] = None, filename: str = "") -> Rendering:
        """Prices a scene, starts it unless it costs more than ``max_cents``, and puts its frames
        into a folder: iterate over what it returns to get each as it is accepted. At the end the
        folder has the receipt too, and :func:`verify_folder` has checked all of it.
        ``legal_acceptance`` is LEGAL_V1."""
        quote = self.inspect(scene, frames=frames, settings=settings, filename=filename)
        return Rendering(self, self.start(quote, legal_acceptance=legal_acceptance, max_cents=max_cents), folder)

    def sync(self, job_id: str, folder: transfer.Path) -> Iterator[SavedFrame]:
        """Puts each frame of a job into a folder when it is accepted, whole or not at all, and
        its other files, such as those of File Output nodes, below ``outputs``, as in the ZIP.
        It ends with the job; when that is complete, the folder has its receipt, and
        :func:`verify_folder` has checked all of it. If the scene's output is a movie, it then
        waits up to ten minutes for ``movie.mp4``. The same call again continues. A job that
        failed or was cancelled raises JobEnded."""
        job = yield from save.sync(self, self._transport, self._job(job_id), job_id, folder)
        save.save_movie(self._transport, self._job(job_id), job, folder)

    # A job.

    def follow(self, job_id: str, *, after: str = "", timeout: Optional[float] = None,
               stop: Optional[threading.Event] = None) -> Iterator[Event]:
        """Every event of a job once, after the one with the id ``after``, up to the one that
        ends the job. It survives lost connections and restarts, and reads the job itself while
        no stream is available. ``timeout``, in seconds, raises FollowTimeout; ``stop`` ends it
        at the server's next sign of life."""
        return Follower(self._transport, self._job(job_id), after, timeout, stop).events()

    def wait(self, job_id: str, *, timeout: Optional[float] = None) -> Job:
        """The job once it has ended. A failed or cancelled job is no error: see its status."""
        last: Job = {}
        for event in self.follow(job_id, timeout=timeout):
            if event.type == "job":
                last = event.data
        return last

    def frame_file(self, job_id: str, frame: int, output: str = "") -> bytes:
        """A frame as it was rendered, from when it is accepted; or another file of it, such as one
        that a File Output node wrote, by the name in its ``outputs``."""
        return self._transport.bytes(self._job(job_id, "/frames/%d/file" % frame) + ("?" + urlencode({"output": output}) if output else ""))

    def frame_preview(self, job_id: str, frame: int) -> bytes:
        """A small JPEG of an accepted frame."""
        return self._transport.bytes(self._job(job_id, "/frames/%d/preview" % frame))

    def log(self, job_id: str) -> bytes:
        """Blender's log of the frames accepted so far and of attempts that failed."""
        return self._transport.bytes(self._job(job_id, "/log"))

    def contact_sheet(self, job_id: str) -> bytes:
        """A JPEG with the frames accepted so far, each with its number; of a long job, an even
        choice of them."""
        return self._transport.bytes(self._job(job_id, "/contact-sheet"))

    def loop(self, job_id: str) -> bytes:
        """An animated WebP that plays the frames, small and at the scene's speed."""
        return self._transport.bytes(self._job(job_id, "/loop"))

    # What is delivered.

    def movie(self, job_id: str, path: transfer.Path) -> None:
        """Saves an MP4 of a completed job's frames at ``path``, where it appears whole or not at
        all. It waits while the service has the movie encoded. ApiError movie_unavailable is for
        frames that cannot become one."""
        transfer.save_movie(self._transport, self._job(job_id, "/movie"), path)

    def download(self, job_id: str, path: transfer.Path, *, progress: Optional[transfer.Progress] = None) -> Artifact:
        """Fetches the ZIP to ``path``, where it appears whole, with the promised SHA-256, or
        not at all. A broken download leaves its bytes next to it, in a file with ".part" at
        its end, from which a later call resumes."""
        return cast(Artifact, transfer.download(
            self._transport, lambda: cast("Dict[str, Any]", self.artifact(job_id)), path, progress))

    def verify(self, job_id: str, path: transfer.Path, *, keys: Optional[Iterable[Any]] = None, test: bool = False,
               pixels: bool = True) -> Report:
        """Fetches receipt and proof of a job and verifies them with the ZIP at ``path``.
        Without ``keys`` those that the service publishes now are taken. It raises
        VerificationError, also when a check of the ZIP, the log or the key was not made, and of
        a receipt of test mode unless ``test`` takes it for what it is. Without ``pixels``, pictures
        are not decoded, which takes a second or more for each."""
        return verify(self.receipt(job_id), self.signing_keys() if keys is None else keys, artifact=path,
                      proof=self.proof(job_id), require=("artifact", "contents", "frames", "log"), test=test, pixels=pixels)

    # The workspace.

    def jobs(self, *, status: Optional[JobStatus] = None, tag: str = "", search: str = "", since: str = "", until: str = "",
             person: str = "", frames: str = "", limit: int = 0) -> Iterator[Job]:
        """The workspace's jobs, newest first; page after page, as far as the caller goes.
        ``search`` is at most four words, each a part of the file's name or of a tag. ``since``
        and ``until`` are the first and the last day of creation in UTC, such as 2026-11-27. ``person`` started them, or
        made the key that did: an address, what is before its @, or a person id. ``frames`` are
        frames that a job has, all of them, such as "118" or "1-20,40-60x5"."""
        filters = _given({"status": status, "tag": tag or None, "q": search or None, "from": since or None, "to": until or None,
                          "person": person or None, "frames": frames or None})
        return cast("Iterator[Job]", self._pages(self._either("/v1/workspace/renders", "/node/v1/jobs"), "renders", "job_id", filters, limit))

    def transactions(self, *, limit: int = 0) -> Iterator[Transaction]:
        """The workspace's ledger, newest first."""
        return cast("Iterator[Transaction]", self._pages("/v1/wallet/transactions", "transactions", "transaction_id", {}, limit))

    def spend(self, *, by: str = "month", month: str = "") -> Dict[str, Any]:
        """What jobs cost, by "month", "person", "key" or "tags": of one month in UTC, such as
        2026-11, or of the last 12. Months come newest first, otherwise the row that spent most.
        It takes an account key."""
        return self._transport.json("GET", "/v1/wallet/spend?%s" % urlencode(_given({"by": by, "month": month or None})))

    def agent_keys(self) -> List[Dict[str, Any]]:
        """The workspace's agent keys with what each has spent this month, newest first, revoked
        ones too. It takes an account key."""
        return cast("List[Dict[str, Any]]", self._transport.json("GET", "/v1/agent-keys")["keys"])

    def revoke_agent_key(self, key_id: str) -> None:
        """Ends an agent key at once. It takes an account key."""
        self._transport.json("DELETE", "/v1/agent-keys/%s" % quoted(key_id, safe=""), once=True)

    def invoice_pdf(self, number: str) -> bytes:
        """The PDF of an invoice. It takes an account key."""
        return self._transport.bytes("/v1/wallet/invoices/%s/pdf" % quoted(number, safe=""))

    # Printed from sdk/methods by go generate; do not edit.

    def start(self, quote: Quote, *, legal_acceptance: str, max_cents: Optional[int] = None, webhook_url: str = "", webhook_secret: str = "", tags: Sequence[str] = (),
              idempotency_key: str = "") -> Job:
        """Spends: accepts the quote, reserves its price and queues the job. Starting a quote
        again returns the same job and reserves nothing more. ``legal_acceptance`` is
        LEGAL_V1. The service refuses a quote above ``max_cents``. A webhook secret that the
        service made comes in this answer only; all tries carry one idempotency key, so that
        it is not lost with a lost answer."""
        request: Dict[str, Any] = {"quote_id": quote["quote_id"], "legal_acceptance": legal_acceptance}
        if max_cents is not None:
            request["max_price_cents"] = max_cents
        if webhook_url:
            request["webhook_url"] = webhook_url
        if webhook_secret:
            request["webhook_secret"] = webhook_secret
        if tags:
            request["tags"] = list(tags)
        path = "/node/v1/uploads/%s/start" % quoted(quote["upload_id"], safe="")
        return cast(Job, self._transport.json("POST", path, request,
                                              idempotency_key=idempotency_key or secrets.token_hex(16)))

    def job(self, job_id: str) -> Job:
        """The job as it is now."""
        return cast(Job, self._transport.json("GET", self._job(job_id)))

    def cancel(self, job_id: str) -> Job:
        """Ends a job that no worker has claimed yet. It costs nothing."""
        return cast(Job, self._transport.json("POST", self._job(job_id, "/cancel")))

    def pause(self, job_id: str) -> Job:
        """Keeps workers from taking more frames of the job. Frames that they have are
        finished."""
        return cast(Job, self._transport.json("POST", self._job(job_id, "/pause")))

    def resume(self, job_id: str) -> Job:
        """Lets workers take frames of a paused job again."""
        return cast(Job, self._transport.json("POST", self._job(job_id, "/resume")))

    def set_priority(self, job_id: str, priority: int) -> Job:
        """Orders the job among those of its workspace: a higher priority, 1 to 100, comes
        first."""
        return cast(Job, self._transport.json("PUT", self._job(job_id, "/priority"), {"priority": priority}))

    def set_tags(self, job_id: str, tags: List[str]) -> Job:
        """Gives the job these tags in place of those that it has: at most 10, of at most 32
        characters each."""
        return cast(Job, self._transport.json("PUT", self._job(job_id, "/tags"), {"tags": tags}))

    def frames(self, job_id: str) -> List[Frame]:
        """The frames that are accepted so far, by number."""
        return cast("List[Frame]", self._transport.json("GET", self._job(job_id, "/frames"))["frames"])

    def artifact(self, job_id: str) -> Artifact:
        """Where the ZIP of a completed job is. Each call makes a new link."""
        return cast(Artifact, self._transport.json("GET", self._job(job_id, "/download"))["download"])

    def receipt(self, job_id: str) -> Dict[str, Any]:
        """The receipt of a completed job. Believe it once it is verified."""
        return self._transport.json("GET", self._job(job_id, "/receipt"))

    def proof(self, job_id: str) -> Dict[str, Any]:
        """The proof that the receipt is in the service's log."""
        return self._transport.json("GET", self._job(job_id, "/proof"))

    def share(self, job_id: str, *, expires_at: Optional[str] = None, download: Optional[bool] = None, proof: Optional[bool] = None, comments: Optional[bool] = None) -> Share:
        """Makes a public page of the job's frames, and ends an earlier link. Only this answer
        has the address, share_url. It ends in 30 days unless expires_at, a time in RFC
        3339, says otherwise."""
        return cast(Share, self._transport.json("POST", self._job(job_id, "/share"), _given({"expires_at": expires_at, "download": download, "proof": proof, "comments": comments}), idempotency_key=secrets.token_hex(16)))

    def job_share(self, job_id: str) -> Share:
        """The public page of a job, without its address, and how often it was opened."""
        return cast(Share, self._transport.json("GET", self._job(job_id, "/share")))

    def allow_comments(self, job_id: str, allowed: bool) -> Share:
        """Lets visitors of the job's public page comment on frames, or closes and hides the
        comments."""
        return cast(Share, self._transport.json("PUT", self._job(job_id, "/share/comments"), {"allowed": allowed}))

    def comments(self, job_id: str) -> List[FrameComment]:
        """What visitors of the job's public pages wrote about frames, newest first."""
        return cast("List[FrameComment]", self._transport.json("GET", self._job(job_id, "/comments"))["comments"])

    def unshare(self, job_id: str) -> Dict[str, Any]:
        """Ends the public page of a job at once."""
        return self._transport.json("DELETE", self._job(job_id, "/share"), once=True)

    def shares(self) -> List[Share]:
        """The public pages of the workspace's jobs, newest first."""
        return cast("List[Share]", self._transport.json("GET", self._either("/v1/workspace/shares", "/node/v1/shares"))["shares"])

    def saved_filters(self) -> List[SavedFilter]:
        """The searches that the maker of the key has saved in this workspace, by name. Ask for
        the list of jobs with their members."""
        return cast("List[SavedFilter]", self._transport.json("GET", "/v1/workspace/filters")["filters"])

    def upload(self, upload_id: str) -> Quote:
        """An inspected upload with its newest quote; one that has expired is replaced. It
        spends nothing."""
        return cast(Quote, self._transport.json("GET", self._upload(upload_id)))

    def delete_upload(self, upload_id: str) -> Dict[str, Any]:
        """Deletes an upload that no running job needs, which frees its storage at once."""
        return self._transport.json("DELETE", self._upload(upload_id), once=True)

    def signing_keys(self) -> List[SigningKey]:
        """The keys with which receipts are or were signed. Keep them: keys from the server
        that you check prove less."""
        return cast("List[SigningKey]", self._transport.json("GET", "/v1/signing-keys")["keys"])

    def wallet(self) -> Wallet:
        """The balance."""
        return cast(Wallet, self._transport.json("GET", "/v1/wallet"))

    def set_wallet_alert(self, cents: int) -> Wallet:
        """Has the workspace told when less than so many cents are available, by mail and by
        the event wallet.low; 0 means never. It takes an account key."""
        return cast(Wallet, self._transport.json("PUT", "/v1/wallet/alert", {"below_cents": cents}))

    def top_ups(self, *, limit: int = 0) -> Iterator[TopUp]:
        """The payments into the wallet, newest first. It takes an account key."""
        return cast("Iterator[TopUp]", self._pages("/v1/wallet/top-ups", "top_ups", "top_up_id", {}, limit))

    def create_top_up(self, amount_cents: int) -> TopUp:
        """Begins a payment into the wallet. A person pays at checkout_url. It takes an account
        key."""
        return cast(TopUp, self._transport.json("POST", "/v1/wallet/top-ups", {"amount_cents": amount_cents}, once=True))

    def top_up(self, top_up_id: str) -> TopUp:
        """A payment into the wallet, which has the money once its status is paid. It takes an
        account key."""
        return cast(TopUp, self._transport.json("GET", "/v1/wallet/top-ups/%s" % quoted(top_up_id, safe="")))

    def invoices(self, *, limit: int = 0) -> Iterator[Dict[str, Any]]:
        """The invoices, receipts and credit notes of the workspace, newest first. It takes an
        account key."""
        return self._pages("/v1/wallet/invoices", "invoices", "number", {}, limit)

    def invoice(self, number: str) -> Dict[str, Any]:
        """An invoice, a receipt or a credit note. It takes an account key."""
        return self._transport.json("GET", "/v1/wallet/invoices/%s" % quoted(number, safe=""))

    def webhook_endpoints(self) -> List[WebhookEndpoint]:
        """The addresses that are told when a job of the workspace ends, newest first. It takes
        an account key, as all methods about webhooks do."""
        return cast("List[WebhookEndpoint]", self._transport.json("GET", "/v1/webhook-endpoints")["endpoints"])

    def create_webhook_endpoint(self, url: str, *, description: Optional[str] = None, secret: Optional[str] = None) -> WebhookEndpoint:
        """Has an address told when a job of the workspace ends. Without a secret the service
        makes one, which only this answer has."""
        return cast(WebhookEndpoint, self._transport.json("POST", "/v1/webhook-endpoints", _given({"url": url, "description": description, "secret": secret}), once=True))

    def webhook_endpoint(self, endpoint_id: str) -> WebhookEndpoint:
        """A webhook endpoint."""
        return cast(WebhookEndpoint, self._transport.json("GET", "/v1/webhook-endpoints/%s" % quoted(endpoint_id, safe="")))

    def update_webhook_endpoint(self, endpoint_id: str, *, url: Optional[str] = None, description: Optional[str] = None, enabled: Optional[bool] = None) -> WebhookEndpoint:
        """Changes what is given of a webhook endpoint."""
        return cast(WebhookEndpoint, self._transport.json("PATCH", "/v1/webhook-endpoints/%s" % quoted(endpoint_id, safe=""), _given({"url": url, "description": description, "enabled": enabled})))

    def delete_webhook_endpoint(self, endpoint_id: str) -> Dict[str, Any]:
        """Ends a webhook endpoint at once."""
        return self._transport.json("DELETE", "/v1/webhook-endpoints/%s" % quoted(endpoint_id, safe=""), once=True)

    def test_webhook_endpoint(self, endpoint_id: str) -> Delivery:
        """Sends the event webhook.test to an endpoint."""
        return cast(Delivery, self._transport.json("POST", "/v1/webhook-endpoints/%s/test" % quoted(endpoint_id, safe=""), once=True)["delivery"])

    def rotate_webhook_secret(self, endpoint_id: str, *, secret: Optional[str] = None) -> Dict[str, Any]:
        """Gives an endpoint another secret. Calls are signed with both until
        previous_expires_at."""
        return self._transport.json("POST", "/v1/webhook-endpoints/%s/rotate-secret" % quoted(endpoint_id, safe=""), _given({"secret": secret}), once=True)

    def endpoint_deliveries(self, endpoint_id: str, *, status: Optional[str] = None, limit: int = 0) -> Iterator[Delivery]:
        """The calls of an endpoint, newest first, all or those that are pending, delivered or
        failed."""
        return cast("Iterator[Delivery]", self._pages("/v1/webhook-endpoints/%s/deliveries" % quoted(endpoint_id, safe=""), "deliveries", "delivery_id", _given({"status": status}), limit))

    def redeliver_since(self, endpoint_id: str, since: str) -> Dict[str, Any]:
        """Sends an endpoint again what it has not taken since a time in RFC 3339."""
        return self._transport.json("POST", "/v1/webhook-endpoints/%s/redeliver" % quoted(endpoint_id, safe=""), {"since": since}, once=True)

    def webhook_deliveries(self, job_id: str) -> List[Delivery]:
        """The webhook calls about a job, newest first."""
        return cast("List[Delivery]", self._transport.json("GET", "/v1/renders/%s/webhook-deliveries" % quoted(job_id, safe=""))["deliveries"])

    def redeliver_webhook(self, job_id: str, delivery_id: str) -> Delivery:
        """Makes a webhook call about a job once more."""
        return cast(Delivery, self._transport.json("POST", "/v1/renders/%s/webhook-deliveries/%s/redeliver" % (quoted(job_id, safe=""), quoted(delivery_id, safe="")), once=True)["delivery"])

    def pricing(self) -> Dict[str, Any]:
        """How renders are priced."""
        return self._transport.json("GET", "/v1/pricing")

    def test_clock(self) -> Dict[str, Any]:
        """The time of the test world. It takes a key of test mode."""
        return self._transport.json("GET", "/v1/test/clock")

    def move_test_clock(self, advance_seconds: float) -> Dict[str, Any]:
        """Moves the time of the test world forward."""
        return self._transport.json("POST", "/v1/test/clock", {"advance_seconds": advance_seconds}, once=True)

    def health(self) -> Dict[str, Any]:
        """Whether the service answers, and its clock."""
        return self._transport.json("GET", "/v1/health")

    def capabilities(self) -> Dict[str, Any]:
        """What the service renders with, and whether it takes jobs."""
        return self._transport.json("GET", "/v1/capabilities")

    def limits(self) -> Dict[str, Any]:
        """The bounds that the service sets to callers."""
        return self._transport.json("GET", "/v1/limits")

    # What follows is written by hand.

    def call(self, method: str, path: str, value: Any = None, *, idempotency_key: str = "") -> Dict[str, Any]:
        """Any other route that speaks JSON. It is repeated after failures that pass, but a
        POST, PATCH or DELETE only with an idempotency key."""
        once = method not in ("GET", "HEAD", "PUT") and not idempotency_key
        return self._transport.json(method, path, value, idempotency_key=idempotency_key, once=once)

    def read(self, path: str) -> bytes:
        """The answer of any GET as it came, of 64 MiB at most. Save a receipt so: other writers
        of JSON give a number another form, in which it is not what was signed."""
        return self._transport.bytes(path, accept="application/json")

    def _until(self, cancelled: Cancellation) -> "Client":
        """The same client, whose calls end with ``cancelled``."""
        other = copy.copy(self)
        other._transport = self._transport.until(cancelled)
        return other

    def _job(self, job_id: str, rest: str = "") -> str:
        jobs = self._jobs
        return "%s/%s%s" % (jobs, quoted(job_id, safe=""), rest)

    def _upload(self, upload_id: str, rest: str = "") -> str:
        return "%s/%s%s" % (self._uploads, quoted(upload_id, safe=""), rest)

    def _either(self, account: str, agent: str) -> str:
        """The path of a route that has one for account keys and one for agent keys."""
        return account if self._account else agent

    def _pages(self, path: str, member: str, key: str, filters: Dict[str, str], limit: int) -> Iterator[Dict[str, Any]]:
        before, left = "", limit
        while True:
            size = min(left, PAGE) if limit else PAGE
            asked = dict(filters, limit=str(size), **({"before": before} if before else {}))
            page = self._transport.json("GET", "%s?%s" % (path, urlencode(asked)))[member]
            yield from page
            left -= len(page)
            if len(page) < size or (limit and left <= 0):
                return
            before = page[-1][key]


def _given(members: Dict[str, Any]) -> Dict[str, Any]:
    """Those members that are something."""
    return {name: value for name, value in members.items() if value is not None}


def _chosen(frames: Optional[Frames], settings: Optional[Settings] = None) -> Dict[str, Any]:
    return {**({} if frames is None else {"frames": frames_text(frames)}), **(settings or {})}


def _quote(answer: Dict[str, Any]) -> Quote:
    """The service may send a member at the top or inside the member quote; one at the top
    counts."""
    inner = answer.get("quote")
    return cast(Quote, {**inner, **answer} if isinstance(inner, dict) else answer)


__all__ = ["Client", "Frames", "LEGAL_V1", "TERMINAL"]
