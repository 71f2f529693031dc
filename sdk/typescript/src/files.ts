/** Bytes of files on any platform: blobs everywhere, paths where there is a disk. */
import { FileChanged } from "./errors.js";

/** A file by its path (Node, Deno, Bun), or its content. */
export type Source = string | Blob | Uint8Array<ArrayBuffer>;

/** What this package uses of a platform with a disk; its types are not everywhere. */
interface Disk {
  openAsBlob(path: string): Promise<Blob>;
  promises: {
    open(path: string, flags: string): Promise<Handle>;
    mkdir(path: string, options: { recursive: boolean }): Promise<unknown>;
    writeFile(path: string, content: Uint8Array): Promise<void>;
    rename(from: string, to: string): Promise<void>;
    rm(path: string, options: { force: boolean }): Promise<void>;
  };
}

/** An open file. */
export interface Handle {
  stat(): Promise<{ size: number }>;
  write(bytes: Uint8Array): Promise<unknown>;
  truncate(size: number): Promise<void>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

interface Hash {
  update(bytes: Uint8Array): Hash;
  digest(form: "hex"): string;
}

/** A module of the platform, hidden from bundlers, which would look for it. */
const platform = (name: string): Promise<unknown> => import(/* @vite-ignore */ /* webpackIgnore: true */ `node:${name}`);

/** The disk. An Error where there is none, as in browsers. */
export async function disk(): Promise<Disk> {
  try {
    return (await platform("fs")) as Disk;
  } catch (cause) {
    throw new TypeError("there are no paths here: give a Blob", { cause });
  }
}

/** The content of a file, read when it is used. */
export async function blobOf(source: Source): Promise<Blob> {
  if (typeof source !== "string") return source instanceof Blob ? source : new Blob([source]);
  const { openAsBlob } = await disk();
  try {
    return await openAsBlob(source);
  } catch (cause) {
    throw new FileChanged(`${source} cannot be read: ${(cause as Error).message}`, { cause });
  }
}

/** A SHA-256 that is fed piece by piece. Browsers have no other way than to keep all pieces. */
export async function hashing(): Promise<{ update(bytes: Uint8Array): void; hex(): Promise<string> }> {
  try {
    const hash = ((await platform("crypto")) as { createHash(name: string): Hash }).createHash("sha256");
    return { update: (bytes) => void hash.update(bytes), hex: async () => hash.digest("hex") };
  } catch {
    const pieces: Uint8Array<ArrayBuffer>[] = [];
    return {
      update: (bytes) => void pieces.push(bytes.slice()),
      hex: async () => hex(await digest(new Uint8Array(await new Blob(pieces).arrayBuffer()))),
    };
  }
}

/** The SHA-256 of a blob, lower-case hex. */
export async function sha256(blob: Blob): Promise<string> {
  const hash = await hashing(), reader = blob.stream().getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return hash.hex();
    hash.update(value);
  }
}

/** The SHA-256 of bytes, by Web Crypto. */
export async function digest(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await globalThis.crypto.subtle.digest("SHA-256", bytes));
}

export function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
