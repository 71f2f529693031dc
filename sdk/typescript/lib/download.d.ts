import type { Progress } from "./project.js";
import { type Transport } from "./transport.js";
import type { Artifact } from "./wire.js";
/** Fetches a file of an accepted frame to a path, as downloadFile does. */
export declare function saveFrame(transport: Transport, url: string, path: string, size: number, want: string, signal?: AbortSignal): Promise<void>;
/** Fetches a ZIP into memory. */
export declare function downloadBlob(transport: Transport, artifactOf: () => Promise<Artifact>, progress?: Progress, signal?: AbortSignal): Promise<Blob>;
/** Fetches a ZIP to a path. A broken download leaves its bytes next to it, in a file with ".part"
at its end, from which a later call resumes. */
export declare function downloadFile(transport: Transport, artifactOf: () => Promise<Artifact>, path: string, progress?: Progress, signal?: AbortSignal): Promise<Artifact>;
/** Fetches a movie to a path, where it appears whole or not at all. It waits `longest` seconds at most for it to be encoded. */
export declare function saveMovie(transport: Transport, url: string, path: string, signal?: AbortSignal, longest?: number): Promise<void>;
