"""Which frames of a scene: in the one form that the service reads."""

from __future__ import annotations

import operator
from collections.abc import Iterable as IterableABC
from itertools import islice
from typing import Any, Iterable, Union

#: A frame; a list such as "1-50,80x5" or "10-100x5"; or numbers, such as range(1, 11).
Frames = Union[int, str, Iterable[int]]

# More numbers than this are a mistake: no service takes a job of so many frames.
_MOST = 1_000_000


def frames_text(frames: Frames) -> str:
    """Frames as the service reads them. A tuple of two is refused: it may mean a range, or two
    frames."""
    if isinstance(frames, str):
        return frames
    if isinstance(frames, tuple):
        raise TypeError('frames=%r can mean a range or single frames: write "1-10" or [1, 10]' % (frames,))
    try:
        if isinstance(frames, (bytes, bytearray, memoryview, dict)):
            raise TypeError  # their items are numbers of something else
        numbers = [whole(n) for n in islice(frames, _MOST + 1)] if isinstance(frames, IterableABC) else [whole(frames)]
    except TypeError:
        raise TypeError('frames are whole numbers, or a list such as "1-50,80", not %r' % (frames,)) from None
    if len(numbers) > _MOST:
        raise ValueError("frames names more than %d frames, which is more than a job can have" % _MOST)
    if not numbers:
        raise ValueError("frames names no frame")
    if isinstance(frames, range) and len(frames) > 1:
        return "%d-%dx%d" % (min(numbers), max(numbers), abs(frames.step))
    return ",".join("%d" % n for n in numbers)


def whole(number: Any) -> int:
    """A number as an int: those of other libraries are whole numbers too, True is none."""
    if isinstance(number, bool):
        raise TypeError
    return operator.index(number)


__all__ = ["Frames", "frames_text"]
