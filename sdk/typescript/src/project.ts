/** A scene with its files: only what is missing on the service is uploaded. */
import { ApiError, FileChanged, SvcError, member } from "./errors.js";
import { blobOf, sha256, type Source } from "./files.js";
import type { Transport } from "./transport.js";

/** The largest part of a project's file, bytes. */
const PART = 32 << 20;
const AT_ONCE = 4;

/** Is called with bytes done and bytes in all. */
export type Progress = (done: number, total: number) => void;

/** One file of a project: its path there, and where its bytes are. */
export interface ProjectFile {
  /** Relative, with "/" between folders. */
  path: string;
  source: Source;
}

/** A file with the hashes that its parts had when it was listed. */
export interface Listed {
  path: string;
  content: Blob;
  parts: string[];
}

/** Reads the files and hashes them. Paths are sent in UTF-8 NFC. */
export async function listProject(files: Iterable<ProjectFile>): Promise<Listed[]> {
  const listed: Listed[] = [];
  for (const { path, source } of files) {
    const content = await blobOf(source);
    const parts: string[] = [];
    for (let at = 0; at < content.size; at += PART) parts.push(await sha256(content.slice(at, at + PART)));
    listed.push({ path: path.normalize("NFC"), content, parts });
  }
  return listed.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** The parts that the service reports as missing; empty for another refusal. */
export function missingParts(error: unknown): string[] {
  if (!(error instanceof ApiError) || error.code !== "parts_missing") return [];
  const missing = member(error.detail)["missing"];
  return Array.isArray(missing) ? missing.map(String) : [];
}

/** Uploads the parts that are missing on the service, several at a time, each
once. */
export async function sendParts(transport: Transport, files: Listed[], missing: string[], progress?: Progress, signal?: AbortSignal): Promise<void> {
  const wanted = new Set(missing);
  const waiting: { path: string; digest: string; part: Blob }[] = [];
  for (const { path, content, parts } of files) {
    parts.forEach((digest, index) => {
      if (wanted.delete(digest)) waiting.push({ path, digest, part: content.slice(index * PART, (index + 1) * PART) });
    });
  }
  if (wanted.size > 0) throw new SvcError(`the service asks for ${wanted.size} parts that the project does not have`);
  const total = waiting.reduce((sum, { part }) => sum + part.size, 0);
  let done = 0;
  const sender = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const { path, digest, part } = next;
      try {
        await transport.json("PUT", "/node/v1/parts/" + digest, { body: part, size: part.size, signal, headers: { "Content-Type": "application/octet-stream" } });
      } catch (error) {
        waiting.length = 0; // the others end too
        if (error instanceof ApiError && error.code === "content_hash_mismatch") throw new FileChanged(`${path} was changed while the project was sent`, { cause: error });
        throw error;
      }
      progress?.(done += part.size, total);
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: AT_ONCE }, sender));
  for (const end of ends) if (end.status === "rejected") throw end.reason;
}
