"""What a receipt must say to agree with itself."""

from __future__ import annotations

import hashlib
import re
from typing import Any, Callable, Dict, List, Set, Tuple

MEMBERS = frozenset((
    "receipt_id job_id workspace_id input artifact frames frame_start frame_end frame_step frame_count renderer render_device "
    "device_name switched render_seconds quote_id pricing_version charged_cents currency started_at completed_at log_index").split())
FRAME = frozenset("frame file sha256 pixel_sha256 size_bytes render_seconds".split())
OUTPUT = frozenset(("name", "sha256", "size_bytes"))
FILE = frozenset(("filename", "sha256", "size_bytes"))
MOST_FRAMES = 10000


class Contradiction(Exception):
    """A receipt that no service would have signed."""


def same(a: Any, b: Any) -> bool:
    """Whether two JSON values are equal; true and 1 are not."""
    if isinstance(a, bool) or isinstance(b, bool) or a is None or b is None:
        return a is b
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(value, b[name]) for name, value in a.items())
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    return type(a) in (int, float, str) and isinstance(a, str) == isinstance(b, str) and bool(a == b)


def check_receipt(r: Dict[str, Any]) -> None:
    """Raises Contradiction. A member of a later service is signed as well, and is not judged."""
    _members(r, MEMBERS, "the receipt")
    _members(r["artifact"], FILE, "the artifact")
    _members(r["input"], FILE, "the input")
    for file in (r["artifact"], r["input"]):
        _hashed(file, "file %r" % file["filename"])
    _project(r["input"])
    _colors(r)
    frames, step = r["frames"], _number(r["frame_step"])
    if not isinstance(frames, list) or not frames or r["frame_count"] != len(frames) or step < 1:
        raise Contradiction("its frame count is not that of the frames listed")
    belongs = _listed(r)
    names: Set[str] = set()
    outputs: Set[str] = set()
    for index, frame in enumerate(frames):
        _members(frame, FRAME, "a frame")
        if _number(frame["frame"]) != belongs(index):
            raise Contradiction("frame %d stands where frame %d belongs" % (frame["frame"], belongs(index)))
        _hashed(frame, "frame %d" % frame["frame"])
        if not _is_digest(frame["pixel_sha256"]):
            raise Contradiction("frame %d has no proper hash" % frame["frame"])
        name = frame["file"]
        if not name or name in (".", "..") or re.search(r"[/\\\x00]", name) or name in names:
            raise Contradiction("frame %d has the unusable file name %r" % (frame["frame"], name))
        names.add(name)
        _origin(r, frame)
        _strips(frame)
        _outputs(frame, outputs)
    last = frames[-1]["frame"]
    if not last <= _number(r["frame_end"]) < last + step or frames[0]["frame"] != r["frame_start"]:
        raise Contradiction("its range does not end with its frames")


def manifest_of(receipt: Dict[str, Any], found: Dict[str, Any]) -> Dict[str, Any]:
    """The manifest that fits a receipt, which has no sizes in pixels: those are the found
    one's."""
    manifest = {name: receipt[name] for name in ("job_id", "frame_start", "frame_end", "frame_step", "frame_count", "renderer")}
    if "frame_list" in receipt:
        manifest["frame_list"] = receipt["frame_list"]
    manifest["input"] = {name: receipt["input"][name] for name in FILE}
    manifest["frames"] = [dict({name: frame[name] for name in FRAME | (frame.keys() & {"outputs"})}, width=size["width"], height=size["height"])
                          for frame, size in zip(receipt["frames"], found["frames"])]
    return manifest


def outputs_of(receipt: Dict[str, Any]) -> List[Dict[str, Any]]:
    """The files besides the pictures, of all frames."""
    return [output for frame in receipt["frames"] for output in frame.get("outputs", [])]


def strips_of(receipt: Dict[str, Any]) -> str:
    """Explains the frames that several workers rendered; "" where there are none."""
    cuts = [len(frame["strips"]) - 1 for frame in receipt["frames"] if frame.get("strips")]
    alike = sum(strip.get("alike", False) for frame in receipt["frames"] for strip in frame.get("strips", []))
    noise = ", at %d of them within the noise of GPUs" % alike if alike else ""
    return "several workers rendered %s in strips; neighbours showed the same rows at %s%s" % (
        _counted(len(cuts), "frame"), _counted(sum(cuts), "cut"), noise) if cuts else ""


def reused_of(receipt: Dict[str, Any], earlier: Dict[str, Dict[str, Any]]) -> Tuple[str, str]:
    """Compares the frames that were taken over with the receipts that they come from, by their
    ids: the status and text of the check; two empty texts where there are none."""
    taken = [frame for frame in receipt["frames"] if "reused" in frame]
    missing = {frame["reused"]["receipt_id"] for frame in taken} - set(earlier)
    for frame in taken:
        origin, number = earlier.get(frame["reused"]["receipt_id"]), frame["frame"]
        if origin is None:
            continue
        if origin["log_index"] != frame["reused"]["log_index"] or origin["workspace_id"] != receipt["workspace_id"]:
            raise Contradiction("frame %d comes from leaf %d, which is not that of receipt %s" % (number, frame["reused"]["log_index"], origin["receipt_id"]))
        old = [one for one in origin["frames"] if one["frame"] == number]
        if not old:
            raise Contradiction("receipt %s states no frame %d" % (origin["receipt_id"], number))
        if any(old[0][name] != frame[name] for name in ("sha256", "pixel_sha256", "size_bytes")):
            raise Contradiction("frame %d is not the picture that receipt %s states" % (number, origin["receipt_id"]))
        if _files(old[0]) != _files(frame):
            raise Contradiction("frame %d does not have the outputs that receipt %s states" % (number, origin["receipt_id"]))
    told = "%s of %d " % (_counted(len(taken), "frame"), receipt["frame_count"])
    if missing:
        return "skipped", told + "come from earlier receipts; not given, or not signed by these keys: %d" % len(missing)
    return ("ok", told + "are those of earlier receipts and cost nothing") if taken else ("", "")


def _files(frame: Dict[str, Any]) -> List[Tuple[str, int]]:
    """The outputs of a frame without their names, which may differ: each is the only one of its job."""
    return [(output["sha256"], output["size_bytes"]) for output in frame.get("outputs", [])]


def _counted(number: int, thing: str) -> str:
    return "%d %s%s" % (number, thing, "" if number == 1 else "s")


def _origin(r: Dict[str, Any], frame: Dict[str, Any]) -> None:
    """A frame that was taken over was logged before this receipt, and nobody rendered it for it."""
    if "reused" not in frame:
        return
    name, leaf = frame["reused"]["receipt_id"], _number(frame["reused"]["log_index"])
    if not name.startswith("RCT-") or name == r["receipt_id"] or leaf < 0 or r["log_index"] is not None and leaf >= _number(r["log_index"]):
        raise Contradiction("frame %d comes from receipt %r at leaf %d, which is no earlier one" % (frame["frame"], name, leaf))
    if frame["render_seconds"] != 0 or "times" in frame:
        raise Contradiction("frame %d was taken over and took %r seconds" % (frame["frame"], frame["render_seconds"]))


def _strips(frame: Dict[str, Any]) -> None:
    """The strips of a frame make it up, and neighbours show the same rows at their cut, GPUs but for their noise."""
    strips = frame.get("strips", [])
    row, above = 0, None
    for index, strip in enumerate(strips):
        last = index == len(strips) - 1
        if len(strips) == 1 or _number(strip["from"]) != row or _number(strip["to"]) <= row:
            raise Contradiction("frame %d has a strip of the rows %d to %d, which is no part of it" % (frame["frame"], strip["from"], strip["to"]))
        if (not _is_digest(strip["sha256"]) or strip.get("alike", False) is not (strip.get("above") != above)
                or _is_digest(strip.get("above")) is not (index > 0) or _is_digest(strip.get("below")) is last):
            raise Contradiction("the strips of frame %d do not agree at row %d" % (frame["frame"], row))
        row, above = strip["to"], strip.get("below")


def _colors(r: Dict[str, Any]) -> None:
    """The OpenColorIO configuration is the one that was ordered, and a file of the project."""
    path = r.get("settings", {}).get("ocio")
    if path is None and "ocio" not in r:
        return
    config = r.get("ocio", {})
    _members(config, frozenset(("path", "sha256")), "the OpenColorIO configuration")
    files = {file["path"]: file["sha256"] for file in r["input"].get("files", [])}
    if config["path"] != path or not _is_digest(config["sha256"]) or files.get(path) != config["sha256"]:
        raise Contradiction("the OpenColorIO configuration is not the one that was ordered, with the hash of the project's file")


def is_output_name(name: str) -> bool:
    """Whether the name of an output is a path that stays in its folder."""
    return all(part not in ("", ".", "..") for part in name.split("/")) and not re.search(r"[\\:\x00]", name)


def _outputs(frame: Dict[str, Any], names: Set[str]) -> None:
    """Outputs have safe names, which no other output of the job has. Frames taken over have none."""
    if "outputs" in frame and not frame["outputs"]:
        raise Contradiction("frame %d has an empty list of outputs" % frame["frame"])
    for output in frame.get("outputs", []):
        _members(output, OUTPUT, "an output")
        _hashed(output, "output %r" % output["name"])
        name = output["name"]
        if not is_output_name(name) or name in names:
            raise Contradiction("frame %d has an output of the unusable name %r" % (frame["frame"], name))
        names.add(name)


def _members(value: Any, required: "frozenset[str]", what: str) -> None:
    if not isinstance(value, dict) or not required <= value.keys():
        raise Contradiction("%s lacks members" % what)


def _number(value: Any) -> int:
    if type(value) is not int:
        raise Contradiction("%r is not a whole number" % (value,))
    return int(value)


def _is_digest(text: Any) -> bool:
    return isinstance(text, str) and re.fullmatch("[0-9a-f]{64}", text) is not None


def _hashed(file: Dict[str, Any], what: str) -> None:
    if not _is_digest(file["sha256"]) or _number(file["size_bytes"]) < 0:
        raise Contradiction("%s has no proper hash or size" % what)


def _project(given: Dict[str, Any]) -> None:
    files: List[Dict[str, Any]] = given.get("files", [])
    if "files" not in given and "project_sha256" not in given:
        return
    last, lines, main = b"", [], False
    for file in files:
        _hashed(file, "a file of the project")
        path = file["path"].encode("utf-8")
        if any(part in (b"", b".", b"..") for part in path.split(b"/")) or path <= last:
            raise Contradiction("file %r of the project has no proper path, or not its place" % file["path"])
        last, main = path, main or (file["sha256"], file["size_bytes"]) == (given["sha256"], given["size_bytes"])
        lines.append(file["sha256"].encode("ascii") + b"  " + path + b"\n")
    if not main or given.get("project_sha256") != hashlib.sha256(b"".join(lines)).hexdigest():
        raise Contradiction("the hash of the project is not that of its files, or it lacks the main file")


def _listed(r: Dict[str, Any]) -> Callable[[int], int]:
    """Which frame belongs at an index: that of the list if there is one, otherwise of the
    range."""
    if "frame_list" not in r:
        return lambda index: int(_number(r["frame_start"]) + index * r["frame_step"])
    numbers: Set[int] = set()
    for word in r["frame_list"].split(","):
        form = re.fullmatch(r"([1-9][0-9]{0,9})(?:-([1-9][0-9]{0,9})(?::([1-9][0-9]{0,9}))?)?", word)
        if not form:
            raise Contradiction("the list of frames cannot be read")
        first, step = int(form.group(1)), int(form.group(3) or 1)
        run = range(first, int(form.group(2) or first) + 1, step)
        if len(run) + len(numbers) > MOST_FRAMES:
            raise Contradiction("the list has too many frames")
        numbers.update(run)
    ordered: List[int] = sorted(numbers)
    if len(ordered) != r["frame_count"] or r["frame_step"] != 1:
        raise Contradiction("its frame count is not that of the list")
    return ordered.__getitem__
