"""Verifies a receipt without a network and without trusting the service (docs/verify.md).

What is checked is what ``svc verify`` checks, in the same order and under the same names,
except that of the pictures only PNG is decoded, for the check "pixels", and
that "members" compares values and not how they were written. Members that a later service
adds to a receipt are signed like the others, and are not judged.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import os
import zipfile
from functools import partial
from typing import IO, Any, BinaryIO, Callable, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple, Union, cast

from . import ed25519
from .errors import VerificationError
from .pixels import BadPicture, pixels_of
from .receipt import Contradiction, check_receipt, manifest_of, outputs_of, reused_of, same, strips_of
from .tree import Checkpoint, b64, open_checkpoint, path_root, tree_root

PAYLOAD_TYPE = "application/vnd.in-toto+json"
STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
RECEIPT_TYPE = "https://svc.example/receipt/v1"
TEST_RECEIPT_TYPE = "https://svc.example/test-receipt/v1"
FRAME_SET_TYPE = "https://svc.example/frame-set/v1"
TEST_FRAME_SET_TYPE = "https://svc.example/test-frame-set/v1"

_SPKI = bytes.fromhex("302a300506032b6570032100")  # of Ed25519 (RFC 8410), before the key


class Check(NamedTuple):
    """One step of a verification. ``status`` is "ok", "failed" or "skipped"."""

    name: str
    status: str
    text: str


class Report(NamedTuple):
    """What was checked, and the receipt that was signed."""

    receipt: Dict[str, Any]
    key_id: str
    checks: List[Check]

    @property
    def not_checked(self) -> List[str]:
        """The names of the checks that were not made."""
        return [check.name for check in self.checks if check.status == "skipped"]


class _Key(NamedTuple):
    raw: bytes
    id: str
    dated: bool  # it comes from a list of /v1/signing-keys
    end: Optional[int]  # leaves that the log had when the key ended
    reason: str


class _Failed(Exception):
    """A check that did not hold."""


def verify(receipt: Union[str, bytes, Dict[str, Any]], keys: Iterable[Any], *,
           artifact: Union[None, str, "os.PathLike[str]", BinaryIO] = None,
           proof: Union[None, str, bytes, Dict[str, Any]] = None, checkpoint: str = "",
           require: Sequence[str] = (), test: bool = False, pixels: bool = True,
           origins: Iterable[Union[str, bytes, Dict[str, Any]]] = ()) -> Report:
    """Verifies a receipt: an answer of the receipt's route, or a bare envelope.

    ``keys`` are those that the caller trusts: entries of /v1/signing-keys, which say when a key
    ended, or PEM texts. ``artifact`` is the ZIP, ``proof`` the answer of the proof's route,
    ``checkpoint`` one of the same size from another source. ``origins`` are the receipts of
    earlier jobs from which the job took frames over, for the check "reused". ``require`` names checks that must
    have been made. A receipt of test mode fails at the check "test", since nothing was rendered
    or paid; ``test`` accepts it as such. Without ``pixels``, pictures are not decoded, which takes
    a second or more for each. VerificationError has the whole report.
    """
    known = [_key(key) for key in keys]
    checks: List[Check] = []
    state: Dict[str, Any] = {"receipt": {}, "key_id": ""}

    def made(name: str, run: Any) -> bool:
        checks.append(check_of(name, run))
        return checks[-1].status != "failed"

    document = _read(receipt)
    proven = _read(proof) if proof is not None else None
    if (made("signature", lambda: _signature(document, known, state)) and made("statement", lambda: _statement(state, known))
            and _explained(checks, state["receipt"]) and ("envelope" not in document or made("members", lambda: _members(document, state)))):
        if state["test"]:
            checks.insert(0, Check("test", "ok" if test else "failed", "THIS IS A TEST RECEIPT: nothing was rendered, and nobody has paid"))
        if artifact is None:
            checks.append(Check("artifact", "skipped", "no ZIP was given: what was delivered is not checked"))
        else:
            _check_artifact(made, artifact, state["receipt"], pixels)
        made("log", lambda: _log(proven, known, state, checkpoint))
        made("key", lambda: _in_time(proven, known, state, checks))
        if any("reused" in frame for frame in state["receipt"]["frames"]):
            made("reused", lambda: reused_of(state["receipt"], _earlier(origins, known)))
    report = Report(state["receipt"], state["key_id"], checks)
    for check in checks:
        if check.status == "failed":
            raise VerificationError(check.name, check.text, report)
    done = {check.name for check in checks if check.status == "ok"}
    for name in require:
        if name not in done:
            raise VerificationError(name, "this check was required and was not made", report)
    return report


def check_of(name: str, run: Callable[[], Tuple[str, str]]) -> Check:
    """What came of a check."""
    try:
        status, text = run()
    except (_Failed, Contradiction, ValueError, KeyError, TypeError, AttributeError, OSError,
            zipfile.BadZipFile, NotImplementedError, RecursionError) as failed:
        status, text = "failed", str(failed) or type(failed).__name__
    return Check(name, status, text)


def _explained(checks: List[Check], receipt: Dict[str, Any]) -> bool:
    """Adds the check of strips, which :func:`check_receipt` has made."""
    told = strips_of(receipt)
    if told:
        checks.append(Check("strips", "ok", told))
    return True


def _earlier(origins: Iterable[Union[str, bytes, Dict[str, Any]]], known: List[_Key]) -> Dict[str, Dict[str, Any]]:
    """The receipts among documents by their ids; what is none does no harm."""
    found: Dict[str, Dict[str, Any]] = {}
    for origin in origins:
        state: Dict[str, Any] = {}
        try:
            _signature(_read(origin), known, state)
            _statement(state, known)
        except (VerificationError, _Failed, Contradiction, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            continue
        found[state["receipt"]["receipt_id"]] = state["receipt"]
    return found


def _read(document: Union[str, bytes, Dict[str, Any]]) -> Dict[str, Any]:
    """JSON without repeated members: another reader could take the other one."""
    if isinstance(document, dict):
        return document
    try:
        value = json.loads(document, object_pairs_hook=_once)
    except (ValueError, RecursionError) as cause:
        raise VerificationError("signature", "not a JSON document: %s" % cause) from cause
    if not isinstance(value, dict):
        raise VerificationError("signature", "not a JSON object")
    return value


def _once(pairs: List[Tuple[str, Any]]) -> Dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a member appears twice")
    return found


def _key(key: Any) -> _Key:
    pem = key if isinstance(key, str) else key["public_key_pem"]
    lines = [line.strip() for line in pem.strip().splitlines()]
    if len(lines) < 3 or lines[0] != "-----BEGIN PUBLIC KEY-----" or lines[-1] != "-----END PUBLIC KEY-----":
        raise VerificationError("key", "a key is not one public key in PEM")
    try:
        der = base64.b64decode("".join(lines[1:-1]), validate=True)
    except binascii.Error as cause:
        raise VerificationError("key", "a key is not one public key in PEM") from cause
    if len(der) != 44 or not der.startswith(_SPKI):
        raise VerificationError("key", "a key is not Ed25519")
    raw = der[12:]
    identity = hashlib.sha256(raw).hexdigest()
    if isinstance(key, str):
        return _Key(raw, identity, False, None, "")
    if key.get("key_id") != identity:
        raise VerificationError("key", "key %s is published with the id %r" % (identity, key.get("key_id")))
    reason = key.get("end_reason") or "superseded"
    if reason not in ("superseded", "compromised"):
        raise VerificationError("key", "key %s ended for an unknown reason" % identity)
    return _Key(raw, identity, True, key.get("end_log_size"), reason)


def _open(envelope: Any, known: List[_Key]) -> Tuple[bytes, str]:
    """The payload of a DSSE envelope of the one form that the service writes."""
    if not isinstance(envelope, dict) or set(envelope) != {"payloadType", "payload", "signatures"}:
        raise _Failed("not a DSSE envelope")
    if envelope["payloadType"] != PAYLOAD_TYPE:
        raise _Failed("the payload is of type %r" % envelope["payloadType"])
    signatures = envelope["signatures"]
    if not isinstance(signatures, list) or len(signatures) != 1 or set(signatures[0]) != {"keyid", "sig"}:
        raise _Failed("it does not have one signature")
    payload, signature = b64(envelope["payload"]), b64(signatures[0]["sig"])
    signed = b"DSSEv1 %d %s %d %s" % (len(PAYLOAD_TYPE), PAYLOAD_TYPE.encode(), len(payload), payload)
    for key in known:
        if key.id == signatures[0]["keyid"]:
            if not ed25519.valid(key.raw, signature, signed):
                raise _Failed("the content does not match the signature of key %s" % key.id)
            return payload, key.id
    raise _Failed("it names key %r, which is not among the %d given" % (signatures[0]["keyid"], len(known)))


def _signature(document: Dict[str, Any], known: List[_Key], state: Dict[str, Any]) -> Tuple[str, str]:
    payload, state["key_id"] = _open(document.get("envelope", document), known)
    state["payload"] = payload
    return "ok", "Ed25519, key %s" % state["key_id"]


def _statement(state: Dict[str, Any], known: List[_Key]) -> Tuple[str, str]:
    statement = json.loads(state["payload"].decode("utf-8"), object_pairs_hook=_once)
    test = state["test"] = statement.get("predicateType") == TEST_RECEIPT_TYPE
    if set(statement) != {"_type", "subject", "predicateType", "predicate"} or (
            statement["_type"], statement["predicateType"]) != (STATEMENT_TYPE, TEST_RECEIPT_TYPE if test else RECEIPT_TYPE):
        raise _Failed("the signed statement is not a receipt of version 1")
    receipt = statement["predicate"]
    check_receipt(receipt)
    if receipt.get("test", False) is not test:
        raise _Failed("its type and its content disagree about test mode")
    named = [(receipt[what]["filename"], receipt[what]["sha256"]) for what in ("artifact", "input")]
    named += [(f["path"], f["sha256"]) for f in receipt["input"].get("files", [])]
    if not same(statement["subject"], [{"name": name, "digest": {"sha256": sha256}} for name, sha256 in named]):
        raise _Failed("the statement's subjects are not the receipt's files")
    if "frame_set" in receipt:
        _frame_set(receipt, state, known)
    state["receipt"] = receipt
    painted = ", NOT rendered but painted by a synthetic renderer" if receipt["renderer"]["id"] == "synthetic" else ""
    return "ok", "receipt %s of job %s: %d frames%s, %d cents %s" % (
        receipt["receipt_id"], receipt["job_id"], receipt["frame_count"], painted, receipt["charged_cents"], receipt["currency"])


def _frame_set(receipt: Dict[str, Any], state: Dict[str, Any], known: List[_Key]) -> None:
    """The statement about the tree over the frames, by the same key. Its leaves are the members
    of frames as they are written in the payload."""
    payload, key_id = _open(receipt["frame_set"], known)
    text = state["payload"].decode("utf-8")
    mark = '"frames":['  # within a text its quotes would be escaped
    if key_id != state["key_id"] or text.count(mark) != 1:
        raise _Failed("the tree over the frames is signed by another key")
    decoder, at, leaves = json.JSONDecoder(), text.index(mark) + len(mark), []
    for _ in receipt["frames"]:
        _, end = decoder.raw_decode(text, at)
        leaves.append(text[at:end].encode("utf-8"))
        at = end + 1
    want = {"_type": STATEMENT_TYPE, "predicateType": TEST_FRAME_SET_TYPE if state["test"] else FRAME_SET_TYPE,
            "subject": [{"name": receipt["artifact"]["filename"], "digest": {"sha256": receipt["artifact"]["sha256"]}}],
            "predicate": {"receipt_id": receipt["receipt_id"], "job_id": receipt["job_id"], "frame_count": receipt["frame_count"],
                          "frames_root": base64.b64encode(tree_root(leaves)).decode("ascii")}}
    if not same(json.loads(payload.decode("utf-8"), object_pairs_hook=_once), want):
        raise _Failed("the tree over the frames is not that of the receipt's frames")


def _members(document: Dict[str, Any], state: Dict[str, Any]) -> Tuple[str, str]:
    if not same(document.get("receipt"), state["receipt"]):
        raise _Failed("the plain members are not the signed ones")
    return "ok", "the plain members are the signed ones"


def _check_artifact(made: Any, artifact: Union[str, "os.PathLike[str]", BinaryIO], receipt: Dict[str, Any], pixels: bool) -> None:
    try:
        file = open(artifact, "rb") if isinstance(artifact, (str, os.PathLike)) else artifact
    except OSError as cause:
        made("artifact", lambda: ("failed", "it cannot be read: %s" % cause))
        return
    try:
        made("artifact", lambda: _artifact(file, receipt["artifact"]))
        entries: Dict[str, zipfile.ZipInfo] = {}
        with _archive(file) as archive:
            if archive is None or not made("contents", lambda: _contents(archive, receipt, entries)):
                if archive is None:
                    made("contents", lambda: ("failed", "it cannot be read as a ZIP"))
                return
            made("frames", lambda: _frames(archive, receipt, entries))
            made("pixels", lambda: pixels_are(receipt["frames"], partial(_opened, archive, entries), pixels))
            if outputs_of(receipt):
                made("outputs", lambda: _outputs(archive, receipt, entries))
            made("manifest", lambda: _manifest(archive, receipt))
    finally:
        if isinstance(artifact, (str, os.PathLike)):
            file.close()


class _archive:
    """A ZIP, or None for what is none."""

    def __init__(self, file: BinaryIO) -> None:
        try:
            self.archive: Optional[zipfile.ZipFile] = zipfile.ZipFile(file)
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
            self.archive = None

    def __enter__(self) -> Optional[zipfile.ZipFile]:
        return self.archive

    def __exit__(self, *_: Any) -> None:
        if self.archive:
            self.archive.close()


def _artifact(file: BinaryIO, want: Dict[str, Any]) -> Tuple[str, str]:
    size = file.seek(0, os.SEEK_END)
    if size != want["size_bytes"]:
        raise _Failed("it has %d bytes, the receipt says %d" % (size, want["size_bytes"]))
    file.seek(0)
    found = _sum(file)
    if found != want["sha256"]:
        raise _Failed("its SHA-256 is %s, the receipt says %s" % (found, want["sha256"]))
    return "ok", "%s, %d bytes, SHA-256 %s" % (want["filename"], size, found)


def _contents(archive: zipfile.ZipFile, receipt: Dict[str, Any], entries: Dict[str, zipfile.ZipInfo]) -> Tuple[str, str]:
    wanted = {"output/" + frame["file"] for frame in receipt["frames"]} | {"manifest.json", "render-log.txt"}
    wanted.update("outputs/" + output["name"] for output in outputs_of(receipt))
    for entry in archive.infolist():
        if entry.filename not in wanted:
            raise _Failed("it holds %r, which the receipt does not name" % entry.filename)
        if entry.filename in entries:
            raise _Failed("it holds %r twice" % entry.filename)
        if entry.compress_type != zipfile.ZIP_STORED:
            raise _Failed("%r is compressed instead of stored" % entry.filename)
        entries[entry.filename] = entry
    for name in sorted(wanted - set(entries)):
        raise _Failed("%r is missing" % name)
    return "ok", "%d frames, manifest.json, render-log.txt and nothing else" % receipt["frame_count"]


def _frames(archive: zipfile.ZipFile, receipt: Dict[str, Any], entries: Dict[str, zipfile.ZipInfo]) -> Tuple[str, str]:
    for frame in receipt["frames"]:
        _entry(archive, entries["output/" + frame["file"]], frame)
    return "ok", "%d of %d have the receipt's size and SHA-256" % ((receipt["frame_count"],) * 2)


def _opened(archive: zipfile.ZipFile, entries: Dict[str, zipfile.ZipInfo], frame: Dict[str, Any]) -> IO[bytes]:
    return archive.open(entries["output/" + frame["file"]])


def pixels_are(frames: Sequence[Dict[str, Any]], opened: Callable[[Dict[str, Any]], IO[bytes]], decode: bool) -> Tuple[str, str]:
    """Decodes pictures and compares their pixels with the receipt. One whose bytes differ is left
    to the check of these."""
    if not decode:
        return "skipped", "you asked to leave the pictures undecoded"
    same, foreign, wrong = 0, 0, []  # type: int, int, List[str]
    for frame in frames:
        with opened(frame) as file:
            if _sum(file) != frame["sha256"]:
                continue
        with opened(frame) as file:
            try:
                found = pixels_of(cast(BinaryIO, file))
            except BadPicture as damage:
                wrong.append("%s: %s" % (frame["file"], damage))
                continue
        if found is None:
            foreign += 1
        elif found == frame["pixel_sha256"]:
            same += 1
        else:
            wrong.append(frame["file"])
    if wrong:
        raise _Failed("%d of %d differ from the receipt: %s" % (len(wrong), len(frames), ", ".join(wrong[:10])))
    others = "%d are in a format that is not decoded here" % foreign
    if not same:
        return "skipped", "no frame could be compared: " + others
    return "ok", "%d of %d decode to the receipt's pixel hash" % (same, len(frames)) + ("; " + others if foreign else "")


def _outputs(archive: zipfile.ZipFile, receipt: Dict[str, Any], entries: Dict[str, zipfile.ZipInfo]) -> Tuple[str, str]:
    outputs = outputs_of(receipt)
    for output in outputs:
        _entry(archive, entries["outputs/" + output["name"]], output)
    return "ok", "%d of %d have the receipt's size and SHA-256" % ((len(outputs),) * 2)


def _entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, want: Dict[str, Any]) -> None:
    if entry.file_size != want["size_bytes"]:
        raise _Failed("%s has %d bytes, not %d" % (entry.filename, entry.file_size, want["size_bytes"]))
    with archive.open(entry) as file:
        found = _sum(file)
    if found != want["sha256"]:
        raise _Failed("the SHA-256 of %s is %s" % (entry.filename, found))


def _manifest(archive: zipfile.ZipFile, receipt: Dict[str, Any]) -> Tuple[str, str]:
    with archive.open("manifest.json") as file:
        found = json.loads(file.read(16 << 20).decode("utf-8"), object_pairs_hook=_once)
    if not same(found, manifest_of(receipt, found)):
        raise _Failed("manifest.json disagrees with the receipt")
    return "ok", "manifest.json agrees with the receipt"


def _sum(file: IO[bytes]) -> str:
    digest = hashlib.sha256()
    for chunk in iter(lambda: file.read(1 << 20), b""):
        digest.update(chunk)
    return digest.hexdigest()


def _log(proof: Optional[Dict[str, Any]], known: List[_Key], state: Dict[str, Any], pinned: str) -> Tuple[str, str]:
    if proof is None:
        return "skipped", "no proof was given: that the receipt is in the log is not checked"
    index = proof["log_index"]
    if type(index) is not int or index != state["receipt"]["log_index"]:
        raise _Failed("the proof is of leaf %s, the receipt names %s" % (index, state["receipt"]["log_index"]))
    point, _ = open_checkpoint(proof["checkpoint"], [key.raw for key in known])
    entry = hashlib.sha256(state["payload"]).digest()
    if path_root(entry, index, point.size, [b64(one) for one in proof["inclusion_proof"]]) != point.root:
        raise _Failed("the path from leaf %d does not lead to the root of the %d leaves" % (index, point.size))
    if pinned:
        other, _ = open_checkpoint(pinned, [key.raw for key in known])
        if (other.origin, other.size) != (point.origin, point.size):
            raise _Failed("the given checkpoint is of another log or size: fetch the proof for the same size")
        if other.root != point.root:
            raise _Failed("the log has two histories: %d leaves have two roots" % point.size)
    state["checkpoint"] = point
    return "ok", "leaf %d of the %d in %s" % (index, point.size, point.origin)


def _in_time(proof: Optional[Dict[str, Any]], known: List[_Key], state: Dict[str, Any], checks: List[Check]) -> Tuple[str, str]:
    """The key had not ended when it signed, judged by the place in the log and never by the
    times that a receipt claims."""
    key = next(key for key in known if key.id == state["key_id"])
    if not key.dated:
        return "skipped", "the key came without its history: whether it had ended is not checked"
    point: Optional[Checkpoint] = state.get("checkpoint")
    if proof is not None and point is not None:
        _, signers = open_checkpoint(proof["checkpoint"], [k.raw for k in known])
        good = [k for k in known if k.raw in signers and (
            k.end is None or (k.reason == "superseded" and point.size <= k.end))]
        if not good:
            raise _Failed("the checkpoint is signed by a key that had ended: download the proof again")
    if key.end is None:
        return "ok", "it has not ended, by the history of keys"
    if point is None:
        raise _Failed("it ended at %d leaves of the log (%s), and nothing shows that the receipt came before" % (key.end, key.reason))
    if state["receipt"]["log_index"] >= key.end:
        raise _Failed("it ended at %d leaves of the log (%s), and the receipt is leaf %d" % (key.end, key.reason, state["receipt"]["log_index"]))
    return "ok", "it ended at %d leaves of the log (%s), after leaf %d" % (key.end, key.reason, state["receipt"]["log_index"])
