/** Which frames of a scene: in the one form that the service reads. */
/** Frames as the service reads them. */
export function framesText(frames) {
    if (typeof frames === "string")
        return frames;
    const many = typeof frames === "object" && frames !== null && Symbol.iterator in frames && !(frames instanceof Uint8Array); // bytes are no frames
    const numbers = many ? [...frames] : [frames];
    if (!numbers.every(Number.isSafeInteger))
        throw new TypeError('frames are whole numbers, or a list such as "1-50,80"');
    if (numbers.length === 0)
        throw new RangeError("frames names no frame");
    return numbers.join(",");
}
