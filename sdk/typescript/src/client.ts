/** The client. Start reading at {@link Client}. */
import { SvcError } from "./errors.js";
import { downloadBlob, downloadFile, saveMovie } from "./download.js";
import { blobOf, type Source } from "./files.js";
import { Follower } from "./follow.js";
import { framesText, type Frames } from "./frames.js";
import { listProject, missingParts, sendParts, type Progress, type ProjectFile } from "./project.js";
import type { Report } from "./report.js";
import { Rendering, sync, type SavedFrame } from "./save.js";
import { Transport, type Key, type Options } from "./transport.js";
import { verify, type TrustedKey } from "./verify.js";
import type { Artifact, Delivery, Event, Frame, FrameComment, Job, Preview, Proof, Quote, ReceiptAnswer, SavedFilter, Schemas, Settings, Share, SigningKey, TopUp, Transaction, Wallet, WebhookEndpoint } from "./wire.js";

/** The most that one page of a list has. */
const PAGE = 200;

/** What every call takes: `signal` ends it. */
export interface Call {
  signal?: AbortSignal;
}

/**
 * Calls one service with an agent key ("svc_agent_…") or an account key ("svc_…"). The key may
 * be a function, which each try asks for an agent key: for tokens that end.
 *
 * Only {@link Client.start} spends, and starting one quote again gives the same job, so every
 * call may be repeated after any failure. Calls repeat themselves on lost connections, 429 and
 * 5xx answers, and wait as long as the server asks.
 */
export class Client {
  private readonly transport: Transport;
  private readonly jobsPath: string;
  private readonly account: boolean;
  private readonly uploadsPath: string;

  constructor(baseUrl: string, key: Key = "", options: Options = {}) {
    this.transport = new Transport(baseUrl, key, options);
    const account = this.account = typeof key === "string" && key.startsWith("svc_") && !key.startsWith("svc_agent_");
    this.jobsPath = account ? "/v1/renders" : "/node/v1/jobs";
    this.uploadsPath = account ? "/v1/uploads" : "/node/v1/uploads";
  }

  // Prices. None of these spends.

  /** Uploads a .blend, or a .zip with one, and returns a locked quote. Without `frames` the scene's own range counts. `settings` are what else differs from the file, such as `{ camera: "Far", resolution_percentage: 50 }`. Content without a name needs `filename`. */
  async inspect(file: Source, { frames, settings, filename, signal }: Call & { frames?: Frames; settings?: Settings; filename?: string } = {}): Promise<Quote> {
    const content = await blobOf(file);
    const name = filename || (typeof file === "string" ? file.split(/[/\\]/).pop() : "name" in content ? String(content.name) : "") || "scene.blend";
    const form = new FormData(); // the frames stand before the file, so that the server knows them while it reads the scene
    for (const [field, value] of Object.entries(chosen(frames, settings))) if (value !== null) form.set(field, String(value));
    form.set("file", content, name);
    return this.transport.json("POST", "/node/v1/uploads/inspect", { body: form, size: content.size, signal });
  }

  /** Uploads the parts of a project that are missing on the service and returns a locked quote for
  its main file, one of the paths of `files`. The same call again continues where an earlier one
  ended: what has arrived is not uploaded again. */
  async inspectProject(main: string, files: Iterable<ProjectFile>, { frames, settings, progress, signal }: Call & { frames?: Frames; settings?: Settings; progress?: Progress } = {}): Promise<Quote> {
    const listed = await listProject(files);
    const value = {
      main: main.normalize("NFC"), ...chosen(frames, settings),
      files: listed.map(({ path, content, parts }) => ({ path, size_bytes: content.size, parts })),
    };
    for (let rounds = 1; ; rounds++) {
      let missing: string[];
      try {
        return await this.transport.json("POST", "/node/v1/projects", { value, signal });
      } catch (error) {
        missing = missingParts(error);
        if (missing.length === 0 || rounds === 5) throw error;
      }
      await sendParts(this.transport, listed, missing, progress, signal);
    }
  }

  /** A new locked quote for other frames or settings of an inspected upload. */
  async quote(upload: string | Quote, frames?: Frames, { settings, signal }: Call & { settings?: Settings } = {}): Promise<Quote> {
    return this.transport.json("POST", `/node/v1/uploads/${idOf(upload)}/quote`, { value: chosen(frames, settings), signal });
  }

  /** A locked quote for frames of an ended job once more, such as "3,7-9". */
  async rerender(jobId: string, frames: Frames, { signal }: Call = {}): Promise<Quote> {
    return this.transport.json("POST", this.jobPath(jobId, "/rerender"), { value: chosen(frames), signal });
  }

  /** A free preview of a frame; without one, the middle of the quoted range. It returns once the
  preview is "ready", "failed" or "expired", or at once with `wait: false`. */
  async preview(upload: string | Quote, { frame, wait = true, signal }: Call & { frame?: number; wait?: boolean } = {}): Promise<Preview> {
    const path = this.uploadPath(typeof upload === "string" ? upload : upload.upload_id, "/preview");
    let look = await this.transport.json<Preview>("POST", path, { value: frame === undefined ? {} : { frame }, signal });
    for (let pause = 0.25; wait && !["ready", "failed", "expired"].includes(look.status); pause = Math.min(pause * 1.5, 2)) {
      await this.transport.sleep(pause, signal);
      look = await this.transport.json<Preview>("GET", `${path}?frame=${look.frame}`, { signal });
    }
    return look;
  }

  /** The picture of a preview that is ready, a JPEG. */
  async previewImage(look: Preview, { signal }: Call = {}): Promise<Uint8Array<ArrayBuffer>> {
    if (!look.image_url) throw new SvcError("the preview has no picture");
    return this.transport.bytes(look.image_url, { keyless: true, signal }); // the address is the authorisation
  }

  // All of it.

  /** Prices a scene, starts it unless it costs more than `maxCents`, and puts its frames into a folder: iterate over what it returns to get each as it is accepted. At the end the folder has the receipt too, and {@link verifyFolder} has checked all of it. `legalAcceptance` is LEGAL_V1. */
  async render(scene: Source, folder: string, { legalAcceptance, maxCents, frames, settings, filename, signal }:
    Call & { legalAcceptance: string; maxCents?: number; frames?: Frames; settings?: Settings; filename?: string }): Promise<Rendering> {
    const calls = signal ? { signal } : {};
    const quote = await this.inspect(scene, { ...calls, ...(frames === undefined ? {} : { frames }), ...(settings ? { settings } : {}), ...(filename ? { filename } : {}) });
    const job = await this.start(quote, { legalAcceptance, ...(maxCents === undefined ? {} : { maxCents }), ...calls });
    return new Rendering(job, folder, this.sync(job.job_id, folder, calls));
  }

  /** Puts each frame of a job into a folder when it is accepted, whole or not at all. It ends with the job; when that is complete, the folder has its receipt, and {@link verifyFolder} has checked all of it. If the scene's output is a movie, it then waits up to ten minutes for `movie.mp4`. The same call again continues. A job that failed or was cancelled throws JobEnded. */
  sync(jobId: string, folder: string, { signal }: Call = {}): AsyncGenerator<SavedFrame, void> {
    return sync(this, this.transport, this.jobPath(jobId), jobId, folder, signal);
  }

  // A job.

  /** Every event of a job once, after the one with the id `after`, up to the one that ends the job. It survives lost connections and restarts, and reads the job itself while no stream is available. `timeout`, in seconds, throws FollowTimeout. */
  follow(jobId: string, { after = "", timeout, signal }: Call & { after?: string; timeout?: number } = {}): AsyncGenerator<Event, void> {
    return new Follower(this.transport, this.jobPath(jobId), after, timeout, signal).events();
  }

  /** The job once it has ended. A failed or cancelled job is no error: see its status. */
  async wait(jobId: string, options: Call & { timeout?: number } = {}): Promise<Job> {
    let last: Job | undefined;
    for await (const event of this.follow(jobId, options)) if (event.type === "job") last = event.data;
    return last!;
  }

  /** A frame as it was rendered, from when it is accepted; or another file of it, such as one that a File Output node wrote, by the name in its `outputs`. */
  async frameFile(jobId: string, frame: number, { output = "", signal }: Call & { output?: string } = {}): Promise<Uint8Array<ArrayBuffer>> {
    return this.transport.bytes(this.jobPath(jobId, `/frames/${frame}/file`) + (output && `?${new URLSearchParams({ output })}`), { signal });
  }

  /** A small JPEG of an accepted frame. */
  async framePreview(jobId: string, frame: number, { signal }: Call = {}): Promise<Uint8Array<ArrayBuffer>> {
    return this.transport.bytes(this.jobPath(jobId, `/frames/${frame}/preview`), { signal });
  }

  /** Blender's log of the frames accepted so far and of attempts that failed. */
  async log(jobId: string, { signal }: Call = {}): Promise<Uint8Array<ArrayBuffer>> {
    return this.transport.bytes(this.jobPath(jobId, "/log"), { signal });
  }

  /** A JPEG with the frames accepted so far, each with its number; of a long job, an even choice of them. */
  async contactSheet(jobId: string, { signal }: Call = {}): Promise<Uint8Array<ArrayBuffer>> {
    return this.transport.bytes(this.jobPath(jobId, "/contact-sheet"), { signal });
  }

  /** An animated WebP that plays the frames, small and at the scene's speed. */
  async loop(jobId: string, { signal }: Call = {}): Promise<Uint8Array<ArrayBuffer>> {
    return this.transport.bytes(this.jobPath(jobId, "/loop"), { signal });
  }

  // What is delivered.

  /** Saves an MP4 of a completed job's frames at `path`, where it appears whole or not at all. It waits while the service has the movie encoded. ApiError movie_unavailable is for frames that cannot become one. */
  async movie(jobId: string, path: string, { signal }: Call = {}): Promise<void> {
    return saveMovie(this.transport, this.jobPath(jobId, "/movie"), path, signal);
  }

  /** Fetches the ZIP to `path`, where it appears whole, with the promised SHA-256, or not at all. A
  broken download leaves its bytes next to it, in a file with ".part" at its end, from which a later
  call resumes. */
  async download(jobId: string, path: string, options?: Call & { progress?: Progress }): Promise<Artifact>;
  /** Fetches the ZIP into memory, for platforms without a disk. */
  async download(jobId: string, path?: undefined, options?: Call & { progress?: Progress }): Promise<Blob>;
  async download(jobId: string, path?: string, { progress, signal }: Call & { progress?: Progress } = {}): Promise<Artifact | Blob> {
    const artifactOf = () => this.artifact(jobId, signal ? { signal } : {});
    if (path === undefined) return downloadBlob(this.transport, artifactOf, progress, signal);
    return downloadFile(this.transport, artifactOf, path, progress, signal);
  }

  /** Fetches receipt and proof of a job and verifies them with its ZIP. Without `keys` those that the service publishes now are taken. It throws VerificationError, also when a check of the ZIP or the log was not made, and of a receipt of test mode unless `test` takes it for what it is. */
  async verify(jobId: string, artifact: Source, { keys, test = false, pixels = true, signal }: Call & { keys?: Iterable<TrustedKey>; test?: boolean; pixels?: boolean } = {}): Promise<Report> {
    const { text } = await this.transport.exchange("GET", this.jobPath(jobId, "/receipt"), { signal });
    const proof = await this.transport.exchange("GET", this.jobPath(jobId, "/proof"), { signal });
    return verify(text, keys ?? (await this.signingKeys(signal ? { signal } : {})),
      { artifact, proof: proof.text, require: ["artifact", "contents", "frames", "log"], test, pixels });
  }

  // The workspace.

  /** The workspace's jobs, newest first; page after page, as far as the caller goes. `search` is at most four words, each a part of the file's name or of a tag. `from` and `to` are the first and the last day of creation in UTC, such as 2026-11-27. `person` started them, or made the key that did: an address, what is before its @, or a person id. `frames` are frames that a job has, all of them, such as "118" or "1-20,40-60x5". */
  jobs({ status, tag, search, from, to, person, frames, limit, signal }:
    Call & { status?: Job["status"]; tag?: string; search?: string; from?: string; to?: string; person?: string; frames?: string; limit?: number } = {}): AsyncGenerator<Job, void> {
    const filters = given({ status, tag, q: search, from, to, person, frames });
    return this.pages<"job_id", Job>(this.either("/v1/workspace/renders", "/node/v1/jobs"), "renders", "job_id", filters, limit, signal);
  }

  /** The workspace's ledger, newest first. */
  transactions({ limit, signal }: Call & { limit?: number } = {}): AsyncGenerator<Transaction, void> {
    return this.pages<"transaction_id", Transaction>("/v1/wallet/transactions", "transactions", "transaction_id", {}, limit, signal);
  }

  /**
   * What jobs cost, by "month", "person", "key" or "tags": of one month in UTC, such as 2026-11, or of the last 12. Months come newest first,
   * otherwise the row that spent most. It takes an account key.
   */
  async spend({ by = "month", month, signal }: Call & { by?: "month" | "person" | "key" | "tags"; month?: string } = {}): Promise<Schemas["Spend"]> {
    return this.transport.json("GET", `/v1/wallet/spend?${new URLSearchParams({ by, ...(month ? { month } : {}) })}`, { signal });
  }

  /** The workspace's agent keys with what each has spent this month, newest first, revoked ones too. It takes an account key. */
  async agentKeys({ signal }: Call = {}): Promise<Schemas["AgentKeyMetadata"][]> {
    return (await this.transport.json<Schemas["AgentKeyList"]>("GET", "/v1/agent-keys", { signal })).keys;
  }

  /** Ends an agent key at once. It takes an account key. */
  async revokeAgentKey(keyId: string, { signal }: Call = {}): Promise<void> {
    await this.transport.json("DELETE", `/v1/agent-keys/${encodeURIComponent(keyId)}`, { once: true, signal });
  }

  /** The PDF of an invoice. It takes an account key. */
  async invoicePdf(number: string, { signal }: Call = {}): Promise<Uint8Array<ArrayBuffer>> {
    return this.transport.bytes(`/v1/wallet/invoices/${encodeURIComponent(number)}/pdf`, { signal });
  }

  // Printed from sdk/methods by go generate; do not edit.

  /** Spends: accepts the quote, reserves its price and queues the job. Starting a quote again returns the same job and reserves nothing more. `legalAcceptance` is LEGAL_V1. The service refuses a quote above `maxCents`. A webhook secret that the service made comes in this answer only; all tries carry one idempotency key, so that it is not lost with a lost answer. */
  async start(quote: Pick<Quote, "quote_id" | "upload_id">, { legalAcceptance, maxCents, webhookUrl, webhookSecret, tags, idempotencyKey, signal }:
    Call & { legalAcceptance: string; maxCents?: number; webhookUrl?: string; webhookSecret?: string; tags?: string[]; idempotencyKey?: string }): Promise<Job> {
    const value = {
      quote_id: quote.quote_id, legal_acceptance: legalAcceptance, ...(maxCents === undefined ? {} : { max_price_cents: maxCents }),
      ...(webhookUrl ? { webhook_url: webhookUrl } : {}), ...(webhookSecret ? { webhook_secret: webhookSecret } : {}), ...(tags?.length ? { tags } : {}),
    };
    return this.transport.json("POST", `/node/v1/uploads/${encodeURIComponent(quote.upload_id)}/start`,
      { value, idempotencyKey: idempotencyKey || newKey(), signal });
  }

  /** The job as it is now. */
  async job(jobId: string, { signal }: Call = {}): Promise<Job> {
    return this.transport.json("GET", this.jobPath(jobId), { signal });
  }

  /** Ends a job that no worker has claimed yet. It costs nothing. */
  async cancel(jobId: string, { signal }: Call = {}): Promise<Job> {
    return this.transport.json("POST", this.jobPath(jobId, "/cancel"), { signal });
  }

  /** Keeps workers from taking more frames of the job. Frames that they have are finished. */
  async pause(jobId: string, { signal }: Call = {}): Promise<Job> {
    return this.transport.json("POST", this.jobPath(jobId, "/pause"), { signal });
  }

  /** Lets workers take frames of a paused job again. */
  async resume(jobId: string, { signal }: Call = {}): Promise<Job> {
    return this.transport.json("POST", this.jobPath(jobId, "/resume"), { signal });
  }

  /** Orders the job among those of its workspace: a higher priority, 1 to 100, comes first. */
  async setPriority(jobId: string, priority: number, { signal }: Call = {}): Promise<Job> {
    return this.transport.json("PUT", this.jobPath(jobId, "/priority"), { value: { priority }, signal });
  }

  /** Gives the job these tags in place of those that it has: at most 10, of at most 32 characters each. */
  async setTags(jobId: string, tags: string[], { signal }: Call = {}): Promise<Job> {
    return this.transport.json("PUT", this.jobPath(jobId, "/tags"), { value: { tags }, signal });
  }

  /** The frames that are accepted so far, by number. */
  async frames(jobId: string, { signal }: Call = {}): Promise<Frame[]> {
    return (await this.transport.json<Schemas["RenderFrames"]>("GET", this.jobPath(jobId, "/frames"), { signal })).frames;
  }

  /** Where the ZIP of a completed job is. Each call makes a new link. */
  async artifact(jobId: string, { signal }: Call = {}): Promise<Artifact> {
    return (await this.transport.json<Schemas["RenderDownload"]>("GET", this.jobPath(jobId, "/download"), { signal })).download;
  }

  /** The receipt of a completed job. Believe it once it is verified. */
  async receipt(jobId: string, { signal }: Call = {}): Promise<ReceiptAnswer> {
    return this.transport.json("GET", this.jobPath(jobId, "/receipt"), { signal });
  }

  /** The proof that the receipt is in the service's log. */
  async proof(jobId: string, { signal }: Call = {}): Promise<Proof> {
    return this.transport.json("GET", this.jobPath(jobId, "/proof"), { signal });
  }

  /** Makes a public page of the job's frames, and ends an earlier link. Only this answer has the address, share_url. It ends in 30 days unless expires_at, a time in RFC 3339, says otherwise. */
  async share(jobId: string, { expiresAt, download, proof, comments, signal }: Call & { expiresAt?: string; download?: boolean; proof?: boolean; comments?: boolean } = {}): Promise<Share> {
    return this.transport.json("POST", this.jobPath(jobId, "/share"), { idempotencyKey: newKey(), value: { expires_at: expiresAt, download, proof, comments }, signal });
  }

  /** The public page of a job, without its address, and how often it was opened. */
  async jobShare(jobId: string, { signal }: Call = {}): Promise<Share> {
    return this.transport.json("GET", this.jobPath(jobId, "/share"), { signal });
  }

  /** Lets visitors of the job's public page comment on frames, or closes and hides the comments. */
  async allowComments(jobId: string, allowed: boolean, { signal }: Call = {}): Promise<Share> {
    return this.transport.json("PUT", this.jobPath(jobId, "/share/comments"), { value: { allowed }, signal });
  }

  /** What visitors of the job's public pages wrote about frames, newest first. */
  async comments(jobId: string, { signal }: Call = {}): Promise<FrameComment[]> {
    return (await this.transport.json<Schemas["JobComments"]>("GET", this.jobPath(jobId, "/comments"), { signal })).comments;
  }

  /** Ends the public page of a job at once. */
  async unshare(jobId: string, { signal }: Call = {}): Promise<Schemas["ShareEnded"]> {
    return this.transport.json("DELETE", this.jobPath(jobId, "/share"), { once: true, signal });
  }

  /** The public pages of the workspace's jobs, newest first. */
  async shares({ signal }: Call = {}): Promise<Share[]> {
    return (await this.transport.json<Schemas["SharedJobs"]>("GET", this.either("/v1/workspace/shares", "/node/v1/shares"), { signal })).shares;
  }

  /** The searches that the maker of the key has saved in this workspace, by name. Ask for the list of jobs with their members. */
  async savedFilters({ signal }: Call = {}): Promise<SavedFilter[]> {
    return (await this.transport.json<Schemas["FiltersOutput"]>("GET", "/v1/workspace/filters", { signal })).filters;
  }

  /** An inspected upload with its newest quote; one that has expired is replaced. It spends nothing. */
  async upload(uploadId: string, { signal }: Call = {}): Promise<Quote> {
    return this.transport.json("GET", this.uploadPath(uploadId), { signal });
  }

  /** Deletes an upload that no running job needs, which frees its storage at once. */
  async deleteUpload(uploadId: string, { signal }: Call = {}): Promise<Schemas["UploadDeleted"]> {
    return this.transport.json("DELETE", this.uploadPath(uploadId), { once: true, signal });
  }

  /** The keys with which receipts are or were signed. Keep them: keys from the server that you check prove less. */
  async signingKeys({ signal }: Call = {}): Promise<SigningKey[]> {
    return (await this.transport.json<Schemas["SigningKeys"]>("GET", "/v1/signing-keys", { signal })).keys;
  }

  /** The balance. */
  async wallet({ signal }: Call = {}): Promise<Wallet> {
    return this.transport.json("GET", "/v1/wallet", { signal });
  }

  /** Has the workspace told when less than so many cents are available, by mail and by the event wallet.low; 0 means never. It takes an account key. */
  async setWalletAlert(cents: number, { signal }: Call = {}): Promise<Wallet> {
    return this.transport.json("PUT", "/v1/wallet/alert", { value: { below_cents: cents }, signal });
  }

  /** The payments into the wallet, newest first. It takes an account key. */
  topUps({ limit, signal }: Call & { limit?: number } = {}): AsyncGenerator<TopUp, void> {
    return this.pages<"top_up_id", TopUp>("/v1/wallet/top-ups", "top_ups", "top_up_id", {}, limit, signal);
  }

  /** Begins a payment into the wallet. A person pays at checkout_url. It takes an account key. */
  async createTopUp(amountCents: number, { signal }: Call = {}): Promise<TopUp> {
    return this.transport.json("POST", "/v1/wallet/top-ups", { once: true, value: { amount_cents: amountCents }, signal });
  }

  /** A payment into the wallet, which has the money once its status is paid. It takes an account key. */
  async topUp(topUpId: string, { signal }: Call = {}): Promise<TopUp> {
    return this.transport.json("GET", `/v1/wallet/top-ups/${encodeURIComponent(topUpId)}`, { signal });
  }

  /** The invoices, receipts and credit notes of the workspace, newest first. It takes an account key. */
  invoices({ limit, signal }: Call & { limit?: number } = {}): AsyncGenerator<Schemas["Invoice"], void> {
    return this.pages<"number", Schemas["Invoice"]>("/v1/wallet/invoices", "invoices", "number", {}, limit, signal);
  }

  /** An invoice, a receipt or a credit note. It takes an account key. */
  async invoice(number: string, { signal }: Call = {}): Promise<Schemas["Invoice"]> {
    return this.transport.json("GET", `/v1/wallet/invoices/${encodeURIComponent(number)}`, { signal });
  }

  /** The addresses that are told when a job of the workspace ends, newest first. It takes an account key, as all methods about webhooks do. */
  async webhookEndpoints({ signal }: Call = {}): Promise<WebhookEndpoint[]> {
    return (await this.transport.json<Schemas["WebhookEndpoints"]>("GET", "/v1/webhook-endpoints", { signal })).endpoints;
  }

  /** Has an address told when a job of the workspace ends. Without a secret the service makes one, which only this answer has. */
  async createWebhookEndpoint(url: string, { description, secret, signal }: Call & { description?: string; secret?: string } = {}): Promise<WebhookEndpoint> {
    return this.transport.json("POST", "/v1/webhook-endpoints", { once: true, value: { url, description, secret }, signal });
  }

  /** A webhook endpoint. */
  async webhookEndpoint(endpointId: string, { signal }: Call = {}): Promise<WebhookEndpoint> {
    return this.transport.json("GET", `/v1/webhook-endpoints/${encodeURIComponent(endpointId)}`, { signal });
  }

  /** Changes what is given of a webhook endpoint. */
  async updateWebhookEndpoint(endpointId: string, { url, description, enabled, signal }: Call & { url?: string; description?: string; enabled?: boolean } = {}): Promise<WebhookEndpoint> {
    return this.transport.json("PATCH", `/v1/webhook-endpoints/${encodeURIComponent(endpointId)}`, { value: { url, description, enabled }, signal });
  }

  /** Ends a webhook endpoint at once. */
  async deleteWebhookEndpoint(endpointId: string, { signal }: Call = {}): Promise<Schemas["WebhookEndpointDeleted"]> {
    return this.transport.json("DELETE", `/v1/webhook-endpoints/${encodeURIComponent(endpointId)}`, { once: true, signal });
  }

  /** Sends the event webhook.test to an endpoint. */
  async testWebhookEndpoint(endpointId: string, { signal }: Call = {}): Promise<Delivery> {
    return (await this.transport.json<Schemas["WebhookDelivery"]>("POST", `/v1/webhook-endpoints/${encodeURIComponent(endpointId)}/test`, { once: true, signal })).delivery;
  }

  /** Gives an endpoint another secret. Calls are signed with both until previous_expires_at. */
  async rotateWebhookSecret(endpointId: string, { secret, signal }: Call & { secret?: string } = {}): Promise<Schemas["WebhookSecretRotated"]> {
    return this.transport.json("POST", `/v1/webhook-endpoints/${encodeURIComponent(endpointId)}/rotate-secret`, { once: true, value: { secret }, signal });
  }

  /** The calls of an endpoint, newest first, all or those that are pending, delivered or failed. */
  endpointDeliveries(endpointId: string, { status, limit, signal }: Call & { status?: string; limit?: number } = {}): AsyncGenerator<Delivery, void> {
    return this.pages<"delivery_id", Delivery>(`/v1/webhook-endpoints/${encodeURIComponent(endpointId)}/deliveries`, "deliveries", "delivery_id", given({ status }), limit, signal);
  }

  /** Sends an endpoint again what it has not taken since a time in RFC 3339. */
  async redeliverSince(endpointId: string, since: string, { signal }: Call = {}): Promise<Schemas["WebhooksRedelivered"]> {
    return this.transport.json("POST", `/v1/webhook-endpoints/${encodeURIComponent(endpointId)}/redeliver`, { once: true, value: { since }, signal });
  }

  /** The webhook calls about a job, newest first. */
  async webhookDeliveries(jobId: string, { signal }: Call = {}): Promise<Delivery[]> {
    return (await this.transport.json<Schemas["WebhookDeliveries"]>("GET", `/v1/renders/${encodeURIComponent(jobId)}/webhook-deliveries`, { signal })).deliveries;
  }

  /** Makes a webhook call about a job once more. */
  async redeliverWebhook(jobId: string, deliveryId: string, { signal }: Call = {}): Promise<Delivery> {
    return (await this.transport.json<Schemas["WebhookDelivery"]>("POST", `/v1/renders/${encodeURIComponent(jobId)}/webhook-deliveries/${encodeURIComponent(deliveryId)}/redeliver`, { once: true, signal })).delivery;
  }

  /** How renders are priced. */
  async pricing({ signal }: Call = {}): Promise<Schemas["Pricing"]> {
    return this.transport.json("GET", "/v1/pricing", { signal });
  }

  /** The time of the test world. It takes a key of test mode. */
  async testClock({ signal }: Call = {}): Promise<Schemas["TestClock"]> {
    return this.transport.json("GET", "/v1/test/clock", { signal });
  }

  /** Moves the time of the test world forward. */
  async moveTestClock(advanceSeconds: number, { signal }: Call = {}): Promise<Schemas["TestClock"]> {
    return this.transport.json("POST", "/v1/test/clock", { once: true, value: { advance_seconds: advanceSeconds }, signal });
  }

  /** Whether the service answers, and its clock. */
  async health({ signal }: Call = {}): Promise<Schemas["Health"]> {
    return this.transport.json("GET", "/v1/health", { signal });
  }

  /** What the service renders with, and whether it takes jobs. */
  async capabilities({ signal }: Call = {}): Promise<Schemas["Capabilities"]> {
    return this.transport.json("GET", "/v1/capabilities", { signal });
  }

  /** The bounds that the service sets to callers. */
  async limits({ signal }: Call = {}): Promise<Schemas["Limits"]> {
    return this.transport.json("GET", "/v1/limits", { signal });
  }

  // What follows is written by hand.

  /** Any other route that speaks JSON. It is repeated after failures that pass, but a POST, PATCH or DELETE only with an idempotency key. */
  async call<T = Record<string, unknown>>(method: string, path: string, { value, idempotencyKey, signal }: Call & { value?: unknown; idempotencyKey?: string } = {}): Promise<T> {
    const once = !["GET", "HEAD", "PUT"].includes(method) && !idempotencyKey;
    return this.transport.json(method, path, { value, idempotencyKey, once, signal });
  }

  /** The answer of any GET as it came, of 64 MiB at most. Save a receipt so: other writers of JSON give a number another form, in which it is not what was signed. */
  async read(path: string, { signal }: Call = {}): Promise<Uint8Array<ArrayBuffer>> {
    return this.transport.bytes(path, { headers: { Accept: "application/json" }, signal });
  }

  private jobPath(jobId: string, rest = ""): string {
    return `${this.jobsPath}/${encodeURIComponent(jobId)}${rest}`;
  }

  private uploadPath(uploadId: string, rest = ""): string {
    return `${this.uploadsPath}/${encodeURIComponent(uploadId)}${rest}`;
  }

  /** The path of a route that has one for account keys and one for agent keys. */
  private either(account: string, agent: string): string {
    return this.account ? account : agent;
  }

  private async *pages<K extends string, T extends { [key in K]: string }>(path: string, member: string, key: K,
    filters: Record<string, string>, limit = Infinity, signal?: AbortSignal): AsyncGenerator<T, void> {
    let before = "";
    for (let left = limit; left > 0; ) {
      const size = Math.min(left, PAGE);
      const asked = new URLSearchParams({ ...filters, limit: String(size), ...(before ? { before } : {}) });
      const page = (await this.transport.json<Record<string, T[]>>("GET", `${path}?${asked}`, { signal }))[member] ?? [];
      yield* page;
      left -= page.length;
      const last = page[page.length - 1];
      if (!last || page.length < size) return;
      before = last[key];
    }
  }
}

/** Those members that are something. */
function given(members: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(Object.entries(members).filter((entry): entry is [string, string] => Boolean(entry[1])));
}

function chosen(frames: Frames | undefined, settings?: Settings): Settings & { frames?: string } {
  return { ...(frames === undefined ? {} : { frames: framesText(frames) }), ...settings };
}

function idOf(upload: string | Quote): string {
  return encodeURIComponent(typeof upload === "string" ? upload : upload.upload_id);
}

function newKey(): string {
  return crypto.randomUUID?.() ?? Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16)).join("-"); // pages without TLS have no UUIDs
}
