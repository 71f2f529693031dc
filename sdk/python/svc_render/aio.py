"""The same client for asyncio. Each call runs in a thread of its own, so that no number of
waits keeps others from running, and ends when its task is cancelled."""

from __future__ import annotations

import asyncio
import contextvars
import ssl
import threading
from typing import Any, AsyncIterator, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, TypeVar, Union

from . import transfer
from .client import Client
from .frames import Frames
from .proof import Report
from .save import SavedFrame
from .transport import Cancellation, Retry
from .wire import (Artifact, Delivery, Event, Frame, FrameComment, Job, JobStatus, Preview, Quote, SavedFilter, Settings, Share, SigningKey, TopUp, Transaction,
                   Wallet, WebhookEndpoint)

T = TypeVar("T")
_END: Any = object()


class AsyncClient:
    """Has every method of :class:`svc_render.Client`, with the same parameters: those that
    return a value are awaited, those that yield are used with ``async for``. Cancelling the
    task, or leaving the loop, ends the call."""

    def __init__(self, base_url: str, key: Union[str, Callable[[], str]] = "", *, timeout: float = 120.0, attempts: int = 6,
                 user_agent: str = "", ssl_context: Optional[ssl.SSLContext] = None,
                 on_retry: Optional[Callable[[Retry], None]] = None) -> None:
        self.sync_client = Client(base_url, key, timeout=timeout, attempts=attempts, user_agent=user_agent,
                                  ssl_context=ssl_context, on_retry=on_retry)

    async def inspect(self, scene: Union[transfer.Path, bytes], *, frames: Optional[Frames] = None,
                      settings: Optional[Settings] = None, filename: str = "",
                      progress: Optional[transfer.Progress] = None) -> Quote:
        """Client.inspect."""
        return await self._run(lambda client: client.inspect(scene, frames=frames, settings=settings, filename=filename, progress=progress))

    async def inspect_project(self, root: transfer.Path, main: str, paths: Union[Iterable[str], Mapping[str, transfer.Path]], *,
                              frames: Optional[Frames] = None, settings: Optional[Settings] = None,
                              progress: Optional[transfer.Progress] = None) -> Quote:
        """Client.inspect_project."""
        return await self._run(lambda client: client.inspect_project(root, main, paths, frames=frames, settings=settings, progress=progress))

    async def quote(self, upload: Union[str, Quote], frames: Optional[Frames] = None, *, settings: Optional[Settings] = None) -> Quote:
        """Client.quote."""
        return await self._run(lambda client: client.quote(upload, frames, settings=settings))

    async def rerender(self, job_id: str, frames: Frames) -> Quote:
        """Client.rerender."""
        return await self._run(lambda client: client.rerender(job_id, frames))

    async def preview(self, upload: Union[str, Quote], frame: Optional[int] = None, *, wait: bool = True) -> Preview:
        """Client.preview."""
        return await self._run(lambda client: client.preview(upload, frame, wait=wait))

    async def preview_image(self, look: Preview) -> bytes:
        """Client.preview_image."""
        return await self._run(lambda client: client.preview_image(look))

    async def sync(self, job_id: str, folder: transfer.Path) -> AsyncIterator[SavedFrame]:
        """Client.sync."""
        async for item in self._each(lambda client: client.sync(job_id, folder)):
            yield item

    async def start(self, quote: Quote, *, legal_acceptance: str, max_cents: Optional[int] = None, webhook_url: str = "",
                    webhook_secret: str = "", tags: Sequence[str] = (), idempotency_key: str = "") -> Job:
        """Client.start."""
        return await self._run(lambda client:
            client.start(quote, legal_acceptance=legal_acceptance, max_cents=max_cents, webhook_url=webhook_url,
            webhook_secret=webhook_secret, tags=tags, idempotency_key=idempotency_key))

    async def follow(self, job_id: str, *, after: str = "", timeout: Optional[float] = None) -> AsyncIterator[Event]:
        """Client.follow."""
        async for item in self._each(lambda client: client.follow(job_id, after=after, timeout=timeout)):
            yield item

    async def wait(self, job_id: str, *, timeout: Optional[float] = None) -> Job:
        """Client.wait."""
        return await self._run(lambda client: client.wait(job_id, timeout=timeout))

    async def frame_file(self, job_id: str, frame: int, output: str = "") -> bytes:
        """Client.frame_file."""
        return await self._run(lambda client: client.frame_file(job_id, frame, output))

    async def frame_preview(self, job_id: str, frame: int) -> bytes:
        """Client.frame_preview."""
        return await self._run(lambda client: client.frame_preview(job_id, frame))

    async def log(self, job_id: str) -> bytes:
        """Client.log."""
        return await self._run(lambda client: client.log(job_id))

    async def contact_sheet(self, job_id: str) -> bytes:
        """Client.contact_sheet."""
        return await self._run(lambda client: client.contact_sheet(job_id))

    async def loop(self, job_id: str) -> bytes:
        """Client.loop."""
        return await self._run(lambda client: client.loop(job_id))

    async def movie(self, job_id: str, path: transfer.Path) -> None:
        """Client.movie."""
        return await self._run(lambda client: client.movie(job_id, path))

    async def download(self, job_id: str, path: transfer.Path, *, progress: Optional[transfer.Progress] = None) -> Artifact:
        """Client.download."""
        return await self._run(lambda client: client.download(job_id, path, progress=progress))

    async def verify(self, job_id: str, path: transfer.Path, *, keys: Optional[Iterable[Any]] = None,
                     test: bool = False, pixels: bool = True) -> Report:
        """Client.verify."""
        return await self._run(lambda client: client.verify(job_id, path, keys=keys, test=test, pixels=pixels))

    async def jobs(self, *, status: Optional[JobStatus] = None, tag: str = "", search: str = "", since: str = "", until: str = "",
                   person: str = "", frames: str = "", limit: int = 0) -> AsyncIterator[Job]:
        """Client.jobs."""
        async for item in self._each(lambda client: client.jobs(status=status, tag=tag, search=search, since=since, until=until,
                                                                person=person, frames=frames, limit=limit)):
            yield item

    async def transactions(self, *, limit: int = 0) -> AsyncIterator[Transaction]:
        """Client.transactions."""
        async for item in self._each(lambda client: client.transactions(limit=limit)):
            yield item

    async def spend(self, *, by: str = "month", month: str = "") -> Dict[str, Any]:
        """Client.spend."""
        return await self._run(lambda client: client.spend(by=by, month=month))

    async def agent_keys(self) -> List[Dict[str, Any]]:
        """Client.agent_keys."""
        return await self._run(lambda client: client.agent_keys())

    async def revoke_agent_key(self, key_id: str) -> None:
        """Client.revoke_agent_key."""
        return await self._run(lambda client: client.revoke_agent_key(key_id))

    async def call(self, method: str, path: str, value: Any = None, *, idempotency_key: str = "") -> Dict[str, Any]:
        """Client.call."""
        return await self._run(lambda client: client.call(method, path, value, idempotency_key=idempotency_key))

    async def read(self, path: str) -> bytes:
        """Client.read."""
        return await self._run(lambda client: client.read(path))

    async def render(self, scene: Union[transfer.Path, bytes], folder: transfer.Path, *, legal_acceptance: str,
                     max_cents: Optional[int] = None, frames: Optional[Frames] = None,
                     settings: Optional[Settings] = None, filename: str = "") -> AsyncRendering:
        """Client.render. Iterate over what it returns with ``async for``."""
        started = await self._run(lambda client: client.render(
            scene, folder, legal_acceptance=legal_acceptance, max_cents=max_cents, frames=frames, settings=settings, filename=filename))
        return AsyncRendering(self, started.job, started.folder)

    async def invoice_pdf(self, number: str) -> bytes:
        """Client.invoice_pdf."""
        return await self._run(lambda client: client.invoice_pdf(number))

    # Printed from sdk/methods by go generate; do not edit.

    async def job(self, job_id: str) -> Job:
        """Client.job."""
        return await self._run(lambda client: client.job(job_id))

    async def cancel(self, job_id: str) -> Job:
        """Client.cancel."""
        return await self._run(lambda client: client.cancel(job_id))

    async def pause(self, job_id: str) -> Job:
        """Client.pause."""
        return await self._run(lambda client: client.pause(job_id))

    async def resume(self, job_id: str) -> Job:
        """Client.resume."""
        return await self._run(lambda client: client.resume(job_id))

    async def set_priority(self, job_id: str, priority: int) -> Job:
        """Client.set_priority."""
        return await self._run(lambda client: client.set_priority(job_id, priority))

    async def set_tags(self, job_id: str, tags: List[str]) -> Job:
        """Client.set_tags."""
        return await self._run(lambda client: client.set_tags(job_id, tags))

    async def frames(self, job_id: str) -> List[Frame]:
        """Client.frames."""
        return await self._run(lambda client: client.frames(job_id))

    async def artifact(self, job_id: str) -> Artifact:
        """Client.artifact."""
        return await self._run(lambda client: client.artifact(job_id))

    async def receipt(self, job_id: str) -> Dict[str, Any]:
        """Client.receipt."""
        return await self._run(lambda client: client.receipt(job_id))

    async def proof(self, job_id: str) -> Dict[str, Any]:
        """Client.proof."""
        return await self._run(lambda client: client.proof(job_id))

    async def share(self, job_id: str, *, expires_at: Optional[str] = None, download: Optional[bool] = None, proof: Optional[bool] = None, comments: Optional[bool] = None) -> Share:
        """Client.share."""
        return await self._run(lambda client: client.share(job_id, expires_at=expires_at, download=download, proof=proof, comments=comments))

    async def job_share(self, job_id: str) -> Share:
        """Client.job_share."""
        return await self._run(lambda client: client.job_share(job_id))

    async def allow_comments(self, job_id: str, allowed: bool) -> Share:
        """Client.allow_comments."""
        return await self._run(lambda client: client.allow_comments(job_id, allowed))

    async def comments(self, job_id: str) -> List[FrameComment]:
        """Client.comments."""
        return await self._run(lambda client: client.comments(job_id))

    async def unshare(self, job_id: str) -> Dict[str, Any]:
        """Client.unshare."""
        return await self._run(lambda client: client.unshare(job_id))

    async def shares(self) -> List[Share]:
        """Client.shares."""
        return await self._run(lambda client: client.shares())

    async def saved_filters(self) -> List[SavedFilter]:
        """Client.saved_filters."""
        return await self._run(lambda client: client.saved_filters())

    async def upload(self, upload_id: str) -> Quote:
        """Client.upload."""
        return await self._run(lambda client: client.upload(upload_id))

    async def delete_upload(self, upload_id: str) -> Dict[str, Any]:
        """Client.delete_upload."""
        return await self._run(lambda client: client.delete_upload(upload_id))

    async def signing_keys(self) -> List[SigningKey]:
        """Client.signing_keys."""
        return await self._run(lambda client: client.signing_keys())

    async def wallet(self) -> Wallet:
        """Client.wallet."""
        return await self._run(lambda client: client.wallet())

    async def set_wallet_alert(self, cents: int) -> Wallet:
        """Client.set_wallet_alert."""
        return await self._run(lambda client: client.set_wallet_alert(cents))

    async def top_ups(self, *, limit: int = 0) -> AsyncIterator[TopUp]:
        """Client.top_ups."""
        async for item in self._each(lambda client: client.top_ups(limit=limit)):
            yield item

    async def create_top_up(self, amount_cents: int) -> TopUp:
        """Client.create_top_up."""
        return await self._run(lambda client: client.create_top_up(amount_cents))

    async def top_up(self, top_up_id: str) -> TopUp:
        """Client.top_up."""
        return await self._run(lambda client: client.top_up(top_up_id))

    async def invoices(self, *, limit: int = 0) -> AsyncIterator[Dict[str, Any]]:
        """Client.invoices."""
        async for item in self._each(lambda client: client.invoices(limit=limit)):
            yield item

    async def invoice(self, number: str) -> Dict[str, Any]:
        """Client.invoice."""
        return await self._run(lambda client: client.invoice(number))

    async def webhook_endpoints(self) -> List[WebhookEndpoint]:
        """Client.webhook_endpoints."""
        return await self._run(lambda client: client.webhook_endpoints())

    async def create_webhook_endpoint(self, url: str, *, description: Optional[str] = None, secret: Optional[str] = None) -> WebhookEndpoint:
        """Client.create_webhook_endpoint."""
        return await self._run(lambda client: client.create_webhook_endpoint(url, description=description, secret=secret))

    async def webhook_endpoint(self, endpoint_id: str) -> WebhookEndpoint:
        """Client.webhook_endpoint."""
        return await self._run(lambda client: client.webhook_endpoint(endpoint_id))

    async def update_webhook_endpoint(self, endpoint_id: str, *, url: Optional[str] = None, description: Optional[str] = None, enabled: Optional[bool] = None) -> WebhookEndpoint:
        """Client.update_webhook_endpoint."""
        return await self._run(lambda client: client.update_webhook_endpoint(endpoint_id, url=url, description=description, enabled=enabled))

    async def delete_webhook_endpoint(self, endpoint_id: str) -> Dict[str, Any]:
        """Client.delete_webhook_endpoint."""
        return await self._run(lambda client: client.delete_webhook_endpoint(endpoint_id))

    async def test_webhook_endpoint(self, endpoint_id: str) -> Delivery:
        """Client.test_webhook_endpoint."""
        return await self._run(lambda client: client.test_webhook_endpoint(endpoint_id))

    async def rotate_webhook_secret(self, endpoint_id: str, *, secret: Optional[str] = None) -> Dict[str, Any]:
        """Client.rotate_webhook_secret."""
        return await self._run(lambda client: client.rotate_webhook_secret(endpoint_id, secret=secret))

    async def endpoint_deliveries(self, endpoint_id: str, *, status: Optional[str] = None, limit: int = 0) -> AsyncIterator[Delivery]:
        """Client.endpoint_deliveries."""
        async for item in self._each(lambda client: client.endpoint_deliveries(endpoint_id, status=status, limit=limit)):
            yield item

    async def redeliver_since(self, endpoint_id: str, since: str) -> Dict[str, Any]:
        """Client.redeliver_since."""
        return await self._run(lambda client: client.redeliver_since(endpoint_id, since))

    async def webhook_deliveries(self, job_id: str) -> List[Delivery]:
        """Client.webhook_deliveries."""
        return await self._run(lambda client: client.webhook_deliveries(job_id))

    async def redeliver_webhook(self, job_id: str, delivery_id: str) -> Delivery:
        """Client.redeliver_webhook."""
        return await self._run(lambda client: client.redeliver_webhook(job_id, delivery_id))

    async def pricing(self) -> Dict[str, Any]:
        """Client.pricing."""
        return await self._run(lambda client: client.pricing())

    async def test_clock(self) -> Dict[str, Any]:
        """Client.test_clock."""
        return await self._run(lambda client: client.test_clock())

    async def move_test_clock(self, advance_seconds: float) -> Dict[str, Any]:
        """Client.move_test_clock."""
        return await self._run(lambda client: client.move_test_clock(advance_seconds))

    async def health(self) -> Dict[str, Any]:
        """Client.health."""
        return await self._run(lambda client: client.health())

    async def capabilities(self) -> Dict[str, Any]:
        """Client.capabilities."""
        return await self._run(lambda client: client.capabilities())

    async def limits(self) -> Dict[str, Any]:
        """Client.limits."""
        return await self._run(lambda client: client.limits())

    # What follows is written by hand.

    async def _run(self, call: Callable[[Client], T], cancelled: Optional[Cancellation] = None) -> T:
        """Makes a call in a thread, which ends with the task."""
        loop, cancelled = asyncio.get_running_loop(), cancelled or Cancellation()
        ends: asyncio.Future[T] = loop.create_future()
        client = self.sync_client._until(cancelled)

        def settle(how: Callable[[Any], None], value: Any) -> None:
            if not ends.done():
                how(value)

        def work() -> None:
            try:
                how, value = ends.set_result, call(client)  # type: Callable[[Any], None], Any
            except BaseException as error:
                how, value = ends.set_exception, error
            try:
                loop.call_soon_threadsafe(settle, how, value)
            except RuntimeError:
                pass  # the loop has ended, and nobody waits

        threading.Thread(target=contextvars.copy_context().run, args=(work,), name="svc_render", daemon=True).start()
        try:
            return await ends
        except asyncio.CancelledError:
            cancelled.cancel()
            raise

    async def _each(self, source: Callable[[Client], Iterator[T]]) -> AsyncIterator[T]:
        """Yields what a call yields. A loop that is left ends it."""
        cancelled = Cancellation()
        items = source(self.sync_client._until(cancelled))
        try:
            while True:
                item = await self._run(lambda _: next(items, _END), cancelled)
                if item is _END:
                    return
                yield item
        finally:
            cancelled.cancel()


class AsyncRendering:
    """A job whose frames come into a folder while somebody iterates over it."""

    def __init__(self, client: AsyncClient, job: Job, folder: str) -> None:
        self.job, self.folder = job, folder
        self._frames = client.sync(job["job_id"], folder)

    def __aiter__(self) -> AsyncIterator[SavedFrame]:
        return self._frames

    async def wait(self) -> str:
        """Waits for all frames, and returns the folder."""
        async for _ in self._frames:
            pass
        return self.folder
