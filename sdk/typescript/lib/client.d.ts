import { type Source } from "./files.js";
import { type Frames } from "./frames.js";
import { type Progress, type ProjectFile } from "./project.js";
import type { Report } from "./report.js";
import { Rendering, type SavedFrame } from "./save.js";
import { type Key, type Options } from "./transport.js";
import { type TrustedKey } from "./verify.js";
import type { Artifact, Delivery, Event, Frame, FrameComment, Job, Preview, Proof, Quote, ReceiptAnswer, SavedFilter, Schemas, Settings, Share, SigningKey, TopUp, Transaction, Wallet, WebhookEndpoint } from "./wire.js";
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
export declare class Client {
    private readonly transport;
    private readonly jobsPath;
    private readonly account;
    private readonly uploadsPath;
    constructor(baseUrl: string, key?: Key, options?: Options);
    /** Uploads a .blend, or a .zip with one, and returns a locked quote. Without `frames` the scene's own range counts. `settings` are what else differs from the file, such as `{ camera: "Far", resolution_percentage: 50 }`. Content without a name needs `filename`. */
    inspect(file: Source, { frames, settings, filename, signal }?: Call & {
        frames?: Frames;
        settings?: Settings;
        filename?: string;
    }): Promise<Quote>;
    /** Uploads the parts of a project that are missing on the service and returns a locked quote for
    its main file, one of the paths of `files`. The same call again continues where an earlier one
    ended: what has arrived is not uploaded again. */
    inspectProject(main: string, files: Iterable<ProjectFile>, { frames, settings, progress, signal }?: Call & {
        frames?: Frames;
        settings?: Settings;
        progress?: Progress;
    }): Promise<Quote>;
    /** A new locked quote for other frames or settings of an inspected upload. */
    quote(upload: string | Quote, frames?: Frames, { settings, signal }?: Call & {
        settings?: Settings;
    }): Promise<Quote>;
    /** A locked quote for frames of an ended job once more, such as "3,7-9". */
    rerender(jobId: string, frames: Frames, { signal }?: Call): Promise<Quote>;
    /** A free preview of a frame; without one, the middle of the quoted range. It returns once the
    preview is "ready", "failed" or "expired", or at once with `wait: false`. */
    preview(upload: string | Quote, { frame, wait, signal }?: Call & {
        frame?: number;
        wait?: boolean;
    }): Promise<Preview>;
    /** The picture of a preview that is ready, a JPEG. */
    previewImage(look: Preview, { signal }?: Call): Promise<Uint8Array<ArrayBuffer>>;
    /** Prices a scene, starts it unless it costs more than `maxCents`, and puts its frames into a folder: iterate over what it returns to get each as it is accepted. At the end the folder has the receipt too, and {@link verifyFolder} has checked all of it. `legalAcceptance` is LEGAL_V1. */
    render(scene: Source, folder: string, { legalAcceptance, maxCents, frames, settings, filename, signal }: Call & {
        legalAcceptance: string;
        maxCents?: number;
        frames?: Frames;
        settings?: Settings;
        filename?: string;
    }): Promise<Rendering>;
    /** Puts each frame of a job into a folder when it is accepted, whole or not at all. It ends with the job; when that is complete, the folder has its receipt, and {@link verifyFolder} has checked all of it. If the scene's output is a movie, it then waits up to ten minutes for `movie.mp4`. The same call again continues. A job that failed or was cancelled throws JobEnded. */
    sync(jobId: string, folder: string, { signal }?: Call): AsyncGenerator<SavedFrame, void>;
    /** Every event of a job once, after the one with the id `after`, up to the one that ends the job. It survives lost connections and restarts, and reads the job itself while no stream is available. `timeout`, in seconds, throws FollowTimeout. */
    follow(jobId: string, { after, timeout, signal }?: Call & {
        after?: string;
        timeout?: number;
    }): AsyncGenerator<Event, void>;
    /** The job once it has ended. A failed or cancelled job is no error: see its status. */
    wait(jobId: string, options?: Call & {
        timeout?: number;
    }): Promise<Job>;
    /** A frame as it was rendered, from when it is accepted; or another file of it, such as one that a File Output node wrote, by the name in its `outputs`. */
    frameFile(jobId: string, frame: number, { output, signal }?: Call & {
        output?: string;
    }): Promise<Uint8Array<ArrayBuffer>>;
    /** A small JPEG of an accepted frame. */
    framePreview(jobId: string, frame: number, { signal }?: Call): Promise<Uint8Array<ArrayBuffer>>;
    /** Blender's log of the frames accepted so far and of attempts that failed. */
    log(jobId: string, { signal }?: Call): Promise<Uint8Array<ArrayBuffer>>;
    /** A JPEG with the frames accepted so far, each with its number; of a long job, an even choice of them. */
    contactSheet(jobId: string, { signal }?: Call): Promise<Uint8Array<ArrayBuffer>>;
    /** An animated WebP that plays the frames, small and at the scene's speed. */
    loop(jobId: string, { signal }?: Call): Promise<Uint8Array<ArrayBuffer>>;
    /** Saves an MP4 of a completed job's frames at `path`, where it appears whole or not at all. It waits while the service has the movie encoded. ApiError movie_unavailable is for frames that cannot become one. */
    movie(jobId: string, path: string, { signal }?: Call): Promise<void>;
    /** Fetches the ZIP to `path`, where it appears whole, with the promised SHA-256, or not at all. A
    broken download leaves its bytes next to it, in a file with ".part" at its end, from which a later
    call resumes. */
    download(jobId: string, path: string, options?: Call & {
        progress?: Progress;
    }): Promise<Artifact>;
    /** Fetches the ZIP into memory, for platforms without a disk. */
    download(jobId: string, path?: undefined, options?: Call & {
        progress?: Progress;
    }): Promise<Blob>;
    /** Fetches receipt and proof of a job and verifies them with its ZIP. Without `keys` those that the service publishes now are taken. It throws VerificationError, also when a check of the ZIP or the log was not made, and of a receipt of test mode unless `test` takes it for what it is. */
    verify(jobId: string, artifact: Source, { keys, test, pixels, signal }?: Call & {
        keys?: Iterable<TrustedKey>;
        test?: boolean;
        pixels?: boolean;
    }): Promise<Report>;
    /** The workspace's jobs, newest first; page after page, as far as the caller goes. `search` is at most four words, each a part of the file's name or of a tag. `from` and `to` are the first and the last day of creation in UTC, such as 2026-11-27. `person` started them, or made the key that did: an address, what is before its @, or a person id. `frames` are frames that a job has, all of them, such as "118" or "1-20,40-60x5". */
    jobs({ status, tag, search, from, to, person, frames, limit, signal }?: Call & {
        status?: Job["status"];
        tag?: string;
        search?: string;
        from?: string;
        to?: string;
        person?: string;
        frames?: string;
        limit?: number;
    }): AsyncGenerator<Job, void>;
    /** The workspace's ledger, newest first. */
    transactions({ limit, signal }?: Call & {
        limit?: number;
    }): AsyncGenerator<Transaction, void>;
    /**
     * What jobs cost, by "month", "person", "key" or "tags": of one month in UTC, such as 2026-11, or of the last 12. Months come newest first,
     * otherwise the row that spent most. It takes an account key.
     */
    spend({ by, month, signal }?: Call & {
        by?: "month" | "person" | "key" | "tags";
        month?: string;
    }): Promise<Schemas["Spend"]>;
    /** The workspace's agent keys with what each has spent this month, newest first, revoked ones too. It takes an account key. */
    agentKeys({ signal }?: Call): Promise<Schemas["AgentKeyMetadata"][]>;
    /** Ends an agent key at once. It takes an account key. */
    revokeAgentKey(keyId: string, { signal }?: Call): Promise<void>;
    /** The PDF of an invoice. It takes an account key. */
    invoicePdf(number: string, { signal }?: Call): Promise<Uint8Array<ArrayBuffer>>;
    /** Spends: accepts the quote, reserves its price and queues the job. Starting a quote again returns the same job and reserves nothing more. `legalAcceptance` is LEGAL_V1. The service refuses a quote above `maxCents`. A webhook secret that the service made comes in this answer only; all tries carry one idempotency key, so that it is not lost with a lost answer. */
    start(quote: Pick<Quote, "quote_id" | "upload_id">, { legalAcceptance, maxCents, webhookUrl, webhookSecret, tags, idempotencyKey, signal }: Call & {
        legalAcceptance: string;
        maxCents?: number;
        webhookUrl?: string;
        webhookSecret?: string;
        tags?: string[];
        idempotencyKey?: string;
    }): Promise<Job>;
    /** The job as it is now. */
    job(jobId: string, { signal }?: Call): Promise<Job>;
    /** Ends a job that no worker has claimed yet. It costs nothing. */
    cancel(jobId: string, { signal }?: Call): Promise<Job>;
    /** Keeps workers from taking more frames of the job. Frames that they have are finished. */
    pause(jobId: string, { signal }?: Call): Promise<Job>;
    /** Lets workers take frames of a paused job again. */
    resume(jobId: string, { signal }?: Call): Promise<Job>;
    /** Orders the job among those of its workspace: a higher priority, 1 to 100, comes first. */
    setPriority(jobId: string, priority: number, { signal }?: Call): Promise<Job>;
    /** Gives the job these tags in place of those that it has: at most 10, of at most 32 characters each. */
    setTags(jobId: string, tags: string[], { signal }?: Call): Promise<Job>;
    /** The frames that are accepted so far, by number. */
    frames(jobId: string, { signal }?: Call): Promise<Frame[]>;
    /** Where the ZIP of a completed job is. Each call makes a new link. */
    artifact(jobId: string, { signal }?: Call): Promise<Artifact>;
    /** The receipt of a completed job. Believe it once it is verified. */
    receipt(jobId: string, { signal }?: Call): Promise<ReceiptAnswer>;
    /** The proof that the receipt is in the service's log. */
    proof(jobId: string, { signal }?: Call): Promise<Proof>;
    /** Makes a public page of the job's frames, and ends an earlier link. Only this answer has the address, share_url. It ends in 30 days unless expires_at, a time in RFC 3339, says otherwise. */
    share(jobId: string, { expiresAt, download, proof, comments, signal }?: Call & {
        expiresAt?: string;
        download?: boolean;
        proof?: boolean;
        comments?: boolean;
    }): Promise<Share>;
    /** The public page of a job, without its address, and how often it was opened. */
    jobShare(jobId: string, { signal }?: Call): Promise<Share>;
    /** Lets visitors of the job's public page comment on frames, or closes and hides the comments. */
    allowComments(jobId: string, allowed: boolean, { signal }?: Call): Promise<Share>;
    /** What visitors of the job's public pages wrote about frames, newest first. */
    comments(jobId: string, { signal }?: Call): Promise<FrameComment[]>;
    /** Ends the public page of a job at once. */
    unshare(jobId: string, { signal }?: Call): Promise<Schemas["ShareEnded"]>;
    /** The public pages of the workspace's jobs, newest first. */
    shares({ signal }?: Call): Promise<Share[]>;
    /** The searches that the maker of the key has saved in this workspace, by name. Ask for the list of jobs with their members. */
    savedFilters({ signal }?: Call): Promise<SavedFilter[]>;
    /** An inspected upload with its newest quote; one that has expired is replaced. It spends nothing. */
    upload(uploadId: string, { signal }?: Call): Promise<Quote>;
    /** Deletes an upload that no running job needs, which frees its storage at once. */
    deleteUpload(uploadId: string, { signal }?: Call): Promise<Schemas["UploadDeleted"]>;
    /** The keys with which receipts are or were signed. Keep them: keys from the server that you check prove less. */
    signingKeys({ signal }?: Call): Promise<SigningKey[]>;
    /** The balance. */
    wallet({ signal }?: Call): Promise<Wallet>;
    /** Has the workspace told when less than so many cents are available, by mail and by the event wallet.low; 0 means never. It takes an account key. */
    setWalletAlert(cents: number, { signal }?: Call): Promise<Wallet>;
    /** The payments into the wallet, newest first. It takes an account key. */
    topUps({ limit, signal }?: Call & {
        limit?: number;
    }): AsyncGenerator<TopUp, void>;
    /** Begins a payment into the wallet. A person pays at checkout_url. It takes an account key. */
    createTopUp(amountCents: number, { signal }?: Call): Promise<TopUp>;
    /** A payment into the wallet, which has the money once its status is paid. It takes an account key. */
    topUp(topUpId: string, { signal }?: Call): Promise<TopUp>;
    /** The invoices, receipts and credit notes of the workspace, newest first. It takes an account key. */
    invoices({ limit, signal }?: Call & {
        limit?: number;
    }): AsyncGenerator<Schemas["Invoice"], void>;
    /** An invoice, a receipt or a credit note. It takes an account key. */
    invoice(number: string, { signal }?: Call): Promise<Schemas["Invoice"]>;
    /** The addresses that are told when a job of the workspace ends, newest first. It takes an account key, as all methods about webhooks do. */
    webhookEndpoints({ signal }?: Call): Promise<WebhookEndpoint[]>;
    /** Has an address told when a job of the workspace ends. Without a secret the service makes one, which only this answer has. */
    createWebhookEndpoint(url: string, { description, secret, signal }?: Call & {
        description?: string;
        secret?: string;
    }): Promise<WebhookEndpoint>;
    /** A webhook endpoint. */
    webhookEndpoint(endpointId: string, { signal }?: Call): Promise<WebhookEndpoint>;
    /** Changes what is given of a webhook endpoint. */
    updateWebhookEndpoint(endpointId: string, { url, description, enabled, signal }?: Call & {
        url?: string;
        description?: string;
        enabled?: boolean;
    }): Promise<WebhookEndpoint>;
    /** Ends a webhook endpoint at once. */
    deleteWebhookEndpoint(endpointId: string, { signal }?: Call): Promise<Schemas["WebhookEndpointDeleted"]>;
    /** Sends the event webhook.test to an endpoint. */
    testWebhookEndpoint(endpointId: string, { signal }?: Call): Promise<Delivery>;
    /** Gives an endpoint another secret. Calls are signed with both until previous_expires_at. */
    rotateWebhookSecret(endpointId: string, { secret, signal }?: Call & {
        secret?: string;
    }): Promise<Schemas["WebhookSecretRotated"]>;
    /** The calls of an endpoint, newest first, all or those that are pending, delivered or failed. */
    endpointDeliveries(endpointId: string, { status, limit, signal }?: Call & {
        status?: string;
        limit?: number;
    }): AsyncGenerator<Delivery, void>;
    /** Sends an endpoint again what it has not taken since a time in RFC 3339. */
    redeliverSince(endpointId: string, since: string, { signal }?: Call): Promise<Schemas["WebhooksRedelivered"]>;
    /** The webhook calls about a job, newest first. */
    webhookDeliveries(jobId: string, { signal }?: Call): Promise<Delivery[]>;
    /** Makes a webhook call about a job once more. */
    redeliverWebhook(jobId: string, deliveryId: string, { signal }?: Call): Promise<Delivery>;
    /** How renders are priced. */
    pricing({ signal }?: Call): Promise<Schemas["Pricing"]>;
    /** The time of the test world. It takes a key of test mode. */
    testClock({ signal }?: Call): Promise<Schemas["TestClock"]>;
    /** Moves the time of the test world forward. */
    moveTestClock(advanceSeconds: number, { signal }?: Call): Promise<Schemas["TestClock"]>;
    /** Whether the service answers, and its clock. */
    health({ signal }?: Call): Promise<Schemas["Health"]>;
    /** What the service renders with, and whether it takes jobs. */
    capabilities({ signal }?: Call): Promise<Schemas["Capabilities"]>;
    /** The bounds that the service sets to callers. */
    limits({ signal }?: Call): Promise<Schemas["Limits"]>;
    /** Any other route that speaks JSON. It is repeated after failures that pass, but a POST, PATCH or DELETE only with an idempotency key. */
    call<T = Record<string, unknown>>(method: string, path: string, { value, idempotencyKey, signal }?: Call & {
        value?: unknown;
        idempotencyKey?: string;
    }): Promise<T>;
    /** The answer of any GET as it came, of 64 MiB at most. Save a receipt so: other writers of JSON give a number another form, in which it is not what was signed. */
    read(path: string, { signal }?: Call): Promise<Uint8Array<ArrayBuffer>>;
    private jobPath;
    private uploadPath;
    /** The path of a route that has one for account keys and one for agent keys. */
    private either;
    private pages;
}
