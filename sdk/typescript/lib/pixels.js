/** The hash of a picture's pixels, as receipts have it (docs/verify.md). */
import { hashing } from "./files.js";
const SIGNATURE = 0x89504e470d0a1a0an;
/** The largest picture, as in svc verify. */
const MOST_PIXELS = 2 ** 28;
const CHANNELS = { 0: 1, 2: 3, 4: 2, 6: 4 }; // by the type of colour
/** The hash of a picture's pixels; undefined for what is not decoded. A PNG is decoded as Blender writes it: 8 or 16 bits, without a palette. It throws for a damaged one. */
export async function pixelsOf(picture) {
    if (picture.size < 33)
        return undefined;
    const head = new DataView(await picture.slice(0, 33).arrayBuffer());
    if (head.getBigUint64(0) !== SIGNATURE || head.getUint32(8) !== 13 || head.getUint32(12) !== 0x49484452)
        return undefined;
    const width = head.getUint32(16), height = head.getUint32(20), bits = head.getUint8(24), channels = CHANNELS[head.getUint8(25)];
    const methods = head.getUint8(26) | head.getUint8(27) | head.getUint8(28);
    if ((bits !== 8 && bits !== 16) || !channels || methods || width * height === 0 || width * height > MOST_PIXELS)
        return undefined;
    const all = chunksOf(new Uint8Array(await picture.arrayBuffer())), first = all.findIndex(({ kind }) => kind === "IDAT");
    if (all.slice(0, first < 0 ? undefined : first).some(({ kind }) => kind === "PLTE" || kind === "tRNS"))
        return undefined; // it changes what values mean
    if (first < 0)
        return undefined;
    let end = first;
    while (all[end]?.kind === "IDAT")
        end++;
    for (const { kind } of all.slice(end)) {
        if (kind === "IDAT")
            throw new Error("it has too many pixels");
        if (["IHDR", "PLTE", "tRNS"].includes(kind))
            throw new Error("its parts are in a wrong order");
    }
    const value = bits / 8, size = channels * value * width, digest = await hashing();
    digest.update(new TextEncoder().encode(`svc-pixels-v1 ${width} ${height} ${bits}\n`));
    let above = new Uint8Array(size), row = new Uint8Array(size);
    const wide = new Uint8Array(4 * value * width).fill(255);
    const packed = new Blob(all.slice(first, end).map(({ content }) => content)), rows = new Rows(packed);
    for (let y = 0; y < height; y++) {
        const filter = new Uint8Array(1);
        await rows.read(filter);
        await rows.read(row);
        unfilter(filter[0], row, above, channels * value);
        digest.update(channels === 4 ? row : widen(wide, row, channels, value, width));
        [row, above] = [above, row];
    }
    await rows.end();
    return digest.hex();
}
/** The chunks of a PNG, whose checksums are right. */
function chunksOf(file) {
    const view = new DataView(file.buffer), found = [];
    for (let at = 8; found.at(-1)?.kind !== "IEND";) {
        const size = at + 12 <= file.length ? view.getUint32(at) : file.length;
        if (at + 12 + size > file.length)
            throw new Error("it is cut off");
        const named = file.subarray(at + 4, at + 8 + size);
        if (crc32(named) !== view.getUint32(at + 8 + size))
            throw new Error("a checksum is wrong");
        found.push({ kind: String.fromCharCode(...named.subarray(0, 4)), content: named.slice(4) });
        at += 12 + size;
    }
    return found;
}
const TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
    for (let bit = 0; bit < 8; bit++)
        n = n & 1 ? (n >>> 1) ^ 0xedb88320 : n >>> 1;
    return n;
});
function crc32(bytes) {
    let sum = ~0;
    for (const byte of bytes)
        sum = TABLE[(sum ^ byte) & 255] ^ (sum >>> 8);
    return ~sum >>> 0;
}
/** The bytes of a zlib stream, as many as are asked for. */
class Rows {
    reader;
    ready = new Uint8Array();
    constructor(packed) {
        this.reader = packed.stream().pipeThrough(new DecompressionStream("deflate")).getReader();
    }
    async read(into) {
        for (let have = 0; have < into.length;) {
            if (this.ready.length === 0 && !(await this.more()))
                throw new Error("it lacks pixels");
            const part = this.ready.subarray(0, into.length - have);
            into.set(part, have);
            have += part.length;
            this.ready = this.ready.subarray(part.length);
        }
    }
    async end() {
        if (this.ready.length > 0 || (await this.more())) {
            await this.reader.cancel();
            throw new Error("it has too many pixels");
        }
    }
    async more() {
        do {
            const { done, value } = await this.reader.read();
            if (done)
                return false;
            this.ready = new Uint8Array(value);
        } while (this.ready.length === 0);
        return true;
    }
}
/** Gives a row the values that it had before its filter (PNG 9.2). */
function unfilter(filter, row, above, pixel) {
    if (filter > 4)
        throw new Error("a filter is unknown");
    if (filter === 0)
        return;
    for (let at = 0; at < row.length; at++) {
        const left = at < pixel ? 0 : row[at - pixel], up = above[at], corner = at < pixel ? 0 : above[at - pixel];
        row[at] += filter === 1 ? left : filter === 2 ? up : filter === 3 ? (left + up) >> 1 : predicted(left, up, corner);
    }
}
function predicted(left, up, corner) {
    const far = Math.abs(up - corner), near = Math.abs(left - corner), cornerFar = Math.abs(left + up - 2 * corner);
    return far <= near && far <= cornerFar ? left : near <= cornerFar ? up : corner;
}
/** A row as red, green, blue and alpha. Alpha that the row does not have stays as it is. */
function widen(wide, row, channels, value, width) {
    const source = channels === 3 ? [0, 1, 2] : channels === 2 ? [0, 0, 0, 1] : [0, 0, 0];
    for (let x = 0; x < width; x++) {
        source.forEach((channel, to) => {
            for (let byte = 0; byte < value; byte++)
                wide[(4 * x + to) * value + byte] = row[(channels * x + channel) * value + byte];
        });
    }
    return wide;
}
