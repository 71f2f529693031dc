// A pipeline's step in JavaScript: renders a scene, waits until the service calls, and publishes
// what it verified.
//
//   SVC_SERVER=https://render.example SVC_KEY=svc_agent_… \
//   HOOK_URL=https://pipeline.example/svc LISTEN=127.0.0.1:8000 \
//   node pipeline.mjs scene.blend /published/shot-010
//
// HOOK_URL is where the service calls; a proxy with its certificate passes it on to LISTEN.
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { dirname, join, resolve } from "node:path";
import { Client, LEGAL_V1, verifyWebhook } from "svc-render";

const [scene, published] = process.argv.slice(2);
if (existsSync(published)) throw new Error(`${published} is there already`);
const svc = new Client(process.env.SVC_SERVER, process.env.SVC_KEY);
const secret = randomBytes(32).toString("base64url");

let called; // resolves when the service has called
const nextCall = () => new Promise((resolve) => (called = resolve));
let call = nextCall();
const server = createServer(async (request, response) => {
  try {
    const pieces = [];
    for await (const piece of request) pieces.push(piece);
    const event = await verifyWebhook(secret, request.headers, Buffer.concat(pieces));
    console.log("called:", event.type);
    response.writeHead(204).end();
    called();
  } catch {
    response.writeHead(400).end();
  }
});
const [host, port] = process.env.LISTEN.split(":");
await new Promise((ready) => server.listen(port, host, ready));

const quote = await svc.inspect(scene);
console.log(quote.frame_count, "frames,", quote.price_cents, "cents");
let job = await svc.start(quote, { legalAcceptance: LEGAL_V1, webhookUrl: process.env.HOOK_URL, webhookSecret: secret });

// A call can come twice, and one can be missed: the job says how it is.
while (!["completed", "failed", "cancelled"].includes(job.status)) {
  let patience;
  await Promise.race([call, new Promise((over) => (patience = setTimeout(over, 600_000)))]);
  clearTimeout(patience);
  call = nextCall();
  job = await svc.job(job.job_id);
}
server.close();
if (job.status !== "completed") throw new Error(`the job is ${job.status}`);

// It appears whole or not at all.
await mkdir(dirname(resolve(published)), { recursive: true });
const ready = await mkdtemp(join(dirname(resolve(published)), ".ready-"));
try {
  await svc.download(job.job_id, join(ready, "frames.zip"));
  const report = await svc.verify(job.job_id, join(ready, "frames.zip"));
  await writeFile(join(ready, "receipt.json"), await svc.read(`/node/v1/jobs/${job.job_id}/receipt`));
  await rename(ready, published);
  console.log("published, verified:", ...report.checks.filter((check) => check.status === "ok").map((check) => check.name));
} finally {
  await rm(ready, { recursive: true, force: true });
}
