"""The members of responses that callers use most. Responses are dictionaries, passed on
as they came: what a later service adds is there too. Amounts are US cents, durations
seconds, sizes bytes, times RFC 3339 texts. docs/interface.md has every member."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, NamedTuple, Optional, TypedDict, Union

#: Accepts the service's terms at start. Send it only when whoever pays has read them.
LEGAL_V1 = "SVC_LEGAL_V1"

#: The states that a job never leaves.
TERMINAL = frozenset(("completed", "failed", "cancelled"))


#: What a job is doing. A job never leaves the last three.
JobStatus = Literal["awaiting_submit", "queued", "rendering", "packaging", "completed", "failed", "cancelled"]

#: Why no worker renders a frame of a job.
WaitingReason = Literal["no_worker_online", "workers_unable", "no_capable_worker", "no_matching_blender", "no_tagged_worker", "workers_busy", "workspace_limit", "paused"]

#: What has become of a quote.
QuoteStatus = Literal["open", "accepted", "expired"]

#: What has become of a preview. The last three end it.
PreviewStatus = Literal["queued", "rendering", "ready", "failed", "expired"]

#: What an entry of the ledger is.
TransactionKind = Literal["credit", "reserve", "capture", "release", "refund", "top_up", "top_up_refund", "chargeback",
                          "chargeback_won", "settlement"]

#: What the frame check noticed and let pass.
Finding = Literal["not_finite", "black", "pink", "uniform", "blank", "repeated"]

#: What has become of a payment. The wallet has the money from "paid" on.
TopUpStatus = Literal["created", "open", "paid", "failed", "expired", "refunded", "disputed"]

#: What has become of a webhook call.
DeliveryStatus = Literal["pending", "delivered", "failed"]

#: The types of webhook events.
WebhookType = Literal["render.completed", "render.failed", "render.cancelled", "wallet.low", "webhook.test"]


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
    ocio: str  # path in the project of the OpenColorIO configuration with which Blender runs
    reuse: bool  # take over frames of earlier jobs that show the same, at no cost


class Change(TypedDict):
    """Something that differs between two revisions of a scene."""

    frames: str  # that it can change
    all_frames: bool
    what: str  # such as "material Floor"
    how: str  # "changed", "added", "removed", "perhaps changed", "new" or "unusable"
    keys: int  # of an action: how many differ


class Changes(TypedDict):
    """Why frames are rendered although an earlier job rendered the scene."""

    job_id: str
    filename: str
    causes: List[Change]  # at most 20
    causes_left_out: int
    inseparable: str  # why a change of any key counts for all frames


class Quote(TypedDict, total=False):
    """A locked price for an uploaded file and frames of it. It costs nothing until started."""

    upload_id: str
    quote_id: str
    status: QuoteStatus
    frame_start: int
    frame_end: int
    frame_step: int
    frame_count: int
    frame_list: str
    settings: Settings
    reused_frame_count: int
    reused_frames: str
    frames_to_render: str
    changes: Changes
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
    status: JobStatus
    waiting_reason: Optional[WaitingReason]
    queue_position: Optional[int]
    paused_by: Optional[Literal["workspace", "operator"]]
    priority: Optional[int]
    tags: List[str]
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
    render_device: Optional[Literal["GPU", "CPU"]]
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
    movie_url: Optional[str]  # only where the scene's output is a movie


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
    status: PreviewStatus
    frame: int
    waiting_reason: Optional[WaitingReason]
    image_url: Optional[str]
    findings: List[Warning_]
    estimate: Optional[Dict[str, Any]]
    failure: Optional[Failure]


class Frame(TypedDict, total=False):
    """A frame that was accepted."""

    frame: int
    file: str
    sha256: str
    pixel_sha256: str
    size_bytes: int
    width: int
    height: int
    render_seconds: float
    render_device: Literal["GPU", "CPU"]
    device_name: str
    accepted_at: str
    checked: Optional[Literal["pixels", "structure"]]
    finding: Optional[Finding]
    strips: int
    file_url: str
    preview_url: str
    outputs: List[Output]


class Output(TypedDict, total=False):
    """A file of a frame besides its picture: of a File Output node, of another view, or a preview."""

    name: str  # below outputs/, with folders
    sha256: str
    size_bytes: int
    file_url: str  # only of a frame that was listed, as is preview_url
    preview_url: str


class AcceptedFrame(TypedDict, total=False):
    """What a stream reports about an accepted frame."""

    job_id: str
    frame: int
    file: str
    sha256: str
    size_bytes: int
    render_seconds: float
    frames_completed: int
    outputs: List[Output]


class Transaction(TypedDict, total=False):
    """One entry of a workspace's ledger. The amount is positive; the kind says where it went."""

    transaction_id: str
    kind: TransactionKind
    reference: str
    job_id: Optional[str]
    amount_cents: int
    currency: str
    created_at: str


class Wallet(TypedDict, total=False):
    """The balance of a workspace."""

    workspace_id: str
    available_cents: int
    reserved_cents: int
    owed_cents: int
    low_balance: Optional[Dict[str, int]]
    alert_below_cents: Optional[int]
    daily_limit_cents: Optional[int]
    spent_today_cents: Optional[int]
    monthly_limit_cents: Optional[int]
    spent_this_month_cents: Optional[int]
    currency: str


class Share(TypedDict, total=False):
    """The public page of a job's frames. ``share_url`` is only in the answer that makes it."""

    job_id: str
    filename: str
    share_url: Optional[str]
    download: bool
    proof: bool
    comments: bool
    open_comments: int
    created_at: str
    expires_at: str
    views: int
    last_viewed_at: Optional[str]


# One member is a keyword of Python, so this is no class.
#: A search of jobs that a person has saved under a name. Members are those of the list of jobs; "" is any.
SavedFilter = TypedDict("SavedFilter", {
    "filter_id": str, "name": str, "status": str, "q": str, "tag": str, "from": str, "to": str, "person": str, "frames": str, "created_at": str,
}, total=False)


class FrameComment(TypedDict, total=False):
    """What a visitor of a job's public page wrote. ``author`` and ``text`` are what a stranger typed."""

    comment_id: str
    job_id: str
    frame: int
    author: str
    text: str
    created_at: str
    done_at: Optional[str]


class TopUp(TypedDict, total=False):
    """A payment into the wallet. A person pays at ``checkout_url``."""

    top_up_id: str
    status: TopUpStatus
    amount_cents: int
    currency: str
    checkout_url: Optional[str]
    receipt_url: Optional[str]
    created_at: str
    paid_at: Optional[str]


class WebhookEndpoint(TypedDict, total=False):
    """An address that is told when a job of the workspace ends. ``secret`` is only in the
    answer that made it."""

    endpoint_id: str
    url: str
    description: str
    enabled: bool
    disabled_at: Optional[str]
    disabled_reason: Optional[Literal["requested", "failing", "gone"]]
    failing_since: Optional[str]
    created_at: str
    secret: str


class Delivery(TypedDict, total=False):
    """A webhook call, over all of its tries."""

    delivery_id: str
    event_id: str
    event_type: WebhookType
    endpoint_id: str
    job_id: Optional[str]
    url: str
    status: DeliveryStatus
    reason: Optional[Literal["exhausted", "gone", "endpoint_disabled", "endpoint_deleted"]]
    tries: int
    next_try_at: Optional[str]
    created_at: str
    ended_at: Optional[str]
    attempts: List[Dict[str, Any]]


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


class JobEvent(NamedTuple):
    """The whole job as it is now. ``id`` is empty when the job was read instead of its stream."""

    id: str
    type: Literal["job"]
    data: Job


class FrameEvent(NamedTuple):
    """A frame that was accepted."""

    id: str
    type: Literal["frame"]
    data: AcceptedFrame


#: One thing that happened to a job; ``type`` tells which.
Event = Union[JobEvent, FrameEvent]
