"""The hash of a picture's pixels, as receipts have it (docs/verify.md). PNG is decoded, as Blender
writes it: 8 or 16 bits, without a palette. Any other picture has no hash here."""

from __future__ import annotations

import hashlib
import itertools
import struct
import zlib
from typing import BinaryIO, Iterable, Iterator, List, Optional, Tuple

SIGNATURE = b"\x89PNG\r\n\x1a\n"
#: The largest picture, as in svc verify.
MOST_PIXELS = 1 << 28
_CHANNELS = {0: 1, 2: 3, 4: 2, 6: 4}  # by the type of colour
_CHUNK = 1 << 20


class BadPicture(Exception):
    """A PNG that is damaged."""


def pixels_of(file: BinaryIO) -> Optional[str]:
    """The hash of a picture's pixels; None for what is not decoded. BadPicture for damage."""
    head = file.read(33)
    if head[:8] != SIGNATURE or head[8:16] != b"\0\0\0\rIHDR" or len(head) < 33:
        return None
    width, height, bits, colour, *methods = struct.unpack(">IIBBBBB", head[16:29])
    if bits not in (8, 16) or colour not in _CHANNELS or any(methods) or not 0 < width * height <= MOST_PIXELS:
        return None
    if zlib.crc32(head[12:29]) != int.from_bytes(head[29:], "big"):
        raise BadPicture("a checksum is wrong")
    value, channels = bits // 8, _CHANNELS[colour]
    chunks = _chunks(file)
    for kind, content in chunks:
        if kind in (b"PLTE", b"tRNS", b"IEND"):
            return None  # it changes what values mean, or there is no picture
        if kind == b"IDAT":
            break
    else:
        raise BadPicture("it has no pixels")
    digest = hashlib.sha256(b"svc-pixels-v1 %d %d %d\n" % (width, height, bits))
    for row in _rows(itertools.chain([(kind, content)], chunks), channels * value, channels * value * width, height):
        digest.update(_wide(row, channels, value, width))
    return digest.hexdigest()


def _chunks(file: BinaryIO) -> Iterator[Tuple[bytes, bytes]]:
    """The chunks of a PNG up to its end, with pieces of those of pixels."""
    kind = b""
    while kind != b"IEND":
        head = file.read(8)
        if len(head) < 8:
            raise BadPicture("it is cut off")
        left, kind, = int.from_bytes(head[:4], "big"), head[4:]
        checksum = zlib.crc32(kind)
        while True:
            content = file.read(min(left, _CHUNK))
            if not content and left:
                raise BadPicture("it is cut off")
            left -= len(content)
            checksum = zlib.crc32(content, checksum)
            if not left and file.read(4) != checksum.to_bytes(4, "big"):
                raise BadPicture("a checksum is wrong")
            yield kind, content
            if not left:
                break


def _rows(chunks: Iterable[Tuple[bytes, bytes]], pixel: int, size: int, height: int) -> Iterator[bytes]:
    """The rows of the pixels in chunks, without their filters."""
    stream, ready, above, done = zlib.decompressobj(), b"", bytes(size), 0
    after = False
    for kind, content in chunks:
        if kind != b"IDAT":
            if kind in (b"IHDR", b"PLTE", b"tRNS"):
                raise BadPicture("its parts are in a wrong order")
            after = True
            continue
        if after or (stream.eof and content):
            raise BadPicture("it has too many pixels")
        while content:
            try:
                ready += stream.decompress(content, _CHUNK)
            except zlib.error as cause:
                raise BadPicture("its pixels are damaged") from cause
            content = stream.unconsumed_tail
            if stream.unused_data:
                raise BadPicture("it has too many pixels")
            at = 0
            while len(ready) - at > size:
                if done == height:
                    raise BadPicture("it has too many pixels")
                above = _unfiltered(ready[at], ready[at + 1:at + 1 + size], above, pixel)
                at, done = at + 1 + size, done + 1
                yield above
            ready = ready[at:]
    if done < height or not stream.eof:
        raise BadPicture("it lacks pixels")
    if ready:
        raise BadPicture("it has too many pixels")


def _unfiltered(kind: int, row: bytes, above: bytes, pixel: int) -> bytes:
    """The values that a row had before its filter (PNG 9.2)."""
    if kind == 0:
        return row
    if kind == 1:
        return _interleaved([_summed(row[c::pixel]) for c in range(pixel)])
    if kind == 2:  # all bytes at once: the highest bit of each is added apart, so that none carries
        low = int.from_bytes(b"\x7f" * len(row), "big")
        a, b = int.from_bytes(row, "big"), int.from_bytes(above, "big")
        return (((a & low) + (b & low)) ^ ((a ^ b) & ~low)).to_bytes(len(row), "big")
    if kind == 3:
        return _interleaved([_averaged(row[c::pixel], above[c::pixel]) for c in range(pixel)])
    if kind == 4:
        return _interleaved([_predicted(row[c::pixel], above[c::pixel]) for c in range(pixel)])
    raise BadPicture("a filter is unknown")


def _summed(row: bytes) -> bytes:
    sums: Iterator[int] = itertools.accumulate(row, lambda left, value: (left + value) & 255)
    return bytes(sums)


def _interleaved(channels: List[bytes]) -> bytes:
    row = bytearray(len(channels) * len(channels[0]))
    for number, values in enumerate(channels):
        row[number::len(channels)] = values
    return bytes(row)


def _averaged(row: bytes, above: bytes) -> bytes:
    left, values = 0, bytearray()
    for value, up in zip(row, above):
        left = (value + (left + up >> 1)) & 255
        values.append(left)
    return bytes(values)


def _predicted(row: bytes, above: bytes) -> bytes:
    left = corner = 0
    values = bytearray()
    for value, up in zip(row, above):
        far, near, corner_far = abs(up - corner), abs(left - corner), abs(left + up - 2 * corner)
        guess = left if far <= near and far <= corner_far else up if near <= corner_far else corner
        left, corner = (value + guess) & 255, up
        values.append(left)
    return bytes(values)


def _wide(row: bytes, channels: int, value: int, width: int) -> bytes:
    """A row as red, green, blue and alpha."""
    if channels == 4:
        return row
    wide = bytearray(b"\xff" * (4 * value * width))
    source = {1: (0, 0, 0), 2: (0, 0, 0, 1), 3: (0, 1, 2)}[channels]
    for to, channel in enumerate(source):
        for byte in range(value):
            wide[to * value + byte::4 * value] = row[channel * value + byte::channels * value]
    return bytes(wide)
