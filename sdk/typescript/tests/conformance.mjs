// The TypeScript SDK as a program under test (docs/conformance.md): a verb a line in, an answer a line
// out.
import { existsSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { ApiError, Client, DownloadChanged, LEGAL_V1, VerificationError, WebhookError, verifyWebhook } from "../lib/index.js";

const svc = new Client(process.env.SVC_SERVER, process.env.SVC_KEY, { attempts: 10 });
const frames = ({ frame_start, frame_end }) => (frame_start === undefined ? undefined : `${frame_start}-${frame_end}`);

const verbs = {
  inspect: (args) => svc.inspect(args.file, { frames: frames(args) }),
  quote: (args) => svc.quote(args.upload_id, frames(args)),
  async render({ file, frame_start, frame_end, folder }) {
    const { job_id } = await svc.start(await svc.inspect(file, { frames: `${frame_start}-${frame_end}` }), { legalAcceptance: LEGAL_V1 });
    const followed = await verbs.follow({ job_id });
    mkdirSync(folder);
    const path = join(folder, "frames.zip");
    await svc.download(job_id, path);
    const { charged_cents } = await svc.job(job_id);
    return { ...(await verbs.verify({ job_id, path })), job_id, status: followed.status, frame_numbers: followed.frames, charged_cents };
  },
  async look({ file, frame }) {
    const look = await svc.preview(await svc.inspect(file), { frame });
    const [first, second] = await svc.previewImage(look);
    return { status: look.status, frame: look.frame, jpeg: first === 0xff && second === 0xd8 };
  },
  project: ({ root, main, files, frame }) =>
    svc.inspectProject(main, files.map((path) => ({ path, source: join(root, path) })), { frames: frame }),
  start: ({ legal_acceptance = LEGAL_V1, ...quote }) => svc.start(quote, { legalAcceptance: legal_acceptance }),
  async follow({ job_id }) {
    const told = { frames: [] };
    for await (const { type, data } of svc.follow(job_id, { timeout: 120 })) {
      if (type === "frame") told.frames.push(data.frame);
      else told.status = data.status;
    }
    told.frames.sort((a, b) => a - b);
    return told;
  },
  async download({ job_id, path }) {
    const { size_bytes } = await svc.download(job_id, path);
    return { whole: statSync(path).size === size_bytes, left: readdirSync(dirname(path)).filter((name) => name.endsWith(".part")).length };
  },
  async verify({ job_id, path }) {
    const { checks } = await svc.verify(job_id, path);
    return Object.fromEntries(checks.map(({ name, status }) => [name, status]));
  },
  async wallet({ before = 0 }) {
    const { available_cents } = await svc.wallet();
    return { available_cents, spent_since: before - available_cents };
  },
  job: ({ job_id }) => svc.job(job_id),
  async jobs({ limit }) {
    for await (const { job_id } of svc.jobs({ limit })) return { first: job_id };
  },
  async webhook({ secret, id, timestamp, signature, body, now }) {
    const event = await verifyWebhook(secret, { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature }, body, now);
    return { id: event.id, type: event.type };
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { verb, args } = JSON.parse(line);
  let told;
  try {
    told = { ok: await verbs[verb](args) };
  } catch (error) {
    if (error instanceof ApiError) told = { error: { kind: "api", code: error.code, status: error.status, request_id: error.requestId !== "" } };
    else if (error instanceof DownloadChanged) told = { error: { kind: "changed", kept: existsSync(args.path ?? "") } };
    else if (error instanceof VerificationError) told = { error: { kind: "verification", check: error.check } };
    else if (error instanceof WebhookError) told = { error: { kind: "webhook" } };
    else throw error;
  }
  console.log(JSON.stringify(told));
}
