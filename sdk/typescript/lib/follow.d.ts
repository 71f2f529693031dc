import { type Transport } from "./transport.js";
import { type Event } from "./wire.js";
/** One entry of a stream. Without data it only says where to resume. */
export interface Message {
    id: string;
    type: string;
    data: string;
}
/** The lines of a text that comes in pieces. What the end cuts off is dropped. */
export declare function lines(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string>;
/** The messages of a stream (WHATWG HTML 9.2), and undefined for each keep-alive. A message that the end cuts off is dropped: it comes again after the last id. */
export declare function messages(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Message | undefined>;
/** Alternates between a stream and, when that brought nothing, one read of the job. So a proxy that cuts streams delays events but loses no end of a job. */
export declare class Follower {
    private readonly transport;
    private readonly path;
    private readonly timeout;
    private readonly signal;
    private lastId;
    private frame;
    private seen;
    private read;
    private readonly ends;
    constructor(transport: Transport, path: string, after: string, timeout: number | undefined, signal: AbortSignal | undefined);
    /** Every event once, up to the one that makes the job terminal. */
    events(): AsyncGenerator<Event, void>;
    /** Hands events on, and returns what ended them. */
    private caught;
    private inTime;
    private done;
    /** The events of one connection, until it breaks. */
    private stream;
    /** The event of a message, unless it was handed on before: a server may repeat events from before the point where the stream broke. */
    private hand;
    /** The job, when it has changed. It makes one try: events is the loop around it. */
    private poll;
}
/** The number at the start of an id. It grows with each change of a job; progress events repeat it. 0 without one. */
export declare function numberOf(id: string): number;
