"""A folder that proves itself: what a render left, checked without a network."""

from __future__ import annotations

import json
import os
from typing import Any, Iterable, Optional, Union

from .errors import VerificationError
from .proof import Check, Report, check_of, pixels_are, verify
from .receipt import outputs_of
from .transfer import sha256_of

RECEIPT, PROOF, KEYS = "receipt.json", "proof.json", "keys.json"
MOVIE = "movie.mp4"
ORIGINS = "origins"  # the folder of the receipts that frames were taken over from, each by its id
OUTPUTS = "outputs"  # the folder of the frames' other files, such as those of File Output nodes, as in the ZIP


def verify_folder(folder: Union[str, "os.PathLike[str]"], *, keys: Optional[Iterable[Any]] = None, test: bool = False,
                  pixels: bool = True) -> Report:
    """Verifies a folder that a render filled: the receipt with its key and its place in the log,
    and the ZIP, the frames next to it with their outputs, or both. Without ``keys``, those of keys.json in the
    folder are taken; give the service's own for a folder that somebody else made. Frames that were
    taken over are compared with the earlier receipts in the folder. It raises
    VerificationError, also when neither the ZIP nor all of the others are there. PNGs are decoded too, for
    the check "pixels", unless ``pixels`` is false: that takes a second or more for each."""
    def path(name: str) -> str:
        return os.path.join(os.fspath(folder), name)

    def text(name: str) -> bytes:
        with open(path(name), "rb") as file:
            return file.read()

    known = json.loads(text(KEYS))["keys"] if keys is None else list(keys)
    receipt, proof = text(RECEIPT), text(PROOF)
    earlier = [text(os.path.join(ORIGINS, name)) for name in sorted(os.listdir(path(ORIGINS)))
               if name.startswith("RCT-") and name.endswith(".json")] if os.path.isdir(path(ORIGINS)) else []
    report = verify(receipt, known, proof=proof, test=test, origins=earlier)
    archive = str(report.receipt["artifact"]["filename"])
    if os.path.basename(archive) == archive and os.path.isfile(path(archive)):
        report = verify(receipt, known, artifact=path(archive), proof=proof, test=test, pixels=pixels, origins=earlier)
    checks = list(report.checks)
    frames = report.receipt["frames"]
    here = [frame for frame in frames if os.path.isfile(path(frame["file"]))]
    wrong = [frame["file"] for frame in here if sha256_of(path(frame["file"])) != frame["sha256"]]
    outputs = {OUTPUTS + "/" + output["name"]: output["sha256"] for output in outputs_of(report.receipt)}
    outputs_here = [name for name in outputs if os.path.isfile(path(name))] if here else []
    wrong += [name for name in outputs_here if sha256_of(path(name)) != outputs[name]]
    if wrong:
        checks.append(Check("pictures", "failed", "not as in the receipt: %s" % ", ".join(wrong[:10])))
    elif here:
        checks.append(Check("pictures", "ok", "%d of %d frames are here, with the bytes of the receipt%s" % (
            len(here), len(frames), "; %d of %d outputs too" % (len(outputs_here), len(outputs)) if outputs else "")))
    whole = [frame for frame in here if frame["file"] not in wrong]
    if whole and all(check.name != "pixels" for check in checks):  # those of the ZIP were compared with it
        checks.append(check_of("pixels", lambda: pixels_are(whole, lambda frame: open(path(frame["file"]), "rb"), pixels)))
    if len(here) == len(frames) and len(outputs_here) == len(outputs):  # then the ZIP has nothing to add
        checks = [check for check in checks if (check.name, check.status) != ("artifact", "skipped")]
    report = report._replace(checks=checks)
    for check in checks:
        if check.status == "failed" or check.status == "skipped" and check.name in ("artifact", "log", "key"):
            raise VerificationError(check.name, check.text, report)
    return report
