"""Calls of the service to your server (docs/webhooks.md)."""

from __future__ import annotations

import base64
import binascii
import hmac
import json
import time
from typing import Mapping, NamedTuple, Optional

from .errors import WebhookError
from .wire import Job, WebhookType

#: How far a call's time may be from now, seconds: it bounds how long a recorded call can be
#: sent again, and how wrong the receiver's clock may be.
TOLERANCE = 300


class WebhookEvent(NamedTuple):
    """A verified call. The same event can come several times, with the same id: act on it
    once. ``job`` is the job as it was then; None for an event that is not about a job."""

    id: str
    type: WebhookType
    timestamp: str
    job: Optional[Job]


def verify_webhook(secret: str, headers: Mapping[str, str], body: bytes, now: Optional[float] = None) -> WebhookEvent:
    """Checks with the webhook's secret that the service sent ``body``, the bytes as received.
    During a rotation either secret is good. WebhookError means: do not act on it."""
    found = {name.lower(): value for name, value in headers.items()}
    identity, stamp = found.get("webhook-id", ""), found.get("webhook-timestamp", "")
    if not identity or not (stamp.isascii() and stamp.isdecimal()):
        raise WebhookError("it has no webhook-id or no webhook-timestamp")
    if abs((time.time() if now is None else now) - int(stamp)) > TOLERANCE:
        raise WebhookError("it was sent at another time than now")
    try:
        key = base64.b64decode(secret[6:], validate=True) if secret.startswith("whsec_") else secret.encode("utf-8")
    except binascii.Error as cause:
        raise WebhookError("the secret is not base64 after whsec_") from cause
    if not key:
        raise WebhookError("the secret is empty")  # anybody could sign with it
    signed = hmac.new(key, ("%s.%s." % (identity, stamp)).encode("utf-8") + body, "sha256").digest()
    want = b"v1," + base64.b64encode(signed)
    if not any(hmac.compare_digest(want, one.encode("utf-8")) for one in found.get("webhook-signature", "").split()):
        raise WebhookError("no signature was made with this secret")
    try:
        told = json.loads(body.decode("utf-8"))
        kind, when, data = told["type"], told["timestamp"], told["data"]
    except (ValueError, KeyError, TypeError) as cause:
        raise WebhookError("its body is not that of a webhook") from cause
    return WebhookEvent(identity, kind, when, data if kind.startswith("render.") else None)
