/** One call over HTTP, with retries. */
import { ApiError, SvcError } from "./errors.js";
export declare const VERSION = "0.1.0";
/** A try that failed and will be repeated. */
export interface Retry {
    error: SvcError;
    /** Seconds until the next try. */
    wait: number;
    /** Which try comes next, from 2 on. */
    attempt: number;
}
/** How a client calls. */
export interface Options {
    /** How long the server may stay silent within a call, seconds; 120 if left out. Sending a body gets a second more for each KiB. */
    timeout?: number;
    /** How often a call is tried; 6 if left out, which spans about 6 seconds where failures come at once. */
    attempts?: number;
    /** Put before the package's own. Browsers send their own instead. */
    userAgent?: string;
    /** Replaces the platform's fetch, such as with one that uses a proxy. */
    fetch?: typeof fetch;
    /** Is called before each wait for another attempt. */
    onRetry?: (retry: Retry) => void;
    /** Waits so many seconds; tests replace it. */
    sleep?: (seconds: number, signal?: AbortSignal) => Promise<void>;
}
/** What one call takes in addition to its path. */
export interface Asked {
    headers?: Record<string, string>;
    body?: BodyInit | undefined;
    /** Bytes of the body, for the time that it may take. */
    size?: number;
    /** Without the key: a signed link authorises itself, and the key goes to no other host. */
    keyless?: boolean;
    timeout?: number;
    signal?: AbortSignal | undefined;
}
/** An open response whose body fails when it stays silent for too long. */
export declare class Answer {
    readonly call: string;
    private readonly response;
    private readonly guard;
    readonly status: number;
    readonly headers: Headers;
    constructor(call: string, response: Response, guard: Guard);
    /** The body, piece by piece. Leaving the loop closes the connection. */
    chunks(): AsyncGenerator<Uint8Array>;
    /** Closes the connection. */
    close(): Promise<void>;
    /** The whole of it, of 64 MiB at most. */
    bytes(): Promise<Uint8Array<ArrayBuffer>>;
    /** The error of a status that is none of success. */
    refusal(): Promise<ApiError>;
}
/** Ends a call that is silent for too long, or that its caller gives up. */
declare class Guard {
    private readonly silence;
    private readonly caller;
    private readonly controller;
    private timer;
    private readonly stop;
    readonly signal: AbortSignal;
    constructor(silence: number, caller: AbortSignal | undefined);
    watch(more?: number): void;
    rest(): void;
    end(): void;
    /** The error for the caller: its own reason if it gave up. */
    failure(call: string, cause: unknown): unknown;
}
/** A key, or what each try asks for one: for tokens that end. */
export type Key = string | (() => string | Promise<string>);
/** Calls one server with one key. */
export declare class Transport {
    #private;
    readonly base: string;
    readonly attempts: number;
    private readonly timeout;
    private readonly own;
    private readonly fetch;
    private readonly options;
    constructor(base: string, key: Key, options: Options);
    /** Whether the key is one of test mode, by its form. */
    get testMode(): boolean;
    /** One try. `url` is a path of the server, or a whole address without the key. */
    open(method: string, url: string, asked?: Asked): Promise<Answer>;
    /** An exchange of JSON, with retries: the text of the answer and what it says. All tries carry the same idempotency key: only so does the server know a repetition. */
    exchange(method: string, path: string, asked?: Asked & {
        value?: unknown;
        idempotencyKey?: string | undefined;
        once?: boolean;
    }): Promise<{
        text: string;
        told: Record<string, unknown>;
    }>;
    /** {@link exchange}, without the text. */
    json<T>(method: string, path: string, asked?: Parameters<Transport["exchange"]>[2]): Promise<T>;
    /** The bytes of a GET, of 64 MiB at most, with retries. */
    bytes(url: string, asked?: Asked): Promise<Uint8Array<ArrayBuffer>>;
    /** Calls `attempt` until it succeeds, fails for good, or was called often enough. It waits rate limits out silently, within PATIENCE, unless there is one attempt only. */
    repeat<T>(attempt: () => Promise<T>, signal?: AbortSignal, once?: boolean): Promise<T>;
    /** How long a rate limit asks to wait, which is no failed try; 0 where it is none, or where PATIENCE has no room for it after `limited` seconds of such waits. */
    limit(error: unknown, limited: number): number;
    /** Waits before the next try, at least as long as the server asked for. Half of each wait is random, so that many clients of a restarted server do not return at once. */
    pause(attempt: number, error: SvcError | undefined, signal?: AbortSignal): Promise<void>;
    sleep(wait: number, signal?: AbortSignal): Promise<void>;
}
/** Failures that a repeated call can overcome: lost connections, 429, 5xx, and an earlier try on which the server still works. */
export declare function passing(error: unknown): boolean;
/**
 * The header's two forms, seconds and a date (RFC 9110 10.2.3); 0 for anything else. A date is the
 * server's: it counts from the answer's own date, `sent`, not from this clock.
 */
export declare function retryAfter(value: string | null, sent?: string | null): number;
/** How many seconds until no limit of a RateLimit header refuses; 0 where it does not tell. */
export declare function limitReset(value: string | null): number;
export {};
