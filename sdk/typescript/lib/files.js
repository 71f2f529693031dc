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
/** The SHA-256 of a blob, lower-case hex. Browsers have no other way than to read it whole. */
export async function sha256(blob) {
    let crypto;
    try {
        crypto = (await platform("crypto"));
    }
    catch {
        return hex(await digest(new Uint8Array(await blob.arrayBuffer())));
    }
    const hash = crypto.createHash("sha256");
    const reader = blob.stream().getReader();
    for (;;) {
        const { done, value } = await reader.read();
        if (done)
            return hash.digest("hex");
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
