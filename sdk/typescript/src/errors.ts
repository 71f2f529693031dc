/** What the package throws. Every error is an {@link SvcError}. */
import type { Report } from "./report.js";
import type { Job } from "./wire.js";

/** The base of all errors of this package. */
export class SvcError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** A refusal of the service. Act on `code`; docs/errors.md lists them. */
export class ApiError extends SvcError {
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
  constructor(readonly call: string, readonly status: number, body: unknown, headerId = "", retryAfter = 0, location = "") {
    const told = member(member(body, "error"));
    const text = (name: string) => (typeof told[name] === "string" ? told[name] : "");
    const code = text("code"), requestId = text("request_id") || headerId;
    super(`${call}: ${text("message") || foreign(location)} (${[code, status, requestId].filter(Boolean).join(", ")})`);
    this.code = code;
    this.suggestedAction = text("suggested_action");
    this.requestId = requestId;
    this.detail = told["detail"];
    this.retryable = told["retryable"] === true || passingStatus(status);
    this.retryAfter = Math.max(retryAfter, seconds(told["retry_after_seconds"]));
  }
}

/** What to say of a refusal without the service's form of an error. */
function foreign(location: string): string {
  return location ? `a redirect to ${location.split("?", 1)[0]} came, as of a network's sign-in page` : "a proxy or another server answered, not the service";
}

/** No answer came: the network, the name, the certificate or a time-out. */
export class ConnectionFailed extends SvcError {
  /** `passes` says whether trying again can help. */
  constructor(readonly call: string, cause: unknown, readonly passes = true) {
    super(`${call}: ${reasonOf(cause)}`, { cause });
  }
}

/** A success that no svc sent, as where the address leads to another web server. */
export class ForeignAnswer extends SvcError {}

/** The received bytes do not have the SHA-256 that the service states. None are kept. */
export class DownloadChanged extends SvcError {}

/** A file was changed between its listing and its sending, or cannot be read. */
export class FileChanged extends SvcError {}

/** The job did not end within the time that the caller gave. It continues. */
export class FollowTimeout extends SvcError {}

/** A job ended without its frames: it failed or was cancelled, and cost nothing. */
export class JobEnded extends SvcError {
  constructor(readonly job: Job) {
    super(`job ${job.job_id}: ${job.status}${job.failure ? `: ${job.failure.message}` : ""}`);
  }
}

/** A call that is not proven to come from the service. Do not act on it. */
export class WebhookError extends SvcError {}

/** A receipt that does not hold. `check` names the first check that failed. */
export class VerificationError extends SvcError {
  /** `report` has all checks, where there are any. */
  constructor(readonly check: string, text: string, readonly report?: Report) {
    super(`${check}: ${text}`);
  }
}

/** Whether a later try can overcome the status without a change. */
export function passingStatus(status: number): boolean {
  return status === 429 || status >= 500;
}

/** A wait in seconds, 0 to a day, so that a wrong one cannot stop a caller for years. */
export function seconds(value: unknown): number {
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof number === "number" && number > 0 ? Math.min(number, 86400) : 0;
}

/** A member of what may be no object, or the object itself; {} for anything else. */
export function member(value: unknown, name?: string): Record<string, unknown> {
  const found = name === undefined ? value : member(value)[name];
  return typeof found === "object" && found !== null && !Array.isArray(found) ? (found as Record<string, unknown>) : {};
}

/** fetch hides what happened in the cause of its error. */
function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  if (cause.name === "AbortError") return "no answer could be read, as of a proxy that asks for a password (407) or closes the connection"; // Node's fetch says no more
  return cause.cause instanceof Error ? `${cause.message}: ${cause.cause.message}` : cause.message;
}
