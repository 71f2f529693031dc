"""The same client for asyncio: each call runs in a thread."""

from __future__ import annotations

import asyncio
import threading
from typing import Any, AsyncIterator, Callable, Dict, Iterator, Optional, TypeVar, Union

from .client import Client
from .wire import Event, Job

T = TypeVar("T")
_END = object()


class AsyncClient:
    """Has every method of :class:`svc_render.Client`, with the same parameters: those that
    return a value are awaited, those that yield are used with ``async for``."""

    def __init__(self, base_url: str, key: Union[str, Callable[[], str]] = "", **options: Any) -> None:
        self.sync = Client(base_url, key, **options)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self.sync, name)
        if name.startswith("_") or not callable(method):
            raise AttributeError(name)

        async def call(*args: Any, **named: Any) -> Any:
            return await asyncio.to_thread(method, *args, **named)

        return call

    async def follow(self, job_id: str, *, after: str = "", timeout: Optional[float] = None) -> AsyncIterator[Event]:
        """Client.follow. A loop that is left ends its thread at the server's next sign of
        life, a keep-alive at the latest."""
        stop = threading.Event()
        try:
            async for event in _each(self.sync.follow(job_id, after=after, timeout=timeout, stop=stop)):
                yield event
        finally:
            stop.set()

    async def jobs(self, *, status: str = "", limit: int = 0) -> AsyncIterator[Job]:
        """Client.jobs."""
        async for job in _each(self.sync.jobs(status=status, limit=limit)):
            yield job

    async def transactions(self, *, limit: int = 0) -> AsyncIterator[Dict[str, Any]]:
        """Client.transactions."""
        async for entry in _each(self.sync.transactions(limit=limit)):
            yield entry


async def _each(source: Iterator[T]) -> AsyncIterator[T]:
    while True:
        item: Any = await asyncio.to_thread(lambda: next(source, _END))
        if item is _END:
            return
        yield item
