"""The log's tree (RFC 6962) and its signed checkpoints (C2SP tlog-checkpoint, signed-note)."""

from __future__ import annotations

import base64
import binascii
import hashlib
from typing import List, NamedTuple, Sequence, Tuple

from . import ed25519


class Checkpoint(NamedTuple):
    """What the log said it was: its first ``size`` leaves have this root."""

    origin: str
    size: int
    root: bytes


def b64(text: str) -> bytes:
    """Standard base64 in its one form; another form of the same bytes is a ValueError."""
    if not isinstance(text, str):
        raise ValueError("not base64")
    try:
        raw = base64.b64decode(text, validate=True)
    except binascii.Error as cause:
        raise ValueError("not base64") from cause
    if base64.b64encode(raw).decode("ascii") != text:
        raise ValueError("not standard base64")
    return raw


def leaf_hash(data: bytes) -> bytes:
    return hashlib.sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()


def tree_root(leaves: Sequence[bytes]) -> bytes:
    """The root over leaves, of which there is at least one (RFC 6962 2.1)."""
    level = [leaf_hash(leaf) for leaf in leaves]
    while len(level) > 1:
        pairs = [node_hash(level[i], level[i + 1]) for i in range(0, len(level) - 1, 2)]
        level = pairs + level[len(level) - len(level) % 2:]
    return level[0]


def path_root(entry: bytes, index: int, size: int, path: List[bytes]) -> bytes:
    """The root to which a path leads from leaf ``index`` of ``size`` (RFC 9162 2.1.3.2). A path
    of the wrong length is a ValueError."""
    if not 0 <= index < size or any(len(one) != 32 for one in path):
        raise ValueError("leaf %d is not among the %d of the checkpoint" % (index, size))
    number, last, root = index, size - 1, leaf_hash(entry)
    for sibling in path:
        if last == 0:
            raise ValueError("the path is too long")
        if number & 1 or number == last:
            root = node_hash(sibling, root)
            while not number & 1 and number:
                number, last = number >> 1, last >> 1
        else:
            root = node_hash(root, sibling)
        number, last = number >> 1, last >> 1
    if last != 0:
        raise ValueError("the path is too short")
    return root


def open_checkpoint(note: str, keys: List[bytes]) -> Tuple[Checkpoint, List[bytes]]:
    """Reads a signed note; ValueError unless one of the keys has signed it under the name in
    its first line. Returns the keys that have. Signatures of others, such as witnesses, are
    allowed."""
    text, separator, lines = note.partition("\n\n")
    text += "\n"
    parts = text.split("\n")
    if not separator or not lines.endswith("\n") or len(parts) < 4:
        raise ValueError("the checkpoint is not a signed note")
    origin, size, root = parts[0], parts[1], b64(parts[2])
    if not origin or len(origin) > 200 or any(not "!" <= c <= "~" or c == "+" for c in origin):
        raise ValueError("the checkpoint names no log")
    if not size.isascii() or not size.isdecimal() or str(int(size)) != size or len(root) != 32:
        raise ValueError("the checkpoint has no proper size or root")
    signers = []
    for line in lines[:-1].split("\n"):
        dash, name, signature = (line.split(" ") + ["", ""])[:3]
        if dash != "\u2014" or line.count(" ") != 2:
            raise ValueError("the checkpoint has a line that is no signature")
        raw = b64(signature)
        for key in keys:
            hint = hashlib.sha256(origin.encode("ascii") + b"\n\x01" + key).digest()[:4]
            if name == origin and raw[:4] == hint:
                if not ed25519.valid(key, raw[4:], text.encode("utf-8")):
                    raise ValueError("the checkpoint does not match its signature")
                signers.append(key)
    if not signers:
        raise ValueError("the checkpoint is not signed by a known key")
    return Checkpoint(origin, int(size), root), signers
