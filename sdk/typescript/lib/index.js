/**
 * The TypeScript SDK of svc: prices a Blender file, renders it at that price, follows the
 * render, downloads the ZIP and verifies the receipt. No dependencies; Node 20 or newer, Deno,
 * Bun and browsers.
 */
export { Client } from "./client.js";
export { ApiError, ConnectionFailed, DownloadChanged, FileChanged, FollowTimeout, ForeignAnswer, JobEnded, SvcError, VerificationError, WebhookError } from "./errors.js";
export { Rendering, verifyFolder } from "./save.js";
export { VERSION } from "./transport.js";
export { verify } from "./verify.js";
export { verifyWebhook } from "./webhook.js";
export { LEGAL_V1, TERMINAL } from "./wire.js";
