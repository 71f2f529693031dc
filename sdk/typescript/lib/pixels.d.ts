/** The hash of a picture's pixels; undefined for what is not decoded. A PNG is decoded as Blender writes it: 8 or 16 bits, without a palette. It throws for a damaged one. */
export declare function pixelsOf(picture: Blob): Promise<string | undefined>;
