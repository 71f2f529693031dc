// What the compiler must take and must refuse. It is compiled, never run.
import { ApiError, Client, LEGAL_V1, verify, verifyWebhook, type Event, type Job, type Quote, type Rendering, type Report } from "../lib/index.js";

export async function caller(): Promise<void> {
  const svc = new Client("https://render.example", "key", { attempts: 3, onRetry: ({ wait }) => wait.toFixed() });
  new Client("https://render.example", async () => "key");
  // @ts-expect-error a key is a text
  new Client("https://render.example", () => 1);
  const quote: Quote = await svc.inspect("scene.blend", { frames: "1-10x2" });
  await svc.inspect("scene.blend", { frames: [1, 3, 5] });
  await svc.inspect(new Blob([]), { filename: "scene.blend" });
  await svc.inspect(new Uint8Array(1));
  const cents: number = quote.price_cents;
  // @ts-expect-error a misspelt member
  quote.price_cent;
  // @ts-expect-error the terms must be accepted
  await svc.start(quote, {});
  // @ts-expect-error frames are numbers, or a list of them
  await svc.quote(quote, { from: 1 });
  const rendering: Rendering = await svc.render("scene.blend", "out", { legalAcceptance: LEGAL_V1, maxCents: 100, frames: 7 });
  for await (const { frame, path } of rendering) path.repeat(frame);
  const job: Job = await svc.start(quote, { legalAcceptance: LEGAL_V1 });
  const ended: boolean = job.status === "completed";
  // @ts-expect-error no job has this status
  job.status === "done";
  for await (const event of svc.follow(job.job_id) satisfies AsyncIterable<Event>) {
    if (event.type === "frame") event.data.frame.toFixed();
    else event.data.progress_percent.toFixed();
    // @ts-expect-error only the job has a price
    event.data.price_cents.toFixed();
  }
  const size: number = (await svc.download(job.job_id, "scene.zip")).size_bytes + (await svc.download(job.job_id)).size;
  const report: Report = await svc.verify(job.job_id, "scene.zip");
  if (report.checks[0]?.name === "signature" && report.receipt.frames[0]?.pixel_sha256) return;
  await verify("{}", ["pem"], { require: ["log"] });
  // @ts-expect-error no check has this name
  await verify("{}", ["pem"], { require: ["logs"] });
  for await (const listed of svc.jobs({ status: "failed", limit: 3 })) listed.failure?.code;
  // A limit that a later service changes is no wrong type.
  const most: { maximum_upload_size_bytes: number } = await svc.limits();
  const event = await verifyWebhook("secret", { "webhook-id": ["a"] }, "body");
  event.job?.receipt_url;
  if (event.type === "render.failed") event.job.failure?.code;
  // @ts-expect-error no event has this type
  event.type === "render.done";
  // @ts-expect-error a test has no job
  event.job.receipt_url;
  try {
    await svc.wallet({ signal: AbortSignal.timeout(1) });
  } catch (error) {
    if (error instanceof ApiError) error.code.length + error.requestId.length + error.retryAfter;
  }
  void [cents, ended, size, most];
}
