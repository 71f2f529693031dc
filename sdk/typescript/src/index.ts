/**
 * The TypeScript SDK of svc: prices a Blender file, renders it at that price, follows the
 * render, downloads the ZIP and verifies the receipt. No dependencies; Node 20 or newer, Deno,
 * Bun and browsers.
 */
export { Client, type Call } from "./client.js";
export { ApiError, ConnectionFailed, DownloadChanged, FileChanged, FollowTimeout, ForeignAnswer, JobEnded, SvcError, VerificationError, WebhookError } from "./errors.js";
export type { Source } from "./files.js";
export type { Frames } from "./frames.js";
export type { Progress, ProjectFile } from "./project.js";
export type { Check, CheckName, Report } from "./report.js";
export { Rendering, verifyFolder, type SavedFrame } from "./save.js";
export { VERSION, type Key, type Options, type Retry } from "./transport.js";
export { verify, type Document, type TrustedKey, type VerifyOptions } from "./verify.js";
export { verifyWebhook, type CallHeaders, type WebhookEvent } from "./webhook.js";
export { LEGAL_V1, TERMINAL, type Artifact, type Delivery, type Event, type Finding, type Frame, type FrameComment, type FrameEvent, type Job, type JobStatus, type JobWebhook, type Preview,
  type PreviewStatus, type Proof, type Quote, type QuoteStatus, type Receipt, type ReceiptAnswer, type SavedFilter, type Schemas, type Settings, type Share, type SigningKey,
  type TopUp, type Transaction, type TransactionKind, type WaitingReason, type Wallet, type WebhookEndpoint, type WebhookType } from "./wire.js";
