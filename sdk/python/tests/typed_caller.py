"""What a type checker must take and must refuse. It is checked, never run."""

import svc_render


def caller(svc: svc_render.Client) -> None:
    for event in svc.follow("JOB-1"):
        if event.type == "job":
            status: svc_render.JobStatus = event.data["status"]
            event.data["progress_percent"]
            event.data["file"]  # type: ignore[typeddict-item]
            if status == "done":  # type: ignore[comparison-overlap]
                return
        else:
            event.data["frame"].bit_length()
            event.data["price_cents"]  # type: ignore[typeddict-item]
    for job in svc.jobs(status="failed"):
        job["failure"]
    svc.jobs(status="finished")  # type: ignore[arg-type]
    for entry in svc.transactions():
        kind: svc_render.TransactionKind = entry["kind"]
        svc.job(kind)
    for frame in svc.frames("JOB-1"):
        if frame["finding"] == "blue":  # type: ignore[comparison-overlap]
            return


def called(event: svc_render.WebhookEvent) -> None:
    if event.type == "render.done":  # type: ignore[comparison-overlap]
        return
    if event.job is not None:
        event.job["status"]


async def later(svc: svc_render.AsyncClient) -> None:
    async for event in svc.follow("JOB-1"):
        if event.type == "frame":
            event.data["sha256"]
    await svc.movie("JOB-1", "shot.mp4")
