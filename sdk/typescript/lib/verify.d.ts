import { type Source } from "./files.js";
import type { Check, CheckName, Report } from "./report.js";
import type { SigningKey } from "./wire.js";
/** A saved answer: its text or bytes, or what JSON.parse made of it. */
export type Document = string | Uint8Array | object;
/** A key that the caller trusts: an entry of /v1/signing-keys, which says when it ended, or a PEM
text. */
export type TrustedKey = string | Pick<SigningKey, "key_id" | "public_key_pem"> & Partial<SigningKey>;
/** What is verified in addition to the receipt. */
export interface VerifyOptions {
    /** The ZIP. */
    artifact?: Source;
    /** The answer of the proof's route. */
    proof?: Document;
    /** A checkpoint of the same size from another source. */
    checkpoint?: string;
    /** The receipts of earlier jobs from which the job took frames over, for the check "reused". */
    origins?: Iterable<Document>;
    /** Checks that must have been made. */
    require?: readonly CheckName[];
    /** Accepts a receipt of test mode as such. Without it one fails at the check "test": nothing was
    rendered or paid. */
    test?: boolean;
    /** False leaves pictures undecoded, which takes some time for each. The check "pixels" is then skipped. */
    pixels?: boolean;
}
/** Verifies a receipt: an answer of the receipt's route, or a bare envelope. VerificationError has the whole report. */
export declare function verify(receipt: Document, keys: Iterable<TrustedKey>, options?: VerifyOptions): Promise<Report>;
/** What a check found: a text, or a skipped one. */
export type Found = string | {
    skipped: string;
};
/** What came of a check. */
export declare function checkOf(name: CheckName, check: () => Promise<Found>): Promise<Check>;
/** Decodes pictures and compares their pixels with the receipt. One whose bytes differ is left to the check of these. */
export declare function pixelsAre(frames: {
    file: string;
    sha256: string;
    pixel_sha256: string;
    content(): Promise<Blob>;
}[], decode?: boolean): Promise<Found>;
