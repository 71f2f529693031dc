/** Calls of the service to your server (docs/webhooks.md). */
import { WebhookError, member } from "./errors.js";
import { b64 } from "./tree.js";
import type { Job, JobWebhook, WebhookType } from "./wire.js";

/** How far a call's time may be from now, seconds: it bounds how long a recorded call can be sent again, and how wrong the receiver's clock may be. */
const TOLERANCE = 300;

/** A verified call. The same event can come several times, with the same id: act on it once. */
export type WebhookEvent = {
  id: string;
  timestamp: string;
} & ({
  type: JobWebhook;
  /** The job as it was then. */
  job: Job;
} | {
  /** An event that is not about a job. */
  type: Exclude<WebhookType, JobWebhook>;
  job: null;
});

/** The headers of a call, as a server gives them. */
export type CallHeaders = Headers | Record<string, string | readonly string[] | undefined>;

/** Checks with the webhook's secret that the service sent `body`, the bytes as received. During a rotation either secret is good. WebhookError means: do not act on it. `now` is in seconds. */
export async function verifyWebhook(secret: string, headers: CallHeaders, body: Uint8Array<ArrayBuffer> | string, now = Date.now() / 1000): Promise<WebhookEvent> {
  const found = new Map<string, string>();
  for (const [name, value] of headers instanceof Headers ? headers : Object.entries(headers)) {
    if (value !== undefined) found.set(name.toLowerCase(), typeof value === "string" ? value : value.join(" "));
  }
  const id = found.get("webhook-id"), stamp = found.get("webhook-timestamp") ?? "";
  if (!id || !/^\d+$/.test(stamp)) throw new WebhookError("it has no webhook-id or no webhook-timestamp");
  if (!(Math.abs(now - Number(stamp)) <= TOLERANCE)) throw new WebhookError("it was sent at another time than now");
  let raw: Uint8Array<ArrayBuffer>;
  try {
    raw = secret.startsWith("whsec_") ? b64(secret.slice(6)) : new TextEncoder().encode(secret);
  } catch (cause) {
    throw new WebhookError("the secret is not base64 after whsec_", { cause });
  }
  if (raw.length === 0) throw new WebhookError("the secret is empty"); // anyone could sign with it
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const signed = new Blob([`${id}.${stamp}.`, bytes]);
  const key = await crypto.subtle.importKey("raw", raw, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
  const message = await signed.arrayBuffer();
  let good = false;
  for (const one of (found.get("webhook-signature") ?? "").split(" ")) {
    try {
      if (one.startsWith("v1,")) good = (await crypto.subtle.verify("HMAC", key, b64(one.slice(3)), message)) || good;
    } catch {
      // not base64: not a signature
    }
  }
  if (!good) throw new WebhookError("no signature was made with this secret");
  let told: Record<string, unknown>;
  try {
    told = member(JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)));
  } catch (cause) {
    throw new WebhookError("its body is not that of a webhook", { cause });
  }
  const { type, timestamp, data } = told;
  if (typeof type !== "string" || typeof timestamp !== "string" || data === undefined) throw new WebhookError("its body is not that of a webhook");
  return { id, type, timestamp, job: type.startsWith("render.") ? data : null } as WebhookEvent;
}
