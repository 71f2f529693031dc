import type { Job, JobWebhook, WebhookType } from "./wire.js";
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
export declare function verifyWebhook(secret: string, headers: CallHeaders, body: Uint8Array<ArrayBuffer> | string, now?: number): Promise<WebhookEvent>;
