/** One call over HTTP, with retries. */
import { ApiError, ConnectionFailed, ForeignAnswer, SvcError, member, passingStatus, seconds } from "./errors.js";
export const VERSION = "0.1.0";
/** Bounds an answer that is read into memory, bytes. */
const MAX_ANSWER = 64 << 20;
const FIRST_WAIT = 0.25, LONGEST_WAIT = 10; // seconds
/** For how long one call waits for a rate limit without counting that as a try, seconds. */
const PATIENCE = 120;
/** An open response whose body fails when it stays silent for too long. */
export class Answer {
    call;
    response;
    guard;
    status;
    headers;
    constructor(call, response, guard) {
        this.call = call;
        this.response = response;
        this.guard = guard;
        this.status = response.status;
        this.headers = response.headers;
    }
    /** The body, piece by piece. Leaving the loop closes the connection. */
    async *chunks() {
        const reader = this.response.body?.getReader();
        try {
            while (reader) {
                this.guard.watch();
                const { done, value } = await reader.read();
                this.guard.rest(); // the caller may take its time
                if (done)
                    return;
                yield value;
            }
        }
        catch (cause) {
            throw this.guard.failure(this.call, cause);
        }
        finally {
            await this.close();
        }
    }
    /** Closes the connection. */
    async close() {
        this.guard.end();
        if (!this.response.body?.locked)
            await this.response.body?.cancel().catch(() => undefined);
    }
    /** The whole of it, of 64 MiB at most. */
    async bytes() {
        const parts = [];
        let size = 0;
        for await (const part of this.chunks()) {
            parts.push(part);
            size += part.length;
            if (size > MAX_ANSWER)
                throw new ForeignAnswer(`${this.call}: the answer is larger than ${MAX_ANSWER} bytes`);
        }
        const whole = new Uint8Array(size);
        let at = 0;
        for (const part of parts) {
            whole.set(part, at);
            at += part.length;
        }
        return whole;
    }
    /** The error of a status that is none of success. */
    async refusal() {
        let body;
        try {
            body = JSON.parse(new TextDecoder().decode(await this.bytes()));
        }
        catch {
            body = null; // the status alone says enough
        }
        const wait = retryAfter(this.headers.get("Retry-After"), this.headers.get("Date")) || (this.status === 429 ? limitReset(this.headers.get("RateLimit")) : 0);
        return new ApiError(this.call, this.status, body, this.headers.get("X-Request-Id") ?? "", wait, this.status >= 300 && this.status <= 399 ? this.headers.get("Location") ?? "" : "");
    }
}
/** Ends a call that is silent for too long, or that its caller gives up. */
class Guard {
    silence;
    caller;
    controller = new AbortController();
    timer;
    stop = () => this.controller.abort(this.caller?.reason);
    signal = this.controller.signal;
    constructor(silence, caller) {
        this.silence = silence;
        this.caller = caller;
        caller?.throwIfAborted();
        caller?.addEventListener("abort", this.stop);
    }
    watch(more = 0) {
        clearTimeout(this.timer);
        const limit = this.silence + more;
        this.timer = setTimeout(() => this.controller.abort(new Error(`the server was silent for ${limit} s`)), limit * 1000);
    }
    rest() {
        clearTimeout(this.timer);
    }
    end() {
        this.rest();
        this.caller?.removeEventListener("abort", this.stop);
        this.controller.abort();
    }
    /** The error for the caller: its own reason if it gave up. */
    failure(call, cause) {
        if (cause instanceof SvcError)
            return cause;
        if (this.caller?.aborted)
            return this.caller.reason;
        return new ConnectionFailed(call, this.signal.aborted ? this.signal.reason : cause, passes(cause));
    }
}
/** Calls one server with one key. */
export class Transport {
    base;
    attempts;
    timeout;
    own = {};
    fetch;
    options;
    #key; // what prints a client must not see it
    constructor(base, key, options) {
        this.#key = key;
        this.base = base.replace(/\/+$/, "");
        const address = URL.canParse(this.base) ? new URL(this.base) : undefined;
        if (!address || !/^https?:$/.test(address.protocol) || !/^https?:\/\//i.test(this.base)) {
            throw new TypeError("the server's address must start with http:// or https:// and a host");
        }
        if (address.username || address.password || /[?#@]/.test(this.base)) {
            throw new TypeError("the server's address has a user, a ? or a # in it: give the address alone");
        }
        this.timeout = options.timeout ?? 120;
        this.attempts = options.attempts ?? 6;
        this.options = options;
        this.fetch = options.fetch ?? ((url, init) => fetch(url, init));
        if ("process" in globalThis || "Deno" in globalThis) { // browsers set these themselves
            const own = `svc-render-typescript/${VERSION}`;
            this.own = { "User-Agent": options.userAgent ? `${options.userAgent} ${own}` : own, "Accept-Encoding": "identity" };
        }
    }
    /** Whether the key is one of test mode, by its form. */
    get testMode() {
        return typeof this.#key === "string" && /^svc_(agent_)?test_/.test(this.#key);
    }
    /** One try. `url` is a path of the server, or a whole address without the key. */
    async open(method, url, asked = {}) {
        const target = new URL(url.startsWith("/") ? this.base + url : url);
        const call = `${method} ${target.pathname}`; // the query of a link is the right to use it
        const headers = { Accept: "application/json", ...this.own, ...asked.headers };
        if (!asked.keyless && this.#key)
            headers["Authorization"] = "Bearer " + (typeof this.#key === "string" ? this.#key : await this.#key());
        const guard = new Guard(asked.timeout ?? this.timeout, asked.signal);
        guard.watch((asked.size ?? 0) / 1024);
        try {
            // The key follows no redirect.
            const response = await this.fetch(target.href, {
                method, headers, body: asked.body ?? null, signal: guard.signal, redirect: asked.keyless ? "follow" : "manual",
                credentials: "omit", cache: "no-store",
            });
            return new Answer(call, response, guard);
        }
        catch (cause) {
            guard.end();
            throw guard.failure(call, cause);
        }
    }
    /** An exchange of JSON, with retries: the text of the answer and what it says. All tries carry the same idempotency key: only so does the server know a repetition. */
    async exchange(method, path, asked = {}) {
        const headers = { ...asked.headers };
        if (asked.idempotencyKey)
            headers["Idempotency-Key"] = asked.idempotencyKey;
        let { body } = asked;
        if (asked.value !== undefined) {
            headers["Content-Type"] = "application/json";
            body = JSON.stringify(asked.value);
        }
        return this.repeat(async () => {
            const answer = await this.open(method, path, { ...asked, headers, body });
            if (answer.status < 200 || answer.status > 299)
                throw await answer.refusal();
            const text = new TextDecoder().decode(await answer.bytes());
            try {
                const told = JSON.parse(text);
                if (typeof told === "object" && told !== null && !Array.isArray(told))
                    return { text, told: member(told) };
            }
            catch (cause) {
                throw new ForeignAnswer(`${answer.call}: the answer is not JSON`, { cause });
            }
            throw new ForeignAnswer(`${answer.call}: the answer does not have the form of svc`);
        }, asked.signal, asked.once);
    }
    /** {@link exchange}, without the text. */
    async json(method, path, asked = {}) {
        return (await this.exchange(method, path, asked)).told;
    }
    /** The bytes of a GET, of 64 MiB at most, with retries. */
    async bytes(url, asked = {}) {
        return this.repeat(async () => {
            const answer = await this.open("GET", url, { ...asked, headers: { Accept: "*/*", ...asked.headers } });
            if (answer.status !== 200)
                throw await answer.refusal();
            if (answer.headers.get("Content-Type")?.startsWith("text/html")) { // the service sends none to programs
                await answer.close();
                throw new ForeignAnswer(`${answer.call}: the answer is a web page`);
            }
            return answer.bytes();
        }, asked.signal);
    }
    /** Calls `attempt` until it succeeds, fails for good, or was called often enough. It waits rate limits out silently, within PATIENCE, unless there is one attempt only. */
    async repeat(attempt, signal, once = false) {
        for (let number = 1, limited = 0;; number++) {
            try {
                return await attempt();
            }
            catch (error) {
                const wait = once ? 0 : this.limit(error, limited);
                if (wait > 0) {
                    limited += wait;
                    number--;
                    await this.sleep(wait, signal);
                    continue;
                }
                if (once || number >= this.attempts || !passing(error))
                    throw error;
                await this.pause(number, error, signal);
            }
        }
    }
    /** How long a rate limit asks to wait, which is no failed try; 0 where it is none, or where PATIENCE has no room for it after `limited` seconds of such waits. */
    limit(error, limited) {
        const wait = error instanceof ApiError && error.status === 429 ? error.retryAfter : 0;
        return limited + wait <= PATIENCE && this.attempts > 1 ? wait : 0;
    }
    /** Waits before the next try, at least as long as the server asked for. Half of each wait is random, so that many clients of a restarted server do not return at once. */
    async pause(attempt, error, signal) {
        let wait = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** Math.min(attempt - 1, 10));
        wait = wait / 2 + Math.random() * (wait / 2);
        if (error instanceof ApiError)
            wait = Math.max(wait, error.retryAfter);
        if (error)
            this.options.onRetry?.({ error, wait, attempt: attempt + 1 });
        await this.sleep(wait, signal);
    }
    async sleep(wait, signal) {
        signal?.throwIfAborted();
        await (this.options.sleep ?? rest)(wait, signal);
        signal?.throwIfAborted();
    }
}
function rest(wait, signal) {
    return new Promise((resolve) => {
        const done = () => {
            clearTimeout(timer);
            signal?.removeEventListener("abort", done);
            resolve();
        };
        const timer = setTimeout(done, wait * 1000);
        signal?.addEventListener("abort", done);
    });
}
/** Whether trying again can help: not against a wrong certificate, or an unknown name. Only some
platforms report this. */
function passes(cause) {
    const code = String(member(cause?.cause)["code"] ?? "");
    return !/^(ENOTFOUND|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|ERR_TLS_)/.test(code);
}
/** Failures that a repeated call can overcome: lost connections, 429, 5xx, and an earlier try on which the server still works. */
export function passing(error) {
    if (error instanceof ConnectionFailed)
        return error.passes;
    return error instanceof ApiError && (passingStatus(error.status) || error.code === "idempotency_in_progress");
}
/**
 * The header's two forms, seconds and a date (RFC 9110 10.2.3); 0 for anything else. A date is the
 * server's: it counts from the answer's own date, `sent`, not from this clock.
 */
export function retryAfter(value, sent = null) {
    if (!value)
        return 0;
    if (/^\s*\d+\s*$/.test(value))
        return seconds(value);
    return seconds((instant(value) - (instant(sent ?? "") || Date.now())) / 1000);
}
/** How many seconds until no limit of a RateLimit header refuses; 0 where it does not tell. */
export function limitReset(value) {
    return Math.max(0, ...Array.from((value ?? "").matchAll(/;\s*r=0\s*;\s*t=(\d{1,9})/g), ([, t]) => seconds(t)));
}
/** The milliseconds of a date in a header; NaN for anything else. */
function instant(date) {
    return /[a-z]{3},? .*GMT/i.test(date) ? Date.parse(date) : NaN;
}
