// Renders a job with the client that hey-api makes.
import { readFile } from "node:fs/promises";
import process from "node:process";
import { client } from "./hey/client.gen.ts";
import { getJob, inspectUpload, startUpload } from "./hey/sdk.gen.ts";

const { SVC_KEY, SVC_SCENE, SVC_URL } = process.env;
client.setConfig({ baseUrl: SVC_URL!, auth: SVC_KEY! });
const file = new File([await readFile(SVC_SCENE!)], "scene.blend");
const { data: quote } = await inspectUpload({ body: { file, frame_start: 1, frame_end: 2 }, throwOnError: true });
let { data: job } = await startUpload({
  path: { upload_id: quote.upload_id }, body: { quote_id: quote.quote_id, legal_acceptance: "SVC_LEGAL_V1" }, throwOnError: true,
});
while (job.status !== "completed" && job.status !== "failed") {
  await new Promise((done) => setTimeout(done, 1100));
  ({ data: job } = await getJob({ path: { job_id: job.job_id }, throwOnError: true }));
}
console.log(job.job_id, job.status);
