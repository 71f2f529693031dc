export type Bytes = Uint8Array<ArrayBuffer>;
/** What the log said it was: its first `size` leaves have this root. */
export interface Checkpoint {
    origin: string;
    size: number;
    root: Bytes;
}
export declare const utf8: (text: string) => Bytes;
export declare function join(...parts: Uint8Array[]): Bytes;
export declare const equal: (a: Uint8Array, b: Uint8Array) => boolean;
/** Standard base64 in its one form; another form of the same bytes is an Error. */
export declare function b64(text: unknown): Bytes;
export declare function toB64(bytes: Uint8Array): string;
/** Whether an Ed25519 signature is the key's, by Web Crypto. */
export declare function signedBy(key: Bytes, signature: Bytes, message: Bytes): Promise<boolean>;
export declare const leafHash: (data: Bytes) => Promise<Bytes>;
export declare const nodeHash: (left: Bytes, right: Bytes) => Promise<Bytes>;
/** The root over leaves, of which there is at least one (RFC 6962 2.1). */
export declare function treeRoot(leaves: Bytes[]): Promise<Bytes>;
/** The root to which a path leads from leaf `index` of `size` (RFC 9162 2.1.3.2). A path of the wrong length is an Error. */
export declare function pathRoot(entry: Bytes, index: number, size: number, path: Bytes[]): Promise<Bytes>;
/** Reads a signed note; an Error unless one of the keys has signed it under the name in its first line. Returns the keys that have. Signatures of others, such as witnesses, are allowed. */
export declare function openCheckpoint(note: unknown, keys: Bytes[]): Promise<{
    point: Checkpoint;
    signers: Bytes[];
}>;
