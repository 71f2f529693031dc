// A whole render over a bad network, told as JSON: the story of the service's tests holds it
// against what the service has seen.
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { ApiError, Client, DownloadChanged, LEGAL_V1, VerificationError, verify } from "../lib/index.js";

const [url, key, account, scene, folder] = process.argv.slice(2);
const retried = new Set();
const sleep = (seconds) => new Promise((resolve) => setTimeout(resolve, Math.min(seconds * 1000, 20)));
const svc = new Client(url, key, { attempts: 20, timeout: 3, sleep, userAgent: "story/1", onRetry: ({ error }) => retried.add(error.name) });
const all = async (list) => {
  const found = [];
  for await (const one of list) found.push(one);
  return found;
};
const told = {};

const quote = await svc.inspect(scene, { frames: "1-4" });
told.price_cents = quote.price_cents;
const look = await svc.preview(quote, { frame: 2 });
told.look = [look.status, look.frame, Buffer.from(await svc.previewImage(look)).toString("hex", 0, 2)];
told.frames_of_two = (await svc.quote(quote, [1, 2])).frame_count;

const job = await svc.start(quote, { legalAcceptance: LEGAL_V1 });
told.job_id = job.job_id;
told.again = (await svc.start(quote, { legalAcceptance: LEGAL_V1 })).job_id;

told.frames = [];
for await (const event of svc.follow(job.job_id, { timeout: 60 })) {
  if (event.type === "frame") told.frames.push(event.data.frame);
  else told.status = event.data.status;
}
told.charged_cents = (await svc.wait(job.job_id)).charged_cents;

const path = join(folder, "job.zip");
try {
  await svc.download(job.job_id, path);
  told.damaged = "was taken";
} catch (error) {
  if (!(error instanceof DownloadChanged)) throw error;
  told.damaged = existsSync(path) ? "left" : "refused";
}
await svc.download(job.job_id, path);
told.size_bytes = statSync(path).size;
told.also = { "the download into memory has the same size": (await svc.download(job.job_id)).size === told.size_bytes };
told.left = readdirSync(folder).filter((name) => name.endsWith(".part"));
const report = await svc.verify(job.job_id, path, { keys: await svc.signingKeys() });
told.checks = Object.fromEntries(report.checks.map(({ name, status }) => [name, status]));

const lie = await svc.receipt(job.job_id);
lie.receipt.charged_cents++;
await verify(lie, await svc.signingKeys()).catch((error) => {
  if (!(error instanceof VerificationError)) throw error;
  told.lie = error.check;
});

told.refused = [];
for (const attempt of [() => svc.job("JOB-none"), () => svc.start(quote, { legalAcceptance: "no" }), () => svc.quote(quote, "3-2"),
  () => new Client(url, "svc_agent_no").wallet()]) {
  await attempt().catch((error) => {
    if (!(error instanceof ApiError)) throw error;
    told.refused.push([error.code, error.status, error.requestId !== ""]);
  });
}

told.available_cents = (await svc.wallet()).available_cents;
told.jobs = (await all(svc.jobs({ limit: 1 }))).map(({ job_id }) => job_id);
told.kinds = (await all(new Client(url, account).transactions())).map(({ kind }) => kind);
told.retried = [...retried].sort();
console.log(JSON.stringify(told));
