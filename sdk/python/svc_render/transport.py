"""One call over HTTP, with retries. Connections are made for each attempt and never
shared, so a client may be used by any number of threads."""

from __future__ import annotations

import base64
import copy
import email.utils
import http.client
import ipaddress
import json
import random
import re
import socket
import ssl
import threading
import time
import urllib.request
from typing import Any, Callable, Dict, Iterable, NamedTuple, Optional, Set, TypeVar, Union
from urllib.parse import SplitResult, unquote, urlsplit

from .errors import ApiError, Cancelled, ConnectionFailed, ForeignAnswer, SvcError, passing_status, seconds

VERSION = "0.1.0"

#: Bounds a JSON answer that is read into memory, bytes.
MAX_ANSWER = 64 << 20
CONNECT_SECONDS = 10.0
FIRST_WAIT, LONGEST_WAIT = 0.25, 10.0
#: For how long one call waits for a rate limit without counting that as a try, seconds.
PATIENCE = 120.0

T = TypeVar("T")


class Body(NamedTuple):
    """The body of one try. ``chunks`` yields ``size`` bytes."""

    chunks: Iterable[bytes]
    size: int
    content_type: str


class Retry(NamedTuple):
    """A try that failed and will be repeated."""

    error: SvcError
    wait: float  # seconds until the next try
    attempt: int  # which try comes next, from 2 on


class Cancellation:
    """Ends calls from another thread: one that waits for the network or for its next try
    returns at once."""

    def __init__(self) -> None:
        self._ended, self._lock = threading.Event(), threading.Lock()
        self._open: Set[http.client.HTTPConnection] = set()

    def cancel(self) -> None:
        """Ends the calls, those under way and those to come."""
        self._ended.set()
        with self._lock:
            connections = list(self._open)
        for connection in connections:
            try:
                if connection.sock:
                    connection.sock.shutdown(socket.SHUT_RDWR)  # a close would not wake the reading thread
            except OSError:
                pass  # it has ended already

    def check(self) -> None:
        """Raises Cancelled after a cancel."""
        if self._ended.is_set():
            raise Cancelled("the call was cancelled")

    def sleep(self, seconds: float) -> None:
        """Waits, or raises Cancelled at once."""
        self._ended.wait(seconds)
        self.check()

    def hold(self, connection: http.client.HTTPConnection) -> None:
        """Has a cancel end the connection."""
        with self._lock:
            self._open.add(connection)
        self.check()

    def drop(self, connection: http.client.HTTPConnection) -> None:
        """Forgets a connection that has ended."""
        with self._lock:
            self._open.discard(connection)


class Answer:
    """An open response. Use it in a ``with`` statement: leaving it closes the connection."""

    def __init__(self, call: str, connection: http.client.HTTPConnection, response: http.client.HTTPResponse,
                 cancelled: Optional[Cancellation] = None) -> None:
        self.call, self._connection, self._response, self._cancelled = call, connection, response, cancelled
        self.status, self.headers = response.status, response.headers

    def __enter__(self) -> "Answer":
        return self

    def __exit__(self, *_: Any) -> None:
        self._response.close()
        self._connection.close()
        if self._cancelled:
            self._cancelled.drop(self._connection)

    def read(self, most: int) -> bytes:
        """Up to ``most`` bytes, as they come, so that a silence loses none; empty at the end."""
        try:
            return self._response.read1(most)
        except (OSError, http.client.HTTPException) as cause:
            raise ConnectionFailed(self.call, cause, True) from cause

    def readline(self, most: int) -> bytes:
        """A line with its end; what is before the end of the stream, or empty there."""
        try:
            return self._response.readline(most)
        except (OSError, http.client.HTTPException) as cause:
            raise ConnectionFailed(self.call, cause, True) from cause

    def read_all(self) -> bytes:
        """The whole of it, of MAX_ANSWER bytes at most."""
        parts, size = [], 0
        while size < MAX_ANSWER:
            part = self.read(min(1 << 20, MAX_ANSWER - size))
            if not part:
                break
            parts.append(part)
            size += len(part)
        declared = self.headers.get("Content-Length", "")
        if declared.isdecimal() and size < min(int(declared), MAX_ANSWER):
            raise ConnectionFailed(self.call, EOFError("the answer was cut off"), True)
        return b"".join(parts)

    def refusal(self) -> ApiError:
        """The error of a status that is none of success."""
        try:
            body = json.loads(self.read_all().decode("utf-8"))
        except (ValueError, ConnectionFailed):
            body = None  # the status alone says enough
        return ApiError(self.call, self.status, body, self.headers.get("X-Request-Id", ""),
                        retry_after(self.headers.get("Retry-After"), self.headers.get("Date"))
                        or (limit_reset(self.headers.get_all("RateLimit", [])) if self.status == 429 else 0.0),
                        self.headers.get("Location", "") if 300 <= self.status <= 399 else "")


class Transport:
    """Calls one server with one key."""

    def __init__(self, base_url: str, key: Union[str, Callable[[], str]], timeout: float, attempts: int, user_agent: str,
                 context: Optional[ssl.SSLContext], on_retry: Optional[Callable[[Retry], None]],
                 sleep: Callable[[float], None]) -> None:
        self.base = base_url.rstrip("/")
        parts = urlsplit(self.base)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("the server's address must start with http:// or https:// and a host")
        if parts.username or parts.password or parts.query or parts.fragment:
            raise ValueError("the server's address has a user, a ? or a # in it: give the address alone")
        self.key, self.timeout, self.attempts = key, timeout, attempts
        own = "svc-render-python/%s" % VERSION
        self.user_agent = "%s %s" % (user_agent, own) if user_agent else own
        self.context, self.on_retry, self.sleep = context, on_retry, sleep
        self.cancelled: Optional[Cancellation] = None

    @property
    def test_mode(self) -> bool:
        """Whether the key is one of test mode, by its form."""
        return isinstance(self.key, str) and self.key.startswith(("svc_test_", "svc_agent_test_"))

    def until(self, cancelled: Cancellation) -> "Transport":
        """The same transport, whose calls end with ``cancelled``."""
        other = copy.copy(self)
        other.cancelled = cancelled
        if self.sleep is time.sleep:
            other.sleep = cancelled.sleep
        return other

    def open(self, method: str, url: str, headers: Optional[Dict[str, str]] = None,
             body: Optional[Body] = None, timeout: Optional[float] = None, keyed: bool = True) -> Answer:
        """One try. ``url`` is a path of the server, or a whole address with ``keyed`` false:
        a signed link authorises itself, and the key goes to no other host."""
        parts = urlsplit(self.base + url if url.startswith("/") else url)
        call = "%s %s" % (method, parts.path)  # the query of a link is the right to use it
        target = parts.path + ("?" + parts.query if parts.query else "")
        sent = {"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": self.user_agent}
        if keyed and self.key:
            sent["Authorization"] = "Bearer " + (self.key if isinstance(self.key, str) else self.key())
        if body is not None:
            sent.update({"Content-Type": body.content_type, "Content-Length": str(body.size)})
        elif method not in ("GET", "HEAD"):
            sent["Content-Length"] = "0"
        sent.update(headers or {})
        proxy = proxy_of(parts)
        if proxy and parts.scheme == "http":  # it wants the whole address
            target = "http://%s%s" % (parts.netloc, target or "/")
            sent.update(proxy_authorization(proxy))
        connection = self._connection(parts, proxy)
        try:
            connection.connect()
            if self.cancelled:
                self.cancelled.hold(connection)
            connection.sock.settimeout(timeout or self.timeout)
            try:
                connection.request(method, target or "/", body.chunks if body else None, sent)
            except (BrokenPipeError, ConnectionResetError):
                pass  # the server may have answered and closed before it read the whole body
            return Answer(call, connection, connection.getresponse(), self.cancelled)
        except (OSError, http.client.HTTPException) as cause:
            self._close(connection)
            raise ConnectionFailed(call, cause, passes(cause)) from cause
        except BaseException:
            self._close(connection)
            raise

    def _close(self, connection: http.client.HTTPConnection) -> None:
        connection.close()
        if self.cancelled:
            self.cancelled.drop(connection)

    def _connection(self, parts: SplitResult, proxy: Optional[SplitResult]) -> http.client.HTTPConnection:
        to = proxy or parts
        host, port = to.hostname or "", to.port
        if parts.scheme != "https":
            return http.client.HTTPConnection(host, port, timeout=CONNECT_SECONDS)
        context = self.context or ssl.create_default_context()
        connection = http.client.HTTPSConnection(host, port or (80 if proxy else None), timeout=CONNECT_SECONDS, context=context)
        if proxy:
            connection.set_tunnel(parts.hostname or "", parts.port or 443, proxy_authorization(proxy))
        return connection

    def json(self, method: str, path: str, value: Any = None, body: Optional[Callable[[], Body]] = None,
             idempotency_key: str = "", once: bool = False) -> Dict[str, Any]:
        """An exchange of JSON, with retries. ``body`` makes the body again for each
        attempt; all attempts carry the same idempotency key, by which the server knows a
        repetition."""
        text = b"" if value is None else json.dumps(value, ensure_ascii=False).encode("utf-8")
        headers = {"Idempotency-Key": idempotency_key} if idempotency_key else {}

        def attempt() -> Dict[str, Any]:
            this = body() if body else Body((text,), len(text), "application/json") if value is not None else None
            with self.open(method, path, headers, this) as answer:
                if not 200 <= answer.status <= 299:
                    raise answer.refusal()
                try:
                    told = json.loads(answer.read_all().decode("utf-8"))
                except ValueError as cause:
                    raise ForeignAnswer("%s: the answer is not JSON" % answer.call) from cause
                if not isinstance(told, dict):
                    raise ForeignAnswer("%s: the answer does not have the form of svc" % answer.call)
                return told

        return self.repeat(attempt, once)

    def bytes(self, url: str, accept: str = "*/*", keyed: bool = True) -> bytes:
        """The bytes of a GET, of MAX_ANSWER at most, with retries."""
        def attempt() -> bytes:
            with self.open("GET", url, {"Accept": accept}, keyed=keyed) as answer:
                if answer.status != 200:
                    raise answer.refusal()
                if answer.headers.get("Content-Type", "").startswith("text/html"):  # the service sends none to programs
                    raise ForeignAnswer("%s: the answer is a web page" % answer.call)
                return answer.read_all()

        return self.repeat(attempt)

    def repeat(self, attempt: Callable[[], T], once: bool = False) -> T:
        """Calls ``attempt`` until it succeeds, fails for good, or was called often enough. It
        waits rate limits out silently, within PATIENCE, unless there is one attempt only."""
        number, limited = 1, 0.0
        while True:
            try:
                return attempt()
            except SvcError as error:
                wait = 0.0 if once else self.limit(error, limited)
                if wait:
                    limited += wait
                    self.sleep(wait)
                    continue
                if once or number >= self.attempts or not passing(error):
                    raise
                self.pause(number, error)
            number += 1

    def limit(self, error: SvcError, limited: float) -> float:
        """How long a rate limit asks to wait, which is no failed try; 0.0 where it is none, or
        where PATIENCE has no room for it after ``limited`` seconds of such waits."""
        wait = error.retry_after if isinstance(error, ApiError) and error.status == 429 else 0.0
        return wait if wait <= PATIENCE - limited and self.attempts > 1 else 0.0

    def pause(self, attempt: int, error: Optional[SvcError]) -> None:
        """Waits before the next try, at least as long as the server asked for. Half of each
        wait is random, so that many clients of a restarted server do not return at once."""
        wait = min(LONGEST_WAIT, FIRST_WAIT * 2 ** min(attempt - 1, 10))
        wait = wait / 2 + random.random() * wait / 2
        if isinstance(error, ApiError):
            wait = max(wait, error.retry_after)
        if self.cancelled:
            self.cancelled.check()
        if error is not None and self.on_retry:
            self.on_retry(Retry(error, wait, attempt + 1))
        self.sleep(wait)


def proxy_of(parts: SplitResult) -> Optional[SplitResult]:
    """The proxy that the environment (http_proxy, https_proxy, no_proxy, or the system's
    settings) names for an address; None for none, and always for this machine itself."""
    host = parts.hostname or ""
    try:
        own = ipaddress.ip_address(host).is_loopback
    except ValueError:
        own = host == "localhost"
    found = "" if own or urllib.request.proxy_bypass(host) else urllib.request.getproxies().get(parts.scheme, "")
    if not found:
        return None
    proxy = urlsplit(found if "://" in found else "http://" + found)
    if proxy.scheme != "http" or not proxy.hostname:
        raise SvcError("the proxy of the environment does not begin with http://")
    return proxy


def proxy_authorization(proxy: SplitResult) -> Dict[str, str]:
    """The header that gives a proxy the user and word of its address; empty without."""
    if not proxy.username:
        return {}
    pair = "%s:%s" % (unquote(proxy.username), unquote(proxy.password or ""))
    return {"Proxy-Authorization": "Basic " + base64.b64encode(pair.encode("utf-8")).decode("ascii")}


def passes(cause: BaseException) -> bool:
    """Whether trying again can help: not against a wrong certificate, or an unknown
    name."""
    if isinstance(cause, ssl.SSLCertVerificationError):
        return False
    if isinstance(cause, socket.gaierror):
        return cause.errno == socket.EAI_AGAIN
    return True


def passing(error: SvcError) -> bool:
    """Failures that a repeated call can overcome: lost connections, 429, 5xx, and an earlier
    try on which the server still works."""
    if isinstance(error, ConnectionFailed):
        return error.passes
    return isinstance(error, ApiError) and (passing_status(error.status) or error.code == "idempotency_in_progress")


def retry_after(value: Optional[str], sent: Optional[str] = None) -> float:
    """The header's two forms, seconds and a date (RFC 9110 10.2.3); 0 for anything else. A date
    is the server's: it counts from the answer's own date, ``sent``, not from this clock."""
    if not value:
        return 0.0
    if value.strip().isdecimal():
        return seconds(value)
    until = instant(value)
    return 0.0 if until is None else seconds(until - (instant(sent) or time.time()))


def limit_reset(headers: Iterable[str]) -> float:
    """How many seconds until no limit of the RateLimit headers refuses; 0 where they do not tell."""
    return max((seconds(t) for t in re.findall(r";\s*r=0\s*;\s*t=(\d{1,9})", ",".join(headers))), default=0.0)


def instant(date: Optional[str]) -> Optional[float]:
    """The Unix time of a date in a header; None for anything else."""
    try:
        return email.utils.parsedate_to_datetime(date or "").timestamp()
    except (TypeError, ValueError):
        return None
