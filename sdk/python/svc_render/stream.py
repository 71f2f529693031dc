"""Server-sent events, and the loop that follows a job over all of its connections."""

from __future__ import annotations

import json
import threading
import time
from typing import Dict, Iterator, List, NamedTuple, Optional

from .errors import ApiError, ConnectionFailed, FollowTimeout, SvcError
from .transport import Answer, Transport, passing
from .wire import TERMINAL, Event, FrameEvent, JobEvent

MAX_LINE = 4 << 20
#: How long a connection may say nothing, not even a keep-alive, before it counts as lost.
IDLE_SECONDS = 60.0


class Message(NamedTuple):
    """One entry of a stream. Without data it only says where to resume."""

    id: str
    type: str
    data: str


def messages(answer: Answer) -> Iterator[Optional[Message]]:
    """The messages of a stream (WHATWG HTML 9.2), and None for each keep-alive. A message
    that the end cuts off is dropped: it comes again after the last id."""
    identity, kind, data, place = "", "", [], ""  # type: str, str, List[str], str
    while True:
        raw = answer.readline(MAX_LINE)
        if not raw.endswith(b"\n"):
            return
        line = raw.decode("utf-8", "replace").rstrip("\n").rstrip("\r")
        if line == "":
            if data or identity != place:
                place = identity
                yield Message(identity, kind if data else "", "\n".join(data))
            else:
                yield None
            kind, data = "", []
            continue
        field, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if field == "event":
            kind = value
        elif field == "data":
            data.append(value)
        elif field == "id":
            identity = value
        elif field == "":
            yield None  # a comment keeps the connection alive


class Follower:
    """Alternates between a stream and, when that brought nothing, one read of the job. So a
    proxy that cuts streams delays events but loses no end of a job."""

    def __init__(self, transport: Transport, path: str, after: str, timeout: Optional[float],
                 stop: Optional[threading.Event]) -> None:
        self.transport, self.path, self.stop = transport, path, stop
        self.last_id, self.frame = after, number_of(after)
        self.seen = 0  # events handed on from streams
        self.read: Optional[Dict[str, object]] = None  # the job as last handed on
        self.ends = None if timeout is None else time.monotonic() + timeout
        self.timeout = timeout

    def events(self) -> Iterator[Event]:
        """Every event once, up to the one that makes the job terminal."""
        failures = 1
        while not self.over():
            before = self.seen
            error: Optional[SvcError] = None
            try:
                yield from self.stream()
            except (ApiError, ConnectionFailed) as failed:
                error = failed
            if self.done():
                return
            if self.seen > before:
                failures = 1  # the stream works, so the next try follows soon
            elif not self.over():
                try:
                    yield from self.poll()
                    error = None
                except (ApiError, ConnectionFailed) as failed:
                    error = failed
            if self.done():
                return
            if error is not None and not passing(error) and not (
                    self.read is not None and isinstance(error, ConnectionFailed)):
                raise error
            self.transport.pause(failures, error)
            failures += 1

    def over(self) -> bool:
        """Whether the caller has stopped; raises when its time has passed."""
        if self.ends is not None and time.monotonic() > self.ends:
            raise FollowTimeout("%s: the job did not end within %g s" % (self.path, self.timeout or 0))
        return self.stop is not None and self.stop.is_set()

    def done(self) -> bool:
        return self.read is not None and self.read.get("status") in TERMINAL

    def idle(self) -> float:
        left = IDLE_SECONDS if self.ends is None else self.ends - time.monotonic()
        return min(IDLE_SECONDS, max(left, 0.01))

    def stream(self) -> Iterator[Event]:
        """The events of one connection, until it breaks."""
        headers = {"Accept": "text/event-stream"}
        if self.last_id:
            headers["Last-Event-ID"] = self.last_id
        with self.transport.open("GET", self.path + "/events?previews=false", headers, timeout=self.idle()) as answer:
            if answer.status != 200:
                raise answer.refusal()
            for message in messages(answer):
                if self.over():
                    return
                event = self.hand(message) if message else None
                if event:
                    yield event
                    if self.done():
                        return

    def hand(self, message: Message) -> Optional[Event]:
        """The event of a message, unless it was handed on before: a server may repeat events
        from before the point where the stream broke."""
        number = number_of(message.id)
        if message.type not in ("job", "frame") or number < number_of(self.last_id):
            return None
        if message.type == "frame" and number != 0 and number <= self.frame:
            return None
        try:
            data = json.loads(message.data)
        except ValueError as cause:
            raise ConnectionFailed("GET " + self.path, cause, True) from cause
        if message.id:
            self.last_id = message.id
            self.seen += 1
        if message.type == "frame":
            self.frame = number
            return FrameEvent(message.id, "frame", data)
        self.read = data
        return JobEvent(message.id, "job", data)

    def poll(self) -> Iterator[Event]:
        """The job, when it has changed. It makes one try: events is the loop around it."""
        with self.transport.open("GET", self.path) as answer:
            if answer.status != 200:
                raise answer.refusal()
            try:
                job = json.loads(answer.read_all().decode("utf-8"))
            except ValueError as cause:
                raise ConnectionFailed(answer.call, cause, True) from cause
        old = self.read
        if old is None or (job.get("status"), job.get("updated_at")) != (old.get("status"), old.get("updated_at")):
            self.read = job
            yield JobEvent("", "job", job)


def number_of(identity: str) -> int:
    """The number at the start of an id. It grows with each change of a job; progress events
    repeat it. 0 without one."""
    digits = identity.partition(".")[0]
    return int(digits) if digits.isdecimal() else 0
