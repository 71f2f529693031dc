/** Which frames of a scene: in the one form that the service reads. */
/** A frame; a list such as "1-50,80x5" or "10-100x5"; or numbers, such as [1, 3, 5]. */
export type Frames = number | string | Iterable<number>;
/** Frames as the service reads them. */
export declare function framesText(frames: Frames): string;
