// Renders two frames of a scene with nothing but what openapi-typescript has
// made of the served document, and says as JSON what came of it.
import { openAsBlob } from "node:fs";
import createClient from "openapi-fetch";
import type { components, paths } from "./schema.js";

type Refusal = components["schemas"]["Error"];

const { SVC_URL: baseUrl, SVC_KEY: key, SVC_SCENE: scene } = process.env;
if (!baseUrl || !key || !scene) throw new Error("SVC_URL, SVC_KEY and SVC_SCENE are needed");
const service = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${key}` } });

function must<T>(answer: { data?: T; error?: Refusal }): T {
  if (answer.error) throw new Error(`${answer.error.error.code}: ${answer.error.error.message}`);
  if (answer.data === undefined) throw new Error("there is neither an answer nor a refusal");
  return answer.data;
}

// form sends a body's members as the parts of a form.
function form(body: Record<string, unknown>): FormData {
  const parts = new FormData();
  for (const [name, value] of Object.entries(body)) {
    if (value instanceof Blob) parts.set(name, value, "scene.blend");
    else parts.set(name, String(value));
  }
  return parts;
}

const file = (await openAsBlob(scene)) as unknown as string; // the generator has no other word for bytes
const inspected = must(await service.POST("/node/v1/uploads/inspect", { body: { file, frame_start: 1, frame_end: 3 }, bodySerializer: form }));

const upload = { path: { upload_id: inspected.upload_id } };
const quote = must(await service.POST("/node/v1/uploads/{upload_id}/quote", { params: upload, body: { frame_start: 1, frame_end: 2 } }));

const refused = await service.POST("/node/v1/uploads/{upload_id}/start", {
  params: upload,
  // @ts-expect-error the document knows one value, and the compiler by it
  body: { quote_id: quote.quote_id, legal_acceptance: "NO" },
});

const started = must(await service.POST("/node/v1/uploads/{upload_id}/start", {
  params: { ...upload, header: { "Idempotency-Key": "the first try" } },
  body: { quote_id: quote.quote_id, legal_acceptance: "SVC_LEGAL_V1" },
}));

const job = { path: { job_id: started.job_id } };
const events = must(await service.GET("/node/v1/jobs/{job_id}/events", { params: job, parseAs: "stream" }));
const heard = await new Response(events as unknown as ReadableStream).text(); // it ends with the job

const ended = must(await service.GET("/node/v1/jobs/{job_id}", { params: job }));
const { download } = must(await service.GET("/node/v1/jobs/{job_id}/download", { params: job }));
const zip = await (await fetch(download.url)).arrayBuffer();
const sum = new Uint8Array(await crypto.subtle.digest("SHA-256", zip));
const { receipt } = must(await service.GET("/node/v1/jobs/{job_id}/receipt", { params: job }));
const proof = must(await service.GET("/node/v1/jobs/{job_id}/proof", { params: job }));
const missing = await service.GET("/node/v1/jobs/{job_id}", { params: { path: { job_id: "JOB-0" } } });

console.log(JSON.stringify({
  job_id: ended.job_id,
  status: ended.status satisfies "awaiting_submit" | "queued" | "rendering" | "packaging" | "completed" | "failed" | "cancelled",
  price_cents: quote.price_cents,
  charged_cents: ended.charged_cents,
  frames_heard: heard.split("\n").filter((line) => line === "event: frame").length,
  downloaded: Array.from(sum, (byte) => byte.toString(16).padStart(2, "0")).join(""),
  promised: [download.sha256, receipt.artifact.sha256, proof.artifact_sha256],
  frames: receipt.frames.map((frame) => frame.frame),
  refusals: [refused.error?.error.code, missing.error?.error.code],
}));
