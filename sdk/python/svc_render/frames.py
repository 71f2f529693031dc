"""Which frames of a scene: in the one form that the service reads."""

from __future__ import annotations

from typing import Iterable, Union

#: A frame; a list such as "1-50,80x5" or "10-100x5"; or numbers, such as range(1, 11).
Frames = Union[int, str, Iterable[int]]


def frames_text(frames: Frames) -> str:
    """Frames as the service reads them. A tuple of two is refused: it may mean a range, or two
    frames."""
    if isinstance(frames, str):
        return frames
    if isinstance(frames, tuple):
        raise TypeError('frames=%r can mean a range or single frames: write "1-10" or [1, 10]' % (frames,))
    numbers = [frames] if isinstance(frames, int) else list(frames)
    if any(isinstance(n, bool) or not isinstance(n, int) for n in numbers):
        raise TypeError('frames are numbers, or a list such as "1-50,80"')
    if not numbers:
        raise ValueError("frames names no frame")
    if isinstance(frames, range) and len(frames) > 1:
        return "%d-%dx%d" % (min(numbers), max(numbers), abs(frames.step))
    return ",".join("%d" % n for n in numbers)


__all__ = ["Frames", "frames_text"]
