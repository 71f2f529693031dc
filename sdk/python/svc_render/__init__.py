"""The Python SDK of svc: prices a Blender file, renders it at that price, follows the
render, downloads the ZIP and verifies the receipt. Standard library only.

    import svc_render

    svc = svc_render.Client("https://render.example", key)
    quote = svc.inspect("scene.blend", frames=(1, 10))
    job = svc.start(quote, legal_acceptance=svc_render.LEGAL_V1)
    for event in svc.follow(job["job_id"]):
        print(event.type, event.data)
    svc.download(job["job_id"], "scene.zip")
    svc.verify(job["job_id"], "scene.zip")

Imports within the package are relative, so the folder can be copied into another program,
such as an add-on, under any name.
"""

from .aio import AsyncClient
from .client import Client
from .errors import (ApiError, ConnectionFailed, DownloadChanged, FileChanged, FollowTimeout, ForeignAnswer, SvcError,
                     VerificationError, WebhookError)
from .proof import Check, Report, verify
from .transport import VERSION as __version__, Retry
from .webhook import WebhookEvent, verify_webhook
from .wire import LEGAL_V1, TERMINAL, Artifact, Event, Job, Preview, Quote, SigningKey, Wallet

__all__ = [
    "ApiError", "Artifact", "AsyncClient", "Check", "Client", "ConnectionFailed", "DownloadChanged", "Event",
    "FileChanged", "FollowTimeout", "ForeignAnswer", "Job", "LEGAL_V1", "Preview", "Quote", "Report", "Retry",
    "SigningKey", "SvcError", "TERMINAL", "VerificationError", "Wallet", "WebhookError", "WebhookEvent",
    "__version__", "verify", "verify_webhook",
]
