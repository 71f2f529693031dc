/** The log's tree (RFC 6962) and its signed checkpoints (C2SP tlog-checkpoint, signed-note). */
import { digest } from "./files.js";

export type Bytes = Uint8Array<ArrayBuffer>;

/** What the log said it was: its first `size` leaves have this root. */
export interface Checkpoint {
  origin: string;
  size: number;
  root: Bytes;
}

export const utf8 = (text: string): Bytes => new TextEncoder().encode(text);

export function join(...parts: Uint8Array[]): Bytes {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

export const equal = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && a.every((byte, at) => byte === b[at]);

/** Standard base64 in its one form; another form of the same bytes is an Error. */
export function b64(text: unknown): Bytes {
  if (typeof text !== "string") throw new Error("not base64");
  const raw = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  if (toB64(raw) !== text) throw new Error("not standard base64");
  return raw;
}

export function toB64(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}

/** Whether an Ed25519 signature is the key's, by Web Crypto. */
export async function signedBy(key: Bytes, signature: Bytes, message: Bytes): Promise<boolean> {
  if (key.length !== 32 || signature.length !== 64) return false;
  const imported = await crypto.subtle.importKey("raw", key, { name: "Ed25519" }, false, ["verify"]);
  return crypto.subtle.verify({ name: "Ed25519" }, imported, signature, message);
}

export const leafHash = (data: Bytes): Promise<Bytes> => digest(join(Uint8Array.of(0), data));
export const nodeHash = (left: Bytes, right: Bytes): Promise<Bytes> => digest(join(Uint8Array.of(1), left, right));

/** The root over leaves, of which there is at least one (RFC 6962 2.1). */
export async function treeRoot(leaves: Bytes[]): Promise<Bytes> {
  let level = await Promise.all(leaves.map(leafHash));
  while (level.length > 1) {
    const next: Bytes[] = [];
    for (let at = 0; at < level.length; at += 2) {
      const left = level[at]!, right = level[at + 1];
      next.push(right ? await nodeHash(left, right) : left);
    }
    level = next;
  }
  return level[0]!;
}

/** The root to which a path leads from leaf `index` of `size` (RFC 9162 2.1.3.2). A path of the wrong length is an Error. */
export async function pathRoot(entry: Bytes, index: number, size: number, path: Bytes[]): Promise<Bytes> {
  if (!(index >= 0 && index < size) || path.some((one) => one.length !== 32)) {
    throw new Error(`leaf ${index} is not among the ${size} of the checkpoint`);
  }
  let number = index, last = size - 1, root = await leafHash(entry);
  for (const sibling of path) {
    if (last === 0) throw new Error("the path is too long");
    if (number % 2 === 1 || number === last) {
      root = await nodeHash(sibling, root);
      while (number % 2 === 0 && number !== 0) [number, last] = [half(number), half(last)];
    } else {
      root = await nodeHash(root, sibling);
    }
    [number, last] = [half(number), half(last)];
  }
  if (last !== 0) throw new Error("the path is too short");
  return root;
}

const half = (number: number): number => Math.floor(number / 2);

/** Reads a signed note; an Error unless one of the keys has signed it under the name in its first line. Returns the keys that have. Signatures of others, such as witnesses, are allowed. */
export async function openCheckpoint(note: unknown, keys: Bytes[]): Promise<{ point: Checkpoint; signers: Bytes[] }> {
  const [, text, signatures] = /^([^]*?\n)\n([^]*\n)$/.exec(typeof note === "string" ? note : "") ?? [];
  const parts = text?.split("\n") ?? [];
  if (text === undefined || signatures === undefined || parts.length < 4) throw new Error("the checkpoint is not a signed note");
  const [origin = "", size = "", root] = parts;
  if (!/^[!-*,-~]{1,200}$/.test(origin)) throw new Error("the checkpoint names no log");
  const point = { origin, size: Number(size), root: b64(root) };
  if (!/^(0|[1-9]\d*)$/.test(size) || !Number.isSafeInteger(point.size) || point.root.length !== 32) {
    throw new Error("the checkpoint has no proper size or root");
  }
  const signers: Bytes[] = [];
  for (const line of signatures.slice(0, -1).split("\n")) {
    const [dash, name, signature, ...more] = line.split(" ");
    if (dash !== "\u2014" || name === undefined || signature === undefined || more.length > 0) {
      throw new Error("the checkpoint has a line that is no signature");
    }
    const raw = b64(signature);
    for (const key of keys) {
      const hint = (await digest(join(utf8(`${origin}\n\x01`), key))).subarray(0, 4);
      if (name !== origin || !equal(raw.subarray(0, 4), hint)) continue;
      if (!(await signedBy(key, raw.slice(4), utf8(text)))) throw new Error("the checkpoint does not match its signature");
      signers.push(key);
    }
  }
  if (signers.length === 0) throw new Error("the checkpoint is not signed by a known key");
  return { point, signers };
}
