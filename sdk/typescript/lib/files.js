/** Bytes of files on any platform: blobs everywhere, paths where there is a disk. */
import { FileChanged } from "./errors.js";
/** A module of the platform, hidden from bundlers, which would look for it. */
const platform = (name) => import(/* @vite-ignore */ /* webpackIgnore: true */ `node:${name}`);
/** The disk. An Error where there is none, as in browsers. */
export async function disk() {
    try {
        return (await platform("fs"));
    }
    catch (cause) {
        throw new TypeError("there are no paths here: give a Blob", { cause });
    }
}
/** The content of a file, read when it is used. */
export async function blobOf(source) {
    if (typeof source !== "string")
        return source instanceof Blob ? source : new Blob([source]);
    const { openAsBlob } = await disk();
    try {
        return await openAsBlob(source);
    }
    catch (cause) {
        throw new FileChanged(`${source} cannot be read: ${cause.message}`, { cause });
    }
}
/** A SHA-256 that is fed piece by piece. Browsers have no other way than to keep all pieces. */
export async function hashing() {
    try {
        const hash = (await platform("crypto")).createHash("sha256");
        return { update: (bytes) => void hash.update(bytes), hex: async () => hash.digest("hex") };
    }
    catch {
        const pieces = [];
        return {
            update: (bytes) => void pieces.push(bytes.slice()),
            hex: async () => hex(await digest(new Uint8Array(await new Blob(pieces).arrayBuffer()))),
        };
    }
}
/** The SHA-256 of a blob, lower-case hex. */
export async function sha256(blob) {
    const hash = await hashing(), reader = blob.stream().getReader();
    for (;;) {
        const { done, value } = await reader.read();
        if (done)
            return hash.hex();
        hash.update(value);
    }
}
/** The SHA-256 of bytes, by Web Crypto. */
export async function digest(bytes) {
    return new Uint8Array(await globalThis.crypto.subtle.digest("SHA-256", bytes));
}
export function hex(bytes) {
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
