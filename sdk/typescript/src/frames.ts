/** Which frames of a scene: in the one form that the service reads. */

/** A frame; a list such as "1-50,80x5" or "10-100x5"; or numbers, such as [1, 3, 5]. */
export type Frames = number | string | Iterable<number>;

/** More numbers than this are a mistake: no service takes a job of so many frames. */
const MOST = 1_000_000;

/** Frames as the service reads them. */
export function framesText(frames: Frames): string {
  if (typeof frames === "string") return frames;
  const many = typeof frames === "object" && frames !== null && Symbol.iterator in frames && !(frames instanceof Uint8Array); // bytes are no frames
  const numbers: unknown[] = [];
  for (const number of many ? frames : [frames]) {
    if (numbers.push(number) > MOST) throw new RangeError(`frames names more than ${MOST} frames, which is more than a job can have`);
  }
  if (!numbers.every(Number.isSafeInteger)) throw new TypeError('frames are whole numbers, or a list such as "1-50,80"');
  if (numbers.length === 0) throw new RangeError("frames names no frame");
  return numbers.join(",");
}
