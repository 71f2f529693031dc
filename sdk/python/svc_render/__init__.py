"""The Python SDK of svc: prices a Blender file, renders it at that price, follows the
render, downloads the ZIP and verifies the receipt. Standard library only.

    import svc_render

    svc = svc_render.Client("https://render.example.com", key)
    for frame in svc.render("scene.blend", "out", frames="1-10", max_cents=10,
                            legal_acceptance=svc_render.LEGAL_V1):
        print(frame.frame, frame.path)
    svc_render.verify_folder("out")

Imports within the package are relative, so the folder can be copied into another program,
such as an add-on, under any name.
"""

from .aio import AsyncClient, AsyncRendering
from .client import Client
from .errors import (ApiError, Cancelled, ConnectionFailed, DownloadChanged, FileChanged, FollowTimeout, ForeignAnswer,
                     JobEnded, SvcError, VerificationError, WebhookError)
from .folder import verify_folder
from .proof import Check, Report, verify
from .save import Rendering, SavedFrame
from .transport import VERSION as __version__, Retry
from .webhook import WebhookEvent, verify_webhook
from .wire import (LEGAL_V1, TERMINAL, AcceptedFrame, Artifact, Delivery, DeliveryStatus, Event, Finding, Frame, FrameComment, FrameEvent, Job, JobEvent, JobStatus,
                   Output, Preview, PreviewStatus, Quote, QuoteStatus, SavedFilter, Settings, Share, SigningKey, TopUp, TopUpStatus, Transaction, TransactionKind,
                   WaitingReason, Wallet, WebhookEndpoint, WebhookType)

__all__ = [
    "AcceptedFrame", "ApiError", "Artifact", "AsyncClient", "AsyncRendering", "Cancelled", "Check", "Client", "ConnectionFailed",
    "Delivery", "DeliveryStatus", "DownloadChanged", "Event", "FileChanged", "Finding", "FollowTimeout", "ForeignAnswer", "Frame", "FrameComment", "FrameEvent", "Job",
    "JobEnded", "JobEvent", "JobStatus", "LEGAL_V1", "Output", "Preview", "PreviewStatus", "Quote", "QuoteStatus", "Rendering",
    "Report", "Retry", "SavedFilter", "SavedFrame", "Settings", "Share", "SigningKey", "SvcError", "TERMINAL", "TopUp", "TopUpStatus", "Transaction", "TransactionKind",
    "VerificationError", "WaitingReason", "Wallet", "WebhookEndpoint", "WebhookError", "WebhookEvent", "WebhookType", "__version__", "verify", "verify_folder",
    "verify_webhook",
]
