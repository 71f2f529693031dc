// Renders a job with the client that orval makes.
import { readFile } from "node:fs/promises";
import process from "node:process";
import { getJob, inspectUpload, startUpload } from "./orval/svc.ts";

const { SVC_KEY, SVC_SCENE } = process.env;
const with_ = { headers: { Authorization: `Bearer ${SVC_KEY}` } };
const file = new File([await readFile(SVC_SCENE!)], "scene.blend");
const quote = await inspectUpload({ file, frame_start: 1, frame_end: 2 }, with_);
if (quote.status !== 200) throw new Error(`inspect: ${JSON.stringify(quote.data)}`);
const started = await startUpload(quote.data.upload_id, { quote_id: quote.data.quote_id, legal_acceptance: "SVC_LEGAL_V1" }, with_);
if (started.status !== 200) throw new Error(`start: ${JSON.stringify(started.data)}`);
let job = started.data;
while (job.status !== "completed" && job.status !== "failed") {
  await new Promise((done) => setTimeout(done, 1100));
  const read = await getJob(job.job_id, with_);
  if (read.status !== 200) throw new Error(`read: ${JSON.stringify(read.data)}`);
  job = read.data;
}
console.log(job.job_id, job.status);
