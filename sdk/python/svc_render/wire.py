"""The members of responses that callers use most. Responses are dictionaries, passed on
as they came: what a later service adds is there too. Amounts are US cents, durations
seconds, sizes bytes, times RFC 3339 texts. docs/interface.md has every member."""

from __future__ import annotations

from typing import Any, Dict, List, NamedTuple, Optional, TypedDict

#: Accepts the service's terms at start. Send it only when whoever pays has read them.
LEGAL_V1 = "SVC_LEGAL_V1"

#: The states that a job never leaves.
TERMINAL = frozenset(("completed", "failed", "cancelled"))


class Warning_(TypedDict, total=False):
    """Something in the file from which the picture may suffer."""

    code: str
    severity: str
    message: str
    suggested_action: str
    detail: Any


class Settings(TypedDict, total=False):
    """What is rendered of a file in place of what it says; a member that is absent is as there."""

    scene: str
    camera: str
    view_layer: Optional[str]
    resolution_percentage: int
    resolution_x: int
    resolution_y: int
    samples: int
    output_name: str
    reuse: bool  # take over frames of earlier jobs that show the same, at no cost


class Quote(TypedDict, total=False):
    """A locked price for an uploaded file and frames of it. It costs nothing until started."""

    upload_id: str
    quote_id: str
    status: str
    frame_start: int
    frame_end: int
    frame_step: int
    frame_count: int
    frame_list: str
    settings: Settings
    reused_frame_count: int
    reused_frames: str
    frames_to_render: str
    price_cents: int
    currency: str
    qualified_1c: bool
    created_at: str
    expires_at: str
    terms_url: str
    input_sha256: str
    input_size_bytes: int
    filename: str
    warnings: List[Warning_]
    scene: Dict[str, Any]


class Failure(TypedDict, total=False):
    """Why a job failed. It then costs nothing."""

    code: str
    message: str
    retryable: bool
    suggested_action: str


class Job(TypedDict, total=False):
    """A render as the service sees it at one moment."""

    job_id: str
    workspace_id: str
    status: str
    waiting_reason: Optional[str]
    queue_position: Optional[int]
    paused_by: Optional[str]
    priority: Optional[int]
    renderer: str
    filename: str
    input_sha256: str
    frame_start: int
    frame_end: int
    frame_step: int
    frame_count: int
    frames_completed: int
    progress_percent: float
    eta_seconds: Optional[float]
    render_device: Optional[str]
    render_seconds: float
    quote_id: str
    upload_id: str
    price_cents: int
    reserved_cents: int
    charged_cents: int
    currency: str
    cancellable: bool
    webhook_configured: bool
    webhook_secret: str
    created_at: str
    updated_at: str
    completed_at: Optional[str]
    failure: Optional[Failure]
    findings: List[Dict[str, Any]]
    receipt_url: Optional[str]
    proof_url: Optional[str]


class Artifact(TypedDict, total=False):
    """Where the ZIP of a completed job is, for anyone who holds the URL: do not log it."""

    url: str
    filename: str
    content_type: str
    size_bytes: int
    sha256: str
    expires_at: str


class Preview(TypedDict, total=False):
    """A free preview of a frame of an upload: small and coarse."""

    preview_id: str
    upload_id: str
    status: str
    frame: int
    waiting_reason: Optional[str]
    image_url: Optional[str]
    findings: List[Warning_]
    estimate: Optional[Dict[str, Any]]
    failure: Optional[Failure]


class Wallet(TypedDict, total=False):
    """The balance of a workspace."""

    workspace_id: str
    available_cents: int
    reserved_cents: int
    owed_cents: int
    low_balance: Optional[Dict[str, int]]
    alert_below_cents: Optional[int]
    currency: str


class SigningKey(TypedDict, total=False):
    """A public key with which receipts are or were signed."""

    key_id: str
    algorithm: str
    public_key_pem: str
    valid_from: str
    valid_to: Optional[str]
    current: bool
    end_reason: Optional[str]
    end_log_size: Optional[int]
    end_checkpoint: Optional[str]


class Event(NamedTuple):
    """One thing that happened to a job. ``type`` is "job", with the whole job as data, or
    "frame", with a frame that was accepted. ``id`` is empty when the job was read instead."""

    id: str
    type: str
    data: Dict[str, Any]
