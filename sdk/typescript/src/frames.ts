/** Which frames of a scene: in the one form that the service reads. */

/** A frame; a list such as "1-50,80x5" or "10-100x5"; or numbers, such as [1, 3, 5]. */
export type Frames = number | string | Iterable<number>;

/** Frames as the service reads them. */
export function framesText(frames: Frames): string {
  if (typeof frames === "string") return frames;
  const many = typeof frames === "object" && frames !== null && Symbol.iterator in frames && !(frames instanceof Uint8Array); // bytes are no frames
  const numbers = many ? [...frames] : [frames];
  if (!numbers.every(Number.isSafeInteger)) throw new TypeError('frames are whole numbers, or a list such as "1-50,80"');
  if (numbers.length === 0) throw new RangeError("frames names no frame");
  return numbers.join(",");
}
