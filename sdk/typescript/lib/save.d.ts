import type { Report } from "./report.js";
import type { Transport } from "./transport.js";
import { type TrustedKey } from "./verify.js";
import type { Event, Frame, Job, SigningKey } from "./wire.js";
/** A frame that is in the folder. */
export interface SavedFrame {
    frame: number;
    path: string;
}
/** A job whose frames come into a folder while somebody iterates over it. */
export declare class Rendering implements AsyncIterable<SavedFrame> {
    readonly job: Job;
    readonly folder: string;
    private readonly saved;
    constructor(job: Job, folder: string, saved: AsyncGenerator<SavedFrame, void>);
    [Symbol.asyncIterator](): AsyncGenerator<SavedFrame, void>;
    /** Waits for all frames, and returns the folder. */
    wait(): Promise<string>;
}
/** What sync asks of a client. */
interface Calls {
    follow(jobId: string, options: {
        signal?: AbortSignal;
    }): AsyncIterable<Event>;
    frames(jobId: string, options: {
        signal?: AbortSignal;
    }): Promise<Frame[]>;
    read(path: string, options: {
        signal?: AbortSignal;
    }): Promise<Uint8Array>;
    signingKeys(options: {
        signal?: AbortSignal;
    }): Promise<SigningKey[]>;
}
/** Client.sync. `path` is where the job is read. */
export declare function sync(client: Calls, transport: Transport, path: string, jobId: string, folder: string, signal?: AbortSignal): AsyncGenerator<SavedFrame, void>;
/**
 * Verifies a folder that a render filled: the receipt with its key and its place in the log, and
 * the ZIP, the frames next to it with their outputs, or both. Without `keys`, those of keys.json in the folder are
 * taken; give the service's own for a folder that somebody else made. Frames that were taken over are
 * compared with the earlier receipts in the folder. It throws
 * VerificationError, also when neither the ZIP nor all of the others are there. PNGs are decoded too, for
 * the check "pixels", unless `pixels` is false: that takes some time for each.
 */
export declare function verifyFolder(folder: string, { keys, test, pixels }?: {
    keys?: Iterable<TrustedKey>;
    test?: boolean;
    pixels?: boolean;
}): Promise<Report>;
export {};
