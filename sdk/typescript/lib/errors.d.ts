/** What the package throws. Every error is an {@link SvcError}. */
import type { Report } from "./report.js";
import type { Job } from "./wire.js";
/** The base of all errors of this package. */
export declare class SvcError extends Error {
    constructor(message: string, options?: ErrorOptions);
}
/** A refusal of the service. Act on `code`; docs/errors.md lists them. */
export declare class ApiError extends SvcError {
    readonly call: string;
    readonly status: number;
    /** Empty when a proxy answered. */
    readonly code: string;
    readonly suggestedAction: string;
    readonly requestId: string;
    readonly detail: unknown;
    /** Whether a later try can succeed without a change by the caller. */
    readonly retryable: boolean;
    /** Seconds that the server asks to wait: the longer one of header and body. */
    readonly retryAfter: number;
    /** `call` is the method and the path, `status` that of HTTP. */
    constructor(call: string, status: number, body: unknown, headerId?: string, retryAfter?: number, location?: string);
}
/** No answer came: the network, the name, the certificate or a time-out. */
export declare class ConnectionFailed extends SvcError {
    readonly call: string;
    readonly passes: boolean;
    /** `passes` says whether trying again can help. */
    constructor(call: string, cause: unknown, passes?: boolean);
}
/** A success that no svc sent, as where the address leads to another web server. */
export declare class ForeignAnswer extends SvcError {
}
/** The received bytes do not have the SHA-256 that the service states. None are kept. */
export declare class DownloadChanged extends SvcError {
}
/** A file was changed between its listing and its sending, or cannot be read. */
export declare class FileChanged extends SvcError {
}
/** The job did not end within the time that the caller gave. It continues. */
export declare class FollowTimeout extends SvcError {
}
/** A job ended without its frames: it failed or was cancelled, and cost nothing. */
export declare class JobEnded extends SvcError {
    readonly job: Job;
    constructor(job: Job);
}
/** A call that is not proven to come from the service. Do not act on it. */
export declare class WebhookError extends SvcError {
}
/** A receipt that does not hold. `check` names the first check that failed. */
export declare class VerificationError extends SvcError {
    readonly check: string;
    readonly report?: Report | undefined;
    /** `report` has all checks, where there are any. */
    constructor(check: string, text: string, report?: Report | undefined);
}
/** Whether a later try can overcome the status without a change. */
export declare function passingStatus(status: number): boolean;
/** A wait in seconds, 0 to a day, so that a wrong one cannot stop a caller for years. */
export declare function seconds(value: unknown): number;
/** A member of what may be no object, or the object itself; {} for anything else. */
export declare function member(value: unknown, name?: string): Record<string, unknown>;
