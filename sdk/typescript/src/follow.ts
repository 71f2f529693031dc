/** Server-sent events, and the loop that follows a job over all of its connections. */
import { ApiError, ConnectionFailed, FollowTimeout, type SvcError } from "./errors.js";
import { passing, type Answer, type Transport } from "./transport.js";
import { TERMINAL, type Event, type FrameEvent, type Job } from "./wire.js";

const MAX_LINE = 4 << 20;
/** How long a connection may say nothing, not even a keep-alive, before it counts as lost, seconds. */
const IDLE = 60;

/** One entry of a stream. Without data it only says where to resume. */
export interface Message {
  id: string;
  type: string;
  data: string;
}

/** The lines of a text that comes in pieces. What the end cuts off is dropped. */
export async function* lines(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const piece of pieces) {
    const found = (rest + decoder.decode(piece, { stream: true })).split("\n");
    rest = found.pop() ?? "";
    if (rest.length > MAX_LINE) return;
    for (const line of found) yield line.replace(/\r$/, "");
  }
}

/** The messages of a stream (WHATWG HTML 9.2), and undefined for each keep-alive. A message that the end cuts off is dropped: it comes again after the last id. */
export async function* messages(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Message | undefined> {
  let id = "", type = "", place = "";
  let data: string[] = [];
  for await (const line of lines(pieces)) {
    if (line === "") {
      const told = data.length > 0 || id !== place;
      place = id;
      yield told ? { id, type: data.length > 0 ? type : "", data: data.join("\n") } : undefined;
      type = "";
      data = [];
      continue;
    }
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") type = value;
    else if (field === "data") data.push(value);
    else if (field === "id") id = value;
    else if (field === "") yield undefined; // a comment keeps the connection alive
  }
}

/** Alternates between a stream and, when that brought nothing, one read of the job. So a proxy that cuts streams delays events but loses no end of a job. */
export class Follower {
  private lastId: string;
  private frame: number;
  private seen = 0; // events handed on from streams
  private read: Job | undefined; // as last handed on
  private readonly ends: number;

  constructor(private readonly transport: Transport, private readonly path: string, after: string,
    private readonly timeout: number | undefined, private readonly signal: AbortSignal | undefined) {
    this.lastId = after;
    this.frame = numberOf(after);
    this.ends = timeout === undefined ? Infinity : Date.now() + timeout * 1000;
  }

  /** Every event once, up to the one that makes the job terminal. */
  async *events(): AsyncGenerator<Event, void> {
    for (let failures = 1; ; failures++) {
      const before = this.seen;
      let error = yield* this.caught(this.stream());
      if (this.done()) return;
      if (this.seen > before) failures = 1; // the stream works, so the next try follows soon
      else {
        this.inTime();
        error = yield* this.caught(this.poll());
        if (this.done()) return;
      }
      if (error && !passing(error) && !(this.read && error instanceof ConnectionFailed)) throw error;
      this.inTime();
      await this.transport.pause(failures, error, this.signal);
    }
  }

  /** Hands events on, and returns what ended them. */
  private async *caught(events: AsyncGenerator<Event, void>): AsyncGenerator<Event, SvcError | undefined> {
    try {
      yield* events;
      return undefined;
    } catch (error) {
      if (error instanceof ApiError || error instanceof ConnectionFailed) return error;
      throw error;
    }
  }

  private inTime(): void {
    if (Date.now() > this.ends) throw new FollowTimeout(`${this.path}: the job did not end within ${this.timeout} s`);
  }

  private done(): boolean {
    return this.read !== undefined && TERMINAL.has(this.read.status);
  }

  /** The events of one connection, until it breaks. */
  private async *stream(): AsyncGenerator<Event, void> {
    const headers: Record<string, string> = { Accept: "text/event-stream" };
    if (this.lastId) headers["Last-Event-ID"] = this.lastId;
    const timeout = Math.max(0.01, Math.min(IDLE, (this.ends - Date.now()) / 1000));
    const answer = await this.transport.open("GET", this.path + "/events?previews=false", { headers, timeout, signal: this.signal });
    if (answer.status !== 200) throw await answer.refusal();
    for await (const message of messages(answer.chunks())) {
      this.inTime();
      const event = message && this.hand(answer, message);
      if (event) yield event;
      if (this.done()) return;
    }
  }

  /** The event of a message, unless it was handed on before: a server may repeat events from before the point where the stream broke. */
  private hand(answer: Answer, message: Message): Event | undefined {
    const number = numberOf(message.id);
    if ((message.type !== "job" && message.type !== "frame") || number < numberOf(this.lastId)) return undefined;
    if (message.type === "frame" && number !== 0 && number <= this.frame) return undefined;
    let data: unknown;
    try {
      data = JSON.parse(message.data);
    } catch (cause) {
      throw new ConnectionFailed(answer.call, cause);
    }
    if (message.id) {
      this.lastId = message.id;
      this.seen++;
    }
    if (message.type === "frame") {
      this.frame = number;
      return { id: message.id, type: "frame", data: data as FrameEvent };
    }
    this.read = data as Job;
    return { id: message.id, type: "job", data: this.read };
  }

  /** The job, when it has changed. It makes one try: events is the loop around it. */
  private async *poll(): AsyncGenerator<Event, void> {
    const answer = await this.transport.open("GET", this.path, { signal: this.signal });
    if (answer.status !== 200) throw await answer.refusal();
    let job: Job;
    try {
      job = JSON.parse(new TextDecoder().decode(await answer.bytes())) as Job;
    } catch (cause) {
      throw cause instanceof ConnectionFailed ? cause : new ConnectionFailed(answer.call, cause);
    }
    const old = this.read;
    if (old?.status === job.status && old.updated_at === job.updated_at) return;
    this.read = job;
    yield { id: "", type: "job", data: job };
  }
}

/** The number at the start of an id. It grows with each change of a job; progress events repeat it. 0 without one. */
export function numberOf(id: string): number {
  const digits = /^\d+(?=\.|$)/.exec(id)?.[0];
  return digits ? Number(digits) : 0;
}
