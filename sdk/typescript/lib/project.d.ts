import { type Source } from "./files.js";
import type { Transport } from "./transport.js";
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
export declare function listProject(files: Iterable<ProjectFile>): Promise<Listed[]>;
/** The parts that the service reports as missing; empty for another refusal. */
export declare function missingParts(error: unknown): string[];
/** Uploads the parts that are missing on the service, several at a time, each
once. */
export declare function sendParts(transport: Transport, files: Listed[], missing: string[], progress?: Progress, signal?: AbortSignal): Promise<void>;
