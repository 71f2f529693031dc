// Made from the service's OpenAPI document by build.mjs. Do not edit.
export interface Schemas {
    Actor: {
        /** @description Their address, shortened. Null where it is not known. */
        email: string | null;
        /** @description The key, where kind is key; otherwise null. */
        key_id: string | null;
        /** @description Its name. */
        key_name: string | null;
        /**
         * @description unknown: nobody is recorded, because it was made before the service recorded it, or because the person was erased. service: it happens automatically.
         * @enum {string}
         */
        kind: "member" | "key" | "operator" | "service" | "unknown";
        /** @description The person; for a key, the one who made it. Null where it is not known. */
        person_id: string | null;
    };
    AgentKeyCreateRequest: {
        /**
         * Format: int64
         * @description After how many days the key ends; none or null = when it is revoked.
         */
        expires_in_days?: number | null;
        /** @description What the key is called. */
        name: string;
        /**
         * Format: int64
         * @description What the key may spend a calendar month (UTC); none or null = no limit.
         */
        spend_limit_cents?: number | null;
        /** @description Makes a key of test mode, svc_agent_test_…: nothing is rendered, and nobody pays. */
        test?: boolean;
    };
    AgentKeyCreated: {
        /** Format: date-time */
        created_at: string;
        /**
         * Format: date-time
         * @description When the key expires; null if it does not.
         */
        expires_at: string | null;
        /** @description The secret, shown this once. */
        key: string;
        key_id: string;
        name: string;
        /** @enum {boolean} */
        ok: true;
        /**
         * Format: int64
         * @description Null = no limit.
         */
        spend_limit_cents: number | null;
    };
    AgentKeyList: {
        /** @description The newest first, revoked ones too. */
        keys: Schemas["AgentKeyMetadata"][];
        /** @enum {boolean} */
        ok: true;
    };
    AgentKeyMetadata: {
        /** Format: date-time */
        created_at: string;
        /** @description Who made the key, or let the program in that has it. */
        created_by: Schemas["Actor"];
        /**
         * Format: date-time
         * @description When the key expires; null if it does not.
         */
        expires_at: string | null;
        key_id: string;
        /**
         * Format: date-time
         * @description Exact to a minute; null when never used.
         */
        last_used_at: string | null;
        /** @description The masked beginning of the key. */
        masked_prefix: string;
        name: string;
        /**
         * Format: date-time
         * @description Null while active.
         */
        revoked_at: string | null;
        /**
         * Format: int64
         * @description What the key may spend a calendar month (UTC); null = no limit.
         */
        spend_limit_cents: number | null;
        /**
         * Format: int64
         * @description What the key has spent in this calendar month (UTC), as its limit counts it.
         */
        spent_cents: number;
    };
    AlertInput: {
        /**
         * Format: int64
         * @description Tell when less than so many cents are available; 0: never.
         */
        below_cents: number;
    };
    ApiKeyCreateRequest: {
        /** @description What the key is called. */
        name: string;
    };
    ApiKeyCreated: {
        /** Format: date-time */
        created_at: string;
        /** @description The secret, shown this once. */
        key: string;
        key_id: string;
        name: string;
        /** @enum {boolean} */
        ok: true;
    };
    ApiKeyList: {
        /** @description The newest first, revoked ones too. */
        keys: Schemas["ApiKeyMetadata"][];
        /** @enum {boolean} */
        ok: true;
    };
    ApiKeyMetadata: {
        /** Format: date-time */
        created_at: string;
        /** @description Who made the key. */
        created_by: Schemas["Actor"];
        key_id: string;
        /**
         * Format: date-time
         * @description Exact to a minute; null when never used.
         */
        last_used_at: string | null;
        /** @description The masked beginning of the key. */
        masked_prefix: string;
        name: string;
        /**
         * Format: date-time
         * @description Null while active.
         */
        revoked_at: string | null;
    };
    ApiKeyRevoked: {
        key_id: string;
        /** @enum {boolean} */
        ok: true;
        /** @enum {boolean} */
        revoked: true;
    };
    Attempt: {
        /** @description The first 1024 bytes of the answer's body. */
        answer: string;
        /** Format: int64 */
        duration_ms: number;
        /** @description Why no answer came. */
        error: string | null;
        /**
         * Format: date-time
         * @description When the next try was due; null when none was.
         */
        next_try_at: string | null;
        /** Format: int64 */
        number: number;
        /** Format: date-time */
        started_at: string;
        /**
         * Format: int64
         * @description Of the answer; null when none came.
         */
        status: number | null;
    };
    Availability: {
        /** @description False: start answers 503 not_accepting_jobs and spends nothing. */
        accepting_jobs: boolean;
        classification: string;
        /** @enum {string} */
        queue_state: "idle" | "busy" | "no_workers";
    };
    AverageDeltas: {
        /**
         * Format: double
         * @description Per cent of all GPUs' results with a lower score than the average of A; null under 3 results.
         */
        average_percentile_a: number | null;
        /**
         * Format: double
         * @description The same of B.
         */
        average_percentile_b: number | null;
        /**
         * Format: double
         * @description That of A less that of B, in percentage points.
         */
        percentile_delta: number | null;
        /**
         * Format: double
         * @description The average render time of A less that of B; below 0 where A is faster.
         */
        render_seconds_delta: number | null;
        /**
         * Format: double
         * @description The same, in per cent of that of B.
         */
        render_seconds_delta_percent: number | null;
        /** Format: int64 */
        sample_count_a: number;
        /** Format: int64 */
        sample_count_b: number;
        /**
         * Format: double
         * @description The average score of A less that of B.
         */
        score_delta: number | null;
        /**
         * Format: double
         * @description The same, in per cent of that of B.
         */
        score_delta_percent: number | null;
    };
    Averages: {
        deltas: Schemas["AverageDeltas"];
    };
    BenchmarkVersions: {
        benchmark_version: string;
        scene_version: string;
        scoring_version: string;
    };
    BrowserSession: {
        email: string;
        /** @enum {boolean} */
        ok: true;
        workspace_id: string;
    };
    Cancellation: {
        method: string;
        /** @description Below the public API's base address. */
        path: string;
        /** @description States in which cancel succeeds. */
        states: string[];
        /** @constant */
        supported: true;
        until: string;
    };
    Capabilities: {
        availability: Schemas["Availability"];
        cancellation: Schemas["Cancellation"];
        contract: string;
        limits: Schemas["Limits"];
        /** @constant */
        ok: true;
        pricing: Schemas["PriceModel"];
        proof: Schemas["ProofForms"];
        renderers: Schemas["OfferedRenderer"][];
        webhooks: Schemas["Webhooks"];
        /** @description A caller's steps, in order. */
        workflow: string[];
    };
    Change: {
        /** @description True for what every frame comes from. */
        all_frames: boolean;
        /** @description The frames that it can change, such as 96-140. */
        frames: string;
        /**
         * @description new: the earlier job does not have these frames. unusable: they show the same, but cannot be taken over.
         * @enum {string}
         */
        how: "changed" | "added" | "removed" | "perhaps changed" | "new" | "unusable";
        /**
         * Format: int64
         * @description Of an action: how many of its keys differ; 0 for others.
         */
        keys: number;
        /** @description Such as material Floor, or action CubeAction. Names come from the file. */
        what: string;
    };
    Changes: {
        /** @description What differs, at most 20. */
        causes: Schemas["Change"][];
        /**
         * Format: int64
         * @description How many more there are.
         */
        causes_left_out: number;
        /** @description Name of that job's file. */
        filename: string;
        /** @description Why a change of any key counts for all frames, such as: it uses a particle system. Empty where it does not. */
        inseparable: string;
        /** @description The job of the workspace that the frames are compared with: the newest of a file with the same name, not counting the number of its version; of any file if there is none. */
        job_id: string;
    };
    ColorConfig: {
        /** @description The default display. */
        display: string;
        /** @description What the scene asks for and the configuration does not have. */
        lacks?: Schemas["ColorLack"][];
        path: string;
        sha256: string;
        /** @description Format version, such as 2.1. */
        version: string;
        /** @description The default view of that display. */
        view: string;
    };
    ColorLack: {
        instead: string;
        kind: string;
        name: string;
        used_by?: string;
        /** Format: int64 */
        workers?: number;
    };
    ColorManagement: {
        /** @description The project's OpenColorIO configuration, with which the scene is rendered; absent where Blender's own is used. */
        config?: Schemas["ColorConfig"];
        /** @description Display device; absent where the output is linear. */
        display?: string;
        /** @description Each colour space of images that the picture needs, with one of them. */
        images?: Schemas["ImageSpace"][];
        /** @description Absent where there is none or the output is linear. */
        look?: string;
        /** @description The colour spaces of movie clips, strips, compositor nodes and images of libraries that the picture needs. */
        others?: Schemas["UsedSpace"][];
        /** @description Colour space of a linear output that has one of its own. */
        output_space?: string;
        /** @description Colour space of the sequencer, where it makes the picture. */
        sequencer_space?: string;
        /** @description View transform; absent where the output is linear. */
        view?: string;
    };
    CommentsRequest: {
        /** @description False closes the comments and hides those that were made. True shows them again. */
        allowed: boolean;
    };
    Compared: {
        /**
         * Format: double
         * @description Without the best and the worst quarter.
         */
        average_render_seconds: number | null;
        /**
         * Format: double
         * @description Without the best and the worst quarter.
         */
        average_score: number | null;
        /** Format: double */
        best_render_seconds: number | null;
        gpu_name: string;
        gpu_slug: string;
        gpu_vendor: string;
        /** Format: date-time */
        last_updated: string | null;
        /** @description The newest of those that are ranked first, at most 25. */
        latest_results: Schemas["LeaderboardRow"][];
        /** Format: double */
        median_render_seconds: number | null;
        /** Format: double */
        median_score: number | null;
        /**
         * Format: int64
         * @description Keys whose newest ranked result is of this GPU.
         */
        sample_count: number;
        /**
         * Format: int64
         * @description Results that nothing was rendered for.
         */
        synthetic_count: number;
        /** Format: double */
        top_score: number | null;
        /** Format: int64 */
        vram_gb: number | null;
    };
    CountedVersions: {
        benchmark_version: string;
        /**
         * Format: int64
         * @description Keys whose newest ranked result under these versions is of this GPU.
         */
        sample_count: number;
        scene_version: string;
        scoring_version: string;
    };
    Delivery: {
        /** @description Oldest first. */
        attempts: Schemas["Attempt"][];
        /** Format: date-time */
        created_at: string;
        /** @description Begins with WHD-. */
        delivery_id: string;
        /** Format: date-time */
        ended_at: string | null;
        endpoint_id: string;
        /** @description The webhook-id of every try; begins with msg_. */
        event_id: string;
        /** @enum {string} */
        event_type: "render.completed" | "render.failed" | "render.cancelled" | "wallet.low" | "webhook.test";
        /** @description Null for a test. */
        job_id: string | null;
        /**
         * Format: date-time
         * @description Null unless pending.
         */
        next_try_at: string | null;
        /**
         * @description Why nothing more is tried.
         * @enum {string|null}
         */
        reason: "exhausted" | "gone" | "endpoint_disabled" | "endpoint_deleted" | null;
        /** @enum {string} */
        status: "pending" | "delivered" | "failed";
        /** Format: int64 */
        tries: number;
        url: string;
    };
    Delta: {
        /**
         * Format: double
         * @description Of A less that of B.
         */
        absolute: number | null;
        /**
         * Format: double
         * @description The same, in per cent of that of B.
         */
        percent: number | null;
    };
    Deltas: {
        /**
         * Format: double
         * @description Per cent of all GPUs' results with a lower score than the average of A; null under 3 results.
         */
        average_percentile_a: number | null;
        /**
         * Format: double
         * @description The same of B.
         */
        average_percentile_b: number | null;
        average_render_seconds: Schemas["Delta"];
        average_score: Schemas["Delta"];
        best_render_seconds: Schemas["Delta"];
        median_render_seconds: Schemas["Delta"];
        median_score: Schemas["Delta"];
        /**
         * Format: double
         * @description That of A less that of B, in percentage points.
         */
        percentile_delta: number | null;
        /**
         * Format: double
         * @description The average render time of A less that of B; below 0 where A is faster.
         */
        render_seconds_delta: number | null;
        /**
         * Format: double
         * @description The same, in per cent of that of B.
         */
        render_seconds_delta_percent: number | null;
        /** Format: int64 */
        sample_count_a: number;
        /** Format: int64 */
        sample_count_b: number;
        /**
         * Format: double
         * @description The average score of A less that of B.
         */
        score_delta: number | null;
        /**
         * Format: double
         * @description The same, in per cent of that of B.
         */
        score_delta_percent: number | null;
        top_score: Schemas["Delta"];
    };
    Done: {
        /** @enum {boolean} */
        ok: true;
    };
    Download: {
        content_type: string;
        /** Format: date-time */
        expires_at: string;
        filename: string;
        sha256: string;
        /** Format: int64 */
        size_bytes: number;
        /** @description Answers GET and HEAD with Range; authorises itself until expires_at. */
        url: string;
    };
    ETARange: {
        /** Format: double */
        high_seconds: number;
        /** Format: double */
        low_seconds: number;
    };
    EmptyImage: {
        node: string;
        /** @description What has the node, such as "material Floor". */
        owner: string;
    };
    Endpoint: {
        /** Format: date-time */
        created_at: string;
        description: string;
        /** Format: date-time */
        disabled_at: string | null;
        /**
         * @description requested: by its owner; failing: nothing was taken for 5 days; gone: it answered 410.
         * @enum {string|null}
         */
        disabled_reason: "requested" | "failing" | "gone" | null;
        /** @description A disabled endpoint is told nothing. */
        enabled: boolean;
        /** @description Begins with WHE-. */
        endpoint_id: string;
        /**
         * Format: date-time
         * @description First failure since the last success; null while it works.
         */
        failing_since: string | null;
        url: string;
    };
    EndpointChangeInput: {
        description?: string;
        /** @description False ends what waits for it; true begins with the next job. */
        enabled?: boolean;
        /** Format: uri */
        url?: string;
    };
    EndpointCreateInput: {
        description?: string;
        /** @description Without it one is made and shown in the answer, once. */
        secret?: string;
        /**
         * Format: uri
         * @description HTTPS address that is told when a job of the workspace ends.
         */
        url: string;
    };
    Envelope: {
        /** @description Base64. */
        payload: string;
        payloadType: string;
        signatures: Schemas["ReceiptSignature"][];
    };
    Error: {
        error: Schemas["ErrorDetail"];
        /**
         * @description Always false on errors.
         * @enum {boolean}
         */
        ok: false;
    };
    ErrorDetail: {
        /** @description Stable machine-readable code. */
        code: string;
        /** @description What helps a program react; its shape depends on code. */
        detail?: unknown;
        /** @description What went wrong, for a person. */
        message: string;
        /** @description The response's X-Request-Id. */
        request_id?: string;
        /**
         * Format: double
         * @description Seconds to wait before the next try.
         */
        retry_after_seconds?: number;
        /** @description True when the same request can succeed later. */
        retryable: boolean;
        /** @description What to do next. */
        suggested_action: string;
    };
    EventOutput: {
        /** @constant */
        ok: true;
    };
    FilterDeletedOutput: {
        /** @constant */
        deleted: true;
        filter_id: string;
        /** @constant */
        ok: true;
    };
    FilterOutput: {
        /** Format: date-time */
        created_at: string;
        /** @description Begins with FLT-. */
        filter_id: string;
        frames: string;
        from: string;
        name: string;
        /** @constant */
        ok: true;
        person: string;
        q: string;
        /** @description Empty for any, as all members that follow. */
        status: string;
        tag: string;
        to: string;
    };
    FilterWish: {
        frames?: string;
        /** @description A day, such as 2026-11-27. */
        from?: string;
        /** @description At most 60 characters, and no other filter of the person has it. */
        name: string;
        person?: string;
        q?: string;
        /**
         * @description As in the list of renders, as all members that follow; absent or empty for any. One of them must be there.
         * @enum {string}
         */
        status?: "" | "awaiting_submit" | "queued" | "rendering" | "packaging" | "completed" | "failed" | "cancelled";
        tag?: string;
        to?: string;
    };
    FiltersOutput: {
        /** @description By name. */
        filters: Schemas["SavedFilter"][];
        /** @constant */
        ok: true;
    };
    Finding: {
        /**
         * @description Stable machine-readable code; see the table of findings.
         * @enum {string}
         */
        code: "black" | "pink" | "uniform" | "blank" | "repeated";
        /** Format: int64 */
        frame_count: number;
        /** @description The frames' numbers and ranges, such as 3,7-9; rerender takes the same. */
        frames: string;
        /** @description What was found, and what it may mean. */
        message: string;
        /** @description What to do if it is not intended. */
        suggested_action: string;
    };
    Frame: {
        checked?: string;
        file: string;
        finding?: string;
        /** Format: int64 */
        frame: number;
        outputs?: Schemas["Output"][];
        pixel_sha256: string;
        /** Format: double */
        render_seconds: number;
        reused?: Schemas["Origin"];
        sha256: string;
        /** Format: int64 */
        size_bytes: number;
        strips?: Schemas["Strip"][];
        times?: Schemas["FrameTimes"];
        version?: string;
    };
    FrameComment: {
        /** @description The name that the visitor typed. Nobody has verified it. Empty if they typed none. */
        author: string;
        /** @description Begins with CMT-. */
        comment_id: string;
        /** Format: date-time */
        created_at: string;
        /**
         * Format: date-time
         * @description When somebody of the workspace marked it as done; null while it is open.
         */
        done_at: string | null;
        /** Format: int64 */
        frame: number;
        job_id: string;
        /** @description What the visitor wrote: plain text, of at most 1000 characters. */
        text: string;
    };
    FrameTimes: {
        /** Format: double */
        encode: number;
        /** Format: double */
        load: number;
        /** Format: double */
        render: number;
        /** Format: double */
        sync: number;
        /** Format: double */
        transfer: number;
        /** Format: double */
        waiting: number;
    };
    GPUShort: {
        /**
         * Format: double
         * @description Without the best and the worst quarter.
         */
        average_score: number;
        /**
         * Format: double
         * @description The average render time, without the best and the worst quarter.
         */
        avg_render_seconds: number;
        /**
         * Format: double
         * @description The same as average_score.
         */
        avg_score: number;
        gpu_name: string;
        gpu_slug: string;
        gpu_vendor: string;
        /** Format: double */
        median_score: number;
        /** Format: int64 */
        sample_count: number;
        /**
         * Format: int64
         * @description The same as sample_count.
         */
        submissions: number;
        /** @description Some of the results were not rendered. */
        synthetic: boolean;
        /** Format: double */
        top_score: number;
        /** Format: int64 */
        vram_gb: number | null;
    };
    Health: {
        /** @enum {boolean} */
        ok: true;
        service: string;
        /**
         * Format: date-time
         * @description The server's time.
         */
        ts: string;
    };
    ImageSpace: {
        image: string;
        space: string;
    };
    Input: {
        filename: string;
        files?: Schemas["InputFile"][];
        project_sha256?: string;
        sha256: string;
        /** Format: int64 */
        size_bytes: number;
    };
    InputConfig: {
        path: string;
        sha256: string;
    };
    InputFile: {
        path: string;
        sha256: string;
        /** Format: int64 */
        size_bytes: number;
    };
    Invoice: {
        buyer: Schemas["Party"];
        /** @description The number of the invoice that a credit note corrects, or of the credit note that an invoice reverses; null otherwise. */
        corrects: string | null;
        /**
         * Format: int64
         * @description What the wallet got, or gave back.
         */
        credit_cents: number;
        currency: string;
        /** Format: date-time */
        issued_at: string;
        /**
         * @description A receipt where the service's operator has named no tax id. A credit note is about a refund or a chargeback.
         * @enum {string}
         */
        kind: "receipt" | "invoice" | "credit_note";
        /** Format: int64 */
        net_cents: number;
        /** @description The seller's words. */
        note: string;
        number: string;
        /**
         * Format: uri
         * @description The PDF, for the same credentials.
         */
        pdf_url: string;
        /**
         * @description Why a document corrects another one. A credit note: the payment was refunded, or its bank took it back for good. An invoice or receipt: the bank gave that back after all. Null otherwise.
         * @enum {string|null}
         */
        reason: "refund" | "chargeback" | "chargeback_won" | null;
        seller: Schemas["Party"];
        /**
         * Format: int64
         * @description The rate of the tax, 1900 for 19 %; null without a tax, or where the payment provider calculated it.
         */
        tax_basis_points: number | null;
        /** Format: int64 */
        tax_cents: number;
        top_up_id: string;
        /**
         * Format: int64
         * @description What was paid, or given back: net and tax.
         */
        total_cents: number;
    };
    InvoiceOutput: {
        buyer: Schemas["Party"];
        /** @description The number of the invoice that a credit note corrects, or of the credit note that an invoice reverses; null otherwise. */
        corrects: string | null;
        /**
         * Format: int64
         * @description What the wallet got, or gave back.
         */
        credit_cents: number;
        currency: string;
        /** Format: date-time */
        issued_at: string;
        /**
         * @description A receipt where the service's operator has named no tax id. A credit note is about a refund or a chargeback.
         * @enum {string}
         */
        kind: "receipt" | "invoice" | "credit_note";
        /** Format: int64 */
        net_cents: number;
        /** @description The seller's words. */
        note: string;
        number: string;
        /** @constant */
        ok: true;
        /**
         * Format: uri
         * @description The PDF, for the same credentials.
         */
        pdf_url: string;
        /**
         * @description Why a document corrects another one. A credit note: the payment was refunded, or its bank took it back for good. An invoice or receipt: the bank gave that back after all. Null otherwise.
         * @enum {string|null}
         */
        reason: "refund" | "chargeback" | "chargeback_won" | null;
        seller: Schemas["Party"];
        /**
         * Format: int64
         * @description The rate of the tax, 1900 for 19 %; null without a tax, or where the payment provider calculated it.
         */
        tax_basis_points: number | null;
        /** Format: int64 */
        tax_cents: number;
        top_up_id: string;
        /**
         * Format: int64
         * @description What was paid, or given back: net and tax.
         */
        total_cents: number;
    };
    InvoicesOutput: {
        /** @description Newest first. */
        invoices: Schemas["Invoice"][];
        /** @constant */
        ok: true;
    };
    JobComments: {
        /** @description The newest first, of all links that the job has had. */
        comments: Schemas["FrameComment"][];
        /** @constant */
        ok: true;
    };
    JobFailure: {
        code: string;
        message: string;
        retryable: boolean;
        suggested_action: string;
    };
    JobShare: {
        /** @description Visitors may comment on frames. */
        comments: boolean;
        /** Format: date-time */
        created_at: string;
        /** @description Visitors may download the frames at full size, and the ZIP. */
        download: boolean;
        /**
         * Format: date-time
         * @description The link ends then.
         */
        expires_at: string;
        /** @description The file that the job rendered. */
        filename: string;
        job_id: string;
        /**
         * Format: date-time
         * @description Null before the first view.
         */
        last_viewed_at: string | null;
        /** @constant */
        ok: true;
        /**
         * Format: int64
         * @description How many comments on the job, from this link or an earlier one, are not done.
         */
        open_comments: number;
        /** @description The page has the proof of the job, which shows its price. */
        proof: boolean;
        /**
         * Format: uri
         * @description The page. It is shown only in the answer that makes the link; null elsewhere.
         */
        share_url: string | null;
        /**
         * Format: int64
         * @description How often the page was opened.
         */
        views: number;
    };
    LeaderboardComparison: {
        /**
         * Format: double
         * @description Per cent of all GPUs' results with a lower score than the average of A; null under 3 results.
         */
        average_percentile_a: number | null;
        /**
         * Format: double
         * @description The same of B.
         */
        average_percentile_b: number | null;
        /** @description The differences of the averages once more. */
        data: Schemas["Averages"];
        deltas: Schemas["Deltas"];
        gpu_a: Schemas["Compared"];
        gpu_b: Schemas["Compared"];
        /** @constant */
        ok: true;
        /**
         * Format: double
         * @description That of A less that of B, in percentage points.
         */
        percentile_delta: number | null;
        /**
         * Format: double
         * @description The average render time of A less that of B; below 0 where A is faster.
         */
        render_seconds_delta: number | null;
        /**
         * Format: double
         * @description The same, in per cent of that of B.
         */
        render_seconds_delta_percent: number | null;
        /** Format: int64 */
        sample_count_a: number;
        /** Format: int64 */
        sample_count_b: number;
        /**
         * Format: double
         * @description The average score of A less that of B.
         */
        score_delta: number | null;
        /**
         * Format: double
         * @description The same, in per cent of that of B.
         */
        score_delta_percent: number | null;
    };
    LeaderboardGPU: {
        /**
         * Format: double
         * @description Without the best and the worst quarter.
         */
        average_render_seconds: number | null;
        /**
         * Format: double
         * @description Without the best and the worst quarter.
         */
        average_score: number | null;
        /** @description Under which versions there are results; the figures are of those of /stats. */
        benchmark_versions: Schemas["CountedVersions"][];
        /** Format: double */
        best_render_seconds: number | null;
        gpu_name: string;
        gpu_slug: string;
        gpu_vendor: string;
        /** Format: date-time */
        last_updated: string | null;
        /** @description The newest of those that are ranked first, at most 25. */
        latest_results: Schemas["LeaderboardRow"][];
        /** Format: double */
        median_render_seconds: number | null;
        /** Format: double */
        median_score: number | null;
        /** @constant */
        ok: true;
        /** @description How many of the GPU's results are in which part of all results; each counts once. Null under 3 results. */
        percentile_distribution: Schemas["PercentileDistribution"] | null;
        /**
         * Format: int64
         * @description Keys whose newest ranked result is of this GPU.
         */
        sample_count: number;
        /**
         * Format: int64
         * @description Results that nothing was rendered for.
         */
        synthetic_count: number;
        /** Format: double */
        top_score: number | null;
        /** @description The newest of those that are not ranked, at most 10; verification says why. */
        unverified_results: Schemas["LeaderboardRow"][];
        /** Format: int64 */
        vram_gb: number | null;
    };
    LeaderboardGPUs: {
        /** @description Under the current versions, those with the most results first; at most 500. */
        gpus: Schemas["GPUShort"][];
        /** @constant */
        ok: true;
        /**
         * Format: int64
         * @description How many there are, those beyond the list too.
         */
        total_gpus: number;
    };
    LeaderboardLatest: {
        /**
         * Format: int64
         * @description As asked, or 25.
         */
        limit: number;
        /** @constant */
        ok: true;
        /**
         * Format: int64
         * @description Results in this answer.
         */
        result_count: number;
        /** @description The same as rows. */
        results: Schemas["LeaderboardRow"][];
        /** @description The newest first, CPUs' results too. */
        rows: Schemas["LeaderboardRow"][];
    };
    LeaderboardRank: {
        /** @constant */
        ok: true;
        /**
         * @description unknown under 3 results.
         * @enum {string}
         */
        percentile_label: "top_1" | "top_5" | "top_10" | "top_25" | "top_50" | "bottom_50" | "unknown";
        /**
         * Format: int64
         * @description One more than the number of results with a higher score; null while there are no results.
         */
        rank: number | null;
        /**
         * Format: int64
         * @description Results that the rank is among.
         */
        sample_count: number;
    };
    LeaderboardResult: {
        /** @description Of the program that measured; null, because receipts do not say it. */
        app_version: string | null;
        /** @description SHA-256 of the scenes' names and the hashes of their references. */
        benchmark_scene_hash: string;
        benchmark_version: string;
        blender_build_hash: string;
        blender_version: string;
        /**
         * Format: date-time
         * @description By the worker's clock.
         */
        completed_at: string;
        cpu_name: string;
        /** Format: date-time */
        created_at: string;
        /** @description What rendered, as the worker named it. */
        device_name: string;
        /** @description The same as gpu_driver; null where that is unknown. */
        driver_version: string | null;
        /** @description The service's record of the result, signed (DSSE, in-toto). */
        envelope: unknown;
        /** @description Among all GPUs' results under equal versions. */
        global: Schemas["Placement"];
        /**
         * @description Among all GPUs' results under equal versions; unknown of a CPU's result and under 3 results.
         * @enum {string}
         */
        global_percentile_label: "top_1" | "top_5" | "top_10" | "top_25" | "top_50" | "bottom_50" | "unknown";
        /**
         * Format: int64
         * @description The rank in global; null of a CPU's result.
         */
        global_rank: number | null;
        /**
         * Format: int64
         * @description Results that global_rank is among; 0 of a CPU's result.
         */
        global_sample_count: number;
        gpu_driver: string;
        /** Format: int64 */
        gpu_memory_bytes: number | null;
        /** @description unknown of a CPU's result. */
        gpu_name: string;
        /**
         * Format: uri
         * @description The GPU's page; null of a result that is not ranked.
         */
        gpu_page_url: string | null;
        /**
         * @description The label in within_gpu.
         * @enum {string}
         */
        gpu_percentile_label: "top_1" | "top_5" | "top_10" | "top_25" | "top_50" | "bottom_50" | "unknown";
        /**
         * Format: int64
         * @description The rank in within_gpu; null of a CPU's result.
         */
        gpu_rank: number | null;
        /**
         * Format: int64
         * @description Results that gpu_rank is among; 0 of a CPU's result.
         */
        gpu_sample_count: number;
        /** @description unknown of a CPU's result. */
        gpu_slug: string;
        gpu_vendor: string;
        /** @description SHA-256 of what the receipt says of the machine; docs/leaderboard-api.md says of which bytes. Equal machines have equal hashes. */
        hardware_probe_hash: string;
        /**
         * Format: int64
         * @description Leaf of the service's record in the log of receipts.
         */
        log_index: number;
        /** @constant */
        ok: true;
        os: string;
        /** Format: uri */
        public_result_url: string;
        /** Format: int64 */
        ram_bytes: number | null;
        /**
         * Format: int64
         * @description ram_bytes in whole GB of 2^30 bytes.
         */
        ram_gb: number | null;
        /**
         * Format: int64
         * @description The same as global_rank.
         */
        rank: number | null;
        /** @description Begins with RCT-. */
        receipt_id: string;
        /** @description The predicate type that the worker signed. */
        receipt_schema_version: string;
        /** @enum {string} */
        render_device: "GPU" | "CPU";
        /**
         * Format: double
         * @description On the clock, summed over the scenes.
         */
        render_seconds: number;
        /**
         * @description synthetic: nothing was rendered.
         * @enum {string}
         */
        renderer: "blender" | "synthetic";
        /** @description Begins with BMR-. */
        result_id: string;
        scene_version: string;
        scenes: Schemas["SceneRun"][];
        /**
         * Format: double
         * @description Samples per minute, summed over the scenes; higher is better.
         */
        score: number;
        score_units: string;
        scoring_version: string;
        /** @description The result in one sentence, with its address. */
        share_text: string;
        /**
         * Format: date-time
         * @description By the worker's clock.
         */
        started_at: string;
        /** @description Nothing was rendered: a test of the service itself. */
        synthetic: boolean;
        /**
         * @description Whether a picture that the service drew was rendered with it. Only verified and synthetic ones are ranked.
         * @enum {string}
         */
        verification: "verified" | "waiting" | "unverified" | "outlier" | "refuted" | "synthetic";
        /** Format: int64 */
        vram_gb: number | null;
        /** @description Among the results of the same GPU under equal versions. */
        within_gpu: Schemas["Placement"];
        /** @description The worker's receipt, signed (DSSE, in-toto). */
        worker_envelope: unknown;
        /** @description Of the key that signed the worker's receipt. */
        worker_key_id: string;
    };
    LeaderboardRow: {
        benchmark_version: string;
        /** Format: date-time */
        created_at: string;
        /** @description What rendered, as the worker named it. */
        device_name: string;
        /**
         * @description Among all GPUs' results under equal versions; unknown of a CPU's result and under 3 results.
         * @enum {string}
         */
        global_percentile_label: "top_1" | "top_5" | "top_10" | "top_25" | "top_50" | "bottom_50" | "unknown";
        /** @description unknown of a CPU's result. */
        gpu_name: string;
        /**
         * Format: uri
         * @description The GPU's page; null of a result that is not ranked.
         */
        gpu_page_url: string | null;
        /** @description unknown of a CPU's result. */
        gpu_slug: string;
        /** Format: uri */
        public_result_url: string;
        /** @description Begins with RCT-. */
        receipt_id: string;
        /** @description The predicate type that the worker signed. */
        receipt_schema_version: string;
        /** @enum {string} */
        render_device: "GPU" | "CPU";
        /**
         * Format: double
         * @description On the clock, summed over the scenes.
         */
        render_seconds: number;
        /** @description Begins with BMR-. */
        result_id: string;
        scene_version: string;
        /**
         * Format: double
         * @description Samples per minute, summed over the scenes; higher is better.
         */
        score: number;
        scoring_version: string;
        /** @description Nothing was rendered: a test of the service itself. */
        synthetic: boolean;
        /**
         * @description Whether a picture that the service drew was rendered with it. Only verified and synthetic ones are ranked.
         * @enum {string}
         */
        verification: "verified" | "waiting" | "unverified" | "outlier" | "refuted" | "synthetic";
        /** Format: int64 */
        vram_gb: number | null;
    };
    LeaderboardSearch: {
        /** @constant */
        ok: true;
        query: string;
        /** Format: int64 */
        result_count: number;
        /** @description GPUs first, by their number of results; then results, the newest first. */
        results: Schemas["SearchHit"][];
    };
    LeaderboardStats: {
        /** Format: double */
        average_score: number | null;
        /** @description Those with the most results, at most 10. */
        common_gpus: Schemas["GPUShort"][];
        /** Format: int64 */
        gpu_count: number;
        /** Format: date-time */
        last_updated: string | null;
        /** Format: double */
        median_score: number | null;
        /** @constant */
        ok: true;
        /** @description What scoring_version computes. */
        score_formula: string;
        /**
         * Format: int64
         * @description How many of these results are synthetic.
         */
        synthetic_submissions: number;
        /** Format: double */
        top_score: number | null;
        /**
         * Format: int64
         * @description Keys whose newest ranked result counts.
         */
        total_submissions: number;
        versions: Schemas["BenchmarkVersions"];
    };
    LeaderboardTop: {
        benchmark_version: string;
        /** @constant */
        ok: true;
        /** @description The best first; of equal scores the earlier. */
        rows: Schemas["LeaderboardTopRow"][];
        /**
         * Format: int64
         * @description Results that the ranks are among.
         */
        sample_count: number;
        scene_version: string;
        scoring_version: string;
    };
    LeaderboardTopRow: {
        benchmark_version: string;
        /** Format: date-time */
        created_at: string;
        /** @description What rendered, as the worker named it. */
        device_name: string;
        /**
         * @description Among all GPUs' results under equal versions; unknown of a CPU's result and under 3 results.
         * @enum {string}
         */
        global_percentile_label: "top_1" | "top_5" | "top_10" | "top_25" | "top_50" | "bottom_50" | "unknown";
        /** @description unknown of a CPU's result. */
        gpu_name: string;
        /**
         * Format: uri
         * @description The GPU's page; null of a result that is not ranked.
         */
        gpu_page_url: string | null;
        /** @description unknown of a CPU's result. */
        gpu_slug: string;
        /** Format: uri */
        public_result_url: string;
        /**
         * Format: int64
         * @description 1 is the best; equal scores have equal ranks.
         */
        rank: number;
        /** @description Begins with RCT-. */
        receipt_id: string;
        /** @description The predicate type that the worker signed. */
        receipt_schema_version: string;
        /** @enum {string} */
        render_device: "GPU" | "CPU";
        /**
         * Format: double
         * @description On the clock, summed over the scenes.
         */
        render_seconds: number;
        /** @description Begins with BMR-. */
        result_id: string;
        scene_version: string;
        /**
         * Format: double
         * @description Samples per minute, summed over the scenes; higher is better.
         */
        score: number;
        scoring_version: string;
        /** @description Nothing was rendered: a test of the service itself. */
        synthetic: boolean;
        /**
         * @description Whether a picture that the service drew was rendered with it. Only verified and synthetic ones are ranked.
         * @enum {string}
         */
        verification: "verified" | "waiting" | "unverified" | "outlier" | "refuted" | "synthetic";
        /** Format: int64 */
        vram_gb: number | null;
    };
    Limits: {
        accepted_extensions: ".blend"[];
        availability: Schemas["LimitsAvailability"];
        /** @description Of the workers that are online, sorted: what renders. Empty while none is. */
        blender_versions?: string[];
        contract: string;
        frame_count: Schemas["Span"];
        /**
         * Format: int64
         * @description Of a workspace within 24 hours; 20 unless the operator set another figure. 0: none.
         */
        free_previews_per_day: number;
        /**
         * Format: int64
         * @description 3 unless the operator set another figure. 0: none.
         */
        free_previews_per_upload: number;
        /**
         * Format: int64
         * @description How long a worker may render a frame; 7200 unless the operator set another figure. A frame that takes longer fails with frame_time_exceeded, and a job that fails costs nothing.
         */
        maximum_frame_seconds: number;
        /** Format: int64 */
        maximum_part_size_bytes: number;
        /** Format: int64 */
        maximum_project_files: number;
        /**
         * Format: int64
         * @description Limit for all files of a project together; 8589934592 unless the operator changed it.
         */
        maximum_project_size_bytes: number;
        /** Format: int64 */
        maximum_upload_size_bytes: number;
        /** @constant */
        ok: true;
        rate_limit: Schemas["RateLimit"];
        render_backend: string;
        required_render_engine: string;
        /**
         * Format: int64
         * @description Bytes of uploads that no job uses, for each workspace; 5368709120 unless the operator set another figure.
         */
        unstarted_storage_bytes: number;
        /** @description Limit for all clients of a workspace together. */
        workspace_rate_limit: Schemas["LimitsBodyWorkspaceRateLimitStruct"];
    };
    LimitsAvailability: {
        classification: string;
    };
    LimitsBodyWorkspaceRateLimitStruct: {
        /**
         * Format: int64
         * @description At once; five times a client's. 0: no limit.
         */
        burst: number;
        /**
         * Format: int64
         * @description In the long run; five times a client's. 0: no limit.
         */
        requests_per_minute: number;
    };
    LinkRequest: {
        /** Format: email */
        email: string;
    };
    LockedQuote: {
        /** @description With reuse: why the other frames are rendered. */
        changes?: Schemas["Changes"];
        /** Format: date-time */
        created_at: string;
        currency: string;
        /** Format: date-time */
        expires_at: string;
        filename: string;
        /** Format: int64 */
        frame_count: number;
        /** Format: int64 */
        frame_end: number;
        /** @description The frames that are priced, such as 1-20, 10-100:5 or 3,7-9. Of a list with gaps, frame_start and frame_end are its ends and frame_step is 1. */
        frame_list: string;
        /** Format: int64 */
        frame_start: number;
        /** Format: int64 */
        frame_step: number;
        /** @description With reuse: the frames that are rendered and paid; empty for none. */
        frames_to_render?: string;
        input_sha256: string;
        /** Format: int64 */
        input_size_bytes: number;
        /**
         * Format: int64
         * @description How long a worker may render a frame; one that takes longer fails with frame_time_exceeded. As /limits says.
         */
        maximum_frame_seconds: number;
        /** @enum {boolean} */
        ok: true;
        /**
         * Format: int64
         * @description Locked price in cents.
         */
        price_cents: number;
        pricing_version: string;
        /** @description True when a frame's work is within the operator's envelope; only then can the quote be started. */
        qualified_1c: boolean;
        quote: Schemas["Quote"];
        /** @description Begins with QTE-. */
        quote_id: string;
        /** @description The job whose frames these are once more; null for none. */
        rerender_of: string | null;
        /**
         * Format: int64
         * @description With reuse: how many frames are taken over from earlier jobs, at no cost.
         */
        reused_frame_count?: number;
        /** @description With reuse: those frames, such as 1-96,140-250; empty for none. */
        reused_frames?: string;
        scene: Schemas["Scene"];
        /** @description What was chosen of the file for these frames; a member that is absent is as in the file. scene is the scene with these settings. */
        settings: Schemas["Settings"];
        /** @enum {string} */
        status: "open" | "accepted" | "expired";
        /** @description What legal_acceptance accepts when the quote is started. */
        terms_url: string;
        upload_id: string;
        warnings: Schemas["Warning"][];
    };
    MissingData: {
        /** @description The library that links it; absent for the main file. */
        from?: string;
        /** @description What kind of data-block it is, such as "object". */
        kind: string;
        /** @description The library that lacks it: its path in the project. */
        library: string;
        name: string;
        /** @description What shows it, such as "collection Props". */
        used_by?: string;
    };
    MissingFile: {
        /** @description The library that names it, packed or in the project, and from which its path counts; absent for the upload itself. */
        from?: string;
        kind: string;
        /** @description The data-block that wants it. */
        owner: string;
        /** @description As written in the file. */
        path: string;
        /** @description What uses that data-block, such as "material Floor". */
        used_by?: string;
    };
    NeededOption: {
        /** @description The library that names it; absent for the upload itself. */
        from?: string;
        /** @description Kind of the file: cache, script, volume, movie or simulation. */
        kind: string;
        /** @enum {string} */
        option: "alembic" | "usd" | "osl" | "openvdb" | "movies";
        /** @description The data-block that wants it. */
        owner?: string;
        /** @description As written in the file; absent for a shader that is in the file itself. */
        path?: string;
    };
    Numbers: {
        /** Format: int64 */
        first: number;
        /** Format: int64 */
        last: number;
    };
    OfferedRenderer: {
        application: string;
        engines: "CYCLES"[];
        id: string;
        input_formats: ".blend"[];
        output_format: string;
        render_device: string;
        version: string;
    };
    Origin: {
        /** Format: int64 */
        log_index: number;
        receipt_id: string;
    };
    Output: {
        name: string;
        sha256: string;
        /** Format: int64 */
        size_bytes: number;
    };
    Part: {
        /** @constant */
        ok: true;
        sha256: string;
        /** Format: int64 */
        size_bytes: number;
    };
    Party: {
        /** @description Lines. */
        address: string;
        name: string;
        tax_id: string;
    };
    PercentileDistribution: {
        /** Format: int64 */
        bottom_50: number;
        /** Format: int64 */
        top_1: number;
        /** Format: int64 */
        top_10: number;
        /** Format: int64 */
        top_25: number;
        /** Format: int64 */
        top_5: number;
        /** Format: int64 */
        top_50: number;
    };
    Placement: {
        /**
         * Format: int64
         * @description Results that the rank is among.
         */
        among: number;
        /** @enum {string} */
        label: "top_1" | "top_5" | "top_10" | "top_25" | "top_50" | "bottom_50" | "unknown";
        /**
         * Format: double
         * @description Per cent of these results that have a lower score; null under 3 results.
         */
        percentile: number | null;
        /**
         * Format: int64
         * @description 1 is the best; equal scores have equal ranks. Null of a CPU's result.
         */
        rank: number | null;
    };
    Preflight: {
        currency: string;
        /**
         * @description A plan that is not gets an error.
         * @constant
         */
        eligible: true;
        /** @description As the service would store it. */
        filename: string;
        /**
         * Format: int64
         * @description From the first frame to the last.
         */
        frame_count: number;
        /**
         * Format: int64
         * @description Last frame.
         */
        frame_end: number;
        /**
         * Format: int64
         * @description First frame.
         */
        frame_start: number;
        /** @constant */
        ok: true;
        /**
         * Format: int64
         * @description For all frames.
         */
        price_cents: number;
        pricing_version: string;
        /**
         * @description This price is a plan; a quote locks one.
         * @constant
         */
        quote_required: true;
        renderer: string;
    };
    PreflightRequest: {
        /** @description Ends with .blend. */
        filename: string;
        /**
         * Format: int64
         * @description Agrees with frame_end; either is enough.
         */
        frame_count?: number;
        /** Format: int64 */
        frame_end?: number;
        /**
         * Format: int64
         * @default 1
         */
        frame_start?: number;
        /**
         * @default blender
         * @enum {string}
         */
        renderer?: "blender";
    };
    Preview: {
        /** Format: date-time */
        created_at: string;
        /** @description What the quoted frames would take; null until the picture was rendered. */
        estimate: Schemas["PreviewEstimate"] | null;
        /**
         * Format: date-time
         * @description When the picture is removed, or a queued preview given up; null for one that has ended without a picture.
         */
        expires_at: string | null;
        /** @description Why there is no picture; null unless failed. */
        failure: Schemas["PreviewFailure"] | null;
        /** @description The warnings of the newest quote, and in front of them what the picture shows that may be wrong. */
        findings: Schemas["Warning"][];
        /** Format: int64 */
        frame: number;
        /** Format: int64 */
        height: number | null;
        /**
         * Format: uri
         * @description The picture, a JPEG; it needs no key and lives 1 h. Null unless ready. Read the preview again for a new one.
         */
        image_url: string | null;
        /** @constant */
        ok: true;
        /** @description Begins with PRV-. */
        preview_id: string;
        /**
         * Format: double
         * @description That the picture took to render; null before.
         */
        seconds: number | null;
        /** @enum {string} */
        status: "queued" | "rendering" | "ready" | "failed" | "expired";
        upload_id: string;
        /**
         * @description Why a queued preview waits; null for others, and while a worker is about to take it.
         * @enum {string|null}
         */
        waiting_reason: "no_worker_online" | "no_capable_worker" | "workers_busy" | null;
        /**
         * Format: int64
         * @description Pixels of the picture; null unless ready.
         */
        width: number | null;
    };
    PreviewEstimate: {
        /** Format: double */
        seconds_per_frame_high: number;
        /**
         * Format: double
         * @description Of one worker.
         */
        seconds_per_frame_low: number;
        /** Format: double */
        total_seconds_high: number | null;
        /**
         * Format: double
         * @description Until the last frame, with the wait for others; null while no worker is online.
         */
        total_seconds_low: number | null;
    };
    PreviewFailure: {
        code: string;
        message: string;
        suggested_action: string;
    };
    PreviewRequest: {
        /**
         * Format: int64
         * @description 1 or above; the middle of the quoted range when it is absent.
         */
        frame?: number;
    };
    PriceModel: {
        /**
         * Format: int64
         * @description Cents for one unit.
         */
        amount_minor: number;
        contract: string;
        currency: string;
        model: string;
        /** Format: int64 */
        quote_lifetime_seconds: number;
        /** @constant */
        quote_required: true;
        unit: string;
    };
    Pricing: {
        /**
         * Format: int64
         * @description Cents for one completed frame.
         */
        amount?: number | null;
        /**
         * Format: int64
         * @description Equal to amount.
         */
        amount_minor?: number | null;
        contract: string;
        currency: string;
        /** @description Null: the price has no end. */
        expires_at?: string | null;
        model: string;
        /** @constant */
        ok: true;
        /** @constant */
        quote_required: true;
    };
    PriorityRequest: {
        /**
         * Format: int64
         * @description Jobs of the workspace with a higher priority come first. A new job has 50.
         */
        priority: number;
    };
    ProjectFile: {
        /** @description SHA-256 of each part, in order; none of a file of 0 bytes. */
        parts: string[];
        /** @description Relative, with "/" between folders, in UTF-8 NFC. */
        path: string;
        /** Format: int64 */
        size_bytes: number;
    };
    ProjectRequest: {
        /** @description Name of the camera for all frames; the scene's own, and those of its markers, when left out. */
        camera?: string;
        files: Schemas["ProjectFile"][];
        /**
         * Format: int64
         * @description Last frame; without it the scene's own.
         */
        frame_end?: number;
        /**
         * Format: int64
         * @description First frame; without it the scene's own.
         */
        frame_start?: number;
        /**
         * Format: int64
         * @description Every how many frames one is rendered; without it the scene's own.
         */
        frame_step?: number;
        /** @description Frames to render: numbers, ranges and ranges with a step, separated by commas, such as 3,7-9 or 10-100x5; or a list of numbers. Replaces frame_start, frame_end and frame_step. */
        frames?: string | number[];
        /** @description Path of the .blend to render, one of the files. */
        main: string;
        /** @description Path in the project of the OpenColorIO configuration with which Blender runs; Blender's own when left out. See the page Colours. */
        ocio?: string;
        /**
         * @description How frames are named: frame (frame_0001, the default) or scene (by the scene's own output path).
         * @enum {string}
         */
        output_name?: "frame" | "scene";
        /**
         * Format: int64
         * @description Size of the pictures in percent of the scene's resolution.
         */
        resolution_percentage?: number;
        /**
         * Format: int64
         * @description Width of the pictures in pixels, before cropping; together with resolution_y and without resolution_percentage.
         */
        resolution_x?: number;
        /**
         * Format: int64
         * @description Height of the pictures in pixels, before cropping.
         */
        resolution_y?: number;
        /** @description True takes over frames that an earlier job of the workspace rendered and whose pictures are the same. They cost nothing. The answer lists them in reused_frames. */
        reuse?: boolean;
        /**
         * Format: int64
         * @description Cycles samples of a pixel; at most the scene's.
         */
        samples?: number;
        /** @description Name of the scene to render; the file's active one when left out. */
        scene?: string;
        /** @description Name of the only view layer to render; all that render when left out or null. */
        view_layer?: string | null;
    };
    Proof: {
        artifact_sha256: string;
        /** @description C2SP tlog-checkpoint: a signed note. */
        checkpoint: string;
        device_name: string;
        /** @description The path from the leaf to the root (RFC 6962 2.1.1), base64, the leaf's neighbour first. */
        inclusion_proof: string[];
        job_id: string;
        /** Format: int64 */
        log_index: number;
        /** @enum {boolean} */
        ok: true;
        /** @enum {string} */
        proof: "receipt_backed";
        /** @description For anybody, while the workspace shows its proofs. */
        proof_page_url: string;
        receipt_id: string;
        receipt_url: string;
        /** @enum {string} */
        render_device: "GPU" | "CPU";
        /** @description blender; synthetic where a frame was painted for a test and not rendered. */
        renderer: string;
        /** @description Of the Blender that really rendered. */
        version: string;
    };
    ProofForms: {
        log: string;
        receipts: string;
        /** Format: uri */
        signing_keys_url: string;
        /** @description Checks a receipt without a network. */
        verify_command: string;
    };
    ProofPagesInput: {
        /** @description False answers 404 for every proof page of the workspace. */
        shown: boolean;
    };
    ProofPagesOutput: {
        /** @constant */
        ok: true;
        shown: boolean;
    };
    Quote: {
        /** @description With reuse: why the other frames are rendered. */
        changes?: Schemas["Changes"];
        /** Format: date-time */
        created_at: string;
        currency: string;
        /** Format: date-time */
        expires_at: string;
        filename: string;
        /** Format: int64 */
        frame_count: number;
        /** Format: int64 */
        frame_end: number;
        /** @description The frames that are priced, such as 1-20, 10-100:5 or 3,7-9. Of a list with gaps, frame_start and frame_end are its ends and frame_step is 1. */
        frame_list: string;
        /** Format: int64 */
        frame_start: number;
        /** Format: int64 */
        frame_step: number;
        /** @description With reuse: the frames that are rendered and paid; empty for none. */
        frames_to_render?: string;
        input_sha256: string;
        /** Format: int64 */
        input_size_bytes: number;
        /**
         * Format: int64
         * @description Locked price in cents.
         */
        price_cents: number;
        pricing_version: string;
        /** @description True when a frame's work is within the operator's envelope; only then can the quote be started. */
        qualified_1c: boolean;
        /** @description Begins with QTE-. */
        quote_id: string;
        /** @description The job whose frames these are once more; null for none. */
        rerender_of: string | null;
        /**
         * Format: int64
         * @description With reuse: how many frames are taken over from earlier jobs, at no cost.
         */
        reused_frame_count?: number;
        /** @description With reuse: those frames, such as 1-96,140-250; empty for none. */
        reused_frames?: string;
        /** @description What was chosen of the file for these frames; a member that is absent is as in the file. scene is the scene with these settings. */
        settings: Schemas["Settings"];
        /** @enum {string} */
        status: "open" | "accepted" | "expired";
        upload_id: string;
        warnings: Schemas["Warning"][];
    };
    QuoteRequest: {
        /** @description Name of the camera for all frames; the scene's own, and those of its markers, when left out. */
        camera?: string;
        /**
         * Format: int64
         * @description Last frame; required with frame_start.
         */
        frame_end?: number;
        /**
         * Format: int64
         * @description First frame, 1 or above; required without frames, unless a setting or reuse is chosen.
         */
        frame_start?: number;
        /**
         * Format: int64
         * @description Every how many frames one is rendered; 1 or above, and 1 by default.
         */
        frame_step?: number;
        /** @description Frames to render: numbers, ranges and ranges with a step, separated by commas, such as 3,7-9 or 10-100x5; or a list of numbers. Replaces frame_start, frame_end and frame_step. */
        frames?: string | number[];
        /** @description Path in the project of the OpenColorIO configuration with which Blender runs; Blender's own when left out. See the page Colours. */
        ocio?: string;
        /**
         * @description How frames are named: frame (frame_0001, the default) or scene (by the scene's own output path).
         * @enum {string}
         */
        output_name?: "frame" | "scene";
        /**
         * Format: int64
         * @description Size of the pictures in percent of the scene's resolution.
         */
        resolution_percentage?: number;
        /**
         * Format: int64
         * @description Width of the pictures in pixels, before cropping; together with resolution_y and without resolution_percentage.
         */
        resolution_x?: number;
        /**
         * Format: int64
         * @description Height of the pictures in pixels, before cropping.
         */
        resolution_y?: number;
        /** @description True takes over frames that an earlier job of the workspace rendered and whose pictures are the same. They cost nothing. The answer lists them in reused_frames. */
        reuse?: boolean;
        /**
         * Format: int64
         * @description Cycles samples of a pixel; at most the scene's.
         */
        samples?: number;
        /** @description Name of the scene to render; the file's active one when left out. */
        scene?: string;
        /** @description Name of the only view layer to render; all that render when left out or null. */
        view_layer?: string | null;
    };
    RateLimit: {
        /**
         * Format: int64
         * @description At once; 20 unless the operator set another figure. 0: no limit.
         */
        burst: number;
        /**
         * Format: int64
         * @description In the long run; 60 unless the operator set another figure. 0: no limit.
         */
        requests_per_minute_per_client: number;
    };
    Receipt: {
        artifact: Schemas["StoredFile"];
        /** Format: int64 */
        charged_cents: number;
        /** Format: date-time */
        completed_at: string;
        currency: string;
        device_name: string;
        /** Format: int64 */
        frame_count: number;
        /** Format: int64 */
        frame_end: number;
        frame_list?: string;
        frame_set?: unknown;
        /** Format: int64 */
        frame_start: number;
        /** Format: int64 */
        frame_step: number;
        frames: Schemas["Frame"][];
        input: Schemas["Input"];
        job_id: string;
        /** Format: int64 */
        log_index: number | null;
        ocio?: Schemas["InputConfig"];
        pricing_version: string;
        quote_id: string;
        receipt_id: string;
        render_device: string;
        /** Format: double */
        render_seconds: number;
        renderer: Schemas["Renderer"];
        settings?: Schemas["Settings"];
        /** Format: date-time */
        started_at: string;
        switched: string[];
        test?: boolean;
        workspace_id: string;
    };
    ReceiptOrigin: {
        job_id: string;
        receipt_id: string;
        receipt_url: string;
    };
    ReceiptSignature: {
        keyid: string;
        /** @description Base64. */
        sig: string;
    };
    RedeliverSinceInput: {
        /**
         * Format: date-time
         * @description Ends of jobs from then on that the endpoint has not taken are sent again.
         */
        since: string;
    };
    Refused: {
        code: string;
        message: string;
    };
    RenderDownload: {
        application: string;
        /**
         * Format: date-time
         * @description When the artifact is removed; in the past, it is gone.
         */
        artifact_expires_at: string | null;
        cancel_reason: string | null;
        cancellable: boolean;
        /** Format: date-time */
        cancelled_at: string | null;
        /** Format: int64 */
        charged_cents: number;
        /** Format: date-time */
        claimed_at: string | null;
        /** Format: date-time */
        completed_at: string | null;
        /** @description The frames in one picture, for the key that read this; null while there is no frame to show, and once the artifact is removed. */
        contact_sheet_url: string | null;
        /** Format: date-time */
        created_at: string;
        currency: string;
        device_name: string | null;
        download: Schemas["Download"];
        /** @description Valid for one hour without a key; each read returns a new URL; null until the job is completed. */
        download_url: string | null;
        engine: string;
        /**
         * @description What eta_seconds rests on: three or more frames of the job, free previews of its upload, the workspace's last completed job over the same file or an edited one, or fewer frames of the job; null when it is.
         * @enum {string|null}
         */
        eta_basis: "job_frames" | "preview" | "similar_scenes" | "first_frames" | null;
        /** @description Where the end lies in eight cases of ten; null when unknown. */
        eta_range: Schemas["ETARange"] | null;
        /**
         * Format: double
         * @description Seconds until the last frame is in, the wait for other jobs included; null when unknown, never 0.
         */
        eta_seconds: number | null;
        /** Format: date-time */
        failed_at: string | null;
        failure: Schemas["JobFailure"] | null;
        filename: string;
        /** @description What a person should look at in the accepted frames, the worst first; empty for nothing. See the table of findings. */
        findings: Schemas["Finding"][];
        /** @enum {string} */
        flow: "job_api" | "public_v1";
        /** Format: int64 */
        frame_count: number;
        /** Format: int64 */
        frame_end: number;
        /** @description The frames to render, such as 1-20, 10-100:5 or 3,7-9. Of a list with gaps, frame_start and frame_end are its ends and frame_step is 1. */
        frame_list: string;
        /** Format: int64 */
        frame_start: number;
        /** Format: int64 */
        frame_step: number;
        /** Format: int64 */
        frames_completed: number;
        input_sha256: string;
        /** Format: int64 */
        input_size_bytes: number;
        /** @description Begins with JOB-. */
        job_id: string;
        /** @description The frames as a small loop that plays, for the key that read this; null when contact_sheet_url is. */
        loop_url: string | null;
        /** @description Only in the answer that creates the job, and only when what is left in the wallet does not cover another job like it. */
        low_balance?: Schemas["Shortage"];
        /** @description The frames as the movie that the scene writes, for the key that read this: it answers 409 movie_not_ready until a worker has encoded it. Null where the scene's output is no movie, until the job is completed, and once the artifact is removed. */
        movie_url: string | null;
        /** @constant */
        ok: true;
        /**
         * @description Set while the job is paused, by its workspace or by an operator. No new frame is rendered until it is resumed; frames in workers' hands are finished. Null otherwise.
         * @enum {string|null}
         */
        paused_by: "workspace" | "operator" | null;
        /** Format: int64 */
        price_cents: number;
        /**
         * Format: int64
         * @description Its priority among the jobs of its workspace: jobs with a higher one come first. 50 unless it was changed; null unless queued or rendering.
         */
        priority: number | null;
        /** Format: double */
        progress_percent: number;
        proof_url: string | null;
        /**
         * Format: int64
         * @description The job's place among the queued jobs in the order in which workers take their first frames, as the turns stand now. 1 = next; 1000 stands for 1000 or more; null unless queued, and while it is paused.
         */
        queue_position: number | null;
        quote_id: string;
        receipt_url: string | null;
        /**
         * @description What was really used; null before.
         * @enum {string|null}
         */
        render_device: "GPU" | "CPU" | null;
        /**
         * Format: double
         * @description Sum over the frames rendered so far.
         */
        render_seconds: number;
        /** @description blender; synthetic where a frame was painted for a test and not rendered. */
        renderer: string;
        /** @description The job whose frames these are once more; null for none. */
        rerender_of: string | null;
        /**
         * Format: int64
         * @description Set aside in the wallet right now.
         */
        reserved_cents: number;
        /**
         * Format: double
         * @description The longest render time among them; null when none is known.
         */
        seconds_per_frame_high: number | null;
        /**
         * Format: double
         * @description The shortest render time among the last 32 frames, or the first ones of a similar job where fewer than three are in; null when none is known.
         */
        seconds_per_frame_low: number | null;
        /** @description What was chosen of the file, as in the quote; a member that is absent is as in the file. */
        settings: Schemas["Settings"];
        /** @description Who started the job. Absent from the data of webhook events, which are kept as they are. */
        started_by?: Schemas["Actor"];
        /**
         * @description Always equal to status.
         * @enum {string}
         */
        state: "awaiting_submit" | "queued" | "rendering" | "packaging" | "completed" | "failed" | "cancelled";
        /** @enum {string} */
        status: "awaiting_submit" | "queued" | "rendering" | "packaging" | "completed" | "failed" | "cancelled";
        /** Format: date-time */
        submitted_at: string | null;
        /** @description What the workspace calls the job, in alphabetical order; at most 10. Each has at most 32 characters, in lower case. */
        tags: string[];
        /** @description True for a job of test mode: nothing is rendered, and nobody pays. Absent otherwise. */
        test?: boolean;
        /** Format: date-time */
        updated_at: string;
        upload_id: string;
        /** @description The renderer's version; once a frame is in, that of the Blender that really rendered. */
        version: string;
        /**
         * @description Why no worker renders a frame of the job: none is online, those online say that they cannot work, none of them may take one, all have another Blender version or other denoising than the frames so far, none has all tags that the workspace requires, all that may render other frames, its workspace has as many frames in workers' hands as it may have, or the job is paused. Null while a frame is rendered, and while a worker is about to take one.
         * @enum {string|null}
         */
        waiting_reason: "no_worker_online" | "workers_unable" | "no_capable_worker" | "no_matching_blender" | "no_tagged_worker" | "workers_busy" | "workspace_limit" | "paused" | null;
        /** @description Whether the job's end is told to anybody. */
        webhook_configured: boolean;
        /** @description Only in the answer that creates the job, and only when the service made it. */
        webhook_secret?: string;
        workspace_id: string;
    };
    RenderFrame: {
        /** Format: date-time */
        accepted_at: string;
        /**
         * @description What the service looked at itself: the decoded pixels, or only the file's structure (docs/pictures.md). null for frames of versions that did not say.
         * @enum {string|null}
         */
        checked: "pixels" | "structure" | null;
        device_name: string;
        file: string;
        /**
         * Format: uri
         * @description The frame as it was rendered, for the same key.
         */
        file_url: string;
        /**
         * @description What a person should look at, as the table of findings says; null for nothing. A frame is found to repeat the one before it once all frames are in.
         * @enum {string|null}
         */
        finding: "not_finite" | "black" | "pink" | "uniform" | "blank" | "repeated" | null;
        /** Format: int64 */
        frame: number;
        /** Format: int64 */
        height: number;
        /** @description The files that Blender wrote besides the picture: those of File Output nodes, other views, previews. Absent without any. */
        outputs?: Schemas["RenderFrameOutput"][];
        /** @description Over the decoded pixels: equal for equal pictures. */
        pixel_sha256: string;
        /**
         * Format: uri
         * @description A small JPEG, for the same key.
         */
        preview_url: string;
        /** @enum {string} */
        render_device: "GPU" | "CPU";
        /** Format: double */
        render_seconds: number;
        sha256: string;
        /** Format: int64 */
        size_bytes: number;
        /**
         * Format: int64
         * @description In how many strips several workers rendered it (docs/stills.md); absent where one worker did.
         */
        strips?: number;
        /** Format: int64 */
        width: number;
    };
    RenderFrameOutput: {
        /**
         * Format: uri
         * @description The file as it was written, for the same key.
         */
        file_url: string;
        /** @description Below outputs/ in the ZIP, with folders. */
        name: string;
        /**
         * Format: uri
         * @description A small JPEG, for the same key. Absent for formats that have none.
         */
        preview_url?: string;
        sha256: string;
        /** Format: int64 */
        size_bytes: number;
    };
    RenderFrames: {
        /** @description Those accepted so far, by number. */
        frames: Schemas["RenderFrame"][];
        job_id: string;
        /** @constant */
        ok: true;
    };
    RenderObject: {
        application: string;
        /**
         * Format: date-time
         * @description When the artifact is removed; in the past, it is gone.
         */
        artifact_expires_at: string | null;
        cancel_reason: string | null;
        cancellable: boolean;
        /** Format: date-time */
        cancelled_at: string | null;
        /** Format: int64 */
        charged_cents: number;
        /** Format: date-time */
        claimed_at: string | null;
        /** Format: date-time */
        completed_at: string | null;
        /** @description The frames in one picture, for the key that read this; null while there is no frame to show, and once the artifact is removed. */
        contact_sheet_url: string | null;
        /** Format: date-time */
        created_at: string;
        currency: string;
        device_name: string | null;
        /** @description Valid for one hour without a key; each read returns a new URL; null until the job is completed. */
        download_url: string | null;
        engine: string;
        /**
         * @description What eta_seconds rests on: three or more frames of the job, free previews of its upload, the workspace's last completed job over the same file or an edited one, or fewer frames of the job; null when it is.
         * @enum {string|null}
         */
        eta_basis: "job_frames" | "preview" | "similar_scenes" | "first_frames" | null;
        /** @description Where the end lies in eight cases of ten; null when unknown. */
        eta_range: Schemas["ETARange"] | null;
        /**
         * Format: double
         * @description Seconds until the last frame is in, the wait for other jobs included; null when unknown, never 0.
         */
        eta_seconds: number | null;
        /** Format: date-time */
        failed_at: string | null;
        failure: Schemas["JobFailure"] | null;
        filename: string;
        /** @description What a person should look at in the accepted frames, the worst first; empty for nothing. See the table of findings. */
        findings: Schemas["Finding"][];
        /** @enum {string} */
        flow: "job_api" | "public_v1";
        /** Format: int64 */
        frame_count: number;
        /** Format: int64 */
        frame_end: number;
        /** @description The frames to render, such as 1-20, 10-100:5 or 3,7-9. Of a list with gaps, frame_start and frame_end are its ends and frame_step is 1. */
        frame_list: string;
        /** Format: int64 */
        frame_start: number;
        /** Format: int64 */
        frame_step: number;
        /** Format: int64 */
        frames_completed: number;
        input_sha256: string;
        /** Format: int64 */
        input_size_bytes: number;
        /** @description Begins with JOB-. */
        job_id: string;
        /** @description The frames as a small loop that plays, for the key that read this; null when contact_sheet_url is. */
        loop_url: string | null;
        /** @description Only in the answer that creates the job, and only when what is left in the wallet does not cover another job like it. */
        low_balance?: Schemas["Shortage"];
        /** @description The frames as the movie that the scene writes, for the key that read this: it answers 409 movie_not_ready until a worker has encoded it. Null where the scene's output is no movie, until the job is completed, and once the artifact is removed. */
        movie_url: string | null;
        /** @constant */
        ok: true;
        /**
         * @description Set while the job is paused, by its workspace or by an operator. No new frame is rendered until it is resumed; frames in workers' hands are finished. Null otherwise.
         * @enum {string|null}
         */
        paused_by: "workspace" | "operator" | null;
        /** Format: int64 */
        price_cents: number;
        /**
         * Format: int64
         * @description Its priority among the jobs of its workspace: jobs with a higher one come first. 50 unless it was changed; null unless queued or rendering.
         */
        priority: number | null;
        /** Format: double */
        progress_percent: number;
        proof_url: string | null;
        /**
         * Format: int64
         * @description The job's place among the queued jobs in the order in which workers take their first frames, as the turns stand now. 1 = next; 1000 stands for 1000 or more; null unless queued, and while it is paused.
         */
        queue_position: number | null;
        quote_id: string;
        receipt_url: string | null;
        /**
         * @description What was really used; null before.
         * @enum {string|null}
         */
        render_device: "GPU" | "CPU" | null;
        /**
         * Format: double
         * @description Sum over the frames rendered so far.
         */
        render_seconds: number;
        /** @description blender; synthetic where a frame was painted for a test and not rendered. */
        renderer: string;
        /** @description The job whose frames these are once more; null for none. */
        rerender_of: string | null;
        /**
         * Format: int64
         * @description Set aside in the wallet right now.
         */
        reserved_cents: number;
        /**
         * Format: double
         * @description The longest render time among them; null when none is known.
         */
        seconds_per_frame_high: number | null;
        /**
         * Format: double
         * @description The shortest render time among the last 32 frames, or the first ones of a similar job where fewer than three are in; null when none is known.
         */
        seconds_per_frame_low: number | null;
        /** @description What was chosen of the file, as in the quote; a member that is absent is as in the file. */
        settings: Schemas["Settings"];
        /** @description Who started the job. Absent from the data of webhook events, which are kept as they are. */
        started_by?: Schemas["Actor"];
        /**
         * @description Always equal to status.
         * @enum {string}
         */
        state: "awaiting_submit" | "queued" | "rendering" | "packaging" | "completed" | "failed" | "cancelled";
        /** @enum {string} */
        status: "awaiting_submit" | "queued" | "rendering" | "packaging" | "completed" | "failed" | "cancelled";
        /** Format: date-time */
        submitted_at: string | null;
        /** @description What the workspace calls the job, in alphabetical order; at most 10. Each has at most 32 characters, in lower case. */
        tags: string[];
        /** @description True for a job of test mode: nothing is rendered, and nobody pays. Absent otherwise. */
        test?: boolean;
        /** Format: date-time */
        updated_at: string;
        upload_id: string;
        /** @description The renderer's version; once a frame is in, that of the Blender that really rendered. */
        version: string;
        /**
         * @description Why no worker renders a frame of the job: none is online, those online say that they cannot work, none of them may take one, all have another Blender version or other denoising than the frames so far, none has all tags that the workspace requires, all that may render other frames, its workspace has as many frames in workers' hands as it may have, or the job is paused. Null while a frame is rendered, and while a worker is about to take one.
         * @enum {string|null}
         */
        waiting_reason: "no_worker_online" | "workers_unable" | "no_capable_worker" | "no_matching_blender" | "no_tagged_worker" | "workers_busy" | "workspace_limit" | "paused" | null;
        /** @description Whether the job's end is told to anybody. */
        webhook_configured: boolean;
        /** @description Only in the answer that creates the job, and only when the service made it. */
        webhook_secret?: string;
        workspace_id: string;
    };
    RenderReceipt: {
        application: string;
        /**
         * Format: date-time
         * @description When the artifact is removed; in the past, it is gone.
         */
        artifact_expires_at: string | null;
        cancel_reason: string | null;
        cancellable: boolean;
        /** Format: date-time */
        cancelled_at: string | null;
        /** Format: int64 */
        charged_cents: number;
        /** Format: date-time */
        claimed_at: string | null;
        /** Format: date-time */
        completed_at: string | null;
        /** @description The frames in one picture, for the key that read this; null while there is no frame to show, and once the artifact is removed. */
        contact_sheet_url: string | null;
        /** Format: date-time */
        created_at: string;
        currency: string;
        device_name: string | null;
        /** @description Valid for one hour without a key; each read returns a new URL; null until the job is completed. */
        download_url: string | null;
        engine: string;
        /** @description The receipt as signed: a DSSE envelope around an in-toto statement. */
        envelope: Schemas["Envelope"];
        /**
         * @description What eta_seconds rests on: three or more frames of the job, free previews of its upload, the workspace's last completed job over the same file or an edited one, or fewer frames of the job; null when it is.
         * @enum {string|null}
         */
        eta_basis: "job_frames" | "preview" | "similar_scenes" | "first_frames" | null;
        /** @description Where the end lies in eight cases of ten; null when unknown. */
        eta_range: Schemas["ETARange"] | null;
        /**
         * Format: double
         * @description Seconds until the last frame is in, the wait for other jobs included; null when unknown, never 0.
         */
        eta_seconds: number | null;
        /** Format: date-time */
        failed_at: string | null;
        failure: Schemas["JobFailure"] | null;
        filename: string;
        /** @description What a person should look at in the accepted frames, the worst first; empty for nothing. See the table of findings. */
        findings: Schemas["Finding"][];
        /** @enum {string} */
        flow: "job_api" | "public_v1";
        /** Format: int64 */
        frame_count: number;
        /** Format: int64 */
        frame_end: number;
        /** @description The frames to render, such as 1-20, 10-100:5 or 3,7-9. Of a list with gaps, frame_start and frame_end are its ends and frame_step is 1. */
        frame_list: string;
        /** Format: int64 */
        frame_start: number;
        /** Format: int64 */
        frame_step: number;
        /** Format: int64 */
        frames_completed: number;
        input_sha256: string;
        /** Format: int64 */
        input_size_bytes: number;
        /** @description Begins with JOB-. */
        job_id: string;
        /** @description The frames as a small loop that plays, for the key that read this; null when contact_sheet_url is. */
        loop_url: string | null;
        /** @description Only in the answer that creates the job, and only when what is left in the wallet does not cover another job like it. */
        low_balance?: Schemas["Shortage"];
        /** @description The frames as the movie that the scene writes, for the key that read this: it answers 409 movie_not_ready until a worker has encoded it. Null where the scene's output is no movie, until the job is completed, and once the artifact is removed. */
        movie_url: string | null;
        /** @constant */
        ok: true;
        /** @description The earlier jobs from which frames were taken over: what frames[].reused names. Their receipts prove those frames. Absent without such frames. */
        origins?: Schemas["ReceiptOrigin"][];
        /**
         * @description Set while the job is paused, by its workspace or by an operator. No new frame is rendered until it is resumed; frames in workers' hands are finished. Null otherwise.
         * @enum {string|null}
         */
        paused_by: "workspace" | "operator" | null;
        /** Format: int64 */
        price_cents: number;
        /**
         * Format: int64
         * @description Its priority among the jobs of its workspace: jobs with a higher one come first. 50 unless it was changed; null unless queued or rendering.
         */
        priority: number | null;
        /** Format: double */
        progress_percent: number;
        proof_url: string | null;
        /**
         * Format: int64
         * @description The job's place among the queued jobs in the order in which workers take their first frames, as the turns stand now. 1 = next; 1000 stands for 1000 or more; null unless queued, and while it is paused.
         */
        queue_position: number | null;
        quote_id: string;
        receipt: Schemas["Receipt"];
        receipt_url: string | null;
        /**
         * @description What was really used; null before.
         * @enum {string|null}
         */
        render_device: "GPU" | "CPU" | null;
        /**
         * Format: double
         * @description Sum over the frames rendered so far.
         */
        render_seconds: number;
        /** @description blender; synthetic where a frame was painted for a test and not rendered. */
        renderer: string;
        /** @description The job whose frames these are once more; null for none. */
        rerender_of: string | null;
        /**
         * Format: int64
         * @description Set aside in the wallet right now.
         */
        reserved_cents: number;
        /**
         * Format: double
         * @description The longest render time among them; null when none is known.
         */
        seconds_per_frame_high: number | null;
        /**
         * Format: double
         * @description The shortest render time among the last 32 frames, or the first ones of a similar job where fewer than three are in; null when none is known.
         */
        seconds_per_frame_low: number | null;
        /** @description What was chosen of the file, as in the quote; a member that is absent is as in the file. */
        settings: Schemas["Settings"];
        /** @description Who started the job. Absent from the data of webhook events, which are kept as they are. */
        started_by?: Schemas["Actor"];
        /**
         * @description Always equal to status.
         * @enum {string}
         */
        state: "awaiting_submit" | "queued" | "rendering" | "packaging" | "completed" | "failed" | "cancelled";
        /** @enum {string} */
        status: "awaiting_submit" | "queued" | "rendering" | "packaging" | "completed" | "failed" | "cancelled";
        /** Format: date-time */
        submitted_at: string | null;
        /** @description What the workspace calls the job, in alphabetical order; at most 10. Each has at most 32 characters, in lower case. */
        tags: string[];
        /** @description True for a job of test mode: nothing is rendered, and nobody pays. Absent otherwise. */
        test?: boolean;
        /** Format: date-time */
        updated_at: string;
        upload_id: string;
        /** @description The renderer's version; once a frame is in, that of the Blender that really rendered. */
        version: string;
        /**
         * @description Why no worker renders a frame of the job: none is online, those online say that they cannot work, none of them may take one, all have another Blender version or other denoising than the frames so far, none has all tags that the workspace requires, all that may render other frames, its workspace has as many frames in workers' hands as it may have, or the job is paused. Null while a frame is rendered, and while a worker is about to take one.
         * @enum {string|null}
         */
        waiting_reason: "no_worker_online" | "workers_unable" | "no_capable_worker" | "no_matching_blender" | "no_tagged_worker" | "workers_busy" | "workspace_limit" | "paused" | null;
        /** @description Whether the job's end is told to anybody. */
        webhook_configured: boolean;
        /** @description Only in the answer that creates the job, and only when the service made it. */
        webhook_secret?: string;
        workspace_id: string;
    };
    Renderer: {
        application: string;
        build_hash: string;
        engine: string;
        id: string;
        version: string;
    };
    RerenderRequest: {
        /** @description Frames of the job, such as 3,7-9, or a list of numbers. A finding's frames can be sent as they are. */
        frames: string | number[];
    };
    RotateInput: {
        /** @description Without it one is made and shown in the answer, once. */
        secret?: string;
    };
    SampleSpan: {
        /**
         * Format: double
         * @description Frame.
         */
        from: number;
        /** Format: int64 */
        most: number;
        /**
         * Format: double
         * @description Frame.
         */
        to: number;
    };
    SavedFilter: {
        /** Format: date-time */
        created_at: string;
        /** @description Begins with FLT-. */
        filter_id: string;
        frames: string;
        from: string;
        name: string;
        person: string;
        q: string;
        /** @description Empty for any, as all members that follow. */
        status: string;
        tag: string;
        to: string;
    };
    Scene: {
        /** @description That Python; none of it is run. */
        autorun_scripts?: Schemas["Script"][];
        /** @description What Blender must be built with for the picture, each with one file that needs it. */
        build_options?: Schemas["NeededOption"][];
        camera?: string;
        /** @description The cameras of the file; camera is the one that is used, and absent where only markers of the timeline or strips bring one. */
        cameras?: string[];
        /** @description What the picture needs of Blender's colour management. */
        color_management?: Schemas["ColorManagement"];
        /** @description True when the scene asks for denoising. */
        denoise: boolean;
        /** @description What of the picture is denoised: "scene NAME", "compositor". */
        denoising: string[];
        /** @description True when a driver or keyframes set the samples. */
        driven_samples: boolean;
        /** @description Image texture nodes of shaders that have no image. */
        empty_images?: Schemas["EmptyImage"][];
        engine: string;
        /** @description True when the scene writes a JPEG next to each OpenEXR picture. It is delivered with the frame. */
        exr_previews?: boolean;
        /** @description Paths of compositor File Output nodes. Their files are delivered with each frame. */
        file_output_nodes: string[];
        /** @description Version of the Blender that saved the file, such as 4.1. */
        file_version: string;
        /** @description What the scene of a project names, with what its libraries name; absent of a .blend that was sent alone. */
        files?: Schemas["SceneFile"][];
        /** @description True when the project has more than the search for files goes through; what is listed is right. */
        files_partial?: boolean;
        /** Format: double */
        fps: number;
        /** Format: int64 */
        frame_end: number;
        /** Format: int64 */
        frame_height: number;
        /** Format: int64 */
        frame_start: number;
        /** Format: int64 */
        frame_step: number;
        /**
         * Format: int64
         * @description Pixels of a picture: the percentage taken, cropped where the scene says so, and both eyes where it has them next to each other.
         */
        frame_width: number;
        /**
         * Format: int64
         * @description Samples of the other view layers together.
         */
        layer_samples?: number;
        /** @description Paths of the .blend files that the picture needs data of, as written. */
        linked_libraries: string[];
        /** @description Data-blocks that the picture needs and that are not in the library from which they are linked. */
        missing_data?: Schemas["MissingData"][];
        /** @description Files that the picture needs and that are not packed into the upload. */
        missing_files: Schemas["MissingFile"][];
        /** @description True when the format is one film; frames are then PNG. */
        movie_output: boolean;
        /** @description True when the scene renders several views. Frames are the first of them; each other view is delivered with its frame. */
        multiview: boolean;
        name: string;
        /** @description A scene of which no view layer is rendered; absent where there is none. */
        no_layer?: string;
        /**
         * Format: int64
         * @description Pixels × samples of the scenes that the sequencer or the compositor shows, at most at a time.
         */
        other_pixel_samples?: number;
        /** @description Blender's name of the still or movie format, such as PNG. */
        output_format: string;
        /** @description How the scene itself names its frames, such as shot_010_####: what output_name scene gives. */
        output_name?: string;
        /**
         * Format: int64
         * @description How many files a frame has besides its picture: those of File Output nodes, views and previews. Absent for none.
         */
        outputs_per_frame?: number;
        /** @description Why the file cannot be rendered without the settings that were chosen. */
        refused?: Schemas["Refused"];
        /** Format: int64 */
        resolution_percentage: number;
        /**
         * Format: int64
         * @description Pixels, before the percentage.
         */
        resolution_x: number;
        /**
         * Format: int64
         * @description Pixels, before the percentage.
         */
        resolution_y: number;
        /** @description The most samples that keyframes set, along the timeline; absent where none do or that cannot be told. */
        sample_keys?: Schemas["SampleSpan"][];
        /**
         * Format: int64
         * @description View layers that are rendered with the scene's samples.
         */
        sample_layers?: number;
        /**
         * Format: int64
         * @description Cycles samples a pixel.
         */
        samples: number;
        /** @description The scenes of the file, of which an order can choose one. */
        scenes?: string[];
        /** @description Names of text blocks; none of them is run. */
        scripts: string[];
        /** @description True when the strips of the sequencer make the picture. */
        sequenced: boolean;
        /** @description Image sequences and volumes that lack numbers which the scene can show. */
        sequences?: Schemas["Sequence"][];
        /** @description What runs from frame to frame in the picture. */
        simulations: Schemas["Simulation"][];
        /** @description True when the scene writes the file's or the computer's name into the picture. */
        stamp_names: boolean;
        /**
         * Format: int64
         * @description Rows of each neighbour that a strip shows, if several workers render a frame; absent where frames are rendered whole.
         */
        strip_overlap?: number;
        /** @description Files of the project that the scene names and Blender cannot read, as far as their first bytes tell. */
        unreadable_files?: Schemas["UnreadableFile"][];
        /** @description Strips that show scenes of other engines than Cycles; they are left out. */
        unrendered?: Schemas["Shot"][];
        /** @description True if the picture may depend on Python that would run automatically. */
        uses_autorun_scripts: boolean;
        /** @description The view layers of the scene, rendered or not. */
        view_layers?: string[];
        /**
         * Format: int64
         * @description How many views are rendered for a frame, such as a left and a right eye; absent where multiview is false.
         */
        views?: number;
        /** @description Why frames are rendered whole; absent where several workers may render one. */
        whole_frames?: string;
        /** @description True when the world of the picture has a volume; newer Blenders do not render it the same way twice. */
        world_volume?: boolean;
    };
    SceneFile: {
        /** @description The .blend of the project that names it. */
        from: string;
        /** @enum {string} */
        kind: "image" | "sequence" | "udim" | "movie" | "volume" | "font" | "sound" | "cache" | "simulation" | "library" | "color_config" | "lut";
        /** @description The data-block that wants it. */
        owner?: string;
        /** @description Path in the project; for a missing file, the path where Blender looks for it. */
        path: string;
        /** @enum {string} */
        status: "found" | "remapped" | "missing" | "packed" | "unused";
        /** @description The path as the .blend has it. */
        stored: string;
        /** @description What uses that data-block, such as "material Floor". */
        used_by?: string;
        /** @description Where Blender looks, of a file that is remapped. */
        wanted?: string;
    };
    SceneRun: {
        /** Format: double */
        difference: number;
        matches_reference: boolean;
        pixel_sha256: string;
        reference_sha256: string;
        /** Format: double */
        render_seconds: number;
        /** Format: int64 */
        samples: number;
        /** Format: double */
        samples_per_minute: number;
        scene: string;
    };
    Script: {
        /** @description The driver's. */
        expression?: string;
        /** @description The library that has it; absent for the upload's own file. */
        from?: string;
        /** @description What has it, such as "object Door" or "text startup.py". */
        owner: string;
        /** @description What a driver sets, as Blender writes it. */
        property?: string;
    };
    SearchHit: {
        gpu_slug: string;
        /**
         * Format: double
         * @description Of a GPU the average.
         */
        render_seconds: number;
        /** @description Of a result. */
        result_id?: string;
        /**
         * Format: int64
         * @description Of a GPU.
         */
        sample_count?: number;
        /**
         * Format: double
         * @description Of a GPU the average; samples per minute.
         */
        score: number;
        /** @description Of a GPU its vendor, memory and number of results; of a result its device and day, and its verification where that is not verified. */
        subtitle: string;
        title: string;
        /** @enum {string} */
        type: "gpu" | "result";
        /** Format: uri */
        url: string;
    };
    Sequence: {
        /** @description The library that names it; absent for the main file. */
        from?: string;
        /** @description As in files. */
        kind: string;
        /** @description The numbers that are not there, of those that can be shown. */
        lacks: Schemas["Numbers"][];
        /** @description The data-block that wants it. */
        owner: string;
        /** @description Where its first file is in the project. */
        path: string;
        /** @description What uses that data-block, such as "material Floor". */
        used_by?: string;
        /** @description How the picture shows it. */
        uses: Schemas["Use"][];
    };
    Settings: {
        /** @description Name of the camera for all frames; the scene's own, and those of its markers, when left out. */
        camera?: string;
        /** @description Path in the project of the OpenColorIO configuration with which Blender runs; Blender's own when left out. See the page Colours. */
        ocio?: string;
        /**
         * @description How frames are named: frame (frame_0001, the default) or scene (by the scene's own output path).
         * @enum {string}
         */
        output_name?: "frame" | "scene";
        /**
         * Format: int64
         * @description Size of the pictures in percent of the scene's resolution.
         */
        resolution_percentage?: number;
        /**
         * Format: int64
         * @description Width of the pictures in pixels, before cropping; together with resolution_y and without resolution_percentage.
         */
        resolution_x?: number;
        /**
         * Format: int64
         * @description Height of the pictures in pixels, before cropping.
         */
        resolution_y?: number;
        /**
         * Format: int64
         * @description Cycles samples of a pixel; at most the scene's.
         */
        samples?: number;
        /** @description Name of the scene to render; the file's active one when left out. */
        scene?: string;
        /** @description Name of the only view layer to render; all that render when left out or null. */
        view_layer?: string | null;
    };
    ShareEnded: {
        /** @constant */
        deleted: true;
        job_id: string;
        /** @constant */
        ok: true;
    };
    ShareRequest: {
        /** @description Let visitors comment on frames. Everyone with the link sees the comments. */
        comments?: boolean;
        /** @description Let visitors download the frames at full size, and the ZIP. */
        download?: boolean;
        /**
         * Format: date-time
         * @description When the link ends, at most 365 days from now. 30 days from now unless you say otherwise.
         */
        expires_at?: string;
        /** @description Show the proof of the job, which includes its price. True unless you say otherwise, while the workspace publishes its proof pages. */
        proof?: boolean;
    };
    SharedJob: {
        /** @description Visitors may comment on frames. */
        comments: boolean;
        /** Format: date-time */
        created_at: string;
        /** @description Visitors may download the frames at full size, and the ZIP. */
        download: boolean;
        /**
         * Format: date-time
         * @description The link ends then.
         */
        expires_at: string;
        /** @description The file that the job rendered. */
        filename: string;
        job_id: string;
        /**
         * Format: date-time
         * @description Null before the first view.
         */
        last_viewed_at: string | null;
        /**
         * Format: int64
         * @description How many comments on the job, from this link or an earlier one, are not done.
         */
        open_comments: number;
        /** @description The page has the proof of the job, which shows its price. */
        proof: boolean;
        /**
         * Format: uri
         * @description The page. It is shown only in the answer that makes the link; null elsewhere.
         */
        share_url: string | null;
        /**
         * Format: int64
         * @description How often the page was opened.
         */
        views: number;
    };
    SharedJobs: {
        /** @constant */
        ok: true;
        /** @description The links that work, the newest first. */
        shares: Schemas["SharedJob"][];
    };
    Shortage: {
        /** Format: int64 */
        available_cents: number;
        /** Format: int64 */
        required_cents: number;
    };
    Shot: {
        engine: string;
        /**
         * Format: int64
         * @description First frame in which it may be seen; absent with last where that is not known.
         */
        first?: number;
        /** Format: int64 */
        last?: number;
        scene: string;
        strip: string;
    };
    SignedOut: {
        /** @enum {boolean} */
        ok: true;
    };
    SigningKey: {
        /** @enum {string} */
        algorithm: "ed25519";
        /** @description No end is set. */
        current: boolean;
        /** @description The log's checkpoint of that moment, signed by the key that signs now. Null with end_log_size. */
        end_checkpoint: string | null;
        /**
         * Format: int64
         * @description Leaves of the log when it ended: a receipt that it signed is good as an earlier leaf only. Null: it has not ended, or less than a minute ago.
         */
        end_log_size: number | null;
        /**
         * @description Why its end is set. Compromised: somebody else may have it, and no checkpoint that it signed counts. Null: no end is set.
         * @enum {string|null}
         */
        end_reason: "superseded" | "compromised" | null;
        /** @description SHA-256 of the raw public key, in hex. */
        key_id: string;
        public_key_pem: string;
        /** Format: date-time */
        valid_from: string;
        /**
         * Format: date-time
         * @description Nothing is signed with it from then on; what it has signed stays good. Null: no end is set.
         */
        valid_to: string | null;
    };
    SigningKeys: {
        /** @description The newest first. */
        keys: Schemas["SigningKey"][];
        /** @enum {boolean} */
        ok: true;
    };
    Simulation: {
        /** @description Blender reads each frame from a bake. */
        baked: boolean;
        /** @description Each frame is stored in the file, without a bake. */
        cached: boolean;
        /**
         * Format: int64
         * @description First frame of the simulation's own range; 0 if it has none.
         */
        first_frame: number;
        /** @description The folder of its bake, as written; absent where the bake is in the file or there is none. */
        folder?: string;
        /** @description The library that has the object, packed or in the project; absent for the upload itself. */
        from?: string;
        /** @description cloth, soft_body, rigid_body, particles, hair_dynamics, dynamic_paint, fluid or simulation_nodes. */
        kind: string;
        /** Format: int64 */
        last_frame: number;
        object: string;
    };
    Span: {
        /** Format: int64 */
        maximum: number;
        /** Format: int64 */
        minimum: number;
    };
    Spend: {
        /**
         * Format: int64
         * @description In all rows, those that are left out too.
         */
        charged_cents: number;
        currency: string;
        /** @constant */
        ok: true;
        /** Format: int64 */
        refunded_cents: number;
        /** @description Months newest first, otherwise the row that spent most first. */
        rows: Schemas["SpendRow"][];
        /**
         * Format: int64
         * @description How many more there are.
         */
        rows_left_out: number;
        /** Format: int64 */
        spent_cents: number;
    };
    SpendRow: {
        /**
         * Format: int64
         * @description For jobs that completed.
         */
        charged_cents: number;
        /** @description By month: which. */
        month?: string;
        /** Format: int64 */
        refunded_cents: number;
        /**
         * Format: int64
         * @description The difference: below zero with more refunds than charges.
         */
        spent_cents: number;
        /** @description By person: the person, with what their keys started. By key: the key; absent for the browser. */
        started_by?: Schemas["Actor"];
        /** @description By tags: which; absent for jobs without. */
        tags?: string[];
    };
    StartRequest: {
        /**
         * @description Accepts the terms.
         * @enum {string}
         */
        legal_acceptance: "SVC_LEGAL_V1";
        /**
         * Format: int64
         * @description The most that the quote may cost. A dearer one is refused with price_above_max, and nothing is started.
         */
        max_price_cents?: number;
        /** @description From inspect or quote. */
        quote_id: string;
        /** @description What the workspace calls the job: at most 10 tags, each of at most 32 characters without commas; they are kept in lower case. Without them, a job that renders frames again has the tags of the earlier one. */
        tags?: string[];
        /** @description Signs what is sent: whsec_ and base64, or any text, at most 512 characters. Without it one is made and shown in the answer, once. */
        webhook_secret?: string;
        /**
         * Format: uri
         * @description HTTPS address that is told when the job ends.
         */
        webhook_url?: string;
    };
    StoredFile: {
        filename: string;
        sha256: string;
        /** Format: int64 */
        size_bytes: number;
    };
    Strip: {
        above?: string;
        alike?: boolean;
        below?: string;
        /** Format: int64 */
        from: number;
        sha256: string;
        /** Format: int64 */
        to: number;
    };
    TagsRequest: {
        /** @description At most 10, each of at most 32 characters without commas; they are kept in lower case. An empty list removes all. */
        tags: string[];
    };
    TestClock: {
        /**
         * Format: double
         * @description By how much it is ahead of the real time.
         */
        moved_seconds: number;
        /**
         * Format: date-time
         * @description The time of the test world.
         */
        now: string;
        /** @enum {boolean} */
        ok: true;
    };
    TestClockRequest: {
        /**
         * Format: double
         * @description By how much the clock goes forward, in seconds.
         */
        advance_seconds?: number | null;
        /**
         * Format: date-time
         * @description What the clock says from now on; not in its past. Instead of advance_seconds.
         */
        now?: string | null;
    };
    TopUp: {
        /** Format: int64 */
        amount_cents: number;
        /** @description The page of the payment provider where a person pays; null unless the status is open. */
        checkout_url: string | null;
        /** Format: date-time */
        created_at: string;
        currency: string;
        /**
         * Format: date-time
         * @description When the wallet got it; null until then.
         */
        paid_at: string | null;
        /** @description The provider's invoice or receipt; null until it is paid. */
        receipt_url: string | null;
        /**
         * @description The wallet has the money from paid on.
         * @enum {string}
         */
        status: "created" | "open" | "paid" | "failed" | "expired" | "refunded" | "disputed";
        top_up_id: string;
    };
    TopUpInput: {
        /**
         * Format: int64
         * @description What the wallet gets, in US cents. Tax, where there is one, comes on top.
         */
        amount_cents: number;
    };
    TopUpOutput: {
        /** Format: int64 */
        amount_cents: number;
        /** @description The page of the payment provider where a person pays; null unless the status is open. */
        checkout_url: string | null;
        /** Format: date-time */
        created_at: string;
        currency: string;
        /** @constant */
        ok: true;
        /**
         * Format: date-time
         * @description When the wallet got it; null until then.
         */
        paid_at: string | null;
        /** @description The provider's invoice or receipt; null until it is paid. */
        receipt_url: string | null;
        /**
         * @description The wallet has the money from paid on.
         * @enum {string}
         */
        status: "created" | "open" | "paid" | "failed" | "expired" | "refunded" | "disputed";
        top_up_id: string;
    };
    TopUpsOutput: {
        /** @constant */
        ok: true;
        /** @description Newest first. */
        top_ups: Schemas["TopUp"][];
    };
    UnreadableFile: {
        /** @description The library that names it; absent for the main file. */
        from?: string;
        /** @description As in files; "light" is an IES profile, and "script" a shader. */
        kind: string;
        /** @description The data-block that wants it. */
        owner: string;
        /** @description Where it is in the project. */
        path: string;
        /** @description What uses that data-block, such as "material Floor". */
        used_by?: string;
        /** @description Why it cannot be read, such as "is a Git LFS pointer, not a picture". */
        why: string;
    };
    UploadDeleted: {
        /** @constant */
        deleted: true;
        /** @constant */
        ok: true;
        upload_id: string;
    };
    Use: {
        /**
         * Format: int64
         * @description How many pictures there are.
         */
        frames: number;
        /**
         * Format: int64
         * @description Added to the number of a picture, which begins with 1.
         */
        offset: number;
        /**
         * @description What is shown before and after.
         * @enum {string}
         */
        rule: "hold" | "cycle" | "clip" | "extend" | "ping_pong";
        /**
         * Format: int64
         * @description The frame in which the first picture is shown.
         */
        start: number;
    };
    UsedSpace: {
        space: string;
        used_by: string;
    };
    Wallet: {
        /**
         * Format: int64
         * @description The workspace is told when less is available; null: never.
         */
        alert_below_cents: number | null;
        /**
         * Format: int64
         * @description Can be spent.
         */
        available_cents: number;
        currency: string;
        /**
         * Format: int64
         * @description The most that its jobs may cost in a calendar day (UTC), as the operator set it; null: no limit.
         */
        daily_limit_cents: number | null;
        /** @description What is available does not cover another job like the newest; null when it does. */
        low_balance: Schemas["Shortage"] | null;
        /**
         * Format: int64
         * @description The most that the person behind the credential may spend in this workspace in a calendar month (UTC), as an owner set it; null: no limit.
         */
        monthly_limit_cents: number | null;
        /** @constant */
        ok: true;
        /**
         * Format: int64
         * @description Taken back of payments after it was spent. What comes in pays it first.
         */
        owed_cents: number;
        /**
         * Format: int64
         * @description Set aside for jobs that have not ended.
         */
        reserved_cents: number;
        /**
         * Format: int64
         * @description What counts towards the person's monthly limit; null: no limit.
         */
        spent_this_month_cents: number | null;
        /**
         * Format: int64
         * @description What counts towards the daily limit today; null: no limit.
         */
        spent_today_cents: number | null;
        workspace_id: string;
    };
    WalletTransaction: {
        /** Format: int64 */
        amount_cents: number;
        /** Format: date-time */
        created_at: string;
        currency: string;
        job_id: string | null;
        /** @enum {string} */
        kind: "credit" | "reserve" | "capture" | "release" | "refund" | "top_up" | "top_up_refund" | "chargeback" | "chargeback_won" | "settlement";
        /** @description Happens once for its kind. */
        reference: string;
        /** @description Who started the job, or began the payment; the operator for credit and refunds. */
        started_by: Schemas["Actor"];
        transaction_id: string;
    };
    WalletTransactions: {
        /** @constant */
        ok: true;
        /** @description Newest first. */
        transactions: Schemas["WalletTransaction"][];
    };
    Warning: {
        /** @description Stable machine-readable code; see the table of warnings. */
        code: string;
        detail?: unknown;
        /** @description What was found, and what is rendered instead. */
        message: string;
        /**
         * @description What the warning affects. Warnings are sorted by severity, worst first.
         * @enum {string}
         */
        severity?: "picture" | "result" | "time";
        /** @description What the artist can do. */
        suggested_action?: string;
    };
    WebhookDeliveries: {
        /** @description Newest first. */
        deliveries: Schemas["Delivery"][];
        /** @constant */
        ok: true;
    };
    WebhookDelivery: {
        delivery: Schemas["Delivery"];
        /** @constant */
        ok: true;
    };
    WebhookEndpoint: {
        /** Format: date-time */
        created_at: string;
        description: string;
        /** Format: date-time */
        disabled_at: string | null;
        /**
         * @description requested: by its owner; failing: nothing was taken for 5 days; gone: it answered 410.
         * @enum {string|null}
         */
        disabled_reason: "requested" | "failing" | "gone" | null;
        /** @description A disabled endpoint is told nothing. */
        enabled: boolean;
        /** @description Begins with WHE-. */
        endpoint_id: string;
        /**
         * Format: date-time
         * @description First failure since the last success; null while it works.
         */
        failing_since: string | null;
        /** @constant */
        ok: true;
        /** @description Only in the answer that makes it, and only when the service made it. */
        secret?: string;
        url: string;
    };
    WebhookEndpointDeleted: {
        /** @constant */
        deleted: true;
        endpoint_id: string;
        /** @constant */
        ok: true;
    };
    WebhookEndpoints: {
        /** @description Newest first. */
        endpoints: Schemas["Endpoint"][];
        /** @constant */
        ok: true;
    };
    WebhookSecretRotated: {
        endpoint_id: string;
        /** @constant */
        ok: true;
        /**
         * Format: date-time
         * @description Until then the secret before signs too.
         */
        previous_expires_at: string;
        /** @description Shown this once; absent when you gave it. */
        secret?: string;
    };
    Webhooks: {
        delivery_model: string;
        /** @constant */
        private_network_targets_allowed: false;
        /** @constant */
        redirects_allowed: false;
        /** @constant */
        signed: true;
        /** @constant */
        supported: true;
        terminal_events: ("render.completed" | "render.failed" | "render.cancelled")[];
        transport: string;
    };
    WebhooksRedelivered: {
        endpoint_id: string;
        /** @constant */
        ok: true;
        /**
         * Format: int64
         * @description How many deliveries now wait to be made.
         */
        redelivered: number;
    };
    WorkspaceRenders: {
        /** @constant */
        ok: true;
        /** @description Newest first. */
        renders: Schemas["RenderObject"][];
    };
}
