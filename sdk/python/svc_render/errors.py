"""What the package raises. Every error is an :class:`SvcError`."""

from __future__ import annotations

from typing import Any, Optional


class SvcError(Exception):
    """The base of all errors of this package."""


class ApiError(SvcError):
    """A refusal of the service. Act on :attr:`code`; docs/errors.md lists them."""

    def __init__(self, call: str, status: int, body: Any, header_id: str = "", retry_after: float = 0.0,
                 location: str = "") -> None:
        told = body.get("error") if isinstance(body, dict) else None
        told = told if isinstance(told, dict) else {}
        self.call = call  # method and path
        self.status = status  # HTTP
        self.code: str = str(told.get("code") or "")  # empty when a proxy answered
        self.message: str = str(told.get("message") or (
            "a redirect to %s came, as of a network's sign-in page" % location.partition("?")[0] if location
            else "a proxy or another server answered, not the service"))
        self.suggested_action: str = str(told.get("suggested_action") or "")
        self.request_id: str = str(told.get("request_id") or header_id)
        self.detail: Any = told.get("detail")
        # Whether a later try can succeed without a change by the caller.
        self.retryable: bool = bool(told.get("retryable")) or passing_status(status)
        # Seconds that the server asks to wait: the longer one of header and body.
        self.retry_after: float = max(retry_after, seconds(told.get("retry_after_seconds")))
        super().__init__(call, self.message, self.code, status)

    def __str__(self) -> str:
        return "%s: %s (%s)" % (self.call, self.message, ", ".join(
            part for part in (self.code, str(self.status), self.request_id) if part))


class ConnectionFailed(SvcError):
    """No answer came: the network, the name, the certificate or a time-out."""

    def __init__(self, call: str, cause: BaseException, passes: bool) -> None:
        super().__init__("%s: %s" % (call, cause or type(cause).__name__))
        self.call = call
        self.passes = passes  # whether trying again can help


class ForeignAnswer(SvcError):
    """A success that no svc sent, as where the address leads to another web server."""


class DownloadChanged(SvcError):
    """The received bytes do not have the SHA-256 that the service states. None are kept."""


class FileChanged(SvcError):
    """A file was changed, or became shorter, between its listing and its sending."""


class FollowTimeout(SvcError):
    """The job did not end within the time that the caller gave. It
    continues."""


class JobEnded(SvcError):
    """A job ended without its frames: it failed or was cancelled, and cost nothing."""

    def __init__(self, job: Any) -> None:
        failure = job.get("failure") or {}
        super().__init__("job %s: %s%s" % (job.get("job_id"), job.get("status"), ": " + str(failure["message"]) if failure.get("message") else ""))
        self.job = job


class Cancelled(SvcError):
    """The caller gave the call up."""


class WebhookError(SvcError):
    """A call that is not proven to come from the service. Do not act on it."""


class VerificationError(SvcError):
    """A receipt that does not hold. ``check`` names the first check that failed."""

    def __init__(self, check: str, text: str, report: Optional[Any] = None) -> None:
        super().__init__("%s: %s" % (check, text))
        self.check = check
        self.report = report  # all checks, where there are any


def passing_status(status: int) -> bool:
    """Whether a later try can overcome the status without a change."""
    return status == 429 or status >= 500


def seconds(value: Any) -> float:
    """A wait in seconds, 0 to a day, so that a wrong one cannot stop a caller for years."""
    try:
        return min(max(float(value), 0.0), 86400.0)
    except (TypeError, ValueError):
        return 0.0
