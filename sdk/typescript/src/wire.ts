/**
 * The members of responses that callers use most. Responses are passed on as they came: what
 * a later service adds is there too. Amounts are US cents, durations seconds, sizes bytes,
 * times RFC 3339 texts. docs/interface.md has every member.
 */
import type { Schemas } from "../lib/schema.js";

export type { Schemas };

/** Accepts the service's terms at start. Send it only if the person who pays has read
them. */
export const LEGAL_V1 = "SVC_LEGAL_V1";

/** The states that a job never leaves. */
export const TERMINAL: ReadonlySet<string> = new Set(["completed", "failed", "cancelled"]);

/** A locked price for an uploaded file and frames of it. It costs nothing until started. */
export type Quote = Schemas["LockedQuote"];
/** What is rendered of a file in place of what it says; a member that is absent is as there. `reuse` takes over frames of earlier jobs that show the same, at no cost. */
export type Settings = Schemas["Settings"] & { reuse?: boolean };
/** A render as the service sees it at one moment. */
export type Job = Schemas["RenderObject"];
/** What a job is doing. */
export type JobStatus = Job["status"];
/** Why no worker renders a frame of a job. */
export type WaitingReason = NonNullable<Job["waiting_reason"]>;
/** What has become of a quote. */
export type QuoteStatus = Quote["status"];
/** What has become of a preview. */
export type PreviewStatus = Preview["status"];
/** What an entry of the ledger is. */
export type TransactionKind = Transaction["kind"];
/** What the frame check noticed and let pass. */
export type Finding = NonNullable<Frame["finding"]>;
/** The types of webhook events. */
export type WebhookType = JobWebhook | "wallet.low" | "webhook.test";
/** Those that are about a job. */
export type JobWebhook = "render.completed" | "render.failed" | "render.cancelled";
/** Where the ZIP of a completed job is, for anyone who holds the URL: do not log it. */
export type Artifact = Schemas["Download"];
/** A free preview of a frame of an upload: small and coarse. */
export type Preview = Schemas["Preview"];
/** A frame that was accepted. */
export type Frame = Schemas["RenderFrame"];
/** The balance of a workspace. */
export type Wallet = Schemas["Wallet"];
/** One entry of a workspace's ledger. */
export type Transaction = Schemas["WalletTransaction"];
/** The public page of a job's frames. `share_url` is null but in the answer that makes it. */
export type Share = Schemas["SharedJob"];
/** A search of jobs that a person has saved under a name. Members are those of the list of jobs, and "" for any. */
export type SavedFilter = Schemas["SavedFilter"];
/** What a visitor of a job's public page wrote about a frame. */
export type FrameComment = Schemas["FrameComment"];
/** A payment into the wallet. A person pays at `checkout_url`. */
export type TopUp = Schemas["TopUp"];
/** An address that is told when a job of the workspace ends. `secret` is only in the answer that made it. */
export type WebhookEndpoint = Schemas["Endpoint"] & { secret?: string };
/** A webhook call, over all of its tries. */
export type Delivery = Schemas["Delivery"];
/** A public key with which receipts are or were signed. */
export type SigningKey = Schemas["SigningKey"];
/** The answer with a completed job's receipt, plain and signed. */
export type ReceiptAnswer = Schemas["RenderReceipt"];
/** The statement that the service signs about a job. */
export type Receipt = Schemas["Receipt"];
/** The proof that a receipt is in the service's log. */
export type Proof = Schemas["Proof"];

/** What a stream reports about an accepted frame. */
export interface FrameEvent {
  job_id: string;
  frame: number;
  file: string;
  sha256: string;
  size_bytes: number;
  render_seconds: number;
  frames_completed: number;
  /** The files of the frame besides its picture, such as those of File Output nodes; absent without any. */
  outputs?: { name: string; sha256: string; size_bytes: number }[];
  [member: string]: unknown;
}

/**
 * One thing that happened to a job: the whole job as it is then, or a frame that was accepted.
 * The id is empty when the job was read instead.
 */
export type Event = { id: string; type: "job"; data: Job } | { id: string; type: "frame"; data: FrameEvent };
